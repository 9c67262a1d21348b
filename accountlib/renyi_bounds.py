# Generated from notebooks/renyi_bounds.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Are twenty terms enough?"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from accountlib.checks import UNIT, Floats, check, check_rate
from accountlib.conversion import evaluate, largest_loss
from accountlib.renyi import Curve, as_asked
from accountlib.renyi_sampling import (
    Claim,
    log_binomial,
    log_expm1,
    log_factors,
    log_moment,
    log_one_plus,
    refute_tight,
    sampled_curve,
    signed_moment,
    whole_orders,
)

__all__ = [
    "few_values",
    "poisson_rdp_terms",
    "pearson_vajda",
    "without_replacement_rdp",
]

# --- A few terms instead of all


def few_values(rdp: Curve, order: int, terms: int) -> Floats:
    """A curve at 2, ..., n, with R(n - terms) in the middle.

    >>> few_values(lambda a: a, 8, 2)
    array([2., 6., 6., 6., 6., 7., 8.])
    """
    k = np.arange(2.0, order + 1)
    ends = (k <= terms) | (k >= order - terms)
    middle = evaluate(rdp, np.array([float(max(order - terms, 2))]))
    values = np.full(k.shape, middle[0])
    values[ends] = evaluate(rdp, k[ends])
    return values


def poisson_rdp_terms(
    order: ArrayLike,
    *,
    rdp: Curve,
    rate: float,
    terms: int,
    bound: Claim = "general",
) -> Any:
    r"""Upper bound of `poisson_rdp` from few terms at each end of the sum.

    Formula: eq. (ren-tight), or (ren-general), with $R(n - \tau)$ in place
    of $R(\ell)$ for $\tau < \ell \le n - \tau$.

    Parameters: `terms` ($\tau$, a whole number from 1 to 1e4); the others
    as for `poisson_rdp`. `rdp` must not decrease.
    Returns: an upper bound of `poisson_rdp` with the same `bound`, shape
    of `order`; equal to it at orders up to 2 tau and at inf.
    Raises: ValueError as `poisson_rdp`.
    Source: Zhu and Wang (2019), Theorem 11 and Appendix C;
    eq. (ren-terms).

    >>> from accountlib.renyi import gaussian_rdp
    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=5.0)
    >>> from accountlib.renyi_sampling import poisson_rdp
    >>> few = poisson_rdp_terms(100, rdp=curve, rate=0.001, terms=10)
    >>> 1 < few / poisson_rdp(100, rdp=curve, rate=0.001) < 1.5
    True
    """
    if bound not in ("general", "tight"):
        raise ValueError(f"bound must be 'general' or 'tight', got {bound!r}")
    orders, rate = whole_orders(order), check_rate(rate)
    kept = check("terms", terms, 1, 1e4, whole=True)
    if bound == "tight":
        refute_tight(rdp, int(orders[orders < np.inf].max(initial=2)))

    def total(n: int) -> float:
        return log_moment(log_factors(few_values(rdp, n, kept), bound), rate)

    return sampled_curve(orders, rdp, rate, total)


# --- Odd moments and the factor 3


def pearson_vajda(order: ArrayLike, *, rdp: Curve) -> Any:
    r"""Pearson-Vajda moment of a pair, from its Renyi divergences.

    Formula: $\chi_\ell = E_Q[(p/q - 1)^\ell] = \sum_{j=0}^\ell
    (-1)^{\ell-j} \binom{\ell}{j} e^{(j-1) D_j(P\|Q)}$.

    Parameters: `order` ($\ell$, a whole number from 2 to 1e4), a number or
    an array; `rdp`, the Renyi divergence of P from Q as a function of the
    order. It must be one pair's own divergence: from an upper bound the
    result means nothing.
    Returns: the moment, shape of `order`, no bound; its error is about
    1e-13 times the largest term of the sum. inf where it is above 1e308.
    Raises: ValueError for other values.
    Source: Zhu and Wang (2019), eq. (4); eq. (ren-chi).

    >>> from accountlib.renyi import gaussian_rdp
    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=1.0)
    >>> round(pearson_vajda(3, rdp=curve), 6)
    13.930691
    """
    values = np.empty(np.shape(order))
    for at, given in np.ndenumerate(np.asarray(order)):
        whole = check("order", given.item(), 2, 1e4, whole=True)
        total, top = signed_moment(whole, rdp)
        with np.errstate(over="ignore", divide="ignore"):
            values[at] = np.sign(total) * np.exp(np.log(abs(total)) + top)
    return as_asked(values)


# --- A batch of a fixed size


def without_replacement_rdp(
    order: ArrayLike, *, rdp: Curve, rate: float
) -> Any:
    r"""Renyi DP of a mechanism that sees a batch of fixed size.

    Formula: eq. (ren-fixed).

    Parameters: `order` (n, a whole number from 2 to 1e4, or inf), a number
    or an array; `rdp`, the curve without sampling for one substituted
    record, which should know order inf; `rate` ($\gamma$, 0 or in
    [1e-9, 1]: batch size over number of records).
    Returns: an upper bound in nats for substitution, shape of `order`,
    rounding counted.
    Raises: ValueError for other values.
    Source: Wang, Balle and Kasiviswanathan (2019), Theorem 9.

    >>> from accountlib.renyi import gaussian_rdp
    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=5.0)
    >>> round(without_replacement_rdp(2, rdp=curve, rate=0.001) * 1e7, 6)
    1.632431
    """
    orders, rate = whole_orders(order), check_rate(rate)
    log_eta = float(log_expm1(np.array(largest_loss(rdp))))
    k = np.arange(2.0, orders[orders < np.inf].max(initial=2) + 1)
    x = (k - 1) * evaluate(rdp, k)
    weight = x + np.minimum(math.log(2), k * log_eta)
    weight[0] = min(weight[0], float(log_expm1(x[:1])[0]) + math.log(4))
    weight += 8 * UNIT * (1 + x + k * min(abs(log_eta), 1e3))

    def total(n: int) -> float:
        mass, wrong = log_binomial(n, math.log(rate), 0.0)
        return log_one_plus(mass[2:] + weight[: n - 1] + wrong[2:])

    return sampled_curve(orders, rdp, rate, total)
