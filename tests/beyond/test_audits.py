"""Audits against exact tails and enumeration."""

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom, norm

import accountlib as al
from accountlib.beyond.audits import AttackCounts, rate_above


@pytest.mark.parametrize("trials", [1, 7, 60, 300])
@pytest.mark.parametrize("significance", [0.025, 0.3, 1e-6])
def test_rate_above_in_fractions(trials, significance):
    for count in {0, 1, trials // 3, trials - 1, trials}:
        u = rate_above(count, trials, significance)
        if count == trials:
            assert u == 1
            continue

        def tail(u, count=count):
            u = F(u)
            return sum(
                math.comb(trials, k) * u**k * (1 - u) ** (trials - k)
                for k in range(count + 1)
            )

        assert tail(u) <= F(significance) < tail(u * (1 - 1e-9))


@pytest.mark.parametrize("mu", [0.0, 0.5, 2.0])
def test_coverage_by_enumeration(mu):
    """P[lower end above the truth], summed over all counts."""
    n, sure = 25, {"significance": 0.1}
    epsilon = al.gaussian_epsilon(0.05, mu=mu) if mu else 0.0
    run = al.Release(al.Gaussian(1 / mu if mu else 1e6))
    curve = al.tradeoff_curve(run, adjacency="add-or-remove")
    wrong, k = np.zeros((3, n + 1, n + 1)), np.arange(n + 1)
    for a, b in product(k.tolist(), repeat=2):
        counts = AttackCounts(n, a, n, b)
        wrong[:, a, b] = (
            counts.mu(**sure) > mu,
            counts.epsilon(delta=0.05, **sure) > epsilon + 1e-12,
            counts.refutes(curve, **sure),
        )
    for threshold in (-1.0, 0.5, 2.0):
        x, y = norm.sf(threshold), norm.cdf(threshold - mu)
        chance = wrong @ binom.pmf(k, n, y) @ binom.pmf(k, n, x)
        assert np.all(chance <= 0.1)
