# Generated from notebooks/engine/grids.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Where the grid lies

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\Delta$, $b$ | `step`, `offset` | step of the grid, and the loss where it begins |
| $x_0$ | `touch`, `x0` | loss where the tangent next to $b$ touches |
| $\gamma$ | `rate` | sampling rate |
| $T$ | `count` | number of steps of one kind |
| $\lambda$, $K$ | `tilt`, `log_scale` | tilt, and log of the mean that undoes it |
| $\tau_1$, $\tau$ | `tail` | tilted mass that is cut from one step, from all steps |
| $\varphi(s)$ | – | $(1 - e^{\varepsilon - s})_+$, what a loss $s$ weighs |
| $w$, $m$, $\rho$ | `widths`, `mass`, `rough` | width of a cell, its tilted mass, density of tilted mass |
| $\kappa$ | `factor` | factor between $w$ and $\rho^{-1/3}$ |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from accountlib.counting.composition import SIDES
from accountlib.counting.loss_tables import (
    HAIR,
    LARGEST_LOSS,
    TINY,
    BoundKind,
    GridTooFine,
    upper_share,
)
from accountlib.counting.tangents import convex_hull, lower_share
from accountlib.engine.one_sided import (
    FINE_GRID,
    MOST_POINTS,
    TiltedTable,
    tilt_masses,
)
from accountlib.engine.saddle import Cells, predicted_width
from accountlib.inputs import Floats
from accountlib.worst_cases.dominating_pairs import UNIT, DominatingPair

__all__ = [
    "fitting_step",
    "cut_tails",
    "landmarks",
    "heaviest",
    "grid_offset",
    "aligned_step",
    "cell_levels",
    "graded_points",
    "cell_masses",
    "bound_tables",
]

# --- The step to begin with


def fitting_step(
    cells: Sequence[Cells],
    order: float,
    width: float,
) -> float:
    """The largest step whose predicted width is the wanted one.

    Parameters: `cells` of all parts; `order` of the saddle point;
    `width` of the interval for epsilon.
    """
    width *= 0.75
    count = sum(part.count for part in cells)
    shortest = math.sqrt(8 * width / ((1 + order) * count))
    steps = shortest * np.geomspace(1, 1e6, 256)
    good = predicted_width(cells, order, steps) <= width
    step = float(steps[max(int(np.count_nonzero(good)) - 1, 0)])
    return min(step, 1 / (1 + order))


# --- Cutting the tails


def cut_tails(
    part: Cells, tilt: float, log_tail: float
) -> tuple[float, float, float]:
    """Two losses with little tilted mass outside, and a bound of it.

    Parameters: `part`; `tilt`; `log_tail`, logarithm of the tilted mass
    that may be cut on each side, of one step.
    Returns: (low, high, tail); `tail` is an upper bound of the tilted
    mass below low and between high and the last edge of `part`.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> low, high, tail = cut_tails(part.finer(1.0, 1e-30), 1.0, -20.0)
    >>> tail < 1e-8
    True
    """
    _, most = part.tilted_masses(tilt)
    below = np.cumsum(most)
    above = np.append(np.cumsum(most[::-1])[::-1][1:], 0.0)
    small = math.exp(log_tail)
    i = int(np.count_nonzero(below <= small)) - 1
    if i < 0 and math.isfinite(part.pair.loss_range[0]):
        i, below = 0, np.zeros(1)  # nothing lies below the smallest loss
    i, j = max(i, 0), int(np.count_nonzero(above > small))
    tail = 1.001 * float(below[i] + above[j])
    return float(part.edges[i]), float(part.edges[j]), tail


# --- Finding the beginning


def landmarks(pair: DominatingPair) -> tuple[float, ...]:
    """Losses that should lie on the grid: atoms, if they are few.

    Parameters: `pair`.
    Returns: its atoms, if they are at most four; two neighbours, if all
    are evenly spaced; else nothing.

    >>> from accountlib.worst_cases.noise import LaplacePair
    >>> landmarks(LaplacePair(2.0))
    (-0.5, 0.5)
    """
    if pair.lattice is not None:
        return pair.lattice
    if pair.atom_count > 1000:
        return ()
    atoms = pair.atoms
    if len(atoms) <= 4:
        return atoms
    gaps = np.diff(atoms)
    even = float(np.max(gaps) - np.min(gaps)) < 1e-9 * float(gaps[0])
    return atoms[:2] if even else ()


def heaviest(part: Cells, order: float, epsilon: float) -> tuple[float, ...]:
    """The heavy atoms of a list that is not evenly spaced.

    Parameters: `part`; `order`, the tilt that decides what is heavy;
    `epsilon`: single losses above it are heavy, too.
    Returns: at most five losses that increase, or nothing.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> heaviest(Cells.first(GaussianPair(1.0), 3, 1e-9), 1.0, 0.0)
    ()
    """
    few, none = part.pair.atom_count <= 4, part.pair.atom_count == 0
    if none or not part.pair.discrete or (landmarks(part.pair) and not few):
        return ()
    mass, _ = part.tilted_masses(order)
    first = int(np.argmax(np.where(part.far, 0, mass)))
    others = part.far if np.any(part.far) else np.arange(len(mass)) != first
    gain = np.exp(part.log_p) * -np.expm1(np.minimum(epsilon - part.loss, 0))
    scores = [np.where(others, x, 0) for x in (mass, gain)]
    score = np.maximum(*(x / max(np.max(x), TINY) for x in scores))
    places = np.argsort(-score)[:4]
    least = 1e-3 if few else 0.02
    chosen = part.loss[[first, *places[score[places] > least]]]
    atoms = np.array(part.pair.atoms)
    nearest = np.searchsorted((atoms[1:] + atoms[:-1]) / 2, chosen)
    found = tuple(sorted(set(atoms[nearest].tolist())))
    return found if len(found) > 1 else ()


def grid_offset(
    pair: DominatingPair, step: float, heavy: tuple[float, ...] = ()
) -> tuple[float, float | None]:
    r"""A loss that should be a grid point, and where its tangent touches.

    Formula: $b = \ln(P(L \le x_0)/Q(L \le x_0))$ with
    $x_0 \approx b + \Delta/2$; for pairs with a largest loss mirrored.

    Parameters: `pair`; `step`; `heavy`, atoms to prefer.
    Returns: (b, x0), with x0 None where the middle of the cell will do.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> from accountlib.worst_cases.sampling import SampledPair
    >>> pair = SampledPair(GaussianPair(1.0), 0.01)
    >>> offset, touch = grid_offset(pair, 0.1)
    >>> abs(offset) < 1e-3 and 0.05 < touch < 0.1
    True
    """
    low, high = pair.loss_range
    marks = heavy or landmarks(pair)
    if marks:
        return marks[0], None
    if math.isinf(low) and math.isinf(high):
        return 0.0, None
    sign = 1 if math.isfinite(low) else -1
    end = low if sign > 0 else high
    # Try 39 places for x0; `body` is on its near side, `beyond` on the other.
    x0 = end + sign * step * np.linspace(0.1, 2, 39)
    widths = np.full(38, 0.05 * step)
    p, q = pair.interval_masses(x0[::sign], widths, "right")
    masses = np.stack([p, q])[:, ::sign]
    body = np.maximum(np.cumsum(masses, axis=1)[:, :-1], TINY)
    beyond = np.cumsum(masses[:, ::-1], axis=1)[:, -2::-1]
    b = np.log(body[0]) - np.log(body[1])
    # Depth of the tangent and of the curve at the next grid point.
    alpha = np.exp(np.clip(b + sign * step, -700, 700))
    place = np.round(20 * (sign * (b - end) / step + 1)) - 2
    k = np.clip(place, 0, 38).astype(int)
    depth = alpha * (body[1, k] - body[1]) - (body[0, k] - body[0])
    height = beyond[0, k] - alpha * beyond[1, k]
    part = sign * (x0 - b) / step
    good = (part > 0.45) & (part < 0.98) & (body[1] > TINY)
    good &= sign * depth < 0.4 * sign * height
    first = int(np.argmax(good))
    return (float(b[first]), float(x0[first])) if good[first] else (end, None)


def aligned_step(
    step: float,
    pairs: Sequence[DominatingPair],
    heavy: Sequence[tuple[float, ...]] = (),
    least: float = 0.7,
) -> float:
    r"""A step of nearly the given size whose grid meets the atoms.

    Formula: among $d/k$, with d the largest distance of an atom from the
    first one of its pair, the step between `least` and 1 times `step` that
    misses the atoms least; where there is nothing but atoms, and all on
    one lattice, its spacing.

    Parameters: `step`; `pairs`, whose atoms are meant; `heavy`, more of
    them, from `heaviest`; `least`, a part of the step.
    Returns: a step; the same one if there are no atoms, more than 100 of
    them, or too many candidates.

    >>> from accountlib.worst_cases.dominating_pairs import DiscretePair
    >>> from accountlib.worst_cases.noise import LaplacePair
    >>> aligned_step(0.4, [LaplacePair(1.0)])
    0.4
    >>> round(aligned_step(0.4, [DiscretePair((0.6, 0.4), (0.4, 0.6))]), 4)
    0.8109
    """
    own = map(landmarks, pairs)
    lists = [x or y for x, y in zip_longest(heavy, own, fillvalue=())]
    atoms = [x - places[0] for places in lists for x in places]
    largest = max(map(abs, atoms), default=0.0)
    only_atoms = all(x.discrete and landmarks(x) for x in pairs)
    only_atoms &= all(
        len(some) in (0, x.atom_count)
        for x, some in zip(pairs, heavy, strict=False)
    )
    if largest == 0 or len(atoms) > 100 or largest > 20_000 * step:
        return step
    endless = any(pair.lattice is not None for pair in pairs)
    if largest < step and (endless or not only_atoms):
        return step
    first = math.ceil(largest / step)
    most = min(math.ceil(first / least), 4_000_000 // len(atoms))  # memory
    parts = np.arange(1, max(most, first + 1) + 1)
    ratio = np.outer(atoms, parts / largest)
    missed = np.max(np.abs(ratio - np.round(ratio)), axis=0)
    exact = np.flatnonzero(missed < 1e-9)
    if only_atoms and len(exact) > 0:
        return largest / int(parts[exact[0]])
    best = np.argmin((missed / parts)[first - 1 :])
    return largest / int(parts[first - 1 + best])


# --- Coarser cells where little lies


def cell_levels(part: Cells, tilt: float, step: float) -> NDArray[np.int64]:
    r"""How often the step may be doubled in each cell of a rough look.

    Formula: $2^j \Delta \le \kappa \rho^{-1/3}$, no wider than $1/(4 (1 +
    \lambda))$, and a fifth of that unless there would be too many.

    Parameters: `part`; `tilt`; `step` ($\Delta$).
    Returns: one whole number (j) per cell.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> int(np.min(cell_levels(part, 1.0, 1e-4)))
    0
    """
    rough, _ = part.tilted_masses(tilt)
    rough = rough / np.sum(rough)
    length = np.diff(part.edges, prepend=part.edges[0]) / step
    reach = float(part.edges[-1] - part.edges[0])
    width = min(max(0.05 / (1 + tilt), 1e-4 * reach), 0.25 / (1 + tilt))
    widest = max(width / step, 1.0)
    with np.errstate(divide="ignore"):
        wide = np.minimum((rough / np.maximum(length, 1)) ** (-1 / 3), 1e18)
    for factor in np.geomspace(4, 1e-6, 60):
        level = np.log2(np.clip(factor * wide, 1, widest)).astype(np.int64)
        if float(rough @ np.where(level > 0, 4.0**level, 0)) < 0.03:
            return np.asarray(level)
    return np.zeros(len(rough), dtype=np.int64)


def graded_points(
    part: Cells,
    tilt: float,
    step: float,
    offset: float,
    low: float,
    high: float,
) -> NDArray[np.int64]:
    r"""Grid points from low to high, wider apart where little lies.

    Parameters: `part`, `tilt`; `step`, `offset` of the fine grid; `low`,
    `high`, losses to be covered.
    Returns: increasing whole numbers i; the losses are offset + i step.
    Raises: GridTooFine for too many of them.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> len(graded_points(part, 1.0, 1e-4, 0.0, -5.0, 8.0)) < 90_000
    True
    """
    first, last = (low - offset) / step, (high - offset) / step
    room = 1e-9 + 4 * UNIT * max(abs(first), abs(last))
    first, last = math.floor(first - room), math.ceil(last + room)
    last = max(last, first + 1)
    if last - first > 2**60:
        raise GridTooFine(step, last - first)
    few = FINE_GRID
    if part.pair.atom_count > 0:  # may be rounded across a grid point
        first, last, few = first - 1, last + 1, MOST_POINTS
    enough = 4 * part.pair.atom_count  # two grid points beside each, and more
    if part.pair.discrete and enough < min((last - first) / 4, MOST_POINTS):
        atoms = np.floor((np.array(part.pair.atoms) - offset) / step)
        beside = np.add.outer(np.clip(atoms, first, last), np.arange(-1, 3))
        ends = np.array([first, first + 1, last - 1, last])
        places = np.append(beside.ravel().astype(np.int64), ends)
        return np.unique(np.clip(places, first, last))
    if last - first < few:
        return np.arange(first, last + 1)
    level = cell_levels(part, tilt, step)
    new = np.flatnonzero(np.diff(level)) + 1  # where a stretch begins
    ends = np.clip((part.edges[new - 1] - offset) / step, first, last)
    ends = np.append(np.floor(ends).astype(np.int64), last)
    widths = 2 ** level[np.append(0, new)]
    size = float(np.sum(np.diff(ends, prepend=first) / widths))
    if size > MOST_POINTS:
        raise GridTooFine(step, int(size))
    parts, place = [np.array([first])], first
    for end, width in zip(ends, widths, strict=True):
        if end > place:  # its last cell may be shorter
            inner = np.arange(place + width, end, width)
            parts.append(np.append(inner, end))
            place = int(end)
    return np.concatenate(parts)


# --- Both tables of one loss


def cell_masses(
    pair: DominatingPair, edges: Floats, split: float = math.inf
) -> list[Floats]:
    """Masses under P and Q of the intervals between edges.

    Parameters: `pair`; `edges`, n increasing losses; `split`.
    Returns: one array of 2 times n + 1 masses; with a finite split two,
    for the losses up to it and for the others.

    >>> from accountlib.worst_cases.dominating_pairs import DiscretePair
    >>> pair = DiscretePair((0.25, 0.75), (0.75, 0.25))
    >>> [x[0].tolist() for x in cell_masses(pair, np.array([2.0]), 0.5)]
    [[0.25, 0.0], [0.75, 0.0]]
    """
    if split == math.inf:
        masses = pair.interval_masses(edges, np.diff(edges), "right")
        return [np.stack(masses)]
    k = int(np.searchsorted(edges, split))
    on_edge = k < len(edges) and edges[k] == split
    finer = edges if on_edge else np.insert(edges, k, split)
    near: Floats = np.stack(
        pair.interval_masses(finer, np.diff(finer), "right")
    )
    far: Floats = near.copy()
    near[:, k + 1 :] = far[:, : k + 1] = 0.0
    if on_edge:
        return [near, far]
    return [np.delete(near, k + 1, axis=1), np.delete(far, k, axis=1)]


def bound_tables(
    part: Cells,
    step: float,
    tilt: float,
    log_tail: float,
    sides: Sequence[BoundKind] = SIDES,
    heavy: tuple[float, ...] = (),
) -> list[TiltedTable]:
    """One-sided tables of one loss, cut for `part.count` steps.

    Formula: `upper_share` and `lower_share`, tilted.

    Parameters: `part`; `step`; `tilt`; `log_tail`, logarithm of the
    tilted mass that all steps together may lack on each side; `sides`;
    `heavy`, atoms that should lie on the grid.
    Returns: one table per side, valid for the loss of a single step.
    Raises: GridTooFine for a grid that is too long.

    >>> from accountlib.engine.one_sided import read_delta
    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30).finer(2.0, 1e-30)
    >>> upper, lower = bound_tables(part, 0.05, 2.0, -20.0)
    >>> read_delta(lower, 1.0) < 0.1269367 < read_delta(upper, 1.0)
    True
    """
    pair = part.pair
    low, high, tail = cut_tails(part, tilt, log_tail - math.log(part.count))
    bottom, top = pair.loss_range
    low, high = max(low, bottom), min(high, top)
    offset, touch = grid_offset(pair, step, heavy)
    if pair.atom_count > 0:  # rounded or not, at the upper end of their cells
        far = max(abs(low), abs(high), abs(offset))
        offset += 4 * UNIT * far + pair.atom_error / 2
    points = graded_points(part, tilt, step, offset, low, high)
    losses = offset + step * points
    edges = np.empty(2 * len(points) - 1)
    edges[::2] = losses
    edges[1::2] = offset + step / 2 * (points[1:] + points[:-1])
    if touch is not None:
        k = 2 * int(np.searchsorted(points, 0))
        k += 1 if touch > offset else -1
        if 0 < k < len(edges) - 1 and edges[k - 1] < touch < edges[k + 1]:
            edges[k] = touch
    if np.any(np.diff(edges) <= 0):  # beyond the digits of floats
        raise GridTooFine(step, len(points))
    pieces = cell_masses(pair, edges, part.split)
    left = [p[0] if low <= bottom else 0.0 for p, _ in pieces]  # rounding
    right = sum(p[-1] for p, _ in pieces) if high >= top else 0.0
    for piece in pieces:
        piece[:, 0] = 0.0
    widths = np.diff(losses)
    coarse = losses[-1] > LARGEST_LOSS or step < 1e-14
    largest = max(abs(offset), float(np.max(np.abs(losses[[0, -1]]))))
    rounded = 8 * UNIT * largest
    before: list[tuple[Floats, Floats] | None] = [None] * len(pieces)
    hair = 0.0
    if pair.atom_count > 0:
        rounded += pair.atom_error
        hair = min(1.5 * rounded, HAIR * step)
        before = [
            (p[1:-1], q[1:-1])
            for p, q in cell_masses(pair, losses - hair, part.split)
        ]
    tables = []
    errors = [pair.excess_error(p, q) for p, q in pieces]
    for side in sides:
        sign = 1 if side == "upper" else -1
        outward = rounded if sign > 0 else rounded + hair
        grids = []
        every = zip(pieces, errors, before, left, strict=True)
        for (p, q), wrong, inner, start in every:
            mass = p[1:-1:2] + p[2:-1:2]
            share: Floats
            if sign > 0 and step >= 1e-14:
                # With a smaller e^epsilon the share is larger: still valid.
                capped = np.minimum(edges, LARGEST_LOSS)
                share = upper_share(widths, capped, p, q, wrong)
            elif coarse:
                share = mass if sign > 0 else np.zeros(len(mass))
            else:
                share = lower_share(widths, edges, p, q, wrong, inner, hair)
            grid = np.append(mass - share, 0.0)
            grid[1:] += share
            if sign > 0:
                grid[0] += start
            else:
                grid[-1] += p[-1]
                grid = grid if coarse else convex_hull(losses, grid)
            grids.append(grid)
        masses = np.stack(grids)
        masses = masses * (1 + sign * pair.mass_error(masses))
        log_scale = 0.0
        if np.max(masses) > 0:
            masses, log_scale = tilt_masses(losses, masses, tilt, sign)
        infinity = pair.infinite_mass[0]
        if sign > 0:
            infinity += part.beyond + right
        elif infinity < 1e-300:  # digits may be lost
            infinity = 0.0
        split = len(pieces) > 1
        tables.append(
            TiltedTable(
                step=step,
                offset=offset + sign * outward,
                tilt=tilt,
                log_scale=log_scale + 2 * sign * tilt * outward,
                tail=tail if sign > 0 else 0.0,
                infinity_mass=min(1.0, infinity * (1 + sign * 4 * UNIT)),
                bound=side,
                index=points,
                mass=masses.sum(axis=0) * (1 + sign * split * UNIT),
                pieces=tuple(masses) if split else (),
            )
        )
    return tables
