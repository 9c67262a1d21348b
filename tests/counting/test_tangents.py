"""Tables from below, and the convex hull that they rest on."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib.counting import any_pair, tangents
from accountlib.counting.any_pair import convex_hull, discretize
from accountlib.worst_cases import dominating_pairs
from tests import truth
from tests.counting.pairs import PAIRS, spread, tables
from tests.engine.exact_sums import exact_delta

UPPER, LOWER = ("upper", "buckets-upper"), ("lower", "buckets-lower")
GAUSS, LAPLACE = al.Gaussian(1.0).pair(), al.Laplace(0.7).pair()
named = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)


# --- optimistic tables ----------------------------------------------------


@pytest.mark.parametrize("step", [0.01, 0.3, 1.0, 3.7])
def test_equal_distributions_give_no_delta(step):
    """Lemma 5.3 (trap 19): the grid must know alpha = 1."""
    pair = PAIRS["equal"]
    for bound in LOWER:
        table = al.discretize(pair, step=step, bound=bound)
        for epsilon in (0.0, 1e-9, 0.1, 2.0):
            assert table.delta(epsilon) == 0
        assert table.delta(-1.0) <= -math.expm1(-1.0)
        assert table.epsilon(0.0) == 0
    # without alpha = 1 the chord would lie above (1 - alpha)_+
    low, high = math.exp(-step / 2), math.exp(step / 2)
    chord = (1 - low) * (high - 1) / (high - low)
    assert chord > 0


def test_there_is_no_best_optimistic_table():
    """Lemma 5.1: two valid optimistic curves without a common majorant.

    A = (1, 3, 1, 0)/5 against its reverse, on the grid 0, 1/3, 1, 2, 4.
    """
    exact = truth.ExactPair.of(
        [F(1, 5), F(3, 5), F(1, 5), F(0)], [F(0), F(1, 5), F(3, 5), F(1, 5)]
    )
    alphas = [F(0), F(1, 3), F(1), F(2), F(4)]
    first = [F(1), F(11, 15), F(13, 25), F(1, 5), F(1, 5)]
    second = [F(1), F(11, 15), F(3, 5), F(2, 5), F(0)]

    def at(values, alpha):
        for (a1, h1), (a2, h2) in zip(
            zip(alphas, values, strict=True),
            zip(alphas[1:], values[1:], strict=True),
            strict=False,
        ):
            if a1 <= alpha <= a2:
                return h1 + (h2 - h1) * (alpha - a1) / (a2 - a1)
        raise ValueError(alpha)

    fine = [F(k, 60) for k in range(241)]
    for values in (first, second):
        assert all(at(values, a) <= exact.delta_at(a) for a in fine)
    assert exact.delta_at(F(3)) == F(1, 5)
    common = [max(a, b) for a, b in zip(first, second, strict=True)]
    assert at(common, F(3)) == F(3, 10) > exact.delta_at(F(3))


def test_optimistic_buckets_may_be_no_distribution():
    """Section 5.2: losses of a coin on a grid that is too coarse.

    P-mass m at loss l needs Q-mass m e^-l; the sum may exceed 1.
    """
    coin = al.RandomizedResponse(0.75).pair()
    table = al.discretize(coin, step=4.0, bound="buckets-lower")
    q_mass = float(np.sum(np.asarray(table.mass) * np.exp(-table.losses)))
    assert q_mass > 1
    for bound in ("upper", "lower", "buckets-upper"):
        table = al.discretize(coin, step=4.0, bound=bound)
        q_mass = float(np.sum(np.asarray(table.mass) * np.exp(-table.losses)))
        assert q_mass <= 1 + 1e-9


@named
@pytest.mark.parametrize("cells", [3, 50, 2000])
def test_tables_that_are_distributions(pair, cells):
    """Q-mass at most 1: the validity of Lemma 2.1 for all but one kind."""
    step = spread(pair) / cells
    for bound in ("upper", "buckets-upper", "lower"):
        table = al.discretize(pair, step=step, bound=bound)
        q_mass = float(np.asarray(table.mass) @ np.exp(-table.losses))
        if bound != "upper":
            assert q_mass <= 1 + 1e-9
        else:  # what lies below the first point has less Q-mass there
            assert q_mass <= 1 + 1e-9


def test_infinite_losses_may_cost_the_distribution():
    """Where P has some, a lower table may have too much Q-mass; it bounds."""
    pair, at = al.DiscretePair((0.4, 0.6), (0.0, 1.0)), np.linspace(-2, 2, 81)
    for infinite, one in ((True, pair), (False, pair.reversed())):
        table = al.discretize(one, step=0.3, bound="lower")
        q_mass = float(np.asarray(table.mass) @ np.exp(-table.losses))
        assert (q_mass > 1) == infinite
        assert np.all(table.delta(at) <= np.asarray(one.delta(at)) + 1e-15)


@settings(max_examples=120, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 7),
    step=st.floats(0.003, 5),
    tail=st.sampled_from([1e-30, 1e-3]),
)
def test_random_discrete_pairs_stay_bounded(seed, size, step, tail):
    """Zeros on both sides included; the exact curve is in fractions."""
    rng = np.random.default_rng(seed)
    p, q = (truth.dyadic_distribution(rng, size, bits=6) for _ in range(2))
    exact = truth.ExactPair.of(p, q)
    made = tables(al.DiscretePair(p, q), step, tail_mass=tail)
    for epsilon in rng.uniform(-4, 4, 12):
        value = float(exact.delta(epsilon)[0])
        slack = 1e-13 * value + 1e-15
        for bound in UPPER:
            assert made[bound].delta(epsilon) >= value - slack
        for bound in LOWER:
            assert made[bound].delta(epsilon) <= value + slack


@pytest.mark.parametrize("offset", [-1e-9, -1e-15, 0.0, 1e-15, 1e-9])
@pytest.mark.parametrize("step", [0.5, math.log(3), math.log(3) / 7])
def test_atoms_on_and_beside_grid_points(offset, step):
    """A coin whose losses are +-ln 3, moved by a hair."""
    p = 0.75 + offset
    coin = al.DiscretePair([p, 1 - p], [1 - p, p])
    exact = truth.ExactPair.of([F(p), 1 - F(p)], [1 - F(p), F(p)])
    made = tables(coin, step)
    for epsilon in (-2.0, -1.0, 0.0, 0.2, 0.9, 1.0, 1.0986, 1.2):
        # `bound_tables` counts 2^-43 for an atom that is rounded across
        low = float(exact.delta(epsilon + 2.0**-43)[0])
        high = float(exact.delta(epsilon - 2.0**-43)[0])
        for bound in UPPER:
            assert made[bound].delta(epsilon) >= low
        for bound in LOWER:
            assert made[bound].delta(epsilon) <= high


# --- the table itself -----------------------------------------------------


@named
@pytest.mark.parametrize("tail", [1e-3, 1e-12, 1e-100])
def test_loss_quantiles(pair, tail):
    low, high = any_pair.loss_quantiles(pair, tail)
    assert pair.loss_range[0] <= low <= high <= pair.loss_range[1]
    p_below = pair.masses([low - 1e-12])[0][0]
    p_above = pair.masses([high + 1e-12])[0][1]
    assert p_below <= tail * (1 + 1e-9) and p_above <= tail * (1 + 1e-9)


def test_loss_quantiles_are_tight():
    low, high = any_pair.loss_quantiles(GAUSS, 1e-9)
    assert -5.7 < low < -5.49 and 6.49 < high < 6.7


# --- the convex hull ------------------------------------------------------


def curve_of(losses, mass, epsilon):
    with mp.workdps(30):
        return mp.fsum(
            mp.mpf(m) * max(mp.mpf(0), 1 - mp.exp(mp.mpf(epsilon) - x))
            for m, x in zip(mass, losses, strict=True)
        )


@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), size=st.integers(2, 12))
def test_convex_hull_against_a_hull_of_points(seed, size):
    """The largest convex curve below: compared with the hull by geometry."""
    rng = np.random.default_rng(seed)
    losses = 0.3 * (np.arange(size) - size // 2)
    mass = rng.exponential(size=size) * rng.choice([1.0, -0.15], size=size)
    # below a convex curve: the wild entries only lower it
    total = float(mass.sum())
    h = [float(curve_of(losses, mass, x)) for x in losses]
    alpha = np.exp(losses)
    if total <= 0.1 or min(h) < 0:
        return
    hull = any_pair.convex_hull(losses, mass)
    assert np.all(hull >= 0)
    points = [(0.0, total), *zip(alpha, h, strict=True)]
    if any(y > total - 1e-12 for _, y in points[1:]):
        return
    chain: list[tuple[float, float]] = []
    for x, y in points:
        while len(chain) > 1 and (chain[-1][1] - chain[-2][1]) * (
            x - chain[-2][0]
        ) >= (y - chain[-2][1]) * (chain[-1][0] - chain[-2][0]):
            chain.pop()
        chain.append((x, y))
    xs, ys = zip(*chain, strict=True)
    for x, a in zip(losses, alpha, strict=True):
        expected = float(np.interp(a, xs, ys))
        found = float(curve_of(losses, hull, x))
        assert found <= expected + 1e-14
        assert found >= expected - 1e-9 * max(total, 1)


def test_drop_negative_stays_below():
    rng = np.random.default_rng(9)
    losses = 0.1 * np.arange(30)
    for _ in range(20):
        mass = rng.exponential(size=30) - 0.05
        kept = any_pair.drop_negative(mass)
        assert np.all(kept >= 0)
        for x in losses[::5]:
            below = curve_of(losses, mass, x)
            assert curve_of(losses, kept, x) <= max(below, 0) + 1e-14
    assert any_pair.drop_negative(np.array([0.5, 0.5])).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    "rate, half", [(1e-6, 1e-9), (1e-3, 1e-6), (0.5, 1e-3)]
)
def test_tangents_of_exact_masses_are_rounded_down(rate, half):
    """Where P and Q are nearly equal, only rounding is left to be counted.

    The masses are taken as exact. In the middle of the table the chain has to
    lie below the tangent of each cell, at both of its ends.
    """
    pair = al.SampledPair(al.GaussianPair(0.25), rate)
    edges = half * np.arange(-60, 61)
    p, q = pair.masses(edges)
    none = dominating_pairs.ExcessError(0 * p, 0 * p, 0 * p)
    share = tangents.lower_share(2 * half, edges, p, q, none)
    with mp.workdps(60):
        p, q, share = (
            np.array([mp.mpf(float(x)) for x in y]) for y in (p, q, share)
        )
        alpha = [mp.exp(mp.mpf(float(x))) for x in edges]
        true_p, true_q, chain_p, chain_q = (
            p[-1],
            q[-1],
            p[-1],
            p[-1] / alpha[-1],
        )
        for k in range(59, -1, -1):
            low, high = alpha[2 * k], alpha[2 * k + 2]
            chain_p, chain_q = chain_p + share[k], chain_q + share[k] / high
            true_p, true_q = true_p + p[2 * k + 2], true_q + q[2 * k + 2]
            for at in (low, high) if 10 <= k < 50 else ():
                tangent = true_p - at * true_q
                assert tangent * (1 - 1e-6) < chain_p - at * chain_q <= tangent
            rest = p[2 * k + 1] + p[2 * k + 2] - share[k]
            chain_p, chain_q = chain_p + rest, chain_q + rest / low
            true_p, true_q = true_p + p[2 * k + 1], true_q + q[2 * k + 1]


# --- found by attacks --------------------------------------------------------


# Lower tables: an atom less than `hair` below a grid point counts as on it
@pytest.mark.parametrize("step", [0.1, 0.5])
@pytest.mark.parametrize("below", [1e-9, 8e-8])
def test_lower_discretization_with_an_atom_below_a_grid_point(step, below):
    loss = 6 * step - below
    likely = math.exp(loss) / (1 + math.exp(loss))
    p, q = (likely, 1 - likely), (1 - likely, likely)
    pair = al.DiscretePair(p, q)
    table = discretize(pair, step=step, bound="lower")
    for at in (pair.atoms[1], pair.atoms[1] - below / 2):
        truth = exact_delta([(p, q)], at)
        assert table.delta(at) <= truth + 1e-14


# --- to the last bit: small and exact ----------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_hulls_lie_below_where_the_last_mass_is_negative(seed):
    """What is missing at the end is taken from the largest losses."""
    random = np.random.default_rng(seed)
    losses = np.cumsum(random.uniform(0.01, 0.4, 12))
    mass = random.dirichlet(np.ones(12))
    mass[-1] = -0.3 * mass[-2]
    mass[4] *= random.choice([1.0, -0.1])
    hull = convex_hull(losses, mass)
    assert np.all(hull >= 0)
    for at in [-1.0, *losses]:
        gain = np.maximum(-np.expm1(at - losses), 0)
        assert hull @ gain <= max(0.0, float(mass @ gain)) + 1e-15
    assert math.fsum(hull) > 0.5 * math.fsum(mass)
