"""Ask 6,720 ordinary questions, and count the answers that are of no use.

    python -m benchmarks.ordinary               all of them, two processes
    python -m benchmarks.ordinary --every 20    a sample

The grid: 24 mechanisms of 9 kinds, 5 sampling rates, 7 numbers of steps, 4
delta and 4 epsilon; 24 * 5 * 7 * 8 = 6,720. Prints counts by mechanism and
the worst answers, and writes ordinary.json beside this file. README.md here
says what is counted.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported
import numpy as np

import accountlib as al

RESULTS = Path(__file__).resolve().parent / "ordinary.json"
WIDTH = 1e-3
TINY = 1e-290  # a delta below is as good as 0
RARE = 1e-30  # answers below are counted, and counted apart, too
ADJACENCY = "add-or-remove"
KINDS: dict[str, list[Any]] = {
    "Gaussian": [al.Gaussian(x) for x in (0.3, 0.5, 1.0, 4.0, 10.0, 30.0)],
    "Laplace": [al.Laplace(x) for x in (0.3, 1.0, 5.0, 30.0)],
    "DiscreteGaussian": [
        al.DiscreteGaussian(0.5),
        al.DiscreteGaussian(2.0),
        al.DiscreteGaussian(30.0, 3),
    ],
    "DiscreteLaplace": [
        al.DiscreteLaplace(0.5),
        al.DiscreteLaplace(10.0, 3),
        al.DiscreteLaplace(30.0),
    ],
    "RandomizedResponse": [
        al.RandomizedResponse(0.6),
        al.RandomizedResponse(0.95),
    ],
    "DiscretePair": [al.DiscretePair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5])],
    "MixtureOfGaussians": [
        al.MixtureOfGaussians([1.0, 2.0], [0.5, 0.5], 2.0),
        al.MixtureOfGaussians([0.0, 1.0, 3.0], [0.9, 0.09, 0.01], 1.0),
    ],
    "PureDP": [al.PureDP(0.1), al.PureDP(1.0)],
    "ApproximateDP": [al.ApproximateDP(0.5, 1e-9)],
}
RATES = (1e-6, 1e-4, 1e-3, 3e-2, 1.0)
COUNTS = (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
QUERIES = (
    *(("epsilon", x) for x in (1e-3, 1e-5, 1e-9, 1e-12)),
    *(("delta", x) for x in (0.0, 0.1, 1.0, 20.0)),
)
Answer = dict[str, Any]


def stop(signum: int, frame: object) -> None:
    raise TimeoutError("time limit")


def calls() -> list[Answer]:
    """The grid, in the order of its loops."""
    grid = product(KINDS, RATES, COUNTS, QUERIES)
    return [
        {
            "kind": kind,
            "mechanism": place,
            "rate": rate,
            "count": count,
            "query": query,
            "at": at,
        }
        for kind, rate, count, (query, at) in grid
        for place in range(len(KINDS[kind]))
    ]


def release_of(call: Answer) -> al.Release:
    rate = call["rate"]
    sampling = al.FullBatch() if rate == 1 else al.Poisson(rate)
    mechanism = KINDS[call["kind"]][call["mechanism"]]
    return al.Release(mechanism, sampling, call["count"])


def ask(call: Answer, query: str, at: float) -> al.Bound:
    """epsilon at a delta, or delta at an epsilon."""
    release = release_of(call)
    if query == "epsilon":
        return al.epsilon(release, delta=at, adjacency=ADJACENCY)
    return al.delta(release, epsilon=at, adjacency=ADJACENCY)


def faults(call: Answer, bound: al.Bound) -> list[str]:
    """What is wrong with an answer; an empty list for a good one."""
    low, high = bound.lower, bound.upper
    if math.isnan(low + high) or not 0 <= low <= high:
        return ["no interval"]
    if low == high or high < TINY:
        return []
    found = [] if bound.width <= WIDTH else ["wide"]
    if low == 0 and (call["query"] == "delta" or positive(call)):
        found.append("lower end 0")
    if high == (1 if call["query"] == "delta" else math.inf):
        if low == 0 or found:
            found.append("upper end trivial")
    return found


def positive(call: Answer) -> bool:
    """Whether epsilon is surely not 0."""
    return ask(call, "delta", 0.0).lower > call["at"]


def one(job: tuple[Answer, float]) -> Answer:
    """One call, its time and its faults."""
    call, seconds = job
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    start = time.perf_counter()
    result = dict(call)
    try:
        bound = ask(call, call["query"], call["at"])
        result["seconds"] = time.perf_counter() - start
        result |= {"lower": bound.lower, "upper": bound.upper}
        result["width"] = bound.width
        result["faults"] = faults(call, bound)
    except Exception as error:
        told = f"{type(error).__name__}: {error}"[:120]
        result |= {"faults": ["failure"], "failure": told, "width": 2.0}
        result["seconds"] = time.perf_counter() - start
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return result


def table(results: list[Answer]) -> dict[str, dict[str, int]]:
    """How many answers of each mechanism have which fault."""
    rows: dict[str, Counter[str]] = {}
    for result in results:
        name = str(KINDS[result["kind"]][result["mechanism"]])
        row = rows.setdefault(name, Counter())
        row.update(["calls", *result["faults"]])
        rare = result["query"] == "delta" and result.get("upper", 1) < RARE
        if rare and result["faults"]:
            row["of these, delta < 1e-30"] += 1
    rows["all"] = sum(rows.values(), Counter())
    return {name: dict(row) for name, row in rows.items()}


def line(result: Answer) -> str:
    """A call as it is typed, and its answer."""
    release = release_of(result)
    other = "delta" if result["query"] == "epsilon" else "epsilon"
    ends = result.get("failure", "")
    if not ends:
        ends = f"[{result['lower']:.6g}, {result['upper']:.6g}]"
    return (
        f"{result['query']}({release}, {other}={result['at']!r}): {ends} "
        f"{result['seconds']:.2f} s, {', '.join(result['faults'])}"
    )


def in_json(value: Any) -> Any:
    """The same with infinities as words and numbers cut to 6 digits."""
    if isinstance(value, dict):
        return {key: in_json(part) for key, part in value.items()}
    if isinstance(value, list):
        return [in_json(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else str(value)
    return value


def worst(results: list[Answer]) -> list[Answer]:
    """Answers with a fault, those of no use first."""
    bad = [result for result in results if result["faults"]]
    return sorted(bad, key=lambda r: (-len(r["faults"]), -r["width"]))


def report(results: list[Answer], shown: int) -> None:
    columns = (
        *("wide", "lower end 0", "upper end trivial", "no interval"),
        *("failure", "of these, delta < 1e-30"),
    )
    print(f"{'':44}{'calls':>6}", *columns, sep="  ")
    for name, row in table(results).items():
        counts = (f"{row.get(c, 0):>{len(c)}}" for c in columns)
        print(f"{name[:43]:44}{row['calls']:>6}", *counts, sep="  ")
    for result in worst(results)[:shown]:
        print(line(result))
    slow = max(results, key=lambda r: r["seconds"])
    print("slowest:", line(slow))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--every", type=int, default=1, help="one call in so many")
    add("--jobs", type=int, default=2)
    add("--seconds", type=float, default=60, help="limit of one call")
    add("--worst", type=int, default=40, help="how many are printed")
    add("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    grid = calls()
    order = np.random.default_rng(1).permutation(len(grid))
    some = sorted(order[:: options.every])
    todo = [(grid[i], options.seconds) for i in some]
    start = time.perf_counter()
    with ProcessPoolExecutor(options.jobs) as pool:
        results = list(pool.map(one, todo, chunksize=4))
    passed = time.perf_counter() - start
    report(results, options.worst)
    print(f"{len(results)} calls in {passed:.0f} s")
    if options.every > 1 and options.output == RESULTS:
        return  # the file beside this one is about all of them
    told = {
        "version": al.__version__,
        "calls": len(results),
        "seconds": passed,
        "table": table(results),
        "faults": [line(result) for result in worst(results)],
    }
    options.output.write_text(json.dumps(in_json(told), indent=1) + "\n")


if __name__ == "__main__":
    main()
