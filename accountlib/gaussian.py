# Generated from notebooks/gaussian.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Which ends has a run of Gaussian steps?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\mu$ | `mu` | distance of the pair $N(\mu, 1)$ against $N(0, 1)$; $T$ steps with multiplier $\sigma$ have $\mu = \sqrt T/\sigma$ |
| $a$ | `a` | $\varepsilon/\mu - \mu/2$, the outcome (less $\mu$) where the loss is $\varepsilon$, with its sign turned |
| $m(x)$ | – | $\sqrt{\pi/2}\,e^{x^2/2}\,\mathrm{erfc}(x/\sqrt2)$, the tail over the density |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math

import numpy as np
from scipy.special import erfcx, ndtr

from accountlib.checks import UNIT, Floats

__all__ = ["gaussian_bounds", "gaussian_epsilon_bounds"]

# --- One formula


def gaussian_bounds(epsilon: Floats, mu: float) -> tuple[Floats, Floats]:
    """Lower and upper bound of the delta of N(mu, 1) against N(0, 1)."""
    a = epsilon / mu - mu / 2
    with np.errstate(over="ignore", under="ignore"):
        density = np.exp(-a * a / 2) / 2  # times erfcx: a normal tail
        beyond = density * erfcx((a + mu) / math.sqrt(2))
        first = np.where(a > 0, density * erfcx(a / math.sqrt(2)), ndtr(-a))
    size = np.abs(a) + 2
    wrong = UNIT * (32 + 8 * size * (epsilon / mu + mu) + 8 * size**2)
    turned = np.where(a > 0, first, density + beyond)
    value = first - beyond
    error = 32 * UNIT * first + wrong * turned + 1e-300
    return np.fmax(value - error, 0.0), np.fmin(value + error, 1.0)


# --- The inverse


def gaussian_epsilon_bounds(delta: Floats, mu: float) -> tuple[Floats, Floats]:
    """Lower and upper bound of epsilon: the delta on its side is a proof."""
    ends = []
    for side in (0, 1):
        low = np.zeros_like(delta)
        high = np.full_like(delta, mu * (mu / 2 + 40))
        zero = gaussian_bounds(low, mu)[side] <= delta
        for _ in range(60):
            middle = (low + high) / 2
            over = gaussian_bounds(middle, mu)[side] > delta
            low, high = (
                np.where(over, middle, low),
                np.where(over, high, middle),
            )
        end = np.where(zero, 0.0, high if side else low)
        ends.append(np.where(delta > 0, end, np.inf))
    return ends[0], ends[1]
