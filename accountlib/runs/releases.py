# Generated from notebooks/runs/releases.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Naming the question

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\gamma$ | `rate` | chance that a record is drawn, in $[0, 1]$ |
| $b$, $n$ | `batch_size`, `dataset_size` | records in a fixed batch, in the larger data set |
| $B$ | `largest_batch` | the largest batch that is not cut off |
| $t$ | `steps` | steps of an epoch |
| $T$ | `count` | number of runs, $\ge 1$ |
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Literal, get_args

from accountlib.inputs import check_count, check_kind, check_number
from accountlib.worst_cases.dominating_pairs import DominatingPair, Mechanism

__all__ = [
    "Adjacency",
    "AdjacencyName",
    "check_adjacency",
    "FullBatch",
    "Poisson",
    "FixedBatch",
    "RandomAllocation",
    "TruncatedPoisson",
    "ShuffledEpochs",
    "Sampling",
    "plain_sampler",
    "Release",
    "no_exchange",
    "refuse_unknown",
    "in_directions",
    "direction_names",
]

# --- Who differs


class Adjacency(StrEnum):
    """How two neighbouring data sets differ. There is no default.

    ADD: D' has one record more than D. REMOVE: one less. ADD_OR_REMOVE:
    either. SUBSTITUTE: one record of D is exchanged for another. ZERO_OUT:
    one record counts for nothing in D' or in D, but keeps its place.
    Source: Lebeda et al. (2024), Definition 2.

    >>> Adjacency("add-or-remove") is Adjacency.ADD_OR_REMOVE
    True
    """

    ADD = "add"
    REMOVE = "remove"
    ADD_OR_REMOVE = "add-or-remove"
    SUBSTITUTE = "substitute"
    ZERO_OUT = "zero-out"


AdjacencyName = Literal[
    "add", "remove", "add-or-remove", "substitute", "zero-out"
]


def check_adjacency(value: Adjacency | str) -> Adjacency:
    """Return the Adjacency that `value` names.

    Parameters: `value`, an Adjacency or its name.
    Raises: ValueError naming the allowed names and the value.
    Source: Lebeda et al. (2024), Definition 2.

    >>> check_adjacency("remove") is Adjacency.REMOVE
    True
    """
    try:
        return Adjacency(value)
    except ValueError:
        allowed = "add, remove, add-or-remove, substitute or zero-out"
        raise ValueError(
            f"adjacency must be {allowed}, got {value!r}"
        ) from None


# --- Who takes part


@dataclass(frozen=True)
class FullBatch:
    """No sampling: the mechanism sees every record.

    >>> FullBatch()
    FullBatch()
    """

    @property
    def rate(self) -> float:
        """Chance of one record to take part: 1."""
        return 1.0


@dataclass(frozen=True)
class Poisson:
    r"""Poisson sampling: each record takes part with chance `rate`.

    Formula: $\gamma^k (1-\gamma)^{n-k}$ for each batch of k out of n
    records: they join independently of each other.

    Parameters: `rate` ($\gamma$ in [0, 1]).
    Raises: ValueError for values outside [0, 1].
    Source: Lebeda et al. (2024), Definition 6.

    >>> Poisson(0.01)
    Poisson(rate=0.01)
    """

    rate: float

    def __post_init__(self) -> None:
        rate = check_number("rate", self.rate, 0, 1)
        object.__setattr__(self, "rate", rate)


@dataclass(frozen=True)
class FixedBatch:
    r"""A batch of fixed size, drawn uniformly without replacement.

    Formula: $1/\binom{n}{b}$ for each batch of b out of n records.

    Parameters: `batch_size` ($b \ge 1$), `dataset_size` ($n \ge b$, at
    most 1e300), the number of records of the larger one of two neighbours.
    Under add, remove and add-or-remove, $n = b$ is refused too, when the
    privacy is asked for: the smaller neighbour cannot fill the batch.
    Raises: ValueError for values outside these ranges.
    Source: Lebeda et al. (2024), Definition 6.

    >>> FixedBatch(64, 50_000)
    FixedBatch(batch_size=64, dataset_size=50000)
    """

    batch_size: int
    dataset_size: int

    def __post_init__(self) -> None:
        size = check_count("dataset_size", self.dataset_size)
        batch = check_count("batch_size", self.batch_size)
        if batch > size:
            raise ValueError(
                f"batch_size must lie in [1, dataset_size = {size}], "
                f"got {self.batch_size!r}"
            )
        if size > 10**300:  # rates below would be no floats
            raise ValueError(
                f"dataset_size must be at most 1e300, got {self.dataset_size}"
            )
        object.__setattr__(self, "dataset_size", size)
        object.__setattr__(self, "batch_size", batch)

    @property
    def rate(self) -> Fraction:
        """Chance of one record to be in a batch, b/n without rounding."""
        return Fraction(self.batch_size, self.dataset_size)


@dataclass(frozen=True)
class RandomAllocation:
    r"""One epoch: each record is in one of its steps, drawn at random.

    Formula: $1/t$ for each step, independently of all other records.

    Parameters: `steps` ($t$ from 1 to 1e7), the steps of an epoch. In a
    Release, `count` is the number of epochs, each with a fresh draw. Bins
    that stay the same in all epochs, and batches of equal size (a
    shuffle), are other samplers.
    Raises: ValueError for values outside this range.
    Source: Feldman and Shenfeld (2025).

    >>> RandomAllocation(1000)
    RandomAllocation(steps=1000)
    """

    steps: int

    def __post_init__(self) -> None:
        steps = check_count("steps", self.steps, 1, 10**7)
        object.__setattr__(self, "steps", steps)

    @property
    def rate(self) -> Fraction:
        """Chance of one record to be in a given step, 1/t."""
        return Fraction(1, self.steps)


@dataclass(frozen=True)
class TruncatedPoisson:
    r"""A Poisson sample, cut at random to at most `largest_batch` records.

    Formula: each record with chance $\gamma$; if more than B are drawn,
    each choice of B of them with the same chance.

    Parameters: `rate` ($\gamma$ in [1e-290, 1], or 0, where nobody is ever
    drawn); `largest_batch` (B from 1 to 1e9); `dataset_size` (n from 1 to
    1e9) of the larger data set, a public number: a bound of it is not
    enough, the answer may fall or rise with n.
    Raises: ValueError for values outside these ranges.
    Source: Ganesh (2025).

    >>> TruncatedPoisson(0.004, 512, 100_000)
    TruncatedPoisson(rate=0.004, largest_batch=512, dataset_size=100000)
    """

    rate: float
    largest_batch: int
    dataset_size: int

    def __post_init__(self) -> None:
        rate = check_number("rate", self.rate, 0, 1)
        if 0 < rate < 1e-290:
            raise ValueError(f"rate must be 0 or in [1e-290, 1], got {rate}")
        object.__setattr__(self, "rate", rate)
        for name in ("largest_batch", "dataset_size"):
            count = check_count(name, getattr(self, name), 1, 10**9)
            object.__setattr__(self, name, count)

    @property
    def as_other(self) -> "FixedBatch | Poisson | TruncatedPoisson":
        """The sampler that it is if nothing or always the same is cut."""
        if self.rate == 0 or self.dataset_size <= self.largest_batch:
            return Poisson(self.rate)
        if self.rate == 1:
            return FixedBatch(self.largest_batch, self.dataset_size)
        return self


@dataclass(frozen=True)
class ShuffledEpochs:
    r"""One epoch: a random order of the data, cut into equal batches.

    Formula: each order with the same chance; each batch is used once.

    Parameters: `batches` ($t$ from 1 to 1e7), the batches of an epoch. In
    a Release, `count` is the number of epochs, each with a new order.
    Answers for "zero-out" and "substitute" only, which keep the number of
    records; they lie between an attack and a full batch.
    Raises: ValueError for values outside this range.
    Source: page "A shuffle, from below"; random allocation, which is one
    of the lower ends, is that of Feldman and Shenfeld (2025).

    >>> ShuffledEpochs(1000)
    ShuffledEpochs(batches=1000)
    """

    batches: int

    def __post_init__(self) -> None:
        batches = check_count("batches", self.batches, 1, 10**7)
        object.__setattr__(self, "batches", batches)

    @property
    def rate(self) -> Fraction:
        """Chance of one record to be in a given batch, 1/t."""
        return Fraction(1, self.batches)


Sampling = (
    FullBatch
    | Poisson
    | FixedBatch
    | TruncatedPoisson
    | RandomAllocation
    | ShuffledEpochs
)

_ONE_STEP = RandomAllocation(1), ShuffledEpochs(1)  # of all records


def plain_sampler(sampling: Sampling) -> Sampling:
    """The sampler itself, or a simpler one that draws the same.

    >>> plain_sampler(ShuffledEpochs(1)), plain_sampler(FixedBatch(9, 9))
    (FullBatch(), FixedBatch(batch_size=9, dataset_size=9))
    >>> plain_sampler(TruncatedPoisson(1.0, 10, 100))
    FixedBatch(batch_size=10, dataset_size=100)
    """
    if sampling in _ONE_STEP:
        return FullBatch()
    if isinstance(sampling, TruncatedPoisson):
        return sampling.as_other
    return sampling


# --- The question as a value


@dataclass(frozen=True)
class Release:
    """One mechanism, run `count` times, each time on a fresh sample.

    Parameters: `mechanism`; `sampling`, how the records of each run are
    chosen; `count` (T from 1 to 1e15), the number of runs.
    Raises: ValueError for arguments of another kind or range.

    >>> from accountlib.runs.mechanisms import Gaussian
    >>> Release(Gaussian(0.8), Poisson(0.001), count=10_000).count
    10000
    """

    mechanism: Mechanism
    sampling: Sampling = FullBatch()
    count: int = 1

    def __post_init__(self) -> None:
        check_kind("mechanism", self.mechanism, Mechanism)
        check_kind("sampling", self.sampling, get_args(Sampling))
        count = check_count("count", self.count)
        check_number("count", count, 1, 1e15)
        object.__setattr__(self, "count", count)


# --- Questions without an answer


def no_exchange(why: str) -> NotImplementedError:
    """A refusal that names the bound that is always there."""
    return NotImplementedError(
        f"adjacency='substitute'{why}; substitute_delta_bound gives an upper "
        "bound where add and remove are covered"
    )


def refuse_unknown(
    sampling: Sampling, adjacency: Adjacency, group_size: int
) -> None:
    """Raise NotImplementedError for neighbours that no theorem covers."""
    if group_size > 1 and (
        isinstance(
            sampling, RandomAllocation | ShuffledEpochs | TruncatedPoisson
        )
        or (adjacency is Adjacency.ZERO_OUT and type(sampling) is FixedBatch)
    ):
        raise NotImplementedError(
            f"group_size={group_size}: no theorem of the book covers groups "
            f"with {sampling!r} and adjacency={str(adjacency)!r}"
        )
    if isinstance(sampling, RandomAllocation):
        if adjacency is Adjacency.SUBSTITUTE:
            raise no_exchange(f" with {sampling!r}: no pair is known")
    elif isinstance(sampling, ShuffledEpochs):
        if adjacency not in (Adjacency.ZERO_OUT, Adjacency.SUBSTITUTE):
            raise NotImplementedError(
                f"adjacency={str(adjacency)!r} with {sampling!r}: another "
                "number of records changes the last batch or the number of "
                "batches, which may tell all; 'zero-out' and 'substitute' "
                "have answers"
            )


def in_directions(
    remove: DominatingPair, adjacency: Adjacency
) -> tuple[DominatingPair, ...]:
    """A pair, its reverse, or both, as the adjacency asks for.

    >>> from accountlib.worst_cases.noise import LaplacePair
    >>> in_directions(LaplacePair(1.0), Adjacency.REMOVE)
    (LaplacePair(scale=1.0),)
    """
    if adjacency in (Adjacency.REMOVE, Adjacency.SUBSTITUTE):
        return (remove,)
    add = remove.reversed()
    return (add,) if adjacency is Adjacency.ADD else (remove, add)


def direction_names(adjacency: Adjacency) -> tuple[str, ...]:
    """What the directions of an adjacency are called.

    >>> direction_names(Adjacency.ADD_OR_REMOVE)
    ('remove', 'add')
    """
    if adjacency is Adjacency.ZERO_OUT:
        return "record against nothing", "nothing against record"
    both = adjacency is Adjacency.ADD_OR_REMOVE
    return ("remove", "add") if both else (str(adjacency),)
