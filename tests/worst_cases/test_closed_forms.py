"""Closed forms against mpmath and balls, over all allowed arguments."""

import math
from fractions import Fraction as F
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib.worst_cases import closed_forms
from tests import truth

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
        value = float(closed_forms.mills_ratio(np.array(x)))
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


# --- Monte Carlo ----------------------------------------------------------


@pytest.mark.parametrize(
    ("beta", "points", "size"),
    [(0.01, 40, 4_493_599), (0.1, 40, 3_342_306), (0.01, 4, 3_342_306)],
)
def test_monte_carlo_sample_size(beta, points, size):
    """The paper prints 3,342,306 for beta = 0.01 and 40 points (trap 22)."""
    found = closed_forms.monte_carlo_sample_size(
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
    size = closed_forms.monte_carlo_sample_size(
        error, failure_probability=1e-3, points=20
    )
    rng = np.random.default_rng(8)
    loss = mu * (rng.normal(size=size) + mu) - mu**2 / 2
    for epsilon in np.linspace(0, 3, 20):
        estimate = np.mean(np.maximum(-np.expm1(epsilon - loss), 0))
        assert abs(estimate - al.gaussian_delta(epsilon, mu=mu)) < error


# --- Ball arithmetic over the whole allowed range -------------------------


@pytest.fixture
def ball_precision():
    """Enough bits for mu from 1e-300 to 1e154: they cancel."""
    before = ctx.prec
    ctx.prec = 4000
    yield
    ctx.prec = before


def ball_gaussian_delta(epsilon, mu):
    """The Gaussian curve as a ball."""
    if epsilon < 0:
        outside = arb(epsilon).expm1()
        return -outside + (1 + outside) * ball_gaussian_delta(-epsilon, mu)
    a = arb(epsilon) / arb(mu) - arb(mu) / 2
    b = a + arb(mu)
    if abs(a) > 1e6:
        return arb(0) if a > 0 else arb(1)
    upper_tail = (a / arb(2).sqrt()).erfc() / 2
    density = (-a * a / 2).exp() / (2 * arb.pi()).sqrt()
    if b < 1e4:
        mills = (b / arb(2).sqrt()).erfc() / 2 * (b * b / 2).exp()
        mills *= (2 * arb.pi()).sqrt()
    else:  # between two partial sums of its alternating series
        mills = (1 / b - 1 / b**3 + 3 / b**5 - 15 / b**7).union(
            1 / b - 1 / b**3 + 3 / b**5
        )
    return upper_tail - density * mills


def ball_laplace_delta(epsilon, scale):
    e, most = arb(epsilon), 1 / arb(scale)
    if e >= most:
        return arb(0)
    return -e.expm1() if e <= -most else -((e - most) / 2).expm1()


def random_mu(rng):
    power = rng.uniform(-300, 154) if rng.random() < 0.5 else rng.normal()
    return float(10.0**power)


def random_epsilon(rng, mu):
    """Mostly where the curve falls; sometimes anywhere."""
    if rng.random() < 0.1:
        return float(10.0 ** rng.uniform(-300, 308) * rng.choice([-1, 1]))
    a = rng.uniform(max(-mu / 2, -40.0), 38)
    epsilon = float(mu * (a + mu / 2))
    return -epsilon if rng.random() < 0.1 else epsilon


def test_gaussian_delta_against_balls_everywhere(ball_precision):
    rng = np.random.default_rng(1301)
    for _ in range(1500):
        mu = random_mu(rng)
        epsilon = random_epsilon(rng, mu)
        if not math.isfinite(epsilon):
            continue
        exact = ball_gaussian_delta(epsilon, mu)
        value = al.gaussian_delta(epsilon, mu=mu)
        assert 0 <= value <= 1
        if exact < 1e-300:
            assert value < 1.1e-300
            continue
        allowed = 1e-13 if exact > 1e-20 else 1e-12
        assert abs(arb(value) / exact - 1) < allowed, (epsilon, mu)


@pytest.mark.in_turn(3)
def test_gaussian_epsilon_against_balls_everywhere(ball_precision):
    rng = np.random.default_rng(1302)
    for _ in range(400):
        mu = random_mu(rng)
        start = al.gaussian_delta(0.0, mu=mu)
        if start < 1e-299:
            continue
        exponents = -rng.uniform(0, 300 + math.log10(start))
        near = 1 - 10.0 ** rng.uniform(-15, 0)
        target = float(start * rng.choice([near, 10**exponents]))
        found = al.gaussian_epsilon(target, mu=mu)
        error = 1e-13 * (found + min(mu, 1))
        assert ball_gaussian_delta(found + error, mu) <= target, (target, mu)
        if found > error:
            assert ball_gaussian_delta(found - error, mu) >= target


def test_gaussian_epsilon_where_delta_is_nearly_one(ball_precision):
    # The last digits of delta say nothing; those of 1 - delta do.
    for mu, rest in ((20.0, 2.0**-53), (30.0, 2.0**-52), (18.0, 1e-15)):
        target = 1 - rest
        found = al.gaussian_epsilon(target, mu=mu)
        for side in (-1, 1):
            moved = found + side * 1e-13 * (found + 1)
            assert side * (target - ball_gaussian_delta(moved, mu)) > 0
    assert al.gaussian_epsilon(1 - 2.0**-53, mu=1e60) == pytest.approx(5e119)


def test_laplace_delta_against_balls_everywhere(ball_precision):
    rng = np.random.default_rng(1303)
    for i in range(2000):
        power = rng.uniform(-307.9, 307.9) if i % 2 else rng.uniform(-5, 5)
        scale = float(10.0**power)
        near = 1 - 10.0 ** rng.uniform(-17, 0) * rng.choice([0, 1])
        epsilon = float(rng.choice([-1, 1, 1]) * near / scale)
        if i % 5 == 0:
            epsilon = float(rng.uniform(-1.5, 1.5) / scale)
        exact = ball_laplace_delta(epsilon, scale)
        value = al.laplace_delta(epsilon, scale=scale)
        error = abs(arb(value) - exact)
        assert error <= 2e-15 * exact + 1e-323, (epsilon, scale)


def test_laplace_delta_just_below_its_largest_loss():
    scale = 0.0011619447150344696
    exact = (1 - F(860.6261443087113) * F(scale)) / (2 * F(scale))
    value = al.laplace_delta(860.6261443087113, scale=scale)
    assert abs(value / float(exact) - 1) < 1e-13  # was 0.43
    assert 1 / (1 / 3) == 3  # but the float 1/3 is below a third
    assert 8e-17 < al.laplace_delta(3.0, scale=1 / 3) < 9e-17


def test_mills_ratio_against_balls(ball_precision):
    for x in np.random.default_rng(1304).uniform(-37, 60, 400):
        y = arb(float(x))
        exact = (y / arb(2).sqrt()).erfc() / 2 * (y * y / 2).exp()
        exact *= (2 * arb.pi()).sqrt()
        allowed = 1e-15 * (1 if x >= 0 else 1 + x * x)
        assert abs(
            arb(float(closed_forms.mills_ratio(np.array(x)))) / exact - 1
        ) < (allowed)


# --- How many samples -----------------------------------------------------


@pytest.mark.parametrize("error", [1e-3, 1e-162, 1e-163, 1e-308, 5e-324])
@pytest.mark.parametrize("beta", [0.5, 1e-300, 5e-324, 1 - 2.0**-53])
@pytest.mark.parametrize("points", [1, 40, 10**400])
def test_sample_size_is_never_too_small(error, beta, points):
    size = closed_forms.monte_carlo_sample_size(
        error, failure_probability=beta, points=points
    )
    with mp.workdps(1000):
        exact = mp.log(2 * mp.mpf(points) / mp.mpf(beta))
        exact /= 2 * mp.mpf(error) ** 2
        assert exact <= size <= exact * (1 + mp.mpf("4e-15")) + 1
    assert isinstance(size, int)


# --- Front doors ----------------------------------------------------------


def test_constant_arrays_are_read_only():
    for array in closed_forms.GAUSS_RULE:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0


def test_front_doors_ignore_the_error_state():
    with np.errstate(all="raise"):
        assert al.gaussian_delta(1e308, mu=1e-300) == 0
        assert al.gaussian_delta(0.0, mu=1e-300) > 0
        assert al.gaussian_epsilon(1e-300, mu=1.0) > 37
        assert math.isinf(al.gaussian_epsilon(1e-6, mu=1e200))
        assert al.laplace_delta(1e308, scale=1e308) == 0
        assert al.laplace_delta(-1e308, scale=1e-308) == 1
        assert al.hockey_stick([1.0, 0.0], [1e-300, 1.0], 1e-300) == 1
        closed_forms.monte_carlo_sample_size(
            1e-300, failure_probability=0.1, points=1
        )


def test_front_doors_name_their_arguments():
    doors: tuple[tuple[Any, str], ...] = (
        (al.gaussian_delta, "mu"),
        (al.gaussian_epsilon, "mu"),
        (al.laplace_delta, "scale"),
        (closed_forms.monte_carlo_sample_size, "failure_probability"),
    )
    for function, name in doors:
        with pytest.raises(TypeError, match=f"{name}=..."):
            function(0.1, 1.0)
