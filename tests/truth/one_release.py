"""One Gaussian or Laplace release: closed forms, at adaptive precision."""

from __future__ import annotations

import math

import mpmath as mp
from scipy import special

Enclosure = tuple[mp.mpf, mp.mpf]
UNIT = 2.0**-53  # unit round-off of a double


# --------------------------------------------------------------------------
# One Gaussian or Laplace release
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
    root; in doubles first. Where it ends is not trusted: both ends are
    checked with `gaussian_delta`, and delta decreases in epsilon.
    """
    target = mp.mpf(delta)
    if gaussian_delta(0, mu)[1] <= target:
        return mp.mpf(0), mp.mpf(0)
    with mp.workdps(110):
        mu = mp.mpf(mu)
        epsilon = mu**2 / 2 + mu * mp.sqrt(2 * mp.log(1 / target))
        epsilon = _nearer(epsilon, target, mu)
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


def _nearer(epsilon: mp.mpf, target: mp.mpf, mu: mp.mpf) -> mp.mpf:
    """The same Newton steps in doubles, as long as doubles can take them."""
    found, shift, delta = float(epsilon), float(mu), float(target)
    for _ in range(60):
        a = special.log_ndtr(shift / 2 - found / shift)
        b = found + special.log_ndtr(-shift / 2 - found / shift)
        gone = math.exp(min(b - a, 0.0))  # delta = e^a (1 - gone)
        if not (delta > 0 and 1e-300 < gone < 0.999):
            return epsilon
        step = (a + math.log1p(-gone) - math.log(delta)) * (1 / gone - 1)
        found += step
        if not 0 < found < math.inf:
            return epsilon
        if abs(step) <= 1e-9 * found:
            break
    return mp.mpf(found)


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
