"""Discrete losses: mu, regret and curves in exact fractions."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.gaussian_dp import attackers
from tests import truth
from tests.gaussian_dp.exact_runs import (
    both_curves,
    coin,
    hold_against_fractions,
)
from tests.truth.tradeoffs import ExactCurve

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}
SIDES = ("remove", "add", "add-or-remove")


# --- exact fractions --------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "rate", "count"),
    [
        (0.75, 1.0, 1),
        (0.75, 0.5, 2),
        (0.625, 0.5, 9),
        (0.5625, 1.0, 40),
        (0.875, 0.125, 12),
        (0.25, 0.25, 5),
    ],
)
@pytest.mark.parametrize("adjacency", SIDES)
def test_randomized_response_in_fractions(p, rate, count, adjacency):
    exact, run = coin(p, rate, count)
    hold_against_fractions(exact, run, adjacency, 2e-4)


@pytest.mark.parametrize("cutoff", [0.05, 1e-5, 1e-20, 1e-60])
def test_randomized_response_at_other_cutoffs(cutoff):
    exact, run = coin(0.75, 0.5, 8)
    hold_against_fractions(exact, run, "add-or-remove", 2e-4, cutoff=cutoff)


@pytest.mark.parametrize(
    ("p", "count"),
    [(1023 / 1024, 5), (15 / 16, 20), (63 / 64, 8)],
)
@pytest.mark.parametrize("adjacency", SIDES)
def test_hardly_any_privacy_in_fractions(p, count, adjacency):
    """Error rates near 1e-9 of strong attackers: no chord may hide them."""
    exact, run = coin(p, 1.0, count)
    hold_against_fractions(exact, run, adjacency)


@pytest.mark.parametrize(
    ("epsilon", "delta", "count"), [(8.66, 3e-8, 3), (11.0, 0.0, 3)]
)
@pytest.mark.parametrize("cutoff", [1e-10, 0.1])
def test_advantage_of_strong_attackers(epsilon, delta, count, cutoff):
    run = al.Release(al.ApproximateDP(epsilon, delta), count=count)
    bound = al.delta(run, epsilon=0.0, **BOTH)
    lower, upper = both_curves(run, cutoff=cutoff, **BOTH)
    assert lower.advantage >= bound.lower
    assert upper.advantage <= bound.upper


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("seed", range(24))
def test_discrete_pairs_in_fractions(seed):
    """Neyman-Pearson: the curve is that of the best tests."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    p = truth.dyadic_distribution(rng, size)
    q = truth.dyadic_distribution(rng, size)
    rate = float(rng.choice([1.0, 0.5, 0.25]))
    count = int(rng.choice([1, 1, 2, 4]))
    exact = truth.ExactPair.of(p, q).poisson(rate).power(count)
    run = al.Release(al.DiscretePair(p, q), al.Poisson(rate), count)
    for adjacency in SIDES:
        hold_against_fractions(exact, run, adjacency)


@pytest.mark.parametrize(
    ("p", "q", "count"),
    [
        ((0.45703125, 0.54296875), (1.0, 0.0), 3),
        ((1.0, 0.0), (0.25, 0.75), 2),
        ((0.5, 0.5, 0.0), (0.25, 0.0, 0.75), 1),
        ((0.5, 0.25, 0.25), (0.5, 0.25, 0.25), 2),
    ],
)
@pytest.mark.parametrize("adjacency", SIDES)
def test_outcomes_that_only_one_side_has(p, q, count, adjacency):
    exact = truth.ExactPair.of(p, q).power(count)
    run = al.Release(al.DiscretePair(p, q), count=count)
    hold_against_fractions(exact, run, adjacency)


def test_best_tests_by_hand():
    """All events of a small pair: none is below, the thresholds are on it."""
    p, q = (0.5, 0.25, 0.125, 0.125), (0.0625, 0.25, 0.1875, 0.5)
    run = al.Release(al.DiscretePair(p, q))
    lower, upper = both_curves(run, adjacency="remove")
    for event in range(16):
        chosen = [i for i in range(4) if event >> i & 1]
        x, w = sum(q[i] for i in chosen), sum(p[i] for i in chosen)
        assert 1 - w >= lower(x) - 1e-15, chosen
        if chosen == list(range(len(chosen))):  # the largest ratios
            assert lower(x) == pytest.approx(1 - w, abs=1e-8)
            assert upper(x) == pytest.approx(1 - w, abs=1e-8)


def test_two_different_coins():
    one, first = coin(0.75)
    two, second = coin(0.625)
    hold_against_fractions(
        one.times(two), [first, second], "add-or-remove", 1e-3
    )


@pytest.mark.parametrize("seed", range(6))
def test_lists_of_discrete_pairs_in_fractions(seed):
    rng = np.random.default_rng(100 + seed)
    parts, run = [], []
    for _ in range(int(rng.integers(2, 4))):
        size, count = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        p = truth.dyadic_distribution(rng, size)
        q = truth.dyadic_distribution(rng, size)
        parts.append((truth.ExactPair.of(p, q), count))
        run.append(al.Release(al.DiscretePair(p, q), count=count))
    exact = truth.compose_exact(parts)
    for adjacency in SIDES:
        hold_against_fractions(exact, run, adjacency)


def test_regret_is_no_matter_of_corners():
    """Trap 10: all corners of randomized response are on the curve of mu."""
    exact, run = coin(0.75)
    fit = al.gdp(run, **BOTH)
    for x, y in ExactCurve.of(exact, "remove").corners:
        promised = al.gaussian_tradeoff(float(x), mu=fit.mu)
        assert promised == pytest.approx(float(y), abs=1e-12)
    assert fit.regret == pytest.approx(0.0594, abs=1e-3)


def test_table_of_a_composition():
    exact, run = coin(0.75, 1.0, 3)
    pair = al.RandomizedResponse(0.75).pair()
    table = al.discretize(pair, step=math.log(3) / 4)
    curve = attackers.table_tradeoff(al.self_compose(table, 3))
    known = ExactCurve.of(exact, "remove")
    for x in np.linspace(0, 1, 65).tolist():
        assert abs(curve(x) - float(known(x))) <= 1e-9
    smooth = al.self_compose(al.discretize(al.GaussianPair(0.5), step=0.01), 4)
    x = np.geomspace(1e-9, 1, 50)
    gap = al.gaussian_tradeoff(x, mu=1.0) - attackers.table_tradeoff(smooth)(x)
    assert np.all(gap >= -1e-12) and np.all(gap <= 1e-3)
