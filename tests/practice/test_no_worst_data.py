"""The directions of a run, held against each other."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import pytest

import accountlib as al
from accountlib.practice import no_worst_data


@pytest.mark.in_turn(5)
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


@pytest.mark.parametrize(
    "mechanism", [al.ApproximateDP(1.0, 1e-5), al.RandomizedResponse(1.0)]
)
def test_directions_where_epsilon_is_infinite(mechanism):
    """An answer or a ValueError that says why."""
    run = al.Release(mechanism, al.Poisson(0.5), 2)
    try:
        assert no_worst_data.check_directions(run).verdict
    except ValueError as error:
        assert "infinite" in str(error) or "inf" in str(error)


@pytest.mark.in_turn(5)
def test_directions_of_large_losses():
    """epsilon is not 0 here, whatever its interval says."""
    try:
        found = no_worst_data.check_directions(
            al.Release(al.Laplace(1e-3), count=2)
        )
        assert found.verdict == "undecided" or found.margin == 0
    except ValueError as error:
        assert "epsilon is 0" not in str(error)
