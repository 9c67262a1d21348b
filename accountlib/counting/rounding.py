# Generated from notebooks/counting/rounding.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""The same, with every error counted

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\lambda$ | `tilt` | exponent of the tilt, $\ge 0$ |
| $K$ | `log_scale` | log of the mean of $e^{\lambda S}$ for the total loss $S$, over finite $S$ only |
| $\ell_k$, $\Delta$ | `losses`, `step` | losses of the grid, and their distance |
| $m_k$ | `mass` | tilted probability of the grid loss $\ell_k$ |
| $N$ | `size` | number of grid points of the circle |
| $T$, $J$ | `count`, – | how often a part occurs; number of parts |
| $z$ | `transform` | an entry of a transform |
| $\eta$ | `stages` | bound of the error of $z$ |
| $E$ | `entry_error` | bound of the rounding error of each $m_k$ |
| $\tau$ | `tail` | tilted mass outside of the window, each side |
| $p_\infty$ | `infinity_mass` | probability of an infinite loss |
| $a_k$, $c_k$ | `above` | weighted sums of the masses above $\ell_k$ |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from accountlib.counting.composition import Part, any_infinite, chernoff_edges
from accountlib.counting.loss_tables import (
    MOST_CELLS,
    BoundKind,
    GridTooFine,
    PrivacyLossDistribution,
)
from accountlib.inputs import (
    Floats,
    check_count,
    check_kind,
    check_number,
    front_door,
)
from accountlib.worst_cases.divergences import product_minus
from accountlib.worst_cases.dominating_pairs import UNIT

__all__ = [
    "Composition",
    "convolve",
    "log_peak",
    "log_of",
    "delta_side",
    "tilted_curve",
    "epsilon_side",
    "as_distribution",
    "self_compose",
    "compose",
]

# --- All errors in one place


@dataclass(frozen=True, eq=False)
class Composition:
    r"""Total privacy loss of many steps: tilted, and in a window.

    Formula: $P(S = \ell_k) = e^{K - \lambda \ell_k} m_k$ with
    $\ell_k = (f + k) \Delta$, where every $m_k$ is known up to
    `entry_error`, the tilted mass on each side of the window is at most
    `tail`, and K is known up to `scale_error`.

    Fields: `step` ($\Delta$), `first_index` (f), `mass` (m), `tilt`
    ($\lambda$), `log_scale` (K), the three errors, and `infinity_mass`.
    """

    step: float
    first_index: int
    mass: Floats
    tilt: float
    log_scale: float
    entry_error: float
    tail: float
    scale_error: float
    infinity_mass: float

    def __post_init__(self) -> None:
        mass = np.array(self.mass, dtype=np.float64)
        mass.flags.writeable = False
        object.__setattr__(self, "mass", mass)


def convolve(
    parts: Sequence[Part], *, tilt: float = 0.0, log_tail: float = -36.0
) -> Composition:
    r"""Distribution of the sum of independent privacy losses, by FFT.

    Formula: the transform of a sum is the product of the transforms,
    $\hat m = \prod_j \hat m_j^{T_j}$, on a circle as long as the window.

    Parameters: `parts`, pairs of a distribution and its count, all on
    one step; `tilt` ($\lambda$): every mass is first multiplied by
    $e^{\lambda \ell}$ and normalised; `log_tail`, logarithm of the
    tilted mass that may lie outside of the window on each side.
    Returns: the composition, with bounds of all its errors.
    Error: see `Composition`; mass outside of the window is wrapped into it.
    Source: Koskela, Jälkö and Honkela (2020).

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> np.abs(convolve([(coin, 2)]).mass[:5]).round(4)
    array([0.0625, 0.    , 0.375 , 0.    , 0.5625])
    """
    step = parts[0][0].step
    bottom = sum(n * d.first_index for d, n in parts)
    top = sum(n * (d.first_index + d.losses.size - 1) for d, n in parts)
    infinity = any_infinite([(d.infinity_mass, n) for d, n in parts])
    if any(np.max(d.mass) == 0 for d, _ in parts):  # no finite loss at all
        return Composition(
            step, bottom, np.zeros(1), tilt, 0.0, 0.0, 0.0, 0.0, infinity
        )
    low, high = chernoff_edges(parts, tilt, log_tail)
    room = 8 * UNIT * max(abs(bottom), abs(top))  # rounding of the edges
    first = max(math.floor(low / step - room), bottom)
    last = max(min(math.ceil(high / step + room), top), first)
    if last - first >= MOST_CELLS:
        raise GridTooFine(step, last - first + 1)
    size = next_fast_len(last - first + 1, real=True)
    whole = size > top - bottom
    first = bottom if whole else first

    stages = 8 * UNIT * max(1.0, math.log2(size))
    half = size // 2 + 1
    log_power, log_most = np.zeros(half), np.zeros(half)
    angle, relative = np.zeros(half), np.zeros(half)
    offset, scale_error = 0, 0.0
    log_moments = []
    for loss, count in parts:
        exponent = tilt * loss.losses + loss.log_mass
        largest = float(np.max(exponent))
        mass = np.exp(exponent - largest)
        seen = mass > 0
        # Tilted masses, rounded outward: e^x errs by about |x| u.
        size_of = np.abs(tilt * loss.losses) - loss.log_mass + 8
        size_of = size_of[seen] + np.abs(exponent[seen] - largest)
        outward = 1 if loss.bound in ("upper", "buckets-upper") else -1
        mass[seen] *= 1 + outward * 6 * UNIT * size_of
        total = float(np.sum(mass))
        mass /= total
        log_moment_of_part = largest + math.log(total)
        log_moments.append(count * log_moment_of_part)
        scale_error += count * UNIT * (80 + 4 * abs(log_moment_of_part))
        index = loss.first_index + np.arange(len(mass))
        middle = round(float(np.sum(mass * index)))
        offset += count * middle
        transform = rfft(np.bincount((index - middle) % size, mass, size))
        radius = np.abs(transform)
        phase = np.angle(transform)
        with np.errstate(divide="ignore"):
            log_radius = np.maximum(np.log(radius), -750.0)
        log_power += count * log_radius
        log_most += count * np.log(radius + stages)
        angle += count * phase
        # Error of a factor, times how often it occurs (cmp-power).
        rounding = 1 + np.abs(log_radius) + np.abs(phase)
        rounding *= (6 + 2 * len(parts)) * UNIT
        relative += count * (stages / (radius + stages) + rounding)
    wrong = np.exp(log_most) * (relative + stages)
    keep = np.flatnonzero(log_power > -90)  # the others sum to below 1e-38
    composed = np.zeros(half, dtype=np.complex128)
    power = np.exp(log_power[keep])
    composed[keep] = power * np.exp(1j * angle[keep])
    mass = np.roll(irfft(composed, size), -((first - offset) % size))
    return Composition(
        step=step,
        first_index=first,
        mass=mass,
        tilt=tilt,
        log_scale=math.fsum(log_moments),
        # `wrong` is one half of a symmetric spectrum.
        entry_error=float(2 * np.sum(wrong) / size) + 1e-38,
        tail=0.0 if whole else math.exp(log_tail + 1e-3 + 2 * scale_error),
        scale_error=scale_error,
        infinity_mass=infinity,
    )


# --- Reading off delta and epsilon


def log_peak(tilt: float) -> float:
    r"""Logarithm of the largest $e^{-\lambda x} (1 - e^{-x})$ over x >= 0.

    Formula: $\lambda \ln \lambda - (1 + \lambda) \ln(1 + \lambda)$.

    Parameters: `tilt` ($\lambda \ge 0$).

    >>> round(math.exp(log_peak(1.0)), 12)
    0.25
    """
    if tilt == 0:
        return 0.0
    return -tilt * math.log1p(1 / tilt) - math.log1p(tilt)


def log_of(value: float) -> float:
    """Natural logarithm of a number >= 0, -inf for 0.

    Parameters: `value`.

    >>> log_of(0.0)
    -inf
    """
    return math.log(value) if value > 0 else -math.inf


def delta_side(total: Composition, epsilon: float, upper: bool) -> float:
    r"""One end of the interval for delta at one epsilon.

    Formula: $p_\infty + e^{K - \lambda \varepsilon} \sum_{\ell_k >
    \varepsilon} m_k e^{-\lambda(\ell_k - \varepsilon)} (1 -
    e^{\varepsilon - \ell_k})$, all errors added or subtracted.

    Parameters: `total`, composed from distributions of the same side;
    `epsilon`; `upper`, which end is wanted.
    Returns: a number in [0, 1] on the wanted side of the truth.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> round(delta_side(convolve([(coin, 2)]), 1.0, upper=True), 6)
    0.355568
    """
    sign, tilt = (1 if upper else -1), total.tilt
    places = total.first_index + np.arange(total.mass.size, dtype=float)
    gap = product_minus(places, np.asarray(total.step), epsilon)
    above = gap > 0
    gap = gap[above]
    mass = np.maximum(total.mass[above] + sign * total.entry_error, 0)
    # Weights relative to the first one, so that they cannot all underflow.
    start = float(gap[0]) if gap.size else 0.0
    decay = np.minimum(tilt * (gap - start), 750.0)
    log_sum = log_of(float(np.sum(mass * np.exp(-decay) * -np.expm1(-gap))))
    exponent = total.log_scale - tilt * epsilon
    sizes = abs(total.log_scale) + tilt * (abs(epsilon) + start)
    sizes += max(float(np.max(decay, initial=0.0)), min(abs(log_sum), 750.0))
    error = total.scale_error + 8 * UNIT * (10 + sizes)
    finite = math.exp(min(exponent - tilt * start + log_sum + sign * error, 0))
    if upper and log_sum > -math.inf:
        finite = max(finite, 5e-324)  # no underflow to 0
    wrapped = exponent + log_of(2 * total.tail) + log_peak(tilt) + error
    finite = max(finite + sign * math.exp(min(wrapped, 0.0)), 0.0)
    infinite = total.infinity_mass * (1 + sign * 16 * UNIT)
    return min(1.0, finite + infinite)


def tilted_curve(step: float, mass: Floats, tilt: float) -> Floats:
    r"""Weighted sums above each grid point, with positive terms only.

    Formula: $c_k = \sum_{j > k} m_j e^{-\lambda(\ell_j - \ell_k)}
    (1 - e^{\ell_k - \ell_j})$, from two recursions of the form
    $c_k = r c_{k+1} + x_k$, each computed by doubling.

    Parameters: `step`, `mass` ($m_j \ge 0$), `tilt` ($\lambda \ge 0$).
    Returns: one number per grid point.
    Error: relative error below 100 u (1 + log2 n) for n masses, once
    the exponent `tilt` times the window's length is added to the 100.

    >>> tilted_curve(1.0, np.array([0.5, 0.5]), 0.0).round(4)
    array([0.3161, 0.    ])
    """
    above = np.append(math.exp(-tilt * step) * mass[1:], 0.0)
    for rate, scale in ((tilt, -math.expm1(-step)), (tilt + 1, 1.0)):
        shift = 1
        while shift < len(above):
            factor = math.exp(-rate * shift * step)
            if factor == 0:
                break
            above[:-shift] += factor * above[shift:]
            shift *= 2
        above *= scale
    return above


def epsilon_side(total: Composition, delta: float, upper: bool) -> float:
    r"""One end of the interval for epsilon at one delta.

    Formula: `delta_side` at every grid point (eq. cmp-delta), and between two
    grid points linear interpolation in $e^\varepsilon$, which is exact.

    Parameters: `total`, composed from distributions of the same side;
    `delta`; `upper`, which end is wanted.
    Returns: a number (-inf to inf, not cut at 0) on the wanted side.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> round(epsilon_side(convolve([(coin, 2)]), 0.355568, upper=True), 5)
    1.0
    """
    sign = 1 if upper else -1
    infinite = total.infinity_mass * (1 + sign * 16 * UNIT)
    if delta <= infinite:
        return math.inf
    mass = np.maximum(total.mass + sign * total.entry_error, 0)
    pad = sign * 2 * total.tail * math.exp(log_peak(total.tilt))
    curve = tilted_curve(total.step, mass, total.tilt) + pad
    losses = total.step * (total.first_index + np.arange(len(mass)))
    largest = total.tilt * float(np.max(np.abs(losses)))
    window = total.tilt * float(losses[-1] - losses[0])
    sums = (100 + 2 * window) * (1 + math.log2(len(mass)))
    wanted_log = math.log(delta - infinite)
    error = total.scale_error + UNIT * (
        sums + 8 * (abs(total.log_scale) + largest + abs(wanted_log))
    )
    moved = sign * 8 * UNIT * (float(np.max(np.abs(losses))) + total.step)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_curve = total.log_scale - total.tilt * losses + np.log(curve)
    above = np.flatnonzero(log_curve + sign * error > wanted_log)
    if len(above) == 0:
        return float(losses[0]) + moved if upper else -math.inf
    k = int(above[-1])
    if k == len(mass) - 1:
        return math.inf if upper else float(losses[k]) + moved
    level = wanted_log - sign * error
    wanted = math.exp(level - total.log_scale + total.tilt * losses[k])
    after = math.exp(-total.tilt * total.step) * (curve[k + 1] - pad) + pad
    part = min((curve[k] - wanted) / max(curve[k] - after, 1e-300), 1.0)
    root = losses[k] + math.log1p(part * math.expm1(total.step))
    return float(root) + moved


# --- Untilted tables


def as_distribution(
    total: Composition, bound: BoundKind
) -> PrivacyLossDistribution:
    r"""Turn an untilted composition into a table on the safe side.

    Formula: upper: all errors are added to the mass at infinity; lower:
    they are taken from the entries, and the tail from the largest losses.

    Parameters: `total`, composed with tilt 0 from tables of one side;
    `bound`, that side.
    Returns: a table whose curve lies on that side of the truth.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> as_distribution(convolve([(coin, 2)]), "upper").first_index
    -2
    """
    upper = bound in ("upper", "buckets-upper")
    sign = 1 if upper else -1
    scale = math.exp(total.log_scale + sign * total.scale_error)
    infinity = total.infinity_mass * (1 + sign * 16 * UNIT)
    if upper:
        mass = np.maximum(total.mass, 0)
        error = total.entry_error * mass.size + total.tail
        infinity = min(1.0, infinity + scale * error * (1 + 16 * UNIT))
    else:
        mass = np.maximum(total.mass - total.entry_error, 0)
        beyond = np.cumsum(mass[::-1])[::-1] * (1 - 4 * UNIT * mass.size)
        mass = np.minimum(mass, np.maximum(beyond - total.tail, 0))
    mass = mass * scale
    return PrivacyLossDistribution(
        total.step, total.first_index, mass, infinity, bound
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
    Error: absolute: round-off of about T * 1e-15, counted on the safe
    side. For relative accuracy at tiny delta use `epsilon` or `delta`.
    Source: Doroshenko et al. (2022), Lemma 2.7.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> self_compose(coin, 2).mass.round(4)
    array([0.0625, 0.    , 0.375 , 0.    , 0.5625])
    """
    count = check_count("count", count)
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
    return _compose([(d, 1) for d in distributions], tail_mass)


def _compose(
    parts: Sequence[Part], tail_mass: float
) -> PrivacyLossDistribution:
    check_number("tail_mass", tail_mass, 0, 1, "()")
    for distribution, _ in parts:
        check_kind("distribution", distribution, PrivacyLossDistribution)
    first = parts[0][0]
    for name in ("step", "bound"):
        values = {getattr(d, name) for d, _ in parts}
        if len(values) > 1:
            raise ValueError(
                f"distributions must have the same {name}, got {values}"
            )
    return as_distribution(
        convolve(parts, log_tail=math.log(tail_mass)), first.bound
    )
