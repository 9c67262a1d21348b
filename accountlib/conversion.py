# Generated from notebooks/conversion.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Which epsilon does a curve promise?"""

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from accountlib.checks import UNIT, Floats, check
from accountlib.renyi import Curve

__all__ = [
    "evaluate",
    "largest_loss",
    "Conversion",
    "log_weight",
    "REAL_ORDERS",
    "WHOLE_ORDERS",
    "smallest_value",
    "epsilon_from_rdp",
    "delta_from_rdp",
]

# --- The code


def evaluate(rdp: Any, orders: Floats) -> Floats:
    """Values of a curve, or a list of them, one for each of the orders.

    >>> evaluate(lambda a: a / 2, np.array([2.0, 4.0]))
    array([1., 2.])
    """
    try:
        given = rdp(orders) if callable(rdp) else rdp
    except TypeError:  # a function of one number only
        given = [rdp(float(order)) for order in orders]
    values = np.asarray(check("rdp", given, 0, np.inf))
    if values.shape not in ((), orders.shape):
        raise ValueError(
            "rdp must give one number for each order, "
            f"got {given!r} for {orders!r}"
        )
    return np.broadcast_to(values, orders.shape)


def largest_loss(rdp: Curve) -> float:
    """Value of a curve at order infinity; inf if it has none.

    >>> largest_loss(lambda a: 2 - 1 / a), largest_loss(lambda a: a - a)
    (2.0, inf)
    """
    try:
        with np.errstate(all="ignore"):
            value = float(rdp(math.inf))
    except (ValueError, ArithmeticError):
        return math.inf
    return math.inf if math.isnan(value) else value


Conversion = Literal["improved", "classic"]


def log_weight(order: Floats, conversion: Conversion) -> Floats:
    r"""Logarithm of c_a in eq. (ren-delta); 0 for "classic".

    >>> float(log_weight(np.array(2.0), "improved"))  # log(1/4)
    -1.3862943611198906
    """
    if conversion not in ("improved", "classic"):
        raise ValueError(
            f"conversion must be 'improved' or 'classic', got {conversion!r}"
        )
    weight = (order - 1) * np.log1p(-1 / order) - np.log(order)
    return weight if conversion == "improved" else np.zeros_like(order)


REAL_ORDERS = tuple((1 + np.geomspace(1e-6, 9999, 200)).tolist())
WHOLE_ORDERS = tuple(np.unique(np.geomspace(2, 1e4, 300).round()).tolist())


def smallest_value(
    function: Callable[[Floats], Floats],
    rdp: Any,
    orders: ArrayLike | None,
) -> float:
    """Smallest value of a function of the order: at `orders`, or searched.

    If every value is an upper bound, so is the smallest one found.

    >>> found = smallest_value(lambda a: a + 9 / (a - 1), lambda a: a, None)
    >>> round(found, 6)  # at order 4
    7.0
    """
    if orders is None and not callable(rdp):
        raise ValueError(
            "rdp must be a function of the order, or a list with one value "
            f"for each of orders, got {rdp!r}"
        )
    if orders is not None:
        tried = np.asarray(check("orders", orders, 1 + 1e-6, 1e4))
        return float(np.min(function(tried)))
    try:
        rdp(1.5)  # curves of sampled steps refuse it
        tried, whole = np.array(REAL_ORDERS), False
    except ValueError:
        tried, whole = np.array(WHOLE_ORDERS), True
    least = math.inf
    for _ in range(2 if whole else 4):
        values = function(tried)
        best = int(np.argmin(values))
        least = min(least, float(values[best]))
        low, high = tried[max(best - 1, 0)], tried[best : best + 2][-1]
        tried = np.linspace(low, high, int(high - low) + 1 if whole else 33)
    return least


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

    Parameters: `rdp`, a function of the order or of an array of them, or a
    list with one value for each of `orders`; `delta` ($\delta$, 0 or in
    [1e-200, 1]); `orders`, the only ones to use, each in (1, 1e4], or None
    for a search; `conversion`, "improved" or "classic".
    Returns: an upper bound of epsilon for the adjacency of the curve,
    rounding counted.
    Raises: ValueError for other values.
    Source: Canonne, Kamath and Steinke (2020), Proposition 12; classic:
    Mironov (2017), Proposition 3; eq. (ren-epsilon).

    >>> from accountlib.renyi import gaussian_rdp
    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=1.0)
    >>> round(epsilon_from_rdp(curve, delta=1e-5), 4)
    4.7284
    >>> round(epsilon_from_rdp(curve, delta=1e-5, conversion="classic"), 4)
    5.2985
    """
    goal = float(check("delta", delta, 0, 1))
    if 0 < goal < 1e-200:
        raise ValueError(f"delta must be 0 or lie in [1e-200, 1], got {delta}")

    def promised(order: Floats) -> Floats:
        value, weight = evaluate(rdp, order), log_weight(order, conversion)
        gain = (weight - math.log(goal)) / (order - 1)
        size = value + (np.abs(weight) - math.log(goal) + 1) / (order - 1)
        found = value + gain + 8 * UNIT * size
        return found if np.any(value > 0) else np.zeros_like(found)

    top = largest_loss(rdp) if orders is None and callable(rdp) else math.inf
    if goal > 0:
        top = min(top, smallest_value(promised, rdp, orders))
    return max(0.0, top)


def delta_from_rdp(
    rdp: Curve | ArrayLike,
    *,
    epsilon: float,
    orders: ArrayLike | None = None,
    conversion: Conversion = "improved",
) -> float:
    r"""Delta that a Renyi DP curve promises at a given epsilon.

    Formula: $\min\{1, \min_a c_a e^{(a-1)(R(a) - \varepsilon)}\}$.

    Parameters: `epsilon` ($\varepsilon$ in [-1000, 1000]); the others as
    for `epsilon_from_rdp`.
    Returns: an upper bound of delta, rounding counted, at least 1e-300; 0
    if epsilon is at least the value at order infinity.
    Raises: as `epsilon_from_rdp`.
    Source: as `epsilon_from_rdp`; eq. (ren-delta).

    >>> from accountlib.renyi import gaussian_rdp
    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=1.0)
    >>> round(delta_from_rdp(curve, epsilon=4.7285), 7)
    1e-05
    """
    at = float(check("epsilon", epsilon, -1000, 1000))
    if orders is None and callable(rdp) and largest_loss(rdp) <= at:
        return 0.0

    def log_delta(order: Floats) -> Floats:
        value, weight = evaluate(rdp, order), log_weight(order, conversion)
        power = (order - 1) * (value - at)
        size = (order - 1) * (value + abs(at)) + np.abs(weight) + 1
        found = power + weight + 8 * UNIT * size
        return found if np.any(value > 0) else np.full_like(found, -np.inf)

    least = smallest_value(log_delta, rdp, orders)
    if least == -math.inf:  # equal distributions
        return max(0.0, -math.expm1(at))
    return min(1.0, max(math.exp(min(least, 0.0)) * (1 + 4 * UNIT), 1e-300))
