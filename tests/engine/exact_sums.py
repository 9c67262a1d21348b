"""Sums of a few losses in exact fractions."""

import itertools
from fractions import Fraction

import mpmath as mp


def exact_delta(pairs, epsilon):
    """delta of a product of lists (p, q), every outcome by itself."""
    with mp.workdps(80):
        alpha, total = mp.exp(mp.mpf(epsilon)), mp.mpf(0)
        rows = [list(zip(p, q, strict=True)) for p, q in pairs]
        for chosen in itertools.product(*rows):
            one, other = Fraction(1), Fraction(1)
            for a, b in chosen:
                one, other = one * Fraction(a), other * Fraction(b)
            one, other = (
                mp.mpf(x.numerator) / x.denominator for x in (one, other)
            )
            total += max(one - alpha * other, 0)
        return total
