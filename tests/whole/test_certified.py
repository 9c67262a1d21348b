"""The promise of the package: lower <= truth <= upper, at random settings.

The truth comes from `tests/truth`, which encloses it; nothing else is allowed
for. How wide the intervals are is a second question, with its own limits.
"""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import json
import math

import mpmath as mp
import numpy as np
import pytest
from pytest import approx

import accountlib as al
from tests import DATA, truth
from tests.whole.tally import tally

TABLE_1 = json.loads((DATA / "pitfalls_table1.json").read_text())["rows"]
LAPLACE = json.loads((DATA / "laplace_compositions.json").read_text())["rows"]
ADJACENCIES = ("add", "remove", "add-or-remove")
WIDTH = 1e-3
GAUSSIAN_BATCHES, GAUSSIAN_CASES = 26, 50  # 1,300 with 700 of Laplace: 2,000


def unsampled(rng, mechanism, count):
    """The same privacy, said in several ways: rates 1 and 0, in pieces."""
    sampling = rng.choice([0, 1])
    scheme = al.Poisson(1.0) if sampling else al.FullBatch()
    releases = [al.Release(mechanism, scheme, count)]
    if count > 1 and rng.random() < 0.2:
        part = int(rng.integers(1, count))
        releases = [
            al.Release(mechanism, al.FullBatch(), part),
            al.Release(mechanism, al.Poisson(1.0), count - part),
        ]
    if rng.random() < 0.2:
        releases.append(al.Release(al.Gaussian(0.3), al.Poisson(0.0), 7))
    return releases


def both_answers(releases, delta, epsilon, adjacency):
    return (
        al.epsilon(releases, delta=delta, adjacency=adjacency),
        al.delta(releases, epsilon=epsilon, adjacency=adjacency),
    )


# --- Gaussian and Laplace: 2,000 compositions -----------------------------


def gaussian_setting(rng):
    sigma = float(10 ** rng.uniform(-1, 2))
    count = round(10 ** rng.uniform(0, 5))
    delta = float(10 ** rng.uniform(-12, math.log10(0.5)))
    mu = truth.gaussian_mu(sigma, count)
    start = float(truth.gaussian_delta(0.0, mu)[0])
    if rng.random() < 0.1 and start < 0.5:  # epsilon near 0
        delta = start * float(1 - 10 ** rng.uniform(-6, -1))
    return sigma, count, delta, mu, start


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("batch", range(GAUSSIAN_BATCHES))
def test_random_gaussian_compositions(batch):
    rng = np.random.default_rng([4, batch])
    found = tally()
    for _ in range(GAUSSIAN_CASES):
        sigma, count, delta, mu, start = gaussian_setting(rng)
        low, high = truth.gaussian_epsilon(delta, mu)
        epsilon = float(f"{float(high):.6g}")
        releases = unsampled(rng, al.Gaussian(sigma), count)
        adjacency = str(rng.choice(ADJACENCIES))
        bound, curve = both_answers(releases, delta, epsilon, adjacency)
        setting = (sigma, count, delta, epsilon, releases, adjacency)
        near_zero = delta > 0.999 * start
        found.add(bound, low, high, setting, near_zero)
        low, high = truth.gaussian_delta(epsilon, mu)
        found.add(curve, low, high, setting, False)
    found.check(0.02)


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("first", range(0, 700, 50))
def test_random_laplace_compositions(first):
    rng = np.random.default_rng([5, first])
    found = tally()
    for row in LAPLACE[first : first + 50]:
        scale, count = row["scale"], row["count"]
        delta, epsilon = row["delta"], row["epsilon"]
        releases = unsampled(rng, al.Laplace(scale), count)
        adjacency = str(rng.choice(ADJACENCIES))
        bound, curve = both_answers(releases, delta, epsilon, adjacency)
        setting = (row, releases, adjacency)
        low, high = row["epsilon_low"], row["epsilon_high"]
        found.add(bound, low, high, setting, high < 1e-3)
        low, high = row["delta_low"], row["delta_high"]
        near_top = epsilon > 0.99 * count / scale
        found.add(curve, low, high, setting, near_top)
    found.check(0.1)


def test_epsilon_zero_is_certain():
    """Far above delta(0) nothing is left to bracket: Bound(0, 0)."""
    rng = np.random.default_rng(6)
    for _ in range(40):
        sigma = float(10 ** rng.uniform(0, 2))
        mu = truth.gaussian_mu(sigma)
        delta = min(1.5 * float(truth.gaussian_delta(0.0, mu)[1]), 1.0)
        release = al.Release(al.Gaussian(sigma))
        bound = al.epsilon(release, delta=delta, adjacency="remove")
        assert bound == al.Bound(0.0, 0.0), (sigma, delta)


# --- discrete pairs: 500 in exact fractions -------------------------------


def test_a_billion_coins_at_infinity():
    """The mass at infinity alone decides, and keeps its digits."""
    for chance, count in [(2.0**-40, 10**5), (1e-17, 10), (0.5, 3)]:
        release = al.Release(al.ApproximateDP(0.0, chance), count=count)
        with mp.workdps(40):
            exact = -mp.expm1(count * mp.log1p(-mp.mpf(chance)))
        bound = al.delta(release, epsilon=0.5, adjacency="remove")
        assert bound.lower <= exact <= bound.upper
        assert bound.width < 1e-12
        for delta, answer in [(0.999, math.inf), (1.001, 0.0)]:
            bound = al.epsilon(
                release, delta=min(float(exact) * delta, 1), adjacency="add"
            )
            assert bound == al.Bound(answer, answer)


# --- Table 1 of the pitfalls paper ----------------------------------------


CELLS = [(row, column) for row in TABLE_1 for column in ("poisson", "wor")]


@pytest.mark.parametrize(
    ("row", "column"), CELLS, ids=lambda x: x if isinstance(x, str) else ""
)
def test_table_1(row, column):
    """Add and remove apart (trap 1), a fixed batch is no coin (trap 5).

    The tight values are upper bounds of a fine grid, rounded to 1e-5.
    """
    sampling = (
        al.Poisson(0.001) if column == "poisson" else al.FixedBatch(50, 50_000)
    )
    run = al.Release(al.Gaussian(0.8), sampling, count=10_000)
    noise = 0.8 if column == "poisson" else 0.4
    bounds = {}
    for adjacency in ADJACENCIES:
        bound = al.epsilon(run, delta=row["delta"], adjacency=adjacency)
        assert bound.width <= WIDTH
        bounds[adjacency] = bound
    for direction in ("remove", "add"):
        bound = bounds[direction]
        tight = row[f"tight_{column}_{direction}"]
        assert bound.lower - 1.5e-5 <= tight <= bound.upper + 1.5e-5
        exact = truth.contour_epsilon(
            row["delta"], [(noise, 0.001, 10_000)], direction=direction
        )
        assert bound.lower <= exact * (1 + 1e-9)
        assert bound.upper >= exact * (1 - 1e-9)
    assert bounds["add-or-remove"].lower == approx(bounds["remove"].lower)
    assert bounds["add-or-remove"].upper == approx(bounds["remove"].upper)
    assert bounds["add"].upper < 0.9 * bounds["remove"].lower
    published = row[f"published_{column}"]  # upper bounds, coarser
    tight = row[f"tight_{column}_remove"]
    assert 0 <= published - tight <= 0.02
    assert bounds["remove"].lower < published


def test_the_example_of_the_readme():
    run = al.Release(
        al.Gaussian(noise_multiplier=0.8), al.Poisson(rate=0.001), count=10_000
    )
    bound = al.epsilon(run, delta=1e-6, adjacency="add-or-remove")
    assert math.floor(100 * bound.lower) == math.floor(100 * bound.upper) == 94
