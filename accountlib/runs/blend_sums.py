# Generated from notebooks/runs/blend_sums.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""A sum of mixtures

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $m_{ix}$, $M_i$ | `rows`, `totals` | tilted mass of row $i$ (a corner above, a law below) at place $x$, and its sum |
| $w_{ji}$, $s_{ji}$ | `weights`, `shares` | weight of row $i$ in kind $j$; $w_{ji}/\sum_i w_{ji} M_i$ |
| $K$, $K_j$ | `log_scale`, `logs` | logarithms that undo the tilt: of all rows, and of kind $j$ |
| $n_j$ | `counts` | number of steps of kind $j$ |
| $\hat m_i$, $z_i$ | –, `z` | transform of a row; the same without its sum |
| $D_i$, $\eta$ | –, `thetas` | how far the transform of a row has surely decayed; exponent of Chernoff's inequality |
| $p_i$ | – | part of row $i$ in a mixture, $s_{ji} M_i$ |
| $\lambda$ | `tilt`, `order` | tilt; order of the saddle point |
| $m$, $l$, $S$ | – | a corner, a step that is weaker, and a length: as on page-blends |
| $\rho$ | `taken` | largest part that is taken away from a mass of $m$ |
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len
from scipy.special import erfinv

from accountlib.counting.any_pair import HalfCells, grid_masses
from accountlib.counting.composition import SIDES, Bound
from accountlib.counting.loss_tables import BoundKind, GridTooFine
from accountlib.engine.grids import (
    cut_tails,
    grid_edges,
    half_cells,
    infinity_beyond,
)
from accountlib.engine.one_round import (
    Circle,
    Power,
    bare_sum,
    prefers_fft,
    sum_spectrum,
)
from accountlib.engine.one_sided import (
    LOSS_PLACES,
    Losses,
    TiltedTable,
    tilt_masses,
)
from accountlib.engine.saddle import Cells, Query, saddle, within
from accountlib.engine.search import (
    Search,
    first_look,
    first_step,
    seems_rare,
    with_tilt,
)
from accountlib.engine.transforms import (
    Spectrum,
    fast_transform,
    highest_frequency,
    log_one_plus,
    slow_transform,
    tail_window,
)
from accountlib.inputs import Floats
from accountlib.runs.blends import (
    Aim,
    Cell,
    Kinds,
    all_cells,
    node_pair,
    variation,
)
from accountlib.runs.mechanisms import Gaussian, merge_gaussians
from accountlib.runs.releases import (
    Adjacency,
    AdjacencyName,
    FullBatch,
    Poisson,
    Release,
    check_adjacency,
)
from accountlib.worst_cases.dominating_pairs import (
    UNIT,
    DominatingPair,
    ExcessError,
)

__all__ = [
    "Blend",
    "blended",
    "combined",
    "Made",
    "masses_above",
    "masses_below",
    "halves_of",
    "blend_tables",
    "blend_logs",
    "blend_power",
    "add_blends",
    "half_variation",
    "cells_like",
    "blend_ends",
    "few_like",
    "blend_direction",
    "split_kinds",
    "blend_bound",
]

# --- One scale for all kinds


class Blend(NamedTuple):
    """One side of all kinds of a cell: mixtures of a few tables.

    Fields: `mean`, the table of the mean kind; `rows`, the masses of the
    nodes; `shares`, for each kind what it has of them; `counts`.
    """

    mean: TiltedTable
    rows: Floats
    shares: Floats
    counts: NDArray[np.int64]

    @property
    def nodes(self) -> list[tuple[TiltedTable, float]]:
        """The tables of the nodes, each with its share of all steps."""
        weights = (self.counts @ self.shares) * self.rows.sum(axis=1)
        return [
            (replace(self.mean, mass=row), float(weight))
            for row, weight in zip(self.rows, weights, strict=True)
            if weight > 0
        ]


def blended(
    table: TiltedTable,
    rows: Floats,
    weights: Floats,
    counts: NDArray[np.int64],
) -> Blend:
    r"""Mixtures of rows, each scaled to the sum 1.

    Formula: $K_j = K + \ln \sum_i w_{ji} M_i$, with shares
    $w_{ji}/\sum_i w_{ji} M_i$ of the rows, rounded outward.

    Parameters: `table`, with K in its `log_scale`, without masses; `rows`,
    of sums M; `weights` (w), a row for each kind; `counts`.
    """
    sums = weights @ rows.sum(axis=1)
    logs = table.log_scale + np.log(sums)
    size = 32 + 8 * (abs(table.log_scale) + np.abs(np.log(sums)))
    sign, count = table.sign, int(np.sum(counts))
    shares = weights / sums[:, None] * (1 + sign * UNIT * size)[:, None]
    moved = sign * 8 * UNIT * float(np.max(np.abs(logs)))
    room = 1 + UNIT * (len(counts) + 32)  # for a window that is long enough
    mean = replace(
        table,
        log_scale=math.fsum(counts * logs) / count + moved,
        mass=(counts / count) @ shares @ rows * room,
    )
    return Blend(mean, rows, shares, counts)


# --- Tables of nodes


def combined(row: Floats, parts: Sequence[HalfCells]) -> HalfCells:
    """Half cells of a law that is combined from others, with its errors."""
    size = np.abs(row)
    p, q = (row @ np.stack([getattr(x, k) for x in parts]) for k in "pq")
    errors = [x.error for x in parts]
    middle = errors[0].middle
    of_p, of_q, common = (
        size @ np.stack([getattr(x, k) for x in errors])
        for k in ("p", "q", "common")
    )
    for scale, part in zip(size, parts, strict=True):
        away = abs(part.error.middle - middle)
        of_p = of_p + scale * (away * part.error.common + 8 * UNIT * part.p)
        of_q = of_q + scale * 8 * UNIT * part.q
    error = ExcessError(of_p, of_q, common, middle)
    p, q = np.maximum(p, 0), np.maximum(q, 0)
    return HalfCells(parts[0].edges, p, q, error)


Made = dict[DominatingPair, tuple[HalfCells, float]]


def masses_above(cell: Cell, made: Made) -> Floats:
    """Masses on the grid for the pairs above, a row for each.

    Parameters: `cell`; `made`, the half cells of each pair, and its P-mass
    below them.
    """
    rows = []
    for pair in cell.above:
        cells, below = made[pair]
        row = grid_masses(cells, np.diff(cells.edges[::2]), "upper")
        row[0] += below
        rows.append(row * (1 + pair.mass_error(row)))
    return np.stack(rows)


def masses_below(cell: Cell, made: Made) -> Floats:
    """Masses on the grid for the laws below, a row for each."""
    parts, rows = [made[pair][0] for pair in cell.below], []
    error = cell.below[0].mass_error
    for law, taken in zip(cell.laws, cell.taken.tolist(), strict=True):
        cells = combined(law, parts)
        row = grid_masses(cells, np.diff(cells.edges[::2]), "lower")
        wrong = (1 + taken) / (1 - taken) * (error(row / law[0]) + 16 * UNIT)
        rows.append(np.maximum(row * (1 - wrong), 0))
    return np.stack(rows)


def halves_of(
    pairs: Sequence[DominatingPair], model: Cells, edges: Floats, whole: bool
) -> Made:
    """Half cells of several pairs on one grid, without atoms.

    Parameters: `pairs`; `model`, a look at one of them; `edges`; `whole`,
    whether what lies below the edges counts: else it was cut.
    """
    made: Made = {}
    for pair in dict.fromkeys(pairs):
        (halves,), below = half_cells(replace(model, pair=pair), edges, 0.0)
        made[pair] = halves, float(below[0]) * whole
    return made


def blend_tables(
    cell: Cell,
    parts: Sequence[Cells],
    step: float,
    tilt: float,
    log_tail: float,
    sides: Sequence[BoundKind] = SIDES,
) -> list[Blend]:
    """Tables of all kinds of a cell, on one grid.

    Parameters: `cell`; `parts`, a look at each pair above; `step`, `tilt`;
    `log_tail`, logarithm of the tilted mass that all steps together may
    lack on each side; `sides`.
    Raises: GridTooFine for a grid that is too long.
    """
    strongest, (bottom, top) = parts[-1], parts[-1].pair.loss_range
    each = log_tail - math.log(cell.count)
    cuts = [cut_tails(part, tilt, each) for part in parts]
    low, high = min(x[0] for x in cuts), max(x[1] for x in cuts)
    ends = max(low, bottom), min(high, top)
    offset, points, edges = grid_edges(strongest, step, tilt, ends)
    pairs = cell.above + (cell.below if "lower" in sides else ())
    made = halves_of(pairs, strongest, edges, ends[0] <= bottom)
    rights = [float(made[x.pair][0].p[-1]) * (ends[1] >= top) for x in parts]
    beyond = max(map(infinity_beyond, parts, rights, [1] * len(parts)))
    rounded = 8 * UNIT * max(abs(offset), abs(edges[0]), abs(edges[-1]))
    blends = []
    for side in sides:
        weights = cell.weights[SIDES.index(side)]
        sign = 1 if side == "upper" else -1
        mass = (masses_above if sign > 0 else masses_below)(cell, made)
        if not np.all(np.any(mass > 0, axis=1)):
            raise GridTooFine(step, len(points))
        rows, log_scale = tilt_masses(edges[::2], mass, tilt, sign)
        table = TiltedTable(
            step=step,
            offset=offset + sign * rounded,
            tilt=tilt,
            log_scale=log_scale + 2 * sign * tilt * rounded,
            tail=max(x[2] for x in cuts) if sign > 0 else 0.0,
            infinity_mass=beyond if sign > 0 else 0.0,
            bound=side,
            index=points,
            mass=rows[0],
        )
        blends.append(blended(table, rows, weights, cell.counts))
    return blends


# --- The sum

_KINDS_AT_ONCE = 128  # rows of one product


def blend_logs(
    blend: Blend, z: NDArray[np.complex128], wrong: Floats
) -> tuple[NDArray[np.complex128], Floats, Floats]:
    """Sums of all kinds: logarithms of transforms, error bounds, sizes.

    Parameters: `blend`; `z`, `wrong`, transforms of its rows minus their
    masses, and bounds of their errors.
    """
    logs = np.zeros(z.shape[1], complex)
    lost, added = np.zeros((2, z.shape[1]))
    totals, room = blend.rows.sum(axis=1), wrong + 64 * UNIT * np.abs(z)
    for first in range(0, len(blend.counts), _KINDS_AT_ONCE):
        some = slice(first, first + _KINDS_AT_ONCE)
        shares, counts = blend.shares[some], blend.counts[some]
        total = (shares @ totals)[:, None]
        log_total = np.log(total)
        one, error = log_one_plus(
            shares @ z / total, shares @ room / total, np.abs(log_total)
        )
        one += log_total
        logs += counts @ one
        lost += counts @ (error + 64 * UNIT)
        added += counts @ np.abs(one)
    return logs, lost, added


def blend_power(blends: Sequence[Blend], circle: Circle, fast: bool) -> Power:
    """Logarithm of the transform of the sum of all steps.

    Parameters: `blends`; `circle`, with its highest frequency; `fast`,
    whether to use an FFT.
    """
    places = (circle.highest or 0) + 1
    logs = np.zeros(places, complex)
    lost, added = np.zeros((2, places))
    middle = kinds = 0
    for blend in blends:
        center = int(blend.mean.index[np.argmax(blend.mean.mass)])
        found = []
        for row in blend.rows:
            table = replace(blend.mean, mass=row)
            if fast:
                z, wrong = fast_transform(table, center, circle.size)
                found.append((z[:places], wrong[:places]))
            else:
                size, last = circle.size, places - 1
                found.append(slow_transform(table, center, size, last))
        z, wrong = (np.stack(x) for x in zip(*found, strict=True))
        parts = blend_logs(blend, z, wrong)
        logs, lost, added = (
            x + y for x, y in zip((logs, lost, added), parts, strict=True)
        )
        middle += int(np.sum(blend.counts)) * center
        kinds += len(blend.counts)
    none = np.zeros(places)
    return Power(logs, lost, added, None, none, none, middle, kinds)


def add_blends(
    blends: Sequence[Blend], log_tail: float, thetas: tuple[float, float]
) -> Spectrum:
    """One side of the sum of all steps, by its transform.

    Parameters: `blends`, all of one side, step and tilt; `log_tail`,
    `thetas`, as for `add_tables`.
    Raises: GridTooFine if the transforms are too much work.
    """
    means = [(x.mean, int(np.sum(x.counts))) for x in blends]
    nodes = [node for x in blends for node in x.nodes]
    step = blends[0].mean.step
    first, last = tail_window(
        means, log_tail, (thetas[0] * step, thetas[1] * step)
    )
    size = max(last - first + 1, 2)
    needed = math.log(size) - log_tail + 2.0
    highest, rest = highest_frequency(nodes, size, needed)
    fast = prefers_fft(nodes, size, highest, log_tail)
    if fast:
        size = next_fast_len(size, real=True)
        needed = math.log(size) - log_tail + 2.0
        highest, rest = highest_frequency(nodes, size, needed)
    circle = Circle(first, size, False, highest, needed, rest)
    power = blend_power(blends, circle, fast)
    tail = 2.02 * math.exp(log_tail)
    return sum_spectrum(power, bare_sum(means, tail), circle)


# --- An interval from one grid

_BEYOND_LOOK = 0.1  # part of the spare error that later losses may cost
_SURELY = 2.0  # log of the room for tails, besides all that was spared
_FEW_CELLS = 20  # more of them share the room for tails


def half_variation(pair: DominatingPair) -> float:
    """How far P and Q are apart on positive losses: for comparisons."""
    p, q = pair.interval_masses(np.zeros(1), np.zeros(0), "right")
    return float(p[1] - q[1])


def cells_like(
    pair: DominatingPair, count: int, model: Cells, budget: float
) -> Cells:
    """A rough look at a pair, in the cells of a pair that is like it.

    Parameters: `pair`, without atoms, its `count`; `model`; `budget`, as
    for `Cells.of`.
    """
    more = LOSS_PLACES[LOSS_PLACES > model.edges[-1]]
    edges = np.append(model.edges, more)
    for end, sign in zip(pair.loss_range, (1, -1), strict=True):
        if math.isfinite(end):  # nothing lies beyond it
            beyond = end - sign * 1e-9 * (1e-3 + abs(end))
            edges = np.append(edges[sign * edges > sign * end], beyond)
    return Cells.of(pair, count, np.unique(edges), budget)


def blend_ends(
    look: Search,
    cells: Sequence[Cell],
    step: float,
    value: float,
    goal: float,
    sides: Sequence[BoundKind] = SIDES,
) -> Bound:
    """An interval from one grid, for kinds in cells.

    Parameters: `look`, at a few steps like them, with a tilt; `cells`;
    `step`, `value`, `goal`, `sides` as for `with_ends`.
    Raises: GridTooFine for a grid that is too long.
    """
    query = look.query
    spare = query.log_spare(value, look.order, goal)
    log_tail = spare - look.excess - _SURELY
    log_each = log_tail - math.log(max(len(cells) / _FEW_CELLS, 1.0))
    count = sum(cell.count for cell in cells)
    log_delta = query.point(value)[1]
    budget = max(_BEYOND_LOOK * math.exp(spare + log_delta) / count, 1e-320)
    models = {half_variation(part.pair): part for part in look.cells}
    made = []
    for cell in cells:
        size = half_variation(cell.above[-1])
        model = models[min(models, key=lambda x: abs(x - size))]
        parts = [
            cells_like(pair, cell.count, model, budget) for pair in cell.above
        ]
        tilt = look.tilt
        made.append(blend_tables(cell, parts, step, tilt, log_each, sides))
    ends: dict[BoundKind, float] = {"lower": 0.0, "upper": math.inf}
    for side, blends in zip(sides, zip(*made, strict=True), strict=True):
        total = add_blends(blends, log_tail, look.thetas)
        ends[side] = query.read(total, value, look.order)
    if ends["lower"] > ends["upper"]:
        raise ArithmeticError(f"lower exceeds upper: {ends!r}")
    return Bound(ends["lower"], ends["upper"])


# --- As narrow as asked

_SAMPLE = 10  # kinds that stand for all of them in a look


def few_like(kinds: Kinds, add: bool) -> Losses:
    """A few kinds of steps that are like all of them, roughly."""
    order = np.argsort(kinds.variation * kinds.rate)
    found = []
    for some in np.array_split(order, min(_SAMPLE, len(order))):
        part = kinds.some(some)
        weights = part.steps / np.sum(part.steps)
        noise = 1 / (math.sqrt(8) * erfinv(weights @ part.variation))
        rate = math.sqrt(weights @ part.rate**2)
        pair = node_pair(float(noise), rate, add)
        found.append((pair, int(np.sum(part.steps))))
    return found


_COARSE = 0.1  # width of one that only excludes a direction, at most
_OF_GAP = 0.4  # part of the gap between two directions that it may cost
_INTERVALS = 5  # intervals at most
_OF_CELLS = 0.5  # part of the width that cells may cost, as predicted
_OF_GRID = 0.13  # the same for a grid: a second one would cost more
_BETTER = 0.5  # of the width before: else not only cells are to blame
_NARROWER = 0.8  # aim at this part of the width: the prediction is rough
_NEAR_ORDERS = 5.0, 13  # factor that the order may move by; places


def blend_direction(
    kinds: Kinds, others: Losses, look: Search, add: bool, floor: float
) -> Bound:
    """An interval for one direction.

    Parameters: `kinds`; `others`, pairs without atoms that stay as they
    are; `look`, at a few steps like them; `add`; `floor`, an answer that
    another direction reaches.
    Returns: an interval around the truth, wider than asked where this is
    no good way.
    """
    goal, value = look.query.relative_width, look.guess
    aim = of_cells = goal
    bound, before, blamed = Bound(0, math.inf), math.inf, False
    sides: Sequence[BoundKind] = SIDES
    if value < floor:
        aim = max(min(_OF_GAP * (1 - value / floor), _COARSE), goal)
        of_cells, sides = aim, ("upper",)
    for _ in range(_INTERVALS):
        epsilon, _ = look.query.point(value)
        width = look.query.width_of_epsilon(value, look.order, of_cells)
        target = Aim(look.order, epsilon, add)
        cells = all_cells(kinds, others, target, _OF_CELLS * width)
        step = first_step(replace(look, guess=value), _OF_GRID * aim)
        look = with_tilt(look, step, value)
        found = blend_ends(look, cells, step, value, aim, sides)
        bound = within(bound, found)
        if bound.width <= goal or bound.upper <= floor:
            return bound
        if len(sides) == 1:
            aim, of_cells, sides = goal, goal, SIDES
        elif bound.lower == 0 or blamed:
            return bound
        else:
            blamed = found.width > _BETTER * before
            less, before = _NARROWER * goal / bound.width, found.width
            aim, of_cells = aim * (less if blamed else 1), of_cells * less
            value = (bound.lower + bound.upper) / 2
        factor, places = _NEAR_ORDERS
        at = Query(None, look.query.point(value)[0], goal)
        low, high = look.order / factor, look.order * factor
        order, _ = saddle(look.cells, at, low, high, places)
        look = replace(look, order=order)
    return bound


_NOISES = 0.1, 1e3  # of kinds that are looked at together
_RATES = 1e-7, 0.999
_DELTAS = 1e-200, 0.9
_MOST_TOGETHER = 2**52  # of all kinds: each number of them is a float


def split_kinds(
    releases: Sequence[Release],
) -> tuple[Kinds, Losses] | None:
    """Sampled Gaussian steps, and one Gaussian pair for those of all records.

    Returns: None where there are other steps, or extreme numbers.

    >>> run = [Release(Gaussian(x), Poisson(0.1)) for x in (1.0, 1.1, 1.0)]
    >>> found = split_kinds([*run, Release(Gaussian(2.0))])
    >>> found is not None and (found[0].steps.tolist(), found[1])
    ([2, 1], [(GaussianPair(mu=0.5), 1)])
    """
    found: dict[tuple[float, float], int] = {}
    full: dict[DominatingPair, int] = {}
    for release in releases:
        mechanism, sampling = release.mechanism, release.sampling
        rate = 1.0 if type(sampling) is FullBatch else 0.0
        rate = sampling.rate if type(sampling) is Poisson else rate
        if type(mechanism) is not Gaussian or rate == 0:
            return None
        noise, count = mechanism.noise_multiplier, release.count
        if rate < 1:
            found[noise, rate] = found.get((noise, rate), 0) + count
        else:
            pair = mechanism.pair()
            full[pair] = full.get(pair, 0) + count
    if not found or sum(found.values()) > _MOST_TOGETHER:
        return None
    noises, rates = np.array(list(found)).T
    for values, (least, most) in ((noises, _NOISES), (rates, _RATES)):
        if np.min(values) < least or np.max(values) > most:
            return None
    counts = np.array(list(found.values()))
    kinds = Kinds(noises, rates, counts, variation(noises))
    return kinds, list(merge_gaussians(full).items())


def blend_bound(
    releases: Sequence[Release],
    query: Query,
    adjacency: Adjacency | AdjacencyName,
) -> Bound | None:
    """Interval for a run of many kinds of sampled Gaussian steps.

    Parameters: `releases`; `query`; `adjacency`, of single records.
    Returns: an interval around the truth, as narrow as asked; None where
    this is no good way, or no theorem.
    """
    adjacency = check_adjacency(adjacency)
    split = split_kinds(releases)
    given = query.delta is None or _DELTAS[0] < query.delta < _DELTAS[1]
    if split is None or not given or adjacency is Adjacency.SUBSTITUTE:
        return None
    kinds, others = split
    one_way = {Adjacency.REMOVE: [False], Adjacency.ADD: [True]}
    looks = []
    for add in one_way.get(adjacency, [False, True]):
        look = first_look([*few_like(kinds, add), *others], query)
        if seems_rare(look):
            return None
        looks.append((look, add))
    bound = Bound(0.0, 0.0)
    try:
        for look, add in sorted(looks, key=lambda x: -x[0].guess):
            floor = bound.lower / (1 - query.relative_width)
            one = blend_direction(kinds, others, look, add, floor)
            bound = Bound(
                max(bound.lower, one.lower), max(bound.upper, one.upper)
            )
    except GridTooFine:
        return None
    return bound if bound.width <= query.relative_width else None
