"""Assignment 4: `composition`, `fourier`, `rounding`, `accountant`,
`calibration`."""

import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp
from scipy.stats import binom

import accountlib as al
from course.tasks import (
    Assignment,
    Check,
    Task,
    asks,
    between,
    both,
    claims,
    near,
    power,
    wrong,
)

PLD = dict[str, Any]  # first, mass


def losses(pld: PLD, step: float) -> Any:
    return (pld["first"] + np.arange(len(pld["mass"]))) * step


def tilted(pld: PLD, step: float, tilt: float) -> float:
    """The mean of the tilted loss."""
    exponent = tilt * losses(pld, step)
    weight = np.exp(exponent - exponent.max()) * pld["mass"]
    return float(weight @ losses(pld, step) / weight.sum())


def best_tilt(pld: PLD, step: float, count: int, epsilon: float) -> float:
    def excess(tilt: float) -> float:
        return tilted(pld, step, tilt) - epsilon / count

    return float(brentq(excess, 0, 1e6 / step, xtol=1e-13, rtol=1e-13))


def log_delta(pld: PLD, step: float, count: int, epsilon: float) -> float:
    """By sums of positive terms, in which nothing cancels."""
    mass = pld["mass"]
    if len(mass) == 2:
        logs = binom.logpmf(np.arange(count + 1), count, mass[1])
    else:
        total = np.ones(1)
        for _ in range(count):
            total = np.convolve(total, mass)
        with np.errstate(divide="ignore"):
            logs = np.log(total)
    gap = (count * pld["first"] + np.arange(len(logs))) * step - epsilon
    gain = np.log(-np.expm1(-gap[gap > 0]))
    return float(logsumexp(logs[gap > 0] + gain))


def delta(*run: Any) -> float:
    return math.exp(log_delta(*run))


def runs(size: int, counts: tuple[int, int], low: float, high: float) -> Any:
    """Draws runs; epsilon lies between the mean total and the largest."""

    def make(random: Random) -> dict[str, Any]:
        while True:
            raw = [random.uniform(0.2, 1.0) for _ in range(size)]
            mass = [round(x / sum(raw), 4) for x in raw[:-1]]
            mass.append(round(1 - sum(mass), 12))
            pld = {"first": -random.randint(0, size - 2), "mass": mass}
            step = round(random.uniform(0.05, 0.3), 2)
            mean, top = tilted(pld, step, 0.0), losses(pld, step)[-1]
            count, share = random.randint(*counts), random.uniform(low, high)
            epsilon = round(float(count * (mean + share * (top - mean))), 4)
            if epsilon > 0:
                return dict(pld=pld, step=step, count=count, epsilon=epsilon)

    return make


def ask_tilt(counts: tuple[int, int], low: float, high: float) -> Any:
    judge = near(best_tilt, relative=1e-4)
    return asks(judge, run=runs(4, counts, low, high))


def ask_delta(
    size: int, counts: tuple[int, int], shares: Any, least: float, most: float
) -> Any:
    judge = near(delta, relative=1e-4, absolute=0.0)
    return asks(
        judge,
        times=2,
        run=runs(size, counts, *shares),
        keep=lambda *run: least < log_delta(*run) < most,
    )


def ends(lower: float, upper: float, r: float, a: float, lost: float) -> Any:
    low, high = (lower - a) / (1 + r), (upper + a) / (1 - r) + lost
    return [max(0.0, low), min(1.0, high)]


def ask_ends(place: int, **changed: Any) -> Any:
    given: dict[str, Any] = {
        "lower": (0.2, 0.3),
        "upper": (0.3, 0.4),
        "relative": (0.05, 0.2),
        "absolute": (0.01, 0.05),
        "lost": (0.01, 0.05),
    }
    return asks(near(ends, place=place), **given | changed)


CLIPPED = both(
    ask_ends(0, lower=(0.01, 0.04), absolute=(0.05, 0.1)),
    ask_ends(1, upper=0.96),
)


def least_noise(epsilon: float, delta: float, count: int, move: int) -> float:
    """Where log delta crosses: many steps are one with less noise."""

    def excess(log_one: float) -> float:
        mu = math.exp(-log_one)
        found = al.gaussian_delta(epsilon, mu=mu)
        return math.log(max(found, 1e-300) / delta)

    one = math.exp(brentq(excess, -3.0, 4.0, xtol=1e-13, rtol=1e-13))
    return math.sqrt(count) * move * one


def ask_noise(count: Any, move: int) -> Any:
    return asks(
        between(1 - 1e-9, 1.001, least_noise),
        epsilon=(0.5, 3.0),
        delta=power(-8, -4),
        count=count,
        move=move,
    )


TASKS = (
    Task(
        "ps4-tilt",
        "best_tilt",
        (
            Check("a single step", 1, ask_tilt((1, 1), 0.1, 0.5)),
            Check("many steps", 2, ask_tilt((10, 10**6), 0.1, 0.5)),
            Check("near the largest loss", 1, ask_tilt((10, 99), 0.97, 0.99)),
        ),
    ),
    Task(
        "ps4-few",
        "run_delta",
        (
            Check("few steps", 2, ask_delta(4, (5, 30), (0, 0.6), -9, -2)),
            Check(
                "a delta below 1e-80",
                2,
                ask_delta(3, (600, 900), (0.3, 0.8), -390, -200),
            ),
            Check(
                "a million steps",
                1,
                ask_delta(2, (10**6, 10**6), (0.005, 0.02), -120, -20),
            ),
        ),
        uses=("ps4-tilt",),
    ),
    Task(
        "ps4-derive",
        rubric=(
            "writes delta as a mean under the tilted distribution",
            "shows that the tilted total is the sum of tilted steps",
            "concludes that every tilt gives the same delta",
            "says what the tilt changes: where the mass is, and so rounding",
        ),
    ),
    Task(
        "ps4-ends",
        "interval",
        (
            Check("the lower end", 1, ask_ends(0)),
            Check("the upper end", 1, ask_ends(1)),
            Check("ends between 0 and 1", 1, CLIPPED, special=True),
        ),
    ),
    Task(
        "ps4-noise",
        "least_noise",
        (
            Check("one step", 1, ask_noise(1, 1)),
            Check("many steps", 2, ask_noise((4, 60), 1)),
            Check("a move of 2", 1, ask_noise(1, 2)),
        ),
    ),
    claims("ps4-claims"),
)
METHODS = {
    "upper": (
        r"$e^{T K(\lambda) - \lambda \varepsilon}$ at $\lambda = "
        "<1.5 to 4.0>$.",
        r"$e^{T K(\lambda) - \lambda \varepsilon}$ at the best of <5 to 20> "
        "tilts.",
        "The exact sum, with losses above a threshold counted as infinite.",
        r"The exact $\delta$ of the run at $\varepsilon - <0.01 to 0.05>$.",
        "The exact sum, after one more release of normal noise that is told "
        "to the attacker.",
    ),
    "lower": (
        r"A single term of the sum, $(1 - e^{\varepsilon - \ell}) "
        r"\Pr[S = \ell]$, with the largest such term.",
        "The exact sum, with all totals above a threshold left out.",
        r"The exact $\delta$ of <50 to 95> percent of the steps.",
    ),
    "neither": (
        "The tilted total is taken for normal, with its exact mean and "
        "variance.",
        "A sum over frequencies that ends at the first small entry.",
        "A Fourier transform on a circle of the wrong length, where masses "
        "come round, without any correction.",
    ),
}
NUMBERS = {"count": (2_000, 9_000), "epsilon": (0.8, 3.0)}


def examples() -> dict[str, Any]:
    return {
        "noise_one": least_noise(1.5, 1e-5, 1, 1),
        "noise_two": least_noise(1.5, 1e-5, 9, 2),
    }


ASSIGNMENT = Assignment(Path(__file__), TASKS, METHODS, NUMBERS, examples)

TILT = "tilt = best_tilt(pld, step, count, epsilon)"
LOW, HIGH = "(lower - absolute) / (1 + relative)", "(1 - relative) + lost"
WRONG = (
    *wrong(
        "ps4-tilt",
        (
            3,
            "the mean of all steps",
            "epsilon / count",
            "epsilon / count**0.5",
        ),
        (4, "the order", "return high", "return 1 + high"),
        (
            1,
            "a search that ends too early",
            "while ",
            "while high < 2 / step and ",
        ),
        (4, "a rough search", "range(60)", "range(6)"),
    ),
    *wrong(
        "ps4-few",
        (3, "no tilt", TILT, "tilt = 1e-3"),
        (5, "the tail of the loss", " * -np.expm1(-gap)", ""),
        (5, "a window that is too short", "15 * spread + 60", "spread + 0"),
        (5, "the tilt not taken back", "tilt * epsilon", "0"),
    ),
    *wrong(
        "ps4-ends",
        (1, "lost mass forgotten", HIGH, "(1 - relative)"),
        (1, "lost mass on both sides", LOW, LOW + " - lost"),
        (1, "an end above 1", "min(1.0, high)", "high"),
        (1, "an end below 0", "max(0.0, low)", "low"),
        (3, "errors of the wrong side", "    low", "    absolute *= -1; low"),
    ),
    *wrong(
        "ps4-noise",
        (2, "noise grows with the steps", "math.sqrt(count)", "count"),
        (2, "the noise of one step", " / math.sqrt(count)", ""),
        (1, "a move of 1", " / move", ""),
        (4, "the end that is not proven", "return high", "return low"),
        (4, "rounded down", "return high", "return high // 0.01 / 100"),
        (4, "a bracket as wide as 1 %", "1e-6", "0.01"),
    ),
)
