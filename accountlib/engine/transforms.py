# Generated from notebooks/engine/transforms.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Adding losses by frequencies

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\lambda$ | `tilt` | exponent of the tilt, $\ge 0$ |
| $K$ | `log_scale` | log of the mean of $e^{\lambda S}$, which undoes the tilt |
| $\Delta$ | `step` | distance of the grid points |
| $\ell_x$, $g_x$ | `gap` | loss at the place $x$; $g_x = \ell_x - \varepsilon$ |
| $m_x$, $w_x$ | `mass` | tilted mass and weight at the place $x$ |
| $N$, $k$ | `size`, `frequency` | places of a circle; frequency, $0 \le k < N$, in code up to $N/2$ |
| $\theta_k$ | `angle` | $2\pi k/N$ |
| $\hat m_k$, $\hat w_k$ | `value` | transforms of masses and weights |
| $z_k$, $\beta_k$ | `z`, `wrong` | transform of one table, minus its mass; a bound of its error |
| $T$ | `count` | number of equal losses that are added |
| $\tau$, $\tau_2$ | `tail`, `log_tail` | tilted mass that a table lacks or has too much; mass outside of each end of the window |
| $\eta$ | `thetas` | exponents in Chernoff's inequality, $> 0$ |
| $n_l$, $c_l$ | `length`, `weight` | length and mass of a uniform part |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.fft import fft, rfft

from accountlib.counting.rounding import log_peak
from accountlib.engine.one_sided import OneSided, TiltedTable
from accountlib.inputs import Floats
from accountlib.worst_cases.dominating_pairs import UNIT

__all__ = [
    "Spectrum",
    "tail_window",
    "smooth_parts",
    "log_decay",
    "highest_frequency",
    "slow_transform",
    "fast_transform",
    "log_one_plus",
    "log_transform",
]

# --- Composition on a circle


@dataclass(frozen=True, eq=False)
class Spectrum(OneSided):
    r"""One-sided table of a sum, known by its transform on a circle.

    Formula: with $\theta = 2\pi k/N$ the entry of frequency k is the sum
    of $m e^{i \theta x}$ over the places x from the start of the window.

    Fields: those of `OneSided`; `size` (N), `first`, index where the
    window begins; `frequency` (k, from 0), `value` (the entries, divided
    by N, those of pairs k, N - k twice), `wrong` (a bound for the error of
    each), `rest` (a bound for the sum of all that are left out).
    """

    size: int
    first: int
    frequency: NDArray[np.int64]
    value: NDArray[np.complex128]
    wrong: Floats
    rest: float

    @property
    def reach(self) -> float:
        ends = self.first, self.first + self.size
        return abs(self.offset) + self.step * max(map(abs, ends))

    @cached_property
    def _factors(self) -> tuple[NDArray[np.complex128], ...]:
        """1/((1 - a)(1 - b)), 1/(1 - a) and 1/(1 - b)."""
        angle = 2 * np.pi * self.frequency / self.size
        turn, bend = np.exp(-1j * angle), 2 * np.sin(angle / 2) ** 2
        one_a, one_b = (
            bend - np.expm1(-x) * turn.real - 1j * math.exp(-x) * turn.imag
            for x in (self.tilt * self.step, (1 + self.tilt) * self.step)
        )
        return 1 / (one_a * one_b), 1 / one_a, 1 / one_b

    @cached_property
    def _series(self) -> tuple[NDArray[np.complex128], ...]:
        """Entries over (1 - a)(1 - b), and times a too."""
        near = self.value * self._factors[0]
        angle = 2 * np.pi * self.frequency / self.size
        a = math.exp(-self.tilt * self.step) * np.exp(-1j * angle)
        return near, near * a

    @cached_property
    def _sums(self) -> tuple[float, ...]:
        near, far, beyond = self._factors
        ends = (float(np.sum((self.value * x).real)) for x in (far, beyond))
        wrong = UNIT * (len(near) + 224) * np.abs(self.value) + self.wrong
        sizes = (float(wrong @ np.abs(x)) for x in (near, far, beyond))
        return *ends, *sizes

    @cached_property
    def _blocks(self) -> NDArray[np.complex128]:
        """The first two series, as rows of neighbouring frequencies."""
        block = math.isqrt(int(self.frequency[-1])) + 1
        table = np.zeros((2, block * block), complex)
        table[:, self.frequency] = self._series
        return table.reshape(2 * block, block)

    def _turned(self, place: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """The first two series at some places: one by one, or by FFT."""
        last, unit = int(self.frequency[-1]), -2j * np.pi / self.size
        if place.size * last > 4 * self.size + 1e5:
            circle = np.zeros((2, self.size), complex)
            circle[:, self.frequency] = self._series
            at_near, at_next = fft(circle).real[:, place]
            return at_near, at_next
        # Frequency k is b + block g: few exponentials, many products.
        block = math.isqrt(last) + 1
        fine, coarse = (
            np.exp(unit * (np.multiply.outer(place, steps) % self.size))
            for steps in (np.arange(block), block * np.arange(block))
        )
        parts = fine @ self._blocks.T
        parts = parts.reshape(*place.shape, 2, block)
        found = np.sum(parts * coarse[..., None, :], axis=-1).real
        return found[..., 0], found[..., 1]

    def weighed(self, epsilon: Floats) -> tuple[Floats, Floats]:
        step, tilt = self.step, self.tilt
        start = self.offset + step * float(self.first)  # loss of place 0
        place = np.floor((epsilon - start) / step) + 1
        place = np.minimum(np.maximum(place, 0), self.size).astype(np.int64)
        gap = np.maximum(start + step * place - epsilon, 0.0)
        end = gap + step * (self.size - place)
        near, next_one = self._turned(place % self.size)
        far, beyond, wrong_near, wrong_far, wrong_beyond = self._sums
        # The terms of a geometric series from `place` on, and after `end`.
        scale, last = np.exp(-tilt * gap), np.exp(-tilt * end)
        rise = -np.expm1(-gap)
        fall = np.exp(-np.minimum(gap, step)) * np.expm1(-np.abs(gap - step))
        fall = np.copysign(fall, step - gap)
        value = scale * (rise * near + fall * next_one)
        value -= last * (far - np.exp(-end) * beyond)
        wrong = scale * (rise + np.abs(fall)) * wrong_near
        wrong += last * (wrong_far + np.exp(-end) * wrong_beyond)
        wrong += self.rest * self.size * math.exp(log_peak(tilt))
        within = place < self.size
        return np.where(within, value, 0), np.where(within, wrong + 1e-290, 0)


# --- The window


def tail_window(
    parts: Sequence[tuple[TiltedTable, int]],
    log_tail: float,
    thetas: tuple[float, float],
) -> tuple[int, int]:
    r"""Indices outside of which the tilted total has little mass.

    Formula: $x = (\ln E_\lambda[e^{\eta X}] - \ln \tau_2)/\eta$ above,
    the mirror image below.

    Parameters: `parts`, tables and counts; `log_tail` ($\ln \tau_2$);
    `thetas` ($\eta$), for the lower and the upper end, per index.
    Returns: (first, last); at most $\tau_2$ lies below, and above.
    Source: Chernoff (1952).

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.5, 0.5])
    ... )
    >>> tail_window([(coin, 10_000)], -28.0, (0.15, 0.15))
    (4626, 5374)
    """
    ends = []
    for sign, theta, end in zip((-1, 1), thetas, (0, -1), strict=True):
        total, growth, support = 0, 0.0, 0
        for table, count in parts:
            seen = np.flatnonzero(table.mass)
            place, mass = table.index[seen], table.mass[seen]
            center = int(place[np.argmax(mass)])
            away, log_mass = sign * theta * (place - center), np.log(mass)
            exponent = away + log_mass
            top = float(np.max(exponent))
            log_sum = math.log(float(np.sum(np.exp(exponent - top))))
            size = float(np.max(np.abs(away) + np.abs(log_mass)))
            room = UNIT * (64 + math.log2(len(seen)) + 4 * size)
            growth += count * (top + log_sum + room)
            total += count * center
            support += count * int(table.index[end])
        # of the tiniest losses, an exponent for each index may be 0
        reach = (growth - log_tail) / theta if theta > 0 else math.inf
        reach += 1e-9 * abs(reach) + 1e-3
        if reach < abs(support - total):
            support = total + sign * math.ceil(reach)
        ends.append(support)
    return min(ends), ends[1]  # one place, if all of the mass is little


# --- High frequencies


def smooth_parts(table: TiltedTable) -> tuple[Floats, Floats]:
    r"""Uniform parts of a table: their lengths n and masses c.

    Formula: $m \ge \sum_l c_l/n_l$ on stretches of $n_l$ neighbouring
    indices around the largest mass, one for each level $m_{\max} 2^{-l}$.

    Parameters: `table`.
    Returns: (n, c), arrays; the sum of c is at most the mass.

    >>> table = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(3), np.array([0.25, 0.5, 0.25])
    ... )
    >>> [x.tolist()[:2] for x in smooth_parts(table)]
    [[1.0, 3.0], [0.25, 0.375]]
    """
    top = int(np.argmax(table.mass))
    levels = table.mass[top] * 2.0 ** -np.arange(20)
    length = np.full(len(levels), -1)
    for turn in (1, -1):
        mass = table.mass[top::turn]
        gaps = np.abs(np.diff(table.index[top::turn])) != 1
        if np.any(gaps):
            mass = mass[: int(np.argmax(gaps)) + 1]
        lowest = np.minimum.accumulate(mass)
        length += np.searchsorted(-lowest, -levels, side="right")
    return length.astype(float), length * -np.diff(levels, append=0.0)


def log_decay(
    parts: Sequence[tuple[Floats, Floats, float]], angles: Floats
) -> Floats:
    r"""How far the transform of a sum has surely decayed, in logarithms.

    Formula: $\sum_j T_j \sum_l c_{jl} (1 - d_{n_{jl}}(\theta))$ with
    $d_n(\theta) = \max(|\sin(n\theta/2)/(n \sin(\theta/2))|, 1/(n
    \sin(\pi/n)))$ up to $\theta = 2\pi/n$, the second alone beyond.

    Parameters: `parts`, (n, c, T) for each table, c relative to its mass;
    `angles` ($\theta$ in (0, pi]).
    Returns: non-decreasing numbers; the transform is at most their
    exponential, negated, there and at all larger angles.

    >>> coin = np.array([2.0]), np.array([1.0]), 10
    >>> log_decay([coin], np.array([np.pi / 3])).round(2)
    array([1.34])
    """
    length = np.concatenate([n for n, _, _ in parts])
    weight = np.concatenate([count * c for _, c, count in parts])
    long = length >= 2
    length, weight = length[long], weight[long]
    side = 1 / (length * np.sin(np.pi / length))
    half = np.minimum(np.multiply.outer(angles, length) / 2, np.pi)
    main = np.sin(half) / (length * np.sin(angles / 2)[:, None])
    decay = np.asarray((1 - np.maximum(main, side)) @ weight)
    return decay * (1 - 1e-9) - 16 * UNIT * float(np.sum(weight))


def highest_frequency(
    parts: Sequence[tuple[TiltedTable, float]], size: int, needed: float
) -> tuple[int, float]:
    """A frequency above which the transform of a sum is negligible.

    Parameters: `parts`, tables and counts; `size` of the circle;
    `needed`, wanted decay in logarithms.
    Returns: (k, bound of the transform at all frequencies above k); half
    of the size and 0 if the tables are not smooth enough.

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.5, 0.5])
    ... )
    >>> highest_frequency([(coin, 10_000)], 1000, 40.0)[0]
    28
    """
    layers = [
        (n, c / float(np.sum(table.mass)), count)
        for table, count in parts
        for n, c in [smooth_parts(table)]
    ]
    low, high, share = 0, size // 2, np.arange(24) / 23
    for _ in range(2):
        least = max(low, 1)
        tries = np.round(least * (high / least) ** share)
        decay = log_decay(layers, 2 * np.pi / size * (tries + 1))
        enough = np.flatnonzero(decay > needed)
        if len(enough) == 0:
            return size // 2, 0.0
        k = int(enough[0])
        low, high = int(tries[max(k - 1, 0)]), int(tries[k])
    return high, math.exp(-float(decay[k]))


# --- Two transforms


def slow_transform(
    table: TiltedTable, center: int, size: int, last: int
) -> tuple[NDArray[np.complex128], Floats]:
    r"""Transform at the frequencies 0 to `last`, minus the total mass.

    Formula: $z_k = \sum_j m_j (e^{i\theta_k x_j} - 1)$ with
    $x_j$ = index - center and $\theta_k = 2\pi k/N$, from
    $e^{i(a+b)} - 1 = AB + A + B$ where $A = e^{ia} - 1$.

    Parameters: `table`; `center`; `size` (N); `last`.
    Returns: (z, a bound for the error of each).
    Error: $4u (n + 64) \theta_k \sum_j m_j |x_j|$ for n entries.

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.5, 0.5])
    ... )
    >>> slow_transform(coin, 0, 4, 2)[0].round(6)
    array([ 0. +0.j , -0.5+0.5j, -1. +0.j ])
    """
    unit, block = 2 * np.pi / size, math.isqrt(last) + 1
    multiples = np.arange(block), block * np.arange(last // block + 1)
    z = np.zeros((len(multiples[1]), block), complex)
    spread, part = 0.0, max(1, 2**19 // block)
    seen = np.flatnonzero(table.mass)
    for start in range(0, len(seen), part):
        some = seen[start : start + part]
        place = (table.index[some] - center).astype(float)
        mass = table.mass[some]
        fine, coarse = (
            -2 * np.sin(x / 2) ** 2 + 1j * np.sin(x)
            for x in (np.multiply.outer(m * unit, place) for m in multiples)
        )
        z += (coarse * mass) @ fine.T + fine @ mass
        z += (coarse @ mass)[:, None]
        spread += float(np.abs(place) @ mass)
    wrong = 4 * UNIT * (len(seen) + 64) * spread * unit
    return z.ravel()[: last + 1], wrong * np.arange(last + 1)


def fast_transform(
    table: TiltedTable, center: int, size: int
) -> tuple[NDArray[np.complex128], Floats]:
    r"""The same at all frequencies up to half the size, by FFT.

    Returns: (z, a bound for the error of each).
    Error: $u (8 \log_2 N + n)$ times the mass, for at most n entries at
    one place of the circle, and 4 more for sums.

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.5, 0.5])
    ... )
    >>> complex(fast_transform(coin, 0, 4)[0][1].round(6))
    (-0.5+0.5j)
    """
    folded = np.bincount((table.index - center) % size, table.mass, size)
    total = math.fsum(table.mass)
    z = np.conj(rfft(folded)) - total
    turns = int(table.index[-1] - table.index[0]) // size + 1
    wrong = UNIT * (8 * max(1.0, math.log2(size)) + turns + 4) * total
    return z, np.full(len(z), wrong)


def log_one_plus(
    z: NDArray[np.complex128], wrong: Floats, added: float | Floats
) -> tuple[NDArray[np.complex128], Floats]:
    r"""Logarithm of 1 + z, with a bound of its error.

    Parameters: `z`; `wrong`, a bound of its error before one division;
    `added`, the size of a logarithm that is added to it.
    Returns: (logarithms, not too small; bounds for their errors).

    >>> log_one_plus(np.array([0j, -0.5 + 0.5j]), np.zeros(2), 0)[0].round(4)
    array([ 0.    +0.j    , -0.3466+0.7854j])
    """
    wrong = wrong + 4 * UNIT * np.abs(z)
    square = 2 * z.real + z.real**2 + z.imag**2  # of the size, minus 1
    size = np.hypot(1 + z.real, z.imag) + wrong
    precise = np.log1p(np.maximum(square, -0.9)) / 2
    log_size = np.where(np.abs(square) < 0.5, precise, np.log(size))
    turn = np.arctan2(z.imag, 1 + z.real)
    error = 8 * (np.abs(log_size) + np.abs(turn)) + 4 * added
    return log_size + 1j * turn, 2 * wrong / size + UNIT * error


def log_transform(
    table: TiltedTable, z: NDArray[np.complex128], wrong: Floats
) -> tuple[NDArray[np.complex128], Floats]:
    r"""Logarithm of a transform, with a bound of its error.

    Formula: $\ln M + \ln(1 + z/M)$ for the total mass M.

    Parameters: `table`; `z`, `wrong` from one of the two transforms.
    Returns: (logarithms, not too small; bounds for their errors).

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.5, 0.5])
    ... )
    >>> log_transform(coin, *slow_transform(coin, 0, 4, 1))[0].round(4)
    array([ 0.    +0.j    , -0.3466+0.7854j])
    """
    total = math.fsum(table.mass)
    excess = math.fsum(np.append(table.mass, -1.0))
    log_total = math.log1p(excess) if total > 0.5 else math.log(total)
    logs, lost = log_one_plus(z / total, wrong / total, abs(log_total))
    return logs + log_total, lost
