"""Calibrated noise meets its contract, and the search ends."""

import math

import numpy as np
import pytest

from accountlib import DiscreteGaussian, Gaussian, Laplace, Poisson, Release
from accountlib.accountant import delta, epsilon
from accountlib.calibration import EDGE, Excess, calibrate, calibrate_noise
from accountlib.mechanisms import PureDP
from accountlib.sampling import FixedBatch

TARGETS = [
    (Gaussian, Poisson(16384 / 50000), 2000, 8.0, 1e-5, "remove"),
    (Gaussian, Poisson(0.5), 10, 0.1, 1e-9, "substitute"),
    (Gaussian, Poisson(0.01), 1, 0.01, 1e-7, "add"),
    (Gaussian, FixedBatch(10, 1000), 300, 3.0, 1e-5, "add-or-remove"),
    (Laplace, Poisson(0.01), 100, 1.0, 1e-6, "remove"),
]


@pytest.mark.parametrize(
    "mechanism, sampling, count, wanted, chance, adjacency", TARGETS
)
def test_contract(mechanism, sampling, count, wanted, chance, adjacency):
    ask = {"delta": chance, "adjacency": adjacency}
    run = {"sampling": sampling, "count": count, "mechanism": mechanism}
    x = calibrate_noise(epsilon=wanted, **run, **ask)
    enough = Release(mechanism(x), sampling, count)
    less = Release(mechanism(0.999 * x), sampling, count)
    assert epsilon(enough, **ask).upper <= wanted
    assert epsilon(less, **ask).lower > wanted


def test_epsilon_zero_asks_for_delta():
    ask = {"epsilon": 0.0, "adjacency": "remove"}
    run = {"sampling": Poisson(0.01), "count": 100}
    x = calibrate_noise(delta=1e-3, **run, **ask)
    enough, less = (Release(Gaussian(y), **run) for y in (x, 0.999 * x))
    assert delta(enough, **ask).upper <= 1e-3 < delta(less, **ask).upper


def test_discrete_noise_meets_its_target():
    """It can be worse where there is more of it, so only this holds."""
    ask = {"delta": 1e-3, "adjacency": "remove"}
    for wanted in (0.7, 2.5, 5.5):
        x = calibrate_noise(epsilon=wanted, mechanism=DiscreteGaussian, **ask)
        assert epsilon(Release(DiscreteGaussian(x)), **ask).upper <= wanted


def test_rates_counts_and_lists():
    ask = {"epsilon": 1.0, "delta": 1e-6, "adjacency": "remove"}

    def upper(run):
        return epsilon(run, delta=1e-6, adjacency="remove").upper

    def rates(x):
        return Release(Gaussian(2.0), Poisson(x), 1000)

    x = calibrate(rates, low=1e-6, high=1.0, **ask)
    assert upper(rates(x)) <= 1 < upper(rates(1.002 * x))

    def steps(n):
        assert isinstance(n, int)
        return Release(Gaussian(2.0), Poisson(0.01), n)

    n = calibrate(steps, low=1, high=100_000, whole=True, **ask)
    assert isinstance(n, int) and upper(steps(n)) <= 1 < upper(steps(n + 1))

    def scales(x):
        return [Release(Laplace(x)), Release(Laplace(2 * x))]

    pure = {"epsilon": 1.0, "delta": 0.0, "adjacency": "substitute"}
    x = calibrate(scales, low=0.1, high=100, **pure)
    assert 6 * (1 - 1e-9) <= x * (2 if x < 5 else 1) <= 6.01


def test_both_ends_meet_it():
    ask = {"epsilon": 1.0, "delta": 1e-6, "adjacency": "remove"}

    def noise(x):
        return Release(Gaussian(x))

    assert calibrate(noise, low=50, high=90, **ask) == 50
    assert (
        calibrate(lambda x: noise(1 / x), low=1e-3, high=0.01, **ask) == 0.01
    )
    with pytest.raises(ValueError, match="missed at both ends"):
        calibrate(noise, low=0.5, high=1.5, **ask)


def test_a_target_on_a_plateau():
    """Met exactly: the end of the plateau with less privacy."""

    def build(x):
        return Release(PureDP(0.5 if x < 3 else x))

    ask = {"delta": 0.0, "adjacency": "remove"}
    wanted = epsilon(build(1.0), **ask).upper
    x = calibrate(build, low=1.0, high=9.0, epsilon=wanted, **ask)
    assert 2.999 < x < 3


def wild(seed):
    """A function of few or many changes of sign, flat, steep or infinite."""
    rng = np.random.default_rng([91, seed])
    low, high = np.sort(10 ** rng.uniform(-9, 9, 2)).tolist()
    number, kind = int(rng.choice([1, 3, 101])), int(rng.integers(4))
    cuts = np.sort(rng.uniform(math.log(low), math.log(high), number))
    size = 10 ** rng.uniform(-9, 9)

    def excess(x):
        side = float((-1) ** int(np.searchsorted(cuts, math.log(x))))
        near = float(np.min(np.abs(cuts - math.log(x))))
        value = [math.inf, size, near**9 * size, near * size][kind]
        return max(min(value, 700.0), 1e-9) * side

    return low, high, excess


class Wild(Excess):
    def __call__(self, x):
        self.tried[x] = self.build(x)
        return self.tried[x]


@pytest.mark.parametrize("seed", range(40))
def test_the_search_ends_at_an_edge(seed):
    low, high, function = wild(seed)
    search = Wild(function, 1.0, 1e-6)
    x = search.edge(low, high)
    assert low <= x <= high and search(x) < 0
    missed = [y for y, f in search.tried.items() if f > 0]
    assert min(abs(x / y - 1) for y in missed) <= 1.01 * EDGE
    assert len(search.tried) <= 150
    if high > low + 1:
        first, last = math.ceil(low), math.ceil(high)
        if (search(first) < 0) != (search(last) < 0):
            n = search.edge(first, last, whole=True)
            others = {k for k in (n - 1, n + 1) if search(k) > 0}
            assert isinstance(n, int) and search(n) < 0 and others


def test_targets_out_of_reach():
    ask = {"delta": 0.0, "adjacency": "remove"}
    for wanted in (0.0, 1.0):
        with pytest.raises(ValueError, match="no noise"):
            calibrate_noise(epsilon=wanted, **ask)
    with pytest.raises(ValueError, match="all noise"):
        calibrate_noise(epsilon=1.0, delta=1.0, adjacency="remove")
