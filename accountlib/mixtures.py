# Generated from notebooks/mixtures.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What does a random sensitivity reveal?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from accountlib.checks import check_fields, check_list, check_probabilities
from accountlib.dominating_pairs import (
    NOTHING_REVEALED,
    DominatingPair,
    ShiftedNoise,
    Subsampled,
)
from accountlib.mechanisms import Mechanism
from accountlib.noise import NormalNoise

__all__ = ["MixtureOfGaussians"]

# --- The pair


@dataclass(frozen=True)
class MixtureOfGaussians(Mechanism):
    r"""Normal noise on a sum to which a record adds a random amount.

    Formula: $P = \sum_j w_j N(c_j, \sigma^2)$, $Q = N(0, \sigma^2)$.

    Parameters: `sensitivities` ($c_j$ in [0, 1e6]), in clipping norms;
    `probabilities` ($w_j$, with sum 1 up to 1e-12); `noise_multiplier`
    ($\sigma$ up to 1e6), at least 0.005 and 0.005 times the largest $c_j$.
    "zero-out" means that the record then adds nothing and all else keeps its
    distribution; it is not so for draws with replacement.
    Raises: ValueError for other values; NotImplementedError for groups.
    Error: that of the cells, for removal and its reverse.
    Source: Choquette-Choo et al. (2023), Section 3.

    >>> MixtureOfGaussians([0, 1], [0.5, 0.5], 2).removed(1).pair.shifts
    (0.5,)
    """

    sensitivities: Sequence[float]
    probabilities: Sequence[float]
    noise_multiplier: float

    def __post_init__(self) -> None:
        sizes = check_list("sensitivities", self.sensitivities, 1e6)
        chances = check_probabilities("probabilities", self.probabilities)
        if len(sizes) != len(chances):
            raise ValueError(f"lists must have the same length, got {self}")
        object.__setattr__(self, "sensitivities", sizes)
        object.__setattr__(self, "probabilities", chances)
        check_fields(self, noise_multiplier=(0.005 * max(1.0, *sizes), 1e6))

    def removed(self, size: int) -> DominatingPair:
        if size > 1:
            return super().removed(size)
        shares: dict[float, list[float]] = {}
        for shift, weight in zip(
            self.sensitivities, self.probabilities, strict=True
        ):
            shares.setdefault(shift, []).append(weight)
        weights = {c: math.fsum(w) for c, w in shares.items()}
        stay = weights.pop(0.0, 0.0)
        rows = sorted((c, w) for c, w in weights.items() if w > 0)
        if not rows:
            return NOTHING_REVEALED
        rate = math.fsum(w for _, w in rows)
        moves = tuple(c / self.noise_multiplier for c, _ in rows)
        logs = tuple(math.log(w / rate) for _, w in rows)
        pair = ShiftedNoise(NormalNoise(), moves, logs)
        if stay == 0:
            return pair
        rate, stay = rate / (rate + stay), stay / (rate + stay)
        miss = math.log(stay) if stay < 0.5 else math.log1p(-rate)
        return Subsampled(pair, miss)
