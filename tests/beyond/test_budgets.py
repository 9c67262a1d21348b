"""Filters and odometers against exact trees of adaptive choices.

An analyst chooses among random releases of few outcomes, by the answers
before. All leaves are enumerated in fractions.
"""

import math
from collections.abc import Callable
from fractions import Fraction as F
from functools import partial

import numpy as np
import pytest
from flint import fmpq
from mpmath import mp
from scipy.special import ndtri

import accountlib as al
from accountlib.beyond.budgets import (
    BudgetPassed,
    GDPFilter,
    IndividualFilters,
    PrivacyFilter,
    RenyiFilter,
    ZCDPFilter,
    float_above,
)
from accountlib.beyond.odometers import ZCDPOdometer

Pair = tuple[list[F], list[F]]
UP = 1 + 1e-12  # costs are upper ends: more than some roundings


def quotient(x):
    """A fraction in the numbers of flint, which add up faster."""
    return fmpq(*x.as_integer_ratio())


def fraction(x):
    return F(int(x.p), int(x.q))


def hockey(leaves, alpha):
    alpha, total = quotient(alpha), fmpq(0)
    for p, q in leaves:
        total += max(quotient(p) - alpha * quotient(q), fmpq(0))
    return fraction(total)


def log_moment(laws, order):
    """log E_q (p/q)^order, of the exact moment."""
    total = fmpq(0)
    for p, q in laws:
        total += quotient(p) ** order / quotient(q) ** (order - 1)
    return math.log(fraction(total))


def random_pair(rng, spread=12):
    size = int(rng.integers(2, 4))
    p, q = rng.integers(1, 30, (2, size))
    q = p + q % (spread + 1)
    return [F(int(x), int(p.sum())) for x in p], [
        F(int(x), int(q.sum())) for x in q
    ]


def renyi_cost(pair, order):
    """The larger of both directions; the order is a whole number."""
    found = []
    for p, q in (pair, pair[::-1]):
        sides = zip(p, q, strict=True)
        moment = sum(x**order / y ** (order - 1) for x, y in sides)
        found.append(math.log(moment) / (order - 1))
    return max(found) * UP + 1e-15


def largest_loss(pair):
    ratios = [x / y for x, y in zip(*pair, strict=True)]
    return math.log(max(max(ratios), 1 / min(ratios))) * UP


def pure_cost(pair):
    """zCDP of a pure bound."""
    return largest_loss(pair) ** 2 / 2 * UP


def gaussian_cost(pair):
    """mu of randomized response with the same largest loss."""
    return -2 * float(ndtri(1 / (1 + math.exp(largest_loss(pair))))) * UP


def grow(rng, start, cost, menu, depth):
    """Leaves (p, q) of an analyst who adapts, some of them greedily."""
    greedy, leaves = rng.random() < 0.5, []
    costs = [cost(pair) for pair in menu]

    def visit(budget, depth, p, q):
        fits = [k for k, x in enumerate(costs) if budget.allows(x)]
        if depth == 0 or not fits or (not greedy and rng.random() < 0.1):
            leaves.append((p, q))
            return
        k = fits[int(rng.integers(len(fits)))]
        if greedy:
            k = max(fits, key=costs.__getitem__)
        later = budget.after(costs[k])
        assert later.spent <= later.limit
        for x, y in zip(*menu[k], strict=True):
            visit(later, depth - 1, p * x, q * y)

    visit(start, depth, F(1), F(1))
    assert sum(p for p, _ in leaves) == sum(q for _, q in leaves) == 1
    return leaves


def check_claim(start, leaves, budget_delta):
    """delta at the claimed epsilon, both directions, exactly."""
    claimed = start.epsilon(delta=budget_delta)
    alpha = F(math.exp(claimed)) * (1 - F(1, 2**50))
    back = [(q, p) for p, q in leaves]
    assert hockey(leaves, alpha) <= budget_delta
    assert hockey(back, alpha) <= budget_delta


@pytest.mark.parametrize("kind", ["renyi", "zcdp", "gdp"])
def test_never_over_budget(kind):
    """Adaptive schedules, as exact trees."""
    rng = np.random.default_rng(list(kind.encode()))
    used = []
    for _ in range(100):
        menu = [random_pair(rng) for _ in range(8)]
        order = int(rng.integers(2, 9))
        budget = float(rng.uniform(0.03, 0.4))
        start: PrivacyFilter = ZCDPFilter(budget)
        cost: Callable[[Pair], float] = pure_cost
        if kind == "renyi":
            start = RenyiFilter(budget, order=order)
            cost = partial(renyi_cost, order=order)
        elif kind == "gdp":
            start, cost = GDPFilter(math.sqrt(2 * budget)), gaussian_cost
        leaves = grow(rng, start, cost, menu, 4)
        check_claim(start, leaves, 10.0 ** -rng.integers(1, 5))
        for laws in (leaves, [(q, p) for p, q in leaves]):
            whole = log_moment(laws, order) / (order - 1)
            if kind == "renyi":
                assert whole <= budget
                used.append(whole / budget)
            elif kind == "zcdp":
                assert whole <= order * budget
            else:
                for at in (-1.0, 0.0, 0.4):
                    most = al.gaussian_delta(at, mu=math.sqrt(2 * budget))
                    assert hockey(laws, math.exp(at)) <= most * UP
    assert kind != "renyi" or max(used) > 0.95  # the trees come close


def test_odometer_at_all_times():
    """P[the loss ever exceeds the reading] by enumeration."""
    rng = np.random.default_rng(11)
    worst = 0.0
    for _ in range(60):
        menu = [random_pair(rng, 12) for _ in range(6)]
        delta = float(rng.choice([0.95, 0.8, 0.3]))
        levels = int(rng.integers(1, 3))
        start = ZCDPOdometer(delta, first=0.1, levels=levels)

        def visit(meter, depth, p, q, menu=menu):
            """Probability under P of passing the reading from here on."""
            if math.log(p / q) > meter.epsilon:
                return p
            if depth == 0:
                return F(0)
            pair = menu[int(rng.integers(len(menu)))]
            later = meter.after(pure_cost(pair))
            return sum(
                visit(later, depth - 1, p * x, q * y)
                for x, y in zip(*pair, strict=True)
            )

        passed = visit(start, 5, F(1), F(1))
        assert passed <= delta
        worst = max(worst, float(passed) / delta)
    assert worst > 0


def test_odometer_reads_its_lines():
    """The formula at 30 digits, and below only by nothing."""
    with mp.workdps(30):
        for spent in (0.001, 0.5, 7.25):
            meter = ZCDPOdometer(1e-6, first=0.02, levels=12, spent=F(spent))
            share = mp.log(12 / mp.mpf(1e-6))
            lines = []
            for k in range(12):
                less = mp.sqrt(share / (mp.mpf(0.02) * 2**k))
                lines.append((1 + less) * mp.mpf(spent) + share / less)
            assert min(lines) <= meter.epsilon <= min(lines) * (1 + 1e-12)


def test_exact_sums_and_refusals():
    tenth = ZCDPFilter(100.0)
    for _ in range(999):
        tenth = tenth.after(0.1)
    assert not tenth.allows(0.1) and tenth.allows(float(tenth.left) * 0.999)
    with pytest.raises(BudgetPassed, match="cost must fit"):
        tenth.after(0.1)
    with pytest.raises(ValueError, match="cost must lie"):
        tenth.after(math.inf)
    thirds = RenyiFilter(F(1), order=2)
    for _ in range(3):
        thirds = thirds.after(F(1, 3))
    assert thirds.left == 0 and thirds.allows(0)
    assert not thirds.allows(5e-324)
    fifth = GDPFilter(F(5)).after(F(3)).after(F(4))
    assert fifth.left == 0
    assert float_above(F(1, 3)) > F(1, 3) and float_above(F(1, 2)) == 0.5


def test_individual_sums_are_rounded_up():
    rng = np.random.default_rng(3)
    people = IndividualFilters(1.0, spent=np.zeros(50))
    exact = [F(0)] * 50
    for _ in range(40):
        costs = rng.choice([0.0, 0.1, 1e-17, 0.03], 50)
        active = people.allows(costs)
        people = people.after(costs)
        for k in np.flatnonzero(active):
            exact[k] += F(float(costs[k]))
        assert all(exact[k] <= F(float(people.spent[k])) for k in range(50))
    assert max(exact) <= 1
    assert not people.spent.flags.writeable


@pytest.mark.parametrize("mu", [1e-3, 0.3, 1.0, 4.0])
def test_gdp_filter_is_above_the_truth_and_near(mu):
    for delta in (1e-2, 1e-8):
        claimed = GDPFilter(mu).epsilon(delta=delta)
        truth = al.gaussian_epsilon(delta, mu=mu)
        assert truth * (1 - 1e-12) <= claimed <= truth * (1 + 1e-6) + 1e-9
    assert GDPFilter(0.0).epsilon(delta=1e-6) == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: RenyiFilter(1.0, order=1.0),
        lambda: RenyiFilter(math.inf, order=2),
        lambda: ZCDPFilter(1.0, spent=F(2)),
        lambda: ZCDPFilter(1.0).after(-0.1),
        lambda: ZCDPFilter(1.0, spent="0.5"),
        lambda: GDPFilter(0.0).epsilon(delta=math.nan),
        lambda: ZCDPFilter(1.0).allows(math.nan),
        lambda: GDPFilter(1e7),
        lambda: ZCDPOdometer(0.0, first=1.0),
        lambda: ZCDPOdometer(1e-6, first=1.0, levels=61),
        lambda: ZCDPOdometer(1e-6, first=1.0).after(math.inf),
        lambda: IndividualFilters(1.0, spent=[2.0]),
        lambda: IndividualFilters(1.0, spent=[0.0]).after([0.1, 0.1]),
    ],
)
def test_bad_input(make):
    with pytest.raises(ValueError, match="must"):
        make()
