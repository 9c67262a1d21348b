# Generated from notebooks/gaussian.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What is known exactly?"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, ndtr

from accountlib.checks import UNIT, Floats, check

__all__ = [
    "normal_profile",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_bounds",
    "gaussian_epsilon_bounds",
    "laplace_delta",
    "monte_carlo_sample_size",
]

# --- Code: all digits


def normal_profile(epsilon: Floats, mu: Floats) -> Floats:
    """delta of N(mu, 1) against N(0, 1), for epsilon >= 0 and mu > 0."""

    def mills(x: Floats) -> Floats:
        ratio: Floats = erfcx(x / math.sqrt(2)) * math.sqrt(math.pi / 2)
        return ratio

    a = epsilon / mu - mu / 2
    density = np.exp(-a * a / 2) / math.sqrt(2 * math.pi)
    first = np.where(a > 0, density * mills(a), ndtr(-a))
    far = first - density * mills(a + mu)
    nodes, weights = np.polynomial.legendre.leggauss(16)
    x = a[..., None] + mu[..., None] * (1 + nodes) / 2
    near = density * mu * ((1 - x * mills(x)) @ weights) / 2
    return np.where(mu < 1, np.fmax(near, 0.0), far)


def gaussian_delta(epsilon: ArrayLike, *, mu: ArrayLike) -> Any:
    r"""The privacy profile of two unit normals whose means differ by mu.

    Formula: $\delta(\varepsilon) = \Phi(-a) - e^\varepsilon \Phi(-a - \mu)$
    with $a = \varepsilon/\mu - \mu/2$.
    Parameters: `epsilon` ($\varepsilon$ in [-1000, 1000]), `mu` ($\mu$ in
    [0, 1e7], distance in standard deviations); numbers or arrays.
    Returns: delta in [0, 1], of the broadcast shape. No bound: the relative
    error is below 1e-12, 1e-11 for delta from 1e-300 to 1e-20, as measured
    against 60 digits; smaller numbers lose their digits and become 0.
    Raises: ValueError for other values.
    Source: Balle and Wang (2018), Theorem 8.

    >>> round(gaussian_delta(1.0, mu=1.0), 12)
    0.126936737507
    """
    x, m = np.broadcast_arrays(
        check("epsilon", epsilon, -1000, 1000), check("mu", mu, 0, 1e7)
    )
    with np.errstate(all="ignore"):
        delta = np.where(m > 0, normal_profile(np.abs(x), m), 0.0)
    below = np.minimum(x, 0.0)
    found = np.exp(below) * delta - np.expm1(below)
    return float(found) if found.ndim == 0 else found


# --- The inverse


def gaussian_epsilon(delta: ArrayLike, *, mu: ArrayLike) -> Any:
    r"""The smallest epsilon >= 0 of two unit normals with means mu apart.

    Formula: the root of $\delta(\varepsilon) = \delta$, or 0 if there is none.
    Parameters: `delta` ($\delta$ in [0, 1]), `mu` ($\mu$ in [0, 1e7]);
    numbers or arrays.
    Returns: epsilon, of the broadcast shape; inf for delta = 0. No bound:
    its delta is the given one up to 1e-11, for mu up to 1000.
    Raises: ValueError for other values.
    Source: Balle and Wang (2018), Theorem 8.

    >>> round(gaussian_epsilon(1e-6, mu=1.0), 6)
    4.886554
    """
    d, m = np.broadcast_arrays(
        check("delta", delta, 0, 1), check("mu", mu, 0, 1e7)
    )
    low, high = np.zeros(d.shape), m * (m / 2 + 40)
    with np.errstate(all="ignore"):
        zero = (m == 0) | (normal_profile(low, m) <= d)
        for _ in range(70):
            middle = (low + high) / 2
            over = normal_profile(middle, m) > d
            low, high = np.where(over, [middle, high], [low, middle])
    found = np.where(d > 0, (low + high) / 2, np.inf)
    found = np.where(zero, 0.0, found)
    return float(found) if found.ndim == 0 else found


# --- Both ends of a run


def gaussian_bounds(epsilon: Floats, mu: float) -> tuple[Floats, Floats]:
    """Lower and upper bound of the delta of N(mu, 1) against N(0, 1)."""
    a = epsilon / mu - mu / 2
    with np.errstate(all="ignore"):
        density = np.exp(-a * a / 2) / 2  # times erfcx: a normal tail
        beyond = density * erfcx((a + mu) / math.sqrt(2))
        first = np.where(a > 0, density * erfcx(a / math.sqrt(2)), ndtr(-a))
    size = np.abs(a) + 2
    moved = 8 * size * (epsilon / mu + mu) * np.where(a > 0, first, density)
    value = first - beyond
    error = UNIT * (32 * (first + beyond) + moved) + 1e-300
    return np.fmax(value - error, 0.0), np.fmin(value + error, 1.0)


def gaussian_epsilon_bounds(delta: Floats, mu: float) -> tuple[Floats, Floats]:
    """Lower and upper bound of epsilon: the delta on its side is a proof."""
    ends = []
    for side in (0, 1):
        low = np.zeros_like(delta)
        high = np.full_like(delta, mu * (mu / 2 + 40))
        zero = gaussian_bounds(low, mu)[side] <= delta
        for _ in range(60):
            middle = (low + high) / 2
            over = gaussian_bounds(middle, mu)[side] > delta
            low, high = np.where(over, [middle, high], [low, middle])
        end = np.where(zero, 0.0, high if side else low)
        ends.append(np.where(delta > 0, end, np.inf))
    return ends[0], ends[1]


# --- Laplace noise


def laplace_delta(epsilon: ArrayLike, *, scale: ArrayLike) -> Any:
    r"""The privacy profile of the Laplace mechanism with sensitivity 1.

    Formula: $1 - e^{(\varepsilon - 1/s)/2}$ for $|\varepsilon| \le 1/s$, and
    $\max(0, 1 - e^\varepsilon)$ outside.
    Parameters: `epsilon` ($\varepsilon$ in [-1000, 1000]), `scale` ($s$ in
    [0.005, 1e6], over the sensitivity); numbers or arrays.
    Returns: delta in [0, 1], of the broadcast shape. No bound: the error is
    below 1e-15 (|epsilon| + 1/s).
    Raises: ValueError for other values.
    Source: Balle, Barthe and Gaboardi (2018), Theorem 3.

    >>> round(laplace_delta(0.0, scale=1.0), 6)
    0.393469
    """
    x = np.asarray(check("epsilon", epsilon, -1000, 1000))
    top = 1 / np.asarray(check("scale", scale, 0.005, 1e6))
    inside = -np.expm1(np.minimum((x - top) / 2, 0.0))
    outside = -np.expm1(np.minimum(x, 0.0))
    found = np.where(x >= -top, inside, outside) + 0.0
    return float(found) if found.ndim == 0 else found


# --- Where there is no formula: Monte Carlo


def monte_carlo_sample_size(
    error: float, *, failure_probability: float, points: int
) -> int:
    r"""Samples that suffice for k errors below t, with probability 1 - beta.

    Formula: $N = \lceil \ln(2k/\beta) / (2 t^2) \rceil$: Hoeffding's
    inequality at each of k points, and a union bound over them.
    Parameters: `error` ($t$), `failure_probability` ($\beta$), both in
    [1e-12, 1]; `points` ($k \ge 1$, the epsilons that are estimated).
    Returns: N: with so many samples or more, all k estimates differ from
    their expectations by less than t with probability at least 1 - beta.
    Rounded up.
    Raises: ValueError for other values.
    Source: Hoeffding (1963), Theorem 2; Lebeda et al. (2024), Section 5
    (whose printed number belongs to another beta).

    >>> monte_carlo_sample_size(1e-3, failure_probability=0.01, points=40)
    4493599
    """
    t = check("error", error, 1e-12, 1)
    beta = check("failure_probability", failure_probability, 1e-12, 1)
    k = check("points", points, 1, 1e9, whole=True)
    count: float = math.log(2 * k / beta) / (2 * t * t) * (1 + 1e-14)
    return math.ceil(count)
