"""Cut-off Poisson samples by other methods: fractions, balls, a plain grid.

Nothing here imports `accountlib`. A batch is drawn as the loader draws it:
no label, no formula for the chance to be kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
from flint import arb, ctx
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtr

ROUND_OFF = 1e-11  # of a transform
Law = dict[frozenset[Any], Fraction]


def batches(records: Sequence[Any], rate: Fraction, largest: int) -> Law:
    """All batches and their probabilities: draw, then keep a subset."""
    law: Law = {}
    for joins in product((True, False), repeat=len(records)):
        drawn = [v for v, j in zip(records, joins, strict=True) if j]
        chance = rate ** len(drawn) * (1 - rate) ** (len(records) - len(drawn))
        kept = list(combinations(drawn, min(len(drawn), largest)))
        for batch in map(frozenset, kept):
            law[batch] = law.get(batch, Fraction(0)) + chance / len(kept)
    return law


def mean(law: Law, value: Callable[[frozenset[Any]], Any]) -> Any:
    """Mean of a function of the batch."""
    return sum(float(w) * value(s) for s, w in law.items())


def outputs(law: Law, table: Mapping[frozenset[Any], Sequence[Fraction]]):
    """Law of the output of a table with one row for each batch."""
    size = len(next(iter(table.values())))
    return [
        sum((w * table[s][k] for s, w in law.items()), Fraction(0))
        for k in range(size)
    ]


def stick(p: Sequence[Fraction], q: Sequence[Fraction], alpha: Fraction):
    """Hockey-stick divergence of two lists."""
    gains = (x - alpha * y for x, y in zip(p, q, strict=True))
    return sum((max(x, Fraction(0)) for x in gains), Fraction(0))


def tail(trials: int, rate: Fraction, least: int) -> Fraction:
    """P(K >= least), as a sum of fractions."""
    return sum(
        (
            math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k)
            for k in range(least, trials + 1)
        ),
        Fraction(0),
    )


def tails_in_balls(trials: int, rate: float, least: int) -> tuple[arb, arb]:
    """P(K >= least) and P(K < least) as incomplete beta functions."""
    before = ctx.prec
    ctx.prec = 600
    try:
        x, a, b = arb(rate), arb(least), arb(trials - least + 1)
        above = x.beta_lower(a, b, regularized=True)
        below = (1 - x).beta_lower(b, a, regularized=True)
        return above, below
    finally:
        ctx.prec = before


def bracket(
    shifts: Sequence[tuple[float, float, float]],
    count: int,
    epsilon: float,
    direction: str,
) -> tuple[float, float]:
    """Bounds of delta of `count` labelled sampled Gaussians.

    `shifts` lists for each label its weight, the distance of the means and
    the rate. Losses are rounded down, or up, to an even grid of step 1e-3,
    and their sums come from one transform.
    """
    step, ends = 1e-3, []
    for up in (False, True):
        low, high, cells = math.inf, -math.inf, []
        for weight, mu, rate in shifts:
            z = np.arange(-9.0, 9.0 + mu, 1e-4 / mu)
            none, with_it = np.diff(ndtr(z)), np.diff(ndtr(z - mu))
            some = (1 - rate) * none + rate * with_it
            loss = np.log1p(rate * np.expm1(mu * z - mu * mu / 2))
            mass, left, right = some, loss[:-1], loss[1:]
            if direction == "add":
                mass, left, right = none, -right, -left
            index = np.ceil(right / step) if up else np.floor(left / step)
            cells.append((index.astype(int), weight * mass))
            low = min(low, float(index.min()))
            high = max(high, float(index.max()))
        law = np.zeros(int(high - low) + 1)
        for index, mass in cells:
            law += np.bincount(index - int(low), mass, len(law))
        size = (len(law) - 1) * count + 1
        fast = next_fast_len(size, real=True)
        sums = irfft(rfft(law, fast) ** count, fast)[:size]
        losses = (int(low) * count + np.arange(size)) * step
        gain = -np.expm1(np.minimum(epsilon - losses, 0))
        ends.append(float(sums @ gain))
    return ends[0] - ROUND_OFF, ends[1] + ROUND_OFF + count * 1e-15
