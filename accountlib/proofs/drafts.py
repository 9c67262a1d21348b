# Generated from notebooks/proofs/drafts.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Where to put the places

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\lambda$, $\eta$ | `tilt`, `theta` | tilt, and exponent of an end of the window |
| $\rho$, $w$ | `rough / length`, `wide` | density of tilted mass; distance of places |
| $c$ | – | price of a place, in units of error |
| $i$, $k$ | `i` | place of a sum; place of a table |
| $\mu$ | – | distance of two normal laws |
| $T_j$ | `count` | how often law $j$ occurs |
| $m_{jk}$ | `masses` | tilted mass of law $j$ at place $k$ |
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from accountlib.counting.loss_tables import TINY, GridTooFine
from accountlib.engine.grids import cut_tails, grid_edges, landmarks
from accountlib.engine.rare_steps import least_order
from accountlib.engine.saddle import Cells
from accountlib.engine.search import Search, first_step
from accountlib.proofs.balls import Law, Masses, Undecided, ball
from accountlib.proofs.certificates import End
from accountlib.proofs.sums import Grid, farthest, runs_of
from accountlib.worst_cases.dominating_pairs import UNIT

__all__ = [
    "widest",
    "place_levels",
    "graded_places",
    "draft_grid",
    "beyond_places",
    "with_far_places",
    "with_low_places",
    "window_ends",
    "gentler",
    "has_atoms",
]

# --- Chosen numbers

_LOG_TAIL = -60.0  # log of the tilted mass beyond the finer places
_LOOSE = 0.05  # part of the tilted mass outside of the core, at most
_DECAY = 60.0  # log by which the core lets high frequencies fall
_WIDEST = 0.25  # tilt times distance of places, at most
_FIRST_WIDTH = 2.5  # 1 / square of the first step as a part of the engine's
_ADDED = 0.3  # of the error of the step: what coarser places may add to it
_MOST_DRAWN = 40_000  # places for one kind of loss
_FAR = 0.1  # of the width: what losses beyond all places cost
_LEAST_FAR = 1e-9  # part of delta that they cost, at least
_MOST_FAR = 0.1  # the same, at most
_GENTLE = 8.0  # times the step, where a goal is easy
_MOST_BEYOND = 20_000  # places beyond the others, for a rare large loss

# --- Places for a loss


def widest(search: Search, step: float) -> float:
    """The largest distance of places: a finer grid is finer everywhere."""
    part = min(_FIRST_WIDTH * (step / search.step) ** 2, 1.0)
    return _WIDEST * part / (1 + search.tilt)


def place_levels(
    part: Cells, tilt: float, most: float, room: float, core: bool
) -> NDArray[np.int64]:
    r"""How often the step may be doubled in each cell of a rough look.

    Formula: $w \propto \rho^{-1/3}$, so that coarser places add `room`
    times the error that the step alone makes; 0 in the core, if wanted.
    `most` is the widest distance, in steps.
    """
    rough, _ = part.tilted_masses(tilt)
    rough = rough / np.sum(rough)
    length = np.diff(part.edges, prepend=part.edges[0] - 1.0)
    length = np.maximum(length, TINY)
    outside = min(_LOOSE, math.exp(-_DECAY / part.count)) / 2
    low, high = np.searchsorted(np.cumsum(rough), (outside, 1 - outside))
    inside = slice(low, high + 1) if core else slice(0)
    rough[inside] = 0.0
    with np.errstate(divide="ignore"):
        wide = np.minimum((rough / length) ** (-1 / 3), 1e30)
    factors = np.geomspace(1e-9, 1e9, 300)
    widths = np.clip(np.multiply.outer(factors, wide), 1, max(most, 1.0))
    fitting = np.count_nonzero((widths**2 - 1) @ rough <= room)
    chosen = widths[max(int(fitting) - 1, 0)]
    level: NDArray[np.int64] = np.log2(chosen).astype(np.int64)
    level[inside] = 0
    return level


def graded_places(
    part: Cells,
    levels: Sequence[int],
    step: float,
    offset: float,
    ends: Sequence[float],
) -> list[int]:
    """Places whose distance is the step, doubled as often as cells allow."""
    place, last = (math.floor((x - offset) / step) for x in ends)
    edges = [int(x) for x in np.floor((part.edges - offset) / step)]
    places, cell = [], 0
    while place <= last:
        places.append(place)
        if len(places) > _MOST_DRAWN:
            raise GridTooFine(step, len(places))
        while cell < len(edges) - 1 and edges[cell] <= place:
            cell += 1
        level, beyond = levels[cell], cell
        while beyond < len(edges) - 1 and edges[beyond] < place + 2**level:
            beyond += 1
            level = min(level, levels[beyond])
        place = (place // 2**level + 1) * 2**level
    return [*places, place]


def draft_grid(
    search: Search, kind: int, step: float, core: bool, side: End
) -> Grid:
    """Places for one kind of loss, where the engine looks for it.

    Atoms lie a hair below places for an upper bound, else above.
    """
    part, heavy, tilt = search.cells[kind], search.heavy[kind], search.tilt
    log_tail = _LOG_TAIL - search.excess - math.log(part.count)
    pair, (low, high, _) = part.pair, cut_tails(part, tilt, log_tail)
    ends = max(low, pair.loss_range[0]), min(high, pair.loss_range[1])
    if pair.discrete:
        offset, found, _ = grid_edges(part, step, tilt, ends, heavy)
        places = found.tolist()
    else:
        offset = (heavy or landmarks(pair) or (0.0,))[0]
        others = search.count / (len(search.cells) * part.count)
        room = 1.0 if core else _ADDED * others
        most = widest(search, step) / step
        levels = place_levels(part, tilt, most, room, core).tolist()
        places = graded_places(part, levels, step, offset, ends)
    if pair.atom_count > 0:
        atoms = np.floor((np.array(pair.atoms) - offset) / step + 0.5)
        beside = np.add.outer(atoms.astype(np.int64), [-1, 0, 1])
        hair = 4 * UNIT * max(*map(abs, ends), abs(offset))
        hair += pair.atom_error / 2
        if pair.discrete:  # where they are above their atoms already
            offset -= hair
        else:
            places = sorted({*places, *beside.ravel().tolist()})
        offset += hair if side == "upper" else -hair
    return Grid(float(offset), float(step), runs_of(places))


def beyond_places(search: Search, spread: float, delta: float) -> float:
    """What one step may have beyond its last place, as told by chords.

    Parameters: `search`; `spread`, the step of the grid; `delta`.
    """
    part = search.query.relative_width * (spread / search.step) ** 2
    part = min(max(_FAR * part, _LEAST_FAR), _MOST_FAR)
    return part * delta / search.count


def with_far_places(
    grid: Grid, law: Law, search: Search, enough: float
) -> Grid:
    """The grid with more places above, until little can be beyond."""
    apart = max(1, int(widest(search, grid.step) / grid.step))
    last, more = grid.places[-1], 0
    while more < _MOST_BEYOND:
        height = law.height(grid.loss(last + more * apart))
        if height - law.infinite[0] < enough:
            break
        more += 1 + more // 8
    beyond = ((last + apart, apart, more),) if more else ()
    return replace(grid, runs=grid.runs + beyond)


def with_low_places(grid: Grid, law: Law, search: Search, kind: int) -> Grid:
    """The grid with more places below, until little moves up to the first."""
    part, tilt = search.cells[kind], search.tilt
    log_tail = _LOG_TAIL - search.excess - math.log(part.count)
    apart = max(1, int(widest(search, grid.step) / grid.step))
    most = float(part.cumulants(np.array([tilt]))[0, 0]) / part.count
    first, more = grid.places[0], 0
    while more < _MOST_BEYOND:
        loss = grid.loss(first - more * apart)
        below = law.total[0] - law.event(loss)[0]
        if (tilt * loss - most - log_tail).exp() * below < 1:
            break
        more += 1 + more // 8
    beyond = ((first - more * apart, apart, more),) if more else ()
    return replace(grid, runs=beyond + grid.runs)


# --- The window


def window_ends(
    parts: Sequence[tuple[Masses, int]],
    log_out: float,
    thetas: Sequence[float],
) -> tuple[int, int]:
    """First and last place of a window; outside is little tilted mass.

    Parameters: `parts`, tilted masses of each law with its count;
    `log_out`, logarithm of what may be beyond one end; `thetas`, the
    exponents of the lower and of the upper end, for each place.

    >>> coin = [(-1, ball(0.5)), (1, ball(0.5))]
    >>> window_ends([(coin, 10)], -2.0, (1.0, 0.5))
    (-7, 7)
    """
    ends = []
    for sign, theta in zip((-1, 1), thetas, strict=True):
        growth = ball(0)
        for masses, count in parts:
            eta = sign * ball(theta)
            grown = sum((m * (eta * i).exp() for i, m in masses), ball(0))
            growth += count * grown.log()
        if not growth.rad() < 1:
            raise Undecided("masses are not known well enough")
        needed = (float(growth.upper()) - log_out) / theta
        ends.append(min(farthest(parts, sign), math.ceil(needed)))
    return -ends[0], ends[1]


# --- A goal that is far away


def gentler(search: Search, epsilon: float, delta: float) -> Search:
    """The search for a delta that is far above the truth.

    With the smallest order that shows it, and a step for this order.
    """
    before = math.inf
    while search.order < before / 2:
        before = search.order
        order = least_order(search.cells, before, (epsilon, math.log(delta)))
        search = replace(search, order=order, slope=order)
    search = replace(search, guess=delta)
    step = _GENTLE * first_step(search, search.query.relative_width)
    return replace(search, step=step)


def has_atoms(search: Search) -> bool:
    """Whether some losses have atoms, which should lie on places."""
    return any(pair.atom_count for pair in search.pairs)
