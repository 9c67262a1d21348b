# Generated from notebooks/samplers/zeroed.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""A record that counts for nothing

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\gamma$ | `rate` | chance of the record to be in a batch, $b/n$, in $(0, 1)$ |
| $\mu$ | `mu` | how far a record of norm 1 moves the sum, in standard deviations of the noise: $1/\sigma$ |
| $x$, $y$ | – | the record, and the one that has its place where it is not drawn: vectors of norm at most 1 |
| $O$, $X$, $X_0$ | – | laws of the output with $y$, with $x$, and with nothing in that place |
| $N_k$ | – | the normal law with mean $k \mu$ and standard deviation 1, on the line |
| $\alpha$, $\alpha'$, $\beta$ | – | $e^\varepsilon$; $1 + (\alpha - 1)/\gamma$; $\alpha/\alpha'$ |
| $z$, $w$, $v$ | `z`, `w`, – | output on the line; $w = \mu (z - \tfrac32 \mu)$; $v = e^w$ |
| $L$, $\ell$, $\Delta$ | `losses`, `widths` | privacy loss, a value of it, and a difference of two |
| $g$, $\kappa$ | `gain`, `_kappa` | $e^\ell - 1$; $e^{-\mu^2} (1 - \gamma)/\gamma$ |
| $H_\alpha$, $\Phi$ | – | hockey stick; standard normal distribution function |
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.special import erf

from accountlib.inputs import Floats, check_kind, check_number
from accountlib.several.exchange_batches import MirroredPair
from accountlib.worst_cases.dominating_pairs import (
    UNIT,
    Closed,
    DominatingPair,
    ExcessError,
    atom_masses,
)
from accountlib.worst_cases.noise import GaussianPair, normal_masses
from accountlib.worst_cases.sampling import SampledPair

__all__ = ["SplicedPair", "ZeroedHalf", "zeroed_batch_pair", "BoundingPair"]

# --- In the code: two pairs become one


@dataclass(frozen=True)
class SplicedPair(MirroredPair):
    r"""A pair that is given by the positive losses of both directions.

    Formula: $H_\alpha(P \Vert Q)$ is that of `half` and $H_\alpha(Q \Vert
    P)$ that of `other`, for $\alpha \ge 1$; an atom at 0 has what is
    missing.

    Parameters: `half`, `other`, pairs with the same delta(0), which
    neighbours reach, `other` in the other direction; `center`, mass of
    the atom, so that the sum is 1.
    Raises: ValueError for pairs and atoms that do not fit together.
    Error: rounding only, as the two pairs.

    >>> one = SampledPair(GaussianPair(1.0), 0.5)
    >>> center = 0.5 * GaussianPair(1.0).delta(0.0)
    >>> pair = SplicedPair(one, center, one)
    >>> pair.delta(1.0) == one.delta(1.0), pair.reversed() == pair
    (True, True)
    """

    other: DominatingPair
    symmetric = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_kind("other", self.other, DominatingPair)
        for masses, infinite in zip(
            self.masses([0.0]), self.infinite_mass, strict=True
        ):
            total = float(np.sum(masses)) + infinite
            if abs(total - 1) > 1e-9:
                raise ValueError(
                    "center and the masses of half and other must sum to 1, "
                    f"got {total} with center {self.center}"
                )

    @property
    def back(self) -> DominatingPair:
        return self.other

    @property
    def reached(self) -> tuple[DominatingPair, ...]:
        return self.half, self.other.reversed()

    def reversed(self) -> DominatingPair:
        return SplicedPair(self.other, self.center, self.half)


_LOWER_CELLS = 96  # of outputs with negative losses; 200 change 2e-5
_LOWEST_CELL = -9.0  # in standard deviations; below is one cell


@dataclass(frozen=True)
class ZeroedHalf(DominatingPair):
    r"""A record against nothing in a fixed batch, all others opposite.

    Formula: $P = (1-\gamma) N_0 + \gamma N_2$, $Q = (1-\gamma) N_0 +
    \gamma N_1$, unit normals at 0, $2\mu$ and $\mu$; outputs with negative
    losses are merged into a few cells.

    Parameters: `mu` ($\mu$ in [1e-100, 20]), `rate` ($\gamma$ in (0, 1)),
    a Fraction.
    Raises: ValueError for values outside these ranges.
    Error: rounding only, twice the default of `mass_error`.

    >>> pair = ZeroedHalf(1.0, Fraction(1, 10))
    >>> round(pair.delta(0.5), 8)
    0.01636582
    """

    mu: float
    rate: Fraction

    def __post_init__(self) -> None:
        check_number("mu", self.mu, 1e-100, 20)
        check_kind("rate", self.rate, Fraction)
        if not 0 < self.rate < 1:
            raise ValueError(f"rate must lie in (0, 1), got {self.rate}")

    @cached_property
    def _kappa(self) -> float:
        return float((1 - self.rate) / self.rate) * math.exp(-(self.mu**2))

    def _steps(self, losses: Floats) -> Floats:
        """w where each loss is taken: eq. (zo-place)."""
        gain = np.expm1(np.minimum(losses, 1.0))
        root = np.sqrt((1 + gain) ** 2 + 4 * gain * self._kappa)
        near = np.log1p(2 * gain * (1 + self._kappa) / ((1 - gain) + root))
        t = self._kappa * -np.expm1(-losses) * np.exp(-losses)
        far = losses + np.log1p((np.sqrt(1 + 4 * t) - 1) / 2)
        return np.where(losses < 0.6, near, far)

    def _growth(self, losses: Floats, widths: Floats, w: Floats) -> Floats:
        """Growth of w over each interval: eq. (zo-width)."""
        share = self._kappa * np.exp(-w[1:])
        slower = np.exp(losses[:-1] - w[:-1])
        rest = share * slower * -np.expm1(-losses[:-1])
        factor = slower * (1 + share) / (1 + rest)
        short = np.log1p(np.expm1(np.minimum(widths, 1)) * factor)
        return np.where(widths < 1, short, w[1:] - w[:-1])

    def _masses(self, z: Floats, d: Floats) -> tuple[Floats, Floats, Floats]:
        """Masses of P and Q between outputs, and their difference."""
        none, one, two = (normal_masses(z - k * self.mu, d) for k in range(3))
        stay, rate = float(1 - self.rate), float(self.rate)
        p, q = stay * none + rate * two, stay * none + rate * one
        return p, q, rate * (two - one)

    @cached_property
    def _low(self) -> tuple[Floats, Floats, Floats]:
        """Losses and masses of the cells of outputs with negative losses."""
        z = np.linspace(_LOWEST_CELL, 1.5 * self.mu, _LOWER_CELLS)
        masses = (m[:-1] for m in self._masses(z, np.diff(z)))
        p, q, gap = masses
        seen = np.minimum(p, q) > 1e-290
        p, q, gap = p[seen], q[seen], gap[seen]
        loss = np.log1p(np.maximum(gap / q, -0.5))
        loss = np.where(gap < -0.5 * q, np.log(p / q), loss)
        loss, which = np.unique(loss, return_inverse=True)
        p, q = (np.bincount(which, m).astype(float) for m in (p, q))
        return loss, p, q

    @property
    def loss_range(self) -> tuple[float, float]:
        return float(self._low[0][0]), math.inf

    @property
    def atoms(self) -> tuple[float, ...]:
        return tuple(self._low[0].tolist())

    def mass_error(self, mass: Floats) -> Floats:
        return 2 * super().mass_error(mass)

    @property
    def atom_error(self) -> float:
        return 8 * (9 + 2 * self.mu) ** 2 * UNIT  # densities far out

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        low, *masses = self._low
        p, q = (atom_masses(edges, closed, low, mass) for mass in masses)
        start = int(np.searchsorted(edges, 0.0, side="right"))
        losses = np.append(0.0, edges[start:])
        gaps = np.append(edges[start : start + 1], widths[start:])
        w = self._steps(losses)
        d = self._growth(losses, gaps, w) / self.mu
        over, under, _ = self._masses(1.5 * self.mu + w / self.mu, d)
        p[start:] += over[1:]
        q[start:] += under[1:]
        return p, q


def zeroed_batch_pair(mu: float, rate: Fraction) -> DominatingPair:
    r"""The pair of a zeroed record in a fixed batch, Gaussian noise.

    Formula: positive losses of $((1-\gamma) N_0 + \gamma N_2,\;
    (1-\gamma) N_0 + \gamma N_1)$, negative ones of $(N_0,\; (1-\gamma)
    N_0 + \gamma N_1)$, an atom at 0.

    Parameters: `mu` ($\mu = 1/\sigma$ in [1e-100, 20]); `rate`
    ($\gamma = b/n$ in (0, 1)), a Fraction.
    Returns: a DominatingPair for the record against nothing; its reverse
    is that of nothing against the record. Neighbours reach
    both `reached` pairs.
    Raises: ValueError for values outside these ranges.
    Error: rounding only, as `ZeroedHalf`.
    Source: theorem "Zeroing out in a fixed batch" of the page "A record
    that counts for nothing".

    >>> pair = zeroed_batch_pair(1.0, Fraction(1, 10))
    >>> round(pair.center, 6), round(pair.reversed().delta(0.5), 9)
    (0.56219, 0.002032537)
    """
    half = ZeroedHalf(mu, rate)
    beside = SampledPair(GaussianPair(mu), float(rate), exact=rate)
    near, far = (erf(k * mu / math.sqrt(8)) for k in (1, 3))
    center = float(1 - rate) * float(near + far) / 2
    return SplicedPair(half, center, beside)


# --- Other noise: a bound that no data are known to reach


@dataclass(frozen=True)
class BoundingPair(DominatingPair):
    """A pair that is an upper bound, with others that neighbours reach.

    Formula: none; masses and losses are those of `pair`.

    Parameters: `pair`; `below`, one or two pairs that neighbours reach.
    Error: that of `pair`.

    >>> pair = BoundingPair(GaussianPair(2.0), (GaussianPair(1.0),))
    >>> pair.delta(0.0) == GaussianPair(2.0).delta(0.0), pair.reached
    (True, (GaussianPair(mu=1.0),))
    """

    pair: DominatingPair
    below: tuple[DominatingPair, ...]

    def __post_init__(self) -> None:
        check_kind("pair", self.pair, DominatingPair)
        for one in self.below:
            check_kind("below", one, DominatingPair)

    @property
    def reached(self) -> tuple[DominatingPair, ...]:
        return self.below

    @property
    def infinite_mass(self) -> tuple[float, float]:
        return self.pair.infinite_mass

    @property
    def loss_range(self) -> tuple[float, float]:
        return self.pair.loss_range

    @property
    def atoms(self) -> tuple[float, ...]:
        return self.pair.atoms

    @property
    def atom_count(self) -> int:
        return self.pair.atom_count

    @property
    def lattice(self) -> tuple[float, float] | None:
        return self.pair.lattice

    @property
    def largest_loss(self) -> Fraction | None:
        return self.pair.largest_loss

    @property
    def atom_error(self) -> float:
        return self.pair.atom_error

    @property
    def discrete(self) -> bool:
        return self.pair.discrete

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        return self.pair.interval_masses(edges, widths, closed)

    def masses_at(
        self, edges: Floats, rests: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        return self.pair.masses_at(edges, rests, widths, closed)

    def mass_error(self, mass: Floats) -> Floats:
        return self.pair.mass_error(mass)

    def excess_error(self, p: Floats, q: Floats) -> ExcessError:
        return self.pair.excess_error(p, q)

    def _delta(self, epsilon: float) -> float:
        return float(self.pair.delta(epsilon))

    def _reversed_delta(self, epsilon: float) -> float:
        return float(self.pair.reversed().delta(epsilon))

    def reversed(self) -> DominatingPair:
        below = tuple(pair.reversed() for pair in self.below)
        return BoundingPair(self.pair.reversed(), below)
