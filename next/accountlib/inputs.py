# Generated from notebooks/inputs.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Refusing bad input."""

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Floats",
    "Probabilities",
    "Params",
    "Result",
    "check_range",
    "check_number",
    "check_count",
    "check_probabilities",
    "check_two_laws",
    "check_kind",
    "check_function",
    "check_choice",
    "as_given",
    "read_only",
    "front_door",
]

# --- Code: numbers

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
    name: str, value: ArrayLike, low: float, high: float, ends: str = "[]"
) -> float:
    """Return `value` as one float, or say what is wrong with it.

    Parameters: as for `check_range`, but arrays and lists are refused.
    Returns: the value as a Python float.
    Raises: ValueError naming argument, value and allowed interval.

    >>> check_number("error", [0.1, 0.2], 0, 1)
    Traceback (most recent call last):
    ...
    ValueError: error must be one number in [0, 1], got [0.1, 0.2]
    """
    if type(value) is float and low < value < high:
        return value
    if np.ndim(value) != 0:
        raise ValueError(
            f"{name} must be one number in "
            f"{ends[0]}{low:g}, {high:g}{ends[1]}, got {value!r}"
        )
    return float(check_range(name, value, low, high, ends))


def check_count(
    name: str, value: object, low: int = 1, high: float = math.inf
) -> int:
    """Return `value` as an int, or say why it is not a whole number.

    Parameters: `name` is the argument's name, `value` a whole number
    (a float such as 1e6 is accepted), `low` and `high` the smallest and
    the largest allowed one.
    Returns: the same number as a Python int.
    Raises: ValueError naming argument, value and allowed range.

    >>> check_count("count", 1e6)
    1000000
    >>> check_count("count", 2.5)
    Traceback (most recent call last):
    ...
    ValueError: count must be a whole number >= 1, got 2.5
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, np.integer, np.floating))
        or not (isinstance(value, int) or math.isfinite(value))
        or value != math.floor(value)
        or value < low
    ):
        raise ValueError(
            f"{name} must be a whole number >= {low}, got {value!r}"
        )
    if high < math.inf:
        check_number(name, value, low, high)
    return int(value)


# --- Code: lists, kinds and choices


def check_probabilities(name: str, values: Probabilities) -> NDArray[Any]:
    """Return `values` as an array of probabilities, or say what is wrong.

    Parameters: `name` is the argument's name, `values` a non-empty
    sequence of floats or Fractions, each >= 0, that sums to 1 (floats
    up to 1e-12).
    Returns: a 1-d array, float64 or (for Fractions) object.
    Raises: ValueError naming argument, value and allowed range.

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


def check_two_laws(
    p: Probabilities, q: Probabilities
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return two lists of probabilities of the same outcomes as arrays.

    Parameters: `p`, `q`, as for `check_probabilities`.
    Raises: as it does, and ValueError for lists of different lengths.

    >>> check_two_laws([0.5, 0.5], [1.0])
    Traceback (most recent call last):
    ...
    ValueError: p and q must have the same length, got 2 and 1
    """
    p, q = check_probabilities("p", p), check_probabilities("q", q)
    if len(p) != len(q):
        raise ValueError(
            f"p and q must have the same length, got {len(p)} and {len(q)}"
        )
    return p, q


def check_kind(
    name: str, value: object, kinds: type | tuple[type, ...]
) -> None:
    """Raise ValueError unless `value` is of one of the `kinds`.

    Parameters: `name`, the argument's name; `value`; `kinds`, a type or
    a tuple of types.
    Raises: ValueError naming argument, allowed types and value.

    >>> check_kind("rate", "0.8", (int, float))
    Traceback (most recent call last):
    ...
    ValueError: rate must be a int or float, got '0.8'
    """
    if not isinstance(value, kinds):
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        names = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"{name} must be a {names}, got {value!r}")


def check_function(name: str, value: object, which: str = "") -> None:
    """Raise ValueError unless `value` can be called.

    Parameters: `name`, the argument's name; `value`; `which`, words that
    say which function is meant.
    Raises: ValueError naming argument, function and value.

    >>> check_function("rdp", 0.5, " of the order")
    Traceback (most recent call last):
    ...
    ValueError: rdp must be a function of the order, got 0.5
    """
    if not callable(value):
        raise ValueError(f"{name} must be a function{which}, got {value!r}")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise ValueError unless `value` is one of the `choices`.

    Parameters: `name`, the argument's name; `value`; `choices`, a tuple.
    Raises: ValueError naming argument, choices and value.

    >>> check_choice("bound", "middle", ("upper", "lower"))
    Traceback (most recent call last):
    ...
    ValueError: bound must be one of ('upper', 'lower'), got 'middle'
    """
    if value not in choices:
        raise ValueError(f"{name} must be one of {choices}, got {value!r}")


# --- Code: the front door


def as_given(result: Floats) -> Any:
    """Return a float for a 0-d array and the array itself otherwise.

    Parameters: `result`, an array.
    Returns: the same numbers, unchanged.

    >>> as_given(np.array(0.5))
    0.5
    """
    return float(result) if result.ndim == 0 else result


def read_only(values: ArrayLike) -> Floats:
    """The same numbers in an array of their own that refuses changes.

    >>> read_only([0.5, 1.0]).flags.writeable
    False
    """
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


def front_door(function: Callable[Params, Result]) -> Callable[Params, Result]:
    """Make a public function independent of NumPy's error state.

    Parameters: `function`.
    Returns: the same function; it ignores `np.seterr` and names its
    keyword-only arguments when it gets too many without a name.
    Raises: TypeError (when called) for too many positional arguments.

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
