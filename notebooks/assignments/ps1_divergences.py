"""Assignment 1, on the pages `divergences` and `gaussian`."""

from pathlib import Path
from random import Random
from typing import Any

import accountlib as al
from course.tasks import (
    Assignment,
    Check,
    Task,
    asks,
    chances,
    claims,
    near,
    power,
    wrong,
)


def pair(random: Random) -> dict[str, Any]:
    size = random.randint(3, 6)
    return {"p": chances(random, size), "q": chances(random, size)}


def leaking(random: Random) -> dict[str, Any]:
    """Outcomes that P, that Q and that both never have."""
    p, q = pair(random).values()
    return {"p": [*p, 0.0, 0.0], "q": [0.0, *q, 0.0]}


def gaussian(epsilon: float, sigma: float) -> Any:
    return al.gaussian_delta(epsilon, mu=1 / sigma)


def inverse(delta: float, sigma: float) -> Any:
    return al.gaussian_epsilon(delta, mu=1 / sigma)


hockey = near(al.hockey_stick)
exact = near(gaussian, absolute=0.0)
solved = near(inverse, absolute=1e-6)
tiny = near(gaussian, relative=1e-3, absolute=0.0)
TASKS = (
    Task(
        "ps1-hockey",
        "hockey_stick",
        (
            Check("alpha above 1", 2, asks(hockey, pq=pair, alpha=(1.1, 1.8))),
            Check(
                "outcomes that P or Q never has",
                1,
                asks(hockey, pq=leaking, alpha=(1.2, 4.0)),
            ),
            Check("alpha below 1", 1, asks(hockey, pq=pair, alpha=(0.3, 0.9))),
        ),
    ),
    Task(
        "ps1-gaussian",
        "gaussian_delta",
        (
            Check(
                "epsilon of at least 0",
                2,
                asks(exact, epsilon=(0.1, 2.0), sigma=(0.6, 1.5)),
            ),
            Check(
                "delta near 1e-14, to 0.1 %",
                1,
                asks(
                    tiny,
                    epsilon=(2.0, 12.0),
                    sigma=(0.6, 3.0),
                    keep=lambda e, s: 1e-15 < gaussian(e, s) < 2e-14,
                ),
            ),
            Check(
                "epsilon below 0",
                1,
                asks(exact, epsilon=(-2.0, -0.3), sigma=(0.6, 3.0)),
            ),
        ),
    ),
    Task(
        "ps1-derive",
        rubric=(
            "writes P(S) and Q(S) with the complement of S",
            "collects 1 - alpha + alpha (Q - P/alpha) of the complement",
            "takes suprema: complements run through all events, too",
            "add at -3, ..., 3; the half table says nothing of add there",
        ),
    ),
    Task(
        "ps1-epsilon",
        "gaussian_epsilon",
        (
            Check(
                "an epsilon above 0",
                2,
                asks(solved, delta=power(-9, -2), sigma=(0.6, 3.0)),
            ),
            Check(
                "an epsilon of 0",
                1,
                asks(solved, delta=(0.4, 0.5), sigma=(1.5, 5.0)),
                special=True,
            ),
        ),
        uses=("ps1-gaussian",),
    ),
    claims("ps1-claims"),
)
METHODS = {
    "upper": (
        r"The probability under $P$ that the loss is above $\varepsilon$.",
        r"The exact $\delta$ at $\varepsilon - <0.05 to 0.30>$.",
        r"$E_P[e^{\lambda (L - \varepsilon)}]$ with $\lambda = <1.5 to 6.0>$.",
        "Every loss is moved up to the next multiple of <0.10 to 0.30>.",
    ),
    "lower": (
        r"$P(S) - e^\varepsilon Q(S)$ for the event $S$ that the output is "
        "above <1.2 to 2.8>.",
        "The outputs are cut into intervals of length <0.30 to 0.80>, and the "
        r"positive parts of $P - e^\varepsilon Q$ of the intervals are added.",
        "Losses above <2.5 to 4.0> are left out of the sum: they are rare.",
    ),
    "neither": (
        r"The average of $(1 - e^{\varepsilon - L})_+$ over <2000 to 9000> "
        "random outputs drawn from $P$.",
        "Every loss is moved to the nearest multiple of <0.10 to 0.30>.",
        r"The exact $\delta$ for the standard deviation of <200 to 900> draws "
        r"of the noise, in place of $\sigma$.",
    ),
}
NUMBERS = {"sigma": (0.7, 1.5), "epsilon": (0.4, 1.4)}


def examples() -> dict[str, Any]:
    return {
        "gaussian_known": gaussian(0.3, 2.5),
        "gaussian_below": gaussian(-0.4, 1.5),
        "epsilon_known": inverse(1e-5, 2.5),
    }


ASSIGNMENT = Assignment(Path(__file__), TASKS, METHODS, NUMBERS, examples)

STICK = "max(0.0, x - alpha * y)"
DELTA = "gaussian_delta(middle, sigma) <= delta"
WRONG = (
    *wrong(
        "ps1-hockey",
        (1, "mass at infinity lost", "zip(p, q)", "zip(p, q) if y > 0"),
        (4, "add and remove swapped", "zip(p, q)", "zip(q, p)"),
        (4, "the tail of the loss", STICK, "x * (x > alpha * y)"),
        (1, "alpha below 1 dropped", "- alpha", "- max(alpha, 1)"),
        (4, "half the sum of sizes", STICK, "abs(x - alpha * y) / 2"),
    ),
    *wrong(
        "ps1-gaussian",
        (4, "the tail of the loss", "first - ", "first - 0 * "),
        (4, "noise for its inverse", "    first", "    sigma **= -1; first"),
        (4, "a move of 2", "    first", "    sigma /= 2; first"),
        (1, "1 - cdf", "return first", "return 1 - (1 - first)"),
        (
            1,
            "below 0 as 0",
            "    first",
            "    epsilon = max(0, epsilon); first",
        ),
    ),
    *wrong(
        "ps1-epsilon",
        (
            3,
            "the tail of the loss",
            DELTA,
            "math.erfc((middle * sigma - 1 / "
            "(2 * sigma)) / 2**0.5) / 2 <= delta",
        ),
        (
            3,
            "a textbook's formula",
            "return high",
            "return math.sqrt(2 * math.log(1.25 / delta)) / sigma",
        ),
        (1, "an epsilon below 0", "low, high = 0.0", "low, high = -9.0"),
        (3, "a coarse search", "range(60)", "range(12)"),
    ),
)
