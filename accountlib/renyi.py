# Generated from notebooks/renyi.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Rényi differential privacy

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $a$ | `order` | order of a Rényi divergence, $1 \le a \le \infty$; papers write $\alpha$ |
| $D_a(P \Vert Q)$ | – | Rényi divergence, in nats |
| $R(a)$ | `rdp` | Rényi DP curve of a mechanism |
| $\rho$ | `rho` | slope of a zCDP line, $\ge 0$ |
| $p$, $q$ | `p`, `q` | densities of $P$ and $Q$, or lists of probabilities |
| $L$ | `losses` | privacy loss $\log (p/q)$ |
| $\varphi(t)$ | `exp_remainder` | $e^t - 1 - t$, $\ge 0$ |
| $\alpha$ | – | $e^\varepsilon$, the factor in a hockey stick $H_\alpha$, $\ge 0$ |
| $k$ | `sensitivity` | shift of noise on the integers, a whole number $\ge 1$ |
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit, logsumexp

from accountlib.inputs import (
    Floats,
    Probabilities,
    as_given,
    check_count,
    check_number,
    check_range,
    check_two_laws,
    front_door,
)

__all__ = [
    "Curve",
    "Orders",
    "REMAINDER",
    "normal_line",
    "gaussian_rdp",
    "zcdp_rdp",
    "exp_remainder",
    "laplace_rdp",
    "loss_rdp",
    "pure_dp_rdp",
    "response_losses",
    "randomized_response_rdp",
    "discrete_curve",
    "discrete_rdp",
    "discrete_gaussian_rdp",
    "geometric_losses",
    "discrete_laplace_rdp",
]

# --- Straight lines

Curve = Callable[[Any], Any]
Orders = NDArray[np.int64]
REMAINDER = tuple(1 / math.factorial(k + 2) for k in range(16))


def normal_line(order: ArrayLike, sigma: float, shift: int) -> Any:
    r"""The line $a k^2/(2 \sigma^2)$ of normal noise, never 0.

    >>> normal_line(32, 2.0, 1)
    4.0
    """
    order = check_range("order", order, 1, np.inf)
    with np.errstate(over="ignore"):
        line = order / 2 / (sigma / shift) / (sigma / shift)
    return as_given(np.maximum(line, 5e-324))


@front_door
def gaussian_rdp(order: ArrayLike, *, noise_multiplier: float) -> Any:
    r"""Renyi DP of the Gaussian mechanism.

    Formula: $R(a) = a / (2 \sigma^2)$.

    Parameters: `order` (a in [1, inf]), a number or an array;
    `noise_multiplier` ($\sigma > 0$), relative to the clipping norm.
    Returns: the divergence in nats, shape of `order`; exact for add and
    remove, inf at order inf.
    Raises: ValueError for values outside these ranges.
    Error: two roundings.
    Source: Mironov (2017), Corollary 3.

    >>> gaussian_rdp(32, noise_multiplier=2.0)
    4.0
    """
    sigma = check_number("noise_multiplier", noise_multiplier, 0, np.inf, "()")
    return normal_line(order, sigma, 1)


@front_door
def zcdp_rdp(order: ArrayLike, *, rho: float) -> Any:
    r"""Renyi DP that zero-concentrated DP promises: a straight line.

    Formula: $R(a) = \rho a$.

    Parameters: `order` (a in [1, inf]), a number or an array; `rho`
    ($\rho \ge 0$), the zCDP parameter.
    Returns: an upper bound of the divergence, shape of `order`.
    Raises: ValueError for values outside these ranges.
    Error: one rounding.
    Source: Bun and Steinke (2016), Definition 1.1.

    >>> zcdp_rdp([2.0, 10.0], rho=0.5)
    array([1., 5.])
    """
    order = check_range("order", order, 1, np.inf)
    slope = check_number("rho", rho, 0, np.inf, "[)")
    with np.errstate(over="ignore"):
        line = slope * np.where(np.isinf(order) & (slope == 0), 1, order)
    return as_given(np.asarray(line))


# --- All the digits


def exp_remainder(x: ArrayLike) -> Floats:
    r"""What the exponential has above its tangent at 0.

    Formula: $\varphi(x) = e^x - 1 - x$.

    Parameters: `x`, a number or an array of them, at most 700.
    Returns: an array of the same shape, >= 0.
    Error: relative error below 1e-15 (a Taylor series where |x| < 1/2).
    Source: eq. (ren-remainder).

    >>> float(exp_remainder(1e-10) * 1e20)
    0.5000000000166667
    """
    x = np.asarray(x, dtype=np.float64)
    small = np.clip(x, -0.5, 0.5)
    series = small**2 * np.polynomial.polynomial.polyval(small, REMAINDER)
    return np.asarray(np.where(np.abs(x) < 0.5, series, np.expm1(x) - x))


@front_door
def laplace_rdp(order: ArrayLike, *, scale: float) -> Any:
    r"""Renyi DP of the Laplace mechanism.

    Formula: $R(a) = \frac{1}{a-1} \log\left(\frac{a}{2a-1} e^{(a-1)/s} +
    \frac{a-1}{2a-1} e^{-a/s}\right)$.

    Parameters: `order` (a in [1, inf]), a number or an array; `scale`
    (s > 0), relative to the largest absolute value of one record.
    Returns: the divergence in nats, shape of `order`; exact for add and
    remove, with the limits at 1 and infinity.
    Raises: ValueError for values outside these ranges.
    Error: relative error below 1e-13.
    Source: Mironov (2017), Proposition 6.

    >>> laplace_rdp([1, 2, np.inf], scale=1.0).round(12).tolist()
    [0.367879441171, 0.619123629999, 1.0]
    """
    order = check_range("order", order, 1, np.inf)
    loss = 1 / check_number("scale", scale, 0, np.inf, "()")
    if math.isinf(loss):
        return as_given(np.full(order.shape, np.inf))
    finite = np.where(np.isinf(order), 1.0, order)
    less, share = finite - 1, 1 / (2 - 1 / finite)  # a / (2 a - 1)
    with np.errstate(over="ignore"):
        up, down = less * loss, np.maximum(-finite * loss, -1e300)
        excess = exp_remainder(np.minimum(up, 600))
        excess += less / finite * exp_remainder(down)
    per_order = np.where(less > 0, less, 1)
    large = loss + np.log(share) / per_order
    result = np.where(up < 600, np.log1p(share * excess) / per_order, large)
    result = np.where(less > 0, result, exp_remainder(-loss))
    result = np.maximum(result, 5e-324)
    return as_given(np.where(np.isinf(order), loss, result))


@front_door
def loss_rdp(
    order: ArrayLike,
    *,
    losses: Floats,
    log_masses: Floats,
    missing: float = 0.0,
) -> Any:
    r"""Renyi divergence of a pair whose loss has finitely many values.

    Formula: $\frac{1}{x} \log(1 + x E_P[L] + E_P[\varphi(xL)])$ with
    x = a - 1 and $E_P[L] = E_P[\varphi(-L)] + Q(p = 0)$.

    Parameters: `order` (a in [1, inf]), a number or an array; `losses`,
    `log_masses`, 1-d arrays of the values of L and the logarithms of
    their probabilities under P (-inf for none); `missing`, the
    probability under Q of outputs that P never gives.
    Returns: the divergence in nats, shape of `order`.
    Raises: ValueError for orders outside [1, inf].
    Error: relative error below 1e-12 if losses and masses are exact.
    Source: eq. (ren-remainder).

    >>> three_to_one = np.log([3.0, 1 / 3])  # randomized response
    >>> chances = np.log([0.75, 0.25])
    >>> r = loss_rdp(2.0, losses=three_to_one, log_masses=chances)
    >>> round(math.exp(r) * 3, 12)
    7.0
    """
    order = check_range("order", order, 1, np.inf)
    kept = log_masses > -np.inf
    losses, log_p = losses[kept], log_masses[kept]
    worst = float(np.max(losses))
    if math.isinf(worst):
        return as_given(np.full(order.shape, np.inf))

    def remainder(power: Floats) -> Floats:
        """Mean of the remainder, for many powers of e^L."""
        near = np.exp(log_p) * exp_remainder(np.minimum(power, 30))
        far = np.exp(np.minimum(log_p + power, 709))
        far = far - np.exp(log_p) * (1 + np.clip(power, -1e300, 1e300))
        return np.asarray(np.sum(np.where(power < 30, near, far), axis=-1))

    mean = float(remainder(-losses)) + missing
    less = np.where(np.isinf(order), 1.0, order - 1).ravel()
    parts = []
    for part in np.array_split(less, 1 + len(less) * len(losses) // 10**6):
        per_order = np.where(part > 0, part, 1)
        with np.errstate(over="ignore"):  # what overflows is not used
            power = np.multiply.outer(part, losses)
            small = remainder(np.clip(power, -1e300, 700)) + part * mean
            below = np.multiply.outer(part, losses - worst)
            large = worst + logsumexp(below + log_p, axis=1) / per_order
            chosen = part * worst < 700
        parts.append(np.where(chosen, np.log1p(small) / per_order, large))
    result = np.where(less > 0, np.concatenate(parts), mean)
    if np.any(losses != 0):  # else both laws are equal
        result = np.maximum(result, 5e-324)
    result = result.reshape(order.shape)
    return as_given(np.where(np.isinf(order), worst, result))


@front_door
def pure_dp_rdp(order: ArrayLike, *, epsilon: float) -> Any:
    r"""Renyi DP of any mechanism of which only epsilon-DP is known.

    Formula: the curve of randomized response with
    $p = e^\varepsilon / (1 + e^\varepsilon)$.

    Parameters: `order` (a in [1, inf]), a number or an array; `epsilon`
    ($\varepsilon \ge 0$) of the pure guarantee.
    Returns: an upper bound in nats, shape of `order`, reached by
    randomized response; it holds for the adjacency of the guarantee.
    Raises: ValueError for values outside these ranges.
    Error: relative error below 1e-13.
    Source: Kairouz, Oh and Viswanath (2015), Section 3.

    >>> bool(abs(pure_dp_rdp(2, epsilon=np.log(3)) - np.log(7 / 3)) < 1e-15)
    True
    """
    epsilon = check_number("epsilon", epsilon, 0, np.inf, "[)")
    return loss_rdp(
        order,
        losses=np.array([epsilon, -epsilon]),
        log_masses=log_expit(np.array([epsilon, -epsilon])),
    )


def response_losses(truth: float) -> tuple[Floats, Floats]:
    r"""Losses of randomized response, and their probabilities under P.

    Formula: $\pm \log\frac{p}{1-p}$ with probabilities p and 1 - p.

    Parameters: `truth` (p in [0, 1]).
    Returns: losses (infinite where p is 0 or 1), logarithms of masses.
    Error: relative error below 1e-15, also where p is nearly 1/2.

    >>> response_losses(0.75)[0].round(6).tolist()  # log 3
    [1.098612, -1.098612]
    """
    lie, bias = 1 - truth, 2 * truth - 1
    if min(truth, lie) == 0:
        loss = math.inf
    elif abs(bias) < 0.1:  # the difference of logarithms would cancel
        loss = 2 * math.atanh(bias)
    else:
        loss = math.log(truth) - math.log(lie)
    masses = np.log([max(truth, 5e-324), max(lie, 5e-324)])
    return np.array([loss, -loss]), masses


@front_door
def randomized_response_rdp(
    order: ArrayLike, *, truth_probability: float
) -> Any:
    r"""Renyi DP of randomized response.

    Formula: $R(a) = \frac{1}{a-1} \log\left(p^a (1-p)^{1-a} + (1-p)^a
    p^{1-a}\right)$.

    Parameters: `order` (a in [1, inf]), a number or an array;
    `truth_probability` (p in [0, 1]).
    Returns: the divergence in nats, shape of `order`; exact for every
    adjacency; inf where p is 0 or 1.
    Raises: ValueError for values outside these ranges.
    Error: relative error below 1e-13.
    Source: Mironov (2017), Proposition 5.

    >>> r = randomized_response_rdp([1, 3, np.inf], truth_probability=0.75)
    >>> np.exp(r * [2, 2, 1]).round(12).tolist()  # 3, 61/9, 3
    [3.0, 6.777777777778, 3.0]
    """
    truth = check_number("truth_probability", truth_probability, 0, 1)
    losses, log_masses = response_losses(truth)
    return loss_rdp(order, losses=losses, log_masses=log_masses)


# --- Lists of outcomes


def discrete_curve(
    p: ArrayLike, q: ArrayLike, *, rate: float = 1.0, add: bool = False
) -> Curve:
    r"""Renyi divergence of two lists of probabilities, sampled or not.

    Formula: $D_a(M \Vert Q)$, or $D_a(Q \Vert M)$ if `add`, with
    $M = (1 - \gamma) Q + \gamma P$.

    Parameters: `p`, `q`, arrays of probabilities over the same outcomes;
    `rate` ($\gamma$ in (0, 1]); `add`, whether to exchange the two.
    Returns: a function of the order (a in [1, inf]).
    Error: that of `loss_rdp`, plus the rounding of p and q.

    >>> curve = discrete_curve([0.5, 0.5], [0.25, 0.75], rate=0.5)
    >>> round(math.exp(curve(2.0)) * 12, 12)  # moment 13/12
    13.0
    """
    p, q = np.asarray(p, np.float64), np.asarray(q, np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_p, log_q = np.log(p) + math.log(rate), np.log(q)
        mixed = np.logaddexp(log_p, log_q + np.log1p(-rate))
        w = rate * (p - q) / q
        w = np.where((w == 0) & (p != q), np.copysign(5e-324, p - q), w)
        losses = np.where(np.abs(w) < 0.5, np.log1p(w), mixed - log_q)
    if add:
        losses, mixed, log_q = -losses, log_q, mixed
    missing = float(np.sum(np.exp(log_q[mixed == -np.inf])))
    return lambda order: loss_rdp(
        order, losses=losses, log_masses=mixed, missing=missing
    )


@front_door
def discrete_rdp(
    order: ArrayLike, *, p: Probabilities, q: Probabilities
) -> Any:
    r"""Renyi divergence of two discrete distributions.

    Formula: $D_a(P\|Q) = \frac{1}{a-1} \log \sum_y P(y)^a Q(y)^{1-a}$.

    Parameters: `order` (a in [1, inf]), a number or an array; `p`, `q`,
    two lists of probabilities over the same outcomes.
    Returns: the divergence of P from Q in nats, shape of `order`. This
    is one direction; exchange p and q for the other one.
    Raises: ValueError for bad orders or probabilities.
    Error: relative error below 1e-12, if p and q are the exact numbers.
    Source: Mironov (2017), Definition 3.

    >>> round(discrete_rdp(2, p=[0.5, 0.5], q=[0.25, 0.75]), 12)  # log 4/3
    0.287682072452
    """
    return discrete_curve(*check_two_laws(p, q))(order)


# --- Noise on the integers


@front_door
def discrete_gaussian_rdp(
    order: ArrayLike, *, sigma: float, sensitivity: int = 1
) -> Any:
    r"""Renyi DP of discrete Gaussian noise on the integers.

    Formula: $R(a) = a k^2 / (2 \sigma^2)$.

    Parameters: `order` (a in [1, inf]), a number or an array; `sigma`
    ($\sigma > 0$) in absolute units; `sensitivity` (k, a whole number
    >= 1), by how much one record changes the count.
    Returns: an upper bound in nats for add and remove, shape of `order`;
    exact at order 1 and where a k is a whole number.
    Raises: ValueError for values outside these ranges.
    Error: at most $5 e^{-2 \pi^2 \sigma^2} / (a - 1)$ above the truth for
    $\sigma \ge 1/2$, plus rounding.
    Source: Canonne, Kamath and Steinke (2020), Proposition 5.

    >>> discrete_gaussian_rdp(3, sigma=10.0, sensitivity=2)
    0.06
    """
    sigma = check_number("sigma", sigma, 0, np.inf, "()")
    shift = check_count("sensitivity", sensitivity, high=1e15)
    return normal_line(order, sigma, shift)


def geometric_losses(rate: float, shift: int) -> tuple[Floats, Floats]:
    r"""Losses of discrete Laplace noise, and their probabilities under P.

    Formula: as for `discrete_laplace_rdp`.

    Parameters: `rate` (1/s), `shift` (k).
    Returns: losses, logarithms of masses.

    >>> losses, log_masses = geometric_losses(math.log(2.0), 1)
    >>> np.exp(log_masses).round(12).tolist()  # 2/3, 1/3
    [0.666666666667, 0.333333333333]
    """
    place = np.arange(shift + 1)
    losses = (shift - 2 * place) * rate
    log_masses = math.log(math.tanh(rate / 2)) - place * rate
    log_masses[[0, -1]] = log_expit(rate) - np.array([0, shift * rate])
    return losses, log_masses


@front_door
def discrete_laplace_rdp(
    order: ArrayLike, *, scale: float, sensitivity: int = 1
) -> Any:
    r"""Renyi DP of discrete Laplace (geometric) noise on the integers.

    Formula: losses $(k - 2j)/s$ with probability $\tanh(\frac{1}{2s})
    e^{-j/s}$ for 0 < j < k, and $1/(1+e^{-1/s})$, $e^{-k/s}/(1+e^{-1/s})$
    at j = 0 and j = k.

    Parameters: `order` (a in [1, inf]), a number or an array; `scale`
    (s > 0) in absolute units; `sensitivity` (k, a whole number from
    1 to 1e6).
    Returns: the divergence in nats, shape of `order`; exact for add and
    remove.
    Raises: ValueError for values outside these ranges.
    Error: relative error below 1e-12.
    Source: this page; the mechanism is that of Ghosh, Roughgarden and
    Sundararajan (2012).

    >>> discrete_laplace_rdp(np.inf, scale=2.0, sensitivity=3)
    1.5
    """
    order = check_range("order", order, 1, np.inf)
    rate = 1 / check_number("scale", scale, 0, np.inf, "()")
    shift = check_count("sensitivity", sensitivity, high=1e6)
    if math.isinf(shift * rate):
        return as_given(np.full(order.shape, np.inf))
    losses, log_masses = geometric_losses(rate, shift)
    return loss_rdp(order, losses=losses, log_masses=log_masses)
