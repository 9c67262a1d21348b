"""Chains of guarantees, in fractions."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from fractions import Fraction as F

import pytest
from mpmath import mp, mpf

import accountlib as al
from accountlib.several import chains
from accountlib.several.chains import chain_pair

# --- answers ----------------------------------------------------------------


def exact_chain(growth, d, size, alpha):
    """H_alpha of the ends of a chain: maximum of g^k(x) - alpha x."""

    def step(x):
        return min(F(1), d + growth * x, 1 - (1 - d - x) / growth)

    def back(y):
        x = (y - d) / growth
        return x if step(x) == y else 1 - d - (1 - y) * growth

    cuts = {F(0), F(1)}
    for place in ((1 - d) / (1 + growth), 1 - d):
        for _ in range(size):
            if place > 0:
                cuts.add(place)
                place = back(place)
    best = F(0)
    for x in cuts:
        y = x
        for _ in range(size):
            y = step(y)
        best = max(best, y - alpha * x)
    return best


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 20])
@pytest.mark.parametrize("d", [0.0, 1e-9, 1e-3, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("growth", [1.0, 1.5, 3.0, 20.0])
def test_chains_in_fractions(size, d, growth):
    pair = chains.chain_pair(math.log(growth), d, size)
    assert isinstance(pair, chains.ChainPair)
    assert math.fsum(pair.p) == pytest.approx(1, abs=1e-14)
    for epsilon in (-1.0, 0.0, 0.1, 1.0, 2.5, 6.0):
        alpha = F(math.exp(epsilon))
        exact = exact_chain(F(growth), F(d), size, alpha)
        value = pair.delta(epsilon)
        assert value == pytest.approx(float(exact), rel=1e-12, abs=1e-14)


def test_a_chain_of_tiny_steps():
    """Losses that the ratio of two floats would not show."""
    pair = chains.chain_pair(1e-20, 0.0, 5)
    assert pair.delta(0.0) == pytest.approx(2.5e-20, rel=1e-14, abs=0)
    assert pair.atoms[-1] == 5e-20


@pytest.mark.parametrize(
    ("epsilon", "d", "size"),
    [
        (1.541069964293148, 0.0006323443776475766, 8),
        (3.0701643134857547e-10, 0.0020653696009005624, 40),
        (1.4944190817817053e-08, 0.00019447245921247258, 23),
        (7.80767873268822, 0.00010526980935862046, 4),
        (1.839578895077991e-10, 0.00909742433433609, 9),
        (0.7, 0.1, 1),
    ],
)
def test_what_a_chain_reveals_is_not_rounded(epsilon, d, size):
    """Beyond the largest loss delta is the mass at infinity, g^k(0)."""
    with mp.workdps(50):
        growth, told = mp.exp(mpf(epsilon)), mpf(0)
        for _ in range(size):
            turned = 1 - (1 - mpf(d) - told) / growth
            told = min(mpf(1), mpf(d) + growth * told, turned)
    run = al.Release(al.ApproximateDP(epsilon, d))
    ask = {"adjacency": "remove", "group_size": size}
    bound = al.delta(run, epsilon=1.1 * size * epsilon, **ask)
    assert bound.lower <= told <= bound.upper and bound.width < 1e-14
    less = float(told)
    if less >= told:
        less = math.nextafter(less, 0.0)
    assert al.epsilon(run, delta=less, **ask).upper == math.inf


@pytest.mark.parametrize("adjacency", ["remove", "add", "substitute"])
def test_groups_of_guarantees_are_reached(adjacency):
    """1 - 1/e, not tanh 1: the geometric mechanism is the worst."""
    run = al.Release(al.PureDP(1.0))
    bound = al.delta(run, epsilon=0, adjacency=adjacency, group_size=2)
    assert bound.contains(1 - math.exp(-1)) and bound.width < 1e-3
    noise = al.Release(al.DiscreteLaplace(1.0), count=5)
    runs = al.Release(al.PureDP(1.0), count=5)
    for size in (2, 5):
        both = [
            al.epsilon(
                x,
                delta=1e-6,
                adjacency="add-or-remove",
                group_size=size,
            )
            for x in (noise, runs)
        ]
        assert both[0].lower <= both[1].upper
        assert both[1].lower <= both[0].upper


# --- to the last bit: small and exact ----------------------------------------


def test_chains_may_be_as_long_as_they_say():
    assert chain_pair(700.0, 0.0, 1).loss_range == (-700.0, 700.0)
    assert chain_pair(350.0, 0.0, 2).loss_range == (-700.0, 700.0)
    for epsilon, size in ((700.1, 1), (350.1, 2)):
        with pytest.raises(ValueError, match="must lie in"):
            chain_pair(epsilon, 0.0, size)


@pytest.mark.parametrize("size", [10**6, 10**9, 10**15])
def test_the_old_rule_for_large_groups_is_rounded_up(size: int) -> None:
    # log(1 - e^-x) - x = log delta; the sum of terms of 1e15 has no digits
    found = chains.group_epsilon_vadhan(
        size, log_delta=lambda e: -float(size) * e, delta=1e-5
    )
    assert found >= size * math.log(1e5 + 1)
    assert (
        chains.group_epsilon_vadhan(
            1, log_delta=lambda e: math.log(1e-5), delta=1e-5
        )
        == 0.0
    )


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((-1.0, 0.0, 2), "epsilon"),
        ((1.0, 2.0, 2), "delta"),
        ((1.0, -0.5, 2), "delta"),
        ((1.0, 0.0, 2.5), "group_size"),
    ],
)
def test_a_chain_names_what_is_out_of_range(
    arguments: tuple[float, float, int], name: str
) -> None:
    with pytest.raises(ValueError, match=f"^{name} must"):
        chain_pair(*arguments)


def test_the_old_rule_rounds_its_product_up():
    """epsilon is not below k times one that the curve has proven."""
    for size in range(2, 60):
        steps: list[float] = []

        def curve(at, steps=steps):
            found = -math.inf if at >= 0.1 else -0.1
            if found < 0.0 and at >= 0.1:
                steps.append(at)
            return found

        found = chains.group_epsilon_vadhan(size, log_delta=curve, delta=1e-9)
        assert F(found) >= size * F(min(steps))
