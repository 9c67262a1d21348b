# Generated from notebooks/accountant.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Who answers?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accountlib.cells import Cells
from accountlib.checks import Bound, Floats, check
from accountlib.choices import (
    Kinds,
    Plan,
    Planner,
    Query,
    demand,
    estimates,
    moments,
)
from accountlib.curves import Curve, crossing, steepness
from accountlib.dominating_pairs import ShiftedNoise
from accountlib.fourier import beyond_last, kernel
from accountlib.gaussian import gaussian_bounds, gaussian_epsilon_bounds
from accountlib.sampling import Direction, Release, Steps, run_directions

__all__ = [
    "Releases",
    "Solution",
    "Search",
    "share_nothing",
    "at_once",
    "solve",
    "largest_loss",
    "answers",
    "ask",
    "epsilon",
    "delta",
    "Explanation",
    "costs",
    "told",
    "explain",
]

# --- Turns

Releases = Release | Sequence[Release]


@dataclass(frozen=True, eq=False)
class Solution:
    """Both ends for each value, in one direction, and what gave them."""

    lower: Floats
    upper: Floats
    plan: Plan | None = None
    cells: int = 0
    sides: tuple[Curve, ...] = ()

    def open(self, width: float, enough: Floats) -> NDArray[np.bool_]:
        """Which intervals are wider than asked, and matter."""
        wide = ~(self.upper - self.lower <= width * self.upper)
        return wide & (self.lower < self.upper) & (self.upper > enough)


class Search:
    """A search for both ends, in turns; see `turn`."""

    def __init__(self, steps: Steps, query: Query) -> None:
        self.query, self.epsilon = query, query.asked == "epsilon"
        self.pairs, self.counts = zip(*steps, strict=True)
        self.edges = [pair.start() for pair in self.pairs]
        self.refresh()
        self.orders = np.geomspace(1e-6, 1e12, 49)
        self.splits, self.effort, self.slope = np.array([np.inf]), 1.0, 0.0
        none = 0.0 * query.values
        self.found = Solution(none, none + (np.inf if self.epsilon else 1.0))

    def refresh(self) -> None:
        """Compute the cells of all steps."""
        rows = zip(self.pairs, self.edges, self.counts, strict=True)
        self.kinds = [(pair.cells(at), count) for pair, at, count in rows]

    def choose(self, enough: Floats) -> tuple[Plan, Floats]:
        """Estimate from the cells, choose, and cut them anew."""
        seen = moments(self.kinds, self.orders, self.splits)
        at, found = estimates(seen, self.query), self.found
        if self.epsilon:
            low = np.where(found.lower < np.inf, found.lower, 0.0)
            high = found.upper * (1 - self.query.width / 3)
            most = np.where(enough < np.inf, enough, 0.0)
            at[:, 0] = np.fmax(np.clip(at[:, 0], low, high), most)
        chosen = Planner(seen, at, self.query, self.effort, self.slope).plan()
        self.cut(chosen, at[:, 0])
        scale = max(at[:, 0].max(), 1 / max(chosen.orders))
        around = np.exp(np.sinh(np.linspace(-3.4, 3.4, 29)) / 4)
        self.orders = np.unique(np.outer(chosen.orders, around))
        self.splits = np.append(scale * np.geomspace(1e-4, 0.97, 20), np.inf)
        return chosen, at[:, 0]

    def cut(self, chosen: Plan, at: Floats) -> None:
        """New edges: the error that is allowed with the fewest cells."""
        kinds = self.kinds
        if sum(self.counts) == 1:  # only the cells around epsilon matter
            ends = self.found.lower.min(), self.found.upper.max()
            if not (self.epsilon and self.found.plan):
                ends = 0.9 * at.min(), 1.1 * at.max()
            cells = kinds[0][0]
            asked = (cells.left <= ends[1]) & (cells.right >= ends[0])
            least = 0.9 + asked * min(31, 2000 / max(asked.sum(), 1))
            wishes = [(0 * cells.loss, least)]
        else:
            wishes = [demand(cells, count, chosen) for cells, count in kinds]
        total = 1e-9 + sum(np.nansum(np.cbrt(error)) for error, _ in wishes)
        most = 100 * len(kinds) + min(max(3e7 / chosen.work, 2e3), 2e4)
        scale = self.effort * math.sqrt(total / (0.4 * chosen.room))
        scale = min(scale, most / total)  # not too many
        for k, (error, least) in enumerate(wishes):
            pieces = scale * np.cbrt(error) + least + 0.1
            pieces = np.where(pieces > 0, np.fmin(pieces, most), 1.0)
            pieces *= min(1.0, most / pieces.sum())
            self.edges[k] = self.pairs[k].finer(self.edges[k], pieces)
        self.refresh()

    def turn(self, enough: Floats) -> bool:
        """Choose, then both ends; whether the search is over.

        Answers up to `enough` need no lower end.
        """
        (chosen, at), values = self.choose(enough), self.query.values
        kinds, before = self.kinds, self.found
        top = Curve(kinds, chosen, True)
        done = top(enough) <= values if self.epsilon else top(values) <= enough
        if done.all():
            upper = np.minimum(before.upper, enough)
            self.found = Solution(before.lower, upper)
            return True
        low, width = Curve(kinds, chosen, False), self.query.width
        ends = [low(values), top(values)]
        if self.epsilon:
            high = crossing(top, values, at, width)
            near = np.where(high < np.inf, high, at)
            ends = [crossing(low, values, near, width), high]
        lower = np.maximum(before.lower, ends[0])
        upper = np.minimum(before.upper, ends[1])
        if np.any(lower > upper):
            raise ArithmeticError(f"ends cross: {lower}, {upper}")
        cells = sum(len(x.loss) for x, _ in kinds)
        self.found = Solution(lower, upper, chosen, cells, (low, top))
        self.slope = steepness(top, at, 0.1 / max(chosen.slopes))
        far = bool(np.any(upper > 2 * lower))
        self.effort *= 1.3 if far or self.effort == 1 else 1.8
        tiny = not self.epsilon and upper.max() < 1e-200
        return tiny or not self.found.open(self.query.width, enough).any()


def share_nothing(cells: Cells) -> bool:
    """Whether each outcome of P is impossible under Q."""
    return not np.any((cells.log_p > -np.inf) & (cells.loss != np.inf))


def at_once(search: Search) -> Solution | None:
    """Answers that need no sum."""
    values, pair, kinds = search.query.values, search.pairs[0], search.kinds
    none = 0.0 * values
    if any(share_nothing(cells) for cells, _ in kinds):
        zero = search.epsilon & (values == 1)
        ends = np.where(zero, 0.0, search.found.upper)
        return Solution(ends, ends)
    if not search.epsilon and values[0] >= largest_loss(kinds)[1]:
        return Solution(none, none)
    one = isinstance(pair, ShiftedNoise) and sum(search.counts) == 1
    if one and pair.is_normal:
        closed = gaussian_epsilon_bounds if search.epsilon else gaussian_bounds
        return Solution(*closed(values, pair.shifts[0]))
    return None


def solve(steps: Steps, query: Query, enough: Floats) -> Solution:
    """Both ends for each value; groups of values that are too wide, apart."""
    values, count = query.values, len(query.values)
    if not steps or not count:
        return Solution(0.0 * values, 0.0 * values)
    search, gaps = Search(steps, query), [np.inf] * 3
    if search.epsilon and values[0] == 0:
        rest = solve(steps, replace(query, values=values[1:]), enough[1:])
        ends = [rest.lower, rest.upper]
        low, high = np.insert(ends, 0, largest_loss(search.kinds), axis=1)
        return replace(rest, lower=low, upper=high)
    if known := at_once(search):
        return known
    if not enough.any():  # a second direction mostly needs no more
        search.choose(enough)
    while not search.turn(enough) and len(gaps) < (11 if count == 1 else 5):
        low, high = search.found.lower, search.found.upper
        gaps.append(float((np.log(high) - np.log(low + 1e-300)).max()))
        if len(gaps) > 5 and gaps[-1] > 0.8 * gaps[-3]:
            break  # not getting narrower
    found = search.found
    rows = np.flatnonzero(found.open(query.width, enough))
    if count == 1 or not len(rows):
        return found
    lower, upper = found.lower.copy(), found.upper.copy()
    for part in np.array_split(rows, min(len(rows), 2)):
        some = replace(query, values=values[part])
        again = solve(steps, some, enough[part])
        lower[part] = np.maximum(lower[part], again.lower)
        upper[part] = np.minimum(upper[part], again.upper)
    return replace(found, lower=lower, upper=upper)


def largest_loss(kinds: Kinds) -> Floats:
    """Both ends of the largest loss of a run."""
    ends = np.zeros(2)
    for cells, count in kinds:
        last = np.where(cells.log_p > -np.inf, cells.right, -np.inf).argmax()
        top = cells.right[last]
        wide = 4 * cells.loss_error[last] + 1e-11 * abs(top)
        around = wide * np.array([-1.0, 1.0]) if top < np.inf else 0.0
        ends += count * (top + around)
    return np.maximum(ends, 0.0)


# --- Two calls


def answers(
    releases: Releases, query: Query, adjacency: str, size: int
) -> list[tuple[Direction, Solution]]:
    """The solution of each direction; where theory leaves a gap, the lower
    end is that of attained pairs."""
    found, most = [], 0.0 * query.values
    for direction in run_directions(releases, adjacency, size):
        share = replace(query, width=query.width / (1 + len(direction.below)))
        one = solve(direction.above, share, most)
        if direction.below:
            attained = [solve(x, share, 0 * most) for x in direction.below]
            one = replace(one, lower=np.max([x.lower for x in attained], 0))
        most = np.maximum(most, one.upper)
        found.append((direction, one))
    return found


def ask(
    releases: Releases, asked: str, value: ArrayLike, *rest: Any
) -> tuple[Bound, list[tuple[Direction, Solution]]]:
    """The interval of the largest answer of all directions, and these."""
    adjacency, size, width = rest
    name, most = ("delta", 1) if asked == "epsilon" else ("epsilon", 1000)
    given = np.asarray(check(name, value, 0, most))
    if asked == "epsilon" and np.any((given > 0) & (given < 1e-200)):
        raise ValueError(
            f"delta must be 0 or lie in [1e-200, 1], got {value!r}"
        )
    values, place = np.unique(given.ravel(), return_inverse=True)
    query = Query(asked, values, check("relative_width", width, 1e-6, 0.5))
    with np.errstate(all="ignore"):
        found = answers(releases, query, adjacency, size)
    ends = np.max([(x.lower, x.upper) for _, x in found], axis=0)
    lower, upper = (x[place].reshape(given.shape) for x in ends)
    return Bound(lower[()], upper[()]), found


def epsilon(
    releases: Releases,
    *,
    delta: ArrayLike,
    adjacency: str,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Bound:
    r"""Interval proven to contain the epsilon of a whole run.

    Formula: the least $\varepsilon \ge 0$ with $\delta(\varepsilon) \le
    \delta$, for the worst neighbouring data sets and adaptive queries.
    Parameters: `releases`, a Release or a list of up to 10,000; `delta`
    ($\delta$, 0 or in [1e-200, 1]), a number or an array; `adjacency`, see
    `Adjacency`; `group_size` (k, 1 to 1000; 64 with sampling);
    `relative_width`, the width to aim at ([1e-6, 0.5]).
    Returns: a Bound, lower <= truth <= upper always; wider than asked where
    floats or time do not suffice. Use `upper` to promise privacy.
    Raises: ValueError for other values; NotImplementedError where no theorem
    covers the run.
    Source: page-accountant, page-rounding.

    >>> from accountlib.mechanisms import Gaussian
    >>> from accountlib.sampling import Poisson, Release
    >>> run = Release(Gaussian(1.0), Poisson(0.01), count=2000)
    >>> f"{epsilon(run, delta=1e-6, adjacency='add-or-remove'):.2f}"
    '[2.95, 2.96]'
    """
    return ask(
        releases, "epsilon", delta, adjacency, group_size, relative_width
    )[0]


def delta(
    releases: Releases,
    *,
    epsilon: ArrayLike,
    adjacency: str,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Bound:
    r"""Interval proven to contain the delta of a whole run.

    Formula: $\delta(\varepsilon) = \sup_E P(E) - e^\varepsilon Q(E)$, for the
    worst neighbouring data sets and adaptive queries.
    Parameters: as for `epsilon`, with `epsilon` ($\varepsilon$, 0 to 1000), a
    number or an array, in the place of `delta`.
    Returns: a Bound, lower <= truth <= upper always. Use `upper` to promise
    privacy.
    Raises: as `epsilon`.
    Source: page-accountant, page-rounding.

    >>> from accountlib.mechanisms import Gaussian
    >>> from accountlib.sampling import Poisson, Release
    >>> run = Release(Gaussian(1.0), Poisson(0.01), count=2000)
    >>> f"{delta(run, epsilon=3.0, adjacency='add-or-remove'):.0e}"
    '[7e-07, 8e-07]'
    """
    return ask(
        releases, "delta", epsilon, adjacency, group_size, relative_width
    )[0]


@dataclass(frozen=True)
class Explanation:
    """A bound, and a line of plain facts for each direction and sum."""

    bound: Bound
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((str(self.bound), *self.lines))


def costs(low: Curve, epsilon: float) -> dict[str, float]:
    """What wrapping around, missing frequencies and rounding cost delta."""
    wrap, cut, rounding, at = 0.0, 0.0, 0.0, np.array([epsilon])
    for s in low.sums:
        y = s.center - epsilon
        size = math.exp(s.scale + s.part.tilt * y)
        weights, sizes = kernel(s.part, False)
        total = float(np.abs(s.weights[0] / weights[0]))
        last = beyond_last(s.part, total, float(sizes[-1]))
        rounding += max(s.still - last + abs(y) * s.turning, 0.0) * size
        rounding += s.scale_error * float(s(at)[0])
        cut += last * size
        for order in s.moments:
            away = abs(order - s.part.tilt) * s.part.period
            wrap += math.exp(float(s.chernoff(order, at)[0]) - away)
    names = "wrapping around", "frequencies beyond the last", "rounding"
    return dict(zip(names, (wrap, cut, rounding), strict=True))


def told(direction: Direction, found: Solution, at: float) -> list[str]:
    """What was chosen in one direction, and what each error costs delta."""
    what = " + ".join(f"{n} x {pair}" for pair, n in direction.above)
    lines = [f"{what}: [{found.lower[0]:.6g}, {found.upper[0]:.6g}]"]
    if direction.below:
        lines.append("  theory has a gap: the lower end is of attained pairs")
    if found.plan is None:
        return [*lines, "  a closed form, or an upper end below another one"]
    low, top = (float(side(np.array([at]))[0]) for side in found.sides)
    lost, plan = top - low, found.plan
    for part, slope, share in zip(
        plan.parts, plan.slopes, plan.shares, strict=True
    ):
        smooth = share * part.variance * slope * (slope + 1)
        lost -= smooth * top
        lines.append(
            f"  {part.which} losses: tilt {part.tilt:.3g}, {part.last + 1} "
            f"frequencies, period {part.period:.3g}; the tiny release of "
            f"variance {part.variance:.2g} costs {smooth:.1e}"
        )
    for name, cost in costs(found.sides[0], at).items():
        lost -= cost
        lines.append(f"  {name}: {cost / top:.1e} of delta")
    cells = f"  {found.cells} cells cost {max(lost, 0) / top:.1e} of delta"
    return [*lines, cells]


def explain(
    releases: Releases,
    *,
    adjacency: str,
    delta: float | None = None,
    epsilon: float | None = None,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Explanation:
    """How an interval was found: plain facts, direction by direction.

    Parameters: as for `epsilon` or `delta`; give one of both.
    Returns: an Explanation: its `bound`, and lines of text: tilt, cells,
    frequencies, near and far sums, and what each error costs.
    Raises: ValueError if both or none are given; else as `epsilon`.
    Source: page-accountant.

    >>> from accountlib.mechanisms import Gaussian
    >>> from accountlib.sampling import Poisson, Release
    >>> run = Release(Gaussian(1.0), Poisson(0.01), count=2000)
    >>> told = explain(run, delta=1e-6, adjacency="remove")
    >>> print(str(told).splitlines()[1][:20])
    2000 x Subsampled(pa
    """
    asked, value = ("delta", epsilon) if delta is None else ("epsilon", delta)
    if value is None or None not in (epsilon, delta):
        raise ValueError(f"give epsilon or delta, got {epsilon!r}, {delta!r}")
    bound, found = ask(
        releases, asked, value, adjacency, group_size, relative_width
    )
    lines = []
    with np.errstate(all="ignore"):
        for direction, one in found:
            at = value if asked == "delta" else min(one.upper[0], 1e300)
            lines += told(direction, one, float(at))
    return Explanation(bound, tuple(lines))
