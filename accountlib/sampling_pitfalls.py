# Generated from notebooks/10_sampling_pitfalls.md by tools/tangle.py; do not edit.

"""Pitfalls of sampling."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from accountlib.divergences import (
    Floats,
    check_count,
    check_number,
    front_door,
)
from accountlib.gaussian_dp import LossTables
from accountlib.group_privacy import (
    DECIMALS,
    WeightedGaussians,
    binomial_weights,
    gaussian_terms,
    in_floats,
    in_parts,
    log_whole,
    no_end,
    product_rest,
)
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
    EndlessAtoms,
    FixedBatch,
    FullBatch,
    Gaussian,
    IntegerGaussianPair,
    Laplace,
    LaplacePair,
    Mechanism,
    Poisson,
    PureDP,
    RandomizedResponse,
    Release,
    RoundedPair,
    SampledPair,
    Sampling,
    atom_masses,
    check_kind,
    group_pair,
    normal_masses,
    substitute_pair,
    two_sum,
)

__all__ = [
    "DirectionCheck",
    "check_directions",
    "log_excess",
    "safe_edge",
    "calibrate",
    "last_allowed",
    "noise_bracket",
    "calibrate_noise",
    "substitute_delta_bound",
    "log_sum",
    "ExchangedPair",
    "ExchangedLaplaceHalf",
    "MirroredPair",
    "ExchangedBatchPair",
    "exchanged_batch_pair",
    "ExchangedIntegerPair",
    "integer_exchange_pair",
    "poisson_exchange_pair",
    "exchanged_records_pair",
]


@dataclass(frozen=True)
class DirectionCheck:
    """Whether add exceeds remove anywhere, as far as intervals can tell.

    Fields: `verdict`: "counterexample" (somewhere the lower end of add is
    above the upper end of remove), "no counterexample" (at every epsilon of
    the grid the lower end of remove is at least the upper end of add; other
    epsilons are not looked at) or "undecided"; `epsilon`, the place that
    decides; `margin`, there: by how much add is larger at least, relative
    (counterexample), may be larger at most (undecided), or remove is
    larger at least (no counterexample).
    Source: chapter 10, "Is remove the worse direction?".
    """

    verdict: str
    epsilon: float
    margin: float


@front_door
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
) -> float:
    r"""By how much a run misses a target: negative if it meets it.

    Formula: $\ln(\bar\varepsilon / \varepsilon)$ with the upper end
    $\bar\varepsilon$; for a target of $\varepsilon = 0$ the same of
    $\delta$.

    Parameters: `releases`; `goal` ($\varepsilon$), `chance` ($\delta$);
    `adjacency`, `group_size` as for `epsilon`.
    Returns: a number, or plus or minus infinity; never 0: a target that is
    just met counts as met, so that a search goes on to the edge.
    Source: chapter 10, "Code: the noise for a target".

    >>> log_excess(Release(Gaussian(9.0)), 1.0, 1e-6, "add", 1) < 0
    True
    """
    sides: dict[str, Any] = {"adjacency": adjacency, "group_size": group_size}
    if goal > 0:
        wanted, found = goal, epsilon(releases, delta=chance, **sides).upper
    else:
        wanted, found = chance, delta(releases, epsilon=0.0, **sides).upper
    if found <= 0 or wanted <= 0:
        return -math.inf if found <= wanted else math.inf
    excess = math.log(found) - math.log(wanted)
    return min(excess, -1e-9) if found <= wanted else max(excess, 1e-9)


def safe_edge(
    excess: Callable[[float], float], low: float, high: float
) -> float:
    r"""A place where a target is met, next to one where it is missed.

    Formula: x with $f(x) \le 0 < f(y)$ for some y with $|\ln(x/y)| \le 5
    \cdot 10^{-5}$.

    Parameters: `excess` (f), positive at one end and not at the other;
    `low`, `high`, the ends (0 < low < high). About ten values of f are
    computed, and 102 at most: it ends, and meets the target, always.
    Returns: x in [low, high].
    Raises: ValueError if f has the same sign at both ends.
    Source: chapter 10, "Code: the noise for a target".

    >>> round(safe_edge(lambda x: 2 - x, 1.0, 9.0), 3)
    2.0
    """
    ends = math.log(low), math.log(high)
    tried: dict[float, float] = {}

    def look(place: float) -> float:
        x = math.exp(place)
        x = low if place <= ends[0] else high if place >= ends[1] else x
        tried[x] = excess(x)
        found = min(max(tried[x], -50.0), 50.0)  # Brent's method divides,
        return found or -1e-9  # and stops at 0, maybe far from the edge

    if ends[1] - ends[0] <= 5e-5:  # at the edge already
        look(ends[1])
        tried[low] = excess(low)
    else:
        brentq(look, *ends, xtol=5e-5, maxiter=100, disp=False)
    met = [x for x, f in tried.items() if f <= 0]
    missed = [math.log(x) for x, f in tried.items() if f > 0]
    if not (met and missed):
        raise ValueError(f"excess must change its sign, got {tried!r}")
    return min(met, key=lambda x: min(abs(math.log(x) - y) for y in missed))


@front_door
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

    Parameters: `build`, from a number x to releases (noise, rate, count,
    scale; round inside of it); `low`, `high`, where to look (0 < low <
    high, finite); `epsilon` ($\varepsilon \ge 0$), `delta` ($\delta$ in
    [0, 1]), `adjacency`, `group_size`, the target.
    Returns: x in [low, high]. It meets the target, whatever `build` is: the
    upper end of `epsilon` is at most the target there. If both ends meet
    it, the one with less privacy; else the target is missed within 0.01 %
    of x. If privacy only grows or only falls, 0.1 % further the lower end
    of `epsilon` is above the target, too, but where theory leaves a gap
    (substitution under a fixed batch), where intervals are wider than
    asked, at steps of `build`, and where epsilon changes more slowly than
    x (the count; now and then noise).
    Raises: ValueError for bad values, and if neither end meets the target.
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
    if not callable(build):
        raise ValueError(
            "build must be a function from a number to releases, "
            f"got {build!r}"
        )

    @cache
    def excess(x: float) -> float:
        return log_excess(build(x), epsilon, delta, adjacency, group_size)

    ends = excess(low), excess(high)
    if min(ends) > 0:
        raise ValueError(
            f"epsilon={epsilon!r}, delta={delta!r} is not met by any "
            f"parameter in [low, high] = [{low!r}, {high!r}], if privacy "
            "only grows or only falls there: it is missed at both ends"
        )
    if max(ends) <= 0:
        return float(low if ends[0] > ends[1] else high)
    return safe_edge(excess, low, high)


def last_allowed(
    allowed: Callable[[float], bool], inside: float, outside: float
) -> float:
    r"""The allowed number that is nearest to a refused one.

    Parameters: `allowed`; `inside`, which is allowed, and `outside`, which
    is not, both positive.
    Returns: an allowed number, to a relative $10^{-7}$.
    Source: chapter 10, "Code: the noise for a target".

    >>> round(last_allowed(lambda x: x <= 10, 1.0, 1e9), 5)
    10.0
    """
    while abs(math.log(outside) - math.log(inside)) > 1e-7:
        middle = math.sqrt(inside) * math.sqrt(outside)
        if allowed(middle):
            inside = middle
        else:
            outside = middle
    return inside


def noise_bracket(
    excess: Callable[[float], float], allowed: Callable[[float], bool]
) -> tuple[float, float]:
    r"""Two noises between which a target changes from missed to met.

    Formula: steps of a factor 4 in $[10^{-3}, 10^9]$, from the allowed
    $4^k$ that is nearest to 1.

    Parameters: `excess`, positive where the target is missed; `allowed`,
    whether there is such a mechanism (true on an interval).
    Returns: the smaller and the larger one; the last one twice if the
    target does not change.
    Source: chapter 10, "Code: the noise for a target".

    >>> noise_bracket(lambda x: 100 - x, lambda x: x <= 1000)
    (64.0, 256.0)
    """
    powers = 4.0 ** np.arange(-4, 15)
    nearest = sorted(powers.tolist(), key=lambda x: abs(math.log(x)))
    # Where nothing is allowed, excess(1.0) raises an error that says why.
    noise = next(filter(allowed, nearest), 1.0)
    misses = excess(noise) > 0
    while True:
        step = min(max(noise * (4.0 if misses else 0.25), 1e-3), 1e9)
        if not allowed(step):
            step = last_allowed(allowed, noise, step)
        if math.isclose(step, noise, rel_tol=1e-6):
            return noise, noise
        if (excess(step) > 0) != misses:
            return min(noise, step), max(noise, step)
        noise = step


@front_door
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
    r"""Noise that just meets a privacy target, by certified intervals.

    Formula: x with $\varepsilon(x) \le \varepsilon <
    \varepsilon(0.999\, x)$, upper end on the left, lower on the right.

    Parameters: `epsilon` ($\varepsilon \ge 0$), `delta` ($\delta$ in [0,
    1]), `adjacency`, `group_size`: the target; `sampling` and `count` as
    for `Release`; `mechanism`, from noise to a mechanism (Gaussian by
    default; Laplace, ...), a ValueError where there is none.
    Returns: noise multiplier or scale. It meets the target, always. It is
    the smallest that does, up to 0.1 %, where more noise is never worse:
    Gaussian, Laplace, discrete Laplace (but see `calibrate`). Discrete
    Gaussian noise can be worse where there is more of it: use the number
    as it is, or check the one you use; just below it (0.01 %) the target
    is missed, but some smaller noise may meet it.
    Raises: ValueError for bad values, and for a target that no noise
    between 1e-3 and 1e9 meets or that all of it meets (in steps of 4).
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
    if not callable(mechanism):
        raise ValueError(
            "mechanism must be a function from noise to a mechanism, such as "
            f"Gaussian or Laplace, got {mechanism!r}"
        )

    def build(noise: float) -> Release:
        return Release(mechanism(noise), sampling, count)

    @cache
    def excess(noise: float) -> float:
        return log_excess(build(noise), epsilon, delta, adjacency, group_size)

    def allowed(noise: float) -> bool:
        try:
            directions(build(noise), adjacency, group_size)
        except ValueError:
            return False
        return True

    low, high = noise_bracket(excess, allowed)
    if low == high:
        which = "no" if excess(low) > 0 else "all"
        infinite = epsilon > 0 and excess(low) == np.inf
        raise ValueError(
            f"epsilon={epsilon!r}, delta={delta!r} is met by {which} noise "
            "that is allowed, in [1e-3, 1e9], and was tried, in steps of a "
            f"factor 4; the last one tried is {low!r}"
            + (", where epsilon is infinite" if infinite else "")
        )
    return safe_edge(excess, low, high)


@front_door
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
    for first in np.linspace(0, epsilon, int(splits)).tolist():
        rest = max(0.0, math.nextafter(epsilon - first, -math.inf))
        one, other = (
            delta(
                releases,
                epsilon=at,
                adjacency=adjacency,
                group_size=group_size,
            ).upper
            for at, adjacency in (
                (first, Adjacency.REMOVE),
                (rest, Adjacency.ADD),
            )
        )
        if other > 0:
            other = math.exp(min(first + math.log(other), 1.0))
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
class ExchangedPair(WeightedGaussians):
    r"""A mixture of Gaussians against its mirror image.

    Formula: $P = \sum_j w_j N(\mu_j, 1)$, $Q = \sum_j w_j N(-\mu_j, 1)$;
    the loss is an odd, increasing function of z.

    Parameters: as `WeightedGaussians`, at least 2 means.
    Raises: ValueError for other means or weights.
    Error: rounding only, as `mass_error` says, at every edge.
    Source: Lebeda et al. (2024), Proposition 13; chapter 10.

    >>> pair = ExchangedPair((0.0, 1.0), (0.5, 0.5))
    >>> round(pair.delta(0.5), 6), pair.reversed() == pair
    (0.194002, True)
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.means) < 2:
            raise ValueError(
                f"means and weights need at least 2 terms, got {self!r}"
            )

    def _start(self, losses: Floats) -> Floats:
        """Roughly the z > 0 where losses > 0 are taken."""
        means, heights = self._means[0], self._heights[0]
        goal = losses + np.log(-np.expm1(-losses))
        if means[0] == 0 and len(means) == 2:
            # mu z = L/2 + arsinh(e^y): eq. (pit-inverse)
            y = heights[1] - heights[0] + goal - losses / 2 - math.log(2)
            small = np.arcsinh(np.exp(np.minimum(y, 20)))
            whole = losses / 2 + np.where(y < 20, small, y + math.log(2))
            return np.asarray(whole / means[1])
        # If at -z nothing but the smallest mean counts
        first = int(means[0] == 0)
        above = goal[:, None] + heights[first:] - heights[0]
        alone = np.min(above / (means[first:] + means[0]), axis=1)
        return np.asarray(np.maximum(alone, losses / (2 * means[-1])))

    @property
    def _last(self) -> float:
        """A loss beyond which floats show no mass."""
        # L(z) <= 2 mu z for the largest mu; beyond mu + 60 nothing is left
        return 2 * self.means[-1] * (self.means[-1] + 60)

    def _powers(self, z: Floats, losses: Floats, kept: slice) -> Floats:
        r"""At z, in two floats: $\ln w_j \pm \mu_j z - \mu_j^2/2$, the first
        less the loss; and $2 \mu_j z$ less the loss."""
        mean, mean_rest = self._means[:, kept]
        high, middle, low = self._heights[:, kept]
        place, z_rest = z[:, :, None]
        reach = mean * place
        rest = product_rest(mean, place, reach)
        rest += mean * z_rest + mean_rest * place
        first, one = two_sum(reach, -high)
        first, more = two_sum(first, -losses[:, None])
        up = two_sum(first, (one + more) + ((rest - middle) - low))
        second, one = two_sum(-reach, -high)
        down = two_sum(second, one - ((rest + middle) + low))
        double, one = two_sum(2 * reach, -losses[:, None])
        return np.stack([up, down, two_sum(double, one + 2 * rest)])

    def _kept(self, z: Floats, ends: tuple[bool, bool]) -> slice:
        """The terms that count. `ends`: all, in a part at either end."""
        means, heights = self._means[0], -self._heights[0]
        number = len(means)
        least = means[int(means[0] == 0)]
        slopes = np.log(np.maximum(means / least, 1))
        if float(np.max(z)) * means[-1] < 1e6:
            reach = np.multiply.outer(z, means)
            powers = np.concatenate([heights + reach, heights - reach])
            powers += slopes
            most = np.max(powers, axis=1, keepdims=True)
            seen = np.flatnonzero(np.any(powers > most - 80, axis=0))
            if not any(ends):
                return slice(int(seen[0]), int(seen[-1]) + 1)
        return slice(0, number)

    def _places(
        self, losses: Floats, ends: tuple[bool, bool] = (True, True)
    ) -> tuple[Floats, slice, Floats]:
        """The z > 0 where losses > 0 are taken, in two floats, the terms
        that count, and their shares at z and at -z."""
        losses = np.minimum(losses, self._last)
        z = self._start(losses)
        kept, z = self._kept(z, ends), np.stack([z, 0 * z])
        mean = self._means[0, kept]
        low = losses / (3 * self._means[0, -1])
        high = np.full(len(losses), 1e200)
        for _ in range(500):
            logs, gap, double = self._logs(z, losses, kept)
            shares = self._digits(z, kept, logs, double)
            up, down = shares
            # sum of up - down, without cancellation where they are close
            close = np.where(np.abs(double) < 1, double, 0)
            apart = np.where(
                np.abs(double) < 1, down * np.expm1(close), up - down
            )
            excess = np.sum(apart, axis=1) / ((up + down) @ mean)
            logs[0] -= gap[:, None]
            rough = gap / (np.sum(np.exp(logs), axis=0) @ mean)
            step = np.where(np.abs(gap) < 0.1, excess, rough)
            far = np.abs(step) > 1e-6 * z[0]
            low = np.where(far & (step < 0), z[0], low)
            high = np.where(far & (step > 0), z[0], high)
            z = np.stack(two_sum(z[0], z[1] - step))
            beyond = far & ((z[0] < low) | (z[0] > high))
            middle = np.sqrt(low * high)
            z = np.where(beyond, np.stack([middle, 0 * middle]), z)
            small = np.abs(step) < 1e-8 * np.minimum(z[0], 1)
            small &= (np.abs(gap) < 1e-8) & ~beyond
            if np.all(small | (np.abs(step) <= 1e-28 * z[0])):
                moved = np.exp(np.clip(mean * step[:, None], -1, 1))
                shares = np.stack([up / moved, down * moved])
                return z, kept, shares / np.sum(shares, axis=2)[:, :, None]
        raise no_end("a loss", self)

    def _logs(
        self, z: Floats, losses: Floats, kept: slice
    ) -> tuple[Floats, Floats, Floats]:
        """Logarithms of the terms at z, less the loss, and at -z, divided
        by the sum at -z; by how much the first sum is larger; 2 mu z less
        the loss."""
        up, down, double = self._powers(z, losses, kept)
        k = np.argmax(down[0], axis=1)[:, None]
        top = np.take_along_axis(down, k[None], 2)
        logs = np.sum(np.stack([up - top, down - top]), axis=1)
        # If one term is the largest at both places, double says by how much.
        double, most = np.sum(double, axis=0), np.argmax(up[0], axis=1)
        top = np.take_along_axis(up, k[None], 2)
        same = np.sum(up - top, axis=0) + np.take_along_axis(double, k, 1)
        logs[0] = np.where(most[:, None] == k, same, logs[0])
        sums = log_sum(logs)
        return logs - sums[1][:, None], sums[0] - sums[1], double

    def _digits(
        self, z: Floats, kept: slice, logs: Floats, double: Floats
    ) -> Floats:
        """Exponentials of the logs; a large logarithm has lost digits, but
        a weight times a small power has not."""
        mean, weights = self._means[0, kept], self._shares[kept]
        k = np.argmax(logs[1], axis=1)
        top = mean[k][:, None]
        places = np.sum(z, axis=0)[:, None]
        down = (top - mean) * (places + (top + mean) / 2)
        powers = np.stack([down + double, down])
        size = np.stack([np.abs(down) + np.abs(double), np.abs(down)])
        ratio = weights / weights[k][:, None]
        largest = np.exp(np.take_along_axis(logs[1], k[:, None], 1))
        plain = np.exp(np.minimum(logs, 700))
        better = np.exp(np.minimum(powers, 700)) * (ratio * largest)
        use = (size < np.abs(logs)) & (ratio > 1e-280)
        return np.where(use, better, plain)

    def _widths(self, widths: Floats, kept: slice, shares: Floats) -> Floats:
        """Widths in z of cells with these shares at their end near 0."""
        mean, (up, down), logs = self._means[0, kept], shares, np.log(shares)
        goal = (widths + np.log(-np.expm1(-widths)))[:, None]
        high = np.min(np.logaddexp(0, goal - logs[0]) / mean, axis=1)
        high = np.minimum(high, widths / (up @ mean))
        low = widths / (2 * mean[-1])
        d = np.clip(widths / ((up + down) @ mean), low, high)
        for _ in range(200):
            reach = np.multiply.outer(d, mean)
            fall = np.sum(down * np.expm1(-reach), axis=1)
            above, below = logs[0] + reach, logs[1] - reach
            all_up, all_down = log_sum(above), log_sum(below)
            rise = up * np.expm1(np.minimum(reach, 1))
            rise = np.where(reach < 1, rise, np.exp(above) - up)
            rise = np.sum(rise, axis=1)
            value = np.where(rise < 1e3, np.log1p(rise), all_up)
            value -= np.where(fall > -0.5, np.log1p(fall), all_down)
            slope = np.exp(above - all_up[:, None]) @ mean
            slope += np.exp(below - all_down[:, None]) @ mean
            low = np.where(value < widths, d, low)
            high = np.where(value > widths, d, high)
            step = (value - widths) / slope
            if np.all(np.abs(step) <= 1e-9 * d):
                return np.asarray(d - step)
            inside = (d - step > low) & (d - step < high)
            d = np.where(inside, d - step, np.sqrt(low * high))
        raise no_end("a width", self)

    def _cells(
        self, edges: Floats, widths: Floats, ends: tuple[bool, bool]
    ) -> tuple[Floats, Floats]:
        """Masses between edges; those outside are whole if `ends` says so."""
        size, sign = np.abs(edges), np.sign(edges)
        seen = size > 0
        z = np.zeros((2, len(edges)))
        kept = slice(0, len(self.means))
        shares = np.zeros((2, len(edges), len(self.means)))
        if np.any(seen):
            z[:, seen], kept, some = self._places(size[seen], ends)
            shares = np.zeros((2, len(edges), some.shape[2]))
            shares[:, seen] = some
        z *= sign
        d = (z[0, 1:] - z[0, :-1]) + (z[1, 1:] - z[1, :-1])
        # A cell on one side of 0 begins at its end that is nearer to 0.
        nearer = np.arange(len(d)) + (size[1:] < size[:-1])
        short = (sign[:-1] * sign[1:] > 0) & (d < 1) & (widths > 0)
        # Beyond, shares have no digits, and the difference is exact enough.
        short &= np.abs(z[0, 1:]) * self.means[-1] < 1e20
        short &= np.maximum(size[1:], size[:-1]) < self._last
        narrow = np.flatnonzero(short)
        if len(narrow):
            begin = shares[:, nearer[narrow]]
            d[narrow] = self._widths(widths[narrow], kept, begin)
        p, q = np.zeros(len(edges) + 1), np.zeros(len(edges) + 1)
        for (m, rest), w in zip(
            self._means[:, kept].T, self._shares[kept], strict=True
        ):
            p += w * normal_masses((z[0] - m) + (z[1] - rest), d)
            q += w * normal_masses((z[0] + m) + (z[1] + rest), d)
        return p, q

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        with np.errstate(all="ignore"):
            return in_parts(self._cells, edges, widths, len(self.means))

    def _delta(self, epsilon: float) -> float:
        size, z = abs(epsilon), 0.0
        if size > 0:
            with np.errstate(all="ignore"):
                z = float(np.sum(self._places(np.array([size]))[0]))
        means, weights = np.array(self.means), self._shares
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

    Parameters: `scale` (s in [1e-150, 1e150]), `rate` ($\gamma \in (0,
    1)$).
    Raises: ValueError for values outside these ranges.
    Error: rounding only, as `mass_error` says, at every edge.
    Source: chapter 10, "Code: pairs for substitution".

    >>> half = ExchangedLaplaceHalf(1.0, 0.5)
    >>> round(half.loss_range[1], 6)  # ln((1 + e) / (1 + 1/e))
    1.0
    """

    scale: float
    rate: float

    def __post_init__(self) -> None:
        check_number("scale", self.scale, 1e-150, 1e150)
        check_number("rate", self.rate, 0, 1, "()")

    @cached_property
    def _constants(self) -> Floats:
        """1/s, ln c and the largest loss, each in two floats."""
        rate, times, plus = Decimal(self.rate), DECIMALS.multiply, DECIMALS.add
        stay = DECIMALS.subtract(1, rate)
        a = DECIMALS.divide(1, Decimal(self.scale))
        odds = DECIMALS.subtract(DECIMALS.ln(stay), DECIMALS.ln(rate))
        spread = plus(a, odds)  # ln((1 - rate) e^a / rate)
        small = abs(spread) < 2000
        log_c = spread if spread > 0 else Decimal(0)
        if small:
            log_c = log_whole(Decimal(1), DECIMALS.exp(spread))
        # e^(2a) - 1, divided by c, and the logarithm of 1 more
        if a < Decimal("1e-12"):
            b = times(2, a)
            half = plus(1, DECIMALS.divide(b, 2))
            grown = times(b, plus(half, DECIMALS.divide(times(b, b), 6)))
            top = log_whole(DECIMALS.exp(log_c), grown)
        elif a < 2000:
            grown = DECIMALS.subtract(DECIMALS.exp(times(2, a)), 1)
            top = log_whole(DECIMALS.exp(log_c), grown)
        else:
            top = DECIMALS.subtract(times(2, a), log_c)
            back = DECIMALS.subtract(odds, a)
            if abs(back) < 2000:
                top = plus(top, log_whole(Decimal(1), DECIMALS.exp(back)))
        return in_floats([a, log_c, top], 2)

    @cached_property
    def _ends(self) -> tuple[Floats, Floats, Floats]:
        """Losses and masses of the outputs below 0 and beyond 1."""
        far = math.exp(-self._constants[0, 0]) / 2
        stay = float(1 - Fraction(self.rate))
        near = stay / 2 + self.rate * far
        p = np.array([near, stay * far + self.rate / 2])
        q = np.array([1 - near, 2 * far * near])
        low = math.log(near) - math.log1p(-near)
        return np.array([low, self._constants[0, 2]]), p, q

    @property
    def loss_range(self) -> tuple[float, float]:
        low, high = self._ends[0].tolist()
        return low, high

    @property
    def atoms(self) -> tuple[float, ...]:
        return self.loss_range

    def _shrink(self, losses: Floats) -> Floats:
        """By how much faster 2x/s grows than the loss, inverted."""
        _, log_c, _ = self._constants.T
        rest = np.exp(-losses - log_c[0]) * np.exp(min(-log_c[1], 1.0))
        return np.asarray(-np.expm1(-losses) + rest)

    def _reach(self, losses: Floats) -> Floats:
        """2x/s for losses in [0, top], and 2/s less that."""
        (a, a_low), (log_c, rest), (top, top_low) = self._constants.T
        # y = c (e^L - 1), in two steps, since c need not be a float
        half = math.exp(log_c / 2) if log_c < 1400 else math.inf
        y = half * np.expm1(losses) * half * math.exp(min(rest, 1.0))
        logs = np.log(-np.expm1(-losses))
        reach = np.where(y < 1e300, np.log1p(y), log_c + losses + logs)
        below = (top - losses) + top_low
        near = np.expm1(-below) / self._shrink(np.array([top]))
        far, more = two_sum(2 * a, -log_c)
        far = (far - losses) + (more + (2 * a_low - rest)) - logs
        far = np.where(y > 1, far - np.log1p(1 / y), 2 * a - reach)
        return np.stack([reach, np.where(below < 1, -np.log1p(near), far)])

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        a, top = self._constants[0, [0, 2]]
        with np.errstate(all="ignore"):
            reach, left = self._reach(np.clip(edges, 0, top))
            reach = np.where(edges < top, np.where(edges > 0, reach, 0), 2 * a)
            left = np.where(edges < top, np.where(edges > 0, left, 2 * a), 0)
            reach = np.concatenate([[0.0], reach, [2 * a]])
            left = np.concatenate([[2 * a], left, [0.0]])
            # Growth of 2x/s: from 0, up to 2/s, or from widths
            d = np.where(reach[:-1] > 0, left[:-1], reach[1:])
            shrink = self._shrink(edges[:-1])
            short = np.log1p(np.expm1(widths) / shrink)
            wide = np.log1p((shrink - 1) * np.exp(-widths)) - np.log(shrink)
            inner = (edges[:-1] >= 0) & (edges[1:] < top)
            by_widths = np.where(widths < 1, short, widths + wide)
            d[1:-1] = np.where(inner, by_widths, d[1:-1])
            density = -np.expm1(-d / 2) / 2
            noise = np.exp(-reach[:-1] / 2) * density
            end = np.where(d < 1, left[:-1] - d, left[1:])
            moved = np.exp(-end / 2) * density
        places, *ends = self._ends
        p, q = (atom_masses(edges, closed, places, end) for end in ends)
        stay = float(1 - Fraction(self.rate))
        p += stay * noise + self.rate * moved
        return p, q + (stay + self.rate * math.exp(-a)) * noise

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
    def atom_error(self) -> float:
        return self.half.atom_error

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

    def mass_error(self, mass: Floats) -> Floats:
        return np.maximum(super().mass_error(mass), self.half.mass_error(mass))

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


def exchanged_batch_pair(
    pair: DominatingPair, rate: float | Fraction
) -> DominatingPair:
    r"""The pair for one exchanged record, where some batches miss it.

    Formula: `ExchangedBatchPair`; its atom at 0 has the mass $(1 -
    \gamma) \delta(0) + P(L = 0)$.

    Parameters: `pair`, symmetric, of an exchanged record without
    sampling; `rate` ($\gamma \in (0, 1]$), a float or a Fraction, whose
    $1 - \gamma$ has all digits.
    Returns: a DominatingPair.
    Raises: ValueError for a pair that is not symmetric.
    Source: Lebeda et al. (2024), Theorem 15; chapter 10.

    >>> one = exchanged_batch_pair(Laplace(1.0).exchange_pair(), 0.1)
    >>> round(one.center, 6)  # 0.9 (1 - 1/e)
    0.568909
    """
    check_kind("pair", pair, DominatingPair)
    check_number("rate", float(rate), 0, 1, "(]")
    if pair.reversed() != pair:
        raise ValueError(f"pair must be symmetric, got {pair!r}")
    exact = Fraction(rate)
    if exact == 1:
        return pair
    half = SampledPair(pair, float(exact), exact=exact)
    zero = 0.0
    if 0.0 in pair.atoms:
        edges = np.array([-5e-324, 0.0])
        zero = float(pair.interval_masses(edges, -edges[:1], "right")[0][1])
    stay = float(1 - exact)
    center = min(1.0, stay * float(pair.delta(0.0)) + zero)
    return ExchangedBatchPair(half, center)


@dataclass(frozen=True)
class ExchangedIntegerPair(EndlessAtoms):
    r"""An exchange with sampled discrete Gaussian noise.

    Formula: $P = (1-\gamma) N_0 + \gamma N_k$ and its mirror image Q, for
    noise N on the integers moved by 0, k and -k; $L(x) = \ln(1 + 2 \gamma
    e^{-k^2/(2\sigma^2)} \sinh(k x/\sigma^2) / (1 - \gamma + \gamma
    e^{-k (2x + k)/(2\sigma^2)}))$ for $x \ge 0$, and $L(-x) = -L(x)$.

    Parameters: `base`, the pair of the noise moved by k; `rate`
    ($\gamma$ in (0, 1)).
    Raises: ValueError for values outside these ranges.
    Error: rounding only; masses as those of `base`, losses up to 600 by
    $8 (\max |L| + \ln(1/\gamma) + 16)\, u$ (`atom_error`).
    Source: chapter 10, "Code: pairs for substitution".

    >>> pair = ExchangedIntegerPair(IntegerGaussianPair(2.0, 1), 0.5)
    >>> round(pair.delta(0.0), 6), pair.loss_range
    (0.187752, (-inf, inf))
    """

    base: IntegerGaussianPair
    rate: float

    def __post_init__(self) -> None:
        check_kind("base", self.base, IntegerGaussianPair)
        check_number("rate", self.rate, 0, 1, "()")

    def _losses(self, places: Any) -> Floats:
        k, spread = self.base.shift, 2 * self.base.sigma**2
        x = np.abs(places)
        power = k * (2 * x - k) / spread  # of N_k against N_0
        rest = 1 - self.rate + self.rate * np.exp(-k * (2 * x + k) / spread)
        share = -np.expm1(-4 * k * x / spread) / rest
        part = self.rate * np.exp(power) * share
        far = math.log(self.rate) + power + np.log(share)
        near = power < 600
        loss = np.where(near, np.log1p(part), np.logaddexp(0, far))
        return np.asarray(np.sign(places) * loss)

    @property
    def atom_error(self) -> float:
        most = self.base._reach + self.base.shift
        with np.errstate(all="ignore"):
            largest = float(self._losses(np.array([most]))[0])
        rest = 16 - math.log(self.rate)
        return 8 * UNIT * (min(largest, 600.0) + rest)

    @cached_property
    def atoms(self) -> tuple[float, ...]:
        most = self.base._reach + self.base.shift
        with np.errstate(all="ignore"):
            return tuple(self._losses(np.arange(-most, most + 1)).tolist())

    def _last(self, edges: Floats, closed: Closed) -> Any:
        """The last place whose loss belongs to the left of each edge."""
        most = self.base._reach + self.base.shift
        low = np.full(len(edges), -most - 1)
        high = np.full(len(edges), most + 1)
        while np.any(high - low > 1):
            middle = (low + high) // 2
            loss = self._losses(middle)
            left = loss <= edges if closed == "right" else loss < edges
            open_ = high - low > 1
            low = np.where(open_ & left, middle, low)
            high = np.where(open_ & ~left, middle, high)
        return low

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        with np.errstate(all="ignore"):
            last = self._last(edges, closed)
            noise, up, down = (
                self.base._noise_between(last - move * self.base.shift)
                for move in (0, 1, -1)
            )
        shared = float(1 - Fraction(self.rate)) * noise
        return shared + self.rate * up, shared + self.rate * down

    def mass_error(self, mass: Floats) -> Floats:
        return self.base.mass_error(mass)

    def reversed(self) -> "ExchangedIntegerPair":
        return self


def integer_exchange_pair(
    mechanism: DiscreteGaussian | DiscreteLaplace, rate: float
) -> DominatingPair:
    r"""The same for noise on the integers.

    Parameters: `mechanism`; `rate` ($\gamma$ in (0, 1)).
    Returns: an `ExchangedIntegerPair`, or a symmetric table of outcomes.
    Error: as the pairs say.
    Source: chapter 10, "Code: pairs for substitution".

    >>> pair = integer_exchange_pair(DiscreteLaplace(1.0), 0.5)
    >>> len(pair.p), pair.reversed() == pair
    (3, True)
    """
    check_number("rate", rate, 0, 1, "()")
    k = mechanism.sensitivity
    if isinstance(mechanism, DiscreteGaussian):
        base = IntegerGaussianPair(mechanism.sigma, k)
        return ExchangedIntegerPair(base, rate)
    # Outcomes beyond -k and k tell no more than these.
    x = np.arange(-k, k + 1)
    apart = np.abs(x - np.array([[0.0], [k]]))
    power = apart / mechanism.scale
    cells = np.exp(-power)
    if mechanism.scale < 1e9:  # a rounded large power costs digits
        scale = np.full(1, mechanism.scale)
        whole = power * scale
        rest = (apart - whole) - product_rest(power, scale, whole)
        cells -= cells * (rest / scale)
    p = float(1 - Fraction(rate)) * cells[0] + rate * cells[1]
    # For x > 0: ln(1 + rate (e^(-|x - k|/s) - e^(-(x + k)/s)) / q)
    gone = -np.expm1(-2 * x[k + 1 :] / mechanism.scale)
    up = np.log1p(rate * (cells[1, k + 1 :] / p[:k][::-1] * gone))
    losses = np.concatenate([-up[::-1], [0.0], up])
    p[1:-1] *= math.tanh(0.5 / mechanism.scale)
    p[[0, -1]] /= 1 + math.exp(-1 / mechanism.scale)
    return RoundedPair(p, p[::-1], tuple(losses.tolist()))


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
        check_number("group_size of a sampled mechanism", group_size, 1, 1e4)
        weights = binomial_weights(group_size, rate)
        sizes = list(map(float, range(group_size + 1)))
        means, shares, *rests = gaussian_terms(
            sizes, mechanism.noise_multiplier, weights
        )
        return ExchangedPair(means, shares, *rests)
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
    if isinstance(sampling, FixedBatch):
        exact = Fraction(sampling.batch_size, sampling.dataset_size)
        if exact < 1 and group_size > 1:
            raise NotImplementedError(
                f"adjacency='substitute', group_size={group_size}: no "
                "theorem of the book covers groups in fixed batches; "
                "substitute_delta_bound gives an upper bound where add and "
                "remove are covered"
            )
        if exact < 1:
            return exchanged_batch_pair(mechanism.exchange_pair(), exact)
    rate = sampling.rate if isinstance(sampling, Poisson) else 1.0
    if rate == 0:
        return DiscretePair((1.0,), (1.0,))
    if rate < 1:
        return poisson_exchange_pair(mechanism, rate, group_size)
    if group_size == 1:
        return mechanism.exchange_pair()
    bits = RandomizedResponse, PureDP, ApproximateDP
    moves = 1 if isinstance(mechanism, bits) else 2
    return group_pair(mechanism, FullBatch(), moves * group_size)
