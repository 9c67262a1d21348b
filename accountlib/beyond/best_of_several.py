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
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtr

from accountlib.accountant import Bound, delta, epsilon
from accountlib.checks import UNIT, Floats, check, check_fields
from accountlib.sampling import Adjacency, Release, run_directions
from accountlib.tradeoff import tradeoff_curve

__all__ = [
    "TruncatedNegativeBinomial",
    "PoissonRepetitions",
    "Repetitions",
    "best_law",
    "opposite",
    "repeat_cost",
    "outcome_lists",
    "reached_laws",
    "reached_delta",
    "best_epsilon",
    "best_delta",
]

# --- The code: distributions of $K$


@dataclass(frozen=True)
class TruncatedNegativeBinomial:
    r"""How often a run is repeated: at least once, with a random number.

    Formula: $E[z^K] = \frac{(1-(1-g)z)^{-\nu}-1}{g^{-\nu}-1}$; for
    $\nu = 0$ it is $\ln(1-(1-g)z)/\ln g$, and $\nu = 1$ is geometric.

    Parameters: `shape` ($\nu$, 0 or from 1e-9 to 100, or negative, at most
    -1e-9 and at least -0.999); `stop` (g in [1e-12, 0.999999]).
    Raises: ValueError for values outside these ranges.
    Source: Papernot and Steinke (2022), Definition 1.

    >>> round(TruncatedNegativeBinomial(1.0, 0.1).mean, 12)
    10.0
    """

    shape: float
    stop: float

    def __post_init__(self) -> None:
        check_fields(self, shape=(-0.999, 100), stop=(1e-12, 0.999999))
        if self.shape:
            check("abs(shape)", abs(self.shape), 1e-9, 100)

    @classmethod
    def of_mean(
        cls, mean: float, *, shape: float
    ) -> "TruncatedNegativeBinomial":
        """The law with this shape and mean, 1.001 to 1e6, up to rounding."""
        check("mean", mean, 1.001, 1e6)
        low, high = math.log(1e-12), math.log(0.999999)
        if cls(shape, math.exp(low)).mean < mean:
            raise ValueError(f"no stop >= 1e-12 has the mean {mean!r}")

        def excess(log_stop: float) -> float:
            return math.log(cls(shape, math.exp(log_stop)).mean / mean)

        return cls(shape, math.exp(brentq(excess, low, high, xtol=1e-14)))

    @property
    def _odds(self) -> float:
        return (1 - self.stop) / self.stop

    def _scaled(self, log: Floats) -> Floats:
        """1 - e^(-shape log), relative to its value at log(1/stop)."""
        whole = -math.log(self.stop)
        if self.shape == 0:
            return log / whole
        scaled = np.expm1(-self.shape * log)
        return np.asarray(scaled / math.expm1(-self.shape * whole))

    @property
    def mean(self) -> float:
        """The mean number of runs."""
        logs = math.log(self.stop)
        if self.shape == 0:
            return self._odds / -logs
        return self._odds * self.shape / -math.expm1(self.shape * logs)

    def caught(self, better: Floats, width: Floats) -> Floats:
        """Chance that the best rank is in an interval: eq. (bst-tail)."""
        before = 1 + self._odds * better
        log = np.log1p(self._odds * width / before)
        return np.asarray(self._scaled(log) * before**-self.shape)

    def share(self, chance: float) -> float:
        """The best part of all outputs that has this chance of the best."""
        check("chance", chance, 0, _LARGEST_SHARE)
        whole = -math.log(self.stop)
        log = chance * whole
        if self.shape != 0:
            size = chance * math.expm1(-self.shape * whole)
            log = -math.log1p(size) / self.shape
        return min(1.0, math.expm1(log) / self._odds)

    def cost(self, at: Floats, missing: Floats) -> Floats:
        """Logarithm of C: eq. (bst-ratio)."""
        larger = np.maximum(at, np.log1p(self._odds * missing))
        return np.asarray((1 + self.shape) * larger)


@dataclass(frozen=True)
class PoissonRepetitions:
    r"""How often a run is repeated: a Poisson number of times, maybe never.

    Formula: $E[z^K] = e^{m (z - 1)}$; for $K = 0$ a fixed symbol is
    published.

    Parameters: `mean` (m in [1e-6, 1e6]).
    Raises: ValueError for values outside this range.
    Source: Papernot and Steinke (2022), Theorem 6.

    >>> round(PoissonRepetitions(10.0).share(0.5), 12)  # ln(2)/10
    0.069314718056
    """

    mean: float

    def __post_init__(self) -> None:
        check_fields(self, mean=(1e-6, 1e6))

    def caught(self, better: Floats, width: Floats) -> Floats:
        """Chance that the best rank is in an interval."""
        reached = np.exp(-self.mean * better)
        return np.asarray(-np.expm1(-self.mean * width) * reached)

    def share(self, chance: float) -> float:
        """The best part of all outputs that has this chance of the best."""
        check("chance", chance, 0, _LARGEST_SHARE)
        return min(1.0, -math.log1p(-chance) / self.mean)

    def cost(self, at: Floats, missing: Floats) -> Floats:
        """Logarithm of C: eq. (bst-ratio)."""
        within = -np.expm1(-at) + missing * np.exp(-at)
        return np.asarray(self.mean * within)


Repetitions = TruncatedNegativeBinomial | PoissonRepetitions
_OPPOSITE = {Adjacency.ADD: "remove", Adjacency.REMOVE: "add"}
_ROOM = 1e-12  # relative; all roundings of a few elementary functions
_LARGEST_SHARE = 0.999  # nearer to 1 the inverse of eq. (bst-tail) cancels
_SCORES = 64  # places where the set of low losses may end
# Where the base run is followed.
_RATES = tuple(ndtr(np.arange(-7.0, 7.001, 0.01)).tolist())
_FIRST = 1e-270  # next to nothing, e^600 times too: for infinite losses


def best_law(law: ArrayLike, *, repetitions: Repetitions) -> Floats:
    r"""Law of the best of several runs, for outputs from best to worst.

    Formula: $A(y) = f(P(\le y)) - f(P(< y))$.

    Parameters: `law`, probabilities of the outputs of one run, the best
    one first; along the last axis, if it has several; `repetitions`.
    Returns: an array of the same shape. Without the chance that there is
    no run it sums to 1.
    Raises: ValueError for negative numbers and sums above 1.
    Error: relative error below n 1e-15 (1 + shape), n outputs.

    >>> geometric = TruncatedNegativeBinomial(1.0, 0.1)
    >>> best_law([0.25, 0.25, 0.5], repetitions=geometric) * 143
    array([110.,  20.,  13.])
    """
    width = np.atleast_1d(check("law", law, 0, 1))
    after = np.cumsum(width, axis=-1)
    check("sum of law", after, 0, 1 + 1e-6)
    before = np.zeros_like(width)
    before[..., 1:] = after[..., :-1]
    return repetitions.caught(before, width)


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

    >>> ten = PoissonRepetitions(10.0)
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
    share = repetitions.share(min(goal, _LARGEST_SHARE)) * (1 - _ROOM)
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
