"""Privacy curves in ball arithmetic (python-flint). No accountlib here.

A curve is a function of alpha = e^epsilon: the hockey-stick divergence
H(alpha) = sup over events of P(E) - alpha Q(E), as a ball that surely
contains it. `enclose` raises the precision until the ball is small.

* `gaussian`, `laplace`, `mixture`, `exchange`, `table`   one run
* `sampled`, `reversed_curve`, `largest`                  made of others
* `two_losses`, `lattice`, `product`, `conditioned`       several runs

Floats that come in are the exact binary fractions that they are; a rate may
be a Fraction. P is the output distribution with the record, Q the one
without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from flint import arb, arb_poly, ctx, fmpq

Curve = Callable[[arb], arb]
# probabilities of the same outcomes under P and under Q, at this precision
Table = Callable[[], tuple[list[arb], list[arb]]]
Number = float | int | Fraction
ENOUGH = 60  # bits that a result has
MOST_BITS = 8000
MOST_TERMS = 20_000
NEGLIGIBLE = 1100  # 2 to minus this is no mass at all


def ball(value: Number | arb) -> arb:
    """A float or a fraction, exactly or within one unit."""
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return value if isinstance(value, arb) else arb(value)


def enclose(
    curve: Curve, epsilon: float, *, bits: int = ENOUGH
) -> tuple[float, float]:
    """Two floats around H(e^epsilon)."""
    prec = 128
    while prec <= MOST_BITS:
        with ctx.workprec(prec):
            value = curve(arb(epsilon).exp())
            if not value.is_finite():
                low, high = 0.0, 1.0
            else:
                low, high = float(value.lower()), float(value.upper())
                if value.rel_accuracy_bits() >= bits or high < 1e-310:
                    break
        prec *= 2
    else:
        raise ArithmeticError(f"not known well: [{low}, {high}]")
    low = math.nextafter(low, -1.0)
    return max(0.0, low), min(1.0, math.nextafter(high, 2.0))


def compare(curve: Curve, epsilon: float, value: float) -> int:
    """1 if H(e^epsilon) is surely larger than a number, -1 if less, else 0."""
    prec = 128
    while prec <= MOST_BITS / 2:
        with ctx.workprec(prec):
            found, goal = curve(arb(epsilon).exp()), arb(value)
            if found > goal or found < goal:
                return 1 if found > goal else -1
            if found == goal:
                return 0
        prec *= 2
    return 0


def tail(z: arb) -> arb:
    """Probability that a standard normal variable exceeds z."""
    return (z / arb(2).sqrt()).erfc() / 2


def gaussian(mu: Callable[[], arb], alpha: arb) -> arb:
    """N(mu, 1) against N(0, 1)."""
    m = mu()
    z = alpha.log() / m
    return tail(z - m / 2) - alpha * tail(z + m / 2)


def laplace(loss: Callable[[], arb], alpha: arb) -> arb:
    """Two Laplace laws whose loss is at most `loss`, in size."""
    c, epsilon = loss(), alpha.log()
    if epsilon >= c:
        return arb(0)
    if epsilon <= -c:
        return 1 - alpha
    if epsilon > -c and epsilon < c:
        return -((epsilon - c) / 2).expm1()
    return arb(0).union(arb(1))


def table(probabilities: Table, alpha: arb) -> arb:
    """Finitely many outcomes."""
    total = arb(0)
    for p, q in zip(*probabilities(), strict=True):
        total += (p - alpha * q).max(arb(0))
    return total


def sampled(curve: Curve, rate: Number, alpha: arb) -> arb:
    """(1 - rate) Q + rate P against Q: Theorem 11 of Zhu, Dong, Wang."""
    q = ball(rate)
    inner = (alpha - 1 + q) / q
    if inner > 0:
        return q * curve(inner)
    if inner <= 0:
        return 1 - alpha
    return arb(0).union(arb(1))


def reversed_curve(curve: Curve, alpha: arb) -> arb:
    """Q against P."""
    return 1 - alpha + alpha * curve(1 / alpha)


def largest(curves: Sequence[Curve], alpha: arb) -> arb:
    """Their pointwise maximum."""
    result = curves[0](alpha)
    for curve in curves[1:]:
        result = result.max(curve(alpha))
    return result


# --------------------------------------------------------------------------
# Mixtures of Gaussians. Both ratios grow with z, so the best event is
# z > z*, with P : Q = alpha at z*. Newton's method finds z*; a small ball
# around it, at whose ends the sign is proven, enters the formula.
# --------------------------------------------------------------------------

# means and weights, at this precision
Mixture = Callable[[], tuple[list[arb], list[arb]]]


def _log_density(
    means: list[arb], weights: list[arb], z: arb, sign: int
) -> tuple[arb, arb]:
    """log of sum w e^(sign m z - m^2/2), and its slope in z."""
    parts = [
        w * (sign * m * z - m * m / 2).exp()
        for m, w in zip(means, weights, strict=True)
    ]
    total, slope = arb(0), arb(0)
    for m, part in zip(means, parts, strict=True):
        total += part
        slope += sign * m * part
    return total.log(), slope / total


def _place(
    loss: Callable[[arb], tuple[arb, arb]], epsilon: arb, low: float
) -> arb:
    """A ball that contains the z with loss(z) = epsilon."""

    def middle(x: arb) -> arb:
        return arb(x.mid())

    goal = middle(epsilon)
    left, right = arb(low) - 1, arb(low) + 1
    for _ in range(1000):
        if loss(left)[0] < goal:
            break
        left -= (right - left) * 2
    for _ in range(1000):
        if loss(right)[0] > goal:
            break
        right += (right - left) * 2
    z = (left + right) / 2
    for _ in range(400):
        value, slope = loss(z)
        if value > goal:
            right = z
        elif value < goal:
            left = z
        else:
            break
        move = middle((goal - value) / slope)
        following = z + move
        if not (following > left and following < right):
            following = (left + right) / 2
        following = middle(following)
        if abs(following - z) < abs(z) * arb(2) ** (8 - ctx.prec):
            z = following
            break
        z = following
    radius = (abs(z) + arb(2) ** -ctx.prec) * arb(2) ** (30 - ctx.prec)
    for _ in range(60):
        below, above = middle(z - radius), middle(z + radius)
        if loss(below)[0] < epsilon and loss(above)[0] > epsilon:
            return below.union(above)
        radius *= 16
    raise ArithmeticError("no place where the ratio is alpha")


def mixture(parts: Mixture, alpha: arb) -> arb:
    """sum_j w_j N(mu_j, 1) against N(0, 1), means of 0 among them."""
    means, weights = parts()
    epsilon = alpha.log()
    zero = sum(
        (w for m, w in zip(means, weights, strict=True) if m == 0), arb(0)
    )
    if alpha <= zero:
        return 1 - alpha
    if not alpha > zero:
        return arb(0).union(arb(1))
    z = _place(lambda z: _log_density(means, weights, z, 1), epsilon, 0.0)
    total = -alpha * tail(z)
    for m, w in zip(means, weights, strict=True):
        total += w * tail(z - m)
    return total


def exchange(parts: Mixture, alpha: arb) -> arb:
    """sum_j w_j N(mu_j, 1) against sum_j w_j N(-mu_j, 1)."""
    means, weights = parts()

    def loss(z: arb) -> tuple[arb, arb]:
        up, rise = _log_density(means, weights, z, 1)
        down, fall = _log_density(means, weights, z, -1)
        return up - down, rise - fall

    z = _place(loss, alpha.log(), 0.0)
    total = arb(0)
    for m, w in zip(means, weights, strict=True):
        total += w * (tail(z - m) - alpha * tail(z + m))
    return total


def binomial_parts(size: int, rate: Number, noise: Number) -> Mixture:
    """How much a group moves the sum over a Poisson sample."""

    def parts() -> tuple[list[arb], list[arb]]:
        q = ball(rate)
        means = [j / ball(noise) for j in range(size + 1)]
        weights = [
            math.comb(size, j) * q**j * (1 - q) ** (size - j)
            for j in range(size + 1)
        ]
        return means, weights

    return parts


def batch_parts(size: int, batch: int, records: int, noise: float) -> Mixture:
    """How much a group moves the sum over a batch of fixed size.

    `size` of the `records` belong to the group; each that is in the batch
    takes the place of another record, and the sum moves by 2.
    """

    def parts() -> tuple[list[arb], list[arb]]:
        most = min(size, batch)
        means = [2 * j / ball(noise) for j in range(most + 1)]
        weights = []
        for j in range(most + 1):  # falling factorials: no huge numbers
            w = Fraction(math.comb(size, j))
            for i in range(j):
                w *= Fraction(batch - i, records - i)
            for i in range(size - j):
                w *= Fraction(records - batch - i, records - j - i)
            weights.append(ball(w))
        return means, weights

    return parts


def listed_parts(
    sensitivities: Sequence[float],
    probabilities: Sequence[Number],
    noise: float,
) -> Mixture:
    def parts() -> tuple[list[arb], list[arb]]:
        means = [ball(c) / ball(noise) for c in sensitivities]
        return means, [ball(w) for w in probabilities]

    return parts


# --------------------------------------------------------------------------
# Laplace noise under exchange with Poisson sampling: the ratio of
# (1 - q) f(x) + q f(x - 1) and (1 - q) f(x) + q f(x + 1) grows with x on
# (-1, 1) and is constant outside.
# --------------------------------------------------------------------------


def laplace_exchange(scale: float, rate: Number, alpha: arb) -> arb:
    s, q = ball(scale), ball(rate)

    def above(x: arb) -> arb:
        """P(X > x) of a centred Laplace variable."""
        if x >= 0:
            return (-x / s).exp() / 2
        if x <= 0:
            return 1 - (x / s).exp() / 2
        low, high = above(arb(x.lower())), above(arb(x.upper()))
        return low.union(high)

    def value(x: arb) -> arb:
        p = (1 - q) * above(x) + q * above(x - 1)
        return p - alpha * ((1 - q) * above(x) + q * above(x + 1))

    # On (0, 1), e^(2x/s) = (alpha - 1) c + 1 gives the best x; mirrored.
    if alpha >= 1:
        c = 1 + (1 - q) * (1 / s).exp() / q
        x = s / 2 * ((alpha - 1) * c).log1p()
        if x >= 1:
            return arb(0)
        if x < 1:
            return value(x)
        return arb(0).union(value(arb(1)))
    if alpha < 1:
        mirrored = laplace_exchange(scale, rate, 1 / alpha)
        return 1 - alpha + alpha * mirrored
    return arb(0).union(arb(1))


# --------------------------------------------------------------------------
# Tables
# --------------------------------------------------------------------------


def listed_table(p: Sequence[Number], q: Sequence[Number]) -> Table:
    return lambda: ([ball(x) for x in p], [ball(x) for x in q])


def response_table(epsilon: float, delta: float = 0.0) -> Table:
    """The worst pair of (epsilon, delta)-DP."""

    def made() -> tuple[list[arb], list[arb]]:
        few = (1 - ball(delta)) / (1 + ball(epsilon).exp())
        many = (1 - ball(delta)) - few
        p = [ball(delta), many, few, arb(0)]
        return p, p[::-1]

    return made


def _integer_gaussian(
    sigma: float, more: int
) -> tuple[int, Callable[[int], arb]]:
    """Places beyond which there is next to nothing, and the law.

    The law is known on `more` places than these.
    """
    width = math.ceil(sigma * math.sqrt(2 * NEGLIGIBLE * math.log(2))) + 2
    s = ball(sigma)
    ratio = (-1 / (2 * s * s)).exp()
    powers = [arb(1)]  # ratio^(z^2), each from the one before
    step = ratio
    for _ in range(width + more):
        powers.append(powers[-1] * step)
        step *= ratio * ratio
    total = 2 * sum(powers[1:], arb(0)) + 1
    law = [power / total for power in powers]

    return width, lambda z: law[abs(z)]


def _integer_laplace(scale: float) -> Callable[[int], arb]:
    s = ball(scale)
    front = (1 / (2 * s)).tanh()
    return lambda z: front * (-abs(z) / s).exp()


def integer_table(
    kind: str, noise: float, up: int, down: int, rate: Number
) -> Table:
    """Noise on the integers: (1 - rate) at 0 and rate at `up`, against
    (1 - rate) at 0 and rate at -`down`.

    All outcomes of the discrete Gaussian but 2^-1100 of them; for the
    discrete Laplace law outcomes beyond the shifts tell no more than
    those, and are put together.
    """

    def made() -> tuple[list[arb], list[arb]]:
        r = ball(rate)
        if kind == "gaussian":
            if noise > 1000 or up > 20_000:
                raise ArithmeticError("too many outcomes")
            width, mass = _integer_gaussian(noise, 2 * (up + down))
            places = range(-width - down, width + up + 1)
            p = [(1 - r) * mass(z) + r * mass(z - up) for z in places]
            q = [(1 - r) * mass(z) + r * mass(z + down) for z in places]
            return p, q
        mass = _integer_laplace(noise)
        grow = 1 / (1 - (-1 / ball(noise)).exp())  # of a tail
        p, q = [], []
        for z in range(-down, up + 1):
            terms = [mass(z), mass(z - up), mass(z + down)]
            if z in (-down, up):
                # the whole tail beyond: on its side all laws fall alike
                terms = [term * grow for term in terms]
            p.append((1 - r) * terms[0] + r * terms[1])
            q.append((1 - r) * terms[0] + r * terms[2])
        return p, q

    return made


def sampled_table(probabilities: Table, rate: Number) -> Table:
    def made() -> tuple[list[arb], list[arb]]:
        p, q = probabilities()
        r = ball(rate)
        mixed = [(1 - r) * b + r * a for a, b in zip(p, q, strict=True)]
        return mixed, q

    return made


def kept(probabilities: Table) -> Table:
    """The same, made once for each precision."""
    made: dict[int, tuple[list[arb], list[arb]]] = {}

    def again() -> tuple[list[arb], list[arb]]:
        if ctx.prec not in made:
            made.clear()
            made[ctx.prec] = probabilities()
        return made[ctx.prec]

    return again


def swapped(probabilities: Table) -> Table:
    def made() -> tuple[list[arb], list[arb]]:
        p, q = probabilities()
        return q, p

    return made


def mirrored_table(probabilities: Table) -> Table:
    """The larger of a pair's curve and its reverse, as one pair.

    For alpha >= 1 the pair's own curve: its outcomes of positive loss, the
    same mirrored, and all the rest as an outcome of loss 0.
    """

    def made() -> tuple[list[arb], list[arb]]:
        p, q = probabilities()
        above = [(a, b) for a, b in zip(p, q, strict=True) if a > b]
        rest = 1 - sum((a + b for a, b in above), arb(0))
        first = [a for a, _ in above] + [b for _, b in above] + [rest]
        second = [b for _, b in above] + [a for a, _ in above] + [rest]
        return first, second

    return made


# --------------------------------------------------------------------------
# Several runs of tables
# --------------------------------------------------------------------------


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
