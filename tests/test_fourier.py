"""No choice of a Part makes a bound wrong; tables lie on their sides."""

import math

import numpy as np
import pytest
from flint import acb, arb, ctx

from accountlib.cells import (
    Cells,
    Table,
    optimistic_table,
    pessimistic_table,
)
from accountlib.checks import UNIT
from accountlib.fourier import Part, kernel, log_peak, transform
from accountlib.rounding import spectrum
from tests.exact_sums import (
    PRECISION,
    delta,
    good_part,
    outcomes,
    random_part,
    random_tables,
    two_losses,
    violates,
)


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
        part, e = good_part(rng, [table], "all", 0.0)
        e = max(e, 1e-6)
        lower, upper = ends([table], part, e)
        truth = two_losses(table, e)
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


def test_infinite_ends():
    inf = math.inf
    rows = [
        (-inf, math.log(0.3), 0.0, -inf, 0.0, -inf, -inf),
        (math.log(0.5), math.log(0.6), 0.0, -0.2, 0.0, -inf, 0.5),
        (math.log(0.3), math.log(0.1), 0.0, 1.0, 0.0, 0.5, inf),
        (math.log(0.2), -inf, 0.0, inf, 0.0, inf, inf),
    ]
    cells = Cells(*np.array(rows).T)
    kept = np.full(4, True)
    high, low = (
        pessimistic_table(cells, 1, kept),
        optimistic_table(cells, 1, kept),
    )
    share = 0.3 * (1 - math.exp(0.5 - 1.0))  # of the third cell
    assert high.infinite == pytest.approx(0.2 + share, rel=1e-12)
    assert high.loss == pytest.approx([0.5])
    assert np.exp(high.log_mass) == pytest.approx([0.8 - share])
    assert low.infinite == pytest.approx(0.2, rel=1e-12)
    assert low.loss == pytest.approx([-0.2, 1.0])


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


# --- the parts of the sum ----------------------------------------------------


@pytest.mark.parametrize("last", [1, 3, 63, 64, 700, 4096])
def test_the_transform_and_its_error(last):
    rng = np.random.default_rng(last)
    for reach in (1.0, 1e4, 1e9):
        x = rng.normal(size=5) * reach
        m = rng.dirichlet(np.ones(5), 2)
        part = Part("all", 0.0, 1.0, 20.0, 0.1, last, 0.5, 2.0)
        found = transform(m, x, part)
        assert found.shape == (2, last + 1)
        for k in {1, last // 2, last, int(rng.integers(last + 1))}:
            theta = ball(2 * math.pi / part.period) * k
            wide = 4 * UNIT * (len(x) + 64) * part.theta[k]
            for row, value in zip(m, found[:, k], strict=True):
                exact = sum(
                    (
                        ball(w) * (acb(0, theta * ball(y)).exp() - 1)
                        for w, y in zip(row, x, strict=True)
                    ),
                    acb(0),
                )
                error = abs(acb(value.real, value.imag) - exact)
                assert error <= ball(0.5 * wide * (row @ np.abs(x)))


def test_weights():
    rng = np.random.default_rng(15)
    for _ in range(20):
        tilt, v = 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-5, 0)
        part = Part("all", 0.0, tilt, 7.0, v, 9, tilt / 2, 2 * tilt)
        for up in (False, True):
            weights, sizes = kernel(part, up)
            for k in range(10):
                z, u = acb(tilt, 2 * math.pi / 7.0 * k), ball(v)
                kappa = (u / 8).sqrt().erf() * (2 * arb.pi() * u).sqrt()
                kappa *= 0 if up else (u / 8).exp()
                exact = (1 / (z * (z + 1)) - kappa) * 2 / 7
                exact *= (u * z * (z + 1) / 2).exp() / (1 if k else 2)
                error = abs(acb(weights[k].real, weights[k].imag) - exact)
                wide = (
                    64 + 8 * abs(complex(z.real.mid(), z.imag.mid())) ** 2 * v
                )
                assert error <= ball(wide * 2 * UNIT * sizes[k])


@pytest.mark.parametrize("order", [1e-6, 0.3, 1.0, 40.0, 1e12])
def test_the_peak_is_attained(order):
    x = ball(1 / order).log1p()
    most = (-ball(order) * x).exp() * (1 - (-x).exp())
    found = float(log_peak(np.array(order)))
    assert found == pytest.approx(float(most.log()), rel=1e-12)
