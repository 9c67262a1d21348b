"""Renyi curves at real orders against integrals that share no code."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp, mpf

import accountlib as al
from accountlib import real_orders
from accountlib.real_orders import (
    ShiftedNormals,
    normal_curve,
    trapezoid_step,
)
from tests.integrals import (
    DIGITS,
    above,
    bracket,
    divergence,
    panels,
    random_step,
)

BOTH = "add-or-remove"


def exact_normal(order, means, weights, rate, add):
    """Mixture of Gaussians in a Poisson sample, one direction."""
    with ctx.workdps(DIGITS):
        a, g = arb(order), arb(rate)
        total = sum(map(arb, weights))
        mixed = [
            (arb(m), arb(w) / total)
            for m, w in zip(means, weights, strict=True)
        ]
        unit = 1 / (2 * arb.pi()).sqrt()

        def integrand(x):
            r = sum(w * (m * x - m * m / 2).exp() for m, w in mixed)
            spread = (1 - g + g * r).log()
            value = unit * (-x * x / 2).exp()
            value *= bracket(a - 1, -spread if add else spread)
            return value if add else value * spread.exp()

        top = float(max(means))
        high = 17 + max(2.0, order) * top
        low = -17 - (order * top if add and rate == 1 else 0)
        wide = min(1.0, 1 / top) * (1 if not add else 1 / math.sqrt(order))
        count = math.ceil((high - low) / wide)
        return divergence(a - 1, panels(integrand, low, high, count))


TABLE = [  # rate, noise, order, D(M || Q), D(Q || M)
    (0.001, 0.25, 1.05, 0.0021953827033639, 0.00051659610298598),
    (0.01, 0.3, 1.5, 0.10945248171068, 0.0056051950132304),
    (0.01, 0.5, 2.5, 0.01477127821172, 0.0018018387317833),
    (0.1, 0.5, 1.25, 0.091264759873152, 0.035933224206062),
    (0.05, 0.8, 3.7, 0.03750522711576, 0.0089888442947489),
    (0.001, 0.4, 3.7, 2.0976698709468, 0.0001545370620161),
]


@pytest.mark.parametrize(("rate", "noise", "order", "remove", "add"), TABLE)
def test_sampled_gaussians_of_a_table(rate, noise, order, remove, add):
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    found = [
        al.rdp_curve(run, adjacency=side)(order)
        for side in ("remove", "add", BOTH)
    ]
    for value, known in zip(found, (remove, add, remove), strict=True):
        assert known * (1 - 6e-14) <= value <= known * (1 + 6e-13)


def test_published_epsilons_of_an_image_classifier():
    """Opacus' tutorial: printed at the 50th of 98 batches of a pass."""
    orders = np.append(1 + np.arange(1, 100) / 10, np.arange(12, 64))
    for steps, printed in ((50, 13.64), (932, 33.83), (1912, 47.21)):
        run = al.Release(
            al.Gaussian(0.39066894531249996), al.Poisson(1 / 98), steps
        )
        curve = al.rdp_curve(run, adjacency=BOTH)
        found = al.epsilon_from_rdp(curve, delta=1e-5, orders=orders)
        assert abs(found - printed) <= 0.005001
        assert al.epsilon_from_rdp(curve, delta=1e-5) <= found


def test_random_gaussian_steps():
    rng = np.random.default_rng(0)
    for _ in range(12):
        noise, rate, order, add = random_step(rng)
        step = ShiftedNormals((1 / noise,), (1.0,), rate, 1 - rate)
        value = normal_curve(step, add=add)(np.array([order]))[0]
        known = exact_normal(order, step.means, (1,), rate, add)
        assert above(value, known, 2e-12), (noise, rate, order, add)


def test_random_mixtures():
    rng = np.random.default_rng(1)
    for _ in range(6):
        noise, rate, order, add = random_step(rng)
        size = int(rng.integers(2, 4))
        shifts = np.sort(rng.choice(np.arange(1, 9), size, replace=False))
        means = tuple((shifts / noise).tolist())
        if order * means[-1] > 100:
            continue
        weights = tuple(rng.dirichlet(np.ones(size)).tolist())
        rate = 1.0 if rng.random() < 0.3 else rate
        step = ShiftedNormals(means, weights, rate, 1 - rate)
        value = normal_curve(step, add=add)(np.array([order]))[0]
        known = exact_normal(order, means, weights, rate, add)
        error = 2e-12 + 1e-13 * max(1, means[-1]) ** 2
        assert above(value, known, error), (means, weights, rate, order, add)


@pytest.mark.parametrize("order", [1 + 1e-9, 1.7, 2, 31.5, 1e6])
@pytest.mark.parametrize("epsilon", [1e-12, 5.584e-12, 1e-5, 1.0, 40.0])
@pytest.mark.parametrize("rate", [1.0, 0.3, 1e-6])
def test_pure_dp_keeps_its_digits(order, epsilon, rate):
    run = al.Release(al.PureDP(epsilon), al.Poisson(rate))
    for add in (False, True):
        value = al.rdp_curve(run, adjacency="add" if add else "remove")(order)
        with ctx.workdps(DIGITS):
            a, e, g = arb(order), arb(epsilon), arb(rate)
            integral = arb(0)
            for u in (e, -e):
                spread = (1 - g + g * u.exp()).log()
                inner = bracket(a - 1, -spread if add else spread)
                inner *= 1 if add else spread.exp()
                integral += inner / (1 + u.exp())
            assert above(value, divergence(a - 1, integral))


@pytest.mark.parametrize("truth", [0.5 - 1e-12, 0.5 + 1e-13, 0.3, 1 - 1e-12])
def test_randomized_response_near_a_coin(truth):
    run = al.Release(al.RandomizedResponse(truth))
    value = al.rdp_curve(run, adjacency="remove")(3.0)
    with mp.workdps(50):
        p = mpf(truth)
        moment = p**3 / (1 - p) ** 2 + (1 - p) ** 3 / p**2
        assert above(value, mp.log(moment) / 2)


def test_the_step_keeps_the_bound_of_the_theorem():
    """Halving the step changes nothing beyond the stated error."""
    rng = np.random.default_rng(4)
    for _ in range(30):
        noise, rate, order, add = random_step(rng)
        pair = ShiftedNormals((1 / noise,), (1.0,), rate, 1 - rate)
        less = np.array([order - 1])
        step = trapezoid_step(order - 1, pair, add)
        (one,), (two,), (three,) = (
            real_orders.lattice_sums(
                less, pair, add=add, step=h, offset=offset
            )[0]
            for h, offset in ((step, 0.0), (step, 0.37), (step / 2, 0.0))
        )
        assert abs(one - two) < 2e-13 and abs(one - three) < 2e-13


@pytest.mark.parametrize("rate", [1.0, 0.01])
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(
    ("means", "rare"),
    [((1e-6, 1.0), 1e-12), ((1e-8, 0.6), 1e-17), ((1e-9, 1e-3, 1.5), 1e-18)],
)
def test_rare_shifts_beside_tiny_ones_cost_no_digits(means, rare, rate, add):
    """Where r is nearly 1, it is not the logarithm of a rounded sum."""
    rest = len(means) - 1
    weights = (1 - rest * rare,) + (rare,) * rest
    step = ShiftedNormals(means, weights, rate, 1 - rate)
    for order in (1.0001, 2.0):
        value = normal_curve(step, add=add)(np.array([order]))[0]
        known = exact_normal(order, means, weights, rate, add)
        assert above(value, known, 1e-11), order


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(
    ("mean", "rate"),
    [(1e-155, 1e-6), (3.3e-156, 1e-6), (7e-159, 1e-3), (2e-161, 0.5)],
)
def test_divergences_of_few_digits_are_rounded_up(mean, rate, add):
    """a rate^2 mu^2/2, where floats have one digit, or none."""
    curve = normal_curve(
        ShiftedNormals((mean,), (1.0,), rate, 1 - rate), add=add
    )
    orders = np.array([1.0, 1.5, 2.0, 3.7, 64.0, 1e4])
    with mp.workdps(30):
        for order, found in zip(orders, curve(orders), strict=True):
            known = mpf(order) / 2 * (mpf(rate) * mpf(mean)) ** 2
            assert known * (1 - mpf(10) ** -12) <= found < known + 1e-322
