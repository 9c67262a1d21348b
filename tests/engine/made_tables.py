"""Tables made by hand, and their exact deltas."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import numpy as np

from accountlib.engine.one_sided import TiltedTable, tilt_masses


def made_table(
    mass, bound, *, step=0.25, first=-2, tilt=1.0, tail=0.0, offset=0.0
):
    """A tilted table of the given untilted masses."""
    index = first + np.arange(len(mass))
    losses = offset + step * index
    sign = 1 if bound == "upper" else -1
    tilted, log_scale = tilt_masses(losses, np.array(mass, float), tilt, sign)
    return TiltedTable(
        step, offset, tilt, log_scale, tail, 0.0, bound, index, tilted
    )
