# Generated from notebooks/engine/one_round.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""One round

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $T_j$ | `count` | number of steps of kind $j$ |
| $\lambda$, $K$ | `tilt`, `log_scale` | exponent of the tilt; log of the mean of $e^{\lambda S}$ |
| $o$, $\Delta$ | `offset`, `step` | the grid is $o + i\Delta$ |
| $\hat m_j$ | `logs` | transform of the tilted masses of kind $j$ (`logs`: summed logarithms) |
| $c$ | `split`, `top` | a loss up to $c$ is near, above it far |
| $\hat n$, $\hat f$ | `near`, `far` | transforms of the near and of the far losses of a table |
| $h$ | `gain` | what far losses add to the logarithm of a transform |
| $\tau$, $\tau_2$ | `tail`, `log_tail` | tilted mass that a table lacks or has too much; mass outside of each end of the window |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len

from accountlib.counting.composition import any_infinite
from accountlib.counting.loss_tables import TINY, GridTooFine
from accountlib.engine.one_sided import (
    MOST_POINTS,
    MOST_WORK,
    OneSided,
    TiltedTable,
)
from accountlib.engine.transforms import (
    Spectrum,
    fast_transform,
    highest_frequency,
    log_transform,
    slow_transform,
    tail_window,
)
from accountlib.inputs import Floats
from accountlib.worst_cases.dominating_pairs import (
    UNIT,
    Closed,
    DominatingPair,
    ExcessError,
)

__all__ = [
    "bare_sum",
    "near_and_far",
    "log_rare",
    "log_gain",
    "NearPair",
    "Power",
    "Circle",
    "prefers_fft",
    "choose_circle",
    "sum_spectrum",
    "add_tables",
]

# --- The idea in fifteen lines


def bare_sum(
    parts: Sequence[tuple[TiltedTable, int]], tail: float
) -> TiltedTable:
    """What adds up: a table of the sum, still without its masses.

    Parameters: `parts`, tables and counts; `tail`, to be added.
    Error: rounding of the sums moves the table outward by as much.

    >>> coin = TiltedTable(
    ...     1.0, 0.5, 0.0, 0.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.25, 0.75])
    ... )
    >>> round(bare_sum([(coin, 2)], 0.0).offset, 9)
    1.0
    """
    model = parts[0][0]
    sign, tilt = model.sign, model.tilt
    infinity = any_infinite([(t.infinity_mass, n) for t, n in parts])
    infinity *= 1 + sign * 8 * UNIT * len(parts)
    moved = 4 * UNIT * math.fsum(n * abs(t.offset) for t, n in parts)
    raised = 4 * UNIT * math.fsum(n * abs(t.log_scale) for t, n in parts)
    offset = math.fsum(n * t.offset for t, n in parts)
    log_scale = math.fsum(n * t.log_scale for t, n in parts)
    return TiltedTable(
        step=model.step,
        offset=offset + sign * moved,
        tilt=tilt,
        log_scale=log_scale + sign * (raised + 2 * tilt * moved),
        tail=tail + math.fsum(n * table.tail for table, n in parts),
        infinity_mass=min(1.0, infinity),
        bound=model.bound,
        index=np.zeros(1, int),
        mass=np.zeros(1),
    )


# --- Rare steps


def near_and_far(table: TiltedTable) -> tuple[TiltedTable, TiltedTable]:
    """The two pieces of a table that is split.

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper", np.arange(2),
    ...     np.ones(2) / 2, (np.array([0.5, 0.0]), np.array([0.0, 0.5]))
    ... )
    >>> [x.mass.tolist() for x in near_and_far(coin)]
    [[0.5, 0.0], [0.0, 0.5]]
    """
    near, far = table.pieces
    return replace(table, mass=near), replace(table, mass=far)


def log_rare(parts: Sequence[tuple[TiltedTable, float]]) -> float:
    """Log of the share of sums with a far loss, roughly.

    >>> coin = TiltedTable(
    ...     1.0, 0.0, 0.0, 0.0, 0.0, 0.0, "upper", np.arange(2),
    ...     np.ones(2) / 2, (np.array([0.5, 0.0]), np.array([0.0, 0.5]))
    ... )
    >>> round(math.exp(log_rare([(coin, 2)])), 6)
    0.75
    """
    power = 0.0
    for table, count in parts:
        near, far = map(np.sum, table.pieces)
        power += count * math.log1p(float(far) / max(float(near), TINY))
    return math.log(max(-math.expm1(-power), TINY))


def log_gain(
    near: TiltedTable,
    far: TiltedTable,
    z: NDArray[np.complex128],
    wrong: Floats,
    of_far: tuple[NDArray[np.complex128], Floats],
) -> tuple[NDArray[np.complex128], Floats, Floats]:
    r"""What far losses add to the logarithm of a transform.

    Formula: $\ln(1 + \hat f/\hat n)$ with $\hat n = N + z$.

    Parameters: `near`, `far`, two parts of a table; `z`, `wrong`, the
    transform of the first one, and `of_far`, of the other one.
    Returns: (logarithms, bounds of their errors, upper bounds of both the
    sizes of $\hat n + \hat f$ and of $\hat n$).
    """
    total, total_near = math.fsum(far.mass), math.fsum(near.mass)
    f, wrong_f = of_far
    f = f + total
    n = z + total_near
    wrong_f = wrong_f + 8 * UNIT * (total + np.abs(f))
    wrong = wrong + 8 * UNIT * (total_near + np.abs(n))
    least = np.maximum(np.abs(n) - wrong, TINY)
    g = f / np.where(n == 0, 1, n)
    error = (wrong_f + np.abs(g) * wrong) / least + 16 * UNIT * np.abs(g)
    square = 2 * g.real + g.real**2 + g.imag**2  # of |1 + g|, minus 1
    size = np.abs(1 + g)
    precise = np.log1p(np.maximum(square, -0.9)) / 2
    log_size = np.where(np.abs(square) < 0.5, precise, np.log(size + 1e-300))
    result = log_size + 1j * np.arctan2(g.imag, 1 + g.real)
    known = error < size / 2
    error = np.where(known, 2 * error / np.maximum(size, TINY), 1e3)
    error = error + 16 * UNIT * np.abs(result)
    most = (np.abs(n) + wrong + np.abs(f) + wrong_f) * (1 + 8 * UNIT)
    return result, error, np.maximum(most, TINY)


@dataclass(frozen=True)
class NearPair(DominatingPair):
    """The part of a pair with losses up to `top`; its masses add up to less.

    Fields: `pair`; `top`, not the place of an atom.

    >>> from accountlib.worst_cases.noise import LaplacePair
    >>> part = NearPair(LaplacePair(2.0), 0.0)
    >>> part.loss_range, round(float(part.masses([0.25])[0].sum()), 6)
    ((-0.5, 0.0), 0.3894)
    """

    pair: DominatingPair
    top: float

    @property
    def loss_range(self) -> tuple[float, float]:
        low, high = self.pair.loss_range
        return low, min(high, self.top)

    @property
    def atoms(self) -> tuple[float, ...]:
        return tuple(x for x in self.pair.atoms if x <= self.top)

    @property
    def atom_count(self) -> int:
        return self.pair.atom_count

    @property
    def lattice(self) -> tuple[float, float] | None:
        return self.pair.lattice

    @property
    def atom_error(self) -> float:
        return self.pair.atom_error

    @property
    def discrete(self) -> bool:
        return self.pair.discrete

    def mass_error(self, mass: Floats) -> Floats:
        return self.pair.mass_error(mass)

    def excess_error(self, p: Floats, q: Floats) -> ExcessError:
        return self.pair.excess_error(p, q)

    def interval_masses(
        self, edges: Floats, widths: Floats, closed: Closed
    ) -> tuple[Floats, Floats]:
        inner = np.append(edges[edges < self.top], self.top)
        p, q = self.pair.interval_masses(inner, np.diff(inner), closed)
        none = np.zeros(len(edges) + 1 - len(inner))
        return np.append(p[:-1], none), np.append(q[:-1], none)


# --- All parts together


@dataclass(frozen=True, eq=False)
class Power:
    r"""Logarithm of the transform of a sum, at frequencies from 0.

    Formula: `logs` is $\sum_j T_j \ln \hat n_j$, `gain` is $\sum_j T_j
    \ln(1 + \hat f_j/\hat n_j)$ if losses are split into near (n) and far
    (f) ones, else None.

    Fields: `logs`, `lost` (error bounds), `added` (sizes that were added
    up), `gain`, `gain_lost`; `most`, upper bounds of the logarithm of the
    size with far losses; `middle`, index where the transform begins.
    Source: eq. (int-rare) of the page "One round".
    """

    logs: NDArray[np.complex128]
    lost: Floats
    added: Floats
    gain: NDArray[np.complex128] | None
    gain_lost: Floats
    most: Floats
    middle: int
    kinds: int

    @classmethod
    def of(
        cls,
        parts: Sequence[tuple[TiltedTable, int]],
        size: int,
        highest: int | None,
    ) -> "Power":
        """Add up the parts; by FFT if `highest` is None."""
        places = (size // 2 if highest is None else highest) + 1
        logs, gain = np.zeros(places, complex), np.zeros(places, complex)
        lost, added, gain_lost, most = np.zeros((4, places))
        middle = 0

        def transform(
            table: TiltedTable, center: int
        ) -> tuple[NDArray[np.complex128], Floats]:
            if highest is None:
                return fast_transform(table, center, size)
            return slow_transform(table, center, size, highest)

        for table, count in parts:
            center = int(table.index[np.argmax(table.mass)])
            rare = len(table.pieces) > 0
            near, far = near_and_far(table) if rare else (table, table)
            z, wrong = transform(near, center)
            part_logs, part_lost = log_transform(near, z, wrong)
            middle += count * center
            logs += count * part_logs
            lost += count * part_lost
            added += count * np.abs(part_logs)
            if rare:
                one, one_lost, largest = log_gain(
                    near, far, z, wrong, transform(far, center)
                )
                gain += count * one
                rounded = 2 * UNIT * len(parts) * np.abs(one)
                gain_lost += count * (one_lost + rounded)
                most += count * (np.log(largest) + 1e-12)
        used = gain if rare else None
        kinds = len(parts)
        return cls(logs, lost, added, used, gain_lost, most, middle, kinds)

    def log_size(self) -> Floats:
        """Bounds of the logarithms of the sizes."""
        if self.gain is None:
            return np.asarray(self.logs.real + self.lost)
        return self.most + 1

    def values(
        self, keep: NDArray[np.int64]
    ) -> tuple[NDArray[np.complex128], Floats]:
        """The transform at some frequencies, and a bound of its errors."""
        value = np.asarray(np.exp(self.logs[keep]), complex)
        lost = np.minimum(self.lost[keep], 700)
        rounded = UNIT * (16 + 4 * self.kinds) * (8 + self.added[keep])
        wrong = np.abs(value) * (np.expm1(lost) + rounded)
        most = np.minimum(self.logs[keep].real + self.lost[keep], 700)
        wrong = np.where(lost > 1, np.exp(most) + np.abs(value), wrong)
        if self.gain is None:
            return value, wrong
        # Where the quotient is unknown, both powers are at most `most`.
        gain, gain_lost = self.gain[keep], self.gain_lost[keep]
        unknown = ~((gain_lost <= 0.5) & (np.abs(gain.real) <= 600))
        unknown |= self.logs[keep].real < -700
        gain = np.where(unknown, 0, gain)
        x, y = gain.real, gain.imag
        sizes = np.expm1(x) * np.cos(y), 2 * np.sin(y / 2) ** 2
        turn = np.exp(x) * np.sin(y)
        rare = sizes[0] - sizes[1] + 1j * turn
        error = 8 * UNIT * (np.abs(sizes[0]) + sizes[1] + np.abs(turn))
        error += np.exp(x) * np.expm1(np.minimum(gain_lost, 1))
        found = value * rare
        wrong = wrong * np.abs(rare) + (np.abs(value) + wrong) * error
        most = 2 * np.exp(np.minimum(self.most[keep], 700))
        found = np.where(unknown, 0, found)
        return found, np.where(unknown, most, wrong)


_SPARE_DECAY = 2.0  # log of the room below what high frequencies may weigh
_FFT = 10.0  # work of an FFT for each place and power of two
_EXPONENTIALS = 60, 40.0  # work of the slow one, besides multiplications
_NOISE = 0.01  # part of the tail that the round-off of an FFT may be
_FEWER = 1 / 4  # of the work, where near and far losses need two transforms
_LONGEST = 16 * MOST_POINTS  # places of an FFT: some hundred megabytes
_LARGEST_PRODUCT = 2**62  # of a place and a frequency: a whole number
_READING = 200  # work for each frequency that is kept, when delta is read


@dataclass(frozen=True)
class Circle:
    """Where a sum is transformed, and at which frequencies.

    Fields: `first`, index where its window begins, and `size`, its number
    of places; `whole`, whether the window has all sums; `highest`, the
    last frequency that is computed (None: all, by FFT); `needed`, minus
    the log of what may be left out; `rest`, a bound of what is.
    """

    first: int
    size: int
    whole: bool
    highest: int | None
    needed: float
    rest: float


def prefers_fft(
    parts: Sequence[tuple[TiltedTable, float]],
    size: int,
    highest: int,
    log_tail: float,
) -> bool:
    """Whether an FFT is less work, and precise enough.

    Parameters: `parts`, tables and counts; `size` of the circle;
    `highest` frequency that the slow transform would need; `log_tail`.
    Raises: GridTooFine if both transforms are too much work.
    """
    rare = len(parts[0][0].pieces) > 0
    nodes = sum(np.count_nonzero(table.mass) for table, _ in parts)
    each, root = _EXPONENTIALS
    slow_work = (nodes + each) * highest + root * nodes * math.sqrt(highest)
    fast_work = _FFT * len(parts) * size * math.log2(size + 1)
    noise = 8 * math.log2(size + 1) * UNIT * sum(n for _, n in parts)
    allowed = log_tail - (log_rare(parts) if rare else 0.0)
    precise = noise < _NOISE * math.exp(allowed)
    too_slow = slow_work > (MOST_WORK * _FEWER if rare else MOST_WORK)
    fast = too_slow or (precise and fast_work < slow_work)
    if fast and size <= _LONGEST:
        return True
    if too_slow or size * highest > _LARGEST_PRODUCT:
        raise GridTooFine(parts[0][0].step, size)
    return False


def choose_circle(
    parts: Sequence[tuple[TiltedTable, int]],
    log_tail: float,
    thetas: tuple[float, float],
) -> Circle:
    """Window, frequencies and transform for a sum of losses.

    Parameters: as for `add_tables`, which has the example.
    Raises: GridTooFine if the transforms are too much work.
    """
    step = parts[0][0].step
    exponents = thetas[0] * step, thetas[1] * step
    first, last = tail_window(parts, log_tail, exponents)
    size = max(last - first + 1, 2)
    whole = sum(n * int(t.index[-1] - t.index[0]) for t, n in parts) < size
    needed = math.log(size) - log_tail + _SPARE_DECAY
    highest, rest = highest_frequency(parts, size, needed)
    if parts[0][0].pieces:  # both transforms are needed
        near = [(near_and_far(t)[0], n) for t, n in parts]
        other, more = highest_frequency(near, size, needed)
        highest, rest = max(highest, other), rest + more
    if prefers_fft(parts, size, highest, log_tail):
        size = next_fast_len(size, real=True)
        return Circle(first, size, whole, None, needed, 0.0)
    return Circle(first, size, whole, highest, needed, rest)


def sum_spectrum(power: Power, bare: TiltedTable, circle: Circle) -> Spectrum:
    """The total on a circle, with the errors of its entries inside.

    Parameters: `power`, all parts together; `bare`, what else adds up,
    from `bare_sum`; `circle`.
    Raises: GridTooFine if too many frequencies are left.
    """
    size, needed, rest = circle.size, circle.needed, circle.rest
    keep = np.flatnonzero(~(power.log_size() <= -needed - 20))
    if len(keep) == 0:  # nothing is larger than what may be left out
        keep = np.zeros(1, int)
    if _READING * len(keep) > MOST_WORK:
        raise GridTooFine(bare.step, size)
    largest = power.most
    if power.gain is None:
        largest = power.logs.real + power.lost
    growth = math.exp(min(max(float(largest[0]), 0.0), 700.0))
    turns = keep * ((power.middle - circle.first) % size) % size
    turn = np.exp(2j * np.pi / size * turns) / size
    turn[(keep > 0) & (2 * keep < size)] *= 2
    value, wrong = power.values(keep)
    return Spectrum(
        step=bare.step,
        offset=bare.offset,
        tilt=bare.tilt,
        log_scale=bare.log_scale,
        tail=bare.tail,
        infinity_mass=bare.infinity_mass,
        bound=bare.bound,
        size=size,
        first=circle.first,
        frequency=keep,
        value=value * turn,
        wrong=wrong * np.abs(turn) * (1 + 32 * UNIT),
        rest=1.01 * growth * (rest + math.exp(-needed - 20)),
    )


def add_tables(
    parts: Sequence[tuple[TiltedTable, int]],
    log_tail: float,
    thetas: tuple[float, float],
) -> OneSided:
    r"""One side of a sum of independent losses, by its transform.

    Formula: $\hat m = \prod_j \hat m_j^{T_j}$ on a circle as long as the
    window; K and offsets add up. Of tables in two pieces, only sums with
    at least one far loss: $\prod_j \hat m_j^{T_j} - \prod_j \hat n_j^{T_j}$.

    Parameters: `parts`, tables of one side, step and tilt, and counts;
    `log_tail`, logarithm of the tilted mass outside of the window;
    `thetas`, exponents of the window's ends, per unit of loss.
    Returns: the total on the same side; all errors are inside of it.
    Raises: GridTooFine if the transforms are too much work, ValueError
    for a tilt of 0.

    >>> from accountlib.engine.one_sided import read_delta
    >>> coin = TiltedTable(
    ...     1.0, 0.0, 1.0, 1.0, 0.0, 0.0, "upper",
    ...     np.arange(2), np.array([0.25 / math.e, 0.75])
    ... )
    >>> total = add_tables([(coin, 2)], -30.0, (1.0, 1.0))
    >>> round(read_delta(total, 0.5), 6)  # 3/8 at 1, 9/16 at 2
    0.58454
    """
    if any(t.pieces and not np.any(t.pieces[0]) for t, _ in parts):
        # every sum has a far loss
        parts = [(replace(t, pieces=()), n) for t, n in parts]
    model = parts[0][0]
    if len(parts) == 1 and parts[0][1] == 1:
        return near_and_far(model)[1] if model.pieces else model
    if model.tilt <= 0:
        raise ValueError(f"tilt must be positive, got {model.tilt!r}")
    if any(np.max(table.mass) == 0 for table, _ in parts):
        return bare_sum(parts, 0.0)
    circle = choose_circle(parts, log_tail, thetas)
    tail = 0.0 if circle.whole else 2.02 * math.exp(log_tail)
    power = Power.of(parts, circle.size, circle.highest)
    return sum_spectrum(power, bare_sum(parts, tail), circle)
