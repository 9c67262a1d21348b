"""Groups of mere guarantees against exact fractions.

One step of a chain turns the probability x of an event into at most g(x) =
min(delta + e^eps x, 1 - (1 - delta - x)/e^eps); k steps into g(g(...g(x))).
e^eps is a fraction of 80 digits here.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from accountlib.accountant import delta, epsilon
from accountlib.fourier import optimistic_table, pessimistic_table
from accountlib.mechanisms import ApproximateDP, PureDP
from accountlib.sampling import Release

try:
    ApproximateDP(1.0, 0.0).removed(2)
except NotImplementedError:
    pytest.skip("no groups of guarantees yet", allow_module_level=True)


def power(x):
    """e^x to 80 digits."""
    with localcontext() as context:
        context.prec = 80
        return Fraction(Decimal(x).exp())


def exact(eps, delta, size, alphas):
    """sup over x of g(g(...g(x))) - alpha x: at break points, since the
    function is concave and made of lines."""
    growth, told = power(eps), Fraction(delta)

    def step(x):
        return min(told + growth * x, 1 - (1 - told - x) / growth, Fraction(1))

    places = {Fraction(0), Fraction(1)}
    corners = {(1 - told) / (1 + growth), 1 - told}
    for _ in range(size):  # places that reach a corner after some steps
        places |= corners
        before = {(y - told) / growth for y in corners}
        before |= {1 - told - growth * (1 - y) for y in corners}
        corners = {x.limit_denominator(10**90) for x in before if 0 < x < 1}
    values = []
    for x in places:
        y = x
        for _ in range(size):
            y = step(y).limit_denominator(10**90)
        values.append((x, y))
    return [max(y - alpha * x for x, y in values) for alpha in alphas]


@np.errstate(all="ignore")
def ends(pair, eps):
    """delta of one such step from below and from above."""
    cells = pair.cells(pair.start())
    found = []
    for make in (optimistic_table, pessimistic_table):
        table = make(cells, 1, np.ones(len(cells.loss), bool))
        gain = -np.expm1(np.minimum(eps - table.loss, 0.0))
        found.append(table.infinite + float(np.exp(table.log_mass) @ gain))
    return found


def degenerate(eps, steps):
    """A delta with a break point at 0, where rounding decides its sign."""
    growth = math.exp(eps)
    return 1 / (1 + (1 + growth) * sum(growth**j for j in range(steps)))


@pytest.mark.parametrize("seed", range(12))
def test_deltas_of_chains(seed):
    rng = np.random.default_rng([7, seed])
    for _ in range(12):
        eps = float(rng.choice([0.0, 10 ** rng.uniform(-6, 0.7)]))
        size = int(rng.integers(2, 6))
        small, half = 10 ** rng.uniform(-30, -0.3), rng.uniform(0, 1) / size
        edge = degenerate(eps, int(rng.integers(1, size + 1)))
        given = float(rng.choice([0.0, small, half, edge]))
        at = [0.0, 0.4 * eps, 0.99 * size * eps, float(rng.uniform(0, 2))]
        known = exact(eps, given, size, [power(x) for x in at])
        pair = ApproximateDP(eps, given).removed(size)
        for x, truth in zip(at, known, strict=True):
            low, high = ends(pair, x)
            assert low * (1 - 1e-15) <= truth <= high * (1 + 1e-15) + 1e-300
            assert high - low <= 1e-9 * high + 1e-290


def test_the_pair_equals_its_reverse():
    for given in (0.0, 1e-9, 0.1):
        pair = ApproximateDP(0.7, given).removed(4)
        for x in (-0.5, 0.3, 1.9):
            one, two = ends(pair, x), ends(pair.reversed(), x)
            assert np.allclose(one, two, rtol=1e-12)


def test_ends_of_the_range():
    for eps, given, size in (
        (100.0, 0.0, 1000),
        (0.0, 0.0, 1000),
        (0.0, 1e-3, 1000),
        (1.0, 1.0, 5),
        (100.0, 1e-300, 1000),
        (1e-6, 1e-200, 1000),
    ):
        pair = ApproximateDP(eps, given).removed(size)
        low, high = ends(pair, 1.0)
        assert 0 <= low <= high <= 1 + 1e-9
    low, high = ends(ApproximateDP(0.0, 1e-3).removed(1000), 1.0)
    assert low <= 1 <= high and low > 0.99


def test_composed_groups_against_the_old_engine():
    for mechanism, size, count, at, low, high in (
        (PureDP(0.1372), 7, 1, 0.02692, 0.9086974132, 0.9086974179),
        (PureDP(0.4628), 2, 8195, 3.716e-7, 3158.602236, 3158.62164),
    ):
        run = Release(mechanism, count=count)
        found = epsilon(run, delta=at, adjacency="add", group_size=size)
        assert found.lower <= high and low <= found.upper
        assert found.width < 1e-3
    run = Release(ApproximateDP(0.1, 1e-6), count=1)
    found = delta(run, epsilon=0.25, adjacency="remove", group_size=3)
    known = exact(0.1, 1e-6, 3, [power(0.25)])[0]
    assert found.lower <= known <= found.upper
