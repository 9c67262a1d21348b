"""The contour of subsampled Gaussians against other methods."""

import json
import math

import mpmath as mp
import numpy as np
import pytest

from tests import DATA, truth
from tests.truth import sampled_gaussians
from tests.truth.compared import close, swapped

TABLE_1 = json.loads((DATA / "pitfalls_table1.json").read_text())["rows"]


# --- subsampled Gaussians -------------------------------------------------


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("delta", [0.3, 1e-6, 1e-200])
@pytest.mark.parametrize(
    ("noise", "count"), [(0.5, 7), (1.0, 1), (30.0, 100_000)]
)
def test_contour_of_unsampled_gaussians(noise, count, delta, direction):
    low, high = truth.gaussian_epsilon(delta, truth.gaussian_mu(noise, count))
    release = [(noise, 1.0, count)]
    found = truth.contour_epsilon(delta, release, direction=direction)
    assert close(found, low, 10)
    if low > 0:
        back = truth.contour_delta(float(low), release, direction=direction)
        assert close(back, delta, 8)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("row", TABLE_1, ids=lambda row: str(row["delta"]))
def test_contour_table_1(row, direction):
    for column, noise in (("poisson", 0.8), ("wor", 0.4)):
        found = truth.contour_epsilon(
            row["delta"], [(noise, 0.001, 10_000)], direction=direction
        )
        # the stored value is an upper bound from a grid, to 5 digits
        assert -2e-6 < row[f"tight_{column}_{direction}"] - found < 1.5e-5


@pytest.mark.parametrize(
    ("delta", "epsilon"), [(1e-13, 5.2128), (1e-15, 5.8472), (1e-50, 16.536)]
)
def test_contour_known_values(delta, epsilon):
    found = truth.contour_epsilon(delta, [(1.0, 0.01, 2000)])
    assert abs(found - epsilon) < 5e-4


@pytest.mark.parametrize(
    "releases",
    [
        [(5.0, 0.5, 3)],
        [(0.8, 0.01, 100), (2.0, 0.3, 50)],
        [(1.0, 1e-4, 10**6)],
        [(0.6, 256 / 60000, 10**5)],
        [(1.0, 1.0, 1), (2.0, 0.0, 10), (0.9, 0.02, 300)],
    ],
    ids=str,
)
def test_contour_swap_identity_of_directions(releases):
    for epsilon in (0.01, 0.4):
        for one, other in (("remove", "add"), ("add", "remove")):
            here = truth.contour_delta(epsilon, releases, direction=one)
            there = truth.contour_delta(-epsilon, releases, direction=other)
            assert abs(here - float(swapped(there, epsilon))) < 1e-10


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_contour_of_one_sampled_gaussian(direction):
    for epsilon in (0.05, 0.4):
        found = truth.contour_delta(
            epsilon, [(5.0, 0.5, 1)], direction=direction
        )
        exact = truth.sampled_gaussian_delta(
            epsilon, 5.0, 0.5, direction=direction
        )
        assert close(found, exact, 8)


def test_contour_monte_carlo():
    rng = np.random.default_rng(2)
    size, noise, rate, count = 20_000, 1.0, 0.05, 100
    loss = np.zeros(size)
    for _ in range(count):
        x = rng.normal(size=size) * noise + (rng.random(size) < rate)
        loss += np.log1p(rate * np.expm1((2 * x - 1) / (2 * noise**2)))
    values = np.maximum(-np.expm1(0.5 - loss), 0)
    found = truth.contour_delta(0.5, [(noise, rate, count)])
    assert abs(found - values.mean()) < 5 * values.std() / math.sqrt(size)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(
    ("noise", "count", "delta"),
    [(1e6, 1, 1e-8), (1e4, 50, 1e-40), (3e7, 10**6, 1e-6), (1e4, 1, 3e-5)],
)
def test_contour_at_large_orders(noise, count, delta, direction):
    """A tiny epsilon: the saddle point lies beyond order 10,000."""
    low, high = truth.gaussian_epsilon(delta, truth.gaussian_mu(noise, count))
    release = [(noise, 1.0, count)]
    found = truth.contour_epsilon_range(delta, release, direction=direction)
    assert found[0] <= low <= high <= found[1] <= found[0] * (1 + 1e-7)
    back = truth.contour_delta_range(float(low), release, direction=direction)
    assert back[0] <= delta * (1 + 1e-9) and delta * (1 - 1e-9) <= back[1]


def test_contour_of_rare_but_huge_losses():
    """The best line sees only the huge losses; others see epsilon.

    0.43927 is what contours left of the best one agreed on before.
    """
    release = [(0.7, 1e-5, 10**7)]
    low, high = truth.contour_epsilon_range(1e-9, release)
    assert low < high < low * (1 + 1e-6) and abs(low - 0.43927) < 5e-6
    middle = (low + high) / 2
    with pytest.raises(ArithmeticError):  # and no more digits than there are
        sampled_gaussians._middle((middle * (1 - 1e-6), middle * (1 + 1e-6)))
    below, above = truth.contour_delta_range(middle, release)
    assert below <= 1e-9 * (1 + 2e-6) and above >= 1e-9 * (1 - 2e-6)
    assert above < below * (1 + 2e-5)


@pytest.mark.in_turn(5)
def test_contour_never_errs_in_silence():
    """One sampled Gaussian, hard for a contour: inside, or an exception."""
    rng = np.random.default_rng(3)
    told = 0
    for _ in range(25):
        noise = math.exp(rng.uniform(math.log(0.3), math.log(100)))
        rate = math.exp(rng.uniform(math.log(1e-6), 0))
        direction = str(rng.choice(["remove", "add"]))
        reach = math.log1p(rate * math.expm1(min(12 / noise, 60)))
        epsilon = float(reach * rng.uniform(0, 1))
        exact = truth.sampled_gaussian_delta(
            epsilon, noise, rate, direction=direction
        )
        try:
            low, high = truth.contour_delta_range(
                epsilon, [(noise, rate, 1)], direction=direction
            )
        except ArithmeticError:
            continue
        told += 1
        assert low <= exact <= high, (noise, rate, epsilon, direction)
    assert told > 8


def test_sampled_gaussian_keeps_the_digits_of_a_tiny_delta():
    """Add, against the integral of (q - alpha p)_+ over its left tail."""
    noise, rate, epsilon = 1.5, 0.25, 0.2876
    found = truth.sampled_gaussian_delta(epsilon, noise, rate, direction="add")
    with mp.workdps(60):
        alpha = mp.exp(mp.mpf(epsilon))
        ratio = (1 / alpha - 1 + rate) / rate
        edge = noise**2 * mp.log(ratio) + mp.mpf(1) / 2
        left = (1 - alpha * (1 - rate)) * mp.ncdf(edge / noise)
        left -= alpha * rate * mp.ncdf((edge - 1) / noise)
        assert found < mp.mpf(10) ** -20 and close(found, left, 20)


def test_contour_far_above_delta_at_zero():
    """Epsilon is 0: by the sum of all delta(0), or by the contour."""
    release = [(5.0, 0.01, 1000)]
    top = truth.contour_delta(0.0, release)
    assert truth.contour_epsilon(1.01 * top, release) == 0
    assert truth.contour_epsilon(0.99, release) == 0
    assert truth.contour_epsilon_range(0.99 * top, release)[0] > 0


def test_contour_ends():
    assert truth.contour_delta(0.1, [(1.0, 0.0, 9)]) == 0
    assert truth.contour_epsilon(1e-5, [(1.0, 0.0, 9)]) == 0
    limit = -3 * math.log1p(-0.5)
    release = [(5.0, 0.5, 3)]
    assert truth.contour_delta(limit, release, direction="add") == 0
    assert truth.contour_epsilon(0.9, release) == 0
