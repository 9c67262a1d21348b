"""Runs of many kinds: levels, and the answers that they give."""

import math

import numpy as np
import pytest

import accountlib as al
from accountlib.engine.saddle import Query
from accountlib.runs import schedules
from accountlib.runs.one_call import directions, whole_run

RELATIONS = (
    ("remove", 1),
    ("add-or-remove", 3),
    ("substitute", 1),
    ("zero-out", 1),
)
KINDS = (
    lambda x: al.Gaussian(x),
    lambda x: al.Laplace(x),
    lambda x: al.DiscreteLaplace(x, 2),
    lambda x: al.MixtureOfGaussians((0.0, 0.5, 1.0), (0.2, 0.3, 0.5), x),
)


def plain(run, query):
    return whole_run(directions(run, "add-or-remove", 1), query).bound


def merged(run, ask, width):
    query = Query(1e-5, None, width)
    return schedules.schedule_bound(run, ask, query, "add-or-remove", 1)


def random_run(rng, size):
    return [
        al.Release(
            KINDS[int(rng.integers(2))](float(rng.uniform(1.0, 3.0))),
            (al.FullBatch(), al.Poisson(float(rng.uniform(0.01, 0.3))))[
                int(rng.random() < 0.8)
            ],
            int(rng.integers(1, 9)),
        )
        for _ in range(size)
    ]


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("seed", range(6))
def test_levels_enclose_the_run_as_it_is(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    run = random_run(rng, 40)
    monkeypatch.setattr(schedules, "MANY_KINDS", 10)
    monkeypatch.setattr(schedules, "LEAST_GAIN", 2.0)
    truth = plain(run, Query(1e-5, None, 1e-3))
    for width in (0.5, 0.1):
        found = merged(run, plain, width)
        assert found.lower <= truth.lower < truth.upper <= found.upper
        assert found.width <= width


@pytest.mark.in_turn(5)
@pytest.mark.parametrize(("adjacency", "group_size"), RELATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_more_noise_and_a_smaller_rate_are_more_private(
    kind, adjacency, group_size
):
    rng = np.random.default_rng(5)
    for _ in range(12):
        noise = np.sort(rng.uniform(0.5, 4.0, 2)).tolist()
        rates = np.sort(rng.uniform(0.01, 1.0, 2)).tolist()
        epsilon = rng.uniform(0, 3)
        ask = dict(adjacency=adjacency, group_size=group_size, epsilon=epsilon)
        runs = [
            al.Release(kind(x), al.Poisson(q), 3)
            for x, q in ((noise[0], rates[1]), (noise[1], rates[0]))
        ]
        try:
            strong, weak = (al.delta(run, **ask) for run in runs)
        except NotImplementedError:
            return  # no theorem for this combination
        assert weak.lower <= strong.upper * (1 + 1e-12)


def test_noise_is_monotone_for_other_samplers_too():
    for sampling in (al.FixedBatch(5, 50), al.RandomAllocation(20)):
        level = [al.Release(al.Gaussian(x), sampling) for x in (1.0, 1.01)]
        assert len(schedules.merged_levels(level, 0.1)) == 1
        other = al.Release(al.Gaussian(1.0), al.FixedBatch(5, 51))
        assert len(schedules.merged_levels([*level, other], 0.1)) == 2


def test_what_is_never_merged():
    apart = (
        [al.Release(al.DiscreteGaussian(x)) for x in (2.0, 2.01)],
        [al.Release(al.Gaussian(x)) for x in (2.0, 2.01)],  # summed exactly
        [al.Release(al.PureDP(x)) for x in (2.0, 2.01)],
        [al.Release(al.DiscreteLaplace(2.0, s)) for s in (1, 2)],
        [al.Release(al.Laplace(2.0), al.ShuffledEpochs(b)) for b in (5, 6)],
    )
    for pair in apart:
        assert len(schedules.merged_levels(pair, 100.0)) == 2


@pytest.mark.in_turn(5)
def test_a_hundred_thousand_kinds():
    noise = np.geomspace(0.8, 1.6, 100_000)
    run = [al.Release(al.Gaussian(x), al.Poisson(0.001)) for x in noise]
    ask = dict(delta=1e-6, adjacency="remove", relative_width=0.01)
    found = al.epsilon(run, **ask)
    strong, weak = (
        al.epsilon(
            al.Release(al.Gaussian(x), al.Poisson(0.001), 100_000),
            delta=1e-6,
            adjacency="remove",
        )
        for x in (0.8, 1.6)
    )
    assert found.width <= 0.01
    assert weak.upper < found.lower < found.upper < strong.lower


def test_a_closed_form():
    scales = np.geomspace(20.0, 200.0, 1000)
    run = [al.Release(al.Laplace(s), al.FullBatch(), 2) for s in scales]
    found = al.epsilon(run, delta=0, adjacency="add", relative_width=0.05)
    assert found.contains(2 * math.fsum(1 / scales)) and found.width <= 0.05


def test_bad_members_are_named():
    run = [al.Release(al.Laplace(1.0 + k)) for k in range(400)]
    with pytest.raises(ValueError, match="releases"):
        al.epsilon([*run, 3], delta=1e-6, adjacency="add")
    with pytest.raises(ValueError, match="adjacency"):
        al.epsilon(run, delta=1e-6, adjacency="near")


def test_no_gain_counts_the_run_as_it_is():
    asked = []

    def ask(run, query):
        asked.append(len(run))
        return al.Bound(0.9, 1.0)

    run = [al.Release(al.Laplace(1.0 + k)) for k in range(200)]
    assert merged(run, ask, 1e-6).lower == 0.9
    assert asked[-1] == 200 and len(asked) <= 5
