"""What mechanisms say, what they refuse, and one of a user's own."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

import accountlib as al
from accountlib import DiscretePair, Gaussian, Laplace, MixtureOfGaussians
from accountlib.checks import check, check_fields, check_list
from accountlib.dominating_pairs import (
    DominatingPair,
    ShiftedNoise,
    Subsampled,
    outcomes,
)
from accountlib.mechanisms import AddedNoise, Mechanism
from accountlib.noise import NormalNoise


def test_check_returns_what_was_asked_for():
    assert check("rate", np.array([0, 1]), 0, 1).dtype == float
    assert check("count", 7.0, 1, 1e9, whole=True) == 7
    assert check_list("w", [1, 2], 5) == (1.0, 2.0)
    with pytest.raises(ValueError, match=r"whole number in \[1, 1e9\]"):
        check("count", np.array([1, 2]), 1, 1e9, whole=True)
    with pytest.raises(ValueError, match=r"\[1e-6, 0.5\]"):
        check("relative_width", 1.0, 1e-6, 0.5)

    @dataclass(frozen=True)
    class Record:
        rate: float

    record = Record(1)
    check_fields(record, rate=(0, 1))
    assert type(record.rate) is float


# --- what they say


def test_units_of_added_noise():
    one = ShiftedNoise(NormalNoise(), (0.5,))
    assert Gaussian(2.0).removed(1) == one
    assert Gaussian(4.0).exchanged(1) == one == Gaussian(4.0).removed(2)
    assert Laplace(4.0).exchanged(3).shifts == (1.5,)
    assert al.DiscreteLaplace(2.0, 5).exchanged(2).shifts == (20.0,)
    assert Gaussian.groups and not Laplace.groups
    with pytest.raises(NotImplementedError):
        AddedNoise().removed(1)


def test_what_is_not_known_is_refused_by_name():
    for mechanism in (al.PureDP(1.0), al.ApproximateDP(1.0, 0.1)):
        assert mechanism.exchanged(1) == mechanism.removed(1)
    with pytest.raises(NotImplementedError, match="group_size=2"):
        al.ApproximateDP(1.0, 0.1).removed(2)
    pair = DiscretePair((0.5, 0.5), (0.25, 0.75))
    mixture = MixtureOfGaussians([0, 1], [0.5, 0.5], 1.0)
    for mechanism in (pair, mixture, Mechanism()):
        with pytest.raises(NotImplementedError, match="group_size=2"):
            mechanism.removed(2)
        with pytest.raises(NotImplementedError, match="substitute"):
            mechanism.exchanged(1)
        with pytest.raises(NotImplementedError, match="no added noise"):
            mechanism.moved((1,), (0.0,))


def test_a_pair_is_a_pair_and_a_mechanism():
    pair = DiscretePair((0.5, 0.5), (0.25, 0.75))
    assert isinstance(pair, DominatingPair)
    assert pair.removed(1) == outcomes(pair.p, pair.q)
    at = pair.start()
    assert (
        pair.cells(at).loss.tolist() == pair.removed(1).cells(at).loss.tolist()
    )
    assert pair.reversed() == DiscretePair(pair.q, pair.p)


def test_mixtures():
    one = MixtureOfGaussians((0, 1, 1, 2), (0.5, 0.2, 0.1, 0.2), 2.0)
    pair = one.removed(1)
    assert isinstance(pair, Subsampled) and pair.pair.shifts == (0.5, 1.0)
    assert np.allclose(np.exp(pair.pair.log_weights), [0.6, 0.4], 0, 1e-15)
    assert abs(pair.log_miss - math.log(0.5)) < 1e-15
    sure = MixtureOfGaussians([3], [1], 1).removed(1)
    assert sure == Gaussian(1.0).removed(3)
    rare = MixtureOfGaussians([0, 1], [1 - 1e-12, 1e-12], 1).removed(1)
    assert abs(rare.log_miss / -1e-12 - 1) < 1e-4
