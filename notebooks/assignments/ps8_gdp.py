"""Assignment 8, on `tradeoff`, `gdp`, `regret` and `report`."""

import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp

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


def missed(p: list[float], q: list[float], x: float) -> Any:
    """The largest of all lines 1 - h(alpha) - alpha x below the curve."""
    slopes = [0.0] + [a / b for a, b in zip(p, q, strict=True) if b > 0]
    return max(1 - al.hockey_stick(p, q, s) - s * x for s in slopes)


def lists(random: Random) -> dict[str, Any]:
    size = random.randint(4, 6)
    return {"p": chances(random, size), "q": chances(random, size)}


def leaking(random: Random) -> dict[str, Any]:
    """One outcome that Q never has, one of P, and one of neither."""
    p, q = lists(random).values()
    half = p[-1] / 2
    return {"p": [*p[:-1], half, half, 0.0, 0.0], "q": [0.0, *q, 0.0, 0.0]}


def ask_missed(pair: Any, x: Any) -> Any:
    return asks(near(missed), pair=pair, x=x)


def cutoff_mu(sigma: float, rate: float, cutoff: float) -> float:
    """Of tests with a threshold, at both ends and between; by logarithms."""
    z = np.linspace(ndtri(cutoff), -ndtri(cutoff), 4001)
    out, drawn = math.log1p(-rate), math.log(rate)
    moved = 1 / sigma - z
    seen = np.logaddexp(out + log_ndtr(-z), drawn + log_ndtr(moved))
    miss = np.logaddexp(out + log_ndtr(z), drawn + log_ndtr(-moved))
    found = z + np.where(seen < miss, ndtri_exp(seen), -ndtri_exp(miss))
    return float(np.max(found[miss >= math.log(cutoff)]))


def ask_cutoff(low: float, high: float) -> Any:
    return asks(
        near(cutoff_mu, absolute=0.0),
        sigma=(0.7, 2.0),
        rate=power(-2.3, -0.6),
        cutoff=power(low, high),
    )


def response(epsilon: float) -> list[float]:
    """Randomized response has delta 0 at epsilon: there all is hidden."""
    mu = al.mu_from_pure_dp(epsilon)
    hidden = al.gaussian_delta(epsilon, mu=mu) / (1 + math.exp(epsilon))
    return [mu, hidden]


def ask_response(place: int) -> Any:
    judge = near(response, place=place, absolute=1e-8)
    return asks(judge, epsilon=(0.2, 4.0))


TASKS = (
    Task(
        "ps8-missed",
        "missed",
        (
            Check("tests with a coin", 2, ask_missed(lists, (0.03, 0.6))),
            Check(
                "outcomes that P or Q never has",
                1,
                ask_missed(leaking, (0.03, 0.6)),
            ),
            Check(
                "no false alarm",
                1,
                ask_missed(leaking, 0.0),
                special=True,
            ),
        ),
    ),
    Task(
        "ps8-derive",
        rubric=(
            "two lines, from both directions, and their corner",
            "f_mu goes through the corners; it is convex, so below chords",
            "randomized response attains the corner: no smaller number",
            "no: a record published with probability delta has f(0) < 1",
        ),
    ),
    Task(
        "ps8-cutoff",
        "mu_with_cutoff",
        (
            Check("cut-offs down to 1e-6", 2, ask_cutoff(-6, -2)),
            Check("cut-offs down to 1e-30", 2, ask_cutoff(-30, -18)),
        ),
    ),
    Task(
        "ps8-regret",
        "response_report",
        (
            Check("mu", 1, ask_response(0)),
            Check("the regret", 3, ask_response(1)),
        ),
    ),
    claims("ps8-claims"),
)
METHODS = {
    "upper": (
        "The exact share for a run of <5 to 30> percent fewer steps.",
        "The exact share of the attacker who looks at the first <40 to 80> "
        "percent of the steps only, and uses them as well as possible.",
        "The straight line between two exact points of the trade-off "
        "function, at half and at twice this false-positive rate.",
        r"$f_\mu$ with <70 to 95> percent of the exact $\mu$.",
    ),
    "lower": (
        r"$1 - \delta - e^\varepsilon x$ with the exact $\delta$ at "
        r"$\varepsilon = <0.5 to 2.5>$.",
        r"The largest one of <10 to 50> lines $1 - \delta - e^\varepsilon x$,"
        r" each with its exact $\delta$.",
        r"$f_\mu$ with <105 to 130> percent of the exact $\mu$.",
        r"$f_\mu$ where the numbers $\mu$ of all steps are added up.",
    ),
    "neither": (
        "The share that an attack missed in <2000 to 9000> simulated runs.",
        r"$f_\mu$ with the $\mu$ that belongs to the standard deviation of "
        "<200 to 900> draws of the noise.",
        "The middle of a proven lower and a proven upper bound.",
    ),
}
NUMBERS = {"count": (30, 120), "sigma": (4.0, 9.0), "percent": [0.5, 1, 2, 5]}


def examples() -> dict[str, Any]:
    return {
        "cutoff_known": cutoff_mu(1.3, 0.1, 0.001),
        "cutoff_far": cutoff_mu(1.3, 0.1, 1e-25),
    }


ASSIGNMENT = Assignment(Path(__file__), TASKS, METHODS, NUMBERS, examples)

SHARE = "min(1.0, left / without)"
MAX = "float(np.max((z - quantile)[missing >= cutoff]))"
REGRET = "gap / (1 + math.exp(epsilon))"
WRONG = (
    *wrong(
        "ps8-missed",
        (4, "no coin", SHARE, "1.0 * (left >= without)"),
        (4, "add and remove swapped", "zip(p, q)", "zip(q, p)"),
        (2, "mass at infinity lost", "if max(pair) > 0", "if pair[1] > 0"),
        (
            4,
            "outcomes sorted by P",
            "return pair[0] / pair[1] if pair[1] > 0 else math.inf",
            "return pair[0]",
        ),
    ),
    *wrong(
        "ps8-cutoff",
        (4, "no cut-off: without sampling", MAX, "1 / sigma"),
        (4, "the rate times mu without sampling", MAX, "rate / sigma"),
        (
            4,
            "the limit of many steps",
            MAX,
            "rate * math.sqrt(math.expm1(1 / sigma**2))",
        ),
        (2, "one minus a share", MAX, "-lowest - ndtri(1 - found[-1])"),
        (4, "the cut-off of a library", "ndtri(cutoff)", "ndtri(1e-10)"),
    ),
    *wrong(
        "ps8-regret",
        (3, "the corners of f only", REGRET, "0.0"),
        (3, "not divided by 1 + alpha", REGRET, "gap"),
        (3, "the advantage only", REGRET, "2 * ndtr(mu / 2) - 1 - gap"),
        (4, "epsilon for mu", "mu = ", "mu = epsilon + 0 * "),
        (4, "half of mu", "mu = 2 *", "mu ="),
    ),
)
