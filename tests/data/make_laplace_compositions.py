"""Write laplace_compositions.json: the truth for many Laplace releases.

    python -m tests.data.make_laplace_compositions

takes about five minutes. Each row has a scale, a count and a delta, with
`epsilon_low <= epsilon(delta) <= epsilon_high`, and one epsilon with
`delta_low <= delta(epsilon) <= delta_high`. Bounds are rounded outwards.
"""

import json
import math
from pathlib import Path

import numpy as np

from tests.truth import (
    laplace_composition_delta,
    laplace_composition_epsilon,
)

HERE = Path(__file__).resolve().parent

RANDOM = 650  # scale, count and delta at random
NEAR_ZERO = 50  # delta only just below delta(0), so that epsilon is near 0


def outwards(low, high) -> tuple[float, float]:
    if high == 0:
        return 0.0, 0.0
    low = max(0.0, math.nextafter(float(low), -math.inf))
    return low, math.nextafter(float(high), math.inf)


def row(scale: float, count: int, delta: float) -> dict[str, float]:
    low, high = outwards(*laplace_composition_epsilon(delta, scale, count))
    epsilon = float(f"{high:.3g}") if high else 0.01
    low_d, high_d = outwards(*laplace_composition_delta(epsilon, scale, count))
    return {
        "scale": scale,
        "count": count,
        "delta": delta,
        "epsilon_low": low,
        "epsilon_high": high,
        "epsilon": epsilon,
        "delta_low": low_d,
        "delta_high": high_d,
    }


def main() -> None:
    rng = np.random.default_rng(20)
    rows: list[dict[str, float]] = []
    while len(rows) < RANDOM + NEAR_ZERO:
        scale = float(f"{10 ** rng.uniform(-1, 2):.4g}")
        count = round(10 ** rng.uniform(0, 5))
        delta = 10 ** rng.uniform(-12, math.log10(0.5))
        if len(rows) >= RANDOM:
            start = float(laplace_composition_delta(0.0, scale, count)[0])
            if start > 0.5:
                continue
            delta = start * (1 - 10 ** rng.uniform(-6, -1))
        rows.append(row(scale, count, float(f"{delta:.9g}")))
    lines = ",\n".join(json.dumps(entry) for entry in rows)
    text = f'{{"rows": [\n{lines}\n]}}\n'
    (HERE / "laplace_compositions.json").write_text(text)


if __name__ == "__main__":
    main()
