"""What an explanation says: the same interval, and where its ends are from."""

import dataclasses
import math

import pytest

import accountlib as al
from accountlib.engine.certificate import explain_direction
from accountlib.engine.rare_steps import refine
from accountlib.engine.saddle import Query
from accountlib.engine.search import cut_with, first_look, narrow, start_search
from accountlib.engine.transforms import Spectrum
from accountlib.runs import one_call

EPSILON = Query(1e-6, None, 1e-3)
DELTA = Query(None, 0.1, 1e-3)
TRAIN = al.Release(al.Gaussian(1.0), al.Poisson(0.01), count=2000)
RARE = al.Release(al.Gaussian(2.0), al.Poisson(1e-4), count=10)
ONE = al.Release(al.Laplace(1.0))
TINY = al.Release(al.Gaussian(1000.0), al.Poisson(0.1), count=10)
CASES = [
    (TRAIN, EPSILON, "one grid", ["all losses"]),
    (RARE, DELTA, "two grids", ["rare sums", "near losses"]),
    (ONE, DELTA, "single run", []),
    (TINY, Query(None, 5.0, 1e-3), "simple bounds", []),
]


def ways(release):
    return one_call.directions(release, "remove", 1)[0]


@pytest.mark.parametrize(("release", "query", "way", "grids"), CASES)
def test_the_bound_that_won_and_the_answer(release, query, way, grids):
    told = explain_direction(ways(release), query)
    assert told.upper_from == way
    assert [grid.losses for grid in told.grids] == grids
    width = query.relative_width
    if query.delta is None:
        found = al.delta(
            release,
            epsilon=query.epsilon,
            adjacency="remove",
            relative_width=width,
        )
    else:
        found = al.epsilon(
            release,
            delta=query.delta,
            adjacency="remove",
            relative_width=width,
        )
    assert told.bound == found
    assert str(told).startswith(f"{found:.6g}")


def test_sizes_of_a_grid():
    (grid,) = explain_direction(ways(TRAIN), EPSILON).grids
    search = refine(first_look(ways(TRAIN), EPSILON), 0.0)
    upper = next(x for x in search.totals if x.bound == "upper")
    assert isinstance(upper, Spectrum)
    assert grid.step == search.step == upper.step
    assert grid.tilt == search.tilt == upper.tilt
    assert grid.tail == upper.tail
    assert grid.infinity_mass == upper.infinity_mass
    assert grid.places == upper.size
    assert grid.frequencies == len(upper.frequency)
    first, last = grid.window
    assert math.isclose((last - first) / grid.step, grid.places - 1)
    assert first < grid.bound.lower < last


def test_a_floor_needs_one_upper_end_only():
    told = explain_direction(ways(TRAIN), EPSILON, 10.0)
    assert told.bound.lower == 0 and told.lower_from == "nothing"
    assert told.bound.upper <= 10.0 and told.upper_from == "one grid"
    fine = explain_direction(ways(TRAIN), EPSILON).grids[0]
    assert told.grids[0].step > fine.step


def test_both_halves_of_a_split():
    told = explain_direction(ways(RARE), DELTA)
    assert 0 < told.split < math.inf
    rare, near = told.grids
    together = rare.bound.upper + near.bound.upper
    assert math.isclose(together, told.bound.upper, rel_tol=1e-12)
    assert rare.tilt != near.tilt


def test_a_search_never_changes():
    look = first_look(ways(TRAIN), EPSILON)
    with pytest.raises(dataclasses.FrozenInstanceError):
        look.order = 1.0
    before = dataclasses.asdict(dataclasses.replace(look, losses=(), cells=()))
    started = start_search(look, 1e-3, ("upper",))
    first = started.bound
    assert narrow(started, 0.0).bound.width <= 1e-3
    assert started.bound == first and started.bound.lower == 0
    after = dataclasses.asdict(dataclasses.replace(look, losses=(), cells=()))
    assert before == after


def test_chernoff_is_enough_where_floats_end():
    search = narrow(first_look(ways(TINY), Query(None, 5.0, 1e-3)), 0.0)
    assert search.upper_from == "Chernoff's inequality" and search.ended
    assert search.step == 0 and search.bound.upper < 1e-290


def test_ends_keep_what_they_come_from():
    look = first_look(ways(TRAIN), EPSILON)
    one = cut_with(look, al.Bound(1.0, 3.0), "simple bounds")
    two = cut_with(one, al.Bound(0.5, 2.0), "two grids")
    assert two.bound == al.Bound(1.0, 2.0)
    assert (two.lower_from, two.upper_from) == ("simple bounds", "two grids")
    with pytest.raises(ArithmeticError, match="common"):
        cut_with(two, al.Bound(2.5, 3.0), "one grid")
