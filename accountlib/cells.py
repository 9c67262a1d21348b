# Generated from notebooks/cells.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""How does a continuum become a list?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $P$, $Q$ | – | output distributions with the record and without |
| $L$, $M$ | `loss` | privacy loss $\log(dP/dQ)$; its distribution under $P$ |
| $C$; $p$, $q$ | `log_p`, `log_q` | a cell of outcomes; its masses $P(C)$, $Q(C)$, as logs |
| $\ell$ | `loss` | merged loss of a cell, $\log(p/q)$ |
| $a$, $b$ | `left`, `right` | all losses of a cell lie in $[a, b]$ |
| $r$ | – | mass of the cell that goes to its right end |
| $\gamma$ | `log_miss` | sampling rate; the code keeps $\log(1 - \gamma)$ |
| $d$ | `drawn` | chance that the record was drawn, given the outcome |
"""

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from accountlib.checks import UNIT, Floats
from accountlib.noise import size

__all__ = [
    "Cells",
    "joined",
    "Table",
    "raised",
    "pessimistic_table",
    "optimistic_table",
    "log_rate_of",
    "sampled_loss",
]

# --- Code: a list of cells


@dataclass(frozen=True, eq=False)
class Cells:
    """Outcomes in cells: masses, merged loss, losses at both ends.

    Formula: loss = log(P(C)/Q(C)); left <= log dP/dQ <= right on C.

    Fields, one number a cell, in the order of losses: `log_p`, `log_q`,
    logs of masses; `mass_error`, a bound of the error of both logs; `loss`
    and a bound of its error; `left`, `right`, rounded outward. No mass
    under Q is loss inf, none under P -inf, without error.
    Source: Doroshenko et al. (2022), Section 3, with cells of their own.
    """

    log_p: Floats
    log_q: Floats
    mass_error: Floats
    loss: Floats
    loss_error: Floats
    left: Floats
    right: Floats

    @property
    @np.errstate(all="ignore")
    def atoms(self) -> NDArray[np.bool_]:
        """Cells with one loss, up to rounding."""
        return ~(self.right - self.left > 8 * self.loss_error)

    def all_but(self, least: float) -> NDArray[np.bool_]:
        """Which cells to keep: not the far tail, whose mass is `least`."""
        tail = np.cumsum(np.exp(self.log_p)[::-1])[::-1]
        return (tail > least) | self.atoms

    def part(self, which: NDArray[Any]) -> "Cells":
        """Some of the cells."""
        return Cells(*(getattr(self, x.name)[which] for x in fields(self)))

    def reversed(self) -> "Cells":
        """The cells of (Q, P)."""
        x = self.part(np.arange(len(self.loss))[::-1])
        losses = -x.loss, x.loss_error, -x.right, -x.left
        return Cells(x.log_q, x.log_p, x.mass_error, *losses)

    @np.errstate(all="ignore")
    def sampled(self, log_miss: float) -> "Cells":
        """The cells of (1 - rate) Q + rate P against Q."""
        none = np.zeros_like(self.loss)
        loss, error = sampled_loss(self.loss, self.loss_error, log_miss)
        left, below = sampled_loss(self.left, none, log_miss)
        right, above = sampled_loss(self.right, none, log_miss)
        alone = self.log_p + log_rate_of(log_miss)  # where Q has no mass
        log_p = np.where(self.log_q > -np.inf, self.log_q + loss, alone)
        wide = self.mass_error + error + 16 * UNIT * (1 + size(log_p))
        ends = left - below, right + above
        return Cells(log_p, self.log_q, wide, loss, error, *ends)


def joined(*parts: Cells) -> Cells:
    """Cells of several lists, one after the other."""
    rows = ([getattr(x, y.name) for x in parts] for y in fields(Cells))
    return Cells(*map(np.concatenate, rows))


# --- Code: two lists for one step


@dataclass(frozen=True, eq=False)
class Table:
    """The loss of one step as a list: losses ascend, masses as logarithms.

    Its mass at infinite loss stands apart; `count` steps are like this.
    Raises: ArithmeticError for a NaN, which could be a mass that is lost.
    """

    loss: Floats
    log_mass: Floats
    infinite: float
    count: int

    def __post_init__(self) -> None:
        fine = np.isfinite(self.loss) & np.isfinite(self.log_mass)
        if not (fine.all() and 0 <= self.infinite < np.inf):
            raise ArithmeticError("a loss or a mass is not a number")


def raised(x: Floats) -> Floats:
    """Logs of masses, a little larger: all that rounding took from them."""
    return x * np.where(x > 0, 1 + 8 * UNIT, 1 - 8 * UNIT) + 24 * UNIT


@np.errstate(all="ignore")
def pessimistic_table(
    cells: Cells, count: int, kept: NDArray[np.bool_]
) -> Table:
    r"""Connect the dots: each cell's mass at its two ends, from above.

    Formula: $r = p (1 - e^{a - \ell})/(1 - e^{a - b})$ at b, p - r at a.

    Parameters: `cells`; `count` of such steps; `kept`: the mass of other
    cells goes to infinity.
    Returns: a list whose profile is nowhere below that of the cells.
    Error: all rounded outward.
    Source: Doroshenko et al. (2022); Lemmas lem-cells, lem-rounded-dots.

    >>> cells = Cells(*np.array([[-0.7, -1.2, 0.0, 0.5, 0.0, 0.0, 1.0]]).T)
    >>> table = pessimistic_table(cells, 1, np.array([True]))
    >>> table.loss.tolist(), np.exp(table.log_mass).round(3).tolist()
    ([0.0, 1.0], [0.187, 0.309])
    """
    log_p = cells.log_p + cells.mass_error
    chord = np.expm1(cells.left - cells.right)
    above = np.minimum(cells.left - cells.loss, 0.0) - cells.loss_error
    share = np.expm1(above) / chord
    share = np.where(share >= 0, np.fmin(share, 1.0), 1.0)
    share[cells.atoms] = 1.0  # all to the right is right for any cell
    top = np.where(kept, log_p + np.log(share), log_p)
    rest = np.where(kept, log_p + np.log1p(-share), -np.inf)
    beyond = ~kept | (cells.right == np.inf)
    infinite = np.exp(raised(top[beyond])).sum() + 1e-300 * beyond.any()
    top = np.where(beyond, -np.inf, top)
    # What stays at a left end joins the right end of the cell before it.
    touch = (cells.left[1:] <= cells.right[:-1]) & ~beyond[:-1]
    joined = np.logaddexp(top[:-1], rest[1:])
    top[:-1] = np.where(touch, joined, top[:-1])
    rest[1:] = np.where(touch, -np.inf, rest[1:])
    loss = np.stack([cells.left, cells.right], 1).ravel()
    mass = np.stack([rest, top], 1).ravel()
    used = (mass != -np.inf) & (loss != -np.inf)
    infinite *= 1 + 4 * (len(loss) + 2) * UNIT
    return Table(loss[used], raised(mass[used]), float(infinite), count)


@np.errstate(all="ignore")
def optimistic_table(
    cells: Cells, count: int, kept: NDArray[np.bool_]
) -> Table:
    """Merge each cell into one outcome, from below.

    Parameters: those of `pessimistic_table`; cells not kept are dropped.
    Returns: a list whose profile is nowhere above that of the cells.
    Error: masses and losses are rounded down. Source: Lemma lem-cells.

    >>> cells = Cells(*np.array([[-0.7, -1.2, 0.0, 0.5, 0.0, 0.0, 1.0]]).T)
    >>> optimistic_table(cells, 1, np.array([True])).loss.round(6).tolist()
    [0.5]
    """
    log_p = -raised(cells.mass_error - cells.log_p)
    loss = cells.loss - (cells.loss_error + 4 * UNIT * np.abs(cells.loss))
    finite = np.isfinite(loss) & (log_p > -np.inf) & kept
    infinite = np.exp(log_p[cells.loss == np.inf]).sum()
    infinite *= 1 - 4 * (len(loss) + 2) * UNIT
    return Table(loss[finite], log_p[finite], float(infinite), count)


# --- Sampling is a map of losses


def log_rate_of(log_miss: float) -> float:
    """log(rate) from log(1 - rate)."""
    return math.log(-math.expm1(log_miss)) if log_miss < 0 else -math.inf


@np.errstate(all="ignore")
def sampled_loss(
    t: Floats, error: Floats, log_miss: float
) -> tuple[Floats, Floats]:
    """log(1 - rate + rate e^t), and a bound of its error."""
    log_rate = log_rate_of(log_miss)
    gain = -math.expm1(log_miss) * np.expm1(t)
    near = (gain > -0.5) & (gain < np.inf)
    far = np.logaddexp(log_rate + t, log_miss)
    x = np.where(near, np.log1p(np.where(near, gain, 0.0)), far)
    drawn = special.expit(t + (log_rate - log_miss))  # P(record | outcome)
    wide = 1.01 * np.fmin(error, drawn * np.expm1(error))
    return x, np.where(np.isfinite(x), wide + 40 * UNIT * np.abs(x), 0.0)
