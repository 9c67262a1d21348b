"""Masses of mixtures of Gaussians in ball arithmetic.

Every number is a ball that contains the truth; the place of a loss is
certified by the signs on both sides of it.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

UNIT = 2.0**-53


# --- the truth --------------------------------------------------------------


def ball(x: Any) -> arb:
    """A float or fraction, exactly (up to the working precision)."""
    x = Fraction(x)
    return arb(fmpq(x.numerator, x.denominator))


def log_sum(powers):
    """Logarithm of a sum of exponentials, and the shares."""
    top = powers[0]
    for x in powers[1:]:
        top = x if x.mid() > top.mid() else top
    parts = [(x - top).exp() for x in powers]
    total = sum(parts, arb(0))
    return top + total.log(), [x / total for x in parts]


def normal(a, b):
    """Standard normal probability between two balls; None is infinite."""
    root = arb(2).sqrt()
    if a is None:
        return arb(1) if b is None else (-b / root).erfc() / 2
    if b is None:
        return (a / root).erfc() / 2
    if (a + b).mid() < 0:
        a, b = -b, -a
    return ((a / root).erfc() - (b / root).erfc()) / 2


class Mixture:
    """sum of w_j N(m_j, 1) against N(0, 1), or against the mirror image."""

    def __init__(self, means, weights, mirrored=False):
        self.largest = max(means)
        smallest = min(x for x in means if x > 0)
        scale = [math.log2(float(x)) for x in (self.largest, smallest)]
        self.digits = int(400 + 4 * max(0, scale[0]) - 2 * min(0, scale[1]))
        ctx.prec = self.digits
        total = sum(map(Fraction, weights))
        self.means = [ball(x) for x in means]
        self.weights = [ball(Fraction(x) / total) for x in weights]
        self.heights = [
            w.log() - m * m / 2
            for m, w in zip(self.means, self.weights, strict=True)
        ]
        self.mirrored = mirrored

    def _one(self, z, goal=0):
        powers = [
            h + m * z - goal
            for h, m in zip(self.heights, self.means, strict=True)
        ]
        value, shares = log_sum(powers)
        slope = sum(
            (v * m for v, m in zip(shares, self.means, strict=True)), arb(0)
        )
        return value, slope

    def loss(self, z):
        """Loss and slope at z."""
        value, slope = self._one(z)
        if not self.mirrored:
            return value, slope
        other, more = self._one(-z)
        return value - other, slope + more

    def lowest(self):
        zero = not self.mirrored and self.means[0] == 0
        return self.weights[0].log() if zero else None

    def place(self, loss):
        """A ball that contains the place of a loss; None if there is none."""
        ctx.prec = self.digits
        loss, lowest = ball(loss), self.lowest()
        if lowest is not None and not loss > lowest:
            return None
        if self.mirrored:
            if loss < 0:
                return -self._root(lambda z: self._gap(z, -loss), -loss)
            return self._root(lambda z: self._gap(z, loss), loss)
        goal = loss
        first = 0
        if lowest is not None:
            goal += (1 - (lowest - loss).exp()).log()
            first = 1

        def gap(z):
            powers = [
                h + m * z - goal
                for h, m in zip(
                    self.heights[first:], self.means[first:], strict=True
                )
            ]
            value, shares = log_sum(powers)
            slopes = zip(shares, self.means[first:], strict=True)
            return value, sum((v * m for v, m in slopes), arb(0))

        places = [
            ((goal - h) / m).mid()
            for h, m in zip(
                self.heights[first:], self.means[first:], strict=True
            )
        ]
        return self._root(gap, goal, min(places, key=lambda x: x.mid()))

    def _gap(self, z, loss):
        value, slope = self.loss(z)
        return value - loss, slope

    def _root(self, gap, loss, start=None):
        """Newton's method, kept between two places; then the signs."""
        if loss == 0 and self.mirrored:
            return arb(0)
        small = arb(2) ** (20 - self.digits // 2)
        if start is None:
            low = (loss / (2 * self.means[-1])).mid()
            high = low
            while gap(high)[0].mid() < 0:
                high = (2 * high).mid()
            low = (low / 2).mid()
        else:
            low, high = None, start
        z = high
        for _ in range(5000):
            value, slope = gap(z)
            if value.mid() < 0:
                low = z
            else:
                high = z
            step = (value / slope).mid()
            new = (z - step).mid()
            if low is not None and not low <= new <= high:
                new = (low * high).sqrt() if self.mirrored else low + high
                new = (new if self.mirrored else new / 2).mid()
            moved, z = abs(new - z), new
            size = abs(z) if self.mirrored else 1 + abs(z)
            if moved < small * size:
                break
        else:
            raise AssertionError("no convergence")
        z = (z - (gap(z)[0] / gap(z)[1]).mid()).mid()
        value, slope = gap(z)
        radius = ((abs(value) + value.rad() * 4) / slope * 4).upper()
        radius = (radius + abs(z) * small * small * arb(2) ** -20).mid()
        below, above = gap((z - radius).mid())[0], gap((z + radius).mid())[0]
        assert below < 0 < above, (below, above)
        return z + (arb(0, 1) * radius)

    def masses(self, a, b):
        """P and Q between two places."""

        def between(mean):
            ends = (x if x is None else x - mean for x in (a, b))
            return normal(*ends)

        terms = list(zip(self.means, self.weights, strict=True))
        p = sum((w * between(m) for m, w in terms), arb(0))
        if self.mirrored:
            return p, sum((w * between(-m) for m, w in terms), arb(0))
        return p, between(arb(0))

    def intervals(self, edges, rng):
        """Widths of the intervals between edges, and P and Q of them all."""
        places = [self.place(x) for x in edges]
        widths, found = np.diff(edges), []
        for i in range(len(edges) + 1):
            a = places[i - 1] if i > 0 else None
            b = places[i] if i < len(edges) else None
            if i < len(edges) and b is None:  # below the lowest loss
                found.append((arb(0), arb(0)))
                continue
            if 0 < i < len(edges) and a is not None and b - a < 1e-3:
                a, b = self._finer(edges, widths, i - 1, (a, b), rng)
            found.append(self.masses(a, b))
        return widths, found

    def _finer(self, edges, widths, i, places, rng):
        """Give a width digits that its edges cannot show."""
        size = max(abs(edges[i]), abs(edges[i + 1]))
        width = widths[i] + 0.8 * UNIT * size * rng.uniform(-1, 1)
        if width < 0.1 * widths[i]:
            return places
        widths[i] = width
        if self.mirrored and edges[i + 1] <= 0:
            end = Fraction(edges[i + 1]) - Fraction(width)
            return self.place(end), places[1]
        return places[0], self.place(Fraction(edges[i]) + Fraction(width))
