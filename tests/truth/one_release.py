"""One Gaussian or Laplace release: closed forms, at adaptive precision."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
from flint import arb, ctx
from scipy import special

from tests.truth.arbs import as_mpf, ends, exact_ball

Enclosure = tuple[mp.mpf, mp.mpf]
UNIT = 2.0**-53  # unit round-off of a double


# --------------------------------------------------------------------------
# One Gaussian or Laplace release
# --------------------------------------------------------------------------


def gaussian_mu(noise_multiplier: float, count: int = 1) -> mp.mpf:
    """Shift in standard deviations: sqrt(count) / sigma, to 100 digits."""
    with mp.workdps(110):
        return mp.sqrt(count) / mp.mpf(noise_multiplier)


def _gaussian_terms(epsilon: Any, mu: Any) -> tuple[Any, Any]:
    """Both terms of delta = a - b, of balls."""
    root2 = arb(2).sqrt()
    y_p = (epsilon / mu - mu / 2) / root2
    y_q = (epsilon / mu + mu / 2) / root2
    return y_p.erfc() / 2, epsilon.exp() * y_q.erfc() / 2


def gaussian_delta(
    epsilon: float, mu: float, *, digits: int = 30
) -> Enclosure:
    """Enclosing delta(epsilon) of N(mu, 1) against N(0, 1).

    delta = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu), in ball
    arithmetic. The precision grows until what cancels leaves `digits` digits.
    """
    epsilon, mu = exact_ball(epsilon), exact_ball(mu)
    dps = 40
    while True:
        with ctx.workdps(dps):
            a, b = _gaussian_terms(epsilon, mu)
            if (a - b).rad() <= (a - b).lower() * arb(10) ** -digits:
                return ends(a - b)
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
        mu, shift = mp.mpf(mu), exact_ball(mu)
        epsilon = mu**2 / 2 + mu * mp.sqrt(2 * mp.log(1 / target))
        epsilon = _nearer(epsilon, target, mu)
        for _ in range(200):
            low, high = gaussian_delta(epsilon, mu)
            value = (low + high) / 2
            with ctx.workdps(40):
                _, slope = _gaussian_terms(exact_ball(epsilon), shift)
            step = mp.log(value / target) * value / as_mpf(slope)
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
