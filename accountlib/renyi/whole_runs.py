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
from functools import partial, singledispatch
from typing import Any

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
    Adjacency,
    DiscreteLaplace,
    FixedBatch,
    FullBatch,
    Poisson,
    PureDP,
    RandomizedResponse,
    Release,
)
from accountlib.runs.one_call import directions
from accountlib.several.mixtures import MixturePair
from accountlib.worst_cases.dominating_pairs import (
    UNIT,
    DiscretePair,
    DominatingPair,
    Mechanism,
    ReversedPair,
)
from accountlib.worst_cases.integer_noise import IntegerGaussianPair
from accountlib.worst_cases.noise import GaussianPair, LaplacePair
from accountlib.worst_cases.sampling import SampledPair

__all__ = [
    "Shifts",
    "normal_shifts",
    "one_normal_shift",
    "integer_shift",
    "mixture_shifts",
    "shifted_normals",
    "sampled_curve",
    "every_order",
    "raised",
    "pair_rdp",
    "exact_losses",
    "loss_curve",
    "release_curves",
    "rdp_curve",
    "kairouz_epsilon",
]

# --- Which curve has a pair?

Shifts = tuple[tuple[float, ...], tuple[float, ...], float]


@singledispatch
def normal_shifts(pair: DominatingPair) -> Shifts | None:
    r"""Shifts of normal noise of which a pair is made, if it is.

    Formula: P = $\sum_j w_j N(\mu_j, 1)$, Q = N(0, 1).

    Parameters: `pair`, without sampling; its type decides.
    Returns: means (increasing from 0 or more), weights, and the spacing of
    the outputs in standard deviations (0 if they are real numbers); None
    for other pairs.

    >>> normal_shifts(LaplacePair(1.0)) is None
    True
    """
    return None


@normal_shifts.register
def one_normal_shift(pair: GaussianPair) -> Shifts:
    """Shifts of a Gaussian pair: one.

    Parameters: `pair`.
    Returns: as `normal_shifts`.

    >>> one_normal_shift(GaussianPair(2.0))
    ((2.0,), (1.0,), 0.0)
    """
    return (pair.mu,), (1.0,), 0.0


@normal_shifts.register
def integer_shift(pair: IntegerGaussianPair) -> Shifts:
    """Shifts of discrete Gaussian noise: one, on a lattice.

    Parameters: `pair`.
    Returns: as `normal_shifts`.

    >>> integer_shift(IntegerGaussianPair(0.5, 2))
    ((4.0,), (1.0,), 2.0)
    """
    return (pair.shift / pair.sigma,), (1.0,), 1 / pair.sigma


@normal_shifts.register
def mixture_shifts(pair: MixturePair) -> Shifts:
    """Shifts of a mixture of Gaussians, for its Renyi curve.

    Parameters: `pair`; its weights are made to sum to 1.
    Returns: as `normal_shifts`.

    >>> mixture_shifts(MixturePair((1.0, 2.0), (0.5, 0.5)))
    ((1.0, 2.0), (0.5, 0.5), 0.0)
    """
    return pair.means, tuple(pair._shares.tolist()), 0.0


def shifted_normals(
    shifts: Shifts, rate: float = 1.0, missed: float = 0.0
) -> ShiftedNormals:
    r"""Shifts of a pair, sampled or not, with the mean 0 set apart.

    Formula: $1 - \gamma + \gamma w_0$ is not moved, $\gamma w_j$ by mu_j.

    Parameters: `shifts`, with increasing means; `rate`, `missed`.
    Returns: a ShiftedNormals.

    >>> shifted_normals(((0.0, 1.0), (0.75, 0.25), 0.0)).missed
    0.75
    """
    means, weights, _ = shifts
    if means[0] > 0:
        return ShiftedNormals(means, weights, rate, missed)
    moved = math.fsum(weights[1:])
    shares = tuple(w / moved for w in weights[1:])
    rest = missed + rate * weights[0]
    return ShiftedNormals(means[1:], shares, rate * moved, rest)


def sampled_curve(sampled: SampledPair, add: bool) -> Curve | None:
    r"""Renyi divergence of a sampled pair, in one direction.

    Parameters: `sampled`; `add`: D(Q || M) instead of D(M || Q).
    Returns: a function of a 1-d array of finite orders in [1, 1e6]; None
    for a pair that this book has no curve of.
    Error: upper bounds, as `normal_curve`, `laplace_curve`; for Gaussian
    and Laplace noise multipliers below 1e-4 that of `poisson_rdp`.

    >>> pair = SampledPair(LaplacePair(0.5), 0.01)
    >>> float(sampled_curve(pair, True)(np.array([1.5]))[0].round(15))
    0.000283066465491
    """
    base, rate = sampled.base, sampled.rate
    missed = float(sampled.missed or 0.0)
    simple = isinstance(base, (GaussianPair, LaplacePair))

    def whole(order: Floats) -> Any:
        return poisson_rdp(order, rdp=pair_rdp(base), rate=rate, bound="tight")

    if isinstance(base, LaplacePair):
        real = laplace_curve(base.scale, rate, missed=missed, add=add)
        top = 1 / base.scale
    elif shifts := normal_shifts(base):
        pair = shifted_normals(shifts, rate, missed)
        real = normal_curve(pair, add=add, spacing=shifts[2])
        top = pair.top
    else:
        return None
    if simple and top > MOST_MEAN:
        return whole

    def curve(order: Floats) -> Floats:
        summed = simple & (not add) & (order == np.floor(order)) & (order > 1)
        if np.count_nonzero(summed) <= 64:  # the integral is as fast
            return real(order)
        result = np.empty(len(order))
        result[summed] = whole(order[summed])
        result[~summed] = real(order[~summed])
        return result

    return curve


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
    return lambda order: curve(order) * (1 + error)


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
    add = isinstance(pair, ReversedPair)
    plain = pair.pair if isinstance(pair, ReversedPair) else pair
    base = plain.base if isinstance(plain, SampledPair) else plain
    if isinstance(plain, DiscretePair) and type(plain) is not DiscretePair:
        losses, p, q = plain._finite  # it knows its losses better
        sign, mass = (-1, q) if add else (1, p)
        lost, missing = plain.infinite_mass[:: -1 if add else 1]
        if lost > 0:
            return lambda order: np.full(np.shape(order), np.inf)
        exact = partial(
            loss_rdp,
            losses=sign * losses,
            log_masses=np.log(mass),
            missing=missing,
        )
        return raised(exact, 3e-13)
    if isinstance(base, DiscretePair):
        rate = plain.rate if isinstance(plain, SampledPair) else 1.0
        curve_of_lists = discrete_curve(base.p, base.q, rate=rate, add=add)
        return raised(curve_of_lists, 3e-13)
    if isinstance(plain, GaussianPair):
        noise = 1 / plain.mu
        line = partial(gaussian_rdp, noise_multiplier=noise)
        return raised(line, 8 * UNIT)
    if isinstance(plain, LaplacePair):
        return raised(partial(laplace_rdp, scale=plain.scale), 1e-13)
    curve: Curve | None = None
    if isinstance(plain, SampledPair):
        curve = sampled_curve(plain, add)
    elif shifts := normal_shifts(plain):
        normals = shifted_normals(shifts)
        curve = normal_curve(normals, add=add, spacing=shifts[2])
    if curve is None:
        raise NotImplementedError(
            f"no Renyi DP curve of {pair!r} is known to this book"
        )
    top = pair.loss_range[1] if pair.infinite_mass[0] == 0 else math.inf
    return every_order(curve, top * (1 + 8 * UNIT))


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
    add = isinstance(sampled, ReversedPair)
    plain = sampled.pair if isinstance(sampled, ReversedPair) else sampled
    rate, missed = 1.0, 0.0
    if isinstance(plain, SampledPair):
        rate, missed = plain.rate, float(plain.missed or 0.0)
    log_q = log_masses - losses
    with np.errstate(divide="ignore"):
        points = loss_points(losses, log_q, rate=rate, missed=missed, add=add)
    log_first = log_q if add else log_q + points.spread
    one = partial(loss_rdp, losses=points.loss, log_masses=log_first)
    return raised(one, 4e-13)


def release_curves(
    release: Release, adjacency: Adjacency | str, group_size: int
) -> list[Curve]:
    """Curves of one run of a release: of remove, then of add, if both.

    Parameters: as for `rdp_curve`.
    Returns: one curve, or two; two only where add may be the larger one.
    Raises: as `rdp_curve`.

    >>> from accountlib.runs.mechanisms import Gaussian, Poisson
    >>> run = Release(Gaussian(1.0), Poisson(0.01))
    >>> len(release_curves(run, "add-or-remove", 1))
    1
    """
    sides = directions(release, adjacency, group_size)
    pairs = [pair for side in sides for pair, _ in side]
    if not pairs or release.sampling == Poisson(0.0):  # nothing is told
        return [lambda order: np.zeros(np.shape(order))]
    first = pairs[0]
    simple = isinstance(first, SampledPair) and isinstance(
        first.base, (GaussianPair, LaplacePair)
    )
    if len(pairs) == 2 and simple:
        pairs = pairs[:1]
    sampling, swap = release.sampling, adjacency == Adjacency.SUBSTITUTE
    part = isinstance(sampling, FixedBatch) or swap
    bits = isinstance(release.mechanism, (PureDP, RandomizedResponse))
    moves = group_size * (2 if part and not bits else 1)
    exact = exact_losses(release.mechanism, moves)
    sampled = isinstance(first, (SampledPair, ReversedPair))
    if exact is None or not (sampled or isinstance(first, DiscretePair)):
        return [pair_rdp(pair) for pair in pairs]
    if swap and sampling not in (FullBatch(), Poisson(1.0)):
        return [pair_rdp(pair) for pair in pairs]
    return [loss_curve(*exact, pair) for pair in pairs]


@front_door
def rdp_curve(
    releases: Release | Sequence[Release],
    *,
    adjacency: Adjacency | str,
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
    >>> from accountlib.runs.mechanisms import Gaussian, Poisson
    >>> run = Release(Gaussian(1.0), Poisson(0.01), count=2000)
    >>> curve = rdp_curve(run, adjacency="add-or-remove")
    >>> round(epsilon_from_rdp(curve, delta=1e-6), 3)
    3.246
    """
    directions(releases, adjacency, group_size)  # checks them all
    counts: dict[tuple[Mechanism, Any], int] = {}
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
    return min(max(0.0, bound + 1e-15 * (count + 50)), most)
