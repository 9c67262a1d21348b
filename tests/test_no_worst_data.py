"""The directions of a run, held against each other."""

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
