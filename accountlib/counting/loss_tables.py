# Generated from notebooks/counting/loss_tables.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Counting privacy with loss distributions

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\Delta$ | `step` | distance of neighbouring losses on the grid, $> 0$ |
| $\ell_i$ | `losses` | grid losses $i\Delta$, for whole numbers $i$ |
| $\alpha_i$ | `alpha` | $e^{\ell_i}$ |
| $h$ | – | the privacy curve, as a function of $\alpha = e^\varepsilon$ |
| $x$ | – | $e^{-L}$, that is $dQ/dP$ |
| $p_i$, $p_\infty$ | `mass`, `infinity_mass` of a table | P-probability of the losses $\ell_i$ and $\infty$ |
| $P_i$, $Q_i$ | `p`, `q`; their sums `mass`, `other` in `upper_share` | P- and Q-mass of the cell $(\ell_{i-1}, \ell_i]$ |
| $u$ | `UNIT` | $2^{-53}$, the rounding unit of floats |
| $r_i$ | `share` | part of $P_i$ that goes to the right end $\ell_i$ |
"""

import math
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from accountlib.inputs import (
    Floats,
    as_given,
    check_choice,
    check_number,
    check_range,
    front_door,
)
from accountlib.worst_cases.divergences import product_minus
from accountlib.worst_cases.dominating_pairs import UNIT, ExcessError

__all__ = [
    "BoundKind",
    "TINY",
    "HAIR",
    "LARGEST_LOSS",
    "MOST_CELLS",
    "GridTooFine",
    "PrivacyLossDistribution",
    "grid_curve",
    "grid_epsilon",
    "subtract",
    "excess_mass",
    "upper_share",
]

# --- The table and its curve

BoundKind = Literal["upper", "lower", "buckets-upper", "buckets-lower"]
TINY = 1e-290  # below, floats lose relative accuracy
HAIR = 2.0**-20  # of a step: nearer to a grid point, an atom counts as on it
LARGEST_LOSS = 600.0  # e^600 is still a float with room to spare
MOST_CELLS = 2**22


class GridTooFine(ValueError):
    """The step asks for more grid points than `MOST_CELLS`.

    Parameters: `step`, the step asked for; `cells`, what it would need.

    >>> GridTooFine(1e-9, 10**10).cells
    10000000000
    """

    def __init__(self, step: float, cells: int) -> None:
        super().__init__(
            f"step must be larger than {step!r}, which needs {cells} cells "
            f"(at most {MOST_CELLS})"
        )
        self.cells = cells


@dataclass(frozen=True, eq=False)
class PrivacyLossDistribution:
    r"""Distribution of the privacy loss under P, on an even grid.

    Formula: $\Pr[L = \ell_i] = p_i$ with $\ell_i = i \Delta$, and
    $\Pr[L = \infty] = p_\infty$; $\delta(\varepsilon) = p_\infty +
    \sum_{\ell_i > \varepsilon} (1 - e^{\varepsilon - \ell_i}) p_i$.

    Parameters: `step` ($\Delta > 0$), `first_index` (the i of mass[0]),
    `mass` ($p_i \ge 0$), `infinity_mass` ($p_\infty$ in [0, 1]), `bound`
    ("upper", "lower", "buckets-upper", "buckets-lower"): which side of
    the truth the curve lies on, and how it was made.
    Raises: ValueError for values outside these ranges.
    Source: Doroshenko et al. (2022), Definition 2.5.

    >>> PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0).losses
    array([-1.,  0.,  1.])
    """

    step: float
    first_index: int
    mass: Floats
    infinity_mass: float
    bound: BoundKind = "upper"

    def __post_init__(self) -> None:
        check_number("step", self.step, 0, np.inf, "()")
        check_number("infinity_mass", self.infinity_mass, 0, 1)
        check_choice("bound", self.bound, get_args(BoundKind))
        if not isinstance(self.first_index, (int, np.integer)):
            raise ValueError(
                f"first_index must be a whole number, got {self.first_index!r}"
            )
        mass = check_range("mass", self.mass, 0, np.inf, "[)").copy()
        if mass.ndim != 1 or mass.size == 0:
            raise ValueError(f"mass must be a non-empty list, got {mass!r}")
        mass.flags.writeable = False
        object.__setattr__(self, "mass", mass)

    @cached_property
    def losses(self) -> Floats:
        """The grid of losses, one per entry of `mass`."""
        indices = self.first_index + np.arange(len(self.mass))
        losses = self.step * indices
        losses.flags.writeable = False
        return losses

    @cached_property
    def log_mass(self) -> Floats:
        """Logarithms of the masses (-inf for 0)."""
        with np.errstate(divide="ignore"):
            log_mass = np.asarray(np.log(self.mass))
        log_mass.flags.writeable = False
        return log_mass

    @front_door
    def delta(self, epsilon: ArrayLike) -> Any:
        """Privacy curve of the distribution; a number or an array.

        Parameters: `epsilon` of any sign; a number or an array.
        Returns: delta in [0, 1] on the distribution's own side of the
        truth, up to rounding: (n + 16) u, relative, for n losses.
        Raises: ValueError for NaN and infinite epsilon.
        Source: Doroshenko et al. (2022), Definition 2.5.
        """
        epsilon = check_range("epsilon", epsilon, -np.inf, np.inf, "()")
        places = self.first_index + np.arange(self.mass.size, dtype=float)
        # Just below a loss, a rounded one would be all that is seen.
        at = epsilon[..., None]
        gap: Floats = self.losses - at
        if self.step < 1e100:
            gap = product_minus(places, np.array(self.step), at)
        delta = -np.expm1(-np.maximum(gap, 0)) @ self.mass
        delta = delta + self.infinity_mass
        return as_given(np.minimum(delta, 1.0))

    @front_door
    def epsilon(self, delta: float) -> float:
        """Smallest epsilon >= 0 whose delta is at most the given one.

        Parameters: `delta` in [0, 1].
        Returns: epsilon in [0, inf] on the distribution's own side of
        the truth; inf where the mass at infinity exceeds delta.
        Raises: ValueError for delta outside [0, 1].
        """
        wanted = check_number("delta", delta, 0, 1) - self.infinity_mass
        if wanted < 0:
            return math.inf
        curve = grid_curve(self.step, self.mass)
        if curve[0] > wanted:
            root = grid_epsilon(self.step, self.first_index, curve, wanted)
            return max(0.0, root)
        # Below the first loss the curve is a line in e^epsilon.
        total = float(np.sum(self.mass))
        if wanted >= total:
            return 0.0
        part = (total - wanted) / (total - float(curve[0]))
        return max(0.0, float(self.losses[0]) + math.log(part))


def grid_curve(step: float, mass: Floats) -> Floats:
    r"""Privacy curve at the grid points, from the masses on the grid.

    Formula: $\delta_k = \sum_{j > k} (1 - e^{-(j-k)\Delta}) p_j$, from
    $\delta_k = e^{-\Delta} \delta_{k+1} + (1 - e^{-\Delta})
    \sum_{j > k} p_j$: sums of positive terms only.

    Parameters: `step` ($\Delta$), `mass` ($p_j \ge 0$).
    Returns: one delta per grid point, mass at infinity left out.
    Error: rounding; relative error below (n + 100) * 1.2e-16 for n masses.

    >>> grid_curve(1.0, np.array([0.5, 0.5])).round(4)
    array([0.3161, 0.    ])
    """
    above = np.append(np.cumsum(mass[:0:-1])[::-1], 0.0)
    curve = -math.expm1(-step) * above
    shift = 1
    while shift < len(curve) and math.exp(-shift * step) > 0:
        curve[:-shift] += math.exp(-shift * step) * curve[shift:]
        shift *= 2
    return curve


def grid_epsilon(
    step: float, first_index: int, curve: Floats, delta: float
) -> float:
    r"""Smallest epsilon on or above the grid's first loss with that delta.

    Formula: $\delta(\varepsilon)$ is linear in $e^\varepsilon$ between
    grid points.

    Parameters: `step`, `first_index` of the grid; `curve`, the values
    at the grid points (the last is 0 or the value at infinity); `delta`.
    Returns: epsilon; the first loss if the curve starts below delta,
    the last one if it never comes down to delta.
    Error: rounding only.

    >>> round(grid_epsilon(1.0, 0, np.array([0.5, 0.25, 0.0]), 0.25), 12)
    1.0
    """
    above = np.flatnonzero(curve > delta)
    if len(above) == 0:
        return first_index * step
    k = int(above[-1])
    if k == len(curve) - 1:
        return (first_index + k) * step
    part = (curve[k] - delta) / (curve[k] - curve[k + 1])
    if step > 709:  # the exponential overflows
        more = max(0.0, step + math.log(max(part, 5e-324)))
        return float((first_index + k) * step + more)
    return (first_index + k) * step + math.log1p(part * math.expm1(step))


# --- From above: connect the dots


def subtract(
    p: Floats, q: Floats, gain: Floats, spread: Floats, losses: Floats
) -> tuple[Floats, Floats]:
    r"""The difference P - alpha Q, and the size of what was subtracted.

    Formula: $(P - Q) - (\alpha - 1) Q$ near $\alpha = e^\ell = 1$.

    Parameters: `p`, `q`; `gain`, P - Q, and `spread`, the sum of the sizes
    that it was added up from; `losses` ($\ell$).
    Returns: (differences, sizes); rounding is some u of the size.

    >>> one, tiny = np.ones(1), np.array([1e-20])
    >>> [float(x[0]) for x in subtract(one, one, 0 * one, 0 * one, tiny)]
    [-1e-20, 1e-20]
    """
    whole, more = np.exp(losses) * q, np.expm1(losses) * q
    near = np.abs(losses) < 0.5
    value = np.where(near, gain - more, p - whole)
    return value, np.where(near, spread + np.abs(more), p + whole)


def excess_mass(
    p: Floats, q: Floats, losses: Floats, error: ExcessError
) -> tuple[Floats, Floats]:
    r"""How much P exceeds alpha times Q in intervals.

    Formula: $P - \alpha Q$ with $\alpha = e^\ell$.

    Parameters: `p`, `q`, masses of intervals; `losses` ($\ell$), one per
    interval; `error`, what their pair states for differences.
    Returns: the differences, and how far they may be off, rounding included.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> pair, one = GaussianPair(1.0), np.array([0.5])
    >>> value, wrong = excess_mass(one, one, one, pair.excess_error(one, one))
    >>> round(float(value[0]), 6), bool(wrong[0] < 1e-13)
    (-0.324361, True)
    """
    value, size = subtract(p, q, p - q, np.abs(p - q), losses)
    return value, error.at(np.exp(losses)) + 16 * UNIT * size


def upper_share(
    step: float | Floats,
    edges: Floats,
    p: Floats,
    q: Floats,
    error: ExcessError,
) -> Floats:
    r"""Connect the dots: how much of each cell's mass goes to its right end.

    Formula: $r_i = (P_i - e^{(i-1)\Delta} Q_i)/(1 - e^{-\Delta})$, between
    0 and $P_i$, rounded up.

    Parameters: `step` ($\Delta$), the width of the cells, one number or
    one per cell; `edges`, the ends and middles of n cells; `p`, `q`,
    masses of the 2n + 2 intervals that they cut; `error`, what their pair
    states for differences of these masses.
    Returns: n shares, each at least the exact one.
    Source: Doroshenko et al. (2022), Algorithm 1.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> edges = np.array([0.0, 0.5, 1.0])
    >>> pair = GaussianPair(1.0)
    >>> p, q = pair.masses(edges)
    >>> share = upper_share(1.0, edges, p, q, pair.excess_error(p, q))
    >>> bool(0 < share[0] < p[1] + p[2])
    True
    """
    excess = np.zeros(len(edges) // 2)
    for half in (slice(1, -1, 2), slice(2, -1, 2)):
        part = error.map(itemgetter(half))
        value, wrong = excess_mass(p[half], q[half], edges[:-1:2], part)
        excess += value + wrong
    mass, other = p[1:-1:2] + p[2:-1:2], q[1:-1:2] + q[2:-1:2]
    share = excess / -np.expm1(-step) * (1 + 8 * UNIT)
    return np.where(other > TINY, np.clip(share, 0, mass), mass)
