"""The installed dp-accounting, held against our intervals.

Its upper bounds must not be below our lower ends, and where both are tight
they must agree.
"""

import re
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.beyond.other_libraries import (
    MECHANISMS,
    REFUSED,
    from_dp_event,
)

# What the relations of dp-accounting are called here.
RELATIONS: dict[str, Any] = {
    "ADD_OR_REMOVE_ONE": "add-or-remove",
    "REPLACE_SPECIAL": "zero-out",
    "REPLACE_ONE": "substitute",
}
# The steps of their tables. Buckets round each loss up by at most a step.
STEP = 1e-3
# Their own rounding is not in their bound. It is below this, relative, at
# delta >= 1e-6 and some 20 steps.
ROUNDING = 1e-9


@pytest.fixture(name="dp")
def installed_library() -> ModuleType:
    """The library itself, where it is installed."""
    module: ModuleType = pytest.importorskip("dp_accounting")
    return module


def library_events(dp: ModuleType, seed: int) -> dict[str, Any]:
    """A seeded event of each kind."""
    made = dp.dp_event
    rng = np.random.default_rng(seed)
    noise, rate = float(rng.uniform(0.7, 4)), float(rng.uniform(0.005, 0.4))
    n, buckets, shift = (int(x) for x in rng.integers([50, 2, 1], [400, 6, 4]))
    most = int(n * rate * rng.uniform(0.8, 1.6)) + 1
    plain, laplace = made.GaussianDpEvent(noise), made.LaplaceDpEvent(noise)
    three = made.ComposedDpEvent(
        [
            made.SelfComposedDpEvent(made.GaussianDpEvent(3 * noise), 2),
            made.GaussianDpEvent(2 * noise),
        ]
    )
    return {
        "gaussian": plain,
        "laplace": laplace,
        "integer": made.DiscreteLaplaceDpEvent(1 / noise, shift),
        "answers": made.RandomizedResponseDpEvent(
            float(rng.uniform(0.2, 0.9)), buckets
        ),
        "cut": made.TruncatedSubsampledGaussianDpEvent(n, rate, most, noise),
        "sampled gaussian": made.PoissonSampledDpEvent(rate, plain),
        "sampled laplace": made.PoissonSampledDpEvent(rate, laplace),
        "batch": made.SampledWithoutReplacementDpEvent(
            n, int(n * rate) + 1, plain
        ),
        "one sample": made.PoissonSampledDpEvent(rate, three),
    }


@pytest.mark.parametrize("seed", range(5))
def test_loss_tables_of_the_library(dp: ModuleType, seed: int) -> None:
    """Where both have an answer."""
    delta, kinds = (1e-3, 1e-5, 1e-6)[seed % 3], set()
    for name, single in library_events(dp, seed).items():
        count = 1 if name == "answers" else (1, 3, 20)[seed % 3]
        tree = dp.dp_event.SelfComposedDpEvent(single, count)
        for relation, adjacency in RELATIONS.items():
            neighbours = dp.NeighboringRelation[relation]
            accountant = dp.pld.PLDAccountant(neighbours, STEP)
            if not accountant.supports(tree):
                continue
            try:
                releases = from_dp_event(tree, adjacency=adjacency)
                ours = al.epsilon(releases, delta=delta, adjacency=adjacency)
            except NotImplementedError:
                continue
            theirs = accountant.compose(tree).get_epsilon(delta)
            kinds.add((name, adjacency))
            assert theirs >= ours.lower * (1 - ROUNDING), (name, adjacency)
            if name != "cut":  # theirs is a looser theorem
                most = 1.002 * ours.upper + (count + 1) * STEP
                assert theirs <= most, (name, adjacency)
    assert len(kinds) >= 16


def test_named_tuples_and_unknown_classes(dp: ModuleType) -> None:
    made = dp.dp_event
    step = made.PoissonSampledDpEvent(0.1, made.GaussianDpEvent(2.0))
    tree = made.ComposedDpEvent([step, made.SelfComposedDpEvent(step, 3)])
    one, other = (
        from_dp_event(x, adjacency="add-or-remove")
        for x in (tree, tree.to_named_tuple())
    )
    assert one == other
    known = {*MECHANISMS, *REFUSED, "NoOpDpEvent", "NonPrivateDpEvent"}
    known |= {"ComposedDpEvent", "SelfComposedDpEvent"}
    names = {x for x in dir(made) if re.fullmatch(r"[A-Z]\w+DpEvent", x)}
    assert names <= known
