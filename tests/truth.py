"""The truth that the tests hold `accountlib` against.

Nothing here imports `accountlib`. Each part uses another method than the
package (closed forms with mpmath, exact fractions, contour integrals), and
says how far off it can be:

* `gaussian_*`, `laplace_delta`   closed forms, at adaptive precision
* `laplace_composition_*`         T Laplace releases, exact or by a contour
* `ExactPair`                     discrete pairs, composed in whole numbers
* `masses`                        interval masses to 40 digits
* `contour_*`                     subsampled Gaussians, by two contours
* `sampled_*_delta`               closed forms and quadrature, few releases

A function described as *enclosing* returns `(low, high)` around the truth;
its docstring says why. P is the output distribution with the record, Q the
one without; "remove" compares P with Q, "add" compares Q with P. Floats that
come in are taken as the exact binary fractions that they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

import mpmath as mp
import numpy as np
from scipy import optimize, special, stats

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
#
# With K(s) = sum of count log E_P[e^(sL)], on any line Re s = sigma > 0,
#     delta = 1/(2 pi i) int e^(K(s) - s epsilon) / (s (s+1)) ds.   (contour)
# Every number comes with an error, the sum of what can go wrong; two lines
# must agree within it. Where it is too large: ArithmeticError. This is no
# proven bound: the parts "window" and "rounding" are estimates.
#
# Aliases. By Poisson's formula the trapezoid sum with step h is the sum over
# whole m of e^(sigma A m) delta(epsilon + A m), A = 2 pi/h. For m < 0, delta
# <= 1; for m > 0, Chernoff's bound. A makes both smaller than ALIAS.
#
# Window. The sum is not cut but faded out, by erfc. That replaces g(x) =
# e^(sigma x) delta(x) by a local mean around epsilon, as good as exact where
# g is smooth there, whatever it does elsewhere. The difference to a shorter
# window is taken as the error.
#
# Rounding. Errors of K and of the sum, relative to what is left after
# cancellation.
# --------------------------------------------------------------------------

# a release: noise multiplier, rate, count
GaussianRelease = tuple[float, float, int]
CONTOUR_ERROR = 1e-7  # the largest error that is let through, relative
ALIAS = 1e-13  # relative to delta, on either side
SETTLED = 1e-11  # a smaller error is not worth more work
FADE = 0.6  # the shorter window, as a part of the longer one
BELOW = 45.0  # what is e^-45 of the largest is left out
ROW = 64  # powers of one step that are multiplied with others
ROWS = 16  # the most rows of them at a time
MOST_WORK = 4e7  # complex products on one line; four times that on all
MOST_POINTS = 200_000  # of a moment
LOOSEST = 1e-5  # the largest error of log delta that a line is used with
LINES = (1.0, 0.95, 0.88, 0.8, 1.05, 0.65)  # sigma, of the best one
ORDERS = (1e-4, 1e10)  # where the best sigma is looked for


# value and slope on one line, and the error of log delta
Found = tuple[float, float, float]


class _Hump:
    """Where e^(order L(u)) times a normal density matters, u = x/noise.

    g(u) = order L(u) - u^2/2 has g' = order w(u)/noise - u with a sigmoid w
    from 0 to 1: one maximum if order < 4 noise^2, else one or two.
    """

    def __init__(self, order: float, noise: float, rate: float) -> None:
        self.order, self.noise, self.rate = order, noise, rate
        self.odds = math.inf
        if rate < 1:
            self.odds = math.log(rate) - math.log1p(-rate)
        self.turns = (0.0, 0.0)  # between them, g is convex
        peaks = self.peaks()
        if max(abs(u) for u in peaks) > 1e6:
            raise ArithmeticError("no digits are left at this order")
        self.top = max(self.height(u) for u in peaks)
        self.pieces = self.around(peaks)

    def weight(self, u: float) -> float:
        """w(u): how likely the record was sampled, given u."""
        if self.rate == 1:
            return 1.0
        x = u / self.noise - 1 / (2 * self.noise**2) + self.odds
        return 1 / (1 + math.exp(-x)) if x > -700 else 0.0

    def height(self, u: float) -> float:
        loss = u / self.noise - 1 / (2 * self.noise**2)
        if self.rate < 1 and loss < 30:
            loss = math.log1p(self.rate * math.expm1(loss))
        elif self.rate < 1:
            loss += math.log(self.rate) + math.log1p(
                math.exp(-loss - self.odds)
            )
        return self.order * loss - u * u / 2

    def slope(self, u: float) -> float:
        return self.order * self.weight(u) / self.noise - u

    def peaks(self) -> list[float]:
        """All local maxima of g, from left to right."""
        far = self.order / self.noise
        bent = 1 - 4 * self.noise**2 / self.order if self.order > 0 else 0.0
        if self.rate == 1:
            return [far]
        if bent <= 0:  # g is concave
            ends = (min(far, 0.0) - 1, max(far, 0.0) + 1)
            return [float(optimize.brentq(self.slope, *ends))]
        # w (1 - w) = noise^2/order at both turning points of g'
        other = 2 * self.noise**2 / self.order / (1 + math.sqrt(bent))
        turn = math.log(other) - math.log1p(-other)
        middle = 1 / (2 * self.noise) - self.noise * self.odds
        left, right = middle + self.noise * turn, middle - self.noise * turn
        self.turns = (left, right)
        found = []
        if self.slope(left) < 0:
            found.append(float(optimize.brentq(self.slope, -1.0, left)))
        if self.slope(right) > 0:
            ends = (right, max(far, right) + 1)
            found.append(float(optimize.brentq(self.slope, *ends)))
        return found or [left]

    def around(self, peaks: list[float]) -> list[tuple[float, float]]:
        """Intervals outside of which g is BELOW under its maximum."""
        far = self.order / self.noise

        def above(u: float) -> float:
            return self.height(u) - self.top + BELOW

        def edge(inside: float, outside: float) -> float:
            return float(optimize.brentq(above, inside, outside, xtol=1e-3))

        reach = [math.sqrt(u * u + 2 * BELOW + 9) for u in peaks]
        walls = [min(far - 11, -reach[0]), max(far + 11, reach[-1])]
        if len(peaks) == 2:
            valley = float(optimize.brentq(self.slope, *self.turns))
            if above(valley) < 0:
                walls.insert(1, valley)
                return [
                    (edge(u, walls[i]), edge(u, walls[i + 1]))
                    for i, u in enumerate(peaks)
                    if above(u) > 0
                ]
        return [(edge(peaks[0], walls[0]), edge(peaks[-1], walls[1]))]


def _nodes(
    order: float, highest: float, noise: float, rate: float
) -> tuple[np.ndarray, float, float]:
    """Points u and weight of a trapezoid rule, and the largest exponent.

    For E_Q[e^((order + i t) L)], |t| <= `highest`, Q standard normal. The
    integrand is analytic for |Im u| < pi noise; its frequencies reach up to
    highest/noise, and 9 standard deviations more. A negative order narrows
    it: by 1 + |order| w (1 - w)/noise^2.
    """
    hump = _Hump(order, noise, rate)
    pieces = hump.pieces
    if hump.top < 1:  # E[...] - 1 also needs the bulk of Q
        pieces = _joined([(-9.7, 9.7), *pieces])
    share = min(hump.weight(pieces[-1][1]), 0.5)
    narrow = math.sqrt(1 + 4 * max(-order, 0.0) * share / noise**2)
    spacing = 2 * math.pi / (9.7 * narrow + (20 + highest) / noise)
    if sum(b - a for a, b in pieces) > MOST_POINTS * spacing:
        raise ArithmeticError("the moments need too many points")
    u = np.concatenate(
        [a + spacing * np.arange((b - a) // spacing + 2) for a, b in pieces]
    )
    return u, spacing / math.sqrt(2 * math.pi), hump.top


def _joined(pieces: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The same set as disjoint intervals, from left to right."""
    result: list[tuple[float, float]] = []
    for a, b in sorted(pieces):
        if result and a <= result[-1][1]:
            a, before = result.pop()
            b = max(b, before)
        result.append((a, b))
    return result


def _log1p(z: np.ndarray) -> np.ndarray:
    """log(1 + z) that keeps the digits of a small real part."""
    x, y = z.real, z.imag
    norm = np.maximum(x * (2 + x) + y * y, UNIT - 1)
    return 0.5 * np.log1p(norm) + 1j * np.arctan2(y, 1 + x)


def _log_chernoff(s: float) -> float:
    """log c with (1 - e^-x)_+ <= c e^(s x), so delta <= c e^(K(s) - s eps)."""
    return -math.log1p(s) - s * math.log1p(1 / s)


class _Contour:
    """K(s), the direction, and where to put the line."""

    def __init__(
        self, releases: Iterable[GaussianRelease], direction: str
    ) -> None:
        self.releases = [r for r in releases if r[1] > 0 and r[2] > 0]
        self.add = direction == "add"
        self.work = 0.0

    def moments(
        self, sigma: float, step: float, start: int, rows: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """K and its error at s = sigma + i step n, ROW * rows of them.

        e^(i t L) is a product of one of `rows` and one of ROW powers.
        """
        order = -sigma if self.add else sigma + 1.0  # of e^L under Q
        turn = -1j * step if self.add else 1j * step
        first = turn * (start + ROW * np.arange(rows))[:, None]
        second = turn * np.arange(ROW if rows > 1 or start else 1)[:, None]
        highest = abs(turn) * (start + rows * len(second))
        shape = (rows, len(second))
        total, error = np.zeros(shape, dtype=complex), np.zeros(shape)
        t = np.abs(first + second.T)
        for noise, rate, count in self.releases:
            u, weight, top = _nodes(order, highest, noise, rate)
            self.work += len(u) * rows * len(second)
            loss = _sampled_loss(u, noise, rate)
            if top < 1:  # small losses: E[e^(order L)] - 1 keeps its digits
                w = np.exp(-u * u / 2) * weight
                power = (order + first) * loss
                large = order * loss > 50  # and w may be below e^-745
                one = np.expm1(np.where(large, 0, power)) * w
                exponent = power - u * u / 2 + math.log(weight)
                one = np.where(large, np.exp(exponent), one)
                two = np.expm1(second * loss)
                excess = one.sum(axis=1)[:, None] + two @ w + one @ two.T
                log = _log1p(excess)
                off = np.abs(one[0]).sum()
                off = off + t * (np.abs(loss) @ w)
                off /= np.maximum(np.abs(1 + excess), 1e-300)
            else:
                one = np.exp((order + first) * loss - (u * u / 2 + top))
                moment = weight * (one @ np.exp(second * loss).T)
                moment[moment == 0] = 1e-300
                log = np.log(moment) + top
                real = np.exp(order * loss - (u * u / 2 + top)) * weight
                off = 4 + t * (np.abs(loss) @ real) / real.sum()
                off = off * real.sum() / np.abs(moment) + abs(top)
            total += count * log
            error += count * 2 * UNIT * off
        return total.ravel(), error.ravel()

    def largest_loss(self) -> float:
        """The add direction has losses below -log(1 - rate)."""
        if not self.add or any(rate == 1 for _, rate, _ in self.releases):
            return math.inf
        return -sum(n * math.log1p(-rate) for _, rate, n in self.releases)

    def real(self, sigma: float) -> float:
        return float(self.moments(sigma, 0.0, 0, 1)[0][0].real)

    def best(self, objective: Callable[[float, float], float]) -> float:
        """The sigma where `objective(sigma, K(sigma))` is least.

        It must be convex in sigma, or a convex one divided by sigma: then
        there is one local minimum.
        """

        def value(log_sigma: float) -> float:
            sigma = math.exp(log_sigma)
            try:
                return objective(sigma, self.real(sigma))
            except ArithmeticError:
                return math.inf

        ends = [math.log(end) for end in ORDERS]
        part = (math.sqrt(5) - 1) / 2  # golden section: infinities are legal
        low, high = ends
        left, right = high - part * (high - low), low + part * (high - low)
        at_left, at_right = value(left), value(right)
        while high - low > 0.01:
            if at_left <= at_right:
                high, right, at_right = right, left, at_left
                left = high - part * (high - low)
                at_left = value(left)
            else:
                low, left, at_left = left, right, at_right
                right = low + part * (high - low)
                at_right = value(right)
        if low == ends[0] or high == ends[1]:
            raise ArithmeticError("no saddle point between 1e-4 and 1e10")
        return math.exp((low + high) / 2)

    def saddle(self, epsilon: float) -> float:
        """The sigma where the integrand is least on the real line."""
        return self.best(
            lambda s, k: k - s * epsilon - math.log(s) - math.log1p(s)
        )

    def period(self, sigma: float, epsilon: float, log_delta: float) -> float:
        """A such that all aliases together are below ALIAS delta."""
        goal = math.log(ALIAS) - 1
        down = (-log_delta - goal) / sigma
        up = self.largest_loss() - epsilon
        for part in (1.1, 1.2, 1.5, 2, 3, 5, 10, 30):
            more = part * sigma
            rest = self.real(more) + _log_chernoff(more)
            rest -= more * epsilon + log_delta + goal
            up = min(up, max(rest, 0.0) / (more - sigma))
        return max(down, up)


class _Line:
    """The values of K on one line, as far as they are needed."""

    def __init__(self, contour: _Contour, sigma: float, period: float) -> None:
        self.contour, self.sigma, self.period = contour, sigma, period
        self.rounding = 0.0  # of the last answer
        self.most = min(contour.work + MOST_WORK, 4 * MOST_WORK)
        self.step = 2 * math.pi / period
        self.values, self.errors = contour.moments(sigma, self.step, 0, 4)

    def extend(self) -> None:
        """Twice as many values."""
        length = len(self.values)
        rows = min(length // ROW, ROWS)
        self.contour.work += 200 * length  # for reading off
        if self.contour.work > self.most:
            raise ArithmeticError("the contour integral does not settle")
        parts = [
            self.contour.moments(self.sigma, self.step, start, rows)
            for start in range(length, 2 * length, rows * ROW)
        ]
        self.values = np.concatenate([self.values, *(p[0] for p in parts)])
        self.errors = np.concatenate([self.errors, *(p[1] for p in parts)])

    def log_delta(self, epsilon: float) -> Found:
        """log delta(epsilon), its derivative, and its error."""
        n = np.arange(len(self.values))
        s = self.sigma + 1j * self.step * n
        top = float(self.values[0].real) - self.sigma * epsilon
        f = np.exp(self.values - s * epsilon - top) / (s * (s + 1))
        f[0] /= 2
        windows = [
            special.erfc(12 * n / (part * len(n)) - 6.5) / 2
            for part in (1.0, FADE)
        ]
        value, other = (float(f.real @ window) for window in windows)
        if value <= 0:
            return -math.inf, -self.sigma, math.inf
        slope = -float((s * f).real @ windows[0]) / value
        off = self.errors + UNIT * (8 + np.abs(s * epsilon) + abs(top))
        self.rounding = float(np.abs(f) @ off) / value + SETTLED / 2
        log = top + math.log(value * self.step / math.pi)
        return log, slope, abs(value - other) / value + self.rounding

    def epsilon(self, high: float, goal: float) -> Found:
        """epsilon with log delta = goal, the slope there, and log's error.

        Newton's method, and bisection of [0, high] where it leads astray:
        far right of the root the sum is noise. What is missing to the goal
        counts as an error.
        """
        low, epsilon = 0.0, high
        slope, error = -self.sigma, math.inf
        for _ in range(60):
            value, slope, error = self.log_delta(epsilon)
            low, high = (low, epsilon) if value < goal else (epsilon, high)
            move = (goal - value) / slope if slope else math.inf
            if abs(move) <= max(1e-12 / abs(slope), 8 * UNIT * epsilon):
                break
            epsilon += move
            if not low < epsilon < high:
                epsilon = (low + high) / 2
        return epsilon, slope, error + abs(value - goal)

    def settle(self, read: Callable[[], Found]) -> Found:
        """What `read` gives, once only rounding is left of its error."""
        result, before = read(), math.inf
        while (error := result[2]) > max(SETTLED, 1.5 * self.rounding):
            if 1e-10 > error > before / 4:
                break
            self.extend()
            result, before = read(), error
        return result


def _two_lines(
    sigma: float, find: Callable[[float], Found]
) -> tuple[Found, Found]:
    """The first two lines that give a number."""
    found = []
    reason = ArithmeticError("no line")
    for part in LINES:
        try:
            found.append(find(part * sigma))
        except ArithmeticError as failure:
            reason = failure
            continue
        if found[-1][2] > LOOSEST:
            found.pop()
        if len(found) == 2:
            return found[0], found[1]
    raise ArithmeticError(f"the contour integral does not settle: {reason}")


def _agreed(values: list[float], errors: list[float]) -> tuple[float, float]:
    """An interval around both values, if they agree within their errors."""
    slack = sum(errors)
    if not abs(values[0] - values[1]) <= slack:
        raise ArithmeticError(f"two contours disagree: {values}, {errors}")
    return min(values) - slack, max(values) + slack


def contour_delta_range(
    epsilon: float,
    releases: Iterable[GaussianRelease],
    *,
    direction: str = "remove",
) -> tuple[float, float]:
    """delta(epsilon) of Poisson-sampled Gaussians (noise, rate, count).

    The integral (contour) by the trapezoid rule through the saddle point,
    and on a second line. Usually 1e-10 wide, 1e-4 at most; no proven bound.
    """
    contour = _Contour(releases, direction)
    if not contour.releases:
        return (max(0.0, -math.expm1(epsilon)),) * 2
    if epsilon >= contour.largest_loss():
        return 0.0, 0.0

    def find(s: float) -> Found:
        log = contour.real(s) + _log_chernoff(s) - s * epsilon - 8
        for _ in range(5):
            line = _Line(contour, s, contour.period(s, epsilon, log))
            found = line.settle(partial(line.log_delta, epsilon))
            log = found[0]
            if contour.period(s, epsilon, log) <= line.period:
                return found
            log -= 1
        raise ArithmeticError("the step of the contour does not settle")

    found = _two_lines(contour.saddle(epsilon), find)
    low, high = _agreed([f[0] for f in found], [f[2] for f in found])
    if low < -700:
        raise ArithmeticError(f"delta is below e^{high}")
    return math.exp(low) * (1 - 1e-13), math.exp(high) * (1 + 1e-13)


def contour_epsilon_range(
    delta: float,
    releases: Iterable[GaussianRelease],
    *,
    direction: str = "remove",
) -> tuple[float, float]:
    """epsilon(delta) of Poisson-sampled Gaussians, by the same integral.

    Newton's method on log delta along lines near the one where the Chernoff
    bound on epsilon is least.
    """
    releases = list(releases)
    contour = _Contour(releases, direction)
    most = sum(
        count * rate * math.erf(math.sqrt(0.125) / noise)
        for noise, rate, count in contour.releases
    )
    if most <= delta * (1 - 1e-12):  # delta(0), summed over the releases
        return 0.0, 0.0
    try:
        low, high = _contour_epsilon(contour, math.log(delta))
    except ArithmeticError:
        if delta < 1e-4 * most:  # surely not above delta(0)
            raise
        low = high = -math.inf
    if low > 0:
        return low, high
    if contour_delta_range(0.0, releases, direction=direction)[1] <= delta:
        return 0.0, 0.0
    if high < 0:
        raise ArithmeticError("the contour integral does not settle")
    return 0.0, high


def _contour_epsilon(contour: _Contour, goal: float) -> tuple[float, float]:
    def bound(s: float, k: float) -> float:
        return (k + _log_chernoff(s) - goal) / s

    sigma = contour.best(bound)
    start = min(bound(sigma, contour.real(sigma)), contour.largest_loss())

    def find(s: float) -> Found:
        low = start - 8 / s
        for _ in range(5):
            line = _Line(contour, s, contour.period(s, low, goal))
            found = line.settle(partial(line.epsilon, start, goal))
            low = found[0]
            if contour.period(s, low, goal) <= line.period:
                return found
            low -= 1 / s
        raise ArithmeticError("the step of the contour does not settle")

    with suppress(ArithmeticError):  # else, the least bound has to do
        rough, _, error = find(sigma)
        if error < 1:
            sigma = contour.saddle(rough)
    found = _two_lines(sigma, find)
    return _agreed([f[0] for f in found], [f[2] / -f[1] for f in found])


def _middle(ends: tuple[float, float]) -> float:
    """The middle of an interval that is narrow enough to be one number."""
    low, high = ends
    if high - low > 2 * CONTOUR_ERROR * high:
        raise ArithmeticError(f"known too roughly: between {low} and {high}")
    return (low + high) / 2


def contour_delta(
    epsilon: float,
    releases: Iterable[GaussianRelease],
    *,
    direction: str = "remove",
) -> float:
    """`contour_delta_range` as one number, off by CONTOUR_ERROR of itself.

    Usually by 1e-10. ArithmeticError where that is not reached.
    """
    return _middle(contour_delta_range(epsilon, releases, direction=direction))


def contour_epsilon(
    delta: float,
    releases: Iterable[GaussianRelease],
    *,
    direction: str = "remove",
) -> float:
    """`contour_epsilon_range` as one number, off by CONTOUR_ERROR of itself.

    ArithmeticError where that is not reached; so where epsilon is nearly 0.
    """
    return _middle(contour_epsilon_range(delta, releases, direction=direction))


def _sampled_loss(u: np.ndarray, noise: float, rate: float) -> np.ndarray:
    """log(1 - rate + rate p/q) at x = noise u, for shift 1."""
    loss = u / noise - 1 / (2 * noise**2)
    if rate == 1:
        return loss
    low = np.log1p(rate * np.expm1(np.minimum(loss, 30)))  # keeps small L
    high = np.logaddexp(math.log1p(-rate), math.log(rate) + loss)
    return np.where(loss < 30, low, high)


# --------------------------------------------------------------------------
# 6. One subsampled Gaussian, one or two subsampled Laplace releases
# --------------------------------------------------------------------------


def sampled_gaussian_delta(
    epsilon: float, noise: float, rate: float, *, direction: str = "remove"
) -> mp.mpf:
    """delta(epsilon) of one Poisson-sampled Gaussian, about 25 digits.

    max(P - alpha Q, 0) = rate max(p - alpha' q, 0) with P = (1 - rate) q +
    rate p, Q = q and alpha' = (alpha - 1 + rate)/rate. And max(Q - alpha P,
    0) = factor max(q - alpha' p, 0) with factor = 1 - alpha (1 - rate) and
    alpha' = alpha rate/factor.
    """
    with mp.workdps(60):
        epsilon = mp.mpf(epsilon)
        factor = mp.mpf(rate)
        inner = (mp.expm1(epsilon) + factor) / factor if rate else mp.mpf(0)
        if direction == "add":
            factor = rate * mp.exp(epsilon) - mp.expm1(epsilon)
            if factor <= 0:
                return mp.mpf(0)
            inner = rate * mp.exp(epsilon) / factor
        if rate == 0 or inner <= 0:
            return max(mp.mpf(0), -mp.expm1(epsilon))
        low, high = gaussian_delta(mp.log(inner), gaussian_mu(noise))
        return factor * (low + high) / 2


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
