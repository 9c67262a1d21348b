# Generated from notebooks/mechanisms.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What must a mechanism say?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $x_i$, $C$ | – | the part of record $i$ in a sum, and the norm to which it is clipped |
| $\sigma$ | `noise_multiplier`, `sigma` | standard deviation of normal noise: in units of $C$ for sums, absolute for counts |
| $s$ | `scale` | scale of Laplace noise, in the same units |
| $p$ | `truth_probability` | chance of a true answer |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from accountlib.cells import Cells
from accountlib.checks import UNIT, Floats, check_fields, check_probabilities
from accountlib.dominating_pairs import (
    DominatingPair,
    Outcomes,
    ShiftedNoise,
    outcomes,
)
from accountlib.noise import (
    DiscreteLaplaceNoise,
    DiscreteNormalNoise,
    LaplaceNoise,
    NormalNoise,
)

__all__ = [
    "Mechanism",
    "AddedNoise",
    "Gaussian",
    "Laplace",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscretePair",
    "two_outcomes",
    "RandomizedResponse",
    "ApproximateDP",
    "PureDP",
]

# --- Three methods, of which one is enough


class Mechanism:
    """What a mechanism says: which pair belongs to so many records.

    One that is not of this book says `removed`, or is refused by name.
    """

    groups = False  # whether `moved` is a theorem for groups in samples

    def removed(self, size: int) -> DominatingPair:
        """The pair of `size` removed records, without sampling."""
        raise NotImplementedError(
            f"group_size={size}: no pair is known for groups and {self!r}"
        )

    def exchanged(self, size: int) -> DominatingPair:
        """The pair of `size` substituted records, without sampling."""
        raise NotImplementedError(
            f"adjacency='substitute': no pair is known for {self!r}"
        )

    def moved(
        self, shifts: Sequence[float], log_weights: Sequence[float]
    ) -> DominatingPair:
        """The pair if records move the sum by random numbers of norms."""
        raise NotImplementedError(
            f"no pair is known for {self!r}, which is no added noise"
        )


# --- Noise on a sum


class AddedNoise(Mechanism):
    """Noise on a sum, which records move by at most 1 each."""

    def removed(self, size: int) -> DominatingPair:
        return self.moved((size,), (0.0,))

    def exchanged(self, size: int) -> DominatingPair:
        return self.moved((2 * size,), (0.0,))


@dataclass(frozen=True)
class Gaussian(AddedNoise):
    r"""Gaussian mechanism: a sum of clipped records plus normal noise.

    Formula: $\sum_i x_i + N(0, \sigma^2 C^2 I)$ with $\|x_i\|_2 \le C$.

    Parameters: `noise_multiplier` ($\sigma$ in [0.005, 1e6]), the standard
    deviation of the noise divided by the clipping norm C of one record.
    Raises: ValueError for other values.
    Error: that of the cells; worst data sets attain the pair.
    Source: Lebeda et al. (2024), Proposition 9.

    >>> Gaussian(2).removed(1) == ShiftedNoise(NormalNoise(), (0.5,))
    True
    """

    noise_multiplier: float
    groups = True

    def __post_init__(self) -> None:
        check_fields(self, noise_multiplier=(0.005, 1e6))

    def moved(
        self, shifts: Sequence[float], log_weights: Sequence[float]
    ) -> DominatingPair:
        moves = tuple(x / self.noise_multiplier for x in shifts)
        return ShiftedNoise(NormalNoise(), moves, tuple(log_weights))


@dataclass(frozen=True)
class Laplace(AddedNoise):
    r"""Laplace mechanism: a sum of bounded numbers plus Laplace noise.

    Formula: $\sum_i x_i + \mathrm{Lap}(0, s)$ with $|x_i| \le 1$.

    Parameters: `scale` ($s$ in [0.005, 1e6]), the scale of the noise divided
    by the largest absolute value of one record.
    Raises: ValueError for other values.
    Error: that of the cells; worst data sets attain the pair.
    Source: Lebeda et al. (2024), Proposition 9.

    >>> Laplace(2.0).exchanged(1).shifts
    (1.0,)
    """

    scale: float

    def __post_init__(self) -> None:
        check_fields(self, scale=(0.005, 1e6))

    def moved(
        self, shifts: Sequence[float], log_weights: Sequence[float]
    ) -> DominatingPair:
        moves = tuple(x / self.scale for x in shifts)
        return ShiftedNoise(LaplaceNoise(), moves, tuple(log_weights))


@dataclass(frozen=True)
class DiscreteGaussian(AddedNoise):
    r"""A count plus discrete Gaussian noise, which is a whole number.

    Formula: $\Pr[Z = z] \propto e^{-z^2/(2\sigma^2)}$.

    Parameters: `sigma` ($\sigma$), in absolute units, from 0.005 times the
    sensitivity to 1e4; `sensitivity` (a whole number from 1 to 1e5): by how
    much one record that is added or removed changes the count, at most.
    Raises: ValueError for other values.
    Error: that of the cells; worst counts attain the pair.
    Source: Canonne, Kamath and Steinke (2020), Definition 1.

    >>> DiscreteGaussian(4.0, 3).removed(1).shifts
    (3.0,)
    """

    sigma: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        check_fields(self, sensitivity=(1, 1e5, True))
        check_fields(self, sigma=(0.005 * self.sensitivity, 1e4))

    def moved(
        self, shifts: Sequence[float], log_weights: Sequence[float]
    ) -> DominatingPair:
        moves = tuple(float(x * self.sensitivity) for x in shifts)
        noise = DiscreteNormalNoise(self.sigma)
        return ShiftedNoise(noise, moves, tuple(log_weights))


@dataclass(frozen=True)
class DiscreteLaplace(AddedNoise):
    r"""A count plus discrete Laplace (geometric) noise, a whole number.

    Formula: $\Pr[Z = z] \propto e^{-|z|/s}$.

    Parameters: `scale` ($s$), in absolute units, from 0.005 times the
    sensitivity to 1e6; `sensitivity`, as for `DiscreteGaussian`.
    Raises: ValueError for other values.
    Error: that of the cells; worst counts attain the pair.
    Source: Ghosh, Roughgarden and Sundararajan (2012), Definition 2.1.

    >>> DiscreteLaplace(1e3).exchanged(2).shifts
    (4.0,)
    """

    scale: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        check_fields(self, sensitivity=(1, 1e5, True))
        check_fields(self, scale=(0.005 * self.sensitivity, 1e6))

    def moved(
        self, shifts: Sequence[float], log_weights: Sequence[float]
    ) -> DominatingPair:
        moves = tuple(float(x * self.sensitivity) for x in shifts)
        noise = DiscreteLaplaceNoise(self.scale)
        return ShiftedNoise(noise, moves, tuple(log_weights))


# --- Lists


@dataclass(frozen=True)
class DiscretePair(DominatingPair, Mechanism):
    """Two lists of probabilities: of a pair, or of all that is released.

    Formula: loss of outcome i = log(p_i/q_i), for lists that sum to 1.

    Parameters: `p`, `q`, of the same length, each with sum 1 up to 1e-12,
    and divided by its sum. As a mechanism: with and without a record.
    Raises: ValueError for other lists; NotImplementedError for groups.
    Error: that of `outcomes`; the numbers given are exact.
    Source: Zhu, Dong and Wang (2022), Definition 7.

    >>> pair = DiscretePair([0.5, 0.5], [0.25, 0.75])
    >>> pair.cells(pair.start()).loss.round(3).tolist()
    [-0.405, 0.693]
    """

    p: Sequence[float]
    q: Sequence[float]

    def __post_init__(self) -> None:
        for name in ("p", "q"):
            values = check_probabilities(name, getattr(self, name))
            object.__setattr__(self, name, values)
        if len(self.p) != len(self.q):
            raise ValueError(f"p and q must have the same length, got {self}")

    def cells(self, edges: Floats) -> Cells:
        return outcomes(self.p, self.q).cells(edges)

    def reversed(self) -> DominatingPair:
        return DiscretePair(self.q, self.p)

    def removed(self, size: int) -> DominatingPair:
        return outcomes(self.p, self.q) if size == 1 else super().removed(size)


def two_outcomes(
    loss: float, error: float, log_p: float, log_q: float
) -> Outcomes:
    """A pair of two outcomes that equals its own reverse."""
    rows = (loss, error, log_p, log_q), (-loss, error, log_q, log_p)
    return Outcomes(tuple(sorted(rows)))


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    r"""One bit, told truthfully with a given probability.

    Formula: $P = (p, 1 - p)$, $Q = (1 - p, p)$.

    Parameters: `truth_probability` (p in [0, 1]). The pair compares both
    values of the bit, whatever the adjacency.
    Raises: ValueError for other values.
    Error: losses 8 u, relative, where they are small.
    Source: Warner (1965).

    >>> pair = RandomizedResponse(0.75).removed(1)
    >>> pair.cells(pair.start()).loss.round(6).tolist()
    [-1.098612, 1.098612]
    """

    truth_probability: float

    def __post_init__(self) -> None:
        check_fields(self, truth_probability=(0, 1))

    def removed(self, size: int) -> DominatingPair:
        true = self.truth_probability
        log_p = math.log(true) if true > 0 else -math.inf
        log_q = math.log1p(-true) if true < 1 else -math.inf
        if abs(2 * true - 1) < 0.25:  # this has no rounding error
            loss = math.log1p((2 * true - 1) / (1 - true))
            return two_outcomes(loss, 8 * UNIT * abs(loss), log_p, log_q)
        digits = abs(log_p) + abs(log_q)
        error = 8 * UNIT * digits if digits < math.inf else 0.0
        return two_outcomes(log_p - log_q, error, log_p, log_q)

    def exchanged(self, size: int) -> DominatingPair:
        return self.removed(size)


# --- Mere guarantees


@dataclass(frozen=True)
class ApproximateDP(Mechanism):
    r"""Any mechanism of which only an (epsilon, delta) guarantee is known.

    Formula: $P = (\delta, (1-\delta)e^\varepsilon, 1-\delta, 0)$, the middle
    ones divided by $1 + e^\varepsilon$; Q is P reversed.

    Parameters: `epsilon` in [0, 100] and `delta` in [0, 1], for both
    directions of the adjacency that is asked about.
    With FixedBatch, and with Poisson under substitution, it must hold for
    removed and for substituted records.
    Raises: ValueError for other values; NotImplementedError for groups.
    Error: none in the loss, which is epsilon or infinite.
    Source: Kairouz, Oh and Viswanath (2015), Section 3.

    >>> ApproximateDP(1.0, 0.01).removed(1).rows[2][0]
    1.0
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_fields(self, epsilon=(0, 100), delta=(0, 1))

    def removed(self, size: int) -> DominatingPair:
        if size > 1:
            return super().removed(size)
        rows: list[tuple[float, float, float, float]] = []
        if self.delta < 1:
            high = math.log1p(-self.delta)
            high -= math.log1p(math.exp(-self.epsilon))
            low = high - self.epsilon
            rows.extend(two_outcomes(self.epsilon, 0.0, high, low).rows)
        if self.delta > 0:
            lost = math.log(self.delta)
            rows.extend(two_outcomes(math.inf, 0.0, lost, -math.inf).rows)
        return Outcomes(tuple(sorted(rows)))

    def exchanged(self, size: int) -> DominatingPair:
        return self.removed(size)


@dataclass(frozen=True)
class PureDP(Mechanism):
    """Any mechanism of which only an epsilon guarantee is known.

    Formula: `ApproximateDP(epsilon, 0)`.

    Parameters: `epsilon` in [0, 100], for both directions.
    With FixedBatch, and with Poisson under substitution, it must hold for
    removed and for substituted records.
    Raises: ValueError for other values.
    Error: none in the loss, which is epsilon; groups as DiscreteLaplace.
    Source: Kairouz, Oh and Viswanath (2015), Section 3; for groups
    page-mechanisms, Theorem thm-group-pure.

    >>> len(PureDP(1.0).removed(1).rows)
    2
    """

    epsilon: float

    def __post_init__(self) -> None:
        check_fields(self, epsilon=(0, 100))

    def removed(self, size: int) -> DominatingPair:
        if size == 1 or self.epsilon == 0:
            return ApproximateDP(self.epsilon, 0.0).removed(1)
        noise = DiscreteLaplaceNoise(1 / self.epsilon)  # rounding: within 4u
        return ShiftedNoise(noise, (float(size),))

    def exchanged(self, size: int) -> DominatingPair:
        return self.removed(size)
