# Generated from notebooks/10_sampling_pitfalls.md by tools/tangle.py; do not edit.

"""Pitfalls of sampling."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.optimize.elementwise import find_root
from scipy.special import log_ndtr, ndtr

from accountlib.divergences import (
    Floats,
    check_count,
    check_number,
    check_probabilities,
    check_range,
)
from accountlib.gaussian_dp import LossTables
from accountlib.group_privacy import binomial_sensitivity
from accountlib.intervals import delta, directions, epsilon
from accountlib.worst_case_pairs import (
    UNIT,
    Adjacency,
    ApproximateDP,
    Closed,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscretePair,
    DominatingPair,
    FixedBatch,
    FullBatch,
    Gaussian,
    Laplace,
    LaplacePair,
    Mechanism,
    Poisson,
    PureDP,
    RandomizedResponse,
    Release,
    SampledPair,
    Sampling,
    atom_masses,
    check_kind,
    group_pair,
    normal_masses,
    substitute_pair,
)

__all__ = [
    "DirectionCheck",
    "check_directions",
    "log_excess",
    "calibrate",
    "calibrate_noise",
    "substitute_delta_bound",
    "log_sum",
    "ExchangedPair",
    "ExchangedLaplaceHalf",
    "MirroredPair",
    "ExchangedBatchPair",
    "exchanged_batch_pair",
    "integer_exchange_pair",
    "poisson_exchange_pair",
    "exchanged_records_pair",
]


@dataclass(frozen=True)
class DirectionCheck:
    """Whether add exceeds remove anywhere, as far as intervals can tell.

    Fields: `verdict`: "counterexample" (add is larger, proven),
    "no counterexample" (remove is at least as large at every epsilon of
    the grid, proven) or "undecided"; `epsilon`, the place that decides;
    `margin`, there: by how much add is larger at least, relative
    (counterexample), may be larger at most (undecided), or remove is
    larger at least (no counterexample).
    Source: chapter 10, "Is remove the worse direction?".
    """

    verdict: str
    epsilon: float
    margin: float


def check_directions(
    release: Release, *, points: int = 40, width: float = 1e-5
) -> DirectionCheck:
    r"""Compare the curves of add and of remove between certified bounds.

    Formula: $\delta_{\text{add}}(\varepsilon) \le
    \delta_{\text{remove}}(\varepsilon)$ on a grid of $\varepsilon$ from
    1 % of $\varepsilon(10^{-6})$ to $\varepsilon(10^{-12})$.

    Parameters: `release`; `points` of the grid (2 to 10,000); `width`, of
    the bounds (in [1e-7, 0.1]).
    Returns: a DirectionCheck.
    Raises: ValueError for bad values, and where epsilon is 0 or inf at
    delta = 1e-6 or 1e-12.
    Source: after Lebeda et al. (2024), Conjecture 12; chapter 10, "Is
    remove the worse direction?".

    >>> coin = Release(RandomizedResponse(0.75), Poisson(0.5), 2)
    >>> check_directions(coin).verdict
    'counterexample'
    """
    check_number("points", check_count("points", points), 2, 10_000)
    check_number("width", width, 1e-7, 0.1)
    first, last = (
        epsilon(release, delta=d, adjacency="remove", relative_width=0.01)
        for d in (1e-6, 1e-12)
    )
    if not 0 < first.lower <= last.upper < math.inf:
        raise ValueError(
            "release must have a finite epsilon that is known not to be 0 "
            f"at delta = 1e-6 and 1e-12, got {release!r} with {first}, {last}"
        )
    grid = np.geomspace(0.01 * first.lower, last.lower, int(points))
    # Q has e^-epsilon of what P has beyond the last place.
    cutoff = max(1e-13 * math.exp(-last.upper), 1e-250)
    remove, add = (
        LossTables(directions(release, side, 1)[0], cutoff, width).read(grid)
        for side in (Adjacency.REMOVE, Adjacency.ADD)
    )
    # Where the tables do not reach: one by one.
    for i in np.flatnonzero((remove[0] < add[1]) & (add[0] <= remove[1])):
        for ends, side in ((remove, Adjacency.REMOVE), (add, Adjacency.ADD)):
            found = delta(
                release,
                epsilon=float(grid[i]),
                adjacency=side,
                relative_width=width,
            )
            ends[0][i] = max(ends[0][i], found.lower)
            ends[1][i] = min(ends[1][i], found.upper)
    more = add[0] / np.maximum(remove[1], 1e-300) - 1
    less = remove[0] / np.maximum(add[1], 1e-300) - 1
    less[add[1] == 0] = np.inf  # nothing is smaller
    k, j = int(np.argmax(more)), int(np.argmin(less))
    if more[k] > 0:
        return DirectionCheck("counterexample", float(grid[k]), float(more[k]))
    verdict = "no counterexample" if less[j] >= 0 else "undecided"
    return DirectionCheck(verdict, float(grid[j]), abs(float(less[j])))


def log_excess(
    releases: Release | Sequence[Release],
    goal: float,
    chance: float,
    adjacency: Adjacency | str,
    group_size: int,
    width: float,
) -> float:
    r"""By how much a run misses a target: negative if it meets it.

    Formula: $\ln(\bar\varepsilon / \varepsilon)$ with the upper end
    $\bar\varepsilon$; for a target of $\varepsilon = 0$ the same of
    $\delta$.

    Parameters: `releases`; `goal` ($\varepsilon$), `chance` ($\delta$);
    `adjacency`, `group_size`, relative `width` as for `epsilon`.
    Returns: a number in [-50, 50].
    Source: chapter 10, "Code: the noise for a target".

    >>> log_excess(Release(Gaussian(9.0)), 1.0, 1e-6, "add", 1, 1e-3) < 0
    True
    """
    if goal > 0:
        found = epsilon(
            releases,
            delta=chance,
            adjacency=adjacency,
            group_size=group_size,
            relative_width=width,
        ).upper
    else:
        found = delta(
            releases,
            epsilon=0.0,
            adjacency=adjacency,
            group_size=group_size,
            relative_width=width,
        ).upper
    wanted = goal if goal > 0 else chance
    if found <= 0 or wanted <= 0:
        return -50.0 if found <= wanted else 50.0
    return float(np.clip(math.log(found) - math.log(wanted), -50, 50))


def calibrate(
    build: Callable[[float], Release | Sequence[Release]],
    *,
    low: float,
    high: float,
    epsilon: float,
    delta: float,
    adjacency: Adjacency | str,
    group_size: int = 1,
) -> float:
    r"""The parameter of a run at which it just meets a privacy target.

    Formula: x with $\varepsilon(x) \le \varepsilon$; moved by 0.1 %
    towards less privacy it fails.

    Parameters: `build`, from a number x to releases, along which privacy
    only grows or only falls (noise, rate, count, scale; round inside of
    it); `low`, `high`, where to look (0 < low < high, finite); `epsilon`
    ($\varepsilon \ge 0$), `delta` ($\delta$ in [0, 1]), `adjacency`,
    `group_size`, the target.
    Returns: x in [low, high]: the upper end of `epsilon` is at most the
    target there. If every x meets it, the end with less privacy. Moved
    by 0.1 % the lower end of `epsilon` is above the target, but where
    theory leaves a gap (substitution under a fixed batch), where intervals
    stay wider than asked, at steps of `build`, and for parameters along
    which epsilon changes more slowly than they do (the count).
    Raises: ValueError for bad values, and if no x meets the target.
    Source: chapter 10, "Code: the noise for a target".

    >>> run = lambda x: Release(Gaussian(2.0), Poisson(0.01), int(x))
    >>> target = {"epsilon": 1.0, "delta": 1e-6, "adjacency": "remove"}
    >>> int(calibrate(run, low=1, high=1e5, **target))
    1871
    """
    check_number("epsilon", epsilon, 0, np.inf, "[)")
    check_number("delta", delta, 0, 1)
    check_number("low", low, 0, np.inf, "()")
    check_number("high", high, low, np.inf, "()")

    ends = math.log(low), math.log(high)

    @cache
    def excess(place: float, width: float = 1e-3) -> float:
        x = math.exp(place)
        x = low if place <= ends[0] else high if place >= ends[1] else x
        target = epsilon, delta, adjacency, group_size
        return log_excess(build(x), *target, width)

    def inside(place: float) -> float:
        return min(max(place, ends[0]), ends[1])

    known = {end: excess(end, 0.01) for end in ends}
    known |= {x: excess(x) for x, f in known.items() if abs(f) < 0.5}
    if min(known.values()) > 0:
        raise ValueError(
            f"epsilon={epsilon!r}, delta={delta!r} is not met by any "
            f"parameter in [low, high] = [{low!r}, {high!r}]"
        )
    if max(known.values()) <= 0:
        return float(low if known[ends[0]] > known[ends[1]] else high)
    safe = -1.0 if known[ends[0]] <= 0 else 1.0

    def rough(place: float) -> float:
        return known[place] if place in known else excess(place, 0.01)

    # The place to 1 %, then secant steps, aimed a bit to the safe side.
    place = float(brentq(rough, *ends, xtol=1e-2))
    one, two = place, inside(place + safe * 5e-3)
    for _ in range(4):
        before, now = excess(one), excess(two)
        fall = safe * (before - now) / (two - one) if two != one else 0.0
        if not 0.1 < fall < 1000:
            break
        one, two = two, inside(two + safe * (now / fall + 6e-5))
        if -2e-4 * fall <= excess(two) <= 0:
            return min(max(math.exp(two), low), high)
    # Where that is not enough, as at steps of `build`: a bracket.
    for step in (1e-2, 1e-1, 1.0, math.inf):
        a, b = inside(place - step), inside(place + step)
        if (excess(a) > 0) != (excess(b) > 0):
            break
    place = float(brentq(excess, a, b, xtol=5e-5))
    while excess(place) > 0:
        place = inside(place + safe * 5e-5)
    return min(max(math.exp(place), low), high)


def calibrate_noise(
    *,
    epsilon: float,
    delta: float,
    sampling: Sampling,
    count: int,
    adjacency: Adjacency | str,
    group_size: int = 1,
    mechanism: Callable[[float], Mechanism] = Gaussian,
) -> float:
    r"""The smallest noise that meets a privacy target, with proof.

    Formula: x with $\varepsilon(x) \le \varepsilon <
    \varepsilon(0.999\, x)$, upper end on the left, lower on the right.

    Parameters: `epsilon` ($\varepsilon \ge 0$), `delta` ($\delta$ in [0,
    1]), `adjacency`, `group_size`: the target; `sampling` and `count` as
    for `Release`; `mechanism`, from noise to a mechanism (Gaussian by
    default; Laplace, ...).
    Returns: noise multiplier or scale (0.1 % above what is needed, at
    most; more where theory leaves a gap, see `calibrate`).
    Raises: ValueError for bad values, and for a target that no noise
    between 1e-3 and 1e9 meets or that all of it meets.
    Source: chapter 10, "Code: the noise for a target".

    >>> sigma = calibrate_noise(
    ...     epsilon=1.0, delta=1e-6, sampling=Poisson(0.001),
    ...     count=10_000, adjacency="add-or-remove",
    ... )
    >>> round(sigma, 3)
    0.788
    """
    check_number("epsilon", epsilon, 0, np.inf, "[)")
    check_number("delta", delta, 0, 1)

    def build(noise: float) -> Release:
        return Release(mechanism(noise), sampling, count)

    @cache
    def meets(noise: float) -> bool:
        target = epsilon, delta, adjacency, group_size
        excess = log_excess(build(noise), *target, 0.01)
        if 0 < excess < 1:  # near enough for another look
            excess = log_excess(build(noise), *target, 1e-3)
        return excess <= 0

    def allowed(noise: float) -> bool:
        try:
            directions(build(noise), adjacency, group_size)
        except ValueError:
            return False
        return True

    ends = [1.0, 1.0]
    grows = 0 if meets(1.0) else 1
    factor = 4.0 if grows else 0.25
    while meets(ends[grows]) == (grows == 0):
        while not allowed(min(max(ends[grows] * factor, 1e-3), 1e9)):
            factor = math.sqrt(factor)
        step = min(max(ends[grows] * factor, 1e-3), 1e9)
        if math.isclose(step, ends[grows], rel_tol=1e-6):
            raise ValueError(
                f"epsilon={epsilon!r}, delta={delta!r} is met by "
                f"{'no' if grows else 'all'} noise that is allowed, "
                f"in [1e-3, 1e9]"
            )
        ends[1 - grows], ends[grows] = ends[grows], step
    return calibrate(
        build,
        low=ends[0],
        high=ends[1],
        epsilon=epsilon,
        delta=delta,
        adjacency=adjacency,
        group_size=group_size,
    )


def substitute_delta_bound(
    releases: Release | Sequence[Release],
    *,
    epsilon: float,
    group_size: int = 1,
    splits: int = 9,
) -> float:
    r"""An upper bound for substitution from add and remove alone.

    Formula: the smallest $\delta_{\text{remove}}(\varepsilon_1) +
    e^{\varepsilon_1} \delta_{\text{add}}(\varepsilon - \varepsilon_1)$
    over a grid of $\varepsilon_1 \in [0, \varepsilon]$.

    Parameters: `releases`; `epsilon` ($\varepsilon \ge 0$, finite);
    `group_size`, how many records are exchanged; `splits`, the number of
    grid points (a whole number from 2 to 1000).
    Returns: an upper bound in [0, 1]; it covers every mechanism and
    sampling of this book, and is loose.
    Raises: ValueError for bad values.
    Source: Lebeda et al. (2024), Section 9; chapter 10, eq. (pit-chain).

    >>> run = Release(Gaussian(1.0))
    >>> bound = substitute_delta_bound(run, epsilon=1.0)
    >>> truth = delta(run, epsilon=1.0, adjacency="substitute").lower
    >>> bool(truth < bound < 1.5 * truth)
    True
    """
    check_number("epsilon", epsilon, 0, np.inf, "[)")
    check_number("splits", check_count("splits", splits), 2, 1000)
    best = 1.0
    for first in np.linspace(0, epsilon, int(splits)):
        one, other = (
            delta(
                releases,
                epsilon=at,
                adjacency=adjacency,
                group_size=group_size,
            ).upper
            for at, adjacency in (
                (float(first), Adjacency.REMOVE),
                (float(epsilon - first), Adjacency.ADD),
            )
        )
        if other > 0:
            other = math.exp(min(float(first) + math.log(other), 1.0))
        best = min(best, (one + other) * (1 + 1e-12))
    return best


def log_sum(x: Floats) -> Floats:
    r"""$\ln \sum_j e^{x_j}$ over the last axis.

    >>> float(log_sum(np.log([1.0, 2.0, 3.0])).round(6))  # log 6
    1.791759
    """
    top = np.max(x, axis=-1)
    total = np.sum(np.exp(x - top[..., None]), axis=-1)
    return np.asarray(top + np.log(total))


@dataclass(frozen=True)
class ExchangedPair(DominatingPair):
    r"""A mixture of Gaussians against its mirror image.

    Formula: $P = \sum_j w_j N(\mu_j, 1)$, $Q = \sum_j w_j N(-\mu_j, 1)$;
    the loss is an odd, increasing function of z.

    Parameters: `means` ($\mu_j \ge 0$, increasing), `weights` ($w_j > 0$,
    sum 1), two tuples of the same length, at least 2.
    Raises: ValueError for other means or weights.
    Error: rounding only; relative error of masses below 1e-10 in both
    tails.
    Source: Lebeda et al. (2024), Proposition 13; chapter 10.

    >>> pair = ExchangedPair((0.0, 1.0), (0.5, 0.5))
    >>> round(pair.delta(0.5), 6), pair.reversed() == pair
    (0.194002, True)
    """

    means: tuple[float, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        means = check_range("means", self.means, 0, np.inf, "[)")
        check_probabilities("weights", self.weights)
        check_range("weights", self.weights, 0, 1, "(]")
        if len(self.weights) != len(means) or len(means) < 2:
            raise ValueError(
                "means and weights must have the same length, at least 2, "
                f"got {len(means)} and {len(self.weights)}"
            )
        if np.any(np.diff(means) <= 0):
            raise ValueError(f"means must increase, got {self.means!r}")

    @property
    def loss_range(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @cached_property
    def _terms(self) -> tuple[Floats, Floats]:
        """Means, and the logarithm of each term at z = 0."""
        means = np.array(self.means)
        return means, np.asarray(np.log(self.weights) - means**2 / 2)

    def _log_growth(self, z: Floats) -> Floats:
        """log(e^L - 1) at z > 0: no digit is lost where L is small."""
        means, heights = self._terms
        reach = np.multiply.outer(z, means)
        with np.errstate(divide="ignore"):
            both = np.log(-np.expm1(-2 * reach))  # of e^reach - e^-reach
        return log_sum(heights + reach + both) - log_sum(heights - reach)

    def _places(self, losses: Floats) -> Floats:
        """The z > 0 where the losses, > 0, are taken."""
        means, heights = self._terms
        goal = losses + np.log(-np.expm1(-losses))
        if len(means) == 2 and means[0] == 0:
            # mu z = L/2 + arsinh(e^y): eq. (pit-inverse)
            y = heights[0] - heights[1] + goal - losses / 2 - math.log(2)
            small = np.arcsinh(np.exp(np.minimum(y, 20)))
            whole = losses / 2 + np.where(y < 20, small, y + math.log(2))
            return np.asarray(whole / means[1])
        low = losses / (2 * means[-1])
        high = 2 * low
        while np.any(short := self._log_growth(high) < goal):
            high = np.where(short, 2 * high, high)
        exact = {"xatol": 0.0, "xrtol": 4e-16, "fatol": 0.0, "frtol": 0.0}
        found = find_root(
            lambda z, goal: self._log_growth(z) - goal,
            (low * (1 - 1e-12), high),
            args=(goal,),
            tolerances=exact,
        )
        return np.asarray(found.x)

    def _shares(self, z: Floats) -> Floats:
        """Shares of the terms of P at z, a row for each z."""
        means, heights = self._terms
        terms = heights + np.multiply.outer(z, means)
        parts = np.exp(terms - np.max(terms, axis=1, keepdims=True))
        return np.asarray(parts / np.sum(parts, axis=1, keepdims=True))

    def _widths(self, z: Floats, widths: Floats) -> Floats:
        """Widths in z of cells that begin at z >= 0, by Newton's method."""
        means, _ = self._terms
        up, down = self._shares(z), self._shares(-z)
        least, most = widths / (2 * means[-1]), widths / (up @ means)
        d = np.clip(widths / ((up + down) @ means), least, most)
        for _ in range(100):
            steps = np.multiply.outer(d, means)
            rise, fall = np.expm1(np.minimum(steps, 700)), np.expm1(-steps)
            a, b = np.sum(up * rise, axis=1), np.sum(down * fall, axis=1)
            b = np.maximum(b, UNIT - 1)
            slope = (up * (1 + rise)) @ means / (1 + a)
            slope += (down * (1 + fall)) @ means / (1 + b)
            move = (np.log1p(a) - np.log1p(b) - widths) / slope
            d = np.clip(d - move, least, most)
            if np.all(np.abs(move) <= 1e-10 * d):
                break
        return np.asarray(d)

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        size, sign = np.abs(edges), np.sign(edges)
        seen = size > 0
        z = np.zeros(len(edges))
        z[seen] = self._places(size[seen])
        # A cell on one side of 0 begins at its end that is nearer to 0.
        d = z[:-1] + z[1:]
        one_side = sign[:-1] * sign[1:] > 0
        near = np.minimum(z[:-1], z[1:])[one_side]
        d[one_side] = self._widths(near, widths[one_side])
        place = sign * z
        shifted = [
            [w * normal_masses(place - s * m, d) for s in (1, -1)]
            for m, w in zip(self.means, self.weights, strict=True)
        ]
        p, q = np.sum(shifted, axis=0)
        return p, q

    def _delta(self, epsilon: float) -> float:
        size, z = abs(epsilon), 0.0
        if size > 0:
            z = float(self._places(np.array([size]))[0])
        means, weights = np.array(self.means), np.array(self.weights)
        p = float(weights @ ndtr(means - z))
        q = float(weights @ np.exp(size + log_ndtr(-means - z)))
        above = max(0.0, p - q)
        if epsilon >= 0:
            return above
        return -math.expm1(epsilon) + math.exp(epsilon) * above

    def reversed(self) -> "ExchangedPair":
        return self


@dataclass(frozen=True)
class ExchangedLaplaceHalf(DominatingPair):
    r"""An exchange with sampled Laplace noise; outputs below 0 are merged.

    Formula: $P = (1-\gamma) N_0 + \gamma N_1$, $Q = (1-\gamma) N_0 +
    \gamma N_{-1}$, Laplace laws at 0, 1 and -1; on $x \in (0, 1)$ the loss
    is $\ln(1 + (e^{2x/s} - 1)/c)$ with $c = 1 + (1-\gamma) e^{1/s} /
    \gamma$.

    Parameters: `scale` (s > 0), `rate` ($\gamma \in (0, 1)$).
    Error: rounding only.
    Source: chapter 10, "Code: pairs for substitution".

    >>> half = ExchangedLaplaceHalf(1.0, 0.5)
    >>> round(half.loss_range[1], 6)  # ln((1 + e) / (1 + 1/e))
    1.0
    """

    scale: float
    rate: float

    def __post_init__(self) -> None:
        check_number("scale", self.scale, 0, np.inf, "()")
        check_number("rate", self.rate, 0, 1, "()")

    @cached_property
    def _spread(self) -> float:
        """ln c: how much less the loss grows than without sampling."""
        odds = math.log1p(-self.rate) - math.log(self.rate)
        return float(np.logaddexp(0.0, odds + 1 / self.scale))

    @cached_property
    def _ends(self) -> tuple[Floats, Floats, Floats]:
        """Losses and masses of the outputs below 0 and beyond 1."""
        far = math.exp(-1 / self.scale) / 2
        near = (1 - self.rate) / 2 + self.rate * far
        p = np.array([near, (1 - self.rate) * far + self.rate / 2])
        q = np.array([1 - near, 2 * far * near])
        reach = 2 / self.scale
        high = reach + math.log(-math.expm1(-reach)) - self._spread
        low = math.log(near) - math.log1p(-near)
        return np.array([low, np.logaddexp(0.0, high)]), p, q

    @property
    def loss_range(self) -> tuple[float, float]:
        low, high = self._ends[0]
        return float(low), float(high)

    @property
    def atoms(self) -> tuple[float, ...]:
        return self.loss_range

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        s, top = self.scale, self.loss_range[1]
        losses = np.clip(edges, 0, top)
        # e^(2x/s) - 1 = c (e^L - 1)
        with np.errstate(divide="ignore"):
            gain = losses + np.log(-np.expm1(-losses)) + self._spread
        growth = np.logaddexp(0, gain)
        x = np.where(edges < top, np.minimum(s / 2 * growth, 1), 1.0)
        # From x on: e^(2d/s) - 1 = c e^L (e^w - 1) / (1 + c (e^L - 1))
        with np.errstate(divide="ignore"):
            wide = widths + np.log(-np.expm1(-widths))
        more = np.logaddexp(0, self._spread + losses[:-1] + wide - growth[:-1])
        inner = (edges[:-1] >= 0) & (edges[1:] < top)
        d = np.where(inner, s / 2 * more, np.diff(x))
        d = np.concatenate([x[:1], d, 1 - x[-1:]])
        x = np.append(0.0, x)
        noise = np.exp(-x / s) * -np.expm1(-d / s) / 2
        moved = np.exp((x + d - 1) / s) * -np.expm1(-d / s) / 2
        places, *ends = self._ends
        p, q = (atom_masses(edges, closed, places, end) for end in ends)
        p += (1 - self.rate) * noise + self.rate * moved
        q += (1 - self.rate + self.rate * math.exp(-1 / s)) * noise
        return p, q

    def _delta(self, epsilon: float) -> float:
        if epsilon < 0:
            return super()._delta(epsilon)
        sampled = SampledPair(LaplacePair(self.scale), self.rate)
        return float(sampled.delta(epsilon + sampled.loss_range[0]))


@dataclass(frozen=True)
class MirroredPair(DominatingPair):
    r"""A symmetric pair that is given by its positive losses.

    Formula: above 0 it has the losses and masses of another pair, below 0
    their mirror image, at 0 an atom.

    Parameters: `half`, the other pair; `center`, mass of the atom, so that
    the sum is 1.
    Error: rounding only, as `half`.
    Source: chapter 10, "Code: pairs for substitution".

    >>> pair = MirroredPair(ExchangedLaplaceHalf(1.0, 0.5), 0.0)
    >>> round(pair.delta(0.1), 6), pair.reversed() == pair
    (0.283056, True)
    """

    half: DominatingPair
    center: float

    def __post_init__(self) -> None:
        check_kind("half", self.half, DominatingPair)
        check_number("center", self.center, 0, 1)

    @property
    def infinite_mass(self) -> tuple[float, float]:
        return self.half.infinite_mass[0], self.half.infinite_mass[0]

    @property
    def loss_range(self) -> tuple[float, float]:
        high = max(self.half.loss_range[1], 0.0)
        return -high, high

    @property
    def atoms(self) -> tuple[float, ...]:
        above = [x for x in self.half.atoms if x > 0]
        middle = [0.0] if self.center > 0 else []
        return (*[-x for x in reversed(above)], *middle, *above)

    @property
    def discrete(self) -> bool:
        return self.half.discrete

    def _above(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        """Masses of the positive losses."""
        start = int(np.searchsorted(edges, 0.0, side="right"))
        p, q = np.zeros(len(edges) + 1), np.zeros(len(edges) + 1)
        # An atom at 0 is left out.
        first = 5e-324 if 0.0 in self.half.atoms else 0.0
        places = np.append(first, edges[start:])
        gaps = np.append(edges[start : start + 1], widths[start:])
        above = self.half.interval_masses(places, gaps, closed)
        p[start:], q[start:] = above[0][1:], above[1][1:]
        return p, q

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        other: Closed = "left" if closed == "right" else "right"
        p, q = self._above(edges, widths, closed)
        back_q, back_p = self._above(-edges[::-1], widths[::-1], other)
        zero, mass = np.zeros(1), np.array([self.center])
        atom = atom_masses(edges, closed, zero, mass)
        return p + back_p[::-1] + atom, q + back_q[::-1] + atom

    def _delta(self, epsilon: float) -> float:
        above = float(self.half.delta(abs(epsilon)))
        if epsilon >= 0:
            return above
        return -math.expm1(epsilon) + math.exp(epsilon) * above

    def reversed(self) -> DominatingPair:
        return self


@dataclass(frozen=True)
class ExchangedBatchPair(MirroredPair):
    r"""The larger of remove and add at every order, as one pair.

    Formula: $\max(H_\alpha(P_\gamma \Vert Q), H_\alpha(Q \Vert
    P_\gamma))$ with a symmetric (P, Q): the first for $\alpha \ge 1$.

    Parameters: as `MirroredPair`; `half` is the sampled pair.
    Error: rounding only, as `half`.
    Source: Lebeda et al. (2024), Theorem 15 and Section 8; chapter 10,
    "Substitution under a fixed batch".

    >>> pair = exchanged_batch_pair(Gaussian(2.0).exchange_pair(), 0.05)
    >>> len(pair.reached)
    2
    """

    @property
    def reached(self) -> tuple[DominatingPair, ...]:
        return self.half, self.half.reversed()


def exchanged_batch_pair(pair: DominatingPair, rate: float) -> DominatingPair:
    r"""The pair for one exchanged record, where some batches miss it.

    Formula: `ExchangedBatchPair`; its atom at 0 has the mass $(1 -
    \gamma) \delta(0) + P(L = 0)$.

    Parameters: `pair`, symmetric, of an exchanged record without
    sampling; `rate` ($\gamma \in (0, 1]$).
    Returns: a DominatingPair.
    Raises: ValueError for a pair that is not symmetric.
    Source: Lebeda et al. (2024), Theorem 15; chapter 10.

    >>> one = exchanged_batch_pair(Laplace(1.0).exchange_pair(), 0.1)
    >>> round(one.center, 6)  # 0.9 (1 - 1/e)
    0.568909
    """
    check_kind("pair", pair, DominatingPair)
    check_number("rate", rate, 0, 1, "(]")
    if pair.reversed() != pair:
        raise ValueError(f"pair must be symmetric, got {pair!r}")
    if rate == 1:
        return pair
    half = SampledPair(pair, rate)
    zero = 0.0
    if 0.0 in pair.atoms:
        edges = np.array([-5e-324, 0.0])
        zero = float(pair.interval_masses(edges, -edges[:1], "right")[0][1])
    center = min(1.0, (1 - rate) * float(pair.delta(0.0)) + zero)
    return ExchangedBatchPair(half, center)


def integer_exchange_pair(
    mechanism: DiscreteGaussian | DiscreteLaplace, rate: float
) -> DominatingPair:
    r"""The same for noise on the integers: a table of outcomes.

    Parameters: `mechanism`; `rate` ($\gamma$ in (0, 1)).
    Returns: a symmetric DiscretePair.
    Error: as the mechanism's own table.
    Source: chapter 10, "Code: pairs for substitution".

    >>> pair = integer_exchange_pair(DiscreteLaplace(1.0), 0.5)
    >>> len(pair.p), pair.reversed() == pair
    (3, True)
    """
    check_number("rate", rate, 0, 1, "()")
    k = mechanism.sensitivity
    if isinstance(mechanism, DiscreteGaussian):
        reach = math.ceil(37 * mechanism.sigma) + k
        places = np.arange(-reach - k, reach + 1)
        weights = np.exp(-((places / mechanism.sigma) ** 2) / 2)
        weights /= math.fsum(weights)
        noise, shifted = weights[k:], weights[:-k]
    else:  # outcomes beyond -k and k tell no more than these
        apart = np.abs(np.arange(-k, k + 1) - np.array([[0], [k]]))
        cells = np.exp(-apart / mechanism.scale)
        cells[:, 1:-1] *= math.tanh(0.5 / mechanism.scale)
        cells[:, [0, -1]] /= 1 + math.exp(-1 / mechanism.scale)
        noise, shifted = cells
    p = (1 - rate) * noise + rate * shifted
    if p[-1] == p[0]:  # the loss is too small for floats
        p[-1] = math.nextafter(float(p[-1]), 1.0)
    return DiscretePair(p, p[::-1])


def poisson_exchange_pair(
    mechanism: Mechanism, rate: float, group_size: int
) -> DominatingPair:
    r"""The pair for exchanged records under Poisson sampling.

    Formula: $((1-\gamma) N_0 + \gamma N_k,\, (1-\gamma) N_0 + \gamma
    N_{-k})$ for noise N; a binomial mixture for groups.

    Parameters: `mechanism`; `rate` ($\gamma$ in (0, 1)); `group_size`.
    Returns: a DominatingPair, reached by data sets for added noise.
    Raises: NotImplementedError for groups but with Gaussian noise.
    Source: Lebeda et al. (2024), Proposition 13; chapter 10, Theorem
    "Substitution under Poisson sampling".

    >>> poisson_exchange_pair(Gaussian(2.0), 0.25, 1)
    ExchangedPair(means=(0.0, 0.5), weights=(0.75, 0.25))
    """
    check_number("rate", rate, 0, 1, "()")
    if isinstance(mechanism, Gaussian):
        sizes, weights = binomial_sensitivity(group_size, rate=rate)
        means = sizes / mechanism.noise_multiplier
        kept = weights > 0
        return ExchangedPair(
            tuple(means[kept].tolist()), tuple(weights[kept].tolist())
        )
    if group_size > 1:
        raise NotImplementedError(
            f"adjacency='substitute', group_size={group_size}: this book has "
            f"groups in samples for Gaussian noise only, got {mechanism!r}; "
            "substitute_delta_bound gives an upper bound where add and "
            "remove are covered"
        )
    if isinstance(mechanism, Laplace):
        return MirroredPair(ExchangedLaplaceHalf(mechanism.scale, rate), 0.0)
    if isinstance(mechanism, (DiscreteGaussian, DiscreteLaplace)):
        return integer_exchange_pair(mechanism, rate)
    return exchanged_batch_pair(mechanism.exchange_pair(), rate)


@substitute_pair.register(Gaussian)
@substitute_pair.register(Laplace)
@substitute_pair.register(DiscreteGaussian)
@substitute_pair.register(DiscreteLaplace)
@substitute_pair.register(RandomizedResponse)
@substitute_pair.register(PureDP)
@substitute_pair.register(ApproximateDP)
def exchanged_records_pair(
    mechanism: Mechanism, sampling: Sampling, group_size: int
) -> DominatingPair:
    r"""The pair of one run for records that are exchanged for others.

    Formula: full batch: the mechanism's pair for an exchange; Poisson:
    `poisson_exchange_pair`; fixed batch: `exchanged_batch_pair`.

    Parameters: as `substitute_pair`. `PureDP` and `ApproximateDP` must
    hold for an exchanged record, and for an added and a removed one.
    Returns: a DominatingPair, equal to its reverse.
    Raises: NotImplementedError where no theorem of the book covers it.
    Source: Lebeda et al. (2024), Proposition 13 and Theorem 15; chapter
    10, "Code: pairs for substitution".

    >>> exchanged_records_pair(Laplace(1.0), FullBatch(), 1)
    LaplacePair(scale=0.5)
    """
    rate = sampling.rate if isinstance(sampling, Poisson) else 1.0
    if isinstance(sampling, FixedBatch):
        rate = sampling.batch_size / sampling.dataset_size
        if rate < 1 and group_size > 1:
            raise NotImplementedError(
                f"adjacency='substitute', group_size={group_size}: no "
                "theorem of the book covers groups in fixed batches; "
                "substitute_delta_bound gives an upper bound where add and "
                "remove are covered"
            )
        if rate < 1:
            return exchanged_batch_pair(mechanism.exchange_pair(), rate)
    if rate == 0:
        return DiscretePair((1.0,), (1.0,))
    if rate < 1:
        return poisson_exchange_pair(mechanism, rate, group_size)
    if group_size == 1:
        return mechanism.exchange_pair()
    bits = RandomizedResponse, PureDP, ApproximateDP
    moves = 1 if isinstance(mechanism, bits) else 2
    return group_pair(mechanism, FullBatch(), moves * group_size)
