"""Bad calls: a ValueError that names the argument and what is allowed."""

# Wrong kinds are given on purpose.
import inspect
import math
import pickle
import re
from dataclasses import FrozenInstanceError
from enum import Enum
from functools import partial
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib import accountant, gaussian, groups

NAN, INF = math.nan, math.inf
RUN = al.Release(al.Gaussian(1.0))
PAIR = al.Gaussian(1.0).removed(1)
ONE = al.PrivacyLossDistribution(1.0, 0, [0.5, 0.5], 0.0)
REMOVE: dict[str, Any] = {"adjacency": "remove"}
NO_NUMBERS: tuple[Any, ...] = (NAN, None, "0.5", True, 1j)


def calibrated(**changed: Any) -> Any:
    asked = {"epsilon": 1.0, "delta": 1e-6, "low": 1, "high": 9} | changed
    return al.calibrate(lambda n: RUN, whole=True, **asked, **REMOVE)


def line(order: Any) -> Any:
    return np.asarray(order) / 2


NUMBERS: list[tuple[Any, str, tuple[Any, ...]]] = [
    (al.Gaussian, "noise_multiplier", (0.004, 1.1e6, INF, [1.0, 2.0])),
    (al.Laplace, "scale", (0, -1, INF, 2e6)),
    (al.RandomizedResponse, "truth_probability", (-0.1, 1.1)),
    (al.PureDP, "epsilon", (-1, 101, INF)),
    (lambda x: al.ApproximateDP(x, 0.1), "epsilon", (-1, 101)),
    (lambda x: al.ApproximateDP(1, x), "delta", (-1, 2)),
    (al.DiscreteGaussian, "sigma", (0, 0.001, 1e5)),
    (lambda x: al.DiscreteGaussian(1e3, x), "sensitivity", (0, 1.5, 10**400)),
    (al.DiscreteLaplace, "scale", (0, 0.001, 1e7)),
    (lambda x: al.DiscreteLaplace(1.0, x), "sensitivity", (-1, 2e5)),
    (
        lambda x: al.MixtureOfGaussians([0, 1], [0.5, 0.5], x),
        "noise_multiplier",
        (0, INF),
    ),
    (al.Poisson, "rate", (-1e-9, 1.0000001, 1e-300)),
    (lambda x: al.FixedBatch(x, 10), "batch_size", (2.5, -1, 11)),
    (lambda x: al.FixedBatch(1, x), "dataset_size", (2.5, 0)),
    (lambda x: al.Release(al.Gaussian(1), count=x), "count", (0, 2.5, 1e10)),
    (lambda x: al.epsilon(RUN, delta=x, **REMOVE), "delta", (-1e-9, 1e-201)),
    (lambda x: al.delta(RUN, epsilon=x, **REMOVE), "epsilon", (-1, 1001)),
    (
        lambda x: al.epsilon(RUN, delta=0.1, relative_width=x, **REMOVE),
        "relative_width",
        (0, 1, -1),
    ),
    (
        lambda x: al.epsilon(RUN, delta=0.1, group_size=x, **REMOVE),
        "group_size",
        (0, 2.5, 1001),
    ),
    (lambda x: al.Bound(x, 1.0), "lower", (-1,)),
    (lambda x: al.Bound(0.5, x), "upper", (0.4,)),
    (lambda x: gaussian.laplace_delta(0.1, scale=x), "scale", (0, INF)),
    (
        lambda x: al.hockey_stick([0.5, 0.5], [1.0, 0.0], x),
        "alpha",
        (-1, INF),
    ),
    (lambda x: al.discretize(PAIR, step=x), "step", (0, INF, 1e-9)),
    (lambda x: al.self_compose(ONE, x), "count", (0, 1.5, 10**10)),
    (lambda x: al.PrivacyLossDistribution(x, 0, [1], 0), "step", (0,)),
    (
        lambda x: al.PrivacyLossDistribution(1, x, [1], 0),
        "first_index",
        (0.5,),
    ),
    (lambda x: al.PrivacyLossDistribution(1, 0, [x], 0), "mass", (-1e-20,)),
    (
        lambda x: al.PrivacyLossDistribution(1, 0, [1], x),
        "infinity_mass",
        (1.5,),
    ),
    (lambda x: ONE.delta(x), "epsilon", (INF,)),
    (lambda x: ONE.epsilon(x), "delta", (-0.1, 1.1)),
    (lambda x: calibrated(low=x), "low", (0, 1.5)),
    (lambda x: calibrated(high=x), "high", (0.5,)),
    (lambda x: calibrated(epsilon=x), "epsilon", (-1,)),
    (lambda x: al.gdp(RUN, cutoff=x, **REMOVE), "cutoff", (0,)),
    (al.mu_from_pure_dp, "epsilon", (-1, INF)),
    (lambda x: al.mu_from_epsilon_delta(x, delta=0.1), "epsilon", (-1,)),
    (lambda x: al.mu_from_epsilon_delta(1.0, delta=x), "delta", (1.1,)),
    (lambda x: al.gaussian_tradeoff(0.5, mu=x), "mu", (-1,)),
    (lambda x: al.dp_tradeoff(0.5, epsilon=1, delta=x), "delta", (2,)),
    (
        lambda x: al.tradeoff_curve(RUN, **REMOVE)(x),
        "false_positive",
        (1.5,),
    ),
    (
        lambda x: al.tradeoff_curve(RUN, cutoff=x, **REMOVE),
        "cutoff",
        (0.3,),
    ),
    (lambda x: al.report(RUN, deltas=[x], **REMOVE), "delta", (2,)),
    *[
        (curve, "order", (0.99, -2, [2, NAN]))
        for curve in (
            lambda x: al.gaussian_rdp(x, noise_multiplier=1.0),
            lambda x: al.laplace_rdp(x, scale=1.0),
            lambda x: al.randomized_response_rdp(x, truth_probability=0.6),
            lambda x: al.poisson_rdp(x, rdp=line, rate=0.1),
            lambda x: al.without_replacement_rdp(x, rdp=line, rate=0.1),
            lambda x: al.rdp_curve(RUN, **REMOVE)(x),
        )
    ],
    (lambda x: al.poisson_rdp(2, rdp=line, rate=x), "rate", (-0.1, 1.1)),
    (
        lambda x: al.poisson_rdp_terms(9, rdp=line, rate=0.1, terms=x),
        "terms",
        (0, 2.5),
    ),
    (lambda x: al.epsilon_from_rdp(line, delta=x), "delta", (-0.1, 1.1)),
    (lambda x: al.delta_from_rdp(line, epsilon=x), "epsilon", (INF,)),
    (
        lambda x: al.kairouz_epsilon(1.0, delta=0, count=x, slack=0.1),
        "count",
        (0, 2.5, 10**8),
    ),
    (
        lambda x: groups.binomial_sensitivity(x, rate=0.1),
        "group_size",
        (0, 2.5),
    ),
    (lambda x: groups.binomial_sensitivity(2, rate=x), "rate", (-0.1,)),
    (
        lambda x: groups.group_epsilon_vadhan(2, log_delta=line, delta=x),
        "delta",
        (0, 1.1),
    ),
]


@pytest.mark.parametrize(
    ("make", "value", "name"),
    [
        (make, value, name)
        for make, name, more in NUMBERS
        for value in (*NO_NUMBERS, *more)
    ],
)
def test_bad_numbers(make: Any, value: Any, name: str) -> None:
    with pytest.raises(ValueError, match=rf"\b{name}\b.* must.*"):
        make(value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: al.hockey_stick([0.5], [1], 1), "p must sum to 1"),
        (lambda: al.hockey_stick([1], [0.5, 0.5], 1), "same length"),
        (lambda: al.hockey_stick([NAN, 1], [1, 0], 1), r"p must lie in \[0"),
        (lambda: al.DiscretePair([0.5, 0.5], [0.5, 0.4]), "q must"),
        (lambda: al.DiscretePair([0.5, 0.5], [0.5, 0.5 + 1e-11]), "q must"),
        (lambda: al.DiscretePair([1.5, -0.5], [0.5, 0.5]), "p must lie"),
        (lambda: al.DiscretePair("ab", [0.5, 0.5]), "p must lie"),
        (lambda: al.DiscretePair(1.0, 1.0), "p must be a list"),
        (lambda: al.DiscretePair([], []), "p must"),
        (lambda: al.DiscretePair([1.0], [0.5, 0.5]), "same length"),
        (lambda: al.DiscretePair([1.0], None), "q must"),
        (
            lambda: al.MixtureOfGaussians([0, -1], [0.5, 0.5], 1.0),
            "sensitivities",
        ),
        (
            lambda: al.MixtureOfGaussians([0, 1], [0.5, 0.6], 1.0),
            "probabilities",
        ),
        (lambda: al.MixtureOfGaussians([0, 1], [1.0], 1.0), "same length"),
        (lambda: al.MixtureOfGaussians([0, 400], [0.5, 0.5], 1), r"\[2, 1e6"),
        (lambda: al.DiscreteGaussian(1.0, 201), "sigma"),
        (lambda: al.discretize(RUN, step=0.1), "pair must"),
        (lambda: al.discretize(PAIR, step=0.1, bound="above"), "bound must"),
        (lambda: al.self_compose([0.5, 0.5], 2), "distribution"),
        (lambda: al.compose([ONE, None]), "distributions"),
        (lambda: al.PrivacyLossDistribution(1, 0, [], 0), "mass"),
        (lambda: al.PrivacyLossDistribution(1, 0, [1], 0, "x"), "bound"),
        (lambda: al.tradeoff_curve(RUN, bound="x", **REMOVE), "bound must"),
        (lambda: al.explain(RUN, **REMOVE), "epsilon or delta"),
        (lambda: al.Release(0.8), "mechanism must be a Mechanism"),
        (lambda: al.Release(al.Gaussian), "mechanism must be a Mechanism"),
        (lambda: al.Release(al.Gaussian(1), 0.1), "sampling must be a"),
        (lambda: al.epsilon([], delta=0.1, **REMOVE), "releases must be"),
        (lambda: al.epsilon("run", delta=0.1, **REMOVE), "releases must be"),
        (lambda: al.epsilon({RUN}, delta=0.1, **REMOVE), "releases must be"),
        (
            lambda: al.epsilon(al.Gaussian(1.0), delta=0.1, **REMOVE),
            "releases must be",
        ),
        (
            lambda: al.epsilon_from_rdp(line, delta=0.1, conversion="best"),
            "conversion",
        ),
        (lambda: al.epsilon_from_rdp(None, delta=0.1), "rdp must"),
        (
            lambda: al.poisson_rdp([2, 5], rdp=lambda a: -a, rate=0.1),
            "rdp must",
        ),
        (lambda: al.pearson_vajda(2.5, rdp=line), "whole"),
        (
            lambda: groups.hypergeometric_sensitivity(
                3, batch_size=8, dataset_size=10
            ),
            "batch_size",
        ),
        (
            lambda: groups.group_epsilon_vadhan(
                2, log_delta=line, delta=0.1, rule="old"
            ),
            "rule",
        ),
    ],
)
def test_bad_lists_and_kinds(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    "adjacency", ["both", "add/remove", "REPLACE TWO", "", None, 1, ["add"]]
)
def test_bad_adjacency(adjacency: Any) -> None:
    for call in (
        lambda: al.epsilon(RUN, delta=0.1, adjacency=adjacency),
        lambda: al.delta(RUN, epsilon=0.1, adjacency=adjacency),
        lambda: al.rdp_curve(RUN, adjacency=adjacency),
    ):
        with pytest.raises(ValueError, match="adjacency must be"):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: al.epsilon(RUN, delta=0.1),
        lambda: al.epsilon(RUN, 0.1, "remove"),
        lambda: al.rdp_curve(RUN),
        lambda: al.gaussian_rdp(2.0, 1.0),
    ],
)
def test_names_are_needed(call: Any) -> None:
    with pytest.raises(TypeError):
        call()


def test_neighbours_of_other_libraries() -> None:
    for relation, words in {
        "add-or-remove": "add-or-remove ADD_OR_REMOVE_ONE add_remove",
        "substitute": "replace-one REPLACE_ONE replacement REPLACE",
        "zero-out": "REPLACE_SPECIAL zero_out",
    }.items():
        enum: Any = Enum("Relation", words.replace("-", "_"))  # numbers
        for word in (*words.split(), *enum):
            assert al.Adjacency(word) == relation


@pytest.mark.parametrize(
    ("call", "named", "right"),
    [
        (partial(al.Release, al.Gaussian(1.0)), "steps", "count"),
        (al.Gaussian, "sigma", "noise_multiplier"),
        (partial(al.Gaussian, 1.0), "sensitivity", "noise divided by it"),
        (al.Laplace, "noise_multiplier", "scale"),
        (al.Poisson, "sample_rate", "rate"),
        (partial(al.FixedBatch, dataset_size=9), "sample_size", "batch_size"),
        (partial(al.epsilon, RUN, **REMOVE), "target_delta", "delta"),
        (partial(al.delta, RUN, **REMOVE), "target_epsilon", "epsilon"),
        (al.calibrate_noise, "target_epsilon", "epsilon"),
        (partial(al.gdp, RUN), "group", None),
    ],
)
def test_words_of_other_libraries(call: Any, named: str, right: str) -> None:
    with pytest.raises(TypeError, match=f"argument '{named}'") as found:
        call(**{named: 1})
    assert ("did you mean" in str(found.value)) == (right is not None)
    assert right is None or re.search(rf"\b{right}\b", str(found.value))


def test_wrapped_names_are_themselves() -> None:
    assert str(inspect.signature(al.Gaussian)).startswith("(noise_multiplier")
    assert "delta" in inspect.signature(al.epsilon).parameters
    assert accountant.epsilon is al.epsilon and "Formula" in al.epsilon.__doc__
    for one in (RUN, al.epsilon, al.Gaussian, al.Bound(0.0, 1.0)):
        assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(FrozenInstanceError):
        RUN.count = 2  # type: ignore[misc]  # as it must not be


@pytest.mark.parametrize(
    "value", [1, np.float32(0.5), np.int64(1), np.array(0.5)]
)
def test_numbers_of_other_kinds_are_fine(value: Any) -> None:
    """The check rejects what is no number, not what is no float."""
    assert al.Gaussian(value).noise_multiplier == float(value)
    assert al.Poisson(value).rate == float(value)
    assert isinstance(al.epsilon(RUN, delta=value, **REMOVE), al.Bound)
