"""Ganesh 2024, Tight Group-Level DP Guarantees: figures 1 and 2."""

import json
from typing import Any

import accountlib as al
from tests import DATA

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}


def test_figures_1_and_2():
    facts = json.loads((DATA / "mog_fig1_fig2.json").read_text("utf-8"))
    for figure in ("fig1", "fig2"):
        for row in facts[figure]:
            sampling = (
                al.Poisson(0.01)
                if figure == "fig1"
                else al.FixedBatch(500, 50_000 + row["k"])
            )
            run = al.Release(al.Gaussian(row["sigma"]), sampling, count=2000)
            for direction in ("remove", "add"):
                known = row[f"eps_{direction}"]
                bound = al.epsilon(
                    run, delta=1e-6, adjacency=direction, group_size=row["k"]
                )
                assert bound.width <= 1e-3
                assert bound.lower <= known, row
                assert bound.upper >= known * (1 - 3e-4), row
