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
