# Generated from notebooks/runs/blends.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Between two noises

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $t$ | `variation` | total variation of a Gaussian step without sampling, $2 \Phi(\mu/2) - 1$ with $\mu = 1/\sigma$ |
| $\mu$, $\sigma$; $\gamma$ | `mu`, `noise`; `rate` | distance of two normal laws, and noise; chance of a record to take part |
| $\alpha$, $b$ | – | $e^\varepsilon$; $1 + (\alpha - 1)/\gamma$ |
| $u$, $v$ | – | place of $t$ in a cell, from 0 to 1; place of the rate |
| – | `up`, `down` | either of these places, rounded up or down |
| $m$, $l$, $l'$ | `below` | weakest corner of a cell; steps that are weaker than it in $t$, and in $\gamma$ |
| $S$, $R$ | `slope` | length of a cell over the distance of $l$ from $m$, in $t$; of $l'$ from $m$, in $\gamma$ |
| $r$ | – | bound of the density of the loss of $l$ over that of $m$ |
| $x$, $s$ | – | loss of a step without sampling, and with it |
| $h$ | `rate_exponent` | how fast a density may grow when the rate falls |
| $\lambda$, $K$ | `order`, – | order of the saddle point, and log of the mean of $e^{\lambda L}$ |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, erfinv

from accountlib.engine.one_sided import Losses
from accountlib.inputs import Floats
from accountlib.runs.mechanisms import Gaussian
from accountlib.worst_cases.dominating_pairs import DominatingPair
from accountlib.worst_cases.sampling import SampledPair

__all__ = [
    "variation",
    "Kinds",
    "rate_exponent",
    "most_taken",
    "node_pair",
    "Cell",
    "Axis",
    "axis_of",
    "further_noise",
    "cell_weights",
    "cell_of",
    "rough_moments",
    "Aim",
    "predicted_gaps",
    "cells_to_cut",
    "cut_kinds",
    "all_cells",
]

# --- Curves that bend upward


def variation(noise: Floats) -> Floats:
    r"""Total variation of one Gaussian step, for each noise multiplier.

    Formula: $t = 2 \Phi(1/(2 \sigma)) - 1$.

    >>> variation(np.array([0.5, 1.0])).round(4)
    array([0.6827, 0.3829])
    """
    return np.asarray(erf(1 / (math.sqrt(8) * noise)))


# --- In the code: cells


class Kinds(NamedTuple):
    """Sampled Gaussian steps, each kind with its count.

    Fields: arrays of one length: `noise`, `rate`, `steps`, how many there
    are, and the `variation` of the noise.
    """

    noise: Floats
    rate: Floats
    steps: NDArray[np.int64]
    variation: Floats

    def some(self, which: NDArray[np.int64]) -> "Kinds":
        """Those with the given positions."""
        noise, rate, steps, variation = self
        return Kinds(noise[which], rate[which], steps[which], variation[which])


_FARTHER_OUT = 4.0  # length of a cell over the distance of the node below it
_ONE_PLACE = 1e-9  # a relative length below which a cell has none
_LEAST_LEFT = 0.1  # of a law, where most is taken away from its first node
_SOME_LEFT = 0.2  # the same for a cell that is not cut for it
_MANY_PLACES = 400  # of kinds in a cell; more of them are rounded
_BINS = 256  # places between the ends of a cell, if they are rounded
_BINS_BOTH = 32  # the same where noise and rate differ
_STEPS_DOWN = 64  # places where an exponent is bounded
_NO_FLOAT = 700.0  # an exponent above it: far too much is taken away


def rate_exponent(mu: float) -> float:
    r"""How fast the density of a sampled loss may grow as the rate falls.

    Formula: the largest $1 + (e^y - 1)(\frac32 - y/\mu^2)$ over $y \ge 0$,
    or more.

    >>> round(rate_exponent(1.0), 2)
    1.91
    """
    y = np.linspace(0, 1.5 * mu**2, _STEPS_DOWN + 1)
    rise = np.expm1(y[1:]) * (1.5 - y[:-1] / mu**2)
    return 1.0 + float(np.max(rise))


def most_taken(
    strong: tuple[float, float], noise: float, rate: float
) -> tuple[float, float]:
    r"""Bounds of the density of two weaker losses over that of one.

    Formula: $\frac{\mu_m}{\mu_l} e^{(\mu_m^2 - \mu_l^2)/8}$ for another
    noise, $(\gamma_m/\gamma_l)^h$ for another rate.

    Parameters: `strong`, noise and rate of the one; `noise` of the second,
    which has its rate; `rate` of the third, which has its noise.
    Returns: two numbers; where a bound is no float, one that is useless.

    >>> [round(x, 3) for x in most_taken((1.0, 0.1), 1.1, 0.09)]
    [1.124, 1.223]
    """
    mu, other = 1 / strong[0], 1 / noise
    by_noise = math.log(mu / other) + (mu**2 - other**2) / 8
    by_rate = rate_exponent(mu) * math.log1p((strong[1] - rate) / rate)
    one, two = (math.exp(min(x, _NO_FLOAT)) for x in (by_noise, by_rate))
    return one * (1 + 1e-9), two * (1 + 1e-9)


@lru_cache(4096)
def node_pair(noise: float, rate: float, add: bool) -> DominatingPair:
    """The pair of a sampled Gaussian step, or its reverse.

    >>> node_pair(1.0, 0.5, False)
    SampledPair(base=GaussianPair(mu=1.0), rate=0.5)
    """
    if add:
        return node_pair(noise, rate, False).reversed()
    return SampledPair(Gaussian(noise).pair(), rate)


@dataclass(frozen=True, eq=False)
class Cell:
    """Kinds of steps as mixtures of a few others, from both sides.

    Fields: `above`, pairs that are mixed for the upper end, the strongest
    last; `below`, pairs of which `laws` combines those of the lower end, a
    row of coefficients for each; `taken`, for each law, how much is taken
    away from what is there, at most; `weights` of the pairs above and of
    the laws below, a row for each kind; `counts`.
    """

    above: tuple[DominatingPair, ...]
    below: tuple[DominatingPair, ...]
    laws: Floats
    taken: Floats
    weights: tuple[Floats, Floats]
    counts: NDArray[np.int64]

    @property
    def count(self) -> int:
        """Number of steps of all kinds."""
        return int(np.sum(self.counts))

    @classmethod
    def alone(cls, pair: DominatingPair, count: int) -> "Cell":
        """One kind of step, as it is."""
        one = np.ones((1, 1))
        counts = np.array([count])
        return cls((pair,), (pair,), one, np.zeros(1), (one, one), counts)


class Axis(NamedTuple):
    """Where numbers lie between their ends, and a third place below.

    Fields: `ends`, the smallest and the largest, or the largest alone if
    they are nearly one; `up` and `down`, the place of each number from 0
    to 1, rounded outward; `slope`, the length over the distance of the
    third place.
    """

    ends: tuple[float, ...]
    up: Floats
    down: Floats
    slope: float


def axis_of(values: Floats, further: float, bins: int) -> Axis:
    """The axis of some positive numbers.

    Parameters: `values`; `further`, a place below them; `bins` to round
    places to, or 0.

    >>> axis = axis_of(np.array([2.0, 3.0, 6.0]), 1.0, 0)
    >>> axis.ends, axis.up.round(3).tolist(), axis.slope
    ((2.0, 6.0), [0.0, 0.25, 1.0], 4.0)
    """
    low, high = float(np.min(values)), float(np.max(values))
    length = high - low
    if length <= _ONE_PLACE * high:
        one = np.ones(len(values))
        return Axis((high,), one, 0 * one, 0.0)
    slope = length / (low - further)
    room = 1e-14 * (1 + slope) * high / length
    place = (values - low) / length
    up, down = place + room, place - room
    if bins > 0:
        up, down = np.ceil(up * bins) / bins, np.floor(down * bins) / bins
    return Axis((low, high), np.minimum(up, 1), np.maximum(down, 0), slope)


def further_noise(values: Floats) -> float:
    """A noise that is a quarter of a cell weaker than all of it.

    Parameters: `values`, variations of a cell. Returns: inf if there is
    no such noise.

    >>> round(further_noise(variation(np.array([1.0, 1.1]))), 3)
    1.128
    """
    low, high = float(np.min(values)), float(np.max(values))
    place = max(low - (high - low) / _FARTHER_OUT, 0.0)
    with np.errstate(divide="ignore"):
        return float(1 / (math.sqrt(8) * erfinv(place)))


def cell_weights(noise: Axis, rates: Axis) -> tuple[Floats, Floats]:
    """Weights of the corners above and of the laws below, for each kind.

    >>> axis = axis_of(np.array([2.0, 3.0, 6.0]), 1.0, 0)
    >>> one = axis_of(np.ones(3), 0.5, 0)
    >>> [x[1].round(3).tolist() for x in cell_weights(axis, one)]
    [[0.75, 0.25], [0.75, 0.25, 0.0, 0.0]]
    """
    u, v = (
        np.stack([1 - x.up, x.up], 1) if len(x.ends) > 1 else x.up[:, None]
        for x in (noise, rates)
    )
    up = (u[:, :, None] * v[:, None, :]).reshape(len(u), -1)
    one, other = noise.down, rates.down
    both, most = np.minimum(one, other), np.maximum(one, other)
    return up, np.stack([1 - most, one - both, other - both, both], 1)


def cell_of(kinds: Kinds, add: bool) -> Cell | None:
    """All kinds in one cell; None if it is too wide for laws below.

    Parameters: `kinds`; `add`, whether the pairs are reversed.

    >>> noise = np.array([1.0, 1.02, 1.05])
    >>> kinds = Kinds(noise, np.full(3, 0.1), np.ones(3), variation(noise))
    >>> cell = cell_of(kinds, False)
    >>> cell is not None and (len(cell.above), cell.laws.shape)
    (2, (2, 2))
    """
    t, low, high = kinds.variation, np.min(kinds.rate), np.max(kinds.rate)
    weak, strong = float(np.max(kinds.noise)), float(np.min(kinds.noise))
    less, slow = further_noise(t), float(low - (high - low) / _FARTHER_OUT)
    if not (math.isfinite(less) and slow > 0):
        return None
    flat = low == high or weak == strong
    bins = (_BINS if flat else _BINS_BOTH) * (len(t) > _MANY_PLACES)
    noise = axis_of(t, float(variation(np.array([less]))[0]), bins)
    rates = axis_of(kinds.rate, slow, bins)
    laws = np.array([[1.0, 0, 0], [1, -1, 0], [1, 0, -1], [1, -1, -1]])
    laws[:, 1:] *= noise.slope, rates.slope
    laws[:, 0] -= laws[:, 1] + laws[:, 2]
    ratios = most_taken((weak, float(low)), less, slow)
    taken = -(laws[:, 1:] @ ratios)
    up, down = cell_weights(noise, rates)
    used = np.any(down > 0, axis=0)
    if not np.min((laws[:, 0] - taken)[used]) >= _LEAST_LEFT:
        return None
    counts = kinds.steps
    if bins > 0:
        rows = np.hstack([up, down])
        rows, place = np.unique(rows, axis=0, return_inverse=True)
        counts = np.bincount(place.ravel(), counts)
        up, down = np.split(rows, [up.shape[1]], axis=1)
    nodes = np.array([(weak, low), (less, low), (weak, slow)])
    needed = np.any(laws[used] != 0, axis=0)
    noises = (weak, strong)[-len(noise.ends) :]
    return Cell(
        above=tuple(node_pair(x, y, add) for x in noises for y in rates.ends),
        below=tuple(node_pair(x, y, add) for x, y in nodes[needed].tolist()),
        laws=laws[used][:, needed],
        taken=(taken / laws[:, 0])[used],
        weights=(up, down[:, used]),
        counts=counts,
    )


# --- Where to cut

_NORMAL_PLACES = 161  # of the normal law, for a rough mean
_REACH = 9.0  # standard deviations


def rough_moments(
    mu: Floats, rate: Floats, order: float, epsilon: float, add: bool
) -> Floats:
    r"""Means of $e^{\lambda L}$ for sampled Gaussian losses, roughly.

    Beyond epsilon the exponential goes on as a line. Each row has a
    factor of its own, so that its largest term is 1.

    >>> mu = np.array([[1.0, 2.0]])
    >>> means = rough_moments(mu, np.full((1, 2), 0.5), 1.0, 30.0, False)
    >>> round(float(means[0, 1] / means[0, 0]), 2)  # 14.4/1.43
    10.07
    """
    mu, rate = mu[..., None], rate[..., None]
    reach = 0.0 * mu
    if not add:
        odds = math.expm1(min(max(epsilon, 0.0), 50.0)) / rate
        cut = np.log1p(odds) / mu + mu / 2
        reach = np.minimum((order + 1) * mu, cut)
    step = (2 * _REACH + reach) / (_NORMAL_PLACES - 1)
    x = -_REACH + step * np.arange(_NORMAL_PLACES)
    loss = np.log1p(rate * np.expm1(np.minimum(mu * x - mu**2 / 2, 600)))
    capped = np.minimum(-loss if add else loss, epsilon)
    power = order if add else order + 1
    exponent = power * capped - x * x / 2
    terms = np.exp(exponent - np.max(exponent, axis=(1, 2), keepdims=True))
    if not add:
        terms *= 1 + power * np.expm1(loss - capped)
    return np.asarray(np.sum(terms * step, axis=2))


class Aim(NamedTuple):
    """Where a cell's width is predicted: `order`, `epsilon`, `add`."""

    order: float
    epsilon: float
    add: bool


def predicted_gaps(cells: Sequence[Kinds], aim: Aim) -> Floats:
    """What cells will add to the width of epsilon: by noise, and by rate.

    Returns: two numbers for each cell, rough ones; inf where a cell is too
    wide for laws below.
    """
    nodes, places = [], []
    for kinds in cells:
        t, g = kinds.variation, kinds.rate
        (a, b), (c, d) = ((float(np.min(x)), float(np.max(x))) for x in (t, g))
        less, slow = (x - (y - x) / _FARTHER_OUT for x, y in ((a, b), (c, d)))
        less, slow = max(less, 1e-3 * a), max(slow, 1e-3 * c)
        nodes.append([(a, c), (b, c), (a, d), (b, d), (less, c), (a, slow)])
        u = (t - a) / max(b - a, 1e-300)
        v = (g - c) / max(d - c, 1e-300)
        places.append([kinds.steps @ x for x in (u, v, u * v)])
    noise, rate = np.moveaxis(np.array(nodes), 2, 0)
    mu = math.sqrt(8) * erfinv(noise)
    moments = rough_moments(mu, rate, aim.order, aim.epsilon, aim.add)
    base, one, two, both, below, slower = moments.T
    u, v, uv = np.array(places).T
    mixed = uv * (both - one - two + base) / 2
    parts = [
        u * (one - base - _FARTHER_OUT * (base - below)) + mixed,
        v * (two - base - _FARTHER_OUT * (base - slower)) + mixed,
    ]
    some = np.maximum(base, 1e-300)
    gaps = np.stack(parts, 1) / (some * aim.order)[:, None]
    for k, (least, gap) in enumerate(zip(mu, gaps, strict=True)):
        strong = float(1 / least[0]), float(rate[k, 0])
        ratios = most_taken(strong, float(1 / least[4]), float(rate[k, 5]))
        wide = np.array([noise[k, 1] > noise[k, 0], rate[k, 2] > rate[k, 0]])
        taken = _FARTHER_OUT * wide * (np.array(ratios) - 1)
        if 1 - np.sum(taken) < _SOME_LEFT or base[k] == 0:
            gap[:] = np.where(taken == np.max(taken), np.inf, 0.0)
    return np.asarray(gaps)


_FEW_ALONE = 2  # kinds that are cheaper alone
_FEW_OF_BOTH = 5  # the same where noise and rate differ


def cells_to_cut(gaps: Floats, goal: float) -> NDArray[np.bool_]:
    """The widest cells: enough of them, if a half has a quarter of the gap.

    >>> cells_to_cut(np.array([1.0, 3.0, 2.0]), 4.0)
    array([False,  True, False])
    """
    wide = np.isinf(gaps)
    if np.any(wide):
        return wide
    order = np.argsort(-gaps)
    left = np.sum(gaps) - 0.75 * np.cumsum(gaps[order])
    chosen = np.zeros(len(gaps), dtype=bool)
    chosen[order[: 1 + np.count_nonzero(left > goal)]] = True
    return chosen & (gaps > np.max(gaps) / 4)  # others can wait


def cut_kinds(
    kinds: Kinds, aim: Aim, goal: float
) -> tuple[list[Kinds], list[Kinds]]:
    """Kinds cut into cells, and those that are left alone.

    Parameters: `kinds`; `aim`; `goal`, what all cells may add to the width
    of epsilon.
    """
    cells, alone = [kinds], list[Kinds]()
    gaps = predicted_gaps(cells, aim)
    while cells and float(np.sum(gaps)) > goal:
        chosen, new = cells_to_cut(np.sum(gaps, axis=1), goal), list[Kinds]()
        for k in np.flatnonzero(chosen).tolist():
            by_noise = gaps[k, 0] >= gaps[k, 1]
            values = cells[k].variation if by_noise else cells[k].rate
            high = values > (np.min(values) + np.max(values)) / 2
            high |= values == np.max(values)  # neighbours have no middle
            for half in (high, ~high):
                some = cells[k].some(np.flatnonzero(half))
                flat = np.ptp(some.variation) == 0 or np.ptp(some.rate) == 0
                few = _FEW_ALONE if flat else _FEW_OF_BOTH
                (alone if len(some.rate) <= few else new).append(some)
        cells = [x for x, cut in zip(cells, chosen, strict=True) if not cut]
        cells += new
        later = predicted_gaps(new, aim) if new else gaps[:0]
        gaps = np.concatenate([gaps[~chosen], later])
    return cells, alone


def all_cells(
    kinds: Kinds, others: Losses, aim: Aim, goal: float
) -> list[Cell]:
    """Cells for all kinds of steps."""
    together, alone = cut_kinds(kinds, aim, goal)
    cells = []
    for some in together:
        cell = cell_of(some, aim.add)
        if cell is None:
            alone.append(some)
        else:
            cells.append(cell)
    for some in alone:
        rows = np.stack(some[:3]).T.tolist()
        cells += [
            Cell.alone(node_pair(x, y, aim.add), int(n)) for x, y, n in rows
        ]
    return cells + [Cell.alone(pair, n) for pair, n in others]
