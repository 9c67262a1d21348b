"""Lebeda et al. 2025, Avoiding Pitfalls: figures 2 and 3, table 1."""

import json
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.accountant import solve
from accountlib.choices import Query
from tests import DATA

FIGURE_3 = json.loads((DATA / "pitfalls_fig3.json").read_text("utf-8"))
TABLE_1 = json.loads((DATA / "pitfalls_table1.json").read_text("utf-8"))
BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}


CURVES = {
    "PP_QQ": ("remove", "remove"),
    "QQ_PP": ("add", "add"),
    "PQ_QP": ("remove", "add"),
}


@pytest.mark.parametrize("name", CURVES)
def test_figure_3(name):
    (pair,) = al.dominating_pairs(
        al.Laplace(1.0), sampling=al.Poisson(0.5), adjacency="remove"
    )
    turned = {"remove": pair, "add": pair.reversed()}
    one, two = (turned[x] for x in CURVES[name])
    steps = ((one, 2),) if one == two else ((one, 1), (two, 1))
    rows = FIGURE_3["rows"][::3]
    for row in rows:
        query = Query("delta", np.array([row["eps"]]), 1e-3)
        with np.errstate(all="ignore"):
            found = solve(steps, query, np.zeros(1))
        assert found.lower[0] <= row[name] + 1e-9
        assert row[name] <= found.upper[0] + 1e-9
    last = FIGURE_3["support_ends"][name] * (1 + 1e-9)
    with np.errstate(all="ignore"):
        query = Query("delta", np.array([last]), 1e-3)
        assert solve(steps, query, np.zeros(1)).upper[0] <= 1e-12


def test_table_1():
    settings = TABLE_1["parameters"]
    count, rate = settings["T"], settings["gamma"]
    noise = al.Gaussian(settings["sigma"])
    poisson = al.Release(noise, al.Poisson(rate), count)
    fixed = al.Release(noise, al.FixedBatch(1, round(1 / rate)), count)
    for row in TABLE_1["rows"]:
        for run, printed, tight in (
            (poisson, "published_poisson", "tight_poisson_remove"),
            (fixed, "published_wor", "tight_wor_remove"),
        ):
            bound = al.epsilon(
                run, delta=row["delta"], relative_width=1e-4, **BOTH
            )
            assert 0 <= row[printed] - bound.upper
            assert row[printed] - bound.lower <= 0.02
            assert abs(bound.upper - row[tight]) <= max(
                5e-4, 1e-3 * row[tight]
            )


def test_figure_2_fixed_batch_and_all_records():
    found = al.calibrate_noise(
        epsilon=10,
        delta=1e-6,
        sampling=al.FixedBatch(1, 1000),
        count=10_000,
        **BOTH,
    )
    assert found == pytest.approx(0.88998, rel=2e-3) and found > 0.78765
    for epsilon, sigma in (
        (10, 54.1087),
        (5, 98.0049),
        (2, 223.048),
        (1, 422.468),
    ):
        found = al.calibrate_noise(
            epsilon=epsilon,
            delta=1e-6,
            sampling=al.Poisson(1.0),
            count=10_000,
            **BOTH,
        )
        assert found == pytest.approx(sigma, rel=2e-3)
