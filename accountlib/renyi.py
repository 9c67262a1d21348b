# Generated from notebooks/renyi.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Can one curve be added up?"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from accountlib.checks import UNIT, Floats, check

__all__ = [
    "Curve",
    "check_order",
    "as_asked",
    "gaussian_rdp",
    "log_sum_exp",
    "log_mean_exp",
    "laplace_rdp",
    "randomized_response_rdp",
]

# --- A straight line

Curve = Callable[[Any], Any]


def check_order(order: object) -> Floats:
    """Orders in (1, 1e4], or infinite, as an array of floats.

    >>> check_order([2, math.inf])
    array([ 2., inf])
    """
    found = np.asarray(check("order", order, 1, np.inf))
    if np.any((found == 1) | ((found > 1e4) & (found < np.inf))):
        raise ValueError(
            f"order must lie in (1, 1e4] or be infinite, got {order!r}"
        )
    return found


def as_asked(values: Floats) -> Any:
    """A float for one order, else the array.

    >>> as_asked(np.array(0.5))
    0.5
    """
    return float(values) if np.ndim(values) == 0 else values


def gaussian_rdp(order: ArrayLike, *, noise_multiplier: float) -> Any:
    r"""Renyi DP of the Gaussian mechanism.

    Formula: $R(a) = a / (2 \sigma^2)$.

    Parameters: `order` (a in (1, 1e4], or inf), a number or an array;
    `noise_multiplier` ($\sigma$ in [0.005, 1e6]).
    Returns: the divergence in nats, shape of `order`; exact for add and
    remove up to two roundings, which conversions and sums count.
    Raises: ValueError for other values.
    Source: Mironov (2017), Corollary 3.

    >>> gaussian_rdp(32, noise_multiplier=2.0)
    4.0
    """
    sigma = check("noise_multiplier", noise_multiplier, 0.005, 1e6)
    return as_asked(check_order(order) / (2 * sigma**2))


# --- Sums of few powers


def log_sum_exp(x: Floats) -> Floats:
    """Logarithm of the sum of e^x along the last axis.

    >>> float(log_sum_exp(np.array([1000.0, -np.inf])))
    1000.0
    """
    top = np.max(x, axis=-1, keepdims=True)
    scale = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", over="ignore"):
        total = np.log(np.sum(np.exp(x - scale), axis=-1))
    return np.asarray(total + scale[..., 0])


def log_mean_exp(
    log_weights: Floats, powers: Floats, errors: tuple[Any, Any] = (0.0, 0.0)
) -> Floats:
    r"""Logarithm of a mean of powers, rounded up.

    Formula: $\log \sum_i w_i e^{y_i}$ along the last axis.

    Parameters: `log_weights`, logs of weights with sum 1; `powers` (y);
    `errors`, bounds of the absolute errors of both.
    Returns: upper bounds; rounding is counted.

    >>> two = log_mean_exp(np.log([0.75, 0.25]), np.log([3.0, 1 / 3]))
    >>> round(math.exp(two) * 3, 12)
    7.0
    """
    wide, off = errors[0] + 8 * UNIT, errors[1] + 8 * UNIT * np.abs(powers)
    capped = np.minimum(powers, 500)
    weights, rise = np.exp(log_weights), np.expm1(capped)
    wrong = wide * np.abs(rise) + np.exp(capped) * np.expm1(off)
    small = np.log1p(np.sum(weights * (rise + wrong), axis=-1))
    large = log_sum_exp(log_weights + powers + off + wide)
    large = large + 32 * UNIT * (1 + np.abs(large))
    below = np.max(powers, axis=-1) < 500
    return np.where(below, small, large) * (1 + 8 * UNIT)


def laplace_rdp(order: ArrayLike, *, scale: float) -> Any:
    r"""Renyi DP of the Laplace mechanism.

    Formula: $R(a) = \frac{1}{a-1} \log\left(\frac{a}{2a-1} e^{(a-1)/s} +
    \frac{a-1}{2a-1} e^{-a/s}\right)$.

    Parameters: `order` (a in (1, 1e4], or inf), a number or an array;
    `scale` (s in [0.005, 1e6]), relative to the largest absolute value of
    one record.
    Returns: the divergence in nats, shape of `order`; exact for add and
    remove but for rounding, which is counted upward; 1/s at order inf.
    Raises: ValueError for other values.
    Source: Mironov (2017), Proposition 6.

    >>> laplace_rdp([2, np.inf], scale=1.0).round(12).tolist()
    [0.619123629999, 1.0]
    """
    order = check_order(order)
    loss = 1 / check("scale", scale, 0.005, 1e6)
    finite = np.where(np.isinf(order), 2.0, order)
    less = finite - 1
    shares = np.stack([finite, less], axis=-1) / (2 * finite - 1)[..., None]
    powers = np.stack([less * loss, -finite * loss], axis=-1)
    value = log_mean_exp(np.log(shares), powers) / less
    return as_asked(np.where(np.isinf(order), loss, value))


def randomized_response_rdp(
    order: ArrayLike, *, truth_probability: float
) -> Any:
    r"""Renyi DP of randomized response.

    Formula: $R(a) = \frac{1}{a-1} \log\left(p^a (1-p)^{1-a} + (1-p)^a
    p^{1-a}\right)$.

    Parameters: `order` (a in (1, 1e4], or inf), a number or an array;
    `truth_probability` (p in [0, 1]).
    Returns: the divergence in nats, shape of `order`; exact for every
    adjacency but for rounding, which is counted upward; inf where p is 0
    or 1.
    Raises: ValueError for other values.
    Source: Mironov (2017), Proposition 5.

    >>> r = randomized_response_rdp([3, np.inf], truth_probability=0.75)
    >>> np.exp(r * [2, 1]).round(12).tolist()  # 61/9, 3
    [6.777777777778, 3.0]
    """
    order = check_order(order)
    truth = check("truth_probability", truth_probability, 0, 1)
    lie = 1 - truth
    if min(truth, lie) == 0:
        return as_asked(np.full(order.shape, np.inf))
    ratio = math.log(truth / lie)
    if abs(truth - lie) < 0.25:  # 2p - 1 has no rounding error
        ratio = math.log1p((2 * truth - 1) / lie)
    less = np.where(np.isinf(order), 1.0, order - 1)
    powers = less[..., None] * np.array([ratio, -ratio])
    value = log_mean_exp(np.log([truth, lie]), powers) / less
    return as_asked(np.where(np.isinf(order), abs(ratio), value))
