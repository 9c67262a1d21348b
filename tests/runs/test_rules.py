"""Which pair for which question, and what no theorem covers."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from fractions import Fraction as F

import mpmath as mp
import pytest

import accountlib as al

DIRECTIONS = ("remove", "add")


# --- which pair for which question ----------------------------------------


def test_sampling_schemes():
    gauss = al.Gaussian(0.8)

    def pairs(sampling, adjacency="add-or-remove"):
        return al.dominating_pairs(
            gauss, sampling=sampling, adjacency=adjacency
        )

    remove, add = pairs(al.Poisson(0.001))
    assert remove == al.SampledPair(al.GaussianPair(1 / 0.8), 0.001)
    assert add == remove.reversed()
    assert pairs(al.Poisson(0.001), "remove") == (remove,)
    assert pairs(al.Poisson(0.001), al.Adjacency.ADD) == (add,)
    assert pairs(al.Poisson(1.0)) == pairs(al.FullBatch())
    for pair in pairs(al.Poisson(0.0)):
        assert pair.delta(0.0) == 0 and pair.loss_range == (0.0, 0.0)


@pytest.mark.parametrize(
    "mechanism", [al.Gaussian, al.Laplace], ids=lambda m: m.__name__
)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_fixed_batch_is_poisson_at_half_the_noise(mechanism, direction):
    """Proposition 9: one record more in the sum, another one out of it."""
    (fixed,) = al.dominating_pairs(
        mechanism(0.8), sampling=al.FixedBatch(50, 50_000), adjacency=direction
    )
    (poisson,) = al.dominating_pairs(
        mechanism(0.4), sampling=al.Poisson(0.001), adjacency=direction
    )
    assert fixed == poisson
    (same,) = al.dominating_pairs(
        mechanism(0.8), sampling=al.Poisson(0.001), adjacency=direction
    )
    assert fixed.delta(5e-4) > same.delta(5e-4)


def test_a_fixed_batch_of_randomized_response():
    """Its parameter already speaks of an exchanged record."""
    (fixed,) = al.dominating_pairs(
        al.RandomizedResponse(0.75),
        sampling=al.FixedBatch(1, 2),
        adjacency="remove",
    )
    p, q = [0.5, 0.5], [0.25, 0.75]  # half of it: somebody else's answer
    for epsilon in (0.0, 0.2, 0.6):
        expected = al.hockey_stick(p, q, math.exp(epsilon))
        assert math.isclose(fixed.delta(epsilon), expected, abs_tol=1e-15)
    for mechanism in (al.PureDP(1.0), al.ApproximateDP(1.0, 1e-5)):
        assert mechanism.exchange_pair() == mechanism.pair()


def test_randomized_response_twice():
    """The numbers of Proposition 11, through the package's own pairs."""
    exact = {"add": (F(11, 48), F(1, 16)), "remove": (F(1, 6), F(1, 8))}
    mechanism = al.RandomizedResponse(0.75)
    run = al.Release(mechanism, al.FixedBatch(1, 2), count=2)
    for direction, values in exact.items():
        for alpha, value in zip((4 / 3, 2), values, strict=True):
            bound = al.delta(run, epsilon=math.log(alpha), adjacency=direction)
            assert abs(bound.lower - value) < 2e-3 * value
            assert abs(bound.upper - value) < 2e-3 * value
    for epsilon, worst in ((math.log(4 / 3), "add"), (math.log(2), "remove")):
        both = al.delta(run, epsilon=epsilon, adjacency="add-or-remove")
        assert both == al.delta(run, epsilon=epsilon, adjacency=worst)


@pytest.mark.parametrize(
    ("mechanism", "sampling", "adjacency", "group_size", "words"),
    [
        (
            al.DiscretePair([1.0], [1.0]),
            al.Poisson(0.1),
            "substitute",
            1,
            "substitute",
        ),
        (al.Gaussian(1), al.FixedBatch(1, 3), "substitute", 2, "batches"),
        (al.Laplace(1), al.Poisson(0.1), "substitute", 2, "group"),
        (al.Laplace(1), al.Poisson(0.1), "remove", 2, "group"),
        (
            al.MixtureOfGaussians([1], [1], 1),
            al.FullBatch(),
            "add",
            2,
            "group",
        ),
        (
            al.DiscretePair([1.0], [1.0]),
            al.FixedBatch(1, 3),
            "add",
            1,
            "exchanged",
        ),
    ],
)
def test_what_no_theorem_covers(
    mechanism, sampling, adjacency, group_size, words
):
    kind = {"adjacency": adjacency, "group_size": group_size}
    with pytest.raises(NotImplementedError, match=words):
        al.dominating_pairs(mechanism, sampling=sampling, **kind)
    run = al.Release(mechanism, sampling)
    with pytest.raises(NotImplementedError, match=words):
        al.epsilon(run, delta=1e-5, **kind)
    with pytest.raises(NotImplementedError, match=words):
        al.delta(run, epsilon=1.0, **kind)


def test_a_batch_must_leave_somebody_out():
    for batch in (3, 4):
        with pytest.raises(ValueError, match="batch_size must"):
            al.dominating_pairs(
                al.Gaussian(1),
                sampling=al.FixedBatch(batch, 3),
                adjacency="remove",
            )


# --- rates near 0 and 1, against findings and closed forms ----------------


def full_batch_delta(kind, noise, n, epsilon):
    """Add direction: delta for b = n - 1 of n, in 60 digits."""
    with mp.workdps(60):
        missed = 1 / mp.mpf(n)
        rate, alpha = 1 - missed, mp.exp(mp.mpf(epsilon))
        ratio = (1 / alpha - missed) / rate  # dP/dQ at the threshold
        if ratio <= 0:
            return mp.mpf(0)
        loss = mp.log(ratio)
        if kind == "gaussian":
            mu = 2 / mp.mpf(noise)
            z = loss / mu + mu / 2
            p, q = mp.ncdf(z - mu), mp.ncdf(z)
        else:
            most = 2 / mp.mpf(noise)
            if loss < -most:
                return mp.mpf(0)
            p = mp.exp(-(most - loss) / 2) / 2
            q = 1 - mp.exp(-(most + loss) / 2) / 2
        return q - alpha * (missed * q + rate * p)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_batches_of_nearly_everything(kind):
    """1 - b/n is (n - b)/n; from a rounded rate it has lost its digits."""
    mechanism = al.Gaussian if kind == "gaussian" else al.Laplace
    for noise, n, epsilon in [
        (0.11052523791156771, 507263527, 20.0445402036421),
        (0.18681743252409191, 2769287, 9.5),
        (0.13171945585836115, 928537, 13.7),
        (0.1, 12 * 10**15, 36.9),
        (1.0, 10**17, 1.0),
        (1.0, 10**17, 20.0),
    ]:
        run = al.Release(mechanism(noise), al.FixedBatch(n - 1, n))
        exact = full_batch_delta(kind, noise, n, epsilon)
        found = al.delta(run, epsilon=epsilon, adjacency="add")
        assert found.lower <= exact <= found.upper
        if exact > 0 and epsilon != 36.9:  # nearly the largest loss
            assert found.width < 2e-3
    # The largest loss of "add" is ln n.
    for n in (3, 928537, 12 * 10**15, 10**30):
        run = al.Release(mechanism(0.1), al.FixedBatch(n - 1, n))
        found = al.epsilon(run, delta=0, adjacency="add")
        with mp.workdps(40):
            largest = mp.log(n)
            if kind == "laplace":
                rest = mp.exp(-2 / mp.mpf(0.1))
                largest = -mp.log((1 + (n - 1) * rest) / n)
        assert found.lower <= largest <= found.upper
        assert found.width < 1e-12


@pytest.mark.parametrize("rate", [5e-324, 5e-309, 1e-300, 1e-170])
def test_tiny_rates(rate):
    """No Bound(0, 0) where every epsilon is exceeded."""
    run = al.Release(al.Gaussian(1), al.Poisson(rate))
    infinite = al.Bound(math.inf, math.inf)
    assert al.epsilon(run, delta=0, adjacency="remove") == infinite
    assert al.epsilon(run, delta=0, adjacency="add").upper > 0
    found = al.delta(run, epsilon=0, adjacency="remove")
    exact = F(rate) * F(al.gaussian_delta(0.0, mu=1.0))
    if rate > 1e-200:
        assert found.lower <= exact <= found.upper


def test_data_sets_beyond_floats():
    with pytest.raises(ValueError, match="dataset_size must be at most"):
        al.FixedBatch(1, 10**400)
    run = al.Release(al.Gaussian(1), al.FixedBatch(1, 10**299))
    infinite = al.Bound(math.inf, math.inf)
    assert al.epsilon(run, delta=0, adjacency="remove") == infinite


def test_a_fixed_batch_has_the_exact_rate():
    (pair,) = al.dominating_pairs(
        al.Gaussian(1.0), sampling=al.FixedBatch(2, 3), adjacency="remove"
    )
    assert isinstance(pair, al.SampledPair)
    assert pair.exact == F(2, 3) and pair.missed == 1 / 3
    with mp.workdps(40):
        assert abs(sum(map(mp.mpf, pair._logs[0])) + mp.log(3)) < 1e-30
        assert abs(sum(map(mp.mpf, pair._logs[1])) - mp.log(2) + mp.log(3)) < (
            1e-30
        )
    assert repr(pair).endswith(f"missed={1 / 3})")
    assert al.SampledPair(al.GaussianPair(1.0), 1.0, 1e-30).rate == 1.0
    for rate, missed in ((0.9, 0.6), (0.9, 0.2), (1.0, None), (0.5, 0.0)):
        with pytest.raises(ValueError, match=r"rate|missed"):
            al.SampledPair(al.GaussianPair(1.0), rate, missed)


def test_a_mechanism_of_your_own_says_what_an_exchange_does():
    class Own(al.DiscretePair):
        def exchange_pair(self):
            return al.DiscretePair((0.75, 0.25), (0.25, 0.75))

    own = Own((0.75, 0.25), (0.5, 0.5))
    for sampling, delta in (
        (al.FullBatch(), 0.5),
        (al.FixedBatch(1, 2), 0.25),
    ):
        (pair,) = al.dominating_pairs(
            own, sampling=sampling, adjacency="substitute"
        )
        assert abs(pair.delta(0.0) - delta) < 1e-15
    for sampling in (al.Poisson(0.5), al.ShuffledEpochs(2)):
        with pytest.raises(NotImplementedError):
            al.dominating_pairs(own, sampling=sampling, adjacency="substitute")
