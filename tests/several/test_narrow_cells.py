"""Narrow cells and totals of mixtures and of exchanged records."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy.stats import binom

from accountlib.several.exchange import ExchangedPair
from accountlib.several.mixtures import MixturePair
from tests.truth import curves as balls


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
