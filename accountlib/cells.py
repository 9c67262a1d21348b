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

__all__ = ["Cells", "joined", "log_rate_of", "sampled_loss"]

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
        wide = self.mass_error + error + 8 * UNIT * (1 + size(log_p))
        ends = left - below, right + above
        return Cells(log_p, self.log_q, wide, loss, error, *ends)


def joined(*parts: Cells) -> Cells:
    """Cells of several lists, one after the other."""
    rows = ([getattr(x, y.name) for x in parts] for y in fields(Cells))
    return Cells(*map(np.concatenate, rows))


# --- Sampling is a map of losses


def log_rate_of(log_miss: float) -> float:
    """log(rate) from log(1 - rate)."""
    return math.log(-math.expm1(log_miss)) if log_miss < 0 else -math.inf


@np.errstate(all="ignore")
def sampled_loss(
    t: Floats, error: Floats, log_miss: float
) -> tuple[Floats, Floats]:
    """log(1 - rate + rate e^t), and a bound of its error."""
    rate, log_rate = -math.expm1(log_miss), log_rate_of(log_miss)
    gain = rate * np.expm1(np.minimum(t, 700.0))
    near = (np.abs(gain) < 0.5) & (t < 700)
    far = np.logaddexp(log_rate + t, log_miss)
    x = np.where(near, np.log1p(np.where(near, gain, 0.0)), far)
    drawn = special.expit(t + (log_rate - log_miss))  # P(record | outcome)
    wide = 1.01 * np.fmin(error, drawn * np.expm1(error)) + UNIT * (
        8 * drawn * (4 + abs(log_rate) + size(t)) + 40 * size(x)
    )
    return x, np.where(np.isfinite(x), wide, 0.0)
