"""Random pairs of every class, with their masses in ball arithmetic.

A pair states the relative error of its masses (`mass_error`) and how far
differences P - alpha Q may be off (`excess_error`), and whoever bounds
privacy counts these numbers. `compare` says how much of it is used.
"""

import math
from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

import numpy as np

import accountlib as al
from accountlib.worst_cases import integer_noise
from accountlib.worst_cases.dominating_pairs import UNIT
from tests.truth import balls as tb

Case = tuple[al.DominatingPair, tb.Balls, Any]  # and edges
INTERVALS = 3000


def spread(rng: Any, low: float, high: float) -> float:
    """A number between powers of 10, log-uniform."""
    return float(10 ** rng.uniform(low, high))


def narrow(places: Any, rng: Any, unit: float) -> Any:
    """The places, and partners beside them: up to 1e-9 units near."""
    beside = places + unit * 10 ** rng.uniform(-9, 0, len(places))
    return np.concatenate([places, beside])


def normal_losses(mu: float, rng: Any) -> Any:
    """Losses of unit Gaussians with these means, 38 deviations around."""
    z = narrow(rng.uniform(-38, 38, 8), rng, 1.0)
    return mu * z + mu * mu / 2 * rng.choice([-1, 1], len(z))


def laplace_losses(most: float, rng: Any) -> Any:
    """Losses of Laplace noise, many of them near an end or near 0."""
    unit = min(1.0, most)
    near = unit * 10 ** rng.uniform(-9, 1, 8)
    middle = rng.uniform(-20 * unit, 20 * unit, 4)
    places = np.concatenate([most - near, near - most, middle])
    return narrow(np.append(places, rng.uniform(-most, most, 4)), rng, unit)


def around(atoms: Any, rng: Any) -> Any:
    """Losses between atoms and beside them."""
    some = rng.choice(np.array(atoms), 8)
    gaps = 10 ** rng.uniform(-9, 1, 8) * rng.choice([-1, 1], 8)
    return narrow(np.append(some + gaps, some * 1.0001 + 1e-5), rng, 1.0)


def gaussian(rng: Any) -> Case:
    noise = spread(rng, -6, 6)
    mechanism = al.Gaussian(noise)
    if rng.random() < 0.5:
        return (
            mechanism.pair(),
            tb.gaussian_mixture([1 / F(noise)], [1]),
            normal_losses(1 / noise, rng),
        )
    return (
        mechanism.exchange_pair(),
        tb.gaussian_mixture([2 / F(noise)], [1]),
        normal_losses(2 / noise, rng),
    )


def laplace(rng: Any) -> Case:
    mechanism = al.Laplace(spread(rng, -5, 6))
    return (
        mechanism.pair(),
        tb.laplace(mechanism.scale),
        laplace_losses(1 / mechanism.scale, rng),
    )


def random_list(rng: Any, size: int) -> Any:
    weights = rng.exponential(size=size)
    if rng.random() < 0.5:
        weights *= 10 ** -rng.uniform(0, rng.choice([5, 290]), size)
    weights[int(rng.integers(size))] += 1
    if rng.random() < 0.3:
        weights[int(rng.integers(size))] = 0
    return weights / math.fsum(weights)


def discrete(rng: Any) -> Case:
    size = int(rng.choice([2, 3, 10, 300]))
    p, q = random_list(rng, size), random_list(rng, size)
    pair = al.DiscretePair(p, q)
    if not pair.atoms:
        return discrete(rng)
    return pair, tb.discrete(p, q), around(pair.atoms, rng)


def known_guarantee(rng: Any) -> Case:
    """Randomized response, PureDP, ApproximateDP and discrete Laplace."""
    kind, value = int(rng.integers(4)), spread(rng, -3, 2.5)
    mechanism: Any
    if kind == 0:
        truth = float(rng.choice([rng.random(), spread(rng, -100, 0)]))
        mechanism = al.RandomizedResponse(truth)
        p = [F(truth), 1 - F(truth)]
    elif kind < 3:
        delta = spread(rng, -300, 0) if kind == 2 else 0.0
        mechanism = al.ApproximateDP(value, delta)
        mechanism = mechanism if delta else al.PureDP(value)
        little = (-tb.ball(value)).exp()
        likely = (1 - tb.ball(delta)) / (1 + little)
        p = [tb.ball(delta), likely, likely * little, tb.ball(0)]
    else:
        shift = int(rng.integers(1, 20))
        mechanism = al.DiscreteLaplace(shift / value, shift)
        unit = 1 / tb.ball(mechanism.scale)
        middle = ((unit / 2).exp() - (-unit / 2).exp()) / (
            (unit / 2).exp() + (-unit / 2).exp()
        )
        p = [(-unit * j).exp() * middle for j in range(shift + 1)]
        p[0] = 1 / (1 + (-unit).exp())
        p[-1] = p[0] * (-unit * shift).exp()
    pair = mechanism.pair()
    if not pair.atoms:
        return known_guarantee(rng)
    return pair, tb.discrete(p, p[::-1]), around(pair.atoms, rng)


def integers(rng: Any) -> Case:
    sigma, shift = spread(rng, -2, 2), int(rng.integers(1, 30))
    pair = integer_noise.IntegerGaussianPair(sigma, shift)
    places = rng.uniform(-38 * sigma, 38 * sigma + shift, 12)
    losses = shift * (2 * narrow(places, rng, sigma) - shift)
    return pair, tb.integers(sigma, shift), losses / (2 * sigma**2)


BASES: dict[str, Callable[[Any], Case]] = {
    "gaussian": gaussian,
    "laplace": laplace,
    "discrete": discrete,
    "known guarantee": known_guarantee,
    "integers": integers,
}


def sampled(base: str, rng: Any) -> Case:
    """Sampled by a rate near 0 or 1, or anywhere, or by a fixed batch."""
    pair, balls, losses = BASES[base](rng)
    continuous = base in ("gaussian", "laplace")
    kind, exact = int(rng.integers(4)), None
    if kind == 0:  # where atoms are apart, in digits of 2**-43
        rate = spread(rng, -300 if continuous else -6, 0)
    elif kind == 1:
        rate = 1 - spread(rng, -15.6, -0.3)
    elif kind == 2:
        rate = float(rng.random())
    else:
        n = int(spread(rng, 0.4, 17 if continuous else 6))
        part = min(n - 1, int(spread(rng, 0, 3)))
        exact = F(part if rng.random() < 0.5 else n - part, n)
        rate = float(exact)
    one = al.SampledPair(pair, rate, exact=exact)
    return one, balls.sampled(exact or F(rate)), one._losses(losses)


FAMILIES = BASES | {
    f"sampled {name}": lambda rng, name=name: sampled(name, rng)
    for name in BASES
}


def usable(pair: al.DominatingPair, edges: Any) -> Any:
    """Increasing edges, none so near to an atom that rounding decides."""
    edges = np.unique(edges[np.isfinite(edges)])
    atoms = np.array(pair.atoms)
    if len(atoms) == 0 or len(edges) == 0:
        return edges
    gap = np.min(np.abs(edges[:, None] - atoms), axis=1)
    return edges[gap > 8 * UNIT * np.abs(edges) + 2.0**-43]


def compare(
    family: Callable[[Any], Case], count: int, seed: int
) -> tuple[float, Any]:
    """The worst error of so many intervals, as a part of what is stated."""
    rng, done = np.random.default_rng(seed), 0
    worst: tuple[float, Any] = (0.0, None)
    while done < count:
        pair, balls, edges = family(rng)
        if rng.random() < 0.5:
            pair, balls, edges = pair.reversed(), balls.reversed(), -edges
        edges = usable(pair, edges)
        if len(edges) == 0:
            continue
        closed: Any = "left" if rng.random() < 0.5 else "right"
        found = pair.interval_masses(edges, np.diff(edges), closed)
        exact = balls.masses(edges.tolist())
        for masses, best in zip(found, exact, strict=True):
            part = tb.worst(masses, best, pair.mass_error)
            if part > worst[0]:
                worst = part, (pair, edges)
            done += len(best)
        error = pair.excess_error(*found)
        sides = np.exp(np.clip(edges, -700, 700))
        for alpha in (np.append(1.0, sides), np.append(sides, 1.0)):
            part = tb.worst_excess(found, exact, error, alpha.tolist())
            if part > worst[0]:
                worst = part, (pair, edges)
    return worst
