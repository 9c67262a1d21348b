# Generated from notebooks/beyond/odometers.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What has been spent so far?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $L_t$, $S_t$ | –, `spent` | privacy loss of the transcript up to step $t$, and its zCDP cost |
| $a_k$, $K$ | –, `levels` | orders, fixed beforehand, and their number |
| $\rho_0$ | `first` | the smallest total of interest |
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from accountlib.checks import check, check_fields

__all__ = ["ZCDPOdometer"]

# --- Lines that hold at all times


@dataclass(frozen=True)
class ZCDPOdometer:
    r"""What has been lost so far, valid at all steps at once.

    Formula: $\varepsilon_t = \min_k a_k S_t + \log(K/\delta)/(a_k - 1)$,
    $a_k = 1 + \sqrt{\log(K/\delta)/(2^k \rho_0)}$, $k = 0, \dots, K - 1$.

    Parameters: `delta` ($\delta$ in [1e-200, 0.9999]); `first` ($\rho_0$
    in [1e-9, 1e9]), the smallest total of interest; `levels` (K in 1 to
    60), doublings of it; `spent` (0 to 1e300). A cost is the zCDP parameter
    of a step. All but `spent` must be fixed before the first step.
    Returns: `epsilon` is an upper end of the loss, for the adjacency of
    the costs, at all steps at once with probability 1 - delta.
    Raises: ValueError for values outside these ranges.
    Error: rounded up, by 1e-14 of its value at most.
    Source: eq. (bud-odometer); odometers: Rogers et al. (2016).

    >>> start = ZCDPOdometer(1e-6, first=0.01)
    >>> round(start.after(0.5).epsilon, 3)
    6.343
    """

    delta: float
    first: float = field(kw_only=True)
    levels: int = field(default=20, kw_only=True)
    spent: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self, delta=(1e-200, 0.9999), first=(1e-9, 1e9))
        check_fields(self, levels=(1, 60, True), spent=(0, 1e300))

    def after(self, cost: float) -> "ZCDPOdometer":
        """The odometer after a step with this cost; the sum is rounded up."""
        total = self.spent + check("cost", cost, 0, 1e299)
        return replace(self, spent=math.nextafter(total, math.inf))

    @property
    def epsilon(self) -> float:
        share = math.log(self.levels) - math.log(self.delta)
        less = np.sqrt(share / (self.first * 2.0 ** np.arange(self.levels)))
        with np.errstate(over="ignore"):
            least = np.min((1 + less) * self.spent + share / less)
        return float(least) * (1 + 2**-47)  # some 16 roundings
