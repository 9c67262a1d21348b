"""Budgets against the engine, odometers against their formula.

The page enumerates trees of adaptive choices.
"""

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from mpmath import mp

import accountlib as al
from accountlib.beyond.budgets import Budget, BudgetPassed
from accountlib.beyond.choosing import Choice
from accountlib.beyond.event_pairs import response_pairs
from accountlib.beyond.odometers import ZCDPOdometer

UP = 1 + 1e-12  # costs are upper ends: more than some roundings
COUNT = al.Release(al.Laplace(20.0))
STEPS = al.Release(al.Gaussian(1.1), al.Poisson(0.01), 200)
MENU = [
    COUNT,
    STEPS,
    al.Release(al.Gaussian(8.0)),
    al.Release(al.DiscreteGaussian(20.0, 2)),
    al.Release(al.RandomizedResponse(0.55), count=2),
    al.Release(al.PureDP(0.1)),
    al.Release(Choice(0.2)),
    [COUNT, STEPS],
]


@pytest.mark.parametrize("adaptive", [True, False])
@pytest.mark.parametrize(
    ("epsilon", "delta", "adjacency"),
    [(2.0, 1e-6, "add-or-remove"), (0.8, 1e-3, "remove"), (1.0, 0.0, "add")],
)
def test_what_fits_is_in_the_budget(epsilon, delta, adjacency, adaptive):
    """The engine counts the list anew; refusals leave the list as it was."""
    rng = np.random.default_rng(2)
    budget, refused = Budget(epsilon, delta, adjacency, adaptive), 0
    ask = {"delta": delta, "adjacency": adjacency}
    while refused < (4 if adaptive else 2):
        query = MENU[int(rng.integers(len(MENU)))]
        before = budget.spent
        if query == MENU[6] and not adaptive:
            continue  # both ends of choices take half a second
        if budget.can(query):
            budget.spend(query)
            assert len(budget.spent) > len(before)
        else:
            refused += 1
            with pytest.raises(BudgetPassed, match="releases must fit"):
                budget.spend(query)
            assert budget.spent == before
            if not adaptive:
                more = query if isinstance(query, list) else [query]
                assert al.epsilon([*before, *more], **ask).upper > epsilon
    assert budget.spent and budget.cost() <= epsilon
    found = al.epsilon(budget.spent, **ask)
    assert found.lower <= budget.cost()
    assert found.upper <= epsilon * (UP if delta == 0 else 1)


def test_json():
    queries = [
        *MENU[:-1],
        al.Release(al.DiscretePair([0.3, 0.7], [0.7, 0.3])),
        al.Release(al.MixtureOfGaussians([0, 1], [0.9, 0.1], 1 / 3)),
        al.Release(al.ApproximateDP(0.1, 1e-9), al.FixedBatch(3, 100)),
        al.Release(al.Gaussian(9.1), al.RandomAllocation(20), 2),
        al.Release(al.Gaussian(2.7), al.TruncatedPoisson(0.01, 5, 100)),
        al.Release(response_pairs(0.5, 3)),
    ]
    fixed = Budget(50.0, 1e-5, "remove", False, queries)
    assert Budget.from_json(fixed.to_json()) == fixed
    read = (
        "import sys, accountlib as al\n"
        "print(al.Budget.from_json(sys.argv[1]).to_json())"
    )
    # a pair of no public class is loaded by hand
    text = replace(fixed, spent=fixed.spent[:-1]).to_json()
    done = subprocess.check_output([sys.executable, "-c", read, text])
    assert done.decode().strip() == text
    budget = Budget(0.1 + 0.2, 1e-6, "replace-one")
    assert Budget.from_json(budget.to_json()) == budget
    budget.spend(al.Release(al.Gaussian(1e3 / 3), count=7))
    text = budget.to_json()
    assert len({budget, Budget.from_json(text)}) == 1
    values = json.loads(text)
    for key, value, words in (
        ("epsilon", 0.05, "releases must fit"),
        ("spent", [["Release", ["Gaussian", 0.5]]], "releases must fit"),
        ("spent", [["Release", ["Nothing", 0.5]]], "'Nothing' must be a"),
        ("spent", [["Release", ["Gaussian", "x"]]], "noise_multiplier must"),
        ("spent", [[]], "releases must be"),
        ("adjacency", "nothing", "adjacency must"),
    ):
        with pytest.raises(ValueError, match=words):
            Budget.from_json(json.dumps(values | {key: value}))
    for wrong in ("[]", "{}", json.dumps(values | {"more": 1})):
        with pytest.raises(ValueError, match="text must be what to_json"):
            Budget.from_json(wrong)


def test_odometer_reads_its_lines():
    """The formula at 30 digits, and below only by nothing."""
    with mp.workdps(30):
        for spent in (0.001, 0.5, 7.25):
            meter = ZCDPOdometer(1e-6, first=0.02, levels=12, spent=spent)
            share = mp.log(12 / mp.mpf(1e-6))
            lines = []
            for k in range(12):
                less = mp.sqrt(share / (mp.mpf(0.02) * 2**k))
                lines.append((1 + less) * mp.mpf(spent) + share / less)
            assert min(lines) <= meter.epsilon <= min(lines) * (1 + 1e-12)


def test_odometer_sums_are_rounded_up():
    meter, exact = ZCDPOdometer(1e-6, first=0.02), F(0)
    for _ in range(1000):
        meter, exact = meter.after(0.1), exact + F(0.1)
    assert exact <= F(meter.spent) <= exact * F(UP)


@pytest.mark.parametrize(
    "query",
    [
        al.Release(al.ApproximateDP(0.1, 1e-9)),
        al.Release(al.Gaussian(3.0), al.RandomAllocation(100)),
        al.Release(al.Gaussian(3.0), al.Poisson(0.1), 5),
    ],
)
def test_no_curve(query):
    adjacency = "substitute" if query.count == 5 else "remove"
    budget = Budget(2.0, 1e-6, adjacency)
    for call in (budget.can, budget.spend):
        with pytest.raises(NotImplementedError, match="adaptive=False"):
            call(query)
    assert not budget.spent
    assert Budget(2.0, 1e-6, adjacency, adaptive=False).can(query)
