"""From Renyi curves to epsilon: above the truth, and rounded up."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import accountlib as al

gaussian = partial(partial, al.gaussian_rdp)  # gaussian(noise_multiplier=2)
laplace = partial(partial, al.laplace_rdp)


def test_conversions_of_one_gaussian():
    """Values of the paper inventory: exact, classic, improved."""
    for sigma, exact, classic, improved in (
        (0.1, 91.817, 97.985, 96.035),
        (1.0, 4.377, 5.299, 4.728),
    ):
        curve = gaussian(noise_multiplier=sigma)
        values = [
            al.epsilon_from_rdp(curve, delta=1e-5, conversion=rule)
            for rule in ("classic", "improved")
        ]
        assert values == pytest.approx([classic, improved], abs=6e-4)
        assert al.gaussian_epsilon(1e-5, mu=1 / sigma) == pytest.approx(
            exact, abs=6e-4
        )


@given(
    st.floats(-2, 2),
    st.floats(-200, -0.01),
    st.sampled_from(["improved", "classic"]),
)
def test_conversions_are_above_the_truth(log_sigma, log_delta, rule):
    mu, delta = 10**-log_sigma, 10**log_delta
    curve = gaussian(noise_multiplier=1 / mu)
    promised = al.epsilon_from_rdp(curve, delta=delta, conversion=rule)
    exact = max(0.0, al.gaussian_epsilon(delta, mu=mu))
    assert promised >= exact * (1 - 1e-9)
    back = al.delta_from_rdp(curve, epsilon=promised, conversion=rule)
    assert back >= al.gaussian_delta(promised, mu=mu) * (1 - 1e-8)
    assert back <= delta * (1 + 1e-6) or promised == 0


def test_ends_of_the_conversions():
    curve = laplace(scale=0.5)
    assert al.epsilon_from_rdp(curve, delta=0) == 2.0
    assert al.epsilon_from_rdp(curve, delta=1) == 0.0
    assert al.epsilon_from_rdp(gaussian(noise_multiplier=1.0), delta=0) == (
        math.inf
    )
    assert al.epsilon_from_rdp(curve, delta=1e-200) == 2.0
    assert al.delta_from_rdp(curve, epsilon=2.0) == 0.0
    assert 1 - math.exp(-1) < al.delta_from_rdp(curve, epsilon=-1.0) <= 1
    assert 0 < al.delta_from_rdp(curve, epsilon=1.9) < 1


def test_equal_laws_have_no_epsilon():
    zero = partial(al.zcdp_rdp, rho=0.0)
    for orders in (None, [2], [1.5, 8]):
        assert al.epsilon_from_rdp(zero, delta=1e-10, orders=orders) == 0
        assert al.delta_from_rdp(zero, epsilon=1e-10, orders=orders) == 0
    assert al.epsilon_from_rdp([0.0], delta=1e-9, orders=[4]) == 0
    half = al.delta_from_rdp(zero, epsilon=math.log(0.5), orders=[4])
    assert half == pytest.approx(0.5)


def test_conversions_are_rounded_up():
    rng = np.random.default_rng(5)
    for _ in range(200):
        rho = float(10 ** rng.uniform(-12, 3))
        delta = float(10 ** rng.uniform(-100, -1))
        order = 1 + float(10 ** rng.uniform(-4, 4))
        with mp.workdps(40):
            a, r = mpf(order), mpf(rho) * mpf(order)
            weight = (a - 1) * mp.log(1 - 1 / a) - mp.log(a)
            known = r + (weight - mp.log(mpf(delta))) / (a - 1)
            line = partial(al.zcdp_rdp, rho=rho)
            found = al.epsilon_from_rdp(line, delta=delta, orders=[order])
            size = r + (abs(weight) - mp.log(delta) + 1) / (a - 1)
            assert max(known, 0) <= found <= max(known, 0) + size * 1e-14
            back = al.delta_from_rdp(line, epsilon=found, orders=[order])
            exact = mp.exp((a - 1) * (r - mpf(found)) + weight)
            assert back >= min(exact, 1)


def test_a_power_that_overflows_is_small_and_not_1() -> None:
    line = partial(al.gaussian_rdp, noise_multiplier=1.0)
    assert al.delta_from_rdp(line, epsilon=1e305) == 5e-324
    listed = al.delta_from_rdp([0.5, 0.5], epsilon=100, orders=[2, 1e308])
    assert listed == 5e-324
    assert al.delta_from_rdp([0.0], epsilon=1.0, orders=[1e308]) == 0.0
