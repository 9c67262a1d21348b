"""Checks of assignment 3, on the part "Any run, as narrow as asked".

Secret: a course that marks with it keeps this folder private.
"""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp

from course.tasks import (
    Assignment,
    Check,
    Judge,
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
from course.values import number

Ask = Callable[[Random, Numbers], list[Question]]
Table = dict[str, Any]  # first, mass
Case = tuple[Table, float, int, float]  # with step, count and epsilon

# --- tables and their moments -------------------------------------------


def draw_table(random: Random, size: int) -> Table:
    raw = [random.uniform(0.2, 1.0) for _ in range(size)]
    mass = [round(x / sum(raw), 4) for x in raw[:-1]]
    mass.append(round(1 - sum(mass), 12))
    return {"first": -random.randint(0, size - 2), "mass": mass}


def losses(table: Table, step: float) -> Any:
    return (table["first"] + np.arange(len(table["mass"]))) * step


def log_moment(table: Table, step: float, tilt: float) -> float:
    found = logsumexp(tilt * losses(table, step), b=table["mass"])
    return float(found)


def slope(table: Table, step: float, tilt: float) -> float:
    """The derivative of the log moment: the mean of the tilted loss."""
    exponent = tilt * losses(table, step)
    weight = np.exp(exponent - exponent.max()) * table["mass"]
    return float(weight @ losses(table, step) / weight.sum())


def tilt_of(case: Case) -> float:
    table, step, count, epsilon = case

    def excess(tilt: float) -> float:
        return slope(table, step, tilt) - epsilon / count

    return float(brentq(excess, 0, 1e6 / step, xtol=1e-13, rtol=1e-13))


def draw_case(
    random: Random, size: int, counts: tuple[int, int], share: float
) -> Case:
    """A positive epsilon, between the mean total and the largest one."""
    while True:
        table, step = draw_table(random, size), pick(random, 0.05, 0.3)
        count = random.randint(*counts)
        mean, top = slope(table, step, 0.0), float(losses(table, step)[-1])
        epsilon = round(count * (mean + share * (top - mean)), 6)
        if epsilon > 0:
            return table, step, count, epsilon


def told(case: Case) -> str:
    table, step, count, epsilon = case
    return (
        f"first = {table['first']}, mass = {table['mass']}, step = {step}, "
        f"count = {count}, epsilon = {epsilon}"
    )


def ask_moment(low: float, high: float) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            table = draw_table(random, random.randint(3, 7))
            step, tilt = pick(random, 0.05, 0.3), pick(random, low, high)
            case = f"{table}, step = {step}, tilt = {tilt}"
            judge = close(partial(log_moment, table, step, tilt), case)
            found.append(Question([table, step, tilt], judge))
        return found

    return ask


MOMENT = Task(
    "ps3-moment",
    stars=1,
    minutes=10,
    entry="log_moment",
    checks=(
        Check("tilts up to 10", 2, ask_moment(0.5, 10)),
        Check("tilts of many thousands", 1, ask_moment(2e4, 9e4)),
    ),
)


def ask_tilt(counts: tuple[int, int], low: float, high: float) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            size, share = random.randint(3, 6), random.uniform(low, high)
            case = draw_case(random, size, counts, share)
            judge = close(partial(tilt_of, case), told(case), relative=1e-4)
            found.append(Question(list(case), judge))
        return found

    return ask


TILT = Task(
    "ps3-tilt",
    stars=2,
    minutes=15,
    entry="best_tilt",
    uses=("ps3-moment",),
    checks=(
        Check("a single step", 1, ask_tilt((1, 1), 0.1, 0.5)),
        Check("many steps", 2, ask_tilt((10, 10**6), 0.1, 0.5)),
        Check("near the largest loss", 1, ask_tilt((10, 999), 0.97, 0.99)),
    ),
)

# --- delta, by sums of positive terms -----------------------------------


def power(mass: list[float], count: int) -> Any:
    """Composition without cancellation, by repeated squaring."""
    result, base = np.ones(1), np.asarray(mass)
    while count:
        if count & 1:
            result = np.convolve(result, base)
        count >>= 1
        if count:
            base = np.convolve(base, base)
    return result


def log_law(table: Table, count: int) -> Any:
    """Logarithms of the probabilities of the total."""
    mass = table["mass"]
    if len(mass) == 2:
        k = np.arange(count + 1)
        ways = gammaln(count + 1) - gammaln(k + 1) - gammaln(count - k + 1)
        terms = k * math.log(mass[1]) + (count - k) * math.log(mass[0])
        return ways + terms
    with np.errstate(divide="ignore", under="ignore"):
        return np.log(power(mass, count))


def log_delta(case: Case) -> float:
    table, step, count, epsilon = case
    logs = log_law(table, count)
    gaps = (count * table["first"] + np.arange(len(logs))) * step - epsilon
    above = gaps > 0
    weights = np.log(-np.expm1(-gaps[above]))
    return float(logsumexp(logs[above] + weights))


def chernoff(case: Case) -> float:
    table, step, count, epsilon = case
    tilt = tilt_of(case)
    return count * log_moment(table, step, tilt) - tilt * epsilon


def cases(random: Random, kind: str) -> list[Case]:
    """Runs whose delta is of some size; the share is searched."""
    low, high, counts, size = {
        "few": (-9.0, -2.0, (5, 30), 4),
        "tiny": (-400.0, -200.0, (600, 900), 3),
        "million": (-120.0, -30.0, (10**6, 10**6), 2),
    }[kind]
    found: list[Case] = []
    while len(found) < 2:
        share = random.uniform(0.002, 0.7) ** (3 if kind == "million" else 1)
        case = draw_case(random, size, counts, share)
        if low < chernoff(case) < high:
            found.append(case)
    return found


def above(case: Case, value: Any) -> str:
    if number(value) >= log_delta(case) - 1e-9:
        return ""
    return f"for {told(case)} your number is below the truth: it is no bound"


def below_chernoff(case: Case, value: Any) -> str:
    if number(value) > chernoff(case) + 1e-6:
        return f"for {told(case)} your bound is not the best one"
    if number(value) < log_delta(case) - 50:
        return f"for {told(case)} your number is far below the truth"
    return ""


def ask_bound(holds: Callable[[Case, Any], str]) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = cases(random, "few")[:1] + cases(random, "tiny")
        return [Question(list(case), partial(holds, case)) for case in found]

    return ask


BOUND = Task(
    "ps3-bound",
    stars=2,
    minutes=15,
    entry="log_delta_bound",
    uses=("ps3-moment", "ps3-tilt"),
    checks=(
        Check("never below the truth", 2, ask_bound(above), special=True),
        Check("as good as Chernoff's bound", 2, ask_bound(below_chernoff)),
    ),
)


def true_delta(case: Case) -> float:
    return math.exp(log_delta(case))


def ask_delta(kind: str) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for case in cases(random, kind):
            judge = close(
                partial(true_delta, case),
                told(case),
                relative=1e-4,
                absolute=0.0,
            )
            found.append(Question(list(case), judge))
        return found

    return ask


FEW = Task(
    "ps3-few",
    stars=3,
    minutes=25,
    entry="run_delta",
    uses=("ps3-moment", "ps3-tilt"),
    repeats=1,
    checks=(
        Check("a few steps", 2, ask_delta("few")),
        Check("a delta below 1e-80", 2, ask_delta("tiny")),
        Check("a million steps", 1, ask_delta("million")),
    ),
)

# --- an interval --------------------------------------------------------


def ends(lower: float, upper: float, r: float, a: float, lost: float) -> Any:
    low, high = (lower - a) / (1 + r), (upper + a) / (1 - r) + lost
    return max(0.0, low), min(1.0, high)


def ask_ends(place: int, clipped: bool) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            lower = 10 ** -pick(random, 3, 6)
            upper = lower * pick(random, 1.2, 2)
            r, a = pick(random, 0.05, 0.2), lower * pick(random, 0.05, 0.3)
            lost = lower * pick(random, 0.1, 0.5)
            if clipped and place:
                lower, upper, lost = 0.8, 0.96, 0.3
            elif clipped:
                a = 2 * lower
            given = [float(f"{x:.6g}") for x in (lower, upper, r, a, lost)]
            names = ("lower", "upper", "relative", "absolute", "lost")
            words = [f"{k} = {v}" for k, v in zip(names, given, strict=True)]
            inner: Judge = close(
                partial(end, place, given),
                f"{', '.join(words)}: the {('lower', 'upper')[place]} end:",
            )
            found.append(Question(given, part(place, inner, 2)))
        return found

    return ask


def end(place: int, given: list[float]) -> float:
    return float(ends(*given)[place])


def ask_clipped(random: Random, numbers: Numbers) -> list[Question]:
    found = ask_ends(0, True)(random, numbers)
    return found + ask_ends(1, True)(random, numbers)


ENDS = Task(
    "ps3-ends",
    stars=2,
    minutes=10,
    entry="interval",
    checks=(
        Check("the lower end", 1, ask_ends(0, False)),
        Check("the upper end", 1, ask_ends(1, False)),
        Check("ends between 0 and 1", 1, ask_clipped, special=True),
    ),
)

# --- a derivation, and claims -------------------------------------------

DERIVE = Task(
    "ps3-derive",
    stars=2,
    minutes=15,
    rubric=(
        (1, "defines the tilted law and writes delta as a mean under it"),
        (1, "shows that the tilted total is the sum of tilted steps"),
        (1, "concludes that every tilt gives the same delta"),
        (1, "says what the tilt changes: where the mass is, and so rounding"),
    ),
)
METHODS = (
    (
        "$e^{T K(\\lambda) - \\lambda \\varepsilon}$ at $\\lambda = <1.5 to "
        "4.0>$.",
        "upper",
    ),
    (
        "$e^{T K(\\lambda) - \\lambda \\varepsilon}$ at the best of <5 to "
        "20> tilts.",
        "upper",
    ),
    (
        "The exact sum, with losses above a threshold counted as infinite.",
        "upper",
    ),
    (
        "The exact $\\delta$ of the run at $\\varepsilon - <0.01 to 0.05>$.",
        "upper",
    ),
    (
        "A single term of the sum, $(1 - e^{\\varepsilon - \\ell}) "
        "\\Pr[S = \\ell]$, with the largest such term.",
        "lower",
    ),
    ("The exact sum, with all losses above a threshold left out.", "lower"),
    (
        "The tilted total is taken for normal, with its exact mean and "
        "variance.",
        "neither",
    ),
    (
        "A sum over frequencies that ends at the first small entry.",
        "neither",
    ),
    (
        "A Fourier transform on a circle of the wrong length, where masses "
        "come round, without any correction.",
        "neither",
    ),
)


def draw_numbers(random: Random) -> dict[str, Any]:
    return {
        "count": random.randint(2_000, 9_000),
        "epsilon": pick(random, 0.8, 3),
    } | draw_claims(random, METHODS)


ASSIGNMENT = Assignment(
    "ps3",
    "Assignment 3: any run, as narrow as asked",
    Path(__file__).with_suffix(".md"),
    (
        MOMENT,
        TILT,
        BOUND,
        FEW,
        DERIVE,
        ENDS,
        claims_task("ps3-claims"),
    ),
    draw_numbers,
    claims_key,
)
