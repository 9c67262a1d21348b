"""One run: exact tails, and claims that it cannot refute."""

import math
from fractions import Fraction as F

import pytest
from mpmath import mp

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


def test_a_curve_that_allows_nothing_leaves_the_significance():
    total = OneRun(9, 4, 3).least_total(lambda p: 0.0, 0.05)
    assert total == pytest.approx(0.05)
