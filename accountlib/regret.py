# Generated from notebooks/regret.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What does it hide?"""

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

# --- Why the quotient is the regret


def regret_bound(lines: Lines, mu: float) -> float:
    r"""The largest (h_mu - d)/(1 + alpha) over the kinks, rounded up.

    Formula: $\max_\alpha (h_\mu(\alpha) - d(\alpha))/(1 + \alpha)$.
    Parameters: `lines`, kinks with $\alpha \ge 1$ of a bound d <= h, 1 among
    them and 0 at the last; `mu` ($\mu$, 0 to inf).
    Returns: an upper bound of the regret of one direction, in [0, 1].
    Source: Lemma "Kinks decide".

    >>> lines = np.exp([0.0, 1.0]), np.array([math.tanh(0.5), 0.0])
    >>> round(regret_bound(lines, 1.2320353853), 6)
    0.057546
    """
    alpha, delta = lines
    promised = np.full(len(alpha), float(mu > 0))
    if 0 < mu < math.inf:
        promised = gaussian_bounds(np.log(alpha), mu)[1]
    hidden = float(np.max((promised - delta) / (1 + alpha)))
    return min(1.0, max(0.0, hidden * (1 + 8 * UNIT)))


# --- The call


@dataclass(frozen=True)
class GDPFit:
    r"""A promise of Gaussian DP, and what it hides.

    Formula: $f_\mu \le f$ where both error rates are at least c.
    Fields: `mu` ($\mu$, 0 to inf), an upper bound; `regret` ($\kappa$, in
    [0, 1]), an upper bound of what mu hides; `cutoff` (c); `mu_lower`: no mu
    below it is right; `exact`: the run is $f_\mu$, and c has no meaning.
    Source: Gomez et al. (2025), Section 4.

    >>> GDPFit(1.0, 0.005, 1e-10, 0.9999).is_good
    True
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
    """The fit of a run that is exactly that of two normals, or None.

    Parameters: as for `gdp`.
    Returns: a GDPFit whose mu has only its rounding between its ends, and
    whose regret is at most that width; None for any other run.
    Raises: as `gdp`.

    >>> from accountlib.mechanisms import Gaussian
    >>> from accountlib.sampling import Release
    >>> run = Release(Gaussian(4.0), count=16)
    >>> found = exact_fit(run, "remove", 1, 1e-10)
    >>> found.mu_lower <= 1 <= found.mu, found.exact
    (True, True)
    """
    ways = run_directions(releases, adjacency, group_size)
    steps = [step for way in ways for step in way.above]
    shifts = [  # run_directions has already joined plain normal steps to one
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
    """mu and its regret, of a curve between its bounds.

    Parameters: `lower`, `upper`, bounds of one trade-off function; `cutoff`.
    Returns: a GDPFit with mu and regret from above, mu_lower from below.
    Source: Lemmas "Regret on the other side" and "Kinks decide".
    """
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
    r"""The smallest mu of Gaussian DP of a run, and its regret.

    Formula: least $\mu$ with $f_\mu(x) \le f(x)$ wherever $x \ge c$ and
    $f(x) \ge c$; regret $\sup_\alpha (h_\mu - h)/(1 + \alpha)$.
    Parameters: `releases`, `adjacency`, `group_size` as for `epsilon`;
    `cutoff` (c, 1e-200 to 0.1); `relative_width` (1e-6 to 0.1), the distance
    of both ends of mu to aim at.
    Returns: a GDPFit: mu and regret from above, and mu also from below.
    Below the cut-off nothing is promised. Do not compose fits, compose
    releases.
    Raises: ValueError for other values; NotImplementedError where no theorem
    covers the run.
    Source: Gomez et al. (2025), Section 4; page-regret.

    >>> from accountlib.mechanisms import Gaussian
    >>> from accountlib.sampling import Poisson, Release
    >>> run = Release(Gaussian(9.4), Poisson(16384 / 50000), count=2000)
    >>> found = gdp(run, adjacency="add-or-remove")
    >>> round(found.mu, 2), found.regret < 0.0011, found.is_good
    (1.57, True, True)
    """
    cutoff = check("cutoff", cutoff, 1e-200, 0.1)
    run = releases, adjacency, group_size, cutoff
    return exact_fit(*run) or fit(*both_curves(*run, relative_width), cutoff)
