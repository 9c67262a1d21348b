# Generated from notebooks/dominating_pairs.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Can one pair stand for all data sets?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $z$ | `edges` | an outcome; where outcomes are cut into cells |
| $m_j$, $a_j$ | `shifts`, `log_weights` | random shift of a sum; logs of its probabilities |
| $\gamma$ | `log_miss` | sampling rate; the code keeps $\log(1 - \gamma)$, which has all digits of a tiny $\gamma$ |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accountlib.cells import Cells, joined
from accountlib.checks import UNIT, Floats
from accountlib.noise import Noise, NormalNoise, mixed, size

__all__ = [
    "DominatingPair",
    "Made",
    "Reversed",
    "Subsampled",
    "Outcomes",
    "NOTHING_REVEALED",
    "outcomes",
    "ShiftedNoise",
    "Substituted",
    "Mirrored",
]

# --- Code: pairs


class DominatingPair:
    """Two distributions that can cut their outcomes into cells.

    Formula: delta(epsilon) = sup over E of P(E) - e^epsilon Q(E).

    P is the output with the record, Q without: remove. `reversed` is add.
    A subclass says `cells`; with a continuum also `start` and `finer`. It
    is frozen and can be hashed, so that equal pairs are counted together.
    Source: Zhu, Dong and Wang (2022), Definition 7.

    >>> pair = outcomes((0.75, 0.25), (0.25, 0.75))
    >>> pair.cells(pair.start()).loss.round(6).tolist()
    [-1.098612, 1.098612]
    """

    @property
    def symmetric(self) -> bool:
        """Whether (Q, P) has the same profile."""
        return False

    @property
    def middle(self) -> float | None:
        """An outcome up to which no loss is positive, if one is known."""
        return None

    def start(self) -> Floats:
        """The first edges between cells, coarse ones."""
        return np.array([-np.inf, np.inf])

    def cells(self, edges: Floats) -> Cells:
        """The cells between edges, in the order of their losses."""
        raise NotImplementedError(f"{self!r} has no cells")

    def finer(self, edges: Floats, pieces: Floats) -> Floats:
        """Edges with so many pieces in the place of each cell; twice 0.5
        joins two cells."""
        return edges

    def reversed(self) -> "DominatingPair":
        """The pair (Q, P)."""
        return self if self.symmetric else Reversed(self)


@dataclass(frozen=True)
class Made(DominatingPair):
    """A pair that is made of another one, with the same outcomes."""

    pair: DominatingPair

    @property
    def middle(self) -> float | None:
        return self.pair.middle

    def start(self) -> Floats:
        return self.pair.start()

    def finer(self, edges: Floats, pieces: Floats) -> Floats:
        return self.pair.finer(edges, pieces)


@dataclass(frozen=True)
class Reversed(Made):
    """The pair (Q, P) of another pair (P, Q)."""

    def cells(self, edges: Floats) -> Cells:
        return self.pair.cells(edges).reversed()

    def finer(self, edges: Floats, pieces: Floats) -> Floats:
        return self.pair.finer(edges, pieces[::-1])

    def reversed(self) -> DominatingPair:
        return self.pair


@dataclass(frozen=True)
class Subsampled(Made):
    """(1 - rate) Q + rate P against Q; log_miss = log(1 - rate)."""

    log_miss: float

    def cells(self, edges: Floats) -> Cells:
        return self.pair.cells(edges).sampled(self.log_miss)


@dataclass(frozen=True)
class Outcomes(DominatingPair):
    """A list of outcomes: rows of (loss, its error, log p, log q)."""

    rows: tuple[tuple[float, float, float, float], ...]

    def cells(self, edges: Floats) -> Cells:
        loss, error, log_p, log_q = np.array(self.rows).T
        wide = UNIT * (16 + 8 * (size(log_p) + size(log_q)))
        ends = loss - error, loss + error
        return Cells(log_p, log_q, wide, loss, error, *ends)


NOTHING_REVEALED = Outcomes(((0.0, 0.0, 0.0, 0.0),))


def outcomes(p: Sequence[float], q: Sequence[float]) -> Outcomes:
    """The pair of two lists of probabilities, each divided by its sum."""
    off_p, off_q = (math.fsum([*x, -1.0]) for x in (p, q))
    if not abs(off_p) + abs(off_q) < 1e-11:
        raise ValueError(f"p and q must sum to 1, got {p!r}, {q!r}")
    off_p, off_q, rows = math.log1p(off_p), math.log1p(off_q), []
    for a, b in zip(p, q, strict=True):
        log_a, log_b = (math.log(x) if x > 0 else -math.inf for x in (a, b))
        near = abs(a - b) < b / 2
        if a > 0 or b > 0:
            loss = math.log1p((a - b) / b) if near else log_a - log_b
            digits = abs(loss) if near else 1 + abs(log_a) + abs(log_b)
            error = 8 * UNIT * (digits + abs(off_p) + abs(off_q))
            error = error if math.isfinite(error) else 0.0
            loss += off_q - off_p
            rows.append((loss, error, log_a - off_p, log_b - off_q))
    return Outcomes(tuple(sorted(rows)))


# --- Moved noise


@dataclass(frozen=True)
class ShiftedNoise(DominatingPair):
    """Noise that is moved by random shifts, against the noise alone.

    Formula: P = sum of a_j f(z - m_j), Q = f.

    Parameters: `noise`; `shifts` (m_j > 0, ascending, in its unit);
    `log_weights` (log a_j, sum of a_j 1). Raises: ValueError for others.
    """

    noise: Noise
    shifts: tuple[float, ...]
    log_weights: tuple[float, ...] = (0.0,)

    def __post_init__(self) -> None:
        rises = np.all(np.diff(self.shifts, prepend=0.0) > 0)
        total = math.fsum(map(math.exp, self.log_weights))
        if not (rises and abs(total - 1) < 1e-11):
            raise ValueError(
                f"shifts must rise from 0 and weights sum to 1, got {self!r}"
            )

    @property
    def symmetric(self) -> bool:  # reflect at half the shift
        return len(self.shifts) == 1

    @property
    def is_normal(self) -> bool:
        """Whether it is one normal against another."""
        return isinstance(self.noise, NormalNoise) and self.symmetric

    @property
    def middle(self) -> float | None:
        if not self.symmetric:
            raise ValueError(f"several shifts have no middle: {self!r}")
        half = self.shifts[0] / 2
        whole = self.noise.whole
        return math.floor(half) + 0.5 if whole else half * (1 - 4 * UNIT)

    def start(self) -> Floats:
        inner = self.noise.start(self.shifts[-1])
        return np.concatenate([[-np.inf], inner, [np.inf]])

    def finer(self, edges: Floats, pieces: Floats) -> Floats:
        inner = np.isfinite(edges)
        pieces = pieces[inner[:-1] & inner[1:]]
        at = np.append(0.0, np.cumsum(np.fmin(np.fmax(pieces, 1e-9), 2**16)))
        count = min(math.ceil(at[-1]), 2**16)
        new = np.interp(np.linspace(0, at[-1], count + 1), at, edges[inner])
        if self.noise.whole:  # cells that hold one number stay
            new = np.unique(np.append(edges[inner], np.floor(new) + 0.5))
        first, last = edges[:1][~inner[:1]], edges[-1:][~inner[-1:]]
        return np.concatenate([first, new, last])

    @np.errstate(all="ignore")
    def cells(self, edges: Floats) -> Cells:
        shifts = np.array(self.shifts)[:, None]
        weights = np.array(self.log_weights)[:, None]
        log_q, wrong_q = self.noise.masses(edges, 0.0)
        log_p, wrong_p = mixed(*self.noise.masses(edges, shifts), weights)
        first, last = edges[:-1], edges[1:]
        if self.noise.whole:
            first, last = np.ceil(first), np.floor(last)
        left, below = mixed(*self.noise.log_ratio(first, shifts), weights)
        right, above = mixed(*self.noise.log_ratio(last, shifts), weights)
        left, right = left - below, right + above
        loss = log_p - log_q
        error = np.minimum(wrong_p + wrong_q, right - left)
        loss = np.clip(loss, left, right)
        wide = np.maximum(wrong_p, wrong_q)
        return Cells(log_p, log_q, wide, loss, error, left, right)


# --- A record and its substitute


@dataclass(frozen=True)
class Substituted(Made):
    """(1 - rate) Z + rate (Z + shift) against (1 - rate) Z + rate (Z - shift).

    `pair` is Z + shift against Z; Z is symmetric about 0.
    """

    log_miss: float
    symmetric = True

    def start(self) -> Floats:
        edges = self.pair.start()
        half = edges[edges > 0]
        return np.concatenate([-half[::-1], half])

    @np.errstate(all="ignore")
    def cells(self, edges: Floats) -> Cells:
        up = self.pair.cells(edges).sampled(self.log_miss)
        down = self.pair.cells(-edges[::-1]).sampled(self.log_miss).reversed()
        loss = up.loss + down.loss
        error = up.loss_error + down.loss_error
        left, right = up.left + down.left, up.right + down.right
        wide = np.maximum(up.mass_error, down.mass_error)
        return Cells(up.log_p, down.log_q, wide, loss, error, left, right)


@dataclass(frozen=True)
class Mirrored(Made):
    """What dominates both directions of a sampled pair, from above only.

    `pair` is a sample of one that equals its reverse.
    Source: Lebeda et al. (2024), Theorem 15.
    """

    symmetric = True

    def start(self) -> Floats:
        edges, middle = self.pair.start(), self.pair.middle
        if middle is None:
            return edges
        return np.append(middle, edges[edges > 1.001 * middle])

    def cells(self, edges: Floats) -> Cells:
        half = self.pair.cells(edges)
        if self.pair.middle is None:
            half = half.part(half.loss > 0)
        masses = np.exp(np.concatenate([half.log_p, half.log_q]))
        wrong = 2 * float(masses @ np.tile(half.mass_error, 2)) + 1e-15
        rest = math.log(max(1 - math.fsum(masses), 0.0) + wrong)
        row = rest, rest, 8 * UNIT * (1 + abs(rest)), 0.0, 0.0, 0.0, 0.0
        atom = Cells(*(np.array([x]) for x in row))
        return joined(half.reversed(), atom, half)

    def finer(self, edges: Floats, pieces: Floats) -> Floats:
        back, half = np.split(pieces, [len(pieces) // 2])
        return self.pair.finer(edges, np.maximum(back[::-1], half[1:]))
