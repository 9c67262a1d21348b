"""Look for runs whose worse direction is add, not remove.

    python search/directions.py                  on this machine
    python search/directions.py --backend dask   on a local Dask cluster
    python search/directions.py --backend dask --scheduler tcp://HOST:8786

Random settings of Poisson-sampled Gaussian noise, for which Lebeda et al.
(2024), Conjecture 12, say that there is none. As a control, a tenth as many
settings of Laplace noise, where there are some. Writes a line for each.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy; workers inherit it
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np

import accountlib as al
from accountlib import no_worst_data

RESULTS = Path(__file__).resolve().parents[1] / "notebooks/data/directions.csv"
COLUMNS = (
    *("mechanism", "row", "noise", "rate", "count"),
    *("verdict", "epsilon", "margin"),
)
GAUSSIAN, LAPLACE = "gaussian", "laplace"
Task = tuple[str, int, int]  # mechanism, row, seed
# In the order of COLUMNS.
Row = tuple[str, int, float, float, int, str, float, float]


def spread(random: np.random.Generator, low: float, high: float) -> float:
    """Log-uniform, of six digits."""
    return six(math.exp(random.uniform(math.log(low), math.log(high))))


def six(x: float) -> float:
    """The number to six digits."""
    return float(f"{x:.6g}")


def draw(
    mechanism: str, random: np.random.Generator
) -> tuple[float, float, int]:
    """Noise multiplier or scale, rate, and count."""
    if mechanism == GAUSSIAN:
        noise, rate = spread(random, 0.3, 10), spread(random, 1e-4, 0.9)
        return noise, rate, int(spread(random, 1, 10_001))
    noise, rate = spread(random, 0.3, 3), six(random.uniform(0.05, 0.95))
    return noise, rate, int(spread(random, 1, 33))


def check_row(mechanism: str, row: int, seed: int) -> Row:
    """One line of the file; drawn again where epsilon is 0."""
    random = np.random.default_rng([seed, row])
    noisy = al.Gaussian if mechanism == GAUSSIAN else al.Laplace
    while True:
        noise, rate, count = draw(mechanism, random)
        release = al.Release(noisy(noise), al.Poisson(rate), count)
        try:
            found = no_worst_data.check_directions(release)
        except ValueError as error:
            if "at delta = 1e-6" in str(error):
                continue
            raise
        told = found.verdict, six(found.epsilon), six(found.margin)
        return mechanism, row, noise, rate, count, *told


def tasks(rows: int, seed: int) -> list[Task]:
    """Gaussian rows, then a tenth as many of Laplace noise."""
    every = range(rows + rows // 10)
    return [(GAUSSIAN if i < rows else LAPLACE, i, seed) for i in every]


def sweep(todo: list[Task], backend: str, jobs: int) -> list[Row]:
    """All rows, in order. A replay of one row needs none of these imports."""
    from joblib import Parallel, delayed, parallel_config
    from tqdm import tqdm

    with parallel_config(backend=backend, n_jobs=jobs):
        made = Parallel(return_as="generator_unordered")(
            delayed(check_row)(*task) for task in todo
        )
        # No bar where the output goes to a file.
        rows = list(tqdm(made, total=len(todo), unit="row", disable=None))
    return sorted(rows, key=lambda row: row[1])


@contextmanager
def workers(backend: str, scheduler: str | None, jobs: int) -> Iterator[None]:
    """A connection to Dask where it is wanted, as joblib needs it."""
    if backend != "dask":
        yield
        return
    from distributed import Client, LocalCluster

    if scheduler:
        with Client(scheduler):
            yield
        return
    cluster = LocalCluster(
        n_workers=jobs, threads_per_worker=1, dashboard_address=None
    )
    with cluster, Client(cluster):
        yield


def write(path: Path, rows: list[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


def summary(rows: list[Row]) -> str:
    """Verdicts of each mechanism, and the rows that stand out."""
    lines = []
    for mechanism in (GAUSSIAN, LAPLACE):
        ours = [row for row in rows if row[0] == mechanism]
        counts = Counter(row[5] for row in ours)
        told = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        lines.append(f"{mechanism}: {told or 'no rows'}")
        for verdict, choose, word in (
            ("no counterexample", min, "smallest"),
            ("undecided", max, "largest"),
            ("counterexample", max, "largest"),
        ):
            some = [row for row in ours if row[5] == verdict]
            if some:
                found = choose(some, key=lambda row: row[7])
                lines.append(f"  {word} margin, {verdict}: {describe(found)}")
    return "\n".join(lines)


def describe(row: Row) -> str:
    _, number, noise, rate, count, _, place, margin = row
    return (
        f"{margin} at epsilon {place}, row {number} "
        f"(noise {noise}, rate {rate}, count {count})"
    )


def whole(least: int) -> Callable[[str], int]:
    """A whole number for argparse, at least this large."""

    def read(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(
                f"must be at least {least}, got {text}"
            )
        return number

    read.__name__ = "whole number"
    return read


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--backend", choices=("loky", "dask"), default="loky")
    add("--scheduler", metavar="ADDRESS", help="of a running Dask cluster")
    add("--jobs", type=whole(1), default=os.cpu_count(), metavar="N")
    add("--rows", type=whole(1), default=10_000, metavar="N")
    add("--seed", type=whole(0), default=12, metavar="N")
    add("--out", type=Path, default=RESULTS, metavar="FILE")
    options = parser.parse_args(words)
    if options.scheduler and options.backend != "dask":
        parser.error("--scheduler needs --backend dask")
    if not options.out.resolve().parent.is_dir():
        parser.error(f"--out: no folder {options.out.parent}")
    return options


def main(words: list[str] | None = None) -> None:
    options = arguments(words)
    todo = tasks(options.rows, options.seed)
    start = time.perf_counter()
    with workers(options.backend, options.scheduler, options.jobs):
        rows = sweep(todo, options.backend, options.jobs)
    write(options.out, rows)
    print(summary(rows))
    seconds = time.perf_counter() - start
    print(f"{len(rows)} rows in {seconds:.0f} s, written to {options.out}")


if __name__ == "__main__":
    main()
