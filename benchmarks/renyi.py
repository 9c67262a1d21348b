"""Time and agreement of Renyi DP curves of sampled Gaussian noise.

    python -m benchmarks.renyi

One curve of 1,000 whole orders, here, in autodp and in dp-accounting, and
one of 1,000 real orders, here and in dp-accounting, one after the other in
one process. Writes renyi.json beside this file. A chapter prints it.
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

import numpy as np
from autodp.mechanism_zoo import GaussianMechanism
from autodp.transformer_zoo import AmplificationBySampling
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant

import accountlib as al

RESULTS = Path(__file__).resolve().parent / "renyi.json"
SETTINGS = [(1.0, 0.01), (5.0, 0.001), (0.6, 0.004)]
ORDERS = np.arange(2, 1002)
REAL_ORDERS = np.linspace(1.05, 100.95, 1000)
Curve = Callable[[float, float], Any]


def ours(sigma: float, rate: float) -> Any:
    return al.poisson_rdp(
        ORDERS,
        rdp=lambda a: al.gaussian_rdp(a, noise_multiplier=sigma),
        rate=rate,
        bound="tight",
    )


def autodp(sigma: float, rate: float) -> Any:
    amplify = AmplificationBySampling(PoissonSampling=True)
    step = amplify(
        GaussianMechanism(sigma=sigma), rate, improved_bound_flag=True
    )
    return np.array([step.RenyiDP(int(order)) for order in ORDERS])


def dp_accounting(sigma: float, rate: float) -> Any:
    accountant = RdpAccountant([int(order) for order in ORDERS])
    gaussian = dp_event.GaussianDpEvent(sigma)
    accountant.compose(dp_event.PoissonSampledDpEvent(rate, gaussian))
    return np.array(accountant._rdp)


def ours_real(sigma: float, rate: float) -> Any:
    step = al.Release(al.Gaussian(sigma), al.Poisson(rate))
    return al.rdp_curve(step, adjacency="add-or-remove")(REAL_ORDERS)


def dp_accounting_real(sigma: float, rate: float) -> Any:
    accountant = RdpAccountant(REAL_ORDERS.tolist())
    gaussian = dp_event.GaussianDpEvent(sigma)
    accountant.compose(dp_event.PoissonSampledDpEvent(rate, gaussian))
    return np.array(accountant._rdp)


def timed(curve: Curve, sigma: float, rate: float) -> tuple[float, Any]:
    """Median milliseconds of a warm call, and the curve."""
    values, times = curve(sigma, rate), []
    while len(times) < 7 and sum(times) < 20:
        start = time.perf_counter()
        curve(sigma * (1 + 1e-9 * len(times)), rate)  # no cache answers it
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times), values


def measured(makers: dict[str, Curve]) -> list[dict[str, Any]]:
    """Times of all makers, and how far they are from ours, by setting."""
    rows = []
    for sigma, rate in SETTINGS:
        found = {
            name: timed(curve, sigma, rate) for name, curve in makers.items()
        }
        values = found["accountlib"][1]
        apart = {
            name: float(np.max(np.abs(other / values - 1)))
            for name, (_, other) in found.items()
            if name != "accountlib"
        }
        rows.append(
            {
                "sigma": sigma,
                "rate": rate,
                "milliseconds": {
                    k: round(v, 3) for k, (v, _) in found.items()
                },
                "largest_relative_difference": apart,
            }
        )
        print(rows[-1])
    return rows


def main() -> None:
    rows = measured(
        {"accountlib": ours, "autodp": autodp, "dp-accounting": dp_accounting}
    )
    real_rows = measured(
        {"accountlib": ours_real, "dp-accounting": dp_accounting_real}
    )
    facts = {
        "date": date.today().isoformat(),
        "orders": f"orders {ORDERS[0]} to {ORDERS[-1]}",
        "versions": {k: version(k) for k in ("autodp", "dp-accounting")},
        "rows": rows,
        "real_orders": f"real orders {REAL_ORDERS[0]} to {REAL_ORDERS[-1]}",
        "real_rows": real_rows,
    }
    RESULTS.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
