# Generated from notebooks/laplace_panels.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Real orders of Laplace noise

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $a$ | `order`; `less` is $a - 1$ | order of a Rényi divergence, $1 \le a < \infty$ |
| $s$ | `scale` | scale of Laplace noise, $> 0$ |
| $m$ | `most` | $1/s$, the largest loss without sampling |
| $\gamma$ | `rate` | sampling rate; `missed` is $1 - \gamma$ |
| $z = u + iv$ | `left`, `right`, `beside` | loss without sampling, and a complex number near it |
| $\Lambda(z)$ | `spread` | sampled loss $\log(1 - \gamma + \gamma e^z)$ |
| $\beta$ | `share` | $\gamma e^u/(1 - \gamma + \gamma e^u)$, by how much $\Lambda$ moves if $u$ moves by 1 |
| $\varphi(y)$ | – | $e^y - 1 - y$ |
| $\rho$, $B$ | – | size of an ellipse around $[-1, 1]$, and a bound of the integrand on it |
| $n + 1$ | – | number of places of a Gauss rule |
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from accountlib.checks import UNIT
from accountlib.inputs import Floats, front_door
from accountlib.real_orders import (
    MOST_MEAN,
    LossPoints,
    log_terms,
    loss_points,
    rdp_from_sums,
)
from accountlib.renyi import Orders, laplace_rdp

__all__ = [
    "LaplacePanels",
    "PANEL_RULE",
    "PANEL_ERROR",
    "gauss_part",
    "panel_sums",
    "laplace_curve",
]

# --- The code


@dataclass(frozen=True)
class LaplacePanels:
    r"""A sampled Laplace step in one direction, and panels of its losses.

    Formula: losses u in [-m, m] without sampling, m = 1/s, with the
    density $\frac14 e^{-(m+u)/2}$ under Q.

    Parameters: `most` (m); `rate`, `missed`; `add`, the direction.

    >>> LaplacePanels(1.0, 0.5, 0.5, False).most
    1.0
    """

    most: float
    rate: float
    missed: float
    add: bool

    def points(self, base: Floats, log_mass: Floats) -> LossPoints:
        """Sampled losses where those without sampling are `base`."""
        return loss_points(
            base, log_mass, rate=self.rate, missed=self.missed, add=self.add
        )

    def log_bound(
        self,
        less: Floats,
        middle: Floats,
        cell: Orders,
        half: float,
        ell: float,
    ) -> Floats:
        """Bound of the integral over panels, on their ellipses if ell = 1."""
        over, beside = 1.125 * half * ell, 1.875 * half * ell
        left, right = middle - half - over, middle + half + over
        low, high = (self.points(x, np.zeros(len(x))) for x in (left, right))
        least = low.spread + np.log1p(-high.share * (1 - math.cos(beside)))
        turn = (beside * high.share / math.cos(beside / 2))[cell]
        size = np.maximum(np.abs(low.spread), np.abs(high.spread))[cell]
        size = size + turn
        up, down = (-least, high.spread) if self.add else (high.spread, -least)
        growth, inverse = np.maximum(less * up[cell], 0), 2 / less
        near = np.log(less * size**2 / 2) + growth
        far = np.log(inverse + turn) + growth
        far = np.minimum(near, np.logaddexp(far, np.log(inverse + size)))
        own = 2 * np.log(size) - math.log(2) + np.maximum(down, 0)[cell]
        weight = -(self.most + left) / 2 + (0 if self.add else high.spread)
        total = np.logaddexp(far, own) + weight[cell]
        return np.asarray(total + math.log(half / 2))

    def exponents(
        self, less: Floats, middle: Floats, cell: Orders, half: float
    ) -> Floats:
        """Size of the numbers that are added up in the exponents."""
        ends = middle - half, middle + half
        low, high = (self.points(x, np.zeros(len(x))) for x in ends)
        up = np.maximum(low.loss, high.loss)[cell]
        size = np.maximum(np.abs(low.spread), np.abs(high.spread))[cell]
        moved = (1 + less * (up > 0)) * high.share[cell] * self.most
        return np.asarray(self.most + size + less * np.maximum(up, 0) + moved)


PANEL_RULE = np.polynomial.legendre.leggauss(16)
PANEL_ERROR = 4e-18  # of the rule, for integrands up to 1 on the ellipse


@front_door
def gauss_part(
    less: Floats,
    step: LaplacePanels,
    best: Floats,
    panels: tuple[Floats, float],
    row: Orders,
    cell: Orders,
) -> Floats:
    r"""What some panels add to the integrals.

    Parameters: `less`, `step` as for `panel_sums`; `best`, a logarithm for
    each order; `panels`: all middles, and the half length; `row`, `cell`:
    order and panel of the pairs to add up.
    Returns: a sum for each order, relative to `best`.

    >>> step = LaplacePanels(0.5, 1.0, 0.0, False)
    >>> one, none = np.zeros(1), np.zeros(1, int)
    >>> sum_ = gauss_part(one, step, one, (one, 0.5), none, none)
    >>> float(sum_[0].round(9))
    0.008163325
    """
    middles, half = panels
    each, at = np.unique(cell, return_inverse=True)
    places = middles[each][:, None] + half * PANEL_RULE[0]
    mass = np.log(PANEL_RULE[1] * half / 4) - (step.most + places) / 2
    points, total = step.points(places, mass), np.zeros(len(less))
    for part in np.array_split(np.arange(len(row)), 1 + len(row) // 16000):
        terms = log_terms(less[row[part], None], points, at[part])
        terms = np.exp(terms - best[row[part], None])
        total += np.bincount(row[part], np.sum(terms, axis=1), len(less))
    return total


@front_door
def panel_sums(less: Floats, step: LaplacePanels) -> tuple[Floats, Floats]:
    r"""The integral for sampled Laplace noise, for many orders.

    Formula: both atoms, and the rule of Gauss on panels.

    Parameters: `less` (a - 1 >= 0), a 1-d array; `step`.
    Returns: logarithms, and bounds of their absolute errors.

    >>> log_j, _ = panel_sums(np.ones(1), LaplacePanels(1.0, 1.0, 0.0, False))
    >>> float(np.log1p(np.exp(log_j))[0].round(12))
    0.619123629999
    """
    ends = np.array([-step.most, step.most])
    weights = np.array([0, -step.most])
    atoms = step.points(ends, weights - math.log(2))
    terms = log_terms(less[:, None], atoms, np.arange(2))
    best = np.max(terms, axis=1)
    total = np.sum(np.exp(terms - best[:, None]), axis=1)
    lost, size = np.zeros(len(less)), np.zeros(len(less))
    row, place = np.arange(len(less)), np.zeros(len(less), int)
    half = step.most
    seen = np.nonzero(terms > best[:, None] - 42)  # atoms that matter
    exponent = step.exponents(less[seen[0]], ends, seen[1], 0)
    np.maximum.at(size, seen[0], exponent)
    while len(row):
        each, cell = np.unique(place, return_inverse=True)
        middle = (2 * each + 1) * half - step.most
        bound = step.log_bound(less[row], middle, cell, half, 0.0) - best[row]
        missing = 2 * np.exp(np.minimum(bound, 600))
        done = missing < 1e-18
        good = np.zeros(len(row), bool)
        if half < 0.8:  # else the ellipse would be too high
            bound = step.log_bound(less[row], middle, cell, half, 1.0)
            error = PANEL_ERROR * np.exp(np.minimum(bound - best[row], 600))
            good = ~done & (error < 1e-16)
            missing[good] = error[good]
        lost += np.bincount(row, np.where(done | good, missing, 0), len(less))
        if np.any(good):
            who, which = row[good], cell[good]
            exponent = step.exponents(less[who], middle, which, half)
            np.maximum.at(size, who, exponent)
            panels = middle, half
            total += gauss_part(less, step, best, panels, who, which)
        left = ~(done | good)
        row, half = np.repeat(row[left], 4), half / 4
        place = (4 * place[left][:, None] + np.arange(4)).ravel()
    log_sum = best + np.log(total)
    size += np.abs(log_sum)
    return log_sum, lost / total + UNIT * (64 + 8 * size)


def laplace_curve(
    scale: float, rate: float, *, missed: float, add: bool
) -> Callable[[Floats], Floats]:
    r"""Renyi divergence of sampled Laplace noise, at every real order.

    Formula: eq. (ren-integral) with two atoms and panels between them.

    Parameters: `scale` (s > 0); `rate` in (0, 1), `missed` (1 - rate);
    `add`: D(Q || M) instead of D(M || Q).
    Returns: a function of a 1-d array of finite orders >= 1.
    Error: an upper bound; relative error below 1e-12 for orders up to 100
    and scales above 0.1, in general $2^{-50}$ times the largest exponent.
    For scales below 1e-4 the bound is that without sampling.

    >>> curve = laplace_curve(0.5, 0.01, missed=0.99, add=False)
    >>> float(curve(np.array([1.5]))[0].round(15))
    0.000292451206739
    """
    if scale < 1 / MOST_MEAN:
        return lambda order: laplace_rdp(order, scale=scale) * (1 + 1e-13)
    step = LaplacePanels(1 / scale, rate, missed, add)

    @front_door
    def curve(order: Floats) -> Floats:
        log_j, error = panel_sums(order - 1, step)
        return rdp_from_sums(order - 1, log_j, error)

    return curve
