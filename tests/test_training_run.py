"""The parts of a private training run: sampler, clipping, loop."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2, chisquare, kstest

from accountlib.training_run import (
    clipped_sum,
    poisson_batches,
    private_descent,
)


@pytest.mark.parametrize("rate, size", [(0.5, 10), (0.1, 40), (0.03, 300)])
def test_batches_are_poisson_samples(rate, size):
    """Sizes are binomial, records equally often, pairs independent."""
    rng = np.random.default_rng(1)
    steps = 3000
    taken = np.zeros((steps, size), dtype=bool)
    for step, drawn in enumerate(
        poisson_batches(rng, rate=rate, size=size, steps=steps)
    ):
        assert np.all(np.diff(drawn) > 0)
        taken[step, drawn] = True
    sizes = taken.sum(axis=1)
    share = sizes.var() / (size * rate * (1 - rate))
    assert 1e-4 < chi2.cdf(steps * share, steps - 1) < 1 - 1e-4
    assert 1e-4 < binom.cdf(sizes.sum(), steps * size, rate) < 1 - 1e-4
    assert chisquare(taken.sum(axis=0)).pvalue > 1e-4
    for one, other in (
        (taken[:, 0], taken[:, 1]),  # two records of one step
        (taken[1:, 0], taken[:-1, 0]),  # one record in two steps
    ):
        both = np.sum(one & other)
        assert 1e-5 < binom.cdf(both, len(one), rate**2) < 1 - 1e-5


def exact_square(vector):
    """Squared norm without any rounding."""
    return sum(Fraction(float(x)) ** 2 for x in np.ravel(vector))


@pytest.mark.parametrize("seed", range(4))
def test_no_record_adds_more_than_the_norm(seed):
    """Exactly, in fractions, for records of any size."""
    rng = np.random.default_rng([3, seed])
    clip = float(10 ** rng.uniform(-6, 6))
    for _ in range(30):
        shape = tuple(rng.integers(1, 7, rng.integers(1, 4)))
        size = float(10 ** rng.uniform(-100, 140))
        record = rng.standard_normal(shape) * size
        added = clipped_sum(record[None], clip=clip)
        assert added.shape == shape
        assert exact_square(added) <= Fraction(clip) ** 2
        if exact_square(record) < Fraction(clip * (1 - 2e-9)) ** 2:
            assert np.array_equal(added, record)  # a short one is kept
        else:
            assert np.linalg.norm(added) == pytest.approx(clip, rel=1e-8)


def descend(**changed):
    options: dict[str, Any] = {
        "rng": np.random.default_rng(6),
        "noise_multiplier": 1.5,
        "clip": 0.4,
        "divisor": 8.0,
        "learning_rate": 0.5,
    }
    batches = changed.pop("batches", [np.arange(3)])
    return private_descent(
        lambda w, drawn: np.zeros((len(drawn), *w.shape)),
        np.zeros(20_000),
        batches,
        **options | changed,
    )


@pytest.mark.parametrize("drawn", [[], [0, 1, 2]])
def test_every_step_has_the_noise_that_is_counted(drawn):
    """Also where nobody was drawn."""
    found = descend(batches=[np.array(drawn, dtype=int)])
    deviation = 1.5 * 0.4 * 0.5 / 8.0
    assert kstest(found / deviation, "norm").pvalue > 1e-3


def test_bad_values():
    for wrong in ({"noise_multiplier": -1}, {"divisor": 0}, {"clip": -1}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must"):
            descend(**wrong)
    for gradients in ([[math.nan]], [[math.inf]], "text", [[1.0], [1, 2]]):
        with pytest.raises(ValueError, match="gradients must"):
            clipped_sum(gradients, clip=1)
