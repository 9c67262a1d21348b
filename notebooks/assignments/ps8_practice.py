"""Checks of assignment 8, on the part "Practice" and on shuffled epochs.

Secret: a course that marks with it keeps this folder private.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import mpmath as mp
from scipy.optimize import brentq
from scipy.stats import binom

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

# --- no direction is the worse one, in exact fractions --------------------


def laws(
    truth: float, rate: float, count: int
) -> list[tuple[Fraction, Fraction]]:
    """The number of yes, with the record and without it."""
    t, r = Fraction(truth), Fraction(rate)
    yes, no = r * t + (1 - r) * (1 - t), 1 - t
    return [
        (
            math.comb(count, k) * yes**k * (1 - yes) ** (count - k),
            math.comb(count, k) * no**k * (1 - no) ** (count - k),
        )
        for k in range(count + 1)
    ]


def lead(pairs: list[tuple[Fraction, Fraction]], alpha: Fraction) -> Fraction:
    """Remove minus add."""
    zero = Fraction(0)
    parts = [
        max(p - alpha * q, zero) - max(q - alpha * p, zero) for p, q in pairs
    ]
    return sum(parts, zero)


def leads(truth: float, rate: float, count: int) -> Any:
    """Who leads at the kinks above 1: places and differences."""
    pairs = laws(truth, rate, count)
    kinks = {p / q for p, q in pairs} | {q / p for p, q in pairs}
    places = sorted(x for x in kinks if x > 1)
    return [(x, lead(pairs, x)) for x in places]


def crossings(truth: float, rate: float, count: int) -> list[float]:
    """Where the sign changes, between two kinks: there all is linear."""
    found = [(x, d) for x, d in leads(truth, rate, count) if d != 0]
    return [
        float(a + (b - a) * c / (c - d))
        for (a, c), (b, d) in zip(found, found[1:], strict=False)
        if (c > 0) != (d > 0)
    ]


def last_crossing(case: list[Any]) -> float:
    found = crossings(*case)
    return found[-1] if found else 0.0


def ask_crossing(counts: tuple[int, int], *places: int) -> Ask:
    """Cases with these numbers of crossings, none of them doubtful."""

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found: list[Question] = []
        while len(found) < len(places):
            truth, rate = pick(random, 0.62, 0.88), pick(random, 0.3, 0.7)
            case: list[Any] = [truth, rate, random.randint(*counts)]
            gaps = [abs(d) for _, d in leads(*case)[:-1]]
            wanted = places[len(found)]
            if len(crossings(*case)) != wanted or min(gaps) < 1e-4:
                continue
            text = f"truth = {truth}, rate = {rate}, count = {case[2]}"
            judge = close(partial(last_crossing, case), text)
            found.append(Question(case, judge))
        return found

    return ask


CROSSING = Task(
    "ps8-crossing",
    stars=2,
    minutes=20,
    entry="crossing",
    checks=(
        Check("two rounds", 2, ask_crossing((2, 2), 1, 1, 1)),
        Check("three to six rounds", 1, ask_crossing((3, 6), 1, 1, 2)),
        Check(
            "curves that never cross",
            1,
            ask_crossing((3, 6), 0, 0, 0),
            special=True,
        ),
    ),
)

# --- an attack on shuffled epochs ----------------------------------------


def attack(
    epsilon: float, sigma: float, batches: int, epochs: int, threshold: float
) -> float:
    """Products of normal probabilities, to 60 digits."""
    with mp.workdps(60):
        s, t = mp.mpf(sigma), mp.mpf(threshold)
        quiet, own = mp.ncdf(t / s), mp.ncdf((t - 1) / s)
        p = 1 - (quiet ** (batches - 1) * own) ** epochs
        q = 1 - quiet ** (batches * epochs)
        return max(0.0, float(p - mp.exp(epsilon) * q))


def ask_attack(epochs: tuple[int, int], low: float, high: float) -> Ask:
    """Questions whose delta lies between low and high."""

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found: list[Question] = []
        while len(found) < 3:
            sigma = pick(random, 0.3, 0.8)
            threshold = pick(random, 1, 6)
            batches, times = random.randint(5, 200), random.randint(*epochs)
            case: list[Any] = [pick(random, 0.1, 2), sigma, batches, times]
            case.append(threshold)
            if not low < attack(*case) < high:
                continue
            names = ("epsilon", "sigma", "batches", "epochs", "threshold")
            told = [f"{k} = {v}" for k, v in zip(names, case, strict=True)]
            judge = close(
                partial(attack, *case), ", ".join(told), absolute=0.0
            )
            found.append(Question(case, judge))
        return found

    return ask


ATTACK = Task(
    "ps8-attack",
    stars=2,
    minutes=20,
    entry="attack_delta",
    checks=(
        Check("one epoch", 2, ask_attack((1, 1), 0.02, 0.6)),
        Check("several epochs", 1, ask_attack((3, 8), 0.05, 0.6)),
        Check("a delta near 1e-12", 1, ask_attack((1, 1), 1e-13, 1e-11)),
    ),
)

# --- a derivation -------------------------------------------------------

DERIVE = Task(
    "ps8-derive",
    stars=2,
    minutes=15,
    rubric=(
        (1, "fixes the order: the means differ in one sum, by at most 2"),
        (1, "averages over orders, by convexity, for every alpha"),
        (1, "epochs compose: a normal law that moves by 2 sqrt(epochs)"),
        (1, "removed: batches shift, and the number of sums gives it away"),
    ),
)

# --- an audit: binomial tails, and a root finder --------------------------


def rate_below(count: int, trials: int, fails: float) -> float:
    """The chance at which so many or more are as rare as `fails`."""
    if count == 0:
        return 0.0
    tail = partial(binom.sf, count - 1, trials)
    return float(brentq(lambda x: tail(x) - fails, 0, 1, xtol=1e-15))


def proven(
    hits: int,
    members: int,
    alarms: int,
    outsiders: int,
    delta: float,
    confidence: float,
) -> tuple[float, float]:
    """What accusing refutes, and what not accusing refutes."""
    fails = (1 - confidence) / 2
    p = rate_below(hits, members, fails)
    quiet = rate_below(outsiders - alarms, outsiders, fails)  # 1 - q
    pairs = ((p, 1 - quiet), (quiet, 1 - p))
    found = [math.log((a - delta) / b) if a > delta else 0.0 for a, b in pairs]
    return max(0.0, found[0]), max(0.0, found[1])


def most(case: list[Any]) -> float:
    return max(proven(*case))


def ask_audit(
    hit: tuple[float, float], false: tuple[float, float], place: int
) -> Ask:
    """Questions where accusing (0) or not accusing (1) refutes more."""

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found: list[Question] = []
        while len(found) < 3:
            members, outsiders = random.sample(range(300, 900), 2)
            case: list[Any] = [
                *(round(members * random.uniform(*hit)), members),
                *(round(outsiders * random.uniform(*false)), outsiders),
                random.choice((1e-3, 5e-3, 1e-2)),
                random.choice((0.8, 0.9, 0.95, 0.99)),
            ]
            both = proven(*case)
            if both[place] - both[1 - place] < 0.05:
                continue
            names = ("hits", "members", "alarms", "outsiders", "delta")
            told = [
                f"{k} = {v}"
                for k, v in zip((*names, "confidence"), case, strict=True)
            ]
            judge = close(partial(most, case), ", ".join(told))
            found.append(Question(case, judge))
        return found

    return ask


AUDIT = Task(
    "ps8-audit",
    stars=3,
    minutes=25,
    entry="proven_epsilon",
    checks=(
        Check("accusing", 2, ask_audit((0.3, 0.6), (0.02, 0.1), 0)),
        Check("no false alarm", 1, ask_audit((0.2, 0.6), (0, 0), 0)),
        Check("not accusing", 1, ask_audit((0.93, 0.98), (0.4, 0.7), 1)),
    ),
)

# --- samples that are cut off ---------------------------------------------


def cut(
    epsilon: float,
    delta: float,
    records: int,
    rate: float,
    largest: int,
    count: int,
) -> float:
    """The binomial tail summed, to 50 digits."""
    with mp.workdps(50):
        r = mp.mpf(rate)
        one = mp.fsum(
            mp.binomial(records, k) * r**k * (1 - r) ** (records - k)
            for k in range(largest + 1, records + 1)
        )
        some = 1 - (1 - one) ** count
        return float(delta + (1 + mp.exp(epsilon)) * some)


def ask_cut(low: float, high: float, delta: float) -> Ask:
    """Questions where tau, not delta, decides, between low and high."""

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found = []
        for _ in range(2):
            records, rate = random.randint(200, 500), pick(random, 0.05, 0.2)
            count, goal = random.randint(50, 300), random.uniform(low, high)
            largest = int(binom.isf(10**goal / count, records, rate))
            case: list[Any] = [
                *(pick(random, 0.2, 3), delta, records, rate),
                *(largest, count),
            ]
            names = ("epsilon", "delta", "records", "rate", "largest", "count")
            told = [f"{k} = {v}" for k, v in zip(names, case, strict=True)]
            judge = close(partial(cut, *case), ", ".join(told), absolute=0.0)
            found.append(Question(case, judge))
        return found

    return ask


CUT = Task(
    "ps8-cut",
    stars=2,
    minutes=15,
    entry="cut_delta",
    checks=(
        Check("cuts that happen", 2, ask_cut(-3, -1.5, 1e-5)),
        Check("cuts near 1e-12", 1, ask_cut(-12.5, -11.5, 0.0)),
    ),
)

# --- claims -------------------------------------------------------------

METHODS = (
    (
        "The exact $\\varepsilon$ of as many full batches as there are "
        "epochs, where the sum moves by 2.",
        "upper",
    ),
    (
        "The exact $\\varepsilon$ of one full batch per epoch, where the sum "
        "moves by 2, with <5 to 30> percent less noise.",
        "upper",
    ),
    (
        "The exact $\\varepsilon$ of as many full batches as there are "
        "steps, where the sum moves by 2.",
        "upper",
    ),
    (
        "For one full batch where the sum moves by 2, the exact "
        "$\\varepsilon$ at $\\delta$ divided by the number of epochs; that, "
        "times the number of epochs.",
        "upper",
    ),
    (
        "All other records are 0, and 1 is exchanged for $-1$. For the event "
        "that a sum is above <2.0 to 4.0>, with exact probabilities, the "
        "$\\varepsilon$ with $P(S) - e^\\varepsilon Q(S) = \\delta$, or 0 if "
        "there is none.",
        "lower",
    ),
    (
        "Somebody who knows the truth for every case tells that of a record "
        "that is zeroed out.",
        "lower",
    ),
    (
        "Somebody who knows the truth for every case tells that of the "
        "first <30 to 80> percent of the sums of the run.",
        "lower",
    ),
    (
        "Somebody who knows the truth for every case tells that of <10 to "
        "40> percent more noise.",
        "lower",
    ),
    (
        "The logarithm of hits divided by false alarms, of an attack on "
        "<2000 to 9000> runs with the record and as many without it.",
        "neither",
    ),
    (
        "The largest one of <5 to 20> lower bounds from audits, each with a "
        "confidence of 90 percent.",
        "neither",
    ),
    (
        "An average of $(1 - e^{\\varepsilon - L})_+$ over <2000 to 9000> "
        "simulated runs, solved for $\\varepsilon$.",
        "neither",
    ),
)


def draw_numbers(random: Random) -> dict[str, Any]:
    batch = 10 * random.randint(8, 20)
    return {
        "sigma": pick(random, 0.6, 1.4),
        "batch": batch,
        "records": batch * random.randint(200, 900),
        "epochs": random.randint(4, 20),
    } | draw_claims(random, METHODS)


@cache
def examples() -> dict[str, Any]:
    """Known answers, away from the easy corners."""
    return {
        "crossing_known": last_crossing([0.7, 0.4, 5]),
        "crossing_last": last_crossing([0.7, 0.4, 3]),
        "attack_once": attack(0.5, 0.6, 10, 1, 1.2),
        "attack_known": attack(0.5, 0.6, 10, 3, 1.5),
        "audit_known": most([150, 400, 12, 300, 0.01, 0.9]),
        "audit_quiet": most([380, 400, 150, 300, 0.01, 0.9]),
        "cut_known": cut(1.0, 1e-5, 200, 0.1, 32, 5),
    }


ASSIGNMENT = Assignment(
    "ps8",
    "Assignment 8: what was really run?",
    Path(__file__).with_suffix(".md"),
    (
        CROSSING,
        ATTACK,
        DERIVE,
        AUDIT,
        CUT,
        claims_task("ps8-claims"),
    ),
    draw_numbers,
    claims_key,
    examples,
)
