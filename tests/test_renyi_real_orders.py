"""Renyi curves at real orders against integrals that share no code."""

# mypy: disable-error-code="arg-type"

import math
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import accountlib as al
from accountlib.renyi import real_orders, whole_runs
from accountlib.renyi.laplace_panels import laplace_curve
from accountlib.renyi.real_orders import (
    ShiftedNormals,
    normal_curve,
    trapezoid_step,
)
from accountlib.several.mixtures import MixturePair
from accountlib.worst_cases.integer_noise import IntegerGaussianPair
from accountlib.worst_cases.sampling import SampledPair

BOTH = "add-or-remove"


def bracket(less, loss):
    """phi(bL)/b + phi(-L) with phi(x) = e^x - 1 - x."""
    own = mp.expm1(-loss) + loss
    if less == 0:
        return own
    return (mp.expm1(less * loss) - less * loss) / less + own


def divergence(less, integral):
    return mp.log1p(less * integral) / less if less else integral


@cache
def gauss_rule(size):
    """Nodes and weights of Gauss' rule with 60 digits, by Newton."""
    with mp.workdps(50):
        rule = []
        for i in range(size):
            x = mp.cos(mp.pi * (i + mpf(3) / 4) / (size + mpf(1) / 2))
            for _ in range(10):
                last, value = mpf(1), x
                for k in range(2, size + 1):
                    last, value = (
                        value,
                        ((2 * k - 1) * x * value - (k - 1) * last) / k,
                    )
                slope = size * (x * value - last) / (x * x - 1)
                x -= value / slope
            rule.append((x, 2 / ((1 - x * x) * slope**2)))
        return rule


def panels(function, low, high, count, size=20):
    half = (mpf(high) - mpf(low)) / (2 * count)
    return half * mp.fsum(
        weight * function(mpf(low) + half * (2 * i + 1 + node))
        for i in range(count)
        for node, weight in gauss_rule(size)
    )


def exact_normal(order, means, weights, rate, add):
    """Mixture of Gaussians in a Poisson sample, one direction."""
    with mp.workdps(50):
        a, g = mpf(order), mpf(rate)
        total = mp.fsum(weights)
        mixed = [
            (mpf(m), mpf(w) / total)
            for m, w in zip(means, weights, strict=True)
        ]

        def integrand(x):
            r = mp.fsum(w * mp.exp(m * x - m * m / 2) for m, w in mixed)
            spread = mp.log(1 - g + g * r)
            value = mp.npdf(x) * bracket(a - 1, -spread if add else spread)
            return value if add else value * mp.exp(spread)

        top = float(max(means))
        high = 17 + max(2.0, order) * top
        low = -17 - (order * top if add and rate == 1 else 0)
        wide = min(1.0, 1 / top) * (1 if not add else 1 / math.sqrt(order))
        count = math.ceil((high - low) / wide)
        return divergence(a - 1, panels(integrand, low, high, count))


def exact_laplace(order, scale, rate, add):
    with mp.workdps(50):
        a, s, g = mpf(order), mpf(scale), mpf(rate)

        def value(x):  # at 0 <= x <= 1
            spread = mp.log1p(g * mp.expm1((2 * x - 1) / s))
            inner = bracket(a - 1, -spread if add else spread)
            return inner if add else inner * mp.exp(spread)

        count = math.ceil(1 + (1 + order) / scale)

        def density(x):
            return mp.exp(-x / s) / (2 * s) * value(x)

        middle = panels(density, 0, 1, count)
        ends = value(0) / 2 + mp.exp(-1 / s) * value(1) / 2
        return divergence(a - 1, ends + middle)


def exact_integers(order, sigma, shift, rate, add):
    with mp.workdps(50):
        a, g, s = mpf(order), mpf(rate), mpf(sigma)
        reach = math.ceil(17 * sigma)
        total = mp.fsum(
            mp.exp(-(mpf(j) ** 2) / (2 * s * s)) for j in range(-reach, reach)
        )
        parts = []
        far = math.ceil(17 * sigma + order * shift) + shift
        for j in range(-far if add and rate == 1 else -reach, far + 1):
            u = shift * (2 * mpf(j) - shift) / (2 * s * s)
            spread = mp.log(1 - g + g * mp.exp(u))
            inner = bracket(a - 1, -spread if add else spread)
            inner = inner if add else inner * mp.exp(spread)
            parts.append(inner * mp.exp(-(mpf(j) ** 2) / (2 * s * s)))
        return divergence(a - 1, mp.fsum(parts) / total)


def above(value, known, error=1e-12):
    """Not below the truth, and by how much above at most."""
    return known <= value <= known * (1 + mpf(error))


# --- the values of an independent quadrature --------------------------------

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


@pytest.mark.parametrize(
    ("rate", "scale", "order", "remove", "add"),
    [
        (0.01, 0.5, 1.5, 0.00029245120673917, 0.00028306646549122),
        (0.1, 1.0, 2.7, 0.011729355277363, 0.010316689420957),
    ],
)
def test_sampled_laplace_of_a_table(rate, scale, order, remove, add):
    run = al.Release(al.Laplace(scale), al.Poisson(rate))
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


# --- random settings against 60 digits --------------------------------------


def random_step(rng):
    noise = float(10 ** rng.uniform(-0.9, 2))
    rate = float(10 ** rng.uniform(-14, 0))
    if rng.random() < 0.3:
        rate = float(rng.uniform(0.05, 0.999))
    order = 1 + float(10 ** rng.uniform(-9, 1.2))
    return noise, rate, order, bool(rng.integers(2))


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


def test_random_laplace_steps():
    rng = np.random.default_rng(2)
    for _ in range(40):
        scale, rate, order, add = random_step(rng)
        curve = laplace_curve(scale, rate, missed=1 - rate, add=add)
        known = exact_laplace(order, scale, rate, add)
        value = curve(np.array([order]))[0]
        assert above(value, known, 2e-12), (scale, rate, order, add)


def test_random_integer_noise():
    rng = np.random.default_rng(3)
    for _ in range(40):
        sigma, rate, order, add = random_step(rng)
        sigma = min(sigma, 8.0)
        shift = int(rng.integers(1, 6))
        pair = IntegerGaussianPair(sigma, shift)
        sampled = SampledPair(pair, rate)
        for one, share in ((pair, 1.0), (sampled, rate)):
            asked = one.reversed() if add else one
            value = whole_runs.pair_rdp(asked)(order)
            known = exact_integers(order, sigma, shift, share, add)
            setting = (sigma, shift, share, order, add)
            assert above(value, known, 1e-11), setting


@pytest.mark.parametrize("order", [1 + 1e-9, 1.7, 2, 31.5, 1e6])
@pytest.mark.parametrize("epsilon", [1e-12, 5.584e-12, 1e-5, 1.0, 40.0])
@pytest.mark.parametrize("rate", [1.0, 0.3, 1e-6])
def test_pure_dp_keeps_its_digits(order, epsilon, rate):
    run = al.Release(al.PureDP(epsilon), al.Poisson(rate))
    for add in (False, True):
        value = al.rdp_curve(run, adjacency="add" if add else "remove")(order)
        with mp.workdps(90):
            a, e, g = mpf(order), mpf(epsilon), mpf(rate)
            integral = mpf(0)
            for u in (e, -e):
                spread = mp.log(1 - g + g * mp.exp(u))
                inner = bracket(a - 1, -spread if add else spread)
                inner *= 1 if add else mp.exp(spread)
                integral += inner / (1 + mp.exp(u))
            assert above(value, divergence(a - 1, integral))


def test_the_curve_of_tiny_epsilon():
    """2e-5 too low when the probabilities were rounded first."""
    run = al.Release(al.PureDP(5.584e-12))
    value = al.rdp_curve(run, adjacency=BOTH)(7.6646)
    assert value >= 7.6646 * 5.584e-12**2 / 2 * (1 - 1e-9)


@pytest.mark.parametrize("truth", [0.5 - 1e-12, 0.5 + 1e-13, 0.3, 1 - 1e-12])
def test_randomized_response_near_a_coin(truth):
    run = al.Release(al.RandomizedResponse(truth))
    value = al.rdp_curve(run, adjacency="remove")(3.0)
    with mp.workdps(50):
        p = mpf(truth)
        moment = p**3 / (1 - p) ** 2 + (1 - p) ** 3 / p**2
        assert above(value, mp.log(moment) / 2)


# --- integer noise: no order is infinite, none too small --------------------


@pytest.mark.parametrize(
    ("sigma", "shift"),
    [(1.137, 1), (0.9, 1), (3.0, 5), (0.8336900018305162, 1)],
)
def test_integer_noise_at_every_order(sigma, shift):
    run = al.Release(al.DiscreteGaussian(sigma, shift))
    curve = al.rdp_curve(run, adjacency="add")
    orders = np.array([1.0, 2.0, 47.0, 1000.0])
    line = orders * (shift / sigma) ** 2 / 2
    values = curve(orders)
    assert np.all(values >= line * (1 - 1e-13))
    assert np.all(values <= line * (1 + 1e-11))
    assert curve(math.inf) == math.inf
    between = curve(2.5)
    assert between <= 2.5 * (shift / sigma) ** 2 / 2 * (1 + 1e-11)


# --- what must hold whatever the numbers are --------------------------------

CURVES = {
    "gaussian": al.Release(al.Gaussian(0.7), al.Poisson(0.02)),
    "laplace": al.Release(al.Laplace(0.4), al.Poisson(0.02)),
    "integers": al.Release(al.DiscreteGaussian(0.6), al.Poisson(0.1)),
    "mixture": al.Release(al.MixtureOfGaussians([1, 3], [0.75, 0.25], 2.0)),
}


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


@pytest.mark.parametrize("sampling", [al.Poisson(0.05), al.FixedBatch(5, 100)])
def test_a_group_of_one_is_one(sampling):
    one = al.Release(al.Gaussian(1.3), sampling)
    orders = np.array([1.0, 1.4, 2.0, 9.7])
    single = al.rdp_curve(one, adjacency=BOTH)(orders)
    weights = (1.0,)
    mean = (2 if isinstance(sampling, al.FixedBatch) else 1) / 1.3
    pair = SampledPair(MixturePair((mean,), weights), 0.05)
    for value in whole_runs.pair_rdp(pair)(orders), single:
        assert np.allclose(value, single, rtol=1e-11, atol=0)


def test_groups_lie_between_one_record_and_no_sampling():
    orders = np.array([1.1, 2.0, 3.3, 40.0])
    last = np.zeros(4)
    for size in (1, 2, 5):
        run = al.Release(al.Gaussian(3.0), al.Poisson(0.1))
        curve = al.rdp_curve(run, adjacency=BOTH, group_size=size)
        values = curve(orders)
        assert np.all(values > last)
        assert np.all(values < orders * (size / 3) ** 2 / 2)
        last = values


def test_large_orders_end_in_the_largest_loss():
    add = al.rdp_curve(CURVES["gaussian"], adjacency="add")
    assert add(math.inf) == pytest.approx(-math.log1p(-0.02), rel=1e-14)
    assert add(1e6) == pytest.approx(add(math.inf), rel=1e-3)
    remove = al.rdp_curve(CURVES["gaussian"], adjacency="remove")
    assert remove(math.inf) == math.inf
    line = 1e6 / 2 / 0.7**2 + math.log(0.02)
    assert remove(1e6) == pytest.approx(line, rel=1e-9)


def test_many_whole_orders_are_the_same_numbers():
    orders = np.arange(2.0, 400.0)
    for base in (al.Gaussian(1.1), al.Laplace(0.8)):
        run = al.Release(base, al.Poisson(0.03))
        curve = al.rdp_curve(run, adjacency=BOTH)
        singly = np.concatenate([curve(x) for x in np.array_split(orders, 8)])
        assert np.allclose(curve(orders), singly, rtol=1e-11, atol=0)


def test_tiny_rates_and_much_noise():
    for noise, rate in ((1.0, 1e-300), (1e-2, 1e-300), (1e149, 0.5)):
        run = al.Release(al.Gaussian(noise), al.Poisson(rate))
        value = al.rdp_curve(run, adjacency=BOTH)(2.5)
        assert 0 < value < math.inf
    run = al.Release(al.Gaussian(1.0), al.Poisson(1e-140))
    value = al.rdp_curve(run, adjacency=BOTH)(2.5)
    assert value == pytest.approx(1.25e-280 * math.expm1(1), rel=1e-12, abs=0)


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


# --- conversions ------------------------------------------------------------


def test_equal_laws_have_no_epsilon():
    zero = partial(al.zcdp_rdp, rho=0.0)
    for orders in (None, [2], [1.5, 8]):
        assert al.epsilon_from_rdp(zero, delta=1e-10, orders=orders) == 0
        assert al.delta_from_rdp(zero, epsilon=1e-10, orders=orders) == 0
    assert al.epsilon_from_rdp([0.0], delta=1e-9, orders=[4]) == 0
    half = al.delta_from_rdp(zero, epsilon=math.log(0.5), orders=[4])
    assert half == pytest.approx(0.5)


def test_conversions_are_rounded_up():
    rng = np.random.default_rng(5)
    for _ in range(200):
        rho = float(10 ** rng.uniform(-12, 3))
        delta = float(10 ** rng.uniform(-100, -1))
        order = 1 + float(10 ** rng.uniform(-4, 4))
        with mp.workdps(40):
            a, r = mpf(order), mpf(rho) * mpf(order)
            weight = (a - 1) * mp.log(1 - 1 / a) - mp.log(a)
            known = r + (weight - mp.log(mpf(delta))) / (a - 1)
            line = partial(al.zcdp_rdp, rho=rho)
            found = al.epsilon_from_rdp(line, delta=delta, orders=[order])
            size = r + (abs(weight) - mp.log(delta) + 1) / (a - 1)
            assert max(known, 0) <= found <= max(known, 0) + size * 1e-14
            back = al.delta_from_rdp(line, epsilon=found, orders=[order])
            exact = mp.exp((a - 1) * (r - mpf(found)) + weight)
            assert back >= min(exact, 1)


def test_a_batch_that_is_everything_is_no_sample():
    line = partial(al.gaussian_rdp, noise_multiplier=2.0)
    for order in (1.5, 3.0, np.inf):
        full = al.without_replacement_rdp(order, rdp=line, rate=1)
        assert full == line(order) > 0
        assert al.without_replacement_rdp(order, rdp=line, rate=0) == 0


@pytest.mark.parametrize(
    "mechanism",
    [al.PureDP(1.0), al.RandomizedResponse(0.9), al.DiscreteLaplace(2.0)],
)
def test_nobody_is_sampled(mechanism):
    run = al.Release(mechanism, al.Poisson(0.0), count=5)
    curve = al.rdp_curve(run, adjacency=BOTH)
    assert curve(2.5) == curve(math.inf) == 0
    assert al.epsilon_from_rdp(curve, delta=1e-9) == 0


def test_the_worst_mechanism_with_a_delta():
    run = al.Release(al.ApproximateDP(1.0, 1e-3), al.Poisson(0.25))
    assert al.rdp_curve(run, adjacency="remove")(1.5) == math.inf
    value = al.rdp_curve(run, adjacency="add")(math.inf)
    assert value == pytest.approx(-math.log(0.75), rel=1e-9)


def test_curves_ignore_the_error_state_of_numpy():
    with np.errstate(all="raise"):
        for run in CURVES.values():
            curve = al.rdp_curve(run, adjacency=BOTH)
            assert al.epsilon_from_rdp(curve, delta=1e-6) > 0
    function: Any = al.gaussian_rdp
    with pytest.raises(TypeError, match="noise_multiplier="):
        function(2.0, 1.0)


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


@pytest.mark.parametrize("whole", [1 - 9e-13, 1 + 9e-13])
@pytest.mark.parametrize("side", ["remove", "add"])
def test_weights_count_as_if_they_summed_to_one(whole, side):
    weights = (0.3 * whole, 0.7 * whole)
    noise = al.MixtureOfGaussians([0.1, 0.2], weights, 1.0)
    curve = al.rdp_curve(al.Release(noise), adjacency=side)
    for order in (1.5, 2.0, 7.0):
        known = exact_normal(order, (0.1, 0.2), weights, 1.0, side == "add")
        assert above(curve(order), known, 2e-12), order
