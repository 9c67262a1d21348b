# Generated from notebooks/05_intervals.md by tools/tangle.py; do not edit.

"""Intervals as narrow as asked."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import fft, next_fast_len, rfft

from accountlib.composition import (
    SIDES,
    Bound,
    any_infinite,
    log_peak,
)
from accountlib.divergences import Floats, as_given, check_number, front_door
from accountlib.privacy_loss import (
    HAIR,
    LARGEST_LOSS,
    TINY,
    BoundKind,
    GridTooFine,
    convex_hull,
    lower_share,
    upper_share,
)
from accountlib.worst_case_pairs import (
    UNIT,
    Adjacency,
    Closed,
    DiscretePair,
    DominatingPair,
    ExcessError,
    GaussianPair,
    Release,
    SampledPair,
    check_kind,
    dominating_pairs,
)

__all__ = [
    "MOST_POINTS",
    "FINE_GRID",
    "WORK",
    "POOR",
    "POWERS",
    "SHARES",
    "BEYOND",
    "Losses",
    "OneSided",
    "TiltedTable",
    "tilt_masses",
    "Cells",
    "total_cumulants",
    "Query",
    "saddle",
    "choose_tilt",
    "predicted_width",
    "fitting_step",
    "cut_tails",
    "landmarks",
    "heaviest",
    "grid_offset",
    "aligned_step",
    "cell_levels",
    "graded_points",
    "cell_masses",
    "bound_tables",
    "Spectrum",
    "tail_window",
    "smooth_parts",
    "log_decay",
    "highest_frequency",
    "slow_transform",
    "fast_transform",
    "log_transform",
    "near_and_far",
    "log_rare",
    "log_gain",
    "NearPair",
    "sums",
    "Power",
    "add_tables",
    "read_delta",
    "read_epsilon",
    "loss_ceiling",
    "any_of_many",
    "infinite_mass",
    "infinite_bound",
    "falls",
    "atom_curve",
    "run_curve",
    "run_answer",
    "large_steps",
    "chernoff_delta",
    "simple_bound",
    "Search",
    "near_cells",
    "jumps",
    "grid_size",
    "least_order",
    "rough_half",
    "beside_atoms",
    "choose_split",
    "rough_epsilon",
    "added",
    "both_parts",
    "two_grids",
    "merge_gaussians",
    "directions",
    "distinct_ways",
    "reached_ways",
    "bounded_answer",
    "known_answer",
    "limited",
    "within",
    "answer",
    "epsilon",
    "delta",
]

MOST_POINTS = 2**19  # of a table, and of a fast transform
FINE_GRID = 2048  # cells; a longer table gets coarser cells in its tails
WORK = 1e8  # most multiplications of a transform without FFT
POOR = 8.0  # a larger excess: one tilt does not reach what matters
POWERS = np.frombuffer(  # arrays from bytes are read-only
    np.append(
        np.logspace(-9, 12, 211), 10.0 ** np.arange(14, 141, 2)
    ).tobytes()
)
SHARES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97)  # of epsilon
BEYOND = np.frombuffer(np.geomspace(1e-4, 50, 200).tobytes())
Losses = Sequence[tuple[DominatingPair, int]]


@dataclass(frozen=True, eq=False)
class OneSided(ABC):
    r"""One side of a total privacy loss: a tilted mass on a grid.

    Formula: P-mass $e^{K - \lambda \ell} m$ at grid losses $\ell$, and
    $p_\infty$ at infinity.

    Fields: `step` ($\Delta$), `offset` (o), `tilt` ($\lambda \ge 0$),
    `log_scale` (K), `tail` ($\tau$), `infinity_mass`, `bound` ("upper" or
    "lower"): the side of the truth on which eq. (int-upper) holds.
    Source: chapter 5, "Definition".
    """

    step: float
    offset: float
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
    def padding(self) -> float:
        r"""$\tau e^{2\tau}$: the tail, in terms of K of a cut table."""
        small = self.tail < 0.5
        return self.tail * math.exp(2 * self.tail) if small else math.inf

    @property
    @abstractmethod
    def reach(self) -> float:
        """No loss of the grid is larger in size."""

    @abstractmethod
    def weighed(self, epsilon: Floats) -> tuple[Floats, Floats]:
        r"""Sum of $m e^{-\lambda g} (1 - e^{-g})$ over $g = \ell -
        \varepsilon > 0$, and a bound for its error, for each epsilon."""


@dataclass(frozen=True, eq=False)
class TiltedTable(OneSided):
    r"""One-sided table: the losses $o + i \Delta$ and their tilted masses.

    Fields: those of `OneSided`; `index` (i, increasing whole numbers),
    `mass` (m, at least 0, one per index), and `pieces`, the masses of
    near and of far losses, if they are told apart.
    Source: chapter 5, "Definition" and "Rare steps".

    >>> table = TiltedTable(
    ...     0.5, 0.0, 0.0, 0.0, 0.0, 0.0, "upper", np.arange(1, 3), np.ones(2)
    ... )
    >>> table.losses
    array([0.5, 1. ])
    """

    index: NDArray[np.int64]
    mass: Floats
    pieces: tuple[Floats, ...] = ()

    @property
    def losses(self) -> Floats:
        """The losses, one per entry of `mass`."""
        return self.offset + self.step * self.index

    @property
    def reach(self) -> float:
        ends = self.losses[[0, -1]]
        return abs(self.offset) + float(np.max(np.abs(ends)))

    def weighed(self, epsilon: Floats) -> tuple[Floats, Floats]:
        gap = np.maximum(np.subtract.outer(-epsilon, -self.losses), 0)
        value = (np.exp(-self.tilt * gap) * -np.expm1(-gap)) @ self.mass
        above = np.count_nonzero(gap, axis=-1)
        underflow = np.where(above > 0, 1e-290, 0.0)
        return value, UNIT * (above + 16) * value + underflow


def tilt_masses(
    losses: Floats, mass: Floats, tilt: float, sign: int
) -> tuple[Floats, float]:
    r"""Tilted masses with sum 1, rounded up (sign 1) or down (sign -1).

    Formula: $m_k = e^{\lambda \ell_k - K} p_k$ with
    $e^K = \sum_k e^{\lambda \ell_k} p_k$.

    Parameters: `losses`, `mass` ($p_k \ge 0$, not all 0; or several rows
    of them), `tilt`, `sign`.
    Returns: (m, K); $e^{K - \lambda \ell_k} m_k$ lies on the wanted side
    of $p_k$, for this very K.
    Error: an exponential of x errs by about |x| u; 6 times that, and
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
    tilted = np.exp(exponent - log_scale) * (1 + sign * 6 * UNIT * size)
    return np.maximum(tilted, 0), log_scale


@dataclass(frozen=True, eq=False)
class Cells:
    r"""A rough look at the loss of one pair: its masses in some cells.

    Formula: merged loss $\ln(P_i/Q_i)$ of cell i, which lies between the
    edges i - 1 and i (cell 0: below edge 0).

    Fields: `pair`, `count` (T), `edges`, `log_p` (-1e300 for nothing),
    `log_most` (an upper bound of it), `loss` (merged), `beyond`, an upper
    bound of the P-mass of losses above the last edge, and `split`: cells
    with edges above it are far, the others near.
    Source: chapter 5, "A rough look at one loss".

    >>> from accountlib.worst_case_pairs import GaussianPair
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
        edges = np.concatenate([-POWERS, [0.0], POWERS])
        if split < math.inf:
            edges = np.append(edges, split)
        for end, sign in zip(pair.loss_range, (1, -1), strict=True):
            if math.isfinite(end):
                edges = np.append(edges, end + sign * POWERS)
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
        return self.log_p[seen], np.stack([np.ones_like(loss), loss, loss**2])

    def cumulants(self, orders: Floats) -> Floats:
        """K and its first two derivatives at the orders, for `count` runs."""
        log_p, powers = self._seen
        exponent = np.multiply.outer(orders, powers[1]) + log_p
        top = np.max(exponent, axis=1)
        total, mean, square = powers @ np.exp(exponent - top[:, None]).T
        mean /= total
        variance = np.maximum(square / total - mean**2, 0)
        return self.count * np.stack([top + np.log(total), mean, variance])

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
        if np.any(self.far):
            exponent = (tilt * self.loss + self.log_p)[self.far]
            shown = np.exp(exponent - np.max(exponent))
            rough[self.far] = shown / np.sum(shown)
        return rough, np.exp(np.clip(most, -740, 700))

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
        seen = (most > 1e-20 / self.count) | (rough > 1e-20)
        parts = np.where(seen, 2 * (1 + tilt) * (part.edges - left), 0)
        parts = np.ceil(np.maximum(parts, 100 * rough))
        parts = np.ceil(parts * min(1.0, 1500 / max(np.sum(parts), 1)))
        parts = np.clip(parts, 1, 200).astype(np.int64)
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

    >>> from accountlib.worst_case_pairs import GaussianPair
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

    def read(self, total: OneSided, guess: float, order: float) -> float:
        """The end of the interval that one side of the total gives."""
        if self.epsilon is None:
            room = max(1e-3 * self.relative_width, 1e-15)
            return read_epsilon(total, self.delta or 0.0, guess, order, room)
        return float(read_delta(total, self.epsilon))


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
    Source: chapter 5, "The saddle point".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> order, value = saddle([part], Query(None, 3.0, 1e-3))
    >>> 2.3 < order < 2.7
    True
    """
    orders = np.geomspace(low, high, points)
    lifted = False
    while True:
        moment, mean, variance = total_cumulants(cells, orders)
        with np.errstate(over="ignore"):
            scale = orders * (1 + orders) * np.sqrt(2 * np.pi * variance)
        where = mean if query.epsilon is None else query.epsilon
        peak = -orders * np.log1p(1 / orders) - np.log1p(orders)
        estimate = moment - orders * where
        estimate += np.minimum(peak, -np.log1p(scale))
        if query.epsilon is None:
            goal = query.point(0.0)[1]
            missing = estimate - goal
            value = mean + missing / orders
        else:
            goal, missing = query.epsilon, query.epsilon - mean
            value = estimate
        if len(orders) == 1:
            spread, order = math.sqrt(float(variance[0])), float(orders[0])
            plain = all(math.isinf(c.split) for c in cells)
            # one atom and a hair of spread: no large order helps
            most = 100 / max(abs(float(mean[0])), TINY) if plain else 0.3
            least = min(0.5 / max(spread, 1e-12), most)
            if lifted or order >= least or spread <= 1e-12:
                return order, float(value[0])
            orders, lifted = np.array([least]), True
            continue
        reached = missing <= 0
        k = int(np.argmax(reached)) if np.any(reached) else len(orders) - 1
        ratio = float(orders[1] / orders[0])
        steep = abs(missing[k]) > 0.25 * abs(goal) > 0 and ratio > 1.001
        if ratio > 1.2 or steep:
            orders = np.geomspace(orders[k] / ratio, orders[k] * 1.001, 8)
            continue
        part = 0.0  # how far the root lies back between k and k - 1
        if k > 0 and missing[k] <= 0 < missing[k - 1]:
            part = missing[k] / (missing[k] - missing[k - 1])
        orders = orders[[k]] * (orders[k - 1] / orders[k]) ** part


def choose_tilt(
    cells: Sequence[Cells], order: float, epsilon: float, log_delta: float
) -> tuple[float, float, tuple[float, float]]:
    r"""A tilt with a short window, its excess, and exponents of the window.

    Formula: excess $K(\lambda) + \ln \text{peak} - \lambda \varepsilon -
    \ln \delta$; the window reaches to $(K(\lambda') - K(\lambda) +
    30)/(\lambda' - \lambda)$, the best over $\lambda'$.

    Parameters: `cells` of all parts; `order`, the saddle point;
    `epsilon`, `log_delta`, where we expect the answer.
    Returns: (tilt, excess >= 0, (lambda - lambda' for the lower end,
    lambda' - lambda for the upper end)). Any of them is valid.
    Source: chapter 5, "The tilt".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> tilt, excess, (below, above) = choose_tilt([part], 2.5, 3.0, -7.0)
    >>> 1.5 < tilt < 4
    True
    """
    tilts = order * np.linspace(0.1, 1.3, 25)
    other = order * np.geomspace(0.2, 60, 12)
    orders = np.concatenate([-other[::-1], tilts, tilts[-1] + other])
    moments, _, _ = total_cumulants(cells, orders)
    apart = orders[None, :] - orders[12:-12, None]
    with np.errstate(divide="ignore", over="ignore"):
        reach = (moments[None, :] - moments[12:-12, None] + 30) / apart
    high = np.min(np.where(apart > 0, reach, np.inf), axis=1)
    low = np.max(np.where(apart < 0, reach, -np.inf), axis=1)
    peaks = np.array([log_peak(x) for x in tilts])
    excess = moments[12:-12] + peaks - tilts * epsilon - log_delta
    least = float(np.min(excess))
    cost = (high - low) * (1 + 0.05 * (excess - least))
    cost *= np.exp(np.clip(excess - 10, 0, 8) / 2)
    cost = np.where(excess <= max(least + 4, 18), cost, np.inf)
    k = int(np.argmin(cost))
    # Exponents of the window's ends: once more, on a finer grid.
    apart = order * np.geomspace(0.01, 60, 24)
    thetas = []
    for sign in (-1, 1):
        more = total_cumulants(cells, tilts[k] + sign * apart)[0]
        reach = (more - moments[12 + k] + 30) / apart
        thetas.append(float(apart[np.argmin(reach)]))
    excess_there = max(float(excess[k]), 0.0)
    return float(tilts[k]), excess_there, (thetas[0], thetas[1])


def predicted_width(
    cells: Sequence[Cells], order: float, steps: Floats
) -> Floats:
    r"""Width of the interval for epsilon that steps will give, roughly.

    Formula: eq. (int-width).

    Parameters: `cells` of all parts; `order` of the saddle point; `steps`.
    Returns: predictions, no bounds: the width is measured in the end.
    Source: chapter 5, "How wide will it be?".

    >>> from accountlib.worst_case_pairs import GaussianPair
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
            k = np.searchsorted(size, steps / 6)
            below = np.append(0.0, np.cumsum(rough))
            whole = max(float(below[-1]), TINY)  # all mass may be infinite
            share = 1 - below[k] / whole
            small = np.append(0.0, np.cumsum(rough * size))[k] / whole
        total += part.count * (1.5 * steps * small + steps**2 / 4 * share)
    if any(part.split < math.inf for part in cells):
        total += steps**2 / 4  # at least one far step
    return (1 + order) / 2 * total


def fitting_step(
    cells: Sequence[Cells],
    order: float,
    width: float,
) -> float:
    """The largest step whose predicted width is the wanted one.

    Parameters: `cells` of all parts; `order` of the saddle point;
    `width` of the interval for epsilon.
    Source: chapter 5, "How wide will it be?".
    """
    width *= 0.75
    count = sum(part.count for part in cells)
    shortest = math.sqrt(8 * width / ((1 + order) * count))
    steps = shortest * np.geomspace(1, 1e6, 256)
    good = predicted_width(cells, order, steps) <= width
    step = float(steps[max(int(np.count_nonzero(good)) - 1, 0)])
    return min(step, 1 / (1 + order))


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


def landmarks(pair: DominatingPair) -> tuple[float, ...]:
    """Losses that should lie on the grid: atoms, if they are few.

    Parameters: `pair`.
    Returns: its atoms, if they are at most four; two neighbours, if all
    are evenly spaced; else nothing.
    Source: chapter 5, "Where the grid begins".

    >>> from accountlib.worst_case_pairs import LaplacePair
    >>> landmarks(LaplacePair(2.0))
    (-0.5, 0.5)
    """
    if pair.lattice is not None:
        return pair.lattice
    if pair.atom_count > 1000:
        return ()
    atoms = pair.atoms
    if len(atoms) <= 4:
        return atoms
    gaps = np.diff(atoms)
    even = float(np.max(gaps) - np.min(gaps)) < 1e-9 * float(gaps[0])
    return atoms[:2] if even else ()


def heaviest(part: Cells, order: float, epsilon: float) -> tuple[float, ...]:
    """The heavy atoms of a list that is not evenly spaced.

    Parameters: `part`; `order`, the tilt that decides what is heavy;
    `epsilon`: single losses above it are heavy, too.
    Returns: at most five losses that increase, or nothing.
    Source: chapter 5, "Where the grid begins".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> heaviest(Cells.first(GaussianPair(1.0), 3, 1e-9), 1.0, 0.0)
    ()
    """
    few, none = part.pair.atom_count <= 4, part.pair.atom_count == 0
    if none or not part.pair.discrete or (landmarks(part.pair) and not few):
        return ()
    mass, _ = part.tilted_masses(order)
    first = int(np.argmax(np.where(part.far, 0, mass)))
    others = part.far if np.any(part.far) else np.arange(len(mass)) != first
    gain = np.exp(part.log_p) * -np.expm1(np.minimum(epsilon - part.loss, 0))
    scores = [np.where(others, x, 0) for x in (mass, gain)]
    score = np.maximum(*(x / max(np.max(x), TINY) for x in scores))
    places = np.argsort(-score)[:4]
    least = 1e-3 if few else 0.02
    chosen = part.loss[[first, *places[score[places] > least]]]
    atoms = np.array(part.pair.atoms)
    nearest = np.searchsorted((atoms[1:] + atoms[:-1]) / 2, chosen)
    found = tuple(sorted(set(atoms[nearest].tolist())))
    return found if len(found) > 1 else ()


def grid_offset(
    pair: DominatingPair, step: float, heavy: tuple[float, ...] = ()
) -> tuple[float, float | None]:
    r"""A loss that should be a grid point, and where its tangent touches.

    Formula: $b = \ln(P(L \le x_0)/Q(L \le x_0))$ with
    $x_0 \approx b + \Delta/2$; for pairs with a largest loss mirrored.

    Parameters: `pair`; `step`; `heavy`, atoms to prefer.
    Returns: (b, x0), with x0 None where the middle of the cell will do.
    Source: chapter 5, "Where the grid begins".

    >>> from accountlib.worst_case_pairs import GaussianPair, SampledPair
    >>> pair = SampledPair(GaussianPair(1.0), 0.01)
    >>> offset, touch = grid_offset(pair, 0.1)
    >>> abs(offset) < 1e-3 and 0.05 < touch < 0.1
    True
    """
    low, high = pair.loss_range
    marks = heavy or landmarks(pair)
    if marks:
        return marks[0], None
    if math.isinf(low) and math.isinf(high):
        return 0.0, None
    sign = 1 if math.isfinite(low) else -1
    end = low if sign > 0 else high
    # Try 39 places for x0; `body` is on its near side, `beyond` on the other.
    x0 = end + sign * step * np.linspace(0.1, 2, 39)
    widths = np.full(38, 0.05 * step)
    p, q = pair.interval_masses(x0[::sign], widths, "right")
    masses = np.stack([p, q])[:, ::sign]
    body = np.maximum(np.cumsum(masses, axis=1)[:, :-1], TINY)
    beyond = np.cumsum(masses[:, ::-1], axis=1)[:, -2::-1]
    b = np.log(body[0]) - np.log(body[1])
    # Depth of the tangent and of the curve at the next grid point.
    alpha = np.exp(np.clip(b + sign * step, -700, 700))
    place = np.round(20 * (sign * (b - end) / step + 1)) - 2
    k = np.clip(place, 0, 38).astype(int)
    depth = alpha * (body[1, k] - body[1]) - (body[0, k] - body[0])
    height = beyond[0, k] - alpha * beyond[1, k]
    part = sign * (x0 - b) / step
    good = (part > 0.45) & (part < 0.98) & (body[1] > TINY)
    good &= sign * depth < 0.4 * sign * height
    first = int(np.argmax(good))
    return (float(b[first]), float(x0[first])) if good[first] else (end, None)


def aligned_step(
    step: float,
    pairs: Sequence[DominatingPair],
    heavy: Sequence[tuple[float, ...]] = (),
    least: float = 0.7,
) -> float:
    r"""A step of nearly the given size whose grid meets the atoms.

    Formula: among $d/k$, with d the largest distance of an atom from the
    first one of its pair, the step between `least` and 1 times `step` that
    misses the atoms least; where there is nothing but atoms, and all on
    one lattice, its spacing.

    Parameters: `step`; `pairs`, whose atoms are meant; `heavy`, more of
    them, from `heaviest`; `least`, a part of the step.
    Returns: a step; the same one if there are no atoms, more than 100 of
    them, or too many candidates.
    Source: chapter 5, "Where the grid begins".

    >>> from accountlib.worst_case_pairs import DiscretePair, LaplacePair
    >>> aligned_step(0.4, [LaplacePair(1.0)])
    0.4
    >>> round(aligned_step(0.4, [DiscretePair((0.6, 0.4), (0.4, 0.6))]), 4)
    0.8109
    """
    own = map(landmarks, pairs)
    lists = [x or y for x, y in zip_longest(heavy, own, fillvalue=())]
    atoms = [x - places[0] for places in lists for x in places]
    largest = max(map(abs, atoms), default=0.0)
    only_atoms = all(x.discrete and landmarks(x) for x in pairs)
    only_atoms &= all(
        len(some) in (0, x.atom_count)
        for x, some in zip(pairs, heavy, strict=False)
    )
    if largest == 0 or len(atoms) > 100 or largest > 20_000 * step:
        return step
    endless = any(pair.lattice is not None for pair in pairs)
    if largest < step and (endless or not only_atoms):
        return step
    first = math.ceil(largest / step)
    most = min(math.ceil(first / least), 4_000_000 // len(atoms))  # memory
    parts = np.arange(1, max(most, first + 1) + 1)
    ratio = np.outer(atoms, parts / largest)
    missed = np.max(np.abs(ratio - np.round(ratio)), axis=0)
    exact = np.flatnonzero(missed < 1e-9)
    if only_atoms and len(exact) > 0:
        return largest / int(parts[exact[0]])
    best = np.argmin((missed / parts)[first - 1 :])
    return largest / int(parts[first - 1 + best])


def cell_levels(part: Cells, tilt: float, step: float) -> NDArray[np.int64]:
    r"""How often the step may be doubled in each cell of a rough look.

    Formula: $2^j \Delta \le \kappa \rho^{-1/3}$, no wider than $1/(4 (1 +
    \lambda))$, and a fifth of that unless there would be too many.

    Parameters: `part`; `tilt`; `step` ($\Delta$).
    Returns: one whole number (j) per cell.
    Source: chapter 5, "Coarser cells where little lies".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> int(np.min(cell_levels(part, 1.0, 1e-4)))
    0
    """
    rough, _ = part.tilted_masses(tilt)
    rough = rough / np.sum(rough)
    length = np.diff(part.edges, prepend=part.edges[0]) / step
    reach = float(part.edges[-1] - part.edges[0])
    width = min(max(0.05 / (1 + tilt), 1e-4 * reach), 0.25 / (1 + tilt))
    widest = max(width / step, 1.0)
    with np.errstate(divide="ignore"):
        wide = np.minimum((rough / np.maximum(length, 1)) ** (-1 / 3), 1e18)
    for factor in np.geomspace(4, 1e-6, 60):
        level = np.log2(np.clip(factor * wide, 1, widest)).astype(np.int64)
        if float(rough @ np.where(level > 0, 4.0**level, 0)) < 0.03:
            return np.asarray(level)
    return np.zeros(len(rough), dtype=np.int64)


def graded_points(
    part: Cells,
    tilt: float,
    step: float,
    offset: float,
    low: float,
    high: float,
) -> NDArray[np.int64]:
    r"""Grid points from low to high, wider apart where little lies.

    Parameters: `part`, `tilt`; `step`, `offset` of the fine grid; `low`,
    `high`, losses to be covered.
    Returns: increasing whole numbers i; the losses are offset + i step.
    Raises: GridTooFine for too many of them.
    Source: chapter 5, "Coarser cells where little lies".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 1, 1e-30)
    >>> len(graded_points(part, 1.0, 1e-4, 0.0, -5.0, 8.0)) < 90_000
    True
    """
    first, last = (low - offset) / step, (high - offset) / step
    room = 1e-9 + 4 * UNIT * max(abs(first), abs(last))
    first, last = math.floor(first - room), math.ceil(last + room)
    last = max(last, first + 1)
    if last - first > 2**60:
        raise GridTooFine(step, last - first)
    few = FINE_GRID
    if part.pair.atom_count > 0:  # may be rounded across a grid point
        first, last, few = first - 1, last + 1, MOST_POINTS
    enough = 4 * part.pair.atom_count  # two grid points beside each, and more
    if part.pair.discrete and enough < min((last - first) / 4, MOST_POINTS):
        atoms = np.floor((np.array(part.pair.atoms) - offset) / step)
        beside = np.add.outer(np.clip(atoms, first, last), np.arange(-1, 3))
        ends = np.array([first, first + 1, last - 1, last])
        places = np.append(beside.ravel().astype(np.int64), ends)
        return np.unique(np.clip(places, first, last))
    if last - first < few:
        return np.arange(first, last + 1)
    level = cell_levels(part, tilt, step)
    new = np.flatnonzero(np.diff(level)) + 1  # where a stretch begins
    ends = np.clip((part.edges[new - 1] - offset) / step, first, last)
    ends = np.append(np.floor(ends).astype(np.int64), last)
    widths = 2 ** level[np.append(0, new)]
    size = float(np.sum(np.diff(ends, prepend=first) / widths))
    if size > MOST_POINTS:
        raise GridTooFine(step, int(size))
    parts, place = [np.array([first])], first
    for end, width in zip(ends, widths, strict=True):
        if end > place:  # its last cell may be shorter
            inner = np.arange(place + width, end, width)
            parts.append(np.append(inner, end))
            place = int(end)
    return np.concatenate(parts)


def cell_masses(
    pair: DominatingPair, edges: Floats, split: float = math.inf
) -> list[Floats]:
    """Masses under P and Q of the intervals between edges.

    Parameters: `pair`; `edges`, n increasing losses; `split`.
    Returns: one array of 2 times n + 1 masses; with a finite split two,
    for the losses up to it and for the others.
    Source: chapter 5, "Rare steps".

    >>> from accountlib.worst_case_pairs import RandomizedResponse
    >>> pair = RandomizedResponse(0.75).pair()
    >>> [x[0].tolist() for x in cell_masses(pair, np.array([2.0]), 0.5)]
    [[0.25, 0.0], [0.75, 0.0]]
    """
    if split == math.inf:
        masses = pair.interval_masses(edges, np.diff(edges), "right")
        return [np.stack(masses)]
    k = int(np.searchsorted(edges, split))
    on_edge = k < len(edges) and edges[k] == split
    finer = edges if on_edge else np.insert(edges, k, split)
    near: Floats = np.stack(
        pair.interval_masses(finer, np.diff(finer), "right")
    )
    far: Floats = near.copy()
    near[:, k + 1 :] = far[:, : k + 1] = 0.0
    if on_edge:
        return [near, far]
    return [np.delete(near, k + 1, axis=1), np.delete(far, k, axis=1)]


def bound_tables(
    part: Cells,
    step: float,
    tilt: float,
    log_tail: float,
    sides: Sequence[BoundKind] = SIDES,
    heavy: tuple[float, ...] = (),
) -> list[TiltedTable]:
    """One-sided tables of one loss, cut for `part.count` steps.

    Formula: `upper_share` and `lower_share` of chapter 3, tilted.

    Parameters: `part`; `step`; `tilt`; `log_tail`, logarithm of the
    tilted mass that all steps together may lack on each side; `sides`;
    `heavy`, atoms that should lie on the grid.
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
    offset, touch = grid_offset(pair, step, heavy)
    if pair.atom_count > 0:  # rounded or not, at the upper end of their cells
        far = max(abs(low), abs(high), abs(offset))
        offset += 4 * UNIT * far + pair.atom_error / 2
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
    if np.any(np.diff(edges) <= 0):  # beyond the digits of floats
        raise GridTooFine(step, len(points))
    pieces = cell_masses(pair, edges, part.split)
    left = [p[0] if low <= bottom else 0.0 for p, _ in pieces]  # rounding
    right = sum(p[-1] for p, _ in pieces) if high >= top else 0.0
    for piece in pieces:
        piece[:, 0] = 0.0
    widths = np.diff(losses)
    coarse = losses[-1] > LARGEST_LOSS or step < 1e-14
    largest = max(abs(offset), float(np.max(np.abs(losses[[0, -1]]))))
    rounded = 8 * UNIT * largest
    before: list[tuple[Floats, Floats] | None] = [None] * len(pieces)
    hair = 0.0
    if pair.atom_count > 0:
        rounded += pair.atom_error
        hair = min(1.5 * rounded, HAIR * step)
        before = [
            (p[1:-1], q[1:-1])
            for p, q in cell_masses(pair, losses - hair, part.split)
        ]
    tables = []
    errors = [pair.excess_error(p, q) for p, q in pieces]
    for side in sides:
        sign = 1 if side == "upper" else -1
        outward = rounded if sign > 0 else rounded + hair
        grids = []
        every = zip(pieces, errors, before, left, strict=True)
        for (p, q), wrong, inner, start in every:
            mass = p[1:-1:2] + p[2:-1:2]
            share: Floats
            if sign > 0 and step >= 1e-14:
                # With a smaller e^epsilon the share is larger: still valid.
                capped = np.minimum(edges, LARGEST_LOSS)
                share = upper_share(widths, capped, p, q, wrong)
            elif coarse:
                share = mass if sign > 0 else np.zeros(len(mass))
            else:
                share = lower_share(widths, edges, p, q, wrong, inner, hair)
            grid = np.append(mass - share, 0.0)
            grid[1:] += share
            if sign > 0:
                grid[0] += start
            else:
                grid[-1] += p[-1]
                grid = grid if coarse else convex_hull(losses, grid)
            grids.append(grid)
        masses = np.stack(grids)
        masses = masses * (1 + sign * pair.mass_error(masses))
        log_scale = 0.0
        if np.max(masses) > 0:
            masses, log_scale = tilt_masses(losses, masses, tilt, sign)
        infinity = pair.infinite_mass[0]
        if sign > 0:
            infinity += part.beyond + right
        elif infinity < 1e-300:  # digits may be lost
            infinity = 0.0
        split = len(pieces) > 1
        tables.append(
            TiltedTable(
                step=step,
                offset=offset + sign * outward,
                tilt=tilt,
                log_scale=log_scale + 2 * sign * tilt * outward,
                tail=tail if sign > 0 else 0.0,
                infinity_mass=min(1.0, infinity * (1 + sign * 4 * UNIT)),
                bound=side,
                index=points,
                mass=masses.sum(axis=0) * (1 + sign * split * UNIT),
                pieces=tuple(masses) if split else (),
            )
        )
    return tables


@dataclass(frozen=True, eq=False)
class Spectrum(OneSided):
    r"""One-sided table of a sum, known by its transform on a circle.

    Formula: with $\theta = 2\pi k/N$ the entry of frequency k is the sum
    of $m e^{i \theta x}$ over the places x from the start of the window.

    Fields: those of `OneSided`; `size` (N), `first`, index where the
    window begins; `frequency` (k, from 0), `value` (the entries, divided
    by N, those of pairs k, N - k twice), `wrong` (a bound for the error of
    each), `rest` (a bound for the sum of all that are left out).
    Source: chapter 5, "Composition on a circle".
    """

    size: int
    first: int
    frequency: NDArray[np.int64]
    value: NDArray[np.complex128]
    wrong: Floats
    rest: float

    @property
    def reach(self) -> float:
        ends = self.first, self.first + self.size
        return abs(self.offset) + self.step * max(map(abs, ends))

    @cached_property
    def _factors(self) -> tuple[NDArray[np.complex128], ...]:
        """1/((1 - a)(1 - b)), 1/(1 - a) and 1/(1 - b)."""
        angle = 2 * np.pi * self.frequency / self.size
        turn, bend = np.exp(-1j * angle), 2 * np.sin(angle / 2) ** 2
        one_a, one_b = (
            bend - np.expm1(-x) * turn.real - 1j * math.exp(-x) * turn.imag
            for x in (self.tilt * self.step, (1 + self.tilt) * self.step)
        )
        return 1 / (one_a * one_b), 1 / one_a, 1 / one_b

    @cached_property
    def _series(self) -> tuple[NDArray[np.complex128], ...]:
        """Entries over (1 - a)(1 - b), and times a too."""
        near = self.value * self._factors[0]
        angle = 2 * np.pi * self.frequency / self.size
        a = math.exp(-self.tilt * self.step) * np.exp(-1j * angle)
        return near, near * a

    @cached_property
    def _sums(self) -> tuple[float, ...]:
        near, far, beyond = self._factors
        ends = (float(np.sum((self.value * x).real)) for x in (far, beyond))
        wrong = UNIT * (len(near) + 224) * np.abs(self.value) + self.wrong
        sizes = (float(wrong @ np.abs(x)) for x in (near, far, beyond))
        return *ends, *sizes

    @cached_property
    def _blocks(self) -> NDArray[np.complex128]:
        """The first two series, as rows of neighbouring frequencies."""
        block = math.isqrt(int(self.frequency[-1])) + 1
        table = np.zeros((2, block * block), complex)
        table[:, self.frequency] = self._series
        return table.reshape(2 * block, block)

    def _turned(self, place: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """The first two series at some places: one by one, or by FFT."""
        last, unit = int(self.frequency[-1]), -2j * np.pi / self.size
        if place.size * last > 4 * self.size + 1e5:
            circle = np.zeros((2, self.size), complex)
            circle[:, self.frequency] = self._series
            at_near, at_next = fft(circle).real[:, place]
            return at_near, at_next
        # Frequency k is b + block g: few exponentials, many products.
        block = math.isqrt(last) + 1
        fine, coarse = (
            np.exp(unit * (np.multiply.outer(place, steps) % self.size))
            for steps in (np.arange(block), block * np.arange(block))
        )
        parts = fine @ self._blocks.T
        parts = parts.reshape(*place.shape, 2, block)
        found = np.sum(parts * coarse[..., None, :], axis=-1).real
        return found[..., 0], found[..., 1]

    def weighed(self, epsilon: Floats) -> tuple[Floats, Floats]:
        step, tilt = self.step, self.tilt
        start = self.offset + step * float(self.first)  # loss of place 0
        place = np.floor((epsilon - start) / step) + 1
        place = np.clip(place, 0, self.size).astype(np.int64)
        gap = np.maximum(start + step * place - epsilon, 0.0)
        end = gap + step * (self.size - place)
        near, next_one = self._turned(place % self.size)
        far, beyond, wrong_near, wrong_far, wrong_beyond = self._sums
        # The terms of a geometric series from `place` on, and after `end`.
        scale, last = np.exp(-tilt * gap), np.exp(-tilt * end)
        rise = -np.expm1(-gap)
        fall = np.exp(-np.minimum(gap, step)) * np.expm1(-np.abs(gap - step))
        fall = np.copysign(fall, step - gap)
        value = scale * (rise * near + fall * next_one)
        value -= last * (far - np.exp(-end) * beyond)
        wrong = scale * (rise + np.abs(fall)) * wrong_near
        wrong += last * (wrong_far + np.exp(-end) * wrong_beyond)
        wrong += self.rest * self.size * math.exp(log_peak(tilt))
        within = place < self.size
        return np.where(within, value, 0), np.where(within, wrong + 1e-290, 0)


def tail_window(
    parts: Sequence[tuple[TiltedTable, int]],
    log_tail: float,
    thetas: tuple[float, float],
) -> tuple[int, int]:
    r"""Indices outside of which the tilted total has little mass.

    Formula: $x = (\ln E_\lambda[e^{\theta X}] - \ln \tau)/\theta$ above,
    the mirror image below.

    Parameters: `parts`, tables and counts; `log_tail` ($\ln \tau$);
    `thetas`, exponents for the lower and the upper end, per index.
    Returns: (first, last); at most $\tau$ lies below, and above.
    Source: Chernoff (1952); chapter 5, "The window".

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.5, 0.5])
    ... )
    >>> tail_window([(coin, 10_000)], -28.0, (0.15, 0.15))
    (4626, 5374)
    """
    ends = []
    for sign, theta, end in zip((-1, 1), thetas, (0, -1), strict=True):
        total, growth, support = 0, 0.0, 0
        for table, count in parts:
            seen = np.flatnonzero(table.mass)
            place, mass = table.index[seen], table.mass[seen]
            center = int(place[np.argmax(mass)])
            exponent = sign * theta * (place - center) + np.log(mass)
            top = float(np.max(exponent))
            log_sum = math.log(float(np.sum(np.exp(exponent - top))))
            size = float(np.max(np.abs(exponent)))
            room = UNIT * (64 + math.log2(len(seen)) + 4 * size)
            growth += count * (top + log_sum + room)
            total += count * center
            support += count * int(table.index[end])
        reach = (growth - log_tail) / theta * (1 + 1e-9) + 1e-3
        if reach < abs(support - total):
            support = total + sign * math.ceil(reach)
        ends.append(support)
    return min(ends), max(ends)


def smooth_parts(table: TiltedTable) -> tuple[Floats, Floats]:
    r"""Uniform parts of a table: their lengths n and masses c.

    Formula: $m \ge \sum_l c_l/n_l$ on stretches of $n_l$ neighbouring
    indices around the largest mass, one for each level $m_{\max} 2^{-l}$.

    Parameters: `table`.
    Returns: (n, c), arrays; the sum of c is at most the mass.
    Source: chapter 5, "High frequencies".

    >>> table = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(3), np.array([0.25, 0.5, 0.25])
    ... )
    >>> [x.tolist()[:2] for x in smooth_parts(table)]
    [[1.0, 3.0], [0.25, 0.375]]
    """
    top = int(np.argmax(table.mass))
    levels = table.mass[top] * 2.0 ** -np.arange(20)
    length = np.full(len(levels), -1)
    for turn in (1, -1):
        mass = table.mass[top::turn]
        gaps = np.abs(np.diff(table.index[top::turn])) != 1
        if np.any(gaps):
            mass = mass[: int(np.argmax(gaps)) + 1]
        lowest = np.minimum.accumulate(mass)
        length += np.searchsorted(-lowest, -levels, side="right")
    return length.astype(float), length * -np.diff(levels, append=0.0)


def log_decay(
    parts: Sequence[tuple[Floats, Floats, int]], angles: Floats
) -> Floats:
    r"""How far the transform of a sum has surely decayed, in logarithms.

    Formula: $\sum_j T_j \sum_l c_{jl} (1 - d_{n_{jl}}(\theta))$ with
    $d_n(\theta) = \max(|\sin(n\theta/2)/(n \sin(\theta/2))|, 1/(n
    \sin(\pi/n)))$ up to $\theta = 2\pi/n$, the second alone beyond.

    Parameters: `parts`, (n, c, T) for each table, c relative to its mass;
    `angles` ($\theta$ in (0, pi]).
    Returns: non-decreasing numbers; the transform is at most their
    exponential, negated, there and at all larger angles.
    Source: chapter 5, "High frequencies".

    >>> coin = np.array([2.0]), np.array([1.0]), 10
    >>> log_decay([coin], np.array([np.pi / 3])).round(2)
    array([1.34])
    """
    length = np.concatenate([n for n, _, _ in parts])
    weight = np.concatenate([count * c for _, c, count in parts])
    long = length >= 2
    length, weight = length[long], weight[long]
    side = 1 / (length * np.sin(np.pi / length))
    half = np.minimum(np.multiply.outer(angles, length) / 2, np.pi)
    main = np.sin(half) / (length * np.sin(angles / 2)[:, None])
    decay = np.asarray((1 - np.maximum(main, side)) @ weight)
    return decay * (1 - 1e-9) - 16 * UNIT * float(np.sum(weight))


def highest_frequency(
    parts: Sequence[tuple[TiltedTable, int]], size: int, needed: float
) -> tuple[int, float]:
    """A frequency above which the transform of a sum is negligible.

    Parameters: `parts`, tables and counts; `size` of the circle;
    `needed`, wanted decay in logarithms.
    Returns: (k, bound of the transform at all frequencies above k); half
    of the size and 0 if the tables are not smooth enough.
    Source: chapter 5, "High frequencies".

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.5, 0.5])
    ... )
    >>> highest_frequency([(coin, 10_000)], 1000, 40.0)[0]
    28
    """
    layers = [
        (n, c / float(np.sum(table.mass)), count)
        for table, count in parts
        for n, c in [smooth_parts(table)]
    ]
    low, high = 0, size // 2
    for _ in range(2):
        tries = np.geomspace(max(low, 1), high, 24).round()
        decay = log_decay(layers, 2 * np.pi / size * (tries + 1))
        enough = np.flatnonzero(decay > needed)
        if len(enough) == 0:
            return size // 2, 0.0
        k = int(enough[0])
        low, high = int(tries[max(k - 1, 0)]), int(tries[k])
    return high, math.exp(-float(decay[k]))


def slow_transform(
    table: TiltedTable, center: int, size: int, last: int
) -> tuple[NDArray[np.complex128], Floats]:
    r"""Transform at the frequencies 0 to `last`, minus the total mass.

    Formula: $z_k = \sum_j m_j (e^{i\theta_k x_j} - 1)$ with
    $x_j$ = index - center and $\theta_k = 2\pi k/N$, from
    $e^{i(a+b)} - 1 = AB + A + B$ where $A = e^{ia} - 1$.

    Parameters: `table`; `center`; `size` (N); `last`.
    Returns: (z, a bound for the error of each).
    Error: $4u (n + 64) \theta_k \sum_j m_j |x_j|$ for n entries.
    Source: chapter 5, "Two transforms".

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.5, 0.5])
    ... )
    >>> slow_transform(coin, 0, 4, 2)[0].round(6)
    array([ 0. +0.j , -0.5+0.5j, -1. +0.j ])
    """
    unit, block = 2 * np.pi / size, math.isqrt(last) + 1
    multiples = np.arange(block), block * np.arange(last // block + 1)
    z = np.zeros((len(multiples[1]), block), complex)
    spread, part = 0.0, max(1, 2**19 // block)
    seen = np.flatnonzero(table.mass)
    for start in range(0, len(seen), part):
        some = seen[start : start + part]
        place = (table.index[some] - center).astype(float)
        mass = table.mass[some]
        fine, coarse = (
            -2 * np.sin(x / 2) ** 2 + 1j * np.sin(x)
            for x in (np.multiply.outer(m * unit, place) for m in multiples)
        )
        z += (coarse * mass) @ fine.T + fine @ mass
        z += (coarse @ mass)[:, None]
        spread += float(np.abs(place) @ mass)
    wrong = 4 * UNIT * (len(seen) + 64) * spread * unit
    return z.ravel()[: last + 1], wrong * np.arange(last + 1)


def fast_transform(
    table: TiltedTable, center: int, size: int
) -> tuple[NDArray[np.complex128], Floats]:
    r"""The same at all frequencies up to half the size, by FFT.

    Returns: (z, a bound for the error of each).
    Error: $u (8 \log_2 N + n)$ times the mass, for at most n entries at
    one place of the circle, and 4 more for sums.
    Source: chapter 5, "Two transforms".

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.5, 0.5])
    ... )
    >>> complex(fast_transform(coin, 0, 4)[0][1].round(6))
    (-0.5+0.5j)
    """
    folded = np.bincount((table.index - center) % size, table.mass, size)
    total = math.fsum(table.mass)
    z = np.conj(rfft(folded)) - total
    turns = int(table.index[-1] - table.index[0]) // size + 1
    wrong = UNIT * (8 * max(1.0, math.log2(size)) + turns + 4) * total
    return z, np.full(len(z), wrong)


def log_transform(
    table: TiltedTable, z: NDArray[np.complex128], wrong: Floats
) -> tuple[NDArray[np.complex128], Floats]:
    r"""Logarithm of a transform, with a bound of its error.

    Formula: $\ln M + \ln(1 + z/M)$ for the total mass M.

    Parameters: `table`; `z`, `wrong` from one of the two transforms.
    Returns: (logarithms, not too small; bounds for their errors).
    Source: chapter 5, "Two transforms".

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.5, 0.5])
    ... )
    >>> log_transform(coin, *slow_transform(coin, 0, 4, 1))[0].round(4)
    array([ 0.    +0.j    , -0.3466+0.7854j])
    """
    total = math.fsum(table.mass)
    excess = math.fsum(np.append(table.mass, -1.0))
    log_total = math.log1p(excess) if total > 0.5 else math.log(total)
    z, wrong = z / total, wrong / total
    wrong = wrong + 4 * UNIT * np.abs(z)
    square = 2 * z.real + z.real**2 + z.imag**2  # of the size, minus 1
    size = np.hypot(1 + z.real, z.imag) + wrong
    precise = np.log1p(np.maximum(square, -0.9)) / 2
    log_size = np.where(np.abs(square) < 0.5, precise, np.log(size))
    turn = np.arctan2(z.imag, 1 + z.real)
    error = 8 * (np.abs(log_size) + np.abs(turn)) + 4 * abs(log_total)
    logs = log_size + 1j * turn + log_total
    return logs, 2 * wrong / size + UNIT * error


def near_and_far(table: TiltedTable) -> tuple[TiltedTable, TiltedTable]:
    """The two pieces of a table that is split.

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper", np.arange(2),
    ...     np.ones(2) / 2, (np.array([0.5, 0.0]), np.array([0.0, 0.5]))
    ... )
    >>> [x.mass.tolist() for x in near_and_far(coin)]
    [[0.5, 0.0], [0.0, 0.5]]
    """
    near, far = table.pieces
    return replace(table, mass=near), replace(table, mass=far)


def log_rare(parts: Sequence[tuple[TiltedTable, int]]) -> float:
    """Log of the share of sums with a far loss, roughly.

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper", np.arange(2),
    ...     np.ones(2) / 2, (np.array([0.5, 0.0]), np.array([0.0, 0.5]))
    ... )
    >>> round(math.exp(log_rare([(coin, 2)])), 6)
    0.75
    """
    power = 0.0
    for table, count in parts:
        near, far = map(np.sum, table.pieces)
        power += count * math.log1p(float(far) / max(float(near), TINY))
    return math.log(max(-math.expm1(-power), TINY))


def log_gain(
    near: TiltedTable,
    far: TiltedTable,
    z: NDArray[np.complex128],
    wrong: Floats,
    of_far: tuple[NDArray[np.complex128], Floats],
) -> tuple[NDArray[np.complex128], Floats, Floats]:
    r"""What far losses add to the logarithm of a transform.

    Formula: $\ln(1 + \hat f/\hat n)$ with $\hat n = N + z$.

    Parameters: `near`, `far`, two parts of a table; `z`, `wrong`, the
    transform of the first one, and `of_far`, of the other one.
    Returns: (logarithms, bounds of their errors, upper bounds of both the
    sizes of $\hat n + \hat f$ and of $\hat n$).
    Source: chapter 5, "Rare steps".
    """
    total, total_near = math.fsum(far.mass), math.fsum(near.mass)
    f, wrong_f = of_far
    f = f + total
    n = z + total_near
    wrong_f = wrong_f + 8 * UNIT * (total + np.abs(f))
    wrong = wrong + 8 * UNIT * (total_near + np.abs(n))
    least = np.maximum(np.abs(n) - wrong, TINY)
    g = f / np.where(n == 0, 1, n)
    error = (wrong_f + np.abs(g) * wrong) / least + 16 * UNIT * np.abs(g)
    square = 2 * g.real + g.real**2 + g.imag**2  # of |1 + g|, minus 1
    size = np.abs(1 + g)
    precise = np.log1p(np.maximum(square, -0.9)) / 2
    log_size = np.where(np.abs(square) < 0.5, precise, np.log(size + 1e-300))
    result = log_size + 1j * np.arctan2(g.imag, 1 + g.real)
    known = error < size / 2
    error = np.where(known, 2 * error / np.maximum(size, TINY), 1e3)
    error = error + 16 * UNIT * np.abs(result)
    most = (np.abs(n) + wrong + np.abs(f) + wrong_f) * (1 + 8 * UNIT)
    return result, error, np.maximum(most, TINY)


@dataclass(frozen=True)
class NearPair(DominatingPair):
    """The part of a pair with losses up to `top`; its masses add up to less.

    Fields: `pair`; `top`, not the place of an atom.
    Source: chapter 5, "Rare steps".

    >>> from accountlib.worst_case_pairs import LaplacePair
    >>> part = NearPair(LaplacePair(2.0), 0.0)
    >>> part.loss_range, round(float(part.masses([0.25])[0].sum()), 6)
    ((-0.5, 0.0), 0.3894)
    """

    pair: DominatingPair
    top: float

    @property
    def loss_range(self) -> tuple[float, float]:
        low, high = self.pair.loss_range
        return low, min(high, self.top)

    @property
    def atoms(self) -> tuple[float, ...]:
        return tuple(x for x in self.pair.atoms if x <= self.top)

    @property
    def atom_count(self) -> int:
        return self.pair.atom_count

    @property
    def lattice(self) -> tuple[float, float] | None:
        return self.pair.lattice

    @property
    def atom_error(self) -> float:
        return self.pair.atom_error

    @property
    def discrete(self) -> bool:
        return self.pair.discrete

    def mass_error(self, mass: Floats) -> Floats:
        return self.pair.mass_error(mass)

    def excess_error(self, p: Floats, q: Floats) -> ExcessError:
        return self.pair.excess_error(p, q)

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        inner = np.append(edges[edges < self.top], self.top)
        p, q = self.pair.interval_masses(inner, np.diff(inner), closed)
        none = np.zeros(len(edges) + 1 - len(inner))
        return np.append(p[:-1], none), np.append(q[:-1], none)


def sums(
    parts: Sequence[tuple[TiltedTable, int]], tail: float
) -> dict[str, Any]:
    """What adds up: the fields of `OneSided` for a sum of losses.

    Parameters: `parts`, tables and counts; `tail`, to be added.
    Error: rounding of the sums moves the table outward by as much.
    Source: chapter 5, "One round".

    >>> coin = TiltedTable(
    ...     1.0, 0.5, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.25, 0.75])
    ... )
    >>> round(sums([(coin, 2)], 0.0)["offset"], 9)
    1.0
    """
    model = parts[0][0]
    sign, tilt = model.sign, model.tilt
    infinity = any_infinite([(t.infinity_mass, n) for t, n in parts])
    infinity *= 1 + sign * 8 * UNIT * len(parts)
    moved = 4 * UNIT * math.fsum(n * abs(t.offset) for t, n in parts)
    raised = 4 * UNIT * math.fsum(n * abs(t.log_scale) for t, n in parts)
    offset = math.fsum(n * t.offset for t, n in parts)
    log_scale = math.fsum(n * t.log_scale for t, n in parts)
    return {
        "step": model.step,
        "offset": offset + sign * moved,
        "tilt": tilt,
        "log_scale": log_scale + sign * (raised + 2 * tilt * moved),
        "tail": tail + math.fsum(n * table.tail for table, n in parts),
        "infinity_mass": min(1.0, infinity),
        "bound": model.bound,
    }


@dataclass(frozen=True, eq=False)
class Power:
    r"""Logarithm of the transform of a sum, at frequencies from 0.

    Formula: `logs` is $\sum_j T_j \ln \hat n_j$, `gain` is $\sum_j T_j
    \ln(1 + \hat f_j/\hat n_j)$ if losses are split into near (n) and far
    (f) ones, else None.

    Fields: `logs`, `lost` (error bounds), `added` (sizes that were added
    up), `gain`, `gain_lost`; `most`, upper bounds of the logarithm of the
    size with far losses; `middle`, index where the transform begins.
    Source: chapter 5, "One round" and "Rare steps".
    """

    logs: NDArray[np.complex128]
    lost: Floats
    added: Floats
    gain: NDArray[np.complex128] | None
    gain_lost: Floats
    most: Floats
    middle: int
    kinds: int

    @classmethod
    def of(
        cls,
        parts: Sequence[tuple[TiltedTable, int]],
        size: int,
        highest: int | None,
    ) -> "Power":
        """Add up the parts; by FFT if `highest` is None."""
        places = (size // 2 if highest is None else highest) + 1
        logs, gain = np.zeros(places, complex), np.zeros(places, complex)
        lost, added, gain_lost, most = np.zeros((4, places))
        middle = 0

        def transform(table: TiltedTable, center: int) -> Any:
            if highest is None:
                return fast_transform(table, center, size)
            return slow_transform(table, center, size, highest)

        for table, count in parts:
            center = int(table.index[np.argmax(table.mass)])
            rare = len(table.pieces) > 0
            near, far = near_and_far(table) if rare else (table, table)
            z, wrong = transform(near, center)
            part_logs, part_lost = log_transform(near, z, wrong)
            middle += count * center
            logs += count * part_logs
            lost += count * part_lost
            added += count * np.abs(part_logs)
            if rare:
                one, one_lost, largest = log_gain(
                    near, far, z, wrong, transform(far, center)
                )
                gain += count * one
                rounded = 2 * UNIT * len(parts) * np.abs(one)
                gain_lost += count * (one_lost + rounded)
                most += count * (np.log(largest) + 1e-12)
        used = gain if rare else None
        kinds = len(parts)
        return cls(logs, lost, added, used, gain_lost, most, middle, kinds)

    def log_size(self) -> Floats:
        """Bounds of the logarithms of the sizes."""
        if self.gain is None:
            return np.asarray(self.logs.real + self.lost)
        return self.most + 1

    def values(
        self, keep: NDArray[np.int64]
    ) -> tuple[NDArray[np.complex128], Floats]:
        """The transform at some frequencies, and a bound of its errors."""
        value = np.asarray(np.exp(self.logs[keep]), complex)
        lost = np.minimum(self.lost[keep], 700)
        rounded = UNIT * (16 + 4 * self.kinds) * (8 + self.added[keep])
        wrong = np.abs(value) * (np.expm1(lost) + rounded)
        most = np.minimum(self.logs[keep].real + self.lost[keep], 700)
        wrong = np.where(lost > 1, np.exp(most) + np.abs(value), wrong)
        if self.gain is None:
            return value, wrong
        # Where the quotient is unknown, both powers are at most `most`.
        gain, gain_lost = self.gain[keep], self.gain_lost[keep]
        unknown = ~((gain_lost <= 0.5) & (np.abs(gain.real) <= 600))
        unknown |= self.logs[keep].real < -700
        gain = np.where(unknown, 0, gain)
        x, y = gain.real, gain.imag
        sizes = np.expm1(x) * np.cos(y), 2 * np.sin(y / 2) ** 2
        turn = np.exp(x) * np.sin(y)
        rare = sizes[0] - sizes[1] + 1j * turn
        error = 8 * UNIT * (np.abs(sizes[0]) + sizes[1] + np.abs(turn))
        error += np.exp(x) * np.expm1(np.minimum(gain_lost, 1))
        found = value * rare
        wrong = wrong * np.abs(rare) + (np.abs(value) + wrong) * error
        most = 2 * np.exp(np.minimum(self.most[keep], 700))
        found = np.where(unknown, 0, found)
        return found, np.where(unknown, most, wrong)


def add_tables(
    parts: Sequence[tuple[TiltedTable, int]],
    log_tail: float,
    thetas: tuple[float, float],
) -> OneSided:
    r"""One side of a sum of independent losses, by its transform.

    Formula: $\hat m = \prod_j \hat m_j^{T_j}$ on a circle as long as the
    window; K and offsets add up. Of tables in two pieces, only sums with
    at least one far loss: $\prod_j \hat m_j^{T_j} - \prod_j \hat n_j^{T_j}$.

    Parameters: `parts`, tables of one side, step and tilt, and counts;
    `log_tail`, logarithm of the tilted mass outside of the window;
    `thetas`, exponents of the window's ends, per unit of loss.
    Returns: the total on the same side; all errors are inside of it.
    Raises: GridTooFine if the transforms are too much work, ValueError
    for a tilt of 0.
    Source: chapter 5, "One round".

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 1.0, 1.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.25 / math.e, 0.75])
    ... )
    >>> total = add_tables([(coin, 2)], -30.0, (1.0, 1.0))
    >>> round(read_delta(total, 0.5), 6)  # 3/8 at 1, 9/16 at 2
    0.58454
    """
    if any(t.pieces and not np.any(t.pieces[0]) for t, _ in parts):
        # every sum has a far loss
        parts = [(replace(t, pieces=()), n) for t, n in parts]
    model, step = parts[0][0], parts[0][0].step
    rare = len(model.pieces) > 0
    if len(parts) == 1 and parts[0][1] == 1:
        return near_and_far(model)[1] if rare else model
    if model.tilt <= 0:
        raise ValueError(f"tilt must be positive, got {model.tilt!r}")
    if any(np.max(table.mass) == 0 for table, _ in parts):
        return TiltedTable(
            **sums(parts, 0.0), index=np.zeros(1, int), mass=np.zeros(1)
        )
    first, last = tail_window(
        parts, log_tail, (thetas[0] * step, thetas[1] * step)
    )
    size = max(last - first + 1, 2)
    whole = sum(n * int(t.index[-1] - t.index[0]) for t, n in parts) < size
    needed = math.log(size) - log_tail + 2
    highest, rest = highest_frequency(parts, size, needed)
    if rare:
        near = [(near_and_far(t)[0], n) for t, n in parts]
        other, more = highest_frequency(near, size, needed)
        highest, rest = max(highest, other), rest + more
    # By FFT if that is less work, and precise enough.
    nodes = sum(np.count_nonzero(table.mass) for table, _ in parts)
    slow_work = (nodes + 60) * highest + 40 * nodes * math.sqrt(highest)
    fast_work = 10 * len(parts) * size * math.log2(size + 1)
    noise = 8 * math.log2(size + 1) * UNIT * sum(n for _, n in parts)
    allowed = log_tail - (log_rare(parts) if rare else 0.0)
    precise = noise < 0.01 * math.exp(allowed)
    too_slow = slow_work > (WORK / 4 if rare else WORK)
    fast = too_slow or (precise and fast_work < slow_work)
    fast &= size <= 16 * MOST_POINTS
    if fast:
        size = next_fast_len(size, real=True)
        highest, rest = size // 2, 0.0
    elif too_slow or size * highest > 2**62:
        raise GridTooFine(step, size)
    power = Power.of(parts, size, None if fast else highest)
    keep = np.flatnonzero(~(power.log_size() <= -needed - 20))
    if len(keep) == 0:  # nothing is larger than what may be left out
        keep = np.zeros(1, int)
    if 200 * len(keep) > WORK:
        raise GridTooFine(step, size)
    largest = power.logs.real if power.gain is None else power.most
    growth = math.exp(min(max(float(largest[0]), 0.0), 700.0))
    # From the middle of the tables to the start of the window.
    turns = keep * ((power.middle - first) % size) % size
    turn = np.exp(2j * np.pi / size * turns) / size
    turn[(keep > 0) & (2 * keep < size)] *= 2
    value, wrong = power.values(keep)
    return Spectrum(
        **sums(parts, 0.0 if whole else 2.02 * math.exp(log_tail)),
        size=size,
        first=first,
        frequency=keep,
        value=value * turn,
        wrong=wrong * np.abs(turn) * (1 + 32 * UNIT),
        rest=1.01 * growth * (rest + math.exp(-needed - 20)),
    )


def read_delta(
    total: OneSided | Sequence[OneSided], epsilon: ArrayLike
) -> Any:
    """End of the interval for delta at one epsilon, or at many.

    Formula: eq. (int-upper), rounded outward.

    Parameters: `total`, or several whose deltas add up; `epsilon`, a
    number or an array.
    Returns: a number in [0, 1] on the total's side of the truth, for each.
    Source: chapter 5, "Reading off".

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.25, 0.75])
    ... )
    >>> round(read_delta(coin, 0.0), 6)
    0.47409
    """
    epsilon = np.asarray(epsilon, dtype=np.float64)
    if not isinstance(total, OneSided):
        parts = np.stack([read_delta(part, epsilon) for part in total])
        room = 1 + total[0].sign * 2 * len(total) * UNIT
        return as_given(np.minimum(np.sum(parts, axis=0) * room, 1.0))
    sign, largest = total.sign, np.abs(epsilon) + total.reach
    moved = epsilon - sign * 8 * UNIT * largest  # rounding of the grid
    value, wrong = total.weighed(moved)
    if total.tail > 0:
        wrong = wrong + total.padding * math.exp(log_peak(total.tilt))
    value = value + sign * wrong
    seen = value > 0
    log_value = np.log(np.where(seen, value, 1.0))
    error = 64 + 16 * total.tilt * largest + 4 * abs(total.log_scale)
    error += 4 * np.abs(log_value)
    log_scale = total.log_scale - total.tilt * epsilon
    log_scale += sign * UNIT * error
    finite = np.exp(np.minimum(log_scale + log_value, 0.0))
    if sign > 0:
        finite = np.maximum(finite, 5e-324)  # no underflow to 0
    result = np.where(seen, finite, 0.0) + total.infinity_mass
    result = np.minimum(result * (1 + sign * 8 * UNIT), 1.0)
    unknown = 1.0 if sign > 0 else 0.0
    return as_given(np.where(np.isnan(value), unknown, result))


def read_epsilon(
    total: OneSided | Sequence[OneSided],
    delta: float,
    guess: float = 1.0,
    order: float = 1.0,
    room: float = 1e-9,
) -> float:
    """End of the interval for epsilon at one delta.

    Formula: a root of `read_delta`, enclosed by two evaluations.

    Parameters: `total`, as for `read_delta`; `delta`; `guess`, where to
    begin; `order`, minus the slope of log delta there, roughly; `room`,
    relative distance of the two evaluations.
    Returns: a number (0 to inf) on the total's side of the truth.
    Source: chapter 5, "Reading off".

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.25, 0.75])
    ... )
    >>> round(read_epsilon(coin, 0.3), 5)
    0.48917
    """
    parts = [total] if isinstance(total, OneSided) else total
    upper = parts[0].sign > 0
    infinite = math.fsum(part.infinity_mass for part in parts)
    if delta <= infinite * (1 + parts[0].sign * 8 * len(parts) * UNIT):
        return math.inf
    log_delta = math.log(delta)
    low, high, x, slope = 0.0, math.inf, max(guess, 0.0), order
    before: tuple[float, float] | None = None
    new = True  # 0 has not been looked at
    for turn in range(120):
        value = read_delta(total, x)
        y = math.log(value) - log_delta if value > 0 else -1e4
        if value > delta or (value == delta and not upper):
            low = x
        else:
            high = x
        if high < math.inf and high - low <= room * high:
            break
        if before is not None and (before[1] - y) * (x - before[0]) > 0:
            slope = (before[1] - y) / (x - before[0])
        before, root = (x, y), x + y / slope
        if value <= 0:  # no slope: step down, farther each time
            before, root = None, math.inf
        near = 0.4 * room * root  # to the other side of the root
        if root - low < 1.2 * near:
            root += near
        elif high - root < 1.2 * near:
            root -= near
        slow = turn % 8 == 7 or (turn > 8 and turn % 2 == 1)
        if not low < root < high or slow:
            root = (low + high) / 2 if high < math.inf else 2 * low + 1 / order
            if low == 0 and high < math.inf:  # look just below first
                shift = room * high * 2.0**turn if value > 0 else 0.0
                below = high - (shift or 2.0**turn / order)
                root = max(below, 0.0 if new else root)
                new &= root > 0
        x = root
    return high if upper else low


def loss_ceiling(losses: Losses) -> Bound:
    r"""Interval for the largest finite total loss, cut at 0.

    Formula: $\sum_j T_j \sup L_j$, rounded outward: each by $16u$,
    relative, and by the `atom_error` of its pair.

    Parameters: `losses`, pairs of a dominating pair and its count.
    Returns: a Bound; both ends inf where a pair has no largest loss.
    Source: chapter 5, "Without a grid".

    >>> from accountlib.worst_case_pairs import LaplacePair
    >>> loss_ceiling([(LaplacePair(2.0), 10)]).contains(5.0)
    True
    """
    tops = [(n, pair.loss_range[1]) for pair, n in losses]
    if any(math.isinf(top) for _, top in tops):
        return Bound(math.inf, math.inf)
    total = math.fsum(n * top for n, top in tops)
    error = math.fsum(
        n * (16 * UNIT * abs(pair.loss_range[1]) + pair.atom_error)
        for pair, n in losses
        if pair.loss_range[1] != 0
    )
    return Bound(max(0.0, total - error), max(0.0, total + error))


def any_of_many(parts: Sequence[tuple[Fraction, int]]) -> tuple[float, float]:
    r"""Probability that something happens at least once, between floats.

    Formula: $1 - \prod_j (1 - p_j)^{T_j}$, with all digits that matter;
    $x - x^2/2$ and $x = \sum_j T_j p_j$ where that is tiny.

    Parameters: `parts`, probabilities and counts.
    Returns: floats around it, the same one if it is a float.
    Source: chapter 5, "Without a grid".

    >>> any_of_many([(Fraction(1, 2), 2)])
    (0.75, 0.75)
    """
    total = sum((n * p for p, n in parts), Fraction(0))
    if any(p == 1 for p, _ in parts):
        low = high = Fraction(1)
    elif len(parts) == parts[0][1] == 1 or total == 0:
        low = high = total
    elif total < 1e-20:
        low, high = total - total**2 / 2, total
    elif sum(n for _, n in parts) <= 100:
        none = math.prod(((1 - p) ** n for p, n in parts), start=Fraction(1))
        low = high = 1 - none
    else:
        with localcontext(Context(prec=150, traps=[])):
            power = Decimal(0)
            for p, n in parts:
                missed = Decimal((1 - p).numerator) / (1 - p).denominator
                power += n * missed.ln()
            value = Fraction(1 - power.exp())
        low, high = (value * (1 + x * Fraction(1e-40)) for x in (-1, 1))
        high = min(high, Fraction(1))
    first, last = float(low), float(high)
    first = first if first <= low else math.nextafter(first, 0.0)
    return first, last if last >= high else math.nextafter(last, 1.0)


def infinite_mass(pair: DominatingPair) -> tuple[Fraction, bool]:
    """P-mass of infinite losses of one run, and whether it is exact.

    It is where a list gives it as one number, and in samples of such lists.

    >>> from accountlib.worst_case_pairs import ApproximateDP
    >>> infinite_mass(SampledPair(ApproximateDP(1.0, 0.25).pair(), 0.5))
    (Fraction(1, 8), True)
    """
    if isinstance(pair, SampledPair):
        mass, exact = infinite_mass(pair.base)
        return mass * (pair.exact or Fraction(pair.rate)), exact
    zeros = pair.q if isinstance(pair, DiscretePair) else (0.0, 0.0)
    return Fraction(pair.infinite_mass[0]), list(zeros).count(0.0) <= 1


def infinite_bound(losses: Losses) -> Bound:
    r"""Interval for the probability of an infinite total loss under P.

    Formula: $1 - \prod_j (1 - p_{j,\infty})^{T_j}$, rounded outward.

    Parameters: `losses`, pairs of a dominating pair and its count.
    Returns: a Bound; neighbouring floats where the masses are exact.
    Source: chapter 4, "Mass at infinity".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> infinite_bound([(GaussianPair(1.0), 10)])
    Bound(lower=0.0, upper=0.0)
    """
    ends = []
    for sign in (-1, 1):
        parts = []
        for pair, count in losses:
            mass, exact = infinite_mass(pair)
            if not exact and mass != 1:
                mass *= 1 + sign * Fraction(8 * UNIT)
            if not exact and 0 < mass < 1e-300:  # digits may be lost
                mass = mass + Fraction(5e-324) if sign > 0 else Fraction(0)
            parts.append((min(mass, Fraction(1)), count))
        ends.append(any_of_many(parts)[(sign + 1) // 2])
    return Bound(*ends)


def falls(epsilons: Floats, masses: Floats) -> tuple[Floats, Floats]:
    r"""Bounds of $e^\varepsilon Q(L > \varepsilon)$ from P-masses alone.

    Formula: $\sum_i e^{\varepsilon - e_{i+1}} P_i$ and $\sum_i
    e^{\varepsilon - e_i} P_i$ over the intervals $(e_i, e_{i+1}]$ above.

    Parameters: `epsilons`, n increasing edges; `masses`, n P-masses of
    the intervals above each.
    Returns: (lower, upper), up to rounding, one for each epsilon.
    Source: chapter 5, "A single run".

    >>> low, up = falls(np.log([1.0, 2.0, 4.0]), np.array([0.5, 0.25, 0.0]))
    >>> float(low[0].round(6)), float(up[0].round(6))  # 1/4 + 1/16, 1/2 + 1/8
    (0.3125, 0.625)
    """
    log_mass = np.log(np.maximum(masses, 5e-324))
    ends = np.append(epsilons[1:], np.inf)
    lower, upper = (
        np.exp(epsilons + np.logaddexp.accumulate((log_mass - x)[::-1])[::-1])
        for x in (ends, epsilons)
    )
    return lower, upper


def atom_curve(
    pair: DominatingPair, epsilons: Floats
) -> tuple[Floats, Floats]:
    r"""Privacy curve of a list of losses between bounds.

    Formula: $\sum_i (1 - e^{\varepsilon - \ell_i})_+ \, p_i$ over finite
    losses, each moved by what it may be off.

    Parameters: `pair`, discrete, with atoms; `epsilons`.
    Returns: (lower, upper), one number for each epsilon.
    Source: chapter 5, "A single run".

    >>> from accountlib.worst_case_pairs import RandomizedResponse
    >>> coin = RandomizedResponse(0.75).pair()
    >>> low, up = atom_curve(coin, np.array([0.0]))
    >>> bool(low[0] <= 0.5 <= up[0] < low[0] + 1e-13)
    True
    """
    atoms = np.array(pair.atoms)
    # Between atoms, not at one: a rounded edge may lie on either side.
    edges = (atoms[1:] + atoms[:-1]) / 2 if len(atoms) > 1 else atoms + 1
    p, _ = pair.interval_masses(edges, np.diff(edges), "right")
    p = p[: len(atoms)]
    wrong = pair.mass_error(p) + UNIT * (len(p) + 16)
    near = 3 * pair.atom_error + 4 * UNIT * np.abs(atoms)
    lower, upper = (
        -np.expm1(np.minimum(np.subtract.outer(epsilons, moved), 0)) @ mass
        for moved, mass in (
            (atoms - near, p * (1 - wrong)),
            (atoms + near, p * (1 + wrong)),
        )
    )
    return np.maximum(lower - 1e-305, 0), upper + 1e-305


def run_curve(pair: DominatingPair, epsilons: Floats) -> tuple[Floats, Floats]:
    r"""Privacy curve of one run between bounds, without any grid.

    Formula: $\delta(\varepsilon) = P(L > \varepsilon) - e^\varepsilon
    Q(L > \varepsilon)$, from the masses between the epsilons.

    Parameters: `pair`; `epsilons`, at least 1, increasing, of any sign.
    Returns: (lower, upper), one number for each epsilon.
    Error: rounding, and the errors that the pair states, are in the bounds.
    Source: chapter 5, "A single run".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> low, up = run_curve(GaussianPair(1.0), np.array([1.0]))
    >>> bool(low[0] <= 0.1269367375066438 <= up[0] <= low[0] + 1e-12)
    True
    """
    first = epsilons[0] - 1e-9 * (1 + abs(epsilons[0]))
    edges = np.append(first, epsilons)  # what is just below comes first
    masses = np.stack(pair.interval_masses(edges, np.diff(edges), "right"))
    wrong = (pair.mass_error(masses) + UNIT * (masses.shape[1] + 16)) * masses
    sums = np.concatenate([masses, wrong + 1e-321])
    sums = np.cumsum(sums[:, ::-1], axis=1)[:, ::-1]
    above, above_q, wrong, wrong_q = sums[:, 2:]
    seen = above_q > TINY
    safe_q = np.where(seen, above_q, 1.0)
    exponent = epsilons + np.log(safe_q)
    fall = np.where(seen, np.exp(np.minimum(exponent, 700.0)), 0.0)
    size = 32 + 8 * (np.abs(epsilons) + np.abs(np.log(safe_q)))
    error = wrong + (wrong_q / safe_q + UNIT * size) * fall
    error += 32 * UNIT * above + 1e-305
    if pair.atom_count > 0:  # one may be on the wrong side of an epsilon
        near = pair.atom_error + 4 * UNIT * np.abs(epsilons)
        below = np.searchsorted(edges, epsilons - near, side="right")
        error += 2 * near * sums[0, below]
    least, most = falls(epsilons, masses[0, 2:])
    least, most = np.where(seen, fall, least), np.where(seen, fall, most)
    error += np.where(seen, 0.0, 1e-10 * above)
    infinite = infinite_bound([(pair, 1)])
    lower = np.maximum(above - most - error, 0)
    upper = np.maximum(above - least + error, 0)
    if pair.discrete and 0 < pair.atom_count <= 1000:
        some, all_of_it = atom_curve(pair, epsilons)
        lower, upper = np.maximum(lower, some), np.minimum(upper, all_of_it)
    beyond = epsilons >= loss_ceiling([(pair, 1)]).upper
    lower, upper = (
        np.where(beyond, 0.0, end) * (1 + 4 * sign * UNIT)
        for end, sign in ((lower, -1), (upper, 1))
    )
    lower = (lower + infinite.lower) * np.where(lower > 0, 1 - 2 * UNIT, 1)
    upper = (upper + infinite.upper) * np.where(upper > 0, 1 + 2 * UNIT, 1)
    return np.minimum(lower, 1), np.minimum(upper, 1)


def run_answer(pair: DominatingPair, query: Query) -> Bound:
    """Interval for one run: as narrow as the masses allow.

    Parameters: `pair`; `query`.
    Returns: a Bound; Bound(0, inf) at worst.
    Source: chapter 5, "A single run".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> bound = run_answer(GaussianPair(1.0), Query(1e-6, None, 1e-3))
    >>> round(bound.lower, 6), bound.width < 1e-6
    (4.886554, True)
    """
    if query.delta is None:
        epsilon = query.epsilon or 0.0
        edges = np.append(epsilon, epsilon + BEYOND if epsilon > 300 else [])
        low, up = run_curve(pair, edges)
        return Bound(float(low[0]), float(up[0]))
    lowest, highest, gap = 0.0, math.inf, math.inf
    edges = np.append(0.0, POWERS)
    while True:
        lower, upper = run_curve(pair, edges)
        over = np.flatnonzero(lower > query.delta)
        under = np.flatnonzero(upper <= query.delta)
        if len(over) > 0:
            lowest = max(lowest, float(edges[over[-1]]))
        if len(under) > 0:
            highest = min(highest, float(edges[under[0]]))
        old, gap = gap, highest - lowest
        if not 1e-4 * query.relative_width * highest < gap < 0.9 * old:
            return Bound(lowest, highest)
        if highest < math.inf:
            edges = np.linspace(lowest, highest, 35)[1:-1]
            if highest > 300:  # more edges, where Q is too small for floats
                edges = np.append(edges, highest + BEYOND)
            edges = np.unique(edges)


def large_steps(losses: Losses, places: Floats) -> tuple[Floats, Floats]:
    r"""Probability that some loss exceeds x, under P and under Q.

    Formula: $1 - \prod_j (1 - P_j(L > x))^{T_j}$; infinite losses of P
    count.

    Parameters: `losses`, pairs of a dominating pair and its count;
    `places` (x), increasing.
    Returns: a lower bound under P and an upper bound under Q, for each x.
    Source: chapter 5, eq. (int-one-large).

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> p, q = large_steps([(GaussianPair(1.0), 2)], np.array([0.5]))
    >>> round(float(p[0]), 6), round(float(q[0]), 6)  # 3/4, 0.292139
    (0.75, 0.292139)
    """
    missed = np.zeros((2, len(places)))
    for pair, count in losses:
        masses = pair.interval_masses(places, np.diff(places), "right")
        p, q = (
            np.cumsum((x * (1 + sign * pair.mass_error(x)))[::-1])[-2::-1]
            for x, sign in zip(masses, (-1, 1), strict=True)
        )
        p, q = p + infinite_bound([(pair, 1)]).lower, q + 1e-305
        room = UNIT * (len(places) + 32 + 2 * len(losses))
        missed[0] += count * np.log1p(-np.clip(p * (1 - room), 0, 1 - UNIT))
        missed[1] += count * np.log1p(-np.clip(q * (1 + room), 0, 1 - UNIT))
    p, q = -np.expm1(missed)
    return p * (1 - 64 * UNIT), np.minimum(q * (1 + 64 * UNIT), 1.0)


def chernoff_delta(cells: Sequence[Cells], epsilon: float) -> float:
    r"""Upper bound of delta, loose, from a rough look at the losses.

    Formula: $p + \min_\lambda e^{\sum_j T_j \ln \sum_i P_{ji} e^{\lambda
    e_{ji}} - \lambda \varepsilon}$ over a list of $\lambda$, with the right
    edges e of the cells; p is what lies beyond the last ones.

    Parameters: `cells` of all losses; `epsilon`.
    Returns: a number in (0, 1], not below delta; 0 is no bound of a delta
    that floats cannot hold.
    Source: Chernoff (1952); chapter 5, "Simple bounds for many runs".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> cells = Cells.first(GaussianPair(1e-3), 10, 1e-320)
    >>> chernoff_delta([cells], 1.0) < 1e-290
    True
    """
    orders = np.geomspace(1e-2, 1e12, 169)
    log_delta, beyond = -orders * epsilon, []
    for part in cells:
        exponent = np.multiply.outer(orders, part.edges) + part.log_most
        top = np.max(exponent, axis=1)
        log_sum = np.log(np.sum(np.exp(exponent - top[:, None]), axis=1))
        log_delta += part.count * (top + log_sum + 1e-10)
        log_delta += 1e-9 * part.count * np.abs(top)
        beyond.append(part.count * (part.beyond + part.pair.infinite_mass[0]))
    least = math.exp(min(float(np.min(log_delta)) + 1e-6, 0.0))
    return min(1.0, max(least, 5e-324) + 1.001 * math.fsum(beyond))


def simple_bound(losses: Losses, query: Query) -> Bound:
    """Interval from one large step below, and from adding up above.

    Parameters: `losses`, pairs of a dominating pair and its count; `query`.
    Returns: a Bound, wide but never far off where single steps decide.
    Source: chapter 5, "Simple bounds for many runs".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> bound = simple_bound([(GaussianPair(0.1), 2)], Query(None, 0.0, 1e-3))
    >>> round(bound.lower, 2), round(bound.upper, 2)  # the truth is 0.056
    (0.05, 0.08)
    """
    total = sum(n for _, n in losses)
    places = np.append(0.0, POWERS)
    if query.delta is None:
        epsilon = query.epsilon or 0.0
        places = np.unique(np.append(places, epsilon))
        p, q = large_steps(losses, places)
        log_q = epsilon + np.log(np.maximum(q, 1e-305))
        fall = np.exp(np.minimum(log_q, 1.0))
        fall *= 1 + 16 * UNIT * (1 + epsilon + np.abs(log_q))
        share = np.array([epsilon / total * (1 - 4 * UNIT)])
        most = math.fsum(n * run_curve(x, share)[1][0] for x, n in losses)
        lower = max(0.0, float(np.max(p - fall)) * (1 - 4 * UNIT))
        return Bound(lower, max(lower, min(1.0, most * (1 + 4 * UNIT))))
    lower, upper = 0.0, math.inf
    for _ in range(3):
        p, q = large_steps(losses, places)
        gain = np.maximum(p * (1 - 4 * UNIT) - query.delta, 1e-320)
        found = np.log(gain) - np.log(q)
        found -= 16 * UNIT * (1 + np.abs(np.log(gain)) + np.abs(np.log(q)))
        k = int(np.argmax(found))
        lower = max(lower, float(found[k]))
        start, end = places[max(k - 1, 0)], places[min(k + 1, len(places) - 1)]
        places = np.unique(np.linspace(start, end, 33))
    shares = np.append(0.0, POWERS)
    most_each = sum(n * run_curve(x, shares)[1] for x, n in losses)
    enough = np.flatnonzero(most_each * (1 + 1e-12) <= query.delta)
    if len(enough) > 0:
        upper = float(shares[enough[0]]) * total * (1 + 4 * UNIT)
    return Bound(lower, max(lower, upper))


class Search:
    """Interval for one direction, refined on demand.

    Parameters: `losses`, pairs of a dominating pair and its count;
    `query`, what is asked. `guess` is an estimate of the answer, `bound`
    the interval found so far.
    Source: chapter 5, "Searching".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> search = Search([(GaussianPair(0.1), 100)], Query(1e-6, None, 1e-3))
    >>> search.refine(0.0)
    >>> search.bound.contains(4.886554), search.bound.width < 1e-3
    (True, True)
    """

    def __init__(
        self, losses: Losses, query: Query, split: float = math.inf
    ) -> None:
        self.query, self.bound, self.step = query, Bound(0, math.inf), 0.0
        self.pairs = [pair for pair, _ in losses]
        self.count = sum(n for _, n in losses)
        self.order, self.guess, self.excess = 1.0, 1.0, 0.0
        self.slope = self.finest = self.work = 0.0
        self.losses, self.split = losses, split
        self.totals: dict[BoundKind, OneSided] = {}
        self.heavy: list[tuple[float, ...]] = [()] * len(losses)
        self.parted, self.ended = self.count == 1 or split < math.inf, False
        self.look()

    def look(self) -> None:
        """Cells, order and guess, each from the one before."""
        delta = 1e-300 if self.query.delta is None else self.query.delta
        budget = min(max(1e-6 * delta / self.count, 1e-320), 1e-3)
        first = self.cells = self.first_cells(budget)
        for _ in range(6):
            before = self.order
            self.order, found = saddle(self.cells, self.query)
            if self.query.epsilon is not None:
                most, _ = jumps(self.cells, self.query.epsilon, 1 / self.count)
                found = min(found, math.log(max(most, 1e-320)))
                self.guess = math.exp(min(max(found, -700.0), 0.0))
                delta = 1e-3 * self.guess
            elif found > 0:
                self.guess = found
            else:  # delta is near delta(0): look there
                at_zero = Query(None, 0.0, self.query.relative_width)
                self.order, _ = saddle(self.cells, at_zero)
                self.guess = 1e-3 / (1 + self.order)
            spare = self.query.log_spare(
                self.guess, self.order, self.query.relative_width
            )
            needed = max(0.1 * math.exp(spare) * delta / self.count, 1e-320)
            cut = first is not self.cells and needed < 1e-2 * budget
            if 0.8 < self.order / before < 1.25 and not cut:
                break
            self.cells = [
                c.finer(self.order, needed)
                for c in (first if cut else self.cells)
            ]
            budget = needed

    def first_cells(self, budget: float) -> list[Cells]:
        return [
            Cells.first(pair, n, budget, self.split) for pair, n in self.losses
        ]

    def expect(self, guess: float) -> None:
        """Another guess of delta; a small one needs cells farther up."""
        self.guess, room = guess, 1e-4 * self.query.relative_width
        needed = max(room * guess / self.count, 1e-320)
        if any(part.beyond > needed for part in self.cells):
            first = self.first_cells(needed)
            self.cells = [part.finer(self.order, needed) for part in first]

    def compute(
        self,
        step: float,
        value: float,
        goal: float,
        sides: Sequence[BoundKind],
    ) -> None:
        """Ends from one grid; the interval is cut with the old one."""
        point = self.query.point(value)
        most = 15 / step  # with more, one grid point is all
        order = min(self.order, most)
        tilt, excess, thetas = choose_tilt(self.cells, order, *point)
        spare = self.query.log_spare(value, self.order, goal)
        self.excess = excess
        log_tail = spare - excess - 2 + self.log_rare(tilt)
        made = [
            bound_tables(part, step, tilt, log_tail, sides, heavy)
            for part, heavy in zip(self.cells, self.heavy, strict=True)
        ]
        ends = {"upper": self.bound.upper, "lower": self.bound.lower}
        for side, tables in zip(sides, zip(*made, strict=True), strict=True):
            parts = [
                (table, part.count)
                for table, part in zip(tables, self.cells, strict=True)
            ]
            total = self.totals[side] = add_tables(parts, log_tail, thetas)
            if isinstance(total, Spectrum):
                nodes = sum(np.count_nonzero(t.mass) for t, _ in parts)
                size, kept = total.size, len(total.frequency)
                by_fft = 10 * len(parts) * size * math.log2(size)
                self.work += 100 * kept + min(nodes * kept, by_fft)
            end = self.query.read(total, value, self.order)
            ends[side] = (min if side == "upper" else max)(ends[side], end)
        if ends["lower"] > ends["upper"]:
            raise ArithmeticError(f"lower exceeds upper: {ends!r}")
        self.bound = Bound(float(ends["lower"]), float(ends["upper"]))
        self.step = step

    def log_rare(self, tilt: float) -> float:
        """Log of the share of sums that the tables are about."""
        at = np.array([tilt])
        whole = sum(float(c.cumulants(at)[0, 0]) for c in self.cells)
        return float(total_cumulants(self.cells, at)[0, 0]) - whole

    def seems_rare(self) -> bool:
        """Whether one tilt cannot reach where the answer seems to be."""
        if self.count == 1 or self.guess == 0:
            return False
        epsilon, log_delta = self.query.point(self.guess)
        p, q = large_steps(self.losses, np.array([epsilon]))
        first = float(p[0]) - math.exp(min(epsilon + math.log(q[0]), 1.0))
        if first > 1.5 * math.exp(log_delta):
            return True
        _, excess, _ = choose_tilt(self.cells, self.order, epsilon, log_delta)
        return excess > 1.5 * POOR

    def first_step(self, goal: float) -> float:
        """A step whose predicted width is the wanted one."""
        order, slope = self.order, max(self.order, self.slope)
        width = self.query.width_of_epsilon(self.guess, slope, goal)
        width *= (1 + order) / (1 + slope)
        step = fitting_step(self.cells, order, width)
        epsilon, _ = self.query.point(self.guess)
        self.heavy = [heaviest(part, order, epsilon) for part in self.cells]
        span = 0.0  # of atoms that matter; they should lie on the grid
        for part in self.cells:
            marks, seen = landmarks(part.pair), part.loss[part.log_p > -25]
            if marks and len(seen) > 0:
                reach = float(np.ptp(seen))
                span = max(span, min(marks[-1] - marks[0], reach))
        return max(step, span / 1000)

    def start(self, goal: float, sides: Sequence[BoundKind]) -> None:
        """A first interval."""
        for _ in range(4):
            step, tried = max(self.first_step(goal), 1.2 * self.finest), 0.0
            for _ in range(6):
                new = aligned_step(step, self.pairs, self.heavy)
                if new > tried:
                    try:
                        self.compute(new, self.guess, goal, sides)
                        self.finest = max(self.finest, tried)
                        return
                    except GridTooFine:
                        tried = new
                step = 4 * max(step, new)
            self.order /= 4  # a smaller tilt has a shorter window, perhaps

    def refine(self, floor: float) -> None:
        """Refine until narrow enough, or surely at most `floor`."""
        ways = [self.narrow, self.part, self.narrow]
        for way in ways[1:] if self.seems_rare() else ways:
            wide = self.bound.width > self.query.relative_width
            if way == self.part:  # is it the tails' fault?
                wide &= self.finest > 0 or self.excess > POOR or self.step == 0
            elif self.ended:
                break
            if wide and self.bound.upper > floor:
                way(floor)

    def part(self, floor: float) -> None:
        """Near and far losses, each on a grid of its own."""
        self.parted = True
        simple = within(self.bound, simple_bound(self.losses, self.query))
        found = two_grids(self.losses, self.query, simple, self.guess)
        self.bound = within(simple, found)

    def aim(self, goal: float, floor: float) -> None:
        """Refine to another relative width, on one grid."""
        self.query = replace(self.query, relative_width=goal)
        self.parted, self.ended = True, False
        self.narrow(floor)

    def narrow(self, floor: float) -> None:
        """Refine, on one grid."""
        query, stuck = self.query, 0
        goal = max(query.relative_width, 1e-13)
        if query.epsilon and self.guess < 1e-290 and self.bound.lower == 0:
            most = chernoff_delta(self.cells, query.epsilon)
            self.bound = Bound(0.0, min(self.bound.upper, most))
            if most < 1e-290:
                self.ended = True
                return
        if self.step == 0 or self.bound.lower == 0:
            self.start(goal, SIDES)
        for _ in range(4 if self.parted and self.count > 1 else 8):
            bound, old = self.bound, self.step
            done = bound.width <= goal or bound.upper <= floor
            if done or old == 0:
                return
            hard = self.finest > 0 or self.work > WORK / 5
            poor = POOR if hard else 1.5 * POOR
            if not self.parted and self.excess > poor:
                return
            if stuck == 3 or self.work > 8 * WORK:
                break
            value, width = bound.upper, bound.width
            if not 0 < value < math.inf:
                value, width = self.guess, 1.0
            elif width < 0.5:
                value = (bound.lower + bound.upper) / 2
            elif self.split < math.inf:
                value = bound.lower
            ask = Query(None, query.point(value)[0], goal)
            before = self.order
            self.order, _ = saddle(self.cells, ask, before / 5, before * 5, 13)
            least = 1 / 64 if width < 0.9 else 1 / 4
            steps = old * np.append(1.0, np.geomspace(least, 0.9, 96))
            now, *ways = predicted_width(self.cells, self.order, steps)
            good = np.count_nonzero(np.array(ways) <= 0.8 * now * goal / width)
            step = float(steps[max(int(good), 1)])
            if stuck:  # a grid may be unlucky with atoms: farther away
                step = min(step, 0.6 * old)
            step = max(step, 1.2 * self.finest)
            part = 0.7 * 0.15**stuck
            while True:
                new = aligned_step(step, self.pairs, self.heavy, part)
                if new > 0.95 * old:
                    self.ended = True
                    return
                try:
                    self.compute(new, value, goal, SIDES)
                    break
                except GridTooFine:
                    part = 0.7
                    if self.order != before:
                        self.order = before  # its grid was not too long
                        continue
                    self.finest = max(self.finest, new)
                    step = 1.2 * math.sqrt(step * old)
            new_gap = self.bound.upper - self.bound.lower
            gain = new_gap / (bound.upper - bound.lower)
            stuck = stuck + 1 if gain > 0.8 and width < 0.9 else 0
        self.ended = True

    def exclude(self, floor: float) -> None:
        """Show, if it is likely, that the answer is at most `floor`."""
        gap = 1 - self.guess / floor if floor > 0 else 0.0
        goal = min(max(0.4 * gap, self.query.relative_width), 0.1)
        if gap > 0:
            self.start(goal, ("upper",))


def near_cells(part: Cells, split: float) -> Cells:
    """The cells of losses up to a split, one of the edges.

    Source: chapter 5, "Two grids".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> part = Cells.first(GaussianPair(1.0), 3, 1e-9)
    >>> bool(np.exp(near_cells(part, 1.0).log_p).sum() < 0.7)
    True
    """
    log_p = np.where(part.edges > split, -1e300, part.log_p)
    return replace(part, log_p=log_p, split=math.inf)


def jumps(
    cells: Sequence[Cells], epsilon: float, share: float
) -> tuple[float, float]:
    """Delta of single steps, added up, and minus the slope of its log.

    Parameters: `cells` of all parts, of which far ones count if there are
    any; `epsilon`; `share` of it that one step has to reach.
    Returns: rough numbers, no bounds.
    Source: chapter 5, "Two grids".
    """
    gain = fall = 0.0
    for part in cells:
        far = part.far if part.split < math.inf else part.log_p > -1e299
        mass = part.count * np.exp(part.log_p[far])
        less = np.exp(np.minimum(share * epsilon - part.loss[far], 0.0))
        gain += float(mass @ (1 - less))
        fall += float((mass * less) @ (less < 1))
    return min(gain, 1.0), fall / gain if gain > 0 else 0.0


def grid_size(
    cells: Sequence[Cells], order: float, point: tuple[float, float]
) -> float:
    """Length of the window of a grid, roughly; more if one tilt is poor.

    Parameters: `cells` of all parts; `order` of the saddle point; `point`,
    epsilon and log delta.
    Source: chapter 5, "Two grids".
    """
    tilt, excess, (below, above) = choose_tilt(cells, order, *point)
    at = np.array([tilt - below, tilt, tilt + above])
    moment = total_cumulants(cells, at)[0]
    reach = (moment[[0, 2]] - moment[1] + 30) / np.array([below, above])
    return float(np.sum(reach)) * math.exp(min(max(excess - 7, 0.0), 99.0))


def least_order(
    cells: Sequence[Cells], order: float, point: tuple[float, float]
) -> float:
    """The smallest order whose Chernoff bound is low enough, or `order`.

    Parameters: `cells` of all parts; `order` of the saddle point; `point`,
    epsilon and the log of a delta that need not be resolved.
    Source: chapter 5, "Two grids".
    """
    orders = order * np.geomspace(1e-3, 1, 40)
    powers = total_cumulants(cells, orders)[0] - orders * point[0]
    powers += np.array([log_peak(x) for x in orders])
    low = np.flatnonzero(powers <= point[1])
    return float(orders[low[0]]) if len(low) > 0 else order


def rough_half(
    cells: Sequence[Cells], epsilon: float, goal: float
) -> tuple[float, float, float]:
    """Order, log of delta and slope of near losses or of rare sums.

    Source: chapter 5, "Two grids".
    """
    order, log_delta = saddle(cells, Query(None, epsilon, goal))
    one, slope = jumps(cells, epsilon, 1.0)
    log_one = math.log(max(one, 1e-320))
    if cells[0].split < math.inf:
        return order, log_one if one > 0 else log_delta, max(slope, order)
    count = sum(part.count for part in cells)
    most, _ = jumps(cells, epsilon, 1 / count)
    log_delta = min(log_delta, math.log(max(most, 1e-320)))
    return order, max(log_delta, log_one), order


def beside_atoms(pair: DominatingPair, places: Floats) -> NDArray[np.bool_]:
    """Which places are surely not the place of an atom.

    Source: chapter 5, "Two grids".

    >>> from accountlib.worst_case_pairs import LaplacePair
    >>> beside_atoms(LaplacePair(2.0), np.array([0.4, 0.5])).tolist()
    [True, False]
    """
    atoms = np.array(pair.atoms)
    if len(atoms) == 0:
        return np.ones(len(places), dtype=bool)
    after = np.searchsorted(atoms, places)
    left, right = (
        np.abs(atoms[np.clip(k, 0, len(atoms) - 1)] - places)
        for k in (after - 1, after)
    )
    room = 64 * (pair.atom_error + 8 * UNIT * np.abs(places))
    return np.asarray(np.minimum(left, right) > room)


def choose_split(
    losses: Losses, query: Query, low: float = 0.0, high: float = 1.0
) -> tuple[float, float]:
    """The split for which the longer one of two grids is shortest.

    Parameters: `losses`, pairs and counts; `query` for a delta; `low`,
    `high`, what is known of it, roughly.
    Returns: (a loss, or inf if no split seems to help; delta, roughly).
    Source: chapter 5, "Two grids".
    """
    epsilon, least = query.epsilon or 0.0, query.relative_width
    tries = np.append(POWERS[:200:6], epsilon * np.array(SHARES))
    tries = tries[tries > 1e-9]
    fine = epsilon * np.geomspace(0.02, 4, 250)  # one tilt is steep there
    cells = []
    for pair, count in losses:
        first = Cells.first(pair, count, 1e-320).edges
        edges = np.concatenate([first, tries, fine[fine > 1e-12]])
        cells.append(Cells.of(pair, count, np.unique(edges), 1e-320))
    top = min(float(part.edges[-1]) for part in cells)
    free = np.all([beside_atoms(pair, tries) for pair, _ in losses], axis=0)
    found, whole = [], 0.0
    for split in tries[free & (tries < top)]:
        near = [near_cells(part, split) for part in cells]
        if min(float(np.sum(np.exp(part.log_p))) for part in near) < 0.3:
            continue
        far = [replace(part, split=float(split)) for part in cells]
        frequent = sum(part.rare(np.zeros(1))[0, 0] for part in far)
        if frequent > 100:
            continue
        halves = [(x, *rough_half(x, epsilon, least)) for x in (near, far)]
        whole = min(whole, float(np.logaddexp(halves[0][2], halves[1][2])))
        found.append((float(split), halves))
    best, choice = 64.0 * MOST_POINTS, math.inf
    least_log, most_log = (math.log(max(x, 1e-320)) for x in (low, high))
    whole = min(max(whole, least_log), most_log)
    floor = whole + math.log(1e-3 * least)
    for split, halves in found:
        sizes = []
        for half, order, log_delta, slope in halves:
            if half[0].split < math.inf and log_delta < whole - 1:
                if halves[0][2] < whole - 1:  # several jumps, perhaps
                    log_delta = whole
            if log_delta < floor:
                order = slope = least_order(half, order, (epsilon, floor))
            share = math.exp(min(max(log_delta - whole, -700.0), 0.0))
            goal = min(0.5 * least / max(share, 1e-3), 0.5)
            width = goal / slope * (1 + order) / (1 + slope)
            step = fitting_step(half, order, width)
            point = epsilon, min(max(floor, log_delta), whole)
            sizes.append(grid_size(half, order, point) / step)
        if max(sizes) < best:
            best, choice = max(sizes), split
    low_enough = [x for x, halves in found if halves[0][2] < floor]
    if choice == math.inf and epsilon > 0:  # the far part at any price
        choice = max(low_enough, default=math.inf)
    return choice, math.exp(max(whole, -700.0))


def rough_epsilon(
    losses: Losses, query: Query, known: Bound, guess: float
) -> float:
    """Where near and far losses together reach delta, roughly.

    Source: chapter 5, "Two grids".
    """
    low, high = known.lower, min(known.upper, 1e3 * known.lower)
    if query.delta is None or not 0 < low < high:
        return guess
    for _ in range(8):
        middle = math.sqrt(low * high)
        ask = Query(None, middle, query.relative_width)
        more = choose_split(losses, ask)[1] > query.delta
        low, high = (middle, high) if more else (low, middle)
        if high < 1.1 * low:
            break
    return math.sqrt(low * high)


def added(
    searches: Sequence["Search"],
    query: Query,
    value: float,
    ceiling: float = 0.0,
) -> Bound:
    """The answer from deltas that add up.

    Parameters: `searches`, each for the delta of a part; `query`; `value`,
    the answer, roughly; `ceiling`, above which all other parts have the
    delta 0.
    Source: chapter 5, "Two grids".
    """
    if query.delta is None:
        lower = math.fsum(x.bound.lower for x in searches)
        upper = math.fsum(x.bound.upper for x in searches)
        return Bound(lower * (1 - 2 * UNIT), upper * (1 + 2 * UNIT))
    order = max(x.order for x in searches)
    room, ends = max(1e-3 * query.relative_width, 1e-15), [0.0, math.inf]
    for k, side in enumerate(SIDES[::-1]):
        totals = [x.totals[side] for x in searches if side in x.totals]
        complete = len(totals) == len(searches)
        if totals and (complete or side == "lower"):
            ends[k] = read_epsilon(totals, query.delta, value, order, room)
    return Bound(ends[0], max(ends[1], ceiling))


def both_parts(
    losses: Losses, split: float, query: Query, whole: float
) -> tuple[list[Search], float]:
    """Searches for the delta of rare sums and of near losses, with guesses.

    Parameters: `losses`, pairs and counts; `split`; `query` for a delta;
    `whole`, that delta, roughly.
    Returns: (searches, a loss that sums of near losses without a search do
    not exceed).
    Source: chapter 5, "Two grids".
    """
    epsilon, goal = query.epsilon or 0.0, query.relative_width
    near = [(NearPair(pair, split), n) for pair, n in losses]
    ceiling = loss_ceiling(near).upper
    searches = [Search(losses, query, split)]
    if ceiling > epsilon:
        searches.append(Search(near, query))
    for search in searches:
        _, log_delta, search.slope = rough_half(search.cells, epsilon, goal)
        search.expect(min(math.exp(min(max(log_delta, -700.0), 0.0)), whole))
    if sum(search.guess for search in searches) < whole / 3:
        searches[0].guess = whole
    floor = 1e-3 * goal * math.fsum(search.guess for search in searches)
    for search in searches:
        if search.guess < floor:  # it need not be resolved
            point = epsilon, math.log(floor)
            search.order = least_order(search.cells, search.order, point)
            search.guess, search.slope = floor, search.order
    return searches, 0.0 if len(searches) > 1 else ceiling


def two_grids(
    losses: Losses, query: Query, known: Bound, guess: float
) -> Bound:
    """Interval from near losses and far ones, each on its own grid.

    Parameters: `losses`, pairs and counts; `query`; `known`, an interval
    for the answer; `guess`, in it.
    Returns: a Bound, not wider than the known one.
    Source: chapter 5, "Two grids".
    """
    goal, bound = query.relative_width, known
    guess = rough_epsilon(losses, query, known, guess)
    for _ in range(2):
        value = min(max(guess, bound.lower), bound.upper)
        ask = Query(None, query.point(value)[0], goal)
        low, high = bound.lower, bound.upper
        if query.delta is not None:
            low, high = query.delta / 3, query.delta * 3
        split, whole = choose_split(losses, ask, low, high)
        if split == math.inf:
            return bound
        searches, ceiling = both_parts(losses, split, ask, whole)
        sizes = [search.guess for search in searches]
        floor = 1e-3 * goal * math.fsum(sizes)
        for _ in range(2):
            for search, size in zip(searches, sizes, strict=True):
                share = size / max(math.fsum(sizes), TINY)
                search.aim(min(0.5 * goal / max(share, 1e-3), 0.5), floor)
            sizes = [min(search.bound.upper, 1.0) for search in searches]
        bound = within(bound, added(searches, query, value, ceiling))
        if bound.width <= goal or query.delta is None:
            break
        guess = (bound.lower + min(bound.upper, 2 * bound.lower)) / 2
    return bound


def merge_gaussians(
    losses: dict[DominatingPair, int],
) -> dict[DominatingPair, int]:
    r"""The same total loss, with all Gaussian pairs merged into one.

    Formula: $\mu = \sqrt{\sum_j T_j \mu_j^2}$.

    Parameters: `losses`, pairs and their counts.
    Returns: such a dictionary, with at most one Gaussian pair.
    Error: two floats keep 30 digits of mu. Pairs with the same float mu
    count as the first one of them: an error of u, relative to mu, which
    the room in the masses covers.
    Source: Dong, Roth and Su (2022), Corollary 3.3; chapter 5, "One call".

    >>> merge_gaussians({GaussianPair(3.0): 1, GaussianPair(2.0): 4})
    {GaussianPair(mu=5.0): 1}
    """
    normal = [x for x in losses if type(x) is GaussianPair]
    if sum(losses[x] for x in normal) < 2:
        return losses
    with localcontext(Context(prec=60, traps=[])):
        squares = (
            losses[x] * (Decimal(x.mu) + Decimal(x.rest)) ** 2 for x in normal
        )
        root = sum(squares, Decimal(0)).sqrt()
        mu = float(root)
        rest = float(root - Decimal(mu))
    if not 1e-300 <= mu <= 1e300:
        return losses
    others = {x: n for x, n in losses.items() if x not in normal}
    return others | {GaussianPair(mu, rest): 1}


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
    return distinct_ways([merge_gaussians(side) for side in sides])


def distinct_ways(sides: Sequence[dict[DominatingPair, int]]) -> list[Losses]:
    """Lists of pairs and counts, without those that say the same.

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> distinct_ways([{GaussianPair(1.0): 2, GaussianPair(2.0): 0}] * 2)
    [[(GaussianPair(mu=1.0), 2)]]
    """
    lists = [[(p, n) for p, n in side.items() if n > 0] for side in sides]
    return list({frozenset(way): way for way in lists}.values())


def reached_ways(ways: Sequence[Losses]) -> list[Losses]:
    """The same runs with pairs that neighbouring data sets reach.

    Parameters: `ways`, the losses of each direction.
    Returns: lists of pairs and counts. Where a pair has two `reached`
    ones, the first takes 0, 1/4, 1/2, 3/4 or all of its steps.
    Source: chapter 10, "Substitution under a fixed batch".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> reached_ways([[(GaussianPair(1.0), 5)]])
    [[(GaussianPair(mu=1.0), 5)]]
    """
    sides = []
    for losses in ways:
        for quarters in range(5):
            side: dict[DominatingPair, int] = {}
            for pair, count in losses:
                first = (count * quarters + 2) // 4
                one, other = pair.reached[0], pair.reached[-1]
                side[one] = side.get(one, 0) + first
                side[other] = side.get(other, 0) + count - first
            sides.append(side)
    return distinct_ways(sides)


def bounded_answer(ways: Sequence[Losses], query: Query) -> Bound:
    """Interval from dominating pairs above and reached ones below.

    Parameters: `ways`, the losses of each direction; `query`.
    Returns: a Bound around the truth; wider than asked where the two
    differ, by a gap of the theory.
    Source: chapter 5, "One call".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> run = [(GaussianPair(0.1), 100)]
    >>> bounded_answer([run], Query(None, 1.0, 1e-3)).contains(0.1269367)
    True
    """
    bound, reached = answer(ways, query), reached_ways(ways)
    if {frozenset(way) for way in ways} == {frozenset(way) for way in reached}:
        return bound
    return Bound(answer(reached, query).lower, bound.upper)


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
        tops = [(n, pair.largest_loss) for pair, n in losses]
        exact = [n * top for n, top in tops if top is not None]
        if len(exact) == len(tops) and sum(exact) <= Fraction(query.epsilon):
            return infinite
        return infinite if query.epsilon >= ceiling.upper else None
    delta = query.delta or 0.0
    sharp = infinite.upper <= math.nextafter(infinite.lower, 2.0)
    if delta == 1:
        return Bound(0.0, 0.0)
    if delta < infinite.lower or (sharp and delta < infinite.upper):
        return Bound(math.inf, math.inf)
    if delta == infinite.lower == infinite.upper:
        return ceiling
    if ceiling.upper == 0:
        known = delta >= infinite.upper
        return Bound(0.0, 0.0 if known else math.inf)
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


def within(one: Bound, other: Bound) -> Bound:
    """What two intervals around the same truth have in common.

    >>> within(Bound(0.0, 2.0), Bound(1.0, 3.0))
    Bound(lower=1.0, upper=2.0)
    """
    lower, upper = max(one.lower, other.lower), min(one.upper, other.upper)
    if lower > upper:
        raise ArithmeticError(f"no common part: {one!r}, {other!r}")
    return Bound(lower, upper)


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
    bounds, searches, single = [], [], len(ways[0]) == ways[0][0][1] == 1
    for losses in ways:
        known = known_answer(losses, query)
        if known is None and single:
            one = run_answer(losses[0][0], query)
            small = query.delta is None and one.upper < 1e-290
            good = small or one.width <= query.relative_width
            known = one if good else None
        if known is None:
            searches.append((Search(losses, query), losses))
        else:
            bounds.append(known)
    searches.sort(key=lambda way: -way[0].guess)
    for search, losses in searches:
        floor = 0.0
        if bounds:
            floor = max(b.lower for b in bounds) / (1 - query.relative_width)
            search.exclude(floor)
        if search.bound.upper > floor:
            search.refine(floor)
        found = limited(search.bound, losses, query)
        if found.width > query.relative_width and found.upper > floor:
            simple = (
                run_answer(losses[0][0], query)
                if single
                else simple_bound(losses, query)
            )
            found = within(found, simple)
        bounds.append(found)
    return Bound(max(b.lower for b in bounds), max(b.upper for b in bounds))


@front_door
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
    same data; `delta` ($\delta$ in [0, 1]); `adjacency`, "add",
    "remove", "add-or-remove" or "substitute" (no default); `group_size`
    (default 1);
    `relative_width` (in (0, 1)), the wanted (upper - lower)/upper.
    Returns: Bound(lower, upper) around the truth: the supremum over
    neighbouring data sets and adaptively chosen queries, every iterate
    released, of the dominating pairs of chapter 2. inf only where the
    mass at infinity exceeds delta (or losses have no largest value and
    delta = 0); Bound(0, 0) where epsilon is proven to be 0.
    Raises: ValueError for bad values, NotImplementedError for what no
    theorem of the book covers (see chapters 8 and 10).
    Error: the interval includes discretization, truncation, wrap-around
    and rounding, as far as chapter 5, "What the certificate assumes", is
    true of the machine. For substitution under a fixed batch it also has
    the gap between theorem and data (chapter 10). It may stay wider than
    asked near epsilon = 0, for losses with many atoms, where rare steps
    matter and frequent ones do too; also for delta below 1e-290 and for
    more than about 1e13 runs. Where it is wider than asked, it is cut with
    `simple_bound`.
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
    bound = bounded_answer(ways, Query(delta, None, width))
    if bound.lower == 0 < bound.upper:  # is it 0?
        at_zero = bounded_answer(ways, Query(None, 0.0, width))
        bound = Bound(0, 0) if at_zero.upper <= delta else bound
    return bound


@front_door
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
    theorem of the book covers (see chapters 8 and 10).
    Error: the interval includes all errors, as for `epsilon`. It may stay
    wider than asked where epsilon is near the largest possible loss, and
    where delta is below 1e-290.
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
    return bounded_answer(ways, Query(None, epsilon, width))
