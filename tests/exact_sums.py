"""Sums of a few losses in ball arithmetic: the truth for a Fourier sum.

A table is taken at its word: its floats are the losses and the logarithms of
the masses, exactly, whatever they sum to. Nothing here knows of transforms.
"""

import math
from dataclasses import replace
from itertools import combinations, pairwise, product

import numpy as np
from flint import arb

from accountlib.cells import Table
from accountlib.fourier import Part
from accountlib.rounding import log_moment

PRECISION = 320  # bits


def sums(table, kept):
    """(loss, mass) of all sums of `count` losses among those kept."""
    losses = [arb(float(x)) for x in table.loss[kept]]
    masses = [arb(float(x)).exp() for x in table.log_mass[kept]]
    if not losses:
        return []
    found, last = [], table.count + len(losses) - 1
    for bars in combinations(range(last), len(losses) - 1):
        ways = [b - a - 1 for a, b in pairwise([-1, *bars, last])]
        number = math.factorial(table.count)
        mass = arb(number // math.prod(map(math.factorial, ways)))
        for m, n in zip(masses, ways, strict=True):
            mass *= m**n
        loss = sum((x * n for x, n in zip(losses, ways, strict=True)), arb(0))
        found.append((loss, mass))
    return found


def outcomes(tables, part):
    """(loss, mass) of all totals of a part; masses of far sums by
    subtracting those of near losses only."""
    every = [
        sums(t, part.near(t.loss) | (part.which == "far")) for t in tables
    ]
    if part.which == "far":
        near = [sums(t, part.near(t.loss)) for t in tables]
        return joined(every, 1) + joined(near, -1)
    return joined(every, 1)


def joined(each, sign):
    total = []
    for row in product(*each):
        mass = math.prod((m for _, m in row), start=arb(sign))
        total.append((sum((x for x, _ in row), arb(0)), mass))
    return total


def delta(totals, epsilon):
    """The integral of (1 - e^(epsilon - s))_+, a ball."""
    e, value = arb(float(epsilon)), arb(0)
    for loss, mass in totals:
        if not loss < e:
            value += mass * (1 - (e - loss).exp()).max(arb(0))
    return value


def violates(lower, upper, truth):
    """Whether an interval surely misses a ball. Upper ends stop at 1."""
    over = upper < 1 and bool(arb(float(upper)) < truth.lower())
    return over or bool(arb(float(lower)) > truth.upper())


# --- random tables and parts -------------------------------------------------


def random_tables(rng, most=1500):
    """One to three kinds of steps with one to four losses each."""
    while True:
        tables, size = [], 1
        for _ in range(rng.integers(1, 4)):
            atoms = int(rng.integers(1, 5))
            count = int(rng.choice([1, 1, 2, 3, 5, 8, 20, 40]))
            scale = 10.0 ** rng.uniform(-2.5, 1.5)
            loss = np.sort(rng.normal(size=atoms)) * scale
            if rng.random() < 0.3:  # a rare large loss
                loss[-1] = abs(loss[-1]) + scale * 10 ** rng.uniform(0, 1.5)
            log_m = np.log(rng.dirichlet(np.full(atoms, 0.5)) + 1e-300)
            log_m -= rng.exponential(8, atoms) * (rng.random(atoms) < 0.3)
            log_m += math.log(rng.uniform(0.6, 1.3)) * (rng.random() < 0.3)
            tables.append(Table(loss, log_m, 0.0, count))
            size *= math.comb(count + atoms - 1, atoms - 1)
        if size <= most:
            return tables


def good_part(rng, tables, which="all", split=0.0):
    """A part as an accountant would choose it, and a place to ask at."""
    blank = Part(which, split, 1.0, 1.0, 1.0, 1, 0.5, 2.0)
    square = [t.count * (np.exp(t.log_mass) @ t.loss**2) for t in tables]
    tilt = float(10 ** rng.uniform(-0.7, 0.7)) / math.sqrt(sum(square))
    logs = [log_moment(tables, blank, tilt * x) for x in (0.9, 1, 1.1)]
    logs = np.nan_to_num(logs, posinf=0, neginf=0)  # of no sums at all
    mean = (logs[2] - logs[0]) / (0.2 * tilt)
    spread = math.sqrt(max(np.diff(logs, 2)[0], 0)) / (0.1 * tilt)
    epsilon = mean + spread * float(rng.normal()) + 0.1 / tilt
    period = 12 * spread + float(rng.uniform(30, 90)) / tilt
    v = 10 ** rng.uniform(-3.5, -1.5) / (tilt * (tilt + 1))
    last = min(math.ceil(9 / math.sqrt(v) * period / (2 * math.pi)), 4000)
    ends = tilt * rng.uniform(0.3, 0.6), tilt * rng.uniform(1.5, 3)
    return Part(which, split, tilt, period, v, last, *ends), epsilon


def random_part(rng, tables):
    """Anything: good, perturbed or senseless."""
    which = str(rng.choice(["all", "near", "far"]))
    everything = np.concatenate([t.loss for t in tables])
    low, high = everything.min(), everything.max()
    split = float(rng.uniform(low - 0.1, high + 0.1))
    if rng.random() < 0.2:
        split = float(rng.choice(everything))
    part, epsilon = good_part(rng, tables, which, split)
    wild = rng.choice([0, 1, 4])
    if not wild:
        return part, epsilon

    def moved(value):
        return float(value * math.exp(wild * rng.normal() * rng.integers(2)))

    tilt = moved(part.tilt)
    part = replace(
        part,
        tilt=tilt,
        period=moved(part.period),
        variance=moved(part.variance),
        last=min(max(round(moved(part.last)), 1), 4000),
        below=tilt * rng.uniform(0.01, 0.99),
        above=tilt * (1 + moved(1.0)),
    )
    if rng.random() < 0.5:
        epsilon = float(rng.normal(epsilon, 3 / tilt))
    return part, epsilon
