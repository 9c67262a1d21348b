# Generated from notebooks/08_group_privacy.md by tools/tangle.py; do not edit.

"""Privacy of groups."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

import numpy as np

from accountlib.divergences import (
    Floats,
    check_count,
    check_number,
    check_probabilities,
    check_range,
    front_door,
)
from accountlib.privacy_loss import check_choice
from accountlib.renyi import Shifts, normal_shifts
from accountlib.worst_case_pairs import (
    ApproximateDP,
    Closed,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscretePair,
    DominatingPair,
    FixedBatch,
    FullBatch,
    Gaussian,
    GaussianPair,
    Laplace,
    LaplacePair,
    Mechanism,
    Poisson,
    PureDP,
    RandomizedResponse,
    SampledPair,
    Sampling,
    group_pair,
    normal_masses,
    quotient,
    two_sum,
)

__all__ = [
    "DECIMALS",
    "in_floats",
    "product_rest",
    "log_whole",
    "totals",
    "WeightedGaussians",
    "distances",
    "no_end",
    "in_parts",
    "MixturePair",
    "gaussian_terms",
    "shown_weights",
    "gaussian_mixture",
    "mixture_pair",
    "MixtureOfGaussians",
    "weights_from_ratios",
    "binomial_weights",
    "hypergeometric_weights",
    "binomial_sensitivity",
    "hypergeometric_sensitivity",
    "ChainPair",
    "rounded_down",
    "chain_pair",
    "gaussian_group_pair",
    "unsampled_group_pair",
    "mixture_shifts",
    "group_epsilon_vadhan",
]

# A context of our own: precision and traps of the caller play no role.
DECIMALS = Context(
    prec=50,
    rounding=ROUND_HALF_EVEN,
    Emin=-999999,
    Emax=999999,
    capitals=1,
    clamp=0,
    flags=[],
    traps=[],
)


def in_floats(values: Sequence[Decimal], number: int) -> Floats:
    """Decimal numbers as unevaluated sums of floats.

    Parameters: `values`; `number` of floats for each.
    Returns: a read-only array with `number` rows.
    Error: each row has what the rows above leave, rounded.
    Source: Dekker (1971); chapter 8, "The pair".

    >>> in_floats([Decimal("0.1")], 2)[1]
    array([-5.55111512e-18])
    """
    rows = np.zeros((number, len(values)))
    for column, value in enumerate(values):
        for row in rows:
            row[column] = float(value)
            part = Decimal(float(row[column]))
            value = DECIMALS.subtract(value, part)
    rows.flags.writeable = False
    return rows


def product_rest(a: Floats, b: Floats, product: Floats) -> Floats:
    """What rounding takes away from a product.

    Parameters: `a`, `b`, arrays, below 1e290 in size; `product`, a b
    rounded.
    Returns: a b - product, exact where no part of it underflows.
    Source: Dekker (1971), after Veltkamp.

    >>> a, b = np.array([1 + 2.0**-30]), np.array([1 - 2.0**-30])
    >>> product_rest(a, b, a * b) == -(2.0**-60)
    array([ True])
    """
    many = 2.0**27 + 1  # cuts a float into two halves
    a_top, b_top = (many * x - (many * x - x) for x in (a, b))
    a_low, b_low = a - a_top, b - b_top
    rest = (a_top * b_top - product) + a_top * b_low + a_low * b_top
    return np.asarray(rest + a_low * b_low)


def log_whole(part: Decimal, rest: Decimal) -> Decimal:
    r"""$\ln(1 + r/p)$: minus the logarithm of the share of a part.

    Parameters: `part` (p > 0), `rest` ($r \ge 0$), what the whole has
    beside the part.
    Returns: a decimal number, accurate to 34 digits of itself.
    Source: chapter 8, "The pair".

    >>> float(log_whole(Decimal(1), Decimal("1e-50")))
    1e-50
    """
    ratio = DECIMALS.divide(rest, part)
    if ratio < Decimal("1e-15"):  # r - r^2/2 + r^3/3
        inner = DECIMALS.divide(ratio, 3)
        for number in (Decimal("0.5"), Decimal(1)):
            inner = DECIMALS.multiply(ratio, DECIMALS.subtract(number, inner))
        return inner
    return DECIMALS.ln(DECIMALS.add(1, ratio))


def totals(weights: Sequence[Decimal]) -> list[Decimal]:
    """Sums of the first 0, 1, 2, ... numbers.

    >>> [int(x) for x in totals([Decimal(2), Decimal(3)])]
    [0, 2, 5]
    """
    return list(accumulate(weights, DECIMALS.add, initial=Decimal(0)))


@dataclass(frozen=True)
class WeightedGaussians(DominatingPair):
    r"""What pairs of weighted unit Gaussians have in common.

    Formula: $\sum_j w_j N(\mu_j, 1)$, weights in proportion to $w_j$.

    Parameters: `means` ($\mu_j \ge 0$, increasing; positive ones in
    [1e-150, 1e150] and, if one exceeds 1000, within a factor of 1e12);
    `weights` ($w_j > 0$, sum 1), as many; `mean_rests` and
    `weight_rests`, what rounding took away from them, or nothing.
    Raises: ValueError for other means or weights.
    Source: Ganesh (2024), Definition 2.8; chapter 8, "The pair".
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
        none = (0.0,) * len(self.means)
        means, weights = (
            [
                DECIMALS.add(Decimal(x), Decimal(y))
                for x, y in zip(values, rests or none, strict=True)
            ]
            for values, rests in (
                (self.means, self.mean_rests),
                (self.weights, self.weight_rests),
            )
        )
        return means, weights

    @cached_property
    def _means(self) -> Floats:
        """Means, in two floats."""
        return in_floats(self._exact[0], 2)

    @cached_property
    def _shares(self) -> Floats:
        """Weights that sum to 1."""
        whole = totals(self._exact[1])[-1]
        shares = [DECIMALS.divide(x, whole) for x in self._exact[1]]
        return np.asarray(in_floats(shares, 1)[0])

    @cached_property
    def _heights(self) -> Floats:
        r"""$\mu^2/2 - \ln w$ of each term, in three floats."""
        means, weights = self._exact
        below, above = totals(weights), totals(weights[::-1])[-2::-1]
        values = []
        for mean, weight, *rests in zip(
            means, weights, below[:-1], above, strict=True
        ):
            square = DECIMALS.multiply(mean, mean)
            log_weight = log_whole(weight, DECIMALS.add(*rests))
            half = DECIMALS.divide(square, 2)
            values.append(DECIMALS.add(half, log_weight))
        return in_floats(values, 3)

    @cached_property
    def _log_below(self) -> Floats:
        """Logarithms of the sums of the first weights (none, one, two,
        ...), in two floats, as long as the means are at most 1.5."""
        small = sum(mean <= 1.5 for mean in self.means)
        below = totals(self._exact[1])[1 : small + 1]
        above = totals(self._exact[1][::-1])[-2::-1]
        logs = [
            log_whole(part, rest).copy_negate()
            for part, rest in zip(below, above, strict=False)
        ]
        rows = np.insert(in_floats(logs, 2), 0, [-np.inf, 0.0], axis=1)
        rows.flags.writeable = False
        return rows


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


def in_parts(
    cells: Callable[
        [Floats, Floats, tuple[bool, bool]], tuple[Floats, Floats]
    ],
    edges: Floats,
    widths: Floats,
    terms: int,
) -> tuple[Floats, Floats]:
    """Interval masses in parts that share an edge and fit into the cache.

    Parameters: `cells(edges, widths, ends)`, masses of a part; the outer
    ones count at its `ends` only; `edges`, `widths`; number of `terms`.
    Returns: masses under P and Q.
    """
    p, q = np.zeros(len(edges) + 1), np.zeros(len(edges) + 1)
    last, most = len(edges) - 1, max(1, 2**13 // terms)
    for i in range(0, max(last, 1), most):
        j = min(i + most, last)
        ends = i == 0, j == last
        part = cells(edges[i : j + 1], widths[i:j], ends)
        some = slice(1 - ends[0], j - i + 1 + ends[1])
        where = slice(i + some.start, i + some.stop)
        p[where], q[where] = part[0][some], part[1][some]
    return p, q


@dataclass(frozen=True)
class MixturePair(WeightedGaussians):
    r"""Unit Gaussians of random mean against a centred one.

    Formula: $P = \sum_j w_j N(\mu_j, 1)$, $Q = N(0, 1)$; the loss
    $\ln \sum_j w_j e^{\mu_j z - \mu_j^2/2}$ increases with z.

    Parameters: as `WeightedGaussians`.
    Raises: ValueError for other means or weights.
    Error: rounding only, twice the default of `mass_error`, at every edge.
    Source: Ganesh (2024), Definition 2.8; chapter 8, "The pair".

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
        product = place * mean
        rest = (above - product) - product_rest(place, mean, product)
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
        kept = slice(
            0 if ends[0] else int(seen[0]),
            len(mean) if ends[1] else int(seen[-1]) + 1,
        )
        mean, alone = mean[kept], alone[:, :, kept]
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
        mean = self._means[0, self._first :][kept]
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
        mean = self._means[0, self._first :][kept]
        weights = self._shares[self._first :][kept]
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
        near = np.arange(len(weights)) + kept.start + self._first < i[:, None]
        if np.any(near):
            growth = factor * np.expm1(np.where(near, powers, 0))
            return shares, excess + np.sum(
                np.where(near, growth, shares), axis=1
            )
        return shares, excess + np.sum(shares, axis=1)

    def _widths(self, widths: Floats, kept: slice, shares: Floats) -> Floats:
        """Widths in z of cells with these shares at their left ends."""
        mean = self._means[0, self._first :][kept]
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
        """Masses between edges above the lowest loss; those of the two
        outer intervals are whole if `ends` says so."""
        z, kept, shares = self._places(edges, ends)
        d = (z[0, 1:] - z[0, :-1]) + (z[1, 1:] - z[1, :-1])
        seen = (np.sum(shares[:-1], axis=1) > 0) & (widths > 0)
        narrow = np.flatnonzero((d < 1) & seen)
        if len(narrow):
            d[narrow] = self._widths(widths[narrow], kept, shares[narrow])
        q = normal_masses(z[0] + z[1], d)
        p = self._shares[0] * q if self._first else np.zeros(len(q))
        means = self._means[:, self._first :][:, kept].T
        for (mean, rest), weight in zip(
            means, self._shares[self._first :][kept], strict=True
        ):
            p += weight * normal_masses((z[0] - mean) + (z[1] - rest), d)
        return p, q

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        p, q = np.zeros(len(edges) + 1), np.zeros(len(edges) + 1)
        with np.errstate(all="ignore"):
            inside = (edges - self._lowest[0]) - self._lowest[1] > 0
            first = len(edges) - int(np.count_nonzero(inside))
            if first == len(edges):  # every edge lies below the lowest loss
                p[-1] = q[-1] = 1
                return p, q
            cells = self._cells
            p[first:], q[first:] = in_parts(
                cells, edges[first:], widths[first:], len(self.means)
            )
        return p, q


def gaussian_terms(
    sizes: Sequence[float], noise: float, weights: Sequence[Decimal]
) -> tuple[tuple[float, ...], ...]:
    r"""Means and weights of a mixture, from exact parameters.

    Formula: $\mu_j = c_j/\sigma$; weights of equal sizes are added.

    Parameters: `sizes` ($c_j \ge 0$), `noise` ($\sigma > 0$), `weights`
    ($w_j \ge 0$), which need not be floats.
    Returns: means and weights as floats, without those of weight 0, and
    what rounding took away from either (nothing if all are floats).
    Source: chapter 8, "The pair".

    >>> gaussian_terms([0, 3], 2.0, [Decimal("0.75"), Decimal("0.25")])
    ((0.0, 1.5), (0.75, 0.25), (), ())
    """
    joined: dict[float, Decimal] = {}
    for size, weight in sorted(zip(sizes, weights, strict=True)):
        before = joined.get(float(size), Decimal(0))
        joined[float(size)] = DECIMALS.add(before, weight)
    joined = {c: w for c, w in joined.items() if float(w) > 0}
    means, mean_rests = in_floats(
        [DECIMALS.divide(Decimal(c), Decimal(noise)) for c in joined], 2
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
    Source: chapter 8, "The pair".

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
    Source: chapter 8, "The pair".

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
    Source: chapter 8, "The pair".

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


@dataclass(frozen=True)
class MixtureOfGaussians(Mechanism):
    r"""Gaussian noise on a sum to which a record adds a random amount.

    Formula: $P = \sum_j w_j N(c_j, \sigma^2)$, $Q = N(0, \sigma^2)$.

    Parameters: `sensitivities` ($c_j \ge 0$, in clipping norms),
    `probabilities` ($w_j$, sum 1), two lists of the same length;
    `noise_multiplier` ($\sigma > 0$).
    Raises: ValueError for values outside these ranges.
    Error: none in the pair; rounding as `MixturePair`.
    Source: Ganesh (2024), Definition 2.8; chapter 8.

    >>> MixtureOfGaussians([0, 1], [0.75, 0.25], 2.0).pair()
    SampledPair(base=GaussianPair(mu=0.5), rate=0.25)
    """

    sensitivities: Sequence[float]
    probabilities: Sequence[float]
    noise_multiplier: float

    def __post_init__(self) -> None:
        shifts = check_range("sensitivities", self.sensitivities, 0, np.inf)
        check_range("sensitivities", shifts, 0, np.inf, "[)")
        weights = check_probabilities("probabilities", self.probabilities)
        if shifts.shape != weights.shape:
            raise ValueError(
                "sensitivities and probabilities must have the same length, "
                f"got {shifts.shape} and {weights.shape}"
            )
        noise = check_number(
            "noise_multiplier", self.noise_multiplier, 0, np.inf, "()"
        )
        weights = weights.astype(np.float64)
        object.__setattr__(self, "sensitivities", tuple(shifts.tolist()))
        object.__setattr__(self, "probabilities", tuple(weights.tolist()))
        object.__setattr__(self, "noise_multiplier", noise)

    def pair(self) -> DominatingPair:
        weights = [Decimal(x) for x in self.probabilities]
        return gaussian_mixture(
            self.sensitivities, self.noise_multiplier, weights
        )

    def exchange_pair(self) -> DominatingPair:
        raise NotImplementedError(
            "MixtureOfGaussians: no theorem of the book covers the exchange "
            "of a record, which a fixed batch needs"
        )


def weights_from_ratios(
    first: Decimal, ratios: Iterable[tuple[Decimal | int, Decimal | int]]
) -> list[Decimal]:
    r"""Probabilities from the first of them and the ratios of neighbours.

    Formula: $w_{j+1} = w_j a_j / b_j$.

    Parameters: `first` ($w_0$); `ratios`, the numbers $a_j, b_j$.
    Returns: one probability more than there are ratios.
    Error: below 1e-49 times the number of ratios, relatively.
    Source: chapter 8, "The mechanism and its weights".

    >>> first = Decimal("0.25")
    >>> [float(x) for x in weights_from_ratios(first, [(2, 1), (1, 2)])]
    [0.25, 0.5, 0.25]
    """
    weights = [first]
    for a, b in ratios:
        more = DECIMALS.multiply(weights[-1], a)
        weights.append(DECIMALS.divide(more, b))
    return weights


def binomial_weights(size: int, rate: float) -> list[Decimal]:
    r"""Probabilities of 0, ..., k members in a Poisson sample.

    Formula: $\binom{k}{j} \gamma^j (1 - \gamma)^{k-j}$.

    Parameters: `size` (k); `rate` ($\gamma$ in (0, 1), taken as exact).
    Returns: k + 1 decimal numbers of about 45 digits.
    Source: Ganesh (2024), Theorem 3.1; chapter 8.

    >>> [float(x) for x in binomial_weights(2, 0.5)]
    [0.25, 0.5, 0.25]
    """
    stay = DECIMALS.subtract(1, Decimal(rate))
    odds = DECIMALS.divide(Decimal(rate), stay)
    ratios = ((DECIMALS.multiply(size - j, odds), j + 1) for j in range(size))
    return weights_from_ratios(DECIMALS.power(stay, size), ratios)


def hypergeometric_weights(
    size: int, batch: int, records: int
) -> list[Decimal]:
    r"""Probabilities of 0, 1, ... members in a batch of fixed size.

    Formula: $\binom{k}{j} \binom{n-k}{b-j} / \binom{n}{b}$.

    Parameters: `size` (k), `batch` (b), `records` (n), $b \le n - k$.
    Returns: min(k, b) + 1 decimal numbers of about 45 digits.
    Source: Ganesh (2024), Theorem 3.3; chapter 8.

    >>> [float(x) for x in hypergeometric_weights(1, 1, 4)]
    [0.75, 0.25]
    """
    none = weights_from_ratios(
        Decimal(1), ((records - batch - i, records - i) for i in range(size))
    )[-1]
    ratios = (
        ((size - j) * (batch - j), (j + 1) * (records - size - batch + j + 1))
        for j in range(min(size, batch))
    )
    return weights_from_ratios(none, ratios)


@front_door
def binomial_sensitivity(
    group_size: int, *, rate: float
) -> tuple[Floats, Floats]:
    r"""By how much a group can move the sum over a Poisson sample.

    Formula: $c_j = j$ with probability $\binom{k}{j} \gamma^j (1 -
    \gamma)^{k-j}$.

    Parameters: `group_size` (k, a whole number from 1 to 1e4); `rate`
    ($\gamma$ in [0, 1]).
    Returns: sensitivities 0, ..., k in clipping norms, and their
    probabilities, two arrays.
    Raises: ValueError for values outside these ranges.
    Error: the probabilities are rounded once.
    Source: Ganesh (2024), Theorem 3.1; chapter 8.

    >>> binomial_sensitivity(2, rate=0.5)[1]
    array([0.25, 0.5 , 0.25])
    """
    size = check_count("group_size", group_size)
    check_number("group_size", size, 1, 1e4)
    rate = check_number("rate", rate, 0, 1)
    j = np.arange(size + 1.0)
    if rate in (0, 1):
        return j, np.where(j == rate * size, 1.0, 0.0)
    return j, np.array([float(x) for x in binomial_weights(size, rate)])


@front_door
def hypergeometric_sensitivity(
    group_size: int, *, batch_size: int, dataset_size: int
) -> tuple[Floats, Floats]:
    r"""By how much a group can move the sum over a batch of fixed size.

    Formula: $c_j = 2 j$ with probability $\binom{k}{j} \binom{n-k}{b-j} /
    \binom{n}{b}$.

    Parameters: `group_size` (k, a whole number from 1 to 1e4);
    `dataset_size` (n) of the larger neighbour, group included;
    `batch_size` (b from 1 to n - k), so that the smaller one fills it.
    Returns: sensitivities 0, 2, ..., 2 min(k, b) in clipping norms, and
    their probabilities, two arrays.
    Raises: ValueError for values outside these ranges.
    Error: the probabilities are rounded once.
    Source: Ganesh (2024), Theorem 3.3; chapter 8.

    >>> hypergeometric_sensitivity(1, batch_size=1, dataset_size=4)
    (array([0., 2.]), array([0.75, 0.25]))
    """
    size = check_count("group_size", group_size)
    check_number("group_size", size, 1, 1e4)
    batch = check_count("batch_size", batch_size)
    records = check_count("dataset_size", dataset_size)
    if batch > records - size:
        raise ValueError(
            "batch_size must lie in [1, dataset_size - group_size = "
            f"{records - size}], got {batch_size!r}"
        )
    weights = hypergeometric_weights(size, batch, records)
    sizes = 2.0 * np.arange(len(weights))
    return sizes, np.array([float(x) for x in weights])


@dataclass(frozen=True)
class ChainPair(DiscretePair):
    r"""The worst pair at the ends of a chain of k neighbours.

    Formula: losses $(2m - k) \varepsilon$, as eq. (grp-step) gives them.

    Parameters: `p`, `q` as `DiscretePair`; `losses` of the outcomes that
    both have, which the ratio of two floats would not show where epsilon
    is tiny.
    Error: rounding only, as `DiscretePair`; losses to 1.2e-16.
    Source: Dong, Roth and Su (2022), Theorem 2.14; chapter 8, "Chains of
    neighbours".

    >>> chain_pair(1.0, 0.0, 2).atoms
    (-2.0, 0.0, 2.0)
    """

    losses: tuple[float, ...] = ()

    @cached_property
    def _finite(self) -> tuple[Floats, Floats, Floats]:
        p, q = np.array(self.p), np.array(self.q)
        both = (p > 0) & (q > 0)
        rows = np.stack([np.array(self.losses), p[both], q[both]])
        rows = rows[:, np.argsort(rows[0])]
        rows.flags.writeable = False
        return rows[0], rows[1], rows[2]

    def reversed(self) -> "ChainPair":
        return self


def rounded_down(value: Decimal) -> tuple[float, ...]:
    """A number from 0 to 1 as a float below it and, if needed, the rest.

    Parameters: `value`.
    Returns: one or two floats, none negative.
    Error: that of the rest: 1.2e-16 of it.
    Source: chapter 8, "Chains of neighbours".

    >>> rounded_down(Decimal("0.5")), rounded_down(Decimal("0.1"))[0] < 0.1
    ((0.5,), True)
    """
    first = float(value)
    if Decimal(first) > value:
        first = math.nextafter(first, 0.0)
    rest = float(DECIMALS.subtract(value, Decimal(first)))
    return (first, rest) if rest > 0 else (first,)


def chain_pair(epsilon: float, delta: float, size: int) -> DominatingPair:
    r"""What k steps of an (epsilon, delta)-DP mechanism reach.

    Formula: $P_k([0, x]) = g^{\circ k}(x)$ against $P_0([0, x]) = x$, with
    g of eq. (grp-step).

    Parameters: `epsilon` ($\varepsilon \ge 0$), `delta` ($\delta \in [0,
    1]$), `size` (k from 1 to 1e5), $k \varepsilon \le 700$.
    Returns: a DominatingPair, equal to its reverse.
    Raises: ValueError for values outside these ranges.
    Error: none; masses are rounded a few times.
    Source: Dong, Roth and Su (2022), Theorem 2.14; chapter 8, "Chains of
    neighbours".

    >>> round(chain_pair(1.0, 0.0, 2).delta(0.0), 6)  # 1 - 1/e
    0.632121
    """
    check_number("group_size", size, 1, 1e5)
    if size * epsilon > 700:
        raise ValueError(
            f"group_size * epsilon must lie in [0, 700], got {size} * "
            f"{epsilon!r}"
        )
    add, subtract = DECIMALS.add, DECIMALS.subtract
    d, growth = Decimal(delta), DECIMALS.exp(Decimal(epsilon))
    one, told = Decimal(1), [Decimal(0)]  # a_n: n steps may tell all
    ends = [DECIMALS.divide(subtract(one, d), add(one, growth))]
    for step in range(1, size + 1):
        told.append(add(d, DECIMALS.multiply(growth, told[-1])))
        end = DECIMALS.divide(subtract(ends[-1], d), growth)
        if step == size or end <= 0:
            break
        ends.append(end)
    up = len(ends)  # at most so many steps up leave something open
    down = size - up
    sure, masses = one, []
    if up >= down:
        rest = subtract(subtract(one, told[up]), told[down])
        rest = DECIMALS.divide(rest, DECIMALS.power(growth, down))
        sure = told[size] if down == 0 else subtract(one, rest)
        masses = [float(rest)]
    if up > down:
        slope = (1 - delta) * math.tanh(epsilon / 2) + delta
        last = DECIMALS.power(growth, up - down)
        masses = [float(ends[-1])]
        for step in range(up - 1, down, -1):
            masses.append(slope * math.exp(-step * epsilon))
        masses.append(float(DECIMALS.multiply(last, ends[-1])))
    if masses and masses[0] <= 0:
        sure, masses = one, []
    rows = [
        (p, q, (2 * m - size) * epsilon)
        for m, q, p in zip(
            range(up, down - 1, -1), masses, masses[::-1], strict=False
        )
        if min(p, q) > 0
    ]
    p, q, losses = zip(*rows, strict=True) if rows else ((), (), ())
    lost = rounded_down(sure)
    none = (0.0,) * len(lost)
    return ChainPair((*lost, *p, *none), (*none, *q, *lost[::-1]), losses)


@group_pair.register
def gaussian_group_pair(
    mechanism: Gaussian, sampling: Sampling, group_size: int
) -> DominatingPair:
    r"""The pair of a Gaussian step for a group that is removed.

    Formula: a mixture of Gaussians with binomial (Poisson sampling) or
    twice hypergeometric (fixed batch) sensitivities; k without sampling.

    Parameters: as `group_pair`.
    Returns: a DominatingPair, reached by data sets whose vectors are all
    equal.
    Raises: NotImplementedError if a batch misses the whole group with a
    chance below 1e-300.
    Source: Ganesh (2024), Theorems 3.1 and 3.3; chapter 8.

    >>> gaussian_group_pair(Gaussian(2.0), Poisson(1.0), 3)
    GaussianPair(mu=1.5)
    """
    noise, move = mechanism.noise_multiplier, 1.0
    rate = sampling.rate if isinstance(sampling, Poisson) else 1.0
    if rate == 0:
        return DiscretePair((1.0,), (1.0,))
    if rate == 1 and not isinstance(sampling, FixedBatch):
        return gaussian_mixture([float(group_size)], noise, [Decimal(1)])
    check_number("group_size of a sampled mechanism", group_size, 1, 1e4)
    if isinstance(sampling, FixedBatch):
        weights, move = (
            hypergeometric_weights(
                group_size, sampling.batch_size, sampling.dataset_size
            ),
            2.0,
        )
    else:
        weights = binomial_weights(group_size, rate)
    if weights[0] < Decimal("1e-300"):  # it limits the losses of add
        raise NotImplementedError(
            f"group_size={group_size}: the chance that nobody of the group "
            "is in a batch is below 1e-300; a full batch is an upper bound"
        )
    sizes = [move * j for j in range(len(weights))]
    return gaussian_mixture(sizes, noise, weights)


@group_pair.register(Laplace)
@group_pair.register(PureDP)
@group_pair.register(ApproximateDP)
@group_pair.register(RandomizedResponse)
@group_pair.register(DiscreteGaussian)
@group_pair.register(DiscreteLaplace)
def unsampled_group_pair(
    mechanism: Mechanism, sampling: Sampling, group_size: int
) -> DominatingPair:
    r"""The pair of an unsampled run for a group that is removed.

    Formula: Laplace: scale s/k. Noise on the integers: k times the
    sensitivity. PureDP and ApproximateDP: `chain_pair`.
    RandomizedResponse: the same pair.

    Parameters: as `group_pair`; `sampling` must be a full batch.
    Returns: a DominatingPair, reached by a mechanism of this kind.
    Raises: NotImplementedError for a sampled mechanism; ValueError where
    the parameters for the group leave the ranges of the mechanism.
    Source: Dong, Roth and Su (2022), Theorem 2.14; chapter 8, "Groups for
    other mechanisms".

    >>> unsampled_group_pair(Laplace(1.0), FullBatch(), 4)
    LaplacePair(scale=0.25)
    """
    if sampling == Poisson(0.0):
        return DiscretePair((1.0,), (1.0,))
    if sampling not in (FullBatch(), Poisson(1.0)):
        raise NotImplementedError(
            f"group_size={group_size}: groups in samples are known for "
            f"Gaussian noise only, got {mechanism!r} with {sampling!r}"
        )
    if isinstance(mechanism, RandomizedResponse):
        return mechanism.pair()
    if isinstance(mechanism, PureDP):
        return chain_pair(mechanism.epsilon, 0.0, group_size)
    if isinstance(mechanism, ApproximateDP):
        return chain_pair(mechanism.epsilon, mechanism.delta, group_size)
    try:
        if isinstance(mechanism, Laplace):
            scale, rest = map(float, quotient(mechanism.scale, group_size))
            return LaplacePair(scale, rest)
        if isinstance(mechanism, (DiscreteGaussian, DiscreteLaplace)):
            shift = group_size * mechanism.sensitivity
            return replace(mechanism, sensitivity=shift).pair()
    except ValueError as error:
        raise ValueError(
            f"group_size={group_size} with {mechanism!r}: {error}"
        ) from None
    raise NotImplementedError(f"no rule for groups with {mechanism!r}")


@normal_shifts.register
def mixture_shifts(pair: MixturePair) -> Shifts:
    """Shifts of a mixture of Gaussians, for its Renyi curve.

    Parameters: `pair`; its weights are made to sum to 1.
    Returns: as `normal_shifts`.
    Source: chapter 7, "One curve for a whole run".

    >>> mixture_shifts(MixturePair((1.0, 2.0), (0.5, 0.5)))
    ((1.0, 2.0), (0.5, 0.5), 0.0)
    """
    return pair.means, tuple(pair._shares.tolist()), 0.0


@front_door
def group_epsilon_vadhan(
    group_size: int,
    *,
    log_delta: Callable[[float], float],
    delta: float,
    rule: str = "sum",
) -> float:
    r"""Epsilon for a group from the privacy curve of one record.

    Formula: k times an $\varepsilon$, nearly the smallest, with $\log\delta(
    \varepsilon) + \log f(\varepsilon) \le \log\delta$, where f is
    $\frac{e^{k\varepsilon} - 1}{e^\varepsilon - 1}$ ("sum") or
    $k e^{k\varepsilon}$ ("vadhan").

    Parameters: `group_size` (k, a whole number >= 1); `log_delta`, a
    function that gives an upper bound of the logarithm of the delta of one
    record at an epsilon >= 0; `delta` ($\delta$ in (0, 1)) for the group;
    `rule`, "sum" or "vadhan".
    Returns: an upper bound of epsilon for the group; inf if there is no
    such epsilon up to 1e9.
    Raises: ValueError for values outside these ranges.
    Error: the search ends within 1e-12, relatively, above a solution.
    Source: Vadhan (2017), Lemma 2.2; chapter 8, eq. (grp-vadhan).

    >>> curve = lambda e: -e * e / 2  # a Gaussian tail
    >>> round(group_epsilon_vadhan(1, log_delta=curve, delta=1e-6), 6)
    5.256522
    """
    size = check_count("group_size", group_size)
    check_number("group_size", size, 1, 1e15)
    goal = math.log(check_number("delta", delta, 0, 1, "()"))
    check_choice("rule", rule, ("sum", "vadhan"))
    if not callable(log_delta):
        raise ValueError(f"log_delta must be a function, got {log_delta!r}")

    def excess(epsilon: float) -> float:
        factor = math.log(size) + size * epsilon
        if rule == "sum" and epsilon > 0:
            shrink = math.log(-math.expm1(-size * epsilon))
            shrink -= math.log(-math.expm1(-epsilon))
            factor = (size - 1) * epsilon + shrink
        elif rule == "sum":
            factor = math.log(size)
        return check_number(
            "log_delta(epsilon)", log_delta(epsilon), -np.inf, 0
        ) + (factor - goal)

    low, high = 0.0, 0.0
    if excess(0.0) <= 0:
        return 0.0
    for high in np.geomspace(1e-6, 1e9, 301).tolist():
        if excess(high) <= 0:
            break
        low = high
    else:
        return math.inf
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) <= 0 else (middle, high)
    return float(size * high)
