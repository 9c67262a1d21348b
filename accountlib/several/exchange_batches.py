# Generated from notebooks/several/exchange_batches.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""One record for another in a fixed batch

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $b$, $n$ | `batch_size`, `dataset_size` | records in a batch, in the data set |
| $\gamma$ | `rate` | chance of one record to be in a batch: $b/n$, or the Poisson rate |
| $T$ | `count` | number of steps |
| $a$, $a'$ | – | the record that is exchanged, and what it is exchanged for |
| $y$ | – | the record that has the place in the batch, where the exchanged one is not drawn |
| $O$, $A$, $A'$ | – | laws of the output with $y$, $a$, $a'$ in that place |
| $(P, Q)$ | `pair` | the pair of an exchange without sampling |
| $P_\gamma$ | `half` | $(1 - \gamma) Q + \gamma P$; the code has the pair $(P_\gamma, Q)$ |
| $N_v$ | – | the noise, moved by $v$ |
| $s$ | `scale` | scale of Laplace noise |
| $L$ | `losses` | privacy loss |
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np

from accountlib.inputs import Floats, check_kind, check_number
from accountlib.several.mixtures import fifty_digits, in_floats, log_whole
from accountlib.worst_cases.dominating_pairs import (
    UNIT,
    Closed,
    DominatingPair,
    atom_masses,
)
from accountlib.worst_cases.integer_noise import (
    EndlessAtoms,
    IntegerGaussianPair,
    Places,
)
from accountlib.worst_cases.noise import LaplacePair, two_sum
from accountlib.worst_cases.sampling import SampledPair

__all__ = [
    "positive_masses",
    "MirroredPair",
    "ExchangedBatchPair",
    "ExchangedLaplaceHalf",
    "ExchangedIntegerPair",
]

# --- One pair from two curves


def positive_masses(
    pair: DominatingPair, edges: Floats, widths: Floats, closed: Closed
) -> tuple[Floats, Floats]:
    """`interval_masses` of the positive losses of a pair alone."""
    start = int(np.searchsorted(edges, 0.0, side="right"))
    p, q = np.zeros(len(edges) + 1), np.zeros(len(edges) + 1)
    first = 5e-324 if 0.0 in pair.atoms else 0.0  # no atom at 0
    places = np.append(first, edges[start:])
    gaps = np.append(edges[start : start + 1], widths[start:])
    above = pair.interval_masses(places, gaps, closed)
    p[start:], q[start:] = above[0][1:], above[1][1:]
    return p, q


@dataclass(frozen=True)
class MirroredPair(DominatingPair):
    r"""A symmetric pair that is given by its positive losses.

    Formula: above 0 it has the losses and masses of another pair, below 0
    their mirror image, at 0 an atom.

    Parameters: `half`, the other pair; `center`, what is missing to 1.
    Error: rounding only, as `half`.

    >>> pair = MirroredPair(ExchangedLaplaceHalf(1.0, 0.5), 0.0)
    >>> round(pair.delta(0.1), 6), pair.reversed() == pair
    (0.283056, True)
    """

    half: DominatingPair
    center: float
    symmetric = True

    def __post_init__(self) -> None:
        check_kind("half", self.half, DominatingPair)
        check_number("center", self.center, 0, 1)

    @property
    def back(self) -> DominatingPair:  # its losses, mirrored, lie below 0
        return self.half

    @property
    def infinite_mass(self) -> tuple[float, float]:
        return self.half.infinite_mass[0], self.back.infinite_mass[0]

    @property
    def loss_range(self) -> tuple[float, float]:
        low, high = self.back.loss_range[1], self.half.loss_range[1]
        return -max(low, 0.0), max(high, 0.0)

    @property
    def atoms(self) -> tuple[float, ...]:
        low = [-x for x in reversed(self.back.atoms) if x > 0]
        middle = [0.0] if self.center > 0 else []
        return (*low, *middle, *(x for x in self.half.atoms if x > 0))

    @property
    def atom_error(self) -> float:
        return max(self.half.atom_error, self.back.atom_error)

    @property
    def discrete(self) -> bool:
        return self.half.discrete and self.back.discrete

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        other: Closed = "left" if closed == "right" else "right"
        p, q = positive_masses(self.half, edges, widths, closed)
        ends = -edges[::-1], widths[::-1]
        back_q, back_p = positive_masses(self.back, *ends, other)
        zero, mass = np.zeros(1), np.array([self.center])
        atom = atom_masses(edges, closed, zero, mass)
        return p + back_p[::-1] + atom, q + back_q[::-1] + atom

    def mass_error(self, mass: Floats) -> Floats:
        errors = (pair.mass_error(mass) for pair in (self.half, self.back))
        return np.maximum(super().mass_error(mass), np.maximum(*errors))

    def _delta(self, epsilon: float) -> float:
        if epsilon >= 0:
            return float(self.half.delta(epsilon))
        mirrored = float(self.back.delta(-epsilon))
        return -math.expm1(epsilon) + math.exp(epsilon) * mirrored


@dataclass(frozen=True)
class ExchangedBatchPair(MirroredPair):
    r"""The larger of remove and add at every alpha, as one pair.

    Formula: $\max(H_\alpha(P_\gamma \Vert Q), H_\alpha(Q \Vert
    P_\gamma))$ with a symmetric (P, Q): the first for $\alpha \ge 1$.

    Parameters and error: as `MirroredPair`; `half` is the sampled pair.
    Source: Lebeda et al. (2024), Theorem 15 and Section 8.

    >>> half = SampledPair(LaplacePair(0.5), 0.05)
    >>> pair = ExchangedBatchPair(half, 0.95 * -math.expm1(-1.0))
    >>> len(pair.reached), round(pair.delta(0.1), 6)
    (2, 0.017596)
    """

    @property
    def reached(self) -> tuple[DominatingPair, ...]:
        return self.half, self.half.reversed()


# --- Other noise under Poisson sampling


@dataclass(frozen=True)
class ExchangedLaplaceHalf(DominatingPair):
    r"""An exchange with sampled Laplace noise; outputs below 0 are merged.

    Formula: $P = (1-\gamma) N_0 + \gamma N_1$, $Q = (1-\gamma) N_0 +
    \gamma N_{-1}$, Laplace laws at 0, 1 and -1; on $x \in (0, 1)$ the loss
    is $\ln(1 + (e^{2x/s} - 1)/c)$ with $c = 1 + (1-\gamma) e^{1/s} /
    \gamma$.

    Parameters: `scale` (s in [1e-150, 1e150]), `rate` ($\gamma \in (0,
    1)$).
    Raises: ValueError for values outside these ranges.
    Error: rounding only, as `mass_error` says, at every edge.

    >>> half = ExchangedLaplaceHalf(1.0, 0.5)
    >>> round(half.loss_range[1], 6)  # ln((1 + e) / (1 + 1/e))
    1.0
    """

    scale: float
    rate: float

    def __post_init__(self) -> None:
        check_number("scale", self.scale, 1e-150, 1e150)
        check_number("rate", self.rate, 0, 1, "()")

    @cached_property
    @fifty_digits
    def _constants(self) -> Floats:
        """1/s, ln c and the largest loss, each in two floats."""
        rate, a = Decimal(self.rate), 1 / Decimal(self.scale)
        odds = (1 - rate).ln() - rate.ln()
        spread = a + odds  # ln((1 - rate) e^a / rate)
        log_c = max(spread, Decimal(0))
        if abs(spread) < 2000:
            log_c = log_whole(Decimal(1), spread.exp())
        # e^(2a) - 1, divided by c, and the logarithm of 1 more
        b = 2 * a
        if a < Decimal("1e-12"):
            top = log_whole(log_c.exp(), b * (1 + b / 2 + b * b / 6))
        elif a < 2000:
            top = log_whole(log_c.exp(), b.exp() - 1)
        else:
            top, back = b - log_c, odds - a
            if abs(back) < 2000:
                top += log_whole(Decimal(1), back.exp())
        return in_floats([a, log_c, top], 2)

    @cached_property
    def _ends(self) -> tuple[Floats, Floats, Floats]:
        """Losses and masses of the outputs below 0 and beyond 1."""
        far = math.exp(-self._constants[0, 0]) / 2
        stay = float(1 - Fraction(self.rate))
        near = stay / 2 + self.rate * far
        p = np.array([near, stay * far + self.rate / 2])
        q = np.array([1 - near, 2 * far * near])
        low = math.log(near) - math.log1p(-near)
        return np.array([low, self._constants[0, 2]]), p, q

    @property
    def loss_range(self) -> tuple[float, float]:
        low, high = self._ends[0].tolist()
        return low, high

    @property
    def atoms(self) -> tuple[float, ...]:
        return self.loss_range

    def _shrink(self, losses: Floats) -> Floats:
        """By how much faster 2x/s grows than the loss, inverted."""
        _, log_c, _ = self._constants.T
        rest = np.exp(-losses - log_c[0]) * np.exp(min(-log_c[1], 1.0))
        return np.asarray(-np.expm1(-losses) + rest)

    def _reach(self, losses: Floats) -> Floats:
        """2x/s for losses in [0, top], and 2/s less that."""
        (a, a_low), (log_c, rest), (top, top_low) = self._constants.T
        # y = c (e^L - 1), in two steps, since c need not be a float
        half = math.exp(log_c / 2) if log_c < 1400 else math.inf
        y = half * np.expm1(losses) * half * math.exp(min(rest, 1.0))
        logs = np.log(-np.expm1(-losses))
        reach = np.where(y < 1e300, np.log1p(y), log_c + losses + logs)
        below = (top - losses) + top_low
        near = np.expm1(-below) / self._shrink(np.array([top]))
        far, more = two_sum(2 * a, -log_c)
        far = (far - losses) + (more + (2 * a_low - rest)) - logs
        far = np.where(y > 1, far - np.log1p(1 / y), 2 * a - reach)
        return np.stack([reach, np.where(below < 1, -np.log1p(near), far)])

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        a, top = self._constants[0, [0, 2]]
        with np.errstate(all="ignore"):
            reach, left = self._reach(np.clip(edges, 0, top))
            reach = np.where(edges < top, np.where(edges > 0, reach, 0), 2 * a)
            left = np.where(edges < top, np.where(edges > 0, left, 2 * a), 0)
            reach = np.concatenate([[0.0], reach, [2 * a]])
            left = np.concatenate([[2 * a], left, [0.0]])
            # Growth of 2x/s: from 0, up to 2/s, or from widths
            d = np.where(reach[:-1] > 0, left[:-1], reach[1:])
            shrink = self._shrink(edges[:-1])
            short = np.log1p(np.expm1(widths) / shrink)
            wide = np.log1p((shrink - 1) * np.exp(-widths)) - np.log(shrink)
            inner = (edges[:-1] >= 0) & (edges[1:] < top)
            by_widths = np.where(widths < 1, short, widths + wide)
            d[1:-1] = np.where(inner, by_widths, d[1:-1])
            density = -np.expm1(-d / 2) / 2
            noise = np.exp(-reach[:-1] / 2) * density
            end = np.where(d < 1, left[:-1] - d, left[1:])
            moved = np.exp(-end / 2) * density
        places, *ends = self._ends
        p, q = (atom_masses(edges, closed, places, end) for end in ends)
        stay = float(1 - Fraction(self.rate))
        p += stay * noise + self.rate * moved
        return p, q + (stay + self.rate * math.exp(-a)) * noise

    def _delta(self, epsilon: float) -> float:
        if epsilon < 0:
            return super()._delta(epsilon)
        sampled = SampledPair(LaplacePair(self.scale), self.rate)
        return float(sampled.delta(epsilon + sampled.loss_range[0]))


@dataclass(frozen=True)
class ExchangedIntegerPair(EndlessAtoms):
    r"""An exchange with sampled discrete Gaussian noise.

    Formula: $P = (1-\gamma) N_0 + \gamma N_k$ and its mirror image Q, for
    noise N on the integers moved by 0, k and -k; $L(x) = \ln(1 + 2 \gamma
    e^{-k^2/(2\sigma^2)} \sinh(k x/\sigma^2) / (1 - \gamma + \gamma
    e^{-k (2x + k)/(2\sigma^2)}))$ for $x \ge 0$, and $L(-x) = -L(x)$.

    Parameters: `base`, the pair of the noise moved by k; `rate`
    ($\gamma$ in (0, 1)).
    Raises: ValueError for values outside these ranges.
    Error: rounding only; masses as those of `base`, losses up to 600 by
    $8 (\max |L| + \ln(1/\gamma) + 16)\, u$ (`atom_error`).

    >>> pair = ExchangedIntegerPair(IntegerGaussianPair(2.0, 1), 0.5)
    >>> round(pair.delta(0.0), 6), pair.loss_range
    (0.187752, (-inf, inf))
    """

    base: IntegerGaussianPair
    rate: float
    symmetric = True

    def __post_init__(self) -> None:
        check_kind("base", self.base, IntegerGaussianPair)
        check_number("rate", self.rate, 0, 1, "()")

    def _losses(self, places: Places) -> Floats:
        k, spread = self.base.shift, 2 * self.base.sigma**2
        x = np.abs(places)
        power = k * (2 * x - k) / spread  # of N_k against N_0
        rest = 1 - self.rate + self.rate * np.exp(-k * (2 * x + k) / spread)
        share = -np.expm1(-4 * k * x / spread) / rest
        part = self.rate * np.exp(power) * share
        far = math.log(self.rate) + power + np.log(share)
        near = power < 600
        loss = np.where(near, np.log1p(part), np.logaddexp(0, far))
        return np.asarray(np.sign(places) * loss)

    @property
    def atom_error(self) -> float:
        most = self.base._reach + self.base.shift
        with np.errstate(all="ignore"):
            largest = float(self._losses(np.array([most]))[0])
        rest = 16 - math.log(self.rate)
        return 8 * UNIT * (min(largest, 600.0) + rest)

    @cached_property
    def atoms(self) -> tuple[float, ...]:
        most = self.base._reach + self.base.shift
        with np.errstate(all="ignore"):
            return tuple(self._losses(np.arange(-most, most + 1)).tolist())

    def _last(self, edges: Floats, closed: Closed) -> Places:
        """The last place whose loss belongs to the left of each edge."""
        most = self.base._reach + self.base.shift
        low = np.full(len(edges), -most - 1)
        high = np.full(len(edges), most + 1)
        while np.any(high - low > 1):
            middle = (low + high) // 2
            loss = self._losses(middle)
            left = loss <= edges if closed == "right" else loss < edges
            open_ = high - low > 1
            low = np.where(open_ & left, middle, low)
            high = np.where(open_ & ~left, middle, high)
        return low

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        with np.errstate(all="ignore"):
            last = self._last(edges, closed)
            noise, up, down = (
                self.base._noise_between(last - move * self.base.shift)
                for move in (0, 1, -1)
            )
        shared = float(1 - Fraction(self.rate)) * noise
        return shared + self.rate * up, shared + self.rate * down

    def mass_error(self, mass: Floats) -> Floats:
        return self.base.mass_error(mass)
