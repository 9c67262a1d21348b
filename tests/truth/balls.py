"""Masses of loss intervals in ball arithmetic: every number is enclosed.

A `Balls` says how much of P and of Q lies above a loss; everything is
computed from exact parameters (fractions, or arb), with enough bits for tails
of 1e-300 and differences of neighbours. It shares no code with the package.

    gaussian_mixture(means, weights)   unit Gaussians against a centred one
    laplace(scale)                     two Laplace distributions
    discrete(p, q)                     two lists of probabilities
    integers(sigma, shift)             discrete Gaussian noise, shifted or not
    .sampled(rate)   .reversed()       as on the page of sampling
    .masses(edges)                     P and Q of the n + 1 intervals

Means, weights, rates, ... may be floats (taken as exact), fractions or arb.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, ctx

BITS = 1300  # 1e-300 has 997 of them
Above = Callable[[Any], tuple[Any, Any]]


def ball(x: Any) -> Any:
    """A number as a ball; floats and fractions are exact numbers."""
    ctx.prec = BITS
    if isinstance(x, arb):
        return x
    x = Fraction(x)
    return arb(x.numerator) / arb(x.denominator)


def normal_above(z: Any) -> Any:
    """Standard normal probability above z."""
    return (z / arb(2).sqrt()).erfc() / 2


@dataclass(frozen=True)
class Balls:
    """Two distributions of a finite loss, by their mass above each loss."""

    above: Above  # P(L > x), Q(L > x) for a ball x
    total: tuple[Any, Any] = field(default_factory=lambda: (arb(1), arb(1)))
    q_infinite: Any = 0  # Q-mass where P is 0
    p_infinite: Any = 0  # P-mass where Q is 0

    def masses(self, edges: Sequence[float]) -> tuple[list[Any], list[Any]]:
        """P- and Q-masses of the intervals between increasing losses."""
        ctx.prec = BITS
        tails = [self.total, *(self.above(ball(x)) for x in edges)]
        tails.append((arb(0), arb(0)))
        p, q = zip(*tails, strict=True)
        return (
            [a - b for a, b in zip(p[:-1], p[1:], strict=True)],
            [a - b for a, b in zip(q[:-1], q[1:], strict=True)],
        )

    def sampled(self, rate: Any) -> Balls:
        """((1 - rate) Q + rate P, Q)."""
        rate = ball(rate)
        total_p = rate * self.total[0] + (1 - rate) * self.total[1]
        lowest = ball(self.q_infinite)  # lies at the loss ln(1 - rate)

        def above(x: Any) -> tuple[Any, Any]:
            ratio = (x.expm1() + rate) / rate
            if not ratio > 0:
                p, q = self.total
                return (1 - rate) * (q + lowest) + rate * p, q + lowest
            p, q = self.above(ratio.log())
            return (1 - rate) * q + rate * p, q

        total = total_p + (1 - rate) * lowest, self.total[1] + lowest
        return Balls(above, total, arb(0), rate * self.p_infinite)

    def reversed(self) -> Balls:
        """(Q, P): the loss changes its sign. Edges must avoid atoms."""

        def above(x: Any) -> tuple[Any, Any]:
            p, q = self.above(-x)
            return self.total[1] - q, self.total[0] - p

        return Balls(above, self.total[::-1], self.p_infinite, self.q_infinite)


def gaussian_mixture(means: Sequence[Any], weights: Sequence[Any]) -> Balls:
    """sum_j w_j N(mu_j, 1) against N(0, 1), for means > 0."""
    mu, w = [ball(x) for x in means], [ball(x) for x in weights]

    def loss(z: Any) -> tuple[Any, Any]:
        terms = [
            b * (m * z - m * m / 2).exp() for m, b in zip(mu, w, strict=True)
        ]
        total = sum(terms, arb(0))
        slope = sum((m * t for m, t in zip(mu, terms, strict=True)), arb(0))
        return total.log(), slope / total

    def place(x: Any) -> Any:
        if len(mu) == 1:
            return (x - w[0].log()) / mu[0] + mu[0] / 2
        z = min(
            ((x - b.log()) / m + m / 2 for m, b in zip(mu, w, strict=True)),
            key=lambda y: float(y.mid()),
        ).mid()
        for _ in range(200):  # Newton from the right, on a convex function
            value, slope = loss(z)
            move = ((value - x) / slope).mid()
            z = z - move
            if abs(move) < abs(z) * arb(2) ** (-BITS // 2) + arb(2) ** -BITS:
                break
        value, slope = loss(z)
        wrong = abs((value - x) / slope) * 2 + arb(2) ** (30 - BITS)
        return z + arb(0, float(wrong.upper()))

    def above(x: Any) -> tuple[Any, Any]:
        z = place(x)
        p = sum(
            (b * normal_above(z - m) for m, b in zip(mu, w, strict=True)),
            arb(0),
        )
        return p, normal_above(z)

    return Balls(above)


def laplace(scale: Any) -> Balls:
    """Laplace distributions of this scale whose means differ by 1."""
    most = 1 / ball(scale)

    def above(x: Any) -> tuple[Any, Any]:
        if x >= most:
            return arb(0), arb(0)
        if x < -most:
            return arb(1), arb(1)
        return 1 - (-(most - x) / 2).exp() / 2, (-(most + x) / 2).exp() / 2

    return Balls(above)


def atoms(losses: Sequence[Any], p: Sequence[Any], q: Sequence[Any]) -> Balls:
    """Finite losses in increasing order, with their masses."""
    sums = [(arb(0), arb(0))]
    for a, b in zip(reversed(p), reversed(q), strict=True):
        sums.append((sums[-1][0] + a, sums[-1][1] + b))
    keys = [float(x) for x in losses]

    def above(x: Any) -> tuple[Any, Any]:
        return sums[len(keys) - bisect_right(keys, float(x))]

    return Balls(above, sums[-1])


def discrete(p: Sequence[Any], q: Sequence[Any]) -> Balls:
    """Two lists of probabilities of the same outcomes."""
    pairs = [(ball(a), ball(b)) for a, b in zip(p, q, strict=True)]
    finite = [(a, b) for a, b in pairs if a > 0 and b > 0]
    finite.sort(key=lambda ab: float((ab[0] / ab[1]).log()))
    losses = [(a / b).log() for a, b in finite]
    one = atoms(losses, [a for a, _ in finite], [b for _, b in finite])
    return Balls(
        one.above,
        one.total,
        sum((b for a, b in pairs if not a > 0), arb(0)),
        sum((a for a, b in pairs if not b > 0), arb(0)),
    )


def integers(sigma: Any, shift: int) -> Balls:
    """Discrete Gaussian noise z + shift (P) and z (Q)."""
    ctx.prec = BITS
    square = 2 * ball(sigma) ** 2
    reach = math.ceil(40 * float(sigma)) + 1
    weights = [(-arb(j) * j / square).exp() for j in range(reach + 1)]
    total = weights[0] + 2 * sum(weights[1:], arb(0))
    places = range(-reach, reach + shift + 1)

    def weight(j: int) -> Any:
        return weights[abs(j)] / total if abs(j) <= reach else arb(0)

    losses = [shift * (2 * z - shift) / square for z in places]
    p = [weight(z - shift) for z in places]
    return atoms(losses, p, [weight(z) for z in places])


def worst(found: Any, exact: Sequence[Any], allowed: Any) -> float:
    """The largest error of masses, as a part of what is allowed.

    `allowed` is a function: the relative error of masses of a size. Masses
    below 1e-300 may be anything from 0 to that.
    """
    sizes = np.array([float(x) for x in exact])
    limits = allowed(sizes)
    parts = [0.0]
    for value, best, size, limit in zip(
        found, exact, sizes, limits, strict=True
    ):
        error = abs(ball(float(value)) - best)
        if size > 1e-300:
            parts.append(float(error / best) / float(limit))
        elif float(error) > 1e-300:
            parts.append(math.inf)
    return max(parts)


def worst_excess(
    found: Any, exact: Any, error: Any, alpha: Sequence[float]
) -> float:
    """The same for P - alpha Q, one alpha for each interval.

    `error` is what the pair states for such differences.
    """
    parts = [0.0]
    limits = error.at(np.array(alpha))
    for p, q, best_p, best_q, at, limit in zip(
        *found, *exact, alpha, limits, strict=True
    ):
        wrong_p, wrong_q = ball(float(p)) - best_p, ball(float(q)) - best_q
        wrong = abs(wrong_p - ball(at) * wrong_q)
        if float(wrong) > 1e-300 * (1 + at):
            parts.append(float(wrong) / max(float(limit), 5e-324))
    return max(parts)
