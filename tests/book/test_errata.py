"""The page of errata: its certified intervals, and what they refute."""

import re
from typing import Any

import pytest

import accountlib as al
from tests import ROOT

PAGE = ROOT / "book" / "errata.md"


def sampled(noise, rate, count):
    return al.Release(al.Gaussian(noise), al.Poisson(rate), count=count)


A, E = sampled(1, 0.01, 2000), sampled(0.8, 0.001, 10**4)
B = al.Release(al.Gaussian(80.0), count=10**4)
D = al.Release(al.Gaussian(1e5**0.5), count=10**5)
RUNS = {"A": A, "B": B, "C": sampled(0.7, 1e-5, 10**7), "D": D, "E": E}
NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"
INTERVAL = rf"\[({NUMBER}), ({NUMBER})\]"
ROW = rf"\| ([A-E]) \| .*? at \$(.*?)\$ \| ({NUMBER}) \| {INTERVAL} \|"


def asked(run, adjacency="add-or-remove", width=1e-6, **question):
    ask = al.epsilon if "delta" in question else al.delta
    return ask(run, adjacency=adjacency, relative_width=width, **question)


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
    width = 1e-3 if run == "C" else 4e-6  # what is printed is mostly wider
    bound = asked(RUNS[run], width=width, **question)
    assert claim < bound.lower, "the claim may be right"
    assert claim < low
    assert low <= bound.upper and bound.lower <= high
    assert high - low < 1e-4 * high or run == "C"
    if run in "BD":  # no sampling: a closed form
        mu = 1.25 if run == "B" else 1.0
        assert low <= al.gaussian_epsilon(question["delta"], mu=mu) <= high


@pytest.mark.parametrize(
    "run, printed, least",
    [
        (A, 0.6030, 0.66700),
        (E, 0.1975, 0.36159),
        (sampled(9.4, 16384 / 50000, 2000), 1.56685, 1.56694),
    ],
)
def test_mu_is_larger_than_a_noisy_table_says(run, printed, least):
    fit = al.gdp(run, adjacency="add-or-remove")
    assert printed < least <= fit.mu and least < fit.mu_lower * (1 + 1e-4)


def test_substitution_under_a_fixed_batch():
    """A record moves the sum by 2, half a standard deviation."""
    run = al.Release(al.Gaussian(4.0), al.FixedBatch(1, 100))
    found = al.delta(run, epsilon=0.05, adjacency="substitute")
    assert 4.235e-7 < found.lower <= found.upper < 4.245e-7


RUN = (
    rf"\| ({NUMBER}) \| ([\d./]+) \| (\d+) \| (\de-\d) \| ({NUMBER}) "
    rf"\| {INTERVAL} \|"
)


def published():
    """The rows of the table of published runs."""
    for noise, rate, steps, delta, printed, *ends in re.findall(
        RUN, PAGE.read_text("utf-8")
    ):
        part, _, whole = rate.partition("/")
        rate = float(part) / float(whole or 1)
        run = sampled(float(noise), rate, int(steps))
        yield run, float(delta), float(printed), tuple(map(float, ends))


def agrees(bound, printed):
    """Both intervals contain the truth, and the printed one is narrow."""
    low, high = printed
    return low <= bound.upper and bound.lower <= high < low * (1 + 1e-4)


def test_published_runs_are_upper_bounds():
    rows = list(published())
    assert len(rows) == 11
    for run, delta, printed, ends in rows:
        assert agrees(asked(run, delta=delta), ends)
        assert printed > ends[1]


MNIST = 256 / 60000
D5, D6, ONE = {"delta": 1e-5}, {"delta": 1e-6}, {"epsilon": 1}
SWAP = {"adjacency": "substitute"}
LONG, LONGER = sampled(1, 0.01, 10**4), sampled(2, 0.01, 10**5)
COIN, TEN = al.RandomizedResponse(0.75), al.Release(al.Gaussian(1), count=10)


def query(scale, noise):
    """Six Laplace and two Gaussian answers."""
    one = al.Release(al.Laplace(scale * 20.024 / 2**0.5), count=6)
    return [one, al.Release(al.Gaussian(noise * 20.024), count=2)]


CLAIMS: list[tuple[Any, dict[str, Any], float | None, str]] = [
    (A, {"delta": 1e-30}, None, "10.49861, 10.49863"),
    (A, {"delta": 1e-15}, None, "5.84722, 5.84724"),
    (A, {"delta": 1e-50}, None, "16.53638, 16.53640"),
    (E, {"delta": 1e-6}, None, "0.94719, 0.94720"),
    (E, {"delta": 1e-7}, None, "1.17076, 1.17077"),
    (sampled(0.638, MNIST, 16380), D5, 8.68, "9.46876, 9.46877"),
    (sampled(1.06, MNIST, 4680), D5, 1.34, "1.40654, 1.40655"),
    (sampled(0.7, MNIST, 16380), D5, None, "7.08875, 7.08877"),
    (sampled(1.3, MNIST, 4680), D5, None, "1.00647, 1.00648"),
    (LONG, ONE, 0.23917639, "0.239142, 0.239144"),
    (LONG, D6, 6.9074228, "6.90738, 6.90739"),
    (sampled(1, 0.02, 10**4), D6, 15.641357, "15.64174, 15.64176"),
    (LONGER, ONE | SWAP, 0.8205538, "0.820554, 0.820556"),
    (LONGER, D6 | SWAP, 19.08675, "19.51386, 19.51389"),
    (query(1, 1), D5, 0.246, "0.56714, 0.56715"),
    (query(2, 4), D5, None, "0.23695, 0.23696"),
    (sampled(4, 3.3e-4, 10**4), {"delta": 1.1e-18}, 3.7, "0.067213, 0.067214"),
    (sampled(1.5, 0.04, 2250), D5, 6.6, "6.76877, 6.76879"),
    # events that are read as something smaller
    (al.Release(COIN, count=100), D6 | SWAP, 1.0987, "94.28986, 94.28987"),
    (TEN, D6 | SWAP, 20.552, "49.31927, 49.31928"),
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim[3])
def test_other_claims_against_ours(claim):
    run, question, claimed, printed = claim
    assert f"[{printed}]" in PAGE.read_text("utf-8")
    bound = asked(run, **question)
    assert agrees(bound, tuple(map(float, printed.split(", "))))
    assert claimed is None or not bound.contains(claimed)
