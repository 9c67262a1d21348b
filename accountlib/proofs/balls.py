# Generated from notebooks/proofs/balls.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Numbers that know their error

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $x$ | `x` | a loss, in nats |
| $\alpha$ | `alpha` | $e^x$ |
| $\Delta$ | `step` | distance of two losses of a table, in nats |
| $E$, $E_x$ | `event` | any event; a best event at the loss $x$ |
| $\delta(x)$ | `height` | $P(E_x) - e^x Q(E_x)$ |
| $\mu$ | `mu`; `square` | distance of two normal laws; $\mu^2$ |
| $s$ | `scale` | scale of Laplace noise |
| $\gamma$ | `rate` | chance of a record to take part |
| $p$, $q$ | `p`, `q` | probabilities under $P$ and under $Q$ |
| $m_i$ | `masses` | tilted mass at place $i$ of a grid |
| $N$, $k$, $u_j$ | `size`, `k`, `u` | places of a circle; a frequency, from 0 to `last`; $e^{\pi\mathrm{i}j^2/N}$ |
"""

import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib import import_module
from itertools import accumulate
from typing import Any

__all__ = [
    "Ball",
    "Event",
    "flint",
    "ball",
    "Undecided",
    "tail_ball",
    "Law",
    "GaussianLaw",
    "LaplaceLaw",
    "SampledLaw",
    "ReversedLaw",
    "FoldedLaw",
    "SortedTable",
    "sorted_table",
    "TableLaw",
    "GuaranteeLaw",
    "ListedLaw",
    "Masses",
    "circle_turns",
    "round_off",
    "spectrum_work",
    "fixed_point",
    "chirp_frequencies",
    "frequencies",
]

# --- Comparing balls

Ball = Any  # flint.arb: a number with a radius; the truth is inside
Event = tuple[Ball, Ball]  # its probability under P, and under Q
_NEAR_KEYS = 1e-9  # losses of a table that are nearer are compared in balls


def flint() -> Any:
    """The library of balls, or an error that says how to get it.

    >>> flint().arb(1) / 3 > 0.3333
    True
    """
    try:
        return import_module("flint")
    except ImportError:
        raise ImportError(
            "proofs need python-flint: pip install 'accountlib[verify]'"
        ) from None


def ball(value: float | Fraction) -> Ball:
    """A number as a ball: floats, fractions and whole numbers are exact.

    >>> 3 * ball(Fraction(1, 3)) - 1 < 1e-15
    True
    """
    exact = Fraction(value)
    return flint().arb(exact.numerator) / exact.denominator


class Undecided(ArithmeticError):
    """A comparison that needs more bits."""


def tail_ball(z: Ball) -> Ball:
    """Probability that a standard normal number exceeds z.

    >>> 0.158655 < tail_ball(ball(1)) < 0.158656
    True
    """
    return (z / flint().arb(2).sqrt()).erfc() / 2


# --- What a table needs of a pair


class Law(ABC):
    r"""The loss of one run in balls: best events, and the curve of a pair.

    Formula: $E_x$ has all outcomes with a loss above x, none with a loss
    below, and perhaps those with the loss x.
    """

    @abstractmethod
    def event(self, x: Ball, above: bool = True) -> Event:
        """P- and Q-probability of $E_x$, or (`above` False) of the rest."""

    def height(self, x: Ball) -> Ball:
        r"""$\delta(x) = P(E_x) - e^x Q(E_x)$."""
        p, q = self.event(x)
        value, hair = p - x.exp() * q, ball(2) ** (-3 * flint().ctx.prec // 4)
        if value.rad() < hair or not x.is_finite():
            return value
        p, q = self.event(x + hair)
        low = p - (x + hair).exp() * q
        fall = (x + hair).exp() - x.exp()
        return value.intersection(low.union(low + fall * self.total[1]))

    @property
    def infinite(self) -> Event:
        """P-mass where Q has none, and Q-mass where P has none."""
        return ball(0), ball(0)

    @property
    def total(self) -> Event:
        """Probability of all outcomes: 1, but for lists that are rounded."""
        return ball(1), ball(1)

    @property
    def ends(self) -> tuple[Ball, Ball]:
        """No finite loss is below the first, or above the second."""
        infinity = flint().arb.pos_inf()
        return -infinity, infinity

    @property
    def symmetric(self) -> bool:
        """Whether (Q, P) has the same curve."""
        return False


@dataclass(frozen=True)
class GaussianLaw(Law):
    r"""Two normal laws with distance $\mu$, whose square is given.

    Formula: $E_x = \{z > x/\mu + \mu/2\}$, where z is normal under Q.

    >>> 0.126936 < GaussianLaw(Fraction(1)).height(ball(1)) < 0.126937
    True
    """

    square: Fraction

    def event(self, x: Ball, above: bool = True) -> Event:
        mu = ball(self.square).sqrt()
        z, sign = x / mu + mu / 2, 1 if above else -1
        return tail_ball(sign * (z - mu)), tail_ball(sign * z)

    @property
    def symmetric(self) -> bool:
        return True


@dataclass(frozen=True)
class LaplaceLaw(Law):
    """Two Laplace laws of this scale whose centres are 1 apart.

    >>> 0.393469 < LaplaceLaw(Fraction(1)).height(ball(0)) < 0.393470
    True
    """

    scale: Fraction

    def event(self, x: Ball, above: bool = True) -> Event:
        most, one, zero = ball(1 / self.scale), ball(1), ball(0)
        if x >= most or x < -most:
            return (one, one) if above == (x < 0) else (zero, zero)
        below = (-(most - x) / 2).exp() / 2  # of P
        beyond = (-(most + x) / 2).exp() / 2  # of Q
        p, q = (1 - below, beyond) if above else (below, 1 - beyond)
        if x >= -most and x < most:
            return p, q
        other = one if above == (x < 0) else zero  # is the atom in it?
        if x.contains(zero):  # nobody knows which atom
            other = one.union(zero)
        return p.union(other), q.union(other)

    @property
    def ends(self) -> tuple[Ball, Ball]:
        return -ball(1 / self.scale), ball(1 / self.scale)

    @property
    def symmetric(self) -> bool:
        return True


# --- Sampled, reversed, folded


@dataclass(frozen=True)
class SampledLaw(Law):
    r"""The record takes part with chance $\gamma < 1$.

    Formula: $((1-\gamma) Q + \gamma P, Q)$; $E_x$ is that of the base at
    $\ln((e^x - 1 + \gamma)/\gamma)$.

    >>> law = SampledLaw(GaussianLaw(Fraction(1)), Fraction(1, 2))
    >>> 0.191462 < law.height(ball(0)) < 0.191463
    True
    """

    base: Law
    rate: Fraction

    def event(self, x: Ball, above: bool = True) -> Event:
        rate = ball(self.rate)
        ratio = (x.expm1() + rate) / rate
        if ratio > 0:
            p, q = self.base.event(ratio.log(), above)
            return rate * p + (1 - rate) * q, q
        whole, nothing = self.total, (ball(0), ball(0))
        if ratio <= 0:
            return whole if above else nothing
        return whole[0].union(nothing[0]), whole[1].union(nothing[1])

    @property
    def infinite(self) -> Event:
        return ball(self.rate) * self.base.infinite[0], ball(0)

    @property
    def total(self) -> Event:
        (p, q), rate = self.base.total, ball(self.rate)
        return rate * p + (1 - rate) * q, q

    @property
    def ends(self) -> tuple[Ball, Ball]:
        rate, (low, high) = ball(self.rate), self.base.ends
        least = low.expm1() if self.base.infinite[1] == 0 else ball(-1)
        return (rate * least).log1p(), (rate * high.expm1()).log1p()


@dataclass(frozen=True)
class ReversedLaw(Law):
    """The pair (Q, P): losses change their sign.

    >>> law = ReversedLaw(GaussianLaw(Fraction(1)))
    >>> 0.126936 < law.height(ball(1)) < 0.126937
    True
    """

    base: Law

    def event(self, x: Ball, above: bool = True) -> Event:
        p, q = self.base.event(-x, not above)
        return q, p

    @property
    def infinite(self) -> Event:
        p, q = self.base.infinite
        return q, p

    @property
    def total(self) -> Event:
        p, q = self.base.total
        return q, p

    @property
    def ends(self) -> tuple[Ball, Ball]:
        low, high = self.base.ends
        return -high, -low


@dataclass(frozen=True)
class FoldedLaw(Law):
    r"""A pair equal to its reverse, known for $x \ge 0$.

    Formula: $E_x$ of the base for $x \ge 0$; else the rest of its mirror
    image.

    >>> half = SampledLaw(GaussianLaw(Fraction(4)), Fraction(1, 100))
    >>> law = FoldedLaw(half)
    >>> law.height(ball(1)).overlaps(half.height(ball(1)))
    True
    """

    half: Law

    def event(self, x: Ball, above: bool = True) -> Event:
        if x >= 0:
            return self.half.event(x, above)
        p, q = self.half.event(-x, not above)
        if x < 0:
            return q, p
        other = self.half.event(x, above)
        return q.union(other[0]), p.union(other[1])

    @property
    def infinite(self) -> Event:
        p, _ = self.half.infinite
        return p, p

    @property
    def ends(self) -> tuple[Ball, Ball]:
        _, high = self.half.ends
        return -high, high

    @property
    def symmetric(self) -> bool:
        return True


# --- Lists of outcomes


@dataclass(frozen=True, eq=False)
class SortedTable:
    """Outcomes with the largest loss first, and their sums.

    Fields: `rows`; `keys`, minus the losses as floats; `blur`, the largest
    radius of a loss; `sums` of rows from the first on, and of those from
    the last on; `missing`; `infinite`.
    """

    rows: list[Event]
    keys: list[float]
    blur: float
    sums: tuple[list[Event], list[Event]]
    missing: Ball
    infinite: Event

    def near(self, x: Ball) -> tuple[int, int]:
        """Rows before the first surely have losses above x, those from
        the second on below it."""
        at = -float(x.mid())
        room = _NEAR_KEYS * (1 + abs(at)) + float(x.rad()) + self.blur
        return (
            bisect_left(self.keys, at - room),
            bisect_right(self.keys, at + room),
        )

    def event(self, x: Ball, above: bool) -> Event:
        first, last = self.near(x)
        alpha = x.exp()
        rest = len(self.rows) - last
        p, q = self.sums[0][first] if above else self.sums[1][rest]
        for one, other in self.rows[first:last]:  # floats may misorder them
            height = one - alpha * other
            if not (height < 0 if above else height > 0):
                p, q = p + one, q + other  # also if nobody knows
        infinite = self.infinite[0 if above else 1]
        p, q = (p + infinite, q) if above else (p, q + infinite)
        return p + self.missing, q + self.missing

    def height(self, x: Ball) -> Ball:
        first, last = self.near(x)
        p, q = self.sums[0][first]
        alpha = x.exp()
        total = p + self.infinite[0] - alpha * q + self.missing
        for p, q in self.rows[first:last]:
            total += (p - alpha * q).max(ball(0))
        return total


@lru_cache(64)
def sorted_table(law: Any, bits: int) -> SortedTable:
    """The table of a `TableLaw` at a precision, which is the current one.

    >>> law = GuaranteeLaw(Fraction(1), Fraction(0))
    >>> [round(x, 9) for x in sorted_table(law, flint().ctx.prec).keys]
    [-1.0, 1.0]
    """
    rows, missing = law.rows()
    zero = ball(0)
    if not all(x > 0 or x == 0 for row in rows for x in row):
        raise Undecided("nobody knows whether an outcome has a mass")
    finite = [(p, q) for p, q in rows if p > 0 and q > 0]
    logs = [(p / q).log() for p, q in finite]
    blur = max((float(x.rad()) for x in logs), default=0.0)
    minus = [-float(x.mid()) for x in logs]
    keyed = [(x, p, q) for x, (p, q) in zip(minus, finite, strict=True)]
    keyed.sort(key=lambda row: row[0])
    finite = [(p, q) for _, p, q in keyed]

    def add(one: Event, other: Event) -> Event:
        return one[0] + other[0], one[1] + other[1]

    sums = (
        list(accumulate(finite, add, initial=(zero, zero))),
        list(accumulate(finite[::-1], add, initial=(zero, zero))),
    )
    only_p = sum((p for p, q in rows if not q > 0), zero)
    only_q = sum((q for p, q in rows if not p > 0), zero)
    keys = [key for key, _, _ in keyed]
    infinite = only_p, only_q
    return SortedTable(finite, keys, blur, sums, missing, infinite)


class TableLaw(Law):
    """A list of outcomes, and a bound of what the list leaves out."""

    @abstractmethod
    def rows(self) -> tuple[list[Event], Ball]:
        """Outcomes in any order, and the mass that any other ones have."""

    @cached_property
    def _tables(self) -> dict[int, SortedTable]:
        return {}

    @property
    def table(self) -> SortedTable:
        """The outcomes at the current precision; kept, as it is long."""
        bits = flint().ctx.prec
        if bits not in self._tables:
            self._tables[bits] = sorted_table(self, bits)
        return self._tables[bits]

    def event(self, x: Ball, above: bool = True) -> Event:
        return self.table.event(x, above)

    def height(self, x: Ball) -> Ball:
        return self.table.height(x)

    @property
    def infinite(self) -> Event:
        return self.table.infinite

    @property
    def ends(self) -> tuple[Ball, Ball]:
        table = self.table
        if not (table.missing == 0 and table.rows):
            return super().ends
        losses = [(p / q).log() for p, q in table.rows]
        low = high = losses[0]
        for loss in losses:  # min() and max() would take sides
            low, high = low.min(loss), high.max(loss)
        return low, high


@dataclass(frozen=True)
class GuaranteeLaw(TableLaw):
    r"""The worst pair of $(\varepsilon, \delta)$-DP.

    >>> law = GuaranteeLaw(Fraction(1), Fraction(0))
    >>> 0.4621 < law.height(ball(0)) < 0.4622
    True
    """

    epsilon: Fraction
    delta: Fraction

    def rows(self) -> tuple[list[Event], Ball]:
        told, zero = ball(self.delta), ball(0)
        few = (1 - told) / (1 + ball(self.epsilon).exp())
        many = few * ball(self.epsilon).exp()
        return [(told, zero), (many, few), (few, many), (zero, told)], zero

    @property
    def symmetric(self) -> bool:
        return True


@dataclass(frozen=True)
class ListedLaw(TableLaw):
    """Two lists of probabilities of the same outcomes.

    >>> coin = Fraction(3, 4), Fraction(1, 4)
    >>> 0.4999 < ListedLaw(coin, coin[::-1]).height(ball(0)) < 0.5001
    True
    """

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    def rows(self) -> tuple[list[Event], Ball]:
        p, q = map(ball, self.p), map(ball, self.q)
        return list(zip(p, q, strict=True)), ball(0)

    @property
    def total(self) -> Event:
        return ball(sum(self.p)), ball(sum(self.q))

    @property
    def symmetric(self) -> bool:
        return self.p == self.q[::-1]


# --- Turns, and transforms

Masses = list[tuple[int, Ball]]  # place on the grid, and mass
_MOST_TURNED = 10**8  # places of a circle whose turns come from two tables
_SPARE_BITS = 20  # by which a number is below round-off
_MOST_ENTRIES = 300_000  # of a matrix: some hundred megabytes


def circle_turns(size: int) -> Callable[[int], Any]:
    r"""The turns $e^{2 \pi \mathrm{i} k/N}$ of a circle, for whole k.

    >>> turn = circle_turns(4)
    >>> round(float(turn(1).imag), 3), round(float(turn(-2).real), 3)
    (1.0, -1.0)
    """

    def one(k: int) -> Any:
        return flint().acb(ball(Fraction(2 * (k % size), size))).exp_pi_i()

    if size > _MOST_TURNED:
        return one
    block = math.isqrt(size) + 1
    near = [one(k) for k in range(block)]
    far = [one(k) for k in range(0, size, block)]
    return lambda k: far[k % size // block] * near[k % size % block]


def round_off(value: Ball) -> Ball:
    """What is less than the last bit of a number."""
    return value * ball(2) ** (-flint().ctx.prec - _SPARE_BITS)


def spectrum_work(places: int, wide: int, size: int, last: int) -> float:
    """Products that a transform takes, roughly.

    Parameters: how many `places`, from first to last `wide`; `size` of the
    circle; `last`, the highest frequency.
    """
    return min(places * last, 100.0 * (min(wide, size) + last))


def fixed_point(numbers: Sequence[Any], bits: int) -> tuple[Any, Any, Ball]:
    """Real and imaginary parts, times $2^{bits}$ and whole, as polynomials;
    and what all of them together are wrong by, in those units."""

    def whole(value: Ball) -> Any:
        mantissa, exponent = value.mid().man_exp()
        shift = int(exponent) + bits
        return mantissa << shift if shift >= 0 else mantissa >> -shift

    parts = [[x.real for x in numbers], [x.imag for x in numbers]]
    radii = sum((v.rad() for part in parts for v in part), ball(0))
    wrong = 2 * len(numbers) + radii * ball(2) ** bits
    poly = flint().fmpz_poly
    one, other = (poly([whole(v) for v in part]) for part in parts)
    return one, other, wrong


def chirp_frequencies(masses: Masses, size: int, last: int) -> list[Any]:
    r"""As `frequencies`, by $u_k \sum_i (m_i u_i) \bar u_{k-i}$.

    >>> three = [(i, ball(1)) for i in range(5, 8)]
    >>> [round(float(x.real), 3) for x in chirp_frequencies(three, 6, 2)]
    [3.0, 2.0, 0.0]
    """
    acb, bits = flint().acb, flint().ctx.prec + _SPARE_BITS
    total = sum((abs(m) for _, m in masses), ball(0)).upper()
    if not 0 < total < math.inf:  # not known well enough
        return [acb(flint().arb.nan())] * (last + 1)
    begin = min(i for i, _ in masses)
    wide = min(max(i for i, _ in masses) - begin + 1, size)
    folded = [ball(0)] * wide
    for i, m in masses:
        folded[(i - begin) % size] += m / total
    turn = circle_turns(2 * size)
    u = [turn(j * j) for j in range(max(wide, last + 1))]
    terms = [acb(m) * x for m, x in zip(folded, u, strict=False)]
    back = [x.conjugate() for x in u]
    back = back[wide - 1 : 0 : -1] + back[: last + 1]
    a, b, lost = fixed_point(terms, bits)
    c, d, turned = fixed_point(back, bits)
    one, other = a * c, b * d
    real, imaginary = one - other, (a + b) * (c + d) - one - other
    unit = ball(2) ** -bits
    wrong = unit * (lost * (1 + unit * turned) + turned) * flint().arb(0, 1)
    return [
        (acb(real[n], imaginary[n]) * unit**2 + acb(wrong, wrong))
        * (total * u[k])
        * turn(2 * k * begin)
        for k, n in enumerate(range(wide - 1, wide + last))
    ]


def frequencies(masses: Masses, size: int, last: int) -> list[Any]:
    r"""Transforms $\sum_i m_i e^{2 \pi \mathrm{i} k i/N}$ for k = 0 to `last`.

    Formula: a product of matrices, or where that takes more work
    $ik = (i^2 + k^2 - (k - i)^2)/2$ and one product of polynomials.

    >>> two = frequencies([(0, ball(1)), (1, ball(1))], 6, 3)
    >>> [round(float(x.real), 3) for x in two]
    [2.0, 1.5, 0.5, 0.0]
    """
    places = [i for i, _ in masses]
    wide = max(places, default=0) - min(places, default=0) + 1
    if spectrum_work(len(places), wide, size, last) < len(places) * last:
        return chirp_frequencies(masses, size, last)
    matrix, block = flint().acb_mat, math.isqrt(last) + 1
    turn, steps = circle_turns(size), range(0, last + 1, block)
    table = matrix(len(steps), block)
    part = _MOST_ENTRIES // block + 1
    for start in range(0, len(masses), part):
        some = masses[start : start + part]
        fine = [[turn(k * i) for k in range(block)] for i, _ in some]
        coarse = [[m * turn(k * i) for i, m in some] for k in steps]
        table += matrix(coarse) * matrix(fine)
    return list(table.entries()[: last + 1])
