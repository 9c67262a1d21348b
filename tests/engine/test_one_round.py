"""Adding tables: near and far losses, quotients, powers."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from flint import arb, arb_poly, ctx

import accountlib as al
from accountlib.engine import grids, one_round, one_sided
from accountlib.engine.one_sided import TiltedTable
from tests.engine.random_tables import random_tilted_table
from tests.truth.arbs import as_mpf


def table(mass, tilt=0.5, step=0.25, far=None):
    """A table; losses from index `far` on are its second piece."""
    mass = np.asarray(mass, dtype=float)
    index = np.arange(len(mass))
    pieces: tuple[Any, ...] = ()
    if far is not None:
        pieces = np.where(index < far, mass, 0), np.where(index < far, 0, mass)
    return TiltedTable(
        step,
        0.0,
        tilt,
        0.0,
        0.0,
        0.0,
        "upper",
        index=index,
        mass=mass,
        pieces=pieces,
    )


def test_the_split_transform_has_a_relative_error():
    rng = np.random.default_rng(4)
    for _ in range(20):
        mass = rng.uniform(0, 1, 12)
        mass[:8] /= mass[:8].sum()
        mass[8:] *= 10.0 ** rng.uniform(-60, -3)
        count, size = int(rng.integers(2, 40)), 64
        part = table(mass, far=8)
        power = one_round.Power.of([(part, count)], size, 32)
        value, wrong = power.values(np.arange(33))
        with mp.workdps(200):
            for k in range(33):
                turn = mp.expj(2 * mp.pi * k / size)
                near, far = (
                    sum(mp.mpf(m) * turn**x for x, m in places)
                    for places in (
                        list(enumerate(mass))[:8],
                        list(enumerate(mass))[8:],
                    )
                )
                shift = turn ** (-power.middle)
                truth = ((near + far) ** count - near**count) * shift
                assert abs(truth - mp.mpc(value[k])) <= wrong[k]
        assert wrong[0] < 1e-10 * abs(value[0])


def test_nothing_is_known_of_a_quotient_by_zero():
    part = table([0.5, 0.5, 0.0, 0.0, 1e-9], far=4)
    power = one_round.Power.of([(part, 30)], 4, 2)
    value, wrong = power.values(np.array([2]))  # 0.5 - 0.5 = 0
    assert abs((1e-9) ** 30 - value[0]) <= wrong[0]


def test_the_masses_of_near_and_far_losses_add_up():
    rng = np.random.default_rng(3)
    pairs = [
        al.SampledPair(al.GaussianPair(1.0), 0.01),
        al.LaplacePair(0.5),
        al.DiscretePair((0.5, 0.3, 0.2), (0.2, 0.3, 0.5)),
    ]
    for pair in pairs:
        for _ in range(40):
            edges = np.sort(rng.uniform(-1.5, 1.5, 7))
            choices = [*edges, rng.uniform(-2, 2)]
            split = float(choices[int(rng.integers(8))])
            (whole,) = grids.cell_masses(pair, edges)
            near, far = grids.cell_masses(pair, edges, split)
            assert near.shape == far.shape == whole.shape
            np.testing.assert_allclose(near + far, whole, rtol=1e-12)
            part = one_round.NearPair(pair, split)
            np.testing.assert_allclose(
                np.stack(part.masses(edges)), near, rtol=1e-12
            )


# --- to the last bit: small and exact ----------------------------------------


SIDES = ("upper", "lower")


def exact_delta(table, counts, epsilon):
    """delta of runs of one table, in 60 digits, no rounding outward."""
    with ctx.workdps(60):
        first, last = int(table.index[0]), int(table.index[-1])
        masses = [0.0] * (last - first + 1)
        for i, mass in zip(table.index, table.mass, strict=True):
            masses[i - first] = float(mass)
        law = arb_poly(masses) ** counts
        total, scale = arb(0), counts * arb(table.log_scale)
        for i, p in enumerate(law.coeffs()):
            loss = counts * (arb(table.offset) + arb(table.step) * first)
            loss += arb(table.step) * i
            if loss > epsilon:
                size = p * (scale - arb(table.tilt) * loss).exp()
                total += size * -(arb(epsilon) - loss).expm1()
        lost = 1 - (1 - arb(float(table.infinity_mass))) ** counts
        return as_mpf(total + lost)


@pytest.mark.parametrize("bound", SIDES)
@pytest.mark.parametrize("seed", range(4))
def test_sums_end_next_to_the_exact_one(bound, seed):
    table = random_tilted_table(seed, bound, gaps=seed % 2 == 1)
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


@pytest.mark.parametrize("seed", range(4))
def test_frequencies_left_out_of_rare_sums_are_counted(seed):
    one, count = random_tilted_table(seed, size=300), 3000
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


@pytest.mark.parametrize("seed", range(3))
def test_logarithms_of_gains_err_by_less_than_they_say(seed):
    """The transforms are off by what they state, in the worst direction."""
    random = np.random.default_rng(seed)
    table = random_tilted_table(seed)
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
