"""Assignment 5: `which_sampler`, `replace_one`, `no_worst_data`."""

from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

import accountlib as al
from course.tasks import (
    Assignment,
    Check,
    Question,
    Task,
    asks,
    claims,
    near,
    wrong,
)


def loader(kind: str, random: Random, records: int, size: int) -> Any:
    """The batches of four epochs."""
    names = list(range(records))

    def epoch() -> list[list[int]]:
        order = random.sample(names, records)
        return [order[i : i + size] for i in range(0, records, size)]

    if kind == "full":
        return [random.sample(names, records) for _ in range(6)]
    if kind == "order":
        return epoch() * 4
    if kind == "shuffled":
        return [batch for _ in range(4) for batch in epoch()]
    if kind == "replacement":  # the last one is sure to have a record twice
        found = [
            random.choices(names, k=size) for _ in range(4 * len(epoch()))
        ]
        return [*found[:-1], found[-1][:-1] + found[-1][:1]]
    if kind == "poisson":
        return [
            [x for x in names if random.random() < size / records]
            for _ in range(4 * len(epoch()))
        ]
    return [random.sample(names, size) for _ in range(4 * len(epoch()))]


def ask_loader(*kinds: str) -> Any:
    """At least two kinds, so that one word for all earns nothing."""

    def ask(random: Random, numbers: Any) -> list[Question]:
        found = []
        for kind in random.sample(kinds, len(kinds)):
            size = random.randint(5, 8)
            records = size * random.randint(5, 8)
            batches = loader(kind, random, records, size)
            judge = partial(same_word, kind, len(batches), records)
            found.append(Question([batches, records], judge))
        return found

    return ask


def same_word(kind: str, count: int, records: int, value: Any) -> str:
    if value == kind:
        return ""
    return (
        f"for {count} batches of {records} records, your answer is not what "
        "drew them"
    )


@cache
def substituted(
    epsilon: float, sigma: float, rate: float, width: float = 1e-6
) -> Any:
    run = al.Release(al.Gaussian(sigma), al.Poisson(rate))
    found = al.delta(
        run, epsilon=epsilon, adjacency="substitute", relative_width=width
    )
    return (found.lower + found.upper) / 2


def ask_substitute(
    rate: Any, epsilon: Any, low: float, high: float, digits: float = 1e-6
) -> Any:
    """Questions whose delta lies between low and high."""
    return asks(
        near(substituted, relative=digits, absolute=0.0),
        epsilon=epsilon,
        sigma=(0.9, 1.3),
        rate=rate,
        keep=lambda *case: low < substituted(*case, 0.1) < high,
    )


def crossings(
    truth: float, rate: float, count: int, least: float = 1e-9
) -> list[float]:
    """Where remove minus add changes its sign, by a fine grid."""
    yes = rate * truth + (1 - rate) * (1 - truth)
    k = np.arange(count + 1)
    p, q = binom.pmf(k, count, yes), binom.pmf(k, count, 1 - truth)

    def lead(alpha: Any) -> Any:
        alpha = np.asarray(alpha)[..., None]
        gain = np.maximum(p - alpha * q, 0) - np.maximum(q - alpha * p, 0)
        return gain.sum(axis=-1)

    grid = np.linspace(1.0001, max(p / q), 20_001)
    grid = grid[abs(lead(grid)) > least]
    signs = np.sign(lead(grid))
    return [
        float(brentq(lead, grid[i], grid[i + 1], xtol=1e-14))
        for i in np.flatnonzero(signs[1:] != signs[:-1])
    ]


def last_crossing(*case: Any) -> float:
    return max(crossings(*case), default=0.0)


def ask_crossing(count: Any, number: int) -> Any:
    """Cases with so many crossings, none of them doubtful."""

    def keep(*case: Any) -> bool:
        truth, rate, rounds = case
        doubt = len(crossings(truth, rate, rounds, 1e-4))
        return doubt == len(crossings(*case)) == number

    return asks(
        near(last_crossing),
        times=2,
        truth=(0.62, 0.88),
        rate=(0.3, 0.7),
        count=count,
        keep=keep,
    )


TASKS = (
    Task(
        "ps5-loader",
        "which_sampler",
        (
            Check("sizes", 1, ask_loader("poisson", "batch", "full")),
            Check("epochs", 1, ask_loader("shuffled", "batch")),
            Check("one order", 1, ask_loader("order", "batch")),
            Check("records twice", 1, ask_loader("replacement", "batch")),
        ),
    ),
    Task(
        "ps5-derive",
        rubric=(
            "couples the batches: with chance b/n one member is replaced",
            "the sum moves by up to 2, since another record is pushed out",
            "mixture with weight b/n and a shift of 2: the same as sigma/2",
            "names data that attain it: all others -1, the record +1",
        ),
    ),
    Task(
        "ps5-substitute",
        "substitute_delta",
        (
            Check(
                "rates below 1",
                2,
                ask_substitute((0.1, 0.6), (0.2, 2.0), 0.01, 0.5),
            ),
            Check(
                "all take part", 1, ask_substitute(1.0, (0.2, 4.0), 0.01, 0.5)
            ),
            Check(
                "a delta near 1e-12",
                1,
                ask_substitute((0.2, 0.4), (4.0, 6.0), 1e-13, 1e-12, 1e-4),
            ),
        ),
    ),
    Task(
        "ps5-crossing",
        "crossing",
        (
            Check("two rounds", 2, ask_crossing(2, 1)),
            Check("two crossings", 1, ask_crossing((3, 6), 2)),
            Check("no crossing", 1, ask_crossing((3, 6), 0), special=True),
        ),
    ),
    claims("ps5-claims"),
)
TOLD = "The accountant is told Poisson samples of the right rate, "
HALF = "The accountant is told Poisson samples with half of the noise"
METHODS = {
    "upper": (
        TOLD + "and <38 to 48> percent of the noise.",
        TOLD + "half of the noise, and <5 to 40> percent more steps.",
        "The accountant is told full batches, and half of the noise.",
        HALF + ", and a rate from <5 to 30> percent fewer records.",
    ),
    "lower": (
        TOLD + "and the noise as it is.",
        TOLD + "and <55 to 90> percent of the noise.",
        TOLD + "half of the noise, and <5 to 40> steps less.",
        HALF + ", and a rate from <5 to 30> percent more records.",
    ),
    "neither": (
        TOLD + "and half of the standard deviation of <200 to 900> draws of "
        "the noise.",
        "The total loss of a Poisson run with half of the noise is taken for "
        "normal, with its exact mean and variance.",
        HALF + ". The size of the data, for the rate, is a private estimate: "
        "the true one plus normal noise of standard deviation <20 to 90>.",
    ),
}
NUMBERS = {
    "sigma": (0.8, 1.6),
    "batch": list(range(80, 201, 10)),
    "records": list(range(40_000, 120_001, 10_000)),
    "count": list(range(5_000, 15_001, 1_000)),
}


def examples() -> dict[str, Any]:
    return {
        "substitute_known": substituted(0.5, 1.2, 0.3),
        "crossing_known": last_crossing(0.7, 0.4, 5),
        "crossing_last": last_crossing(0.7, 0.4, 3),
    }


ASSIGNMENT = Assignment(Path(__file__), TASKS, METHODS, NUMBERS, examples)

ROOT = "log_ratio(z) - log_ratio(-z) - epsilon"
FOUND = "low + (alpha - low) * start / (start - here)"
WRONG = (
    *wrong(
        "ps5-loader",
        (
            2,
            "one size is drawn anew",
            "if any(len(f",
            "if length or any(len(f",
        ),
        (1, "a record twice is not seen", "< len(batch)", "< 0"),
        (1, "epochs of one order are shuffled", '"order" if same else ', ""),
        (1, "full batches are epochs", "{records}", "{0}"),
    ),
    *wrong(
        "ps5-substitute",
        (4, "only a removed record", "ndtr((-1 - z)", "ndtr(-z"),
        (3, "all take part", "    z = ", "    rate = 1; z = "),
        (4, "half the move", "    def log", "    sigma *= 2\n\n    def log"),
        (
            1,
            "1 - cdf",
            "    def log",
            "    import scipy.special\n    ndtr = lambda "
            "x: 1 - scipy.special.ndtr(-x)\n\n    def log",
        ),
        (4, "an event that is not the best", ROOT, "log_ratio(z) - epsilon"),
    ),
    *wrong(
        "ps5-crossing",
        (4, "the profiles of one round", "    p, q", "    count = 1; p, q"),
        (1, "sequences not counted", "math.comb(count, k)", "1"),
        (4, "every record takes part", "yes = rate", "rate = 1; yes = rate"),
        (1, "the smallest crossing", FOUND, "found or " + FOUND),
        (4, "the next kink", FOUND, "alpha"),
    ),
)
