# Generated from notebooks/optimistic.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""And from below?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\Delta$, $\ell_k$ | `step` | step of the grid; its losses $k\Delta$ |
| – | `have` | surplus $p - e^{\ell_k} q$ of the group of $\ell_k$ |
| $n$ | `most` | how many outcomes meet in a row |
"""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accountlib.cells import Cells
from accountlib.checks import UNIT, Floats, check
from accountlib.dominating_pairs import DominatingPair
from accountlib.pld import (
    BOUNDS,
    TAIL,
    PrivacyLossDistribution,
    few_enough,
    grid_masses,
    loss_cells,
    on_grid,
    pessimistic_pld,
)

__all__ = [
    "merged_rows",
    "merged_cells",
    "optimistic_pld",
    "discretize",
    "lower_hull",
    "tangent_values",
]

# --- Merge until the loss is right


def merged_rows(
    x: list[float], mass: list[float], step: float
) -> tuple[int, list[float], int]:
    """First index; P-masses on the grid; how many outcomes met at most.

    `x`: losses in steps, ascending; `mass`: their P-masses.
    """
    first, low, high, most = math.floor(x[0]), 0, len(x) - 1, 0
    seen = np.bincount(np.floor(x).astype(int) - first, mass)
    full = np.flatnonzero(seen > 1e-7 * seen.max())
    last, meet = first + len(seen) - 1, first + int(full[-1]) + 1
    if meet > last:
        meet = first + int(full[0]) - 1
    rows = [0.0] * len(seen)
    down, up = range(last, meet, -1), range(first, meet + 2)
    for sign, order in ((1, down), (-1, up)):
        for k in order:
            left, have, got = high - low, 0.0, 0.0
            while low <= high:
                i = high if sign > 0 else low
                away = (k - x[i]) * step
                ratio = math.expm1(away) if away < 700 else math.inf
                gain = -sign * mass[i] * ratio
                if gain < -have:  # only a part of it is needed
                    part = mass[i] * (have / -gain)
                    mass[i] -= part
                    got += part
                    break
                have, got = have + gain, got + mass[i]
                low, high = low + (sign < 0), high - (sign > 0)
            if sign < 0 < have and low > high:
                k -= 1  # rounded down
            if got > 0:
                rows[k - first] += got
            most = max(most, left - high + low)
    return first, rows, most


# --- Names used here


def merged_cells(cells: Cells) -> tuple[Floats, Floats, float]:
    """Merged losses and masses, rounded down, and the mass at infinity."""
    p = np.exp(cells.log_p) * (1 - cells.mass_error - 16 * UNIT)
    infinite = float(p[cells.loss == np.inf].sum()) * (1 - 4 * UNIT * len(p))
    loss = cells.loss - cells.loss_error
    used = np.isfinite(loss) & (p > 1e-300)
    used &= (np.cumsum(p) > TAIL) & (np.cumsum(p[::-1])[::-1] > TAIL)
    return loss[used], p[used], max(infinite, 0.0)


def optimistic_pld(
    cells: Cells, step: float, bound: str
) -> PrivacyLossDistribution:
    """Merged outcomes, or buckets that round down, from cells of a pair."""
    loss, mass, infinite = merged_cells(cells)
    near, on, off = on_grid(loss, step)
    x = np.where(on, near, loss / step)
    if len(x) == 0 or bound == "buckets-lower":
        first, rows = grid_masses(np.floor(x), mass, -1)
    else:
        few_enough(x[-1] - x[0])
        first, some, most = merged_rows(x.tolist(), mass.tolist(), step)
        rows = np.array(some) * (1 - 4 * UNIT * (len(some) + most + 16))
        off += 16 * UNIT * (most + 8 + float(np.abs(loss).max()))
    return PrivacyLossDistribution(step, first, rows, infinite, bound, off)


# --- One call for both sides


@np.errstate(all="ignore")
def discretize(
    pair: DominatingPair, *, step: float, bound: str = "upper"
) -> PrivacyLossDistribution:
    r"""Put the privacy loss of a dominating pair on an even grid.

    Formula: upper: connected dots; lower: outcomes merged until their loss
    lies on the grid; buckets: losses rounded up or down.

    Parameters: `pair`; `step` ($\Delta$ in [1e-9, 100]); `bound`, "upper",
    "lower", "buckets-upper" or "buckets-lower".
    Returns: a PLD whose profile lies on that side of the pair's, for every
    epsilon. P-mass below 1e-40 at either end is cut off on the safe side.
    Raises: ValueError for other arguments, or for a step so small that
    more than 4 million grid points are needed.
    Error: "upper" of second order in the step. "lower", too, if the loss
    has thin tails or ends on grid points; else of first order, about half
    of that of buckets. Beyond 65,536 cells the step no longer helps.
    Source: Doroshenko et al. (2022), Algorithms 1 and 2, in masses.

    >>> from accountlib.mechanisms import RandomizedResponse
    >>> pair = RandomizedResponse(0.75).removed(1)
    >>> discretize(pair, step=math.log(3)).mass.round(6)
    array([0.25, 0.  , 0.75])
    """
    step = check("step", step, 1e-9, 100)
    if np.ndim(step) > 0:
        raise ValueError(f"step must be one number, got {step!r}")
    if not isinstance(pair, DominatingPair):
        raise ValueError(f"pair must be a dominating pair, got {pair!r}")
    if bound not in BOUNDS:
        raise ValueError(f"bound must be in {BOUNDS}, got {bound!r}")
    upper = bound.endswith("upper")
    make = pessimistic_pld if upper else optimistic_pld
    return make(loss_cells(pair, step), step, bound)


# --- The same in the profile: tangents


def lower_hull(x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """Values at x of the largest convex function below the points (x, y).

    >>> lower_hull(np.array([0, 1, 2, 3]), np.array([1.0, 0.1, 0.1, 0.0]))
    array([1.  , 0.1 , 0.05, 0.  ])
    """
    kept = [0]
    for i in range(1, len(x)):
        while len(kept) > 1:
            a, b = kept[-2:]
            if (y[b] - y[a]) * (x[i] - x[b]) < (y[i] - y[b]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(i)
    hull = y.copy()
    for a, b in pairwise(kept):
        slope = (y[b] - y[a]) / (x[b] - x[a])
        hull[a:b] = y[a] + slope * (x[a:b] - x[a])
    return hull


def tangent_values(
    alphas: NDArray[Any], values: NDArray[Any], slopes: NDArray[Any]
) -> NDArray[Any]:
    r"""Algorithm 2: a privacy profile on a grid below a given one.

    Formula: at $\alpha_i \le 1$ the tangent that touches at
    $\alpha_{i-1}$, at $\alpha_i \ge 1$ the one that touches at
    $\alpha_{i+1}$, at 1 the smaller one; 1 at the first $\alpha$, 0 at the
    last one; then the lower convex hull.

    Parameters: `alphas`, which ascend from 0 and contain 1; `values` ($h$)
    and `slopes` ($h'$, any subgradient in [-1, 0]) there.
    Returns: values at `alphas` of a profile below $h$.
    Raises: ValueError for alphas without 0 or 1.
    Error: some ten times that of `discretize`, and the infinite mass.
    Source: Doroshenko et al. (2022), Algorithm 2, Theorem 5.4.

    >>> alphas, values = np.array([0.0, 1.0, 2.0]), np.array([1, 0.25, 0.0])
    >>> tangent_values(alphas, values, np.array([-1, -0.25, 0.0]))
    array([1., 0., 0.])
    """
    if alphas[0] != 0 or 1 not in alphas[1:-1]:
        raise ValueError(f"alphas must begin with 0 and have 1, got {alphas}")
    one = int(np.argmax(alphas == 1))
    gaps = np.diff(alphas)
    left = values[:-1] + slopes[:-1] * gaps  # seen from the left neighbour
    right = values[1:] - slopes[1:] * gaps
    found = np.concatenate([values[:1], left[:one], right[one + 1 :], [0]])
    found[one] = min(left[one - 1], right[one])
    return lower_hull(alphas, found)
