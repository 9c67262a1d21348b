"""Trade-off functions that are known exactly.

Where all probabilities are fractions, `ExactCurve` holds the corners. One
sampled Gaussian step is known in closed form: `SampledStep`.
"""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from bisect import bisect_left
from fractions import Fraction

import mpmath as mp
from flint import arb, ctx

from tests import truth
from tests.truth.arbs import as_mpf, erfc, exact_ball


def normal(z):
    """The normal distribution function, in the precision of mpmath."""
    return erfc(-z / mp.sqrt(2)) / 2


def quantile(p):
    """Its inverse, in the precision of mpmath."""
    p = mp.mpf(p)
    if p <= 0 or p >= 1:
        return -mp.inf if p <= 0 else mp.inf
    if p > 0.5:
        return -quantile(1 - p)
    with ctx.workprec(mp.mp.prec + 20):
        return -as_mpf(arb(2).sqrt() * (2 * exact_ball(p)).erfcinv())


def mu_of(x, y):
    """The mu whose curve passes through the error rates x and y."""
    return -quantile(x) - quantile(y)


def quotient(value: Fraction):
    return mp.mpf(value.numerator) / value.denominator


def gaussian_profile(epsilon, mu):
    low, high = truth.gaussian_delta(epsilon, mu)
    return (low + high) / 2


class ExactCurve:
    """The trade-off function of discrete pairs, in whole numbers.

    The smaller one of several, made convex: its corners, x increasing, as
    multiples of 1/unit.
    """

    def __init__(self, *pairs: truth.ExactPair) -> None:
        unit = self.unit = math.lcm(*(pair.denominator for pair in pairs))
        points = {(unit, 0)}
        for pair in pairs:
            scale = unit // pair.denominator
            classes = sorted(
                (Fraction(i, j), i * w * scale, j * w * scale)
                for (i, j), w in pair.weights.items()
                if i and j
            )
            x, y = sum(q for *_, q in classes), 0
            points.add((x, y))
            for _, p, q in classes:
                x, y = x - q, y + p
                points.add((x, y))
        hull: list[tuple[int, int]] = []
        for c in sorted(points):
            if hull and hull[-1][0] == c[0]:
                continue  # the lowest one came first
            while len(hull) > 1 and not turns_up(hull[-2], hull[-1], c):
                hull.pop()
            hull.append(c)
        flat = next(k for k, (_, y) in enumerate(hull) if y == 0)
        ends = [(unit, 0)] if hull[flat][0] < unit else []
        self.whole = hull[: flat + 1] + ends
        self.corners = [
            (Fraction(x, unit), Fraction(y, unit)) for x, y in self.whole
        ]

    @classmethod
    def of(cls, pair: truth.ExactPair, adjacency: str) -> "ExactCurve":
        ways = {"remove": [pair], "add": [pair.reversed()]}
        return cls(*ways.get(adjacency, [pair, pair.reversed()]))

    def __call__(self, x: Fraction | float) -> Fraction:
        above, below = x.as_integer_ratio()
        k = bisect_left(self.corners, x, key=lambda corner: corner[0])
        if not 0 <= x <= 1:
            raise ValueError(f"no rate: {x}")
        (a, b), (c, d) = self.whole[max(k - 1, 0)], self.whole[max(k, 1)]
        past = above * self.unit - a * below
        height = b * (c - a) * below + (d - b) * past
        return Fraction(height, (c - a) * below * self.unit)

    def delta_at(self, alpha: Fraction) -> Fraction:
        above, below = alpha.as_integer_ratio()
        most = max((self.unit - y) * below - above * x for x, y in self.whole)
        return Fraction(most, self.unit * below)

    def kinks(self) -> list[Fraction]:
        """The alphas where the privacy curve bends: minus the slopes."""
        steps = zip(self.whole, self.whole[1:], strict=False)
        return [Fraction(b - d, c - a) for (a, b), (c, d) in steps if b > d]

    def mu(self, cutoff: float):
        """By definition: corners and the two crossings."""
        with mp.workdps(40):
            return self._mu(Fraction(cutoff))

    def inverse(self, y: Fraction) -> Fraction:
        """The smallest x with f(x) <= y."""
        for (a, b), (c, d) in zip(
            self.corners, self.corners[1:], strict=False
        ):
            if b <= y:
                return a
            if d <= y:
                return a + (c - a) * (b - y) / (b - d)
        raise ValueError(f"no rate: {y}")

    def _mu(self, c: Fraction):
        if self(c) < c:
            return max(
                mu_of(quotient(c), quotient(self(c))),
                mu_of(quotient(self.inverse(c)), quotient(c)),
            )
        points = [(x, y) for x, y in self.corners if x >= c and y >= c]
        points.append((c, self(c)))
        steps = zip(self.corners, self.corners[1:], strict=False)
        for (x, y), (right, low) in steps:
            if y >= c > low:
                points.append((x + (right - x) * (y - c) / (y - low), c))
        return max(mu_of(quotient(x), quotient(y)) for x, y in points)

    def regret(self, mu: float):
        """By Lemma "Kinks decide": exact but for 25 digits."""
        values = [mp.mpf(0)]
        with mp.workdps(40):
            for a in self.kinks() if mu else []:
                alpha, own = quotient(a), quotient(self.delta_at(a))
                promised = gaussian_profile(mp.log(alpha), mu)
                values.append((promised - own) / (1 + alpha))
        return max(values)


def exp_fraction(epsilon: float) -> tuple[Fraction, Fraction]:
    """Fractions around e^epsilon, 1e-40 apart."""
    with mp.workdps(50):
        middle = Fraction(str(mp.exp(mp.mpf(epsilon))))
    return middle * (1 - Fraction(1, 10**40)), middle * (
        1 + Fraction(1, 10**40)
    )


def turns_up(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])


class SampledStep:
    """One Poisson-sampled Gaussian step, remove, in closed form.

    The test "accuse above z" has the error rates x = Phi(-z) and
    y = (1 - rate) Phi(z) + rate Phi(z - 1/sigma); no test is better.
    """

    def __init__(self, noise: float, rate: float) -> None:
        self.shift, self.rate = 1 / mp.mpf(noise), mp.mpf(rate)

    def errors(self, z):
        missed = (1 - self.rate) * normal(z)
        return normal(-z), missed + self.rate * normal(z - self.shift)

    def mu_at(self, z):
        """z - quantile(y), with 1 - y where that is small."""
        found = (1 - self.rate) * normal(-z)
        found += self.rate * normal(self.shift - z)
        if found < 0.5:
            return z + quantile(found)
        return z - quantile(self.errors(z)[1])

    def mu(self, cutoff: float):
        """Largest mu between the cut-offs: golden section on a grid."""
        c = mp.mpf(cutoff)
        high = -quantile(c)
        if self.errors(high)[1] < c:
            return self.mu_at(high)
        a, b = -mp.mpf(60), high
        for _ in range(150):  # to where y = c
            middle = (a + b) / 2
            a, b = (a, middle) if self.errors(middle)[1] >= c else (middle, b)
        places = mp.linspace(b, high, 40)
        values = [self.mu_at(z) for z in places]
        k = values.index(max(values))
        a, b = places[max(k - 1, 0)], places[min(k + 1, 39)]
        part = (mp.sqrt(5) - 1) / 2
        for _ in range(16):
            u, v = b - part * (b - a), a + part * (b - a)
            one, two = self.mu_at(u), self.mu_at(v)
            values += [one, two]
            a, b = (a, v) if one > two else (u, b)
        return max(values)
