# Generated from notebooks/07_renyi.md by tools/tangle.py; do not edit.

"""Rényi differential privacy."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, expit, log_expit, logsumexp, rel_entr

from accountlib.divergences import (
    Floats,
    Probabilities,
    as_given,
    check_count,
    check_number,
    check_probabilities,
    check_range,
)
from accountlib.intervals import directions
from accountlib.privacy_loss import check_choice
from accountlib.worst_case_pairs import (
    Adjacency,
    DiscretePair,
    DominatingPair,
    GaussianPair,
    LaplacePair,
    Release,
    ReversedPair,
    SampledPair,
)

__all__ = [
    "Curve",
    "Orders",
    "REMAINDER",
    "exp_remainder",
    "gaussian_rdp",
    "zcdp_rdp",
    "laplace_rdp",
    "loss_rdp",
    "pure_dp_rdp",
    "randomized_response_rdp",
    "discrete_curve",
    "discrete_rdp",
    "discrete_gaussian_rdp",
    "discrete_laplace_rdp",
    "evaluate",
    "Conversion",
    "log_weight",
    "checked_orders",
    "smallest_value",
    "largest_loss",
    "epsilon_from_rdp",
    "listed_curve",
    "delta_from_rdp",
    "STIRLING",
    "stirling_remainder",
    "log_choose",
    "SPLIT",
    "log_sums",
    "MOST_ORDER",
    "between_orders",
    "signed_moment",
    "pearson_vajda",
    "Claim",
    "refute_tight",
    "exponents",
    "log_expm1",
    "all_terms",
    "poisson_rdp",
    "sampled_loss",
    "log_middle",
    "poisson_rdp_terms",
    "log_chord",
    "log_ends",
    "without_replacement_rdp",
    "pair_rdp",
    "rdp_curve",
    "kairouz_epsilon",
]

Curve = Callable[[Any], Any]
Orders = NDArray[np.int64]
REMAINDER = [1 / math.factorial(k + 2) for k in range(16)]


def exp_remainder(x: ArrayLike) -> Floats:
    r"""What the exponential has above its tangent at 0.

    Formula: $\varphi(x) = e^x - 1 - x$.

    Parameters: `x`, a number or an array of them, at most 700.
    Returns: an array of the same shape, >= 0.
    Error: relative error below 1e-15 (a Taylor series where |x| < 1/2).
    Source: chapter 7, eq. (ren-remainder).

    >>> float(exp_remainder(1e-10) * 1e20)
    0.5000000000166667
    """
    x = np.asarray(x, dtype=np.float64)
    small = np.clip(x, -0.5, 0.5)
    series = small**2 * np.polynomial.polynomial.polyval(small, REMAINDER)
    return np.asarray(np.where(np.abs(x) < 0.5, series, np.expm1(x) - x))


def gaussian_rdp(order: ArrayLike, *, noise_multiplier: float) -> Any:
    r"""Renyi DP of the Gaussian mechanism.

    Formula: $R(a) = a / (2 \sigma^2)$.

    Parameters: `order` (a in [1, inf]), a number or an array;
    `noise_multiplier` ($\sigma > 0$), relative to the clipping norm.
    Returns: the divergence in nats, shape of `order`; exact for add and
    remove, inf at order inf.
    Raises: ValueError for values outside these ranges.
    Error: two roundings.
    Source: Mironov (2017), Corollary 3; chapter 7.

    >>> gaussian_rdp(32, noise_multiplier=2.0)
    4.0
    """
    order = check_range("order", order, 1, np.inf)
    sigma = check_number("noise_multiplier", noise_multiplier, 0, np.inf, "()")
    with np.errstate(over="ignore"):
        return as_given(np.asarray(order / 2 / sigma / sigma))


def zcdp_rdp(order: ArrayLike, *, rho: float) -> Any:
    r"""Renyi DP that zero-concentrated DP promises: a straight line.

    Formula: $R(a) = \rho a$.

    Parameters: `order` (a in [1, inf]), a number or an array; `rho`
    ($\rho \ge 0$), the zCDP parameter.
    Returns: an upper bound of the divergence, shape of `order`.
    Raises: ValueError for values outside these ranges.
    Error: one rounding.
    Source: Bun and Steinke (2016), Definition 1.1; chapter 7.

    >>> zcdp_rdp([2.0, 10.0], rho=0.5)
    array([1., 5.])
    """
    order = check_range("order", order, 1, np.inf)
    slope = check_number("rho", rho, 0, np.inf, "[)")
    with np.errstate(over="ignore"):
        line = slope * np.where(np.isinf(order) & (slope == 0), 1, order)
    return as_given(np.asarray(line))


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
    Source: Mironov (2017), Proposition 6; chapter 7.

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
    return as_given(np.where(np.isinf(order), loss, result))


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
    Source: chapter 7, eq. (ren-remainder).

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
        near = np.exp(log_p) * exp_remainder(np.clip(power, -1e300, 30))
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
    result = result.reshape(order.shape)
    return as_given(np.where(np.isinf(order), worst, result))


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
    Source: Kairouz, Oh and Viswanath (2015), Section 3; chapter 7.

    >>> bool(abs(pure_dp_rdp(2, epsilon=np.log(3)) - np.log(7 / 3)) < 1e-15)
    True
    """
    epsilon = check_number("epsilon", epsilon, 0, np.inf, "[)")
    return loss_rdp(
        order,
        losses=np.array([epsilon, -epsilon]),
        log_masses=log_expit(np.array([epsilon, -epsilon])),
    )


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
    Source: Mironov (2017), Proposition 5; chapter 7.

    >>> r = randomized_response_rdp([1, 3, np.inf], truth_probability=0.75)
    >>> np.exp(r * [2, 2, 1]).round(12).tolist()  # 3, 61/9, 3
    [3.0, 6.777777777778, 3.0]
    """
    truth = check_number("truth_probability", truth_probability, 0, 1)
    lie, bias = 1 - truth, 2 * truth - 1
    if min(truth, lie) == 0:
        loss = math.inf
    elif abs(bias) < 0.1:  # the difference of logarithms would cancel
        loss = 2 * math.atanh(bias)
    else:
        loss = math.log(truth) - math.log(lie)
    return loss_rdp(
        order,
        losses=np.array([loss, -loss]),
        log_masses=np.log([max(truth, 5e-324), max(lie, 5e-324)]),
    )


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
    Source: chapter 7, "Curves of one step".

    >>> curve = discrete_curve([0.5, 0.5], [0.25, 0.75], rate=0.5)
    >>> round(math.exp(curve(2.0)) * 12, 12)  # moment 13/12
    13.0
    """
    p, q = np.asarray(p, np.float64), np.asarray(q, np.float64)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_p, log_q = np.log(p) + math.log(rate), np.log(q)
        mixed = np.logaddexp(log_p, log_q + np.log1p(-rate))
        w = rate * (p - q) / q
        losses = np.where(np.abs(w) < 0.5, np.log1p(w), mixed - log_q)
    if add:
        losses, mixed, log_q = -losses, log_q, mixed
    missing = float(np.sum(np.exp(log_q[mixed == -np.inf])))
    return lambda order: loss_rdp(
        order, losses=losses, log_masses=mixed, missing=missing
    )


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
    Source: Mironov (2017), Definition 3; chapter 7.

    >>> round(discrete_rdp(2, p=[0.5, 0.5], q=[0.25, 0.75]), 12)  # log 4/3
    0.287682072452
    """
    p = check_probabilities("p", p).astype(np.float64)
    q = check_probabilities("q", q).astype(np.float64)
    if p.shape != q.shape:
        raise ValueError(
            f"p and q must have the same length, got {len(p)} and {len(q)}"
        )
    return discrete_curve(p, q)(order)


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
    Source: Canonne, Kamath and Steinke (2020), Proposition 5; chapter 7.

    >>> discrete_gaussian_rdp(3, sigma=10.0, sensitivity=2)
    0.06
    """
    sigma = check_number("sigma", sigma, 0, np.inf, "()")
    shift = check_count("sensitivity", sensitivity)
    check_number("sensitivity", shift, 1, 1e15)
    order = check_range("order", order, 1, np.inf)
    with np.errstate(over="ignore"):
        return as_given(np.asarray(order / 2 / sigma / sigma * shift**2))


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
    Source: chapter 7; the mechanism is that of Ghosh, Roughgarden and
    Sundararajan (2012).

    >>> discrete_laplace_rdp(np.inf, scale=2.0, sensitivity=3)
    1.5
    """
    order = check_range("order", order, 1, np.inf)
    rate = 1 / check_number("scale", scale, 0, np.inf, "()")
    shift = check_count("sensitivity", sensitivity)
    check_number("sensitivity", shift, 1, 1e6)
    if math.isinf(shift * rate):
        return as_given(np.full(order.shape, np.inf))
    place = np.arange(shift + 1)
    losses = (shift - 2 * place) * rate
    log_masses = math.log(math.tanh(rate / 2)) - place * rate
    log_masses[[0, -1]] = log_expit(rate) - np.array([0, shift * rate])
    return loss_rdp(order, losses=losses, log_masses=log_masses)


def evaluate(rdp: Curve, orders: Floats) -> Floats:
    """Values of a Renyi DP curve, checked.

    Parameters: `rdp`, a function of an array of orders, or of one order;
    `orders`, a 1-d array.
    Returns: an array of the same shape.
    Raises: ValueError if rdp is no function or returns anything but
    numbers in [0, inf], one for each order.
    Source: chapter 7, "From a curve to epsilon".

    >>> evaluate(lambda a: a / 2, np.array([2.0, 4.0]))
    array([1., 2.])
    """
    if not callable(rdp):
        raise ValueError(f"rdp must be a function of the order, got {rdp!r}")
    try:
        values = np.asarray(rdp(orders))
    except (TypeError, ValueError):
        values = np.array(0.0)
    if values.ndim == 0:  # a constant, or a function of one number only
        values = np.array([rdp(float(order)) for order in orders])
    number = values.dtype.kind in "iuf"
    values = values.astype(np.float64) if number else np.array(np.nan)
    if values.shape != orders.shape or not np.all(values >= 0):
        raise ValueError(
            "rdp must return one number in [0, inf] for each order, got "
            f"{values!r} for {orders!r}"
        )
    return values


Conversion = Literal["improved", "classic"]


def log_weight(order: Floats, conversion: Conversion) -> Floats:
    r"""How much the tail bound of one order gains.

    Formula: $\log c_a = (a-1) \log(1 - 1/a) - \log a$; 0 for "classic".

    Parameters: `order` (a > 1, finite), an array; `conversion`.
    Returns: an array of the same shape, <= 0.
    Raises: ValueError for another conversion.
    Error: rounding only.
    Source: Canonne, Kamath and Steinke (2020), Proposition 12; chapter 7,
    eq. (ren-delta).

    >>> float(log_weight(np.array(2.0), "improved"))  # log(1/4)
    -1.3862943611198906
    """
    check_choice("conversion", conversion, ("improved", "classic"))
    if conversion == "classic":
        return np.zeros_like(order)
    return (order - 1) * np.log1p(-1 / order) - np.log(order)


def checked_orders(orders: ArrayLike) -> Floats:
    """Orders to try, as a 1-d array.

    Parameters: `orders`, a number or a list of them, each in (1, inf).
    Returns: a 1-d array.
    Raises: ValueError for an empty list or other orders.
    Source: chapter 7, "From a curve to epsilon".

    >>> checked_orders(2)
    array([2.])
    """
    tried = check_range("orders", orders, 1, np.inf, "()").ravel()
    if tried.size == 0:
        raise ValueError("orders must not be empty, got []")
    return tried


def smallest_value(
    function: Callable[[Floats], Floats],
    orders: ArrayLike | None = None,
    at_infinity: float = math.inf,
) -> float:
    """Smallest value of a function of the order that a search finds.

    Parameters: `function` of a 1-d array of finite orders > 1; `orders`,
    the only ones to try, or None: a grid from 1 + 1e-6 to 1e4, extended to
    1e6 while the last order is the best (and better than infinity),
    refined around the best, and the whole orders beside it;
    `at_infinity`, the value at order inf.
    Returns: a value that the function takes. If every value is an upper
    bound, so is the smallest, however good the search was.
    Raises: ValueError for an empty list or orders outside (1, inf).
    Error: none. With `orders` None it is mostly within 1e-6 of the least.
    Source: chapter 7, "From a curve to epsilon".

    >>> round(smallest_value(lambda a: a + 9 / (a - 1)), 6)  # at order 4
    7.0
    """
    if orders is not None:
        return float(np.min(function(checked_orders(orders))))
    tried = 1 + np.geomspace(1e-6, 1e4, 121)
    values = function(tried)
    while tried[-1] < 9e5 and values[-1] < min(
        at_infinity, float(np.min(values[:-1]))
    ):
        more = np.geomspace(tried[-1], min(10 * tried[-1], 1e6), 13)[1:]
        tried = np.append(tried, more)
        values = np.append(values, function(more))
    for _ in range(3):
        k = int(np.argmin(values))
        low, high = tried[max(k - 1, 0)], tried[min(k + 1, len(tried) - 1)]
        tried = 1 + np.geomspace(low - 1, high - 1, 25)
        tried = np.clip(tried, low, high)
        values = function(tried)
    best = tried[np.argmin(values)]
    whole = np.array([max(np.floor(best), 2.0), np.ceil(best)])
    values = np.append(values, function(whole))
    return min(at_infinity, float(np.min(values)))


def largest_loss(rdp: Curve) -> float:
    """Value of a curve at order infinity; inf if the curve has none.

    Parameters: `rdp`, a function of the order.
    Returns: rdp(inf), an upper bound of the privacy loss.
    Source: chapter 7, "From a curve to epsilon".

    >>> largest_loss(lambda a: a / 2), largest_loss(lambda a: 1 // 0)
    (inf, inf)
    """
    with np.errstate(all="ignore"):
        try:
            value = float(evaluate(rdp, np.array([np.inf]))[0])
        except (ArithmeticError, TypeError, ValueError):
            return math.inf
    return value


def epsilon_from_rdp(
    rdp: Curve | ArrayLike,
    *,
    delta: float,
    orders: ArrayLike | None = None,
    conversion: Conversion = "improved",
) -> float:
    r"""Epsilon that a Renyi DP curve promises at a given delta.

    Formula: $\max\{0, \min_a R(a) + \frac{\log(1/\delta) + \log c_a}{a-1}
    \}$ with $c_a$ of `log_weight`.

    Parameters: `rdp`, a function of the order (or a list of values, one
    for each of `orders`); `delta` ($\delta$ in [0, 1]); `orders`, the
    only ones to use, each in (1, inf), or None for a search over real
    orders and order infinity; `conversion`, "improved" or "classic".
    Returns: an upper bound of epsilon for the adjacency of the curve.
    Raises: ValueError for values outside these ranges, or for a curve
    that returns anything but numbers in [0, inf].
    Error: rounding only, as a bound. It is above the exact epsilon: by
    some percent in long runs, by a factor above 10 in few sampled steps.
    Source: Canonne, Kamath and Steinke (2020), Proposition 12; classic:
    Mironov (2017), Proposition 3; chapter 7, eq. (ren-epsilon).

    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=1.0)
    >>> round(epsilon_from_rdp(curve, delta=1e-5), 4)
    4.7284
    >>> round(epsilon_from_rdp(curve, delta=1e-5, conversion="classic"), 4)
    5.2985
    """
    delta = check_number("delta", delta, 0, 1)
    check_choice("conversion", conversion, ("improved", "classic"))
    orders = None if orders is None else checked_orders(orders)
    curve = listed_curve(rdp, orders)
    if delta == 1:
        return 0.0
    worst = largest_loss(curve) if orders is None else math.inf
    if delta == 0:
        return worst

    def promised(order: Floats) -> Floats:
        gain = log_weight(order, conversion) - math.log(delta)
        return evaluate(curve, order) + gain / (order - 1)

    return max(0.0, smallest_value(promised, orders, worst))


def listed_curve(rdp: Curve | ArrayLike, orders: ArrayLike | None) -> Curve:
    """A curve as a function, also if it came as a list of values.

    Parameters: `rdp`, a function of the order or a list of values;
    `orders` of the list.
    Returns: a function of an array of orders.
    Raises: ValueError for a list without orders or of another length.
    Source: chapter 7, "From a curve to epsilon".

    >>> listed_curve([1.0, 2.0], [2, 4])(np.array([2.0, 4.0]))
    array([1., 2.])
    """
    if callable(rdp):
        return rdp
    values = check_range("rdp", rdp, 0, np.inf)
    if orders is None or np.shape(orders) != values.shape:
        raise ValueError(
            "rdp must be a function of the order, or a list with one value "
            f"for each of orders, got {rdp!r} and {orders!r}"
        )
    return lambda order: values.reshape(np.shape(order))


def delta_from_rdp(
    rdp: Curve | ArrayLike,
    *,
    epsilon: float,
    orders: ArrayLike | None = None,
    conversion: Conversion = "improved",
) -> float:
    r"""Delta that a Renyi DP curve promises at a given epsilon.

    Formula: $\min\{1, \min_a c_a e^{(a-1)(R(a) - \varepsilon)}\}$.

    Parameters: `epsilon` ($\varepsilon$, any finite number); the others
    as for `epsilon_from_rdp`.
    Returns: an upper bound of delta in [0, 1], for the adjacency of the
    curve; 0 if epsilon is at least the value at order infinity.
    Raises: as `epsilon_from_rdp`.
    Error: as `epsilon_from_rdp`, in the exponent.
    Source: as `epsilon_from_rdp`; chapter 7, eq. (ren-delta).

    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=1.0)
    >>> round(delta_from_rdp(curve, epsilon=4.7285), 7)
    1e-05
    """
    at = check_number("epsilon", epsilon, -np.inf, np.inf, "()")
    check_choice("conversion", conversion, ("improved", "classic"))
    orders = None if orders is None else checked_orders(orders)
    curve = listed_curve(rdp, orders)
    if orders is None and largest_loss(curve) <= at:
        return 0.0

    def log_delta(order: Floats) -> Floats:
        with np.errstate(over="ignore"):
            power = (order - 1) * (evaluate(curve, order) - at)
        return power + log_weight(order, conversion)

    least = min(0.0, smallest_value(log_delta, orders))
    return max(math.exp(least), 5e-324)  # 0 would be no upper bound


STIRLING = np.array(
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
    r"""What Stirling's formula leaves of the logarithm of n!.

    Formula: $\log n! - (n + \frac12) \log n + n - \frac12 \log 2\pi$.

    Parameters: `n`, an array of whole numbers >= 0 (0 gives 0).
    Returns: an array of the same shape.
    Error: absolute error below 2e-14.
    Source: Loader (2000); chapter 7, "Sums with ten thousand terms".

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
    r"""Logarithm of a binomial coefficient, with all its digits.

    Formula: $\log \binom{n}{k}$.

    Parameters: `n`, `k`, whole numbers with 0 <= k <= n, or arrays.
    Returns: an array of the broadcast shape.
    Error: absolute error below 5e-14, plus 1e-15 times the result.
    Source: Loader (2000); chapter 7, "Sums with ten thousand terms".

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


def log_sums(
    orders: Orders, log_rate: float, log_rest: float, weights: Floats
) -> Floats:
    r"""Logarithms of weighted binomial sums, for many orders at once.

    Formula: $\log \sum_{\ell=2}^{n} \binom{n}{\ell} u^\ell v^{n-\ell}
    e^{w_\ell}$.

    Parameters: `orders` (n >= 2), a 1-d array of whole numbers;
    `log_rate`, `log_rest` ($\log u$, $\log v$); `weights` ($w_\ell$), an
    array indexed by $\ell$ that reaches to the largest order.
    Returns: one logarithm for each order; -inf or inf where the sum is 0
    or infinite.
    Error: terms below $e^{-40}$ of the largest are left out where a bound
    proves it; relative error of the sum below 1e-12 up to order 1e5, plus
    1e-16 times the largest exponent.
    Source: chapter 7, "Sums with ten thousand terms".

    >>> ones = np.zeros(5)  # 2^4 - 1 - 4
    >>> float(np.exp(log_sums(np.array([4]), 0.0, 0.0, ones)).round(9)[0])
    11.0
    """
    block = max(1, int(10**6 / (32 + 10 * math.sqrt(np.max(orders)))))
    if len(orders) > block:  # all at once would need much memory
        blocks = np.array_split(orders, 1 + len(orders) // block)
        return np.concatenate(
            [log_sums(part, log_rate, log_rest, weights) for part in blocks]
        )

    def mass(row: Orders, k: Orders) -> Floats:
        logs = k * log_rate + (orders[row] - k) * log_rest
        return np.asarray(log_choose(orders[row], k) + logs)

    def term(row: Orders, k: Orders) -> Floats:
        return mass(row, k) + weights[k]

    ceiling = np.maximum.accumulate(weights)
    row = np.arange(len(orders))
    left, right = np.full_like(orders, 2), orders + 1
    best = np.maximum(term(row, left), term(row, orders))
    while np.any(right - left > SPLIT):
        width = np.maximum(-(-(right - left) // 8), SPLIT)[:, None]
        start = left[:, None] + width * np.arange(8)
        end = np.minimum(start + width, right[:, None])
        real = start < end
        row = np.broadcast_to(row[:, None], real.shape)[real]
        left, right = start[real], end[real]
        np.maximum.at(best, row, term(row, left))
        mode = (orders[row] + 1) * expit(log_rate - log_rest)
        peak = np.clip(mode.astype(np.int64), left, right - 1)
        keep = mass(row, peak) + ceiling[right - 1] > best[row] - 40
        row, left, right = row[keep], left[keep], right[keep]
    size = right - left
    owner = np.repeat(row, size)
    k = np.arange(len(owner)) + np.repeat(left - np.cumsum(size) + size, size)
    terms = term(owner, k)
    np.maximum.at(best, owner, terms)
    known = np.isfinite(best)
    scale = np.where(known, best, 0.0)
    total = np.bincount(owner, np.exp(terms - scale[owner]), len(orders))
    result = np.where(known, scale + np.log(np.maximum(total, 1)), best)
    return np.asarray(result)


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
    Source: Zhu and Wang (2019), Section 3; chapter 7, "Every real order".

    >>> between_orders(2.5, lambda n: n - 1.0, 9.0)  # R = 1
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
    result = (chord / (real - 1)).reshape(order.shape)
    return as_given(np.where(np.isinf(order), at_infinity, result))


def signed_moment(order: int, rdp: Curve) -> tuple[float, float]:
    r"""A Pearson-Vajda moment, scaled, with the size of what cancels.

    Formula: with top = $\max_j \log|t_j|$ of the terms t_j of eq.
    (ren-chi), $\sum_j t_j e^{-\text{top}}$ and top; signs kept apart.

    Parameters: `order` (a whole number >= 2); `rdp`, a curve.
    Returns: (sum, top), each a float; top is -inf if all terms are 0.
    Error: absolute error of the sum below 1e-13 times the order, plus
    that of the curve.
    Source: Zhu and Wang (2019), Remark 12; chapter 7, eq. (ren-chi).

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
    chapter 7, eq. (ren-chi).

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


Claim = Literal["general", "tight"]


def refute_tight(rdp: Curve, highest: int) -> None:
    r"""Raise if a curve contradicts the condition of the tight bound.

    Parameters: `rdp`; `highest`, the largest order that is used. Odd
    moments up to 21 are tried.
    Raises: ValueError if an odd moment is negative beyond rounding.
    Source: Zhu and Wang (2019), eq. (4); chapter 7, eq. (ren-chi).

    >>> refute_tight(lambda a: gaussian_rdp(a, noise_multiplier=1.0), 9)
    """
    for order in range(3, min(highest, 21) + 1, 2):
        total, _ = signed_moment(order, rdp)
        if total < -1e-10:
            raise ValueError(
                "bound must be 'general' for this rdp, got 'tight': the odd "
                f"moment E[(p/q - 1)^{order}] of the curve is negative, so "
                "the add direction may be the larger one"
            )


def exponents(rdp: Curve, orders: Orders) -> Floats:
    r"""Exponents of the terms of a sampled moment.

    Formula: $x_\ell = (\ell - 1) R(\ell)$.

    Parameters: `rdp`, a curve; `orders` ($\ell$), an array of whole
    numbers >= 2.
    Returns: an array of the same shape.
    Raises: ValueError for a bad curve, as `evaluate`.
    Source: chapter 7, eq. (ren-tight).

    >>> exponents(lambda a: a, np.array([2, 3]))
    array([2., 6.])
    """
    return (orders - 1) * evaluate(rdp, orders.astype(np.float64))


def log_expm1(x: Floats) -> Floats:
    r"""Logarithm of $e^x - 1$ for x >= 0, -inf at 0.

    Parameters: `x` >= 0, an array; inf is allowed.
    Returns: an array of the same shape.
    Error: relative error below 1e-15 of $e^x - 1$.
    Source: chapter 7, "Sums with ten thousand terms".

    >>> log_expm1(np.array([1000.0])).tolist()
    [1000.0]
    """
    with np.errstate(divide="ignore"):
        return np.asarray(x + np.log(-np.expm1(-x)))


def all_terms(orders: Orders, rdp: Curve, rate: float, bound: Claim) -> Floats:
    r"""Logarithm of the braces of the tight or the general bound.

    Formula: $\log(1 + \sum_{\ell \ge 2} b_\ell (f_\ell e^{x_\ell} - 1))$
    with $f_\ell = 1$, or for "general" 3 from $\ell = 3$ on.

    Parameters: `orders` (n >= 2), a sorted 1-d array of whole numbers;
    `rdp`, `bound` as for `poisson_rdp`; `rate` in (0, 1).
    Returns: $(n-1) R_\gamma(n)$ for each order.
    Source: chapter 7, eqs. (ren-tight) and (ren-general).

    >>> line = lambda a: gaussian_rdp(a, noise_multiplier=2.0)
    >>> all_terms(np.array([2, 9]), line, 0.1, "tight").round(6).tolist()
    [0.002836, 0.12849]
    """
    highest = int(orders[-1])
    if bound == "tight":
        refute_tight(rdp, highest)
    x = exponents(rdp, np.arange(2, highest + 1))
    weights = log_expm1(x)
    if bound == "general":  # 3 e^x - 1, written for large x
        weights[1:] = x[1:] + np.log(3 - np.exp(-x[1:]))
    weights = np.append([-np.inf, -np.inf], weights)
    logs = math.log(rate), math.log1p(-rate)
    return np.logaddexp(0, log_sums(orders, *logs, weights))


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
    Source: Zhu and Wang (2019), Theorems 5 and 8; chapter 7, eqs.
    (ren-general) and (ren-tight).

    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=5.0)
    >>> round(poisson_rdp(2, rdp=curve, rate=0.001) * 1e8, 8)
    4.08107734
    """
    check_choice("bound", bound, ("general", "tight"))
    rate = check_number("rate", rate, 0, 1)
    order = check_range("order", order, 1, np.inf)
    if rate in (0, 1):
        values = evaluate(rdp, order.ravel()).reshape(order.shape)
        return as_given(values if rate == 1 else np.zeros(order.shape))

    def totals(whole: Orders) -> Floats:
        return all_terms(whole, rdp, rate, bound)

    top = sampled_loss(rdp, rate) if np.any(np.isinf(order)) else math.inf
    return between_orders(order, totals, top)


def sampled_loss(rdp: Curve, rate: float) -> float:
    r"""Largest loss of a mechanism that sees a Poisson sample.

    Formula: $\log(1 + \gamma (e^{R(\infty)} - 1))$.

    Parameters: `rdp`, a curve that knows order inf; `rate` in (0, 1).
    Returns: an upper bound in nats for add-or-remove.
    Source: Li, Qardaji and Su (2012), Theorem 1; chapter 7.

    >>> round(math.expm1(sampled_loss(lambda a: np.log(3.0), 0.25)), 12)
    0.5
    """
    loss = float(evaluate(rdp, np.array([np.inf]))[0])
    excess = float(log_expm1(np.array(loss))) + math.log(rate)
    return float(np.logaddexp(0, excess))


def log_middle(orders: Orders, terms: int, chance: Floats) -> Floats:
    r"""Probability that a binomial number avoids both ends, logarithm of.

    Formula: $\log \Pr[\tau < B \le n - \tau]$, B binomial(n, chance). Below
    1e-280 a Chernoff bound, $e^{-n D(k/n \Vert \theta)}$ with the nearest
    end k and the divergence D of two coins.

    Parameters: `orders` (n > 2 tau), whole numbers; `terms` ($\tau \ge
    1$); `chance`, one for each order, in [0, 1].
    Returns: an array, an upper bound up to the rounding.
    Error: relative error below 1e-10 of the probability above 1e-280.
    Source: chapter 7, eq. (ren-terms).

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
    Source: Zhu and Wang (2019), Theorem 11 and Appendix C; chapter 7, eq.
    (ren-terms).

    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=5.0)
    >>> few = poisson_rdp_terms(100, rdp=curve, rate=0.001, terms=10)
    >>> 1 < few / poisson_rdp(100, rdp=curve, rate=0.001) < 1.5
    True
    """
    check_choice("bound", bound, ("general", "tight"))
    terms = check_count("terms", terms)
    check_number("terms", terms, 1, MOST_ORDER)
    rate = check_number("rate", rate, 0, 1)
    order = check_range("order", order, 1, np.inf)
    if rate in (0, 1):
        return poisson_rdp(order, rdp=rdp, rate=rate, bound=bound)

    def totals(whole: Orders) -> Floats:
        large = whole > 2 * terms
        result = np.zeros(len(whole))
        few = whole[~large]
        if len(few):
            result[~large] = all_terms(few, rdp, rate, bound)
        if np.any(large):
            blocks = 1 + len(whole) * terms // 10**6  # for less memory
            ends = [
                log_ends(part, rdp, rate, terms, bound)
                for part in np.array_split(whole[large], blocks)
                if len(part)
            ]
            result[large] = np.logaddexp(0, np.concatenate(ends))
            result[large] *= 1 + 1e-10
        return result

    top = sampled_loss(rdp, rate) if np.any(np.isinf(order)) else math.inf
    return between_orders(order, totals, top)


def log_chord(orders: Orders, terms: int, rate: float, flat: Floats) -> Floats:
    r"""Middle of a sampled moment, minus its masses, bounded by a chord.

    Formula: $\log\left(\frac{e^{(N-1)x} - 1}{N - 1}\, n \gamma
    \Pr[B' \ge \tau]\right)$ with N = n - tau.

    Parameters: `orders` (n > 2 tau), `terms`, `rate` as for `log_ends`;
    `flat` (x), one for each order.
    Returns: an array, upper bounds.
    Error: rounded up by 1e-9, relatively.
    Source: chapter 7, "A few terms instead of all".

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
    Source: chapter 7, eq. (ren-terms).

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
    log_mass = log_choose(orders[:, None], k) + k * math.log(rate)
    log_mass += (orders[:, None] - k) * math.log1p(-rate)
    parts = log_mass + log_expm1(x)
    if bound == "general":
        more = np.where(k > 2, x + np.log(3 - np.exp(-x)), log_expm1(x))
        parts = log_mass + more
    flat = evaluate(rdp, (orders - terms).astype(np.float64))
    flat = np.where(np.isinf(flat), 0.0, flat)  # then the ends are inf
    growth = np.logaddexp(math.log1p(-rate), math.log(rate) + flat)
    chance = np.exp(math.log(rate) + flat - growth)
    whole = orders * growth - flat + log_middle(orders, terms, chance)
    plain = log_middle(orders, terms, np.full(len(orders), rate))
    slack = 1e-10 + 1e-14 * orders * growth  # rounding of both
    gap = np.maximum(whole - plain, 0.0)
    middle = whole + np.log(-np.expm1(-gap) + slack)
    middle = np.minimum(middle, log_chord(orders, terms, rate, flat))
    if bound == "general":
        middle = np.logaddexp(middle, whole + math.log(2))
    return np.asarray(logsumexp(np.column_stack([parts, middle]), axis=1))


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
    Error: relative error of the formula below 1e-10 up to order 1e5.
    Source: Wang, Balle and Kasiviswanathan (2019), Theorem 9; chapter 7.

    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=5.0)
    >>> round(without_replacement_rdp(2, rdp=curve, rate=0.001) * 1e7, 6)
    1.632431
    """
    rate = check_number("rate", rate, 0, 1)
    order = check_range("order", order, 1, np.inf)
    if rate in (0, 1):
        values = evaluate(rdp, order.ravel()).reshape(order.shape)
        return as_given(values if rate == 1 else np.zeros(order.shape))
    log_eta = float(log_expm1(np.array(largest_loss(rdp))))

    def totals(whole: Orders) -> Floats:
        place = np.arange(2, int(whole[-1]) + 1)
        x = exponents(rdp, place)
        weights = x + np.minimum(math.log(2), place * log_eta)
        weights[0] = min(weights[0], float(log_expm1(x[:1])[0] + math.log(4)))
        weights = np.append([-np.inf, -np.inf], weights)
        return np.logaddexp(0, log_sums(whole, math.log(rate), 0.0, weights))

    top = sampled_loss(rdp, rate) if np.any(np.isinf(order)) else math.inf
    return between_orders(order, totals, top)


def pair_rdp(pair: DominatingPair) -> Curve:
    r"""Renyi divergence of a dominating pair as a function of the order.

    Formula: $R(a) = D_a(P \Vert Q)$, or an upper bound of it.

    Parameters: `pair`, of a mechanism of this book, sampled or not.
    Returns: a curve; exact but for sampled Gaussian and Laplace pairs,
    where it is an upper bound between whole orders and for add.
    Raises: NotImplementedError for other pairs.
    Error: as the function for the mechanism.
    Source: chapter 7, "One curve for a whole run".

    >>> pair_rdp(GaussianPair(2.0))(3.0)
    6.0
    """
    if isinstance(pair, GaussianPair):
        return lambda a: gaussian_rdp(a, noise_multiplier=1 / pair.mu)
    if isinstance(pair, LaplacePair):
        return lambda a: laplace_rdp(a, scale=pair.scale)
    if isinstance(pair, DiscretePair):
        return discrete_curve(pair.p, pair.q)
    add = isinstance(pair, ReversedPair)
    sampled = pair.pair if isinstance(pair, ReversedPair) else pair
    if isinstance(sampled, SampledPair):
        rate, base = sampled.rate, sampled.base
        if isinstance(base, DiscretePair):
            return discrete_curve(base.p, base.q, rate=rate, add=add)
        if isinstance(base, (GaussianPair, LaplacePair)):  # symmetric
            return lambda a: poisson_rdp(
                a, rdp=pair_rdp(base), rate=rate, bound="tight"
            )
    raise NotImplementedError(
        f"no Renyi DP curve of {pair!r} is known to this book"
    )


def rdp_curve(
    releases: Release | Sequence[Release],
    *,
    adjacency: Adjacency | str,
    group_size: int = 1,
) -> Curve:
    r"""Renyi DP curve of a whole run.

    Formula: $R(a) = \max_{\text{directions}} \sum_j T_j D_a(P_j \Vert
    Q_j)$.

    Parameters: as for `epsilon`: `releases`, one Release or a sequence of
    them; `adjacency`; `group_size`.
    Returns: a function of the order (a in [1, 1e6], or inf), a number or
    an array; its values are upper bounds in nats, inf where a mechanism
    has an infinite loss. Use it with `epsilon_from_rdp`.
    Raises: ValueError for bad values; NotImplementedError for what no
    theorem of the book covers.
    Error: relative error below 1e-10 up to order 1e5.
    Source: Mironov (2017), Proposition 1; chapter 7, "One curve for a
    whole run".

    >>> from accountlib.worst_case_pairs import Gaussian, Poisson
    >>> run = Release(Gaussian(1.0), Poisson(0.01), count=2000)
    >>> curve = rdp_curve(run, adjacency="add-or-remove")
    >>> round(epsilon_from_rdp(curve, delta=1e-6), 3)
    3.251
    """
    sides = [
        [(pair_rdp(pair), count) for pair, count in losses]
        for losses in directions(releases, adjacency, group_size)
    ]

    def curve(order: ArrayLike) -> Any:
        order = check_range("order", order, 1, np.inf)
        total = np.zeros(order.shape)
        for side in sides:
            curves = [n * np.asarray(rdp(order)) for rdp, n in side]
            total = np.maximum(total, np.sum(curves, axis=0))
        return as_given(total)

    return curve


def kairouz_epsilon(
    epsilon: float, *, delta: float, count: int, slack: float
) -> float:
    r"""Optimal composition of one (epsilon, delta) guarantee with itself.

    Formula: the smallest $\tilde\varepsilon \ge 0$ with $\tilde\delta$ at
    most the slack in eq. (ren-kov). The composition is $(\tilde
    \varepsilon, 1 - (1-\delta)^T (1 - \tilde\delta))$-DP.

    Parameters: `epsilon` ($\varepsilon$ in [0, 1e6]) and `delta` ($\delta$
    in [0, 1]) of each run; `count` (T from 1 to 1e7); `slack`
    ($\tilde\delta$ in [0, 1]).
    Returns: the exact answer for the worst mechanism with this guarantee,
    an upper bound for all others; it does not depend on `delta`.
    Raises: ValueError for values outside these ranges.
    Error: rounded up, by less than 1e-12 (1 + T) relative to the mass P
    above the answer minus the slack.
    Source: Kairouz, Oh and Viswanath (2015), Theorem 3.3; chapter 7, eq.
    (ren-kov).

    >>> round(kairouz_epsilon(0.1, delta=0.0, count=100, slack=1e-5), 6)
    4.306791
    """
    epsilon = check_number("epsilon", epsilon, 0, 1e6)
    check_number("delta", delta, 0, 1)
    count = check_count("count", count)
    check_number("count", count, 1, 1e7)
    slack = check_number("slack", slack, 0, 1)
    if slack in (0, 1) or epsilon == 0:
        return count * epsilon if slack == 0 else 0.0
    i = np.arange(count + 1.0)
    coefficients = log_choose(count, i)
    truths, lies = log_expit(epsilon), log_expit(-epsilon)
    log_p = coefficients + (count - i) * truths + i * lies
    log_q = coefficients + (count - i) * lies + i * truths
    # P above place i minus the slack, without cancellation, rounded up
    above = np.exp(np.logaddexp.accumulate(log_p)[:-1])
    below = np.exp(np.logaddexp.accumulate(log_p[::-1])[-2::-1])
    high = slack > 0.5
    gap = (1 - slack) - below if high else above - slack
    gap += 1e-15 * (count + 50) * (below if high else above)
    above_q = np.logaddexp.accumulate(log_q)[:-1]
    with np.errstate(divide="ignore"):
        found = np.log(np.maximum(gap, 0)) - above_q
    reached = found > (count - 2 * i[1:]) * epsilon
    if not np.any(reached):
        return 0.0
    bound = float(found[np.argmax(reached)])
    return min(max(0.0, bound + 1e-15 * (count + 50)), count * epsilon)
