"""Losses on a grid from below, and both sides against fractions."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accountlib.dominating_pairs import (
    Mirrored,
    Subsampled,
    Substituted,
    outcomes,
)
from accountlib.mechanisms import DiscretePair, Gaussian
from accountlib.optimistic import discretize, tangent_values
from accountlib.pld import BOUNDS

GAUSS = Gaussian(1.0).removed(1)


def hockey_stick(p, q, epsilon):
    """delta of two lists of floats, to forty digits."""
    with mp.workdps(40):
        alpha = mp.exp(mp.mpf(epsilon))
        parts = zip(p, q, strict=True)
        return mp.fsum(max(mp.mpf(a) - alpha * mp.mpf(b), 0) for a, b in parts)


def random_list(rng, size, bits):
    """Probabilities that are whole multiples of 2^-bits; some are 0."""
    shape = rng.dirichlet(np.full(size, rng.choice([0.3, 1.0, 3.0])))
    return (rng.multinomial(2**bits, shape) / 2**bits).tolist()


@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_random_lists(seed):
    """All four bounds, at random places, at the losses and beside them."""
    rng = np.random.default_rng(seed)
    size, bits = int(rng.integers(1, 8)), int(rng.choice([3, 6, 20]))
    p, q = (random_list(rng, size, bits) for _ in range(2))
    losses = [math.log(a / b) for a, b in zip(p, q, strict=True) if a * b > 0]
    step = float(np.exp(rng.uniform(-6, 1.5)))
    if losses and rng.random() < 0.4:  # a grid that some losses lie on
        step = max(abs(rng.choice(losses)) / int(rng.integers(1, 30)), 1e-3)
    pair = DiscretePair(p, q) if rng.random() < 0.5 else outcomes(p, q)
    places = [*rng.uniform(-3, 3, 5), 0.0, *losses[:2]]
    places += [x * (1 - 1e-9) for x in losses[:2]]
    truth = [hockey_stick(p, q, x) for x in places]
    for bound in BOUNDS:
        pld = discretize(pair, step=step, bound=bound)
        for x, exact in zip(places, truth, strict=True):
            assert pld.side * (pld.delta(x) - exact) >= 0
        for delta in (0.0, 1e-6, 0.2):
            found = pld.epsilon(delta)
            if bound.endswith("upper") and found < math.inf:
                assert hockey_stick(p, q, found) <= delta
            if bound.endswith("lower") and 0 < found < math.inf:
                assert hockey_stick(p, q, found * (1 - 1e-15)) >= delta


@pytest.mark.parametrize("step", [0.2, 0.01])
def test_pairs_of_substitution(step):
    """Mirrored and substituted pairs: both sides, and finer grids inside."""
    half = Subsampled(GAUSS, math.log1p(-0.2))
    for pair in (Mirrored(half), Substituted(GAUSS, math.log1p(-0.2))):
        ends = {x: discretize(pair, step=step, bound=x) for x in BOUNDS[:2]}
        fine = {x: discretize(pair, step=0.003, bound=x) for x in BOUNDS[:2]}
        at = np.linspace(-2, 3, 41)
        assert np.all(ends["lower"].delta(at) <= fine["upper"].delta(at))
        assert np.all(fine["lower"].delta(at) <= ends["upper"].delta(at))
        width = fine["upper"].delta(0.5) - fine["lower"].delta(0.5)
        assert 0 <= width < 2e-5


def test_grids_without_0_or_1_are_refused():
    for alphas in ([0.0, 0.5, 2.0], [0.5, 1.0, 2.0]):
        with pytest.raises(ValueError, match="begin with 0 and have 1"):
            tangent_values(np.array(alphas), np.ones(3), -np.ones(3))


# --- lemmas and traps of Doroshenko et al. (2022), "Connect the dots"


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
