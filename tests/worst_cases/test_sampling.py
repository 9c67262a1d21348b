"""Sampled pairs: amplification, directions, rates near 0 and 1."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from fractions import Fraction as F

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from tests import truth
from tests.worst_cases.known_losses import pair_of

DIRECTIONS = ("remove", "add")


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("rate", [1.0, 0.7, 0.01, 1e-6])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_delta_of_one_run(kind, rate, direction):
    for noise in (0.4, 1.0, 9.0):
        pair = pair_of(kind, noise, rate, direction)
        for epsilon in (-0.5, -1e-4, 0.0, 1e-6, 0.01, 0.3, 1.5):
            if kind == "gaussian":
                exact = truth.sampled_gaussian_delta(
                    epsilon, noise, rate, direction=direction
                )
            else:
                exact = truth.sampled_laplace_delta(
                    epsilon, [(noise, rate)], direction=direction
                )
            found = pair.delta(epsilon)
            assert abs(found - exact) < 1e-11 * exact + 3e-16
    assert pair.delta([[0.0, 1.0]]).shape == (1, 2)
    assert isinstance(pair.delta(0), float)


@pytest.mark.parametrize("mechanism", [al.Gaussian(0.9), al.Laplace(1.4)])
def test_amplification_holds_with_equality(mechanism):
    """Lemma 4 of Li et al., remove: equality along the whole curve.

    delta_rate(ln(1 + rate (e^x - 1))) = rate delta(x).
    """
    for rate in (0.5, 0.01, 1e-5):
        pair = al.SampledPair(mechanism.pair(), rate)
        for x in (0.01, 0.3, 0.6):
            epsilon = math.log1p(rate * math.expm1(x))
            wanted = rate * mechanism.pair().delta(x)
            assert math.isclose(pair.delta(epsilon), wanted, rel_tol=1e-11)


def test_the_printed_amplification_has_a_misprint():
    """Theorem 15 with Q in the second place; as printed nothing is gained."""
    rate, x = 0.01, 0.05
    pair = al.SampledPair(al.Gaussian(2.0).pair(), rate)
    assert math.isclose(pair.delta(x), 4.243e-7, rel_tol=1e-3)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    noise=st.floats(0.2, 20),
    rate=st.floats(0.001, 0.999),
    epsilon=st.floats(0, 4),
    laplace=st.booleans(),
)
def test_one_run_remove_is_the_worse_direction(noise, rate, epsilon, laplace):
    """Proposition 30 of Zhu, Dong and Wang, for one run and epsilon >= 0."""
    kind = "laplace" if laplace else "gaussian"
    remove = pair_of(kind, noise, rate, "remove")
    add = pair_of(kind, noise, rate, "add")
    assert add.delta(epsilon) <= remove.delta(epsilon) * (1 + 1e-9) + 1e-15
    # swap identity between the directions
    swapped = -math.expm1(epsilon) + math.exp(epsilon) * add.delta(-epsilon)
    assert math.isclose(
        remove.delta(epsilon), swapped, rel_tol=1e-9, abs_tol=1e-14 * 60
    )


# --- atoms ----------------------------------------------------------------


@pytest.mark.parametrize("rate", [2.0**-20, 2.0**-7, 0.25])
def test_the_range_of_a_sampled_pair_keeps_its_digits(rate):
    """The largest loss decides the answers at delta = 0."""
    for p in (0.50390625, 0.75, 0.875, 0.99609375):
        pair = al.SampledPair(al.DiscretePair((p, 1 - p), (1 - p, p)), rate)
        for end, ratio in zip(
            pair.loss_range, (F(1 - p) / F(p), F(p) / F(1 - p)), strict=True
        ):
            mixed = 1 - F(rate) + F(rate) * ratio
            with mp.workdps(50):
                exact = mp.log(mp.mpf(mixed.numerator) / mixed.denominator)
            assert abs(mp.mpf(end) / exact - 1) < 1e-14


# --- to the last bit: small and exact ----------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_rates_next_to_1_are_hardly_sampling(epsilon):
    """The window of the tables may not reach the end of the losses."""
    run = al.Release(al.Gaussian(0.3), al.Poisson(1 - 1e-12), 2)
    exact = al.gaussian_delta(epsilon, mu=math.sqrt(2) / 0.3)
    found = al.delta(run, epsilon=epsilon, adjacency="add")
    assert found.lower <= exact * (1 + 1e-9) and exact <= found.upper
    assert found.width < 2e-3
