# Generated from notebooks/engine/one_sided.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Tables that carry their errors

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\lambda$ | `tilt` | exponent of the tilt, $\ge 0$ |
| $K$ | `log_scale` | log of the mean of $e^{\lambda S}$ over finite losses; it undoes the tilt |
| $o$, $i$, $\Delta$ | `offset`, `index`, `step` | the losses are $\ell_i = o + i\Delta$ |
| $m_i$ | `mass` | tilted mass at $\ell_i$ |
| $p_\infty$ | `infinity_mass` | P-mass of infinite losses |
| $\tau$ | `tail` | tilted mass that a table lacks (upper) or has too much (lower) |
| $g$ | `gap` | $\ell_i - \varepsilon$, where it is positive |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from accountlib.counting.loss_tables import BoundKind
from accountlib.counting.rounding import log_peak
from accountlib.inputs import Floats
from accountlib.worst_cases.dominating_pairs import UNIT, DominatingPair

__all__ = [
    "MOST_POINTS",
    "FINE_GRID",
    "MOST_WORK",
    "POOR_EXCESS",
    "LOSS_PLACES",
    "Losses",
    "OneSided",
    "TiltedTable",
    "tilt_masses",
    "Total",
    "read_delta",
    "past_root",
    "half_way",
    "read_epsilon",
]

# --- Definition

MOST_POINTS = 2**19  # of a table, and of a fast transform
FINE_GRID = 2048  # cells; a longer table gets coarser cells in its tails
MOST_WORK = 1e8  # multiplications of a transform without FFT: some 0.1 s
POOR_EXCESS = 8.0  # a larger one: one tilt does not reach what matters
LOSS_PLACES = np.frombuffer(  # where any loss is looked for; read-only
    np.append(  # ten places for each power of ten, then few
        np.logspace(-9, 12, 211), 10.0 ** np.arange(14, 141, 2)
    ).tobytes()
)
_ROOT_TURNS = 120  # evaluations around a root; a dozen, as a rule
_PAST_ROOT = 0.4  # part of the room by which a guess goes past the root
Losses = Sequence[tuple[DominatingPair, int]]


@dataclass(frozen=True, eq=False)
class OneSided(ABC):
    r"""One side of a total privacy loss: a tilted mass on a grid.

    Formula: P-mass $e^{K - \lambda \ell} m$ at grid losses $\ell$, and
    $p_\infty$ at infinity.

    Fields: `step` ($\Delta$), `offset` (o), `tilt` ($\lambda \ge 0$),
    `log_scale` (K), `tail` ($\tau$), `infinity_mass`, `bound` ("upper" or
    "lower"): the side of the truth on which eq. (int-upper) holds.
    """

    step: float
    offset: float
    tilt: float
    log_scale: float
    tail: float
    infinity_mass: float
    bound: BoundKind

    @property
    def sign(self) -> int:
        """1 for an upper table, -1 for a lower one: the way to round."""
        return 1 if self.bound == "upper" else -1

    @property
    def padding(self) -> float:
        r"""$\tau e^{2\tau}$: the tail, in terms of K of a cut table."""
        small = self.tail < 0.5
        return self.tail * math.exp(2 * self.tail) if small else math.inf

    @property
    @abstractmethod
    def reach(self) -> float:
        """No loss of the grid is larger in size."""

    @abstractmethod
    def weighed(self, epsilon: Floats) -> tuple[Floats, Floats]:
        r"""Sum of $m e^{-\lambda g} (1 - e^{-g})$ over $g = \ell -
        \varepsilon > 0$, and a bound for its error, for each epsilon."""


@dataclass(frozen=True, eq=False)
class TiltedTable(OneSided):
    r"""One-sided table: the losses $o + i \Delta$ and their tilted masses.

    Fields: those of `OneSided`; `index` (i, increasing whole numbers),
    `mass` (m, at least 0, one per index), and `pieces`, the masses of
    near and of far losses, if they are told apart.

    >>> table = TiltedTable(
    ...     0.5, 0.0, 0.0, 0.0, 0.0, 0.0, "upper", np.arange(1, 3), np.ones(2)
    ... )
    >>> table.losses
    array([0.5, 1. ])
    """

    index: NDArray[np.int64]
    mass: Floats
    pieces: tuple[Floats, ...] = ()

    @property
    def losses(self) -> Floats:
        """The losses, one per entry of `mass`."""
        return self.offset + self.step * self.index

    @property
    def reach(self) -> float:
        ends = self.losses[[0, -1]]
        return abs(self.offset) + float(np.max(np.abs(ends)))

    def weighed(self, epsilon: Floats) -> tuple[Floats, Floats]:
        gap = np.maximum(np.subtract.outer(-epsilon, -self.losses), 0)
        value = (np.exp(-self.tilt * gap) * -np.expm1(-gap)) @ self.mass
        above = np.count_nonzero(gap, axis=-1)
        underflow = np.where(above > 0, 1e-290, 0.0)
        return value, UNIT * (above + 16) * value + underflow


# --- Tilted masses, rounded outward


def tilt_masses(
    losses: Floats, mass: Floats, tilt: float, sign: int
) -> tuple[Floats, float]:
    r"""Tilted masses with sum 1, rounded up (sign 1) or down (sign -1).

    Formula: $m_k = e^{\lambda \ell_k - K} p_k$ with
    $e^K = \sum_k e^{\lambda \ell_k} p_k$.

    Parameters: `losses`, `mass` ($p_k \ge 0$, not all 0; or several rows
    of them), `tilt`, `sign`.
    Returns: (m, K); $e^{K - \lambda \ell_k} m_k$ lies on the wanted side
    of $p_k$, for this very K.
    Error: an exponential of x errs by about |x| u; 6 times that, and
    more, is added or taken away.

    >>> mass, log_scale = tilt_masses(
    ...     np.log([1 / 3, 3.0]), np.array([0.25, 0.75]), 1.0, 1
    ... )
    >>> (28 * mass).round(9), round(math.exp(log_scale), 9)
    (array([ 1., 27.]), 2.333333333)
    """
    seen = mass > 0
    log_mass = np.log(np.where(seen, mass, 1.0))
    exponent = np.where(seen, tilt * losses + log_mass, -np.inf)
    top = float(np.max(exponent))
    log_scale = top + math.log(float(np.sum(np.exp(exponent - top))))
    size = np.abs(tilt * losses) + np.abs(log_mass) + 8 + abs(log_scale)
    tilted = np.exp(exponent - log_scale) * (1 + sign * 6 * UNIT * size)
    return np.maximum(tilted, 0), log_scale


# --- Reading off

Total = OneSided | Sequence[OneSided]


@overload
def read_delta(total: Total, epsilon: float) -> float: ...


@overload
def read_delta(total: Total, epsilon: Floats) -> Floats: ...


def read_delta(total: Total, epsilon: float | Floats) -> float | Floats:
    """End of the interval for delta at one epsilon, or at many.

    Formula: eq. (int-upper), rounded outward.

    Parameters: `total`, or several whose deltas add up; `epsilon`, a
    number or an array.
    Returns: a number in [0, 1] on the total's side of the truth, for each.

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.25, 0.75])
    ... )
    >>> round(read_delta(coin, 0.0), 6)
    0.47409
    """
    epsilon = np.asarray(epsilon, dtype=np.float64)
    if not isinstance(total, OneSided):
        parts = np.stack([read_delta(part, epsilon) for part in total])
        room = 1 + total[0].sign * 2 * len(total) * UNIT
        together = np.minimum(np.sum(parts, axis=0) * room, 1.0)
        return together if together.ndim else float(together)
    sign, largest = total.sign, np.abs(epsilon) + total.reach
    moved = epsilon - sign * 8 * UNIT * largest  # rounding of the grid
    value, wrong = total.weighed(moved)
    if total.tail > 0:
        wrong = wrong + total.padding * math.exp(log_peak(total.tilt))
    value = value + sign * wrong
    seen = value > 0
    log_value = np.log(np.where(seen, value, 1.0))
    error = 64 + 16 * total.tilt * largest + 4 * abs(total.log_scale)
    error += 4 * np.abs(log_value)
    log_scale = total.log_scale - total.tilt * epsilon
    log_scale += sign * UNIT * error
    log_scale = np.where(np.isnan(log_scale), sign * np.inf, log_scale)
    finite = np.exp(np.minimum(log_scale + log_value, 0.0))
    if sign > 0:
        finite = np.maximum(finite, 5e-324)  # no underflow to 0
    result = np.where(seen, finite, 0.0) + total.infinity_mass
    result = np.minimum(result * (1 + sign * 8 * UNIT), 1.0)
    unknown = 1.0 if sign > 0 else 0.0
    result = np.where(np.isnan(value), unknown, result)
    return result if result.ndim else float(result)


def past_root(root: float, low: float, high: float, room: float) -> float:
    """A guess a hair beyond an end that is near: both ends close in.

    >>> past_root(1.0, 0.0, 1.1, 0.5)
    0.8
    """
    hair = _PAST_ROOT * room * root
    if root - low < 1.2 * hair:
        return root + hair
    if high - root < 1.2 * hair:
        return root - hair
    return root


def half_way(
    low: float, high: float, order: float, below: float, zero_seen: bool
) -> float:
    """A place between the ends; `below` the upper end if 0 is the other.

    >>> half_way(1.0, 2.0, 5.0, 0.1, True), half_way(0.0, 2.0, 5.0, 0.5, True)
    (1.5, 1.5)
    """
    if high == math.inf:
        return 2 * low + 1 / order
    middle = (low + high) / 2
    if low > 0:
        return middle
    return max(high - below, middle if zero_seen else 0.0)


def read_epsilon(
    total: Total,
    delta: float,
    guess: float = 1.0,
    order: float = 1.0,
    room: float = 1e-9,
) -> float:
    """End of the interval for epsilon at one delta.

    Formula: a root of `read_delta`, enclosed by two evaluations.

    Parameters: `total`, as for `read_delta`; `delta`; `guess`, where to
    begin; `order`, minus the slope of log delta there, roughly; `room`,
    relative distance of the two evaluations.
    Returns: a number (0 to inf) on the total's side of the truth.

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.25, 0.75])
    ... )
    >>> round(read_epsilon(coin, 0.3), 5)
    0.48917
    """
    parts = [total] if isinstance(total, OneSided) else total
    upper = parts[0].sign > 0
    infinite = math.fsum(part.infinity_mass for part in parts)
    if delta <= infinite * (1 + parts[0].sign * 8 * len(parts) * UNIT):
        return math.inf
    low, high, x, slope = 0.0, math.inf, max(guess, 0.0), order
    before: tuple[float, float] | None = None
    zero_seen = False
    for turn in range(_ROOT_TURNS):
        value = read_delta(total, x)
        if value > delta or (value == delta and not upper):
            low = x
        else:
            high = x
        if high < math.inf and high - low <= room * high:
            break
        y = math.log(value) - math.log(delta) if value > 0 else -1e4
        if before is not None and (before[1] - y) * (x - before[0]) > 0:
            slope = (before[1] - y) / (x - before[0])
        before, root, below = (x, y), x + y / slope, room * high * 2.0**turn
        if value <= 0:  # no slope: step down, farther each time
            before, root, below = None, math.inf, 0.0
        root = past_root(root, low, high, room)
        slow = turn % 8 == 7 or (turn > 8 and turn % 2 == 1)
        if slow or not low < root < high:
            below = below or 2.0**turn / order
            root = half_way(low, high, order, below, zero_seen)
        x, zero_seen = root, zero_seen or root == 0
    return high if upper else low
