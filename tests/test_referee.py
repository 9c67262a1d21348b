"""A referee's attacks on rare steps, splits and mixed lists: exact sums of
fractions, which share nothing with the library."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import mpmath as mp
import numpy as np
import pytest

import accountlib as al
from accountlib.counting import composition
from accountlib.engine import grids, one_sided, rare_steps
from accountlib.engine.one_round import NearPair
from accountlib.engine.saddle import Query
from accountlib.engine.search import first_look, with_ends, with_tilt
from accountlib.runs import one_call

Table = list[tuple[Fraction, Fraction]]


def sampled(p: Sequence[float], q: Sequence[float], rate: Fraction) -> Table:
    """The pair of a sampled table, remove."""
    pairs = zip(map(Fraction, p), map(Fraction, q), strict=True)
    return [((1 - rate) * y + rate * x, y) for x, y in pairs]


def types(table: Table, count: int) -> Table:
    """P and Q of all outcomes of several runs, equal ones together."""
    found = []
    for some in product(range(count + 1), repeat=len(table) - 1):
        if sum(some) > count:
            continue
        p = q = Fraction(1)
        left = count
        for k, (x, y) in zip((*some, count - sum(some)), table, strict=True):
            ways = math.comb(left, k)
            p, q, left = p * ways * x**k, q * ways * y**k, left - k
        found.append((p, q))
    return found


def cross(one: Table, other: Table) -> Table:
    return [(p * x, q * y) for p, q in one for x, y in other]


def curve(outcomes: Table, epsilon: float) -> mp.mpf:
    """delta, in 80 digits."""
    with mp.workdps(80):
        alpha, total = mp.exp(mp.mpf(epsilon)), mp.mpf(0)
        for p, q in outcomes:
            one = mp.mpf(p.numerator) / p.denominator
            two = mp.mpf(q.numerator) / q.denominator
            total += max(one - alpha * two, 0)
        return total


def rare_table(rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Two frequent outcomes with small losses, and a rare large loss."""
    rare = 2.0 ** -int(rng.integers(10, 45))
    more = rare * float(rng.integers(2, 30))
    bias = 2.0 ** -int(rng.integers(4, 25))
    p = [0.5 + bias, 0.5 - bias - more, more]
    q = [0.5 - bias, 0.5 + bias - rare, rare]
    return p, q


def mixed_run(
    rng: np.random.Generator,
) -> tuple[list[al.Release], list[tuple[Table, int]]]:
    """Up to three tables of different scales, sampled with tiny rates."""
    releases, tables = [], []
    for _ in range(int(rng.integers(1, 4))):
        p, q = rare_table(rng)
        if rng.random() < 0.5:
            truth = float(rng.uniform(0.5, 1))
            p, q = [truth, 1 - truth], [1 - truth, truth]
        rate = float(10 ** rng.uniform(-4, 0))
        count = int(rng.integers(1, 4 if len(p) == 3 else 6))
        run = al.DiscretePair(p, q)
        releases.append(al.Release(run, al.Poisson(rate), count))
        tables.append((sampled(p, q, Fraction(rate)), count))
    return releases, tables


@pytest.mark.parametrize("seed", [2, 3, 5, 6, 7, 8, 10, 11])  # quick ones
def test_lists_that_mix_scales(seed):
    rng = np.random.default_rng(seed)
    releases, tables = mixed_run(rng)
    outcomes: Table = [(Fraction(1), Fraction(1))]
    for table, count in tables:
        outcomes = cross(outcomes, types(table, count))
    p, q = outcomes[int(rng.integers(len(outcomes)))]
    atom = abs(math.log(p / q)) if 1e-300 < p / q < 1e300 else 0.1
    for epsilon in (atom, float(10 ** rng.uniform(-6, 0))):
        truth = curve(outcomes, epsilon)
        bound = al.delta(releases, epsilon=epsilon, adjacency="remove")
        assert bound.lower <= truth <= bound.upper
        other = al.delta(releases[::-1], epsilon=epsilon, adjacency="remove")
        assert max(bound.lower, other.lower) <= min(bound.upper, other.upper)
        at = float(truth)
        if at > 1e-250:
            back = al.epsilon(releases, delta=at, adjacency="remove")
            assert curve(outcomes, back.lower) >= at or back.lower == 0
            assert curve(outcomes, back.upper) <= at


@pytest.mark.parametrize("seed", range(40))
def test_both_parts_of_a_forced_split(seed):
    """delta_near and delta_rare by themselves, at any split and tilt."""
    rng = np.random.default_rng(seed)
    releases, tables = mixed_run(rng)
    losses = one_call.directions(releases, "remove", 1)[0]
    atoms = sorted({x for pair, _ in losses for x in pair.atoms})
    places = [
        place
        for place in [(a + b) / 2 for a, b in pairwise(atoms)] + [1.0]
        if place > 0
        and all(
            rare_steps.beside_atoms(pair, np.array([place]))[0]
            for pair, _ in losses
        )
    ]
    split = float(rng.choice(places))
    some, near = ([(Fraction(1), Fraction(1))] for _ in range(2))
    for table, count in tables:
        low = [x for x in table if math.log(x[0] / x[1]) <= split]
        some = cross(some, types(table, count))
        near = cross(near, types(low, count))
    largest = max(abs(x) for x in atoms)
    for far, ways in (
        (True, losses),
        (False, [(NearPair(pair, split), n) for pair, n in losses]),
    ):
        epsilon = float(rng.uniform(0, 1.2)) * largest
        query, above = Query(None, epsilon, 1e-3), split if far else math.inf
        search = first_look(ways, query, above)
        order = float(10 ** rng.uniform(-2, 2))
        search = replace(search, order=order)
        step = float(10 ** rng.uniform(-3, -1)) * largest
        value = max(search.guess, 1e-250)
        search = with_tilt(search, step, value)
        search = with_ends(search, step, value, 0.01, composition.SIDES)
        truth = curve(near, epsilon)
        truth = curve(some, epsilon) - truth if far else truth
        room = 1e-70  # of the difference
        assert search.bound.lower <= truth + room
        assert truth - room <= search.bound.upper


def test_an_answer_where_a_grid_of_two_is_too_fine():
    """Upper ends inf of both parts made a share inf/inf, and a crash."""
    run = [
        al.Release(al.Gaussian(1.4), al.Poisson(1.5e-8)),
        al.Release(al.PureDP(1e-6)),
    ]
    bound = al.delta(run, epsilon=1e-3, adjacency="remove")
    assert 0 <= bound.lower <= bound.upper <= 1


def test_no_more_grid_points_than_allowed():
    """Stretches too short for their width were filled with narrow cells."""
    p = (0.375, 0.0625, 0.0078125, 0.1796875, 0.375)
    q = (0.125, 0.3125, 0.2578125, 0.1796875, 0.125)
    pair = al.SampledPair(al.DiscretePair(p, q), 1e-8)
    look = first_look([(pair, 1)], Query(None, 2e-8, 1e-3), 1.5e-8)
    part = look.cells[0]
    low, high = pair.loss_range
    for step in (1e-12, 1e-13, 1e-14, 1e-15):
        try:
            points = grids.graded_points(part, 1e-5, step, 0.0, low, high)
        except al.GridTooFine:
            continue
        assert len(points) <= 2 * one_sided.MOST_POINTS


def test_a_rare_step_does_not_spoil_two_frequent_ones():
    run = [
        al.Release(al.PureDP(1.4685460171443465), count=2),
        al.Release(al.Gaussian(10.0), al.Poisson(0.004)),
    ]
    bound = al.epsilon(run, delta=0.021141444950059585, adjacency="remove")
    assert bound.width < 0.01  # [1.02, 2.92], the truth is 2.9046


def test_upper_ends_do_not_rise_near_the_largest_loss():
    p = (0.033438682556152344, 0.34049224853515625, 0.6260690689086914)
    q = (0.7439918518066406, 0.12876224517822266, 0.12724590301513672)
    run = [
        al.Release(al.PureDP(30.0)),
        al.Release(al.DiscretePair(p, q), al.Poisson(2.0**-13), 12),
    ]
    before, after = (
        al.delta(run, epsilon=x, adjacency="remove").upper
        for x in (30.0037, 30.00574103529793)
    )
    assert after <= 1.01 * before  # 1.8e-9, then 0.9999999


def test_an_infinite_mass_below_the_smallest_float():
    """1e-328 is no float: it counts as 5e-324 above, and as 0 below."""
    pair = al.DiscretePair((0.75, 0.25, 1e-316), (0.25, 0.75, 0.0))
    run = al.Release(pair, al.Poisson(1e-12))
    bound = al.epsilon(run, delta=5e-324, adjacency="remove")
    largest = math.log1p(2e-12)  # 0.75 against 0.25, sampled
    assert bound.lower <= largest * (1 + 1e-12)
