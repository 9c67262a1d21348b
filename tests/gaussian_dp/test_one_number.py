"""mu from guarantees, Renyi curves and error rates."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib.gaussian_dp import one_number
from tests import truth
from tests.truth.tradeoffs import normal, quantile

NAN, INF = math.nan, math.inf


# --- formulas ---------------------------------------------------------------


@given(st.one_of(st.floats(1e-300, 1e-3), st.floats(1e-3, 700)))
@settings(max_examples=150, deadline=None)
def test_pure_dp_in_high_precision(epsilon):
    value = al.mu_from_pure_dp(epsilon)
    with mp.workdps(60):
        if epsilon < 1e-30:
            known = mp.mpf(epsilon) * mp.sqrt(mp.pi / 2)
        elif epsilon < 1:
            known = mp.sqrt(8) * mp.erfinv(mp.tanh(mp.mpf(epsilon) / 2))
        else:
            known = -2 * quantile(1 / (1 + mp.exp(mp.mpf(epsilon))))
        assert known <= value <= known * (1 + mp.mpf(3) / 10**14)


def test_pure_dp_at_extremes():
    assert al.mu_from_pure_dp(0.0) == 0
    assert al.mu_from_pure_dp(1e-308) > 1e-308
    assert al.mu_from_pure_dp(1e308) == pytest.approx(math.sqrt(8) * 1e154)
    assert al.mu_from_pure_dp([[0.0, 1.0]]).shape == (1, 2)


@given(st.one_of(st.just(0.0), st.floats(1e-6, 1e4)), st.floats(-250, -0.1))
@settings(max_examples=100, deadline=None)
def test_budget_of_gaussian_noise(epsilon, log10_delta):
    """On the side where mu-GDP implies the guarantee, and close to it."""
    delta = 10.0**log10_delta
    mu = al.mu_from_epsilon_delta(epsilon, delta=delta)
    assert truth.gaussian_delta(epsilon, mu)[0] <= delta
    assert truth.gaussian_delta(epsilon, mu * (1 + 1e-10))[1] >= delta


@pytest.mark.parametrize("gap", [1e-6, 1e-10, 1e-12, 1e-14])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 50.0])
def test_budget_with_a_delta_near_1(epsilon, gap):
    delta = 1 - gap
    mu = al.mu_from_epsilon_delta(epsilon, delta=delta)
    assert truth.gaussian_delta(epsilon, mu * (1 - 1e-9))[1] <= delta


def test_budget_at_extremes():
    ends = al.mu_from_epsilon_delta(1.0, delta=[0.0, 1.0])
    assert ends.tolist() == [0.0, INF]
    for epsilon in (1e8, 1e20, 1e33, 1e40, 1e154, 1e300, 1e308):
        mu = al.mu_from_epsilon_delta(epsilon, delta=1e-5)
        known = math.sqrt(2) * math.sqrt(epsilon)
        assert mu == pytest.approx(known, rel=1e-3), epsilon
    shape = al.mu_from_epsilon_delta([[1.0], [2.0]], delta=[0.1, 0.2]).shape
    assert shape == (2, 2)


def renyi_by_bisection(x, order, rdp):
    """The smallest y that eq. (gdp-renyi) allows in both directions."""
    x, a = mp.mpf(x), mp.mpf(order)
    room = (a - 1) * mp.mpf(rdp)

    def excess(odds):
        hit, miss = 1 / (1 + mp.exp(odds)), 1 / (1 + mp.exp(-odds))
        one = hit**a * x ** (1 - a) + miss**a * (1 - x) ** (1 - a)
        two = (1 - x) ** a * miss ** (1 - a) + x**a * hit ** (1 - a)
        return mp.log(max(one, two)) - room

    low, high = mp.mpf(-690), mp.log1p(-x) - mp.log(x)
    if excess(low) <= 0:
        return mp.mpf(0)
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return 1 / (1 + mp.exp(-high))


@pytest.mark.in_turn(3)
def test_renyi_curves_in_high_precision():
    rng = np.random.default_rng(12)
    for _ in range(60):
        x = float(10 ** rng.uniform(-30, -0.01))
        order = float(1 + 10 ** rng.uniform(-5, 4))
        rdp = float(10 ** rng.uniform(-4, 2))
        value = one_number.renyi_tradeoff(x, order=order, rdp=rdp)
        with mp.workdps(50):
            known = renyi_by_bisection(x, order, rdp)
            setting = (x, order, rdp)
            assert value <= known * (1 + mp.mpf(10) ** -15), setting
            if known > mp.mpf(10) ** -290:
                assert value >= known * (1 - mp.mpf(10) ** -6), setting


@pytest.mark.parametrize(
    ("x", "order", "rdp"),
    [
        (0.17549762274068514, 1.0000025388099858, 9.5e-11),
        (0.4212080753641121, 1.000001129243274, 6.6e-4),
        (0.8032005389249606, 1.000064108953453, 3.7e-13),
        (0.45, 1.0000659, 2.8e-8),
        (0.3, 2.0, 1e-18),
        (0.3, 1e6, 1e-12),
        (0.77, 59.8, 0.0),
    ],
)
@pytest.mark.filterwarnings("error")
def test_renyi_curves_of_tiny_divergences(x, order, rdp):
    value = one_number.renyi_tradeoff(x, order=order, rdp=rdp)
    with mp.workdps(60):
        assert value <= renyi_by_bisection(x, order, rdp)


def test_renyi_curve_is_below_that_of_the_mechanism():
    """A Gaussian is mu-GDP, so all of its Renyi curves are below f_mu."""
    x = np.geomspace(1e-9, 0.999, 60)
    for mu in (0.1, 1.0, 4.0):
        exact = al.gaussian_tradeoff(x, mu=mu)
        best = np.zeros(len(x))
        for order in (1.01, 1.5, 2.0, 4.0, 16.0, 64.0):
            curve = one_number.renyi_tradeoff(
                x, order=order, rdp=order * mu**2 / 2
            )
            assert np.all(curve <= exact)
            best = np.maximum(best, curve)
        assert np.all(best[x > 0.5] > 0.3 * exact[x > 0.5]) or mu > 1


@given(st.floats(-300, -0.001), st.floats(0, 8))
@settings(max_examples=100, deadline=None)
def test_mu_through_a_point(log10_x, mu):
    x = 10.0**log10_x
    with mp.workdps(60):
        found = float(normal(mu + quantile(mp.mpf(x))))
        if 1e-300 < found < 1 - 1e-6:
            value = one_number.mu_from_errors(
                np.array([x]), np.array([found])
            )[0]
            exact = quantile(mp.mpf(found)) - quantile(mp.mpf(x))
            assert abs(value - exact) <= 1e-13 * (1 + abs(quantile(x)))


# --- rounding, step by step -------------------------------------------------


def test_pure_dp_of_denormal_and_of_huge_epsilons():
    for epsilon in (5e-324, 1e-320, 3e-310, 1e-300, 1e4, 2.5e5, 1e7):
        with mp.workdps(400 if epsilon < 1 else 40):
            e = mp.mpf(epsilon)
            z = mp.mpf(al.mu_from_pure_dp(epsilon)) / 2
            if epsilon < 1:  # Phi(z) - 1/2 and tanh(e/2)/2, nearly linear
                assert (
                    z / mp.sqrt(2 * mp.pi) * (1 - z * z) >= mp.tanh(e / 2) / 2
                )
            else:
                log_tail = mp.log(mp.erfc(z / mp.sqrt(2)) / 2)
                assert 0 <= -log_tail / e - 1 <= 1e-13


# --- to the last bit: small and exact ----------------------------------------


def test_mu_of_huge_epsilons():
    for epsilon in (9e11, 1.1e12, 1e15, 1e30):
        for delta in (1e-9, 0.3, 0.7):
            mu = al.mu_from_epsilon_delta(epsilon, delta=delta)
            back = al.gaussian_epsilon(delta, mu=mu)
            assert back == pytest.approx(epsilon, rel=1e-9)


def test_rates_outside_of_their_range_are_refused() -> None:
    assert one_number.mu_from_errors([0.25], [0.75])[0] > 1.3
    with pytest.raises(ValueError, match="^false_positive must"):
        one_number.mu_from_errors([0.0], [0.5])
    with pytest.raises(ValueError, match="^found must"):
        one_number.mu_from_errors([0.5], [-0.5])


@pytest.mark.parametrize("epsilon", [0.0, 1e-300, 1e-3, 1.0, 100.0, 1e6])
@pytest.mark.parametrize("delta", [5e-324, 1e-322, 3e-320, 1e-315, 1e-310])
def test_mu_is_rounded_down_at_the_smallest_floats(epsilon, delta):
    mu = al.mu_from_epsilon_delta(epsilon, delta=delta)
    if mu == 0:  # allowed, but only next to the smallest float
        assert delta <= 1e-322
        return
    with mp.workdps(60 if epsilon > 1e-9 else 700):
        a = mp.mpf(epsilon) / mu - mp.mpf(mu) / 2
        known = normal(-a) - mp.exp(epsilon) * normal(-a - mu)
        assert known <= delta


def test_no_delta_of_an_exact_fit_underflows():
    """delta at 100 for mu = 1 is some 1e-2154, and not 0."""
    for mu, at in ((1.0, 100.0), (1e-3, 1.0), (1.0, 37.5)):
        assert 0 < al.GDPFit(mu, 0.0, 1e-10, mu, True).delta(at) < 1e-299
    assert al.GDPFit(0.0, 0.0, 1e-10, 0.0, True).delta(1.0) == 0.0
