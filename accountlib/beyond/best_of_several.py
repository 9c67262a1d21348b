# Generated from notebooks/beyond/best_of_several.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What does the best of several runs cost?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $K$, $m$ | –, `mean` | number of runs, random; its mean |
| $f(z)$ | – | generating function of $K$, $E[z^K]$ |
| $\nu$, $g$ | `shape`, `stop` | parameters of the truncated negative binomial distribution: $\nu > -1$, $0 < g < 1$; papers write $\eta$ and $\gamma$ |
| $w$ | `_odds` | $(1 - g)/g$ |
| $P$, $Q$ | – | distribution of one run, its score included, on two neighbouring data sets |
| $A$, $B$ | – | distribution of what is published, on the same two |
| $r$, $s$ | `better` | rank of an output, from 0 (worst) to 1, if it is drawn from $P$; $s = 1 - r$ |
| $h$, $d$ | `at`, `missing` | any number $\ge 0$, and $\delta_{Q,P}(h)$ |
| $C$ | `repeat_cost` (its logarithm) | bound of a likelihood ratio, $\ge 1$ |
"""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy.special import ndtr

from accountlib.accountant import delta, epsilon
from accountlib.beyond.repetitions import (
    LARGEST_SHARE,
    Repetitions,
    TruncatedNegativeBinomial,
    best_law,
)
from accountlib.checks import UNIT, Bound, Floats, check
from accountlib.sampling import Adjacency, Release, run_directions
from accountlib.tradeoff import tradeoff_curve

__all__ = [
    "opposite",
    "repeat_cost",
    "outcome_lists",
    "reached_laws",
    "reached_delta",
    "best_epsilon",
    "best_delta",
]

# --- What is promised

_OPPOSITE = {Adjacency.ADD: "remove", Adjacency.REMOVE: "add"}
_ROOM = 1e-12  # relative; all roundings of a few elementary functions
_SCORES = 64  # places where the set of low losses may end
# Where the base run is followed.
_RATES = tuple(ndtr(np.arange(-7.0, 7.001, 0.01)).tolist())
_FIRST = 1e-270  # next to nothing, e^600 times too: for infinite losses

# --- The code: upper ends


def opposite(adjacency: str) -> Adjacency:
    """The adjacency with the two data sets exchanged.

    >>> opposite("add").value, opposite("substitute").value
    ('remove', 'substitute')
    """
    known = Adjacency(adjacency)
    return Adjacency(_OPPOSITE.get(known, known))


def repeat_cost(
    releases: Release | Sequence[Release],
    *,
    repetitions: Repetitions,
    adjacency: str,
    group_size: int = 1,
) -> float:
    r"""What selection adds to epsilon, at any delta.

    Formula: $\log C$ of eq. (bst-ratio), the least of those that a search
    over h finds.

    Parameters: `releases`, one run, its score included; `repetitions`;
    `adjacency`, `group_size` as for `epsilon`.
    Returns: an upper bound, whatever was searched.
    Raises: as `epsilon`.
    Error: rounded up; within 1e-3 of the best h.
    Source: theorem "Repeat and select".

    >>> from accountlib.mechanisms import Gaussian
    >>> ten = TruncatedNegativeBinomial(1.0, 0.1)
    >>> run = Release(Gaussian(5.0))
    >>> round(repeat_cost(run, repetitions=ten, adjacency="remove"), 3)
    0.36
    """
    asked, size = opposite(adjacency), group_size

    def costs(at: Floats) -> Floats:
        found = delta(releases, epsilon=at, adjacency=asked, group_size=size)
        return repetitions.cost(at, np.minimum(found.upper, 1.0))

    at = np.zeros(1)
    best = costs(at)
    if isinstance(repetitions, TruncatedNegativeBinomial):
        low, high = 0.0, float(best[0]) / (1 + repetitions.shape)
        for _ in range(3):
            at = np.linspace(low, high, 18)
            found = costs(at)
            k = int(np.argmin(found))
            best = np.minimum(best, found[k])
            low, high = at[max(k - 1, 0)], at[min(k + 1, 17)]
    return float(best[0]) * (1 + _ROOM) + 1e-322 * float(best[0] > 0)


# --- The code: lower ends


def outcome_lists(
    releases: Release | Sequence[Release],
    adjacency: str,
    group_size: int,
) -> list[tuple[Floats, Floats]]:
    r"""Lists of outcomes that neighbours of a run reach, by direction.

    Formula: the sides of the polygon above the trade-off curve.

    Parameters: as for `epsilon`.
    Returns: pairs (p, q), ratios p/q decreasing; none for a direction
    whose pairs are bounds that no single pair of data sets reaches.

    >>> from accountlib.mechanisms import RandomizedResponse
    >>> coin = Release(RandomizedResponse(0.75))
    >>> ((p, q),) = outcome_lists(coin, "remove", 1)
    >>> float(np.maximum(p - q, 0).sum().round(2))
    0.5
    """
    known = Adjacency(adjacency)
    sides: tuple[Adjacency, ...] = (known,)
    if known in (Adjacency.ADD_OR_REMOVE, Adjacency.ZERO_OUT):
        sides = Adjacency.REMOVE, Adjacency.ADD
    ways = run_directions(releases, known, group_size)
    if any(way.below for way in ways):
        return []
    x, lists = np.concatenate([[0.0, _FIRST], _RATES, [1.0]]), []
    for side in sides[: len(ways)]:  # one is enough for symmetric pairs
        curve = tradeoff_curve(
            releases, adjacency=side, group_size=group_size, bound="upper"
        )
        y = curve(x)
        q = np.append(0.0, np.diff(x))
        p = np.append(1 - y[0], -np.diff(y))
        order = np.argsort(-p / np.maximum(q, 1e-300), kind="stable")
        seen = order[(p[order] > 0) | (q[order] > 0)]
        lists.append((np.maximum(p, 0)[seen], q[seen]))
    return lists


def reached_laws(
    p: Floats, q: Floats, repetitions: Repetitions
) -> tuple[Floats, Floats, float]:
    """Laws of the best output for some orders of the outcomes.

    Parameters: `p`, `q`, ratios p/q decreasing; `repetitions`.
    Returns: two arrays, a row for each order, and a bound of the absolute
    error that rounded corners of a polygon may make.

    >>> ten = TruncatedNegativeBinomial(1.0, 0.1)
    >>> some = np.array([0.75, 0.25])
    >>> reached_laws(some, some[::-1], ten)[0].shape
    (64, 98)
    """
    parts = 1 + np.floor(_SCORES * np.maximum(p, q)).astype(int)
    p, q = (np.repeat(x / parts, parts) for x in (p, q))
    n = len(p)
    sizes = np.geomspace(1e-5, 1, _SCORES - 1)
    tops = np.searchsorted(np.cumsum(q[::-1]), sizes)
    place = np.arange(n)
    rows = [
        np.append(place[n - k :], place[: n - k])
        for k in np.append(0, np.minimum(tops + 1, n))
    ]
    ordered = (x[np.array(rows)] for x in (p, q))
    a, b = (best_law(x, repetitions=repetitions) for x in ordered)
    return a, b, 8 * n * repetitions.mean * UNIT


def reached_delta(laws: tuple[Floats, Floats, float], at: float) -> float:
    r"""The largest hockey stick of some pairs of laws, rounded down.

    Parameters: `laws`, from `reached_laws`; `at` ($\varepsilon \le 700$).

    >>> law = np.array([[0.75, 0.25]])
    >>> round(reached_delta((law, law[:, ::-1], 0.0), 0.0), 9)
    0.5
    """
    a, b, wrong = laws
    check("at", at, -700, 700)
    excess = a - math.exp(at) * b
    inside = excess > 0
    found = np.sum(np.where(inside, excess, 0.0), axis=-1)
    found -= 1e-11 * np.sum(np.where(inside, a, 0.0), axis=-1)
    return max(0.0, float(np.max(found)) - wrong)


def best_epsilon(
    releases: Release | Sequence[Release],
    *,
    repetitions: Repetitions,
    delta: float,
    adjacency: str,
    group_size: int = 1,
) -> Bound:
    r"""Interval for the epsilon of publishing the best of several runs.

    Formula: $\varepsilon(d) + \log C$ with $1 - f(1 - d) = \delta$.

    Parameters: `releases`, one run, its score included: a Release or a
    sequence of them; `repetitions`, how often it is repeated, drawn
    without the data; `delta` ($\delta$ in [1e-200, 1]); `adjacency`,
    `group_size` as for `epsilon`, of the run.
    Returns: Bound(lower, upper) around the largest epsilon of all ways to
    score the outputs and all neighbours; lower is 0 where the pairs of the
    run are bounds that no single pair of data sets reaches.
    Raises: as `epsilon`.
    Error: the theorem's gap to the best of 64 scores; ends rounded outward.
    Source: theorem "Repeat and select"; Koskela, Redberg and Wang (2024).

    >>> from accountlib.mechanisms import Gaussian
    >>> found = best_epsilon(
    ...     Release(Gaussian(5.0)),
    ...     repetitions=TruncatedNegativeBinomial(1.0, 0.1),
    ...     delta=1e-6,
    ...     adjacency="remove",
    ... )
    >>> f"{found:.2f}"
    '[1.22, 1.30]'
    """
    goal = check("delta", delta, 1e-200, 1)
    asked = partial(
        epsilon, releases, adjacency=adjacency, group_size=group_size
    )
    cost = repeat_cost(
        releases,
        repetitions=repetitions,
        adjacency=adjacency,
        group_size=group_size,
    )
    share = repetitions.share(min(goal, LARGEST_SHARE)) * (1 - _ROOM)
    upper = (asked(delta=share).upper + cost) * (1 + _ROOM)
    lower = 0.0
    for p, q in outcome_lists(releases, adjacency, group_size):
        laws, high = reached_laws(p, q, repetitions), min(upper, 700.0)
        for _ in range(40):  # lower stays below; 0 if nothing is known
            middle = (lower + high) / 2
            above = reached_delta(laws, middle) > goal
            lower, high = (middle, high) if above else (lower, middle)
    return Bound(lower, upper)


def best_delta(
    releases: Release | Sequence[Release],
    *,
    repetitions: Repetitions,
    epsilon: float,
    adjacency: str,
    group_size: int = 1,
) -> Bound:
    r"""Interval for the delta of publishing the best of several runs.

    Formula: $1 - f(1 - \delta(\varepsilon - \log C))$.

    Parameters: `epsilon` ($\varepsilon$ in [0, 700]); the others as for
    `best_epsilon`.
    Returns: Bound(lower, upper); this, what is raised, the error and the
    source are as for `best_epsilon`.

    >>> from accountlib.mechanisms import ApproximateDP
    >>> found = best_delta(
    ...     Release(ApproximateDP(0.0, 0.01)),
    ...     repetitions=TruncatedNegativeBinomial(1.0, 0.1),
    ...     epsilon=3.0,
    ...     adjacency="remove",
    ... )
    >>> f"{found:.9f}"  # 10/109
    '[0.091743119, 0.091743120]'
    """
    at = check("epsilon", epsilon, 0, 700)
    cost = repeat_cost(
        releases,
        repetitions=repetitions,
        adjacency=adjacency,
        group_size=group_size,
    )
    rest = at - cost - _ROOM * (at + cost)
    side = adjacency if rest >= 0 else opposite(adjacency)
    found = delta(
        releases, epsilon=abs(rest), adjacency=side, group_size=group_size
    ).upper
    if rest < 0:  # the swap identity
        found = -math.expm1(rest) + math.exp(rest) * found
    whole = np.array(min(1.0, found * (1 + _ROOM)))
    upper = float(repetitions.caught(np.zeros(()), whole)) * (1 + _ROOM)
    lists = outcome_lists(releases, adjacency, group_size)
    reached = [reached_laws(p, q, repetitions) for p, q in lists]
    lower = max((reached_delta(laws, at) for laws in reached), default=0.0)
    return Bound(lower, min(1.0, upper + 1e-322 * (found > 0)))
