"""Read what comes out of a box: plain values within limits, nothing else."""

import json
import math
from typing import Any

DIGITS = 300  # of a whole number
ITEMS = 200_000  # in all lists of one answer
DEPTH = 6
TEXT = 2_000  # characters


class Malformed(ValueError):
    """It is no value that can be judged."""


def read_value(line: bytes) -> Any:
    """One line of JSON as plain Python values.

    Infinities are values, because an epsilon may be infinite. NaN is not.
    Whole numbers have at most 300 digits, so that `float` takes all of them.
    """
    try:
        found = json.loads(
            line.decode("utf-8"), parse_int=_whole, parse_constant=_constant
        )
        check(found)
    except (ValueError, RecursionError, UnicodeError) as error:
        raise Malformed(str(error) or "this is no value") from None
    return found


def check(value: Any) -> None:
    """Raise Malformed where a value is too large or of another kind."""
    waiting, seen = [(value, 0)], 0
    while waiting:
        item, depth = waiting.pop()
        seen += 1
        if seen > ITEMS or depth > DEPTH:
            raise Malformed("the answer is too large")
        if isinstance(item, dict):
            waiting += [(x, depth + 1) for pair in item.items() for x in pair]
        elif isinstance(item, list):
            waiting += [(x, depth + 1) for x in item]
        elif isinstance(item, str) and len(item) > TEXT:
            raise Malformed("the answer is too large")


def number(value: Any) -> float:
    """A number that is none of JSON's other values; Malformed otherwise."""
    if type(value) not in (int, float):
        raise Malformed(f"a number was expected, got {shown(value)}")
    return float(value)


def numbers(value: Any, length: int | None = None) -> list[float]:
    """A list of numbers; of this length, if one is given."""
    if type(value) is not list:
        raise Malformed(f"a list of numbers was expected, got {shown(value)}")
    if length is not None and len(value) != length:
        raise Malformed(f"{length} numbers were expected, got {len(value)}")
    return [number(item) for item in value]


def shown(value: Any) -> str:
    """A value in a message: short, whatever it is."""
    if type(value) is float:
        return f"{value:.6g}"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _whole(text: str) -> int:
    if len(text) > DIGITS:
        raise Malformed(f"a whole number of more than {DIGITS} digits")
    return int(text)


def _constant(text: str) -> float:
    if text == "NaN":
        raise Malformed("NaN is no number")
    return math.inf if text == "Infinity" else -math.inf
