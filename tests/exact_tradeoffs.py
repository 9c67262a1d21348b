"""Trade-off functions that are known: fractions, and one sampled step."""

from fractions import Fraction
from functools import reduce
from itertools import pairwise

import mpmath as mp
from scipy.special import ndtri_exp

mp.mp.dps = 50


def quantile(p):
    """Of the normal distribution."""
    p = mp.mpf(p.numerator) / p.denominator if isinstance(p, Fraction) else p
    if p <= 0 or p >= 1:
        return -mp.inf if p <= 0 else mp.inf
    if p > mp.mpf("0.5"):
        return -quantile(1 - p)
    log_p = mp.log(p)
    start = float(ndtri_exp(float(log_p)))
    return mp.findroot(lambda z: mp.log(mp.ncdf(z)) - log_p, start)


def mu_of(x, y):
    """The mu whose curve passes through two error rates."""
    return -quantile(x) - quantile(y)


def gaussian_profile(epsilon, mu):
    a = mp.mpf(epsilon) / mu - mp.mpf(mu) / 2
    return mp.ncdf(-a) - mp.exp(epsilon) * mp.ncdf(-a - mu)


class Pair:
    """Two lists of fractions; outcomes with one ratio count as one."""

    def __init__(self, p, q):
        self.rows = {}
        for a, b in zip(map(Fraction, p), map(Fraction, q), strict=True):
            ratio = a / (a + b) if a + b else None
            c, d = self.rows.get(ratio, (0, 0))
            self.rows[ratio] = c + a, d + b
        self.rows.pop(None, None)

    @property
    def lists(self):
        return zip(*self.rows.values(), strict=True)

    def reversed(self):
        p, q = self.lists
        return Pair(q, p)

    def sampled(self, rate):
        p, q = self.lists
        r = Fraction(rate)
        rows = zip(p, q, strict=True)
        return Pair([r * a + (1 - r) * b for a, b in rows], q)

    def times(self, other):
        rows = [
            (a * c, b * d)
            for a, b in self.rows.values()
            for c, d in other.rows.values()
        ]
        return Pair(*zip(*rows, strict=True))

    def power(self, count):
        return reduce(Pair.times, [self] * count)


class Curve:
    """The trade-off function of the worst of some pairs, by its corners."""

    def __init__(self, pair, adjacency):
        ways = {"remove": [pair], "add": [pair.reversed()]}
        points = {(Fraction(1), Fraction(0))}
        for one in ways.get(adjacency, [pair, pair.reversed()]):
            x, y = Fraction(0), Fraction(1)
            points.add((x, y))
            for ratio in sorted(one.rows, reverse=True):  # accuse these first
                a, b = one.rows[ratio]
                x, y = x + b, y - a
                points.add((x, y))
        hull = []
        for c in sorted(points):
            if hull and hull[-1][0] == c[0]:
                continue
            while len(hull) > 1 and not turns_up(hull[-2], hull[-1], c):
                hull.pop()
            hull.append(c)
        self.corners = hull

    def __call__(self, x):
        for (a, b), (c, d) in pairwise(self.corners):
            if a <= x <= c:
                return b + (d - b) * (Fraction(x) - a) / (c - a)
        raise ValueError(x)

    def inverse(self, y):
        """The smallest x with f(x) <= y."""
        for (a, b), (c, d) in pairwise(self.corners):
            if b <= y:
                return a
            if d <= y:
                return a + (c - a) * (b - y) / (b - d)
        raise ValueError(y)

    def delta(self, alpha):
        return max(1 - y - Fraction(alpha) * x for x, y in self.corners)

    def mu(self, cutoff):
        """By definition: corners, and the two crossings of the cut-off."""
        c = Fraction(cutoff)
        ends = [(c, self(c)), (self.inverse(c), c)]
        if self(c) < c:
            return max(mu_of(x, y) for x, y in ends)
        points = [p for p in self.corners if min(p) >= c]
        return max(mu_of(x, y) for x, y in points + ends)

    def regret(self, mu):
        """At the kinks of the privacy profile, the slopes of f."""
        found = mp.mpf(0)
        for (a, b), (c, d) in pairwise(self.corners):
            if b > d:
                slope = (b - d) / (c - a)
                own, alpha = (
                    mp.mpf(x.numerator) / x.denominator
                    for x in (self.delta(slope), slope)
                )
                shown = gaussian_profile(mp.log(alpha), mu)
                found = max(found, (shown - own) / (1 + alpha))
        return found


def turns_up(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])
