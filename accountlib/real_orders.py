# Generated from notebooks/real_orders.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Every real order

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $a$, $b$ | `order`, `less` | order of a Rényi divergence, $1 \le a < \infty$, and $a - 1$ |
| $c$ | `power` | $a$ for remove, $1 - a$ for add |
| $\gamma$ | `rate` | sampling rate; `missed` is $1 - \gamma$ |
| $x$ | – | output in standard deviations |
| $\nu$ | – | standard normal density |
| $\mu_j$, $w_j$ | `means`, `weights` | a shift in standard deviations, and its probability |
| $\mu$ | `top` | the largest shift |
| $r$, $w$ | – | $p/q$ without sampling, and $r - 1$: functions of $x$ |
| $L$ | `loss` | privacy loss of the sampled step, in the direction that is asked for |
| $\Lambda$, $u$ | `spread`, `base` | loss of remove with sampling, and without |
| $\varphi(t)$ | `scaled_remainder` | $e^t - 1 - t$, scaled |
| $J_a$ | `log_j` (its logarithm) | integral for the order $a$ |
| $G$ | – | average of powers in the integrand, a function of $x$ |
| $h$, $o$ | `step`, `offset` | distance of the points of a lattice, and the place of one of them |
| $x_0$ | – | the place where $r(x_0) = 1$ |
| $d$ | `d` | half the width of a strip around the real line |
| $N$, $K$ | –, `log_k` | bound of an integral in the strip, and that bound relative to the integral on the line |
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import EllipsisType

import numpy as np
from scipy.special import expit

from accountlib.checks import UNIT
from accountlib.inputs import Floats, front_door
from accountlib.renyi import REMAINDER, Orders
from accountlib.renyi_sampling import SPLIT

__all__ = [
    "scaled_remainder",
    "LossPoints",
    "loss_points",
    "log_terms",
    "ShiftedNormals",
    "TRAPEZOID_GOAL",
    "trapezoid_step",
    "LatticeCells",
    "cell_points",
    "lattice_cells",
    "lattice_sums",
    "rdp_from_sums",
    "MOST_MEAN",
    "noise_total",
    "normal_curve",
]

# --- The terms


def scaled_remainder(x: Floats) -> tuple[Floats, Floats]:
    r"""The remainder of the exponential in a form that never overflows.

    Formula: $\varphi(x) x^{-2} e^{-\max(x, 0)}$, and $e^{-|x|}$.

    Parameters: `x`, an array.
    Returns: two arrays of the same shape; the first is > 0.
    Error: relative error below 1e-15.
    Source: eqs. (ren-remainder) and (ren-integral).

    >>> value, fall = scaled_remainder(np.array([0.0, -1.0]))
    >>> value.round(12).tolist()  # 1/2, 1/e
    [0.5, 0.367879441171]
    """
    size = np.abs(x)
    fall = np.exp(-size)
    far = np.maximum(size, 0.5)
    value = np.where(x > 0, 1 - (1 + far) * fall, far - 1 + fall) / far / far
    near = size < 0.5
    series = np.polynomial.polynomial.polyval(x[near], REMAINDER)
    value[near] = series * np.where(x[near] > 0, fall[near], 1.0)
    return value, fall


@dataclass(frozen=True)
class LossPoints:
    r"""Places of an integral over losses, whatever the order.

    Formula: at each place the loss L, and the parts of $\varphi(-L)$ and
    of the weight of the place that do not depend on the order.

    Fields: `loss` (L); `log_weight`; `own`, `fall`, see `log_terms`;
    `spread`, the sampled loss $\log(1 + \gamma w)$ of remove; `share`, by how
    much it moves if the loss without sampling moves by 1.
    Source: eq. (ren-integral).
    """

    loss: Floats
    log_weight: Floats
    own: Floats
    fall: Floats
    spread: Floats
    share: Floats


def loss_points(
    base: Floats, log_mass: Floats, *, rate: float, missed: float, add: bool
) -> LossPoints:
    r"""Sampled losses at places with given losses without sampling.

    Formula: $\Lambda = \log(1 - \gamma + \gamma e^u)$; L = $\Lambda$ with
    weight $q e^\Lambda$ for remove, L = $-\Lambda$ with weight q for add.

    Parameters: `base` (u), losses without sampling; `log_mass` ($\log
    q$) under Q; `rate` ($\gamma$), `missed` ($1 - \gamma$, may be 0);
    `add`, the direction.
    Returns: a LossPoints.
    Error: relative error of $\Lambda$ below 1e-15 plus that of u.
    Source: eq. (ren-integral).

    >>> one = np.array([math.log(3.0)])
    >>> at = loss_points(one, 0 * one, rate=0.25, missed=0.75, add=False)
    >>> float(np.exp(at.loss[0]).round(12)), float(at.share[0].round(12))
    (1.5, 0.5)
    """
    loss, share = base, np.ones_like(base)
    log_size = np.log(np.abs(base))
    if missed > 0:
        low, high = math.log(missed), math.log(rate) + base
        w = np.clip(rate * np.expm1(np.minimum(base, 700)), -0.6, 0.6)
        w = np.where(base < 700, w, 0.6)  # not known there: not small
        loss = np.where(np.abs(w) < 0.5, np.log1p(w), np.logaddexp(low, high))
        share = np.asarray(expit(high - low))
        log_size = np.log(np.abs(loss))
        tiny = np.abs(loss) < 1e-9
        if np.any(tiny):  # also where the loss itself would underflow
            gain = np.log(-np.expm1(-np.abs(base))) + np.maximum(base, 0)
            log_size = np.where(
                tiny, math.log(rate) + gain - loss / 2, log_size
            )
    signed = -loss if add else loss
    own, fall = scaled_remainder(-signed)
    log_weight = log_mass + 2 * log_size + np.maximum(loss, 0)
    if not add:
        log_weight = log_mass + 2 * log_size + np.maximum(-loss, 0) + loss
    fall = np.where(signed < 0, fall, 1.0)
    return LossPoints(signed, log_weight, own, fall, loss, share)


def log_terms(
    less: Floats, points: LossPoints, place: Orders | EllipsisType = ...
) -> Floats:
    r"""Logarithms of the terms of the integral at given places.

    Formula: $\log\left(q\left(\varphi(bL)/b + \varphi(-L)\right)\right)$
    with b = a - 1 (and $q e^\Lambda$ for q in the direction of remove).

    Parameters: `less` (b >= 0), an array that broadcasts with the places;
    `points`; `place`, an index into them, for places used many times.
    Returns: an array.
    Error: absolute error about 1e-16 times the exponents.
    Source: eq. (ren-integral).

    >>> one = np.array([1.0])
    >>> at = loss_points(one, 0 * one, rate=1.0, missed=0.0, add=False)
    >>> float(np.exp(log_terms(one, at))[0].round(9))  # e (e - 2 + 1/e)
    2.952492442
    """
    loss = points.loss[place]
    power = less * loss
    value, fall = scaled_remainder(power)
    value *= less * points.fall[place]
    value += points.own[place] * np.where(loss > 0, fall, 1.0)
    terms = np.log(value) + np.maximum(power, 0)
    return np.asarray(terms + points.log_weight[place])


@dataclass(frozen=True)
class ShiftedNormals:
    r"""A sampled mixture of Gaussians against a centred one.

    Formula: $M = w_0 N(0, 1) + (1 - w_0) \sum_j w_j N(\mu_j, 1)$ and $Q =
    N(0, 1)$.

    Parameters: `means` ($\mu_j > 0$), `weights` ($w_j > 0$, sum 1), two
    tuples; `rate` ($1 - w_0$), `missed` ($w_0$, may be 0); `spacing` of
    the outputs in standard deviations if the noise is discrete, else 0.

    >>> pair = ShiftedNormals((2.0,), (1.0,), 0.5, 0.5)
    >>> pair.center, pair.base(np.array([1.0]))[0].tolist()
    (1.0, [2.0])
    """

    means: tuple[float, ...]
    weights: tuple[float, ...]
    rate: float = 1.0
    missed: float = 0.0
    spacing: float = 0.0

    @property
    def top(self) -> float:
        """The largest mean."""
        return max(self.means)

    @property
    def center(self) -> float:
        """Output from which places are counted: no digit is lost there."""
        return self.means[0] / 2

    def base(self, y: Floats) -> tuple[Floats, Floats]:
        """Loss without sampling at x = center + y, and its slope."""
        if len(self.means) == 1:
            return self.means[0] * y, np.full(y.shape, self.means[0])
        means = np.array(self.means)
        powers = np.multiply.outer(y, means)
        powers += means * (self.center - means / 2)
        terms = powers + np.log(self.weights)
        most = np.max(terms, axis=-1, keepdims=True)
        parts = np.exp(terms - most)
        total = np.sum(parts, axis=-1)
        grown = np.expm1(np.minimum(powers, 700)) * self.weights
        large = np.exp(np.minimum(terms, 700))
        growth = np.sum(np.where(powers < 700, grown, large), axis=-1)
        near = np.where(np.abs(growth) < 0.5, growth, 0.0)
        far = most[..., 0] + np.log(total)
        loss = np.where(np.abs(growth) < 0.5, np.log1p(near), far)
        return np.asarray(loss), np.asarray((parts @ means) / total)

    def points(self, y: Floats, add: bool) -> LossPoints:
        """Losses and weights at x = center + y."""
        x = y + self.center
        return loss_points(
            self.base(y)[0],
            -x * x / 2,
            rate=self.rate,
            missed=self.missed,
            add=add,
        )


TRAPEZOID_GOAL = 1e-15  # relative error that the step is chosen for


def trapezoid_step(less: float, pair: ShiftedNormals, add: bool) -> float:
    r"""Step that makes the trapezoid rule exact to a relative 1e-15.

    Formula: $h = 2 \pi d / \log(1 + 2K/10^{-15})$ with K of Lemma "Beside
    the line", for a width d that makes h large.

    Parameters: `less` (a - 1), `add`: the direction; `pair`.
    Returns: h, in standard deviations.

    >>> pair = ShiftedNormals((1.0,), (1.0,), 0.01, 0.99)
    >>> round(trapezoid_step(5.0, pair, False), 3)
    0.4
    """
    top = pair.top
    short = max(0.0, 2 + less if add else 1 - less)
    d = min(8.0, 3 / top, 6 / (top * math.sqrt(short + 1)))
    log_k = d**2 / 2 + math.log(2 + 184 * d**2 * max(1.0, top**2))
    log_k -= short * math.log(math.cos(top * d / 2))
    return 2 * math.pi * d / (log_k + math.log(2 / TRAPEZOID_GOAL + 1))


# --- Where to add


@dataclass(frozen=True)
class LatticeCells:
    r"""Cells of a lattice, seen at their first and their last point.

    Parameters: `pair`; `add`; `first`, `last`, the places of both, counted
    from the center of the pair.
    Source: eq. (ren-slope).
    """

    pair: ShiftedNormals
    add: bool
    first: Floats
    last: Floats

    @cached_property
    def ends(self) -> tuple[LossPoints, LossPoints]:
        """Losses and weights at the two ends."""
        points = self.pair.points
        return points(self.first, self.add), points(self.last, self.add)

    def log_bound(self, less: Floats, cell: Orders) -> tuple[Floats, Floats]:
        """Bound of the largest term, and the larger term of the two ends."""
        power = -less if self.add else less + 1
        more, short = np.maximum(power - 2, 0), np.maximum(2 - power, 0)
        at, to = (log_terms(less, end, cell) for end in self.ends)
        left, _ = self.pair.base(self.first)
        right, slope = self.pair.base(self.last)
        sampled = slope * self.ends[1].share
        rise = (-2 * slope / np.expm1(-left))[cell] + more * sampled[cell]
        fall = (2 * slope / np.expm1(-right))[cell] + short * sampled[cell]
        a, b = (x[cell] + self.pair.center for x in (self.first, self.last))
        x, y = np.clip(rise, a, b), np.clip(-fall, a, b)
        above = at + (x - a) * (rise - (x + a) / 2)
        below = to + (b - y) * (fall + (y + b) / 2)
        bound = np.where(right[cell] < 0, below, np.inf)
        return np.where(left[cell] > 0, above, bound), np.maximum(at, to)

    def exponents(self, less: Floats, cell: Orders) -> Floats:
        """Size of the numbers that are added up in the exponents."""
        far = np.maximum(np.abs(self.first), np.abs(self.last))
        far = (far + self.pair.center)[cell]
        one, two = self.ends
        size = np.maximum(np.abs(one.spread), np.abs(two.spread))[cell]
        up = np.maximum(one.loss, two.loss)[cell]
        slope = (self.pair.base(self.last)[1] * two.share)[cell]
        moved = (1 + less * (up > 0)) * slope * (far + self.pair.top)
        return np.asarray(far**2 + size + less * np.maximum(up, 0) + moved)


def cell_points(step: float) -> int:
    """Points of the smallest cells of a lattice: some 12 standard deviations.

    Parameters: `step` of the lattice, in standard deviations.
    Returns: a whole number, at most `SPLIT`.

    >>> cell_points(0.01), cell_points(5.0), cell_points(1e4)
    (32, 2, 1)
    """
    return max(1, min(SPLIT, int(12 / step)))


@front_door
def lattice_cells(
    less: Floats, pair: ShiftedNormals, add: bool, step: float, offset: float
) -> tuple[Orders, Orders, Floats, Floats, Floats]:
    r"""Cells of a lattice that matter for the integral, for many orders.

    Formula: a cell is dropped if a bound of all its terms is below
    $e^{-42}$ of a term that was seen, else cut into eight.

    Parameters: as for `lattice_sums`.
    Returns: the orders (by index) and the first points of the cells kept
    (of `cell_points` each); for each order the logarithm of a large term,
    a bound of all terms left out, relative to it, and the size of the
    exponents.
    Source: eq. (ren-slope).

    >>> pair = ShiftedNormals((1.0,), (1.0,))
    >>> lattice_cells(np.ones(1), pair, False, 0.3, 0.0)[1].size
    3
    """
    power = -less if add else less + 1
    most = max(0.0, float(np.max(power)) - 2)
    short = max(0.0, 2 - float(np.min(power)))
    outer = np.array([-14 - pair.center])  # beyond, terms fall like e^-13x
    sampled = pair.base(outer)[1] * pair.points(outer, add).share
    low, high = float((outer - short * sampled)[0]), 14 + (6 + most) * pair.top
    start, level, split = math.floor(low / step), 0, cell_points(step)
    while split * 8**level * step < high - start * step:
        level += 1
    row, place = np.arange(len(less)), np.zeros(len(less), np.int64)
    best, lost = np.full((2, len(less)), -np.inf), np.zeros(len(less))
    for width in [split * 8**k for k in range(level, -1, -1)]:
        if width < split * 8**level:
            row = np.repeat(row, 8)
            place = (8 * place[:, None] + np.arange(8)).ravel()
        each, cell = np.unique(place, return_inverse=True)
        first = (start + each * width + offset) * step
        cells = LatticeCells(pair, add, first, first + (width - 1) * step)
        bound, seen = cells.log_bound(less[row], cell)
        np.maximum.at(best[0], row, seen)
        if width == split * 8**level:
            best[1] = seen
        bound += math.log(width)
        keep = ~(bound < best[0, row] - 42)
        gone = np.exp(np.minimum(bound - best[0, row], 0))
        lost += np.bincount(row, np.where(keep, 0, gone), len(less))
        row, place, cell = row[keep], place[keep], cell[keep]
    size = np.zeros(len(less))
    np.maximum.at(size, row, cells.exponents(less[row], cell))
    lost += np.exp(best[1] - best[0]) * 2 / -math.expm1(-13 * step)
    return row, start + place * split, best[0], lost, size


@front_door
def lattice_sums(
    less: Floats,
    pair: ShiftedNormals,
    *,
    add: bool,
    step: float,
    offset: float = 0.0,
) -> tuple[Floats, Floats]:
    r"""Sums of the terms of the integral over a lattice of outputs.

    Formula: $\log\left(\frac{h}{\sqrt{2\pi}} \sum_k e^{t_k}\right)$ with the
    terms of `log_terms` at the places center + (k + offset) h.

    Parameters: `less` (a - 1 >= 0), a 1-d array; `pair`; `add`, the
    direction; `step` (h); `offset` in [0, 1).
    Returns: logarithms, and bounds of their absolute errors: terms that
    were dropped, and rounding.

    >>> pair = ShiftedNormals((1.0,), (1.0,))
    >>> log_j, _ = lattice_sums(np.ones(1), pair, add=False, step=0.3)
    >>> float(np.log1p(np.exp(log_j))[0].round(12))  # R(2) = 1
    1.0
    """
    found = lattice_cells(less, pair, add, step, offset)
    row, first, best, lost, size = found
    total = np.zeros(len(less))
    each, cell = np.unique(first, return_inverse=True)
    places = each[:, None] + np.arange(cell_points(step)) + offset
    points = pair.points(places * step, add)
    for part in np.array_split(np.arange(len(row)), 1 + len(row) // 8000):
        terms = log_terms(less[row[part], None], points, cell[part])
        top = best.copy()
        np.maximum.at(top, row[part], np.max(terms, axis=1))
        shrink = np.exp(best - top)
        best, total, lost = top, total * shrink, lost * shrink
        terms = np.exp(terms - best[row[part], None])
        total += np.bincount(row[part], np.sum(terms, axis=1), len(less))
    log_sum = best + np.log(total) + math.log(step / math.sqrt(2 * math.pi))
    size += np.abs(log_sum)
    return log_sum, lost / total + UNIT * (64 + 8 * size)


# --- The curve


@front_door
def rdp_from_sums(less: Floats, log_j: Floats, error: Floats) -> Floats:
    r"""Renyi divergence from the logarithm of the integral, rounded up.

    Formula: $\log(1 + b J)/b$, or J for b = 0.

    Parameters: `less` (b = a - 1 >= 0), `log_j` ($\log J$), `error` of it.
    Returns: an upper bound, at least the smallest float.
    Source: eq. (ren-integral).

    >>> rdp_from_sums(np.ones(1), np.zeros(1), np.zeros(1)).round(12)
    array([0.69314718])
    """
    log_j = log_j + error
    gain = np.log(less) + log_j
    positive = np.where(less > 0, less, 1.0)
    inner = np.log1p(np.exp(np.minimum(gain, 700))) / positive
    value = np.where(gain > 700, gain / positive, inner)
    value = np.where(gain < -40, np.exp(np.minimum(log_j, 700)), value)
    return value * (1 + 8 * UNIT) + 1e-323  # tiny floats have few digits


MOST_MEAN = 1e4  # largest mean, in standard deviations, that is integrated


def noise_total(spacing: float) -> float:
    r"""Sum over the discrete Gaussian law before it is normalised.

    Formula: $\frac{h}{\sqrt{2\pi}} \sum_j e^{-j^2 h^2/2}$.

    Parameters: `spacing` (h > 0).
    Returns: a number; 1 up to $2 e^{-2\pi^2/h^2}$.
    Error: relative error below 1e-15.

    >>> round(noise_total(0.5), 15), round(noise_total(10.0), 6)
    (1.0, 3.989423)
    """
    if spacing < 0.7:
        return 1.0
    places = np.arange(1, 60)
    total = 1 + 2 * math.fsum(np.exp(-((places * spacing) ** 2) / 2))
    return spacing / math.sqrt(2 * math.pi) * total


def normal_curve(
    pair: ShiftedNormals, *, add: bool
) -> Callable[[Floats], Floats]:
    r"""Renyi divergence of shifted normal noise, at every real order.

    Formula: eq. (ren-integral) by the trapezoid rule; for noise on the
    integers the sum over them, divided by the sum of the noise.

    Parameters: `pair`; `add`: D(Q || M) instead of D(M || Q).
    Returns: a function of a 1-d array of finite orders >= 1.
    Error: an upper bound; relative error below 1e-11 for orders up to 100
    and means up to 10, mostly below 1e-12; in general $10^{-15} + 2^{-50}
    E$ with the largest exponent E where the integrand counts, and for
    several means $2^{-44} \max(1, \mu) (1 + \mu)$ more. Above `MOST_MEAN`,
    and where E is so large that no digit is left, the bound is $a \mu^2/2$.

    >>> step = ShiftedNormals((2.0,), (1.0,), 0.01, 0.99)  # noise 0.5
    >>> float(normal_curve(step, add=False)(np.array([2.5]))[0].round(12))
    0.014771278212
    """
    top, number, spacing = pair.top, len(pair.means), pair.spacing
    extra = (2 if spacing else 1) * TRAPEZOID_GOAL  # of both sums
    if number > 1:
        extra += (512 + number) * UNIT * max(1.0, top) * (1 + top)

    @front_door
    def curve(order: Floats) -> Floats:
        less = order - 1
        if top > MOST_MEAN:
            return order * (top**2 / 2 * (1 + 8 * UNIT))
        short = np.maximum(0.0, 2 + less if add else 1 - less)
        group = np.ceil(np.log1p(short) / math.log(4))
        result = np.empty(len(order))
        for one in np.unique(group):
            here = np.flatnonzero(group == one)
            worst = here[np.argmax(short[here])]
            step, offset = trapezoid_step(float(less[worst]), pair, add), 0.0
            if spacing > step:
                offset = round(pair.top / spacing) % 2 / 2
                step = spacing
            log_j, error = lattice_sums(
                less[here], pair, add=add, step=step, offset=offset
            )
            log_j -= math.log(noise_total(spacing) if step == spacing else 1)
            result[here] = rdp_from_sums(less[here], log_j, error + extra)
        line = order * (top**2 / 2 * (1 + 8 * UNIT) + 1e-323)  # never 0
        # Exponents above 1e15 have lost all digits: then without sampling
        return np.where(result <= 2 * line, result, line)

    return curve
