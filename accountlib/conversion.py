# Generated from notebooks/conversion.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""From a curve to epsilon

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $a$ | `order` | order of a Rényi divergence, $1 < a \le \infty$ |
| $R(a)$ | `rdp` | Rényi DP curve |
| $L$ | – | privacy loss |
| $\varepsilon$, $\delta$ | `epsilon`, `delta` | the promise; $\varepsilon$ any real number, $\delta$ in $[0, 1]$ |
| $c_a$ | `log_weight` (its logarithm) | height of a tail bound, in $(0, 1)$ |
| $\rho$ | `rho` | slope of a zCDP line, $\ge 0$ |
"""

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from accountlib.checks import UNIT
from accountlib.inputs import (
    Floats,
    check_choice,
    check_function,
    check_number,
    check_range,
    front_door,
)
from accountlib.renyi import Curve

__all__ = [
    "evaluate",
    "listed_curve",
    "Conversion",
    "log_weight",
    "checked_orders",
    "smallest_value",
    "largest_loss",
    "checked_curve",
    "epsilon_from_rdp",
    "delta_from_rdp",
]

# --- The code


def evaluate(rdp: Curve, orders: Floats) -> Floats:
    """Values of a Renyi DP curve, checked.

    Parameters: `rdp`, a function of an array of orders, or of one order;
    `orders`, a 1-d array.
    Returns: an array of the same shape.
    Raises: ValueError if rdp is no function or returns anything but
    numbers in [0, inf], one for each order.

    >>> evaluate(lambda a: a / 2, np.array([2.0, 4.0]))
    array([1., 2.])
    """
    check_function("rdp", rdp, " of the order")
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


def listed_curve(rdp: Curve | ArrayLike, orders: ArrayLike | None) -> Curve:
    """A curve as a function, also if it came as a list of values.

    Parameters: `rdp`, a function of the order or a list of values;
    `orders` of the list.
    Returns: a function of an array of orders.
    Raises: ValueError for a list without orders or of another length.

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


Conversion = Literal["improved", "classic"]


def log_weight(order: Floats, conversion: Conversion) -> Floats:
    r"""How much the tail bound of one order gains.

    Formula: $\log c_a = (a-1) \log(1 - 1/a) - \log a$; 0 for "classic".

    Parameters: `order` (a > 1, finite), an array; `conversion`.
    Returns: an array of the same shape, <= 0.
    Raises: ValueError for another conversion.
    Error: rounding only.
    Source: Canonne, Kamath and Steinke (2020), Proposition 12;
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

    >>> largest_loss(lambda a: a / 2), largest_loss(lambda a: 1 // 0)
    (inf, inf)
    """
    with np.errstate(all="ignore"):
        try:
            value = float(evaluate(rdp, np.array([np.inf]))[0])
        except (ArithmeticError, TypeError, ValueError):
            return math.inf
    return value


def checked_curve(
    rdp: Curve | ArrayLike, orders: ArrayLike | None, conversion: Conversion
) -> tuple[Curve, Floats | None, float]:
    """A curve as a function, the orders to try, and the largest loss.

    Parameters: as for `epsilon_from_rdp`.
    Returns: the loss is inf where orders are given: infinity is not tried.

    >>> checked_curve([1.0, 2.0], [2, 4], "classic")[1:]
    (array([2., 4.]), inf)
    """
    check_choice("conversion", conversion, ("improved", "classic"))
    orders = None if orders is None else checked_orders(orders)
    curve = listed_curve(rdp, orders)
    return curve, orders, largest_loss(curve) if orders is None else math.inf


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
    Mironov (2017), Proposition 3; eq. (ren-epsilon).

    >>> from accountlib.renyi import gaussian_rdp
    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=1.0)
    >>> round(epsilon_from_rdp(curve, delta=1e-5), 4)
    4.7284
    >>> round(epsilon_from_rdp(curve, delta=1e-5, conversion="classic"), 4)
    5.2985
    """
    delta = check_number("delta", delta, 0, 1)
    curve, orders, worst = checked_curve(rdp, orders, conversion)
    if delta in (0, 1):
        return 0.0 if delta == 1 else worst

    def promised(order: Floats) -> Floats:
        value, weight = evaluate(curve, order), log_weight(order, conversion)
        gain = (weight - math.log(delta)) / (order - 1)
        size = value + (np.abs(weight) - math.log(delta) + 1) / (order - 1)
        return np.where(value > 0, value + gain + 8 * UNIT * size, 0.0)

    return max(0.0, smallest_value(promised, orders, worst))


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
    Source: as `epsilon_from_rdp`; eq. (ren-delta).

    >>> from accountlib.renyi import gaussian_rdp
    >>> curve = lambda a: gaussian_rdp(a, noise_multiplier=1.0)
    >>> round(delta_from_rdp(curve, epsilon=4.7285), 7)
    1e-05
    """
    at = check_number("epsilon", epsilon, -np.inf, np.inf, "()")
    curve, orders, worst = checked_curve(rdp, orders, conversion)
    if worst <= at:
        return 0.0

    def log_delta(order: Floats) -> Floats:
        value, weight = evaluate(curve, order), log_weight(order, conversion)
        power = (order - 1) * (value - at)
        size = (order - 1) * (value + abs(at)) + np.abs(weight) + 1
        result = power + weight + 8 * UNIT * size
        below = value * (1 + 8 * UNIT) < at * (1 - 8 * UNIT)
        lost = below & ~(result > -1e300)  # the power has overflowed
        return np.where(value > 0, np.where(lost, -1e300, result), -np.inf)

    least = min(0.0, smallest_value(log_delta, orders))
    if least == -math.inf:  # equal laws
        return -math.expm1(at) if at < 0 else 0.0
    promised = math.nextafter(math.exp(least), 1.0)
    return max(promised, 5e-324)  # 0 would be no upper bound
