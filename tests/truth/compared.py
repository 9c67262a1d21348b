"""How two truths are compared."""

from fractions import Fraction

import mpmath as mp


def number(value):
    if isinstance(value, Fraction):
        return mp.mpf(value.numerator) / value.denominator
    return mp.mpf(value)


def close(value, other, digits):
    with mp.workdps(60):
        value, other = number(value), number(other)
        return abs(value - other) <= abs(other) * mp.mpf(10) ** -digits


def swapped(delta, epsilon):
    """delta of (Q, P) at epsilon from delta of (P, Q) at -epsilon."""
    with mp.workdps(60):
        factor = mp.exp(epsilon)
        return 1 - factor + factor * delta
