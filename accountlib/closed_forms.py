# Generated from notebooks/closed_forms.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Exact values to check against

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $P$, $Q$, $L$ | – | outputs with the record, and without; the privacy loss $\log(dP/dQ)$ |
| $\varepsilon$, $\delta$ | `epsilon`, `delta` | privacy parameters; $\varepsilon$ has any sign, $\delta$ lies in $[0, 1]$ |
| $\sigma$, $\mu$ | –, `mu` | standard deviation of the noise; distance of the means in units of it, $\mu \ge 0$ |
| $s$ | `scale` | scale of Laplace noise in units of the change by one record, $> 0$ |
| $\varphi$, $\Phi$ | –, `ndtr` | density and distribution function of the standard normal |
| $a$, $b$ | `a`, `b` | $a = \varepsilon/\mu - \mu/2$ and $b = a + \mu$, on this page only |
| $m(x)$ | `mills_ratio` | Mills' ratio $\Phi(-x)/\varphi(x)$, $> 0$ |
| $y$, $y^*$ | – | an output; the one where $L = \varepsilon$ |
| $N$ | – | number of Monte Carlo samples |
| $t$ | `error` | accuracy of an estimate of $\delta$, in $(0, 1)$ |
| $\beta$ | `failure_probability` | chance that an estimate misses its accuracy, in $(0, 1)$ |
| $k$ | `points` | number of values of $\varepsilon$ estimated at once |
| $u$ | – | unit round-off, $2^{-53}$ |
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfcx, ndtr, ndtri

from accountlib.divergences import product_minus
from accountlib.inputs import (
    Floats,
    as_given,
    check_count,
    check_number,
    check_range,
    front_door,
    read_only,
)

__all__ = [
    "mills_ratio",
    "gauss_rule",
    "GAUSS_RULE",
    "gaussian_edges",
    "gaussian_delta",
    "gaussian_epsilon",
    "laplace_delta",
    "monte_carlo_sample_size",
]

# --- Code: the Gaussian curve to all digits


def mills_ratio(x: Floats) -> Floats:
    r"""Mills' ratio of the standard normal distribution.

    Formula: $m(x) = \Phi(-x)/\varphi(x)$.

    Parameters: `x`, an array of numbers above -37 (below, it overflows).
    Returns: m(x), relative error below 1e-15 for x >= 0 and below
    $(1 + x^2)$ 1e-15 for x < 0.

    >>> round(float(mills_ratio(np.array(0.0))), 6)
    1.253314
    """
    result = math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))
    return np.asarray(result, dtype=np.float64)


def gauss_rule(points: int) -> tuple[Floats, Floats]:
    """Nodes in (-1, 1) and weights of a Gauss-Legendre rule.

    >>> [x.tolist() for x in gauss_rule(1)]
    [[0.0], [2.0]]
    """
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return read_only(nodes), read_only(weights)


GAUSS_RULE = gauss_rule(16)


def gaussian_edges(epsilon: Floats, mu: Floats) -> tuple[Floats, Floats]:
    r"""The two edges a and b of the Gaussian curve.

    Formula: $a = \varepsilon/\mu - \mu/2$ and $b = a + \mu$.

    Parameters: `epsilon` ($\varepsilon \ge 0$), `mu` ($\mu > 0$), arrays
    of one shape.
    Returns: a and b; a is cut at -1e100 and 1e100, where its square does
    not overflow and the curve is 1 or 0.
    Error: of a, below $8 u |a|$ for mu >= 1, $2 u (|a| + \mu)$ below.

    >>> float(gaussian_edges(np.array(2.0), np.array(2.0))[1])
    2.0
    """
    plain = epsilon / mu - mu / 2
    # mu = m 2^k: a = -(m^2/2 - epsilon 2^(-2k)) 2^k / m.
    m, k = np.frexp(np.maximum(mu, 1.0))
    left = product_minus(m, m / 2, np.ldexp(epsilon, -2 * k))
    a = np.where(mu >= 1, np.ldexp(-left / m, k), plain)
    a = np.clip(a, -1e100, 1e100)
    return a, a + mu


@front_door
def gaussian_delta(epsilon: ArrayLike, *, mu: ArrayLike) -> Any:
    r"""Exact privacy curve of two unit Gaussians whose means differ by mu.

    Formula: $\delta(\varepsilon) = \Phi(-a) - e^\varepsilon \Phi(-b)$ with
    $a = \varepsilon/\mu - \mu/2$ and $b = a + \mu$.

    Parameters: `epsilon` ($\varepsilon$, any sign), `mu` ($\mu \ge 0$:
    distance of the means in standard deviations); numbers or arrays.
    Returns: delta in [0, 1], shape of the broadcast arguments.
    Raises: ValueError for NaN, infinite epsilon, mu outside [0, inf).
    Error: rounding only. For every mu and epsilon the relative error is
    below 1e-12 while delta >= 1e-300, below 1e-13 while delta > 1e-20.
    Source: Balle and Wang (2018), Theorem 8.

    >>> round(gaussian_delta(1.0, mu=1.0), 12)
    0.126936737507
    """
    epsilon = check_range("epsilon", epsilon, -np.inf, np.inf, "()")
    mu = check_range("mu", mu, 0, np.inf, "[)")
    epsilon, mu = np.broadcast_arrays(epsilon, mu)
    distance = np.where(mu > 0, mu, 1.0)
    a, b = gaussian_edges(np.abs(epsilon), distance)
    density = np.exp(-(a**2) / 2) / math.sqrt(2 * math.pi)
    # Far apart: Phi(-a) - phi(a) m(b), where m is Mills' ratio.
    far = np.where(
        a > 0,
        density * (mills_ratio(np.maximum(a, 0)) - mills_ratio(b)),
        ndtr(-a) - density * mills_ratio(b),
    )
    # Close together: integrate -m'(x) = 1 - x m(x) over [a, b].
    delta, close = far, distance < 1
    if np.any(close):
        nodes, weights = GAUSS_RULE
        width = np.minimum(distance, 1.0)
        points = (
            np.maximum(a, -0.5)[..., None] + width[..., None] * (1 + nodes) / 2
        )
        slope = 1 - points * mills_ratio(points)
        near = density * width * (slope @ weights) / 2
        delta = np.where(close, np.maximum(near, 0), far)
    delta = np.where(mu > 0, delta, 0.0)
    # Swap identity for negative epsilon.
    below = np.minimum(epsilon, 0)
    return as_given(-np.expm1(below) + np.exp(below) * delta)


# --- The inverse


@front_door
def gaussian_epsilon(delta: ArrayLike, *, mu: ArrayLike) -> Any:
    r"""Smallest epsilon >= 0 of two unit Gaussians with means mu apart.

    Formula: the root of $\delta(\varepsilon) = \delta$, or 0 where
    $\delta(0) \le \delta$.

    Parameters: `delta` ($\delta$ in [0, 1]), `mu` ($\mu \ge 0$); numbers
    or arrays.
    Returns: epsilon in [0, inf]; inf for delta = 0 and mu > 0, and where
    epsilon exceeds the largest float (mu above 1e154).
    Raises: ValueError for NaN, delta outside [0, 1], mu outside [0, inf).
    Error: rounding only, for delta = 0 or >= 1e-300: absolute error below
    1e-13 (epsilon + min(mu, 1)). Where delta(0) and delta agree to many
    digits, epsilon is near 0 and its relative error is larger.
    Source: Balle and Wang (2018), Theorem 8.

    >>> round(gaussian_epsilon(1e-6, mu=1.0), 6)
    4.886554
    """
    delta = check_range("delta", delta, 0, 1)
    mu = check_range("mu", mu, 0, np.inf, "[)")
    delta, mu = np.broadcast_arrays(delta, mu)
    zero = np.asarray(gaussian_delta(0.0, mu=mu)) <= delta
    solve = ~zero & (delta > 0)
    target, distance = np.where(solve, delta, 0.1), np.where(solve, mu, 1.0)
    # delta(epsilon) < Phi(-a), so the root lies below the epsilon of a.
    high = distance * (distance / 2 + np.maximum(-ndtri(target), 0))
    high += 1e-300

    def excess(x: Any, d: Any, m: Any) -> Any:
        a, b = gaussian_edges(x, m)
        density = np.exp(-(a**2) / 2) / math.sqrt(2 * math.pi)
        rest = ndtr(a) + density * mills_ratio(b)  # 1 - delta(x)
        value = np.maximum(gaussian_delta(x, mu=m), 5e-324)
        return np.where(
            d > 0.5, np.log((1 - d) / rest), np.log(value) - np.log(d)
        )

    most = np.minimum(high, np.finfo(np.float64).max)
    from scipy.optimize.elementwise import find_root  # slow to import

    root = find_root(
        excess, (np.zeros_like(high), most), args=(target, distance)
    )
    # For huge mu the bracket closes: `high` is the root up to rounding.
    positive = np.where(root.success, root.x, high)
    result = np.where(zero, 0.0, np.where(delta > 0, positive, np.inf))
    return as_given(result)


# --- Laplace noise


@front_door
def laplace_delta(epsilon: ArrayLike, *, scale: ArrayLike) -> Any:
    r"""Exact privacy curve of the Laplace mechanism with sensitivity 1.

    Formula: $\delta(\varepsilon) = 1 - e^{(\varepsilon - 1/s)/2}$ for
    $|\varepsilon| \le 1/s$, and $\max(0, 1 - e^\varepsilon)$ outside.

    Parameters: `epsilon` ($\varepsilon$, any sign), `scale` ($s > 0$:
    scale of the noise divided by the sensitivity); numbers or arrays.
    Returns: delta in [0, 1], shape of the broadcast arguments.
    Raises: ValueError for NaN, infinite epsilon, scale outside (0, inf).
    Error: rounding only; relative error below 2e-15 (below the smallest
    normal float, 2e-308: absolute error below 1e-323).
    Source: Balle, Barthe and Gaboardi (2018), Theorem 3.

    >>> round(laplace_delta(0.0, scale=1.0), 6)
    0.393469
    """
    epsilon = check_range("epsilon", epsilon, -np.inf, np.inf, "()")
    scale = check_range("scale", scale, 0, np.inf, "()")
    (x, i), (y, j) = np.frexp(epsilon), np.frexp(scale)
    k = np.clip(i + j, -1000, 1000)
    # epsilon - 1/s = (x y - 2^-k) 2^k / s, where epsilon s = x y 2^(i+j).
    beyond = np.ldexp(product_minus(x, y, np.ldexp(1.0, -k)), k - 1) / scale
    inside = -np.expm1(np.minimum(beyond, 0))
    outside = -np.expm1(np.minimum(epsilon, 0))
    return as_given(np.where(epsilon >= -1 / scale, inside, outside) + 0.0)


# --- Where there is no formula: Monte Carlo


@front_door
def monte_carlo_sample_size(
    error: float, *, failure_probability: float, points: int
) -> int:
    r"""Samples that suffice for k errors below t, with probability 1 - beta.

    Formula: $N = \lceil \ln(2k/\beta) / (2 t^2) \rceil$: Hoeffding's
    inequality at each of k points, and a union bound over them.

    Parameters: `error` ($t$ in (0, 1)), `failure_probability` ($\beta$
    in (0, 1)), `points` ($k \ge 1$: how many epsilons are estimated).
    Returns: N, a whole number: with N samples or more, all k estimates
    differ from their expectations by less than t with probability at
    least $1 - \beta$. By Hoeffding's inequality N suffices for every
    mechanism; for a given one fewer may do.
    Raises: ValueError for values outside these ranges.
    Error: never below the formula; above it by a relative 4e-15 at most,
    before it is rounded up.
    Source: Hoeffding (1963), Theorem 2; Lebeda et al. (2024), Section 5
    (whose printed number belongs to another beta).

    >>> monte_carlo_sample_size(1e-3, failure_probability=0.01, points=40)
    4493599
    """
    t = check_number("error", error, 0, 1, "()")
    beta = check_number("failure_probability", failure_probability, 0, 1, "()")
    k = check_count("points", points)
    logarithm = Fraction(math.log(2 * k) - math.log(beta))
    upward = logarithm * (1 + Fraction(1, 2**49))  # two logs, one difference
    return math.ceil(upward / (2 * Fraction(t) ** 2))
