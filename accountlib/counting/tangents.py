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

from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from accountlib.counting.loss_tables import TINY, excess_mass, subtract
from accountlib.inputs import Floats
from accountlib.worst_cases.dominating_pairs import UNIT, ExcessError

__all__ = [
    "Depths",
    "outer_lines",
    "too_near",
    "tangent_depths",
    "give_way",
    "lower_share",
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
