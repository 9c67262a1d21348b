# Generated from notebooks/renyi_sampling.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""A sampled step

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $a$ | `order` | order of a Rényi divergence, $1 \le a \le \infty$ |
| $n$ | `order`, `orders` | an order that is a whole number, $n \ge 2$; not a number of records |
| $R(a)$, $R_\gamma(a)$ | `rdp`, – | Rényi DP curve of a mechanism, without and with sampling |
| $\gamma$ | `rate` | sampling rate, in $[0, 1]$ |
| $p$, $q$, $m$ | – | densities of $P$, $Q$ and of the mixture $M = (1-\gamma)Q + \gamma P$, which page-dominating-pairs calls $P_\gamma$ |
| $M'$, $m'$ | – | $(1-\gamma)P + \gamma Q$ and its density |
| $A_{\text{remove}}$, $A_{\text{add}}$ | – | moments of order $n$ of a sampled step, in its two directions |
| $b_\ell$ | – | $\binom{n}{\ell}(1-\gamma)^{n-\ell}\gamma^\ell$, a binomial probability |
| $x_\ell$ | `exponents` | $(\ell - 1) R(\ell)$ |
| $\chi_\ell$ | `pearson_vajda` | $E_Q[(p/q - 1)^\ell]$, a Pearson–Vajda moment |
| $\theta$ | – | weight of one direction, in $(0, 1)$ |
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from accountlib.checks import UNIT
from accountlib.conversion import evaluate
from accountlib.inputs import (
    Floats,
    as_given,
    check_choice,
    check_count,
    check_number,
    check_range,
    front_door,
    read_only,
)
from accountlib.renyi import Curve, Orders

__all__ = [
    "STIRLING",
    "stirling_remainder",
    "log_choose",
    "SPLIT",
    "BinomialTerms",
    "log_sums_at",
    "MOST_ORDER",
    "between_orders",
    "signed_moment",
    "pearson_vajda",
    "Claim",
    "refute_tight",
    "exponents",
    "log_expm1",
    "log_factors",
    "log_braces",
    "all_terms",
    "sampled_loss",
    "sampled_rdp",
    "poisson_rdp",
]

# --- Sums with ten thousand terms

STIRLING = read_only(
    [0.0]
    + [
        math.lgamma(n + 1)
        - (n + 0.5) * math.log(n)
        + n
        - math.log(2 * math.pi) / 2
        for n in range(1, 16)
    ]
)


def stirling_remainder(n: ArrayLike) -> Floats:
    r"""$\log n! - (n + \frac12) \log n + n - \frac12 \log 2\pi$, 0 for n = 0.

    Error: absolute error below 2e-14. Source: Loader (2000).

    >>> float(stirling_remainder(100).round(14))
    0.00083333055563
    """
    n = np.asarray(n, dtype=np.float64)
    x = np.maximum(n, 16.0) ** -2
    series = 1 / 12 - x * (1 / 360 - x * (1 / 1260 - x / 1680))
    series *= np.sqrt(x)
    few = STIRLING[np.minimum(n, 15).astype(int)]
    return np.asarray(np.where(n < 16, few, series))


def log_choose(n: ArrayLike, k: ArrayLike) -> Floats:
    r"""Logarithm of a binomial coefficient, $0 \le k \le n$, all digits.

    Error: absolute error below 5e-14, plus 1e-15 times the result.
    Source: Loader (2000).

    >>> float(np.exp(log_choose(10, 3)).round(9))
    120.0
    """
    n, k = np.asarray(n, np.float64), np.asarray(k, np.float64)
    few, many = np.minimum(k, n - k), np.maximum(k, n - k)
    less = np.maximum(few, 1.0)  # few, or anything where k is 0 or n
    total = less + many
    entropy = less * np.log(total / less) - many * np.log1p(-less / total)
    root = np.log(total / (2 * np.pi * less * many)) / 2
    rest = stirling_remainder(total) - stirling_remainder(less)
    rest -= stirling_remainder(many)
    return np.where(few > 0, entropy + root + rest, 0.0)


SPLIT = 32  # longest cell that is added up term by term


@dataclass(frozen=True)
class BinomialTerms:
    r"""Terms of weighted binomial sums, a row for each order; logarithms.

    Formula: $\log\binom{n}{\ell} + \ell \log u + (n - \ell) \log v +
    w_\ell$.

    Fields: as the parameters of `log_sums_at`.
    """

    orders: Orders
    log_rate: float
    log_rest: float
    weights: Floats

    def powers(self, row: Orders, k: Orders) -> Floats:
        """Logarithms of the powers of u and v."""
        left = self.orders[row] - k
        return np.asarray(k * self.log_rate + left * self.log_rest)

    def mass(self, row: Orders, k: Orders) -> Floats:
        """Logarithms of the terms without their weights."""
        choose = log_choose(self.orders[row], k)
        return np.asarray(choose + self.powers(row, k))

    def term(self, row: Orders, k: Orders) -> Floats:
        """Logarithms of the terms."""
        return np.asarray(self.mass(row, k) + self.weights[k])

    def cells(self) -> tuple[Orders, Orders, Orders, Floats]:
        """Cells that count: row, first place, place behind the last one; and
        a large term for each row."""
        ceiling = np.maximum.accumulate(self.weights)
        row = np.arange(len(self.orders))
        left, right = np.full_like(self.orders, 2), self.orders + 1
        best = np.maximum(self.term(row, left), self.term(row, self.orders))
        while np.any(right - left > SPLIT):
            width = np.maximum(-(-(right - left) // 8), SPLIT)[:, None]
            start = left[:, None] + width * np.arange(8)
            end = np.minimum(start + width, right[:, None])
            real = start < end
            row = np.broadcast_to(row[:, None], real.shape)[real]
            left, right = start[real], end[real]
            np.maximum.at(best, row, self.term(row, left))
            mode = self.orders[row] + 1
            mode = mode * expit(self.log_rate - self.log_rest)
            peak = np.clip(mode.astype(np.int64), left, right - 1)
            most = self.mass(row, peak) + ceiling[right - 1]
            keep = most > best[row] - 40
            row, left, right = row[keep], left[keep], right[keep]
        return row, left, right, best


def log_sums_at(
    orders: Orders, log_rate: float, log_rest: float, weights: Floats
) -> tuple[Floats, Floats]:
    r"""Logarithms of weighted binomial sums, for many orders at once.

    Formula: $\log \sum_{\ell=2}^{n} \binom{n}{\ell} u^\ell v^{n-\ell}
    e^{w_\ell}$.

    Parameters: `orders` (n >= 2), a 1-d array of whole numbers;
    `log_rate`, `log_rest` ($\log u$, $\log v$); `weights` ($w_\ell$), an
    array indexed by $\ell$ that reaches to the largest order.
    Returns: one logarithm for each order, -inf or inf where the sum is 0
    or infinite; and the size of the exponents in terms that count.
    Error: terms below $e^{-40}$ of the largest are left out where a bound
    proves it; relative error of the sum below 1e-12 up to order 1e5, plus
    1e-16 times the largest exponent.

    >>> ones = np.zeros(5)  # 2^4 - 1 - 4
    >>> total, last = log_sums_at(np.array([4]), 0.0, 0.0, ones)
    >>> float(np.exp(total).round(9)[0]), bool(last[0] < 2)
    (11.0, True)
    """
    block = max(1, int(10**6 / (32 + 10 * math.sqrt(np.max(orders)))))
    if len(orders) > block:  # all at once would need much memory
        blocks = np.array_split(orders, 1 + len(orders) // block)
        parts = [log_sums_at(x, log_rate, log_rest, weights) for x in blocks]
        sums, places = zip(*parts, strict=True)
        return np.concatenate(sums), np.concatenate(places)
    binomial = BinomialTerms(orders, log_rate, log_rest, weights)
    row, left, right, best = binomial.cells()
    size = right - left
    owner = np.repeat(row, size)
    k = np.arange(len(owner)) + np.repeat(left - np.cumsum(size) + size, size)
    terms = binomial.term(owner, k)
    np.maximum.at(best, owner, terms)
    known = np.isfinite(best)
    scale = np.where(known, best, 0.0)
    total = np.bincount(owner, np.exp(terms - scale[owner]), len(orders))
    result = np.where(known, scale + np.log(np.maximum(total, 1)), best)
    count = terms > best[owner] - 40  # none of a row that is 0 or infinite
    owner, k = owner[count], k[count]
    size = np.abs(terms[count] - weights[k])
    last = np.zeros(len(orders))
    np.maximum.at(last, owner, size + 2 * np.abs(binomial.powers(owner, k)))
    return np.asarray(result), last


# --- Between whole orders

MOST_ORDER = 10**6  # largest finite order of a sampled curve


def between_orders(
    order: ArrayLike, totals: Callable[[Orders], Floats], at_infinity: float
) -> Any:
    r"""A curve at real orders, from its values at whole orders.

    Formula: $(a-1) R(a)$ lies below the chord between whole orders, and
    is 0 at a = 1.

    Parameters: `order` (a in [1, 1e6], or inf); `totals`, a function that
    gives $(n-1) R(n)$ for an array of whole orders n >= 2; `at_infinity`,
    the value for order inf.
    Returns: an upper bound of R, shape of `order`; at order 1 it is R(2).
    Raises: ValueError for other orders.
    Error: 0 at whole orders; an upper bound between them.
    Source: Zhu and Wang (2019), Section 3.

    >>> round(between_orders(2.5, lambda n: n - 1.0, 9.0), 12)  # R = 1
    1.0
    """
    order = check_range("order", order, 1, np.inf)
    check_range("order (if finite)", order[np.isfinite(order)], 1, MOST_ORDER)
    if order.size == 0:
        return np.zeros(order.shape)
    real = np.where(np.isinf(order), 2.0, np.maximum(order, 2.0)).ravel()
    low = np.minimum(np.floor(real), MOST_ORDER - 1.0)
    whole = np.unique(np.concatenate([low, np.ceil(real)]))
    known = totals(whole.astype(np.int64))
    first = known[np.searchsorted(whole, low)]
    second = known[np.searchsorted(whole, np.ceil(real))]
    part = real - low
    with np.errstate(invalid="ignore"):
        chord = np.where(part > 0, part * second, 0.0)
        chord += np.where(part < 1, (1 - part) * first, 0.0)
    result = chord / (real - 1) * (1 + 8 * UNIT) + 1e-323  # not 0 by rounding
    result = np.where(first + second == 0, 0.0, result).reshape(order.shape)
    return as_given(np.where(np.isinf(order), at_infinity, result))


# --- Moments from a curve


def signed_moment(order: int, rdp: Curve) -> tuple[float, float]:
    r"""A Pearson-Vajda moment, scaled, with the size of what cancels.

    Formula: with top = $\max_j \log|t_j|$ of the terms t_j of eq.
    (ren-chi), $\sum_j t_j e^{-\text{top}}$ and top (-inf if all are 0).

    Error: absolute error of the sum below 1e-13 times the order, plus
    that of the curve. Source: Zhu and Wang (2019), Remark 12.

    >>> total, top = signed_moment(2, lambda a: np.log(3.0))
    >>> round(total * math.exp(top), 12)
    2.0
    """
    j = np.arange(2, order + 1)
    exponent = (j - 1) * evaluate(rdp, j.astype(np.float64))
    with np.errstate(divide="ignore"):
        log_terms = log_choose(order, j) + exponent
        log_terms += np.log(-np.expm1(-exponent))
    top = float(np.max(log_terms))
    if not math.isfinite(top):
        return float(top > 0), top
    signs = np.where((order - j) % 2 == 0, 1.0, -1.0)
    return math.fsum(signs * np.exp(log_terms - top)), top


@front_door
def pearson_vajda(order: ArrayLike, *, rdp: Curve) -> Any:
    r"""Pearson-Vajda moment of a pair, from its Renyi divergences.

    Formula: $\chi_\ell = E_Q[(p/q - 1)^\ell] = \sum_{j=0}^\ell
    (-1)^{\ell-j} \binom{\ell}{j} e^{(j-1) D_j(P\|Q)}$.

    Parameters: `order` ($\ell$, a whole number from 2 to 1e6), a number or
    an array; `rdp`, the Renyi divergence of P from Q as a function of the
    order. It must be one pair's own divergence: from an upper bound the
    result means nothing.
    Returns: the moment, shape of `order`; inf where it is above 1e308.
    Raises: ValueError for values outside these ranges.
    Error: absolute; about 1e-13 times the largest term of the sum.
    Source: Zhu and Wang (2019), eq. (4); Nielsen and Nock (2014);
    eq. (ren-chi).

    >>> from accountlib.renyi import gaussian_rdp
    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=1.0)
    >>> round(pearson_vajda(3, rdp=curve), 6)
    13.930691
    """
    shape = np.shape(order)
    counts = [check_count("order", n, 2) for n in np.ravel(order).tolist()]
    check_number("order", max(counts, default=2), 2, MOST_ORDER)
    values = np.empty(len(counts))
    for i, count in enumerate(counts):
        total, top = signed_moment(count, rdp)
        with np.errstate(over="ignore", divide="ignore"):
            size = np.exp(np.log(abs(total)) + top)
        values[i] = math.copysign(size, total) if total else 0.0
    return as_given(values.reshape(shape))


# --- The curve of a sampled step

Claim = Literal["general", "tight"]


def refute_tight(rdp: Curve, highest: int) -> None:
    r"""Raise ValueError if an odd moment up to 21 is negative, eq. (ren-chi).

    Parameters: `rdp`; `highest`, the largest order that is used.

    >>> from accountlib.renyi import gaussian_rdp
    >>> refute_tight(lambda a: gaussian_rdp(a, noise_multiplier=1.0), 9)
    """
    for order in range(3, min(highest, 21) + 1, 2):
        total, top = signed_moment(order, rdp)
        if total < -1e-10 and top > -690:  # below, floats lose digits
            raise ValueError(
                "bound must be 'general' for this rdp, got 'tight': the odd "
                f"moment E[(p/q - 1)^{order}] of the curve is negative, so "
                "the add direction may be the larger one"
            )


def exponents(rdp: Curve, orders: Orders) -> Floats:
    r"""Exponents $x_\ell = (\ell - 1) R(\ell)$ of eq. (ren-tight).

    >>> exponents(lambda a: a, np.array([2, 3]))
    array([2., 6.])
    """
    return (orders - 1) * evaluate(rdp, orders.astype(np.float64))


def log_expm1(x: Floats) -> Floats:
    r"""Logarithm of $e^x - 1$ for x from 0 (-inf) to inf (inf).

    Error: relative error below 1e-15 of $e^x - 1$.

    >>> log_expm1(np.array([1000.0])).tolist()
    [1000.0]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(x + np.log(-np.expm1(-x)))


def log_factors(x: Floats, places: Orders, bound: Claim) -> Floats:
    r"""Logarithms of $f_\ell e^{x_\ell} - 1$, with f as in `all_terms`.

    >>> x = np.log([2.0, 2.0])
    >>> np.exp(log_factors(x, np.array([2, 3]), "general")).round(12).tolist()
    [1.0, 5.0]
    """
    plain = log_expm1(x)
    if bound == "tight":
        return plain
    return np.where(places > 2, x + np.log(3 - np.exp(-x)), plain)


def log_braces(
    orders: Orders,
    log_rate: float,
    log_rest: float,
    weights: Floats,
    roundings: int,
) -> Floats:
    """Logarithms of 1 plus the sums of `log_sums_at`, rounded up.

    Parameters: as there, but `weights` begin at the place 2; `roundings`,
    how many units of its size an exponent may be off.

    >>> braces = log_braces(np.array([2]), 0.0, 0.0, np.zeros(1), 4)
    >>> float(np.exp(braces).round(9)[0])
    2.0
    """
    weights = np.append([-np.inf, -np.inf], weights)
    found, size = log_sums_at(orders, log_rate, log_rest, weights)
    size += np.abs(np.where(np.isfinite(found), found, 0.0))
    total = np.logaddexp(0, found + 1e-13 + roundings * UNIT * size)
    return np.where(found > -np.inf, total + 5e-324, 0.0)


def all_terms(orders: Orders, rdp: Curve, rate: float, bound: Claim) -> Floats:
    r"""Logarithm of the braces of the tight or the general bound.

    Formula: $\log(1 + \sum_{\ell \ge 2} b_\ell (f_\ell e^{x_\ell} - 1))$
    with $f_\ell = 1$, or for "general" 3 from $\ell = 3$ on.

    Parameters: `orders` (n >= 2), a sorted 1-d array of whole numbers;
    `rdp`, `bound` as for `poisson_rdp`; `rate` in (0, 1).
    Returns: $(n-1) R_\gamma(n)$ for each order.
    Source: eqs. (ren-tight) and (ren-general).

    >>> from accountlib.renyi import gaussian_rdp
    >>> line = lambda a: gaussian_rdp(a, noise_multiplier=2.0)
    >>> all_terms(np.array([2, 9]), line, 0.1, "tight").round(6).tolist()
    [0.002836, 0.12849]
    """
    highest = int(orders[-1])
    if bound == "tight":
        refute_tight(rdp, highest)
    places = np.arange(2, highest + 1)
    weights = log_factors(exponents(rdp, places), places, bound)
    return log_braces(orders, math.log(rate), math.log1p(-rate), weights, 4)


def sampled_loss(rdp: Curve, rate: float) -> float:
    r"""Largest loss of a mechanism that sees a Poisson sample.

    Formula: $\log(1 + \gamma (e^{R(\infty)} - 1))$.

    Parameters: `rdp`, a curve that knows order inf; `rate` in (0, 1).
    Returns: an upper bound in nats for add-or-remove, rounded up.
    Source: Li, Qardaji and Su (2012), Theorem 1.

    >>> round(math.expm1(sampled_loss(lambda a: np.log(3.0), 0.25)), 12)
    0.5
    """
    loss = float(evaluate(rdp, np.array([np.inf]))[0])
    if loss == 0:
        return 0.0
    gain, share = float(log_expm1(np.array(loss))), math.log(rate)
    slack = 4 * UNIT * (1 + abs(gain) + abs(share))
    total = np.logaddexp(0, gain + share + slack) * (1 + 4 * UNIT)
    return float(total + 1e-323)  # never 0


def sampled_rdp(
    order: ArrayLike,
    rdp: Curve,
    rate: float,
    totals: Callable[[Orders, float], Floats],
) -> Any:
    """A curve of a sampled step, from its values at whole orders.

    Parameters: `order`, `rdp`, `rate` as for `poisson_rdp`; `totals`, a
    function that gives (n - 1) R(n) for whole orders and a rate in (0, 1).
    Returns: upper bounds, shape of `order`.

    >>> sampled_rdp([2, 3], lambda a: a, 1.0, None)
    array([2., 3.])
    """
    rate = check_number("rate", rate, 0, 1)
    order = check_range("order", order, 1, np.inf)
    if rate in (0, 1):
        values = evaluate(rdp, order.ravel()).reshape(order.shape)
        return as_given(values if rate == 1 else np.zeros(order.shape))
    top = sampled_loss(rdp, rate) if np.any(np.isinf(order)) else math.inf
    return between_orders(order, lambda whole: totals(whole, rate), top)


@front_door
def poisson_rdp(
    order: ArrayLike, *, rdp: Curve, rate: float, bound: Claim = "general"
) -> Any:
    r"""Renyi DP of a mechanism that sees a Poisson sample of the records.

    Formula: $R_\gamma(n) = \frac{1}{n-1} \log \sum_{\ell=0}^n b_\ell
    f_\ell e^{(\ell-1) R(\ell)}$ with $f_\ell = 1$, or for "general"
    $f_\ell = 3$ from $\ell = 3$ on; chords of $(a-1)R_\gamma(a)$ between
    whole orders.

    Parameters: `order` (a in [1, 1e6], or inf), a number or an array;
    `rdp`, the curve without sampling for add-or-remove, a function of an
    array of orders (or of one); `rate` ($\gamma$ in [0, 1]); `bound`,
    "general" (Theorem 5 of the paper), or "tight" (its Theorem 8): then
    the caller claims that `rdp` covers both directions, or that the odd
    moments $E_Q[(p/q-1)^\ell]$ are not negative, as for every symmetric
    pair: Gaussian, Laplace, randomized response.
    Returns: an upper bound in nats for add-or-remove, shape of `order`.
    "tight" is exact at whole orders if neighbours reach `rdp` there.
    Raises: ValueError for values outside these ranges, for a curve that
    is none, and for "tight" where the curve refutes the claim.
    Error: relative error below 1e-10 up to order 1e5, plus that of rdp.
    Source: Zhu and Wang (2019), Theorems 5 and 8;
    eqs. (ren-general) and (ren-tight).

    >>> from accountlib.renyi import gaussian_rdp
    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=5.0)
    >>> round(poisson_rdp(2, rdp=curve, rate=0.001) * 1e8, 8)
    4.08107734
    """
    check_choice("bound", bound, ("general", "tight"))

    def totals(whole: Orders, rate: float) -> Floats:
        return all_terms(whole, rdp, rate, bound)

    return sampled_rdp(order, rdp, rate, totals)
