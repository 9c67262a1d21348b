# accountlib 0.1.0, from notebooks/beyond/short_files.md
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0
"""Delta, epsilon and noise of the Gaussian mechanism, never on the wrong side.

A value that one record changes by at most `sensitivity` gets normal noise of
standard deviation `sigma`. All answers are upper bounds of the exact ones, a
relative 1e-7 above them at most where sigma < 100 sensitivity, for delta down
to 1e-200. They hold for the neighbours that `sensitivity` speaks of.

>>> print(f"{sigma(1.0, 1e-5):.9f} {epsilon(1e-5, 3.730631635):.9f}")
3.730631635 1.000000000

Balle and Wang (2018), Theorem 8. Not proven: that erfcx, ndtr and exp of scipy
and the machine are good to 16 units in the last place. Needs scipy.
"""

import math

from scipy.special import erfcx, ndtr

UNIT = 2.0**-53  # unit round-off


def check(name, value, low, high):
    if not (isinstance(value, int | float) and low <= value <= high):
        text = f"{name} = {value!r} is no int or float in [{low}, {high}]"
        raise ValueError(text)


def distance(sigma, sensitivity):
    check("sensitivity", sensitivity, 1e-100, 1e100)
    check("sigma", sigma, 0.01 * sensitivity, 1e6 * sensitivity)
    return sensitivity / sigma * (1 + 4 * UNIT)


def profile(epsilon, mu):
    """delta of N(mu, 1) against N(0, 1), rounded up."""
    a = epsilon / mu - mu / 2
    density = math.exp(-a * a / 2) / 2  # times erfcx: a normal tail
    beyond = density * erfcx((a + mu) / math.sqrt(2))
    first = density * erfcx(a / math.sqrt(2)) if a > 0 else ndtr(-a)
    size = abs(a) + 2
    wrong = UNIT * (64 + 8 * size * (epsilon / mu + mu + size))
    error = wrong * (first if a > 0 else density + beyond) + 32 * UNIT * first
    return min(1.0, float(first - beyond + error) + 1e-300)


def smallest(enough, low, high):
    """The smallest float that a bisection finds to be enough, or infinity."""
    if not enough(high):
        return math.inf
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def delta(epsilon, sigma, sensitivity=1.0):
    """The least delta at this epsilon (0 to 1000), from above."""
    check("epsilon", epsilon, 0, 1000)
    return profile(epsilon, distance(sigma, sensitivity))


def epsilon(delta, sigma, sensitivity=1.0):
    """The least epsilon at this delta, from above; inf if it is above 1000."""
    check("delta", delta, 1e-200, 1)
    mu = distance(sigma, sensitivity)
    if profile(0.0, mu) <= delta:
        return 0.0
    return smallest(lambda x: profile(x, mu) <= delta, 0.0, 1000.0)


def sigma(epsilon, delta, sensitivity=1.0):
    """The least noise for this epsilon and delta, from above.

    At least 0.01 sensitivity; inf: more than 1e6 sensitivity.
    """
    check("epsilon", epsilon, 0, 1000)
    check("delta", delta, 1e-200, 1)
    check("sensitivity", sensitivity, 1e-100, 1e100)
    low, high = 0.01 * sensitivity, 1e6 * sensitivity

    def enough(noise):
        return profile(epsilon, distance(noise, sensitivity)) <= delta

    return smallest(enough, low, high)


if __name__ == "__main__":
    import doctest

    print(doctest.testmod())
