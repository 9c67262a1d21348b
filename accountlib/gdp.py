# Generated from notebooks/gdp.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""One number?"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erfinv, log_ndtr, ndtri, ndtri_exp

from accountlib.checks import UNIT, Floats, check
from accountlib.gaussian import gaussian_bounds
from accountlib.tradeoff import TradeoffCurve, hull

__all__ = [
    "mu_through",
    "mu_of_half",
    "mu_between",
    "mu_from_pure_dp",
    "mu_from_epsilon_delta",
]

# --- The largest μ of a curve


def mu_through(x: Floats, y: Floats, w: Floats) -> Floats:
    r"""The mu whose curve passes through (x, y); w = 1 - y has its digits.

    Formula: $\mu(x, y) = -\Phi^{-1}(x) - \Phi^{-1}(y)$.

    >>> x = np.array([0.25])
    >>> mu_through(x, x, 1 - x).round(6)
    array([1.34898])
    """
    top = np.where(w < 0.5, ndtri(np.minimum(w, 0.5)), -ndtri(y))
    return np.asarray(top - ndtri(x))


# --- The cut-off


def mu_of_half(
    lower: TradeoffCurve, upper: TradeoffCurve, cutoff: float
) -> tuple[float, float]:
    """Both ends of the largest mu on the half with slopes of -1 and below."""
    a, d, x = hull(*lower.lines)
    x, c = np.append(x, 0.0), cutoff
    till = np.append(x[:1], x[:-1])  # line k holds from x[k] to till[k]
    used = till > c
    y, w = lower.rates(np.array([c]))
    at = np.array([c])
    if y[0] >= c and used.any():
        a, d = a[used], d[used]
        left = np.maximum(x[used], c)
        right = np.minimum(till[used], (1 - d - c) / a)  # to where y = c
        at = np.minimum(np.append(left, np.maximum(left, right)), 1)
        w = (np.tile(d, 2) + np.tile(a, 2) * at) * (1 + 8 * UNIT)
        y = np.maximum(1 - w - 2 * UNIT, c)
    most = mu_through(at, y, w)
    best = np.array([c, at[np.argmax(most)]])
    inside = lower.rates(best)[0] >= c
    least = mu_through(best, *upper.rates(best))
    return float(least[inside | (best == c)].max()), float(most.max())


def mu_between(
    lower: TradeoffCurve, upper: TradeoffCurve, cutoff: float
) -> tuple[float, float]:
    """mu at a cut-off: no smaller one is right, and one that is.

    Parameters: `lower`, `upper`, curves below and above the truth;
    `cutoff`. Returns: a lower and an upper end of the largest mu.
    """
    halves = [(lower, upper)]
    if lower.lines is not lower.mirror:
        flipped = [
            TradeoffCurve(x.bound, x.mirror, x.lines) for x in (lower, upper)
        ]
        halves.append((flipped[0], flipped[1]))
    ends = np.max([mu_of_half(*half, cutoff) for half in halves], axis=0)
    side = 1e-13 * np.array([-1, 1])
    low, high = np.maximum(ends * (1 + side) + side, 0.0).tolist()
    return min(low, high), high


# --- From ε to μ


def mu_from_pure_dp(epsilon: ArrayLike) -> Any:
    r"""The mu of Gaussian DP that epsilon-DP promises, from above.

    Formula: $\mu = -2\,\Phi^{-1}(1/(1 + e^\varepsilon))$.

    Parameters: `epsilon` ($\varepsilon$ in [0, 1e6]), a number or an array,
    which holds in both directions.
    Returns: the smallest $\mu$ that all such mechanisms have, rounded up.
    Raises: ValueError for values outside this range.
    Source: Gomez et al. (2025), Proposition 6.1.

    >>> round(float(mu_from_pure_dp(1.0)), 6)
    1.232035
    """
    e = np.asarray(check("epsilon", epsilon, 0, 1e6))
    near = math.sqrt(8) * erfinv(np.tanh(np.minimum(e, 1.0) / 2))
    tail = -e - np.log1p(np.exp(-e))
    z = np.maximum(-ndtri_exp(np.minimum(tail, -1.0)), 0.5)
    z = z + (log_ndtr(-z) - tail) / (z + 1 / z)  # a step of Newton's
    return np.where(e < 1, near, 2 * z) * (1 + 1e-13)


def mu_from_epsilon_delta(epsilon: ArrayLike, *, delta: ArrayLike) -> Any:
    r"""The mu whose Gaussian curve goes through (epsilon, delta), from below.

    If delta is the mechanism's exact delta(epsilon), or a lower end of it,
    its mu is at least this. A guarantee alone bounds mu from neither side.
    Formula: the root of $\delta_\mu(\varepsilon) = \delta$.

    Parameters: `epsilon` ($\varepsilon$ in [0, 1e6]), `delta` ($\delta$ in
    [0, 1]); numbers or arrays.
    Returns: the largest $\mu$ for which $\mu$-GDP implies this guarantee,
    rounded down; 0 for delta below 1e-300, inf for delta = 1.
    Raises: ValueError for values outside these ranges.
    Source: Balle and Wang (2018), Theorem 8.

    >>> round(float(mu_from_epsilon_delta(1.0, delta=1e-5)), 6)
    0.268051
    """
    given = check("epsilon", epsilon, 0, 1e6), check("delta", delta, 0, 1)
    e, d = np.broadcast_arrays(*given)
    target = np.clip(d, 1e-300, 1 - 1e-15)

    def excess(log_mu: Floats, e: Floats, d: Floats) -> Floats:
        mu: Any = np.exp(log_mu)
        value = gaussian_bounds(e, mu)[1]
        return np.asarray(np.log(np.maximum(value, 1e-305)) - np.log(d))

    # Far too small and far too large: epsilon = mu z + mu^2/2, |z| = 40.
    low = np.log(e + target) - np.log(45 + np.sqrt(2 * e))
    high = np.log(90 + np.sqrt(2 * e))
    with np.errstate(all="ignore"):
        from scipy.optimize.elementwise import find_root  # slow to import

        root = find_root(excess, (low, high), args=(e, target)).x
    mu = np.nan_to_num(np.exp(root) * (1 - 1e-11))
    return np.where(d < 1e-300, 0.0, np.where(d < 1, mu, np.inf))[()]
