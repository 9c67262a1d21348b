"""One-sided tables: every operation keeps its side of the truth.

The truth is computed in exact fractions or in mpmath. test_certified.py
checks the answers of whole calls, test_errors.py each error term.
"""

# mypy: disable-error-code="call-overload"

import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
import truth

import accountlib as al
from accountlib.engine.grids import bound_tables, cut_tails
from accountlib.engine.one_round import add_tables
from accountlib.engine.one_sided import (
    TiltedTable,
    read_delta,
    read_epsilon,
    tilt_masses,
)
from accountlib.engine.saddle import Cells
from accountlib.engine.transforms import (
    Spectrum,
    fast_transform,
    highest_frequency,
    slow_transform,
    smooth_parts,
    tail_window,
)

SIDES = ("upper", "lower")
POINTS = [-0.7, 0.0, 0.3, 1.1, 2.4]


def table(mass, bound, *, step=0.25, first=-2, tilt=1.0, tail=0.0, offset=0.0):
    """A tilted table of the given untilted masses."""
    index = first + np.arange(len(mass))
    losses = offset + step * index
    sign = 1 if bound == "upper" else -1
    tilted, log_scale = tilt_masses(losses, np.array(mass, float), tilt, sign)
    return TiltedTable(
        step, offset, tilt, log_scale, tail, 0.0, bound, index, tilted
    )


def exact_delta(masses, losses, count, epsilon):
    """delta of `count` losses with the given masses, in fractions."""
    total = {0: F(1)}
    for _ in range(count):
        new: dict[int, F] = {}
        for index, mass in total.items():
            for k, p in enumerate(masses):
                new[index + k] = new.get(index + k, F(0)) + mass * F(p)
        total = new
    start, step = losses
    gaps = {k: count * start + step * k - epsilon for k in total}
    return math.fsum(
        float(p) * -math.expm1(-gaps[k])
        for k, p in total.items()
        if gaps[k] > 0
    )


@pytest.mark.parametrize("bound", SIDES)
@pytest.mark.parametrize("tilt", [0.1, 1.5, 20.0])
@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_sums_of_tables_keep_their_side(bound, tilt, count):
    """Against exact fractions, with every rounding on the table's side."""
    rng = np.random.default_rng([count, int(tilt)])
    for _ in range(5):
        masses = rng.multinomial(64, rng.dirichlet(np.ones(6))) / 64
        one = table(masses, bound, tilt=tilt, offset=0.1)
        total = add_tables([(one, count)], -40.0, (9.0, 9.0))
        for epsilon in POINTS:
            exact = exact_delta(masses, (0.1 - 0.5, 0.25), count, epsilon)
            found = read_delta(total, epsilon)
            scale = 1e-9 * exact + 1e-12 * math.exp(
                min(total.log_scale - tilt * epsilon, 30.0)
            )
            if bound == "upper":
                assert exact * (1 - 1e-14) <= found <= exact + scale
            else:
                assert exact - scale <= found <= exact * (1 + 1e-14)


@pytest.mark.parametrize("bound", SIDES)
@pytest.mark.parametrize("count", [1, 3, 50])
def test_many_epsilons_at_once(bound, count):
    """An array of epsilons, by one transform or by none, as one by one."""
    rng = np.random.default_rng(count)
    masses = rng.dirichlet(np.full(1000, 0.05))
    one = table(masses, bound, step=0.001, first=-400, tilt=1.5)
    total = add_tables([(one, count)], -40.0, (9.0, 9.0))
    epsilons = np.append(0.0, np.sort(rng.uniform(0, 1.2 * count, 2000)))
    together = read_delta(total, epsilons)
    alone = np.array([read_delta(total, x) for x in epsilons])
    assert together.shape == epsilons.shape
    scale = 1e-12 * math.exp(total.log_scale) * np.exp(-1.5 * epsilons)
    assert np.all(np.abs(together - alone) <= scale + 1e-9 * alone)


@pytest.mark.parametrize("bound", SIDES)
@pytest.mark.parametrize("tail", [-3.0, -8.0, -20.0])
def test_a_cut_window_keeps_its_side(bound, tail):
    """What leaves the window, or comes back into it, is counted."""
    coin = table([0.25, 0.0, 0.75], bound, tilt=0.7)
    theta = math.sqrt(-2 * tail / 400)
    narrow = add_tables([(coin, 400)], tail, (4 * theta, 4 * theta))
    whole = add_tables([(coin, 400)], -300.0, (9.0, 9.0))
    assert isinstance(narrow, Spectrum) and isinstance(whole, Spectrum)
    assert narrow.size < whole.size
    for epsilon in (0.0, 40.0, 80.0, 99.0):
        near, far = read_delta(narrow, epsilon), read_delta(whole, epsilon)
        if bound == "upper":
            assert near >= far * (1 - 1e-9)
        else:
            assert near <= far * (1 + 1e-9)


@pytest.mark.parametrize("log_tail", [-2.0, -10.0, -30.0])
@pytest.mark.parametrize("theta", [0.01, 0.2, 1.0])
def test_the_window_holds_the_mass(log_tail, theta):
    """Chernoff's window against the binomial distribution."""
    import mpmath as mp

    coin = table([0.5, 0.5], "upper", first=0, tilt=1e-9)
    low, high = tail_window([(coin, 400)], log_tail, (theta, theta))
    outside = [k for k in range(401) if k < low or k > high]
    mass = sum(mp.binomial(400, k) for k in outside) / mp.mpf(2) ** 400
    assert mass <= 2 * mp.exp(log_tail)


def random_table(seed):
    """Smooth, bumpy and sparse tables, by turns."""
    rng = np.random.default_rng(seed)
    x = np.arange(80)
    mass = [
        np.exp(-(((x - 30) / rng.uniform(3, 20)) ** 2)),
        rng.dirichlet(np.full(80, 0.3)),
        np.where(x % 7 == 0, 1.0, 0.0),
        np.exp(-x / rng.uniform(1, 30)) + 1e-3,
    ][seed % 4]
    kept = (x < 40) | (x % 4 == 0)  # wider cells in a tail
    made = table(mass / mass.sum(), "upper", step=0.02, tilt=0.5)
    return replace(made, index=made.index[kept], mass=made.mass[kept])


@pytest.mark.parametrize("seed", range(12))
def test_high_frequencies_are_below_their_bound(seed):
    """The lemma on uniform parts, at every frequency of the circle."""
    one = random_table(seed)
    size = 1000
    z, _ = fast_transform(one, 3, size)
    total = float(np.sum(one.mass))
    transform = np.abs(total + z) / total
    length, weight = smooth_parts(one)
    assert np.sum(weight) <= total * (1 + 1e-12)
    for needed in (0.1, 1.0, 10.0, 40.0):
        highest, rest = highest_frequency([(one, 100)], size, needed)
        beyond = transform[highest + 1 :] ** 100
        assert np.all(beyond <= rest * (1 + 1e-9))
        assert highest == size // 2 or rest <= math.exp(-needed)


@pytest.mark.parametrize("seed", range(8))
def test_both_transforms_are_as_precise_as_they_say(seed):
    """Against sums in 40 digits."""
    import mpmath as mp

    one, size = random_table(seed), 320
    found = slow_transform(one, 5, size, 160), fast_transform(one, 5, size)
    with mp.workdps(40):
        for k in (0, 1, 2, 7, 40, 159, 160):
            turns = [2 * mp.pi * k * (int(i) - 5) / size for i in one.index]
            exact = mp.fsum(
                mp.mpf(float(m)) * mp.expm1(1j * x)
                for m, x in zip(one.mass, turns, strict=True)
            )
            for z, wrong in found:
                assert abs(mp.mpc(complex(z[k])) - exact) <= wrong[k]


def test_a_billion_steps_keep_few_frequencies():
    part = Cells.first(al.GaussianPair(1e-4), 10**9, 1e-20)
    for _ in range(2):
        part = part.finer(5.0, 1e-20)
    for one in bound_tables(part, 5e-6, 5.0, -20.0):
        total = add_tables([(one, 10**9)], -20.0, (2.0, 2.0))
        assert isinstance(total, Spectrum)
        assert total.size > 10**6 and len(total.frequency) < 100


@pytest.mark.parametrize("bound", SIDES)
@pytest.mark.parametrize("count", [1, 2, 30])
@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-9, 1e-30])
def test_reading_off_both_ways(bound, count, delta):
    """The epsilon that is read has the right delta on its safe side."""
    one = table(np.ones(12) / 12, bound, tilt=0.8, step=0.1)
    total = add_tables([(one, count)], -90.0, (9.0, 9.0))
    found = read_epsilon(total, delta, guess=0.5, room=1e-6)
    if bound == "upper":
        assert read_delta(total, found) <= delta
        assert found == 0 or read_delta(total, found * (1 - 2e-6)) > delta
    elif found > 0:
        assert read_delta(total, found) >= delta
        assert read_delta(total, found * (1 + 2e-6)) < delta


@pytest.mark.parametrize("bound", SIDES)
def test_the_tail_moves_the_answer_outward(bound):
    plain = table([0.25, 0.0, 0.75], bound, first=0, tilt=1.0)
    padded = replace(plain, tail=1e-3)
    sign = plain.sign
    assert sign * (read_delta(padded, 0.1) - read_delta(plain, 0.1)) > 0
    assert sign * (read_epsilon(padded, 0.1) - read_epsilon(plain, 0.1)) > 0


@pytest.mark.parametrize("rate", [1e-5, 0.01, 1.0])
@pytest.mark.parametrize("tilt", [0.5, 4.0])
def test_cut_tails_are_bounded(rate, tilt):
    """The bound of the tilted mass outside, against quadrature."""
    import mpmath as mp

    base = al.GaussianPair(1.0)
    pair = base if rate == 1 else al.SampledPair(base, rate)
    part = Cells.first(pair, 1, 1e-40).finer(tilt, 1e-40)
    low, high, tail = cut_tails(part, tilt, math.log(1e-6))
    top = float(part.edges[-1])

    def tilted(z):
        ratio = 1 - rate + rate * mp.exp(z - mp.mpf(1) / 2)
        density = mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)
        inside = low < mp.log(ratio) <= high or mp.log(ratio) > top
        return mp.mpf(0) if inside else density * ratio ** (tilt + 1)

    def whole(z):
        ratio = 1 - rate + rate * mp.exp(z - mp.mpf(1) / 2)
        return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi) * ratio ** (tilt + 1)

    grid = [mp.mpf(k) / 4 for k in range(-80, 121)]
    outside = sum((tilted(a) + tilted(a + 0.125)) / 8 for a in grid)
    norm = mp.quad(whole, [-20, -5, 0, 5, 10, 30])
    assert outside / norm <= tail * 1.5 + 1e-12  # a rough sum of cells
    assert tail < 1e-4


@pytest.mark.parametrize("count", [1, 10**3, 10**6, 10**9])
@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-50, 1e-200])
def test_equal_runs_of_any_length(count, delta):
    """sigma = sqrt(T)/mu: the truth does not depend on T."""
    low, high = truth.gaussian_epsilon(delta, 0.75)
    run = al.Release(al.Gaussian(math.sqrt(count) / 0.75), count=count)
    bound = al.epsilon(run, delta=delta, adjacency="add-or-remove")
    assert bound.lower <= float(high) * (1 + 1e-12)
    assert bound.upper >= float(low) * (1 - 1e-12)
    assert bound.width <= 1e-3


@pytest.mark.parametrize("delta", [1e-15, 1e-30, 1e-50, 1e-100, 1e-200])
def test_small_delta_against_the_contour(delta):
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.01), count=2000)
    exact = truth.contour_epsilon(
        delta, [(1.0, 0.01, 2000)], direction="remove"
    )
    bound = al.epsilon(run, delta=delta, adjacency="add-or-remove")
    assert bound.lower <= exact * (1 + 1e-9)
    assert bound.upper >= exact * (1 - 1e-9)
    assert bound.width <= 1e-3


def random_settings(number):
    """Settings of the stress run of benchmarks/, a seeded sample."""
    for seed in range(number):
        rng = np.random.default_rng([2026, seed])
        noise = float(np.exp(rng.uniform(math.log(0.3), math.log(100))))
        rate = float(np.exp(rng.uniform(math.log(1e-6), 0)))
        count = int(np.exp(rng.uniform(0, math.log(1e7))))
        delta = float(np.exp(rng.uniform(math.log(1e-100), math.log(0.5))))
        rate = 1.0 if rng.random() < 0.1 else rate
        count = 1 if rng.random() < 0.1 else count
        yield noise, rate, count, delta


def test_random_settings():
    """No exception; both directions, and a wider request, are consistent."""
    wide, settings = 0, list(random_settings(60))
    for noise, rate, count, delta in settings:
        run = al.Release(al.Gaussian(noise), al.Poisson(rate), count=count)
        both, remove, add = (
            al.epsilon(run, delta=delta, adjacency=adjacency)
            for adjacency in ("add-or-remove", "remove", "add")
        )
        rough = al.epsilon(
            run, delta=delta, adjacency="add-or-remove", relative_width=1e-2
        )
        worse = max(remove.lower, add.lower)
        assert both.upper >= worse * (1 - 1e-12)
        assert both.lower <= max(remove.upper, add.upper) * (1 + 1e-12)
        assert rough.lower <= both.upper and both.lower <= rough.upper
        wide += both.width > 1e-3
    assert wide <= 0.1 * len(settings)


@pytest.mark.parametrize("delta", [1e-290, 1e-300, 1e-310])
def test_the_end_of_the_floats(delta):
    """Too small for relative precision: the interval widens."""
    bound = al.epsilon(
        al.Release(al.Gaussian(0.3)), delta=delta, adjacency="add"
    )
    low, high = truth.gaussian_epsilon(delta, 1 / 0.3)
    assert bound.lower <= float(high) and float(low) <= bound.upper


@pytest.mark.parametrize("adjacency", ["add", "remove"])
@pytest.mark.parametrize("rate", [1e-12, 1e-14, 1e-20, 1e-60, 1e-200])
@pytest.mark.parametrize("noise", [1.0, 10.0, 700.0])
def test_rates_below_rounding(rate, noise, adjacency):
    """delta(0) = rate * delta_base(0) in both directions: too small for
    the masses' digits, so the interval widens, and still holds it."""
    low, high = truth.gaussian_delta(0.0, 1 / noise)
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    bound = al.delta(run, epsilon=0.0, adjacency=adjacency)
    assert bound.lower <= rate * float(high) * (1 + 1e-12)
    assert bound.upper >= rate * float(low) * (1 - 1e-12)


@pytest.mark.parametrize("noise", [0.0068, 0.005, 1e-3, 1e-4])
@pytest.mark.parametrize("delta", [1e-6, 1e-100])
def test_losses_of_ten_thousand_and_more(noise, delta):
    """No end of a grid is near: the answer is finite and narrow."""
    low, high = truth.gaussian_epsilon(delta, 1 / noise)
    run = al.Release(al.Gaussian(noise))
    bound = al.epsilon(run, delta=delta, adjacency="add-or-remove")
    assert bound.lower <= float(high) and float(low) <= bound.upper
    assert bound.width <= 1e-3


@pytest.mark.parametrize("noise", [1e-6, 1e-7, 1e-20, 1e-60, 1e-100])
def test_losses_that_no_grid_holds(noise):
    """Above 1e11 the answer may be [0, inf], alone and in a list."""
    nearly = 0.5 / noise**2  # and 4.75/noise more
    run = al.Release(al.Gaussian(noise))
    other = al.Release(al.Gaussian(1), al.Poisson(0.01), count=100)
    for releases in (run, [run, other]):
        bound = al.epsilon(releases, delta=1e-6, adjacency="remove")
        assert bound.lower <= 1.0001 * nearly and nearly <= bound.upper


@pytest.mark.parametrize("count", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("p", [F(3, 5), F(9, 10)])
@pytest.mark.parametrize("rate", [F(1, 1024), F(1, 2**20)])
def test_few_runs_of_rarely_sampled_coins(count, p, rate):
    """The answer lies a hair below the largest loss, or far below it."""
    coin = truth.ExactPair.of([p, 1 - p], [1 - p, p]).poisson(rate)
    run = al.Release(
        al.RandomizedResponse(float(p)), al.Poisson(float(rate)), count=count
    )
    for direction, pair in (("remove", coin), ("add", coin.reversed())):
        low, high = pair.power(count).epsilon(F(1, 10**8))
        bound = al.epsilon(run, delta=1e-8, adjacency=direction)
        assert bound.lower <= float(high) * (1 + 1e-15), direction
        assert bound.upper >= float(low) * (1 - 1e-15), direction
        assert bound.width <= 1e-3, (direction, bound)
