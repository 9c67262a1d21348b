"""Exchanged records: pairs by name, masses in high precision."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import accountlib as al

SUB: dict[str, Any] = {"adjacency": "substitute"}


def pair_of(mechanism, sampling, group_size=1):
    (pair,) = al.dominating_pairs(
        mechanism, sampling=sampling, group_size=group_size, **SUB
    )
    return pair


# --- masses of the pairs ----------------------------------------------------


def exchanged_place(loss, means, weights):
    """z at which sum w N(m) : sum w N(-m) is e^loss, in mpmath."""
    if loss == 0:
        return mpf(0)
    if loss < 0:
        return -exchanged_place(-loss, means, weights)
    heights = [
        mp.log(w) - m * m / 2 for m, w in zip(means, weights, strict=True)
    ]
    if len(means) == 2 and means[0] == 0:  # a quadratic equation
        r = mp.exp(heights[1] - heights[0])
        half = mp.expm1(loss) / (2 * r)
        return mp.log(half + mp.sqrt(half * half + mp.exp(loss))) / means[1]

    def sums(z):
        """Both heights, and how fast their logarithms move apart."""
        pairs = list(zip(heights, means, strict=True))
        up = [mp.exp(h + m * z) for h, m in pairs]
        down = [mp.exp(h - m * z) for h, m in pairs]
        found = mp.fsum(up), mp.fsum(down)
        slope = mp.fdot(means, up) / found[0]
        return *found, slope + mp.fdot(means, down) / found[1]

    def gap(z):
        up, down, _ = sums(z)
        return mp.log(up / down) - loss

    low = loss / (2 * means[-1])
    high = 2 * low
    while gap(high) < 0:
        high *= 2
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if gap(middle) < 0 else (low, middle)
    for _ in range(8):  # Newton: 6 digits become 12, 24, ...
        up, down, slope = sums(low)
        low -= (mp.log(up / down) - loss) / slope
    return low


def assert_masses(pair, edges, exact, closed="right", tolerance=1e-10):
    found = pair.interval_masses(
        np.array(edges), np.diff(np.array(edges)), closed
    )
    for row, known in zip(zip(*found, strict=True), exact, strict=True):
        for value, wanted in zip(row, known, strict=True):
            if wanted > mpf(10) ** -290:
                assert abs(value / wanted - 1) <= tolerance, (pair, edges)
            else:
                assert value <= 1e-289
    for total, missing in zip(found, pair.infinite_mass, strict=True):
        assert math.fsum(total) + missing == pytest.approx(1, abs=1e-12)
