"""Cells of every class of pairs against fifty digits, on random settings."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

import accountlib as al
from accountlib import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from accountlib.checks import UNIT
from accountlib.dominating_pairs import (
    NOTHING_REVEALED,
    DominatingPair,
    Mirrored,
    Outcomes,
    Reversed,
    Subsampled,
    Substituted,
    outcomes,
)
from accountlib.sampling import binomial_shifts, hypergeometric_shifts
from tests import fifty_digits as fifty
from tests.fifty_digits import Mixture, exact, outside

RNG = np.random.default_rng(3)


def number(low, high):
    """A random float of three digits, log-uniform."""
    return float(f"{math.exp(RNG.uniform(math.log(low), math.log(high))):.3g}")


KINDS = [
    (Gaussian, fifty.Normal),
    (Laplace, fifty.Laplace),
    (DiscreteGaussian, fifty.WholeNormal),
    (DiscreteLaplace, fifty.WholeLaplace),
]


def random_noise():
    """A mechanism, its noise to fifty digits, and what one record moves."""
    kind = int(RNG.integers(4))
    mechanism, noise = KINDS[kind]
    if kind < 2:
        unit = number(0.05, 30)
        return mechanism(unit), noise(), 1 / exact(unit)
    unit, moved = number(0.3, 8), int(RNG.integers(1, 4))
    return mechanism(unit, moved), noise(unit), exact(moved)


def random_edges(pair, narrow=False):
    """A few of the edges between cells, once or twice finer."""
    edges = pair.start()
    for _ in range(RNG.integers(0, 3)):
        number = len(pair.cells(edges).loss)
        edges = pair.finer(edges, RNG.uniform(0.1, 4, number))
    kept = RNG.choice(edges, 8)
    if narrow and RNG.random() < 0.5:
        start = RNG.choice(edges[np.isfinite(edges)])
        kept = start + np.cumsum(10 ** RNG.uniform(-6, 0, 8))
    return np.unique(np.concatenate([edges[:1], kept, edges[-1:]]))


def check(pair, p, q):
    edges = random_edges(pair, narrow=not p.noise.whole)
    worst = outside(pair.cells(edges), edges, p, q)
    assert max(worst.values()) <= 1, (pair, worst)
    back = pair.reversed().cells(edges)
    assert np.array_equal(back.loss, -pair.cells(edges).loss[::-1]) or (
        pair.reversed() is pair
    )
    return worst["mass"], worst["loss"]


@pytest.mark.parametrize("sampled", [False, True])
def test_one_shift(sampled):
    seen = []
    for _ in range(100):
        mechanism, noise, unit = random_noise()
        size, rate = int(RNG.integers(1, 4)), exact(number(1e-9, 1))
        pair, weights = mechanism.removed(size), [1]
        if sampled:
            pair = Subsampled(pair, math.log1p(-float(rate)))
            weights = [1 - rate, rate]
        p = Mixture(noise, [0, size * unit][-len(weights) :], weights)
        seen.append(check(pair, p, Mixture(noise, [0], [1])))
    assert min(np.max(seen, axis=0)) > 0.03


def test_groups_in_a_sample():
    for _ in range(8):
        unit, rate = number(0.3, 10), number(1e-4, 0.9)
        size = int(RNG.integers(2, 17))
        miss, shifts, weights = binomial_shifts(size, rate)
        pair = Subsampled(Gaussian(unit).moved(shifts, weights), miss)
        q, noise, numbers = exact(rate), fifty.Normal(), range(size + 1)
        chances = [
            math.comb(size, j) * q**j * (1 - q) ** (size - j) for j in numbers
        ]
        p = Mixture(noise, [j / exact(unit) for j in numbers], chances)
        check(pair, p, Mixture(noise, [0], [1]))


def test_substitution_in_a_sample():
    for _ in range(25):
        mechanism, noise, unit = random_noise()
        rate = number(1e-6, 1)
        pair = Substituted(mechanism.removed(1), math.log1p(-rate))
        weights = [1 - exact(rate), exact(rate)]
        p = Mixture(noise, [0, unit], weights)
        q = Mixture(noise, [0, -unit], weights)
        start = pair.start()
        assert np.array_equal(start, -start[::-1])
        assert pair.reversed() is pair
        check(pair, p, q)


def test_mirrored_pair():
    """Half of the cells, their mirror image, and an atom above the rest."""
    for _ in range(25):
        mechanism, noise, unit = random_noise()
        rate = number(1e-6, 0.99)
        one = Subsampled(mechanism.exchanged(1), math.log1p(-rate))
        pair = Mirrored(one)
        edges = random_edges(pair)
        cells, n = pair.cells(edges), len(edges) - 1
        weights = [1 - exact(rate), exact(rate)]
        p = Mixture(noise, [0, 2 * unit], weights)
        q = Mixture(noise, [0], [1])
        half = cells.part(np.arange(n + 1, 2 * n + 1))
        worst = outside(half, edges, p, q)
        assert max(worst.values()) <= 1
        back = half.reversed()
        assert np.array_equal(cells.log_q[:n], half.log_p[::-1])
        assert np.array_equal(cells.left[:n], back.left)
        beyond = sum(x.mass(edges[0], math.inf) for x in (p, q))
        rest = exact(math.exp(cells.log_p[n]))
        assert 1 - beyond <= rest * (1 + exact(1e-14)) and beyond <= 1
        # All positive losses are in the half.
        z = exact(math.floor(edges[0]) if noise.whole else edges[0])
        assert p.log_density(z) <= q.log_density(z) + exact(1e-40)
        finer = pair.finer(edges, np.full(2 * n + 1, 3.0))
        assert finer[0] == edges[0] and np.all(np.diff(finer) > 0)


def test_several_shifts_have_no_mirror():
    pair = Gaussian(1.0).moved((1, 2), (math.log(0.5),) * 2)
    with pytest.raises(ValueError, match="no middle"):
        Mirrored(Subsampled(pair, -0.1)).start()


# --- lists


def enclosed(pair, p, q):
    """Largest errors as shares of bounds; p and q exact, losses ascend."""
    cells = pair.cells(pair.start())
    both = zip(p, q, strict=True)
    order = sorted(both, key=lambda x: x[0] / (x[0] + x[1]))
    most = 0.0
    for i, (a, b) in enumerate(order):
        for value, x in ((cells.log_p[i], a), (cells.log_q[i], b)):
            if not x:
                assert value == -math.inf
                continue
            off = abs(float(exact(value) - mp.log(x)))
            assert off <= cells.mass_error[i]
        if a and b:
            loss = mp.log(a / b)
            off = abs(float(exact(cells.loss[i]) - loss))
            assert off <= cells.loss_error[i] + 1e-40
            assert exact(cells.left[i]) - exact(1e-40) <= loss
            assert loss <= exact(cells.right[i]) + exact(1e-40)
            most = max(most, off / max(cells.loss_error[i], 1e-300))
        else:
            assert cells.loss[i] == (math.inf if a else -math.inf)
            assert cells.loss_error[i] == 0
    return most


def test_lists_with_any_sum():
    """The numbers given are exact; the pair has them divided by their sum."""
    most = 0.0
    for _ in range(200):
        count = int(RNG.integers(2, 9))
        lists = RNG.dirichlet(np.ones(count), 2) ** RNG.integers(1, 8)
        if RNG.random() < 0.3:  # nearly equal ones
            lists[1] = lists[0] * (1 + RNG.normal(0, 1e-9, count))
        if RNG.random() < 0.3:  # an outcome of one side only
            lists[0] = np.append(lists[0][1:], 0.0)
        lists = lists / lists.sum(1, keepdims=True)
        lists *= 1 + RNG.uniform(-1e-12, 1e-12, (2, 1))
        p, q = ([exact(x) for x in row] for row in lists.tolist())
        p, q = ([x / sum(row) for x in row] for row in (p, q))
        found = outcomes(*lists.tolist())
        most = max(most, enclosed(found, p, q))
        assert isinstance(found.reversed(), Reversed)
    assert most > 0.1  # a tenth of the error is too little


@pytest.mark.parametrize(
    "truth", [0.0, 1e-300, 1e-9, 0.3, 0.375, 0.5 - 1e-12, 0.5, 0.51, 0.75, 1.0]
)
def test_randomized_response(truth):
    p = exact(truth), 1 - exact(truth)
    enclosed(al.RandomizedResponse(truth).removed(1), p, p[::-1])


def test_guarantees():
    for epsilon, delta in ((0, 0), (1e-12, 1e-9), (3.0, 0.5), (100.0, 1.0)):
        e, d = mp.exp(exact(epsilon)), exact(delta)
        p = [d, (1 - d) * e / (1 + e), (1 - d) / (1 + e), 0]
        pairs = [x for x in zip(p, p[::-1], strict=True) if any(x)]
        pair = al.ApproximateDP(epsilon, delta).removed(1)
        enclosed(pair, *zip(*pairs, strict=True))
        finite = np.isfinite(pair.cells(pair.start()).loss)
        assert np.all(pair.cells(pair.start()).loss_error[finite] == 0)


# --- edges, identity, choices


def test_edges_ascend_and_pieces_are_kept():
    for pair in (
        Gaussian(0.005).removed(1000),
        Gaussian(1e6).removed(1),
        Laplace(1e6).removed(1),
        DiscreteGaussian(0.005).removed(1),
        DiscreteGaussian(500.0, 100_000).exchanged(1000),
        DiscreteLaplace(1e6).removed(1),
        Substituted(DiscreteGaussian(0.7, 2).removed(1), -0.1),
        Mirrored(Subsampled(DiscreteGaussian(0.7, 2).exchanged(1), -0.1)),
        Mirrored(Subsampled(Laplace(2.0).exchanged(1), -0.1)),
    ):
        edges = pair.start()
        assert np.all(np.diff(edges) > 0)
        cells = pair.cells(edges)
        for name in ("log_p", "log_q", "mass_error", "loss", "loss_error"):
            assert np.all(np.isfinite(getattr(cells, name))), (pair, name)
        assert np.all(cells.left <= cells.right)
        assert np.all(np.diff(cells.loss) >= -1e-9)
        pieces = np.full(len(cells.loss), 2.5)
        pieces[0], pieces[-1] = math.nan, math.inf  # must not crash
        finer = pair.finer(edges, pieces)
        assert np.all(np.diff(finer) > 0) and len(finer) <= 3 * 2**16


def test_equal_pairs_are_equal():
    assert Gaussian(2).removed(1) == Gaussian(2.0).removed(1)
    assert len({Gaussian(2).removed(1), Gaussian(2.0).removed(1)}) == 1
    one = Subsampled(Laplace(1.0).removed(1), -0.5)
    assert one.reversed() == Reversed(one) and one.reversed().reversed() is one
    assert Gaussian(1.0).removed(1).reversed() == Gaussian(1.0).removed(1)
    assert Outcomes(NOTHING_REVEALED.rows) == NOTHING_REVEALED
    with pytest.raises(NotImplementedError, match="no cells"):
        DominatingPair().cells(np.zeros(2))


@pytest.mark.parametrize(
    "size, batch, records",
    [(2, 10**12 - 2, 10**12), (64, 10**10 - 66, 10**10), (3, 1, 10**9)],
)
def test_chances_of_groups_in_batches_have_their_digits(size, batch, records):
    """Batches of nearly all records, and of nearly none."""
    ways = [
        mpf(math.comb(batch, j)) * math.comb(records - batch, size - j)
        for j in range(size + 1)
    ]
    miss, numbers, logs = hypergeometric_shifts(size, batch, records)
    chances = [
        ways[0] / sum(ways),
        *(ways[j] / sum(ways[1:]) for j in numbers),
    ]
    for found, chance in zip([miss, *logs], chances, strict=True):
        true = mp.log(chance)
        assert abs(found - true) <= 8 * UNIT * abs(true)


def test_infinite_masses_below_the_range_of_floats():
    pair = al.DiscretePair([1.0, 5e-324], [1.0, 0.0])
    run = al.Release(pair, al.Poisson(0.9), count=7)
    found = al.delta(run, epsilon=1.0, adjacency="remove")
    assert found.lower == 0 and 3.5e-323 < found.upper < 1e-290
