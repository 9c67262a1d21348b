# Generated from notebooks/no_worst_data.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Is there a worst data set?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\gamma$ | `rate` | sampling rate; $\tfrac12$ for one record out of two |
| $\alpha$ | `alpha` | $e^\varepsilon$, at least 0 |
| $(P_\gamma, Q)$ | `with_it`, `without` | the pair of a sampled run, with and without the record |
| $T$ | `times`, `count` | number of runs |
| $\sigma$ | `noise` | noise multiplier (Gaussian noise), scale (Laplace noise) |
"""

import math
from dataclasses import dataclass

import numpy as np

from accountlib.accountant import delta, epsilon
from accountlib.checks import check
from accountlib.sampling import Release

__all__ = ["DirectionCheck", "check_directions"]

# --- Is remove the worse direction?


@dataclass(frozen=True)
class DirectionCheck:
    """Whether add exceeds remove anywhere, as far as intervals can tell.

    Fields: `verdict`: "counterexample" (somewhere the lower end of add is
    above the upper end of remove), "no counterexample" (at every epsilon of
    the grid the lower end of remove is at least the upper end of add; other
    epsilons are not looked at) or "undecided"; `epsilon`, the place that
    decides; `margin`, there: by how much add is larger at least, relative
    (counterexample), may be larger at most (undecided), or remove is
    larger at least (no counterexample).
    """

    verdict: str
    epsilon: float
    margin: float


def check_directions(
    release: Release, *, points: int = 20, width: float = 5e-4
) -> DirectionCheck:
    r"""Compare the curves of add and of remove between certified bounds.

    Formula: $\delta_{\text{add}}(\varepsilon) \le
    \delta_{\text{remove}}(\varepsilon)$ on a grid of $\varepsilon$ from
    1 % of $\varepsilon(10^{-6})$ to $\varepsilon(10^{-12})$.

    Parameters: `release`; `points` of the grid (2 to 10,000); `width`, of
    the bounds (in [1e-6, 0.1]).
    Returns: a DirectionCheck.
    Raises: ValueError for bad values, and where epsilon is 0 or inf at
    delta = 1e-6 or 1e-12.
    Source: after Lebeda et al. (2024), Conjecture 12.

    >>> from accountlib.mechanisms import RandomizedResponse
    >>> from accountlib.sampling import Poisson
    >>> coin = Release(RandomizedResponse(0.75), Poisson(0.5), 2)
    >>> check_directions(coin).verdict
    'counterexample'
    """
    points = check("points", points, 2, 10_000, whole=True)
    width = check("width", width, 1e-6, 0.1)
    first, last = (
        epsilon(release, delta=d, adjacency="remove", relative_width=0.01)
        for d in (1e-6, 1e-12)
    )
    if not 0 < first.lower <= last.upper < math.inf:
        raise ValueError(
            "release must have a finite epsilon that is known not to be 0 "
            f"at delta = 1e-6 and 1e-12, got {release!r} with {first}, {last}"
        )
    grid = np.geomspace(0.01 * first.lower, last.lower, points)
    remove, add = (
        tuple(
            delta(release, epsilon=grid, adjacency=side, relative_width=width)
        )
        for side in ("remove", "add")
    )
    more = add[0] / np.maximum(remove[1], 1e-300) - 1
    less = remove[0] / np.maximum(add[1], 1e-300) - 1
    less[add[1] == 0] = np.inf  # nothing is smaller
    k, j = int(np.argmax(more)), int(np.argmin(less))
    if more[k] > 0:
        return DirectionCheck("counterexample", float(grid[k]), float(more[k]))
    verdict = "no counterexample" if less[j] >= 0 else "undecided"
    return DirectionCheck(verdict, float(grid[j]), abs(float(less[j])))
