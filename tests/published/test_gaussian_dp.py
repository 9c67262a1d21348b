"""Gomez et al. (2025), on reporting Gaussian DP: its numbers, from our fits.

Which numbers the paper prints, and which were computed again, is said in
`tests/data/gdp_table3.json` and `tests/data/census_topdown.json`.
"""

import json
import math

import numpy as np
import pytest

from accountlib import Gaussian, Laplace
from accountlib.accountant import delta, epsilon
from accountlib.gaussian import gaussian_bounds
from accountlib.gdp import mu_from_epsilon_delta, mu_from_pure_dp
from accountlib.mechanisms import ApproximateDP, DiscreteGaussian, PureDP
from accountlib.regret import gdp
from accountlib.sampling import Poisson, Release
from accountlib.tradeoff import both_curves, gaussian_tradeoff
from tests import DATA
from tests.exact_tradeoffs import gaussian_profile, mp

BOTH = {"adjacency": "add-or-remove"}
CIFAR = Poisson(16384 / 50000)
IMAGENET = Release(Gaussian(2.5), Poisson(16384 / 1281167), 71589)


def test_table_3():
    facts = json.loads((DATA / "gdp_table3.json").read_text("utf-8"))
    deltas = facts["columns_found"]
    assert deltas == [1e-5, 1e-6, 1e-9] and len(facts["rows"]) == 8
    for row in facts["rows"]:
        found = mu_from_epsilon_delta(row["eps"], delta=deltas)
        assert [round(x, 2) for x in found.tolist()] == row["seed"]
        assert found == pytest.approx(row["recomputed"], rel=1e-9)


PURE = [
    # epsilon, mu as printed, regret by the exact formula
    (0.1, 0.125309, 0.00753958),
    (0.5, 0.623893, 0.03524088),
    (1.0, 1.232035, 0.05754640),
    (2.0, 2.357961, 0.05626923),
    (4.0, 4.194478, 0.01459250),
]


@pytest.mark.parametrize("epsilon_, mu, regret", PURE)
def test_proposition_6_1(epsilon_, mu, regret):
    assert mu_from_pure_dp(epsilon_) == pytest.approx(mu, abs=6e-7)
    fit = gdp(Release(PureDP(epsilon_)), **BOTH)
    p = 1 / (1 + mp.exp(mp.mpf(epsilon_)))
    known = 2 * mp.sqrt(2) * mp.erfinv(1 - 2 * p)
    hidden = gaussian_profile(epsilon_, known) * p
    assert known <= fit.mu <= known * (1 + mp.mpf(10) ** -9)
    assert hidden <= fit.regret <= hidden + mp.mpf(10) ** -9
    assert abs(hidden - regret) <= 6e-9
    # (31) to (34): both have the same total variation distance.
    (low, high), tv = (
        delta(run, epsilon=0.0, **BOTH)
        for run in (Release(PureDP(epsilon_)), Release(Gaussian(1 / fit.mu)))
    )
    assert low <= math.tanh(epsilon_ / 2) <= high
    assert tv.lower <= high * (1 + 1e-12) and low <= tv.upper * (1 + 1e-12)


def test_laplace_of_scale_1():
    fit = gdp(Release(Laplace(1.0)), **BOTH)
    assert fit.mu == pytest.approx(1.030064, abs=1e-6)
    assert fit.regret == pytest.approx(0.037016, abs=2e-6)
    assert not fit.is_good


def census(noise):
    facts = json.loads((DATA / "census_topdown.json").read_text("utf-8"))
    sigmas = facts["sigma_by_level"]
    assert len(sigmas) == 8 and facts["queries_per_level"] == 10
    return [Release(noise(s), count=10) for s in sigmas]


@pytest.mark.parametrize("noise", [Gaussian, DiscreteGaussian])
def test_topdown(noise):
    """Noise on the integers differs in the sixth digit of mu."""
    fit, off = gdp(census(noise), **BOTH), 1e-5 if noise is Gaussian else 3e-4
    assert fit.mu == pytest.approx(2.70185, abs=off)
    assert fit.mu == pytest.approx(math.sqrt(2 * 3.65), rel=off)
    assert fit.mu_lower <= 2.70186 and fit.mu >= 2.70184
    assert fit.regret < (1e-8 if fit.exact else 1e-3) and fit.is_good
    assert fit.exact == (noise is Gaussian)


@pytest.mark.parametrize(
    "noise, count, mu",
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
    fit = gdp(Release(Gaussian(noise), CIFAR, count), **BOTH)
    assert round(fit.mu, 2) == round(fit.mu_lower, 2) == mu
    assert fit.mu_lower <= fit.mu <= fit.mu_lower * (1 + 2e-4)
    assert 1e-5 < fit.regret < 2e-3 and fit.is_good


def test_epsilons_of_the_headings_are_renyi_values():
    for noise, count, low, heading in (
        (40, 906, 0.914, 1),
        (9.4, 2000, 7.424, 8),
    ):
        run = Release(Gaussian(noise), CIFAR, count)
        found = epsilon(run, delta=1e-5, **BOTH)
        assert found.lower == pytest.approx(low, abs=5e-3)
        assert found.upper < heading


def test_imagenet():
    fit = gdp(IMAGENET, **BOTH)
    assert round(fit.mu, 2) == 1.43 and fit.is_good
    assert epsilon(IMAGENET, delta=8e-7, **BOTH).upper < 7.927


@pytest.mark.parametrize(
    "rate, scale, low, high",
    [(0.75, 0.5, 1.7408, 1.7411), (0.5, 1.0, 0.67535, 0.67540)],
)
@pytest.mark.parametrize("adjacency", ["add", "remove", "add-or-remove"])
def test_asymmetric_curves(rate, scale, low, high, adjacency):
    """The larger of both profiles, made symmetric, has 1.673 and 0.6405."""
    run = Release(Laplace(scale), Poisson(rate), 2)
    fit = gdp(run, adjacency=adjacency)
    assert low < fit.mu_lower <= fit.mu < high


def test_figure_3_trends():
    """Regret falls with T and with sigma; it is not monotone in q."""

    def regret(sigma, rate, count):
        run = Release(Gaussian(sigma), Poisson(rate), count)
        return gdp(run, relative_width=1e-3, **BOTH).regret

    assert regret(2, 0.1, 400) > regret(2, 0.1, 1600) > regret(2, 0.1, 6400)
    assert regret(1.5, 0.1, 400) > regret(3, 0.1, 400) > regret(6, 0.1, 400)
    assert regret(2, 0.1, 400) == pytest.approx(1.3e-2, abs=2e-3)
    middle = regret(2, 0.1, 100)
    assert middle > regret(2, 1e-3, 100) and middle > regret(2, 0.8, 100)


def test_proposition_4_2():
    """Advantages differ by at most twice the regret."""
    for run in (Release(Laplace(1.0)), Release(Gaussian(9.4), CIFAR, 2000)):
        fit = gdp(run, **BOTH)
        own = delta(run, epsilon=0.0, **BOTH)
        shown = gaussian_bounds(np.array(0.0), fit.mu)
        assert shown[0] - own.upper <= 2 * fit.regret


def test_proposition_6_2():
    """(epsilon, delta) alone allows f(0) < 1, below every f_mu near 0."""
    lower, upper = both_curves(Release(ApproximateDP(1.0, 1e-3)), **BOTH)
    assert upper(1e-12) <= 0.999 + 1e-9
    assert gaussian_tradeoff(1e-12, mu=3.0) > 0.9999
    fits = [
        gdp(Release(ApproximateDP(1.0, 1e-3)), cutoff=c, **BOTH).mu
        for c in (1e-6, 1e-20, 1e-60)
    ]
    assert fits[0] < fits[1] - 4 and fits[1] < fits[2] - 4
