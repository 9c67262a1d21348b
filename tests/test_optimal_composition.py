"""Optimal composition of (epsilon, delta), in fractions."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import accountlib as al


@given(
    st.integers(2, 30), st.integers(1, 12), st.fractions(0, 1), st.booleans()
)
def test_optimal_composition_in_fractions(ratio, count, slack, shrink):
    """Losses are whole multiples of log(ratio): everything is rational."""
    slack = slack / 1000 if shrink else slack
    truth = Fraction(ratio, ratio + 1)
    masses = [
        math.comb(count, i) * truth ** (count - i) * (1 - truth) ** i
        for i in range(count + 1)
    ]

    def delta(bound):  # at e^epsilon = bound
        return sum(
            mass * max(0, 1 - bound / Fraction(ratio) ** (count - 2 * i))
            for i, mass in enumerate(masses)
        )

    epsilon = al.kairouz_epsilon(
        math.log(ratio), delta=0.0, count=count, slack=float(slack)
    )
    power = Fraction(math.exp(epsilon))
    error = Fraction(1, 10**9)
    assert delta(power * (1 + error)) <= slack + Fraction(1, 10**12)
    if epsilon > 0:
        assert delta(power * (1 - error)) >= slack - Fraction(1, 10**12)


@pytest.mark.parametrize(
    ("epsilon", "count", "slack"),
    [
        (4.907772578813129, 338, 1 - 2.0**-50),
        (2.0, 500, 1 - 1e-12),
        (30.0, 1, 1 - 1e-12),
        (20.0, 1, 0.9999999),
        (11.167414672978158, 125, 0.9982356788915719),
        (24.100370810506234, 83, 1.0),
        (0.01, 600, 1e-30),
        (29.552194750329672, 73, 0.8065097073436986),
        (0.5, 40, 0.4),
    ],
)
def test_optimal_composition_in_high_precision(epsilon, count, slack):
    """On the safe side, and close, also where the slack is nearly 1."""
    value = al.kairouz_epsilon(epsilon, delta=0.0, count=count, slack=slack)
    with mp.workdps(400):
        e, goal = mpf(epsilon), mpf(slack)
        truth = 1 / (1 + mp.exp(-e))
        above_p = above_q = mpf(0)
        known = mpf(0)
        for i in range(count + 1):
            level = (count - 2 * i) * e
            if above_p - mp.exp(level) * above_q > goal:
                known = max(mpf(0), mp.log((above_p - goal) / above_q))
                break
            chance = mp.binomial(count, i) * truth ** (count - i)
            above_p += chance * (1 - truth) ** i
            other = mp.binomial(count, i) * (1 - truth) ** (count - i)
            above_q += other * truth**i
        assert value >= known
        assert value <= known + mpf(10) ** -2 * (1 + known)


def test_optimal_composition_of_many_runs():
    for count, epsilon, slack in ((100, 0.1, 1e-5), (10**5, 1e-3, 1e-60)):
        best = al.kairouz_epsilon(epsilon, delta=0.0, count=count, slack=slack)
        bound = al.epsilon(
            al.Release(al.PureDP(epsilon), count=count),
            delta=slack,
            adjacency="remove",
        )
        assert bound.lower <= best <= bound.upper * (1 + 1e-9)
        revealed = al.kairouz_epsilon(
            epsilon, delta=0.5, count=count, slack=slack
        )
        assert revealed == best
    assert al.kairouz_epsilon(2.0, delta=0.1, count=3, slack=0.0) == 6.0
    assert al.kairouz_epsilon(0.0, delta=0.1, count=3, slack=0.1) == 0.0
    assert al.kairouz_epsilon(1.0, delta=0.0, count=3, slack=1.0) == 0.0
