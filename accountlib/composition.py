# Generated from notebooks/composition.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What is left after 10,000 steps?"""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft

from accountlib.checks import UNIT, Floats, check
from accountlib.pld import PrivacyLossDistribution, few_enough

__all__ = [
    "Part",
    "LOG_TAIL",
    "OUTSIDE",
    "LOST",
    "DEEPEST",
    "moments",
    "edge",
    "choose_tilts",
    "on_circle",
    "total_masses",
    "composed",
    "self_compose",
    "compose",
]

# --- Which tilts, which window?

Part = tuple[Floats, Floats, int]  # losses, logs of masses, count
LOG_TAIL = -40.0  # log of the tilted mass beyond an end of the window
OUTSIDE = 1.1 * math.exp(LOG_TAIL)  # rounding of the moments included
LOST = 10.0  # digits of base e that a tilt has lost at the next one's mean
DEEPEST = 70.0  # the last tilt is for a delta of about e^-70


def moments(parts: Sequence[Part], tilt: float) -> tuple[float, float]:
    """K(tilt), the log of the mean of e^(tilt S), and its derivative."""
    total = mean = 0.0
    for losses, log_mass, count in parts:
        power = tilt * losses + log_mass
        weight = np.exp(power - power.max())
        total += count * (float(power.max()) + math.log(weight.sum()))
        mean += count * float(weight @ losses / weight.sum())
    return total, mean


def edge(parts: Sequence[Part], tilt: float, sign: int) -> float:
    """A loss beyond which the tilted total has at most e^LOG_TAIL."""
    spread = sum(n * float(x[-1] - x[0]) for x, _, n in parts)
    here, low = moments(parts, tilt)[0], -math.log(spread)

    def reach(x: float) -> float:
        more = moments(parts, tilt + sign * math.exp(x))[0] - here
        return (more - LOG_TAIL) * math.exp(-x)

    from scipy.optimize import minimize_scalar  # slow to import

    best = minimize_scalar(reach, bounds=(low - 1, low + 20), method="bounded")
    return sign * float(best.fun)


def choose_tilts(parts: Sequence[Part]) -> tuple[list[float], float, float]:
    """Tilts that share the losses of the total, and a window for all."""
    low, high = (edge(parts, 0.0, sign) for sign in (-1, 1))
    tilts, most, reached = [0.0], high + 2 * (high - low), 0.0
    start, more = moments(parts, 0.0)[0], 100 / (high - low)
    while reached < DEEPEST:
        here = moments(parts, tilts[-1])[0]
        for _ in range(8):
            new = tilts[-1] + more
            there, mean = moments(parts, new)
            if more * mean - (there - here) < LOST:
                if (end := edge(parts, new, 1)) < most:
                    break
            more /= 1.5
        else:
            break
        tilts, high, more = [*tilts, new], max(high, end), 2 * more
        before, reached = reached, new * mean - (there - start)
        if reached < before + 1:
            break
    return tilts, low, high


# --- How large is the round-off?


def on_circle(
    parts: Sequence[Part], tilt: float, index: Floats, step: float, side: int
) -> Floats:
    """Masses of the total on a circle of grid points, from one tilt."""
    size, more = len(index), (16 + len(parts)) * UNIT
    log_value, lost, scale = np.zeros(size // 2 + 1, complex), 0.0, []
    for losses, log_mass, count in parts:
        k, power = moments([(losses, log_mass, 1)], tilt)[0], tilt * losses
        wide = 8 * UNIT * (np.abs(power) + np.abs(log_mass) + abs(k) + 8)
        mass = np.exp(power + log_mass - k) * (1 + side * wide)
        place = np.rint(losses / step).astype(int) % size
        value = rfft(np.bincount(place, mass, size))
        off = 8 * math.log2(size) + np.bincount(place).max()
        off = off * UNIT * mass.sum()
        far = np.maximum(np.abs(value), off)
        log_value += count * (np.log(far) + 1j * np.angle(value))
        off = off + far - np.abs(value)  # what raising a small one moves
        lost = lost + count * np.log1p(off / far)
        lost = lost + count * more * (np.abs(np.log(far)) + 4)
        scale.append(count * k)
    value = np.exp(log_value)
    wrong = np.exp(log_value.real + lost) * -np.expm1(-lost)
    wrong = wrong + 8 * UNIT * math.log2(size) * np.abs(value)
    error = 2.02 * wrong.sum() / size + (0 if side > 0 else 2 * OUTSIDE)
    mass = np.roll(irfft(value, size), -(int(index[0]) % size))
    untilted = np.exp(math.fsum(scale) - tilt * step * index)
    return np.asarray(np.maximum(mass + side * error, 0.0) * untilted)


def total_masses(
    parts: Sequence[Part], step: float, side: int
) -> tuple[int, Floats, float]:
    """First index and masses of the total, and what may lie beyond."""
    first, last = (
        sum(n * round(float(x[end]) / step) for x, _, n in parts)
        for end in (0, -1)
    )
    tilts, ends = [0.0], (first, last)
    if last > first:
        tilts, low, high = choose_tilts(parts)
        first = max(first, math.floor(low / step) - 1)
        last = min(last, math.ceil(high / step) + 1)
    few_enough(last - first)
    size = next_fast_len(last - first + 1, real=True)
    index = first + np.arange(size)
    masses = [on_circle(parts, x, index, step, side) for x in tilts]
    if side < 0:
        return first, np.fmax.reduce(masses), 0.0
    best, beyond = np.fmin.reduce(masses), 0.0
    if (first, last) != ends:
        ways = 0.0, tilts[-1]
        power = [moments(parts, x)[0] - x * step * last for x in ways]
        best[0] += OUTSIDE * np.exp(power[0])
        beyond = OUTSIDE * float(np.exp(min(power)))
    return first, np.fmin(best, 1.5), beyond


# --- One call, or two


def composed(
    kinds: Sequence[tuple[PrivacyLossDistribution, int]],
) -> PrivacyLossDistribution:
    """The sum of losses, each PLD with its count."""
    one, count = kinds[0]
    for name in ("step", "bound"):
        found = {getattr(d, name) for d, _ in kinds}
        if len(found) > 1:
            raise ValueError(f"{name} must be the same in all, got {found}")
    if len(kinds) == 1 and count == 1:
        return one
    parts = [
        (d.losses[d.mass > 0], np.log(d.mass[d.mass > 0]), n) for d, n in kinds
    ]
    first, mass, beyond = 0, np.zeros(1), 0.0
    if all(len(losses) for losses, _, _ in parts):
        first, mass, beyond = total_masses(parts, one.step, one.side)
    finite = math.fsum(n * np.log1p(-d.infinity_mass) for d, n in kinds)
    infinite = -math.expm1(finite) * (1 + one.side * 64 * UNIT) + beyond
    error = sum(n * d.loss_error for d, n in kinds) * (1 + 1e-12)
    rest = min(infinite, 1.0), one.bound, error
    return PrivacyLossDistribution(one.step, first, mass, *rest)


@np.errstate(all="ignore")
def self_compose(
    distribution: PrivacyLossDistribution, count: int
) -> PrivacyLossDistribution:
    r"""The PLD of `count` independent equal steps.

    Formula: the `count`-fold convolution with itself.

    Parameters: `distribution`; `count` (T in [1, 1e9]).
    Returns: a PLD on the same side of the truth, all errors counted.
    Raises: ValueError for other arguments.
    Error: relative, some T * 1e-12 for a delta down to 1e-30, except where
    rare large losses rule; the error of `distribution` itself T times.
    Source: Doroshenko et al. (2022), Lemma 2.7; Koskela et al. (2020).

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> self_compose(coin, 2).mass.round(4)
    array([0.0625, 0.    , 0.375 , 0.    , 0.5625])
    """
    if not isinstance(distribution, PrivacyLossDistribution):
        raise ValueError(f"distribution must be a PLD, got {distribution!r}")
    times = check("count", count, 1, 1e9, whole=True)
    return composed([(distribution, times)])


@np.errstate(all="ignore")
def compose(
    distributions: Sequence[PrivacyLossDistribution],
) -> PrivacyLossDistribution:
    r"""The PLD of several independent steps together.

    Formula: the convolution of all of them.

    Parameters: `distributions`, at least one, of one step and one bound.
    Returns: a PLD on their side of the truth; errors as `self_compose`.
    Raises: ValueError for an empty list, different steps or bounds.
    Source: Doroshenko et al. (2022), Lemma 2.7.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> compose([coin, coin]).mass.round(4)
    array([0.0625, 0.    , 0.375 , 0.    , 0.5625])
    """
    given = list(distributions)
    if not given or any(
        not isinstance(x, PrivacyLossDistribution) for x in given
    ):
        raise ValueError(f"distributions must be PLDs, got {given!r}")
    return composed(list(Counter(given).items()))
