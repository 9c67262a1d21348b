"""The cases of violations.py: random runs, as users and adversaries choose."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests import truth
from tests.truth.laws import Part

DIRECTIONS = ("remove", "add", "add-or-remove")


@dataclass(frozen=True)
class Case:
    """A run and what is asked about it."""

    family: str
    parts: tuple[Part, ...]
    adjacency: str
    group: int = 1
    index: int = 0


class Draw:
    """Random numbers as users and adversaries choose them."""

    def __init__(self, seed: int, index: int) -> None:
        self.random = np.random.default_rng([seed, index])

    def chance(self, p: float) -> bool:
        return bool(self.random.random() < p)

    def uniform(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def spread(self, low: float, high: float) -> float:
        """Log-uniform."""
        return math.exp(self.uniform(math.log(low), math.log(high)))

    def pick(self, *choices: Any) -> Any:
        return choices[int(self.random.integers(len(choices)))]

    def whole(self, low: int, high: int) -> int:
        """Log-uniform, both ends among them."""
        return min(high, int(self.spread(low, high + 1)))

    def noise(self) -> float:
        if self.chance(0.6):
            return self.spread(0.3, 30)
        return self.spread(0.03, 1000)

    def rate(self) -> float:
        return float(
            self.pick(
                *([self.spread(1e-6, 1)] * 4),
                *([1 - self.spread(1e-12, 0.5)] * 2),
                self.spread(1e-12, 1e-3),
                self.pick(0.5, 0.1, 0.01, 0.001, 0.9, 1 - 2.0**-53, 5e-309),
            )
        )

    def runs(self) -> int:
        return int(
            self.pick(
                *([1] * 2),
                *([self.whole(2, 10)] * 2),
                self.whole(10, 10_000),
                self.whole(10_000, 1_000_000),
            )
        )

    def batch(self, group: int = 1) -> tuple[Any, ...]:
        """A fixed batch, of 1 to all but the group."""
        records = self.pick(
            self.whole(2 + group, 100),
            self.whole(100, 100_000),
            self.whole(10**5, 10**9),
            self.whole(10**9, 10**16),
        )
        records = 10**400 if self.chance(0.01) else records
        most = records - group
        size = self.pick(
            1,
            most,
            max(1, most - self.whole(1, 9)),
            self.whole(1, min(most, 10**16)),
        )
        return "fixed", int(size), int(records)

    def sampler(self, group: int = 1) -> tuple[Any, ...]:
        return self.pick(
            ("full",), ("poisson", self.rate()), self.batch(group)
        )

    def adjacency(self) -> str:
        return str(self.pick(*DIRECTIONS, "substitute"))

    def group(self) -> int:
        return int(self.pick(1, 1, 1, 2, 3, self.whole(2, 30)))

    def chance_of_failure(self) -> float:
        """A delta."""
        return float(
            self.pick(
                *([self.spread(1e-12, 1e-3)] * 4),
                self.spread(1e-50, 1e-3),
                self.spread(1e-250, 1e-12),
                self.spread(1e-3, 0.9),
                self.pick(1 - self.spread(1e-12, 0.5), 0.0, 0.5, 0.19),
            )
        )


def one_gaussian(d: Draw) -> Case:
    group = d.group()
    part = Part("gaussian", (d.noise(),), d.sampler(group))
    return Case("gaussian, one run", (part,), d.adjacency(), group)


def one_laplace(d: Draw) -> Case:
    sampler = d.sampler()
    group = d.group() if sampler == ("full",) else 1
    part = Part("laplace", (d.noise(),), sampler)
    return Case("laplace, one run", (part,), d.adjacency(), group)


def one_mixture(d: Draw) -> Case:
    part = mixture(d, d.pick(("full",), ("poisson", d.rate())))
    return Case("mixture, one run", (part,), d.pick(*DIRECTIONS))


def mixture(d: Draw, sampler: tuple[Any, ...], runs: int = 1) -> Part:
    size = int(d.pick(1, 2, 3, 5))
    weights = truth.dyadic_distribution(d.random, size, bits=d.pick(2, 10))
    shifts = [d.pick(0.0, 1.0, 2.0, d.spread(1e-3, 10)) for _ in weights]
    return Part("mixture", (shifts, weights, d.noise()), sampler, runs)


def one_integer(d: Draw) -> Case:
    part = integer(d, d.sampler(), 1)
    group, adjacency = 1, d.adjacency()
    if part.sampler == ("full",):
        noise, shift = part.numbers
        group = min(int(19.9 * noise / shift), d.pick(1, 2, 5, 15))
        if group > 9.9 * noise / shift:
            adjacency = d.pick(*DIRECTIONS)
    return Case("integer noise, one run", (part,), adjacency, group)


def integer(d: Draw, sampler: tuple[Any, ...], runs: int) -> Part:
    kind = d.pick("integer gaussian", "integer laplace")
    shift = d.pick(1, 1, 2, d.whole(1, 20))
    noise = max(d.spread(0.3, 50), shift / 9)
    return Part(kind, (noise, shift), sampler, runs)


def bits(d: Draw, sampler: tuple[Any, ...], runs: int) -> Part:
    """Mechanisms with two finite losses."""
    kind = d.pick("response", "pure", "approximate")
    if kind == "response":
        lie = d.pick(d.spread(1e-15, 0.5), d.uniform(0, 1), 0.25, 0.1)
        return Part(kind, (1 - lie,), sampler, runs)
    loss = d.pick(d.spread(1e-3, 5), d.spread(1e-12, 40), 1.0, 0.1)
    if kind == "pure":
        return Part(kind, (loss,), sampler, runs)
    lost = d.pick(d.spread(1e-12, 1e-3), d.spread(1e-100, 0.5), 2.0**-20, 0.1)
    loss = d.pick(loss, loss, 0.0)
    if d.chance(0.2):
        return Part(kind, (0.0, 0.1), ("full",), 2)
    return Part(kind, (loss, lost), sampler, runs)


def some_bits(d: Draw) -> Case:
    sampler = d.sampler()
    part = bits(d, sampler, d.runs())
    group = d.group() if part.sampler == ("full",) else 1
    return Case("two losses, many runs", (part,), d.adjacency(), group)


def table(d: Draw, sampler: tuple[Any, ...], runs: int, size: int) -> Part:
    fine = d.pick(3, 8, 20)
    p, q = (truth.dyadic_distribution(d.random, size, bits=fine) for _ in "pq")
    return Part("table", (tuple(p), tuple(q)), sampler, runs)


def some_tables(d: Draw) -> Case:
    parts = []
    for _ in range(d.pick(1, 1, 2, 3)):
        size = int(d.pick(2, 3, 4))
        most = {2: 20, 3: 10, 4: 5}[size]
        sampler = d.pick(("full",), ("poisson", d.rate()))
        parts.append(table(d, sampler, d.whole(1, most), size))
    return Case("tables, lists", tuple(parts), d.pick(*DIRECTIONS))


def many_gaussians(d: Draw) -> Case:
    """Without sampling."""
    group = d.group()
    parts = [
        Part("gaussian", (d.noise(),), ("full",), d.runs())
        for _ in range(d.pick(1, 1, 2, 5, 30))
    ]
    name = "gaussians without sampling, lists"
    return Case(name, tuple(parts), d.adjacency(), group)


def busy(d: Draw, group: int = 1, fixed: bool = True) -> tuple[Any, int]:
    """A sampler and a count: somebody is often in a batch."""
    rate = d.pick(d.spread(1e-5, 1), d.spread(1e-3, 0.9))
    runs = max(d.whole(10, 1_000_000), math.ceil(2 / rate))
    if fixed and d.chance(0.4):
        records = max(d.whole(100, 10**7), 2 * group)
        size = min(max(1, round(rate * records)), records - group)
        runs = max(runs, 2 * records // size)
        return ("fixed", size, records), runs
    return ("poisson", rate), runs


def sampled_gaussians(d: Draw) -> Case:
    group = d.pick(1, 1, 1, 2, 5)
    adjacency = d.adjacency()
    fixed = adjacency != "substitute" or group == 1
    sampler, runs = busy(d, group, fixed)
    part = Part("gaussian", (d.noise(),), sampler, runs)
    name = "sampled gaussian, many runs"
    return Case(name, (part,), adjacency, group)


def few_runs(d: Draw) -> Case:
    """Two runs, one of them Gaussian noise, and rare ones among them."""
    if d.chance(0.5):
        sampler = d.pick(("poisson", d.rate()), d.batch())
        part = Part("gaussian", (d.spread(0.1, 30),), sampler, 2)
        parts: tuple[Part, ...] = (part,)
    else:
        sampler = d.pick(("poisson", d.rate()), d.batch())
        part = Part("gaussian", (d.spread(0.1, 30),), sampler)
        make = d.pick(one_gaussian, one_laplace, one_mixture)
        parts = (part, make(d).parts[0])
        if any(p.sampler == ("fixed", 1, 2) for p in parts):
            parts = parts[:1]
    return Case("two runs", parts, d.pick(*DIRECTIONS))


def sampled_laplace(d: Draw) -> Case:
    sampler, runs = busy(d)
    part = Part("laplace", (d.spread(0.3, 50),), sampler, max(runs, 100))
    return Case("sampled laplace, many runs", (part,), d.adjacency())


def many_laplace(d: Draw) -> Case:
    group = d.group()
    part = Part("laplace", (d.noise(),), ("full",), d.whole(2, 40))
    name = "laplace without sampling, many runs"
    return Case(name, (part,), d.adjacency(), group)


def many_mixtures(d: Draw) -> Case:
    part = mixture(d, *busy(d, fixed=False))
    return Case("mixture, many runs", (part,), d.pick(*DIRECTIONS))


def many_integers(d: Draw) -> Case:
    if d.chance(0.5):
        part = integer(d, ("full",), d.whole(2, 20))
    else:
        part = integer(d, *busy(d))
    return Case("integer noise, many runs", (part,), d.adjacency())


def mixed(d: Draw) -> Case:
    """Lists of all kinds."""
    if d.chance(0.5):  # tables and plain Gaussians, or one run of anything
        parts = [bits(d, ("full",), d.whole(1, 20))]
        if d.chance(0.5):
            parts.append(table(d, ("full",), d.whole(1, 4), 3))
        if d.chance(0.5):
            parts += many_gaussians(d).parts
        else:
            maker = d.pick(one_gaussian, one_laplace, one_mixture)
            parts += maker(d).parts
    else:
        makers = d.random.choice(
            [sampled_gaussians, sampled_laplace, many_mixtures], 2
        )
        parts = [part for make in makers for part in make(d).parts]
        parts += many_gaussians(d).parts[: d.pick(0, 1)]
    # n - b is at least 1 in every part: one record
    return Case("lists that mix releases", tuple(parts), d.pick(*DIRECTIONS))


# how many of 40 cases
FAMILIES: dict[Callable[[Draw], Case], int] = {
    one_gaussian: 5,
    one_laplace: 3,
    one_mixture: 2,
    one_integer: 3,
    some_bits: 5,
    some_tables: 2,
    many_gaussians: 2,
    sampled_gaussians: 6,
    few_runs: 1,
    sampled_laplace: 2,
    many_laplace: 1,
    many_mixtures: 2,
    many_integers: 3,
    mixed: 3,
}
TURNS = [make for make, times in FAMILIES.items() for _ in range(times)]


def draw_case(seed: int, index: int) -> Case:
    d = Draw(seed, index)
    case = TURNS[7 * index % len(TURNS)](d)  # families in turn
    return Case(case.family, case.parts, case.adjacency, case.group, index)
