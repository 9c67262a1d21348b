"""The theorems: no other neighbours and queries are worse."""

from typing import Any

import numpy as np

import accountlib as al

LOGS = np.linspace(0.0, 6.0, 25)


def positive_part(p: Any, q: Any, logs: Any) -> Any:
    gap = p - np.multiply.outer(np.exp(logs), q)
    return np.maximum(gap, 0).sum(axis=-1)


def worst(run: al.Release, size: int = 1) -> Any:
    """The upper ends for substituted records."""
    return al.delta(
        run, epsilon=LOGS, adjacency="substitute", group_size=size
    ).upper


def test_other_triples_under_a_fixed_batch() -> None:
    """Three outputs, any two of them epsilon-close: with the record,
    with the other one, and without both."""
    rng = np.random.default_rng(5)
    for _ in range(30):
        size, top = int(rng.integers(2, 6)), rng.uniform(0.1, 3)
        rate = rng.uniform(0.02, 0.98)
        base = rng.dirichlet(np.ones(size))
        three = base * np.exp(rng.uniform(-top / 2, top / 2, (3, size)))
        if rng.random() < 0.5:
            signs = rng.choice([-1.0, 1.0], (3, size))
            three = base * np.exp(top / 2 * signs)
        three /= three.sum(axis=1, keepdims=True)
        logs = np.log(three)
        real = float(np.max(logs.max(axis=0) - logs.min(axis=0)))
        without, one, two = three
        p = (1 - rate) * without + rate * one
        q = (1 - rate) * without + rate * two
        run = al.Release(al.PureDP(real * (1 + 1e-12)), al.Poisson(rate))
        assert np.all(positive_part(p, q, LOGS) <= worst(run) + 1e-12)


def test_remove_is_worse_in_one_step_of_symmetric_pairs_only() -> None:
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


def test_two_vectors_at_a_right_angle_under_remove_and_add() -> None:
    """Ganesh (2024), Lemma 2.9: vectors are no worse than numbers."""
    h = 0.02
    axis = np.arange(-9, 11, h)
    x, y = np.meshgrid(axis, axis)

    def normal(a: float, b: float) -> Any:
        return h * h * np.exp(-((x - a) ** 2 + (y - b) ** 2) / 2).ravel()

    q = normal(0, 0) / (2 * np.pi)
    p = (q + sum(normal(*c) for c in ((1, 0), (0, 1), (1, 1))) / 2 / np.pi) / 4
    numbers = al.MixtureOfGaussians([0, 1, 2], [0.25, 0.5, 0.25], 1.0)
    for side, pair in (("remove", (p, q)), ("add", (q, p))):
        found = al.delta(al.Release(numbers), epsilon=LOGS[:8], adjacency=side)
        assert np.all(positive_part(*pair, LOGS[:8]) <= found.lower)
