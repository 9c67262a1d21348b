"""One sampled Gaussian step, known in closed form."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import accountlib as al
from accountlib.gaussian_dp.certified_curves import thinned
from tests import truth
from tests.gaussian_dp.exact_runs import both_curves
from tests.truth.tradeoffs import (
    SampledStep,
    gaussian_profile,
    mu_of,
    quantile,
)

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}
SIDES = ("remove", "add", "add-or-remove")


# --- one sampled step -------------------------------------------------------


def test_mu_grows_as_the_cutoff_shrinks():
    """Trap 9: 0.083, 0.225, 0.592 on the way to 1, where no x is left."""
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.01))
    before = 0.0
    for cutoff, printed in ((3e-5, 0.083), (1e-9, 0.225), (1e-33, 0.594)):
        fit = al.gdp(run, cutoff=cutoff, **BOTH)
        with mp.workdps(40):
            known = SampledStep(1.0, 0.01).mu(cutoff)
        assert fit.mu_lower <= known <= fit.mu <= known * (1 + 1e-4)
        assert fit.mu == pytest.approx(printed, abs=1e-3)
        assert fit.cutoff == cutoff and fit.mu_lower > before
        before = fit.mu
    assert al.gdp(run, cutoff=1e-250, **BOTH).mu < 1


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("cutoff", [0.1, 1e-3, 1e-10, 1e-33, 1e-100, 1e-200])
@pytest.mark.parametrize(
    ("noise", "rate"),
    [(1.0, 0.01), (0.3, 0.2), (5.0, 1e-3), (30.0, 0.9), (2.0, 0.5)],
)
def test_one_sampled_step(noise, rate, cutoff):
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    with mp.workdps(40):
        known = SampledStep(noise, rate).mu(cutoff)
        for adjacency in ("remove", "add"):
            fit = al.gdp(run, adjacency=adjacency, cutoff=cutoff)
            assert fit.mu_lower <= known <= fit.mu, adjacency
            assert fit.mu <= known * (1 + 1e-3), adjacency
            assert fit.mu_lower >= known * (1 - 1e-3), adjacency


@pytest.mark.parametrize(
    ("noise", "rate"), [(1.0, 0.01), (0.1, 0.01), (0.15, 1e-3), (3.0, 0.5)]
)
@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
def test_regret_of_one_sampled_step(noise, rate, width):
    """At least what any single epsilon shows, 0 above all."""
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    fit = al.gdp(run, relative_width=width, **BOTH)
    epsilons = [0.0, *np.geomspace(1e-8, 3, 20)]
    for epsilon in epsilons:
        known = truth.sampled_gaussian_delta(epsilon, noise, rate)
        shown = gaussian_profile(epsilon, fit.mu) - known
        assert fit.regret >= shown / (1 + mp.exp(epsilon)), epsilon


@pytest.mark.parametrize(
    ("noise", "rate"), [(1.0, 0.01), (0.3, 0.5), (8.0, 1e-3)]
)
@pytest.mark.parametrize("adjacency", ["remove", "add"])
def test_curves_of_one_sampled_step(noise, rate, adjacency):
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    lower, upper = both_curves(run, adjacency=adjacency)
    with mp.workdps(50):
        step = SampledStep(noise, rate)
        for z in mp.linspace(-6, 6, 49):
            x, y = step.errors(z)
            if adjacency == "add":
                x, y = y, x
            at = float(x)
            moved = 1e-15 * (1 + abs(y / x))  # x was rounded
            assert lower(at) <= y + moved
            assert upper(at) >= y - moved
            assert upper(at) - lower(at) <= 1e-4


@pytest.mark.parametrize("cutoff", [1e-33, 1e-100, 1e-200])
@pytest.mark.parametrize("adjacency", SIDES)
def test_little_noise_and_a_tiny_cutoff(cutoff, adjacency):
    """Error rates far below 1e-16 on one side, near 1 on the other."""
    run = al.Release(al.Gaussian(0.05), al.Poisson(0.9))
    fit = al.gdp(run, adjacency=adjacency, cutoff=cutoff)
    with mp.workdps(40):
        known = SampledStep(0.05, 0.9).mu(cutoff)
        assert fit.mu_lower <= known <= fit.mu <= known * (1 + 1e-3)


@pytest.mark.parametrize(
    ("noise", "rate", "cutoff"),
    [
        (0.054282919865022025, 0.21732738539585536, 1.957944270521951e-163),
        (0.05377829330668975, 0.47501607534888746, 8.718867123031629e-149),
        (0.05, 0.2619382364607795, 2.5309274099299057e-89),
    ],
)
@pytest.mark.parametrize("adjacency", SIDES)
def test_the_line_at_the_cutoff(noise, rate, cutoff, adjacency):
    """Corners that rounding has put out of order; mu_lower was too large."""
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    fit = al.gdp(run, adjacency=adjacency, cutoff=cutoff)
    with mp.workdps(50):
        # No test of the truth has a larger mu than at the largest z.
        known = SampledStep(noise, rate).mu_at(-quantile(mp.mpf(cutoff)))
        assert known <= fit.mu
        if adjacency == "remove":
            assert fit.mu_lower <= known <= fit.mu * (1 + 1e-4)


def test_thinned_epsilons_stay_apart():
    """Also if two of them lie left and right of a multiple of the gap."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        points = np.abs(rng.normal(size=300)) * 10.0 ** rng.uniform(-14, 2)
        gap = 1e-14 + 1e-9 * points.max()
        whole = gap * rng.integers(0, 1000, 300)
        near = whole * (1 + rng.choice([-1, 0, 1], 300) * 2e-16)
        kept = thinned(np.concatenate([points, points[:9], near]))
        assert np.all(np.diff(np.exp(kept)) > 0)


def test_where_no_test_has_both_error_rates():
    """By definition the larger mu of the two crossings of the cut-off."""
    run = al.Release(al.Gaussian(0.2), al.Poisson(0.9))
    with mp.workdps(50):
        step = SampledStep(0.2, 0.9)
        x, y = step.errors(-quantile(mp.mpf("0.1")))
        assert y < 0.1
        low, high = mp.mpf(-9), mp.mpf(9)
        for _ in range(150):
            z = (low + high) / 2
            low, high = (low, z) if step.errors(z)[1] > 0.1 else (z, high)
        known = max(mu_of(x, y), mu_of(*step.errors(low)))
    for adjacency in ("remove", "add"):
        fit = al.gdp(run, adjacency=adjacency, cutoff=0.1)
        assert fit.mu_lower <= known * (1 + 1e-9)
        assert fit.mu >= known * (1 - 1e-9)
