"""Samples that are cut, shuffles, and records that count for nothing."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

import accountlib as al
from accountlib import DiscretePair, FixedBatch, Gaussian, Poisson, Release
from accountlib.accountant import delta, epsilon
from accountlib.beyond.other_samplers import cut_numbers, largest_output

Z = np.linspace(-14, 34, 240_001)


def hockey_stick(p, q, at):
    return float(np.maximum(p - math.exp(at) * q, 0).sum() * (Z[1] - Z[0]))


def mixture(rate, move):
    return (1 - rate) * norm.pdf(Z) + rate * norm.pdf(Z - move)


@pytest.mark.parametrize("batch", [1, 30, 90])
@pytest.mark.parametrize("mu", [0.2, 1.0, 4.0])
def test_one_step_by_a_plain_sum(mu, batch):
    rate = batch / 100
    run = Release(Gaussian(1 / mu), al.ZeroedBatch(batch, 100))
    with_it, zeroed = mixture(rate, 2 * mu), mixture(rate, mu)
    for at in (0.0, 0.3, 1.0, 3.0):
        known = max(
            hockey_stick(with_it, zeroed, at),
            hockey_stick(zeroed, norm.pdf(Z), at),
        )
        found = delta(run, epsilon=at, adjacency="zero-out")
        assert found.lower <= known * (1 + 1e-6) + 1e-12
        assert known * (1 - 1e-6) - 1e-12 <= found.upper
        assert found.width < 1e-4 or found.upper < 1e-9


def chances(rate, most, n):
    """That the others fill a batch; that a record is then drawn and kept."""
    mass = [
        math.comb(n - 1, k) * rate**k * (1 - rate) ** (n - 1 - k)
        for k in range(n)
    ]
    full = sum(mass[most:])
    kept = sum(rate * most / (k + 1) * mass[k] for k in range(most, n))
    return full, kept / full


@pytest.mark.parametrize(
    "setting", [(0.5, 2, 3), (0.1, 15, 100), (0.9, 20, 40), (1e-9, 1, 9)]
)
def test_chances_in_fractions(setting):
    q, most, n = Fraction(setting[0]), *setting[1:]
    full, kept = chances(q, most, n)
    p, room, above, below, error = cut_numbers(*setting)
    assert abs(p / full - 1) <= error and abs(room / (1 - full) - 1) <= error
    assert kept <= above <= kept * (1 + 4 * Fraction(error))
    present = q * (1 - full) + kept * full
    assert present * (1 - 4 * Fraction(error)) <= below <= present


def exact_step(p, q, exchanged, rate, most, n, alpha):
    """Attained and proven delta of remove for a list, in fractions: others
    that say nothing; the labelled pair."""
    full, kept = chances(rate, most, n)

    def sampled(p, q, rate):
        return sum(
            max((1 - rate) * y + rate * x - alpha * y, Fraction(0))
            for x, y in zip(p, q, strict=True)
        )

    present = rate * (1 - full) + kept * full
    above = full * sampled(*exchanged, kept) + (1 - full) * sampled(p, q, rate)
    return sampled(p, q, present), above


class TwoOutcomes(DiscretePair):
    """Known for a removed and for a substituted record."""

    def exchanged(self, size):
        return self.removed(size)


def test_a_cut_step_in_fractions():
    p, q = (Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4))
    mechanism = TwoOutcomes((0.75, 0.25), (0.25, 0.75))
    for most, alpha in product((1, 2, 4), (Fraction(1), Fraction(6, 5))):
        low, high = exact_step(p, q, (p, q), Fraction(1, 4), most, 6, alpha)
        run = Release(mechanism, al.TruncatedPoisson(0.25, most, 6))
        found = delta(run, epsilon=math.log(alpha), adjacency="remove")
        assert found.lower <= low * (1 + Fraction(1, 10**12))
        assert high * (1 - Fraction(1, 10**12)) <= found.upper
        assert abs(found.upper / high - 1) < 1e-6
        assert low == 0 or abs(found.lower / low - 1) < 1e-6


def test_nothing_or_all_is_cut():
    for sampling, same in (
        (al.TruncatedPoisson(0.1, 50, 50), Poisson(0.1)),
        (al.TruncatedPoisson(0.0, 5, 50), Poisson(0.0)),
        (al.TruncatedPoisson(1.0, 5, 50), FixedBatch(5, 50)),
    ):
        runs = [Release(Gaussian(1.0), x, 10) for x in (sampling, same)]
        a, b = (epsilon(x, delta=1e-5, adjacency="remove") for x in runs)
        assert (a.lower, a.upper) == (b.lower, b.upper)


@np.errstate(all="ignore")
def test_the_largest_output_by_thresholds():
    mu, t = 2.0, 100
    rows = np.array(largest_output(mu, t).rows).T
    p, q = np.exp(rows[2:])
    assert abs(p.sum() - 1) < 1e-9 and abs(q.sum() - 1) < 1e-9
    c = np.linspace(-2, 12, 2801)
    tails = [1 - norm.cdf(c) ** (t - 1) * norm.cdf(c - k * mu) for k in (2, 1)]
    best = float(np.max(tails[0] - math.e * tails[1]))
    known = float(np.maximum(p - math.e * q, 0).sum())
    assert best * (1 - 1e-3) <= known <= best * (1 + 1e-3)


def test_what_is_refused():
    for sampling, sides in (
        (al.ZeroedBatch(5, 50), ["zero-out"]),
        (al.TruncatedPoisson(0.1, 5, 50), ["remove", "substitute"]),
        (al.ShuffledEpochs(5), ["zero-out"]),
    ):
        run = Release(Gaussian(1.0), sampling)
        for side in sides:
            with pytest.raises(NotImplementedError, match="group_size=2"):
                epsilon(run, delta=1e-5, adjacency=side, group_size=2)
    run = Release(Gaussian(1.0), al.ShuffledEpochs(5))
    with pytest.raises(NotImplementedError, match="remove"):
        epsilon(run, delta=1e-5, adjacency="remove")
    own = Release(DiscretePair((0.5, 0.5), (0.4, 0.6)), al.ZeroedBatch(5, 50))
    with pytest.raises(NotImplementedError):
        epsilon(own, delta=1e-5, adjacency="zero-out")
