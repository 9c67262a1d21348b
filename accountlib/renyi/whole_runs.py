# Generated from notebooks/renyi/whole_runs.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""One curve for a whole run

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $a$ | `order` | order of a Rényi divergence, $1 \le a \le \infty$ |
| $R(a)$ | `rdp_curve` | Rényi DP curve of a run |
| $P_j$, $Q_j$ | – | pair of release $j$, in one direction |
| $T_j$ | `count` | number of times that release $j$ is repeated |
| $\mu_j$, $w_j$ | `means`, `weights` | shift in standard deviations, and its probability |
| $\gamma$ | `rate` | sampling rate |
| $T$ | `count` | number of runs of one $(\varepsilon, \delta)$ guarantee |
| $\varepsilon$, $\delta$ | `epsilon`, `delta` | the guarantee of one run |
| $\tilde\varepsilon$ | – | $\varepsilon$ of the composition |
| $\tilde\delta$ | `slack` | slack: what $\delta$ of the composition has beside the mass of revealed runs |
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_expit

from accountlib.inputs import (
    Floats,
    as_given,
    check_count,
    check_number,
    check_range,
    front_door,
)
from accountlib.renyi.curves import (
    Curve,
    discrete_curve,
    gaussian_rdp,
    geometric_losses,
    laplace_rdp,
    loss_rdp,
    response_losses,
)
from accountlib.renyi.laplace_panels import laplace_curve
from accountlib.renyi.real_orders import (
    MOST_MEAN,
    ShiftedNormals,
    loss_points,
    normal_curve,
)
from accountlib.renyi.subsampling import MOST_ORDER, log_choose, poisson_rdp
from accountlib.runs.mechanisms import (
    DiscreteLaplace,
    PureDP,
    RandomizedResponse,
)
from accountlib.runs.one_call import directions
from accountlib.runs.releases import (
    Adjacency,
    AdjacencyName,
    FixedBatch,
    FullBatch,
    Poisson,
    Release,
    Sampling,
    plain_sampler,
)
from accountlib.several.chains import ChainPair
from accountlib.several.mixtures import MixturePair
from accountlib.worst_cases.dominating_pairs import (
    UNIT,
    DiscretePair,
    DominatingPair,
    Mechanism,
    ReversedPair,
    RoundedPair,
)
from accountlib.worst_cases.integer_noise import IntegerGaussianPair
from accountlib.worst_cases.noise import GaussianPair, LaplacePair
from accountlib.worst_cases.sampling import SampledPair

__all__ = [
    "LISTS",
    "Step",
    "taken_apart",
    "shifted_normals",
    "integral_curve",
    "every_order",
    "raised",
    "list_curve",
    "pair_rdp",
    "exact_losses",
    "loss_curve",
    "release_curves",
    "rdp_curve",
    "kairouz_epsilon",
]

# --- Which curve has a pair?

LISTS = (DiscretePair, RoundedPair, ChainPair)  # pairs with finite lists


class Step(NamedTuple):
    """A pair taken apart: base, rate, 1 - rate, and the direction."""

    base: DominatingPair
    rate: float = 1.0
    missed: float = 0.0
    add: bool = False


def taken_apart(pair: DominatingPair) -> Step:
    """The parts of a pair, sampled or not, in either direction.

    >>> taken_apart(SampledPair(GaussianPair(2.0), 0.5).reversed())
    Step(base=GaussianPair(mu=2.0), rate=0.5, missed=0.5, add=True)
    """
    add = type(pair) is ReversedPair
    plain = pair.pair if type(pair) is ReversedPair else pair
    if type(plain) is not SampledPair:
        return Step(plain, add=add)
    return Step(plain.base, plain.rate, float(plain.missed or 0.0), add)


def shifted_normals(step: Step) -> ShiftedNormals | None:
    r"""Normal noise of which a pair is made, with the mean 0 set apart.

    Formula: $1 - \gamma + \gamma w_0$ is not moved, $\gamma w_j$ by mu_j.

    Returns: a ShiftedNormals, None for other noise.

    >>> shifted_normals(Step(IntegerGaussianPair(0.5, 2))).spacing
    2.0
    """
    base, rate, missed, _ = step
    means: tuple[float, ...]
    weights: tuple[float, ...] = (1.0,)
    spacing = 0.0
    if type(base) is GaussianPair:
        means = (base.mu,)
    elif type(base) is IntegerGaussianPair:
        means, spacing = (base.shift / base.sigma,), 1 / base.sigma
    elif type(base) is MixturePair:
        means, weights = base.means, tuple(base._shares.tolist())
    else:
        return None
    if means[0] == 0:
        moved, missed = math.fsum(weights[1:]), missed + rate * weights[0]
        weights = tuple(weight / moved for weight in weights[1:])
        means, rate = means[1:], rate * moved
        if rate < 1e-290:  # it may have been rounded down, even to 0
            rate = math.nextafter(rate, 1.0)
    return ShiftedNormals(means, weights, rate, missed, spacing)


def integral_curve(step: Step) -> Curve | None:
    r"""Renyi divergence of normal or sampled Laplace noise, by an integral.

    Returns: a function of a 1-d array of finite orders in [1, 1e6]; None
    for a pair that this book has no integral of.
    Error: upper bounds, as `normal_curve`, `laplace_curve`; for Gaussian
    and Laplace noise multipliers below 1e-4 that of `poisson_rdp`.

    >>> step = Step(LaplacePair(0.5), 0.01, 0.99, add=True)
    >>> float(integral_curve(step)(np.array([1.5]))[0].round(15))
    0.000283066465491
    """
    base, rate, missed, add = step
    if type(base) is LaplacePair:
        real = laplace_curve(base.scale, rate, missed=missed, add=add)
        top = 1 / base.scale
    elif normals := shifted_normals(step):
        real, top = normal_curve(normals, add=add), normals.top
    else:
        return None
    if type(base) not in (GaussianPair, LaplacePair):
        return real

    def whole(order: Floats) -> Floats:
        found = poisson_rdp(
            order, rdp=pair_rdp(base), rate=rate, bound="tight"
        )
        return np.asarray(found)

    def curve(order: Floats) -> Floats:
        summed = (order == np.floor(order)) & (order > 1) & (not add)
        if np.count_nonzero(summed) <= 64:  # the integral is as fast
            return real(order)
        result = np.empty(len(order))
        result[summed] = whole(order[summed])
        result[~summed] = real(order[~summed])
        return result

    return whole if top > MOST_MEAN else curve


def every_order(curve: Curve, at_infinity: float) -> Curve:
    """A curve for numbers and arrays of any shape, with order infinity.

    Parameters: `curve`, of 1-d arrays of orders in [1, 1e6];
    `at_infinity`, its value at order inf, which bounds all others.
    Returns: a function of the order (a in [1, 1e6], or inf).

    >>> every_order(lambda a: a / 2, 9.0)([[2.0, 20.0, np.inf]])
    array([[1., 9., 9.]])
    """

    @front_door
    def checked(order: ArrayLike) -> Any:
        order = check_range("order", order, 1, np.inf)
        finite = np.isfinite(order)
        check_range("order (if finite)", order[finite], 1, MOST_ORDER)
        result = np.full(order.shape, at_infinity)
        if np.any(finite):
            values = curve(order[finite])
            result[finite] = np.minimum(values, at_infinity)
        return as_given(result)

    return checked


def raised(curve: Curve, error: float) -> Curve:
    """A curve that is larger by a relative error, so a bound.

    Parameters: `curve`; `error`, of its values.
    Returns: a function of the order.

    >>> raised(lambda a: a, 0.5)(np.array([2.0]))
    array([3.])
    """

    def above(order: ArrayLike) -> Any:
        value = curve(order)
        return value * (1 + error) + 1e-323 * (value > 0)

    return above


def list_curve(base: DiscretePair, step: Step) -> Curve:
    """Renyi divergence of a pair with finitely many outcomes.

    Parameters: `base`, the base of the `step`.
    Returns: a function of the order (a in [1, inf]).

    >>> pair = DiscretePair([0.75, 0.25], [0.25, 0.75])
    >>> round(math.exp(list_curve(pair, Step(pair))(2.0)) * 3, 9)
    7.0
    """
    _, rate, missed, add = step
    if missed > 0 or type(base) is DiscretePair:
        return discrete_curve(base.p, base.q, rate=rate, add=add)
    losses, p, q = base._finite
    lost, missing = base.infinite_mass
    if add:
        losses, p, lost, missing = -losses, q, missing, lost
    if lost > 0:
        return lambda order: np.full(np.shape(order), np.inf)
    return partial(
        loss_rdp, losses=losses, log_masses=np.log(p), missing=missing
    )


@front_door
def pair_rdp(pair: DominatingPair) -> Curve:
    r"""Renyi divergence of a dominating pair as a function of the order.

    Formula: $R(a) = D_a(P \Vert Q)$ at every real order.

    Parameters: `pair`, of a mechanism of this book, sampled or not, in
    either direction. Lists of outcomes count as exact.
    Returns: a function of the order: [1, inf] for pairs without sampling
    and lists, else [1, 1e6] and inf. Its values are upper bounds in nats,
    rounded up.
    Raises: NotImplementedError for other pairs.
    Error: relative error below 1e-11 for orders up to 100 and noise
    multipliers from 0.1 on, mostly below 1e-12; otherwise as
    `normal_curve`, `laplace_curve` and `loss_rdp` say.

    >>> bool(6 <= pair_rdp(GaussianPair(2.0))(3.0) < 6 + 1e-14)
    True
    """
    step = taken_apart(pair)
    base, sampled = step.base, step.missed > 0
    if isinstance(base, DiscretePair) and type(base) in LISTS:
        return raised(list_curve(base, step), 3e-13)
    if type(base) is GaussianPair and not sampled:
        line = partial(gaussian_rdp, noise_multiplier=1 / base.mu)
        return raised(line, 8 * UNIT)
    if type(base) is LaplacePair and not sampled:
        return raised(partial(laplace_rdp, scale=base.scale), 1e-13)
    curve = integral_curve(step)
    if curve is None:
        raise NotImplementedError(
            f"no Renyi DP curve of {pair!r} is known to this book"
        )
    top = pair.loss_range[1] if pair.infinite_mass[0] == 0 else math.inf
    return every_order(curve, top * (1 + 8 * UNIT) + 1e-323)


# --- Which curve has a release?


def exact_losses(
    mechanism: Mechanism, moves: int
) -> tuple[Floats, Floats] | None:
    r"""Losses of a mechanism with a finite list of outcomes, not rounded.

    Formula: $\pm\varepsilon$ for `PureDP`; as `randomized_response_rdp`
    and `discrete_laplace_rdp`.

    Parameters: `mechanism`, of exactly one of these three types; `moves`,
    how many records are removed (an exchange counts twice for a sum).
    Returns: losses and the logarithms of their masses under P, or None.
    Error: rounding only.

    >>> exact_losses(PureDP(1e-11), 1)[0].tolist()
    [1e-11, -1e-11]
    """
    if type(mechanism) is PureDP:
        if moves > 1:
            return None
        losses = np.array([1.0, -1.0]) * mechanism.epsilon
        return losses, np.asarray(log_expit(losses))
    if type(mechanism) is RandomizedResponse:
        if not 0 < mechanism.truth_probability < 1:
            return None
        return response_losses(mechanism.truth_probability)
    if type(mechanism) is DiscreteLaplace:
        shift = moves * mechanism.sensitivity
        return geometric_losses(1 / mechanism.scale, shift)
    return None


def loss_curve(
    losses: Floats, log_masses: Floats, sampled: DominatingPair
) -> Curve:
    r"""Curve of a pair whose losses before sampling are given exactly.

    Formula: the losses L of `loss_points`, with `loss_rdp`.

    Parameters: `losses`, `log_masses` under P, all finite; `sampled`, the
    pair, whose rate and direction are used.
    Returns: a function of the order (a in [1, inf]).
    Error: an upper bound; relative error below 2e-12.

    >>> losses = math.log(3.0) * np.array([1.0, -1.0])
    >>> pair = SampledPair(DiscretePair([0.75, 0.25], [0.25, 0.75]), 0.5)
    >>> curve = loss_curve(losses, np.log([0.75, 0.25]), pair)
    >>> round(math.exp(curve(2.0)) * 3, 9)
    4.0
    """
    _, rate, missed, add = taken_apart(sampled)
    log_q = log_masses - losses
    with np.errstate(divide="ignore"):
        points = loss_points(losses, log_q, rate=rate, missed=missed, add=add)
    log_first = log_q if add else log_q + points.spread
    one = partial(loss_rdp, losses=points.loss, log_masses=log_first)
    above, least = raised(one, 4e-13), 5e-324 * float(np.any(losses != 0))
    return lambda order: as_given(np.maximum(above(order), least))


def release_curves(
    release: Release, adjacency: Adjacency | AdjacencyName, group_size: int
) -> list[Curve]:
    """Curves of one run of a release: of remove, then of add, if both.

    Parameters: as for `rdp_curve`.
    Returns: one curve, or two; two only where add may be the larger one.
    Raises: as `rdp_curve`.

    >>> from accountlib.runs.mechanisms import Gaussian
    >>> from accountlib.runs.releases import Poisson
    >>> run = Release(Gaussian(1.0), Poisson(0.01))
    >>> len(release_curves(run, "add-or-remove", 1))
    1
    """
    sides = directions(release, adjacency, group_size)
    pairs = [pair for side in sides for pair, _ in side]
    sampling = plain_sampler(release.sampling)
    if not pairs or sampling == Poisson(0.0):  # nothing is told
        return [lambda order: np.zeros(np.shape(order))]
    base = taken_apart(pairs[0]).base
    if type(base) in (GaussianPair, LaplacePair):
        pairs = pairs[:1]
    swap = adjacency == Adjacency.SUBSTITUTE
    zeroed = adjacency == Adjacency.ZERO_OUT
    bits = isinstance(release.mechanism, (PureDP, RandomizedResponse))
    fixed = isinstance(sampling, FixedBatch) and not zeroed
    twice = (fixed or swap) and not bits
    exact = exact_losses(release.mechanism, group_size * (2 if twice else 1))
    batch = swap and sampling not in (FullBatch(), Poisson(1.0))
    if exact is None or type(base) not in LISTS or batch:
        try:
            return [pair_rdp(pair) for pair in pairs]
        except NotImplementedError:
            raise NotImplementedError(
                f"no Renyi DP curve of {release.mechanism!r} with "
                f"{release.sampling!r} and adjacency={str(adjacency)!r} is "
                "known to this book"
            ) from None
    return [loss_curve(*exact, pair) for pair in pairs]


@front_door
def rdp_curve(
    releases: Release | Sequence[Release],
    *,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
) -> Curve:
    r"""Renyi DP curve of a whole run.

    Formula: $R(a) = \max_{\text{directions}} \sum_j T_j D_a(P_j \Vert
    Q_j)$ at every real order.

    Parameters: as for `epsilon`: `releases`, one Release or a sequence of
    them; `adjacency`; `group_size`.
    Returns: a function of the order (a in [1, 1e6], or inf), a number or
    an array; its values are upper bounds in nats, rounded up, inf where a
    mechanism has an infinite loss. Use it with `epsilon_from_rdp`.
    Raises: ValueError for bad values; NotImplementedError for what no
    theorem of the book covers.
    Error: as `pair_rdp`: what the pairs have is exact up to that.
    Source: Mironov (2017), Proposition 1.

    >>> from accountlib.renyi.conversion import epsilon_from_rdp
    >>> from accountlib.runs.mechanisms import Gaussian
    >>> from accountlib.runs.releases import Poisson
    >>> run = Release(Gaussian(1.0), Poisson(0.01), count=2000)
    >>> curve = rdp_curve(run, adjacency="add-or-remove")
    >>> round(epsilon_from_rdp(curve, delta=1e-6), 3)
    3.246
    """
    directions(releases, adjacency, group_size)  # checks them all
    counts: dict[tuple[Mechanism, Sampling], int] = {}
    for one in [releases] if isinstance(releases, Release) else releases:
        key = (one.mechanism, one.sampling)
        counts[key] = counts.get(key, 0) + one.count
    steps = [
        (release_curves(Release(*key), adjacency, group_size), count)
        for key, count in counts.items()
    ]

    @front_door
    def curve(order: ArrayLike) -> Any:
        order = check_range("order", order, 1, np.inf)
        total = np.zeros((2, *order.shape))
        for curves, count in steps:
            values = [np.asarray(rdp(order)) for rdp in curves]
            total += count * np.array([values[0], values[-1]])
        return as_given(np.max(total, axis=0) * (1 + len(steps) * UNIT))

    return curve


# --- Composition without any curve


@front_door
def kairouz_epsilon(
    epsilon: float, *, delta: float, count: int, slack: float
) -> float:
    r"""Optimal composition of one (epsilon, delta) guarantee with itself.

    Formula: the smallest $\tilde\varepsilon \ge 0$ with $\tilde\delta$ at
    most the slack in eq. (ren-kov). The composition is $(\tilde
    \varepsilon, 1 - (1-\delta)^T (1 - \tilde\delta))$-DP.

    Parameters: `epsilon` ($\varepsilon$ in [0, 1e6]) and `delta` ($\delta$
    in [0, 1]) of each run; `count` (T from 1 to 1e7); `slack`
    ($\tilde\delta$ in [0, 1]).
    Returns: the exact answer for the worst mechanism with this guarantee,
    an upper bound for all others; it does not depend on `delta`.
    Raises: ValueError for values outside these ranges.
    Error: rounded up, by less than 1e-12 (1 + T) relative to the mass P
    above the answer minus the slack.
    Source: Kairouz, Oh and Viswanath (2015), Theorem 3.3;
    eq. (ren-kov).

    >>> round(kairouz_epsilon(0.1, delta=0.0, count=100, slack=1e-5), 6)
    4.306791
    """
    epsilon = check_number("epsilon", epsilon, 0, 1e6)
    check_number("delta", delta, 0, 1)
    count = check_count("count", count, high=1e7)
    slack = check_number("slack", slack, 0, 1)
    most = count * epsilon
    if Fraction(most) < count * Fraction(epsilon):
        most = math.nextafter(most, math.inf)
    if slack in (0, 1) or epsilon == 0:
        return most if slack == 0 else 0.0
    i = np.arange(count + 1.0)
    coefficients = log_choose(count, i)
    truths, lies = log_expit(epsilon), log_expit(-epsilon)
    log_p = coefficients + (count - i) * truths + i * lies
    log_q = coefficients + (count - i) * lies + i * truths
    # P above place i minus the slack, without cancellation, rounded up
    above = np.exp(np.logaddexp.accumulate(log_p)[:-1])
    below = np.exp(np.logaddexp.accumulate(log_p[::-1])[-2::-1])
    high = slack > 0.5
    gap = (1 - slack) - below if high else above - slack
    gap += 1e-15 * (count + 50) * (below if high else above)
    above_q = np.logaddexp.accumulate(log_q)[:-1]
    with np.errstate(divide="ignore"):
        found = np.log(np.maximum(gap, 0)) - above_q
    reached = found > (count - 2 * i[1:]) * epsilon
    if not np.any(reached):
        return 0.0
    bound = float(found[np.argmax(reached)])
    bound += 1e-15 * (count + 50) + 8 * UNIT * abs(bound)
    return min(max(0.0, bound), most)
