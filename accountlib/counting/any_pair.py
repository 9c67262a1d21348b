# Generated from notebooks/counting/any_pair.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Any pair on a grid

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\Delta$, $\ell_i$ | `step`, `losses` | step of the grid; its losses $i\Delta$ |
| $\alpha_i$ | `alpha` | $e^{\ell_i}$ |
| $P_i$, $Q_i$ | `p`, `q` | P- and Q-mass of the cell $(\ell_{i-1}, \ell_i]$, in the code those of its halves |
| $r_i$ | `share` | part of $P_i$ that goes to $\ell_i$; the rest goes to $\ell_{i-1}$ |
| $c$ | – | the one loss of a pair, in an exercise |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from dataclasses import dataclass
from typing import get_args

import numpy as np
from scipy.optimize import isotonic_regression

from accountlib.counting.loss_tables import (
    HAIR,
    LARGEST_LOSS,
    MOST_CELLS,
    BoundKind,
    GridTooFine,
    PrivacyLossDistribution,
    upper_share,
)
from accountlib.counting.tangents import Depths, lower_share
from accountlib.inputs import (
    Floats,
    check_choice,
    check_kind,
    check_number,
    front_door,
)
from accountlib.worst_cases.dominating_pairs import (
    UNIT,
    Closed,
    DominatingPair,
    ExcessError,
)

__all__ = [
    "convex_hull",
    "drop_negative",
    "HalfCells",
    "grid_masses",
    "loss_quantiles",
    "even_edges",
    "discretize",
]

# --- The convex hull


def convex_hull(losses: Floats, mass: Floats) -> Floats:
    r"""Repair negative masses: the convex hull of the curve they stand for.

    Formula: the slopes $-Q(L > \ell)$ of the curve, as a function of
    $\alpha = e^\varepsilon$, are replaced by their isotonic regression,
    weighted with the lengths of the intervals of $\alpha$. Where slopes
    are pooled, the masses between are split among the two ends.

    Parameters: `losses`, increasing; `mass`, one P-mass per loss, of
    either sign, whose curve lies below a convex curve.
    Returns: non-negative masses, whose curve is the largest convex curve
    below the given one; they and their sum are rounded down.
    Source: Doroshenko et al. (2022), Algorithm 2.

    >>> convex_hull(np.log([1.0, 2.0, 3.0]), np.array([1.0, -0.2, 0.9]))
    array([0.95, 0.  , 0.75])
    """
    if np.all(mass >= 0):
        return mass
    kinks = np.flatnonzero(mass)
    loss, kept = losses[kinks], mass[kinks]
    alpha = np.exp(loss)
    beyond = np.cumsum((kept / alpha)[::-1])[::-1]
    slopes = np.append(beyond, 0.0)  # Q-mass above 0, alpha_0, alpha_1, ...
    lengths = np.append(np.diff(alpha, prepend=0.0), 1e290)
    blocks = isotonic_regression(
        slopes, weights=lengths, increasing=False
    ).blocks
    # Kinks inside a pooled block go to the kinks at its two ends.
    ends = np.append(-np.inf, np.append(loss, np.inf))
    of_slope = np.repeat(np.arange(len(blocks) - 1), np.diff(blocks))
    block = of_slope[:-1]
    inner = block == of_slope[1:]
    left, right = blocks[block], blocks[block + 1]  # positions in `ends`
    share = -np.expm1(ends[left] - loss) / -np.expm1(ends[left] - ends[right])
    moved = np.where(inner, kept, 0)
    to_right = moved * share - 16 * UNIT * np.abs(moved)
    hull = np.zeros(len(ends))
    hull[1:-1] = np.where(inner, 0, kept)
    hull += np.bincount(right, to_right, minlength=len(ends))
    hull += np.bincount(left, moved - to_right, minlength=len(ends))
    # What was pooled with the piece beyond the last kink is taken from the
    # largest losses, without raising the curve below them.
    lost = max(0.0, -float(hull[-1]))
    for k in np.flatnonzero(hull[1:-1] > 0)[::-1] + 1:
        if lost == 0:
            break
        below = np.flatnonzero(hull[1:k] > 0)
        start = loss[below[-1]] if len(below) else -np.inf
        weight = -math.expm1(start - loss[k - 1])
        part = min(hull[k], lost / weight * (1 + 8 * UNIT))
        lost = max(0.0, lost - hull[k] * weight) if part == hull[k] else 0.0
        hull[k] -= part
    result = np.zeros_like(mass)
    result[kinks] = hull[1:-1]
    result = drop_negative(result)
    excess = math.fsum(result) - math.fsum(mass)
    return result if excess <= 0 else result * (1 - excess / math.fsum(result))


def drop_negative(mass: Floats) -> Floats:
    """Cut rounding errors below 0 off, and scale the rest down for it.

    Parameters: `mass`, masses on a grid; the negative ones are tiny.
    Returns: masses >= 0 of a lower table whose curve is not above that
    of the given ones.
    Error: all masses shrink by one factor: 1 minus the largest quotient
    of the masses cut and kept above a grid point.

    >>> drop_negative(np.array([-0.25, 1.0]))
    array([0.  , 0.75])
    """
    if np.all(mass >= 0):
        return mass
    cut = np.cumsum(np.maximum(-mass, 0)[::-1])[::-1]
    result = np.maximum(mass, 0)
    total = np.cumsum(result[::-1])[::-1]
    excess = np.max(cut[total > 0] / total[total > 0], initial=0.0)
    return np.asarray(result * max(0.0, 1 - float(excess)))


# --- From cells to a table


@dataclass(frozen=True, eq=False)
class HalfCells:
    """Masses of the halves of n cells, with what is known of their errors.

    Fields: `edges`, the 2n + 1 ends and middles of the cells; `p`, `q`,
    masses of the 2n + 2 intervals that they cut; `error`, what their pair
    states for differences of them; `before` and `hair`, for pairs with
    atoms: P- and Q-masses of the cells moved down by a hair.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> pair, edges = GaussianPair(1.0), np.array([0.0, 0.5, 1.0])
    >>> p, q = pair.masses(edges)
    >>> HalfCells(edges, p, q, pair.excess_error(p, q)).mass.round(4)
    array([0.3829])
    """

    edges: Floats
    p: Floats
    q: Floats
    error: ExcessError
    before: Depths | None = None
    hair: float = 0.0

    @property
    def mass(self) -> Floats:
        """P-masses of the cells."""
        return self.p[1:-1:2] + self.p[2:-1:2]

    def share(
        self, step: float | Floats, bound: BoundKind, balanced: bool
    ) -> Floats:
        """How much of each cell goes to its right end."""
        edges, p, q, error = self.edges, self.p, self.q, self.error
        fine = float(np.min(step)) >= 1e-14
        if bound == "upper" and fine:
            # With a smaller e^epsilon the share is larger: still valid.
            capped = np.minimum(edges, LARGEST_LOSS)
            return upper_share(step, capped, p, q, error)
        if bound == "lower" and fine and edges[-1] <= LARGEST_LOSS:
            before, hair = self.before, self.hair
            return lower_share(
                step, edges, p, q, error, before, hair, balanced
            )
        upward = bound in ("upper", "buckets-upper")
        return self.mass if upward else np.zeros(len(edges) // 2)


def grid_masses(
    cells: HalfCells,
    step: float | Floats,
    bound: BoundKind,
    balanced: bool = False,
) -> Floats:
    """P-masses on the grid: each cell is split between its two ends.

    Parameters: `cells`; `step`, their width, one number or one per cell;
    `bound`; `balanced`, as for `lower_share`.
    Returns: one mass per grid point, on the side of `bound`. From above,
    what lies beyond the last point is left out: it goes to infinity.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> pair, edges = GaussianPair(1.0), np.array([0.0, 0.5, 1.0])
    >>> p, q = pair.masses(edges)
    >>> cells = HalfCells(edges, p, q, pair.excess_error(p, q))
    >>> grid_masses(cells, 1.0, "buckets-lower").round(4)
    array([0.3829, 0.3085])
    """
    share = cells.share(step, bound, balanced)
    grid = np.append(cells.mass - share, 0.0)
    grid[1:] += share
    if bound != "buckets-lower":
        grid[0] += cells.p[0]
    if bound in ("lower", "buckets-lower"):
        grid[-1] += cells.p[-1]
    return convex_hull(cells.edges[::2], grid) if bound == "lower" else grid


# --- One call


def loss_quantiles(
    pair: DominatingPair, tail_mass: float
) -> tuple[float, float]:
    """Two losses outside which P has at most `tail_mass` on each side.

    Parameters: `pair`; `tail_mass` in [0, 1).
    Returns: (low, high), inside the pair's range of losses and within a
    few percent of the tightest such numbers; `high` is 1e300 at most.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> low, high = loss_quantiles(GaussianPair(1.0), 1e-9)
    >>> -5.7 < low < -5.4 and 6.4 < high < 6.7
    True
    """
    low, high = pair.loss_range
    if math.fsum(pair.masses([0.0])[0]) == 0:
        return 0.0, 0.0  # no finite loss has any P-mass
    powers = np.append(np.logspace(-12, 12, 241), 10.0 ** np.arange(13, 301))
    edges = np.concatenate([-powers[::-1], [0.0], powers])
    for _ in range(3):
        p = pair.masses(edges)[0]
        below = np.cumsum(p)[:-1]  # P(L <= edge)
        above = np.cumsum(p[::-1])[::-1][1:]  # P(L > edge)
        i = max(int(np.count_nonzero(below <= tail_mass)) - 1, 0)
        j = min(int(np.count_nonzero(above > tail_mass)), len(edges) - 1)
        if below[i] <= tail_mass:
            low = max(low, float(edges[i]))
        if above[j] <= tail_mass:
            high = min(high, float(edges[j]))
        fine_low = np.linspace(edges[i], edges[min(i + 1, len(edges) - 1)], 33)
        fine_high = np.linspace(edges[max(j - 1, 0)], edges[j], 33)
        edges = np.unique(np.concatenate([fine_low, fine_high]))
    return low, max(low, min(high, 1e300))


def even_edges(
    pair: DominatingPair, step: float, bound: BoundKind, tail_mass: float
) -> tuple[int, Floats]:
    """Cells of one width for the losses of a pair.

    Parameters: as for `discretize`.
    Returns: the index of the first grid point, and the ends and middles
    of the cells.
    Raises: GridTooFine for more than `MOST_CELLS` cells.

    >>> from accountlib.worst_cases.noise import LaplacePair
    >>> even_edges(LaplacePair(1.0), 1.5, "upper", 1e-9)
    (-1, array([-1.5 , -0.75,  0.  ,  0.75,  1.5 ]))
    """
    low, high = loss_quantiles(pair, tail_mass)
    infinity, other_infinity = pair.infinite_mass
    if bound == "lower" and max(infinity, other_infinity) < 1:
        # Keep the crossing of the two outer lines inside of the grid.
        meet = math.log1p(-infinity) - math.log1p(-other_infinity)
        low = min(low, 0.0, meet)
    low = max(low, -LARGEST_LOSS)
    if max(-low, high) / step == math.inf:  # no float counts the cells
        raise GridTooFine(step, 2**1024)
    # A loss on a grid point may be rounded across it: leave it some room.
    first = math.floor(low / step - 1e-9)
    last = max(math.ceil(high / step + 1e-9), first)
    if last - first > MOST_CELLS:
        raise GridTooFine(step, last - first)
    return first, step / 2 * np.arange(2 * first, 2 * last + 1)


@front_door
def discretize(
    pair: DominatingPair,
    *,
    step: float,
    bound: BoundKind = "upper",
    tail_mass: float = 1e-30,
) -> PrivacyLossDistribution:
    r"""Put the privacy loss of a pair on an even grid, as a valid bound.

    Formula: the mass $P_i$ of each cell $((i-1)\Delta, i\Delta]$ is split:
    a share goes to the cell's right end, the rest to its left end.
    "upper" (connect the dots): $(P_i - e^{(i-1)\Delta} Q_i) /
    (1 - e^{-\Delta})$, which conserves P and Q. "lower": the share that
    follows from tangents at the middles of the cells. "buckets-upper":
    all of it; "buckets-lower": nothing.

    Parameters: `pair`; `step` ($\Delta > 0$); `bound`, see above;
    `tail_mass` (in (0, 1)), P-mass that may be cut off on each side: it
    is moved to infinity, or to the last grid point, on the safe side.
    Returns: a distribution whose curve, and the curve of every
    composition with others of the same side, bounds the true one from
    above ("upper", "buckets-upper") or below; masses are rounded outward.
    Raises: ValueError for values outside these ranges.
    Error: of second order in the step for "upper" and "lower", of first
    order for buckets. Buckets are used where the step is below 1e-14, and
    from below where a loss exceeds 600. An atom nearer than about 2**-43
    to a grid point may count as on it (`bound_tables` allows for that).
    Source: Doroshenko et al. (2022), Algorithm 1 and Lemma 4.1 (upper);
    Algorithm 2 with tangents at midpoints (lower); Meiser and Mohammadi
    (2018) (buckets).

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> loss = discretize(GaussianPair(1.0), step=0.01)
    >>> round(loss.delta(1.0), 5)
    0.12694
    """
    check_kind("pair", pair, DominatingPair)
    check_number("step", step, 0, np.inf, "()")
    check_number("tail_mass", tail_mass, 0, 1, "()")
    check_choice("bound", bound, get_args(BoundKind))
    first, edges = even_edges(pair, step, bound, tail_mass)
    closed: Closed = "left" if bound == "buckets-lower" else "right"
    p, q = pair.interval_masses(edges, np.diff(edges), closed)
    before, hair = None, 0.0
    if bound == "lower" and pair.atoms:
        largest = float(np.max(np.abs(edges)))
        hair = min(4 * (pair.atom_error + 8 * UNIT * largest), step * HAIR)
        cut = edges[::2] - hair
        p_cut, q_cut = pair.interval_masses(cut, np.diff(cut), closed)
        before = p_cut[1:-1], q_cut[1:-1]
    cells = HalfCells(edges, p, q, pair.excess_error(p, q), before, hair)
    infinity, other_infinity = pair.infinite_mass
    grid = grid_masses(cells, step, bound, infinity == other_infinity == 0)
    sign = 1 if bound in ("upper", "buckets-upper") else -1
    if sign > 0:
        infinity += float((p[-1:] * (1 + pair.mass_error(p[-1:])))[0])
    grid = grid * (1 + sign * pair.mass_error(grid))
    infinity = min(1.0, infinity * (1 + sign * 4 * UNIT))
    return PrivacyLossDistribution(step, first, grid, infinity, bound)
