# Generated from notebooks/beyond/audits.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Measured against an attack

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $x$, $y$ | – | false-positive and false-negative rate of the attack |
| $u_x$, $u_y$ | `rates` | upper ends of both, from counts |
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

from accountlib.checks import check, check_fields
from accountlib.tradeoff import TradeoffCurve

__all__ = [
    "SIGNIFICANCE",
    "rate_above",
    "AttackCounts",
    "check_lower",
    "largest_rejected",
    "gaussian_least",
    "OneRun",
    "published_p_value",
]

# --- Counts become lower ends

SIGNIFICANCE = (1e-15, 0.9999)  # what is served


def rate_above(count: int, trials: int, significance: float) -> float:
    r"""Upper end of a rate, from a count of independent trials.

    Formula: $u$ with $\Pr[\mathrm{Bin}(n, u) \le k] = \beta$.

    Parameters: `count` (k in 0 to n); `trials` (n >= 1); `significance`
    ($\beta$ in [1e-15, 0.9999]).
    Returns: a number that is below the rate with probability at most
    beta: statistical, not certified.
    Error: rounded up, by 1e-12; inverse functions are off by some 1e-14.
    Raises: ValueError for impossible counts and values out of range.
    Source: Clopper and Pearson (1934).

    >>> round(rate_above(10, 1000, 0.025), 9)
    0.018313243
    """
    trials = check("trials", trials, 1, 1e15, whole=True)
    count = check("count", count, 0, trials, whole=True)
    check("significance", significance, *SIGNIFICANCE)
    if count == trials:
        return 1.0
    # of the trials without an error, from below
    free = float(betaincinv(trials - count, count + 1, significance))
    return min(1.0, (1 - free) * (1 + 1e-12) + 1e-16)


@dataclass(frozen=True)
class AttackCounts:
    r"""Errors of an attack in independent runs with and without a record.

    Formula: eq. (aud-counts).

    Parameters: `without`, `false_positives`: runs without the record, and
    how often it was accused; `members`, `false_negatives`: runs with it,
    and how often it was missed. Attack and threshold must be fixed before
    these runs, for instance by other runs.
    Returns: `epsilon` and `mu` are lower ends for add-or-remove that are
    too high with probability at most `significance` (in [1e-15, 0.9999]);
    `refutes` says whether a claimed curve is broken, and is wrong with
    that probability at most. Statistical, not certified.
    A curve for one direction is broken only if it is so both ways round.
    Raises: ValueError for impossible counts and values out of range.
    Source: eq. (aud-counts); Clopper and Pearson (1934).

    >>> counts = AttackCounts(1000, 10, 1000, 300)
    >>> round(counts.epsilon(delta=1e-5), 6), round(counts.mu(), 6)
    (3.600441, 2.531303)
    """

    without: int
    false_positives: int
    members: int
    false_negatives: int

    def __post_init__(self) -> None:
        check_fields(self, without=(1, 1e15, True), members=(1, 1e15, True))
        check_fields(self, false_positives=(0, self.without, True))
        check_fields(self, false_negatives=(0, self.members, True))

    def rates(self, significance: float = 0.05) -> tuple[float, float]:
        """Upper ends of both error rates, with half the significance each."""
        half = check("significance", significance, *SIGNIFICANCE) / 2
        return (
            rate_above(self.false_positives, self.without, half),
            rate_above(self.false_negatives, self.members, half),
        )

    def epsilon(self, *, delta: float, significance: float = 0.05) -> float:
        """Lower end of epsilon at this delta (in [0, 1])."""
        delta = check("delta", delta, 0, 1)
        x, y = self.rates(significance)
        ratio = max((1 - delta - y) / x, (1 - delta - x) / y)
        return math.log(ratio) * (1 - 1e-12) if ratio > 1 else 0.0

    def mu(self, *, significance: float = 0.05) -> float:
        """Lower end of mu of Gaussian DP."""
        x, y = self.rates(significance)
        return max(0.0, float(-ndtri(x) - ndtri(y)) - 1e-12)

    def refutes(
        self, curve: TradeoffCurve, *, significance: float = 0.05
    ) -> bool:
        """Whether both upper ends lie below a claimed lower curve."""
        check_lower(curve)
        x, y = self.rates(significance)
        return bool(y < curve(x) and x < curve(y))


def check_lower(curve: TradeoffCurve) -> None:
    """Raise ValueError unless a curve is a promise: a lower bound."""
    if curve.bound != "lower":
        raise ValueError(f"curve must be a lower bound, got {curve.bound!r}")


# --- One run


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
        """Most probability of so many correct guesses: eq. (aud-levels)."""
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
        found = float(tail + more) if delta else float(tail)
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


def published_p_value(run: OneRun, epsilon: float, *, delta: float) -> float:
    r"""The correction of Steinke, Nasr and Jagielski, as in their code.

    Formula: $N(v) + 2 m \delta \max_{i \le v} \Pr[v > \check W \ge v - i]/i$.

    Parameters: as for `OneRun.p_value`.
    Returns: a number above `OneRun.p_value` where N(v) is at most 1/2;
    above that it can be too small, see the page.
    Source: Steinke, Nasr and Jagielski (2023), Appendix D.

    >>> run = OneRun(1000, 100, 90)
    >>> round(1e4 * published_p_value(run, 1.0, delta=1e-5), 8)
    8.41288561
    """
    run.p_value(epsilon, delta=delta)  # refuses what is out of range
    if run.correct == 0:
        return 1.0
    s = np.exp(log_expit(epsilon))
    below = np.arange(run.correct - 1, -1, -1)
    tail = float(betainc(run.correct, run.guesses - run.correct + 1, s))
    wide = betainc(np.maximum(below, 1), run.guesses - below + 1, s)
    wide = np.where(below == 0, 1.0, wide) - tail
    more = float(np.max(wide / np.arange(1, run.correct + 1)))
    return min(1.0, tail + 2 * run.canaries * delta * more)
