"""Cells: both bounds, the map of sampling, and what errors are for."""

import math

import numpy as np
from mpmath import mp

from accountlib.cells import (
    Cells,
    optimistic_table,
    pessimistic_table,
    sampled_loss,
)
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


def test_far_tail_may_go_but_atoms_stay():
    cells = some_cells(*random_list(), 8)
    assert cells.all_but(0.0).all()
    kept = cells.all_but(float(np.exp(cells.log_p[-1]) * 1.5))
    assert kept.tolist() == [True] * 7 + [False]
    atoms = some_cells(*random_list(), 40)
    assert atoms.all_but(2.0).all()


# --- the map of losses


def true_sampled(t, miss):
    return mp.log(mp.exp(miss) - mp.expm1(miss) * mp.exp(t))


def test_errors_of_sampled_losses():
    """Those of the loss, of the map, and 9 u of log(1 - rate), relative."""
    most = [0.0, 0.0]
    for turn in range(2000):
        miss = math.log1p(-(10 ** RNG.uniform(-9, 0)))
        t = RNG.normal() * 10 ** RNG.uniform(-9, 3)
        error = 10 ** RNG.uniform(-12, 0.5) * (turn % 2)
        x, wide = sampled_loss(np.array([t]), np.array([error]), miss)
        for sign in (-1, 1):
            meant = exact(miss) * (1 + 9 * sign * exact(2.0**-53))
            true = true_sampled(exact(t + sign * error), meant)
            off = abs(float(exact(x[0]) - true))
            assert off <= wide[0], (t, error, miss)
            most[turn % 2] = max(most[turn % 2], off / wide[0])
    assert most[0] > 0.02 and most[1] > 0.9  # a tenth would not do


def test_huge_and_tiny_losses_at_tiny_rates():
    for t in (-1e20, -800.0, 690.0, 700.0, 710.0, 1e6, 1e20):
        for rate in (1e-200, 1e-9, 0.5, 1 - 1e-16):
            miss = math.log1p(-rate)
            x, wide = sampled_loss(np.array([t]), np.array([0.0]), miss)
            with mp.workdps(400):
                true = true_sampled(exact(t), exact(miss))
                assert abs(float(exact(x[0]) - true)) <= wide[0]
            assert wide[0] <= 1e-11 * max(1.0, abs(t))
