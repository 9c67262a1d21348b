"""Gaussian DP, the recommended report: tables, census, proposition 6.1."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import json
import math
from typing import Any

import mpmath as mp
import pytest

import accountlib as al
from tests import DATA

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}
SIDES = ("remove", "add", "add-or-remove")
CIFAR = al.Poisson(16384 / 50000)


# --- published numbers ------------------------------------------------------


def test_table_3():
    facts = json.loads((DATA / "gdp_table3.json").read_text("utf-8"))
    deltas = facts["columns_found"]
    assert deltas == [1e-5, 1e-6, 1e-9] and len(facts["rows"]) == 8
    for row in facts["rows"]:
        mu = al.mu_from_epsilon_delta(row["eps"], delta=deltas)
        assert [round(x, 2) for x in mu] == row["seed"]
        assert mu == pytest.approx(row["recomputed"], rel=1e-9)


PURE = [
    # epsilon, mu as printed, regret by the exact formula
    (0.1, 0.125309, 0.00753958),
    (0.5, 0.623893, 0.03524088),
    (1.0, 1.232035, 0.05754640),
    (2.0, 2.357961, 0.05626923),
    (4.0, 4.194478, 0.01459250),
]


@pytest.mark.parametrize(("epsilon", "mu", "regret"), PURE)
def test_proposition_6_1(epsilon, mu, regret):
    assert al.mu_from_pure_dp(epsilon) == pytest.approx(mu, abs=6e-7)
    fit = al.gdp(al.Release(al.PureDP(epsilon)), **BOTH)
    with mp.workdps(40):
        p = 1 / (1 + mp.exp(mp.mpf(epsilon)))
        exact_mu = -2 * mp.sqrt(2) * mp.erfinv(2 * p - 1)
        a = epsilon / exact_mu - exact_mu / 2
        exact = mp.ncdf(-a) - mp.exp(epsilon) * mp.ncdf(-a - exact_mu)
        exact *= p
        assert exact_mu <= fit.mu <= exact_mu * (1 + mp.mpf(10) ** -9)
        assert exact <= fit.regret <= exact + mp.mpf(10) ** -9
        assert abs(exact - regret) <= 6e-9
    assert fit.regret > 0.005  # at the corners of the curve it is 0


def test_laplace_of_scale_1():
    fit = al.gdp(al.Release(al.Laplace(1.0)), **BOTH)
    assert fit.mu == pytest.approx(1.030064, abs=1e-6)
    assert fit.regret == pytest.approx(0.037016, abs=2e-6)
    assert not fit.is_good


def census(noise):
    facts = json.loads((DATA / "census_topdown.json").read_text("utf-8"))
    sigmas = facts["sigma_by_level"]
    assert len(sigmas) == 8 and facts["queries_per_level"] == 10
    return [al.Release(noise(s), count=10) for s in sigmas]


def test_topdown():
    fit = al.gdp(census(al.Gaussian), **BOTH)
    assert fit.mu == pytest.approx(2.70185, abs=1e-5)
    assert fit.mu == pytest.approx(math.sqrt(2 * 3.65), rel=1e-5)
    assert fit.exact and fit.regret < 1e-8


def test_topdown_with_discrete_noise():
    """Noise on the integers differs in the sixth digit of mu."""
    fit = al.gdp(census(al.DiscreteGaussian), **BOTH)
    assert fit.mu_lower <= 2.70185122 + 1e-5 and fit.mu >= 2.70185122 - 1e-5
    assert fit.mu == pytest.approx(2.70185, abs=1e-4)
    assert fit.regret < 1e-3 and fit.is_good
    finer = al.gdp(census(al.DiscreteGaussian), relative_width=1e-5, **BOTH)
    assert finer.mu == pytest.approx(2.70185, abs=2e-5)


@pytest.mark.parametrize(
    ("noise", "count", "mu"),
    [
        (40, 906, 0.25),
        (24, 1156, 0.47),
        (20, 1656, 0.67),
        (16, 1765, 0.86),
        (12, 2007, 1.23),
        (9.4, 2000, 1.57),
        (21.1, 250, 0.25),
        (15.8, 500, 0.47),
        (12, 1000, 0.87),
    ],
)
def test_tables_4_and_5(noise, count, mu):
    fit = al.gdp(al.Release(al.Gaussian(noise), CIFAR, count), **BOTH)
    assert round(fit.mu, 2) == round(fit.mu_lower, 2) == mu
    assert fit.mu_lower <= fit.mu <= fit.mu_lower * (1 + 2e-4)
    assert 1e-5 < fit.regret < 2e-3 and fit.is_good


@pytest.mark.parametrize(
    ("rate", "scale", "low", "high"),
    [(0.75, 0.5, 1.7408, 1.7411), (0.5, 1.0, 0.67535, 0.67540)],
)
@pytest.mark.parametrize("adjacency", SIDES)
def test_sampled_laplace_twice(rate, scale, low, high, adjacency):
    """Trap 11: the larger one of both curves gives 1.673 and 0.6405."""
    run = al.Release(al.Laplace(scale), al.Poisson(rate), count=2)
    fit = al.gdp(run, adjacency=adjacency)
    assert low < fit.mu_lower <= fit.mu < high
