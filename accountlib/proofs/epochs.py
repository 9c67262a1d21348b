# Generated from notebooks/proofs/epochs.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""An epoch, in whole numbers

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $t$, $k$ | `steps`, `count` | steps of an epoch; ratios in a sum |
| $Y$, $S$, $M$ | – | ratio $e^L$ of one step; sum of $k$ ratios; $S/t$ of all $t$ |
| $h$ | – | distance of places, where all are equally far apart |
| $i$, $e$ | `i`, `e` | a place is $S = i\,2^e$; in $e^L$ alone $e$ is Euler's number |
| $p$, $q$, $\alpha$ | – | masses of an outcome; $e^{\varepsilon}$ of a hockey stick |
| $f$, $g$ | `errors` | what rounding took, in all, from $k$ times the masses of $P$, and from those of $Q$ |
| – | `told` | masses of $P$ and of $Q$ that count as infinite |
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple, TypeVar

from accountlib.proofs.balls import (
    Ball,
    Event,
    Law,
    TableLaw,
    Undecided,
    ball,
    flint,
    sorted_table,
)

__all__ = [
    "Block",
    "Blocks",
    "Fineness",
    "COARSE",
    "FINE",
    "FINE_FROM",
    "SMALL",
    "added",
    "coarser",
    "on_places",
    "product",
    "sum_blocks",
    "least_distance",
    "spread_of",
    "ratio_places",
    "rare_places",
    "UpperSums",
    "block_of",
    "LowerSums",
    "places_of_sum",
    "whole_ball",
    "first_upper",
    "add_upper",
    "first_lower",
    "add_lower",
    "Sums",
    "of_all_steps",
    "upper_sums",
    "lower_sums",
    "EpochLaw",
    "epoch_law",
]

# --- Masses at places

Block = tuple[int, list[int]]  # first place, and masses in small units
Blocks = dict[int, Block]  # for each e the masses at places i 2^e
_NO_MASSES: Block = (0, [])
# The places
_EPOCH_PART = 2.0**-5  # distance of places: part of the spread
_EPOCH_PLACES = 256  # of one distance, on each side; then it doubles
_FEW_RATIOS = 16  # ratios; their sums have twice as many
_FARTHEST_DOUBLING = 300  # distances of 2^300 are the last; see below
_LEAST_SPREAD = 2.0**-60
_KNOWN_MASS = 2**20  # times its error a mass must be, to be kept from below


class Fineness(NamedTuple):
    """How fine masses are: in units of $2^{-b}$ with b = `bits`; P-mass
    told beyond the places; tails of a block, in units, that are left out."""

    bits: int
    beyond: float
    rare: int


COARSE = Fineness(bits=320, beyond=2.0**-100, rare=2**210)
FINE = Fineness(bits=1000, beyond=2.0**-930, rare=2**60)
FINE_FROM = 320  # bits of the balls that ask for fine masses
SMALL = 2.0**-80  # a smaller delta needs them


def added(*blocks: Block) -> Block:
    """The sum of masses at places of one distance.

    >>> added((0, [1, 2]), (1, [5]))
    (0, [1, 7])
    """
    seen = [block for block in blocks if block[1]]
    if len(seen) < 2:
        return seen[0] if seen else _NO_MASSES
    low = min(first for first, _ in seen)
    total = [0] * (max(first + len(x) for first, x in seen) - low)
    for first, masses in seen:
        for i, mass in enumerate(masses, first - low):
            total[i] += mass
    return low, total


def coarser(block: Block, split: bool) -> Block:
    """Masses at places that are twice as far apart.

    Odd places are split onto both neighbours, and rounded up (`split`), or
    moved to the one before.

    >>> coarser((1, [4, 4, 4]), True), coarser((1, [4, 4, 4]), False)
    ((0, [2, 8, 2]), (0, [4, 8]))
    """
    first, masses = block
    if not masses:
        return block
    low, last = first // 2, first + len(masses)
    total = [0] * (last // 2 - low + 1)
    for i, mass in enumerate(masses, first - 2 * low):
        if split and i % 2:
            half = (mass + 1) // 2
            total[i // 2] += half
            total[i // 2 + 1] += half
        else:
            total[i // 2] += mass
    while total and not total[-1]:
        total.pop()
    return low, total


def on_places(
    blocks: Blocks, count: int, least: int, most: int, split: bool
) -> Blocks:
    r"""Masses at places $S = i 2^e$ with $e \ge$ `least`, which are at most
    `most` of these distances away from `count`.

    >>> on_places({0: (1, [4, 4, 4])}, 0, 0, 2, True)
    {0: (1, [4, 4]), 1: (1, [2, 2])}
    """
    found: Blocks = {}
    carried, e = _NO_MASSES, min(blocks, default=0)
    last = max(blocks, default=-1)
    while e <= last or carried[1]:
        first, masses = added(blocks.get(e, _NO_MASSES), carried)
        start = end = 0
        if e >= least:
            center = count >> e if e > 0 else count << -e
            start = min(max(center - most - first, 0), len(masses))
            end = max(min(center + most + 1 - first, len(masses)), start)
        if start < end:
            found[e] = first + start, masses[start:end]
        low, high = (first, masses[:start]), (first + end, masses[end:])
        carried = added(coarser(low, split), coarser(high, split))
        e += 1
    return found


def product(one: Block, other: Block) -> Block:
    """All sums of a place of one block and one of another."""
    if not (one[1] and other[1]):
        return _NO_MASSES
    poly = flint().fmpz_poly
    masses = poly(one[1]) * poly(other[1])
    return one[0] + other[0], [int(x) for x in masses.coeffs()]


def sum_blocks(one: Blocks, other: Blocks, bits: int, split: bool) -> Blocks:
    """Masses of the sum of two independent numbers.

    A place is added to those with the same or a smaller distance, which
    are made coarser first. Masses are rounded up (`split`) or down.

    >>> whole = {0: (0, [2**320])}
    >>> sum_blocks(whole, {1: (3, [7])}, 320, True)
    {0: (0, []), 1: (3, [7])}
    """
    if not (one and other):
        return {}
    found: Blocks = {}
    low = rest = _NO_MASSES
    up = (1 << bits) - 1 if split else 0
    for e in range(min([*one, *other]), max([*one, *other]) + 1):
        x, y = one.get(e, _NO_MASSES), other.get(e, _NO_MASSES)
        first, masses = added(product(x, added(y, rest)), product(low, y))
        found[e] = first, [(mass + up) >> bits for mass in masses]
        low = coarser(added(low, x), split)
        rest = coarser(added(rest, y), split)
    return found


# --- Which places


def least_distance(spread: float) -> int:
    """e of the smallest distance of places, from the spread of a sum."""
    return math.floor(math.log2(_EPOCH_PART * max(spread, _LEAST_SPREAD)))


def spread_of(masses: Blocks, bits: int, count: int) -> float:
    """Mean distance of a sum from its mean, roughly."""
    total = 0.0
    for e, (first, block) in masses.items():
        start = first - (count >> e if e > 0 else count << -e)
        far = sum(abs(i) * mass for i, mass in enumerate(block, start))
        total += math.ldexp(far >> 64, e + 64 - bits)
    return total


def ratio_places(law: Law, beyond: float) -> list[tuple[int, int]]:
    """Places of one ratio, as pairs (e, i): from 0 on, increasing.

    The ratio at a place is i 2^e. What chords tell of those above the last
    one is at most `beyond`, or the last doubling is reached.
    """
    most = 2 * _EPOCH_PLACES
    start = least_distance(2 * float(law.height(ball(0)).mid()))
    one = 1 << -start  # a spread is at most 2, so start is negative
    low, e, i = [], start, one - 1
    while i >= 0:
        low.append((e, i))
        if i <= (1 << -e) - most and i > 0:
            e, i = e + 1, (i + 1) // 2
        i -= 1
    last, e = one + most, start
    high = [(e, i) for i in range(one, last + 1)]
    while e < _FARTHEST_DOUBLING:
        x = (last * ball(2) ** e).log()
        if law.height(x) - law.infinite[0] < beyond:
            break
        e, first = e + 1, last // 2 + 1
        last = most + max(1 << max(-e, 0), 1)
        high += [(e, i) for i in range(first, last + 1)]
    return low[::-1] + high


def rare_places(
    block: Sequence[int], first: int, weight: float, rare: int
) -> int:
    """How many places at the beginning weigh less than `rare`."""
    seen = 0.0
    for k, mass in enumerate(block):
        seen += mass * max(1.0, (first + k) * weight)
        if seen > rare:
            return k
    return len(block)


# --- The two lists


@dataclass(frozen=True, eq=False)
class UpperSums:
    r"""Sums of ratios whose pair dominates.

    Fields: `fine`, how fine masses are; `count` (k); `masses` of Q at the
    sums $S = i 2^e$, where P has $S/k$ as much; `told`, masses of P and of
    Q that count as infinite.
    """

    fine: Fineness
    count: int
    masses: Blocks
    told: tuple[int, int]

    @property
    def kept(self) -> tuple[int, int]:
        """Masses of P (rounded up) and Q at all places."""
        p, q = Fraction(0), 0
        for e, (first, block) in self.masses.items():
            moved = sum(i * mass for i, mass in enumerate(block, first))
            q += sum(block)
            p += moved * Fraction(2) ** e / self.count
        return math.ceil(p), q

    def without_tails(self) -> "UpperSums":
        """The same, with what is rare at both ends of a block told."""
        p, q = Fraction(self.told[0]), self.told[1]
        kept: Blocks = {}
        for e, (first, block) in self.masses.items():
            share = Fraction(2) ** e / self.count
            weight = math.ldexp(1 / self.count, e)
            rare, last = self.fine.rare, first + len(block) - 1
            start = rare_places(block, first, weight, rare)
            end = rare_places(block[::-1], -last, -weight, rare)
            end = max(len(block) - end, start)
            for k in (*range(start), *range(end, len(block))):
                p += block[k] * (first + k) * share
                q += block[k]
            if start < end:
                kept[e] = first + start, block[start:end]
        told = math.ceil(p), q
        return UpperSums(self.fine, self.count, kept, told)


def block_of(masses: Mapping[int, int]) -> Block:
    """Masses at places, from a dictionary.

    >>> block_of({3: 7, 5: 1})
    (3, [7, 0, 1])
    """
    first, last = min(masses), max(masses)
    return first, [masses.get(i, 0) for i in range(first, last + 1)]


@dataclass(frozen=True, eq=False)
class LowerSums:
    r"""What an attacker keeps of the ratios.

    Fields: `fine`, how fine masses are; `count` (k); `own`, k times the
    masses of P at what is kept, and `masses` of Q, both rounded down;
    `errors`, bounds for the sum of all that was rounded in either.
    """

    fine: Fineness
    count: int
    own: Blocks
    masses: Blocks
    errors: tuple[int, int]

    def without_tails(self) -> "LowerSums":
        """The same, less what is rare at both ends of a block."""
        own, masses = {}, {}
        for e in self.own.keys() & self.masses.keys():
            (i, p), (j, q) = self.own[e], self.masses[e]
            start, end = max(i, j), min(i + len(p), j + len(q))
            least = self.fine.rare >> 20
            while start < end and max(p[start - i], q[start - j]) < least:
                start += 1
            while start < end and max(p[end - 1 - i], q[end - 1 - j]) < least:
                end -= 1
            if start < end:
                own[e] = start, p[start - i : end - i]
                masses[e] = start, q[start - j : end - j]
        return LowerSums(self.fine, self.count, own, masses, self.errors)


def places_of_sum(
    one: UpperSums | LowerSums, other: UpperSums | LowerSums
) -> tuple[int, int, int]:
    """Where places of a sum should be: numbers for `on_places`."""
    count = one.count + other.count
    bits = one.fine.bits
    spreads = (spread_of(x.masses, bits, x.count) for x in (one, other))
    most = _EPOCH_PLACES * (2 if count <= _FEW_RATIOS else 1)
    return count, least_distance(math.hypot(*spreads)), most


# --- One step, two parts, all steps


def whole_ball(value: Ball) -> int:
    """The whole number that a ball is.

    >>> whole_ball(ball(3))
    3
    """
    found = value.unique_fmpz()
    if found is None:
        raise Undecided("nobody knows the mass of a ratio")
    return int(found)


def first_upper(law: Law, fine: Fineness) -> UpperSums:
    """The ratio of one step, moved to places: chords of its curve."""
    places = ratio_places(law, fine.beyond)
    masses: dict[int, dict[int, int]] = {}
    with flint().ctx.workprec(fine.bits + 96):
        unit = ball(2) ** fine.bits

        def units(mass: Ball) -> int:
            return whole_ball((mass * unit).upper().ceil())

        alphas = [i * Fraction(2) ** e for e, i in places]
        heights = [law.total[0]]
        heights += [law.height(ball(a).log()) for a in alphas[1:]]
        known = zip(map(ball, alphas), heights, strict=True)
        slopes = [-law.total[1]]
        slopes += [(g - h) / (b - a) for (a, h), (b, g) in pairwise(known)]
        bends = pairwise([*slopes, ball(0)])
        for (e, i), (one, other) in zip(places, bends, strict=True):
            masses.setdefault(e, {})[i] = units(other - one)
        told = units(heights[-1]), 0
    if sum(sum(x.values()) for x in masses.values()) > 2 << fine.bits:
        raise Undecided("nobody knows the masses of a ratio")
    blocks = {e: block_of(found) for e, found in masses.items()}
    return UpperSums(fine, 1, blocks, told).without_tails()


def add_upper(one: UpperSums, other: UpperSums) -> UpperSums:
    """The list of all ratios of two parts of an epoch."""
    count, bits = one.count + other.count, one.fine.bits
    at = places_of_sum(one, other)
    masses = sum_blocks(one.masses, other.masses, bits, True)
    (p, q), (r, s) = one.kept, other.kept
    (p0, q0), (r0, s0) = one.told, other.told
    told_p = one.count * (p0 * (s + s0) + p * s0)
    told_p += other.count * (r0 * (q + q0) + r * q0)
    told_q = (q + q0) * (s + s0) - q * s
    unit = 1 << bits
    told = -(-told_p // (count * unit)), -(-told_q // unit)
    found = on_places(masses, *at, True)
    return UpperSums(one.fine, count, found, told).without_tails()


def first_lower(law: Law, fine: Fineness) -> LowerSums:
    """The cell of the ratio of one step, by the place in it."""
    places = ratio_places(law, fine.beyond)
    found: list[dict[int, dict[int, int]]] = [{}, {}]
    wrong = [0, 0]
    with flint().ctx.workprec(fine.bits + 96):
        unit = ball(2) ** fine.bits

        def units(mass: Ball) -> tuple[int, int]:
            """The mass, rounded down, and how much it may be off."""
            low, high = (mass * unit).lower(), (mass * unit).upper()
            least = max(whole_ball(low.floor()), 0)
            return least, whole_ball(high.ceil()) - least

        alphas = [i * Fraction(2) ** e for e, i in places]
        ends = [(a + b) / 2 for a, b in pairwise(alphas)]
        events = [law.total, *(law.event(ball(a).log()) for a in ends)]
        events.append((law.infinite[0], ball(0)))
        cells = pairwise(events)
        for (e, i), ((p, q), (r, s)) in zip(places, cells, strict=True):
            for k, mass in enumerate((p - r, q - s)):
                few, off = units(mass)
                found[k].setdefault(e, {})[i] = few
                wrong[k] += off
    own, masses = ({e: block_of(x) for e, x in y.items()} for y in found)
    errors = wrong[0], wrong[1]
    return LowerSums(fine, 1, own, masses, errors).without_tails()


def add_lower(one: LowerSums, other: LowerSums) -> LowerSums:
    """What is kept of two parts of an epoch: the sum of both, rounded."""
    count, bits = one.count + other.count, one.fine.bits
    at = places_of_sum(one, other)
    masses = sum_blocks(one.masses, other.masses, bits, False)
    first = sum_blocks(one.own, other.masses, bits, False)
    second = sum_blocks(one.masses, other.own, bits, False)
    own = {
        e: added(first.get(e, _NO_MASSES), second.get(e, _NO_MASSES))
        for e in {*first, *second}
    }
    rounded = [sum(len(x) for _, x in y.values()) for y in (own, masses)]
    (f, g), (h, k) = one.errors, other.errors
    wrong = f + h + one.count * k + other.count * g + 2 * rounded[0]
    errors = wrong + 1, g + k + rounded[1] + 1
    own, masses = (on_places(x, *at, False) for x in (own, masses))
    sums = LowerSums(one.fine, count, own, masses, errors)
    return sums.without_tails()


Sums = TypeVar("Sums", UpperSums, LowerSums)


def of_all_steps(
    one: Sums, steps: int, add: Callable[[Sums, Sums], Sums]
) -> Sums:
    """The sum of so many ratios: doubled, and one more where it is odd."""
    total = one
    for digit in f"{steps:b}"[1:]:
        total = add(total, total)
        if digit == "1":
            total = add(total, one)
    return total


@lru_cache(32)
def upper_sums(law: Law, steps: int, fine: Fineness) -> UpperSums:
    """The list of an epoch that dominates."""
    return of_all_steps(first_upper(law, fine), steps, add_upper)


@lru_cache(32)
def lower_sums(law: Law, steps: int, fine: Fineness) -> LowerSums:
    """The list of an epoch that is reached."""
    return of_all_steps(first_lower(law, fine), steps, add_lower)


@dataclass(frozen=True)
class EpochLaw(TableLaw):
    r"""An epoch in which each record is in one step, from above or below.

    Formula: $(\frac1t \sum_i Q \times \dots \times P \times \dots \times
    Q,\; Q \times \dots \times Q)$; a list that dominates this pair
    (`above`), or one that is made out of it.

    >>> from accountlib.proofs.balls import GaussianLaw
    >>> epochs = (EpochLaw(GaussianLaw(Fraction(1)), 2, x) for x in (0, 1))
    >>> low, high = (law.height(ball(0.5)) for law in epochs)
    >>> 0.14917 < low < 0.149177523136 < high < 0.14919
    True
    """

    base: Law
    steps: int
    above: bool

    def rows(self) -> tuple[list[Event], Ball]:
        fine = FINE if flint().ctx.prec >= FINE_FROM else COARSE
        unit, steps = ball(2) ** -fine.bits, ball(self.steps)
        rows = []
        if self.above:
            sums = upper_sums(self.base, self.steps, fine)
            told_p, told_q = (unit * told for told in sums.told)
            for e, (first, block) in sums.masses.items():
                apart = ball(2) ** e
                for i, mass in enumerate(block, first):
                    q = unit * mass
                    rows.append((q * i * apart / steps, q))
            rows += [(told_p, ball(0)), (ball(0), told_q)]
            return [x for x in rows if not x[0] == 0 == x[1]], ball(0)
        kept = lower_sums(self.base, self.steps, fine)
        p_off, q_off = (ball(0).union(ball(x)) for x in kept.errors)
        least = _KNOWN_MASS * max(kept.errors)
        for e, (_, own) in kept.own.items():
            for p, q in zip(own, kept.masses[e][1], strict=True):
                if min(p, q) > least:
                    rows.append(
                        (unit * (p + p_off) / steps, unit * (q + q_off))
                    )
        rows.append((self.base.infinite[0], ball(0)))
        return rows, ball(0)

    @property
    def total(self) -> Event:
        table = sorted_table(self, flint().ctx.prec)
        (p, q), (r, s) = table.sums[0][-1], table.infinite
        return p + r, q + s


def epoch_law(law: Law, steps: int, above: bool) -> Law:
    """The law of an epoch, on one side.

    Parameters: `law` of one step; `steps` (t); `above`.
    Raises: NotImplementedError for lists whose sum is not 1.

    >>> from accountlib.proofs.balls import ListedLaw
    >>> coin = ListedLaw((Fraction(1, 2),) * 2, (Fraction(1, 2),) * 2)
    >>> epoch_law(coin, 9, True) == coin
    True
    """
    if not (law.total[0] == 1 and law.total[1] == 1):
        raise NotImplementedError(
            f"no curve in balls for an epoch of {law!r}: its probabilities "
            "do not sum to 1"
        )
    plain = law.infinite[0] == 0 and law.infinite[1] == 0
    return (
        law
        if plain and law.height(ball(0)) == 0
        else EpochLaw(law, steps, above)
    )
