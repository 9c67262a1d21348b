"""Renyi curves as integrals that share no code with the package.

In ball arithmetic: rounding cannot go unseen.
"""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
from functools import cache

from flint import arb, ctx
from mpmath import mp, mpf
from mpmath.libmp import from_man_exp

import accountlib as al

DIGITS = 90  # two thirds are lost where losses are tiny


def bracket(less, loss):
    """phi(bL)/b + phi(-L) with phi(x) = e^x - 1 - x."""
    own = (-loss).expm1() + loss
    if less == 0:
        return own
    return ((less * loss).expm1() - less * loss) / less + own


def divergence(less, integral):
    found = (less * integral).log1p() / less if less != 0 else integral
    assert found.rel_accuracy_bits() > 60
    man, exp = found.mid().man_exp()  # every bit of the middle
    return mp.make_mpf(from_man_exp(int(man), int(exp)))


@cache
def gauss_rule(size):
    """Nodes and weights of Gauss' rule."""
    with ctx.workdps(DIGITS):
        return [arb.legendre_p_root(size, k, True) for k in range(size)]


def panels(function, low, high, count, size=20):
    half = (arb(high) - arb(low)) / (2 * count)
    total = arb(0)
    for i in range(count):
        for node, weight in gauss_rule(size):
            at = arb(low) + half * (2 * i + 1 + node)
            total += weight * function(at)
    return half * total


def close(value, known, tolerance=1e-12):
    return abs(value / known - 1) <= tolerance


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
