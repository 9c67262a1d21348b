"""Groups of people: time at equal error, here and in dp-accounting.

    python -m benchmarks.groups

Epsilon at delta = 1e-6 for 2,000 steps of sampled Gaussian noise and
groups of several sizes, remove direction. Ours is asked for a width of
1e-3; dp-accounting's mixture-of-Gaussians table gets the coarsest grid
whose upper bound is within 1e-3 of the truth. Writes groups.json beside
this file.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path

from dp_accounting.pld import privacy_loss_distribution as pld

import accountlib as al
from accountlib.several import groups

RESULTS = Path(__file__).resolve().parent / "groups.json"
INTERVALS = (0.1, 0.05, 0.02, 0.01, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4)


def timed(call: Callable[[], float]) -> tuple[float, float]:
    """Milliseconds of a warm call (median of three), and its answer."""
    answer, times = call(), []
    for _ in range(3):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times), answer


def other(size: int, interval: float) -> float:
    values, weights = groups.binomial_sensitivity(size, rate=0.01)
    table = pld.from_mixture_gaussian_mechanism(
        1.0,
        values.tolist(),
        weights.tolist(),
        value_discretization_interval=interval,
    )
    remove = table._pmf_remove.self_compose(2000)
    return float(remove.get_epsilon_for_delta(1e-6))


def main() -> None:
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.01), count=2000)
    rows = []
    for size in (1, 2, 4, 8, 16, 64):

        def ours(size: int = size) -> float:
            return al.epsilon(
                run, delta=1e-6, adjacency="remove", group_size=size
            ).upper

        precise = al.epsilon(
            run,
            delta=1e-6,
            adjacency="remove",
            group_size=size,
            relative_width=1e-5,
        )
        took, answer = timed(ours)
        row = {
            "group_size": size,
            "truth": [precise.lower, precise.upper],
            "accountlib": {"milliseconds": took, "upper": answer},
        }
        for interval in INTERVALS:
            start = time.perf_counter()
            value = other(size, interval)
            first = time.perf_counter() - start
            if value / precise.upper - 1 <= 1e-3 or first > 60:
                took = 1000 * first
                if first < 20:
                    took, value = timed(partial(other, size, interval))
                row["dp-accounting"] = {
                    "interval": interval,
                    "milliseconds": took,
                    "upper": value,
                    "above": value / precise.upper - 1,
                }
                break
        rows.append(row)
        print(row, flush=True)
    facts = {
        "date": date.today().isoformat(),
        "version": version("dp-accounting"),
        "rows": rows,
    }
    RESULTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
