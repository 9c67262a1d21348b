"""Discrete pairs, composed in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import mpmath as mp
import numpy as np

from tests.truth.one_release import Enclosure


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
