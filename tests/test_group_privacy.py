"""Groups: weights in fractions, mixtures in high precision, both ends."""

# mypy: disable-error-code="call-overload"

import json
import math
from fractions import Fraction
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import accountlib as al
from accountlib.renyi import conversion
from accountlib.runs import rules
from accountlib.several import chains, groups, mixtures

DATA = Path(__file__).parent / "data"
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


# --- pairs ------------------------------------------------------------------


def exact_masses(means, weights, loss_low, loss_high):
    """P and Q of an interval of losses, by bisection in high precision."""

    def loss(z):
        return mp.log(
            mp.fsum(
                w * mp.exp(m * z - m * m / 2)
                for m, w in zip(means, weights, strict=True)
            )
        )

    def place(value):
        low, high = mpf(-400), mpf(400)
        for _ in range(150):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if loss(middle) < value else (low, middle)
            )
        return low

    a, b = place(loss_low), place(loss_high)

    def normal(shift):
        return (
            mp.erfc((a - shift) / mp.sqrt(2))
            - mp.erfc((b - shift) / mp.sqrt(2))
        ) / 2

    p = mp.fsum(w * normal(m) for m, w in zip(means, weights, strict=True))
    return p, normal(0)


@pytest.mark.parametrize(
    ("means", "weights"),
    [
        ((1.0, 2.0), (0.5, 0.5)),
        ((0.1, 0.2, 5.0), (0.9, 0.09, 0.01)),
        ((0.01, 8.0), (1e-9, 1 - 1e-9)),
        ((0.5, 3.0, 3.1), (1 - 2e-12, 1e-12, 1e-12)),
    ],
)
@pytest.mark.parametrize("width", [1e-6, 1e-2, 1.0])
@pytest.mark.parametrize("loss", [-20.0, -0.3, 0.0, 2.0, 60.0])
def test_masses_in_high_precision(means, weights, width, loss):
    pair = al.MixturePair(means, weights)
    p, q = pair.interval_masses(
        np.array([loss, loss + width]), np.array([width]), "right"
    )
    with mp.workdps(60):
        exact = exact_masses(
            [mpf(m) for m in means],
            [mpf(w) for w in weights],
            mpf(loss),
            mpf(loss) + mpf(width),
        )
        for value, known in zip((p[1], q[1]), exact, strict=True):
            if known > mpf(10) ** -290:
                assert abs(value / known - 1) <= 1e-10


def test_a_thousand_components():
    values, weights = groups.binomial_sensitivity(1000, rate=0.01)
    pair = mixtures.mixture_pair(values / 3.0, weights)
    p, q = pair.masses(np.linspace(-0.01, 500, 200))
    assert math.fsum(p) == pytest.approx(1, abs=1e-11)
    assert math.fsum(q) == pytest.approx(1, abs=1e-11)
    run = al.Release(al.Gaussian(3.0), al.Poisson(0.01), count=10)
    bound = al.epsilon(run, delta=1e-6, group_size=1000, **BOTH)
    assert bound.width <= 1e-3


def test_simplest_forms():
    """k = 1, q = 1 and shared means give the pairs that we know."""
    for rate in (0.01, 0.3, 0.99):
        values, weights = groups.binomial_sensitivity(1, rate=rate)
        single = al.SampledPair(al.GaussianPair(0.5), rate)
        assert rules.group_pair(al.Gaussian(2.0), al.Poisson(rate), 1) == (
            mixtures.mixture_pair(values / 2.0, weights)
        )
        if rate < 0.5:
            assert mixtures.mixture_pair(values / 2.0, weights) == single
        assert al.MixtureOfGaussians([0, 1], [1 - rate, rate], 2.0).pair() == (
            mixtures.mixture_pair(values / 2.0, weights)
        )
    assert rules.group_pair(al.Gaussian(2.0), al.Poisson(1.0), 5) == (
        al.GaussianPair(2.5)
    )
    assert rules.group_pair(al.Gaussian(2.0), al.Poisson(0.0), 5) == (
        al.DiscretePair((1.0,), (1.0,))
    )
    joined = al.MixtureOfGaussians([1, 1, 2], [0.25, 0.25, 0.5], 1.0)
    assert joined.pair() == al.MixturePair((1.0, 2.0), (0.5, 0.5))


@pytest.mark.parametrize("rest", [1e-300, 1e-17, 1e-6, 0.3])
def test_tiny_chances_to_miss_the_group(rest):
    """The lowest loss is the logarithm of that chance, to all digits."""
    pair = mixtures.mixture_pair(
        np.array([0.0, 1.0, 2.0]), np.array([rest, 0.5, 0.5 - rest])
    )
    assert pair.loss_range[0] == pytest.approx(math.log(rest), rel=1e-15)
    epsilon = -math.log(rest) / 2
    with mp.workdps(400):
        # Q - e^eps P is positive below the place where the loss is -eps
        weights = [mpf(rest), mpf(0.5), mpf(0.5) - mpf(rest)]

        def loss(z):
            terms = (
                w * mp.exp(m * z - m * m / mpf(2))
                for m, w in enumerate(weights)
            )
            return mp.log(mp.fsum(terms))

        low, high = mpf(-2000), mpf(100)
        for _ in range(300):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if loss(middle) < -epsilon else (low, middle)
            )
        q = mp.ncdf(low)
        p = mp.fsum(w * mp.ncdf(low - m) for m, w in enumerate(weights))
        known = q - mp.exp(mpf(epsilon)) * p
    value = pair.reversed().delta(epsilon)
    assert value == pytest.approx(float(known), rel=1e-9, abs=1e-15)


# --- answers ----------------------------------------------------------------


def test_figures_1_and_2():
    facts = json.loads((DATA / "mog_fig1_fig2.json").read_text("utf-8"))
    for figure in ("fig1", "fig2"):
        for row in facts[figure]:
            sampling = (
                al.Poisson(0.01)
                if figure == "fig1"
                else al.FixedBatch(500, 50_000 + row["k"])
            )
            run = al.Release(al.Gaussian(row["sigma"]), sampling, count=2000)
            for direction in ("remove", "add"):
                known = row[f"eps_{direction}"]
                bound = al.epsilon(
                    run, delta=1e-6, adjacency=direction, group_size=row["k"]
                )
                assert bound.width <= 1e-3
                assert bound.lower <= known, row
                assert bound.upper >= known * (1 - 3e-4), row


def test_the_old_way_of_a_tool():
    """Columns of the reference file: k with the first infinite size 9."""
    facts = json.loads((DATA / "mog_fig1_fig2.json").read_text("utf-8"))
    tool = facts["vadhan_tf_style"]
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.01), count=2000)
    curve = al.rdp_curve(run, **BOTH)
    orders = 1 + np.geomspace(1e-3, 1e4, 2000)
    values = curve(orders)
    weight = conversion.log_weight(orders, "improved")

    def log_delta(epsilon):
        return min(
            0.0, float(np.min((orders - 1) * (values - epsilon) + weight))
        )

    for size, known in zip(tool["k"], tool["rdp"]["1"], strict=True):
        found = chains.group_epsilon_vadhan(
            size, log_delta=log_delta, delta=1e-6
        )
        if known is not None:
            # Both have exact real orders. The grid of the tool is coarser, so
            # for 8 records ours finds a value 0.15 % smaller.
            assert known * 0.998 <= found <= known + 6e-4, size
        else:
            assert math.exp(log_delta(found / size)) == 0
    vadhan = chains.group_epsilon_vadhan(
        3, log_delta=log_delta, delta=1e-6, rule="vadhan"
    )
    assert vadhan >= chains.group_epsilon_vadhan(
        3, log_delta=log_delta, delta=1e-6
    )
    assert (
        chains.group_epsilon_vadhan(3, log_delta=lambda e: -1.0, delta=1e-6)
        == math.inf
    )


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


def exact_chain(growth, d, size, alpha):
    """H_alpha of the ends of a chain: maximum of g^k(x) - alpha x."""

    def step(x):
        return min(F(1), d + growth * x, 1 - (1 - d - x) / growth)

    def back(y):
        x = (y - d) / growth
        return x if step(x) == y else 1 - d - (1 - y) * growth

    cuts = {F(0), F(1)}
    for place in ((1 - d) / (1 + growth), 1 - d):
        for _ in range(size):
            if place > 0:
                cuts.add(place)
                place = back(place)
    best = F(0)
    for x in cuts:
        y = x
        for _ in range(size):
            y = step(y)
        best = max(best, y - alpha * x)
    return best


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 20])
@pytest.mark.parametrize("d", [0.0, 1e-9, 1e-3, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("growth", [1.0, 1.5, 3.0, 20.0])
def test_chains_in_fractions(size, d, growth):
    pair = chains.chain_pair(math.log(growth), d, size)
    assert isinstance(pair, chains.ChainPair)
    assert math.fsum(pair.p) == pytest.approx(1, abs=1e-14)
    for epsilon in (-1.0, 0.0, 0.1, 1.0, 2.5, 6.0):
        alpha = F(math.exp(epsilon))
        exact = exact_chain(F(growth), F(d), size, alpha)
        value = pair.delta(epsilon)
        assert value == pytest.approx(float(exact), rel=1e-12, abs=1e-14)


def test_a_chain_of_tiny_steps():
    """Losses that the ratio of two floats would not show."""
    pair = chains.chain_pair(1e-20, 0.0, 5)
    assert pair.delta(0.0) == pytest.approx(2.5e-20, rel=1e-14, abs=0)
    assert pair.atoms[-1] == 5e-20


@pytest.mark.parametrize(
    ("epsilon", "d", "size"),
    [
        (1.541069964293148, 0.0006323443776475766, 8),
        (3.0701643134857547e-10, 0.0020653696009005624, 40),
        (1.4944190817817053e-08, 0.00019447245921247258, 23),
        (7.80767873268822, 0.00010526980935862046, 4),
        (1.839578895077991e-10, 0.00909742433433609, 9),
        (0.7, 0.1, 1),
    ],
)
def test_what_a_chain_reveals_is_not_rounded(epsilon, d, size):
    """Beyond the largest loss delta is the mass at infinity, g^k(0)."""
    with mp.workdps(50):
        growth, told = mp.exp(mpf(epsilon)), mpf(0)
        for _ in range(size):
            turned = 1 - (1 - mpf(d) - told) / growth
            told = min(mpf(1), mpf(d) + growth * told, turned)
    run = al.Release(al.ApproximateDP(epsilon, d))
    ask = {"adjacency": "remove", "group_size": size}
    bound = al.delta(run, epsilon=1.1 * size * epsilon, **ask)
    assert bound.lower <= told <= bound.upper and bound.width < 1e-14
    less = float(told)
    if less >= told:
        less = math.nextafter(less, 0.0)
    assert al.epsilon(run, delta=less, **ask).upper == math.inf


@pytest.mark.parametrize("adjacency", ["remove", "add", "substitute"])
def test_groups_of_guarantees_are_reached(adjacency):
    """1 - 1/e, not tanh 1: the geometric mechanism is the worst."""
    run = al.Release(al.PureDP(1.0))
    bound = al.delta(run, epsilon=0, adjacency=adjacency, group_size=2)
    assert bound.contains(1 - math.exp(-1)) and bound.width < 1e-3
    noise = al.Release(al.DiscreteLaplace(1.0), count=5)
    runs = al.Release(al.PureDP(1.0), count=5)
    for size in (2, 5):
        both = [
            al.epsilon(
                x,
                delta=1e-6,
                adjacency="add-or-remove",
                group_size=size,
            )
            for x in (noise, runs)
        ]
        assert both[0].lower <= both[1].upper
        assert both[1].lower <= both[0].upper


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
    ("size", "rate", "order"),
    [(100, 1e-4, 1.2), (64, 1e-8, 3.0), (2, 1e-200, 1000.0)],
)
def test_rare_sums_that_no_float_shows_count_for_orders(size, rate, order):
    """All members at once: the last term of the moment is a lower bound."""
    run = al.Release(al.Gaussian(1.0), al.Poisson(rate))
    curve = al.rdp_curve(run, adjacency="remove", group_size=size)
    whole = al.rdp_curve(
        al.Release(al.Gaussian(1.0)), adjacency="remove", group_size=size
    )
    rare = order / (order - 1) * size * math.log(rate)
    assert whole(order) + rare <= curve(order) <= whole(order)
    bound = al.delta(run, epsilon=1.0, adjacency="remove", group_size=size)
    assert bound.lower <= bound.upper < size * rate * 1.001


def test_rare_large_shifts_of_a_mixture_count_for_orders():
    noise = al.MixtureOfGaussians([1e-6, 40.0], [1.0, 1e-310], 1.0)
    value = al.rdp_curve(al.Release(noise), adjacency="remove")(3.5)
    with mp.workdps(30):  # the second term alone, nearly everything
        known = 3.5 / 2.5 * mp.log(mpf(1e-310)) + 3.5 * 40.0**2 / 2
    assert known <= value <= known * (1 + mpf(1e-9))
