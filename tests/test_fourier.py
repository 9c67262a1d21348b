"""No choice of a Part makes a bound wrong; tables lie on their sides."""

import math

import numpy as np
import pytest
from flint import arb, ctx

from accountlib.cells import (
    Table,
)
from accountlib.fourier import Part
from accountlib.rounding import spectrum
from tests.exact_sums import (
    PRECISION,
    delta,
    good_part,
    outcomes,
    random_part,
    random_tables,
    violates,
)
from tests.truth import binomial_curve


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(PRECISION), np.errstate(all="ignore"):
        yield


def ball(x):
    return arb(float(x))


def ends(tables, part, epsilon):
    at = np.array(float(epsilon))
    return [float(spectrum(tables, part, up)(at)) for up in (False, True)]


# --- any choice is valid -----------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_no_part_makes_a_bound_wrong(seed):
    rng = np.random.default_rng([seed, 10])
    for _ in range(7):
        tables = random_tables(rng, 400)
        part, e = random_part(rng, tables)
        totals = outcomes(tables, part)
        atom = float(rng.choice([float(x.mid()) for x, _ in totals]))
        for at in (e, e + 0.3 / part.tilt, atom, np.nextafter(atom, 9e99)):
            found = ends(tables, part, at)
            truth = delta(totals, at)
            assert not violates(*found, truth), (tables, part, at, found)


@pytest.mark.parametrize("count", [10**3, 10**6, 10**9])
def test_two_losses_many_times(count):
    rng, narrow = np.random.default_rng(count), 0
    for turn in range(6):
        if turn % 3 == 0:  # a rare large loss
            loss = np.array([-1e-9, float(rng.uniform(0.1, 3))])
            far = math.log(rng.uniform(0.01, 5) / count)
            log_m = np.array([math.log1p(-math.exp(far)), far])
        else:  # randomized response
            loss = np.array([-1.0, 1.0]) * rng.uniform(0.1, 3) / count**0.5
            log_m = -np.logaddexp(0, -loss)
        table = Table(loss, log_m, 0.0, count)
        part, e = good_part(rng, [table])
        e = max(e, 1e-6)
        lower, upper = ends([table], part, e)
        logs = zip(map(ball, log_m), map(ball, loss), strict=True)
        both = [(m.exp(), (m - x).exp()) for m, x in logs]
        truth = binomial_curve(both, count, ball(e).exp(), {})
        assert not violates(lower, upper, truth), (table, part, e)
        narrow += lower > 0.9 * upper
    assert narrow >= 3


def test_a_scale_that_vanishes():
    """e^(scale) underflows, the sum is e^414: their product is no nothing."""
    table = Table(
        np.array([-4.88510152, 173.2895381]),
        np.array([-6.55633766, -12.33326946]),
        0.0,
        40,
    )
    part = Part("far", -0.3, 0.0905, 8249.3, 0.017, 4000, 0.026, 0.17)
    truth = delta(outcomes([table], part), 5716.5)
    assert 1e-194 < truth < 1e-192
    assert not violates(*ends([table], part, 5716.5), truth)


def test_orders_on_both_sides():
    table = Table(np.array([0.0]), np.array([0.0]), 0.0, 1)
    for below, above in ((0.5, 0.9), (1.0, 2.0), (1.1, 2.0)):
        part = Part("all", 0.0, 1.0, 9.0, 0.1, 9, below, above)
        with pytest.raises(ArithmeticError, match="both sides"):
            spectrum([table], part, False)


def test_nan_says_nothing():
    table = Table(np.array([0.0, 1.0]), np.log([0.5, 0.5]), 0.0, 2)
    for bad in ({"period": math.nan}, {"variance": math.nan}):
        choice = {"period": 9.0, "variance": 0.1} | bad
        part = Part("all", 0.0, 1.0, last=9, below=0.5, above=2.0, **choice)
        lower, upper = ends([table], part, 0.5)
        assert lower == 0 and upper > 0.2


# --- tables ------------------------------------------------------------------


def test_nan_is_no_mass():
    fine = np.zeros(1)
    for loss, log_m, infinite in (
        (fine + np.nan, fine, 0.0),
        (fine, fine + np.nan, 0.0),
        (fine, fine, math.nan),
        (fine + np.inf, fine, 0.0),
    ):
        with pytest.raises(ArithmeticError):
            Table(loss, log_m, infinite, 1)
