# Generated from notebooks/runs/blends.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Between two noises."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len
from scipy.special import erf, erfinv

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
from accountlib.worst_cases.sampling import SampledPair

__all__ = [
    "variation",
    "Kinds",
    "rate_exponent",
    "most_taken",
    "node_pair",
    "Cell",
    "Axis",
    "axis_of",
    "further_noise",
    "cell_weights",
    "cell_of",
    "rough_moments",
    "Aim",
    "predicted_gaps",
    "cut_kinds",
    "all_cells",
    "Blend",
    "combined",
    "Made",
    "masses_above",
    "masses_below",
    "blended",
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

# --- Between two noises


def variation(noise: Floats) -> Floats:
    r"""Total variation of one Gaussian step, for each noise multiplier.

    Formula: $t = 2 \Phi(1/(2 \sigma)) - 1$.

    >>> variation(np.array([0.5, 1.0])).round(4)
    array([0.6827, 0.3829])
    """
    return np.asarray(erf(1 / (math.sqrt(8) * noise)))


class Kinds(NamedTuple):
    """Sampled Gaussian steps, each kind with its count.

    Fields: arrays of one length: `noise`, `rate`, `steps`, how many there
    are, and the `variation` of the noise.
    """

    noise: Floats
    rate: Floats
    steps: NDArray[np.int64]
    variation: Floats

    def some(self, which: NDArray[np.int64]) -> "Kinds":
        """Those with the given positions."""
        noise, rate, steps, variation = self
        return Kinds(noise[which], rate[which], steps[which], variation[which])


_FARTHER_OUT = 4.0  # length of a cell over the distance of the node below it
_ONE_PLACE = 1e-9  # a relative length below which a cell has none
_LEAST_LEFT = 0.1  # of a law, where most is taken away from its first node
_SOME_LEFT = 0.2  # the same for a cell that is not cut for it
_BINS = 256  # places between the ends of a cell, if it has more kinds
_BINS_BOTH = 32  # the same where noise and rate differ
_STEPS_DOWN = 64  # places where an exponent is bounded


def rate_exponent(mu: float) -> float:
    r"""How fast the density of a sampled loss may fall with the rate.

    Formula: the largest $1 + (e^y - 1)(\frac32 - y/\mu^2)$ over $y \ge 0$,
    or more.

    >>> round(rate_exponent(1.0), 2)
    1.91
    """
    y = np.linspace(0, 1.5 * mu**2, _STEPS_DOWN + 1)
    rise = np.expm1(y[1:]) * (1.5 - y[:-1] / mu**2)
    return 1.0 + float(np.max(rise))


def most_taken(
    strong: tuple[float, float], noise: float, rate: float
) -> tuple[float, float]:
    r"""Bounds of the density of two weaker losses over that of one.

    Formula: $\frac{\mu_m}{\mu_l} e^{(\mu_m^2 - \mu_l^2)/8}$ for another
    noise, $(\gamma_m/\gamma_l)^h$ for another rate.

    Parameters: `strong`, noise and rate of the one; `noise` of the second,
    which has its rate; `rate` of the third, which has its noise.

    >>> [round(x, 3) for x in most_taken((1.0, 0.1), 1.1, 0.09)]
    [1.124, 1.223]
    """
    mu, other = 1 / strong[0], 1 / noise
    by_noise = mu / other * math.exp((mu**2 - other**2) / 8)
    by_rate = (strong[1] / rate) ** rate_exponent(mu)
    return by_noise * (1 + 1e-9), by_rate * (1 + 1e-9)


@lru_cache(4096)
def node_pair(noise: float, rate: float, add: bool) -> DominatingPair:
    """The pair of a sampled Gaussian step, or its reverse.

    >>> node_pair(1.0, 0.5, False)
    SampledPair(base=GaussianPair(mu=1.0), rate=0.5)
    """
    if add:
        return node_pair(noise, rate, False).reversed()
    return SampledPair(Gaussian(noise).pair(), rate)


@dataclass(frozen=True, eq=False)
class Cell:
    """Kinds of steps as mixtures of a few others, from both sides.

    Fields: `above`, pairs that are mixed for the upper end, the strongest
    last; `below`, pairs of which `laws` combines those of the lower end, a
    row of coefficients for each; `taken`, for each law, how much is taken
    away from what is there, at most; `weights` of the pairs above and of
    the laws below, a row for each kind; `counts`.
    """

    above: tuple[DominatingPair, ...]
    below: tuple[DominatingPair, ...]
    laws: Floats
    taken: Floats
    weights: tuple[Floats, Floats]
    counts: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Number of steps of all kinds."""
        return int(np.sum(self.counts))

    @classmethod
    def alone(cls, pair: DominatingPair, count: int) -> "Cell":
        """One kind of step, as it is."""
        one = np.ones((1, 1))
        counts = np.array([count])
        return cls((pair,), (pair,), one, np.zeros(1), (one, one), counts)


class Axis(NamedTuple):
    """Where numbers lie between their ends, and a third place below.

    Fields: `ends`, the smallest and the largest, or the largest alone if
    they are nearly one; `up` and `down`, the place of each number from 0
    to 1, rounded outward; `slope`, the length over the distance of the
    third place.
    """

    ends: tuple[float, ...]
    up: Floats
    down: Floats
    slope: float


def axis_of(values: Floats, further: float, bins: int) -> Axis:
    """The axis of some positive numbers.

    Parameters: `values`; `further`, a place below them; `bins`, to round
    to, if there are more numbers.

    >>> axis = axis_of(np.array([2.0, 3.0, 6.0]), 1.0, 256)
    >>> axis.ends, axis.up.round(3).tolist(), axis.slope
    ((2.0, 6.0), [0.0, 0.25, 1.0], 4.0)
    """
    low, high = float(np.min(values)), float(np.max(values))
    length = high - low
    if length <= _ONE_PLACE * high:
        one = np.ones(len(values))
        return Axis((high,), one, 0 * one, 0.0)
    slope = length / (low - further)
    room = 1e-14 * (1 + slope) * high / length
    place = (values - low) / length
    up, down = place + room, place - room
    if len(values) > bins:
        up, down = np.ceil(up * bins) / bins, np.floor(down * bins) / bins
    return Axis((low, high), np.minimum(up, 1), np.maximum(down, 0), slope)


def further_noise(values: Floats) -> float:
    """A noise that is a quarter of a cell weaker than all of it.

    Parameters: `values`, variations of a cell. Returns: inf if there is
    no such noise.

    >>> round(further_noise(variation(np.array([1.0, 1.1]))), 3)
    1.128
    """
    low, high = float(np.min(values)), float(np.max(values))
    place = max(low - (high - low) / _FARTHER_OUT, 0.0)
    with np.errstate(divide="ignore"):
        return float(1 / (math.sqrt(8) * erfinv(place)))


def cell_weights(noise: Axis, rates: Axis) -> tuple[Floats, Floats]:
    """Weights of the corners above and of the laws below, for each kind.

    >>> axis = axis_of(np.array([2.0, 3.0, 6.0]), 1.0, 256)
    >>> one = axis_of(np.ones(3), 0.5, 256)
    >>> [x[1].round(3).tolist() for x in cell_weights(axis, one)]
    [[0.75, 0.25], [0.75, 0.25, 0.0, 0.0]]
    """
    u, v = (
        np.stack([1 - x.up, x.up], 1) if len(x.ends) > 1 else x.up[:, None]
        for x in (noise, rates)
    )
    up = (u[:, :, None] * v[:, None, :]).reshape(len(u), -1)
    both, most = (
        np.minimum(noise.down, rates.down),
        np.maximum(noise.down, rates.down),
    )
    down = [1 - most, noise.down - both, rates.down - both, both]
    return up, np.stack(down, 1)


def cell_of(kinds: Kinds, add: bool) -> Cell | None:
    """All kinds in one cell; None if it is too wide for laws below.

    Parameters: `kinds`; `add`, whether the pairs are reversed.

    >>> noise = np.array([1.0, 1.02, 1.05])
    >>> kinds = Kinds(noise, np.full(3, 0.1), np.ones(3), variation(noise))
    >>> cell = cell_of(kinds, False)
    >>> cell is not None and (len(cell.above), cell.laws.shape)
    (2, (2, 2))
    """
    t, low, high = kinds.variation, np.min(kinds.rate), np.max(kinds.rate)
    order = np.argsort(t)[[0, -1]]
    weak, strong = kinds.noise[order].tolist()
    less, slow = further_noise(t), float(low - (high - low) / _FARTHER_OUT)
    if not (math.isfinite(less) and slow > 0):
        return None
    flat = low == high or t[order[0]] == t[order[1]]
    bins = _BINS if flat else _BINS_BOTH
    noise = axis_of(t, float(variation(np.array([less]))[0]), bins)
    rates = axis_of(kinds.rate, slow, bins)
    laws = np.array([[1.0, 0, 0], [1, -1, 0], [1, 0, -1], [1, -1, -1]])
    laws[:, 1:] *= noise.slope, rates.slope
    laws[:, 0] -= laws[:, 1] + laws[:, 2]
    ratios = most_taken((weak, float(low)), less, slow)
    taken = -(laws[:, 1:] @ ratios)
    up, down = cell_weights(noise, rates)
    used = np.any(down > 0, axis=0)
    if np.min((laws[:, 0] - taken)[used]) < _LEAST_LEFT:
        return None
    counts = kinds.steps
    if len(counts) > bins:
        both, place = np.unique(
            np.hstack([up, down]), axis=0, return_inverse=True
        )
        counts = np.bincount(place, counts)
        up, down = both[:, : up.shape[1]], both[:, up.shape[1] :]
    nodes = np.array([(weak, low), (less, low), (weak, slow)])
    needed = np.any(laws[used] != 0, axis=0)
    noises = (weak, strong)[-len(noise.ends) :]
    return Cell(
        above=tuple(node_pair(x, y, add) for x in noises for y in rates.ends),
        below=tuple(node_pair(x, y, add) for x, y in nodes[needed].tolist()),
        laws=laws[used][:, needed],
        taken=(taken / laws[:, 0])[used],
        weights=(up, down[:, used]),
        counts=counts,
    )


_NORMAL_PLACES = 161  # of the normal law, for a rough mean
_REACH = 9.0  # standard deviations


def rough_moments(
    mu: Floats, rate: Floats, order: float, epsilon: float, add: bool
) -> Floats:
    r"""Means of $e^{\lambda L}$ for sampled Gaussian losses, roughly.

    Beyond epsilon the exponential goes on as a line. Each row has a
    factor of its own, so that its largest term is 1.

    >>> mu = np.array([[1.0, 2.0]])
    >>> means = rough_moments(mu, np.full((1, 2), 0.5), 1.0, 30.0, False)
    >>> round(float(means[0, 1] / means[0, 0]), 2)  # 14.4/1.43
    10.07
    """
    mu, rate = mu[..., None], rate[..., None]
    reach = 0.0 * mu
    if not add:
        cut = np.log1p(np.expm1(min(epsilon, 50.0)) / rate) / mu + mu / 2
        reach = np.minimum((order + 1) * mu, cut)
    step = (2 * _REACH + reach) / (_NORMAL_PLACES - 1)
    x = -_REACH + step * np.arange(_NORMAL_PLACES)
    loss = np.log1p(rate * np.expm1(np.minimum(mu * x - mu**2 / 2, 600)))
    capped = np.minimum(-loss if add else loss, epsilon)
    power = order if add else order + 1
    exponent = power * capped - x * x / 2
    terms = np.exp(exponent - np.max(exponent, axis=(1, 2), keepdims=True))
    if not add:
        terms *= 1 + power * np.expm1(loss - capped)
    return np.asarray(np.sum(terms * step, axis=2))


class Aim(NamedTuple):
    """Where a cell's width is predicted: `order`, `epsilon`, `add`."""

    order: float
    epsilon: float
    add: bool


def predicted_gaps(cells: Sequence[Kinds], aim: Aim) -> Floats:
    """What cells will add to the width of epsilon: by noise, and by rate.

    Returns: two numbers for each cell, rough ones; inf where a cell is too
    wide for laws below.
    """
    nodes, places = [], []
    for kinds in cells:
        t, g = kinds.variation, kinds.rate
        (a, b), (c, d) = ((float(np.min(x)), float(np.max(x))) for x in (t, g))
        less, slow = (x - (y - x) / _FARTHER_OUT for x, y in ((a, b), (c, d)))
        less, slow = max(less, 1e-3 * a), max(slow, 1e-3 * c)
        nodes.append([(a, c), (b, c), (a, d), (b, d), (less, c), (a, slow)])
        u = (t - a) / max(b - a, 1e-300)
        v = (g - c) / max(d - c, 1e-300)
        places.append([kinds.steps @ x for x in (u, v, u * v)])
    noise, rate = np.moveaxis(np.array(nodes), 2, 0)
    mu = math.sqrt(8) * erfinv(noise)
    moments = rough_moments(mu, rate, aim.order, aim.epsilon, aim.add)
    base, one, two, both, below, slower = moments.T
    u, v, uv = np.array(places).T
    mixed = uv * (both - one - two + base) / 2
    parts = [
        u * (one - base - _FARTHER_OUT * (base - below)) + mixed,
        v * (two - base - _FARTHER_OUT * (base - slower)) + mixed,
    ]
    some = np.maximum(base, 1e-300)
    gaps = np.stack(parts, 1) / (some * aim.order)[:, None]
    for k, (least, gap) in enumerate(zip(mu, gaps, strict=True)):
        strong = float(1 / least[0]), float(rate[k, 0])
        ratios = most_taken(strong, float(1 / least[4]), float(rate[k, 5]))
        wide = np.array([noise[k, 1] > noise[k, 0], rate[k, 2] > rate[k, 0]])
        taken = _FARTHER_OUT * wide * (np.array(ratios) - 1)
        if 1 - np.sum(taken) < _SOME_LEFT or base[k] == 0:
            gap[:] = np.where(taken == np.max(taken), np.inf, 0.0)
    return np.asarray(gaps)


def cut_kinds(
    kinds: Kinds, aim: Aim, goal: float
) -> tuple[list[Kinds], list[Kinds]]:
    """Kinds cut into cells, and those that are left alone.

    Parameters: `kinds`; `aim`; `goal`, what all cells may add to the width
    of epsilon.
    """
    cells, alone = [kinds], list[Kinds]()
    gaps = predicted_gaps(cells, aim)
    while cells and float(np.sum(gaps)) > goal:
        most, kept, new = goal / len(cells), list[int](), list[Kinds]()
        for k, cell in enumerate(cells):
            if float(np.sum(gaps[k])) <= most:
                kept.append(k)
                continue
            by_noise = gaps[k, 0] >= gaps[k, 1]
            values = cell.variation if by_noise else cell.rate
            high = values > (np.min(values) + np.max(values)) / 2
            for half in (high, ~high):
                some = cell.some(np.flatnonzero(half))
                flat = np.ptp(some.variation) == 0 or np.ptp(some.rate) == 0
                few = _FEW_ALONE if flat else _FEW_OF_BOTH
                (alone if len(some.rate) <= few else new).append(some)
        cells = [*(cells[k] for k in kept), *new]
        later = predicted_gaps(new, aim) if new else gaps[:0]
        gaps = np.concatenate([gaps[kept], later])
    return cells, alone


_FEW_ALONE = 2  # kinds that are cheaper alone
_FEW_OF_BOTH = 5  # the same where noise and rate differ


def all_cells(
    kinds: Kinds, others: Losses, aim: Aim, goal: float
) -> list[Cell]:
    """Cells for all kinds of steps."""
    together, alone = cut_kinds(kinds, aim, goal)
    cells = []
    for some in together:
        cell = cell_of(some, aim.add)
        if cell is None:
            alone.append(some)
        else:
            cells.append(cell)
    for some in alone:
        rows = np.stack(some[:3]).T.tolist()
        cells += [
            Cell.alone(node_pair(x, y, aim.add), int(n)) for x, y, n in rows
        ]
    return cells + [Cell.alone(pair, n) for pair, n in others]


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
    sign, steps = table.sign, counts / np.sum(counts)
    shares = weights / sums[:, None] * (1 + sign * UNIT * size)[:, None]
    moved = sign * 8 * UNIT * float(np.max(np.abs(logs)))
    mean = replace(
        table,
        log_scale=float(steps @ logs) + moved,
        mass=(steps @ shares) @ rows,
    )
    return Blend(mean, rows, shares, counts)


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
    strongest, each = parts[-1], log_tail - math.log(cell.count)
    cuts = [cut_tails(part, tilt, each) for part in parts]
    bottom, top = strongest.pair.loss_range
    low, high = min(x[0] for x in cuts), max(x[1] for x in cuts)
    ends = max(low, bottom), min(high, top)
    offset, points, edges = grid_edges(strongest, step, tilt, ends)
    made: Made = {}
    for pair in cell.above + (cell.below if "lower" in sides else ()):
        if pair not in made:
            part = replace(strongest, pair=pair)
            (halves,), below = half_cells(part, edges, 0.0)
            made[pair] = halves, float(below[0]) * (ends[0] <= bottom)
    beyond = 0.0
    for part in parts:
        right = float(made[part.pair][0].p[-1]) * (ends[1] >= top)
        beyond = max(beyond, infinity_beyond(part, right, 1))
    rounded = 8 * UNIT * max(abs(offset), abs(edges[0]), abs(edges[-1]))
    blends = []
    for side, weights in zip(SIDES, cell.weights, strict=True):
        if side not in sides:
            continue
        upper = side == "upper"
        sign, of_side = (1, masses_above) if upper else (-1, masses_below)
        rows, log_scale = tilt_masses(
            edges[::2], of_side(cell, made), tilt, sign
        )
        table = TiltedTable(
            step=step,
            offset=offset + sign * rounded,
            tilt=tilt,
            log_scale=log_scale + 2 * sign * tilt * rounded,
            tail=max(x[2] for x in cuts) if upper else 0.0,
            infinity_mass=beyond if upper else 0.0,
            bound=side,
            index=points,
            mass=rows[0],
        )
        blends.append(blended(table, rows, weights, cell.counts))
    return blends


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
    totals, room = blend.rows.sum(axis=1), wrong + 16 * UNIT * np.abs(z)
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
        lost += counts @ (error + 32 * UNIT)
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


_BEYOND_LOOK = (
    0.1  # part of the spare error that losses beyond a look may cost
)
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
        made.append(
            blend_tables(cell, parts, step, look.tilt, log_each, sides)
        )
    ends: dict[BoundKind, float] = {"lower": 0.0, "upper": math.inf}
    for side, blends in zip(sides, zip(*made, strict=True), strict=True):
        total = add_blends(blends, log_tail, look.thetas)
        ends[side] = query.read(total, value, look.order)
    if ends["lower"] > ends["upper"]:
        raise ArithmeticError(f"lower exceeds upper: {ends!r}")
    return Bound(ends["lower"], ends["upper"])


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
_OF_CELLS = 0.36  # part of the width that cells may cost, as predicted
_OF_GRID = 0.25  # the same for the grid: predictions are rough
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
    aim, bound = goal, Bound(0, math.inf)
    sides: Sequence[BoundKind] = SIDES
    if value < floor:
        aim = max(min(_OF_GAP * (1 - value / floor), _COARSE), goal)
        sides = ("upper",)
    for _ in range(_INTERVALS):
        epsilon, _ = look.query.point(value)
        width = look.query.width_of_epsilon(value, look.order, aim)
        target = Aim(look.order, epsilon, add)
        cells = all_cells(kinds, others, target, _OF_CELLS * width)
        step = first_step(replace(look, guess=value), _OF_GRID * aim)
        look = with_tilt(look, step, value)
        found = blend_ends(look, cells, step, value, aim, sides)
        bound = within(bound, found)
        if bound.width <= goal or bound.upper <= floor:
            return bound
        if len(sides) == 1:
            aim, sides = goal, SIDES
        elif bound.lower == 0:
            return bound
        else:
            aim *= _NARROWER * goal / found.width
            value = (bound.lower + bound.upper) / 2
        factor, places = _NEAR_ORDERS
        at = Query(None, look.query.point(value)[0], goal)
        low, high = look.order / factor, look.order * factor
        look = replace(
            look, order=saddle(look.cells, at, low, high, places)[0]
        )
    return bound


_NOISES = 0.1, 1e3  # of kinds that are looked at together
_RATES = 1e-7, 0.999
_DELTAS = 1e-200, 0.9


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
    if not found:
        return None
    noises, rates = np.array(list(found)).T
    inside = _NOISES[0] <= np.min(noises) <= np.max(noises) <= _NOISES[1]
    if (
        not inside
        or not _RATES[0] <= np.min(rates) <= np.max(rates) <= _RATES[1]
    ):
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
