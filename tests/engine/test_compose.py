"""Tables of a sum: all masses together, every error on its safe side."""

import math
from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import scipy.fft
from flint import arb, ctx, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib.counting.loss_tables import (
    BoundKind,
    GridTooFine,
    PrivacyLossDistribution,
)
from accountlib.engine.compose import (
    add_losses,
    as_distribution,
    as_tilted,
    circle_masses,
)
from accountlib.engine.one_sided import read_delta, read_epsilon
from tests.truth.arbs import as_mpf, exact_ball

Parts = list[tuple[PrivacyLossDistribution, int]]
SIDES: tuple[tuple[BoundKind, int], ...] = ("upper", 1), ("lower", -1)
GAUSS = al.GaussianPair(1.0)
BITS = 240  # all masses here are whole multiples of 2^-240


def table_of(
    weights: Any, first: int = 0, step: float = 0.25
) -> PrivacyLossDistribution:
    """A distribution on the grid from weights."""
    mass = np.asarray(weights, dtype=float)
    return PrivacyLossDistribution(step, first, mass / mass.sum(), 0.0)


TABLES = {
    "gaussian": al.discretize(GAUSS, step=0.1, tail_mass=1e-40),
    "sampled": al.discretize(al.SampledPair(GAUSS, 0.05), step=0.1),
    "coin": table_of([1, 0, 3], first=-1, step=1.0),
    "point": table_of([1], first=3),
    "two": table_of([1, 10**6], first=-2),
}


def exact_sum(parts: Parts) -> tuple[int, list[Any], Any]:
    """First index, masses and mass at infinity of a sum, to 70 digits.

    Masses are packed into one whole number, whose powers are exact.
    """
    steps = sum(n for _, n in parts)
    chunk = BITS * steps + 64
    total, first, rows = 1, 0, 1
    finite = F(1)
    for table, count in parts:
        packed = 0
        for m in reversed(table.mass.tolist()):
            packed = (packed << chunk) | int(F(m) * 2**BITS)
        total *= packed**count
        first += count * table.first_index
        rows += count * (len(table.mass) - 1)
        finite *= (1 - F(float(table.infinity_mass))) ** count
    mask = (1 << chunk) - 1
    with mp.workdps(70):
        masses = [
            arb((fmpz((total >> (chunk * k)) & mask), fmpz(-BITS * steps)))
            for k in range(rows)
        ]
        infinite = 1 - finite
        return first, masses, mp.mpf(infinite.numerator) / infinite.denominator


def exact_curve(
    step: float, first: int, masses: list[Any], infinity: Any, epsilon: float
) -> Any:
    with ctx.workdps(50):
        total = exact_ball(infinity)
        for k, m in enumerate(masses):
            gap = (first + k) * arb(step) - arb(epsilon)
            if gap > 0:
                total -= m * (-gap).expm1()
        return as_mpf(total)


# --- all masses together ----------------------------------------------------


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("count", [1, 3, 12])
@pytest.mark.parametrize("tilt", [0.0, 0.5, 3.0, 20.0])
def test_all_masses_together_are_within_their_error(
    name: str, count: int, tilt: float
) -> None:
    """Against exact powers of the tilted masses, on circles of any length."""
    table = as_tilted(TABLES[name], tilt)
    given_masses = PrivacyLossDistribution(
        table.step, int(table.index[0]), table.mass, 0.0
    )
    first, masses, _ = exact_sum([(given_masses, count)])
    with mp.workdps(70):
        masses = [+as_mpf(m) for m in masses]
    for size in (1, 2, 5, 27, 160, 2000):
        start = first + len(masses) // 3
        found, error = circle_masses([(table, count)], start, size)
        folded = [mp.mpf(0)] * size
        for k, m in enumerate(masses):
            folded[(first + k - start) % size] += m
        wrong = sum(abs(a - b) for a, b in zip(found, folded, strict=True))
        assert wrong <= error
        assert error < 1e-13 * count * math.sqrt(size) + 1e-13


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("name", ["gaussian", "sampled", "coin", "two"])
@pytest.mark.parametrize("count", [1, 12])
def test_any_tilt_gives_the_same_curve(name: str, count: int) -> None:
    table = TABLES[name]
    first, masses, infinity = exact_sum([(table, count)])
    top = (first + len(masses) - 1) * table.step
    for epsilon in (0.1, 0.35 * top, 0.8 * top, top * 0.999):
        best = exact_curve(table.step, first, masses, infinity, epsilon)
        for tilt in (0.0, 0.3, 1.0, 5.0, 40.0):
            for side, sign in SIDES:
                one = replace(table, bound=side)
                for log_tail in (-36.0, -5.0):
                    total = add_losses([(one, count)], tilt, log_tail)
                    assert sign * (read_delta(total, epsilon) - best) >= 0
                total = add_losses([(one, count)], tilt)
                if tilt == 0 and best > 1e-3:
                    assert abs(read_delta(total, epsilon) / best - 1) < 1e-6
                if infinity < best < 1:
                    at = read_epsilon(total, float(best))
                    assert sign * (at - epsilon) >= -1e-15 * top


@pytest.mark.parametrize("tilt", [0.0, 0.3, 3.0, 25.0])
def test_errors_weigh_no_more_than_the_tail_says(tilt: float) -> None:
    """A tilted total takes less than E: against all errors that E allows.

    The worst errors are as the weights are, with the 2-norm E/sqrt(N).
    """
    table = TABLES["gaussian"]
    total = add_losses([(table, 12)], tilt)
    parts = [(as_tilted(table, tilt), 12)]
    size = len(total.mass)
    _, error = circle_masses(parts, int(total.index[0]), size)
    peak = math.exp(-tilt * math.log1p(1 / tilt)) / (1 + tilt) if tilt else 1
    for epsilon in np.linspace(-20, 30, 101):
        gap = np.maximum(total.losses - epsilon, 0)
        weight = np.exp(-tilt * gap) * -np.expm1(-gap)
        worst = np.linalg.norm(weight) * error / math.sqrt(size)
        assert worst <= total.tail * peak


@pytest.mark.parametrize(("bound", "sign"), SIDES)
def test_a_table_takes_every_error_with_it(
    bound: BoundKind, sign: int
) -> None:
    one = replace(TABLES["gaussian"], bound=bound)
    total = add_losses([(one, 12)], log_tail=-20.0)
    before = as_distribution(total, bound).delta(8.0)
    raised = {"log_scale": total.log_scale + sign * 1e-3}
    changes: list[dict[str, Any]] = [{"tail": 1e-3}, raised]
    for change in changes:
        other = as_distribution(replace(total, **change), bound)
        assert sign * (other.delta(8.0) - before) > 1e-6


# --- random sums ------------------------------------------------------------


def random_parts(rng: Any) -> Parts:
    """One to three tables of 1 to 6 rows on one grid, and their counts."""
    parts, step = [], float(rng.choice([1.0, 0.25, 0.1, 1e-3, math.log(3)]))
    for _ in range(rng.integers(1, 4)):
        rows = int(rng.integers(1, 7))
        weights = 10.0 ** rng.uniform(-14, 0, rows) * rng.integers(0, 3, rows)
        weights[rng.integers(rows)] = 1.0
        infinity = float(rng.choice([0.0, 1e-12, 0.1])) * rng.random()
        mass = weights / weights.sum() * (1 - infinity)
        first = int(rng.integers(-6, 4))
        table = PrivacyLossDistribution(step, first, mass, infinity)
        parts.append((table, int(rng.integers(1, 9))))
    return parts


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("seed", range(300))
def test_random_compositions_against_fractions(seed: int) -> None:
    """Every side, any tilt and window, also an ulp from an atom."""
    rng = np.random.default_rng([13, seed])
    parts = random_parts(rng)
    step = parts[0][0].step
    first, masses, infinity = exact_sum(parts)
    for side, sign in SIDES:
        sided = [(replace(d, bound=side), n) for d, n in parts]
        total = add_losses(
            sided,
            float(rng.choice([0.0, 0.3, 3.0, 40.0, 900.0])),
            float(rng.uniform(-40, -2)),
        )
        table = al.compose(
            [d for d, n in sided for _ in range(n)],
            tail_mass=float(10.0 ** rng.uniform(-16, -2)),
        )
        for k in rng.integers(0, len(masses), 2):
            at = step * (first + int(k))
            for epsilon in (
                at - rng.random() * step,
                float(np.nextafter(at, -np.inf)),
                float(np.nextafter(at, np.inf)),
            ):
                exact = exact_curve(step, first, masses, infinity, epsilon)
                assert sign * (read_delta(total, epsilon) - exact) >= 0
                # A table's own curve rounds the gap of grid and epsilon.
                slack = 1e-13 * exact + 2.0**-50 * abs(epsilon)
                assert sign * (table.delta(epsilon) - exact) >= -slack


@pytest.mark.in_turn(3)
@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    bound=st.sampled_from(
        ["upper", "lower", "buckets-upper", "buckets-lower"]
    ),
    count=st.integers(2, 300),
)
def test_tables_against_the_whole_line_in_longer_floats(
    seed: int, bound: BoundKind, count: int
) -> None:
    """No circle, no window, 11 more bits: a floor of T 1e-15 is kept."""
    if np.finfo(np.longdouble).nmant < 63:
        pytest.skip("long double is double here")
    rng = np.random.default_rng(seed)
    noise = math.sqrt(count) * 10.0 ** rng.uniform(-0.5, 1)
    pair: al.DominatingPair = al.GaussianPair(1 / noise)
    if rng.random() < 0.5:
        pair = al.SampledPair(
            al.GaussianPair(1.0), 10.0 ** rng.uniform(-2, -0.5)
        )
    low = 0.05 / noise
    one = al.discretize(pair, step=low, bound=bound, tail_mass=1e-20)
    length = scipy.fft.next_fast_len(count * len(one.mass), real=True)
    wave = scipy.fft.rfft(one.mass.astype(np.longdouble), length)
    power = np.ones_like(wave)
    for bit in f"{count:b}":
        power = power * power * (wave if bit == "1" else 1)
    mass = scipy.fft.irfft(power, length)
    losses = np.longdouble(one.step) * (
        count * one.first_index + np.arange(length)
    )
    infinity = -math.expm1(count * math.log1p(-one.infinity_mass))
    found = al.self_compose(one, count)
    sign = 1 if "upper" in bound else -1
    for epsilon in (0.0, 0.1, 1.0, 3.0):
        gap = np.maximum(losses - epsilon, 0)
        exact = float((mass * -np.expm1(-gap)).sum()) + infinity
        apart = sign * (found.delta(epsilon) - min(exact, 1.0))
        assert -1e-15 * count <= apart <= 1e-12 * count


# --- corners ----------------------------------------------------------------


def test_an_upper_end_does_not_underflow() -> None:
    """Weights e^(-tilt gap) that are all 0 as floats still weigh."""
    far = PrivacyLossDistribution(1.0, 50, np.ones(1), 0.0)
    total = add_losses([(far, 1)], 20.0)
    assert read_delta(total, 0.0) >= 1 - math.exp(-50) - 1e-16
    lower = add_losses([(replace(far, bound="lower"), 1)], 20.0)
    assert read_delta(lower, 0.0) <= 1 - math.exp(-50)
    assert read_delta(total, 60.0) < 1e-90  # a tail, no mass


def test_one_step_is_its_own_sum() -> None:
    table = TABLES["coin"]
    assert al.self_compose(table, 1) is table
    assert al.compose([table]) is table


def test_equal_steps_are_one_part() -> None:
    """A table has one transform, however often it is listed."""
    coin, other = TABLES["coin"], table_of([2, 1, 5], first=-1, step=1.0)
    mixed, sorted_ = [coin, other, coin], [coin, coin, other]
    assert np.array_equal(al.compose(mixed).mass, al.compose(sorted_).mass)
    again = al.self_compose(coin, 2)
    assert np.array_equal(al.compose([coin, coin]).mass, again.mass)


def test_no_finite_loss_at_all() -> None:
    never = PrivacyLossDistribution(1.0, 0, np.zeros(2), 1.0)
    assert al.compose([never, TABLES["coin"]]).delta(5.0) == 1
    small = PrivacyLossDistribution(1.0, 0, np.zeros(2), 0.25, "lower")
    assert al.self_compose(small, 2).delta(5.0) == pytest.approx(7 / 16)


def test_arrays_of_a_composition_are_read_only() -> None:
    mass = al.self_compose(TABLES["coin"], 3).mass
    with pytest.raises(ValueError, match="read-only"):
        mass[0] = 1.0


def test_too_many_places_are_refused() -> None:
    wide = PrivacyLossDistribution(
        1e-6, 0, np.append(np.append(0.5, np.zeros(999_998)), 0.5), 0.0
    )
    with pytest.raises(GridTooFine, match="step must be larger"):
        al.self_compose(wide, 1000)


def test_infinite_masses_of_tables_are_rounded_to_their_side() -> None:
    random = np.random.default_rng(8)
    for lost in random.uniform(0, 0.5, 100).tolist():
        for side, sign in SIDES:
            table = PrivacyLossDistribution(
                1.0, 0, np.array([0.4]), lost, bound=side
            )
            found = al.self_compose(table, 3).infinity_mass
            exact = 1 - (1 - F(lost)) ** 3
            assert 0 <= sign * (F(found) - exact) < F(1e-12)


def test_epsilons_next_to_a_grid_point() -> None:
    coin = PrivacyLossDistribution(1.0, -1, np.array([0.25, 0.0, 0.75]), 0.0)
    high, low = (
        add_losses([(replace(coin, bound=side), 2)]) for side, _ in SIDES
    )
    with mp.workdps(40):
        at_zero = mp.mpf(9) / 16 * -mp.expm1(-2)
        for t in np.concatenate([[0.0], 10.0 ** np.arange(-16, -10, 0.5)]):
            for side in (1, -1):
                delta = float(at_zero * (1 + side * mp.mpf(t)))
                exact = max(2 + mp.log1p(-16 * mp.mpf(delta) / 9), 0)
                ends = read_epsilon(low, delta), read_epsilon(high, delta)
                assert ends[0] <= exact <= ends[1] < ends[0] + 1e-8


@pytest.mark.parametrize(("bound", "sign"), SIDES)
@pytest.mark.parametrize("tiny", [1e-320, 1e-300, 1e-125, 1e-20])
def test_next_to_no_finite_loss(bound, sign, tiny):
    """NaN, or a window of 1e15 places for a table of one."""
    small = PrivacyLossDistribution(1e-12, 3, [tiny], 0.25, bound)
    large = PrivacyLossDistribution(1e-12, 2, [0.5, 0.25], 0.25, bound)
    for found, infinity in (
        (al.compose([small, large]), 7 / 16),
        (al.self_compose(small, 3), 37 / 64),
        (al.self_compose(small, 10**6), 1.0),
    ):
        exact = infinity + tiny * 1e-11  # at most, and at least the first
        low, high = sorted([found.delta(0.0), infinity])
        assert high - low <= 2 * exact - 2 * infinity + 1e-14
        assert sign * (found.delta(0.0) - infinity) >= -1e-15


@pytest.mark.parametrize("step", [5e-324, 1e-300])
def test_the_tiniest_steps_compose(step):
    """The inverse of such a step is no float."""
    table = PrivacyLossDistribution(step, -1, [0.25, 0.0, 0.75], 0.0)
    total = al.self_compose(table, 5)
    assert np.allclose(total.mass[:3], [1 / 4**5, 0, 15 / 4**5], atol=1e-12)


@pytest.mark.parametrize("bound", ["upper", "lower"])
def test_masses_that_grow_beyond_all_floats(bound):
    """A table with more than 1 of mass is a bound, if a useless one."""
    table = PrivacyLossDistribution(1e-3, -1, [2.0, 0.0, 3.0], 0.0, bound)
    total = al.self_compose(table, 2000)
    assert bound == "lower" or total.delta(5.0) == 1
