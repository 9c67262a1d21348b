# Generated from notebooks/engine/compose.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Tables of a sum

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\lambda$, $K$ | `tilt`, `log_scale` | exponent of the tilt, $\ge 0$; log of the mean of $e^{\lambda S}$ |
| $\Delta$, $N$ | `step`, `size` | distance of the grid points; places of the circle |
| $m_x$, $e_x$ | `mass`, – | computed mass at the place $x$, and its error |
| $\hat m_k$, $\hat e_k$ | `value`, – | their transforms |
| $\beta_k$ | `wrong` | bound of the error of $\hat m_k$ |
| $E$ | `error` | bound of the sum of all $\lvert e_x \rvert$ |
| $W$ | `heavy` | number of places with much weight |
| $\tau$, $\tau_2$ | `tail`, – | tilted mass that a table lacks or has too much; mass outside of each end of the window, its logarithm is `log_tail` |
| $w_x$ | – | what a mass at the place $x$ weighs in $\delta$ |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.fft import irfft, next_fast_len

from accountlib.counting.composition import Part, chernoff_exponents
from accountlib.counting.loss_tables import (
    MOST_CELLS,
    TINY,
    BoundKind,
    GridTooFine,
    PrivacyLossDistribution,
)
from accountlib.counting.rounding import log_peak
from accountlib.engine.one_round import Power, bare_sum
from accountlib.engine.one_sided import TiltedTable, tilt_masses
from accountlib.engine.transforms import tail_window
from accountlib.inputs import (
    Floats,
    check_count,
    check_kind,
    check_number,
    front_door,
)
from accountlib.worst_cases.dominating_pairs import UNIT

__all__ = [
    "as_tilted",
    "circle_masses",
    "add_losses",
    "as_distribution",
    "self_compose",
    "compose",
]

# --- A table becomes one-sided


def as_tilted(
    distribution: PrivacyLossDistribution, tilt: float = 0.0
) -> TiltedTable:
    """A table as one side of a loss, tilted.

    Parameters: `distribution`; `tilt` (at least 0).
    Returns: its masses, with a tilt rounded outward; without one they stay
    as they are. Buckets are on a side as well.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> as_tilted(coin, 1.0).mass.round(4)
    array([0.0432, 0.    , 0.9568])
    """
    upper = distribution.bound in ("upper", "buckets-upper")
    mass, log_scale = distribution.mass, 0.0
    plain = tilt == 0 and float(np.sum(mass)) < 1 + 1e-9
    if np.any(mass > 0) and not plain:
        mass, log_scale = tilt_masses(
            distribution.losses, mass, tilt, 1 if upper else -1
        )
    return TiltedTable(
        step=distribution.step,
        offset=0.0,
        tilt=tilt,
        log_scale=log_scale,
        tail=0.0,
        infinity_mass=distribution.infinity_mass,
        bound="upper" if upper else "lower",
        index=distribution.first_index + np.arange(len(mass)),
        mass=mass,
    )


# --- All masses together


def circle_masses(
    parts: Sequence[tuple[TiltedTable, int]], first: int, size: int
) -> tuple[Floats, float]:
    r"""Masses of a sum on a circle, and a bound of all their errors.

    Formula: $E = (\sum_k \beta_k^2)^{1/2} + 8u \log_2 N (\sum_k
    |\hat m_k|^2)^{1/2}$, all frequencies.

    Parameters: `parts`, tables and counts; `first`, index of the place 0;
    `size` (N), length of the circle.
    Returns: one mass per place, of either sign; a bound for the sum of
    the sizes of their errors.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> mass, error = circle_masses([(as_tilted(coin), 2)], -2, 5)
    >>> np.abs(mass).round(4), error < 1e-13
    (array([0.0625, 0.    , 0.375 , 0.    , 0.5625]), True)
    """
    power = Power.of(parts, size, None)
    value, wrong = power.values(np.arange(size // 2 + 1))
    circle = irfft(np.conj(value), size)
    mass = np.roll(circle, (power.middle - first) % size)
    twice = np.append(1.0, np.full(len(value) - 1, 2.0))  # k and N - k
    back = 8 * UNIT * max(1.0, math.log2(size))
    back *= math.sqrt(twice @ np.abs(value) ** 2)
    error = math.sqrt(twice @ wrong**2) + back
    return mass, 1.001 * error + 1e-290


def add_losses(
    parts: Sequence[Part], tilt: float = 0.0, log_tail: float = -36.0
) -> TiltedTable:
    r"""One side of a sum of independent losses, as a table.

    Formula: $\hat m = \prod_j \hat m_j^{T_j}$ at all frequencies of a
    circle as long as the window, and back.

    Parameters: `parts`, distributions of one step and side, and counts;
    `tilt` (at least 0); `log_tail` ($\ln \tau_2$), logarithm of the tilted
    mass that may lie outside of each end of the window.
    Returns: the total on the same side; all errors are in its tail.
    Raises: GridTooFine for a window of more than `MOST_CELLS` places.
    Source: Koskela, Jälkö and Honkela (2020).

    >>> from accountlib.engine.one_sided import read_delta
    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> round(read_delta(add_losses([(coin, 2)]), 1.0), 6)  # 9/16 at 2
    0.355568
    """
    tables = [(as_tilted(d, tilt), n) for d, n in parts]
    step = tables[0][0].step
    bottom, top = (
        sum(n * int(t.index[end]) for t, n in tables) for end in (0, -1)
    )
    sums = [(float(np.sum(t.mass)), n) for t, n in tables]
    least = min(sums)[0]
    if least < TINY:  # next to no finite loss: it counts as infinite, or not
        growth = math.fsum(n * math.log(max(total, 1.0)) for total, n in sums)
        tail = 1.01 * least * math.exp(min(growth, 700.0))
        return replace(bare_sum(tables, tail), index=np.array([bottom]))
    below, above = chernoff_exponents(parts, tilt, log_tail)
    first, last = tail_window(tables, log_tail, (below * step, above * step))
    if last - first >= MOST_CELLS:
        raise GridTooFine(step, last - first + 1)
    size = next_fast_len(last - first + 1, real=True)
    outside = (2.02 if tilt > 0 else 1.01) * math.exp(log_tail)
    if size > top - bottom:  # nothing is wrapped around
        first, outside = bottom, 0.0
    mass, error = circle_masses(tables, first, size)
    if tilt > 0:  # few masses weigh much
        heavy = 1 + math.exp(-log_peak(tilt)) / (step * tilt * (1 + tilt))
        error *= math.sqrt(min(1.001 * heavy / size, 1.0))
    return replace(
        bare_sum(tables, outside + error),
        index=first + np.arange(size),
        mass=np.maximum(mass, 0),
    )


# --- A table again


def as_distribution(
    total: TiltedTable, bound: BoundKind, outside: float = 1.0
) -> PrivacyLossDistribution:
    r"""Turn an untilted total into a table on the safe side.

    Formula: upper: $\tau$ is added to the mass at infinity; lower: it is
    taken from the largest losses.

    Parameters: `total`, with tilt 0 and offset 0; `bound`, what the table
    shall be called, of the side of the total; `outside`, a bound of the
    mass that was wrapped around, which may all be at one place.
    Returns: a table whose curve lies on that side of the truth.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> as_distribution(add_losses([(coin, 2)]), "upper").first_index
    -2
    """
    sign, mass, infinity = total.sign, total.mass, total.infinity_mass
    scale = math.exp(min(total.log_scale, 700.0)) * (1 + sign * 16 * UNIT)
    if sign > 0:
        infinity += scale * total.padding
        infinity += total.log_scale > 700  # no float holds such masses
        infinity = min(1.0, infinity * (1 + 16 * UNIT))
    else:
        most = total.padding / math.sqrt(len(mass)) + outside
        taken = np.minimum(mass, most)
        beyond = np.cumsum(taken[::-1])[::-1] * (1 - 4 * UNIT * len(mass))
        left = np.maximum(total.padding - (beyond - taken), 0)
        mass = mass - np.minimum(taken, left)
    return PrivacyLossDistribution(
        total.step, int(total.index[0]), scale * mass, infinity, bound
    )


@front_door
def self_compose(
    distribution: PrivacyLossDistribution,
    count: int,
    *,
    tail_mass: float = 1e-15,
) -> PrivacyLossDistribution:
    r"""Privacy loss distribution of `count` independent equal steps.

    Formula: the `count`-fold convolution with itself.

    Parameters: `distribution`; `count` (T >= 1); `tail_mass` (in (0, 1)),
    what may be cut off at each end of the window, on the safe side.
    Returns: a distribution on the same side of the truth.
    Raises: ValueError for values outside these ranges.
    Error: absolute: round-off of about T * 6e-14 for some 24,000 places,
    counted on the safe side. For relative accuracy at tiny delta use
    `epsilon` or `delta`.
    Source: Doroshenko et al. (2022), Lemma 2.7.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> self_compose(coin, 2).mass.round(4)
    array([0.0625, 0.    , 0.375 , 0.    , 0.5625])
    """
    count = check_count("count", count)
    check_kind("distribution", distribution, PrivacyLossDistribution)
    return _compose([(distribution, count)], tail_mass)


@front_door
def compose(
    distributions: Sequence[PrivacyLossDistribution],
    *,
    tail_mass: float = 1e-15,
) -> PrivacyLossDistribution:
    r"""Privacy loss distribution of several independent steps together.

    Formula: the convolution of all of them.

    Parameters: `distributions`, at least one, all with the same step and
    on the same side; `tail_mass` as for `self_compose`.
    Returns: a distribution on that side of the truth.
    Raises: ValueError for an empty list, different steps or sides.
    Error: as for `self_compose`.
    Source: Doroshenko et al. (2022), Lemma 2.7.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> compose([coin, coin]).mass.round(4)
    array([0.0625, 0.    , 0.375 , 0.    , 0.5625])
    """
    if not isinstance(distributions, Sequence) or len(distributions) == 0:
        raise ValueError(
            f"distributions must be a non-empty list, got {distributions!r}"
        )
    for distribution in distributions:
        check_kind("distribution", distribution, PrivacyLossDistribution)
    return _compose(list(Counter(distributions).items()), tail_mass)


def _compose(
    parts: Sequence[Part], tail_mass: float
) -> PrivacyLossDistribution:
    check_number("tail_mass", tail_mass, 0, 1, "()")
    first, count = parts[0]
    for name in ("step", "bound"):
        values = {getattr(d, name) for d, _ in parts}
        if len(values) > 1:
            raise ValueError(
                f"distributions must have the same {name}, got {values}"
            )
    if len(parts) == 1 and count == 1:
        return first  # a single step is its own sum
    total = add_losses(parts, log_tail=math.log(tail_mass))
    return as_distribution(total, first.bound, 1.02 * tail_mass)
