# Generated from notebooks/checks.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Which inputs are served?"""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Floats",
    "UNIT",
    "check",
    "check_fields",
    "check_rate",
    "check_list",
    "check_probabilities",
    "WORDS",
    "said",
    "hear",
    "Bound",
    "outward",
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


def check_rate(rate: float) -> float:
    """A sampling rate: 0, or in [1e-9, 1].

    >>> check_rate(1)
    1.0
    """
    found = float(check("rate", rate, 0, 1))
    if 0 < found < 1e-9:
        raise ValueError(f"rate must be 0 or lie in [1e-9, 1], got {rate!r}")
    return found


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


# --- The words of other libraries

WORDS = {
    "count": "steps num_steps iterations",
    "noise_multiplier": "sigma noise std standard_deviation",
    "scale": "sigma noise b noise_multiplier",
    "the noise divided by it": "sensitivity l2_norm_clip max_grad_norm",
    "rate": "sample_rate sampling_rate sampling_probability",
    "batch_size": "sample_size",
    "dataset_size": "num_examples source_dataset_size",
    "delta": "target_delta",
    "epsilon": "target_epsilon",
}


def said(call: Any) -> Any:
    """A function whose TypeError names the word that is meant.

    >>> said(lambda *, count: count)(steps=3)
    Traceback (most recent call last):
    TypeError: <lambda>() got an unexpected keyword argument 'steps'; did you
    mean count?
    """

    @wraps(call)
    def heard(*given: Any, **named: Any) -> Any:
        try:
            return call(*given, **named)
        except TypeError as e:
            for word in named:
                right = [x for x in WORDS if word in WORDS[x].split()]
                if right and str(e).endswith(f"argument '{word}'"):
                    e.args = (f"{e}; did you mean {' or '.join(right)}?",)
            raise

    return heard


def hear(names: dict[str, Any]) -> None:
    """Wrap the public functions and records of a package, in place."""
    for name in names["__all__"]:
        one = names[name]
        if not isinstance(one, type):
            names[name] = said(one)
            setattr(sys.modules[one.__module__], name, names[name])
        elif "__init__" in vars(one):
            # On this class alone; mypy thinks of its subclasses.
            one.__init__ = said(one.__init__)  # type: ignore[misc]


# --- What comes out: an interval


@dataclass(frozen=True)
class Bound:
    """An interval that contains the truth; its ends may be arrays.

    Parameters: `lower`, `upper` (0 to infinity, lower <= upper).
    Returns: unpacks into its ends; `width` is (upper - lower)/upper; formats
    round outward.
    Raises: ValueError for other ends.

    >>> low, high = bound = Bound(0.98, 1.0)
    >>> f"{bound:.1f}", round(bound.width, 6), bound.contains(0.99)
    ('[0.9, 1.0]', 0.02, True)
    """

    lower: Any
    upper: Any

    def __post_init__(self) -> None:
        lower = check("lower", self.lower, 0, math.inf)
        upper = check("upper", self.upper, 0, math.inf)
        if not np.all(lower <= upper):
            raise ValueError(f"upper must be at least lower, got {self}")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def width(self) -> Any:
        """(upper - lower)/upper; 0 where both ends are equal."""
        equal = np.equal(self.lower, self.upper)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.fmin(1 - np.divide(self.lower, self.upper), 1.0)
        share = np.where(equal, 0.0, share)
        return float(share) if share.ndim == 0 else share

    def contains(self, value: ArrayLike) -> bool:
        """Whether lower <= value <= upper, for all of an array."""
        x = np.asarray(value)
        return bool(np.all((self.lower <= x) & (x <= self.upper)))

    def __iter__(self) -> Iterator[Any]:
        return iter((self.lower, self.upper))

    def __format__(self, form: str) -> str:
        rows = zip(np.ravel(self.lower), np.ravel(self.upper), strict=True)
        return ", ".join(
            f"[{outward(a, form, False)}, {outward(b, form, True)}]"
            for a, b in rows
        )


def outward(value: float, form: str, up: bool) -> str:
    """A number in a format, rounded up or down."""
    step, shown = 1e-17, float(value)
    while True:
        text = format(shown, form)
        back = float(text.rstrip("%")) / (100 if "%" in text else 1)
        if back >= value if up else back <= value:
            return text
        shown, step = value * (1 + step if up else 1 - step), 2 * step
