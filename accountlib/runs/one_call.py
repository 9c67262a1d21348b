# Generated from notebooks/runs/one_call.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""One call

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\varepsilon$, $\delta$ | `epsilon`, `delta` | what is asked or given: $\varepsilon \ge 0$ in nats, $\delta \in [0, 1]$ |
| $S$ | – | total privacy loss, a random variable |
| – | `losses`, `ways` | what stands for $S$ in the code: pairs with their counts; one such list for each direction |
| $\mu$, $\mu_j$ | `mu` | distance of a Gaussian pair; of kind $j$ |
| $\sigma$, $\gamma$ | `noise_multiplier`, `rate` | noise multiplier, $> 0$; Poisson rate, in $(0, 1]$ |
| $T$, $T_j$ | `count` | number of equal steps; the same for kind $j$, where there are several |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import overload

import numpy as np

from accountlib.counting.composition import Bound
from accountlib.engine.one_sided import Losses
from accountlib.engine.rare_steps import refine
from accountlib.engine.saddle import Query, within
from accountlib.engine.search import Search, exclude, first_look
from accountlib.engine.single_runs import (
    infinite_bound,
    loss_ceiling,
    run_bound,
    simple_bound,
)
from accountlib.inputs import (
    Floats,
    check_count,
    check_kind,
    check_number,
    front_door,
)
from accountlib.runs.many_questions import (
    SMALLEST_DELTA,
    BoundArray,
    DirectionBound,
    ManyQuestions,
    given_numbers,
    is_single,
)
from accountlib.runs.mechanisms import Adjacency, AdjacencyName, Release
from accountlib.runs.rules import dominating_pairs
from accountlib.worst_cases.dominating_pairs import DominatingPair
from accountlib.worst_cases.noise import GaussianPair

__all__ = [
    "merge_gaussians",
    "distinct_ways",
    "directions",
    "known_bound",
    "cut_with_limits",
    "search_directions",
    "largest_bound",
    "reached_ways",
    "whole_run_bound",
    "whole_run_bounds",
    "epsilon",
    "delta",
    "substitute_delta_bound",
]

# --- Directions and counts


def merge_gaussians(
    losses: dict[DominatingPair, int],
) -> dict[DominatingPair, int]:
    r"""The same total loss, with all Gaussian pairs merged into one.

    Formula: $\mu = \sqrt{\sum_j T_j \mu_j^2}$.

    Parameters: `losses`, pairs and their counts.
    Returns: such a dictionary, with at most one Gaussian pair.
    Error: two floats keep 30 digits of mu. Pairs with the same float mu
    count as the first one of them: an error of u, relative to mu, which
    the room in the masses covers.
    Source: Dong, Roth and Su (2022), Corollary 3.3.

    >>> merge_gaussians({GaussianPair(3.0): 1, GaussianPair(2.0): 4})
    {GaussianPair(mu=5.0): 1}
    """
    normal = [x for x in losses if type(x) is GaussianPair]
    if sum(losses[x] for x in normal) < 2:
        return losses
    with localcontext(Context(prec=60, traps=[])):
        squares = (
            losses[x] * (Decimal(x.mu) + Decimal(x.rest)) ** 2 for x in normal
        )
        root = sum(squares, Decimal(0)).sqrt()
        mu = float(root)
        rest = float(root - Decimal(mu))
    if not 1e-300 <= mu <= 1e300:
        return losses
    others = {x: n for x, n in losses.items() if x not in normal}
    return others | {GaussianPair(mu, rest): 1}


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


# --- Limits


def known_bound(losses: Losses, query: Query) -> Bound | None:
    """The answer where it needs no computation, or None.

    That is epsilon where delta is compared with the mass at infinity or
    is 1, and delta beyond the largest loss.

    >>> from accountlib.worst_cases.noise import GaussianPair, LaplacePair
    >>> known_bound([(LaplacePair(1.0), 2)], Query(None, 3.0, 1e-3))
    Bound(lower=0.0, upper=0.0)
    >>> known_bound([(GaussianPair(1.0), 2)], Query(0.1, None, 1e-3))
    """
    infinite, ceiling = infinite_bound(losses), loss_ceiling(losses)
    if query.epsilon is not None:
        tops = [(n, pair.largest_loss) for pair, n in losses]
        exact = [n * top for n, top in tops if top is not None]
        if len(exact) == len(tops) and sum(exact) <= Fraction(query.epsilon):
            return infinite
        return infinite if query.epsilon >= ceiling.upper else None
    delta = query.delta or 0.0
    sharp = infinite.upper <= math.nextafter(infinite.lower, 2.0)
    if delta == 1:
        return Bound(0.0, 0.0)
    if delta < infinite.lower or (sharp and delta < infinite.upper):
        return Bound(math.inf, math.inf)
    if delta == infinite.lower == infinite.upper:
        return ceiling
    if ceiling.upper == 0:
        known = delta >= infinite.upper
        return Bound(0.0, 0.0 if known else math.inf)
    return None


def cut_with_limits(bound: Bound, losses: Losses, query: Query) -> Bound:
    """Cut an interval with what is known of every answer.

    epsilon is at most the largest loss, unless infinite losses decide;
    delta is at least the mass at infinity, and at most 1.

    >>> from accountlib.worst_cases.noise import LaplacePair
    >>> run, query = [(LaplacePair(1.0), 2)], Query(1e-9, None, 1e-3)
    >>> cut_with_limits(Bound(1.0, 5.0), run, query).upper < 2.1
    True
    """
    infinite = infinite_bound(losses)
    if query.epsilon is not None:
        upper = min(bound.upper, 1.0)
        return Bound(max(infinite.lower, min(bound.lower, upper)), upper)
    if infinite.upper > (query.delta or 0.0):
        return bound
    upper = min(bound.upper, loss_ceiling(losses).upper)
    return Bound(min(bound.lower, upper), upper)


# --- Two directions, one answer


def search_directions(
    ways: Sequence[Losses], query: Query
) -> list[DirectionBound]:
    """Intervals for several directions: narrow for the largest answer.

    Parameters: `ways`, the losses of each direction; `query`.
    Returns: one DirectionBound for each direction.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> run = [(GaussianPair(0.1), 100)]
    >>> (found,) = search_directions([run], Query(None, 1.0, 1e-3))
    >>> found.bound.contains(0.1269367), len(found.tables)
    (True, 2)
    """
    found: dict[int, DirectionBound] = {}
    searches: list[tuple[int, Search]] = []
    single = is_single(ways[0])
    for k, losses in enumerate(ways):
        known = known_bound(losses, query)
        if known is None and single:
            one = run_bound(losses[0][0], query)
            small = query.delta is None and one.upper < SMALLEST_DELTA
            good = small or one.width <= query.relative_width
            known = one if good else None
        if known is None:
            searches.append((k, first_look(losses, query)))
        else:
            found[k] = DirectionBound(known)
    searches.sort(key=lambda way: -way[1].guess)
    for k, search in searches:
        losses, floor = ways[k], 0.0
        if found:
            most = max(one.bound.lower for one in found.values())
            floor = most / (1 - query.relative_width)
            search = exclude(search, floor)
        if search.bound.upper > floor:
            search = refine(search, floor)
        bound = cut_with_limits(search.bound, losses, query)
        if bound.width > query.relative_width and bound.upper > floor:
            simple = (
                run_bound(losses[0][0], query)
                if single
                else simple_bound(losses, query)
            )
            bound = within(bound, simple)
        found[k] = DirectionBound(bound, search.totals)
    return [found[k] for k in range(len(ways))]


def largest_bound(ways: Sequence[Losses], query: Query) -> Bound:
    """Interval for the largest answer of several directions.

    Parameters: `ways`, the losses of each direction; `query`.
    Returns: a Bound around the maximum of the directions.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> run = [(GaussianPair(0.1), 100)]
    >>> largest_bound([run], Query(None, 1.0, 1e-3)).contains(0.1269367)
    True
    """
    bounds = [one.bound for one in search_directions(ways, query)]
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
    reached = distinct_ways(sides)
    same = {frozenset(x) for x in ways} == {frozenset(x) for x in reached}
    return [] if same else reached


def whole_run_bound(ways: Sequence[Losses], query: Query) -> Bound:
    """Interval from dominating pairs above and reached ones below.

    Parameters: `ways`, the losses of each direction; `query`.
    Returns: a Bound around the truth; wider than asked where the two
    differ, by a gap of the theory.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> run = [(GaussianPair(0.1), 100)]
    >>> whole_run_bound([run], Query(None, 1.0, 1e-3)).contains(0.1269367)
    True
    """
    bound, reached = largest_bound(ways, query), reached_ways(ways)
    if not reached:
        return bound
    return Bound(largest_bound(reached, query).lower, bound.upper)


# --- Many questions in one call


def whole_run_bounds(
    ways: Sequence[Losses], given: Floats, asked: str, width: float
) -> BoundArray:
    """Intervals for many numbers, as `whole_run_bound` for one.

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
    "add-or-remove" or "substitute" (no default); `group_size` (default
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
    of the machine. For substitution under a fixed batch it also has the
    gap between theorem and data. For an array, twice the width is good
    enough. It may stay wider than asked near epsilon = 0, for losses with
    many atoms, where rare steps matter and frequent ones do too; also for
    delta below 1e-290 and for more than about 1e13 runs. Where it is wider
    than asked, it is cut with `simple_bound`.
    Source: Lebeda et al. (2024), Theorem 8.

    >>> from accountlib.runs.mechanisms import Gaussian, Poisson
    >>> run = Release(Gaussian(0.8), Poisson(0.001), count=10_000)
    >>> bound = epsilon(run, delta=1e-6, adjacency="add-or-remove")
    >>> bound.contains(0.9472), bound.width < 1e-3
    (True, True)
    """
    deltas = given_numbers("delta", delta, 0, 1)
    width = check_number("relative_width", relative_width, 0, 1, "()")
    ways = directions(releases, adjacency, group_size)
    if deltas.ndim > 0:
        bounds = whole_run_bounds(ways, deltas, "epsilon", width)
        unproven = (bounds.lower == 0) & (bounds.upper > 0)  # is it 0?
        if not np.any(unproven):
            return bounds
        at_zero = whole_run_bound(ways, Query(None, 0.0, width))
        proven = unproven & (at_zero.upper <= deltas)
        return BoundArray(bounds.lower, np.where(proven, 0.0, bounds.upper))
    bound = whole_run_bound(ways, Query(float(deltas), None, width))
    if bound.lower == 0 < bound.upper:  # is it 0?
        at_zero = whole_run_bound(ways, Query(None, 0.0, width))
        bound = Bound(0, 0) if at_zero.upper <= deltas else bound
    return bound


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

    >>> from accountlib.runs.mechanisms import Gaussian, Poisson
    >>> run = Release(Gaussian(0.8), Poisson(0.001), count=10_000)
    >>> bound = delta(run, epsilon=0.9472, adjacency="remove")
    >>> round(bound.upper, 8), bound.width < 1e-3
    (1e-06, True)
    """
    epsilons = given_numbers("epsilon", epsilon, 0, np.inf, "[)")
    width = check_number("relative_width", relative_width, 0, 1, "()")
    ways = directions(releases, adjacency, group_size)
    if epsilons.ndim > 0:
        return whole_run_bounds(ways, epsilons, "delta", width)
    return whole_run_bound(ways, Query(None, float(epsilons), width))


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
