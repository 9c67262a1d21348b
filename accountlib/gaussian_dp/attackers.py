# Generated from notebooks/gaussian_dp/attackers.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What an attacker can do

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $P$, $Q$ | `member=True`, `False` | output distribution with the record, and without it |
| $S$ | – | the event on which the attacker accuses |
| $x$ | `false_positive` | false-positive rate: accused without having taken part, $[0, 1]$ |
| $y$ | `false_negative` | false-negative rate: took part and not found, $[0, 1]$ |
| $f(x)$ | `TradeoffCurve` | smallest false-negative rate at false-positive rate $x$ |
| $f_\mu$ | `gaussian_tradeoff` | the same for two unit normals whose means are $\mu$ apart |
| $\mu$ | `mu` | Gaussian DP parameter, $\ge 0$ |
| $z$ | `z` | place on the axis of a normal law; for a threshold, $\Phi^{-1}(1 - x)$ |
| $h(\alpha)$, $\alpha$ | –, `part` | privacy curve; $\alpha = e^\varepsilon$ |
| $\eta$ | `advantage` | largest $1 - x - y$ of any test, $\delta(0)$ |
| $\ell$, $\ell_i$ | `losses` | threshold for the loss; losses of a table |
| $p_i$, $q_i$, $p_\infty$ | `mass`, `q`, `infinity_mass` | their masses under $P$ and $Q$; mass of $P$ at infinity |
| $d_k$, $D_k$, $\alpha_k$; $\tilde x_k$, $\tilde w_k$ | `delta`, –, `alpha`; `x`, `w` | heights of lines, as given and as the corners have them, and their slopes; computed corners, $w = 1 - y$ |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
| $\theta$ | `theta` | the parameter of the small model that is attacked |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression
from scipy.special import ndtr, ndtri

from accountlib.counting.composition import Bound
from accountlib.counting.loss_tables import PrivacyLossDistribution
from accountlib.engine.one_sided import Losses
from accountlib.engine.single_runs import infinite_bound, loss_ceiling
from accountlib.inputs import (
    Floats,
    as_given,
    check_choice,
    check_kind,
    check_number,
    check_range,
    front_door,
)
from accountlib.worst_cases.closed_forms import gaussian_delta
from accountlib.worst_cases.dominating_pairs import UNIT
from accountlib.worst_cases.noise import GaussianPair

__all__ = [
    "gaussian_tradeoff",
    "dp_tradeoff",
    "TradeoffCurve",
    "table_tradeoff",
    "polygon_corners",
    "exact_mu",
    "exact_curve",
]

# --- Two normal laws


@front_door
def gaussian_tradeoff(false_positive: ArrayLike, *, mu: float) -> Any:
    r"""Smallest false-negative rate against two unit Gaussians, mu apart.

    Formula: $f_\mu(x) = \Phi(\Phi^{-1}(1 - x) - \mu)$.

    Parameters: `false_positive` (x in [0, 1]), a number or an array; `mu`
    ($\mu \ge 0$), distance of the means in standard deviations.
    Returns: a number in [0, 1] for each x, exact up to rounding.
    Raises: ValueError for values outside these ranges.
    Error: relative error below 1e-12 where the result exceeds 1e-300.
    Source: Dong, Roth and Su (2022), eq. 6.

    >>> round(gaussian_tradeoff(0.01, mu=1.0), 6)
    0.907638
    """
    x = check_range("false_positive", false_positive, 0, 1)
    mu = check_number("mu", mu, 0, np.inf, "[)")
    return as_given(np.asarray(ndtr(-ndtri(x) - mu)))


# --- From curve to curve


@front_door
def dp_tradeoff(
    false_positive: ArrayLike, *, epsilon: float, delta: float = 0.0
) -> Any:
    r"""Smallest false-negative rate that (epsilon, delta)-DP allows.

    Formula: $\max\{0,\, 1 - \delta - e^\varepsilon x,\,
    e^{-\varepsilon} (1 - \delta - x)\}$.

    Parameters: `false_positive` (x in [0, 1]), a number or an array;
    `epsilon` ($\varepsilon \ge 0$), `delta` ($\delta$ in [0, 1]), which
    hold in both directions.
    Returns: a number in [0, 1] for each x: a lower bound for every such
    mechanism, and reached by one of them.
    Raises: ValueError for values outside these ranges.
    Error: rounding; absolute error below 1e-15.
    Source: Kairouz, Oh and Viswanath (2015), Theorem 2.1.

    >>> round(dp_tradeoff(0.25, epsilon=math.log(3)), 12)
    0.25
    """
    x = check_range("false_positive", false_positive, 0, 1)
    epsilon = check_number("epsilon", epsilon, 0, np.inf, "[)")
    delta = check_number("delta", delta, 0, 1)
    if epsilon < 700:
        likely = math.exp(epsilon) * x
    else:  # in two steps: neither overflows where the result is below 1
        half = math.exp(min(epsilon, 1400.0) / 2)
        likely = half * x * half
    steep = 1 - delta - likely
    flat = math.exp(-epsilon) * (1 - delta - x)
    return as_given(np.maximum(np.maximum(steep, flat), 0.0))


# --- A table becomes a polygon


@dataclass(frozen=True, eq=False)
class TradeoffCurve:
    r"""A trade-off function, given by the corners of a polygon.

    Formula: $f(x)$ = smallest false-negative rate at false-positive rate
    x; straight lines between the corners.

    Parameters: `false_positive` (increasing, from 0 to 1),
    `false_negative` (one per corner, decreasing), `bound`: "lower" if no
    attacker does better than the curve, "upper" if one attains it or does
    better; `mu`, if the curve is exactly $f_\mu$ and the corners are
    points of it (default None).
    Raises: ValueError for lists of other kinds.
    Error: that of the corners; what is read off the curve is rounded to
    its side (down for "lower", and up for delta and the advantage).
    Source: Gomez et al. (2025), Algorithm 1.

    >>> coin = TradeoffCurve([0.0, 0.25, 1.0], [1.0, 0.25, 0.0], "lower")
    >>> [round(v, 6) for v in (coin(0.5), coin.advantage, coin.delta(1.0))]
    [0.166667, 0.5, 0.07043]
    """

    false_positive: Floats
    false_negative: Floats
    bound: str
    mu: float | None = None

    def __post_init__(self) -> None:
        for name in ("false_positive", "false_negative"):
            values = check_range(name, getattr(self, name), 0, 1).copy()
            if values.ndim != 1 or values.size < 2:
                raise ValueError(
                    f"{name} must list at least 2 rates, got {values!r}"
                )
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        x, y = self.false_positive, self.false_negative
        if len(x) != len(y) or x[0] != 0 or x[-1] != 1:
            raise ValueError(
                "false_positive must run from 0 to 1, with one "
                f"false_negative for each, got {x!r} and {y!r}"
            )
        if np.any(np.diff(x) < 0) or np.any(np.diff(y) > 0):
            raise ValueError(
                "false_positive must not decrease and false_negative must "
                f"not increase, got {x!r} and {y!r}"
            )
        rise, fall = np.diff(x), -np.diff(y)
        excess = fall[1:] * rise[:-1] - fall[:-1] * rise[1:]
        room = 1e-6 * (rise[1:] + rise[:-1])
        room += 1e-12 * (fall[1:] + fall[:-1]) + 1e-300
        if np.any(excess > room):
            raise ValueError(f"false_negative must be convex, got {y!r}")
        check_choice("bound", self.bound, ("lower", "upper"))
        if self.mu is not None:
            check_number("mu", self.mu, 0, np.inf, "[)")

    @property
    def _side(self) -> int:
        """-1 if rates are rounded down, 1 if they are rounded up."""
        return -1 if self.bound == "lower" else 1

    @front_door
    def __call__(self, false_positive: ArrayLike) -> Any:
        """The false-negative rate at a rate x, or at an array of them."""
        x = check_range("false_positive", false_positive, 0, 1)
        if self.mu is not None:
            y = np.asarray(gaussian_tradeoff(x, mu=self.mu))
            error = np.where((x > 0) & (x < 1), 1e-12 * y + 1e-300, 0.0)
            return as_given(np.clip(y + self._side * error, 0, 1))
        right = np.searchsorted(self.false_positive, x, side="right")
        k = np.minimum(right, len(self.false_positive) - 1)
        start, end = self.false_positive[k - 1], self.false_positive[k]
        top, low = self.false_negative[k - 1], self.false_negative[k]
        y = top - (top - low) * ((x - start) / np.maximum(end - start, 5e-324))
        y = y + self._side * 8 * UNIT * np.where(x > start, top, 0.0)
        return as_given(np.clip(y, low, top))

    @front_door
    def delta(self, epsilon: float) -> float:
        """delta at any real epsilon, on the other side of the truth."""
        epsilon = check_number("epsilon", epsilon, -700, 700)
        if self.mu is not None:
            exact = float(gaussian_delta(epsilon, mu=self.mu))
            found = exact - self._side * (1e-9 * exact + 1e-300)
        else:
            part = math.exp(epsilon) * self.false_positive
            corners = 1 - self.false_negative - part
            corners -= self._side * 8 * UNIT * (1 + part)
            found = float(np.max(corners))
        return min(max(0.0, found), 1.0)

    @property
    def advantage(self) -> float:
        """Largest 1 - x - y of any test, on the other side of the truth."""
        return self.delta(0.0)

    @property
    def equal_error_rate(self) -> float:
        """The rate x with f(x) = x, on the same side as the curve."""
        if self.mu is not None:
            rate = float(ndtr(-self.mu / 2))
            return max(0.0, rate + self._side * (1e-12 * rate + 1e-300))
        x, y = self.false_positive, self.false_negative
        k = int(np.argmax(y <= x))  # x runs to 1, so there is one
        if k == 0:
            return 0.0
        gap = (y - x)[k - 1 : k + 1]
        part = float(gap[0] / (gap[0] - gap[1]))
        found = float(x[k - 1]) + float(x[k] - x[k - 1]) * part
        return min(1.0, found * (1 + self._side * 8 * UNIT))


@front_door
def table_tradeoff(loss: PrivacyLossDistribution) -> TradeoffCurve:
    r"""Trade-off function of a privacy loss table, corner by corner.

    Formula: corners $(Q(L > \ell_i), P(L \le \ell_i))$, with
    $q_i = e^{-\ell_i} p_i$.

    Parameters: `loss`, an upper table made by connecting the dots (P and
    Q are both conserved), or a composition of such tables.
    Returns: a lower bound of the trade-off function of the pair.
    Raises: ValueError for tables of another side, or losses below -700.
    Error: rounding, counted: (n + 16 + 4 max |l|) u, relative, for n
    losses l, which the corners are moved down and to the left.
    Source: Gomez et al. (2025), Algorithm 1.

    >>> from accountlib.counting.loss_tables import PrivacyLossDistribution
    >>> table = PrivacyLossDistribution(math.log(3), -1, [0.25, 0, 0.75], 0.0)
    >>> round(table_tradeoff(table)(0.25), 12)
    0.25
    """
    check_kind("loss", loss, PrivacyLossDistribution)
    if loss.bound != "upper":
        raise ValueError(f"loss must be an upper table, got {loss.bound!r}")
    losses = check_range("losses", loss.losses, -700, np.inf)
    p, q = loss.mass, np.exp(-losses) * loss.mass
    above = np.append(np.cumsum(q[::-1])[::-1], 0.0)
    below = np.append(0.0, np.cumsum(p))
    room = 1 - UNIT * (len(p) + 16 + 4 * float(np.max(np.abs(losses))))
    room = max(0.0, room)  # of losses above 1e15 no digit is left
    x = np.append(room * np.minimum(above[::-1], 1), 1.0)
    y = room * np.minimum(below[::-1], 1 - loss.infinity_mass)
    return TradeoffCurve(x, np.append(y, 0.0), "lower")


# --- A polygon from lines


def polygon_corners(
    alpha: Floats, delta: Floats, sign: int = 0
) -> tuple[Floats, Floats, Floats]:
    r"""Corners of the polygon $w = \min_i (d_i + \alpha_i x)$.

    Parameters: `alpha` ($\alpha_i$, increasing), `delta` ($d_i$, not
    increasing); `sign`, 1 for a polygon that is nowhere below this one,
    -1 for one that is nowhere above it, 0 for the nearest floats.
    Returns: (x, w, index): the corners, x decreasing, and the positions
    of the lines that take part, one more than there are corners.
    Error: w is off by 10 u, relative, and by what lines that were left
    out pass below. If asked for, 64 u and twice the latter are counted.

    >>> x, w, _ = polygon_corners(np.array([1.0, 3.0]), np.array([0.5, 0.0]))
    >>> float(x[0]), float(w[0])
    (0.25, 0.75)
    """
    delta = np.minimum.accumulate(delta)
    index: Any = np.arange(len(alpha))
    x = np.array([0.0, 1.0])
    while np.any(np.diff(x) >= 0):  # rounding may need another turn
        a, d = alpha[index], delta[index]
        slopes = np.diff(d) / np.diff(a)
        blocks = isotonic_regression(slopes, weights=np.diff(a)).blocks
        if len(blocks) == len(index):  # nothing left to pool
            blocks = np.append(True, np.diff(slopes) > 0)
            blocks = np.append(np.flatnonzero(blocks), len(slopes))
        index = index[blocks]
        a, d = alpha[index], delta[index]
        x = np.maximum(-np.diff(d) / np.diff(a), 0)
    w = d[:-1] + a[:-1] * x
    if sign > 0:
        return x * (1 + 16 * UNIT), w * (1 + 64 * UNIT), index
    if sign < 0:  # the lines that were left out count, too
        k = np.searchsorted(index, np.arange(1, len(alpha)))
        chord = d[k] + x[k - 1] * (a[k] - alpha[1:])
        share = delta[1:] / np.where(chord > 0, chord, 1.0)
        missed = np.max(np.where(chord > 0, 1 - share, 0.0))
        room = 1 - 16 * UNIT - 2 * max(0.0, float(missed))
        return x * room, w * room * (1 - 48 * UNIT), index
    return x, w, index


# --- Runs that are exactly Gaussian


def exact_mu(ways: Sequence[Losses]) -> Bound | None:
    r"""mu of a run whose loss is exactly that of two Gaussians, or None.

    Formula: $\sqrt{\sum_j T_j \mu_j^2}$; 0 if nothing is revealed.

    Parameters: `ways`, the losses of each direction.
    Returns: an interval for mu, or None.
    Error: counted. Each $\mu_j$ is a quotient or product of given
    numbers, 2 u; root, factor and sum of squares: 6 u; twice that.
    Source: Dong, Roth and Su (2022), Corollary 3.3.

    >>> one = exact_mu([[(GaussianPair(5.0), 1)]])
    >>> one is not None and one.contains(5.0) and one.width < 1e-14
    True
    """
    most = [max(loss_ceiling(w).upper, infinite_bound(w).upper) for w in ways]
    if max(most) == 0:
        return Bound(0.0, 0.0)
    found = []
    for way in ways:
        pair, count = way[0]
        if (len(way), count) != (1, 1) or not isinstance(pair, GaussianPair):
            return None
        found.append(pair.mu)
    error = 16 * UNIT * max(found) + 1e-322
    return Bound(max(0.0, max(found) - error), max(found) + error)


def exact_curve(mu: Bound, bound: str, cutoff: float) -> TradeoffCurve:
    r"""The curve $f_\mu$ of a run that is exactly Gaussian.

    Parameters: `mu`, an interval; `bound`, "lower" or "upper"; `cutoff`,
    down to which error rate corners are kept (for figures; the curve is
    computed from mu).
    Returns: a TradeoffCurve on the wanted side.

    >>> exact_curve(Bound(1.0, 1.0), "lower", 1e-10).mu
    1.0
    """
    value = mu.upper if bound == "lower" else mu.lower
    z = np.linspace(ndtri(cutoff), -ndtri(cutoff), 1000)
    x = np.concatenate([[0.0], ndtr(z), [1.0]])
    y = gaussian_tradeoff(x, mu=value)
    return TradeoffCurve(x, np.minimum.accumulate(y), bound, value)
