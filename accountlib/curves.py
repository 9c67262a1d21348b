# Generated from notebooks/curves.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Which epsilon belongs to delta?"""

import math
from collections.abc import Sequence

import numpy as np

from accountlib.cells import Table, optimistic_table, pessimistic_table
from accountlib.checks import UNIT, Floats
from accountlib.choices import Kinds, Plan
from accountlib.fourier import Part
from accountlib.rounding import log_moment, spectrum

__all__ = ["FEW", "WHOLE", "Curve", "few", "crossing", "steepness"]

# --- Which epsilon belongs to delta?

FEW = 2**14  # sums of losses that are added one by one
WHOLE = Part("all", np.inf, 1.0, 1.0, 1.0, 1, 0.5, 2.0)

# --- Two curves


class Curve:
    """A bound of delta(epsilon) from one side: a function of arrays."""

    def __init__(self, kinds: Kinds, chosen: Plan, up: bool) -> None:
        self.up, steps = up, sum(count for _, count in kinds)
        spare = math.exp(chosen.log_delta) * 0.03 * chosen.room / steps
        make = pessimistic_table if up else optimistic_table
        tables = [make(x, n, x.all_but(spare)) for x, n in kinds]
        logs = (t.count * np.log1p(-min(t.infinite, 1.0)) for t in tables)
        self.sign, self.least = (1, 1e-290) if up else (-1, -1e-300)
        infinite = -math.expm1(math.fsum(logs)) * (1 + self.sign * 1e-12)
        self.infinite = infinite if up else max(infinite - 1e-300, 0.0)
        self.tables = [t for t in tables if len(t.loss)]
        tops = [t.count * t.loss.max() for t in self.tables]
        self.slack = 1e-12 * sum(map(abs, tops))
        self.top = math.fsum(tops) + self.slack
        if not up and len(tops) < len(tables):  # one kind has no finite loss
            self.top = -math.inf
        self.total = few(self.tables, up)
        self.sums = [
            spectrum(self.tables, x, up)
            for x in (() if self.total else chosen.parts)
        ]

    def __call__(self, epsilon: Floats) -> Floats:
        if self.total:
            x, log_m = self.total.loss, self.total.log_mass
            least = np.minimum(np.asarray(epsilon)[..., None] - x, 0.0)
            value = np.asarray(-np.expm1(least) @ np.exp(log_m))
            size = len(x) + 16 + 8 * float(np.abs(log_m).max(initial=0.0))
        else:
            value = np.zeros_like(epsilon)
            for one in self.sums:
                value = value + one(epsilon)
            size = 16.0
            if not self.up:
                value = np.fmax(value, self.sure(epsilon))
        value = np.where(epsilon < self.top, value + self.least, 0.0)
        value = (self.infinite + value) * (1 + self.sign * size * UNIT)
        ends: Floats = np.clip(value, 0.0, 1.0)
        return ends

    def sure(self, epsilon: Floats) -> Floats:
        """Lower bounds where a sum has few digits: all mass less a moment,
        good where delta is nearly 1, and the largest loss in every step.

        (1 - e^-x)_+ >= 1 - e^(-x/2).
        """
        rows = []
        for t in self.tables:
            m = np.exp(t.log_mass)
            wide = 4 * UNIT * (4 + float(m @ np.abs(t.log_mass)))
            largest = float(t.log_mass[t.loss.argmax()]) * (1 + 8 * UNIT)
            each = math.log(math.fsum(m)) - wide, largest
            rows.append([t.count * x for x in each])
        log_mass, log_top = map(math.fsum, zip(*rows, strict=True))
        moment = log_moment(self.tables, WHOLE, -0.5)
        low = np.exp(moment + epsilon / 2) * (1 + 1e-12)
        room = epsilon - self.top + 3 * self.slack
        highest = math.exp(min(log_top, 0.0)) * -np.expm1(np.minimum(room, 0))
        ends: Floats = np.fmax(math.exp(log_mass) - low, highest)
        return ends * (1 - 1e-12)


def few(tables: Sequence[Table], up: bool) -> Table | None:
    """The total, one outcome for each sum of losses, if these are few."""
    counts = [1 if t.count == 1 else t.count + 1 for t in tables]
    many = any(len(t.loss) > 2 and t.count > 1 for t in tables)
    sizes = [max(n, len(t.loss)) for n, t in zip(counts, tables, strict=True)]
    many = many or max(counts, default=1) > FEW
    if many or (len(tables) > 1 and math.prod(sizes) > FEW):
        return None
    loss, mass, sign = np.zeros(1), np.zeros(1), 1 if up else -1
    for t in tables:
        x, m = t.loss, t.log_mass
        if t.count > 1:  # a binomial number of steps has the larger loss
            k = np.arange(t.count + 1.0) * (len(x) > 1)
            steps = np.log((t.count - k[:-1]) / np.arange(1.0, t.count + 1))
            ways = np.append(0.0, np.cumsum(steps * (len(x) > 1)))
            wide = 8 * UNIT * (t.count + 8) * (ways.max() + 8)
            m = ways + sign * wide + k * m[-1] + (t.count - k) * m[0]
            x = k * x[-1] + (t.count - k) * x[0]
            if len(t.loss) == 1:
                x, m = x[:1], m[:1]
        slack = 4 * UNIT * (np.abs(loss).max() + np.abs(x).max())
        loss = np.add.outer(loss, x).ravel() + sign * slack
        mass = np.add.outer(mass, m).ravel()
        mass = mass + sign * 4 * UNIT * np.abs(mass)
    return Table(loss, mass, 0.0, 1)


# --- Reading off $\varepsilon$


def crossing(
    curve: Curve, deltas: Floats, guess: Floats, width: float
) -> Floats:
    """A proven epsilon for each delta, on the curve's side of the true one."""
    rows, aim = np.arange(len(deltas)), np.log(deltas)
    low, log_low = np.zeros(len(deltas)), np.full(len(deltas), np.inf)
    top = np.full(len(deltas), max(curve.top, 0.0))
    high = np.where(curve(top) <= deltas, top, np.inf)
    log_high = -log_low
    if curve.up:
        high[curve(low) <= deltas] = 0.0
    around = np.array([0.5, 0.9, 0.97, 1, 1.03, 1.1, 2])
    if not curve.up:  # the guess is an upper end
        around = 1 - width * np.array([-1, 0.1, 0.3, 0.6, 1, 3, 10, 50, 300])
    points = np.maximum(guess[:, None] * around, 0.0)
    for _ in range(9):
        found = curve(points)
        logs, over = np.log(found), found > deltas[:, None]
        inside = (points > low[:, None]) & (points < high[:, None])
        at = np.where(over & inside, points, -np.inf).argmax(1)
        move = (over & inside)[rows, at]
        low = np.where(move, points[rows, at], low)
        log_low = np.where(move, logs[rows, at], log_low)
        inside &= points > low[:, None]
        at = np.where(~over & inside, points, np.inf).argmin(1)
        move = (~over & inside)[rows, at]
        high = np.where(move, points[rows, at], high)
        log_high = np.where(move, logs[rows, at], log_high)
        if np.all(high - low <= 0.01 * width * high):
            break
        share = (log_low - aim) / (log_low - log_high)
        share = np.where(np.isfinite(share), np.clip(share, 0, 1), 0.5)
        gap = np.where(high < np.inf, high - low, 4 * low + 1)
        marks = np.stack([share - 0.03, share + 0.03, 0.5 + 0 * share], 1)
        points = np.maximum(low[:, None] + gap[:, None] * marks, 0.0)
    return high if curve.up else np.where(curve.infinite > deltas, np.inf, low)


def steepness(curve: Curve, epsilon: Floats, least: float) -> float:
    """The largest -d log delta/d epsilon around the epsilons."""
    step = 0.002 * np.maximum(epsilon, least)
    points = np.stack([epsilon - step, epsilon + step], 1)
    logs = np.log(curve(points))
    slope = (logs[:, 0] - logs[:, 1]) / (2 * step)
    return float(np.max(slope[np.isfinite(slope)], initial=0.0))
