# Generated from notebooks/calibration.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Which noise meets a target?"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from accountlib.accountant import Releases, delta, epsilon
from accountlib.checks import Bound, check
from accountlib.mechanisms import Gaussian, Mechanism
from accountlib.sampling import FullBatch, Release, Sampling

__all__ = [
    "EDGE",
    "EVERY_RECORD",
    "Excess",
    "calibrate",
    "fits",
    "calibrate_noise",
]

# --- Code: the search

EDGE = 5e-5  # relative distance of met and missed
EVERY_RECORD = FullBatch()


class Excess:
    """By how much a run misses a target, as a logarithm: below 0 if it
    meets it. Far from the target a wide interval decides.

    >>> excess = Excess(lambda x: Release(Gaussian(x)), 1.0, 1e-6,
    ...     adjacency="add")
    >>> excess(9.0) < 0 < excess(2.0)
    True
    """

    def __init__(
        self, build: Callable[..., Releases], *target: float, **ask: Any
    ) -> None:
        self.build, self.ask, self.width = build, ask, 0.1
        self.epsilon = check("epsilon", target[0], 0, 1000)
        self.delta = check("delta", target[1], 0, 1)
        self.tried: dict[float, float] = {}

    def __call__(self, x: float) -> float:
        if x not in self.tried:
            run, wanted = self.build(x), self.epsilon or self.delta
            ends = self.ends(run)
            if ends.lower <= 1.01 * wanted and ends.upper > 0.99 * wanted:
                self.width, wide = 1e-3, self.width
                ends = self.ends(run) if wide > self.width else ends
            share = ends.upper / max(wanted, 1e-300)
            most = math.log(min(max(share, 1e-300), 1e300))
            met = ends.upper <= wanted
            self.tried[x] = min(most, -1e-9) if met else max(most, 1e-9)
        return self.tried[x]

    def ends(self, run: Releases) -> Bound:
        """The interval that is held against the target."""
        ask = self.ask | {"relative_width": self.width}
        if self.epsilon > 0:
            return epsilon(run, delta=self.delta, **ask)
        return delta(run, epsilon=0.0, **ask)

    def edge(self, low: float, high: float, whole: bool = False) -> float:
        """A number that meets the target, next to one that misses it."""
        met, missed = (low, high) if self(low) < 0 else (high, low)
        last, here, gaps = missed, met, [math.inf] * 3
        while (gap := abs(met - missed)) > (1 if whole else EDGE * met):
            aim, fall = math.sqrt(met) * math.sqrt(missed), 0.0
            if gap < gaps[-3] / 4:  # else halve
                fall = self(last) - self(here)
            if abs(fall) > 1e-6:  # a secant, and a little more
                power = min(max(self(here) / fall, -9), 9)
                place = here * (here / last) ** power
                far = max(met, missed, key=lambda x: abs(x / place - 1))
                place *= 1 + math.copysign(EDGE / 3, far - place)
                if min(met, missed) < place < max(met, missed):
                    aim = place
            if whole:
                aim = max(int(aim), min(met, missed) + 1)
            gaps, last, here = [*gaps, gap], here, aim
            met, missed = (aim, missed) if self(aim) < 0 else (met, aim)
        return met


def calibrate(
    build: Callable[..., Releases],
    *,
    low: float,
    high: float,
    epsilon: float,
    delta: float,
    adjacency: str,
    group_size: int = 1,
    whole: bool = False,
) -> float:
    r"""The number at which a run just meets a target.

    Formula: x with $\bar\varepsilon(x) \le \varepsilon$, next to one that
    misses it.
    Parameters: `build`, which makes a run of a number x (noise, rate, steps);
    `low`, `high`, the ends of the search (1e-300 to 1e300); `epsilon` (0 to
    1000), `delta` (0 to 1), `adjacency`, `group_size`: the target; `whole`:
    x, `low` and `high` are whole numbers.
    Returns: x in [low, high]. The upper end of `epsilon` meets the target
    there, always. It is above the target within 0.005 % of x, if `whole` at
    x + 1 or x - 1. If both ends meet it, the one with less privacy.
    Raises: ValueError for other values, and if both ends miss the target.
    Source: page-calibration.

    >>> from accountlib.sampling import Poisson
    >>> run = lambda n: Release(Gaussian(2.0), Poisson(0.01), n)
    >>> target = {"epsilon": 1.0, "delta": 1e-6, "adjacency": "remove"}
    >>> calibrate(run, low=1, high=1e5, whole=True, **target)
    1871
    """
    low = check("low", low, 1e-300, 1e300, whole=whole)
    high = check("high", high, low, 1e300, whole=whole)
    ask = {"adjacency": adjacency, "group_size": group_size}
    excess = Excess(build, epsilon, delta, **ask)
    ends = excess(low), excess(high)
    if min(ends) > 0:
        raise ValueError(
            f"epsilon={epsilon!r}, delta={delta!r} is missed at both ends "
            f"of [low, high] = [{low!r}, {high!r}]"
        )
    if max(ends) < 0:  # the end with less privacy
        return low if ends[0] > ends[1] else high
    return excess.edge(low, high, whole)


def fits(mechanism: Callable[[float], Mechanism], noise: float) -> bool:
    """Whether there is such a mechanism.

    >>> fits(Gaussian, 1.0), fits(Gaussian, -1.0)
    (True, False)
    """
    try:
        mechanism(noise)
    except ValueError:
        return False
    return True


def calibrate_noise(
    *,
    epsilon: float,
    delta: float,
    sampling: Sampling = EVERY_RECORD,
    count: int = 1,
    adjacency: str,
    group_size: int = 1,
    mechanism: Callable[[float], Mechanism] = Gaussian,
) -> float:
    r"""The noise at which a run just meets a target.

    Formula: x with $\bar\varepsilon(x) \le \varepsilon <
    \underline\varepsilon(0.999\,x)$.
    Parameters: `epsilon` (0 to 1000), `delta` (0 to 1), `adjacency`,
    `group_size`: the target; `sampling`, `count`, as of a `Release`;
    `mechanism`, from noise to a mechanism, a ValueError where there is none.
    Returns: a noise multiplier or scale x in [0.005, 1e6]. It meets the
    target, always; the target is missed within 0.005 % below, or above. So
    it is hardly too large where more noise is never worse: not always for
    `DiscreteGaussian`.
    Raises: ValueError for other values, and if no noise that was tried meets
    the target, or if all do.
    Source: page-calibration.

    >>> from accountlib.sampling import Poisson
    >>> run = {"sampling": Poisson(0.001), "count": 10_000}
    >>> target = {"epsilon": 1.0, "delta": 1e-6, "adjacency": "remove"}
    >>> round(calibrate_noise(**run, **target), 3)
    0.788
    """

    def build(noise: float) -> Release:
        return Release(mechanism(noise), sampling, count)

    ask = {"adjacency": adjacency, "group_size": group_size}
    excess = Excess(build, epsilon, delta, **ask)
    some = np.geomspace(0.005, 1e6, 192).tolist()  # a tenth apart
    noises = [x for x in some if fits(mechanism, x)] or [1.0]
    here = last = int(np.argmin(np.abs(np.log(noises))))
    step = 14 if excess(noises[here]) > 0 else -14  # a factor of 4
    while excess(noises[here]) * step > 0:
        last, here = here, min(max(here + step, 0), len(noises) - 1)
        if here == last:
            raise ValueError(
                f"epsilon={epsilon!r}, delta={delta!r} is met by "
                f"{'no' if step > 0 else 'all'} noise, 1 to {noises[here]!r}"
            )
    return excess.edge(*sorted([noises[last], noises[here]]))
