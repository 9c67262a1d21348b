"""The search behind calibrations: it ends, and returns what meets the target.

The functions jump, are flat, infinite, exactly 0, or change their sign a
hundred times: nothing about them is assumed but their values.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.runs import calibration, one_call


def wild_excess(rng: Any, low: float, high: float) -> Any:
    """A function with random changes of sign, and all its values."""
    number = int(rng.choice([1, 3, 9, 101]))
    cuts = np.sort(rng.uniform(math.log(low), math.log(high), number))
    first, kind = rng.choice([-1, 1]), int(rng.integers(6))
    scale, power = 10 ** rng.uniform(-9, 9), rng.choice([1, 3, 9, 0.1])
    tried: dict[float, float] = {}

    def excess(x: float) -> float:
        side = float(first * (-1) ** int(np.searchsorted(cuts, math.log(x))))
        near = float(np.min(np.abs(cuts - math.log(x))))
        value = {
            0: side * math.inf,
            1: side * scale,
            2: side * float(rng.choice([1e-9, 1e9])),
            3: side * near**power * scale,
            4: 0.0 if side < 0 else 1e-300,
            5: -scale if side < 0 else math.inf,
        }[kind]
        tried[x] = value if value != 0 or side < 0 else 1e-12
        return tried[x]

    return excess, tried


@pytest.mark.parametrize("seed", range(10))
def test_safe_edge_for_wild_functions(seed):
    rng = np.random.default_rng([91, seed])
    for _ in range(40):
        reach = 300 if rng.random() < 0.3 else 9
        low, high = sorted((10 ** rng.uniform(-reach, reach, 2)).tolist())
        if math.log(high) - math.log(low) < 1e-9:
            continue
        excess, tried = wild_excess(rng, low, high)
        if (excess(low) <= 0) == (excess(high) <= 0):
            continue
        tried.clear()
        x = calibration.safe_edge(excess, low, high)
        assert low <= x <= high and tried[x] <= 0 and len(tried) <= 102
        missed = [math.log(y) for y, f in tried.items() if f > 0]
        gap = min(abs(math.log(x) - y) for y in missed)
        assert gap <= 5.0001e-5


@pytest.mark.parametrize("seed", range(10))
def test_noise_bracket_for_wild_functions(seed):
    """It ends at the limits of what is allowed, or at a change."""
    rng = np.random.default_rng([92, seed])
    for _ in range(40):
        first, last = sorted((10 ** rng.uniform(-6, 9, 2)).tolist())
        excess, tried = wild_excess(rng, 1e-3, 1e9)

        def allowed(x: float, ends: Any = (first, last)) -> bool:
            return bool(ends[0] <= x <= ends[1])

        if not any(allowed(4.0**k) for k in range(-4, 15)):
            continue
        low, high = calibration.noise_bracket(excess, allowed)
        assert allowed(low) and allowed(high) and 1e-3 <= low <= high <= 1e9
        if low < high:
            assert (tried[low] <= 0) != (tried[high] <= 0)
        else:
            assert len({f > 0 for f in tried.values()}) == 1
            ends = max(first, 1e-3), min(last, 1e9)
            assert min(abs(math.log(low / end)) for end in ends) < 3e-6


@pytest.mark.parametrize("limit", [1e-300, 1e-150, 3.0, 1e200])
def test_last_allowed_at_any_size(limit):
    """The product of two large numbers overflows."""
    below = calibration.last_allowed(lambda x: x <= limit, limit / 8, 1e307)
    above = calibration.last_allowed(lambda x: x >= limit, limit * 8, 1e-307)
    for found in (below, above):
        assert abs(math.log(found) - math.log(limit)) < 2e-7


@pytest.mark.parametrize("seed", range(6))
def test_whole_noise_meets_its_target(seed):
    """Discrete Gaussian noise is not monotone; the truth is a plain sum."""
    rng = np.random.default_rng([93, seed])
    goal, chance = float(rng.uniform(0.5, 6)), float(10 ** rng.uniform(-4, -1))
    options: dict[str, Any] = {"delta": chance, "adjacency": "remove"}
    sigma = al.calibrate_noise(
        epsilon=goal,
        sampling=al.FullBatch(),
        count=1,
        mechanism=al.DiscreteGaussian,
        **options,
    )

    def exact(noise: float) -> float:
        places = np.arange(-400, 401)
        weights = np.exp(-((places / noise) ** 2) / 2)
        p = weights / math.fsum(weights)
        with np.errstate(divide="ignore"):
            rest = p[1:] - math.exp(goal) * p[:-1]  # places falling
        return math.fsum(np.maximum(rest[::-1], 0.0)) + float(p[0])

    assert exact(sigma) <= chance * (1 + 1e-9)
    near = [exact(sigma * (1 + x)) for x in np.linspace(-3e-4, 3e-4, 13)]
    assert max(near) > chance * (1 - 1e-6)  # it is at an edge


def test_splits_do_not_exceed_epsilon(monkeypatch):
    """The second part of a split is rounded down, not to nearest."""
    asked = []

    def recorded(releases, *, epsilon, adjacency, group_size):
        asked.append(Fraction(epsilon))
        return al.Bound(0.0, 0.5)

    monkeypatch.setattr(one_call, "delta", recorded)
    for whole in (0.0, 0.1, 0.7, 1.1, 3.3, 1e-300):
        asked.clear()
        one_call.substitute_delta_bound(
            al.Release(al.Gaussian(1.0)), epsilon=whole
        )
        pairs = list(zip(asked[::2], asked[1::2], strict=True))
        assert len(pairs) == 9
        for first, rest in pairs:
            assert 0 <= first and 0 <= rest
            assert first + rest <= Fraction(whole)
            assert first + rest >= Fraction(whole) * (1 - Fraction(2) ** -51)


@pytest.mark.parametrize("seed", range(6))
def test_whole_edge_for_wild_functions(seed):
    """Met at a whole number, missed beside it, in few looks."""
    rng = np.random.default_rng([94, seed])
    for _ in range(60):
        first, last = sorted(int(10**x) for x in rng.uniform(0, 12, 2))
        last = max(last, first + 1)
        excess, tried = wild_excess(rng, first, last)
        if (excess(first) <= 0) == (excess(last) <= 0):
            with pytest.raises(ValueError, match="change its sign"):
                calibration.whole_edge(excess, first, last)
            continue
        tried.clear()
        found = calibration.whole_edge(excess, first, last)
        assert isinstance(found, int) and first <= found <= last
        beside = {k for k in (found - 1, found + 1) if tried.get(k, -1) > 0}
        assert tried[found] <= 0 and beside
        assert len(tried) <= 60 and all(isinstance(k, int) for k in tried)


def test_whole_numbers_of_steps():
    """The largest count whose upper end meets the target, by trying all."""
    target: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
    target["adjacency"] = "add-or-remove"

    def steps(count: int) -> al.Release:
        assert isinstance(count, int)
        return al.Release(al.Gaussian(4.0), al.Poisson(0.1), count)

    found = al.calibrate(steps, low=1, high=1e4, whole=True, **target)
    met = [
        n
        for n in range(1, found + 10)
        if al.epsilon(steps(n), delta=1e-6, adjacency="add-or-remove") <= 1
    ]
    assert met == list(range(1, found + 1))
    assert al.calibrate(steps, low=1, high=3, whole=True, **target) == 3
    with pytest.raises(ValueError, match="not met by any"):
        al.calibrate(steps, low=found + 1, high=1e4, whole=True, **target)


@pytest.mark.in_turn(3)
def test_whole_batches_fall_and_records_grow():
    """A larger batch is less privacy, more records are more."""
    target: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
    target["adjacency"] = "substitute"

    def batch(size: int) -> al.Release:
        return al.Release(al.Gaussian(4.0), al.FixedBatch(size, 5000), 300)

    def records(size: int) -> al.Release:
        return al.Release(al.Gaussian(4.0), al.FixedBatch(100, size), 300)

    for build, low, toward in ((batch, 1, 1), (records, 100, -1)):
        x = al.calibrate(build, low=low, high=5000, whole=True, **target)
        ends = [
            al.epsilon(build(n), delta=1e-6, adjacency="substitute").upper
            for n in (x, x + toward)
        ]
        assert isinstance(x, int) and ends[0] <= 1.0 < ends[1]


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"low": 1.5}, "low must be a whole number"),
        ({"high": 9.5}, "high must be a whole number"),
        ({"low": 0.0}, "low must lie in"),
        ({"whole": 1}, "whole must be a bool"),
    ],
)
def test_whole_ends(wrong, message):
    target = {"epsilon": 1.0, "delta": 1e-6, "adjacency": "remove"}
    asked: dict[str, Any] = {"low": 1, "high": 9, "whole": True} | target
    with pytest.raises(ValueError, match=message):
        al.calibrate(lambda n: al.Release(al.Gaussian(9.0)), **asked | wrong)


@pytest.mark.parametrize("side", ["remove", "add"])
def test_an_edge_that_the_first_direction_misses(side):
    """Twice Laplace noise at rate 3/4: add is worse at 1/2, remove at 3/2."""
    wanted = 1.5 if side == "remove" else 0.5
    run = al.Release(al.Laplace(0.5), al.Poisson(0.75), 2)
    target: dict[str, Any] = {
        "delta": al.delta(run, epsilon=wanted, adjacency=side).upper,
        "epsilon": wanted,
        "adjacency": "add-or-remove",
    }
    noise = al.calibrate_noise(
        sampling=run.sampling, count=2, mechanism=al.Laplace, **target
    )
    rate = al.calibrate(
        lambda x: al.Release(al.Laplace(0.5), al.Poisson(x), 2),
        low=0.1,
        high=1.0,
        **target,
    )
    assert abs(noise / 0.5 - 1) < 1e-3 and abs(rate / 0.75 - 1) < 1e-3
    ask = {"delta": target["delta"], "adjacency": "add-or-remove"}
    for near in (
        al.Release(al.Laplace(noise), al.Poisson(0.75), 2),
        al.Release(al.Laplace(0.5), al.Poisson(rate), 2),
    ):
        assert al.epsilon(near, **ask).upper <= wanted
