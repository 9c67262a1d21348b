# Generated from notebooks/worst_cases/sampling.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""A record that takes part by chance

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $D$, $D'$ | – | neighbouring data sets, lists of records |
| $P$, $Q$ | `base` | output distributions with the record and without it, before sampling |
| $\gamma$ | `rate` | chance that a record takes part, in $[0, 1]$; $b/n$ for a fixed batch |
| $n$, $b$ | – | records in the larger neighbour; records in a fixed batch |
| $P_\gamma$ | – | $(1 - \gamma) Q + \gamma P$: output with the record, after sampling |
| $\alpha$, $\alpha'$ | – | $e^{\varepsilon}$ after sampling, and what it asks of the pair without sampling |
| $\ell$, $\ell'$ | `loss` | a privacy loss, before and after sampling |
| $t$ | – | how far $\ell'$ lies above the lowest loss, $\ell' - \log(1 - \gamma)$ |
| $\sigma$, $s$ | – | noise, relative to the largest contribution of a record, $> 0$ |
| $\mu$ | `mu` | distance of the means in standard deviations of the noise |
"""

import math
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from accountlib.inputs import Floats, check_kind, check_number
from accountlib.worst_cases.dominating_pairs import (
    UNIT,
    Closed,
    DominatingPair,
    ExcessError,
    atom_masses,
)
from accountlib.worst_cases.noise import two_sum

__all__ = ["two_logarithms", "SampledPair"]

# --- Code: sampling


def two_logarithms(x: Fraction) -> tuple[float, float]:
    """The logarithm of a fraction in (0, 1), as a sum of two floats.

    Parameters: `x`, the exact number.
    Returns: a float and what its rounding took away.

    >>> two_logarithms(1 - Fraction(1, 2**100)) == (-(2.0**-100), -(2.0**-201))
    True
    """
    rest = 1 - x
    if rest < Fraction(1, 2**60):  # beyond these two terms: rest^3 / 3
        exact = -rest - rest * rest / 2
        high = float(exact)
        return high, float(exact - Fraction(high))
    with localcontext(Context(60, "ROUND_HALF_EVEN", -99999, 99999, traps=[])):
        logarithm = (Decimal(x.numerator) / Decimal(x.denominator)).ln()
        high = float(logarithm)
        return high, float(logarithm - Decimal(high))


@dataclass(frozen=True)
class SampledPair(DominatingPair):
    r"""A pair after sampling: the record takes part with chance `rate`.

    Formula: $((1-\gamma) Q + \gamma P,\; Q)$, whose loss is
    $\ln(1 - \gamma + \gamma e^L)$, never below $\ln(1-\gamma)$.

    Parameters: `base`, the pair (P, Q) without sampling; `rate`
    ($\gamma$ in (0, 1)); `missed` ($1 - \gamma$), where the rate is so near
    to 1 that it has lost the digits of $1 - \gamma$ (then rate may be 1);
    `exact`, the rate as a fraction, where the float is only near to it.
    Raises: ValueError for values outside these ranges.
    Error: rounding only. Masses: `mass_error`; deltas: relative error below
    1e-11 plus an absolute 3e-16; other bases bring their own.
    Source: Zhu, Dong and Wang (2022), Theorem 11 (Theorem 10 of Lebeda
    et al. 2024).

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> SampledPair(GaussianPair(1.0), 0.5).loss_range
    (-0.6931471805599453, inf)
    """

    base: DominatingPair
    rate: float
    missed: float | None = None
    exact: Fraction | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_kind("base", self.base, DominatingPair)
        exact, missed = self.exact, self.missed
        plain = exact is None and missed is None
        check_number("rate", self.rate, 0, 1, "()" if plain else "(]")
        if exact is None:
            exact = Fraction(self.rate)
            if missed is not None and check_number("missed", missed, 0, 1):
                exact = exact if missed >= 0.5 else 1 - Fraction(missed)
        rest = float(1 - exact)
        gap = abs(self.rate - float(exact))
        gap += 0 if missed is None else abs(rest - missed)
        if not 0 < exact < 1 or gap > 4 * UNIT:
            raise ValueError(
                f"missed must be 1 - rate, in (0, 1), got {missed!r} and "
                f"rate {self.rate!r}"
            )
        object.__setattr__(self, "exact", exact)
        object.__setattr__(self, "missed", rest)

    def __repr__(self) -> str:
        text = f"SampledPair(base={self.base!r}, rate={self.rate!r}"
        known = self.missed == 1 - self.rate
        return text + (")" if known else f", missed={self.missed!r})")

    @property
    def reached(self) -> tuple[DominatingPair, ...]:
        if self.base.reached == (self.base,):
            return (self,)
        return tuple(replace(self, base=one) for one in self.base.reached)

    @cached_property
    def _logs(self) -> tuple[tuple[float, float], tuple[float, float]]:
        # ln(1 - rate) and ln(rate), each in two floats
        return two_logarithms(1 - self._exact), two_logarithms(self._exact)

    @property
    def _exact(self) -> Fraction:
        return Fraction(self.rate) if self.exact is None else self.exact

    @cached_property
    def _miss(self) -> float:
        return float(1 - self._exact)

    def _losses(self, base_losses: Any) -> Floats:
        """The sampled loss of each base loss."""
        base = np.asarray(base_losses, dtype=np.float64)
        (lowest, _), (log_rate, _) = self._logs
        with np.errstate(all="ignore"):
            far = np.logaddexp(lowest, log_rate + base)
            near = np.log1p(self.rate * np.expm1(np.minimum(base, 600)))
        return np.asarray(np.where((base > -1) & (base < 600), near, far))

    def _excess(self, loss: Floats) -> Floats:
        # loss - ln(1 - rate); relative accuracy also near the lowest loss
        high, low = self._logs[0]
        return np.asarray(np.maximum((loss - high) - low, 0))

    def _odds(self, loss: Floats) -> Floats:
        # (e^excess - 1)/rate, where the squares of small rates underflow
        if self.rate >= 2.0**-60:
            return np.asarray(np.expm1(self._excess(loss)) / self.rate)
        high = self._logs[0][0]
        rest = float((self._exact + Fraction(high)) / self._exact)
        odds = (loss - high) / self.rate + (rest + self.rate / 2)
        return np.asarray(np.maximum(odds, 0))

    def _base_widths(self, loss: Floats, widths: Floats) -> Floats:
        """Differences of base losses, from those of sampled losses."""
        below = -np.expm1(-self._excess(loss))
        short = np.log1p(np.expm1(np.minimum(widths, 1)) / below)
        rest = np.log1p(-(1 - below) * np.exp(-widths)) - np.log(below)
        return np.asarray(np.where(widths < 1, short, widths + rest))

    def _base_edges(self, loss: Floats) -> tuple[Floats, Floats]:
        """The base loss, in two floats, of a sampled one (-inf if none)."""
        (lowest, lowest_low), (log_rate, log_rate_low) = self._logs
        excess = self._excess(loss)
        with np.errstate(all="ignore"):
            grown = np.expm1(np.minimum(loss, 1))
            gain = grown / self.rate  # e^base - 1
            # Three terms: a logarithm, ln(rate) or ln(1 - rate), a shrinkage.
            near = (gain > -0.5) & (loss < 0.7)
            steep, far = near & (gain > 1e200), (excess >= 0.7) & ~near
            first = np.where(far, loss, np.log(self._odds(loss)))
            first = np.where(near, np.log1p(gain), first)
            first = np.where(steep, np.log(grown), first)
            by_rate = far | steep
            second = np.where(by_rate, -log_rate, np.where(near, 0, lowest))
            low = np.where(
                by_rate, -log_rate_low, np.where(near, 0, lowest_low)
            )
            third = np.log1p(-np.exp(-np.maximum(excess, 0.7)))
            third = np.where(far, third, 0.0)
            edge, rest = two_sum(first, second)
            edge, more = two_sum(edge, third)
            rest = rest + more + low
        return edge, np.where(np.isfinite(edge), rest, 0.0)

    @property
    def infinite_mass(self) -> tuple[float, float]:
        mass = self.rate * self.base.infinite_mass[0]
        some = self.base.infinite_mass[0] > 0  # even if the product underflows
        return max(mass, 5e-324) if some else 0.0, 0.0

    @cached_property
    def loss_range(self) -> tuple[float, float]:
        low, high = self.base.loss_range
        bottom = low if self.base.infinite_mass[1] == 0 else -math.inf
        ends = self._losses([bottom, high]).tolist()
        return ends[0], ends[1]

    @cached_property
    def atoms(self) -> tuple[float, ...]:
        lowest = () if self.base.infinite_mass[1] == 0 else (self._logs[0][0],)
        return lowest + tuple(self._losses(self.base.atoms).tolist())

    @property
    def atom_count(self) -> int:
        return self.base.atom_count + (self.base.infinite_mass[1] > 0)

    @property
    def atom_error(self) -> float:
        endless = self.base.loss_range == (-math.inf, math.inf)
        if endless and self.base.atom_count == 0:  # ln(1 - rate) is left
            return 16 * UNIT * abs(self._logs[0][0])
        # The slope of the sampled loss is at most 1, and at most odds e^base.
        most = min(self.base.loss_range[1], 700.0)
        slope = min(1.0, self.rate / self._miss * math.exp(most))
        ends = self.atoms[:: max(1, self.atom_count - 1)]
        size = min(max(map(abs, ends), default=0.0), 600.0)
        return slope * self.base.atom_error + 16 * UNIT * size

    @property
    def discrete(self) -> bool:
        return self.base.discrete

    def mass_error(self, mass: Floats) -> Floats:
        return self.base.mass_error(mass)

    def excess_error(self, p: Floats, q: Floats) -> ExcessError:
        # P - alpha Q is rate P0 + (missed - alpha) Q, but for 3u of P.
        if self._miss < 1e-200:
            return super().excess_error(p, q)
        own = np.clip(p - self._miss * q + 4 * UNIT * p, 0, self.rate)
        wrong = own * self.base.mass_error(own / self.rate) + 8 * UNIT * p
        common = self.base.mass_error(q) * q
        return ExcessError(wrong, np.zeros(len(p)), common, self._miss)

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        mapped, rests = self._base_edges(edges)
        inside = mapped > -np.inf
        skip = len(edges) - int(np.count_nonzero(inside))
        p, q = np.zeros(len(edges) + 1), np.zeros(len(edges) + 1)
        if skip == len(edges):  # every edge lies below the lowest loss
            edge = np.array([-1e300])
            base_p, base_q = self.base.interval_masses(edge, edge[:0], closed)
        else:
            with np.errstate(all="ignore"):
                wide = self._base_widths(edges[skip:-1], widths[skip:])
            base_p, base_q = self.base.masses_at(
                mapped[skip:], rests[skip:], wide, closed
            )
        p[skip:], q[skip:] = base_p[-len(p) + skip :], base_q[-len(q) + skip :]
        missing = self.base.infinite_mass[1]  # an atom at the lowest loss
        if missing > 0:
            lowest = np.array([self._logs[0][0]])
            q += atom_masses(edges, closed, lowest, np.array([missing]))
        return self._miss * q + self.rate * p, q

    def _delta(self, epsilon: float) -> float:
        # H_a of the mixture is rate * H_b(P||Q) with b = 1 + (a - 1)/rate.
        base = float(self._base_edges(np.array([epsilon]))[0][0])
        if base == -math.inf:
            return -math.expm1(epsilon)
        return float(self.rate * self.base.delta(base))

    def _reversed_delta(self, epsilon: float) -> float:
        # The same for the reversed pair: rate * a * H_{1/b}(Q||P) * b.
        base = float(self._base_edges(np.array([-epsilon]))[0][0])
        if base == -math.inf:
            return max(0.0, -math.expm1(epsilon))
        factor = self.rate * math.exp(epsilon + base)
        return float(factor * self.base.reversed().delta(-base))
