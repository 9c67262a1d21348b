# Generated from notebooks/gaussian_dp/regret.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What the one number hides

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $x$, $y$, $w$ | `x`, `y`, `w` | false-positive and false-negative rate; $w = 1 - y$ |
| $f$, $g$; $f_\mu$ | –, `gaussian_tradeoff` | the true trade-off function and a reported one; that of $\mu$ |
| $h_f$, $h_g$ | –, `promised` | their privacy curves, functions of $\alpha = e^\varepsilon$ |
| $\kappa(f, g)$, $\kappa$ | `regret` | what both error rates must be shifted by, $[0, 1]$ |
| $f^\kappa$ | `moved` | $f$ after a shift of both rates by $\kappa$ |
| $\mu$, $\mu_c$ | `mu` | Gaussian DP parameter; at a cut-off |
| $c$ | `cutoff` | error rates below it are left out |
| $\eta$ | `advantage` | largest $1 - x - y$ of any test, $h(1)$ |
| $d$ | `delta` | a piecewise linear function below $h_f$ |
| $\tau$ | – | threshold of a test of Laplace noise |
| $a$, $R(a)$, $\rho$ | `a`, –, `budget` | Rényi order, curve and zCDP slope, as in ch-renyi |
| $v$, $v'$ | – | quality of a candidate with and without the record |
| $t$, $p_t$ | `t`, `p` | largest loss of a choice, in $[0, \varepsilon]$; its probability under $P$ |
| $s$, $z$, $\zeta$ | – | $\log\frac{1-x}{x}$; $\Phi^{-1}(1 - x)$; the function that takes $s$ to $z$ |
| $\psi(a)$ | – | $\log \mathrm{E}_Q\, e^{aL}$ |
| $\varphi$, $\Phi$ | – | density and distribution function of the standard normal |
| $T$, $\gamma$, $\sigma$ | `count`, `rate`, `sigma` | number of steps, sampling rate, noise multiplier |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from accountlib.counting.composition import Bound
from accountlib.gaussian_dp.attackers import exact_mu, polygon_corners
from accountlib.gaussian_dp.certified_curves import (
    Lines,
    Profile,
    both_signs,
    lower_kinks,
    missed_at,
    run_profiles,
)
from accountlib.inputs import (
    Floats,
    as_given,
    check_number,
    check_range,
    front_door,
)
from accountlib.runs.one_call import directions
from accountlib.runs.releases import Adjacency, AdjacencyName, Release
from accountlib.worst_cases.closed_forms import gaussian_delta
from accountlib.worst_cases.dominating_pairs import UNIT

__all__ = [
    "regret_bound",
    "largest_mu",
    "GDPFit",
    "exact_fit",
    "profile_fit",
    "gdp",
]

# --- Regret


def regret_bound(alpha: Floats, delta: Floats, mu: float) -> float:
    r"""Upper bound of the regret of reporting mu.

    Formula: the largest $(h_\mu(\alpha) - d(\alpha))/(1 + \alpha)$ over
    the kinks with $\alpha \ge 1$.

    Parameters: `alpha`, `delta`, kinks of a lower bound of the privacy
    curve (`lower_kinks`), 1 among them; `mu` ($\mu \ge 0$, inf allowed).
    For alpha < 1 call it again with the pair read backwards.
    Returns: a number in [0, 1].
    Error: rounded up, by 1e-9 of the deltas of mu and by rounding.
    Source: Kaissis et al. (2024).

    >>> from accountlib.gaussian_dp.one_number import mu_from_pure_dp
    >>> a, d = np.exp([0.0, 1.0]), np.array([math.tanh(0.5), 0.0])
    >>> round(regret_bound(a, d, mu_from_pure_dp(1.0)), 6)
    0.057546
    """
    delta, alpha = delta[alpha >= 1], alpha[alpha >= 1]
    promised = np.ones(len(alpha))
    if mu < math.inf:
        promised = gaussian_delta(np.log(alpha), mu=mu) * (1 + 1e-9)
    hidden = float(np.max((promised - delta) / (1 + alpha)))
    return min(1.0, max(0.0, hidden * (1 + 8 * UNIT)))


# --- The call


def largest_mu(lines: Lines, mirror: Lines, cutoff: float, sign: int) -> float:
    r"""The largest mu over one half of a polygon, both errors >= c.

    Formula: $\max \mu(x, y)$ over the corners and the two crossings; at
    $x = c$ alone if there $y < c$.

    Parameters: `lines`, of a polygon $w = \min_i (d_i + \alpha_i x)$, and
    `mirror`, of the same one read backwards, as for `missed_at`; `cutoff`
    (c); `sign`, 1 to round up, -1 to round down.
    Returns: mu for the half with $\alpha \ge 1$ and for $x = c$; for the
    other half call it again with `lines` and `mirror` exchanged.
    Error: rounding, on the wanted side.
    Source: Lemma "Corners decide" and Definition "mu at a cut-off".

    >>> lines = np.exp([0.0, 1.0]), np.array([math.tanh(0.5), 0.0])
    >>> round(largest_mu(lines, lines, 1e-10, 1), 6)
    1.232035
    """
    alpha, delta = lines
    x, w, index = polygon_corners(alpha, delta, sign)
    own = (x >= cutoff) & (alpha[index[1:]] > 1)
    last = missed_at(cutoff, lines, mirror, sign)
    if last < cutoff:  # no test has both error rates
        own[:] = False
    w_last = float(np.min(delta + alpha * cutoff)) * (1 + sign * 16 * UNIT)
    x, w = np.append(x[own], cutoff), np.append(w[own], w_last)
    y = 1 - w
    if sign > 0:  # y grows as x falls
        y = np.maximum(y, missed_at(float(x[0]), lines, mirror, sign))
    y[-1] = last
    mu = np.where(y < 0.5, -ndtri(y), ndtri(np.minimum(w, 0.5))) - ndtri(x)
    k = int(np.count_nonzero(y[:-1] < cutoff))
    if k > 0:  # from corner k - 1 to corner k the polygon crosses y = c
        part = (y[k] - cutoff) / (y[k] - y[k - 1])
        at = x[k] + part * (x[k - 1] - x[k])
        mu = np.append(mu[k:], -ndtri(at) - ndtri(cutoff))
    return max(0.0, float(np.max(mu)) * (1 + sign * 1e-13) + sign * 1e-13)


@dataclass(frozen=True)
class GDPFit:
    r"""The Gaussian trade-off function that is reported for a mechanism.

    Formula: $f_\mu \le f$ where both error rates are at least c.

    Fields: `mu` ($\mu$, an upper bound); `regret` ($\kappa$, an upper
    bound of what mu hides); `cutoff` (c); `mu_lower`: no mu below it is
    valid at this cut-off; `exact`: the trade-off function is $f_\mu$
    itself, and the cut-off has no meaning.
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

    @front_door
    def delta(self, epsilon: ArrayLike) -> Any:
        r"""What the fit alone promises as (epsilon, delta)-DP.

        Formula: $\delta_\mu(\varepsilon) + c\,(1 + e^\varepsilon)$, at
        most 1; the last term only if the fit is not exact.

        Parameters: `epsilon` (in [0, 700]), a number or an array.
        Returns: an upper bound of delta, looser than that of the run.
        Raises: ValueError for epsilon outside [0, 700].
        """
        epsilon = check_range("epsilon", epsilon, 0, 700)
        tails = 0.0 if self.exact else self.cutoff
        bound = np.ones(epsilon.shape)
        if self.mu < math.inf:
            bound = gaussian_delta(epsilon, mu=self.mu) * (1 + 1e-9)
            bound += 1e-300 * (self.mu > 0)  # no underflow to 0
        bound = bound + tails * (1 + np.exp(epsilon)) * (1 + 1e-9)
        return as_given(np.minimum(bound, 1.0))


def exact_fit(mu: Bound, cutoff: float) -> GDPFit:
    r"""The fit of a run that is exactly Gaussian.

    Parameters: `mu`, an interval; `cutoff`, which has no meaning here.
    Returns: a GDPFit. Its regret is at most the width of the interval:
    delta grows with mu at the rate $\varphi(\mu/2 - \varepsilon/\mu) < 1/2$.

    >>> exact_fit(Bound(1.0, 1.0), 1e-10)
    GDPFit(mu=1.0, regret=0.0, cutoff=1e-10, mu_lower=1.0, exact=True)
    """
    regret = min(mu.upper - mu.lower, 1.0)
    return GDPFit(mu.upper, regret, cutoff, mu.lower, True)


def profile_fit(profiles: tuple[Profile, Profile], cutoff: float) -> GDPFit:
    r"""mu at a cut-off, and its regret, of a curve between bounds.

    Parameters: `profiles`, of a run and read backwards; `cutoff`.
    Returns: a GDPFit.
    Source: Lemma "A larger curve has a smaller mu", Lemma "Kinks decide".

    >>> from accountlib.engine.single_runs import run_curve
    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> at = np.linspace(0, 6, 30)
    >>> one = Profile(at, *run_curve(GaussianPair(1.0), at), 0.0)
    >>> fit = profile_fit((one, one), 1e-3)
    >>> fit.mu_lower <= 1.0 <= fit.mu < 1.01
    True
    """
    orders = [profiles, profiles[::-1]]
    if profiles[0] is profiles[1]:
        orders.pop()
    above = [both_signs(*order)[2:] for order in orders]
    below = [lower_kinks(*order) for order in orders]
    mu, least = (
        max(
            largest_mu(one, other, cutoff, sign)
            for one, other in zip(lines, lines[::-1], strict=True)
        )
        for lines, sign in ((above, 1), (below, -1))
    )
    regret = max(regret_bound(*lines, mu) for lines in below)
    return GDPFit(mu, regret, cutoff, min(least, mu))


@front_door
def gdp(
    releases: Release | Sequence[Release],
    *,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    cutoff: float = 1e-10,
    relative_width: float = 1e-4,
) -> GDPFit:
    r"""Gaussian DP of a whole training run: one number, and what it hides.

    Formula: the smallest $\mu$ with $f_\mu(x) \le f(x)$ wherever $x \ge c$
    and $f(x) \ge c$; regret $\sup_\alpha (h_\mu - h)/(1 + \alpha)$.

    Parameters: `releases`, `adjacency`, `group_size` as for `epsilon`;
    `cutoff` (c in [1e-250, 0.1]), see below; `relative_width` (in
    [1e-7, 0.1]), wanted distance of `mu` and `mu_lower`, roughly.
    Returns: a GDPFit. `mu` is on the safe side wherever both error rates
    are at least the cut-off; outside nothing is promised (for sampled
    Gaussians mu would climb to its value without sampling). Where no
    test has both, mu is the larger value where one rate is c; inf if f(c)
    cannot be told from 0 (losses above 600). `regret`
    is an upper bound over all error rates. Use `GDPFit.delta` to turn the
    fit into an (epsilon, delta); do not compose fits, compose releases.
    Raises: ValueError for bad values, NotImplementedError for what no
    theorem of the book covers.
    Error: all errors are in `mu`, `mu_lower` and `regret`.
    Source: Gomez et al. (2025), Section 4.

    >>> from accountlib.runs.mechanisms import Gaussian
    >>> from accountlib.runs.releases import Poisson
    >>> run = Release(Gaussian(9.4), Poisson(16384 / 50000), count=2000)
    >>> fit = gdp(run, adjacency="add-or-remove")
    >>> round(fit.mu, 2), fit.regret < 0.0011, fit.is_good
    (1.57, True, True)
    """
    cutoff = check_number("cutoff", cutoff, 1e-250, 0.1)
    check_number("relative_width", relative_width, 1e-7, 0.1)
    exact = exact_mu(directions(releases, adjacency, group_size))
    if exact is not None:
        return exact_fit(exact, cutoff)
    profiles = run_profiles(
        releases, adjacency, group_size, cutoff, relative_width
    )
    return profile_fit(profiles, cutoff)
