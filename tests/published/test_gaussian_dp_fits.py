"""Gaussian DP, the recommended report: published mu, from our fits."""

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import accountlib as al
from tests import DATA

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}


# --- published numbers ------------------------------------------------------


@pytest.mark.parametrize(
    "row", json.loads((DATA / "gdp_table3.json").read_text())["rows"]
)
def test_table_3(row):
    found = al.mu_from_epsilon_delta(row["eps"], delta=[1e-5, 1e-6, 1e-9])
    assert [round(mu, 2) for mu in found] == row["seed"]
    assert found == pytest.approx(row["recomputed"], rel=1e-9)
    for mu, delta in zip(found, (1e-5, 1e-6, 1e-9), strict=True):
        assert al.gaussian_delta(row["eps"], mu=mu) <= delta


@pytest.mark.parametrize(
    ("epsilon", "mu"),
    [
        (0.1, 0.125309),
        (0.5, 0.623893),
        (1.0, 1.232035),
        (2.0, 2.357961),
        (4.0, 4.194478),
    ],
)
def test_pure_dp(epsilon, mu):
    found = al.gdp(al.Release(al.PureDP(epsilon)), **BOTH)
    regret = al.gaussian_delta(epsilon, mu=mu) / (1 + math.exp(epsilon))
    assert al.mu_from_pure_dp(epsilon) == pytest.approx(mu, abs=1e-6)
    assert found.mu == pytest.approx(mu, abs=1e-6)
    assert found.regret == pytest.approx(regret, abs=1e-6)


def test_laplace():
    found = al.gdp(al.Release(al.Laplace(1.0)), **BOTH)
    assert found.mu == pytest.approx(1.030064, abs=1e-6)
    assert found.regret == pytest.approx(0.037016, abs=1e-5)


def test_census():
    shares = (2, 27.4, 8.5, 13.1, 13.1, 23.8, 11.8, 0.3)
    sigmas = [math.sqrt(10 / (2 * share / 100 * 3.65)) for share in shares]
    smooth = [al.Release(al.Gaussian(s), count=10) for s in sigmas]
    census = [al.Release(al.DiscreteGaussian(s), count=10) for s in sigmas]
    assert al.gdp(smooth, **BOTH).mu == pytest.approx(2.70185, abs=1e-5)
    found = al.gdp(census, **BOTH)
    assert found.mu == pytest.approx(2.70185, abs=1e-4)
    assert found.regret < 2e-4


@pytest.mark.parametrize(
    ("rate", "scale", "low", "high"),
    [(0.75, 0.5, 1.7408, 1.7411), (0.5, 1.0, 0.6753, 0.6755)],
)
def test_asymmetric_curves(rate, scale, low, high):
    """Two steps of sampled Laplace noise, which symmetrization gets wrong."""
    run = al.Release(al.Laplace(scale), al.Poisson(rate), 2)
    for adjacency in ("add", "remove", "add-or-remove"):
        found = al.gdp(run, adjacency=adjacency)
        assert low < found.mu_lower <= found.mu < high


@pytest.mark.parametrize("cutoff", [0.1, 3e-5, 1e-9, 1e-33, 1e-100])
def test_one_sampled_step_at_any_cutoff(cutoff):
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.01))
    z = np.linspace(-1, norm.isf(cutoff), 400_001)
    w = 0.99 * norm.sf(z) + 0.01 * norm.sf(z - 1)
    truth = float(np.max(z - norm.isf(w)))
    found = al.gdp(run, cutoff=cutoff, **BOTH)
    assert found.mu_lower <= truth * (1 + 1e-9)
    assert truth * (1 - 1e-9) <= found.mu <= truth * (1 + 5e-4)
