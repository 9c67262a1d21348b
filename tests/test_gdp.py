"""mu at a cut-off and its regret: fractions, one step, extreme runs."""

import math

import numpy as np
import pytest

import accountlib as al
from accountlib import ApproximateDP, Gaussian, Poisson, RandomizedResponse
from accountlib.regret import GDPFit, gdp
from accountlib.sampling import Release
from accountlib.tradeoff import both_curves
from tests.exact_tradeoffs import Curve, Pair, gaussian_profile, mp, quantile
from tests.test_tradeoff import RUNS, SIDES, coin

BOTH = {"adjacency": "add-or-remove"}


def hold(exact, run, adjacency, narrow, **options):
    """mu and regret are on the safe side, and narrow."""
    curve = Curve(exact, adjacency)
    fit = gdp(run, adjacency=adjacency, **options)
    known = curve.mu(fit.cutoff)
    assert fit.mu_lower <= known <= fit.mu
    assert fit.mu - fit.mu_lower <= narrow * fit.mu
    if fit.mu < math.inf:
        assert curve.regret(fit.mu) <= fit.regret
        assert fit.regret <= curve.regret(fit.mu) * 1.05 + 10 * narrow


@pytest.mark.parametrize("exact, run", RUNS[:-1])
@pytest.mark.parametrize("adjacency", SIDES)
def test_fractions(exact, run, adjacency):
    hold(exact, run, adjacency, 1e-4)


@pytest.mark.parametrize("seed", range(16))
def test_random_lists_in_fractions(seed):
    """Skewed lists, equal ones, masses of 0, any cut-off."""
    rng = np.random.default_rng([85, seed])
    size, whole = int(rng.integers(2, 5)), 2 ** int(rng.integers(4, 30))
    lists = []
    for x in rng.dirichlet(np.full(size, rng.choice([0.1, 0.5, 2])), 2):
        k = np.floor(x * whole)
        k[np.argmax(k)] += whole - k.sum()
        lists.append(k / whole)
    p, q = lists if seed % 4 else lists[:1] * 2
    rate = float(rng.choice([1.0, 0.25, 2**-7]))
    count = int(rng.integers(1, 4))
    run = Release(al.DiscretePair(p, q), Poisson(rate), count)
    side, cutoff = SIDES[seed % 3], float(rng.choice([1e-4, 1e-10, 1e-30]))
    known = Curve(Pair(p, q).sampled(rate).power(count), side)
    lower, upper = both_curves(run, side, cutoff=cutoff)
    for x in [float(x) for x, _ in known.corners] + rng.random(20).tolist():
        assert lower(x) <= known(x) <= upper(x)
    fit = gdp(run, adjacency=side, cutoff=cutoff)
    assert fit.mu_lower <= known.mu(cutoff) <= fit.mu
    assert fit.mu == math.inf or known.regret(fit.mu) <= fit.regret


@pytest.mark.parametrize("cutoff", [0.05, 1e-5, 1e-20, 1e-60])
def test_other_cutoffs(cutoff):
    hold(*coin(0.75, 0.5, 8), "add-or-remove", 1e-6, cutoff=cutoff)


def test_exact_gaussian_runs():
    fit = gdp(Release(Gaussian(2.0), count=4), adjacency="add")
    assert fit.exact and fit.regret < 1e-14 and fit.is_good
    assert fit.mu_lower <= 1.0 <= fit.mu <= 1 + 1e-14
    one, two = Release(Gaussian(3.0), count=9), Release(Gaussian(0.5))
    group = gdp([one, two], adjacency="add", group_size=2)
    assert group.mu_lower <= 2 * math.sqrt(5) <= group.mu
    other = gdp([one, two], adjacency="substitute")
    assert other == group
    nothing = gdp(Release(Gaussian(1.0), Poisson(0.0)), **BOTH)
    assert nothing == GDPFit(0.0, 0.0, 1e-10, 0.0, True)


@pytest.mark.parametrize(
    "run",
    [
        Release(al.PureDP(50.0), count=2),
        Release(RandomizedResponse(1.0), count=3),
        Release(RandomizedResponse(0.5), count=3),
        Release(ApproximateDP(0.0, 0.5), count=3),
        Release(ApproximateDP(1.0, 1.0)),
        Release(Gaussian(0.025), Poisson(0.99), 2),
        Release(Gaussian(1e5), Poisson(0.5), 10**9),
        Release(al.Laplace(0.01), count=2),
    ],
)
def test_extreme_runs(run):
    fit = gdp(run, adjacency="remove")
    assert 0 <= fit.mu_lower <= fit.mu and 0 <= fit.regret <= 1
    lower, upper = both_curves(run, "remove")
    x = np.append(0.0, np.geomspace(1e-12, 1, 60))
    assert np.all(lower(x) <= upper(x))


def test_infinite_where_the_curve_says_so():
    assert gdp(Release(RandomizedResponse(1.0)), **BOTH).mu == math.inf
    assert gdp(Release(ApproximateDP(1.0, 1.0)), **BOTH).mu == math.inf
    assert gdp(Release(ApproximateDP(1.0, 1.0)), **BOTH).mu_lower > 8
    some = gdp(Release(ApproximateDP(1.0, 1e-3)), **BOTH)
    assert 3.27 < some.mu_lower <= some.mu < 3.28 and not some.is_good


@pytest.mark.parametrize("epsilon", [0.1, 0.7, 1.0, 3.0, 40.0, 300.0])
def test_pure_dp_in_high_precision(epsilon):
    with mp.workdps(300):
        known = -2 * quantile(1 / (1 + mp.exp(mp.mpf(epsilon))))
    found = al.mu_from_pure_dp(epsilon)
    assert known <= found <= known * (1 + mp.mpf(10) ** -12)


@pytest.mark.parametrize("delta", [1e-250, 1e-12, 1e-5, 0.3, 0.9, 1 - 1e-9])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.5, 8.0, 900.0])
def test_mu_of_a_budget(epsilon, delta):
    mu = al.mu_from_epsilon_delta(epsilon, delta=delta)
    if mu == 0:  # rounded down: smaller ones are not told apart from 0
        assert max(epsilon, delta) < 1e-6
        return
    with mp.workdps(400):
        known = gaussian_profile(epsilon, mu)
        above = gaussian_profile(epsilon, mu * (1 + mp.mpf("1e-7")))
    assert known <= delta and (delta <= above or mu < 1e-6)
