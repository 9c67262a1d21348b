"""Errors of masses and losses against fifty digits, where they are largest.

Random settings are in test_dominating_pairs.py.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from mpmath import mp

from accountlib.noise import (
    DiscreteLaplaceNoise,
    DiscreteNormalNoise,
    LaplaceNoise,
    NormalNoise,
    mixed,
)
from tests import fifty_digits as exact
from tests.fifty_digits import UNIT

RNG = np.random.default_rng(1)


@pytest.mark.parametrize(
    "noise, true",
    [
        (NormalNoise(), exact.Normal()),
        (LaplaceNoise(), exact.Laplace()),
        (DiscreteLaplaceNoise(0.7), exact.WholeLaplace(0.7)),
        (DiscreteLaplaceNoise(1e6), exact.WholeLaplace(1e6)),
        (DiscreteNormalNoise(1.3), exact.WholeNormal(1.3)),
    ],
)
def test_masses_that_were_not_moved(noise, true):
    """There is no error of a shift that covers the others."""
    for top in (9.0, 1e5):
        edges = np.array([-np.inf, *noise.start(top), np.inf])
        value, error = noise.masses(edges, 0.0)
        for i, (a, b) in enumerate(pairwise(map(exact.exact, edges))):
            off = abs(float(value[i] - mp.log(exact.mass(true, a, b))))
            assert off <= error[i], (a, b)


def test_a_sliver_has_an_infinite_error_and_no_nan():
    edges = np.array([1.0, math.nextafter(1.0, 2.0), 2.0])
    value, error = NormalNoise().masses(edges, 0.0)
    assert np.isfinite(value[0]) and error[0] == math.inf
    assert error[1] < 1e-13
    value, error = NormalNoise().masses(np.array([-1e-18, 1e-18]), 0.0)
    assert np.isfinite(value[0]) and error[0] == math.inf


@pytest.mark.parametrize("sign", [-1, 1])
def test_tails_that_err_as_far_as_they_say(sign):
    class Wrong(LaplaceNoise):
        def log_tail(self, z, shift):
            error = 1e-6 * np.arange(1.0, 1 + len(z))
            turns = 0.999 * float(sign) ** np.arange(len(z))
            return -np.abs(z) - turns * error, error

    edges = np.array([-2, -1.999, -0.001, 0.002, 1, 1.002, 3])
    value, error = Wrong().masses(edges, 0.0)
    for i, (a, b) in enumerate(pairwise(map(exact.exact, edges))):
        true = mp.log(exact.mass(exact.Laplace(), a, b))
        assert abs(float(value[i] - true)) <= error[i]


def test_a_narrow_cell_across_zero():
    """1 less two tails has an absolute error."""
    for width in 10 ** RNG.uniform(-9, -6, 60):
        value, error = LaplaceNoise().masses(np.array([-width, width]), 0.0)
        true = mp.log(-mp.expm1(-exact.exact(width)))
        assert abs(float(exact.exact(value[0]) - true)) <= error[0]


def test_wide_sigma_against_fewer_digits():
    """A hundred thousand numbers: sums in mpmath are too slow for all."""
    noise = DiscreteNormalNoise(1000.0)
    edges = np.array([-0.5, 500.5, 3000.5, 20000.5, 37000.5, 37100.5])
    value, error = noise.masses(edges, 0.0)
    k = np.arange(60_000.0)
    f = np.exp(-((k / 1000) ** 2) / 2)
    total = 2 * math.fsum(f) - 1
    for i in range(3):
        part = f[(k > edges[i]) & (k < edges[i + 1])]
        if part.min() > 0:
            off = abs(value[i] - math.log(math.fsum(part) / total))
            assert off <= error[i] < 1e-10
    assert error[3] < 1e-10 and 0.1 < error[4] < 3  # known up to a factor only


def test_mixed_against_fifty_digits():
    for _ in range(100):
        count = int(RNG.integers(2, 65))
        values = RNG.normal(0, 40, count)
        errors = 10 ** RNG.uniform(-15, -3, count)
        weights = np.log(RNG.dirichlet(np.ones(count)))
        moved = values + RNG.choice([-1, 1], count) * errors
        true = mp.log(
            sum(
                mp.exp(exact.exact(v) + exact.exact(w))
                for v, w in zip(moved, weights, strict=True)
            )
        )
        total, error = mixed(
            values[:, None], errors[:, None], weights[:, None]
        )
        assert abs(float(exact.exact(total[0]) - true)) <= error[0]
        assert error[0] <= 1.01 * errors.max() + 1e-12
    many = np.append(0.0, np.full(63, -36.75))  # each lost beside the first
    two = np.array([0.0, -690.0])  # a weight that is off by 8u
    for terms, weights in ((many, 0 * many), (0 * two, two)):
        both = [np.stack([x, x], 1) for x in (terms - weights, weights)]
        total, error = mixed(both[0], 0 * both[0], both[1])
        moved = map(exact.exact, terms + 8 * UNIT * weights)
        off = exact.exact(total[0]) - mp.log(sum(map(mp.exp, moved)))
        assert abs(float(off)) <= error[0]
