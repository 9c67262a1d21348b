"""Cells: both bounds, the map of sampling, and what errors are for."""

import math

import numpy as np
from mpmath import mp

from accountlib.cells import (
    Cells,
    joined,
    log_rate_of,
    optimistic_table,
    pessimistic_table,
    sampled_loss,
)
from accountlib.noise import size
from tests.fifty_digits import exact

RNG = np.random.default_rng(2)


def some_cells(p, q, pieces):
    """Cells of a list whose losses ascend, exact but for rounding."""
    ends = np.log(p / q).reshape(pieces, -1)
    p, q = (x.reshape(pieces, -1).sum(1) for x in (p, q))
    loss, none = np.log(p / q), np.full(pieces, 1e-15)
    ends = ends[:, 0] - 1e-15, ends[:, -1] + 1e-15
    return Cells(np.log(p), np.log(q), none, loss, none, *ends)


def random_list(count=40):
    p, q = RNG.dirichlet(np.ones(count), 2)
    order = np.argsort(p / q)
    return p[order], q[order]


def delta(losses, masses, epsilon):
    return float(masses @ np.maximum(-np.expm1(epsilon - losses), 0))


def test_tables_of_cells_enclose_the_list():
    for pieces in (1, 2, 5, 8, 40):
        for _ in range(40):
            p, q = random_list()
            cells = some_cells(p, q, pieces)
            kept = np.full(pieces, True)
            up = pessimistic_table(cells, 1, kept)
            down = optimistic_table(cells, 1, kept)
            for epsilon in RNG.normal(0, 1, 5):
                true = delta(np.log(p / q), p, epsilon)
                high = delta(up.loss, np.exp(up.log_mass), epsilon)
                low = delta(down.loss, np.exp(down.log_mass), epsilon)
                assert low <= true <= high + up.infinite
                if pieces == 40:
                    assert high - low < 1e-12


def test_sampled_cells_are_those_of_the_sampled_list():
    for _ in range(50):
        p, q = random_list()
        rate = RNG.uniform(0.01, 0.99)
        mixed = some_cells((1 - rate) * q + rate * p, q, 8)
        cells = some_cells(p, q, 8).sampled(math.log1p(-rate))
        for name in ("log_p", "log_q", "loss", "left", "right"):
            assert np.allclose(
                getattr(cells, name), getattr(mixed, name), 0, 1e-13
            )
        assert np.all(cells.left <= cells.loss + cells.loss_error)
        assert np.all(cells.loss <= cells.right + cells.loss_error)


def test_infinite_losses_in_a_sample():
    log = np.log([0.25, 0.75])
    cells = Cells(
        np.array([-np.inf, *log]),
        np.array([log[0], log[1], -np.inf]),
        np.full(3, 1e-15),
        np.array([-np.inf, log[0] - log[1], np.inf]),
        np.array([0.0, 1e-15, 0.0]),
        np.array([-np.inf, log[0] - log[1], np.inf]),
        np.array([-np.inf, log[0] - log[1], np.inf]),
    )
    some = cells.sampled(math.log1p(-0.4))
    p = [0.6 * 0.25, 0.6 * 0.75 + 0.4 * 0.25, 0.4 * 0.75]
    assert np.allclose(some.log_p, np.log(p), 0, 1e-14)
    assert some.loss[2] == some.left[2] == math.inf
    assert abs(some.loss[0] - math.log(0.6)) <= some.loss_error[0] < 1e-14
    assert np.array_equal(some.atoms, [True] * 3)


def test_far_tail_may_go_but_atoms_stay():
    cells = some_cells(*random_list(), 8)
    assert cells.all_but(0.0).all()
    kept = cells.all_but(float(np.exp(cells.log_p[-1]) * 1.5))
    assert kept.tolist() == [True] * 7 + [False]
    atoms = some_cells(*random_list(), 40)
    assert atoms.all_but(2.0).all()


def test_joined_and_part():
    cells = some_cells(*random_list(), 8)
    twice = joined(cells.part(np.arange(3)), cells.part(np.arange(3, 8)))
    assert np.array_equal(twice.loss, cells.loss)
    assert size(np.array([-2.0, np.inf, -np.inf])).tolist() == [2, 0, 0]


# --- the map of losses


def true_sampled(t, miss):
    return mp.log(mp.exp(miss) - mp.expm1(miss) * mp.exp(t))


def largest_share(draw, count=1500):
    """Largest error of a sampled loss as a share of its bound, at most 1."""
    most = 0.0
    for _ in range(count):
        t, error, miss = draw()
        x, wide = sampled_loss(np.array([t]), np.array([error]), miss)
        for true in (t - error, t + error):
            off = abs(
                float(exact(x[0]) - true_sampled(exact(true), exact(miss)))
            )
            assert off <= wide[0], (t, error, miss)
            most = max(most, off / wide[0])
    return most


def any_rate():
    return math.log1p(-(10 ** RNG.uniform(-9, 0)))


def test_errors_of_losses_are_scaled_by_the_chance_of_the_record():
    def draw():
        t = RNG.normal() * 10 ** RNG.uniform(-6, 2)
        return t, 10 ** RNG.uniform(-12, 0.5), any_rate()

    assert largest_share(draw) > 0.9  # a tenth of it would not do


def test_rounding_of_sampled_losses():
    def draw():
        return RNG.normal() * 10 ** RNG.uniform(-12, 4), 0.0, any_rate()

    assert 0.02 < largest_share(draw) < 1


def test_huge_and_tiny_losses_at_tiny_rates():
    for t in (-1e20, -800.0, 690.0, 700.0, 710.0, 1e6, 1e20):
        for rate in (1e-300, 1e-9, 0.5, 1 - 1e-16):
            miss = math.log1p(-rate)
            x, wide = sampled_loss(np.array([t]), np.array([0.0]), miss)
            with mp.workdps(400):
                true = true_sampled(exact(t), exact(miss))
                assert abs(float(exact(x[0]) - true)) <= wide[0]
            assert wide[0] <= 1e-11 * max(1.0, abs(t))


def test_an_error_of_the_rate_is_covered():
    """log(1 - rate) may be off by 9 u, relative."""
    for _ in range(500):
        miss, t = any_rate(), RNG.normal() * 10 ** RNG.uniform(-6, 2)
        x, wide = sampled_loss(np.array([t]), np.array([0.0]), miss)
        for sign in (-9, 9):
            meant = exact(miss) * (1 + sign * exact(2.0**-53))
            off = abs(float(exact(x[0]) - true_sampled(exact(t), meant)))
            assert off <= wide[0]


def test_log_rate():
    assert abs(log_rate_of(math.log1p(-1e-9)) - math.log(1e-9)) < 1e-14
    assert log_rate_of(0.0) == -math.inf
