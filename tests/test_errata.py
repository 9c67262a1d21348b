"""The page of errata: its certified intervals, and what they refute."""

import re
from pathlib import Path
from typing import Any

import pytest
from scipy.optimize import brentq

import accountlib as al

PAGE = Path(__file__).parent.parent / "book" / "errata.md"
RUNS = {
    "A": al.Release(al.Gaussian(1.0), al.Poisson(0.01), count=2000),
    "B": al.Release(al.Gaussian(80.0), count=10**4),
    "C": al.Release(al.Gaussian(0.7), al.Poisson(1e-5), count=10**7),
    "D": al.Release(al.Gaussian(1e5**0.5), count=10**5),
    "E": al.Release(al.Gaussian(0.8), al.Poisson(0.001), count=10**4),
}
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
INTERVAL = rf"\[({NUMBER}), ({NUMBER})\]"
ROW = rf"\| ([A-E]) \| .*? at \$(.*?)\$ \| ({NUMBER}) \| {INTERVAL} \|"
LISTED = [  # in the prose of the page
    ("A", {"delta": 1e-30}, "[10.49861, 10.49863]"),
    ("A", {"delta": 1e-15}, "[5.84722, 5.84724]"),
    ("A", {"delta": 1e-50}, "[16.53638, 16.53640]"),
    ("E", {"delta": 1e-6}, "[0.94719, 0.94720]"),
    ("E", {"delta": 1e-7}, "[1.17076, 1.17077]"),
]


def bracket(run, **asked):
    ask = al.epsilon if "delta" in asked else al.delta
    width = 1e-3 if run == "C" else 1e-6
    kind: dict[str, Any] = {
        "adjacency": "add-or-remove",
        "relative_width": width,
    }
    return ask(RUNS[run], **asked, **kind)


def rows():
    """Run, question, claim and printed interval of each row of the table."""
    for run, asked, claim, *ends in re.findall(ROW, PAGE.read_text("utf-8")):
        epsilon = re.fullmatch(r"\\varepsilon = (\d+)", asked)
        power = re.fullmatch(r"\\delta = 10\^\{-(\d+)\}", asked)
        if epsilon:
            question = {"epsilon": float(epsilon[1])}
        else:
            assert power, asked
            question = {"delta": float(f"1e-{power[1]}")}
        yield run, question, float(claim), tuple(map(float, ends))


def test_all_rows_are_read():
    assert len(list(rows())) == 11


@pytest.mark.parametrize("row", list(rows()), ids=str)
def test_claimed_upper_bounds_are_refuted(row):
    run, question, claim, (low, high) = row
    bound = bracket(run, **question)
    assert claim < bound.lower, "the claim may be right"
    assert claim < low
    assert low <= bound.upper and bound.lower <= high
    assert high - low < 1e-4 * high or run == "C"
    if run in "BD":  # no sampling: a closed form
        mu = 1.25 if run == "B" else 1.0
        assert low <= al.gaussian_epsilon(question["delta"], mu=mu) <= high


@pytest.mark.parametrize(("run", "question", "printed"), LISTED)
def test_intervals_in_the_text(run, question, printed):
    assert printed in PAGE.read_text("utf-8")
    low, high = (float(x) for x in re.findall(INTERVAL, printed)[0])
    bound = bracket(run, **question)
    assert low <= bound.upper and bound.lower <= high


def test_the_gaussian_bound_of_two_sampled_laplace_steps():
    run = al.Release(al.Laplace(0.5), al.Poisson(0.75), count=2)
    least = al.delta(
        run, epsilon=2.25, adjacency="remove", relative_width=1e-4
    ).lower
    mu = brentq(lambda mu: al.gaussian_delta(2.25, mu=mu) - least, 0.1, 9)
    assert 1.7408 <= mu < 1.7409


def test_the_gaussian_release_of_the_printed_conversion():
    assert abs(al.gaussian_epsilon(1e-5, mu=10.0) - 91.817) < 1e-3
