"""Printed numbers and labels of a report are on the safe side."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import accountlib as al
from accountlib.gaussian_dp import report

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}
CIFAR = al.Poisson(16384 / 50000)
NAN, INF = math.nan, math.inf


# --- reports ----------------------------------------------------------------


REPORTED: list[tuple[Any, dict[str, Any]]] = [
    (
        al.Release(al.Gaussian(9.4), CIFAR, count=20),
        {"adjacency": "add-or-remove", "record": "one | 'image'\nor \"two\""},
    ),
    (
        [
            al.Release(al.Gaussian(3.0), al.FixedBatch(10, 100), count=5),
            al.Release(al.Laplace(20.0), al.Poisson(0.1)),
        ],
        {"adjacency": al.Adjacency.ADD, "deltas": np.array([1e-5, 0.1])},
    ),
    (
        al.Release(al.DiscreteGaussian(3.0, 2), count=4),
        {"adjacency": "remove", "group_size": 2, "cutoff": 1e-6},
    ),
    (
        al.Release(al.DiscretePair([0.5, 0.5], [0.25, 0.75]), count=3),
        {"adjacency": "remove", "relative_width": 1e-3},
    ),
    (al.Release(al.Gaussian(2.0)), {"adjacency": "add"}),
    (al.Release(al.Gaussian(1e-3)), {"adjacency": "add"}),
    (al.Release(al.ApproximateDP(1.0, 1e-5)), {"adjacency": "add"}),
    (al.Release(al.RandomizedResponse(1.0)), {"adjacency": "add"}),
    (al.Release(al.RandomizedResponse(0.5)), {"adjacency": "add"}),
]


@pytest.mark.parametrize(("run", "options"), REPORTED)
def test_a_report_repeats_itself(run, options):
    """From its call alone, which stands in the text and in the Markdown."""
    one = al.report(run, **options)
    two = eval(one.call, {name: getattr(al, name) for name in al.__all__})
    assert two.to_dict() == one.to_dict()
    assert str(two) == str(one) and two.to_markdown() == one.to_markdown()
    assert str(one).endswith(one.call) and one.call in one.to_markdown()
    text = json.dumps(one.to_dict(), allow_nan=False)
    assert float(json.loads(text)["gdp"]["mu"]) == one.fit.mu
    assert json.loads(text)["call"] == one.call


def rows_of(text):
    """The two-column rows of numbers of a report."""
    rows = [line.split() for line in text.splitlines()]
    return [row for row in rows if len(row) == 2 and row[0][0].isdigit()]


@pytest.mark.parametrize(("run", "options"), REPORTED)
def test_printed_numbers_are_on_the_safe_side(run, options):
    one = al.report(run, **options)
    rows = rows_of(str(one))
    count = len(one.epsilons)
    for (printed, text), (delta, bound) in zip(
        rows[:count], one.epsilons, strict=True
    ):
        assert float(text) >= bound.upper
        assert float(printed) >= delta  # epsilon falls as delta grows
    for (printed, text), (x, bound) in zip(
        rows[count:], one.tradeoff, strict=True
    ):
        assert float(text) <= bound.lower
        assert float(printed) <= x  # y falls as x grows
    printed_mu, printed_regret, printed_advantage = (
        number_after(str(one), name) for name in ("mu", "Regret", "Advantage")
    )
    assert printed_mu >= one.fit.mu
    assert printed_regret >= one.fit.regret
    assert printed_advantage >= one.advantage.upper


def number_after(text, name):
    """The number of "name:  at most 1.234, ..."."""
    line = next(x for x in text.splitlines() if x.startswith(f"{name}:"))
    return float(line.split("at most ")[1].split(",")[0])


def test_labels_of_a_report_are_on_the_safe_side():
    delta, cutoff = 1.2345614e-5, 1.2345614e-10
    run = al.Release(al.Gaussian(2.0), al.Poisson(0.5))
    one = al.report(run, adjacency="add", deltas=[delta], cutoff=cutoff)
    assert float(rows_of(str(one))[0][0]) >= delta
    (line,) = (x for x in str(one).splitlines() if x.startswith("Cut-off"))
    assert float(line.split()[-1]) >= cutoff


@given(
    st.floats(0, 1e300),
    st.integers(2, 12),
    st.booleans(),
)
def test_rounding_to_one_side(value, digits, up):
    text = report.rounded(value, up=up, digits=digits)
    shown = float(text)
    assert shown >= value if up else shown <= value
    assert abs(shown - value) <= 10.0 ** (1 - digits) * value + 1e-320
    assert report.rounded(INF, up=up, digits=digits) == "inf"


def test_the_points_of_a_report():
    """Tier II: f at agreed places and where both errors are equal."""
    run = al.Release(al.Laplace(1.0))
    one = al.report(run, **BOTH)
    places = [x for x, _ in one.tradeoff]
    assert places[:-1] == [1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1]
    x, bound = one.tradeoff[-1]
    equal = math.exp(-0.5) / 2
    assert x == pytest.approx(equal, abs=1e-5)
    assert bound.lower <= equal + 1e-9 and bound.upper >= equal - 1e-5
    advantage = -math.expm1(-0.5)
    assert one.advantage.lower <= advantage <= one.advantage.upper
    assert one.to_dict()["gdp"]["tier"] == 2
    assert [d for d, _ in one.epsilons] == [1e-5, 1e-6, 1e-8, 1e-10]
