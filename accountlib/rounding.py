# Generated from notebooks/rounding.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Is the interval a proof?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from accountlib.cells import Table
from accountlib.checks import UNIT, Floats
from accountlib.fourier import (
    Complex,
    Part,
    beyond_last,
    kernel,
    log_peak,
    transform,
)

__all__ = [
    "TINY",
    "log_sum",
    "tilted",
    "log_one_plus",
    "log_expm1",
    "Product",
    "log_moment",
    "Spectrum",
    "spectrum",
]

# --- Code: tilted masses

TINY = 1e-290  # more than all that underflow can lose


def log_sum(x: Floats) -> float:
    """log of the sum of e^x; -inf if there is nothing to add."""
    top = float(x.max(initial=-np.inf))
    return top + math.log(np.exp(x - top).sum()) if top > -np.inf else top


def tilted(table: Table, part: Part, up: bool) -> tuple[Floats, float, float]:
    """Masses m = e^(tilt (x - c) + log p - k), rounded outward, c and k."""
    x, log_m, sign = table.loss, table.log_mass, 1 if up else -1
    used = part.near(x) | (part.which == "far")
    power = np.where(used, part.tilt * x + log_m, -np.inf)
    rough = np.exp(power - power.max())
    center = float(x @ rough / rough.sum())
    power = part.tilt * (x - center)
    wide = np.abs(power) + np.abs(log_m) + 8
    power = power + log_m
    k = log_sum(power[used])
    power = power - k + sign * 8 * UNIT * (wide + abs(k))
    m = np.exp(np.where(used, np.fmin(power, 1.0), -np.inf))
    m = np.where(m > 2, np.nan, m)  # only noise is left
    return np.where(m < TINY, TINY if up else 0.0, m) * used, center, k


# --- Code: a power of exponent a billion


def log_one_plus(z: Complex) -> Complex:
    """log(1 + z) with all digits of its real part, unlike np.log1p.

    >>> bool(log_one_plus(np.array([-5e-13 + 1e-6j])).real[0] < 1e-20)
    True
    """
    x = z.real * (2 + z.real) + z.imag**2
    near = np.abs(x) < 0.5
    near_one = 0.5 * np.log1p(np.where(near, x, 0.0))
    real = np.where(near, near_one, np.log(np.abs(1 + z)))
    return real + 1j * np.arctan2(z.imag, 1 + z.real)


def log_expm1(x: Floats) -> Floats:
    """log(e^x - 1) for x >= 0, without overflow."""
    return x + np.log(-np.expm1(-x))


class Product:
    """prod n^T over all kinds, or prod (n + f)^T - prod n^T, with errors.

    n and f are the transforms of near and far losses, divided by the mass of
    the near ones; that, and the tilt, go into `scale`.
    """

    def __init__(self, part: Part, kinds: int) -> None:
        zero = np.zeros(part.last + 1)
        self.part, self.kinds = part, kinds
        self.near, self.far = 0j * zero, 0j * zero  # logarithms
        self.lost = self.gain = self.moved = zero
        self.turned = self.twisted = zero
        self.center = self.centers = self.scale = self.scale_error = 0.0

    def times(self, table: Table, up: bool) -> None:
        """Multiply by one kind."""
        part, count = self.part, table.count
        m, center, k = tilted(table, part, up)
        x, near = table.loss - center, part.near(table.loss)
        rows = [m * near, m * ~near][: 1 + (part.which == "far")]
        whole = math.fsum(rows[0]) or math.nan
        unit = 4 * UNIT * (len(x) + 64) / whole
        turn, sums = unit * part.theta, transform(np.array(rows), x, part)
        sums = sums / whole
        log_n, wrong = log_one_plus(sums[0]), turn * (rows[0] @ np.abs(x))
        size = np.exp(log_n.real)
        floor = size < wrong  # too little is left: keep the phase only
        size = np.where(floor, wrong, size)
        log_n = np.where(floor, np.log(size), log_n.real) + 1j * log_n.imag
        wrong = np.where(floor, 2 * wrong, wrong)
        self.near = self.near + count * log_n  # rows 4, 6 and 7
        self.lost = self.lost + count * np.log1p(wrong / size)
        self.turned = self.turned + count * (
            np.abs(log_n.real) + np.abs(log_n.imag)
        )
        self.center += count * center  # row 9
        self.centers += count * abs(center)
        scale = abs(k) + abs(math.log(whole))  # row 3
        self.scale += count * (k + math.log(whole))
        self.scale_error += count * UNIT * (2 + (self.kinds + 8) * scale)
        if part.which == "far":  # row 5
            f = math.fsum(rows[1]) / whole + sums[1]
            off = turn * (rows[1] @ np.abs(x)) + unit * rows[1].sum()
            ratio = log_one_plus(f * np.exp(-log_n))
            self.far = self.far + count * ratio
            self.gain = self.gain + count * np.log1p(np.abs(f) / size)
            off = count * np.log1p(off / (size + np.abs(f)))
            self.moved = self.moved + off
            self.twisted = self.twisted + count * (
                np.abs(ratio.real) + np.abs(ratio.imag)
            )

    def value(self) -> tuple[Complex, Floats]:
        """The product and a bound of its error."""
        near, far, each = self.near, self.far, (self.kinds + 16) * UNIT
        log_error = near.real + log_expm1(self.lost + each * self.turned)
        if self.part.which != "far":
            return np.exp(near), np.exp(log_error) + TINY
        moved = self.moved + each * self.twisted
        error = np.exp(log_error + log_expm1(self.gain + moved)) + TINY
        error += np.exp(near.real + self.gain + log_expm1(moved))
        high = np.exp(near + far) * -np.expm1(-far)
        low = np.exp(near) * np.expm1(far)
        return np.where(far.real > 1, high, low), error


# --- Code: reading a number


def log_moment(tables: Sequence[Table], part: Part, order: float) -> float:
    r"""log of the integral of $e^{l s}$ over totals s of a part, from above.

    Parameters: `tables` of all kinds; `part`, which says what is near;
    `order` (l), of any sign.
    Returns: an upper bound; infinite if rounding leaves more than 0.01.
    Source: page-rounding, row 14 of its table.

    >>> table = Table(np.array([-1.0, 1.0]), np.log([0.5, 0.5]), 0.0, 1000)
    >>> part = Part("all", 0.0, 1.0, 1.0, 1.0, 1, 0.5, 2.0)
    >>> round(log_moment([table], part, 0.1), 6)  # 1000 log cosh 0.1
    4.991689
    """
    rows, error = [], 0.0
    for t in tables:
        power, near = order * t.loss + t.log_mass, part.near(t.loss)
        n, f = log_sum(power[near]), log_sum(power[~near])
        some = power > np.where(near, n, f) - 800  # digits of others vanish
        wide = np.abs(order * t.loss[some]) + np.abs(t.log_mass[some])
        r = UNIT * (2 * len(power) + 100 + 20 * wide.max(initial=0.0))
        error += t.count * r
        f = max(f - n, -700.0)  # upward, and no underflow
        rows.append((t.count * n, t.count * np.logaddexp(0.0, f)))
    total, gain = map(math.fsum, zip(*rows, strict=True))
    if part.which == "far":
        total += float(log_expm1(np.array(gain)))
    return float(total + error) if error < 0.01 else math.inf


@dataclass(frozen=True, eq=False)
class Spectrum:
    r"""One side's delta(epsilon) as a sum over few frequencies.

    Formula: $e^{s + \lambda y} (\mathrm{Re} \sum_k w_k e^{i \theta_k y} \pm
    (a + |y| b))$, y = center - epsilon.

    Fields: `part`; `up`; `scale` (s) and `center` with their errors; `drift`,
    an error for each unit of a number that is added up; `weights` (w);
    `still` (a), `turning` (b); `moments`, logs of moments by order.
    """

    part: Part
    up: bool
    scale: float
    scale_error: float
    center: float
    center_error: float
    drift: float
    weights: Complex
    still: float
    turning: float
    moments: dict[float, float]

    @np.errstate(all="ignore")
    def __call__(self, epsilon: Floats) -> Floats:
        """The bound of delta at an array of epsilons."""
        sign = 1 if self.up else -1
        y = self.center - epsilon
        y = y + sign * (
            self.center_error + self.drift * (np.abs(y) + np.abs(epsilon))
        )
        n = math.isqrt(self.part.last) + 1  # phases as products of two
        theta = self.part.theta[:n]
        fine = np.exp(1j * np.multiply.outer(y, theta))
        row = np.append(self.weights, np.zeros(-len(self.weights) % n))
        blocks = row.reshape(-1, n)
        angle = n * 2 * math.pi / self.part.period
        coarse = np.multiply.outer(y, angle * np.arange(len(blocks)))
        value = ((fine @ blocks.T) * np.exp(1j * coarse)).real.sum(-1)
        value = value + sign * (self.still + np.abs(y) * self.turning)
        power = self.part.tilt * y
        log_value = np.log(np.abs(value))  # one exponential, which may vanish
        size = np.abs(power) + np.abs(log_value) + 8
        slack = self.scale_error + self.drift * size
        delta = np.exp(self.scale + power + log_value + sign * slack)
        if self.up:  # or Chernoff's bound, where the sum is worse
            delta = np.where(value > 0, delta + 1e-300, 1.0)
            other = np.exp(self.chernoff(self.part.tilt, epsilon)) + 1e-300
            return np.fmin(np.fmin(delta, other), 1.0)
        for order in self.moments:  # what may wrap around on either side
            away = abs(order - self.part.tilt) * self.part.period
            power = self.chernoff(order, epsilon, away)
            delta = delta - np.exp(power) / -np.expm1(-away)
        return np.where(value > 0, np.fmax(delta, 0.0), 0.0)

    def chernoff(
        self, order: float, epsilon: Floats, away: float = 0.0
    ) -> Floats:
        """log of Chernoff's bound of delta at an order, times e^-away."""
        moment, peak = self.moments[order], float(log_peak(np.array(order)))
        size = abs(moment) + abs(peak) + np.abs(order * epsilon) + away + 16
        return moment + peak - order * epsilon - away + 8 * UNIT * size


@np.errstate(all="ignore")
def spectrum(tables: Sequence[Table], part: Part, up: bool) -> Spectrum:
    """delta(epsilon) of one part from one side, with every error counted.

    Formula: A+ from above, A- - R from below (Theorem thm-fou-ends).

    Parameters: `tables`, one a kind, pessimistic if `up`, else optimistic,
    each with a loss; `part`, any choice.
    Returns: a function of an array of epsilons, whose values are at least
    (`up`) or at most (else) the delta of the sums that the part stands for;
    1 or 0 where nothing can be said.
    Raises: ArithmeticError if `below` < `tilt` < `above` fails.
    Source: page-rounding, its table of errors.

    >>> table = Table(np.array([-1.0, 1.0]), np.log([0.27, 0.73]), 0.0, 10)
    >>> part = Part("all", 0.0, 1.0, 40.0, 0.01, 600, 0.5, 2.0)
    >>> at = np.array([5.0])
    >>> [round(float(spectrum([table], part, up)(at)[0]), 4)
    ...     for up in (False, True)]
    [0.361, 0.361]
    """
    if not up and not part.below < part.tilt < part.above:
        raise ArithmeticError(f"no orders on both sides of the tilt: {part}")
    product, drift = Product(part, len(tables)), (len(tables) + 8) * UNIT
    for table in tables:
        product.times(table, up)
    value, error = product.value()
    weights, sizes = kernel(part, up)
    z, size = part.tilt + 1j * part.theta, np.abs(value)
    steps = part.last + 160 + 8 * part.variance * np.abs(z * (z + 1))
    still = float(sizes @ (error + UNIT * steps * size))
    still += beyond_last(part, float(size[0] + error[0]), float(sizes[-1]))
    orders = (part.tilt,) if up else (part.below, part.above)
    return Spectrum(
        part,
        up,
        product.scale,
        product.scale_error,
        product.center,
        drift * product.centers,
        drift,
        weights * value,
        still,
        8 * UNIT * float((sizes * part.theta) @ size),
        {x: log_moment(tables, part, x) for x in orders},
    )
