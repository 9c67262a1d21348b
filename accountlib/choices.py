# Generated from notebooks/choices.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Who chooses?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from accountlib.cells import Cells
from accountlib.checks import Floats
from accountlib.fourier import Part, log_peak

__all__ = [
    "Kinds",
    "LEAST",
    "MOST",
    "Query",
    "Moments",
    "moments",
    "estimates",
    "Plan",
    "Planner",
    "demand",
]

# --- Who chooses?

Kinds = Sequence[tuple[Cells, int]]
LEAST = 1e-12  # estimates of epsilon are at least this
MOST = 2**15  # frequencies

# --- Moments tell nearly everything


@dataclass(frozen=True, eq=False)
class Query:
    """delta at some epsilons, or epsilon at some deltas; the width wanted."""

    asked: str
    values: Floats
    width: float


@dataclass(frozen=True, eq=False)
class Moments:
    """Chernoff's bounds of log delta(0), by split of the losses and order.

    Estimates from merged cells: they choose, they prove nothing.
    """

    orders: Floats
    splits: Floats
    near: Floats
    far: Floats
    infinite: float

    def excess(self, at: Floats) -> Floats:
        """The bounds over delta, as logs, for rows of (epsilon, log delta)."""
        epsilon, log_delta = at.T[:, :, None, None]
        both = np.stack([self.near, self.far])[:, None]
        found: Floats = both - self.orders * epsilon - log_delta
        return found

    def epsilon(self, log_delta: Floats) -> Floats:
        """Chernoff's bounds of epsilon, the best of all splits."""
        both = np.stack([self.near, self.far])[:, None]
        rows = (both - log_delta[:, None, None]) / self.orders
        best: Floats = rows.min(-1).max(0).min(-1)
        return best


def moments(kinds: Kinds, orders: Floats, splits: Floats) -> Moments:
    """Moments of sums of near losses only, and of all other sums."""
    near, gain = np.zeros((2, len(splits), len(orders)))
    total, miss = np.zeros(len(orders)), 0.0
    for cells, count in kinds:
        used = np.isfinite(cells.loss) & (cells.log_p > -np.inf)
        x, log_p = cells.loss[used], cells.log_p[used]
        power = np.multiply.outer(x, orders) + log_p[:, None]
        n, f = np.full((2, *near.shape), -np.inf)
        n[-1] = np.logaddexp.reduce(power, 0)
        if len(splits) > 1:
            k = np.searchsorted(x, splits[:-1], "right")
            up = np.logaddexp.accumulate(power, 0)
            down = np.logaddexp.accumulate(power[::-1], 0)[::-1]
            n[:-1][k > 0] = up[k[k > 0] - 1]
            f[:-1][k < len(x)] = down[k[k < len(x)]]
        near += count * n
        gain += count * np.logaddexp(0.0, f - n)
        total += count * n[-1]
        lost = np.exp(cells.log_p[cells.loss == np.inf]).sum()
        miss += count * np.log1p(-min(lost, 1.0))
    near[~np.isfinite(near)] = np.inf  # a kind without near losses
    far = total + np.log(-np.expm1(-gain))
    peak = log_peak(orders)
    return Moments(orders, splits, near + peak, far + peak, -math.expm1(miss))


def estimates(seen: Moments, query: Query) -> Floats:
    """Estimates of (epsilon, log delta), a row for each value."""
    value = query.values
    if query.asked == "delta":
        at = np.stack([value, 0 * value], 1)
        best = np.logaddexp.reduce(seen.excess(at).min(-1), 0).min(-1)
        return np.stack([value, np.clip(best - 2, -1000, -1e-9)], 1)
    # Chernoff's bound of delta is about e^2 too large; it says nothing of
    # a delta near 1, where epsilon is about the mean of the total.
    log_delta = np.log(np.maximum(value - seen.infinite, 1e-9 * value))
    at = np.fmax(seen.epsilon(log_delta + 2), 0.3 * seen.epsilon(log_delta))
    mean = (seen.near[-1, 0] - log_peak(seen.orders[0])) / seen.orders[0]
    at = np.where(log_delta > -2.5, np.fmax(at, mean), at)
    return np.stack([np.fmax(at, LEAST), log_delta], 1)


# --- Choosing the parts


@dataclass(frozen=True, eq=False)
class Plan:
    """Parts; for each the best order of Chernoff's bound, the slope of
    -log delta that is counted with, and its share of delta."""

    parts: tuple[Part, ...]
    orders: tuple[float, ...]
    slopes: tuple[float, ...]
    shares: tuple[float, ...]
    room: float  # relative error of delta that is allowed
    log_delta: float

    @property
    def work(self) -> int:
        """The frequencies that are needed."""
        return sum(part.last for part in self.parts)


@dataclass(frozen=True, eq=False)
class Planner:
    """Chooses from moments. None of its choices can make a bound wrong, as
    long as near and far parts have one split."""

    seen: Moments
    at: Floats
    query: Query
    effort: float
    slope: float  # as measured in the turn before

    def plan(self) -> Plan:
        """One part, or near and far ones where they lose fewer digits or
        need fewer frequencies."""
        over = self.seen.excess(self.at)
        orders, gone = self.seen.orders, (over < -700).all((0, 1, 2))
        most = 30 * orders[gone.argmax()] if gone.any() else np.inf
        most = min(most, 1e12 / self.at[:, 0].max())
        over[..., orders > most] = np.inf  # rounding would eat all digits
        best = over.min(-1)
        score = np.logaddexp.reduce(best, 0).max(0)
        row = int(np.argmin(score))
        shares = np.exp(
            best[:, :, row] - np.logaddexp.reduce(best[:, :, row], 0)
        )
        steep = (shares * orders[over[:, :, row].argmin(-1)]).sum(0).max()
        steep = max(self.slope, float(steep))
        planner = replace(self, slope=steep)
        choices = [planner.parts(("all",), over[:1, :, -1], np.inf)]
        gain = score[-1] - score[row]
        if choices[0].work < 1500 and gain < 6:
            return choices[0]
        if gain > 6:
            choices = []  # one part loses too many digits
        rows = np.flatnonzero(score[:-1] < score[row] + 3)[::3]
        for k in {row, *rows.tolist()}:
            split = float(self.seen.splits[k])
            choices.append(
                planner.parts(("near", "far"), over[:, :, k], split)
            )
        return min(choices, key=lambda x: x.work)

    def parts(self, names: Sequence[str], over: Floats, split: float) -> Plan:
        """Parts of these names, each with its own choices."""
        best = over.min(-1)
        shares = np.exp(best - np.logaddexp.reduce(best, 0)).max(1)
        room = self.query.width + 0 * self.at[:, 0]
        if self.query.asked == "epsilon":
            room = np.clip(room * self.slope * self.at[:, 0], 1e-6, 0.5)
            room[self.at[:, 0] == LEAST] = 0.5 * self.effort**-3  # to prove 0
        parts, orders, slopes = [], [], []
        for which, x, share in zip(names, over, shares.tolist(), strict=True):
            good = x <= x.min(1, keepdims=True) + 0.1
            last = good.shape[1] - 1 - good[:, ::-1].argmax(1)
            order = slope = self.seen.orders[last]
            if share > 0.01:
                slope = np.clip(self.slope, order, 1e4 * order)
            costs = slope * (slope + 1) * max(share, 0.01)
            most = np.fmin(room, 0.5 * max(share, 0.01)) / (3 * costs)
            parts.append(self.part(which, split, x, float(most.min()), room))
            orders.append(float(order.max()))
            slopes.append(float(slope.max()))
        log_delta = float(self.at[:, 1].min())
        return Plan(
            tuple(parts),
            tuple(orders),
            tuple(slopes),
            tuple(shares.tolist()),
            float(room.min()),
            log_delta,
        )

    def part(
        self, which: str, split: float, over: Floats, most: float, room: Floats
    ) -> Part:
        """The tilt with a short period that loses few digits; the variance
        is `most`, at most."""
        orders = self.seen.orders
        need = np.fmax((over - np.log(0.01 * room)[:, None]).max(0), 1.0)
        gap = orders - orders[:, None]  # a row for each tilt
        wish = need / np.abs(gap)
        left = np.where(gap < 0, wish, np.inf)
        right = np.where(gap > 0, wish, np.inf)
        period = np.maximum(left.min(1), right.min(1))
        excess = over.max(0)
        cost = np.log(period * np.sqrt(10 + np.fmax(excess, 0)))
        cost += np.fmax(excess - 10, 0)
        t = int(np.nanargmin(np.where(np.isfinite(period), cost, np.inf)))
        tilt = orders[t]
        v = most * self.effort**-3
        size = excess[t] - log_peak(tilt) - math.log(0.01 * room.min())
        theta = 1 / math.sqrt(v)
        for _ in range(4):  # where what is left out is small enough
            log_size = size + v * tilt * (tilt + 1) / 2
            log_size += math.log((theta**-2 + v) / (math.pi * v * theta))
            theta = math.sqrt(max(2 * log_size, 1) / v)
            last = math.ceil(theta * period[t] / (2 * math.pi))
            if last > MOST:
                v, theta = v * (last / MOST) ** 2, theta * MOST / last
        last = min(last, MOST)
        ends = orders[[left[t].argmin(), right[t].argmin()]].tolist()
        w = float(period[t])
        return Part(which, split, float(tilt), w, v, max(last, 4), *ends)


# --- Cutting cells


def demand(cells: Cells, count: int, chosen: Plan) -> tuple[Floats, Floats]:
    """What each cell adds to the relative error of delta, and least pieces."""
    used = np.isfinite(cells.loss) & (cells.log_p > -np.inf)
    loss = np.where(used, cells.loss, 0.0)
    log_p = np.where(used, cells.log_p, -np.inf)
    left = np.where(cells.left > -np.inf, cells.left, loss - 1e3)
    right = np.where(cells.right < np.inf, cells.right, loss)
    width = np.where(used, right - left, 0.0)
    error, least = np.zeros((2, len(loss)))
    rows = chosen.parts, chosen.orders, chosen.slopes, chosen.shares
    for part, order, slope, share in zip(*rows, strict=True):
        near = part.near(loss)
        power = order * loss + log_p
        high = order * np.minimum(right, loss + 1 / order) + log_p
        m = high - np.logaddexp.reduce(power[near])
        m = share * count * np.exp(np.minimum(m, 600.0))
        if part.which == "far":
            m = np.where(near, m, share * m / max(m[~near].sum(), 1e-300))
        m = np.where(near | (part.which == "far"), m, 0.0)
        bend = np.minimum(width, 4 / order) ** 2 * slope * (slope + 1)
        error += m * bend / 8
        most = np.where(m > 1e-5 * chosen.room, 4.0, 0.5)
        least = np.maximum(least, np.minimum(width * (order + 1) / 4, most))
    return error, least
