# Generated from notebooks/worst_cases/dominating_pairs.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Worst-case pairs of distributions

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $M$, $D$, $D'$ | – | a mechanism; neighbouring data sets, lists of records |
| $P$, $Q$ | – | output distributions with the record and without it, or before and after an exchange |
| $p$, $q$ | `p`, `q` | probabilities under $P$ and $Q$: of an outcome or an interval |
| $H_\alpha$, $\alpha$ | `hockey_stick`, `alpha` | hockey-stick divergence; $\alpha = e^{\varepsilon} \ge 0$ |
| $L$, $\ell$ | `loss` | privacy loss $\log(dP/dQ)$; one value of it |
| $e_0 < e_1 < \dots$ | `edges` | losses that cut the real line into intervals |
| – | `widths` | differences of neighbouring edges, $> 0$ |
| $e_P$, $e_Q$ | `mass_error` | relative error of an interval's mass under $P$ and under $Q$ |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from accountlib.inputs import (
    Floats,
    as_given,
    check_kind,
    check_range,
    check_two_laws,
    front_door,
    read_only,
)

__all__ = [
    "UNIT",
    "Closed",
    "ExcessError",
    "DominatingPair",
    "ReversedPair",
    "atom_masses",
    "Mechanism",
    "DiscretePair",
    "RoundedPair",
]

# --- The error of a mass

UNIT = 2.0**-53  # unit round-off of double precision
Closed = Literal["left", "right"]


class ExcessError(NamedTuple):
    r"""How far the differences P - alpha Q of computed masses may be off.

    Formula: $a + \alpha b + \lvert \alpha - c \rvert d$.

    Fields: `p` (a), `q` (b), `common` (d), one number per interval;
    `middle` (c > 0).

    >>> error = ExcessError(np.ones(1), np.zeros(1), np.ones(1), 0.9)
    >>> error.at(np.array([1.0])).round(9).tolist()
    [1.1]
    """

    p: Floats
    q: Floats
    common: Floats
    middle: float = 1.0

    def at(self, alpha: Floats) -> Floats:
        """One bound per interval."""
        gap = np.abs(alpha - self.middle)
        return np.asarray(self.p + alpha * self.q + gap * self.common)

    def map(self, function: Callable[[Floats], Floats]) -> "ExcessError":
        """The same for some of the intervals, or for sums of them."""
        p, q, common = map(function, (self.p, self.q, self.common))
        return ExcessError(p, q, common, self.middle)


# --- Code: a pair of any kind


class DominatingPair(ABC):
    r"""Two distributions P, Q, seen through their privacy loss.

    Formula: $L(y) = \ln(dP/dQ)(y)$. P is the output distribution with
    the record, Q the one without it (remove); `.reversed()` is add.

    A subclass says how much mass P and Q put on intervals of losses, and
    where the atoms of L are; the rest of the book needs nothing else.
    Error: rounding only; `mass_error` says how much.
    Source: Zhu, Dong and Wang (2022), Definition 7.
    """

    symmetric: ClassVar[bool] = False  # whether (Q, P) is the same pair

    @property
    def infinite_mass(self) -> tuple[float, float]:
        """P-mass where Q = 0 (loss inf), Q-mass where P = 0 (loss -inf)."""
        return 0.0, 0.0

    @property
    @abstractmethod
    def loss_range(self) -> tuple[float, float]:
        """Smallest and largest finite loss (-inf, inf if unbounded)."""

    @property
    def atoms(self) -> tuple[float, ...]:
        """Finite losses that have positive probability, increasing."""
        return ()

    @property
    def atom_count(self) -> int:
        """How many atoms there are, roughly; 0 only if there is none."""
        return len(self.atoms)

    @property
    def lattice(self) -> tuple[float, float] | None:
        """Two neighbouring atoms, if they all are evenly spaced."""
        return None

    @property
    def largest_loss(self) -> Fraction | None:
        """The largest finite loss, exactly, where the pair knows it."""
        return None

    @property
    def atom_error(self) -> float:
        """How far an atom (up to 600) may be from where it is meant."""
        return 2.0**-43

    @property
    def discrete(self) -> bool:
        """Whether the atoms are all there is."""
        return False

    @property
    def reached(self) -> tuple["DominatingPair", ...]:
        """Pairs that neighbours reach: this one, unless a theory has a gap."""
        return (self,)

    @abstractmethod
    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        """Masses under P and Q of the intervals between increasing edges.

        `widths` are the differences of the edges, accurate where the
        difference of two rounded edges would not be; `closed` says which
        end belongs to an interval. The two outer intervals come first
        and last.
        """

    def masses_at(
        self, edges: Floats, rests: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        """`interval_masses` for edges that are sums of two floats.

        A pair that needs no more than rounded edges leaves it as it is.
        """
        return self.interval_masses(edges, widths, closed)

    def mass_error(self, mass: Floats) -> Floats:
        r"""Bound of the relative error of interval masses of this size.

        Formula: $(64 + 16 \ln(1/p))\, u$ with $u = 2^{-53}$, twice what
        the pairs of the book need; others may state a number of their own.

        Parameters: `mass` ($p$ in [0, 1]; below 2.2e-308 it counts as that).
        Returns: one upper bound of the relative error per mass, measured
        against the pair that the mechanism means, without any rounding.

        >>> pair = DiscretePair((0.5, 0.5), (0.25, 0.75))
        >>> bool(pair.mass_error(np.array([1e-6]))[0] < 7e-14)
        True
        """
        small = np.finfo(np.float64).tiny
        return UNIT * (64 - 16 * np.log(np.clip(mass, small, 1)))

    def excess_error(self, p: Floats, q: Floats) -> ExcessError:
        r"""Bound of the error of differences of interval masses.

        Formula: $e_P P + \alpha e_Q Q$, unless a pair knows better.

        Parameters: `p`, `q`, interval masses as computed.
        Returns: an upper bound of how far P - alpha Q may be off, but for
        the rounding of this difference.
        """
        wrong = self.mass_error(p) * p, self.mass_error(q) * q
        return ExcessError(*wrong, np.zeros(len(p)))

    @front_door
    def masses(self, edges: ArrayLike) -> tuple[Floats, Floats]:
        """Masses under P and Q of the loss intervals cut by `edges`.

        Parameters: `edges`, n increasing finite losses.
        Returns: two arrays of length n + 1, for (-inf, e0], (e0, e1],
        ..., (e_(n-1), inf); finite losses only (`infinite_mass` has the rest).
        Raises: ValueError for edges that are not finite and increasing.
        Error: rounding only; `mass_error` is a bound of it, in both tails
        and however narrow the interval is.

        >>> p, q = DiscretePair((0.75, 0.25), (0.25, 0.75)).masses([-2.0, 0.0])
        >>> q
        array([0.  , 0.75, 0.25])
        """
        edges = check_range("edges", edges, -np.inf, np.inf, "()")
        if edges.ndim != 1 or edges.size == 0 or np.any(np.diff(edges) <= 0):
            raise ValueError(
                f"edges must be a non-empty increasing list, got {edges!r}"
            )
        return self.interval_masses(edges, np.diff(edges), "right")

    @front_door
    def delta(self, epsilon: ArrayLike) -> Any:
        r"""Privacy curve of the pair.

        Formula: $\delta(\varepsilon) = P(L > \varepsilon) -
        e^\varepsilon Q(L > \varepsilon)$.

        Parameters: `epsilon` of any sign; a number or an array.
        Returns: delta in [0, 1], same shape, exact up to rounding
        (absolute error about 1e-15; subclasses with a closed form keep
        relative accuracy).
        Raises: ValueError for NaN and infinite epsilon.
        """
        epsilon = check_range("epsilon", epsilon, -np.inf, np.inf, "()")
        delta = [self._delta(float(x)) for x in epsilon.flat]
        return as_given(np.array(delta).reshape(epsilon.shape))

    def _delta(self, epsilon: float) -> float:
        p, q = self.masses([epsilon])
        excess = p[1] - math.exp(epsilon + math.log(q[1])) if q[1] else p[1]
        return max(0.0, float(excess)) + self.infinite_mass[0]

    def _reversed_delta(self, epsilon: float) -> float:
        p, q = self.masses([-epsilon])
        excess = q[0] - math.exp(epsilon + math.log(p[0])) if p[0] else q[0]
        return max(0.0, float(excess)) + self.infinite_mass[1]

    def reversed(self) -> "DominatingPair":
        """The pair (Q, P): add instead of remove; the loss changes sign."""
        return self if self.symmetric else ReversedPair(self)


@dataclass(frozen=True)
class ReversedPair(DominatingPair):
    """The pair (Q, P) of another pair (P, Q).

    Formula: $L_{Q,P} = -L_{P,Q}$.

    Parameters: `pair`, the pair (P, Q).
    Raises: ValueError if `pair` is no DominatingPair.
    Error: that of `pair`; exchanging P and Q adds none.

    >>> pair = DiscretePair((0.5, 0.5), (0.25, 0.75))
    >>> ReversedPair(pair).loss_range == (-pair.atoms[1], -pair.atoms[0])
    True
    """

    pair: DominatingPair

    def __post_init__(self) -> None:
        check_kind("pair", self.pair, DominatingPair)

    @property
    def reached(self) -> tuple[DominatingPair, ...]:
        return tuple(one.reversed() for one in self.pair.reached)

    @property
    def infinite_mass(self) -> tuple[float, float]:
        p, q = self.pair.infinite_mass
        return q, p

    @property
    def loss_range(self) -> tuple[float, float]:
        low, high = self.pair.loss_range
        return -high, -low

    @cached_property
    def atoms(self) -> tuple[float, ...]:
        return tuple(-x for x in reversed(self.pair.atoms))

    @property
    def atom_count(self) -> int:
        return self.pair.atom_count

    @property
    def lattice(self) -> tuple[float, float] | None:
        found = self.pair.lattice
        return None if found is None else (-found[1], -found[0])

    @property
    def atom_error(self) -> float:
        return self.pair.atom_error

    @property
    def discrete(self) -> bool:
        return self.pair.discrete

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        other: Closed = "left" if closed == "right" else "right"
        p, q = self.pair.interval_masses(-edges[::-1], widths[::-1], other)
        return q[::-1], p[::-1]

    def mass_error(self, mass: Floats) -> Floats:
        return self.pair.mass_error(mass)

    def excess_error(self, p: Floats, q: Floats) -> ExcessError:
        # Q - alpha P is -alpha (P - Q/alpha)
        of_p, of_q, common, middle = self.pair.excess_error(q, p)
        return ExcessError(of_q, of_p, middle * common, 1 / middle)

    def _delta(self, epsilon: float) -> float:
        return self.pair._reversed_delta(epsilon)

    def reversed(self) -> DominatingPair:
        return self.pair


# --- Code: lists of probabilities


def atom_masses(
    edges: Floats, closed: Closed, losses: Floats, masses: Floats
) -> Floats:
    """Sum the masses of atoms over the intervals between edges.

    Parameters: `edges`, n increasing losses; `closed`, the end that
    belongs to an interval; `losses`, `masses` of the atoms.
    Returns: n + 1 sums.
    Error: rounding only; relative error below 1.2e-16 times the number
    of atoms in an interval. An atom and an edge are compared as floats.

    >>> atom_masses(np.array([0.0]), "right", np.array([0.0]), np.ones(1))
    array([1., 0.])
    """
    side: Closed = "left" if closed == "right" else "right"
    where = np.searchsorted(edges, losses, side=side)
    sums = np.bincount(where, masses, minlength=len(edges) + 1)
    return sums.astype(np.float64)


class Mechanism(ABC):
    """One run of a randomized algorithm on the records it is given.

    `pair()` dominates it for one record removed (P with, Q without), and
    `exchange_pair()` for one record exchanged for another.
    Source: Zhu, Dong and Wang (2022), Definition 7.
    """

    @abstractmethod
    def pair(self) -> DominatingPair:
        """Dominating pair for one record removed: with it, without it."""

    def exchange_pair(self) -> DominatingPair:
        """Dominating pair for one record exchanged for another."""
        raise NotImplementedError(
            f"{self} says what happens when a record is removed; a fixed "
            "batch needs its guarantee for an exchanged record (substitution)"
        )


@dataclass(frozen=True)
class DiscretePair(DominatingPair, Mechanism):
    r"""A pair of discrete distributions, given by two lists.

    Formula: $L(y) = \ln(p_y/q_y)$.

    Parameters: `p` (with the record) and `q` (without), probabilities of
    the same outcomes, in the same order. As a mechanism it means: this
    pair dominates for one record removed.
    Raises: ValueError for lists that are no probabilities or differ in
    length.
    Error: the lists are exact by definition. Masses are added up:
    `mass_error`. Losses: 8 u, relative (`atom_error`).
    Source: Lebeda et al. (2024), Definition 5.

    >>> DiscretePair([0.75, 0.25], [0.25, 0.75]).masses([0.0])[0]
    array([0.25, 0.75])
    """

    p: Sequence[float] | Floats
    q: Sequence[float] | Floats

    def __post_init__(self) -> None:
        p, q = check_two_laws(self.p, self.q)
        object.__setattr__(self, "p", tuple(map(float, p)))
        object.__setattr__(self, "q", tuple(map(float, q)))

    @cached_property
    def _shared(self) -> tuple[Floats, Floats]:
        """Probabilities of the outcomes that both have."""
        p, q = np.array(self.p), np.array(self.q)
        both = (p > 0) & (q > 0)
        return p[both], q[both]

    def _losses(self) -> Floats:
        """Losses of the outcomes that both have."""
        p, q = self._shared
        near = np.abs(p - q) < q / 2  # there p - q is exact
        with np.errstate(all="ignore"):
            ratio = p / q
            far = (ratio < 1e-300) | (ratio > 1e300)
            loss = np.where(far, np.log(p) - np.log(q), np.log(ratio))
            return np.where(near, np.log1p((p - q) / q), loss)

    @cached_property
    def _finite(self) -> tuple[Floats, Floats, Floats]:
        """Losses in increasing order, and their probabilities."""
        rows = np.stack([self._losses(), *self._shared])
        losses, p, q = read_only(rows[:, np.argsort(rows[0])])
        return losses, p, q

    @property
    def infinite_mass(self) -> tuple[float, float]:
        p, q = np.array(self.p), np.array(self.q)
        return math.fsum(p[q == 0]), math.fsum(q[p == 0])

    @property
    def loss_range(self) -> tuple[float, float]:
        loss = self._finite[0]
        return (float(loss[0]), float(loss[-1])) if len(loss) else (0.0, 0.0)

    @cached_property
    def atoms(self) -> tuple[float, ...]:
        return tuple(self._finite[0].tolist())

    @property
    def atom_error(self) -> float:
        # Quotient, logarithm: 5.5 u near 0, 6.5 u further out, 5.6 u if far
        return 8 * UNIT * max(map(abs, self.loss_range))

    @property
    def discrete(self) -> bool:
        return True

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        loss, *laws = self._finite
        p, q = (atom_masses(edges, closed, loss, law) for law in laws)
        return p, q

    def mass_error(self, mass: Floats) -> Floats:
        # Masses are given, or one exponential, and added up.
        return super().mass_error(mass) / 4 + 2 * len(self.p) * UNIT

    def _delta(self, epsilon: float) -> float:
        loss, p, q = self._finite
        above = loss > epsilon
        excess = p[above] * -np.expm1(epsilon - loss[above])
        return math.fsum(excess) + self.infinite_mass[0]

    def reversed(self) -> "DiscretePair":
        # Read backwards, so that a symmetric pair gives itself.
        return DiscretePair(self.q[::-1], self.p[::-1])

    def pair(self) -> DominatingPair:
        return self


# --- When only epsilon and delta are known


@dataclass(frozen=True)
class RoundedPair(DiscretePair):
    r"""A discrete pair whose probabilities are rounded, not its losses.

    Formula: $L(y) = \ln(p_y/q_y)$ for the numbers that p and q stand for.

    Parameters: `p`, `q`, as for `DiscretePair`, each with a relative error
    of at most $(14 + \ln(1/p)) u$; `losses` of the outcomes that both
    have, in their order, with one of at most 32 u (or 1e-322); `top`, the
    largest of them, where it is known exactly.
    Raises: ValueError as `DiscretePair`, for another number of losses, and
    for losses that are not those of p and q but for rounding.
    Error: of masses `mass_error`, of losses 32 u, relative.

    >>> RoundedPair((0.5, 0.5), (0.5, 0.5), (1e-20, -1e-20)).atoms
    (-1e-20, 1e-20)
    """

    losses: tuple[float, ...] = ()
    top: Fraction | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        losses = tuple(map(float, self.losses))
        object.__setattr__(self, "losses", losses)
        p, q = self._shared
        if len(losses) != len(p):
            raise ValueError(
                f"losses must list {len(p)} numbers, one for each outcome "
                f"that p and q share, got {self.losses!r}"
            )
        near = np.abs(losses - (np.log(p) - np.log(q))) <= 1e-9
        if not np.all(near | (np.minimum(p, q) < 1e-290)):
            raise ValueError(f"losses must be ln(p/q), got {self.losses!r}")

    def _losses(self) -> Floats:
        return np.array(self.losses)

    @property
    def atom_error(self) -> float:
        return 32 * UNIT * max(map(abs, self.loss_range)) + 1e-322

    def reversed(self) -> "RoundedPair":
        losses = tuple(-x for x in reversed(self.losses))
        same = losses == self.losses  # then the largest one is, too
        top = self.top if same else None
        return RoundedPair(self.q[::-1], self.p[::-1], losses, top)

    @property
    def largest_loss(self) -> Fraction | None:
        return self.top
