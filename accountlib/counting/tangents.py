# Generated from notebooks/counting/tangents.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Tables from below

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\Delta$, $\ell_i$ | `step`, `losses` | step of the grid; its losses $i\Delta$ |
| $\alpha_i$ | `alpha` | $e^{\ell_i}$ |
| $m$ | `middle` | a loss, mostly the middle $\ell_i - \Delta/2$ of a cell |
| $P_i$, $Q_i$ | `mass`, `other` | P- and Q-mass of the cell $(\ell_{i-1}, \ell_i]$ |
| $g_i$, $S_i$ | `chain`, – | value of a chain at $\alpha_i$; its P-mass with loss at least $\ell_i$ |
| $r_i$, $r_i'$ | `share` | part of $P_i$ that goes to $\ell_i$, from above and from below |
| $D_i$ | `depth` | how far the chain lies below the curve $h$ at $\alpha_i$ |
"""

import math
from operator import itemgetter
from typing import get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from accountlib.counting.loss_tables import (
    HAIR,
    LARGEST_LOSS,
    MOST_CELLS,
    TINY,
    BoundKind,
    GridTooFine,
    PrivacyLossDistribution,
    excess_mass,
    subtract,
    upper_share,
)
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
    "Depths",
    "outer_lines",
    "too_near",
    "tangent_depths",
    "give_way",
    "lower_share",
    "convex_hull",
    "drop_negative",
    "loss_quantiles",
    "discretize",
]

# --- From depths to shares

Depths = tuple[Floats, Floats]  # of a line at the left and right end of a cell


def outer_lines(
    edges: Floats, p: Floats, q: Floats, error: ExcessError, balanced: bool
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Depths of the lines 1 - alpha and h(inf), below which nothing lies.

    Returns: the depths of both at the grid points, rounded up, and whether
    the first one is the nearer one.
    """
    losses, heights = edges[::2], []
    for total in (
        lambda x: np.cumsum(x)[::2],  # of what lies below a grid point
        lambda x: np.cumsum(x[::-1])[-2::-2],  # of what lies above it
    ):
        of_p, of_q, gain, size = map(total, (p, q, p - q, np.abs(p - q)))
        value, size = subtract(of_p, of_q, gain, size, losses)
        room = UNIT * (2 * len(p) + 400) * size
        heights.append((value, room + error.map(total).at(np.exp(losses))))
    (start, room), (end, end_room) = heights
    start = np.maximum(-start, 0) + room
    end = np.maximum(end, 0)
    first_line = (start <= end) | (balanced & (losses == 0))
    end = end + end_room
    return np.where(first_line, np.minimum(start, end), start), end, first_line


def too_near(
    depths: Depths, slacks: Depths, line: Depths, rising: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Cells whose middle tangent misses the outer line, or nearly.

    The chain dips where a tangent comes near its outer line, unless it
    meets that line at the grid point.
    """
    at_left, at_right = depths
    missed = at_left + slacks[0] > line[0]
    missed |= at_right + slacks[1] > line[1]
    near, outer = np.where(rising, [at_left, line[0]], [at_right, line[1]])
    missed |= (near > 0.5 * outer) & (near < (1 - 1e-6) * outer)
    return np.asarray(missed)


def tangent_depths(
    edges: Floats,
    p: Floats,
    q: Floats,
    error: ExcessError,
    line: Depths,
    rising: NDArray[np.bool_],
    before: Depths | None,
    hair: float,
) -> tuple[Depths, Floats, NDArray[np.bool_]]:
    """Depths of one tangent a cell, at both ends of the cell.

    Parameters: as for `lower_share`; `line`, depths of the outer line that
    counts, and whether it is the first one (`rising`).
    Returns: the depths, rounded up; by how much P exceeds alpha Q in the
    cell, seen from its left end; where the tangent touches at an end.
    """
    # Halves of each cell, seen from its left and from its right end.
    halves = slice(1, -1, 2), slice(2, None, 2)
    seen = [
        excess_mass(p[h], q[h], losses, error.map(itemgetter(h)))
        for losses in (edges[:-2:2], edges[2::2])
        for h in halves
    ]
    (left, slack_left), (rest, more), (left_there, slack_there) = seen[:3]
    right, slack_right = seen[3]
    (p_left, q_left), (p_right, q_right) = ((p[h], q[h]) for h in halves)
    slack, width = slack_left + more, np.diff(edges)
    excess = np.maximum(left + rest - slack, 0)
    excess = np.where(q_left + q_right > TINY, excess, 0)
    at_left = np.where(q_left > TINY, left, -np.expm1(-width[::2]) * p_left)
    at_right = np.expm1(width[1::2]) * p_right
    at_right = np.where(q_right > TINY, -right, at_right)
    slacks = slack_left, slack_right
    missed = too_near((at_left, at_right), slacks, line, rising)
    # There the tangent touches at the end that is nearer to the outer line.
    touch_right: Floats = left + rest
    if before is not None:
        part = error.map(itemgetter(halves[0]))
        touch_right, _ = excess_mass(*before, edges[:-2:2], part)
        touch_right += hair * before[0]
    touch_left = -(left_there + right)
    at_left = np.where(missed, np.where(rising, 0, touch_right), at_left)
    at_right = np.where(missed, np.where(rising, touch_left, 0), at_right)
    slack_right += missed * slack_there
    at_left = at_left + np.where(missed, slack, slack_left) * (at_left != 0)
    return (at_left, at_right + slack_right * (at_right != 0)), excess, missed


def give_way(
    depths: Depths,
    line: Depths,
    excess: Floats,
    falling: NDArray[np.bool_],
    ends: tuple[float, float],
) -> tuple[Depths, NDArray[np.bool_]]:
    """Depths above the outer line, and the cells that go to their left end.

    Parameters: `depths`; `line`; `excess`; `falling`, cells whose tangent
    touches at its right end; `ends`, depths before and after all cells.
    """
    at_left, at_right = depths
    over = (at_left > line[0]) | (at_right > line[1])
    stays = falling & (at_left >= excess)
    stays &= np.append(ends[0], at_right[:-1]) <= excess
    stays &= np.append(at_left[1:], ends[1]) == 0
    stays &= ~np.append(False, over[:-1]) & ~np.append(over[1:], False)
    at_left = np.where(stays, excess, at_left)
    over &= ~stays
    at_left = np.where(over, line[0], at_left)
    return (at_left, np.where(over, line[1], at_right)), stays


def lower_share(
    step: float | Floats,
    edges: Floats,
    p: Floats,
    q: Floats,
    error: ExcessError,
    before: Depths | None = None,
    hair: float = 0.0,
    balanced: bool = False,
) -> Floats:
    r"""The optimistic counterpart of `upper_share`.

    Formula: $r_i = (e^\Delta (P_i - e^{(i-1)\Delta} Q_i - D_{i-1}) + D_i)
    / (e^\Delta - 1)$, where $D_i$ is the depth at grid point i of the
    tangents at the middles of its two cells, below the privacy curve.

    Parameters: as for `upper_share`; `before`, P- and Q-masses of the
    cells moved down by a `hair`, which leave out an atom at the right end
    of a cell (not needed for pairs without atoms); `balanced`, whether
    neither P nor Q has infinite losses, so that the outer lines cross at
    the loss 0.
    Returns: n shares; they may be negative or exceed the cell's mass.
    Source: after Doroshenko et al. (2022), Algorithm 2.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> edges = 0.05 * np.arange(-80, 81)
    >>> pair = GaussianPair(1.0)
    >>> p, q = pair.masses(edges)
    >>> lower_share(0.1, edges, p, q, pair.excess_error(p, q)).shape
    (80,)
    """
    start, end, first_line = outer_lines(edges, p, q, error, balanced)
    rising = first_line[1:]  # cells left of the crossing of the outer lines
    line = (
        np.where(rising, start[:-1], end[:-1]),
        np.where(rising, start[1:], end[1:]),
    )
    depths, excess, missed = tangent_depths(
        edges, p, q, error, line, rising, before, hair
    )
    (at_left, at_right), stays = give_way(
        depths, line, excess, missed & ~rising, (start[0], end[-1])
    )
    if not rising[-1] and end[-1] == 0 and before is None:
        # At most all of the last cell goes to its left end.
        at_left[-1] = min(at_left[-1], excess[-1])
    # The last grid point carries all that lies beyond: the chain ends at 0.
    last = slice(-1, None)
    part = error.map(itemgetter(last))
    top, off = excess_mass(p[last], q[last], edges[last], part)
    depth = np.maximum(np.append(at_left, 0.0), np.append(start[0], at_right))
    depth[-1] = max(float(top[0] - off[0]), 0.0)
    share = np.exp(step) * (excess - depth[:-1]) + depth[1:]
    share = share / np.expm1(step)
    share -= 32 * UNIT * (p[1:-1:2] + p[2::2] + np.abs(share))
    return np.where(stays, 0.0, share)


# --- The convex hull


def convex_hull(losses: Floats, mass: Floats) -> Floats:
    r"""Repair negative masses: the convex hull of the curve they stand for.

    Formula: the slopes $-Q(L > \ell)$ of the curve, as a function of
    $\alpha = e^\varepsilon$, are replaced by their isotonic regression,
    weighted with the lengths of the intervals of $\alpha$. Where slopes
    are pooled, the masses between are split among the two ends.

    Parameters: `losses`, increasing; `mass`, one P-mass per loss, of
    either sign, whose curve lies below a convex curve.
    Returns: non-negative masses with the same sum, whose curve is the
    largest convex curve below the given one, rounded down.
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
    # largest losses, without changing the curve below them.
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


# --- One call


def loss_quantiles(
    pair: DominatingPair, tail_mass: float
) -> tuple[float, float]:
    """Two losses outside which P has at most `tail_mass` on each side.

    Parameters: `pair`; `tail_mass` in [0, 1).
    Returns: (low, high), inside the pair's range of losses and within a
    few percent of the tightest such numbers.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> low, high = loss_quantiles(GaussianPair(1.0), 1e-9)
    >>> -5.7 < low < -5.4 and 6.4 < high < 6.7
    True
    """
    low, high = pair.loss_range
    if math.fsum(pair.masses([0.0])[0]) == 0:
        return 0.0, 0.0  # no finite loss has any P-mass
    powers = np.logspace(-12, 12, 241)
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
    return low, max(low, high)


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
    order for buckets. Where a loss exceeds 600, or the step is below
    1e-14, buckets are used. An atom nearer than about 2**-43 to a grid
    point may count as on it (`bound_tables` allows for that).
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
    low, high = loss_quantiles(pair, tail_mass)
    infinity, other_infinity = pair.infinite_mass
    if bound == "lower" and max(infinity, other_infinity) < 1:
        # Keep the crossing of the two outer lines inside of the grid.
        meet = math.log1p(-infinity) - math.log1p(-other_infinity)
        low = min(low, 0.0, meet)
    low = max(low, -LARGEST_LOSS)
    # A loss on a grid point may be rounded across it: leave it some room.
    first = math.floor(low / step - 1e-9)
    last = max(math.ceil(high / step + 1e-9), first)
    cells = last - first
    if cells > MOST_CELLS:
        raise GridTooFine(step, cells)
    edges = step / 2 * np.arange(2 * first, 2 * last + 1)
    closed: Closed = "left" if bound == "buckets-lower" else "right"
    p, q = pair.interval_masses(edges, np.diff(edges), closed)
    mass = p[1:-1:2] + p[2:-1:2]
    share: Floats
    upward = bound in ("upper", "buckets-upper")
    coarse = last * step > LARGEST_LOSS or step < 1e-14
    if bound == "buckets-upper" or (upward and coarse):
        share = mass
    elif bound == "buckets-lower" or coarse:
        share = np.zeros(cells)
    elif upward:
        share = upper_share(step, edges, p, q, pair.excess_error(p, q))
    else:
        before, hair = None, 0.0
        if pair.atoms:
            largest = float(np.max(np.abs(edges)))
            hair = min(4 * (pair.atom_error + 8 * UNIT * largest), step * HAIR)
            cut = edges[::2] - hair
            p_cut, q_cut = pair.interval_masses(cut, np.diff(cut), closed)
            before = p_cut[1:-1], q_cut[1:-1]
        balanced = infinity == other_infinity == 0
        error = pair.excess_error(p, q)
        share = lower_share(step, edges, p, q, error, before, hair, balanced)
    grid = np.append(mass - share, 0.0)
    grid[1:] += share
    if upward:
        grid[0] += p[0]
        infinity += p[-1]
    else:
        grid[-1] += p[-1]
        if bound == "lower":
            grid[0] += p[0]
            grid = convex_hull(step * np.arange(first, last + 1), grid)
    grid = grid * (1 + (1 if upward else -1) * pair.mass_error(grid))
    infinity = min(1.0, infinity * (1 + 4 * UNIT * (1 if upward else -1)))
    return PrivacyLossDistribution(step, first, grid, infinity, bound)
