# Generated from notebooks/checks.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Which inputs are served?."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Floats",
    "UNIT",
    "check",
    "check_fields",
    "check_list",
    "check_probabilities",
]

# --- The one check

Floats = NDArray[np.float64]
UNIT = 2.0**-53  # unit round-off of double precision


def check(
    name: str, value: object, low: float, high: float, whole: bool = False
) -> Any:
    """A number or an array of numbers in a range, or a refusal.

    Parameters: `name` of the argument; `value`, as the caller gave it;
    `low`, `high`, both allowed; `whole`: one whole number is wanted.
    Returns: a float, an int if `whole`, or an array of floats.
    Raises: ValueError that names the argument, the range and the value.

    >>> check("rate", 1, 0, 1), check("count", 3.0, 1, 1e9, whole=True)
    (1.0, 3)
    >>> check("count", 2.5, 1, 1e9, whole=True)
    Traceback (most recent call last):
    ValueError: count must be a whole number in [1, 1e9], got 2.5
    """
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        array = np.asarray(None)
    fine = array.dtype.kind in "iuf" and bool(
        np.all((array >= low) & (array <= high))
    )
    if not fine or (whole and (array.ndim or array != np.floor(array))):
        what = "be a whole number" if whole else "lie"
        ends = f"[{low:g}, {high:g}]".replace("e+0", "e").replace("e-0", "e-")
        raise ValueError(f"{name} must {what} in {ends}, got {value!r}")
    if whole:
        return int(array)
    return float(array) if array.ndim == 0 else array.astype(float)


def check_fields(record: object, **ranges: tuple[Any, ...]) -> None:
    """Check fields of a frozen record, and keep what `check` returns.

    Parameters: `record`; for each field its range, and True if it is whole.
    Raises: ValueError as `check`, and for a list in place of a number.
    """
    for name, limits in ranges.items():
        given = getattr(record, name)
        value = check(name, given, *limits)
        if np.ndim(value) > 0:
            raise ValueError(f"{name} must be one number, got {given!r}")
        object.__setattr__(record, name, value)


def check_list(name: str, values: object, high: float) -> tuple[float, ...]:
    """A list of numbers in [0, high] as a tuple, or a refusal."""
    found = check(name, values, 0, high)
    if np.ndim(found) != 1:
        raise ValueError(f"{name} must be a list of numbers, got {values!r}")
    return tuple(found.tolist())


def check_probabilities(name: str, values: object) -> tuple[float, ...]:
    """The same for probabilities, whose sum must be 1 up to 1e-12."""
    found = check_list(name, values, 1)
    total = math.fsum(found)
    if abs(total - 1) > 1e-12:
        raise ValueError(
            f"{name} must sum to 1, got {values!r} with the sum {total!r}"
        )
    return found
