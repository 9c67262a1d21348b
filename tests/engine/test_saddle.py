"""Where to look: cells, and what lies beyond them."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import mpmath as mp
import numpy as np

import accountlib as al
from accountlib.engine import saddle


def test_cells_of_no_width():
    """Found by the search for violations: two edges fell on one float."""
    run = al.Release(
        al.Gaussian(0.42358997182726144), al.FixedBatch(11848, 471672), 80
    )
    bound = al.delta(
        run, epsilon=4.070407760899545, adjacency="add", group_size=2
    )
    assert bound.upper < 1e-200  # just below the largest loss


# --- to the last bit: small and exact ----------------------------------------


def test_cells_say_what_lies_beyond_them():
    """Also where that is too small for floats."""
    edges = np.array([0.0, 1.0, 30.0, 40.0])
    for budget in (1e-3, 1e-40, 1e-320):
        cells = saddle.Cells.of(al.Gaussian(1.0).pair(), 1, edges, budget)
        tail = mp.ncdf(-(mp.mpf(cells.edges[-1]) - 0.5))
        assert tail <= cells.beyond < 1.01 * tail + 1e-304
