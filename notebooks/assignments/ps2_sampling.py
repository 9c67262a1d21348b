"""Assignment 2, on `dominating_pairs`, `mechanisms` and `sampling`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import binom

import accountlib as al
from course.tasks import (
    Assignment,
    Check,
    Task,
    asks,
    claims,
    near,
    wrong,
)

Run = tuple[float, float, int, float]


def rounds(*run: Any) -> tuple[float, float]:
    """Remove and add after some rounds, by the number of yes."""
    truth, rate, count, alpha = run
    yes = rate * truth + (1 - rate) * (1 - truth)
    p, q = (
        binom.pmf(np.arange(count + 1), count, x) for x in (yes, 1 - truth)
    )
    return al.hockey_stick(p, q, alpha), al.hockey_stick(q, p, alpha)


def worst(*run: Any) -> float:
    return max(rounds(*run))


def larger(place: int) -> Callable[..., bool]:
    """Is this direction the larger one, by a clear gap?"""
    return lambda *run: rounds(*run)[place] - rounds(*run)[1 - place] > 3e-3


def delta(
    sampler: str, adjacency: str, epsilon: float, sigma: float, rate: float
) -> Any:
    sampling: Any = al.FullBatch() if sampler == "full" else al.Poisson(rate)
    if sampler == "batch":
        sampling = al.FixedBatch(round(1000 * rate), 1000)
    run = al.Release(al.Gaussian(sigma), sampling)
    found = al.delta(
        run, epsilon=epsilon, adjacency=adjacency, relative_width=1e-6
    )
    return (found.lower + found.upper) / 2


def sampled(epsilon: float, sigma: float, rate: float) -> list[float]:
    return [
        delta("poisson", direction, epsilon, sigma, rate)
        for direction in ("remove", "add")
    ]


def both(place: int, low: float, high: float) -> Any:
    judge = near(sampled, place=place, absolute=1e-9)
    return asks(judge, epsilon=(low, high), sigma=(0.6, 1.4), rate=(0.3, 0.6))


def step(sampler: str, adjacency: str = "add-or-remove") -> Any:
    return asks(
        near(delta, absolute=1e-9),
        sampler=sampler,
        adjacency=adjacency,
        epsilon=(0.1, 1.2),
        sigma=(0.8, 2.5),
        rate=1.0 if sampler == "full" else (0.05, 0.6),
    )


RUNS: Any = {"truth": (0.65, 0.9), "rate": (0.3, 0.8)}
MANY = RUNS | {"count": (2, 6), "alpha": (1.02, 1.9)}
RIGHT = near(worst, absolute=1e-9)
TASKS = (
    Task(
        "ps2-rounds",
        "worst_delta",
        (
            Check("one round", 1, asks(RIGHT, **RUNS, count=1, alpha=1.1)),
            Check("remove is larger", 1, asks(RIGHT, keep=larger(0), **MANY)),
            Check("add is larger", 2, asks(RIGHT, keep=larger(1), **MANY)),
        ),
    ),
    Task(
        "ps2-derive",
        rubric=(
            "writes the output with the record as (1 - rate) Q + rate P",
            "finds the new alpha, 1 + (alpha - 1)/rate, from the difference",
            "takes positive parts on both sides, for alpha >= 1 - rate only",
            "says what the profile is for smaller alpha, 1 - alpha, and why",
        ),
    ),
    Task(
        "ps2-sampled",
        "sampled_deltas",
        (
            Check("remove", 2, both(0, 0.05, 1.5)),
            Check("add", 2, both(1, 0.05, 0.3)),
        ),
    ),
    Task(
        "ps2-step",
        "step_delta",
        (
            Check("all records, add-or-remove", 1, step("full")),
            Check("all records, substitute", 1, step("full", "substitute")),
            Check("Poisson samples", 1, step("poisson")),
            Check("fixed batches", 1, step("batch")),
        ),
        uses=("ps2-sampled",),
    ),
    claims("ps2-claims"),
)
METHODS = {
    "upper": (
        r"The exact $\delta$ at $\varepsilon - <0.05 to 0.30>$.",
        r"The exact $\delta$ of the step that takes all records, at the same "
        r"$\varepsilon$.",
        r"The rate times the exact $\delta$ of the step that takes all "
        r"records, at the same $\varepsilon$.",
        r"The exact $\delta$ of a fixed batch of the same rate.",
        r"The exact $\delta$ for <110 to 140> percent of the rate.",
    ),
    "lower": (
        r"The exact $\delta$ of add.",
        r"$P(S) - e^\varepsilon Q(S)$ for the event $S$ that the output is "
        "above <1.2 to 2.8>.",
        r"The exact $\delta$ for a record that moves the sum by "
        "<0.3 to 0.9>.",
        r"The exact $\delta$ for <50 to 90> percent of the rate.",
    ),
    "neither": (
        r"The average of $(1 - e^{\varepsilon - L})_+$ over <2000 to 9000> "
        "random outputs drawn from $P$.",
        r"The exact $\delta$ for the share of <200 to 900> trials in which a "
        "record was drawn, in place of the rate.",
        r"The exact $\delta$ for the standard deviation of <200 to 900> draws "
        r"of the noise, in place of $\sigma$.",
    ),
}
NUMBERS = {"sigma": (0.7, 1.5), "rate": (0.2, 0.6), "epsilon": (0.2, 0.9)}


def examples() -> dict[str, Any]:
    at = "add-or-remove", 0.7
    return {
        "rounds_remove": worst(0.75, 0.4, 3, 1.2),
        "rounds_add": worst(0.75, 0.4, 2, 1.2),
        "sampled_known": sampled(0.3, 0.8, 0.4),
        "step_full": delta("full", *at, 2.0, 1.0),
        "step_poisson": delta("poisson", *at, 1.3, 0.2),
        "step_batch": delta("batch", *at, 1.3, 0.2),
    }


ASSIGNMENT = Assignment(Path(__file__), TASKS, METHODS, NUMBERS, examples)

ADD = "1 - alpha + alpha * remove(1 / alpha)"
BOTH = "max(stick(p, q), stick(q, p))"
WRONG = (
    *wrong(
        "ps2-rounds",
        (2, "only remove reported", BOTH, "stick(p, q)"),
        (2, "only add reported", BOTH, "stick(q, p)"),
        (
            3,
            "deltas of single rounds added up",
            "p, q = law(yes), law(without)",
            "n, count = count, 1; p, q = law(yes) * n, law(without) * n",
        ),
        (3, "sequences not counted", "math.comb(count, k)", "1"),
        (4, "every record takes part", "yes = rate", "rate = 1; yes = rate"),
    ),
    *wrong(
        "ps2-sampled",
        (
            4,
            "add and remove swapped",
            f"[remove(alpha), {ADD}]",
            f"[{ADD}, remove(alpha)]",
        ),
        (2, "remove twice", ADD, "remove(alpha)"),
        (
            4,
            "the rate times delta, at the same epsilon",
            "inner = 1 + (alpha - 1) / rate",
            "inner = alpha",
        ),
        (4, "all take part", "    alpha = ", "    rate = 1; alpha = "),
    ),
    *wrong(
        "ps2-step",
        (1, "batches taken for Poisson", 'sampler == "batch"', "False"),
        (1, "substituted as if removed", 'adjacency == "substitute"', "False"),
        (2, "only add reported", "max(", "min("),
        (2, "twice the noise where half is meant", "/ 2", "* 2"),
    ),
)
