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
from collections.abc import Callable, Sequence
from fractions import Fraction

from flint import arb, ctx, fmpq

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
