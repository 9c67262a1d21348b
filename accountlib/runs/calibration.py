# Generated from notebooks/runs/calibration.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""The noise for a target

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\varepsilon$, $\delta$ | `epsilon`, `target_epsilon`; `delta`, `target_delta` | the target |
| $\bar\varepsilon$ | `found` | upper end of the certified interval |
| $x$ | `x`, `noise` | the parameter that is looked for, $> 0$ |
| $f$ | `excess` | by how much a run with the parameter $x$ misses the target: positive if it does |
| $y$ | – | a parameter near $x$ at which the target is missed |
| $\sigma$ | `noise_multiplier` | Gaussian noise in units of the clipping norm; for counts absolute |
| $s$ | `scale` | scale of Laplace noise |
| $k$ | `sensitivity` | by how much a record can change a count |
| $\gamma$ | `rate` | sampling rate |
"""

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Literal, overload

import numpy as np
from scipy.optimize import brentq

from accountlib.inputs import (
    check_count,
    check_function,
    check_kind,
    check_number,
    front_door,
)
from accountlib.runs.mechanisms import Gaussian
from accountlib.runs.one_call import delta, directions, epsilon
from accountlib.runs.releases import (
    Adjacency,
    AdjacencyName,
    Release,
    Sampling,
    check_adjacency,
)
from accountlib.worst_cases.dominating_pairs import Mechanism

__all__ = [
    "EDGE",
    "JUST",
    "FACTOR",
    "LEAST_NOISE",
    "MOST_NOISE",
    "log_excess",
    "safe_edge",
    "whole_edge",
    "searched",
    "calibrate",
    "last_allowed",
    "noise_bracket",
    "calibrate_noise",
]

# --- What can be promised

EDGE = 5e-5  # relative distance of met and missed
JUST = 1e-9  # least size of an excess
FACTOR = 4.0  # between two noises that are tried
LEAST_NOISE = 1e-3
MOST_NOISE = 1e9


def log_excess(
    releases: Release | Sequence[Release],
    target_epsilon: float,
    target_delta: float,
    adjacency: Adjacency | AdjacencyName,
    group_size: int,
) -> float:
    r"""By how much a run misses a target: negative if it meets it.

    Formula: $\ln(\bar\varepsilon / \varepsilon)$ with the upper end
    $\bar\varepsilon$; for a target of $\varepsilon = 0$ the same of
    $\delta$.

    Parameters: `releases`; `target_epsilon` ($\varepsilon$),
    `target_delta` ($\delta$); `adjacency`, `group_size` as for `epsilon`.
    Returns: a number, or plus or minus infinity; never 0: a target that is
    just met counts as met, so that a search goes on to the edge.

    >>> log_excess(Release(Gaussian(9.0)), 1.0, 1e-6, "add", 1) < 0
    True
    """
    ask: dict[str, Any] = {"adjacency": adjacency, "group_size": group_size}
    if target_epsilon > 0:
        wanted = target_epsilon
        found = epsilon(releases, delta=target_delta, **ask).upper
    else:
        wanted, found = target_delta, delta(releases, epsilon=0.0, **ask).upper
    if found <= 0 or wanted <= 0:
        return -math.inf if found <= wanted else math.inf
    excess = math.log(found) - math.log(wanted)
    return min(excess, -JUST) if found <= wanted else max(excess, JUST)


def safe_edge(
    excess: Callable[[float], float], low: float, high: float
) -> float:
    r"""A place where a target is met, next to one where it is missed.

    Formula: x with $f(x) \le 0 < f(y)$ for some y with $|\ln(x/y)| \le 5
    \cdot 10^{-5}$.

    Parameters: `excess` (f), positive at one end and not at the other;
    `low`, `high`, the ends (0 < low < high). About ten values of f are
    computed, and 102 at most: it ends, and meets the target, always.
    Returns: x in [low, high].
    Raises: ValueError if f has the same sign at both ends.

    >>> round(safe_edge(lambda x: 2 - x, 1.0, 9.0), 3)
    2.0
    """
    ends = math.log(low), math.log(high)
    tried: dict[float, float] = {}

    def look(place: float) -> float:
        x = math.exp(place)
        x = low if place <= ends[0] else high if place >= ends[1] else x
        tried[x] = excess(x)
        found = min(max(tried[x], -50.0), 50.0)  # Brent's method divides,
        return found or -JUST  # and stops at 0, maybe far from the edge

    if ends[1] - ends[0] <= EDGE:  # at the edge already
        look(ends[1])
        tried[low] = excess(low)
    else:
        brentq(look, *ends, xtol=EDGE, maxiter=100, disp=False)
    met = [x for x, f in tried.items() if f <= 0]
    missed = [math.log(x) for x, f in tried.items() if f > 0]
    if not (met and missed):
        raise ValueError(f"excess must change its sign, got {tried!r}")
    return min(met, key=lambda x: min(abs(math.log(x) - y) for y in missed))


def whole_edge(excess: Callable[[int], float], low: int, high: int) -> int:
    r"""A whole number that meets a target, and whose neighbour misses it.

    Formula: n with $f(n) \le 0 < f(m)$ for some m with $|n - m| = 1$.

    Parameters: `excess` (f), positive at one end and not at the other;
    `low`, `high`, the ends (0 < low < high). It halves the logarithm of
    the range, and so looks at about 30 numbers below a billion.
    Returns: n in [low, high].
    Raises: ValueError if f has the same sign at both ends.

    >>> whole_edge(lambda n: n - 2.5, 1, 1000)
    2
    """
    met, missed = (low, high) if excess(low) <= 0 else (high, low)
    if excess(met) > 0 or excess(missed) <= 0:
        raise ValueError(
            "excess must change its sign between low and high, "
            f"got {low!r} and {high!r}"
        )
    while abs(met - missed) > 1:
        least = min(met, missed) + 1
        middle = max(math.isqrt(met * missed), least)
        if excess(middle) <= 0:
            met = middle
        else:
            missed = middle
    return met


def searched(
    adjacency: Adjacency | AdjacencyName,
) -> tuple[Adjacency, ...]:
    """The neighbours whose edge is looked for, one after the other.

    Parameters: `adjacency`, that of the whole run, which comes last.

    >>> [who.value for who in searched("add-or-remove")]
    ['remove', 'add-or-remove']
    """
    known = check_adjacency(adjacency)
    both = known is Adjacency.ADD_OR_REMOVE
    return (Adjacency.REMOVE, known) if both else (known,)


@overload
def calibrate(
    build: Callable[[float], Release | Sequence[Release]],
    *,
    low: float,
    high: float,
    epsilon: float,
    delta: float,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    whole: Literal[False] = False,
) -> float: ...


@overload
def calibrate(
    build: Callable[[int], Release | Sequence[Release]],
    *,
    low: float,
    high: float,
    epsilon: float,
    delta: float,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    whole: Literal[True],
) -> int: ...


@front_door
def calibrate(
    build: Callable[..., Release | Sequence[Release]],
    *,
    low: float,
    high: float,
    epsilon: float,
    delta: float,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    whole: bool = False,
) -> float:
    r"""The parameter of a run at which it just meets a privacy target.

    Formula: x with $\varepsilon(x) \le \varepsilon$; moved by 0.1 %
    towards less privacy it fails.

    Parameters: `build`, from a number x to releases (noise, rate, count,
    scale); `low`, `high`, where to look (0 < low < high, finite); `epsilon`
    ($\varepsilon \ge 0$), `delta` ($\delta$ in [0, 1]), `adjacency`,
    `group_size`, the target; `whole`: x, `low` and `high` are whole numbers,
    such as steps or records.
    Returns: x in [low, high]. It meets the target, whatever `build` is: the
    upper end of `epsilon` is at most the target there. If both ends meet
    it, the one with less privacy; else the target is missed within 0.01 %
    of x. If privacy only grows or only falls, 0.1 % further the lower end
    of `epsilon` is above the target, too, but where theory leaves a gap
    (substitution under a fixed batch), where intervals are wider than
    asked, at steps of `build`, and where epsilon changes more slowly than
    x (the count; now and then noise). If `whole`, an int: the upper end of
    `epsilon` is above the target for x + 1 or for x - 1, the one with less
    privacy.
    Raises: ValueError for bad values, and if neither end meets the target.

    >>> from accountlib.runs.releases import Poisson
    >>> run = lambda x: Release(Gaussian(2.0), Poisson(0.01), x)
    >>> target = {"epsilon": 1.0, "delta": 1e-6, "adjacency": "remove"}
    >>> calibrate(run, low=1, high=1e5, whole=True, **target)
    1871
    """
    check_number("epsilon", epsilon, 0, np.inf, "[)")
    check_number("delta", delta, 0, 1)
    check_number("low", low, 0, np.inf, "()")
    check_number("high", high, low, np.inf, "()")
    check_kind("whole", whole, bool)
    if whole:
        low, high = check_count("low", low), check_count("high", high)
    check_function("build", build, " from a number to releases")

    @cache
    def excess(who: Adjacency | AdjacencyName, x: float) -> float:
        return log_excess(build(x), epsilon, delta, who, group_size)

    for who in searched(adjacency):
        look = partial(excess, who)
        ends = look(low), look(high)
        if min(ends) <= 0 < max(ends):
            if whole:
                x: float = whole_edge(look, int(low), int(high))
            else:
                x = safe_edge(look, low, high)
            if excess(adjacency, x) <= 0:
                return x
    if min(ends) > 0:
        raise ValueError(
            f"epsilon={epsilon!r}, delta={delta!r} is not met by any "
            f"parameter in [low, high] = [{low!r}, {high!r}], if privacy "
            "only grows or only falls there: it is missed at both ends"
        )
    x = low if ends[0] > ends[1] else high
    return int(x) if whole else float(x)


def last_allowed(
    allowed: Callable[[float], bool], inside: float, outside: float
) -> float:
    r"""The allowed number that is nearest to a refused one.

    Parameters: `allowed`; `inside`, which is allowed, and `outside`, which
    is not, both positive.
    Returns: an allowed number, to a relative $10^{-7}$.

    >>> round(last_allowed(lambda x: x <= 10, 1.0, 1e9), 5)
    10.0
    """
    while abs(math.log(outside) - math.log(inside)) > 1e-7:
        middle = math.sqrt(inside) * math.sqrt(outside)
        if allowed(middle):
            inside = middle
        else:
            outside = middle
    return inside


def noise_bracket(
    excess: Callable[[float], float], allowed: Callable[[float], bool]
) -> tuple[float, float]:
    r"""Two noises between which a target changes from missed to met.

    Formula: steps of a factor 4 in $[10^{-3}, 10^9]$, from the allowed
    $4^k$ that is nearest to 1.

    Parameters: `excess`, positive where the target is missed; `allowed`,
    whether there is such a mechanism (true on an interval).
    Returns: the smaller and the larger one; the last one twice if the
    target does not change.

    >>> noise_bracket(lambda x: 100 - x, lambda x: x <= 1000)
    (64.0, 256.0)
    """
    powers = FACTOR ** np.arange(-4, 15)
    nearest = sorted(powers.tolist(), key=lambda x: abs(math.log(x)))
    # Where nothing is allowed, excess(1.0) raises an error that says why.
    noise = next(filter(allowed, nearest), 1.0)
    misses = excess(noise) > 0
    while True:
        step = noise * (FACTOR if misses else 1 / FACTOR)
        step = min(max(step, LEAST_NOISE), MOST_NOISE)
        if not allowed(step):
            step = last_allowed(allowed, noise, step)
        if math.isclose(step, noise, rel_tol=1e-6):
            return noise, noise
        if (excess(step) > 0) != misses:
            return min(noise, step), max(noise, step)
        noise = step


@front_door
def calibrate_noise(
    *,
    epsilon: float,
    delta: float,
    sampling: Sampling,
    count: int,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    mechanism: Callable[[float], Mechanism] = Gaussian,
) -> float:
    r"""Noise that just meets a privacy target, by certified intervals.

    Formula: x with $\varepsilon(x) \le \varepsilon <
    \varepsilon(0.999\, x)$, upper end on the left, lower on the right.

    Parameters: `epsilon` ($\varepsilon \ge 0$), `delta` ($\delta$ in [0,
    1]), `adjacency`, `group_size`: the target; `sampling` and `count` as
    for `Release`; `mechanism`, from noise to a mechanism (Gaussian by
    default; Laplace, ...), a ValueError where there is none.
    Returns: noise multiplier or scale. It meets the target, always. It is
    the smallest that does, up to 0.1 %, where more noise is never worse:
    Gaussian, Laplace, discrete Laplace (but see `calibrate`). Discrete
    Gaussian noise can be worse where there is more of it: use the number
    as it is, or check the one you use; just below it (0.01 %) the target
    is missed, but some smaller noise may meet it.
    Raises: ValueError for bad values, and for a target that no noise
    between 1e-3 and 1e9 meets or that all of it meets (in steps of 4).

    >>> from accountlib.runs.releases import Poisson
    >>> sigma = calibrate_noise(
    ...     epsilon=1.0, delta=1e-6, sampling=Poisson(0.001),
    ...     count=10_000, adjacency="add-or-remove",
    ... )
    >>> round(sigma, 3)
    0.788
    """
    check_number("epsilon", epsilon, 0, np.inf, "[)")
    check_number("delta", delta, 0, 1)
    which = " from noise to a mechanism, such as Gaussian or Laplace"
    check_function("mechanism", mechanism, which)

    def build(noise: float) -> Release:
        return Release(mechanism(noise), sampling, count)

    @cache
    def excess(who: Adjacency | AdjacencyName, noise: float) -> float:
        return log_excess(build(noise), epsilon, delta, who, group_size)

    def allowed(noise: float) -> bool:
        try:
            directions(build(noise), adjacency, group_size)
        except ValueError:
            return False
        return True

    for who in searched(adjacency):
        look = partial(excess, who)
        low, high = noise_bracket(look, allowed)
        if low < high:
            noise = safe_edge(look, low, high)
            if excess(adjacency, noise) <= 0:
                return noise
    which = "no" if look(low) > 0 else "all"
    infinite = epsilon > 0 and look(low) == np.inf
    raise ValueError(
        f"epsilon={epsilon!r}, delta={delta!r} is met by {which} noise "
        "that is allowed, in [1e-3, 1e9], and was tried, in steps of a "
        f"factor 4; the last one tried is {low!r}"
        + (", where epsilon is infinite" if infinite else "")
    )
