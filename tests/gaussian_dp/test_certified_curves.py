"""Certified curves: rounding, step by step."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from decimal import Inexact, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.engine import single_runs
from accountlib.gaussian_dp import certified_curves, one_number, report
from accountlib.gaussian_dp.attackers import polygon_corners
from accountlib.gaussian_dp.certified_curves import (
    Profile,
    both_signs,
    lower_kinks,
    missed_at,
)
from tests import truth
from tests.gaussian_dp.exact_runs import coin, hold_against_fractions
from tests.truth.tradeoffs import ExactCurve, mu_of

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}
SIDES = ("remove", "add", "add-or-remove")


# --- rounding, step by step -------------------------------------------------


@pytest.mark.parametrize(
    ("p", "count", "cutoff"),
    [(0.875, 20, 0.05), (1 - 2.0**-7, 20, 1e-10), (0.9375, 31, 1e-10)],
)
def test_no_test_has_both_error_rates(p, count, cutoff):
    """The definition asks for f(c), far below the cut-off."""
    exact, run = coin(p, 1.0, count)
    known = ExactCurve.of(exact, "remove").mu(cutoff)
    fit = al.gdp(run, cutoff=cutoff, **BOTH)
    assert known > mu_of(cutoff, cutoff)
    assert known * (1 - 2e-4) <= fit.mu_lower <= known
    assert known <= fit.mu <= known * (1 + 2e-4)


def test_no_test_has_both_error_rates_and_directions_differ():
    p, q = [1 - 2.0**-9, 2.0**-9], [2.0**-14, 1 - 2.0**-14]
    exact = truth.ExactPair.of(p, q).power(9)
    run = al.Release(al.DiscretePair(p, q), count=9)
    for adjacency in SIDES:
        hold_against_fractions(exact, run, adjacency, cutoff=1e-3)


def random_lines(rng):
    """Lines of a convex curve, some of them nearly or exactly on others."""
    count = int(rng.integers(3, 40))
    alpha = np.unique(
        np.exp(rng.normal(size=count) * 10.0 ** rng.integers(-3, 2))
    )
    alpha = np.append(alpha, alpha[-1] * (1 + rng.uniform(1e-12, 1)))
    mu = 10 ** rng.uniform(-1, 1)
    delta = al.gaussian_delta(np.log(alpha), mu=mu)
    if rng.random() < 0.5:  # straight pieces
        kinks = np.sort(rng.choice(len(alpha), 2, replace=False))
        delta = np.interp(alpha, alpha[kinks], delta[kinks])
    noise = 1 + rng.integers(-3, 4, len(alpha)) * 2.0**-52
    return alpha, np.minimum.accumulate(delta * noise)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(20))
def test_polygons_in_fractions(sign, seed):
    """Lemma "A polygon in floating point", with all lines."""
    rng = np.random.default_rng([49, seed])
    for _ in range(5):
        alpha, delta = random_lines(rng)
        delta = np.maximum(delta, 1e-280)  # no denormal numbers
        x, w, index = polygon_corners(alpha, delta, sign)
        assert np.all(np.diff(x) < 0) and len(index) == len(x) + 1
        lines = [
            (Fraction(d), Fraction(a))
            for a, d in zip(alpha.tolist(), delta.tolist(), strict=True)
        ]
        corners = [
            (Fraction(a), Fraction(b))
            for a, b in zip(x.tolist(), w.tolist(), strict=True)
        ]
        # Between its corners the polygon is straight, their minimum concave.
        if sign < 0:
            for a, b in corners:
                assert b <= min(d + slope * a for d, slope in lines)
        for (a, b), (c, e) in zip(corners, corners[1:], strict=False):
            for part in (0, Fraction(1, 3), Fraction(1, 2), 1):
                at, value = a + part * (c - a), b + part * (e - b)
                least = min(d + slope * at for d, slope in lines)
                assert (value - least) * sign >= 0
                assert abs(value - least) <= Fraction(1, 10**12) * least


@pytest.mark.parametrize("sign", [1, -1])
def test_missed_at_in_fractions(sign):
    rng = np.random.default_rng(59)
    for _ in range(300):
        lines, mirror = random_lines(rng), random_lines(rng)
        x = float(10 ** rng.uniform(-12, 0))
        found = missed_at(x, lines, mirror, sign)
        values = [
            (1 - Fraction(d) - Fraction(x) * (Fraction(a) if k == 0 else 1))
            / (1 if k == 0 else Fraction(a))
            for k, (alpha, delta) in enumerate((lines, mirror))
            for a, d in zip(alpha.tolist(), delta.tolist(), strict=True)
            if a >= 1
        ]
        known = max([Fraction(0), *values])
        assert (known - Fraction(found)) * sign >= 0
        assert abs(known - found) <= Fraction(1, 10**14)


def test_kinks_below_exact_curves():
    """With exact values the lower kinks are below the curve, everywhere."""
    rng = np.random.default_rng(69)
    for _ in range(40):
        size = int(rng.integers(2, 6))
        p, q = (truth.dyadic_distribution(rng, size) for _ in range(2))
        pair = truth.ExactPair.of(p, q)
        most = float(10 ** rng.uniform(-1, 1.3))
        at = np.append(0.0, np.sort(rng.uniform(0, most, 30)))
        profiles = []
        for one in (pair, pair.reversed()):
            ends = np.array([one.delta(e) for e in at.tolist()])
            lower = np.nextafter(ends[:, 0].astype(float), 0)
            upper = np.nextafter(ends[:, 1].astype(float), 1)
            profiles.append(Profile(at, lower, upper, 0.0))
        down, low, up, high = both_signs(*profiles)
        for a, b in zip(down.tolist(), low.tolist(), strict=True):
            assert Fraction(b) <= pair.delta_at(Fraction(a))
        for a, b in zip(up.tolist(), high.tolist(), strict=True):
            assert Fraction(b) >= pair.delta_at(Fraction(a))
        kinks = [
            (Fraction(a), Fraction(b))
            for a, b in zip(
                *map(np.ndarray.tolist, lower_kinks(*profiles)), strict=True
            )
        ]
        for (a, b), (c, d) in zip(kinks, kinks[1:], strict=False):
            for part in (0, Fraction(1, 2), Fraction(9, 10), 1):
                known = pair.delta_at(a + part * (c - a))
                assert b + part * (d - b) <= known
        assert kinks[-1][1] <= Fraction(
            pair.weights.get((1, 0), 0), pair.denominator
        )


def test_single_runs_in_many_small_intervals():
    """The error of a sum of masses is that of its parts, atoms included."""
    rng = np.random.default_rng(79)
    at = np.append(0.0, np.sort(rng.uniform(0, 8, 5000)))
    for noise, rate in ((0.5, 0.3), (2.0, 1e-3)):
        pair = al.SampledPair(al.GaussianPair(1 / noise), rate)
        lower, upper = single_runs.run_curve(pair, at)
        for k in range(0, len(at), 499):
            known = truth.sampled_gaussian_delta(float(at[k]), noise, rate)
            assert lower[k] <= known <= upper[k]
    rare = truth.ExactPair.of([0.75, 0.25], [0.25, 0.75]).poisson(2.0**-20)
    atom = math.log1p(2.0**-20 * 2)
    at = np.append(0.0, atom * (1 + np.arange(-9, 10) * 2.0**-52))
    pair = al.SampledPair(al.RandomizedResponse(0.75).pair(), 2.0**-20)
    lower, upper = single_runs.run_curve(pair, at)
    for e, low, high in zip(at.tolist(), lower, upper, strict=True):
        least, most = rare.delta(e)
        assert low <= most and high >= least


def test_answers_do_not_depend_on_the_surroundings():
    run = al.Release(al.Gaussian(0.9), al.Poisson(0.01), 50)
    options: dict[str, Any] = {"adjacency": "add-or-remove"}
    calls = [
        lambda: al.gdp(run, **options),
        lambda: al.gdp(run, **options).delta(3.0),
        lambda: al.tradeoff_curve(run, **options)(1e-9),
        lambda: al.tradeoff_curve(run, **options).delta(2.0),
        lambda: str(al.report(run, **options)),
        lambda: al.gaussian_tradeoff([0.0, 1e-300, 1.0], mu=50.0).tolist(),
        lambda: al.mu_from_pure_dp([0.0, 1e-320, 900.0]).tolist(),
        lambda: al.mu_from_epsilon_delta(700.0, delta=1e-300),
        lambda: al.dp_tradeoff(0.0, epsilon=900.0),
        lambda: one_number.renyi_tradeoff(0.0, order=2.0, rdp=1.0),
    ]
    plain = [call() for call in calls]
    with np.errstate(all="raise"):
        assert [call() for call in calls] == plain
    with localcontext() as context:
        context.prec = 2
        context.traps[Inexact] = True
        assert report.rounded(1.57031) == "1.571"
    asked: Any = al.gdp
    with pytest.raises(TypeError, match="adjacency="):
        asked(run, "add")


def test_profiles_are_read_only():
    at = np.array([0.0, 1.0])
    one = Profile(at, at, at, 0.0)
    at[0] = 5.0
    assert one.epsilon[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        one.upper[0] = 1.0


# --- to the last bit: small and exact ----------------------------------------


@pytest.mark.parametrize("mu", [1e-9, 1e-3, 0.2, 1.0, 4.0])
@pytest.mark.parametrize("last", [0.5, 2.0, 40.0])
def test_polygons_hold_beyond_their_last_epsilon(mu, last):
    at = np.linspace(0.0, last, 41)
    low, up = single_runs.run_curve(al.Gaussian(1 / mu).pair(), at)
    one = certified_curves.Profile(at, low, up, 0.0)
    alpha, delta = certified_curves.lower_kinks(one, one)
    epsilons = np.linspace(-2 * last - 3, 2 * last + 3, 1000)
    exact = al.gaussian_delta(epsilons, mu=mu)
    found = np.interp(np.exp(epsilons), alpha, delta)
    assert np.all(found <= exact * (1 + 1e-13))
    if last < 40:
        assert np.all((exact - found)[np.abs(epsilons) < last] < 0.05)


@pytest.mark.parametrize("sign", [1, -1])
def test_error_rates_of_lines_are_rounded_to_their_side(sign):
    random = np.random.default_rng(7)
    for _ in range(300):
        alpha = np.array([10.0 ** random.uniform(0, 2)])
        d, none = random.uniform(0, 0.9, 1), (np.ones(1), np.ones(1))
        part = 1 - 10.0 ** random.uniform(-13, -1)  # next to where it is 0
        x = float((1 - d[0]) / alpha[0] * part)
        found = certified_curves.missed_at(x, (alpha, d), none, sign)
        exact = 1 - Fraction(d[0]) - Fraction(alpha[0]) * Fraction(x)
        assert 0 <= sign * (exact - Fraction(found)) < Fraction(1e-14)
