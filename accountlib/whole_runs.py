# Generated from notebooks/whole_runs.md by tools/tangle.py; do not edit.
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
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_expit

from accountlib.cells import log_rate_of
from accountlib.checks import UNIT
from accountlib.dominating_pairs import (
    DominatingPair,
    Outcomes,
    Reversed,
    ShiftedNoise,
    Subsampled,
)
from accountlib.inputs import (
    as_given,
    check_count,
    check_number,
    check_range,
    front_door,
)
from accountlib.laplace_panels import laplace_curve
from accountlib.noise import (
    DiscreteLaplaceNoise,
    DiscreteNormalNoise,
    LaplaceNoise,
    NormalNoise,
)
from accountlib.real_orders import ShiftedNormals, normal_curve
from accountlib.renyi import (
    Curve,
    gaussian_rdp,
    geometric_losses,
    laplace_rdp,
    loss_rdp,
)
from accountlib.renyi_sampling import MOST_ORDER, log_choose
from accountlib.sampling import Release, run_directions

__all__ = [
    "shifted_normals",
    "every_order",
    "raised",
    "list_curve",
    "largest",
    "pair_rdp",
    "rdp_curve",
    "kairouz_epsilon",
]

# --- Which curve has a pair?


def shifted_normals(pair: ShiftedNoise, log_miss: float) -> ShiftedNormals:
    r"""Normal noise with random shifts as the integral sees it.

    Parameters: `pair`, with normal or discrete normal noise; `log_miss`
    ($\log(1 - \gamma)$).

    >>> discrete = ShiftedNoise(DiscreteNormalNoise(0.5), (2.0,))
    >>> shifted_normals(discrete, -math.inf).spacing
    2.0
    """
    noise, unit = pair.noise, 1.0
    if isinstance(noise, DiscreteNormalNoise):
        unit = noise.sigma
    return ShiftedNormals(
        means=tuple(shift / unit for shift in pair.shifts),
        weights=tuple(max(math.exp(w), 5e-324) for w in pair.log_weights),
        rate=-math.expm1(log_miss),
        missed=math.exp(log_miss),
        spacing=0.0 if unit == 1.0 else 1 / unit,
    )


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


def list_curve(pair: Outcomes, log_miss: float, add: bool) -> Curve:
    """Renyi divergence of a list of outcomes, sampled, either way.

    Returns: a function of the order (a in [1, inf]), rounded up.

    >>> lie, truth = np.log([0.25, 0.75]).tolist()  # of a coin
    >>> losses = lie - truth, truth - lie
    >>> rows = (losses[0], 0.0, lie, truth), (losses[1], 0.0, truth, lie)
    >>> coin = list_curve(Outcomes(rows), -math.inf, False)
    >>> round(float(coin(2.0)), 6)  # log(7/3)
    0.847298
    """
    cells = pair.cells(pair.start())
    if log_miss > -math.inf:
        cells = cells.sampled(log_miss)
    if add:
        cells = cells.reversed()
    never = cells.log_p == -math.inf
    missing = float(np.exp(cells.log_q[never]).sum())
    one = partial(
        loss_rdp, losses=cells.loss, log_masses=cells.log_p, missing=missing
    )
    return raised(one, 4e-13)


def largest(pair: DominatingPair) -> float:
    """The largest loss of a pair, from above.

    >>> largest(Subsampled(ShiftedNoise(NormalNoise(), (1.0,)), -0.5))
    inf
    """
    cells = pair.cells(pair.start())
    return float(cells.right[cells.log_p > -math.inf].max()) + 1e-323


@front_door
def pair_rdp(pair: DominatingPair) -> Curve:
    r"""Renyi divergence of a dominating pair as a function of the order.

    Formula: $R(a) = D_a(P \Vert Q)$ at every real order.

    Parameters: `pair`, of a mechanism of this book, sampled or not, in
    either direction. Shifts and lists of outcomes count as exact.
    Returns: a function of the order: [1, inf] for pairs without sampling
    and lists, else [1, 1e6] and inf. Its values are upper bounds in nats,
    rounded up.
    Raises: NotImplementedError for other pairs.
    Error: relative error below 1e-11 for orders up to 100 and noise
    multipliers from 0.1 on, mostly below 1e-12; otherwise as
    `normal_curve`, `laplace_curve` and `loss_rdp` say.

    >>> bool(6 <= pair_rdp(ShiftedNoise(NormalNoise(), (2.0,)))(3.0) < 6.1)
    True
    """
    add = type(pair) is Reversed
    base, log_miss = pair.pair if type(pair) is Reversed else pair, -math.inf
    while type(base) is Subsampled:  # a sample of a sample is one, too
        among = log_rate_of(log_miss) + base.log_miss
        base, log_miss = base.pair, float(np.logaddexp(log_miss, among))
    noise = base.noise if type(base) is ShiftedNoise else None
    if type(base) is ShiftedNoise and len(base.shifts) == 1:
        (shift,) = base.shifts
        if type(noise) is DiscreteLaplaceNoise:
            loss, log_p = geometric_losses(1 / noise.scale, int(shift))
            rows = np.stack([loss, 0 * loss, log_p, log_p - loss], 1)[::-1]
            base = Outcomes(tuple(map(tuple, rows.tolist())))
        elif type(noise) is NormalNoise and log_miss == -math.inf:
            line = partial(gaussian_rdp, noise_multiplier=1 / shift)
            return raised(line, 8 * UNIT)
        elif type(noise) is LaplaceNoise and log_miss == -math.inf:
            return raised(partial(laplace_rdp, scale=1 / shift), 1e-13)
        elif type(noise) is LaplaceNoise:
            rate, missed = -math.expm1(log_miss), math.exp(log_miss)
            curve = laplace_curve(1 / shift, rate, missed=missed, add=add)
            return every_order(curve, largest(pair))
    if type(base) is Outcomes:
        return list_curve(base, log_miss, add)
    if type(base) is ShiftedNoise and (
        type(noise) in (NormalNoise, DiscreteNormalNoise)
    ):
        normals = shifted_normals(base, log_miss)
        return every_order(normal_curve(normals, add=add), largest(pair))
    raise NotImplementedError(
        f"no Renyi DP curve of {pair!r} is known to this book: it knows "
        "those of added noise and of lists of outcomes, sampled or not, for "
        "one record more or less, and for groups with Gaussian noise"
    )


# --- Which curve has a run?


@front_door
def rdp_curve(
    releases: Release | Sequence[Release],
    *,
    adjacency: str,
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

    >>> from accountlib.conversion import epsilon_from_rdp
    >>> from accountlib.mechanisms import Gaussian
    >>> from accountlib.sampling import Poisson
    >>> run = Release(Gaussian(1.0), Poisson(0.01), count=2000)
    >>> curve = rdp_curve(run, adjacency="add-or-remove")
    >>> round(epsilon_from_rdp(curve, delta=1e-6), 3)
    3.246
    """
    sides = [
        [(pair_rdp(pair), count) for pair, count in direction.above]
        for direction in run_directions(releases, adjacency, group_size)
    ]

    @front_door
    def curve(order: ArrayLike) -> Any:
        order = check_range("order", order, 1, np.inf)
        totals = [
            sum(
                (count * np.asarray(rdp(order)) for rdp, count in side),
                np.zeros(order.shape),
            )
            * (1 + len(side) * UNIT)
            for side in sides
        ]
        return as_given(np.max(totals, axis=0))

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
