# Generated from notebooks/divergences.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Which δ belongs to ε = 1?"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from accountlib.checks import check, check_probabilities

__all__ = ["hockey_stick"]

# --- Code: two lists of probabilities


def hockey_stick(p: ArrayLike, q: ArrayLike, alpha: ArrayLike) -> Any:
    r"""Hockey-stick divergence of two lists of probabilities.

    Formula: $H_\alpha(P\|Q) = \sum_y \max(0, P(y) - \alpha Q(y))$.
    Parameters: `p`, `q` (P, Q), probabilities of the same outcomes; `alpha`
    ($\alpha = e^\varepsilon$ in [0, 1e300]), a number or an array.
    Returns: a number for each alpha, in [0, 1] up to rounding. No bound:
    that adds up to 1e-16 (1 + alpha q) for each outcome.
    Raises: ValueError for other values, and for lists of unequal length.
    Source: Lebeda et al. (2024), Definition 3.

    >>> hockey_stick([0.75, 0.25], [0.25, 0.75], 2)
    0.25
    """
    p, q = check_probabilities("p", p), check_probabilities("q", q)
    if len(p) != len(q):
        raise ValueError(f"p and q must have the same length, got {p}, {q}")
    alphas = check("alpha", alpha, 0, 1e300)
    excess = np.array(p) - np.multiply.outer(alphas, q)
    found = np.maximum(excess, 0).sum(-1)
    return float(found) if found.ndim == 0 else found
