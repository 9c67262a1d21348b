"""Tests against mutations that survived (benchmarks/mutations.py).

Small and exact: each function that a bound rests on, against fractions,
mpmath or balls, and on the right side to the last bits.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, get_args

import mpmath as mp
import numpy as np
import pytest
import truth_curves as balls
import truth_runs
from flint import arb, ctx
from scipy.stats import binom

import accountlib as al
from accountlib.counting.any_pair import convex_hull
from accountlib.counting.loss_tables import (
    BoundKind,
    grid_epsilon,
    upper_share,
)
from accountlib.engine import (
    one_round,
    one_sided,
    saddle,
    single_runs,
    transforms,
)
from accountlib.gaussian_dp import certified_curves
from accountlib.renyi import curves, laplace_panels, real_orders, whole_runs
from accountlib.runs import one_call
from accountlib.several.chains import chain_pair
from accountlib.several.exchange import ExchangedPair
from accountlib.several.mixtures import MixturePair
from accountlib.worst_cases import dominating_pairs
from accountlib.worst_cases.divergences import product_minus

SIDES = ("upper", "lower")


def random_table(seed, bound="upper", size=40, gaps=False):
    """A table with sum 1, tilted, somewhere on the line."""
    random = np.random.default_rng(seed)
    index = np.arange(size) - int(random.integers(0, size))
    mass = np.exp(-0.5 * ((index - index.mean()) / 6) ** 2)
    mass *= random.uniform(0.5, 1.5, size)
    if gaps:
        mass[random.random(size) < 0.3] = 0
    return one_sided.TiltedTable(
        step=float(random.uniform(0.01, 0.3)),
        offset=float(random.normal()),
        tilt=float(random.uniform(0.2, 3)),
        log_scale=float(random.normal()),
        tail=0.0,
        infinity_mass=float(random.choice([0.0, 1e-3])),
        bound=bound,
        index=index,
        mass=mass / mass.sum(),
    )


def exact_delta(table, counts, epsilon):
    """delta of runs of one table, in 60 digits, no rounding outward."""
    with mp.workdps(60):
        law = {0: mp.mpf(1)}
        places = [*zip(table.index.tolist(), table.mass.tolist(), strict=True)]
        for _ in range(counts):
            new: dict[int, mp.mpf] = {}
            for i, p in law.items():
                for j, q in places:
                    new[i + j] = new.get(i + j, 0) + p * mp.mpf(q)
            law = new
        offset = counts * mp.mpf(table.offset)
        total = mp.mpf(0)
        for i, p in law.items():
            loss = offset + mp.mpf(table.step) * i
            if loss > epsilon:
                size = p * mp.exp(
                    counts * mp.mpf(table.log_scale) - table.tilt * loss
                )
                total += size * -mp.expm1(mp.mpf(epsilon) - loss)
        lost = 1 - (1 - mp.mpf(table.infinity_mass)) ** counts
        return total + lost


@pytest.mark.parametrize("bound", SIDES)
@pytest.mark.parametrize("seed", range(4))
def test_sums_end_next_to_the_exact_one(bound, seed):
    table = random_table(seed, bound, gaps=seed % 2 == 1)
    sign = table.sign
    for count in (1, 2, 5):
        total = one_round.add_tables([(table, count)], -40.0, (1.0, 1.0))
        middle = count * float(table.losses @ table.mass)
        for epsilon in (middle - 0.5, middle, middle + 0.3, middle + 1):
            exact = exact_delta(table, count, epsilon)
            if not 1e-12 < exact < 0.9:
                continue
            found = one_sided.read_delta(total, epsilon)
            assert 0 <= sign * (mp.mpf(found) / exact - 1) < 1e-8


@pytest.mark.parametrize("seed", range(3))
def test_both_transforms_and_their_logarithms(seed):
    """Every value is within its own error of 40 digits, and that is small."""
    table = random_table(seed, size=30)
    size, last, center = 211, 40, int(table.index[np.argmax(table.mass)])
    with mp.workdps(40):
        exact = [
            mp.fsum(
                m * mp.expjpi(mp.mpf(2 * k * (i - center)) / size)
                for i, m in zip(
                    table.index.tolist(), table.mass.tolist(), strict=True
                )
            )
            for k in range(last + 1)
        ]
        whole = mp.fsum(table.mass.tolist())
        for z, wrong in (
            transforms.slow_transform(table, center, size, last),
            transforms.fast_transform(table, center, size),
        ):
            logs, lost = transforms.log_transform(table, z, wrong)
            for k in range(last + 1):
                assert (
                    abs(complex(exact[k] - whole) - z[k]) <= wrong[k] + 1e-17
                )
                assert wrong[k] < 1e-10
                truly = mp.log(exact[k])
                gap = abs(truly - mp.mpc(complex(logs[k])))
                turns = abs(gap - 2 * mp.pi)
                assert min(gap, turns) <= mp.mpf(lost[k]) + mp.mpf(10) ** -20
                assert lost[k] < 1e-8 or abs(exact[k]) < 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_uniform_parts_lie_below_the_table(seed):
    table = random_table(seed, gaps=seed % 2 == 1)
    length, weight = transforms.smooth_parts(table)
    assert np.all(length >= 1) and np.all(weight >= 0)
    assert math.fsum(weight) <= math.fsum(table.mass) * (1 + 1e-15)
    top = int(np.argmax(table.mass))
    assert math.fsum(weight / length) == pytest.approx(table.mass[top])
    # on each stretch around the largest mass no entry is below its level
    levels = table.mass[top] * 2.0 ** -np.arange(len(length))
    for n, level in zip(length.astype(int), levels, strict=True):
        above = (table.mass >= level) | (table.mass == table.mass[top])
        left = right = top
        while left > 0 and above[left - 1]:
            if table.index[left] - table.index[left - 1] != 1:
                break
            left -= 1
        while right < len(above) - 1 and above[right + 1]:
            if table.index[right + 1] - table.index[right] != 1:
                break
            right += 1
        assert n == right - left + 1


@pytest.mark.parametrize("count", [1, 7, 1000])
def test_transforms_decay_as_promised(count):
    """At an angle and at all larger ones, and by a good part of the truth."""
    for seed in range(4):
        table = random_table(seed)
        n, c = transforms.smooth_parts(table)
        c = c / float(np.sum(table.mass))
        angles = np.linspace(0.01, np.pi, 400)
        turns = np.exp(1j * np.multiply.outer(angles, table.index))
        size = np.abs(turns @ table.mass) / np.sum(table.mass)
        truly = -count * np.log(size)
        later = np.minimum.accumulate(truly[::-1])[::-1]
        decay = transforms.log_decay([(n, c, count)], angles)
        assert np.all(np.diff(decay) >= 0)
        assert np.all(decay <= later + 1e-12)
        assert decay[100] > 0.2 * min(later[100], count)
        k, rest = transforms.highest_frequency([(table, count)], 700, 2.0)
        if rest:
            beyond = 2 * np.pi / 700 * np.arange(k + 1, 351)
            turns = np.exp(1j * np.multiply.outer(beyond, table.index))
            size = np.abs(turns @ table.mass) / np.sum(table.mass)
            assert np.all(size**count <= rest) and rest < math.exp(-2)


@pytest.mark.parametrize("log_tail", [-3.0, -15.0])
@pytest.mark.parametrize("count", [3, 12])
def test_windows_leave_out_what_they_say(log_tail, count):
    for seed in range(3):
        one, other = random_table(seed), random_table(seed + 10, size=9)
        first, last = transforms.tail_window(
            [(one, count), (other, 2)], log_tail, (0.3, 0.2)
        )
        law = np.ones(1)
        for table, n in ((one, count), (other, 2)):
            for _ in range(n):
                law = np.convolve(law, table.mass)
        start = count * int(one.index[0]) + 2 * int(other.index[0])
        place = start + np.arange(len(law))
        assert math.fsum(law[place < first]) <= math.exp(log_tail)
        assert math.fsum(law[place > last]) <= math.exp(log_tail)
        assert start <= first < last <= place[-1]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("size", [1e-3, 1.0, 300.0])
def test_tilted_masses_keep_their_side_to_the_last_bits(sign, size):
    random = np.random.default_rng(1)
    for _ in range(20):
        losses = size * random.normal(size=8)
        mass = 10.0 ** random.uniform(-250, 0, 8)
        mass[0] = 0.0
        tilt = float(random.uniform(0, 3))
        found, scale = one_sided.tilt_masses(losses, mass, tilt, sign)
        assert found[0] == 0
        with mp.workdps(50):
            for loss, p, m in zip(
                losses[1:], mass[1:], found[1:], strict=True
            ):
                back = m * mp.exp(mp.mpf(scale) - mp.mpf(tilt) * mp.mpf(loss))
                if m > 1e-290:
                    gap = sign * (back / mp.mpf(float(p)) - 1)
                    assert (
                        0 <= gap < 1e-14 * (100 + abs(tilt * size) * 20 + 600)
                    )


def test_ceilings_and_infinite_masses_hold_the_exact_numbers():
    with mp.workdps(200):
        for count in (1, 3, 7, 1000):
            for scale in (0.3, 1.7, 1e6):
                pair = al.Laplace(scale).pair()
                bound = single_runs.loss_ceiling([(pair, count)])
                exact = count / mp.mpf(scale)
                assert bound.lower <= exact <= bound.upper
                assert (
                    bound.upper - bound.lower <= exact * 1e-13 + count * 1e-12
                )
            for lost in (0.1, 2.0**-20, 1e-100, 0.999):
                pair = al.ApproximateDP(0.5, lost).pair()
                pairs = [(pair, count), (al.Laplace(1.0).pair(), 2)]
                bound = single_runs.infinite_bound(pairs)
                exact = 1 - (1 - mp.mpf(lost)) ** count
                assert bound.lower <= exact <= bound.upper
                assert bound.upper <= bound.lower * (1 + 1e-13)


def test_answers_that_are_known_and_limits():
    query = saddle.Query
    run = [(al.Laplace(2.0).pair(), 4)]
    known = one_call.known_bound
    assert known(run, query(None, 2.5, 1e-3)) == al.Bound(0.0, 0.0)
    assert known(run, query(None, 1.9, 1e-3)) is None
    assert known(run, query(1.0, None, 1e-3)) == al.Bound(0.0, 0.0)
    ceiling = known(run, query(0.0, None, 1e-3))
    assert ceiling is not None
    assert ceiling.lower <= 2.0 <= ceiling.upper
    lossy = [(al.ApproximateDP(0.5, 0.1).pair(), 2)]
    lost = known(lossy, query(0.18, None, 1e-3))
    assert lost is not None and lost.lower == math.inf
    assert known(lossy, query(0.2, None, 1e-3)) is None
    cut = one_call.cut_with_limits
    assert cut(al.Bound(0.0, 3.0), run, query(None, 1.0, 1e-3)).upper == 1.0
    assert cut(al.Bound(0.0, 9.0), run, query(0.1, None, 1e-3)).upper < 2.1
    found = cut(al.Bound(0.0, 1.0), lossy, query(None, 0.1, 1e-3))
    assert 0.1899 < found.lower <= 0.19
    wide = al.Bound(0.0, math.inf)
    assert cut(wide, lossy, query(0.1, None, 1e-3)).upper == math.inf


# masses of P and Q between two losses, in balls
def ball_masses(density, tails, low, high):
    with ctx.workprec(400):
        z = [balls._place(density, arb(x), 0.0) for x in (low, high)]
        p, q = ((side(z[0]) - side(z[1])) for side in tails)
        return float(p.mid()), float(q.mid())


@pytest.mark.parametrize("noise", [0.1, 0.3, 1.0, 10.0])
@pytest.mark.parametrize("exchanged", [True, False])
def test_narrow_cells_of_mixtures(noise, exchanged):
    """Widths converge one by one: all must, not any."""
    size, rate = 4, 0.3
    means = [j / noise for j in range(0 if exchanged else 1, size + 1)]
    chances = [
        math.comb(size, j) * rate**j * (1 - rate) ** (size - j)
        for j in range(size + 1)
    ]
    weights = np.array(chances[-len(means) :])
    weights = weights / math.fsum(weights)
    make = ExchangedPair if exchanged else MixturePair
    pair = make(tuple(means), tuple(weights.tolist()))
    m, w = (
        [balls.ball(x) for x in means],
        [balls.ball(float(x)) for x in weights],
    )

    def density(z):
        up, rise = balls._log_density(m, w, z, 1)
        if not exchanged:
            return up, rise
        down, fall = balls._log_density(m, w, z, -1)
        return up - down, rise - fall

    def above(z, sign):
        return sum(
            (b * balls.tail(z - sign * a) for a, b in zip(m, w, strict=True)),
            arb(0),
        )

    tails = [lambda z: above(z, 1)]
    tails.append((lambda z: above(z, -1)) if exchanged else balls.tail)
    starts = np.array([0.01, 0.5, 2.0, 6.0]) / min(1.0, noise)
    if not exchanged:
        starts = np.concatenate([-starts[::-1] / 3, starts])
    for width in (1e-8, 1e-3, 0.3):
        # edges and widths as the engine hands them over: accurate widths
        edges = np.sort(np.concatenate([starts, starts + width]))
        if np.any(np.diff(edges) <= 0):
            continue
        p, q = pair.interval_masses(edges, np.diff(edges), "right")
        for i in range(len(edges) - 1):
            exact = ball_masses(density, tails, edges[i], edges[i + 1])
            if min(exact) < 1e-290:
                continue
            for found, truly in zip((p[i + 1], q[i + 1]), exact, strict=True):
                assert found == pytest.approx(truly, rel=3e-12, abs=0)


@pytest.mark.parametrize("order", [2.0, 5.0, 40.0])
def test_renyi_without_replacement_at_both_ends(order):
    def rdp(a):
        return al.gaussian_rdp(a, noise_multiplier=2.0)

    at = {
        rate: float(al.without_replacement_rdp(order, rdp=rdp, rate=rate))
        for rate in (0.0, 0.999, 1.0)
    }
    assert at[0.0] == 0
    assert at[1.0] == pytest.approx(order / 8)
    assert at[0.999] > 0.5 * at[1.0]


@pytest.mark.parametrize("bound", SIDES)
def test_masses_of_any_size_are_read_off_outward(bound):
    """A single loss: the logarithm of its mass has an error of its own."""
    random = np.random.default_rng(3)
    for _ in range(200):
        mass, loss = 10.0 ** random.uniform(-260, 0), random.uniform(0.5, 2)
        table = one_sided.TiltedTable(
            *(1.0, float(loss), 0.0, 0.0, 0.0, 0.0, bound),
            np.zeros(1, int),
            np.array([mass]),
        )
        found = one_sided.read_delta(table, 0.25)
        with mp.workdps(50):
            exact = mp.mpf(mass) * -mp.expm1(mp.mpf(0.25) - mp.mpf(loss))
            gap = table.sign * (mp.mpf(found) / exact - 1)
        assert 0 <= gap < 1e-12


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


def test_exchanged_integer_noise_has_mass_1():
    for mechanism in (al.DiscreteGaussian(0.7, 2), al.DiscreteLaplace(3.0, 4)):
        for rate in (0.01, 0.9):
            pair = al.dominating_pairs(
                mechanism, sampling=al.Poisson(rate), adjacency="substitute"
            )[0]
            p, q = pair.interval_masses(np.array([0.0]), np.zeros(0), "right")
            lost = pair.infinite_mass
            assert math.fsum([*p, lost[0]]) == pytest.approx(1, rel=1e-14)
            assert math.fsum([*q, lost[1]]) == pytest.approx(1, rel=1e-14)


FULL, POISSON, BATCH = ("full",), ("poisson", 0.05), ("fixed", 30, 1000)
ANSWERS = [
    (al.Gaussian, "gaussian", (1.1,), POISSON, 3, 200),
    (al.Gaussian, "gaussian", (1.7,), BATCH, 2, 100),
    (al.Gaussian, "gaussian", (2.0,), FULL, 1, 9),
    (al.Laplace, "laplace", (2.0,), FULL, 2, 5),
    (al.Laplace, "laplace", (2.0,), POISSON, 1, 1),
    (al.RandomizedResponse, "response", (0.7,), POISSON, 1, 50),
    (al.ApproximateDP, "approximate", (0.5, 1e-3), FULL, 1, 3),
    (al.ApproximateDP, "approximate", (0.5, 1e-3), BATCH, 1, 2),
    (al.DiscreteGaussian, "integer gaussian", (1.5, 2), FULL, 1, 3),
    (al.DiscreteGaussian, "integer gaussian", (1.5, 1), BATCH, 1, 1),
    (al.DiscreteLaplace, "integer laplace", (2.0, 2), FULL, 2, 4),
    (al.DiscreteLaplace, "integer laplace", (2.0, 2), POISSON, 1, 3),
]


@pytest.mark.parametrize("make, kind, numbers, sampler, group, count", ANSWERS)
def test_whole_answers_are_narrow_and_true(
    make, kind, numbers, sampler, group, count
):
    """Each mechanism, each sampler, all adjacencies that have a truth."""
    samplers = {"full": al.FullBatch, "poisson": al.Poisson}
    sampling = samplers.get(sampler[0], al.FixedBatch)(*sampler[1:])
    run = al.Release(make(*numbers), sampling, count)
    part = truth_runs.Part(kind, numbers, sampler, count)
    for adjacency in ("remove", "add", "substitute"):
        fixed = sampler == BATCH and (count > 1 or group > 1)
        if adjacency == "substitute" and fixed:
            continue
        known = truth_runs.run_truth([part], adjacency, group)
        if known.gap:
            continue
        for epsilon in (0.0, 0.05, 0.6):
            low, high = known.delta(epsilon)
            found = al.delta(
                run, epsilon=epsilon, adjacency=adjacency, group_size=group
            )
            assert found.lower <= high and low <= found.upper
            assert found.width < (2e-3 if high > 1e-6 else 0.02)
        at = min(max(low, 1e-9) * 1.01, 0.99)
        bound = al.epsilon(
            run, delta=at, adjacency=adjacency, group_size=group
        )
        assert known.compare(bound.upper, at) <= 0
        if bound.lower > 0:
            assert known.compare(bound.lower * (1 - 1e-13), at) >= 0


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


def test_products_are_taken_to_the_last_bit():
    random = np.random.default_rng(5)
    x, y = 10.0 ** random.uniform(-50, 50, (2, 2000))
    rest = product_minus(x, y, x * y)
    for a, b, found in zip(x.tolist(), y.tolist(), rest.tolist(), strict=True):
        assert Fraction(found) == Fraction(a) * Fraction(b) - Fraction(a * b)


@pytest.mark.parametrize("rate", [1e-100, 0.01, 0.3])
def test_sampled_renyi_sums_are_rounded_up(rate):
    orders = np.array([2, 3, 5, 9, 20, 45])
    found = al.poisson_rdp(orders, rdp=lambda a: a / 8, rate=rate)
    with mp.workdps(60):
        g = mp.mpf(rate)
        for n, value in zip(orders.tolist(), found.tolist(), strict=True):
            more = mp.mpf(0)
            for k in range(2, n + 1):
                rise = mp.exp(mp.mpf((k - 1) * k) / 8)
                weight = mp.binomial(n, k) * g**k * (1 - g) ** (n - k)
                more += weight * ((3 if k > 2 else 1) * rise - 1)
            exact = mp.log1p(more) / (n - 1)
            assert exact <= value <= exact * (1 + 1e-9)


@pytest.mark.parametrize("n", [30_001, 65_432, 99_991])
def test_sampled_renyi_sums_with_large_binomials_are_rounded_up(n):
    rate, rho = 0.3, 1e-9
    found = al.poisson_rdp(n, rdp=lambda a: a * rho, rate=rate, bound="tight")
    middle, far = round(n * rate), 15 * round(math.sqrt(n * rate))
    with mp.workdps(40):
        g, k = mp.mpf(rate), middle - far
        weight, more = mp.binomial(n, k) * g**k * (1 - g) ** (n - k), mp.mpf(0)
        while k <= middle + far:
            more += weight * mp.expm1(mp.mpf(rho) * (k - 1) * k)
            weight *= (n - k) * g / ((k + 1) * (1 - g))
            k += 1
        exact = mp.log1p(more) / (n - 1)
    assert exact <= found <= exact * (1 + 1e-9)


@pytest.mark.parametrize("conversion", ["improved", "classic"])
def test_deltas_of_renyi_curves_are_rounded_up(conversion):
    random = np.random.default_rng(2)
    for _ in range(200):
        order = 1 + float(10.0 ** random.uniform(-3, 1.8))
        value = float(10.0 ** random.uniform(-3, 0.7))
        at = value * float(random.uniform(0.5, 5))
        found = al.delta_from_rdp(
            [value], epsilon=at, orders=[order], conversion=conversion
        )
        with mp.workdps(50):
            a = mp.mpf(order)
            log = (a - 1) * (mp.mpf(value) - mp.mpf(at))
            if conversion == "improved":
                log += (a - 1) * mp.log(1 - 1 / a) - mp.log(a)
            exact = min(mp.exp(log), 1)
            assert exact <= found <= exact * (1 + 1e-11) + 1e-300


def test_renyi_divergences_too_small_for_floats_are_not_0():
    assert curves.discrete_gaussian_rdp(1.5, sigma=1e200) > 0
    assert al.gaussian_rdp(1.5, noise_multiplier=1e200) > 0
    assert al.zcdp_rdp(1.5, rho=5e-324) > 0
    assert al.laplace_rdp(1.5, scale=1e200) > 0


def test_renyi_curve_of_a_chain_that_loses_nothing():
    curve = whole_runs.pair_rdp(chain_pair(0.3, 0.0, 3))
    top = al.pure_dp_rdp(2.0, epsilon=0.9)
    assert 0.3 * top < curve(2.0) <= top * (1 + 1e-11)


@pytest.mark.parametrize("add", [True, False])
@pytest.mark.parametrize("rate", [0.02, 1.0])
@pytest.mark.parametrize("less", [0.02, 1.0, 12.0])
def test_bounds_of_panels_hold_and_are_not_far_off(add, rate, less):
    step = laplace_panels.LaplacePanels(10.0, rate, 1 - rate, add)
    half, orders, none = 0.2, np.array([less]), np.zeros(1, int)
    middle = np.array([-9.5, -4.0, -0.3, 0.5, 3.0, 9.7])
    for k in range(len(middle)):
        one = middle[k : k + 1]
        part = (one, half)
        mass = laplace_panels.gauss_part(
            orders, step, 0 * orders, part, none, none
        )
        exact = math.log(mass[0])
        for ell in (0.0, 1.0):
            bound = step.log_bound(orders, one, none, half, ell)[0]
            assert exact <= bound < exact + 6 + 8 * half * less


def test_laplace_noise_too_small_for_panels():
    for order in (1.5, 2.0, 30.0):
        for add in (True, False):
            curve = laplace_panels.laplace_curve(
                1e-5, 0.5, missed=0.5, add=add
            )
            plain = al.laplace_rdp(order, scale=1e-5)
            assert plain <= curve(np.array([order]))[0] < plain * (1 + 1e-12)


def test_cells_say_what_lies_beyond_them():
    """Also where that is too small for floats."""
    edges = np.array([0.0, 1.0, 30.0, 40.0])
    for budget in (1e-3, 1e-40, 1e-320):
        cells = saddle.Cells.of(al.Gaussian(1.0).pair(), 1, edges, budget)
        tail = mp.ncdf(-(mp.mpf(cells.edges[-1]) - 0.5))
        assert tail <= cells.beyond < 1.01 * tail + 1e-304


@pytest.mark.parametrize("add", [True, False])
@pytest.mark.parametrize("rate", [0.02, 1.0])
def test_bounds_of_panels_hold_on_their_ellipses(rate, add):
    """The integrand, at complex places: a rule of Gauss errs by a share."""
    step = laplace_panels.LaplacePanels(6.0, rate, 1 - rate, add)
    less, half, none = 3.0, 0.3, np.zeros(1, int)
    turns = np.exp(2j * np.pi * np.arange(24) / 24)
    for middle in (-5.2, -1.0, 0.4, 4.9):
        place = middle + half * (4 * turns + 1 / (4 * turns)) / 2
        sampled = np.log(1 - rate + rate * np.exp(place))
        loss = -sampled if add else sampled
        size = (np.expm1(less * loss) - less * loss) / less
        size = np.abs(size + np.expm1(-loss) + loss)
        size *= np.abs(np.exp(-(6 + place) / 2 + (0 if add else sampled)))
        exact = math.log(np.max(size) * half / 2)
        at = np.array([middle]), none, half, 1.0
        bound = step.log_bound(np.array([less]), *at)[0]
        assert exact <= bound < exact + 5


@pytest.mark.parametrize("add", [True, False])
def test_renyi_curves_of_mixtures_are_rounded_up(add):
    means, weights = (1.0, 2.5, 4.0), (0.5, 0.25, 0.25)
    for rate, order in ((1.0, 1.5), (1.0, 3.0), (0.125, 1.1), (2.0**-400, 2)):
        pair = real_orders.ShiftedNormals(means, weights, rate, 1 - rate)
        if rate < 1:  # the other sum has room for rounding of its own
            pair = real_orders.ShiftedNormals((2.0,), (1.0,), rate, 1 - rate)
        found = real_orders.normal_curve(pair, add=add)(np.array([order]))[0]
        with mp.workdps(30 if rate > 1e-9 else 300):
            power, more = mp.mpf(1 - order if add else order), mp.mpf(0)
            for k in range(-112, 224):
                x = mp.mpf(k) / 8
                ratio = mp.fsum(
                    w * mp.exp(x * m - mp.mpf(m) ** 2 / 2)
                    for m, w in zip(pair.means, pair.weights, strict=True)
                )
                ratio = 1 - mp.mpf(rate) + mp.mpf(rate) * ratio
                gain = ratio**power - 1 - power * (ratio - 1)
                more += mp.npdf(x) * gain / 8
            exact = mp.log1p(more) / (mp.mpf(order) - 1)
        assert exact <= found < exact * (1 + 1e-11)


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


@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_rates_next_to_1_are_hardly_sampling(epsilon):
    """The window of the tables may not reach the end of the losses."""
    run = al.Release(al.Gaussian(0.3), al.Poisson(1 - 1e-12), 2)
    exact = al.gaussian_delta(epsilon, mu=math.sqrt(2) / 0.3)
    found = al.delta(run, epsilon=epsilon, adjacency="add")
    assert found.lower <= exact * (1 + 1e-9) and exact <= found.upper
    assert found.width < 2e-3


@pytest.mark.parametrize("tilt, step", [(0.05, 0.02), (1.5, 0.02), (2.0, 2.0)])
def test_errors_of_a_spectrum_add_up_to_what_they_may(tilt, step):
    """Each entry off by its own error, all in the worst direction."""
    random = np.random.default_rng(1)
    size, frequency = 64, np.arange(33)
    value = np.array([1, 1j]) @ random.normal(size=(2, 33))
    fields: Any = step, 0.3, tilt, 0.0, 0.0, 0.0, "upper", size, -7
    fields = *fields, frequency, value, np.zeros(33), 0.0
    total = transforms.Spectrum(*fields)
    wrong = np.abs(value) * 10.0 ** random.uniform(-6, -1, 33)
    worse = replace(total, wrong=wrong)
    start = 0.3 - 7 * step
    for place in (0.5, 20.2, 61.3, 62.7, 63.1, 63.9):
        epsilon = np.array([start + step * place])
        parts = []
        for k in range(33):
            pair = [
                replace(total, value=np.where(frequency == k, turn, 0))
                for turn in (1.0, 1j)
            ]
            parts.append([x.weighed(epsilon)[0][0] for x in pair])
        most = float(np.linalg.norm(parts, axis=1) @ wrong)
        assert most <= worse.weighed(epsilon)[1][0]


@pytest.mark.parametrize("seed", range(4))
def test_frequencies_left_out_of_rare_sums_are_counted(seed):
    one, count = random_table(seed, size=300), 3000
    near = np.where(one.losses > float(one.losses[156]), 0, one.mass)
    one = replace(one, pieces=(near, one.mass - near))
    total: Any = one_round.add_tables([(one, count)], -30.0, (1.0, 1.0))
    kept = total.frequency
    angle = 2j * np.pi / total.size * np.arange(total.size // 2 + 1)
    turns = np.exp(np.multiply.outer(angle, one.index - one.index[30]))
    value = (turns @ one.mass) ** count - (turns @ near) ** count
    value[kept] = 0
    missed = 2 * float(np.sum(np.abs(value))) / total.size
    assert missed <= total.rest < 1e-12


@dataclass(frozen=True)
class Off(al.DominatingPair):
    """Every mass of a pair is off by as much as this one states."""

    pair: al.DominatingPair
    signs: tuple[int, int]
    error: float = 1e-3

    infinite_mass = property(lambda self: self.pair.infinite_mass)
    loss_range = property(lambda self: self.pair.loss_range)
    atoms = property(lambda self: self.pair.atoms)
    atom_count = property(lambda self: self.pair.atom_count)
    lattice = property(lambda self: self.pair.lattice)
    atom_error = property(lambda self: self.pair.atom_error)
    discrete = property(lambda self: self.pair.discrete)

    def mass_error(self, mass):
        return np.full_like(mass, self.error)

    def interval_masses(self, edges, widths, closed):
        masses = self.pair.interval_masses(edges, widths, closed)
        p, q = (
            np.minimum(x / (1 + sign * self.error), 1)
            for x, sign in zip(masses, self.signs, strict=True)
        )
        return p, q


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize(
    "make, kind, number",
    [
        (al.Gaussian, "gaussian", 1.5),
        (al.Laplace, "laplace", 2.0),
        (al.RandomizedResponse, "response", 0.7),
    ],
)
def test_answers_hold_if_masses_are_as_wrong_as_stated(
    make, kind, number, count, signs
):
    part = truth_runs.Part(kind, (number,), ("full",), count)
    known = truth_runs.run_truth([part], "remove", 1)
    pair = Off(make(number).pair(), signs)
    losses = [(pair, count)]
    epsilons = np.array([0.0, 0.3, 0.8])
    lower, upper = single_runs.run_curve(pair, epsilons)
    for k, epsilon in enumerate(epsilons.tolist()):
        low, high = known.delta(epsilon)
        query = saddle.Query(None, epsilon, 0.03)
        bound = single_runs.simple_bound(losses, query)
        assert bound.lower <= high and low <= bound.upper
        if count == 1:
            assert lower[k] <= high and low <= upper[k]
            assert upper[k] - lower[k] < 0.02
            for side in get_args(BoundKind):
                table = al.discretize(pair, step=0.01, bound=side)
                value = table.delta(epsilon)
                assert value >= low if "upper" in side else value <= high
        else:
            bound = one_call.largest_bound([losses], query)
            assert bound.lower <= high and low <= bound.upper
            assert bound.upper - bound.lower < 0.1
    at = known.delta(0.3)[0]
    found = one_call.largest_bound([losses], saddle.Query(at, None, 0.03))
    assert known.compare(found.upper, at) <= 0
    assert known.compare(found.lower * (1 - 1e-13), at) >= 0
    assert found.width < 0.4


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


@pytest.mark.parametrize("seed", range(3))
def test_logarithms_of_gains_err_by_less_than_they_say(seed):
    """The transforms are off by what they state, in the worst direction."""
    random = np.random.default_rng(seed)
    table = random_table(seed)
    close = np.arange(len(table.mass)) <= 22
    pieces = np.where(close, table.mass, 0), np.where(close, 0, table.mass)
    near, far = one_round.near_and_far(replace(table, pieces=pieces))
    z, f = (
        0.3 * random.uniform(size=30) * np.exp(2j * np.pi * random.random(30))
        for _ in range(2)
    )
    sizes = float(np.sum(near.mass)), float(np.sum(far.mass))
    wrong = 10.0 ** random.uniform(-4, -1, (2, 30))
    for share in ((1, 0), (0, 1), (1, 1)):
        wrong_z, wrong_f = (x * y for x, y in zip(wrong, share, strict=True))
        found, error, most = one_round.log_gain(
            near, far, z, wrong_z, (f, wrong_f)
        )
        n, g = z + sizes[0], f + sizes[1]
        for turn in np.exp(2j * np.pi * np.arange(16) / 16):
            for other in (turn, -turn):
                one, two = n + wrong_z * turn, g + wrong_f * other
                exact = np.log(1 + two / one)
                gap = np.abs(exact - found)
                gap = np.minimum(gap, np.abs(gap - 2 * np.pi))
                assert np.all(gap <= error + 1e-15)
                largest = np.maximum(np.abs(one), np.abs(one + two))
                assert np.all(largest <= most)
    assert np.median(error) < 1


@pytest.mark.parametrize("add", [True, False])
@pytest.mark.parametrize("step", [0.05, 0.7])
def test_terms_that_a_lattice_leaves_out_are_counted(add, step):
    less = np.array([0.1, 2.0, 30.0])
    pair = real_orders.ShiftedNormals((2.0,), (1.0,), 0.1, 0.9)
    cells = real_orders.lattice_cells(less, pair, add, step, 0.5)
    row, first, best, lost, _ = cells
    places = np.arange(-int(30 / step), int(110 / step))
    points = pair.points((places + 0.5) * step, add)
    terms = real_orders.log_terms(
        less[:, None], points, np.arange(len(places))
    )
    for k in range(len(less)):
        terms[k] -= best[k]
        for place in first[row == k]:
            kept = places >= place
            kept &= places < place + real_orders.cell_points(step)
            terms[k][kept] = -np.inf
        missed = float(np.sum(np.exp(terms[k])))
        assert 0 < missed <= lost[k] < 1e-15


def test_merged_gaussians_keep_thirty_digits():
    one, other = al.Gaussian(3e-5).pair(), al.Gaussian(0.7).pair()
    pair: Any = next(iter(one_call.merge_gaussians({one: 3, other: 5})))
    with mp.workdps(60):
        exact = mp.sqrt(3 / mp.mpf(3e-5) ** 2 + 5 / mp.mpf(0.7) ** 2)
        found = mp.mpf(pair.mu) + mp.mpf(pair.rest)
        assert abs(found / exact - 1) < 1e-30


def test_chains_may_be_as_long_as_they_say():
    assert chain_pair(700.0, 0.0, 1).loss_range == (-700.0, 700.0)
    assert chain_pair(350.0, 0.0, 2).loss_range == (-700.0, 700.0)
    for epsilon, size in ((700.1, 1), (350.1, 2)):
        with pytest.raises(ValueError, match="must lie in"):
            chain_pair(epsilon, 0.0, size)


@pytest.mark.parametrize("start", [0.001, 0.035, 0.14, 0.45, 14.0])
def test_single_cells_of_exchanged_records(start):
    """Alone: with many cells the last one decides when a search ends."""
    means = np.arange(5) / 0.3
    weights = np.array([0.25, 0.4375, 0.25, 0.0546875, 0.0078125])
    pair = ExchangedPair(tuple(means.tolist()), tuple(weights.tolist()))
    m, w = ([balls.ball(float(x)) for x in row] for row in (means, weights))

    def density(z):
        up, rise = balls._log_density(m, w, z, 1)
        down, fall = balls._log_density(m, w, z, -1)
        return up - down, rise - fall

    tails = [
        lambda z, sign=sign: sum(
            (b * balls.tail(z - sign * a) for a, b in zip(m, w, strict=True)),
            arb(0),
        )
        for sign in (1, -1)
    ]
    for width in 10.0 ** np.arange(-6, 0, 0.5):
        edges = np.array([start, start + width])
        masses = pair.interval_masses(edges, np.diff(edges), "right")
        exact = ball_masses(density, tails, edges[0], edges[1])
        for found, truly in zip(masses, exact, strict=True):
            assert found[1] == pytest.approx(truly, rel=3e-12, abs=0)


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


@pytest.mark.parametrize("mu", [1e-9, 1e-3, 0.2, 1.0, 4.0])
@pytest.mark.parametrize("last", [0.5, 2.0, 40.0])
def test_polygons_hold_beyond_their_last_epsilon(mu, last):
    at = np.linspace(0.0, last, 41)
    low, up = single_runs.run_curve(al.Gaussian(1 / mu).pair(), at)
    one = certified_curves.Profile(at, low, up, 0.0)
    alpha, delta = certified_curves.lower_kinks(one, one)
    epsilons = np.linspace(-2 * last - 3, 2 * last + 3, 1000)
    exact = al.gaussian_delta(epsilons, mu=mu)
    found = np.interp(np.exp(epsilons), alpha, delta)
    assert np.all(found <= exact * (1 + 1e-13))
    if last < 40:
        assert np.all((exact - found)[np.abs(epsilons) < last] < 0.05)


@pytest.mark.parametrize("count", [1, 2, 500])
def test_infinite_masses_of_lists_hold_the_sum_of_fractions(count):
    random = np.random.default_rng(4)
    for _ in range(20):
        p = random.dirichlet(np.ones(6)).tolist()
        q = [0.0, 0.0, 0.0, *random.dirichlet(np.ones(3)).tolist()]
        bound = single_runs.infinite_bound([(al.DiscretePair(p, q), count)])
        with mp.workdps(60):
            lost = sum(map(mp.mpf, p[:3]))
            exact = 1 - (1 - lost) ** count
            assert bound.lower <= exact <= bound.upper
            assert bound.upper - bound.lower < 1e-14 * exact


def test_two_gaussian_runs_are_one():
    for runs in (
        [al.Release(al.Gaussian(2.0), count=2)],
        [al.Release(al.Gaussian(2.0)), al.Release(al.Gaussian(2.0))],
    ):
        found = al.epsilon(runs, delta=1e-6, adjacency="remove")
        exact = al.gaussian_epsilon(1e-6, mu=math.sqrt(0.5))
        assert found.lower <= exact * (1 + 1e-12)
        assert exact * (1 - 1e-12) <= found.upper
        assert found.width < 1e-4


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


@pytest.mark.parametrize("exchanged", [False, True])
def test_masses_of_many_cells_sum_to_1(exchanged):
    """Cells are taken in parts, and in each part only terms that count."""
    size, rate = 300, 0.1
    means = np.arange(0 if exchanged else 1, size + 1) / 3.0
    weights = binom.pmf(np.arange(size + 1), size, rate)[-len(means) :]
    weights = weights / math.fsum(weights)
    make = ExchangedPair if exchanged else MixturePair
    pair = make(tuple(means.tolist()), tuple(weights.tolist()))
    for low, high in ((-60.0, 400.0), (3.0, 900.0)):
        edges = np.linspace(low, high, 200)
        masses = pair.interval_masses(edges, np.diff(edges), "right")
        few = pair.interval_masses(edges[[0, -1]], edges[[-1]] - low, "right")
        for one, other in zip(masses, few, strict=True):
            assert math.fsum(one) == pytest.approx(1, abs=1e-12)
            ends = [one[0], math.fsum(one[1:-1]), one[-1]]
            assert ends == pytest.approx(other, rel=1e-11, abs=1e-290)


def test_a_curve_that_never_comes_down():
    curve = np.array([0.5, 0.4])
    assert grid_epsilon(0.25, 2, curve, 0.3) == 0.75
    assert grid_epsilon(0.25, 2, curve, 0.6) == 0.5


@pytest.mark.parametrize("sign", [1, -1])
def test_error_rates_of_lines_are_rounded_to_their_side(sign):
    random = np.random.default_rng(7)
    for _ in range(300):
        alpha = np.array([10.0 ** random.uniform(0, 2)])
        d, none = random.uniform(0, 0.9, 1), (np.ones(1), np.ones(1))
        part = 1 - 10.0 ** random.uniform(-13, -1)  # next to where it is 0
        x = float((1 - d[0]) / alpha[0] * part)
        found = certified_curves.missed_at(x, (alpha, d), none, sign)
        exact = 1 - Fraction(d[0]) - Fraction(alpha[0]) * Fraction(x)
        assert 0 <= sign * (exact - Fraction(found)) < Fraction(1e-14)


def test_mu_of_huge_epsilons():
    for epsilon in (9e11, 1.1e12, 1e15, 1e30):
        for delta in (1e-9, 0.3, 0.7):
            mu = al.mu_from_epsilon_delta(epsilon, delta=delta)
            back = al.gaussian_epsilon(delta, mu=mu)
            assert back == pytest.approx(epsilon, rel=1e-9)
