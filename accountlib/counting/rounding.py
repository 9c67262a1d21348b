# Generated from notebooks/counting/rounding.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""The same, with every error counted

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\lambda$ | `tilt` | exponent of the tilt, $\ge 0$ |
| $K$ | `log_scale` | log of the mean of $e^{\lambda S}$ for the total loss $S$, over finite $S$ only |
| – | `scale_error` | bound of the rounding error of $K$ |
| $\ell_k$, $\Delta$ | `losses`, `step` | losses of the grid, and their distance |
| $m_k$ | `mass` | tilted probability of the grid loss $\ell_k$ |
| $N$ | `size` | number of grid points of the circle |
| $T$ | `count` | number of steps |
| $z$ | `transform` | an entry of a transform |
| $\eta$ | `stages` | bound of the error of $z$ |
| $E$ | `entry_error` | bound of the rounding error of each $m_k$ |
| $\tau$ | `tail` | tilted mass outside of the window, each side |
| $p_\infty$ | – | probability of an infinite loss |
| $a_k$, $c_k$ | `above` | weighted sums of the masses above $\ell_k$ |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math

__all__ = ["log_peak"]

# --- Reading off delta and epsilon


def log_peak(tilt: float) -> float:
    r"""Logarithm of the largest $e^{-\lambda x} (1 - e^{-x})$ over x >= 0.

    Formula: $\lambda \ln \lambda - (1 + \lambda) \ln(1 + \lambda)$.

    Parameters: `tilt` ($\lambda \ge 0$).

    >>> round(math.exp(log_peak(1.0)), 12)
    0.25
    """
    if tilt == 0:
        return 0.0
    return -tilt * math.log1p(1 / tilt) - math.log1p(tilt)
