# accountlib 0.1.0, from notebooks/first_accountant.md
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0
"""Both ends of epsilon and delta of the sampled Gaussian mechanism.

Each step takes every record with chance `rate` and adds normal noise, with
standard deviation `noise_multiplier` (over the clipping norm), to the sum of
what it took; all steps are published. For one record added or removed:

>>> low, high = epsilon(0.8, 0.001, 10_000, 1e-6)
>>> 0.946 < low < 0.9472 < high < 0.949
True

The truth lies between both: promise `high`. Cells, wrap-around, truncation
and rounding are counted. Not proven: that numpy and scipy round as page
"Is the interval a proof?" assumes, and that one record more or less is worst
where it moves the sum by the whole norm (Zhu, Dong and Wang 2022).
Needs numpy and scipy. The lower end falls to 0, and says nothing, where one
rare large loss decides or where epsilon is above about 1e5.
"""

import math
from functools import partial

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri, softmax

UNIT = 2.0**-53  # unit round-off
# Orders of Chernoff's bound, 1e-6 to 1e12
ORDERS = 1e-6 * 1.5 ** np.arange(0, 102, 0.25)
# Factors around the guess, 1/15 to 15, dense near 1
GRID = np.append(0, np.exp(np.sinh(np.linspace(-9, 9, 301)) / 1500))


def check(name, value, low, high, kind="int or float"):
    kinds = (int, np.int64) if kind == "int" else (int, np.int64, float)
    if not (isinstance(value, kinds) and low <= value <= high):
        text = f"{name} = {value!r} is no {kind} in [{low}, {high}]"
        raise ValueError(text)


def log_masses(z):
    """Logs of standard normal masses between z, from the smaller tails."""
    left, right = ndtr(z), ndtr(-z)
    return np.log(np.where(z[1:] > 0, right[:-1] - right[1:], np.diff(left)))


def table(noise, rate, number, rest, add, up):
    """One step as a list: losses, and logs of their masses."""
    side, way, mu, reach = 2 * up - 1, 1 - 2 * add, 1 / noise, -ndtri(rest)
    z = np.linspace(-reach, reach + mu, number + 1)
    wrong = 2000 * UNIT / (z[1] - z[0])  # of logs of masses
    log_m, edges = log_masses(z), mu * (z - mu / 2)
    t, a, b = log_masses(z - mu) - log_m, edges[:-1], edges[1:]
    if up:  # a share r goes to the right end
        r = np.expm1(t - a + 3 * way * wrong) / np.expm1(b - a)
        r, t = np.clip(r, 0, 1), np.append(a, b)
        log_m = np.tile(log_m, 2) + np.log(np.append(1 - r, r) + 1e-300)
    x = np.logaddexp(np.log(rate) + t, np.log1p(-rate))
    drawn = rate * np.exp(t - x)  # chance that the record was drawn
    x += way * side * (4 * wrong * drawn + 40 * UNIT * np.abs(x))
    return way * x, log_m + side * 3 * wrong + x * (not add)


def log_chernoff(x, log_m, steps, orders):
    """Logs of Chernoff's bounds of delta(0), one for each order."""
    moment = logsumexp(np.multiply.outer(orders, x) + log_m, axis=1)
    size = orders * np.abs(x).max() + np.abs(log_m).max() + len(x)
    peak = np.log1p(orders) + orders * np.log1p(1 / orders)
    return steps * (moment + 20 * UNIT * size) - peak


def choose(over, room):
    """Tilt, period, variance and last frequency."""
    need = np.fmax(over - math.log(0.01 * room), 1)
    periods = np.fmax(3 * need[:-8], 2 * need[8:]) / ORDERS[4:-4]
    t = np.argmin(np.log(periods) + np.fmax(over[4:-4] - 13, 0))
    period, best = periods[t], ORDERS[over.argmin()]
    far = 2 * (over[t + 4] + 14 - math.log(room))
    v = max(room / (1 + 4 * best * (best + 1)), far * (period / 2**14) ** 2)
    last = math.ceil(math.sqrt(far / v) * period / (2 * math.pi)) + 4
    return ORDERS[t + 4], period, v, last


def spectrum(x, log_m, steps, part, up, at):
    """Bounds of delta at an array of epsilons, from above or from below."""
    (tilt, period, v, last), side = part, 2 * up - 1
    if steps == 1:
        total = -np.expm1(-np.fmax(x - at[:, None], 0)) @ np.exp(log_m)
        return total * (1 + side * UNIT * (len(x) + 800))
    # Tilted masses, their transform, its power, and the error of that
    center = x @ softmax(tilt * x + log_m)
    power = tilt * (x - center)
    k = logsumexp(power + log_m)
    size = np.abs(power) + np.abs(log_m) + abs(k) + 8
    m = np.exp(power + log_m - k + side * 10 * UNIT * size)
    h, n = 2 * math.pi / period, math.isqrt(last) + 1
    y = np.multiply.outer(np.arange(n), h * (x - center))
    a, b = (-2 * np.sin(y / 2) ** 2 + 1j * np.sin(y) for y in (y, n * y))
    one = (b * m) @ a.T + a @ m + (b @ m)[:, None] + math.fsum(m)
    one, theta = one.ravel(), h * np.arange(n * n)
    off = 8 * UNIT * ((len(x) + 64) * theta * (m @ np.abs(x - center)) + 1)
    error = steps * off * (np.abs(one) + off) ** (steps - 1) + 1e-290
    value = np.exp(steps * np.log(one))
    # Weights, what they and the frequencies beyond can be wrong, the sum
    y = steps * center - at + side * 1e-15 * (steps * abs(center) + at)
    z = (tilt + 1j * theta) * (tilt + 1 + 1j * theta)
    kappa = 0 if up else v * np.exp(v / 8) * (1 + 32 * UNIT)
    smooth = (2 - (theta == 0)) / period * np.exp(v * z / 2)
    sizes = np.abs(smooth) * (1 / np.abs(z) + kappa)
    digits = n * n + 160 + 8 * (v * np.abs(z) + theta * np.abs(y).max())
    still = sizes @ (error + UNIT * digits * np.abs(value))
    still += 1.1 * sizes[-1] * abs(one[0]) ** steps / (v * theta[-1] * h)
    weights = smooth * (1 / z - kappa) * value
    total = (np.exp(1j * np.outer(y, theta)) @ weights).real + side * still
    size = np.abs(tilt * y) + steps * (abs(k) + 1) + 60
    found = np.exp(steps * k + tilt * y + side * 10 * UNIT * size) * total
    if up:
        top = log_chernoff(x, log_m, steps, np.array([tilt]))
        top = 1.01 * np.exp(top - tilt * at * (1 - 8 * UNIT))
        return np.fmin(np.where(total > 0, found, 1), top) + 1e-300
    beside = tilt * np.array([2 / 3, 3 / 2])
    away = np.abs(beside - tilt) * period * (1 - 8 * UNIT)
    wrap = log_chernoff(x, log_m, steps, beside) - beside * at[:, None] - away
    return np.where(total > 0, found - 2 * np.exp(wrap).sum(1), 0)


def ends(make, steps, add, epsilon, delta):
    """Both ends of what is None, in one direction."""
    guess, low = epsilon, 0
    for effort in 1, 2, 4:
        rest = 1e-5 * (delta or max(low, 1e-100)) / steps
        lists = [make(700 * effort, rest, add, up) for up in (False, True)]
        over = log_chernoff(*lists[1], steps, ORDERS)
        if guess is None:
            guess = max(min((over - math.log(delta)) / ORDERS), 1e-9)
        over -= ORDERS * guess
        over += 2 - min(over)
        room = 1e-3 * (ORDERS[over.argmin()] * guess if delta else 1)
        part = choose(over, np.clip(room, 1e-5, 0.5) / effort**3)
        at = guess * (GRID if delta else np.ones(1))
        lower = spectrum(*lists[0], steps, part, False, at)
        upper = spectrum(*lists[1], steps, part, True, at) + 2.1 * steps * rest
        if delta:
            low = at[lower > delta].max(initial=0)
            high = at[upper <= delta].min(initial=np.inf)
            guess = max(min(high, at[-1]), 1e-9)
        else:
            low, high = np.fmax(lower[0], 0), np.fmin(upper[0], 1)
    return float(low), float(high)


@np.errstate(all="ignore")
def both(noise_multiplier, rate, steps, epsilon, delta):
    """The larger of remove and add, both ends."""
    check("noise_multiplier", noise_multiplier, 0.2, 1000)
    check("rate", rate, 1e-8, 1)
    check("steps", steps, 1, 10**7, "int")
    make = partial(table, noise_multiplier, rate)
    found = (ends(make, steps, add, epsilon, delta) for add in (False, True))
    return tuple(map(max, zip(*found, strict=True)))


def epsilon(noise_multiplier, rate, steps, delta):
    """(lower, upper): the least epsilon at this delta lies between them.

    Range: noise_multiplier 0.2 to 1000, rate 1e-8 to 1, steps 1 to 1e7,
    delta 1e-50 to 0.5. Promise the upper end.
    """
    check("delta", delta, 1e-50, 0.5)
    return both(noise_multiplier, rate, steps, None, delta)


def delta(noise_multiplier, rate, steps, epsilon):
    """(lower, upper): delta at this epsilon, 0 to 1000, lies between them.

    >>> low, high = delta(1.0, 1.0, 1, 1.0)
    >>> low < 0.126936737507 < high < 0.12694
    True
    """
    check("epsilon", epsilon, 0, 1000)
    return both(noise_multiplier, rate, steps, epsilon, None)


def calibrate_noise(rate, steps, target_epsilon, delta):
    """Noise multiplier whose upper end meets a target; 0.1 % less may not.

    At least 0.2; infinite if 1000 is not enough.
    """
    check("target_epsilon", target_epsilon, 0, 1000)
    low, high, noise = 0.2, math.inf, 1000.0
    while 1.001 * low < high and low < 1000:
        enough = epsilon(noise, rate, steps, delta)[1] <= target_epsilon
        low, high = (low, noise) if enough else (noise, high)
        noise = math.sqrt(low * high)
    return high


if __name__ == "__main__":
    import doctest

    print(doctest.testmod())
