"""Trade-off curves in high precision, at their ends, as values."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from typing import Any

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib.gaussian_dp import attackers
from tests.truth.tradeoffs import normal, quantile

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}


# --- formulas ---------------------------------------------------------------


@given(
    st.one_of(st.floats(1e-300, 1), st.floats(0, 1e-9).map(lambda x: 1 - x)),
    st.floats(0, 60),
)
@settings(max_examples=150, deadline=None)
def test_gaussian_curve_in_high_precision(x, mu):
    value = al.gaussian_tradeoff(x, mu=mu)
    with mp.workdps(60):
        known = normal(-quantile(mp.mpf(x)) - mp.mpf(mu))
        if known > mp.mpf(10) ** -300:
            assert abs(value / known - 1) <= 1e-12
        else:
            assert value <= 1e-299


def test_gaussian_curve_at_the_ends():
    ends = al.gaussian_tradeoff([0.0, 1.0], mu=3.0)
    assert ends.tolist() == [1.0, 0.0]
    assert al.gaussian_tradeoff(0.25, mu=0.0) == pytest.approx(0.75, rel=1e-15)
    assert al.gaussian_tradeoff(0.25, mu=1e300) == 0


@given(
    st.fractions(0, 1), st.floats(0, 40), st.sampled_from([0.0, 2**-20, 0.25])
)
def test_dp_curve_is_that_of_its_worst_pair(x, epsilon, delta):
    x = float(x)
    with mp.workdps(60):
        a, d = mp.exp(mp.mpf(epsilon)), 1 - mp.mpf(delta)
        known = max(mp.mpf(0), d - a * x, (d - x) / a)
        value = al.dp_tradeoff(x, epsilon=epsilon, delta=delta)
        assert abs(value - known) <= 1e-15
    pair = al.ApproximateDP(epsilon, delta).pair()
    assert isinstance(pair, al.DiscretePair)  # best outcomes first
    for k in range(1, 4):
        rate = min(math.fsum(pair.q[:k]), 1.0)
        missed = max(1 - math.fsum(pair.p[:k]), 0.0)
        value = al.dp_tradeoff(rate, epsilon=epsilon, delta=delta)
        assert value == pytest.approx(missed, abs=1e-14)


@pytest.mark.parametrize("epsilon", [700.0, 705.0, 709.0, 720.0, 1e300])
@pytest.mark.parametrize("x", [5e-324, 1e-310, 1e-304])
def test_dp_curve_beyond_the_largest_float(x, epsilon):
    with mp.workdps(40):
        slope = mp.exp(min(mp.mpf(epsilon), 1000))
        assert (
            al.dp_tradeoff(x, epsilon=epsilon) <= max(0, 1 - slope * x) + 1e-12
        )


# --- trade-off curves -------------------------------------------------------


def test_a_curve_and_its_numbers():
    curve = al.TradeoffCurve([0.0, 0.25, 1.0], [1.0, 0.25, 0.0], "lower")
    at_places = curve([0.0, 0.125, 0.25, 1.0])
    assert at_places == pytest.approx([1.0, 0.625, 0.25, 0.0], abs=1e-14)
    assert curve.advantage == pytest.approx(0.5, abs=1e-14)
    assert curve.equal_error_rate == pytest.approx(0.25, abs=1e-14)
    for epsilon in (-2.0, 0.0, 1.0, 2.0):
        known = hockey_stick_of_the_coin(math.exp(epsilon))
        assert curve.delta(epsilon) == pytest.approx(known, abs=1e-14)
    with pytest.raises(ValueError, match="read-only"):
        curve.false_positive[0] = 1.0


def hockey_stick_of_the_coin(alpha):
    return max(0.75 - alpha * 0.25, 0) + max(0.25 - alpha * 0.75, 0)


def test_small_deltas_of_a_lower_curve():
    """delta is on its side also where it is far below 1e-16."""
    run = al.Release(al.Gaussian(2.0), al.Poisson(0.5))
    lower = al.tradeoff_curve(run, **BOTH)
    for epsilon in (3.0, 6.0, 9.0, 12.0):
        bound = al.delta(run, epsilon=epsilon, **BOTH)
        assert lower.delta(epsilon) >= bound.lower


@pytest.mark.parametrize("epsilon", [700.5, 709.3, 740.0])
def test_one_promise_at_a_huge_epsilon(epsilon: float) -> None:
    for part in (0.1, 0.606, 0.95):
        x = math.exp(-epsilon) * part
        with mp.workdps(40):
            exact = 1 - mp.exp(epsilon) * mp.mpf(x)
            assert abs(al.dp_tradeoff(x, epsilon=epsilon) - exact) < 1e-15


@pytest.mark.parametrize("mu", [0.0, 1.0, 70.0, 75.5, 76.7, 100.0, 1e9])
def test_equal_error_rates_lie_on_their_sides(mu):
    """Even where the rate is below all floats."""
    low, up = (
        al.TradeoffCurve([0.0, 1.0], [1.0, 0.0], bound, mu).equal_error_rate
        for bound in ("lower", "upper")
    )
    with mp.workdps(60):
        known = normal(-mp.mpf(mu) / 2) if mu < 1e6 else mp.mpf("1e-1000")
        assert low <= known <= up <= known * (1 + 1e-11) + 1e-299


@pytest.mark.parametrize("step", [1e10, 1e15, 1e17, 1e300])
def test_tables_of_enormous_losses(step):
    """The room for rounding became negative rates."""
    table = al.PrivacyLossDistribution(step, 0, [0.5, 0.5], 0.0)
    curve = attackers.table_tradeoff(table)
    assert 0 <= curve(0.1) <= 0.4 and 0 <= curve(0.0) <= 0.5


@pytest.mark.parametrize("mu", [-1.0, math.nan, math.inf, "1"])
def test_a_curve_of_no_mu(mu):
    with pytest.raises(ValueError, match="mu must"):
        al.TradeoffCurve([0.0, 1.0], [1.0, 0.0], "lower", mu)
