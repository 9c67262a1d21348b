"""Reports: what they print and keep, and on which side."""

import json
import pickle

import pytest

import accountlib as al
from accountlib import Gaussian, Release, report

BOTH = {"adjacency": "add-or-remove"}
IMAGES = Release(Gaussian(9.4), al.Poisson(16384 / 50000), 2000)


@pytest.fixture(scope="module")
def images():
    return report(IMAGES, record="one image", notes="a | b", **BOTH)


def test_a_report_says_what_the_calls_say(images):
    fit = al.gdp(IMAGES, **BOTH)
    assert images.fit == fit and fit.is_good
    deltas = [d for d, _ in images.epsilons]
    assert deltas == [1e-5, 1e-6, 1e-8, 1e-10]
    ends = al.epsilon(IMAGES, delta=deltas, **BOTH)
    assert [x.upper for _, x in images.epsilons] == ends.upper.tolist()
    curve = al.tradeoff_curve(IMAGES, **BOTH)
    assert [y.lower for _, y in images.tradeoff] == [
        curve(x) for x, _ in images.tradeoff
    ]
    places = [x for x, _ in images.tradeoff]
    assert places[:-1] == [1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1]
    last, bound = images.tradeoff[-1]
    assert bound.lower == pytest.approx(last, abs=1e-5)
    assert images.advantage.upper == pytest.approx(1 - 2 * last)


def test_printed_numbers_are_on_the_safe_side(images):
    lines = dict(x.split(":", 1) for x in str(images).splitlines() if ":" in x)

    def ends(name):
        return [
            float(x) for x in lines[name].split("]")[0].strip(" [").split(", ")
        ]

    for d, bound in images.epsilons:
        low, high = ends(f"epsilon at delta {d!r}")
        assert low <= bound.lower and bound.upper <= high
    for x, bound in images.tradeoff:
        low, high = ends(f"misses at {x!r}")
        assert low <= bound.lower and bound.upper <= high
    low, high = ends("mu")
    assert low <= images.fit.mu_lower and images.fit.mu <= high
    regret = float(lines["Regret"].removeprefix(" ").split()[2])
    assert images.fit.regret <= regret <= 1.001 * images.fit.regret
    assert "Tier I:" in str(images) and "one image" in str(images)


def test_markdown_has_the_same_rows(images):
    text = images.to_markdown()
    rows = [x for x in text.splitlines() if x.startswith("| ")]
    assert len(rows) == len(images.facts()) + 1
    assert "| Notes | a | b |" in text and repr(IMAGES) in text


@pytest.mark.parametrize(
    "run",
    [
        Release(al.ApproximateDP(1.0, 1e-3)),
        [Release(al.Laplace(1.0)), Release(Gaussian(3.0))],
        Release(Gaussian(0.8), count=10),
        Release(al.RandomizedResponse(1.0)),
    ],
)
def test_dictionaries_are_ready_for_json(run):
    """Also where epsilon or mu is infinite: then they hold "inf"."""
    one = report(run, adjacency="add", deltas=[1e-5, 0.5])
    found = one.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert float(found["gdp"]["mu"]) == one.fit.mu
    assert found["gdp"]["tier"] == (1 if one.fit.is_good else 2)
    for row, (_, bound) in zip(found["epsilon"], one.epsilons, strict=True):
        assert float(row["upper"]) == bound.upper
    again = pickle.loads(pickle.dumps(one))
    assert again == one and str(again) == str(one)
