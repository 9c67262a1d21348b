"""Noise on the integers against sums in high precision."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib.worst_cases import integer_noise
from tests.gaussian_dp.exact_runs import integer_pair

# --- noise on the integers has no end -------------------------------------


def integer_delta(sigma, shift, epsilon):
    """delta of one run of discrete Gaussian noise, in 60 digits."""
    with mp.workdps(60):
        square = 2 * mp.mpf(sigma) ** 2
        first = math.floor(epsilon * float(square) / (2 * shift) + shift / 2)
        first -= 2
        reach = math.ceil(12 * sigma)
        total = mp.nsum(
            lambda z: mp.exp(-(mp.mpf(z) ** 2) / square), [-mp.inf, mp.inf]
        )
        parts = []
        for z in range(first, max(first, shift) + 4 * reach + 40):
            p = mp.exp(-(mp.mpf(z - shift) ** 2) / square)
            q = mp.exp(-(mp.mpf(z) ** 2) / square)
            parts.append(max(p - mp.exp(epsilon) * q, mp.mpf(0)))
        return mp.fsum(parts) / total


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    ("sigma", "shift", "epsilon"),
    [(1.0, 15, 480.0), (0.5, 10, 590.0), (37.0, 1, 1.01), (5.0, 200, 900.0)],
)
def test_integer_noise_has_no_infinite_loss(sigma, shift, epsilon):
    """The cut tail counted as infinite: 3.34e-126 for 7.65e-137."""
    run = al.Release(al.DiscreteGaussian(sigma, shift))
    found = al.delta(run, epsilon=epsilon, adjacency="remove")
    exact = integer_delta(sigma, shift, epsilon)
    assert found.lower <= exact <= found.upper
    pair = run.mechanism.pair()
    if exact > 1e-290:
        assert abs(pair.delta(epsilon) / exact - 1) < 1e-9
    assert pair.infinite_mass == (0, 0) and pair.reversed() == pair
    zero = al.epsilon(run, delta=0, adjacency="add-or-remove")
    assert zero == al.Bound(math.inf, math.inf)


def test_integer_noise_at_tiny_deltas():
    """Findings: [inf, inf] for 502.498 and for 600."""
    for mechanism, size, delta, truth_ in [
        (al.DiscreteGaussian(1.0), 15, 1e-150, 502.498),
        (al.DiscreteGaussian(0.5, 10), 1, 1e-100, 600.0),
    ]:
        found = al.epsilon(
            al.Release(mechanism),
            delta=delta,
            adjacency="remove",
            group_size=size,
        )
        assert found.lower <= truth_ + 1e-3
        assert truth_ - 1e-3 <= found.upper < truth_ + 1
    run = al.Release(al.DiscreteGaussian(0.6963789918827412), count=5)
    found = al.delta(run, epsilon=155.688, adjacency="remove")
    assert found.lower < 5e-303
    group = al.Release(al.DiscreteGaussian(5.0))
    found = al.epsilon(group, delta=1e-5, adjacency="remove", group_size=200)
    assert 900 < found.lower <= found.upper < 1000


def test_integer_noise_in_the_middle_of_a_large_table():
    """Sums of hundreds of thousands of outcomes, in pairs of floats."""
    pair = integer_noise.IntegerGaussianPair(1e4, 1)
    edges = np.array(pair.atoms[380_000:390_000:1000])
    found, _ = pair.masses(edges)
    square = 2 * 1e4**2
    for k in range(1, len(edges)):
        last = round(edges[k] * square / 2 + 0.5)
        places = np.arange(last - 999, last + 1) - 1
        exact = math.fsum(np.exp(-(places.astype(float) ** 2) / square))
        exact /= 1e4 * math.sqrt(2 * math.pi)  # to 80 digits: Poisson
        assert abs(found[k] / exact - 1) < 1e-14


@given(
    terms=st.lists(st.floats(1e-290, 1e200), min_size=1, max_size=60),
)
@settings(max_examples=100, deadline=None, derandomize=True)
def test_running_sums_are_nearly_exact(terms):
    high, low = integer_noise.running_sums(np.array(terms))
    for n in range(len(terms) + 1):
        exact = sum(map(F, terms[:n]))
        assert abs(F(high[n]) + F(low[n]) - exact) <= exact * F(2) ** -90


BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}


# --- noise on the integers --------------------------------------------------


INTEGER_NOISE = [
    al.DiscreteGaussian(0.3),
    al.DiscreteGaussian(1.0),
    al.DiscreteGaussian(1.7, 3),
    al.DiscreteGaussian(6.0, 2),
    al.DiscreteLaplace(0.25),
    al.DiscreteLaplace(1.0, 4),
    al.DiscreteLaplace(4.0),
    al.DiscreteLaplace(5.0, 7),
]


@pytest.mark.parametrize("mechanism", INTEGER_NOISE)
def test_integer_noise_against_sums(mechanism):
    pair = mechanism.pair()
    with mp.workdps(40):
        p, q = integer_pair(mechanism)
        for epsilon in (-4.0, -0.5, 0.0, 0.1, 0.7, 2.0, 5.0):
            alpha = mp.exp(mp.mpf(epsilon))
            known = mp.fsum(
                max(a - alpha * b, 0) for a, b in zip(p, q, strict=True)
            )
            assert abs(pair.delta(epsilon) - known) <= 1e-13
            if known > 1e-40:
                assert abs(pair.delta(epsilon) / known - 1) <= 1e-9


@pytest.mark.parametrize("mechanism", INTEGER_NOISE)
def test_integer_noise_is_symmetric(mechanism):
    pair = mechanism.pair()
    assert pair == pair.reversed()
    losses = np.array(pair.atoms)
    assert losses == pytest.approx(-losses[::-1], rel=1e-12, abs=1e-15)
    ways = al.dominating_pairs(
        mechanism, sampling=al.FullBatch(), adjacency="add-or-remove"
    )
    assert ways == (pair, pair)


@pytest.mark.parametrize("kind", [al.DiscreteGaussian, al.DiscreteLaplace])
def test_sensitivity_groups_and_exchanges(kind):
    """A group of g moves the count by g k; an exchange by 2 k."""
    for shift in (1, 3):
        for size in (2, 4):
            (group,) = al.dominating_pairs(
                kind(2.0, shift),
                sampling=al.FullBatch(),
                adjacency="remove",
                group_size=size,
            )
            assert group == kind(2.0, shift * size).pair()
        assert kind(2.0, shift).exchange_pair() == kind(2.0, 2 * shift).pair()


@pytest.mark.parametrize("kind", [al.DiscreteGaussian, al.DiscreteLaplace])
def test_larger_shifts_dominate(kind):
    for shift in range(1, 9):
        one, two = kind(2.0, shift).pair(), kind(2.0, shift + 1).pair()
        for epsilon in (-1.0, 0.0, 1.0):
            assert one.delta(epsilon) <= two.delta(epsilon) + 1e-15
        assert one.delta(0.0) < two.delta(0.0)


def test_discrete_laplace_losses():
    pair = al.DiscreteLaplace(2.0, 3).pair()
    assert pair.atoms == pytest.approx([-1.5, -0.5, 0.5, 1.5], rel=1e-14)


@pytest.mark.parametrize(
    ("mechanism", "count", "deltas"),
    [
        (al.DiscreteGaussian(1.3), 3, (1e-2, 1e-5, 1e-9)),
        (al.DiscreteGaussian(3.0, 2), 2, (1e-2, 1e-5, 1e-9)),
        (al.DiscreteLaplace(4.0, 2), 20, (0.1, 1e-2, 1e-3)),
    ],
)
def test_epsilon_of_integer_noise_by_convolution(mechanism, count, deltas):
    p, q = (np.array([float(v) for v in w]) for w in integer_pair(mechanism))
    seen = (p > 1e-30) & (q > 1e-30)
    loss, mass = np.log(p[seen] / q[seen]), p[seen]
    losses, masses = np.zeros(1), np.ones(1)
    for _ in range(count):  # equal losses are joined
        total = np.add.outer(losses, loss).ravel().round(9)
        product = np.multiply.outer(masses, mass).ravel()
        losses, where = np.unique(total, return_inverse=True)
        masses = np.bincount(where.ravel(), product).astype(float)

    def delta_at(epsilon):
        excess = -np.expm1(np.minimum(epsilon - losses, 0))
        return math.fsum(masses * excess)

    for delta in deltas:
        run = al.Release(mechanism, count=count)
        bound = al.epsilon(run, delta=delta, **BOTH)
        assert delta_at(bound.lower - 1e-7) >= delta
        assert delta_at(bound.upper + 1e-7) <= delta
        assert bound.width <= 2e-3


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("size", [0.4, 1.0, 7.3])
def test_integer_noise_by_definition(size, sensitivity):
    z = np.arange(-400, 401)
    laws: dict[Any, Any] = {
        al.DiscreteGaussian(size, sensitivity): -((z / size) ** 2) / 2,
        al.DiscreteLaplace(size, sensitivity): -np.abs(z) / size,
    }
    for mechanism, log_weights in laws.items():
        weights = np.exp(log_weights)
        q = np.append(weights, np.zeros(sensitivity)) / math.fsum(weights)
        p = np.roll(q, sensitivity)
        pair = mechanism.pair()
        assert pair == pair.reversed()
        for epsilon in (-1.0, 0.0, 0.3, 2.0):
            exact = math.fsum(np.maximum(p - math.exp(epsilon) * q, 0))
            assert pair.delta(epsilon) == pytest.approx(exact, abs=1e-12)
        twice = replace(mechanism, sensitivity=2 * sensitivity).pair()
        assert mechanism.exchange_pair() == twice
        (grouped,) = al.dominating_pairs(
            mechanism,
            sampling=al.FullBatch(),
            adjacency="remove",
            group_size=2,
        )
        assert grouped == twice
