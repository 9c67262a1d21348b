# Generated from notebooks/07_renyi.md by tools/tangle.py; do not edit.

"""Rényi differential privacy."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial, singledispatch
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
    front_door,
)
from accountlib.intervals import directions
from accountlib.privacy_loss import check_choice
from accountlib.worst_case_pairs import (
    UNIT,
    Adjacency,
    DiscreteLaplace,
    DiscretePair,
    DominatingPair,
    FixedBatch,
    FullBatch,
    GaussianPair,
    IntegerGaussianPair,
    LaplacePair,
    Mechanism,
    Poisson,
    PureDP,
    RandomizedResponse,
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
    "response_losses",
    "randomized_response_rdp",
    "discrete_curve",
    "discrete_rdp",
    "discrete_gaussian_rdp",
    "geometric_losses",
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
    "log_sums_at",
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
    "scaled_remainder",
    "LossPoints",
    "loss_points",
    "log_terms",
    "ShiftedNormals",
    "TRAPEZOID_GOAL",
    "trapezoid_step",
    "LatticeCells",
    "cell_points",
    "lattice_cells",
    "lattice_sums",
    "rdp_from_sums",
    "MOST_MEAN",
    "normal_curve",
    "noise_total",
    "LaplacePanels",
    "PANEL_RULE",
    "PANEL_ERROR",
    "gauss_part",
    "panel_sums",
    "laplace_curve",
    "Shifts",
    "normal_shifts",
    "one_normal_shift",
    "integer_shift",
    "shifted_normals",
    "sampled_curve",
    "every_order",
    "pair_rdp",
    "raised",
    "exact_losses",
    "loss_curve",
    "release_curves",
    "rdp_curve",
    "kairouz_epsilon",
]

Curve = Callable[[Any], Any]
Orders = NDArray[np.int64]
REMAINDER = tuple(1 / math.factorial(k + 2) for k in range(16))


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
    Source: Mironov (2017), Corollary 3; chapter 7.

    >>> gaussian_rdp(32, noise_multiplier=2.0)
    4.0
    """
    order = check_range("order", order, 1, np.inf)
    sigma = check_number("noise_multiplier", noise_multiplier, 0, np.inf, "()")
    with np.errstate(over="ignore"):
        line = np.maximum(order / 2 / sigma / sigma, 5e-324)
    return as_given(np.asarray(line))


@front_door
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


def response_losses(truth: float) -> tuple[Floats, Floats]:
    r"""Losses of randomized response, and their probabilities under P.

    Formula: $\pm \log\frac{p}{1-p}$ with probabilities p and 1 - p.

    Parameters: `truth` (p in [0, 1]).
    Returns: losses (infinite where p is 0 or 1), logarithms of masses.
    Error: relative error below 1e-15, also where p is nearly 1/2.
    Source: chapter 7, "Curves of one step".

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
    Source: Mironov (2017), Proposition 5; chapter 7.

    >>> r = randomized_response_rdp([1, 3, np.inf], truth_probability=0.75)
    >>> np.exp(r * [2, 2, 1]).round(12).tolist()  # 3, 61/9, 3
    [3.0, 6.777777777778, 3.0]
    """
    truth = check_number("truth_probability", truth_probability, 0, 1)
    losses, log_masses = response_losses(truth)
    return loss_rdp(order, losses=losses, log_masses=log_masses)


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
    Source: Canonne, Kamath and Steinke (2020), Proposition 5; chapter 7.

    >>> discrete_gaussian_rdp(3, sigma=10.0, sensitivity=2)
    0.06
    """
    sigma = check_number("sigma", sigma, 0, np.inf, "()")
    shift = check_count("sensitivity", sensitivity)
    check_number("sensitivity", shift, 1, 1e15)
    order = check_range("order", order, 1, np.inf)
    with np.errstate(over="ignore"):
        line = np.maximum(order / 2 / sigma / sigma * shift**2, 5e-324)
    return as_given(np.asarray(line))


def geometric_losses(rate: float, shift: int) -> tuple[Floats, Floats]:
    r"""Losses of discrete Laplace noise, and their probabilities under P.

    Formula: as for `discrete_laplace_rdp`.

    Parameters: `rate` (1/s), `shift` (k).
    Returns: losses, logarithms of masses.
    Source: chapter 7, "Curves of one step".

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
    losses, log_masses = geometric_losses(rate, shift)
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


@front_door
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
    A curve that is 0 at one order belongs to equal laws: the result is 0.
    Error: rounded up, by less than 1e-14. It is above the exact epsilon: by
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
        value, weight = evaluate(curve, order), log_weight(order, conversion)
        gain = (weight - math.log(delta)) / (order - 1)
        size = value + (np.abs(weight) - math.log(delta) + 1) / (order - 1)
        return np.where(value > 0, value + gain + 8 * UNIT * size, 0.0)

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


@front_door
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

    equal = -math.expm1(at) if at < 0 else 0.0  # delta of equal laws

    def log_delta(order: Floats) -> Floats:
        value, weight = evaluate(curve, order), log_weight(order, conversion)
        power = (order - 1) * (value - at)
        size = (order - 1) * (value + abs(at)) + np.abs(weight) + 1
        result = power + weight + 8 * UNIT * size
        return np.where(value > 0, result, -np.inf)

    least = min(0.0, smallest_value(log_delta, orders))
    if least == -math.inf:
        return equal
    promised = math.nextafter(math.exp(least), 1.0)
    return max(promised, 5e-324)  # 0 would be no upper bound


STIRLING = np.frombuffer(  # an array from bytes is read-only
    np.array(
        [0.0]
        + [
            math.lgamma(n + 1)
            - (n + 0.5) * math.log(n)
            + n
            - math.log(2 * math.pi) / 2
            for n in range(1, 16)
        ]
    ).tobytes()
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
    Source: chapter 7, "Sums with ten thousand terms".

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
    logs = np.abs(k * log_rate + (orders[owner] - k) * log_rest)
    size = np.abs(terms - weights[k]) + 2 * logs
    last = np.zeros(len(orders))
    np.maximum.at(last, owner, np.where(terms > best[owner] - 40, size, 0))
    return np.asarray(result), last


def log_sums(
    orders: Orders, log_rate: float, log_rest: float, weights: Floats
) -> Floats:
    """The logarithms of `log_sums_at` alone.

    Parameters, Error: as `log_sums_at`.
    Returns: one logarithm for each order.
    Source: chapter 7, "Sums with ten thousand terms".

    >>> ones = np.zeros(5)  # 2^4 - 1 - 4
    >>> float(np.exp(log_sums(np.array([4]), 0.0, 0.0, ones)).round(9)[0])
    11.0
    """
    return log_sums_at(orders, log_rate, log_rest, weights)[0]


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
    result = np.where(chord > 0, np.maximum(chord / (real - 1), 5e-324), 0.0)
    result = (result * (1 + 8 * UNIT)).reshape(order.shape)
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
    found, exponents_seen = log_sums_at(orders, *logs, weights)
    size = np.abs(np.where(np.isfinite(found), found, 0.0))
    size += exponents_seen
    total = np.logaddexp(0, found + 1e-13 + 4 * UNIT * size)
    return np.where(found > -np.inf, np.maximum(total, 5e-324), 0.0)


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
    Returns: an upper bound in nats for add-or-remove, rounded up.
    Source: Li, Qardaji and Su (2012), Theorem 1; chapter 7.

    >>> round(math.expm1(sampled_loss(lambda a: np.log(3.0), 0.25)), 12)
    0.5
    """
    loss = float(evaluate(rdp, np.array([np.inf]))[0])
    if loss == 0:
        return 0.0
    gain, share = float(log_expm1(np.array(loss))), math.log(rate)
    slack = 4 * UNIT * (1 + abs(gain) + abs(share))
    return float(np.logaddexp(0, gain + share + slack)) * (1 + 4 * UNIT)


def log_middle(orders: Orders, terms: int, chance: Floats) -> Floats:
    r"""Probability that a binomial number avoids both ends, logarithm of.

    Formula: $\log \Pr[\tau < B \le n - \tau]$, B binomial(n, chance). Below
    1e-280 a Chernoff bound, $e^{-n D(k/n \Vert c)}$ with the nearest
    end k and the divergence D of two coins.

    Parameters: `orders` (n > 2 tau), whole numbers; `terms` ($\tau \ge
    1$); `chance` (c), one for each order, in [0, 1].
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
    choose = log_choose(orders[:, None], k)
    logs = k * math.log(rate) + (orders[:, None] - k) * math.log1p(-rate)
    log_mass = choose + logs + 4 * UNIT * (choose - 3 * logs + x) + 1e-13
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
        found, size = log_sums_at(whole, math.log(rate), 0.0, weights)
        size += np.where(np.isfinite(found), np.abs(found), 0.0)
        return np.logaddexp(0, found + 1e-13 + 8 * UNIT * size)

    top = sampled_loss(rdp, rate) if np.any(np.isinf(order)) else math.inf
    return between_orders(order, totals, top)


def scaled_remainder(x: Floats) -> tuple[Floats, Floats]:
    r"""The remainder of the exponential in a form that never overflows.

    Formula: $\varphi(x) x^{-2} e^{-\max(x, 0)}$, and $e^{-|x|}$.

    Parameters: `x`, an array.
    Returns: two arrays of the same shape; the first is > 0.
    Error: relative error below 1e-15.
    Source: chapter 7, eqs. (ren-remainder) and (ren-integral).

    >>> value, fall = scaled_remainder(np.array([0.0, -1.0]))
    >>> value.round(12).tolist()  # 1/2, 1/e
    [0.5, 0.367879441171]
    """
    size = np.abs(x)
    fall = np.exp(-size)
    far = np.maximum(size, 0.5)
    value = np.where(x > 0, 1 - (1 + far) * fall, far - 1 + fall) / far / far
    near = size < 0.5
    series = np.polynomial.polynomial.polyval(x[near], REMAINDER)
    value[near] = series * np.where(x[near] > 0, fall[near], 1.0)
    return value, fall


@dataclass(frozen=True)
class LossPoints:
    r"""Places of an integral over losses, whatever the order.

    Formula: at each place the loss L, and the parts of $\varphi(-L)$ and
    of the weight of the place that do not depend on the order.

    Fields: `loss` (L); `log_weight`; `own`, `fall`, see `log_terms`;
    `spread`, the sampled loss $\log(1 + \gamma w)$ of remove; `share`, by how
    much it moves if the loss without sampling moves by 1.
    Source: chapter 7, eq. (ren-integral).
    """

    loss: Floats
    log_weight: Floats
    own: Floats
    fall: Floats
    spread: Floats
    share: Floats


def loss_points(
    base: Floats, log_mass: Floats, *, rate: float, missed: float, add: bool
) -> LossPoints:
    r"""Sampled losses at places with given losses without sampling.

    Formula: $\Lambda = \log(1 - \gamma + \gamma e^u)$; L = $\Lambda$ with
    weight $q e^\Lambda$ for remove, L = $-\Lambda$ with weight q for add.

    Parameters: `base` (u), losses without sampling; `log_mass` ($\log
    q$) under Q; `rate` ($\gamma$), `missed` ($1 - \gamma$, may be 0);
    `add`, the direction.
    Returns: a LossPoints.
    Error: relative error of $\Lambda$ below 1e-15 plus that of u.
    Source: chapter 7, eq. (ren-integral).

    >>> one = np.array([math.log(3.0)])
    >>> at = loss_points(one, 0 * one, rate=0.25, missed=0.75, add=False)
    >>> float(np.exp(at.loss[0]).round(12)), float(at.share[0].round(12))
    (1.5, 0.5)
    """
    loss, share = base, np.ones_like(base)
    log_size = np.log(np.abs(base))
    if missed > 0:
        low, high = math.log(missed), math.log(rate) + base
        w = np.clip(rate * np.expm1(np.minimum(base, 700)), -0.6, 0.6)
        loss = np.where(np.abs(w) < 0.5, np.log1p(w), np.logaddexp(low, high))
        share = np.asarray(expit(high - low))
        log_size = np.log(np.abs(loss))
        tiny = np.abs(loss) < 1e-9
        if np.any(tiny):  # also where the loss itself would underflow
            gain = np.log(-np.expm1(-np.abs(base))) + np.maximum(base, 0)
            log_size = np.where(
                tiny, math.log(rate) + gain - loss / 2, log_size
            )
    signed = -loss if add else loss
    own, fall = scaled_remainder(-signed)
    log_weight = log_mass + 2 * log_size + np.maximum(loss, 0)
    if not add:
        log_weight = log_mass + 2 * log_size + np.maximum(-loss, 0) + loss
    fall = np.where(signed < 0, fall, 1.0)
    return LossPoints(signed, log_weight, own, fall, loss, share)


def log_terms(less: Floats, points: LossPoints, place: Any = ...) -> Floats:
    r"""Logarithms of the terms of the integral at given places.

    Formula: $\log\left(q\left(\varphi(bL)/b + \varphi(-L)\right)\right)$
    with b = a - 1 (and $q e^\Lambda$ for q in the direction of remove).

    Parameters: `less` (b >= 0), an array that broadcasts with the places;
    `points`; `place`, an index into them, for places used many times.
    Returns: an array.
    Error: absolute error about 1e-16 times the exponents.
    Source: chapter 7, eq. (ren-integral).

    >>> one = np.array([1.0])
    >>> at = loss_points(one, 0 * one, rate=1.0, missed=0.0, add=False)
    >>> float(np.exp(log_terms(one, at))[0].round(9))  # e (e - 2 + 1/e)
    2.952492442
    """
    loss = points.loss[place]
    power = less * loss
    value, fall = scaled_remainder(power)
    value *= less * points.fall[place]
    value += points.own[place] * np.where(loss > 0, fall, 1.0)
    terms = np.log(value) + np.maximum(power, 0)
    return np.asarray(terms + points.log_weight[place])


@dataclass(frozen=True)
class ShiftedNormals:
    r"""A sampled mixture of Gaussians against a centred one.

    Formula: $M = w_0 N(0, 1) + (1 - w_0) \sum_j w_j N(\mu_j, 1)$ and $Q =
    N(0, 1)$.

    Parameters: `means` ($\mu_j > 0$), `weights` ($w_j > 0$, sum 1), two
    tuples; `rate` ($1 - w_0$), `missed` ($w_0$, may be 0).
    Source: chapter 7, "The trapezoid rule".

    >>> pair = ShiftedNormals((2.0,), (1.0,), 0.5, 0.5)
    >>> pair.center, pair.base(np.array([1.0]))[0].tolist()
    (1.0, [2.0])
    """

    means: tuple[float, ...]
    weights: tuple[float, ...]
    rate: float = 1.0
    missed: float = 0.0

    @property
    def top(self) -> float:
        """The largest mean."""
        return max(self.means)

    @property
    def center(self) -> float:
        """Output from which places are counted: no digit is lost there."""
        return self.means[0] / 2

    def base(self, y: Floats) -> tuple[Floats, Floats]:
        """Loss without sampling at x = center + y, and its slope."""
        if len(self.means) == 1:
            return self.means[0] * y, np.full(y.shape, self.means[0])
        means = np.array(self.means)
        powers = np.multiply.outer(y, means)
        powers += means * (self.center - means / 2)
        terms = powers + np.log(self.weights)
        most = np.max(terms, axis=-1, keepdims=True)
        parts = np.exp(terms - most)
        total = np.sum(parts, axis=-1)
        grown = np.expm1(np.minimum(powers, 700)) * self.weights
        large = np.exp(np.minimum(terms, 700))
        growth = np.sum(np.where(powers < 700, grown, large), axis=-1)
        near = np.where(np.abs(growth) < 0.5, growth, 0.0)
        far = most[..., 0] + np.log(total)
        loss = np.where(np.abs(growth) < 0.5, np.log1p(near), far)
        return np.asarray(loss), np.asarray((parts @ means) / total)

    def points(self, y: Floats, add: bool) -> LossPoints:
        """Losses and weights at x = center + y."""
        x = y + self.center
        return loss_points(
            self.base(y)[0],
            -x * x / 2,
            rate=self.rate,
            missed=self.missed,
            add=add,
        )


TRAPEZOID_GOAL = 1e-15  # relative error that the step is chosen for


def trapezoid_step(less: float, pair: ShiftedNormals, add: bool) -> float:
    r"""Step that makes the trapezoid rule exact to a relative 1e-15.

    Formula: $h = 2 \pi d / \log(1 + 2K/10^{-15})$ with K of Lemma "Beside
    the line", for a width d that makes h large.

    Parameters: `less` (a - 1), `add`: the direction; `pair`.
    Returns: h, in standard deviations.
    Source: chapter 7, Theorem "Trapezoid rule".

    >>> pair = ShiftedNormals((1.0,), (1.0,), 0.01, 0.99)
    >>> round(trapezoid_step(5.0, pair, False), 3)
    0.4
    """
    top = pair.top
    short = max(0.0, 2 + less if add else 1 - less)
    d = min(8.0, 3 / top, 6 / (top * math.sqrt(short + 1)))
    log_k = d**2 / 2 + math.log(2 + 184 * d**2 * max(1.0, top**2))
    log_k -= short * math.log(math.cos(top * d / 2))
    return 2 * math.pi * d / (log_k + math.log(2 / TRAPEZOID_GOAL + 1))


@dataclass(frozen=True)
class LatticeCells:
    r"""Cells of a lattice, seen at their first and their last point.

    Parameters: `pair`; `add`; `first`, `last`, the places of both, counted
    from the center of the pair.
    Source: chapter 7, eq. (ren-slope).
    """

    pair: ShiftedNormals
    add: bool
    first: Floats
    last: Floats

    @cached_property
    def ends(self) -> tuple[LossPoints, LossPoints]:
        """Losses and weights at the two ends."""
        points = self.pair.points
        return points(self.first, self.add), points(self.last, self.add)

    def log_bound(self, less: Floats, cell: Any) -> tuple[Floats, Floats]:
        """Bound of the largest term, and the larger term of the two ends."""
        power = -less if self.add else less + 1
        more, short = np.maximum(power - 2, 0), np.maximum(2 - power, 0)
        at, to = (log_terms(less, end, cell) for end in self.ends)
        left, _ = self.pair.base(self.first)
        right, slope = self.pair.base(self.last)
        sampled = slope * self.ends[1].share
        rise = (-2 * slope / np.expm1(-left))[cell] + more * sampled[cell]
        fall = (2 * slope / np.expm1(-right))[cell] + short * sampled[cell]
        a, b = (x[cell] + self.pair.center for x in (self.first, self.last))
        x, y = np.clip(rise, a, b), np.clip(-fall, a, b)
        above = at + (x - a) * (rise - (x + a) / 2)
        below = to + (b - y) * (fall + (y + b) / 2)
        bound = np.where(right[cell] < 0, below, np.inf)
        return np.where(left[cell] > 0, above, bound), np.maximum(at, to)

    def exponents(self, less: Floats, cell: Any) -> Floats:
        """Size of the numbers that are added up in the exponents."""
        far = np.maximum(np.abs(self.first), np.abs(self.last))
        far = (far + self.pair.center)[cell]
        one, two = self.ends
        size = np.maximum(np.abs(one.spread), np.abs(two.spread))[cell]
        up = np.maximum(one.loss, two.loss)[cell]
        slope = (self.pair.base(self.last)[1] * two.share)[cell]
        moved = (1 + less * (up > 0)) * slope * (far + self.pair.top)
        return np.asarray(far**2 + size + less * np.maximum(up, 0) + moved)


def cell_points(step: float) -> int:
    """Points of the smallest cells of a lattice: some 12 standard deviations.

    Parameters: `step` of the lattice, in standard deviations.
    Returns: a whole number, at most `SPLIT`.
    Source: chapter 7, "The trapezoid rule".

    >>> cell_points(0.01), cell_points(5.0), cell_points(1e4)
    (32, 2, 1)
    """
    return max(1, min(SPLIT, int(12 / step)))


@front_door
def lattice_cells(
    less: Floats, pair: ShiftedNormals, add: bool, step: float, offset: float
) -> tuple[Orders, Orders, Floats, Floats, Floats]:
    r"""Cells of a lattice that matter for the integral, for many orders.

    Formula: a cell is dropped if a bound of all its terms is below
    $e^{-42}$ of a term that was seen, else cut into eight.

    Parameters: as for `lattice_sums`.
    Returns: the orders (by index) and the first points of the cells kept
    (of `cell_points` each); for each order the logarithm of a large term,
    a bound of all terms left out, relative to it, and the size of the
    exponents.
    Source: chapter 7, eq. (ren-slope).

    >>> pair = ShiftedNormals((1.0,), (1.0,))
    >>> lattice_cells(np.ones(1), pair, False, 0.3, 0.0)[1].size
    3
    """
    power = -less if add else less + 1
    most = max(0.0, float(np.max(power)) - 2)
    short = max(0.0, 2 - float(np.min(power)))
    outer = np.array([-14 - pair.center])  # beyond, terms fall like e^-13x
    sampled = pair.base(outer)[1] * pair.points(outer, add).share
    low, high = float((outer - short * sampled)[0]), 14 + (6 + most) * pair.top
    start, level, split = math.floor(low / step), 0, cell_points(step)
    while split * 8**level * step < high - start * step:
        level += 1
    row, place = np.arange(len(less)), np.zeros(len(less), np.int64)
    best, lost = np.full((2, len(less)), -np.inf), np.zeros(len(less))
    for width in [split * 8**k for k in range(level, -1, -1)]:
        if width < split * 8**level:
            row = np.repeat(row, 8)
            place = (8 * place[:, None] + np.arange(8)).ravel()
        each, cell = np.unique(place, return_inverse=True)
        first = (start + each * width + offset) * step
        cells = LatticeCells(pair, add, first, first + (width - 1) * step)
        bound, seen = cells.log_bound(less[row], cell)
        np.maximum.at(best[0], row, seen)
        if width == split * 8**level:
            best[1] = seen
        bound += math.log(width)
        keep = ~(bound < best[0, row] - 42)
        gone = np.exp(np.minimum(bound - best[0, row], 0))
        lost += np.bincount(row, np.where(keep, 0, gone), len(less))
        row, place, cell = row[keep], place[keep], cell[keep]
    size = np.zeros(len(less))
    np.maximum.at(size, row, cells.exponents(less[row], cell))
    lost += np.exp(best[1] - best[0]) * 2 / -math.expm1(-13 * step)
    return row, start + place * split, best[0], lost, size


@front_door
def lattice_sums(
    less: Floats,
    pair: ShiftedNormals,
    *,
    add: bool,
    step: float,
    offset: float = 0.0,
) -> tuple[Floats, Floats]:
    r"""Sums of the terms of the integral over a lattice of outputs.

    Formula: $\log\left(\frac{h}{\sqrt{2\pi}} \sum_k e^{t_k}\right)$ with the
    terms of `log_terms` at the places center + (k + offset) h.

    Parameters: `less` (a - 1 >= 0), a 1-d array; `pair`; `add`, the
    direction; `step` (h); `offset` in [0, 1).
    Returns: logarithms, and bounds of their absolute errors: terms that
    were dropped, and rounding.
    Source: chapter 7, "The trapezoid rule".

    >>> pair = ShiftedNormals((1.0,), (1.0,))
    >>> log_j, _ = lattice_sums(np.ones(1), pair, add=False, step=0.3)
    >>> float(np.log1p(np.exp(log_j))[0].round(12))  # R(2) = 1
    1.0
    """
    found = lattice_cells(less, pair, add, step, offset)
    row, first, best, lost, size = found
    total = np.zeros(len(less))
    each, cell = np.unique(first, return_inverse=True)
    places = each[:, None] + np.arange(cell_points(step)) + offset
    points = pair.points(places * step, add)
    for part in np.array_split(np.arange(len(row)), 1 + len(row) // 8000):
        terms = log_terms(less[row[part], None], points, cell[part])
        top = best.copy()
        np.maximum.at(top, row[part], np.max(terms, axis=1))
        shrink = np.exp(best - top)
        best, total, lost = top, total * shrink, lost * shrink
        terms = np.exp(terms - best[row[part], None])
        total += np.bincount(row[part], np.sum(terms, axis=1), len(less))
    log_sum = best + np.log(total) + math.log(step / math.sqrt(2 * math.pi))
    size += np.abs(log_sum)
    return log_sum, lost / total + UNIT * (64 + 8 * size)


@front_door
def rdp_from_sums(less: Floats, log_j: Floats, error: Floats) -> Floats:
    r"""Renyi divergence from the logarithm of the integral, rounded up.

    Formula: $\log(1 + b J)/b$, or J for b = 0.

    Parameters: `less` (b = a - 1 >= 0), `log_j` ($\log J$), `error` of it.
    Returns: an upper bound, at least the smallest float.
    Source: chapter 7, eq. (ren-integral).

    >>> rdp_from_sums(np.ones(1), np.zeros(1), np.zeros(1)).round(12)
    array([0.69314718])
    """
    log_j = log_j + error
    gain = np.log(less) + log_j
    positive = np.where(less > 0, less, 1.0)
    inner = np.log1p(np.exp(np.minimum(gain, 700))) / positive
    value = np.where(gain > 700, gain / positive, inner)
    value = np.where(gain < -40, np.exp(np.minimum(log_j, 700)), value)
    return np.maximum(value * (1 + 8 * UNIT), 5e-324)


MOST_MEAN = 1e4  # largest mean, in standard deviations, that is integrated


def normal_curve(
    pair: ShiftedNormals, *, add: bool, spacing: float = 0.0
) -> Callable[[Floats], Floats]:
    r"""Renyi divergence of shifted normal noise, at every real order.

    Formula: eq. (ren-integral) by the trapezoid rule; for noise on the
    integers the sum over them, divided by the sum of the noise.

    Parameters: `pair`; `add`: D(Q || M) instead of D(M || Q); `spacing`,
    of the outputs in standard deviations if the noise is discrete, else 0.
    Returns: a function of a 1-d array of finite orders >= 1.
    Error: an upper bound; relative error below 1e-11 for orders up to 100
    and means up to 10, mostly below 1e-12; in general $10^{-15} + 2^{-50}
    E$ with the largest exponent E where the integrand counts, and for
    several means $2^{-44} \max(1, \mu) (1 + \mu)$ more. Above `MOST_MEAN`
    the bound is $a \mu^2/2$.
    Source: chapter 7, Theorem "Trapezoid rule".

    >>> step = ShiftedNormals((2.0,), (1.0,), 0.01, 0.99)  # noise 0.5
    >>> float(normal_curve(step, add=False)(np.array([2.5]))[0].round(12))
    0.014771278212
    """
    top, number = pair.top, len(pair.means)
    extra = (2 if spacing else 1) * TRAPEZOID_GOAL  # of both sums
    if number > 1:
        extra += (512 + number) * UNIT * max(1.0, top) * (1 + top)

    @front_door
    def curve(order: Floats) -> Floats:
        less = order - 1
        if top > MOST_MEAN:
            return order * (top**2 / 2 * (1 + 8 * UNIT))
        short = np.maximum(0.0, 2 + less if add else 1 - less)
        group = np.ceil(np.log1p(short) / math.log(4))
        result = np.empty(len(order))
        for one in np.unique(group):
            here = np.flatnonzero(group == one)
            worst = here[np.argmax(short[here])]
            step, offset = trapezoid_step(float(less[worst]), pair, add), 0.0
            if spacing > step:
                offset = round(pair.top / spacing) % 2 / 2
                step = spacing
            log_j, error = lattice_sums(
                less[here], pair, add=add, step=step, offset=offset
            )
            log_j -= math.log(noise_total(spacing) if step == spacing else 1)
            result[here] = rdp_from_sums(less[here], log_j, error + extra)
        return result

    return curve


def noise_total(spacing: float) -> float:
    r"""Sum over the discrete Gaussian law before it is normalised.

    Formula: $\frac{h}{\sqrt{2\pi}} \sum_j e^{-j^2 h^2/2}$.

    Parameters: `spacing` (h > 0).
    Returns: a number; 1 up to $2 e^{-2\pi^2/h^2}$.
    Error: relative error below 1e-15.
    Source: chapter 7, "The trapezoid rule".

    >>> round(noise_total(0.5), 15), round(noise_total(10.0), 6)
    (1.0, 3.989423)
    """
    if spacing < 0.7:
        return 1.0
    places = np.arange(1, 60)
    total = 1 + 2 * math.fsum(np.exp(-((places * spacing) ** 2) / 2))
    return spacing / math.sqrt(2 * math.pi) * total


@dataclass(frozen=True)
class LaplacePanels:
    r"""A sampled Laplace step in one direction, and panels of its losses.

    Formula: losses u in [-m, m] without sampling, m = 1/s, with the
    density $\frac14 e^{-(m+u)/2}$ under Q.

    Parameters: `most` (m); `rate`, `missed`; `add`, the direction.
    Source: chapter 7, "Laplace noise".

    >>> LaplacePanels(1.0, 0.5, 0.5, False).most
    1.0
    """

    most: float
    rate: float
    missed: float
    add: bool

    def points(self, base: Floats, log_mass: Floats) -> LossPoints:
        """Sampled losses where those without sampling are `base`."""
        return loss_points(
            base, log_mass, rate=self.rate, missed=self.missed, add=self.add
        )

    def log_bound(
        self, less: Floats, middle: Floats, cell: Any, half: float, ell: float
    ) -> Floats:
        """Bound of the integral over panels, on their ellipses if ell = 1."""
        over, beside = 1.125 * half * ell, 1.875 * half * ell
        left, right = middle - half - over, middle + half + over
        low, high = (self.points(x, np.zeros(len(x))) for x in (left, right))
        least = low.spread + np.log1p(-high.share * (1 - math.cos(beside)))
        turn = (beside * high.share / math.cos(beside / 2))[cell]
        size = np.maximum(np.abs(low.spread), np.abs(high.spread))[cell]
        size = size + turn
        up, down = (-least, high.spread) if self.add else (high.spread, -least)
        growth, inverse = np.maximum(less * up[cell], 0), 2 / less
        near = np.log(less * size**2 / 2) + growth
        far = np.log(inverse + turn) + growth
        far = np.minimum(near, np.logaddexp(far, np.log(inverse + size)))
        own = 2 * np.log(size) - math.log(2) + np.maximum(down, 0)[cell]
        weight = -(self.most + left) / 2 + (0 if self.add else high.spread)
        total = np.logaddexp(far, own) + weight[cell]
        return np.asarray(total + math.log(half / 2))

    def exponents(
        self, less: Floats, middle: Floats, cell: Any, half: float
    ) -> Floats:
        """Size of the numbers that are added up in the exponents."""
        ends = middle - half, middle + half
        low, high = (self.points(x, np.zeros(len(x))) for x in ends)
        up = np.maximum(low.loss, high.loss)[cell]
        size = np.maximum(np.abs(low.spread), np.abs(high.spread))[cell]
        moved = (1 + less * (up > 0)) * high.share[cell] * self.most
        return np.asarray(self.most + size + less * np.maximum(up, 0) + moved)


PANEL_RULE = tuple(  # places and weights; arrays from bytes are read-only
    np.frombuffer(x.tobytes()) for x in np.polynomial.legendre.leggauss(16)
)
PANEL_ERROR = 4e-18  # of the rule, for integrands up to 1 on the ellipse


@front_door
def gauss_part(
    less: Floats,
    step: LaplacePanels,
    best: Floats,
    panels: tuple[Floats, float],
    row: Orders,
    cell: Orders,
) -> Floats:
    r"""What some panels add to the integrals.

    Parameters: `less`, `step` as for `panel_sums`; `best`, a logarithm for
    each order; `panels`: all middles, and the half length; `row`, `cell`:
    order and panel of the pairs to add up.
    Returns: a sum for each order, relative to `best`.
    Source: chapter 7, Theorem "Gauss rule".

    >>> step = LaplacePanels(0.5, 1.0, 0.0, False)
    >>> one, none = np.zeros(1), np.zeros(1, int)
    >>> sum_ = gauss_part(one, step, one, (one, 0.5), none, none)
    >>> float(sum_[0].round(9))
    0.008163325
    """
    middles, half = panels
    each, at = np.unique(cell, return_inverse=True)
    places = middles[each][:, None] + half * PANEL_RULE[0]
    mass = np.log(PANEL_RULE[1] * half / 4) - (step.most + places) / 2
    points, total = step.points(places, mass), np.zeros(len(less))
    for part in np.array_split(np.arange(len(row)), 1 + len(row) // 16000):
        terms = log_terms(less[row[part], None], points, at[part])
        terms = np.exp(terms - best[row[part], None])
        total += np.bincount(row[part], np.sum(terms, axis=1), len(less))
    return total


@front_door
def panel_sums(less: Floats, step: LaplacePanels) -> tuple[Floats, Floats]:
    r"""The integral for sampled Laplace noise, for many orders.

    Formula: both atoms, and the rule of Gauss on panels.

    Parameters: `less` (a - 1 >= 0), a 1-d array; `step`.
    Returns: logarithms, and bounds of their absolute errors.
    Source: chapter 7, "Laplace noise".

    >>> log_j, _ = panel_sums(np.ones(1), LaplacePanels(1.0, 1.0, 0.0, False))
    >>> float(np.log1p(np.exp(log_j))[0].round(12))
    0.619123629999
    """
    ends = np.array([-step.most, step.most])
    weights = np.array([0, -step.most])
    atoms = step.points(ends, weights - math.log(2))
    terms = log_terms(less[:, None], atoms, np.arange(2))
    best = np.max(terms, axis=1)
    total = np.sum(np.exp(terms - best[:, None]), axis=1)
    lost, size = np.zeros(len(less)), np.zeros(len(less))
    row, place = np.arange(len(less)), np.zeros(len(less), int)
    half = step.most
    seen = np.nonzero(terms > best[:, None] - 42)  # atoms that matter
    exponent = step.exponents(less[seen[0]], ends, seen[1], 0)
    np.maximum.at(size, seen[0], exponent)
    while len(row):
        each, cell = np.unique(place, return_inverse=True)
        middle = (2 * each + 1) * half - step.most
        bound = step.log_bound(less[row], middle, cell, half, 0.0) - best[row]
        missing = 2 * np.exp(np.minimum(bound, 600))
        done = missing < 1e-18
        good = np.zeros(len(row), bool)
        if half < 0.8:  # else the ellipse would be too high
            bound = step.log_bound(less[row], middle, cell, half, 1.0)
            error = PANEL_ERROR * np.exp(np.minimum(bound - best[row], 600))
            good = ~done & (error < 1e-16)
            missing[good] = error[good]
        lost += np.bincount(row, np.where(done | good, missing, 0), len(less))
        if np.any(good):
            who, which = row[good], cell[good]
            exponent = step.exponents(less[who], middle, which, half)
            np.maximum.at(size, who, exponent)
            panels = middle, half
            total += gauss_part(less, step, best, panels, who, which)
        left = ~(done | good)
        row, half = np.repeat(row[left], 4), half / 4
        place = (4 * place[left][:, None] + np.arange(4)).ravel()
    log_sum = best + np.log(total)
    size += np.abs(log_sum)
    return log_sum, lost / total + UNIT * (64 + 8 * size)


def laplace_curve(
    scale: float, rate: float, *, missed: float, add: bool
) -> Callable[[Floats], Floats]:
    r"""Renyi divergence of sampled Laplace noise, at every real order.

    Formula: eq. (ren-integral) with two atoms and panels between them.

    Parameters: `scale` (s > 0); `rate` in (0, 1), `missed` (1 - rate);
    `add`: D(Q || M) instead of D(M || Q).
    Returns: a function of a 1-d array of finite orders >= 1.
    Error: an upper bound; relative error below 1e-12 for orders up to 100
    and scales above 0.1, in general $2^{-50}$ times the largest exponent.
    For scales below 1e-4 the bound is that without sampling.
    Source: chapter 7, Theorem "Gauss rule".

    >>> curve = laplace_curve(0.5, 0.01, missed=0.99, add=False)
    >>> float(curve(np.array([1.5]))[0].round(15))
    0.000292451206739
    """
    if scale < 1 / MOST_MEAN:
        return lambda order: laplace_rdp(order, scale=scale) * (1 + 1e-13)
    step = LaplacePanels(1 / scale, rate, missed, add)

    @front_door
    def curve(order: Floats) -> Floats:
        log_j, error = panel_sums(order - 1, step)
        return rdp_from_sums(order - 1, log_j, error)

    return curve


Shifts = tuple[tuple[float, ...], tuple[float, ...], float]


@singledispatch
def normal_shifts(pair: DominatingPair) -> Shifts | None:
    r"""Shifts of normal noise of which a pair is made, if it is.

    Formula: P = $\sum_j w_j N(\mu_j, 1)$, Q = N(0, 1).

    Parameters: `pair`, without sampling; its type decides.
    Returns: means (increasing from 0 or more), weights, and the spacing of
    the outputs in standard deviations (0 if they are real numbers); None
    for other pairs.
    Source: chapter 7, "One curve for a whole run".

    >>> normal_shifts(LaplacePair(1.0)) is None
    True
    """
    return None


@normal_shifts.register
def one_normal_shift(pair: GaussianPair) -> Shifts:
    """Shifts of a Gaussian pair: one.

    Parameters: `pair`.
    Returns: as `normal_shifts`.
    Source: chapter 7, "One curve for a whole run".

    >>> one_normal_shift(GaussianPair(2.0))
    ((2.0,), (1.0,), 0.0)
    """
    return (pair.mu,), (1.0,), 0.0


@normal_shifts.register
def integer_shift(pair: IntegerGaussianPair) -> Shifts:
    """Shifts of discrete Gaussian noise: one, on a lattice.

    Parameters: `pair`.
    Returns: as `normal_shifts`.
    Source: chapter 7, "One curve for a whole run".

    >>> integer_shift(IntegerGaussianPair(0.5, 2))
    ((4.0,), (1.0,), 2.0)
    """
    return (pair.shift / pair.sigma,), (1.0,), 1 / pair.sigma


def shifted_normals(
    shifts: Shifts, rate: float = 1.0, missed: float = 0.0
) -> ShiftedNormals:
    r"""Shifts of a pair, sampled or not, with the mean 0 set apart.

    Formula: $1 - \gamma + \gamma w_0$ is not moved, $\gamma w_j$ by mu_j.

    Parameters: `shifts`, with increasing means; `rate`, `missed`.
    Returns: a ShiftedNormals.
    Source: chapter 7, "One curve for a whole run".

    >>> shifted_normals(((0.0, 1.0), (0.75, 0.25), 0.0)).missed
    0.75
    """
    means, weights, _ = shifts
    if means[0] > 0:
        return ShiftedNormals(means, weights, rate, missed)
    moved = math.fsum(weights[1:])
    shares = tuple(w / moved for w in weights[1:])
    rest = missed + rate * weights[0]
    return ShiftedNormals(means[1:], shares, rate * moved, rest)


def sampled_curve(sampled: SampledPair, add: bool) -> Curve | None:
    r"""Renyi divergence of a sampled pair, in one direction.

    Parameters: `sampled`; `add`: D(Q || M) instead of D(M || Q).
    Returns: a function of a 1-d array of finite orders in [1, 1e6]; None
    for a pair that this book has no curve of.
    Error: upper bounds, as `normal_curve`, `laplace_curve`; for Gaussian
    and Laplace noise multipliers below 1e-4 that of `poisson_rdp`.
    Source: chapter 7, "One curve for a whole run".

    >>> pair = SampledPair(LaplacePair(0.5), 0.01)
    >>> float(sampled_curve(pair, True)(np.array([1.5]))[0].round(15))
    0.000283066465491
    """
    base, rate = sampled.base, sampled.rate
    missed = float(sampled.missed or 0.0)
    simple = isinstance(base, (GaussianPair, LaplacePair))

    def whole(order: Floats) -> Any:
        return poisson_rdp(order, rdp=pair_rdp(base), rate=rate, bound="tight")

    if isinstance(base, LaplacePair):
        real = laplace_curve(base.scale, rate, missed=missed, add=add)
        top = 1 / base.scale
    elif shifts := normal_shifts(base):
        pair = shifted_normals(shifts, rate, missed)
        real = normal_curve(pair, add=add, spacing=shifts[2])
        top = pair.top
    else:
        return None
    if simple and top > MOST_MEAN:
        return whole

    def curve(order: Floats) -> Floats:
        summed = simple & (not add) & (order == np.floor(order)) & (order > 1)
        if np.count_nonzero(summed) <= 64:  # the integral is as fast
            return real(order)
        result = np.empty(len(order))
        result[summed] = whole(order[summed])
        result[~summed] = real(order[~summed])
        return result

    return curve


def every_order(curve: Curve, at_infinity: float) -> Curve:
    """A curve for numbers and arrays of any shape, with order infinity.

    Parameters: `curve`, of 1-d arrays of orders in [1, 1e6];
    `at_infinity`, its value at order inf, which bounds all others.
    Returns: a function of the order (a in [1, 1e6], or inf).
    Source: chapter 7, "One curve for a whole run".

    >>> every_order(lambda a: a / 2, 9.0)([[2.0, 20.0, np.inf]])
    array([[1., 9., 9.]])
    """

    @front_door
    def checked(order: ArrayLike) -> Any:
        order = check_range("order", order, 1, np.inf)
        finite = np.isfinite(order)
        check_range("order (if finite)", order[finite], 1, MOST_ORDER)
        result = np.full(order.shape, at_infinity)
        if np.any(finite):
            values = curve(order[finite])
            result[finite] = np.minimum(values, at_infinity)
        return as_given(result)

    return checked


@front_door
def pair_rdp(pair: DominatingPair) -> Curve:
    r"""Renyi divergence of a dominating pair as a function of the order.

    Formula: $R(a) = D_a(P \Vert Q)$ at every real order.

    Parameters: `pair`, of a mechanism of this book, sampled or not, in
    either direction. Lists of outcomes count as exact.
    Returns: a function of the order: [1, inf] for pairs without sampling
    and lists, else [1, 1e6] and inf. Its values are upper bounds in nats,
    rounded up.
    Raises: NotImplementedError for other pairs.
    Error: relative error below 1e-11 for orders up to 100 and noise
    multipliers from 0.1 on, mostly below 1e-12; otherwise as
    `normal_curve`, `laplace_curve` and `loss_rdp` say.
    Source: chapter 7, "One curve for a whole run".

    >>> bool(6 <= pair_rdp(GaussianPair(2.0))(3.0) < 6 + 1e-14)
    True
    """
    add = isinstance(pair, ReversedPair)
    plain = pair.pair if isinstance(pair, ReversedPair) else pair
    base = plain.base if isinstance(plain, SampledPair) else plain
    if isinstance(plain, DiscretePair) and type(plain) is not DiscretePair:
        losses, p, q = plain._finite  # it knows its losses better
        sign, mass = (-1, q) if add else (1, p)
        lost, missing = plain.infinite_mass[:: -1 if add else 1]
        if lost > 0:
            return lambda order: np.full(np.shape(order), np.inf)
        exact = partial(
            loss_rdp,
            losses=sign * losses,
            log_masses=np.log(mass),
            missing=missing,
        )
        return raised(exact, 3e-13)
    if isinstance(base, DiscretePair):
        rate = plain.rate if isinstance(plain, SampledPair) else 1.0
        curve_of_lists = discrete_curve(base.p, base.q, rate=rate, add=add)
        return raised(curve_of_lists, 3e-13)
    if isinstance(plain, GaussianPair):
        noise = 1 / plain.mu
        line = partial(gaussian_rdp, noise_multiplier=noise)
        return raised(line, 8 * UNIT)
    if isinstance(plain, LaplacePair):
        return raised(partial(laplace_rdp, scale=plain.scale), 1e-13)
    curve: Curve | None = None
    if isinstance(plain, SampledPair):
        curve = sampled_curve(plain, add)
    elif shifts := normal_shifts(plain):
        normals = shifted_normals(shifts)
        curve = normal_curve(normals, add=add, spacing=shifts[2])
    if curve is None:
        raise NotImplementedError(
            f"no Renyi DP curve of {pair!r} is known to this book"
        )
    top = pair.loss_range[1] if pair.infinite_mass[0] == 0 else math.inf
    return every_order(curve, top * (1 + 8 * UNIT))


def raised(curve: Curve, error: float) -> Curve:
    """A curve that is larger by a relative error, so a bound.

    Parameters: `curve`; `error`, of its values.
    Returns: a function of the order.
    Source: chapter 7, "One curve for a whole run".

    >>> raised(lambda a: a, 0.5)(np.array([2.0]))
    array([3.])
    """
    return lambda order: curve(order) * (1 + error)


def exact_losses(
    mechanism: Mechanism, moves: int
) -> tuple[Floats, Floats] | None:
    r"""Losses of a mechanism with a finite list of outcomes, not rounded.

    Formula: $\pm\varepsilon$ for `PureDP`; as `randomized_response_rdp`
    and `discrete_laplace_rdp`.

    Parameters: `mechanism`, of exactly one of these three types; `moves`,
    how many records are removed (an exchange counts twice for a sum).
    Returns: losses and the logarithms of their masses under P, or None.
    Error: rounding only.
    Source: chapter 7, "One curve for a whole run".

    >>> exact_losses(PureDP(1e-11), 1)[0].tolist()
    [1e-11, -1e-11]
    """
    if type(mechanism) is PureDP:
        if moves > 1:
            return None
        losses = np.array([1.0, -1.0]) * mechanism.epsilon
        return losses, np.asarray(log_expit(losses))
    if type(mechanism) is RandomizedResponse:
        if not 0 < mechanism.truth_probability < 1:
            return None
        return response_losses(mechanism.truth_probability)
    if type(mechanism) is DiscreteLaplace:
        shift = moves * mechanism.sensitivity
        return geometric_losses(1 / mechanism.scale, shift)
    return None


def loss_curve(
    losses: Floats, log_masses: Floats, sampled: DominatingPair
) -> Curve:
    r"""Curve of a pair whose losses before sampling are given exactly.

    Formula: the losses L of `loss_points`, with `loss_rdp`.

    Parameters: `losses`, `log_masses` under P, all finite; `sampled`, the
    pair, whose rate and direction are used.
    Returns: a function of the order (a in [1, inf]).
    Error: an upper bound; relative error below 2e-12.
    Source: chapter 7, "One curve for a whole run".

    >>> losses = math.log(3.0) * np.array([1.0, -1.0])
    >>> pair = SampledPair(DiscretePair([0.75, 0.25], [0.25, 0.75]), 0.5)
    >>> curve = loss_curve(losses, np.log([0.75, 0.25]), pair)
    >>> round(math.exp(curve(2.0)) * 3, 9)
    4.0
    """
    add = isinstance(sampled, ReversedPair)
    plain = sampled.pair if isinstance(sampled, ReversedPair) else sampled
    rate, missed = 1.0, 0.0
    if isinstance(plain, SampledPair):
        rate, missed = plain.rate, float(plain.missed or 0.0)
    log_q = log_masses - losses
    with np.errstate(divide="ignore"):
        points = loss_points(losses, log_q, rate=rate, missed=missed, add=add)
    log_first = log_q if add else log_q + points.spread
    one = partial(loss_rdp, losses=points.loss, log_masses=log_first)
    return raised(one, 4e-13)


def release_curves(
    release: Release, adjacency: Adjacency | str, group_size: int
) -> list[Curve]:
    """Curves of one run of a release: of remove, then of add, if both.

    Parameters: as for `rdp_curve`.
    Returns: one curve, or two; two only where add may be the larger one.
    Raises: as `rdp_curve`.
    Source: chapter 7, "One curve for a whole run".

    >>> from accountlib.worst_case_pairs import Gaussian, Poisson
    >>> run = Release(Gaussian(1.0), Poisson(0.01))
    >>> len(release_curves(run, "add-or-remove", 1))
    1
    """
    sides = directions(release, adjacency, group_size)
    pairs = [pair for side in sides for pair, _ in side]
    if not pairs or release.sampling == Poisson(0.0):  # nothing is told
        return [lambda order: np.zeros(np.shape(order))]
    first = pairs[0]
    simple = isinstance(first, SampledPair) and isinstance(
        first.base, (GaussianPair, LaplacePair)
    )
    if len(pairs) == 2 and simple:
        pairs = pairs[:1]
    sampling, swap = release.sampling, adjacency == Adjacency.SUBSTITUTE
    part = isinstance(sampling, FixedBatch) or swap
    bits = isinstance(release.mechanism, (PureDP, RandomizedResponse))
    moves = group_size * (2 if part and not bits else 1)
    exact = exact_losses(release.mechanism, moves)
    sampled = isinstance(first, (SampledPair, ReversedPair))
    if exact is None or not (sampled or isinstance(first, DiscretePair)):
        return [pair_rdp(pair) for pair in pairs]
    if swap and sampling not in (FullBatch(), Poisson(1.0)):
        return [pair_rdp(pair) for pair in pairs]
    return [loss_curve(*exact, pair) for pair in pairs]


@front_door
def rdp_curve(
    releases: Release | Sequence[Release],
    *,
    adjacency: Adjacency | str,
    group_size: int = 1,
) -> Curve:
    r"""Renyi DP curve of a whole run.

    Formula: $R(a) = \max_{\text{directions}} \sum_j T_j D_a(P_j \Vert
    Q_j)$ at every real order.

    Parameters: as for `epsilon`: `releases`, one Release or a sequence of
    them; `adjacency`; `group_size`.
    Returns: a function of the order (a in [1, 1e6], or inf), a number or
    an array; its values are upper bounds in nats, rounded up, inf where a
    mechanism has an infinite loss. Use it with `epsilon_from_rdp`.
    Raises: ValueError for bad values; NotImplementedError for what no
    theorem of the book covers.
    Error: as `pair_rdp`: what the pairs have is exact up to that.
    Source: Mironov (2017), Proposition 1; chapter 7, "One curve for a
    whole run".

    >>> from accountlib.worst_case_pairs import Gaussian, Poisson
    >>> run = Release(Gaussian(1.0), Poisson(0.01), count=2000)
    >>> curve = rdp_curve(run, adjacency="add-or-remove")
    >>> round(epsilon_from_rdp(curve, delta=1e-6), 3)
    3.246
    """
    directions(releases, adjacency, group_size)  # checks them all
    counts: dict[tuple[Mechanism, Any], int] = {}
    for one in [releases] if isinstance(releases, Release) else releases:
        key = (one.mechanism, one.sampling)
        counts[key] = counts.get(key, 0) + one.count
    steps = [
        (release_curves(Release(*key), adjacency, group_size), count)
        for key, count in counts.items()
    ]

    @front_door
    def curve(order: ArrayLike) -> Any:
        order = check_range("order", order, 1, np.inf)
        total = np.zeros((2, *order.shape))
        for curves, count in steps:
            values = [np.asarray(rdp(order)) for rdp in curves]
            total += count * np.array([values[0], values[-1]])
        return as_given(np.max(total, axis=0) * (1 + len(steps) * UNIT))

    return curve


@front_door
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
    most = count * epsilon
    if Fraction(most) < count * Fraction(epsilon):
        most = math.nextafter(most, math.inf)
    if slack in (0, 1) or epsilon == 0:
        return most if slack == 0 else 0.0
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
    return min(max(0.0, bound + 1e-15 * (count + 50)), most)
