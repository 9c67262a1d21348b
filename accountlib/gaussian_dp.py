# Generated from notebooks/09_gaussian_dp.md by tools/tangle.py; do not edit.

"""Gaussian DP and honest reporting."""

import math
import platform
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass, is_dataclass
from dataclasses import fields as dataclass_fields
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression
from scipy.optimize.elementwise import find_root
from scipy.special import (
    erfinv,
    expit,
    log_ndtr,
    logit,
    ndtr,
    ndtri,
    ndtri_exp,
)

from accountlib.composition import SIDES, Bound, log_peak
from accountlib.divergences import (
    Floats,
    as_given,
    check_number,
    check_range,
    front_door,
    gaussian_delta,
)
from accountlib.intervals import (
    Cells,
    Losses,
    OneSided,
    Query,
    add_tables,
    aligned_step,
    bound_tables,
    choose_tilt,
    directions,
    epsilon,
    infinite_bound,
    loss_ceiling,
    predicted_width,
    reached_ways,
    read_delta,
    run_curve,
    saddle,
    total_cumulants,
)
from accountlib.privacy_loss import (
    LARGEST_LOSS,
    BoundKind,
    GridTooFine,
    PrivacyLossDistribution,
    check_choice,
)
from accountlib.worst_case_pairs import (
    UNIT,
    Adjacency,
    FixedBatch,
    FullBatch,
    GaussianPair,
    Poisson,
    Release,
    check_adjacency,
    check_kind,
)

__all__ = [
    "gaussian_tradeoff",
    "dp_tradeoff",
    "TradeoffCurve",
    "table_tradeoff",
    "mu_from_errors",
    "mu_from_pure_dp",
    "mu_from_epsilon_delta",
    "renyi_tradeoff",
    "COVER_POINTS",
    "MOST_TILTS",
    "SAME_TILT",
    "FINEST_WIDTH",
    "LOG_TAIL",
    "LossTables",
    "Profile",
    "polygon_corners",
    "both_signs",
    "lower_kinks",
    "thinned",
    "spread_epsilons",
    "Lines",
    "missed_at",
    "run_profiles",
    "exact_mu",
    "exact_curve",
    "profile_curve",
    "tradeoff_curve",
    "regret_bound",
    "largest_mu",
    "GDPFit",
    "exact_fit",
    "profile_fit",
    "gdp",
    "PrivacyReport",
    "SAMPLED",
    "how_to_read",
    "rounded",
    "plain",
    "named_fields",
    "report",
    "software_versions",
]


@front_door
def gaussian_tradeoff(false_positive: ArrayLike, *, mu: float) -> Any:
    r"""Smallest false-negative rate against two unit Gaussians, mu apart.

    Formula: $f_\mu(x) = \Phi(\Phi^{-1}(1 - x) - \mu)$.

    Parameters: `false_positive` (x in [0, 1]), a number or an array; `mu`
    ($\mu \ge 0$), distance of the means in standard deviations.
    Returns: a number in [0, 1] for each x, exact up to rounding.
    Raises: ValueError for values outside these ranges.
    Error: relative error below 1e-12 where the result exceeds 1e-300.
    Source: Dong, Roth and Su (2022), eq. 6; chapter 9, "Definition".

    >>> round(gaussian_tradeoff(0.01, mu=1.0), 6)
    0.907638
    """
    x = check_range("false_positive", false_positive, 0, 1)
    mu = check_number("mu", mu, 0, np.inf, "[)")
    return as_given(np.asarray(ndtr(-ndtri(x) - mu)))


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
    Source: Kairouz, Oh and Viswanath (2015), Theorem 2.1; chapter 9,
    "From curve to curve".

    >>> round(dp_tradeoff(0.25, epsilon=math.log(3)), 12)
    0.25
    """
    x = check_range("false_positive", false_positive, 0, 1)
    epsilon = check_number("epsilon", epsilon, 0, np.inf, "[)")
    delta = check_number("delta", delta, 0, 1)
    with np.errstate(divide="ignore"):
        likely = np.exp(np.minimum(epsilon + np.log(x), 1.0))
    if epsilon < 700:
        likely = math.exp(epsilon) * x
    steep = 1 - delta - likely
    flat = math.exp(-epsilon) * (1 - delta - x)
    return as_given(np.maximum(np.maximum(steep, flat), 0.0))


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
    Source: Gomez et al. (2025), Algorithm 1; chapter 9, "A table becomes
    a polygon".

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
            return float(ndtr(-self.mu / 2)) * (1 + self._side * 1e-12)
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
    Source: Gomez et al. (2025), Algorithm 1; chapter 9, "A table becomes
    a polygon".

    >>> from accountlib.privacy_loss import PrivacyLossDistribution
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
    x = np.append(room * np.minimum(above[::-1], 1), 1.0)
    y = room * np.minimum(below[::-1], 1 - loss.infinity_mass)
    return TradeoffCurve(x, np.append(y, 0.0), "lower")


@front_door
def mu_from_errors(false_positive: Floats, found: Floats) -> Floats:
    r"""The Gaussian trade-off function through given points.

    Formula: $\mu(x, y) = \Phi^{-1}(1 - x) - \Phi^{-1}(y)$ with
    $y = 1 - w$.

    Parameters: `false_positive` (x in (0, 1)); `found` (w = 1 - y,
    >= 0): who took part and is found; arrays.
    Returns: $\mu$ for each point; inf where w >= 1.
    Error: rounding; 1e-14 absolute, more where w is within 1e-10 of 1.
    Source: Gomez et al. (2025), eq. 29; chapter 9, "The one number".

    >>> mu_from_errors(np.array([0.25]), np.array([0.75])).round(6)
    array([1.34898])
    """
    low = ndtri(np.minimum(found, 0.5))
    high = -ndtri(np.clip(1 - found, 0, 0.5))
    return np.asarray(np.where(found < 0.5, low, high) - ndtri(false_positive))


@front_door
def mu_from_pure_dp(epsilon: ArrayLike) -> Any:
    r"""Smallest mu such that every epsilon-DP mechanism is mu-GDP.

    Formula: $\mu = -2 \Phi^{-1}(1/(1 + e^\varepsilon)) = 2 \sqrt2\,
    \mathrm{erf}^{-1}(\tanh(\varepsilon/2))$.

    Parameters: `epsilon` ($\varepsilon \ge 0$), a number or an array.
    Returns: $\mu$, rounded up; 0 at 0.
    Raises: ValueError for NaN, negative or infinite epsilon.
    Error: rounded up by 1e-14, relative (and by 1e-322).
    Source: Gomez et al. (2025), Proposition 6.1; chapter 9.

    >>> round(mu_from_pure_dp(1.0), 6)
    1.232035
    """
    epsilon = check_range("epsilon", epsilon, 0, np.inf, "[)")
    near = math.sqrt(8) * erfinv(np.tanh(np.minimum(epsilon, 1.0) / 2))
    tail = np.minimum(-epsilon, 0) - np.log1p(np.exp(-epsilon))
    z = -ndtri_exp(np.minimum(tail, -1.0))
    far = np.maximum(z, 10.0)  # ndtri_exp errs by 1e-12: one Newton step
    far = far + (log_ndtr(-far) - tail) / (far + 1 / far)
    mu = np.where(epsilon < 1, near, 2 * np.where(z < 10, z, far))
    mu = mu * (1 + 1e-14) + np.where(epsilon > 0, 1e-322, 0.0)
    return as_given(np.asarray(mu))


@front_door
def mu_from_epsilon_delta(epsilon: ArrayLike, *, delta: ArrayLike) -> Any:
    r"""The mu of the Gaussian mechanism with a given epsilon and delta.

    Formula: the root of $\delta_\mu(\varepsilon) = \delta$.

    It translates a budget for Gaussian noise. It is no bound for other
    mechanisms with this guarantee, which may have no finite mu.

    Parameters: `epsilon` ($\varepsilon \ge 0$), `delta` ($\delta$ in
    [0, 1]); numbers or arrays.
    Returns: the largest $\mu$ for which $\mu$-GDP implies this guarantee,
    rounded down; 0 for delta = 0, inf for delta = 1.
    Raises: ValueError for values outside these ranges.
    Error: rounded down by about 1e-11, relative.
    Source: Balle and Wang (2018), Theorem 8; chapter 9, "From one
    parameter to another".

    >>> round(mu_from_epsilon_delta(1.0, delta=1e-5), 6)
    0.268051
    """
    epsilon = check_range("epsilon", epsilon, 0, np.inf, "[)")
    delta = check_range("delta", delta, 0, 1)
    epsilon, delta = np.broadcast_arrays(epsilon, delta)
    target = np.where((delta > 0) & (delta < 1), delta, 0.1)
    some = np.minimum(epsilon, 1e12)

    def excess(log_mu: Any, e: Any, d: Any) -> Any:
        with np.errstate(divide="ignore"):
            value = np.log(gaussian_delta(e, mu=np.exp(log_mu)))
        return np.maximum(value, -1e4) + 4e-15 - np.log(d)  # rounded

    # Far too small and far too large, by epsilon = mu z + mu^2/2, |z| = 40.
    low = np.log(some + target) - np.log(45 + np.sqrt(2 * some))
    high = np.log(90 + np.sqrt(2 * some))
    root = find_root(excess, (low, high), args=(some, target))
    # Far out delta is Phi(mu/2 - epsilon/mu), or a little less.
    z, wide = -ndtri(target), math.sqrt(2) * np.sqrt(epsilon)
    mu = np.where(epsilon < 1e12, np.exp(root.x), np.hypot(z, wide) - z)
    mu = np.where(delta == 1, np.inf, mu * (1 - 1e-11))
    return as_given(np.where(delta == 0, 0.0, mu))


@front_door
def renyi_tradeoff(
    false_positive: ArrayLike, *, order: float, rdp: float
) -> Any:
    r"""Smallest false-negative rate that Renyi DP at one order allows.

    Formula: the smallest y with $\ln[(1-y)^a x^{1-a} + y^a (1-x)^{1-a}]
    \le (a-1) r$, and the same with x and y exchanged.

    Parameters: `false_positive` (x in [0, 1]), a number or an array;
    `order` (a in [1 + 1e-6, 1e6]); `rdp` (r >= 0, finite), which holds at
    this order in both directions.
    Returns: a number in [0, 1] for each x, a lower bound for every such
    mechanism.
    Raises: ValueError for values outside these ranges.
    Error: rounded down, by 1e-9 in $\ln(y/(1-y))$ and by 8 u; 0 where it
    is below 1e-299.
    Source: Gomez et al. (2025), Appendix A.6; chapter 9, eq. (gdp-renyi).

    >>> round(renyi_tradeoff(0.1, order=2.0, rdp=1.0), 6)
    0.50675
    """
    x = check_range("false_positive", false_positive, 0, 1)
    a = check_number("order", order, 1 + 1e-6, 1e6)
    room = (a - 1) * check_number("rdp", rdp, 0, np.inf, "[)")
    inner = np.where((x > 0) & (x < 1), x, 0.5)

    def excess(odds: Any, fp: Any) -> Any:
        y = -np.logaddexp(0, -odds), -np.logaddexp(0, odds)
        other = np.log(fp), np.log1p(-fp)  # of the rate, of 1 - rate
        both = []
        for one, two in ((y, other), (other, y)):
            hit, miss = a * one[1], a * one[0]
            hit, miss = hit + (1 - a) * two[0], miss + (1 - a) * two[1]
            error = 8 * UNIT * (1 + np.abs(hit) + np.abs(miss))
            both.append(np.logaddexp(hit, miss) - error)
        return np.maximum(*both) - room

    low, high = np.full(x.shape, -690.0), -logit(inner)
    found = find_root(excess, (low, high), args=(inner,))
    # No root: already e^-690 is allowed, or nothing below 1 - x is.
    odds = np.where(found.success, found.x, high)
    y = expit(odds - 1e-9) * (1 - 8 * UNIT)
    y = np.where(excess(low, inner) <= 0, 0.0, y)
    return as_given(np.where(x == 0, 1.0, np.where(x == 1, 0.0, y)))


COVER_POINTS = 33  # places where tables must be precise
MOST_TILTS = 20  # then the rest keeps what it has
SAME_TILT = 0.02  # nearer in log tilt, another table would be the same
FINEST_WIDTH = 1e-6  # relative; no narrower delta is asked of tables
LOG_TAIL = math.log(1e-8) - 18  # of the tilted mass: 1e-8 at e^-18 of it


class LossTables:
    r"""One-sided tables of a total loss, for all epsilons up to the tail.

    Formula: `bound_tables` and `add_tables` of chapter 5, at some tilts.

    Parameters: `losses`, pairs of a dominating pair and its count;
    `cutoff` (c), the Q-mass beyond the largest epsilon of interest (`top`);
    `width`, wanted relative width of mu; `sides`, both by default.
    Source: chapter 9, "Code: the privacy curve at many points".

    >>> tables = LossTables([(GaussianPair(0.1), 100)], 1e-10, 1e-4)
    >>> low, up = tables.read(np.array([1.0]))
    >>> bool(low[0] <= 0.1269367375066438 <= up[0] <= 1.001 * low[0])
    True
    """

    def __init__(
        self,
        losses: Losses,
        cutoff: float,
        width: float,
        sides: Sequence[BoundKind] = SIDES,
    ) -> None:
        self.losses, self.cutoff, self.width = losses, cutoff, width
        self.sides = sides
        self.count = sum(n for _, n in losses)
        self.budget = max(1e-12 * cutoff / self.count, 1e-320)
        self.cells = [Cells.first(p, n, self.budget) for p, n in losses]
        top = self.chernoff_top(self.cells)
        if cutoff < 1e-20 or self.count == 1:  # coarse cells are too coarse
            order, _ = saddle(self.cells, Query(None, top, width))
            fine = [c.finer(order, self.budget) for c in self.cells]
            top = max(top, self.chernoff_top(fine))
        mean = float(total_cumulants(self.cells, np.zeros(1))[1, 0])
        self.ceiling = loss_ceiling(losses).upper
        top = max(top, min(mean, 25.0))
        if 0 < self.chernoff_low() < LARGEST_LOSS:
            top = max(top, min(mean, LARGEST_LOSS))
        top = min(top, self.ceiling)
        self.top = max(top, 1e-12)
        self.totals: list[list[OneSided]] = []
        if len(losses) > 1 or self.count > 1:
            self.cover()

    def chernoff_top(self, cells: Sequence[Cells]) -> float:
        """Where Q has about the cut-off left above, eq. (gdp-top)."""
        powers = np.geomspace(1e-3, 1e9, 200)
        moments = total_cumulants(cells, powers - 1)[0]
        return float(np.min((moments - math.log(self.cutoff)) / powers))

    def chernoff_low(self) -> float:
        """A place below which P has at most the cut-off."""
        powers = np.geomspace(1e-3, 1, 60)
        moments = total_cumulants(self.cells, -powers)[0]
        return float(np.max((math.log(self.cutoff) - moments) / powers))

    def cover(self) -> None:
        """Tables until all epsilons up to `top` have precise ones."""
        points = np.linspace(0, self.top, COVER_POINTS)
        open_points, tilts = np.ones(len(points), bool), [1e300]
        while np.any(open_points) and len(tilts) < MOST_TILTS:
            where = np.flatnonzero(open_points)
            middle = where[len(where) // 2]
            open_points[middle] = False
            totals = self.around(float(points[middle]))
            if not totals:
                return
            tilt = totals[0].tilt
            self.totals.append(totals)
            near = min(abs(math.log(tilt / old)) for old in tilts)
            if near < SAME_TILT:
                return  # another place, but no other tilt
            tilts.append(tilt)
            value, wrong = totals[0].weighed(points)
            wrong = wrong + totals[0].padding * math.exp(log_peak(tilt))
            allowed = max(self.width, FINEST_WIDTH) * value
            open_points &= wrong > allowed

    def around(self, place: float) -> list[OneSided]:
        """The total loss from each side, tilted to one place."""
        query = Query(None, place, self.width)
        order, log_delta = saddle(self.cells, query)
        cells = [c.finer(order, self.budget) for c in self.cells]
        variance = float(total_cumulants(cells, np.array([order]))[2, 0])
        spread = max(math.sqrt(variance), 1e-3 * self.top)
        # The order at the top is about half the window further up.
        last = order + math.sqrt(-math.log(self.cutoff) / 2) / spread
        goal = self.width * spread
        shortest = math.sqrt(8 * goal / ((1 + last) * self.count))
        steps = shortest * np.geomspace(1, 1e6, 256)
        good = predicted_width(cells, last, steps) <= goal
        step = float(steps[max(int(np.count_nonzero(good)) - 1, 0)])
        # Smaller orders do not help where the loss hardly varies; larger
        # ones than 15/step weigh masses within a step by e^15.
        order = min(max(order, 0.1 / spread), 15 / step)
        tilt, _, thetas = choose_tilt(cells, order, place, log_delta)
        for _ in range(12):
            step = aligned_step(step, [pair for pair, _ in self.losses])
            try:
                made = [
                    bound_tables(c, step, tilt, LOG_TAIL, self.sides)
                    for c in cells
                ]
                return [
                    add_tables(
                        [
                            (t, c.count)
                            for t, c in zip(tables, cells, strict=True)
                        ],
                        LOG_TAIL,
                        thetas,
                    )
                    for tables in zip(*made, strict=True)
                ]
            except GridTooFine:
                step *= 4
        return []

    def read(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """Lower and upper ends of delta at increasing epsilons >= 0."""
        if len(self.losses) == self.count == 1:
            return run_curve(self.losses[0][0], epsilons)
        lower, upper = np.zeros(len(epsilons)), np.ones(len(epsilons))
        for total in (one for around in self.totals for one in around):
            found = read_delta(total, epsilons)
            if total.bound == "upper":
                upper = np.minimum(upper, found)
            else:
                lower = np.maximum(lower, found)
        # Beyond the largest loss only infinite ones are left.
        most = infinite_bound(self.losses).upper
        upper[epsilons >= self.ceiling] = most
        return lower, upper


@dataclass(frozen=True, eq=False)
class Profile:
    r"""A privacy curve between bounds, at some epsilons.

    Formula: $l_i \le \delta(\varepsilon_i) \le u_i$.

    Fields: `epsilon` (increasing, from 0), `lower`, `upper`, one number
    for each epsilon, and `floor`, a lower bound at all epsilons.
    Source: chapter 9, "A polygon below and a polygon above".

    >>> at = np.array([0.0, 1.0])
    >>> Profile(at, at / 4, at / 2, 0.0).upper
    array([0. , 0.5])
    """

    epsilon: Floats
    lower: Floats
    upper: Floats
    floor: float

    def __post_init__(self) -> None:
        for name in ("epsilon", "lower", "upper"):
            values = np.array(getattr(self, name), dtype=np.float64)
            values.flags.writeable = False
            object.__setattr__(self, name, values)


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
    Source: chapter 9, Lemma "A polygon in floating point".

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


def both_signs(
    profile: Profile, mirror: Profile
) -> tuple[Floats, Floats, Floats, Floats]:
    r"""A privacy curve between bounds, over both sides of alpha = 1.

    Formula: $h(\alpha) = 1 - \alpha + \alpha\, h_{Q,P}(1/\alpha)$.

    Parameters: `profile`, of a pair; `mirror`, of the same pair read
    backwards, at the same epsilons.
    Returns: (down, lower, up, upper): increasing alphas and lower bounds
    of h there, and slightly larger alphas with upper bounds.
    Error: $\alpha = e^\varepsilon$ is a rounded number. As h falls, a
    lower bound holds at a smaller alpha, and an upper one at a larger
    one: 8 u is room enough. The rounding of the formula is counted.
    Source: chapter 1, the swap identity; chapter 9, "A polygon below and
    a polygon above".

    >>> at = np.array([0.0, 1.0])
    >>> one = Profile(at, np.array([0.5, 0.2]), np.array([0.5, 0.3]), 0.0)
    >>> both_signs(one, one)[3].round(3)
    array([0.742, 0.5  , 0.3  ])
    """
    back = -profile.epsilon[:0:-1]
    epsilon = np.append(back, profile.epsilon)
    alpha, inverse = np.exp(epsilon), np.exp(back)
    lower, upper = (
        np.append(
            (inverse * flipped[:0:-1] - np.expm1(back)) * (1 + side * UNIT),
            values,
        )
        for values, flipped, side in (
            (profile.lower, mirror.lower, -16),
            (profile.upper, mirror.upper, 16),
        )
    )
    # The curve falls: what is known at one place holds further on.
    lower = np.maximum.accumulate(lower[::-1])[::-1]
    upper = np.minimum.accumulate(np.minimum(upper, 1))
    room = 8 * UNIT * (epsilon != 0)  # e^0 is exact
    return alpha * (1 - room), lower, alpha * (1 + room), upper


def lower_kinks(profile: Profile, mirror: Profile) -> tuple[Floats, Floats]:
    r"""A piecewise linear lower bound of a privacy curve, by its kinks.

    Formula: Lemma "A convex curve between its bounds", with neighbours 1,
    2, 4, 8, ... places away.

    Parameters: `profile`, of a pair; `mirror`, of the same pair read
    backwards, at the same epsilons: the curve for $\alpha < 1$.
    Returns: (alpha, delta), the kinks, alpha increasing from 0. Between
    them it is linear, and beyond the last one constant.
    Source: chapter 9, "A polygon below and a polygon above".

    >>> at = np.array([0.0, 0.5, 1.0])
    >>> low, up = run_curve(GaussianPair(1.0), at)
    >>> one = Profile(at, low, up, 0.0)
    >>> alpha, delta = lower_kinks(one, one)
    >>> bool(np.all(delta[1:] <= gaussian_delta(np.log(alpha[1:]), mu=1.0)))
    True
    """
    a, lower, up, upper = both_signs(profile, mirror)
    n, lag = len(a), 1
    left, right = np.full(n, -1.0), np.zeros(n)  # slopes are in [-1, 0]
    while lag < n:
        fall = (lower[lag:] - upper[:-lag]) / (a[lag:] - up[:-lag])
        left[lag:] = np.maximum(left[lag:], fall)
        fall = (upper[lag:] - lower[:-lag]) / (up[lag:] - a[:-lag])
        right[:-lag] = np.minimum(right[:-lag], fall)
        lag *= 2
    # Just before the line from the left meets the one from the right.
    one, two = left[:-1], right[1:]
    start = (lower[1:] - two * np.diff(a)) * (1 - 8 * UNIT)
    ahead = start - lower[:-1] + 16 * UNIT * lower[:-1]
    meets = one < two
    apart = ahead / np.where(meets, one - two, -1.0)
    apart = np.where(meets | (ahead >= 0), apart, np.inf)
    t = (a[:-1] + apart) * (1 - 4 * UNIT)
    low = (lower[1:] - two * (a[1:] - t)) * (1 - 8 * UNIT)
    new = (t > a[:-1]) & (t < a[1:])
    kept = np.where(t > a[:-1], lower[:-1], np.minimum(lower[:-1], start))
    alpha = np.append(a, t[new])
    delta = np.concatenate([kept, lower[-1:], low[new]])
    if left[-1] < 0:
        end = a[-1] + (profile.floor - lower[-1]) / left[-1]
        end *= 1 - 8 * UNIT
        if end > a[-1]:
            alpha = np.append(alpha, end)
            delta = np.append(delta, profile.floor)
        else:
            delta[len(a) - 1] = profile.floor
    # Below the first alpha the line from the right goes on up to 1 - alpha.
    begin = 1 - lower[0] + right[0] * a[0] + 16 * UNIT
    begin = begin / (1 + right[0]) if right[0] > -1 else math.inf
    if 0 < begin < a[0]:
        alpha = np.append(alpha, begin)
        delta = np.append(delta, (1 - begin) * (1 - 4 * UNIT))
    elif begin > 0:
        delta[0] = min(delta[0], (1 - a[0]) * (1 - 4 * UNIT))
    alpha, delta = np.append(alpha, 0.0), np.append(delta, 1.0)
    rank = np.argsort(alpha)
    return alpha[rank], np.minimum.accumulate(delta[rank])


def thinned(epsilons: Floats) -> Floats:
    """Sorted, without those so near that rounding would decide slopes.

    Parameters: `epsilons`, >= 0, in any order.
    Returns: increasing numbers, some of the given ones.
    Source: chapter 9, "Code: a whole run".

    >>> thinned(np.array([1.0, 0.0, 1e-20, 1.0]))
    array([0., 1.])
    """
    points = np.sort(epsilons)
    gap = 1e-14 + 1e-9 * points[-1]
    # One of each interval of length gap, then none right after another.
    points = points[np.append(True, np.diff(np.floor(points / gap)) > 0)]
    return np.asarray(points[np.append(True, np.diff(points) > gap / 2)])


def spread_epsilons(
    epsilons: Floats, profiles: Sequence[Floats], cutoff: float, number: int
) -> Floats:
    r"""Epsilons whose lines are evenly spread over the normal axis.

    Formula: equal steps of $z = \Phi^{-1}(1 - x)$, up to the cut-off.

    Parameters: `epsilons`, increasing; `profiles`, upper bounds of delta
    there, one list for each order; `cutoff`; `number` of new points per
    order.
    Returns: old and new epsilons, increasing. Any choice gives valid
    bounds; this one gives narrow ones.
    Source: chapter 9, "Code: a whole run".

    >>> at = np.linspace(0, 6, 30)
    >>> more = spread_epsilons(at, [gaussian_delta(at, mu=1.0)], 1e-10, 50)
    >>> 70 < len(more) <= 80
    True
    """
    points = [epsilons]
    for upper in profiles:
        x, _, index = polygon_corners(np.exp(epsilons), upper)
        z = -ndtri(np.clip(x, cutoff / 2, 1 - 1e-9))
        z = np.maximum.accumulate(z)
        middle = np.append((z[1:] + z[:-1]) / 2, z[-1])
        wanted = np.linspace(z[0], z[-1], number)
        at = np.interp(wanted, np.append(z[0], middle), epsilons[index])
        points.append(at)
    return thinned(np.concatenate(points))


Lines = tuple[Floats, Floats]  # alpha_i, increasing, and d_i


def missed_at(x: float, lines: Lines, mirror: Lines, sign: int) -> float:
    r"""The false-negative rate of a polygon at one false-positive rate.

    Formula: the largest $1 - d_i - \alpha_i x$ and, of the lines read
    backwards, $(1 - d_i - x)/\alpha_i$, all with $\alpha_i \ge 1$.

    Parameters: `x`; `lines`, `mirror`: pairs of lists $\alpha_i$, $d_i$,
    of a pair and of the same pair read backwards; `sign`, 1 to round
    down, -1 to round up (mu goes the other way).
    Returns: a number in [0, 1]; tiny ones keep their digits.
    Error: rounding, on the wanted side.
    Source: chapter 9, eq. (gdp-line) and (gdp-mirror); "The call".

    >>> lines = np.exp([-1.0, 0.0, 1.0]), np.array([0.7, 0.5, 0.2])
    >>> round(missed_at(0.1, lines, lines, 1), 6)
    0.528172
    """
    found = 0.0
    for (alpha, d), power in ((lines, 0), (mirror, 1)):
        alpha, rest = alpha[alpha >= 1], 1 - d[alpha >= 1]
        used = alpha ** (1 - power) * x
        y = rest - used - sign * 4 * UNIT * (rest + used)
        found = max(found, float(np.max(y / alpha**power)))
    return min(1.0, found * (1 - sign * 4 * UNIT))


def run_profiles(
    releases: Release | Sequence[Release],
    adjacency: Adjacency | str,
    group_size: int,
    cutoff: float,
    width: float,
) -> tuple[Profile, Profile]:
    r"""Both privacy curves of a run between bounds, at many epsilons.

    Formula: the largest $\delta(\varepsilon)$ of the directions asked
    for, and of the same directions read backwards.

    Parameters: as for `gdp`.
    Returns: two profiles at the same epsilons: of the run, and read
    backwards (the very same object for a symmetric run).
    Raises: ValueError and NotImplementedError as `gdp`.
    Source: chapter 9, "Code: a whole run".

    >>> from accountlib.worst_case_pairs import Laplace
    >>> one, two = run_profiles(Release(Laplace(1.0)), "add", 1, 1e-10, 1e-3)
    >>> one is two, bool(one.lower[0] <= 1 - math.exp(-0.5) <= one.upper[0])
    (True, True)
    """
    ways = directions(releases, adjacency, group_size)
    backwards = [[(pair.reversed(), n) for pair, n in way] for way in ways]
    orders = [{frozenset(w): w for w in side} for side in (ways, backwards)]
    if orders[0].keys() == orders[1].keys():
        orders.pop()  # symmetric
    # Of a second direction, at first only upper ends.
    tables = {
        key: LossTables(way, cutoff, width, SIDES[: 1 if k else 2])
        for order in orders
        for k, (key, way) in enumerate(order.items())
    }
    # What data sets reach, where that may be less (a symmetric run).
    reached = reached_ways(ways)
    real = [
        LossTables(way, cutoff, width, SIDES[1:])
        for way in reached
        if frozenset(way) not in orders[0]
    ]

    def read(epsilons: Floats) -> Floats:
        """Two rows for each order: lower and upper ends."""
        found = {key: one.read(epsilons) for key, one in tables.items()}
        ends = [np.max([found[key] for key in x], axis=0) for x in orders]
        if real:
            ends[0][0] = np.max([one.read(epsilons)[0] for one in real], 0)
        return np.concatenate(ends)

    scale = np.append(np.linspace(0, 1, 65), np.geomspace(1e-8, 1e-2, 31))
    grids = [one.top * scale for one in tables.values()]
    epsilons = thinned(np.concatenate(grids))
    number = min(math.ceil(float(-ndtri(cutoff)) / math.sqrt(width)), 20_000)
    ends = read(epsilons)
    first = next(iter(orders[0]))
    if np.any(ends[1] > (1 + width) * tables[first].read(epsilons)[1]):
        tables |= {
            key: LossTables(way, cutoff, width)
            for key, way in orders[0].items()
            if key != first
        }
        ends = read(epsilons)
    # mu may be decided at x = c, or y = c, with the other rate far below.
    there, back = ((np.exp(epsilons), ends[k]) for k in (1, -1))
    least = min(cutoff, max(missed_at(cutoff, there, back, 1), 1e-280))
    for part in (number // 4, number):
        wanted = spread_epsilons(epsilons, [*ends[1::2]], least, part)
        new = np.setdiff1d(wanted, epsilons)
        epsilons = np.append(epsilons, new)
        rank = np.argsort(epsilons)
        rank = rank[np.isin(epsilons[rank], wanted)]
        more = read(new) if len(new) else ends[:, :0]
        ends = np.append(ends, more, axis=1)[:, rank]
        epsilons = epsilons[rank]
    ends[::2, 0] = np.max(ends[::2, 0])  # both orders have one delta(0)
    ends[1::2, 0] = np.min(ends[1::2, 0])
    floors = [
        max(infinite_bound(way).lower for way in order.values())
        for order in orders
    ]
    made = [
        Profile(epsilons, lower, upper, floor)
        for lower, upper, floor in zip(
            ends[::2], ends[1::2], floors, strict=True
        )
    ]
    return made[0], made[-1]


def exact_mu(ways: Sequence[Losses]) -> Bound | None:
    r"""mu of a run whose loss is exactly that of two Gaussians, or None.

    Formula: $\sqrt{\sum_j T_j \mu_j^2}$; 0 if nothing is revealed.

    Parameters: `ways`, the losses of each direction.
    Returns: an interval for mu, or None.
    Error: counted. Each $\mu_j$ is a quotient or product of given
    numbers, 2 u; root, factor and sum of squares: 6 u; twice that.
    Source: Dong, Roth and Su (2022), Corollary 3.3; chapter 9, "Code: a whole
    run".

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
    Source: chapter 9, "Code: a whole run".

    >>> exact_curve(Bound(1.0, 1.0), "lower", 1e-10).mu
    1.0
    """
    value = mu.upper if bound == "lower" else mu.lower
    z = np.linspace(ndtri(cutoff), -ndtri(cutoff), 1000)
    x = np.concatenate([[0.0], ndtr(z), [1.0]])
    y = gaussian_tradeoff(x, mu=value)
    return TradeoffCurve(x, np.minimum.accumulate(y), bound, value)


def profile_curve(
    profiles: tuple[Profile, Profile], bound: str
) -> TradeoffCurve:
    r"""The polygon below or above a trade-off function.

    Formula: eq. (gdp-line) and (gdp-above): corners with $\alpha \ge 1$
    from each of the two profiles, the second time with x and y exchanged.

    Parameters: `profiles`, of a run and read backwards; `bound`.
    Returns: a TradeoffCurve on the wanted side.
    Source: chapter 9, "A polygon below and a polygon above".

    >>> at = np.array([0.0, 1.0, 2.0])
    >>> one = Profile(at, *run_curve(GaussianPair(1.0), at), 0.0)
    >>> profile_curve((one, one), "lower")(0.1) <= 0.6109134
    True
    """
    side = 1 if bound == "lower" else -1
    lines = both_signs if side > 0 else lower_kinks
    halves = [lines(*profiles)[-2:], lines(*profiles[::-1])[-2:]]
    ends, rates = [], []
    for half in halves:
        x, w, index = polygon_corners(*half, side)
        part = (half[0][index[1:]] > 1) & (x > 0)
        part &= (side > 0) | (w < 1)
        x, y = x[part][::-1], (1 - w - side * UNIT)[part][::-1]
        rates.append((x, y))
        last = np.clip(half[1][-1:], 0, 1)
        ends.append(1 - last - side * UNIT * (last > 0))
    (x, y), (mirror_y, mirror_x) = rates
    if len(x) > 0:  # the halves may overlap by rounding
        beyond = (mirror_x > x[-1]) & (mirror_y < y[-1])
        mirror_x, mirror_y = mirror_x[beyond], mirror_y[beyond]
    x = np.concatenate([[0.0], x, mirror_x[::-1], ends[1], [1.0]])
    y = np.concatenate([ends[0], y, mirror_y[::-1], [0.0, 0.0]])
    # Where rounding has changed the order, both rates give way to it.
    if side > 0:
        x, y = np.minimum.accumulate(x[::-1])[::-1], np.minimum.accumulate(y)
    else:
        x, y = np.maximum.accumulate(x), np.maximum.accumulate(y[::-1])[::-1]
        # Of points above a convex curve, those of their hull are enough.
        last = np.append(np.diff(x) > 0, True)
        x, y = x[last], y[last]
        slopes = np.maximum(np.diff(y) / np.diff(x), -1e300)
        hull = isotonic_regression(slopes, weights=np.diff(x)).blocks
        x, y = x[hull], y[hull]
    return TradeoffCurve(np.clip(x, 0, 1), np.clip(y, 0, 1), bound)


@front_door
def tradeoff_curve(
    releases: Release | Sequence[Release],
    *,
    adjacency: Adjacency | str,
    group_size: int = 1,
    bound: str = "lower",
    cutoff: float = 1e-10,
    relative_width: float = 1e-4,
) -> TradeoffCurve:
    r"""Certified trade-off function of a whole training run.

    Formula: $f(x) = \sup_\alpha (1 - h(\alpha) - \alpha x)$ with h the
    largest privacy curve of the directions asked for.

    Parameters: `releases`, `adjacency`, `group_size` as for `epsilon`;
    `bound`, "lower" (no attacker does better) or "upper"; `cutoff` (c in
    [1e-250, 0.1]), down to which error rate the curve is followed closely;
    `relative_width` (in [1e-7, 0.1]), how closely, in terms of mu.
    Returns: a TradeoffCurve on the wanted side of the truth at every x.
    For "remove" accusing means: the record is in the data; for "add" that
    it is not. Add-or-remove is the worse of both, made convex.
    Raises: ValueError for bad values, NotImplementedError for what no
    theorem of the book covers (see chapters 8 and 10).
    Error: discretization, truncation and rounding are in the bound.
    Source: Gomez et al. (2025), Theorem 2.7 and Algorithm 1; chapter 9.

    >>> from accountlib.worst_case_pairs import RandomizedResponse
    >>> coin = Release(RandomizedResponse(0.75))
    >>> round(tradeoff_curve(coin, adjacency="remove")(0.25), 9)
    0.25
    """
    check_choice("bound", bound, ("lower", "upper"))
    check_number("cutoff", cutoff, 1e-250, 0.1)
    check_number("relative_width", relative_width, 1e-7, 0.1)
    exact = exact_mu(directions(releases, adjacency, group_size))
    if exact is not None:
        return exact_curve(exact, bound, cutoff)
    profiles = run_profiles(
        releases, adjacency, group_size, cutoff, relative_width
    )
    return profile_curve(profiles, bound)


def regret_bound(alpha: Floats, delta: Floats, mu: float) -> float:
    r"""Upper bound of the regret of reporting mu.

    Formula: the largest $(h_\mu(\alpha) - d(\alpha))/(1 + \alpha)$ over
    the kinks with $\alpha \ge 1$.

    Parameters: `alpha`, `delta`, kinks of a lower bound of the privacy
    curve (`lower_kinks`); `mu` ($\mu \ge 0$, inf allowed). For alpha < 1
    call it again with the pair read backwards.
    Returns: a number in [0, 1].
    Error: rounded up, by 1e-9 of the deltas of mu and by rounding.
    Source: Kaissis et al. (2024); chapter 9, Lemma "Kinks decide".

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
    Source: chapter 9, Lemma "Corners decide" and Definition "mu at a
    cut-off".

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
    Source: Gomez et al. (2025), Section 4; chapter 9, "The call".

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
        Source: chapter 9, Proposition "What a cut-off leaves".
        """
        epsilon = check_range("epsilon", epsilon, 0, 700)
        tails = 0.0 if self.exact else self.cutoff
        bound = np.ones(epsilon.shape)
        if self.mu < math.inf:
            bound = gaussian_delta(epsilon, mu=self.mu) * (1 + 1e-9)
        bound = bound + tails * (1 + np.exp(epsilon)) * (1 + 1e-9)
        return as_given(np.minimum(bound, 1.0))


def exact_fit(mu: Bound, cutoff: float) -> GDPFit:
    r"""The fit of a run that is exactly Gaussian.

    Parameters: `mu`, an interval; `cutoff`, which has no meaning here.
    Returns: a GDPFit. Its regret is at most the width of the interval:
    delta grows with mu at the rate $\varphi(\mu/2 - \varepsilon/\mu) < 1/2$.
    Source: chapter 9, "The call".

    >>> exact_fit(Bound(1.0, 1.0), 1e-10)
    GDPFit(mu=1.0, regret=0.0, cutoff=1e-10, mu_lower=1.0, exact=True)
    """
    regret = min(mu.upper - mu.lower, 1.0)
    return GDPFit(mu.upper, regret, cutoff, mu.lower, True)


def profile_fit(profiles: tuple[Profile, Profile], cutoff: float) -> GDPFit:
    r"""mu at a cut-off, and its regret, of a curve between bounds.

    Parameters: `profiles`, of a run and read backwards; `cutoff`.
    Returns: a GDPFit.
    Source: chapter 9, Lemma "A larger curve has a smaller mu", Lemma
    "Kinks decide".

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
    adjacency: Adjacency | str,
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
    theorem of the book covers (see chapters 8 and 10).
    Error: all errors are in `mu`, `mu_lower` and `regret`.
    Source: Gomez et al. (2025), Section 4; chapter 9, "The call".

    >>> from accountlib.worst_case_pairs import Gaussian, Poisson
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


@dataclass(frozen=True)
class PrivacyReport:
    r"""A privacy statement that can be read and checked by strangers.

    Fields: `releases`, `adjacency`, `group_size`, `cutoff`,
    `relative_width`: what was asked; `record`, what one record is, and
    `notes`, both in words; `epsilons`, pairs of delta and a Bound of
    epsilon; `fit`, the GDPFit; `advantage`, a Bound; `tradeoff`, pairs of
    a false-positive rate and a Bound of the smallest false-negative rate;
    `versions`, of software; `stands_for`, what ran, if the releases are
    not that but an upper bound of it ("" if they are what ran). All
    numbers speak of the releases. Two reports are equal if all of this is.
    Source: Gomez et al. (2025), Section 4; chapter 9, "An honest report".
    """

    releases: tuple[Release, ...]
    adjacency: Adjacency
    group_size: int
    cutoff: float
    relative_width: float
    record: str
    notes: str
    epsilons: tuple[tuple[float, Bound], ...]
    fit: GDPFit
    advantage: Bound
    tradeoff: tuple[tuple[float, Bound], ...]
    versions: tuple[tuple[str, str], ...]
    stands_for: str = ""

    @property
    def call(self) -> str:
        """The line of Python that makes this report again."""
        return (
            f"report({list(self.releases)!r}, "
            f"adjacency={self.adjacency.value!r}, "
            f"group_size={self.group_size!r}, cutoff={self.cutoff!r}, "
            f"deltas={[d for d, _ in self.epsilons]!r}, "
            f"relative_width={self.relative_width!r}, "
            f"record={self.record!r}, notes={self.notes!r}, "
            f"stands_for={self.stands_for!r})"
        )

    def _facts(self) -> list[tuple[str, str]]:
        group = "" if self.group_size == 1 else f", {self.group_size} records"
        runs = "; ".join(
            f"{r.count} x {r.mechanism!r} on {r.sampling!r}"
            for r in self.releases
        )
        kinds = {type(r.sampling): None for r in self.releases}  # in order
        sampled = "; ".join(SAMPLED[kind] for kind in kinds)
        mu = f"at most {rounded(self.fit.mu, digits=6)}"
        if not self.fit.exact and not self.stands_for:
            low = rounded(self.fit.mu_lower, up=False, digits=6)
            mu += f", and not below {low}"
        regret = f"at most {rounded(self.fit.regret)}"
        tier = "Tier I: mu describes the whole curve"
        if not self.fit.is_good:
            tier = "Tier II: mu is not enough, use the table"
        holds = "these releases, drawn in this way, and nothing else"
        if self.stands_for:
            holds = f"{self.stands_for}; the releases are an upper bound of it"
            sampled, regret = "that of the bound, not of what ran", "unknown"
            tier = "Tier II: how near mu is is not known, use the table"
        least = rounded(self.cutoff, digits=6)
        where = f"mu holds where both error rates are >= {least}"
        if self.fit.exact:
            where = "none, mu holds everywhere"
        return [
            ("Neighbours", f"{self.adjacency.value}{group}"),
            ("One record", self.record),
            ("Releases", runs),
            ("Sampling", sampled),
            ("Holds for", holds),
            ("Observer", "sees every release, knows all other records"),
            ("mu", mu),
            ("Cut-off", where),
            ("Regret", regret),
            ("Verdict", tier),
            ("Advantage", f"at most {rounded(self.advantage.upper)}"),
            ("Notes", self.notes),
        ]

    def _ends(self, bound: Bound, safe: str) -> dict[str, float]:
        """Both ends; of a mere upper bound of what ran, the safe one."""
        ends = asdict(bound)
        return {safe: ends[safe]} if self.stands_for else ends

    def _tables(self) -> list[tuple[tuple[str, str], list[tuple[str, str]]]]:
        epsilons = [
            (rounded(d, digits=6), rounded(bound.upper))
            for d, bound in self.epsilons
        ]
        errors = [  # less false positives can only mean more false negatives
            (
                rounded(x, up=False),
                rounded(bound.lower, up=False, digits=6),
            )
            for x, bound in self.tradeoff
        ]
        return [
            (("delta", "epsilon, at most"), epsilons),
            (("false positives", "false negatives, at least"), errors),
        ]

    def _made_with(self) -> str:
        return ", ".join(f"{name} {number}" for name, number in self.versions)

    def __str__(self) -> str:
        lines = ["Privacy report", ""]
        lines += [f"{name + ':':<18} {text}" for name, text in self._facts()]
        lines += ["", *how_to_read(self.adjacency, self.group_size)]
        for (left, right), rows in self._tables():
            lines += ["", f"{left:<18} {right}"]
            lines += [f"{a:<18} {b}" for a, b in rows]
        lines += ["", f"Made with: {self._made_with()}"]
        lines += ["To make it again: from accountlib import *", self.call]
        return "\n".join(lines)

    def to_markdown(self) -> str:
        """The report as Markdown."""
        lines = ["## Privacy report", "", "| | |", "|---|---|"]
        for name, text in self._facts():
            safe = text.replace("|", "\\|").replace("\n", " ")
            lines.append(f"| {name} | {safe} |")
        lines += ["", *how_to_read(self.adjacency, self.group_size)]
        for (left, right), rows in self._tables():
            lines += ["", f"| {left} | {right} |", "|---|---|"]
            lines += [f"| {a} | {b} |" for a, b in rows]
        lines += ["", f"Made with {self._made_with()}. To make it again:", ""]
        lines += ["```python", "from accountlib import *", "", self.call]
        return "\n".join([*lines, "```", ""])

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, ready for JSON: inf is "inf"."""
        good = self.fit.is_good and not self.stands_for
        fit = asdict(self.fit) | {"tier": 1 if good else 2}
        if self.stands_for:
            fit = {name: fit[name] for name in ("mu", "cutoff", "tier")}
        found = {
            "adjacency": self.adjacency.value,
            "group_size": self.group_size,
            "record": self.record,
            "notes": self.notes,
            "releases": [
                {
                    "mechanism": named_fields(r.mechanism),
                    "sampling": named_fields(r.sampling),
                    "count": r.count,
                }
                for r in self.releases
            ],
            "stands_for": self.stands_for,
            "gdp": fit,
            "advantage": self._ends(self.advantage, "upper"),
            "epsilon": [
                {"delta": d} | self._ends(b, "upper") for d, b in self.epsilons
            ],
            "tradeoff": [
                {"false_positive": x} | self._ends(b, "lower")
                for x, b in self.tradeoff
            ],
            "relative_width": self.relative_width,
            "versions": dict(self.versions),
            "call": self.call,
        }
        return {name: plain(value) for name, value in found.items()}

    def plot(self, ax: Any = None) -> Any:
        """Draw the certified curve and its Gaussian bound; needs matplotlib.

        Parameters: `ax`, axes to draw on (default: new ones).
        Returns: the axes.
        Raises: ModuleNotFoundError without matplotlib.
        """
        if ax is None:
            _, ax = import_module("matplotlib.pyplot").subplots()
        curve = tradeoff_curve(
            self.releases,
            adjacency=self.adjacency,
            group_size=self.group_size,
            cutoff=self.cutoff,
            relative_width=self.relative_width,
        )
        x = np.append(np.geomspace(1e-6, 0.01, 200), np.linspace(0.01, 1, 400))
        ax.plot(x, curve(x), label="no attacker is below")
        if self.fit.mu < math.inf:
            gaussian = gaussian_tradeoff(x, mu=self.fit.mu)
            label = f"$\\mu$ = {rounded(self.fit.mu)}"
            ax.plot(x, gaussian, "--", label=label)
        ax.plot(x, 1 - x, ":", color="0.5", label="blind guessing")
        ax.set(xlabel="false-positive rate", ylabel="false-negative rate")
        ax.legend()
        return ax


SAMPLED = {  # what the code that ran must have done
    FullBatch: "each release uses every record at once, not in batches",
    Poisson: "each step draws each record by itself, no shuffled epochs",
    FixedBatch: "each step draws a new batch, no shuffled epochs",
}


def how_to_read(adjacency: Adjacency, group_size: int = 1) -> list[str]:
    """What the words of a report mean, in lines.

    Parameters: `adjacency`, `group_size`, of the report.
    Returns: lines of at most 76 characters.
    Source: chapter 9, "An honest report".

    >>> how_to_read(Adjacency.REMOVE)[0]
    'False positives: the share of records outside the data that an attacker'
    """
    one, many = "record", "records"
    if group_size > 1:
        one, many = "group of records", "groups of records"
    out, inside = f"{many} outside the data", f"{many} in the data"
    found = (
        f"the share of {out} that an attacker takes for members; false "
        f"negatives: the share of {inside} that he misses"
    )
    question = f"whether a {one} is in the data"
    if adjacency == Adjacency.ADD:
        found = (
            f"the share of {inside} that an attacker takes for outsiders; "
            f"false negatives: the share of {out} that he takes for members"
        )
    if adjacency == Adjacency.SUBSTITUTE:
        found = (
            f"of two known {many} one is in the data; how often an attacker "
            "names the first one though it is the second; false negatives: "
            "how often he names the second one though it is the first"
        )
        question = f"which of two {many} is in the data"
    text = (
        f"False positives: {found}. mu: telling {question} is at least as "
        "hard as telling a normal law from the same law, mu deviations "
        "away. Regret: mu may overstate the best attack by so much, in each "
        "of the two rates. A record must be the unit that was sampled and "
        "clipped."
    )
    return textwrap.wrap(text, 76)


def rounded(value: float, *, up: bool = True, digits: int = 4) -> str:
    """A number with few digits, rounded to the safe side.

    Parameters: `value` (>= 0, inf allowed); `up`, whether to round up;
    `digits`, how many significant ones.
    Returns: a string.
    Source: chapter 9, "An honest report".

    >>> rounded(1.57031), rounded(0.99999, up=False)
    ('1.571', '0.9999')
    """
    near = f"{value:.{digits}g}"
    if float(near) == value or (float(near) > value) == up:
        return near  # also for inf
    mode = ROUND_CEILING if up else ROUND_FLOOR
    context = Context(
        prec=digits, rounding=mode, Emin=-999, Emax=999, clamp=0, traps=[]
    )
    return f"{float(context.create_decimal(Decimal(value))):.{digits}g}"


def plain(value: Any) -> Any:
    """A value made of what JSON knows, so that it can be read again.

    Parameters: `value`: numbers, texts, and lists and dictionaries of them.
    Returns: the same, with lists for tuples and arrays, and with the text
    "inf" for an infinite number (`float` reads it).
    Source: chapter 9, "An honest report".

    >>> plain({"mu": math.inf, "p": (0.5, np.float64(0.5))})
    {'mu': 'inf', 'p': [0.5, 0.5]}
    """
    if isinstance(value, dict):
        return {str(name): plain(x) for name, x in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(x) for x in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    known = isinstance(value, (str, bool, int, float)) or value is None
    return value if known else str(value)


def named_fields(value: Any) -> dict[str, Any]:
    """Name and parameters of a mechanism or a sampler, as plain values.

    Parameters: `value`, a dataclass such as `Gaussian(1.0)`.
    Returns: {"name": class name, field: value, ...}; for objects of other
    kinds their name and `repr`.
    Source: chapter 9, "An honest report".

    >>> from accountlib.worst_case_pairs import Poisson
    >>> named_fields(Poisson(0.01))
    {'name': 'Poisson', 'rate': 0.01}
    """
    name = {"name": type(value).__name__}
    if not is_dataclass(value):
        return name | {"repr": repr(value)}
    fields = {x.name: getattr(value, x.name) for x in dataclass_fields(value)}
    return name | {key: plain(x) for key, x in fields.items()}


@front_door
def report(
    releases: Release | Sequence[Release],
    *,
    adjacency: Adjacency | str,
    group_size: int = 1,
    cutoff: float = 1e-10,
    deltas: Sequence[float] = (1e-5, 1e-6, 1e-8, 1e-10),
    relative_width: float = 1e-4,
    record: str = "not stated",
    notes: str = "none",
    stands_for: str = "",
) -> PrivacyReport:
    r"""The privacy statement of a whole run: text, Markdown, dict, figure.

    Formula: `epsilon` at some deltas, `gdp`, and the trade-off curve at
    $10^{-10}, 10^{-8}, 10^{-6}, 10^{-4}, 10^{-3}, 10^{-2}, 10^{-1}$ (those
    not below the cut-off) and where $f(x) = x$.

    Parameters: `releases`, `adjacency`, `group_size`, `cutoff`,
    `relative_width` as for `gdp`; `deltas`, a non-empty list in (0, 1);
    `record`, what one record is ("one image", "all images of a person");
    `notes`, what else a reader must know, such as tuning on the same data;
    `stands_for`, what ran, if the releases are only an upper bound of it
    ("10 shuffled epochs, a record is zeroed out"): then the report leaves
    out what a bound does not say: lower ends, regret, Tier I.
    Returns: a PrivacyReport. Printed upper ends are rounded up, lower
    ends down.
    Raises: ValueError for bad values, NotImplementedError for what no
    theorem of the book covers (see chapters 8 and 10).
    Error: as `epsilon`, `gdp` and `tradeoff_curve`.
    Source: Gomez et al. (2025), Section 4; chapter 9, "An honest report".

    >>> from accountlib.worst_case_pairs import Gaussian
    >>> one = report(Release(Gaussian(2.0)), adjacency="remove")
    >>> one.fit.mu_lower <= 0.5 <= one.fit.mu < 0.50000001
    True
    """
    name = check_adjacency(adjacency)
    words = (("record", record), ("notes", notes), ("stands_for", stands_for))
    for field, text in words:
        if not isinstance(text, str):
            raise ValueError(f"{field} must be a text, got {text!r}")
    if np.ndim(deltas) != 1 or np.size(deltas) == 0:
        raise ValueError(f"deltas must be a non-empty list, got {deltas!r}")
    checked = [check_number("deltas", d, 0, 1, "()") for d in deltas]
    cutoff = check_number("cutoff", cutoff, 1e-250, 0.1)
    width = check_number("relative_width", relative_width, 1e-7, 0.1)
    exact = exact_mu(directions(releases, name, group_size))
    if exact is not None:
        fit = exact_fit(exact, cutoff)
        curves = [exact_curve(exact, x, cutoff) for x in ("lower", "upper")]
    else:
        profiles = run_profiles(releases, name, group_size, cutoff, width)
        fit = profile_fit(profiles, cutoff)
        curves = [profile_curve(profiles, x) for x in ("lower", "upper")]
    lower, upper = curves
    epsilons = [
        epsilon(releases, delta=d, adjacency=name, group_size=group_size)
        for d in checked
    ]
    advantage = Bound(upper.advantage, max(lower.advantage, upper.advantage))
    powers = (1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1)
    places = [x for x in powers if x >= cutoff or fit.exact]
    places.append(lower.equal_error_rate)
    kept = (releases,) if isinstance(releases, Release) else tuple(releases)
    return PrivacyReport(
        releases=kept,
        adjacency=name,
        group_size=int(group_size),
        cutoff=fit.cutoff,
        relative_width=float(relative_width),
        record=record,
        notes=notes,
        epsilons=tuple(zip(checked, epsilons, strict=True)),
        fit=fit,
        advantage=advantage,
        tradeoff=tuple(
            (x, Bound(lower(x), max(lower(x), upper(x)))) for x in places
        ),
        versions=software_versions(),
        stands_for=stands_for,
    )


def software_versions() -> tuple[tuple[str, str], ...]:
    """Names and versions of the software that computes.

    Returns: pairs of a name and a version, "unknown" where the package
    is not installed but used from its folder.
    Source: chapter 9, "An honest report".

    >>> [name for name, _ in software_versions()]
    ['accountlib', 'numpy', 'scipy', 'Python']
    """
    found = []
    for name in ("accountlib", "numpy", "scipy"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            found.append((name, "unknown"))
    return (*found, ("Python", platform.python_version()))
