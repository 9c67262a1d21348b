"""Hold this library against independent truths, at random settings.

    python -m benchmarks.checks                           200 and 1,000
    python -m benchmarks.checks --high-precision 20 --contour 20

The first kind has a truth in high precision: closed forms, exact fractions
and quadrature. The second kind has a contour integral. Prints a summary and
writes checks.json beside this file.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported
import mpmath as mp

import accountlib as al
from accountlib.worst_cases import dominating_pairs
from benchmarks.check_questions import (
    Question,
    contour_questions,
    exact_pair,
    precise_questions,
    sampling,
)
from tests import truth

RESULTS = Path(__file__).resolve().parent / "checks.json"
WIDTH = 1e-3
QUADRATURE = 1e-15  # error of what is documented as good to 25 digits
COLUMNS = (
    *("index", "kind", "query", "value", "direction", "lower", "upper"),
    *("truth", "width", "verdict", "releases"),
)
Ends = tuple[Any, Any]


@dataclass(frozen=True)
class Answer:
    """What came out. `low` and `high` enclose the truth, error included."""

    question: Question
    lower: float = math.nan
    upper: float = math.nan
    low: float = math.nan
    high: float = math.nan
    failure: str = ""

    @property
    def width(self) -> float:
        """Relative width of the interval; no number after a failure."""
        if self.failure:
            return math.nan
        return al.Bound(self.lower, self.upper).width


# --- truths and answers -----------------------------------------------------


def releases_of(question: Question) -> list[al.Release]:
    """What the library is asked about."""
    laplace = question.kind in ("laplace", "sampled laplace")
    noisy = al.Laplace if laplace else al.Gaussian
    found = [
        al.Release(noisy(noise), sampling(rate), runs)
        for noise, rate, runs in question.facts.get("steps", [])
    ]
    for part in question.facts.get("parts", []):
        mechanism: dominating_pairs.Mechanism = al.DiscretePair(
            part["p"], part["q"]
        )
        if question.kind == "response":
            mechanism = al.RandomizedResponse(part["p"][0])
        release = al.Release(mechanism, sampling(part["rate"]), part["count"])
        found.append(release)
    return found


def gaussian_truth(question: Question) -> Ends:
    with mp.workdps(110):
        weight = mp.fsum(
            runs / mp.mpf(noise) ** 2
            for noise, _, runs in question.facts["steps"]
        )
        mu = mp.sqrt(weight)
        if question.query == "epsilon":
            ends: Ends = truth.gaussian_epsilon(question.value, mu)
        else:
            ends = truth.gaussian_delta(question.value, mu)
        return ends


def laplace_truth(question: Question) -> Ends:
    ((scale, _, runs),) = question.facts["steps"]
    find = getattr(truth, f"laplace_composition_{question.query}")
    ends: Ends = find(question.value, scale, runs)
    return ends


def sampled_delta(question: Question, epsilon: Any) -> Any:
    """delta of one sampled Gaussian, or one or two of Laplace noise."""
    steps, direction = question.facts["steps"], question.direction
    if question.kind == "sampled gaussian":
        ((noise, rate, _),) = steps
        return truth.sampled_gaussian_delta(
            epsilon, noise, rate, direction=direction
        )
    pairs = [(noise, rate) for noise, rate, _ in steps]
    return truth.sampled_laplace_delta(epsilon, pairs, direction=direction)


def sampled_truth(question: Question) -> Ends:
    """The value itself, or epsilon by bisection: both ends are checked."""
    with mp.workdps(60):
        target = mp.mpf(question.value)
        if question.query == "delta":
            value = sampled_delta(question, target)
            return value * (1 - QUADRATURE), value * (1 + QUADRATURE)
        slack = mp.mpf(QUADRATURE)
        low, high = mp.mpf(0), mp.mpf(1)
        if sampled_delta(question, low) <= target * (1 - slack):
            return low, low
        while sampled_delta(question, high) > target:
            low, high = high, 2 * high
        while high - low > slack * high:
            middle = (low + high) / 2
            if sampled_delta(question, middle) > target:
                low = middle
            else:
                high = middle
        return low * (1 - slack), high * (1 + slack)


def discrete_truth(question: Question) -> Ends:
    pair = exact_pair(question)
    ends: Ends = getattr(pair, question.query)(question.value)
    return ends


def contour_truth(question: Question) -> Ends:
    find = getattr(truth, f"contour_{question.query}_range")
    ends: Ends = find(
        question.value,
        question.facts["steps"],
        direction=question.direction,
    )
    return ends


TRUTHS = {
    "gaussian": gaussian_truth,
    "response": discrete_truth,
    "discrete": discrete_truth,
    "laplace": laplace_truth,
    "sampled gaussian": sampled_truth,
    "sampled laplace": sampled_truth,
    "contour": contour_truth,
}


def at_delta(question: Question) -> Question:
    """A contour question about delta, at an epsilon that has this delta.

    The epsilon is the library's upper bound, to six digits.
    """
    if question.kind != "contour" or question.query == "epsilon":
        return question
    bound = al.epsilon(
        releases_of(question),
        delta=question.value,
        adjacency=question.direction,
    )
    value = float(f"{bound.upper:.6g}")
    if not math.isfinite(value):
        raise ArithmeticError("no finite epsilon to ask at")
    return replace(question, value=value)


def outward(ends: Ends) -> tuple[float, float]:
    """Two floats around the two numbers."""
    low, high = (float(end) for end in ends)
    return math.nextafter(low, -1.0), math.nextafter(high, math.inf)


def ask(question: Question) -> al.Bound:
    releases, direction = releases_of(question), question.direction
    if question.query == "epsilon":
        return al.epsilon(releases, delta=question.value, adjacency=direction)
    return al.delta(releases, epsilon=question.value, adjacency=direction)


def check(question: Question) -> Answer | None:
    """None where the truth is not to be had."""
    warnings.simplefilter("ignore")
    try:
        question = at_delta(question)
        low, high = outward(TRUTHS[question.kind](question))
    except ArithmeticError:
        return None
    if question.query == "delta" and high < 1e-300:
        return None  # the library's floats end there, too
    try:
        bound = ask(question)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"[:200]
        return Answer(question, low=low, high=high, failure=failure)
    return Answer(question, bound.lower, bound.upper, low, high)


def wrong(answer: Answer) -> bool:
    """The library's interval and the truth's do not meet; NaN never does."""
    return not (answer.lower <= answer.high and answer.low <= answer.upper)


# --- the run ----------------------------------------------------------------


def collect(
    questions: Iterator[Question], goal: int, jobs: int
) -> tuple[list[Answer], int]:
    """`goal` answers, in order, and how many questions had no truth."""
    answers: list[Answer] = []
    skipped, start = 0, time.perf_counter()
    with ProcessPoolExecutor(jobs) as pool:
        while len(answers) < goal:
            batch = islice(questions, min(100, goal - len(answers)))
            for answer in pool.map(check, batch, chunksize=4):
                if answer is None:
                    skipped += 1
                else:
                    answers.append(answer)
            passed = time.perf_counter() - start
            print(f"{passed:6.0f} s  {len(answers)}", flush=True)
    return answers, skipped


def summary(answers: list[Answer], skipped: int) -> dict[str, Any]:
    bad = [answer for answer in answers if wrong(answer)]
    good = [answer for answer in answers if not answer.failure]
    wide = [answer for answer in good if answer.width > WIDTH]
    return {
        "checked": len(answers),
        "kinds": dict(Counter(a.question.kind for a in answers)),
        "violations": len(bad),
        "exceptions": sum(bool(answer.failure) for answer in answers),
        "not_checkable": skipped,
        "widest": max((answer.width for answer in good), default=0.0),
        "wider_than_asked": len(wide) / max(len(answers), 1),
    }


def short(value: Any) -> Any:
    """Floats of 9 digits, infinities and NaN as words."""
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else str(value)
    return value


def row(answer: Answer) -> list[Any]:
    """One line of checks.json, in the order of COLUMNS."""
    question = answer.question
    verdict = answer.failure or ("WRONG" if wrong(answer) else "holds")
    truth_there = (answer.low + answer.high) / 2
    values = [
        *(question.index, question.kind, question.query, question.value),
        *(question.direction, answer.lower, answer.upper, truth_there),
        *(answer.width, verdict, releases_in_short(question)),
    ]
    return [short(value) for value in values]


def releases_in_short(question: Question) -> str:
    """Noise (discrete: the first chance of p), rate and count of each.

    The seed and the index give all digits.
    """
    parts = [
        (part["p"][0], part["rate"], part["count"])
        for part in question.facts.get("parts", [])
    ]
    steps = question.facts.get("steps", parts)
    return "; ".join(f"{a:.4g} {b:.4g} {c}" for a, b, c in steps)


def report(name: str, told: dict[str, Any], answers: list[Answer]) -> None:
    print(
        name, *(f"  {key}: {value}" for key, value in told.items()), sep="\n"
    )
    for answer in filter(wrong, answers):
        print("  WRONG", answer)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--high-precision", type=int, default=200, metavar="N")
    add("--contour", type=int, default=1000, metavar="N")
    add("--seed", type=int, default=1)
    add("--jobs", type=int, default=2)
    add("--output", type=Path, default=RESULTS)
    return parser.parse_args()


def write(path: Path, told: dict[str, Any], rows: dict[str, Any]) -> None:
    """The summary, and one line for each setting."""
    parts = [
        f' "summary": {json.dumps(told)}',
        f' "columns": {json.dumps(COLUMNS)}',
    ]
    for name, lines in rows.items():
        text = ",\n".join("  " + json.dumps(line) for line in lines)
        parts.append(f' "{name}": [\n{text}\n ]')
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def main() -> None:
    options = arguments()
    told: dict[str, Any] = {"version": al.__version__, "seed": options.seed}
    rows, failed = {}, False
    for name, questions, goal in (
        (
            "high precision",
            precise_questions(options.seed),
            options.high_precision,
        ),
        ("contour", contour_questions(options.seed), options.contour),
    ):
        answers, skipped = collect(questions, goal, options.jobs)
        told[name] = summary(answers, skipped)
        told[name]["widest"] = short(told[name]["widest"])
        rows[name] = [row(answer) for answer in answers]
        report(name, told[name], answers)
        failed = failed or told[name]["violations"] > 0
    write(options.output, told, rows)
    sys.exit(failed)


if __name__ == "__main__":
    main()
