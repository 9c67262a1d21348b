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
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from accountlib.counting.composition import SIDES, Bound
from accountlib.counting.loss_tables import TINY
from accountlib.counting.rounding import log_peak
from accountlib.engine.grids import fitting_step
from accountlib.engine.one_round import NearPair
from accountlib.engine.one_sided import (
    MOST_POINTS,
    POWERS,
    SHARES,
    Losses,
    read_epsilon,
)
from accountlib.engine.saddle import (
    Cells,
    Query,
    choose_tilt,
    jumps,
    saddle,
    total_cumulants,
    within,
)
from accountlib.engine.search import Search
from accountlib.engine.single_runs import loss_ceiling, simple_bound
from accountlib.inputs import Floats
from accountlib.worst_cases.dominating_pairs import UNIT, DominatingPair

__all__ = [
    "near_cells",
    "grid_size",
    "least_order",
    "rough_half",
    "beside_atoms",
    "choose_split",
    "rough_epsilon",
    "added",
    "both_parts",
    "two_grids",
    "refine",
]

# --- Where to split


def near_cells(part: Cells, split: float) -> Cells:
    """The cells of losses up to a split, one of the edges.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 3, 1e-9)
    >>> bool(np.exp(near_cells(part, 1.0).log_p).sum() < 0.7)
    True
    """
    log_p = np.where(part.edges > split, -1e300, part.log_p)
    return replace(part, log_p=log_p, split=math.inf)


def grid_size(
    cells: Sequence[Cells], order: float, point: tuple[float, float]
) -> float:
    """Length of the window of a grid, roughly; more if one tilt is poor.

    Parameters: `cells` of all parts; `order` of the saddle point; `point`,
    epsilon and log delta.
    """
    tilt, excess, (below, above) = choose_tilt(cells, order, *point)
    at = np.array([tilt - below, tilt, tilt + above])
    moment = total_cumulants(cells, at)[0]
    reach = (moment[[0, 2]] - moment[1] + 30) / np.array([below, above])
    return float(np.sum(reach)) * math.exp(min(max(excess - 7, 0.0), 99.0))


def least_order(
    cells: Sequence[Cells], order: float, point: tuple[float, float]
) -> float:
    """The smallest order whose Chernoff bound is low enough, or `order`.

    Parameters: `cells` of all parts; `order` of the saddle point; `point`,
    epsilon and the log of a delta that need not be resolved.
    """
    orders = order * np.geomspace(1e-3, 1, 40)
    powers = total_cumulants(cells, orders)[0] - orders * point[0]
    powers += np.array([log_peak(x) for x in orders])
    low = np.flatnonzero(powers <= point[1])
    return float(orders[low[0]]) if len(low) > 0 else order


def rough_half(
    cells: Sequence[Cells], epsilon: float, goal: float
) -> tuple[float, float, float]:
    """Order, log of delta and slope of near losses or of rare sums."""
    order, log_delta = saddle(cells, Query(None, epsilon, goal))
    one, slope = jumps(cells, epsilon, 1.0)
    log_one = math.log(max(one, 1e-320))
    if cells[0].split < math.inf:
        return order, log_one if one > 0 else log_delta, max(slope, order)
    count = sum(part.count for part in cells)
    most, _ = jumps(cells, epsilon, 1 / count)
    log_delta = min(log_delta, math.log(max(most, 1e-320)))
    return order, max(log_delta, log_one), order


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


def choose_split(
    losses: Losses, query: Query, low: float = 0.0, high: float = 1.0
) -> tuple[float, float]:
    """The split for which the longer one of two grids is shortest.

    Parameters: `losses`, pairs and counts; `query` for a delta; `low`,
    `high`, what is known of it, roughly.
    Returns: (a loss, or inf if no split seems to help; delta, roughly).
    """
    epsilon, least = query.epsilon or 0.0, query.relative_width
    tries = np.append(POWERS[:200:6], epsilon * np.array(SHARES))
    tries = tries[tries > 1e-9]
    fine = epsilon * np.geomspace(0.02, 4, 250)  # one tilt is steep there
    cells = []
    for pair, count in losses:
        first = Cells.first(pair, count, 1e-320).edges
        edges = np.concatenate([first, tries, fine[fine > 1e-12]])
        cells.append(Cells.of(pair, count, np.unique(edges), 1e-320))
    top = min(float(part.edges[-1]) for part in cells)
    free = np.all([beside_atoms(pair, tries) for pair, _ in losses], axis=0)
    found, whole = [], 0.0
    for split in tries[free & (tries < top)]:
        near = [near_cells(part, split) for part in cells]
        if min(float(np.sum(np.exp(part.log_p))) for part in near) < 0.3:
            continue
        far = [replace(part, split=float(split)) for part in cells]
        frequent = sum(part.rare(np.zeros(1))[0, 0] for part in far)
        if frequent > 100:
            continue
        halves = [(x, *rough_half(x, epsilon, least)) for x in (near, far)]
        whole = min(whole, float(np.logaddexp(halves[0][2], halves[1][2])))
        found.append((float(split), halves))
    best, choice = 64.0 * MOST_POINTS, math.inf
    least_log, most_log = (math.log(max(x, 1e-320)) for x in (low, high))
    whole = min(max(whole, least_log), most_log)
    floor = whole + math.log(1e-3 * least)
    for split, halves in found:
        sizes = []
        for half, order, log_delta, slope in halves:
            if half[0].split < math.inf and log_delta < whole - 1:
                if halves[0][2] < whole - 1:  # several jumps, perhaps
                    log_delta = whole
            if log_delta < floor:
                order = slope = least_order(half, order, (epsilon, floor))
            share = math.exp(min(max(log_delta - whole, -700.0), 0.0))
            goal = min(0.5 * least / max(share, 1e-3), 0.5)
            width = goal / slope * (1 + order) / (1 + slope)
            step = fitting_step(half, order, width)
            point = epsilon, min(max(floor, log_delta), whole)
            sizes.append(grid_size(half, order, point) / step)
        if max(sizes) < best:
            best, choice = max(sizes), split
    low_enough = [x for x, halves in found if halves[0][2] < floor]
    if choice == math.inf and epsilon > 0:  # the far part at any price
        choice = max(low_enough, default=math.inf)
    return choice, math.exp(max(whole, -700.0))


def rough_epsilon(
    losses: Losses, query: Query, known: Bound, guess: float
) -> float:
    """Where near and far losses together reach delta, roughly."""
    low, high = known.lower, min(known.upper, 1e3 * known.lower)
    if query.delta is None or not 0 < low < high:
        return guess
    for _ in range(8):
        middle = math.sqrt(low * high)
        ask = Query(None, middle, query.relative_width)
        more = choose_split(losses, ask)[1] > query.delta
        low, high = (middle, high) if more else (low, middle)
        if high < 1.1 * low:
            break
    return math.sqrt(low * high)


# --- Both parts together


def added(
    searches: Sequence["Search"],
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
    room, ends = max(1e-3 * query.relative_width, 1e-15), [0.0, math.inf]
    for k, side in enumerate(SIDES[::-1]):
        totals = [x.totals[side] for x in searches if side in x.totals]
        complete = len(totals) == len(searches)
        if totals and (complete or side == "lower"):
            ends[k] = read_epsilon(totals, query.delta, value, order, room)
    return Bound(ends[0], max(ends[1], ceiling))


def both_parts(
    losses: Losses, split: float, query: Query, whole: float
) -> tuple[list[Search], float]:
    """Searches for the delta of rare sums and of near losses, with guesses.

    Parameters: `losses`, pairs and counts; `split`; `query` for a delta;
    `whole`, that delta, roughly.
    Returns: (searches, a loss that sums of near losses without a search do
    not exceed).
    """
    epsilon, goal = query.epsilon or 0.0, query.relative_width
    near = [(NearPair(pair, split), n) for pair, n in losses]
    ceiling = loss_ceiling(near).upper
    searches = [Search(losses, query, split)]
    if ceiling > epsilon:
        searches.append(Search(near, query))
    for search in searches:
        _, log_delta, search.slope = rough_half(search.cells, epsilon, goal)
        search.expect(min(math.exp(min(max(log_delta, -700.0), 0.0)), whole))
    if sum(search.guess for search in searches) < whole / 3:
        searches[0].guess = whole
    floor = 1e-3 * goal * math.fsum(search.guess for search in searches)
    for search in searches:
        if search.guess < floor:  # it need not be resolved
            point = epsilon, math.log(floor)
            search.order = least_order(search.cells, search.order, point)
            search.guess, search.slope = floor, search.order
    return searches, 0.0 if len(searches) > 1 else ceiling


def two_grids(
    losses: Losses, query: Query, known: Bound, guess: float
) -> Bound:
    """Interval from near losses and far ones, each on its own grid.

    Parameters: `losses`, pairs and counts; `query`; `known`, an interval
    for the answer; `guess`, in it.
    Returns: a Bound, not wider than the known one.
    """
    goal, bound = query.relative_width, known
    guess = rough_epsilon(losses, query, known, guess)
    for _ in range(2):
        value = min(max(guess, bound.lower), bound.upper)
        ask = Query(None, query.point(value)[0], goal)
        low, high = bound.lower, bound.upper
        if query.delta is not None:
            low, high = query.delta / 3, query.delta * 3
        split, whole = choose_split(losses, ask, low, high)
        if split == math.inf:
            return bound
        searches, ceiling = both_parts(losses, split, ask, whole)
        sizes = [search.guess for search in searches]
        floor = 1e-3 * goal * math.fsum(sizes)
        for _ in range(2):
            for search, size in zip(searches, sizes, strict=True):
                share = size / max(math.fsum(sizes), TINY)
                search.aim(min(0.5 * goal / max(share, 1e-3), 0.5), floor)
            sizes = [min(search.bound.upper, 1.0) for search in searches]
        bound = within(bound, added(searches, query, value, ceiling))
        if bound.width <= goal or query.delta is None:
            break
        guess = (bound.lower + min(bound.upper, 2 * bound.lower)) / 2
    return bound


def refine(search: Search, floor: float) -> None:
    """Refine until narrow enough, or surely at most `floor`.

    On one grid; on two where that does not do, or will not.

    Parameters: `search`, whose `bound` is refined; `floor`, an answer that
    another direction reaches.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> search = Search([(GaussianPair(0.1), 100)], Query(1e-6, None, 1e-3))
    >>> refine(search, 0.0)
    >>> search.bound.contains(4.886554), search.bound.width < 1e-3
    (True, True)
    """
    ways = ["one grid", "two grids", "one grid"]
    for way in ways[1:] if search.seems_rare() else ways:
        wide = search.bound.width > search.query.relative_width
        if way == "one grid" and search.ended:
            break
        if way == "two grids":  # is it the tails' fault?
            wide &= search.hindered
        if not wide or search.bound.upper <= floor:
            continue
        if way == "one grid":
            search.narrow(floor)
            continue
        losses, query = search.losses, search.query
        search.parted = True
        simple = within(search.bound, simple_bound(losses, query))
        found = two_grids(losses, query, simple, search.guess)
        search.bound = within(simple, found)
