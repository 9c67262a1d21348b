"""Where single steps decide: the split into near and far losses, single runs
without a grid, and the simple bounds behind every answer."""

# mypy: disable-error-code="call-overload"

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import accountlib as al
from accountlib.engine import (
    grids,
    one_round,
    one_sided,
    rare_steps,
    saddle,
    single_runs,
    transforms,
)
from accountlib.engine.one_sided import TiltedTable
from accountlib.engine.saddle import Query
from accountlib.engine.search import first_look, narrow
from accountlib.runs import one_call


def table(mass, tilt=0.5, step=0.25, far=None):
    """A table; losses from index `far` on are its second piece."""
    mass = np.asarray(mass, dtype=float)
    index = np.arange(len(mass))
    pieces: tuple[Any, ...] = ()
    if far is not None:
        pieces = np.where(index < far, mass, 0), np.where(index < far, 0, mass)
    return TiltedTable(
        step,
        0.0,
        tilt,
        0.0,
        0.0,
        0.0,
        "upper",
        index=index,
        mass=mass,
        pieces=pieces,
    )


MIXTURE = al.MixtureOfGaussians([0.0, 1.0, 3.0], [0.9, 0.09, 0.01], 1.0)


def exact_delta(p, q, count, epsilon):
    """delta of `count` runs of three outcomes, in 60 digits."""
    pairs = list(zip(p, q, strict=True))
    with mp.workdps(60):
        alpha, total = mp.exp(mp.mpf(epsilon)), mp.mpf(0)
        for i, j in product(range(count + 1), repeat=2):
            k = count - i - j
            if k < 0:
                continue
            ways = math.comb(count, i) * math.comb(count - i, j)
            one = mp.mpf(ways)
            two = mp.mpf(ways)
            for number, (a, b) in zip((i, j, k), pairs, strict=True):
                one *= mp.mpf(a) ** number
                two *= mp.mpf(b) ** number
            total += max(one - alpha * two, 0)
        return total


def rare_pair(rng):
    """Two frequent outcomes with small losses, and a rare large loss."""
    rare = 10.0 ** rng.uniform(-30, -6)
    bias = 10.0 ** rng.uniform(-6, -3)
    p = (0.5 + bias, 0.5 - bias - rare, rare)
    other = rare * math.exp(-rng.uniform(1, 8))
    q = (0.5 - bias, 0.5 + bias - other, other)
    return p, q


@pytest.mark.parametrize("seed", range(60))
def test_rare_losses_against_exact_sums(seed):
    rng = np.random.default_rng(seed)
    p, q = rare_pair(rng)
    largest = math.log(p[2] / q[2])
    count = int(rng.integers(2, 12))
    share = float(rng.uniform(0.2, 2.5))
    run = al.Release(al.DiscretePair(p, q), count=count)
    bound = al.delta(run, epsilon=share * largest, adjacency="remove")
    truth = exact_delta(p, q, count, share * largest)
    assert bound.lower <= truth <= bound.upper
    if share < 0.95:  # one large loss is enough
        assert bound.width < 2e-3


@pytest.mark.parametrize(
    ("noise", "rate", "count", "epsilon"),
    [
        (2.0, 1e-4, 10, 0.1),
        (2.0, 1e-4, 10, 1.0),
        (2.0, 1e-4, 1000, 1.0),
        (2.0, 1e-6, 1000, 0.1),
        (1.0, 1e-5, 100, 3.0),
        (4.0, 1e-3, 100, 0.5),
    ],
)
def test_two_sides_where_one_tilt_fails(noise, rate, count, epsilon):
    run = al.Release(al.Gaussian(noise), al.Poisson(rate), count)
    bound = al.delta(run, epsilon=epsilon, adjacency="add-or-remove")
    assert bound.width <= 1.5e-3
    # by hand: at least one large step from below, their sum from above
    one = al.delta(
        al.Release(al.Gaussian(noise), al.Poisson(rate)),
        epsilon=epsilon,
        adjacency="remove",
    )
    assert bound.upper > 0.99 * min(1.0, count) * one.lower
    back = al.epsilon(run, delta=bound.upper, adjacency="add-or-remove")
    other = al.epsilon(run, delta=bound.lower, adjacency="add-or-remove")
    assert back.lower <= epsilon <= other.upper


def test_the_split_transform_has_a_relative_error():
    rng = np.random.default_rng(4)
    for _ in range(20):
        mass = rng.uniform(0, 1, 12)
        mass[:8] /= mass[:8].sum()
        mass[8:] *= 10.0 ** rng.uniform(-60, -3)
        count, size = int(rng.integers(2, 40)), 64
        part = table(mass, far=8)
        power = one_round.Power.of([(part, count)], size, 32)
        value, wrong = power.values(np.arange(33))
        with mp.workdps(200):
            for k in range(33):
                turn = mp.expj(2 * mp.pi * k / size)
                near, far = (
                    sum(mp.mpf(m) * turn**x for x, m in places)
                    for places in (
                        list(enumerate(mass))[:8],
                        list(enumerate(mass))[8:],
                    )
                )
                shift = turn ** (-power.middle)
                truth = ((near + far) ** count - near**count) * shift
                assert abs(truth - mp.mpc(value[k])) <= wrong[k]
        assert wrong[0] < 1e-10 * abs(value[0])


def test_nothing_is_known_of_a_quotient_by_zero():
    part = table([0.5, 0.5, 0.0, 0.0, 1e-9], far=4)
    power = one_round.Power.of([(part, 30)], 4, 2)
    value, wrong = power.values(np.array([2]))  # 0.5 - 0.5 = 0
    assert abs((1e-9) ** 30 - value[0]) <= wrong[0]


def parts_of_delta(p, q, count, epsilon, rare):
    """delta of runs without the rare outcomes, and of the others: exact."""
    alpha, found = Fraction(math.exp(epsilon)), [Fraction(0), Fraction(0)]
    for places in product(range(len(p)), repeat=count):
        one = math.prod(Fraction(p[i]) for i in places)
        two = math.prod(Fraction(q[i]) for i in places)
        has_rare = any(i in rare for i in places)
        found[has_rare] += max(one - alpha * two, Fraction(0))
    return [float(x) for x in found]


@pytest.mark.parametrize("seed", range(40))
def test_near_and_far_deltas_one_by_one(seed):
    """delta is the sum of two deltas, each between its own bounds."""
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(4))
    losses = np.log(p / q)
    order = np.argsort(losses)
    far = order[int(rng.integers(1, 4)) :]
    split = float(losses[far[0]] + losses[order[len(p) - len(far) - 1]]) / 2
    count = int(rng.integers(2, 6))
    epsilon = float(rng.uniform(0, 1) * max(losses.max(), 0.1))
    pair = al.DiscretePair(tuple(p), tuple(q))
    near, rare = parts_of_delta(pair.p, pair.q, count, epsilon, far)
    query = Query(None, epsilon, 1e-3)
    found = narrow(first_look([(pair, count)], query, split), 0.0)
    assert found.bound.lower <= rare * (1 + 1e-9)
    assert rare * (1 - 1e-9) <= found.bound.upper
    part = [(one_round.NearPair(pair, split), count)]
    search = narrow(first_look(part, query), 0.0)
    assert search.bound.lower <= near * (1 + 1e-9)
    assert near * (1 - 1e-9) <= search.bound.upper
    known = al.Bound(0.0, 1.0)
    whole = rare_steps.two_grids([(pair, count)], query, known, rare).bound
    assert whole.lower <= (near + rare) * (1 + 1e-9)
    assert (near + rare) * (1 - 1e-9) <= whole.upper


def test_the_masses_of_near_and_far_losses_add_up():
    rng = np.random.default_rng(3)
    pairs = [
        al.SampledPair(al.GaussianPair(1.0), 0.01),
        al.LaplacePair(0.5),
        al.DiscretePair((0.5, 0.3, 0.2), (0.2, 0.3, 0.5)),
    ]
    for pair in pairs:
        for _ in range(40):
            edges = np.sort(rng.uniform(-1.5, 1.5, 7))
            choices = [*edges, rng.uniform(-2, 2)]
            split = float(choices[int(rng.integers(8))])
            (whole,) = grids.cell_masses(pair, edges)
            near, far = grids.cell_masses(pair, edges, split)
            assert near.shape == far.shape == whole.shape
            np.testing.assert_allclose(near + far, whole, rtol=1e-12)
            part = one_round.NearPair(pair, split)
            np.testing.assert_allclose(
                np.stack(part.masses(edges)), near, rtol=1e-12
            )


@pytest.mark.parametrize(
    ("mechanism", "rate", "count", "question"),
    [
        (al.Gaussian(0.5), 1e-6, 100, {"epsilon": 0.0}),
        (al.Gaussian(1.0), 1e-4, 1000, {"epsilon": 0.1}),
        (al.DiscreteGaussian(0.5), 1e-6, 100, {"epsilon": 20.0}),
        (al.DiscreteGaussian(0.5), 1e-3, 10, {"delta": 1e-5}),
        (MIXTURE, 1e-4, 10, {"delta": 1e-5}),
    ],
)
def test_losses_on_several_scales(mechanism, rate, count, question):
    run = al.Release(mechanism, al.Poisson(rate), count)
    ask = al.delta if "epsilon" in question else al.epsilon
    bound = ask(run, adjacency="add-or-remove", **question)
    assert bound.width <= 1.5e-3


@pytest.mark.parametrize("mu", [1e-3, 0.3, 1.0, 5.0])
def test_single_runs_need_no_grid(mu):
    pair = al.GaussianPair(mu)
    at = np.sort(np.random.default_rng(1).uniform(-2, 8, 40) * mu * (1 + mu))
    low, up = single_runs.run_curve(pair, at)
    exact = al.gaussian_delta(at, mu=mu)
    assert np.all(low <= exact * (1 + 1e-11) + 1e-300)
    assert np.all(exact * (1 - 1e-11) <= up)
    seen = exact > 1e-150
    assert np.all((up - low)[seen] <= 1e-6 * exact[seen])


def test_single_runs_where_q_is_too_small_for_floats():
    run = al.Release(al.DiscreteGaussian(1.0))
    ask: dict[str, Any] = {"adjacency": "remove", "group_size": 15}
    bound = al.epsilon(run, delta=1e-150, **ask)
    with mp.workdps(30):  # one place, 26 from the mean, and what is beyond
        total = mp.nsum(lambda z: mp.exp(-z * z / 2), [-mp.inf, mp.inf])
        places = [(z, mp.exp(-(mp.mpf(z) ** 2) / 2) / total) for z in (26, 27)]
        losses = [mp.mpf(15 * (2 * (z + 15) - 15)) / 2 for z, _ in places]
        truth = mp.findroot(
            lambda x: (
                sum(
                    p * -mp.expm1(x - loss)
                    for (_, p), loss in zip(places, losses, strict=True)
                )
                - mp.mpf(10) ** -150
            ),
            502.4984,
        )
    assert bound.lower <= truth <= bound.upper and bound.width < 1e-6
    found = al.delta(run, epsilon=480.0, **ask)
    assert abs(found.upper / 7.65e-137 - 1) < 1e-3 and found.width < 1e-9
    run = al.Release(al.DiscreteGaussian(0.5, 10))
    bound = al.epsilon(run, delta=1e-100, adjacency="remove")
    assert bound.contains(600.0)


def test_the_masses_at_infinity_decide_exactly():
    run = al.Release(al.ApproximateDP(0.0, 2.0**-20), count=3)
    delta = 2.8610202207355116e-06
    exact = 1 - (1 - Fraction(2) ** -20) ** 3
    assert Fraction(delta) < exact
    bound = al.epsilon(run, delta=delta, adjacency="remove")
    assert bound == al.Bound(math.inf, math.inf)
    run = al.Release(al.ApproximateDP(0, 0.1), count=2)
    assert 1 - (1 - Fraction(0.1)) ** 2 > Fraction(0.19)
    bound = al.epsilon(run, delta=0.19, adjacency="remove")
    assert bound.upper == math.inf


@pytest.mark.parametrize("total", [1e-30, 1e-9, 0.3, 5.0, 200.0])
def test_the_probability_of_any(total):
    parts = [(Fraction(total / 1000) / 3, 1000), (Fraction(1, 10**9), 7)]
    low, high = single_runs.any_of_many(parts)
    with mp.workdps(300):
        none = mp.mpf(1)
        for p, n in parts:
            none *= (1 - mp.mpf(p.numerator) / p.denominator) ** n
        assert low <= 1 - none <= high
    assert high <= math.nextafter(low, 2.0)


@pytest.mark.parametrize(
    ("run", "question"),
    [
        (al.Release(al.Gaussian(0.5), al.Poisson(1e-4), 10), {"epsilon": 0.0}),
        (
            al.Release(al.Gaussian(4.0), al.Poisson(1e-5), 10**4),
            {"epsilon": 0.01},
        ),
        (
            al.Release(al.DiscreteGaussian(2.0), al.Poisson(1e-3), 1000),
            {"delta": 1e-5},
        ),
        (al.Release(al.DiscreteLaplace(10.0, 3), count=10), {"delta": 1e-5}),
        (
            [al.Release(al.Gaussian(s)) for s in np.geomspace(0.09, 1632, 30)],
            {"delta": 1e-5},
        ),
        (al.Release(al.Gaussian(37.0)), {"epsilon": 0.99}),
    ],
)
def test_no_useless_answers(run, question):
    ask = al.delta if "epsilon" in question else al.epsilon
    bound = ask(run, adjacency="add-or-remove", **question)
    assert bound.upper < 1e-200 or bound.upper < 2 * bound.lower


def test_gaussian_runs_merge_exactly():
    runs = [
        al.Release(al.Gaussian(4.0), count=9),
        al.Release(al.Gaussian(2.0)),
    ]
    (way,) = one_call.directions(runs, "add-or-remove", 1)
    ((pair, count),) = way
    assert isinstance(pair, al.GaussianPair)
    assert count == 1 and pair.mu == math.sqrt(9 / 16 + 1 / 4)
    bound = al.epsilon(runs, delta=1e-200, adjacency="remove")
    assert bound.contains(al.gaussian_epsilon(1e-200, mu=pair.mu))


def test_simple_bounds_contain_the_truth():
    rng = np.random.default_rng(2)
    for _ in range(40):
        mu, count = float(rng.uniform(0.01, 2)), int(rng.integers(1, 50))
        losses = [(al.GaussianPair(mu), count)]
        whole = mu * math.sqrt(count)
        epsilon = float(rng.uniform(0, 5))
        bound = single_runs.simple_bound(losses, Query(None, epsilon, 1e-3))
        assert bound.contains(al.gaussian_delta(epsilon, mu=whole))
        delta = 10.0 ** rng.uniform(-12, -1)
        bound = single_runs.simple_bound(losses, Query(delta, None, 1e-3))
        assert bound.contains(al.gaussian_epsilon(delta, mu=whole))


def test_cells_of_no_width():
    """Found by the search for violations: two edges fell on one float."""
    run = al.Release(
        al.Gaussian(0.42358997182726144), al.FixedBatch(11848, 471672), 80
    )
    bound = al.delta(
        run, epsilon=4.070407760899545, adjacency="add", group_size=2
    )
    assert bound.upper < 1e-200  # just below the largest loss


def test_tiny_guarantees_in_almost_full_samples():
    """Found by the search: the largest loss, up to rounded probabilities."""
    run = al.Release(
        al.PureDP(1.5733774750574996e-09), al.Poisson(0.9999990329790536)
    )
    bound = al.epsilon(run, delta=1.7118223502872014e-22, adjacency=SUB)
    assert bound.contains(1.5733759535e-09)


SUB = "substitute"
REMOVE: dict[str, Any] = {"adjacency": "remove"}


@pytest.mark.parametrize("rate", [0.25, 0.3, 0.7, 1e-3])
def test_a_single_atom_is_not_lost(rate):
    """With other logarithms it was rounded to the far side of its edge."""
    run = al.Release(al.DiscretePair((0.375, 0.625), (1.0, 0.0)))
    (pair,) = al.dominating_pairs(
        run.mechanism, sampling=al.Poisson(rate), adjacency="add"
    )
    low, up = single_runs.atom_curve(pair, np.array([0.0]))
    truth = 0.625 * rate
    assert low[0] <= truth * (1 + 1e-13) and truth * (1 - 1e-13) <= up[0]


def test_errors_count_where_nothing_is_known():
    """An entry may be 0 because nothing is known of it: its error stays."""
    known = transforms.Spectrum(
        step=0.1,
        offset=0.0,
        tilt=1.0,
        log_scale=0.0,
        tail=0.0,
        infinity_mass=0.0,
        bound="upper",
        size=8,
        first=0,
        frequency=np.arange(3),
        value=np.array([0.125, 0.0, 0.0], complex),
        wrong=np.array([1e-9, 0.0, 0.0]),
        rest=0.0,
    )
    other = replace(known, wrong=np.array([1e-9, 0.1, 0.1]))
    at = np.asarray(0.2)
    worst = 0.0
    for turn in np.exp(2j * np.pi * np.arange(8) / 8):
        moved = np.array([0.125, 0.1 * turn, 0.1 * turn**3])
        value, _ = replace(known, value=moved).weighed(at)
        worst = max(worst, float(abs(value - known.weighed(at)[0])))
    assert worst <= other.weighed(at)[1]


def test_frequent_far_losses_are_no_rare_ones():
    """A split below most losses: nothing is known, so nothing is claimed."""
    run = al.Release(
        al.Gaussian(38.4734445989169),
        al.Poisson(4.309928943670259e-05),
        318289,
    )
    (way,) = one_call.directions(run, "remove", 1)
    query = Query(None, 0.012743968727813899, 1e-3)
    search = narrow(first_look(way, query, 3.98e-09), 0.0)
    assert search.bound.contains(4.0935e-95)


def test_lists_without_atoms_and_atoms_without_tilted_mass():
    """A pair may have infinite losses only; a tilt may leave one atom."""
    nothing = al.Release(al.DiscretePair((0.0, 1.0), (1.0, 0.0)), count=4)
    other = al.Release(
        al.DiscretePair((0.5, 0.3, 0.2), (0.2, 0.3, 0.5)),
        al.Poisson(0.9999977513306282),
        8,
    )
    bound = al.delta([nothing, other], epsilon=0.0, adjacency="add-or-remove")
    assert bound == al.Bound(1.0, 1.0)
    part = saddle.Cells.first(nothing.mechanism.pair(), 4, 1e-30)
    assert grids.heaviest(part, 1.0, 0.0) == ()
    run = al.Release(al.RandomizedResponse(0.6), al.Poisson(1e-3), 10)
    bound = al.epsilon(run, delta=1e-9, adjacency="remove")
    assert bound.contains(4.98926e-3) and bound.width < 1e-3


@pytest.mark.parametrize("guess", [0.02, 0.2, 0.6, 1.0, 3.0, 20.0])
def test_a_poor_guess_gives_no_wrong_answer(guess):
    """Sums of near losses may not reach a guess, but they reach the truth."""
    near, far, rare = 0.1, 5.0, 1e-6
    q = (0.5 * math.exp(-near), rare * math.exp(-far))
    pair = al.DiscretePair((0.5, 0.5 - rare, rare), (q[0], 1 - sum(q), q[1]))
    known = al.Bound(0.0, math.inf)
    query = Query(0.03, None, 1e-3)
    bound = rare_steps.two_grids([(pair, 3)], query, known, guess).bound
    assert bound.contains(0.09164537145110)
    for delta in (1e-6, 3e-5, 1e-3, 0.01, 0.05):
        exact = al.epsilon(al.Release(pair, count=3), delta=delta, **REMOVE)
        found = rare_steps.two_grids(
            [(pair, 3)], Query(delta, None, 1e-3), known, guess
        ).bound
        assert found.lower <= exact.upper and exact.lower <= found.upper


def test_no_split_on_an_atom():
    """A share of epsilon may be the place of an atom: two runs of a coin."""
    pair = al.RandomizedResponse(0.9).pair()
    top = pair.atoms[-1]
    places = np.array([top * (1 - 1e-15), top, top * 0.999, 0.5])
    beside = rare_steps.beside_atoms(pair, places)
    assert beside.tolist() == [False, False, True, True]


def test_delta_at_the_largest_loss_is_known():
    """Exactly, where the largest loss is; sums of it as well."""
    for mechanism, count, epsilon in (
        (al.Laplace(5.0), 100, 20.0),  # 1/5 is no float
        (al.DiscreteLaplace(0.5), 10, 20.0),
        (al.PureDP(0.1), 1, 0.1),
    ):
        run = al.Release(mechanism, count=count)
        at = al.delta(run, epsilon=epsilon, adjacency="add-or-remove")
        assert at == al.Bound(0.0, 0.0)
        below = al.delta(run, epsilon=epsilon * (1 - 1e-6), **REMOVE)
        assert below.lower > 0
    run = al.Release(al.PureDP(0.1), count=10)  # 10 times the float is more
    assert al.delta(run, epsilon=1.0, **REMOVE).upper > 0


def test_infinite_losses_of_samples_are_exact():
    """0.001 times 1e-9 is more than 1e-12, in floats taken as fractions."""
    run = al.Release(al.ApproximateDP(0.5, 1e-9), al.Poisson(0.001))
    bound = al.epsilon(run, delta=1e-12, **REMOVE)
    assert bound == al.Bound(math.inf, math.inf)


@pytest.mark.parametrize(
    "mechanism, rate, count, epsilon",
    [
        (al.Gaussian(30.0), 1e-6, 10**6, 0.0),  # errors in common
        (al.Laplace(30.0), 1e-3, 10**6, 1.0),  # atoms just above a grid point
        (al.Laplace(0.3), 1e-6, 10**6, 0.1),
        (al.DiscretePair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), 0.03, 10**4, 20.0),
        (al.DiscretePair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), 1e-4, 1000, 1e-5),
        (al.Gaussian(6.910413677263441), 1.789052e-4, 3, 0.001797130202981137),
        (
            al.MixtureOfGaussians([0.0, 1.0, 3.0], [0.9, 0.09, 0.01], 1.0),
            1e-3,
            1000,
            0.0,
        ),
    ],
)
def test_delta_is_as_narrow_as_asked(mechanism, rate, count, epsilon):
    """Each of these was wider once; the side is tested elsewhere."""
    run = al.Release(mechanism, al.Poisson(rate), count)
    bound = al.delta(run, epsilon=epsilon, adjacency="add-or-remove")
    assert bound.width < 1e-3


@pytest.mark.parametrize(
    "mechanism, count, delta",
    [
        (al.RandomizedResponse(0.95), 100, 1e-9),
        (al.Laplace(0.3), 10, 1e-12),
        (al.DiscreteLaplace(0.5), 100, 1e-12),
    ],
)
def test_epsilon_near_the_largest_loss(mechanism, count, delta):
    bound = al.epsilon(
        al.Release(mechanism, count=count), delta=delta, **REMOVE
    )
    assert bound.width < 1e-6


def test_a_delta_that_floats_cannot_hold_is_not_0():
    """Far below the smallest float, and positive."""
    for mechanism, rate, count, part in (
        (al.Laplace(30.0), 1e-6, 3000, 0.98),
        (al.RandomizedResponse(0.6), 1e-3, 3000, 0.98),
        (al.DiscretePair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), 1e-3, 3000, 0.5),
    ):
        run = al.Release(mechanism, al.Poisson(rate), count)
        (pair,) = al.dominating_pairs(
            mechanism, sampling=al.Poisson(rate), adjacency="remove"
        )
        largest = count * pair.loss_range[1]
        below = al.delta(run, epsilon=part * largest, **REMOVE)
        assert below.lower == 0 < below.upper < 1e-290
        assert al.delta(run, epsilon=1.01 * largest, **REMOVE).upper == 0


def test_pairs_whose_largest_losses_differ_are_not_the_same():
    """1/s is the same float for both, but not the same number."""
    scales = [1.9 + k * 2.0**-52 for k in range(8)]
    pairs = [al.DiscreteLaplace(s).pair() for s in scales]
    twins = [
        (x, y)
        for x, y in itertools.pairwise(pairs)
        if isinstance(x, al.DiscretePair)
        and isinstance(y, al.DiscretePair)
        and (x.p, x.atoms) == (y.p, y.atoms)
    ]
    assert twins
    for one, other in twins:
        assert one.largest_loss != other.largest_loss and one != other
        assert one == one.reversed()


def test_few_points_and_little_memory_beside_atoms():
    """Lists of atoms make no grid longer than a table may be."""
    pair = al.SampledPair(al.DiscreteGaussian(5e3).pair(), 1e-3)
    part = saddle.Cells.first(pair, 10, 1e-300)
    low, high = float(part.edges[0]), float(part.edges[-1])
    try:
        points = grids.graded_points(part, 1.0, 1e-9, 0.0, -1e-3, high)
        assert len(points) <= one_sided.MOST_POINTS
    except al.GridTooFine:
        pass
    assert low < 0
    step = grids.aligned_step(
        1e-4,
        30 * [al.DiscretePair([0.6, 0.3, 0.1], [0.1, 0.3, 0.6])],
        (),
        0.01,
    )
    assert 0 < step <= 1e-4
