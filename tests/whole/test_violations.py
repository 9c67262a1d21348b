"""A seeded sample of benchmarks/violations.py, and settings that failed once.

The truths of tests/truth/runs.py are held against each other, too, and a
wrong answer must be seen as one.
"""

import importlib
import math
from dataclasses import replace

import pytest

import accountlib as al
from tests import ROOT, truth
from tests.truth import curves as balls
from tests.truth import laws
from tests.truth import runs as truth_runs
from tests.truth.laws import Part

FULL = ("full",)
COUNT = 80


@pytest.fixture(scope="module")
def search():
    return importlib.import_module("benchmarks.violations")


def bad(search, settings):
    return [search.told(s) for s in settings if s.verdict in search.BAD]


@pytest.mark.in_turn(3)
def test_random_settings(search):
    found = [s for some in search.search(COUNT, 13, 4, 60.0, 1) for s in some]
    assert not bad(search, found)
    judged = sum(s.verdict in search.JUDGED for s in found)
    assert judged >= COUNT and len(found) < 1.3 * judged
    assert len({s.case.family for s in found}) >= 9
    assert {"epsilon", "delta", "gdp"} <= {s.query for s in found}


def part(kind, *numbers, sampler=FULL, count=1):
    return Part(kind, numbers, sampler, count)


def nearly_full(kind, noise, records):
    return part(kind, noise, sampler=("fixed", records - 1, records))


# parts, adjacency, group size, query, at
ONCE_WRONG = {
    "integer noise, a group of 15": (
        part("integer gaussian", 1.0, 1), "remove", 15, "epsilon", 1e-150
    ),
    "integer noise, a sensitivity of 10": (
        part("integer gaussian", 0.5, 10), "remove", 1, "epsilon", 1e-100
    ),
    "integer noise, a tiny delta": (
        part("integer gaussian", 1.0, 1), "remove", 15, "delta", 480.0
    ),
    "integer noise, five runs": (
        part("integer gaussian", 0.6963789918827412, 1, count=5),
        "remove", 1, "delta", 155.688,
    ),
    "integer noise, delta 0": (
        part("integer gaussian", 37.0, 1), "add-or-remove", 1, "epsilon", 0.0
    ),
    "integer noise, a denormal delta": (
        part("integer gaussian", 37.0, 1), "add-or-remove", 1, "delta", 1.01
    ),
    "a delta below the mass at infinity": (
        part("approximate", 0.0, 2.0**-20, count=3),
        "remove", 1, "epsilon", 2.8610202207355116e-06,
    ),
    "a round delta at the mass at infinity": (
        part("approximate", 0.0, 0.1, count=2), "remove", 1, "epsilon", 0.19
    ),
    "delta 1 where all losses are infinite": (
        part("table", (0.0, 1.0), (1.0, 0.0)), "remove", 1, "epsilon", 1.0
    ),
    "a batch of nearly everything": (
        nearly_full("gaussian", 0.11052523791156771, 507263527),
        "add", 1, "delta", 20.0445402036421,
    ),
    "a batch of nearly everything, a tiny delta": (
        nearly_full("gaussian", 1.3085, 168527173707),
        "add", 1, "epsilon", 3.66e-250,
    ),
    "a batch of nearly everything, an ordinary delta": (
        nearly_full("gaussian", 0.13171945585836115, 928537),
        "add", 1, "epsilon", 7.57e-12,
    ),
    "a batch of nearly everything, many records": (
        nearly_full("gaussian", 0.1, 12 * 10**15), "add", 1, "epsilon", 1e-12
    ),
    "a denormal rate": (
        part("gaussian", 1.0, sampler=("poisson", 5e-309)),
        "remove", 1, "epsilon", 0.0,
    ),
    "a batch of one out of 10**290": (
        part("gaussian", 1.0, sampler=("fixed", 1, 10**290)),
        "remove", 1, "epsilon", 0.0,
    ),
    "atoms that crowd below the largest loss": (
        part("integer laplace", 1.0, 9, sampler=("fixed", 193, 580643)),
        "add", 1, "delta", 0.00033244504245164735,
    ),
    "groups of pure DP": (part("pure", 1.0), "remove", 2, "delta", 0.0),
    "groups of approximate DP": (
        part("approximate", 0.0, 0.1, count=2), "remove", 2, "delta", 0.0
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ONCE_WRONG)
def test_what_was_wrong_once(search, name):
    one, adjacency, group, query, at = ONCE_WRONG[name]
    case = search.Case(name, (one,), adjacency, group)
    known = truth_runs.run_truth(case.parts, adjacency, group)
    setting = search.check(search.Setting(case, query, at), known, 60.0)
    assert setting.verdict == "ok", search.told(setting)


@pytest.mark.parametrize(
    "one, group",
    [
        (part("gaussian", 0.8486648280958845, sampler=("poisson", 0.2)), 3),
        (part("mixture", (0.0, 1.0, 2.0), (0.125, 0.375, 0.5), 0.55), 1),
        (part("response", 0.9, count=20), 1),
        (part("response", 0.99, count=20), 1),
    ],
)
def test_curves_that_were_wrong_once(search, one, group):
    """Trade-off curves of groups and mixtures, mu where rates are tiny."""
    case = search.Case("curves", (one,), "remove", group)
    known = truth_runs.run_truth(case.parts, "remove", group)
    found = search.curves(case, known, [], 60.0)
    assert len(found) >= 2
    assert not bad(search, found)


def test_a_wrong_answer_is_seen(search, monkeypatch):
    case = search.Case("gaussian", (part("gaussian", 1.0),), "remove")
    known = truth_runs.run_truth(case.parts, "remove")
    low, high = (float(x) for x in truth.gaussian_epsilon(1e-5, 1.0))
    for lower, upper, verdict in [
        (0.0, math.inf, "ok"),
        (low * (1 - 1e-12), high * (1 + 1e-12), "ok"),
        (low * (1 + 1e-9), high * (1 + 1e-8), "above"),
        (low * (1 - 1e-8), high * (1 - 1e-9), "below"),
        (math.inf, math.inf, "above"),
        (0.0, 0.0, "below"),
        (2.0, 1.0, "no interval"),
        (math.nan, math.nan, "no interval"),
    ]:
        answer = type("Answer", (), {"lower": lower, "upper": upper})
        monkeypatch.setattr(search, "ask", lambda *a, answer=answer: answer)
        setting = search.Setting(case, "epsilon", 1e-5)
        assert search.check(setting, known, 60.0).verdict == verdict
    exact = float(truth.gaussian_delta(1.0, 1.0)[0])
    for factor, verdict in ((1.0, "ok"), (1.01, "above"), (0.99, "below")):
        ends = factor * exact, factor * exact * (1 + 1e-12)
        answer = type("Answer", (), {"lower": ends[0], "upper": ends[1]})
        monkeypatch.setattr(search, "ask", lambda *a, answer=answer: answer)
        setting = search.Setting(case, "delta", 1.0)
        assert search.check(setting, known, 60.0).verdict == verdict


POISSON, BATCH = ("poisson", 0.02), ("fixed", 2, 100)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("epsilon", [0.0, 0.7, 3.0])
def test_the_contour_agrees_with_the_older_one(direction, epsilon):
    known = truth_runs.run_truth(
        [part("gaussian", 1.1, sampler=POISSON, count=500)], direction
    )
    low, high = known.delta(epsilon)
    old = truth.contour_delta_range(
        epsilon, [(1.1, 0.02, 500)], direction=direction
    )
    assert low <= old[1] and old[0] <= high
    assert high - low < 1e-8 * high


@pytest.mark.in_turn(5)
def test_balls_agree_with_the_contour():
    """The same run, once in balls and once by the integral."""
    for one, count, adjacency in [
        (part("gaussian", 1.1), 40, "remove"),
        (part("gaussian", 2.0), 40, "substitute"),
        (part("response", 0.6, sampler=POISSON), 2000, "remove"),
        (part("laplace", 3.0), 90, "remove"),
    ]:
        many = replace(one, count=count)
        side = truth_runs.run_truth([many], adjacency).proven[0]
        exact = side.delta(0.8)
        try:
            rough = side._contour_delta(0.8)
        except ArithmeticError:
            assert one.kind in ("response", "laplace")  # atoms
            continue
        assert rough[0] <= exact[1] and exact[0] <= rough[1]


def test_the_forms_of_a_law_agree():
    """One run: the nodes give the divergence that the balls give."""
    np = truth_runs.np
    for one, exchanged, group in [
        (part("gaussian", 1.3, sampler=POISSON), False, 3),
        (part("gaussian", 1.3, sampler=BATCH), False, 2),
        (part("gaussian", 1.3, sampler=POISSON), True, 2),
        (part("laplace", 0.7, sampler=POISSON), False, 1),
        (part("laplace", 0.7, sampler=POISSON), True, 1),
        (part("integer gaussian", 2.0, 2, sampler=BATCH), False, 1),
        (part("integer laplace", 2.0, 2, sampler=POISSON), True, 1),
        (part("approximate", 0.5, 0.01, sampler=POISSON), False, 1),
    ]:
        law = laws.one_run(one, exchanged, group)
        for side in (law, law.reversed()):
            logs, losses = side.rule(1.0, 5.0)
            mass = np.exp(logs)
            lost = 1 - float(mass.sum())
            for epsilon in (0.0, 0.2):
                gain = -np.expm1(np.minimum(epsilon - losses, 0.0))
                exact = balls.enclose(side.curve, epsilon)[0]
                total = float(mass @ gain) + (lost if lost > 1e-6 else 0)
                assert math.isclose(total, exact, rel_tol=2e-2), one


def test_the_modules_of_truth_share_nothing_with_the_library():
    files = sorted((ROOT / "tests" / "truth").glob("*.py"))
    assert len(files) > 10
    for file in files:
        text = "" if file.name.startswith("test_") else file.read_text()
        lines = [x for x in text.splitlines() if "import" in x.split()[:3]]
        assert not [x for x in lines if al.__name__ in x]
