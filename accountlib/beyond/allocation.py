# Generated from notebooks/beyond/allocation.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What does an epoch cost if each record is in one of its steps?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $t$, $k$ | `steps`, `selected` | steps of an epoch; in how many of them a record is |
| $P$, $Q$ | `pair` | outputs of one step, with the record in its batch and without |
| $Y$ | `place` | $dP/dQ$, the ratio of densities of a step, under $Q$ |
| $S$, $M$ | `place`, `count` | sum of some ratios, and their mean |
| $h$ | `CELL`, `WIDER` | width of a cell, in units of the scale at its place |
| $\alpha$ | `a` | $e^\varepsilon$ |
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from accountlib.cells import Cells, joined
from accountlib.checks import UNIT, Floats, check_fields
from accountlib.dominating_pairs import DominatingPair, Outcomes
from accountlib.mechanisms import Mechanism
from accountlib.sampling import (
    Adjacency,
    Direction,
    FullBatch,
    Sampling,
    in_sample,
)

__all__ = [
    "Add",
    "LARGEST",
    "NARROW",
    "CELL",
    "WIDER",
    "BLOCK",
    "ROUGH",
    "LISTED",
    "MOST",
    "sums",
    "Ratios",
    "one_above",
    "puts",
    "dots",
    "sum_above",
    "ranks",
    "grid_of_sum",
    "cut_cells",
    "one_below",
    "sum_below",
    "added",
    "listed",
    "epoch_above",
    "epoch_below",
    "turned",
    "refuse",
    "RandomAllocation",
]

# --- One number for an epoch

Add = Callable[["Ratios", "Ratios"], "Ratios"]
LARGEST = 400.0  # larger losses count as infinite
NARROW = 1e-12  # losses that differ by less are one
CELL = 0.019  # width of a cell from above, in units of its own scale
WIDER = 1.4 * CELL  # from below, where a cell costs half as much
BLOCK = 32  # numbers that are added at a time
ROUGH = 128  # places of a rough look at a sum
LISTED = 200_000  # sums that are looked at one by one
MOST = 3000  # places of a sum

# --- Both sides at once: convex order


def sums(x: Floats) -> Floats:
    """Sums of the first 0, 1, ... numbers, with few additions for each."""
    n = len(x) + 1
    rows: Floats = np.pad(x, (1, -n % BLOCK)).reshape(-1, BLOCK).cumsum(1)
    rows[1:] += rows[:-1, -1].cumsum()[:, None]
    return rows.ravel()[:n]


@dataclass(frozen=True, eq=False)
class Ratios:
    """The sum of `count` ratios as a list: places, and masses by rows.

    From below, row j has the masses if j of the steps see P, and `error` is
    relative, of row j against row 0, for each j. From above there is row 0
    alone, and `error` is relative, of the places.
    """

    place: Floats
    rows: Floats
    count: int
    error: float

    @property
    def mean(self) -> float:
        """Near the mean, where puts and calls meet."""
        return float(self.place @ self.rows[0] / self.rows[0].sum())

    def mirrored(self) -> "Ratios":
        """The negative of the sum."""
        return replace(self, place=-self.place[::-1], rows=self.rows[:, ::-1])

    def thinned(self) -> "Ratios":
        """A rough law with few places."""
        k = np.linspace(0, len(self.place) - 1, ROUGH).astype(int)
        k = np.unique(k)
        rows = np.add.reduceat(self.rows[:1], k, axis=1)
        return replace(self, place=self.place[k], rows=rows)

    def puts(self) -> Floats:
        """E(g - S)_+ at each place g of S."""
        return sums(np.diff(self.place) * sums(self.rows[0])[1:-1])


def one_above(cells: Cells) -> Ratios:
    """Cells as their two ends, with the same mean ratio, rounded up."""
    far = cells.right > LARGEST
    left = np.where(cells.left < -LARGEST, -np.inf, cells.left)
    left = np.fmin(left, LARGEST)
    right = np.where(far, left, cells.right)
    low = np.nextafter(cells.loss - cells.loss_error, -np.inf)
    high = np.nextafter(cells.loss + cells.loss_error, np.inf)
    full = np.expm1(left - right)
    up = np.exp(high - right) * np.expm1(left - high) / full
    shares = np.array([np.expm1(low - right) / full, up])
    shares = np.where(shares >= 0, np.fmin(shares, 1.0), 1.0)
    one = (left == right) | (right - left < NARROW)
    shares[:, one] = [[1.0], [0.0]]
    mass = (shares * np.exp(cells.log_q + cells.mass_error)).ravel()
    losses = np.round(np.append(left, right), 12)
    losses, which = np.unique(losses, return_inverse=True)
    mass = np.bincount(which, mass).astype(float) * (1 + NARROW)
    seen = mass > 0
    return Ratios(np.exp(losses[seen]), mass[None, seen], 1, 2 * NARROW)


# --- Sums without sums


def puts(a: Ratios, b: Ratios, g: Floats) -> Floats:
    """E(g - A - B)_+ at ascending g."""
    x, y, values = a.place, b.place, b.puts()
    beyond = np.interp(g - y[-1], x, a.puts())
    beyond += np.fmax(g - y[-1] - x[-1], 0.0) * a.rows[0].sum()
    total: Floats = b.rows[0].sum() * beyond
    for i in range(0, len(x), BLOCK):
        some, m = x[i : i + BLOCK], a.rows[0, i : i + BLOCK]
        first = np.searchsorted(g, x[i] + y[0])
        total[first:] += np.interp(g[first:, None] - some, y, values) @ m
    return total


def dots(a: Ratios, b: Ratios, g: Floats) -> Floats:
    """Masses of A + B at all places but the last, connected, rounded up."""
    v, w = puts(a, b, g), np.diff(g)
    slope = np.diff(v) / w
    adds = (len(a.place) + len(b.place)) // BLOCK + 2 * BLOCK + 32
    moved = np.abs(g) * np.append(slope, a.rows.sum() * b.rows.sum())
    off = 2 * UNIT * (adds * v + moved) + 1e-300
    wrong = (off[1:] + off[:-1]) / w + 4 * UNIT * slope
    mass: Floats = np.fmax(np.diff(slope, prepend=0.0), 0.0) + wrong
    mass[1:] += wrong[:-1]
    return mass


def sum_above(a: Ratios, b: Ratios) -> Ratios:
    """A sum that is larger in the order of convex functions."""
    g, count = grid_of_sum(a, b, CELL), a.count + b.count
    c = np.clip(np.searchsorted(g, a.mean + b.mean), 1, len(g) - 1)
    low = dots(a, b, g[: c + 1])
    high = dots(a.mirrored(), b.mirrored(), -g[c - 1 :][::-1])[::-1]
    rows: Floats = np.append(low, high)[None]
    return Ratios(g, rows, count, max(a.error, b.error))


# --- Where cells are small


def ranks(x: Floats, v: Floats, mean: float, h: float) -> Floats:
    """How many places are wanted up to each x; v is min(put, call)."""
    s, top = (x[1:] + x[:-1]) / 2, v.max() + 1e-300
    v = np.fmax(v / top, 1e-200)
    near = np.abs(s - mean) + top
    far = s * (1 + np.abs(np.log(s / mean)))
    w = np.diff(x)
    falls = np.fmax(np.abs(np.diff(np.log(v))), w / near / 2)
    steps = falls * w / np.fmin(near, far)
    coarser = np.fmax(-np.log10(v[1:]) / 9, 1) ** 2
    wanted = sums(np.sqrt(steps) / coarser / h)
    wanted *= np.fmin(1.0, MOST / wanted[-1])
    return wanted


def grid_of_sum(a: Ratios, b: Ratios, h: float) -> Floats:
    """Places for a sum: all sums if they are few, else where they count."""
    x, y = a.place, b.place
    low, high = (
        (x[0] + y[0]) * (1 - 4 * UNIT),
        (x[-1] + y[-1]) * (1 + 4 * UNIT),
    )
    g = np.zeros(MOST)
    if len(x) * len(y) <= LISTED:
        g = np.sort(np.add.outer(x, y).ravel())
        far = np.fmax(1e-8 * np.fmin(g, g[-1] - g[0]), 1e-11 * g)
        g = g[np.append(True, np.diff(g) > far[1:])]
    if len(g) == 1:
        return np.array([0.999 * low, low, 1.001 * high + 1e-200])
    if len(g) > MOST // 3:
        mean, a, b = a.mean + b.mean, a.thinned(), b.thinned()
        at = np.linspace(0, 1, ROUGH)
        parts = [(np.linspace(0, 1, len(c.place)), c.place) for c in (a, b)]
        look = np.sum([np.interp(at, *part) for part in parts], axis=0)
        call = puts(a.mirrored(), b.mirrored(), -look[::-1])[::-1]
        rank = ranks(look, np.fmin(puts(a, b, look), call), mean, h)
        g = np.interp(np.arange(1.0, rank[-1]), rank, look)
        inside = (g > low * (1 + 1e-9)) & (g < high * (1 - 1e-9))
        g = g[np.append(np.diff(g) > 1e-11 * g[1:], True) & inside]
        g = np.concatenate([[low], g, [high]])
    g[[0, -1]] = low, high
    return g


def cut_cells(pair: DominatingPair, h: float) -> Cells:
    """A pair in cells that are as narrow as those of sums."""
    edges = pair.start()
    for _ in range(4):
        cells = pair.cells(edges)
        law = one_above(cells)
        call = law.mirrored().puts()[::-1]
        v = np.fmin(law.puts(), call)
        rank = ranks(law.place, v, law.mean, h)
        ends = np.exp(np.clip([cells.left, cells.right], -LARGEST, LARGEST))
        left, right = np.interp(ends, law.place, rank)
        edges = pair.finer(edges, right - left + 0.05)
    return pair.cells(edges)


# --- From below: tell only the cell


def one_below(cells: Cells, selected: int) -> Ratios:
    """Merged cells under Q and P; later rows are filled by sums."""
    told = (np.abs(cells.loss) < LARGEST) | (cells.log_p == -np.inf)
    cells = cells.part(told & (cells.log_q > -600))
    rows = np.zeros((selected + 1, len(cells.loss)))
    rows[:2] = np.exp([cells.log_q, cells.log_p])
    wrong = 2 * cells.mass_error + NARROW
    error = float(wrong.max(initial=0.0))
    return Ratios(np.exp(cells.loss), rows * (1 - wrong), 1, error)


def sum_below(a: Ratios, b: Ratios) -> Ratios:
    """A sum of which one sees only the cell: outcomes are merged."""
    g, count = grid_of_sum(a, b, WIDER), a.count + b.count
    rows, adds = np.zeros((len(a.rows), len(g))), 32
    for i in range(0, len(a.place), BLOCK):
        place = np.add.outer(a.place[i : i + BLOCK], b.place).ravel()
        cell = np.searchsorted((g[1:] + g[:-1]) / 2, place)
        adds += int(np.bincount(cell).max())
        for k in range(len(rows)):
            all_ways = max(math.comb(count, k), 1)
            ways = [
                math.comb(a.count, j) * math.comb(b.count, k - j) / all_ways
                for j in range(k + 1)
            ]
            part = a.rows[: k + 1, i : i + BLOCK].T * np.array(ways)
            m = (part @ b.rows[k::-1]).ravel()
            rows[k] += np.bincount(cell, m, len(g))
    off = UNIT * (adds + 2 * len(rows))
    safe = (rows > 1e-290) | ((rows == 0) & (rows[0] > 1e-125))
    rows = rows[:, safe.all(0)] * (1 - 2 * off)
    rows = rows[:, np.argsort(rows[1] / rows[0])]
    error = max(a.error, b.error) + 2 * off
    return Ratios(count * rows[1] / rows[0], rows, count, error)


# --- A thousand steps in fourteen sums


def added(ones: Sequence[Ratios], steps: int, add: Add) -> Ratios:
    """The sum of all steps: doubled, and one more, by binary digits."""
    law, rough = ones
    for digit in f"{steps:b}"[1:]:
        law = add(law, law)
        if digit == "1":
            law = add(law, ones[0] if law.count < 16 else rough)
    return law


def listed(logs: Floats, wrong: float, infinite: float, up: bool) -> Outcomes:
    """Outcomes of log masses, rounded outward; `wrong` bounds the losses."""
    log_p, log_q = logs[:, logs[1] != -np.inf]
    loss, sign = log_p - log_q, 1 if up else -1
    error = wrong + 32 * UNIT * (1 + np.abs(log_q) + np.abs(loss))
    error = np.where(np.isfinite(loss), error, 0.0)
    log_p, log_q = log_p + sign * error, log_q + sign * error
    order = np.argsort(loss)
    columns = np.array([loss, error, log_p, log_q])[:, order]
    rows = list(map(tuple, columns.T.tolist()))
    if infinite > 0:
        rows.append((math.inf, 0.0, math.log(min(infinite, 1.0)), -math.inf))
    return Outcomes(tuple(rows))


@functools.lru_cache(64)
def epoch_above(pair: DominatingPair, steps: int) -> DominatingPair:
    """What dominates an epoch with a record in one of its steps."""
    both = [cut_cells(pair, h) for h in (CELL, 4 * CELL)]
    cells, n = joined(*both), len(both[0].loss)
    p, told = np.exp(cells.log_p + cells.mass_error), cells.log_q == -np.inf
    lost = p[(cells.right > LARGEST) & ~told].sum()
    if steps == 1 or lost > 1e-30:
        return pair  # too far for floats: as if the step were known
    infinite = float(p[:n][told[:n]].sum() + lost) * (1 + NARROW)
    law = added([one_above(x) for x in both], steps, sum_above)
    log_q = np.log(law.rows[0])
    logs = np.array([np.log(law.place / steps) + log_q, log_q])
    return listed(logs, law.error, infinite, True)


@functools.lru_cache(64)
def epoch_below(pair: DominatingPair, steps: int, k: int) -> DominatingPair:
    """What neighbours attain: cells of an epoch; the record in k steps."""
    both = [cut_cells(pair, h) for h in (WIDER, 4 * WIDER)]
    ones = [one_below(x, k) for x in both]
    p = np.exp(both[0].log_p - both[0].mass_error)
    told = min(float(p[both[0].log_q == -np.inf].sum()), 1 - UNIT)
    if min(x.rows[1].sum() for x in ones) + told < 0.5:
        return in_sample(pair, math.log1p(-k / steps))  # too far for floats
    law = added(ones, steps, sum_below)
    told = -math.expm1(k * math.log1p(-told)) * (1 - NARROW)
    logs = np.log(law.rows[[-1, 0]])
    return listed(logs, k * law.error, told, False)


# --- In several steps


def turned(one: Direction, adjacency: Adjacency) -> list[Direction]:
    """A direction of removal, its reverse, or both."""
    above, *below = (
        tuple((pair.reversed(), n) for pair, n in steps)
        for steps in (one.above, *one.below)
    )
    two = Direction(above, tuple(below))
    alone = {Adjacency.REMOVE: [one], Adjacency.ADD: [two]}
    return alone.get(adjacency, [one, two])


def refuse(sampling: Sampling, adjacency: Adjacency, size: int) -> None:
    """Say that no pair is known."""
    raise NotImplementedError(
        f"adjacency={str(adjacency)!r}, group_size={size}: no pair is known "
        f"for {sampling!r}"
    )


@dataclass(frozen=True)
class RandomAllocation(Sampling):
    r"""An epoch: each record is in `selected` of its steps, drawn at random.

    Formula: one step in $t$: $\delta = E(M - \alpha)_+$ and $E(1 - \alpha
    M)_+$, with M the mean of the ratios of t steps.

    Parameters: `steps` (t, 1 to 1e7); `selected` (k, 1 to t). In a Release,
    `count` is the number of epochs, each with a fresh draw.
    Raises: ValueError for other values; NotImplementedError for groups and
    substitution.
    Error: for one step about 1e-3 of epsilon, more for noise above 100 times
    the sensitivity; for more steps what revealing blocks costs.
    Source: Feldman and Shenfeld (2025, 2026); theorem "Random allocation".

    >>> RandomAllocation(1000)
    RandomAllocation(steps=1000, selected=1)
    """

    steps: int
    selected: int = 1

    def __post_init__(self) -> None:
        check_fields(self, steps=(1, 1e7, True))
        check_fields(self, selected=(1, self.steps, True))

    @np.errstate(all="ignore")
    def directions(
        self, mechanism: Mechanism, adjacency: Adjacency, size: int, count: int
    ) -> list[Direction]:
        t, k = self.steps, self.selected
        if t == k:
            every = FullBatch()
            return every.directions(mechanism, adjacency, size, t * count)
        if size > 1 or adjacency is Adjacency.SUBSTITUTE:
            refuse(self, adjacency, size)
        one = mechanism.removed(1)
        below = in_sample(one, math.log1p(-k / t))  # what one step reveals
        if k <= 20:
            below = epoch_below(one, t, k)
        above = epoch_above(one, t // k), k * count
        return turned(Direction((above,), (((below, count),),)), adjacency)
