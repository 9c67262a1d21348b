"""Sums of a few losses in ball arithmetic: the truth for a Fourier sum.

A table is taken at its word: its floats are the losses and the logarithms of
the masses, exactly, whatever they sum to. Nothing here knows of transforms.
"""

import math
from itertools import product

import numpy as np
from flint import arb

from accountlib.cells import Table
from accountlib.fourier import Part

PRECISION = 320  # bits


def compositions(count, parts):
    """All ways to write a count as a sum of so many numbers."""
    if parts == 1:
        yield (count,)
        return
    for first in range(count + 1):
        for rest in compositions(count - first, parts - 1):
            yield first, *rest


def sums(table, kept):
    """(loss, mass) of all sums of `count` losses among those kept."""
    losses = [arb(float(x)) for x in table.loss[kept]]
    masses = [arb(float(x)).exp() for x in table.log_mass[kept]]
    if not losses:
        return []
    found = []
    for ways in compositions(table.count, len(losses)):
        number, left = 1, table.count
        for n in ways:
            number, left = number * math.comb(left, n), left - n
        mass = arb(number)
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


def tilted_moments(tables, part, tilt):
    """log of the moment, mean and spread of the tilted total, roughly."""
    log_moment = mean = variance = 0.0
    for t in tables:
        used = part.near(t.loss) | (part.which == "far")
        power = tilt * t.loss[used] + t.log_mass[used]
        m = np.exp(power - power.max())
        log_moment += t.count * (power.max() + math.log(m.sum()))
        m /= m.sum()
        center = m @ t.loss[used]
        mean += t.count * center
        variance += t.count * (m @ (t.loss[used] - center) ** 2)
    return log_moment, mean, math.sqrt(variance)


def good_part(rng, tables, which, split):
    """A part as an accountant would choose it, and a place to ask at."""
    blank = Part(which, split, 1.0, 1.0, 1.0, 1, 0.5, 2.0)
    size = max(float(np.abs(t.loss).max()) for t in tables) + 1e-9
    size = tilted_moments(tables, blank, 0.0)[2] or size
    tilt = float(10 ** rng.uniform(-0.7, 0.7)) / size
    _, mean, spread = tilted_moments(tables, blank, tilt)
    epsilon = mean + spread * float(rng.normal()) + 0.1 / tilt
    period = 12 * spread + float(rng.uniform(30, 90)) / tilt
    v = 10 ** rng.uniform(-3.5, -1.5) / (tilt * (tilt + 1))
    last = math.ceil(9 / math.sqrt(v) * period / (2 * math.pi))
    gaps = rng.uniform(0.3, 0.6), rng.uniform(1.5, 3)
    part = Part(
        which,
        split,
        tilt,
        period,
        v,
        min(last, 4000),
        tilt * gaps[0],
        tilt * gaps[1],
    )
    return part, epsilon


def random_part(rng, tables):
    """Anything: good, perturbed or senseless."""
    which = str(rng.choice(["all", "near", "far"]))
    everything = np.concatenate([t.loss for t in tables])
    low, high = everything.min(), everything.max()
    split = float(rng.uniform(low - 0.1, high + 0.1))
    if rng.random() < 0.2:
        split = float(rng.choice(everything))
    part, epsilon = good_part(rng, tables, which, split)
    kind = rng.integers(3)
    if kind == 0:
        return part, epsilon
    wild = 1 if kind == 1 else 4

    def moved(value):
        return float(value * math.exp(wild * rng.normal() * rng.integers(2)))

    tilt = moved(part.tilt)
    last = min(max(round(moved(part.last)), 1), 4000)
    part = Part(
        which,
        split,
        tilt,
        moved(part.period),
        moved(part.variance),
        last,
        tilt * rng.uniform(0.01, 0.99),
        tilt * (1 + moved(1.0)),
    )
    if rng.random() < 0.5:
        epsilon = float(rng.normal(epsilon, 3 / tilt))
    return part, epsilon


def two_losses(table, epsilon):
    """delta of many steps with two losses: tails of binomial distributions."""
    low, high = (arb(float(x)) for x in table.loss)
    a, b = (arb(float(x)).exp() for x in table.log_mass)
    need = (arb(float(epsilon)) - low * table.count) / (high - low)
    first = min(max(math.floor(float(need)) + 1, 0), table.count + 1)
    if first > table.count:
        return arb(0)
    tails = []
    for x, y in ((a, b), (a * (-low).exp(), b * (-high).exp())):
        tail = arb(1)
        if first > 0:
            share, more = y / (x + y), arb(table.count - first + 1)
            tail = share.beta_lower(arb(first), more, regularized=1)
        tails.append((x + y) ** table.count * tail)
    return tails[0] - arb(float(epsilon)).exp() * tails[1]
