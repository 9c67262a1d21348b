"""A record that counts for nothing: fixed batches, and others."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from scipy.stats import norm

import accountlib as al
from accountlib.samplers.zeroed import (
    BoundingPair,
    SplicedPair,
    ZeroedHalf,
    zeroed_batch_pair,
)
from accountlib.worst_cases.noise import GaussianPair


def ball(x: float | Fraction) -> arb:
    exact = Fraction(x)
    return arb(fmpq(exact.numerator, exact.denominator))


def place(pair: ZeroedHalf, loss: arb) -> arb:
    """Where a loss above 0 is taken, by the quadratic equation."""
    mu, rate = ball(pair.mu), ball(pair.rate)
    kappa = (-mu * mu).exp() * (1 - rate) / rate
    top = loss.exp()
    root = (top * top + 4 * kappa * (top - 1)).sqrt()
    return 3 * mu / 2 + ((top + root) / 2).log() / mu


def exact_masses(
    pair: ZeroedHalf, loss: float, width: float
) -> tuple[arb, arb]:
    mu, rate = ball(pair.mu), ball(pair.rate)
    ends = [place(pair, x) for x in (ball(loss), ball(loss) + ball(width))]
    root = arb(2).sqrt()
    far = [[((z - k * mu) / root).erfc() / 2 for k in range(3)] for z in ends]
    none, one, two = (a - b for a, b in zip(*far, strict=True))
    return (1 - rate) * none + rate * two, (1 - rate) * none + rate * one


def random_interval(rng, pair: ZeroedHalf) -> tuple[float, float]:
    """A loss somewhere in the tail, and a width."""
    z = abs(rng.normal()) * 10 ** rng.uniform(-3, 1.2)
    w = pair.mu * min(z, 38 + pair.mu)
    square, kappa = np.logaddexp(2 * w, np.log(pair._kappa)), pair._kappa
    loss = float(square - np.logaddexp(w, np.log(kappa)))
    if w < 1e-3:  # by the slope, without cancellation
        loss = w / (1 + kappa)
    size = loss if rng.random() < 0.7 else pair.mu
    width = size * 10 ** rng.uniform(-9, 1)
    return loss, width


@pytest.mark.in_turn(3)
def test_masses_of_intervals_in_balls():
    """2,000 intervals, narrow and wide, to masses of 1e-290."""
    rng = np.random.default_rng(171)
    used = 0.0
    ctx.prec, before = 500, ctx.prec
    try:
        for _ in range(2000):
            mu = min(20.0, 10 ** rng.uniform(-6, 1.4))
            rate = Fraction(int(rng.integers(1, 10**6)), 10**6)
            if rng.random() < 0.4:
                rate = Fraction(1, int(10 ** rng.uniform(1, 30)))
            if rng.random() < 0.1:
                rate = 1 - rate
            pair = ZeroedHalf(mu, rate)
            loss, width = random_interval(rng, pair)
            if pair._kappa < 1e-300 or not loss > 1e-300 or not width > 0:
                continue
            ends = np.array([loss, loss + width])
            if loss + width > loss:
                width = float(Fraction(ends[1]) - Fraction(loss))
            found = pair.interval_masses(ends, np.array([width]), "right")
            exact = exact_masses(pair, loss, width)
            for mass, truth in zip(found, exact, strict=True):
                if float(truth.mid()) < 1e-290:
                    continue
                wrong = abs((ball(float(mass[1])) - truth) / truth)
                limit = pair.mass_error(np.array([float(truth.mid())]))[0]
                used = max(used, float(wrong.mid()) / float(limit))
    finally:
        ctx.prec = before
    assert 0.05 < used < 0.7


@pytest.mark.parametrize("rate", [Fraction(1, 10**6), Fraction(999, 1000)])
@pytest.mark.parametrize("mu", [1e-4, 0.3, 3.0, 15.0])
def test_all_masses_sum_to_one(mu, rate):
    for pair in (zeroed_batch_pair(mu, rate), ZeroedHalf(mu, rate)):
        for one in (pair, pair.reversed()):
            for edges in ([0.0], [-2.0, -1e-9, 0.0, 1e-9, 0.3], [-1e-3, 5.0]):
                for masses in one.masses(edges):
                    assert abs(np.sum(masses) - 1) < 1e-13


def test_the_lower_half_is_a_post_processing():
    """Merged cells never tell more than the outputs themselves."""
    for mu, rate in ((0.5, 0.1), (1.5, 0.5), (3.0, 0.01)):
        pair = ZeroedHalf(mu, Fraction(rate).limit_denominator(100))
        z = np.linspace(-14, 14 + 3 * mu, 200_001)
        p, q = (
            (1 - rate) * norm.pdf(z) + rate * norm.pdf(z - k * mu)
            for k in (2, 1)
        )
        for at in (-0.5, -0.1, -0.01, 0.2, 1.0):
            gap = np.maximum(p - math.exp(at) * q, 0)
            exact = float(np.sum(gap) * (z[1] - z[0]))
            assert pair.delta(at) <= exact + 1e-9
            assert pair.delta(at) >= exact - 5e-4 * max(rate, 0.1)


def composed(half_rate: float, count: int, at: float) -> float:
    """delta of the spliced pair after some steps, on a grid of losses."""
    pair = zeroed_batch_pair(1.0, Fraction(half_rate).limit_denominator(100))
    step, size = 2e-4, 2**17
    edges = (np.arange(size + 1) - size // 2 - 0.5) * step
    p, _ = pair.masses(edges)
    law = np.fft.rfft(np.fft.ifftshift(p[1:-1]))
    total = np.fft.fftshift(np.fft.irfft(law**count))
    losses = (np.arange(size) - size // 2) * step
    gain = np.maximum(1 - np.exp(np.minimum(at - losses, 0)), 0)
    return float(total @ np.where(losses > at, gain, 0))


@pytest.mark.parametrize(("rate", "count"), [(0.1, 10), (0.02, 30)])
def test_compositions_by_a_plain_transform(rate, count):
    sampling = al.FixedBatch(round(rate * 100), 100)
    run = al.Release(al.Gaussian(1.0), sampling, count)
    for at in (0.2, 1.0, 2.0):
        upper = composed(rate, count, at)
        found = al.delta(run, epsilon=at, adjacency="zero-out")
        assert abs(found.upper / upper - 1) < 3e-3
        assert 0.9 * found.upper < found.lower < found.upper


def test_between_removed_and_exchanged():
    rng = np.random.default_rng(172)
    for _ in range(6):
        size = int(rng.integers(2, 1000))
        sampling = al.FixedBatch(int(rng.integers(1, size)), size)
        mechanism = al.Gaussian(10 ** rng.uniform(-0.3, 0.7))
        run = al.Release(mechanism, sampling, int(10 ** rng.uniform(0, 3)))
        at = rng.uniform(0, 2)
        zeroed, exchanged = (
            al.delta(run, epsilon=at, adjacency=side)
            for side in ("zero-out", "substitute")
        )
        poisson = al.Poisson(float(sampling.rate))
        removed = al.delta(
            al.Release(mechanism, poisson, run.count),
            epsilon=at,
            adjacency="add-or-remove",
        )
        assert removed.lower <= zeroed.upper * (1 + 1e-9)
        assert zeroed.lower <= exchanged.upper * (1 + 1e-9)


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    "mechanism",
    [
        al.Laplace(1.0),
        al.DiscreteGaussian(1.0),
        al.DiscreteLaplace(2.0),
        al.RandomizedResponse(0.7),
        al.PureDP(0.5),
        al.Gaussian(0.01),
    ],
)
def test_other_noise_lies_between_a_bound_and_data(mechanism):
    run = al.Release(mechanism, al.FixedBatch(5, 50), 20)
    zeroed = al.epsilon(run, delta=1e-3, adjacency="zero-out")
    exchanged = al.epsilon(run, delta=1e-3, adjacency="substitute")
    beside = al.Release(mechanism, al.Poisson(0.1), 20)
    removed = al.epsilon(beside, delta=1e-3, adjacency="add-or-remove")
    assert zeroed.upper <= exchanged.upper * (1 + 2e-3)
    assert zeroed.lower >= removed.lower * (1 - 2e-3)
    assert zeroed.lower <= zeroed.upper


def test_a_batch_of_all_records():
    run = al.Release(al.Gaussian(1.0), al.FixedBatch(9, 9), 3)
    full = al.Release(al.Gaussian(1.0), count=3)
    one, other = (
        al.epsilon(x, delta=1e-4, adjacency="zero-out") for x in (run, full)
    )
    assert one == other


@pytest.mark.in_turn(3)
def test_the_other_calls():
    run = al.Release(al.Gaussian(1.0), al.FixedBatch(10, 1000), 50)
    both = [run, al.Release(al.Gaussian(5.0), al.Poisson(0.1), 10)]
    assert al.epsilon(both, delta=1e-4, adjacency="zero-out").lower > 0
    fit = al.gdp(run, adjacency="zero-out")
    curve = al.tradeoff_curve(run, adjacency="zero-out")
    assert fit.mu > 0 and 0 < curve(0.1) < 0.9
    assert "zero-out" in str(al.report(run, adjacency="zero-out"))
    told = al.explain(run, delta=1e-4, adjacency="zero-out")
    assert told.reached


def test_what_is_refused():
    run = al.Release(al.Gaussian(1.0), al.FixedBatch(10, 1000))
    with pytest.raises(NotImplementedError, match="group_size=2"):
        al.epsilon(run, delta=1e-4, adjacency="zero-out", group_size=2)
    own = al.Release(al.DiscretePair((1.0,), (1.0,)), al.FixedBatch(1, 9))
    with pytest.raises(NotImplementedError):
        al.epsilon(own, delta=1e-4, adjacency="zero-out")
    for mu, rate in ((0.0, Fraction(1, 2)), (30.0, Fraction(1, 2))):
        with pytest.raises(ValueError, match="mu"):
            ZeroedHalf(mu, rate)
    for wrong in (Fraction(0), Fraction(1), 0.5):
        with pytest.raises(ValueError, match="rate"):
            ZeroedHalf(1.0, wrong)
    pair = GaussianPair(1.0)
    with pytest.raises(ValueError, match="half"):
        SplicedPair(0.5, 0.1, pair)
    with pytest.raises(ValueError, match="other"):
        SplicedPair(pair, 0.1, 0.5)
    coin = al.DiscretePair((0.9, 0.1), (0.4, 0.6))
    for half, center in (
        (pair, 1.5),
        (pair, 0.1),
        (coin, 0.0),  # with its mirror image it has too much mass
    ):
        with pytest.raises(ValueError, match="center"):
            SplicedPair(half, center, half)
    with pytest.raises(ValueError, match="below"):
        BoundingPair(pair, (0.5,))


def test_a_bound_and_what_is_reached_go_together():
    pair = BoundingPair(GaussianPair(2.0), (GaussianPair(1.0),))
    edges = np.array([-1.0, 0.5, 3.0])
    for one in (pair, pair.reversed()):
        assert isinstance(one, BoundingPair) and one.atoms == ()
        other = one.pair
        for mine, theirs in zip(
            one.masses(edges), other.masses(edges), strict=True
        ):
            assert np.array_equal(mine, theirs)
    assert pair.reversed().reached == (GaussianPair(1.0).reversed(),)
    assert pair.reversed().reversed() == pair


def test_directions_are_named_by_what_they_mean():
    run = al.Release(al.Gaussian(1.0), al.FixedBatch(10, 100), count=3)
    told = al.explain(run, delta=1e-5, adjacency="zero-out")
    assert told.names == ("record against nothing", "nothing against record")
    assert "remove" not in str(told) and "add" not in told.names
    full = al.explain(
        al.Release(al.Gaussian(1.0)), delta=1e-5, adjacency="zero-out"
    )
    assert full.names == ("record against nothing and nothing against record",)


def test_a_refusal_does_not_speak_of_another_question():
    own = al.DiscretePair((0.7, 0.3), (0.3, 0.7))
    run = al.Release(own, al.FixedBatch(10, 100))
    with pytest.raises(NotImplementedError) as refusal:
        al.delta(run, epsilon=1.0, adjacency="zero-out")
    assert "zero-out" in str(refusal.value)
    assert "substitut" not in str(refusal.value)
