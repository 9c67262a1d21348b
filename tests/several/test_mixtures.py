"""Mixtures of Gaussians in high precision."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import accountlib as al
from accountlib.runs import rules
from accountlib.several import groups, mixtures
from accountlib.several.mixtures import MixturePair

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}


# --- pairs ------------------------------------------------------------------


def exact_masses(means, weights, loss_low, loss_high):
    """P and Q of an interval of losses, by bisection in high precision."""

    def loss(z):
        return mp.log(
            mp.fsum(
                w * mp.exp(m * z - m * m / 2)
                for m, w in zip(means, weights, strict=True)
            )
        )

    def place(value):
        low, high = mpf(-400), mpf(400)
        for _ in range(150):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if loss(middle) < value else (low, middle)
            )
        return low

    a, b = place(loss_low), place(loss_high)

    def normal(shift):
        return (
            mp.erfc((a - shift) / mp.sqrt(2))
            - mp.erfc((b - shift) / mp.sqrt(2))
        ) / 2

    p = mp.fsum(w * normal(m) for m, w in zip(means, weights, strict=True))
    return p, normal(0)


@pytest.mark.parametrize(
    ("means", "weights"),
    [
        ((1.0, 2.0), (0.5, 0.5)),
        ((0.1, 0.2, 5.0), (0.9, 0.09, 0.01)),
        ((0.01, 8.0), (1e-9, 1 - 1e-9)),
        ((0.5, 3.0, 3.1), (1 - 2e-12, 1e-12, 1e-12)),
    ],
)
@pytest.mark.parametrize("width", [1e-6, 1e-2, 1.0])
@pytest.mark.parametrize("loss", [-20.0, -0.3, 0.0, 2.0, 60.0])
def test_masses_in_high_precision(means, weights, width, loss):
    pair = MixturePair(means, weights)
    p, q = pair.interval_masses(
        np.array([loss, loss + width]), np.array([width]), "right"
    )
    with mp.workdps(60):
        exact = exact_masses(
            [mpf(m) for m in means],
            [mpf(w) for w in weights],
            mpf(loss),
            mpf(loss) + mpf(width),
        )
        for value, known in zip((p[1], q[1]), exact, strict=True):
            if known > mpf(10) ** -290:
                assert abs(value / known - 1) <= 1e-10


def test_a_thousand_components():
    values, weights = groups.binomial_sensitivity(1000, rate=0.01)
    pair = mixtures.mixture_pair(values / 3.0, weights)
    p, q = pair.masses(np.linspace(-0.01, 500, 200))
    assert math.fsum(p) == pytest.approx(1, abs=1e-11)
    assert math.fsum(q) == pytest.approx(1, abs=1e-11)
    run = al.Release(al.Gaussian(3.0), al.Poisson(0.01), count=10)
    bound = al.epsilon(run, delta=1e-6, group_size=1000, **BOTH)
    assert bound.width <= 1e-3


def test_simplest_forms():
    """k = 1, q = 1 and shared means give the pairs that we know."""
    for rate in (0.01, 0.3, 0.99):
        values, weights = groups.binomial_sensitivity(1, rate=rate)
        single = al.SampledPair(al.GaussianPair(0.5), rate)
        assert rules.group_pair(al.Gaussian(2.0), al.Poisson(rate), 1) == (
            mixtures.mixture_pair(values / 2.0, weights)
        )
        if rate < 0.5:
            assert mixtures.mixture_pair(values / 2.0, weights) == single
        assert al.MixtureOfGaussians([0, 1], [1 - rate, rate], 2.0).pair() == (
            mixtures.mixture_pair(values / 2.0, weights)
        )
    assert rules.group_pair(al.Gaussian(2.0), al.Poisson(1.0), 5) == (
        al.GaussianPair(2.5)
    )
    assert rules.group_pair(al.Gaussian(2.0), al.Poisson(0.0), 5) == (
        al.DiscretePair((1.0,), (1.0,))
    )
    joined = al.MixtureOfGaussians([1, 1, 2], [0.25, 0.25, 0.5], 1.0)
    assert joined.pair() == MixturePair((1.0, 2.0), (0.5, 0.5))


@pytest.mark.parametrize("rest", [1e-300, 1e-17, 1e-6, 0.3])
def test_tiny_chances_to_miss_the_group(rest):
    """The lowest loss is the logarithm of that chance, to all digits."""
    pair = mixtures.mixture_pair(
        np.array([0.0, 1.0, 2.0]), np.array([rest, 0.5, 0.5 - rest])
    )
    assert pair.loss_range[0] == pytest.approx(math.log(rest), rel=1e-15)
    epsilon = -math.log(rest) / 2
    with mp.workdps(400):
        # Q - e^eps P is positive below the place where the loss is -eps
        weights = [mpf(rest), mpf(0.5), mpf(0.5) - mpf(rest)]

        def loss(z):
            terms = (
                w * mp.exp(m * z - m * m / mpf(2))
                for m, w in enumerate(weights)
            )
            return mp.log(mp.fsum(terms))

        low, high = mpf(-2000), mpf(100)
        for _ in range(300):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if loss(middle) < -epsilon else (low, middle)
            )
        q = mp.ncdf(low)
        p = mp.fsum(w * mp.ncdf(low - m) for m, w in enumerate(weights))
        known = q - mp.exp(mpf(epsilon)) * p
    value = pair.reversed().delta(epsilon)
    assert value == pytest.approx(float(known), rel=1e-9, abs=1e-15)
