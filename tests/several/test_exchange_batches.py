"""Exchanged records in fixed batches."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import accountlib as al
from accountlib.engine import saddle
from accountlib.runs import one_call, rules
from accountlib.several import exchange_batches
from tests import truth
from tests.several.exchanges import assert_masses, pair_of

SUB: dict[str, Any] = {"adjacency": "substitute"}


def largest_bound(ways, query):
    """Interval for the largest answer of several directions."""
    return one_call.largest_of(one_call.search_ways(ways, query))


# --- masses of the pairs ----------------------------------------------------


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("rate", [1e-9, 0.01, 0.5, 1 - 1e-9])
@pytest.mark.parametrize("noise", [0.1, 1.0, 1e3])
def test_mirrored_batch_masses(kind, rate, noise):
    known = al.Gaussian if kind == "gaussian" else al.Laplace
    pair = rules.exchanged_batch_pair(known(noise).exchange_pair(), rate)
    assert isinstance(pair, exchange_batches.ExchangedBatchPair)
    assert pair.reversed() == pair
    top = min(pair.loss_range[1], (2 / noise) ** 2 + 2 / noise)
    ends = [0.25 * top, 0.5 * top]
    with mp.workdps(60):
        p, q = truth.masses(kind, noise / 2, ends, rate=rate)
        up, uq = truth.masses(kind, noise / 2, [0.0], rate=rate)
        center = 1 - up[1] - uq[1]
        exact = [
            [center + uq[1] + up[1] - p[1] - p[2]]
            + [center + up[1] + uq[1] - q[1] - q[2]],
            [p[1], q[1]],
            [p[2], q[2]],
        ]
        assert abs(pair.center / center - 1) < 1e-12
    assert_masses(pair, ends, exact)
    swapped = [row[::-1] for row in exact[::-1]]
    assert_masses(pair, [-ends[1], -ends[0]], swapped, "left")
    # the atom belongs to the interval that is closed at 0
    found, _ = pair.interval_masses(np.zeros(1), np.zeros(0), "right")
    assert found[1] == pytest.approx(float(up[1]), rel=1e-10)
    found, _ = pair.interval_masses(np.zeros(1), np.zeros(0), "left")
    assert found[1] == pytest.approx(float(up[1] + center), rel=1e-10)


# --- fixed batches ----------------------------------------------------------


def test_mixtures_lie_in_the_interval():
    for kind in (al.Gaussian(1.5), al.Laplace(3.0), al.PureDP(0.7)):
        sampling = al.FixedBatch(10, 100)
        run = al.Release(kind, sampling, 40)
        remove = al.SampledPair(kind.exchange_pair(), 0.1)
        for epsilon in (0.05, 0.5, 2.0):
            bound = al.delta(run, epsilon=epsilon, **SUB)
            query = saddle.Query(None, epsilon, 1e-4)
            values = [
                largest_bound(
                    one_call.distinct_ways(
                        [{remove: n, remove.reversed(): 40 - n}]
                    ),
                    query,
                )
                for n in (0, 7, 10, 20, 33, 40)
            ]
            for value in values:
                assert value.lower <= bound.upper
            assert bound.lower <= max(v.upper for v in values) * (1 + 2e-3)
            assert bound.lower >= max(v.lower for v in values) * (1 - 5e-3)
        by_delta = al.epsilon(run, delta=1e-6, **SUB)
        query = saddle.Query(1e-6, None, 1e-3)
        for n in (0, 11, 20, 40):
            ways = one_call.distinct_ways(
                [{remove: n, remove.reversed(): 40 - n}]
            )
            assert largest_bound(ways, query).lower <= by_delta.upper


def test_the_ways_that_are_reached():
    pair = pair_of(al.Gaussian(1.0), al.FixedBatch(1, 10))
    ways = one_call.reached_ways([[(pair, 7)]])
    counts = {tuple(sorted(n for _, n in way)) for way in ways}
    assert len(ways) == 5
    assert all(sum(n for _, n in way) == 7 for way in ways)
    assert counts == {(7,), (2, 5), (3, 4)}
    single = one_call.reached_ways([[(pair, 1)]])
    assert {way[0][0] for way in single} == set(pair.reached)


def test_fixed_batches_at_half_the_noise():
    """Add and remove: sigma in a fixed batch is sigma/2 under Poisson."""
    for side in ("add", "remove", "add-or-remove"):
        for sigma in (0.5, 4.0):
            fixed = al.Release(al.Gaussian(sigma), al.FixedBatch(1, 4), 9)
            poisson = al.Release(al.Gaussian(sigma / 2), al.Poisson(0.25), 9)
            assert al.epsilon(fixed, delta=1e-5, adjacency=side) == (
                al.epsilon(poisson, delta=1e-5, adjacency=side)
            )


# --- calibration ------------------------------------------------------------


def test_wide_cells_of_little_laplace_noise():
    half = exchange_batches.ExchangedLaplaceHalf(0.0013, 0.5)
    edges = np.array([0.0, half.loss_range[1] * 0.9999])
    p, q = half.masses(edges)
    assert p.sum() == pytest.approx(1) and q.sum() == pytest.approx(1)


# --- to the last bit: small and exact ----------------------------------------


def test_exchanged_integer_noise_has_mass_1():
    for mechanism in (al.DiscreteGaussian(0.7, 2), al.DiscreteLaplace(3.0, 4)):
        for rate in (0.01, 0.9):
            pair = al.dominating_pairs(
                mechanism, sampling=al.Poisson(rate), adjacency="substitute"
            )[0]
            p, q = pair.interval_masses(np.array([0.0]), np.zeros(0), "right")
            lost = pair.infinite_mass
            assert math.fsum([*p, lost[0]]) == pytest.approx(1, rel=1e-14)
            assert math.fsum([*q, lost[1]]) == pytest.approx(1, rel=1e-14)
