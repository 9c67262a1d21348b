"""Epochs in which a record is in some of the steps, drawn at random."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from accountlib import DiscretePair, Gaussian, Release, delta, epsilon
from accountlib.beyond.allocation import RandomAllocation

SIDES = ("remove", "add")
# steps, noise, epsilon, delta of remove, of add, relative error of both:
# two steps by quadrature, more on a lattice with Richardson's extrapolation
KNOWN = [
    (2, 1.0, 0.5, 0.149177523136, 0.142686965824, 1e-11),
    (2, 1.0, 1.0, 0.059206501086, 0.050197662369, 1e-11),
    (2, 0.5, 1.0, 0.404577500378, 0.380339194397, 1e-11),
    (4, 1.0, 1.0, 0.02085429, 0.01236120, 1e-5),
    (10, 1.0, 0.5, 0.02685036, 0.01906411, 1e-5),
    (10, 1.0, 1.0, 2.782869e-3, 4.86186e-4, 1e-5),
    (10, 0.5, 2.0, 0.0731155, 0.010691, 5e-5),
    (100, 1.0, 0.5, 4.40891e-5, 5.9253e-7, 1e-4),
    (100, 2.0, 0.1, 6.73718e-4, 6.38451e-4, 1e-5),
]


@pytest.mark.parametrize("known", KNOWN)
def test_one_epoch_by_other_methods(known):
    steps, noise, at, *values, error = known
    run = Release(Gaussian(noise), RandomAllocation(steps))
    for side, value in zip(SIDES, values, strict=True):
        found = delta(run, epsilon=at, adjacency=side)
        assert found.lower <= value * (1 + error)
        assert found.upper >= value * (1 - error)
        assert found.width < 0.02


def exact(p, q, steps, selected, alphas):
    """delta of remove and of add for lists of outcomes, in fractions.

    Outcomes without mass under Q add what they are certain of.
    """
    infinite = sum(x for x, y in zip(p, q, strict=True) if y == 0)
    told = 1 - (1 - infinite) ** selected
    seen = [k for k, x in enumerate(q) if x > 0]
    places = list(combinations(range(steps), selected))
    curves = [[told, Fraction(0)] for _ in alphas]
    for result in product(seen, repeat=steps):
        chance = math.prod((q[k] for k in result), start=Fraction(1))
        ratios = [p[k] / q[k] for k in result]
        mean = sum(math.prod(ratios[i] for i in x) for x in places)
        mean /= len(places)
        for curve, alpha in zip(curves, alphas, strict=True):
            curve[0] += chance * max(mean - alpha, 0)
            curve[1] += chance * max(1 - alpha * mean, 0)
    return curves


def random_lists(rng, size):
    parts = rng.integers(1, 64, (2, size))
    parts[:, 0] += 256 - parts.sum(axis=1)
    if rng.random() < 0.5:  # an outcome that only one of both has
        row, k = rng.integers(2), rng.integers(1, size)
        parts[row, 0] += parts[row, k]
        parts[row, k] = 0
    return [[Fraction(int(x), 256) for x in row] for row in parts]


@pytest.mark.parametrize("seed", range(16))
def test_lists_in_fractions(seed):
    rng = np.random.default_rng([43, seed])
    p, q = random_lists(rng, int(rng.integers(2, 4)))
    steps = int(rng.integers(2, 7))
    selected = int(rng.integers(1, min(steps, 3) + 1))
    alphas = [Fraction(1), Fraction(9, 8), Fraction(5, 2)]
    curves = exact(p, q, steps, selected, alphas)
    mechanism = DiscretePair([float(x) for x in p], [float(x) for x in q])
    run = Release(mechanism, RandomAllocation(steps, selected))
    for alpha, curve in zip(alphas, curves, strict=True):
        for side, truth in zip(SIDES, curve, strict=True):
            found = delta(run, epsilon=math.log(alpha), adjacency=side)
            assert found.lower * (1 - 1e-12) <= truth
            assert truth <= found.upper * (1 + 1e-12) + 1e-290
            if selected == 1:
                assert found.upper - found.lower <= 1e-6 * found.upper + 1e-9


def test_losses_too_large_for_floats_have_valid_ends():
    run = Release(Gaussian(0.02), RandomAllocation(7))
    found = epsilon(run, delta=1e-5, adjacency="remove")
    alone = epsilon(Release(Gaussian(0.02)), delta=1e-5, adjacency="remove")
    assert 0.9 * alone.lower < found.lower <= found.upper <= alone.upper


def test_what_is_refused():
    run = Release(Gaussian(1.0), RandomAllocation(10))
    with pytest.raises(NotImplementedError, match="substitute"):
        epsilon(run, delta=1e-5, adjacency="substitute")
    with pytest.raises(NotImplementedError, match="group_size=2"):
        epsilon(run, delta=1e-5, adjacency="add", group_size=2)
