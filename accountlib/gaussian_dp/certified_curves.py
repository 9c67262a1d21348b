# Generated from notebooks/gaussian_dp/certified_curves.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""A certified trade-off curve

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $x$, $y$, $w$ | `x`, `y`, `w` | false-positive and false-negative rate; $w = 1 - y$ |
| $f$, $f_\mu$ | `TradeoffCurve`, – | trade-off function; that of two unit normals $\mu$ apart |
| $h(\alpha)$ | – | privacy curve at $\alpha = e^\varepsilon$, convex, not increasing |
| $\alpha_i$, $l_i$, $u_i$ | `alpha`, `lower`, `upper` | places, and bounds of $h$ there |
| $d$, $t$ | `delta`, `alpha` | a piecewise linear function below $h$, and a place of it |
| $c$ | `cutoff` | error rates below it are left out |
| $z$ | `z` | place on the axis of a normal law, $\Phi^{-1}(1 - x)$ |
| $K(\lambda)$, $\lambda$ | `moments`, `powers - 1` | as in ch-composition; here also for $-1 < \lambda < 0$ |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ (without an index) |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression
from scipy.special import ndtri

from accountlib.counting.composition import SIDES
from accountlib.counting.loss_tables import (
    LARGEST_LOSS,
    BoundKind,
    GridTooFine,
)
from accountlib.counting.rounding import log_peak
from accountlib.engine.grids import aligned_step, bound_tables
from accountlib.engine.one_round import add_tables
from accountlib.engine.one_sided import Losses, OneSided, read_delta
from accountlib.engine.saddle import (
    Cells,
    Query,
    choose_tilt,
    predicted_width,
    saddle,
    total_cumulants,
)
from accountlib.engine.single_runs import (
    infinite_bound,
    loss_ceiling,
    run_curve,
)
from accountlib.gaussian_dp.attackers import (
    TradeoffCurve,
    exact_curve,
    exact_mu,
    polygon_corners,
)
from accountlib.inputs import Floats, check_choice, check_number, front_door
from accountlib.runs.one_call import directions, reached_ways
from accountlib.runs.releases import Adjacency, AdjacencyName, Release
from accountlib.worst_cases.dominating_pairs import UNIT

__all__ = [
    "COVER_POINTS",
    "MOST_TILTS",
    "SAME_TILT",
    "FINEST_WIDTH",
    "LOG_TAIL",
    "LARGEST_MEAN",
    "MOST_LINES",
    "LossTables",
    "Profile",
    "both_signs",
    "lower_kinks",
    "thinned",
    "spread_epsilons",
    "Lines",
    "missed_at",
    "RunTables",
    "run_profiles",
    "profile_curve",
    "tradeoff_curve",
]

# --- Code: the privacy curve at many points

COVER_POINTS = 33  # places where tables must be precise
MOST_TILTS = 20  # then the rest keeps what it has
SAME_TILT = 0.02  # nearer in log tilt, another table would be the same
FINEST_WIDTH = 1e-6  # relative; no narrower delta is asked of tables
LOG_TAIL = math.log(1e-8) - 18  # of the tilted mass: 1e-8 at e^-18 of it
LARGEST_MEAN = 25.0  # of a loss that is followed
MOST_LINES = 20_000  # of a polygon


class LossTables:
    r"""One-sided tables of a total loss, for all epsilons up to the tail.

    Formula: `bound_tables` and `add_tables` at some tilts.

    Parameters: `losses`, pairs of a dominating pair and its count;
    `cutoff` (c), the Q-mass beyond the largest epsilon of interest (`top`);
    `width`, wanted relative width of mu; `sides`, both by default.

    >>> from accountlib.worst_cases.noise import GaussianPair
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
        top = max(top, min(mean, LARGEST_MEAN))
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
        cells = tuple(c.finer(order, self.budget) for c in self.cells)
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


# --- Code: lines and kinks


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
    Source: the swap identity of a privacy curve.

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

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> from accountlib.worst_cases.closed_forms import gaussian_delta
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


# --- Code: a whole run


def thinned(epsilons: Floats) -> Floats:
    """Sorted, without those so near that rounding would decide slopes.

    Parameters: `epsilons`, >= 0, in any order.
    Returns: increasing numbers, some of the given ones.

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
    there, one list for each direction; `cutoff`; `number` of new points
    per direction.
    Returns: old and new epsilons, increasing. Any choice gives valid
    bounds; this one gives narrow ones.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> at = np.linspace(0, 6, 30)
    >>> up = run_curve(GaussianPair(1.0), at)[1]
    >>> more = spread_epsilons(at, [up], 1e-10, 50)
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


class RunTables:
    r"""Tables of a run and of the run read backwards, all directions.

    Formula: the largest $\delta(\varepsilon)$ of the directions asked
    for, and of the same directions read backwards.

    Parameters: `ways`, the losses of each direction; `cutoff`, `width` as
    for `LossTables`. `orders` are one or two lists of directions, forwards
    and backwards; a symmetric run has one.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> tables = RunTables([[(GaussianPair(1.0), 1)]], 1e-10, 1e-4)
    >>> len(tables.orders), tables.read(np.array([0.0, 1.0])).shape
    (1, (2, 2))
    """

    def __init__(
        self, ways: Sequence[Losses], cutoff: float, width: float
    ) -> None:
        self.cutoff, self.width = cutoff, width
        backwards = [[(pair.reversed(), n) for pair, n in w] for w in ways]
        self.orders = [
            {frozenset(way): way for way in side} for side in (ways, backwards)
        ]
        if self.orders[0].keys() == self.orders[1].keys():
            self.orders.pop()  # symmetric
        self.first = next(iter(self.orders[0]))
        # Of a second direction, at first only upper ends.
        self.tables = {
            key: LossTables(way, cutoff, width, SIDES[: 1 if k else 2])
            for order in self.orders
            for k, (key, way) in enumerate(order.items())
        }
        # What data sets reach, where that may be less.
        self.reached = [
            [LossTables(way, cutoff, width, SIDES[1:]) for way in sides]
            for sides in (reached_ways([*x.values()]) for x in self.orders)
        ]

    def first_places(self) -> Floats:
        """Epsilons to begin with: evenly spread, and more of them near 0."""
        scale = np.append(np.linspace(0, 1, 65), np.geomspace(1e-8, 1e-2, 31))
        grids = [one.top * scale for one in self.tables.values()]
        return thinned(np.concatenate(grids))

    def read(self, epsilons: Floats) -> Floats:
        """Two rows for each order: lower and upper ends of delta."""
        found = {key: one.read(epsilons) for key, one in self.tables.items()}
        ends = [np.max([found[key] for key in x], axis=0) for x in self.orders]
        for rows, tables in zip(ends, self.reached, strict=True):
            if tables:
                rows[0] = np.max([one.read(epsilons)[0] for one in tables], 0)
        return np.concatenate(ends)

    def both_sides(self, epsilons: Floats) -> Floats:
        """The same, with lower ends of all directions if they matter."""
        ends = self.read(epsilons)
        alone = self.tables[self.first].read(epsilons)[1]
        if np.any(ends[1] > (1 + self.width) * alone):
            self.tables |= {
                key: LossTables(way, self.cutoff, self.width)
                for key, way in self.orders[0].items()
                if key != self.first
            }
            ends = self.read(epsilons)
        return ends

    def profiles(self, epsilons: Floats, ends: Floats) -> list[Profile]:
        """One Profile for each order, from rows as `read` gives them."""
        floors = [
            max(infinite_bound(way).lower for way in order.values())
            for order in self.orders
        ]
        rows = zip(ends[::2], ends[1::2], floors, strict=True)
        return [Profile(epsilons, *row) for row in rows]


def run_profiles(
    releases: Release | Sequence[Release],
    adjacency: Adjacency | AdjacencyName,
    group_size: int,
    cutoff: float,
    width: float,
) -> tuple[Profile, Profile]:
    r"""Both privacy curves of a run between bounds, at many epsilons.

    Formula: as `RunTables`.

    Parameters: as for `gdp`.
    Returns: two profiles at the same epsilons: of the run, and read
    backwards (the very same object for a symmetric run).
    Raises: ValueError and NotImplementedError as `gdp`.

    >>> from accountlib.runs.mechanisms import Laplace
    >>> one, two = run_profiles(Release(Laplace(1.0)), "add", 1, 1e-10, 1e-3)
    >>> one is two, bool(one.lower[0] <= 1 - math.exp(-0.5) <= one.upper[0])
    (True, True)
    """
    ways = directions(releases, adjacency, group_size)
    tables = RunTables(ways, cutoff, width)
    epsilons = tables.first_places()
    ends = tables.both_sides(epsilons)
    # mu may be decided at x = c, or y = c, with the other rate far below.
    there, back = ((np.exp(epsilons), ends[k]) for k in (1, -1))
    least = min(cutoff, max(missed_at(cutoff, there, back, 1), 1e-280))
    number = math.ceil(float(-ndtri(cutoff)) / math.sqrt(width))
    number = min(number, MOST_LINES)
    for part in (number // 4, number):
        wanted = spread_epsilons(epsilons, [*ends[1::2]], least, part)
        new = np.setdiff1d(wanted, epsilons)
        epsilons = np.append(epsilons, new)
        rank = np.argsort(epsilons)
        rank = rank[np.isin(epsilons[rank], wanted)]
        more = tables.read(new) if len(new) else ends[:, :0]
        ends = np.append(ends, more, axis=1)[:, rank]
        epsilons = epsilons[rank]
    ends[::2, 0] = np.max(ends[::2, 0])  # both orders have one delta(0)
    ends[1::2, 0] = np.min(ends[1::2, 0])
    made = tables.profiles(epsilons, ends)
    return made[0], made[-1]


def profile_curve(
    profiles: tuple[Profile, Profile], bound: str
) -> TradeoffCurve:
    r"""The polygon below or above a trade-off function.

    Formula: eq. (gdp-line) and (gdp-above): corners with $\alpha \ge 1$
    from each of the two profiles, the second time with x and y exchanged.

    Parameters: `profiles`, of a run and read backwards; `bound`.
    Returns: a TradeoffCurve on the wanted side.

    >>> from accountlib.worst_cases.noise import GaussianPair
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
    adjacency: Adjacency | AdjacencyName,
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
    theorem of the book covers.
    Error: discretization, truncation and rounding are in the bound.
    Source: Gomez et al. (2025), Theorem 2.7 and Algorithm 1.

    >>> from accountlib.runs.mechanisms import RandomizedResponse
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
