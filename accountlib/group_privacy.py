# Generated from notebooks/08_group_privacy.md by tools/tangle.py; do not edit.

"""Privacy of groups."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import cached_property

import numpy as np

from accountlib.divergences import (
    Floats,
    check_count,
    check_number,
    check_probabilities,
    check_range,
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
)

__all__ = [
    "MixturePair",
    "MostlySampledPair",
    "mixture_pair",
    "MixtureOfGaussians",
    "weights_from_ratios",
    "binomial_sensitivity",
    "hypergeometric_sensitivity",
    "gaussian_group_pair",
    "unsampled_group_pair",
    "mixture_shifts",
    "group_epsilon_vadhan",
]


@dataclass(frozen=True)
class MixturePair(DominatingPair):
    r"""Unit Gaussians of random positive mean against a centred one.

    Formula: $P = \sum_j w_j N(\mu_j, 1)$, $Q = N(0, 1)$; the loss
    $\ln \sum_j w_j e^{\mu_j z - \mu_j^2/2}$ increases with z.

    Parameters: `means` ($\mu_j > 0$), `weights` ($w_j > 0$, sum 1), two
    tuples of the same length.
    Raises: ValueError for other means or weights.
    Error: rounding only; relative error of masses below 1e-10 in both
    tails.
    Source: Ganesh (2024), Definition 2.8; chapter 8, "The pair".

    >>> pair = MixturePair((1.0, 2.0), (0.5, 0.5))
    >>> round(pair.delta(1.0), 6)
    0.318399
    """

    means: tuple[float, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        check_range("means", self.means, 0, np.inf, "()")
        check_probabilities("weights", self.weights)
        check_range("weights", self.weights, 0, 1, "(]")
        if len(self.means) != len(self.weights):
            raise ValueError(
                "means and weights must have the same length, got "
                f"{len(self.means)} and {len(self.weights)}"
            )

    @property
    def loss_range(self) -> tuple[float, float]:
        return -math.inf, math.inf

    @cached_property
    def _terms(self) -> tuple[Floats, Floats]:
        # slope and height at z = 0 of each exponent
        means = np.array(self.means)
        return means, np.log(self.weights) - means**2 / 2

    @cached_property
    def _log_weights(self) -> Floats:
        return np.asarray(np.log(self.weights))

    def _loss(self, z: Floats) -> tuple[Floats, Floats]:
        """Loss at z, and the shares of the terms, a row for each z."""
        means, _ = self._terms
        powers = np.multiply.outer(z, means) - means**2 / 2
        exponents = powers + self._log_weights
        top = np.max(exponents, axis=1, keepdims=True)
        parts = np.exp(exponents - top)
        total = np.sum(parts, axis=1, keepdims=True)
        loss = (top + np.log(total))[:, 0]
        # Near 0 in digits of the loss, not of 1.
        excess = np.expm1(np.clip(powers, -1, 1))
        near = np.log1p(np.sum(np.array(self.weights) * excess, axis=1))
        small = np.max(np.abs(powers), axis=1) < 0.5
        return np.where(small, near, loss), np.asarray(parts / total)

    def _places(self, losses: Floats) -> tuple[Floats, Floats]:
        """Where the losses are taken, and the shares of the terms there."""
        means, heights = self._terms
        z = np.min((losses[:, None] - heights) / means, axis=1)
        for _ in range(100):
            value, shares = self._loss(z)
            move = (value - losses) / (shares @ means)
            z = z - move
            if np.all(np.abs(move) <= 1e-10 * (1e-3 + np.abs(z))):
                break  # the next move would be about its square
        return z, shares

    def _widths(self, shares: Floats, widths: Floats) -> Floats:
        """Widths in z of cells with the given shares at their left ends."""
        means, _ = self._terms
        d = widths / (shares @ means)  # too wide, since the loss is convex
        d = np.minimum(d, np.min((widths[:, None] + 40) / means, axis=1))
        for _ in range(100):
            growth = np.expm1(np.minimum(np.multiply.outer(d, means), 700))
            value = np.sum(shares * growth, axis=1)
            slope = np.sum(shares * means * (1 + growth), axis=1)
            move = (np.log1p(value) - widths) * ((1 + value) / slope)
            d = d - move
            if np.all(np.abs(move) <= 1e-10 * d):
                break
        return np.asarray(d)

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        z, shares = self._places(edges)
        d = self._widths(shares[:-1], widths)
        parts = [
            weight * normal_masses(z - mean, d)
            for mean, weight in zip(self.means, self.weights, strict=True)
        ]
        return np.sum(parts, axis=0), normal_masses(z, d)


@dataclass(frozen=True)
class MostlySampledPair(SampledPair):
    r"""A sampled pair that knows the chance not to be sampled by itself.

    Formula: $(w_0 Q + (1 - w_0) P,\; Q)$.

    Parameters: `base`, the pair (P, Q); `rate`, $1 - w_0$ rounded; `rest`
    ($w_0$ in (0, 1/2)).
    Raises: ValueError for values outside these ranges.
    Error: as `SampledPair`, relative to w_0.
    Source: chapter 8, "The pair".

    >>> pair = MostlySampledPair(GaussianPair(1.0), 1 - 2.0**-53, 1e-30)
    >>> round(pair.loss_range[0] / math.log(10), 12)
    -30.0
    """

    rest: float = 0.25

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("rest", self.rest, 0, 0.5, "()")

    @property
    def missed(self) -> float:
        return self.rest

    @cached_property
    def _lowest(self) -> tuple[float, float]:
        with localcontext(prec=50):
            exact = Decimal(self.rest).ln()
            high = float(exact)
            return high, float(exact - Decimal(high))


def mixture_pair(means: Floats, weights: Floats) -> DominatingPair:
    r"""The pair of a mixture of Gaussians, in its simplest form.

    Formula: $P = \sum_j w_j N(\mu_j, 1)$, $Q = N(0, 1)$.

    Parameters: `means` ($\mu_j \ge 0$), `weights` ($w_j \ge 0$, sum 1),
    arrays of the same length.
    Returns: a GaussianPair for one positive mean, a MixturePair for
    several, a SampledPair of these if the mean 0 has a weight, and equal
    lists if nothing else has.
    Raises: ValueError for other means (positive ones must lie in [1e-150,
    1e150]) or weights.
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
    if np.any((means > 0) & ((means < 1e-150) | (means > 1e150))):
        raise ValueError(
            "sensitivity / noise_multiplier must be 0 or lie in "
            f"[1e-150, 1e+150], got {means!r}"
        )
    each, place = np.unique(means, return_inverse=True)
    total = np.bincount(place, weights, len(each))
    kept = (each > 0) & (total > 0)
    rate, rest = math.fsum(total[kept]), math.fsum(total[each == 0])
    if rate == 0:
        return DiscretePair((1.0,), (1.0,))
    mu, shares = each[kept], total[kept] / rate
    base: DominatingPair = GaussianPair(float(mu[0]))
    if len(mu) > 1:
        base = MixturePair(tuple(mu.tolist()), tuple(shares.tolist()))
    if rest == 0:
        return base
    if rest < 0.5:
        return MostlySampledPair(base, min(rate, 1 - 2.0**-53), rest)
    return SampledPair(base, rate)


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
        means = np.array(self.sensitivities) / self.noise_multiplier
        return mixture_pair(means, np.array(self.probabilities))

    def exchange_pair(self) -> DominatingPair:
        raise NotImplementedError(
            "MixtureOfGaussians: no theorem of the book covers the exchange "
            "of a record, which a fixed batch needs"
        )


def weights_from_ratios(ratios: Floats) -> Floats:
    r"""Probabilities from the ratios of neighbours.

    Formula: $w_{j+1} = r_j w_j$, sum 1.

    Parameters: `ratios` ($r_j \ge 0$, decreasing), a 1-d array.
    Returns: one probability more than there are ratios.
    Error: relative error below 1e-15 times the number of ratios, down to
    the smallest float.
    Source: chapter 8, "The mechanism and its weights".

    >>> weights_from_ratios(np.array([2.0, 0.5]))
    array([0.25, 0.5 , 0.25])
    """
    top = int(np.count_nonzero(ratios >= 1))
    right = np.cumprod(ratios[top:])
    left = np.cumprod(1 / ratios[:top][::-1])[::-1]
    weights = np.concatenate([left, [1.0], right])
    return np.asarray(weights / math.fsum(weights))


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
    Error: relative error of the probabilities below 1e-15 k.
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
    if size == 1:
        return j, np.array([1 - rate, rate])
    ratios = (size - j[:-1]) / (j[:-1] + 1) * (rate / (1 - rate))
    return j, weights_from_ratios(ratios)


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
    Error: relative error of the probabilities below 1e-15 k.
    Source: Ganesh (2024), Theorem 3.3; chapter 8.

    >>> hypergeometric_sensitivity(1, batch_size=1, dataset_size=4)
    (array([0., 2.]), array([0.75, 0.25]))
    """
    size = check_count("group_size", group_size)
    check_number("group_size", size, 1, 1e4)
    batch = check_count("batch_size", batch_size)
    records = check_count("dataset_size", dataset_size)
    check_number("batch_size", batch, 1, records - size)
    if size == 1:
        rate = batch / records
        return np.array([0.0, 2.0]), np.array([1 - rate, rate])
    j = np.arange(min(size, batch) + 1.0)
    left = j[:-1]
    ratios = (size - left) / (left + 1) * (batch - left)
    ratios /= records - size - batch + left + 1
    return 2 * j, weights_from_ratios(ratios)


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
    if isinstance(sampling, FixedBatch):
        sizes, weights = hypergeometric_sensitivity(
            group_size,
            batch_size=sampling.batch_size,
            dataset_size=sampling.dataset_size,
        )
    else:
        rate = sampling.rate if isinstance(sampling, Poisson) else 1.0
        sizes, weights = binomial_sensitivity(group_size, rate=rate)
        if rate == 1:
            return GaussianPair(group_size / mechanism.noise_multiplier)
    if weights[0] < 1e-300:  # it limits the losses of the add direction
        raise NotImplementedError(
            f"group_size={group_size}: the chance that nobody of the group "
            "is in a batch is below 1e-300; a full batch is an upper bound"
        )
    return mixture_pair(sizes / mechanism.noise_multiplier, weights)


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
    sensitivity. PureDP: $k \varepsilon$. ApproximateDP: $k
    \varepsilon$ and eq. (grp-vadhan). RandomizedResponse: the same pair.

    Parameters: as `group_pair`; `sampling` must be a full batch.
    Returns: a DominatingPair.
    Raises: NotImplementedError for a sampled mechanism; ValueError where
    the parameters for the group leave the ranges of the mechanism.
    Source: Vadhan (2017), Lemma 2.2; chapter 8.

    >>> unsampled_group_pair(Laplace(1.0), FullBatch(), 4)
    LaplacePair(scale=0.25)
    """
    if sampling not in (FullBatch(), Poisson(1.0)):
        raise NotImplementedError(
            f"group_size={group_size}: groups in samples are known for "
            f"Gaussian noise only, got {mechanism!r} with {sampling!r}"
        )
    if isinstance(mechanism, Laplace):
        return LaplacePair(mechanism.scale / group_size)
    if isinstance(mechanism, (DiscreteGaussian, DiscreteLaplace)):
        shift = group_size * mechanism.sensitivity
        return replace(mechanism, sensitivity=shift).pair()
    if isinstance(mechanism, RandomizedResponse):
        return mechanism.pair()
    if getattr(mechanism, "epsilon", 0.0) * group_size > 700:
        raise ValueError(
            f"group_size * epsilon must lie in [0, 700], got {group_size} "
            f"with {mechanism!r}"
        )
    if isinstance(mechanism, PureDP):
        return PureDP(group_size * mechanism.epsilon).pair()
    if isinstance(mechanism, ApproximateDP):
        one, all_steps = mechanism.epsilon, group_size * mechanism.epsilon
        factor = float(group_size)
        if one > 0:
            factor = math.expm1(min(all_steps, 700)) / math.expm1(one)
        total = min(mechanism.delta * factor * (1 + 1e-12), 1.0)
        return ApproximateDP(all_steps, total).pair()
    raise NotImplementedError(f"no rule for groups with {mechanism!r}")


@normal_shifts.register
def mixture_shifts(pair: MixturePair) -> Shifts:
    """Shifts of a mixture of Gaussians, for its Renyi curve.

    Parameters: `pair`.
    Returns: as `normal_shifts`.
    Source: chapter 7, "One curve for a whole run".

    >>> mixture_shifts(MixturePair((1.0, 2.0), (0.5, 0.5)))
    ((1.0, 2.0), (0.5, 0.5), 0.0)
    """
    return pair.means, pair.weights, 0.0


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
