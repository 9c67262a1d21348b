"""The parts of a private training run: sampler, clipping, loop, report."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chisquare, kstest

import accountlib as al
from accountlib import training_run
from accountlib.training_run import (
    clipped_sum,
    latex_sentences,
    logistic_gradients,
    poisson_batches,
    private_descent,
)
from tests import ROOT

PAGE = ROOT / "notebooks" / "practice" / "training_run.md"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rate, size", [(0.5, 10), (0.1, 40), (0.03, 300)])
def test_batches_are_poisson_samples(seed, rate, size):
    """Sizes are binomial, records equally often, pairs independent."""
    rng = np.random.default_rng([1, seed])
    steps = 3000
    taken = np.zeros((steps, size), dtype=bool)
    for step, drawn in enumerate(
        poisson_batches(rng, rate=rate, size=size, steps=steps)
    ):
        assert np.all(np.diff(drawn) > 0)
        taken[step, drawn] = True
    sizes = taken.sum(axis=1)
    edges = [k for k in range(size) if steps * binom.pmf(k, size, rate) >= 10]
    counted = [np.sum(sizes == k) for k in edges[1:-1]]
    expected = [steps * binom.pmf(k, size, rate) for k in edges[1:-1]]
    counted += [np.sum(sizes <= edges[0]), np.sum(sizes >= edges[-1])]
    expected += [
        steps * binom.cdf(edges[0], size, rate),
        steps * binom.sf(edges[-1] - 1, size, rate),
    ]
    assert chisquare(counted, expected).pvalue > 1e-4
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


@pytest.mark.parametrize("seed", range(8))
def test_no_record_adds_more_than_the_norm(seed):
    """Exactly, in fractions, for records of any size."""
    rng = np.random.default_rng([3, seed])
    clip = float(10 ** rng.uniform(-6, 6))
    for _ in range(30):
        shape = tuple(rng.integers(1, 7, rng.integers(1, 4)))
        size = float(10 ** rng.uniform(-200, 300))
        record = rng.standard_normal(shape) * size
        added = clipped_sum(record[None], clip=clip)
        assert added.shape == shape
        assert exact_square(added) <= Fraction(clip) ** 2
        if exact_square(record) < Fraction(clip * (1 - 2e-9)) ** 2:
            assert np.array_equal(added, record)  # a short one is kept
        elif size < 1e100:
            assert np.linalg.norm(added) == pytest.approx(clip, rel=1e-8)


def test_gradients_are_those_of_the_loss():
    rng = np.random.default_rng(5)
    inputs, labels = rng.standard_normal((6, 4)), rng.integers(0, 3, 6)
    weights = rng.standard_normal((4, 3))

    def losses(w):
        scores = inputs @ w
        return np.log(np.exp(scores).sum(axis=1)) - scores[range(6), labels]

    found = logistic_gradients(weights, inputs=inputs, labels=labels)
    for i in range(4):
        for j in range(3):
            step = np.zeros((4, 3))
            step[i, j] = 1e-6
            slope = (losses(weights + step) - losses(weights - step)) / 2e-6
            assert np.allclose(found[:, i, j], slope, atol=1e-8)
    large = logistic_gradients(1e6 * weights, inputs=inputs, labels=labels)
    assert np.all(np.isfinite(large))


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


def test_training_without_noise_finds_the_mean():
    """Long clipping norm, quadratic loss: plain gradient descent."""
    rng = np.random.default_rng(7)
    data = rng.standard_normal((50, 3))
    found = private_descent(
        lambda w, drawn: w - data[drawn],
        np.zeros(3),
        poisson_batches(rng, rate=1, size=50, steps=60),
        rng=rng,
        noise_multiplier=0,
        clip=1e6,
        divisor=50,
        learning_rate=0.5,
    )
    assert np.allclose(found, data.mean(axis=0))


RNG = np.random.default_rng(8)


@pytest.mark.parametrize(
    "name, value",
    [("rate", 0), ("rate", 1.1), ("size", 0), ("steps", 2.5), ("rng", 7)],
)
def test_bad_samplers(name, value):
    good = {"rng": RNG, "rate": 0.1, "size": 9, "steps": 9}
    with pytest.raises(ValueError, match=f"{name} must"):
        options = good | {name: value}
        poisson_batches(options.pop("rng"), **options)


def test_bad_values():
    for wrong in ({"noise_multiplier": -1}, {"divisor": 0}, {"clip": -1}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))} must"):
            descend(**wrong)
    for gradients in ([[math.nan]], [[math.inf]], 3.0):
        with pytest.raises(ValueError, match="gradients must"):
            clipped_sum(gradients, clip=1)
    with pytest.raises(ValueError, match="statement must"):
        latex_sentences("text")


def test_sentences_are_on_the_safe_side():
    run = al.Release(al.Gaussian(2.0), al.Poisson(0.05), count=200)
    statement = al.report(
        run,
        adjacency="substitute",
        group_size=2,
        deltas=[3e-7],
        record="a row & its 100% copy",
        notes="none",
    )
    text = latex_sentences(statement)
    assert len(text.splitlines()) == 3
    said = text.split(r"\varepsilon \le ")[1].split("$")[0]
    assert 0 <= float(said) - statement.epsilons[0][1].upper < 1e-2
    said = text.split(r"\mu \le ")[1].split("$")[0]
    assert 0 <= float(said) - statement.fit.mu < 1e-2
    assert r"a row \& its 100\% copy" in text and "2 records are" in text
    assert "exchanged" in text and r"3 \cdot 10^{-7}$" in text
    bounded = al.report(
        al.Release(al.Gaussian(4.0), count=3),
        adjacency="substitute",
        notes="tuned",
    )
    text = latex_sentences(bounded)
    assert text.startswith("What is published consists of 3 releases")
    assert text.endswith("Note: tuned.") and "10^{-10}" not in text
    assert training_run.latex_text("\\^~") == (
        r"\textbackslash{}\textasciicircum{}\textasciitilde{}"
    )
