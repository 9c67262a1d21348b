"""Calibration at its limits: jumps, ends, targets out of reach."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.runs import calibration

SUB: dict[str, Any] = {"adjacency": "substitute"}
BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}


# --- calibration ------------------------------------------------------------


def below_50(noise):
    """A mechanism with a largest noise, as discrete Gaussian noise is."""
    if noise > 50:
        raise ValueError(f"noise must lie in (0, 50], got {noise!r}")
    return al.Gaussian(noise)


@pytest.mark.parametrize(
    ("target", "mechanism", "reach"),
    [
        ((1000, 1e-5), lambda s: al.DiscreteGaussian(s, 20), 0.5),
        ((1000, 1e-5), lambda s: al.DiscreteLaplace(s, 600), "all"),
        ((100, 1e-5), lambda s: al.DiscreteGaussian(s, 5), 0.4),
        ((1, 1e-5), lambda s: al.DiscreteGaussian(s, 50), 190),
        ((10, 0.0), lambda s: al.DiscreteLaplace(s, 6000), 600),
        ((1e-3, 1e-9), lambda s: below_50(s), "no"),
        ((0.2, 1e-9), lambda s: below_50(s), 28),
    ],
)
def test_calibration_at_the_limits_of_a_mechanism(target, mechanism, reach):
    """The search used to go on for ever at a limit, or could not begin."""
    run: dict[str, Any] = {
        "epsilon": target[0],
        "delta": target[1],
        "adjacency": "add-or-remove",
        "sampling": al.FullBatch(),
        "count": 1,
        "mechanism": mechanism,
    }
    if isinstance(reach, str):
        with pytest.raises(ValueError, match=f"met by {reach} noise"):
            al.calibrate_noise(**run)
        return
    x = al.calibrate_noise(**run)
    assert x == pytest.approx(reach, rel=0.3)
    found = al.epsilon(al.Release(mechanism(x)), delta=target[1], **BOTH)
    assert found.upper <= target[0]


@pytest.mark.parametrize("mechanism", [al.Gaussian, al.DiscreteGaussian])
def test_no_noise_without_delta(mechanism):
    """Losses of Gaussian noise have no largest value, on integers too."""
    with pytest.raises(ValueError, match="no noise .* epsilon is infinite"):
        al.calibrate_noise(
            epsilon=1,
            delta=0.0,
            sampling=al.FullBatch(),
            count=1,
            mechanism=mechanism,
            **BOTH,
        )


@pytest.mark.parametrize(
    "mechanism", [al.Gaussian, lambda s: al.DiscreteGaussian(s, 5)]
)
def test_a_target_that_add_cannot_miss(mechanism):
    groups = 5 if mechanism is al.Gaussian else 1
    with pytest.raises(ValueError, match="met by all noise"):
        al.calibrate_noise(
            epsilon=2,
            delta=2.34e-6,
            adjacency="add",
            sampling=al.Poisson(0.1),
            count=1,
            mechanism=mechanism,
            group_size=groups,
        )


def test_calibration_takes_few_looks():
    for low, high in ((1e-3, 1e9), (0.999, 1.0001), (1.0, 1.0 + 1e-15)):
        for edge in (0.99901, 1.0, 1.00005, 3e-3, 1e8, 123.4):
            tried: list[float] = []

            def step(x, tried=tried, edge=edge):
                """The hardest shape: no slope to go by."""
                tried.append(x)
                return -1.0 if x >= edge else math.inf

            if not low < edge <= high:
                continue
            x = calibration.safe_edge(step, low, high)
            assert x >= edge and len(tried) <= 60
            assert x == high or x <= edge * (1 + 1e-4)
    with pytest.raises(ValueError, match="change its sign"):
        calibration.safe_edge(lambda x: 1.0, 1.0, 1.0 + 1e-6)


def test_edges_of_functions_that_go_up_and_down():
    """Whatever the shape: met at x, missed close to it."""
    rng = np.random.default_rng(8)
    for _ in range(200):
        a, b, c = rng.uniform(1, 30, 3)

        def waves(x, a=a, b=b, c=c):
            up = 1.0 if math.sin(a * x) + math.sin(b * x + c) > 0.5 else -1.0
            return up * (1 + x) if 1.1 < x < 5 else 1.0 if x < 2 else -1.0

        x = calibration.safe_edge(waves, 1.0, 7.0)
        assert waves(x) <= 0
        near = x * np.exp([-6e-5, -3e-5, 3e-5, 6e-5])
        assert max(waves(y) for y in near) > 0


def test_more_integer_noise_may_be_worse():
    """delta(2), ten digits: it rises with sigma."""
    known = {
        0.5: 0.1047648441,
        0.55: 0.1319939879,
        0.6: 0.1491119882,
        0.65: 0.1532996244,
    }
    for sigma, value in known.items():
        # P is the noise, moved by 1: L(z) = (2z - 1)/(2 sigma^2)
        z = np.arange(-40, 42)
        noise = np.exp(-(z**2) / (2 * sigma**2))
        p, q = np.exp(-((z - 1) ** 2) / (2 * sigma**2)), noise
        total = noise.sum()
        exact = np.maximum(p - math.exp(2) * q, 0).sum() / total
        assert exact == pytest.approx(value, rel=1e-8)
        run = al.Release(al.DiscreteGaussian(sigma))
        assert al.delta(run, epsilon=2.0, **BOTH).contains(exact)


@pytest.mark.parametrize("wanted", [3.3, 3.45, 3.5, 5.2, 5.8, 6.2, 6.6, 7.0])
def test_calibration_where_more_noise_may_be_worse(wanted):
    """What is returned meets the target, and is at an edge."""
    aim: dict[str, Any] = {"delta": 1e-3, "adjacency": "remove"}
    x = al.calibrate_noise(
        epsilon=wanted,
        sampling=al.FullBatch(),
        count=1,
        mechanism=al.DiscreteGaussian,
        **aim,
    )
    near = [
        al.epsilon(al.Release(al.DiscreteGaussian(f * x)), **aim).upper
        for f in (1.0, 0.99990, 1.0001)
    ]
    assert near[0] <= wanted < max(near)


def test_calibrate_along_a_curve_that_is_not_monotone():
    """Both crossings are fine, and the hump between them is not."""
    aim: dict[str, Any] = {"delta": 1e-3, "adjacency": "remove"}

    def build(x):
        return al.Release(al.DiscreteGaussian(x))

    x = al.calibrate(build, low=0.45, high=1.0, epsilon=5.5, **aim)
    assert al.epsilon(build(x), **aim).upper <= 5.5
    # Both ends meet it, and the hump between them does not: an end.
    x = al.calibrate(build, low=0.54, high=1.0, epsilon=5.5, **aim)
    assert al.epsilon(build(x), **aim).upper <= 5.5
    assert x == 0.54


def test_target_that_is_met_exactly():
    """A plateau at the target: the end of it with less privacy."""

    def build(x):
        return al.Release(al.PureDP(0.5 if x < 3 else x))

    wanted = al.epsilon(build(1.0), delta=0.0, **BOTH).upper
    target: dict[str, Any] = {"epsilon": wanted, "delta": 0.0, **BOTH}
    x = al.calibrate(build, low=1.0, high=9.0, **target)
    assert 2.999 < x < 3


def test_calibrating_counts_and_rates():
    target: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, **SUB}

    def steps(x):
        return al.Release(al.Gaussian(2.0), al.Poisson(0.01), int(x))

    x = al.calibrate(steps, low=1, high=1e6, **target)

    def upper(run):
        return al.epsilon(run, delta=1e-6, **SUB).upper

    assert upper(steps(x)) <= 1.0 < upper(steps(1.002 * x + 1))

    def rates(x):
        return al.Release(al.Gaussian(2.0), al.Poisson(x), 1000)

    x = al.calibrate(rates, low=1e-6, high=1.0, **target)
    assert upper(rates(x)) <= 1.0 < upper(rates(1.002 * x))

    def scales(x):
        return [al.Release(al.Laplace(x)), al.Release(al.Laplace(2 * x))]

    x = al.calibrate(scales, low=0.1, high=100, epsilon=1.0, delta=0.0, **SUB)
    assert x == pytest.approx(3.0, rel=1.1e-3)

    def precision(x):  # the other way round
        return [al.Release(al.Laplace(1 / x)), al.Release(al.Laplace(2 / x))]

    y = al.calibrate(
        precision, low=0.01, high=10, epsilon=1.0, delta=0.0, **SUB
    )
    assert y == pytest.approx(1 / 3, rel=1.1e-3)
    assert x >= 3 * (1 - 1e-12) and y <= (1 + 1e-12) / 3


def test_calibration_at_the_ends():
    def noise(x):
        return al.Release(al.Gaussian(x))

    target: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, **BOTH}
    assert al.calibrate(noise, low=50, high=90, **target) == 50
    assert al.calibrate(lambda x: noise(1 / x), low=1e-3, high=0.01, **target)
    for build in (noise, lambda x: noise(1 / x)):
        with pytest.raises(ValueError, match="not met by any"):
            al.calibrate(build, low=0.5, high=1.5, **target)
    # the end itself is the answer, up to what an interval leaves open
    exact = al.calibrate_noise(sampling=al.FullBatch(), count=1, **target)
    x = al.calibrate(noise, low=1.0, high=1.0005 * exact, **target)
    assert x == pytest.approx(exact, rel=1e-3)
    x = al.calibrate(noise, low=1.0005 * exact, high=90.0, **target)
    assert x == pytest.approx(exact, rel=1e-3)


def test_noise_with_a_largest_value():
    """As discrete Gaussian noise has, at 10,000; 4^6 < 6000 < 4^7."""

    def mechanism(noise):
        if noise > 10_000:
            raise ValueError(f"noise must lie in (0, 10000], got {noise!r}")
        return al.Gaussian(noise)

    wanted = al.gaussian_epsilon(1e-6, mu=10 / 6000)
    x = al.calibrate_noise(
        epsilon=wanted,
        delta=1e-6,
        sampling=al.FullBatch(),
        count=100,
        adjacency="remove",
        mechanism=mechanism,
    )
    assert x == pytest.approx(6000, rel=5e-3)


def test_calibration_comes_to_an_end():
    """Intervals of three widths disagree about the safe end by 1e-9."""
    low, calls = 0.7873010845579747, 0

    def build(x):
        nonlocal calls
        calls += 1
        if calls > 300:
            raise AssertionError("the search does not end")
        coin = al.RandomizedResponse(x)
        return al.Release(coin, al.Poisson(0.039963611901298525), 2)

    target: dict[str, Any] = {
        "delta": 7.273375056337012e-05,
        "adjacency": "remove",
    }
    wanted = 0.203736557
    try:
        x = al.calibrate(build, low=low, high=0.9, epsilon=wanted, **target)
    except ValueError as error:
        assert "not met by any" in str(error)  # of every width
    else:
        calls = 0
        assert al.epsilon(build(x), **target).upper <= wanted
    calls = 0
    x = al.calibrate(build, low=0.6, high=low, epsilon=wanted, **target)
    assert al.epsilon(build(x), **target).upper <= wanted


def test_targets_near_the_ends_of_the_search():
    """Rough intervals miss the target at noise 4^7, narrow ones do not."""
    x = al.calibrate_noise(
        epsilon=0.01,
        delta=4.2803840489702345e-07,
        sampling=al.Poisson(0.5),
        count=10_000,
        adjacency="add",
    )
    assert x == pytest.approx(16384, rel=1e-2)


def test_targets_out_of_reach():
    for epsilon in (0.0, 1.0):
        with pytest.raises(ValueError, match="no noise"):
            al.calibrate_noise(
                epsilon=epsilon,
                delta=0.0,
                sampling=al.FullBatch(),
                count=1,
                **SUB,
            )
    with pytest.raises(ValueError, match="all noise"):
        al.calibrate_noise(
            epsilon=1.0,
            delta=1.0,
            sampling=al.FullBatch(),
            count=1,
            **SUB,
        )
