"""Masses of exchanged records in high precision."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
import random

import pytest
from mpmath import mp, mpf

import accountlib as al
from accountlib.several import exchange
from tests import share
from tests.several.exchanges import assert_masses, exchanged_place, pair_of
from tests.truth.arbs import erfc


def exact_exchanged(means, weights, edges):
    """P and Q between edges, for the mixtures of an ExchangedPair."""
    means, weights = map(mpf, means), map(mpf, weights)
    means, weights = list(means), list(weights)
    z = [exchanged_place(mpf(e), means, weights) for e in edges]
    z = [-mp.inf, *z, mp.inf]

    def normal(a, b):
        if a > 0:
            a, b = -b, -a
        root = mp.sqrt(2)
        return (erfc(-b / root) - erfc(-a / root)) / 2

    return [
        [
            mp.fsum(
                w * normal(a - s * m, b - s * m)
                for m, w in zip(means, weights, strict=True)
            )
            for s in (1, -1)
        ]
        for a, b in zip(z, z[1:], strict=False)
    ]


RATES = [1e-12, 1e-6, 0.01, 0.5, 0.99, 1 - 1e-6, 1 - 1e-12]


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("noise", [1e-2, 0.3, 1.0, 30.0, 1e6])
def test_exchanged_masses_in_high_precision(rate, noise):
    pair = pair_of(al.Gaussian(noise), al.Poisson(rate))
    assert isinstance(pair, exchange.ExchangedPair)
    mu = 1 / noise
    for shape in ("narrow", "wide", "across"):
        for z in (0.01, 1.0, 25.0):
            # losses about those of z and of mu + z
            for at in (z, mu + z):
                with mp.workdps(40):
                    big = mp.exp(mpf(mu) * at - mpf(mu) ** 2 / 2)
                    less = mp.exp(-mpf(mu) * at - mpf(mu) ** 2 / 2)
                    up, down = 1 - rate + rate * big, 1 - rate + rate * less
                    loss = float(mp.log(up / down))
                if not 1e-300 < loss < 1e300:
                    continue
                ends = {
                    "narrow": [loss, loss * (1 + 2.0**-20)],
                    "wide": [loss / 3, loss],
                    "across": [-loss / 2, loss],
                }[shape]
                # widths are differences of the edges, exactly
                ends[1] = ends[0] + (ends[1] - ends[0])
                with mp.workdps(60):
                    exact = exact_exchanged(pair.means, pair.weights, ends)
                assert_masses(pair, ends, exact)
                back = [-x for x in ends[::-1]]
                swapped = [row[::-1] for row in exact[::-1]]
                assert_masses(pair, back, swapped, "left")


@pytest.mark.parametrize("size", [2, 7])
@pytest.mark.parametrize("rate", [1e-9, 0.2, 1 - 1e-9])
@pytest.mark.parametrize("noise", [0.2, 2.0, 1e4])
def test_exchanged_masses_of_groups(size, rate, noise):
    pair = pair_of(al.Gaussian(noise), al.Poisson(rate), size)
    unit = rate * size / noise
    for ends in (
        [unit / 7, unit / 3],
        [-unit, 2 * unit],
        [unit, unit * (1 + 2.0**-20)],
        [1.0, 30.0],
    ):
        ends[1] = ends[0] + (ends[1] - ends[0])
        with mp.workdps(60):
            exact = exact_exchanged(pair.means, pair.weights, ends)
        assert_masses(pair, ends, exact)


def exact_exchanged_laplace(scale, rate, edges):
    """P and Q between edges, edges off the atoms, in mpmath."""
    s, g = mpf(scale), mpf(rate)
    a = mp.exp(-1 / s)
    floor = 1 - g + g * a
    odds = g * a / floor
    top = mp.log((1 - g + g / a) / floor)

    def above(loss):
        """Masses of N(0), N(1), N(-1) beyond the place of a loss >= 0."""
        if loss > top:
            return [mpf(0)] * 3
        z = s / 2 * mp.log(1 + mp.expm1(loss) / odds)
        tail = mp.exp(-z / s) / 2
        return [tail, 1 - mp.exp((z - 1) / s) / 2, a * tail]

    def beyond(loss):
        if loss < 0:
            p, q = beyond(-loss)
            return 1 - q, 1 - p
        zero, one, less = above(loss)
        return (1 - g) * zero + g * one, (1 - g) * zero + g * less

    rows = [(mpf(1), mpf(1))] + [beyond(mpf(e)) for e in edges]
    rows.append((mpf(0), mpf(0)))
    return [
        [u - v for u, v in zip(x, y, strict=True)]
        for x, y in zip(rows, rows[1:], strict=False)
    ]


@pytest.mark.parametrize("rate", [1e-9, *RATES])
@pytest.mark.parametrize("scale", [0.004, 0.02, 0.1, 1.0, 40.0, 3e3, 1e6])
def test_exchanged_laplace_masses(rate, scale):
    pair = pair_of(al.Laplace(scale), al.Poisson(rate))
    with mp.workdps(700):
        a = mp.exp(-1 / mpf(scale))
        g = mpf(rate)
        top = float(mp.log((1 - g + g / a) / (1 - g + g * a)))
    assert pair.loss_range[1] == pytest.approx(top, rel=1e-12)
    for ends in (
        [0.1 * top, 0.4 * top],
        [1e-3 * top, 1.1 * top],
        [-0.5 * top, 0.6 * top],
        [-1e-5 * top, 1e-5 * top],
        [0.5 * top, 0.5 * top * (1 + 2.0**-20)],
        [1e-9 * top, 1e-3 * top],
    ):
        ends[1] = ends[0] + (ends[1] - ends[0])
        with mp.workdps(700):
            exact = exact_exchanged_laplace(scale, rate, ends)
        assert_masses(pair, ends, exact)
        back = [-x for x in ends[::-1]]
        swapped = [row[::-1] for row in exact[::-1]]
        assert_masses(pair, back, swapped, "left")


def test_exchanged_laplace_masses_sum_to_one():
    """Random noise and rates: rounding must not move the atom at the
    lowest loss of one half across 0."""
    rng = random.Random(1)
    for _ in share(range(1000), 2):
        scale = 10 ** rng.uniform(-2, 6)
        rate = rng.choice([10 ** rng.uniform(-12, -1e-3), rng.random()])
        pair = pair_of(al.Laplace(scale), al.Poisson(rate))
        top = pair.loss_range[1]
        for edge in (0.0, 1e-3 * top):
            for total in pair.masses([edge]):
                assert math.fsum(total) == pytest.approx(1, abs=1e-9), pair


def test_pairs_with_infinite_losses():
    for rate in (1e-9, 0.3, 1 - 1e-9):
        for mechanism in (
            al.ApproximateDP(0.0, 1e-5),
            al.ApproximateDP(1.0, 0.25),
            al.ApproximateDP(0.0, 1.0),
            al.RandomizedResponse(1.0),
            al.RandomizedResponse(0.0),
            al.RandomizedResponse(0.5),
            al.PureDP(0.0),
            al.PureDP(700.0),
        ):
            pair = pair_of(mechanism, al.Poisson(rate))
            assert pair.reversed() == pair
            for edges in ([0.0], [-1.0, 0.0, 0.5], [1e-12]):
                for total, missing in zip(
                    pair.masses(edges), pair.infinite_mass, strict=True
                ):
                    found = math.fsum(total) + missing
                    assert found == pytest.approx(1, abs=1e-14), pair
