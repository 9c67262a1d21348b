# Generated from notebooks/beyond/choosing.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What do a thousand choices cost?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $u_i$ | – | score of candidate $i$; a record changes it by at most 1 |
| $\varepsilon$ | `bounded_range` | length of the range of losses of one choice |
| $t$ | `top` | the largest loss, in $[0, \varepsilon]$; the lowest one is $t - \varepsilon$ |
| $p_t$ | – | probability under $P$ of the loss $t$: $(1 - e^{t - \varepsilon})/(1 - e^{-\varepsilon})$ |
| $x$ | `epsilon` | place where $\delta$ is asked |
| $k$, $j$ | `count` | number of choices; choices that are still to come |
| $V_j(x)$ | – | largest $\delta(x)$ of $j$ choices, the next one chosen in the light of all before |
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from accountlib.accountant import solve
from accountlib.cells import Cells
from accountlib.checks import UNIT, Bound, Floats, check, check_fields
from accountlib.choices import Query
from accountlib.conversion import delta_from_rdp, epsilon_from_rdp
from accountlib.dominating_pairs import DominatingPair, Outcomes
from accountlib.mechanisms import Mechanism
from accountlib.sampling import Direction

__all__ = [
    "ChoicePair",
    "two_candidates",
    "fixed_choices_delta",
    "choice_curves",
    "choice_rdp",
    "Choice",
    "choices_delta",
    "choices_epsilon",
]

# --- Bounded range


@dataclass(frozen=True)
class ChoicePair(DominatingPair):
    r"""The dominating pair of all mechanisms with bounded range epsilon.

    Formula: L has the density $e^{\ell/2}/(4 \sinh(\varepsilon/2))$ under
    P and $e^{-\ell/2}/(4 \sinh(\varepsilon/2))$ under Q, on
    $[-\varepsilon, \varepsilon]$.

    Parameters: `bounded_range` ($\varepsilon$ in [1e-6, 100]).
    Raises: ValueError for values outside this range.
    Error: rounding only. For one choice, the largest curve of the class;
    for several an upper bound.
    Source: theorem "Two outcomes are the worst".

    >>> round(ChoicePair(1.0).delta(0.0), 10)
    0.2449186624
    """

    bounded_range: float
    symmetric = True

    def __post_init__(self) -> None:
        check_fields(self, bounded_range=(1e-6, 100))

    def start(self) -> Floats:
        return self.bounded_range * np.linspace(-1, 1, 129)

    def finer(self, edges: Floats, pieces: Floats) -> Floats:
        at = np.append(0.0, np.cumsum(pieces))
        wanted = np.linspace(0, at[-1], int(np.ceil(at[-1])) + 1)
        return np.asarray(np.interp(wanted, at, edges))

    def cells(self, edges: Floats) -> Cells:
        left, right, most = edges[:-1], edges[1:], self.bounded_range
        share = np.log(np.expm1((left - right) / 2) / math.expm1(-most))
        wide = UNIT * (32 + 4 * most + 4 * np.abs(share))
        return Cells(
            (right - most) / 2 + share,
            share - (left + most) / 2,
            wide,
            (left + right) / 2,
            2 * UNIT * (np.abs(left) + np.abs(right)),
            left,
            right,
        )

    def delta(self, epsilon: float) -> float:
        """The closed form, eq. (cho-one)."""
        top = math.expm1((epsilon - self.bounded_range) / 2)
        if abs(epsilon) >= self.bounded_range:
            return max(0.0, -math.expm1(epsilon))
        return top * top / -math.expm1(-self.bounded_range)


def two_candidates(top: float, *, bounded_range: float) -> Outcomes:
    r"""The pair of two candidates whose largest loss is t.

    Formula: losses t and $t - \varepsilon$, P-masses $p_t$ and $1 - p_t$.

    Parameters: `top` (t in (0, epsilon)); `bounded_range` ($\varepsilon$
    in [1e-6, 100]).
    Returns: a pair that data attain; rows of loss, error, log p, log q.
    Raises: ValueError for values outside these ranges.
    Error: rounding only.
    Source: Dong, Durfee and Rogers (2020).

    >>> pair = two_candidates(math.log(2), bounded_range=2 * math.log(2))
    >>> [round(math.exp(row[2]), 12) for row in pair.rows]  # 1/3, 2/3
    [0.333333333333, 0.666666666667]
    """
    most = check("bounded_range", bounded_range, 1e-6, 100)
    t = check("top", top, 1e-12 * most, (1 - 1e-12) * most)
    whole = -math.expm1(-most)
    high = math.log(-math.expm1(t - most) / whole)
    low = math.log(-math.expm1(-t) / whole)  # under Q
    wide = UNIT * most
    return Outcomes(
        ((t - most, wide, low + t - most, low), (t, 0.0, high, high - t))
    )


# --- Fixed in advance

_MOST_TOPS = 200  # values of t that are tried; any of them is valid
_MOST_STEPS = 6000  # count times cells of the recursion
_CHOICE_ROOM = 1e-11  # relative; roundings of the recursion


def fixed_choices_delta(
    epsilon: float, *, bounded_range: float, count: int
) -> float:
    r"""Delta that some choices fixed in advance reach.

    Formula: $\max_\ell \sum_i \binom{k}{i} p_{t_\ell}^{k-i} (1 -
    p_{t_\ell})^i (1 - e^{x - k t_\ell + i \varepsilon})_+$, eq. (cho-fixed).

    Parameters: `epsilon` (x in [0, 1e6]); `bounded_range` ($\varepsilon$
    in [1e-6, 100]); `count` (k from 1 to 1e4).
    Returns: a lower bound for the largest delta of k choices, whether
    fixed in advance or adaptive; it is equal to it in the first case, up
    to count 200 (beyond that, 200 values of t are tried).
    Raises: ValueError for values outside these ranges.
    Error: rounded down, by less than 1e-15 + 1e-14 (100 + k ln k), relative.
    Source: Dong, Durfee and Rogers (2020), composition of mechanisms that
    are not chosen adaptively.

    >>> fixed_choices_delta(1.0, bounded_range=1.0, count=2).__round__(9)
    0.057005329
    """
    x = check("epsilon", epsilon, 0, 1e6)
    most = check("bounded_range", bounded_range, 1e-6, 100)
    k = check("count", count, 1, 1e4, whole=True)
    places = np.unique(np.linspace(0, k - 1, min(k, _MOST_TOPS)).astype(int))
    tops = (x + (places + 1) * most) / (k + 1)
    tops = tops[(tops > 1e-11 * most) & (tops < (1 - 1e-11) * most)]
    i = np.arange(k + 1.0)
    ways = gammaln(k + 1) - gammaln(i + 1) - gammaln(k - i + 1)
    best = 0.0
    for t in tops.tolist():
        rows = two_candidates(t, bounded_range=most).rows
        no, yes = rows[0][2], rows[1][2]
        log_p = ways + (k - i) * yes + i * no
        gain = -np.expm1(np.minimum(x - (k * t - i * most), 0))
        size = gammaln(k + 1) + k * max(-yes, -no) + k * most + x + 50
        found = float(np.sum(np.exp(log_p) * gain))
        best = max(best, found * (1 - 8e-16 * float(size)))
    return max(0.0, best - 1e-15)


# --- Chosen on the way


def choice_curves(
    at: float, points: int, bounded_range: float, count: int, cells: int
) -> tuple[Floats, Floats]:
    r"""Lower and upper ends of the curve of adaptive choices, on a grid.

    Formula: eq. (cho-adaptive) at $x + i \varepsilon / n$, i < points.

    Parameters: `at` (x), `points`, `bounded_range` ($\varepsilon$),
    `count` (k), `cells` (n), the last two with a product of at most 1e5.
    Returns: two arrays.

    >>> low, high = choice_curves(0.0, 1, 1.0, 2, 100)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.3034], [0.3104])
    """
    most, n = bounded_range, cells
    step = most / n
    place = at + step * np.arange(-count * n, count * n + points)
    lower = -np.expm1(np.minimum(place, 0))
    upper = lower
    t = step * np.arange(n + 1)
    chance = np.expm1(np.minimum(t - most, 0)) / math.expm1(-most)

    def best(old: Floats, shift: int) -> Floats:
        size = len(old) - 2 * n
        found = np.zeros(size)
        for i in range(n + 1 - shift):
            far = old[2 * n - i - shift :][:size]
            gain = chance[i] * (old[n - i - shift :][:size] - far)
            np.maximum(found, far + gain, out=found)
        return found

    for _ in range(count):
        lower, upper = best(lower, 0), best(upper, 1)
    room = 1e-14 * (1 + abs(at) + count * most)
    return (
        np.maximum(lower * (1 - _CHOICE_ROOM) - room, 0),
        np.minimum(upper * (1 + _CHOICE_ROOM) + room, 1),
    )


# --- In moments


def choice_rdp(order: ArrayLike, *, bounded_range: float) -> Any:
    r"""Renyi DP of one choice: the best bound that the range allows.

    Formula: the smaller one of eq. (cho-renyi) and $a \varepsilon^2/8$.

    Parameters: `order` (a in [1, inf]), a number or an array;
    `bounded_range` ($\varepsilon$ in [1e-6, 100]).
    Returns: an upper bound in nats, shape of `order`; k adaptive choices
    have k times that.
    Raises: ValueError for values outside these ranges.
    Error: rounded up; two candidates reach it, but for orders so near to 1
    that $a \varepsilon^2/8$ is smaller than the rounding.
    Source: Dong, Durfee and Rogers (2020); Cesar and Rogers (2021).

    >>> round(choice_rdp(2.0, bounded_range=1.0), 7)
    0.240229
    """
    orders = check("order", order, 1, np.inf)
    most = check("bounded_range", bounded_range, 1e-6, 100)
    less = np.clip(orders - 1, 1e-300, 1e300)
    c1 = -np.expm1(-less * most) / math.expm1(most)
    c0 = np.exp(-less * most) + math.exp(most) * c1
    y = np.clip(less / (1 + less) * c0 / c1, 1.0, math.exp(most))
    rest = np.maximum(c0 - c1 * y, 4 * UNIT * c0)  # what rounding leaves
    exact = np.log(y) + np.log(rest) / less
    exact = exact * (1 + _CHOICE_ROOM) + 1e-13 * (1 + most) * (1 + 1 / less)
    line = orders * (most**2 / 8) * (1 + 1e-15)
    found = np.minimum(np.minimum(exact, most), line)
    return float(found) if found.ndim == 0 else found


# --- A mechanism among others


@dataclass(frozen=True)
class Choice(ChoicePair, Mechanism):
    r"""A mechanism with bounded range: the exponential mechanism.

    Formula: candidate i with a probability $\propto e^{\varepsilon u_i/2}$.

    Parameters: `bounded_range` ($\varepsilon$ in [1e-6, 100]), for records
    that change each score $u_i$ by 1 at most, under the adjacency that is
    asked about.
    Raises: ValueError for other values; NotImplementedError for groups and
    samples.
    Error: both ends hold for adaptive choices; for choices alone,
    `choices_epsilon` has a narrower interval.
    Source: theorem "Two outcomes are the worst"; page-choosing.

    >>> from accountlib.accountant import epsilon
    >>> from accountlib.sampling import Release
    >>> run = Release(Choice(0.5), count=9)
    >>> f"{epsilon(run, delta=1e-3, adjacency='remove'):.2f}"
    '[2.19, 2.48]'
    """

    def directions(self, size: int, count: int) -> list[Direction]:
        if size > 1:
            return [Direction(((self.removed(size), count),))]
        most = self.bounded_range
        tops = [t * most for t in (0.5, 0.65, 0.8, 0.95)]
        pairs = [two_candidates(t, bounded_range=most) for t in tops]
        ways = tuple(((pair, count),) for pair in pairs)
        return [Direction(((self, count),), ways)]

    def removed(self, size: int) -> DominatingPair:
        raise NotImplementedError(
            f"group_size={size}: no theorem of this book covers choices of "
            f"groups or on samples, got {self!r}"
        )

    exchanged = removed

    def rdp(self, order: ArrayLike) -> Any:
        """The curve of one choice, which is below that of the class pair."""
        return choice_rdp(order, bounded_range=self.bounded_range)


# --- Choices alone


def choices_delta(
    epsilon: float, *, bounded_range: float, count: int
) -> Bound:
    r"""Interval for the delta of several adaptive choices.

    Formula: $V_k(x)$ of eq. (cho-adaptive), between its ends on a grid
    (up to 300 choices), below the curves of `ChoicePair` and `choice_rdp`,
    above that of choices fixed in advance.

    Parameters: `epsilon` (x in [0, 1e5]); `bounded_range` ($\varepsilon$
    in [1e-6, 100]) of each choice, for the adjacency that is meant;
    `count` (k from 1 to 1e4).
    Returns: Bound(lower, upper) around the largest delta of all
    mechanisms with this range, each chosen after all answers before.
    Raises: ValueError for values outside these ranges.
    Error: the interval includes the errors of grids and rounding.
    Source: theorem "Adaptive choices".

    >>> found = choices_delta(1.0, bounded_range=1.0, count=2)
    >>> f"{found:.4f}"
    '[0.0570, 0.0572]'
    """
    x = check("epsilon", epsilon, 0, 1e5)
    most = check("bounded_range", bounded_range, 1e-6, 100)
    k = check("count", count, 1, 1e4, whole=True)
    if x >= k * most * (1 + 4 * UNIT):
        return Bound(0.0, 0.0)
    lower = fixed_choices_delta(x, bounded_range=most, count=k)
    query = Query("delta", np.array([x]), 1e-3)
    with np.errstate(all="ignore"):  # infinite losses of empty cells
        found = solve(((ChoicePair(most), k),), query, np.zeros(1))
    upper = float(found.upper[0])
    by_curve = delta_from_rdp(
        lambda a: k * choice_rdp(a, bounded_range=most), epsilon=x
    )
    if by_curve > 0:  # k times the range may have been rounded to x
        upper = min(upper, by_curve)
    if k <= 300:
        ends = choice_curves(x, 1, most, k, _MOST_STEPS // k)
        lower, upper = max(lower, ends[0][0]), min(upper, ends[1][0])
    return Bound(lower, upper)


def choices_epsilon(
    delta: float, *, bounded_range: float, count: int
) -> Bound:
    r"""Interval for the epsilon of several adaptive choices.

    Formula: the smallest x with $V_k(x) \le \delta$, as `choices_delta`.

    Parameters: `delta` ($\delta$ in [1e-12, 1]); the others as for
    `choices_delta`.
    Returns: Bound(lower, upper).
    Raises: ValueError for values outside these ranges.
    Error: as `choices_delta`.
    Source: as `choices_delta`.

    >>> found = choices_epsilon(1e-6, bounded_range=1.0, count=10)
    >>> f"{found:.2f}"
    '[7.71, 7.76]'
    """
    goal = check("delta", delta, 1e-12, 1)
    most = check("bounded_range", bounded_range, 1e-6, 100)
    k = check("count", count, 1, 1e4, whole=True)
    query = Query("epsilon", np.array([goal]), 1e-3)
    with np.errstate(all="ignore"):  # infinite losses of empty cells
        found = solve(((ChoicePair(most), k),), query, np.zeros(1))
    lower, upper = 0.0, float(found.upper[0])
    by_curve = epsilon_from_rdp(
        lambda a: k * choice_rdp(a, bounded_range=most), delta=goal
    )
    upper = min(upper, by_curve, k * most * (1 + 1e-15))
    if k <= 300:
        cells = max(1, _MOST_STEPS // k // 2)
        ends = choice_curves(0.0, k * cells + 1, most, k, cells)
        place = np.arange(k * cells + 1) * (most / cells)
        above = place[ends[0] > goal] * (1 - 1e-14)
        below = place[ends[1] <= goal] * (1 + 1e-14)
        lower = float(np.max(above, initial=0.0))
        upper = min(upper, float(np.min(below, initial=math.inf)))
    high = upper
    for _ in range(30):  # lower stays below; 0 if nothing is known
        x = (lower + high) / 2
        reached = fixed_choices_delta(x, bounded_range=most, count=k) > goal
        lower, high = (x, high) if reached else (lower, x)
    return Bound(lower, upper)
