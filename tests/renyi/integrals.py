"""Renyi curves as integrals that share no code with the package."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
from functools import cache

from mpmath import mp, mpf

import accountlib as al


def bracket(less, loss):
    """phi(bL)/b + phi(-L) with phi(x) = e^x - 1 - x."""
    own = mp.expm1(-loss) + loss
    if less == 0:
        return own
    return (mp.expm1(less * loss) - less * loss) / less + own


def divergence(less, integral):
    return mp.log1p(less * integral) / less if less else integral


@cache
def gauss_rule(size):
    """Nodes and weights of Gauss' rule with 60 digits, by Newton."""
    with mp.workdps(50):
        rule = []
        for i in range(size):
            x = mp.cos(mp.pi * (i + mpf(3) / 4) / (size + mpf(1) / 2))
            for _ in range(10):
                last, value = mpf(1), x
                for k in range(2, size + 1):
                    last, value = (
                        value,
                        ((2 * k - 1) * x * value - (k - 1) * last) / k,
                    )
                slope = size * (x * value - last) / (x * x - 1)
                x -= value / slope
            rule.append((x, 2 / ((1 - x * x) * slope**2)))
        return rule


def panels(function, low, high, count, size=20):
    half = (mpf(high) - mpf(low)) / (2 * count)
    return half * mp.fsum(
        weight * function(mpf(low) + half * (2 * i + 1 + node))
        for i in range(count)
        for node, weight in gauss_rule(size)
    )


def above(value, known, error=1e-12):
    """Not below the truth, and by how much above at most."""
    return known <= value <= known * (1 + mpf(error))


# --- random settings against 60 digits --------------------------------------


def random_step(rng):
    noise = float(10 ** rng.uniform(-0.9, 2))
    rate = float(10 ** rng.uniform(-14, 0))
    if rng.random() < 0.3:
        rate = float(rng.uniform(0.05, 0.999))
    order = 1 + float(10 ** rng.uniform(-9, 1.2))
    return noise, rate, order, bool(rng.integers(2))


# --- what must hold whatever the numbers are --------------------------------


CURVES = {
    "gaussian": al.Release(al.Gaussian(0.7), al.Poisson(0.02)),
    "laplace": al.Release(al.Laplace(0.4), al.Poisson(0.02)),
    "integers": al.Release(al.DiscreteGaussian(0.6), al.Poisson(0.1)),
    "mixture": al.Release(al.MixtureOfGaussians([1, 3], [0.75, 0.25], 2.0)),
}
