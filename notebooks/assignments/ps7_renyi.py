"""Assignment 7: `renyi`, `renyi_sampling`, `renyi_bounds`,
`what_renyi_loses`."""

import math
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import accountlib as al
from course.tasks import (
    Assignment,
    Check,
    Task,
    asks,
    both,
    chances,
    claims,
    near,
    power,
    wrong,
)


def renyi(p: list[float], q: list[float], order: float) -> float:
    pairs = list(zip(p, q, strict=True))
    if any(x > 0 and y == 0 for x, y in pairs):
        return math.inf
    terms = [x**order * y ** (1 - order) for x, y in pairs if x > 0]
    return math.log(math.fsum(terms)) / (order - 1)


def lists(leak: str, random: Random) -> dict[str, list[float]]:
    """Two lists of four; outcomes that Q, or P, and that both never have."""

    if not leak:
        return {"p": chances(random, 4), "q": chances(random, 4)}
    ends = [0.0, 0.5] if leak == "P" else [0.5, 0.0]
    found = {}
    for name, end in zip("pq", ends, strict=True):
        first, *rest = chances(random, 4)
        found[name] = [first * (1 - end), *rest, first * end, 0.0]
    return found


def ask_renyi(leak: str, times: int) -> Any:
    judge = near(renyi)
    pair = partial(lists, leak)
    return asks(judge, times=times, pq=pair, order=(1.2, 9.0))


def converted(orders: list[float], values: list[float], delta: float) -> float:
    """The improved rule at the best of the orders; never below 0."""
    found = [
        value
        + (math.log(1 / delta / a) + (a - 1) * math.log1p(-1 / a)) / (a - 1)
        for a, value in zip(orders, values, strict=True)
    ]
    return max(0.0, min(found))


def ask_converted(slope: float, delta: Any, infinite: int = 0) -> Any:
    def curve(random: Random) -> dict[str, list[float]]:
        orders = sorted(random.sample(range(11, 400), 12))
        factor = slope * random.uniform(1, 10)
        values = [round(factor * a / 10, 8) for a in orders]
        values[12 - infinite :] = [math.inf] * infinite
        return {"orders": [a / 10 for a in orders], "values": values}

    return asks(near(converted), curve=curve, delta=delta)


def sampled(order: int, sigma: float, rate: float) -> float:
    def whole(a: Any) -> Any:
        return al.gaussian_rdp(a, noise_multiplier=sigma)

    return float(al.poisson_rdp(order, rdp=whole, rate=rate, bound="tight"))


def ask_sampled(order: Any, sigma: Any, rate: Any) -> Any:
    judge = near(sampled, relative=1e-5, absolute=0.0)
    return asks(judge, order=order, sigma=sigma, rate=rate)


TASKS = (
    Task(
        "ps7-renyi",
        "renyi_divergence",
        (
            Check("outcomes that both have", 2, ask_renyi("", 3)),
            Check(
                "outcomes that P or Q never has",
                1,
                both(ask_renyi("P", 2), ask_renyi("Q", 1)),
            ),
        ),
    ),
    Task(
        "ps7-derive",
        rubric=(
            "writes delta as the mean of (1 - e^(epsilon - L))+ under P",
            "bounds it by c times e^((a - 1)(L - epsilon)), for every L",
            "finds the smallest c, by a derivative or otherwise",
            "takes means, solves for epsilon, and says that any order will do",
        ),
    ),
    Task(
        "ps7-convert",
        "epsilon_from_curve",
        (
            Check("the best order", 3, ask_converted(0.03, power(-9, -3))),
            Check(
                "an epsilon of 0",
                1,
                ask_converted(1e-6, (0.3, 0.6)),
                special=True,
            ),
            Check(
                "orders with an infinite value",
                1,
                ask_converted(0.03, power(-9, -3), infinite=6),
            ),
        ),
    ),
    Task(
        "ps7-sampled",
        "sampled_curve",
        (
            Check(
                "small orders", 2, ask_sampled((2, 9), (0.8, 2.0), (0.05, 0.3))
            ),
            Check(
                "orders of several hundred",
                1,
                ask_sampled((300, 600), (2.0, 4.0), (0.05, 0.3)),
            ),
            Check(
                "a curve near 1e-12",
                1,
                ask_sampled((2, 4), (4.0, 9.0), power(-6, -5.5)),
            ),
        ),
    ),
    claims("ps7-claims"),
)
METHODS = {
    "upper": (
        "The exact curve at the order <4 to 20>, and no other order.",
        "The rule without $c_a$, at the best of <8 to 40> orders.",
        "The value of the curve at the next whole order above $a$ in place "
        "of the one at $a$, at the best $a$.",
        "The curve of twice as many steps, at the best order.",
    ),
    "lower": (
        r"The exact $\varepsilon$ of half of the steps.",
        r"The exact $\varepsilon$ of the same run with twice the noise.",
        r"One event of the output, and the smallest $\varepsilon$ that it "
        r"allows at this $\delta$.",
    ),
    "neither": (
        "The value of the curve at $a - 1$ in place of the one at $a$, at "
        "the best $a$.",
        "The curve of a step as the average over <2000 to 9000> random "
        "losses, at the best order.",
        "The curve without sampling times the rate squared, at the best "
        "order.",
    ),
}
NUMBERS = {
    "sigma": (0.8, 1.5),
    "rate": (0.01, 0.1),
    "count": list(range(200, 1_801, 2)),
}


def examples() -> dict[str, Any]:
    orders, values = [1.5, 3.0, 8.0, 20.0], [0.3, 0.6, 1.6, math.inf]
    return {
        "convert_known": converted(orders, values, 1e-3),
        "sampled_known": sampled(5, 1.5, 0.2),
        "sampled_high": sampled(400, 3.0, 0.2),
    }


ASSIGNMENT = Assignment(Path(__file__), TASKS, METHODS, NUMBERS, examples)

TERM = "x * (x / y) ** (order - 1)"
BEST = "value + (weight - math.log(delta)) / (a - 1)"
SUM = "logsumexp(logs + log_more)"
EXPONENT = "k * (k - 1) / (2 * sigma**2)"
WRONG = (
    *wrong(
        "ps7-renyi",
        (3, "add and remove swapped", TERM, "y * (y / x) ** (order - 1)"),
        (3, "not divided", " / (order - 1)", ""),
        (
            1,
            "mass at infinity lost",
            "    if",
            "    p, q = zip(*[z for z in zip(p, q) if z[1] > 0])\n    if",
        ),
        (1, "infinite wherever P or Q is 0", "x > 0 and y == 0", "x * y == 0"),
        (3, "the order of the moment", "order - 1", "order"),
    ),
    *wrong(
        "ps7-convert",
        (5, "the rule without its weight", "weight - math", "-math"),
        (5, "the largest order only", f"np.min({BEST})", f"({BEST})[-1]"),
        (5, "divided by the order", "/ (a - 1))))", "/ a)))"),
        (1, "an epsilon below 0", "max(0.0, ", "max(-9.0, "),
        (
            1,
            "infinite values left as they are",
            "return ",
            "return math.inf if np.isinf(value).any() else ",
        ),
    ),
    *wrong(
        "ps7-sampled",
        (
            1,
            "numbers that overflow",
            SUM,
            "np.log(np.sum(np.exp(logs + log_more)))",
        ),
        (1, "lost digits", "log1p(math.exp(more))", "log(1 + math.exp(more))"),
        (4, "k squared", EXPONENT, "k**2 / (2 * sigma**2)"),
        (4, "divided by the order", "/ (order - 1)", "/ order"),
        (4, "the rate squared", "moment /", "0 * moment + rate**2 * order /"),
    ),
)
