"""Bad calls of exchanged records, directions and calibrations."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.practice import no_worst_data
from accountlib.runs import one_call, rules
from accountlib.several import exchange, exchange_batches

SUB: dict[str, Any] = {"adjacency": "substitute"}


# --- bad input --------------------------------------------------------------


RUN = al.Release(al.Gaussian(1.0))
GOOD: dict[str, Any] = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "adjacency": "remove",
}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: exchange.ExchangedPair((0.0, -1.0), (0.5, 0.5)), "means"),
        (
            lambda: exchange.ExchangedPair((1.0, 0.5), (0.5, 0.5)),
            "means must incr",
        ),
        (
            lambda: exchange.ExchangedPair((1.0, 1.0), (0.5, 0.5)),
            "means must incr",
        ),
        (lambda: exchange.ExchangedPair((1.0,), (1.0,)), "means and weights"),
        (lambda: exchange.ExchangedPair((0.0, math.inf), (0.5, 0.5)), "means"),
        (lambda: exchange.ExchangedPair((0.0, math.nan), (0.5, 0.5)), "means"),
        (lambda: exchange.ExchangedPair((0.0, 1.0), (0.5, 0.4)), "weights"),
        (lambda: exchange.ExchangedPair((0.0, 1.0), (1.0, 0.0)), "weights"),
        (
            lambda: exchange.ExchangedPair((0.0, 1.0, 2.0), (0.5, 0.5)),
            "means and",
        ),
        (
            lambda: rules.exchanged_batch_pair(
                al.SampledPair(al.GaussianPair(1.0), 0.5), 0.5
            ),
            "pair must be symmetric",
        ),
        (
            lambda: rules.exchanged_batch_pair(al.GaussianPair(1.0), 1.5),
            "rate must lie in",
        ),
        (
            lambda: rules.exchanged_batch_pair(al.GaussianPair(1.0), 0.0),
            "rate must lie in",
        ),
        (
            lambda: rules.exchanged_batch_pair(
                "pair",
                0.5,
            ),
            "pair must be",
        ),
        (
            lambda: rules.poisson_exchange_pair(al.Laplace(1.0), 1.5, 1),
            "rate must lie in",
        ),
        (
            lambda: rules.poisson_exchange_pair(
                al.DiscreteLaplace(1.0), 1.5, 1
            ),
            "must lie in",
        ),
        (
            lambda: exchange_batches.MirroredPair(al.GaussianPair(1.0), 2.0),
            "center must lie in",
        ),
        (
            lambda: one_call.substitute_delta_bound(RUN, epsilon=-1.0),
            "epsilon must lie in",
        ),
        (
            lambda: one_call.substitute_delta_bound(RUN, epsilon=math.inf),
            "epsilon must lie in",
        ),
        (
            lambda: one_call.substitute_delta_bound(
                RUN, epsilon=1.0, splits=1
            ),
            "splits must lie in",
        ),
        (
            lambda: one_call.substitute_delta_bound([], epsilon=1.0),
            "releases must be",
        ),
        (
            lambda: al.calibrate(lambda x: RUN, low=0.0, high=1.0, **GOOD),
            "low must lie in",
        ),
        (
            lambda: al.calibrate(lambda x: RUN, low=2.0, high=1.0, **GOOD),
            "high must lie in",
        ),
        (
            lambda: al.calibrate(
                lambda x: RUN, low=2.0, high=math.inf, **GOOD
            ),
            "high must lie in",
        ),
        (
            lambda: al.calibrate(
                lambda x: RUN, low=1.0, high=2.0, **GOOD | {"epsilon": -1}
            ),
            "epsilon must lie in",
        ),
        (
            lambda: al.calibrate(
                lambda x: RUN, low=1.0, high=2.0, **GOOD | {"delta": 2}
            ),
            "delta must lie in",
        ),
        (
            lambda: al.calibrate(
                lambda x: RUN, low=1.0, high=2.0, **GOOD | {"adjacency": "x"}
            ),
            "adjacency must be",
        ),
        (
            lambda: al.calibrate(
                lambda x: RUN, low=1.0, high=2.0, group_size=0, **GOOD
            ),
            "group_size must",
        ),
        (
            lambda: al.calibrate_noise(
                sampling=al.FullBatch(), count=0, **GOOD
            ),
            "count must",
        ),
        (
            lambda: al.calibrate_noise(
                sampling=al.FullBatch(),
                count=1,
                **GOOD | {"epsilon": math.nan},
            ),
            "epsilon must",
        ),
        (
            lambda: al.calibrate_noise(
                sampling=al.FullBatch(), count=1, **GOOD | {"delta": -1e-9}
            ),
            "delta must lie in",
        ),
        (
            lambda: al.calibrate_noise(
                sampling="poisson",
                count=1,
                **GOOD,
            ),
            "sampling must be",
        ),
        (
            lambda: al.calibrate_noise(
                sampling=al.FullBatch(),
                count=1,
                mechanism="gaussian",
                **GOOD,
            ),
            "mechanism must be a function from noise to a mechanism",
        ),
        (
            lambda: al.calibrate_noise(
                sampling=al.FullBatch(),
                count=1,
                mechanism=lambda x: x,  # type: ignore[return-value]
                **GOOD,
            ),
            "mechanism must be a Mechanism",
        ),
        (
            lambda: al.calibrate_noise(
                sampling=al.FullBatch(),
                count=1,
                mechanism=lambda x: al.DiscreteGaussian(x, 10**7),
                **GOOD,
            ),
            "sensitivity must lie in",
        ),
        (
            lambda: al.calibrate_noise(
                sampling=al.FullBatch(), count=1, **GOOD | {"adjacency": "x"}
            ),
            "adjacency must be",
        ),
        (
            lambda: al.calibrate(
                RUN,
                low=1.0,
                high=2.0,
                **GOOD,
            ),
            "build must be a function from a number to releases",
        ),
        (
            lambda: no_worst_data.check_directions(RUN, points=1),
            "points must lie in",
        ),
        (
            lambda: no_worst_data.check_directions(RUN, width=0.5),
            "width must lie in",
        ),
        (
            lambda: no_worst_data.check_directions("run"),
            "release",
        ),
        (
            lambda: no_worst_data.check_directions(al.Release(al.PureDP(0.0))),
            "known not to be 0",
        ),
        (lambda: al.epsilon(RUN, delta=1e-6, adjacency="swap"), "adjacency"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_names_and_error_states():
    """Positional arguments are named; NumPy's error state does not matter."""
    calibrate: Any = al.calibrate_noise
    with pytest.raises(TypeError, match="epsilon=..., delta=..."):
        calibrate(1.0, 1e-6)
    bound: Any = one_call.substitute_delta_bound
    with pytest.raises(TypeError, match="name the others: epsilon="):
        bound(RUN, 1.0)
    build: Any = al.calibrate
    with pytest.raises(TypeError, match="name the others: low="):
        build(lambda x: RUN, 1.0)
    run = al.Release(al.Gaussian(0.8), al.Poisson(0.01), 100)
    target: dict[str, Any] = {"sampling": run.sampling, "count": 100, **GOOD}
    calm = (
        al.calibrate_noise(**target),
        no_worst_data.check_directions(run),
        one_call.substitute_delta_bound(run, epsilon=1.0),
    )
    with np.errstate(all="raise"):
        assert calm == (
            al.calibrate_noise(**target),
            no_worst_data.check_directions(run),
            one_call.substitute_delta_bound(run, epsilon=1.0),
        )


@pytest.mark.parametrize(
    ("mechanism", "sampling", "size"),
    [
        (al.Laplace(1.0), al.Poisson(0.5), 2),
        (al.PureDP(1.0), al.Poisson(0.5), 2),
        (al.Gaussian(1.0), al.FixedBatch(5, 10), 2),
        (al.DiscretePair((0.5, 0.5), (0.25, 0.75)), al.FullBatch(), 1),
        (al.DiscretePair((0.5, 0.5), (0.25, 0.75)), al.Poisson(0.5), 1),
        (al.MixtureOfGaussians([0, 1], [0.5, 0.5], 1), al.Poisson(0.5), 1),
    ],
)
def test_what_no_theorem_covers(mechanism, sampling, size):
    with pytest.raises(NotImplementedError, match="substitut"):
        al.dominating_pairs(
            mechanism, sampling=sampling, group_size=size, **SUB
        )
