# accountlib 0.1.0, from notebooks/beyond/short_files.md
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0
"""Renyi DP of the sampled Gaussian mechanism, and the epsilon it promises.

Each step takes every record with chance `q` and adds normal noise of standard
deviation `noise_multiplier` (over the clipping norm). For one record added or
removed. All numbers are upper bounds with rounding counted: whole orders up to
10,000 are exact to 1e-10, real ones between 1 and 5 to 3e-3 where one step is
above 1e-12; inf where a float overflows (noise 0.2, orders above 4.4). The
epsilon is what Renyi DP can promise; accountant.py has the least one, which is
smaller. The rate comes first here, as in the file that it replaces; the noise
comes first in accountant.py.

>>> [round(float(x), 4) for x in compute_rdp(0.01, 1.1, 1000, [1.5, 2, 8, 32])]
[0.0955, 0.1285, 0.5841, 8469.4164]
>>> print(f"{epsilon(0.01, 1.1, 1000, 1e-5):.3f}")
1.725

Mironov, Talwar and Zhang (2019), Theorems 4, 5; Canonne, Kamath and Steinke
(2020), Proposition 12. Not proven: that gammaln, ndtr, exp and log of numpy
and scipy are as good as the constants assume. Needs numpy and scipy.
"""

import math

import numpy as np
from scipy.special import gammaln, logsumexp, ndtr, xlog1py

UNIT = 2.0**-53  # unit round-off
ORDERS = sorted(
    {1 + 0.01 * 1.1**k for k in range(62)}
    | {round(2 * 1.04**k) for k in range(215)}
)


def check(name, value, low, high, kind="int or float"):
    kinds = (int, np.int64) if kind == "int" else (int, np.int64, float)
    if not (isinstance(value, kinds) and low <= value <= high):
        text = f"{name} = {value!r} is no {kind} in [{low}, {high}]"
        raise ValueError(text)


def whole(q, s, a):
    """log E_Q (P/Q)^a for a whole number a: log(1 + a binomial sum)."""
    k = np.arange(2.0, a + 1)
    rise = k * (k - 1) / (2 * s * s)
    miss = np.fmax(xlog1py(a - k, -q), -1e5)
    choose = 0 * k + gammaln(a + 1), -gammaln(k + 1), -gammaln(a - k + 1)
    parts = *choose, k * np.log(q), miss, rise
    size = sum(map(np.abs, parts)) + 2 * a + 30
    terms = sum(parts) + np.log(-np.expm1(-rise)) + 32 * UNIT * size
    return float(np.logaddexp(0, logsumexp(terms)) * (1 + 8 * UNIT))


def masses(z):
    """Standard normal masses between z, from the smaller tails."""
    return np.where(z[1:] > 0, -np.diff(ndtr(-z)), np.diff(ndtr(z)))


def real(q, s, a):
    """The same for a real a from 1 to 5: cells, split between their ends."""
    z = np.linspace(-12, a / s + 12, 4001)
    wrong = 2000 * UNIT / (z[1] - z[0])  # relative, of masses
    m, t = masses(z), (z - 0.5 / s) / s
    width = np.expm1(np.diff(t))
    r = (masses(z - 1 / s) / m * np.exp(-t[:-1]) - 1) / width
    x = np.logaddexp(np.log(q) + t, np.log1p(-q))
    f = np.expm1(a * x) - a * np.expm1(x)  # convex in e^x
    off = 1000 * UNIT * q * np.exp(t - x) + 40 * UNIT * np.abs(x)
    f += a * np.abs(np.exp(a * x) - np.exp(x)) * off
    f += 8 * UNIT * (np.abs(np.expm1(a * x)) + a * np.abs(np.expm1(x)))
    low, high = f[:-1], f[1:]
    r, lost = np.clip(r, 0, 1), np.fmin(4 * wrong / width, 1)
    total = m @ (low + r * (high - low) + lost * np.abs(high - low))
    tails = (a + 2) * 4e-33 + q * 2e-33 * np.exp(a * (a - 1) / (2 * s * s))
    return float(np.log1p(total * (1 + 4 * wrong) + tails) * (1 + 8 * UNIT))


def is_order(a):
    if not isinstance(a, int | np.int64 | float):
        return False
    return 1.000001 <= a <= 5 or 2 <= a <= 10**4 and a == round(a)


@np.errstate(all="ignore")
def compute_rdp(q, noise_multiplier, steps, orders):
    """Renyi DP of all steps at each of the orders, from above."""
    check("q", q, 1e-8, 1)
    check("noise_multiplier", noise_multiplier, 0.2, 1000)
    check("steps", steps, 1, 10**7, "int")
    if np.ndim(orders) != 1 or not all(map(is_order, orders)):
        text = f"orders = {orders!r} is no list of numbers that are each "
        text += "whole from 2 to 10000 or real from 1.000001 to 5"
        raise ValueError(text)
    found = []
    for a in orders:
        one = whole if a == round(a) else real
        found.append(steps * one(q, noise_multiplier, a) / (a - 1))
    found = np.array(found) * (1 + 8 * UNIT)
    return np.where(found >= 0, found, np.inf)


def epsilon(q, noise_multiplier, steps, delta):
    """The epsilon that Renyi DP promises at this delta, an upper bound."""
    check("delta", delta, 1e-100, 0.5)
    a = np.array(ORDERS)
    weight = (a - 1) * np.log1p(-1 / a) - np.log(a) - math.log(delta)
    rdp = compute_rdp(q, noise_multiplier, steps, ORDERS)
    gain = weight + 64 * UNIT * (np.abs(weight) + 16)
    return float(max(0.0, np.min(rdp + gain / (a - 1)) * (1 + 8 * UNIT)))


if __name__ == "__main__":
    import doctest

    print(doctest.testmod())
