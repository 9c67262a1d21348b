"""Masses of dominating pairs: mpmath, balls, exact fractions."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import itertools
import math
from fractions import Fraction as F
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib.engine import single_runs
from accountlib.samplers.cut_off import LabelledPair
from tests import truth
from tests.engine.random_tables import ANSWERS
from tests.worst_cases.known_losses import pair_of

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


@pytest.mark.in_turn(8)
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


# --- reversing ------------------------------------------------------------


PAIRS = [
    al.GaussianPair(0.7),
    al.LaplacePair(2.0),
    al.DiscretePair([0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.0, 0.5]),
    al.SampledPair(al.GaussianPair(2.0), 0.1),
    al.SampledPair(al.LaplacePair(0.5), 0.25),
    al.SampledPair(al.DiscretePair([0.5, 0.5, 0], [0.25, 0, 0.75]), 0.5),
    LabelledPair((al.GaussianPair(0.7), al.LaplacePair(2.0)), (0.25, 0.75)),
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


# --- which pair for which question ----------------------------------------


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


def test_pairs_whose_largest_losses_differ_are_not_the_same():
    """1/s is the same float for both, but not the same number."""
    scales = [1.9 + k * 2.0**-52 for k in range(8)]
    pairs = [al.DiscreteLaplace(s).pair() for s in scales]
    twins = [
        (x, y)
        for x, y in itertools.pairwise(pairs)
        if isinstance(x, al.DiscretePair)
        and isinstance(y, al.DiscretePair)
        and (x.p, x.atoms) == (y.p, y.atoms)
    ]
    assert twins
    for one, other in twins:
        assert one.largest_loss != other.largest_loss and one != other
        assert one == one.reversed()


# --- to the last bit: small and exact ----------------------------------------


@pytest.mark.parametrize("scale", [1e10, 1e17, 1e300])
@pytest.mark.parametrize("sensitivity", [1, 2, 5])
def test_losses_too_small_for_floats_are_not_0(scale, sensitivity):
    for sampling in (al.FullBatch(), al.FixedBatch(1, 2), al.Poisson(0.5)):
        pair = al.dominating_pairs(
            al.DiscreteLaplace(scale, sensitivity),
            sampling=sampling,
            adjacency="substitute",
        )[0]
        assert 0 < pair.loss_range[1]
        assert pair.delta(0.0) > 0


@pytest.mark.parametrize("noise", [3e-5, 1.1, 7e3])
def test_masses_of_gaussian_noise_mean_the_exact_quotient(noise):
    """mu = 1/noise is no float: far from 0 its rounding would show."""
    pair: Any = al.Gaussian(noise).pair()
    edges = np.concatenate([-1.5 * pair.mu * np.array([3.0, 0.1]), [0.0]])
    edges = np.append(edges, np.array([0.1, 0.5, 2.0]) * pair.mu)
    edges = edges * max(1.0, 20 / (pair.mu + 1e-300) if noise > 1 else 1.0)
    edges = np.sort(pair.mu**2 / 2 + edges)
    masses = pair.interval_masses(edges, np.diff(edges), "right")
    with mp.workdps(60):
        mu = 1 / mp.mpf(noise)
        places = [mp.mpf(x) / mu for x in edges.tolist()]
        for found, half in zip(masses, (-mu / 2, mu / 2), strict=True):
            for k in range(1, len(edges)):
                a, b = places[k - 1] + half, places[k] + half
                if a > 0:
                    a, b = -b, -a
                exact = mp.ncdf(b) - mp.ncdf(a)
                if exact > 1e-300:
                    room = float(pair.mass_error(np.array([float(exact)]))[0])
                    assert abs(found[k] / exact - 1) <= room


@pytest.mark.parametrize("make, kind, numbers, sampler, group, count", ANSWERS)
def test_arrays_that_pairs_keep_are_read_only(
    make, kind, numbers, sampler, group, count
):
    samplers = {"full": al.FullBatch, "poisson": al.Poisson}
    sampling = samplers.get(sampler[0], al.FixedBatch)(*sampler[1:])
    for adjacency in ("add", "substitute"):
        pairs = al.dominating_pairs(
            make(*numbers),
            sampling=sampling,
            adjacency=adjacency,
            group_size=group if adjacency == "add" else 1,
        )
        for pair in pairs:
            pair.delta(0.1)
            single_runs.run_curve(pair, np.array([0.0, 0.1]))
            inner = [getattr(pair, x, None) for x in ("pair", "base", "half")]
            for one in (pair, *inner):
                for kept in vars(one).values() if one is not None else ():
                    if isinstance(kept, np.ndarray):
                        assert not kept.flags.writeable


@pytest.mark.parametrize(
    "make, numbers", {(row[0], row[2]): 0 for row in ANSWERS[3:10]}
)
@pytest.mark.parametrize("closed", ["left", "right"])
def test_atoms_on_edges_belong_to_one_side(make, numbers, closed):
    """A symmetric pair, seen from both sides."""
    other: Any = "left" if closed == "right" else "right"
    for sampling in (al.FullBatch(), al.Poisson(0.3), al.FixedBatch(1, 3)):
        pair = al.dominating_pairs(
            make(*numbers), sampling=sampling, adjacency="substitute"
        )[0]
        edges = np.unique([*pair.atoms, -1.0, -0.2, 0.0, 0.2, 1.0])
        if edges[0] != -edges[-1] or len(edges) > 400:
            continue
        edges = np.unique([*edges, *-edges])
        p, q = pair.interval_masses(edges, np.diff(edges), closed)
        back = pair.interval_masses(edges, np.diff(edges), other)
        assert p == pytest.approx(back[1][::-1], rel=1e-12, abs=1e-300)
        # Atoms of samples may be rounded to the other side of an edge.
        whole = make is al.DiscreteGaussian and sampling == al.FullBatch()
        if closed == "right" and whole:
            at = np.isin(edges, pair.atoms)
            up_to, below = np.cumsum(p)[:-1][at], np.cumsum(back[0])[:-1][at]
            assert np.all((up_to > below) | (up_to < 1e-9) | (below > 0.999))
        assert q == pytest.approx(back[0][::-1], rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("scale", [1e-3, 0.01, 7.0])
def test_masses_of_laplace_noise_of_groups_mean_the_exact_quotient(scale):
    pair = al.dominating_pairs(
        al.Laplace(scale),
        sampling=al.FullBatch(),
        adjacency="remove",
        group_size=3,
    )[0]
    with mp.workdps(60):
        most = 3 / mp.mpf(scale)
        ends = np.array([0.9, 0.5, 0.1, 0.01, 1e-3]) * min(float(most), 5.0)
        edges = np.unique([*(float(most) - ends), *(ends - float(most))])
        masses = pair.interval_masses(edges, np.diff(edges), "right")
        for found, sign in zip(masses, (1, -1), strict=True):
            for k in range(1, len(edges)):
                a, b = (
                    mp.exp((sign * mp.mpf(x) - most) / 2) / 2
                    for x in edges[k - 1 : k + 1].tolist()
                )
                exact = abs(b - a)
                if exact > 1e-290:
                    room = float(pair.mass_error(np.array([float(exact)]))[0])
                    assert abs(found[k] / exact - 1) <= room
