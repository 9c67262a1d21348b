"""The theorems: no other neighbours and queries are worse."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from typing import Any

import numpy as np
import pytest

import accountlib as al
from tests.several.exchanges import pair_of


def positive_part(p, q, alpha):
    return np.maximum(p - np.multiply.outer(alpha, q), 0).sum(axis=-1)


ALPHAS = np.concatenate([[0.0, 1.0], np.geomspace(1e-3, 1e3, 60)])


def density(kind, points, scale):
    if kind == "gaussian":
        norm = scale * math.sqrt(2 * math.pi)
        return np.exp(-((points / scale) ** 2) / 2) / norm
    return np.exp(-np.abs(points) / scale) / (2 * scale)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_other_queries_under_poisson(kind):
    """Any a, a' in [-1, 1], on one grid: sums obey the theorem exactly
    where the grid is symmetric and the noise log-concave on it."""
    rng = np.random.default_rng(3)
    step = 0.025
    z = step * np.arange(-1200, 1201)
    for _ in range(40):
        rate, scale = rng.uniform(0.02, 0.98), 10 ** rng.uniform(-0.5, 0.2)

        def noise(move, scale=scale):
            value = density(kind, z - step * move, scale)
            return value / density(kind, z, scale).sum()

        still = (1 - rate) * noise(0)
        worst = positive_part(
            still + rate * noise(40), still + rate * noise(-40), ALPHAS
        )
        for a, b in rng.integers(-40, 41, (8, 2)):
            other = positive_part(
                still + rate * noise(a), still + rate * noise(b), ALPHAS
            )
            assert np.all(other <= worst * (1 + 1e-9) + 1e-7), (a, b)
        # mixtures of batches
        p = q = 0.0
        weights = rng.dirichlet(np.ones(4))
        for w, y, a, b in zip(
            weights, *rng.integers(-40, 41, (3, 4)), strict=True
        ):
            p = p + w * ((1 - rate) * noise(y) + rate * noise(y + a))
            q = q + w * ((1 - rate) * noise(y) + rate * noise(y + b))
        other = positive_part(p, q, ALPHAS)
        assert np.all(other <= worst * (1 + 1e-9) + 1e-7)


def test_vectors_and_groups_under_poisson():
    """Two dimensions: other directions, and groups of two."""
    rng = np.random.default_rng(4)
    h = 0.1
    x, y = np.meshgrid(h * np.arange(-90, 91), h * np.arange(-90, 91))

    def noise(move, sigma):
        square = (x - move[0]) ** 2 + (y - move[1]) ** 2
        return (
            h
            * h
            * np.exp(-square / (2 * sigma**2)).ravel()
            / (2 * math.pi * sigma**2)
        )

    logs = np.log(ALPHAS[2::4])
    for _ in range(6):
        rate, sigma = rng.uniform(0.05, 0.9), rng.uniform(0.6, 1.5)
        for size in (1, 2):
            run = al.Gaussian(sigma)
            pair = pair_of(run, al.Poisson(rate), size)
            worst = pair.delta(logs)
            angles = rng.uniform(0, 2 * math.pi, (2, size))
            ends = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
            sides = []
            for moves in ends:
                total: Any = 0.0
                for chosen in range(2**size):
                    bits = [chosen >> i & 1 for i in range(size)]
                    w = math.prod(rate if b else 1 - rate for b in bits)
                    move = np.array(bits) @ moves
                    total = total + w * noise(move, sigma)
                sides.append(total)
            one, two = sides
            other = positive_part(one, two, np.exp(logs))
            assert np.all(other <= worst + 1e-9), (rate, sigma, angles)


def test_other_triples_under_a_fixed_batch():
    """Three outputs, any two of them epsilon-close: with the record,
    with the other one, and without both."""
    rng = np.random.default_rng(5)
    for _ in range(100):
        size, top = int(rng.integers(2, 6)), rng.uniform(0.1, 3)
        rate = rng.uniform(0.02, 0.98)
        base = rng.dirichlet(np.ones(size))
        three = base * np.exp(rng.uniform(-top / 2, top / 2, (3, size)))
        if rng.random() < 0.5:
            signs = rng.choice([-1.0, 1.0], (3, size))
            three = base * np.exp(top / 2 * signs)
        three /= three.sum(axis=1, keepdims=True)
        logs = np.log(three)
        real = max(
            float(np.max(logs[i] - logs[j]))
            for i in range(3)
            for j in range(3)
        )
        without, one, two = three
        p = (1 - rate) * without + rate * one
        q = (1 - rate) * without + rate * two
        pair = pair_of(al.PureDP(real * (1 + 1e-12)), al.Poisson(rate))
        worst = pair.delta(np.log(ALPHAS[2:]))
        assert np.all(positive_part(p, q, ALPHAS[2:]) <= worst + 1e-12)
