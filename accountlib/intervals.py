# Generated from notebooks/05_intervals.md by tools/tangle.py; do not edit.

"""Intervals as narrow as asked."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from accountlib.composition import (
    SIDES,
    Bound,
    any_infinite,
    log_peak,
    tilted_curve,
)
from accountlib.divergences import Floats, check_number
from accountlib.privacy_loss import (
    HAIR,
    LARGEST_LOSS,
    TINY,
    UNIT,
    BoundKind,
    GridTooFine,
    convex_hull,
    lower_share,
    mass_error,
    upper_share,
)
from accountlib.worst_case_pairs import (
    Adjacency,
    DiscretePair,
    DominatingPair,
    Release,
    check_kind,
    dominating_pairs,
)

__all__ = [
    "MOST_POINTS",
    "FINE_GRID",
    "LEVEL",
    "FIRST_WIDTH",
    "POWERS",
    "Losses",
    "TiltedTable",
    "tilt_masses",
    "Cells",
    "total_moments",
    "Query",
    "saddle",
    "choose_tilt",
    "predicted_width",
    "largest_step",
    "cut_tails",
    "grid_offset",
    "aligned_step",
    "graded_points",
    "bound_tables",
    "index_moments",
    "tail_window",
    "whole_power",
    "add_tables",
    "coarsen_upper",
    "coarsen_lower",
    "add_in_levels",
    "read_delta",
    "read_epsilon",
    "Search",
    "directions",
    "loss_ceiling",
    "infinite_bound",
    "known_answer",
    "limited",
    "answer",
    "epsilon",
    "delta",
]

MOST_POINTS = 2**21  # of a transform
FINE_GRID = 2048  # cells; a longer table gets coarser cells in its tails
LEVEL = 8192  # grid points of a block
FIRST_WIDTH = 0.03  # relative width of the first, quick look
POWERS = np.logspace(-9, 4, 131)
Losses = Sequence[tuple[DominatingPair, int]]


@dataclass(frozen=True, eq=False)
class TiltedTable:
    r"""One side of a total privacy loss: tilted, on a grid, in a window.

    Formula: P-mass $e^{K - \lambda \ell_k} m_k$ at the loss
    $\ell_k = o + (f + k) \Delta$, and $p_\infty$ at infinity.

    Fields: `step` ($\Delta$), `offset` (o), `first_index` (f), `mass`
    ($m_k \ge 0$), `tilt` ($\lambda \ge 0$), `log_scale` (K), `tail`
    ($\tau$), `infinity_mass`, `bound` ("upper" or "lower"): the side of
    the truth on which eq. (int-upper) holds.
    Source: chapter 5, "Definition".

    >>> TiltedTable(
    ...     0.5, 0.0, 1, np.ones(2), 0.0, 0.0, 0.0, 0.0, "upper"
    ... ).losses
    array([0.5, 1. ])
    """

    step: float
    offset: float
    first_index: int
    mass: Floats
    tilt: float
    log_scale: float
    tail: float
    infinity_mass: float
    bound: BoundKind

    @property
    def sign(self) -> int:
        """1 for an upper table, -1 for a lower one: the way to round."""
        return 1 if self.bound == "upper" else -1

    @property
    def losses(self) -> Floats:
        """The grid of losses, one per entry of `mass`."""
        indices = self.first_index + np.arange(len(self.mass))
        return self.offset + self.step * indices


def tilt_masses(
    losses: Floats, mass: Floats, tilt: float, sign: int
) -> tuple[Floats, float]:
    r"""Tilted masses with sum 1, rounded up (sign 1) or down (sign -1).

    Formula: $m_k = e^{\lambda \ell_k - K} p_k$ with
    $e^K = \sum_k e^{\lambda \ell_k} p_k$.

    Parameters: `losses`, `mass` ($p_k \ge 0$, not all 0), `tilt`, `sign`.
    Returns: (m, K); $e^{K - \lambda \ell_k} m_k$ lies on the wanted side
    of $p_k$, for this very K.
    Error: an exponential of x errs by about |x| u; 4 times that, and
    more, is added or taken away.
    Source: chapter 5, "Making tables".

    >>> mass, log_scale = tilt_masses(
    ...     np.log([1 / 3, 3.0]), np.array([0.25, 0.75]), 1.0, 1
    ... )
    >>> (28 * mass).round(9), round(math.exp(log_scale), 9)
    (array([ 1., 27.]), 2.333333333)
    """
    seen = mass > 0
    log_mass = np.log(np.where(seen, mass, 1.0))
    exponent = np.where(seen, tilt * losses + log_mass, -np.inf)
    top = float(np.max(exponent))
    log_scale = top + math.log(float(np.sum(np.exp(exponent - top))))
    size = np.abs(tilt * losses) + np.abs(log_mass) + 8 + abs(log_scale)
    tilted = np.exp(exponent - log_scale) * (1 + sign * 4 * UNIT * size)
    return np.maximum(tilted, 0), log_scale


@dataclass(frozen=True, eq=False)
class Cells:
    r"""A rough look at the loss of one pair: its masses in some cells.

    Formula: merged loss $\ln(P_i/Q_i)$ of cell i, which lies between the
    edges i - 1 and i (cell 0: below edge 0).

    Fields: `pair`, `count` (T), `edges`, `log_p` (-1e300 for nothing),
    `log_most` (an upper bound of it), `loss` (merged), and `beyond`, an
    upper bound of the P-mass of losses above the last edge.
    Source: chapter 5, "A rough look at one loss".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> cells = Cells.first(GaussianPair(1.0), 3, 1e-9)
    >>> bool(8.7 < cells.log_moments(np.array([2.0]))[0] < 9)
    True
    """

    pair: DominatingPair
    count: int
    edges: Floats
    log_p: Floats
    log_most: Floats
    loss: Floats
    beyond: float

    @classmethod
    def of(
        cls, pair: DominatingPair, count: int, edges: Floats, budget: float
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
        beyond = float(above[last]) * (1 + 1e-9)
        if edges[-1] < pair.loss_range[1]:
            beyond += 1e-305  # smaller masses may be rounded to 0
        return cls(pair, count, edges, log_p, log_most, loss, beyond)

    @classmethod
    def first(cls, pair: DominatingPair, count: int, budget: float) -> "Cells":
        """Cells of growing width around 0 and the ends of the losses."""
        edges = np.concatenate([-POWERS, [0.0], POWERS])
        for end, sign in zip(pair.loss_range, (1, -1), strict=True):
            if math.isfinite(end):
                edges = np.append(edges, end + sign * POWERS)
                edges = edges[sign * edges > sign * end]
                # an atom at the end may be rounded
                room = 1e-9 * (1e-3 + abs(end))
                edges = np.append(edges, end - sign * room)
        return cls.of(pair, count, np.unique(edges), budget)

    def cumulants(self, orders: Floats) -> tuple[Floats, Floats, Floats]:
        """K and its first two derivatives at the orders, for `count` runs."""
        exponent = np.multiply.outer(orders, self.loss) + self.log_p
        top = np.max(exponent, axis=1)
        mass = np.exp(exponent - top[:, None])
        total = np.sum(mass, axis=1)
        mean = mass @ self.loss / total
        variance = np.maximum(mass @ self.loss**2 / total - mean**2, 0)
        moment = self.count * (top + np.log(total))
        return moment, self.count * mean, self.count * variance

    def log_moments(self, orders: Floats) -> Floats:
        """K at the orders, for `count` runs."""
        return self.cumulants(orders)[0]

    def tilted_masses(self, tilt: float) -> tuple[Floats, Floats]:
        """Tilted mass of each cell: roughly, and a bound for it."""
        center = float(self.log_moments(np.array([tilt]))[0]) / self.count
        rough = np.exp(np.minimum(tilt * self.loss + self.log_p - center, 0))
        most = tilt * self.edges + self.log_most - center
        return rough, np.exp(np.clip(most, -740, 700))

    def finer(self, tilt: float, budget: float) -> "Cells":
        """The same loss, with more cells where the tilted mass may be."""
        left = np.append(self.edges[0], self.edges[:-1])
        rough, most = self.tilted_masses(tilt)
        seen = most > 1e-20 / self.count
        parts = np.where(seen, 2 * (1 + tilt) * (self.edges - left), 0)
        parts = np.ceil(np.maximum(parts, 100 * rough))
        parts = np.ceil(parts * min(1.0, 1500 / max(np.sum(parts), 1)))
        parts = np.clip(parts, 1, 200)
        new = [
            np.linspace(left[k], self.edges[k], int(parts[k]) + 1)
            for k in np.flatnonzero((parts > 1) & (left < self.edges))
        ]
        edges = np.unique(np.concatenate([self.edges, *new]))
        return Cells.of(self.pair, self.count, edges, budget)


def total_moments(cells: Sequence[Cells], orders: Floats) -> Floats:
    """K of the total loss at the orders: the sum over all parts.

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 3, 1e-9)
    >>> bool(total_moments([part, part], np.ones(1))[0] > 5.8)
    True
    """
    return np.asarray(sum(c.log_moments(orders) for c in cells))


@dataclass(frozen=True)
class Query:
    """What is asked: epsilon at a delta, or delta at an epsilon.

    Fields: `delta`, `epsilon` (one of them is None), `relative_width`.
    Source: chapter 5, "What is asked".

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
        return math.log(min(max(0.01 * width * scale, 1e-9), 0.01))

    def width_of_epsilon(
        self, value: float, order: float, width: float
    ) -> float:
        """The width of epsilon that is meant by a relative width."""
        return width * (value if self.epsilon is None else 1 / order)

    def read(self, table: TiltedTable) -> float:
        """The end of the interval that a table gives."""
        if self.epsilon is None:
            return max(0.0, read_epsilon(table, self.delta or 0.0))
        return read_delta(table, self.epsilon)


def saddle(
    cells: Sequence[Cells],
    query: Query,
    low: float = 1e-4,
    high: float = 1e11,
    points: int = 80,
) -> tuple[float, float]:
    r"""Order of the saddle point, and an estimate of the answer there.

    Formula: the smallest $\lambda$ with $K'(\lambda) \ge \varepsilon$, or
    where the right side of eq. (int-saddle) comes down to delta.

    Parameters: `cells` of all parts; `query`; `low`, `high`, `points` of
    the grid of orders that is refined.
    Returns: (lambda, epsilon), or (lambda, log delta) if delta is asked.
    No bound; it only chooses where to look.
    Source: chapter 5, "The saddle point".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> order, value = saddle([part], Query(None, 3.0, 1e-3))
    >>> 2.3 < order < 2.7
    True
    """
    orders = np.geomspace(low, high, points)
    while True:
        sums = np.sum([c.cumulants(orders) for c in cells], axis=0)
        moment, mean, variance = sums
        with np.errstate(over="ignore"):
            scale = orders * (1 + orders) * np.sqrt(2 * np.pi * variance)
        where = mean if query.epsilon is None else query.epsilon
        peak = -orders * np.log1p(1 / orders) - np.log1p(orders)
        estimate = moment - orders * where
        estimate += np.minimum(peak, -np.log1p(scale))
        if query.epsilon is None:
            reached = estimate <= query.point(0.0)[1]
        else:
            reached = mean >= query.epsilon
        k = int(np.argmax(reached)) if np.any(reached) else len(orders) - 1
        ratio = float(orders[1] / orders[0])
        if ratio < 1.02:
            value = mean[k] if query.epsilon is None else estimate[k]
            return float(orders[k]), float(value)
        orders = np.geomspace(orders[k] / ratio, orders[k] * 1.001, 9)


def choose_tilt(
    cells: Sequence[Cells], order: float, epsilon: float, log_delta: float
) -> tuple[float, float]:
    r"""A tilt with a short window, and its excess.

    Formula: excess $K(\lambda) + \ln \text{peak} - \lambda \varepsilon -
    \ln \delta$; the window reaches to $(K(\lambda') - K(\lambda) +
    24)/(\lambda' - \lambda)$, the best over $\lambda'$.

    Parameters: `cells` of all parts; `order`, the saddle point;
    `epsilon`, `log_delta`, where we expect the answer.
    Returns: (tilt, excess >= 0). Any tilt is valid.
    Source: chapter 5, "The tilt".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> tilt, excess = choose_tilt([part], 2.5, 3.0, -7.0)
    >>> 1.5 < tilt < 3
    True
    """
    orders = order * np.append(
        np.linspace(-1, 2, 91), np.geomspace(2.1, 8, 20)
    )
    moments = total_moments(cells, orders)
    apart = orders[None, :] - orders[:, None]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reach = (moments[None, :] - moments[:, None] + 24.0) / apart
        high = np.min(np.where(apart > 0, reach, np.inf), axis=1)
        low = np.max(np.where(apart < 0, reach, -np.inf), axis=1)
    peaks = np.array([log_peak(max(float(x), 0.0)) for x in orders])
    excess = moments + peaks - orders * epsilon - log_delta
    allowed = (orders > 0) & (orders < 1.2 * order)
    least = float(np.min(excess[allowed]))
    cost = (high - low) * (1 + 0.05 * (excess - least))
    cost = np.where(allowed & (excess <= least + 8), cost, np.inf)
    k = int(np.argmin(cost))
    return float(orders[k]), max(float(excess[k]), 0.0)


def predicted_width(
    cells: Sequence[Cells], order: float, step: float
) -> float:
    r"""Width of the interval for epsilon that a step will give, roughly.

    Formula: eq. (int-width).

    Parameters: `cells` of all parts; `order` of the saddle point; `step`.
    Returns: a prediction, no bound: the width is measured in the end.
    Source: chapter 5, "How wide will it be?".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 8, 1e-30)
    >>> round(predicted_width([part], 1.0, 0.1), 6)
    0.02
    """
    total, most = 0.0, step**2 / 4
    for part in cells:
        if any(map(math.isfinite, part.pair.loss_range)):
            rough, _ = part.tilted_masses(order)
            spread = np.minimum(0.75 * step * np.abs(part.loss), most)
            total += part.count * float(rough @ spread / np.sum(rough))
        else:
            total += part.count * most
    return (1 + order) / 2 * total


def largest_step(
    cells: Sequence[Cells], order: float, width: float, steps: Floats
) -> float:
    """The largest of increasing steps whose predicted width is small enough.

    Returns: one of `steps`, the first one if none is small enough.

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 8, 1e-30)
    >>> largest_step([part], 1.0, 0.02, np.array([0.05, 0.09, 0.2]))
    0.09
    """
    low, high = 0, len(steps) - 1
    while low < high:
        k = (low + high + 1) // 2
        if predicted_width(cells, order, float(steps[k])) <= width:
            low = k
        else:
            high = k - 1
    return float(steps[low])


def cut_tails(
    part: Cells, tilt: float, log_tail: float
) -> tuple[float, float, float]:
    """Two losses with little tilted mass outside, and a bound of it.

    Parameters: `part`; `tilt`; `log_tail`, logarithm of the tilted mass
    that may be cut on each side, of one step.
    Returns: (low, high, tail); `tail` is an upper bound of the tilted
    mass below low and between high and the last edge of `part`.
    Source: chapter 5, "Cutting the tails".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> low, high, tail = cut_tails(part.finer(1.0, 1e-30), 1.0, -20.0)
    >>> tail < 1e-8
    True
    """
    _, most = part.tilted_masses(tilt)
    below = np.cumsum(most)
    above = np.append(np.cumsum(most[::-1])[::-1][1:], 0.0)
    small = math.exp(log_tail)
    i = int(np.count_nonzero(below <= small)) - 1
    if i < 0 and math.isfinite(part.pair.loss_range[0]):
        i, below = 0, np.zeros(1)  # nothing lies below the smallest loss
    i, j = max(i, 0), int(np.count_nonzero(above > small))
    tail = 1.001 * float(below[i] + above[j])
    return float(part.edges[i]), float(part.edges[j]), tail


def grid_offset(
    pair: DominatingPair, step: float
) -> tuple[float, float | None]:
    r"""A loss that should be a grid point, and where its tangent touches.

    Formula: $b = \ln(P(L \le x_0)/Q(L \le x_0))$ with
    $x_0 \approx b + \Delta/2$; for pairs with a largest loss mirrored.

    Parameters: `pair`; `step`.
    Returns: (b, x0), with x0 None where the middle of the cell will do.
    Source: chapter 5, "Where the grid begins".

    >>> from accountlib.worst_case_pairs import GaussianPair, SampledPair
    >>> offset, touch = grid_offset(SampledPair(GaussianPair(1.0), 1e-6), 1.0)
    >>> abs(offset) < 1e-6 and 0.4 < touch < 0.6
    True
    """
    low, high = pair.loss_range
    if 0 < len(pair.atoms) <= 100:
        return pair.atoms[0], None
    if math.isinf(low) and math.isinf(high):
        return 0.0, None
    end, sign, k = (low, 1, 0) if math.isfinite(low) else (high, -1, 1)
    offset, touch = end, None
    for _ in range(4):
        x = offset + sign * step / 2
        p, q = pair.masses([x])
        if min(p[k], q[k]) <= TINY:
            break
        offset, touch = math.log(p[k]) - math.log(q[k]), x
    if touch is None or not 0.2 < sign * (touch - offset) / step < 0.8:
        return end, None
    return offset, touch


def aligned_step(step: float, pairs: Sequence[DominatingPair]) -> float:
    r"""A step of nearly the given size whose grid meets the atoms.

    Formula: among $d/k$, with d the largest distance of an atom from the
    first one of its pair, the step between 0.7 and 1 times `step` that
    misses the atoms least; where there is nothing but atoms, and all on
    one lattice, its spacing.

    Parameters: `step`; `pairs`, whose atoms are meant.
    Returns: a step; the same one if there are no atoms, more than 100 of
    them, or too many candidates.
    Source: chapter 5, "Where the grid begins".

    >>> from accountlib.worst_case_pairs import DiscretePair, LaplacePair
    >>> aligned_step(0.4, [LaplacePair(1.0)])
    0.4
    >>> round(aligned_step(0.4, [DiscretePair((0.6, 0.4), (0.4, 0.6))]), 4)
    0.8109
    """
    atoms = [x - pair.atoms[0] for pair in pairs for x in pair.atoms]
    largest = max(map(abs, atoms), default=0.0)
    only_atoms = all(pair.discrete for pair in pairs)
    if largest == 0 or len(atoms) > 100 or largest > 20_000 * step:
        return step
    if largest < step and not only_atoms:
        return step
    first = math.ceil(largest / step)
    parts = np.arange(1, max(math.ceil(first / 0.7), first + 1) + 1)
    ratio = np.outer(atoms, parts / largest)
    missed = np.max(np.abs(ratio - np.round(ratio)), axis=0)
    exact = np.flatnonzero(missed < 1e-9)
    if only_atoms and len(exact) > 0:
        return largest / int(parts[exact[0]])
    best = np.argmin((missed / parts)[first - 1 :])
    return largest / int(parts[first - 1 + best])


def graded_points(
    part: Cells,
    tilt: float,
    step: float,
    offset: float,
    low: float,
    high: float,
) -> NDArray[np.int64]:
    r"""Grid points from low to high, wider apart in the tails.

    Formula: cells $2^j \Delta$ wide where the tilted mass beyond is below
    $16^{-j}/100$, no wider than $1/(4 (1 + \lambda))$.

    Parameters: `part`, `tilt`; `step`, `offset` of the fine grid; `low`,
    `high`, losses to be covered.
    Returns: increasing whole numbers i; the losses are offset + i step.
    Raises: GridTooFine for too many of them.
    Source: chapter 5, "Coarser cells in the tails".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> len(graded_points(part, 1.0, 1e-4, 0.0, -5.0, 8.0)) < 90_000
    True
    """
    first = math.floor((low - offset) / step - 1e-9)
    last = max(math.ceil((high - offset) / step + 1e-9), first + 1)
    if last - first > 8 * MOST_POINTS:
        raise GridTooFine(step, last - first)
    if part.pair.atoms:  # may be rounded across a grid point
        return np.arange(first - 1, last + 2)
    doublings = int(math.log2(max(0.25 / (step * (1 + tilt)), 1.0)))
    if last - first < FINE_GRID or doublings == 0:
        return np.arange(first, last + 1)
    rough, _ = part.tilted_masses(tilt)
    rough /= np.sum(rough)
    levels = 0.01 * 16.0 ** -np.arange(1, doublings + 1)
    index = (part.edges - offset) / step
    right = np.searchsorted(np.cumsum(rough[::-1]), levels, side="right")
    left = np.searchsorted(np.cumsum(rough), levels, side="right")
    # Last cells whose tail is still larger, in grid points.
    ups = np.ceil(index[np.maximum(len(index) - 1 - right, 0)])
    downs = np.floor(index[np.maximum(left - 1, 0)])
    ups = np.clip(np.append(ups, last)[1:], first + 1, last)
    downs = np.clip(np.append(downs, first)[1:], first, last - 1)
    a = int(np.clip(np.floor(index[max(left[0] - 1, 0)]), first, last - 1))
    b = int(np.clip(np.ceil(index[len(index) - 1 - right[0]]), a + 1, last))
    up, down = [np.arange(a, b + 1)], []
    for k in range(doublings):
        wide = 2 ** (k + 1)
        n = max(0, -(-(int(ups[k]) - b) // wide))
        up.append(b + wide * np.arange(1, n + 1))
        b += wide * n
        n = max(0, -(-(a - int(downs[k])) // wide))
        down.append(a - wide * np.arange(n, 0, -1))
        a -= wide * n
    return np.concatenate(down[::-1] + up)


def bound_tables(
    part: Cells,
    step: float,
    tilt: float,
    log_tail: float,
    sides: Sequence[BoundKind] = SIDES,
) -> list[TiltedTable]:
    """One-sided tables of one loss, cut for `part.count` steps.

    Formula: `upper_share` and `lower_share` of chapter 3, tilted.

    Parameters: `part`; `step`; `tilt`; `log_tail`, logarithm of the
    tilted mass that all steps together may lack on each side; `sides`.
    Returns: one table per side, valid for the loss of a single step.
    Raises: GridTooFine for a grid that is too long.
    Source: chapter 5, "Both tables of one loss".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30).finer(2.0, 1e-30)
    >>> upper, lower = bound_tables(part, 0.05, 2.0, -20.0)
    >>> read_delta(lower, 1.0) < 0.1269367 < read_delta(upper, 1.0)
    True
    """
    pair = part.pair
    low, high, tail = cut_tails(part, tilt, log_tail - math.log(part.count))
    bottom, top = pair.loss_range
    low, high = max(low, bottom), min(high, top)
    offset, touch = grid_offset(pair, step)
    points = graded_points(part, tilt, step, offset, low, high)
    losses = offset + step * points
    edges = np.empty(2 * len(points) - 1)
    edges[::2] = losses
    edges[1::2] = offset + step / 2 * (points[1:] + points[:-1])
    if touch is not None:
        k = 2 * int(np.searchsorted(points, 0))
        k += 1 if touch > offset else -1
        if 0 < k < len(edges) - 1 and edges[k - 1] < touch < edges[k + 1]:
            edges[k] = touch
    p, q = pair.interval_masses(edges, np.diff(edges), "right")
    left = p[0] if low <= bottom else 0.0  # rounding may leave some there
    right = p[-1] if high >= top else 0.0
    p[0] = q[0] = 0.0
    mass, widths = p[1:-1:2] + p[2:-1:2], np.diff(losses)
    before = None
    if pair.atoms:
        moved = losses - step * HAIR
        p_cut, q_cut = pair.interval_masses(moved, np.diff(moved), "right")
        before = p_cut[1:-1], q_cut[1:-1]
    coarse = losses[-1] > LARGEST_LOSS or step < 1e-14
    rounded = 8 * UNIT * float(np.max(np.abs(losses[[0, -1]])))
    rounded += 2.0**-43 if pair.atoms else 0.0
    tables = []
    for side in sides:
        sign = 1 if side == "upper" else -1
        share: Floats
        if coarse:
            share = mass if sign > 0 else np.zeros(len(mass))
        elif sign > 0:
            share = upper_share(widths, edges, p, q)
        else:
            share = lower_share(widths, edges, p, q, before)
        grid = np.append(mass - share, 0.0)
        grid[1:] += share
        if sign > 0:
            grid[0] += left
        else:
            grid[-1] += p[-1]
            grid = grid if coarse else convex_hull(losses, grid)
        grid = grid * (1 + sign * mass_error(grid))
        log_scale = 0.0
        if np.max(grid) > 0:
            grid, log_scale = tilt_masses(losses, grid, tilt, sign)
        dense = np.zeros(int(points[-1] - points[0]) + 1)
        dense[points - points[0]] = grid
        infinity = pair.infinite_mass[0]
        infinity += part.beyond + right if sign > 0 else 0.0
        tables.append(
            TiltedTable(
                step=step,
                offset=offset + sign * rounded,
                first_index=int(points[0]),
                mass=dense,
                tilt=tilt,
                log_scale=log_scale + sign * tilt * rounded,
                tail=tail if sign > 0 else 0.0,
                infinity_mass=min(1.0, infinity * (1 + sign * 4 * UNIT)),
                bound=side,
            )
        )
    return tables


def index_moments(table: TiltedTable) -> tuple[float, float]:
    """Mean and variance of the index under the tilted masses.

    >>> table = TiltedTable(
    ...     1.0, 0.0, 0, np.array([0.5, 0.5]), 0.0, 0.0, 0.0, 0.0, "upper"
    ... )
    >>> index_moments(table)
    (0.5, 0.25)
    """
    index = np.arange(len(table.mass))
    total = float(np.sum(table.mass))
    if total == 0:
        return 0.0, 0.0  # no finite loss
    mean = float(table.mass @ index) / total
    return mean, float(table.mass @ (index - mean) ** 2) / total


def tail_window(
    parts: Sequence[tuple[TiltedTable, int]], log_tail: float
) -> tuple[float, float]:
    r"""Indices outside of which the tilted total has little mass.

    Formula: $x = (\ln E_\lambda[e^{\theta S}] - \ln \tau)/\theta$, the
    best of some $\theta$, and the mirror image.

    Parameters: `parts`, tables and counts; `log_tail` ($\ln \tau$).
    Returns: (low, high), counted from the sum of the first indices.
    Source: Chernoff (1952); chapter 5, "The window".

    >>> table = TiltedTable(
    ...     1.0, 0.0, 0, np.array([0.5, 0.5]), 0.0, 0.0, 0.0, 0.0, "upper"
    ... )
    >>> low, high = tail_window([(table, 10_000)], -28.0)
    >>> 4600 < low < 4640 and 5360 < high < 5400
    True
    """
    means, pooled, variance = [], [], 0.0
    for table, count in parts:
        mean, spread = index_moments(table)
        variance += count * spread
        means.append(mean)
        width = max(1, len(table.mass) // 512)
        starts = np.arange(0, len(table.mass), width)
        mass = np.add.reduceat(table.mass, starts)
        places = starts + (width - 1) / 2 - mean
        pooled.append((places, mass / np.sum(mass)))
    longest = max(len(table.mass) for table, _ in parts)
    theta = math.sqrt(-2 * log_tail / max(variance, 1e-30))
    thetas = np.geomspace(
        min(theta / 8, -log_tail / longest / 2), 4 * theta, 16
    )
    center = math.fsum(n * x for (_, n), x in zip(parts, means, strict=True))
    ends = []
    for sign in (-1, 1):
        growth = np.zeros(len(thetas))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for (_, count), (places, mass) in zip(parts, pooled, strict=True):
                factors = np.exp(np.multiply.outer(sign * thetas, places))
                growth += count * np.log(factors @ mass)
            reach = (growth - log_tail) / thetas
        reach = np.where(np.isfinite(reach), reach, np.inf)
        best = float(thetas[np.argmin(reach)])
        exact = 0.0
        for (table, count), mean in zip(parts, means, strict=True):
            seen = np.flatnonzero(table.mass)
            exponent = sign * best * (seen - mean) + np.log(table.mass[seen])
            top = float(np.max(exponent))
            log_sum = math.log(float(np.sum(np.exp(exponent - top))))
            exact += count * (top + log_sum)
        ends.append(center + sign * (exact - log_tail) / best * (1 + 1e-9))
    return ends[0] - 1e-3, ends[1] + 1e-3


def whole_power(base: Floats, count: int) -> Floats:
    """Elementwise power with a whole exponent, by repeated squaring.

    Error: relative error below count times 16 unit round-offs.

    >>> whole_power(np.array([2.0]), 10)
    array([1024.])
    """
    result = np.ones_like(base)
    while count:
        if count % 2:
            result = result * base
        count //= 2
        if count:
            base = base * base
    return result


def add_tables(
    parts: Sequence[tuple[TiltedTable, int]], log_tail: float
) -> TiltedTable:
    r"""One-sided table of a sum of independent losses, by FFT.

    Formula: $\hat m = \prod_j \hat m_j^{T_j}$ on a circle as long as the
    window; K, offsets and first indices add up.

    Parameters: `parts`, tables of one side, step and tilt, and counts;
    `log_tail`, logarithm of the tilted mass outside of the window.
    Returns: a table on the same side; all errors are inside of it.
    Raises: GridTooFine if the window has more than `MOST_POINTS` points.
    Source: chapter 5, "One round".

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0, np.array([0.25, 0.75]), 0.0, 0.0, 0.0, 0.0, "upper"
    ... )
    >>> add_tables([(coin, 2)], -30.0).mass.round(6)
    array([0.0625, 0.375 , 0.5625])
    """
    model = parts[0][0]
    sign, tilt = model.sign, model.tilt
    length = sum(n * (len(table.mass) - 1) for table, n in parts) + 1
    infinity = any_infinite([(t.infinity_mass, n) for t, n in parts])
    infinity *= 1 + sign * 8 * UNIT * len(parts)
    # Rounding of the two sums: move the table outward by as much.
    moved = 4 * UNIT * math.fsum(n * abs(t.offset) for t, n in parts)
    raised = 4 * UNIT * math.fsum(n * abs(t.log_scale) for t, n in parts)
    offset = math.fsum(n * t.offset for t, n in parts)
    log_scale = math.fsum(n * t.log_scale for t, n in parts)
    total = replace(
        model,
        offset=offset + sign * moved,
        first_index=sum(n * table.first_index for table, n in parts),
        mass=np.zeros(1),
        log_scale=log_scale + sign * (raised + tilt * moved),
        tail=math.fsum(n * table.tail for table, n in parts),
        infinity_mass=min(1.0, infinity),
    )
    if any(np.max(table.mass) == 0 for table, _ in parts):
        return total  # no finite loss at all
    low, high = tail_window(parts, log_tail)
    first = max(math.floor(low), 0)
    last = max(min(math.ceil(high), length - 1), first)
    if last - first >= MOST_POINTS:
        raise GridTooFine(total.step, last - first + 1)
    size = next_fast_len(last - first + 1, real=True)
    whole = size >= length
    if whole:
        first, last = 0, length - 1

    steps, stages = sum(n for _, n in parts), 8 * max(1.0, math.log2(size))
    precise = steps * stages * UNIT > 0.01 * math.exp(log_tail)
    kind = np.longdouble if precise else np.float64
    unit = float(np.finfo(kind).eps) / 2
    half = size // 2 + 1
    log_power, spectra, middle = np.zeros(half), [], 0
    for table, count in parts:
        center = round(index_moments(table)[0])
        middle += count * center
        index = (np.arange(len(table.mass)) - center) % size
        folded = np.zeros(size, kind)
        if len(table.mass) <= size:
            folded[index] = table.mass
        else:
            folded += np.bincount(index, table.mass, size)
        spectra.append(rfft(folded))
        radius = np.abs(spectra[-1]).astype(np.float64)
        log_power += count * np.log(radius + unit * stages)
    keep = np.flatnonzero(log_power > -90)
    composed = np.ones(len(keep), spectra[0].dtype)
    relative, log_most = np.zeros(len(keep)), np.zeros(len(keep))
    for (_, count), spectrum in zip(parts, spectra, strict=True):
        factor = spectrum[keep]
        radius = np.abs(factor).astype(np.float64) + unit * stages
        composed = composed * whole_power(factor, count)
        relative += count * unit * (stages / radius + 24)
        log_most += count * np.log(radius)
    # Error of the kept entries; all others are below e^-90, errors included.
    wrong = np.exp(log_most) * (1.01 * relative + stages * unit)
    entry_error = (2 * float(np.sum(wrong)) + 2 * half * math.exp(-89)) / size
    full = np.zeros(half, composed.dtype)
    full[keep] = composed
    circle = irfft(full, size).astype(np.float64)
    mass = np.roll(circle, -((first - middle) % size))[: last - first + 1]
    mass = np.maximum(mass + sign * entry_error, 0.0)
    return replace(
        total,
        first_index=total.first_index + first,
        mass=mass * (1 + sign * 4 * UNIT),
        tail=total.tail + (0.0 if whole else 2.02 * math.exp(log_tail)),
    )


def coarsen_upper(table: TiltedTable, ratio: int) -> TiltedTable:
    """Put an upper table on a grid that is `ratio` times coarser.

    Formula: eq. (int-coarsen), rounded up.

    Source: chapter 5, "Levels".

    >>> fine = TiltedTable(
    ...     1.0, 0.0, 0, np.array([0.0, 1.0]), 0.0, 0.0, 0.0, 0.0, "upper"
    ... )
    >>> coarsen_upper(fine, 2).mass.round(4)
    array([0.2689, 0.7311])
    """
    lead = table.first_index % ratio
    rest = -(lead + len(table.mass)) % ratio
    rows = np.pad(table.mass, (lead, rest)).reshape(-1, ratio)
    place, width = table.step * np.arange(ratio), table.step * ratio
    share = np.expm1(-place) / math.expm1(-width)
    stay = np.exp(-place) * np.expm1(place - width) / math.expm1(-width)
    mass = np.zeros(len(rows) + 1)
    mass[:-1] = rows @ (stay * np.exp(-table.tilt * place))
    mass[1:] += rows @ (share * np.exp(table.tilt * (width - place)))
    mass *= 1 + UNIT * (4 * ratio + 64 + 8 * table.tilt * width)
    first = (table.first_index - lead) // ratio
    return replace(table, step=width, first_index=first, mass=mass)


def coarsen_lower(table: TiltedTable, ratio: int) -> TiltedTable:
    """Put a lower table on a grid that is `ratio` times coarser (even).

    Formula: `lower_share` of the untilted masses, tilted again and
    rounded down; `tail` is taken from every entry first.

    Source: chapter 5, "Levels".

    >>> fine = TiltedTable(
    ...     1.0, 0.0, 1, np.ones(1), 0.0, 0.0, 0.0, 0.0, "lower"
    ... )
    >>> coarse = coarsen_lower(fine, 2)
    >>> bool(np.sum(coarse.mass) <= 1)
    True
    """
    width = table.step * ratio
    lead = (table.first_index - 1) % ratio
    first = (table.first_index - lead - 1) // ratio
    mass = np.maximum(table.mass - table.tail, 0)
    coarse = replace(table, step=width, first_index=first, tail=0.0)
    if not np.any(mass > 0):
        return replace(coarse, mass=np.zeros(1))
    mass = np.pad(mass, (lead, -(lead + len(mass)) % ratio))
    place = table.step * np.arange(1, len(mass) + 1)
    place = place - float(place @ mass) / float(np.sum(mass))
    seen = mass > 0
    log_p = np.log(np.where(seen, mass, 1.0)) - table.tilt * place
    log_p = np.where(seen, log_p, -np.inf)
    shift = float(np.max(log_p))
    p, half = np.exp(log_p - shift), ratio // 2
    q = np.where(seen, np.exp(np.clip(log_p - shift - place, -745, 600)), 0)
    cells_p, cells_q = (
        np.pad(x.reshape(-1, half).sum(axis=1), 1) for x in (p, q)
    )
    before_p, before_q = (
        np.append(0.0, x[:-1]).reshape(-1, ratio).sum(axis=1) for x in (p, q)
    )
    start = float(place[0]) - table.step
    edges: Floats = start + table.step * half * np.arange(len(cells_p) - 1)
    inside = cells_p[1:-1:2] + cells_p[2:-1:2]
    share: Floats = np.zeros(len(inside))
    if max(-edges[0], edges[-1]) < LARGEST_LOSS / 2:
        share = lower_share(
            width, edges, cells_p, cells_q, (before_p, before_q)
        )
    grid = np.append(inside - share, 0.0)
    grid[1:] += share
    losses = edges[::2]
    if np.any(grid < 0):
        grid = convex_hull(losses, grid)
    grid = grid * (1 - mass_error(grid))
    seen = grid > 0
    exponent = table.tilt * losses + np.log(np.where(seen, grid, 1.0)) + shift
    size = np.abs(table.tilt * losses) + abs(shift) + np.abs(exponent) + 8
    mass = np.where(seen, np.exp(np.where(seen, exponent, 0)), 0)
    return replace(coarse, mass=mass * np.maximum(1 - 8 * UNIT * size, 0))


def add_in_levels(
    parts: Sequence[tuple[TiltedTable, int]], log_tail: float
) -> TiltedTable:
    """Like `add_tables`, for many steps: in blocks, on coarser grids.

    Parameters, Returns, Raises: as for `add_tables`.
    Source: chapter 5, "Levels".

    >>> coin = TiltedTable(
    ...     1e-3, 0.0, 0, np.array([0.5, 0.5]), 0.0, 0.0, 0.0, 0.0, "upper"
    ... )
    >>> total = add_in_levels([(coin, 10**7)], -30.0)
    >>> total.step > 0.003 and len(total.mass) < 2**15
    True
    """
    most = max(n for _, n in parts)
    spread = math.sqrt(sum(n * index_moments(t)[1] for t, n in parts))
    one = spread / math.sqrt(sum(n for _, n in parts))
    level = max(LEVEL, 60 * one, *(len(table.mass) for table, _ in parts))
    ratio = 15 * spread / level
    blocks = max(4, min(round(ratio**2), most // 4))
    reach = 15 * spread / math.sqrt(blocks) * parts[0][0].step
    if ratio <= 2 or most < 16 or reach > LARGEST_LOSS / 1.5:
        return add_tables(parts, log_tail)
    tail = log_tail - math.log(blocks)
    upper = parts[0][0].sign > 0
    wide = max(2, 2 * round(math.sqrt(most / blocks) / 4))
    even = all(n % blocks == 0 for _, n in parts)
    # One block takes what the division leaves over.
    equal = [(t, n // blocks) for t, n in parts if n >= blocks]
    larger = [(t, n // blocks + n % blocks) for t, n in parts]
    new = []
    for block, count in ((equal, blocks - (not even)), (larger, not even)):
        if count:
            if upper:
                coarse = coarsen_upper(add_tables(block, tail), wide)
            else:  # the tail is taken from every entry: keep it small
                coarse = coarsen_lower(add_tables(block, tail - 8), wide)
            new.append((coarse, int(count)))
    return add_in_levels(new, log_tail)


def read_delta(table: TiltedTable, epsilon: float) -> float:
    """End of the interval for delta at one epsilon.

    Formula: eq. (int-upper), rounded outward.

    Returns: a number in [0, 1] on the table's side of the truth.
    Source: chapter 5, "Reading off".

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0, np.array([0.25, 0.75]), 0.0, 0.0, 0.0, 0.0, "upper"
    ... )
    >>> round(read_delta(coin, 0.0), 6)
    0.47409
    """
    losses = table.losses
    gap = losses[losses > epsilon] - epsilon
    mass = table.mass[losses > epsilon]
    value = float(np.sum(mass * np.exp(-table.tilt * gap) * -np.expm1(-gap)))
    value += table.sign * 1.05 * table.tail * math.exp(log_peak(table.tilt))
    largest = max(abs(epsilon), float(np.max(np.abs(losses[[0, -1]]))))
    error = 64 + 16 * table.tilt * largest + 4 * abs(table.log_scale)
    log_scale = table.log_scale - table.tilt * epsilon
    log_scale += table.sign * UNIT * error
    finite = 0.0
    if value > 0:
        finite = math.exp(min(log_scale + math.log(value), 0.0))
        if table.sign > 0:
            finite = max(finite, 5e-324)  # no underflow to 0
    infinite = table.infinity_mass * (1 + table.sign * 8 * UNIT)
    return min(1.0, finite + infinite)


def read_epsilon(table: TiltedTable, delta: float) -> float:
    """End of the interval for epsilon at one delta.

    Formula: eq. (int-upper) at every grid point, and between two of them
    linear interpolation in e^epsilon.

    Returns: a number (-inf to inf, not cut at 0) on the table's side.
    Source: chapter 5, "Reading off".

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0, np.array([0.25, 0.75]), 0.0, 0.0, 0.0, 0.0, "upper"
    ... )
    >>> round(read_epsilon(coin, 0.474090), 5)
    0.0
    """
    sign, step, tilt = table.sign, table.step, table.tilt
    losses = table.losses
    infinite = table.infinity_mass * (1 + sign * 8 * UNIT)
    if delta <= infinite:
        return math.inf
    pad = sign * 1.05 * table.tail * math.exp(log_peak(tilt))
    curve = tilted_curve(step, table.mass, tilt) + pad
    largest = tilt * float(np.max(np.abs(losses[[0, -1]])))
    window = tilt * float(losses[-1] - losses[0])
    error = (100 + 2 * window) * (1 + math.log2(len(losses)))
    error += 4 * abs(table.log_scale) + 4 * largest
    level = math.log(delta - infinite) - sign * UNIT * error
    with np.errstate(divide="ignore", invalid="ignore"):
        log_curve = table.log_scale - tilt * losses + np.log(curve)
    above = np.flatnonzero(log_curve > level)
    if len(above) == 0:
        return float(losses[0]) if sign > 0 else -math.inf
    k = int(above[-1])
    if k == len(losses) - 1:
        return math.inf if sign > 0 else float(losses[k])
    wanted = math.exp(level - table.log_scale + tilt * float(losses[k]))
    after = math.exp(-tilt * step) * (curve[k + 1] - pad) + pad
    part = min((curve[k] - wanted) / max(curve[k] - after, 1e-300), 1.0)
    return float(losses[k] + math.log1p(part * math.expm1(step)))


class Search:
    """Interval for one direction, refined on demand.

    Parameters: `losses`, pairs of a dominating pair and its count;
    `query`, what is asked. `bound` is the interval found so far.
    Source: chapter 5, "Searching".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> search = Search([(GaussianPair(0.1), 100)], Query(1e-6, None, 1e-3))
    >>> search.refine(0.0)
    >>> search.bound.contains(4.886554), search.bound.width < 1e-3
    (True, True)
    """

    def __init__(self, losses: Losses, query: Query) -> None:
        self.query, self.bound, self.step = query, Bound(0, math.inf), 1.0
        self.pairs = [pair for pair, _ in losses]
        self.count = sum(n for _, n in losses)
        self.order, self.guess = 1.0, 1.0
        self.look(losses)
        self.start()

    def look(self, losses: Losses) -> None:
        """Cells, order and guess, each from the one before."""
        delta = 1e-300 if self.query.delta is None else self.query.delta
        budget = min(max(1e-6 * delta / self.count, 1e-320), 1e-3)
        self.cells = [Cells.first(pair, n, budget) for pair, n in losses]
        for _ in range(6):
            before = self.order
            self.order, found = saddle(self.cells, self.query)
            if self.query.epsilon is not None:
                self.guess = math.exp(min(max(found, -700.0), 0.0))
                delta = 1e-3 * self.guess
            elif found > 0:
                self.guess = found
            else:  # delta is near delta(0): look there
                at_zero = Query(None, 0.0, self.query.relative_width)
                self.order, _ = saddle(self.cells, at_zero)
                self.guess = 1e-3 / (1 + self.order)
            if 0.8 < self.order / before < 1.25:
                break
            spare = self.query.log_spare(
                self.guess, self.order, self.query.relative_width
            )
            budget = max(0.1 * math.exp(spare) * delta / self.count, 1e-320)
            self.cells = [c.finer(self.order, budget) for c in self.cells]

    def compute(self, step: float, tilt: float, log_tail: float) -> None:
        """Both ends from one grid; the interval is cut with the old one."""
        tilt = min(tilt, 20 / step)  # beyond, one grid point is all
        made = [bound_tables(c, step, tilt, log_tail) for c in self.cells]
        ends = []
        for tables in zip(*made, strict=True):
            parts = [
                (table, part.count)
                for table, part in zip(tables, self.cells, strict=True)
            ]
            ends.append(self.query.read(add_in_levels(parts, log_tail)))
        upper = min(self.bound.upper, ends[0])
        lower = max(self.bound.lower, ends[1])
        if lower > upper * (1 + 1e-9):
            raise ArithmeticError(f"lower {lower!r} exceeds upper {upper!r}")
        self.bound = Bound(min(lower, upper), max(lower, upper))
        self.step = step

    def start(self) -> None:
        """A first interval, a few percent wide."""
        query, order, value = self.query, self.order, self.guess
        wanted = max(query.relative_width, FIRST_WIDTH)
        width = query.width_of_epsilon(value, order, wanted)
        shortest = math.sqrt(8 * width / ((1 + order) * self.count))
        steps = shortest * np.geomspace(1, 1e6, 128)
        step = largest_step(self.cells, order, width, steps)
        step = min(step, 1 / (1 + order))
        spans = [p.atoms[-1] - p.atoms[0] for p in self.pairs if p.atoms]
        step = max(step, max(spans, default=0.0) / 1000)  # atoms on the grid
        tilt, excess = choose_tilt(self.cells, order, *query.point(value))
        log_tail = query.log_spare(value, order, wanted) - excess - 8
        for _ in range(12):
            step = aligned_step(step, self.pairs)
            try:
                self.compute(step, tilt, log_tail)
                return
            except GridTooFine:
                step *= 4
        self.step = 0.0

    def refine(self, floor: float) -> None:
        """Refine until narrow enough, or surely at most `floor`."""
        query, goal, stuck = self.query, self.query.relative_width, 0
        for _ in range(8):
            bound, old = self.bound, self.step
            if bound.width <= goal or bound.upper <= floor or stuck == 3:
                return
            value, width = bound.upper, bound.width
            if not 0 < value < math.inf:
                value, width = self.guess, 1.0
            elif width < 0.5:
                value = (bound.lower + bound.upper) / 2
            point = query.point(value)
            ask = Query(None, point[0], goal)
            self.order, _ = saddle(
                self.cells, ask, self.order / 5, self.order * 5, 25
            )
            tilt, excess = choose_tilt(self.cells, self.order, *point)
            log_tail = query.log_spare(value, self.order, goal) - excess
            now = predicted_width(self.cells, self.order, old)
            least = 1 / 64 if width < 0.9 else 1 / 4
            step = largest_step(
                self.cells,
                self.order,
                0.8 * now * goal / width,
                old * np.geomspace(least, 0.9, 96),
            )
            while True:
                new = aligned_step(step, self.pairs)
                if new > 0.95 * old:
                    return
                try:
                    self.compute(new, tilt, log_tail)
                    break
                except GridTooFine:
                    step = 1.2 * math.sqrt(step * old)
            stuck = stuck + 1 if self.bound.width > 0.8 * bound.width else 0


def directions(
    releases: Release | Sequence[Release],
    adjacency: Adjacency | str,
    group_size: int,
) -> list[Losses]:
    """The dominating pairs of all releases with their counts, by direction.

    Parameters: `releases`, one Release or a sequence of them;
    `adjacency` and `group_size` as for `dominating_pairs`.
    Returns: one list for remove, one for add (or the one that was asked
    for); identical pairs are counted together, and a direction that
    equals the other one is left out.
    Raises: ValueError for an empty list or members that are no Release.
    Source: chapter 5, "One call".

    >>> from accountlib.worst_case_pairs import Laplace
    >>> directions([Release(Laplace(1.0))] * 3, "add-or-remove", 1)
    [[(LaplacePair(scale=1.0), 3)]]
    """
    if isinstance(releases, Release):
        releases = [releases]
    if not isinstance(releases, Sequence) or len(releases) == 0:
        raise ValueError(
            "releases must be a Release or a non-empty sequence of them, "
            f"got {releases!r}"
        )
    sides: list[dict[DominatingPair, int]] = []
    for release in releases:
        check_kind("releases", release, Release)
        pairs = dominating_pairs(
            release.mechanism,
            sampling=release.sampling,
            adjacency=adjacency,
            group_size=group_size,
        )
        sides = sides or [{} for _ in pairs]
        for side, pair in zip(sides, pairs, strict=True):
            side[pair] = side.get(pair, 0) + release.count
    distinct = {frozenset(side.items()): list(side.items()) for side in sides}
    return list(distinct.values())


def loss_ceiling(losses: Losses) -> Bound:
    r"""Interval for the largest finite total loss, cut at 0.

    Formula: $\sum_j T_j \sup L_j$, rounded outward: each by $10^{-14}$,
    relative, and by $2^{-43}$.

    Parameters: `losses`, pairs of a dominating pair and its count.
    Returns: a Bound; both ends inf where a pair has no largest loss.
    Source: chapter 5, "One call".

    >>> from accountlib.worst_case_pairs import LaplacePair
    >>> loss_ceiling([(LaplacePair(2.0), 10)]).contains(5.0)
    True
    """
    tops = [(n, pair.loss_range[1]) for pair, n in losses]
    if any(math.isinf(top) for _, top in tops):
        return Bound(math.inf, math.inf)
    total = math.fsum(n * top for n, top in tops)
    error = math.fsum(n * (1e-14 * abs(top) + 2.0**-43) for n, top in tops)
    if all(top == 0 for _, top in tops):
        error = 0.0
    return Bound(max(0.0, total - error), max(0.0, total + error))


def infinite_bound(losses: Losses) -> Bound:
    r"""Interval for the probability of an infinite total loss under P.

    Formula: $1 - \prod_j (1 - p_{j,\infty})^{T_j}$, rounded outward.

    Parameters: `losses`, pairs of a dominating pair and its count.
    Returns: a Bound; of width 0 where the value is exact.
    Source: chapter 4, "Mass at infinity".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> infinite_bound([(GaussianPair(1.0), 10)])
    Bound(lower=0.0, upper=0.0)
    """
    value = any_infinite([(pair.infinite_mass[0], n) for pair, n in losses])
    pair, count = losses[0]
    exact = len(losses) == count == 1
    if not isinstance(pair, DiscretePair) or list(pair.q).count(0.0) > 1:
        exact = False  # a product or a sum that may be rounded
    certain = any(pair.infinite_mass[0] == 1 for pair, _ in losses)
    if value == 0 or certain or exact:
        return Bound(value, value)
    error = 16 * UNIT * len(losses)
    lower = min(value * (1 - error), math.nextafter(1.0, 0.0))
    return Bound(lower, min(1.0, value * (1 + error)))


def known_answer(losses: Losses, query: Query) -> Bound | None:
    """The answer where it needs no computation, or None.

    That is epsilon where delta is compared with the mass at infinity or
    is 1, and delta beyond the largest loss.

    >>> from accountlib.worst_case_pairs import GaussianPair, LaplacePair
    >>> known_answer([(LaplacePair(1.0), 2)], Query(None, 3.0, 1e-3))
    Bound(lower=0.0, upper=0.0)
    >>> known_answer([(GaussianPair(1.0), 2)], Query(0.1, None, 1e-3))
    """
    infinite, ceiling = infinite_bound(losses), loss_ceiling(losses)
    if query.epsilon is not None:
        return infinite if query.epsilon >= ceiling.upper else None
    delta = query.delta or 0.0
    if delta < infinite.lower:
        return Bound(math.inf, math.inf)
    if delta == infinite.lower == infinite.upper:
        return ceiling
    if ceiling.upper == 0 or delta == 1:
        return Bound(0.0, 0.0)
    return None


def limited(bound: Bound, losses: Losses, query: Query) -> Bound:
    """Cut an interval with what is known of every answer.

    epsilon is at most the largest loss, unless infinite losses decide;
    delta is at least the mass at infinity, and at most 1.

    >>> from accountlib.worst_case_pairs import LaplacePair
    >>> run = [(LaplacePair(1.0), 2)]
    >>> limited(Bound(1.0, 5.0), run, Query(1e-9, None, 1e-3)).upper < 2.1
    True
    """
    infinite = infinite_bound(losses)
    if query.epsilon is not None:
        upper = min(bound.upper, 1.0)
        return Bound(max(infinite.lower, min(bound.lower, upper)), upper)
    if infinite.upper > (query.delta or 0.0):
        return bound
    upper = min(bound.upper, loss_ceiling(losses).upper)
    return Bound(min(bound.lower, upper), upper)


def answer(ways: Sequence[Losses], query: Query) -> Bound:
    """Interval for the largest answer of several directions.

    Parameters: `ways`, the losses of each direction; `query`.
    Returns: a Bound around the maximum of the directions.
    Source: chapter 5, "Searching".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> run = [(GaussianPair(0.1), 100)]
    >>> answer([run], Query(None, 1.0, 1e-3)).contains(0.1269367)
    True
    """
    bounds, open_ways = [], []
    for losses in ways:
        known = known_answer(losses, query)
        if known is None:
            open_ways.append((Search(losses, query), losses))
        else:
            bounds.append(known)
    open_ways.sort(key=lambda way: -way[0].bound.lower)
    floor = max(
        [b.lower for b in bounds] + [s.bound.lower for s, _ in open_ways]
    )
    for search, losses in open_ways:
        search.refine(floor)
        bounds.append(limited(search.bound, losses, query))
        floor = max(floor, bounds[-1].lower)
    return Bound(max(b.lower for b in bounds), max(b.upper for b in bounds))


def epsilon(
    releases: Release | Sequence[Release],
    *,
    delta: float,
    adjacency: Adjacency | str,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Bound:
    r"""Interval proven to contain the epsilon of a whole training run.

    Formula: the smallest $\varepsilon \ge 0$ with
    $\delta(\varepsilon) \le \delta$.

    Parameters: `releases`, one Release or a sequence of them, all on the
    same data; `delta` ($\delta$ in [0, 1]); `adjacency`, "add", "remove"
    or "add-or-remove" (no default); `group_size` (1 for now);
    `relative_width` (in (0, 1)), the wanted (upper - lower)/upper.
    Returns: Bound(lower, upper) around the truth: the supremum over
    neighbouring data sets and adaptively chosen queries, every iterate
    released, of the dominating pairs of chapter 2. inf only where the
    mass at infinity exceeds delta (or losses have no largest value and
    delta = 0); Bound(0, 0) where epsilon is proven to be 0.
    Raises: ValueError for bad values, NotImplementedError for what no
    theorem of the book covers (substitution, groups).
    Error: the interval includes discretization, truncation, wrap-around
    and rounding. It may stay wider than asked (lower down to 0) near
    epsilon = 0, for losses with many atoms, and where single rare steps
    decide: sampling rates below about 1e-4 at a delta below about 1e-20.
    Source: chapter 5; Lebeda et al. (2024), Theorem 8.

    >>> from accountlib.worst_case_pairs import Gaussian, Poisson
    >>> run = Release(Gaussian(0.8), Poisson(0.001), count=10_000)
    >>> bound = epsilon(run, delta=1e-6, adjacency="add-or-remove")
    >>> bound.contains(0.9472), bound.width < 1e-3
    (True, True)
    """
    delta = check_number("delta", delta, 0, 1)
    width = check_number("relative_width", relative_width, 0, 1, "()")
    ways = directions(releases, adjacency, group_size)
    return answer(ways, Query(delta, None, width))


def delta(
    releases: Release | Sequence[Release],
    *,
    epsilon: float,
    adjacency: Adjacency | str,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Bound:
    r"""Interval proven to contain the delta of a whole training run.

    Formula: the largest $\delta(\varepsilon) = P(S > \varepsilon) -
    e^\varepsilon Q(S > \varepsilon)$ of the directions asked for, S the
    total privacy loss.

    Parameters: `epsilon` ($\varepsilon \ge 0$, finite); the others as for
    `epsilon`.
    Returns: Bound(lower, upper) around the truth (see `epsilon`).
    Raises: ValueError for bad values, NotImplementedError for what no
    theorem of the book covers (substitution, groups).
    Error: the interval includes all errors. It may stay wider than asked
    where epsilon is near the largest possible loss.
    Source: chapter 5; Lebeda et al. (2024), Theorem 8.

    >>> from accountlib.worst_case_pairs import Gaussian, Poisson
    >>> run = Release(Gaussian(0.8), Poisson(0.001), count=10_000)
    >>> bound = delta(run, epsilon=0.9472, adjacency="remove")
    >>> round(bound.upper, 8), bound.width < 1e-3
    (1e-06, True)
    """
    epsilon = check_number("epsilon", epsilon, 0, np.inf, "[)")
    width = check_number("relative_width", relative_width, 0, 1, "()")
    ways = directions(releases, adjacency, group_size)
    return answer(ways, Query(None, epsilon, width))
