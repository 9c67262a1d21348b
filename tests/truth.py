"""The truth that the tests hold `accountlib` against.

Nothing here imports `accountlib`. Each part uses another method than the
package (closed forms with mpmath, exact fractions, contour integrals), and
says how far off it can be:

* `gaussian_*`, `laplace_delta`   closed forms, at adaptive precision
* `laplace_composition_*`         T Laplace releases, exact or by a contour
* `ExactPair`                     discrete pairs, composed in whole numbers
* `masses`                        interval masses to 40 digits
* `contour_*`                     subsampled Gaussians (checks, no bound)
* `sampled_*_delta`               closed forms and quadrature, few releases

A function described as *enclosing* returns `(low, high)` around the truth;
its docstring says why. P is the output distribution with the record, Q the
one without; "remove" compares P with Q, "add" compares Q with P. Floats that
come in are taken as the exact binary fractions that they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import mpmath as mp
import numpy as np
from scipy import optimize, stats

Enclosure = tuple[mp.mpf, mp.mpf]
UNIT = 2.0**-53  # unit round-off of a double


# --------------------------------------------------------------------------
# 1. One Gaussian or Laplace release
# --------------------------------------------------------------------------


def gaussian_mu(noise_multiplier: float, count: int = 1) -> mp.mpf:
    """Shift in standard deviations: sqrt(count) / sigma, to 100 digits."""
    with mp.workdps(110):
        return mp.sqrt(count) / mp.mpf(noise_multiplier)


def _gaussian_terms(epsilon: mp.mpf, mu: mp.mpf) -> tuple[mp.mpf, ...]:
    """Both terms of delta = a - b, and a bound on the error of a - b."""
    root2 = mp.sqrt(2)
    y_p = (epsilon / mu - mu / 2) / root2
    y_q = (epsilon / mu + mu / 2) / root2
    a = mp.erfc(y_p) / 2
    b = mp.exp(epsilon) * mp.erfc(y_q) / 2
    units = 20 + 8 * (y_p**2 + y_q**2) + 4 * abs(epsilon)
    return a, b, units * (a + b) * mp.mpf(10) ** (1 - mp.mp.dps)


def gaussian_delta(
    epsilon: float, mu: float, *, digits: int = 30
) -> Enclosure:
    """Enclosing delta(epsilon) of N(mu, 1) against N(0, 1).

    delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu). A relative error
    r of the argument y of erfc changes erfc(y) by less than (1 + 4 y^2) r of
    itself, an error r of eps changes e^eps by |eps| r, and mpmath's own
    functions are good to a few units of the last digit. `_gaussian_terms`
    adds these up; the precision grows until what cancels leaves `digits`
    digits.
    """
    dps = 40
    while True:
        with mp.workdps(dps):
            a, b, error = _gaussian_terms(mp.mpf(epsilon), mp.mpf(mu))
            if error <= (a - b) * mp.mpf(10) ** -digits:
                return a - b - error, a - b + error
        dps *= 2


def gaussian_epsilon(delta: float, mu: float) -> Enclosure:
    """Enclosing epsilon(delta) of N(mu, 1) against N(0, 1).

    Newton's method on log delta, a concave function, started right of the
    root. Where it ends is not trusted: both ends are checked with
    `gaussian_delta`, and delta decreases in epsilon.
    """
    target = mp.mpf(delta)
    if gaussian_delta(0, mu)[1] <= target:
        return mp.mpf(0), mp.mpf(0)
    with mp.workdps(110):
        mu = mp.mpf(mu)
        epsilon = mu**2 / 2 + mu * mp.sqrt(2 * mp.log(1 / target))
        for _ in range(200):
            low, high = gaussian_delta(epsilon, mu)
            value = (low + high) / 2
            _, slope, _ = _gaussian_terms(epsilon, mu)
            step = mp.log(value / target) * value / slope
            epsilon += step
            if abs(step) <= epsilon * mp.mpf(10) ** -28:
                break
        return _enclose_root(
            lambda e: gaussian_delta(e, mu), epsilon, target, mp.mpf(10) ** -26
        )


def _enclose_root(curve, epsilon, target, width) -> Enclosure:
    """Widen epsilon (1 +- width) until the enclosing curve proves both ends.

    delta(low) > target shows epsilon(target) >= low, and delta(high) <=
    target shows epsilon(target) <= high, as delta decreases.
    """
    low = high = mp.mpf(epsilon)
    margin = low * width
    while low > 0 and curve(low)[0] <= target:
        low, margin = max(low - margin, mp.mpf(0)), margin * 4
    margin = high * width
    while curve(high)[1] > target:
        high, margin = high + margin, margin * 4
    return low, high


def laplace_delta(epsilon: float, scale: float) -> mp.mpf:
    """delta(epsilon) of Lap(1, scale) against Lap(0, scale), 30 digits.

    Closed form, for epsilon of either sign. The only subtraction is inside
    expm1, so every digit survives but the last one or two.
    """
    with mp.workdps(60):
        epsilon, loss = mp.mpf(epsilon), 1 / mp.mpf(scale)
        if epsilon >= loss:
            return mp.mpf(0)
        if epsilon <= -loss:
            return -mp.expm1(epsilon)
        return -mp.expm1((epsilon - loss) / 2)


# --------------------------------------------------------------------------
# 2. Many Laplace releases
#
# Let c = 1/scale, b = c/2. The measure e^(-L/2) dP = e^(L/2) dQ of one loss
# L = c Z puts e^(-b)/2 on Z = 1 and on Z = -1, and density e^(-b) b/2 on
# -1 < Z < 1. Its moment generating function is e^(-b) phi(z) with
#     phi(z) = cosh z + b sinh(z)/z.
# With x = epsilon/c, and any Re z = a > b, T releases have
#     delta = c e^(-bT + bx) 1/(2 pi i)
#             int phi(z)^T e^(-zx) / (z^2 - b^2) dz.               (laplace-1)
# Expanding phi^T binomially and cosh, sinh into exponentials gives
#     delta = 2 e^(-bT + bx) 2^-T sum_k C(T, k)
#             sum_j kappa(k, j) chi_k(b (T - 2j - x)_+)            (laplace-2)
# where kappa(k, j) is the coefficient of v^j in (1+v)^(T-k) (1-v)^k, and
#     chi_0 = sinh, chi_1 = cosh - 1, chi_{k+2} = chi_k - y^(k+1)/(k+1)!.
# The part k is the case that exactly k of the T losses are no atoms.
# --------------------------------------------------------------------------

EXACT_COUNT = 100  # up to here (laplace-2) is summed in full


def laplace_composition_delta(
    epsilon: float, scale: float, count: int
) -> Enclosure:
    """Enclosing delta(epsilon) of `count` unsampled Laplace releases.

    Up to 100 releases: the finite sum (laplace-2), in high precision. More:
    the contour integral (laplace-1). Where fewer than about 40 of the losses
    are no atoms, the integrand decays slowly; there the parts k < 3 come
    from (laplace-2) and only the others, whose integrand decays like t^-5,
    from the integral. The width is 1e-12 to 1e-9 of delta, down to 1e-30;
    parts from (laplace-2) cost 1e-45, whatever delta is.
    """
    with mp.workdps(60):
        scale, epsilon = mp.mpf(scale), mp.mpf(epsilon)
        if epsilon < 0:  # swap identity; add and remove are equal
            low, high = laplace_composition_delta(-epsilon, scale, count)
            one, factor = -mp.expm1(epsilon), mp.exp(epsilon)
            return one + factor * low, one + factor * high
        if epsilon * scale >= count:
            return mp.mpf(0), mp.mpf(0)
        if count <= EXACT_COUNT:
            low, high = _laplace_parts(epsilon, scale, count, count + 1)
        else:
            low, high = _laplace_contour(epsilon, scale, count)
        return max(low, mp.mpf(0)), high


def _laplace_parts(
    epsilon: mp.mpf, scale: mp.mpf, count: int, parts: int
) -> Enclosure:
    """Enclosing sum of the parts k < `parts` of (laplace-2).

    Error, in units of 10^(1-dps): with y = b (T - 2j - x), e^y is off by
    (5 + y) e^y, and y^k/k! by 4 k of itself. chi_k comes from sinh or cosh
    by subtracting such numbers, which sum to less than e^y: it is off by at
    most (4 k + 10 + y) e^y. Adding n terms costs n times their sum. With
    sum_j |kappa| <= 2^T and y <= b (T - x), all prefactors cancel: the
    result is off by at most 2 (4 parts + 20 + 2 b T + n) sum_k C(T, k).
    The precision is set to make that below 1e-45.
    """
    parts = min(parts, count + 1)
    below = int(mp.ceil((count - epsilon * scale) / 2))  # T - 2j - x > 0
    ways = [math.comb(count, k) for k in range(parts)]
    units = 2 * (4 * parts + 20 + math.ceil(count / scale) + below)
    dps = 47 + len(str(units * sum(ways)))
    with mp.workdps(dps):
        b, x = 1 / (2 * scale), epsilon * scale
        kappa = _binomial_row(count, below)
        total = [mp.mpf(0)] * parts
        chi, power = [], []
        for j in range(below):
            y = b * (count - 2 * j - x)
            up = mp.exp(y)
            chi.append([(up - 1 / up) / 2, (up + 1 / up) / 2 - 1])
            power.append(y)
        for k in range(parts):
            for j in range(below):
                total[k] += kappa[j] * chi[j][k % 2]
                chi[j][k % 2] -= power[j]
                power[j] = power[j] * b * (count - 2 * j - x) / (k + 2)
            kappa = _times_ratio(kappa)
        value = mp.fsum(w * part for w, part in zip(ways, total, strict=True))
        value *= 2 * mp.exp(b * (x - count)) * mp.mpf(2) ** -count
        error = mp.mpf(10) ** -45
        return value - error, value + error


def _binomial_row(count: int, length: int) -> list[int]:
    """Coefficients of (1 + v)^count, the first `length` of them."""
    row = [1]
    for j in range(1, length):
        row.append(row[-1] * (count - j + 1) // j)
    return row


def _times_ratio(row: list[int]) -> list[int]:
    """Coefficients of row(v) (1 - v) / (1 + v), in whole numbers."""
    result, before = [], 0
    for j, entry in enumerate(row):
        before = entry - (row[j - 1] if j else 0) - before
        result.append(before)
    return result


def _log_phi(a: float, b: float) -> float:
    """log phi(a), in doubles."""
    return float(
        a
        + math.log1p(math.exp(-2 * a))
        - math.log(2)
        + math.log1p(b * math.tanh(a) / a)
    )


def _log_phi_slope(a: float, b: float) -> float:
    t = math.tanh(a)
    inner = b * ((1 - t * t) / a - t / a**2) / (1 + b * t / a)
    return t + inner


def _saddle(count: int, x: float, b: float, poles: float) -> float:
    """d = a - b > 0 where T log phi(a) - a x - poles log(a^2 - b^2) is least.

    A rough answer is enough: it steers the contour and enters no bound
    unchecked.
    """

    def slope(log_d: float) -> float:
        d = math.exp(log_d)
        pull = poles * (1 / d + 1 / (d + 2 * b))
        return count * _log_phi_slope(b + d, b) - x - pull

    low, high = math.log(1e-14), 0.0
    while slope(high) < 0 and high < 10:
        high += 1
    if high >= 10:
        return math.exp(high)
    return math.exp(optimize.brentq(slope, low, high, xtol=1e-6))


def _laplace_contour(
    epsilon: mp.mpf, scale: mp.mpf, count: int, parts: int | None = None
) -> Enclosure:
    """Enclosing delta by the trapezoid rule on (laplace-1).

    z = a + it at t = 0, h, -h, 2h, ... up to tmax. Four errors are added up.

    Aliases. By Poisson's formula the full trapezoid sum is sum over whole m
    of e^((a-b) A m) delta(x + A m), A = 2 pi/h, in units of c. For m < 0,
    delta <= 1. For m > 0, delta(x + Am) = 0 beyond T, else Chernoff's bound
    delta <= e^(-bT) phi(a')^T e^(-(a'-b)(x + Am)) for some a' > a.
    Leaving out the parts k < 3 only makes these smaller.

    Tail. |cosh z|, |sinh z| <= cosh a and |z|, |z +- b| >= t, so beyond tmax
    the parts k >= K have |integrand| <= cosh(a)^T B(t)/t^2 with
    B(t) = sum over k >= K of C(T, k) (b/t)^k, decreasing; hence the tail is
    at most cosh(a)^T B(tmax) / (pi tmax).

    Round-off. rho = phi(z)/phi(a) is off by at most 10 u, hence rho^T by
    30 T u |rho|^(T-1), and the phase t x by 4 u t x; the nodes t are off by
    u t, and |rho'| <= 1. Where parts are left out, |rho| is replaced by
    (|cosh z| + |b sinh z/z|)/phi(a), which bounds all terms together.

    Prefactor. It is taken with 60 digits at the double a.
    """
    b_exact, x_exact = 1 / (2 * scale), epsilon * scale
    b, x = float(b_exact), float(x_exact)
    d = _saddle(count, x, b, 1.0)
    a = b + d
    a_exact = mp.mpf(a)
    gap = float(a_exact - b_exact)
    lam = count * math.log1p(b * math.tanh(a) / a)
    if parts is None:
        parts = 0 if lam > 40 else 3

    # prefactor; everything below is relative to it
    log_phi = mp.log(mp.cosh(a_exact) + b_exact * mp.sinh(a_exact) / a_exact)
    log_front = (
        mp.log(2 * b_exact)
        + b_exact * (x_exact - count)
        + count * log_phi
        - a_exact * x_exact
    )
    front = mp.exp(log_front)

    if a > 50:  # delta near 2^-count, of no use: Chernoff's bound
        return mp.mpf(0), front / (2 * b_exact)

    # size of the integral, roughly
    eta = 1e-4 * a
    bend = _log_phi_slope(a + eta, b) - _log_phi_slope(a - eta, b)
    bend = max(count * bend / (2 * eta), 0.0) + d**-2 + (a + b) ** -2
    size = 1 / (gap * (a + b) * math.sqrt(2 * math.pi * bend))
    goal = math.log(size) - 32  # log of the error we go for, each

    # step
    floor = float(-log_front)  # log of (1 / front)
    period = max(floor - goal, 32.0) / gap
    while True:
        down = floor - gap * period - math.log(-math.expm1(-gap * period))
        up = -math.inf
        if x + period < count:
            a2 = b + _saddle(count, x + period, b, 0.0)
            if a2 > a:
                rate = (a2 - a) * period
                up = count * (_log_phi(a2, b) - _log_phi(a, b))
                up -= (a2 - a) * x + rate + math.log(-math.expm1(-rate))
                up -= math.log(2 * b)
            else:
                up = math.inf
        if max(down, up) <= goal + 2:
            break
        period *= 1.25
    alias = math.exp(down + 1e-3) + math.exp(up + 1e-3)
    step = 2 * math.pi / period

    # tail
    def log_tail(t: float) -> float:
        share = b / (b + t)
        rest = stats.binom.logsf(parts - 1, count, share)
        grow = count * (math.log1p(b / t)) - lam
        return float(rest + grow - math.log(math.pi * t))

    t_max = max(a, b)
    while log_tail(t_max) > goal:
        t_max *= 1.2
    points = int(math.ceil(t_max / step))
    if points > 2e8:
        raise ArithmeticError(f"contour too long: {points}")
    tail = math.exp(log_tail(t_max) + 1e-3)

    total = rounding = 0.0
    block = 1 << 17
    for start in range(0, points + 1, block):
        t = step * np.arange(start, min(start + block, points + 1))
        value, bound = _laplace_integrand(t, a, b, gap, count, x, parts)
        weight = np.where(t == 0, 0.5, 1.0)
        total += float(np.sum(weight * value))
        rounding += float(
            np.sum(weight * bound * (30 * count + 4 * t * x + 100))
        )
    total *= step / math.pi
    rounding *= step / math.pi * UNIT
    error = alias + tail + rounding
    low, high = front * (total - error), front * (total + error)
    if parts:
        below, above = _laplace_parts(epsilon, scale, count, parts)
        low, high = low + below, high + above
    return low, high


def _laplace_integrand(t, a, b, gap, count, x, parts):
    """Real part of the integrand over phi(a)^T e^(-ax), and its size."""
    z = a + 1j * t
    tau = math.tanh(a)
    one = 1 + b * tau / a
    atoms = (np.cos(t) + 1j * tau * np.sin(t)) / one
    smooth = b * (tau * np.cos(t) + 1j * np.sin(t)) / z / one
    with np.errstate(divide="ignore"):
        log_rho = np.log(atoms + smooth)
        f = np.exp(count * log_rho - 1j * t * x)
        size = np.abs(atoms + smooth) if not parts else 0.0
        if parts:
            size = np.abs(atoms) + np.abs(smooth)
            shift = np.exp(-1j * t * x)
            log_atoms = np.log(atoms)
            for k in range(parts):
                part = np.exp((count - k) * log_atoms) * smooth**k
                f = f - math.comb(count, k) * part * shift
    pole = (gap + 1j * t) * (gap + 2 * b + 1j * t)
    bound = (size + 20 * UNIT) ** (count - 1) / np.abs(pole)
    return np.real(f / pole), bound


def laplace_composition_epsilon(
    delta: float, scale: float, count: int
) -> Enclosure:
    """Enclosing epsilon(delta) of `count` unsampled Laplace releases.

    Root of log delta by bisection and interpolation in doubles; both ends
    are then proved with `laplace_composition_delta`.
    """
    with mp.workdps(60):
        target = mp.mpf(delta)

        def curve(epsilon) -> Enclosure:
            return laplace_composition_delta(epsilon, scale, count)

        if curve(0)[1] <= target:
            return mp.mpf(0), mp.mpf(0)
        top = count / mp.mpf(scale)

        def gap(epsilon: float) -> float:
            low, high = curve(epsilon)
            middle = max((low + high) / 2, mp.mpf("1e-300"))
            return float(mp.log(middle / target))

        right = float(mp.sqrt(count) / scale) / 8
        while gap(right) > 0:
            right *= 2
        root = optimize.brentq(gap, 0.0, right, xtol=1e-300, rtol=1e-12)
        low, high = _enclose_root(curve, root, target, mp.mpf(10) ** -12)
        return low, min(high, top)


# --------------------------------------------------------------------------
# 3. Discrete pairs in whole numbers
# --------------------------------------------------------------------------


@dataclass(frozen=True)
class ExactPair:
    """A pair of finite distributions, exactly, grouped by likelihood ratio.

    `weights[(i, j)] = w` with i, j coprime stands for all outcomes with
    P : Q = i : j; together they have P = w i / denominator and Q = w j /
    denominator. (1, 0) and (0, 1) are the outcomes that the other
    distribution never has. No error at all.
    """

    weights: dict[tuple[int, int], int]
    denominator: int

    @staticmethod
    def of(
        p: Iterable[Fraction | float], q: Iterable[Fraction | float]
    ) -> ExactPair:
        """Pair from floats or fractions, each taken exactly.

        Nothing is normalised: both must sum to exactly 1, so use fractions
        or dyadic numbers such as those of `dyadic_distribution`.
        """
        exact_p = [Fraction(v) for v in p]
        exact_q = [Fraction(v) for v in q]
        if sum(exact_p) != 1 or sum(exact_q) != 1:
            raise ValueError("p and q must sum to exactly 1")
        scale = math.lcm(*(v.denominator for v in exact_p + exact_q))
        weights: dict[tuple[int, int], int] = {}
        for a, b in zip(exact_p, exact_q, strict=True):
            _put(weights, int(a * scale), int(b * scale), 1)
        return ExactPair(weights, scale)

    def reversed(self) -> ExactPair:
        """P and Q swapped: the add direction."""
        swapped = {(j, i): w for (i, j), w in self.weights.items()}
        return ExactPair(swapped, self.denominator)

    def poisson(self, rate: Fraction | float) -> ExactPair:
        """(1 - rate) Q + rate P against Q, the remove direction."""
        rate = Fraction(rate)
        num, den = rate.numerator, rate.denominator
        weights: dict[tuple[int, int], int] = {}
        for (i, j), w in self.weights.items():
            _put(weights, (den - num) * j + num * i, den * j, w)
        return ExactPair(weights, self.denominator * den)

    def times(self, other: ExactPair) -> ExactPair:
        """Both pairs released, independently."""
        weights: dict[tuple[int, int], int] = {}
        for (i, j), w in self.weights.items():
            for (k, m), v in other.weights.items():
                _put(weights, i * k, j * m, w * v)
        return ExactPair(weights, self.denominator * other.denominator)

    def power(self, count: int) -> ExactPair:
        """`count` independent releases, by the multinomial theorem."""
        weights: dict[tuple[int, int], int] = {}
        powers = [
            [(i**n, j**n, w**n) for n in range(count + 1)]
            for (i, j), w in self.weights.items()
        ]

        def spread(place: int, left: int, i: int, j: int, w: int) -> None:
            """Class `place` takes n of the releases that are left."""
            last = place == len(powers) - 1
            for n in (left,) if last else range(left + 1):
                i2, j2, w2 = powers[place][n]
                now = (i * i2, j * j2, w * w2 * math.comb(left, n))
                if last:
                    _put(weights, *now)
                elif now[0] or now[1]:
                    spread(place + 1, left - n, *now)

        spread(0, count, 1, 1, 1)
        return ExactPair(weights, self.denominator**count)

    @cached_property
    def _table(self) -> list[tuple[Fraction, int, int]]:
        """(ratio, P above it, Q above it), finite ratios, descending.

        "Above" sums the classes of a strictly larger ratio, as numerators.
        """
        p = self.weights.get((1, 0), 0)
        q = 0
        finite = sorted(
            (
                (Fraction(i, j), i * w, j * w)
                for (i, j), w in self.weights.items()
                if j
            ),
            reverse=True,
        )
        table = []
        for ratio, more_p, more_q in finite:
            table.append((ratio, p, q))
            p, q = p + more_p, q + more_q
        table.append((Fraction(0), p, q))
        return table

    def delta_at(self, alpha: Fraction) -> Fraction:
        """sum of (P - alpha Q)_+, exactly, for alpha >= 0."""
        table = self._table
        low, high = 0, len(table) - 1  # first entry with ratio <= alpha
        while low < high:
            middle = (low + high) // 2
            if table[middle][0] <= alpha:
                high = middle
            else:
                low = middle + 1
        _, p, q = table[low]
        return (p - alpha * q) / Fraction(self.denominator)

    def delta(self, epsilon: float) -> tuple[Fraction, Fraction]:
        """Enclosing delta(epsilon).

        e^epsilon lies between two fractions that agree in 50 digits, and
        delta decreases.
        """
        with mp.workdps(70):
            alpha = _fraction(mp.exp(mp.mpf(epsilon)))
        slack = Fraction(1, 10**50)
        below, above = alpha * (1 - slack), alpha * (1 + slack)
        return self.delta_at(above), self.delta_at(below)

    def epsilon(self, delta: Fraction | float) -> Enclosure:
        """Enclosing epsilon(delta), inf where mass at infinity exceeds delta.

        delta is piecewise linear in alpha = e^epsilon: alpha is found as an
        exact fraction, and its logarithm taken with 60 digits.
        """
        delta = Fraction(delta)
        if self.delta_at(Fraction(1)) <= delta:
            return mp.mpf(0), mp.mpf(0)
        if Fraction(self.weights.get((1, 0), 0), self.denominator) > delta:
            return mp.inf, mp.inf
        target = delta * self.denominator
        for ratio, p, q in self._table:
            if p - ratio * q > target:  # alpha lies above this ratio
                break
            last = ratio
        alpha = (p - target) / q if q else last
        with mp.workdps(60):
            value = mp.log(mp.mpf(alpha.numerator) / alpha.denominator)
            error = (abs(value) + 1) * mp.mpf(10) ** -50
            return value - error, value + error


def _put(weights: dict[tuple[int, int], int], i: int, j: int, w: int) -> None:
    """Add an outcome class with P : Q = i : j and weight w."""
    common = math.gcd(i, j)
    if common and w:
        key = (i // common, j // common)
        weights[key] = weights.get(key, 0) + common * w


def _fraction(value: mp.mpf) -> Fraction:
    """An mpf is a binary fraction; this is that fraction."""
    sign, mantissa, exponent, _ = value._mpf_
    result = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -result if sign else result


def compose_exact(parts: Iterable[tuple[ExactPair, int]]) -> ExactPair:
    """All pairs together, each `count` times."""
    result = ExactPair({(1, 1): 1}, 1)
    for pair, count in parts:
        result = result.times(pair.power(count))
    return result


def dyadic_distribution(
    rng: np.random.Generator, size: int, *, bits: int = 8
) -> list[float]:
    """Random probabilities k / 2^bits that sum to exactly 1, zeros included.

    The floats are exact, so a package that takes floats and the fractions
    here speak of the very same distribution.
    """
    cuts = np.sort(rng.integers(0, 2**bits, size - 1, endpoint=True))
    parts = np.diff(np.concatenate([[0], cuts, [2**bits]]))
    return [int(k) / 2**bits for k in rng.permutation(parts)]


# --------------------------------------------------------------------------
# 4. Interval masses of the privacy loss
# --------------------------------------------------------------------------


def masses(
    kind: str,
    noise: float,
    edges: Sequence[float],
    *,
    rate: float = 1.0,
    direction: str = "remove",
) -> tuple[list[mp.mpf], list[mp.mpf]]:
    """P and Q masses of the loss in (-inf, e0], (e0, e1], ..., (en, inf).

    `kind` is "gaussian" (noise = standard deviation) or "laplace" (noise =
    scale), with shift 1; `rate` is that of Poisson sampling. The losses of
    atoms are exact numbers such as 1/scale: keep edges off them, unless they
    are floats. Each mass is computed at growing precision until two
    precisions agree to 42 digits; the better one is returned.
    """
    points = [-mp.inf, *(mp.mpf(float(e)) for e in edges), mp.inf]
    pairs = [
        _agree(lambda a=a, b=b: _mass(kind, noise, a, b, rate, direction))
        for a, b in zip(points, points[1:], strict=False)
    ]
    return [p for p, _ in pairs], [q for _, q in pairs]


def _agree(function):
    """Value of a pair-valued function where precision p and 2p agree."""
    dps, before = 60, None
    while True:
        with mp.workdps(dps):
            now = function()
            if before is not None and all(
                abs(u - v) <= abs(v) * mp.mpf(10) ** -42
                for u, v in zip(before, now, strict=True)
            ):
                return now
        before, dps = now, 2 * dps


def _mass(kind, noise, a, b, rate, direction):
    """Masses under (P, Q) of a < loss <= b."""
    if rate == 0:
        inside = mp.mpf(1 if a < 0 <= b else 0)
        return inside, inside
    open_left = direction == "remove"
    if not open_left:
        a, b = -b, -a  # the loss is negated: -b <= loss < -a
    base = _gaussian_mass if kind == "gaussian" else _laplace_mass
    a, b = _unsampled_loss(a, rate), _unsampled_loss(b, rate)
    p, q = base(mp.mpf(noise), a, b, open_left)
    mixed = (1 - mp.mpf(rate)) * q + rate * p
    return (mixed, q) if open_left else (q, mixed)


def _unsampled_loss(loss, rate):
    """The l with log(1 - rate + rate e^l) = loss; -inf below the range."""
    if mp.isinf(loss) or rate == 1:
        return loss
    inner = mp.expm1(loss) + rate
    return mp.log(inner / rate) if inner > 0 else -mp.inf


def _gaussian_mass(sigma, a, b, open_left):
    def between(low, high):  # of a standard normal
        if low > 0:
            low, high = -high, -low
        return (mp.erfc(-high / mp.sqrt(2)) - mp.erfc(-low / mp.sqrt(2))) / 2

    low, high = sigma * a + 1 / (2 * sigma), sigma * b + 1 / (2 * sigma)
    return between(low - 1 / sigma, high - 1 / sigma), between(low, high)


def _laplace_mass(scale, a, b, open_left):
    c = 1 / scale
    p = q = mp.mpf(0)
    for atom in (-c, c):
        if (a < atom <= b) if open_left else (a <= atom < b):
            p += mp.exp((atom - c) / 2) / 2
            q += mp.exp((-atom - c) / 2) / 2
    low, high = max(a, -c), min(b, c)
    if low < high:
        share = -mp.expm1((low - high) / 2) / 2
        p += mp.exp((high - c) / 2) * share
        q += mp.exp((-low - c) / 2) * share
    return p, q


# --------------------------------------------------------------------------
# 5. Subsampled Gaussians by a contour integral
# --------------------------------------------------------------------------

# a release: noise multiplier, rate, count
GaussianRelease = tuple[float, float, int]


class _Contour:
    """K(s) = sum of count log E_P[e^(sL)], for s = sigma + i t, t = n step.

    `values` holds K at t = 0, step, 2 step, ... as far as e^K matters.
    """

    def __init__(
        self, releases: Iterable[GaussianRelease], direction: str
    ) -> None:
        self.releases = [r for r in releases if r[1] > 0 and r[2] > 0]
        self.add = direction == "add"

    def moments(self, s: np.ndarray) -> np.ndarray:
        """K at points s of equal real part, by the trapezoid rule over x.

        Over u = x/noise the integrand is a normal density times a function
        analytic for |Im u| < pi noise that oscillates with frequency below
        |Im s|/noise. The rule is wrong by the Fourier transform at the
        frequency 2 pi/spacing and above: less than about 1e-16 here.
        """
        order = -s if self.add else s + 1  # E_P[e^(sL)] = E_Q[e^(order L)]
        real, highest = float(order[0].real), float(np.abs(s.imag).max())
        total = np.zeros(s.shape, dtype=complex)
        for noise, rate, count in self.releases:
            reach = 14 + abs(real) / noise
            u = np.linspace(-reach, reach, 4001)
            size = real * _sampled_loss(u, noise, rate) - u * u / 2
            kept = u[(size > size.max() - 42) | (np.abs(u) < 9)]
            spacing = 2 * math.pi / (9 + (12 + highest) / noise)
            margin = 2 * reach / 4000
            u = np.arange(kept[0] - margin, kept[-1] + margin, spacing)
            loss = _sampled_loss(u, noise, rate)
            top = float(np.max(real * loss - u * u / 2))
            spacing /= math.sqrt(2 * math.pi)
            if top < 1:  # small losses: E[e^(order L)] - 1 keeps its digits
                excess = np.expm1(order[:, None] * loss)
                excess *= np.exp(-u * u / 2) * spacing
                total += count * np.log1p(excess.sum(axis=1))
            else:
                exponent = order[:, None] * loss - (u * u / 2 + top)
                moment = np.exp(exponent).sum(axis=1) * spacing
                moment[moment == 0] = 1e-300
                total += count * (np.log(moment) + top)
        return total

    def largest_loss(self) -> float:
        """The add direction has losses below -log(1 - rate)."""
        if not self.add or any(rate == 1 for _, rate, _ in self.releases):
            return math.inf
        return -sum(n * math.log1p(-rate) for _, rate, n in self.releases)

    def real(self, sigma: float) -> float:
        return float(self.moments(np.array([complex(sigma)]))[0].real)

    def place(self, objective) -> None:
        """Put sigma where `objective(sigma, K(sigma))` is least."""

        def value(log_sigma: float) -> float:
            sigma = math.exp(log_sigma)
            return objective(sigma, self.real(sigma))

        grid = np.linspace(math.log(1e-3), math.log(1e4), 40)
        values = [value(g) for g in grid]
        i = int(np.argmin(values))
        box = (grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)])
        found = optimize.minimize_scalar(value, bounds=box, method="bounded")
        self.sigma = math.exp(found.x)
        near = [self.real(self.sigma * r) for r in (0.99, 1.0, 1.01)]
        bend = (near[0] - 2 * near[1] + near[2]) / (0.01 * self.sigma) ** 2
        period = 14 * math.sqrt(max(bend, 0.0)) + 12 / self.sigma
        self.step = 2 * math.pi / period
        self.values = self._extend(0.0)

    def _extend(self, first: float) -> np.ndarray:
        """K at t = (first + n) step until the rest does not matter."""
        blocks: list[np.ndarray] = []
        highest = 3000 * min(noise for noise, _, _ in self.releases)
        while (start := first + 32 * len(blocks)) * self.step < highest:
            n = start + np.arange(32)
            s = self.sigma + 1j * self.step * n
            blocks.append(self.moments(s))
            size = np.exp(blocks[-1].real - blocks[0][0].real)
            tail = size * np.abs(self.sigma / s) * n
            if tail.max() < 1e-12 or size.max() < 1e-12:
                return np.concatenate(blocks)
        raise ArithmeticError("the integrand decays too slowly")

    def refine(self) -> None:
        """Half the step, keeping what is there."""
        between = self._extend(0.5)
        length = min(len(between), len(self.values))
        both = np.stack([self.values[:length], between[:length]], axis=1)
        self.values, self.step = both.ravel(), self.step / 2

    def log_delta(self, epsilon: float) -> tuple[float, float]:
        """log delta(epsilon) and its derivative."""
        s = self.sigma + 1j * self.step * np.arange(len(self.values))
        top = float(self.values[0].real) - self.sigma * epsilon
        f = np.exp(self.values - s * epsilon - top) / (s * (s + 1))
        f[0] /= 2
        value, slope = float(f.real.sum()), -float((s * f).real.sum())
        if value <= 0:
            return -math.inf, -self.sigma
        log = top + math.log(value * self.step / math.pi)
        return log, slope / value


def _sampled_loss(u: np.ndarray, noise: float, rate: float) -> np.ndarray:
    """log(1 - rate + rate p/q) at x = noise u, for shift 1."""
    loss = u / noise - 1 / (2 * noise**2)
    if rate == 1:
        return loss
    low = np.log1p(rate * np.expm1(np.minimum(loss, 30)))  # keeps small L
    high = np.logaddexp(math.log1p(-rate), math.log(rate) + loss)
    return np.where(loss < 30, low, high)


def contour_delta(
    epsilon: float,
    releases: Iterable[GaussianRelease],
    *,
    direction: str = "remove",
) -> float:
    """delta(epsilon) of Poisson-sampled Gaussians (noise, rate, count).

    delta = 1/(2 pi i) int e^(K(s) - s epsilon) / (s (s+1)) ds along Re s =
    sigma > 0 through the saddle point, by the trapezoid rule; the step is
    halved until delta changes by less than 1e-10 of itself. Relative
    accuracy is about 1e-9 at any delta. Not a proven bound. With few steps
    (about 5 at rate 0.1, more at smaller rates) the integrand decays slowly
    along the contour, and where one huge loss is likelier than many middling
    ones (rate 1e-4, far tail) it cancels: both raise ArithmeticError. One
    step has a closed form, `sampled_gaussian_delta`.
    """
    contour = _Contour(releases, direction)
    if not contour.releases:
        return max(0.0, -math.expm1(epsilon))
    if epsilon >= contour.largest_loss():
        return 0.0
    contour.place(lambda s, k: k - s * epsilon - math.log(s) - math.log1p(s))
    value = contour.log_delta(epsilon)[0]
    for _ in range(8):
        before = value
        contour.refine()
        value = contour.log_delta(epsilon)[0]
        if abs(value - before) < 1e-10:
            return math.exp(value)
    raise ArithmeticError("the contour integral does not settle")


def contour_epsilon(
    delta: float,
    releases: Iterable[GaussianRelease],
    *,
    direction: str = "remove",
) -> float:
    """epsilon(delta) of Poisson-sampled Gaussians, by `contour_delta`'s way.

    Newton's method on log delta along one contour, the one where the
    Chernoff bound on epsilon is least.
    """
    releases = list(releases)
    contour = _Contour(releases, direction)
    if not contour.releases or delta >= contour_delta(
        0.0, releases, direction=direction
    ):
        return 0.0
    goal = math.log(delta)

    def bound(s: float, k: float) -> float:
        return (k - math.log(s) - math.log1p(s) - goal) / s

    contour.place(bound)
    epsilon = bound(contour.sigma, contour.real(contour.sigma))
    before = math.inf
    for _ in range(8):
        epsilon = _newton(contour, epsilon, goal)
        slope = contour.log_delta(epsilon)[1]
        if abs((epsilon - before) * slope) < 1e-10:
            return epsilon
        before = epsilon
        contour.refine()
    raise ArithmeticError("the contour integral does not settle")


def _newton(contour: _Contour, epsilon: float, goal: float) -> float:
    for _ in range(100):
        value, slope = contour.log_delta(epsilon)
        move = max(min((goal - value) / slope, 5.0), -5.0)
        epsilon += move
        if abs(move) < 1e-13 * max(epsilon, 1e-3):
            break
    return epsilon


# --------------------------------------------------------------------------
# 6. One subsampled Gaussian, one or two subsampled Laplace releases
# --------------------------------------------------------------------------


def sampled_gaussian_delta(
    epsilon: float, noise: float, rate: float, *, direction: str = "remove"
) -> mp.mpf:
    """delta(epsilon) of one Poisson-sampled Gaussian, about 25 digits.

    max(P - alpha Q, 0) = rate max(p - alpha' q, 0) with P = (1 - rate) q +
    rate p, Q = q and alpha' = (alpha - 1 + rate)/rate.
    """
    with mp.workdps(60):
        epsilon = mp.mpf(epsilon)
        if direction == "add":
            factor = mp.exp(epsilon)
            swapped = sampled_gaussian_delta(-epsilon, noise, rate)
            return 1 - factor + factor * swapped
        inner = mp.expm1(epsilon) + rate
        if rate == 0 or inner <= 0:
            return max(mp.mpf(0), -mp.expm1(epsilon))
        low, high = gaussian_delta(mp.log(inner / rate), gaussian_mu(noise))
        return rate * (low + high) / 2


def sampled_laplace_delta(
    epsilon: float,
    releases: Sequence[tuple[float, float]],
    *,
    direction: str = "remove",
) -> mp.mpf:
    """delta(epsilon) of one or two Poisson-sampled Laplace (scale, rate).

    One: closed form as in `sampled_gaussian_delta`. Two: the mean of that
    form over the loss of the first release, the atoms as they are, and the
    density by mpmath's quadrature, cut at every kink. About 25 digits.
    """
    with mp.workdps(40):
        if direction == "add":
            factor = mp.exp(epsilon)
            swapped = sampled_laplace_delta(-mp.mpf(epsilon), releases)
            return 1 - factor + factor * swapped
        (scale, rate), *rest = releases
        if not rest:
            return _one_sampled_laplace(mp.mpf(epsilon), scale, rate)
        ((scale2, rate2),) = rest
        scale, rate = mp.mpf(scale), mp.mpf(rate)
        if rate == 0:
            return _one_sampled_laplace(mp.mpf(epsilon), scale2, rate2)

        def loss(x):
            return mp.log1p(rate * mp.expm1((2 * x - 1) / scale))

        def integrand(x):
            after = _one_sampled_laplace(epsilon - loss(x), scale2, rate2)
            q, p = mp.exp(-x / scale), mp.exp((x - 1) / scale)
            return after * ((1 - rate) * q + rate * p) / (2 * scale)

        tail = mp.exp(-1 / scale) / 2
        half = mp.mpf(1) / 2
        ends = []
        for x, q, p in ((mp.mpf(0), half, tail), (mp.mpf(1), tail, half)):
            after = _one_sampled_laplace(epsilon - loss(x), scale2, rate2)
            ends.append(after * ((1 - rate) * q + rate * p))
        kinks = [mp.mpf(0), mp.mpf(1)]
        for sign in (-1, 1):
            atom = mp.log1p(mp.mpf(rate2) * mp.expm1(sign / mp.mpf(scale2)))
            inner = 1 + mp.expm1(epsilon - atom) / rate
            if inner > 0:
                x = (scale * mp.log(inner) + 1) / 2
                if 0 < x < 1:
                    kinks.append(x)
        return ends[0] + ends[1] + mp.quad(integrand, sorted(kinks))


def _one_sampled_laplace(epsilon, scale, rate):
    inner = mp.expm1(epsilon) + rate
    if rate == 0 or inner <= 0:
        return max(mp.mpf(0), -mp.expm1(epsilon))
    return rate * laplace_delta(mp.log(inner / rate), scale)
