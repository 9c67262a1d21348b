# Generated from notebooks/training_run.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""From data to statement: what does one training run cost?"""

import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accountlib.checks import Floats, check

__all__ = ["poisson_batches", "clipped_sum", "private_descent"]

# --- DP-SGD in thirty lines


def poisson_batches(
    rng: np.random.Generator, *, rate: float, size: int, steps: int
) -> Iterator[NDArray[np.intp]]:
    """Poisson samples of records: each joins each step with equal chance.

    Parameters: `rng`; `rate` (in [1e-9, 1]); `size`, the number of records
    (1 to 1e9); `steps`, the number of batches (1 to 1e9).
    Returns: an iterator over `steps` arrays of increasing numbers from 0 to
    size - 1. An array may be empty, and that step counts, too.
    Raises: ValueError for values outside these ranges.

    >>> rng = np.random.default_rng(0)
    >>> [x.tolist() for x in poisson_batches(rng, rate=1, size=3, steps=2)]
    [[0, 1, 2], [0, 1, 2]]
    """
    rate = check("rate", rate, 1e-9, 1)
    size = check("size", size, 1, 1e9, whole=True)
    steps = check("steps", steps, 1, 1e9, whole=True)
    return (np.flatnonzero(rng.random(size) < rate) for _ in range(steps))


def clipped_sum(gradients: ArrayLike, *, clip: float) -> Floats:
    r"""Sum of what each record gives, scaled down to a largest norm.

    Formula: $\sum_i g_i \min(1, C / \lVert g_i \rVert)$.

    Parameters: `gradients` ($g_i$), an array of finite numbers with one
    entry for each record along its first axis, maybe none; `clip` (C in
    [1e-100, 1e100]).
    Returns: an array of the shape of one entry. Without any one record the
    sum is another one by a norm of at most C.
    Raises: ValueError for bad values, for infinities and for NaN: no
    clipping holds them. Do not publish that it happened.
    Error: a norm may be smaller than said by 1e-9, and is never larger, for
    entries of up to a million numbers; the sum rounds as any sum does.
    Source: Abadi et al. (2016), Algorithm 1.

    >>> clipped_sum([[3.0, 4.0], [0.0, 0.5]], clip=1.0).round(6).tolist()
    [0.6, 1.3]
    """
    most = check("clip", clip, 1e-100, 1e100) * (1 - 1e-9)
    each = np.atleast_1d(check("gradients", gradients, -1e150, 1e150))
    flat = each.reshape(len(each), math.prod(each.shape[1:]))
    scales = most / np.maximum(np.linalg.norm(flat, axis=1), most)
    return np.asarray((scales @ flat).reshape(each.shape[1:]))


def private_descent(
    gradients: Callable[[Floats, NDArray[np.intp]], Floats],
    start: ArrayLike,
    batches: Iterable[NDArray[np.intp]],
    *,
    rng: np.random.Generator,
    noise_multiplier: float,
    clip: float,
    divisor: float,
    learning_rate: float,
) -> Floats:
    r"""Parameters after gradient steps with clipped and noisy sums.

    Formula: $w \leftarrow w - \frac{v}{b} \bigl(\sum_i \bar g_i + \sigma C
    Z\bigr)$, a standard normal Z in each coordinate.

    Parameters: `gradients`, from parameters and the numbers of the drawn
    records to an array with one gradient for each of them; `start`;
    `batches`, the numbers of the records of each step, such as
    `poisson_batches`; `rng`; `noise_multiplier` ($\sigma$ in [0, 1e6]),
    `clip` (C), `divisor` (b) and `learning_rate` (v), both in [1e-100,
    1e100]: public constants.
    Returns: an array of the shape of `start`. For T Poisson samples it has
    the privacy of `Release(Gaussian(noise_multiplier), Poisson(rate), T)`,
    as far as normal numbers of a machine are normal.
    Raises: ValueError for values outside these ranges.
    Source: Abadi et al. (2016), Algorithm 1.

    >>> rng = np.random.default_rng(0)
    >>> still = private_descent(
    ...     lambda w, drawn: np.ones((len(drawn), 1)), [0.0], [np.arange(4)],
    ...     rng=rng, noise_multiplier=0, clip=1, divisor=4, learning_rate=1)
    >>> still.round(6).tolist()
    [-1.0]
    """
    noise = check("noise_multiplier", noise_multiplier, 0, 1e6)
    divisor = check("divisor", divisor, 1e-100, 1e100)
    pace = check("learning_rate", learning_rate, 1e-100, 1e100)
    parameters = np.array(start, dtype=float)
    for drawn in batches:
        total = clipped_sum(gradients(parameters, drawn), clip=clip)
        total += noise * clip * rng.standard_normal(total.shape)
        parameters -= pace / divisor * total
    return parameters
