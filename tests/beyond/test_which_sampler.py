"""`row_of` and a dropped batch, as the page of samplers has them."""

import itertools
import math
from pathlib import Path

import jupytext
import numpy as np
import pytest
from scipy.stats import binom, norm

from accountlib.accountant import delta
from accountlib.beyond.allocation import RandomAllocation
from accountlib.mechanisms import Gaussian
from accountlib.sampling import Release

PAGE = Path(__file__).parents[2] / "notebooks" / "which_sampler.md"
(CELL,) = (
    cell.source
    for cell in jupytext.read(PAGE).cells
    if cell.cell_type == "code" and "def row_of(" in cell.source
)
SCOPE = {"np": np, "math": math, "binom": binom}
exec(CELL, SCOPE)
row_of = SCOPE["row_of"]
N, B, T, E = 400, 20, 20, 12  # records, in a batch, batches, epochs


def cut(order, b=B):
    return [order[i : i + b] for i in range(0, len(order), b)]


def epochs(order):
    """Batches of new orders."""
    return lambda rng: [x for _ in range(E) for x in cut(order(rng))]


def coins(rng, rate=B / N):
    return rng.random((T * E, N)) < rate


def buffer(rng, size=80):
    held, order = list(range(size)), []
    for new in [*range(size, N), *[None] * size]:
        order.append(held.pop(rng.integers(len(held))))
        held += [] if new is None else [new]
    return np.array(order)


def bins(rng, times):
    """Bins that are drawn once, or anew in each epoch."""
    drawn = np.resize(rng.integers(T, size=(times, N)), (E, N))
    return [np.flatnonzero(row == k) for row in drawn for k in range(T)]


def rested(rng):
    """No record in two steps, one after the other."""
    taken = coins(rng, 1 / 19)
    for last, now in itertools.pairwise(taken):
        now &= ~last
    return taken


def megabatches(rng):
    """Five batches at a time are sorted by length."""
    parts = cut(rng.permutation(N), 5 * B)
    length = np.random.default_rng(1).random(N)
    return np.concatenate([x[length[x].argsort()] for x in parts])


def buckets(rng):
    """Uneven buckets by length, in a fixed order."""
    return bins(np.random.default_rng(1), 1)


def forth_and_back(rng):
    batches = cut(rng.permutation(N))
    return E // 2 * (batches + batches[::-1])


LOADERS = {  # batches, or which records are taken
    "Poisson": coins,
    "fixed batch": lambda rng: [rng.permutation(N)[:B] for _ in range(T * E)],
    "with replacement": lambda rng: list(rng.integers(N, size=(T * E, B))),
    "shuffled epochs": epochs(lambda rng: rng.permutation(N)),
    "last batch dropped": epochs(lambda rng: rng.permutation(N + 7)[:N]),
    "a small buffer": epochs(buffer),
    "fixed order": lambda rng: E * cut(np.arange(N)),
    "kept bins": lambda rng: bins(rng, 1),
    "fresh bins": lambda rng: bins(rng, E),
    "12 of 240 steps": lambda rng: rng.permuted(
        np.arange(T * E)[:, None] + np.zeros(N) < E, axis=0
    ),
}
NONE = {
    "cut off": lambda rng: [
        rng.permutation(np.flatnonzero(x))[:25] for x in coins(rng)
    ],
    "rested": rested,
    "twins": lambda rng: coins(rng)[:, np.r_[0, 0, 2:N]],
    "padded": epochs(lambda rng: np.resize(rng.permutation(N - 5), N)),
    "some more often": lambda rng: coins(
        rng, B / N * (1 + np.arange(N) % 2) / 1.5
    ),
    "megabatches": epochs(megabatches),
    "buckets in a new order": lambda rng: [
        buckets(rng)[i] for _ in range(E) for i in rng.permutation(T)
    ],
    "forth and back": forth_and_back,
    "blocks": lambda rng: [
        B * i + np.arange(B) for i in rng.integers(T, size=240)
    ],
    "windows": lambda rng: [
        (i + np.arange(B)) % N for i in rng.integers(N, size=240)
    ],
}


def asked(loader, seed, other=100):
    runs = [loader(np.random.default_rng(seed + i)) for i in (0, other)]
    if len(runs[0][0]) == N:
        runs = [[np.flatnonzero(x) for x in run] for run in runs]
    return row_of(*runs, N + 7 * (loader is LOADERS["last batch dropped"]), T)


@pytest.mark.parametrize("name", [*LOADERS, *NONE])
def test_a_row_is_named_or_none(name):
    for seed in range(3):
        if name in LOADERS:
            assert asked(LOADERS[name], seed) == name
        else:
            with pytest.raises(ValueError, match="no row"):
                asked(NONE[name], seed)


def test_buckets_and_orders_that_no_seed_moves_are_a_fixed_order():
    assert asked(buckets, 0) == "fixed order"
    for name in ("shuffled epochs", "last batch dropped", "fresh bins"):
        assert asked(LOADERS[name], 0, other=0) == "fixed order"
    assert asked(lambda rng: E * cut(rng.permutation(N)), 0) == "fixed order"
    with pytest.raises(ValueError, match="no row"):
        asked(coins, 0, other=0)


@pytest.mark.parametrize("steps", [0, 7, 180, 239])
def test_parts_of_epochs_get_one_sentence(steps):
    run = [np.flatnonzero(x) for x in coins(np.random.default_rng(0))]
    with pytest.raises(ValueError, match=r"10, 11, ... times 20 batches"):
        row_of(run[:steps], run[:steps], N, T)
    with pytest.raises(ValueError, match="records 0 to 398"):
        row_of(run, run, N - 1, T)


Z = np.linspace(-9, 9, 361)


def two_sums(values):
    """Densities of two noisy sums of two records each, in a random order."""
    found = {}
    for order in itertools.permutations(values):
        sums = sum(order[:2]), sum(order[2:4])
        found[sums] = found.get(sums, 0) + 1 / math.factorial(len(values))
    return sum(
        weight * np.outer(norm.pdf(Z - a), norm.pdf(Z - b))
        for (a, b), weight in found.items()
    )


@pytest.mark.parametrize("at", [0.5, 1.0])
def test_a_dropped_batch_is_allocation_with_half_the_noise(at):
    run = Release(Gaussian(0.5), RandomAllocation(2))
    rng = np.random.default_rng(0)
    for others in (
        [-1] * 4,
        [-1, -1, -1, 0.5],
        [0] * 4,
        rng.uniform(-1, 1, 4),
    ):
        p, q = two_sums([1, *others]), two_sums(others)
        for side, (x, y) in {"remove": (p, q), "add": (q, p)}.items():
            found = np.maximum(x - math.exp(at) * y, 0).sum() / 400
            assert found < delta(run, epsilon=at, adjacency=side).upper
    worst = np.maximum(two_sums([1] + [-1] * 4) - two_sums([-1] * 4) * 1.0, 0)
    exact = 0.8 * delta(run, epsilon=0.0, adjacency="remove").upper
    assert abs(worst.sum() / 400 / exact - 1) < 1e-3
