# Generated from notebooks/engine/certificate.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""The errors, all of them

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $u$ | `UNIT` | unit round-off, $2^{-53}$ |
| $\ell$ | `losses` | a loss on the grid |
| $\lambda$, $K$ | `tilt`, `log_scale` | exponent of the tilt; log of the mean of $e^{\lambda S}$ |
| $\tau_2$ | `log_tail` | tilted mass outside of each end of the window |
| $T$ | `count` | number of steps |
| $\hat m_k$ | `value` | transform of the tilted masses at the frequency $k$ |
| $\hat n$, $\hat f$ | `near`, `far` | transforms of near and of far losses |
| $n$, $N$ | | number of terms of a sum; length of a transform |
| $p$ | `mass` | a probability |
"""

import math
from dataclasses import dataclass

from accountlib.counting.composition import Bound
from accountlib.engine.one_sided import Losses, TiltedTable
from accountlib.engine.rare_steps import answer_at_once, bound_direction
from accountlib.engine.saddle import Query
from accountlib.engine.search import Search, Way, first_look
from accountlib.engine.transforms import Spectrum

__all__ = [
    "GridChoice",
    "grid_choice",
    "Explanation",
    "explained",
    "explain_direction",
]

# --- What was chosen


@dataclass(frozen=True)
class GridChoice:
    r"""One grid of an answer: what was chosen, and how large it was.

    Fields: `losses`, what its sums are about; `bound`, what it has shown;
    `step` ($\Delta$), `order` of the saddle point, `tilt` ($\lambda$) and
    its `excess`; `table_sizes`, masses of one step of each kind; `window`,
    its first and last loss; `places` of the circle and `frequencies` that
    were kept (0 without a transform); `tail` ($\tau$) and `infinity_mass`.
    """

    losses: str
    bound: Bound
    step: float
    order: float
    tilt: float
    excess: float
    table_sizes: tuple[int, ...]
    window: tuple[float, float]
    places: int
    frequencies: int
    tail: float
    infinity_mass: float


def grid_choice(search: Search, losses: str) -> GridChoice:
    """The last grid of a search, its upper table if there is one."""
    total = max(search.totals, key=lambda x: x.sign)
    ends, places, kept = (0.0, 0.0), 0, 0
    if isinstance(total, Spectrum):
        places, kept = total.size, len(total.frequency)
        first = total.offset + total.step * total.first
        ends = first, first + total.step * (places - 1)
    elif isinstance(total, TiltedTable):
        ends = float(total.losses[0]), float(total.losses[-1])
    return GridChoice(
        losses=losses,
        bound=search.bound,
        step=search.step,
        order=search.order,
        tilt=search.tilt,
        excess=search.excess,
        table_sizes=search.table_sizes,
        window=ends,
        places=places,
        frequencies=kept,
        tail=total.tail,
        infinity_mass=total.infinity_mass,
    )


@dataclass(frozen=True)
class Explanation:
    """How the interval of one direction was found.

    Fields: `bound`; `lower_from`, `upper_from`, what its ends come from;
    `guess` of the rough look (nan without one); `split` between near and
    far losses (inf: none was tried); `grids`, the last ones of each kind.
    """

    bound: Bound
    lower_from: Way
    upper_from: Way
    guess: float = math.nan
    split: float = math.inf
    grids: tuple[GridChoice, ...] = ()

    def __str__(self) -> str:
        known = math.isnan(self.guess)  # there was no rough look
        guess = "" if known else f", guessed {self.guess:.3g}"
        lines = [
            f"{self.bound:.6g}{guess}",
            f"lower end from {self.lower_from},"
            f" upper end from {self.upper_from}",
        ]
        for grid in self.grids:
            first, last = grid.window
            lines += [
                f"{grid.losses}: step {grid.step:.2e}, tilt {grid.tilt:.3g}"
                f" (saddle point {grid.order:.3g}), excess {grid.excess:.1f}",
                f"  {sum(grid.table_sizes)} masses, window from {first:.3g}"
                f" to {last:.3g}, {grid.places} places,"
                f" {grid.frequencies} frequencies",
                f"  tail {grid.tail:.1e}, at infinity"
                f" {grid.infinity_mass:.1e}",
            ]
        return "\n".join(lines)


def explained(found: Search) -> Explanation:
    """What a search says of itself, when it is over."""
    grids = [grid_choice(found, "all losses")] if found.totals else []
    for half in found.halves:
        rare = half.split < math.inf
        if half.totals:
            about = "rare sums" if rare else "near losses"
            grids.append(grid_choice(half, about))
    split = min([half.split for half in found.halves], default=math.inf)
    return Explanation(
        found.bound,
        found.lower_from,
        found.upper_from,
        found.guess,
        split,
        tuple(grids),
    )


def explain_direction(
    losses: Losses, query: Query, floor: float = 0.0
) -> Explanation:
    """How the interval of one direction is found, and by which bound.

    Parameters: `losses`, pairs of a dominating pair and its count; `query`,
    for epsilon (its delta above 0) or delta; `floor`, an answer that
    another direction reaches (default 0: none).
    Returns: an Explanation; its interval contains the answer of this
    direction, all else in it are choices and sizes.

    >>> from accountlib.worst_cases.noise import GaussianPair
    >>> run, query = [(GaussianPair(0.1), 100)], Query(1e-6, None, 1e-3)
    >>> found = explain_direction(run, query)
    >>> found.upper_from, len(found.grids), found.grids[0].tilt > 1
    ('one grid', 1, True)
    """
    known = answer_at_once(losses, query)
    return explained(
        known or bound_direction(first_look(losses, query), floor)
    )
