"""The truth about whole runs, whatever they consist of. No accountlib here.

A `Part` says in plain words what is run and how often; `run_truth` gives
delta as a function of epsilon, each value as an interval with its own
error. What each word means is written down here once more, from the
definitions: remove compares (1 - q) Q + q P with Q, add the reverse; in a
batch of fixed size one record stands in the place of another, so that the
pair is the one for an exchanged record; and so on. Where theory has a gap,
`low` is what data sets reach and `high` is what is proven.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import mpmath as mp
import numpy as np
from flint import arb, ctx
from scipy import special

from tests import truth
from tests.truth import contour as line
from tests.truth import curves as balls
from tests.truth import run_curves
from tests.truth.curves import Curve
from tests.truth.laws import Ends, Law, NoTruth, Part, one_run


def ball_curve(laws: Sequence[tuple[Law, int]]) -> Curve | None:
    """The curve of all runs in ball arithmetic, where there is one."""
    if sum(n for _, n in laws) == 1:
        return laws[0][0].curve
    gaussians = [(law, n) for law, n in laws if law.ratio]
    merged = run_curves.merged_gaussian(
        [(law.ratio, n) for law, n in gaussians]
    )
    if len(gaussians) == len(laws):
        return merged
    tables = [(law.table, n) for law, n in laws if law.table]
    if len(tables) == len(laws):
        if len(laws) == 1 and laws[0][0].spaced:
            table, count = tables[0]
            return partial(run_curves.lattice, table, count)
        if len(laws) == 1:
            with ctx.workprec(200):
                p, q = tables[0][0]()
            both = sum(a != 0 and b != 0 for a, b in zip(p, q, strict=True))
            if both <= 2 and all(
                b == 0 or a != 0 for a, b in zip(p, q, strict=True)
            ):
                return partial(run_curves.two_losses, *tables[0])
            if both <= 2 and tables[0][1] > 20:
                # negative infinite losses have no P-mass: of no account
                return partial(run_curves.two_losses, *tables[0])
        return partial(run_curves.product, tables)
    rest = [(law, n) for law, n in laws if not law.table]
    if len(rest) == len(gaussians):
        return partial(run_curves.conditioned, tables, merged)
    if len(rest) == 1 and rest[0][1] == 1:
        return partial(run_curves.conditioned, tables, rest[0][0].curve)
    return None


@dataclass
class Direction:
    """delta of a list of laws, as well as it can be known."""

    laws: list[tuple[Law, int]]

    def __post_init__(self) -> None:
        self.curve = ball_curve(self.laws)
        self.contour: line.Contour | None = None
        self.exact: dict[float, Ends] = {}

    @property
    def infinite(self) -> Ends:
        """The mass at infinity under P."""
        if not any(law.infinite[0] for law, _ in self.laws):
            return 0.0, 0.0
        with ctx.workprec(2000):
            finite = arb(1)
            for law, n in self.laws:
                if law.infinite[0]:
                    p, q = law.table()
                    mass = sum(
                        (a for a, b in zip(p, q, strict=True) if b == 0),
                        arb(0),
                    )
                    finite *= (1 - mass) ** n
            value = 1 - finite
            low = math.nextafter(float(value.lower()), -1.0)
            return low, math.nextafter(float(value.upper()), 2.0)

    @property
    def top(self) -> float:
        """The largest finite loss, roughly."""
        return math.fsum(n * law.top for law, n in self.laws)

    def delta(self, epsilon: float) -> Ends:
        if epsilon not in self.exact:
            self.exact[epsilon] = self._delta(epsilon)
        return self.exact[epsilon]

    def compare(self, epsilon: float, value: float) -> int:
        """1 if delta is surely larger than a value, -1 if less, else 0."""
        if self.curve is not None and not math.isinf(epsilon):
            with suppress(ArithmeticError):
                return balls.compare(self.curve, epsilon, value)
        low, high = self.delta(epsilon)
        return int(low > value) - int(high < value)

    def _delta(self, epsilon: float) -> Ends:
        if math.isinf(epsilon):
            return self.infinite
        law, count = self.laws[0]
        if len(self.laws) == 1 and law.scale and count > 1:
            if count > 2000:
                raise NoTruth("many Laplace runs")
            scale = law.scale
            with mp.workdps(60):
                exact = mp.mpf(scale.numerator) / scale.denominator
                low, high = truth.laplace_composition_delta(
                    epsilon, exact, count
                )
            return _outward(float(low), float(high))
        if self.curve is not None:
            try:
                return balls.enclose(self.curve, epsilon)
            except ArithmeticError:
                pass
        lossless = not any(law.infinite[0] for law, _ in self.laws)
        if lossless and epsilon > max(self.top * (1 + 1e-9), 0.0):
            return 0.0, 0.0
        if sum(n for _, n in self.laws) == 2:
            with suppress(ArithmeticError):
                return self._two_runs(epsilon)
        return self._contour_delta(epsilon)

    def _two_runs(self, epsilon: float) -> Ends:
        one, other = (law for law, n in self.laws for _ in range(n))
        if one.density is None:
            one, other = other, one
        if one.density is None or one.reach[1] - one.reach[0] > 200:
            raise NoTruth("no smooth density")
        kinks = [x for x in (-other.bottom, other.top) if math.isfinite(x)]
        return run_curves.two_runs(
            one.density, one.reach, other.curve, kinks, epsilon
        )

    def _contour_delta(self, epsilon: float) -> Ends:
        if any(law.infinite[0] for law, _ in self.laws):
            raise NoTruth("infinite losses in many runs")
        if any(law.rule is None for law, _ in self.laws):
            raise NoTruth("no rule")
        if any(law.spaced for law, _ in self.laws) and len(self.laws) == 1:
            raise NoTruth("a lattice of losses")
        if not math.isinf(self.top):
            if abs(epsilon - self.top) <= 1e-6 * abs(self.top):
                raise NoTruth("at the largest loss")
        if self.contour is None:
            parts = [(law.rule, n) for law, n in self.laws]
            self.contour = line.Contour(parts, self.top)
        with np.errstate(all="ignore"):
            return line.contour_delta(self.contour, epsilon)


def _outward(low: float, high: float) -> Ends:
    return math.nextafter(low, -1.0), math.nextafter(high, math.inf)


@dataclass
class Truth:
    """The largest delta of some directions.

    `reached` are lower bounds, `proven` upper bounds: mostly the same.
    """

    reached: list[Direction]
    proven: list[Direction]

    def delta(self, epsilon: float) -> Ends:
        low = max(side.delta(epsilon)[0] for side in self.reached)
        high = max(side.delta(epsilon)[1] for side in self.proven)
        return low, high

    def compare(self, epsilon: float, value: float) -> int:
        """1 if delta is surely larger than a value, -1 if less, else 0."""
        reached = [side.compare(epsilon, value) for side in self.reached]
        if max(reached) == 1:
            return 1
        if self.gap:
            reached = [side.compare(epsilon, value) for side in self.proven]
        return -1 if max(reached) == -1 else 0

    @property
    def gap(self) -> bool:
        return self.reached != self.proven

    @property
    def tops(self) -> list[float]:
        """The largest losses of the directions, roughly."""
        return [side.top for side in self.proven]

    @property
    def infinite(self) -> Ends:
        low = max(side.infinite[0] for side in self.reached)
        return low, max(side.infinite[1] for side in self.proven)


def table_mu(known: Truth, cutoff: float) -> Ends:
    """The smallest mu with f_mu(x) <= f(x) wherever x, f(x) >= cutoff.

    For tables. f is one curve for all directions: the convex hull of their
    polygons. f_mu is convex, so that the corners of f and its two crossings
    with the cut-off decide. Where no x has both rates at least the cut-off,
    the larger mu of the crossings.
    """
    points: list[tuple[arb, ...]] = []
    for side in known.proven:
        if known.gap or not all(law.table for law, _ in side.laws):
            raise NoTruth("no table")
        with ctx.workprec(1400):
            rows = run_curves.joint(
                [(law.table, n) for law, n in side.laws], 3000
            )
            rows = [(p, q) for p, q in rows if p != 0 or q != 0]
            rows.sort(key=lambda r: float((r[0] / (r[0] + r[1])).mid()))
            # rates of tests that accept the k smallest ratios, and the rest
            miss, alarm = arb(0), arb(0)
            points.append((arb(1), arb(0), arb(0), arb(1)))
            for p, q in rows:
                miss, alarm = miss + p, alarm + q
                points.append((1 - alarm, alarm, miss, 1 - miss))
    corners = np.array([[float(z.mid()) for z in p] for p in _hull(points)])
    best = _polygon_mu(corners, cutoff)
    return best * (1 - 1e-9) - 1e-12, best * (1 + 1e-9) + 1e-12


def _hull(points: list[tuple[arb, ...]]) -> list[tuple[arb, ...]]:
    """The corners of the largest convex curve below points x, 1 - x, y, ..."""
    hull: list[tuple[arb, ...]] = []
    with ctx.workprec(1400):
        for p in sorted(points, key=lambda z: (z[0].mid(), z[2].mid())):
            while len(hull) > 1:
                (x, _, y, _), (x_1, _, y_1, _) = hull[-2:]
                if (y_1 - y) * (p[0] - x) < (p[2] - y) * (x_1 - x):
                    break
                hull.pop()
            if not hull or hull[-1][2] > p[2]:  # f falls until it is 0
                hull.append(p)
    return hull


def _crossing(points: np.ndarray, rate: np.ndarray, c: float) -> np.ndarray:
    """The row where a monotone rate is c; no digit cancels."""
    above = rate >= c
    k = int(np.flatnonzero(above[1:] != above[:-1])[0])
    share = (c - rate[k + 1]) / (rate[k] - rate[k + 1])
    other = (rate[k] - c) / (rate[k] - rate[k + 1])
    return np.asarray(share * points[k] + other * points[k + 1])


def _polygon_mu(points: np.ndarray, cutoff: float) -> float:
    """Rows: x, 1 - x, y, 1 - y, from x = 0 on."""
    x, y = points[:, 0], points[:, 2]
    at_x, at_y = _crossing(points, x, cutoff), _crossing(points, y, cutoff)
    at_x[0] = at_y[2] = cutoff
    inside = points[(x >= cutoff) & (y >= cutoff)]
    good = [c for c in (at_x, at_y) if min(c[0], c[2]) >= cutoff]
    mus = []
    for row in [*inside, *(good or [at_x, at_y])]:
        parts = [
            special.ndtri(a) if a < 0.5 else -special.ndtri(b)
            for a, b in (row[:2], row[2:])
        ]
        mus.append(-float(sum(parts)))
    return max(0.0, *mus)


def run_truth(parts: Sequence[Part], adjacency: str, group: int = 1) -> Truth:
    """The truth about a list of parts."""
    exchanged = adjacency == "substitute"
    laws = [(one_run(part, exchanged, group), part.count) for part in parts]
    back = [(law.reversed(), n) for law, n in laws]
    wanted = {
        "remove": [laws],
        "add": [back],
        "add-or-remove": [laws, back],
        "substitute": [laws, back],
    }[adjacency]
    if all(law.symmetric for law, _ in laws):
        wanted = [laws]
    reached = [Direction(way) for way in wanted]
    if not any(law.above for law, _ in laws):
        return Truth(reached, reached)
    one = exchanged and sum(n for _, n in laws) == 1
    if one and (parts[0].sampler[0] != "full"):
        return Truth(reached, reached)  # the larger of both is proven
    high = [[(law.above or law, n) for law, n in way] for way in wanted]
    return Truth(reached, [Direction(way) for way in high])
