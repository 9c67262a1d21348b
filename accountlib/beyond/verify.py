# Generated from notebooks/beyond/verify.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""A checker in 350 lines

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $P$, $Q$, $L$ | `p`, `q` | outputs with and without the record; the loss $\ln(dP/dQ)$ |
| $K$ | `bits` | masses are whole numbers, in units of $2^{-K}$ |
| $h$ | `step` | distance of neighbouring grid points, in nats |
| $[l, u]$ | `low`, `high` | two losses between which all losses of a cell lie |
| $w_j$, $c_j$ | `moves` | with chance $w_j$ the noise is moved by $c_j \ge 0$ |
"""

import json
import math
import re
import sys
import time
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self, TypeVar

from flint import acb, arb, ctx, fmpq, fmpz, fmpz_poly

__all__ = [
    "FINE",
    "EVERY",
    "CUT",
    "SECONDS",
    "DEADLINE",
    "BITS",
    "KEYS",
    "SIGNS",
    "Number",
    "Moves",
    "HERE",
    "Cells",
    "require",
    "ball",
    "unit",
    "up",
    "afford",
    "guess",
    "dense",
    "kept",
    "halves",
    "Optimistic",
    "Pessimistic",
    "Kinds",
    "Side",
    "power",
    "composed",
    "Noise",
    "cuts",
    "cells_of_noise",
    "number",
    "chances",
    "members",
    "outcomes",
    "noise_of",
    "step_of",
    "read",
    "directions",
    "prove",
    "Verdict",
    "verify",
    "main",
]

# --- Numbers

FINE = 128  # free: cells for each factor e of the loss, and around 0
EVERY = 4  # free: doublings, after which the grid doubles
CUT = 20  # free: 2^-CUT delta may be cut off
SECONDS = 25.0  # processor time of a proof
DEADLINE = ContextVar("DEADLINE", default=math.inf)  # of a proof
BITS = ContextVar("BITS", default=64)  # K, of a proof
KEYS = ("adjacency", "bits", "group_size", "lower", "run", "step", "upper")
SIGNS = {"remove": "+", "add": "-", "add-or-remove": "+-", "substitute": "+"}
Number = int | Fraction
Moves = Sequence[tuple[Number, Fraction]]  # how far, what chance; sorted
HERE: Moves = ((0, Fraction(1)),)  # not at all
Cells = list[tuple[arb, arb, arb, arb]]  # P, Q, and two ends of the losses


def require(holds: bool, why: str) -> None:
    """Go on, or say why not."""
    if not holds:
        raise ValueError(why)


def ball(x: Number) -> arb:
    """A ball around a fraction."""
    return arb(fmpq(x.numerator, x.denominator))


def unit() -> fmpz:
    """2^K: masses are whole numbers in units of 2^-K."""
    return fmpz(2) ** BITS.get()


def up(x: arb) -> fmpz:
    """The least whole number that is surely not below x, in units."""
    return (x * unit()).upper().ceil().fmpz()


def afford(length: int) -> None:
    """Refuse what needs too much space or time."""
    require(length * (BITS.get() + 500) < 2.5e8, "The grid is too long.")
    require(time.thread_time() < DEADLINE.get(), "It takes too long.")


def guess(x: arb, step: Number) -> int:
    """A whole number next to x / step; any other one would do."""
    return math.floor(float(x / ball(step)) + 0.01)


def dense(masses: dict[int, fmpz]) -> tuple[int, fmpz_poly]:
    """The first place with a mass, and the masses from there on."""
    first = min(masses, default=0)
    length = max(masses, default=-1) - first + 1
    afford(length)
    return first, fmpz_poly([masses.get(first + k, 0) for k in range(length)])


def kept(masses: fmpz_poly, tolerance: int) -> tuple[int, int, fmpz, fmpz]:
    """The places from a to b are kept; so much lies below and above them."""
    a, b, low, high = 0, len(masses), fmpz(0), fmpz(0)
    while a < b - 1 and low + masses[a] <= tolerance:
        low, a = low + masses[a], a + 1
    while b > a + 1 and high + masses[b - 1] <= tolerance:
        high, b = high + masses[b - 1], b - 1
    return a, b, low, high


def halves(masses: fmpz_poly, first: int) -> tuple[fmpz_poly, fmpz_poly]:
    """The masses at even numbers, and those at odd ones."""
    row = [fmpz(0)] * (first % 2) + masses.coeffs()
    return fmpz_poly(row[::2]), fmpz_poly(row[1::2])


# --- The lower end: labels


@dataclass
class Optimistic:
    """From below: masses of labels, rounded down for P and up for Q."""

    step: Fraction
    first: int
    p: fmpz_poly
    q: fmpz_poly
    hidden: arb  # F: the P-mass of outputs with Q > 0

    @classmethod
    def of(cls, cells: Cells, step: Fraction, tolerance: int) -> Self:
        """The labels of one step."""
        at_p: dict[int, fmpz] = {}
        at_q: dict[int, fmpz] = {}
        hidden = arb(1)
        for p, q, low, high in cells:
            afford(0)
            if q == 0:
                hidden -= p
            elif -up(-p) > tolerance and (low + high).is_finite():
                label = guess((low + high) / 2, step)
                at_p[label] = at_p.get(label, 0) - up(-p)
                at_q[label] = at_q.get(label, 0) + up(q)
        first, masses = dense(at_p)
        return cls(step, first, masses, dense(at_q)[1], hidden)

    def times(self, other: Self) -> Self:
        """Labels of two runs add up."""
        first, length = self.first + other.first, len(self.q) + len(other.q)
        afford(2 * length)
        p = self.p * other.p // unit()
        q = self.q * other.q // unit() + fmpz_poly([1] * length)
        hidden = self.hidden * other.hidden
        return replace(self, first=first, p=p, q=q, hidden=hidden)

    def cut(self, tolerance: int) -> Self:
        """Outer labels are dropped."""
        a, b, _, _ = kept(self.p, tolerance)
        p, q = (x.right_shift(a).truncate(b - a) for x in (self.p, self.q))
        return replace(self, first=self.first + a, p=p, q=q)

    def wider(self) -> Self:
        """The label n becomes n // 2."""
        (a, b), (c, d) = halves(self.p, self.first), halves(self.q, self.first)
        first, step = self.first // 2, 2 * self.step
        return replace(self, step=step, first=first, p=a + b, q=c + d)

    def delta(self, epsilon: Number) -> arb:
        """A ball; delta(epsilon) is not below its lower end."""
        gains = self.p * unit() - self.q * up(ball(epsilon).exp())
        gain = sum((x for x in gains.coeffs() if x > 0), fmpz(0))
        return arb(gain) / unit() ** 2 + (1 - self.hidden).max(arb(0))


# --- The upper end: split


@dataclass
class Pessimistic:
    """From above: masses of losses on a grid, and of infinite ones."""

    step: Fraction
    first: int
    p: fmpz_poly
    infinite: fmpz

    @classmethod
    def of(cls, cells: Cells, step: Fraction, tolerance: int) -> Self:
        """The losses of one step: each cell is split."""
        at: dict[int, fmpz] = {}
        infinite = fmpz(0)
        for p, q, low, high in cells:
            mass = up(p)
            afford(0)
            if mass <= tolerance or not (low + high).is_finite():
                infinite += mass
                continue
            j = int((high / ball(step)).upper().ceil().fmpz())
            i = min(j - 1, guess(low, step))
            b = p - q * low.min(ball(i * step)).exp()
            b /= 1 - ball((i - j) * step).exp()
            share = min(mass, max(up(b), fmpz(0))) if b < 2 else mass
            at[j] = at.get(j, 0) + share
            at[i] = at.get(i, 0) + mass - share
        return cls(step, *dense(at), infinite)

    def times(self, other: Self) -> Self:
        """Losses of two runs add up."""
        first, length = self.first + other.first, len(self.p) + len(other.p)
        afford(length)
        p = self.p * other.p // unit() + fmpz_poly([1] * length)
        infinite = self.infinite * (other.p(1) + other.infinite)
        infinite = (infinite + self.p(1) * other.infinite) // unit() + 1
        return replace(self, first=first, p=p, infinite=infinite)

    def cut(self, tolerance: int) -> Self:
        """Outer masses move up: to the first that is kept, to infinity."""
        a, b, low, high = kept(self.p, tolerance)
        p = self.p.right_shift(a).truncate(b - a) + low
        infinite, first = self.infinite + high, self.first + a
        return replace(self, first=first, p=p, infinite=infinite)

    def wider(self) -> Self:
        """Masses at odd places go to both neighbours."""
        p, odd = halves(self.p, self.first)
        for place, h in enumerate((self.step, -self.step)):
            share = odd * up(1 / (1 + ball(h).exp())) // unit()
            share += fmpz_poly([1] * len(odd))
            p += share.left_shift(place)
        return replace(self, step=2 * self.step, first=self.first // 2, p=p)

    def delta(self, epsilon: Number) -> arb:
        """A ball; delta(epsilon) is not above its upper end."""
        start = max(self.first, math.floor(epsilon / self.step) + 1)
        tail = self.p.right_shift(start - self.first)
        less = ball(epsilon - start * self.step).exp()
        less *= tail(ball(-self.step).exp())
        return (self.infinite + tail(1) - less) / unit()


# --- Many steps: grids that double

Kinds = list[tuple[Cells, int]]  # cells of a step, and how many steps
Side = TypeVar("Side", Optimistic, Pessimistic)


def power(one: Side, count: int, tolerance: int) -> Side:
    """Many steps, by squaring; now and then the grid doubles."""
    result, doublings = one, count.bit_length() - 1
    for left in reversed(range(doublings)):
        result = result.times(result).cut(tolerance >> left)
        if count >> left & 1:
            result = result.times(one).cut(tolerance >> left)
        if (doublings - left) % EVERY == 0:
            result, one = result.wider(), one.wider()
    return result


def composed(side: type[Side], kinds: Kinds, h: Fraction, tail: int) -> Side:
    """All steps of a run, from one side."""
    total = sum(count for _, count in kinds)
    parts: list[Side] = []
    for cells, count in kinds:
        one = side.of(cells, h, tail // (total * len(cells)))
        parts.append(power(one, count, tail))
    parts.sort(key=lambda x: x.step)
    result = parts[0]
    for other in parts[1:]:
        while result.step < other.step:
            result = result.wider()
        result = result.times(other).cut(tail)
    return result


# --- Distributions of a step


class Noise:
    """P: noise moved by c with chance w. Q: moved by -c, or not at all."""

    def __init__(self, name: str, scale: Fraction, moves: Moves, back: Moves):
        self.whole = int(name.startswith("Discrete"))
        self.laplace, self.scale = name.endswith("Laplace"), scale
        self.moves = [(c, ball(w)) for c, w in moves]
        self.back = [(c, ball(w)) for c, w in back]
        if name == "DiscreteGaussian":
            tau = acb(0, 1 / (2 * arb.pi() * ball(scale) ** 2))
            self.total = acb.modular_theta(acb(0), tau)[2].real
            self.tails = [(1 - 1 / self.total) / 2]  # P(Z <= -1), ...

    def density(self, z: arb) -> arb:
        """The density of the noise, but for a constant."""
        x = z / ball(self.scale)
        return (-abs(x)).exp() if self.laplace else (-x * x / 2).exp()

    def loss(self, z: arb) -> arb:
        """ln(P/Q) at z."""
        p = sum((w * self.density(z - ball(c)) for c, w in self.moves), arb(0))
        q = sum((w * self.density(z + ball(c)) for c, w in self.back), arb(0))
        return (p / q).log()

    def below(self, z: Number) -> arb:
        """P(Z <= z), for z >= 0 by symmetry."""
        if z > -self.whole:
            return 1 - self.below(-z - self.whole)
        x = ball(z / self.scale)
        if self.laplace:
            return x.exp() / (1 + ball(-self.whole / self.scale).exp())
        if not self.whole:
            return (-x / arb(2).sqrt()).erfc() / 2
        afford(int(-z))
        while len(self.tails) < -z:
            afford(0)
            mass = self.density(arb(len(self.tails))) / self.total
            self.tails.append(self.tails[-1] - mass)
        return self.tails[-int(z) - 1]


# --- Cells


def cuts(noise: Noise, step: Number, reach: float) -> list[Number]:
    """Sorted outputs, near the losses k h; any others would do."""
    reach *= 0 if noise.laplace else float(noise.scale)
    far, back = (float(x[-1][0]) for x in (noise.moves, noise.back))
    found, end = [-back - reach], far + reach
    k, top = (guess(noise.loss(arb(z)), step) for z in (found[0], end))
    while (k := k + max(1, abs(k) // FINE)) <= top:
        low, high, goal = found[-1], end, ball(k * step)
        for _ in range(30):
            afford(0)
            z = (low + high) / 2
            low, high = (z, high) if noise.loss(arb(z)) < goal else (low, z)
        found.append(low)
    exact = math.floor if noise.whole else Fraction
    return sorted({exact(z) for z in [*found, end]})


def cells_of_noise(noise: Noise, step: Number, reach: float) -> Cells:
    """Cells between cuts: masses by differences, losses at both ends."""
    with ctx.workprec(64):
        places = cuts(noise, step, reach)
    low, top, p, q = -arb("inf"), arb("inf"), arb(0), arb(0)
    if noise.laplace:
        low = noise.loss(-ball(noise.back[-1][0]))
        top = noise.loss(ball(noise.moves[-1][0]))
    cells = []
    for z in places:
        afford(0)
        r = sum((w * noise.below(z - c) for c, w in noise.moves), arb(0))
        s = sum((w * noise.below(z + c) for c, w in noise.back), arb(0))
        high = noise.loss(ball(z))
        cells.append((r - p, s - q, low, high))
        p, q, low = r, s, noise.loss(ball(z + noise.whole))
    return [*cells, (1 - p, 1 - q, low, top)]


# --- What a file may say


def number(name: str, x: Any, low: Any, high: Any, of: Any = Fraction) -> Any:
    """An exact number of a certificate, between two bounds."""
    fits = type(x) in (int, of) and low <= x <= high
    require(fits, f"{name} must be a number in [{low}, {high}].")
    return of(x)


def chances(values: list[Any]) -> list[Fraction]:
    """Probabilities, divided by their sum, which is nearly 1."""
    require(len(values) <= 1000, "A list has at most 1,000 numbers.")
    values = [number("A probability", x, 0, 1) for x in values]
    total = sum(values)
    require(abs(total - 1) < 1e-12, "Probabilities must have the sum 1.")
    return [x / total for x in values]


def members(sampling: list[Any], size: int) -> list[Fraction]:
    """The chances that 0, 1, ... of a group are in a step."""
    some, full = range(size + 1), sampling == ["FullBatch"]
    require(full or size <= 64, "In samples a group has at most 64 records.")
    match sampling:
        case ["FullBatch"]:
            ways = [0] * size + [1]
        case ["Poisson", rate]:
            rate = number("The rate", rate, 0, 1)
            ways = [rate**j * (1 - rate) ** (size - j) for j in some]
        case ["FixedBatch", b, n]:
            n = number("The dataset_size", n, 2, 10**12, int)
            b = number("The batch_size", b, 1, n - size, int)
            ways = [math.perm(b, j) * math.perm(n - b, size - j) for j in some]
        case _:
            raise ValueError("The sampling is unknown.")
    total = sum(ways := [math.comb(size, j) * ways[j] for j in some])
    return [Fraction(x) / total for x in ways]


def outcomes(mechanism: list[Any]) -> list[tuple[arb, arb]]:
    """P and Q of a mechanism without noise; an empty list for others."""
    match mechanism:
        case ["DiscretePair", p, q]:
            p, q = ([ball(x) for x in chances(y)] for y in (p, q))
            return list(zip(p, q, strict=True))
        case ["RandomizedResponse", truth]:
            p = [ball(x) for x in chances([truth, 1 - truth])]
        case ["PureDP", epsilon] | ["ApproximateDP", epsilon, _]:
            odds = ball(number("The epsilon", epsilon, 0, 100)).exp()
            delta = number("The delta", [*mechanism, 0][2], 0, 1)
            rest = ball(1 - delta) / (1 + odds)
            p = [ball(delta), rest * odds, rest, arb(0)]
        case _:
            return []
    return list(zip(p, p[::-1], strict=True))


def noise_of(mechanism: list[Any], far: Moves, substituted: bool) -> Noise:
    """The noise of a mechanism; members move it by far times a size."""
    sizes, shares = [1], [1]
    match mechanism:
        case ["Gaussian" | "Laplace" as name, scale]:
            pass
        case ["DiscreteGaussian" | "DiscreteLaplace" as name, scale, most]:
            sizes = [number("The sensitivity", most, 1, 10**5, int)]
        case ["MixtureOfGaussians" as name, sizes, shares, scale]:
            sizes = [number("A sensitivity", x, 0, 10**6) for x in sizes]
        case _:
            raise ValueError("The mechanism is unknown.")
    scale = number("The noise", scale, Fraction(1, 200), 10**6)
    rows = list(zip(sizes, chances(shares), strict=True))
    moves = sorted((k * c, w * x) for k, w in far for c, x in rows if w * x)
    return Noise(name, scale, moves, moves if substituted else HERE)


def step_of(kind: list[Any], size: int, adjacency: str) -> Noise | Cells:
    """A step, as noise or as a list of cells, if a theorem covers it."""
    mechanism, sampling, _ = kind
    full, fixed = (sampling[0] == x for x in ("FullBatch", "FixedBatch"))
    pairs, ways = outcomes(mechanism), members(sampling, size)
    alone = mechanism[0] in ("DiscretePair", "MixtureOfGaussians")
    known = size == 1 or mechanism[0] == "Gaussian"
    known |= full and not pairs and not alone
    if adjacency == "substitute":
        known &= not alone and not fixed and (full or not pairs)
    require(known and not (alone and fixed), "No theorem covers such a step.")
    if not pairs:
        far = [((1 + fixed) * j, w) for j, w in enumerate(ways)]
        return noise_of(mechanism, far, adjacency == "substitute")
    out, member = map(ball, ways)
    mixed = [(member * p + out * q, q) for p, q in pairs]
    logs = [(p / q).log() if p != 0 else -arb("inf") for p, q in mixed]
    return [(p, q, x, x) for (p, q), x in zip(mixed, logs, strict=True)]


# --- The two claims


def read(text: str) -> dict[str, Any]:
    """The certificate in a file, checked but for its steps."""
    require(len(text) <= 10**6, "The file is too long.")
    require(not re.search(r"[eE].?\d{4}|\d{999}", text), "Too many digits.")
    pairs = json.loads(text, object_pairs_hook=sorted, parse_float=Fraction)
    require(tuple(k for k, _ in pairs) == KEYS, f"The keys must be {KEYS}.")
    found: dict[str, Any] = dict(pairs)
    for epsilon, delta in (found["upper"], found["lower"]):
        number("An epsilon", epsilon, 0, 1000)
        number("A delta", delta, 0, 1)
    require(found["adjacency"] in SIGNS, f"An adjacency is one of {[*SIGNS]}.")
    for _, _, count in found["run"]:
        number("A count", count, 1, 10**9, int)
    number("The group_size", found["group_size"], 1, 1000, int)
    found["step"] = number("The step", found["step"], Fraction(1, 10**9), 9999)
    number("The bits", found["bits"], 20, 4000, int)
    return found


def directions(found: dict[str, Any]) -> tuple[list[Kinds], int]:
    """The kinds of a run in each direction, and what may be cut off."""
    tolerance = min(found["upper"][1], found["lower"][1]) * 2 ** found["bits"]
    tail, kinds = math.floor(tolerance) >> CUT, []
    rare = tail // sum(count for _, _, count in found["run"])
    reach = 1 + math.sqrt(1.4 * (found["bits"] - rare.bit_length()))
    for kind in found["run"]:
        cells = step_of(kind, found["group_size"], found["adjacency"])
        if isinstance(cells, Noise):
            cells = cells_of_noise(cells, found["step"], reach)
        kinds.append((cells, kind[2]))
    turn = [([(q, p, -b, -a) for p, q, a, b in x], n) for x, n in kinds]
    signs = SIGNS[found["adjacency"]]
    return [kinds if sign == "+" else turn for sign in signs], tail


def prove(found: dict[str, Any]) -> None:
    """Prove both claims, or say why not."""
    BITS.set(found["bits"])
    with ctx.workprec(2 * found["bits"]):
        ways, tail = directions(found)
        step, (epsilon, delta) = found["step"], found["upper"]
        above = (composed(Pessimistic, x, step, tail) for x in ways)
        proven = all(x.delta(epsilon) <= ball(delta) for x in above)
        require(proven, "The upper claim is not proven.")
        epsilon, delta = found["lower"]
        below = (composed(Optimistic, x, step, tail) for x in ways)
        proven = any(x.delta(epsilon) >= ball(delta) for x in below)
        require(proven, "The lower claim is not proven.")


class Verdict(str):
    """PROVEN, which counts as true, or NOT PROVEN, which counts as false."""

    def __bool__(self) -> bool:
        return self == "PROVEN"


def verify(text: str) -> Verdict:
    r"""Check a certificate, in whole numbers and balls.

    Formula: $\delta(\varepsilon_1) \le \delta_1$ for `upper`, and
    $\delta(\varepsilon_2) \ge \delta_2$ for `lower`.
    Parameters: `text`, a certificate as `certificate` makes them.
    Returns: "PROVEN", true as a condition, or "NOT PROVEN: why", false.
    Source: page-verify.

    >>> verify('{"run": []}')[:10]
    'NOT PROVEN'
    """
    DEADLINE.set(time.thread_time() + SECONDS)
    try:
        prove(read(text))
    except ValueError as why:
        return Verdict(f"NOT PROVEN: {why!s:.200}")
    except Exception as error:  # whatever it is, nothing is proven
        return Verdict(f"NOT PROVEN: no certificate ({error!r:.150})")
    return Verdict("PROVEN")


def main(arguments: list[str]) -> int:
    """Print the verdict on a file; 0 if it is PROVEN."""
    with open(arguments[0], "rb") as file:
        verdict = verify(file.read(10**6 + 1).decode(errors="replace"))
    print(verdict)
    return 0 if verdict else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
