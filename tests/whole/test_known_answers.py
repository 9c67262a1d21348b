"""Whole answers that are known, also from masses as wrong as stated."""

from dataclasses import dataclass
from typing import get_args

import numpy as np
import pytest

import accountlib as al
from accountlib.counting.loss_tables import BoundKind
from accountlib.engine import saddle, single_runs
from accountlib.runs import one_call
from tests.engine.random_tables import ANSWERS
from tests.truth import laws
from tests.truth import runs as truth_runs

FULL, POISSON, BATCH = ("full",), ("poisson", 0.05), ("fixed", 30, 1000)


def largest_bound(ways, query):
    """Interval for the largest answer of several directions."""
    return one_call.largest_of(one_call.search_ways(ways, query))


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("make, kind, numbers, sampler, group, count", ANSWERS)
def test_whole_answers_are_narrow_and_true(
    make, kind, numbers, sampler, group, count
):
    """Each mechanism, each sampler, all adjacencies that have a truth."""
    samplers = {"full": al.FullBatch, "poisson": al.Poisson}
    sampling = samplers.get(sampler[0], al.FixedBatch)(*sampler[1:])
    run = al.Release(make(*numbers), sampling, count)
    part = laws.Part(kind, numbers, sampler, count)
    for adjacency in ("remove", "add", "substitute"):
        fixed = sampler == BATCH and (count > 1 or group > 1)
        if adjacency == "substitute" and fixed:
            continue
        known = truth_runs.run_truth([part], adjacency, group)
        if known.gap:
            continue
        for epsilon in (0.0, 0.05, 0.6):
            low, high = known.delta(epsilon)
            found = al.delta(
                run, epsilon=epsilon, adjacency=adjacency, group_size=group
            )
            assert found.lower <= high and low <= found.upper
            assert found.width < (2e-3 if high > 1e-6 else 0.02)
        at = min(max(low, 1e-9) * 1.01, 0.99)
        bound = al.epsilon(
            run, delta=at, adjacency=adjacency, group_size=group
        )
        assert known.compare(bound.upper, at) <= 0
        if bound.lower > 0:
            assert known.compare(bound.lower * (1 - 1e-13), at) >= 0


@dataclass(frozen=True)
class Off(al.DominatingPair):
    """Every mass of a pair is off by as much as this one states."""

    pair: al.DominatingPair
    signs: tuple[int, int]
    error: float = 1e-3

    infinite_mass = property(lambda self: self.pair.infinite_mass)
    loss_range = property(lambda self: self.pair.loss_range)
    atoms = property(lambda self: self.pair.atoms)
    atom_count = property(lambda self: self.pair.atom_count)
    lattice = property(lambda self: self.pair.lattice)
    atom_error = property(lambda self: self.pair.atom_error)
    discrete = property(lambda self: self.pair.discrete)

    def mass_error(self, mass):
        return np.full_like(mass, self.error)

    def interval_masses(self, edges, widths, closed):
        masses = self.pair.interval_masses(edges, widths, closed)
        p, q = (
            np.minimum(x / (1 + sign * self.error), 1)
            for x, sign in zip(masses, self.signs, strict=True)
        )
        return p, q


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize(
    "make, kind, number",
    [
        (al.Gaussian, "gaussian", 1.5),
        (al.Laplace, "laplace", 2.0),
        (al.RandomizedResponse, "response", 0.7),
    ],
)
def test_answers_hold_if_masses_are_as_wrong_as_stated(
    make, kind, number, count, signs
):
    part = laws.Part(kind, (number,), ("full",), count)
    known = truth_runs.run_truth([part], "remove", 1)
    pair = Off(make(number).pair(), signs)
    losses = [(pair, count)]
    epsilons = np.array([0.0, 0.3, 0.8])
    lower, upper = single_runs.run_curve(pair, epsilons)
    for k, epsilon in enumerate(epsilons.tolist()):
        low, high = known.delta(epsilon)
        query = saddle.Query(None, epsilon, 0.03)
        bound = single_runs.simple_bound(losses, query)
        assert bound.lower <= high and low <= bound.upper
        if count == 1:
            assert lower[k] <= high and low <= upper[k]
            assert upper[k] - lower[k] < 0.02
            for side in get_args(BoundKind):
                table = al.discretize(pair, step=0.01, bound=side)
                value = table.delta(epsilon)
                assert value >= low if "upper" in side else value <= high
        else:
            bound = largest_bound([losses], query)
            assert bound.lower <= high and low <= bound.upper
            assert bound.upper - bound.lower < 0.1
    at = known.delta(0.3)[0]
    found = largest_bound([losses], saddle.Query(at, None, 0.03))
    assert known.compare(found.upper, at) <= 0
    assert known.compare(found.lower * (1 - 1e-13), at) >= 0
    assert found.width < 0.4
