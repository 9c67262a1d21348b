# Generated from notebooks/divergences.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Measuring privacy with divergences

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $M$, $(D, D')$ | – | a mechanism; an ordered pair of data sets |
| $P$, $Q$ | `p`, `q` | output distributions with the record and without it |
| $y$, $z$ | – | outputs |
| $\varepsilon$, $\alpha$ | –, `alpha` | privacy parameter, any real number; $\alpha = e^{\varepsilon}$ |
| $\delta$ | – | privacy parameter, a probability in $[0, 1]$ |
| $H_\alpha(P \Vert Q)$, $h(\alpha)$ | `hockey_stick` | hockey-stick divergence, in $[0, 1]$ |
| $L$ | – | privacy loss $\log(dP/dQ)$, in $[-\infty, \infty]$ |
| $S$, $S^*$ | `event` | an event, that is, a set of outputs; the one with the largest excess |
| $K(z \mid y)$ | `kernel` | chance that a procedure turns the output $y$ into $z$, on this page only |
| $\Pr_P$, $E_P$ | – | probability and expectation of outputs drawn from $P$ |
| $x_+$ | – | positive part, $\max(0, x)$ |
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from accountlib.inputs import (
    Floats,
    Probabilities,
    as_given,
    check_range,
    check_two_laws,
    front_door,
)

__all__ = ["hockey_stick", "two_product", "product_minus"]

# --- Code: discrete distributions


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
    Source: Lebeda et al. (2024), Definition 3.

    >>> from fractions import Fraction as F
    >>> hockey_stick([F(3, 4), F(1, 4)], [F(1, 4), F(3, 4)], F(2))
    Fraction(1, 4)
    """
    p, q = check_two_laws(p, q)
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


# --- Code: a product without rounding


def two_product(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    r"""A product of floats, and what its rounding took away: exact.

    Parameters: `a`, `b`, numbers or arrays below 1e290, with a product that
    is 0 or above 1e-290 (what is smaller may lose its second float).
    Returns: the rounded product, and the difference of the exact one and it.
    Source: Dekker (1971), Section 5.

    >>> x = 1 + 2.0**-30
    >>> product, rest = two_product(x, x)
    >>> float(product - 1 - 2.0**-29), float(rest) == 2.0**-60
    (0.0, True)
    """
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    many = 2.0**27 + 1  # cuts a float into two halves
    a_wide, b_wide = many * a, many * b
    a_top, b_top = a_wide - (a_wide - a), b_wide - (b_wide - b)
    a_low, b_low = a - a_top, b - b_top
    product = np.asarray(a * b)
    rest = (a_top * b_top - product) + a_top * b_low + a_low * b_top
    return product, np.asarray(rest + a_low * b_low)


def product_minus(x: Floats, y: Floats, z: Floats | float) -> Floats:
    r"""The number x y - z, as if the product were not rounded.

    Parameters: `x`, `y`, `z`, arrays; x and y between 1e-100 and 1e150 in
    size, so that no part overflows or underflows.
    Returns: $xy - z$, relative error below $4u$ with $u = 2^{-53}$.
    Source: Dekker (1971).

    >>> third, three = np.array(1 / 3), np.array(3.0)
    >>> float(third * three - 1), float(product_minus(third, three, 1.0))
    (0.0, -5.551115123125783e-17)
    """
    product, rest = two_product(x, y)
    return np.asarray((product - z) + rest)
