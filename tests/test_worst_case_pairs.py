"""Chapter 2: the interval masses of dominating pairs, against mpmath."""

# Frozen fields are assigned to, and lists stand for arrays, on purpose.
# mypy: disable-error-code="arg-type, assignment, call-arg, list-item, misc"

import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
import truth
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al

DIRECTIONS = ("remove", "add")
SETTINGS = [
    (kind, noise, rate, direction)
    for kind, noise in [
        ("gaussian", 0.3),
        ("gaussian", 1.0),
        ("gaussian", 50.0),
        ("laplace", 0.5),
        ("laplace", 20.0),
    ]
    for rate in (1.0, 0.999, 0.3, 1e-3, 1e-6)
    for direction in DIRECTIONS
]


def pair_of(kind, noise, rate, direction):
    mechanism = al.Gaussian(noise) if kind == "gaussian" else al.Laplace(noise)
    (pair,) = al.dominating_pairs(
        mechanism, sampling=al.Poisson(rate), adjacency=direction
    )
    return pair


def loss_at(kind, noise, rate, direction, z):
    """The loss at a point of the noise, z standard deviations out."""
    if kind == "gaussian":
        base = z / noise + 1 / (2 * noise**2)
    else:
        base = (2 * min(max(z, 0.01), 0.99) - 1) / noise
    with mp.workdps(400):
        base = mp.log1p(mp.mpf(rate) * mp.expm1(base))
    return float(base if direction == "remove" else -base)


def check_masses(pair, setting, edges, allowed=1e-10):
    kind, noise, rate, direction = setting
    p, q = pair.masses(edges)
    exact = truth.masses(kind, noise, edges, rate=rate, direction=direction)
    for found, expected in zip((p, q), exact, strict=True):
        for value, wanted in zip(found, expected, strict=True):
            if wanted < 1e-300:
                assert value < 2e-300
            else:
                assert abs(mp.mpf(value) / wanted - 1) < allowed, edges


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_masses_of_intervals_of_every_width(setting):
    """Intervals of 1e-6 to 10 standard deviations, far into both tails."""
    kind, noise, rate, direction = setting
    pair = pair_of(*setting)
    if kind == "gaussian":
        starts = [-30.0, -8.0, -1.0, 0.0, 0.4, 3.0, 12.0, 30.0]
        widths = [1e-6, 1e-3, 0.1, 10.0]
    else:
        starts = [0.01, 0.2, 0.499999, 0.7]
        widths = [1e-6, 1e-3, 0.2]
    for start in starts:
        for width in widths:
            edges = sorted(
                loss_at(*setting, x) for x in (start, start + width)
            )
            middle = abs(edges[1] + edges[0]) / 2
            # An interval of a few units in the last place is no interval.
            if edges[1] - edges[0] > 1e-13 * max(middle, 1e-3 * rate):
                check_masses(pair, setting, edges)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_masses_of_one_long_list(setting):
    kind, noise, rate, direction = setting
    edges = sorted({loss_at(*setting, z) for z in np.linspace(-9, 9, 37)})
    edges = [-700.0, *edges, 700.0]
    check_masses(pair_of(*setting), setting, edges)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_masses_are_consistent(setting):
    """e^a Q <= P <= e^b Q on (a, b], totals 1, delta from the masses."""
    kind, noise, rate, direction = setting
    pair = pair_of(*setting)
    low, high = loss_at(*setting, -20), loss_at(*setting, 20)
    edges = np.linspace(min(low, high), max(low, high), 101)
    p, q = pair.masses(edges)
    assert np.all(p >= 0) and np.all(q >= 0)
    assert abs(math.fsum(p) + pair.infinite_mass[0] - 1) < 1e-12
    assert abs(math.fsum(q) + pair.infinite_mass[1] - 1) < 1e-12
    # A rounded end of the range of losses counts with its last place.
    slack = 1 + 1e-10 + 1e-15 * np.abs(edges)
    seen = (p > 1e-280) & (q > 1e-280)
    with np.errstate(divide="ignore"):
        ratio = np.where(seen, np.log(p / np.where(seen, q, 1)), 0)
    log_slack = np.log(slack)
    inner = seen[1:-1]
    width = edges[1] - edges[0]
    blur = 1e-3 * width
    assert np.all((ratio[1:-1] >= edges[:-1] - log_slack[:-1] - blur)[inner])
    assert np.all((ratio[1:-1] <= edges[1:] + log_slack[1:] + blur)[inner])
    for k in (20, 50, 80):
        tail_p, tail_q = math.fsum(p[k + 1 :]), math.fsum(q[k + 1 :])
        plain = tail_p - math.exp(edges[k]) * tail_q
        assert abs(pair.delta(edges[k]) - plain) < 1e-12


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("rate", [1.0, 0.7, 0.01, 1e-6])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_delta_of_one_run(kind, rate, direction):
    for noise in (0.4, 1.0, 9.0):
        pair = pair_of(kind, noise, rate, direction)
        for epsilon in (-0.5, -1e-4, 0.0, 1e-6, 0.01, 0.3, 1.5):
            if kind == "gaussian":
                exact = truth.sampled_gaussian_delta(
                    epsilon, noise, rate, direction=direction
                )
            else:
                exact = truth.sampled_laplace_delta(
                    epsilon, [(noise, rate)], direction=direction
                )
            found = pair.delta(epsilon)
            assert abs(found - exact) < 1e-11 * exact + 3e-16
    assert pair.delta([[0.0, 1.0]]).shape == (1, 2)
    assert isinstance(pair.delta(0), float)


@pytest.mark.parametrize("mechanism", [al.Gaussian(0.9), al.Laplace(1.4)])
def test_amplification_holds_with_equality(mechanism):
    """Lemma 4 of Li et al., remove: equality along the whole curve.

    delta_rate(ln(1 + rate (e^x - 1))) = rate delta(x).
    """
    for rate in (0.5, 0.01, 1e-5):
        pair = al.SampledPair(mechanism.pair(), rate)
        for x in (0.01, 0.3, 0.6):
            epsilon = math.log1p(rate * math.expm1(x))
            wanted = rate * mechanism.pair().delta(x)
            assert math.isclose(pair.delta(epsilon), wanted, rel_tol=1e-11)


def test_the_printed_amplification_has_a_misprint():
    """Theorem 15 with Q in the second place; as printed nothing is gained."""
    rate, x = 0.01, 0.05
    pair = al.SampledPair(al.Gaussian(2.0).pair(), rate)
    assert math.isclose(pair.delta(x), 4.243e-7, rel_tol=1e-3)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    noise=st.floats(0.2, 20),
    rate=st.floats(0.001, 0.999),
    epsilon=st.floats(0, 4),
    laplace=st.booleans(),
)
def test_one_run_remove_is_the_worse_direction(noise, rate, epsilon, laplace):
    """Proposition 30 of Zhu, Dong and Wang, for one run and epsilon >= 0."""
    kind = "laplace" if laplace else "gaussian"
    remove = pair_of(kind, noise, rate, "remove")
    add = pair_of(kind, noise, rate, "add")
    assert add.delta(epsilon) <= remove.delta(epsilon) * (1 + 1e-9) + 1e-15
    # swap identity between the directions
    swapped = -math.expm1(epsilon) + math.exp(epsilon) * add.delta(-epsilon)
    assert math.isclose(
        remove.delta(epsilon), swapped, rel_tol=1e-9, abs_tol=1e-14 * 60
    )


# --- reversing ------------------------------------------------------------


PAIRS = [
    al.GaussianPair(0.7),
    al.LaplacePair(2.0),
    al.DiscretePair([0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.0, 0.5]),
    al.SampledPair(al.GaussianPair(2.0), 0.1),
    al.SampledPair(al.LaplacePair(0.5), 0.25),
    al.SampledPair(al.DiscretePair([0.5, 0.5, 0], [0.25, 0, 0.75]), 0.5),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda p: type(p).__name__)
def test_reversed(pair):
    assert pair.reversed().reversed() == pair
    assert pair.reversed().infinite_mass == pair.infinite_mass[::-1]
    low, high = pair.loss_range
    assert pair.reversed().loss_range == (-high, -low)
    assert pair.reversed().atoms == tuple(-x for x in pair.atoms[::-1])
    assert pair.reversed().discrete == pair.discrete
    edges = np.array([-1.01, -0.3, -0.011, 0.07, 0.5123, 2.2])  # no atoms
    p, q = pair.masses(edges)
    p2, q2 = pair.reversed().masses(-edges[::-1])
    assert np.allclose(p, q2[::-1], 1e-13, 0)
    assert np.allclose(q, p2[::-1], 1e-13, 0)
    for epsilon in edges:
        here, there = pair.delta(epsilon), pair.reversed().delta(-epsilon)
        swapped = -math.expm1(epsilon) + math.exp(epsilon) * there
        assert math.isclose(here, swapped, rel_tol=1e-10, abs_tol=1e-14)
    for epsilon in (-0.5, 0.0, 0.4):
        p, q = pair.masses([epsilon])
        plain = p[1] + pair.infinite_mass[0] - math.exp(epsilon) * q[1]
        assert math.isclose(pair.delta(epsilon), plain, abs_tol=1e-14)


# --- atoms ----------------------------------------------------------------


def test_an_atom_on_an_edge_belongs_to_the_left_interval():
    pair = al.Laplace(0.5).pair()  # atoms at -2 and 2, exactly
    p, q = pair.masses([-2.0, 2.0])
    assert math.isclose(q[0], 0.5) and math.isclose(p[0], math.exp(-2) / 2)
    assert p[2] == q[2] == 0
    inner = (1 - math.exp(-2)) / 2  # between the two means
    assert math.isclose(p[1], 0.5 + inner) and math.isclose(
        q[1], math.exp(-2) / 2 + inner
    )
    beside = np.nextafter(2.0, 0)
    p, _ = pair.masses([beside])
    assert math.isclose(p[1], 0.5)
    edges = np.array([-2.0, 2.0])
    p, q = pair.interval_masses(edges, np.diff(edges), "left")
    assert p[0] == q[0] == 0 and math.isclose(p[2], 0.5)


def test_reversed_atoms_on_an_edge():
    pair = al.SampledPair(al.LaplacePair(0.5), 0.5).reversed()
    for atom in pair.atoms:
        p, _ = pair.masses([atom - 1e-9, atom + 1e-9])
        assert p[1] > 0.05
    discrete = al.DiscretePair([0.5, 0.5], [0.25, 0.75])
    loss = math.log(2)
    p, q = discrete.masses([loss])
    assert (p == [1, 0]).all() and (q == [1, 0]).all()
    p, q = discrete.reversed().masses([-loss])
    assert (p == [0.25, 0.75]).all() and (q == [0.5, 0.5]).all()


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 6),
    rate=st.sampled_from([2.0**-10, 0.25, 0.5]),
    reverse=st.booleans(),
    cuts=st.lists(st.floats(-4, 4), min_size=1, max_size=5, unique=True),
)
def test_discrete_pairs_against_fractions(seed, size, rate, reverse, cuts):
    rng = np.random.default_rng(seed)
    p, q = (truth.dyadic_distribution(rng, size, bits=5) for _ in range(2))
    pair, exact = al.DiscretePair(p, q), truth.ExactPair.of(p, q)
    sampled = al.SampledPair(pair, rate)
    mixed = exact.poisson(rate)
    if reverse:
        pair, exact = pair.reversed(), exact.reversed()
        sampled, mixed = sampled.reversed(), mixed.reversed()
    for one, other in ((pair, exact), (sampled, mixed)):
        weights, scale = other.weights, other.denominator
        p_inf = F(weights.get((1, 0), 0), scale)
        q_inf = F(weights.get((0, 1), 0), scale)
        assert np.allclose(
            one.infinite_mass, [float(p_inf), float(q_inf)], 1e-14, 0
        )
        edges = sorted(cuts)
        found = one.masses(edges)
        wanted = [[0.0] * (len(edges) + 1) for _ in range(2)]
        for (i, j), w in weights.items():
            if i and j:
                loss = math.log(F(i, j))
                if min(abs(loss - e) for e in edges) < 1e-12:
                    return  # an atom on an edge: its rounding decides
                place = int(np.searchsorted(edges, loss))
                wanted[0][place] += i * w / scale
                wanted[1][place] += j * w / scale
        assert np.allclose(found, wanted, 1e-13, 1e-17)
        for epsilon in edges:
            low, _ = other.delta(epsilon)
            assert abs(one.delta(epsilon) - low) < 1e-13
        finite = [math.log(F(i, j)) for i, j in weights if i and j]
        if finite:
            assert np.allclose(
                one.loss_range, (min(finite), max(finite)), 1e-13, 1e-15
            )
            for loss in finite:
                assert min(abs(loss - atom) for atom in one.atoms) < 1e-13


@pytest.mark.parametrize("rate", [2.0**-20, 2.0**-7, 0.25])
def test_the_range_of_a_sampled_pair_keeps_its_digits(rate):
    """The largest loss decides the answers at delta = 0."""
    for p in (0.50390625, 0.75, 0.875, 0.99609375):
        pair = al.SampledPair(al.DiscretePair((p, 1 - p), (1 - p, p)), rate)
        for end, ratio in zip(
            pair.loss_range, (F(1 - p) / F(p), F(p) / F(1 - p)), strict=True
        ):
            mixed = 1 - F(rate) + F(rate) * ratio
            with mp.workdps(50):
                exact = mp.log(mp.mpf(mixed.numerator) / mixed.denominator)
            assert abs(mp.mpf(end) / exact - 1) < 1e-14


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


def test_known_guarantees():
    """(epsilon, delta) is what the pair of a mechanism with it has."""
    for epsilon, delta in [(1.0, 1e-5), (0.0, 0.25), (3.0, 0.0), (0.5, 1.0)]:
        pair = al.ApproximateDP(epsilon, delta).pair()
        assert math.isclose(pair.delta(epsilon), delta, abs_tol=1e-15)
        assert math.isclose(pair.delta(epsilon + 1), delta, abs_tol=1e-16)
        assert pair.infinite_mass == (delta, delta)
    assert al.PureDP(2.0).pair().delta(2.0) <= 1e-16
    assert math.isclose(
        al.PureDP(2.0).pair().delta(0.0), math.tanh(1.0), rel_tol=1e-14
    )
    extreme = al.RandomizedResponse(1.0).pair()
    assert extreme.infinite_mass == (1.0, 1.0) and extreme.delta(5.0) == 1
    assert al.RandomizedResponse(0.5).pair().delta(0.0) == 0


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


def test_releases_are_values():
    one = al.Release(al.Gaussian(1), al.Poisson(1), count=1e3)
    assert one == al.Release(al.Gaussian(1.0), al.Poisson(1.0), count=1000)
    assert hash(one) == hash(al.Release(al.Gaussian(1), al.Poisson(1), 1000))
    with pytest.raises(AttributeError):
        one.count = 2
    assert set(al.Adjacency) == {
        "add",
        "remove",
        "add-or-remove",
        "substitute",
    }
