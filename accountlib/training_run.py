# Generated from notebooks/training_run.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""A training run from start to finish

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\sigma$ | `noise_multiplier`, `noise` | standard deviation of the noise on the *sum*, in units of the clipping norm |
| $\gamma$ | `rate` | chance of a record to be in a step |
| $n$ | `size` | records in the data set |
| $T$ | `steps`, `count` | number of steps |
| $C$ | `clip` | clipping norm: the largest norm of what one record adds to a sum |
| $b$ | `divisor`, `batch` | a public constant near $\gamma n$, by which the noisy sum is divided |
| $v$ | `learning_rate`, `speed` | how far a step goes |
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accountlib.accountant import outward
from accountlib.inputs import (
    Floats,
    check_count,
    check_kind,
    check_number,
    front_door,
)
from accountlib.report import PrivacyReport

__all__ = [
    "poisson_batches",
    "NORM_ROOM",
    "clipped_sum",
    "private_descent",
    "logistic_gradients",
    "latex_text",
    "latex_number",
    "CHANGES",
    "latex_sentences",
]

# --- What twenty-five lines lack


@front_door
def poisson_batches(
    rng: np.random.Generator, *, rate: float, size: int, steps: int
) -> Iterator[NDArray[np.intp]]:
    """Poisson samples of records: each joins each step with equal chance.

    Parameters: `rng`; `rate` (in (0, 1]); `size`, the number of records;
    `steps`, the number of batches, each >= 1.
    Returns: an iterator over `steps` arrays of increasing numbers from 0 to
    size - 1. An array may be empty, and that step counts, too.
    Raises: ValueError for values outside these ranges.

    >>> rng = np.random.default_rng(0)
    >>> [x.tolist() for x in poisson_batches(rng, rate=1, size=3, steps=2)]
    [[0, 1, 2], [0, 1, 2]]
    """
    check_kind("rng", rng, np.random.Generator)
    rate = check_number("rate", rate, 0, 1, "(]")
    size, steps = check_count("size", size), check_count("steps", steps)
    return (np.flatnonzero(rng.random(size) < rate) for _ in range(steps))


NORM_ROOM = 1e-9  # above a million times the unit round-off, 1.1e-10


@front_door
def clipped_sum(gradients: ArrayLike, *, clip: float) -> Floats:
    r"""Sum of what each record gives, scaled down to a largest norm.

    Formula: $\sum_i g_i \min(1, C / \lVert g_i \rVert)$.

    Parameters: `gradients` ($g_i$), an array with one entry for each record
    along its first axis, maybe none; `clip` (C in [1e-100, 1e100]).
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
    clip = check_number("clip", clip, 1e-100, 1e100)
    each = np.asarray(gradients, dtype=np.float64)
    if each.ndim < 1 or not np.all(np.isfinite(each)):
        raise ValueError(
            "gradients must be finite numbers with one entry for each "
            f"record, in (-inf, inf), got {gradients!r}"
        )
    flat = each.reshape(len(each), math.prod(each.shape[1:]))
    with np.errstate(over="ignore"):  # an infinite norm: scaled to nothing
        norms = np.sqrt(np.einsum("ij,ij->i", flat, flat))
    room = clip * (1 - NORM_ROOM)
    scales = room / np.maximum(norms, room)
    return np.asarray((scales @ flat).reshape(each.shape[1:]))


@front_door
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
    `poisson_batches`; `rng`; `noise_multiplier` ($\sigma \ge 0$), `clip`
    (C), `divisor` (b > 0), `learning_rate` (v > 0): public constants.
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
    check_kind("rng", rng, np.random.Generator)
    noise = check_number("noise_multiplier", noise_multiplier, 0, 1e100)
    divisor = check_number("divisor", divisor, 0, 1e100, "(]")
    pace = check_number("learning_rate", learning_rate, 0, 1e100, "(]")
    parameters = np.array(start, dtype=np.float64)
    for drawn in batches:
        total = clipped_sum(gradients(parameters, drawn), clip=clip)
        blur = noise * clip * rng.standard_normal(total.shape)
        parameters -= pace / divisor * (total + blur)
    return parameters


def logistic_gradients(
    weights: Floats, *, inputs: Floats, labels: NDArray[Any]
) -> Floats:
    r"""Gradient of each record's loss in multinomial logistic regression.

    Formula: $x_i (p_i - e_{y_i})^\top$ with the softmax $p_i$ of $x_i^\top
    w$.

    Parameters: `weights`, d by k; `inputs` ($x_i$), m by d; `labels`
    ($y_i$), m whole numbers from 0 to k - 1.
    Returns: an array, m by d by k.

    >>> logistic_gradients(
    ...     np.zeros((1, 2)), inputs=np.ones((1, 1)), labels=np.array([1])
    ... ).tolist()
    [[[0.5, -0.5]]]
    """
    scores = inputs @ weights
    errors = np.exp(scores - scores.max(axis=1, keepdims=True))
    errors /= errors.sum(axis=1, keepdims=True)
    errors[np.arange(len(labels)), labels] -= 1
    gradients: Floats = inputs[:, :, None] * errors[:, None, :]
    return gradients


# --- Report


def latex_text(text: str) -> str:
    r"""A text in which nothing is a command of LaTeX.

    >>> latex_text("50% of a_b")
    '50\\% of a\\_b'
    """
    signs = {sign: "\\" + sign for sign in "&%$#_{}"}
    signs |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
    signs |= {"^": r"\textasciicircum{}"}
    return "".join(signs.get(sign, sign) for sign in text)


def latex_number(number: float) -> str:
    r"""A number to its last digit, as LaTeX writes powers of ten.

    >>> latex_number(2.5e-7), latex_number(1e-6), latex_number(0.5)
    ('2.5 \\cdot 10^{-7}', '10^{-6}', '0.5')
    """
    digits, _, power = repr(float(number)).partition("e")
    if not power:
        return digits
    times = "" if digits == "1" else f"{digits} \\cdot "
    return f"{times}10^{{{int(power)}}}"


CHANGES = {
    "add-or-remove": "added or removed",
    "add": "added",
    "remove": "removed",
    "substitute": "exchanged",
    "zero-out": "zeroed out",
}


@front_door
def latex_sentences(statement: PrivacyReport) -> str:
    r"""A privacy report as three sentences for a paper, in LaTeX.

    Formula: what ran; $(\varepsilon, \delta)$ for the first delta of the
    report, and mu; who can compute it again.

    Parameters: `statement`, from `report`; the first of its `deltas` is
    printed. Notes are added as a fourth sentence.
    Returns: text; epsilon and mu are upper bounds, rounded up.
    Raises: ValueError if it is no report.
    """
    check_kind("statement", statement, PrivacyReport)
    steps = " and ".join(
        f"{x.count} releases of \\texttt{{{latex_text(repr(x.mechanism))}}} "
        f"on \\texttt{{{latex_text(repr(x.sampling))}}}"
        for x in statement.releases
    )
    delta, epsilon = statement.epsilons[0]
    size = statement.group_size
    records = "one record is" if size == 1 else f"{size} records are"
    fit = statement.fit
    cut = (
        ""
        if fit.exact
        else (
            " where both error rates of a test are at least "
            f"${latex_number(fit.cutoff)}$"
        )
    )
    runs = f"What is published consists of {steps}."
    sentences = [
        runs,
        f"If {records} {CHANGES[statement.adjacency.value]} (a record is "
        f"{latex_text(statement.record)}), it is $(\\varepsilon, "
        f"\\delta)$-differentially private with $\\varepsilon \\le "
        f"{outward(epsilon.upper, '.4g', True)}$ at $\\delta = "
        f"{latex_number(delta)}$, and "
        f"$\\mu$-Gaussian differentially private with $\\mu \\le "
        f"{outward(fit.mu, '.4g', True)}${cut}.",
        "Both are certified upper bounds, computed with "
        "accountlib \\cite{accountlib}.",
    ]
    if statement.notes != "none":
        sentences.append(f"Note: {latex_text(statement.notes)}.")
    return "\n".join(sentences)
