# Generated from notebooks/fourier.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Does one need a grid?"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from accountlib.checks import UNIT, Floats

__all__ = [
    "Part",
    "Complex",
    "kernel",
    "log_peak",
    "beyond_last",
    "turns",
    "transform",
]

# --- What one more release costs


@dataclass(frozen=True)
class Part:
    """The choices for one sum. None of them can make a bound wrong.

    Fields: `which` losses, "all", "near" (up to `split`, and the least one)
    or "far" (sums with one beyond it); `tilt`, `period`, `variance` of the
    tiny release, all > 0; `last` >= 1, number of the last frequency; `below`
    < `tilt` < `above`, orders at which what wraps around is bounded.

    >>> part = Part("near", 1.5, 1.0, 20.0, 1e-3, 500, 0.5, 2.0)
    >>> part.near(np.array([1.0, 2.0])).tolist()
    [True, False]
    """

    which: str
    split: float
    tilt: float
    period: float
    variance: float
    last: int
    below: float
    above: float

    @property
    def theta(self) -> Floats:
        """The frequencies."""
        return 2 * math.pi / self.period * np.arange(self.last + 1.0)

    def near(self, loss: Floats) -> NDArray[np.bool_]:
        """Which losses are near; the least one always is."""
        split = np.inf if self.which == "all" else self.split
        return np.asarray(loss <= max(split, loss.min(initial=np.inf)))


Complex = NDArray[np.complex128]


def kernel(part: Part, up: bool) -> tuple[Complex, Floats]:
    r"""Weights of the frequencies, and their sizes before they cancel.

    Formula: $\frac{2}{W} G_v(z_k) (\frac{1}{z_k (z_k + 1)} - \kappa)$, half
    of it at k = 0; $\kappa = 0$ if `up`.

    Returns: (weights, sizes), the latter with a plus in the bracket.
    Error: $u (64 + 8 |v z (z + 1)|)$ times the size; $\kappa$ is rounded up.

    >>> part = Part("all", 0.0, 1.0, 20.0, 1e-3, 2, 0.5, 2.0)
    >>> kernel(part, True)[0].real.round(4).tolist()
    [0.025, 0.0423, 0.0262]
    """
    z = np.asarray(part.tilt + 1j * part.theta, np.complex128)
    v, kappa = part.variance, 0.0
    if not up:
        kappa = math.erf(math.sqrt(v / 8)) * math.sqrt(2 * math.pi * v)
        kappa *= float(np.exp(v / 8)) * (1 + 32 * UNIT)
    smooth = 2 / part.period * np.exp(v * z * (z + 1) / 2)
    smooth[0] /= 2
    ideal = 1 / (z * (z + 1))
    return smooth * (ideal - kappa), np.abs(smooth) * (np.abs(ideal) + kappa)


# --- What wraps around


def log_peak(order: Floats) -> Floats:
    r"""log of the least c with $(1 - e^{-x})_+ \le c e^{l x}$ for all x.

    Formula: $l \ln l - (1 + l) \ln(1 + l)$, $l > 0$. Error: relative, 6u.

    >>> np.exp(log_peak(np.array([1.0]))).round(12).tolist()
    [0.25]
    """
    return -np.log1p(order) - order * np.log1p(1 / order)


def beyond_last(part: Part, total: float, size: float) -> float:
    """A bound of all frequencies beyond the last (Lemma lem-fou-last).

    `total` is the transform at 0 or more, `size` that of the last weight.

    >>> part = Part("all", 0.0, 1.0, 20.0, 1e-3, 500, 0.5, 2.0)
    >>> round(beyond_last(part, 1.0, 1e-6), 9)
    2.0264e-05
    """
    spacing = 2 * math.pi / part.period
    last = spacing * part.last
    return total * size / (part.variance * last * spacing) * (1 + 1e-9)


# --- Transforms


def turns(step: Complex, count: int) -> tuple[Complex, Complex]:
    """Rows e^(i k x) - 1 for k < n, n >= count, from the row of k = 1."""
    rows = np.zeros((1, len(step)), np.complex128)
    while len(rows) < count:
        rows = np.concatenate([rows, rows + step + rows * step])
        step = 2 * step + step * step
    return rows, step


def transform(masses: Floats, loss: Floats, part: Part) -> Complex:
    r"""Transforms of rows of masses at all frequencies, less their sums.

    Formula: $\sum_x m_x (e^{i \theta_k x} - 1)$, k = 0, ..., J.

    Error: $4u (n + 64) \theta_k \sum m_x |x|$, n losses, if $\theta_k |x|$ is
    below $10^{12}$ (page-rounding).

    >>> part = Part("all", 0.0, 1.0, 4.0, 1.0, 3, 0.5, 2.0)
    >>> masses, loss = np.array([[0.5, 0.5]]), np.array([-1.0, 1.0])
    >>> transform(masses, loss, part).real.round(12).tolist()
    [[0.0, -1.0, -2.0, -1.0]]
    """
    x = 2 * math.pi / part.period * loss
    step = -2 * np.sin(x / 2) ** 2 + 1j * np.sin(x)
    fine, step = turns(step, math.isqrt(part.last) + 1)
    coarse, _ = turns(step, part.last // len(fine) + 1)
    sums = [
        (coarse * m) @ fine.T + fine @ m + (coarse @ m)[:, None]
        for m in masses
    ]
    return np.reshape(sums, (len(masses), -1))[:, : part.last + 1]
