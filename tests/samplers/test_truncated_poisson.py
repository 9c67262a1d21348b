"""The sampler `TruncatedPoisson` in the calls."""

import math

import pytest

import accountlib as al

CUT = al.TruncatedPoisson(0.1, 15, 100)


@pytest.mark.parametrize("side", ["remove", "add", "zero-out", "substitute"])
@pytest.mark.parametrize("mechanism", [al.Gaussian(1.0), al.Laplace(1.0)])
def test_the_sampler_for_all_neighbours(mechanism, side):
    """Between uncut samples of the same presence and a fixed batch."""
    run = al.Release(mechanism, CUT, 20)
    found = al.epsilon(run, delta=1e-4, adjacency=side)
    less, more = (
        al.epsilon(al.Release(mechanism, x, 20), delta=1e-4, adjacency=side)
        for x in (al.Poisson(0.099), al.FixedBatch(10, 100))
    )
    assert less.lower * 0.98 < found.lower <= found.upper < 1.01 * more.upper


def of_zeros(rate: float, largest: int, size: int, at: float) -> float:
    """delta of a step with noise 1 if all others are 0, from a plain sum."""
    present = 0.0
    for k in range(size):
        chance = rate**k * (1 - rate) ** (size - 1 - k)
        chance *= rate * math.comb(size - 1, k)
        present += chance * min(1, largest / (k + 1))
    inner = math.log1p(math.expm1(at) / present)
    return present * float(al.gaussian_delta(inner, mu=1.0))


def test_the_sampler_against_known_numbers():
    for args, at, removed, zeroed in (
        ((0.5, 2, 3), 1.0, 5.191001e-2, 3.078077e-2),
        ((0.1, 15, 100), 0.5, 3.760986e-3, 2.836567e-3),
        ((0.01, 20, 1000), 0.5, 2.218579e-6, 1.579098e-6),
        ((0.1, 100, 1000), 0.5, 1.607287e-2, 8.555706e-3),
        ((1.0, 15, 20), 0.5, 0.4331623, 0.1752489),
    ):
        run = al.Release(al.Gaussian(1.0), al.TruncatedPoisson(*args))
        for side, known in (("remove", removed), ("zero-out", zeroed)):
            found = al.delta(run, epsilon=at, adjacency=side)
            assert abs(found.upper / known - 1) < 2e-6
            if args[0] < 1:
                assert abs(found.lower / of_zeros(*args, at) - 1) < 2e-6
            else:  # a fixed batch, whose pair data reach
                assert abs(found.lower / known - 1) < 2e-6


def test_the_sampler_where_it_is_another_one():
    for cut, other in (
        (al.TruncatedPoisson(0.1, 100, 100), al.Poisson(0.1)),
        (al.TruncatedPoisson(1.0, 10, 100), al.FixedBatch(10, 100)),
        (al.TruncatedPoisson(1.0, 100, 100), al.FullBatch()),
        (al.TruncatedPoisson(0.0, 10, 100), al.Poisson(0.0)),
    ):
        for side in ("remove", "zero-out", "substitute"):
            one, same = (
                al.epsilon(
                    al.Release(al.Gaussian(2.0), x, 5),
                    delta=1e-5,
                    adjacency=side,
                )
                for x in (cut, other)
            )
            assert one == same


@pytest.mark.parametrize(
    "mechanism",
    [al.DiscreteLaplace(2.0), al.PureDP(1.0), al.Gaussian(1.0)],
)
def test_renyi_curves_of_a_sampler_that_is_another_one(mechanism):
    """Discrete Laplace noise once had the curve of a removed record."""
    for cut, other in (
        (al.TruncatedPoisson(1.0, 10, 100), al.FixedBatch(10, 100)),
        (al.TruncatedPoisson(0.1, 100, 100), al.Poisson(0.1)),
        (al.TruncatedPoisson(0.0, 10, 100), al.Poisson(0.0)),
        (al.RandomAllocation(1), al.FullBatch()),
    ):
        for side in ("remove", "add"):
            one, same = (
                al.rdp_curve(al.Release(mechanism, x), adjacency=side)
                for x in (cut, other)
            )
            for order in (1.0, 1.5, 3.0, 40.0):
                assert one(order) == same(order)


def test_a_refused_renyi_curve_names_the_sampler():
    for sampler in (
        al.TruncatedPoisson(0.1, 15, 100),
        al.RandomAllocation(10),
        al.FixedBatch(10, 100),
    ):
        run = al.Release(al.Gaussian(1.0), sampler)
        with pytest.raises(NotImplementedError) as refusal:
            al.rdp_curve(run, adjacency="zero-out")
        text = str(refusal.value)
        assert repr(sampler) in text and "'zero-out'" in text
        assert "Pair" not in text and len(text) < 200


def test_the_sampler_in_the_other_calls():
    run = al.Release(al.Gaussian(2.0), CUT, 50)
    fit = al.gdp(run, adjacency="add-or-remove")
    assert 0 < fit.mu_lower < fit.mu
    assert "then cuts" in str(al.report(run, adjacency="zero-out"))
    noise = al.calibrate_noise(
        epsilon=1.0, delta=1e-5, sampling=CUT, count=50, adjacency="remove"
    )
    run = al.Release(al.Gaussian(noise), CUT, 50)
    assert al.epsilon(run, delta=1e-5, adjacency="remove").upper <= 1


def test_what_the_sampler_refuses():
    own = al.DiscretePair((0.7, 0.3), (0.3, 0.7))
    with pytest.raises(NotImplementedError, match="of this book"):
        al.delta(al.Release(own, CUT), epsilon=1.0, adjacency="remove")
    run = al.Release(al.Gaussian(1.0), CUT)
    with pytest.raises(NotImplementedError, match="group_size=2"):
        al.delta(run, epsilon=1.0, adjacency="remove", group_size=2)
    for bad in ((1e-300, 5, 9), (1.5, 5, 9), (0.5, 0, 9), (0.5, 5, 2.5)):
        with pytest.raises(ValueError, match="rate|batch|size"):
            al.TruncatedPoisson(*bad)
