# Generated from notebooks/what_renyi_loses.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What does a Rényi curve lose?"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_expit

from accountlib.cells import Cells
from accountlib.checks import UNIT, check
from accountlib.conversion import evaluate
from accountlib.dominating_pairs import (
    DominatingPair,
    Outcomes,
    Reversed,
    ShiftedNoise,
    Subsampled,
)
from accountlib.noise import DiscreteNormalNoise, LaplaceNoise, NormalNoise
from accountlib.renyi import (
    Curve,
    as_asked,
    check_order,
    laplace_rdp,
    log_mean_exp,
)
from accountlib.renyi_sampling import (
    log_binomial,
    log_factors,
    log_moment,
    sampled_curve,
    whole_orders,
)
from accountlib.sampling import Release, run_directions

__all__ = [
    "list_rdp",
    "noise_rdp",
    "pair_rdp",
    "added_up",
    "rdp_curve",
    "kairouz_epsilon",
]

# --- Which curve does a run have?


def list_rdp(cells: Cells) -> Curve:
    """Renyi divergence of a list of outcomes, rounded up.

    >>> from accountlib.dominating_pairs import outcomes
    >>> coin = outcomes((0.75, 0.25), (0.25, 0.75))
    >>> round(math.exp(list_rdp(coin.cells(coin.start()))(2.0)) * 3, 9)
    7.0
    """
    seen = cells.part(cells.log_p > -np.inf)
    worst = float(np.max(seen.right))

    def curve(order: ArrayLike) -> Any:
        orders = check_order(order)
        if worst == math.inf:
            return as_asked(np.full(orders.shape, worst))
        less = np.where(np.isinf(orders), 1.0, orders - 1)
        power, off = (
            np.multiply.outer(less, x) for x in (seen.loss, seen.loss_error)
        )
        errors = seen.mass_error, off
        found = log_mean_exp(seen.log_p, power, errors) / less
        return as_asked(np.where(np.isinf(orders), worst, found))

    return curve


def noise_rdp(pair: ShiftedNoise) -> Curve | None:
    """Renyi divergence of moved noise, or None if no closed form is known.

    >>> round(noise_rdp(ShiftedNoise(NormalNoise(), (2.0,)))(3.0), 6)
    6.0
    """
    (shift, *more), noise = pair.shifts, pair.noise
    if more:
        return None
    if type(noise) is LaplaceNoise:
        return partial(laplace_rdp, scale=1 / shift)
    if type(noise) in (NormalNoise, DiscreteNormalNoise):
        slope = (shift / getattr(noise, "sigma", 1)) ** 2 / 2
        slope *= 1 + 8 * UNIT
        return lambda order: as_asked(slope * check_order(order))
    return None


def pair_rdp(pair: DominatingPair) -> Curve:
    """Renyi divergence of a dominating pair, an upper bound.

    Sampled noise has whole orders only, and the larger of both directions.
    Raises: NotImplementedError for pairs of which no curve is known.

    >>> round(pair_rdp(ShiftedNoise(NormalNoise(), (2.0,)))(3.0), 6)
    6.0
    """
    if hasattr(pair, "rdp"):  # it knows its own
        return partial(pair.rdp)
    add = type(pair) is Reversed
    base = pair.pair if type(pair) is Reversed else pair
    log_miss = -math.inf
    if type(base) is Subsampled:
        log_miss, base = base.log_miss, base.pair
    if type(base) is Outcomes:
        cells = base.cells(base.start())
        cells = cells if log_miss == -math.inf else cells.sampled(log_miss)
        return list_rdp(cells.reversed() if add else cells)
    plain = noise_rdp(base) if type(base) is ShiftedNoise else None
    if plain is None:
        raise NotImplementedError(
            f"no Renyi DP curve of {pair!r} is known: there are those of "
            "Gaussian, discrete Gaussian and Laplace noise with one shift "
            "and of lists of outcomes, sampled or not"
        )
    if log_miss == -math.inf:
        return plain
    rate = -math.expm1(log_miss)

    def sampled(order: ArrayLike) -> Any:
        orders = whole_orders(order)
        highest = orders[orders < np.inf].max(initial=2)
        values = evaluate(plain, np.arange(2.0, highest + 1))
        factors = log_factors(values, "tight")
        return sampled_curve(
            orders, plain, rate, lambda n: log_moment(factors[: n - 1], rate)
        )

    return sampled


def added_up(
    curve_of: Callable[[DominatingPair], Curve],
    releases: Release | Sequence[Release],
    adjacency: str,
    group_size: int,
) -> Curve:
    """Curves of all steps added up, the largest of all directions."""
    sides = [
        [(curve_of(pair), count) for pair, count in direction.above]
        for direction in run_directions(releases, adjacency, group_size)
    ]

    def curve(order: ArrayLike) -> Any:
        orders = check_order(order)
        totals = [np.zeros(orders.shape)]
        for side in sides:
            parts = (count * rdp(orders) for rdp, count in side)
            totals.append(sum(parts, totals[0]) * (1 + 4 * len(side) * UNIT))
        return as_asked(np.max(totals, axis=0))

    return curve


def rdp_curve(
    releases: Release | Sequence[Release],
    *,
    adjacency: str,
    group_size: int = 1,
) -> Curve:
    r"""Renyi DP curve of a whole run.

    Formula: $R(a) = \max_{\text{directions}} \sum_j T_j D_a(P_j \Vert
    Q_j)$.

    Parameters: `releases`, one Release or a list of them; `adjacency`;
    `group_size` (1; up to 1000 without sampling).
    Returns: a function of the order (in (1, 1e4], or inf), a number or an
    array; upper bounds in nats, rounding counted. With sampled noise the
    orders must be whole, from 2 on.
    Raises: ValueError for other values, also of the order;
    NotImplementedError for what no theorem of the book covers.
    Source: Mironov (2017), Proposition 1.

    >>> from accountlib.conversion import epsilon_from_rdp
    >>> from accountlib.mechanisms import Gaussian
    >>> from accountlib.sampling import Poisson
    >>> run = Release(Gaussian(1.0), Poisson(0.01), count=2000)
    >>> curve = rdp_curve(run, adjacency="add-or-remove")
    >>> round(epsilon_from_rdp(curve, delta=1e-6), 3)
    3.251
    """
    return added_up(pair_rdp, releases, adjacency, group_size)


# --- Composition without any curve


def kairouz_epsilon(
    epsilon: float, *, delta: float, count: int, slack: float
) -> float:
    r"""Optimal composition of one (epsilon, delta) guarantee with itself.

    Formula: the smallest $\tilde\varepsilon \ge 0$ with $\tilde\delta$ at
    most the slack in eq. (ren-kov). The composition is $(\tilde
    \varepsilon, 1 - (1-\delta)^T (1 - \tilde\delta))$-DP.

    Parameters: `epsilon` ($\varepsilon$ in [0, 100]) and `delta` ($\delta$
    in [0, 1]) of each run: `delta` is part of the guarantee and of the
    total, and does not change $\tilde\varepsilon$; `count` (T, 1 to 1e7);
    `slack` ($\tilde\delta$ in [0, 1]).
    Returns: the answer for the worst mechanism with this guarantee, an
    upper bound for all others, rounding counted.
    Raises: ValueError for other values.
    Source: Kairouz, Oh and Viswanath (2015), Theorem 3.3; eq. (ren-kov).

    >>> round(kairouz_epsilon(0.1, delta=0.0, count=100, slack=1e-5), 6)
    4.306791
    """
    loss = float(check("epsilon", epsilon, 0, 100))
    check("delta", delta, 0, 1)
    runs: int = check("count", count, 1, 1e7, whole=True)
    paid = float(check("slack", slack, 0, 1))
    most = runs * loss * (1 + 2 * UNIT)
    if paid == 0:
        return most
    if paid == 1:
        return 0.0
    lie, truth = log_expit([-loss, loss]).tolist()
    log_p, wrong = log_binomial(runs, lie, truth)  # by the number of lies
    mass = np.cumsum(np.exp(log_p + wrong)) * (1 + 2 * runs * UNIT)
    log_q = np.logaddexp.accumulate(log_p[::-1] - wrong[::-1])
    off = 4 * UNIT * (np.arange(runs + 1) + 4) * (np.abs(log_q) + 1)
    with np.errstate(divide="ignore"):
        found = np.log(np.maximum(mass - paid, 0)) - log_q + off
    return min(max(0.0, float(np.max(found))), most)
