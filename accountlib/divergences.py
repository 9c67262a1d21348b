# Generated from notebooks/01_divergences.md by tools/tangle.py; do not edit.

"""Measuring privacy with divergences."""

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize.elementwise import find_root
from scipy.special import erfcx, ndtr, ndtri

__all__ = [
    "Floats",
    "Probabilities",
    "Params",
    "Result",
    "check_range",
    "check_number",
    "check_count",
    "check_probabilities",
    "as_given",
    "front_door",
    "hockey_stick",
    "product_minus",
    "mills_ratio",
    "GAUSS_RULE",
    "gaussian_edges",
    "gaussian_delta",
    "gaussian_epsilon",
    "laplace_delta",
    "monte_carlo_sample_size",
]

Floats = NDArray[np.floating[Any]]
Probabilities = ArrayLike | Sequence[Fraction]
Params = ParamSpec("Params")
Result = TypeVar("Result")


def check_range(
    name: str, value: ArrayLike, low: float, high: float, ends: str = "[]"
) -> Floats:
    """Return `value` as floats, or say which argument is out of range.

    Parameters: `name` is the argument's name, `value` a real number or
    an array of them, `low` and `high` the ends of the allowed interval,
    `ends` its brackets: one of "[]", "()", "[)", "(]".
    Returns: a float64 array of the same shape (0-d for a scalar).
    Raises: ValueError naming argument, value and allowed interval; also
    for NaN, for booleans and for anything that is not a number.
    Source: chapter 1, "Refuse bad input".

    >>> float(check_range("rate", 0.5, 0, 1))
    0.5
    >>> check_range("rate", 1.5, 0, 1)
    Traceback (most recent call last):
    ...
    ValueError: rate must lie in [0, 1], got 1.5
    """
    allowed = f"{name} must lie in {ends[0]}{low:g}, {high:g}{ends[1]}"
    if np.asarray(value).dtype.kind not in "iuf":
        raise ValueError(f"{allowed}, got {value!r}")
    number = np.asarray(value, dtype=np.float64)
    above = number >= low if ends[0] == "[" else number > low
    below = number <= high if ends[1] == "]" else number < high
    if not np.all(above & below):
        raise ValueError(f"{allowed}, got {value!r}")
    return number


def check_number(
    name: str, value: Any, low: float, high: float, ends: str = "[]"
) -> float:
    """Return `value` as one float, or say what is wrong with it.

    Parameters: as for `check_range`, but arrays and lists are refused.
    Returns: the value as a Python float.
    Raises: ValueError naming argument, value and allowed interval.
    Source: chapter 1, "Refuse bad input".

    >>> check_number("error", [0.1, 0.2], 0, 1)
    Traceback (most recent call last):
    ...
    ValueError: error must be one number in [0, 1], got [0.1, 0.2]
    """
    if np.ndim(value) != 0:
        raise ValueError(
            f"{name} must be one number in "
            f"{ends[0]}{low:g}, {high:g}{ends[1]}, got {value!r}"
        )
    return float(check_range(name, value, low, high, ends))


def check_count(name: str, value: Any, low: int = 1) -> int:
    """Return `value` as an int, or say why it is not a whole number.

    Parameters: `name` is the argument's name, `value` a whole number
    (a float such as 1e6 is accepted), `low` the smallest allowed one.
    Returns: the same number as a Python int.
    Raises: ValueError naming argument, value and allowed range.
    Source: chapter 1, "Refuse bad input".

    >>> check_count("count", 1e6)
    1000000
    >>> check_count("count", 2.5)
    Traceback (most recent call last):
    ...
    ValueError: count must be a whole number >= 1, got 2.5
    """
    whole = (
        isinstance(value, (int, float, np.integer, np.floating))
        and not isinstance(value, bool)
        and (isinstance(value, int) or math.isfinite(value))
        and value == math.floor(value)
        and value >= low
    )
    if not whole:
        raise ValueError(
            f"{name} must be a whole number >= {low}, got {value!r}"
        )
    return int(value)


def check_probabilities(name: str, values: Probabilities) -> NDArray[Any]:
    """Return `values` as an array of probabilities, or say what is wrong.

    Parameters: `name` is the argument's name, `values` a non-empty
    sequence of floats or Fractions, each >= 0, that sums to 1 (floats
    up to 1e-12).
    Returns: a 1-d array, float64 or (for Fractions) object.
    Raises: ValueError naming argument, value and allowed range.
    Source: chapter 1, "Refuse bad input".

    >>> check_probabilities("p", [0.25, 0.75])
    array([0.25, 0.75])
    """
    try:
        array: NDArray[Any] = np.asarray(values)
    except ValueError:  # rows of unequal length
        array = np.empty((0, 0))
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must be a non-empty list of probabilities, got {values!r}"
        )
    if array.dtype.kind != "O":
        array = check_range(name, array, 0, 1)
    elif not all(
        isinstance(x, (int, float, Fraction)) and 0 <= x <= 1 for x in array
    ):
        raise ValueError(f"{name} must lie in [0, 1], got {values!r}")
    if abs(math.fsum(array) - 1) > 1e-12:
        raise ValueError(
            f"{name} must sum to 1, got {values!r} "
            f"with the sum {math.fsum(array)!r}"
        )
    return array


def as_given(result: Floats) -> Any:
    """Return a float for a 0-d array and the array itself otherwise.

    Parameters: `result`, an array.
    Returns: the same numbers, unchanged.
    Source: chapter 1, "Refuse bad input".

    >>> as_given(np.array(0.5))
    0.5
    """
    return float(result) if result.ndim == 0 else result


def front_door(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """Make a public function independent of NumPy's error state.

    Parameters: `function`.
    Returns: the same function; it ignores `np.seterr` and names its
    keyword-only arguments when it gets too many without a name.
    Raises: TypeError (when called) for too many positional arguments.
    Source: chapter 1, "Refuse bad input".

    >>> @front_door
    ... def tail(x, *, y):
    ...     return float(np.exp(x - y))
    >>> with np.errstate(all="raise"):
    ...     tail(-800.0, y=0.0)
    0.0
    >>> tail(-800.0, 0.0)
    Traceback (most recent call last):
    ...
    TypeError: tail() takes 1 argument without a name; name the others: y=...
    """
    arguments = inspect.signature(function).parameters.values()
    named = [x.name for x in arguments if x.kind is x.KEYWORD_ONLY]
    most = len(arguments) - len(named)

    @functools.wraps(function)
    def call(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        if named and len(args) > most:
            raise TypeError(
                f"{function.__name__}() takes {most} argument"
                f"{'' if most == 1 else 's'} without a name; name the "
                f"others: {', '.join(f'{name}=...' for name in named)}"
            )
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return call


@front_door
def hockey_stick(p: Probabilities, q: Probabilities, alpha: Any) -> Any:
    r"""Hockey-stick divergence of two discrete distributions.

    Formula: $H_\alpha(P\|Q) = \sum_y \max(0, P(y) - \alpha Q(y))$.

    Parameters: `p`, `q` (P, Q) are two lists of probabilities over the
    same outcomes; `alpha` ($\alpha = e^\varepsilon \ge 0$) is a number
    or an array of numbers. Fractions (and whole alpha) stay exact.
    Returns: a number in [0, 1] for each alpha: exact for Fractions, else
    exact up to rounding (absolute error below 1e-15 per outcome).
    Raises: ValueError for lists of unequal length, values that are no
    probabilities, or alpha outside [0, inf).
    Source: Lebeda et al. (2024), Definition 3; chapter 1,
    "Discrete distributions".

    >>> from fractions import Fraction as F
    >>> hockey_stick([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)], F(2))
    Fraction(1, 4)
    """
    p, q = check_probabilities("p", p), check_probabilities("q", q)
    if len(p) != len(q):
        raise ValueError(
            f"p and q must have the same length, got {len(p)} and {len(q)}"
        )
    array = np.asarray(alpha)
    if array.dtype.kind != "O":
        check_range("alpha", alpha, 0, np.inf, "[)")
    elif not all(
        isinstance(x, (int, float, Fraction)) and 0 <= x < np.inf
        for x in array.flat
    ):
        raise ValueError(f"alpha must lie in [0, inf), got {alpha!r}")
    excess = p - np.multiply.outer(array, q)
    result = np.maximum(excess, 0).sum(axis=-1)
    return as_given(result) if isinstance(result, np.ndarray) else result


def product_minus(x: Floats, y: Floats, z: Floats | float) -> Floats:
    r"""The number x y - z, as if the product were not rounded.

    Formula: $xy = h + e$ in floats, $h$ the rounded product; then
    $(h - z) + e$.

    Parameters: `x`, `y`, `z`, arrays; x and y between 1e-100 and 1e150 in
    size, so that no part overflows or underflows.
    Returns: $xy - z$, relative error below $4u$ with $u = 2^{-53}$.
    Source: Dekker (1971); chapter 1, "Discrete distributions".

    >>> third, three = np.array(1 / 3), np.array(3.0)
    >>> float(third * three - 1), float(product_minus(third, three, 1.0))
    (0.0, -5.551115123125783e-17)
    """
    halves = []
    for number in (x, y):
        scaled = 134217729.0 * number  # 2**27 + 1
        high = scaled - (scaled - number)
        halves.append((high, number - high))
    (a, b), (c, d) = halves
    product = x * y
    error = ((a * c - product) + a * d + b * c) + b * d
    return np.asarray((product - z) + error, dtype=np.float64)


def mills_ratio(x: Floats) -> Floats:
    r"""Mills' ratio of the standard normal distribution.

    Formula: $m(x) = \Phi(-x)/\varphi(x)$.

    Parameters: `x`, an array of numbers above -37 (below, it overflows).
    Returns: m(x), relative error below 1e-15 for x >= 0 and below
    $(1 + x^2)$ 1e-15 for x < 0.
    Source: chapter 1, "Gaussian noise".

    >>> round(float(mills_ratio(np.array(0.0))), 6)
    1.253314
    """
    result = math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2))
    return np.asarray(result, dtype=np.float64)


GAUSS_RULE = tuple(  # nodes and weights; arrays from bytes are read-only
    np.frombuffer(x.tobytes()) for x in np.polynomial.legendre.leggauss(16)
)


def gaussian_edges(epsilon: Floats, mu: Floats) -> tuple[Floats, Floats]:
    r"""The two edges a and b of the Gaussian curve.

    Formula: $a = \varepsilon/\mu - \mu/2$ and $b = a + \mu$.

    Parameters: `epsilon` ($\varepsilon \ge 0$), `mu` ($\mu > 0$), arrays
    of one shape.
    Returns: a and b; a is cut at -1e100 and 1e100, where its square does
    not overflow and the curve is 1 or 0.
    Error: of a, below $8 u |a|$ for mu >= 1, $2 u (|a| + \mu)$ below.
    Source: chapter 1, "Gaussian noise".

    >>> float(gaussian_edges(np.array(2.0), np.array(2.0))[1])
    2.0
    """
    plain = epsilon / mu - mu / 2
    # mu = m 2^k: a = -(m^2/2 - epsilon 2^(-2k)) 2^k / m.
    m, k = np.frexp(np.maximum(mu, 1.0))
    left = product_minus(m, m / 2, np.ldexp(epsilon, -2 * k))
    a = np.where(mu >= 1, np.ldexp(-left / m, k), plain)
    a = np.clip(a, -1e100, 1e100)
    return a, a + mu


@front_door
def gaussian_delta(epsilon: ArrayLike, *, mu: ArrayLike) -> Any:
    r"""Exact privacy curve of two unit Gaussians whose means differ by mu.

    Formula: $\delta(\varepsilon) = \Phi(-a) - e^\varepsilon \Phi(-b)$ with
    $a = \varepsilon/\mu - \mu/2$ and $b = a + \mu$.

    Parameters: `epsilon` ($\varepsilon$, any sign), `mu` ($\mu \ge 0$:
    distance of the means in standard deviations); numbers or arrays.
    Returns: delta in [0, 1], shape of the broadcast arguments.
    Raises: ValueError for NaN, infinite epsilon, mu outside [0, inf).
    Error: rounding only. For every mu and epsilon the relative error is
    below 1e-12 while delta >= 1e-300, below 1e-13 while delta > 1e-20.
    Source: Balle and Wang (2018), Theorem 8; chapter 1,
    "Gaussian noise".

    >>> gaussian_delta(1.0, mu=1.0)
    0.1269367375066438
    """
    epsilon = check_range("epsilon", epsilon, -np.inf, np.inf, "()")
    mu = check_range("mu", mu, 0, np.inf, "[)")
    epsilon, mu = np.broadcast_arrays(epsilon, mu)
    distance = np.where(mu > 0, mu, 1.0)
    a, b = gaussian_edges(np.abs(epsilon), distance)
    density = np.exp(-(a**2) / 2) / math.sqrt(2 * math.pi)
    # Far apart: Phi(-a) - phi(a) m(b), where m is Mills' ratio.
    far = np.where(
        a > 0,
        density * (mills_ratio(np.maximum(a, 0)) - mills_ratio(b)),
        ndtr(-a) - density * mills_ratio(b),
    )
    # Close together: integrate -m'(x) = 1 - x m(x) over [a, b].
    delta, close = far, distance < 1
    if np.any(close):
        nodes, weights = GAUSS_RULE
        width = np.minimum(distance, 1.0)
        points = (
            np.maximum(a, -0.5)[..., None] + width[..., None] * (1 + nodes) / 2
        )
        slope = 1 - points * mills_ratio(points)
        near = density * width * (slope @ weights) / 2
        delta = np.where(close, np.maximum(near, 0), far)
    delta = np.where(mu > 0, delta, 0.0)
    # Swap identity for negative epsilon.
    below = np.minimum(epsilon, 0)
    return as_given(-np.expm1(below) + np.exp(below) * delta)


@front_door
def gaussian_epsilon(delta: ArrayLike, *, mu: ArrayLike) -> Any:
    r"""Smallest epsilon >= 0 of two unit Gaussians with means mu apart.

    Formula: the root of $\delta(\varepsilon) = \delta$, or 0 where
    $\delta(0) \le \delta$.

    Parameters: `delta` ($\delta$ in [0, 1]), `mu` ($\mu \ge 0$); numbers
    or arrays.
    Returns: epsilon in [0, inf]; inf for delta = 0 and mu > 0, and where
    epsilon exceeds the largest float (mu above 1e154).
    Raises: ValueError for NaN, delta outside [0, 1], mu outside [0, inf).
    Error: rounding only, for delta = 0 or >= 1e-300: absolute error below
    1e-13 (epsilon + min(mu, 1)). Where delta(0) and delta agree to many
    digits, epsilon is near 0 and its relative error is larger.
    Source: Balle and Wang (2018), Theorem 8; chapter 1, "Gaussian noise".

    >>> round(gaussian_epsilon(1e-6, mu=1.0), 6)
    4.886554
    """
    delta = check_range("delta", delta, 0, 1)
    mu = check_range("mu", mu, 0, np.inf, "[)")
    delta, mu = np.broadcast_arrays(delta, mu)
    zero = np.asarray(gaussian_delta(0.0, mu=mu)) <= delta
    solve = ~zero & (delta > 0)
    target, distance = np.where(solve, delta, 0.1), np.where(solve, mu, 1.0)
    # delta(epsilon) < Phi(-a), so the root lies below the epsilon of a.
    high = distance * (distance / 2 + np.maximum(-ndtri(target), 0))
    high += 1e-300

    def excess(x: Any, d: Any, m: Any) -> Any:
        a, b = gaussian_edges(x, m)
        density = np.exp(-(a**2) / 2) / math.sqrt(2 * math.pi)
        rest = ndtr(a) + density * mills_ratio(b)  # 1 - delta(x)
        value = np.maximum(gaussian_delta(x, mu=m), 5e-324)
        return np.where(
            d > 0.5, np.log((1 - d) / rest), np.log(value) - np.log(d)
        )

    most = np.minimum(high, np.finfo(np.float64).max)
    root = find_root(
        excess, (np.zeros_like(high), most), args=(target, distance)
    )
    # For huge mu the bracket closes: `high` is the root up to rounding.
    positive = np.where(root.success, root.x, high)
    result = np.where(zero, 0.0, np.where(delta > 0, positive, np.inf))
    return as_given(result)


@front_door
def laplace_delta(epsilon: ArrayLike, *, scale: ArrayLike) -> Any:
    r"""Exact privacy curve of the Laplace mechanism with sensitivity 1.

    Formula: $\delta(\varepsilon) = 1 - e^{(\varepsilon - 1/s)/2}$ for
    $|\varepsilon| \le 1/s$, and $\max(0, 1 - e^\varepsilon)$ outside.

    Parameters: `epsilon` ($\varepsilon$, any sign), `scale` ($s > 0$:
    scale of the noise divided by the sensitivity); numbers or arrays.
    Returns: delta in [0, 1], shape of the broadcast arguments.
    Raises: ValueError for NaN, infinite epsilon, scale outside (0, inf).
    Error: rounding only; relative error below 2e-15 (below the smallest
    normal float, 2e-308: absolute error below 1e-323).
    Source: Balle, Barthe and Gaboardi (2018), Theorem 3; chapter 1,
    "Laplace noise".

    >>> round(laplace_delta(0.0, scale=1.0), 6)
    0.393469
    """
    epsilon = check_range("epsilon", epsilon, -np.inf, np.inf, "()")
    scale = check_range("scale", scale, 0, np.inf, "()")
    (x, i), (y, j) = np.frexp(epsilon), np.frexp(scale)
    k = np.clip(i + j, -1000, 1000)
    # epsilon - 1/s = (x y - 2^-k) 2^k / s, where epsilon s = x y 2^(i+j).
    beyond = np.ldexp(product_minus(x, y, np.ldexp(1.0, -k)), k - 1) / scale
    inside = -np.expm1(np.minimum(beyond, 0))
    outside = -np.expm1(np.minimum(epsilon, 0))
    return as_given(np.where(epsilon >= -1 / scale, inside, outside) + 0.0)


@front_door
def monte_carlo_sample_size(
    error: float, *, failure_probability: float, points: int
) -> int:
    r"""Samples that suffice for k errors below t, with probability 1 - beta.

    Formula: $N = \lceil \ln(2k/\beta) / (2 t^2) \rceil$: Hoeffding's
    inequality at each of k points, and a union bound over them.

    Parameters: `error` ($t$ in (0, 1)), `failure_probability` ($\beta$
    in (0, 1)), `points` ($k \ge 1$: how many epsilons are estimated).
    Returns: N, a whole number: with N samples or more, all k estimates
    differ from their expectations by less than t with probability at
    least $1 - \beta$. By Hoeffding's inequality N suffices for every
    mechanism; for a given one fewer may do.
    Raises: ValueError for values outside these ranges.
    Error: never below the formula; above it by a relative 4e-15 at most,
    before it is rounded up.
    Source: Hoeffding (1963), Theorem 2; Lebeda et al. (2024), Section 5
    (whose printed number belongs to another beta: chapter 1,
    "Estimating by Monte Carlo").

    >>> monte_carlo_sample_size(1e-3, failure_probability=0.01, points=40)
    4493599
    """
    t = check_number("error", error, 0, 1, "()")
    beta = check_number("failure_probability", failure_probability, 0, 1, "()")
    k = check_count("points", points)
    logarithm = Fraction(math.log(2 * k) - math.log(beta))
    upward = logarithm * (1 + Fraction(1, 2**49))  # two logs, one difference
    return math.ceil(upward / (2 * Fraction(t) ** 2))
