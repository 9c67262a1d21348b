"""Lebeda et al. 2025, Avoiding Pitfalls: figures 2 and 3, table 1."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import json
from typing import Any

import pytest
from mpmath import mp, mpf

import accountlib as al
from accountlib.engine import saddle
from accountlib.runs import one_call
from tests import DATA, truth

FIGURE_3 = json.loads((DATA / "pitfalls_fig3.json").read_text("utf-8"))
TABLE_1 = json.loads((DATA / "pitfalls_table1.json").read_text("utf-8"))
BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}


def largest_bound(ways, query):
    """Interval for the largest answer of several directions."""
    return one_call.largest_of(one_call.search_ways(ways, query))


# --- facts of the paper -----------------------------------------------------


def two_laplace_delta(epsilon, first, second):
    """delta of two sampled Laplace pairs (scale 1, rate 1/2), in mpmath;
    `first`, `second`: "remove" or "add"."""
    with mp.workdps(20):
        g, epsilon = mpf(1) / 2, mpf(epsilon)

        def loss(x):
            return mp.log1p(g * mp.expm1(2 * x - 1))

        sign = 1 if first == "remove" else -1

        def after(x):
            return truth.sampled_laplace_delta(
                epsilon - sign * loss(x), [(1.0, 0.5)], direction=second
            )

        def weight(x):  # density, times 2
            q, p = mp.exp(-x), mp.exp(x - 1)
            return (1 - g) * q + g * p if first == "remove" else q

        tail = mp.exp(-1)
        ends = {"remove": ((1 - g) + g * tail, (1 - g) * tail + g)}
        ends["add"] = mpf(1), tail
        low, high = ends[first]
        kinks = [mpf(0), mpf(1)]
        for atom in (loss(mpf(0)), loss(mpf(1))):
            at = epsilon - (atom if second == "remove" else -atom)
            inner = 1 + mp.expm1(sign * at) / g
            if inner > 0 and 0 < (mp.log(inner) + 1) / 2 < 1:
                kinks.append((mp.log(inner) + 1) / 2)
        smooth = mp.quad(lambda x: after(x) * weight(x), sorted(kinks))
        atoms = low * after(mpf(0)) + high * after(mpf(1))
        return (atoms + smooth) / 2


CURVES = {
    "PP_QQ": ("remove", "remove"),
    "QQ_PP": ("add", "add"),
    "PQ_QP": ("remove", "add"),
}


@pytest.mark.parametrize("name", CURVES)
def test_figure_3(name):
    pair = al.SampledPair(al.LaplacePair(1.0), 0.5)
    turned = {"remove": pair, "add": pair.reversed()}
    one, two = (turned[x] for x in CURVES[name])
    way = [(one, 2)] if one == two else [(one, 1), (two, 1)]
    for row in FIGURE_3["rows"][::3]:
        epsilon = row["eps"]
        query = saddle.Query(None, epsilon, 1e-3)
        bound = largest_bound([way], query)
        known = float(two_laplace_delta(epsilon, *CURVES[name]))
        assert known == pytest.approx(row[name], abs=1e-9)
        assert bound.lower <= known + 1e-15 and known <= bound.upper + 1e-15
    last = FIGURE_3["support_ends"][name]
    query = saddle.Query(None, last * (1 + 1e-9), 1e-3)
    assert largest_bound([way], query).upper <= 1e-12


def test_crossings_of_figure_3():
    for at, one, two in (
        ("QQ_PP_to_PQ_QP", "QQ_PP", "PQ_QP"),
        ("PQ_QP_to_PP_QQ", "PQ_QP", "PP_QQ"),
    ):
        place = FIGURE_3["crossings"][at]
        gaps = [
            two_laplace_delta(x, *CURVES[one])
            - two_laplace_delta(x, *CURVES[two])
            for x in (place - 1e-6, place, place + 1e-6)
        ]
        assert gaps[0] > 0 > gaps[2] and abs(gaps[1]) < 1e-9


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


# --- calibration ------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "sigma"),
    [(10, 0.44499), (5, 0.53225), (2, 0.66901), (1, 0.78765)],
)
def test_figure_2_poisson(epsilon, sigma):
    found = al.calibrate_noise(
        epsilon=epsilon,
        delta=1e-6,
        sampling=al.Poisson(1e-3),
        count=10_000,
        **BOTH,
    )
    assert found == pytest.approx(sigma, rel=2e-3)


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
