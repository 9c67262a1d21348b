"""Records of other libraries, read and held against what these answer."""

from collections import OrderedDict
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.beyond.event_pairs import PairsOnly, response_pairs
from accountlib.beyond.other_libraries import (
    REFUSED,
    from_dp_event,
    from_opacus,
)


def event(name: str, **fields: Any) -> SimpleNamespace:
    """An imitation of an event."""
    return SimpleNamespace(class_name=f"{name}DpEvent", **fields)


def gaussian(noise: float) -> SimpleNamespace:
    return event("Gaussian", noise_multiplier=noise)


def poisson(rate: float, inside: Any) -> SimpleNamespace:
    return event("PoissonSampled", sampling_probability=rate, event=inside)


def batch(drawn: int, size: int, inside: Any) -> SimpleNamespace:
    sizes = {"sample_size": drawn, "source_dataset_size": size}
    return event("SampledWithoutReplacement", **sizes, event=inside)


def times(count: float, inside: Any) -> SimpleNamespace:
    return event("SelfComposed", event=inside, count=count)


ONE, LAPLACE = gaussian(1.0), event("Laplace", noise_multiplier=1.0)
TWO = event("Composed", events=[ONE, ONE])


# --- Opacus


def test_all_forms_of_a_history_are_one() -> None:
    """What an accountant of Opacus 1.6.0 keeps, and files of it."""
    history = [(1.0, 0.01, 2), (2.0, 0.01, 1), (1.0, 0.01, 1)]
    expected = [
        al.Release(al.Gaussian(noise), al.Poisson(rate), count)
        for noise, rate, count in history
    ]
    for form in (
        SimpleNamespace(history=history),
        OrderedDict(history=history, mechanism="prv"),
        {"history": [list(x) for x in history]},
        [tuple(map(np.float64, x)) for x in history],
    ):
        assert from_opacus(form) == expected


def test_bad_histories() -> None:
    for history in (
        None,
        {"mechanism": "rdp"},
        [(1.0, 0.01)],
        [(0.0, 0.01, 500)],
        [(1.0, 1.5, 500)],
        [(1.0, 0.01, 2.5)],
        [("1.0", 0.01, 5)],
    ):
        with pytest.raises(ValueError, match="history"):
            from_opacus(history)
    with pytest.raises(ValueError, match=r"engine\.accountant\.history"):
        from_opacus(SimpleNamespace(accountant=None))


# --- Trees


@pytest.mark.parametrize("adjacency", ["zero-out", "substitute"])
def test_nothing_is_told(adjacency: Any) -> None:
    for tree in (
        event("NoOp"),
        event("Composed", events=[]),
        times(0, ONE),
        poisson(0.5, event("NoOp")),
        poisson(0.0, LAPLACE),
        batch(0, 10, LAPLACE),
        batch(0, 1, ONE),
        event("RandomizedResponse", noise_parameter=0.5, num_buckets=1),
    ):
        releases = from_dp_event(tree, adjacency=adjacency)
        found = al.epsilon(releases, delta=0.0, adjacency=adjacency)
        assert found.lower == 0 and found.upper < 1e-13


def only(noise: Any) -> PairsOnly:
    return PairsOnly(noise.removed(1), noise.exchanged(1))


def test_every_leaf_has_its_mechanism() -> None:
    mixture = {"sensitivities": [0, 1], "sampling_probs": [0.75, 0.25]}
    for name, fields, mechanism in (
        ("Gaussian", {"noise_multiplier": 2.0}, al.Gaussian(2.0)),
        ("Laplace", {"noise_multiplier": 2.0}, only(al.Laplace(2.0))),
        (
            "DiscreteLaplace",
            {"noise_parameter": 0.5, "sensitivity": 3},
            only(al.DiscreteLaplace(2.0, 3)),
        ),
        (
            "DiscreteGaussian",
            {"sigma": 2.0, "sensitivity": 1.0, "dimension": 1},
            al.DiscreteGaussian(2.0, 1),
        ),
        (
            "MixtureOfGaussians",
            {"standard_deviation": 2.0, **mixture},
            al.MixtureOfGaussians([0, 1], [0.75, 0.25], 2.0),
        ),
        (
            "RandomizedResponse",
            {"noise_parameter": 0.5, "num_buckets": 4},
            response_pairs(0.5, 4),
        ),
    ):
        (found,) = from_dp_event(event(name, **fields), adjacency="zero-out")
        assert found.mechanism == mechanism
    known = event("EpsilonDelta", epsilon=1.0, delta=1e-5)
    (found,) = from_dp_event(known, adjacency="substitute")
    assert found.mechanism == al.ApproximateDP(1.0, 1e-5)


def test_samplers() -> None:
    tree = batch(10, 100, gaussian(2.0))
    (release,) = from_dp_event(tree, adjacency="substitute")
    assert release == al.Release(al.Gaussian(2.0), al.FixedBatch(10, 100))
    cut = event(
        "TruncatedSubsampledGaussian",
        dataset_size=100,
        sampling_probability=0.1,
        truncated_batch_size=15,
        noise_multiplier=2.0,
    )
    cut.class_name = cut.class_name.encode()  # as a file may have it
    (release,) = from_dp_event(cut, adjacency="add-or-remove")
    sampling = al.TruncatedPoisson(0.1, 15, 100)
    assert release == al.Release(al.Gaussian(2.0), sampling)


@pytest.mark.parametrize("name", sorted({*REFUSED} - {"NoOpDpEvent"}))
def test_refused_by_name(name: str) -> None:
    tree = poisson(0.5, SimpleNamespace(class_name=name))
    with pytest.raises(NotImplementedError, match=name) as found:
        from_dp_event(tree, adjacency="add-or-remove")
    assert ("without a sample" in str(found.value)) == (name == "ZCDpEvent")


@pytest.mark.parametrize(
    ("tree", "adjacency"),
    [
        (event("RandomizedResponse"), "add-or-remove"),
        (event("MixtureOfGaussians"), "substitute"),
        (event("DiscreteGaussian"), "substitute"),
        (event("DiscreteGaussian", sigma=1.0, dimension=None), "add"),
        (gaussian, "add"),
        (event("Gaussian2", noise_multiplier=1.0), "add"),
        (poisson(0.5, poisson(0.5, ONE)), "add"),
        (poisson(0.5, event("EpsilonDelta", epsilon=1.0, delta=0.0)), "add"),
        (poisson(0.5, LAPLACE), "substitute"),
        (poisson(0.5, TWO), "substitute"),
        (poisson(0.5, times(2, LAPLACE)), "add"),
    ],
)
def test_not_covered(tree: Any, adjacency: Any) -> None:
    with pytest.raises(NotImplementedError) as found:
        from_dp_event(tree, adjacency=adjacency)
    assert "PairsOnly" not in str(found.value)


def test_a_sample_of_all_records() -> None:
    for adjacency in ("add", "remove", "add-or-remove"):
        with pytest.raises(ValueError, match=r"sample_size .* in \[0, 9\]"):
            from_dp_event(batch(10, 10, ONE), adjacency=adjacency)
    for adjacency in ("zero-out", "substitute"):
        run = from_dp_event(batch(10, 10, ONE), adjacency=adjacency)
        assert al.epsilon(run, delta=1e-6, adjacency=adjacency).upper < 11


@pytest.mark.parametrize(
    "tree",
    [
        event("NonPrivate"),
        event("Gaussian"),
        gaussian(0.0),
        event("Laplace", noise_multiplier=-1.0),
        times(1.5, ONE),
        event("SelfComposed", count=1),
        poisson(1.5, ONE),
        event("RandomizedResponse", noise_parameter=0.0, num_buckets=2),
        event("DiscreteLaplace", noise_parameter=0.0, sensitivity=1),
        event("Composed", events=[ONE, gaussian(-1.0)]),
    ],
)
def test_bad_events(tree: Any) -> None:
    with pytest.raises(ValueError, match="must"):
        from_dp_event(tree, adjacency="zero-out")


# --- The pairs


@pytest.mark.parametrize("buckets", [2, 3, 10, 10**6])
@pytest.mark.parametrize("noise", [1e-12, 0.1, 0.5, 1 - 1e-12, 1.0])
def test_answers_out_of_many(noise: float, buckets: int) -> None:
    """Two true answers, the others; against uniform answers, both ways."""
    lie = Fraction(noise) / buckets
    truth, same = 1 - Fraction(noise) + lie, Fraction(1, buckets)
    exchange = [(truth, lie, 1), (lie, truth, 1), (lie, lie, buckets - 2)]
    pair = [(truth, same, 1), (lie, same, buckets - 1)]
    found = response_pairs(noise, buckets)
    for made, rows in ((found.exchange, exchange), (found.pair, pair)):
        both = np.exp(np.array(made.rows)[:, 2:].T)
        for alpha, way in product((1.0, 1.25, 3.0, 1000.0), (1, -1)):
            exact = sum(
                n * max(x - Fraction(alpha) * y, Fraction(0))
                for *law, n in rows
                for x, y in [law[::way]]
            )
            p, q = both[::way]
            value = np.maximum(p - alpha * q, 0).sum()
            assert abs(value - float(exact)) < 4e-15
