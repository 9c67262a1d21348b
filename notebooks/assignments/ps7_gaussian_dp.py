"""Checks of assignment 7, on the part "One honest number".

Secret: a course that marks with it keeps this folder private.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from random import Random
from statistics import NormalDist
from typing import Any

import mpmath as mp
from scipy.special import ndtri

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
NORMAL = NormalDist()


def quantile(probability: Any) -> Any:
    """The inverse of the normal law, to the digits in force."""
    small = min(probability, 1 - probability)
    sign = 1 if small == probability else -1
    goal = mp.log(small)
    start = mp.mpf(float(ndtri(float(small))))
    return sign * mp.findroot(lambda t: mp.log(mp.ncdf(t)) - goal, start)


def gaussian_delta(alpha: Any, mu: Any) -> Any:
    at = mp.log(alpha) / mu
    return mp.ncdf(mu / 2 - at) - alpha * mp.ncdf(-mu / 2 - at)


# --- the best test: by lines, in exact fractions --------------------------


def missed(p: list[float], q: list[float], x: float) -> float:
    """The largest of all lines 1 - h(alpha) - alpha x below the curve."""
    pairs = [(Fraction(a), Fraction(b)) for a, b in zip(p, q, strict=True)]
    slopes = [Fraction(0)] + [a / b for a, b in pairs if b > 0]

    def line(alpha: Fraction) -> Fraction:
        curve = sum(max(a - alpha * b, Fraction(0)) for a, b in pairs)
        return 1 - curve - alpha * Fraction(x)

    return float(max(line(alpha) for alpha in slopes))


def law(random: Random, size: int) -> list[float]:
    """Probabilities with two digits, none of them 0."""
    cuts = sorted(random.sample(range(1, 100), size - 1))
    ends = zip([0, *cuts], [*cuts, 100], strict=True)
    return [(b - a) / 100 for a, b in ends]


def tables(random: Random) -> Table:
    size = random.randint(4, 6)
    return law(random, size), law(random, size)


def leaking(random: Random) -> Table:
    """One outcome that Q never has, and one that both never have."""
    p, q = tables(random)
    return [*p[:-1], p[-1] / 2, p[-1] / 2, 0.0], [*q, 0.0, 0.0]


def absent(random: Random) -> Table:
    """One outcome that P never has."""
    q, p = leaking(random)
    return p, q


def equal_laws(random: Random) -> Table:
    p = law(random, 5)
    return p, list(p)


def ask_missed(make: Callable[[Random], Table], *places: Any) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for place in places:
            p, q = make(random)
            x = pick(random, 0.03, 0.6, 3) if place is None else place
            case = f"P = {p}, Q = {q}, x = {x}"
            judge = close(partial(missed, p, q, x), case)
            found.append(Question([p, q, x], judge))
        return found

    return ask


MISSED = Task(
    "ps7-missed",
    stars=1,
    minutes=15,
    entry="missed",
    checks=(
        Check("tests with a coin", 2, ask_missed(tables, None, None, None)),
        Check(
            "outcomes that P or Q never has",
            1,
            lambda random, numbers: [
                *ask_missed(leaking, None, None)(random, numbers),
                *ask_missed(absent, None)(random, numbers),
            ],
        ),
        Check(
            "false-positive rates of 0 and 1",
            1,
            ask_missed(leaking, 0.0, 0.0, 1.0),
            special=True,
        ),
    ),
)

# --- one number for two tables -------------------------------------------


def best_mu(p: list[float], q: list[float]) -> float:
    """The largest number of all corners, from the exact curve."""
    pairs = list(zip(p, q, strict=True))
    if any(min(pair) == 0 < max(pair) for pair in pairs):
        return math.inf
    fractions = [(Fraction(a), Fraction(b)) for a, b in pairs]
    found = 0.0
    for alpha in {a / b for a, b in fractions}:
        seen = sum(a for a, b in fractions if a >= alpha * b)
        alarms = sum(b for a, b in fractions if a >= alpha * b)
        if 0 < alarms < 1:
            with mp.workdps(40):
                x = mp.mpf(alarms.numerator) / alarms.denominator
                w = mp.mpf(seen.numerator) / seen.denominator
                if w < 1 - mp.mpf(10) ** -12 > x:
                    found = max(found, float(quantile(w) - quantile(x)))
    return found


def ask_mu(*makes: Callable[[Random], Table]) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for make in makes * 2:
            p, q = make(random)
            case = f"P = {p}, Q = {q}"
            judge = close(partial(best_mu, p, q), case, absolute=1e-9)
            found.append(Question([p, q], judge))
        return found

    return ask


MU = Task(
    "ps7-mu",
    stars=2,
    minutes=15,
    entry="best_mu",
    checks=(
        Check("the corner that decides", 2, ask_mu(tables, tables)),
        Check(
            "outcomes that P or Q never has",
            1,
            ask_mu(leaking, absent),
            special=True,
        ),
        Check("two equal laws", 1, ask_mu(equal_laws), special=True),
    ),
)

# --- a derivation -------------------------------------------------------

DERIVE = Task(
    "ps7-derive",
    stars=2,
    minutes=15,
    rubric=(
        (1, "two lines, from both directions, and their corner"),
        (1, "f_mu goes through the corners; it is convex, so below chords"),
        (1, "randomized response reaches the corner: no smaller number"),
        (1, "no: a record published with probability delta has f(0) < 1"),
    ),
)

# --- with a cut-off -----------------------------------------------------


def mu_of_test(z: Any, sigma: float, rate: float) -> Any:
    """Of the test with a threshold at z standard deviations, to 60 digits."""
    far = 1 / mp.mpf(sigma) - z
    seen = (1 - rate) * mp.ncdf(-z) + rate * mp.ncdf(far)
    if seen < 0.5:
        return z + quantile(seen)
    return z - quantile((1 - rate) * mp.ncdf(z) + rate * mp.ncdf(-far))


def mu_with_cutoff(sigma: float, rate: float, cutoff: float) -> float:
    """At both ends of the allowed thresholds, and at some between."""
    with mp.workdps(60):
        end = -quantile(mp.mpf(cutoff))
        rate = mp.mpf(rate)
        inside = [end * mp.mpf(k) / 8 for k in range(-6, 9)]
        return float(max(mu_of_test(z, sigma, rate) for z in inside))


def ask_cutoff(low: float, high: float) -> Ask:
    """Cut-offs by their powers of ten."""

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            sigma, rate = pick(random, 0.7, 2), pick(random, 0.005, 0.3, 3)
            cutoff = float(f"{10 ** -random.uniform(low, high):.2g}")
            judge = close(
                partial(mu_with_cutoff, sigma, rate, cutoff),
                f"sigma = {sigma}, rate = {rate}, cutoff = {cutoff}",
                absolute=0.0,
            )
            found.append(Question([sigma, rate, cutoff], judge))
        return found

    return ask


CUTOFF = Task(
    "ps7-cutoff",
    stars=3,
    minutes=25,
    entry="mu_with_cutoff",
    checks=(
        Check("cut-offs down to 1e-6", 2, ask_cutoff(2, 6)),
        Check("cut-offs down to 1e-30", 2, ask_cutoff(18, 30)),
    ),
)

# --- what the number hides ----------------------------------------------


def response_report(place: int, epsilon: float) -> float:
    """At every kink of the curve of randomized response; 40 digits."""
    with mp.workdps(40):
        top = mp.exp(epsilon)
        truth = top / (1 + top)
        mu = 2 * quantile(truth)
        if place == 0:
            return float(mu)

        def curve(alpha: Any) -> Any:
            pairs = ((truth, 1 - truth), (1 - truth, truth))
            return mp.fsum(max(p - alpha * q, 0) for p, q in pairs)

        shifts = [
            (gaussian_delta(alpha, mu) - curve(alpha)) / (1 + alpha)
            for alpha in (1 / top, mp.mpf(1), top)
        ]
        return float(max(shifts))


def ask_report(place: int) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            epsilon = pick(random, 0.2, 4)
            case = f"epsilon = {epsilon}, {('mu', 'the regret')[place]}"
            right = partial(response_report, place, epsilon)
            judge = part(place, close(right, case, absolute=1e-8), 2)
            found.append(Question([epsilon], judge))
        return found

    return ask


REGRET = Task(
    "ps7-regret",
    stars=3,
    minutes=20,
    entry="response_report",
    checks=(
        Check("mu", 1, ask_report(0)),
        Check("the regret", 3, ask_report(1)),
    ),
)

# --- claims -------------------------------------------------------------

METHODS = (
    ("The exact share for a run of <5 to 30> percent fewer steps.", "upper"),
    (
        "The exact share of the attacker who looks at the first <40 to 80> "
        "percent of the steps only, and uses them as well as possible.",
        "upper",
    ),
    (
        "The straight line between two exact points of the trade-off "
        "function, at half and at twice this false-positive rate.",
        "upper",
    ),
    ("$f_\\mu$ with <70 to 95> percent of the exact $\\mu$.", "upper"),
    (
        "$1 - \\delta - e^\\varepsilon x$ with the exact $\\delta$ at "
        "$\\varepsilon = <0.5 to 2.5>$.",
        "lower",
    ),
    (
        "The largest one of <10 to 50> lines $1 - \\delta - e^\\varepsilon x$,"
        " each with its exact $\\delta$.",
        "lower",
    ),
    ("$f_\\mu$ with <105 to 130> percent of the exact $\\mu$.", "lower"),
    ("$f_\\mu$ where the numbers $\\mu$ of all steps are added up.", "lower"),
    (
        "The share that an attack missed in <2000 to 9000> simulated runs.",
        "neither",
    ),
    (
        "$f_\\mu$ with the $\\mu$ that belongs to the standard deviation of "
        "<200 to 900> draws of the noise.",
        "neither",
    ),
    ("The middle of a proven lower and a proven upper bound.", "neither"),
)


def draw_numbers(random: Random) -> dict[str, Any]:
    count, percent = random.randint(30, 120), random.choice((0.5, 1, 2, 5))
    sigma = round(math.sqrt(count) / random.uniform(0.8, 1.8), 1)
    x = percent / 100
    right = NORMAL.cdf(NORMAL.inv_cdf(1 - x) - math.sqrt(count) / sigma)
    number = "A colleague's program prints {:.4g}, and nothing else."
    own = [
        (number.format(right * random.uniform(1.02, 1.05)), "upper"),
        (number.format(right * random.uniform(0.92, 0.97)), "lower"),
    ]
    shown = {"count": count, "sigma": sigma, "percent": percent}
    return shown | draw_claims(random, METHODS, own)


@cache
def examples() -> dict[str, Any]:
    """Known answers, away from the easy corners."""
    return {
        "mu_known": best_mu([0.2, 0.5, 0.3], [0.3, 0.2, 0.5]),
        "mu_corner": best_mu([0.05, 0.45, 0.5], [0.15, 0.5, 0.35]),
        "cutoff_known": mu_with_cutoff(1.3, 0.1, 0.001),
        "cutoff_far": mu_with_cutoff(1.3, 0.1, 1e-25),
    }


ASSIGNMENT = Assignment(
    "ps7",
    "Assignment 7: one honest number",
    Path(__file__).with_suffix(".md"),
    (
        MISSED,
        MU,
        DERIVE,
        CUTOFF,
        REGRET,
        claims_task("ps7-claims"),
    ),
    draw_numbers,
    claims_key,
    examples,
)
