"""The law of one run, whatever it is: for `runs`. No accountlib here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import arb, ctx

from tests.truth import contour as line
from tests.truth import curves as balls
from tests.truth import run_curves
from tests.truth.curves import Curve, Number, Table, ball

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


def _swapped(density: run_curves.Density) -> run_curves.Density:
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
        run_curves.merged_gaussian([(ratio, 1)]),
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
