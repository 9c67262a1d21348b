# Generated from notebooks/beyond/other_libraries.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What does another library's record mean?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\gamma$, $\sigma$, $T$ | `rate`, `noise`, `count` | sampling rate, noise multiplier, number of steps |
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from accountlib.beyond.event_pairs import (
    PairsOnly,
    gaussians_together,
    response_pairs,
)
from accountlib.beyond.other_samplers import TruncatedPoisson
from accountlib.checks import check
from accountlib.mechanisms import (
    ApproximateDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Mechanism,
    PureDP,
)
from accountlib.mixtures import MixtureOfGaussians
from accountlib.sampling import (
    Adjacency,
    FixedBatch,
    FullBatch,
    Poisson,
    Release,
    Sampling,
)

__all__ = [
    "event_name",
    "event_field",
    "composed_events",
    "as_discrete_gaussian",
    "as_vector_noise",
    "MECHANISMS",
    "SUMS",
    "REFUSED",
    "MEANINGLESS",
    "as_mechanism",
    "sampled_mechanism",
    "as_run",
    "from_dp_event",
    "from_opacus",
]

# --- Reading a tree


def event_name(event: Any) -> str:
    """The name of an event's class, also of its form as a named tuple.

    >>> event_name(0.5)
    'float'
    """
    name = getattr(event, "class_name", type(event).__name__)
    return name.decode() if isinstance(name, bytes) else str(name)


def event_field(event: Any, name: str) -> Any:
    """A field of an event.

    Raises: ValueError naming the event and the field, if there is none.

    >>> event_field(1 + 2j, "real")
    1.0
    """
    try:
        return getattr(event, name)
    except AttributeError:
        raise ValueError(
            f"{event_name(event)} must have a field {name}, got {event!r}"
        ) from None


def composed_events(event: Any, count: int = 1) -> Iterator[tuple[Any, int]]:
    """The events that a tree is composed of, each with its count.

    Parameters: `event`, as for `from_dp_event`; `count`, of the whole tree.
    Returns: pairs of an event and a count (at least 1). Samplers are not
    looked into; what does nothing is left out.
    Raises: ValueError for missing fields and counts that are no counts.

    >>> list(composed_events(0.5))
    [(0.5, 1)]
    """
    name = event_name(event)
    if name == "SelfComposedDpEvent":
        times = event_field(event, "count")
        times = check(f"count of {name}", times, 0, 1e18, whole=True)
        yield from composed_events(event_field(event, "event"), count * times)
    elif name == "ComposedDpEvent":
        for part in event_field(event, "events"):
            yield from composed_events(part, count)
    elif name != "NoOpDpEvent" and count > 0:
        yield event, count


def as_discrete_gaussian(event: Any) -> Mechanism:
    """The mechanism of a DiscreteGaussianDpEvent of dimension 1.

    Raises: NotImplementedError for vectors; ValueError for values outside
    the ranges of `DiscreteGaussian`.
    """
    dimension = event_field(event, "dimension")
    if dimension != 1:
        raise NotImplementedError(
            f"DiscreteGaussianDpEvent with dimension={dimension!r}: the "
            "worst vector of discrete Gaussian noise is not known; only "
            "dimension=1 has an answer"
        )
    sigma = event_field(event, "sigma")
    return DiscreteGaussian(sigma, event_field(event, "sensitivity"))


def as_vector_noise(event: Any) -> Mechanism:
    """The mechanism of a Laplace or DiscreteLaplace event, for vectors.

    Source: lemma "Noise on a vector".
    """
    if event_name(event) == "LaplaceDpEvent":
        number: Mechanism = Laplace(event_field(event, "noise_multiplier"))
    else:
        a = check(
            "noise_parameter", event_field(event, "noise_parameter"), 1e-6, 200
        )
        number = DiscreteLaplace(1 / a, event_field(event, "sensitivity"))
    return PairsOnly(number.removed(1), number.exchanged(1))


MECHANISMS: Mapping[str, Callable[[Any], Mechanism]] = MappingProxyType(
    {
        "GaussianDpEvent": lambda event: Gaussian(
            event_field(event, "noise_multiplier")
        ),
        "LaplaceDpEvent": as_vector_noise,
        "DiscreteLaplaceDpEvent": as_vector_noise,
        "DiscreteGaussianDpEvent": as_discrete_gaussian,
        "MixtureOfGaussiansDpEvent": lambda event: MixtureOfGaussians(
            event_field(event, "sensitivities"),
            event_field(event, "sampling_probs"),
            event_field(event, "standard_deviation"),
        ),
        "RandomizedResponseDpEvent": lambda event: response_pairs(
            event_field(event, "noise_parameter"),
            event_field(event, "num_buckets"),
        ),
        "EpsilonDeltaDpEvent": lambda event: ApproximateDP(
            event_field(event, "epsilon"), event_field(event, "delta")
        ),
    }
)
SUMS = ("GaussianDpEvent", "LaplaceDpEvent", "DiscreteLaplaceDpEvent")

REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "UnsupportedDpEvent": "it says itself that nothing is known",
        "SampledWithReplacementDpEvent": "for Gaussian noise and a record "
        "added or removed, MixtureOfGaussians says it (page 'Which sampler')",
        "PoissonSampledDpEvent": "it stands inside another sampler",
        "SampledWithoutReplacementDpEvent": "it stands inside another sampler",
        "TruncatedSubsampledGaussianDpEvent": "it stands inside a sampler",
        "ZCDpEvent": "zCDP is a bound of Renyi divergences and has no pair; "
        "without a sample epsilon_from_rdp(lambda a: rho * a, ...) takes it",
        "SingleEpochTreeAggregationDpEvent": "trees are not covered",
        "RepeatAndSelectDpEvent": "it has no pair; best_epsilon takes its run "
        "(page 'The best of several runs')",
        "ExponentialMechanismDpEvent": "PureDP(epsilon) is an upper bound, "
        "and a loose one; if epsilon is its range, Release(Choice(epsilon)) "
        "counts it (page 'What do a thousand choices cost?')",
        "PermuteAndFlipDpEvent": "PureDP(epsilon) is an upper bound, and a "
        "loose one",
    }
)
MEANINGLESS: Mapping[str, tuple[Adjacency, ...]] = MappingProxyType(
    {
        "RandomizedResponseDpEvent": (
            Adjacency.ADD,
            Adjacency.REMOVE,
            Adjacency.ADD_OR_REMOVE,
        ),
        "MixtureOfGaussiansDpEvent": (Adjacency.SUBSTITUTE,),
        "DiscreteGaussianDpEvent": (Adjacency.SUBSTITUTE,),
    }
)


def as_mechanism(event: Any, adjacency: Adjacency) -> Mechanism:
    """The mechanism of an event without a sampler.

    Parameters: `event`, as for `from_dp_event`; `adjacency`.
    Raises: ValueError for a NonPrivateDpEvent and for bad fields;
    NotImplementedError for what has no translation, with the reason.
    """
    name = event_name(event)
    if name == "NonPrivateDpEvent":
        raise ValueError(
            "event must be private, got a NonPrivateDpEvent, whose epsilon "
            "is infinite"
        )
    if adjacency in MEANINGLESS.get(name, ()):
        raise NotImplementedError(
            f"{name} with adjacency={str(adjacency)!r}: the event does not "
            "say what it means"
        )
    if name not in MECHANISMS:
        why = REFUSED.get(name, "this class is not known")
        raise NotImplementedError(f"{name}: {why}")
    return MECHANISMS[name](event)


def sampled_mechanism(event: Any, adjacency: Adjacency) -> Mechanism:
    """What runs on the sample of a sampler's event.

    Parameters: `event`, with a field `event`; `adjacency`.
    Raises: NotImplementedError unless that is one sum with Laplace noise,
    or Gaussian sums.
    Source: proposition "Sums of one sample".
    """
    parts = list(composed_events(event_field(event, "event")))
    runs = [(as_mechanism(part, adjacency), n) for part, n in parts]
    gaussians = [(run, n) for run, n in runs if isinstance(run, Gaussian)]
    if not runs:
        return PureDP(0.0)
    if len(gaussians) == len(runs):
        return gaussians_together(gaussians)
    if len(runs) == runs[0][1] == 1 and event_name(parts[0][0]) in SUMS:
        return runs[0][0]
    raise NotImplementedError(
        f"{event_name(event)}: a sample is covered for Gaussian sums, and "
        f"for one sum with Laplace noise, got {event_field(event, 'event')!r}"
    )


def as_run(event: Any, adjacency: Adjacency) -> tuple[Mechanism, Sampling]:
    """Mechanism and sampler of an event that is no composition.

    Raises: as `as_mechanism` and `sampled_mechanism`; what `epsilon` could
    not answer is refused here, in the words of the event.
    """
    name, where = event_name(event), f"adjacency={str(adjacency)!r}"
    if name == "PoissonSampledDpEvent":
        rate = event_field(event, "sampling_probability")
        sampling: Sampling = Poisson(rate)
    elif name == "SampledWithoutReplacementDpEvent":
        size = event_field(event, "source_dataset_size")
        drawn = event_field(event, "sample_size")
        sampling = FixedBatch(drawn, size)
        if adjacency not in (Adjacency.SUBSTITUTE, Adjacency.ZERO_OUT):
            most = sampling.dataset_size - 1  # of the smaller neighbour
            check(f"sample_size with {where}", drawn, 0, most, whole=True)
    elif name == "TruncatedSubsampledGaussianDpEvent":
        return Gaussian(event_field(event, "noise_multiplier")), (
            TruncatedPoisson(
                event_field(event, "sampling_probability"),
                event_field(event, "truncated_batch_size"),
                event_field(event, "dataset_size"),
            )
        )
    else:
        return as_mechanism(event, adjacency), FullBatch()
    mechanism = sampled_mechanism(event, adjacency)
    if (
        adjacency is Adjacency.SUBSTITUTE
        and isinstance(sampling, Poisson)
        and isinstance(mechanism, PairsOnly)
        and 0 < sampling.rate < 1
    ):
        raise NotImplementedError(
            f"{name} with {where}: a record, another one and none are three "
            "distributions; known for one Gaussian sum, got "
            f"{event_field(event, 'event')!r}"
        )
    return mechanism, sampling


def from_dp_event(event: Any, *, adjacency: str) -> list[Release]:
    r"""The releases that an event of dp-accounting stands for.

    Formula: compositions are lists and counts; sums of one sample have
    $1/\sigma^2 = \sum_i n_i/\sigma_i^2$.

    Parameters: `event`, a DpEvent or its form as a named tuple, read by
    class name and fields (versions up to August 2026); `adjacency`, under
    which the event is meant: add-or-remove, "zero-out" (replace special)
    or "substitute" (replace one). Ask with this adjacency, for single
    records. Sizes of data sets are those of the larger neighbour.
    Returns: releases with the pairs that the event means: never smaller
    ones. Equal ones are counted together; for an event that does nothing
    PureDP(0.0).
    Raises: ValueError for bad fields and a NonPrivateDpEvent;
    NotImplementedError for what no theorem of the book covers.
    Source: page "Coming from another library".

    >>> from types import SimpleNamespace
    >>> step = SimpleNamespace(class_name="GaussianDpEvent")
    >>> step.noise_multiplier = 2.0
    >>> from_dp_event(step, adjacency="add-or-remove")[0].mechanism
    Gaussian(noise_multiplier=2.0)
    """
    relation = Adjacency(adjacency)
    counts: dict[tuple[Mechanism, Sampling], int] = {}
    for part, count in composed_events(event):
        run = as_run(part, relation)
        counts[run] = counts.get(run, 0) + count
    if not counts:
        return [Release(PureDP(0.0))]
    return [Release(*run, count=count) for run, count in counts.items()]


def from_opacus(history: Any) -> list[Release]:
    """The releases that a history of Opacus stands for.

    Formula: (noise multiplier, sample rate, steps) is that many Gaussian
    steps on Poisson samples.

    Parameters: `history`, a list of such entries, or an accountant or its
    `state_dict()`, which have one. It says nothing of neighbours: Opacus
    means add-or-remove, which holds only where divisor, rate and steps do
    not follow n; else claim zero-out or substitute, with a public n. A loader
    made with `poisson_sampling=False` leaves the same history: another run.
    Returns: one release per entry; PureDP(0.0) if there is none.
    Raises: ValueError naming the entry, for anything else.
    Source: page "Coming from another library".

    >>> from_opacus([(1.0, 0.01, 500)])[0].sampling
    Poisson(rate=0.01)
    """
    found = getattr(history, "history", history)
    if isinstance(found, Mapping):
        found = found.get("history")
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise ValueError(
            "history must be that of an accountant (of a PrivacyEngine: "
            "engine.accountant.history), a list of (noise multiplier, sample "
            f"rate, steps), got {history!r}"
        )
    releases = []
    for place, entry in enumerate(found):
        try:
            noise, rate, steps = entry
            releases.append(Release(Gaussian(noise), Poisson(rate), steps))
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"history[{place}] must be (noise multiplier, sample rate, "
                f"steps), got {entry!r}: {error}"
            ) from None
    return releases or [Release(PureDP(0.0))]
