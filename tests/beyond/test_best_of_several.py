"""Repeat and select, against fractions, mpmath, other formulas, all orders."""

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest

import accountlib as al
from accountlib.beyond import best_of_several as best
from accountlib.beyond import repetitions as often

LAWS: Any = [
    often.TruncatedNegativeBinomial(-0.5, 0.01),
    often.TruncatedNegativeBinomial(0.0, 0.0269182596),
    often.TruncatedNegativeBinomial(1e-9, 0.3),
    often.TruncatedNegativeBinomial(1.0, 0.1),
    often.TruncatedNegativeBinomial(2.5, 0.6),
    often.PoissonRepetitions(0.3),
    often.PoissonRepetitions(10.0),
]


def generating(law, z):
    """E[z^K] with 60 digits."""
    if isinstance(law, often.PoissonRepetitions):
        return mpmath.exp(mpmath.mpf(law.mean) * (z - 1))
    nu, g = mpmath.mpf(law.shape), mpmath.mpf(law.stop)
    if nu == 0:
        return mpmath.log(1 - (1 - g) * z) / mpmath.log(g)
    return ((1 - (1 - g) * z) ** -nu - 1) / (g**-nu - 1)


def stick(p, q, at):
    return np.sum(np.maximum(p - math.exp(at) * q, 0), axis=-1)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_generating_function(law):
    with mpmath.workdps(60):
        mean = mpmath.diff(lambda z: generating(law, z), 1)
        assert abs(law.mean / mean - 1) < 1e-12
        for s, width in ((0.0, 1e-9), (0.0, 1.0), (0.3, 1e-4), (0.9, 0.1)):
            top = 1 - mpmath.mpf(s)
            low = top - mpmath.mpf(width)
            true = generating(law, top) - generating(law, low)
            found = law.caught(np.array(s), np.array(width))
            assert abs(found / true - 1) < 1e-12
        for chance in (1e-12, 1e-3, 0.2):
            low = 1 - mpmath.mpf(law.share(chance))
            assert abs((1 - generating(law, low)) / chance - 1) < 1e-12


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_no_order_is_above_the_theorem(law):
    """All orders of random lists, any h and x; and what comes nearest."""
    rng = np.random.default_rng(7)
    orders = np.array(list(itertools.permutations(range(4))))
    nearest = 0.0
    for _ in range(300):
        p, q = rng.dirichlet([0.7] * 4, 2)
        h, x = rng.exponential(0.5), rng.normal(0, 0.7)
        cost = float(law.cost(np.array(h), stick(q, p, h)))
        if x + cost < 0 and isinstance(law, often.PoissonRepetitions):
            continue
        above = law.caught(np.zeros(()), np.minimum(stick(p, q, x), 1.0))
        a, b = (often.best_law(v[orders], repetitions=law) for v in (p, q))
        most = float(np.max(stick(a, b, x + cost)))
        assert most <= above + 1e-12
        nearest = max(nearest, most / above if above > 1e-3 else 0)
    assert nearest > 0.5


def test_lists_are_below_the_run():
    """What data reach is never above the privacy curve."""
    runs = [
        al.Release(al.Gaussian(1.0)),
        al.Release(al.Laplace(0.7), al.Poisson(0.3), 4),
        al.Release(al.DiscretePair((0.5, 0.3, 0.2), (0.1, 0.3, 0.6))),
    ]
    for run in runs:
        for side in ("remove", "add"):
            ((p, q),) = best.outcome_lists(run, side, 1)
            assert abs(p.sum() - 1) < 1e-9 and abs(q.sum() - 1) < 1e-9
            for at in (0.0, 0.7, 2.0):
                known = al.delta(run, epsilon=at, adjacency=side)
                assert stick(p, q, at) <= known.upper * (1 + 1e-9)
                assert stick(p, q, at) >= known.lower * 0.98


def test_groups_and_gaps():
    """A group is a larger change; no lower end where data have a gap."""
    run, law = (
        al.Release(al.Gaussian(8.0)),
        often.TruncatedNegativeBinomial(1.0, 0.1),
    )
    two = best.best_epsilon(
        run, repetitions=law, delta=1e-6, adjacency="add", group_size=2
    )
    same = best.best_epsilon(
        al.Release(al.Gaussian(4.0)),
        repetitions=law,
        delta=1e-6,
        adjacency="add",
    )
    assert abs(two.upper / same.upper - 1) < 1e-9
    batch = al.Release(al.Gaussian(2.0), al.FixedBatch(10, 100), 5)
    gap = best.best_epsilon(
        batch, repetitions=law, delta=1e-6, adjacency="zero-out"
    )
    assert gap.lower == 0 < gap.upper
