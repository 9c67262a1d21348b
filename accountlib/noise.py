# Generated from notebooks/noise.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""How much mass lies between two outcomes?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $f$ | – | density (or probability) of the noise, symmetric about 0 |
| $z$ | `z` | an outcome less the shift, in units of the noise |
| $m$ | `shift`, `shifts` | by how much records move the sum, in the same unit, $> 0$ |
| $a_j$ | `log_weights` | weights of the shifts $m_j$, with sum 1; their logs |
| $\sigma$, $s$ | `sigma`, `scale` | parameters of noise on whole numbers |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from accountlib.checks import UNIT, Floats

__all__ = [
    "size",
    "Noise",
    "NormalNoise",
    "LaplaceNoise",
    "mixed",
    "DiscreteLaplaceNoise",
    "whole_normal",
    "DiscreteNormalNoise",
]

# --- Names used here


def size(x: Floats) -> Floats:
    """|x|, or 0 where it is infinite: an exact number needs no error."""
    return np.where(np.isfinite(x), np.abs(x), 0.0)


# --- A noise in three methods


class Noise:
    """Noise with a log-concave density, symmetric about 0, in its unit."""

    whole = False  # whether it is a whole number

    @property
    def log_half(self) -> float:
        """log of a factor of all tails."""
        return 0.0

    def start(self, top: float) -> Floats:
        """Edges for shifts up to `top`: where masses are, and between."""
        raise NotImplementedError

    def log_tail(self, z: Floats, shift: Any) -> tuple[Floats, Floats]:
        """log P(Z > |z|) - log_half, z = edge - shift, and its error."""
        raise NotImplementedError

    def log_ratio(self, z: Floats, shift: Any) -> tuple[Floats, Floats]:
        """log f(z - shift)/f(z), and its error."""
        raise NotImplementedError

    @np.errstate(all="ignore")
    def masses(self, edges: Floats, shift: Any) -> tuple[Floats, Floats]:
        """log masses between edges under shifted noise, and their error."""
        z = edges - shift
        tail, error = self.log_tail(z, shift)
        error = np.where(tail > -np.inf, error, 0.0)
        a, b = tail[..., :-1], tail[..., 1:]
        wrong_a, wrong_b = error[..., :-1], error[..., 1:]
        across = (z[..., :-1] < 0) & (z[..., 1:] > 0)
        # On one side of 0: the larger tail less the smaller one.
        near, top = np.where(a > b, wrong_a, wrong_b), np.maximum(a, b)
        d = np.abs(a - b)
        both = wrong_a + wrong_b
        d = np.fmax(d, both)
        gap, least = -np.expm1(-d), -np.expm1(both - d)
        # Across 0: 1 less both tails.
        a, b = a + self.log_half, b + self.log_half
        rest = 1 - (np.exp(a) + np.exp(b))
        worst = 1 - (np.exp(a + wrong_a) + np.exp(b + wrong_b)) - 32 * UNIT
        gap = np.where(across, np.fmax(rest, 8 * UNIT), gap)
        least = np.where(across, np.fmax(worst, 0.0), least)
        mass = np.log(gap) + np.where(across, 0.0, top + self.log_half)
        wide = np.where(across, 0.0, near) + np.log(gap) - np.log(least)
        return mass, wide + UNIT * (16 + 16 * np.abs(mass))


# --- Normal noise


@dataclass(frozen=True)
class NormalNoise(Noise):
    """Standard normal noise."""

    def log_tail(self, z: Floats, shift: Any) -> tuple[Floats, Floats]:
        error = 16 + 8 * z**2 + 5 * shift * (np.abs(z) + 1)
        return special.log_ndtr(-np.abs(z)), UNIT * error

    def log_ratio(self, z: Floats, shift: Any) -> tuple[Floats, Floats]:
        value = shift * (z - shift / 2)
        return value, 9 * UNIT * shift * (size(z) + shift)

    def start(self, top: float) -> Floats:
        s = np.linspace(-1, 1, 129)
        around = 34 * (0.2 * s + 0.8 * s**3)
        if top < 1:
            return around + top / 2
        ends = around[around < 0], top + around[around > 0]
        return np.concatenate([ends[0], np.linspace(0, top, 33), ends[1]])


# --- Laplace noise


@dataclass(frozen=True)
class LaplaceNoise(Noise):
    """Laplace noise of scale 1."""

    @property
    def log_half(self) -> float:
        return -math.log(2)

    def log_tail(self, z: Floats, shift: Any) -> tuple[Floats, Floats]:
        return -np.abs(z), UNIT * (2 * np.abs(z) + 4 * shift)

    def log_ratio(self, z: Floats, shift: Any) -> tuple[Floats, Floats]:
        near = np.clip(z, 0.0, shift)
        return 2 * near - shift, 4 * UNIT * shift + 0 * near

    def start(self, top: float) -> Floats:
        return np.linspace(0, top, 129)


# --- The loss grows with the outcome


@np.errstate(all="ignore")
def mixed(
    values: Floats, errors: Floats, log_weights: Floats
) -> tuple[Floats, Floats]:
    """log of a weighted sum of e^values over the first axis, with error."""
    count = len(values)
    if count == 1:
        return values[0], errors[0]
    terms = values + log_weights
    errors = errors - 8 * UNIT * log_weights
    top = terms.max(0)
    shape = np.exp(terms - np.where(np.isfinite(top), top, 0.0))
    total = top + np.log(shape.sum(0))
    most = np.where(shape > 0, errors, 0.0).max(0)
    mean = np.where(shape > 0, shape * errors, 0.0).sum(0) / shape.sum(0)
    wide = np.where(most < 1, mean * (1 + most), most)
    wide = wide + UNIT * (64 * count + 16 + 3 * np.abs(total))
    return total, np.where(np.isfinite(total), wide, 0.0)


# --- Whole numbers


@dataclass(frozen=True)
class DiscreteLaplaceNoise(Noise):
    """Discrete Laplace noise: P(Z = z) is c e^(-|z|/scale)."""

    scale: float
    whole = True

    @property
    def log_half(self) -> float:
        return -math.log1p(math.exp(-1 / self.scale))

    def log_tail(self, z: Floats, shift: Any) -> tuple[Floats, Floats]:
        y = (np.abs(z) + 0.5) / self.scale
        return -y, 4 * UNIT * y

    def log_ratio(self, z: Floats, shift: Any) -> tuple[Floats, Floats]:
        value = (2 * np.clip(z, 0.0, shift) - shift) / self.scale
        return value, 4 * UNIT * np.abs(value)

    def start(self, top: float) -> Floats:
        between = np.linspace(0, top - 1, min(int(top), 400))
        return np.unique(np.floor(between)) + 0.5


@functools.lru_cache(64)
def whole_normal(sigma: float) -> tuple[Floats, float]:
    """log of P(Z >= k)/P(Z = k) for k = 0, 1, ..., and of 1/P(Z = 0)."""
    k = np.arange(math.floor(37.6 * sigma) + 1)
    f = np.exp(-((k / sigma) ** 2) / 2)
    sums = np.cumsum(f[::-1])[::-1]
    used = math.floor(36 * sigma) + 1
    return np.log(sums / f)[:used], math.log(2 * sums[0] - 1)


@dataclass(frozen=True)
class DiscreteNormalNoise(Noise):
    """Discrete Gaussian noise: P(Z = z) is c e^(-z^2/(2 sigma^2))."""

    sigma: float
    whole = True

    def log_tail(self, z: Floats, shift: Any) -> tuple[Floats, Floats]:
        k = np.abs(z) + 0.5
        log_sums, log_total = whole_normal(self.sigma)
        last = len(log_sums) - 1
        value = log_sums[np.minimum(k, last).astype(int)] - log_total
        unknown = np.where(k > last, log_sums[-1], 0.0)
        return value - (k / self.sigma) ** 2 / 2, unknown + self.rounding(k)

    def rounding(self, k: Floats) -> Floats:
        """Error of logs of tails and probabilities at k."""
        return UNIT * (160 + 8 * (k / self.sigma) ** 2 + 4 * self.sigma)

    @np.errstate(all="ignore")
    def masses(self, edges: Floats, shift: Any) -> tuple[Floats, Floats]:
        mass, error = super().masses(edges, shift)
        first = np.ceil(edges[:-1]) - shift
        last = np.floor(edges[1:]) - shift
        best = np.abs(np.clip(0.0, first, last))  # its likeliest number
        log_sums, log_total = whole_normal(self.sigma)
        tail = log_sums[np.minimum(best, len(log_sums) - 1).astype(int)]
        tail = tail + np.where(best > 0, 0.0, math.log(2))
        half = np.minimum(np.log(last - first + 1), tail) / 2
        value = half - (best / self.sigma) ** 2 / 2 - log_total
        rough = half + self.rounding(best)
        better = rough < error
        return np.where(better, value, mass), np.where(better, rough, error)

    def log_ratio(self, z: Floats, shift: Any) -> tuple[Floats, Floats]:
        unit = self.sigma**2
        value = shift * (z - shift / 2) / unit
        return value, 9 * UNIT * shift * (size(z) + shift) / unit

    def start(self, top: float) -> Floats:
        edges = NormalNoise().start(top / self.sigma) * self.sigma
        return np.unique(np.floor(edges)) + 0.5
