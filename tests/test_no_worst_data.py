"""The directions of a run, held against each other."""

import numpy as np

import accountlib as al
from accountlib import no_worst_data


def test_directions():
    run = al.Release(al.Laplace(1.0), al.Poisson(0.5), 2)
    found = no_worst_data.check_directions(run)
    assert found.verdict == "counterexample" and found.margin > 0.1
    for side, known in (("add", 0.167191), ("remove", 0.148568)):
        bound = al.delta(run, epsilon=0.25, adjacency=side)
        assert bound.lower - 1e-6 <= known <= bound.upper + 1e-6
    add = al.delta(run, epsilon=found.epsilon, adjacency="add")
    remove = al.delta(run, epsilon=found.epsilon, adjacency="remove")
    assert add.lower > remove.upper
    conjecture = no_worst_data.check_directions(
        al.Release(al.Gaussian(0.8), al.Poisson(0.01), 100)
    )
    assert conjecture.verdict == "no counterexample"
    same = no_worst_data.check_directions(al.Release(al.Laplace(1.0), count=3))
    assert same.verdict != "counterexample"


def test_remove_is_the_worse_direction_of_one_step_of_symmetric_pairs_only():
    p, q = [0.85, 0.15], [0.75, 0.25]
    for base, symmetric in (
        (al.DiscretePair(p, q), False),
        (al.RandomizedResponse(0.75), True),
        (al.Laplace(1.0), True),
    ):
        step = al.Release(base, al.Poisson(0.5))
        at = np.linspace(0.01, 0.9, 30)
        remove, add = (
            al.delta(step, epsilon=at, adjacency=side)
            for side in ("remove", "add")
        )
        never = bool(np.all(add.lower <= remove.upper))
        assert never == symmetric
    bare = [al.hockey_stick(*x, 1.2) for x in ((p, q), (q, p))]
    assert bare[0] == 0 and abs(bare[1] - 0.07) < 1e-15
