"""Several runs of one or two kinds, in ball arithmetic: see `curves`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from flint import arb, arb_poly, ctx

from tests.truth.curves import (
    ENOUGH,
    MOST_TERMS,
    NEGLIGIBLE,
    Curve,
    Number,
    Table,
    ball,
    gaussian,
)


def two_losses(probabilities: Table, count: int, alpha: arb) -> arb:
    """`count` runs of a pair with at most two finite losses.

    The number of the larger losses is binomial; the sum runs over the
    numbers whose total loss is above log alpha, from the smallest on, until
    what is left is less than 2^-(bits + 20) of it, by a geometric series.
    """
    p, q = probabilities()
    infinite = sum(
        (a for a, b in zip(p, q, strict=True) if b == 0 and a != 0), arb(0)
    )
    finite = [(a, b) for a, b in zip(p, q, strict=True) if a != 0 and b != 0]
    lost = 1 - (1 - infinite) ** count
    if not finite:
        return lost
    if len(finite) == 1:
        a, b = finite[0]
        return lost + (a**count - alpha * b**count).max(arb(0))
    if len(finite) > 2:
        raise ArithmeticError("more than two losses")
    (a, b), (c, d) = finite
    if a * d < c * b:
        a, b, c, d = c, d, a, b  # now a/b is the larger ratio
    high, low = (a / b).log(), (c / d).log()
    need = (alpha.log() - count * low) / (high - low)
    first = max(0, math.floor(float(need.lower())) - 1)
    if first > count:
        return lost
    # terms j = first, ..., count of C(n, j) (a^j c^(n-j) - alpha b^j d^(n-j))
    start = arb(count).fac() if count < 300 else None
    if start is None:
        ways = (
            arb(count + 1).lgamma()
            - arb(first + 1).lgamma()
            - arb(count - first + 1).lgamma()
        ).exp()
    else:
        ways = arb(math.comb(count, first))
    up = ways * a**first * c ** (count - first)
    down = ways * b**first * d ** (count - first)
    total = arb(0)
    grow, shrink = a / c, b / d
    for j in range(first, count + 1):
        total += (up - alpha * down).max(arb(0))
        step = ball(Fraction(count - j, j + 1))
        ratio = step * grow
        if j > first + 3 and ratio < 0.999:
            rest = up * ratio / (1 - ratio)
            if rest < total * arb(2) ** -(ENOUGH + 20):
                return lost + total + arb(0).union(rest)
        if j - first > MOST_TERMS:
            raise ArithmeticError("too many terms")
        up, down = up * ratio, down * step * shrink
    return lost + total


def lattice(probabilities: Table, count: int, alpha: arb) -> arb:
    """`count` runs of a table whose losses are finite and equally spaced.

    In the order of the table; outcomes with equal sums have equal losses.
    Outcomes at its ends with next to no mass are left out, and counted.
    """
    p, q = probabilities()
    least = arb(2) ** -min(2 * ctx.prec, NEGLIGIBLE)
    inside = [
        i
        for i, (a, b) in enumerate(zip(p, q, strict=True))
        if not a + b < least
    ]
    cut = slice(inside[0], inside[-1] + 1)
    lost = sum(p[: cut.start] + p[cut.stop :], arb(0)) * count
    p, q = p[cut], q[cut]
    if len(p) * count > MOST_TERMS:
        raise ArithmeticError("too many terms")
    first, second = arb_poly(p) ** count, arb_poly(q) ** count
    total = arb(0)
    for a, b in zip(first.coeffs(), second.coeffs(), strict=True):
        total += (a - alpha * b).max(arb(0))
    return total + arb(0).union(lost) if lost > 0 else total


def product(tables: Sequence[tuple[Table, int]], alpha: arb) -> arb:
    """Any tables, each `count` times, by the multinomial theorem."""
    total = arb(0)
    for p, q in joint(tables):
        total += (p - alpha * q).max(arb(0))
    return total


def conditioned(
    tables: Sequence[tuple[Table, int]], curve: Curve, alpha: arb
) -> arb:
    """Tables, and one more run of anything: the mean of its curve."""
    total = arb(0)
    for p, q in joint(tables):
        if q == 0:
            total += p
        elif p != 0:
            total += p * curve(alpha * q / p)
    return total


def joint(
    tables: Iterable[tuple[Table, int]], most: int = MOST_TERMS
) -> list[tuple[arb, arb]]:
    """The outcomes of many runs: their masses under P and under Q."""
    laws: list[tuple[arb, arb]] = [(arb(1), arb(1))]
    for probabilities, count in tables:
        outcomes = [
            (a, b)
            for a, b in zip(*probabilities(), strict=True)
            if a != 0 or b != 0
        ]
        # outcomes that only one of both has: all alike
        kinds = [x for x in outcomes if x[0] != 0 and x[1] != 0]
        for side in (0, 1):
            alone = [x for x in outcomes if x[1 - side] == 0]
            if alone:
                mass = sum((x[side] for x in alone), arb(0))
                pair = (mass, arb(0)) if side == 0 else (arb(0), mass)
                kinds.append(pair)
        size = math.comb(count + len(kinds) - 1, len(kinds) - 1)
        if size * len(laws) > most:
            raise ArithmeticError("too many terms")
        powers = [[(a**n, b**n) for n in range(count + 1)] for a, b in kinds]
        sums = [(count, 1, arb(1), arb(1))]
        for place, row in enumerate(powers):
            last = place == len(powers) - 1
            sums = [
                (
                    left - n,
                    ways * math.comb(left, n),
                    p * row[n][0],
                    q * row[n][1],
                )
                for left, ways, p, q in sums
                for n in ((left,) if last else range(left + 1))
            ]
        laws = [
            (p0 * p * ways, q0 * q * ways)
            for p0, q0 in laws
            for _, ways, p, q in sums
        ]
    return laws


# densities of P and Q at a place, over that of a standard normal law
Density = Callable[[arb], tuple[arb, arb]]
QUADRATURE_BITS = 500


def _place_of_loss(
    density: Density, reach: tuple[float, float], loss: arb
) -> arb | None:
    """Where the loss, which grows or falls, is taken; by bisection."""
    low, high = arb(reach[0]), arb(reach[1])

    def above(u: arb) -> bool:
        p, q = density(u)
        return bool((p / q).log() > loss)

    grows = above(high)
    if grows == above(low):
        return None
    for _ in range(200):
        middle = (low + high) / 2
        if above(middle) == grows:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def _panel(low: arb, high: arb, count: int) -> list[tuple[arb, arb]]:
    """Gauss-Legendre nodes and weights."""
    half, middle = (high - low) / 2, (high + low) / 2
    rule = np.polynomial.legendre.leggauss(count)
    return [
        (middle + half * x, half * w)
        for x, w in zip(*map(np.ndarray.tolist, rule), strict=True)
    ]


def _steep_panel(low: arb, high: arb, count: int) -> list[tuple[arb, arb]]:
    """The rule of Takahashi and Mori: nodes crowd at both ends."""
    half, step = (high - low) / 2, arb(9) / count
    nodes = []
    for k in range(count + 1):
        t = step * k - arb(9) / 2
        inner = arb.pi() / 2 * t.sinh()
        distance = 1 / (inner.exp() * inner.cosh())  # 1 - tanh
        weight = half * step * arb.pi() / 2 * t.cosh() / inner.cosh() ** 2
        if t > 0:
            nodes.append((high - half * distance, weight))
        else:
            distance = 1 / ((-inner).exp() * inner.cosh())
            nodes.append((low + half * distance, weight))
    return nodes


def two_runs(
    density: Density,
    reach: tuple[float, float],
    curve: Curve,
    kinks: Sequence[float],
    epsilon: float,
) -> tuple[float, float]:
    """A mixture of Gaussians, then one run of anything.

    The mean of the second curve over the first loss, by quadrature between
    the places where the second curve has its `kinks`. The error is ten
    times the difference of two rules: an estimate.
    """
    with ctx.workprec(QUADRATURE_BITS):
        alpha = arb(epsilon).exp()
        places = [
            _place_of_loss(density, reach, epsilon - arb(k)) for k in kinks
        ]
        steep = sorted((u for u in places if u is not None), key=float)
        cuts = [(arb(u), False) for u in range(*map(round, reach))]
        cuts = [c for c in cuts if all(abs(c[0] - u) > 0.5 for u in steep)]
        cuts += [(u, True) for u in steep]
        cuts.sort(key=lambda c: float(c[0].mid()))
        front = 1 / (2 * arb.pi()).sqrt()

        def integrand(u: arb) -> arb:
            p, q = density(u)
            value = curve(alpha * q / p)
            return arb(value.mid()) * p * front * (-u * u / 2).exp()

        sums = [arb(0), arb(0)]
        for (low, one), (high, two) in zip(cuts, cuts[1:], strict=False):
            for k, nodes in enumerate((10, 14)):
                rule = _panel(low, high, nodes)
                if one or two:
                    rule = _steep_panel(low, high, 8 * nodes)
                for u, weight in rule:
                    sums[k] += integrand(u) * weight
        value = float(sums[1].mid())
        error = 10 * float(abs(sums[0] - sums[1]).mid()) + 1e-13 * value
        if not error <= 1e-6 * value:
            raise ArithmeticError("the quadrature does not converge")
        return value - error, value + error


def merged_gaussian(shifts: Sequence[tuple[Number, int]]) -> Curve:
    """Unsampled Gaussians: (mu as noise over shift, count) each."""

    def mu() -> arb:
        total = arb(0)
        for ratio, count in shifts:
            total += count / ball(ratio) ** 2
        return total.sqrt()

    return partial(gaussian, mu)
