# Generated from notebooks/regret.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What does it hide?."""

import math
from dataclasses import dataclass

import numpy as np

from accountlib.accountant import Releases
from accountlib.checks import UNIT, check
from accountlib.dominating_pairs import ShiftedNoise
from accountlib.gaussian import gaussian_bounds
from accountlib.gdp import mu_between
from accountlib.sampling import run_directions
from accountlib.tradeoff import Lines, TradeoffCurve, both_curves

__all__ = ["regret_bound", "GDPFit", "exact_fit", "fit", "gdp"]

# --- What does it hide?


def regret_bound(lines: Lines, mu: float) -> float:
    """The largest (h_mu - d)/(1 + alpha) over the kinks, rounded up."""
    alpha, delta = lines
    promised = np.full(len(alpha), float(mu > 0))
    if 0 < mu < math.inf:
        promised = gaussian_bounds(np.log(alpha), mu)[1]
    hidden = float(np.max((promised - delta) / (1 + alpha)))
    return min(1.0, max(0.0, hidden * (1 + 8 * UNIT)))


@dataclass(frozen=True)
class GDPFit:
    """A promise of Gaussian DP, and what it hides.

    Fields: `mu`, an upper bound where both error rates are at least `cutoff`;
    `regret`, at most; `mu_lower`, at least; `exact`: mu is the whole truth.
    """

    mu: float
    regret: float
    cutoff: float
    mu_lower: float = 0.0
    exact: bool = False

    @property
    def is_good(self) -> bool:
        """Whether mu is finite and its regret at most 0.01."""
        return self.mu < math.inf and self.regret <= 0.01


def exact_fit(
    releases: Releases, adjacency: str, group_size: int, cutoff: float
) -> GDPFit | None:
    """The fit of a run that is exactly that of two normals, or None."""
    ways = run_directions(releases, adjacency, group_size)
    steps = [step for way in ways for step in way.above]
    shifts = [
        pair.shifts[0]
        for pair, count in steps
        if count == 1 and isinstance(pair, ShiftedNoise) and pair.is_normal
    ]
    if len(shifts) < len(steps) or len(steps) > len(ways):
        return None
    mu = max(shifts, default=0.0)
    low, high = mu * (1 - 8 * UNIT), mu * (1 + 8 * UNIT)
    return GDPFit(high, min(high - low, 1.0), cutoff, low, True)


def fit(lower: TradeoffCurve, upper: TradeoffCurve, cutoff: float) -> GDPFit:
    """mu and its regret, of a curve between its bounds."""
    least, mu = mu_between(lower, upper, cutoff)
    regret = max(regret_bound(x, mu) for x in (upper.lines, upper.mirror))
    return GDPFit(mu, regret, cutoff, least)


def gdp(
    releases: Releases,
    *,
    adjacency: str,
    group_size: int = 1,
    cutoff: float = 1e-10,
    relative_width: float = 1e-4,
) -> GDPFit:
    """The smallest mu of Gaussian DP of a run, and its regret.

    Returns: mu and regret from above, and mu also from below.
    """
    cutoff = check("cutoff", cutoff, 1e-200, 0.1)
    exact = exact_fit(releases, adjacency, group_size, cutoff)
    if exact:
        return exact
    curves = both_curves(
        releases, adjacency, group_size, cutoff, relative_width
    )
    return fit(*curves, cutoff)
