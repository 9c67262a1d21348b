# accountlib 0.1.0, from notebooks/beyond/short_files.md
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0
"""The mu of Gaussian DP of a training run. Needs accountant.py beside it.

Each step takes every record with chance `rate` and adds normal noise with
standard deviation `noise_multiplier` (over the clipping norm). For one record
added or removed: `mu` is an upper bound, in trials too large by less than
0.5 % below 9 and below -2 ndtri(cutoff). Above these it loses more and soon is
inf: at about 12, or at 6.5 for a cutoff of 1e-3. Below `cutoff` it promises
nothing: an attacker with an error rate below it may do better than the curve
of mu says. Inside a package write `from . import accountant` below.

>>> round(mu(9.4, 0.32768, 2000), 2)
1.57

Gomez et al. (2025), Section 4. The central limit theorem of Bu et al. (2020)
gives a smaller number, which is no bound. Not proven: what accountant.py
lists, and that ndtri is good to 1e-13. Needs numpy and scipy, too.
"""

import numpy as np
from scipy.special import ndtri

try:
    import accountant
except ImportError:
    from accountlib.short import accountant


@np.errstate(all="ignore")
def upper_deltas(noise_multiplier, rate, steps, epsilons, rest):
    """Upper bounds of delta, the larger of remove and add."""
    found = np.zeros(len(epsilons))
    orders = accountant.ORDERS
    for add in (False, True):
        one = accountant.table(noise_multiplier, rate, 2500, rest, add, True)
        peak = accountant.log_chernoff(*one, steps, orders)
        for i, epsilon in enumerate(epsilons):
            over = peak - orders * epsilon
            part = accountant.choose(over + 2 - min(over), 1e-4)
            at = np.array([epsilon])
            delta = accountant.spectrum(*one, steps, part, True, at)[0]
            delta = np.fmin(delta + 2.1 * steps * rest, 1)  # 1 for a nan
            found[i] = max(found[i], delta)
    return found


@np.errstate(all="ignore")
def mu(noise_multiplier, rate, steps, cutoff=1e-10):
    """Least mu whose curve lies below that of the run, from above."""
    accountant.check("cutoff", cutoff, 1e-20, 0.1)
    run = noise_multiplier, rate, steps
    top = accountant.epsilon(*run, cutoff / 1e4)[1]
    if top == np.inf:
        return np.inf
    epsilons = top * np.linspace(0, 1, 80) ** 1.5
    d = upper_deltas(*run, epsilons, 1e-6 * cutoff / steps)
    # Each pair is a line under the trade-off curve: 1 - y = d + e^epsilon x.
    a = np.exp(epsilons)
    i, j = np.triu_indices(len(d), 1)
    x = np.append((d[i] - d[j]) / (a[j] - a[i]), cutoff)
    middle = np.max((1 - d) / (1 + a))  # where y = x
    x = np.append(x[(x >= cutoff) & (x <= middle)], max(middle, cutoff))
    missed = np.min(d[:, None] + a[:, None] * x, axis=0) * (1 + 1e-14)
    return float(np.max(ndtri(np.fmin(missed, 1)) - ndtri(x)) * (1 + 1e-12))


if __name__ == "__main__":
    import doctest

    print(doctest.testmod())
