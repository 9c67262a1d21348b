# Generated from notebooks/gaussian_dp/one_number.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""One number for a curve

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $x$, $y$ | `false_positive`, – | false-positive and false-negative rate, $[0, 1]$ |
| $w$ | `found` | those who took part and are found, $1 - y$ |
| $f$, $g$; $f_\mu$ | –, `gaussian_tradeoff` | trade-off functions; that of two unit normals $\mu$ apart |
| $\mu(x, y)$, $\mu$ | `mu` | the $\mu$ whose curve passes through $(x, y)$; a Gaussian DP parameter |
| $c$, $\mu_c$, $x_c$ | `cutoff`, `largest_mu`, – | error rates below $c$ are left out; $\mu$ at that cut-off (by page-regret); where $f$ reaches $c$ |
| $z$ | `z` | place on the axis of a normal law, $\Phi^{-1}(1 - x)$ |
| $p$ | – | error rate at the corner of pure DP, $1/(1 + e^\varepsilon)$ |
| $a$, $R(a)$, $r$, $\rho$ | `order`, `rdp`, `rdp`, `rho` | Rényi order, curve, one value of it, and zCDP slope, as in ch-renyi |
| $T$, $\gamma$, $\sigma$ | `count`, `rate`, `noise_multiplier` | number of runs, sampling rate, noise multiplier |
| $\varphi$, $\Phi$ | –, `ndtr` | density and distribution function of the standard normal |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize.elementwise import find_root
from scipy.special import erfinv, expit, log_ndtr, logit, ndtri, ndtri_exp

from accountlib.inputs import (
    Floats,
    as_given,
    check_number,
    check_range,
    front_door,
)
from accountlib.worst_cases.closed_forms import gaussian_delta
from accountlib.worst_cases.dominating_pairs import UNIT

__all__ = [
    "mu_from_errors",
    "mu_from_pure_dp",
    "mu_from_epsilon_delta",
    "renyi_tradeoff",
]

# --- The best mu of a curve


@front_door
def mu_from_errors(false_positive: Floats, found: Floats) -> Floats:
    r"""The Gaussian trade-off function through given points.

    Formula: $\mu(x, y) = \Phi^{-1}(1 - x) - \Phi^{-1}(y)$ with
    $y = 1 - w$.

    Parameters: `false_positive` (x in (0, 1)); `found` (w = 1 - y,
    >= 0): who took part and is found; arrays.
    Returns: $\mu$ for each point; inf where w >= 1.
    Raises: ValueError for values outside these ranges.
    Error: rounding; 1e-14 absolute, more where w is within 1e-10 of 1.
    Source: Gomez et al. (2025), eq. 29.

    >>> mu_from_errors(np.array([0.25]), np.array([0.75])).round(6)
    array([1.34898])
    """
    false_positive = check_range("false_positive", false_positive, 0, 1, "()")
    found = check_range("found", found, 0, np.inf)
    low = ndtri(np.minimum(found, 0.5))
    high = -ndtri(np.clip(1 - found, 0, 0.5))
    return np.asarray(np.where(found < 0.5, low, high) - ndtri(false_positive))


# --- From one parameter to another


@front_door
def mu_from_pure_dp(epsilon: ArrayLike) -> Any:
    r"""Smallest mu such that every epsilon-DP mechanism is mu-GDP.

    Formula: $\mu = -2 \Phi^{-1}(1/(1 + e^\varepsilon)) = 2 \sqrt2\,
    \mathrm{erf}^{-1}(\tanh(\varepsilon/2))$.

    Parameters: `epsilon` ($\varepsilon \ge 0$), a number or an array.
    Returns: $\mu$, rounded up; 0 at 0.
    Raises: ValueError for NaN, negative or infinite epsilon.
    Error: rounded up by 1e-14, relative (and by 1e-322).
    Source: Gomez et al. (2025), Proposition 6.1.

    >>> round(mu_from_pure_dp(1.0), 6)
    1.232035
    """
    epsilon = check_range("epsilon", epsilon, 0, np.inf, "[)")
    near = math.sqrt(8) * erfinv(np.tanh(np.minimum(epsilon, 1.0) / 2))
    tail = np.minimum(-epsilon, 0) - np.log1p(np.exp(-epsilon))
    z = -ndtri_exp(np.minimum(tail, -1.0))
    far = np.maximum(z, 10.0)  # ndtri_exp errs by 1e-12: one Newton step
    far = far + (log_ndtr(-far) - tail) / (far + 1 / far)
    mu = np.where(epsilon < 1, near, 2 * np.where(z < 10, z, far))
    mu = mu * (1 + 1e-14) + np.where(epsilon > 0, 1e-322, 0.0)
    return as_given(np.asarray(mu))


@front_door
def mu_from_epsilon_delta(epsilon: ArrayLike, *, delta: ArrayLike) -> Any:
    r"""The mu of the Gaussian mechanism with a given epsilon and delta.

    Formula: the root of $\delta_\mu(\varepsilon) = \delta$.

    It translates a budget for Gaussian noise. It is no bound for other
    mechanisms with this guarantee, which may have no finite mu.

    Parameters: `epsilon` ($\varepsilon \ge 0$), `delta` ($\delta$ in
    [0, 1]); numbers or arrays.
    Returns: the largest $\mu$ for which $\mu$-GDP implies this guarantee,
    rounded down; 0 for delta up to 1e-322, inf for delta = 1.
    Raises: ValueError for values outside these ranges.
    Error: rounded down by about 1e-11, relative; where delta is above
    0.9999 as if it were 4e-15 smaller (by 1 % at 1 - 1e-15), and below
    1e-300 as if it were 1e-322 smaller.
    Source: Balle and Wang (2018), Theorem 8.

    >>> round(mu_from_epsilon_delta(1.0, delta=1e-5), 6)
    0.268051
    """
    epsilon = check_range("epsilon", epsilon, 0, np.inf, "[)")
    delta = check_range("delta", delta, 0, 1)
    delta = np.maximum(delta - 1e-322, 0)  # for the smallest floats
    epsilon, delta = np.broadcast_arrays(epsilon, delta)
    target = np.where((delta > 0) & (delta < 1), delta, 0.1)
    some = np.minimum(epsilon, 1e12)

    def excess(log_mu: Any, e: Any, d: Any) -> Any:
        with np.errstate(divide="ignore"):
            value = np.log(gaussian_delta(e, mu=np.exp(log_mu)))
        return np.maximum(value, -1e4) + 4e-15 - np.log(d)  # rounded

    # Far too small and far too large, by epsilon = mu z + mu^2/2, |z| = 40.
    low = np.log(some + target) - np.log(45 + np.sqrt(2 * some))
    high = np.log(90 + np.sqrt(2 * some))
    root = find_root(excess, (low, high), args=(some, target))
    # Far out delta is Phi(mu/2 - epsilon/mu), or a little less.
    z, wide = -ndtri(target), math.sqrt(2) * np.sqrt(epsilon)
    mu = np.where(epsilon < 1e12, np.exp(root.x), np.hypot(z, wide) - z)
    mu = np.where(delta == 1, np.inf, mu * (1 - 1e-11))
    return as_given(np.where(delta == 0, 0.0, mu))


# --- From a Rényi curve


@front_door
def renyi_tradeoff(
    false_positive: ArrayLike, *, order: float, rdp: float
) -> Any:
    r"""Smallest false-negative rate that Renyi DP at one order allows.

    Formula: the smallest y with $\ln[(1-y)^a x^{1-a} + y^a (1-x)^{1-a}]
    \le (a-1) r$, and the same with x and y exchanged.

    Parameters: `false_positive` (x in [0, 1]), a number or an array;
    `order` (a in [1 + 1e-6, 1e6]); `rdp` (r >= 0, finite), which holds at
    this order in both directions.
    Returns: a number in [0, 1] for each x, a lower bound for every such
    mechanism.
    Raises: ValueError for values outside these ranges.
    Error: rounded down, by 1e-9 in $\ln(y/(1-y))$, by 8 u, and as if
    (a - 1) r were larger by 8 u of the exponents, which counts where it
    is tiny; 0 where it is below 1e-299.
    Source: Gomez et al. (2025), Appendix A.6.

    >>> round(renyi_tradeoff(0.1, order=2.0, rdp=1.0), 6)
    0.50675
    """
    x = check_range("false_positive", false_positive, 0, 1)
    a = check_number("order", order, 1 + 1e-6, 1e6)
    room = (a - 1) * check_number("rdp", rdp, 0, np.inf, "[)")
    inner = np.where((x > 0) & (x < 1), x, 0.5)

    def excess(odds: Any, fp: Any) -> Any:
        y = -np.logaddexp(0, -odds), -np.logaddexp(0, odds)
        other = np.log(fp), np.log1p(-fp)  # of the rate, of 1 - rate
        both = []
        for one, two in ((y, other), (other, y)):
            hit, miss = a * one[1], a * one[0]
            hit, miss = hit + (1 - a) * two[0], miss + (1 - a) * two[1]
            error = 8 * UNIT * (1 + np.abs(hit) + np.abs(miss))
            both.append(np.logaddexp(hit, miss) - error)
        return np.maximum(*both) - room

    low, high = np.full(x.shape, -690.0), -logit(inner)
    found = find_root(excess, (low, high), args=(inner,))
    # No root: already e^-690 is allowed, or nothing below 1 - x is.
    odds = np.where(found.success, found.x, high)
    y = expit(odds - 1e-9) * (1 - 8 * UNIT)
    y = np.where(excess(low, inner) <= 0, 0.0, y)
    return as_given(np.where(x == 0, 1.0, np.where(x == 1, 0.0, y)))
