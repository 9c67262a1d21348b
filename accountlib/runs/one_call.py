# Generated from notebooks/runs/one_call.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""One call

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\varepsilon$, $\delta$ | `epsilon`, `delta` | what is asked or given: $\varepsilon \ge 0$ in nats, $\delta \in [0, 1]$ |
| $S$ | – | total privacy loss, a random variable |
| – | `losses`, `ways` | what stands for $S$ in the code: pairs with their counts; one such list for each direction |
| $\mu$ | `mu` | distance of a Gaussian pair |
| $\sigma$, $\gamma$ | `noise_multiplier`, `rate` | noise multiplier, $> 0$; Poisson rate, in $(0, 1]$ |
| $T$ | `count` | number of equal steps |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from accountlib.counting.composition import Bound
from accountlib.engine.certificate import Explanation, explained
from accountlib.engine.one_sided import Losses
from accountlib.engine.rare_steps import answer_at_once, bound_direction
from accountlib.engine.saddle import Query
from accountlib.engine.search import Search, first_look
from accountlib.inputs import (
    Floats,
    check_count,
    check_kind,
    check_number,
    front_door,
)
from accountlib.runs.many_questions import (
    BoundArray,
    DirectionBound,
    ManyQuestions,
    given_numbers,
)
from accountlib.runs.mechanisms import merge_gaussians
from accountlib.runs.releases import (
    Adjacency,
    AdjacencyName,
    Release,
    check_adjacency,
    direction_names,
)
from accountlib.runs.rules import dominating_pairs
from accountlib.runs.schedules import schedule_bound
from accountlib.worst_cases.dominating_pairs import DominatingPair

__all__ = [
    "distinct_ways",
    "directions",
    "search_ways",
    "search_directions",
    "largest_of",
    "reached_ways",
    "WholeRun",
    "whole_run",
    "whole_run_bounds",
    "epsilon",
    "delta",
    "RunExplanation",
    "explain",
    "substitute_delta_bound",
]

# --- Directions and counts


def distinct_ways(sides: Sequence[dict[DominatingPair, int]]) -> list[Losses]:
    """Lists of pairs and counts, without those that say the same.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> distinct_ways([{GaussianPair(1.0): 2, GaussianPair(2.0): 0}] * 2)
    [[(GaussianPair(mu=1.0), 2)]]
    """
    lists = [[(p, n) for p, n in side.items() if n > 0] for side in sides]
    return list({frozenset(way): way for way in lists}.values())


def directions(
    releases: Release | Sequence[Release],
    adjacency: Adjacency | AdjacencyName,
    group_size: int,
) -> list[Losses]:
    """The dominating pairs of all releases with their counts, by direction.

    Parameters: `releases`, one Release or a sequence of them;
    `adjacency` and `group_size` as for `dominating_pairs`.
    Returns: one list for remove, one for add (or the one that was asked
    for); identical pairs are counted together, and a direction that
    equals the other one is left out.
    Raises: ValueError for an empty list or members that are no Release.

    >>> from accountlib.runs.mechanisms import Laplace
    >>> directions([Release(Laplace(1.0))] * 3, "add-or-remove", 1)
    [[(LaplacePair(scale=1.0), 3)]]
    """
    if isinstance(releases, Release):
        releases = [releases]
    if not isinstance(releases, Sequence) or len(releases) == 0:
        raise ValueError(
            "releases must be a Release or a non-empty sequence of them, "
            f"got {releases!r}"
        )
    sides: list[dict[DominatingPair, int]] = []
    for release in releases:
        check_kind("releases", release, Release)
        pairs = dominating_pairs(
            release.mechanism,
            sampling=release.sampling,
            adjacency=adjacency,
            group_size=group_size,
        )
        sides = sides or [{} for _ in pairs]
        for side, pair in zip(sides, pairs, strict=True):
            side[pair] = side.get(pair, 0) + release.count
    return distinct_ways([merge_gaussians(side) for side in sides])


# --- Two directions, one answer


def search_ways(ways: Sequence[Losses], query: Query) -> list[Search]:
    """Searches in several directions: narrow for the largest answer.

    Parameters: `ways`, the losses of each direction; `query`.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> run = [(GaussianPair(0.1), 100)]
    >>> (found,) = search_ways([run], Query(None, 1.0, 1e-3))
    >>> found.bound.contains(0.1269367), found.upper_from
    (True, 'one grid')
    """
    found: dict[int, Search] = {}
    looks: list[tuple[int, Search]] = []
    for k, losses in enumerate(ways):
        known = answer_at_once(losses, query)
        if known is None:
            looks.append((k, first_look(losses, query)))
        else:
            found[k] = known
    for k, look in sorted(looks, key=lambda way: -way[1].guess):
        most = max((one.bound.lower for one in found.values()), default=0.0)
        found[k] = bound_direction(look, most / (1 - query.relative_width))
    return [found[k] for k in range(len(ways))]


def search_directions(
    ways: Sequence[Losses], query: Query
) -> list[DirectionBound]:
    """Interval and tables of each direction, from `search_ways`."""
    found = search_ways(ways, query)
    return [DirectionBound(one.bound, one.totals) for one in found]


def largest_of(searches: Sequence[Search]) -> Bound:
    """Interval for the largest answer of searches that are over."""
    bounds = [one.bound for one in searches]
    return Bound(max(b.lower for b in bounds), max(b.upper for b in bounds))


def reached_ways(ways: Sequence[Losses]) -> list[Losses]:
    """The same runs with pairs that neighbouring data sets reach.

    Parameters: `ways`, the losses of each direction.
    Returns: lists of pairs and counts; none, if the given ones are reached
    already. Where a pair has two `reached` ones, the first takes 0, 1/4,
    1/2, 3/4 or all of its steps.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> reached_ways([[(GaussianPair(1.0), 5)]])
    []
    """
    if all(pair.reached == (pair,) for losses in ways for pair, _ in losses):
        return []
    sides = []
    for losses in ways:
        for quarters in range(5):
            side: dict[DominatingPair, int] = {}
            for pair, count in losses:
                first = (count * quarters + 2) // 4
                one, other = pair.reached[0], pair.reached[-1]
                side[one] = side.get(one, 0) + first
                side[other] = side.get(other, 0) + count - first
            sides.append(side)
    return distinct_ways(sides)


@dataclass(frozen=True, eq=False)
class WholeRun:
    """The answer for a whole run, and all that was searched for it.

    Fields: `bound`; `searches`, one for each direction; `reached`, those
    that give the lower end, if others do; `at_zero`, an interval for
    delta(0), if it was asked whether epsilon is 0.
    """

    bound: Bound
    searches: Sequence[Search]
    reached: Sequence[Search] = ()
    at_zero: Bound | None = None


def whole_run(ways: Sequence[Losses], query: Query) -> WholeRun:
    """Answer from dominating pairs above and reached ones below.

    Parameters: `ways`, the losses of each direction; `query`.
    Returns: a WholeRun, its bound around the truth; wider than asked where
    the two differ, by a gap of the theory.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> run = [(GaussianPair(0.1), 100)]
    >>> found = whole_run([run], Query(None, 1.0, 1e-3))
    >>> found.bound.contains(0.1269367), len(found.searches)
    (True, 1)
    """
    searches = search_ways(ways, query)
    bound, sides = largest_of(searches), reached_ways(ways)
    reached = search_ways(sides, query) if sides else []
    if reached:
        bound = Bound(largest_of(reached).lower, bound.upper)
    if query.delta is None or not bound.lower == 0 < bound.upper:
        return WholeRun(bound, searches, reached)
    ask = Query(None, 0.0, query.relative_width)
    at_zero = whole_run(ways, ask).bound
    if at_zero.upper <= query.delta:
        bound = Bound(0, 0)
    return WholeRun(bound, searches, reached, at_zero)


# --- Many questions in one call


def whole_run_bounds(
    ways: Sequence[Losses], given: Floats, asked: str, width: float
) -> BoundArray:
    """Intervals for many numbers, as `whole_run` for one.

    Parameters: `ways`, the losses of each direction; `given`, an array of
    any shape: deltas if "epsilon" is `asked`, and epsilons if "delta" is;
    `width`, the relative width wanted.
    Returns: a BoundArray of that shape.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> run, at = [(GaussianPair(0.1), 100)], np.array([[1.0], [2.0]])
    >>> bounds = whole_run_bounds([run], at, "delta", 1e-3)
    >>> bounds.lower.shape, bounds.contains([[0.126937], [0.020924]])
    ((2, 1), True)
    """
    values, place = np.unique(given.ravel(), return_inverse=True)

    def ends(sides: Sequence[Losses]) -> BoundArray:
        many = ManyQuestions(sides, search_directions, width)
        return (many.epsilons if asked == "epsilon" else many.deltas)(values)

    bounds, reached = ends(ways), reached_ways(ways)
    lower = ends(reached).lower if reached else bounds.lower
    return BoundArray(
        lower[place].reshape(given.shape),
        bounds.upper[place].reshape(given.shape),
    )


# --- The two calls


@overload
def epsilon(
    releases: Release | Sequence[Release],
    *,
    delta: float,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Bound: ...


@overload
def epsilon(
    releases: Release | Sequence[Release],
    *,
    delta: Sequence[float] | Floats,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> BoundArray: ...


@front_door
def epsilon(
    releases: Release | Sequence[Release],
    *,
    delta: float | Sequence[float] | Floats,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Bound:
    r"""Interval proven to contain the epsilon of a whole training run.

    Formula: the smallest $\varepsilon \ge 0$ with
    $\delta(\varepsilon) \le \delta$.

    Parameters: `releases`, one Release or a sequence of them, all on the
    same data; `delta` ($\delta$ in [0, 1]), a number, or an array, which
    costs a few calls, not one for each; `adjacency`, "add", "remove",
    "add-or-remove", "substitute", "zero-out"; `group_size` (default
    1); `relative_width` (in (0, 1)), the wanted (upper - lower)/upper.
    Returns: Bound(lower, upper), for an array a BoundArray whose ends have
    its shape, around the truth: the supremum over neighbouring data sets
    and adaptively chosen queries, every iterate released, of the
    `dominating_pairs`. inf only where the mass at infinity exceeds delta
    (or losses have no largest value and delta = 0); 0 at both ends where
    epsilon is proven to be 0.
    Raises: ValueError for bad values, NotImplementedError for what no
    theorem of the book covers.
    Error: the interval includes discretization, truncation, wrap-around
    and rounding, as far as the box "What the certificate assumes" is true
    of the machine. Where a pair's `reached` has others (fixed batches,
    shuffles, cuts) it also has the gap between theorem and data. For an
    array, twice the width is good enough. It may stay wider than asked
    near epsilon = 0, for losses with many atoms, where rare steps matter
    and frequent ones do too; also for delta below 1e-290 and for more than
    about 1e13 runs. Where it is wider, it is cut with `simple_bound`.
    Source: Lebeda et al. (2024), Theorem 8.

    >>> from accountlib.runs.mechanisms import Gaussian
    >>> from accountlib.runs.releases import Poisson
    >>> run = Release(Gaussian(0.8), Poisson(0.001), count=10_000)
    >>> bound = epsilon(run, delta=1e-6, adjacency="add-or-remove")
    >>> bound.contains(0.9472), bound.width < 1e-3
    (True, True)
    """
    deltas = given_numbers("delta", delta, 0, 1)
    width = check_number("relative_width", relative_width, 0, 1, "()")

    def ask(run: Release | Sequence[Release], query: Query) -> Bound:
        return whole_run(directions(run, adjacency, group_size), query).bound

    if deltas.ndim == 0:
        query = Query(float(deltas), None, width)
        return schedule_bound(releases, ask, query, adjacency, group_size)
    ways = directions(releases, adjacency, group_size)
    bounds = whole_run_bounds(ways, deltas, "epsilon", width)
    unproven = (bounds.lower == 0) & (bounds.upper > 0)  # is it 0?
    if not np.any(unproven):
        return bounds
    at_zero = whole_run(ways, Query(None, 0.0, width)).bound
    proven = unproven & (at_zero.upper <= deltas)
    return BoundArray(bounds.lower, np.where(proven, 0.0, bounds.upper))


@overload
def delta(
    releases: Release | Sequence[Release],
    *,
    epsilon: float,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Bound: ...


@overload
def delta(
    releases: Release | Sequence[Release],
    *,
    epsilon: Sequence[float] | Floats,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> BoundArray: ...


@front_door
def delta(
    releases: Release | Sequence[Release],
    *,
    epsilon: float | Sequence[float] | Floats,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Bound:
    r"""Interval proven to contain the delta of a whole training run.

    Formula: the largest $\delta(\varepsilon) = P(S > \varepsilon) -
    e^\varepsilon Q(S > \varepsilon)$ of the directions asked for, S the
    total privacy loss.

    Parameters: `epsilon` ($\varepsilon \ge 0$, finite), a number or an
    array; the others as for `epsilon`.
    Returns: Bound(lower, upper) around the truth, for an array a
    BoundArray (see `epsilon`).
    Raises: ValueError for bad values, NotImplementedError for what no
    theorem of the book covers.
    Error: the interval includes all errors, as for `epsilon`. It may stay
    wider than asked where epsilon is near the largest possible loss, and
    where delta is below 1e-290.
    Source: Lebeda et al. (2024), Theorem 8.

    >>> from accountlib.runs.mechanisms import Gaussian
    >>> from accountlib.runs.releases import Poisson
    >>> run = Release(Gaussian(0.8), Poisson(0.001), count=10_000)
    >>> bound = delta(run, epsilon=0.9472, adjacency="remove")
    >>> round(bound.upper, 8), bound.width < 1e-3
    (1e-06, True)
    """
    epsilons = given_numbers("epsilon", epsilon, 0, np.inf, "[)")
    width = check_number("relative_width", relative_width, 0, 1, "()")

    def ask(run: Release | Sequence[Release], query: Query) -> Bound:
        return whole_run(directions(run, adjacency, group_size), query).bound

    if epsilons.ndim == 0:
        query = Query(None, float(epsilons), width)
        return schedule_bound(releases, ask, query, adjacency, group_size)
    ways = directions(releases, adjacency, group_size)
    return whole_run_bounds(ways, epsilons, "delta", width)


# --- How it was found


@dataclass(frozen=True)
class RunExplanation:
    """How the answer to one question about a run was found.

    Fields: `question`, in words; `bound`, the answer; `directions`, an
    Explanation for each direction, with `names`; `reached`, those that
    give the lower end, where data are not known to reach the dominating
    pair; `at_zero`, an interval for delta(0), if that was asked as well.
    """

    question: str
    bound: Bound
    names: tuple[str, ...]
    directions: tuple[Explanation, ...]
    reached: tuple[Explanation, ...] = ()
    at_zero: Bound | None = None

    def __str__(self) -> str:
        shown = list(zip(self.names, self.directions, strict=True))
        if self.reached:
            best = max(self.reached, key=lambda one: one.bound.lower)
            shown.append(("reached", best))
        parts = [f"{self.question}: {self.bound:.6g}"]
        parts += [f"{name}: {x}".replace("\n", "\n  ") for name, x in shown]
        if self.at_zero is not None:
            parts.append(f"is epsilon 0? delta(0) in {self.at_zero:.6g}")
        return "\n".join(parts)


@front_door
def explain(
    releases: Release | Sequence[Release],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> RunExplanation:
    r"""How the interval of `epsilon` or `delta` is found, and by which bound.

    Formula: none of its own; delta is asked if `epsilon` is given, and
    epsilon if `delta` is.

    Parameters: exactly one of `epsilon` ($\varepsilon \ge 0$, finite) and
    `delta` ($\delta$ in [0, 1]), a number; the others as for `epsilon`.
    Returns: a RunExplanation. Its `bound` is the interval that `epsilon` or
    `delta` return, around the truth. For each direction it says what the
    ends come from, for each grid its step, tilt and window (in nats), what
    was cut off, and sizes. `print` shows it: *guessed* by the rough look,
    *excess* (10 costs four digits), *reached* by data: it gives the lower
    end. Only the largest direction is refined to the end.
    Raises: ValueError for bad values, or if not exactly one of `epsilon`
    and `delta` is given; NotImplementedError for what no theorem of the
    book covers.
    Error: the interval includes all errors, as for `epsilon`.
    Source: as for `epsilon`: Lebeda et al. (2024), Theorem 8.

    >>> from accountlib.runs.mechanisms import Laplace
    >>> run = Release(Laplace(2.0), count=40)
    >>> told = explain(run, delta=1e-6, adjacency="add-or-remove")
    >>> told.names, told.directions[0].upper_from
    (('remove and add',), 'one grid')
    """
    if (epsilon is None) == (delta is None):
        raise ValueError(
            "exactly one of epsilon and delta must be given, got "
            f"epsilon={epsilon!r} and delta={delta!r}"
        )
    if epsilon is not None:
        epsilon = check_number("epsilon", epsilon, 0, np.inf, "[)")
    if delta is not None:
        delta = check_number("delta", delta, 0, 1)
    width = check_number("relative_width", relative_width, 0, 1, "()")
    ways = directions(releases, adjacency, group_size)
    found = whole_run(ways, Query(delta, epsilon, width))
    names = direction_names(check_adjacency(adjacency))
    given = f"delta = {delta}" if epsilon is None else f"epsilon = {epsilon}"
    return RunExplanation(
        f"{'epsilon' if epsilon is None else 'delta'} at {given}",
        found.bound,
        names if len(names) == len(ways) else (" and ".join(names),),
        tuple(map(explained, found.searches)),
        tuple(map(explained, found.reached)),
        found.at_zero,
    )


# --- Substitution from add and remove


@front_door
def substitute_delta_bound(
    releases: Release | Sequence[Release],
    *,
    epsilon: float,
    group_size: int = 1,
    splits: int = 9,
) -> float:
    r"""An upper bound for substitution from add and remove alone.

    Formula: the smallest $\delta_{\text{remove}}(\varepsilon_1) +
    e^{\varepsilon_1} \delta_{\text{add}}(\varepsilon - \varepsilon_1)$
    over a grid of $\varepsilon_1 \in [0, \varepsilon]$.

    Parameters: `releases`; `epsilon` ($\varepsilon \ge 0$, finite);
    `group_size`, how many records are exchanged; `splits`, the number of
    grid points (a whole number from 2 to 1000).
    Returns: an upper bound in [0, 1]; it covers every mechanism and
    sampling of this book, and is loose.
    Raises: ValueError for bad values.
    Source: Lebeda et al. (2024), Section 9; eq. (pit-chain) of the book.

    >>> from accountlib.runs.mechanisms import Gaussian
    >>> run = Release(Gaussian(1.0))
    >>> bound = substitute_delta_bound(run, epsilon=1.0)
    >>> truth = delta(run, epsilon=1.0, adjacency="substitute").lower
    >>> bool(truth < bound < 1.5 * truth)
    True
    """
    check_number("epsilon", epsilon, 0, np.inf, "[)")
    check_number("splits", check_count("splits", splits), 2, 1000)
    best = 1.0
    for first in np.linspace(0, epsilon, int(splits)).tolist():
        rest = max(0.0, math.nextafter(epsilon - first, -math.inf))
        one, other = (
            delta(
                releases,
                epsilon=at,
                adjacency=adjacency,
                group_size=group_size,
            ).upper
            for at, adjacency in (
                (first, Adjacency.REMOVE),
                (rest, Adjacency.ADD),
            )
        )
        if other > 0:
            other = math.exp(min(first + math.log(other), 1.0))
        best = min(best, (one + other) * (1 + 1e-12))
    return best
