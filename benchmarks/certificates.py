"""Make certificates of random runs, and replay them.

    python -m benchmarks.certificates                settings 0 to 999, JSON
    python -m benchmarks.certificates --count 20     a first look, no JSON
    python -m benchmarks.certificates --case 7       one, with its steps

A setting is a list of one to three releases of all mechanisms and samplers
that have a law in balls, neighbours, group size, and a question. Each
certificate must replay as proven; it should claim what the engine says, and
where it is looser, or takes longer than the limit, that is counted. For every
fifth one with the engine's ends the errors of its sums are looked at: what was
counted for the window and the frequencies left out, as a part of the delta
that is claimed, and how much of that was used: the change with a window three
times as long and more frequencies.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import statistics
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported
import accountlib as al
from accountlib.proofs.balls import flint
from accountlib.proofs.certificates import Certificate, Proof
from accountlib.proofs.making import engine_bound
from accountlib.proofs.samplers import lower_laws, run_laws
from accountlib.proofs.sums import (
    circle_sum,
    lower_table,
    tilted,
    upper_table,
)

FILE = Path(__file__).with_suffix(".json")
BOTH = ("remove", "add", "add-or-remove")
FIRST_CUT = 800  # from here on, settings of the part "Other samplers"
LONGEST = 600  # seconds of CPU for making and replaying one


def mechanism(rng: random.Random, adjacency: str) -> Any:
    """A mechanism that has an answer for these neighbours."""

    def spread(low: float, high: float) -> float:
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    noise = spread(0.5, 40)
    kinds = [
        *[lambda: al.Gaussian(noise)] * 5,
        lambda: al.Laplace(noise),
        lambda: al.DiscreteGaussian(noise, rng.choice([1, 1, 2])),
        lambda: al.DiscreteLaplace(noise, rng.choice([1, 1, 3])),
        lambda: al.RandomizedResponse(rng.uniform(0.3, 0.8)),
        lambda: al.PureDP(spread(1e-3, 1)),
        lambda: al.ApproximateDP(spread(1e-3, 1), spread(1e-12, 1e-6)),
    ]
    if adjacency in BOTH:
        shares = [0.5, 0.25, 0.25]
        kinds += [
            lambda: al.MixtureOfGaussians([0, 1, 2], shares, noise),
            lambda: al.DiscretePair(shares, shares[::-1]),
        ]
    return rng.choice(kinds)()


def cut_or_shuffled(rng: random.Random, adjacency: str) -> al.Release:
    """One release of a sampler whose epochs or batches are not alike."""
    size = rng.randint(200, 100_000)
    mean = rng.uniform(0.5, min(64, size / 10))
    sampling = rng.choice(
        [
            al.TruncatedPoisson(
                mean / size, max(1, int(rng.uniform(0.8, 2) * mean)), size
            ),
            al.RandomAllocation(rng.randint(2, 300)),
            al.ShuffledEpochs(rng.randint(2, 300)),
        ]
    )
    most = 1000 if isinstance(sampling, al.TruncatedPoisson) else 20
    count = int(math.exp(rng.uniform(0, math.log(most))))
    return al.Release(mechanism(rng, adjacency), sampling, count)


def release(rng: random.Random, adjacency: str) -> al.Release:
    """One release; the longest have a billion steps."""
    rate = math.exp(rng.uniform(math.log(1e-4), math.log(0.3)))
    sampling = rng.choice(
        [
            al.FullBatch(),
            al.Poisson(rate),
            al.Poisson(rate),
            al.FixedBatch(rng.randint(1, 64), rng.randint(200, 100_000)),
        ]
    )
    most = 300.0 if sampling == al.FullBatch() else 2e4
    if isinstance(sampling, al.Poisson) and rng.random() < 0.2:
        most = 1e9
    count = int(math.exp(rng.uniform(0, math.log(most))))
    return al.Release(mechanism(rng, adjacency), sampling, count)


def setting(seed: int) -> tuple[list[al.Release], dict[str, Any], al.Bound]:
    """A run, a question, and what the engine answers."""
    rng = random.Random(seed)
    while True:
        adjacency = rng.choice([*BOTH, "substitute", "zero-out"])
        number = rng.choice([1, 1, 1, 2])
        draw = release if seed < FIRST_CUT else cut_or_shuffled
        runs = [draw(rng, adjacency) for _ in range(number)]
        group = rng.choice([1, 1, 1, 2, 4])
        asked = "epsilon" if rng.random() < 0.7 else "delta"
        given = math.exp(rng.uniform(math.log(0.05), math.log(20)))
        if asked == "epsilon":
            least = 1e-200 if rng.random() < 0.15 else 1e-12
            given = math.exp(rng.uniform(math.log(least), math.log(1e-2)))
        name = al.Adjacency(adjacency)
        try:
            run_laws(runs, name, group)
            found = engine_bound(runs, asked, given, name, group, 1e-3)
        except (NotImplementedError, ValueError):
            continue
        if found.upper > 1e-290 and math.isfinite(found.lower):
            other = "delta" if asked == "epsilon" else "epsilon"
            how = {other: given, "adjacency": adjacency, "group_size": group}
            return runs, how, found


class Late(Exception):
    """A setting took longer than the limit."""


def too_late(*_: Any) -> None:
    raise Late


def errors(claim: Certificate, proof: Proof) -> tuple[float, float] | None:
    """What a sum counts for all that it leaves out, as a part of delta, and
    how much of that it uses."""
    circle, grids = proof.circle, proof.grids
    if circle is None:
        return None
    last = min(3 * circle.size // 2, 5 * circle.last)
    if last * sum(len(grid.places) for grid in grids) > 2e7:
        return None
    begin, size = circle.first - circle.size, 3 * circle.size
    wider = replace(circle, first=begin, size=size, last=last)
    end = getattr(claim.bound, proof.side)
    at = end if claim.asked == "epsilon" else claim.given
    find = run_laws if proof.side == "upper" else lower_laws
    ways = find(claim.releases, claim.adjacency, claim.group_size)
    laws = ways[proof.direction]
    make = upper_table if proof.side == "upper" else lower_table
    with flint().ctx.workprec(512):
        parts, offset = [], Fraction(0)
        for (law, count), grid in zip(laws.items(), grids, strict=True):
            table = tilted(make(law, grid), grid, circle.tilt)
            parts.append((table, count))
            offset += count * Fraction(grid.offset)
        how = grids[0].step, offset, at
        plain = circle_sum(parts, circle, *how, 0)
        counted = circle_sum(parts, circle, *how, 1) - plain
        better = circle_sum(parts, wider, *how, 0)
        if not (counted > 0 and better > 0):
            return None
        delta = claim.given if claim.asked == "epsilon" else end
        return float(counted / delta), float(abs(plain - better) / counted)


def outcome(seed: int) -> dict[str, Any]:
    """What comes of one setting."""
    runs, how, engine = setting(seed)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        claim = al.certificate(runs, **how)
        made = time.process_time() - start
        replayed = al.replay(Certificate.from_json(claim.to_json()))
        seconds = time.process_time() - start - made
    except Late:
        return {"case": seed, "outcome": "late"}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    word = "as the engine" if claim.bound == engine else "looser"
    found = {
        "case": seed,
        "outcome": word if replayed.proven else "NOT PROVEN",
        "made": round(made, 2),
        "replayed": round(seconds, 2),
        "bytes": len(claim.to_json()),
        "bits": max((step.bits for step in replayed.steps), default=0),
    }
    if word == "looser":
        found["bound"] = [claim.bound.lower, claim.bound.upper]
        found["engine"] = [engine.lower, engine.upper]
    elif seed % 5 == 0:
        some = [errors(claim, proof) for proof in claim.proofs]
        found["errors"] = [x for x in some if x is not None]
    return found


def told(rows: list[dict[str, Any]]) -> None:
    """Print what came of all."""
    words = [row["outcome"] for row in rows]
    for word in ("as the engine", "looser", "late", "NOT PROVEN"):
        print(f"{word}: {words.count(word)} of {len(rows)}")
    for name in ("made", "replayed", "bytes"):
        values = sorted(row[name] for row in rows if name in row)
        print(f"{name}: median {statistics.median(values)}", end=", ")
        print(f"nine in ten {values[len(values) * 9 // 10]}, {values[-1]}")


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int)
    arguments.add_argument("--case", type=int)
    chosen = arguments.parse_args()
    signal.signal(signal.SIGPROF, too_late)
    if chosen.case is not None:
        print(setting(chosen.case), outcome(chosen.case), sep="\n")
        return 0
    rows = []
    for seed in range(chosen.count or 1000):
        rows.append(outcome(seed))
        print(rows[-1], flush=True)
        if chosen.count is None:
            FILE.write_text(json.dumps(rows, indent=0) + "\n", "utf-8")
    told(rows)
    return 1 if "NOT PROVEN" in [row["outcome"] for row in rows] else 0


if __name__ == "__main__":
    raise SystemExit(main())
