"""Sums of losses against exact fractions, windows and tilts."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import itertools
import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib.counting import rounding
from accountlib.counting.composition import chernoff_edges, log_moment
from tests import truth

GAUSS = al.Gaussian(1.0).pair()
REMOVE = {"adjacency": "remove"}


def table_of(weights, first=0, step=0.25, infinity=F(0), bound="upper"):
    """A distribution on the grid from whole-number weights."""
    total = sum(weights) / (1 - infinity)
    mass = [w / total for w in weights]
    return al.PrivacyLossDistribution(
        step, first, [float(m) for m in mass], float(infinity), bound
    )


def exact_power(table, count):
    """Masses of the sum, the floats of the table taken as they are."""
    one = [F(float(m)) for m in table.mass]
    result = [F(1)]
    for _ in range(count):
        longer = [F(0)] * (len(result) + len(one) - 1)
        for i, a in enumerate(result):
            for j, b in enumerate(one):
                longer[i + j] += a * b
        result = longer
    return result


def exact_curve(step, first, masses, infinity, epsilon):
    with mp.workdps(50):
        total = mp.mpf(infinity.numerator) / infinity.denominator
        for k, m in enumerate(masses):
            gap = (first + k) * mp.mpf(step) - mp.mpf(epsilon)
            if gap > 0:
                total += (mp.mpf(m.numerator) / m.denominator) * -mp.expm1(
                    -gap
                )
        return total


# --- composing tables -----------------------------------------------------


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    weights=st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any),
    first=st.integers(-4, 4),
    count=st.integers(1, 9),
    infinity=st.sampled_from([F(0), F(1, 8), F(1, 2**30)]),
)
def test_self_compose_against_fractions(weights, first, count, infinity):
    for bound in ("upper", "lower"):
        table = table_of(weights, first, infinity=infinity, bound=bound)
        found = al.self_compose(table, count)
        exact = exact_power(table, count)
        offset = found.first_index - count * first
        for k, m in enumerate(found.mass):
            best = exact[offset + k] if offset + k < len(exact) else 0
            assert abs(m - best) < 2e-13
        infinite = 1 - (1 - F(float(table.infinity_mass))) ** count
        for epsilon in (-1.0, 0.0, 0.3, 0.5, 2.1):
            best = exact_curve(0.25, count * first, exact, infinite, epsilon)
            value = found.delta(epsilon)
            if bound == "upper":
                assert best * (1 - mp.mpf(1e-13)) - 1e-17 <= value
                assert value <= best + 1e-11
            else:
                assert best - 1e-11 <= value
                assert value <= best * (1 + mp.mpf(1e-13)) + 1e-17


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    lists=st.lists(
        st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any),
        min_size=1,
        max_size=4,
    ),
    seed=st.integers(0, 1000),
)
def test_compose_several_in_any_order(lists, seed):
    tables = [
        table_of(w, first=k - 2, infinity=F(k, 100))
        for k, w in enumerate(lists)
    ]
    shuffled = [
        tables[i] for i in np.random.default_rng(seed).permutation(len(tables))
    ]
    one, other = al.compose(tables), al.compose(shuffled)
    assert one.first_index == other.first_index
    assert np.allclose(one.mass, other.mass, rtol=0, atol=1e-15)
    assert math.isclose(one.infinity_mass, other.infinity_mass, abs_tol=1e-13)
    exact = [F(1)]
    for table in tables:
        longer = [F(0)] * (len(exact) + len(table.mass) - 1)
        for (i, a), (j, b) in itertools.product(
            enumerate(exact), enumerate(table.mass)
        ):
            longer[i + j] += a * F(float(b))
        exact = longer
    # rows without mass at either end may be left out
    cut = one.first_index - sum(table.first_index for table in tables)
    padded = np.zeros(max(len(exact), cut + len(one.mass)))
    padded[cut : cut + len(one.mass)] = one.mass
    assert np.allclose(
        padded[: len(exact)], [float(m) for m in exact], atol=1e-14
    )


@pytest.mark.parametrize(
    "bound", ["upper", "lower", "buckets-upper", "buckets-lower"]
)
@pytest.mark.parametrize(
    ("step", "count"), [(1e-3, 2000), (0.05, 50), (0.3, 7)]
)
def test_composed_masses_sum_to_one(bound, step, count):
    """Trap 7: second differences of delta would drift by 2e-5 here."""
    pair = al.Gaussian(9.0).pair() if step < 0.01 else GAUSS
    table = al.discretize(pair, step=step, bound=bound, tail_mass=1e-15)
    composed = al.self_compose(table, count)
    total = math.fsum(composed.mass) + composed.infinity_mass
    if bound == "buckets-lower":
        assert total <= 1 + 1e-9
    else:
        assert abs(total - 1) <= 1e-9


@pytest.mark.parametrize("count", [1, 2, 30, 1000])
def test_order_of_composed_bounds(count):
    """optimistic <= truth <= pessimistic <= buckets, after composing."""
    noise = max(1.0, math.sqrt(count))
    pair = al.Gaussian(noise).pair()
    made = {
        bound: al.self_compose(
            al.discretize(pair, step=0.02 / noise, bound=bound), count
        )
        for bound in ("lower", "buckets-lower", "upper", "buckets-upper")
    }
    mu = truth.gaussian_mu(noise, count)
    for epsilon in (-1.0, 0.0, 0.5, 2.0, 4.0):
        low, high = truth.gaussian_delta(epsilon, mu)
        value = {bound: table.delta(epsilon) for bound, table in made.items()}
        assert value["lower"] <= high and value["buckets-lower"] <= high
        assert low <= value["upper"] <= value["buckets-upper"]
        assert value["upper"] - value["lower"] < 1e-2 * value["upper"]
    # buckets are off by half a step each time (first order), dots are not
    if count >= 30:
        buckets = made["buckets-upper"].epsilon(1e-3)
        exact = float(truth.gaussian_epsilon(1e-3, mu)[0])
        lost = count * 0.02 / noise / 2
        assert abs((buckets - exact) / lost - 1) < 0.1


@pytest.mark.parametrize("p", [2.0**-60, 1e-9, 0.25, 1.0])
@pytest.mark.parametrize("count", [1, 10, 12345])
def test_mass_at_infinity_composes_exactly(p, count):
    table = al.PrivacyLossDistribution(1.0, 0, [1.0 - p], p)
    found = al.self_compose(table, count).infinity_mass
    with mp.workdps(60):
        exact = -mp.expm1(count * mp.log1p(-mp.mpf(p))) if p < 1 else mp.mpf(1)
    assert exact * (1 - 1e-15) <= found <= exact + 1e-9
    low = al.PrivacyLossDistribution(1.0, 0, [1.0 - p], p, "lower")
    found = al.self_compose(low, count).infinity_mass
    assert abs(found / exact - 1) < 1e-14


def test_a_cut_window_is_on_the_safe_side():
    """tail_mass 1e-3: what leaves the window goes up, or away."""
    for count in (10, 300):
        truth_table = al.discretize(GAUSS, step=0.05, tail_mass=1e-20)
        narrow = al.self_compose(truth_table, count, tail_mass=1e-3)
        wide = al.self_compose(truth_table, count)
        assert len(narrow.mass) < 0.75 * len(wide.mass)
        low_table = al.discretize(
            GAUSS, step=0.05, bound="lower", tail_mass=1e-20
        )
        low = al.self_compose(low_table, count, tail_mass=1e-3)
        low_wide = al.self_compose(low_table, count)
        centre = count / 2
        spread = math.sqrt(count)
        for epsilon in centre + spread * np.linspace(-6, 8, 29):
            exact = float(truth.gaussian_delta(epsilon, math.sqrt(count))[1])
            assert narrow.delta(epsilon) >= exact * (1 - 1e-12)
            assert low.delta(epsilon) <= exact * (1 + 1e-12)
            assert narrow.delta(epsilon) <= wide.delta(epsilon) + 5e-3
            assert low.delta(epsilon) >= low_wide.delta(epsilon) - 5e-3


def test_the_floor_of_a_plain_transform():
    """Trap 8: at delta = 1e-14 a table widens, and never lies."""
    mu, count = 1.0, 100
    pair = al.Gaussian(10.0).pair()
    exact = float(truth.gaussian_epsilon(1e-14, mu)[0])
    upper, lower = (
        al.self_compose(
            al.discretize(pair, step=0.005, bound=bound, tail_mass=1e-30),
            count,
        )
        for bound in ("upper", "lower")
    )
    assert lower.epsilon(1e-14) <= exact <= upper.epsilon(1e-14)
    assert upper.epsilon(1e-14) == math.inf  # below the floor
    for epsilon in np.linspace(0.5, 14, 28):
        low, high = truth.gaussian_delta(epsilon, mu)
        assert lower.delta(epsilon) <= high and low <= upper.delta(epsilon)
    # the tilted answer has no floor
    run = al.Release(al.Gaussian(10.0), count=count)
    for delta in (1e-14, 1e-100, 1e-290):
        bound = al.epsilon(run, delta=delta, **REMOVE)
        low, high = truth.gaussian_epsilon(delta, mu)
        assert bound.lower <= high and low <= bound.upper
        assert bound.width < 1e-3


# --- the tilted composition and its error budget --------------------------


def exact_total(table, count, digits=60):
    """The sum's masses to 60 digits, by repeated multiplication."""
    with mp.workdps(digits):
        scale = 2**220  # whole numbers: fast, and exact products
        one = [int(mp.mpf(float(m)) * scale) for m in table.mass]
        width = 220 * count
        pack = 0
        chunk = width + 64
        for m in reversed(one):
            pack = (pack << chunk) | m
        power = pack**count
        mask = (1 << chunk) - 1
        masses = []
        for _ in range(count * (len(one) - 1) + 1):
            masses.append(mp.mpf(power & mask) / mp.mpf(2) ** width)
            power >>= chunk
        return masses


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    tilt=st.floats(0, 30),
    count=st.integers(1, 50),
    log_tail=st.floats(-30, -1),
)
def test_chernoff_edges_hold_the_mass(seed, tilt, count, log_tail):
    rng = np.random.default_rng(seed)
    weights = (rng.exponential(size=4) ** 5 * 2**40).astype(int) + 1
    table = table_of([int(w) for w in weights], first=-2)
    low, high = chernoff_edges([(table, count)], tilt, log_tail)
    exact = exact_total(table, count)
    first = count * table.first_index
    with mp.workdps(40):
        weights = [
            m * mp.exp(mp.mpf(tilt) * 0.25 * (first + k))
            for k, m in enumerate(exact)
        ]
        norm = mp.fsum(weights)
        below = mp.fsum(
            w for k, w in enumerate(weights) if (first + k) * 0.25 < low - 1e-9
        )
        above = mp.fsum(
            w
            for k, w in enumerate(weights)
            if (first + k) * 0.25 > high + 1e-9
        )
        allowed = mp.exp(log_tail) * norm * (1 + mp.mpf(1e-9))
        assert below <= allowed and above <= allowed


def test_log_moment_is_the_logarithm_of_a_moment():
    table = table_of([1, 10**6], first=-2)
    for order in (-3.0, 0.0, 2.0, 400.0):
        with mp.workdps(40):
            exact = 5 * mp.log(
                mp.fsum(
                    mp.mpf(float(m)) * mp.exp(mp.mpf(order) * x)
                    for m, x in zip(table.mass, table.losses, strict=True)
                )
            )
        found = log_moment([(table, 5)], order)
        assert abs(found - exact) < 1e-13 * (1 + abs(exact))


def test_log_peak():
    for tilt in (1e-6, 0.3, 1.0, 50.0, 1e6):
        x = np.linspace(1e-3, 5, 40_000) * math.log1p(1 / tilt)
        best = np.max(-tilt * x + np.log(-np.expm1(-x)))
        assert best <= rounding.log_peak(tilt) + 1e-12
        assert math.isclose(best, rounding.log_peak(tilt), rel_tol=1e-4)
    assert rounding.log_peak(0.0) == 0
