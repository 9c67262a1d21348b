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
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import truth
import truth_contour as line
import truth_curves as balls
from flint import arb, ctx
from scipy import special
from truth_curves import Curve, Number, Table, ball

Ends = tuple[float, float]


@dataclass(frozen=True)
class Part:
    """`count` runs of one mechanism.

    kind and numbers: ("gaussian", noise), ("laplace", scale), ("response",
    truth probability), ("table", p, q), ("mixture", sensitivities,
    probabilities, noise), ("pure", epsilon), ("approximate", epsilon,
    delta), ("integer gaussian" | "integer laplace", noise, sensitivity).
    sampler: ("full",), ("poisson", rate), ("fixed", batch, records).
    """

    kind: str
    numbers: tuple
    sampler: tuple = ("full",)
    count: int = 1


@dataclass
class Law:
    """One run in the direction remove, in as many forms as there are."""

    curve: Curve
    table: Any = None  # a Table
    rule: Any = None  # a Rule
    ratio: Any = None  # a Fraction: noise over shift of a plain Gaussian
    scale: Fraction | None = None  # of plain Laplace noise
    spaced: bool = False  # the table's losses are equally spaced
    top: float = math.inf  # largest finite loss, and of the reverse
    bottom: float = math.inf
    infinite: tuple[bool, bool] = (False, False)  # losses of either sign
    symmetric: bool = False
    density: Any = None  # of a mixture of Gaussians: balls.Density
    reach: tuple[float, float] = (0.0, 0.0)
    # what is proven, where data sets are not known to reach it
    above: Law | None = None

    def reversed(self) -> Law:
        if self.symmetric:
            return self
        curve = partial(balls.reversed_curve, self.curve)
        back = balls.swapped(self.table) if self.table else None
        return Law(
            partial(balls.table, back) if back else curve,
            back,
            partial(line.flipped, self.rule) if self.rule else None,
            self.ratio,
            self.scale,
            self.spaced,
            self.bottom,
            self.top,
            self.infinite[::-1],
            density=_swapped(self.density) if self.density else None,
            reach=self.reach,
            above=self.above.reversed() if self.above else None,
        )


def _swapped(density: balls.Density) -> balls.Density:
    return lambda u: density(u)[::-1]


class NoTruth(ArithmeticError):
    """This run cannot be answered here."""


# --- one run ----------------------------------------------------------------


def _rate(sampler: tuple) -> Fraction:
    if sampler[0] == "poisson":
        return Fraction(sampler[1])
    if sampler[0] == "fixed":
        return Fraction(sampler[1], sampler[2])
    return Fraction(1)


def _float(value: Callable[[], arb]) -> float:
    with ctx.workprec(300):
        return float(value().mid())


def _table_law(table: Table, spaced: bool = False) -> Law:
    """All forms of a table."""
    table = balls.kept(table)
    with ctx.workprec(200):
        p, q = table()
        both = [(a, b) for a, b in zip(p, q, strict=True) if a != 0 and b != 0]
        rows = [(float(a.log()), float((a / b).log())) for a, b in both]
    logs, losses = np.array(rows).reshape(-1, 2).T
    infinite = any(b == 0 != a for a, b in zip(p, q, strict=True))
    negative = any(a == 0 != b for a, b in zip(p, q, strict=True))
    gaps = np.diff(losses)
    evenly = len(gaps) > 1 and np.ptp(gaps) < 1e-9 * np.abs(gaps).max()
    return Law(
        partial(balls.table, table),
        table=table,
        rule=partial(line.outcomes, logs, losses) if len(rows) else None,
        spaced=(spaced or evenly) and not infinite and not negative,
        top=float(losses.max()) if len(rows) else -math.inf,
        bottom=float(-losses.min()) if len(rows) else -math.inf,
        infinite=(infinite, negative),
    )


def _gaussian_law(ratio: Fraction) -> Law:
    """N(1, ratio^2) against N(0, ratio^2)."""
    return Law(
        balls.merged_gaussian([(ratio, 1)]),
        rule=partial(line.smooth, [float(1 / ratio)], [1], False),
        ratio=ratio,
        symmetric=True,
    )


def _mixture_law(
    sensitivities: Sequence[Number],
    weights: Sequence[Fraction],
    noise: Fraction,
    mirrored: bool = False,
) -> Law:
    def parts() -> tuple[list[arb], list[arb]]:
        means = [ball(Fraction(c) / noise) for c in sensitivities]
        return means, [ball(w) for w in weights]

    some = [
        (c, w) for c, w in zip(sensitivities, weights, strict=True) if w > 0
    ]
    means = [float(Fraction(c) / noise) for c, _ in some]
    rule = partial(line.smooth, means, [w for _, w in some], mirrored)

    def density(u: arb) -> tuple[arb, arb]:
        shifts, shares = parts()
        up, down = (
            sum(
                (
                    w * (sign * m * u - m * m / 2).exp()
                    for m, w in zip(shifts, shares, strict=True)
                ),
                arb(0),
            )
            for sign in (1, -1)
        )
        return (up, down) if mirrored else (up, arb(1))

    most = max(means)
    if most == 0:  # the output says nothing about the record
        return _table_law(balls.listed_table([1.0], [1.0]))
    reach = (-38 - most if mirrored else -38.0, most + 38)
    if mirrored:
        return Law(
            partial(balls.exchange, parts),
            rule=rule,
            symmetric=True,
            density=density,
            reach=reach,
        )
    zero = sum((w for c, w in some if c == 0), Fraction(0))
    bottom = -line.log_of(zero) if zero > 0 else math.inf
    return Law(
        partial(balls.mixture, parts),
        rule=rule,
        bottom=bottom,
        density=density,
        reach=reach,
    )


def _laplace_law(scale: Fraction, rate: Fraction) -> Law:
    c = 1 / scale
    curve: Curve = partial(balls.laplace, lambda: ball(c))
    if rate < 1:
        curve = partial(balls.sampled, curve, rate)
    top = _float(lambda: (ball(rate) * ball(c).expm1()).log1p())
    bottom = _float(lambda: -(ball(rate) * (-ball(c)).expm1()).log1p())
    return Law(
        curve,
        rule=partial(line.broken, float(scale), rate, False),
        scale=scale if rate == 1 else None,
        top=top,
        bottom=bottom,
        symmetric=rate == 1,
    )


def _laplace_exchange_law(scale: float, rate: Fraction) -> Law:
    def top() -> arb:
        s, r = ball(scale), ball(rate)
        far = (-1 / s).exp()
        return (
            ((1 - r) * far + r).log() - far.log() - ((1 - r) + r * far).log()
        )

    most = _float(top)
    return Law(
        partial(balls.laplace_exchange, scale, rate),
        rule=partial(line.broken, scale, rate, True),
        top=most,
        bottom=most,
        symmetric=True,
    )


def _bits(part: Part, group: int) -> tuple[Table, Table]:
    """What is reached and what is proven for k records."""
    if part.kind == "response":
        (p,) = part.numbers
        no = 1 - Fraction(p)
        made = balls.listed_table([p, no], [no, p])
        return made, made
    epsilon, delta = (*part.numbers, 0.0)[:2]
    if group == 1:
        made = balls.response_table(epsilon, delta)
        return made, made

    # Noise of the discrete Laplace law, scale 1/epsilon, reaches the
    # k-fold trade-off function of epsilon-DP (Dong, Roth and Su 2022).
    def reached() -> tuple[list[arb], list[arb]]:
        e, d = ball(epsilon), ball(delta)
        front = (e / 2).tanh()
        p = [front * (-j * e).exp() for j in range(group + 1)]
        p[0] = 1 / (1 + (-e).exp())
        p[-1] = (-group * e).exp() / (1 + (-e).exp())
        p = [(1 - d) * x for x in p]
        return [d, *p, arb(0)], [arb(0), *p[::-1], d]

    if delta == 0:
        return reached, reached

    def proven() -> tuple[list[arb], list[arb]]:
        e, d = ball(epsilon), ball(delta)
        factor = arb(group)
        if epsilon > 0:
            factor = (group * e).expm1() / e.expm1()
        d = (d * factor).min(arb(1))
        few = (1 - d) / (1 + (group * e).exp())
        p = [d, (1 - d) - few, few, arb(0)]
        return p, p[::-1]

    return reached, proven


def _sampled_tables(reached: Table, proven: Table, rate: Fraction) -> Law:
    gap = reached is not proven
    if rate < 1:
        reached = balls.sampled_table(reached, rate)
        proven = balls.sampled_table(proven, rate)
    law = _table_law(reached)
    law.above = _table_law(proven) if gap else None
    return law


def one_run(part: Part, exchanged: bool, group: int) -> Law:
    """The law of one run; remove, or one for another where `exchanged`."""
    kind, numbers = part.kind, part.numbers
    rate, fixed = _rate(part.sampler), part.sampler[0] == "fixed"
    if rate == 0:
        return _table_law(balls.listed_table([1.0], [1.0]))
    if kind in ("response", "pure", "approximate"):
        law = _sampled_tables(*_bits(part, group), rate)
        if exchanged and rate < 1:
            law.above = _table_law(balls.mirrored_table(law.table))
        return law
    if exchanged and fixed and rate < 1:
        # remove and add are reached, their larger one is proven for a run
        law = one_run(part, False, group)
        if law.table:
            law.above = _table_law(balls.mirrored_table(law.table))
        else:
            full = Part(kind, numbers, ("full",))
            law.above = one_run(full, True, group)
        return law
    moves = 2 if exchanged or fixed else 1
    if kind == "gaussian":
        noise = Fraction(numbers[0])
        if rate == 1 and not fixed:
            return _gaussian_law(noise / (moves * group))
        if exchanged:
            size = range(group + 1)
            weights = [
                math.comb(group, j) * rate**j * (1 - rate) ** (group - j)
                for j in size
            ]
            return _mixture_law(list(size), weights, noise, True)
        if fixed:
            _, batch, records = part.sampler
            weights = _hypergeometric(group, batch, records)
            sizes = [2 * j for j in range(len(weights))]
        else:
            sizes = list(range(group + 1))
            weights = [
                math.comb(group, j) * rate**j * (1 - rate) ** (group - j)
                for j in sizes
            ]
        return _mixture_law(sizes, weights, noise)
    if kind == "mixture":
        sizes, weights, noise = numbers
        weights = [rate * Fraction(w) for w in weights]
        return _mixture_law(
            [0.0, *sizes], [1 - rate, *weights], Fraction(noise)
        )
    if kind == "laplace":
        scale = Fraction(numbers[0])
        if exchanged and rate < 1:
            return _laplace_exchange_law(numbers[0], rate)
        return _laplace_law(scale / (moves * group), rate)
    if kind == "table":
        made = balls.listed_table(*numbers)
        return _sampled_tables(made, made, rate)
    noise, shift = numbers
    word, shift = kind.removeprefix("integer "), shift * group
    if exchanged and rate < 1:
        return _table_law(balls.integer_table(word, noise, shift, shift, rate))
    whole = balls.integer_table(word, noise, moves * shift, 0, 1)
    if rate == 1:
        law = _table_law(whole, spaced=True)
        if word == "gaussian":  # its table is cut, losses have no end
            law.top = law.bottom = math.inf
        return law
    law = _table_law(balls.sampled_table(whole, rate))
    if word == "gaussian":
        law.top = math.inf
        law.bottom = -line.log_of(1 - rate)
    return law


def _hypergeometric(size: int, batch: int, records: int) -> list[Fraction]:
    """How many of `size` marked records are in the batch."""
    weights = []
    for j in range(min(size, batch) + 1):
        w = Fraction(math.comb(size, j))
        for i in range(j):
            w *= Fraction(batch - i, records - i)
        for i in range(size - j):
            w *= Fraction(records - batch - i, records - j - i)
        weights.append(w)
    return weights


# --- many runs --------------------------------------------------------------


def ball_curve(laws: Sequence[tuple[Law, int]]) -> Curve | None:
    """The curve of all runs in ball arithmetic, where there is one."""
    if sum(n for _, n in laws) == 1:
        return laws[0][0].curve
    gaussians = [(law, n) for law, n in laws if law.ratio]
    merged = balls.merged_gaussian([(law.ratio, n) for law, n in gaussians])
    if len(gaussians) == len(laws):
        return merged
    tables = [(law.table, n) for law, n in laws if law.table]
    if len(tables) == len(laws):
        if len(laws) == 1 and laws[0][0].spaced:
            table, count = tables[0]
            return partial(balls.lattice, table, count)
        if len(laws) == 1:
            with ctx.workprec(200):
                p, q = tables[0][0]()
            both = sum(a != 0 and b != 0 for a, b in zip(p, q, strict=True))
            if both <= 2 and all(
                b == 0 or a != 0 for a, b in zip(p, q, strict=True)
            ):
                return partial(balls.two_losses, *tables[0])
            if both <= 2 and tables[0][1] > 20:
                # negative infinite losses have no P-mass: of no account
                return partial(balls.two_losses, *tables[0])
        return partial(balls.product, tables)
    rest = [(law, n) for law, n in laws if not law.table]
    if len(rest) == len(gaussians):
        return partial(balls.conditioned, tables, merged)
    if len(rest) == 1 and rest[0][1] == 1:
        return partial(balls.conditioned, tables, rest[0][0].curve)
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
            with truth.mp.workdps(60):
                exact = truth.mp.mpf(scale.numerator) / scale.denominator
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
        return balls.two_runs(
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
            rows = balls.joint([(law.table, n) for law, n in side.laws], 3000)
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
