"""Groups: weights in fractions, answers at both ends."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from fractions import Fraction
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import accountlib as al
from accountlib.several import groups

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}


# --- weights ----------------------------------------------------------------


@given(st.integers(1, 60), st.fractions(0, 1))
def test_binomial_weights_in_fractions(size, rate):
    rate = Fraction(float(rate))
    values, weights = groups.binomial_sensitivity(size, rate=float(rate))
    assert np.array_equal(values, np.arange(size + 1))
    assert abs(math.fsum(weights) - 1) <= 1e-14
    for j, weight in enumerate(weights):
        exact = math.comb(size, j) * rate**j * (1 - rate) ** (size - j)
        if exact > Fraction(1, 10**290):
            assert abs(weight / exact - 1) <= 1e-13, j


@given(st.integers(1, 40), st.integers(1, 500), st.integers(0, 10**6))
def test_hypergeometric_weights_in_fractions(size, batch, more):
    records = size + batch + more
    values, weights = groups.hypergeometric_sensitivity(
        size, batch_size=batch, dataset_size=records
    )
    assert np.array_equal(values, 2 * np.arange(min(size, batch) + 1))
    assert abs(math.fsum(weights) - 1) <= 1e-14
    mean = 2 * batch * size / records
    assert weights @ values == pytest.approx(mean, rel=1e-12)
    for j, weight in enumerate(weights):
        exact = Fraction(
            math.comb(size, j) * math.comb(records - size, batch - j),
            math.comb(records, batch),
        )
        if exact > Fraction(1, 10**290):
            assert abs(weight / exact - 1) <= 1e-12, j


@pytest.mark.parametrize("size", [1, 8, 64, 1000])
@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.3, 0.999])
def test_means_of_the_weights(size, rate):
    values, weights = groups.binomial_sensitivity(size, rate=rate)
    assert abs(math.fsum(weights) - 1) <= 1e-14
    assert weights @ values == pytest.approx(size * rate, rel=1e-11)


# --- answers ----------------------------------------------------------------


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_more_people_more_loss(direction):
    for sampling in (al.Poisson(0.05), al.FixedBatch(5, 100), al.FullBatch()):
        run = al.Release(al.Gaussian(3.0), sampling, count=50)
        before = 0.0
        for size in (1, 2, 3, 5, 9, 20):
            bound = al.epsilon(
                run, delta=1e-5, adjacency=direction, group_size=size
            )
            assert bound.upper > before, (sampling, size)
            before = bound.lower


@pytest.mark.parametrize("size", [2, 7, 64])
def test_full_batches_and_sampled_everybody(size):
    """Noise sigma/k: closed form."""
    for sampling in (al.FullBatch(), al.Poisson(1.0)):
        run = al.Release(al.Gaussian(20.0), sampling, count=9)
        bound = al.epsilon(run, delta=1e-6, group_size=size, **BOTH)
        exact = al.gaussian_epsilon(1e-6, mu=3 * size / 20)
        assert bound.contains(exact)


def test_small_delta_for_groups():
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.01), count=2000)
    before = 0.0
    for delta in (1e-6, 1e-20, 1e-50, 1e-100):
        bound = al.epsilon(run, delta=delta, group_size=4, **BOTH)
        assert bound.width <= 1e-3 and bound.lower > before
        before = bound.upper


def test_other_mechanisms_without_sampling():
    laplace = al.Release(al.Laplace(6.0), count=3)
    assert al.epsilon(laplace, delta=0, group_size=4, **BOTH).contains(2.0)
    pure = al.Release(al.PureDP(0.25))
    assert al.epsilon(pure, delta=0, group_size=4, **BOTH).contains(1.0)
    approximate = al.Release(al.ApproximateDP(0.5, 1e-6))
    total = 1e-6 * math.fsum(math.exp(0.5 * i) for i in range(3))
    bound = al.delta(approximate, epsilon=1.5, group_size=3, **BOTH)
    assert bound.lower <= total * (1 + 1e-9) <= bound.upper * (1 + 2e-9)
    coin = al.Release(al.RandomizedResponse(0.75))
    assert al.epsilon(coin, delta=0, group_size=50, **BOTH).contains(
        math.log(3)
    )


@pytest.mark.parametrize(
    ("mechanism", "sampling"),
    [
        (al.Laplace(1.0), al.Poisson(0.5)),
        (al.PureDP(1.0), al.FixedBatch(2, 9)),
        (al.RandomizedResponse(0.6), al.Poisson(0.5)),
        (al.DiscretePair((1.0,), (1.0,)), al.FullBatch()),
        (al.MixtureOfGaussians([0, 1], [0.5, 0.5], 1.0), al.FullBatch()),
    ],
)
def test_groups_that_no_theorem_covers(mechanism, sampling):
    with pytest.raises(NotImplementedError, match="group"):
        al.dominating_pairs(
            mechanism, sampling=sampling, adjacency="remove", group_size=2
        )


def test_a_batch_that_the_smaller_neighbour_cannot_fill():
    with pytest.raises(ValueError, match="batch_size must lie in"):
        al.dominating_pairs(
            al.Gaussian(1.0),
            sampling=al.FixedBatch(8, 10),
            adjacency="add",
            group_size=3,
        )


def test_sampled_mixtures():
    """Sampling a mixture is a mixture with smaller weights."""
    mixture = al.MixtureOfGaussians([0, 1, 2], [0.5, 0.3, 0.2], 1.5)
    thinner = al.MixtureOfGaussians([0, 1, 2], [0.8, 0.12, 0.08], 1.5)
    for adjacency in ("remove", "add"):
        one = al.delta(
            al.Release(mixture, al.Poisson(0.4), count=5),
            epsilon=0.5,
            adjacency=adjacency,
        )
        two = al.delta(
            al.Release(thinner, count=5), epsilon=0.5, adjacency=adjacency
        )
        assert one.lower <= two.upper and two.lower <= one.upper
        assert one.width <= 1e-3 and two.width <= 1e-3


def contour_delta(size, rate, noise, count, epsilon, add):
    """delta by the contour integral: no grid of losses, no inverse."""
    means = np.arange(size + 1.0) / noise
    j = np.arange(size + 1)
    log_w = np.array([math.log(math.comb(size, int(i))) for i in j])
    log_w = log_w + j * math.log(rate) + (size - j) * math.log1p(-rate)
    z = np.arange(-14.0, 60.0, 0.004)
    exponents = np.multiply.outer(z, means) - means**2 / 2 + log_w
    loss = np.logaddexp.reduce(exponents, axis=1)
    log_q = -(z**2) / 2 - 0.5 * math.log(2 * math.pi) + math.log(0.004)
    log_p = log_q if add else log_q + loss
    loss = -loss if add else loss

    def cumulant(s):  # log of the mean of exp(s loss), complex s
        top = np.max(s.real * loss + log_p)
        return top + np.log(np.sum(np.exp(s * loss + log_p - top)))

    def height(x):
        c = math.exp(x)
        value = count * cumulant(complex(c)).real - c * epsilon
        return value - math.log(c) - math.log1p(c)

    grid = np.linspace(-3, 4, 141)
    c = math.exp(grid[int(np.argmin([height(x) for x in grid]))])
    d = 1e-3 * c
    values = [cumulant(complex(c + i * d)).real for i in (-1, 0, 1)]
    spread = 1 / math.sqrt(
        count * (values[0] - 2 * values[1] + values[2]) / d**2
    )
    t = np.arange(0, 14, 0.05) * min(spread, c / 2)
    start = count * cumulant(complex(c)).real - c * epsilon
    terms = []
    for s in c + 1j * t:
        power = count * cumulant(s) - s * epsilon - start
        terms.append((np.exp(power) / (s * (s + 1))).real)
    total = sum(terms) - terms[0] / 2
    return math.exp(start) * total * (t[1] - t[0]) / math.pi


@pytest.mark.in_turn(5)
@pytest.mark.parametrize(
    ("size", "rate", "noise", "count"),
    [(2, 0.01, 1.0, 2000), (8, 0.01, 1.0, 2000), (16, 0.02, 3.0, 4000)],
)
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("delta", [1e-6, 1e-40])
def test_answers_against_the_contour(size, rate, noise, count, add, delta):
    run = al.Release(al.Gaussian(noise), al.Poisson(rate), count=count)
    adjacency = "add" if add else "remove"
    bound = al.epsilon(run, delta=delta, adjacency=adjacency, group_size=size)
    low = contour_delta(size, rate, noise, count, bound.lower, add)
    high = contour_delta(size, rate, noise, count, bound.upper, add)
    assert high <= delta * (1 + 1e-6) and low >= delta * (1 - 1e-6)


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("noise", [1e4, 1e5, 1e6])
@pytest.mark.parametrize("adjacency", ["remove", "add"])
def test_tiny_losses_many_times(noise, adjacency):
    """Noise sqrt(T): nearly a Gaussian of mu = mean sensitivity. Losses
    must be accurate relative to themselves, not to 1."""
    count = int(noise**2)
    two = al.MixtureOfGaussians([1, 1 + 1e-9], [0.5, 0.5], noise)
    cases = [
        (al.Release(two, count=count), 1, 1.0),
        (al.Release(al.Gaussian(noise), al.Poisson(0.5), count), 2, 1.0),
        (al.Release(al.Gaussian(noise), al.Poisson(0.9), count), 1, 0.9),
        (al.Release(al.Gaussian(noise), al.Poisson(0.75), count), 2, 1.5),
    ]
    for run, size, mu in cases:
        bound = al.delta(
            run, epsilon=1.0, adjacency=adjacency, group_size=size
        )
        truth = al.gaussian_delta(1.0, mu=mu)
        assert bound.lower <= truth * (1 + 30 / noise), (run, size)
        assert bound.upper >= truth * (1 - 30 / noise), (run, size)


@pytest.mark.parametrize("rate", [5e-324, 1e-200, 1 - 2.0**-53])
def test_weights_at_extreme_rates(rate):
    for size in (2, 10, 1000):
        values, weights = groups.binomial_sensitivity(size, rate=rate)
        assert abs(math.fsum(weights) - 1) <= 1e-14
        assert weights @ values == pytest.approx(size * rate, rel=1e-11)


def test_groups_that_are_never_missed():
    """The add direction is limited by a chance that underflows."""
    run = al.Release(al.Gaussian(3.0), al.Poisson(0.9))
    with pytest.raises(NotImplementedError, match="below 1e-300"):
        al.epsilon(run, delta=1e-6, adjacency="add", group_size=400)


def test_a_corner_that_was_above_the_truth():
    """A lower end of the trade-off curve, from masses that were missing."""
    run = al.Release(al.Gaussian(0.8486648280958845), al.Poisson(0.2))
    curve = al.tradeoff_curve(run, adjacency="remove", group_size=3)(
        0.06425548781893584
    )
    assert 0.7419 < curve <= 0.74195307572908186


@pytest.mark.parametrize(
    ("mechanism", "size"),
    [
        (al.PureDP(1.0), 800),
        (al.PureDP(1e-9), 10**6),
        (al.Laplace(1e-149), 100),
        (al.DiscreteLaplace(1.0), 10**6),
        (al.DiscreteGaussian(5.0), 10**6),
    ],
)
def test_messages_name_the_group(mechanism, size):
    run = al.Release(mechanism)
    with pytest.raises(ValueError, match="group_size"):
        al.epsilon(run, delta=1e-5, adjacency="remove", group_size=size)


def test_large_groups_of_integer_noise():
    run = al.Release(al.DiscreteGaussian(5.0))
    bound = al.epsilon(run, delta=1e-5, adjacency="remove", group_size=200)
    near = al.gaussian_epsilon(1e-5, mu=40.0)
    assert bound.contains(near) or abs(bound.upper / near - 1) < 2e-3


@pytest.mark.parametrize("n", [927, 10**9 + 7, 12 * 10**15])
@pytest.mark.parametrize("size", [2, 3])
def test_groups_in_batches_that_are_nearly_full(n, size):
    """The smallest loss is the chance to miss all of them, exactly."""
    (pair,) = al.dominating_pairs(
        al.Gaussian(0.2),
        sampling=al.FixedBatch(n - size, n),
        adjacency="remove",
        group_size=size,
    )
    missed = F(1, math.comb(n, size))
    assert pair.loss_range[0] == pytest.approx(
        -math.log(missed.denominator), rel=1e-15
    )


@pytest.mark.parametrize(
    ("noise", "rate", "size"),
    [(0.5, 1 - 2.0**-53, 21), (3.0, 0.9, 400), (3.3, 0.5, 1075)],
)
def test_exchanged_groups_that_are_never_missed(noise, rate, size):
    """The chance that nobody is drawn was dropped, and it limits losses."""
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    with pytest.raises(NotImplementedError, match="below 1e-300"):
        al.epsilon(run, delta=0.5, adjacency="substitute", group_size=size)
