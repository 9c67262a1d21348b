"""Epochs in which each record is in one step, drawn at random."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import accountlib as al
from accountlib.samplers.allocation import (
    RatioPair,
    add_ratios,
    allocation_law,
    allocation_pair,
    listed_law,
    step_law,
)
from accountlib.worst_cases.noise import GaussianPair, LaplacePair
from tests.truth import allocation

# steps, noise, epsilon, delta of remove, of add, relative error of both:
# two steps by quadrature, more on a lattice with Richardson's extrapolation
KNOWN = [
    (2, 1.0, 0.5, 0.149177523136, 0.142686965824, 1e-11),
    (2, 1.0, 1.0, 0.059206501086, 0.050197662369, 1e-11),
    (2, 0.5, 1.0, 0.404577500378, 0.380339194397, 1e-11),
    (4, 1.0, 0.5, 0.08155406, 0.07202323, 1e-5),
    (4, 1.0, 1.0, 0.02085429, 0.01236120, 1e-5),
    (10, 1.0, 0.5, 0.02685036, 0.01906411, 1e-5),
    (10, 1.0, 1.0, 2.782869e-3, 4.86186e-4, 1e-5),
    (10, 0.5, 1.0, 0.1874488, 0.116792, 1e-5),
    (10, 0.5, 2.0, 0.0731155, 0.010691, 5e-5),
    (100, 1.0, 0.2, 4.63572e-3, 3.19067e-3, 1e-5),
    (100, 1.0, 0.5, 4.40891e-5, 5.9253e-7, 1e-4),
    (100, 2.0, 0.1, 6.73718e-4, 6.38451e-4, 1e-5),
]


def epoch(noise: float, steps: int, count: int = 1) -> al.Release:
    return al.Release(al.Gaussian(noise), al.RandomAllocation(steps), count)


@pytest.mark.parametrize(
    ("steps", "noise", "at", "remove", "add", "error"), KNOWN
)
def test_one_epoch_against_other_methods(steps, noise, at, remove, add, error):
    run = epoch(noise, steps)
    for side, known in (("remove", remove), ("add", add)):
        found = al.delta(run, epsilon=at, adjacency=side)
        assert found.lower <= known * (1 + error)
        assert found.upper >= known * (1 - error)
        assert found.width < 0.03


def test_a_thousand_steps():
    """Other people's brackets: 0.4430 to 0.4603 for one epoch, removed."""
    for count, side, known in (
        (1, "remove", 0.45004),
        (1, "add", 0.21617),
        (10, "remove", 0.91672),
        (10, "add", 0.77505),
    ):
        found = al.epsilon(epoch(0.8, 1000, count), delta=1e-6, adjacency=side)
        assert found.lower <= known + 5e-6 and known - 5e-6 <= found.upper
        assert found.width < 2e-3


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("seed", range(16))
def test_random_epochs_on_an_even_grid(seed):
    rng = np.random.default_rng([41, seed])
    noise = float(rng.uniform(1.5, 6))
    steps = int(rng.integers(1, 14))
    at = float(rng.choice([0.0, 0.1, 0.5, 1.0]))
    for side in ("remove", "add"):
        low, high = allocation.bracket(noise, steps, at, side)
        found = al.delta(epoch(noise, steps), epsilon=at, adjacency=side)
        assert found.lower <= high and low <= found.upper


def exact_deltas(p, q, steps, alpha):
    """delta of remove and of add for a list of outcomes, in fractions."""
    remove = add = Fraction(0)
    for outcomes in product(range(len(p)), repeat=steps):
        chance = math.prod((q[k] for k in outcomes), start=Fraction(1))
        mean = sum((p[k] / q[k] for k in outcomes), Fraction(0)) / steps
        remove += chance * max(mean - alpha, Fraction(0))
        add += chance * max(1 - alpha * mean, Fraction(0))
    return remove, add


@pytest.mark.parametrize("seed", range(12))
def test_lists_of_outcomes_in_fractions(seed):
    rng = np.random.default_rng([43, seed])
    size, steps = int(rng.integers(2, 4)), int(rng.integers(1, 6))
    parts = rng.integers(1, 64, (2, size))
    parts[:, 0] += 256 - parts.sum(axis=1)
    p, q = ([Fraction(int(x), 256) for x in row] for row in parts)
    pair = al.DiscretePair([float(x) for x in p], [float(x) for x in q])
    run = al.Release(pair, al.RandomAllocation(steps))
    for alpha in (Fraction(1), Fraction(9, 8), Fraction(3, 2)):
        known = exact_deltas(p, q, steps, alpha)
        at = math.log(alpha)
        for side, truth in zip(("remove", "add"), known, strict=True):
            found = al.delta(run, epsilon=at, adjacency=side)
            assert found.lower * (1 - 1e-13) <= truth
            assert truth <= found.upper * (1 + 1e-13)
            assert found.upper - found.lower <= 0.05 * found.upper + 1e-9


def test_what_is_told_for_certain():
    """Mass where one of both has none: neither is lost, nor counted twice."""
    p = [Fraction(1, 4), Fraction(3, 4), Fraction(0)]
    q = [Fraction(0), Fraction(1, 2), Fraction(1, 2)]
    pair = al.DiscretePair([float(x) for x in p], [float(x) for x in q])
    run = al.Release(pair, al.RandomAllocation(3))
    told = al.delta(run, epsilon=50.0, adjacency="remove")
    assert told.contains(0.25)
    # nothing but the third outcome, three times: no record
    found = al.delta(run, epsilon=0.0, adjacency="add")
    ratio, truth = Fraction(3, 2), Fraction(0)
    for k in range(4):
        chance = Fraction(math.comb(3, k), 8)
        truth += chance * max(1 - ratio * k / 3, Fraction(0))
    assert found.lower * (1 - 1e-13) <= truth <= found.upper * (1 + 1e-13)


@pytest.mark.parametrize(
    "pair", [GaussianPair(1.0), GaussianPair(4.0), LaplacePair(0.7)]
)
def test_convex_means_are_ordered(pair):
    """From below and from above, for one ratio and for seven."""
    for count in (1, 7):
        below, above = (
            step_law(pair, side)
            if count == 1
            else allocation_law(pair, count, side)
            for side in ("lower", "upper")
        )
        for at in (0.1, 0.5, 1.0, 1.5, 4.0, 50.0):
            low, high = (
                law.mass @ np.maximum(law.place / count - at, 0)
                for law in (below, above)
            )
            assert low <= high * (1 + 1e-9)
        for law in (below, above):
            assert law.mass @ law.place / count == pytest.approx(1, abs=1e-11)


def test_errors_of_masses_are_counted():
    """Eight coins, which no cell merges, against the law in fractions."""
    coin = al.DiscretePair((0.75, 0.25), (0.25, 0.75))
    total = listed_law(coin, "lower")
    for _ in range(3):
        total = add_ratios(total, total, "lower")
    assert 0 < total.error < 1e-12
    for k in range(9):
        exact = Fraction(math.comb(8, k) * 3 ** (8 - k), 4**8)
        where = 3 * k + (8 - k) / 3
        near = np.abs(total.place / where - 1) <= total.shift
        mass = sum(map(Fraction, total.mass[near].tolist()))
        assert abs(mass / exact - 1) <= total.error


def test_more_steps_and_noise_tell_less_and_epochs_more():
    for side in ("remove", "add"):
        ends = [
            al.epsilon(epoch(*x), delta=1e-5, adjacency=side)
            for x in ((1.0, 5, 4), (1.0, 20, 4), (1.5, 20, 4), (1.5, 20, 1))
        ]
        for more, less in zip(ends[:-1], ends[1:], strict=True):
            assert less.upper < more.lower


def test_like_poisson_where_steps_are_many():
    poisson = al.Release(al.Gaussian(1.0), al.Poisson(1e-4), count=10**5)
    for side in ("remove", "add"):
        one, other = (
            al.epsilon(run, delta=1e-6, adjacency=side)
            for run in (epoch(1.0, 10**4, 10), poisson)
        )
        assert abs(one.upper / other.upper - 1) < 0.02


def test_one_step_is_a_full_batch():
    one, full = epoch(2.0, 1, 3), al.Release(al.Gaussian(2.0), count=3)
    for question in (
        {"adjacency": "remove"},
        {"adjacency": "substitute", "group_size": 2},
        {"adjacency": "add", "group_size": 3},
    ):
        assert al.delta(one, epsilon=1.0, **question) == al.delta(
            full, epsilon=1.0, **question
        )


def test_zero_out():
    for sampling in (al.FullBatch(), al.Poisson(0.1), al.RandomAllocation(10)):
        run = al.Release(al.Gaussian(1.0), sampling, count=3)
        one, other = (
            al.epsilon(run, delta=1e-5, adjacency=x)
            for x in ("zero-out", "add-or-remove")
        )
        assert one == other
    text = str(al.report(epoch(1.0, 10), adjacency="zero-out"))
    assert "whether a record in the data counts" in " ".join(text.split())


def test_in_lists_curves_and_calibration():
    other = al.Release(al.Laplace(5.0), al.Poisson(0.1), count=10)
    alone = al.epsilon(epoch(1.0, 20), delta=1e-5, adjacency="add-or-remove")
    both = al.epsilon(
        [epoch(1.0, 20), other], delta=1e-5, adjacency="add-or-remove"
    )
    assert both.lower > alone.upper
    deltas = al.delta(epoch(1.0, 20), epsilon=[0.5, 1.0], adjacency="remove")
    single = al.delta(epoch(1.0, 20), epsilon=1.0, adjacency="remove")
    assert deltas.lower[1] <= single.upper and single.lower <= deltas.upper[1]
    fit = al.gdp(epoch(1.0, 20), adjacency="add-or-remove")
    assert single.lower <= fit.delta(1.0)
    noise = al.calibrate_noise(
        epsilon=1.0,
        delta=1e-5,
        sampling=al.RandomAllocation(4),
        count=1,
        adjacency="add-or-remove",
    )
    spent = al.epsilon(epoch(noise, 4), delta=1e-5, adjacency="add-or-remove")
    assert 0.99 < spent.lower <= spent.upper <= 1.0


def test_what_nobody_knows_is_refused():
    run = epoch(1.0, 10)
    with pytest.raises(NotImplementedError, match="no pair is known"):
        al.epsilon(run, delta=1e-5, adjacency="substitute")
    with pytest.raises(NotImplementedError, match="groups"):
        al.epsilon(run, delta=1e-5, adjacency="add", group_size=2)
    with pytest.raises(NotImplementedError, match="Renyi"):
        al.rdp_curve(run, adjacency="add")
    for steps in (0, -1, 1.5, math.nan, 10**8, "3", True):
        with pytest.raises(ValueError, match="steps must"):
            al.RandomAllocation(steps)
    with pytest.raises(ValueError, match="pair must"):
        allocation_pair(0.5, 3)


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("noise", [0.08, 0.2, 30.0, 1e4])
def test_any_noise_gives_a_valid_interval(noise):
    for side in ("remove", "add"):
        found = al.epsilon(epoch(noise, 30), delta=1e-6, adjacency=side)
        full = al.epsilon(
            al.Release(al.Gaussian(noise)), delta=1e-6, adjacency=side
        )
        assert found.lower <= full.upper
        assert found.width < 0.1


def test_what_a_pair_says_of_itself():
    pair = allocation_pair(GaussianPair(1.0), 5)
    assert isinstance(pair, RatioPair) and "outcomes" in repr(pair)
    (below,) = pair.reached
    assert below.reached == (below,)
    assert pair.reversed().reached == (below.reversed(),)
    assert pair.reversed().reversed() == pair
    assert hash(pair) == hash(allocation_pair(GaussianPair(1.0), 5))


EXTREME = [  # P, Q, steps, e to epsilon: underflow, and losses of any size
    ((1e-101, 0.6, 0.4), (1e-98, 0.4, 0.6), 3, 148),
    ((0, 0.6, 0.4), (1e-150, 0.4, 0.6), 2, 148),
    ((2.0**-1074, 0.5, 0.5), (0.5, 0.25, 0.25), 2, 20),
    ((0.5, 0.5), (1.0, 0.0), 3, 1.1),
    ((0, 0.6, 0.4), (0.9, 0.05, 0.05), 5, 1e26),
    ((2.0**-40, 0.5, 0.5 - 2.0**-40), (0.5, 2.0**-40, 0.5 - 2.0**-40), 4, 3),
]


@pytest.mark.parametrize(("p", "q", "steps", "alpha"), EXTREME)
def test_masses_that_floats_may_lose(p, q, steps, alpha):
    seen = [k for k, x in enumerate(q) if x > 0]
    infinite = sum(Fraction(x) for x, y in zip(p, q, strict=True) if y == 0)
    remove, add = exact_deltas(
        [Fraction(p[k]) for k in seen],
        [Fraction(q[k]) for k in seen],
        steps,
        Fraction(alpha),
    )
    run = al.Release(al.DiscretePair(p, q), al.RandomAllocation(steps))
    for side, truth in (("remove", remove + infinite), ("add", add)):
        found = al.delta(run, epsilon=math.log(alpha), adjacency=side)
        assert found.lower * (1 - 1e-12) <= truth <= found.upper * (1 + 1e-12)


@pytest.mark.parametrize(("none", "steps"), [(0.9, 300), (0.999, 20_000)])
def test_that_the_record_is_nowhere_is_rounded_outward(none, steps):
    rest = (1 - none) / 2
    pair = al.DiscretePair((0.0, 0.6, 0.4), (none, rest, rest))
    run = al.Release(pair, al.RandomAllocation(steps))
    found = al.delta(run, epsilon=60.0, adjacency="add")
    assert found.lower <= Fraction(none) ** steps <= found.upper
    assert found.width < 1e-6


@pytest.mark.parametrize(
    "mechanism",
    [
        al.Gaussian(0.02),
        al.Gaussian(1e15),
        al.PureDP(400.0),
        al.PureDP(1e-20),
        al.DiscretePair((0.5, 0.125, 0.375), (math.exp(-690) / 2, 0.5, 0.5)),
    ],
)
def test_losses_beyond_the_floats_are_refused(mechanism):
    run = al.Release(mechanism, al.RandomAllocation(2))
    with pytest.raises(NotImplementedError, match="too large or too small"):
        al.delta(run, epsilon=0.5, adjacency="remove")


def test_all_or_nothing_told():
    for mechanism, told in (
        (al.RandomizedResponse(0.5), 0.0),
        (al.PureDP(0.0), 0.0),
        (al.RandomizedResponse(1.0), 1.0),
        (al.ApproximateDP(1.0, 1.0), 1.0),
    ):
        run = al.Release(mechanism, al.RandomAllocation(7))
        for side in ("remove", "add"):
            found = al.delta(run, epsilon=0.5, adjacency=side)
            assert (found.lower, found.upper) == (told, told)
