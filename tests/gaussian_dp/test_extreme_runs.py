"""Hardly any loss, and noise beyond all measure."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from typing import Any

import numpy as np
import pytest

import accountlib as al
from tests.gaussian_dp.exact_runs import both_curves

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}
SIDES = ("remove", "add", "add-or-remove")


# --- extremes ---------------------------------------------------------------


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize(
    ("noise", "rate"),
    [(76.85, 1e-9), (486341.4, 0.999999), (1e9, 0.01)],
)
def test_hardly_any_loss(noise, rate, width):
    """As a Gaussian of mu = rate/noise, from below up to the next order."""
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    for adjacency in SIDES:
        options: dict[str, Any] = {
            "adjacency": adjacency,
            "relative_width": width,
        }
        fit = al.gdp(run, **options)
        lower, upper = both_curves(run, **options)
        assert fit.mu_lower <= rate / noise * (1 + 10 / noise)
        assert fit.mu >= rate / noise * (1 - 1e-12)
        x = np.geomspace(1e-9, 1, 40)
        assert np.all(lower(x) <= upper(x) + 2e-15)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "noise", [1e-200, 1e-160, 1e-100, 1e100, 1e161, 1e200]
)
def test_noise_beyond_all_measure(noise):
    fit = al.gdp(al.Release(al.Gaussian(noise)), **BOTH)
    assert fit.mu_lower <= 1 / noise <= fit.mu <= 1.001 / noise
    assert 0 <= fit.regret <= 1


@pytest.mark.in_turn(5)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "run",
    [
        al.Release(al.PureDP(50.0)),
        al.Release(al.PureDP(50.0), count=2),
        al.Release(al.PureDP(700.0), al.Poisson(0.5)),
        al.Release(al.RandomizedResponse(1.0), count=3),
        al.Release(al.RandomizedResponse(0.5), count=3),
        al.Release(al.ApproximateDP(0.0, 0.5), count=3),
        al.Release(al.ApproximateDP(1.0, 1.0)),
        al.Release(al.Gaussian(0.025), al.Poisson(0.99), count=2),
        al.Release(al.Gaussian(1.0), al.Poisson(1e-6), count=10**9),
        al.Release(al.Gaussian(1e5), al.Poisson(0.5), count=10**9),
        al.Release(al.Laplace(0.01), count=2),
        al.Release(al.Gaussian(1.0), al.Poisson(0.0)),
        al.Release(al.Gaussian(10.0), al.Poisson(5e-324)),
    ],
)
def test_extreme_runs(run):
    for adjacency in ("remove", "add-or-remove"):
        fit = al.gdp(run, adjacency=adjacency)
        assert 0 <= fit.mu_lower <= fit.mu and 0 <= fit.regret <= 1
        lower, upper = both_curves(run, adjacency=adjacency)
        x = np.append(0.0, np.geomspace(1e-12, 1, 60))
        assert np.all(lower(x) <= upper(x) + 2e-15)
        bound = al.delta(run, epsilon=0.0, adjacency=adjacency)
        assert lower.advantage >= bound.lower - 1e-15
        assert upper.advantage <= bound.upper + 1e-15


@pytest.mark.parametrize("epsilon", [1e-13, 1e-15, 1e-16, 1e-17])
@pytest.mark.parametrize("pure", [True, False])
def test_tiny_losses_a_million_billion_times(epsilon, pure):
    """Together they are not nothing: the truth is sqrt(T) epsilon."""
    one = al.PureDP(epsilon) if pure else al.DiscreteLaplace(1 / epsilon)
    run = al.Release(one, count=10**15)
    bound = al.epsilon(run, delta=0.0, **BOTH)
    assert bound.lower <= 1e15 * epsilon * (1 + 1e-9)
    assert bound.upper >= 1e15 * epsilon * (1 - 1e-9)
    assert al.gdp(run, **BOTH).mu >= 0.99 * math.sqrt(1e15) * epsilon
