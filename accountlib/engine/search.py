# Generated from notebooks/engine/search.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Intervals as narrow as asked

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $T$ | `count` | number of steps, of all kinds together |
| $\Delta$ | `step` | grid step, in nats |
| $\lambda$ | `order` | order of the saddle point, $> 0$ |
| $\varepsilon$, $\delta$ | `guess`, `value` | what is asked, as it is guessed |
| $s$ | `spread` | standard deviation of the loss of one step |
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from accountlib.counting.composition import SIDES, Bound
from accountlib.counting.loss_tables import BoundKind, GridTooFine
from accountlib.engine.grids import (
    aligned_step,
    bound_tables,
    fitting_step,
    heaviest,
    landmarks,
)
from accountlib.engine.one_round import add_tables
from accountlib.engine.one_sided import POOR, WORK, Losses, OneSided
from accountlib.engine.saddle import (
    Cells,
    Query,
    choose_tilt,
    jumps,
    predicted_width,
    saddle,
    total_cumulants,
)
from accountlib.engine.single_runs import chernoff_delta, large_steps
from accountlib.engine.transforms import Spectrum

__all__ = ["Search"]

# --- Searching


class Search:
    """Interval for one direction, refined on demand.

    Parameters: `losses`, pairs of a dominating pair and its count;
    `query`, what is asked. `guess` is an estimate of the answer, `bound`
    the interval found so far.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> search = Search([(GaussianPair(0.1), 100)], Query(1e-6, None, 1e-3))
    >>> search.narrow(0.0)
    >>> search.bound.contains(4.886554), search.bound.width < 1e-3
    (True, True)
    """

    def __init__(
        self, losses: Losses, query: Query, split: float = math.inf
    ) -> None:
        self.query, self.bound, self.step = query, Bound(0, math.inf), 0.0
        self.pairs = [pair for pair, _ in losses]
        self.count = sum(n for _, n in losses)
        self.order, self.guess, self.excess = 1.0, 1.0, 0.0
        self.slope = self.finest = self.work = 0.0
        self.losses, self.split = losses, split
        self.totals: dict[BoundKind, OneSided] = {}
        self.heavy: list[tuple[float, ...]] = [()] * len(losses)
        self.parted, self.ended = self.count == 1 or split < math.inf, False
        self.look()

    def look(self) -> None:
        """Cells, order and guess, each from the one before."""
        delta = 1e-300 if self.query.delta is None else self.query.delta
        budget = min(max(1e-6 * delta / self.count, 1e-320), 1e-3)
        first = self.cells = self.first_cells(budget)
        for _ in range(6):
            before = self.order
            self.order, found = saddle(self.cells, self.query)
            if self.query.epsilon is not None:
                most, _ = jumps(self.cells, self.query.epsilon, 1 / self.count)
                found = min(found, math.log(max(most, 1e-320)))
                self.guess = math.exp(min(max(found, -700.0), 0.0))
                delta = 1e-3 * self.guess
            elif found > 0:
                self.guess = found
            else:  # delta is near delta(0): look there
                at_zero = Query(None, 0.0, self.query.relative_width)
                self.order, _ = saddle(self.cells, at_zero)
                self.guess = 1e-3 / (1 + self.order)
            spare = self.query.log_spare(
                self.guess, self.order, self.query.relative_width
            )
            needed = max(0.1 * math.exp(spare) * delta / self.count, 1e-320)
            cut = first is not self.cells and needed < 1e-2 * budget
            if 0.8 < self.order / before < 1.25 and not cut:
                break
            self.cells = [
                c.finer(self.order, needed)
                for c in (first if cut else self.cells)
            ]
            budget = needed

    def first_cells(self, budget: float) -> list[Cells]:
        return [
            Cells.first(pair, n, budget, self.split) for pair, n in self.losses
        ]

    def expect(self, guess: float) -> None:
        """Another guess of delta; a small one needs cells farther up."""
        self.guess, room = guess, 1e-4 * self.query.relative_width
        needed = max(room * guess / self.count, 1e-320)
        if any(part.beyond > needed for part in self.cells):
            first = self.first_cells(needed)
            self.cells = [part.finer(self.order, needed) for part in first]

    def compute(
        self,
        step: float,
        value: float,
        goal: float,
        sides: Sequence[BoundKind],
    ) -> None:
        """Ends from one grid; the interval is cut with the old one."""
        point = self.query.point(value)
        most = 15 / step  # with more, one grid point is all
        order = min(self.order, most)
        tilt, excess, thetas = choose_tilt(self.cells, order, *point)
        spare = self.query.log_spare(value, self.order, goal)
        self.excess = excess
        log_tail = spare - excess - 2 + self.log_rare(tilt)
        made = [
            bound_tables(part, step, tilt, log_tail, sides, heavy)
            for part, heavy in zip(self.cells, self.heavy, strict=True)
        ]
        ends = {"upper": self.bound.upper, "lower": self.bound.lower}
        for side, tables in zip(sides, zip(*made, strict=True), strict=True):
            parts = [
                (table, part.count)
                for table, part in zip(tables, self.cells, strict=True)
            ]
            total = self.totals[side] = add_tables(parts, log_tail, thetas)
            if isinstance(total, Spectrum):
                nodes = sum(np.count_nonzero(t.mass) for t, _ in parts)
                size, kept = total.size, len(total.frequency)
                by_fft = 10 * len(parts) * size * math.log2(size)
                self.work += 100 * kept + min(nodes * kept, by_fft)
            end = self.query.read(total, value, self.order)
            ends[side] = (min if side == "upper" else max)(ends[side], end)
        if ends["lower"] > ends["upper"]:
            raise ArithmeticError(f"lower exceeds upper: {ends!r}")
        self.bound = Bound(float(ends["lower"]), float(ends["upper"]))
        self.step = step

    def log_rare(self, tilt: float) -> float:
        """Log of the share of sums that the tables are about."""
        at = np.array([tilt])
        whole = sum(float(c.cumulants(at)[0, 0]) for c in self.cells)
        return float(total_cumulants(self.cells, at)[0, 0]) - whole

    def seems_rare(self) -> bool:
        """Whether one tilt cannot reach where the answer seems to be."""
        if self.count == 1 or self.guess == 0:
            return False
        epsilon, log_delta = self.query.point(self.guess)
        p, q = large_steps(self.losses, np.array([epsilon]))
        first = float(p[0]) - math.exp(min(epsilon + math.log(q[0]), 1.0))
        if first > 1.5 * math.exp(log_delta):
            return True
        _, excess, _ = choose_tilt(self.cells, self.order, epsilon, log_delta)
        return excess > 1.5 * POOR

    def first_step(self, goal: float) -> float:
        """A step whose predicted width is the wanted one."""
        order, slope = self.order, max(self.order, self.slope)
        width = self.query.width_of_epsilon(self.guess, slope, goal)
        width *= (1 + order) / (1 + slope)
        step = fitting_step(self.cells, order, width)
        epsilon, _ = self.query.point(self.guess)
        self.heavy = [heaviest(part, order, epsilon) for part in self.cells]
        span = 0.0  # of atoms that matter; they should lie on the grid
        for part in self.cells:
            marks, seen = landmarks(part.pair), part.loss[part.log_p > -25]
            if marks and len(seen) > 0:
                reach = float(np.ptp(seen))
                span = max(span, min(marks[-1] - marks[0], reach))
        return max(step, span / 1000)

    def start(self, goal: float, sides: Sequence[BoundKind]) -> None:
        """A first interval."""
        for _ in range(4):
            step, tried = max(self.first_step(goal), 1.2 * self.finest), 0.0
            for _ in range(6):
                new = aligned_step(step, self.pairs, self.heavy)
                if new > tried:
                    try:
                        self.compute(new, self.guess, goal, sides)
                        self.finest = max(self.finest, tried)
                        return
                    except GridTooFine:
                        tried = new
                step = 4 * max(step, new)
            self.order /= 4  # a smaller tilt has a shorter window, perhaps

    @property
    def hindered(self) -> bool:
        """Whether tails made the grid coarse, or the tilt poor."""
        return self.finest > 0 or self.excess > POOR or self.step == 0

    def aim(self, goal: float, floor: float) -> None:
        """Refine to another relative width, on one grid."""
        self.query = replace(self.query, relative_width=goal)
        self.parted, self.ended = True, False
        self.narrow(floor)

    def narrow(self, floor: float) -> None:
        """Refine, on one grid."""
        query, stuck = self.query, 0
        goal = max(query.relative_width, 1e-13)
        if query.epsilon and self.guess < 1e-290 and self.bound.lower == 0:
            most = chernoff_delta(self.cells, query.epsilon)
            self.bound = Bound(0.0, min(self.bound.upper, most))
            if most < 1e-290:
                self.ended = True
                return
        if self.step == 0 or self.bound.lower == 0:
            self.start(goal, SIDES)
        for _ in range(4 if self.parted and self.count > 1 else 8):
            bound, old = self.bound, self.step
            done = bound.width <= goal or bound.upper <= floor
            if done or old == 0:
                return
            hard = self.finest > 0 or self.work > WORK / 5
            poor = POOR if hard else 1.5 * POOR
            if not self.parted and self.excess > poor:
                return
            if stuck == 3 or self.work > 8 * WORK:
                break
            value, width = bound.upper, bound.width
            if not 0 < value < math.inf:
                value, width = self.guess, 1.0
            elif width < 0.5:
                value = (bound.lower + bound.upper) / 2
            elif self.split < math.inf:
                value = bound.lower
            ask = Query(None, query.point(value)[0], goal)
            before = self.order
            self.order, _ = saddle(self.cells, ask, before / 5, before * 5, 13)
            least = 1 / 64 if width < 0.9 else 1 / 4
            steps = old * np.append(1.0, np.geomspace(least, 0.9, 96))
            now, *ways = predicted_width(self.cells, self.order, steps)
            good = np.count_nonzero(np.array(ways) <= 0.8 * now * goal / width)
            step = float(steps[max(int(good), 1)])
            if stuck:  # a grid may be unlucky with atoms: farther away
                step = min(step, 0.6 * old)
            step = max(step, 1.2 * self.finest)
            part = 0.7 * 0.15**stuck
            while True:
                new = aligned_step(step, self.pairs, self.heavy, part)
                if new > 0.95 * old:
                    self.ended = True
                    return
                try:
                    self.compute(new, value, goal, SIDES)
                    break
                except GridTooFine:
                    part = 0.7
                    if self.order != before:
                        self.order = before  # its grid was not too long
                        continue
                    self.finest = max(self.finest, new)
                    step = 1.2 * math.sqrt(step * old)
            new_gap = self.bound.upper - self.bound.lower
            gain = new_gap / (bound.upper - bound.lower)
            stuck = stuck + 1 if gain > 0.8 and width < 0.9 else 0
        self.ended = True

    def exclude(self, floor: float) -> None:
        """Show, if it is likely, that the answer is at most `floor`."""
        gap = 1 - self.guess / floor if floor > 0 else 0.0
        goal = min(max(0.4 * gap, self.query.relative_width), 0.1)
        if gap > 0:
            self.start(goal, ("upper",))
