"""Single runs without a grid, and the simple bounds behind every answer."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import accountlib as al
from accountlib.engine import single_runs
from accountlib.engine.saddle import Query


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


# --- found by attacks --------------------------------------------------------


# One large step: the sum over many kinds of steps rounds too
def many_kinds(count):
    """A step with a large loss, and others whose logarithms round up."""
    rare, small = -math.expm1(-0.0625 * (1 + 1e-12)), 1e-30
    unit = math.ulp(-math.log1p(-rare))
    kinds = [((1 - rare, rare), (1 - small, small))]
    for j in range(count):
        a, b = 0.53 * unit * (1 + j * 1e-5), small * (1 + j * 1e-6)
        kinds.append(((1 - a, a), (1 - b, b)))
    missed = math.prod(1 - Fraction(p[1]) for p, _ in kinds)
    # at epsilon 0 the test "some loss is large" is the best one
    return [al.DiscretePair(p, q) for p, q in kinds], 1 - missed


def test_large_steps_of_many_kinds():
    pairs, truth = many_kinds(600)
    p, _ = single_runs.large_steps([(x, 1) for x in pairs], np.array([5.0]))
    assert Fraction(float(p[0])) <= truth


def test_delta_of_many_kinds():
    pairs, truth = many_kinds(600)
    simple = single_runs.simple_bound(
        [(x, 1) for x in pairs], Query(None, 0.0, 1e-3)
    )
    assert Fraction(simple.lower) <= truth


# The mass at infinity of a sampled pair may underflow
def test_infinite_mass_below_all_floats():
    run = al.Release(al.ApproximateDP(0.0, 1e-200), al.Poisson(1e-200))
    # the mass at infinity is 1e-400: no finite epsilon has delta = 0
    bound = al.epsilon(run, delta=0.0, adjacency="remove")
    assert bound.upper == math.inf
    assert al.delta(run, epsilon=1.0, adjacency="remove").upper > 0


# Deltas below 2.2e-308 lose digits, and nobody counts them
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_single_run_below_the_normal_floats(epsilon):
    rare, other = 3e-318, 1e-319
    pair = al.DiscretePair((1.0, rare), (1.0, other))
    bound = al.delta(al.Release(pair), epsilon=epsilon, adjacency="remove")
    with mp.workdps(400):
        truth = mp.mpf(rare) - mp.exp(mp.mpf(epsilon)) * mp.mpf(other)
        assert mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)


def test_no_upper_end_of_zero_for_unbounded_losses():
    """The list of atoms ends at 38.6 sigma; delta is 1e-610, not 0."""
    run = al.Release(al.DiscreteGaussian(0.03814070327860571, 2))
    assert al.delta(run, epsilon=4124.5, adjacency="remove").upper > 0


# --- to the last bit: small and exact ----------------------------------------


def test_ceilings_and_infinite_masses_hold_the_exact_numbers():
    with mp.workdps(200):
        for count in (1, 3, 7, 1000):
            for scale in (0.3, 1.7, 1e6):
                pair = al.Laplace(scale).pair()
                bound = single_runs.loss_ceiling([(pair, count)])
                exact = count / mp.mpf(scale)
                assert bound.lower <= exact <= bound.upper
                assert (
                    bound.upper - bound.lower <= exact * 1e-13 + count * 1e-12
                )
            for lost in (0.1, 2.0**-20, 1e-100, 0.999):
                pair = al.ApproximateDP(0.5, lost).pair()
                pairs = [(pair, count), (al.Laplace(1.0).pair(), 2)]
                bound = single_runs.infinite_bound(pairs)
                exact = 1 - (1 - mp.mpf(lost)) ** count
                assert bound.lower <= exact <= bound.upper
                assert bound.upper <= bound.lower * (1 + 1e-13)


@pytest.mark.parametrize("count", [1, 2, 500])
def test_infinite_masses_of_lists_hold_the_sum_of_fractions(count):
    random = np.random.default_rng(4)
    for _ in range(20):
        p = random.dirichlet(np.ones(6)).tolist()
        q = [0.0, 0.0, 0.0, *random.dirichlet(np.ones(3)).tolist()]
        bound = single_runs.infinite_bound([(al.DiscretePair(p, q), count)])
        with mp.workdps(60):
            lost = sum(map(mp.mpf, p[:3]))
            exact = 1 - (1 - lost) ** count
            assert bound.lower <= exact <= bound.upper
            assert bound.upper - bound.lower < 1e-14 * exact


# --- huge losses -------------------------------------------------------------


@pytest.mark.parametrize("noise", [1e-5, 8.4e-12, 4.2e-25, 1e-58, 3e-116])
@pytest.mark.parametrize("place", [-3.0, -0.5, 1.0])
def test_one_run_at_huge_losses(noise, place):
    """Exponents of 1e20 have no digits left of what counts in them."""
    with mp.workdps(400):
        mu = 1 / mp.mpf(noise)
        epsilon = float(mu * (mu / 2 + place))
        z = mp.mpf(epsilon) / mu
        tails = [mp.erfc((z + x) / mp.sqrt(2)) / 2 for x in (-mu / 2, mu / 2)]
        truth = tails[0] - mp.exp(epsilon) * tails[1]
        run = al.Release(al.Gaussian(noise))
        one = al.delta(run, epsilon=epsilon, adjacency="remove")
        many = al.delta(run, epsilon=[epsilon], adjacency="remove")
        for low, high in (one, (many.lower[0], many.upper[0])):
            assert low <= truth <= high


@pytest.mark.in_turn(5)
def test_one_run_at_the_largest_losses():
    """mu is near 1e146: delta is 0 or 1 but next to mu^2/2, to 16 digits."""
    rng = np.random.default_rng(3)
    for noise in 10 ** rng.uniform(-149, -140, 200):
        mu = 1 / Fraction(float(noise))
        epsilon = float(min(mu**2 / 2, Fraction(1.79e308)))
        epsilon *= float(rng.choice([1, 1 - 1e-12, 1 - 1e-15]))
        run = al.Release(al.Gaussian(noise))
        low, high = al.delta(run, epsilon=epsilon, adjacency="remove")
        place = (mu**2 / 2 - Fraction(epsilon)) / mu  # Phi of it >= delta
        assert high == 1 if place > 50 else low == 0 or place > -50


@pytest.mark.parametrize(
    "run",
    [
        al.Release(al.Gaussian(1.0)),
        al.Release(al.DiscreteGaussian(3.0)),
        al.Release(al.Gaussian(0.9), al.Poisson(0.001), count=100),
        al.Release(al.Gaussian(2.0), al.FixedBatch(50, 1000), count=100),
    ],
)
@pytest.mark.parametrize("epsilon", [1e200, 1e300, 1.79e308])
def test_the_largest_epsilons(run, epsilon):
    """Also with a group of 2: its pairs are mixtures."""
    for group_size in (1, 2):
        bound = al.delta(
            run, epsilon=epsilon, adjacency="remove", group_size=group_size
        )
        assert bound.lower == 0 < bound.upper < 1e-290
