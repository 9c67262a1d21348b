"""Masses of mixtures and of exchanged records, against ball arithmetic.

1,500 intervals of each class, or 4,000 (see `tests.ALL`); `MASSES=20000` in
the environment asks for that many.
"""

import math
import os
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

import accountlib as al
from accountlib.several import exchange, exchange_batches
from accountlib.several.mixtures import MixturePair
from accountlib.worst_cases import integer_noise
from tests import ALL
from tests.truth.mixture_balls import UNIT, Mixture, ball, normal

INTERVALS = int(os.environ.get("MASSES", 4000 if ALL else 1500))


# --- random settings --------------------------------------------------------


def random_means(rng):
    n = int(rng.integers(1, 6))
    kind = rng.integers(0, 6)
    if kind == 0:
        means = rng.uniform(0.01, 5, n)
    elif kind == 1:
        means = 10 ** rng.uniform(-6, 1.5, n)
    elif kind == 2:
        means = np.arange(1, n + 1) * 10 ** rng.uniform(-4, 3)
    elif kind == 3:
        means = 10 ** rng.uniform(-150, 3, n)
    elif kind == 4:
        spread = rng.choice([1, 6]) * rng.uniform(-1, 1, n)
        means = 10 ** (rng.uniform(-143, 143) + spread)
    else:
        means = 10 ** rng.uniform(-3, 8, n)
    if rng.random() < 0.6 or n == 1:
        means = np.append(0.0, means)
    return np.unique(means)


def random_weights(rng, number):
    power = rng.exponential(1, number) * rng.choice([0.3, 3, 20])
    weights = np.maximum(10**-power, 1e-290)
    weights /= weights.sum()
    return np.maximum(weights, 1e-299)


def random_edges(rng, truth):
    """Edges at random outputs, wide and narrow cells, near ends."""
    edges = []
    for _ in range(8):
        center = float(rng.choice([0.0, float(rng.choice(truth.means))]))
        z = center + rng.choice([1, 6, 20]) * rng.normal()
        ctx.prec = truth.digits
        for d in (0.0, *10 ** rng.uniform(-9, 1, 2)):
            loss = truth.loss(ball(z) + ball(d))[0].mid()
            if abs(loss) < arb("1e300"):
                edges.append(float(loss))
    if truth.lowest() is not None:
        low = float(truth.lowest().mid())
        edges.append(low + abs(low) * 10 ** rng.uniform(-17, 0))
    if rng.random() < 0.2:
        edges.append(0.0)
    return np.unique(edges)


def check(pair, truth, edges, rng, start=0):
    """Number of intervals; errors must stay below half of mass_error."""
    widths, exact = truth.intervals(edges.tolist(), rng)
    found = pair.interval_masses(edges, widths, "right")
    for masses, known in zip(found, zip(*exact, strict=True), strict=True):
        for mass, value in list(zip(masses.tolist(), known, strict=True))[
            start:
        ]:
            assert mass >= 0, (pair, edges)
            if not value > arb("1e-290"):
                assert mass < 2e-290, (pair, edges)
                continue
            error = abs(ball(mass) / value - 1)
            assert error.rad() < 1e-18
            allowed = pair.mass_error(np.array([mass]))[0] / 2
            assert error < allowed, (error, mass, pair, edges.tolist())
    return len(edges) + 1


def many(seed, build, number):
    rng, done = np.random.default_rng(seed), 0
    while done < number:
        means = random_means(rng)
        weights = random_weights(rng, len(means))
        if abs(math.fsum(weights) - 1) > 1e-12:
            continue
        pair, truth = build(means, weights)
        edges = random_edges(rng, truth)
        if len(edges):
            done += check(pair, truth, edges, rng)


@pytest.mark.parametrize("seed", range(4))
def test_mixtures_in_ball_arithmetic(seed):
    def build(means, weights):
        means, weights = means.tolist(), weights.tolist()
        pair = MixturePair(tuple(means), tuple(weights))
        return pair, Mixture(means, weights)

    many(seed, build, INTERVALS // 4)


@pytest.mark.parametrize("rare", [1e-24, 1e-40, 1e-60])
@pytest.mark.parametrize("large", [3.8873256879331435, 12.0, 25.0])
def test_a_rare_large_shift_beside_a_tiny_one(rare, large):
    """Newton's last step is long where the loss bends sharply."""
    rng = np.random.default_rng(3)
    means, weights = [1.187254064940209e-08, large], [1 - rare, rare]
    pair = MixturePair(tuple(means), tuple(weights))
    truth = Mixture(means, weights)
    for share in (0.9, 0.1, 0.0148, 1e-3, 1e-5, 1e-7):
        check(pair, truth, np.array([-1e-7, -9e-8, -5e-8, share]), rng)


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("seed", range(4))
def test_exchanged_mixtures_in_ball_arithmetic(seed):
    def build(means, weights):
        means, weights = means.tolist(), weights.tolist()
        pair = exchange.ExchangedPair(tuple(means), tuple(weights))
        return pair, Mixture(means, weights, mirrored=True)

    many(seed, build, INTERVALS // 4)


# --- exchanges with Laplace noise, with noise on the integers ---------------


class LaplaceHalf:
    """Outputs above 0 of an exchange with sampled Laplace noise."""

    def __init__(self, scale, rate):
        powers = math.frexp(scale)[1], math.frexp(rate)[1]
        ctx.prec = 500 + 4 * abs(powers[0]) - 3 * powers[1]
        self.a, self.rate = 1 / ball(scale), ball(rate)
        self.stay = 1 - self.rate
        self.c = 1 + self.stay / self.rate * self.a.exp()
        self.top = self._loss(2 * self.a)

    def _loss(self, reach):
        """The loss at x = reach s/2."""
        return (reach.expm1() / self.c).log1p()

    def _reach(self, loss):
        loss = ball(loss)
        if not loss > 0:
            return arb(0)
        if not loss < self.top:
            return 2 * self.a
        return (self.c * loss.expm1()).log1p()

    def edges(self, rng):
        """Near 0, near the top, in the middle; wide and narrow cells."""
        found = [-float(rng.exponential())]
        for _ in range(8):
            part = ball(rng.random()) if rng.random() < 0.5 else None
            away = ball(10 ** rng.uniform(-9, 2))
            reach = 2 * self.a * part if part is not None else away
            if rng.random() < 0.5:
                reach = 2 * self.a - reach
            for d in (0, *10 ** rng.uniform(-9, 1, 2)):
                loss = self._loss(reach + ball(d)).mid()
                if 0 < loss < self.top and loss > arb("1e-300"):
                    found.append(float(loss))
        top = float(self.top.mid())
        found.append(top * (1 - 10 ** rng.uniform(-15, 0)))
        return np.unique([x for x in found if x < top])

    def intervals(self, edges, rng):
        """Widths of the intervals, and P and Q of them all."""
        reaches = [self._reach(x) for x in edges]
        widths, ends = np.diff(edges), []
        for i in range(len(edges) + 1):
            first = reaches[i - 1] if i > 0 else arb(0)
            last = reaches[i] if i < len(edges) else 2 * self.a
            if 0 < i < len(edges) and last - first < 1e-3:
                size = edges[i]
                width = widths[i - 1] + UNIT * size * rng.uniform(-0.8, 0.8)
                end = Fraction(edges[i - 1]) + Fraction(width)
                inside = edges[i - 1] > 0 and ball(end) < self.top
                if width > 0.1 * widths[i - 1] and inside:
                    widths[i - 1], last = width, self._reach(end)
            ends.append((first, last))
        found = []
        for i, (first, last) in enumerate(ends):
            noise = ((-first / 2).exp() - (-last / 2).exp()) / 2
            moved = ((last / 2).exp() - (first / 2).exp()) / 2
            moved *= (-self.a).exp()
            kept = self.stay + self.rate * (-self.a).exp()
            p, q = self.stay * noise + self.rate * moved, kept * noise
            if i == len(edges):  # outputs beyond 1
                far = (-self.a).exp() / 2
                near = self.stay / 2 + self.rate * far
                p += self.stay * far + self.rate / 2
                q += 2 * far * near
            found.append((p, q))
        return widths, found


@pytest.mark.parametrize("seed", range(4))
def test_exchanged_laplace_in_ball_arithmetic(seed):
    rng, done = np.random.default_rng(seed), 0
    while done < INTERVALS // 4:
        scale = float(10 ** rng.uniform(*random_range(rng)))
        rate = float(10 ** -(rng.exponential(1) ** rng.choice([1, 3])))
        rate = rate if rng.random() < 0.7 else 1 - rate
        if not 1e-250 < rate < 1:
            continue
        truth = LaplaceHalf(scale, rate)
        pair = exchange_batches.ExchangedLaplaceHalf(scale, rate)
        edges = truth.edges(rng)
        edges = edges[edges > 0]  # below, outputs are merged
        if len(edges) > 1:
            done += check(pair, truth, edges, rng, start=1)


def random_range(rng):
    """Of the logarithm of a scale: where it matters, or anywhere."""
    kind = rng.integers(0, 3)
    return [(-1.5, 1.5), (-6, 6), (-25, 150)][kind]


class IntegerExchange:
    """Sampled discrete Gaussian noise moved by k, and its mirror image."""

    def __init__(self, sigma, k, rate):
        ctx.prec = 1300
        self.reach = math.ceil(45 * sigma) + k
        variance, rate = 2 * ball(sigma) ** 2, ball(rate)
        noise = [
            (-arb(z * z) / variance).exp() for z in range(self.reach + 2 * k)
        ]
        total = 2 * sum(noise[1:], arb(0)) + noise[0]
        places = range(-self.reach, self.reach + 1)
        self.p, self.q = (
            [
                ((1 - rate) * noise[abs(x)] + rate * noise[abs(x - move)])
                / total
                for x in places
            ]
            for move in (k, -k)
        )
        self.losses = [
            (p / q).log() for p, q in zip(self.p, self.q, strict=True)
        ]

    def edges(self, rng):
        """Between neighbouring losses."""
        found = []
        for i in rng.integers(1, len(self.losses), 25).tolist():
            low, high = self.losses[i - 1], self.losses[i]
            edge = float((low + (high - low) * ball(rng.random())).mid())
            if (high - low) / (abs(ball(edge)) + 1) > 1e-12:
                if low < ball(edge) < high:
                    found.append(edge)
        return np.unique(found)

    def intervals(self, edges, rng):
        cuts, i = [0], 0
        for edge in edges:
            while i < len(self.losses) and self.losses[i] < ball(edge):
                i += 1
            cuts.append(i)
        cuts.append(len(self.losses))
        found = [
            tuple(sum(law[a:b], arb(0)) for law in (self.p, self.q))
            for a, b in zip(cuts[:-1], cuts[1:], strict=True)
        ]
        return np.diff(edges), found


@pytest.mark.parametrize("seed", range(2))
def test_exchanged_integer_noise_in_ball_arithmetic(seed):
    rng, done = np.random.default_rng(seed), 0
    while done < INTERVALS // 10:  # each interval sums many places
        sigma = float(10 ** rng.uniform(-1, 1.5))
        k = int(rng.integers(1, 8))
        rate = float(rng.choice([rng.random(), 10 ** rng.uniform(-12, 0)]))
        base = integer_noise.IntegerGaussianPair(sigma, k)
        truth = IntegerExchange(sigma, k, rate)
        edges = truth.edges(rng)
        if len(edges):
            pair = exchange_batches.ExchangedIntegerPair(base, rate)
            done += check(pair, truth, edges, rng)


class Batch:
    """The larger of remove and add: half of a sampled Gaussian, mirrored."""

    def __init__(self, mu, rate):
        self.half = Mixture([Fraction(0), mu], [1 - rate, rate])
        center = 1 - 2 * normal(ball(mu) / 2, None)
        self.center = ball(1 - rate) * center

    def edges(self, rng):
        edges = random_edges(rng, self.half)
        signs = rng.choice([-1, 1], len(edges))
        return np.unique(np.abs(edges[edges != 0]) * signs[edges != 0])

    def intervals(self, edges, rng):
        positive = np.array([x for x in edges if x > 0])
        negative = np.array([-x for x in edges if x < 0])[::-1]
        above = self.half.intervals(np.append(0.0, positive), rng)[1][1:]
        below = self.half.intervals(np.append(0.0, negative), rng)[1][1:]
        below = [(q, p) for p, q in below[::-1]]
        both = (
            x + y + self.center
            for x, y in zip(below[-1], above[0], strict=True)
        )
        return np.diff(edges), [*below[:-1], tuple(both), *above[1:]]


@pytest.mark.parametrize("seed", range(2))
def test_exchanged_batches_in_ball_arithmetic(seed):
    """From b = 1 to n - 1, also where 1 - b/n is no float."""
    rng, done = np.random.default_rng(seed), 0
    while done < INTERVALS // 2:
        noise = Fraction(float(10 ** rng.uniform(-2, 3)))
        n = int(10 ** rng.uniform(0.4, rng.choice([2, 9, 17])))
        b = int(rng.choice([1, n - 1, int(rng.integers(1, n))]))
        if not 1 <= b < n:
            continue
        (pair,) = al.dominating_pairs(
            al.Gaussian(float(noise)),
            sampling=al.FixedBatch(b, n),
            adjacency="substitute",
        )
        truth = Batch(2 / noise, Fraction(b, n))
        edges = truth.edges(rng)
        if len(edges):
            done += check(pair, truth, edges, NoRandom())


class NoRandom:
    """Widths stay as they are."""

    def uniform(self, low, high):
        return 0.0


@pytest.mark.parametrize("fixed", [False, True])
def test_groups_in_ball_arithmetic(fixed):
    """From the mechanism's exact numbers to the masses."""
    rng, done = np.random.default_rng(11 + fixed), 0
    while done < INTERVALS // 4:
        noise = Fraction(float(10 ** rng.uniform(-2, 3)))
        k = int(rng.integers(2, 8))
        if fixed:
            n = int(10 ** rng.uniform(1, rng.choice([2, 9, 17])))
            b = int(rng.choice([1, n - k, int(rng.integers(1, n))]))
            if not 1 <= b <= n - k:
                continue
            sampling: Any = al.FixedBatch(b, n)
            weights = [
                Fraction(math.comb(k, j))
                * math.prod(Fraction(b - i, n - i) for i in range(j))
                * math.prod(
                    Fraction(n - b - i, n - j - i) for i in range(k - j)
                )
                for j in range(min(k, b) + 1)
            ]
            sizes = [2 * j for j in range(len(weights))]
        else:
            rate = 10 ** rng.uniform(rng.choice([-20, -3]), 0)
            rate = float(rate if rng.random() < 0.7 else 1 - rate)
            if not 0 < rate < 1:
                continue
            sampling, sizes = al.Poisson(rate), list(range(k + 1))
            one, none = Fraction(rate), 1 - Fraction(rate)
            weights = [
                math.comb(k, j) * one**j * none ** (k - j) for j in sizes
            ]
        (pair,) = al.dominating_pairs(
            al.Gaussian(float(noise)),
            sampling=sampling,
            adjacency="remove",
            group_size=k,
        )
        truth = Mixture([j / noise for j in sizes], weights)
        edges = random_edges(rng, truth)
        if len(edges):
            done += check(pair, truth, edges, rng)


def test_iterations_that_do_not_end_are_errors(monkeypatch):
    pair = MixturePair((1.0, 2.0), (0.5, 0.5))
    monkeypatch.setattr(
        type(pair),
        "_excess",
        lambda self, losses, z, kept, alone: (
            np.ones((len(losses), 2)),
            np.ones(len(losses)),
        ),
    )
    with pytest.raises(ArithmeticError, match="did not end"):
        pair.masses([0.0, 1.0])


def test_constants_are_read_only():
    for pair in (
        MixturePair((0.0, 1.0, 2.0), (0.25, 0.5, 0.25)),
        exchange.ExchangedPair((0.0, 1.0), (0.5, 0.5)),
    ):
        pair.masses([0.5])
        for name in ("_means", "_shares", "_heights", "_log_below"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(pair, name)[0] = 1.0


def test_decimal_contexts_of_the_caller_play_no_role():
    from decimal import Inexact, localcontext

    run = al.Release(al.Gaussian(2.0), al.Poisson(0.1), count=7)
    ask: Any = {"epsilon": 1.0, "adjacency": "remove", "group_size": 3}
    known = al.delta(run, **ask)
    with localcontext(prec=3) as context:
        context.traps[Inexact] = True
        assert al.delta(run, **ask) == known
