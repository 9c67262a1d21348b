"""Renyi curves of sampled Laplace noise, panel by panel."""

import math

import numpy as np
import pytest
from flint import arb, ctx

import accountlib as al
from accountlib import laplace_panels
from accountlib.laplace_panels import laplace_curve
from tests.integrals import (
    DIGITS,
    above,
    bracket,
    divergence,
    panels,
    random_step,
)


def exact_laplace(order, scale, rate, add):
    with ctx.workdps(DIGITS):
        a, s, g = arb(order), arb(scale), arb(rate)

        def value(x):  # at 0 <= x <= 1
            spread = (g * ((2 * x - 1) / s).expm1()).log1p()
            inner = bracket(a - 1, -spread if add else spread)
            return inner if add else inner * spread.exp()

        count = math.ceil(1 + (1 + order) / scale)

        def density(x):
            return (-x / s).exp() / (2 * s) * value(x)

        middle = panels(density, 0, 1, count)
        ends = value(arb(0)) / 2 + (-1 / s).exp() * value(arb(1)) / 2
        return divergence(a - 1, ends + middle)


def test_random_laplace_steps():
    rng = np.random.default_rng(2)
    for _ in range(40):
        scale, rate, order, add = random_step(rng)
        curve = laplace_curve(scale, rate, missed=1 - rate, add=add)
        known = exact_laplace(order, scale, rate, add)
        value = curve(np.array([order]))[0]
        assert above(value, known, 2e-12), (scale, rate, order, add)


def test_laplace_noise_too_small_for_panels():
    for order in (1.5, 2.0, 30.0):
        for add in (True, False):
            curve = laplace_panels.laplace_curve(
                1e-5, 0.5, missed=0.5, add=add
            )
            plain = al.laplace_rdp(order, scale=1e-5)
            assert plain <= curve(np.array([order]))[0] < plain * (1 + 1e-12)


@pytest.mark.parametrize("add", [True, False])
@pytest.mark.parametrize("rate", [0.02, 1.0])
def test_bounds_of_panels_hold_on_their_ellipses(rate, add):
    """The integrand, at complex places: a rule of Gauss errs by a share."""
    step = laplace_panels.LaplacePanels(6.0, rate, 1 - rate, add)
    less, half, none = 3.0, 0.3, np.zeros(1, int)
    turns = np.exp(2j * np.pi * np.arange(24) / 24)
    for middle in (-5.2, -1.0, 0.4, 4.9):
        place = middle + half * (4 * turns + 1 / (4 * turns)) / 2
        sampled = np.log(1 - rate + rate * np.exp(place))
        loss = -sampled if add else sampled
        size = (np.expm1(less * loss) - less * loss) / less
        size = np.abs(size + np.expm1(-loss) + loss)
        size *= np.abs(np.exp(-(6 + place) / 2 + (0 if add else sampled)))
        exact = math.log(np.max(size) * half / 2)
        at = np.array([middle]), none, half, 1.0
        bound = step.log_bound(np.array([less]), *at)[0]
        assert exact <= bound < exact + 5
