# Generated from notebooks/renyi_sampling.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What is the curve of a sampled step?"""

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from accountlib.checks import UNIT, Floats, check, check_rate
from accountlib.conversion import evaluate, largest_loss
from accountlib.renyi import Curve, as_asked, log_sum_exp

__all__ = [
    "log_binomial",
    "log_expm1",
    "Claim",
    "log_factors",
    "log_moment",
    "log_one_plus",
    "whole_orders",
    "sampled_curve",
    "signed_moment",
    "refute_tight",
    "poisson_rdp",
]

# --- The sum in code


def log_binomial(
    count: int, log_rate: float, log_miss: float
) -> tuple[Floats, Floats]:
    r"""Logarithms of $\binom{n}{k} u^k v^{n-k}$, and bounds of their errors.

    >>> half = math.log(0.5)
    >>> np.exp(log_binomial(2, half, half)[0]).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    k = np.arange(count + 1.0)
    factorial = gammaln(k + 1)  # relative error below 5 u
    powers = k * log_rate + (count - k) * log_miss
    choose = factorial[-1] - factorial - factorial[::-1]
    return choose + powers, 16 * UNIT * (factorial[-1] - powers + 1)


def log_expm1(x: Floats) -> Floats:
    """Logarithm of e^x - 1 for x from 0 (-inf) to inf.

    >>> log_expm1(np.array([1000.0])).tolist()
    [1000.0]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(x + np.log(-np.expm1(-x)))


Claim = Literal["general", "tight"]


def log_factors(values: Floats, bound: Claim) -> Floats:
    r"""Logarithms of $f_\ell e^{(\ell-1)R(\ell)} - 1$, rounded up.

    Parameters: `values` ($R(2), R(3), \dots$); `bound`: $f_\ell = 1$, or
    for "general" 3 from $\ell = 3$ on.

    >>> np.exp(log_factors(np.log([2.0, 2.0]), "general")).round(9).tolist()
    [1.0, 11.0]
    """
    x = np.arange(1.0, len(values) + 1) * values
    factor = log_expm1(x)
    if bound == "general":
        factor[1:] = x[1:] + np.log(3 - np.exp(-x[1:]))
    return factor + 8 * UNIT * x


def log_moment(factors: Floats, rate: float) -> float:
    r"""Logarithm of the sum of eq. (ren-tight), rounded up.

    Formula: $\log(1 + \sum_{\ell \ge 2} b_\ell e^{w_\ell})$.

    Parameters: `factors` ($w_2, \dots, w_n$) of `log_factors`; `rate` in
    (0, 1).

    >>> round(math.exp(log_moment(np.log([2.0]), 0.5)), 12)
    1.5
    """
    log_rate, log_miss = math.log(rate), math.log1p(-rate)
    mass, wrong = log_binomial(len(factors) + 1, log_rate, log_miss)
    return log_one_plus(mass[2:] + factors + wrong[2:])


def log_one_plus(terms: Floats) -> float:
    """Logarithm of 1 + the sum of e^term, rounded up.

    >>> round(math.exp(log_one_plus(np.log([0.25, 0.75]))), 12)
    2.0
    """
    total = float(log_sum_exp(terms))
    if total > -math.inf:
        total += 32 * UNIT * (1 + abs(total))
    return float(np.logaddexp(0, total)) * (1 + 4 * UNIT)


def whole_orders(order: ArrayLike) -> Floats:
    """Orders of sampled steps as an array: whole numbers, or infinite.

    >>> whole_orders([2, math.inf])
    array([ 2., inf])
    """
    found = np.asarray(check("order", order, 1, np.inf))
    finite = found[found < np.inf]
    if np.any((finite < 2) | (finite > 1e4) | (finite != np.floor(finite))):
        raise ValueError(
            "order of a sampled step must be a whole number in [2, 1e4], or "
            f"inf, got {order!r}; accountlib.beyond.fractional_orders has "
            "real ones"
        )
    return found


def sampled_curve(
    orders: Floats, rdp: Curve, rate: float, total: Callable[[int], float]
) -> Any:
    """A curve of sampled steps; total(n) is (n - 1) R(n) at rates in (0, 1).

    >>> sampled_curve(np.array([2.0, 3.0]), lambda a: a, 1.0, lambda n: 0.0)
    array([2., 3.])
    """
    if rate in (0, 1):
        plain = np.array(evaluate(rdp, orders))
        return as_asked(plain if rate == 1 else np.zeros(orders.shape))
    values = np.empty(orders.shape)
    for at, n in np.ndenumerate(orders):
        if n < np.inf:
            values[at] = total(int(n)) / (n - 1) * (1 + 2 * UNIT)
        else:
            gain = log_expm1(np.array([largest_loss(rdp)])) + math.log(rate)
            values[at] = log_one_plus(gain + 8 * UNIT * np.abs(gain))
    return as_asked(values)


# --- A curve that covers one direction


def signed_moment(order: int, rdp: Curve) -> tuple[float, float]:
    r"""A Pearson-Vajda moment, relative to its largest term; log of that.

    >>> total, top = signed_moment(2, lambda a: np.log(3.0))
    >>> round(total * math.exp(top), 12)
    2.0
    """
    j = np.arange(2, order + 1)
    rise = log_expm1((j - 1) * evaluate(rdp, j.astype(float)))
    terms = log_binomial(order, 0.0, 0.0)[0][2:] + rise
    top = float(np.max(terms))
    if not math.isfinite(top):
        return float(top > 0), top
    return math.fsum((-1.0) ** (order - j) * np.exp(terms - top)), top


def refute_tight(rdp: Curve, highest: int) -> None:
    """Refuse a curve of which an odd moment up to 21 is negative.

    >>> refute_tight(lambda a: a / 2, 9)
    """
    for order in range(3, min(highest, 21) + 1, 2):
        if signed_moment(order, rdp)[0] < -1e-6:
            raise ValueError(
                "rdp must cover add and remove, got a curve whose odd moment "
                f"E[(p/q - 1)^{order}] is negative: take the larger of "
                "D_a(P||Q) and D_a(Q||P) at each order, for every bound"
            )


def poisson_rdp(
    order: ArrayLike, *, rdp: Curve, rate: float, bound: Claim = "general"
) -> Any:
    r"""Renyi DP of a mechanism that sees a Poisson sample of the records.

    Formula: $R_\gamma(n) = \frac{1}{n-1} \log \sum_{\ell=0}^n b_\ell
    f_\ell e^{(\ell-1) R(\ell)}$ with $f_\ell = 1$, or for "general"
    $f_\ell = 3$ from $\ell = 3$ on.

    Parameters: `order` (n, a whole number from 2 to 1e4, or inf), a number
    or an array; `rdp`, a function of an array of orders: the curve without
    sampling, which must cover add and remove, so be at least the larger of
    D_a(P||Q) and D_a(Q||P) (they are equal for Gaussian and Laplace noise
    and randomized response); `rate` ($\gamma$, 0 or in [1e-9, 1]);
    `bound`, "tight", or "general", the paper's, which is never smaller.
    Returns: with either an upper bound in nats for add-or-remove, shape of
    `order`, rounding counted, also four roundings of `rdp`. "tight" is
    exact up to that if neighbours attain `rdp`.
    Raises: ValueError for other values, for a curve that is none, and for
    "tight" where an odd moment says that it may cover one direction only.
    Source: Zhu and Wang (2019), Theorems 5 and 8; page-subsampling,
    eqs. (ren-general) and (ren-tight).

    >>> from accountlib.renyi import gaussian_rdp
    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=5.0)
    >>> round(poisson_rdp(2, rdp=curve, rate=0.001) * 1e8, 8)
    4.08107734
    """
    if bound not in ("general", "tight"):
        raise ValueError(f"bound must be 'general' or 'tight', got {bound!r}")
    orders, rate = whole_orders(order), check_rate(rate)
    highest = int(orders[orders < np.inf].max(initial=2))
    if bound == "tight":
        refute_tight(rdp, highest)
    factors = log_factors(evaluate(rdp, np.arange(2.0, highest + 1)), bound)
    return sampled_curve(
        orders, rdp, rate, lambda n: log_moment(factors[: n - 1], rate)
    )
