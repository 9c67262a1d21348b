"""Guarantees of pure DP: groups of k records in fractions, other triples.

One step of a chain turns the probability x of an event into at most g(x) =
min(e^eps x, 1 - (1 - x)/e^eps); k steps into g(g(...g(x))). e^eps is a
fraction of 80 digits here.
"""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import accountlib as al


def power(x):
    """e^x to 80 digits."""
    with localcontext() as context:
        context.prec = 80
        return Fraction(Decimal(x).exp())


def exact(eps, size, alphas):
    """sup over x of g(g(...g(x))) - alpha x: at break points, since the
    function is concave and made of lines."""
    growth = power(eps)

    def most(x):
        for _ in range(size):
            x = min(growth * x, 1 - (1 - x) / growth)
        return x

    start = 1 / (1 + growth)  # where g bends
    places = {start * growth**-m for m in range(size)} | {Fraction(0)}
    places |= {1 - most(x) for x in places}  # from the other end
    return [max(most(x) - alpha * x for x in places) for alpha in alphas]


@pytest.mark.parametrize("eps", [1e-9, 1e-4, 0.02, 0.3, 1.0, 3.0, 20.0])
@pytest.mark.parametrize("size", [2, 3, 7])
def test_one_step(eps, size):
    at = [0.0, 0.4 * eps, 0.9 * size * eps]
    for x, truth in zip(at, exact(eps, size, map(power, at)), strict=True):
        for adjacency in ("remove", "add", "substitute"):
            found = al.delta(
                al.Release(al.PureDP(eps)),
                epsilon=x,
                adjacency=adjacency,
                group_size=size,
            )
            assert found.lower <= truth <= found.upper
            assert found.width < 1e-3


def test_other_triples_under_a_fixed_batch():
    """Three outputs, any two of them epsilon-close: with the record,
    with the other one, and without both."""
    rng, logs = np.random.default_rng(5), np.linspace(0.0, 6.0, 25)
    for _ in range(30):
        size, top = int(rng.integers(2, 6)), rng.uniform(0.1, 3)
        rate = rng.uniform(0.02, 0.98)
        base = rng.dirichlet(np.ones(size))
        three = base * np.exp(rng.uniform(-top / 2, top / 2, (3, size)))
        if rng.random() < 0.5:
            signs = rng.choice([-1.0, 1.0], (3, size))
            three = base * np.exp(top / 2 * signs)
        three /= three.sum(axis=1, keepdims=True)
        losses = np.log(three)
        real = float(np.max(losses.max(axis=0) - losses.min(axis=0)))
        without, one, two = three
        p = (1 - rate) * without + rate * one
        q = (1 - rate) * without + rate * two
        run = al.Release(al.PureDP(real * (1 + 1e-12)), al.Poisson(rate))
        worst = al.delta(run, epsilon=logs, adjacency="substitute").upper
        assert np.all(al.hockey_stick(p, q, np.exp(logs)) <= worst + 1e-12)


def test_remove_is_worse_in_one_step_of_symmetric_pairs_only():
    """The lemma of remove and add needs H(A || B) = H(B || A)."""
    p, q = [0.85, 0.15], [0.75, 0.25]
    at = np.linspace(0.01, 0.9, 30)
    for base, symmetric in (
        (al.DiscretePair(p, q), False),
        (al.RandomizedResponse(0.75), True),
        (al.Laplace(1.0), True),
    ):
        step = al.Release(base, al.Poisson(0.5))
        remove, add = (
            al.delta(step, epsilon=at, adjacency=side)
            for side in ("remove", "add")
        )
        assert bool(np.all(add.lower <= remove.upper)) == symmetric
    bare = [al.hockey_stick(*x, 1.2) for x in ((p, q), (q, p))]
    assert bare[0] == 0 and abs(bare[1] - 0.07) < 1e-15


def test_two_vectors_at_a_right_angle_under_remove_and_add():
    """Ganesh (2024), Lemma 2.9: vectors are no worse than numbers."""
    h = 0.02
    axis = np.arange(-9, 11, h)
    x, y = np.meshgrid(axis, axis)

    def normal(a, b):
        return h * h * np.exp(-((x - a) ** 2 + (y - b) ** 2) / 2).ravel()

    q = normal(0, 0) / (2 * np.pi)
    p = (q + sum(normal(*c) for c in ((1, 0), (0, 1), (1, 1))) / 2 / np.pi) / 4
    logs = np.linspace(0.0, 1.75, 8)
    alphas = np.exp(logs)[:, None]
    numbers = al.MixtureOfGaussians([0, 1, 2], [0.25, 0.5, 0.25], 1.0)
    for side, gap in (("remove", p - alphas * q), ("add", q - alphas * p)):
        found = al.delta(al.Release(numbers), epsilon=logs, adjacency=side)
        assert np.all(np.maximum(gap, 0).sum(axis=1) <= found.lower)
