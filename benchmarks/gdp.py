"""Gaussian DP: time at equal error, here and in gdpnum.

    python -m benchmarks.gdp

mu at the cut-off 1e-10 for runs of sampled Gaussian noise, add-or-remove.
The truth is this library's own bracket, asked to be 1e-6 wide. Ours is
asked for several widths, gdpnum for several grid steps; 1e-4 is its
default. Each row of gdpnum is set against our fastest row whose error is
no larger than gdpnum's own. Our error is the distance of the reported mu
from the lower end of the truth, gdpnum's is signed and measured from the
middle. Writes gdp.json beside this file.

The two definitions of mu differ a little. Ours is the largest mu over all
points of the trade-off curve where both error rates reach the cut-off, the
point at the cut-off itself included. gdpnum looks only at the corners of
its polygon, and so leaves out the interpolated points at the cut-off.
Where its curve is sound down to the cut-off, this is worth 1e-7 or less. A
value below the certified lower end of the truth is called unsafe. It has
two other causes, both in dp-accounting 0.6.0: a one-step add table whose
small masses are clipped differences of numbers near 1, so that they err
the more the finer the step, and the noise of an FFT without tilt, in tails
of 1e-10.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable
from datetime import date
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is imported

from gdpnum.dpsgd import get_mu_and_regret_for_dpsgd

import accountlib as al

RESULTS = Path(__file__).resolve().parent / "gdp.json"
CUTOFF = 1e-10
CASES = (  # noise multiplier, Poisson rate, steps
    (9.4, 16384 / 50000, 2000),
    (40.0, 16384 / 50000, 906),
    (12.0, 16384 / 50000, 2007),
    (1.0, 0.01, 2000),
    (0.8, 0.001, 10_000),
)
WIDTHS = (1e-3, 3e-4, 1e-4, 1e-5)
STEPS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5)


def timed(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Seconds of a warm call (median of several), and its answer."""
    answer, times = call(), []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times), answer


def ours(run: al.Release, truth: al.GDPFit) -> list[dict[str, Any]]:
    """This library's rows of one case."""
    rows = []
    for width in WIDTHS:
        took, fit = timed(
            partial(
                al.gdp,
                run,
                adjacency="add-or-remove",
                cutoff=CUTOFF,
                relative_width=width,
            ),
            7,
        )
        rows.append(
            {
                "relative_width": width,
                "milliseconds": 1000 * took,
                "mu": fit.mu,
                "mu_lower": fit.mu_lower,
                "regret": fit.regret,
                "error": (fit.mu - truth.mu_lower) / truth.mu_lower,
            }
        )
        print(
            f"  accountlib  width {width:<6g} {1000 * took:9.1f} ms"
            f"  mu {fit.mu:.7f}  error {rows[-1]['error']:+.1e}"
            f"  regret {fit.regret:.6f}",
            flush=True,
        )
    return rows


def theirs(
    case: tuple[float, float, int],
    truth: al.GDPFit,
    own: list[dict[str, Any]],
) -> list[dict[str, Any]]:
    """gdpnum's rows of one case, each with our time at its error."""
    rows = []
    middle = (truth.mu_lower + truth.mu) / 2
    for step in STEPS:
        row: dict[str, Any] = {"grid_step": step}
        rows.append(row)
        start = f"  gdpnum      step  {step:<6g}"
        call = partial(
            get_mu_and_regret_for_dpsgd, *case, grid_step=step, err=CUTOFF
        )
        try:
            took, (mu, regret) = timed(call, 3)
        except Exception as failure:
            row["failure"] = type(failure).__name__
            print(f"{start} {row['failure']}", flush=True)
            continue
        error = float(mu) / middle - 1
        good = [x["milliseconds"] for x in own if x["error"] <= abs(error)]
        row |= {
            "seconds": took,
            "mu": float(mu),
            "regret": float(regret),
            "error": error,
            "unsafe": bool(mu < truth.mu_lower),
            "accountlib_milliseconds": min(good, default=None),
            "ratio": 1000 * took / min(good) if good else None,
        }
        versus = "no row of ours is as close"
        if good:
            versus = f"ours {min(good):6.1f} ms, {row['ratio']:7.1f} times"
        print(
            f"{start} {1000 * took:9.1f} ms  mu {mu:.7f}  error {error:+.1e}"
            f"  regret {regret:.6f}  {versus}"
            f"{'  UNSAFE' if row['unsafe'] else ''}",
            flush=True,
        )
    return rows


def main() -> None:
    rows = []
    for sigma, rate, count in CASES:
        run = al.Release(al.Gaussian(sigma), al.Poisson(rate), count=count)
        truth = al.gdp(
            run,
            adjacency="add-or-remove",
            cutoff=CUTOFF,
            relative_width=1e-6,
        )
        print(
            f"noise {sigma:g}, rate {rate:g}, {count} steps: mu in"
            f" [{truth.mu_lower:.8f}, {truth.mu:.8f}],"
            f" regret at most {truth.regret:.6f}",
            flush=True,
        )
        own = ours(run, truth)
        rows.append(
            {
                "noise_multiplier": sigma,
                "rate": rate,
                "count": count,
                "truth": {
                    "mu": [truth.mu_lower, truth.mu],
                    "regret": truth.regret,
                },
                "accountlib": own,
                "gdpnum": theirs((sigma, rate, count), truth, own),
            }
        )
    facts = {
        "date": date.today().isoformat(),
        "versions": {x: version(x) for x in ("gdpnum", "dp-accounting")},
        "cutoff": CUTOFF,
        "rows": rows,
    }
    RESULTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
