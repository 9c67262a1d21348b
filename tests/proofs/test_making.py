"""Ends that were hard to prove: rare losses, easy directions, tiny deltas."""

import math
from fractions import Fraction
from typing import Any

import pytest

import accountlib as al
from accountlib.proofs.balls import ReversedLaw, ball, flint
from accountlib.proofs.epochs import FINE_FROM
from accountlib.proofs.samplers import laws_of_release
from accountlib.runs.releases import Adjacency

pytest.importorskip("flint")


def claimed(runs, **how):
    """What a certificate claims, once it is proven, and the engine's end."""
    claim = al.certificate(runs, **how)
    assert al.replay(claim).proven
    ask = al.epsilon if "delta" in how else al.delta
    return claim.bound, ask(runs, **how)


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("adjacency", ["remove", "add-or-remove"])
def test_rare_losses_that_are_large(adjacency):
    """Places that go too far make a window without an end."""
    run = al.Release(al.Gaussian(1.7), al.FixedBatch(8, 40_000), count=1000)
    bound, engine = claimed(run, delta=3e-10, adjacency=adjacency)
    assert bound == engine


@pytest.mark.in_turn(3)
def test_a_direction_that_is_far_more_private():
    """Its own saddle point has an order of 1e11 and a step of 1e-12."""
    runs = [
        al.Release(al.Gaussian(24.0), al.FixedBatch(18, 8000)),
        al.Release(al.DiscreteGaussian(1.4), al.Poisson(0.09), count=2),
    ]
    bound, engine = claimed(runs, epsilon=0.73, adjacency="zero-out")
    assert bound == engine and bound.upper < 1e-4


@pytest.mark.parametrize(
    "mechanism, sampling, how",
    [
        (
            al.Gaussian(6.7),
            al.RandomAllocation(200),
            {"epsilon": 7.6, "adjacency": "add"},
        ),
        (
            al.PureDP(0.01),
            al.RandomAllocation(170),
            {"epsilon": 0.16, "adjacency": "remove"},
        ),
        (
            al.DiscreteLaplace(30.0),
            al.RandomAllocation(280),
            {"delta": 1e-36, "adjacency": "zero-out"},
        ),
    ],
    ids=str,
)
def test_epochs_at_tiny_deltas(mechanism, sampling, how: dict[str, Any]):
    """Coarse lists leave out more than such a delta."""
    count = 2 if "epsilon" in how else 1
    run = al.Release(mechanism, sampling, count=count)
    bound, engine = claimed(run, **how)
    assert bound == engine


@pytest.mark.parametrize("bits", [128, FINE_FROM])
def test_lists_of_coins_far_out(bits):
    """Coarse and fine ones, against a binomial sum in fractions."""
    law = laws_of_release(
        al.RandomizedResponse(0.75),
        al.RandomAllocation(300),
        Adjacency.REMOVE,
        1,
    )[0]
    for alpha in (
        Fraction(3, 2),
        Fraction(2),
        Fraction(5, 2),
        Fraction(14, 5),
    ):
        truth = back = Fraction(0)
        for k in range(301):
            chance = math.comb(300, k) * Fraction(3 ** (300 - k), 4**300)
            mean = (3 * k + Fraction(300 - k, 3)) / 300
            truth += chance * max(mean - alpha, Fraction(0))
            back += chance * max(1 - alpha * mean, Fraction(0))
        with flint().ctx.workprec(bits):
            for turn, value in ((lambda x: x, truth), (ReversedLaw, back)):
                low, high = (
                    turn(x).height(ball(alpha).log())
                    for x in (law.below[0], law.above)
                )
                assert not low > ball(value) and not high < ball(value)
                if bits > 128 and alpha < Fraction(14, 5):  # close, too
                    assert 0.7 * ball(value) < low
                    assert high < 1.1 * ball(value)


def test_an_end_that_is_missed_moves_a_little():
    """The slope at the saddle point says how far."""
    runs = [
        al.Release(al.Gaussian(3.5), al.Poisson(1.3e-4), count=1_500_000),
        al.Release(
            al.DiscretePair([0.5, 0.25, 0.25], [0.25, 0.25, 0.5]), count=6
        ),
    ]
    for how in ({"epsilon": 0.12}, {"delta": 0.5}):
        bound, engine = claimed(runs, adjacency="add", **how)
        assert bound.lower <= engine.lower < bound.lower * (1 + 1e-3)
        assert bound.upper >= engine.upper > bound.upper * (1 - 1e-3)
