"""Checks of assignment 1, on the part "What is the worst case?".

Secret: a course that marks with it keeps this folder private.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from math import comb
from pathlib import Path
from random import Random
from typing import Any

import mpmath as mp

from course.tasks import (
    Assignment,
    Check,
    Numbers,
    Question,
    Task,
    claims_key,
    claims_task,
    close,
    draw_claims,
    part,
    pick,
)

Ask = Callable[[Random, Numbers], list[Question]]
Table = tuple[list[float], list[float]]

# --- two tables ---------------------------------------------------------


def hockey(p: list[Any], q: list[Any], alpha: Any) -> float:
    """The sum of positive parts, exactly."""
    pairs = zip(p, q, strict=True)
    parts = (Fraction(x) - Fraction(alpha) * Fraction(y) for x, y in pairs)
    return float(sum(max(x, Fraction(0)) for x in parts))


def table(random: Random, size: int) -> list[float]:
    """Probabilities with two digits, none of them 0."""
    cuts = sorted(random.sample(range(1, 100), size - 1))
    ends = zip([0, *cuts], [*cuts, 100], strict=True)
    return [(b - a) / 100 for a, b in ends]


def tables(random: Random) -> Table:
    size = random.randint(3, 6)
    return table(random, size), table(random, size)


def leaking(random: Random) -> Table:
    """Outcomes that P, that Q and that both never have."""
    p, q = tables(random)
    return [*p, 0.0, 0.0], [0.0, *q, 0.0]


def ask_hockey(
    make: Callable[[Random], Table], low: float, high: float
) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(4):
            (p, q), alpha = make(random), pick(random, low, high)
            case = f"P = {p}, Q = {q}, alpha = {alpha}"
            judge = close(partial(hockey, p, q, alpha), case)
            found.append(Question([p, q, alpha], judge))
        return found

    return ask


HOCKEY = Task(
    "ps1-hockey",
    stars=1,
    minutes=10,
    entry="hockey_stick",
    checks=(
        Check("alpha of at least 1", 2, ask_hockey(tables, 1.05, 1.8)),
        Check(
            "outcomes that P or Q never has", 1, ask_hockey(leaking, 1.2, 4)
        ),
        Check("alpha below 1", 1, ask_hockey(tables, 0.3, 0.9)),
    ),
)

# --- one Gaussian sum ---------------------------------------------------


def gaussian_delta(epsilon: Any, sigma: float) -> Any:
    """The curve of two normal laws at distance 1/sigma, to 40 digits."""
    with mp.workdps(40):
        mu, epsilon = 1 / mp.mpf(sigma), mp.mpf(epsilon)
        first = mp.ncdf(mu / 2 - epsilon / mu)
        return first - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def gaussian_float(epsilon: float, sigma: float) -> float:
    return float(gaussian_delta(epsilon, sigma))


def ask_gaussian(
    low: float, high: float, relative: float = 1e-6, shape: float = 1.0
) -> Ask:
    """Questions with epsilon = (low to high) / sigma**shape."""

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(4):
            sigma = pick(random, 0.6, 3)
            epsilon = round(random.uniform(low, high) / sigma**shape, 3)
            case = f"epsilon = {epsilon}, sigma = {sigma}"
            judge = close(
                partial(gaussian_float, epsilon, sigma),
                case,
                relative=relative,
                absolute=0.0,
            )
            found.append(Question([epsilon, sigma], judge))
        return found

    return ask


GAUSSIAN = Task(
    "ps1-gaussian",
    stars=2,
    minutes=15,
    entry="gaussian_delta",
    checks=(
        Check("epsilon of at least 0", 2, ask_gaussian(0.1, 2.0)),
        Check("delta near 1e-15, to 0.1 %", 1, ask_gaussian(8.0, 8.3, 1e-3)),
        Check("epsilon below 0", 1, ask_gaussian(-2.0, -0.3)),
    ),
)

# --- a derivation -------------------------------------------------------

DERIVE = Task(
    "ps1-derive",
    stars=2,
    minutes=15,
    rubric=(
        (1, "writes the output with the record as (1 - rate) Q + rate P"),
        (1, "finds the new alpha, 1 + (alpha - 1)/rate, from the difference"),
        (1, "takes positive parts on both sides, for alpha >= 1 - rate only"),
        (1, "says what the curve is for smaller alpha, 1 - alpha, and why"),
    ),
)

# --- one sampled step, both directions ----------------------------------


def sampled_remove(alpha: Any, sigma: float, rate: float) -> Any:
    inner = 1 + (alpha - 1) / mp.mpf(rate)
    if inner <= 0:
        return 1 - alpha
    return rate * gaussian_delta(mp.log(inner), sigma)


def sampled(place: int, epsilon: float, sigma: float, rate: float) -> float:
    """The curve for remove (place 0), or for add by the swap identity."""
    with mp.workdps(40):
        alpha = mp.exp(epsilon)
        remove = sampled_remove(alpha, sigma, rate)
        add = 1 - alpha + alpha * sampled_remove(1 / alpha, sigma, rate)
        return float((remove, add)[place])


def ask_sampled(place: int, *ranges: tuple[float, float]) -> Ask:
    """Epsilon in these ranges, in units of the loss where add becomes 0."""

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for low, high in ranges * 2:
            sigma, rate = pick(random, 0.6, 1.4), pick(random, 0.1, 0.6)
            end = -float(mp.log(1 - rate))
            epsilon = round(end * random.uniform(low, high), 4)
            inner = close(
                partial(sampled, place, epsilon, sigma, rate),
                f"{('remove', 'add')[place]}, epsilon = {epsilon}, "
                f"sigma = {sigma}, rate = {rate}",
                absolute=1e-9,
            )
            judge = part(place, inner, 2)
            found.append(Question([epsilon, sigma, rate], judge))
        return found

    return ask


SAMPLED = Task(
    "ps1-sampled",
    stars=2,
    minutes=25,
    entry="sampled_deltas",
    uses=("ps1-gaussian",),
    checks=(
        Check("remove", 1, ask_sampled(0, (0.2, 2.0))),
        Check("remove below 0", 1, ask_sampled(0, (-0.8, -0.2), (-2, -1.2))),
        Check("add", 2, ask_sampled(1, (0.2, 0.6), (1.2, 2.0), (-2.0, -0.2))),
    ),
)

# --- several rounds of randomized response ------------------------------


def laws(
    truth: float, rate: float, count: int
) -> tuple[list[Fraction], list[Fraction]]:
    """The number of yes after some rounds, with and without the record."""
    t, r = Fraction(truth), Fraction(rate)

    def binomial(yes: Fraction) -> list[Fraction]:
        return [
            comb(count, k) * yes**k * (1 - yes) ** (count - k)
            for k in range(count + 1)
        ]

    return binomial(r * t + (1 - r) * (1 - t)), binomial(1 - t)


def rounds(
    truth: float, rate: float, count: int, alpha: float
) -> tuple[float, float]:
    """Remove and add after some rounds, in exact fractions."""
    p, q = laws(truth, rate, count)
    return hockey(p, q, alpha), hockey(q, p, alpha)


def worst(case: list[Any]) -> float:
    return max(rounds(*case))


def outcomes(case: list[Any], larger: str) -> int:
    """How many numbers of yes count in the larger direction."""
    p, q = laws(*case[:3])
    if larger == "add":
        p, q = q, p
    return sum(x > Fraction(case[3]) * y for x, y in zip(p, q, strict=True))


def ask_rounds(low: int, high: int, larger: str) -> Ask:
    """Questions where this direction is the larger one by a clear gap."""

    def gap(case: list[Any]) -> float:
        remove, add = rounds(*case)
        return remove - add if larger == "remove" else add - remove

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found: list[Question] = []
        while len(found) < 3:
            truth, rate = pick(random, 0.65, 0.9), pick(random, 0.3, 0.8)
            count, alpha = random.randint(low, high), pick(random, 1.02, 1.9)
            case = [truth, rate, count, alpha]
            if gap(case) < 0.003 or outcomes(case, larger) < min(2, low):
                continue
            text = (
                f"truth = {truth}, rate = {rate}, count = {count}, "
                f"alpha = {alpha}"
            )
            right = close(partial(worst, case), text, absolute=1e-9)
            found.append(Question(case, right))
        return found

    return ask


ROUNDS = Task(
    "ps1-rounds",
    stars=2,
    minutes=20,
    entry="worst_delta",
    uses=("ps1-hockey",),
    checks=(
        Check("one round", 1, ask_rounds(1, 1, "remove")),
        Check("rounds where remove is larger", 1, ask_rounds(2, 6, "remove")),
        Check("rounds where add is larger", 2, ask_rounds(2, 6, "add")),
    ),
)

# --- which of these is a bound, on which side ---------------------------

METHODS = (
    (
        "The probability under $P$ that the privacy loss is larger than "
        "$\\varepsilon$.",
        "upper",
    ),
    (
        "The exact $\\delta$ at $\\varepsilon - <0.05 to 0.30>$.",
        "upper",
    ),
    (
        "$E_P[e^{\\lambda (L - \\varepsilon)}]$ with $\\lambda = <1.5 to "
        "6.0>$, where $L$ is the privacy loss.",
        "upper",
    ),
    (
        "Every loss is moved up to the next multiple of <0.10 to 0.30>, and "
        "$\\delta$ is taken of the table.",
        "upper",
    ),
    (
        "$P(S) - e^\\varepsilon Q(S)$ for the event $S$ that the output is "
        "above <1.2 to 2.8>.",
        "lower",
    ),
    (
        "The outputs are cut into intervals of length <0.30 to 0.80>, and "
        "the positive parts of $P - e^\\varepsilon Q$ of the intervals are "
        "added up.",
        "lower",
    ),
    (
        "Every loss above <2.5 to 4.0> is left out of the sum, since it is "
        "rare.",
        "lower",
    ),
    (
        "The average of $(1 - e^{\\varepsilon - L})_+$ over <2000 to 9000> "
        "random outputs drawn from $P$.",
        "neither",
    ),
    (
        "Every loss is moved to the nearest multiple of <0.10 to 0.30>, and "
        "$\\delta$ is taken of the table.",
        "neither",
    ),
)


def draw_numbers(random: Random) -> dict[str, Any]:
    sigma, epsilon = pick(random, 0.7, 1.5), pick(random, 0.4, 1.4)
    delta = float(gaussian_delta(epsilon, sigma))
    high, low = random.uniform(1.04, 1.12), random.uniform(0.89, 0.96)
    number = "A colleague's program prints {:.4g}, and nothing else."
    own = [
        (number.format(delta * high), "upper"),
        (number.format(delta * low), "lower"),
    ]
    shown = {"sigma": sigma, "epsilon": epsilon}
    return shown | draw_claims(random, METHODS, own)


@cache
def examples() -> dict[str, Any]:
    """Known answers, away from the easy corners."""
    return {
        "gaussian_known": gaussian_float(0.3, 2.5),
        "gaussian_below": gaussian_float(-0.4, 1.5),
        "sampled_known": [sampled(x, 0.3, 0.8, 0.4) for x in (0, 1)],
        "sampled_below": [sampled(x, -0.9, 0.8, 0.4) for x in (0, 1)],
        "rounds_remove": worst([0.75, 0.4, 3, 1.2]),
        "rounds_add": worst([0.75, 0.4, 2, 1.2]),
    }


ASSIGNMENT = Assignment(
    "ps1",
    "Assignment 1: what is the worst case?",
    Path(__file__).with_suffix(".md"),
    (
        HOCKEY,
        GAUSSIAN,
        DERIVE,
        SAMPLED,
        ROUNDS,
        claims_task("ps1-claims"),
    ),
    draw_numbers,
    claims_key,
    examples,
)
