"""Renyi curves and conversions, in high precision."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import accountlib as al

gaussian = partial(partial, al.gaussian_rdp)  # gaussian(noise_multiplier=2)
laplace = partial(partial, al.laplace_rdp)
response = partial(partial, al.randomized_response_rdp)
orders = st.floats(-6, 4).map(lambda x: min(1 + 10**x, 1e4))


@given(orders, st.floats(math.log10(0.005), 6))
def test_laplace_is_rounded_up(order, log_scale):
    scale = min(max(10**log_scale, 0.005), 1e6)
    with mp.workdps(60):
        a, u = mpf(order), 1 / mpf(scale)
        down = (a - 1) / (2 * a - 1) * mp.exp(-a * u)
        moment = a / (2 * a - 1) * mp.exp((a - 1) * u) + down
        known = mp.log(moment) / (a - 1)
    error = 1e-13 + 2e-14 * scale  # first orders cancel
    value = al.laplace_rdp(order, scale=scale)
    assert known <= value <= known * (1 + error)


@given(
    orders,
    st.floats(0, 1)
    | st.floats(-12, -1).map(lambda x: 0.5 + 10**x)
    | st.floats(-300, -1).map(lambda x: 10**x),
)
def test_randomized_response_is_rounded_up(order, truth):
    value = al.randomized_response_rdp(order, truth_probability=truth)
    if truth in (0, 1):
        assert value == math.inf
    elif truth == 0.5:
        assert value <= 1e-300
    else:
        with mp.workdps(60):
            a, t = mpf(order), mpf(truth)
            moment = t**a * (1 - t) ** (1 - a) + (1 - t) ** a * t ** (1 - a)
            known = mp.log(moment) / (a - 1)
            error = 1e-13 + 2e-14 / abs(mp.log(t / (1 - t)))
            assert known <= value <= known * (1 + error)


@pytest.mark.parametrize(
    "curve",
    [
        gaussian(noise_multiplier=2.0),
        laplace(scale=0.7),
        response(truth_probability=0.8),
        al.rdp_curve(al.Release(al.PureDP(2.0)), adjacency="remove"),
        al.rdp_curve(
            al.Release(al.RandomizedResponse(0.9), al.Poisson(0.1), 7),
            adjacency="add",
        ),
    ],
)
def test_curves_do_not_decrease_and_keep_shapes(curve):
    at = np.array([1.001, 1.01, 1.5, 2, 3, 10, 100, 5000, math.inf])
    values = curve(at)
    assert np.all(np.diff(values) >= -1e-12) and values[0] > 0
    scaled = np.diff((at[:-1] - 1) * values[:-1]) / np.diff(at[:-1])
    assert np.all(np.diff(scaled) >= -1e-12)  # convex
    assert curve(at.reshape(3, 3)).shape == (3, 3)
    assert isinstance(curve(2), float)
    assert curve(np.array([2.0]))[0] == curve(2)


weights = st.lists(st.integers(0, 9), min_size=1, max_size=5)
rates = st.sampled_from([2.0**-k for k in range(30)])


@given(weights, weights, st.integers(2, 9), rates)
def test_lists_in_fractions(weights_p, weights_q, order, rate):
    """Sampled lists in both directions: rounded up, with their digits."""
    size = min(len(weights_p), len(weights_q))
    p, q = ([*w[:size], 64 - sum(w[:size])] for w in (weights_p, weights_q))
    p, q = ([Fraction(x, 64) for x in w] for w in (p, q))
    pair = al.DiscretePair(list(map(float, p)), list(map(float, q)))
    gamma = Fraction(rate)
    mixed = [gamma * x + (1 - gamma) * y for x, y in zip(p, q, strict=True)]
    run = al.Release(pair, al.Poisson(rate))
    for side, one, other in (("remove", mixed, q), ("add", q, mixed)):
        value = al.rdp_curve(run, adjacency=side)(order)
        both = list(zip(one, other, strict=True))
        if any(x and not y for x, y in both):
            assert value == math.inf
            continue
        moment = sum(x**order / y ** (order - 1) for x, y in both if x)
        with mp.workdps(60):
            known = mp.log(mpf(moment.numerator) / moment.denominator)
        known = known / (order - 1)
        assert known <= value <= known + 1e-13 * (rate + known / rate)


def test_ends_of_the_conversions():
    curve = laplace(scale=0.5)
    assert al.epsilon_from_rdp(curve, delta=0) == 2.0
    assert al.epsilon_from_rdp(curve, delta=1) == 0.0
    line = gaussian(noise_multiplier=1.0)
    assert al.epsilon_from_rdp(line, delta=0) == math.inf
    assert al.epsilon_from_rdp(curve, delta=1e-200) == 2.0
    assert al.delta_from_rdp(curve, epsilon=2.0) == 0.0
    assert 1 - math.exp(-1) < al.delta_from_rdp(curve, epsilon=-1.0) <= 1
    assert 0 < al.delta_from_rdp(curve, epsilon=1.9) < 1
    assert 0 < al.delta_from_rdp(line, epsilon=1000) < 1e-200


def test_conversions_are_rounded_up():
    rng = np.random.default_rng(5)
    for _ in range(200):
        rho = float(10 ** rng.uniform(-12, 3))
        delta = float(10 ** rng.uniform(-100, -1))
        order = 1 + float(10 ** rng.uniform(-4, 3.9))
        with mp.workdps(40):
            a, r = mpf(order), mpf(rho) * mpf(order)
            weight = (a - 1) * mp.log(1 - 1 / a) - mp.log(a)
            known = r + (weight - mp.log(mpf(delta))) / (a - 1)
            found = al.epsilon_from_rdp(
                lambda a, x=rho: x * a, delta=delta, orders=[order]
            )
            size = r + (abs(weight) - mp.log(delta) + 1) / (a - 1)
            assert max(known, 0) <= found <= max(known, 0) + size * 1e-14
            if found < 1000:
                back = al.delta_from_rdp(
                    lambda a, x=rho: x * a, epsilon=found, orders=[order]
                )
                exact = mp.exp((a - 1) * (r - mpf(found)) + weight)
                assert back >= min(exact, 1)


def test_searches_find_what_all_orders_give():
    """Whole orders where the curve refuses others, real ones elsewhere."""
    step = partial(
        al.poisson_rdp, rdp=lambda a: a / 2, rate=0.01, bound="tight"
    )
    every = np.arange(2.0, 200)
    values = step(every)
    for count in (1, 100, 2000, 10**6):
        ask = {"delta": 1e-6}
        known = al.epsilon_from_rdp(count * values, orders=every, **ask)
        found = al.epsilon_from_rdp(lambda a, n=count: n * step(a), **ask)
        assert found == known
    every = 1 + np.geomspace(1e-4, 9999, 10**6)
    known = al.epsilon_from_rdp(50 * every, delta=1e-5, orders=every)
    found = al.epsilon_from_rdp(lambda a: 50 * a, delta=1e-5)
    assert found == pytest.approx(known, rel=1e-8)


def test_a_function_of_one_number_is_a_curve():
    def line(order):
        return math.exp(math.log(order / 2))

    found = al.epsilon_from_rdp(line, delta=1e-5)
    assert found == pytest.approx(4.7284, abs=1e-4)
    step = al.poisson_rdp([2, 3], rdp=line, rate=0.1)
    known = al.poisson_rdp([2, 3], rdp=lambda a: a / 2, rate=0.1)
    assert step == pytest.approx(known, rel=1e-12)
    constant = al.epsilon_from_rdp(lambda a: 0.5, delta=1e-5)
    assert constant == 0.5


def test_sums_of_curves_are_rounded_up():
    rng = np.random.default_rng()
    for size in range(1, 40):
        rows = zip(
            rng.uniform(0.1, 2, size), rng.integers(1, 99, size), strict=True
        )
        run = [al.Release(al.PureDP(float(x)), count=int(n)) for x, n in rows]
        exact = sum(Fraction(x.mechanism.epsilon) * x.count for x in run)
        found = Fraction(al.rdp_curve(run, adjacency="add")(math.inf))
        assert exact <= found < exact * (1 + Fraction(1, 10**13))
