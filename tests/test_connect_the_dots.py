"""Doroshenko et al. (2022), "Connect the dots": lemmas and laws.

Its figures have parameters that are not in the paper; the reference values
are for our own. Lemmas 2.1, 2.6, 2.7, 3.2, 4.1 and 5.5 and Theorem 5.4 are
also held in fractions in `test_pld`, `test_optimistic`, `test_composition`.
"""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from accountlib.composition import self_compose
from accountlib.dominating_pairs import Subsampled, outcomes
from accountlib.mechanisms import Gaussian
from accountlib.optimistic import discretize
from accountlib.pld import (
    BOUNDS,
)

STEPS = Gaussian(50.0).removed(1)  # 1000 of them: epsilon 2.92160 at 1e-6
EXACT = 2.921600


def gaussian_delta(x, mu):
    return ndtr(mu / 2 - x / mu) - np.exp(x) * ndtr(-mu / 2 - x / mu)


def composed(step, bound, pair=STEPS, count=1000):
    return self_compose(discretize(pair, step=step, bound=bound), count)


def test_lemma_4_1_least():
    """Below any profile on the grid that lies above."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        p, q = rng.dirichlet(np.ones(4), 2)
        step = float(rng.uniform(0.1, 1))
        dots = discretize(outcomes(p, q), step=step)
        values = dots.delta(dots.losses)
        alphas = np.append(0, np.exp(dots.losses))
        other = np.append(1, values * rng.uniform(1, 1.3, len(values)))
        other = np.maximum(other, np.maximum(1 - alphas, 0))
        at = np.linspace(alphas[1], alphas[-1], 50)
        other = np.interp(at, alphas, other)
        assert np.all(dots.delta(np.log(at)) <= other + 1e-12)


def test_lemma_5_3_equal_distributions():
    """delta is 0, since the grid contains the loss 0 (trap 19)."""
    equal = outcomes((0.25, 0.75), (0.25, 0.75))
    for step in (0.01, 0.3, 3.7):
        for bound in BOUNDS:
            pld = discretize(equal, step=step, bound=bound)
            for at in (0.0, 1e-9, 2.0):
                assert pld.delta(at) == 0
            assert pld.epsilon(0.0) == 0
    low, high = math.exp(-0.15), math.exp(0.15)  # a chord without alpha = 1
    assert (1 - low) * (high - 1) / (high - low) > 0.05


def test_rounding_down_is_half_of_the_truth():
    """Trap 20: buckets in the place of Algorithm 2 give 0.448, not 0.947."""
    pair = Subsampled(Gaussian(0.8).removed(1), math.log1p(-0.001))
    poor = composed(1e-4, "buckets-lower", pair, 10_000).epsilon(1e-6)
    good = composed(1e-4, "lower", pair, 10_000).epsilon(1e-6)
    assert poor == pytest.approx(0.448, abs=1e-3)
    assert 0.9465 < good < 0.9475
