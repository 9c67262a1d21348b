"""The calls: ends, arrays, lists, refusals, and choices made at random."""

import math
from dataclasses import replace

import numpy as np

import accountlib as al

RUN = al.Release(al.Gaussian(1.0), al.Poisson(0.01), count=2000)


def test_an_array_is_many_questions():
    deltas = np.geomspace(1e-10, 1e-2, 9).reshape(3, 3)
    many = al.epsilon(RUN, delta=deltas, adjacency="add-or-remove")
    assert many.lower.shape == many.upper.shape == (3, 3)
    for place in np.ndindex(3, 3):
        one = al.epsilon(RUN, delta=deltas[place], adjacency="add-or-remove")
        assert max(one.lower, many.lower[place]) <= min(
            one.upper, many.upper[place]
        )
        assert one.width <= 1e-3 and many.width[place] <= 1e-3


def test_one_run_or_a_list_of_its_parts():
    parts = [replace(RUN, count=n) for n in (1, 499, 1500)]
    whole, list_ = (
        al.delta(x, epsilon=1.0, adjacency="remove") for x in (RUN, parts)
    )
    assert whole == list_


def test_both_calls_say_the_same():
    bound = al.epsilon(RUN, delta=1e-6, adjacency="remove")
    at = [bound.lower, bound.upper]
    found = al.delta(RUN, epsilon=at, adjacency="remove")
    assert found.upper[0] >= 1e-6 >= found.lower[1]


def test_delta_zero_asks_for_the_largest_loss():
    run = al.Release(al.Laplace(2.0), al.Poisson(0.5), count=10)
    most = 10 * math.log1p(0.5 * math.expm1(0.5))
    assert al.epsilon(run, delta=0, adjacency="remove").contains(most)
    assert al.epsilon(RUN, delta=0, adjacency="remove").lower == math.inf


def test_a_guarantee_with_infinite_loss():
    run = al.Release(al.ApproximateDP(1.0, 1e-5), count=2)
    some = 1 - (1 - 1e-5) ** 2
    assert al.epsilon(run, delta=0.9 * some, adjacency="add").lower == math.inf
    found = al.epsilon(run, delta=1.1 * some, adjacency="add")
    assert 1 < found.lower <= found.upper < 2.0001


def test_explain_tells_parts_and_costs():
    text = str(al.explain(RUN, delta=1e-6, adjacency="add-or-remove"))
    for word in ("tilt", "frequencies", "cells", "rounding", "wrapping"):
        assert word in text


def test_bounds_print_outward():
    assert f"{al.Bound(0.94651, 0.94749):.3f}" == "[0.946, 0.948]"
    assert f"{al.Bound(0.0, math.inf):.2f}" == "[0.00, inf]"
    assert f"{al.Bound(0.1234, 0.1234):.1%}" == "[12.3%, 12.4%]"
    assert al.Bound(0.0, 0.0).width == 0 and al.Bound(0.0, math.inf).width == 1


def test_an_array_may_begin_with_infinite_epsilons():
    pair = al.DiscretePair([0.5, 0.1, 0.4, 0.0], [0.25] * 4)
    run = al.Release(pair, count=3)  # add: infinite mass 1 - 0.75^3 = 0.578
    found = al.epsilon(run, delta=[0.0, 0.57, 0.6], adjacency="add")
    assert found.lower[:2].tolist() == [np.inf] * 2
    assert 0 < found.lower[2] <= found.upper[2] < 5 and found.width[2] <= 1e-3
