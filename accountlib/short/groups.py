# accountlib 0.1.0, from notebooks/beyond/short_files.md
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0
"""Both ends of epsilon and delta for a group. Needs accountant.py beside it.

`size` records are added or removed together; each step takes every record
with chance `rate` and adds normal noise with standard deviation
`noise_multiplier` (over the clipping norm of one record). Range: size 1 to 64,
noise_multiplier from max(0.2, size/12), the rest as in accountant.py. Inside a
package write `from .accountant import ...` below.

>>> low, high = epsilon(4, 2.0, 0.01, 500, 1e-5)
>>> 1.988 < low < high < 1.992
True

The truth lies between both: promise the upper end. Ganesh (2024), Theorem 3.1.
Not proven: what accountant.py lists. Needs numpy and scipy, too.
"""

from functools import partial

import numpy as np
from scipy.special import gammaln, logsumexp, ndtri

try:
    from accountant import UNIT, check, ends, log_masses
except ImportError:
    from accountlib.short.accountant import UNIT, check, ends, log_masses


def table(size, noise, rate, number, rest, add, up):
    """One step as a list, see accountant.py: j of the group are drawn."""
    side, way, reach = 2 * up - 1, 1 - 2 * add, -ndtri(rest)
    j, miss = np.arange(1, size + 1)[:, None], np.log1p(-rate)
    shift = j / noise
    z = np.linspace(-reach, reach + size / noise, number + 1)
    wrong = 4000 * UNIT / (z[1] - z[0])  # of logs of masses
    log_b = gammaln(size + 1) - gammaln(j + 1) - gammaln(size - j + 1)
    log_b = log_b + j * np.log(rate) + np.where(j < size, (size - j) * miss, 0)
    log_m, edges = log_masses(z), log_b + shift * (z - shift / 2)
    t = log_b + np.array([log_masses(z - x) for x in shift[:, 0]]) - log_m
    t, edges = logsumexp(t, axis=0), logsumexp(edges, axis=0)
    a, b = edges[:-1], edges[1:]
    if up:  # a share r goes to the right end
        r = np.expm1(t - a + 3 * way * wrong) / np.expm1(b - a)
        r, t = np.clip(r, 0, 1), np.append(a, b)
        log_m = np.tile(log_m, 2) + np.log(np.append(1 - r, r) + 1e-300)
    x = np.logaddexp(t, size * miss)
    x += way * side * (4 * wrong * np.exp(t - x) + 40 * UNIT * np.abs(x))
    return way * x, log_m + side * 3 * wrong + x * (not add)


@np.errstate(all="ignore")
def both(size, noise_multiplier, rate, steps, epsilon, delta):
    check("size", size, 1, 64, "int")
    check("noise_multiplier", noise_multiplier, max(0.2, size / 12), 1000)
    check("rate", rate, 1e-8, 1)
    check("steps", steps, 1, 10**7, "int")
    make = partial(table, size, noise_multiplier, rate)
    found = (ends(make, steps, add, epsilon, delta) for add in (False, True))
    return tuple(map(max, zip(*found, strict=True)))


def epsilon(size, noise_multiplier, rate, steps, delta):
    """(lower, upper): the least epsilon at this delta lies between them."""
    check("delta", delta, 1e-50, 0.5)
    return both(size, noise_multiplier, rate, steps, None, delta)


def delta(size, noise_multiplier, rate, steps, epsilon):
    """(lower, upper): the least delta at this epsilon lies between them."""
    check("epsilon", epsilon, 0, 1000)
    return both(size, noise_multiplier, rate, steps, epsilon, None)


if __name__ == "__main__":
    import doctest

    print(doctest.testmod())
