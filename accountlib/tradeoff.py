# Generated from notebooks/tradeoff.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What can an attacker do?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from accountlib.accountant import Releases, Search, share_nothing
from accountlib.checks import UNIT, Floats, check
from accountlib.choices import Query
from accountlib.sampling import (
    Adjacency,
    Direction,
    Steps,
    run_directions,
)

__all__ = [
    "Lines",
    "Ends",
    "LAST",
    "MIRROR",
    "gaussian_tradeoff",
    "dp_tradeoff",
    "TradeoffCurve",
    "kinks",
    "both_lines",
    "range_of",
    "hull",
    "spread",
    "one_way",
    "profile",
    "half",
    "both_curves",
    "tradeoff_curve",
]

# --- What can an attacker do?

Lines = tuple[Floats, Floats]  # alpha, from 1 on, and heights
Ends = tuple[Floats, Floats, Floats]  # epsilons, lower and upper ends
LAST = 600.0  # the largest epsilon: e^600 is far from overflow
MIRROR = {Adjacency.ADD: Adjacency.REMOVE, Adjacency.REMOVE: Adjacency.ADD}

# --- Definition


def gaussian_tradeoff(false_positive: ArrayLike, *, mu: float) -> Any:
    r"""The trade-off function of two unit normals whose means differ by mu.

    Formula: $f_\mu(x) = \Phi(-\Phi^{-1}(x) - \mu)$.

    Parameters: `false_positive` (x in [0, 1]), a number or an array;
    `mu` ($\mu \ge 0$), distance of the means in standard deviations.
    Returns: the least false-negative rate, exact up to rounding.
    Raises: ValueError for values outside these ranges.
    Source: Dong, Roth and Su (2022), Definition 2.6.

    >>> round(float(gaussian_tradeoff(0.01, mu=1.0)), 6)
    0.907638
    """
    x = check("false_positive", false_positive, 0, 1)
    return ndtr(-ndtri(x) - check("mu", mu, 0, 1e300))


# --- Every δ is a line


def dp_tradeoff(
    false_positive: ArrayLike, *, epsilon: float, delta: float = 0.0
) -> Any:
    r"""The least trade-off function that (epsilon, delta)-DP allows.

    Formula: $\max\{0, 1 - \delta - e^\varepsilon x,
    e^{-\varepsilon}(1 - \delta - x)\}$.

    Parameters: `false_positive` (x in [0, 1]), a number or an array;
    `epsilon` ($\varepsilon$ in [0, 700]), `delta` ($\delta$ in [0, 1]),
    which hold in both directions.
    Returns: a lower bound for every such mechanism, up to rounding.
    Raises: ValueError for values outside these ranges.
    Source: Kairouz, Oh and Viswanath (2015), Theorem 2.1.

    >>> round(float(dp_tradeoff(0.25, epsilon=math.log(3))), 12)
    0.25
    """
    x = check("false_positive", false_positive, 0, 1)
    epsilon = check("epsilon", epsilon, 0, 700)
    found = 1 - check("delta", delta, 0, 1) - x
    steep = found - math.expm1(epsilon) * x
    return np.maximum(np.maximum(steep, math.exp(-epsilon) * found), 0.0)


@dataclass(frozen=True, eq=False)
class TradeoffCurve:
    r"""A bound of a trade-off function, from below or from above.

    A call gives the false-negative rate at a false-positive rate.
    Formula: $\max_i \{1 - d_i - \alpha_i x,\, (1 - d_i' - x)/\alpha_i'\}$.

    Fields: `bound`, "lower" (no attacker does better) or "upper" (some
    attacker does as well); `lines`, $\alpha_i \ge 1$ and $d_i$; `mirror`,
    the same of the reversed pair.
    Source: Dong, Roth and Su (2022), Proposition 2.5.

    >>> lines = np.array([1.0, 3.0]), np.array([0.5, 0.0])
    >>> coin = TradeoffCurve("lower", lines, lines)
    >>> [round(float(v), 6) for v in (coin(0.5), coin.advantage)]
    [0.166667, 0.5]
    """

    bound: str
    lines: Lines
    mirror: Lines

    @property
    def side(self) -> float:
        """The rounding unit, below 0 if the curve is a lower bound."""
        return -UNIT if self.bound == "lower" else UNIT

    def rates(self, x: Floats) -> tuple[Floats, Floats]:
        """f(x) and 1 - f(x), each with its own digits."""
        (alpha, delta), (beta, back) = self.lines, self.mirror
        at, side = np.asarray(x)[..., None], self.side
        w = (delta + alpha * at).min(-1) * (1 - 8 * side)
        y = ((1 - back - at + 4 * side) / beta).max(-1) * (1 + 4 * side)
        miss = np.clip(np.fmax(1 - w + 2 * side, y), 0, 1)
        return miss, np.fmax(np.fmin(w, 1 - y), 0)

    def __call__(self, false_positive: ArrayLike) -> Any:
        """The false-negative rate at one false-positive rate, or at many."""
        x = check("false_positive", false_positive, 0, 1)
        rest = np.minimum((1 - x) * (1 + 4 * self.side), 1)
        return np.minimum(self.rates(x)[0], rest)

    def delta(self, epsilon: float) -> float:
        """delta at an epsilon of any sign, on the other side of the truth."""
        at = check("epsilon", epsilon, -LAST, LAST)
        lines = self.lines if at >= 0 else self.mirror
        found = float(np.interp(math.exp(abs(at)), *lines))
        if at < 0:  # the mirror identity
            found = math.exp(at) * found - math.expm1(at)
        return min(max(found * (1 - 16 * self.side), 0.0), 1.0)

    @property
    def advantage(self) -> float:
        """Largest 1 - x - f(x) of any test, on the other side of the truth."""
        return self.delta(0.0)


# --- Code, for a second reading


def kinks(
    down: Floats, low: Floats, up: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """A piecewise linear function below a convex curve between bounds."""
    left, right, lag = np.full(len(low), -1.0), np.zeros(len(low)), 1
    while lag < len(low):
        fall = (low[lag:] - high[:-lag]) / (down[lag:] - up[:-lag])
        left[lag:] = np.maximum(left[lag:], fall * (1 - 8 * UNIT))
        fall = (high[lag:] - low[:-lag]) / (up[lag:] - down[:-lag])
        right[:-lag] = np.minimum(right[:-lag], fall * (1 - 8 * UNIT))
        lag *= 2
    one, two, gap = left[:-1], right[1:], np.diff(down)
    ahead = (low[:-1] - low[1:] + two * gap) / np.maximum(two - one, 1e-300)
    t = np.where(one < two, np.clip(ahead, 0, gap), gap / 2)
    t = np.minimum(down[:-1] + t, down[1:])
    ends = [
        low[:-1] + one * (t - down[:-1]),
        low[1:] + two * (t - down[1:]),
    ]
    d = np.minimum(*ends) - 16 * UNIT * (low[:-1] - one * (t - down[:-1]))
    last = down[-1] + low[-1] / max(-left[-1], 1e-300) * (1 - 8 * UNIT)
    alpha = np.append(np.stack([down[:-1], t], 1), [down[-1], last])
    delta = np.append(np.stack([low[:-1], np.fmax(d, 0)], 1), [low[-1], 0])
    return np.fmin(alpha, 1e300), delta


def both_lines(own: Ends, back: Ends) -> tuple[Lines, Lines]:
    """Lines (alpha, delta), alpha >= 1, above and below a profile.

    A few epsilons below 0, from the mirrored profile, help near 0.
    """
    e, low, high = (
        np.append(-x[8:0:-1] if k == 0 else x[8:0:-1], y)
        for k, (x, y) in enumerate(zip(back, own, strict=True))
    )
    start = len(e) - len(own[0])
    flip, rest = np.exp(e[:start]), -np.expm1(e[:start])
    low[:start] = (flip * low[:start] + rest) * (1 - 16 * UNIT)
    high[:start] = (flip * high[:start] + rest) * (1 + 16 * UNIT)
    alpha, room = np.exp(e), 8 * UNIT * (e != 0)
    down, up = alpha * (1 - room), alpha * (1 + room)
    a, d = kinks(down, low, up, high)
    return (up[start:], high[start:]), (a[2 * start :], d[2 * start :])


def range_of(steps: Steps, cutoff: float) -> float:
    """An epsilon with Q(loss > epsilon) about the cut-off, or less if y is;
    from Chernoff's bound for merged cells. It proves nothing."""
    s = np.geomspace(0.5, 1e9, 100)
    k = 0.0 * s  # log E_Q e^(s loss)
    for pair, count in steps:
        cells = pair.cells(pair.start())
        loss, log_p = cells.loss[:, None], cells.log_p[:, None]
        used = np.isfinite(loss) & (log_p > -np.inf)
        power = np.where(used, (s - 1) * loss + log_p, -np.inf)
        k = k + count * np.logaddexp.reduce(power, 0)
    k = np.where(np.isfinite(k), k, 0.0)  # without finite losses
    far = 2 * np.sqrt(np.fmax(-2 * k.min(), 0))
    z = max(-ndtri(cutoff), far + ndtri(cutoff))
    top = ((k + (z + 0.4) ** 2 / 2) / s).min()
    return float(np.clip(top, 1e-9, 0.9 * LAST))


def hull(alpha: Floats, delta: Floats) -> tuple[Floats, Floats, Floats]:
    """The lower convex hull of points, and the falling x where the lines of
    neighbours meet."""
    from scipy.optimize import isotonic_regression  # slow to import

    gap = np.diff(alpha)
    slopes = isotonic_regression(np.diff(delta) / gap, weights=gap)
    a, d = alpha[slopes.blocks], delta[slopes.blocks]
    return a, d, np.minimum.accumulate(-np.diff(d) / np.diff(a))


def spread(
    epsilons: Floats, high: Floats, cutoff: float, gap: float
) -> tuple[Floats, Floats]:
    """Epsilons whose lines touch at about even steps of a normal axis, if
    the profile is about `high`, a last one where nothing is left, and z."""
    a, _, x = hull(np.exp(epsilons), high)
    z, e = -ndtri(np.clip(x, 1e-300, 0.9)), np.log(a)
    top = 0.4 + max(-ndtri(cutoff), 2 * z[0] + ndtri(cutoff))
    middle = (e[1:] + e[:-1]) / 2
    new = np.interp(np.arange(z[0] - gap, top, gap), z, middle)
    old = epsilons[epsilons <= np.append(e[1:][z > top], e[-1])[0]]
    e = np.concatenate([old, new, np.linspace(0, old[-1], len(new))])
    fine = max(1e-11 * e.max(), 1e-13)  # rounding must not decide slopes
    e = np.append(np.unique(np.round(e / fine)) * fine, LAST)
    return e, np.interp(e, middle, z)


def one_way(
    steps: Steps, epsilons: Floats, room: Floats, known: Floats, top: float
) -> Floats:
    """Two rows, the ends of delta in one direction; a range that is too
    wide is asked again in halves.

    `room` is the relative width that is allowed. Rows of `known`:
    ends so far, and an upper end of another direction, up to which the
    width is no matter. Targets lie below `top`.
    """
    ends, other = known[:2].copy(), known[2]
    last = max(int(np.searchsorted(epsilons, top)) - 1, 0)
    few = np.unique(epsilons[[0, last // 2, last]])
    close = room[last] * min(max(2 * (1 - ends[0, 0]), 0.01), 1.0)
    search, none = Search(steps, Query("delta", few, close)), 0 * few
    if any(share_nothing(cells) for cells, _ in search.kinds):
        return np.ones_like(ends)
    search.choose(none)
    for _ in range(2):
        done = search.turn(none)
        ends[1] = np.fmin(ends[1], search.found.upper[0])  # it falls
        if search.found.sides:
            low, high = search.found.sides
            ends[1] = np.fmin(ends[1], high(epsilons))
            if np.any(ends[1] > other):
                ends[0] = np.fmax(ends[0], low(epsilons))
        gap, old = ends[1] - ends[0], known[1] - known[0]
        wide = gap > np.fmin(ends[1], 1 - ends[0]) * room
        wide &= (ends[1] > other + 1e-200) & (epsilons < LAST)
        wide &= (gap < 0.5 * old) | (old > 0.1 * ends[1])  # it helped
        rows = np.flatnonzero(wide)
        if done or not len(rows):
            break
    if len(epsilons) > 50 and len(rows) > 1:
        for part in np.array_split(np.arange(rows[0], rows[-1] + 1), 2):
            more = np.stack([*ends, other])[:, part]
            ends[:, part] = one_way(
                steps, epsilons[part], room[part], more, top
            )
    return ends


def profile(
    ways: Sequence[Direction],
    tops: Sequence[float],
    epsilons: Floats,
    room: Floats,
) -> Floats:
    """Both ends of the largest delta at increasing epsilons >= 0."""
    found = np.zeros((2, len(epsilons)))
    with np.errstate(all="ignore"):
        for way, top in zip(ways, 0.98 * np.array(tops), strict=True):
            known = np.stack([0 * epsilons, 1 + 0 * epsilons, found[1]])
            above, *below = [
                one_way(steps, epsilons, room, known, top)
                for steps in (way.above, *way.below)
                if steps
            ] or [found]
            low = np.max([x[0] for x in below or [above]], axis=0)
            found = np.maximum(found, [low, above[1]])
    low = np.maximum.accumulate(found[0, ::-1])[::-1]  # it falls
    return np.stack([low, np.minimum.accumulate(found[1])])


def half(ways: Sequence[Direction], cutoff: float, width: float) -> Ends:
    """Epsilons that suit a cut-off, and both ends of delta there."""
    with np.errstate(all="ignore"):
        tops = [range_of(x.above, cutoff) for x in ways]
    k = int(np.argmax(tops))
    ends = np.geomspace(1e-10, 1e-2, 17)
    grid = np.concatenate([ends, np.linspace(0, 1, 49), 1 - ends])
    e = tops[k] * np.sort(grid)
    e = e[np.diff(np.exp(e), prepend=0) > 0]
    high = profile(ways[k : k + 1], tops[k : k + 1], e, 0.02 + 0 * e)[1]
    e, z = spread(e, high, cutoff, 1.3 * math.sqrt(width))
    room = np.fmin((1 + np.fmax(z, 0) ** 2 / 4) * width, 0.1)
    return e, *profile(ways, tops, e, room)


def both_curves(
    releases: Releases,
    adjacency: str,
    group_size: int = 1,
    cutoff: float = 1e-10,
    width: float = 1e-4,
) -> tuple[TradeoffCurve, TradeoffCurve]:
    """The trade-off function of a run from below and from above."""
    cutoff = check("cutoff", cutoff, 1e-200, 0.1)
    width = check("relative_width", width, 1e-6, 0.1)
    asked = Adjacency(adjacency)
    found = [
        half(run_directions(releases, side, group_size), cutoff, width)
        for side in dict.fromkeys([asked, MIRROR.get(asked, asked)])
    ]
    made = [both_lines(*x) for x in zip(found, found[::-1], strict=True)]
    low, up = ((made[0][k], made[-1][k]) for k in (0, 1))
    return TradeoffCurve("lower", *low), TradeoffCurve("upper", *up)


# --- The call


def tradeoff_curve(
    releases: Releases,
    *,
    adjacency: str,
    group_size: int = 1,
    bound: str = "lower",
    cutoff: float = 1e-10,
    relative_width: float = 1e-4,
) -> TradeoffCurve:
    r"""A bound of the trade-off function of a run.

    Formula: $f(x) = \sup_\alpha (1 - h(\alpha) - \alpha x)$, h the profile.

    Parameters: `releases`, `adjacency`, `group_size` as for `epsilon`;
    `bound`, "lower" (no attacker does better) or "upper" (some attacker
    does as well); `cutoff` (in [1e-200, 0.1]): error rates below it say
    nothing; `relative_width` (in [1e-6, 0.1]), wanted, in terms of mu.
    Returns: a curve on this side of the truth everywhere. For "remove" to
    accuse means: the record is in the data; for "add": it is not.
    Raises: ValueError; NotImplementedError where no theorem is known.
    Source: Gomez et al. (2025), Theorem 2.7.

    >>> from accountlib.mechanisms import RandomizedResponse
    >>> from accountlib.sampling import Release
    >>> coin = Release(RandomizedResponse(0.75))
    >>> round(float(tradeoff_curve(coin, adjacency="remove")(0.25)), 9)
    0.25
    """
    if bound not in ("lower", "upper"):
        raise ValueError(f"bound must be 'lower' or 'upper', got {bound!r}")
    curves = both_curves(
        releases, adjacency, group_size, cutoff, relative_width
    )
    return curves[bound == "upper"]
