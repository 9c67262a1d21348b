"""Discrete pairs: lower <= truth <= upper, in exact fractions."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import accountlib as al
from tests import truth
from tests.whole.tally import tally

ADJACENCIES = ("add", "remove", "add-or-remove")
DISCRETE_BATCHES, DISCRETE_CASES = 20, 25  # 500


# --- discrete pairs: 500 in exact fractions -------------------------------


def discrete_setting(rng):
    """Releases of the package and the same thing as an exact pair.

    One or two pairs with 2 to 6 outcomes, zeros (infinite losses) included;
    few outcomes may be repeated often. Rates are binary fractions.
    """
    releases, exact = [], []
    for _ in range(rng.choice([1, 1, 2])):
        size = int(rng.choice([2, 2, 3, 4, 6]))
        bits = int(rng.choice([3, 8, 16]))
        p = truth.dyadic_distribution(rng, size, bits=bits)
        q = truth.dyadic_distribution(rng, size, bits=bits)
        if rng.random() < 0.3:
            q = [p[i] for i in rng.permutation(size)]
        most = {2: 300, 3: 25, 4: 8, 6: 3}[size]
        count = round(math.exp(rng.uniform(0, math.log(most))))
        rate = float(rng.choice([0.0, 2.0**-7, 0.25, 1.0, 1.0]))
        scheme = al.FullBatch() if rate == 1 else al.Poisson(rate)
        releases.append(al.Release(al.DiscretePair(p, q), scheme, count))
        pair = truth.ExactPair.of(p, q)
        if rate < 1:
            pair = pair.poisson(rate)
        exact.append((pair, count))
        if size > 3 or count > 40:
            break
    return releases, truth.compose_exact(exact)


def largest_loss(exact):
    i, j = max(
        (key for key in exact.weights if all(key)),
        key=lambda key: Fraction(*key),
        default=(1, 1),
    )
    return float(mp.log(mp.mpf(i) / j))


def discrete_deltas(rng, exact):
    """A random delta; the very mass at infinity, or just beside it."""
    delta = float(10 ** rng.uniform(-12, math.log10(0.5)))
    infinite = Fraction(exact.weights.get((1, 0), 0), exact.denominator)
    near = float(infinite) * float(1 + 10 ** rng.uniform(-6, 0))
    start = float(exact.delta_at(Fraction(1)))
    just_below = start * float(1 - 10 ** rng.uniform(-6, -1))
    return float(rng.choice([delta, delta, min(near, 1.0), just_below]))


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("batch", range(DISCRETE_BATCHES))
def test_random_discrete_compositions(batch):
    rng = np.random.default_rng([7, batch])
    found = tally()
    for _ in range(DISCRETE_CASES):
        releases, pair = discrete_setting(rng)
        adjacency = str(rng.choice(ADJACENCIES))
        pairs = {"remove": [pair], "add": [pair.reversed()]}
        sides = pairs.get(adjacency, [pair, pair.reversed()])
        delta = discrete_deltas(rng, sides[0])
        ends = [side.epsilon(delta) for side in sides]
        low, high = max(e[0] for e in ends), max(e[1] for e in ends)
        bound = al.epsilon(releases, delta=delta, adjacency=adjacency)
        setting = (releases, delta, adjacency)
        found.add(bound, low, high, setting, high < 1e-3)

        top = float(high) if 0 < high < mp.inf else 1.0
        epsilon = float(rng.choice([0.0, top, rng.uniform(0, 2 * top)]))
        curve = al.delta(releases, epsilon=epsilon, adjacency=adjacency)
        ends = [side.delta(epsilon) for side in sides]
        low, high = max(e[0] for e in ends), max(e[1] for e in ends)
        setting = (releases, epsilon, adjacency)
        near_top = epsilon > 0.9 * max(largest_loss(s) for s in sides)
        found.add(curve, low, high, setting, near_top)
    found.check(0.2)
