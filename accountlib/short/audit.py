# accountlib 0.1.0, from notebooks/beyond/short_files.md
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0
"""p-value and lower end of epsilon from one training run with canaries.

Each of m canaries was in or out of the data by a fair coin of its own. Someone
guessed for r of them, chosen before the coins were looked at, and v guesses
were correct. `p_value` is the largest chance of so many correct guesses in a
run that is (eps, delta)-DP for adding or removing a record; `epsilon_at_least`
is a lower end of epsilon, too high with chance `significance` at most. Give
the delta of the claim: there is no default, and 0 is a much stronger claim.

>>> round(p_value(1000, 100, 90, eps=1.5, delta=1e-5), 4)
0.0175
>>> epsilon_at_least(1000, 100, 90, delta=1e-5)
1.63

Steinke, Nasr and Jagielski (2023), with a smaller correction for delta, proven
on page "What does one run with many canaries show?" of accountlib's book. A
statistical statement. Not proven: that scipy's betainc is good to 1e-10.
"""

import numpy as np
from scipy.special import betainc, betaincc, betaln, expit, log_expit


def check(name, value, low, high, kind="int or float"):
    kinds = (int, np.int64) if kind == "int" else (int, np.int64, float)
    if not (isinstance(value, kinds) and low <= value <= high):
        text = f"{name} = {value!r} is no {kind} in [{low}, {high}]"
        raise ValueError(text)


@np.errstate(all="ignore")
def p_values(m, r, v, eps, delta):
    """p-values, from above, for an array of eps."""
    check("m", m, 1, 10**12, "int")
    check("r", r, 1, min(m, 10**6), "int")
    check("v", v, 0, r, "int")
    check("delta", delta, 0, 1)
    if v == 0:
        return np.ones_like(eps)
    tail, rest = (f(v, r - v + 1, expit(eps)) for f in (betainc, betaincc))
    log_edge = v * log_expit(eps) + (r - v) * log_expit(-eps)
    log_edge = log_edge - betaln(v, r - v + 1)
    more = np.exp(np.log(m * delta) + np.log(tail) + np.log(rest) - log_edge)
    found = (tail + more * (delta > 0)) * (1 + 1e-9)
    known = (tail > 1e-290) & (found < 1)  # nan: nothing known
    return np.where(known, found, 1.0)


def p_value(m, r, v, *, eps, delta):
    """Largest chance of v or more correct guesses under (eps, delta)-DP.

    From above; never below 1e-290. Under (x, delta)-DP, x >= eps, the chance
    is no smaller, so its bounds hold too, and the least of them is returned.
    """
    check("eps", eps, 0, 1000)
    eps = eps + np.append(0, np.geomspace(0.01, 40, 60))
    return float(min(p_values(m, r, v, eps, delta)))


def epsilon_at_least(m, r, v, *, delta, significance=0.05):
    """Lower end of epsilon: the largest rejected multiple of 0.001, to 40."""
    check("significance", significance, 1e-15, 0.9999)
    grid = np.arange(40001) / 1000
    rejected = p_values(m, r, v, grid, delta) < significance
    return float(grid[rejected].max(initial=0))


if __name__ == "__main__":
    import doctest

    print(doctest.testmod())
