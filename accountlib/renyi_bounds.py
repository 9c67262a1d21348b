# Generated from notebooks/renyi_bounds.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""A few terms, and other bounds

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $n$ | `order`, `orders` | an order that is a whole number, $n \ge 2$; not a number of records |
| $R(a)$, $R_\gamma(a)$ | `rdp`, – | Rényi DP curve of a mechanism, without and with sampling |
| $\gamma$ | `rate` | sampling rate; for fixed batches the share of the records in a batch |
| $p$, $q$, $m$ | – | densities of $P$, $Q$ and of the mixture $M = (1-\gamma)Q + \gamma P$ |
| $A_{\text{remove}}$, $A_{\text{add}}$ | – | moments of order $n$ of a sampled step, in its two directions |
| $b_\ell$ | – | $\binom{n}{\ell}(1-\gamma)^{n-\ell}\gamma^\ell$, a binomial probability |
| $\tau$ | `terms` | number of terms kept at each end of a sum |
| $x$ | `flat` | $R(n - \tau)$, which replaces $R(\ell)$ in the middle of the sum |
| $\hat\gamma$, $B$ | `chance`, – | probability of a coin, and a binomial number of $n$ such coins |
| $w$, $w'$ | – | $p/q - 1$ and $q/p - 1$, functions of the output |
| $\chi_\ell$, $\chi'_\ell$ | `pearson_vajda` | $E_Q[w^\ell]$ and $E_P[w'^\ell]$, Pearson–Vajda moments |
| $T_\ell(\gamma)$ | – | an integral between $\pm\chi_\ell$ and $\chi'_\ell$ |
| $\kappa$, $\kappa'$ | – | means of Poisson laws |
| $\eta$ | – | $e^{R(\infty)} - 1$ |
| $\rho$, $\omega$ | `rho`, `omega` | slope and end of a tCDP line |
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, logsumexp, rel_entr

from accountlib.checks import UNIT
from accountlib.conversion import evaluate, largest_loss
from accountlib.inputs import (
    Floats,
    check_choice,
    check_count,
    front_door,
)
from accountlib.renyi import Curve, Orders
from accountlib.renyi_sampling import (
    MOST_ORDER,
    Claim,
    all_terms,
    exponents,
    log_braces,
    log_choose,
    log_expm1,
    log_factors,
    refute_tight,
    sampled_rdp,
)

__all__ = [
    "log_middle",
    "log_chord",
    "log_ends",
    "few_terms",
    "poisson_rdp_terms",
    "without_replacement_rdp",
]

# --- A few terms instead of all


def log_middle(orders: Orders, terms: int, chance: Floats) -> Floats:
    r"""Probability that a binomial number avoids both ends, logarithm of.

    Formula: $\log \Pr[\tau < B \le n - \tau]$, B binomial(n, chance). Below
    1e-280 a Chernoff bound, $e^{-n D(k/n \Vert c)}$ with the nearest
    end k and the divergence D of two coins.

    Parameters: `orders` (n > 2 tau), whole numbers; `terms` ($\tau \ge
    1$); `chance` (c), one for each order, in [0, 1].
    Returns: an array, an upper bound up to the rounding.
    Error: relative error below 1e-10 of the probability above 1e-280.
    Source: eq. (ren-terms).

    >>> middle = log_middle(np.array([3]), 1, np.array([0.5]))
    >>> float(np.exp(middle).round(12)[0])
    0.375
    """
    n, low, high = orders, terms + 1, orders - terms + 1
    above = betainc(low, n - terms, chance) - betainc(high, terms, chance)
    below = betainc(terms, high, 1 - chance) - betainc(
        n - terms, low, 1 - chance
    )
    inner = np.where(chance < 0.5, above, below)
    end = np.clip(chance, low / n, (n - terms) / n)
    apart = rel_entr(end, chance) + rel_entr(1 - end, 1 - chance)
    seen = inner > 1e-280
    return np.where(seen, np.log(np.where(seen, inner, 1)), -n * apart)


def log_chord(orders: Orders, terms: int, rate: float, flat: Floats) -> Floats:
    r"""Middle of a sampled moment, minus its masses, bounded by a chord.

    Formula: $\log\left(\frac{e^{(N-1)x} - 1}{N - 1}\, n \gamma
    \Pr[B' \ge \tau]\right)$ with N = n - tau.

    Parameters: `orders` (n > 2 tau), `terms`, `rate` as for `log_ends`;
    `flat` (x), one for each order.
    Returns: an array, upper bounds.
    Error: rounded up by 1e-9, relatively.

    >>> x = np.array([0.1])
    >>> float(log_chord(np.array([9]), 2, 0.1, x).round(6)[0])
    -3.770197
    """
    last = orders - terms
    with np.errstate(divide="ignore"):
        chance = np.log(betainc(terms, last, rate))
    chance = np.minimum(chance + 1e-9, 0)
    scale = np.log(orders * rate / np.maximum(last - 1, 1))
    return (
        log_expm1((last - 1) * flat)
        + scale
        + np.where(chance > -640, chance, 0.0)
    )


def log_ends(
    orders: Orders, rdp: Curve, rate: float, terms: int, bound: Claim
) -> Floats:
    r"""The braces of the bound with few terms, minus 1, logarithm of.

    Formula: both ends term by term, the middle by eq. (ren-terms).

    Parameters: as for `poisson_rdp_terms`; `orders` (n > 2 tau), a 1-d
    array of whole numbers; `rate` in (0, 1).
    Returns: one logarithm for each order.
    Error: an upper bound; the middle is rounded up.
    Source: eq. (ren-terms).

    >>> from accountlib.renyi import gaussian_rdp
    >>> line = lambda a: gaussian_rdp(a, noise_multiplier=2.0)
    >>> log_ends(np.array([9]), line, 0.1, 2, "tight").shape
    (1,)
    """
    if bound == "tight":
        refute_tight(rdp, int(np.max(orders)))
    first = np.arange(2, terms + 1)
    last = orders[:, None] - np.arange(terms)[::-1]
    k = np.hstack([np.tile(first, (len(orders), 1)), last])
    x = exponents(rdp, k.ravel()).reshape(k.shape)
    choose = log_choose(orders[:, None], k)
    logs = k * math.log(rate) + (orders[:, None] - k) * math.log1p(-rate)
    log_mass = choose + logs + 4 * UNIT * (choose - 3 * logs + x) + 1e-13
    parts = log_mass + log_factors(x, k, bound)
    flat = evaluate(rdp, (orders - terms).astype(np.float64))
    flat = np.where(np.isinf(flat), 0.0, flat)  # then the ends are inf
    growth = np.logaddexp(math.log1p(-rate), math.log(rate) + flat)
    chance = np.exp(math.log(rate) + flat - growth)
    whole = orders * growth - flat + log_middle(orders, terms, chance)
    whole = np.where(np.isnan(whole), np.inf, whole)  # growth overflows
    plain = log_middle(orders, terms, np.full(len(orders), rate))
    slack = 1e-10 + 1e-14 * orders * growth  # rounding of both
    gap = np.maximum(whole - plain, 0.0)
    middle = whole + np.log(-np.expm1(-gap) + slack)
    middle = np.minimum(middle, log_chord(orders, terms, rate, flat))
    if bound == "general":
        middle = np.logaddexp(middle, whole + math.log(2))
    return np.asarray(logsumexp(np.column_stack([parts, middle]), axis=1))


def few_terms(
    orders: Orders, rdp: Curve, rate: float, terms: int, bound: Claim
) -> Floats:
    """The bound with few terms at whole orders n, times n - 1.

    Parameters: as for `log_ends`; orders up to 2 tau have all terms.

    >>> line = lambda a: 0.1 * a
    >>> few_terms(np.array([3, 9]), line, 0.1, 2, "tight").round(6).tolist()
    [0.006777, 0.217348]
    """
    large = orders > 2 * terms
    result = np.zeros(len(orders))
    if not np.all(large):
        result[~large] = all_terms(orders[~large], rdp, rate, bound)
    if np.any(large):
        blocks = 1 + len(orders) * terms // 10**6  # for less memory
        ends = [
            log_ends(part, rdp, rate, terms, bound)
            for part in np.array_split(orders[large], blocks)
            if len(part)
        ]
        result[large] = np.logaddexp(0, np.concatenate(ends))
        result[large] *= 1 + 1e-10
        result[large] += np.where(np.concatenate(ends) > -np.inf, 1e-323, 0)
    return result


@front_door
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

    Parameters: `terms` ($\tau$, a whole number from 1 to 1e6); the others
    as for `poisson_rdp`. `rdp` must not decrease.
    Returns: an upper bound of `poisson_rdp` with the same `bound`, shape
    of `order`; equal to it at orders up to 2 tau and at inf.
    Raises: as `poisson_rdp`.
    Error: rounded up by 1e-10, relatively.
    Source: Zhu and Wang (2019), Theorem 11 and Appendix C;
    eq. (ren-terms).

    >>> from accountlib.renyi import gaussian_rdp
    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=5.0)
    >>> from accountlib.renyi_sampling import poisson_rdp
    >>> few = poisson_rdp_terms(100, rdp=curve, rate=0.001, terms=10)
    >>> 1 < few / poisson_rdp(100, rdp=curve, rate=0.001) < 1.5
    True
    """
    check_choice("bound", bound, ("general", "tight"))
    terms = check_count("terms", terms, high=MOST_ORDER)

    def totals(whole: Orders, rate: float) -> Floats:
        return few_terms(whole, rdp, rate, terms, bound)

    return sampled_rdp(order, rdp, rate, totals)


# --- Batches of a fixed size


@front_door
def without_replacement_rdp(
    order: ArrayLike, *, rdp: Curve, rate: float
) -> Any:
    r"""Renyi DP of a mechanism that sees a batch of fixed size.

    Formula: eq. (ren-fixed); chords between whole orders.

    Parameters: `order` (a in [1, 1e6], or inf), a number or an array;
    `rdp`, the curve without sampling for one exchanged record, which
    should know order inf; `rate` ($\gamma$ in [0, 1]: batch size over
    number of records).
    Returns: an upper bound in nats for substitution, shape of `order`.
    Raises: ValueError for values outside these ranges.
    Error: the formula, rounded up; by less than 1e-10 up to order 1e5.
    Source: Wang, Balle and Kasiviswanathan (2019), Theorem 9.

    >>> from accountlib.renyi import gaussian_rdp
    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=5.0)
    >>> round(without_replacement_rdp(2, rdp=curve, rate=0.001) * 1e7, 6)
    1.632431
    """

    def totals(whole: Orders, rate: float) -> Floats:
        place = np.arange(2, int(whole[-1]) + 1)
        x = exponents(rdp, place)
        log_eta = float(log_expm1(np.array(largest_loss(rdp))))
        weights = x + np.minimum(math.log(2), place * log_eta)
        weights[0] = min(weights[0], float(log_expm1(x[:1])[0] + math.log(4)))
        return log_braces(whole, math.log(rate), 0.0, weights, 8)

    return sampled_rdp(order, rdp, rate, totals)
