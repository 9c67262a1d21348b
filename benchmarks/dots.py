"""Data for redrawing Figures 5 to 8 of Connect the Dots.

    python -m benchmarks.dots

Error of epsilon and run time against the number of compositions, for
three mechanisms of our own choice, two grid intervals, and each way of
rounding to a grid. Writes dots.json beside this file. A chapter plots it,
so that building the book needs no other accountant.

Source of the figures: Doroshenko et al. (2022), Section 6.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import statistics
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import accountlib as al
from accountlib.counting import loss_tables
from benchmarks.accountants import Accountlib, GooglePld
from benchmarks.answers import true_answer
from benchmarks.cases import Case, Step

RESULTS = Path(__file__).resolve().parent / "dots.json"
DELTA = 1e-6
MECHANISMS = {
    "Gaussian": Step(50.0, 1.0, 1),
    "subsampled Gaussian": Step(1.0, 0.01, 1),
    "subsampled Laplace": Step(1.0, 0.01, 1, "laplace"),
}
COUNTS = [4**power for power in range(9)]
INTERVALS = [1e-3, 1e-2]
KINDS: list[loss_tables.BoundKind] = [
    "upper",
    "lower",
    "buckets-upper",
    "buckets-lower",
]
CALLS = 3
PATIENCE = 30.0  # seconds; after a slower call the larger counts are skipped
OWN, GOOGLE = Accountlib(), GooglePld()
Method = Callable[[Case], "dict[str, float]"]


def on_own_grid(
    case: Case, *, interval: float, kind: loss_tables.BoundKind
) -> dict[str, float]:
    """Epsilon of the larger direction, by `discretize` and `self_compose`."""
    (step,) = case.steps
    release = OWN.release(al, step)
    pairs = al.dominating_pairs(
        release.mechanism,
        sampling=release.sampling,
        adjacency="add-or-remove",
    )
    losses = [al.discretize(p, step=interval, bound=kind) for p in pairs]
    totals = [al.self_compose(loss, step.count) for loss in losses]
    return {kind: max(total.epsilon(DELTA) for total in totals)}


def on_google_grid(
    case: Case, *, interval: float, kind: str
) -> dict[str, float]:
    """The same by dp-accounting, which has no "lower"."""
    upper, dots = kind != "buckets-lower", kind == "upper"
    return {kind: GOOGLE.answer(case, interval, upper=upper, dots=dots)}


def whole_call(case: Case) -> dict[str, float]:
    """`accountlib.epsilon`, which picks its own grid."""
    bound = OWN.bound(case, 1e-3)
    return {"epsilon-lower": bound.lower, "epsilon-upper": bound.upper}


def methods() -> list[tuple[str, float | None, Method]]:
    """Name of the package, grid interval, and the function to time."""
    found: list[tuple[str, float | None, Method]] = []
    for interval in INTERVALS:
        for kind in KINDS:
            call = partial(on_own_grid, interval=interval, kind=kind)
            found.append(("accountlib", interval, call))
    found.append(("accountlib", None, whole_call))
    try:
        GOOGLE.load()
    except ImportError:
        print("dp-accounting: not installed")
        return found
    for interval in INTERVALS:
        for kind in ("upper", "buckets-upper", "buckets-lower"):
            call = partial(on_google_grid, interval=interval, kind=kind)
            found.append(("dp-accounting", interval, call))
    return found


def timed(method: Method, case: Case) -> tuple[dict[str, float], float]:
    """The answers, and the median time of a few calls."""
    seconds: list[float] = []
    while len(seconds) < CALLS and sum(seconds) < PATIENCE / CALLS:
        start = time.perf_counter()
        found = method(case.nudged(len(seconds)))
        seconds.append(time.perf_counter() - start)
        if len(seconds) == 1:
            answers = found
    return answers, statistics.median(seconds)


def finite(value: float) -> float | str:
    """JSON has no infinity and no NaN: write them as words."""
    return value if math.isfinite(value) else str(value)


def points_of(case: Case, slow: set[int]) -> list[dict]:
    """All curves at one number of compositions."""
    low, high, source = true_answer(case)
    truth = (low + high) / 2
    shared = {"count": case.steps[0].count, "mechanism": case.name}
    exact = {"kind": "truth", "epsilon": truth, "source": source}
    result: list[dict] = [shared | exact]
    for index, (package, interval, method) in enumerate(methods()):
        if index in slow:
            continue
        labels = shared | {"package": package, "interval": interval}
        try:
            answers, seconds = timed(method, case)
        except Exception as error:
            words = f"{type(error).__name__}: {error}"[:200]
            result.append(labels | {"failure": words})
            continue
        if seconds > PATIENCE:
            slow.add(index)
        for kind, value in answers.items():
            numbers = {
                "epsilon": finite(value),
                "error": finite((value - truth) / truth),
                "seconds": seconds,
            }
            result.append(labels | {"kind": kind} | numbers)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--most", type=int, default=COUNTS[-1])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    points: list[dict] = []
    for name, step in MECHANISMS.items():
        slow: set[int] = set()
        for count in COUNTS:
            if count > options.most:
                break
            steps = (Step(step.noise, step.rate, count, step.kind),)
            points += points_of(Case(name, steps, delta=DELTA), slow)
            print(f"{name}, {count} compositions", flush=True)
    result: dict[str, Any] = {
        "adjacency": "add-or-remove",
        "delta": DELTA,
        "mechanisms": {
            name: {"kind": s.kind, "noise": s.noise, "rate": s.rate}
            for name, s in MECHANISMS.items()
        },
        "versions": {"accountlib": OWN.version()},
        "points": points,
    }
    if any(point.get("package") == "dp-accounting" for point in points):
        result["versions"]["dp-accounting"] = GOOGLE.version()
    text = json.dumps(result, indent=1, allow_nan=False)
    RESULTS.write_text(text + "\n")


if __name__ == "__main__":
    main()
