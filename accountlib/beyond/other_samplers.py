# Generated from notebooks/beyond/other_samplers.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What if batches are cut, shuffled, or a record counts for nothing?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\gamma$ | `rate`, `log_miss` | chance of a record to be drawn; $\log(1 - \gamma)$ |
| $B$, $n$ | `largest_batch`, `dataset_size` | records that a batch holds at most; records in the larger data set |
| $K$, $E$ | –, `full` | others that are drawn; the event $K \ge B$, and its probability $p$ |
| $\gamma'$, $\gamma_0$ | `kept`, `present` | chance of the record to be in the batch, given $E$, and in all |
| $\mu$ | `mu` | $1/\sigma$, by how much a record moves the sum, in units of the noise |
| $N_k$ | – | unit normal distribution around $k\mu$ |
| $t$, $Z$ | `batches` | batches of an epoch, and the largest of their outputs |
| $m$, $\omega$ | `epochs`, `omega` | number of epochs; chance that the record is never in a last batch |
| $\delta_\mu$ | `gaussian_delta` | privacy profile of two unit normals at distance $\mu$ |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from accountlib.beyond.allocation import (
    CELL,
    LARGEST,
    NARROW,
    cut_cells,
    epoch_below,
    listed,
    one_above,
    refuse,
    turned,
)
from accountlib.cells import Cells, joined
from accountlib.checks import UNIT, Floats, check_fields
from accountlib.dominating_pairs import (
    NOTHING_REVEALED,
    DominatingPair,
    Mirrored,
    Outcomes,
    ShiftedNoise,
    Subsampled,
)
from accountlib.mechanisms import Gaussian, Mechanism
from accountlib.noise import NormalNoise, size
from accountlib.sampling import (
    Adjacency,
    Direction,
    FixedBatch,
    FullBatch,
    Poisson,
    Sampling,
    Steps,
    in_sample,
)

__all__ = [
    "RAREST",
    "Opposed",
    "Spliced",
    "blends",
    "zeroed_directions",
    "ZeroedBatch",
    "cut_numbers",
    "labelled",
    "TruncatedPoisson",
    "largest_output",
    "ShuffledEpochs",
]

# --- Names used here

RAREST = 1e-280  # a rarer label counts as if it had this chance

# --- A record that counts for nothing


@dataclass(frozen=True)
class Opposed(DominatingPair):
    """(1 - rate) N_0 + rate N_2 against (1 - rate) N_0 + rate N_1.

    Unit normals moved by 0, mu and 2 mu; outcomes beyond 3 mu / 2, where the
    loss is positive and grows. If `whole`, what lies below is merged into
    cells: a bound from below only.
    """

    mu: float
    log_miss: float
    whole: bool = False

    @property
    def middle(self) -> float:
        return 1.5 * self.mu * (1 - 4 * UNIT)

    def start(self) -> Floats:
        edges = ShiftedNoise(NormalNoise(), (2 * self.mu,)).start()
        return np.append(self.middle, edges[edges > 1.001 * self.middle])

    def cells(self, edges: Floats) -> Cells:
        low = np.append(-np.inf, np.linspace(-9, self.middle, 97)[:-1])
        edges = np.append(low, edges)
        pairs = [ShiftedNoise(NormalNoise(), (k * self.mu,)) for k in (2, 1)]
        up, down = (x.cells(edges).sampled(self.log_miss) for x in pairs)
        loss = up.loss - down.loss
        error = up.loss_error + down.loss_error + 2 * UNIT * size(loss)
        # the cell beside bounds the loss of Q at an end from the other side
        left = up.left - np.append(0.0, down.right[:-1])
        right = np.append(up.right[:-1] - down.left[1:], np.inf)
        merged = np.arange(len(loss)) < len(low)
        left = np.where(merged, loss - error, np.nextafter(left, -np.inf))
        right = np.where(merged, loss + error, np.nextafter(right, np.inf))
        wide = np.maximum(up.mass_error, down.mass_error)
        every = Cells(up.log_p, down.log_p, wide, loss, error, left, right)
        return every if self.whole else every.part(~merged)

    def finer(self, edges: Floats, pieces: Floats) -> Floats:
        noise = ShiftedNoise(NormalNoise(), (self.mu,))
        return noise.finer(edges, pieces[1 - len(edges) :])


@dataclass(frozen=True)
class Spliced(DominatingPair):
    """Positive losses of one pair, negative ones of another, reversed.

    Both give their outcomes beyond `middle`; an atom at 0 has the rest.
    """

    half: DominatingPair
    other: DominatingPair

    def start(self) -> Any:
        pairs = [(x.middle or 0.0, x.start()) for x in (self.half, self.other)]
        return [np.append(m, e[e > 1.001 * m]) for m, e in pairs]

    def cells(self, edges: Any) -> Cells:
        half, other = self.half.cells(edges[0]), self.other.cells(edges[1])
        p = np.exp(np.append(half.log_p, other.log_q))
        q = np.exp(np.append(half.log_q, other.log_p))
        wrong = (p + q) @ np.append(half.mass_error, other.mass_error)
        rest = max(1 - min(math.fsum(p), math.fsum(q)), 0.0) + 2 * wrong
        log = math.log(rest + 1e-15)
        atom = Outcomes(((0.0, 0.0, log, log),)).cells(edges)
        return joined(other.reversed(), atom, half)

    def finer(self, edges: Any, pieces: Floats) -> Any:
        n = len(edges[1]) - 1
        other = self.other.finer(edges[1], pieces[:n][::-1])
        return [self.half.finer(edges[0], pieces[n + 1 :]), other]

    def reversed(self) -> DominatingPair:
        return Spliced(self.other, self.half)


def blends(
    first: DominatingPair, second: DominatingPair, count: int
) -> tuple[Steps, ...]:
    """No step, half of them or all attain the first pair, the rest others."""
    firsts = 0, (count + 1) // 2, count
    return tuple(((first, n), (second, count - n)) for n in firsts)


def zeroed_directions(
    mechanism: Mechanism, log_miss: float, count: int
) -> list[Direction]:
    """A record that counts for nothing, where others fill fixed batches."""
    beside = in_sample(mechanism.removed(1), log_miss)
    above, attained = beside, (beside, beside.reversed())
    if isinstance(beside, Subsampled) and isinstance(mechanism, Gaussian):
        mu = 1 / mechanism.noise_multiplier
        above = Spliced(Opposed(mu, log_miss), beside)
        attained = Opposed(mu, log_miss, True), beside.reversed()
    elif isinstance(beside, Subsampled):
        above = Mirrored(Subsampled(mechanism.exchanged(1), log_miss))
    one = Direction(((above, count),), blends(*attained, count))
    return turned(one, Adjacency.ZERO_OUT)


@dataclass(frozen=True)
class ZeroedBatch(FixedBatch):
    """A `FixedBatch` that is sharper where a record counts for nothing.

    Formula: `zeroed_directions`; all else is that of `FixedBatch`.

    Parameters: as `FixedBatch`. The gain is for Gaussian noise.
    Raises: NotImplementedError for zeroed groups.
    Source: theorem "Zeroing out in a fixed batch".

    >>> ZeroedBatch(100, 100_000)
    ZeroedBatch(batch_size=100, dataset_size=100000)
    """

    def zeroed(
        self, mechanism: Mechanism, miss: float, count: int
    ) -> list[Direction]:
        return zeroed_directions(mechanism, miss, count)


# --- A Poisson sample that is cut


def cut_numbers(
    rate: float, largest: int, dataset_size: int
) -> tuple[float, float, float, float, float]:
    """p and 1 - p, gamma' from above, gamma_0 from below, and an error."""
    n = dataset_size - 1  # others, of whom K are drawn
    middle, odds = int((n + 1) * rate), rate / (1 - rate)
    most = int(40 * math.sqrt(n * rate * (1 - rate)) + 800)
    up = np.arange(middle, min(middle + most, n))
    down = np.arange(middle, max(middle - most, 0), -1)
    rise = np.cumprod((n - up) / (up + 1) * odds)
    fall = np.cumprod(down / (n + 1 - down) / odds)
    k = np.concatenate([down[::-1] - 1, [middle], up + 1])
    m = np.concatenate([fall[::-1], [1.0], rise])
    error = UNIT * (16 * len(k) + 64)
    over = k >= largest
    full, room = m[over].sum() / m.sum(), m[~over].sum() / m.sum()
    kept = low = rate * largest / (largest + 1)
    if full > RAREST:
        low = rate * largest * (m[over] / (k[over] + 1)).sum() / m[over].sum()
        kept = min(kept, low)
    present = (rate * room + low * full) * (1 - error)
    masses = max(full, RAREST), max(room, RAREST)
    return *masses, kept * (1 + error), present, error


def labelled(
    pairs: Sequence[DominatingPair], weights: Sequence[float], error: float
) -> DominatingPair:
    """One of several pairs, drawn at random and told: a list, from above.

    `error` bounds the relative errors of the weights.
    """
    laws, told = [], 0.0
    for pair, weight in zip(pairs, weights, strict=True):
        cells, weight = cut_cells(pair, CELL / 2), weight * (1 + error)
        far = cells.right > LARGEST
        told += weight * np.exp(cells.log_p + cells.mass_error)[far].sum()
        law = one_above(cells)
        laws.append([np.log(law.place), np.log(law.rows[0] * weight)])
    loss, log_q = np.hstack(laws)
    logs = np.array([loss + log_q, log_q])
    return listed(logs, law.error, float(told) * (1 + NARROW), True)


@dataclass(frozen=True)
class TruncatedPoisson(Sampling):
    r"""A Poisson sample, cut at random to at most `largest_batch` records.

    Formula: each record with chance $\gamma$; if more than B are drawn, each
    choice of B of them with the same chance.

    Parameters: `rate` ($\gamma$, 0 or in [1e-9, 1]); `largest_batch` (B, 1
    to 1e9); `dataset_size` (n, 1 to 1e9) of the larger data set, a public
    number: the answer may fall or rise with n.
    Raises: ValueError for other values; NotImplementedError for groups.
    Error: what revealing the label costs; the lower end is one attack.
    Source: theorem "Poisson samples cut at random"; Ganesh (2025).

    >>> TruncatedPoisson(0.004, 512, 100_000)
    TruncatedPoisson(rate=0.004, largest_batch=512, dataset_size=100000)
    """

    rate: float
    largest_batch: int
    dataset_size: int

    def __post_init__(self) -> None:
        whole = (1, 1e9, True)
        check_fields(self, largest_batch=whole, dataset_size=whole)
        object.__setattr__(self, "rate", Poisson(self.rate).rate)

    @np.errstate(all="ignore")
    def directions(
        self, mechanism: Mechanism, adjacency: Adjacency, size: int, count: int
    ) -> list[Direction]:
        rate, most, n = self.rate, self.largest_batch, self.dataset_size
        plain: Sampling = Poisson(rate)
        if rate == 1 and most < n:
            plain = ZeroedBatch(most, n)
        if rate in (0, 1) or most >= n:
            return plain.directions(mechanism, adjacency, size, count)
        if size > 1:
            refuse(self, adjacency, size)
        full, room, kept, present, error = cut_numbers(rate, most, n)
        side, miss = Adjacency.REMOVE, math.log1p(-kept)
        told: DominatingPair = Subsampled(mechanism.exchanged(1), miss)
        if adjacency is Adjacency.SUBSTITUTE:
            side, told = adjacency, Mirrored(told)
        elif adjacency is Adjacency.ZERO_OUT:
            told = zeroed_directions(mechanism, miss, 1)[0].above[0][0]
        free = plain.directions(mechanism, side, 1, 1)[0].above[0][0]
        above = labelled((told, free), (full, room), error)
        attained: tuple[Steps, ...] = (((NOTHING_REVEALED, count),),)
        if present >= 1e-9:
            (way,) = Poisson(present).directions(mechanism, side, 1, count)
            attained = way.below or (way.above,)
        one = Direction(((above, count),), attained)
        two_sided = adjacency is not Adjacency.SUBSTITUTE
        return turned(one, adjacency) if two_sided else [one]


# --- A shuffle, from both sides


def largest_output(mu: float, batches: int) -> DominatingPair:
    """Cells of the largest output of an epoch: N_2 in one step against N_1."""
    t = batches - 1
    edges = np.linspace(ndtri(math.exp(-40 / t)), 9 + 2 * mu, 1500)
    near = np.log1p(-ndtr(-np.abs(edges)))
    others = t * np.where(edges > 0, near, log_ndtr(edges))  # all are below
    logs, far = [], 9 + 4 * mu
    error = 100 * UNIT * (64 + 8 * far**2)
    for k in (2, 1):
        cells = ShiftedNoise(NormalNoise(), (k * mu,)).cells(edges)
        below = log_ndtr(edges - k * mu)
        drop = t * np.log1p(-np.exp(cells.log_q) / ndtr(edges[1:]))
        rise = below[:-1] + np.log(-np.expm1(drop))
        mass = others[1:] + np.logaddexp(cells.log_p, rise)
        beyond = others[-1] + np.log1p(-ndtr(k * mu - edges[-1]))
        ends = others[0] + below[0], math.log(-math.expm1(beyond))
        logs.append(np.concatenate([ends[:1], mass, ends[1:]]))
        error += 4 * float(cells.mass_error.max())
    return listed(np.array(logs), error, 0.0, False)


@dataclass(frozen=True)
class ShuffledEpochs(Sampling):
    """An epoch: a random order of the data, cut into equal batches.

    Formula: each order with the same chance; each batch is used once.

    Parameters: `batches` (t, 1 to 1e7). In a Release, `count` is the number
    of epochs, each with a new order.
    Returns: ends between attacks and a full batch, for zero-out and
    substitution, which keep the number of records. With a short last batch
    the upper end holds, the lower one is not proven.
    Raises: ValueError for other values; NotImplementedError for groups and
    other adjacencies.
    Source: Chua et al. (2024), for the largest output.

    >>> ShuffledEpochs(1000)
    ShuffledEpochs(batches=1000)
    """

    batches: int

    def __post_init__(self) -> None:
        check_fields(self, batches=(1, 1e7, True))

    @np.errstate(all="ignore")
    def directions(
        self, mechanism: Mechanism, adjacency: Adjacency, size: int, count: int
    ) -> list[Direction]:
        if self.batches == 1:
            return FullBatch().directions(mechanism, adjacency, size, count)
        zeroed = adjacency is Adjacency.ZERO_OUT
        if size > 1 or not (zeroed or adjacency is Adjacency.SUBSTITUTE):
            refuse(self, adjacency, size)
        pair = (mechanism.removed if zeroed else mechanism.exchanged)(1)
        epoch = epoch_below(pair, self.batches, 1)
        below: tuple[Steps, ...] = (((epoch, count),),)
        if not zeroed or pair.symmetric:
            below = blends(epoch, epoch.reversed(), count)
        if zeroed and isinstance(mechanism, Gaussian):
            mu = 1 / mechanism.noise_multiplier
            below += (((largest_output(mu, self.batches), count),),)
        one = Direction(((pair, count),), below)
        return turned(one, adjacency) if zeroed else [one]
