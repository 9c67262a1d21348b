"""Renyi curves at real orders, against integrals that share no code."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

import accountlib as al
from accountlib.beyond.fractional_orders import fractional_rdp


def rise(power, w):
    """(1 + w)^power - 1 - power w, w with few or many digits."""
    return mp.expm1(power * mp.log1p(w)) - power * w


def exact(order, ratio, density, edges, add, rate):
    """One direction of a sampled pair from p/q and q, by quadrature."""
    with mp.workdps(30):
        a = mpf(order)
        power = 1 - a if add else a

        def integrand(x):
            return density(x) * rise(power, rate * (ratio(x) - 1))

        return mp.log1p(mp.quad(integrand, edges)) / (a - 1)


def normal(order, noise, sizes, chances, add, rate=1):
    def ratio(x):
        moves = [mpf(k) / noise for k in sizes]
        both = zip(moves, chances, strict=True)
        return mp.fsum(c * mp.exp(m * x - m * m / 2) for m, c in both)

    high = 14 + math.ceil(order * max(sizes) / noise)
    edges = [mpf(k) for k in range(-14, high)]
    return exact(order, ratio, mp.npdf, edges, add, rate)


@pytest.mark.parametrize("seed", range(4))
def test_random_steps_are_bounded_from_above(seed):
    rng = np.random.default_rng(seed)
    noise = float(10 ** rng.uniform(-0.4, 1.5))
    rate = float(10 ** rng.uniform(-6, -0.01))
    order = 1 + float(10 ** rng.uniform(-3, 0.8))
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    size = int(rng.integers(1, 4))
    chances = [
        math.comb(size, k) * rate**k * (1 - rate) ** (size - k)
        for k in range(size + 1)
    ]
    for side in ("remove", "add"):
        value = fractional_rdp(run, adjacency=side, group_size=size)(order)
        known = normal(order, noise, range(size + 1), chances, side == "add")
        setting = (noise, rate, order, size, side)
        assert known * (1 - mpf(1e-9)) <= value <= known * 1.001, setting


def test_what_has_no_whole_orders():
    """A random sensitivity, and substitution in a sample."""
    law = al.Release(al.MixtureOfGaussians([1, 3], [0.75, 0.25], 2.0))
    value = fractional_rdp(law, adjacency="remove")(2.5)
    known = normal(2.5, 2.0, (1, 3), (0.75, 0.25), False)
    assert known * (1 - mpf(1e-9)) <= value <= known * 1.001
    swapped = al.Release(al.Laplace(2.0), al.Poisson(0.1))
    value = fractional_rdp(swapped, adjacency="substitute")(1.5)
    proven = al.epsilon(swapped, delta=0.0, adjacency="substitute")
    assert 0 < value < proven.upper


def test_closed_forms_stay():
    runs = [
        al.Release(al.Gaussian(3.0), count=100),
        al.Release(al.RandomizedResponse(0.7), al.Poisson(0.1)),
    ]
    orders = np.array([1.25, 7.5, 900.0, math.inf])
    one, two = (
        curve(runs, adjacency="remove")(orders)
        for curve in (al.rdp_curve, fractional_rdp)
    )
    assert np.array_equal(one, two)
