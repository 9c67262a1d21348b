"""Subsampled Renyi DP: the figures of the papers."""

import json
import math
from functools import partial
from typing import Any

import accountlib as al
from accountlib import renyi_bounds
from tests import DATA
from tests.integrals import close

BASES: dict[str, tuple[Any, str, tuple[float, float]]] = {
    "gaussian": (al.gaussian_rdp, "noise_multiplier", (5, 1)),
    "laplace": (al.laplace_rdp, "scale", (2, 0.5)),
    "randresp": (al.randomized_response_rdp, "truth_probability", (0.6, 0.9)),
}


def base_curve(row):
    function, name, (high, low) = BASES[row["mech"]]
    return partial(
        function, **{name: high if row["regime"] == "high" else low}
    )


def test_figures_3_and_5():
    """Every column but Abadi's, which its page draws and does not export."""
    rows = json.loads((DATA / "rdp_fig3.json").read_text("utf-8"))["rows"]
    assert len(rows) == 126
    for row in rows[::2]:
        curve, order = base_curve(row), row["alpha"]
        sampled = partial(al.poisson_rdp, order, rdp=curve, rate=1e-3)
        few = partial(
            renyi_bounds.poisson_rdp_terms, order, rdp=curve, rate=1e-3
        )
        values = {
            "base": curve(order),
            "tight": sampled(bound="tight"),
            "general": sampled(),
            "wor": al.without_replacement_rdp(order, rdp=curve, rate=1e-3),
            "tau50_general": few(terms=50),
        }
        for terms in (2, 10, 50):
            values[f"tau{terms}"] = few(terms=terms, bound="tight")
        for name, value in values.items():
            assert close(value, row[name], 1e-5), (row, name, value)
        if "cap_lemma4" in row:
            assert close(
                al.poisson_rdp(math.inf, rdp=curve, rate=1e-3),
                row["cap_lemma4"],
                1e-9,
            )


def test_figure_4():
    facts = json.loads((DATA / "rdp_fig4.json").read_text("utf-8"))
    for row in facts["rows"][::2]:
        curve, count = base_curve(row), row["k"]
        functions = {
            "tight": partial(al.poisson_rdp, bound="tight"),
            "general": al.poisson_rdp,
            "wor": al.without_replacement_rdp,
        }
        for name, function in functions.items():

            def total(a, function=function, curve=curve, count=count):
                return count * function(a, rdp=curve, rate=1e-3)

            convert = partial(
                al.epsilon_from_rdp, total, delta=1e-8, conversion="classic"
            )
            known = row[f"eps_{name}"]
            assert close(convert(orders=[row[f"alpha_{name}"]]), known, 1e-9)
            searched = convert()
            assert searched <= known * (1 + 1e-9), (row, name)
            if row["k"] > 64:  # below, order inf may be better
                assert close(searched, known, 1e-3), (row, name)


def test_exact_values_of_figure_4():
    facts = json.loads((DATA / "rdp_fig4.json").read_text("utf-8"))
    for name, row in facts["exact_pld"].items():
        kind, noise = name.split()
        value = float(noise.split("=")[1])
        base = al.Gaussian(value) if kind == "gaussian" else al.Laplace(value)
        for count, known in row.items():
            run = al.Release(base, al.Poisson(1e-3), count=int(count))
            bound = al.epsilon(run, delta=1e-8, adjacency="add-or-remove")
            # Upper bounds of another library at a fixed grid. Five to seven
            # digits are printed; one of them is rounded down, by 1.1e-7.
            assert bound.lower <= known * (1 + 1e-6)
            assert bound.upper >= known * (1 - 3e-2)
