"""Random runs, and runs of many steps, against independent truths."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import accountlib as al
from tests import truth
from tests.gaussian_dp.exact_runs import (
    both_curves,
    hold_against_fractions,
    integer_pair,
    profiles_once,
)
from tests.truth.tradeoffs import SampledStep, normal, quantile

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}
SIDES = ("remove", "add", "add-or-remove")
NAN, INF = math.nan, math.inf


# --- many steps -------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "rate", "count"),
    [(1.0, 0.01, 200), (4.0, 0.3, 50), (0.7, 0.002, 1000)],
)
@pytest.mark.parametrize("adjacency", ["remove", "add"])
def test_delta_of_many_steps_by_contours(noise, rate, count, adjacency):
    """A lower curve is valid exactly if its delta is never too small."""
    run = al.Release(al.Gaussian(noise), al.Poisson(rate), count=count)
    lower, upper = both_curves(run, adjacency=adjacency)
    fit = al.gdp(run, adjacency=adjacency)
    for epsilon in (0.05, 0.5, 1.5):
        low, high = truth.contour_delta_range(
            epsilon, [(noise, rate, count)], direction=adjacency
        )
        assert lower.delta(epsilon) >= low - 1e-15
        assert upper.delta(epsilon) <= high + 1e-15
        assert lower.delta(epsilon) <= high * (1 + 1e-2) + 1e-12
        shown = al.gaussian_delta(epsilon, mu=fit.mu) - high
        assert fit.regret >= shown / (1 + math.exp(epsilon))
        assert fit.delta(epsilon) >= low


def test_gaussians_add_up_exactly():
    run = [
        al.Release(al.Gaussian(2.0), count=3),
        al.Release(al.Gaussian(4.0), al.Poisson(1.0), count=4),
    ]
    for adjacency in SIDES:
        fit = al.gdp(run, adjacency=adjacency)
        assert fit.mu_lower <= 1.0 <= fit.mu <= 1.0 + 1e-14
        assert fit.exact and fit.regret <= 1e-14
        lower, upper = both_curves(run, adjacency=adjacency)
        x = np.geomspace(1e-12, 1, 200)
        exact = al.gaussian_tradeoff(x, mu=1.0)
        assert np.all(lower(x) <= exact * (1 + 1e-12))
        assert np.all(upper(x) >= exact * (1 - 1e-12))


@pytest.mark.parametrize("mu", [0.01, 1.0, 6.0, 1000.0])
def test_where_both_error_rates_are_equal(mu):
    run = al.Release(al.Gaussian(1 / mu))
    lower, upper = both_curves(run, **BOTH)
    known = 0.5 * math.erfc(mu / 2 / math.sqrt(2))
    assert lower.equal_error_rate <= known * (1 + 1e-12)
    assert upper.equal_error_rate >= known * (1 - 1e-12)


def test_groups_and_fixed_batches():
    """Noise sigma/2 for a group of 2, and for an exchanged record."""
    run = al.Release(al.Gaussian(2.0), count=3)
    fit = al.gdp(run, group_size=2, **BOTH)
    assert fit.mu == pytest.approx(math.sqrt(3), rel=1e-12)
    batch = al.Release(al.Gaussian(4.0), al.FixedBatch(5, 20), count=30)
    poisson = al.Release(al.Gaussian(2.0), al.Poisson(0.25), count=30)
    assert al.gdp(batch, **BOTH) == al.gdp(poisson, **BOTH)


@pytest.mark.parametrize("adjacency", SIDES)
def test_regret_of_a_billion_steps(adjacency):
    """Close to the Gaussian limit, whichever direction is asked."""
    run = al.Release(al.Gaussian(1.0), al.Poisson(1e-6), count=10**9)
    fit = al.gdp(run, adjacency=adjacency)
    assert fit.mu_lower >= 0.0414 and fit.mu <= 0.0416
    assert fit.regret <= 1e-4


# --- random runs ------------------------------------------------------------


def random_run(rng):
    """A release, or two of different kinds."""
    run = []
    parts = int(rng.choice([1, 1, 1, 2]))
    for _ in range(parts):
        scale = float(10 ** rng.uniform(-0.2, 1))
        mechanism = [
            al.Gaussian(scale),
            al.Gaussian(scale),
            al.Gaussian(scale),
            al.Laplace(scale),
            al.RandomizedResponse(float(rng.uniform(0.2, 0.9))),
            al.PureDP(1 / scale),
            al.ApproximateDP(1 / scale, float(10 ** rng.uniform(-9, -3))),
            al.DiscreteGaussian(scale, int(rng.integers(1, 3))),
            al.DiscreteLaplace(scale, int(rng.integers(1, 4))),
        ][rng.integers(9)]
        sampling = [
            al.FullBatch(),
            al.Poisson(float(rng.uniform())),
            al.Poisson(float(10 ** rng.uniform(-4, 0))),
            al.FixedBatch(10, int(rng.integers(20, 1000))),
        ][rng.integers(4)]
        alone = parts == 1 and isinstance(mechanism, al.Gaussian)
        most = rng.choice([0.0, 2.0 if alone else 1.0])
        count = int(10 ** rng.uniform(0, most))
        run.append(al.Release(mechanism, sampling, count))
    return run


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("seed", range(50))
@profiles_once()
def test_500_random_runs(seed):
    """Ten of each seed."""
    rng = np.random.default_rng(1000 + seed)
    for _ in range(10):
        run = random_run(rng)
        cutoff = float(rng.choice([1e-10, 1e-10, 1e-6, 1e-3]))
        options: dict[str, Any] = {
            "adjacency": str(rng.choice(SIDES)),
            "cutoff": cutoff,
            "relative_width": 1e-2,
        }
        fit = al.gdp(run, **options)
        lower, upper = both_curves(run, **options)
        x = np.append(np.geomspace(cutoff, 0.3, 50), np.linspace(0.3, 1, 40))
        assert np.all(lower(x) <= upper(x) + 2e-15), run
        assert 0 <= fit.mu_lower <= fit.mu and 0 <= fit.regret <= 1, run
        inside = x[lower(x) >= cutoff]
        if fit.mu < INF:
            promised = al.gaussian_tradeoff(inside, mu=fit.mu)
            room = 1e-13
            if lower.mu is not None:  # rounded down by its stated error
                room = 1.1e-12 * promised
            assert np.all(promised <= lower(inside) + room), run
        epsilon = float(rng.choice([0.0, 0.1, 0.5, 1.0, 3.0]))
        bound = al.delta(run, epsilon=epsilon, adjacency=options["adjacency"])
        assert lower.delta(epsilon) >= bound.lower - 1e-15, run
        assert upper.delta(epsilon) <= bound.upper + 1e-15, run
        assert fit.delta(epsilon) >= bound.lower - 1e-15, run


# --- random runs against independent truths ---------------------------------


def random_coins(rng):
    """Discrete pairs and coins in fractions, also of strong attackers."""
    parts: list[Any] = []
    run: list[Any] = []
    for _ in range(int(rng.choice([1, 1, 1, 2]))):
        rate = float(rng.choice([1.0, 1.0, 0.5, 0.125, 2.0**-10]))
        kind = rng.integers(3)
        mechanism: Any
        if kind == 0:
            size, bits = int(rng.integers(2, 4)), int(rng.choice([2, 4, 8]))
            p, q = (
                truth.dyadic_distribution(rng, size, bits=bits)
                for _ in range(2)
            )
            count, mechanism = (
                int(rng.choice([1, 1, 2])),
                al.DiscretePair(p, q),
            )
        else:
            bits = int(rng.integers(2, 8 if kind == 1 else 25))
            rare = int(rng.integers(1, 4)) / 2.0 ** (bits + 1)
            p, q = [1 - rare, rare], [rare, 1 - rare]
            mechanism = al.RandomizedResponse(1 - rare)
            count = int(rng.choice([1, 5, 20]))
        exact = truth.ExactPair.of(p, q).poisson(rate)
        if parts:
            count = 1
        parts.append((exact, count))
        run.append(al.Release(mechanism, al.Poisson(rate), count))
    return truth.compose_exact(parts), run, 1


def random_integers(rng):
    """Noise on the integers, for one record or two; tails beyond 1e-130."""
    kind = [al.DiscreteGaussian, al.DiscreteLaplace][rng.integers(2)]
    size, shift = float(rng.choice([0.3, 0.5, 0.8])), int(rng.integers(1, 4))
    group = int(rng.choice([1, 1, 2]))
    rate = float(rng.choice([1.0, 0.5])) if group == 1 else 1.0
    scale, laws = 10**150, []
    with mp.workdps(200):  # what is missing from 1 is added to one outcome
        p, q = integer_pair(kind(size, group * shift))
        for law, other in ((p, q), (q, p)):
            whole = [
                Fraction(int(a * scale), scale)
                for a, b in zip(law, other, strict=True)
                if max(a, b) > mp.mpf(10) ** -130
            ]
            whole[len(whole) // 2] += 1 - sum(whole)
            laws.append(whole)
    exact = truth.ExactPair.of(*laws).poisson(rate)
    run = [al.Release(kind(size, shift), al.Poisson(rate))]
    return exact, run, group


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("family", [random_coins, random_integers])
def test_random_runs_in_fractions(family, seed):
    """Every rate, delta and mu is on its side, exactly.

    240 settings.
    """
    rng = np.random.default_rng([9, seed])
    for _ in range(4 if family is random_coins else 2):
        exact, run, group = family(rng)
        adjacency = str(rng.choice(SIDES))
        if len(exact.weights) > 200:
            continue
        hold_against_fractions(
            exact,
            run,
            adjacency,
            group_size=group,
            cutoff=float(rng.choice([0.1, 0.03, 1e-3, 1e-10, 1e-30])),
            relative_width=float(rng.choice([1e-2, 1e-3])),
        )


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("seed", range(24))
@profiles_once()
def test_random_sampled_gaussian_steps(seed):
    """Poisson or fixed batches, in closed form: the curve at its tests."""
    rng = np.random.default_rng([19, seed])
    noise, rate = 10 ** rng.uniform(-0.4, 0.8), 10 ** rng.uniform(-3, -0.05)
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    with mp.workdps(50):
        step = SampledStep(noise, rate)
        if seed % 2:  # an exchange within the batch: the distance is doubled
            size = int(rng.integers(5, 3000))
            batch = int(rng.integers(1, size - 1))
            sampling = al.FixedBatch(batch, size)
            run = al.Release(al.Gaussian(noise), sampling)
            step = SampledStep(mp.mpf(noise) / 2, mp.mpf(batch) / size)
    side = str(rng.choice(["remove", "add"]))
    options: dict[str, Any] = {
        "adjacency": side,
        "cutoff": float(rng.choice([0.1, 1e-3, 1e-10, 1e-30])),
        "relative_width": float(rng.choice([1e-2, 1e-3, 1e-4])),
    }
    fit = al.gdp(run, **options)
    lower, upper = both_curves(run, **options)
    with mp.workdps(80):
        known = step.mu(options["cutoff"])
        room = mp.mpf(10) ** -9  # of the golden section
        assert fit.mu_lower <= known * (1 + room) + mp.mpf(10) ** -25
        assert known <= fit.mu
        for z in [*rng.normal(size=6).tolist(), *rng.uniform(-8, 12, 4)]:
            near = [step.errors(z + k * mp.mpf(10) ** -14) for k in (1, -1)]
            if side == "add":
                near = [errors[::-1] for errors in near[::-1]]
            (x, y), (more_x, less_y) = near
            place = float((x + more_x) / 2)
            if x <= place <= more_x and 0 < place < 1:
                assert lower(place) <= y, z
                assert upper(place) >= less_y, z


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("seed", range(20))
@profiles_once()
def test_random_sampled_gaussian_runs(seed):
    """Runs and lists of many steps against the contour integral."""
    rng = np.random.default_rng([29, seed])
    parts = [
        (
            float(10 ** rng.uniform(-0.3, 0.9)),
            float(10 ** rng.uniform(-3, 0)),
            int(10 ** rng.uniform(0, 2.5)),
        )
        for _ in range(int(rng.choice([1, 2])))
    ]
    run = [al.Release(al.Gaussian(s), al.Poisson(q), n) for s, q, n in parts]
    side = str(rng.choice(["remove", "add"]))
    options: dict[str, Any] = {"adjacency": side, "relative_width": 1e-2}
    fit = al.gdp(run, **options)
    lower, upper = both_curves(run, **options)
    for epsilon in [0.05, *rng.uniform(0.1, 4, 2).tolist()]:
        try:
            low, high = truth.contour_delta_range(
                epsilon, parts, direction=side
            )
        except ArithmeticError:  # the contour does not settle
            continue
        assert lower.delta(epsilon) >= low
        assert upper.delta(epsilon) <= high
        assert fit.delta(epsilon) >= low
        shown = al.gaussian_delta(epsilon, mu=fit.mu) if fit.mu < INF else 1
        assert fit.regret >= (shown - high) / (1 + math.exp(epsilon))


@pytest.mark.parametrize("seed", range(20))
@profiles_once()
def test_random_unsampled_noise(seed):
    """Gaussians of any size, groups, exchanges; and Laplace noise."""
    rng = np.random.default_rng([39, seed])
    parts = [
        (float(10 ** rng.uniform(-3, 4)), int(10 ** rng.uniform(0, 12)))
        for _ in range(int(rng.integers(1, 4)))
    ]
    run = [al.Release(al.Gaussian(s), count=n) for s, n in parts]
    group, side = int(rng.integers(1, 5)), rng.choice([*SIDES, "substitute"])
    options: dict[str, Any] = {"adjacency": str(side), "group_size": group}
    fit = al.gdp(run, **options)
    lower, upper = both_curves(run, **options)
    with mp.workdps(50):
        known = mp.sqrt(mp.fsum(n / mp.mpf(s) ** 2 for s, n in parts))
        known *= group * (2 if side == "substitute" else 1)
        assert fit.mu_lower <= known <= fit.mu
        for x in 10 ** rng.uniform(-30, 0, 6):
            y = normal(-quantile(x) - known)
            assert lower(float(x)) <= y <= upper(float(x))
    scale = float(10 ** rng.uniform(-0.3, 1))
    noise = al.Release(al.Laplace(scale))
    lower, upper = both_curves(noise, **BOTH)
    with mp.workdps(50):
        for x in 10 ** rng.uniform(-9, 0, 8):
            factor = mp.exp(1 / mp.mpf(scale))
            y = max(0, 1 - factor * x, (1 - mp.mpf(x)) / factor)
            if 1 / (2 * factor) <= x <= 0.5:
                y = 1 / (4 * factor * x)
            assert lower(float(x)) <= y <= upper(float(x))
