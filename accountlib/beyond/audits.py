# Generated from notebooks/beyond/audits.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Does the code do what the accountant was told?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $x$, $y$ | – | false-positive and false-negative rate of the attack |
| $u_x$, $u_y$ | `rates` | upper ends of both, from counts |
| $\beta$ | `significance` | chance that a lower end is too high, in $(0, 1)$ |
| $f$ | `curve` | a trade-off function |
"""

import math
from dataclasses import dataclass

from scipy.special import betaincinv, ndtri

from accountlib.checks import check, check_fields
from accountlib.tradeoff import TradeoffCurve

__all__ = ["SIGNIFICANCE", "rate_above", "AttackCounts", "check_lower"]

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
