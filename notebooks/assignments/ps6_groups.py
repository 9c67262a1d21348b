"""Assignment 6, on the pages `mixtures` and `groups`."""

import math
from pathlib import Path
from random import Random
from typing import Any

import accountlib as al
from course.tasks import (
    Assignment,
    Check,
    Task,
    asks,
    claims,
    near,
    power,
    wrong,
)


def rule(epsilon: float, delta: float, size: int) -> list[float]:
    terms = [math.exp(j * epsilon) for j in range(size)]
    return [size * epsilon, delta * math.fsum(terms)]


def ask_rule(epsilon: Any, delta: Any) -> Any:
    judge = near(rule, place=1, absolute=0.0)
    return asks(judge, epsilon=epsilon, delta=delta, size=(3, 9))


def ask_delta(run: al.Release, epsilon: float, **given: Any) -> Any:
    found = al.delta(run, epsilon=epsilon, relative_width=1e-6, **given)
    return (found.lower + found.upper) / 2


def mixture(
    epsilon: float, sigma: float, moves: list[float], weights: list[float]
) -> list[float]:
    run = al.Release(al.MixtureOfGaussians(moves, weights, sigma))
    return [
        ask_delta(run, epsilon, adjacency=direction)
        for direction in ("remove", "add")
    ]


def moves(random: Random) -> dict[str, Any]:
    """Moves and weights; one half moves nothing."""
    found = sorted(random.sample([0.5, 1.0, 1.5, 2.0, 3.0, 4.0], 3))
    first = round(random.uniform(0.1, 0.3), 2)
    weights = [0.5, first, round(0.4 - first, 2), 0.1]
    return {"moves": [0.0, *found], "weights": weights}


def ask_mixture(place: int, low: float, high: float) -> Any:
    return asks(
        near(mixture, place=place, absolute=1e-9),
        epsilon=(low, high),
        sigma=(0.8, 2.0),
        moves=moves,
    )


def family(
    sampler: str,
    epsilon: float,
    sigma: float,
    size: int,
    batch: int,
    records: int,
) -> Any:
    sampling: Any = al.FixedBatch(batch, records)
    if sampler == "poisson":
        sampling = al.Poisson(batch / records)
    run = al.Release(al.Gaussian(sigma), sampling)
    return ask_delta(run, epsilon, adjacency="add-or-remove", group_size=size)


def ask_family(sampler: str) -> Any:
    return asks(
        near(family, absolute=1e-9),
        sampler=sampler,
        epsilon=(0.1, 1.5),
        sigma=(0.8, 2.5),
        size=(2, 8),
        batch=(4, 12),
        records=(30, 60),
    )


TASKS = (
    Task(
        "ps6-rule",
        "group_rule",
        (
            Check("epsilon above 0", 1, ask_rule((0.1, 2.0), power(-9, -5))),
            Check("a delta above 1", 1, ask_rule((0.1, 1.0), (0.4, 0.6))),
            Check("epsilon of 0", 1, ask_rule(0.0, (0.01, 0.1)), special=True),
        ),
    ),
    Task(
        "ps6-mixture",
        "mixture_deltas",
        (
            Check("remove", 2, ask_mixture(0, 0.1, 2.0)),
            Check("add", 1, ask_mixture(1, 0.05, 0.5)),
            Check("add where it is 0", 1, ask_mixture(1, 0.8, 2.0), True),
        ),
    ),
    Task(
        "ps6-family",
        "family_delta",
        (
            Check("Poisson samples", 2, ask_family("poisson")),
            Check("fixed batches", 2, ask_family("batch")),
        ),
        uses=("ps6-mixture",),
    ),
    Task(
        "ps6-derive",
        rubric=(
            "writes the joint densities w_j p_j and w_j p_0, and the formula",
            "the positive part of a sum is at most the sum of positive parts",
            "equal if no signs differ; never if w_0 > 0 and alpha > 1",
            "the first one is an upper bound, so it is safe",
        ),
    ),
    claims("ps6-claims"),
)
METHODS = {
    "upper": (
        r"The old rule, from the exact $\delta$ of one record at "
        r"$\varepsilon$ divided by the size of the family.",
        r"The average of the exact $\delta$ of families of which a known "
        "number is drawn, weighted by the binomial distribution.",
        r"The exact $\delta$ of a family with <1 to 4> people more.",
        r"The exact $\delta$ if all of the family are sure to be drawn.",
        r"The exact $\delta$ at $\varepsilon - <0.05 to 0.20>$.",
    ),
    "lower": (
        r"The exact $\delta$ of one of them alone.",
        r"The exact $\delta$ of add for the family.",
        r"$P(S) - e^\varepsilon Q(S)$ for the event $S$ that the output is "
        "above <1.5 to 3.5>.",
        r"The exact $\delta$ if each of the family moves the sum by "
        "<0.3 to 0.9>.",
    ),
    "neither": (
        r"The size of the family times the exact $\delta$ of one record at "
        r"$\varepsilon$ divided by that size.",
        r"The exact $\delta$ for the weights that were counted in "
        "<2000 to 9000> simulated samples.",
        r"The average of $(1 - e^{\varepsilon - L})_+$ over <2000 to 9000> "
        "random outputs drawn from $P$.",
    ),
}
NUMBERS = {
    "sigma": (0.8, 1.5),
    "rate": (0.1, 0.4),
    "size": (3, 8),
    "epsilon": (0.3, 0.9),
}


def examples() -> dict[str, Any]:
    at = 0.5, 1.2, 3, 6, 20
    return {
        "mixture_known": mixture(0.3, 1.2, [0, 1, 3], [0.5, 0.3, 0.2]),
        "family_poisson": family("poisson", *at),
        "family_batch": family("batch", *at),
    }


ASSIGNMENT = Assignment(Path(__file__), TASKS, METHODS, NUMBERS, examples)

FACTOR = "sum(math.exp(j * epsilon) for j in range(size))"
BINOMIAL = "binom.pmf(drawn, size, batch / records)"
WRONG = (
    *wrong(
        "ps6-rule",
        (1, "cut off at 1", "delta * factor", "min(1.0, delta * factor)"),
        (3, "delta times the size", FACTOR, "size"),
        (3, "a textbook's bound", FACTOR, "size * math.exp(size * epsilon)"),
        (3, "one step too many", "range(size)", "range(size + 1)"),
    ),
    *wrong(
        "ps6-mixture",
        (4, "add and remove swapped", "[remove, add]", "[add, remove]"),
        (2, "remove twice", "[remove, add]", "[remove, remove]"),
        (
            4,
            "the mean move",
            "    with",
            "    moves = np.full_like(moves, weights @ moves)\n    with",
        ),
        (4, "the tail of the loss", "math.exp(epsilon)", "0"),
    ),
    *wrong(
        "ps6-family",
        (2, "nobody is pushed out", "2 * drawn", "drawn"),
        (
            2,
            "binomial for all",
            "hypergeom.pmf(drawn, records, size, batch)",
            BINOMIAL,
        ),
        (
            2,
            "one coin for all",
            BINOMIAL,
            "np.where(drawn == 0, 1 - batch / "
            "records, batch / records * (drawn == size))",
        ),
        (4, "one person", "    drawn =", "    size = 1\n    drawn ="),
    ),
)
