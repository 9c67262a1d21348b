"""The calls: ends, arrays, lists, refusals, and choices made at random."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import accountlib as al
from accountlib.accountant import Search
from accountlib.choices import Query
from accountlib.curves import Curve
from accountlib.sampling import run_directions

RUN = al.Release(al.Gaussian(1.0), al.Poisson(0.01), count=2000)


def exact_delta(truth, count, epsilon):
    """delta of so many randomized responses, as a plain sum."""
    k = np.arange(count + 1)
    loss = (2 * k - count) * math.log(truth / (1 - truth))
    mass = binom.pmf(k, count, truth)
    return float(mass @ -np.expm1(np.minimum(epsilon - loss, 0)))


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


@pytest.mark.parametrize("count", [1, 2, 30, 5000])
@pytest.mark.parametrize("truth", [0.51, 0.75, 0.999])
def test_randomized_response_is_a_binomial_sum(truth, count):
    run = al.Release(al.RandomizedResponse(truth), count=count)
    most = count * math.log(truth / (1 - truth))
    for epsilon in np.array([0.0, 0.1, 0.5, 0.99]) * min(most, 1000):
        bound = al.delta(run, epsilon=float(epsilon), adjacency="add")
        exact = exact_delta(truth, count, epsilon)
        assert bound.lower <= exact * (1 + 1e-9)
        assert bound.upper >= exact * (1 - 1e-9)


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


@pytest.mark.parametrize("seed", range(4))
def test_no_choice_makes_a_bound_wrong(seed):
    """Random tilts, periods, variances, splits and cells, exact sums."""
    rng = np.random.default_rng(seed)
    run = al.Release(al.RandomizedResponse(0.8), al.Poisson(0.3), count=40)
    other = al.Release(al.RandomizedResponse(0.95), count=2)
    direction = run_directions([run, other], "remove")[0]
    told = 0
    for _ in range(60):
        epsilon = float(rng.uniform(0.1, 20))
        search = Search(
            direction.above, Query("delta", np.array([epsilon]), 0.1)
        )
        with np.errstate(all="ignore"):
            chosen, _ = search.choose(np.zeros(1))
            part = chosen.parts[0]
            tilt = part.tilt * math.exp(rng.normal())
            part = replace(
                part,
                which="all",
                tilt=tilt,
                period=part.period * math.exp(rng.normal() / 2),
                variance=part.variance * math.exp(2 * rng.normal()),
                last=max(int(part.last * math.exp(rng.normal() / 2)), 4),
                below=tilt * rng.uniform(0.05, 0.95),
                above=tilt / rng.uniform(0.05, 0.95),
            )
            split = float(rng.uniform(-0.1, 3))
            two = [
                replace(part, which=x, split=split) for x in ("near", "far")
            ]
            parts = (part,) if rng.random() < 0.5 else tuple(two)
            chosen = replace(chosen, parts=parts)
            low, high = (
                Curve(search.kinds, chosen, up)(np.array([epsilon]))[0]
                for up in (False, True)
            )
        exact = sampled_bits(epsilon)
        told += low > 0.5 * exact and high < 2 * exact
        assert low <= exact * (1 + 1e-9) and high >= exact * (1 - 1e-9)
    assert told > 5


def sampled_bits(epsilon):
    """delta of the run above: 40 sampled bits and two plain ones."""
    p = np.array([0.3 * 0.8 + 0.7 * 0.2, 0.3 * 0.2 + 0.7 * 0.8])
    loss = np.log(p / np.array([0.2, 0.8]))
    k, j = np.meshgrid(np.arange(41), np.arange(3))
    mass = binom.pmf(k, 40, p[0]) * binom.pmf(j, 2, 0.95)
    total = k * loss[0] + (40 - k) * loss[1] + (2 * j - 2) * math.log(19)
    return float((mass * -np.expm1(np.minimum(epsilon - total, 0))).sum())


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
