# Generated from notebooks/beyond/repetitions.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""How often may one try?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $K$, $m$ | –, `mean` | number of runs, random; its mean |
| $f(z)$ | – | generating function of $K$, $E[z^K]$ |
| $\nu$, $g$ | `shape`, `stop` | parameters of the truncated negative binomial distribution: $\nu > -1$, $0 < g < 1$; papers write $\eta$ and $\gamma$ |
| $w$ | `_odds` | $(1 - g)/g$ |
| $r$, $s$ | `better` | rank of an output, from 0 (worst) to 1, if it is drawn from $P$; $s = 1 - r$ |
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from accountlib.checks import Floats, check, check_fields

__all__ = [
    "LARGEST_SHARE",
    "TruncatedNegativeBinomial",
    "PoissonRepetitions",
    "Repetitions",
    "best_law",
]

# --- A family that can be computed

LARGEST_SHARE = 0.999  # nearer to 1 the inverse of eq. (bst-tail) cancels


@dataclass(frozen=True)
class TruncatedNegativeBinomial:
    r"""How often a run is repeated: at least once, with a random number.

    Formula: $E[z^K] = \frac{(1-(1-g)z)^{-\nu}-1}{g^{-\nu}-1}$; for
    $\nu = 0$ it is $\ln(1-(1-g)z)/\ln g$, and $\nu = 1$ is geometric.

    Parameters: `shape` ($\nu$, 0 or from 1e-9 to 100, or negative, at most
    -1e-9 and at least -0.999); `stop` (g in [1e-12, 0.999999]).
    Raises: ValueError for values outside these ranges.
    Source: Papernot and Steinke (2022), Definition 1.

    >>> round(TruncatedNegativeBinomial(1.0, 0.1).mean, 12)
    10.0
    """

    shape: float
    stop: float

    def __post_init__(self) -> None:
        check_fields(self, shape=(-0.999, 100), stop=(1e-12, 0.999999))
        if self.shape:
            check("abs(shape)", abs(self.shape), 1e-9, 100)

    @classmethod
    def of_mean(
        cls, mean: float, *, shape: float
    ) -> "TruncatedNegativeBinomial":
        """The law with this shape and mean, 1.001 to 1e6, up to rounding."""
        check("mean", mean, 1.001, 1e6)
        low, high = math.log(1e-12), math.log(0.999999)
        if cls(shape, math.exp(low)).mean < mean:
            raise ValueError(f"no stop >= 1e-12 has the mean {mean!r}")

        def excess(log_stop: float) -> float:
            return math.log(cls(shape, math.exp(log_stop)).mean / mean)

        return cls(shape, math.exp(brentq(excess, low, high, xtol=1e-14)))

    @property
    def _odds(self) -> float:
        return (1 - self.stop) / self.stop

    def _scaled(self, log: Floats) -> Floats:
        """1 - e^(-shape log), relative to its value at log(1/stop)."""
        whole = -math.log(self.stop)
        if self.shape == 0:
            return log / whole
        scaled = np.expm1(-self.shape * log)
        return np.asarray(scaled / math.expm1(-self.shape * whole))

    @property
    def mean(self) -> float:
        """The mean number of runs."""
        logs = math.log(self.stop)
        if self.shape == 0:
            return self._odds / -logs
        return self._odds * self.shape / -math.expm1(self.shape * logs)

    def caught(self, better: Floats, width: Floats) -> Floats:
        """Chance that the best rank is in an interval: eq. (bst-tail)."""
        before = 1 + self._odds * better
        log = np.log1p(self._odds * width / before)
        return np.asarray(self._scaled(log) * before**-self.shape)

    def share(self, chance: float) -> float:
        """The best part of all outputs that has this chance of the best."""
        check("chance", chance, 0, LARGEST_SHARE)
        whole = -math.log(self.stop)
        log = chance * whole
        if self.shape != 0:
            size = chance * math.expm1(-self.shape * whole)
            log = -math.log1p(size) / self.shape
        return min(1.0, math.expm1(log) / self._odds)

    def cost(self, at: Floats, missing: Floats) -> Floats:
        """Logarithm of C: eq. (bst-ratio)."""
        larger = np.maximum(at, np.log1p(self._odds * missing))
        return np.asarray((1 + self.shape) * larger)


@dataclass(frozen=True)
class PoissonRepetitions:
    r"""How often a run is repeated: a Poisson number of times, maybe never.

    Formula: $E[z^K] = e^{m (z - 1)}$; for $K = 0$ a fixed symbol is
    published.

    Parameters: `mean` (m in [1e-6, 1e6]).
    Raises: ValueError for values outside this range.
    Source: Papernot and Steinke (2022), Theorem 6.

    >>> round(PoissonRepetitions(10.0).share(0.5), 12)  # ln(2)/10
    0.069314718056
    """

    mean: float

    def __post_init__(self) -> None:
        check_fields(self, mean=(1e-6, 1e6))

    def caught(self, better: Floats, width: Floats) -> Floats:
        """Chance that the best rank is in an interval."""
        reached = np.exp(-self.mean * better)
        return np.asarray(-np.expm1(-self.mean * width) * reached)

    def share(self, chance: float) -> float:
        """The best part of all outputs that has this chance of the best."""
        check("chance", chance, 0, LARGEST_SHARE)
        return min(1.0, -math.log1p(-chance) / self.mean)

    def cost(self, at: Floats, missing: Floats) -> Floats:
        """Logarithm of C: eq. (bst-ratio)."""
        within = -np.expm1(-at) + missing * np.exp(-at)
        return np.asarray(self.mean * within)


Repetitions = TruncatedNegativeBinomial | PoissonRepetitions


def best_law(law: ArrayLike, *, repetitions: Repetitions) -> Floats:
    r"""Law of the best of several runs, for outputs from best to worst.

    Formula: $A(y) = f(P(\le y)) - f(P(< y))$.

    Parameters: `law`, probabilities of the outputs of one run, the best
    one first; along the last axis, if it has several; `repetitions`.
    Returns: an array of the same shape. Without the chance that there is
    no run it sums to 1.
    Raises: ValueError for negative numbers and sums above 1.
    Error: relative error below n 1e-15 (1 + shape), n outputs.

    >>> geometric = TruncatedNegativeBinomial(1.0, 0.1)
    >>> best_law([0.25, 0.25, 0.5], repetitions=geometric) * 143
    array([110.,  20.,  13.])
    """
    width = np.atleast_1d(check("law", law, 0, 1))
    after = np.cumsum(width, axis=-1)
    check("sum of law", after, 0, 1 + 1e-6)
    before = np.zeros_like(width)
    before[..., 1:] = after[..., :-1]
    return repetitions.caught(before, width)
