# Generated from notebooks/engine/search.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Intervals as narrow as asked

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $T$ | `count` | number of steps, of all kinds together |
| $\Delta$ | `step` | grid step, in nats; of the last grid in a `Search` |
| $\lambda$ | `order`, `tilt` | order of the saddle point, $> 0$; tilt of a grid, near it |
| $\theta$ | `thetas` | exponents of the two ends of its window |
| $\varepsilon$, $\delta$ | `guess`, `value` | what is asked, as it is guessed |
| $s$ | – | standard deviation of the loss of one step |
| $w$, $w'$ | `now`, `width` | width as predicted, and as measured |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from accountlib.counting.composition import SIDES, Bound
from accountlib.counting.loss_tables import BoundKind, GridTooFine
from accountlib.engine.grids import (
    aligned_step,
    bound_tables,
    fitting_step,
    heaviest,
    landmarks,
)
from accountlib.engine.one_round import add_tables
from accountlib.engine.one_sided import (
    MOST_WORK,
    POOR_EXCESS,
    Losses,
    OneSided,
)
from accountlib.engine.saddle import (
    Cells,
    Query,
    choose_tilt,
    jump_delta,
    predicted_width,
    saddle,
    spaced,
    total_cumulants,
    within,
)
from accountlib.engine.single_runs import chernoff_delta, large_steps
from accountlib.engine.transforms import Spectrum
from accountlib.worst_cases.dominating_pairs import DominatingPair

__all__ = [
    "Way",
    "Search",
    "rough_answer",
    "first_cells",
    "first_look",
    "with_guess",
    "seems_rare",
    "first_step",
    "with_atoms",
    "with_tilt",
    "with_bound",
    "cut_with",
    "log_rare_share",
    "transform_work",
    "with_ends",
    "start_search",
    "middle_answer",
    "next_step",
    "try_step",
    "next_grid",
    "is_done",
    "gains_little",
    "beyond_floats",
    "narrow",
    "exclude",
]

# --- Searching

# The first look
_LOOKS = 6  # looks; after three or four the order hardly moves
_SURE = 1e-6  # part of delta that the first cells may miss, at most
_SEEN = 0.1  # part of the spare error that later cells may miss
_NEW_CELLS = 1e-2  # budgets shrunk by more need cells made anew
_SAME_ORDER = 0.8, 1.25  # a quotient of two orders that ends the looking
_FEW_BEYOND = 1e-4  # part of the width that losses above the cells may cost
# The first step
_CAREFUL = 0.7  # of the predicted one, for many kinds: one grid is enough
_STEEPEST = 15.0  # tilt times step; with more, one grid point is all
_CERTAIN = 2.0  # log of the room for tails, besides all that was spared
_UNLIKELY = -25  # log of the mass of atoms that need not lie on the grid
_MOST_ACROSS = 1000  # steps between the first and the last of the atoms
_TILT_TRIES = 4  # tries, each with a quarter of the order before
_STEPS = 6  # tries for each of them
_COARSER = 4.0  # times a step whose grid was too long
_PAST = 1.2  # times a step that was too fine: far enough from it
# Refinement
_ROUNDS = 8  # refinements; half as many for a part, and after two grids
_MOST_STUCK = 3  # refinements with little gain, one after the other
_GAIN = 0.8  # the new gap over the old one, if the gain is little
_SHARPER = 0.8  # aim at this part of the width: the prediction is rough
_FINEST = 1 / 64  # of the old step, at once
_FINEST_BLIND = 1 / 4  # of the old step, where it said next to nothing
_LITTLE = 0.9  # relative width of an interval that says next to nothing
_SOMETHING = 0.5  # relative width of one whose middle is a good guess
_TRIES = 96  # steps that are compared
_MOVED = 5.0, 13  # factor that the order may move by, places to look at
_UNLUCKY = 0.6  # of the old step, after a grid with little gain
_NO_FINER = 0.95  # of the old step: not worth another grid
_NEAR_STEP = 0.7  # of a step, that one which meets the atoms may have
_FARTHER = 0.15  # times that, after each grid with little gain
# When one grid will not do
_OFTEN = 1.5  # times delta from single steps: rare ones decide
_WORSE = 1.5  # times POOR_EXCESS, where work is cheap
_SOME_WORK = MOST_WORK / 5  # of one search; with more, work is not cheap
_FEW_KINDS = 20  # of steps; with more of them, more work is cheap
_ALL_WORK = 8 * MOST_WORK  # of one search; with more, it ends
# The other direction
_GAP = 0.4  # part of the gap between two directions that a grid may cost
_COARSEST = 0.1  # relative width of such a grid, at most

Way = Literal[
    "nothing",
    "Chernoff's inequality",
    "one grid",
    "two grids",
    "simple bounds",
    "single run",
    "known limits",
]


@dataclass(frozen=True, eq=False)
class Search:
    r"""What is known of the answer in one direction, and how it was found.

    Fields: `losses`, pairs with their counts; `query`; `cells`, the rough
    look; `split`: only sums with a loss above it are meant (inf: all).
    Guessed: `order` of the saddle point, `guess` of the answer, `slope` of
    log delta, negated, where rare steps make it steep (else 0).
    Chosen for the last grid: `step` ($\Delta$; 0 before the first one),
    `tilt` ($\lambda$), its `excess`, exponents `thetas` of the window,
    `heavy` atoms on it. Found: `bound`, and what its ends come from;
    `totals`, tables of the sum; `table_sizes`, masses of one step of each
    kind; `halves`, searches for near losses and rare sums; `too_fine`, the
    largest step whose grid was too long; `work`, multiplications so far.
    To be done: `patient`, go on where two grids may be better; `ended`,
    one grid gives no more.
    """

    losses: Losses
    query: Query
    cells: tuple[Cells, ...]
    order: float
    guess: float
    split: float = math.inf
    slope: float = 0.0
    step: float = 0.0
    tilt: float = 0.0
    excess: float = 0.0
    thetas: tuple[float, float] = (0.0, 0.0)
    heavy: tuple[tuple[float, ...], ...] = ()
    bound: Bound = Bound(0.0, math.inf)
    lower_from: Way = "nothing"
    upper_from: Way = "nothing"
    totals: tuple[OneSided, ...] = ()
    table_sizes: tuple[int, ...] = ()
    halves: tuple["Search", ...] = ()
    too_fine: float = 0.0
    work: float = 0.0
    patient: bool = False
    ended: bool = False

    @property
    def count(self) -> int:
        """Number of steps, of all kinds together (T)."""
        return sum(n for _, n in self.losses)

    @property
    def pairs(self) -> list[DominatingPair]:
        """The pairs, without their counts."""
        return [pair for pair, _ in self.losses]

    @property
    def hindered(self) -> bool:
        """Whether tails made the grid coarse, or the tilt poor."""
        return self.too_fine > 0 or self.excess > POOR_EXCESS or self.step == 0


# --- To look


def rough_answer(cells: Sequence[Cells], query: Query) -> tuple[float, float]:
    """Order of the saddle point, and a guess of the answer.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> order, guess = rough_answer([part], Query(None, 3.0, 1e-3))
    >>> 2.3 < order < 2.7 and 5e-4 < guess < 5e-3
    True
    """
    order, found = saddle(cells, query)
    if query.epsilon is not None:
        count = sum(part.count for part in cells)
        most, _ = jump_delta(cells, query.epsilon, 1 / count)
        found = min(found, math.log(max(most, 1e-320)))
        return order, math.exp(min(max(found, -700.0), 0.0))
    if found > 0:
        return order, found
    # delta is near delta(0): look there
    order, _ = saddle(cells, Query(None, 0.0, query.relative_width))
    return order, 1e-3 / (1 + order)


def first_cells(
    losses: Losses, split: float, budget: float
) -> tuple[Cells, ...]:
    """The coarsest look at each kind of step, as far up as it matters."""
    return tuple(Cells.first(pair, n, budget, split) for pair, n in losses)


def first_look(
    losses: Losses, query: Query, split: float = math.inf
) -> Search:
    """A search that has only looked: cells, order and guess.

    Parameters: `losses`, pairs of a dominating pair and its count;
    `query`; `split`, to search for sums with a loss above it.
    Returns: a Search whose interval is [0, inf].

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> search = first_look([(GaussianPair(0.1), 100)], Query(1e-6, None, 0.1))
    >>> search.bound, 4 < search.guess < 6
    (Bound(lower=0.0, upper=inf), True)
    """
    count = sum(n for _, n in losses)
    delta = 1e-300 if query.delta is None else query.delta
    budget = min(max(_SURE * delta / count, 1e-320), 1e-3)
    first = cells = first_cells(losses, split, budget)
    order = guess = 1.0
    least = math.inf  # a look that was cut lower saw nothing
    for _ in range(_LOOKS):
        before = order
        order, guess = rough_answer(cells, query)
        if query.delta is None:
            delta = 1e-3 * guess
        spare = query.log_spare(guess, order, query.relative_width)
        needed = max(_SEEN * math.exp(spare) * delta / count, 1e-320)
        needed = min(needed, least)
        anew = first is not cells and needed < _NEW_CELLS * budget
        if _SAME_ORDER[0] < order / before < _SAME_ORDER[1] and not anew:
            break
        some, least = (first, needed) if anew else (cells, least)
        cells = tuple(part.finer(order, needed) for part in some)
        budget = needed
    return Search(
        losses=losses,
        query=query,
        cells=cells,
        order=order,
        guess=guess,
        split=split,
        heavy=((),) * len(losses),
        patient=count == 1 or split < math.inf,
    )


def with_guess(search: Search, guess: float) -> Search:
    """The same search with another guess of delta."""
    room = _FEW_BEYOND * search.query.relative_width
    needed = max(room * guess / search.count, 1e-320)
    cells = search.cells
    if any(part.beyond > needed for part in cells):
        first = first_cells(search.losses, search.split, needed)
        cells = tuple(part.finer(search.order, needed) for part in first)
    return replace(search, guess=guess, cells=cells)


def seems_rare(search: Search) -> bool:
    """Whether one tilt cannot reach where the answer seems to be."""
    if search.count == 1 or search.guess == 0:
        return False
    epsilon, log_delta = search.query.point(search.guess)
    often = _OFTEN * math.exp(log_delta)
    if sum(part.count * part.above(epsilon) for part in search.cells) > often:
        p, q = large_steps(search.losses, np.array([epsilon]))
        first = float(p[0]) - math.exp(min(epsilon + math.log(q[0]), 1.0))
        if first > often:
            return True
    _, excess, _ = choose_tilt(search.cells, search.order, epsilon, log_delta)
    return excess > _WORSE * POOR_EXCESS


# --- To choose


def first_step(search: Search, goal: float) -> float:
    """A step whose predicted width is the wanted one, or less."""
    order, slope = search.order, max(search.order, search.slope)
    width = search.query.width_of_epsilon(search.guess, slope, goal)
    width *= (1 + order) / (1 + slope)
    step = fitting_step(search.cells, order, width)
    step *= _CAREFUL if len(search.cells) > _FEW_KINDS else 1.0
    span = 0.0  # of atoms that matter; they should lie on the grid
    for part in search.cells:
        seen = part.loss[part.log_p > _UNLIKELY]
        marks = landmarks(part.pair)
        if marks and len(seen) > 0:
            reach = float(np.ptp(seen))
            span = max(span, min(marks[-1] - marks[0], reach))
    return max(step, span / _MOST_ACROSS)


def with_atoms(search: Search) -> Search:
    """The same search, with the heavy atoms that its grids should meet."""
    epsilon, _ = search.query.point(search.guess)
    heavy = (heaviest(part, search.order, epsilon) for part in search.cells)
    return replace(search, heavy=tuple(heavy))


def with_tilt(search: Search, step: float, value: float) -> Search:
    """The same search, with a tilt for a step where the answer is `value`."""
    order = min(search.order, _STEEPEST / step)
    point = search.query.point(value)
    tilt, excess, thetas = choose_tilt(search.cells, order, *point)
    return replace(search, tilt=tilt, excess=excess, thetas=thetas)


# --- To compute


def with_bound(search: Search, bound: Bound, way: Way) -> Search:
    """The same search with another interval; ends that moved are by `way`."""
    old = search.bound
    return replace(
        search,
        bound=bound,
        lower_from=way if bound.lower != old.lower else search.lower_from,
        upper_from=way if bound.upper != old.upper else search.upper_from,
    )


def cut_with(search: Search, found: Bound, way: Way) -> Search:
    """The same search, its interval cut with another one of the truth.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> search = first_look([(GaussianPair(0.1), 100)], Query(1e-6, None, 0.1))
    >>> search = cut_with(search, Bound(4.0, math.inf), "simple bounds")
    >>> search.bound, search.lower_from, search.upper_from
    (Bound(lower=4.0, upper=inf), 'simple bounds', 'nothing')
    """
    return with_bound(search, within(search.bound, found), way)


def log_rare_share(cells: Sequence[Cells], tilt: float) -> float:
    """Log of the share of sums that the tables are about, roughly."""
    if all(math.isinf(part.split) for part in cells):
        return 0.0  # about all of them
    at = np.array([tilt])
    whole = sum(float(part.cumulants(at)[0, 0]) for part in cells)
    return float(total_cumulants(cells, at)[0, 0]) - whole


def transform_work(sizes: Sequence[int], total: OneSided) -> float:
    """Multiplications for a total, roughly; `sizes` of the tables."""
    if not isinstance(total, Spectrum):
        return 0.0
    kept = len(total.frequency)
    by_fft = 10 * len(sizes) * total.size * math.log2(total.size)
    return 100 * kept + min(sum(sizes) * kept, by_fft)


def with_ends(
    search: Search,
    step: float,
    value: float,
    goal: float,
    sides: Sequence[BoundKind],
) -> Search:
    """The interval cut with ends from one grid.

    Parameters: `search`, with the tilt for this grid; `step`; `value`, the
    answer, roughly; `goal`, a relative width; `sides`, the ends.
    Raises: GridTooFine for a grid that is too long.
    """
    spare = search.query.log_spare(value, search.order, goal)
    log_tail = spare - search.excess - _CERTAIN
    log_tail += log_rare_share(search.cells, search.tilt)
    log_each = log_tail - math.log(max(len(search.cells) / _FEW_KINDS, 1.0))
    made = [  # tables of one step, for each kind
        bound_tables(part, step, search.tilt, log_each, sides, heavy)
        for part, heavy in zip(search.cells, search.heavy, strict=True)
    ]
    work = search.work
    ends: dict[BoundKind, float] = {"lower": 0.0, "upper": math.inf}
    totals = [x for x in search.totals if x.bound not in sides]
    for side, tables in zip(sides, zip(*made, strict=True), strict=True):
        sizes = tuple(int(np.count_nonzero(table.mass)) for table in tables)
        parts = list(zip(tables, (x.count for x in search.cells), strict=True))
        total = add_tables(parts, log_tail, search.thetas)
        totals.append(total)
        work += transform_work(sizes, total)
        ends[side] = search.query.read(total, value, search.order)
    if ends["lower"] > ends["upper"]:
        raise ArithmeticError(f"lower exceeds upper: {ends!r}")
    found = replace(
        search, step=step, totals=tuple(totals), table_sizes=sizes, work=work
    )
    return cut_with(found, Bound(ends["lower"], ends["upper"]), "one grid")


def start_search(
    search: Search, goal: float, sides: Sequence[BoundKind]
) -> Search:
    """A first interval; none if every grid is too long."""
    for _ in range(_TILT_TRIES):
        search = with_atoms(search)
        least, tried = _PAST * search.too_fine, 0.0
        step = max(first_step(search, goal), least)
        for _ in range(_STEPS):
            new = aligned_step(step, search.pairs, search.heavy)
            if new > tried:
                search = with_tilt(search, new, search.guess)
                try:
                    found = with_ends(search, new, search.guess, goal, sides)
                except GridTooFine:
                    tried = new
                else:
                    return replace(found, too_fine=max(found.too_fine, tried))
            step = _COARSER * max(step, new)
        search = replace(search, order=search.order / 4)
    return search


# --- To refine


def middle_answer(search: Search) -> tuple[float, float]:
    """Where to aim the next grid, and how wide the interval is."""
    value, width = search.bound.upper, search.bound.width
    if not 0 < value < math.inf:
        return search.guess, 1.0
    if width < _SOMETHING:
        value = (search.bound.lower + search.bound.upper) / 2
    elif search.split < math.inf:
        value = search.bound.lower
    return value, width


def next_step(
    search: Search, order: float, goal: float, width: float
) -> float:
    """The step that should give the wanted width: as predicted, scaled.

    Parameters: `search`, with a step; `order` of the saddle point now;
    `goal`, the relative width that is wanted; `width`, that of now.
    """
    least = _FINEST if width < _LITTLE else _FINEST_BLIND
    steps = search.step * np.append(1.0, spaced(least, 0.9, _TRIES))
    now, *widths = predicted_width(search.cells, order, steps)
    most = _SHARPER * now * goal / width
    good = np.count_nonzero(np.array(widths) <= most)
    return float(steps[max(int(good), 1)])


def try_step(
    search: Search,
    order: float,
    step: float,
    value: float,
    goal: float,
    part: float,
) -> Search:
    """One more grid, its step near the given one; ended if none is finer.

    Parameters: `search`; `order`, the new one; `step`, where to begin;
    `value`, the answer, roughly; `goal`, a relative width; `part`, the
    least part of the step that will do.
    """
    old, before = search.step, search.order
    search = replace(search, order=order)
    while True:
        new = aligned_step(step, search.pairs, search.heavy, part)
        if new > _NO_FINER * old:
            return replace(search, ended=True)
        search = with_tilt(search, new, value)
        try:
            return with_ends(search, new, value, goal, SIDES)
        except GridTooFine:
            part = _NEAR_STEP
        if search.order != before:  # its grid was not too long
            search = replace(search, order=before)
        else:
            search = replace(search, too_fine=max(search.too_fine, new))
            step = _PAST * math.sqrt(step * old)


def next_grid(search: Search, goal: float, stuck: int) -> Search:
    """One refinement; `stuck` is how many have gained little before it."""
    value, width = middle_answer(search)
    epsilon, _ = search.query.point(value)
    at, before = Query(None, epsilon, goal), search.order
    factor, places = _MOVED
    order, _ = saddle(
        search.cells, at, before / factor, before * factor, places
    )
    step = next_step(search, order, goal, width)
    if stuck:  # a grid may be unlucky with atoms: farther away
        step = min(step, _UNLUCKY * search.step)
    step = max(step, _PAST * search.too_fine)
    part = _NEAR_STEP * _FARTHER**stuck
    return try_step(search, order, step, value, goal, part)


def is_done(search: Search, goal: float, floor: float) -> bool:
    """Whether one grid should stop here: narrow, low, or poor."""
    bound = search.bound
    if bound.width <= goal or bound.upper <= floor or search.step == 0:
        return True
    some = _SOME_WORK * max(1.0, len(search.losses) / _FEW_KINDS)
    hard = search.too_fine > 0 or search.work > some
    poor = POOR_EXCESS if hard else _WORSE * POOR_EXCESS
    return not search.patient and search.excess > poor


def gains_little(old: Search, new: Search) -> bool:
    """Whether the new interval is hardly shorter than the old one."""
    new_gap = new.bound.upper - new.bound.lower
    gain = new_gap / (old.bound.upper - old.bound.lower)
    return gain > _GAIN and middle_answer(old)[1] < _LITTLE


def beyond_floats(search: Search) -> Search:
    """Ended, if Chernoff's inequality shows that delta is below 1e-290."""
    epsilon = search.query.epsilon
    if not epsilon or search.guess >= 1e-290 or search.bound.lower > 0:
        return search
    most = chernoff_delta(search.cells, epsilon)
    found = cut_with(search, Bound(0.0, most), "Chernoff's inequality")
    return replace(found, ended=most < 1e-290)


def narrow(search: Search, floor: float) -> Search:
    """Refine, on one grid, until narrow enough or surely at most `floor`.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> look = first_look([(GaussianPair(0.1), 100)], Query(1e-6, None, 1e-3))
    >>> search = narrow(look, 0.0)
    >>> search.bound.contains(4.886554), search.bound.width < 1e-3
    (True, True)
    """
    goal, stuck = max(search.query.relative_width, 1e-13), 0
    search = beyond_floats(search)
    if search.ended:
        return search
    if search.step == 0 or search.bound.lower == 0:
        search = start_search(search, goal, SIDES)
    short = search.patient and search.count > 1
    for _ in range(_ROUNDS // 2 if short else _ROUNDS):
        if is_done(search, goal, floor):
            return search
        if stuck == _MOST_STUCK or search.work > _ALL_WORK:
            break
        old, search = search, next_grid(search, goal, stuck)
        if search.ended:
            return search
        stuck = stuck + 1 if gains_little(old, search) else 0
    return replace(search, ended=True)


def exclude(search: Search, floor: float) -> Search:
    """Show, if it is likely, that the answer is at most `floor`."""
    gap = 1 - search.guess / floor if floor > 0 else 0.0
    goal = min(max(_GAP * gap, search.query.relative_width), _COARSEST)
    return start_search(search, goal, ("upper",)) if gap > 0 else search
