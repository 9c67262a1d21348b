"""Losses on a grid from above, and reading them."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountlib.dominating_pairs import Subsampled, outcomes
from accountlib.mechanisms import (
    ApproximateDP,
    DiscreteGaussian,
    Gaussian,
    Laplace,
    RandomizedResponse,
)
from accountlib.optimistic import discretize
from accountlib.pld import (
    BOUNDS,
    PrivacyLossDistribution,
)

UPPER = "upper", "buckets-upper"
GAUSS, HALF = Gaussian(1.0).removed(1), math.log(0.5)


def exact_delta(pld, epsilon):
    """delta of the floats of a PLD, to forty digits."""
    with mp.workdps(40):
        total = mp.mpf(pld.infinity_mass)
        for k, m in enumerate(pld.mass.tolist()):
            gap = (pld.first_index + k) * mp.mpf(pld.step) - mp.mpf(epsilon)
            if m > 0 and gap > 0:
                total -= mp.mpf(m) * mp.expm1(-gap)
        return total


# --- reading a PLD -----------------------------------------------------------


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    mass=st.lists(st.floats(0, 1), min_size=1, max_size=9),
    first=st.integers(-9, 9),
    step=st.floats(1e-3, 30),
    infinite=st.sampled_from([0.0, 1e-12, 0.25]),
    at=st.floats(-50, 50),
)
def test_delta_is_on_its_side(mass, first, step, infinite, at):
    mass = np.array(mass) * (1 - infinite) / max(sum(mass), 1e-3)
    for bound, side in (("upper", 1), ("lower", -1)):
        pld = PrivacyLossDistribution(step, first, mass, infinite, bound)
        for epsilon in (at, first * step, (first + 1) * step, 0.0):
            exact = min(exact_delta(pld, epsilon), mp.mpf(1))
            found = pld.delta(epsilon)
            assert side * (found - exact) >= 0 or found == 1.0
            room = 1e-13 + abs(epsilon) * 2e-15
            assert abs(found - exact) <= room * (1 + float(exact))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    weights=st.lists(st.integers(0, 9), min_size=1, max_size=9).filter(any),
    first=st.integers(-9, 4),
    delta=st.floats(0, 1),
)
def test_epsilon_inverts_delta(weights, first, delta):
    mass = np.array(weights) / sum(weights)
    for bound, side in (("upper", 1), ("lower", -1)):
        pld = PrivacyLossDistribution(0.7, first, mass, 0.0, bound)
        found = pld.epsilon(delta)
        if side > 0:
            assert exact_delta(pld, found) <= delta
        elif found > 0:
            assert exact_delta(pld, found) >= delta
        again = pld.epsilon(np.array([delta, delta]))
        assert np.array_equal(again, [found, found])


def test_reading_at_the_ends():
    pld = PrivacyLossDistribution(1.0, 2, [0.5, 0.25], 0.25)
    assert pld.epsilon(0.2) == math.inf and pld.epsilon(1.0) == 0
    sure = PrivacyLossDistribution(0.7, 3, [1.0], 0.0)
    assert 2.1 < sure.epsilon(0.0) < 2.1 + 1e-14
    assert pld.delta(50.0) == pytest.approx(0.25, rel=1e-14)
    assert pld.delta(-1e12) == 1.0
    assert pld.delta([0.0, 2.5]).shape == (2,)
    moved = PrivacyLossDistribution(1.0, 2, [0.5, 0.25], 0.25, "upper", 0.01)
    assert moved.delta(2.0) == pytest.approx(pld.delta(1.99), rel=1e-12)
    assert moved.epsilon(0.3) == pytest.approx(pld.epsilon(0.3) + 0.01)
    with pytest.raises(ValueError, match="read-only"):
        pld.mass[0] = 1.0


# --- making one --------------------------------------------------------------

PAIRS = {
    "gaussian": GAUSS,
    "laplace": Laplace(0.7).removed(1),
    "sampled": Subsampled(GAUSS, math.log1p(-0.01)),
    "added": Subsampled(GAUSS, math.log1p(-0.01)).reversed(),
    "whole": DiscreteGaussian(40.0).removed(1),
    "coin": RandomizedResponse(0.75).removed(1),
    "approximate": ApproximateDP(0.5, 1e-5).removed(1),
    "infinite": outcomes((0.5, 0.25, 0.25, 0), (0.25, 0.25, 0, 0.5)),
    "apart": outcomes((1.0, 0.0), (0.0, 1.0)),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("step", [0.003, 0.3, 5.0])
def test_masses_and_order(name, step):
    plds = {x: discretize(PAIRS[name], step=step, bound=x) for x in BOUNDS}
    at = np.linspace(-4, 4, 81)
    found = {x: pld.delta(at) for x, pld in plds.items()}
    for bound in BOUNDS:
        pld = plds[bound]
        total = math.fsum(pld.mass) + pld.infinity_mass
        assert abs(total - 1) < 1e-10 or bound == "lower" and total < 1
        assert 0 <= pld.loss_error <= 1e-9 * step + 1e-14
        q_mass = float(np.exp(-pld.losses) @ pld.mass)
        if bound in UPPER:
            assert q_mass <= 1 + 1e-10
    assert np.all(found["lower"] <= found["upper"])
    assert np.all(found["buckets-lower"] <= found["upper"])
    room = 1e-8 * step * found["upper"]
    assert np.all(found["upper"] <= found["buckets-upper"] + room)


def test_atoms_on_grid_points_stay():
    coin = RandomizedResponse(0.75).removed(1)
    for step in (math.log(3), math.log(3) / 7):
        for bound in BOUNDS:
            pld = discretize(coin, step=step, bound=bound)
            used = pld.mass[pld.mass > 0]
            assert np.allclose(used, [0.25, 0.75], rtol=1e-12)
            assert pld.loss_error < 1e-13
            assert abs(pld.epsilon(0.0) - math.log(3)) < 1e-13
