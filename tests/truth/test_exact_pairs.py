"""Discrete pairs against plain enumeration."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import truth
from tests.truth.compared import close


def brute_force(pairs, alpha):
    total = Fraction(0)
    for outcome in itertools.product(
        *(zip(*pair, strict=True) for pair in pairs)
    ):
        p = math.prod(Fraction(a) for a, _ in outcome)
        q = math.prod(Fraction(b) for _, b in outcome)
        total += max(p - alpha * q, Fraction(0))
    return total


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 4),
    count=st.integers(0, 3),
    alpha=st.fractions(0, 5, max_denominator=50),
)
def test_exact_pair_against_enumeration(seed, size, count, alpha):
    rng = np.random.default_rng(seed)
    p, q = (truth.dyadic_distribution(rng, size, bits=3) for _ in range(2))
    p2, q2 = (truth.dyadic_distribution(rng, 3, bits=3) for _ in range(2))
    rate = Fraction(int(rng.integers(0, 9)), 8)
    pair, other = truth.ExactPair.of(p, q), truth.ExactPair.of(p2, q2)
    joint = truth.compose_exact(
        [(pair, count), (other.poisson(rate).reversed(), 1)]
    )
    mixed = [
        (1 - rate) * Fraction(b) + rate * Fraction(a)
        for a, b in zip(p2, q2, strict=True)
    ]
    assert joint.delta_at(alpha) == brute_force(
        [(p, q)] * count + [(q2, mixed)], alpha
    )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 6),
    delta=st.fractions(0, 1, max_denominator=1000),
)
def test_exact_epsilon_inverts_delta(seed, count, delta):
    rng = np.random.default_rng(seed)
    p, q = (truth.dyadic_distribution(rng, 3, bits=4) for _ in range(2))
    pair = truth.ExactPair.of(p, q).power(count)
    low, high = pair.epsilon(delta)
    if math.isinf(high):
        assert pair.delta_at(Fraction(10) ** 40) > delta
        return
    assert low <= high
    with mp.workdps(60):
        assert pair.delta(high + mp.mpf(10) ** -40)[0] <= delta
        if high > 0:
            assert pair.delta(low - mp.mpf(10) ** -40)[1] >= delta


def test_exact_randomized_response():
    """T answers, each true with probability 3/4: a binomial sum."""
    pair = truth.ExactPair.of([0.75, 0.25], [0.25, 0.75]).power(50)
    assert len(pair.weights) == 51 and pair.reversed() == pair
    alpha = Fraction(17, 3)
    direct = sum(
        math.comb(50, k)
        * max(3**k - alpha * 3 ** (50 - k), Fraction(0))
        / Fraction(4) ** 50
        for k in range(51)
    )
    assert pair.delta_at(alpha) == direct
    low, high = pair.delta(math.log(alpha))
    assert close(low, high, 40) and abs(low - direct) < 1e-12


def test_exact_mass_at_infinity():
    pair = truth.ExactPair.of([0.5, 0.5, 0], [0, 0.75, 0.25]).power(3)
    assert pair.weights[(1, 0)] == pair.denominator * Fraction(7, 8)
    assert pair.epsilon(Fraction(7, 8) - Fraction(1, 10**9))[1] == mp.inf
    low, high = pair.epsilon(Fraction(7, 8))
    assert low == high == 0  # the finite losses are all negative
    with pytest.raises(ValueError, match="exactly 1"):
        truth.ExactPair.of([0.1] * 10, [0.1] * 10)
