"""Reports: what they print, keep and refuse."""

import copy
import json
import math
import pickle
from dataclasses import replace
from typing import Any

import pytest

import accountlib as al
from accountlib.gaussian_dp import (
    attackers,
    certified_curves,
    one_number,
    regret,
    report,
)
from accountlib.worst_cases import dominating_pairs

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}
CIFAR = al.Poisson(16384 / 50000)
IMAGES = al.Release(al.Gaussian(9.4), CIFAR, 2000)


# --- reports ----------------------------------------------------------------


def test_a_report_can_be_made_again_from_its_call():
    run = [IMAGES, al.Release(al.Laplace(20.0), count=3)]
    one = al.report(run, record="one image", notes="a | b", **BOTH)
    again = eval(one.call, dict(vars(al)))
    assert again.to_dict() == one.to_dict()
    assert json.loads(json.dumps(one.to_dict())) == one.to_dict()
    assert one.call in str(one) and one.call in one.to_markdown()
    assert "a \\| b" in one.to_markdown()


def test_printed_numbers_are_on_the_safe_side():
    one = al.report(IMAGES, **BOTH)
    first, second = str(one).split("false positives ")
    epsilons = dict(
        line.split() for line in first.splitlines() if line[:1].isdigit()
    )
    for delta, bound in one.epsilons:
        assert float(epsilons[f"{delta:g}"]) >= bound.upper
    rows = [line for line in second.splitlines() if line[:1].isdigit()]
    curve = al.tradeoff_curve(IMAGES, bound="upper", **BOTH)
    assert len(rows) == len(one.tradeoff) == 8
    for x, y in map(str.split, rows):
        assert float(y) <= curve(float(x))


@pytest.mark.parametrize(
    ("value", "up", "digits", "text"),
    [
        (1.57031, True, 4, "1.571"),
        (1.57031, False, 4, "1.57"),
        (1e-6, False, 4, "1e-06"),
        (0.0, True, 4, "0"),
        (math.inf, True, 4, "inf"),
        (123456.7, True, 4, "1.235e+05"),
        (0.99999999, False, 4, "0.9999"),
    ],
)
def test_rounding(value, up, digits, text):
    assert report.rounded(value, up=up, digits=digits) == text


def test_an_exact_gaussian():
    one = al.report(al.Release(al.Gaussian(2.0), count=4), adjacency="add")
    assert one.fit.exact and one.fit.mu == pytest.approx(1.0, rel=1e-14)
    assert "none, mu holds everywhere" in str(one)
    assert one.fit.delta(1.0) == pytest.approx(0.1269367375, rel=1e-8)


def test_nothing_left_to_report():
    """A run without privacy is no Tier I."""
    run = al.Release(al.Gaussian(0.05), al.Poisson(0.9), 1000)
    one = al.report(run, **BOTH)
    assert not one.fit.is_good and "Tier II" in str(one)
    nothing = al.report(al.Release(al.Gaussian(1.0), al.Poisson(0.0)), **BOTH)
    assert nothing.fit.mu == 0 and nothing.fit.is_good


def test_the_figure():
    pytest.importorskip("matplotlib").use("Agg")
    axes = al.report(IMAGES, **BOTH).plot()
    assert len(axes.lines) == 3


# --- what a report says -----------------------------------------------------


EPOCHS = al.Release(al.Gaussian(0.8), count=10)


def facts(one):
    """The lines of a report, by name."""
    lines = str(one).split("\n\n")[1].splitlines()
    return {line[:19].rstrip(" :"): line[19:] for line in lines}


@pytest.mark.parametrize(
    "run",
    [
        IMAGES,
        [IMAGES, al.Release(al.DiscretePair([0.5, 0.5], [0.25, 0.75]))],
        al.Release(al.RandomizedResponse(1.0)),
        EPOCHS,
    ],
)
def test_reports_are_equal_after_pickling(run):
    one = al.report(run, adjacency="remove")
    for other in (
        pickle.loads(pickle.dumps(one)),
        copy.copy(one),
        copy.deepcopy(one),
        al.report(run, adjacency="remove"),
    ):
        assert other == one and hash(other) == hash(one)
        assert other.fit == one.fit and other.advantage == one.advantage
        assert str(other) == str(one)
    assert one != replace(one, notes="other notes")


@pytest.mark.parametrize(
    "run",
    [
        al.Release(al.ApproximateDP(1.0, 1e-3)),
        al.Release(al.RandomizedResponse(1.0), count=2),
        al.Release(al.DiscretePair([0.5, 0.5], [0.25, 0.75])),
        EPOCHS,
    ],
)
def test_dictionaries_are_ready_for_json(run):
    """Also where epsilon or mu is infinite: then they hold "inf"."""
    one = al.report(run, adjacency="add", deltas=[1e-5, 0.5])
    found = one.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert float(found["gdp"]["mu"]) == one.fit.mu
    for row, (_, bound) in zip(found["epsilon"], one.epsilons, strict=True):
        assert float(row["upper"]) == bound.upper


def test_a_report_of_a_mere_bound():
    """Nothing that an upper bound does not say about what ran."""
    words = "10 shuffled epochs, a record is zeroed out"
    one = al.report(EPOCHS, stands_for=words, **BOTH)
    text = str(one) + one.to_markdown()
    assert words in text and "upper bound" in text
    for claim in ("not below", "Tier I:", "every record"):
        assert claim not in text
    assert facts(one)["Regret"] == "unknown"
    found = one.to_dict()
    assert "mu_lower" not in found["gdp"] and "regret" not in found["gdp"]
    assert found["gdp"]["tier"] == 2
    assert all("lower" not in row for row in found["epsilon"])
    assert all("upper" not in row for row in found["tradeoff"])
    assert eval(one.call, dict(vars(al))) == one
    plain = al.report(EPOCHS, **BOTH)
    assert facts(plain)["Verdict"].startswith("Tier I:")
    assert "not in batches" in facts(plain)["Sampling"]


@pytest.mark.parametrize(
    ("adjacency", "said", "unsaid"),
    [
        ("remove", "takes for members", "takes for outsiders"),
        ("add", "takes for outsiders", "which of two"),
        ("add-or-remove", "outside the data", "which of two"),
        ("substitute", "which of two records", "outside the data"),
    ],
)
def test_words_fit_the_neighbours(adjacency, said, unsaid):
    one = al.report(EPOCHS, adjacency=adjacency)
    for text in (str(one), one.to_markdown()):
        words = " ".join(text.split())
        assert said in words and unsaid not in words
        assert "unit that was sampled and clipped" in words
    two = al.report(EPOCHS, adjacency=adjacency, group_size=2)
    assert "groups of records" in " ".join(str(two).split())


def test_a_report_computes_its_curves_once(monkeypatch):
    """run_profiles is what takes the time."""
    calls = []
    real = certified_curves.run_profiles

    def counted(*arguments):
        calls.append(arguments)
        return real(*arguments)

    for module in (certified_curves, regret, report):
        monkeypatch.setattr(module, "run_profiles", counted)
    one = al.report(IMAGES, **BOTH)
    assert len(calls) == 1
    assert one.fit == al.gdp(IMAGES, **BOTH)
    curve = al.tradeoff_curve(IMAGES, **BOTH)
    assert [b.lower for _, b in one.tradeoff] == [
        curve(x) for x, _ in one.tradeoff
    ]


def test_mechanisms_that_are_no_dataclasses():
    class Own(dominating_pairs.Mechanism):
        def pair(self):
            return al.GaussianPair(1.0)

        def __repr__(self):
            return "Own()"

    found = al.report(al.Release(Own()), adjacency="remove").to_dict()
    assert found["releases"][0]["mechanism"] == {
        "name": "Own",
        "repr": "Own()",
    }


# --- bad input --------------------------------------------------------------


NAN, INF = math.nan, math.inf
Curve: Any = al.TradeoffCurve
table_of: Any = attackers.table_tradeoff
noise: Any = al.DiscreteGaussian
number: Any = 3


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: al.gdp(IMAGES, cutoff=0.0, **BOTH), "cutoff"),
        (lambda: al.gdp(IMAGES, cutoff=NAN, **BOTH), "cutoff"),
        (lambda: al.gdp(IMAGES, cutoff=0.3, **BOTH), "cutoff"),
        (lambda: al.gdp(IMAGES, relative_width=0.0, **BOTH), "relative_width"),
        (
            lambda: al.gdp(IMAGES, adjacency="both"),
            "adjacency",
        ),
        (lambda: al.gdp([], **BOTH), "releases"),
        (lambda: al.gdp(IMAGES, group_size=0, **BOTH), "group_size"),
        (lambda: al.tradeoff_curve(IMAGES, bound="x", **BOTH), "bound"),
        (lambda: al.report(IMAGES, deltas=[], **BOTH), "deltas"),
        (lambda: al.report(IMAGES, deltas=[0.0], **BOTH), "deltas"),
        (lambda: al.report(IMAGES, record=number, **BOTH), "record"),
        (lambda: al.mu_from_pure_dp(-1.0), "epsilon"),
        (lambda: al.mu_from_pure_dp(INF), "epsilon"),
        (lambda: al.mu_from_epsilon_delta(NAN, delta=0.1), "epsilon"),
        (lambda: al.mu_from_epsilon_delta(1.0, delta=1.1), "delta"),
        (lambda: al.gaussian_tradeoff(1.5, mu=1.0), "false_positive"),
        (lambda: al.gaussian_tradeoff(0.5, mu=-1.0), "mu"),
        (lambda: al.dp_tradeoff(0.5, epsilon=-1.0), "epsilon"),
        (lambda: al.dp_tradeoff(0.5, epsilon=1.0, delta=2), "delta"),
        (lambda: one_number.renyi_tradeoff(0.5, order=1.0, rdp=1.0), "order"),
        (lambda: one_number.renyi_tradeoff(0.5, order=2.0, rdp=INF), "rdp"),
        (lambda: Curve([0, 1], [1, 0], "side"), "bound"),
        (
            lambda: Curve([0, 0.9], [1, 0], "lower"),
            "false_positive",
        ),
        (lambda: Curve([0, 1], [0, 1], "lower"), "false_negative"),
        (
            lambda: Curve([0, 0.5, 1], [1, 0.9, 0], "lower"),
            "convex",
        ),
        (lambda: table_of(3), "loss"),
        (lambda: al.DiscreteGaussian(0.0), "sigma"),
        (lambda: noise(1.0, 1.5), "sensitivity"),
        (lambda: al.DiscreteGaussian(1.0, 10**6), "sensitivity"),
        (lambda: al.DiscreteLaplace(NAN), "scale"),
        (lambda: al.DiscreteLaplace(1.0, 0), "sensitivity"),
    ],
)
def test_bad_input(call, word):
    with pytest.raises(ValueError, match=word):
        call()
