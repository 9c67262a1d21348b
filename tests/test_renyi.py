"""Renyi curves without sampling, in high precision and in fractions."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import accountlib as al
from accountlib.renyi import (
    discrete_curve,
    discrete_gaussian_rdp,
    discrete_laplace_rdp,
    discrete_rdp,
)
from tests.integrals import close

gaussian = partial(partial, al.gaussian_rdp)  # gaussian(noise_multiplier=2)
laplace = partial(partial, al.laplace_rdp)
response = partial(partial, al.randomized_response_rdp)
ORDERS = [1 + 1e-7, 1.25, 2, 7.5, 100, 10_000]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("noise", [1e-3, 0.3, 1.0, 40.0, 1e4])
def test_laplace_in_high_precision(order, noise):
    with mp.workdps(40):
        a, x = mpf(order), 1 / mpf(noise)
        down = (a - 1) / (2 * a - 1) * mp.exp(-a * x)
        moment = a / (2 * a - 1) * mp.exp((a - 1) * x) + down
        known = mp.log(moment) / (a - 1)
    assert close(al.laplace_rdp(order, scale=noise), known)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("p", [1e-9, 0.2, 0.5 + 1e-9, 0.6, 0.999])
def test_randomized_response_in_high_precision(order, p):
    with mp.workdps(40):
        a, t = mpf(order), mpf(p)
        moment = t**a * (1 - t) ** (1 - a) + (1 - t) ** a * t ** (1 - a)
        known = mp.log(moment) / (a - 1)
        epsilon = abs(mp.log(t / (1 - t)))
    assert close(al.randomized_response_rdp(order, truth_probability=p), known)
    if p != 0.5 + 1e-9:  # the argument has lost digits there
        by_epsilon = al.pure_dp_rdp(order, epsilon=float(epsilon))
        assert close(by_epsilon, known)


@pytest.mark.parametrize(
    "curve",
    [
        gaussian(noise_multiplier=2.0),
        laplace(scale=0.7),
        response(truth_probability=0.8),
        partial(al.zcdp_rdp, rho=0.3),
        partial(al.pure_dp_rdp, epsilon=2.0),
        partial(discrete_rdp, p=[0.2, 0.5, 0.3], q=[0.4, 0.4, 0.2]),
        partial(discrete_gaussian_rdp, sigma=2.0),
        partial(discrete_laplace_rdp, scale=1.5, sensitivity=3),
        partial(al.poisson_rdp, rdp=gaussian(noise_multiplier=2.0), rate=0.1),
    ],
)
def test_curves_do_not_decrease_and_keep_shapes(curve):
    orders = np.array([1, 1.001, 1.5, 2, 3, 10, 100, 5000, np.inf])
    values = curve(orders)
    assert np.all(np.diff(values) >= -1e-15) and values[0] >= 0
    assert curve(orders.reshape(3, 3)).shape == (3, 3)
    assert isinstance(curve(2), float)
    assert curve(np.array([2.0]))[0] == curve(2)
    assert curve(1 + 1e-9) == pytest.approx(curve(1), rel=1e-6)


@pytest.mark.parametrize("sensitivity", [1, 2, 7])
@pytest.mark.parametrize("scale", [0.2, 1.0, 9.0])
@pytest.mark.parametrize("order", [1.5, 2, 30])
def test_integer_noise_against_sums(order, scale, sensitivity):
    with mp.workdps(30):
        places = range(-300, 301)
        a, k = mpf(order), sensitivity
        for curve, weight in (
            (
                discrete_laplace_rdp(order, scale=scale, sensitivity=k),
                lambda x: -abs(x) / mpf(scale),
            ),
            (
                discrete_gaussian_rdp(order, sigma=scale, sensitivity=k),
                lambda x: -(x**2) / (2 * mpf(scale) ** 2),
            ),
        ):
            total = mp.fsum(mp.exp(weight(x)) for x in places)
            moment = mp.fsum(
                mp.exp(a * weight(x - k) + (1 - a) * weight(x)) for x in places
            )
            known = mp.log(moment / total) / (a - 1)
            assert curve >= known * (1 - mpf(10) ** -12)
            if scale >= 1 or order * k == int(order * k):
                assert close(curve, known, 1e-6)


fractions = st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(
    lambda w: sum(w) > 0
)


@given(fractions, fractions, st.integers(2, 9), st.integers(0, 8))
def test_discrete_pairs_in_fractions(weights_p, weights_q, order, rate):
    size = min(len(weights_p), len(weights_q))
    p, q = weights_p[:size], weights_q[:size]
    if not sum(p) or not sum(q):
        return
    p = [Fraction(x, sum(p)) for x in p]
    q = [Fraction(x, sum(q)) for x in q]
    gamma = Fraction(rate, 8)
    mixed = [gamma * x + (1 - gamma) * y for x, y in zip(p, q, strict=True)]
    for one, other in ((p, q), (mixed, q), (q, mixed)):
        value = discrete_rdp(order, p=one, q=other)
        if any(x and not y for x, y in zip(one, other, strict=True)):
            assert value == math.inf
            continue
        moment = sum(
            x**order / y ** (order - 1)
            for x, y in zip(one, other, strict=True)
            if x
        )
        known = mp.log(mpf(moment.numerator) / moment.denominator)
        assert abs(value - known / (order - 1)) <= 1e-14 * (1 + known)


def test_tiny_rates_of_discrete_pairs_keep_their_digits():
    p, q = [0.5, 0.25, 0.25], [0.125, 0.375, 0.5]
    for add in (False, True):
        for rate in (1e-3, 1e-8, 1e-12):
            curve = discrete_curve(p, q, rate=rate, add=add)
            with mp.workdps(50):
                g = mpf(rate)
                mixed = [
                    g * x + (1 - g) * y for x, y in zip(p, q, strict=True)
                ]
                one, other = (q, mixed) if add else (mixed, q)
                terms = zip(one, other, strict=True)
                known = mp.log(mp.fsum(x**3 / mpf(y) ** 2 for x, y in terms))
                assert close(curve(3.0), known / 2, 1e-11)


def test_losses_whose_masses_underflow():
    """Atoms that P hardly has still have mass under Q."""
    for epsilon in (705.0, 720.0, 1000.0):
        values = al.pure_dp_rdp([1, 1.0001, 1.001, 2], epsilon=epsilon)
        with mp.workdps(60):
            for order, value in zip(
                (1.0001, 1.001, 2), values[1:], strict=True
            ):
                a, truth = mpf(order), 1 / (1 + mp.exp(-mpf(epsilon)))
                lie = mp.exp(-mpf(epsilon)) * truth
                moment = truth**a * lie ** (1 - a) + lie**a * truth ** (1 - a)
                assert close(value, mp.log(moment) / (a - 1))
        assert close(values[0], epsilon)
    assert discrete_laplace_rdp([1, 2], scale=1e-3).tolist() == [1000, 1000]
    many = discrete_laplace_rdp(1, scale=0.04, sensitivity=35)
    assert close(many, 875.0)
    hidden = discrete_curve([1e-30, 1 - 1e-30], [0.0, 1.0], rate=1e-300)
    assert np.all(hidden(np.array([1.0, 2.0, math.inf])) == math.inf)


def test_huge_orders_and_losses():
    assert al.laplace_rdp([1, 2, math.inf], scale=1e-305) == pytest.approx(
        [1e305] * 3
    )
    for curve in (
        laplace(scale=1.0),
        partial(al.pure_dp_rdp, epsilon=1.0),
        partial(discrete_laplace_rdp, scale=1.0),
    ):
        assert curve(1e308) == pytest.approx(1.0)
    assert al.laplace_rdp(1e308, scale=1e306) == pytest.approx(1e-306)
    assert al.pure_dp_rdp(1e10, epsilon=1e308) == 1e308
    assert al.delta_from_rdp(gaussian(noise_multiplier=1.0), epsilon=60) > 0
