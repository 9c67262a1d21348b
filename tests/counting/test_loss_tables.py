"""Tables of the privacy loss are bounds, and good ones."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from fractions import Fraction as F
from typing import get_args

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib.counting import any_pair, loss_tables
from accountlib.counting.loss_tables import grid_epsilon, upper_share
from accountlib.worst_cases import dominating_pairs
from tests import truth
from tests.counting.pairs import PAIRS, spread, tables
from tests.truth import exact_pairs

UPPER, LOWER = ("upper", "buckets-upper"), ("lower", "buckets-lower")
BOUNDS = get_args(loss_tables.BoundKind)
GAUSS, LAPLACE = al.Gaussian(1.0).pair(), al.Laplace(0.7).pair()
INFINITE = al.DiscretePair([0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.0, 0.5])
named = pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)


# --- the order ------------------------------------------------------------


@named
@pytest.mark.parametrize("cells", [1.7, 10, 33.3, 1000])
def test_the_order_of_the_bounds(pair, cells):
    """lower <= truth <= upper <= buckets-upper; buckets-lower <= truth.

    buckets-lower may lie on either side of "lower". The slack is the
    rounding of `delta` itself, 1e-13.
    """
    step = spread(pair) / cells
    made = tables(pair, step)
    epsilons = np.linspace(-1.2, 1.2, 97) * spread(pair)
    exact = pair.delta(epsilons)
    curve = {bound: table.delta(epsilons) for bound, table in made.items()}
    slack = 1e-13 * exact + 3e-16
    assert np.all(curve["lower"] <= exact + slack)
    assert np.all(curve["buckets-lower"] <= exact + slack)
    assert np.all(exact <= curve["upper"] + slack)
    assert np.all(curve["upper"] <= curve["buckets-upper"] * (1 + 1e-11))


@pytest.mark.in_turn(8)
@named
@pytest.mark.parametrize("cells", [1.7, 33.3, 1000])
def test_upper_meets_the_curve_at_the_grid_points(pair, cells):
    """Lemma 4.1: the chord between neighbouring points of the curve."""
    table = al.discretize(pair, step=spread(pair) / cells, tail_mass=1e-60)
    losses = table.losses
    exact = pair.delta(losses)
    found = table.delta(losses)
    # Below the first cell nothing is known; atoms beside a grid point may
    # be rounded across it.
    assert np.all(np.abs(found - exact)[1:-1] <= 1e-12)


def test_upper_meets_the_curve_far_in_the_tail():
    """At grid points, relative accuracy: masses are no second differences."""
    table = al.discretize(GAUSS, step=0.01, tail_mass=1e-290)
    for k in (0, 500, 1500, 2500):
        loss = table.losses[np.searchsorted(table.losses, k * 0.01 - 1e-9)]
        exact = al.gaussian_delta(loss, mu=1.0)
        assert exact < 1e-2 or k < 1000
        assert math.isclose(table.delta(loss), exact, rel_tol=1e-9)


# --- total mass -----------------------------------------------------------


@pytest.mark.in_turn(8)
@named
@pytest.mark.parametrize(
    "step", [1e-4, 1e-3, 0.01, 0.3, 1.0, 7.0, 50.0, 500.0, 1e4, 1e9]
)
def test_masses_sum_to_one_at_any_step(pair, step):
    for bound, table in tables(pair, step).items():
        total = math.fsum(table.mass) + table.infinity_mass
        assert np.all(np.asarray(table.mass) >= 0)
        if bound == "upper":
            assert 1 - 1e-15 <= total <= 1 + 1e-12
        elif bound == "buckets-upper":
            assert 1 - 1e-15 <= total <= 1 + 1e-12
        elif bound == "buckets-lower":
            # what is below the first point is left out
            assert total <= 1
        else:
            assert 1 - 1e-12 <= total <= 1


@pytest.mark.parametrize("noise", [0.01, 0.03, 0.1, 30.0, 1e3, 1e5])
@pytest.mark.parametrize("rate", [1.0, 0.3, 1e-6])
def test_extreme_noise(noise, rate):
    """Losses beyond 600 fall back on buckets, and stay bounds."""
    pairs = al.dominating_pairs(
        al.Gaussian(noise),
        sampling=al.Poisson(rate),
        adjacency="add-or-remove",
    )
    for pair in pairs:
        low, high = any_pair.loss_quantiles(pair, 1e-12)
        width = max(high - low, 1e-3)
        for step in (width / 7.3, width / 300):
            made = tables(pair, step)
            for table in made.values():
                total = math.fsum(table.mass) + table.infinity_mass
                assert total <= 1 + 1e-12
            for epsilon in np.linspace(low, min(high, 690), 9)[1:-1]:
                exact = pair.delta(epsilon)
                slack = 1e-12 * exact + 3e-15
                for bound in UPPER:
                    assert made[bound].delta(epsilon) >= exact - slack
                for bound in LOWER:
                    assert made[bound].delta(epsilon) <= exact + slack


def test_a_loss_far_beyond_six_hundred():
    pair = al.Gaussian(0.01).pair()  # losses near 5000
    upper = al.discretize(pair, step=1.0)
    lower = al.discretize(pair, step=1.0, bound="lower")
    for epsilon in (4700.0, 5000.0, 5200.0):
        exact = al.gaussian_delta(epsilon, mu=100.0)
        assert lower.delta(epsilon) <= exact <= upper.delta(epsilon)
        assert upper.delta(epsilon) - lower.delta(epsilon) < 0.01


@pytest.mark.parametrize("mu", [1.5e6, 1e9, 1e155, 1e300])
def test_losses_beyond_all_powers_that_were_tried(mu):
    """All of the loss lies near mu**2/2, which may be no float."""
    pair, step = al.GaussianPair(mu), min(mu * mu / 1000, 1e297)
    sides = "upper", "lower"
    upper, lower = (al.discretize(pair, step=step, bound=x) for x in sides)
    for epsilon in (0.0, 1.0, step):
        assert lower.delta(epsilon) <= 1 <= upper.delta(epsilon)
        assert lower.delta(epsilon) > 0.9
    with pytest.raises(loss_tables.GridTooFine):
        al.discretize(pair, step=5e-324)


@pytest.mark.parametrize("mu, step", [(0.5, 0.7), (1.0, 0.7), (3.7, 0.25)])
def test_mass_beyond_the_grid_is_rounded_up(mu, step):
    """As far as the pair says that a mass may be off, and not less."""
    for tail in (1e-12, 1e-9, 1e-5):
        table = al.discretize(al.GaussianPair(mu), step=step, tail_mass=tail)
        end = step * (table.first_index + len(table.mass) - 1)
        at = mp.mpf(end) / mu - mp.mpf(mu) / 2
        assert table.infinity_mass >= mp.erfc(at / mp.sqrt(2)) / 2


def test_the_tail_goes_to_the_safe_side():
    """A coarse tail_mass: cut off, moved to infinity or to the last point."""
    made = tables(GAUSS, 0.01, tail_mass=1e-3)
    epsilons = np.linspace(-6, 9, 61)
    exact = GAUSS.delta(epsilons)
    assert 1e-4 < made["upper"].infinity_mass < 1e-3
    assert made["lower"].infinity_mass == 0
    for bound in UPPER:
        assert np.all(made[bound].delta(epsilons) >= exact * (1 - 1e-13))
    for bound in LOWER:
        assert np.all(made[bound].delta(epsilons) <= exact * (1 + 1e-13))
    last = made["upper"].losses[-1]
    assert made["upper"].delta(last + 5) == made["upper"].infinity_mass
    assert made["lower"].delta(last + 5) == 0


def test_a_cut_below_losses_that_are_all_positive():
    """Losses 200 +- 20: the lower curve must still know 0 and its line."""
    pair = al.Gaussian(0.05).pair()
    made = tables(pair, 1.0, tail_mass=1e-3)
    epsilons = np.linspace(-5, 300, 123)
    exact = pair.delta(epsilons)
    for bound in LOWER:
        assert np.all(made[bound].delta(epsilons) <= exact * (1 + 1e-13))
    for bound in UPPER:
        assert np.all(made[bound].delta(epsilons) >= exact * (1 - 1e-13))
    shifted = al.SampledPair(al.DiscretePair([1, 0], [0.25, 0.75]), 0.5)
    for step in (0.1, 0.7, 2.0):  # P(inf) = 0, one loss below 0, one above
        table = al.discretize(shifted, step=step, bound="lower")
        for epsilon in (-1.0, -0.5, 0.0, 0.5):
            assert table.delta(epsilon) <= shifted.delta(epsilon) + 1e-15


def test_buckets_keep_an_atom_on_the_grid():
    """Lower buckets are [a, b), upper ones (a, b]: an atom at 2 stays."""
    pair = al.Laplace(0.5).pair()
    for bound in ("buckets-lower", "buckets-upper"):
        table = al.discretize(pair, step=0.5, bound=bound)
        at_two = np.asarray(table.mass)[np.flatnonzero(table.losses == 2.0)]
        assert at_two.sum() >= 0.5 - 1e-13


@pytest.mark.parametrize("bound", BOUNDS)
def test_infinite_masses(bound):
    for pair in (INFINITE, INFINITE.reversed()):
        table = al.discretize(pair, step=0.01, bound=bound)
        wanted = pair.infinite_mass[0]
        assert math.isclose(table.infinity_mass, wanted, rel_tol=1e-15)
        if bound in UPPER:
            assert table.infinity_mass > wanted
        else:
            assert table.infinity_mass < wanted
    nothing = al.DiscretePair([0.0, 1.0], [1.0, 0.0])
    table = al.discretize(nothing, step=0.1, bound=bound)
    assert table.delta(5.0) >= 1 - 1e-15 and math.fsum(table.mass) == 0


# --- Algorithm 1, Lemma 4.1 -----------------------------------------------


def exact_algorithm_1(exact, alphas):
    """Masses of the chord curve from its slopes, in fractions.

    Doroshenko et al., Algorithm 1: s_i are slopes between neighbours,
    Q = differences of slopes, P = alpha Q.
    """
    h = [exact.delta_at(a) for a in alphas]
    slopes = [
        (h2 - h1) / (a2 - a1)
        for h1, h2, a1, a2 in zip(h, h[1:], alphas, alphas[1:], strict=False)
    ]
    q = [s2 - s1 for s1, s2 in zip(slopes, [*slopes[1:], 0], strict=True)]
    return [a * w for a, w in zip(alphas[1:], q, strict=True)], h[-1]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), size=st.integers(1, 6))
def test_algorithm_1_in_fractions(seed, size):
    """discretize against Algorithm 1 on the same pair, both forms."""
    rng = np.random.default_rng(seed)
    p, q = (truth.dyadic_distribution(rng, size, bits=5) for _ in range(2))
    exact = truth.ExactPair.of(p, q)
    step = float(rng.choice([0.13, 0.37, 1.1]))
    table = al.discretize(al.DiscretePair(p, q), step=step)
    count = len(np.asarray(table.mass))
    # the grid in fractions, with 0 (loss -inf) in front
    with mp.workdps(50):
        grid = [
            exact_pairs._fraction(mp.exp(mp.mpf(step) * k))
            for k in range(table.first_index, table.first_index + count)
        ]
    for i, j in exact.weights:
        if j and min(abs(F(i, j) / a - 1) for a in grid) < F(1, 10**12):
            return  # an atom on the grid: rounding decides its cell
    masses, infinite = exact_algorithm_1(exact, [F(0), *grid])
    assert infinite == F(exact.weights.get((1, 0), 0), exact.denominator)
    # The notebook's table puts what lies below the first point there.
    assert np.allclose(
        np.asarray(table.mass)[1:],
        [float(m) for m in masses[1:]],
        rtol=1e-9,
        atol=1e-14,
    )


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_upper_is_the_least_pessimistic_table(seed):
    """Lemma 4.1: below every convex piecewise-linear majorant on the grid.

    The majorant is made from another table: random masses on the grid,
    added until its curve is above the truth at every grid point.
    """
    rng = np.random.default_rng(seed)
    pair = list(PAIRS.values())[int(rng.integers(0, 8))]
    step = spread(pair) / float(rng.uniform(3, 30))
    table = al.discretize(pair, step=step)
    losses, alpha = table.losses, np.exp(table.losses)
    # convex, decreasing, piecewise linear in alpha with kinks on the grid
    slopes = -np.sort(rng.exponential(size=len(alpha)) ** 3)[::-1]
    h = np.append(np.cumsum((slopes[1:] * np.diff(alpha))[::-1])[::-1], 0.0)
    h = -h * float(rng.choice([1.0, 0.01]))
    truth_at = pair.delta(losses)
    h += max(0.0, float(np.max(truth_at - h)))  # now a majorant
    between = losses[:-1] + step * rng.uniform(0, 1, len(losses) - 1)
    majorant = np.interp(np.exp(between), alpha, h)
    assert np.all(pair.delta(between) <= majorant * (1 + 1e-9) + 1e-12)
    assert np.all(table.delta(between) <= majorant * (1 + 1e-9) + 1e-12)


def test_least_among_tables_that_dominate():
    """The buckets of a shifted grid are another dominating table."""
    for pair in (GAUSS, LAPLACE, INFINITE):
        best = al.discretize(pair, step=0.25)
        rival = al.discretize(pair, step=0.25, bound="buckets-upper")
        for epsilon in np.linspace(-2, 2, 41):
            assert best.delta(epsilon) <= rival.delta(epsilon) + 1e-14


# --- convergence ----------------------------------------------------------


def pair_scale(pair):
    """Where the body of the losses is: the 10 % and 90 % points."""
    low, high = any_pair.loss_quantiles(pair, 0.1)
    return high - low


def log_slope(errors, steps):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


def mean_errors(pair, steps, bound, epsilons):
    """Mean distance of the table's curve from the true one, per step."""
    exact = pair.delta(epsilons)
    tables = [al.discretize(pair, step=step, bound=bound) for step in steps]
    return [np.mean(np.abs(table.delta(epsilons) - exact)) for table in tables]


@pytest.mark.parametrize(
    "pair",
    [GAUSS, al.SampledPair(GAUSS, 0.1), al.SampledPair(GAUSS, 0.1).reversed()],
    ids=["plain", "remove", "add"],
)
@pytest.mark.parametrize(
    ("bound", "order"),
    [("upper", 2), ("lower", 2), ("buckets-upper", 1), ("buckets-lower", 1)],
)
def test_order_of_convergence(pair, bound, order):
    """Dots: the square of the step. Buckets: the step itself."""
    steps = np.array([0.02, 0.01, 0.005, 0.0025]) * pair_scale(pair)
    epsilons = np.linspace(0.05, 0.6, 61) * pair_scale(pair)
    errors = mean_errors(pair, steps, bound, epsilons)
    assert abs(log_slope(errors, steps) - order) < 0.25


@pytest.mark.parametrize("bound", ["upper", "lower"])
@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_laplace_converges_with_the_square_too(bound, scale):
    """On a grid that meets both atoms nothing of first order is left."""
    pair = al.Laplace(scale).pair()
    steps = np.array([1 / 8, 1 / 16, 1 / 32, 1 / 64]) / scale
    epsilons = np.linspace(0.05, 0.95, 37) / scale
    errors = mean_errors(pair, steps, bound, epsilons)
    assert log_slope(errors, steps) > 1.75


# --- the table itself -----------------------------------------------------


def test_delta_of_a_table_by_its_formula():
    table = al.PrivacyLossDistribution(0.5, -2, [0.1, 0.2, 0.3, 0.4], 0.0)
    assert table.losses.tolist() == [-1.0, -0.5, 0.0, 0.5]
    for epsilon in (-3.0, -0.7, 0.0, 0.2, 0.5, 4.0):
        plain = sum(
            m * max(0.0, 1 - math.exp(epsilon - x))
            for m, x in zip(table.mass, table.losses, strict=True)
        )
        assert math.isclose(table.delta(epsilon), plain, abs_tol=1e-16)
    assert table.delta([[0.0]]).shape == (1, 1)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), part=st.floats(0.001, 0.999))
def test_epsilon_inverts_delta(seed, part):
    rng = np.random.default_rng(seed)
    mass = rng.exponential(size=int(rng.integers(1, 30))) ** 4
    infinity = float(rng.choice([0.0, 0.1]))
    mass *= (1 - infinity) / mass.sum()
    first = int(rng.integers(-20, 10))
    table = al.PrivacyLossDistribution(0.2, first, mass, infinity)
    delta = part * table.delta(0.0)
    epsilon = table.epsilon(delta)
    if delta < infinity:
        assert epsilon == math.inf
    else:
        assert epsilon >= 0
        assert table.delta(epsilon) <= delta * (1 + 1e-9) + 1e-15
        if epsilon > 1e-6:  # and no smaller one will do
            assert table.delta(epsilon * (1 - 1e-6)) >= delta * (1 - 1e-9)
    assert table.epsilon(1.0) == 0


def test_a_table_is_a_value_that_cannot_change():
    mass = np.array([0.5, 0.5])
    table = al.PrivacyLossDistribution(1.0, 0, mass, 0.0)
    mass[0] = 7
    assert table.mass[0] == 0.5
    with pytest.raises(ValueError):
        table.mass[0] = 1
    with pytest.raises(AttributeError):
        table.step = 2


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 40),
    step=st.floats(1e-6, 3),
)
def test_grid_curve_against_high_precision(seed, size, step):
    rng = np.random.default_rng(seed)
    mass = rng.exponential(size=size) ** 6
    curve = loss_tables.grid_curve(step, mass)
    with mp.workdps(40):
        for k in (0, size // 2, size - 1):
            exact = mp.fsum(
                -mp.expm1(-(j - k) * mp.mpf(step)) * mp.mpf(mass[j])
                for j in range(k + 1, size)
            )
            allowed = (size + 100) * mp.mpf(1.2e-16) * exact
            assert abs(curve[k] - exact) <= allowed


def test_grid_curve_of_a_long_fine_grid():
    """Relative error below (n + 100) 1.2e-16 for n = 100,000 masses."""
    size, step = 100_000, 1e-5
    curve = loss_tables.grid_curve(step, np.full(size, 1.0 / size))
    with mp.workdps(40):
        x = mp.exp(-mp.mpf(step))
        for k in (0, 30_000, size - 2):
            m = size - 1 - k
            exact = (m - x * (1 - x**m) / (1 - x)) / size
            assert abs(curve[k] / exact - 1) < (size + 100) * 1.2e-16


# --- the convex hull ------------------------------------------------------


@pytest.mark.in_turn(3)
def test_mass_error_covers_the_masses():
    """The stated error of interval masses, against 42 digits."""
    for kind, noise, rate in [
        ("gaussian", 1.0, 1.0),
        ("gaussian", 0.3, 0.01),
        ("laplace", 0.5, 1.0),
        ("laplace", 3.0, 0.2),
    ]:
        mechanism = (al.Gaussian if kind == "gaussian" else al.Laplace)(noise)
        for direction in ("remove", "add"):
            (pair,) = al.dominating_pairs(
                mechanism, sampling=al.Poisson(rate), adjacency=direction
            )
            # even edges in binary, so that their differences are exact
            edges = np.arange(-2048, 2048, 97) / 1024
            found = pair.interval_masses(edges, np.diff(edges), "right")
            exact = truth.masses(
                kind, noise, edges, rate=rate, direction=direction
            )
            for values, wanted in zip(found, exact, strict=True):
                allowed = pair.mass_error(values)
                for value, best, error in zip(
                    values, wanted, allowed, strict=True
                ):
                    if best > 1e-290:
                        assert abs(value / best - 1) <= error


# --- to the last bit: small and exact ----------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cells, half", [(3, 0.1), (6, 1e-3), (8, 0.5)])
def test_shares_of_exact_masses_are_rounded_up(seed, cells, half):
    """Sums and exponentials err, even where masses do not."""
    random = np.random.default_rng(seed)
    edges = half * np.arange(-cells, cells + 1)
    p = 10.0 ** random.uniform(-3, 0, 2 * cells + 2)
    inside = np.append(edges, edges[-1] + half) - half * random.uniform(0, 1)
    q = p * np.exp(-inside)
    error = dominating_pairs.ExcessError(0 * p, 0 * p, 0 * p)
    share = upper_share(2 * half, edges, p, q, error)
    with mp.workdps(50):
        for i in range(cells):
            mass = mp.mpf(p[2 * i + 1]) + mp.mpf(p[2 * i + 2])
            other = mp.mpf(q[2 * i + 1]) + mp.mpf(q[2 * i + 2])
            exact = mass - mp.exp(mp.mpf(edges[2 * i])) * other
            exact /= -mp.expm1(-2 * mp.mpf(half))
            assert 0 < exact < mass
            assert exact <= share[i] < exact + 1e-11 * mass


def test_a_curve_that_never_comes_down():
    curve = np.array([0.5, 0.4])
    assert grid_epsilon(0.25, 2, curve, 0.3) == 0.75
    assert grid_epsilon(0.25, 2, curve, 0.6) == 0.5


@pytest.mark.parametrize("step", [700.0, 709.0, 710.0, 1e4, 1e300])
def test_epsilon_between_losses_that_are_far_apart(step):
    """An exponential of the step overflowed."""
    table = al.PrivacyLossDistribution(step, 0, [0.5, 0.5], 0.0)
    for delta in (0.0, 0.25, 0.4999):
        part = mp.mpf(1) - 2 * mp.mpf(delta)  # delta = (1 - e^(eps - step))/2
        known = step + mp.log(part) if part else 0
        assert table.epsilon(delta) == pytest.approx(float(known), rel=1e-12)
