"""Exchanged records: identities, groups, trade-off curves."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.gaussian_dp.certified_curves import run_profiles
from accountlib.runs import one_call
from tests.several.exchanges import pair_of

SUB: dict[str, Any] = {"adjacency": "substitute"}
BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}


# --- identities -------------------------------------------------------------


@pytest.mark.parametrize("sigma", [0.3, 2.0, 50.0])
def test_full_batches(sigma):
    samplings = al.FullBatch(), al.Poisson(1.0), al.FixedBatch(7, 7)
    for sampling in samplings:
        run = al.Release(al.Gaussian(sigma), sampling, 4)
        bound = al.epsilon(run, delta=1e-6, **SUB)
        assert bound.contains(al.gaussian_epsilon(1e-6, mu=4 / sigma))
        for mechanism in (
            al.Laplace(sigma),
            al.DiscreteLaplace(sigma),
            al.RandomizedResponse(0.75),
            al.ApproximateDP(0.5, 1e-7),
        ):
            runs = [
                al.Release(mechanism, s, 3) for s in (sampling, al.FullBatch())
            ]
            one, two = (al.epsilon(r, delta=1e-5, **SUB) for r in runs)
            assert one == two
    never = al.Release(al.Gaussian(sigma), al.Poisson(0.0), 4)
    assert al.epsilon(never, delta=0, **SUB) == al.Bound(0.0, 0.0)


@pytest.mark.parametrize("sampling", [al.FullBatch(), al.Poisson(0.02)])
def test_larger_groups(sampling):
    run = al.Release(al.Gaussian(4.0), sampling, 50)
    before = 0.0
    for size in (1, 2, 3, 8):
        bound = al.epsilon(run, delta=1e-6, group_size=size, **SUB)
        plain = al.epsilon(run, delta=1e-6, group_size=size, **BOTH)
        assert bound.lower > before and bound.width <= 1e-3
        assert bound.upper >= plain.lower
        before = bound.upper


@pytest.mark.in_turn(5)
@pytest.mark.parametrize(
    "mechanism",
    [
        al.Gaussian(0.8),
        al.Laplace(1.0),
        al.DiscreteLaplace(1.0),
        al.DiscreteGaussian(1.2),
        al.RandomizedResponse(0.75),
        al.PureDP(1.0),
        al.ApproximateDP(0.7, 1e-6),
    ],
)
@pytest.mark.parametrize("rate", [0.01, 0.5])
def test_an_exchange_is_worse(mechanism, rate):
    run = al.Release(mechanism, al.Poisson(rate), 30)
    for epsilon in (0.0, 0.5):
        more = al.delta(run, epsilon=epsilon, **SUB)
        less = al.delta(run, epsilon=epsilon, **BOTH)
        assert more.upper >= less.lower
        loose = one_call.substitute_delta_bound(run, epsilon=epsilon, splits=3)
        assert loose >= more.lower
        # it is above the upper end where theory has no gap
        if len(pair_of(mechanism, run.sampling).reached) == 1:
            assert loose >= more.upper * (1 - 2e-3)
    more = al.epsilon(run, delta=1e-5, **SUB)
    assert more.upper >= al.epsilon(run, delta=1e-5, **BOTH).lower


def test_the_bound_from_add_and_remove():
    run = al.Release(al.Gaussian(1.0), al.FixedBatch(5, 100), 20)
    known = al.delta(run, epsilon=1.0, **SUB)
    few = one_call.substitute_delta_bound(run, epsilon=1.0, splits=2)
    many = one_call.substitute_delta_bound(run, epsilon=1.0, splits=17)
    assert known.lower <= many <= few <= 1
    two = one_call.substitute_delta_bound([run, run], epsilon=1.0)
    assert al.delta([run, run], epsilon=1.0, **SUB).lower <= two


# --- Gaussian DP ------------------------------------------------------------


RUNS = [
    al.Release(al.Gaussian(1.0), al.Poisson(0.05), 60),
    al.Release(al.Gaussian(2.0), al.FixedBatch(5, 100), 60),
    al.Release(al.Laplace(2.0), al.Poisson(0.3), 5),
    al.Release(al.RandomizedResponse(0.75), al.Poisson(0.25), 6),
    al.Release(al.DiscreteGaussian(2.0), al.Poisson(0.25), 6),
]


@pytest.mark.parametrize("run", RUNS)
def test_curves_agree_with_answers(run):
    fit = al.gdp(run, **SUB)
    assert 0 < fit.mu_lower <= fit.mu
    lower = al.tradeoff_curve(run, **SUB)
    upper = al.tradeoff_curve(run, bound="upper", **SUB)
    x = np.concatenate([np.geomspace(1e-9, 0.5, 60), np.linspace(0, 1, 41)])
    assert np.all(lower(x) <= upper(x) + 1e-12)
    # symmetric: f is its own inverse
    y = lower(x)
    seen = (y > 1e-9) & (y < 1)
    assert np.all(lower(y[seen]) <= x[seen] * (1 + 1e-3) + 1e-9)
    for epsilon in (0.0, 0.2, 1.0):
        bound = al.delta(run, epsilon=epsilon, **SUB)
        assert lower.delta(epsilon) >= bound.lower * (1 - 1e-12)
        assert upper.delta(epsilon) <= bound.upper * (1 + 1e-12)
        assert fit.delta(epsilon) >= bound.lower * (1 - 1e-9) - 1e-10
    plain = al.gdp(run, **BOTH)
    assert fit.mu >= plain.mu_lower


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("run", [RUNS[0], RUNS[1], RUNS[3]])
def test_both_curves_of_a_run(run):
    one, two = run_profiles(run, "substitute", 1, 1e-8, 1e-3)
    assert one is two
    assert np.all(one.lower <= one.upper)
    for k in range(0, len(one.epsilon), max(1, len(one.epsilon) // 12)):
        bound = al.delta(run, epsilon=float(one.epsilon[k]), **SUB)
        assert one.lower[k] <= bound.upper
        assert bound.lower <= one.upper[k]


def test_reports():
    run = RUNS[1]
    report = al.report(run, deltas=[1e-6], record="one row", notes="", **SUB)
    ((delta, bound),) = report.epsilons
    found = al.epsilon(run, delta=delta, **SUB)
    assert bound.lower <= found.upper and found.lower <= bound.upper
    assert report.fit.mu == al.gdp(run, **SUB).mu
    advantage = al.delta(run, epsilon=0.0, **SUB)
    assert report.advantage.lower <= advantage.upper
    assert advantage.lower <= report.advantage.upper
    assert "substitute" in str(report)
    for _, rate in report.tradeoff:
        assert rate.lower <= rate.upper


def test_large_groups_that_are_hardly_ever_missed():
    """A warning would be an error here. With more of them it is refused."""
    run = al.Release(al.Gaussian(0.0638), al.Poisson(1 - 4.8e-9))
    bound = al.epsilon(run, delta=1e-6, group_size=36, **SUB)
    full = al.Release(al.Gaussian(0.0638))
    most = al.epsilon(full, delta=1e-6, group_size=36, **SUB)
    assert 0 < bound.lower <= most.upper
    with pytest.raises(NotImplementedError, match="below 1e-300"):
        al.epsilon(run, delta=1e-6, group_size=50, **SUB)


def test_gdp_beside_a_pair_that_tells_all():
    """Randomized response with p = 1, and next to nothing."""
    runs = [
        al.Release(al.RandomizedResponse(0.500000001), count=298),
        al.Release(al.RandomizedResponse(1.0), count=414),
    ]
    for adjacency in ("remove", "substitute"):
        assert al.gdp(runs, adjacency=adjacency).mu == math.inf


def test_gdp_without_sampling():
    run = al.Release(al.Gaussian(4.0), count=9)
    fit = al.gdp(run, group_size=2, **SUB)
    assert fit.exact and fit.mu == pytest.approx(3.0, rel=1e-14)
