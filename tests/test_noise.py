"""Masses, losses and their errors against fifty digits."""

import math

import numpy as np
import pytest
from mpmath import mp
from scipy.special import log_ndtr

from accountlib.noise import (
    DiscreteLaplaceNoise,
    DiscreteNormalNoise,
    LaplaceNoise,
    NormalNoise,
    mixed,
    whole_normal,
)
from tests import fifty_digits as exact
from tests.fifty_digits import UNIT

RNG = np.random.default_rng(1)


def random_noise(kind):
    scale = float(f"{10 ** RNG.uniform(-1, 1.3):.3g}")
    return {
        "normal": (NormalNoise(), exact.Normal()),
        "laplace": (LaplaceNoise(), exact.Laplace()),
        "whole laplace": (
            DiscreteLaplaceNoise(scale),
            exact.WholeLaplace(scale),
        ),
        "whole normal": (
            DiscreteNormalNoise(scale),
            exact.WholeNormal(scale),
        ),
    }[kind]


def random_shift(noise):
    """A float shift, and the quotient that it stands for."""
    if noise.whole:
        shift = float(RNG.integers(1, 12))
        return shift, exact.exact(shift)
    unit = float(f"{10 ** RNG.uniform(-2.2, 3):.3g}")
    return 1 / unit, 1 / exact.exact(unit)


def random_edges(noise, shift):
    edges = np.unique(RNG.choice(noise.start(shift), 9))
    if not noise.whole and RNG.random() < 0.5:  # narrow cells, too
        edges = edges[0] + np.append(
            0.0, np.cumsum(10 ** RNG.uniform(-6, 0, 8))
        )
    return np.concatenate([[-math.inf], edges, [math.inf]])


KINDS = ["normal", "laplace", "whole laplace", "whole normal"]


@pytest.mark.parametrize("kind", KINDS)
def test_masses_and_ratios_lie_within_their_errors(kind):
    most = 0.0
    for _ in range(40):
        noise, true = random_noise(kind)
        shift, meant = random_shift(noise)
        edges = random_edges(noise, shift)
        for move, m in ((0.0, mp.mpf(0)), (shift, meant)):
            value, error = noise.masses(edges, move)
            for i, (a, b) in enumerate(zip(edges, edges[1:], strict=False)):
                a, b = exact.exact(a) - m, exact.exact(b) - m
                log_mass = mp.log(exact.mass(true, a, b))
                off = abs(float(exact.exact(value[i]) - log_mass))
                assert off <= error[i] < 1, (noise, shift, i)
                most = max(most, off / error[i])
        at = np.ceil(edges[1:-1]) if noise.whole else edges[1:-1]
        value, error = noise.log_ratio(at, shift)
        for z, v, e in zip(at, value, error, strict=True):
            z = exact.exact(z)
            ratio = true.log_density(z - meant) - true.log_density(z)
            assert abs(float(exact.exact(v) - ratio)) <= e
    assert most > 0.01  # errors are no wild guesses


def test_a_sliver_has_an_infinite_error_and_no_nan():
    edges = np.array([1.0, math.nextafter(1.0, 2.0), 2.0])
    value, error = NormalNoise().masses(edges, 0.0)
    assert np.isfinite(value[0]) and error[0] == math.inf
    assert error[1] < 1e-13


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


def test_the_sum_that_all_whole_normal_tails_rest_on():
    for sigma in (0.3, 1.0, 7.3):
        true = exact.WholeNormal(sigma)
        log_sums, log_total = whole_normal(sigma)
        for k in range(0, len(log_sums), max(1, len(log_sums) // 20)):
            ratio = true.from_on(k) / mp.exp(true.log_density(k))
            off = abs(float(exact.exact(log_sums[k]) - mp.log(ratio)))
            assert off <= UNIT * (100 + 4 * (k / sigma) ** 2 + 2 * sigma)
        total = mp.log(2 * true.from_on(0) - 1)
        assert abs(float(log_total - total)) < 1e-14


# --- each term is needed


def test_the_square_in_the_normal_tail_is_needed():
    at = RNG.uniform(20, 200, 300)
    off = [
        abs(float(log_ndtr(-z) - mp.log(exact.Normal().tail(exact.exact(z)))))
        for z in at
    ]
    share = np.array(off) / (UNIT * at**2)
    assert 0.8 < share.max() < 4  # of the 8 that is claimed; 4 without shifts
    assert np.max(np.array(off) / UNIT) > 1000  # no constant would do


def test_the_shift_in_the_normal_tail_is_needed():
    shift, meant = 1 / 0.0076, 1 / exact.exact(0.0076)
    edges = shift + np.array([2.0, 3.0])
    value, error = NormalNoise().masses(edges, shift)
    a, b = (exact.exact(x) - meant for x in edges)
    off = abs(
        float(exact.exact(value[0]) - mp.log(exact.mass(exact.Normal(), a, b)))
    )
    _, without = NormalNoise().masses(edges - shift, 0.0)
    _, tenth = NormalNoise().masses(edges - shift, shift / 10)
    assert without[0] < tenth[0] < off <= error[0] or without[0] < off


def test_the_rounding_across_zero_is_needed():
    """A narrow cell: 1 less two tails has an absolute error."""
    most = 0.0
    for width in 10 ** RNG.uniform(-9, -6, 60):
        edges = np.array([-width, width])
        value, error = LaplaceNoise().masses(edges, 0.0)
        true = mp.log(exact.mass(exact.Laplace(), *map(exact.exact, edges)))
        off = abs(float(exact.exact(value[0]) - true))
        assert off <= error[0]
        most = max(most, off / (8 * UNIT / width))
    assert most > 0.1


def test_the_error_of_a_ratio_is_needed():
    """9 shift (|z| + shift): a tenth of it is too little."""
    most = 0.0
    for unit in (0.0076, 0.061, 0.057):
        shift, meant = 1 / unit, 1 / exact.exact(unit)
        for z in RNG.uniform(-2, 2, 40):
            value, error = NormalNoise().log_ratio(z, shift)
            true = meant * (exact.exact(z) - meant / 2)
            off = abs(float(exact.exact(float(value)) - true))
            assert off <= error
            most = max(most, off / error)
    assert most > 0.1


def test_mixed_against_fifty_digits():
    for _ in range(100):
        count = int(RNG.integers(2, 65))
        values, errors = (
            RNG.normal(0, 40, count),
            10 ** RNG.uniform(-15, -3, count),
        )
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


def test_mixed_keeps_infinite_ends():
    values = np.array([[-np.inf, np.inf, 1.0], [-np.inf, np.inf, -np.inf]])
    errors = np.zeros((2, 3))
    total, error = mixed(values, errors, np.log([[0.5], [0.5]]))
    assert total[0] == -np.inf and total[1] == np.inf
    assert abs(total[2] - (1 - math.log(2))) < 1e-15
    assert error[:2].tolist() == [0.0, 0.0]
