"""Runs whose trade-off functions are exact."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from contextlib import contextmanager
from fractions import Fraction
from typing import Any
from unittest import mock

import mpmath as mp
import numpy as np

import accountlib as al
from accountlib.gaussian_dp import certified_curves, regret
from tests import truth
from tests.truth.tradeoffs import ExactCurve, exp_fraction

NAN, INF = math.nan, math.inf


# --- published numbers ------------------------------------------------------


@contextmanager
def profiles_once():
    """gdp and both curves of a run read the same profiles: found once."""
    find = certified_curves.run_profiles
    last: list[Any] = []

    def remembered(*asked):
        if not last or last[0] != asked:
            last[:] = asked, find(*asked)
        return last[1]

    with (
        mock.patch.object(certified_curves, "run_profiles", remembered),
        mock.patch.object(regret, "run_profiles", remembered),
    ):
        yield


@profiles_once()
def both_curves(run, **options):
    lower, upper = (
        al.tradeoff_curve(run, bound=side, **options)
        for side in ("lower", "upper")
    )
    return lower, upper


# --- exact fractions --------------------------------------------------------


def coin(p: float, rate: float = 1.0, count: int = 1):
    """Randomized response, exactly and as a release."""
    truthful = Fraction(p)
    pair = truth.ExactPair.of(
        [truthful, 1 - truthful], [1 - truthful, truthful]
    )
    release = al.Release(al.RandomizedResponse(p), al.Poisson(rate), count)
    return pair.poisson(rate).power(count), release


@profiles_once()
def hold_against_fractions(exact, run, adjacency, narrow=None, **options):
    """mu, regret and both curves are on the safe side (and narrow)."""
    curve = ExactCurve.of(exact, adjacency)
    fit = al.gdp(run, adjacency=adjacency, **options)
    known = curve.mu(fit.cutoff)
    assert fit.mu_lower <= known <= fit.mu
    if fit.mu < INF:
        assert fit.regret >= curve.regret(fit.mu)
    if narrow is not None:
        assert fit.mu - fit.mu_lower <= narrow * fit.mu
        assert fit.regret <= curve.regret(fit.mu) + 10 * narrow
    lower, upper = both_curves(run, adjacency=adjacency, **options)
    places = {float(x) for x, _ in curve.corners} | {
        0.0,
        1e-12,
        1e-9,
        1e-6,
        *np.linspace(0, 1, 33).tolist(),
    }
    for x in places:
        assert lower(x) <= curve(x), x
        assert upper(x) >= curve(x), x
    for epsilon in (-3.0, -0.5, 0.0, 0.25, 2.0):
        low, high = exp_fraction(epsilon)
        assert lower.delta(epsilon) >= curve.delta_at(high), epsilon
        assert upper.delta(epsilon) <= curve.delta_at(low), epsilon


# --- noise on the integers --------------------------------------------------


def integer_pair(mechanism):
    """P and Q by definition: sums over all places with any mass."""
    shift = mechanism.sensitivity
    if isinstance(mechanism, al.DiscreteGaussian):
        size = mp.mpf(mechanism.sigma)
        reach = math.ceil(40 * mechanism.sigma)

        def weight(z):
            return mp.exp(-mp.mpf(z * z) / (2 * size**2))
    else:
        size = mp.mpf(mechanism.scale)
        reach = math.ceil(110 * mechanism.scale)

        def weight(z):
            return mp.exp(-abs(z) / size)

    places = range(-reach, reach + shift + 1)
    total = mp.fsum(weight(z) for z in places)
    q = [weight(z) / total for z in places]
    p = [weight(z - shift) / total for z in places]
    return p, q
