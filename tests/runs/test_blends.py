"""Kinds of steps between a few others: theorems, tables, and answers."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

import accountlib as al
from accountlib.counting.loss_tables import GridTooFine
from accountlib.engine.one_sided import read_delta
from accountlib.engine.saddle import Query
from accountlib.engine.search import first_look
from accountlib.runs import blend_sums, blends
from accountlib.runs.blend_sums import blend_bound
from accountlib.runs.blends import Kinds, cell_of, variation
from accountlib.runs.one_call import directions, whole_run

ADJACENCIES = ("remove", "add", "add-or-remove", "zero-out")


def normal(x):
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def exact_delta(alpha, noise, rate, add=False):
    """Delta of a sampled Gaussian step at e^epsilon = alpha, 40 digits."""
    if add:
        return alpha * exact_delta(1 / alpha, noise, rate) + 1 - alpha
    mu, b = 1 / mpmath.mpf(noise), 1 + (alpha - 1) / mpmath.mpf(rate)
    if b <= 0:
        return 1 - alpha
    at = mpmath.log(b) / mu
    return rate * (normal(mu / 2 - at) - b * normal(-mu / 2 - at))


def of_variation(t):
    return 1 / (mpmath.sqrt(8) * mpmath.erfinv(t))


def some_kinds(rng, size, wide=0.1, rates=True):
    noise = rng.uniform(0.6, 3) * np.exp(rng.uniform(0, wide, size))
    rate = rng.uniform(0.001, 0.5) * np.exp(rng.uniform(0, wide, size))
    if not rates:
        rate[:] = rate[0]
    steps = rng.integers(1, 30, size)
    return Kinds(noise, rate, steps, variation(noise))


def releases(kinds):
    rows = zip(*(x.tolist() for x in kinds[:3]), strict=True)
    return [al.Release(al.Gaussian(x), al.Poisson(q), n) for x, q, n in rows]


def truth(run, query, adjacency, width):
    ask = Query(query.delta, query.epsilon, width)
    return whole_run(directions(run, adjacency, 1), ask).bound


@pytest.mark.parametrize("add", [False, True])
def test_the_curve_is_convex_and_its_mixed_derivative_positive(add):
    rng = np.random.default_rng(1)
    with mpmath.workdps(40):
        h = mpmath.mpf("1e-8")
        for _ in range(150):
            t, rate, epsilon = rng.uniform((0.02, 0.01, -3), (0.9, 0.9, 3))
            alpha = mpmath.exp(epsilon)

            def curve(i, j, at=(alpha, t, rate)):
                noise = of_variation(at[1] + i * h)
                return exact_delta(at[0], noise, at[2] + j * h, add)

            middle, room = curve(0, 0), mpmath.mpf("1e-30")
            assert curve(1, 0) + curve(-1, 0) - 2 * middle > -room
            assert curve(0, 1) + curve(0, -1) - 2 * middle > -room
            mixed = curve(1, 1) - curve(1, -1) - curve(-1, 1) + curve(-1, -1)
            assert mixed > -room


def test_the_derivative_that_is_named():
    with mpmath.workdps(40):
        for t, epsilon in ((0.3, 1.0), (0.7, -0.5), (0.1, 0.2)):
            noise = of_variation(mpmath.mpf(t))
            mu, alpha = 1 / noise, mpmath.exp(epsilon)

            def gaussian(t, alpha=alpha):
                return exact_delta(alpha, of_variation(t), 1)

            stated = mpmath.exp(-(epsilon**2) / (2 * mu**2) + epsilon / 2)
            assert abs(mpmath.diff(gaussian, t) - stated) < 1e-12


def test_nowhere_is_more_taken_away_than_stated():
    rng = np.random.default_rng(2)
    for _ in range(60):
        noise, rate = rng.uniform(0.5, 4), rng.uniform(0.001, 0.6)
        less, slow = noise * rng.uniform(1, 1.3), rate * rng.uniform(0.7, 1)
        by_noise, by_rate = blends.most_taken((noise, rate), less, slow)
        for bound, other in (
            (by_noise, (less, rate)),
            (by_rate, (noise, slow)),
        ):
            pairs = [
                blends.node_pair(*x, False) for x in ((noise, rate), other)
            ]
            low = pairs[0].loss_range[0]
            edges = low + np.geomspace(1e-6, 8, 4000)
            one, two = (x.masses(edges)[1][1:-1] for x in pairs)
            seen = one > 1e-250
            assert np.max(two[seen] / one[seen]) <= bound * (1 + 1e-9)


def one_cell(rng, number, spread, rates, add):
    """Random kinds, and the cell of all of them."""
    kinds = some_kinds(rng, number, spread, rates=rates)
    cell = cell_of(kinds, add)
    assert cell is not None
    return kinds, cell


@pytest.mark.parametrize("add", [False, True])
def test_kinds_lie_between_their_mixtures(add):
    rng = np.random.default_rng(3)
    for turn in range(12):
        kinds, cell = one_cell(rng, 5, 0.08, turn % 2 == 0, add)
        up, down = cell.weights
        for epsilon in rng.uniform(-2, 3, 12).tolist():
            above = np.array([x.delta(epsilon) for x in cell.above])
            below = np.array([x.delta(epsilon) for x in cell.below])
            for k in range(5):
                with mpmath.workdps(30):
                    true = exact_delta(
                        mpmath.exp(epsilon), kinds.noise[k], kinds.rate[k], add
                    )
                room = 1e-10 * above.max() + 2e-14
                assert up[k] @ above >= float(true) - room
                assert down[k] @ (cell.laws @ below) <= float(true) + room


def test_a_cell_that_is_too_wide_is_none():
    noise = np.array([0.7, 1.4])
    kinds = Kinds(noise, np.full(2, 0.1), np.ones(2, int), variation(noise))
    assert cell_of(kinds, False) is None
    kinds = some_kinds(np.random.default_rng(0), 4)._replace(
        rate=np.array([0.01, 0.02, 0.04, 0.08])
    )
    assert cell_of(kinds, False) is None


def test_one_kind_in_a_cell_is_itself():
    noise, rate = np.array([1.2, 1.2]), np.array([0.1, 0.1])
    kinds = Kinds(noise, rate, np.array([2, 3]), variation(noise))
    cell = cell_of(kinds, False)
    assert cell is not None and len(cell.above) == len(cell.below) == 1
    assert cell.above == cell.below and cell.count == 5


@pytest.mark.parametrize("add", [False, True])
def test_tables_enclose_one_step(add):
    rng = np.random.default_rng(4)
    for turn in range(6):
        kinds, cell = one_cell(rng, 3, 0.05, turn % 2 == 0, add)
        losses = [(x, 1) for x in cell.above]
        look = first_look(losses, Query(None, 0.3, 1e-2))
        for k in range(3):
            weights = tuple(x[k : k + 1] for x in cell.weights)
            one = replace(cell, weights=weights, counts=np.ones(1, int))
            parts = [
                blend_sums.cells_like(x, 1, look.cells[-1], 1e-300)
                for x in cell.above
            ]
            upper, lower = blend_sums.blend_tables(
                one, parts, 2e-3, 1.0, -60.0
            )
            for epsilon in (0.02, 0.1, 0.3):
                with mpmath.workdps(30):
                    alpha = mpmath.exp(epsilon)
                    here = kinds.noise[k], kinds.rate[k]
                    true = float(exact_delta(alpha, *here, add))
                low, high = (
                    float(read_delta(x.mean, epsilon)) for x in (lower, upper)
                )
                assert low <= true * (1 + 1e-9) and true * (1 - 1e-9) <= high
                assert high - low < 0.05 * true + 1e-7


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("seed", range(16))
def test_answers_enclose_the_run_as_it_is(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(blends, "_FEW_ALONE", seed % 3)
    monkeypatch.setattr(blends, "_FEW_OF_BOTH", seed % 3)
    if seed % 4 == 0:
        monkeypatch.setattr(blends, "_MANY_PLACES", 3)
        monkeypatch.setattr(blends, "_BINS", 4)
        monkeypatch.setattr(blends, "_BINS_BOTH", 2)
    kinds = some_kinds(rng, 30, rng.uniform(0.05, 0.6), rates=seed % 2 == 0)
    run = releases(kinds)
    if seed % 5 == 0:
        run += [al.Release(al.Gaussian(9.0)), al.Release(al.Gaussian(8.0))]
    width = (3e-2, 1e-2, 1e-3)[seed % 3]
    query = (Query(1e-6, None, width), Query(None, 1.5, width))[seed // 8]
    adjacency = ADJACENCIES[seed % 4]
    found = blend_bound(run, query, adjacency)
    assert found is not None and found.width <= width
    exact = truth(run, query, adjacency, width / 30)
    assert found.lower <= exact.upper and exact.lower <= found.upper
    room = width / 30
    assert found.lower <= exact.lower * (1 + room)
    assert found.upper >= exact.upper * (1 - room)


def test_a_closed_form():
    """Without noise that differs a step alone is a plain pair."""
    run = [
        al.Release(al.Gaussian(2.0 + k / 100), al.Poisson(0.999))
        for k in range(60)
    ]
    full = [al.Release(al.Gaussian(2.0 + k / 100)) for k in range(60)]
    mu = math.sqrt(sum((2.0 + k / 100) ** -2 for k in range(60)))
    query = Query(None, 5.0, 1e-3)
    found = blend_bound([*run, *full[:1]], query, "remove")
    one = al.delta(full, epsilon=5.0, adjacency="remove")
    assert one.contains(al.gaussian_delta(5.0, mu=mu))
    assert found is not None
    more = math.hypot(mu, 0.5)  # the full batch more, and no rate below 1
    assert found.lower < al.gaussian_delta(5.0, mu=more)


def test_what_is_counted_in_another_way():
    sampled = [
        al.Release(al.Gaussian(1 + k / 99), al.Poisson(0.1)) for k in range(99)
    ]
    query = Query(1e-6, None, 1e-2)
    assert blend_bound(sampled, query, "substitute") is None
    assert blend_bound(sampled, Query(0.0, None, 1e-2), "add") is None
    for other in (
        al.Release(al.Laplace(1.0)),
        al.Release(al.Gaussian(1.0), al.FixedBatch(5, 50)),
        al.Release(al.Gaussian(0.01), al.Poisson(0.1)),
        al.Release(al.Gaussian(1.0), al.Poisson(1e-9)),
    ):
        assert blend_bound([*sampled, other], query, "add") is None
    rare = [
        al.Release(al.Gaussian(0.5 + k / 999), al.Poisson(1e-6))
        for k in range(99)
    ]
    assert blend_bound(rare, Query(1e-9, None, 1e-2), "remove") is None


@pytest.mark.in_turn(3)
def test_many_kinds_are_enough_of_them():
    run = [
        al.Release(al.Gaussian(1 + k / 200), al.Poisson(0.01 + k / 1e5), 3)
        for k in range(70)
    ]
    found = al.epsilon(run, delta=1e-6, adjacency="add-or-remove")
    exact = truth(run, Query(1e-6, None, 1e-3), "add-or-remove", 1e-4)
    assert found.lower <= exact.lower < exact.upper <= found.upper
    assert found.width <= 1e-3


def test_too_much_to_take_away_is_no_overflow():
    """Little noise: the bound of a quotient of densities is no float."""
    taken = blends.most_taken((0.1, 0.5), 0.11, 0.4)
    assert taken[1] > 1e300 and all(map(math.isfinite, taken))
    noise, rate = np.array([0.1, 0.11]), np.array([0.4, 0.5])
    kinds = Kinds(noise, rate, np.ones(2, int), variation(noise))
    assert cell_of(kinds, False) is None


@pytest.mark.parametrize("adjacency", ["remove", "add"])
@pytest.mark.parametrize("noise", [0.1, 0.35])
def test_little_noise_and_different_rates(noise, adjacency):
    run = [
        al.Release(al.Gaussian(noise + k / 999), al.Poisson(0.05 + k / 999))
        for k in range(8)
    ]
    query = Query(1e-6, None, 1e-2)
    found = blend_bound(run, query, adjacency)
    exact = truth(run, query, adjacency, 1e-4)
    assert found is not None and found.width <= 1e-2
    assert found.lower <= exact.upper and exact.lower <= found.upper


@pytest.mark.parametrize("factor", [1 + 1e-13, 1 - 1e-13])
def test_the_least_noise_stands_above_where_variations_are_one_float(factor):
    noise, rate = np.array([0.1, 0.1 * factor]), np.full(2, 0.2)
    kinds = Kinds(noise, rate, np.ones(2, int), variation(noise))
    assert kinds.variation[0] == kinds.variation[1]
    cell = cell_of(kinds, False)
    assert cell is not None
    assert cell.above == (blends.node_pair(min(noise), 0.2, False),)
    assert cell.below == (blends.node_pair(max(noise), 0.2, False),)


@pytest.mark.parametrize("axis", [0, 1])
def test_kinds_without_a_float_between_them_are_cut(axis, monkeypatch):
    def gaps(cells, aim):
        return np.tile(np.eye(2)[axis], (len(cells), 1))

    monkeypatch.setattr(blends, "predicted_gaps", gaps)
    low = 0.3
    for _ in range(4):
        high = math.nextafter(low, 1)
        same = np.array([0.5, 0.5])
        t, rate = (np.array([low, high]), same)[:: 1 - 2 * axis]
        kinds = Kinds(1 / t, rate, np.ones(2, int), t)
        cells, alone = blends.cut_kinds(kinds, None, 0.5)
        assert not cells and [len(x.rate) for x in alone] == [1, 1]
        low = high


def test_rough_means_at_negative_epsilon():
    mu, rate = np.array([[1.0, 2.0]]), np.full((1, 2), 0.1)
    for add in (False, True):
        means = blends.rough_moments(mu, rate, 1.0, -0.5, add)
        assert np.all(np.isfinite(means)) and np.all(means > 0)


def test_rows_without_masses_are_no_table(monkeypatch):
    cell = one_cell(np.random.default_rng(6), 3, 0.05, True, False)[1]
    look = first_look([(x, 1) for x in cell.above], Query(None, 0.3, 1e-2))
    rows = np.ones((4, 3))
    rows[2] = 0.0
    monkeypatch.setattr(blend_sums, "masses_below", lambda *_: rows)
    with pytest.raises(GridTooFine):
        blend_sums.blend_tables(cell, look.cells, 2e-3, 1.0, -60.0, ("lower",))


def test_more_steps_than_whole_numbers_of_floats():
    run = [
        al.Release(al.Gaussian(900.0 + k), al.Poisson(1e-7), 10**15)
        for k in range(5)
    ]
    assert blend_sums.split_kinds(run) is None
    assert blend_sums.split_kinds(run[:4]) is not None
    assert blend_bound(run, Query(1e-6, None, 1e-2), "remove") is None
