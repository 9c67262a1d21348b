"""Losses of atoms against ball arithmetic: `atom_error` and its derivation.

How far may the computed loss of an atom be from the loss that is meant?
The pages of pairs and of exchanged records derive it. Random
parameters, and the numbers of the text.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import accountlib as al
from accountlib.runs import rules
from accountlib.several import exchange_batches
from accountlib.worst_cases import integer_noise
from accountlib.worst_cases.dominating_pairs import UNIT, RoundedPair

BITS = 400
SUB = "substitute"


def ball(value: Any) -> arb:
    if isinstance(value, Fraction):
        return arb(value.numerator) / value.denominator
    return arb(value)


def spread(rng: Any, low: float, high: float) -> float:
    return float(10 ** rng.uniform(low, high))


def off(found: float, known: arb, room: float) -> bool:
    """Whether a number is certainly further away than `room`."""
    return bool(abs(ball(found) - known) > ball(room))


@pytest.mark.parametrize("seed", range(10))
def test_losses_of_given_lists(seed):
    """8 u, relative: whatever the probabilities are."""
    rng = np.random.default_rng([81, seed])
    for _ in range(30):
        size = int(rng.choice([2, 3, 20]))
        lists: Any = rng.dirichlet(np.ones(size), 2)
        p, q = lists
        kind = int(rng.integers(3))
        if kind == 0:  # nearly the same list
            q = p * (1 + rng.integers(-9, 10, size) * 2.0**-52)
        elif kind == 1:  # far apart
            p = p * 10.0 ** rng.uniform(-323, 0, size)
            p[0] += 1 - math.fsum(p)
        pair = al.DiscretePair(p, q / math.fsum(q))
        losses, p, q = pair._finite
        with ctx.workprec(BITS):
            for loss, a, b in zip(losses, p, q, strict=True):
                known = (ball(a) / ball(b)).log()
                assert not off(loss, known, 8 * UNIT * abs(loss)), (a, b)
        assert pair.atom_error >= 8 * UNIT * max(abs(losses))


def meant(mechanism: Any) -> tuple[list[arb], list[arb]]:
    """The probabilities that a mechanism means."""
    if isinstance(mechanism, al.RandomizedResponse):
        truth = ball(mechanism.truth_probability)
        return [truth, 1 - truth], [1 - truth, truth]
    if isinstance(mechanism, al.DiscreteLaplace):
        k, unit = mechanism.sensitivity, 1 / ball(mechanism.scale)
        middle = (unit / 2).tanh()
        p = [(-unit * j).exp() * middle for j in range(k + 1)]
        p[0] = 1 / (1 + (-unit).exp())
        p[-1] = p[0] * (-unit * k).exp()
        return p, p[::-1]
    epsilon, delta = ball(mechanism.epsilon), ball(mechanism.delta)
    likely = (1 - delta) / (1 + (-epsilon).exp())
    p = [delta, likely, likely * (-epsilon).exp(), arb(0)]
    return p, p[::-1]


def exchanged(mechanism: Any, rate: float) -> tuple[list[arb], list[arb]]:
    k, unit, r = mechanism.sensitivity, 1 / ball(mechanism.scale), ball(rate)
    p = []
    for x in range(-k, k + 1):
        front = (unit / 2).tanh()
        if abs(x) == k:
            front = 1 / (1 + (-unit).exp())
        stay, moved = ((-unit * n).exp() for n in (abs(x), abs(x - k)))
        p.append(front * ((1 - r) * stay + r * moved))
    return p, p[::-1]


def hold_list(pair: Any, p: list[arb], q: list[arb]) -> None:
    """Masses to (14 + ln 1/p) u and losses to 32 u, relative."""
    for mine, known in zip((*pair.p, *pair.q), (*p, *q), strict=True):
        if mine > 1e-300:
            room = (14 - math.log(mine)) * UNIT * mine
            assert not off(mine, known, room), pair
    losses = iter(getattr(pair, "losses", pair._finite[0]))
    for mine, other, a, b in zip(pair.p, pair.q, p, q, strict=True):
        if mine > 0 and other > 0 and isinstance(pair, RoundedPair):
            loss = next(losses)
            room = 32 * UNIT * abs(loss) + 1e-322
            assert not off(loss, (a / b).log(), room), (pair, loss)
            assert room <= pair.atom_error


@pytest.mark.parametrize("seed", range(10))
def test_lists_that_the_library_computes(seed):
    rng = np.random.default_rng([82, seed])
    for _ in range(20):
        truth = float(rng.choice([rng.random(), spread(rng, -300, 0)]))
        k = int(rng.integers(1, 30))
        whole = al.DiscreteLaplace(k * spread(rng, -2.7, 16), k)
        for mechanism in (
            al.RandomizedResponse(truth),
            al.RandomizedResponse(0.5 * (1 + spread(rng, -16, -1))),
            al.RandomizedResponse(0.5 * (1 - spread(rng, -16, -1))),
            al.ApproximateDP(spread(rng, -20, 2.8), spread(rng, -300, 0)),
            whole,
        ):
            with ctx.workprec(2000):
                hold_list(mechanism.pair(), *meant(mechanism))
        rate = float(
            rng.choice([rng.random(), spread(rng, -300, 0), 1 - 2.0**-50])
        )
        pair = rules.poisson_exchange_pair(whole, rate, 1)
        with ctx.workprec(4000):
            hold_list(pair, *exchanged(whole, rate))


@pytest.mark.parametrize("seed", range(20))
def test_losses_of_exchanged_whole_noise(seed):
    """Its page derives 8 (|L| + ln(1/rate) + 16) u."""
    rng = np.random.default_rng([83, seed])
    for _ in range(10):
        sigma, k = spread(rng, -1.5, 3), int(rng.integers(1, 60))
        if rng.random() < 0.5:  # half way, two large powers are close
            k = 1 + int(min(sigma * rng.uniform(0, 77), 20_000))
        rate = float(
            rng.choice(
                [
                    rng.random(),
                    spread(rng, -300, 0),
                    spread(rng, -9, 0),
                    1 - spread(rng, -15.9, -1),
                ]
            )
        )
        pair = exchange_batches.ExchangedIntegerPair(
            integer_noise.IntegerGaussianPair(sigma, k), rate
        )
        most = pair.base._reach + k
        with np.errstate(all="ignore"):
            places = np.unique(rng.integers(0, most + 1, 30))
            places = np.append(places, (k + 1) // 2 + np.arange(3))
            losses = pair._losses(places)
            assert np.all(pair._losses(-places) == -losses)
        with ctx.workprec(3000):
            r, s = ball(rate), 2 * ball(sigma) ** 2
            for x, loss in zip(places.tolist(), losses, strict=True):
                if loss > 600:
                    continue
                law = {m: (-ball((x - m) ** 2) / s).exp() for m in (0, k, -k)}
                up, down = ((1 - r) * law[0] + r * law[m] for m in (k, -k))
                room = 8 * UNIT * (loss - math.log(rate) + 16)
                assert room <= pair.atom_error * (1 + 1e-12)
                assert not off(loss, (up / down).log(), room / 2), pair


def test_tiny_rates_of_whole_noise():
    """Where the rate makes up for a huge ratio, a term 1 was forgotten."""
    pair = exchange_batches.ExchangedIntegerPair(
        integer_noise.IntegerGaussianPair(1.0, 30), 1e-286
    )
    with ctx.workprec(3000), np.errstate(all="ignore"):
        r = ball(1e-286)
        for x in range(15, 60):
            law = {m: (-ball((x - m) ** 2) / 2).exp() for m in (0, 30, -30)}
            up, down = ((1 - r) * law[0] + r * law[m] for m in (30, -30))
            (loss,) = pair._losses(np.array([x]))
            if loss < 600:
                assert not off(loss, (up / down).log(), 1e-12)


@pytest.mark.parametrize("epsilon", [1e-25, 1e-17, 1e-12, 1e-3])
def test_tiny_guarantees_keep_their_digits(epsilon):
    """The loss is epsilon itself, not a quotient of rounded numbers."""
    release = al.Release(al.PureDP(epsilon))
    bound = al.epsilon(release, delta=0.0, adjacency="remove")
    assert bound.lower <= epsilon <= bound.upper
    assert bound.width <= 1e-13  # relative


def test_lists_of_rounded_numbers_know_their_losses():
    with pytest.raises(ValueError, match="losses must list 2 numbers"):
        RoundedPair((0.5, 0.5), (0.5, 0.5), (0.0,))
    for wrong in ([1.1, -0.7], [math.log(3), math.nan]):
        with pytest.raises(ValueError, match=r"losses must be ln\(p/q\)"):
            RoundedPair((0.75, 0.25, 0.0), (0.25, 0.5, 0.25), tuple(wrong))
    losses = math.log(3), -math.log(2)
    pair = RoundedPair((0.75, 0.25, 0.0), (0.25, 0.5, 0.25), losses)
    back = pair.reversed()
    assert back.atoms == (-losses[0], -losses[1]) and back.reversed() == pair
    assert len({pair, back, back.reversed()}) == 2
    assert back.infinite_mass == pair.infinite_mass[::-1]


@pytest.mark.parametrize("seed", range(5))
def test_tables_next_to_their_atoms(seed):
    """delta of a table, just below a loss: the gap has all its digits."""
    rng = np.random.default_rng([84, seed])
    for _ in range(40):
        step, first = spread(rng, -9, 1), int(rng.integers(-1000, 10**6))
        mass = rng.dirichlet(np.ones(int(rng.integers(1, 6)))) / 2
        table = al.PrivacyLossDistribution(step, first, mass, 0.0)
        exact = [Fraction(step) * (first + k) for k in range(len(mass))]
        place = exact[int(rng.integers(len(mass)))]
        epsilon = float(place) * (1 - float(rng.integers(3)) * 2.0**-52)
        with ctx.workprec(BITS):
            known = arb(0)
            for loss, p in zip(exact, mass, strict=True):
                if loss > Fraction(epsilon):
                    gap = ball(Fraction(epsilon) - loss)
                    known += ball(float(p)) * (1 - gap.exp())
            found = table.delta(epsilon)
            assert not off(found, known, 22 * UNIT * found), (step, first)


def test_tables_of_huge_losses():
    table = al.PrivacyLossDistribution(1e200, 1, np.array([0.25, 0.75]), 0.0)
    assert table.delta(0.0) == 1.0 and table.delta(1e200) == 0.75
    assert table.delta(np.array([[0.0], [3e200]])).tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize("rate", [1e-9, 0.3, 1 - 1e-9])
def test_largest_loss_of_added_sampled_noise(rate):
    """ln 1/(1 - rate), with all digits; there is no atom that could err."""
    run = al.Release(al.Gaussian(0.01), al.Poisson(rate))
    bound = al.epsilon(run, delta=0.0, adjacency="add")
    with ctx.workprec(200):
        known = -(1 - ball(rate)).log()
        assert ball(bound.lower) <= known <= ball(bound.upper)
    assert bound.width <= 1e-14  # relative
