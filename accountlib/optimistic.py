# Generated from notebooks/optimistic.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""And from below?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\Delta$, $\ell_k$, $\alpha_k$ | `step` | step of the grid; its losses $k\Delta$; $e^{\ell_k}$ |
| – | `mass` | P-mass of outcomes above, on and below a grid point |
| $e_k$ | `surplus` | $p - e^{\ell_k} q$ of outcomes, seen from row $k$ |
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
    MOST_ROWS,
    TAIL,
    PrivacyLossDistribution,
    grid_masses,
    loss_cells,
    on_grid,
    pessimistic_pld,
)

__all__ = [
    "Parts",
    "merged_cells",
    "row_parts",
    "borrow",
    "pull",
    "lifted",
    "merged_rows",
    "optimistic_pld",
    "discretize",
    "lower_hull",
    "tangent_values",
]

# --- When nobody can pay

Parts = tuple[list[list[float]], list[list[float]]]  # masses, surpluses


def merged_cells(cells: Cells) -> tuple[Floats, Floats, float]:
    """Merged losses and masses, rounded down, and the mass at infinity."""
    p = np.exp(cells.log_p) * (1 - cells.mass_error - 16 * UNIT)
    infinite = float(p[cells.loss == np.inf].sum()) * (1 - 4 * UNIT * len(p))
    loss = cells.loss - cells.loss_error
    used = np.isfinite(loss) & (p > 1e-300)
    used &= (np.cumsum(p) > TAIL) & (np.cumsum(p[::-1])[::-1] > TAIL)
    return loss[used], p[used], max(infinite, 0.0)


def row_parts(
    loss: Floats, mass: Floats, step: float
) -> tuple[int, Parts, float]:
    """First index; masses and surpluses above, on and below each row."""
    near, on, loss_error = on_grid(loss, step)
    surplus = -mass * np.expm1(near * step - loss)
    surplus -= 8 * UNIT * (np.abs(surplus) + mass * np.abs(loss))
    surplus = np.where(on, 0.0, surplus)
    first = near.min() - 1  # a row below all, for what is passed on
    if near.max() - first > MOST_ROWS:
        raise ValueError(f"step must be larger: over {MOST_ROWS} grid points")
    count = int(near.max() - first) + 1
    place = (near - first).astype(int)
    place += count * np.where(on, 1, np.where(surplus > 0, 0, 2))
    masses, surpluses = (
        np.bincount(place, x, 3 * count).astype(float).reshape(3, count)
        for x in (mass, surplus)
    )
    parts = masses.tolist(), surpluses.tolist()
    return int(first), parts, loss_error


def borrow(rows: list[float], k: int, need: float, step: float) -> bool:
    """Merge rows above k into it until they bring the surplus needed."""
    taken, j = [], k
    while need > 0 and j + 1 < len(rows):
        j += 1
        worth = -math.expm1((k - j) * step)
        taken.append(min(rows[j], need / worth * (1 + 16 * UNIT)))
        need = 0.0 if taken[-1] < rows[j] else need - taken[-1] * worth
    if need <= 0:
        for i, part in enumerate(taken):
            rows[k + 1 + i] -= part
            rows[k] += part
    return need <= 0


def pull(
    parts: Parts, k: int, have: float, step: float
) -> tuple[float, float]:
    """Balance a surplus at row k with outcomes below: mass, what is left."""
    pulled = 0.0
    for j in range(k - 1, -1, -1):
        for mass, surplus in zip(*parts, strict=True):
            if have > 0 and mass[j] > 0:
                fall = math.exp(min((k - j) * step, 700.0))
                lack = (mass[j] - surplus[j]) * fall - mass[j]
                share = min(have / lack, 1.0)
                have = 0.0 if share < 1 else have - lack
                pulled += share * mass[j]
                mass[j] -= share * mass[j]
                surplus[j] -= share * surplus[j]
        if have <= 0:
            break
    return pulled, have


def lifted(
    rows: list[float], k: int, mass: float, have: float, step: float
) -> list[float]:
    """Rows with a mass of surplus `have` one row higher, if they can pay."""
    mass, other = min(mass, rows[k]), [*rows, 0.0]
    other[k] -= mass
    other[k + 1] += mass
    need = mass * math.expm1(step) - have * math.exp(step)
    return other if borrow(other, k + 1, need, step) else rows


def merged_rows(parts: Parts, spare: float, step: float) -> list[float]:
    """Merge outcomes, from the top downward, until each row has its loss.

    spare: e^loss times the Q-mass at -infinity, for the first row.
    """
    (above, on, below), (gain, _, lack) = parts
    rows = [0.0] * len(on)
    for k in range(len(rows) - 1, -1, -1):
        rows[k] = above[k] + on[k] + below[k]
        have = gain[k] + lack[k]
        if have < 0 and not borrow(rows, k, -have, step):
            moved = below[k] * have / lack[k]
            stays = max(below[k] - moved * (1 + 8 * UNIT), 0.0)
            rows[k] = above[k] + on[k] + stays
            above[k - 1] += moved
            seen = moved * math.expm1(-step) - have * math.exp(-step)
            gain[k - 1] -= seen + 8 * UNIT * moved
        if have > 0:
            pulled, have = pull(parts, k, have, step)
            rows[k] += pulled
            have -= spare * math.exp(step * k)
        if have > 1e-12 * rows[k]:  # the lowest row
            rows = lifted(rows, k, above[k] * have / gain[k], have, step)
    return rows


def optimistic_pld(
    cells: Cells, step: float, bound: str
) -> PrivacyLossDistribution:
    """Merged outcomes, or buckets that round down, from cells of a pair."""
    loss, mass, infinite = merged_cells(cells)
    first, rows, loss_error = 0, np.zeros(1), 0.0
    if len(loss) > 0 and bound == "buckets-lower":
        near, on, loss_error = on_grid(loss, step)
        index = np.where(on, near, np.floor(loss / step))
        first, rows = grid_masses(index, mass, -1)
    elif len(loss) > 0:
        first, parts, loss_error = row_parts(loss, mass, step)
        spare = float(np.exp(cells.log_q)[cells.loss == -np.inf].sum())
        spare *= math.exp(step * first)
        rows = np.array(merged_rows(parts, spare, step)) * (1 - 8 * UNIT)
    return PrivacyLossDistribution(
        step, first, rows, infinite, bound, loss_error
    )


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
    Error: of second order in the step, of first order for buckets; above
    65,536 cells the step no longer helps everywhere.
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
    if alphas[0] != 0 or np.count_nonzero(alphas == 1) != 1:
        raise ValueError(f"alphas must contain 0 and 1, got {alphas!r}")
    one = int(np.argmax(alphas == 1))
    gaps = np.diff(alphas)
    left = values[:-1] + slopes[:-1] * gaps  # seen from the left neighbour
    right = values[1:] - slopes[1:] * gaps
    found = np.concatenate([values[:1], left[:one], right[one + 1 :], [0]])
    found[one] = min(left[one - 1], right[one])
    return lower_hull(alphas, found)
