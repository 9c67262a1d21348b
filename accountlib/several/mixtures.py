# Generated from notebooks/several/mixtures.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Mixtures of Gaussians

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $c_j$ | `sizes` | shifts of the sum, in clipping norms, $\ge 0$ |
| $\sigma$ | `noise` | standard deviation of the noise, in clipping norms |
| $w_j$ | `weights` | their probabilities |
| $\mu_j$ | `means` | shifts in standard deviations of the noise, $c_j/\sigma$ |
| $z$ | `z` | an output, in standard deviations of the noise |
| $\ell$, $\ell(z)$ | `losses`, `edges` | a loss, and the loss of the output $z$ |
| $s_j$ | `alone` | place where term $j$ alone would take the loss $\ell$ |
| $v_j$ | `shares` | share of term $j$ in the sum at the place of a loss |
| $W$ | `_log_below` | sum of the weights with the smallest means; its logarithm |
| $u$, $d$ | `widths`, `d` | width of a cell of losses, and the same cell in $z$ |
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, wraps
from itertools import accumulate

import numpy as np

from accountlib.inputs import (
    Floats,
    Params,
    Result,
    check_probabilities,
    check_range,
    front_door,
    read_only,
)
from accountlib.worst_cases.divergences import two_product
from accountlib.worst_cases.dominating_pairs import (
    Closed,
    DiscretePair,
    DominatingPair,
)
from accountlib.worst_cases.noise import GaussianPair, normal_masses, two_sum
from accountlib.worst_cases.sampling import SampledPair

__all__ = [
    "DECIMALS",
    "fifty_digits",
    "in_floats",
    "in_decimals",
    "log_whole",
    "totals",
    "WeightedGaussians",
    "distances",
    "no_end",
    "MixturePair",
    "gaussian_terms",
    "shown_weights",
    "gaussian_mixture",
    "mixture_pair",
]

# --- Numbers with more digits than a float

# A context of our own: precision and traps of the caller play no role.
DECIMALS = Context(50, ROUND_HALF_EVEN, -999999, 999999, traps=[])


def fifty_digits(
    function: Callable[Params, Result],
) -> Callable[Params, Result]:
    """Let a function compute with decimal numbers of 50 digits.

    >>> fifty_digits(lambda: Decimal(1) / 3)() * 3 == 1 - Decimal("1e-50")
    True
    """

    @wraps(function)
    def call(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        with localcontext(DECIMALS):
            return function(*args, **kwargs)

    return call


@fifty_digits
def in_floats(values: Sequence[Decimal], number: int) -> Floats:
    """Decimal numbers as unevaluated sums of floats.

    Parameters: `values`; `number` of floats for each.
    Returns: a read-only array with `number` rows.
    Error: each row has what the rows above leave, rounded.
    Source: Dekker (1971).

    >>> in_floats([Decimal("0.1")], 2)[1]
    array([-5.55111512e-18])
    """
    rows = np.zeros((number, len(values)))
    for column, value in enumerate(values):
        for row in rows:
            row[column] = float(value)
            value -= Decimal(float(row[column]))
    return read_only(rows)


@fifty_digits
def in_decimals(
    values: Sequence[float], rests: Sequence[float]
) -> list[Decimal]:
    """Decimal numbers from floats and what rounding took away, or nothing.

    >>> in_decimals((0.5, 1.0), ())
    [Decimal('0.5'), Decimal('1')]
    """
    rests = rests or (0.0,) * len(values)
    pairs = zip(values, rests, strict=True)
    return [Decimal(value) + Decimal(rest) for value, rest in pairs]


@fifty_digits
def log_whole(part: Decimal, rest: Decimal) -> Decimal:
    r"""$\ln(1 + r/p)$: minus the logarithm of the share of a part.

    Parameters: `part` (p > 0), `rest` ($r \ge 0$), what the whole has
    beside the part.
    Returns: a decimal number, accurate to 34 digits of itself.

    >>> float(log_whole(Decimal(1), Decimal("1e-50")))
    1e-50
    """
    ratio = rest / part
    if ratio < Decimal("1e-15"):  # r - r^2/2 + r^3/3
        return ratio * (1 - ratio * (Decimal("0.5") - ratio / 3))
    return (1 + ratio).ln()


@fifty_digits
def totals(weights: Sequence[Decimal]) -> list[Decimal]:
    """Sums of the first 0, 1, 2, ... numbers.

    >>> [int(x) for x in totals([Decimal(2), Decimal(3)])]
    [0, 2, 5]
    """
    return list(accumulate(weights, initial=Decimal(0)))


# --- What pairs of weighted Gaussians share


@dataclass(frozen=True)
class WeightedGaussians(DominatingPair):
    r"""What pairs of weighted unit Gaussians have in common.

    Formula: $\sum_j w_j N(\mu_j, 1)$, weights in proportion to $w_j$.

    Parameters: `means` ($\mu_j \ge 0$, increasing; positive ones in
    [1e-150, 1e150] and, if one exceeds 1000, within a factor of 1e12);
    `weights` ($w_j > 0$, sum 1), as many; `mean_rests` and
    `weight_rests`, what rounding took away from them, or nothing.
    Raises: ValueError for other means or weights.
    Source: Ganesh (2024), Definition 2.8.
    """

    means: tuple[float, ...]
    weights: tuple[float, ...]
    mean_rests: tuple[float, ...] = field(default=(), repr=False)
    weight_rests: tuple[float, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        means = check_range("means", self.means, 0, np.inf, "[)")
        check_probabilities("weights", self.weights)
        check_range("weights", self.weights, 0, 1, "(]")
        for name in ("weights", "mean_rests", "weight_rests"):
            number = len(getattr(self, name))
            if number != len(means) and (number or name == "weights"):
                raise ValueError(
                    f"means and {name} must have the same length, got "
                    f"{len(means)} and {number}"
                )
        if np.any(np.diff(means) <= 0):
            raise ValueError(f"means must increase, got {self.means!r}")
        seen = means[means > 0].tolist()
        if (
            not seen
            or seen[0] < 1e-150
            or seen[-1] > max(1e3, min(1e150, 1e12 * seen[0]))
        ):
            raise ValueError(
                "means: at least one must be positive, and positive ones lie "
                "in [1e-150, 1e+150] and, if one exceeds 1000, within a "
                f"factor of 1e+12 of each other, got {self.means!r}"
            )

    def mass_error(self, mass: Floats) -> Floats:
        return 2 * super().mass_error(mass)

    @property
    def loss_range(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @cached_property
    def _exact(self) -> tuple[list[Decimal], list[Decimal]]:
        """Means and weights, without rounding."""
        means = in_decimals(self.means, self.mean_rests)
        return means, in_decimals(self.weights, self.weight_rests)

    @cached_property
    def _sums(self) -> tuple[list[Decimal], list[Decimal]]:
        """Sums of the weights before each term, and of those after it."""
        weights = self._exact[1]
        return totals(weights), totals(weights[::-1])[-2::-1]

    @cached_property
    def _means(self) -> Floats:
        """Means, in two floats."""
        return in_floats(self._exact[0], 2)

    @cached_property
    @fifty_digits
    def _shares(self) -> Floats:
        """Weights that sum to 1."""
        whole = self._sums[0][-1]
        shares = in_floats([w / whole for w in self._exact[1]], 1)
        return np.asarray(shares[0])

    @cached_property
    @fifty_digits
    def _heights(self) -> Floats:
        r"""$\mu^2/2 - \ln w$ of each term, in three floats."""
        terms = zip(*self._exact, *self._sums, strict=False)
        heights = [
            mean * mean / 2 + log_whole(weight, before + after)
            for mean, weight, before, after in terms
        ]
        return in_floats(heights, 3)

    @cached_property
    def _log_below(self) -> Floats:
        """Logarithms of the sums of the first weights (none, one, two,
        ...), in two floats, as long as the means are at most 1.5."""
        small = sum(mean <= 1.5 for mean in self.means)
        sums, rests = self._sums[0][1 : small + 1], self._sums[1][:small]
        logs = [
            log_whole(*both).copy_negate()
            for both in zip(sums, rests, strict=True)
        ]
        rows = in_floats(logs, 2)
        return read_only(np.insert(rows, 0, [-np.inf, 0.0], axis=1))

    @abstractmethod
    def _cells(
        self, edges: Floats, widths: Floats, ends: tuple[bool, bool]
    ) -> tuple[Floats, Floats]:
        """Masses between edges; those outside are whole if `ends` says so."""

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        # In parts that share an edge and fit into the cache of a processor
        p, q = np.zeros(len(edges) + 1), np.zeros(len(edges) + 1)
        last, most = len(edges) - 1, max(1, 2**13 // len(self.means))
        for i in range(0, max(last, 1), most):
            j = min(i + most, last)
            ends = i == 0, j == last
            with np.errstate(all="ignore"):
                part = self._cells(edges[i : j + 1], widths[i:j], ends)
            some = slice(1 - ends[0], j - i + 1 + ends[1])
            where = slice(i + some.start, i + some.stop)
            p[where], q[where] = part[0][some], part[1][some]
        return p, q

    def _add_masses(
        self, mass: Floats, z: Floats, d: Floats, kept: slice, sign: int = 1
    ) -> None:
        """Add what the kept terms, at `sign` times their means, put on cells
        of widths d between places z (in two floats)."""
        means = sign * self._means[:, kept].T
        for (mean, rest), w in zip(means, self._shares[kept], strict=True):
            mass += w * normal_masses((z[0] - mean) + (z[1] - rest), d)


def distances(z: Floats, places: Floats) -> Floats:
    """Differences z - s of places in two floats, a row for each z.

    >>> distances(np.array([[1e20], [1.5]]), np.array([[[1e20]], [[1.0]]]))
    array([[0.5]])
    """
    high, low = z[:, :, None]
    return np.asarray((high - places[0]) + (low - places[1]))


def no_end(what: str, pair: object) -> ArithmeticError:
    """The error of an iteration that should have ended."""
    return ArithmeticError(f"the search for {what} did not end: {pair!r}")


# --- The pair of a mixture


@dataclass(frozen=True)
class MixturePair(WeightedGaussians):
    r"""Unit Gaussians of random mean against a centred one.

    Formula: $P = \sum_j w_j N(\mu_j, 1)$, $Q = N(0, 1)$; the loss
    $\ln \sum_j w_j e^{\mu_j z - \mu_j^2/2}$ increases with z.

    Parameters: as `WeightedGaussians`.
    Raises: ValueError for other means or weights.
    Error: rounding only, twice the default of `mass_error`, at every edge.
    Source: Ganesh (2024), Definition 2.8.

    >>> pair = MixturePair((1.0, 2.0), (0.5, 0.5))
    >>> round(pair.delta(1.0), 6)
    0.318399
    """

    @property
    def _first(self) -> int:
        """Number of the first term with a positive mean."""
        return int(self.means[0] == 0)

    @property
    def _lowest(self) -> Floats:
        """The lowest loss, in two floats."""
        return np.asarray(self._log_below[:, self._first])

    @property
    def loss_range(self) -> tuple[float, float]:
        return float(self._lowest[0]), math.inf

    def _alone(self, losses: Floats) -> Floats:
        """Where each term with a positive mean alone takes each loss."""
        mean, mean_rest = self._means[:, self._first :]
        high, middle, low = self._heights[:, self._first :]
        above, rest = two_sum(losses[:, None], high)
        above, more = two_sum(above, rest + middle)
        place = np.clip(above / mean, -1e200, 1e200)
        product, missed = two_product(place, mean)
        rest = (above - product) - missed
        rest = (rest + (more + low) - place * mean_rest) / mean
        rest = np.where(np.abs(place) < 1e200, rest, 0.0)
        return np.stack(two_sum(place, rest))

    def _places(
        self, losses: Floats, ends: tuple[bool, bool]
    ) -> tuple[Floats, slice, Floats]:
        """Where losses are taken, in two floats, the terms that count,
        and their shares. `ends`: keep all terms with small, large means."""
        mean, alone = self._means[0, self._first :], self._alone(losses)
        low, lower = self._lowest
        goal = np.log(-np.expm1((low - losses) + lower))
        nearest = np.argmin(alone[0] + goal[:, None] / mean, axis=1)
        z = alone[:, np.arange(len(losses)), nearest]
        z = np.stack(two_sum(z[0], z[1] + goal / mean[nearest]))
        # A term that is tiny here, right of the solution, is so there.
        powers = mean * distances(z, alone) - goal[:, None]
        powers += np.log(mean / mean[0])  # it may still count in the slope
        seen = np.flatnonzero(np.any(powers > -80, axis=0))
        begin = 0 if ends[0] else int(seen[0])
        end = len(mean) if ends[1] else int(seen[-1]) + 1
        mean, alone = mean[begin:end], alone[:, :, begin:end]
        kept = slice(self._first + begin, self._first + end)
        left = np.arange(len(losses))
        for _ in range(5000):
            powers = mean * distances(z[:, left], alone[:, left])
            shares = np.exp(powers - goal[left, None])
            total = np.sum(shares, axis=1)
            step = np.log(total) * total / (shares @ mean)
            z[:, left] = two_sum(z[0, left], z[1, left] - step)
            still = np.abs(total - 1) > 1e-4
            left = left[still & (np.abs(step) > 1e-30 * np.abs(z[0, left]))]
            if len(left) == 0:
                return self._refined(losses, z, kept, alone)
        raise no_end("a loss", self)

    def _refined(
        self, losses: Floats, z: Floats, kept: slice, alone: Floats
    ) -> tuple[Floats, slice, Floats]:
        """The same, with all digits: Newton's method for (grp-near)."""
        mean = self._means[0, kept]
        nearest = np.argmin(alone[0], axis=1)
        most = alone[:, np.arange(len(losses)), nearest]
        ready = False
        for _ in range(5000):
            shares, excess = self._excess(losses, z, kept, alone)
            slope = shares @ mean
            step = excess / slope
            z = np.stack(two_sum(z[0], z[1] - step))
            beyond = (z[0] - most[0]) + (z[1] - most[1]) > 0
            z = np.where(beyond, most, z)
            near = (np.abs(excess) < 1e-8) & (
                np.abs(step) < 1e-8 * (1 + np.abs(z[0]))
            )
            before = ready
            ready = bool(np.all(near | (np.abs(step) <= 1e-30 * np.abs(z[0]))))
            # What the last step misses is at most about half of this.
            missed = step**2 * (shares @ mean**2) / slope
            if ready and (before or np.all(missed < 1e-18)):
                moved = np.clip(mean * step[:, None], -1, 1)
                return z, kept, shares * np.exp(-moved)
        raise no_end("a loss", self)

    def _excess(
        self, losses: Floats, z: Floats, kept: slice, alone: Floats
    ) -> tuple[Floats, Floats]:
        """Shares at z, and the left side of eq. (grp-near)."""
        mean = self._means[0, kept]
        weights = self._shares[kept]
        powers = mean * ((z[0][:, None] - mean / 2) + z[1][:, None])
        alone = mean * distances(z, alone)
        factor = weights * np.exp(-np.clip(losses, -700, 700))[:, None]
        # A share in two ways: the smaller exponent has more digits.
        smaller = np.abs(powers) < np.abs(alone)
        smaller &= (factor > 1e-280) & (np.abs(losses) < 700)[:, None]
        shares = np.exp(np.where(smaller, powers, alone))
        shares *= np.where(smaller, factor, 1.0)
        # mu (|z| + mu/2) <= 1, solved for mu
        size = np.abs(z[0])
        limit = 2 / (size + np.sqrt(size**2 + 2))
        small = np.array(self.means[: self._log_below.shape[1] - 1])
        i = np.searchsorted(small, limit, side="right")
        start, rest = self._log_below[:, i]
        excess = np.expm1((start - losses) + rest)
        near = np.arange(len(weights)) + kept.start < i[:, None]
        parts = shares
        if np.any(near):
            growth = factor * np.expm1(np.where(near, powers, 0))
            parts = np.where(near, growth, shares)
        return shares, excess + np.sum(parts, axis=1)

    def _widths(self, widths: Floats, kept: slice, shares: Floats) -> Floats:
        """Widths in z of cells with these shares at their left ends."""
        mean = self._means[0, kept]
        logs, target = np.log(shares), np.expm1(widths)
        goal = (widths + np.log(-np.expm1(-widths)))[:, None]
        d = np.min(np.logaddexp(0, goal - logs) / mean, axis=1)
        d = np.minimum(d, widths / (shares @ mean))  # it is too wide, too
        left = np.arange(len(d))
        for _ in range(5000):
            reach = np.multiply.outer(d[left], mean)
            parts = logs[left] - goal[left] + reach
            slopes = np.exp(parts) * mean
            parts = np.exp(parts) * -np.expm1(-reach)
            total = np.sum(parts, axis=1)
            step = np.log(total) * total / (np.sum(slopes, axis=1) * d[left])
            d[left] *= np.exp(-step)
            left = left[~(np.abs(step) <= 1e-9)]
            if len(left) == 0:
                break
        else:
            raise no_end("a width", self)
        # A last step without logarithms, which cost digits.
        reach = np.multiply.outer(d, mean)
        grown = np.exp(logs + reach) - shares
        grown = np.where(
            reach < 1, shares * np.expm1(np.minimum(reach, 1)), grown
        )
        better = (np.sum(grown, axis=1) - target) / ((shares + grown) @ mean)
        return np.asarray(np.where(target < 1e300, d - better, d))

    def _cells(
        self, edges: Floats, widths: Floats, ends: tuple[bool, bool]
    ) -> tuple[Floats, Floats]:
        # All edges lie above the lowest loss.
        z, kept, shares = self._places(edges, ends)
        d = (z[0, 1:] - z[0, :-1]) + (z[1, 1:] - z[1, :-1])
        seen = (np.sum(shares[:-1], axis=1) > 0) & (widths > 0)
        narrow = np.flatnonzero((d < 1) & seen)
        if len(narrow):
            d[narrow] = self._widths(widths[narrow], kept, shares[narrow])
        q = normal_masses(z[0] + z[1], d)
        p = self._shares[0] * q if self._first else np.zeros(len(q))
        self._add_masses(p, z, d, kept)
        return p, q

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        p, q = np.zeros(len(edges) + 1), np.zeros(len(edges) + 1)
        inside = (edges - self._lowest[0]) - self._lowest[1] > 0
        first = len(edges) - int(np.count_nonzero(inside))
        far = edges > 1e100 * (1 + min(self.means[-1], 1e100)) ** 2
        last = max(len(edges) - int(np.count_nonzero(far)), first)
        if first == last:  # no edge lies where losses have any mass
            p[first] = q[first] = 1
            return p, q
        p[first : last + 1], q[first : last + 1] = super().interval_masses(
            edges[first:last], widths[first : last - 1], closed
        )
        return p, q


# --- From parameters to the simplest pair


@fifty_digits
def gaussian_terms(
    sizes: Sequence[float], noise: float, weights: Sequence[Decimal]
) -> tuple[tuple[float, ...], ...]:
    r"""Means and weights of a mixture, from exact parameters.

    Formula: $\mu_j = c_j/\sigma$; weights of equal sizes are added.

    Parameters: `sizes` ($c_j \ge 0$), `noise` ($\sigma > 0$), `weights`
    ($w_j \ge 0$), which need not be floats.
    Returns: means and weights as floats, without those of weight 0, and
    what rounding took away from either (nothing if all are floats).

    >>> gaussian_terms([0, 3], 2.0, [Decimal("0.75"), Decimal("0.25")])
    ((0.0, 1.5), (0.75, 0.25), (), ())
    """
    joined: dict[float, Decimal] = {}
    for size, weight in sorted(zip(sizes, weights, strict=True)):
        joined[float(size)] = joined.get(float(size), Decimal(0)) + weight
    joined = {c: w for c, w in joined.items() if float(w) > 0}
    means, mean_rests = in_floats(
        [Decimal(c) / Decimal(noise) for c in joined], 2
    )
    shares, rests = in_floats(list(joined.values()), 2)
    return (
        tuple(means.tolist()),
        tuple(shares.tolist()),
        tuple(mean_rests.tolist()) if np.any(mean_rests) else (),
        tuple(rests.tolist()) if np.any(rests) else (),
    )


def shown_weights(
    sizes: Sequence[float], weights: Sequence[Decimal]
) -> list[Decimal]:
    r"""Weights that floats can show, of a pair that is not better.

    Formula: weights below the smallest float become one such float, or
    their sum if that is larger, at the largest of their sizes.

    Parameters: `sizes` ($c_j \ge 0$), `weights` ($w_j \ge 0$).
    Returns: as many weights; they differ by less than 1e-320.

    >>> tiny = [Decimal(1), Decimal("1e-400"), Decimal("1e-500")]
    >>> [float(x) for x in shown_weights([0, 1, 2], tiny)]
    [1.0, 0.0, 5e-324]
    """
    lost = [i for i, x in enumerate(weights) if x > 0 and float(x) == 0]
    shown = [Decimal(0) if i in lost else x for i, x in enumerate(weights)]
    if lost:
        total = totals([weights[i] for i in lost])[-1]
        largest = max(lost, key=lambda i: sizes[i])
        shown[largest] = max(total, Decimal(5e-324))
    return shown


def gaussian_mixture(
    sizes: Sequence[float], noise: float, weights: Sequence[Decimal]
) -> DominatingPair:
    r"""The pair of a mixture of Gaussians, from exact parameters.

    Formula: $P = \sum_j w_j N(c_j/\sigma, 1)$, $Q = N(0, 1)$.

    Parameters: as `gaussian_terms`; the sum of the weights counts as 1.
    Returns: a DominatingPair.
    Raises: ValueError if $c_j/\sigma$ is out of range.
    Error: none, but for `shown_weights`; the pair keeps what rounding
    takes away.

    >>> gaussian_mixture([0, 1], 2.0, [Decimal("0.75"), Decimal("0.25")])
    SampledPair(base=GaussianPair(mu=0.5), rate=0.25)
    """
    weights = shown_weights(sizes, weights)
    means, shares, mean_rests, rests = gaussian_terms(sizes, noise, weights)
    kept = zip(sizes, weights, strict=True)
    if max(c for c, w in kept if float(w) > 0) == 0:
        return DiscretePair((1.0,), (1.0,))
    seen = [mean for mean in means if mean > 0]
    if not seen or seen[0] < 1e-150 or seen[-1] > 1e150:
        raise ValueError(
            "sensitivity / noise_multiplier must be 0 or lie in [1e-150, "
            f"1e+150], got {sizes!r} and noise_multiplier {noise!r}"
        )
    last = GaussianPair(means[-1], mean_rests[-1] if mean_rests else 0.0)
    if len(means) == 1:
        return last
    if len(means) == 2 and means[0] == 0:
        none, some = (
            Fraction(x) + Fraction(y)
            for x, y in zip(shares, rests or (0.0, 0.0), strict=True)
        )
        rate = some / (none + some)
        return SampledPair(last, float(rate), exact=rate)
    return MixturePair(means, shares, mean_rests, rests)


@front_door
def mixture_pair(means: Floats, weights: Floats) -> DominatingPair:
    r"""The pair of a mixture of Gaussians, in its simplest form.

    Formula: $P = \sum_j w_j N(\mu_j, 1)$, $Q = N(0, 1)$.

    Parameters: `means` ($\mu_j \ge 0$), `weights` ($w_j \ge 0$, sum 1),
    arrays of the same length.
    Returns: a GaussianPair for one positive mean and a SampledPair of it if
    the mean 0 has a weight, a MixturePair for several positive means, and
    equal lists for none.
    Raises: ValueError for other means (see `WeightedGaussians`) or weights.

    >>> mixture_pair(np.array([0.0, 1.0]), np.array([0.75, 0.25]))
    SampledPair(base=GaussianPair(mu=1.0), rate=0.25)
    """
    means = check_range("means", means, 0, np.inf, "[)")
    weights = check_probabilities("weights", weights).astype(np.float64)
    if means.shape != weights.shape:
        raise ValueError(
            "means and weights must have the same length, got "
            f"{means.shape} and {weights.shape}"
        )
    exact = [Decimal(x) for x in weights.tolist()]
    return gaussian_mixture(means.tolist(), 1.0, exact)
