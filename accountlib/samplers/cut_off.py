# Generated from notebooks/samplers/cut_off.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Samples that are cut off

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\gamma$ | `rate` | chance of a record to be drawn |
| $B$ | `largest_batch` | records that a batch holds at most, $\ge 1$ |
| $n$ | `dataset_size` | records in the larger data set, public |
| $K$ | – | number of the *other* records that are drawn, binomial with $n - 1$ trials |
| $E$, $p$ | –, `full` | the event $K \ge B$, and its probability |
| $1 - p$ | `room` | probability that there is room for one more |
| $\gamma'$ | `kept` | chance of the record to be in the batch, given $E$ |
| $\gamma_0$ | `present` | chance of the record to be in the batch |
| $(P_1, Q_1)$, $(P_2, Q_2)$ | `base`, `exchange` | pairs of the mechanism for a record removed, and exchanged |
| $w_j$, $(P_j, Q_j)$ | `weights`, `pairs` | probabilities of labels, and the pair of each |
| $\sigma$ | – | noise, in clipping norms |
| $\varepsilon$, $\delta$, $\alpha$ | `epsilon`, `delta` | privacy parameters; $\alpha = e^\varepsilon$ |
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from accountlib.inputs import (
    Floats,
    check_count,
    check_kind,
    check_number,
    check_range,
)
from accountlib.several.mixtures import fifty_digits
from accountlib.worst_cases.dominating_pairs import (
    UNIT,
    Closed,
    DominatingPair,
    ExcessError,
    ReversedPair,
)
from accountlib.worst_cases.sampling import SampledPair

__all__ = [
    "log_factorial",
    "sum_of_ratios",
    "binomial_tails",
    "CutNumbers",
    "cut_numbers",
    "LabelledPair",
    "cut_off_pair",
]

# --- Code: binomial tails with a known error

# Binomial tails, in decimal numbers with 50 digits
_PI = Decimal("3.1415926535897932384626433832795028841971693993751")
_STIRLING = (  # 1/(12 x) - 1/(360 x^3) + ...
    (1, 12),
    (-1, 360),
    (1, 1260),
    (-1, 1680),
    (1, 1188),
    (-691, 360_360),
)
_SMALL_FACTORIAL = 1000  # from it on the next term is below 1e-41
_TAIL_LEFT = Decimal("1e-40")  # of a sum, relatively
# Labels
_RAREST = 1e-290  # a rarer label counts as if it had this probability
_MOST_RECORDS = 1e9


@fifty_digits
def log_factorial(number: int) -> Decimal:
    r"""$\ln k!$ by Stirling's series.

    Parameters: `number` (k, 0 to 1e9).
    Returns: a decimal number.
    Error: below 1e-38, absolutely.

    >>> round(float(log_factorial(1000)), 6), int(log_factorial(1))
    (5912.128178, 0)
    """
    if number < _SMALL_FACTORIAL:
        return Decimal(math.factorial(number)).ln()
    x = Decimal(number)
    series = [a / (b * x ** (2 * k + 1)) for k, (a, b) in enumerate(_STIRLING)]
    return x * x.ln() - x + (2 * _PI * x).ln() / 2 + sum(series)


@fifty_digits
def sum_of_ratios(ratios: Iterable[Decimal]) -> Decimal:
    """1 + r1 + r1 r2 + ... for positive ratios that fall.

    Error: what is left out is below 1e-40 of the sum.

    >>> float(sum_of_ratios([Decimal(1), Decimal("0.5")]))
    2.5
    """
    term = total = Decimal(1)
    for ratio in ratios:
        term *= ratio
        total += term
        if term * ratio < (1 - ratio) * total * _TAIL_LEFT:
            break
    return total


@fifty_digits
def binomial_tails(
    trials: int, rate: float, least: int
) -> tuple[Decimal, Decimal]:
    r"""$\Pr[K \ge k]$ and $\Pr[K < k]$ for a binomial K.

    Parameters: `trials` (up to 1e9); `rate` (in (0, 1), taken as exact);
    `least` (k, 1 to `trials`).
    Returns: two decimal numbers.
    Error: below 1e-33, relatively, of both (where they exceed 1e-900000).

    >>> [float(x) for x in binomial_tails(3, 0.5, 3)]
    [0.125, 0.875]
    """
    stay = 1 - Decimal(rate)
    odds = Decimal(rate) / stay
    above = least >= (trials + 1) * rate
    first = least if above else least - 1
    if above:
        ratios = ((trials - k) * odds / (k + 1) for k in range(first, trials))
    else:
        ratios = (k / ((trials - k + 1) * odds) for k in range(first, 0, -1))
    rest = trials - first
    power = first * Decimal(rate).ln() + rest * stay.ln()
    ways = log_factorial(trials) - log_factorial(first) - log_factorial(rest)
    tail = (ways + power).exp() * sum_of_ratios(ratios)
    return (tail, 1 - tail) if above else (1 - tail, tail)


# --- Code: the four numbers


@dataclass(frozen=True)
class CutNumbers:
    """Probabilities of a sampler that is cut off.

    Fields: `full` (p) and `room` (1 - p), rounded to floats, at least
    1e-290; `kept` (gamma'), rounded up; `present` (gamma_0), rounded down.
    """

    full: float
    room: float
    kept: float
    present: float


@lru_cache(256)
@fifty_digits
def cut_numbers(
    rate: float, largest_batch: int, dataset_size: int
) -> CutNumbers:
    r"""The probabilities of a cut-off sampler, on their sides.

    Formula: $p = \Pr[\mathrm{Bin}(n - 1, \gamma) \ge B]$ and eq.
    (cut-kept); $\gamma_0 = \gamma (1 - p) + \gamma' p$.

    Parameters: `rate` ($\gamma$ in (0, 1)); `largest_batch` (B);
    `dataset_size` (n > B).
    Returns: a CutNumbers.
    Error: relatively u for `full` and `room`, but at least 1e-290; 4 u
    for `kept` (where p exceeds 1e-290) and `present`.

    >>> numbers = cut_numbers(0.5, 2, 3)
    >>> numbers.full, numbers.room, round(numbers.kept, 9)
    (0.25, 0.75, 0.333333333)
    """
    full, room = binomial_tails(dataset_size - 1, rate, largest_batch)
    drawn, low = Decimal(rate), Decimal(0)
    most = Decimal(largest_batch) / (largest_batch + 1)
    if full > _RAREST:
        more, _ = binomial_tails(dataset_size, rate, largest_batch + 1)
        low = most = largest_batch * more / (dataset_size * full * drawn)
    present = drawn * (1 - full * (1 - low))
    return CutNumbers(
        full=max(float(full), _RAREST),
        room=max(float(room), _RAREST),
        kept=math.nextafter(float(drawn * most), math.inf),
        present=math.nextafter(float(present), 0.0),
    )


# --- Code: a pair with a label


@dataclass(frozen=True)
class LabelledPair(DominatingPair):
    r"""One of several pairs, drawn at random and told to the observer.

    Formula: $P = \sum_j w_j\, (j, P_j)$, $Q = \sum_j w_j\, (j, Q_j)$.

    Parameters: `pairs`; `weights` ($w_j$ in (0, 1], of sum 1, each within
    u, relatively, or larger than meant); `below`, a pair that the same
    neighbours reach, or None if this is one.
    Raises: ValueError for what are no pairs, or no weights for them.
    Error: rounding only. Masses: the sum of the parts' `mass_error` and
    16 u; losses as those of the parts.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> pair = LabelledPair((GaussianPair(1.0), GaussianPair(2.0)), (0.5, 0.5))
    >>> round(pair.delta(1.0), 6)
    0.318399
    """

    pairs: tuple[DominatingPair, ...]
    weights: tuple[float, ...]
    below: DominatingPair | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", tuple(self.pairs))
        for k, pair in enumerate(self.pairs):
            check_kind(f"pairs[{k}]", pair, DominatingPair)
        weights = check_range("weights", self.weights, 0, 1, "(]")
        object.__setattr__(self, "weights", tuple(weights.ravel().tolist()))
        number, total = len(self.pairs), math.fsum(self.weights)
        if len(self.weights) != number or abs(total - 1) > 1e-9:
            raise ValueError(
                f"weights must be {number} numbers, one for each pair, with "
                f"the sum 1, got {self.weights!r}"
            )

    def _mean(self, values: Iterable[Any]) -> Any:
        """Weighted sum, one value of each pair."""
        return sum(w * x for w, x in zip(self.weights, values, strict=True))

    @property
    def reached(self) -> tuple[DominatingPair, ...]:
        return (self,) if self.below is None else self.below.reached

    @property
    def infinite_mass(self) -> tuple[float, float]:
        p, q = zip(*(pair.infinite_mass for pair in self.pairs), strict=True)
        return float(self._mean(p)), float(self._mean(q))

    @property
    def loss_range(self) -> tuple[float, float]:
        low, high = zip(*(pair.loss_range for pair in self.pairs), strict=True)
        return min(low), max(high)

    @cached_property
    def atoms(self) -> tuple[float, ...]:
        return tuple(sorted({x for pair in self.pairs for x in pair.atoms}))

    @property
    def atom_count(self) -> int:
        return sum(pair.atom_count for pair in self.pairs)

    @property
    def atom_error(self) -> float:
        return max(pair.atom_error for pair in self.pairs)

    @property
    def discrete(self) -> bool:
        return all(pair.discrete for pair in self.pairs)

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        rests = np.zeros_like(edges)
        return self.masses_at(edges, rests, widths, closed)

    def masses_at(
        self, edges: Floats, rests: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        parts = [
            pair.masses_at(edges, rests, widths, closed) for pair in self.pairs
        ]
        p, q = zip(*parts, strict=True)
        return self._mean(p), self._mean(q)

    def mass_error(self, mass: Floats) -> Floats:
        errors = [pair.mass_error(mass) for pair in self.pairs]
        return np.asarray(np.sum(errors, axis=0) + 16 * UNIT)

    def excess_error(self, p: Floats, q: Floats) -> ExcessError:
        if all(isinstance(pair, ReversedPair) for pair in self.pairs):
            return ReversedPair(self.reversed()).excess_error(p, q)
        sampled = [x for x in self.pairs if isinstance(x, SampledPair)]
        missed = [float(x.missed or 0.0) for x in sampled]
        if len(sampled) < len(self.pairs) or min(missed) < 1e-200:
            return super().excess_error(p, q)

        def relative(mass: Floats) -> Floats:
            errors = [pair.base.mass_error(mass) for pair in sampled]
            return np.asarray(np.sum(errors, axis=0) + 16 * UNIT)

        rate = float(self._mean(pair.rate for pair in sampled))
        own = np.clip(p - min(missed) * q + 8 * UNIT * p, 0, rate)
        common = relative(q) * q
        wrong = own * relative(own / rate) + 16 * UNIT * p
        wrong += (max(missed) - min(missed)) * common
        return ExcessError(wrong, 8 * UNIT * q, common, min(missed))

    def _delta(self, epsilon: float) -> float:
        return float(self._mean(pair.delta(epsilon) for pair in self.pairs))

    def reversed(self) -> "LabelledPair":
        pairs = tuple(pair.reversed() for pair in self.pairs)
        below = self.below and self.below.reversed()
        return LabelledPair(pairs, self.weights, below)


# --- Code: the pair of a cut-off sample


def cut_off_pair(
    base: DominatingPair,
    exchange: DominatingPair,
    rate: float,
    largest_batch: int,
    dataset_size: int,
) -> DominatingPair:
    r"""The pair of a Poisson sample that is cut at random to B records.

    Formula: $((1-\gamma') Q_2 + \gamma' P_2,\, Q_2)$ with probability p,
    else $((1-\gamma) Q_1 + \gamma P_1,\, Q_1)$, the label being told.

    Parameters: `base` ($P_1, Q_1$) and `exchange` ($P_2, Q_2$), pairs of
    the mechanism for a record removed, and exchanged; `rate` ($\gamma$ in
    [1e-290, 1]); `largest_batch` (B, 1 to 1e9); `dataset_size` (n, 1 to
    1e9), of the larger data set, public.
    Returns: a pair from above; its `reached` is one that data reach, if
    the other records may contribute nothing.
    Raises: ValueError for other kinds and values.
    Error: rounding only, as the pair states.
    Source: theorem "Poisson samples cut at random" of the page.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> base, exchange = GaussianPair(1.0), GaussianPair(2.0)
    >>> pair = cut_off_pair(base, exchange, 0.1, 15, 100)
    >>> round(pair.delta(0.5), 9), round(pair.reached[0].delta(0.5), 9)
    (0.003760986, 0.0019865)
    """
    check_kind("base", base, DominatingPair)
    check_kind("exchange", exchange, DominatingPair)
    rate = check_number("rate", rate, _RAREST, 1)
    largest = check_count("largest_batch", largest_batch, high=_MOST_RECORDS)
    size = check_count("dataset_size", dataset_size, high=_MOST_RECORDS)
    if size <= largest:  # nothing is ever cut
        return base if rate == 1 else SampledPair(base, rate)
    if rate == 1:  # a fixed batch
        share = Fraction(largest, size)
        return SampledPair(exchange, float(share), exact=share)
    numbers = cut_numbers(rate, largest, size)
    return LabelledPair(
        pairs=(SampledPair(exchange, numbers.kept), SampledPair(base, rate)),
        weights=(numbers.full, numbers.room),
        below=SampledPair(base, numbers.present),
    )
