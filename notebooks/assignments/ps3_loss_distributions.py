"""Assignment 3, on the pages `pld`, `optimistic` and `composition`."""

import math
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import accountlib as al
from course.tasks import (
    Assignment,
    Check,
    Malformed,
    Task,
    asks,
    between,
    both,
    claims,
    near,
    number,
    wrong,
)

PLD = dict[str, Any]  # first, mass, infinity
Losses = list[float]


def profile(losses: Any, masses: Any, infinity: float, epsilon: float) -> Any:
    with np.errstate(over="ignore"):
        gain = np.maximum(-np.expm1(epsilon - np.asarray(losses)), 0)
    return float(gain @ np.asarray(masses)) + infinity


def delta(pld: PLD, step: float, epsilon: float) -> Any:
    losses = (pld["first"] + np.arange(len(pld["mass"]))) * step
    return profile(losses, pld["mass"], pld["infinity"], epsilon)


def as_pld(value: Any) -> PLD:
    """An answer as a PLD, if it has the form of one."""
    if type(value) is not dict or type(value.get("first")) is not int:
        raise Malformed("a dictionary with first, mass, infinity was expected")
    if type(value.get("mass")) is not list or abs(value["first"]) > 1e5:
        raise Malformed("`mass` is no list, or `first` is far away")
    mass = [number(x) for x in value["mass"]]
    infinity = number(value.get("infinity"))
    if not all(map(math.isfinite, [*mass, infinity])):
        raise Malformed("a probability is infinite")
    return {"first": value["first"], "mass": mass, "infinity": infinity}


def masses(random: Random, size: int, infinity: float) -> list[float]:
    """Probabilities of the finite losses, which infinity makes up to 1."""
    raw = [random.uniform(0.2, 1.0) for _ in range(size)]
    found = [round(x / sum(raw) * (1 - infinity), 4) for x in raw[:-1]]
    return [*found, round(1 - infinity - sum(found), 12)]


def plds(low: int, high: int, infinity: float) -> Any:
    """Draws PLDs of so many finite losses."""

    def make(random: Random) -> dict[str, PLD]:
        mass = masses(random, random.randint(low, high), infinity)
        first = random.randint(-4, -1)
        return {"pld": {"first": first, "mass": mass, "infinity": infinity}}

    return make


# --- a pessimistic PLD ----------------------------------------------------


def raw(infinity: float) -> Any:
    """Draws losses between those of the grid."""

    def make(random: Random) -> dict[str, Any]:
        step, size = random.choice([0.1, 0.2, 0.25]), random.randint(4, 8)
        losses = [
            round((x + random.uniform(0.1, 0.9)) * step, 4)
            for x in random.sample(range(-8, 25), size)
        ]
        return {
            "losses": [*losses, math.inf],
            "probabilities": [*masses(random, size, infinity), infinity],
            "step": step,
        }

    return make


def keeps(value: Any, losses: Losses, chances: Losses, step: float) -> str:
    pld = as_pld(value)
    mass = [*pld["mass"], pld["infinity"]]
    if min(mass) < -1e-12 or abs(math.fsum(mass) - 1) > 1e-9:
        return "your probabilities are no distribution"
    right = abs(pld["infinity"] - chances[-1]) < 1e-9
    return "" if right else "your mass at infinity is another one"


def is_above(value: Any, losses: Losses, chances: Losses, step: float) -> str:
    pld = as_pld(value)
    for at in np.arange(-24, 80) * step / 4:
        args = losses[:-1], chances[:-1], chances[-1]
        if delta(pld, step, at) < profile(*args, at) - 1e-10:
            return f"your PLD is below the truth at epsilon = {at:.4g}"
        if delta(pld, step, at) > profile(*args, at - 2 * step) + 1e-10:
            return f"your PLD is far too high at epsilon = {at:.4g}"
    return ""


def is_tight(value: Any, losses: Losses, chances: Losses, step: float) -> str:
    pld = as_pld(value)
    up = np.ceil(np.array(losses[:-1]) / step) * step
    for at in np.arange(-24, 80) * step / 4:
        least = profile(up, chances[:-1], chances[-1], at)
        if delta(pld, step, at) > least + 1e-10:
            return f"rounding up is lower at epsilon = {at:.4g}"
    return ""


# --- many runs ------------------------------------------------------------


def composed(pld: PLD, count: int) -> PLD:
    """By plain sums, whose rounding errors are relative."""
    mass = np.ones(1)
    for _ in range(count):
        mass = np.convolve(mass, pld["mass"])
    infinity = -math.expm1(count * math.log1p(-pld["infinity"]))
    return {"first": count * pld["first"], "mass": mass, "infinity": infinity}


def same(value: Any, pld: PLD, count: int) -> str:
    """The same probabilities, with or without zeros at the ends."""
    found, right = as_pld(value), composed(pld, count)
    first = min(found["first"], right["first"])
    last = max(x["first"] + len(x["mass"]) for x in (found, right))
    gap = np.zeros(last - first)
    for sign, each in ((1, found), (-1, right)):
        start = each["first"] - first
        gap[start : start + len(each["mass"])] += sign * np.array(each["mass"])
    place = int(np.argmax(abs(gap)))
    if abs(gap[place]) > 1e-9:
        return f"the probability at index {first + place} is another one"
    judge = near(float, relative=0.01, absolute=0.0)
    said = judge(found["infinity"], right["infinity"])
    return said and f"the mass at infinity: {said}"


def ask_compose(size: int, infinity: float, count: Any, times: int = 3) -> Any:
    pld = plds(size, size + 3, infinity)
    return asks(same, times=times, pld=pld, count=count)


def ask_delta(infinity: float, epsilon: Any) -> Any:
    return asks(
        near(delta),
        pld=plds(7, 12, infinity),
        step=(0.1, 0.4),
        epsilon=epsilon,
    )


@cache
def run_epsilon(sigma: float, rate: float, count: int, delta: float) -> Any:
    run = al.Release(al.Gaussian(sigma), al.Poisson(rate), count=count)
    found = al.epsilon(
        run, delta=delta, adjacency="add-or-remove", relative_width=1e-5
    )
    return found.lower


def ask_run(low: float, high: float, sigma: Any, rate: Any) -> Any:
    return asks(
        between(low, high, run_epsilon),
        times=1,
        sigma=sigma,
        rate=rate,
        count=30,
        delta=1e-5,
    )


TASKS = (
    Task(
        "ps3-table",
        "pessimistic",
        (
            Check("never below the truth", 2, asks(is_above, losses=raw(0.0))),
            Check("not above rounding up", 1, asks(is_tight, losses=raw(0.0))),
            Check("nothing is lost", 2, asks(keeps, losses=raw(0.03)), True),
        ),
    ),
    Task(
        "ps3-curve",
        "pld_delta",
        (
            Check("finite losses", 2, ask_delta(0.0, (0.02, 0.15))),
            Check("mass at infinity", 1, ask_delta(0.02, (5.0, 9.0)), True),
        ),
    ),
    Task(
        "ps3-compose",
        "compose",
        (
            Check("a few runs", 2, ask_compose(3, 0.0, (2, 5))),
            Check(
                "mass at infinity, even if tiny",
                1,
                both(
                    ask_compose(3, 0.1, (5, 40), times=1),
                    ask_compose(3, 3e-12, (5, 40), times=1),
                ),
            ),
            Check("hundreds of runs", 1, ask_compose(3, 0.0, (150, 300))),
        ),
    ),
    Task(
        "ps3-derive",
        rubric=(
            "writes the profile as a sum over losses, the infinite one too",
            "says why moving mass to a larger loss never lowers the profile",
            "sums of independent losses: moves one run, the others fixed",
            "infinite losses: a sum is finite only if all of its terms are",
        ),
    ),
    Task(
        "ps3-run",
        "run_epsilon",
        (
            Check(
                "an upper bound", 2, ask_run(1, 4, (0.9, 1.1), (0.12, 0.15))
            ),
            Check("near the truth", 2, ask_run(0.9, 1.05, 1.5, (0.05, 0.07))),
        ),
        uses=("ps3-table", "ps3-curve", "ps3-compose"),
    ),
    claims("ps3-claims"),
)
METHODS = {
    "upper": (
        "Every loss is moved up to the next grid loss.",
        "Losses above <12 to 30> are moved to infinity, the others up.",
        r"The epsilons of single steps, at $\delta/T$ each, added up.",
        "Connected dots: a PLD whose profile is the exact one at each grid "
        "loss, and whose masses are exact.",
    ),
    "lower": (
        "Every loss is moved down to the grid.",
        "Losses above <3 to 8> are left out, the others moved down.",
        "All losses are moved down to the grid, and of the largest grid "
        "losses some are thrown away.",
    ),
    "neither": (
        "Every loss is moved to the nearest grid loss.",
        "Losses above <3 to 8> are left out, the others moved up.",
        "The sum of the losses is taken for normal, with its exact mean and "
        "variance.",
    ),
}
NUMBERS = {"sigma": (0.8, 1.5), "rate": (0.01, 0.1), "count": (100, 900)}


def examples() -> dict[str, Any]:
    mass = [0.2, 0.3, 0.1, 0.2, 0.15]
    pld = {"first": -2, "mass": mass, "infinity": 0.05}
    return {
        "delta_known": delta(pld, 0.25, 0.3),
        "run_known": run_epsilon(1.2, 0.1, 10, 1e-5),
    }


ASSIGNMENT = Assignment(Path(__file__), TASKS, METHODS, NUMBERS, examples)

SUM = '-math.expm1(count * math.log1p(-pld["infinity"]))'
UP = "math.ceil(x / step)"
SPREAD = "float(np.sum(mass * -np.expm1(epsilon - losses))"
WRONG = (
    *wrong(
        "ps3-table",
        (2, "rounded down", UP, "math.floor(x / step)"),
        (2, "rounded to the nearest", UP, "round(x / step)"),
        (2, "mass at infinity lost", ": infinity}", ": 0.0}"),
        (1, "one row too far up", UP, UP + " + 1"),
        (
            2,
            "the rest scaled up",
            "infinity}",
            "0.0, 'mass': mass / sum(mass)}",
        ),
    ),
    *wrong(
        "ps3-curve",
        (1, "mass at infinity lost", 'pld["infinity"]', "0.0"),
        (3, "the tail of the loss", SPREAD, "float(np.sum(mass)"),
        (3, "losses below epsilon count", "losses > epsilon", "losses > -99"),
        (3, "the sign of the loss", "epsilon - losses", "losses - epsilon"),
    ),
    *wrong(
        "ps3-compose",
        (1, "mass at infinity not composed", SUM, 'pld["infinity"]'),
        (1, "mass at infinity to the power", SUM, 'pld["infinity"] ** count'),
        (1, "mass at infinity added up", SUM, 'count * pld["infinity"]'),
        (
            1,
            "mass at infinity with lost digits",
            SUM,
            "np.float32(1) - "
            '(np.float32(1) - np.float32(pld["infinity"])) ** count',
        ),
        (
            3,
            "a circle of half the size",
            "math.log2(size)",
            "math.log2(size / 2)",
        ),
        (4, "the first row does not move", "count * pld", "pld"),
    ),
    *wrong(
        "ps3-run",
        (4, "only add", "(remove, add)", "(add,)"),
        (2, "losses rounded down", '"first": first + 1', '"first": first'),
        (2, "a coarse grid", "1e-3, 5.0", "0.05, 5.0"),
        (4, "a single step", "compose(pld, count)", "pld"),
        (4, "steps added up", "max(found)", "count * max(found)"),
    ),
)
