"""Many Laplace releases: finite sums, or a contour with a proven error."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
from scipy import optimize, stats

from tests.truth.one_release import UNIT, Enclosure, _enclose_root

# --------------------------------------------------------------------------
# Many Laplace releases
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
