"""Calibration and substitution: times here, and in dp-accounting.

    python -m benchmarks.pitfalls

The noise for Figure 2 of Lebeda et al. (2024): 10,000 Poisson steps, delta =
1e-6. Ours is certified, 0.1 % less noise misses the target; dp-accounting's
calibration of the same event gets its default table and a tolerance of 0.1 %.
Then epsilon of an exchanged record, which dp-accounting does not offer.
Writes pitfalls.json beside this file.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dp_accounting as dpa
from dp_accounting.pld import PLDAccountant

import accountlib as al

RESULTS = Path(__file__).resolve().parent / "pitfalls.json"
STEPS, DELTA = 10_000, 1e-6


def timed(call: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Milliseconds of a warm call (median), and its answer."""
    answer, times = call(), []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times), answer


def ours(rate: float, goal: float) -> float:
    return al.calibrate_noise(
        epsilon=goal,
        delta=DELTA,
        sampling=al.Poisson(rate),
        count=STEPS,
        adjacency="add-or-remove",
    )


def other(rate: float, goal: float) -> float:
    def event(noise: float) -> dpa.DpEvent:
        step = dpa.PoissonSampledDpEvent(rate, dpa.GaussianDpEvent(noise))
        return dpa.SelfComposedDpEvent(step, STEPS)

    return float(
        dpa.calibrate_dp_mechanism(
            PLDAccountant, event, goal, DELTA, tol=1e-3 * ours(rate, goal)
        )
    )


def main() -> None:
    noise = []
    for rate in (1e-4, 1e-3, 1e-2, 1e-1):
        for goal in (1.0, 10.0):
            took, found = timed(lambda r=rate, g=goal: ours(r, g))
            start = time.perf_counter()
            theirs = other(rate, goal)
            noise.append(
                {
                    "rate": rate,
                    "epsilon": goal,
                    "accountlib": {"milliseconds": took, "noise": found},
                    "dp-accounting": {
                        "milliseconds": 1000 * (time.perf_counter() - start),
                        "noise": theirs,
                    },
                }
            )
            print(noise[-1], flush=True)
    exchanged = []
    for sampling in (al.Poisson(1e-3), al.FixedBatch(100, 100_000)):
        run = al.Release(al.Gaussian(0.8), sampling, STEPS)
        took, bound = timed(
            lambda r=run: al.epsilon(r, delta=DELTA, adjacency="substitute")
        )
        exchanged.append(
            {
                "sampling": repr(sampling),
                "milliseconds": took,
                "epsilon": [bound.lower, bound.upper],
            }
        )
        print(exchanged[-1], flush=True)
    facts = {
        "date": date.today().isoformat(),
        "version": version("dp-accounting"),
        "noise": noise,
        "substitution": exchanged,
    }
    RESULTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
