"""One run: exact tails, linear programmes and published lower ends."""

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from mpmath import mp
from scipy.optimize import linprog
from scipy.sparse import lil_matrix

import accountlib as al
from accountlib.beyond.one_run import OneRun


def exact_p_value(run, ratio, delta):
    """eq. (aud-levels) for e^epsilon = ratio, in fractions."""
    s = ratio / (1 + ratio)
    w = [
        math.comb(run.guesses, k) * s**k * (1 - s) ** (run.guesses - k)
        for k in range(run.guesses + 1)
    ]
    v, tail = run.correct, sum(w[run.correct :])
    more = run.canaries * delta * tail * (1 - tail) / (v * w[v])
    return min(F(1), tail + more)


@pytest.mark.parametrize(
    ("m", "r", "v"), [(5, 5, 3), (50, 20, 17), (400, 60, 60), (9, 4, 1)]
)
def test_p_value_in_fractions(m, r, v):
    run = OneRun(m, r, v)
    for ratio in (F(1), F(3, 2), F(7), F(200)):
        for delta in (F(0), F(1, 10**5), F(1, 100)):
            truth = float(exact_p_value(run, ratio, delta))
            found = run.p_value(math.log(ratio), delta=float(delta))
            assert found == pytest.approx(truth, rel=1e-10)
    assert OneRun(m, r, 0).p_value(1.0, delta=0.0) == 1
    assert run.p_value(700.0, delta=0.0) == 1


def most_correct(m, r, v, lines):
    """Largest P[W >= v] of all runs that keep lines (alpha, delta).

    A linear programme over P[guesses | coins] for all settings of coins.
    """
    coins = list(product((-1, 1), repeat=m))
    places = {c: i for i, c in enumerate(coins)}
    guesses = [
        t for t in product((-1, 0, 1), repeat=m) if sum(map(abs, t)) == r
    ]
    size, width = len(coins), len(guesses)
    pairs = [
        (places[c], places[(*c[:j], -c[j], *c[j + 1 :])])
        for c in coins
        for j in range(m)
    ]
    total = size * width
    blocks = [(pair, line) for line in lines for pair in pairs]
    goal = np.zeros(total + len(blocks) * width)
    for i, c in enumerate(coins):
        for k, t in enumerate(guesses):
            right = sum(a == b for a, b in zip(c, t, strict=True))
            goal[i * width + k] = -(right >= v) / size
    at_most = lil_matrix((len(blocks) * (width + 1), goal.size))
    limits = np.zeros(at_most.shape[0])
    for n, ((i, j), (alpha, delta)) in enumerate(blocks):
        last = len(blocks) * width + n
        for k in range(width):
            row = n * width + k
            at_most[row, i * width + k] = 1
            at_most[row, j * width + k] = -alpha
            at_most[row, total + row] = -1
            at_most[last, total + row] = 1
        limits[last] = delta
    sums = lil_matrix((size, goal.size))
    for i in range(size):
        sums[i, i * width : (i + 1) * width] = 1
    found = linprog(
        goal,
        A_ub=at_most.tocsr(),
        b_ub=limits,
        A_eq=sums.tocsr(),
        b_eq=np.ones(size),
        method="highs",
    )
    assert found.success
    return -found.fun


@pytest.mark.parametrize(("m", "r"), [(2, 1), (2, 2), (3, 2), (3, 3), (4, 2)])
def test_no_run_guesses_better(m, r):
    """The bound holds, and where the theorem says so it is reached."""
    for v in range(1, r + 1):
        for epsilon, delta in ((0.0, 0.02), (0.5, 0.05), (1.5, 0.01)):
            run = OneRun(m, r, v)
            most = most_correct(m, r, v, [(math.exp(epsilon), delta)])
            bound = run.p_value(epsilon, delta=delta)
            assert most == pytest.approx(bound, abs=1e-7)
    assert most_correct(3, 3, 1, [(1.0, 0.02)]) > 0.8924


@pytest.mark.parametrize(("m", "r"), [(2, 2), (3, 2), (3, 3)])
@pytest.mark.parametrize("mu", [0.3, 1.2])
def test_no_run_with_a_curve_guesses_better(m, r, mu):
    """thm-aud-curve: its recursion ends at 1 or below for what is reached."""
    epsilons = np.array([-1.5, -0.5, 0.0, 0.4, 1.0, 2.0])
    alphas, deltas = np.exp(epsilons), al.gaussian_delta(epsilons, mu=mu)
    lines = list(zip(alphas, deltas, strict=True))

    def least(p):
        """F of the polygon: the least h with p <= alpha h + delta."""
        return max(0.0, float(np.max((p - deltas) / alphas)))

    for v in range(1, r + 1):
        most = most_correct(m, r, v, lines)
        total = OneRun(m, r, v).least_total(least, min(most - 1e-7, 0.999))
        assert total <= 1
        assert OneRun(m, r, v).least_total(least, min(0.999, 2 * most)) > 0.9


def test_slightly_lopsided_curves_are_refused():
    """A claim for remove alone, whose tail is up to 500 times lower.

    It differs from that of add by 0.008 in the middle
    and would refute 560 right guesses of 1000 at significance 1e-3, where
    the curve for add-or-remove allows them with 0.075.
    """
    run = al.Release(al.Gaussian(0.3), al.Poisson(0.01))
    guesses = OneRun(1000, 1000, 560)
    for side in ("add", "remove"):
        curve = al.tradeoff_curve(run, adjacency=side)
        with pytest.raises(ValueError, match="symmetric"):
            guesses.refutes(curve)
    both = al.tradeoff_curve(run, adjacency="add-or-remove")
    guesses.refutes(both, significance=1e-3)


@pytest.mark.parametrize(
    ("guesses", "epsilon", "delta", "canaries"),
    [
        (1080, 0.0, 1e-3, 10**6),
        (2000, 0.79, 1e-3, 10**6),
        (10**6, 7.2, 1e-2, 10**9),
        (1000, 0.0, 1e-28, 1000),
    ],
)
def test_a_tail_without_digits_rejects_nothing(
    guesses, epsilon, delta, canaries
):
    """The tail was 0, and the term of delta 0 of it: a p-value of 0."""
    run = OneRun(canaries, guesses, guesses)
    with mp.workdps(30):
        tail = (1 + mp.exp(-mp.mpf(epsilon))) ** -guesses
        more = canaries * mp.mpf(delta) * (1 - tail) / guesses
    found = run.p_value(epsilon, delta=delta)
    assert found >= min(1, tail + more) * (1 - 1e-9)


def test_a_p_value_is_never_zero():
    """For delta 0 the tail of 1,990 of 2,000 underflowed to 0."""
    assert OneRun(2000, 2000, 1990).p_value(0.0, delta=0.0) == 1e-290


@pytest.mark.parametrize(
    "make",
    [
        lambda: OneRun(10, 11, 5),
        lambda: OneRun(10, 5, 6),
        lambda: OneRun(10, 5, 5).epsilon(delta=-0.1),
        lambda: OneRun(10, 5, 5).epsilon(delta=0.1, significance=1.0),
        lambda: OneRun(10, 5, 5).mu(significance=2.0),
        lambda: OneRun(10, 5, 5).p_value(math.inf, delta=0.0),
        lambda: OneRun(10**7, 10**7, 5),
    ],
)
def test_bad_input(make):
    with pytest.raises(ValueError, match="must"):
        make()
