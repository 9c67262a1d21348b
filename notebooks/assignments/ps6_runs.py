"""Checks of assignment 6, on the part "One call".

Secret: a course that marks with it keeps this folder private.
"""

import math
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import mpmath as mp
import numpy as np
from scipy.optimize import brentq

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
    equal,
    pick,
)
from course.values import number, shown

Ask = Callable[[Random, Numbers], list[Question]]
Kind = tuple[str, str]  # sampler and adjacency
FULL: Kind = ("full", "add-or-remove")
SWAP: Kind = ("full", "exchange")
POISSON: Kind = ("poisson", "add-or-remove")
BATCH: Kind = ("batch", "add-or-remove")

# --- one step -----------------------------------------------------------


def shift(kind: Kind) -> int:
    """How far a record moves the sum."""
    return 2 if kind in (SWAP, BATCH) else 1


def direction(alpha: Any, mu: Any, rate: Any) -> Any:
    """Remove, by the theorem on sampling; to the digits in force."""
    inner = 1 + (alpha - 1) / rate
    if inner <= 0:
        return 1 - alpha
    at = mp.log(inner) / mu
    return rate * (mp.ncdf(mu / 2 - at) - inner * mp.ncdf(-mu / 2 - at))


def step_delta(kind: Kind, epsilon: float, sigma: float, rate: float) -> float:
    """The larger one of remove and add."""
    with mp.workdps(40):
        mu, alpha = shift(kind) / mp.mpf(sigma), mp.exp(epsilon)
        gamma = mp.mpf(1 if kind[0] == "full" else rate)
        remove = direction(alpha, mu, gamma)
        add = 1 - alpha + alpha * direction(1 / alpha, mu, gamma)
        return float(max(remove, add))


def ask_step(kind: Kind) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            sigma, epsilon = pick(random, 0.8, 2.5), pick(random, 0.1, 1.2)
            rate = 1.0 if kind[0] == "full" else pick(random, 0.05, 0.6)
            case = (
                f"{kind[0]}, {kind[1]}, epsilon = {epsilon}, "
                f"sigma = {sigma}, rate = {rate}"
            )
            right = partial(step_delta, kind, epsilon, sigma, rate)
            judge = close(right, case, absolute=1e-11)
            found.append(Question([*kind, epsilon, sigma, rate], judge))
        return found

    return ask


STEP = Task(
    "ps6-step",
    stars=1,
    minutes=15,
    entry="step_delta",
    checks=(
        Check("all records, add-or-remove", 1, ask_step(FULL)),
        Check("all records, exchange", 1, ask_step(SWAP)),
        Check("Poisson samples", 1, ask_step(POISSON)),
        Check("fixed batches", 1, ask_step(BATCH)),
    ),
)

# --- what does this loader do -------------------------------------------


def loader(kind: str, random: Random, records: int, size: int) -> Any:
    """The batches of four epochs; drawn again where another line fits."""
    length = records // size
    names = list(range(records))

    def shuffled() -> list[list[int]]:
        order = random.sample(names, records)
        return [order[i : i + size] for i in range(0, records, size)]

    match kind:
        case "full":
            return [random.sample(names, records) for _ in range(6)]
        case "order":
            return shuffled() * 4
        case "shuffled":
            return [batch for _ in range(4) for batch in shuffled()]
        case "poisson":
            rate = size / records
            return [
                [x for x in names if random.random() < rate]
                for _ in range(4 * length)
            ]
        case "replacement":
            found = [random.choices(names, k=size) for _ in range(4 * length)]
            if any(len(set(batch)) < size for batch in found):
                return found
            return loader(kind, random, records, size)
        case _:
            return [random.sample(names, size) for _ in range(4 * length)]


def ask_loader(*kinds: str) -> Ask:
    """At least two kinds, so that one word for all earns nothing."""

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for kind in random.sample(kinds, len(kinds)):
            size = random.randint(5, 8)
            records = size * random.randint(5, 8)
            batches = loader(kind, random, records, size)
            sizes = sorted({len(batch) for batch in batches})
            judge = equal(
                kind,
                f"for {len(batches)} batches of the sizes {sizes}, out of "
                f"{records} records, your answer is not what drew them",
            )
            found.append(Question([batches, records], judge))
        return found

    return ask


LOADER = Task(
    "ps6-loader",
    stars=1,
    minutes=10,
    entry="which_sampler",
    checks=(
        Check("sizes", 1, ask_loader("poisson", "batch", "full")),
        Check("epochs", 1, ask_loader("shuffled", "batch")),
        Check("one order", 1, ask_loader("order", "batch")),
        Check("records twice", 1, ask_loader("replacement", "batch")),
    ),
)

# --- a derivation -------------------------------------------------------

DERIVE = Task(
    "ps6-derive",
    stars=2,
    minutes=15,
    rubric=(
        (
            1,
            "couples the batches: with probability b/n one member is replaced",
        ),
        (1, "the sum moves by up to 2, since another record is pushed out"),
        (1, "mixture with weight b/n, a shift of 2, the same as sigma/2"),
        (1, "names data that reach it: all others -1, the record +1"),
    ),
)

# --- the noise for a promise --------------------------------------------


def least_noise(
    kind: Kind, epsilon: float, delta: float, rate: float, count: int
) -> float:
    """Where log delta crosses, in the logarithm of the noise."""

    def excess(log_one: float) -> float:
        found = step_delta(kind, epsilon, math.exp(log_one), rate)
        return math.log(max(found, 1e-300) / delta)

    one = math.exp(brentq(excess, -3.0, 6.0, xtol=1e-13, rtol=1e-13))
    return math.sqrt(count) * one


def kept(truth: Callable[[], float], case: str) -> Judge:
    """Never below the truth, and at most 0.1 % above it."""

    def judge(value: Any) -> str:
        found, right = number(value), truth()
        if found < right * (1 - 1e-9):
            return f"for {case} the promise does not hold at {shown(found)}"
        if found > right * 1.001:
            return f"for {case} less noise than {shown(found)} would do"
        return ""

    return judge


def ask_noise(kind: Kind, counts: tuple[int, int]) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(3):
            epsilon, delta = (
                pick(random, 0.5, 3),
                10.0 ** -random.randint(4, 8),
            )
            rate = 1.0 if kind[0] == "full" else pick(random, 0.02, 0.3)
            count = random.randint(*counts)
            case = (
                f"{kind[0]}, {kind[1]}, epsilon = {epsilon}, "
                f"delta = {delta:g}, rate = {rate}, count = {count}"
            )
            right = partial(least_noise, kind, epsilon, delta, rate, count)
            asked = [*kind, epsilon, delta, rate, count]
            found.append(Question(asked, kept(right, case)))
        return found

    return ask


NOISE = Task(
    "ps6-noise",
    stars=2,
    minutes=20,
    entry="least_noise",
    uses=("ps6-step",),
    checks=(
        Check("many steps", 1, ask_noise(FULL, (4, 60))),
        Check("many steps, exchange", 1, ask_noise(SWAP, (4, 60))),
        Check("a Poisson sample", 1, ask_noise(POISSON, (1, 1))),
        Check("a fixed batch", 1, ask_noise(BATCH, (1, 1))),
    ),
)

# --- a whole run, by an integral over a line of complex tilts ------------


def moments(s: Any, sigma: float, rate: float, add: bool) -> Any:
    """E e^(s L) of a step: the integral of q r^(s + 1), or of q r^(-s)."""
    top = float(np.max(s.real)) + 1 if not add else 0.0
    z = np.linspace(-11 * sigma, top + 11 * sigma, 1201)
    ratio = np.log1p(rate * np.expm1((2 * z - 1) / (2 * sigma**2)))
    log_q = -(z**2) / (2 * sigma**2) - 0.5 * math.log(2 * math.pi * sigma**2)
    power = -s if add else s + 1
    with np.errstate(over="ignore"):  # far from the best tilt
        terms = np.exp(log_q + np.multiply.outer(power, ratio))
        return terms.sum(axis=-1) * (z[1] - z[0])


def one_direction(
    sigma: float, rate: float, count: int, delta: float, add: bool
) -> float:
    """delta(e) is the integral of M(s)^T e^(-s e) / (s (s + 1)) / (2 pi i).

    The line Re s = c is where the same bound by moments is the best.
    """
    tilts = np.geomspace(0.3, 60, 150)
    logs = count * np.log(
        [moments(np.array([c]), sigma, rate, add)[0] for c in tilts]
    )
    bounds = (logs - np.log(delta * tilts * (tilts + 1))) / tilts
    c, above = float(tilts[np.argmin(bounds)]), float(bounds.min())
    step = 0.04
    nodes, weights = [], []
    for first in range(0, 20_000, 200):
        s = c + 1j * step * (np.arange(200) + first + 0.5)
        found = count * np.log(moments(s, sigma, rate, add))
        found -= np.log(s) + np.log(s + 1)
        nodes.append(s)
        weights.append(found)
        if found.real.max() < weights[0].real.max() - 20:
            break
    s, log_weight = np.concatenate(nodes), np.concatenate(weights)

    def excess(epsilon: float) -> float:
        # both halves of the line give the same real part
        terms = np.exp(log_weight - s * epsilon - math.log(delta))
        return float(terms.real.sum()) * step / math.pi - 1

    return float(brentq(excess, 0.02, above + 1, xtol=1e-9))


@cache
def run_epsilon(
    sampler: str, sigma: float, rate: float, count: int, delta: float
) -> float:
    """The larger one of remove and add."""
    s = sigma / 2 if sampler == "batch" else sigma
    return max(
        one_direction(s, rate, count, delta, add) for add in (False, True)
    )


def ask_run(sampler: str) -> Ask:
    def ask(random: Random, numbers: Numbers) -> list[Question]:
        sigma, rate = pick(random, 0.78, 0.95), pick(random, 1e-3, 2e-3, 4)
        count = 1000 * random.randint(6, 10)
        delta = random.choice((1e-5, 1e-6))
        asked = [sampler, sigma, rate, count, delta]
        case = (
            f"{sampler}, sigma = {sigma}, rate = {rate}, count = {count}, "
            f"delta = {delta}"
        )
        right = partial(run_epsilon, sampler, sigma, rate, count, delta)
        return [Question(asked, close(right, case, relative=0.01))]

    return ask


RUN = Task(
    "ps6-run",
    stars=3,
    minutes=30,
    entry="run_epsilon",
    repeats=1,
    checks=(
        Check("Poisson samples", 2, ask_run("poisson")),
        Check("fixed batches", 2, ask_run("batch")),
    ),
)

# --- claims -------------------------------------------------------------

TOLD = "The accountant is told Poisson samples of the right rate, "
METHODS = (
    (TOLD + "and <38 to 48> percent of the noise.", "upper"),
    (TOLD + "half of the noise, and <5 to 40> percent more steps.", "upper"),
    ("The accountant is told full batches, and half of the noise.", "upper"),
    (
        "The accountant is told Poisson samples with half of the noise, and "
        "computes the rate with a data set of <5 to 30> percent fewer "
        "records.",
        "upper",
    ),
    (TOLD + "and the noise as it is.", "lower"),
    (TOLD + "and <55 to 90> percent of the noise.", "lower"),
    (
        "The accountant is told Poisson samples with half of the noise, and "
        "computes the rate with a data set of <5 to 30> percent more records.",
        "lower",
    ),
    (TOLD + "half of the noise, and <5 to 40> steps less.", "lower"),
    (
        TOLD + "and half of the standard deviation of <200 to 900> draws of "
        "the noise.",
        "neither",
    ),
    (
        "The total loss of a Poisson run with half of the noise is taken for "
        "normal, with its exact mean and variance.",
        "neither",
    ),
    (
        "The accountant is told Poisson samples with half of the noise. The "
        "size of the data, for the rate, is a private estimate: the true "
        "one plus normal noise of standard deviation <20 to 90>.",
        "neither",
    ),
)


def draw_numbers(random: Random) -> dict[str, Any]:
    return {
        "sigma": pick(random, 0.8, 1.6),
        "batch": 10 * random.randint(8, 20),
        "records": 10_000 * random.randint(4, 12),
        "count": 1000 * random.randint(5, 15),
    } | draw_claims(random, METHODS)


@cache
def examples() -> dict[str, Any]:
    """Known answers, away from the easy corners."""
    swap, drawn = (1.5, 1e-5, 1.0, 9), (1.5, 1e-5, 0.1, 1)
    return {
        "step_swap": step_delta(SWAP, 0.7, 2.0, 1.0),
        "step_poisson": step_delta(POISSON, 0.7, 1.3, 0.2),
        "step_batch": step_delta(BATCH, 0.7, 1.3, 0.2),
        "noise_swap": least_noise(SWAP, *swap),
        "noise_poisson": least_noise(POISSON, *drawn),
        "noise_batch": least_noise(BATCH, *drawn),
    }


ASSIGNMENT = Assignment(
    "ps6",
    "Assignment 6: which call is the right one?",
    Path(__file__).with_suffix(".md"),
    (
        STEP,
        LOADER,
        DERIVE,
        NOISE,
        RUN,
        claims_task("ps6-claims"),
    ),
    draw_numbers,
    claims_key,
    examples,
)
