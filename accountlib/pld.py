# Generated from notebooks/pld.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""How is a loss put on a grid, and which way is least?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\Delta$ | `step` | distance of neighbouring grid points, $> 0$ |
| $\ell_i$, $\alpha_i$ | `losses` | grid losses $i\Delta$, $i$ whole; $e^{\ell_i}$ |
| $p_i$, $p_\infty$ | `mass`, `infinity_mass` | P-mass of the losses $\ell_i$ and $\infty$ |
| $h$, $h_i$ | `knots` | privacy profile as a function of $\alpha$; its value at $\alpha_i$ |
| $a$, $b$, $\ell$ | `left`, `right`, `loss` | ends and merged loss of a cell (page-cells) |
| $r$ | `share` | part of a mass that goes to the right |
| $\eta$ | `loss_error` | how far losses may be off, absolute |
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accountlib.cells import Cells
from accountlib.checks import UNIT, Floats, check, check_fields
from accountlib.dominating_pairs import DominatingPair

__all__ = [
    "masses_from_curve",
    "BOUNDS",
    "TAIL",
    "CORE",
    "NEAR",
    "MOST_CELLS",
    "MOST_ROWS",
    "PrivacyLossDistribution",
    "cell_lengths",
    "loss_cells",
    "at_cell_ends",
    "on_grid",
    "few_enough",
    "grid_masses",
    "pessimistic_pld",
]

# --- Connect the dots, in six lines


def masses_from_curve(
    alphas: NDArray[Any], values: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    r"""P- and Q-masses of a piecewise-linear privacy profile.

    Formula: slopes $s_i = (h_{i+1} - h_i)/(\alpha_{i+1} - \alpha_i)$, the
    last one 0; $Q_i = s_i - s_{i-1}$, $s_{-1} = -1$; $P_i = \alpha_i Q_i$.

    Parameters: `alphas` (0, then ascending); `values` ($h_i$) there.
    Returns: P-masses at the losses log alphas and at infinity; Q-masses.
    Error: that of second differences, some u/step^2.
    Source: Doroshenko et al. (2022), Algorithm 1 (DiscretizePLD).

    >>> masses_from_curve(np.array([0, 0.5, 2]), np.array([1, 0.625, 0.25]))[0]
    array([0.  , 0.25, 0.5 , 0.25])
    """
    slopes = np.append(np.diff(values) / np.diff(alphas), 0)
    q = np.append(1 + slopes[0], np.diff(slopes))
    return np.append(alphas * q, values[-1]), np.append(q, 0 * q[0])


# --- Code: the PLD

BOUNDS = ("upper", "lower", "buckets-upper", "buckets-lower")
TAIL = 1e-40  # P-mass at either end of the losses that needs no grid points
CORE = 1e-9  # P-mass at either end whose cells may be longer
NEAR = 1e-9  # of a step: a loss this near to a grid point is put on it
MOST_CELLS = 2**16  # as many as `finer` makes
MOST_ROWS = 2**22


@dataclass(frozen=True, eq=False)
class PrivacyLossDistribution:
    r"""The privacy loss under P, on an even grid, from one side.

    Formula: $\Pr[L = \ell_i] = p_i$ with $\ell_i = i\Delta$; $\delta(
    \varepsilon) = p_\infty + \sum_{\ell_i > \varepsilon} (1 -
    e^{\varepsilon - \ell_i}) p_i$.

    Parameters: `step` ($\Delta$ in [1e-9, 100]); `first_index`, the i of
    mass[0]; `mass` ($p_i \ge 0$); `infinity_mass` ($p_\infty$ in [0, 1]);
    `bound`, one of `BOUNDS`, which end with the side of the truth; and
    `loss_error`, how far losses may be off.
    Raises: ValueError for values outside these ranges.
    Source: Doroshenko et al. (2022), Definition 2.5.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0, 0.75], 0.0)
    >>> coin.losses, round(coin.delta(0.0), 6), round(coin.epsilon(0.25), 6)
    (array([-1.,  0.,  1.]), 0.47409, 0.594535)
    """

    step: float
    first_index: int
    mass: Floats
    infinity_mass: float
    bound: str = "upper"
    loss_error: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self, step=(1e-9, 100), first_index=(-1e15, 1e15, True))
        check_fields(self, infinity_mass=(0, 1), loss_error=(0, 1e9))
        mass = check("mass", self.mass, 0, 2)
        if np.ndim(mass) != 1 or len(mass) == 0:
            raise ValueError(f"mass must be a list, got {self.mass!r}")
        if self.bound not in BOUNDS:
            raise ValueError(f"bound must be in {BOUNDS}, got {self.bound!r}")
        mass.flags.writeable = False
        object.__setattr__(self, "mass", mass)

    @property
    def side(self) -> int:
        """1 if it lies above the truth, -1 if below."""
        return 1 if self.bound.endswith("upper") else -1

    @property
    def losses(self) -> Floats:
        """The grid losses, one for each entry of `mass`."""
        index = self.first_index + np.arange(len(self.mass), dtype=float)
        return np.asarray(self.step * index)

    @cached_property
    def knots(self) -> Floats:
        """delta at epsilon = -infinity, then at each grid loss."""
        above = np.append(0.0, np.cumsum(self.mass[::-1]))
        gain, falls = -math.expm1(-self.step), math.exp(-self.step)
        from scipy.signal import lfilter  # slow to import

        curve = lfilter([gain], [1.0, -falls], above[:-1])
        curve = np.append(curve, above[-1])[::-1]
        rounded = 1 + self.side * (8 * len(curve) + 32) * UNIT
        return np.asarray((curve + self.infinity_mass) * rounded)

    def delta(self, epsilon: ArrayLike) -> Any:
        """delta of one epsilon of any sign or of many, on its own side."""
        x = check("epsilon", epsilon, -1e12, 1e12)
        x = x - self.side * (self.loss_error + 4 * UNIT * np.abs(x))
        last = len(self.mass)
        k = np.floor(x / self.step) - self.first_index
        k = np.clip(k, -1, last - 1).astype(int)
        ahead = np.fmax(self.step * (self.first_index + k + 1) - x, 0.0)
        width = np.where(k < 0, 1.0, -math.expm1(-self.step))
        share = np.fmin(-np.expm1(-ahead) / width, 1.0)
        high, low = self.knots[k + 1], self.knots[np.minimum(k + 2, last)]
        value = np.minimum(low + (high - low) * share, 1.0)
        return float(value) if np.ndim(value) == 0 else value

    def epsilon(self, delta: ArrayLike) -> Any:
        """The least epsilon >= 0 with that delta, on its own side; or inf."""
        wanted = np.asarray(check("delta", delta, 0, 1))
        last = max(float(self.losses[-1]), 0.0) * (1 + 16 * UNIT)
        low = np.zeros(wanted.shape)
        high = top = low + last + 2 * self.loss_error
        for _ in range(80):
            middle = (low + high) / 2
            over = self.delta(middle) > wanted
            low, high = np.where(over, [middle, high], [low, middle])
        end = high if self.side > 0 else low
        end = np.where(self.delta(top) > wanted, np.inf, end)
        end = np.where(self.delta(0.0 * low) <= wanted, 0.0, end)
        return float(end) if end.ndim == 0 else end


# --- Code: where to cut the outcomes


def cell_lengths(cells: Cells, width: float) -> Floats:
    """How many widths long each cell is; whole sums up to a grid point."""
    p = np.exp(cells.log_p)
    tail = np.minimum(np.cumsum(p), np.cumsum(p[::-1])[::-1])
    inside = np.isfinite(cells.left) & np.isfinite(cells.right)
    used = np.flatnonzero((tail > TAIL) & inside & ~cells.atoms)
    lengths = np.ones(len(p))
    if len(used) > 0:
        span = slice(used[0], used[-1] + 1)
        ends = np.append(cells.left[used[0]], cells.right[span]) / width
        core = ends[1:][tail[span] > CORE]
        low, high = core.min(initial=ends[-1]), core.max(initial=ends[0])
        near = np.clip(ends, 2 * np.floor(low / 2 - 1), 2 * np.ceil(high / 2))
        if ends[-1] - ends[0] > MOST_CELLS:
            ends = near + (ends - near) / 16
        ends[0], ends[-1] = math.floor(ends[0]), math.ceil(ends[-1]) - 1e-9
        lengths[span] = np.diff(ends)
    return lengths


@np.errstate(all="ignore")
def loss_cells(pair: DominatingPair, step: float) -> Cells:
    """Cells of a pair, cut at the multiples of half a step of the loss."""
    edges = pair.start()
    for _ in range(5):
        edges = pair.finer(edges, cell_lengths(pair.cells(edges), step / 2))
    return pair.cells(edges)


# --- Code: from cells to the PLD


def at_cell_ends(cells: Cells, buckets: bool) -> tuple[Floats, Floats]:
    """Losses and masses from above: each cell's mass at its two ends."""
    p = np.exp(cells.log_p) * (np.exp(cells.mass_error) + 32 * UNIT)
    p = p + 1e-300 * (cells.log_p > -np.inf)
    share = np.minimum(cells.left - cells.loss, 0.0) - cells.loss_error
    share = np.expm1(share) / np.expm1(cells.left - cells.right)
    share = np.where(share >= 0, np.fmin(share, 1.0), 1.0)
    right = p * np.where(cells.atoms | buckets, 1.0, share)
    above = np.cumsum(p[::-1])[::-1] <= TAIL
    loss = np.array([cells.left, cells.right])
    loss[:, above] = np.inf
    below = cells.right[np.cumsum(p) <= TAIL].max(initial=-np.inf)
    return np.fmax(loss, below).ravel(), np.append(p - right, right)


def on_grid(
    loss: Floats, step: float
) -> tuple[Floats, NDArray[np.bool_], float]:
    """Nearest grid points, which losses lie on them, and how far off."""
    near = np.rint(loss / step)
    off = np.abs(loss - near * step) + 4 * UNIT * np.abs(loss)
    on = off < NEAR * step
    return near, on, float(off[on].max(initial=0.0))


def few_enough(rows: float) -> None:
    """Refuse too many grid points."""
    if rows > MOST_ROWS:
        raise ValueError(f"step must be larger: over {MOST_ROWS} grid points")


def grid_masses(index: Floats, mass: Floats, side: int) -> tuple[int, Floats]:
    """First index and sums of masses with the same index, outward."""
    index, mass = index[mass > 0], mass[mass > 0]
    if len(index) == 0:
        return 0, np.zeros(1)
    first = index.min()
    few_enough(index.max() - first)
    places = (index - first).astype(int)
    rounded = 1 + side * 2 * UNIT * (np.bincount(places) + 8)
    return int(first), np.bincount(places, mass) * rounded


def pessimistic_pld(
    cells: Cells, step: float, bound: str
) -> PrivacyLossDistribution:
    """Connect the dots, or buckets that round up, from cells of a pair."""
    buckets = bound != "upper"
    loss, mass = at_cell_ends(cells, buckets)
    finite = loss < np.inf
    infinite = float(mass[~finite].sum()) * (1 + 4 * UNIT * len(mass))
    loss, mass = loss[finite], mass[finite]
    near, on, loss_error = on_grid(loss, step)
    index = np.where(on, near, np.floor(loss / step + NEAR))
    share = np.expm1(index * step - loss) - 4 * UNIT * np.abs(loss)
    share = np.clip(share / math.expm1(-step) * (1 + 16 * UNIT), 0.0, 1.0)
    right = mass * np.where(on, 0.0, np.maximum(share, buckets))
    index, mass = np.append(index, index + 1), np.append(mass - right, right)
    rows = *grid_masses(index, mass, 1), min(infinite, 1.0)
    return PrivacyLossDistribution(step, *rows, bound, loss_error)
