# Generated from notebooks/02_worst_case_pairs.md by tools/tangle.py; do not edit.

"""Worst-case pairs of distributions."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from enum import StrEnum
from fractions import Fraction
from functools import cached_property, singledispatch
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, erfcx

from accountlib.divergences import (
    Floats,
    as_given,
    check_count,
    check_number,
    check_probabilities,
    check_range,
    front_door,
    gaussian_delta,
    laplace_delta,
)

__all__ = [
    "UNIT",
    "Closed",
    "SHORT_RULE",
    "LONG_RULE",
    "ExcessError",
    "DominatingPair",
    "check_kind",
    "ReversedPair",
    "atom_masses",
    "Mechanism",
    "DiscretePair",
    "RoundedPair",
    "two_sum",
    "two_product",
    "normal_tail",
    "normal_masses",
    "quotient",
    "GaussianPair",
    "LaplacePair",
    "two_logarithms",
    "SampledPair",
    "Gaussian",
    "Laplace",
    "running_sums",
    "EndlessAtoms",
    "IntegerGaussianPair",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "RandomizedResponse",
    "ApproximateDP",
    "PureDP",
    "Adjacency",
    "check_adjacency",
    "FullBatch",
    "Poisson",
    "FixedBatch",
    "Sampling",
    "Release",
    "check_pair",
    "exchanged_pair",
    "single_pair",
    "group_pair",
    "substitute_pair",
    "dominating_pairs",
]

UNIT = 2.0**-53  # unit round-off of double precision
Closed = Literal["left", "right"]
# Gauss-Legendre nodes and weights: for the narrowest intervals, and others
# (arrays from bytes are read-only)
SHORT_RULE = tuple(
    np.frombuffer(x.tobytes()) for x in np.polynomial.legendre.leggauss(3)
)
LONG_RULE = tuple(
    np.frombuffer(x.tobytes()) for x in np.polynomial.legendre.leggauss(8)
)


class ExcessError(NamedTuple):
    r"""How far the differences P - alpha Q of computed masses may be off.

    Formula: $a + \alpha b + \lvert \alpha - c \rvert d$.

    Fields: `p` (a), `q` (b), `common` (d), one number per interval;
    `middle` (c > 0).
    Source: chapter 2, "The error of a mass".

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
        gap: Floats = np.abs(alpha - self.middle)
        bound: Floats = self.p + alpha * self.q + gap * self.common
        return bound

    def map(self, function: Callable[[Floats], Floats]) -> "ExcessError":
        """The same for some of the intervals, or for sums of them."""
        p, q, common = map(function, (self.p, self.q, self.common))
        return ExcessError(p, q, common, self.middle)


class DominatingPair(ABC):
    r"""Two distributions P, Q, seen through their privacy loss.

    Formula: $L(y) = \ln(dP/dQ)(y)$. P is the output distribution with
    the record, Q the one without it (remove); `.reversed()` is add.

    A subclass says how much mass P and Q put on intervals of losses, and
    where the atoms of L are; the rest of the book needs nothing else.
    Error: rounding only; `mass_error` says how much.
    Source: Zhu, Dong and Wang (2022), Definition 7; chapter 2.
    """

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
        Source: chapter 2, "The error of a mass".

        >>> bool(GaussianPair(1.0).mass_error(np.array([1e-6]))[0] < 7e-14)
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
        Source: chapter 2, "The error of a mass".
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

        >>> p, q = dominating_pairs(
        ...     Laplace(1.0), sampling=FullBatch(), adjacency="remove"
        ... )[0].masses([-1.0, 0.0])
        >>> q.round(4)
        array([0.5   , 0.1967, 0.3033])
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
        return ReversedPair(self)


def check_kind(name: str, value: object, kinds: Any) -> None:
    """Raise ValueError unless `value` is of one of the `kinds`.

    Parameters: `name`, the argument's name; `value`; `kinds`, a type or
    a tuple of types.
    Raises: ValueError naming argument, allowed types and value.
    Source: chapter 1, "Refuse bad input".

    >>> check_kind("mechanism", 0.8, Mechanism)
    Traceback (most recent call last):
    ...
    ValueError: mechanism must be a Mechanism, got 0.8
    """
    if not isinstance(value, kinds):
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        names = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"{name} must be a {names}, got {value!r}")


@dataclass(frozen=True)
class ReversedPair(DominatingPair):
    """The pair (Q, P) of another pair (P, Q).

    Formula: $L_{Q,P} = -L_{P,Q}$.

    Parameters: `pair`, the pair (P, Q).
    Raises: ValueError if `pair` is no DominatingPair.
    Error: that of `pair`; exchanging P and Q adds none.
    Source: chapter 2, "Code: losses in intervals".

    >>> ReversedPair(SampledPair(GaussianPair(1.0), 0.5)).loss_range
    (-inf, 0.6931471805599453)
    """

    pair: DominatingPair

    def __post_init__(self) -> None:
        check_kind("pair", self.pair, DominatingPair)

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


def atom_masses(
    edges: Floats, closed: Closed, losses: Floats, masses: Floats
) -> Floats:
    """Sum the masses of atoms over the intervals between edges.

    Parameters: `edges`, n increasing losses; `closed`, the end that
    belongs to an interval; `losses`, `masses` of the atoms.
    Returns: n + 1 sums.
    Error: rounding only; relative error below 1.2e-16 times the number
    of atoms in an interval. An atom and an edge are compared as floats.
    Source: chapter 2, "Code: losses in intervals".

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
    Source: Zhu, Dong and Wang (2022), Definition 7; chapter 2.
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
    Source: Lebeda et al. (2024), Definition 5; chapter 2.

    >>> DiscretePair([0.75, 0.25], [0.25, 0.75]).masses([0.0])[0]
    array([0.25, 0.75])
    """

    p: Sequence[float] | Floats
    q: Sequence[float] | Floats

    def __post_init__(self) -> None:
        p = tuple(map(float, check_probabilities("p", self.p)))
        q = tuple(map(float, check_probabilities("q", self.q)))
        if len(p) != len(q):
            raise ValueError(
                f"p and q must have the same length, got {len(p)} and {len(q)}"
            )
        object.__setattr__(self, "p", p)
        object.__setattr__(self, "q", q)

    @cached_property
    def _finite(self) -> tuple[Floats, Floats, Floats]:
        p, q = np.array(self.p), np.array(self.q)
        both = (p > 0) & (q > 0)
        p, q = p[both], q[both]
        near = np.abs(p - q) < q / 2  # there p - q is exact
        with np.errstate(all="ignore"):
            ratio = p / q
            far = (ratio < 1e-300) | (ratio > 1e300)
            loss = np.where(far, np.log(p) - np.log(q), np.log(ratio))
            loss = np.where(near, np.log1p((p - q) / q), loss)
        order = np.argsort(loss)
        ordered = np.stack([loss, p, q])[:, order]
        ordered.flags.writeable = False
        return ordered[0], ordered[1], ordered[2]

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
        loss, p, q = self._finite
        return (
            atom_masses(edges, closed, loss, p),
            atom_masses(edges, closed, loss, q),
        )

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
    Source: chapter 2, "Code: losses in intervals".

    >>> RoundedPair((0.5, 0.5), (0.5, 0.5), (1e-20, -1e-20)).atoms
    (-1e-20, 1e-20)
    """

    losses: tuple[float, ...] = ()
    top: Fraction | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        losses = tuple(map(float, self.losses))
        object.__setattr__(self, "losses", losses)
        p, q = np.array(self.p), np.array(self.q)
        common = (p > 0) & (q > 0)
        p, q = p[common], q[common]
        if len(losses) != len(p):
            raise ValueError(
                f"losses must list {len(p)} numbers, one for each outcome "
                f"that p and q share, got {self.losses!r}"
            )
        near = np.abs(losses - (np.log(p) - np.log(q))) <= 1e-9
        if not np.all(near | (np.minimum(p, q) < 1e-290)):
            raise ValueError(f"losses must be ln(p/q), got {self.losses!r}")

    @cached_property
    def _finite(self) -> tuple[Floats, Floats, Floats]:
        p, q = np.array(self.p), np.array(self.q)
        both = (p > 0) & (q > 0)
        rows = np.stack([np.array(self.losses), p[both], q[both]])
        rows = rows[:, np.argsort(rows[0])]
        rows.flags.writeable = False
        return rows[0], rows[1], rows[2]

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


def two_sum(a: Any, b: Any) -> tuple[Floats, Floats]:
    r"""A sum of floats, and what its rounding took away: exact.

    Parameters: `a`, `b`, numbers or arrays (finite).
    Returns: the rounded sum, and the difference of the exact sum and it.
    Source: Knuth, The Art of Computer Programming 2, Theorem 4.2.2 B;
    chapter 2, "Code: Gaussian noise".

    >>> total, rest = two_sum(1.0, 1e-20)
    >>> float(total), float(rest)
    (1.0, 1e-20)
    """
    total = np.asarray(a + b)
    added = total - a
    return total, np.asarray((a - (total - added)) + (b - added))


def two_product(a: Any, b: Any) -> tuple[Floats, Floats]:
    r"""A product of floats, and what its rounding took away: exact.

    Formula: both are cut into halves of 26 digits, whose products are
    exact.

    Parameters: `a`, `b`, numbers or arrays below 1e290, with a product that
    is 0 or above 1e-290 (what is smaller may lose its second float).
    Returns: the rounded product, and the difference of the exact one and it.
    Source: Dekker (1971), Section 5; chapter 2, "Code: Gaussian noise".

    >>> x = 1 + 2.0**-30
    >>> product, rest = two_product(x, x)
    >>> float(product - 1 - 2.0**-29), float(rest) == 2.0**-60
    (0.0, True)
    """
    parts = []
    for x in (np.asarray(a, np.float64), np.asarray(b, np.float64)):
        cut = x * (2.0**27 + 1)
        top = cut - (cut - x)
        parts += [top, x - top]
    product = np.asarray(a * b)
    high = parts[0] * parts[2] - product
    return product, np.asarray(
        (high + parts[0] * parts[3] + parts[1] * parts[2])
        + parts[1] * parts[3]
    )


def normal_tail(z: Floats) -> Floats:
    r"""Standard normal probability above z, to nearly full precision.

    Formula: $\Phi(-z) = \frac12 e^{-z^2/2} \, \mathrm{erfcx}(z/\sqrt2)$,
    with $z^2 = r^2 + (z - r)(z + r)$ for a short r, whose square is exact.

    Parameters: `z`, an array (infinities allowed).
    Returns: probabilities; below 1e-307 they lose digits, and are 0 from
    $z = 38.6$ on.
    Error: relative error below $10 u$, against ball arithmetic.
    Source: chapter 2, "Code: Gaussian noise".

    >>> bool(abs(normal_tail(np.array([0.0]))[0] - 0.5) < 1e-15)
    True
    """
    x = np.minimum(np.abs(z), 40.0)
    near = np.rint(x * 4096) / 4096  # its square has at most 37 digits
    rest = (x - near) * (x + near)
    density = np.exp(-near * near / 2) * np.exp(-rest / 2)
    tail = density * erfcx(x / math.sqrt(2)) / 2
    return np.asarray(np.where(z >= 0, tail, 1 - tail))


def normal_masses(edges: Floats, widths: Floats) -> Floats:
    r"""Standard normal probability of the intervals between edges.

    Formula: $\Phi(z_{i+1}) - \Phi(z_i)$ without cancellation.

    Parameters: `edges`, n increasing numbers $z_0, \dots, z_{n-1}$ (-inf
    and inf allowed); `widths`, their n - 1 differences.
    Returns: n + 1 probabilities, the outer ones of the two tails.
    Error: rounding only, relative error below about $(10 + 4 z^2) u$.
    Source: chapter 2, "Code: Gaussian noise".

    >>> normal_masses(np.array([0.0, 1e-9]), np.array([1e-9]))
    array([5.0000000e-01, 3.9894228e-10, 5.0000000e-01])
    """
    left, right = edges[:-1], edges[1:]
    size = widths * (1 + np.maximum(np.abs(left), np.abs(right)))
    inner = np.empty(len(widths))
    # Wide: a difference of tails, taken on the side of the smaller ones.
    wide = np.flatnonzero(~(size < 1))
    mirrored = right[wide] > -left[wide]
    low = np.where(mirrored, -right[wide], left[wide])
    high = np.where(mirrored, -left[wide], right[wide])
    across = (erf(high / math.sqrt(2)) - erf(low / math.sqrt(2))) / 2
    outer = normal_tail(np.concatenate([-high, -low, -edges[:1], edges[-1:]]))
    tails = outer[: len(wide)] - outer[len(wide) : -2]
    inner[wide] = np.where(high <= 0, tails, across)
    # Narrow: phi at the middle times a smooth integral, by quadrature.
    for rule, narrow in (
        (SHORT_RULE, size < 0.02),
        (LONG_RULE, (size >= 0.02) & (size < 1)),
    ):
        where = np.flatnonzero(narrow)
        half = widths[where] / 2
        middle = left[where] + half
        integral = np.zeros(len(where))
        for node, weight in zip(*rule, strict=True):
            t = node * half
            integral += weight * np.exp(-t * (middle + t / 2))
        density = np.exp(-(middle**2) / 2) / math.sqrt(2 * math.pi)
        inner[where] = density * half * integral
    return np.concatenate([outer[-2:-1], inner, outer[-1:]])


def quotient(a: Any, b: float) -> tuple[Floats, Floats]:
    r"""A quotient, and nearly all that its rounding took away.

    Formula: $a/b = h + (a - h b)/b$, with the product $h b$ as an exact
    sum of two floats.

    Parameters: `a`, a number or an array; `b`, a number.
    Returns: two floats. Their sum has a relative error of about $u^2$ if
    $|a|$ and $|a/b|$ lie between 1e-270 and 1e290; beyond, fewer digits.
    Source: Dekker (1971), Section 5; chapter 2, "Code: Gaussian noise".

    >>> high, low = quotient(1.0, 3.0)
    >>> Fraction(float(high)) + Fraction(float(low)) - Fraction(1, 3) < 1e-32
    True
    """
    part, power = math.frexp(b)
    with np.errstate(all="ignore"):
        high = np.asarray(a / part)
        seen = np.where(np.abs(high) < 1e290, high, 0.0)
        product, error = two_product(seen, part)
        low = ((a - product) - error) / part
        low = np.where(np.abs(high) < 1e290, low, 0.0)
        return np.ldexp(high, -power), np.ldexp(low, -power)


@dataclass(frozen=True)
class GaussianPair(DominatingPair):
    r"""Two unit Gaussians: P = N(mu, 1) and Q = N(0, 1).

    Formula: $L(z) = \mu z - \mu^2/2$.

    Parameters: `mu` ($\mu$ in [1e-300, 1e300]), distance of the means in
    standard deviations of the noise: sensitivity divided by standard
    deviation; `rest`, what rounding took away from mu.
    Raises: ValueError for mu outside this range.
    Error: rounding only. Masses: `mass_error`, in both tails (down to
    1e-300). Deltas: as `gaussian_delta`.
    Source: Lebeda et al. (2024), Proposition 9; chapter 2.

    >>> GaussianPair(1.0).delta(1.0) == gaussian_delta(1.0, mu=1.0)
    True
    """

    mu: float
    rest: float = field(default=0.0, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_number("mu", self.mu, 0, np.inf, "()")
        check_number("mu", self.mu, 1e-300, 1e300)

    @property
    def loss_range(self) -> tuple[float, float]:
        return -math.inf, math.inf

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        return self.masses_at(edges, np.zeros_like(edges), widths, closed)

    def masses_at(
        self, edges: Floats, rests: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        middle, low = quotient(edges, self.mu)
        near = np.abs(middle) < 1e100  # else nothing or all lies beyond
        shift = np.where(near, rests - middle * self.rest, 0.0) / self.mu
        low = np.where(near, low + shift, 0.0)
        p, q = (
            normal_masses(z + (z_low + low + half_low), widths / self.mu)
            for half, half_low in (
                (-self.mu / 2, -self.rest / 2),
                (self.mu / 2, self.rest / 2),
            )
            for z, z_low in [two_sum(middle, half)]
        )
        return p, q

    def delta(self, epsilon: ArrayLike) -> Any:
        return gaussian_delta(epsilon, mu=self.mu)

    def reversed(self) -> "GaussianPair":
        return self  # reflection at mu/2 exchanges P and Q


@dataclass(frozen=True)
class LaplacePair(DominatingPair):
    r"""Two Laplace distributions of scale s whose means differ by 1.

    Formula: $L(x) = (|x| - |x - 1|)/s$; between the means it is
    $(2x - 1)/s$, outside it is constant, $\pm 1/s$: two atoms.

    Parameters: `scale` ($s$ in [1e-150, 1e150]), in units of the distance
    of the means; `rest`, what rounding took away from it.
    Raises: ValueError for scale outside this range.
    Error: rounding only. Masses: `mass_error`.
    Deltas: as `laplace_delta`.
    Source: Lebeda et al. (2024), Proposition 9; chapter 2.

    >>> LaplacePair(2.0).loss_range
    (-0.5, 0.5)
    """

    scale: float
    rest: float = field(default=0.0, repr=False)

    def __post_init__(self) -> None:
        check_number("scale", self.scale, 0, np.inf, "()")
        check_number("scale", self.scale, 1e-150, 1e150)

    @property
    def loss_range(self) -> tuple[float, float]:
        return -1 / self.scale, 1 / self.scale

    @property
    def atoms(self) -> tuple[float, ...]:
        return self.loss_range

    @property
    def largest_loss(self) -> Fraction | None:
        return 1 / Fraction(self.scale) if self.rest == 0 else None

    @property
    def atom_error(self) -> float:
        return 4 * UNIT / self.scale

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        return self.masses_at(edges, np.zeros_like(edges), widths, closed)

    def masses_at(
        self, edges: Floats, rests: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        most, low = map(float, quotient(1.0, self.scale))
        low -= self.rest * most / self.scale
        cut = np.concatenate([[-most], np.clip(edges, -most, most), [most]])
        rest = np.where(np.abs(edges) < most, rests, np.sign(edges) * low)
        rest = np.concatenate([[-low], rest, [low]])
        inside = (edges[:-1] >= -most) & (edges[1:] <= most)
        width = np.diff(cut) + np.diff(rest)
        width[1:-1] = np.where(inside, widths, width[1:-1])
        # Between the atoms dQ = e^(-(most + loss)/2)/4 and dP = e^loss dQ.
        shrink = -np.expm1(-width / 2) / 2
        left, left_low = two_sum(most, cut[:-1])
        right, right_low = two_sum(most, -cut[1:])
        q = np.exp(-(left + (left_low + low + rest[:-1])) / 2) * shrink
        p = np.exp(-(right + (right_low + low - rest[1:])) / 2) * shrink
        ends = np.array([-most, most])
        small = math.exp(-most) / 2
        p += atom_masses(edges, closed, ends, np.array([small, 0.5]))
        q += atom_masses(edges, closed, ends, np.array([0.5, small]))
        return p, q

    def delta(self, epsilon: ArrayLike) -> Any:
        return laplace_delta(epsilon, scale=self.scale)

    def reversed(self) -> "LaplacePair":
        return self


def two_logarithms(x: Fraction) -> tuple[float, float]:
    """The logarithm of a fraction in (0, 1), as a sum of two floats.

    Parameters: `x`, the exact number.
    Returns: a float and what its rounding took away.
    Source: chapter 2, "Code: sampling".

    >>> two_logarithms(1 - Fraction(1, 2**100)) == (-(2.0**-100), -(2.0**-201))
    True
    """
    rest = 1 - x
    if rest < Fraction(1, 2**60):  # beyond these two terms: rest^3 / 3
        exact = -rest - rest * rest / 2
        high = float(exact)
        return high, float(exact - Fraction(high))
    context = Context(60, "ROUND_HALF_EVEN", -99999, 99999, traps=[])
    ratio = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    logarithm = context.ln(ratio)
    high = float(logarithm)
    return high, float(context.subtract(logarithm, Decimal.from_float(high)))


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
    et al. 2024); chapter 2.

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

    @property
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
        lowest = np.array([self._logs[0][0]])
        atom = np.array([self.base.infinite_mass[1]])
        q += atom_masses(edges, closed, lowest, atom)
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


@dataclass(frozen=True)
class Gaussian(Mechanism):
    r"""Gaussian mechanism: a sum of clipped records plus normal noise.

    Formula: $\sum_i x_i + N(0, \sigma^2 C^2 I)$ with $\|x_i\|_2 \le C$.

    Parameters: `noise_multiplier` ($\sigma$ in [1e-299, 1e299]), the
    standard deviation of the noise divided by the clipping norm C of one
    record.
    Raises: ValueError for values outside this range.
    Error: none, since worst data sets reach the pair.
    Source: Lebeda et al. (2024), Proposition 9; chapter 2.

    >>> Gaussian(2.0).pair(), Gaussian(2.0).exchange_pair()
    (GaussianPair(mu=0.5), GaussianPair(mu=1.0))
    """

    noise_multiplier: float

    def __post_init__(self) -> None:
        value = check_number(
            "noise_multiplier", self.noise_multiplier, 0, np.inf, "()"
        )
        check_number("noise_multiplier", value, 1e-299, 1e299)
        object.__setattr__(self, "noise_multiplier", value)

    def pair(self) -> DominatingPair:
        mu, rest = map(float, quotient(1.0, self.noise_multiplier))
        return GaussianPair(mu, rest)

    def exchange_pair(self) -> DominatingPair:
        mu, rest = map(float, quotient(2.0, self.noise_multiplier))
        return GaussianPair(mu, rest)


@dataclass(frozen=True)
class Laplace(Mechanism):
    r"""Laplace mechanism: a sum of bounded numbers plus Laplace noise.

    Formula: $\sum_i x_i + \mathrm{Lap}(0, s)$ with $|x_i| \le 1$.

    Parameters: `scale` ($s$ in [1e-149, 1e150]), the scale of the noise
    divided by the largest absolute value of one record.
    Raises: ValueError for values outside this range.
    Error: none, since worst data sets reach the pair.
    Source: Lebeda et al. (2024), Proposition 9; chapter 2.

    >>> Laplace(2.0).exchange_pair()
    LaplacePair(scale=1.0)
    """

    scale: float

    def __post_init__(self) -> None:
        value = check_number("scale", self.scale, 0, np.inf, "()")
        check_number("scale", value, 1e-149, 1e150)
        object.__setattr__(self, "scale", value)

    def pair(self) -> DominatingPair:
        return LaplacePair(self.scale)

    def exchange_pair(self) -> DominatingPair:
        return LaplacePair(self.scale / 2)


def running_sums(terms: Floats) -> Floats:
    """Partial sums of non-negative terms, each in two floats.

    Parameters: `terms`, an array.
    Returns: an array of shape (2, n + 1): rounded sums of the first 0 to n
    terms, and what the rounding took away.
    Error: relative error below (n u)^2 for n terms.
    Source: Knuth, The Art of Computer Programming 2, Theorem 4.2.2 B;
    chapter 2, "Noise on the integers".

    >>> running_sums(np.array([1.0, 1e-20])).tolist()
    [[0.0, 1.0, 1.0], [0.0, 0.0, 1e-20]]
    """
    sums = np.cumsum(np.append(0.0, terms))
    _, errors = two_sum(sums[:-1], terms)
    return np.stack([sums, np.cumsum(np.append(0.0, errors))])


class EndlessAtoms(DominatingPair):
    """A pair with atoms only, and no smallest or largest of them.

    Error: as the subclass says.
    Source: chapter 2, "Noise on the integers".

    >>> IntegerGaussianPair(1.0, 1).loss_range
    (-inf, inf)
    """

    @property
    def loss_range(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @property
    def discrete(self) -> bool:
        return True


@dataclass(frozen=True)
class IntegerGaussianPair(EndlessAtoms):
    r"""Discrete Gaussian noise, shifted (P) and not (Q).

    Formula: $Q(z) \propto e^{-z^2/(2\sigma^2)}$ and $P(z) = Q(z - k)$ on
    the integers; $L(z) = k(2z - k)/(2\sigma^2)$.

    Parameters: `sigma` ($\sigma$ in [1e-3, 1e4]); `shift` (k, a whole
    number from 1 to 1e6).
    Raises: ValueError for values outside these ranges.
    Error: rounding only, as `mass_error` says. Mass beyond 38.6 sigma
    (less than 1e-318) is 0.
    Source: Canonne, Kamath and Steinke (2020), Definition 1; chapter 2,
    "Noise on the integers".

    >>> IntegerGaussianPair(1.0, 1).masses([0.0])[0].round(4)
    array([0.3005, 0.6995])
    """

    sigma: float
    shift: int = 1

    def __post_init__(self) -> None:
        shift = check_count("shift", self.shift)
        check_number("shift", shift, 1, 1e6)
        sigma = check_number("sigma", self.sigma, 1e-3, 1e4)
        object.__setattr__(self, "shift", shift)
        object.__setattr__(self, "sigma", sigma)

    @cached_property
    def _reach(self) -> int:
        return math.floor(38.6 * self.sigma)

    def _weights(self, places: Any) -> Floats:
        return np.asarray(np.exp(-((places / self.sigma) ** 2) / 2))

    def _losses(self, places: Any) -> Floats:
        centred = self.shift * (2 * places - self.shift)
        return np.asarray(centred / (2 * self.sigma**2))

    @cached_property
    def _tails(self) -> Floats:
        # Weight of the noise j, j + 1, ... for j = 1, ..., reach + 1.
        places = np.arange(self._reach, 0, -1)
        sums = running_sums(self._weights(places))[:, ::-1]
        sums.flags.writeable = False
        return sums

    @cached_property
    def atoms(self) -> tuple[float, ...]:
        reach, shift = self._reach, self.shift
        near = np.arange(-reach, min(reach, shift - reach - 1) + 1)
        places = np.append(near, np.arange(shift - reach, shift + reach + 1))
        return tuple(self._losses(places).tolist())

    @property
    def atom_count(self) -> int:
        return 2 * self._reach + self.shift

    @property
    def atom_error(self) -> float:
        largest = abs(float(self._losses(self._reach + self.shift)))
        return 8 * UNIT * min(largest, 600.0)

    @property
    def lattice(self) -> tuple[float, float] | None:
        first, second = self._losses(np.arange(2)).tolist()
        return first, second

    def _last(self, edges: Floats, closed: Closed) -> Any:
        """The last place whose loss belongs to the left of each edge."""
        center = self.shift / 2
        most = self._reach + self.shift
        guess = edges * self.sigma / self.shift * self.sigma + center
        guess = np.clip(np.floor(guess), -most, most).astype(np.int64)
        for place in (guess, guess + 1):
            loss = self._losses(place)
            inside = loss <= edges if closed == "right" else loss < edges
            guess = guess + (inside.astype(np.int64) - (place == guess))
        return guess

    def _noise_between(self, cuts: Any) -> Floats:
        """Probability that the noise lies in (cuts[i-1], cuts[i]]."""
        reach = self._reach
        cuts = np.clip(cuts, -reach - 1, reach)
        cuts = np.concatenate([[-reach - 1], cuts, [reach]])
        negative, positive = np.minimum(cuts, -1), np.maximum(cuts, 0)
        tails = self._tails
        left = tails[:, -negative[1:] - 1] - tails[:, -negative[:-1] - 1]
        right = tails[:, positive[:-1]] - tails[:, positive[1:]]
        zero = (cuts[:-1] < 0) & (cuts[1:] >= 0)
        total = 1 + 2 * (tails[0, 0] + tails[1, 0])
        return np.asarray((np.sum(left + right, axis=0) + zero) / total)

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        last = self._last(edges, closed)
        p = self._noise_between(last - self.shift)
        return p, self._noise_between(last)

    def _delta(self, epsilon: float) -> float:
        first = int(self._last(np.array([epsilon]), "right")[0]) + 1
        first = max(first - self.shift, -self._reach)
        noise = np.arange(first, self._reach + 1)  # under P
        gap = epsilon - self._losses(noise + self.shift)
        excess = self._weights(noise) * -np.expm1(np.minimum(gap, 0))
        total = 1 + 2 * (self._tails[0, 0] + self._tails[1, 0])
        return float(np.sum(excess) / total)

    def reversed(self) -> "IntegerGaussianPair":
        return self  # reflection at shift/2 exchanges P and Q


@dataclass(frozen=True)
class DiscreteGaussian(Mechanism):
    r"""A count plus discrete Gaussian noise, which is a whole number.

    Formula: $\Pr[Z = z] \propto e^{-z^2/(2\sigma^2)}$; P is the noise
    shifted by k, Q the noise.

    Parameters: `sigma` ($\sigma$ in [1e-3, 1e4]), in absolute units;
    `sensitivity` (k, a whole number from 1 to 5e5): by how much one record
    that is added or removed changes the count, at most.
    Raises: ValueError for values outside these ranges.
    Error: none, since worst counts reach the pair; rounding as
    `IntegerGaussianPair`.
    Source: Canonne, Kamath and Steinke (2020), Definition 1; chapter 2,
    "Noise on the integers".

    >>> round(DiscreteGaussian(1.0).pair().delta(0.0), 6)
    0.398942
    """

    sigma: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        shift = check_count("sensitivity", self.sensitivity)
        check_number("sensitivity", shift, 1, 5e5)
        sigma = check_number("sigma", self.sigma, 1e-3, 1e4)
        object.__setattr__(self, "sensitivity", shift)
        object.__setattr__(self, "sigma", sigma)

    def pair(self) -> DominatingPair:
        return IntegerGaussianPair(self.sigma, self.sensitivity)

    def exchange_pair(self) -> DominatingPair:
        return IntegerGaussianPair(self.sigma, 2 * self.sensitivity)


@dataclass(frozen=True)
class DiscreteLaplace(Mechanism):
    r"""A count plus discrete Laplace (geometric) noise, a whole number.

    Formula: $\Pr[Z = z] \propto e^{-|z|/s}$; losses $(k - 2j)/s$, with
    P-mass $\tanh(\frac{1}{2s}) e^{-j/s}$ for 0 < j < k, and
    $1/(1+e^{-1/s})$, $e^{-k/s}/(1+e^{-1/s})$ at j = 0 and j = k.

    Parameters: `scale` ($s \ge k/600$), in absolute units; `sensitivity`
    (k, a whole number from 1 to 1e5): by how much one record that is added
    or removed changes the count, at most.
    Raises: ValueError for values outside these ranges.
    Error: none, since worst counts reach the pair; rounding as
    `RoundedPair`.
    Source: Ghosh, Roughgarden and Sundararajan (2012), Definition 2.1;
    chapter 2, "Noise on the integers".

    >>> round(DiscreteLaplace(2.0).pair().loss_range[1], 12)
    0.5
    """

    scale: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        shift = check_count("sensitivity", self.sensitivity)
        check_number("sensitivity", shift, 1, 1e5)
        scale = check_number("scale", self.scale, shift / 600, np.inf, "[)")
        object.__setattr__(self, "sensitivity", shift)
        object.__setattr__(self, "scale", scale)

    def pair(self) -> DominatingPair:
        places = np.arange(self.sensitivity + 1)
        p = np.exp(-places / self.scale)
        p[1:-1] *= math.tanh(0.5 / self.scale)
        p[[0, -1]] /= 1 + math.exp(-1 / self.scale)
        losses = (self.sensitivity - 2 * places) / self.scale
        top = self.sensitivity / Fraction(self.scale)
        return RoundedPair(p, p[::-1], tuple(losses.tolist()), top)

    def exchange_pair(self) -> DominatingPair:
        return DiscreteLaplace(self.scale, 2 * self.sensitivity).pair()


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    r"""Randomized response: one true bit, told truthfully with chance p.

    Formula: $P = (p, 1-p)$, $Q = (1-p, p)$.

    Parameters: `truth_probability` ($p$ in [0, 1]). It speaks of any two
    data sets whose true bits differ, so of every adjacency, substitution
    (and with it a fixed batch) included.
    Raises: ValueError for values outside [0, 1].
    Error: none, up to rounding (as `RoundedPair`).
    Source: Warner (1965); Lebeda et al. (2024), proof of Proposition 11;
    chapter 2.

    >>> RandomizedResponse(0.75).pair()
    DiscretePair(p=(0.75, 0.25), q=(0.25, 0.75))
    """

    truth_probability: float

    def __post_init__(self) -> None:
        value = check_number("truth_probability", self.truth_probability, 0, 1)
        object.__setattr__(self, "truth_probability", value)

    def pair(self) -> DominatingPair:
        truth = self.truth_probability
        p, q = (truth, 1 - truth), (1 - truth, truth)
        if truth == 0 or 1 - (1 - truth) == truth:  # 1 - truth is exact
            return DiscretePair(p, q)
        loss = math.log(truth) - math.log1p(-truth)
        if truth > 0.25:  # then 1 - 2 truth is exact
            loss = -math.log1p((1 - 2 * truth) / truth)
        return RoundedPair(p, q, (loss, -loss))

    def exchange_pair(self) -> DominatingPair:
        return self.pair()


@dataclass(frozen=True)
class ApproximateDP(Mechanism):
    r"""Any mechanism of which only (epsilon, delta)-DP is known.

    Its pair is an upper bound for every mechanism with this guarantee.
    It is the worst of them: with probability delta all is told, else
    randomized response tells one bit.

    Formula: outcomes $(\delta, (1-\delta)\frac{e^\varepsilon}{1 +
    e^\varepsilon}, (1-\delta)\frac{1}{1 + e^\varepsilon}, 0)$ against the
    same list reversed.

    Parameters: `epsilon` ($\varepsilon$ in [0, 700]; beyond, its
    $e^{-\varepsilon}$ has too few digits), `delta` ($\delta$ in [0, 1]).
    They must hold for add and for remove, whichever is asked
    for; under a fixed batch they must hold for substitution, and for
    adjacency "substitute" for all three.
    Raises: ValueError for values outside these ranges.
    Error: none for the whole class, up to rounding (as `RoundedPair`);
    a mechanism of which more is known may have a much smaller curve.
    Source: Kairouz, Oh and Viswanath (2015), Section 3; chapter 2.

    >>> round(ApproximateDP(1.0, 1e-5).pair().delta(1.0), 12)
    1e-05
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        epsilon = check_number("epsilon", self.epsilon, 0, 700)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(
            self, "delta", check_number("delta", self.delta, 0, 1)
        )

    def pair(self) -> DominatingPair:
        likely = (1 - self.delta) / (1 + math.exp(-self.epsilon))
        unlikely = math.exp(-self.epsilon) * likely
        p = (self.delta, likely, unlikely, 0.0)
        losses = (self.epsilon, -self.epsilon) if self.delta < 1 else ()
        return RoundedPair(p, p[::-1], losses, Fraction(self.epsilon))

    def exchange_pair(self) -> DominatingPair:
        return self.pair()


@dataclass(frozen=True)
class PureDP(Mechanism):
    r"""Any mechanism of which only epsilon-DP is known.

    Its pair is an upper bound for every mechanism with this guarantee.
    It is the worst of them, and randomized response reaches it.

    Formula: randomized response with
    $p = e^\varepsilon / (1 + e^\varepsilon)$.

    Parameters: `epsilon` ($\varepsilon$ in [0, 700], as for
    `ApproximateDP`). It must hold for add and for remove, whichever is
    asked for; under a fixed batch it must hold for substitution, and for
    adjacency "substitute" for all three.
    Raises: ValueError for values outside [0, 700].
    Error: as for `ApproximateDP`.
    Source: Kairouz, Oh and Viswanath (2015), Section 3; chapter 2.

    >>> round(PureDP(1.0).pair().loss_range[1], 12)
    1.0
    """

    epsilon: float

    def __post_init__(self) -> None:
        epsilon = check_number("epsilon", self.epsilon, 0, 700)
        object.__setattr__(self, "epsilon", epsilon)

    def pair(self) -> DominatingPair:
        return ApproximateDP(self.epsilon, 0.0).pair()

    def exchange_pair(self) -> DominatingPair:
        return self.pair()


class Adjacency(StrEnum):
    """How two neighbouring data sets differ. There is no default.

    ADD: D' has one record more than D. REMOVE: one less. ADD_OR_REMOVE:
    either. SUBSTITUTE: one record of D is exchanged for another.
    Source: Lebeda et al. (2024), Definition 2; chapter 2.

    >>> Adjacency("add-or-remove") is Adjacency.ADD_OR_REMOVE
    True
    """

    ADD = "add"
    REMOVE = "remove"
    ADD_OR_REMOVE = "add-or-remove"
    SUBSTITUTE = "substitute"


def check_adjacency(value: Adjacency | str) -> Adjacency:
    """Return the Adjacency that `value` names.

    Parameters: `value`, an Adjacency or its name.
    Raises: ValueError naming the four allowed names and the value.
    Source: Lebeda et al. (2024), Definition 2; chapter 2.

    >>> check_adjacency("remove") is Adjacency.REMOVE
    True
    """
    try:
        return Adjacency(value)
    except ValueError:
        allowed = "add, remove, add-or-remove or substitute"
        raise ValueError(
            f"adjacency must be {allowed}, got {value!r}"
        ) from None


@dataclass(frozen=True)
class FullBatch:
    """No sampling: the mechanism sees every record.

    Source: chapter 2, "Code: mechanisms".

    >>> FullBatch()
    FullBatch()
    """


@dataclass(frozen=True)
class Poisson:
    r"""Poisson sampling: each record takes part with chance `rate`.

    Formula: $\gamma^{|B|} (1-\gamma)^{n-|B|}$ for each batch B out of n
    records: they join independently of each other.

    Parameters: `rate` ($\gamma$ in [0, 1]).
    Raises: ValueError for values outside [0, 1].
    Source: Lebeda et al. (2024), Definition 6; chapter 2.

    >>> Poisson(0.01)
    Poisson(rate=0.01)
    """

    rate: float

    def __post_init__(self) -> None:
        rate = check_number("rate", self.rate, 0, 1)
        object.__setattr__(self, "rate", rate)


@dataclass(frozen=True)
class FixedBatch:
    r"""A batch of fixed size, drawn uniformly without replacement.

    Formula: $1/\binom{n}{b}$ for each batch of b out of n records.

    Parameters: `batch_size` ($b \ge 1$), `dataset_size` ($n \ge b$, at
    most 1e300), the
    number of records of the larger one of two neighbours. Under add,
    remove and add-or-remove, $n = b$ is refused too, when the privacy is
    asked for: the smaller neighbour cannot fill the batch.
    Raises: ValueError for values outside these ranges.
    Source: Lebeda et al. (2024), Definition 6; chapter 2.

    >>> FixedBatch(64, 50_000)
    FixedBatch(batch_size=64, dataset_size=50000)
    """

    batch_size: int
    dataset_size: int

    def __post_init__(self) -> None:
        size = check_count("dataset_size", self.dataset_size)
        batch = check_count("batch_size", self.batch_size)
        if batch > size:
            raise ValueError(
                f"batch_size must lie in [1, dataset_size = {size}], "
                f"got {self.batch_size!r}"
            )
        if size > 10**300:  # rates below would be no floats
            raise ValueError(
                f"dataset_size must be at most 1e300, got {self.dataset_size}"
            )
        object.__setattr__(self, "dataset_size", size)
        object.__setattr__(self, "batch_size", batch)


Sampling = FullBatch | Poisson | FixedBatch


@dataclass(frozen=True)
class Release:
    """One mechanism, run `count` times, each time on a fresh sample.

    Parameters: `mechanism`; `sampling`, how the records of each run are
    chosen; `count` (T from 1 to 1e15), the number of runs.
    Raises: ValueError for arguments of another kind or range.
    Source: chapter 2.

    >>> Release(Gaussian(0.8), Poisson(0.001), count=10_000).count
    10000
    """

    mechanism: Mechanism
    sampling: Sampling = FullBatch()
    count: int = 1

    def __post_init__(self) -> None:
        check_kind("mechanism", self.mechanism, Mechanism)
        check_kind("sampling", self.sampling, (FullBatch, Poisson, FixedBatch))
        count = check_count("count", self.count)
        check_number("count", count, 1, 1e15)
        object.__setattr__(self, "count", count)


def check_pair(name: str, pair: Any) -> None:
    """Raise ValueError unless `pair` is a dominating pair that can be used.

    Parameters: `name`, where the pair comes from; `pair`.
    Raises: ValueError for what is no DominatingPair, cannot be hashed, or
    has masses that are no probabilities (looked at for three intervals).
    Source: chapter 2, "Code: naming the question".

    >>> check_pair("pair()", 0.8)
    Traceback (most recent call last):
    ...
    ValueError: pair() must be a DominatingPair, got 0.8
    """
    check_kind(name, pair, DominatingPair)
    try:
        hash(pair)
    except TypeError:
        raise ValueError(
            f"{name} must be hashable (a frozen dataclass of numbers and "
            f"tuples, for example), got {pair!r}"
        ) from None
    for masses, infinite in zip(
        pair.masses([-1.0, 1.0]), pair.infinite_mass, strict=True
    ):
        total = float(np.sum(masses)) + infinite
        if not (np.all(masses >= 0) and infinite >= 0 and total < 1 + 1e-6):
            raise ValueError(
                f"{name} must have masses >= 0 with a sum of at most 1, got "
                f"{masses!r} and the infinite mass {infinite!r}"
            )


def exchanged_pair(mechanism: Mechanism) -> DominatingPair:
    """The pair of a mechanism for an exchanged record, if it is its own.

    Parameters: `mechanism`.
    Returns: `mechanism.exchange_pair()`.
    Raises: NotImplementedError where a class has a `pair()` of its own and
    an inherited `exchange_pair()`, which is that of another mechanism.
    Source: chapter 2, "Code: naming the question".

    >>> exchanged_pair(Gaussian(2.0))
    GaussianPair(mu=1.0)
    """
    for kind in type(mechanism).__mro__:
        if "exchange_pair" in vars(kind):
            break
        if "pair" in vars(kind):
            raise NotImplementedError(
                f"{kind.__name__} has a pair() of its own, which says what "
                "happens when a record is removed, but inherits "
                "exchange_pair(): it must say itself what happens when one "
                "is exchanged (for a fixed batch or substitution)"
            )
    pair = mechanism.exchange_pair()
    check_pair(f"exchange_pair() of {mechanism!r}", pair)
    return pair


def single_pair(mechanism: Mechanism, sampling: Sampling) -> DominatingPair:
    r"""The pair of one run for one record that is removed.

    Formula: $((1-\gamma) Q + \gamma P,\, Q)$, as in `dominating_pairs`.

    Parameters: `mechanism`, `sampling`.
    Returns: a DominatingPair.
    Source: Zhu, Dong and Wang (2022), Theorem 11; chapter 2.

    >>> single_pair(Gaussian(1.0), Poisson(0.5))
    SampledPair(base=GaussianPair(mu=1.0), rate=0.5)
    """
    if isinstance(sampling, FixedBatch):
        exact = Fraction(sampling.batch_size, sampling.dataset_size)
        base = exchanged_pair(mechanism)
        rate = float(exact)
        return base if exact == 1 else SampledPair(base, rate, exact=exact)
    rate = sampling.rate if isinstance(sampling, Poisson) else 1.0
    base = mechanism.pair()
    check_pair(f"pair() of {mechanism!r}", base)
    if rate == 0:
        return DiscretePair((1.0,), (1.0,))
    return base if rate == 1 else SampledPair(base, rate)


@singledispatch
def group_pair(
    mechanism: Mechanism, sampling: Sampling, group_size: int
) -> DominatingPair:
    """The pair of one run for a group of records that is removed.

    Parameters: `mechanism`, whose type decides which rule is used;
    `sampling`; `group_size` (at least 2), at most so many records differ.
    Returns: a DominatingPair.
    Raises: NotImplementedError where no theorem of the book covers it.
    Source: chapter 8, "Groups for other mechanisms".

    >>> group_pair(Gaussian(1.0), FullBatch(), 3)
    GaussianPair(mu=3.0)
    """
    raise NotImplementedError(
        f"group_size={group_size}: no theorem of the book covers groups for "
        f"{mechanism!r} with {sampling!r}"
    )


@singledispatch
def substitute_pair(
    mechanism: Mechanism, sampling: Sampling, group_size: int
) -> DominatingPair:
    """The pair of one run for records that are exchanged for others.

    Parameters: `mechanism`, whose type decides which rule is used;
    `sampling`; `group_size` (at least 1), at most so many records differ.
    Returns: a DominatingPair.
    Raises: NotImplementedError where no theorem of the book covers it.
    Source: chapter 10, "Code: pairs for substitution".

    >>> substitute_pair(Gaussian(1.0), FullBatch(), 1)
    GaussianPair(mu=2.0)
    """
    raise NotImplementedError(
        f"adjacency='substitute': this book has no pair for {mechanism!r}; "
        "substitute_delta_bound gives an upper bound where add and remove "
        "are covered"
    )


@front_door
def dominating_pairs(
    mechanism: Mechanism,
    *,
    sampling: Sampling,
    adjacency: Adjacency | str,
    group_size: int = 1,
) -> tuple[DominatingPair, ...]:
    r"""Dominating pairs of one run: their largest curve is an upper bound.

    Formula: with $(P, Q)$ the pair of the mechanism, remove is
    $((1-\gamma) Q + \gamma P,\, Q)$ and add is its reverse. Full batch:
    $\gamma = 1$. Fixed batch: $\gamma = b/n$, and $(P, Q)$ is the pair
    for an exchanged record.

    Parameters: `mechanism`, `sampling`, `adjacency`; `group_size`, how
    many records differ.
    Returns: one pair per direction, remove first, then add; for
    substitution one pair (chapter 10). For every epsilon the largest of
    their deltas is at least the true one of one run, and equal to it for
    Gaussian and Laplace.
    Raises: ValueError for bad values (and for a fixed batch of all n
    records, see `FixedBatch`); NotImplementedError for a combination
    that no theorem of the book covers.
    Error: none in the theorems; rounding as each pair says.
    Source: Zhu, Dong and Wang (2022), Theorem 11; Lebeda et al. (2024),
    Proposition 9 and Theorem 10; chapter 2.

    >>> dominating_pairs(
    ...     Gaussian(1.0), sampling=Poisson(0.5), adjacency="remove"
    ... )
    (SampledPair(base=GaussianPair(mu=1.0), rate=0.5),)
    """
    check_kind("mechanism", mechanism, Mechanism)
    check_kind("sampling", sampling, (FullBatch, Poisson, FixedBatch))
    adjacency = check_adjacency(adjacency)
    group_size = check_count("group_size", group_size)
    kind = type(mechanism)
    if adjacency is Adjacency.SUBSTITUTE:
        rules = substitute_pair.registry
        rule = rules.get(kind, rules[object])
        return (rule(mechanism, sampling, group_size),)
    if isinstance(sampling, FixedBatch):
        smaller = sampling.dataset_size - group_size
        if sampling.batch_size > smaller:
            raise ValueError(
                "batch_size must lie in [1, dataset_size - group_size] (the "
                f"smaller neighbour has {smaller} records and must fill the "
                f"batch), got {sampling}"
            )
    if group_size > 1:
        rule = group_pair.registry.get(kind, group_pair.registry[object])
        remove = rule(mechanism, sampling, group_size)
    else:
        remove = single_pair(mechanism, sampling)
    pairs = {
        Adjacency.REMOVE: (remove,),
        Adjacency.ADD: (remove.reversed(),),
        Adjacency.ADD_OR_REMOVE: (remove, remove.reversed()),
    }
    return pairs[adjacency]
