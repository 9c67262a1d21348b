"""Renyi curves of whole runs."""

import math

import numpy as np
import pytest
from flint import arb, ctx

import accountlib as al
from accountlib.renyi import discrete_rdp
from tests.integrals import (
    CURVES,
    DIGITS,
    above,
    bracket,
    close,
    divergence,
    random_step,
)


@pytest.mark.parametrize(
    ("size", "rate", "order"),
    [(64, 1e-4, 1.2), (64, 1e-8, 3.0)],
)
def test_rare_sums_that_no_float_shows_count_for_orders(size, rate, order):
    """All members at once: the last term of the moment is a lower bound."""
    run = al.Release(al.Gaussian(1.0), al.Poisson(rate))
    curve = al.rdp_curve(run, adjacency="remove", group_size=size)
    whole = al.rdp_curve(
        al.Release(al.Gaussian(1.0)), adjacency="remove", group_size=size
    )
    rare = order / (order - 1) * size * math.log(rate)
    assert whole(order) + rare <= curve(order) <= whole(order)
    bound = al.delta(run, epsilon=1.0, adjacency="remove", group_size=size)
    assert bound.lower <= bound.upper < size * rate * 1.001


def random_run(rng):
    noise = float(np.exp(rng.uniform(np.log(0.4), np.log(20))))
    weights = rng.dirichlet(np.ones(6)).round(3) + 1e-3
    p, q = weights[:3] / weights[:3].sum(), weights[3:] / weights[3:].sum()
    mechanism = (
        al.Gaussian(noise),
        al.Laplace(noise),
        al.RandomizedResponse(float(rng.uniform(0.05, 0.95))),
        al.PureDP(1 / noise),
        al.DiscretePair(tuple(p), tuple(q)),
    )[int(rng.integers(5))]
    rate = float(np.exp(rng.uniform(np.log(1e-5), 0)))
    sampling = (
        al.FullBatch(),
        al.Poisson(rate),
        al.FixedBatch(int(rng.integers(1, 99)), 100),
    )[int(rng.choice(3, p=[0.2, 0.6, 0.2]))]
    if isinstance(mechanism, al.DiscretePair) and not isinstance(
        sampling, al.Poisson
    ):
        sampling = al.FullBatch()
    count = int(np.exp(rng.uniform(0, np.log(3000))))
    return al.Release(mechanism, sampling, count=count)


def test_epsilon_is_never_below_the_certified_lower_end():
    rng = np.random.default_rng(300)
    for _ in range(60):
        runs = [random_run(rng) for _ in range(int(rng.integers(1, 3)))]
        delta = float(10 ** rng.uniform(-60, -1))
        adjacency = ("remove", "add", "add-or-remove")[int(rng.integers(3))]
        curve = al.rdp_curve(runs, adjacency=adjacency)
        promised = al.epsilon_from_rdp(curve, delta=delta)
        proven = al.epsilon(
            runs, delta=delta, adjacency=adjacency, relative_width=1e-2
        )
        assert promised >= proven.lower * (1 - 1e-12), (runs, delta)


def test_curves_of_runs_add_up():
    one = al.Release(al.Gaussian(2.0), al.Poisson(0.1), count=7)
    two = al.Release(al.Laplace(3.0), count=2)
    curves = [
        al.rdp_curve(runs, adjacency="add-or-remove")(np.array([2.0, 9.0]))
        for runs in (one, two, [one, two])
    ]
    assert np.allclose(curves[0] + curves[1], curves[2], rtol=1e-14)
    none = al.Release(al.Gaussian(1.0), al.Poisson(0.0))
    assert al.rdp_curve(none, adjacency="remove")(5.0) == 0


def test_add_and_remove_of_an_asymmetric_pair():
    pair = al.DiscretePair((0.5, 0.25, 0.25), (0.1, 0.1, 0.8))
    run = al.Release(pair, al.Poisson(0.3))
    remove, add, both = (
        al.rdp_curve(run, adjacency=a)(3.0)
        for a in ("remove", "add", "add-or-remove")
    )
    p, q = np.array(pair.p), np.array(pair.q)
    mixed = 0.3 * p + 0.7 * q
    assert close(remove, discrete_rdp(3, p=mixed, q=q))
    assert close(add, discrete_rdp(3, p=q, q=mixed))
    assert both == max(remove, add) and remove != add


BOTH = "add-or-remove"


def exact_integers(order, sigma, shift, rate, add):
    with ctx.workdps(DIGITS):
        a, g, s = arb(order), arb(rate), arb(sigma)

        def weight(j):
            return (-(arb(j) ** 2) / (2 * s * s)).exp()

        reach = math.ceil(17 * sigma)
        total = sum(weight(j) for j in range(-reach, reach))
        found = arb(0)
        far = math.ceil(17 * sigma + order * shift) + shift
        for j in range(-far if add and rate == 1 else -reach, far + 1):
            u = shift * (2 * arb(j) - shift) / (2 * s * s)
            spread = (1 - g + g * u.exp()).log()
            inner = bracket(a - 1, -spread if add else spread)
            found += (inner if add else inner * spread.exp()) * weight(j)
        return divergence(a - 1, found / total)


def test_random_integer_noise():
    rng = np.random.default_rng(3)
    for _ in range(40):
        sigma, rate, order, add = random_step(rng)
        sigma = min(sigma, 8.0)
        shift = int(rng.integers(1, 6))
        noise, side = (
            al.DiscreteGaussian(sigma, shift),
            "add" if add else "remove",
        )
        for part in (1.0, max(rate, 1e-9)):
            run = al.Release(noise, al.Poisson(part))
            value = al.rdp_curve(run, adjacency=side)(order)
            known = exact_integers(order, sigma, shift, part, add)
            setting = (sigma, shift, part, order, add)
            assert above(value, known, 1e-11), setting


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("side", ["add", "remove", BOTH])
def test_curves_do_not_decrease(name, side):
    curve = al.rdp_curve(CURVES[name], adjacency=side)
    orders = 1 + np.append(0, np.geomspace(1e-9, 1e6 - 1, 300))
    values = curve(orders)
    assert np.all(np.diff(values) >= -1e-9 * values[1:])
    assert values[0] > 0 and values[-1] <= curve(math.inf)
    scaled = (orders - 1) * values  # convex
    slopes = np.diff(scaled) / np.diff(orders)
    assert np.all(np.diff(slopes) >= -1e-8 * np.abs(slopes[1:]) - 1e-12)


def test_groups_of_rarely_sampled_records_keep_their_digits():
    """At rate g a pair of records adds up to twice one record, squared."""
    one, two = (
        al.rdp_curve(
            al.Release(al.Gaussian(1.0), al.Poisson(1e-9)),
            adjacency=side,
            group_size=2,
        )(2.0)
        for side in ("remove", "add")
    )
    known = 1e-18 * 4 * math.expm1(1)
    assert one == pytest.approx(known, rel=1e-7)
    assert two == pytest.approx(known, rel=1e-7)
