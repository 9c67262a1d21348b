# Generated from notebooks/several/groups.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Privacy of groups

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $k$ | `group_size` | number of records that are added or removed together, $\ge 1$ |
| $\gamma$ | `rate` | sampling rate of a Poisson sample, in $[0, 1]$ |
| $b$, $n$ | `batch_size`, `dataset_size` | records in a fixed batch, and in the larger data set |
| $J$ | – | number of group members in a batch, random |
| $w_j$ | `probabilities`, `weights` | probability of $J = j$ |
| $c_j$ | `sensitivities` | by how much $j$ members can move the sum, in norms |
| $\mu_j$ | `means` | the same in standard deviations of the noise, $c_j/\sigma$ |
| $\Phi$ | – | distribution function of the standard normal law |
| $S$, $t$ | – | an event, and the threshold of a half-line of the same probability |
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal

import numpy as np

from accountlib.inputs import Floats, check_count, check_number, front_door
from accountlib.several.mixtures import fifty_digits

__all__ = [
    "weights_from_ratios",
    "binomial_weights",
    "hypergeometric_weights",
    "check_missed",
    "binomial_sensitivity",
    "hypergeometric_sensitivity",
]

# --- Exact weights


@fifty_digits
def weights_from_ratios(
    first: Decimal, ratios: Iterable[tuple[Decimal | int, Decimal | int]]
) -> list[Decimal]:
    r"""Probabilities from the first of them and the ratios of neighbours.

    Formula: $w_{j+1} = w_j a_j / b_j$.

    Parameters: `first` ($w_0$); `ratios`, the numbers $a_j, b_j$.
    Returns: one probability more than there are ratios.
    Error: below 1e-49 times the number of ratios, relatively.

    >>> first = Decimal("0.25")
    >>> [float(x) for x in weights_from_ratios(first, [(2, 1), (1, 2)])]
    [0.25, 0.5, 0.25]
    """
    weights = [first]
    for a, b in ratios:
        weights.append(weights[-1] * a / b)
    return weights


@fifty_digits
def binomial_weights(size: int, rate: float) -> list[Decimal]:
    r"""Probabilities of 0, ..., k members in a Poisson sample.

    Formula: $\binom{k}{j} \gamma^j (1 - \gamma)^{k-j}$.

    Parameters: `size` (k); `rate` ($\gamma$ in (0, 1), taken as exact).
    Returns: k + 1 decimal numbers of about 45 digits.
    Source: Ganesh (2024), Theorem 3.1.

    >>> [float(x) for x in binomial_weights(2, 0.5)]
    [0.25, 0.5, 0.25]
    """
    stay = 1 - Decimal(rate)
    odds = Decimal(rate) / stay
    ratios = (((size - j) * odds, j + 1) for j in range(size))
    return weights_from_ratios(stay**size, ratios)


def hypergeometric_weights(
    size: int, batch: int, records: int
) -> list[Decimal]:
    r"""Probabilities of 0, 1, ... members in a batch of fixed size.

    Formula: $\binom{k}{j} \binom{n-k}{b-j} / \binom{n}{b}$.

    Parameters: `size` (k), `batch` (b), `records` (n), $b \le n - k$.
    Returns: min(k, b) + 1 decimal numbers of about 45 digits.
    Source: Ganesh (2024), Theorem 3.3.

    >>> [float(x) for x in hypergeometric_weights(1, 1, 4)]
    [0.75, 0.25]
    """
    none = weights_from_ratios(
        Decimal(1), ((records - batch - i, records - i) for i in range(size))
    )[-1]
    ratios = (
        ((size - j) * (batch - j), (j + 1) * (records - size - batch + j + 1))
        for j in range(min(size, batch))
    )
    return weights_from_ratios(none, ratios)


def check_missed(weights: Sequence[Decimal], group_size: int) -> None:
    """Raise NotImplementedError if a batch hardly ever misses a whole group.

    Parameters: `weights`, as above; `group_size`, for the message. The
    first weight limits the losses of add, and of an exchange.

    >>> check_missed(binomial_weights(2, 0.5), 2)
    """
    if weights[0] < Decimal("1e-300"):
        raise NotImplementedError(
            f"group_size={group_size}: the chance that nobody of the group "
            "is in a batch is below 1e-300; a full batch is an upper bound"
        )


@front_door
def binomial_sensitivity(
    group_size: int, *, rate: float
) -> tuple[Floats, Floats]:
    r"""By how much a group can move the sum over a Poisson sample.

    Formula: $c_j = j$ with probability $\binom{k}{j} \gamma^j (1 -
    \gamma)^{k-j}$.

    Parameters: `group_size` (k, a whole number from 1 to 1e4); `rate`
    ($\gamma$ in [0, 1]).
    Returns: sensitivities 0, ..., k in clipping norms, and their
    probabilities, two arrays.
    Raises: ValueError for values outside these ranges.
    Error: the probabilities are rounded once.
    Source: Ganesh (2024), Theorem 3.1.

    >>> binomial_sensitivity(2, rate=0.5)[1]
    array([0.25, 0.5 , 0.25])
    """
    size = check_count("group_size", group_size, high=1e4)
    rate = check_number("rate", rate, 0, 1)
    j = np.arange(size + 1.0)
    if rate in (0, 1):
        return j, np.where(j == rate * size, 1.0, 0.0)
    return j, np.array([float(x) for x in binomial_weights(size, rate)])


@front_door
def hypergeometric_sensitivity(
    group_size: int, *, batch_size: int, dataset_size: int
) -> tuple[Floats, Floats]:
    r"""By how much a group can move the sum over a batch of fixed size.

    Formula: $c_j = 2 j$ with probability $\binom{k}{j} \binom{n-k}{b-j} /
    \binom{n}{b}$.

    Parameters: `group_size` (k, a whole number from 1 to 1e4);
    `dataset_size` (n) of the larger neighbour, group included;
    `batch_size` (b from 1 to n - k), so that the smaller one fills it.
    Returns: sensitivities 0, 2, ..., 2 min(k, b) in clipping norms, and
    their probabilities, two arrays.
    Raises: ValueError for values outside these ranges.
    Error: the probabilities are rounded once.
    Source: Ganesh (2024), Theorem 3.3.

    >>> hypergeometric_sensitivity(1, batch_size=1, dataset_size=4)
    (array([0., 2.]), array([0.75, 0.25]))
    """
    size = check_count("group_size", group_size, high=1e4)
    batch = check_count("batch_size", batch_size)
    records = check_count("dataset_size", dataset_size)
    if batch > records - size:
        raise ValueError(
            "batch_size must lie in [1, dataset_size - group_size = "
            f"{records - size}], got {batch_size!r}"
        )
    weights = hypergeometric_weights(size, batch, records)
    sizes = 2.0 * np.arange(len(weights))
    return sizes, np.array([float(x) for x in weights])
