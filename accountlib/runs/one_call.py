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

import numpy as np

from accountlib.counting.composition import Bound
from accountlib.engine.one_sided import Losses
from accountlib.engine.rare_steps import refine
from accountlib.engine.saddle import Query, within
from accountlib.engine.search import exclude, first_look
from accountlib.engine.single_runs import (
    infinite_bound,
    loss_ceiling,
    run_bound,
    simple_bound,
)
from accountlib.inputs import check_count, check_kind, check_number, front_door
from accountlib.runs.mechanisms import Adjacency, Release
from accountlib.runs.rules import dominating_pairs
from accountlib.worst_cases.dominating_pairs import DominatingPair
from accountlib.worst_cases.noise import GaussianPair

__all__ = [
    "merge_gaussians",
    "distinct_ways",
    "directions",
    "known_answer",
    "limited",
    "answer",
    "reached_ways",
    "bounded_answer",
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
    adjacency: Adjacency | str,
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


def known_answer(losses: Losses, query: Query) -> Bound | None:
    """The answer where it needs no computation, or None.

    That is epsilon where delta is compared with the mass at infinity or
    is 1, and delta beyond the largest loss.

    >>> from accountlib.worst_cases.noise import GaussianPair, LaplacePair
    >>> known_answer([(LaplacePair(1.0), 2)], Query(None, 3.0, 1e-3))
    Bound(lower=0.0, upper=0.0)
    >>> known_answer([(GaussianPair(1.0), 2)], Query(0.1, None, 1e-3))
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


def limited(bound: Bound, losses: Losses, query: Query) -> Bound:
    """Cut an interval with what is known of every answer.

    epsilon is at most the largest loss, unless infinite losses decide;
    delta is at least the mass at infinity, and at most 1.

    >>> from accountlib.worst_cases.noise import LaplacePair
    >>> run = [(LaplacePair(1.0), 2)]
    >>> limited(Bound(1.0, 5.0), run, Query(1e-9, None, 1e-3)).upper < 2.1
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


def answer(ways: Sequence[Losses], query: Query) -> Bound:
    """Interval for the largest answer of several directions.

    Parameters: `ways`, the losses of each direction; `query`.
    Returns: a Bound around the maximum of the directions.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> run = [(GaussianPair(0.1), 100)]
    >>> answer([run], Query(None, 1.0, 1e-3)).contains(0.1269367)
    True
    """
    bounds, searches, single = [], [], len(ways[0]) == ways[0][0][1] == 1
    for losses in ways:
        known = known_answer(losses, query)
        if known is None and single:
            one = run_bound(losses[0][0], query)
            small = query.delta is None and one.upper < 1e-290
            good = small or one.width <= query.relative_width
            known = one if good else None
        if known is None:
            searches.append((first_look(losses, query), losses))
        else:
            bounds.append(known)
    searches.sort(key=lambda way: -way[0].guess)
    for search, losses in searches:
        floor = 0.0
        if bounds:
            floor = max(b.lower for b in bounds) / (1 - query.relative_width)
            search = exclude(search, floor)
        if search.bound.upper > floor:
            search = refine(search, floor)
        found = limited(search.bound, losses, query)
        if found.width > query.relative_width and found.upper > floor:
            simple = (
                run_bound(losses[0][0], query)
                if single
                else simple_bound(losses, query)
            )
            found = within(found, simple)
        bounds.append(found)
    return Bound(max(b.lower for b in bounds), max(b.upper for b in bounds))


def reached_ways(ways: Sequence[Losses]) -> list[Losses]:
    """The same runs with pairs that neighbouring data sets reach.

    Parameters: `ways`, the losses of each direction.
    Returns: lists of pairs and counts. Where a pair has two `reached`
    ones, the first takes 0, 1/4, 1/2, 3/4 or all of its steps.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> reached_ways([[(GaussianPair(1.0), 5)]])
    [[(GaussianPair(mu=1.0), 5)]]
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
    return distinct_ways(sides)


def bounded_answer(ways: Sequence[Losses], query: Query) -> Bound:
    """Interval from dominating pairs above and reached ones below.

    Parameters: `ways`, the losses of each direction; `query`.
    Returns: a Bound around the truth; wider than asked where the two
    differ, by a gap of the theory.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> run = [(GaussianPair(0.1), 100)]
    >>> bounded_answer([run], Query(None, 1.0, 1e-3)).contains(0.1269367)
    True
    """
    bound, reached = answer(ways, query), reached_ways(ways)
    if {frozenset(way) for way in ways} == {frozenset(way) for way in reached}:
        return bound
    return Bound(answer(reached, query).lower, bound.upper)


# --- The two calls


@front_door
def epsilon(
    releases: Release | Sequence[Release],
    *,
    delta: float,
    adjacency: Adjacency | str,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Bound:
    r"""Interval proven to contain the epsilon of a whole training run.

    Formula: the smallest $\varepsilon \ge 0$ with
    $\delta(\varepsilon) \le \delta$.

    Parameters: `releases`, one Release or a sequence of them, all on the
    same data; `delta` ($\delta$ in [0, 1]); `adjacency`, "add",
    "remove", "add-or-remove" or "substitute" (no default); `group_size`
    (default 1);
    `relative_width` (in (0, 1)), the wanted (upper - lower)/upper.
    Returns: Bound(lower, upper) around the truth: the supremum over
    neighbouring data sets and adaptively chosen queries, every iterate
    released, of the `dominating_pairs`. inf only where the
    mass at infinity exceeds delta (or losses have no largest value and
    delta = 0); Bound(0, 0) where epsilon is proven to be 0.
    Raises: ValueError for bad values, NotImplementedError for what no
    theorem of the book covers.
    Error: the interval includes discretization, truncation, wrap-around
    and rounding, as far as the box "What the certificate assumes" is true
    of the machine. For substitution under a fixed batch it also has the
    gap between theorem and data. It may stay wider than
    asked near epsilon = 0, for losses with many atoms, where rare steps
    matter and frequent ones do too; also for delta below 1e-290 and for
    more than about 1e13 runs. Where it is wider than asked, it is cut with
    `simple_bound`.
    Source: Lebeda et al. (2024), Theorem 8.

    >>> from accountlib.runs.mechanisms import Gaussian, Poisson
    >>> run = Release(Gaussian(0.8), Poisson(0.001), count=10_000)
    >>> bound = epsilon(run, delta=1e-6, adjacency="add-or-remove")
    >>> bound.contains(0.9472), bound.width < 1e-3
    (True, True)
    """
    delta = check_number("delta", delta, 0, 1)
    width = check_number("relative_width", relative_width, 0, 1, "()")
    ways = directions(releases, adjacency, group_size)
    bound = bounded_answer(ways, Query(delta, None, width))
    if bound.lower == 0 < bound.upper:  # is it 0?
        at_zero = bounded_answer(ways, Query(None, 0.0, width))
        bound = Bound(0, 0) if at_zero.upper <= delta else bound
    return bound


@front_door
def delta(
    releases: Release | Sequence[Release],
    *,
    epsilon: float,
    adjacency: Adjacency | str,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Bound:
    r"""Interval proven to contain the delta of a whole training run.

    Formula: the largest $\delta(\varepsilon) = P(S > \varepsilon) -
    e^\varepsilon Q(S > \varepsilon)$ of the directions asked for, S the
    total privacy loss.

    Parameters: `epsilon` ($\varepsilon \ge 0$, finite); the others as for
    `epsilon`.
    Returns: Bound(lower, upper) around the truth (see `epsilon`).
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
    epsilon = check_number("epsilon", epsilon, 0, np.inf, "[)")
    width = check_number("relative_width", relative_width, 0, 1, "()")
    ways = directions(releases, adjacency, group_size)
    return bounded_answer(ways, Query(None, epsilon, width))


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
