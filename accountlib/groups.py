# Generated from notebooks/groups.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Eight people of one family?"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from accountlib.cells import log_rate_of
from accountlib.checks import UNIT, Floats, check
from accountlib.sampling import binomial_shifts, hypergeometric_shifts

__all__ = [
    "group_epsilon_vadhan",
    "with_none",
    "binomial_sensitivity",
    "hypergeometric_sensitivity",
]

# --- The old rule


def group_epsilon_vadhan(
    group_size: int,
    *,
    log_delta: Callable[[float], float],
    delta: float,
    rule: str = "sum",
) -> float:
    r"""Epsilon for a group from the privacy profile of one record.

    Formula: k times an $\varepsilon$, nearly the smallest, with $\log\delta(
    \varepsilon) + \log f(\varepsilon) \le \log\delta$, where f is
    $\frac{e^{k\varepsilon} - 1}{e^\varepsilon - 1}$ ("sum") or
    $k e^{k\varepsilon}$ ("vadhan").

    Parameters: `group_size` (k, a whole number from 1 to 1000);
    `log_delta`, a function that gives an upper bound of the logarithm of
    the delta of one record at an epsilon >= 0; `delta` ($\delta$ in
    [1e-200, 1]) for the group; `rule`, "sum" or "vadhan".
    Returns: an upper bound of epsilon for the group; inf if there is no
    such epsilon up to 1e9.
    Raises: ValueError for values outside these ranges.
    Error: the search ends within 1e-12, relatively, above a solution.
    Source: Vadhan (2017), Lemma 2.2; eq. (grp-vadhan).

    >>> curve = lambda e: -e * e / 2  # a Gaussian tail
    >>> round(group_epsilon_vadhan(1, log_delta=curve, delta=1e-6), 6)
    5.256522
    """
    size: int = check("group_size", group_size, 1, 1000, whole=True)
    goal = math.log(check("delta", delta, 1e-200, 1))
    if rule not in ("sum", "vadhan"):
        raise ValueError(f"rule must be 'sum' or 'vadhan', got {rule!r}")

    def fits(epsilon: float) -> bool:
        factor = math.log(size) + size * epsilon
        if rule == "sum" and epsilon > 0:
            powers = math.expm1(-size * epsilon) / math.expm1(-epsilon)
            factor = (size - 1) * epsilon + math.log(powers)
        found = check("log_delta(epsilon)", log_delta(epsilon), -math.inf, 0)
        wide = 8 * UNIT * (1 + math.log(size) + size * epsilon - goal)
        return bool(found + factor + wide <= goal)

    if fits(0.0):
        return 0.0
    low, high = 0.0, 1e-6
    while not fits(high):
        low, high = high, 1.25 * high
        if high > 1e9:
            return math.inf
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return size * high * (1 + 2 * UNIT)


# --- The weights


def with_none(log_miss: float, logs: Sequence[float]) -> Floats:
    """Probabilities of 0, 1, ... members, from those given at least one.

    >>> with_none(math.log(0.5), (0.0,)).round(15).tolist()
    [0.5, 0.5]
    """
    given_some = np.array(logs) + log_rate_of(log_miss)
    return np.asarray(np.exp(np.append(log_miss, given_some)))


def binomial_sensitivity(
    group_size: int, *, rate: float
) -> tuple[Floats, Floats]:
    r"""By how much a group can move the sum over a Poisson sample.

    Formula: $c_j = j$ with probability $\binom{k}{j} \gamma^j (1 -
    \gamma)^{k-j}$.

    Parameters: `group_size` (k, a whole number from 1 to 1000); `rate`
    ($\gamma$ in [0, 1]).
    Returns: sensitivities 0, ..., k in clipping norms, and their
    probabilities, two arrays for `MixtureOfGaussians`.
    Raises: ValueError for values outside these ranges.
    Error: relative error of the probabilities below 1e-12 for k up to 100.
    Source: Ganesh (2024), Theorem 3.1.

    >>> binomial_sensitivity(2, rate=0.5)[1].round(12)
    array([0.25, 0.5 , 0.25])
    """
    size = check("group_size", group_size, 1, 1000, whole=True)
    rate = check("rate", rate, 0, 1)
    j = np.arange(size + 1.0)
    if rate in (0, 1):
        return j, np.where(j == rate * size, 1.0, 0.0)
    log_miss, _, logs = binomial_shifts(size, rate)
    return j, with_none(log_miss, logs)


def hypergeometric_sensitivity(
    group_size: int, *, batch_size: int, dataset_size: int
) -> tuple[Floats, Floats]:
    r"""By how much a group can move the sum over a batch of fixed size.

    Formula: $c_j = 2 j$ with probability $\binom{k}{j} \binom{n-k}{b-j} /
    \binom{n}{b}$.

    Parameters: `group_size` (k, a whole number from 1 to 1000);
    `dataset_size` (n, up to 1e9) of the larger neighbour, with the group;
    `batch_size` (b from 1 to n - k), so that the smaller one fills it.
    Returns: sensitivities 0, 2, ..., 2 min(k, b) in clipping norms, and
    their probabilities, two arrays for `MixtureOfGaussians`.
    Raises: ValueError for values outside these ranges.
    Error: relative error of the probabilities below 1e-12 for k up to 100.
    Source: Ganesh (2024), Theorem 3.3.

    >>> hypergeometric_sensitivity(1, batch_size=1, dataset_size=4)[1].round(9)
    array([0.75, 0.25])
    """
    size = check("group_size", group_size, 1, 1000, whole=True)
    records = check("dataset_size", dataset_size, size + 1, 1e9, whole=True)
    batch = check("batch_size", batch_size, 1, records - size, whole=True)
    log_miss, shifts, logs = hypergeometric_shifts(size, batch, records)
    sizes = np.arange(0.0, 2.0 * len(shifts) + 1, 2.0)
    return sizes, with_none(log_miss, logs)
