# Generated from notebooks/beyond/event_pairs.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Is a number the worst vector?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\sigma_i$, $n_i$ | `gaussians` | noise multipliers of sums of one sample, and how often each occurs |
| $s$ | `scale` | scale of Laplace noise, in units of a record's 1-norm |
| $a$, $k$ | `noise_parameter`, `sensitivity` | parameter of discrete Laplace noise; a whole shift |
| $p$, $m$ | `noise`, `buckets` | chance of a random answer; number of possible answers |
| $g_a$ | – | privacy profile of Laplace noise for a shift of $a$ scales |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from accountlib.checks import UNIT, check
from accountlib.dominating_pairs import (
    NOTHING_REVEALED,
    DominatingPair,
    Outcomes,
)
from accountlib.mechanisms import Gaussian, Mechanism

__all__ = ["PairsOnly", "response_pairs", "gaussians_together"]

# --- Noise on a vector


@dataclass(frozen=True)
class PairsOnly(Mechanism):
    """A mechanism of which two dominating pairs are known, and no more.

    Parameters: `pair`, for one record that is removed (with it, without
    it) or counts for nothing; `exchange`, a symmetric pair for one record
    that is exchanged. No group and no exchange under Poisson sampling has
    an answer.
    Error: that of the pairs.

    >>> from accountlib.mechanisms import Laplace
    >>> noise = Laplace(2.0)
    >>> only = PairsOnly(noise.removed(1), noise.exchanged(1))
    >>> only.removed(1) == noise.removed(1)
    True
    """

    pair: DominatingPair
    exchange: DominatingPair

    def removed(self, size: int) -> DominatingPair:
        return self.pair if size == 1 else super().removed(size)

    def exchanged(self, size: int) -> DominatingPair:
        return self.exchange if size == 1 else super().exchanged(size)

    def moved(
        self, shifts: Sequence[float], log_weights: Sequence[float]
    ) -> DominatingPair:
        raise NotImplementedError(
            "adjacency='substitute' with a Poisson sample: the record, "
            "another one and none are three distributions, and of "
            f"{self!r} only pairs are known"
        )


# --- One answer out of m


def response_pairs(noise: float, buckets: int) -> PairsOnly:
    r"""The pairs of randomized response over m answers.

    Formula: truth with probability $1 - p + p/m$, each other answer with
    $p/m$; a record that counts for nothing answers uniformly.

    Parameters: `noise` (p in [1e-280, 1]); `buckets` (m from 1 to 1e9).
    Returns: a PairsOnly; `removed` is a record against a uniform answer.
    Raises: ValueError for values outside these ranges.
    Error: none, up to rounding.
    Source: Warner (1965); proposition "Answers out of m".

    >>> round(response_pairs(0.5, 4).pair.rows[-1][0], 6)
    0.916291
    """
    p = check("noise_parameter", noise, 1e-280, 1)
    m = check("num_buckets", buckets, 1, 1e9, whole=True)
    if m == 1:
        return PairsOnly(NOTHING_REVEALED, NOTHING_REVEALED)
    truth, lie = math.log((1 - p) + p / m), math.log(p / m)
    gap = math.log1p(m * (1 - p) / p)
    more, less = math.log1p((m - 1) * (1 - p)), math.log(p)
    others, wide = math.log1p(-1 / m), 16 * UNIT
    two = [(-gap, wide * gap, lie, truth), (gap, wide * gap, truth, lie)]
    if m > 2:
        rest = math.log((m - 2) / m) + less
        two.insert(1, (0.0, 0.0, rest, rest))
    one = (
        (less, -wide * less, others + less, others),
        (more, wide * more, truth, -math.log(m)),
    )
    return PairsOnly(Outcomes(one), Outcomes(tuple(two)))


# --- One sample, used several times


def gaussians_together(gaussians: Sequence[tuple[Gaussian, int]]) -> Mechanism:
    r"""Gaussian sums of one sample as one mechanism.

    Formula: $\mu^2 = \sum_i n_i/\sigma_i^2$, four times that for an
    exchange.

    Parameters: `gaussians`, mechanisms and counts ($n_i \ge 1$).
    Returns: the one Gaussian, or a PairsOnly.
    Raises: ValueError for a joint noise multiplier outside [0.005, 1e6].
    Source: proposition "Sums of one sample"; Dong, Roth and Su (2022),
    Corollary 3.3.

    >>> both = gaussians_together([(Gaussian(3.0), 1), (Gaussian(4.0), 1)])
    >>> both.removed(1) == Gaussian(2.4).removed(1)
    True
    """
    if len(gaussians) == 1 and gaussians[0][1] == 1:
        return gaussians[0][0]
    inverse = math.fsum(n / x.noise_multiplier**2 for x, n in gaussians)
    one = Gaussian(1 / math.sqrt(inverse))
    return PairsOnly(one.removed(1), one.exchanged(1))
