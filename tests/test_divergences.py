"""Chapter 1: divergences against closed forms, fractions and mpmath."""

import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
import truth
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al

MUS = [1e-6, 1e-4, 0.03, 0.3, 0.999, 1.0, 1.001, 3.0, 40.0, 1e3, 1e4]


def relative(value, exact):
    return abs(mp.mpf(value) / exact - 1)


# --- Gaussian -------------------------------------------------------------


# All below delta(0), which is at least 0.38 min(mu, 1).
TARGETS = [
    (mu, target)
    for mu in MUS
    for scale in [min(mu, 1.0)]
    for target in [1e-300, 1e-200, 1e-40, 1e-15, 1e-3 * scale, 0.2 * scale]
]


@pytest.mark.parametrize(("mu", "target"), TARGETS)
def test_gaussian_delta_keeps_its_digits(mu, target):
    assert target < truth.gaussian_delta(0, mu)[0]
    epsilon = float(truth.gaussian_epsilon(target, mu)[0])
    exact = truth.gaussian_delta(epsilon, mu)[0]
    # One unit in the last place of epsilon changes delta that much:
    slope = mp.log(truth.gaussian_delta(epsilon * (1 + 2.0**-40), mu)[0])
    conditioning = abs(slope - mp.log(exact)) * 2.0**40 * 2.0**-52
    allowed = 1e-13 if target > 1e-20 else 1e-10
    error = relative(al.gaussian_delta(epsilon, mu=mu), exact)
    assert error < max(allowed, 4 * conditioning)
    assert error < 1e-8


@pytest.mark.parametrize("mu", MUS)
@pytest.mark.parametrize("sign", [-1, 1])
def test_gaussian_delta_on_both_sides_of_zero(mu, sign):
    for part in (0.0, 1e-9, 0.1, 0.5, 1.0, 2.0):
        epsilon = min(sign * part * mu * (1 + mu / 2), 650.0)
        exact = truth.gaussian_delta(epsilon, mu)[0]
        assert relative(al.gaussian_delta(epsilon, mu=mu), exact) < 1e-12


def test_gaussian_delta_at_the_ends():
    assert al.gaussian_delta(0.0, mu=0.0) == 0
    assert al.gaussian_delta(3.0, mu=0.0) == 0
    assert al.gaussian_delta(-1.0, mu=0.0) == -math.expm1(-1)
    assert al.gaussian_delta(1e300, mu=1.0) == 0
    assert al.gaussian_delta(-1e300, mu=1.0) == 1
    table = al.gaussian_delta([[0.0], [1.0]], mu=[0.5, 1.0, 2.0])
    assert table.shape == (2, 3)
    assert table[1, 1] == al.gaussian_delta(1.0, mu=1.0)
    assert isinstance(al.gaussian_delta(1, mu=2), float)


@pytest.mark.parametrize("mu", MUS)
def test_gaussian_epsilon_inverts_delta(mu):
    for target in (1e-300, 1e-100, 1e-12, 1e-5, 0.1, 0.49):
        low, high = truth.gaussian_epsilon(target, mu)
        found = al.gaussian_epsilon(target, mu=mu)
        if high == 0:
            assert found == 0
            continue
        # near delta(0) epsilon is ill-conditioned by the factor
        start = truth.gaussian_delta(0, mu)[0]
        factor = max(1, 1 / float(start / target - 1))
        assert relative(found, low) < 4e-12 * factor
    assert al.gaussian_epsilon(0.0, mu=mu) == math.inf
    assert al.gaussian_epsilon(1.0, mu=mu) == 0
    assert al.gaussian_epsilon(0.3, mu=0.0) == 0
    assert al.gaussian_epsilon(0.0, mu=0.0) == 0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    mu=st.floats(1e-3, 30),
    one=st.floats(-20, 20),
    other=st.floats(-20, 20),
)
def test_gaussian_curve_is_a_hockey_stick_curve(mu, one, other):
    """Lemma 2.1: decreasing and convex in alpha, between (1-alpha)_+ and 1.

    And the swap identity, which for a symmetric pair ties both signs.
    """
    low, high = sorted((one, other))
    middle = math.log((math.exp(low) + math.exp(high)) / 2)
    d_low, d_middle, d_high = al.gaussian_delta([low, middle, high], mu=mu)
    assert 1 >= d_low >= d_high * (1 - 1e-12)
    assert d_middle <= (d_low + d_high) / 2 * (1 + 1e-12) + 1e-15
    for epsilon, value in ((low, d_low), (high, d_high)):
        assert value >= max(0.0, -math.expm1(epsilon)) * (1 - 1e-15)
        other_side = al.gaussian_delta(-epsilon, mu=mu)
        swapped = -math.expm1(epsilon) + math.exp(epsilon) * other_side
        assert math.isclose(
            value, swapped, rel_tol=1e-12, abs_tol=1e-15 * math.exp(epsilon)
        ) or value < 1e-15 * (1 + math.exp(epsilon))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    epsilon=st.floats(0, 30),
    mu=st.floats(1e-6, 20),
    factor=st.floats(1.001, 3),
)
def test_more_distance_is_less_private(epsilon, mu, factor):
    assert al.gaussian_delta(epsilon, mu=mu * factor) >= al.gaussian_delta(
        epsilon, mu=mu
    )


def test_mills_ratio():
    for x in (-30.0, -1.0, 0.0, 0.5, 10.0, 1e3, 1e8):
        with mp.workdps(60):
            y = mp.mpf(x)
            exact = mp.erfc(y / mp.sqrt(2)) / 2 / mp.npdf(y)
        value = float(al.mills_ratio(np.array(x)))
        assert relative(value, exact) < 1e-15 * (1 + 4 * x * x * (x < 0)) * 4


# --- Laplace --------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.01, 0.1, 1.0, 7.3, 1e4])
def test_laplace_delta(scale):
    top = 1 / scale
    for part in (-1.5, -1.0, -0.999, -0.3, 0.0, 1e-9, 0.5, 0.99, 1.0, 1.5):
        epsilon = part * top
        exact = truth.laplace_delta(epsilon, scale)
        value = al.laplace_delta(epsilon, scale=scale)
        assert abs(mp.mpf(value) - exact) < 1e-15 * (exact + abs(epsilon))
    assert al.laplace_delta(1.0, scale=1.0) == 0
    assert al.laplace_delta([0.0, 0.5], scale=[[1.0], [2.0]]).shape == (2, 2)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(scale=st.floats(0.01, 100), epsilon=st.floats(-5, 5))
def test_laplace_swap_identity(scale, epsilon):
    here = al.laplace_delta(epsilon, scale=scale)
    there = al.laplace_delta(-epsilon, scale=scale)
    swapped = -math.expm1(epsilon) + math.exp(epsilon) * there
    assert math.isclose(here, swapped, rel_tol=1e-12, abs_tol=1e-13)
    assert max(0.0, -math.expm1(epsilon)) <= here * (1 + 1e-15) <= 1 + 1e-15


# --- discrete -------------------------------------------------------------


def test_randomized_response_in_fractions():
    """Proposition 11 of the pitfalls paper, without tolerance."""
    mixed = (F(3, 4), F(1, 4))
    uniform = (F(1, 2), F(1, 2))
    p = [a * b for a in mixed for b in mixed]
    q = [a * b for a in uniform for b in uniform]
    assert al.hockey_stick(p, q, F(4, 3)) == F(11, 48)
    assert al.hockey_stick(q, p, F(4, 3)) == F(1, 6)
    assert al.hockey_stick(p, q, F(2)) == F(1, 16)
    assert al.hockey_stick(q, p, F(2)) == F(1, 8)
    gap = [
        al.hockey_stick(p, q, a) - al.hockey_stick(q, p, a)
        for a in (F(1), F(4, 3), F(5, 3), F(2))
    ]
    assert gap[0] == gap[2] == 0 and gap[1] > 0 > gap[3]
    # one run: remove (from mixed to uniform) is never below add
    for alpha in [F(k, 12) for k in range(12, 40)]:
        assert al.hockey_stick(uniform, mixed, alpha) >= al.hockey_stick(
            mixed, uniform, alpha
        )


def fractions_of(weights):
    total = sum(weights)
    return [F(w, total) for w in weights]


weights = st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any)
alphas = st.fractions(F(1, 50), 50, max_denominator=100)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(p=weights, q=weights, alpha=alphas)
def test_discrete_identities_in_fractions(p, q, alpha):
    p, q = fractions_of(p), fractions_of(q)
    here = al.hockey_stick(p, q, alpha)
    there = al.hockey_stick(q, p, 1 / alpha)
    assert isinstance(here, (int, F))
    assert here == 1 - alpha + alpha * there  # swap
    assert max(F(0), 1 - alpha) <= here <= 1
    assert here == truth.ExactPair.of(p, q).delta_at(alpha)
    both = al.hockey_stick(p, q, np.array([alpha, 2 * alpha], dtype=object))
    assert both[0] == here >= both[1]
    approx = al.hockey_stick(
        [float(x) for x in p], [float(x) for x in q], float(alpha)
    )
    assert abs(approx - here) < 1e-13 * (1 + alpha)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    p=weights,
    q=weights,
    alpha=alphas,
    rows=st.lists(
        st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any),
        min_size=4,
        max_size=4,
    ),
)
def test_data_processing(p, q, alpha, rows):
    """Lemma 14: a channel applied to both sides never helps."""
    p, q = fractions_of(p), fractions_of(q)
    channel = [fractions_of(row) for row in rows]
    p2, q2 = (
        [sum(x[i] * channel[i][j] for i in range(4)) for j in range(3)]
        for x in (p, q)
    )
    assert al.hockey_stick(p2, q2, alpha) <= al.hockey_stick(p, q, alpha)


def test_hockey_stick_of_floats_takes_arrays():
    alpha = np.linspace(0, 3, 7).reshape(7, 1)
    curve = al.hockey_stick([0.5, 0.5, 0.0], [0.25, 0.25, 0.5], alpha)
    assert curve.shape == (7, 1)
    assert curve[0, 0] == 1 and curve[2, 0] == 0.5 and curve[6, 0] == 0


# --- Monte Carlo ----------------------------------------------------------


@pytest.mark.parametrize(
    ("beta", "points", "size"),
    [(0.01, 40, 4_493_599), (0.1, 40, 3_342_306), (0.01, 4, 3_342_306)],
)
def test_monte_carlo_sample_size(beta, points, size):
    """The paper prints 3,342,306 for beta = 0.01 and 40 points (trap 22)."""
    found = al.monte_carlo_sample_size(
        1e-3, failure_probability=beta, points=points
    )
    assert found == size and isinstance(found, int)
    # it is the least: Hoeffding and a union bound hold, one less does not
    for n, holds in ((size, True), (size - 1, False)):
        with mp.workdps(40):
            chance = 2 * points * mp.exp(-2 * n * mp.mpf(1e-3) ** 2)
            assert (chance <= beta) == holds


def test_monte_carlo_estimate_stays_within_its_error():
    """Seeded: 20 points, all within the error that the size promises."""
    error, mu = 0.01, 1.0
    size = al.monte_carlo_sample_size(
        error, failure_probability=1e-3, points=20
    )
    rng = np.random.default_rng(8)
    loss = mu * (rng.normal(size=size) + mu) - mu**2 / 2
    for epsilon in np.linspace(0, 3, 20):
        estimate = np.mean(np.maximum(-np.expm1(epsilon - loss), 0))
        assert abs(estimate - al.gaussian_delta(epsilon, mu=mu)) < error
