"""A checker of privacy certificates, in whole numbers.

    python verify.py FILE

prints PROVEN, or NOT PROVEN and one sentence. A certificate names a run and
two points: delta(e) <= d for "upper", delta(e) >= d for "lower". Balls (flint)
enclose the masses of single steps and the sums at the end. All between is
exact: masses are integers, in units of 2^-bits, rounded up or down. `step` and
`bits`, where outputs are cut, and what is cut off in between are free choices:
bad ones prove less, never something wrong.

Lemmas (engine.md): (O1) more mass, larger losses: up in the order; 1 products
keep the order; 4 losses that never fall; 6 the mirrored pair; 8 dots, rounded;
10 merging, from below.
"""

import json
import math
import re
import sys
from fractions import Fraction
from itertools import count as counted
from math import perm

from flint import acb, arb, ctx, fmpq, fmpz, fmpz_poly

EVERY, FINE, CUT = 4, 128, 20  # free choices, too
MOST_SPACE, MOST_WORK = 2.5e8, 2e7  # bits of a product; about microseconds
work = [0.0]


class NotProven(Exception):
    """Why a certificate proves nothing, in one sentence."""


def check(holds, why):
    """Go on, or say why not."""
    if not holds:
        raise NotProven(why)


def spend(amount):
    """Count work: a forged certificate must not keep us busy."""
    work[0] += amount
    check(work[0] <= MOST_WORK, "It asks for too much work.")


def number(name, x, low, high, kind=Fraction):
    """An exact number of a certificate, between two bounds."""
    fits = type(x) in (int, kind) and low <= x <= high
    check(fits, f"{name} must be a number in [{low}, {high}].")
    return kind(x)


# --- Balls and whole numbers


def ball(x):
    """A ball around a fraction."""
    return arb(fmpq(x.numerator, x.denominator))


def unit():
    """2^K: masses count in units of 2^-K, balls have 2K bits."""
    return fmpz(2) ** (ctx.prec // 2)


def least(x):
    """The least whole number that is surely not below a ball."""
    mantissa, exponent = map(int, x.upper().man_exp())
    check(exponent < 10**5, "A number is too large.")
    return -(-mantissa << max(exponent, 0) >> max(-exponent, 0))


def up(mass):
    """A mass in units, rounded up."""
    return least(mass * unit())


def room(length):
    """Refuse polynomials that are too long."""
    size = length * (ctx.prec // 2 + 60)
    spend(100 + size / 120)
    check(size < MOST_SPACE, "The grid has too many points.")


# --- Tables


class Table:
    """Masses on a grid of losses: one polynomial or two, and a rest."""

    def __init__(self, step, first, masses, rest):
        self.step, self.first = step, first
        self.masses, self.rest = masses, rest

    @classmethod
    def of(cls, cells, step, spare):
        """The table of one step."""
        spend(30 * len(cells))
        points, rest = cls.points(cells, step, spare // len(cells))
        order = sorted(points[0]) or [0]
        first, length = order[0], order[-1] - order[0] + 1
        room(length)
        rows = [[x.get(first + k, 0) for k in range(length)] for x in points]
        return cls(step, first, [fmpz_poly(row) for row in rows], rest)

    def times(self, other):
        """Losses add (Lemma 1). Floors; the first plus 1: rounded up."""
        length = len(self.masses[0]) + len(other.masses[0])
        room(length * len(self.masses))
        both = zip(self.masses, other.masses, strict=True)
        masses = [a * b // unit() for a, b in both]
        masses[0] += fmpz_poly([1] * length)
        first, rest = self.first + other.first, self.joint(other)
        return type(self)(self.step, first, masses, rest)

    def cut(self, spare):
        """From above few masses move up, or to infinity (O1); or drop them."""
        row, a, b, low, high = self.masses[-1], 0, len(self.masses[0]), 0, 0
        while a < b - 1 and low + (mass := row[a]) <= spare:
            low, a = low + mass, a + 1
        while b > a + 1 and high + (mass := row[b - 1]) <= spare:
            high, b = high + mass, b - 1
        masses = [x.right_shift(a).truncate(b - a) for x in self.masses]
        masses[0] += self.above * low
        rest = self.rest + self.above * high
        return type(self)(self.step, self.first + a, masses, rest)

    def widened(self):
        """The same on a grid of twice the step."""
        masses = []
        for x in self.masses:
            row = [0] * (self.first % 2) + x.coeffs()
            even, odd = fmpz_poly(row[::2]), fmpz_poly(row[1::2])
            masses.append(self.halved(even, odd))
        return type(self)(2 * self.step, self.first // 2, masses, self.rest)


class Above(Table):
    """Losses not below the true ones (Lemma 1); the rest: infinite mass."""

    above = 1

    @staticmethod
    def points(cells, step, least_mass):
        """Each cell's mass at two points of the grid (Lemma 8), or above all.

        With i < j, low <= L <= high <= j h: if low < i h, replace L by
        max(L, i h), only worse, of Q-mass at least q e^(low - i h).
        """
        points, infinite = {}, 0
        for p, q, low, high in cells:
            mass = up(p)
            if mass <= least_mass or not (low + high).is_finite():
                infinite += mass
                continue
            j = least(high / ball(step))
            i = min(j - 1, math.floor(float(low / ball(step)) + 0.01))
            left = low.min(ball(i * step)).exp()
            right = (p - q * left) / (1 - ball((i - j) * step).exp())
            share = min(mass, up(right)) if right.is_finite() else mass
            points[j] = points.get(j, 0) + share
            points[i] = points.get(i, 0) + mass - share
        return [points], infinite

    def joint(self, other):
        """The infinite mass of both together, rounded up."""
        infinite = self.rest * (other.masses[0](1) + other.rest)
        infinite += other.rest * self.masses[0](1)
        return infinite // unit() + 1

    def halved(self, even, odd):
        """Odd points go to both neighbours, rounded up (Lemma 8)."""
        for side, x in enumerate((self.step, -self.step)):
            part = odd * up(1 / (1 + ball(x).exp())) // unit()
            even += (part + fmpz_poly([1] * len(odd))).left_shift(side)
        return even

    def delta(self, epsilon):
        """A ball; its upper end is not below delta(epsilon)."""
        start = max(self.first, math.floor(epsilon / self.step) + 1)
        tail = self.masses[0].right_shift(start - self.first)
        less = ball(epsilon - start * self.step).exp()
        less *= tail(ball(-self.step).exp())
        return ((self.rest + tail(1) - less) / unit()).min(arb(1))


class Below(Table):
    """Masses of labels, Q rounded up, P down; the rest: P of finite losses.

    Labels are any whole numbers. Their sum is a function of the outputs, so
    every set of sums is an event (Lemma 10).
    """

    above = 0

    @staticmethod
    def points(cells, step, least_mass):
        """The label of a cell is about the middle of its losses, over h."""
        finite, at_q, at_p = arb(1), {}, {}
        for p, q, low, high in cells:
            if q == 0:
                finite -= p  # such an output reveals all
            mass = -least(-p * unit())
            if mass <= least_mass or not (low + high).is_finite():
                continue  # in no event
            label = math.floor(float((low + high) / ball(2 * step)) + 0.01)
            at_q[label] = at_q.get(label, 0) + up(q)
            at_p[label] = at_p.get(label, 0) + mass
        return [at_q, at_p], finite

    def joint(self, other):
        """P of outputs that both have finite losses."""
        return self.rest * other.rest

    def halved(self, even, odd):
        """Labels 2n and 2n + 1 become n (Lemma 10)."""
        return even + odd

    def delta(self, epsilon):
        """A ball; its lower end, P(E) - e^epsilon Q(E), is not above delta."""
        q, p = self.masses
        gains = (p * unit() - q * up(ball(epsilon).exp())).coeffs()
        gain = fmpz(sum(int(x) for x in gains if x > 0))
        return arb(gain) / unit() ** 2 + (1 - self.rest).max(arb(0))


def power(base, count, spare):
    """Many copies of a table, by squaring, on grids that double."""
    result = None
    for squarings in counted(1):
        if count % 2:
            result = result.times(base).cut(spare) if result else base
        count //= 2
        if not count:
            return result
        base = base.times(base).cut(spare // count)
        if squarings % EVERY == 0:
            base, result = base.widened(), result and result.widened()


# --- Steps of a run


class Noise:
    """P: noise moved by c with chance w; Q: moved back, or not at all.

    All c >= 0, and the noise is log-concave: losses never fall (Lemma 4).
    """

    def __init__(self, name, scale, moves, back):
        self.whole, self.laplace = "Discrete" in name, "Laplace" in name
        self.scale, self.s = scale, ball(scale)
        self.moves, self.back = moves, back
        self.far = [max(c for c, *_ in x) for x in (back, moves)]
        if name == "DiscreteGaussian":  # the sum of e^(-z^2/2s^2): theta_3
            tau = acb(0, 1 / (2 * arb.pi() * self.s**2))
            self.sum = acb.modular_theta(acb(0), tau)[2].real
            self.tails = [(1 - 1 / self.sum) / 2]  # P(Z <= -1), ...

    def below(self, z):
        """P(Z <= z), which is 1 - P(Z < -z)."""
        if z + self.whole > 0:
            return 1 - self.below(-z - self.whole)
        if self.laplace:
            factor = 1 + ball(-self.whole / self.scale).exp()
            return ball(z / self.scale).exp() / factor
        if not self.whole:
            return (-ball(z / self.scale) / arb(2).sqrt()).erfc() / 2
        while len(self.tails) < -z:
            mass = (-self.height(arb(len(self.tails)))).exp() / self.sum
            self.tails.append(self.tails[-1] - mass)
            spend(20 + ctx.prec / 20)
        return self.tails[-z - 1]

    def sums(self, z):
        """P and Q of all outputs up to z."""
        spend((len(self.moves) + len(self.back)) * (8 + ctx.prec / 4))
        p = sum(w * self.below(z - c) for c, _, w in self.moves)
        return p, sum(w * self.below(z + c) for c, _, w in self.back)

    def height(self, z):
        """-ln of the density of the noise at z, but for a constant."""
        x = z / self.s
        return abs(x) if self.laplace else x * x / 2

    def ratio(self, moves, z):
        """The density of the moved noise, divided by that of the noise."""
        spend(len(moves) * (2 + ctx.prec / 50))
        top = self.height(z)
        terms = ((top - self.height(z - c)).exp() * w for _, c, w in moves)
        return sum(terms)

    def loss(self, z):
        """The loss at z, a ball."""
        return (self.ratio(self.moves, z) / self.ratio(self.back, -z)).log()

    def cuts(self, step, reach):
        """Sorted outputs around the losses k h, k in steps of k / FINE."""
        reach *= 0 if self.laplace else float(self.scale)
        start, end = -self.far[0] - reach, self.far[1] + reach
        h = ball(step)
        k, top = (float(self.loss(arb(z)) / h) for z in (start, end))
        found, k = [start], math.floor(k)
        while (k := k + max(1, abs(k) // FINE)) < top:
            low, high = found[-1], end
            for _ in range(40):
                middle = (low + high) / 2
                less = self.loss(arb(middle)) < k * h
                low, high = (middle, high) if less else (low, middle)
            found += [low, high]
        exact = math.floor if self.whole else Fraction
        return sorted({exact(z) for z in [*found, end]})

    def cells(self, step, reach):
        """Masses by differences, losses by those at the ends (Lemma 4)."""
        with ctx.workprec(64):
            cuts = self.cuts(step, reach)
        low, top, (back, far) = -arb("inf"), arb("inf"), map(ball, self.far)
        if self.laplace:  # constant, where all shifts are on one side
            low, top = self.loss(-back), self.loss(far)
        cells, p, q = [], arb(0), arb(0)
        for z in cuts:
            (r, s), high = self.sums(z), self.loss(ball(z))
            cells.append((r - p, s - q, low, high))
            p, q, low = r, s, self.loss(ball(z + self.whole))
        return [*cells, (1 - p, 1 - q, low, top)]


def chances(values):
    """Probabilities with the sum 1, without rounding."""
    values = [number("probability", x, 0, 1) for x in values]
    check(sum(values) == 1, "Probabilities must have the sum 1.")
    return values


def members(sampling, size, exchange):
    """How far those of a group who take part move the sum, with chances."""
    js = range(size + 1)
    match sampling:
        case ["FullBatch"]:
            return [(0, Fraction(0)), (size, Fraction(1))]
        case ["Poisson", rate] if size <= 64:
            rate, move = number("rate", rate, 0, 1), 1
            ways = [rate**j * (1 - rate) ** (size - j) for j in js]
        case ["FixedBatch", batch, data] if size <= (1 if exchange else 64):
            data = number("dataset_size", data, 1, 10**12, int)
            most = data if exchange else data - size
            move, batch = 2, number("batch_size", batch, 1, most, int)
            ways = [perm(batch, j) * perm(data - batch, size - j) for j in js]
        case _:
            raise NotProven("The sampling is unknown, or the group too large.")
    ways = [math.comb(size, j) * x for j, x in enumerate(ways)]
    return [(move * j, Fraction(x) / sum(ways)) for j, x in enumerate(ways)]


def lists(mechanism, rate):
    """The cells of a mechanism without noise, one an outcome, or nothing."""
    q = None
    match mechanism:
        case ["DiscretePair", p, q]:
            p, q = ([ball(x) for x in chances(values)] for values in (p, q))
        case ["RandomizedResponse", truth]:
            truth = number("truth_probability", truth, 0, 1)
            p = [ball(truth), ball(1 - truth)]
        case ["PureDP", epsilon] | ["ApproximateDP", epsilon, _]:
            odds = ball(number("epsilon", epsilon, 0, 100)).exp()
            delta = number("delta", *(mechanism[2:] or [0]), 0, 1)
            rest = ball(1 - delta) / (1 + odds)
            p = [ball(delta), rest * odds, rest, arb(0)]
        case _:
            return None
    cells = []
    for x, y in zip(p, q or p[::-1], strict=True):
        x = ball(rate) * x + ball(1 - rate) * y
        loss = (x / y).log() if x != 0 else -arb("inf")
        cells.append((x, y, loss, loss))
    return cells


def noise(mechanism, weights, mirrored):
    """Name and scale of an added noise, and how far it is moved."""
    match mechanism:
        case ["MixtureOfGaussians" as name, sizes, probabilities, scale]:
            sizes = [number("sensitivity", x, 0, 10**6) for x in sizes]
            rows = zip(sizes, chances(probabilities), strict=True)
            weights = [weights[0], *((c, w * weights[1][1]) for c, w in rows)]
        case ["Gaussian" | "Laplace" as name, scale]:
            pass
        case ["DiscreteGaussian" | "DiscreteLaplace" as name, scale, *more]:
            unit_move = number("sensitivity", *(more or [1]), 1, 10**5, int)
            weights = [(unit_move * c, w) for c, w in weights]
        case _:
            raise NotProven("The mechanism is unknown.")
    scale = number("noise", scale, Fraction(1, 200), 10**6)
    moves = [(c, ball(c), ball(w)) for c, w in weights if w > 0]
    back = moves if mirrored else [(0, arb(0), arb(1))]
    return Noise(name, scale, moves, back)


def pair_of(mechanism, sampling, count, size, exchange, step, reach):
    """The cells of a step, with the record and without; symmetry; count."""
    count = number("count", count, 1, 10**9, int)
    weights = members(sampling, size, exchange)
    name, fixed = mechanism[0], sampling[0] == "FixedBatch"
    none = ("DiscretePair", "MixtureOfGaussians") * (exchange or fixed)
    theorem = name not in none and (size == 1 or name == "Gaussian")
    check(theorem, f"No theorem covers this use of {name}.")
    cells = lists(mechanism, 1 - weights[0][1])
    mirrored = exchange and not (fixed or cells)
    if cells is None:
        cells = noise(mechanism, weights, mirrored).cells(step, reach)
    return cells, mirrored, count


def turned(cells, mirrored, direction):
    """The cells of one direction; both: the mirrored pair (Lemma 6)."""
    if mirrored or direction == "remove":
        return cells
    top = [cell for cell in cells if direction == "add" or not cell[3] <= 0]
    back = [(q, p, -high, -low) for p, q, low, high in top]
    if direction == "add":
        return back
    rest = (1 - sum((p + q for p, q, _, _ in top), arb(0))).max(arb(0))
    return [*top, *back, (rest, rest, arb(0), arb(0))]


# --- Certificates


def table(pairs, side, direction, step, delta):
    """The table of a whole run, from one side, in one direction."""
    spare = math.floor(delta * int(unit())) >> CUT
    share = spare // sum(count for _, _, count in pairs)
    parts, result = [], None
    for cells, mirrored, count in pairs:
        part = side.of(turned(cells, mirrored, direction), step, share)
        parts.append(power(part, count, spare))
    for part in sorted(parts, key=lambda part: -part.step):
        while result and part.step < result.step:
            part = part.widened()
        result = result.times(part).cut(spare) if result else part
    return result


def read(certificate):
    """Check a certificate but for its steps; the precision of balls."""
    keys = "run adjacency group_size upper lower step bits".split()
    _, adjacency, size, upper, lower, step, bits = map(certificate.get, keys)
    known = ("remove", "add", "add-or-remove", "substitute")
    check(adjacency in known, f"adjacency must be one of {known}.")
    for epsilon, delta in (upper, lower):
        number("epsilon", epsilon, 0, 10**5)
        number("delta", delta, 0, 1)
    number("group_size", size, 1, 1000, int)
    number("step", step, Fraction(1, 10**12), 10**4)
    return 2 * number("bits", bits, 20, 4000, int)


def pairs_of(certificate):
    """Cells, symmetry and count of each kind of step."""
    exchange = certificate["adjacency"] == "substitute"
    question = certificate["group_size"], exchange, certificate["step"]
    delta = min(certificate["upper"][1], certificate["lower"][1])
    rare = math.floor(delta * int(unit())) >> CUT
    rare //= sum(count for _, _, count in certificate["run"])
    reach = math.sqrt(0.7 * ctx.prec - 1.4 * rare.bit_length()) + 1
    return [pair_of(*kind, *question, reach) for kind in certificate["run"]]


def prove(certificate):
    """Prove both claims, or say which one is not."""
    pairs, step = pairs_of(certificate), Fraction(certificate["step"])
    adjacency = certificate["adjacency"]
    both = adjacency == "substitute"
    directions = [x for x in ("remove", "add") if both or x in adjacency]
    epsilon, delta = certificate["upper"]
    for direction in ["both"] if both else directions:
        found = table(pairs, Above, direction, step, delta).delta(epsilon)
        check(found <= ball(delta), f"Upper claim not proven ({direction}).")
    epsilon, delta = certificate["lower"]
    found = (table(pairs, Below, x, step, delta) for x in directions)
    holds = any(x.delta(epsilon) >= ball(delta) for x in found)
    check(holds, "Lower claim not proven.")


def once(pairs):
    """A dictionary of a file, without repeated keys."""
    check(len(dict(pairs)) == len(pairs), "A key is repeated.")
    return dict(pairs)


def load(text):
    """A certificate from a file: no NaN, no infinity, no 1e999999."""
    huge = re.search(r"[eE][+-]?\d{4}", text)
    check(not huge, "A number is too large, or too small.")
    kinds = {"parse_float": Fraction, "parse_constant": Fraction}
    return json.loads(text, object_pairs_hook=once, **kinds)


def proven(certificate):
    """None if both claims are proven, else a sentence that says why not."""
    work[0] = 0.0
    try:
        if type(certificate) is bytes:
            certificate = load(certificate.decode())
        with ctx.workprec(read(certificate)):
            prove(certificate)
    except NotProven as why:
        return str(why)
    except Exception as error:  # whatever it is, nothing is proven
        return f"The certificate is malformed, or its step: {error!r}."


def main(path):
    """Print a verdict; 0 if it is PROVEN."""
    with open(path, "rb") as file:
        why = proven(file.read(10**6))
    print(f"NOT PROVEN: {why}" if why else "PROVEN")
    return 1 if why else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
