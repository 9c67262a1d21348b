"""What assignments hold answers against: published numbers, other methods."""

import math
import re

import numpy as np
import pytest
from scipy.stats import beta, norm

from course.tasks import load, load_module
from tests import ROOT

FOLDER = ROOT / "notebooks" / "assignments"
if not FOLDER.exists():
    pytest.skip("the course is kept elsewhere", allow_module_level=True)
COURSE = load(FOLDER)
SEVERAL, RUNS, GDP, PRACTICE = (
    load_module(next(FOLDER.glob(f"ps{n}_[!w]*.py"))) for n in (5, 6, 7, 8)
)


def quadrature(p, q, epsilon, sigma):
    """The hockey stick of two mixtures, on a grid of outputs."""
    z = np.linspace(-14 * sigma - 2, 14 * sigma + 10, 400_001)
    densities = [
        sum(w * norm.pdf(z, m, sigma) for m, w in law) for law in (p, q)
    ]
    more = np.maximum(densities[0] - math.exp(epsilon) * densities[1], 0)
    return float(more.sum() * (z[1] - z[0]))


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.1])
@pytest.mark.parametrize("size", [1, 3, 8])
def test_groups_against_a_grid(epsilon, size):
    law = SEVERAL.family(0.25, size)
    noise = [(0.0, 1.0)]
    for place, pair in ((0, (law, noise)), (1, (noise, law))):
        found = SEVERAL.group(place, epsilon, 1.1, 0.25, size)
        assert found == pytest.approx(
            quadrature(*pair, epsilon, 1.1), abs=1e-9
        )


@pytest.mark.parametrize("rate", [0.2, 0.5, 1.0])
def test_exchange_against_a_grid_and_below_the_chain(rate):
    p = [(0.0, 1 - rate), (1.0, rate)]
    q = [(0.0, 1 - rate), (-1.0, rate)]
    for epsilon in (0.3, 0.9):
        found = SEVERAL.exchanged(epsilon, 0.9, rate)
        assert found == pytest.approx(quadrature(p, q, epsilon, 0.9), abs=1e-9)
        assert found <= SEVERAL.chained(epsilon, 0.9, rate) * (1 + 1e-9)


@pytest.mark.parametrize(("sigma", "loss"), [(1.0, 1.036), (0.5, 1.14)])
def test_the_best_chain_loses_for_small_epsilons_only(sigma, loss):
    """One event is the best one in both steps, from some epsilon on."""
    for rate in (0.1, 0.35, 0.8, 1.0):
        end = SEVERAL.meeting(sigma, rate)
        for share in (1.0, 1.2, 2.5):
            at = share * end, sigma, rate
            truth = SEVERAL.exchanged(*at)
            assert SEVERAL.chained(*at) == pytest.approx(truth, rel=1e-6)
        at = 0.5 * end, sigma, rate
        assert SEVERAL.chained(*at) > loss * SEVERAL.exchanged(*at)


@pytest.mark.parametrize(
    ("delta", "poisson", "batch"),
    [
        (1e-7, 1.1708, 17.4630),
        (1e-6, 0.9472, 15.2515),
        (1e-5, 0.7824, 12.9759),
        (1e-4, 0.6286, 10.6170),
    ],
)
def test_ten_thousand_steps_against_other_accountants(delta, poisson, batch):
    """Table 1 of the pitfalls paper, tightened by other libraries."""
    run = (0.8, 0.001, 10_000, delta)
    assert RUNS.run_epsilon("poisson", *run) == pytest.approx(
        poisson, abs=6e-5
    )
    assert RUNS.run_epsilon("batch", *run) == pytest.approx(batch, abs=6e-5)


@pytest.mark.parametrize(
    ("epsilon", "mu", "regret"),
    [
        (0.1, 0.125309, 0.007539),
        (0.5, 0.623893, 0.035240),
        (1, 1.232035, 0.057545),
        (2, 2.357961, 0.056269),
        (4, 4.194478, 0.014592),
    ],
)
def test_pure_promises_as_one_number(epsilon, mu, regret):
    found = [GDP.response_report(place, epsilon) for place in (0, 1)]
    assert found == pytest.approx([mu, regret], abs=2e-6)
    # the definition: f moved by the regret touches the report from below
    x = np.linspace(1e-6, 1 - 1e-6, 100_001)
    moved = x + found[1]
    top = math.exp(epsilon)
    f = np.maximum(np.maximum(1 - top * moved, (1 - moved) / top), 0)
    gap = f - found[1] - norm.cdf(norm.isf(x) - found[0])
    assert gap.max() == pytest.approx(0, abs=1e-6)


def test_crossings_of_the_coin():
    """Exact ones of the pitfalls paper, and of the page on worst data."""
    assert PRACTICE.crossings(0.75, 0.5, 2) == [5 / 3]
    assert PRACTICE.crossings(0.75, 0.5, 1) == []
    assert PRACTICE.crossings(0.75, 0.5, 4) == []
    assert PRACTICE.crossings(0.75, 0.5, 3) and PRACTICE.crossings(
        0.75, 0.5, 5
    )


def test_audits_against_the_quantiles_of_beta():
    found = PRACTICE.proven(300, 500, 20, 400, 1e-3, 0.95)
    p = beta.ppf(0.025, 300, 201)
    q = beta.ppf(0.975, 21, 380)
    assert found[0] == pytest.approx(math.log((p - 1e-3) / q), rel=1e-9)
    assert found[1] == pytest.approx(
        math.log((1 - q - 1e-3) / (1 - p)), rel=1e-9
    )


def test_the_page_for_instructors_says_what_is_there():
    page = ROOT / "book" / "instructors.md"
    rows = re.findall(
        r"^\| `(\w+)` \| (.+?) \| .+ \| (\d+) \| (\d+) \| (\d+) \|$",
        page.read_text("utf-8"),
        re.M,
    )
    assert [(row[0], *map(int, row[2:])) for row in rows] == [
        (x.name, len(x.tasks), x.points, sum(task.minutes for task in x.tasks))
        for x in COURSE.assignments
    ]
    for row, assignment in zip(rows, COURSE.assignments, strict=True):
        assert row[1].lower() == assignment.title.split(": ")[1].lower()
