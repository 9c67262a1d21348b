# Generated from notebooks/engine/rare_steps.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Two grids for rare steps

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\varepsilon$, $\delta$ | `query`, `value` | what is asked |
| $c$ | `split` | losses up to $c$ are near, those above far |
| $T_j$, $\delta_j$ | `count`, `pair` | number of steps of kind $j$, and the curve of one of them; $T$ is their sum |
| $\lambda$ | `order` | order of a saddle point, $> 0$ |
| $\Delta$ | `step` | step of a grid |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from accountlib.counting.composition import SIDES, Bound
from accountlib.counting.loss_tables import TINY
from accountlib.counting.rounding import log_peak
from accountlib.engine.grids import fitting_step
from accountlib.engine.one_round import NearPair
from accountlib.engine.one_sided import (
    LOSS_PLACES,
    MOST_POINTS,
    Losses,
    read_epsilon,
)
from accountlib.engine.saddle import (
    Cells,
    Query,
    choose_tilt,
    jump_delta,
    saddle,
    total_cumulants,
    within,
)
from accountlib.engine.search import (
    Search,
    Way,
    cut_with,
    exclude,
    first_look,
    narrow,
    seems_rare,
    with_bound,
    with_guess,
)
from accountlib.engine.single_runs import (
    infinite_bound,
    loss_ceiling,
    run_bound,
    simple_bound,
)
from accountlib.inputs import Floats
from accountlib.worst_cases.dominating_pairs import UNIT, DominatingPair

__all__ = [
    "near_cells",
    "window_length",
    "least_order",
    "Half",
    "rough_half",
    "Split",
    "beside_atoms",
    "split_cells",
    "look_at_split",
    "look_at_splits",
    "grid_length",
    "longer_grid",
    "choose_split",
    "rough_epsilon",
    "bound_of_sum",
    "unresolved",
    "both_parts",
    "narrow_both",
    "TwoGrids",
    "two_grids",
    "with_two_grids",
    "refine",
    "known_bound",
    "cut_with_limits",
    "answer_at_once",
    "bound_direction",
]

# --- Where to split

# Places for a split
_EVERY = 6  # of LOSS_PLACES up to 1e11: a factor of four between two
_SHARES = 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97  # of epsilon: one jump
_LEAST_SPLIT = 1e-9  # a smaller loss is no jump
_FINE = 0.02, 4.0, 250  # more edges around epsilon: one tilt is steep there
_NEAR_MASS = 0.3  # P-mass of near losses at least: the frequent ones
_FREQUENT = 100.0  # log of the odds of a far loss: not rare at all
# What a split costs
_ALONE = 1.0  # log of the quotient of two deltas: the larger one decides
_UNRESOLVED = 1e-3  # part of the width that a small delta may have
_HALF = 0.5  # part of the width for each of two
_LEAST_SHARE = 1e-3  # of delta; less is not aimed at with less width
_COARSE_PART = 0.5  # relative width of the part that is small
_LOG_REST = 30.0  # minus the log of what lies outside of a window
_CHEAP_EXCESS = 7.0  # a larger excess makes the grid dear: one tilt is poor
_SPLIT_ORDERS = 1e-3, 1.0, 40  # times the order of the saddle point
_LONG_WINDOW = 64.0 * MOST_POINTS  # steps in a window: no split helps
# Both parts together
_UNKNOWN = 3.0  # factor between a guess of delta and the truth
_GUESSES = 2  # of a guess of epsilon, and of the shares of both parts
_HALVINGS = 8  # at epsilons, half-way in logarithms
_FAR_UP = 1e3  # factor between the first two of them, at most
_LOOKED = 1.1  # factor between the last two of them
_NO_DIGITS = 1e-290  # a delta near the end of the floats is taken as it is


def near_cells(part: Cells, split: float) -> Cells:
    """The cells of losses up to a split, one of the edges.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 3, 1e-9)
    >>> bool(np.exp(near_cells(part, 1.0).log_p).sum() < 0.7)
    True
    """
    log_p = np.where(part.edges > split, -1e300, part.log_p)
    return replace(part, log_p=log_p, split=math.inf)


def window_length(
    cells: tuple[Cells, ...], order: float, point: tuple[float, float]
) -> float:
    """Length of the window of a grid, roughly; more if one tilt is poor.

    Parameters: `cells` of all parts; `order` of the saddle point; `point`,
    epsilon and log delta.
    """
    tilt, excess, (below, above) = choose_tilt(cells, order, *point)
    at = np.array([tilt - below, tilt, tilt + above])
    moment = total_cumulants(cells, at)[0]
    rise = moment[[0, 2]] - moment[1] + _LOG_REST
    reach = rise / np.array([below, above])
    price = math.exp(min(max(excess - _CHEAP_EXCESS, 0.0), 99.0))
    return float(np.sum(reach)) * price


def least_order(
    cells: Sequence[Cells], order: float, point: tuple[float, float]
) -> float:
    """The smallest order whose Chernoff bound is low enough, or `order`.

    Parameters: `cells` of all parts; `order` of the saddle point; `point`,
    epsilon and the log of a delta that need not be resolved.
    """
    orders = order * np.geomspace(*_SPLIT_ORDERS)
    log_bounds = total_cumulants(cells, orders)[0] - orders * point[0]
    log_bounds += np.array([log_peak(x) for x in orders])
    low = np.flatnonzero(log_bounds <= point[1])
    return float(orders[low[0]]) if len(low) > 0 else order


@dataclass(frozen=True, eq=False)
class Half:
    """A rough look at near losses, or at sums with a far one.

    Fields: `cells` of all kinds of steps; `order` of the saddle point;
    `log_delta`, roughly, and `slope`, how fast it falls with epsilon.
    """

    cells: tuple[Cells, ...]
    order: float
    log_delta: float
    slope: float


def rough_half(cells: Sequence[Cells], epsilon: float, goal: float) -> Half:
    """Order, log of delta and slope of near losses or of rare sums."""
    parts = tuple(cells)
    order, log_delta = saddle(parts, Query(None, epsilon, goal))
    one, slope = jump_delta(parts, epsilon, 1.0)
    log_one = math.log(max(one, 1e-320))
    if parts[0].split < math.inf:
        log_rare = log_one if one > 0 else log_delta
        return Half(parts, order, log_rare, max(slope, order))
    count = sum(part.count for part in parts)
    most, _ = jump_delta(parts, epsilon, 1 / count)
    log_delta = min(log_delta, math.log(max(most, 1e-320)))
    return Half(parts, order, max(log_delta, log_one), order)


@dataclass(frozen=True, eq=False)
class Split:
    """A place between near and far losses, and a look at both parts."""

    place: float
    near: Half
    rare: Half

    @property
    def log_delta(self) -> float:
        """Log of both deltas together, roughly."""
        return float(np.logaddexp(self.near.log_delta, self.rare.log_delta))


def beside_atoms(pair: DominatingPair, places: Floats) -> NDArray[np.bool_]:
    """Which places are surely not the place of an atom.

    >>> from accountlib.worst_cases.noise import LaplacePair
    >>> beside_atoms(LaplacePair(2.0), np.array([0.4, 0.5])).tolist()
    [True, False]
    """
    atoms = np.array(pair.atoms)
    if len(atoms) == 0:
        return np.ones(len(places), dtype=bool)
    after = np.searchsorted(atoms, places)
    left, right = (
        np.abs(atoms[np.clip(k, 0, len(atoms) - 1)] - places)
        for k in (after - 1, after)
    )
    room = 64 * (pair.atom_error + 8 * UNIT * np.abs(places))
    return np.asarray(np.minimum(left, right) > room)


def split_cells(losses: Losses, places: Floats, epsilon: float) -> list[Cells]:
    """A rough look at each kind of step, with places among its edges."""
    first, last, many = _FINE
    fine = epsilon * np.geomspace(first, last, many)
    cells = []
    for pair, count in losses:
        edges = Cells.first(pair, count, 1e-320).edges
        edges = np.concatenate([edges, places, fine[fine > 1e-12]])
        cells.append(Cells.of(pair, count, np.unique(edges), 1e-320))
    return cells


def look_at_split(
    cells: Sequence[Cells], place: float, query: Query
) -> Split | None:
    """A look at both parts; None where far losses are not rare.

    Parameters: `cells` of all kinds of steps, with the place among their
    edges; `place`; `query` for a delta.
    """
    near = [near_cells(part, place) for part in cells]
    if min(float(np.sum(np.exp(x.log_p))) for x in near) < _NEAR_MASS:
        return None
    far = [replace(part, split=place) for part in cells]
    if sum(part.rare(np.zeros(1))[0, 0] for part in far) > _FREQUENT:
        return None
    epsilon, goal = query.epsilon or 0.0, query.relative_width
    near_half = rough_half(near, epsilon, goal)
    return Split(place, near_half, rough_half(far, epsilon, goal))


def look_at_splits(losses: Losses, query: Query) -> list[Split]:
    """A rough look at every place that may be a good one for a split."""
    epsilon = query.epsilon or 0.0
    places = np.append(LOSS_PLACES[:200:_EVERY], epsilon * np.array(_SHARES))
    places = places[places > _LEAST_SPLIT]
    cells = split_cells(losses, places, epsilon)
    top = max(float(part.edges[-1]) for part in cells)
    free = [beside_atoms(pair, places) for pair, _ in losses]
    places = places[np.all(free, axis=0) & (places < top)]
    looks = (look_at_split(cells, x, query) for x in places.tolist())
    return [look for look in looks if look is not None]


def grid_length(half: Half, query: Query, log_whole: float) -> float:
    """Steps in the window of one part, roughly.

    Parameters: `half`; `query` for a delta; `log_whole`, log of the delta
    of both parts.
    """
    epsilon, least = query.epsilon or 0.0, query.relative_width
    floor = log_whole + math.log(_UNRESOLVED * least)
    order, slope = half.order, half.slope
    if half.log_delta < floor:  # it need not be resolved
        order = slope = least_order(half.cells, order, (epsilon, floor))
    share = math.exp(min(max(half.log_delta - log_whole, -700.0), 0.0))
    goal = min(_HALF * least / max(share, _LEAST_SHARE), _COARSE_PART)
    width = goal / slope * (1 + order) / (1 + slope)
    step = fitting_step(half.cells, order, width)
    point = epsilon, min(max(floor, half.log_delta), log_whole)
    return window_length(half.cells, order, point) / step


def longer_grid(split: Split, query: Query, log_whole: float) -> float:
    """Steps in the longer one of two windows, roughly."""
    near, rare = split.near, split.rare
    if max(near.log_delta, rare.log_delta) < log_whole - _ALONE:
        rare = replace(rare, log_delta=log_whole)  # several jumps, perhaps
    return max(grid_length(x, query, log_whole) for x in (near, rare))


def choose_split(
    losses: Losses, query: Query, low: float = 0.0, high: float = 1.0
) -> tuple[float, float]:
    """The split for which the longer one of two grids is shortest.

    Parameters: `losses`, pairs and counts; `query` for a delta; `low`,
    `high`, what is known of it, roughly.
    Returns: (a loss, or inf if no split seems to help; delta, roughly).
    """
    looks = look_at_splits(losses, query)
    log_whole = min([0.0, *(look.log_delta for look in looks)])
    log_low, log_high = (math.log(max(x, 1e-320)) for x in (low, high))
    log_whole = min(max(log_whole, log_low), log_high)
    best, choice = _LONG_WINDOW, math.inf
    for look in looks:
        length = longer_grid(look, query, log_whole)
        if length < best:
            best, choice = length, look.place
    if choice == math.inf and query.epsilon:  # the far part at any price
        floor = log_whole + math.log(_UNRESOLVED * query.relative_width)
        small = [x.place for x in looks if x.near.log_delta < floor]
        choice = max(small, default=math.inf)
    return choice, math.exp(max(log_whole, -700.0))


def rough_epsilon(
    losses: Losses, query: Query, known: Bound, guess: float
) -> float:
    """Where near and far losses together reach delta, roughly."""
    low, high = known.lower, min(known.upper, _FAR_UP * known.lower)
    if query.delta is None or not 0 < low < high:
        return guess
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        ask = Query(None, middle, query.relative_width)
        more = choose_split(losses, ask)[1] > query.delta
        low, high = (middle, high) if more else (low, middle)
        if high < _LOOKED * low:
            break
    return math.sqrt(low * high)


# --- Both parts together


def bound_of_sum(
    searches: Sequence[Search],
    query: Query,
    value: float,
    ceiling: float = 0.0,
) -> Bound:
    """The answer from deltas that add up.

    Parameters: `searches`, each for the delta of a part; `query`; `value`,
    the answer, roughly; `ceiling`, above which all other parts have the
    delta 0.
    """
    if query.delta is None:
        lower = math.fsum(x.bound.lower for x in searches)
        upper = math.fsum(x.bound.upper for x in searches)
        return Bound(lower * (1 - 2 * UNIT), upper * (1 + 2 * UNIT))
    order = max(x.order for x in searches)
    room, ends = query.root_room, [0.0, math.inf]
    for k, side in enumerate(SIDES[::-1]):
        totals = [t for x in searches for t in x.totals if t.bound == side]
        complete = len(totals) == len(searches)
        if totals and (complete or side == "lower"):
            ends[k] = read_epsilon(totals, query.delta, value, order, room)
    return Bound(ends[0], max(ends[1], ceiling))


def unresolved(search: Search, epsilon: float, floor: float) -> Search:
    """A search whose delta is small, to show just that.

    Parameters: `search`; `epsilon`; `floor`, a delta that is small.
    """
    if search.guess >= floor:
        return search
    point = epsilon, math.log(floor)
    order = least_order(search.cells, search.order, point)
    return replace(search, guess=floor, order=order, slope=order)


def both_parts(
    losses: Losses, split: float, query: Query, whole: float
) -> tuple[tuple[Search, ...], float]:
    """Searches for the delta of rare sums and of near losses, with guesses.

    Parameters: `losses`, pairs and counts; `split`; `query` for a delta;
    `whole`, that delta, roughly.
    Returns: (searches, a loss that sums of near losses without a search do
    not exceed).
    """
    epsilon, goal = query.epsilon or 0.0, query.relative_width
    near = [(NearPair(pair, split), n) for pair, n in losses]
    ceiling = loss_ceiling(near).upper
    looks = [first_look(losses, query, split)]
    if ceiling > epsilon:
        looks.append(first_look(near, query))
    searches = []
    for look in looks:
        half = rough_half(look.cells, epsilon, goal)
        guess = math.exp(min(max(half.log_delta, -700.0), 0.0))
        found = with_guess(look, min(guess, whole))
        searches.append(replace(found, slope=half.slope))
    if sum(search.guess for search in searches) < whole / _UNKNOWN:
        searches[0] = replace(searches[0], guess=whole)
    total = math.fsum(search.guess for search in searches)
    floor = _UNRESOLVED * goal * total
    found_ones = tuple(unresolved(x, epsilon, floor) for x in searches)
    return found_ones, 0.0 if len(searches) > 1 else ceiling


def narrow_both(
    searches: tuple[Search, ...], goal: float
) -> tuple[Search, ...]:
    """Both parts, each as narrow as its share of delta asks for."""
    sizes = [search.guess for search in searches]
    floor = _UNRESOLVED * goal * math.fsum(sizes)
    for _ in range(_GUESSES):
        found = []
        for search, size in zip(searches, sizes, strict=True):
            share = size / max(math.fsum(sizes), TINY)
            width = min(_HALF * goal / max(share, _LEAST_SHARE), _COARSE_PART)
            query = replace(search.query, relative_width=width)
            aimed = replace(search, query=query, patient=True, ended=False)
            found.append(narrow(aimed, floor))
        searches = tuple(found)
        sizes = [min(search.bound.upper, 1.0) for search in searches]
    return searches


@dataclass(frozen=True, eq=False)
class TwoGrids:
    """What two grids have found.

    Fields: `bound`, around the answer; `halves`, the last searches for
    rare sums and for near losses: both, one, or none.
    """

    bound: Bound
    halves: tuple[Search, ...] = ()


def two_grids(
    losses: Losses, query: Query, known: Bound, guess: float
) -> TwoGrids:
    """Interval from near losses and far ones, each on its own grid.

    Parameters: `losses`, pairs and counts; `query`; `known`, an interval
    for the answer; `guess`, in it.
    Returns: a TwoGrids, its interval not wider than the known one.
    """
    goal, found = query.relative_width, TwoGrids(known)
    guess = rough_epsilon(losses, query, known, guess)
    for _ in range(_GUESSES):
        low, high = found.bound.lower, found.bound.upper
        value = min(max(guess, low), high)
        ask = Query(None, query.point(value)[0], goal)
        if query.delta is not None:
            low, high = query.delta / _UNKNOWN, query.delta * _UNKNOWN
        split, whole = choose_split(losses, ask, low, high)
        if split == math.inf:
            return found
        searches, ceiling = both_parts(losses, split, ask, whole)
        halves = narrow_both(searches, goal)
        new = bound_of_sum(halves, query, value, ceiling)
        found = TwoGrids(within(found.bound, new), halves)
        if found.bound.width <= goal or query.delta is None:
            break
        low, high = found.bound.lower, found.bound.upper
        guess = (low + min(high, 2 * low)) / 2
    return found


def with_two_grids(search: Search) -> Search:
    """The same search, its interval cut with that of two grids."""
    simple = simple_bound(search.losses, search.query)
    cut = cut_with(search, simple, "simple bounds")
    found = two_grids(search.losses, search.query, cut.bound, search.guess)
    cut = replace(cut, patient=True, halves=found.halves)
    return cut_with(cut, found.bound, "two grids")


def refine(search: Search, floor: float) -> Search:
    """Refine until narrow enough, or surely at most `floor`.

    On one grid; on two where that does not do, or will not.

    Parameters: `search`; `floor`, an answer that another direction
    reaches.
    Returns: the same search with a narrower `bound`.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> look = first_look([(GaussianPair(0.1), 100)], Query(1e-6, None, 1e-3))
    >>> search = refine(look, 0.0)
    >>> search.bound.contains(4.886554), search.bound.width < 1e-3
    (True, True)
    """
    ways = ["one grid", "two grids", "one grid"]
    for way in ways[1:] if seems_rare(search) else ways:
        wide = search.bound.width > search.query.relative_width
        if way == "one grid" and search.ended:
            break
        if way == "two grids":  # is it the tails' fault?
            wide &= search.hindered
        if wide and search.bound.upper > floor:
            one = way == "one grid"
            search = narrow(search, floor) if one else with_two_grids(search)
    return search


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


# --- One direction, all of it


def answer_at_once(losses: Losses, query: Query) -> Search | None:
    """What needs no search, as one that has not looked; None else.

    >>> from accountlib.worst_cases.noise import LaplacePair
    >>> found = answer_at_once([(LaplacePair(1.0), 2)], Query(None, 3.0, 1e-3))
    >>> found.bound, found.upper_from
    (Bound(lower=0.0, upper=0.0), 'known limits')
    """
    way: Way = "known limits"
    bound = known_bound(losses, query)
    if bound is None and len(losses) == losses[0][1] == 1:
        way, run = "single run", run_bound(losses[0][0], query)
        tiny = query.delta is None and run.upper < _NO_DIGITS
        bound = run if tiny or run.width <= query.relative_width else None
    if bound is None:
        return None
    blind = Search(losses, query, cells=(), order=math.nan, guess=math.nan)
    return replace(blind, bound=bound, lower_from=way, upper_from=way)


def bound_direction(look: Search, floor: float = 0.0) -> Search:
    """The interval of one direction that needs a search.

    Parameters: `look`, from `first_look`; `floor`, an answer that another
    direction reaches.
    """
    search, query = exclude(look, floor), look.query
    if search.bound.upper > floor:
        search = refine(search, floor)
    bound = cut_with_limits(search.bound, look.losses, query)
    search = with_bound(search, bound, "known limits")
    if bound.width <= query.relative_width or bound.upper <= floor:
        return search
    if look.count == 1:
        run = run_bound(look.losses[0][0], query)
        return cut_with(search, run, "single run")
    simple = simple_bound(look.losses, query)
    return cut_with(search, simple, "simple bounds")
