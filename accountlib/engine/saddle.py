# Generated from notebooks/engine/saddle.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Where to look

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\lambda$, $\lambda'$ | `order`, `tilt`, `orders` | arguments of $K$, $> 0$; `order` solves $K'(\lambda) = \varepsilon$ |
| $K$, $K'$, $K''$ | `moment`, `mean`, `variance` | log of the mean of $e^{\lambda S}$ over finite losses; mean and variance of the tilted total |
| $P_i$, $Q_i$, $e_i$ | `log_p`, –, `edges` | masses and right edge of a cell of the rough look |
| $T$, $T_j$ | `count` | number of steps, of one kind |
| $\Delta$ | `step`, `steps` | step of a grid |
| $a$, $b$, $\ell$ | – | ends of a grid cell, and a loss between them |
| $\tau$ | `tail` | tilted mass that a table lacks |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from accountlib.counting.composition import Bound
from accountlib.counting.loss_tables import TINY
from accountlib.counting.rounding import log_peak
from accountlib.engine.one_sided import (
    LOSS_PLACES,
    OneSided,
    read_delta,
    read_epsilon,
)
from accountlib.inputs import Floats, read_only
from accountlib.worst_cases.dominating_pairs import DominatingPair

__all__ = [
    "Cells",
    "total_cumulants",
    "Query",
    "OrderLook",
    "look_at_orders",
    "geometric",
    "spaced",
    "saddle",
    "choose_tilt",
    "predicted_width",
    "jump_delta",
    "within",
]

# --- A rough look at one loss

# The rough look
_NOTHING = 1e-20  # a tilted mass that needs no finer cells
_CELLS_EACH = 100.0  # cells for all of the tilted mass: one for each percent
_CELLS_WIDE = 2.0  # cells in a stretch that is as long as 1/(1 + tilt)
_MOST_CELLS = 1500  # cells of a look: as much work as a short table
_MOST_PARTS = 200  # parts of one cell, so that no place takes them all
# What an error may cost
_SPARE = 0.01  # part of the width for all errors but the grid's
_LEAST_SPARE = 1e-9  # relative error of delta; less is rounding
_MOST_SPARE = 0.01  # relative error of delta, however wide the interval
_ROOT = 1e-3  # part of the width that finding a root may cost
_LEAST_ROOT = 1e-15  # relative; less is rounding
# The search for the saddle point
_NEAR = 1.2  # quotient of orders that is near enough for a line between
_AT_ONCE = 1.001  # quotient of orders that is near enough in any case
_STEEP = 0.25  # part of what is asked that may be missing before the line
_FINER = 8  # orders in the place of two
_BLIND = 0.5  # order times spread; below, the tilt would hardly be seen
_ATOM = 100.0  # order times loss of one atom, at most
_FEW = 0.3  # order at least, where only sums with a far loss count
# The tilt and its window
_TILTS = 0.1, 1.3, 25  # times the order: first, last, how many
_ENDS = 0.2, 60.0, 12  # exponents of the window, times the order
_FINE_ENDS = 0.01, 60.0, 24  # the same for the tilt that is chosen
_LOG_OUTSIDE = 30.0  # minus the log of what lies outside of a window
_DEAR = 0.05  # length of the window that one unit of excess is worth
_FREE_EXCESS = 10.0  # log of a factor of precision that we can afford
_MORE_EXCESS = 4.0  # above the least excess: allowed as well
_MOST_EXCESS = 18.0  # what floats can bear, with care
# The width
_NEAR_A_POINT = 6.0  # losses below a step over this are near a grid point


@dataclass(frozen=True, eq=False)
class Cells:
    r"""A rough look at the loss of one pair: its masses in some cells.

    Formula: merged loss $\ln(P_i/Q_i)$ of cell i, which lies between the
    edges i - 1 and i (cell 0: below edge 0).

    Fields: `pair`, `count` (T), `edges`, `log_p` (-1e300 for nothing),
    `log_most` (an upper bound of it), `loss` (merged), `beyond`, an upper
    bound of the P-mass of losses above the last edge, and `split`: cells
    with edges above it are far, the others near.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> cells = Cells.first(GaussianPair(1.0), 3, 1e-9)
    >>> bool(8.7 < cells.cumulants(np.array([2.0]))[0, 0] < 9)
    True
    """

    pair: DominatingPair
    count: int
    edges: Floats
    log_p: Floats
    log_most: Floats
    loss: Floats
    beyond: float
    split: float = math.inf

    @classmethod
    def of(
        cls,
        pair: DominatingPair,
        count: int,
        edges: Floats,
        budget: float,
        split: float = math.inf,
    ) -> "Cells":
        """Cells between edges, as far up as P has more than `budget`."""
        p, q = pair.interval_masses(edges, np.diff(edges), "right")
        above = np.cumsum(p[::-1])[::-1][1:]
        last = min(int(np.count_nonzero(above > budget)), len(edges) - 1)
        edges, p, q = edges[: last + 1], p[: last + 1], q[: last + 1]
        seen = (p > TINY) & (q > TINY)
        loss = np.log(np.where(seen, p, 1)) - np.log(np.where(seen, q, 1))
        left = np.append(edges[0], edges[:-1])
        low = np.append(-np.inf, edges[:-1])
        loss = np.where(seen, np.clip(loss, low, edges), left)
        log_most = np.log(np.maximum(p, TINY))
        log_p = np.where(p > TINY, log_most, -1e300)
        if not np.any(p > TINY):  # all of P lies above the edges
            log_p[-1] = 0.0
        beyond = float(above[last]) * (1 + 1e-9)
        if edges[-1] < pair.loss_range[1]:
            beyond += 1e-305  # smaller masses may be rounded to 0
        return cls(pair, count, edges, log_p, log_most, loss, beyond, split)

    @classmethod
    def first(
        cls,
        pair: DominatingPair,
        count: int,
        budget: float,
        split: float = math.inf,
    ) -> "Cells":
        """Cells of growing width around 0 and the ends of the losses."""
        edges = np.concatenate([-LOSS_PLACES, [0.0], LOSS_PLACES])
        if split < math.inf:
            edges = np.append(edges, split)
        for end, sign in zip(pair.loss_range, (1, -1), strict=True):
            if math.isfinite(end):
                edges = np.append(edges, end + sign * LOSS_PLACES)
                edges = edges[sign * edges > sign * end]
                # an atom at the end may be rounded
                room = 1e-9 * (1e-3 + abs(end))
                edges = np.append(edges, end - sign * room)
        return cls.of(pair, count, np.unique(edges), budget, split)

    @cached_property
    def _seen(self) -> tuple[Floats, Floats]:
        """Log mass of the cells that have any, and powers 0, 1, 2."""
        seen = self.log_p > -1e299
        loss = self.loss[seen]
        return self.log_p[seen], np.array([np.ones_like(loss), loss, loss**2])

    def cumulants(self, orders: Floats) -> Floats:
        """K and its first two derivatives at the orders, for `count` runs."""
        log_p, powers = self._seen
        exponent = np.multiply.outer(orders, powers[1]) + log_p
        top = exponent.max(axis=1)
        total, mean, square = powers @ np.exp(exponent - top[:, None]).T
        mean /= total
        variance = np.maximum(square / total - mean**2, 0)
        return self.count * np.array([top + np.log(total), mean, variance])

    def above(self, loss: float) -> float:
        """An upper bound of the P-mass of larger losses, for one run."""
        some = float(np.sum(np.exp(self.log_most[self.edges > loss])))
        most = some + self.beyond + self.pair.infinite_mass[0]
        return most * (1 + 1e-9)

    @property
    def far(self) -> NDArray[np.bool_]:
        """Which cells are far."""
        return self.edges > self.split

    def rare(self, orders: Floats) -> Floats:
        """What far cells add to K, K', K'', for `count` runs."""
        log_p, powers = self._seen
        far = self.far[self.log_p > -1e299]
        if not np.any(far) or np.all(far):
            return np.full((3, len(orders)), np.inf if np.any(far) else 0.0)
        exponent = np.multiply.outer(orders, powers[1]) + log_p
        logs, means, variances = [], [], []
        for part in (~far, far):
            top = np.max(exponent[:, part], axis=1)
            mass = np.exp(exponent[:, part] - top[:, None])
            total, mean, square = powers[:, part] @ mass.T
            mean /= total
            logs.append(top + np.log(total))
            means.append(mean)
            variances.append(np.maximum(square / total - mean**2, 0))
        odds = np.exp(np.clip(logs[1] - logs[0], -740, 700))
        share, apart = odds / (1 + odds), means[1] - means[0]
        bend = variances[1] - variances[0] + apart**2 / (1 + odds)
        parts = np.stack([np.log1p(odds), share * apart, share * bend])
        return np.asarray(self.count * parts)

    def tilted_masses(self, tilt: float) -> tuple[Floats, Floats]:
        """Tilted mass of each cell: roughly, and a bound for it.

        Far cells are shown as large as near ones together, roughly.
        """
        center = float(self.cumulants(np.array([tilt]))[0, 0]) / self.count
        rough = np.exp(np.minimum(tilt * self.loss + self.log_p - center, 0))
        most = tilt * self.edges + self.log_most - center
        if self.split < math.inf and np.any(self.far):
            exponent = (tilt * self.loss + self.log_p)[self.far]
            shown = np.exp(exponent - np.max(exponent))
            rough[self.far] = shown / np.sum(shown)
        return rough, np.exp(np.minimum(np.maximum(most, -740), 700))

    def up_to(self, budget: float) -> "Cells":
        """Without the cells above which P has no more than `budget`."""
        above = np.cumsum(np.exp(self.log_most)[::-1])[::-1]
        last = max(int(np.count_nonzero(above > budget)), 2)
        if not np.any(self.log_p[:last] > -1e299):
            return self  # all of P lies above the edges
        names = ("edges", "log_p", "log_most", "loss")
        return replace(self, **{x: getattr(self, x)[:last] for x in names})

    def finer(self, tilt: float, budget: float) -> "Cells":
        """The same loss, with more cells where the tilted mass may be."""
        part = self.up_to(budget)  # the others would hide what is left
        left = np.append(part.edges[0], part.edges[:-1])
        rough, most = part.tilted_masses(tilt)
        seen = (most > _NOTHING / self.count) | (rough > _NOTHING)
        wide = _CELLS_WIDE * (1 + tilt) * (part.edges - left)
        parts = np.where(seen, wide, 0)
        parts = np.ceil(np.maximum(parts, _CELLS_EACH * rough))
        fits = min(1.0, _MOST_CELLS / max(np.sum(parts), 1))
        parts = np.ceil(parts * fits)
        parts = np.clip(parts, 1, _MOST_PARTS).astype(np.int64)
        cell = np.repeat(np.arange(len(parts)), parts)
        rank = 1 + np.arange(len(cell)) - (np.cumsum(parts) - parts)[cell]
        share = rank / parts[cell]
        edges = left[cell] + share * (part.edges - left)[cell]
        edges = np.where(share == 1, part.edges[cell], edges)
        edges = np.unique(edges)
        return Cells.of(self.pair, self.count, edges, budget, self.split)


def total_cumulants(cells: Sequence[Cells], orders: Floats) -> Floats:
    """K, K', K'' of the total loss at the orders: sums over all parts.

    Of what has at least one far step, if cells are split: eq. (int-rare).

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 3, 1e-9)
    >>> bool(total_cumulants([part, part], np.ones(1))[0, 0] > 5.8)
    True
    """
    total = np.asarray(sum(c.cumulants(orders) for c in cells))
    if all(math.isinf(c.split) for c in cells):
        return total
    with np.errstate(over="ignore"):
        add, rise, bend = np.sum([c.rare(orders) for c in cells], axis=0)
        ratio = 1 / np.expm1(np.maximum(add, 1e-300))
    total[0] += np.log(-np.expm1(-np.maximum(add, 1e-300)))
    total[1] += rise * ratio
    total[2] += bend * ratio - rise**2 * ratio * (1 + ratio)
    total[2] = np.maximum(total[2], 0)
    return total


# --- What is asked


@dataclass(frozen=True)
class Query:
    """What is asked: epsilon at a delta, or delta at an epsilon.

    Fields: `delta`, `epsilon` (one of them is None), `relative_width`.

    >>> Query(1e-6, None, 1e-3).width_of_epsilon(2.0, 5.0, 1e-3)
    0.002
    """

    delta: float | None
    epsilon: float | None
    relative_width: float

    def point(self, value: float) -> tuple[float, float]:
        """(epsilon, log delta), if the answer were `value`."""
        if self.epsilon is None:
            return value, math.log(max(self.delta or 0.0, 1e-320))
        return self.epsilon, math.log(max(value, 1e-320))

    def log_spare(self, value: float, order: float, width: float) -> float:
        """Log of the relative error of delta that costs 1 % of the width."""
        scale = value * order if self.epsilon is None else 1.0
        spare = max(_SPARE * width * scale, _LEAST_SPARE)
        return math.log(min(spare, _MOST_SPARE))

    def width_of_epsilon(
        self, value: float, order: float, width: float
    ) -> float:
        """The width of epsilon that is meant by a relative width."""
        return width * (value if self.epsilon is None else 1 / order)

    @property
    def root_room(self) -> float:
        """How near two evaluations around a root should be, relatively."""
        return max(_ROOT * self.relative_width, _LEAST_ROOT)

    def read(self, total: OneSided, guess: float, order: float) -> float:
        """The end of the interval that one side of the total gives."""
        if self.epsilon is None:
            delta, room = self.delta or 0.0, self.root_room
            return read_epsilon(total, delta, guess, order, room)
        return float(read_delta(total, self.epsilon))


# --- The search for the saddle point


@dataclass(frozen=True, eq=False)
class OrderLook:
    """What some orders say of the answer, roughly.

    Fields: `mean`, `variance` of the tilted total; `value`, epsilon, or
    log delta if that is asked; `missing`, what an order lacks of the
    saddle point (at most 0 beyond it), a part of `goal`.
    """

    mean: Floats
    variance: Floats
    value: Floats
    missing: Floats
    goal: float

    def least_order(self, plain: bool) -> float:
        """An order below which none is useful; `plain` without a split."""
        spread = math.sqrt(float(self.variance[0]))
        if spread <= 1e-12:
            return 0.0
        # one atom and a hair of spread: no large order helps
        atom = _ATOM / max(abs(float(self.mean[0])), TINY)
        return min(_BLIND / max(spread, 1e-12), atom if plain else _FEW)


def look_at_orders(
    cells: Sequence[Cells], query: Query, orders: Floats
) -> OrderLook:
    """The right side of eq. (int-saddle), and its distance from a query."""
    moment, mean, variance = total_cumulants(cells, orders)
    with np.errstate(over="ignore"):
        scale = orders * (1 + orders) * np.sqrt(2 * np.pi * variance)
    where = mean if query.epsilon is None else query.epsilon
    peak = -orders * np.log1p(1 / orders) - np.log1p(orders)
    estimate = moment - orders * where
    estimate += np.minimum(peak, -np.log1p(scale))
    if query.epsilon is not None:
        missing = query.epsilon - mean
        return OrderLook(mean, variance, estimate, missing, query.epsilon)
    goal = query.point(0.0)[1]
    missing = estimate - goal
    value = mean + missing / orders
    return OrderLook(mean, variance, value, missing, goal)


def geometric(low: float, high: float, points: int) -> Floats:
    """`np.geomspace`, in a quarter of its time.

    >>> ratio = geometric(0.1, 7.0, 9) / np.geomspace(0.1, 7.0, 9)
    >>> bool(np.max(np.abs(ratio - 1)) < 1e-15)
    True
    """
    start, end = np.log10(low), np.log10(high)
    share = (end - start) / (points - 1)
    places: Floats = 10.0 ** (np.arange(points) * share + start)
    places[0], places[-1] = low, high
    return places


@lru_cache(64)
def spaced(low: float, high: float, points: int) -> Floats:
    """The same, made once: the same few are asked for all the time."""
    return read_only(geometric(low, high, points))


def saddle(
    cells: Sequence[Cells],
    query: Query,
    low: float = 1e-4,
    high: float = 1e11,
    points: int = 40,
) -> tuple[float, float]:
    r"""Order of the saddle point, and an estimate of the answer there.

    Formula: the smallest $\lambda$ with $K'(\lambda) \ge \varepsilon$, or
    where the right side of eq. (int-saddle) comes down to delta.

    Parameters: `cells` of all parts; `query`; `low`, `high`, `points` of
    the grid of orders that is refined.
    Returns: (lambda, epsilon), or (lambda, log delta) if delta is asked.
    No bound; it only chooses where to look.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> order, value = saddle([part], Query(None, 3.0, 1e-3))
    >>> 2.3 < order < 2.7
    True
    """
    orders: Floats = spaced(low, high, points)
    while len(orders) > 1:
        look = look_at_orders(cells, query, orders)
        missing, goal = look.missing, look.goal
        reached = missing <= 0
        k = int(np.argmax(reached)) if np.any(reached) else len(orders) - 1
        ratio = float(orders[1] / orders[0])
        steep = abs(missing[k]) > _STEEP * abs(goal) > 0
        if ratio > _NEAR or (steep and ratio > _AT_ONCE):
            ends = orders[k] / ratio, orders[k] * _AT_ONCE
            orders = geometric(*ends, _FINER)
            continue
        part = 0.0  # how far the root lies back between k and k - 1
        if k > 0 and missing[k] <= 0 < missing[k - 1]:
            part = missing[k] / (missing[k] - missing[k - 1])
        orders = orders[[k]] * (orders[k - 1] / orders[k]) ** part
    look = look_at_orders(cells, query, orders)
    least = look.least_order(all(math.isinf(c.split) for c in cells))
    if float(orders[0]) < least:
        orders = np.array([least])
        look = look_at_orders(cells, query, orders)
    return float(orders[0]), float(look.value[0])


# --- The tilt


@lru_cache(1)  # the first grid asks what has shown whether one will do
def choose_tilt(
    cells: tuple[Cells, ...], order: float, epsilon: float, log_delta: float
) -> tuple[float, float, tuple[float, float]]:
    r"""A tilt with a short window, its excess, and exponents of the window.

    Formula: excess $K(\lambda) + \ln \text{peak} - \lambda \varepsilon -
    \ln \delta$; the window reaches to $(K(\lambda') - K(\lambda) +
    30)/(\lambda' - \lambda)$, the best over $\lambda'$.

    Parameters: `cells` of all parts; `order`, the saddle point;
    `epsilon`, `log_delta`, where we expect the answer.
    Returns: (tilt, excess >= 0, (lambda - lambda' for the lower end,
    lambda' - lambda for the upper end)). Any of them is valid.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> tilt, excess, (below, above) = choose_tilt((part,), 2.5, 3.0, -7.0)
    >>> 1.5 < tilt < 4
    True
    """
    tilts = order * np.linspace(*_TILTS[:2], _TILTS[2])
    other = order * spaced(*_ENDS)
    orders = np.concatenate([-other[::-1], tilts, tilts[-1] + other])
    every, _, _ = total_cumulants(cells, orders)
    moments = every[len(other) : -len(other)]  # those of the tilts
    apart = orders[None, :] - tilts[:, None]
    with np.errstate(divide="ignore", over="ignore"):
        reach = (every[None, :] - moments[:, None] + _LOG_OUTSIDE) / apart
    high = np.min(np.where(apart > 0, reach, np.inf), axis=1)
    low = np.max(np.where(apart < 0, reach, -np.inf), axis=1)
    peaks = np.array([log_peak(x) for x in tilts])
    excess = moments + peaks - tilts * epsilon - log_delta
    least = float(np.min(excess))
    cost = (high - low) * (1 + _DEAR * (excess - least))
    above = np.clip(excess - _FREE_EXCESS, 0, _MOST_EXCESS - _FREE_EXCESS)
    cost *= np.exp(above / 2)
    affordable = excess <= max(least + _MORE_EXCESS, _MOST_EXCESS)
    k = int(np.argmin(np.where(affordable, cost, np.inf)))
    # Exponents of the window's ends: once more, on a finer grid.
    beyond = order * spaced(*_FINE_ENDS)
    thetas = []
    for sign in (-1, 1):
        more = total_cumulants(cells, tilts[k] + sign * beyond)[0]
        reach = (more - moments[k] + _LOG_OUTSIDE) / beyond
        thetas.append(float(beyond[np.argmin(reach)]))
    excess_there = max(float(excess[k]), 0.0)
    return float(tilts[k]), excess_there, (thetas[0], thetas[1])


# --- How wide will it be?


def predicted_width(
    cells: Sequence[Cells], order: float, steps: Floats
) -> Floats:
    r"""Width of the interval for epsilon that steps will give, roughly.

    Formula: eq. (int-width).

    Parameters: `cells` of all parts; `order` of the saddle point; `steps`.
    Returns: predictions, no bounds: the width is measured in the end.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 8, 1e-30)
    >>> predicted_width([part], 1.0, np.array([0.1])).round(6)
    array([0.02])
    """
    total = np.zeros(len(steps))
    for part in cells:
        share = np.ones(len(steps))
        small = np.zeros(len(steps))
        if any(map(math.isfinite, part.pair.loss_range)):
            rough, _ = part.tilted_masses(order)
            rough = np.where(part.far, 0, rough)
            rank = np.argsort(np.abs(part.loss))
            size, rough = np.abs(part.loss)[rank], rough[rank]
            k = np.searchsorted(size, steps / _NEAR_A_POINT)
            below = np.append(0.0, np.cumsum(rough))
            whole = max(float(below[-1]), TINY)  # all mass may be infinite
            share = 1 - below[k] / whole
            small = np.append(0.0, np.cumsum(rough * size))[k] / whole
        total += part.count * (1.5 * steps * small + steps**2 / 4 * share)
    if any(part.split < math.inf for part in cells):
        total += steps**2 / 4  # at least one far step
    return (1 + order) / 2 * total


# --- Two helpers of the search


def jump_delta(
    cells: Sequence[Cells], epsilon: float, share: float
) -> tuple[float, float]:
    """Delta of single steps, added up, and minus the slope of its log.

    Parameters: `cells` of all parts, of which far ones count if there are
    any; `epsilon`; `share` of it that one step has to reach.
    Returns: rough numbers, no bounds.
    """
    gain = fall = 0.0
    for part in cells:
        far = part.far if part.split < math.inf else part.log_p > -1e299
        mass = part.count * np.exp(part.log_p[far])
        less = np.exp(np.minimum(share * epsilon - part.loss[far], 0.0))
        gain += float(mass @ (1 - less))
        fall += float((mass * less) @ (less < 1))
    return min(gain, 1.0), fall / gain if gain > 0 else 0.0


def within(one: Bound, other: Bound) -> Bound:
    """What two intervals around the same truth have in common.

    >>> within(Bound(0.0, 2.0), Bound(1.0, 3.0))
    Bound(lower=1.0, upper=2.0)
    """
    lower, upper = max(one.lower, other.lower), min(one.upper, other.upper)
    if lower > upper:
        raise ArithmeticError(f"no common part: {one!r}, {other!r}")
    return Bound(lower, upper)
