"""Chapter 2: the interval masses of dominating pairs, against mpmath."""

# Frozen fields are assigned to, and lists stand for arrays, on purpose.
# mypy: disable-error-code="arg-type, assignment, call-arg, call-overload"
# mypy: disable-error-code="list-item, misc"

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
import truth
import truth_balls
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib.worst_cases import dominating_pairs, integer_noise
from accountlib.worst_cases.noise import (
    normal_tail,
    quotient,
    two_product,
    two_sum,
)

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


# --- mechanisms of one's own ----------------------------------------------


@dataclass(frozen=True)
class Louder(al.Gaussian):
    """A Gaussian mechanism of sensitivity 3, as a subclass."""

    def pair(self):
        return al.GaussianPair(3 / self.noise_multiplier)


@dataclass(frozen=True)
class Own(dominating_pairs.Mechanism):
    """A mechanism whose pair is whatever it was given."""

    answer: object

    def pair(self):
        return self.answer

    def exchange_pair(self):
        return self.answer


@dataclass(frozen=True)
class Unhashable(al.GaussianPair):
    table: object = None


class NotANumber(al.GaussianPair):
    def interval_masses(self, edges, widths, closed):
        p, q = super().interval_masses(edges, widths, closed)
        return p, math.nan * q


def test_a_subclass_is_another_mechanism():
    """Findings: it was answered as a plain Gaussian, [9.99, 10.0] for 42.8."""
    mechanism = Louder(0.5)
    once = al.Release(mechanism)
    same = al.Release(al.Gaussian(0.5 / 3))
    found = al.epsilon(once, delta=1e-5, adjacency="remove")
    known = al.epsilon(same, delta=1e-5, adjacency="remove")
    assert found.lower <= known.upper and known.lower <= found.upper
    for more in (
        {"adjacency": "remove", "group_size": 2},
        {"adjacency": "substitute"},
    ):
        with pytest.raises(NotImplementedError, match="Louder"):
            al.epsilon(once, delta=1e-5, **more)
    batch = al.Release(mechanism, al.FixedBatch(1, 10))
    with pytest.raises(NotImplementedError, match="Louder has a pair"):
        al.epsilon(batch, delta=1e-5, adjacency="remove")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (3.0, "must be a DominatingPair, got 3.0"),
        (Unhashable(1.0, 0.0, np.ones(2)), "must be hashable"),
        (NotANumber(1.0), "masses >= 0"),
    ],
    ids=["number", "unhashable", "nan"],
)
@pytest.mark.parametrize("sampling", [al.Poisson(0.1), al.FixedBatch(1, 10)])
def test_what_a_mechanism_must_not_answer(answer, words, sampling):
    run = al.Release(Own(answer), sampling)
    with pytest.raises(ValueError, match=f"pair\\(\\) of Own.*{words}"):
        al.epsilon(run, delta=1e-5, adjacency="remove")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *itertools.product([al.Laplace], [1e-320, 1e-200, 1e200]),
        *itertools.product([al.Gaussian], [1e-320, 1e-305, 1e305]),
    ],
)
def test_scales_beyond_floats(kind, value):
    """Their inverse, or its square, is no float."""
    name = "noise_multiplier" if kind is al.Gaussian else "scale"
    with pytest.raises(ValueError, match=rf"{name} must lie in .*, got 1e"):
        kind(value)


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


@given(
    a=st.floats(-1e100, 1e100),
    b=st.floats(1e-100, 1e100),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_sums_products_and_quotients_in_two_floats(a, b):
    high, low = two_sum(a, b)
    assert F(float(high)) + F(float(low)) == F(a) + F(b)
    if a == 0 or abs(a) > 1e-100:
        high, low = two_product(a, b)
        assert F(float(high)) + F(float(low)) == F(a) * F(b)
        high, low = quotient(a, b)
        error = abs(F(float(high)) + F(float(low)) - F(a) / F(b))
        assert error <= abs(F(a) / F(b)) * F(2) ** -100


def test_normal_tail_against_balls():
    rng = np.random.default_rng(4)
    z = np.append(rng.uniform(0, 37, 500), -rng.uniform(0, 37, 50))
    for x, found in zip(z.tolist(), normal_tail(z), strict=True):
        exact = truth_balls.normal_above(truth_balls.ball(x))
        error = truth_balls.ball(float(found)) / exact - 1
        assert abs(float(error)) < 10 * dominating_pairs.UNIT
    ends = normal_tail(np.array([-np.inf, -50.0, 50.0, np.inf]))
    assert ends.tolist() == [1, 1, 0, 0]
