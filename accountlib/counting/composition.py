# Generated from notebooks/counting/composition.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Composing thousands of steps

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $T_j$ | `count` | how often part $j$ occurs, $\ge 1$ |
| $S$ | – | total loss, the sum of all losses |
| $\lambda$ | `tilt`, `order` | exponent of the tilt, $\ge 0$ |
| $\theta$ | `theta` | a further exponent, for the mass outside of a window, $> 0$ |
| $K(\lambda)$ | `log_moment` | log of the mean of $e^{\lambda S}$ under $P$, over finite $S$ only |
| $P_\lambda$, $E_\lambda$ | – | probability and mean under the tilted law |
| $\ell_k$, $\Delta$ | `losses`, `step` | losses of the grid, and their distance, in nats (natural logarithms) |
| $g$ | `gap` | how far a loss lies above $\varepsilon$ |
| $m_k$ | `mass`, `total` | tilted probability of the grid loss $\ell_k$ |
| $N$ | `size` | number of grid points of the circle |
| $p_\infty$ | `infinite` | probability of an infinite loss |
| $\gamma$ | `rate` | sampling rate of a step |
| $\alpha$ | – | $e^\varepsilon$ |
"""

import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    localcontext,
)
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from accountlib.counting.loss_tables import BoundKind, PrivacyLossDistribution
from accountlib.inputs import Floats, check_count, check_number

__all__ = [
    "directed",
    "Bound",
    "is_proven",
    "any_infinite",
    "SIDES",
    "Part",
    "log_moment",
    "chernoff_exponents",
    "chernoff_edges",
]

# --- Definition


def directed(value: float, form: str, rounding: str) -> str:
    """A number in a format, rounded to one side.

    Parameters: `value` (inf allowed); `form`, a format with as many digits
    as wanted (".3f", ".4g", ".2e", ".1%"); `rounding`, ROUND_FLOOR or
    ROUND_CEILING.
    Returns: the text. What it reads back as is on that side of the value,
    or the value.

    >>> directed(0.94651, ".3f", ROUND_FLOOR)
    '0.946'
    """
    if value == 0 or math.isinf(value):
        return format(value, form)
    with localcontext(Context(rounding=rounding)):
        text = format(Decimal(repr(value)), form)
    return re.sub(r"e([+-])(\d)$", r"e\g<1>0\2", text)  # as of floats


@dataclass(frozen=True)
class Bound:
    """An interval that contains the truth.

    Formula: lower <= truth <= upper.

    Parameters: `lower`, `upper` with 0 <= lower <= upper (inf allowed).
    `low, high = bound` unpacks; `f"{bound:.3f}"` prints "[low, high]",
    rounded outward, and `round(bound, 3)` is such a Bound; `bound < x`,
    `<=`, `>`, `>=` compare with a number, and are true only where the truth
    is on that side of x for certain: of `bound <= x` and `bound > x` both
    may be false. Two bounds are equal if their ends are, and have no order.
    Raises: ValueError for NaN, negative ends, or lower > upper; TypeError
    for an order of two bounds.

    >>> Bound(0.9, 1.0).contains(0.95), round(Bound(0.9, 1.0).width, 12)
    (True, 0.1)
    >>> f"{Bound(0.94651, 0.94749):.3f}"
    '[0.946, 0.948]'
    >>> round(Bound(0.94651, 0.94749), 3)
    Bound(lower=0.946, upper=0.948)
    >>> Bound(0.9, 1.1) <= 1.0, Bound(0.9, 1.1) > 1.0, Bound(0.9, 1.1) < 2.0
    (False, False, True)
    """

    lower: float
    upper: float

    __array_ufunc__ = None  # NumPy's numbers leave comparisons to a Bound

    def __post_init__(self) -> None:
        lower, upper = self.lower, self.upper
        if not (type(lower) is type(upper) is float and 0 <= lower <= upper):
            lower = check_number("lower", self.lower, 0, np.inf)
            upper = check_number("upper", self.upper, lower, np.inf)
            # What was given may not be a float: outward.
            if not is_proven(lower, operator.le, self.lower):
                lower = math.nextafter(lower, -math.inf)
            if not is_proven(upper, operator.ge, self.upper):
                upper = math.nextafter(upper, math.inf)
        object.__setattr__(self, "lower", abs(lower))  # no negative zero
        object.__setattr__(self, "upper", abs(upper))

    @property
    def width(self) -> float:
        """(upper - lower)/upper; 0 where both ends are equal."""
        if self.lower == self.upper:
            return 0.0
        if math.isinf(self.upper):
            return 1.0
        return (self.upper - self.lower) / self.upper

    def contains(self, value: ArrayLike) -> bool:
        """Whether lower <= value <= upper; for an array, all of them."""
        above = is_proven(self.lower, operator.le, value)
        return above and is_proven(self.upper, operator.ge, value)

    def __contains__(self, value: float) -> bool:
        return self.contains(value)

    def __iter__(self) -> Iterator[float]:
        return iter((self.lower, self.upper))

    def __lt__(self, number: ArrayLike) -> bool:
        return is_proven(self.upper, operator.lt, number)

    def __le__(self, number: ArrayLike) -> bool:
        return is_proven(self.upper, operator.le, number)

    def __gt__(self, number: ArrayLike) -> bool:
        return is_proven(self.lower, operator.gt, number)

    def __ge__(self, number: ArrayLike) -> bool:
        return is_proven(self.lower, operator.ge, number)

    def __format__(self, form: str) -> str:
        if not form:
            return str(self)
        low = directed(self.lower, form, ROUND_FLOOR)
        return f"[{low}, {directed(self.upper, form, ROUND_CEILING)}]"

    def __round__(self, digits: int = 0) -> "Bound":
        form = f".{check_count('digits', digits, 0, 400)}f"
        low = directed(self.lower, form, ROUND_FLOOR)
        high = directed(self.upper, form, ROUND_CEILING)
        return Bound(float(low), float(high))


def is_proven(
    ends: float | Floats,
    relation: Callable[[Any, Any], bool],
    numbers: ArrayLike,
) -> bool:
    """Whether ends and numbers are in a relation, all of them, unrounded.

    >>> is_proven(2.0**53, operator.lt, np.int64(2**53 + 1))
    True
    """
    if isinstance(numbers, Bound):
        raise TypeError(
            "two bounds have no order: compare an end with an end, such as "
            "one.upper < other.lower"
        )

    def holds(end: float, number: Any) -> bool:
        exact = number.item() if isinstance(number, np.generic) else number
        return relation(end, exact)

    given = np.asarray(numbers, dtype=object)
    with np.errstate(invalid="ignore"):  # NaN: nothing is proven
        return bool(np.all(np.frompyfunc(holds, 2, 1)(ends, given)))


# --- Mass at infinity


def any_infinite(masses: Sequence[tuple[float, int]]) -> float:
    r"""Probability that at least one of many losses is infinite.

    Formula: $1 - \prod_j (1 - p_j)^{T_j}$.

    Parameters: `masses`, pairs of a probability $p_j$ and a count $T_j$.
    Returns: the probability, relative error below $8u$, u = 2^-53: the
    logarithms have one sign, so nothing cancels.

    >>> any_infinite([(0.5, 2)])
    0.75
    """
    if len(masses) == 1 and masses[0][1] == 1:
        return masses[0][0]
    if any(p == 1 for p, _ in masses):
        return 1.0
    total = math.fsum(n * math.log1p(-p) for p, n in masses)
    return -math.expm1(total) + 0.0


# --- Which tilt?

SIDES: tuple[BoundKind, BoundKind] = ("upper", "lower")
Part = tuple[PrivacyLossDistribution, int]


def log_moment(parts: Sequence[Part], order: float) -> float:
    r"""Logarithm of the moment generating function of the total loss.

    Formula: $K(\lambda) = \sum_j T_j \ln \sum_i p_{ji} e^{\lambda \ell_i}$
    (finite losses under P).

    Parameters: `parts`, pairs of a distribution and its count $T_j$;
    `order` ($\lambda$, any real number).
    Returns: K, exact up to rounding; on the side of the parts.

    >>> coin = PrivacyLossDistribution(1.0, 0, [0.5, 0.5], 0.0)
    >>> round(log_moment([(coin, 2)], 1.0), 6)
    1.240229
    """
    total = 0.0
    for loss, count in parts:
        exponent = order * loss.losses + loss.log_mass
        top = float(np.max(exponent))
        if top == -math.inf:
            return top  # no finite mass at all
        total += count * (top + math.log(np.sum(np.exp(exponent - top))))
    return total


# --- Choosing the window


def chernoff_exponents(
    parts: Sequence[Part], tilt: float, log_tail: float
) -> tuple[float, float]:
    r"""Exponents for a short window of the tilted total loss.

    Formula: the $\theta$ with the smallest $(K(\lambda \pm \theta) -
    K(\lambda) - \ln \tau)/\theta$. Any other one is valid, too.

    Parameters: `parts`; `tilt` ($\lambda$); `log_tail` ($\ln \tau$),
    logarithm of the mass allowed on each side, relative to all finite mass.
    Returns: $\theta$ for the lower end and for the upper one.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.5, 0.0, 0.5], 0.0)
    >>> low, high = chernoff_exponents([(coin, 10_000)], 0.0, -28.0)
    >>> 0.07 < low < 0.08 and 0.07 < high < 0.08
    True
    """
    spread = sum(n * float(d.losses[-1] - d.losses[0]) for d, n in parts)
    if spread <= 0:
        return 1.0, 1.0  # all tables have one row
    spread = max(spread, 1e-290)  # its inverse is a float
    center = log_moment(parts, tilt)

    def reach(log_theta: float, sign: int) -> float:
        theta = math.exp(log_theta)
        growth = log_moment(parts, tilt + sign * theta) - center
        return (growth - log_tail) / theta

    low, high = (
        minimize_scalar(
            reach,
            bounds=(math.log(1 / spread), math.log(1e9 / spread)),
            args=(sign,),
            method="bounded",
            options={"xatol": 0.05},
        )
        for sign in (-1, 1)
    )
    return math.exp(low.x), math.exp(high.x)


def chernoff_edges(
    parts: Sequence[Part], tilt: float, log_tail: float
) -> tuple[float, float]:
    r"""Two losses outside which the tilted total loss has little mass.

    Formula: $P_\lambda(S \ge x) \le e^{K(\lambda + \theta) - K(\lambda) -
    \theta x}$ for every $\theta > 0$, and the mirror image.

    Parameters: as for `chernoff_exponents`.
    Returns: (low, high), inside the range of possible totals.
    Source: Chernoff (1952).

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.5, 0.0, 0.5], 0.0)
    >>> low, high = chernoff_edges([(coin, 10_000)], 0.0, -28.0)
    >>> -760 < low < -740 and 740 < high < 760
    True
    """
    bottom = sum(n * float(d.losses[0]) for d, n in parts)
    top = sum(n * float(d.losses[-1]) for d, n in parts)
    center = log_moment(parts, tilt)
    low, high = chernoff_exponents(parts, tilt, log_tail)
    below = log_moment(parts, tilt - low) - center - log_tail
    above = log_moment(parts, tilt + high) - center - log_tail
    return max(-below / low, bottom), min(above / high, top)
