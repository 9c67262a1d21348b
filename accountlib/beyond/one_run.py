# Generated from notebooks/beyond/one_run.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What does one run with many canaries show?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\beta$ | `significance` | chance that a lower end is too high, in $(0, 1)$ |
| $m$, $r$, $v$ | `canaries`, `guesses`, `correct` | canaries of one run, guesses, correct guesses |
| $W$, $\check W$ | – | number of correct guesses; a binomial number with $r$ trials |
| $s$ | – | $e^\varepsilon/(1 + e^\varepsilon)$, chance of a correct guess under pure DP |
| $w(k)$, $N(k)$ | – | $\Pr[\check W = k]$ and $\Pr[\check W \ge k]$ |
| $f$, $F$ | `curve`, – | a trade-off function; $F(r) = f(1 - r)$ |
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import (
    betainc,
    betaincc,
    betaincinv,
    betaln,
    log_expit,
    logit,
    ndtr,
    ndtri,
)

from accountlib.beyond.audits import SIGNIFICANCE, check_lower
from accountlib.checks import check, check_fields
from accountlib.tradeoff import TradeoffCurve

__all__ = ["largest_rejected", "gaussian_least", "OneRun"]

# --- Level by level


def largest_rejected(
    p_value: Callable[[float], float], top: float, significance: float
) -> float:
    """The largest value in [0, top] that a search finds to be rejected.

    Parameters: `p_value`, a function; `top`, where to begin.
    Returns: a value at which p_value is below the significance, or 0.

    >>> round(largest_rejected(lambda x: x, 4.0, 0.05), 9)
    0.05
    """

    def rejected(x: float) -> bool:
        return p_value(x) < significance * (1 - 1e-10)

    grid = [top * k / 256 for k in range(256, -1, -1)]
    low = next((x for x in grid if rejected(x)), -1.0)
    high = low + top / 256
    for _ in range(60 if low >= 0 else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if rejected(middle) else (low, middle)
    return max(0.0, low)


def gaussian_least(p: float, mu: float) -> float:
    r"""Least probability of an event without a record: $F$ of $f_\mu$.

    >>> round(gaussian_least(0.5, 1.0), 4)
    0.1587
    """
    return float(ndtr(ndtri(p) - mu))


@dataclass(frozen=True)
class OneRun:
    r"""Guesses about many canaries of one run.

    Formula: eq. (aud-levels) for epsilon, thm-aud-curve for curves.

    Parameters: `canaries` (m >= 1), each in or out by a fair coin of its
    own; `guesses` (r in 1 to m, at most 1e6), fixed before the run;
    `correct` (v in 0 to r).
    Returns: `epsilon` and `mu` are lower ends for add-or-remove that are
    too high with probability at most `significance` (in [1e-15, 0.9999]): mu
    only if the run has a Gaussian curve. `refutes` is wrong with that
    probability at most. Statistical, not certified.
    Raises: ValueError for impossible counts and values out of range.
    Source: thm-aud-levels, after Steinke, Nasr and Jagielski (2023);
    Mahloujifar, Melis and Chaudhuri (2024) for curves.

    >>> run = OneRun(1000, 100, 80)
    >>> round(run.epsilon(delta=0.0), 6), round(run.mu(), 6)
    (0.958392, 0.364326)
    """

    canaries: int
    guesses: int
    correct: int

    def __post_init__(self) -> None:
        check_fields(self, canaries=(1, 1e12, True))
        check_fields(self, guesses=(1, min(self.canaries, 1e6), True))
        check_fields(self, correct=(0, self.guesses, True))

    def p_value(self, epsilon: float, *, delta: float) -> float:
        """Most probability of so many correct guesses: eq. (aud-levels).

        Never below 1e-290, and 1 where delta > 0 and the tail is below that.
        """
        epsilon = check("epsilon", epsilon, 0, 1000)
        delta = check("delta", delta, 0, 1)
        v, wrong = self.correct, self.guesses - self.correct
        if v == 0:
            return 1.0
        up, down = log_expit(epsilon), log_expit(-epsilon)
        tail = betainc(v, wrong + 1, np.exp(up))
        rest = betaincc(v, wrong + 1, np.exp(up))
        with np.errstate(all="ignore"):
            edge = np.exp(v * up + wrong * down - betaln(v, wrong + 1))
            # A tail below this has lost digits: nothing known, nan.
            share = np.where(tail > 1e-290, tail, np.nan) * 2.0**900
            more = self.canaries * delta * share * rest / (edge * 2.0**900)
        found = float(tail + more) if delta else max(float(tail), 1e-290)
        return min(1.0, found) if found >= 0 else 1.0  # nan: nothing known

    def top(self, significance: float) -> float:
        """Epsilon at which the binomial tail alone is the significance."""
        check("significance", significance, *SIGNIFICANCE)
        v, wrong = self.correct, self.guesses - self.correct
        if v == 0:
            return 0.0
        end = float(logit(betaincinv(v, wrong + 1, significance)))
        return min(max(0.0, end), 40.0)

    def epsilon(self, *, delta: float, significance: float = 0.05) -> float:
        """Lower end of epsilon at this delta."""
        return largest_rejected(
            lambda x: self.p_value(x, delta=delta),
            self.top(significance),
            significance,
        )

    def least_total(
        self, curve: Callable[[float], float], significance: float
    ) -> float:
        """Where the recursion of thm-aud-curve ends; the truth is 1."""
        check("significance", significance, *SIGNIFICANCE)
        r, v = self.guesses, self.correct
        p = significance * v / self.canaries
        h = significance * (r - v) / self.canaries
        for i in range(v - 1, -1, -1):
            more = max(h, curve(p))
            p, h = min(1.0, p + i / (r - i) * (more - h)), more
        return (p + h) * self.canaries / r / (1 + 1e-13 * (v + 1))

    def mu(self, *, significance: float = 0.05) -> float:
        """Lower end of mu, for a run with the curve of Gaussian DP."""
        low, high = 0.0, 40.0
        for _ in range(60):
            middle = (low + high) / 2
            curve = partial(gaussian_least, mu=middle)
            total = self.least_total(curve, significance)
            low, high = (middle, high) if total > 1 else (low, middle)
        return low

    def refutes(
        self, curve: TradeoffCurve, *, significance: float = 0.05
    ) -> bool:
        """Whether a claimed curve for add-or-remove is refuted."""
        check_lower(curve)
        x = np.geomspace(1e-9, 0.6, 99)
        gap = np.abs(curve(curve(x)) - x)  # 1e-10: roundings near 1
        if np.any((curve(x) > 0) & (gap > 1e-6 * x + 1e-10)):
            raise ValueError("curve must be symmetric, as for add-or-remove")

        def least(p: float) -> float:
            return float(curve(min(1.0, math.nextafter(1 - p, 2.0))))

        return self.least_total(least, significance) > 1
