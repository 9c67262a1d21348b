"""Many Laplace releases: sums, contours, simulations."""

import json
import math

import mpmath as mp
import numpy as np
import pytest

from tests import DATA, truth
from tests.truth import laplace_sums
from tests.truth.compared import close, swapped

LAPLACE = json.loads((DATA / "laplace_compositions.json").read_text())["rows"]


def overlap(one, other):
    return one[0] <= other[1] and other[0] <= one[1]


# --- many Laplace releases ------------------------------------------------


@pytest.mark.parametrize("scale", [0.1, 1.0, 100.0])
def test_one_and_two_laplace_releases(scale):
    for share in (0.0, 0.3, 0.8, 0.999):
        epsilon = share / scale
        low, high = truth.laplace_composition_delta(epsilon, scale, 1)
        assert low <= truth.laplace_delta(epsilon, scale) <= high
        low, high = truth.laplace_composition_delta(2 * epsilon, scale, 2)
        pair = [(scale, 1.0)] * 2
        quadrature = truth.sampled_laplace_delta(2 * epsilon, pair)
        assert abs(low - quadrature) < 1e-22 and high - low < 1e-40


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    ("epsilon", "scale", "count"),
    [
        (0.05, 100.0, 120),
        (300.0, 0.3, 120),
        (10.0, 1.0, 101),
        (1.5, 20.0, 200),
        (0.0, 8.0, 200),
        (25.0, 3.0, 200),
    ],
)
def test_contour_meets_the_exact_sum(epsilon, scale, count):
    with mp.workdps(60):
        epsilon, scale = mp.mpf(epsilon), mp.mpf(scale)
        exact = laplace_sums._laplace_parts(epsilon, scale, count, count + 1)
        for parts in (None, 2, 3, 5):
            other = laplace_sums._laplace_contour(epsilon, scale, count, parts)
            assert overlap(exact, other) and close(*other, 9)


@pytest.mark.parametrize(
    ("epsilon", "scale", "count"),
    [(0.05, 100.0, 2000), (3.0, 2.0, 1000), (30.0, 5.0, 50_000)],
)
def test_contour_swap_identity(epsilon, scale, count):
    """At -epsilon the saddle point lies elsewhere: another integral."""
    with mp.workdps(60):
        epsilon, scale = mp.mpf(epsilon), mp.mpf(scale)
        here = laplace_sums._laplace_contour(epsilon, scale, count)
        there = laplace_sums._laplace_contour(-epsilon, scale, count)
        assert overlap(here, [swapped(value, epsilon) for value in there])


@pytest.mark.parametrize(("scale", "count"), [(30.0, 400), (3.0, 700)])
def test_laplace_monte_carlo(scale, count):
    rng = np.random.default_rng(1)
    size = 20_000
    loss = np.zeros(size)
    for _ in range(count):
        x = 1 + rng.laplace(scale=scale, size=size)
        loss += (np.abs(x) - np.abs(x - 1)) / scale
    for quantile in (0.5, 0.9, 0.99):
        epsilon = float(np.quantile(loss, quantile))
        values = np.maximum(-np.expm1(epsilon - loss), 0)
        error = 5 * values.std() / math.sqrt(size)
        low, high = truth.laplace_composition_delta(epsilon, scale, count)
        assert low - error <= values.mean() <= high + error


def test_laplace_at_the_ends():
    assert truth.laplace_composition_delta(10.0, 1.0, 10) == (0, 0)
    assert truth.laplace_composition_epsilon(0.5, 100.0, 10) == (0, 0)
    low, high = truth.laplace_composition_epsilon(1e-12, 0.5, 20)
    assert low <= 40 <= high + 1e-4  # only the largest loss, 2^-20, exceeds


def test_laplace_table_is_complete_and_narrow():
    assert len(LAPLACE) == 700
    for row in LAPLACE:
        low, high = row["epsilon_low"], row["epsilon_high"]
        assert 0 <= low <= high <= low * (1 + 1e-8) + 2e-10
        assert high <= row["count"] / row["scale"] * (1 + 1e-15)
        assert 0 <= row["delta_low"] <= row["delta_high"] <= 1
        assert row["delta_high"] <= row["delta_low"] * (1 + 1e-8)


@pytest.mark.parametrize("row", LAPLACE[::60], ids=str)
def test_laplace_table_again(row):
    """The stored ends, and the proof that they are ends, once more."""
    scale, count = row["scale"], row["count"]

    def delta(epsilon):
        return truth.laplace_composition_delta(epsilon, scale, count)

    assert delta(row["epsilon_high"])[1] <= row["delta"]
    if row["epsilon_low"] > 0:
        assert delta(row["epsilon_low"])[0] > row["delta"]
    assert overlap(
        delta(row["epsilon"]), (row["delta_low"], row["delta_high"])
    )
