# Generated from notebooks/runs/schedules.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""A thousand different steps."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from accountlib.counting.composition import Bound
from accountlib.engine.saddle import Query
from accountlib.inputs import check_kind
from accountlib.runs.blend_sums import blend_bound
from accountlib.runs.mechanisms import (
    DiscreteLaplace,
    Gaussian,
    Laplace,
    MixtureOfGaussians,
)
from accountlib.runs.releases import (
    Adjacency,
    AdjacencyName,
    FullBatch,
    Poisson,
    Release,
    Sampling,
)
from accountlib.worst_cases.dominating_pairs import Mechanism

__all__ = [
    "SCALES",
    "level_of",
    "extreme_release",
    "merged_levels",
    "SOME_KINDS",
    "MANY_KINDS",
    "FIRST_SPREAD",
    "LEAST_GAIN",
    "schedule_bound",
]

# --- In the code: levels

# What makes a run more private as it grows: theorem "More noise, fewer
# records". Discrete Gaussian noise does not.
SCALES: dict[type[Mechanism], str] = {
    Gaussian: "noise_multiplier",
    Laplace: "scale",
    DiscreteLaplace: "scale",
    MixtureOfGaussians: "noise_multiplier",
}


def level_of(release: Release, spread: float) -> tuple[Any, ...]:
    """What releases must have in common to be merged.

    Parameters: `release`; `spread` ($> 0$), the size of a cell of the
    logarithms of noise and rate.

    >>> one, other = (Release(Gaussian(x), Poisson(0.1)) for x in (1.1, 1.2))
    >>> [level_of(one, x) == level_of(other, x) for x in (0.05, 1.0)]
    [False, True]
    """
    mechanism, sampling = release.mechanism, release.sampling
    scale = SCALES.get(type(mechanism))
    exact = type(mechanism) is Gaussian and isinstance(sampling, FullBatch)
    if scale is None or exact:
        return mechanism, sampling
    numbers = dict(vars(mechanism))
    noise = math.floor(math.log(numbers.pop(scale)) / spread)
    rate: Sampling | int = sampling
    if isinstance(sampling, Poisson) and sampling.rate > 0:
        rate = math.floor(math.log(sampling.rate) / spread)
    return type(mechanism), tuple(numbers.values()), noise, rate


def extreme_release(
    level: Sequence[Release], pick: Callable[..., Any]
) -> Release:
    """The strongest or the weakest release of one level.

    Parameters: `level`, releases with the same `level_of`; `pick`, min for
    the least noise with the largest rate, or max.
    Returns: a Release with the sum of their counts.

    >>> pair = [Release(Gaussian(x), Poisson(0.1), 5) for x in (1.1, 1.2)]
    >>> strong = extreme_release(pair, min)
    >>> strong.mechanism, strong.count
    (Gaussian(noise_multiplier=1.1), 10)
    """
    mechanism, sampling = level[0].mechanism, level[0].sampling
    scale = SCALES.get(type(mechanism))
    if scale is not None:
        mechanism = pick(
            (x.mechanism for x in level), key=lambda x: getattr(x, scale)
        )
    if isinstance(sampling, Poisson):
        other = max if pick is min else min
        sampling = other((x.sampling for x in level), key=lambda x: x.rate)
    return Release(mechanism, sampling, sum(x.count for x in level))


def merged_levels(
    releases: Sequence[Release], spread: float
) -> list[list[Release]]:
    """A schedule cut into levels.

    Parameters: `releases`; `spread` ($> 0$), as for `level_of`.
    Returns: the releases of each level.

    >>> run = [Release(Gaussian(x), Poisson(0.1)) for x in (1.1, 2.4, 1.2)]
    >>> [len(level) for level in merged_levels(run, 0.5)]
    [2, 1]
    """
    levels: dict[tuple[Any, ...], list[Release]] = {}
    for release in releases:
        levels.setdefault(level_of(release, spread), []).append(release)
    return list(levels.values())


SOME_KINDS = 60  # fewer are counted as they are: less than a second
MANY_KINDS = 150  # the same where only levels can be made of them
FIRST_SPREAD = 1 / 16  # levels of six percent, for the first try
LEAST_GAIN = 0.6  # levels per kind, above which merging does not pay


def schedule_bound(
    releases: Release | Sequence[Release],
    ask: Callable[[Release | Sequence[Release], Query], Bound],
    query: Query,
    adjacency: Adjacency | AdjacencyName,
    group_size: int,
) -> Bound:
    """Answer for a run of many kinds, from merged ones where that pays.

    Parameters: `releases`; `ask`, which gives the interval of a run for a
    question; `query`, with the relative width that is wanted; `adjacency`,
    `group_size`, those of `ask`.
    Returns: an interval around the truth, proven as far as those of `ask`
    are.
    Raises: ValueError for members that are no Release.
    Source: theorem "More noise, fewer records".

    >>> noise = lambda run, query: Bound(run[0].mechanism.scale, 9.0)
    >>> query = Query(1e-6, None, 1e-3)
    >>> schedule_bound([Release(Laplace(2.0))], noise, query, "add", 1)
    Bound(lower=2.0, upper=9.0)
    """
    if not isinstance(releases, Sequence) or len(releases) < SOME_KINDS:
        return ask(releases, query)
    for release in releases:
        check_kind("releases", release, Release)
    kinds = len({(x.mechanism, x.sampling) for x in releases})
    width = query.relative_width
    near = None
    if group_size == 1 and kinds >= SOME_KINDS:
        near = blend_bound(releases, query, adjacency)
    if near is not None:
        return near
    half = replace(query, relative_width=width / 2)
    most, spread = LEAST_GAIN * kinds, FIRST_SPREAD
    while kinds >= MANY_KINDS:
        levels = merged_levels(releases, spread)
        if len(levels) > most:
            break
        strong, weak = (
            ask([extreme_release(level, pick) for level in levels], half)
            for pick in (min, max)
        )
        bound = Bound(weak.lower, strong.upper)
        if not width < bound.width < 1:
            return bound
        spread *= min(0.5, 0.9 * width / (2 * bound.width - width))
    return ask(releases, query)
