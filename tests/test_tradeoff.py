"""Trade-off functions: closed forms, fractions, and both sides of a run."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib import DiscretePair, Gaussian, Poisson, RandomizedResponse
from accountlib.sampling import Release
from accountlib.tradeoff import both_curves, kinks
from tests.exact_tradeoffs import Curve, Pair, mp, quantile

SIDES = ("remove", "add", "add-or-remove")
CIFAR = Release(Gaussian(9.4), Poisson(16384 / 50000), 2000)


@given(st.floats(1e-300, 1), st.floats(0, 60))
@settings(max_examples=60, deadline=None)
def test_gaussian_curve_in_high_precision(x, mu):
    value = al.gaussian_tradeoff(x, mu=mu)
    known = mp.ncdf(-quantile(mp.mpf(x)) - mp.mpf(mu))
    if known > mp.mpf(10) ** -300:
        assert abs(value / known - 1) <= 1e-12
    else:
        assert value <= 1e-299


@given(st.floats(0, 1), st.floats(0, 40), st.sampled_from([0.0, 1e-6, 0.25]))
@settings(max_examples=60, deadline=None)
def test_dp_curve_in_high_precision(x, epsilon, d):
    a, rest = mp.exp(mp.mpf(epsilon)), 1 - mp.mpf(d)
    known = max(mp.mpf(0), rest - a * x, (rest - x) / a)
    found = al.dp_tradeoff(x, epsilon=epsilon, delta=d)
    assert abs(found - known) <= 2e-15 * (1 + a * x)


def coin(p, rate=1.0, count=1):
    pair = Pair([p, 1 - p], [1 - p, p]).sampled(rate).power(count)
    return pair, Release(RandomizedResponse(p), Poisson(rate), count)


RUNS = [
    coin(0.75),
    coin(0.75, 0.5, 2),
    coin(0.625, 0.5, 9),
    coin(0.5625, 1.0, 30),
    coin(0.25, 0.25, 5),
    coin(1023 / 1024, 1.0, 5),
    (
        Pair([0.5, 0.5, 0], [0.25, 0, 0.75]).power(2),
        Release(DiscretePair((0.5, 0.5, 0), (0.25, 0, 0.75)), count=2),
    ),
    (
        Pair([0.5, 0.25, 0.25], [0.0625, 0.25, 0.6875]).sampled(0.5).power(3),
        Release(
            DiscretePair((0.5, 0.25, 0.25), (0.0625, 0.25, 0.6875)),
            Poisson(0.5),
            3,
        ),
    ),
]


@pytest.mark.parametrize("exact, run", RUNS)
@pytest.mark.parametrize("adjacency", SIDES)
def test_both_sides_in_fractions(exact, run, adjacency):
    known = Curve(exact, adjacency)
    lower, upper = both_curves(run, adjacency)
    places = [float(x) for x, _ in known.corners]
    for x in [*places, 0.0, 1e-12, 1e-6, *np.linspace(0, 1, 17).tolist()]:
        assert lower(x) <= known(x) <= upper(x)
        assert 1e-8 < x < 0.999 or upper(x) >= lower(x)
    for alpha in (0.05, 0.6, 1.0, 1.3, 7.0):
        exact_delta = known.delta(alpha)
        assert lower.delta(math.log(alpha)) >= exact_delta * (1 - 1e-14)
        assert upper.delta(math.log(alpha)) <= exact_delta * (1 + 1e-14)
    middle = np.linspace(0.01, 0.99, 50)
    assert np.max(upper(middle) - lower(middle)) < 1e-3


@pytest.mark.parametrize("mu", [1e-3, 0.25, 1.0, 4.0])
def test_lines_of_a_gaussian(mu):
    run = Release(Gaussian(1 / mu))
    lower, upper = both_curves(run, "add-or-remove")
    x = np.append(np.geomspace(1e-9, 0.4, 50), np.linspace(0.4, 1, 20))
    known = al.gaussian_tradeoff(x, mu=mu)
    assert np.all(lower(x) <= known * (1 + 1e-12))
    assert np.all(upper(x) >= known * (1 - 1e-12))
    assert np.max(upper(x) - lower(x)) < 1e-4 * mu
    assert lower.advantage == pytest.approx(math.erf(mu / 8**0.5), rel=2e-4)


def test_nothing_revealed():
    run = Release(Gaussian(1.0), Poisson(0.0))
    lower, upper = both_curves(run, "remove")
    x = np.linspace(0, 1, 9)
    assert lower(x) == pytest.approx(1 - x, abs=1e-12)
    assert np.all((upper(x) >= 1 - x) & (upper(x) <= (1 - x) * (1 + 1e-15)))
    equal = Release(DiscretePair((0.25, 0.75), (0.25, 0.75)), count=3)
    lower, upper = both_curves(equal, "add")
    assert lower(0.3) <= 1 - Fraction(0.3) <= upper(0.3)  # 0.7 is below


def test_kinks_lie_below_a_convex_function():
    rng = np.random.default_rng(3)
    for _ in range(50):
        mu = 10 ** rng.uniform(-2, 0.5)
        e = np.sort(rng.uniform(-1, 3, 30)) * mu
        a = np.exp(e)
        pieces = np.exp(np.linspace(-2, 4, 7) * mu)
        weights = rng.dirichlet(np.ones(7))
        known = np.maximum(pieces[:, None] - a, 0).T @ weights
        known, scale = known / (pieces @ weights), 1e-3 * rng.random()
        low = known * (1 - scale * rng.random(30))
        high = known * (1 + scale * rng.random(30))
        t, d = kinks(a, low, a, np.minimum.accumulate(high))
        exact = np.maximum(pieces[:, None] - t, 0).T @ weights
        assert np.all(d <= exact / (pieces @ weights) * (1 + 1e-12) + 1e-300)
