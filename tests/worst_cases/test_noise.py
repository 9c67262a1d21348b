"""Sums, products, quotients and tails of the normal law, to the last bits."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
from fractions import Fraction
from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from accountlib.worst_cases import dominating_pairs, noise
from accountlib.worst_cases.divergences import two_product
from accountlib.worst_cases.noise import normal_tail, quotient, two_sum
from tests.truth import balls as truth_balls

# --- noise on the integers has no end -------------------------------------


@given(
    a=st.floats(-1e100, 1e100),
    b=st.floats(1e-100, 1e100),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_sums_products_and_quotients_in_two_floats(a, b):
    high, low = two_sum(a, b)
    assert F(float(high)) + F(float(low)) == F(a) + F(b)
    if a == 0 or abs(a) > 1e-100:
        high, low = two_product(a, b)
        assert F(float(high)) + F(float(low)) == F(a) * F(b)
        high, low = quotient(a, b)
        error = abs(F(float(high)) + F(float(low)) - F(a) / F(b))
        assert error <= abs(F(a) / F(b)) * F(2) ** -100


def test_normal_tail_against_balls():
    rng = np.random.default_rng(4)
    z = np.append(rng.uniform(0, 37, 500), -rng.uniform(0, 37, 50))
    for x, found in zip(z.tolist(), normal_tail(z), strict=True):
        exact = truth_balls.normal_above(truth_balls.ball(x))
        error = truth_balls.ball(float(found)) / exact - 1
        assert abs(float(error)) < 10 * dominating_pairs.UNIT
    ends = normal_tail(np.array([-np.inf, -50.0, 50.0, np.inf]))
    assert ends.tolist() == [1, 1, 0, 0]


# --- found by attacks --------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b"),
    [(1.1e-268, 3.0), (1.7e280, 7e-9), (1.7e308, 1.1), (3e5, 2e-303)],
)
def test_quotient_of_tiny_and_large_numbers(a, b):
    """No product overflows on the way to a quotient that is a float."""
    high, low = noise.quotient(a, b)
    found = Fraction(float(high)) + Fraction(float(low))
    assert abs(found / (Fraction(a) / Fraction(b)) - 1) < 1e-31


def test_normal_masses_of_rows_are_those_of_each_row():
    """Wide, narrow and tiny intervals, in both tails and across 0."""
    edges = np.array(
        [-np.inf, -39, -3, -2.995, -2.5, 0.7, 0.700001, 6, np.inf]
    )
    rows = np.stack([edges, edges + 2.75, edges - 40])
    found = noise.normal_masses(rows, np.diff(edges))
    for row, masses in zip(rows, found, strict=True):
        assert np.array_equal(masses, noise.normal_masses(row, np.diff(edges)))
        exact = np.concatenate([[0], np.diff(ndtr(row)), [0]])
        assert np.all(np.abs(masses - exact) < 1e-15)
