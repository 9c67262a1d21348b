"""Poisson samples that are cut at random to a largest batch."""

import math
from fractions import Fraction
from itertools import combinations, product

import mpmath as mp
import numpy as np
import pytest
from flint import arb

import accountlib as al
from accountlib.engine.saddle import Query
from accountlib.runs.one_call import whole_run
from accountlib.samplers.cut_off import (
    LabelledPair,
    binomial_tails,
    cut_numbers,
    cut_off_pair,
    log_factorial,
    sum_of_ratios,
)
from accountlib.worst_cases.noise import GaussianPair, LaplacePair
from accountlib.worst_cases.sampling import SampledPair
from tests import truth
from tests.truth import cut_off

ONE, TWO = GaussianPair(1.0), GaussianPair(2.0)
COIN = al.DiscretePair((0.75, 0.25), (0.25, 0.75))

# n, rate, B, epsilon, p, rate given no room, delta of remove, lower end:
# computed apart from this project
KNOWN = [
    (3, 0.5, 2, 1.0, 0.25, 1 / 3, 5.191001e-2, None),
    (100, 0.1, 15, 0.5, 0.0676706, 0.08842214, 3.760986e-3, None),
    (1000, 0.01, 20, 0.5, 3.252522e-3, 9.20198e-3, 2.218579e-6, 2.21162e-7),
    (1000, 0.1, 100, 0.5, 0.5112160, 0.09260291, 1.607287e-2, 1.8157e-3),
]


def answers(pair, count, epsilon=None, delta=None):
    """Intervals of remove and of add, and of the dominating pairs alone."""
    query = Query(delta, epsilon, 1e-3)
    found = [whole_run([[(x, count)]], query) for x in (pair, pair.reversed())]
    return [one.bound for one in found], [
        one.searches[0].bound for one in found
    ]


@pytest.mark.parametrize("known", KNOWN)
def test_one_step_against_other_numbers(known):
    n, rate, largest, at, full, kept, delta, low = known
    numbers = cut_numbers(rate, largest, n)
    assert numbers.full == pytest.approx(full, rel=1e-6)
    assert numbers.kept == pytest.approx(kept, rel=1e-6)
    pair = cut_off_pair(ONE, TWO, rate, largest, n)
    assert pair.delta(at) == pytest.approx(delta, rel=1e-6)
    assert pair.reversed().delta(at) < 1e-15
    (remove, add), (above, _) = answers(pair, 1, epsilon=at)
    assert above.lower <= delta * (1 + 1e-6)
    assert above.upper >= delta * (1 - 1e-6) and remove.upper == above.upper
    assert add.upper < 1e-15
    if low is not None:
        assert remove.lower == pytest.approx(low, rel=1e-3)


# --- numbers ----------------------------------------------------------------


def test_factorials_and_sums():
    for k in (0, 1, 2, 999, 1000, 1001, 5000, 10**9):
        with mp.workdps(80):
            exact = mp.loggamma(mp.mpf(k) + 1)
            assert abs(mp.mpf(str(log_factorial(k))) - exact) < mp.mpf("1e-38")
    assert sum_of_ratios([]) == 1


@pytest.mark.parametrize("seed", range(40))
def test_tails_in_fractions(seed):
    rng = np.random.default_rng([61, seed])
    trials = int(rng.integers(1, 60))
    least = int(rng.integers(1, trials + 1))
    rate = float(rng.choice([rng.random(), 10 ** rng.uniform(-30, 0)]))
    if rng.random() < 0.2:
        rate = 1 - 2.0 ** -int(rng.integers(2, 53))
    exact = cut_off.tail(trials, Fraction(rate), least)
    found = binomial_tails(trials, rate, least)
    for one, known in zip(found, (exact, 1 - exact), strict=True):
        assert abs(Fraction(one) - known) <= known / 10**33
    if trials > least:
        check_numbers(rate, least, trials)


def check_numbers(rate, largest, n):
    """All four numbers of a sampler are on their sides of the fractions."""
    exact = Fraction(rate)
    full = cut_off.tail(n - 1, exact, largest)
    more = cut_off.tail(n, exact, largest + 1)
    kept = largest * more / (n * full)
    present = exact * (1 - full) + kept * full
    found = cut_numbers(rate, largest, n)
    for one, known in ((found.full, full), (found.room, 1 - full)):
        if known > 1e-290:
            assert abs(Fraction(one) / known - 1) <= Fraction(1, 2**53)
        else:
            assert known <= one == 1e-290
    room = Fraction(4, 2**53)
    assert kept <= Fraction(found.kept)
    if full > 1e-290:
        assert Fraction(found.kept) <= kept * (1 + room)
    assert present * (1 - room) <= Fraction(found.present) <= present


@pytest.mark.parametrize(
    ("n", "rate", "largest"),
    [(40, 1e-9, 35), (60, 1e-6, 59), (50, 1 - 2.0**-40, 5), (30, 0.5, 1)],
)
def test_numbers_far_out(n, rate, largest):
    check_numbers(rate, largest, n)


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    ("trials", "rate", "least"),
    [
        (10**5, 0.004, 512),
        (10**9, 1e-3, 1_005_000),
        (10**9, 1e-3, 995_000),
        (10**9, 0.5, 500_300_000),
        (10**8, 1e-5, 300),
        (10**9, 1 - 2.0**-53, 10**9),
        (10**9, 1e-15, 1),
        (10**7, 0.3, 2_900_000),
    ],
)
def test_tails_in_balls(trials, rate, least):
    found = binomial_tails(trials, rate, least)
    balls = cut_off.tails_in_balls(trials, rate, least)
    for one, ball in zip(found, balls, strict=True):
        assert ball.rad() < abs(ball) * arb("1e-40")
        with mp.workdps(60):
            exact = mp.mpf(ball.mid().str(60, radius=False))
            assert abs(mp.mpf(str(one)) / exact - 1) < mp.mpf("1e-33")


# --- the theorem ------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_any_mechanism_in_fractions(seed):
    """Random tables: the step never exceeds the means of its two cases."""
    rng = np.random.default_rng([62, seed])
    others = "abcd"[: int(rng.integers(2, 5))]
    n, largest = len(others) + 1, int(rng.integers(1, len(others) + 1))
    rate = Fraction(int(rng.integers(1, 16)), 16)
    sharp = int(rng.choice([8, 1000]))
    table = {}
    for size in range(largest + 1):
        for batch in combinations("x" + others, size):
            row = rng.integers(1, sharp, 3).tolist()
            table[frozenset(batch)] = [Fraction(a, sum(row)) for a in row]
    p, q = (
        cut_off.outputs(cut_off.batches(data, rate, largest), table)
        for data in ("x" + others, others)
    )
    full = cut_off.tail(n - 1, rate, largest)
    kept = largest * cut_off.tail(n, rate, largest + 1) / (n * full)
    x = frozenset("x")
    joined = [(s | x, s) for s in table if not x <= s and len(s) < largest]
    swapped = [
        (s - {u} | x, s)
        for s in table
        for u in s
        if not x <= s and len(s) == largest
    ]

    def curve(alpha):
        """H of the labelled pair, for the worst pairs of this table."""
        total = Fraction(0)
        for weight, r, both in (
            (full, kept, swapped),
            (1 - full, rate, joined),
        ):
            inner = 1 + (alpha - 1) / r
            if inner <= 0:
                total += weight * (1 - alpha)
            else:
                total += (
                    weight
                    * r
                    * max(
                        cut_off.stick(table[a], table[b], inner)
                        for a, b in both
                    )
                )
        return total

    for alpha in (Fraction(k, 8) for k in range(1, 24)):
        assert cut_off.stick(p, q, alpha) <= curve(alpha)
        swapped_curve = alpha * curve(1 / alpha) + 1 - alpha
        assert cut_off.stick(q, p, alpha) <= swapped_curve


def density(law, values, noise, z):
    """Output density times the width of a cell, for noise 1."""
    parts = (
        float(w) * np.exp(-((z - sum(values[k] for k in s) / noise) ** 2) / 2)
        for s, w in law.items()
    )
    return sum(parts) * (z[1] - z[0]) / math.sqrt(2 * math.pi)


@pytest.mark.parametrize("seed", range(6))
def test_no_data_are_worse_in_two_steps(seed):
    """Numbers anywhere in [-1, 1]; zeros reach the lower end."""
    rng = np.random.default_rng([63, seed])
    n = int(rng.integers(2, 6))
    largest = int(rng.integers(1, n))
    rate, noise = Fraction(int(rng.integers(1, 8)), 8), rng.uniform(0.4, 2)
    base, exchange = GaussianPair(1 / noise), GaussianPair(2 / noise)
    pair = cut_off_pair(base, exchange, float(rate), largest, n)
    z = np.arange(-7 - n / noise, 7 + n / noise, 0.05)
    laws = [
        cut_off.batches(list(data), rate, largest)
        for data in ([*range(n - 1), "x"], range(n - 1))
    ]
    ends = {at: answers(pair, 2, epsilon=at)[0] for at in (0.1, 0.7)}
    zeros = np.zeros(n - 1)
    for others in (zeros, zeros - 1, *rng.uniform(-1, 1, (3, n - 1))):
        values = {"x": 1.0, **dict(enumerate(others.tolist()))}
        p, q = (density(law, values, noise, z) for law in laws)
        p, q = (np.multiply.outer(law, law) for law in (p, q))
        for at, both in ends.items():
            for bound, one, other in zip(both, (p, q), (q, p), strict=True):
                delta = np.sum(np.maximum(one - math.exp(at) * other, 0))
                assert delta <= bound.upper * 1.003 + 1e-5
                if others is zeros:
                    assert abs(delta - bound.lower) < 3e-3 * delta + 1e-5


# --- through the engine -----------------------------------------------------


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("seed", range(24))
def test_runs_on_an_even_grid(seed):
    rng = np.random.default_rng([64, seed])
    noise = float(rng.uniform(0.7, 5))
    n = int(10 ** rng.uniform(1, 5))
    rate = float(10 ** rng.uniform(-2.5, 0)) * 0.9
    mean = n * rate
    least = mean + rng.uniform(-2, 4) * math.sqrt(mean)
    largest = max(1, min(n - 1, round(least)))
    count, at = int(rng.integers(1, 40)), float(rng.choice([0, 0.3, 1.0]))
    numbers = cut_numbers(rate, largest, n)
    labels = (
        (numbers.full, 2 / noise, numbers.kept),
        (numbers.room, 1 / noise, rate),
    )
    alone = ((1.0, 1 / noise, numbers.present),)
    pair = cut_off_pair(
        GaussianPair(1 / noise), GaussianPair(2 / noise), rate, largest, n
    )
    ends, above = answers(pair, count, epsilon=at)
    for side, end, own in zip(("remove", "add"), ends, above, strict=True):
        low, high = cut_off.bracket(labels, count, at, side)
        assert own.lower <= high and low <= own.upper == end.upper
        if low > 1e-6:
            assert own.upper <= high * 1.01 and own.lower >= low * 0.99
        low, high = cut_off.bracket(alone, count, at, side)
        assert end.lower <= high
        assert low < 1e-6 or end.lower >= low * 0.99


@pytest.mark.parametrize("seed", range(12))
def test_lists_of_outcomes_in_fractions(seed):
    """Three steps of labelled coins: every sequence of outcomes."""
    rng = np.random.default_rng([65, seed])
    tables = []
    for _ in range(2):
        parts = rng.integers(1, 80, (2, 3))
        parts[:, 0] += 256 - parts.sum(axis=1)
        tables.append([[Fraction(int(x), 256) for x in row] for row in parts])
    weight = Fraction(int(rng.integers(1, 16)), 16)
    weights = (weight, 1 - weight)
    pairs = [
        al.DiscretePair(*([float(x) for x in y] for y in table))
        for table in tables
    ]
    pair = LabelledPair(tuple(pairs), tuple(map(float, weights)))
    assert pair.discrete and pair.atom_count == 6
    p, q = (
        [w * x for w, t in zip(weights, tables, strict=True) for x in t[side]]
        for side in (0, 1)
    )
    for at in (0.0, 0.25, 1.0):
        alpha = Fraction(math.exp(at))
        remove = add = Fraction(0)
        for three in product(range(6), repeat=3):
            one = math.prod((p[k] for k in three), start=Fraction(1))
            other = math.prod((q[k] for k in three), start=Fraction(1))
            remove += max(one - alpha * other, 0)
            add += max(other - alpha * one, 0)
        ends, _ = answers(pair, 3, epsilon=at)
        for end, exact in zip(ends, (remove, add), strict=True):
            assert end.lower * (1 - 1e-12) <= exact
            assert exact <= end.upper * (1 + 1e-12)
            assert end.width < 1e-2


def test_infinite_losses_keep_their_weights():
    told = al.DiscretePair((0.5, 0.5, 0.0), (0.0, 0.5, 0.5))
    pair = LabelledPair((told, COIN), (0.25, 0.75))
    assert pair.infinite_mass == (0.125, 0.125)
    for way in (pair, pair.reversed()):
        (end, _), _ = answers(way, 2, epsilon=30.0)
        assert end.contains(1 - 0.875**2) and end.width < 1e-9


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    ("n", "rate", "largest", "count"),
    [
        (10**9, 1e-6, 1100, 10**5),
        (10**6, 1e-3, 1300, 10**4),
        (10**5, 1e-3, 99_999, 10**4),  # full has 1e-299,996
        (10**5, 0.5, 1, 10),  # room has 1e-30,000
        (2, 1 - 2.0**-53, 1, 3),
        (3, 1e-280, 1, 3),
    ],
)
def test_extreme_settings_give_an_interval(n, rate, largest, count):
    pair = cut_off_pair(ONE, TWO, rate, largest, n)
    for question in ({"delta": 1e-6}, {"epsilon": 0.5}):
        ends, above = answers(pair, count, **question)
        for end, own in zip(ends, above, strict=True):
            assert 0 <= end.lower <= end.upper <= 1e5
            assert own.upper <= own.lower * 1.1 + 1e-9


def test_never_cut_and_nothing_sampled():
    assert cut_off_pair(ONE, TWO, 0.1, 50, 50) == SampledPair(ONE, 0.1)
    assert cut_off_pair(ONE, TWO, 1.0, 50, 50) is ONE
    fixed = cut_off_pair(ONE, TWO, 1.0, 15, 20)
    assert fixed == SampledPair(TWO, 0.75)
    assert fixed.delta(0.5) == pytest.approx(0.4331623, rel=1e-6)


def test_a_rare_cut_costs_nothing_and_a_sure_one_a_fixed_batch():
    for count in (1, 100):
        rare = cut_off_pair(ONE, TWO, 0.01, 60, 1000)
        plain, fixed = SampledPair(ONE, 0.01), SampledPair(TWO, 0.005)
        for pair, like in (
            (rare, plain),
            (cut_off_pair(ONE, TWO, 0.1, 50, 10_000), fixed),
        ):
            one, other = (
                answers(x, count, delta=1e-6)[1] for x in (pair, like)
            )
            for a, b in zip(one, other, strict=True):
                assert a.lower <= b.upper * (1 + 1e-9)
                assert b.lower <= a.upper * (1 + 1e-9)


# --- masses -----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_masses_and_differences_to_forty_digits(seed):
    rng = np.random.default_rng([66, seed])
    kind = ("gaussian", "laplace")[seed % 2]
    noise = float(10 ** rng.uniform(-0.6, 1))
    rates = [float(10 ** rng.uniform(-6, -0.01)) for _ in range(2)]
    if rng.random() < 0.5:  # as in a cut-off sample
        rates[0] = rates[1] * float(rng.uniform(0.7, 1))
    rare = float(rng.choice([0.3, 1e-4, 1e-12, 1e-100]))
    wide, base = (
        GaussianPair(1 / x) if kind == "gaussian" else LaplacePair(x)
        for x in (noise / 2, noise)
    )
    pair = LabelledPair(
        (SampledPair(wide, rates[0]), SampledPair(base, rates[1])),
        (rare, 1 - rare),
    )
    center = float(rng.choice([0.0, *np.array(rates), 1.0]))
    edges = center + np.unique(rng.normal(0, 10 ** rng.uniform(-4, 0.5), 8))
    edges = np.unique(np.append(edges, edges[3] + 10 ** rng.uniform(-9, -3)))
    for direction, way in (("remove", pair), ("add", pair.reversed())):
        found = way.interval_masses(edges, np.diff(edges), "right")
        exact = truth.labelled_masses(
            kind,
            [(rare, noise / 2, rates[0]), (1 - rare, noise, rates[1])],
            edges.tolist(),
            direction=direction,
        )
        for masses, known in zip(found, exact, strict=True):
            wrong = way.mass_error(masses)
            for one, value, error in zip(masses, known, wrong, strict=True):
                off = abs(mp.mpf(float(one)) - value)
                assert off <= error * value / 2 + 1e-300
        error = way.excess_error(*found)
        for alpha in (0.0, 0.5, 1 - rates[1], 1.0, 1 + rates[1], 2.0):
            most = error.at(np.full(len(found[0]), alpha))
            for k, room in enumerate(most):
                with mp.workdps(60):
                    off = mp.mpf(float(found[0][k])) - exact[0][k]
                    off -= alpha * (mp.mpf(float(found[1][k])) - exact[1][k])
                    assert abs(off) <= room + 1e-300


def test_differences_have_a_small_error():
    """What is common to P and Q is not counted where both nearly cancel."""
    rate = 1e-6
    pair = cut_off_pair(ONE, TWO, rate, 3, 10**6)
    p, q = pair.masses(np.linspace(-1e-6, 1e-6, 5))
    most = pair.excess_error(p, q).at(np.ones(len(p)))
    plain = pair.mass_error(p) * p + pair.mass_error(q) * q
    assert np.all(most < 0.6 * plain)


# --- what a pair says of itself, and bad input ------------------------------


def test_what_a_pair_says_of_itself():
    pair = cut_off_pair(LaplacePair(1.0), LaplacePair(0.5), 0.1, 15, 100)
    assert isinstance(pair, LabelledPair)
    back = pair.reversed()
    assert back.reversed() == pair and hash(back.reversed()) == hash(pair)
    assert back.reached == (pair.reached[0].reversed(),)
    assert back.infinite_mass == (0.0, 0.0) and not pair.discrete
    low, high = pair.loss_range
    assert back.loss_range == (-high, -low) and len(pair.atoms) == 4
    assert pair.atoms == tuple(sorted(pair.atoms)) and pair.atom_count == 4
    assert back.atoms == tuple(-x for x in pair.atoms[::-1])
    same = LabelledPair((ONE, TWO), (0.5, 0.5))
    assert same.reversed() == same and same.reached == (same,)
    assert same.delta(1.0) == (ONE.delta(1.0) + TWO.delta(1.0)) / 2
    inner = SampledPair(same, 0.25)  # a label inside of a sample
    mixed = LabelledPair(
        (SampledPair(ONE, 0.25), SampledPair(TWO, 0.25)), (0.5, 0.5)
    )
    assert inner.delta(0.3) == pytest.approx(mixed.delta(0.3), rel=1e-12)
    laws = (x.masses([-0.2, 0.0, 0.4]) for x in (inner, mixed))
    for one, other in zip(*laws, strict=True):
        assert np.allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"base": 0.5}, "base must"),
        ({"exchange": al.Gaussian(1.0)}, "exchange must"),
        *(({"rate": x}, "rate must") for x in (0.0, -0.1, 1.1, math.nan, "1")),
        *(
            ({name: x}, f"{name} must")
            for name in ("largest_batch", "dataset_size")
            for x in (0, -1, 1.5, math.inf, 2e9, "3", True)
        ),
    ],
)
def test_bad_samplers_are_refused(change, match):
    given = {
        "base": ONE,
        "exchange": TWO,
        "rate": 0.1,
        "largest_batch": 5,
        "dataset_size": 20,
    }
    with pytest.raises(ValueError, match=match):
        cut_off_pair(**{**given, **change})


@pytest.mark.parametrize(
    ("pairs", "weights", "match"),
    [
        ((ONE, 0.5), (0.5, 0.5), r"pairs\[1\] must"),
        ((ONE, TWO), (0.5,), "weights must"),
        ((ONE, TWO), (0.5, 0.4), "weights must"),
        ((ONE, TWO), (1.5, -0.5), "weights must"),
        ((ONE, TWO), (math.nan, 0.5), "weights must"),
        ((ONE, TWO), (1.0, 0.0), "weights must"),
        ((), (), "weights must"),
    ],
)
def test_bad_labels_are_refused(pairs, weights, match):
    with pytest.raises(ValueError, match=match):
        LabelledPair(pairs, weights)
