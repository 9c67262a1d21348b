# Generated from notebooks/runs/rules.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Which pair answers the question

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $(P, Q)$ | `base`, `pair` | pair of the mechanism without sampling |
| $\gamma$ | `rate`, `exact` | chance of one record to be in a batch: the Poisson rate, or $b/n$ |
| $b$, $n$ | `batch_size`, `dataset_size` | records in a fixed batch, and in the larger data set |
| $k$ | `group_size` | number of records that are removed, or exchanged |
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from accountlib.inputs import check_count, check_kind, check_number, front_door
from accountlib.runs.mechanisms import (
    ApproximateDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
    check_pair,
    exchanged_pair,
)
from accountlib.runs.releases import (
    Adjacency,
    AdjacencyName,
    FixedBatch,
    FullBatch,
    Poisson,
    RandomAllocation,
    Sampling,
    ShuffledEpochs,
    TruncatedPoisson,
    check_adjacency,
    in_directions,
    no_exchange,
    plain_sampler,
    refuse_unknown,
)
from accountlib.samplers.allocation import allocation_pair
from accountlib.samplers.cut_off import LabelledPair, cut_numbers, cut_off_pair
from accountlib.samplers.shuffles import attack_from_below, largest_output_pair
from accountlib.samplers.zeroed import BoundingPair, zeroed_batch_pair
from accountlib.several.chains import chain_pair
from accountlib.several.exchange import ExchangedPair
from accountlib.several.exchange_batches import (
    ExchangedBatchPair,
    ExchangedIntegerPair,
    ExchangedLaplaceHalf,
    MirroredPair,
)
from accountlib.several.groups import (
    binomial_weights,
    check_missed,
    hypergeometric_weights,
)
from accountlib.several.mixtures import (
    gaussian_mixture,
    gaussian_terms,
)
from accountlib.worst_cases.dominating_pairs import (
    DiscretePair,
    DominatingPair,
    Mechanism,
)
from accountlib.worst_cases.integer_noise import IntegerGaussianPair
from accountlib.worst_cases.noise import GaussianPair, LaplacePair, quotient
from accountlib.worst_cases.sampling import SampledPair

__all__ = [
    "NOTHING_TOLD",
    "single_pair",
    "gaussian_group_pair",
    "moved_pair",
    "exchanged_batch_pair",
    "gaussian_exchange_pair",
    "of_guarantee",
    "Rule",
    "RULES",
    "group_pair",
    "exchange_rule",
    "poisson_exchange_pair",
    "substitute_pair",
    "zeroed_pair",
    "shuffled_pairs",
    "cut_off_rule",
    "dominating_pairs",
]

# --- One record is removed

NOTHING_TOLD = DiscretePair((1.0,), (1.0,))  # nobody is ever in a batch


def single_pair(mechanism: Mechanism, sampling: Sampling) -> DominatingPair:
    r"""The pair of one run for one record that is removed.

    Formula: $((1-\gamma) Q + \gamma P,\, Q)$, as in `dominating_pairs`.

    Parameters: `mechanism`, `sampling`.
    Returns: a DominatingPair.
    Source: Zhu, Dong and Wang (2022), Theorem 11.

    >>> single_pair(Gaussian(1.0), Poisson(0.5))
    SampledPair(base=GaussianPair(mu=1.0), rate=0.5)
    """
    exact = None
    if isinstance(sampling, RandomAllocation):
        base = single_pair(mechanism, FullBatch())
        return allocation_pair(base, sampling.steps)
    if isinstance(sampling, FixedBatch):
        exact, base = sampling.rate, exchanged_pair(mechanism)
    else:
        base = mechanism.pair()
        check_pair(f"pair() of {mechanism!r}", base)
    if sampling.rate == 0:
        return NOTHING_TOLD
    if sampling.rate == 1:
        return base
    return SampledPair(base, float(sampling.rate), exact=exact)


# --- A group is removed


def gaussian_group_pair(
    mechanism: Gaussian, sampling: Sampling, group_size: int
) -> DominatingPair:
    r"""The pair of a Gaussian step for a group that is removed.

    Formula: a mixture of Gaussians with binomial (Poisson sampling) or
    twice hypergeometric (fixed batch) sensitivities; k without sampling.

    Parameters: `mechanism`, `sampling`, `group_size` (k at least 2).
    Returns: a DominatingPair, reached by data sets whose vectors are all
    equal.
    Raises: NotImplementedError if a batch misses the whole group with a
    chance below 1e-300.
    Source: Ganesh (2024), Theorems 3.1 and 3.3.

    >>> gaussian_group_pair(Gaussian(2.0), Poisson(1.0), 3)
    GaussianPair(mu=1.5)
    """
    noise, move = mechanism.noise_multiplier, 1.0
    if sampling.rate == 0:
        return NOTHING_TOLD
    if sampling in (FullBatch(), Poisson(1.0)):
        return gaussian_mixture([float(group_size)], noise, [Decimal(1)])
    check_number("group_size of a sampled mechanism", group_size, 1, 1e4)
    if isinstance(sampling, FixedBatch):
        sizes = sampling.batch_size, sampling.dataset_size
        weights = hypergeometric_weights(group_size, *sizes)
        move = 2.0
    else:
        weights = binomial_weights(group_size, float(sampling.rate))
    check_missed(weights, group_size)
    moves = [move * j for j in range(len(weights))]
    return gaussian_mixture(moves, noise, weights)


def moved_pair(
    mechanism: Laplace | DiscreteGaussian | DiscreteLaplace, group_size: int
) -> DominatingPair:
    r"""The pair of a run without sampling, for a group that is removed.

    Formula: Laplace: scale s/k. Noise on the integers: k times the
    sensitivity.

    Parameters: `mechanism`; `group_size` (k).
    Returns: a DominatingPair, reached by a mechanism of this kind.
    Raises: ValueError where the parameters for the group leave the ranges
    of the mechanism.

    >>> moved_pair(Laplace(1.0), 4)
    LaplacePair(scale=0.25)
    """
    try:
        if isinstance(mechanism, Laplace):
            scale, rest = map(float, quotient(mechanism.scale, group_size))
            return LaplacePair(scale, rest)
        shift = group_size * mechanism.sensitivity
        return replace(mechanism, sensitivity=shift).pair()
    except ValueError as error:
        raise ValueError(
            f"group_size={group_size} with {mechanism!r}: {error}"
        ) from None


# --- Records are exchanged


def exchanged_batch_pair(
    pair: DominatingPair, rate: float | Fraction
) -> DominatingPair:
    r"""The pair for one exchanged record, where some batches miss it.

    Formula: `ExchangedBatchPair`; its atom at 0 has the mass $(1 -
    \gamma) \delta(0) + P(L = 0)$.

    Parameters: `pair`, symmetric, of an exchanged record without
    sampling; `rate` ($\gamma \in (0, 1]$), a float or a Fraction, whose
    $1 - \gamma$ has all digits.
    Returns: a DominatingPair.
    Raises: ValueError for a pair that is not symmetric.
    Source: Lebeda et al. (2024), Theorem 15.

    >>> one = exchanged_batch_pair(Laplace(1.0).exchange_pair(), 0.1)
    >>> round(one.center, 6)  # 0.9 (1 - 1/e)
    0.568909
    """
    check_kind("pair", pair, DominatingPair)
    check_number("rate", float(rate), 0, 1, "(]")
    if pair.reversed() != pair:
        raise ValueError(f"pair must be symmetric, got {pair!r}")
    exact = Fraction(rate)
    if exact == 1:
        return pair
    half = SampledPair(pair, float(exact), exact=exact)
    zero = 0.0
    if 0.0 in pair.atoms:
        edges = np.array([-5e-324, 0.0])
        zero = float(pair.interval_masses(edges, -edges[:1], "right")[0][1])
    stay = float(1 - exact)
    center = min(1.0, stay * float(pair.delta(0.0)) + zero)
    return ExchangedBatchPair(half, center)


def gaussian_exchange_pair(
    mechanism: Gaussian, rate: float, group_size: int
) -> DominatingPair:
    """The pair of exchanged records under Poisson sampling."""
    check_number("group_size of a sampled mechanism", group_size, 1, 1e4)
    weights = binomial_weights(group_size, rate)
    check_missed(weights, group_size)
    sizes = list(map(float, range(group_size + 1)))
    noise = mechanism.noise_multiplier
    return ExchangedPair(*gaussian_terms(sizes, noise, weights))


def of_guarantee(mechanism: Mechanism, rate: float, _: int) -> DominatingPair:
    """The pair of an exchange that a mere guarantee covers."""
    return exchanged_batch_pair(mechanism.exchange_pair(), rate)


# --- The table of rules


@dataclass(frozen=True)
class Rule:
    """What is known of a mechanism beyond one removed record.

    Fields: `moves`, how many removed records weigh as much as one that is
    exchanged. Three pairs: `moved`, for k removed records without
    sampling, from mechanism and k; `sampled_exchange`, for k exchanged
    ones under Poisson sampling, from mechanism, rate and k;
    `sampled_group`, for k removed ones in samples, from mechanism,
    sampling and k. Without the last one, k is 1 in samples.
    """

    moves: int
    moved: Callable[[Any, int], DominatingPair]
    sampled_exchange: Callable[[Any, float, int], DominatingPair]
    sampled_group: Callable[[Any, Sampling, int], DominatingPair] | None = None


RULES: Mapping[type[Mechanism], Rule] = MappingProxyType(
    {
        Gaussian: Rule(
            2,
            lambda m, k: gaussian_group_pair(m, FullBatch(), k),
            gaussian_exchange_pair,
            gaussian_group_pair,
        ),
        Laplace: Rule(
            2,
            moved_pair,
            lambda m, rate, _: MirroredPair(
                ExchangedLaplaceHalf(m.scale, rate), 0.0
            ),
        ),
        DiscreteGaussian: Rule(
            2,
            moved_pair,
            lambda m, rate, _: ExchangedIntegerPair(
                IntegerGaussianPair(m.sigma, m.sensitivity), rate
            ),
        ),
        DiscreteLaplace: Rule(
            2, moved_pair, lambda m, rate, _: m.exchanged_table(rate)
        ),
        RandomizedResponse: Rule(1, lambda m, _: m.pair(), of_guarantee),
        PureDP: Rule(
            1, lambda m, k: chain_pair(m.epsilon, 0.0, k), of_guarantee
        ),
        ApproximateDP: Rule(
            1, lambda m, k: chain_pair(m.epsilon, m.delta, k), of_guarantee
        ),
    }
)


def group_pair(
    mechanism: Mechanism, sampling: Sampling, group_size: int
) -> DominatingPair:
    """The pair of one run for a group of records that is removed.

    Parameters: `mechanism`, whose type decides which rule is used;
    `sampling`; `group_size` (at least 2), at most so many records differ.
    Returns: a DominatingPair.
    Raises: NotImplementedError where no theorem of the book covers it;
    ValueError as the rules say.
    Source: Dong, Roth and Su (2022), Theorem 2.14.

    >>> group_pair(Gaussian(1.0), FullBatch(), 3)
    GaussianPair(mu=3.0)
    """
    rule = RULES.get(type(mechanism))
    if rule is None:
        raise NotImplementedError(
            f"group_size={group_size}: no theorem of the book covers groups "
            f"for {mechanism!r} with {sampling!r}"
        )
    if sampling.rate == 0:
        return NOTHING_TOLD
    if sampling in (FullBatch(), Poisson(1.0)):
        return rule.moved(mechanism, group_size)
    if rule.sampled_group is None:
        raise NotImplementedError(
            f"group_size={group_size}: groups in samples are known for "
            f"Gaussian noise only, got {mechanism!r} with {sampling!r}"
        )
    return rule.sampled_group(mechanism, sampling, group_size)


def exchange_rule(mechanism: Mechanism, *, zeroed: bool = False) -> Rule:
    """The rule of a mechanism, or a refusal that speaks of exchanges.

    Raises: NotImplementedError for a type without a rule, such as a
    subclass; for `zeroed`, the refusal speaks of zero-out.

    >>> exchange_rule(Gaussian(1.0)).moves, exchange_rule(PureDP(1.0)).moves
    (2, 1)
    """
    if type(mechanism) in RULES:
        return RULES[type(mechanism)]
    why = f": this book has no pair for {mechanism!r}"
    if zeroed:
        raise NotImplementedError(f"adjacency='zero-out', fixed batch{why}")
    raise no_exchange(why)


def poisson_exchange_pair(
    mechanism: Mechanism, rate: float, group_size: int
) -> DominatingPair:
    r"""The pair for exchanged records under Poisson sampling.

    Formula: $((1-\gamma) N_0 + \gamma N_k,\, (1-\gamma) N_0 + \gamma
    N_{-k})$ for noise N; a binomial mixture for groups.

    Parameters: `mechanism`; `rate` ($\gamma$ in (0, 1)); `group_size`.
    Returns: a DominatingPair, reached by data sets for added noise.
    Raises: NotImplementedError for groups but with Gaussian noise.
    Source: Lebeda et al. (2024), Proposition 13.

    >>> poisson_exchange_pair(Gaussian(2.0), 0.25, 1)
    ExchangedPair(means=(0.0, 0.5), weights=(0.75, 0.25))
    """
    check_number("rate", rate, 0, 1, "()")
    rule = exchange_rule(mechanism)
    if group_size > 1 and rule.sampled_group is None:
        raise no_exchange(
            f", group_size={group_size}: this book has groups in samples for "
            f"Gaussian noise only, got {mechanism!r}"
        )
    return rule.sampled_exchange(mechanism, rate, group_size)


def substitute_pair(
    mechanism: Mechanism, sampling: Sampling, group_size: int
) -> DominatingPair:
    r"""The pair of one run for records that are exchanged for others.

    Formula: full batch: the mechanism's pair for an exchange; Poisson:
    `poisson_exchange_pair`; fixed batch: `exchanged_batch_pair`.

    Parameters: as for `group_pair`, k at least 1. `PureDP` and
    `ApproximateDP` must hold for an exchanged record, and for an added and
    a removed one.
    Returns: a DominatingPair, equal to its reverse.
    Raises: NotImplementedError where no theorem of the book covers it.
    Source: Lebeda et al. (2024), Proposition 13 and Theorem 15.

    >>> substitute_pair(Laplace(1.0), FullBatch(), 1)
    LaplacePair(scale=0.5)
    """
    if group_size == 1 and isinstance(sampling, FullBatch | FixedBatch):
        return exchanged_batch_pair(exchanged_pair(mechanism), sampling.rate)
    moves = exchange_rule(mechanism).moves
    if sampling.rate == 0:
        return NOTHING_TOLD
    if sampling.rate == 1 and group_size == 1:
        return mechanism.exchange_pair()
    if sampling.rate == 1:
        return group_pair(mechanism, FullBatch(), moves * group_size)
    if isinstance(sampling, Poisson):
        return poisson_exchange_pair(mechanism, sampling.rate, group_size)
    raise no_exchange(
        f", group_size={group_size}: no theorem of the book covers groups in "
        "fixed batches"
    )


# --- A record counts for nothing


def zeroed_pair(mechanism: Mechanism, rate: Fraction) -> DominatingPair:
    r"""The pair of one run on a fixed batch, for one record zeroed out.

    Formula: Gaussian noise (multiplier from 0.05): `zeroed_batch_pair`;
    else that of an exchange, an upper bound.

    Parameters: `mechanism`; `rate` ($\gamma = b/n$ in (0, 1]).
    Returns: a DominatingPair for the record against nothing.
    Raises: NotImplementedError for mechanisms without a rule.
    Source: theorem "Zeroing out in a fixed batch"; Lebeda et al. (2024),
    Theorem 15.

    >>> zeroed_pair(Laplace(1.0), Fraction(1, 10)).reached[0]
    SampledPair(base=LaplacePair(scale=1.0), rate=0.1)
    """
    exchange_rule(mechanism, zeroed=True)
    single = mechanism.pair()
    if rate == 1:
        return single
    if isinstance(single, GaussianPair) and 1e-100 <= single.mu <= 20:
        return zeroed_batch_pair(single.mu, rate)
    above = exchanged_batch_pair(mechanism.exchange_pair(), rate)
    beside = SampledPair(single, float(rate), exact=rate)
    return BoundingPair(above, (beside, beside.reversed()))


def shuffled_pairs(
    mechanism: Mechanism, batches: int, adjacency: Adjacency
) -> tuple[DominatingPair, ...]:
    r"""The pairs of a shuffled epoch: a full batch above, attacks below.

    Parameters: `mechanism`; `batches` (t at least 2); `adjacency`,
    "zero-out" or "substitute".
    Returns: one pair per direction, the record against nothing first; one
    for substitution. What neighbours reach is in `reached`.
    Raises: NotImplementedError where no exchange is covered.
    Source: Chua et al. (2024a) for the attack.

    >>> pair, back = shuffled_pairs(Gaussian(1.0), 10, Adjacency.ZERO_OUT)
    >>> pair.pair, pair.reached[0].delta(0.5) < pair.delta(0.5)
    (GaussianPair(mu=1.0), True)
    """
    if adjacency is Adjacency.SUBSTITUTE:
        exchange_rule(mechanism)
        above = substitute_pair(mechanism, FullBatch(), 1)
        epoch = attack_from_below(above, batches)
        return (BoundingPair(above, (epoch, epoch.reversed())),)
    above = single_pair(mechanism, FullBatch())
    epoch = attack = attack_from_below(above, batches)
    if type(mechanism) is Gaussian and isinstance(above, GaussianPair):
        if 1e-6 <= above.mu <= 20:
            attack = largest_output_pair(above.mu, batches)
    return (
        BoundingPair(above, (attack, epoch)),
        BoundingPair(above.reversed(), (attack.reversed(), epoch)),
    )


# --- A batch is cut off


def cut_off_rule(
    mechanism: Mechanism, sampling: TruncatedPoisson, adjacency: Adjacency
) -> DominatingPair:
    """The pair of one run on a Poisson sample that is cut off.

    Parameters: `mechanism`; `sampling`, of which something is cut;
    `adjacency`. For add it is the pair of remove.
    Returns: a pair from above; others that contribute nothing reach what
    is in `reached`.
    Raises: NotImplementedError for mechanisms without a rule.
    Source: theorem "Poisson samples cut at random".

    >>> cut = TruncatedPoisson(0.1, 15, 100)
    >>> round(cut_off_rule(Gaussian(1.0), cut, Adjacency.ADD).delta(0.5), 9)
    0.003760986
    """
    if type(mechanism) not in RULES:
        raise NotImplementedError(
            f"{sampling!r} needs a mechanism of this book, of which it is "
            f"known what other records may contribute, got {mechanism!r}"
        )
    rate, base = sampling.rate, mechanism.pair()
    sizes = sampling.largest_batch, sampling.dataset_size
    exchange, numbers = mechanism.exchange_pair(), cut_numbers(rate, *sizes)
    kept, present = Fraction(numbers.kept), numbers.present
    both: tuple[DominatingPair, DominatingPair]
    if adjacency is Adjacency.ZERO_OUT:
        full = zeroed_pair(mechanism, kept)
        both = SampledPair(base, rate), SampledPair(base, present)
    elif adjacency is Adjacency.SUBSTITUTE:
        full = exchanged_batch_pair(exchange, kept)
        beside = poisson_exchange_pair(mechanism, rate, 1)
        both = beside, poisson_exchange_pair(mechanism, present, 1)
    else:
        return cut_off_pair(base, exchange, rate, *sizes)
    weights = numbers.full, numbers.room
    return LabelledPair((full, both[0]), weights, both[1])


# --- All questions in one function


@front_door
def dominating_pairs(
    mechanism: Mechanism,
    *,
    sampling: Sampling,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
) -> tuple[DominatingPair, ...]:
    r"""Dominating pairs of one run: their largest curve is an upper bound.

    Formula: with $(P, Q)$ the pair of the mechanism, remove is
    $((1-\gamma) Q + \gamma P,\, Q)$ and add is its reverse. Full batch:
    $\gamma = 1$. Fixed batch: $\gamma = b/n$, and $(P, Q)$ is the pair
    for an exchanged record. Random allocation: `allocation_pair`.

    Parameters: `mechanism`, `sampling`, `adjacency`; `group_size`, how
    many records differ.
    Returns: one pair per direction, remove first, then add; for
    substitution one pair. For every epsilon the largest of
    their deltas is at least the true one of one run, and equal to it for
    Gaussian and Laplace, where a pair's `reached` has no other pairs.
    Raises: ValueError for bad values (and for a fixed batch of all n
    records, see `FixedBatch`); NotImplementedError for a combination
    that no theorem of the book covers.
    Error: none in the theorems; rounding as each pair says.
    Source: Zhu, Dong and Wang (2022), Theorem 11; Lebeda et al. (2024),
    Proposition 9 and Theorem 10.

    >>> dominating_pairs(
    ...     Gaussian(1.0), sampling=Poisson(0.5), adjacency="remove"
    ... )
    (SampledPair(base=GaussianPair(mu=1.0), rate=0.5),)
    """
    check_kind("mechanism", mechanism, Mechanism)
    check_kind("sampling", sampling, get_args(Sampling))
    adjacency = check_adjacency(adjacency)
    group_size = check_count("group_size", group_size)
    sampling = plain_sampler(sampling)
    refuse_unknown(sampling, adjacency, group_size)
    if isinstance(sampling, ShuffledEpochs):
        return shuffled_pairs(mechanism, sampling.batches, adjacency)
    if isinstance(sampling, TruncatedPoisson):
        remove = cut_off_rule(mechanism, sampling, adjacency)
        return in_directions(remove, adjacency)
    if adjacency is Adjacency.SUBSTITUTE:
        return (substitute_pair(mechanism, sampling, group_size),)
    if adjacency is Adjacency.ZERO_OUT and isinstance(sampling, FixedBatch):
        return in_directions(zeroed_pair(mechanism, sampling.rate), adjacency)
    if isinstance(sampling, FixedBatch):
        smaller = sampling.dataset_size - group_size
        if sampling.batch_size > smaller:
            raise ValueError(
                "batch_size must lie in [1, dataset_size - group_size] (the "
                f"smaller neighbour has {smaller} records and must fill the "
                f"batch), got {sampling}"
            )
    if group_size > 1:
        remove = group_pair(mechanism, sampling, group_size)
    else:
        remove = single_pair(mechanism, sampling)
    return in_directions(remove, adjacency)
