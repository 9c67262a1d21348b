"""Shuffled epochs: attacks below, a full batch above."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy.special import ndtr

import accountlib as al
from accountlib.samplers.shuffles import (
    largest_output_masses,
    largest_output_pair,
)
from accountlib.worst_cases.noise import GaussianPair


def shuffle(noise: float, batches: int, epochs: int = 1) -> al.Release:
    return al.Release(al.Gaussian(noise), al.ShuffledEpochs(batches), epochs)


def phi(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


@pytest.mark.parametrize("batches", [1, 2, 100, 10**7])
@pytest.mark.parametrize("move", [(0, 1.0), (1, 0.01), (2, 1.3), (2, 20.0)])
def test_cells_of_the_largest_output_in_balls(batches, move):
    k, mu = move
    places = np.linspace(-4, 9 + 2 * mu, 90)
    found = largest_output_masses(places, k, mu, batches)
    ctx.prec, before = 4000, ctx.prec
    try:
        below = [
            phi(arb(c)) ** (batches - 1) * phi(arb(c) - k * arb(mu))
            for c in places.tolist()
        ]
        cells = zip([arb(0), *below], [*below, arb(1)], strict=True)
        for mass, (low, high) in zip(found.tolist(), cells, strict=True):
            exact = high - low
            if float(exact.mid()) > 1e-250:
                assert abs((arb(mass) - exact) / exact) < 1e-11
    finally:
        ctx.prec = before


# sigma, epsilon, batches, the best threshold
KNOWN = [
    (0.5, 1.0, 100, 0.4738234),
    (0.5, 4.0, 100, 0.08349079),
    (0.4, 4.0, 100, 0.2435864),
    (0.4, 4.0, 1000, 0.2415405),
    (1.0, 1.0, 100, 0.01670580),
    (1.0, 0.5, 1000, 4.331942e-3),
]


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(("sigma", "at", "batches", "known"), KNOWN)
def test_one_epoch_between_threshold_and_full_batch(sigma, at, batches, known):
    found = al.delta(shuffle(sigma, batches), epsilon=at, adjacency="zero-out")
    assert found.lower > known * (1 - 2e-3)
    full = al.gaussian_delta(at, mu=1 / sigma)
    assert found.lower < full <= found.upper < full * (1 + 1e-3)


@pytest.mark.parametrize(("sigma", "at"), [(1.0, 0.5), (0.5, 1.0), (0.5, 2.0)])
def test_two_batches_by_quadrature(sigma, at):
    """The likelihood ratio of both outputs is the best attack there is."""
    line = np.linspace(-8, 8 + 2 / sigma, 1401)
    x, y = np.meshgrid(line, line)

    def both(k):
        one, other = (
            np.exp(-((u - k / sigma) ** 2 + v**2) / 2)
            for u, v in ((x, y), (y, x))
        )
        return (one + other) / (4 * math.pi)

    cell = (line[1] - line[0]) ** 2
    for first, second in ((2, 1), (1, 2)):
        gap = np.maximum(both(first) - math.exp(at) * both(second), 0)
        best = float(np.sum(gap) * cell)
        pair = largest_output_pair(1 / sigma, 2)
        pair = pair if first == 2 else pair.reversed()
        assert 0.9 * best < pair.delta(at) < best * (1 + 1e-4)
        found = al.delta(shuffle(sigma, 2), epsilon=at, adjacency="zero-out")
        assert found.upper > best


def test_attacks_on_real_shuffles():
    """Play thresholds for the largest output against shuffled numbers."""
    rng = np.random.default_rng(173)
    number, epochs = 100_000, 2
    lowest = []
    for value in (1.0, 0.0):
        data = np.append(np.full(11, -1.0), value)
        shape = (number * epochs, 12)
        order = rng.permuted(np.broadcast_to(data, shape).copy(), axis=1)
        sums = order.reshape(number, epochs, 4, 3).sum(axis=3) + 3
        outputs = sums + rng.standard_normal(sums.shape) / 2
        lowest.append(np.min(np.max(outputs, axis=2), axis=1))
    found = al.delta(shuffle(0.5, 4, 2), epsilon=1.0, adjacency="zero-out")
    for c in (1.0, 1.5, 2.0):
        with_it, without = (float(np.mean(x > c)) for x in lowest)
        assert with_it - math.e * without < found.upper + 0.01
    # in theory: both maxima exceed c
    one, other = (
        (1 - ndtr(2 * c) ** 3 * ndtr(2 * c - 2 * k)) ** 2 for k in (2, 1)
    )
    assert abs(with_it - one) < 0.01 and abs(without - other) < 0.01


def test_exchanged_records_hide_like_allocated_ones():
    """A lower end with half the noise, since the move is 2."""
    for epochs in (1, 5):
        found = al.epsilon(
            shuffle(1.6, 50, epochs), delta=1e-5, adjacency="substitute"
        )
        half = al.Release(al.Gaussian(0.8), al.RandomAllocation(50), epochs)
        known = al.epsilon(half, delta=1e-5, adjacency="add-or-remove")
        full = al.epsilon(
            al.Release(al.Gaussian(1.6), count=epochs),
            delta=1e-5,
            adjacency="substitute",
        )
        assert abs(found.lower / known.lower - 1) < 2e-3
        assert abs(found.upper / full.upper - 1) < 2e-3


def test_larger_runs_have_larger_answers():
    values = [
        [
            al.epsilon(shuffle(1.0, 20, e), delta=1e-4, adjacency="zero-out")
            for e in (1, 3, 9)
        ],
        [
            al.epsilon(shuffle(s, 20, 3), delta=1e-4, adjacency="zero-out")
            for s in (4.0, 1.0, 0.3)
        ],
    ]
    for bounds in values:
        for one, other in zip(bounds, bounds[1:], strict=False):
            assert one.lower < other.lower and one.upper < other.upper


@pytest.mark.parametrize("mechanism", [al.Laplace(1.0), al.PureDP(0.5)])
def test_other_mechanisms(mechanism):
    run = al.Release(mechanism, al.ShuffledEpochs(10), 3)
    for side in ("zero-out", "substitute"):
        found = al.epsilon(run, delta=1e-3, adjacency=side)
        full = al.epsilon(
            al.Release(mechanism, count=3), delta=1e-3, adjacency=side
        )
        assert 0 < found.lower < found.upper <= full.upper * (1 + 2e-3)


def test_one_batch_is_a_full_batch():
    for side in ("zero-out", "substitute", "remove"):
        one, full = (
            al.epsilon(run, delta=1e-4, adjacency=side)
            for run in (
                shuffle(1.0, 1, 3),
                al.Release(al.Gaussian(1.0), count=3),
            )
        )
        assert one == full


def test_the_other_calls():
    run = shuffle(1.0, 20, 3)
    fit = al.gdp(run, adjacency="zero-out")
    curve = al.tradeoff_curve(run, adjacency="zero-out")
    assert fit.mu > 0 and 0 < curve(0.1) < 0.9
    assert 0.1 < fit.mu_lower < 0.95 * fit.mu  # a gap of the theory
    assert "Shuffled" in str(al.report(run, adjacency="zero-out"))
    both = [run, al.Release(al.Gaussian(5.0), al.Poisson(0.1), 10)]
    bound = al.epsilon(both, delta=1e-4, adjacency="zero-out")
    assert 0 < bound.lower < bound.upper


def test_what_is_refused():
    run = shuffle(1.0, 20)
    for side in ("add", "remove", "add-or-remove"):
        with pytest.raises(NotImplementedError, match="another number"):
            al.epsilon(run, delta=1e-4, adjacency=side)
    for side in ("zero-out", "substitute"):
        with pytest.raises(NotImplementedError, match="group_size=2"):
            al.epsilon(run, delta=1e-4, adjacency=side, group_size=2)
    for wrong in (0, 1.5, 10**8, "many"):
        with pytest.raises(ValueError, match="batches"):
            al.ShuffledEpochs(wrong)
    with pytest.raises(ValueError, match="mu"):
        largest_output_pair(0.0, 10)
    with pytest.raises(ValueError, match="batches"):
        largest_output_pair(1.0, 0)
    one, full = largest_output_pair(1.0, 1), GaussianPair(1.0)
    assert one.delta(0.5) < full.delta(0.5)


def test_an_upper_end_where_no_attack_is_at_hand():
    """Losses too large for a law of ratios, and moves too small for cells."""
    for mechanism in (al.Gaussian(0.04), al.Laplace(0.003), al.Gaussian(1e7)):
        run = al.Release(mechanism, al.ShuffledEpochs(100))
        full = al.Release(mechanism)
        for side in ("zero-out", "substitute"):
            found, known = (
                al.epsilon(x, delta=1e-6, adjacency=side) for x in (run, full)
            )
            assert abs(found.upper - known.upper) <= 2e-3 * known.upper
            assert found.lower == 0  # nothing is claimed
