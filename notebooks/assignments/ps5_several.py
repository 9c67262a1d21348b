"""Checks of assignment 5, on the part "More than one record".

Secret: a course that marks with it keeps this folder private.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import mpmath as mp
import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr

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
    every,
    part,
    pick,
)

Ask = Callable[[Random, Numbers], list[Question]]
Law = Sequence[tuple[float, Any]]  # shifts of the sum, and their weights

# --- the old rule -------------------------------------------------------


def ruled(epsilon: float, delta: float, size: int) -> float:
    """delta times the sum of e^(j epsilon) over the steps of the chain."""
    with mp.workdps(40):
        terms = [mp.exp(j * mp.mpf(epsilon)) for j in range(size)]
        return float(delta * mp.fsum(terms))


def ask_rule(
    *epsilons: tuple[float, float], digits: tuple[float, float] = (5, 9)
) -> Ask:
    """Epsilons in these ranges; delta is 10 to the power of minus digits."""

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for low, high in epsilons:
            epsilon, size = random.uniform(low, high), random.randint(3, 9)
            epsilon = round(epsilon, 3) if high > 0.01 else epsilon
            delta = float(f"{10 ** -pick(random, *digits):.3g}")
            case = f"epsilon = {epsilon}, delta = {delta}, size = {size}"
            right = partial(ruled, epsilon, delta, size)
            product = partial(float, size * epsilon)
            judge = every(
                part(0, close(product, f"{case} (first place)"), 2),
                part(1, close(right, f"{case} (delta)", absolute=0.0), 2),
            )
            found.append(Question([epsilon, delta, size], judge))
        return found

    return ask


RULE = Task(
    "ps5-rule",
    stars=1,
    minutes=10,
    entry="group_rule",
    checks=(
        Check("epsilon of at least 0.1", 1, ask_rule(*[(0.1, 2)] * 3)),
        Check(
            "a delta above 1",
            1,
            ask_rule((0.1, 1), (0.1, 1), digits=(0.3, 0.45)),
        ),
        Check("epsilon of 0, or nearly", 1, ask_rule((0, 0), (1e-14, 1e-13))),
    ),
)

# --- mixtures: the threshold by a root finder, the masses to 40 digits ---


def log_law(law: Law, z: float, sigma: float) -> float:
    """log of the mixture's density, divided by that of the noise."""
    terms = [
        math.log(w) + m * (2 * z - m) / (2 * sigma**2) for m, w in law if w
    ]
    top = max(terms)
    return top + math.log(math.fsum(math.exp(x - top) for x in terms))


def stick(p: Law, q: Law, epsilon: float, sigma: float, sign: int) -> float:
    """The hockey stick where the loss of p against q grows with sign * z.

    An error of the threshold counts in the second order only.
    """

    def excess(z: float) -> float:
        z *= sign
        return log_law(p, z, sigma) - log_law(q, z, sigma) - epsilon

    if excess(1e3) <= 0:
        return 0.0
    with mp.workdps(40):
        z, s = mp.mpf(brentq(excess, -1e3, 1e3)), mp.mpf(sigma)

        def mass(law: Law) -> Any:
            terms = [w * mp.ncdf((sign * m - z) / s) for m, w in law]
            return mp.fsum(terms)

        return float(mass(p) - mp.exp(epsilon) * mass(q))


NOISE: Law = ((0.0, 1.0),)


def family(rate: float, size: int) -> Law:
    """How many of a group are drawn."""
    return [
        (float(j), math.comb(size, j) * rate**j * (1 - rate) ** (size - j))
        for j in range(size + 1)
    ]


def group(
    place: int, epsilon: float, sigma: float, rate: float, size: int
) -> float:
    law = family(rate, size)
    if place == 0:
        return stick(law, NOISE, epsilon, sigma, 1)
    return stick(NOISE, law, epsilon, sigma, -1)


def ask_group(place: int, *ranges: tuple[float, float]) -> Ask:
    """Epsilon in units of the largest loss of add."""

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for low, high in ranges:
            sigma, rate = pick(random, 0.8, 2.5), pick(random, 0.1, 0.4)
            size = random.randint(2, 8)
            end = -size * math.log(1 - rate)
            epsilon = round(end * random.uniform(low, high), 3)
            case = (
                f"{('remove', 'add')[place]}, epsilon = {epsilon}, "
                f"sigma = {sigma}, rate = {rate}, size = {size}"
            )
            right = partial(group, place, epsilon, sigma, rate, size)
            judge = part(place, close(right, case, absolute=1e-9), 2)
            found.append(Question([epsilon, sigma, rate, size], judge))
        return found

    return ask


GROUP = Task(
    "ps5-group",
    stars=2,
    minutes=25,
    entry="group_deltas",
    checks=(
        Check("remove", 2, ask_group(0, (0.1, 1.0), (0.3, 0.9), (0.1, 0.5))),
        Check("add", 2, ask_group(1, (0.1, 0.4), (0.2, 0.5), (1.2, 2.0))),
    ),
)

# --- a derivation -------------------------------------------------------

DERIVE = Task(
    "ps5-derive",
    stars=2,
    minutes=15,
    rubric=(
        (1, "names the law with neither record, and bounds P(S) by it"),
        (1, "bounds that law by P', and puts one inequality into the other"),
        (1, "any split: both hold at every epsilon, curves are not random"),
        (1, "equal only if one event is the best one in both steps"),
    ),
)

# --- one record for another ---------------------------------------------


def exchanged(epsilon: float, sigma: float, rate: float) -> float:
    p = ((0.0, 1 - rate), (1.0, rate))
    q = ((0.0, 1 - rate), (-1.0, rate))
    return stick(p, q, epsilon, sigma, 1)


def ask_exchange(
    rates: tuple[float, float], low: float, high: float, relative: float
) -> Ask:
    """Questions whose delta lies between low and high."""

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found: list[Question] = []
        while len(found) < 3:
            sigma, rate = pick(random, 0.7, 1.6), pick(random, *rates)
            epsilon = pick(random, 0.2, 14)
            if not low < exchanged(epsilon, sigma, rate) < high:
                continue
            judge = close(
                partial(exchanged, epsilon, sigma, rate),
                f"epsilon = {epsilon}, sigma = {sigma}, rate = {rate}",
                relative=relative,
                absolute=0.0,
            )
            found.append(Question([epsilon, sigma, rate], judge))
        return found

    return ask


EXCHANGE = Task(
    "ps5-exchange",
    stars=2,
    minutes=20,
    entry="exchange_delta",
    checks=(
        Check("rates below 1", 2, ask_exchange((0.1, 0.6), 0.01, 0.5, 1e-6)),
        Check("all take part", 1, ask_exchange((1, 1), 0.01, 0.5, 1e-6)),
        Check(
            "a delta near 1e-12",
            1,
            ask_exchange((0.1, 0.6), 1e-13, 1e-11, 1e-4),
        ),
    ),
)

# --- the best chain: closed forms by the theorem on sampling ------------


def remove_delta(alpha: Any, sigma: float, rate: float) -> Any:
    """The sampled step by the curve of a step that takes all records."""
    inner = np.maximum(1 + (alpha - 1) / rate, 1e-300)
    at = np.log(inner) * sigma
    plain = ndtr(1 / (2 * sigma) - at) - inner * ndtr(-1 / (2 * sigma) - at)
    return np.where(alpha > 1 - rate, rate * plain, 1 - alpha)


def chain(first: Any, epsilon: float, sigma: float, rate: float) -> Any:
    alpha = np.exp(epsilon - np.asarray(first))
    add = 1 - alpha + alpha * remove_delta(1 / alpha, sigma, rate)
    return remove_delta(np.exp(first), sigma, rate) + np.exp(first) * add


def chained(epsilon: float, sigma: float, rate: float) -> float:
    grid = np.linspace(0, epsilon, 2001)
    found = chain(grid, epsilon, sigma, rate)
    best = int(np.argmin(found))
    ends = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, 2000)])
    result = minimize_scalar(
        lambda x: float(chain(x, epsilon, sigma, rate)),
        bounds=ends,
        method="bounded",
    )
    return float(min(found[best], result.fun))


def meeting(sigma: float, rate: float) -> float:
    """From this epsilon on the best chain is the truth.

    With one threshold for both steps the two parts are the losses of remove
    at z and of add at -z. The first part is 0 at z = 1/2.
    """
    return -math.log1p(rate * math.expm1(-1 / sigma**2))


def ask_chained(rates: Sequence[float], low: float, high: float) -> Ask:
    """Epsilon from low to high times that where chain and truth meet."""

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for rate in rates:
            sigma = pick(random, 0.8, 1.3)
            rate = min(1.0, rate + pick(random, 0, 0.15))
            end = meeting(sigma, rate)
            epsilon = round(end * random.uniform(low, high), 3)
            judge = close(
                partial(chained, epsilon, sigma, rate),
                f"epsilon = {epsilon}, sigma = {sigma}, rate = {rate}",
                relative=1e-4,
            )
            found.append(Question([epsilon, sigma, rate], judge))
        return found

    return ask


CHAINED = Task(
    "ps5-chained",
    stars=2,
    minutes=20,
    entry="chained_delta",
    uses=("ps5-group",),
    repeats=1,
    checks=(
        Check("a larger epsilon", 2, ask_chained((0.2, 0.4, 1), 1.5, 3)),
        Check(
            "a small epsilon, where a chain must lose",
            2,
            ask_chained((0.3, 1), 0.4, 0.6),
        ),
    ),
)

# --- claims -------------------------------------------------------------

METHODS = (
    (
        "The chain of task 3 with $\\varepsilon_1$ at <20 to 80> percent "
        "of $\\varepsilon$.",
        "upper",
    ),
    ("The exact $\\delta$ of the same exchange if all take part.", "upper"),
    (
        "The rate times the exact $\\delta$ of the same exchange if all "
        "take part.",
        "upper",
    ),
    ("The exact $\\delta$ at $\\varepsilon - <0.05 to 0.30>$.", "upper"),
    ("The $\\delta$ of remove for one record, at the same $\\varepsilon$.",)
    + ("lower",),
    (
        "The larger one of the $\\delta$ of remove and of add for one record.",
        "lower",
    ),
    (
        "$P(S) - e^\\varepsilon Q(S)$ for the event $S$ that the output is "
        "above <0.8 to 2.4>.",
        "lower",
    ),
    (
        "The exact $\\delta$ for a record that moved the sum by 1, and "
        "another that moves it by $-<0.2 to 0.9>$.",
        "lower",
    ),
    (
        "Every loss is moved to the nearest multiple of <0.10 to 0.30>, and "
        "$\\delta$ is taken of the table.",
        "neither",
    ),
    (
        "The average of $(1 - e^{\\varepsilon - L})_+$ over <2000 to 9000> "
        "random outputs drawn from $P$.",
        "neither",
    ),
    (
        "The exact $\\delta$ for the standard deviation of <200 to 900> "
        "draws of the noise, in place of $\\sigma$.",
        "neither",
    ),
)


def draw_numbers(random: Random) -> dict[str, Any]:
    sigma, rate = pick(random, 0.8, 1.5), pick(random, 0.2, 0.5)
    epsilon = pick(random, 0.3, 0.9)
    right = exchanged(epsilon, sigma, rate)
    number = "A colleague's program prints {:.4g}, and nothing else."
    own = [
        (number.format(right * random.uniform(1.04, 1.12)), "upper"),
        (number.format(right * random.uniform(0.89, 0.96)), "lower"),
    ]
    return {"sigma": sigma, "rate": rate, "epsilon": epsilon} | draw_claims(
        random, METHODS, own
    )


@cache
def examples() -> dict[str, Any]:
    """Known answers, away from the easy corners."""
    return {
        "group_known": [group(x, 0.5, 1.2, 0.3, 3) for x in (0, 1)],
        "group_far": [group(x, 1.5, 1.2, 0.3, 3) for x in (0, 1)],
        "exchange_known": exchanged(0.5, 1.2, 0.3),
        "chain_small": chained(0.15, 1.0, 0.4),
        "chain_large": chained(0.8, 1.2, 0.3),
    }


ASSIGNMENT = Assignment(
    "ps5",
    "Assignment 5: more than one record",
    Path(__file__).with_suffix(".md"),
    (
        RULE,
        GROUP,
        DERIVE,
        EXCHANGE,
        CHAINED,
        claims_task("ps5-claims"),
    ),
    draw_numbers,
    claims_key,
    examples,
)
