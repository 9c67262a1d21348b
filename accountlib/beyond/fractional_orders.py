# Generated from notebooks/beyond/fractional_orders.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What has a sampled step at order 1.25?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $a$ | `order` | a real order in $(1, 10^4]$, useful up to about $20/\mu$ |
| $r$, $L$ | `loss` | $p/q$ and its logarithm |
| $z$, $Z$ | `edges`, `last` | an output in standard deviations; the last edge |
| $\mu$ | `top` | the largest shift of the noise, in standard deviations |
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from accountlib.cells import Cells
from accountlib.checks import UNIT, Floats
from accountlib.dominating_pairs import (
    DominatingPair,
    ShiftedNoise,
    Subsampled,
)
from accountlib.noise import NormalNoise
from accountlib.renyi import Curve, as_asked, check_order
from accountlib.sampling import Release
from accountlib.what_renyi_loses import added_up, pair_rdp

__all__ = [
    "rises",
    "log_tail",
    "cell_rises",
    "CELLS",
    "cell_curve",
    "real_rdp",
    "fractional_rdp",
]

# --- The code


def rises(less: float, loss: Floats, log_mass: Floats) -> Floats:
    """P's mass times (r^a - 1 - a (r - 1))/r at r = e^loss, rounded up.

    >>> rises(1.0, np.zeros(1), np.zeros(1)).tolist()
    [0.0]
    """
    mass, power = np.exp(log_mass), less * loss
    near = mass * np.expm1(np.minimum(power, 500))
    up = np.where(power < 500, near, np.exp(log_mass + power))
    down = mass * np.expm1(-loss)
    off = 8 * UNIT * np.abs(loss)
    wrong = (mass + up) * np.expm1(less * off + 4 * UNIT * np.abs(power))
    wrong += less * (mass + down) * np.expm1(off)
    digits = 8 + np.where(power < 500, 0, 4 * np.abs(log_mass))
    wrong += digits * UNIT * (np.abs(up) + less * np.abs(down))
    return np.asarray(np.maximum(up + less * down, 0.0) + wrong)


def log_tail(pair: DominatingPair, order: float, last: float) -> float:
    """Logarithm of eq. (fro-tail); inf if no bound is known.

    >>> log_tail(ShiftedNoise(NormalNoise(), (1.0,)), 2.0, 40.0) < -700
    True
    """
    base = pair.pair if type(pair) is Subsampled else pair
    if type(base) is not ShiftedNoise or type(base.noise) is not NormalNoise:
        return math.inf
    top = base.shifts[-1]
    if last < top:
        return math.inf
    parts = order * (order - 1) * top**2 / 2, log_ndtr(order * top - last)
    return float(sum(parts)) + 64 * UNIT * (parts[0] + last**2)


def cell_rises(less: float, cells: Cells) -> float:
    """What cells add to eq. (fro-convex), connected by dots, from above.

    >>> row = np.array([[-0.7, -1.2, 0.0, 0.5, 0.0, 0.0, 1.0]])
    >>> round(cell_rises(1.0, Cells(*row.T)), 3)  # 0.187 at 0, 0.309 at 1
    0.336
    """
    finite = (cells.left > -700) & (cells.log_p > -np.inf)
    # A part without a left end: all of P to the right, all of Q to r = 0.
    open_ones = cells.part(~finite)
    total = less * float(np.sum(np.exp(open_ones.log_q))) * (1 + 1e-12)
    seen = open_ones.part(open_ones.log_p > -np.inf)
    log_mass = seen.log_p + seen.mass_error
    total += float(np.sum(rises(less, seen.right, log_mass)))
    seen = cells.part(finite)
    log_mass = seen.log_p + seen.mass_error
    low, high = (rises(less, x, log_mass) for x in (seen.left, seen.right))
    value = np.maximum(low, high)
    chord = np.expm1(seen.left - seen.right)
    wide = ~seen.atoms & (chord < 0)
    ends = np.zeros_like(value)
    for side in (-1, 1):  # whichever rounding of the loss gives more
        gone = seen.left - seen.loss + side * seen.loss_error
        share = np.expm1(gone) / np.where(wide, chord, 1.0)
        share = np.clip(share + side * -4 * UNIT, 0, 1)
        ends = np.maximum(ends, share * high + (1 - share) * low)
    value = np.where(wide, np.minimum(ends, value), value)
    return (total + float(np.sum(value))) * (1 + 1e-11)


CELLS = 2**14  # how many cells an integral has


def cell_curve(pair: DominatingPair) -> Curve:
    """Renyi divergence of a pair at real orders, from above.

    >>> pair = ShiftedNoise(NormalNoise(), (1.0,))
    >>> round(cell_curve(pair)(1.5), 5)
    0.75
    """
    edges = pair.start()
    count = len(edges) - 1
    edges = pair.finer(edges, np.full(count, CELLS / count))
    cells = pair.cells(edges)
    beyond = (cells.right == np.inf) & (cells.log_p > -np.inf)
    last = float(np.max(edges, where=np.isfinite(edges), initial=-np.inf))
    inner = cells.part(~beyond)
    lost = bool(np.any(cells.loss[beyond] == np.inf))

    def one(order: float) -> float:
        tail = -math.inf
        if np.any(beyond):
            tail = math.inf if lost else log_tail(pair, order, last)
        if order == math.inf or tail > 600:
            return math.inf
        with np.errstate(over="ignore", invalid="ignore"):
            total = cell_rises(order - 1, inner) + math.exp(tail)
        found = math.log1p(total) / (order - 1) * (1 + 8 * UNIT)
        return math.inf if math.isnan(found) else found

    def curve(order: ArrayLike) -> Any:
        orders = check_order(order)
        values = [one(float(a)) for a in orders.flat]
        return as_asked(np.reshape(values, orders.shape))

    return curve


def real_rdp(pair: DominatingPair) -> Curve:
    """A closed form if it knows real orders, else by cells.

    >>> round(real_rdp(ShiftedNoise(NormalNoise(), (2.0,)))(1.5), 9)
    3.0
    """
    try:
        plain = pair_rdp(pair)
        plain(1.5)
    except (NotImplementedError, ValueError):
        return cell_curve(pair)
    return plain


def fractional_rdp(
    releases: Release | Sequence[Release],
    *,
    adjacency: str,
    group_size: int = 1,
) -> Curve:
    r"""Renyi DP curve of a whole run at real orders.

    Formula: as `rdp_curve`, with eq. (fro-convex) over cells.

    Parameters: as for `rdp_curve`; groups with sampling up to 64.
    Returns: a function of the order (in (1, 1e4], or inf), a number or an
    array; upper bounds in nats, rounding counted; some 1e-5 of itself
    above the truth at orders up to 20 noise multipliers; inf where no
    bound of the tail is known or it is too large.
    Raises: as `rdp_curve`.
    Source: Doroshenko et al. (2022), for the dots; this page.

    >>> from accountlib.mechanisms import Gaussian
    >>> from accountlib.sampling import Poisson
    >>> run = Release(Gaussian(0.5), Poisson(0.01))
    >>> round(fractional_rdp(run, adjacency="remove")(2.5), 7)
    0.0147714
    """
    return added_up(real_rdp, releases, adjacency, group_size)
