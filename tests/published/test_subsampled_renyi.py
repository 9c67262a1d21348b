"""Subsampled Renyi DP: the figures of the papers."""

import json
import math
from functools import partial
from typing import Any

import numpy as np
import pytest

import accountlib as al
from tests import DATA

BASES: dict[str, tuple[Any, str, tuple[float, float]]] = {
    "gaussian": (al.gaussian_rdp, "noise_multiplier", (5, 1)),
    "laplace": (al.laplace_rdp, "scale", (2, 0.5)),
    "randresp": (al.randomized_response_rdp, "truth_probability", (0.6, 0.9)),
}


def close(value, known, error):
    return abs(value / known - 1) <= error


def base_curve(row):
    function, name, (high, low) = BASES[row["mech"]]
    return partial(
        function, **{name: high if row["regime"] == "high" else low}
    )


def test_figures_3_and_5():
    """Every column but Abadi's, which is a sketch (below)."""
    rows = json.loads((DATA / "rdp_fig3.json").read_text("utf-8"))["rows"]
    assert len(rows) == 126
    for row in rows[::2]:
        curve, order = base_curve(row), row["alpha"]
        sampled = partial(al.poisson_rdp, order, rdp=curve, rate=1e-3)
        few = partial(al.poisson_rdp_terms, order, rdp=curve, rate=1e-3)
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
            cap = al.poisson_rdp(math.inf, rdp=curve, rate=1e-3)
            by_lemma = math.log1p(1e-3 * math.expm1(curve(math.inf)))
            assert close(cap, row["cap_lemma4"], 1e-9)
            assert by_lemma * (1 - 1e-15) <= cap <= by_lemma * (1 + 1e-12)


def test_figure_4():
    facts = json.loads((DATA / "rdp_fig4.json").read_text("utf-8"))
    for row in facts["rows"][::5]:
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


@pytest.mark.parametrize(
    ("mech", "regime", "known"),
    [
        ("gaussian", "high", [0.00506453, 0.00243972, 0.00149731]),
        ("gaussian", "low", [13.930691, 20186.994, 1.29638e9]),
        ("laplace", "high", [0.0548992, 0.031155, 0.0142933]),
        ("laplace", "low", [19.963454, 785.71077, 31294.428]),
        ("randresp", "high", [1 / 36]),
        ("randresp", "low", [50.5679]),
    ],
)
def test_odd_moments_of_proposition_10(mech, regime, known):
    curve = base_curve({"mech": mech, "regime": regime})
    values = al.pearson_vajda([3, 5, 7][: len(known)], rdp=curve)
    assert np.max(np.abs(values / known - 1)) < 1e-5


def poisson_counts(order, mean, base):
    """Renyi divergence of Poisson(mean) from Poisson(base)."""
    power = mean**order * base ** (1 - order)
    return (power - (1 - order) * base - order * mean) / (order - 1)


def test_figure_2_and_what_follows():
    """Negative odd moments: the tight formula would be too small."""
    falling = partial(poisson_counts, mean=0.3, base=0.6)
    rising = partial(poisson_counts, mean=0.6, base=0.3)
    assert close(al.pearson_vajda(3, rdp=falling), -0.0305113, 1e-5)
    assert close(al.pearson_vajda(5, rdp=falling), -0.02100, 1e-3)
    assert close(al.pearson_vajda(3, rdp=rising), 1.27054, 1e-5)
    two, three = falling(2.0), falling(3.0)
    formula = (4 + 3 * math.exp(two) + math.exp(2 * three)) / 8
    assert math.log(formula) / 2 == pytest.approx(0.0555747, abs=1e-7)
    ask: dict[str, Any] = {"rate": 0.5, "bound": "tight"}
    for call in (
        partial(al.poisson_rdp, 3),
        partial(al.poisson_rdp_terms, 9, terms=1),
    ):
        with pytest.raises(ValueError, match="cover add and.*odd") as refusal:
            call(rdp=falling, **ask)
        assert "general" not in str(refusal.value)  # no way out: test below
    assert al.poisson_rdp(2, rdp=falling, **ask) > 0
    assert 0.0730703 <= al.poisson_rdp(3, rdp=rising, rate=0.5)


def abadi_sketch(order, sigma, rate):
    """Lemma 3 of Abadi et al. with its terms up to the third power, as in
    the script of Figure 3: a sketch, and no proven bound."""
    cube = (2 * rate) ** 3
    third = cube / ((1 - rate) ** 3 * sigma**6)
    third += cube / ((1 - rate) ** 2 * sigma**3)
    tail = math.exp(3 / sigma**2) * (2 * sigma**3 + 27)
    third += cube * tail / (2 * (1 - rate) ** 2 * sigma**6)
    second = rate**2 * order / ((1 - rate) * sigma**2)
    return second + order * (order - 2) / 6 * third


def test_abadi_in_figure_3():
    """The authors' script gives these values."""
    for order, known in ((2, 8.008008e-8), (10, 4.023305e-7)):
        assert close(abadi_sketch(order, 5.0, 1e-3), known, 1e-6)
