"""Exchanged records and discrete mechanisms: fractions, adaptive attacks."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from mpmath import mp, mpf

import accountlib as al
from tests import truth
from tests.truth import exact_pairs

SUB: dict[str, Any] = {"adjacency": "substitute"}


# --- discrete mechanisms, in fractions --------------------------------------


def adaptive(options, count, alpha):
    """The largest P(S) - alpha Q(S) of an attacker's adaptive choices.

    Every step takes one of the options (p, q), with all that was seen. Whole
    numbers count the parts of a unit.
    """
    chances = [x for option in options for law in option for x in law]
    unit = math.lcm(*(x.denominator for x in chances))
    whole = [
        [(int(x * unit), int(y * unit)) for x, y in zip(*o, strict=True)]
        for o in options
    ]
    above, below = alpha.as_integer_ratio()

    @cache
    def best(left, p, q):
        if left == 0:
            return max(below * p - above * q, 0)
        return max(
            sum(best(left - 1, p * x, q * y) for x, y in option)
            for option in whole
        )

    return Fraction(best(count, 1, 1), below * unit**count)


def around_exp(epsilon):
    with mp.workdps(60):
        alpha = exact_pairs._fraction(mp.exp(mpf(epsilon)))
    return alpha


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("honest", [0.75, 0.625, 1.0, 0.25])
@pytest.mark.parametrize("rate", [0.125, 0.5, 0.9375])
@pytest.mark.parametrize("poisson", [False, True])
def test_coins_in_fractions(honest, rate, poisson):
    """The interval has the value of all adaptive attacks in it."""
    sampling: Any = al.Poisson(rate)
    if not poisson:
        sampling = al.FixedBatch(int(rate * 16), 16)
    p, g = Fraction(honest), Fraction(rate)
    mixed = (1 - g) * (1 - p) + g * p
    one, two = (mixed, 1 - mixed), (1 - p, p)
    options = [(one, two), (two, one)]
    for count in (1, 2, 3, 6):
        run = al.Release(al.RandomizedResponse(honest), sampling, count)
        for epsilon in (0.0, 0.11, 0.7, 1.4):
            bound = al.delta(run, epsilon=epsilon, **SUB)
            known = adaptive(options, count, around_exp(epsilon))
            slack = Fraction(1, 10**40)
            assert Fraction(bound.lower) <= known + slack
            assert known <= Fraction(bound.upper) + slack
            if count == 1 and known > 0:
                assert bound.width <= 2e-3


def exact_laplace_cells(scale, shift, reach):
    """Discrete Laplace noise at `shift`, outcomes cut at -reach, reach."""
    with mp.workdps(60):
        a = exact_pairs._fraction(mp.exp(-1 / mpf(scale)))
    cells = [
        (1 - a) / (1 + a) * a ** abs(z - shift)
        for z in range(-reach + 1, reach)
    ]
    return [
        a ** (reach + shift) / (1 + a),
        *cells,
        a ** (reach - shift) / (1 + a),
    ]


def mixed(rate, one, two):
    rate = Fraction(rate)
    return tuple(
        (1 - rate) * x + rate * y for x, y in zip(one, two, strict=True)
    )


@pytest.mark.parametrize(("scale", "reach"), [(1.0, 1), (0.7, 2), (5.0, 3)])
@pytest.mark.parametrize("rate", [0.125, 0.75])
def test_whole_noise_in_fractions(scale, reach, rate):
    zero, up, down = (
        exact_laplace_cells(scale, x, reach) for x in (0, reach, -reach)
    )
    worst = mixed(rate, zero, up), mixed(rate, zero, down)
    one = truth.ExactPair.of(*worst)
    mechanism = al.DiscreteLaplace(scale, reach)
    for count in (1, 2, 6) if reach == 1 else (1, 2, 3):
        run = al.Release(mechanism, al.Poisson(rate), count)
        exact = one.power(count)
        for epsilon in (0.0, 0.05, 0.3, 1.0):
            low, high = exact.delta(epsilon)
            bound = al.delta(run, epsilon=epsilon, **SUB)
            assert bound.lower <= high and low <= bound.upper
            assert bound.width <= 1e-3
        low, high = exact.epsilon(1e-3)
        bound = al.epsilon(run, delta=1e-3, **SUB)
        assert bound.lower <= high and low <= bound.upper


def test_adaptive_attacks_on_whole_noise():
    """All (a, a') of two steps, chosen after the first outcome."""
    reach, rate = 2, 0.25
    cells = {
        x: exact_laplace_cells(1.5, x, 2 * reach)
        for x in range(-reach, reach + 1)
    }
    options = [
        (mixed(rate, cells[0], cells[a]), mixed(rate, cells[0], cells[b]))
        for a in cells
        for b in cells
        if a != b
    ]
    run = al.Release(al.DiscreteLaplace(1.5, reach), al.Poisson(rate), 2)
    for epsilon in (0.0, 0.2, 0.6):
        bound = al.delta(run, epsilon=epsilon, **SUB)
        known = float(adaptive(options, 2, around_exp(epsilon)))
        assert bound.lower <= known * (1 + 1e-12)
        assert known <= bound.upper * (1 + 1e-12)


@pytest.mark.parametrize("batch", [1, 4, 15])
def test_whole_noise_in_fixed_batches(batch):
    """Attackers who put all other records on either side."""
    cells = {x: exact_laplace_cells(2.0, x, 1) for x in (-1, 1)}
    rate = Fraction(batch, 16)
    options = []
    for y in (-1, 1):
        for a in (-1, 1):
            p = mixed(rate, cells[y], cells[a])
            q = mixed(rate, cells[y], cells[-a])
            options.append((p, q))
    for count in (1, 2, 4):
        run = al.Release(
            al.DiscreteLaplace(2.0), al.FixedBatch(batch, 16), count
        )
        for epsilon in (0.0, 0.2, 0.6, 1.5):
            bound = al.delta(run, epsilon=epsilon, **SUB)
            known = float(adaptive(options, count, around_exp(epsilon)))
            assert known <= bound.upper * (1 + 1e-12)
            assert bound.lower <= known * (1 + 1e-9) + 1e-16


@pytest.mark.parametrize("rate", [1e-12, 1e-9, 1e-6, 1 - 1e-9])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_whole_noise_at_extreme_rates(rate, scale):
    """Losses must be accurate relative to themselves, not to 1."""
    cells = [exact_laplace_cells(scale, x, 1) for x in (0, 1, -1)]
    p, q = mixed(rate, *cells[:2]), mixed(rate, cells[0], cells[2])
    one = truth.ExactPair.of(p, q)
    run = al.Release(al.DiscreteLaplace(scale), al.Poisson(rate))
    for epsilon in (0.0, 0.5 * rate / scale):
        low, high = one.delta(epsilon)
        bound = al.delta(run, epsilon=epsilon, **SUB)
        assert bound.lower <= high and low <= bound.upper
        less = al.delta(run, epsilon=epsilon, adjacency="remove")
        assert bound.width <= max(1e-3, 1.5 * less.width), epsilon
