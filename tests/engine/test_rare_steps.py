"""Where single steps decide: the split into near and far losses."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import accountlib as al
from accountlib.counting import composition
from accountlib.engine import one_round, rare_steps
from accountlib.engine.one_round import NearPair
from accountlib.engine.saddle import Query
from accountlib.engine.search import first_look, narrow, with_ends, with_tilt
from accountlib.runs import one_call

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


@pytest.mark.in_turn(8)
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


@pytest.mark.in_turn(3)
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


def parts_of_delta(p, q, count, epsilon, rare):
    """delta of runs without the rare outcomes, and of the others: exact."""
    alpha, found = Fraction(math.exp(epsilon)), [Fraction(0), Fraction(0)]
    for places in product(range(len(p)), repeat=count):
        one = math.prod(Fraction(p[i]) for i in places)
        two = math.prod(Fraction(q[i]) for i in places)
        has_rare = any(i in rare for i in places)
        found[has_rare] += max(one - alpha * two, Fraction(0))
    return [float(x) for x in found]


@pytest.mark.in_turn(8)
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


@pytest.mark.in_turn(3)
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


REMOVE: dict[str, Any] = {"adjacency": "remove"}


def laplace_and_rare_gaussian(scale, noise, rate, epsilon):
    """delta by quadrature over the loss of the Gaussian, record removed."""

    def laplace(x):  # the curve of one Laplace release, any x
        if abs(x) >= 1 / scale:
            return mp.mpf(0) if x > 0 else 1 - mp.exp(x)
        return 1 - mp.exp((x - 1 / scale) / 2)

    def density(z):
        normal = mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)
        grown = rate * mp.exp(z / noise - 1 / (2 * noise**2)) + (1 - rate)
        return normal * grown * laplace(epsilon - mp.log(grown))

    with mp.workdps(40):
        rate, noise, scale = map(mp.mpf, (rate, noise, scale))
        gap = mp.expm1(epsilon - 1 / scale)  # no Laplace loss is larger
        first = noise * mp.log(gap / rate + 1) + 1 / (2 * noise)
        gap = mp.expm1(epsilon + 1 / scale)  # here each loss is enough
        last = noise * mp.log(gap / rate + 1) + 1 / (2 * noise)
        return mp.quad(density, [first, last, last + 2, last + 40])


@pytest.mark.in_turn(5)
@pytest.mark.parametrize(
    ("epsilon", "width"), [(0.4, 1e-3), (0.5, 1.0), (1.0, 1e-3)]
)
def test_a_bounded_kind_beside_a_rare_one(epsilon, width):
    """Laplace losses end below epsilon; the rest is a rare large one's."""
    scale, noise, rate = 2.644, 1.5285, 6.07e-4
    run = [
        al.Release(al.Laplace(scale)),
        al.Release(al.Gaussian(noise), al.Poisson(rate)),
    ]
    known = laplace_and_rare_gaussian(scale, noise, rate, epsilon)
    bound = al.delta(run, epsilon=epsilon, adjacency="remove")
    assert bound.lower <= known <= bound.upper <= 1000 * known
    assert bound.width <= width


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


@functools.cache
def asked(pair, count, delta):
    """The answer of the package, the same for every guess."""
    return al.epsilon(al.Release(pair, count=count), delta=delta, **REMOVE)


@pytest.mark.in_turn(3)
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
        exact = asked(pair, 3, delta)
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


# --- found by attacks --------------------------------------------------------


# Crashes: rare steps, and all of a table's mass on one side of the split
def test_no_near_mass_in_a_table():
    pair = al.DiscretePair(
        (1.802762674840514e-300, 0.0, 9.135768156460191e-289, 1.0),
        (0.0, 0.2277314379143384, 0.13983961951354446, 0.6324289425721171),
    )
    run = al.Release(pair, count=2)
    at = 0.9163748169019865
    assert al.delta(run, epsilon=at, adjacency="remove").upper < 1e-10


@pytest.mark.in_turn(5)
def test_no_near_mass_in_a_sampled_table():
    pair = al.DiscretePair(
        (0.320556640625, 0.6794433593458962, 2.9103830456733704e-11),
        (0.30859375, 0.69140625, 6.462348535570529e-27),
    )
    run = al.Release(pair, al.Poisson(1.6555903742296654e-13), count=3)
    bound = al.delta(run, epsilon=1.9254096915487453e-15, adjacency="remove")
    assert bound.lower <= bound.upper < 1e-10


def test_no_near_mass_for_epsilon():
    pair = al.DiscretePair(
        (
            0.2555693381909725,
            0.09268787557796365,
            0.24452029658477858,
            0.40722248964628527,
        ),
        (
            0.25556933819132954,
            0.0926878755773215,
            0.2445202965841773,
            0.40722248964717167,
        ),
    )
    bound = al.epsilon(
        al.Release(pair), delta=2.8331174324617817e-75, adjacency="add"
    )
    both = zip(pair.p, pair.q, strict=True)
    losses = [math.log1p((b - a) / a) for a, b in both]
    assert bound.lower <= max(losses) <= bound.upper * (1 + 1e-3)


# --- found by a referee ------------------------------------------------------


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


@pytest.mark.in_turn(3)
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


@pytest.mark.in_turn(8)
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
