# Generated from notebooks/worst_cases/noise.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Gaussian and Laplace noise

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $P$, $Q$ | `p`, `q` | output distributions with the record and without it |
| $\sigma$ | – | standard deviation of Gaussian noise, relative to the largest norm of a record, $> 0$ |
| $\mu$ | `mu` | distance of the means in standard deviations, $1/\sigma$ for a removed record |
| $s$ | `scale` | scale of Laplace noise in units of the distance of the means, $> 0$ |
| $z$, $x$ | `z`, – | an output of Gaussian noise, in standard deviations; of Laplace noise |
| $\ell$ | `loss`, `edges` | a privacy loss, in nats |
| $\Phi$, $\varphi$ | `ndtr`, `density` | distribution function and density of the standard normal |
| $m$, $w$ | `middle`, `widths` | middle and width of an interval of $z$ |
| $r$ | `near` | $z$ rounded to twelve binary digits after the point |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf, erfcx

from accountlib.inputs import Floats, check_number
from accountlib.worst_cases.closed_forms import (
    gauss_rule,
    gaussian_delta,
    laplace_delta,
)
from accountlib.worst_cases.divergences import two_product
from accountlib.worst_cases.dominating_pairs import (
    UNIT,
    Closed,
    DominatingPair,
    atom_masses,
)

__all__ = [
    "two_sum",
    "quotient",
    "normal_tail",
    "SHORT_RULE",
    "LONG_RULE",
    "normal_masses",
    "GaussianPair",
    "LaplacePair",
]

# --- Code: two floats for one number


def two_sum(a: Floats | float, b: Floats | float) -> tuple[Floats, Floats]:
    r"""A sum of floats, and what its rounding took away: exact.

    Parameters: `a`, `b`, numbers or arrays (finite).
    Returns: the rounded sum, and the difference of the exact sum and it.
    Source: Knuth (1997), Theorem 4.2.2 B.

    >>> total, rest = two_sum(1.0, 1e-20)
    >>> float(total), float(rest)
    (1.0, 1e-20)
    """
    total = np.asarray(a + b)
    added = total - a
    return total, np.asarray((a - (total - added)) + (b - added))


def quotient(a: Floats | float, b: float) -> tuple[Floats, Floats]:
    r"""A quotient, and nearly all that its rounding took away.

    Formula: $a/b = h + (a - h b)/b$, with the product $h b$ as an exact
    sum of two floats.

    Parameters: `a`, a number or an array; `b`, a number.
    Returns: two floats. Their sum has a relative error of about $u^2$,
    unless one of them is too small for a float.
    Source: Dekker (1971), Section 5.

    >>> high, low = quotient(1.0, 3.0)
    >>> Fraction(float(high)) + Fraction(float(low)) - Fraction(1, 3) < 1e-32
    True
    """
    (top, power_a), (part, power_b) = np.frexp(a), math.frexp(b)
    with np.errstate(all="ignore"):
        high = np.asarray(top / part)  # of numbers in [1/2, 1): no overflow
        seen = np.where(np.isfinite(high), high, 0.0)
        product, error = two_product(seen, part)
        low = np.where(seen == high, ((top - product) - error) / part, 0.0)
        power = power_a - power_b
        return np.ldexp(high, power), np.ldexp(low, power)


# --- Code: Gaussian noise


def normal_tail(z: Floats) -> Floats:
    r"""Standard normal probability above z, to nearly full precision.

    Formula: $\Phi(-z) = \frac12 e^{-z^2/2} \, \mathrm{erfcx}(z/\sqrt2)$,
    with $z^2 = r^2 + (z - r)(z + r)$ for a short r, whose square is exact.

    Parameters: `z`, an array (infinities allowed).
    Returns: probabilities; below 1e-307 they lose digits, and are 0 from
    $z = 38.6$ on.
    Error: relative error below $10 u$, against ball arithmetic.

    >>> bool(abs(normal_tail(np.array([0.0]))[0] - 0.5) < 1e-15)
    True
    """
    x = np.minimum(np.abs(z), 40.0)
    near = np.rint(x * 4096) / 4096  # its square has at most 37 digits
    rest = (x - near) * (x + near)
    density = np.exp(-near * near / 2) * np.exp(-rest / 2)
    tail = density * erfcx(x / math.sqrt(2)) / 2
    return np.asarray(np.where(z >= 0, tail, 1 - tail))


SHORT_RULE = gauss_rule(3)  # for the narrowest intervals
LONG_RULE = gauss_rule(8)  # for others that are narrow


def normal_masses(edges: Floats, widths: Floats) -> Floats:
    r"""Standard normal probability of the intervals between edges.

    Formula: $\Phi(z_{i+1}) - \Phi(z_i)$ without cancellation.

    Parameters: `edges`, n increasing numbers $z_0, \dots, z_{n-1}$ (-inf
    and inf allowed), or rows of them; `widths`, their n - 1 differences,
    the same for each row.
    Returns: n + 1 probabilities, the outer ones of the two tails, a row
    for each row.
    Error: rounding only, relative error below about $(10 + 4 z^2) u$.

    >>> normal_masses(np.array([0.0, 1e-9]), np.array([1e-9]))
    array([5.0000000e-01, 3.9894228e-10, 5.0000000e-01])
    """
    left, right = edges[..., :-1], edges[..., 1:]
    size = widths * (1 + np.maximum(np.abs(left), np.abs(right)))
    wide, shortest = ~(size < 1), size < 0.02
    # Wide: a difference of tails, taken on the side of the smaller ones.
    used = np.ones(edges.shape, bool)  # at least both ends
    used[..., 1:-1] = wide[..., 1:] | wide[..., :-1]
    tail = np.zeros(edges.shape)
    tail[used] = normal_tail(np.abs(edges[used]))
    masses = np.empty((*edges.shape[:-1], edges.shape[-1] + 1))
    inner = np.abs(tail[..., 1:] - tail[..., :-1])
    first, last = edges[..., 0], edges[..., -1]
    masses[..., 0] = np.where(first <= 0, tail[..., 0], 1 - tail[..., 0])
    masses[..., -1] = np.where(last >= 0, tail[..., -1], 1 - tail[..., -1])
    across = wide & (left < 0) & (right > 0)
    low, high = left[across], right[across]
    low, high = np.minimum(low, -high), np.minimum(high, -low)
    inner[across] = (erf(high / math.sqrt(2)) - erf(low / math.sqrt(2))) / 2
    # Narrow: phi at the middle times a smooth integral, by quadrature.
    for (node, weight), narrow in (
        (SHORT_RULE, shortest),
        (LONG_RULE, ~(wide | shortest)),
    ):
        if not narrow.any():
            continue
        half = widths[np.nonzero(narrow)[-1]] / 2
        middle = left[narrow] + half
        t = np.multiply.outer(node, half)
        terms = weight[:, None] * np.exp(-t * (middle + t / 2))
        integral = sum(terms)  # row by row, in this order
        density = np.exp(-(middle**2) / 2) / math.sqrt(2 * math.pi)
        inner[narrow] = density * half * integral
    masses[..., 1:-1] = inner
    return masses


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
    Source: Lebeda et al. (2024), Proposition 9.

    >>> GaussianPair(1.0).delta(1.0) == gaussian_delta(1.0, mu=1.0)
    True
    """

    mu: float
    rest: float = field(default=0.0, repr=False, compare=False)
    symmetric = True  # reflection at mu/2 exchanges P and Q

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
        middle = np.clip(middle, -1e305, 1e305)  # no overflow
        limit = max(1e100, 2 * self.mu)  # beyond it lies nothing, or all
        near = np.abs(middle) < limit
        shift = np.where(near, rests - middle * self.rest, 0.0) / self.mu
        low = np.where(near, low + shift, 0.0)
        # From the mean of P, then from that of Q.
        signs = np.array([[-1.0], [1.0]])
        z, z_low = two_sum(middle, signs * (self.mu / 2))
        z_low = z_low + low + signs * (self.rest / 2)
        p, q = normal_masses(z + z_low, widths / self.mu)
        return p, q

    def delta(self, epsilon: ArrayLike) -> Any:
        return gaussian_delta(epsilon, mu=self.mu)


# --- Code: Laplace noise


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
    Source: Lebeda et al. (2024), Proposition 9.

    >>> LaplacePair(2.0).loss_range
    (-0.5, 0.5)
    """

    scale: float
    rest: float = field(default=0.0, repr=False)
    symmetric = True

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
