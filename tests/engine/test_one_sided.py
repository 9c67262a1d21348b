"""One-sided tables: every operation keeps its side of the truth."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from dataclasses import replace
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest

from accountlib.engine import one_sided
from accountlib.engine.one_round import add_tables
from accountlib.engine.one_sided import read_delta, read_epsilon
from tests.engine.made_tables import made_table

SIDES = ("upper", "lower")
POINTS = [-0.7, 0.0, 0.3, 1.1, 2.4]


def exact_sum(masses, count):
    """The masses of a sum of `count` losses, in fractions."""
    parts = [F(mass) for mass in masses]
    whole = math.lcm(*(part.denominator for part in parts))
    weights = [int(part * whole) for part in parts]
    total = [1]
    for _ in range(count):
        new = [0] * (len(total) + len(weights) - 1)
        for index, mass in enumerate(total):
            for k, weight in enumerate(weights):
                new[index + k] += mass * weight
        total = new
    return [F(mass, whole**count) for mass in total]


def exact_delta(total, losses, count, epsilon):
    """delta of a sum of `count` losses with the given masses."""
    start, step = losses
    gaps = [count * start + step * k - epsilon for k in range(len(total))]
    return math.fsum(
        float(p) * -math.expm1(-gap)
        for p, gap in zip(total, gaps, strict=True)
        if gap > 0
    )


@pytest.mark.parametrize("bound", SIDES)
@pytest.mark.parametrize("tilt", [0.1, 1.5, 20.0])
@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_sums_of_tables_keep_their_side(bound, tilt, count):
    """Against exact fractions, with every rounding on the table's side."""
    rng = np.random.default_rng([count, int(tilt)])
    for _ in range(5):
        masses = rng.multinomial(64, rng.dirichlet(np.ones(6))) / 64
        one = made_table(masses, bound, tilt=tilt, offset=0.1)
        total = add_tables([(one, count)], -40.0, (9.0, 9.0))
        truth = exact_sum(masses, count)
        for epsilon in POINTS:
            exact = exact_delta(truth, (0.1 - 0.5, 0.25), count, epsilon)
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
    one = made_table(masses, bound, step=0.001, first=-400, tilt=1.5)
    total = add_tables([(one, count)], -40.0, (9.0, 9.0))
    epsilons = np.append(0.0, np.sort(rng.uniform(0, 1.2 * count, 2000)))
    together = read_delta(total, epsilons)
    alone = np.array([read_delta(total, x) for x in epsilons])
    assert together.shape == epsilons.shape
    scale = 1e-12 * math.exp(total.log_scale) * np.exp(-1.5 * epsilons)
    assert np.all(np.abs(together - alone) <= scale + 1e-9 * alone)


@pytest.mark.parametrize("bound", SIDES)
@pytest.mark.parametrize("count", [1, 2, 30])
@pytest.mark.parametrize("delta", [0.3, 1e-3, 1e-9, 1e-30])
def test_reading_off_both_ways(bound, count, delta):
    """The epsilon that is read has the right delta on its safe side."""
    one = made_table(np.ones(12) / 12, bound, tilt=0.8, step=0.1)
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
    plain = made_table([0.25, 0.0, 0.75], bound, first=0, tilt=1.0)
    padded = replace(plain, tail=1e-3)
    sign = plain.sign
    assert sign * (read_delta(padded, 0.1) - read_delta(plain, 0.1)) > 0
    assert sign * (read_epsilon(padded, 0.1) - read_epsilon(plain, 0.1)) > 0


# --- to the last bit: small and exact ----------------------------------------


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
