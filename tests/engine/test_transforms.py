"""Transforms and windows: no further off than they say."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from dataclasses import replace
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import accountlib as al
from accountlib.engine import transforms
from accountlib.engine.grids import bound_tables
from accountlib.engine.one_round import add_tables
from accountlib.engine.one_sided import read_delta
from accountlib.engine.saddle import Cells
from accountlib.engine.transforms import (
    Spectrum,
    fast_transform,
    highest_frequency,
    slow_transform,
    smooth_parts,
    tail_window,
)
from tests.engine.made_tables import made_table
from tests.engine.random_tables import random_tilted_table

SIDES = ("upper", "lower")


@pytest.mark.parametrize("bound", SIDES)
@pytest.mark.parametrize("tail", [-3.0, -8.0, -20.0])
def test_a_cut_window_keeps_its_side(bound, tail):
    """What leaves the window, or comes back into it, is counted."""
    coin = made_table([0.25, 0.0, 0.75], bound, tilt=0.7)
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

    coin = made_table([0.5, 0.5], "upper", first=0, tilt=1e-9)
    low, high = tail_window([(coin, 400)], log_tail, (theta, theta))
    outside = [k for k in range(401) if k < low or k > high]
    mass = sum(mp.binomial(400, k) for k in outside) / mp.mpf(2) ** 400
    assert mass <= 2 * mp.exp(log_tail)


@pytest.mark.parametrize("count", [10**7, 10**9, 10**12])
@pytest.mark.parametrize("masses", [(0.45, 0.55), (0.55, 0.45)])
def test_the_window_far_from_the_most_frequent_loss(count, masses):
    """Chernoff's inequality at both ends, which lie on one side of it."""
    coin = made_table(masses, "upper", first=0, tilt=1e-9)
    coin = replace(coin, index=np.array([0, 1000]))
    theta, log_tail = 1e-5, -20.0
    low, high = tail_window([(coin, count)], log_tail, (theta, theta))
    one, other = map(mp.mpf, coin.mass.tolist())
    with mp.workdps(60):
        for sign, end in ((1, high), (-1, low)):
            growth = count * mp.log(one + other * mp.exp(sign * theta * 1000))
            assert growth - sign * theta * mp.mpf(end) <= log_tail
    assert high - low < 1000 * count


def test_a_window_of_the_tiniest_losses_has_all_of_them():
    """An exponent for each index may be too small for a float."""
    coin = made_table([0.5, 0.5], "upper", first=0, tilt=1e-9)
    assert tail_window([(coin, 5)], -28.0, (0.0, 0.0)) == (0, 5)


def test_more_places_than_whole_numbers_of_the_machine():
    coin = made_table([0.5, 0.5], "upper", first=0, tilt=1e-9)
    highest, rest = highest_frequency([(coin, 10**6)], 2**70, 40.0)
    assert 0 < highest < 2**69 and 0 < rest < math.exp(-40)


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
    made = made_table(mass / mass.sum(), "upper", step=0.02, tilt=0.5)
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


def test_errors_count_where_nothing_is_known():
    """An entry may be 0 because nothing is known of it: its error stays."""
    known = transforms.Spectrum(
        step=0.1,
        offset=0.0,
        tilt=1.0,
        log_scale=0.0,
        tail=0.0,
        infinity_mass=0.0,
        bound="upper",
        size=8,
        first=0,
        frequency=np.arange(3),
        value=np.array([0.125, 0.0, 0.0], complex),
        wrong=np.array([1e-9, 0.0, 0.0]),
        rest=0.0,
    )
    other = replace(known, wrong=np.array([1e-9, 0.1, 0.1]))
    at = np.asarray(0.2)
    worst = 0.0
    for turn in np.exp(2j * np.pi * np.arange(8) / 8):
        moved = np.array([0.125, 0.1 * turn, 0.1 * turn**3])
        value, _ = replace(known, value=moved).weighed(at)
        worst = max(worst, float(abs(value - known.weighed(at)[0])))
    assert worst <= other.weighed(at)[1]


# --- found by attacks --------------------------------------------------------


# Work and memory: transforms with millions of frequencies, read 150 times
@pytest.mark.in_turn(5)
def test_frequencies_of_a_table_that_is_not_smooth(monkeypatch):
    """A million runs: 0.1 million frequencies and 147 readings; 1e7 runs
    take 54 s and 0.9 GB, 1e9 runs do not end."""
    work = 0
    reading = transforms.Spectrum.weighed

    def counted(self, epsilon):
        nonlocal work
        work += len(self.frequency)
        return reading(self, epsilon)

    monkeypatch.setattr(transforms.Spectrum, "weighed", counted)
    run = al.Release(
        al.ApproximateDP(1e-12, 1e-300), al.Poisson(1e-3), count=10**6
    )
    al.epsilon(run, delta=1e-290, adjacency="remove")
    assert work < 2.5e7


# --- to the last bit: small and exact ----------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_both_transforms_and_their_logarithms(seed):
    """Every value is within its own error of 40 digits, and that is small."""
    table = random_tilted_table(seed, size=30)
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
    table = random_tilted_table(seed, gaps=seed % 2 == 1)
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
        table = random_tilted_table(seed)
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
        one, other = (
            random_tilted_table(seed),
            random_tilted_table(seed + 10, size=9),
        )
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
