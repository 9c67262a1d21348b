"""Random runs with an exchanged record."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
import random
from typing import Any

import pytest
from scipy.special import ndtr

import accountlib as al
from accountlib.runs import releases
from tests import ALL
from tests.several.exchanges import pair_of

SUB: dict[str, Any] = {"adjacency": "substitute"}
BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}


# --- random runs ------------------------------------------------------------


def random_mechanism(rng):
    extreme = rng.random() < 0.3
    noise = 10 ** (rng.uniform(-3, 6) if extreme else rng.uniform(-0.7, 1.5))
    size = rng.randint(1, 3)
    return rng.choice(
        [
            lambda: al.Gaussian(noise),
            lambda: al.Laplace(max(noise, 2e-3)),
            lambda: al.DiscreteGaussian(size * min(max(noise, 0.2), 30), size),
            lambda: al.DiscreteLaplace(size * max(noise, 0.01), size),
            lambda: al.RandomizedResponse(rng.choice([0.5, 0.6, 0.75, 0.9])),
            lambda: al.PureDP(10 ** rng.uniform(-3, 1)),
            lambda: al.ApproximateDP(rng.random(), 10 ** rng.uniform(-12, -4)),
        ]
    )()


def random_run(rng):
    tiny = 10 ** rng.uniform(-9, 0)
    sampling: releases.Sampling = rng.choice(
        [
            al.FullBatch(),
            al.Poisson(tiny),
            al.Poisson(1 - tiny),
            al.Poisson(rng.random()),
            al.FixedBatch(rng.randint(1, 1000), 1000),
        ]
    )
    count = rng.choice([1, 2, 10, rng.randint(1, 1000)])
    return al.Release(random_mechanism(rng), sampling, count)


SLOW = {16}  # half a minute
SEEDS = [x for x in range(21) if ALL or x not in SLOW]


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("seed", SEEDS)
def test_random_runs(seed):
    rng = random.Random(seed)
    runs = [random_run(rng) for _ in range(rng.choice([1, 1, 2, 3]))]
    delta = 10 ** rng.uniform(-100, -3)
    rough: dict[str, Any] = {"relative_width": 0.02}
    bound = al.epsilon(runs, delta=delta, **rough, **SUB)
    assert bound.lower <= bound.upper
    more = al.epsilon(runs, delta=min(10 * delta, 0.5), **rough, **SUB)
    assert more.lower <= bound.upper
    plain = all(
        isinstance(r.sampling, al.FullBatch | al.Poisson) for r in runs
    )
    if plain:
        less = al.epsilon(runs, delta=delta, **rough, **BOTH)
        assert less.lower <= bound.upper
    if 0 < bound.upper < math.inf:
        at = al.delta(runs, epsilon=bound.upper, **rough, **SUB)
        assert at.lower <= delta * (1 + 1e-9)
        at = al.delta(runs, epsilon=bound.lower, **rough, **SUB)
        assert at.upper >= min(delta, 1) * (1 - 1e-9) or bound.lower == 0


@pytest.mark.parametrize("seed", range(8))
def test_random_fits(seed):
    rng = random.Random(1000 + seed)
    run = random_run(rng)
    fit = al.gdp(run, relative_width=1e-3, cutoff=1e-6, **SUB)
    assert 0 <= fit.mu_lower <= fit.mu and 0 <= fit.regret <= 1
    other = al.gdp(run, relative_width=1e-2, cutoff=1e-6, **SUB)
    assert other.mu_lower <= fit.mu and fit.mu_lower <= other.mu


def test_normal_tail_is_the_extreme_case():
    """One exchanged record, seen for sure: the mechanism without samples."""
    for rate in (0.9, 1 - 1e-9):
        pair = pair_of(al.Gaussian(1.0), al.Poisson(rate))
        known = float(ndtr(1.0) - ndtr(-1.0))
        assert pair.delta(0.0) <= known
        assert pair.delta(0.0) == pytest.approx(known, rel=0.2, abs=0)
