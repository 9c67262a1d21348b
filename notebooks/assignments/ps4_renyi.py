"""Checks of assignment 4, on the part "One curve, added up".

Secret: a course that marks with it keeps this folder private.
"""

import math
from collections.abc import Callable
from functools import cache, partial
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
    pick,
)

Ask = Callable[[Random, Numbers], list[Question]]

# --- two tables ---------------------------------------------------------


def renyi(p: list[float], q: list[float], order: float) -> float:
    """log of the sum of p^a q^(1-a), divided by a - 1."""
    if any(x > 0 and y == 0 for x, y in zip(p, q, strict=True)):
        return math.inf
    with mp.workdps(40):
        pairs = zip(map(mp.mpf, p), map(mp.mpf, q), strict=True)
        terms = [x * (x / y) ** (order - 1) for x, y in pairs if x > 0]
        return float(mp.log(mp.fsum(terms)) / (order - 1))


def law(random: Random, size: int) -> list[float]:
    cuts = sorted(random.sample(range(1, 100), size - 1))
    ends = zip([0, *cuts], [*cuts, 100], strict=True)
    return [(b - a) / 100 for a, b in ends]


def ask_renyi(kind: str) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found: list[Question] = []
        for _ in range(3):
            size = random.randint(3, 5)
            p, q = law(random, size), law(random, size)
            order = pick(random, 1.2, 9)
            if kind == "missing":  # in P, in both, but once also in Q
                first = 0.0 if found else q[0] / 2
                p, q = [*p, 0.0, 0.0], [first, *q[1:], q[0] - first, 0.0]
            case = f"P = {p}, Q = {q}, order = {order}"
            judge = close(partial(renyi, p, q, order), case)
            found.append(Question([p, q, order], judge))
        return found

    return ask


RENYI = Task(
    "ps4-renyi",
    stars=1,
    minutes=10,
    entry="renyi_divergence",
    checks=(
        Check("outcomes that both have", 2, ask_renyi("finite")),
        Check("outcomes that P or Q never has", 1, ask_renyi("missing")),
    ),
)

# --- adding up ----------------------------------------------------------

Parts = list[list[Any]]


def added(order: float, parts: Parts) -> float:
    """The sum over the parts, each with its count."""
    total = 0.0
    for kind, value, count in parts:
        if kind == "gaussian":
            total += count * order / (2 * value**2)
        else:
            answers = [value, 1 - value]
            total += count * renyi(answers, answers[::-1], order)
    return total


def ask_added(kinds: tuple[str, ...]) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            order, parts = pick(random, 1.2, 30), []
            for kind in kinds:
                low, high = (2, 30) if kind == "gaussian" else (0.55, 0.9)
                value = pick(random, low, high)
                parts.append([kind, value, random.randint(2, 50)])
            case = f"order = {order}, parts = {parts}"
            judge = close(partial(added, order, parts), case)
            found.append(Question([order, parts], judge))
        return found

    return ask


ADDED = Task(
    "ps4-added",
    stars=2,
    minutes=15,
    entry="added_curve",
    uses=("ps4-renyi",),
    checks=(
        Check("Gaussian sums", 1, ask_added(("gaussian",))),
        Check("randomized response", 1, ask_added(("response",))),
        Check("several parts", 2, ask_added(("gaussian", "response") * 2)),
    ),
)

# --- a derivation -------------------------------------------------------

DERIVE = Task(
    "ps4-derive",
    stars=2,
    minutes=15,
    rubric=(
        (1, "writes delta as the mean of (1 - e^(epsilon - L))+ under P"),
        (1, "bounds it by c times e^((a - 1)(L - epsilon)), for every L"),
        (1, "finds the smallest c, by a derivative or otherwise"),
        (
            1,
            "takes means, solves for epsilon, and says that any order will do",
        ),
    ),
)

# --- from a curve to epsilon --------------------------------------------


def converted(orders: list[float], values: list[float], delta: float) -> float:
    """The improved rule at the best of the orders; never below 0."""
    best = math.inf
    for a, value in zip(orders, values, strict=True):
        weight = -math.log(a) + (a - 1) * math.log1p(-1 / a)
        found = value + (weight - math.log(delta)) / (a - 1)
        best = min(best, found)
    return max(0.0, best)


def ask_converted(kind: str) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            orders = sorted(random.sample(range(11, 400), 12))
            listed = [x / 10 for x in orders]
            slope, delta = pick(random, 0.02, 0.3), 10 ** -pick(random, 3, 9)
            if kind == "zero":
                slope, delta = 1e-5, pick(random, 0.3, 0.6)
            values = [round(slope * a, 8) for a in listed]
            if kind == "infinite":
                values[6:] = [math.inf] * 6
            case = f"orders = {listed}, values = {values}, delta = {delta:g}"
            judge = close(partial(converted, listed, values, delta), case)
            found.append(Question([listed, values, delta], judge))
        return found

    return ask


CONVERT = Task(
    "ps4-convert",
    stars=2,
    minutes=15,
    entry="epsilon_from_curve",
    checks=(
        Check("the best order", 3, ask_converted("finite")),
        Check("an epsilon of 0", 1, ask_converted("zero"), special=True),
        Check("orders with an infinite value", 1, ask_converted("infinite")),
    ),
)

# --- a sampled step -----------------------------------------------------


def sampled(order: int, sigma: float, rate: float) -> float:
    """The binomial sum, to 60 digits; terms of orders 0 and 1 make 1."""
    with mp.workdps(60):
        r, s = mp.mpf(rate), mp.mpf(sigma)
        more = mp.fsum(
            mp.binomial(order, k)
            * (1 - r) ** (order - k)
            * r**k
            * mp.expm1(k * (k - 1) / (2 * s**2))
            for k in range(2, order + 1)
        )
        return float(mp.log1p(more) / (order - 1))


def ask_sampled(
    orders: tuple[int, int],
    sigmas: tuple[float, float],
    rates: tuple[float, float],
) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            order = random.randint(*orders)
            sigma = pick(random, *sigmas)
            rate = float(f"{random.uniform(*rates):.3g}")
            case = f"order = {order}, sigma = {sigma}, rate = {rate}"
            judge = close(
                partial(sampled, order, sigma, rate),
                case,
                relative=1e-5,
                absolute=0.0,
            )
            found.append(Question([order, sigma, rate], judge))
        return found

    return ask


SAMPLED = Task(
    "ps4-sampled",
    stars=3,
    minutes=25,
    entry="sampled_curve",
    checks=(
        Check("small orders", 2, ask_sampled((2, 9), (0.8, 2), (0.05, 0.3))),
        Check(
            "orders of several hundred",
            1,
            ask_sampled((300, 600), (2, 4), (0.05, 0.3)),
        ),
        Check(
            "a curve near 1e-12",
            1,
            ask_sampled((2, 4), (4, 9), (1e-6, 3e-6)),
        ),
    ),
)

# --- claims -------------------------------------------------------------

METHODS = (
    ("The exact curve at the order <4 to 20>, and no other order.", "upper"),
    ("The rule without $c_a$, at the best of <8 to 40> orders.", "upper"),
    (
        "The value of the curve at the next whole order above $a$ in place "
        "of the one at $a$, at the best $a$.",
        "upper",
    ),
    ("The curve of twice as many steps, at the best order.", "upper"),
    ("The exact $\\varepsilon$ of half of the steps.", "lower"),
    (
        "The exact $\\varepsilon$ of the same run with twice the noise.",
        "lower",
    ),
    (
        "One event of the output, and the smallest $\\varepsilon$ that it "
        "allows at this $\\delta$.",
        "lower",
    ),
    (
        "The value of the curve at $a - 1$ in place of the one at $a$, at "
        "the best $a$.",
        "neither",
    ),
    (
        "The curve of a step as the average over <2000 to 9000> random "
        "losses, at the best order.",
        "neither",
    ),
    (
        "The curve without sampling times the rate squared, at the best "
        "order.",
        "neither",
    ),
)


def draw_numbers(random: Random) -> dict[str, Any]:
    return {
        "sigma": pick(random, 0.8, 1.5),
        "rate": pick(random, 0.01, 0.1),
        "count": 2 * random.randint(100, 900),
    } | draw_claims(random, METHODS)


@cache
def examples() -> dict[str, Any]:
    """Known answers, away from the easy corners."""
    orders, values = [1.5, 3.0, 8.0, 20.0], [0.3, 0.6, 1.6, math.inf]
    return {
        "convert_known": converted(orders, values, 1e-3),
        "sampled_known": sampled(5, 1.5, 0.2),
        "sampled_high": sampled(400, 3.0, 0.2),
    }


ASSIGNMENT = Assignment(
    "ps4",
    "Assignment 4: one curve, added up",
    Path(__file__).with_suffix(".md"),
    (
        RENYI,
        ADDED,
        DERIVE,
        CONVERT,
        SAMPLED,
        claims_task("ps4-claims"),
    ),
    draw_numbers,
    claims_key,
    examples,
)
