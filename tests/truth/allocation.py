"""Random allocation by another method: even grids and a transform.

Ratios are rounded down, or up, to an even grid, and their sums come from
one transform. Nothing here knows convex order, or grids that adapt.
"""

import math

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtr

ROUND_OFF = 1e-11  # of a transform, in sums of gains up to a thousand


def bracket(
    noise: float, steps: int, epsilon: float, direction: str
) -> tuple[float, float]:
    """Bounds of delta for Gaussian noise: first order in the grid's step."""
    step, top = 2e-3, math.exp(8 / noise)
    edges = np.arange(0.0, top, step)
    shift = 1 / (2 * noise)
    with np.errstate(divide="ignore"):
        z = np.log(edges) * noise + shift  # below: ratio below the edge
    mass = np.diff(ndtr(z), append=1.0)  # between an edge and the next
    beyond = float(ndtr(1 / noise - z[-1]))  # mean of what lies above the top
    size = steps * len(edges)
    fast = next_fast_len(size, real=True)
    sums = irfft(rfft(mass, fast) ** steps, fast)[:size]
    low = np.arange(size) * step / steps  # the mean, rounded down
    high = low + step
    alpha = math.exp(epsilon)
    if direction == "remove":
        ends = [sums @ np.maximum(m - alpha, 0) for m in (low, high)]
        ends[1] += beyond
    else:
        ends = [sums @ np.maximum(1 - alpha * m, 0) for m in (high, low)]
        ends[0] -= alpha * beyond
    return float(ends[0]) - ROUND_OFF, float(ends[1]) + ROUND_OFF
