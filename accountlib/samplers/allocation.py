# Generated from notebooks/samplers/allocation.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Each record once per epoch

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $t$ | `steps` | number of steps in an epoch, $\ge 1$ |
| $(P, Q)$ | `pair` | pair of one step with the record in its batch, and without |
| $Y$, $Y_i$ | `place` | $e^L$, the ratio of densities of a step, under $Q$ |
| $S$ | `place` | sum of some ratios, of `count` many |
| $M$ | – | mean of the $t$ ratios of an epoch |
| $\varepsilon$, $\delta$ | `epsilon`, `delta` | privacy parameters; $\alpha = e^\varepsilon$, `a` in the code |
| $p_\infty$ | `infinity` | mass of $P$ where $Q$ has none |
| $m$, $w$ | – | mass of a cell, and its width |
| $k$, $s$, $h$ | `count`, `spread`, `fine` | number of ratios in a sum; its mean distance from $k$; width of a cell in units of al-width |
| $\gamma$ | `rate` | rate of a Poisson sample, for comparison: $1/t$ |
| $K$ | `count` of a `Release` | number of epochs |
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from accountlib.counting.any_pair import HalfCells, grid_masses
from accountlib.engine.one_sided import LOSS_PLACES
from accountlib.inputs import Floats, check_count, check_kind
from accountlib.worst_cases.dominating_pairs import (
    UNIT,
    DiscretePair,
    DominatingPair,
)

__all__ = [
    "Side",
    "ratio_grid",
    "RatioLaw",
    "listed_law",
    "ratio_cells",
    "step_law",
    "grid_of_sum",
    "all_sums",
    "cells_of_sums",
    "add_ratios",
    "allocation_law",
    "RatioPair",
    "pair_of_law",
    "has_ratios",
    "allocation_below",
    "allocation_pair",
]

# --- Code: where cells are small

Side = Literal["upper", "lower"]

# The grid of places
_CELL_WIDTH = 0.01  # h, width of a cell in the units of eq. (al-width)
_ROUGHER = 4.0  # for one more ratio beside many
_MANY = 16  # ratios
_RARE = 10.0  # digits of the mass beyond; with more, cells are wider,
_SPARSE = 30.0  # in proportion; and with more than these
_SPARSER = 16.0  # so many times
_MOST_PLACES = 3000  # of a law, whatever its range
_SAMPLES = 4000  # places at which eq. (al-width) is added up
_LOOK = 128  # places of each law in a rough look at a sum
# The sums
_BLOCK = 32  # places of one law at a time: arrays that fit a cache
_FEW_LOSSES = 1500  # a list of no more losses is taken as it is
_FEW_SUMS = 4000  # so are no more sums
# The ends of the floats
_LARGEST_RATIO = 300.0  # loss; e to it, times any count, is a float
_TOLD = 1e-30  # P-mass of larger losses that may count as infinite
_ALIKE = 1e-9  # mean distance of a ratio from 1; of less, few digits are left
_NO_MASS = 1e-290  # less may have lost digits
_DROPPED = 1e-285  # more than all that has less, together


def ratio_grid(
    place: Floats, mass: Floats, count: int, fine: float = _CELL_WIDTH
) -> Floats:
    """Places for a law of `count` ratios: eq. (al-width).

    Parameters: `place` (increasing) and `mass` of a rough law; `fine` (h).
    Returns: increasing places, from the first to the last of the law.

    >>> y = np.exp(np.linspace(-3, 3, 61))
    >>> grid = ratio_grid(y, np.full(61, 1 / 61), 1, 0.1)
    >>> bool(grid[0] == y[0] and grid[-1] == y[-1]), 30 < len(grid) < 90
    (True, True)
    """
    spread = float(np.sum(np.abs(place - count) * mass))
    below = np.cumsum(mass)
    first = int(np.count_nonzero(below < _TOLD**2))
    low, top = max(float(place[first]), 1e-200), float(place[-1])
    start, stop = np.arcsinh((np.array([low, top]) - count) / spread)
    even = count + spread * np.sinh(np.linspace(start, stop, _SAMPLES))
    x = np.append(even, np.geomspace(low, top, _SAMPLES))
    x = np.unique(np.clip(x, low, top))
    width = np.minimum(np.hypot(spread, x - count), 2 * x)
    above = np.cumsum((mass * place)[::-1])[::-1] / count  # under P
    left = np.minimum(np.interp(x, place, above), np.interp(x, place, below))
    digits = -np.log10(np.maximum(left, 1e-300))
    wider = np.where(digits > _SPARSE, _SPARSER, digits / _RARE)
    width *= fine * np.maximum(wider, 1.0)
    rank = np.cumsum(np.diff(x, prepend=x[0]) / width)
    rank *= min(1.0, _MOST_PLACES / rank[-1])
    inner = np.interp(np.arange(1.0, rank[-1]), rank, x)
    ends = place[[0, -1]]
    inner = inner[(inner > ends[0]) & (inner < ends[1])]
    return np.unique(np.append(inner, ends))


# --- Code: the law of one ratio


@dataclass(frozen=True, eq=False)
class RatioLaw:
    """Law of a sum of density ratios under Q, on one side of the truth.

    Fields: `place`, increasing values of the sum; `mass`, their
    probabilities; `infinity`, mass of P where Q has none; `count` of the
    ratios; `error` and `shift`, relative errors of masses and places.
    """

    place: Floats
    mass: Floats
    infinity: float
    count: int
    error: float
    shift: float


def listed_law(pair: DominatingPair, side: Side) -> RatioLaw:
    """The law of one ratio of a pair with finitely many losses.

    >>> coin = DiscretePair((0.75, 0.25), (0.25, 0.75))
    >>> law = listed_law(coin, "upper")
    >>> law.place.round(6).tolist(), law.mass.tolist()
    ([0.333333, 3.0], [0.75, 0.25])
    """
    loss = np.array(pair.atoms)
    between = (loss[1:] + loss[:-1]) / 2 if len(loss) > 1 else loss + 1
    p, q = (
        mass[: len(loss)]
        for mass in pair.interval_masses(between, np.diff(between), "right")
    )
    infinity, nothing = pair.infinite_mass
    kept = (np.abs(loss) <= _LARGEST_RATIO) & (np.minimum(p, q) > _NO_MASS)
    told = ~kept & ((p > 0) | (q > 0))
    if side == "upper" and np.any(told):
        infinity += float(np.sum(p[told])) * (1 + 1e-9) + _DROPPED
        nothing += float(np.sum(q[told])) * (1 + 1e-9) + _DROPPED
    place, mass = np.exp(loss[kept]), q[kept]
    if nothing > 0:  # Q where P has no mass
        place, mass = np.append(0.0, place), np.append(nothing, mass)
    error = float(np.max(pair.mass_error(mass), initial=0.0)) + 8 * UNIT
    shift = pair.atom_error + 4 * UNIT
    return RatioLaw(place, mass, infinity, 1, error, shift)


def ratio_cells(pair: DominatingPair, fine: float) -> Floats:
    """Losses between which the ratio of a pair is cut into cells.

    >>> from accountlib.worst_cases.noise import LaplacePair
    >>> cells = ratio_cells(LaplacePair(1.0), 0.02)
    >>> bool(cells[0] < -1 < 1 <= cells[-1]), 30 < len(cells) < 300
    (True, True)
    """
    low, high = pair.loss_range
    # an atom at an end may be rounded
    low, high = (
        end + sign * 1e-9 * (1e-3 + abs(end)) if math.isfinite(end) else end
        for end, sign in ((low, -1), (high, 1))
    )
    edges = np.concatenate([-LOSS_PLACES[::-1], [0.0], LOSS_PLACES])
    low, high = max(low, -_LARGEST_RATIO), min(high, _LARGEST_RATIO)
    edges = edges[(edges > low) & (edges < high)]
    edges = np.concatenate([[low], edges, [high]])
    p, q = pair.interval_masses(edges, np.diff(edges), "right")
    above, above_q = (np.cumsum(x[::-1])[::-1][1:] for x in (p, q))
    last = int(np.count_nonzero(above_q > _NO_MASS))
    last += int(above[min(last, len(above) - 1)] == 0)  # nothing above it
    edges, q = edges[:last], q[: min(last, len(edges))]
    cells: Floats = np.log(ratio_grid(np.exp(edges), q, 1, fine))
    cells[[0, -1]] = edges[[0, -1]]
    return cells


def step_law(
    pair: DominatingPair, side: Side, fine: float = _CELL_WIDTH
) -> RatioLaw:
    r"""The law of one ratio, from above or below in convex order.

    Parameters: `pair`; `side`; `fine` (h in eq. (al-width)).
    Returns: a RatioLaw with the count 1.
    Source: lemma "Dots and means" of the page "Each record once per epoch".

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> low, up = (step_law(GaussianPair(1.0), x) for x in ("lower", "upper"))
    >>> [round(float(x.place**2 @ x.mass / math.e), 3) for x in (low, up)]
    [1.0, 1.0]
    """
    if pair.discrete and 0 < pair.atom_count <= _FEW_LOSSES:
        return listed_law(pair, side)
    loss = ratio_cells(pair, fine)
    infinity, nothing = pair.infinite_mass
    edge = 8 * UNIT * float(np.max(np.abs(loss))) + pair.atom_error
    if side == "lower":
        p, q = pair.interval_masses(loss, np.diff(loss), "right")
        seen = q > _NO_MASS
        place, mass = p[seen] / q[seen], q[seen]
        if nothing > 0:
            place, mass = np.append(0.0, place), np.append(nothing, mass)
        error = float(np.max(pair.mass_error(np.minimum(p, q)[seen])))
        return RatioLaw(place, mass, infinity, 1, error, edge + 2 * error)
    halves = np.empty(2 * len(loss) - 1)
    halves[::2], halves[1::2] = loss, (loss[1:] + loss[:-1]) / 2
    p, q = pair.interval_masses(halves, np.diff(halves), "right")
    cells = HalfCells(halves, p, q, pair.excess_error(p, q))
    mass = grid_masses(cells, np.diff(loss), "upper")
    wrong = pair.mass_error(mass)
    mass = mass * (1 + wrong) * np.exp(-loss)
    place = np.append(0.0, np.exp(loss))
    mass = np.append(max(_DROPPED, 1 - math.fsum(mass)), mass)
    infinity = infinity + float(p[-1]) * (1 + 1e-9) + _DROPPED
    error = 2 * float(np.max(wrong)) + 16 * UNIT  # they sum to 1 but for it
    return RatioLaw(place, mass, infinity, 1, error, edge + 4 * UNIT)


# --- Code: the sum of two


def grid_of_sum(one: RatioLaw, other: RatioLaw) -> Floats:
    """Places for the sum of two laws, from a rough look at it."""
    rough = []
    for law in (one, other):
        k = np.linspace(0, len(law.place) - 1, _LOOK).round().astype(int)
        k = np.unique(k)
        rough.append((law.place[k], np.add.reduceat(law.mass, k)))
    (x, m), (y, n) = rough
    place, mass = np.add.outer(x, y).ravel(), np.multiply.outer(m, n).ravel()
    order = np.argsort(place)
    ends = one.place[[0, -1]] + other.place[[0, -1]]
    count = one.count + other.count
    grid = ratio_grid(place[order], mass[order], count)
    inside = (grid > ends[0]) & (grid < ends[1])
    return np.unique(np.append(grid[inside], ends))


def all_sums(one: RatioLaw, other: RatioLaw) -> tuple[Floats, Floats, int]:
    """Places and masses of all sums, and how many were equal, at most."""
    place = np.add.outer(one.place, other.place).ravel()
    mass = np.multiply.outer(one.mass, other.mass).ravel()
    place, which = np.unique(place, return_inverse=True)
    total = np.bincount(which, mass).astype(np.float64)
    return place, total, int(np.max(np.bincount(which)))


def cells_of_sums(
    one: RatioLaw, other: RatioLaw, grid: Floats, side: Side
) -> tuple[Floats, Floats, int]:
    """Mass at each place of a grid from all sums, split or merged.

    Parameters: `one`, `other`; `grid` from their first to their last sum;
    `side`.
    Returns: the masses; for "lower" how far the mean of each cell is from
    its left end, times its mass; how many sums fell into a cell at once.
    """
    width, size, twice = np.diff(grid), len(grid), one is other
    total, moved, most = np.zeros(size), np.zeros(size), 0
    for start in range(0, len(one.place), _BLOCK):
        end, begin = start + _BLOCK, start * twice
        mass = other.mass[begin:] * (1 + twice)  # a pair and its mirror image
        mass[: twice * _BLOCK] /= 1 + twice
        mass = np.multiply.outer(one.mass[start:end], mass).ravel()
        place = np.add.outer(one.place[start:end], other.place[begin:]).ravel()
        cell = np.searchsorted(grid[1:-1], place, side="right")
        far, near = place - grid[cell], grid[cell + 1] - place
        if side == "upper":  # shares of both ends
            far /= width[cell]
            total += np.bincount(cell, mass * (near / width[cell]), size)
        else:
            total += np.bincount(cell, mass, size)
        moved += np.bincount(cell, mass * far, size)
        most = max(most, int(np.max(np.bincount(cell))))
    if side == "upper":
        total[1:] += moved[:-1]
    return total, moved, most


def add_ratios(one: RatioLaw, other: RatioLaw, side: Side) -> RatioLaw:
    r"""The law of the sum of two independent sums of ratios.

    Formula: each sum S in a cell [l, r] gives $(S - l)/(r - l)$ of its
    mass to r and the rest to l ("upper"); a cell becomes its mean
    ("lower").

    Parameters: `one`, `other`, laws on the same side; `side`.
    Returns: a law on that side, with the errors that were made.

    >>> coin = listed_law(DiscretePair((0.75, 0.25), (0.25, 0.75)), "lower")
    >>> law = add_ratios(coin, coin, "lower")
    >>> law.place.round(4).tolist(), law.mass.tolist()
    ([0.6667, 3.3333, 6.0], [0.5625, 0.375, 0.0625])
    """
    count = one.count + other.count
    infinity = one.infinity * one.count + other.infinity * other.count
    if len(one.place) * len(other.place) <= _FEW_SUMS:
        place, total, most = all_sums(one, other)
    else:
        place = grid_of_sum(one, other)
        total, moved, most = cells_of_sums(one, other, place, side)
        if side == "lower":  # the mean of a cell
            place = place + moved / np.where(total > _NO_MASS, total, 1.0)
    if side == "upper" and np.any(total <= _NO_MASS):
        infinity += _DROPPED * float(place[-1])
        total[0] += _DROPPED
    kept = total > _NO_MASS
    rounds = (16 + 2 * most + len(one.place) / _BLOCK) * UNIT
    error = one.error + other.error + rounds
    shift = max(one.shift, other.shift) + 2 * error * (side == "lower")
    return RatioLaw(
        place[kept],
        total[kept],
        infinity / count,
        count,
        error,
        shift + rounds,
    )


# --- Code: a thousand ratios


def allocation_law(pair: DominatingPair, steps: int, side: Side) -> RatioLaw:
    """The law of the sum of all ratios of an epoch, on one side.

    Parameters: `pair` of a step; `steps` (t at least 1); `side`.
    Returns: a RatioLaw with the count t.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> law = allocation_law(GaussianPair(1.0), 4, "upper")
    >>> bool(abs(law.place @ law.mass / 4 - 1) < 1e-12)
    True
    """
    one = step_law(pair, side)
    rough = step_law(pair, side, _ROUGHER * _CELL_WIDTH)
    law = one
    for digit in f"{steps:b}"[1:]:
        law = add_ratios(law, law, side)
        if digit == "1":
            more = one if law.count < _MANY else rough
            law = add_ratios(law, more, side)
    return law


# --- Code: the pair of an epoch


@dataclass(frozen=True, repr=False)
class RatioPair(DiscretePair):
    r"""A discrete pair from above, with one from below that comes near it.

    Formula: $p_y = x_y q_y$ for ratios $x_y$.

    Parameters: `p`, `q`, masses of the same outcomes, which need not sum
    to 1; `error` and `shift`, what masses (relatively) and losses may be
    off; `below`, a pair that the same neighbours reach, or None if this
    is one. Masses where the other one has none are on the pair's side.
    Error: as stated in `error` and `shift`, and rounding.

    >>> RatioPair((0.75, 0.25), (0.25, 0.75), 1e-9).reached[0].error
    1e-09
    """

    error: float = 0.0
    shift: float = 0.0
    below: DominatingPair | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", tuple(map(float, self.p)))
        object.__setattr__(self, "q", tuple(map(float, self.q)))

    def __repr__(self) -> str:
        return f"RatioPair(<{len(self.p)} outcomes>, error={self.error:.1e})"

    @property
    def reached(self) -> tuple[DominatingPair, ...]:
        return (self if self.below is None else self.below,)

    @property
    def atom_error(self) -> float:
        return super().atom_error + self.shift

    def mass_error(self, mass: Floats) -> Floats:
        return super().mass_error(mass) + self.error

    def reversed(self) -> "RatioPair":
        below = self.below and self.below.reversed()
        return replace(self, p=self.q[::-1], q=self.p[::-1], below=below)


def pair_of_law(
    law: RatioLaw, side: Side, below: DominatingPair | None = None
) -> RatioPair:
    """The pair of an epoch, from the law of its sum of ratios."""
    error = law.error + law.shift + 64 * UNIT
    outward = 1 + error if side == "upper" else 1 - error
    q, infinity = law.mass.copy(), law.infinity * outward
    p = law.place / law.count * q
    lost = (law.place > 0) & (p < _NO_MASS)
    if side == "lower":
        q[lost] = p[lost] = 0.0
    elif np.any(lost):  # told, with all that they have
        p[lost], infinity = 0.0, infinity + _DROPPED
    q[p == 0] *= outward
    p, q = np.append(p, min(infinity, 1.0)), np.append(q, 0.0)
    seen = (p > 0) | (q > 0)
    shift = law.shift + 8 * UNIT
    return RatioPair(p[seen], q[seen], error, shift, below)


def has_ratios(pair: DominatingPair, steps: int) -> bool:
    """Whether a law of ratios is needed; False if the pair is the answer.

    Parameters: as for `allocation_pair`.
    Raises: as `allocation_pair`.

    >>> has_ratios(DiscretePair((0.75, 0.25), (0.25, 0.75)), 1)
    False
    """
    check_kind("pair", pair, DominatingPair)
    steps = check_count("steps", steps, high=1e7)
    edges = np.array([-_LARGEST_RATIO, 0.0, _LARGEST_RATIO])
    p, q = pair.interval_masses(edges, np.diff(edges), "right")
    plain = pair.infinite_mass == (0.0, 0.0)
    nothing = plain and pair.loss_range == (0.0, 0.0)
    if steps == 1 or nothing or np.sum(p) == 0:
        return False
    apart = abs(float(p[2] - q[2]) + float(p[3] - q[3]))
    if p[3] > _TOLD or (plain and apart < _ALIKE):
        raise NotImplementedError(
            f"RandomAllocation: losses of {pair!r} are too large or too small "
            "for ratios in floats; a full batch is an upper bound"
        )
    return True


@lru_cache(64)
def allocation_below(pair: DominatingPair, steps: int) -> DominatingPair:
    """The pair of an epoch, from below: one that neighbours reach.

    Parameters and refusals as for `allocation_pair`.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> round(allocation_below(GaussianPair(1.0), 2).delta(0.5), 6)
    0.149176
    """
    if not has_ratios(pair, steps):
        return pair
    return pair_of_law(allocation_law(pair, steps, "lower"), "lower")


@lru_cache(64)
def allocation_pair(pair: DominatingPair, steps: int) -> DominatingPair:
    r"""The pair of an epoch in which each record is in one step.

    Formula: $(\frac1t \sum_i Q \times \dots \times P \times \dots \times
    Q,\; Q \times \dots \times Q)$.

    Parameters: `pair` (P, Q) of one step, with the record in its batch
    and without; `steps` (t from 1 to 1e7).
    Returns: a pair from above whose `reached` is one from below; the pair
    itself for one step.
    Raises: ValueError for other kinds and counts; NotImplementedError for
    losses above 300 (noise multipliers below 0.07) or so small that a
    ratio has few digits (above 4e8).
    Error: the distance of both, about 1e-3 of epsilon where delta is from
    1e-12 to 1e-3; rounding is in what the pairs state.
    Source: Feldman and Shenfeld (2026); lemma "Dots and means" of the page.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> epoch = allocation_pair(GaussianPair(1.0), 2)
    >>> low, up = epoch.reached[0].delta(0.5), epoch.delta(0.5)
    >>> low < 0.149177523136 < up < 1.001 * low
    True
    """
    if not has_ratios(pair, steps):
        return pair
    lower = allocation_below(pair.reached[0], steps)
    above = allocation_law(pair, steps, "upper")
    return pair_of_law(above, "upper", lower)
