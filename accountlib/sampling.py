# Generated from notebooks/sampling.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What does a record that joins by chance change?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from accountlib.checks import check, check_fields, check_rate
from accountlib.dominating_pairs import (
    NOTHING_REVEALED,
    DominatingPair,
    Mirrored,
    ShiftedNoise,
    Subsampled,
    Substituted,
)
from accountlib.mechanisms import Mechanism
from accountlib.noise import NormalNoise

__all__ = [
    "Steps",
    "Adjacency",
    "Direction",
    "both_ways",
    "between",
    "in_sample",
    "Sampling",
    "FullBatch",
    "Poisson",
    "FixedBatch",
    "check_groups",
    "Shifts",
    "log_part",
    "given_some",
    "binomial_shifts",
    "hypergeometric_shifts",
    "Release",
    "run_directions",
    "counted",
    "dominating_pairs",
]

# --- Two mixtures

Steps = tuple[tuple[DominatingPair, int], ...]

# --- Neighbours


class Adjacency(StrEnum):
    """What neighbouring data sets are.

    "add" and "remove": one has a record more; "add-or-remove": the worse of
    both; "substitute": one record is another one; "zero-out": one record
    counts for nothing. Words of other libraries are accepted, such as
    "replace-one" or REPLACE_SPECIAL.
    Raises: ValueError for other words. There is no default.
    Source: Ganesh et al. (2025), Section 2.

    >>> Adjacency("replace-one")
    <Adjacency.SUBSTITUTE: 'substitute'>
    """

    ADD = "add"
    REMOVE = "remove"
    ADD_OR_REMOVE = ADD_OR_REMOVE_ONE = ADD_REMOVE = "add-or-remove"
    SUBSTITUTE = REPLACE_ONE = REPLACEMENT = REPLACE = "substitute"
    ZERO_OUT = REPLACE_SPECIAL = "zero-out"

    @classmethod
    def _missing_(cls, value: object) -> "Adjacency":
        name = str(getattr(value, "name", value)).upper().replace("-", "_")
        if name in cls.__members__:
            return cls[name]
        raise ValueError(
            f"adjacency must be one of {[str(x) for x in cls]}, got {value!r}"
        )


# --- A sampler answers with directions


@dataclass(frozen=True)
class Direction:
    """One direction of a run: steps that dominate it, and attained ones.

    Fields: `above`, pairs with counts; `below`, alternatives that data sets
    attain, each such a list; none where `above` is attained itself.
    """

    above: Steps
    below: tuple[Steps, ...] = ()


def both_ways(
    pair: DominatingPair, adjacency: Adjacency, count: int
) -> list[Direction]:
    """The directions for a pair of removal: it, its reverse, or both."""
    remove = Direction(((pair, count),))
    add = Direction(((pair.reversed(), count),))
    one = {Adjacency.REMOVE: [remove], Adjacency.ADD: [add]}
    return one.get(adjacency, [remove, add])


def between(
    above: DominatingPair, attained: DominatingPair, count: int
) -> Direction:
    """What dominates, and five data sets: in 0, 1/4, ..., 1 of the steps
    the record moves the sum, in the others its substitute does."""
    firsts = [(count * k + 2) // 4 for k in range(5)]
    ways = [((attained, n), (attained.reversed(), count - n)) for n in firsts]
    return Direction(((above, count),), tuple(dict.fromkeys(ways)))


def in_sample(pair: DominatingPair, log_miss: float) -> DominatingPair:
    """(1 - rate) Q + rate P against Q; log_miss is log(1 - rate)."""
    if log_miss == 0:
        return NOTHING_REVEALED
    return pair if log_miss == -math.inf else Subsampled(pair, log_miss)


class Sampling:
    """How the records of a step are chosen."""

    def directions(
        self, mechanism: Mechanism, adjacency: Adjacency, size: int, count: int
    ) -> list[Direction]:
        """Remove (or the only one) first, then add."""
        raise NotImplementedError(f"no pair is known for {self!r}")


@dataclass(frozen=True)
class FullBatch(Sampling):
    """Every record takes part in every step.

    Under "substitute" a sum moves by twice the norm of a record.

    >>> FullBatch()
    FullBatch()
    """

    def directions(
        self, mechanism: Mechanism, adjacency: Adjacency, size: int, count: int
    ) -> list[Direction]:
        if hasattr(mechanism, "directions"):  # it knows what data attain
            return list(mechanism.directions(size, count))
        if adjacency is Adjacency.SUBSTITUTE:
            return [Direction(((mechanism.exchanged(size), count),))]
        return both_ways(mechanism.removed(size), adjacency, count)


@dataclass(frozen=True)
class Poisson(Sampling):
    r"""Each record is in a step with the same chance, independently.

    Formula: $P = (1 - \gamma) Q + \gamma P_1$, the record being in with
    chance $\gamma$.
    Parameters: `rate` ($\gamma$, 0 or in [1e-9, 1]).
    Raises: ValueError for other rates; NotImplementedError for groups of
    other noise than Gaussian.
    Error: none; data sets attain the pair.
    Source: Zhu, Dong and Wang (2022), Theorem 11.

    >>> Poisson(0.01)
    Poisson(rate=0.01)
    """

    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", check_rate(self.rate))

    def directions(
        self, mechanism: Mechanism, adjacency: Adjacency, size: int, count: int
    ) -> list[Direction]:
        if self.rate == 1:
            return FullBatch().directions(mechanism, adjacency, size, count)
        if self.rate == 0:
            return both_ways(NOTHING_REVEALED, adjacency, count)[:1]
        drawn: Shifts = math.log1p(-self.rate), (1,), (0.0,)
        if size > 1:
            check_groups(mechanism, self, size)
            drawn = binomial_shifts(size, self.rate)
        miss, shifts, weights = drawn
        if adjacency is Adjacency.SUBSTITUTE:
            if type(mechanism).moved is Mechanism.moved:  # a mere guarantee
                one = Subsampled(mechanism.exchanged(size), miss)
                return [between(Mirrored(one), one, count)]
            face = Substituted(mechanism.moved(shifts, weights), miss)
            return [Direction(((face, count),))]
        pair = mechanism.removed(1)
        if size > 1:
            pair = mechanism.moved(shifts, weights)
        return both_ways(Subsampled(pair, miss), adjacency, count)


@dataclass(frozen=True)
class FixedBatch(Sampling):
    r"""Each step draws a batch of the same size, without replacement.

    Formula: $\gamma = b/n$; another record takes the place of one that is
    removed, so a sum moves by twice the norm.
    Parameters: `batch_size` (b, 0 to n); `dataset_size` (n, 1 to 1e12), of
    the larger neighbour, of both for "substitute".
    Raises: ValueError for other sizes; NotImplementedError for groups of
    other noise, and for substituted groups.
    Error: for "substitute" and "zero-out" a gap between what dominates and
    what data sets attain; both ends hold.
    Source: Lebeda et al. (2024), Theorem 15; page-sampling.

    >>> FixedBatch(10, 1000)
    FixedBatch(batch_size=10, dataset_size=1000)
    """

    batch_size: int
    dataset_size: int

    def __post_init__(self) -> None:
        check_fields(self, dataset_size=(1, 1e12, True))
        check_fields(self, batch_size=(0, self.dataset_size, True))

    def directions(
        self, mechanism: Mechanism, adjacency: Adjacency, size: int, count: int
    ) -> list[Direction]:
        b, n = self.batch_size, self.dataset_size
        miss = -math.inf
        if b < n:
            miss = math.log((n - b) / n) if 2 * b > n else math.log1p(-b / n)
        one = in_sample(mechanism.exchanged(1), miss)
        if size > 1 and adjacency in ("substitute", "zero-out"):
            raise NotImplementedError(
                f"group_size={size}: no theorem covers groups in {self!r} "
                f"with adjacency={str(adjacency)!r}"
            )
        if adjacency is Adjacency.ZERO_OUT:
            return self.zeroed(mechanism, miss, count)
        if adjacency is Adjacency.SUBSTITUTE:
            if not isinstance(one, Subsampled):
                return [Direction(((one, count),))]
            return [between(Mirrored(one), one, count)]
        if b > n - size:
            raise ValueError(
                "batch_size must lie in [0, dataset_size - group_size], since "
                "the smaller neighbour must fill the "
                f"batch, got {self!r} with group_size={size}"
            )
        if size > 1 and b > 0:
            check_groups(mechanism, self, size)
            miss, shifts, weights = hypergeometric_shifts(size, b, n)
            one = Subsampled(
                mechanism.moved([2 * x for x in shifts], weights), miss
            )
        return both_ways(one, adjacency, count)

    def zeroed(
        self, mechanism: Mechanism, miss: float, count: int
    ) -> list[Direction]:
        """A record counts for nothing, and keeps its place."""
        attained = in_sample(mechanism.removed(1), miss)
        if not isinstance(attained, Subsampled):
            return both_ways(attained, Adjacency.ZERO_OUT, count)
        steps = ((Mirrored(in_sample(mechanism.exchanged(1), miss)), count),)
        ways = attained, attained.reversed()
        return [Direction(steps, (((way, count),),)) for way in ways]


def check_groups(mechanism: Mechanism, sampling: Sampling, size: int) -> None:
    """Refuse groups in samples where no theorem covers them."""
    if not mechanism.groups:
        raise NotImplementedError(
            f"group_size={size}: groups in samples are known for Gaussian "
            f"noise only, got {mechanism!r} with {sampling!r}"
        )
    check("group_size of a sampled mechanism", size, 1, 64, whole=True)


Shifts = tuple[float, tuple[int, ...], tuple[float, ...]]

# --- Groups


def log_part(a: int, b: int) -> float:
    """log(a/b) for 0 <= a <= b of any size; error 8u, relative.

    >>> round(log_part(1, 10**400) / math.log(10), 9)
    -400.0
    """
    if 2 * a > b:
        return math.log1p(-((b - a) / b))
    scale = b.bit_length() - a.bit_length()
    return math.log((a << scale) / b) - scale * math.log(2) if a else -math.inf


def given_some(ways: Sequence[int]) -> Shifts:
    """log P(none), the numbers from 1 on, logs of their chances, given one;
    `ways` are proportional to the chances of 0, 1, 2, ... records."""
    total, some = sum(ways), sum(ways[1:])
    rows = [(j, log_part(x, some)) for j, x in enumerate(ways) if j and x]
    numbers, logs = zip(*rows, strict=True)
    return log_part(ways[0], total), numbers, logs


def binomial_shifts(size: int, rate: float) -> Shifts:
    """Of a group in a Poisson sample."""
    m, d = rate.as_integer_ratio()
    k = range(size + 1)
    return given_some(
        [math.comb(size, j) * m**j * (d - m) ** (size - j) for j in k]
    )


def hypergeometric_shifts(
    size: int, batch_size: int, dataset_size: int
) -> Shifts:
    """Of a group in a fixed batch."""
    b, rest = batch_size, dataset_size - batch_size
    k = range(size + 1)
    return given_some([math.comb(b, j) * math.comb(rest, size - j) for j in k])


# --- A run


@dataclass(frozen=True)
class Release:
    """One mechanism, `count` times, each time on a fresh sample.

    Parameters: `mechanism`; `sampling`; `count` (T, 1 to 1e9).
    Raises: ValueError for what is no mechanism, sampling or count.

    >>> from accountlib.mechanisms import Gaussian
    >>> Release(Gaussian(1.0), Poisson(0.01), count=500).count
    500
    """

    mechanism: Mechanism
    sampling: Sampling = FullBatch()
    count: int = 1

    def __post_init__(self) -> None:
        for name, kind in (("mechanism", Mechanism), ("sampling", Sampling)):
            if not isinstance(getattr(self, name), kind):
                raise ValueError(
                    f"{name} must be a {kind.__name__}, got "
                    f"{getattr(self, name)!r}"
                )
        check_fields(self, count=(1, 1e9, True))


def run_directions(
    releases: Release | Sequence[Release], adjacency: str, group_size: int = 1
) -> list[Direction]:
    """The directions of a whole run: equal pairs counted together.

    The data that attain one direction attain it in all releases at once.
    """
    releases = [releases] if isinstance(releases, Release) else releases
    fine = isinstance(releases, Sequence) and len(releases) > 0
    if not fine or not all(isinstance(x, Release) for x in releases):
        raise ValueError(
            f"releases must be a Release or a list of them, got {releases!r}"
        )
    size = check("group_size", group_size, 1, 1000, whole=True)
    relation = Adjacency(adjacency)
    found = [
        x.sampling.directions(x.mechanism, relation, size, x.count)
        for x in releases
    ]
    runs = []
    for d in range(max(map(len, found))):
        each = [x[d % len(x)] for x in found]
        above = counted([step for x in each for step in x.above])
        ways = [x.below or (x.above,) for x in each]
        below = [
            counted([step for x in ways for step in x[k % len(x)]])
            for k in range(max(len(x.below) for x in each))
        ]
        runs.append(Direction(above, tuple(dict.fromkeys(below))))
    return list(dict.fromkeys(runs))


def counted(steps: Sequence[tuple[DominatingPair, int]]) -> Steps:
    """Equal pairs counted together, and normal steps as one (their shifts
    add up in squares)."""
    counts: dict[DominatingPair, int] = {}
    squares = []
    for pair, count in steps:
        if isinstance(pair, ShiftedNoise) and pair.is_normal:
            squares.append(count * pair.shifts[0] ** 2)
        elif count and pair != NOTHING_REVEALED:
            counts[pair] = counts.get(pair, 0) + count
    if (mu := math.sqrt(math.fsum(squares))) > 0:
        counts[ShiftedNoise(NormalNoise(), (mu,))] = 1
    return tuple(counts.items())


def dominating_pairs(
    mechanism: Mechanism,
    *,
    sampling: Sampling,
    adjacency: str,
    group_size: int = 1,
) -> tuple[DominatingPair, ...]:
    """Dominating pairs of one step: one a direction, remove first.

    Parameters: `mechanism`; `sampling`; `adjacency`; `group_size` (k, 1 to
    1000).
    Returns: pairs that dominate the step; one if it equals its reverse.
    Raises: ValueError for other values; NotImplementedError where no theorem
    is known.
    Source: page-sampling.

    >>> from accountlib.mechanisms import Gaussian
    >>> len(dominating_pairs(Gaussian(1.0), sampling=Poisson(0.1),
    ...     adjacency="add-or-remove"))
    2
    """
    size = check("group_size", group_size, 1, 1000, whole=True)
    found = sampling.directions(mechanism, Adjacency(adjacency), size, 1)
    return tuple(x.above[0][0] for x in found)
