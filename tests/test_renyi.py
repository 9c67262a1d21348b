"""Renyi DP against quadrature, exact fractions, mpmath and the paper."""

# mypy: disable-error-code="arg-type, call-overload"

import json
import math
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

import accountlib as al
from accountlib.renyi import few_terms, subsampling
from accountlib.renyi.conversion import smallest_value
from accountlib.renyi.curves import (
    discrete_curve,
    discrete_gaussian_rdp,
    discrete_laplace_rdp,
)
from accountlib.renyi.subsampling import between_orders, log_sums_at

DATA = Path(__file__).parent / "data"
gaussian = partial(partial, al.gaussian_rdp)  # gaussian(noise_multiplier=2)
laplace = partial(partial, al.laplace_rdp)
response = partial(partial, al.randomized_response_rdp)
ORDERS = [1 + 1e-7, 1.25, 2, 7.5, 100, 10_000]


def close(value, known, tolerance=1e-12):
    return abs(value / known - 1) <= tolerance


# --- curves without sampling ------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("noise", [1e-3, 0.3, 1.0, 40.0, 1e4])
def test_laplace_in_high_precision(order, noise):
    with mp.workdps(40):
        a, x = mpf(order), 1 / mpf(noise)
        down = (a - 1) / (2 * a - 1) * mp.exp(-a * x)
        moment = a / (2 * a - 1) * mp.exp((a - 1) * x) + down
        known = mp.log(moment) / (a - 1)
    assert close(al.laplace_rdp(order, scale=noise), known)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("p", [1e-9, 0.2, 0.5 + 1e-9, 0.6, 0.999])
def test_randomized_response_in_high_precision(order, p):
    with mp.workdps(40):
        a, t = mpf(order), mpf(p)
        moment = t**a * (1 - t) ** (1 - a) + (1 - t) ** a * t ** (1 - a)
        known = mp.log(moment) / (a - 1)
        epsilon = abs(mp.log(t / (1 - t)))
    assert close(al.randomized_response_rdp(order, truth_probability=p), known)
    if p != 0.5 + 1e-9:  # the argument has lost digits there
        by_epsilon = al.pure_dp_rdp(order, epsilon=float(epsilon))
        assert close(by_epsilon, known)


@pytest.mark.parametrize(
    "curve",
    [
        gaussian(noise_multiplier=2.0),
        laplace(scale=0.7),
        response(truth_probability=0.8),
        partial(al.zcdp_rdp, rho=0.3),
        partial(al.pure_dp_rdp, epsilon=2.0),
        partial(al.discrete_rdp, p=[0.2, 0.5, 0.3], q=[0.4, 0.4, 0.2]),
        partial(discrete_gaussian_rdp, sigma=2.0),
        partial(discrete_laplace_rdp, scale=1.5, sensitivity=3),
        partial(al.poisson_rdp, rdp=gaussian(noise_multiplier=2.0), rate=0.1),
    ],
)
def test_curves_do_not_decrease_and_keep_shapes(curve):
    orders = np.array([1, 1.001, 1.5, 2, 3, 10, 100, 5000, np.inf])
    values = curve(orders)
    assert np.all(np.diff(values) >= -1e-15) and values[0] >= 0
    assert curve(orders.reshape(3, 3)).shape == (3, 3)
    assert isinstance(curve(2), float)
    assert curve(np.array([2.0]))[0] == curve(2)
    assert curve(1 + 1e-9) == pytest.approx(curve(1), rel=1e-6)


@pytest.mark.parametrize("sensitivity", [1, 2, 7])
@pytest.mark.parametrize("scale", [0.2, 1.0, 9.0])
@pytest.mark.parametrize("order", [1.5, 2, 30])
def test_integer_noise_against_sums(order, scale, sensitivity):
    with mp.workdps(30):
        places = range(-300, 301)
        a, k = mpf(order), sensitivity
        for curve, weight in (
            (
                discrete_laplace_rdp(order, scale=scale, sensitivity=k),
                lambda x: -abs(x) / mpf(scale),
            ),
            (
                discrete_gaussian_rdp(order, sigma=scale, sensitivity=k),
                lambda x: -(x**2) / (2 * mpf(scale) ** 2),
            ),
        ):
            total = mp.fsum(mp.exp(weight(x)) for x in places)
            moment = mp.fsum(
                mp.exp(a * weight(x - k) + (1 - a) * weight(x)) for x in places
            )
            known = mp.log(moment / total) / (a - 1)
            assert curve >= known * (1 - mpf(10) ** -12)
            if scale >= 1 or order * k == int(order * k):
                assert close(curve, known, 1e-6)


fractions = st.lists(st.integers(0, 9), min_size=2, max_size=5).filter(
    lambda w: sum(w) > 0
)


@given(fractions, fractions, st.integers(2, 9), st.integers(0, 8))
def test_discrete_pairs_in_fractions(weights_p, weights_q, order, rate):
    size = min(len(weights_p), len(weights_q))
    p, q = weights_p[:size], weights_q[:size]
    if not sum(p) or not sum(q):
        return
    p = [Fraction(x, sum(p)) for x in p]
    q = [Fraction(x, sum(q)) for x in q]
    gamma = Fraction(rate, 8)
    mixed = [gamma * x + (1 - gamma) * y for x, y in zip(p, q, strict=True)]
    for one, other in ((p, q), (mixed, q), (q, mixed)):
        value = al.discrete_rdp(order, p=one, q=other)
        if any(x and not y for x, y in zip(one, other, strict=True)):
            assert value == math.inf
            continue
        moment = sum(
            x**order / y ** (order - 1)
            for x, y in zip(one, other, strict=True)
            if x
        )
        known = mp.log(mpf(moment.numerator) / moment.denominator)
        assert abs(value - known / (order - 1)) <= 1e-14 * (1 + known)


def test_tiny_rates_of_discrete_pairs_keep_their_digits():
    p, q = [0.5, 0.25, 0.25], [0.125, 0.375, 0.5]
    for add in (False, True):
        for rate in (1e-3, 1e-8, 1e-12):
            curve = discrete_curve(p, q, rate=rate, add=add)
            with mp.workdps(50):
                g = mpf(rate)
                mixed = [
                    g * x + (1 - g) * y for x, y in zip(p, q, strict=True)
                ]
                one, other = (q, mixed) if add else (mixed, q)
                terms = zip(one, other, strict=True)
                known = mp.log(mp.fsum(x**3 / mpf(y) ** 2 for x, y in terms))
                assert close(curve(3.0), known / 2, 1e-11)


# --- sampling ---------------------------------------------------------------


def excess(power, w):
    """(1 + w)^power - 1 - power w, without cancellation."""
    series, term = 0.0, np.longdouble(power) * w
    for k in range(2, 9):
        term = term * (power - k + 1) * w / k
        series = series + term
    direct = np.expm1(power * np.log1p(w)) - power * w
    return np.where(np.abs(power * w) < 1e-3, series, direct)


def gaussian_directions(order, sigma, rate):
    """Remove and add by the trapezoid rule in extended precision."""
    z = np.arange(-14.0, order / sigma + 14, 0.04, dtype=np.longdouble)
    density = np.exp(-(z**2) / 2) / np.sqrt(2 * np.longdouble(np.pi)) * 0.04
    w = rate * np.expm1(z / sigma - 0.5 / np.longdouble(sigma) ** 2)
    return [
        float(np.log1p(np.sum(excess(power, w) * density)) / (order - 1))
        for power in (order, 1 - order)
    ]


def laplace_directions(order, scale, rate):
    """Remove and add: two atoms and Gauss-Legendre between them."""
    nodes, weights = np.polynomial.legendre.leggauss(400)
    x = ((1 + nodes) / 2).astype(np.longdouble)
    s = np.longdouble(scale)
    losses = np.concatenate([[1 / s, -1 / s], (2 * x - 1) / s])
    inner = np.exp(-x / s) / (2 * s) * weights / 2
    masses = np.concatenate([[np.exp(-1 / s) / 2, 0.5], inner])
    w = rate * np.expm1(losses)
    return [
        float(np.log1p(np.sum(excess(power, w) * masses)) / (order - 1))
        for power in (order, 1 - order)
    ]


def test_both_directions_by_quadrature():
    """500 settings: the tight bound is the larger direction, which is
    remove; the general bound is above; real orders lie below chords."""
    rng = np.random.default_rng(4)
    for _ in range(500):
        rate = float(np.exp(rng.uniform(np.log(1e-6), np.log(0.99))))
        noise = float(np.exp(rng.uniform(np.log(0.4), np.log(20))))
        order = int(np.exp(rng.uniform(np.log(2), np.log(64))))
        real = order + float(rng.uniform(0, 1))
        noise = max(noise, order / 70)  # or the moments overflow
        directions, curve = (
            (gaussian_directions, gaussian(noise_multiplier=noise))
            if rng.uniform() < 0.6
            else (laplace_directions, laplace(scale=noise))
        )
        tight, chord = al.poisson_rdp(
            [order, real], rdp=curve, rate=rate, bound="tight"
        )
        general = al.poisson_rdp(order, rdp=curve, rate=rate)
        remove, add = directions(order, noise, rate)
        setting = (rate, noise, order, directions.__name__)
        assert close(tight, remove, 1e-10), setting
        assert add <= remove * (1 + 1e-10), setting
        assert general >= tight >= 0, setting
        remove, add = directions(real, noise, rate)
        assert max(remove, add) <= chord * (1 + 1e-10), setting
        assert add <= remove * (1 + 1e-10), setting


def moments(p, q, order):
    """E_q (p/q)^l for l = 0, ..., order."""
    return ((p / q) ** np.arange(order + 1)[:, None]) @ q


def test_both_bounds_for_asymmetric_pairs():
    """With the larger one of both directions even the tight formula is an
    upper bound: no condition and no factor 3 is needed."""
    rng = np.random.default_rng(8)
    for _ in range(4000):
        size, order = int(rng.integers(2, 6)), int(rng.integers(2, 10))
        spread = 10 ** rng.uniform(-0.5, 1)
        p = rng.dirichlet(np.full(size, spread))
        q = rng.dirichlet(np.full(size, spread))
        if min(p.min(), q.min()) < 1e-4:
            continue
        rate = float(rng.uniform(0, 1))
        largest = np.maximum(moments(p, q, order), moments(q, p, order))

        def curve(a, largest=largest):
            n = np.asarray(a).astype(int)
            return np.log(np.maximum(largest[n], 1)) / (n - 1)

        mixed = rate * p + (1 - rate) * q
        true = max(
            np.log(np.sum(mixed**order * q ** (1.0 - order))),
            np.log(np.sum(q**order * mixed ** (1.0 - order))),
        ) / (order - 1)
        assert true <= al.poisson_rdp(order, rdp=curve, rate=rate) + 1e-12
        k = np.arange(order + 1)
        b = np.array([math.comb(order, i) for i in k])
        b = b * (1 - rate) ** (order - k) * rate**k
        assert true <= np.log(b @ largest) / (order - 1) + 1e-12


@given(
    st.integers(1, 40),
    st.integers(1, 40),
    st.fractions(0, 1),
    st.integers(2, 12),
)
def test_both_directions_outcome_by_outcome(up, down, rate, order):
    """f >= 0 of the proof, in fractions: f(1) = f'(1) = 0, f convex."""
    r = Fraction(up, down)
    theta = 3 * (1 - rate) / (3 + 2 * rate * (order - 2))
    a = 1 - rate + rate * r
    b = 1 - rate + rate / r
    slope = theta * order * rate + (order - 1) * rate
    slope += (1 - theta) * (1 - order * rate)
    value = theta * a**order + (1 - theta) * r * b**order
    value -= 1 / a ** (order - 1) + slope * (r - 1)
    assert value >= 0


@pytest.mark.parametrize("seed", range(4))
def test_remove_is_worse_for_symmetric_pairs_loss_by_loss(seed):
    """Pairs of losses l and -l, at every real order above 1."""
    rng = np.random.default_rng(seed)
    with mp.workdps(60):
        for _ in range(250):
            a = 1 + mpf(10) ** rng.uniform(-6, 3)
            y = 1 + mpf(10) ** rng.uniform(-6, 6)
            rate = mpf(rng.uniform(0, 1))
            up, down = 1 + rate * (y - 1), 1 - rate * (1 - 1 / y)
            gap = up**a - up ** (1 - a) + y * (down**a - down ** (1 - a))
            assert gap >= 0


def in_high_precision(order, log_moment, rate):
    """The sum of the tight bound, term by term."""
    rate = mpf(rate)
    term = (1 - rate) ** order
    total = mpf(0)
    for k in range(1, order + 1):
        term *= (order - k + 1) * rate / (k * (1 - rate))
        total += term * log_moment(k)
    return mp.log1p(total) / (order - 1)


@pytest.mark.parametrize(
    ("order", "noise", "rate"),
    [
        (2, 5.0, 1e-3),
        (2, 1.0, 1e-8),
        (64, 0.3, 0.5),
        (345, 5.0, 1e-3),
        (1000, 30.0, 0.999),
        (30_000, 60.0, 1e-3),
        (100_000, 52.0, 1e-8),
        (100_000, 300.0, 0.3),
        (100_000, 1e4, 1e-8),
        (100_000, 1e6, 1 - 1e-8),
    ],
)
def test_high_orders_in_high_precision(order, noise, rate):
    value = al.poisson_rdp(
        order, rdp=gaussian(noise_multiplier=noise), rate=rate, bound="tight"
    )
    with mp.workdps(40):
        scale = 2 * mpf(noise) ** 2

        def moment(k, scale=scale):
            return mp.expm1(mpf(k * (k - 1)) / scale)

        known = in_high_precision(order, moment, rate)
    assert close(value, known, 1e-10)


def test_values_of_the_traps():
    small = al.poisson_rdp(2, rdp=gaussian(noise_multiplier=5.0), rate=1e-3)
    assert close(small, 4.08107733596e-8, 1e-11)
    huge = al.poisson_rdp(
        [10**4, 10**5, 10**6], rdp=gaussian(noise_multiplier=0.5), rate=1e-3
    )
    assert np.all(np.isfinite(huge)) and np.all(np.diff(huge) > 0)


def test_order_of_the_bounds_in_5000_settings():
    """Few terms >= all terms, general >= tight >= 0, and Remark 7."""
    rng = np.random.default_rng(11)
    for _ in range(5000):
        noise = float(np.exp(rng.uniform(np.log(0.2), np.log(50))))
        rate = float(np.exp(rng.uniform(np.log(1e-8), 0)))
        order = float(np.exp(rng.uniform(np.log(1.1), np.log(2000))))
        order = order if rng.uniform() < 0.3 else round(order) + 1
        terms = int(np.exp(rng.uniform(0, np.log(60))))
        curve = (
            gaussian(noise_multiplier=noise),
            laplace(scale=noise),
            response(truth_probability=1 / (1 + math.exp(1 / noise))),
        )[int(rng.integers(3))]
        setting = (noise, rate, order, terms, curve)
        tight, general = (
            al.poisson_rdp(order, rdp=curve, rate=rate, bound=bound)
            for bound in ("tight", "general")
        )
        few, many = (
            few_terms.poisson_rdp_terms(
                order, rdp=curve, rate=rate, terms=terms, bound=bound
            )
            for bound in ("tight", "general")
        )
        assert 0 <= tight <= general, setting
        assert tight <= few and general <= many and few <= many, setting
        assert tight <= curve(order) * (1 + 1e-12) or order < 2, setting
        if order >= 2:
            room = math.log(3) / (math.floor(order) - 1)
            assert general <= tight * (1 + 1e-12) + room, setting


def step_curve(order, place, height):
    """0 up to some order, then constant."""
    return np.where(np.asarray(order) <= place, 0.0, height)


def test_few_terms_are_above_all_terms_at_the_extremes():
    """Middles below 1e-308 times huge factors, and hardly any loss."""
    tau, rate = 1674, 1e-3
    curve = partial(
        step_curve, place=tau, height=math.log(0.251 / rate * (1 - rate))
    )
    settings = [(curve, 2 * tau + 1, rate, tau)]
    bias = 5.12181622e-8
    settings += [
        (response(truth_probability=0.5 + bias), 150, 0.99997718333, 1),
        (laplace(scale=770667.157), 519, 0.9999997552326, 1),
        (gaussian(noise_multiplier=59.544), 129466, 1.1770954e-8, 39813),
        (gaussian(noise_multiplier=1e6), 3000, 1 - 1e-8, 2),
        (gaussian(noise_multiplier=1e4), 3000, 1e-160, 2),
    ]
    for curve, order, rate, terms in settings:
        for bound in ("tight", "general"):
            all_of_them = al.poisson_rdp(
                order, rdp=curve, rate=rate, bound=bound
            )
            few = few_terms.poisson_rdp_terms(
                order, rdp=curve, rate=rate, terms=terms, bound=bound
            )
            assert few >= all_of_them, (order, rate, terms, bound)


def test_losses_whose_masses_underflow():
    """Atoms that P hardly has still have mass under Q."""
    for epsilon in (705.0, 720.0, 1000.0):
        values = al.pure_dp_rdp([1, 1.0001, 1.001, 2], epsilon=epsilon)
        with mp.workdps(60):
            for order, value in zip(
                (1.0001, 1.001, 2), values[1:], strict=True
            ):
                a, truth = mpf(order), 1 / (1 + mp.exp(-mpf(epsilon)))
                lie = mp.exp(-mpf(epsilon)) * truth
                moment = truth**a * lie ** (1 - a) + lie**a * truth ** (1 - a)
                assert close(value, mp.log(moment) / (a - 1))
        assert close(values[0], epsilon)
    assert discrete_laplace_rdp([1, 2], scale=1e-3).tolist() == [1000, 1000]
    many = discrete_laplace_rdp(1, scale=0.04, sensitivity=35)
    assert close(many, 875.0)
    hidden = discrete_curve([1e-30, 1 - 1e-30], [0.0, 1.0], rate=1e-300)
    assert np.all(hidden(np.array([1.0, 2.0, math.inf])) == math.inf)


def test_huge_orders_and_losses():
    assert al.laplace_rdp([1, 2, math.inf], scale=1e-305) == pytest.approx(
        [1e305] * 3
    )
    for curve in (
        laplace(scale=1.0),
        partial(al.pure_dp_rdp, epsilon=1.0),
        partial(discrete_laplace_rdp, scale=1.0),
    ):
        assert curve(1e308) == pytest.approx(1.0)
    assert al.laplace_rdp(1e308, scale=1e306) == pytest.approx(1e-306)
    assert al.pure_dp_rdp(1e10, epsilon=1e308) == 1e308
    assert al.delta_from_rdp(gaussian(noise_multiplier=1.0), epsilon=60) > 0


def test_many_high_orders_in_little_memory():
    orders = np.arange(2, 1_000_001, 50)
    curve = gaussian(noise_multiplier=1000.0)
    values = al.poisson_rdp(orders[::10], rdp=curve, rate=0.1, bound="tight")
    assert np.all(np.diff(values) > 0)


def test_few_terms_where_the_middle_is_nearly_nothing():
    """The bound with few terms is the exact sum for narrow middles."""
    curve = gaussian(noise_multiplier=3.0)
    exact = al.poisson_rdp(5, rdp=curve, rate=0.4, bound="tight")
    few = few_terms.poisson_rdp_terms(
        5, rdp=curve, rate=0.4, terms=2, bound="tight"
    )
    assert close(few, exact, 1e-9)  # the middle is R(3) at order 3


@given(
    st.lists(st.integers(2, 200), min_size=1, max_size=8, unique=True),
    st.floats(-20, 20),
    st.integers(0, 2**31),
)
def test_sums_by_cells_against_every_term(orders, log_odds, seed):
    """Any non-decreasing weights, infinite ones included."""
    rng = np.random.default_rng(seed)
    orders = np.sort(np.array(orders))
    weights = np.cumsum(rng.exponential(10 ** rng.uniform(-2, 2), 201))
    weights[:2] = -np.inf
    if rng.uniform() < 0.2:
        weights[int(rng.integers(2, 201)) :] = np.inf
    values, _ = log_sums_at(orders, log_odds, 0.0, weights)
    for order, value in zip(orders, values, strict=True):
        k = np.arange(2, order + 1)
        terms = subsampling.log_choose(order, k) + k * log_odds + weights[k]
        known = np.logaddexp.reduce(terms)
        if math.isinf(known):
            assert value == known
        else:
            assert abs(value - known) <= 1e-12 * max(1, abs(known))


def test_log_choose_in_whole_numbers():
    for n, k in ((1, 0), (2, 1), (15, 7), (16, 8), (90, 31), (10**6, 3)):
        known = math.log(math.comb(n, k))
        assert (
            abs(subsampling.log_choose(n, k) - known) <= 1e-13 + 1e-15 * known
        )
    rows = subsampling.log_choose(30, np.arange(31))
    assert np.array_equal(rows, rows[::-1])


def test_chords_between_whole_orders():
    def totals(whole):
        return whole.astype(float) ** 2

    value = between_orders([1, 1.5, 2, 2.5, 7, math.inf], totals, 99.0)
    known = np.array([4, 4, 4, 6.5 / 1.5, 49 / 6, 99])
    assert np.all((known <= value) & (value <= known * (1 + 2e-15)))


def test_fixed_batches_of_one_record():
    """Batches of one: the output is a mixture over the records, and two
    data sets that differ in one record share the rest of it."""
    rng = np.random.default_rng(21)
    for _ in range(1500):
        size, order = int(rng.integers(2, 5)), int(rng.integers(2, 9))
        laws = rng.dirichlet(np.full(size, 10 ** rng.uniform(-0.5, 1)), 3)
        laws = 0.98 * laws + 0.02 / size
        records = int(rng.integers(2, 30))
        curves = [
            discrete_curve(one, other)
            for one in laws
            for other in laws
            if one is not other
        ]

        def largest(a, curves=curves):
            return np.max([curve(a) for curve in curves], axis=0)

        bound = al.without_replacement_rdp(
            order, rdp=largest, rate=1 / records
        )
        new, old, rest = laws
        p = new / records + (1 - 1 / records) * rest
        q = old / records + (1 - 1 / records) * rest
        assert discrete_curve(p, q)(order) <= bound * (1 + 1e-12)


def test_the_bound_for_fixed_batches_is_rounded_up():
    rng = np.random.default_rng(5)
    for _ in range(60):
        order = int(10 ** rng.uniform(0.4, 2.5))
        rate, epsilon = (float(10 ** rng.uniform(-6, x)) for x in (0, 1))
        curve = partial(al.pure_dp_rdp, epsilon=epsilon)
        with mp.workdps(50):
            x = [(k - 1) * mpf(curve(k)) for k in range(2, order + 1)]
            eta = mp.expm1(mpf(curve(math.inf)))
            factors = [min(mpf(2), eta**k) for k in range(2, order + 1)]
            terms = [mp.exp(y) * f for y, f in zip(x, factors, strict=True)]
            terms[0] = min(terms[0], 4 * mp.expm1(x[0]))
            total = mp.fsum(
                mp.binomial(order, k) * mpf(rate) ** k * term
                for k, term in enumerate(terms, 2)
            )
            known = mp.log1p(total) / (order - 1)
        value = al.without_replacement_rdp(order, rdp=curve, rate=rate)
        assert known <= value <= known * (1 + mpf(1e-11)), (order, rate)


def test_the_largest_sampled_loss_is_rounded_up():
    rng = np.random.default_rng(6)
    for _ in range(300):
        rate = float(10 ** rng.uniform(-300, 0))
        loss = float(10 ** rng.uniform(-12, 2.8))
        value = al.poisson_rdp(
            math.inf, rdp=partial(al.pure_dp_rdp, epsilon=loss), rate=rate
        )
        with mp.workdps(40):
            known = mp.log1p(mpf(rate) * mp.expm1(mpf(loss)))
        assert known <= value <= known * (1 + mpf(1e-12)) + mpf(1e-320)
    nothing = partial(al.pure_dp_rdp, epsilon=0.0)
    assert al.poisson_rdp(math.inf, rdp=nothing, rate=0.5) == 0


# --- odd moments ------------------------------------------------------------


@pytest.mark.parametrize(
    ("curve", "known"),
    [
        (gaussian(noise_multiplier=5.0), [0.00506453, 0.00243972, 0.00149731]),
        (gaussian(noise_multiplier=1.0), [13.930691, 20186.994, 1.29638e9]),
        (laplace(scale=2.0), [0.0548992, 0.0311550, 0.0142933]),
        (laplace(scale=0.5), [19.963454, 785.71077, 31294.428]),
    ],
)
def test_odd_moments(curve, known):
    values = subsampling.pearson_vajda([3, 5, 7], rdp=curve)
    assert np.max(np.abs(values / known - 1)) < 1e-5


@pytest.mark.parametrize(("p", "known"), [(0.6, 0.0277778), (0.9, 50.5679)])
def test_odd_moments_of_randomized_response(p, known):
    value = subsampling.pearson_vajda(3, rdp=response(truth_probability=p))
    r = p / (1 - p)  # the loss is log r or -log r
    assert close(value, (1 - p) * (r - 1) ** 3 * (1 - r**-2), 1e-12)
    assert close(value, known, 1e-5)


def test_even_and_large_moments():
    assert subsampling.pearson_vajda(
        2, rdp=gaussian(noise_multiplier=1.0)
    ) == (pytest.approx(math.expm1(1), rel=1e-15))
    assert (
        subsampling.pearson_vajda(40, rdp=gaussian(noise_multiplier=0.1))
        == math.inf
    )
    assert subsampling.pearson_vajda(3, rdp=partial(al.zcdp_rdp, rho=0.0)) == 0
    assert subsampling.pearson_vajda(
        np.array([[2], [3]]), rdp=np.sqrt
    ).shape == (2, 1)


def poisson_law(order, mean, base):
    """Renyi divergence of Poisson(mean) from Poisson(base)."""
    power = mean**order * base ** (1 - order)
    return (power - (1 - order) * base - order * mean) / (order - 1)


def test_poisson_laws_refuse_the_tight_bound():
    falling = partial(poisson_law, mean=0.3, base=0.6)
    rising = partial(poisson_law, mean=0.6, base=0.3)
    assert close(subsampling.pearson_vajda(3, rdp=falling), -0.0305113, 1e-5)
    assert close(subsampling.pearson_vajda(5, rdp=falling), -0.02100, 1e-3)
    assert close(subsampling.pearson_vajda(3, rdp=rising), 1.27054, 1e-5)
    with pytest.raises(ValueError, match="odd moment"):
        al.poisson_rdp(3, rdp=falling, rate=0.5, bound="tight")
    with pytest.raises(ValueError, match="odd moment"):
        few_terms.poisson_rdp_terms(
            9, rdp=falling, rate=0.5, terms=1, bound="tight"
        )
    assert al.poisson_rdp(2, rdp=falling, rate=0.5, bound="tight") > 0
    # the larger of both directions, by the sums over outcomes
    assert 0.0730703 <= al.poisson_rdp(3, rdp=rising, rate=0.5)


# --- conversions ------------------------------------------------------------


def test_conversions_of_one_gaussian():
    """Values of the paper inventory: exact, classic, improved."""
    for sigma, exact, classic, improved in (
        (0.1, 91.817, 97.985, 96.035),
        (1.0, 4.377, 5.299, 4.728),
    ):
        curve = gaussian(noise_multiplier=sigma)
        values = [
            al.epsilon_from_rdp(curve, delta=1e-5, conversion=rule)
            for rule in ("classic", "improved")
        ]
        assert values == pytest.approx([classic, improved], abs=6e-4)
        assert al.gaussian_epsilon(1e-5, mu=1 / sigma) == pytest.approx(
            exact, abs=6e-4
        )


@given(
    st.floats(-2, 2),
    st.floats(-200, -0.01),
    st.sampled_from(["improved", "classic"]),
)
def test_conversions_are_above_the_truth(log_sigma, log_delta, rule):
    mu, delta = 10**-log_sigma, 10**log_delta
    curve = gaussian(noise_multiplier=1 / mu)
    promised = al.epsilon_from_rdp(curve, delta=delta, conversion=rule)
    exact = max(0.0, al.gaussian_epsilon(delta, mu=mu))
    assert promised >= exact * (1 - 1e-9)
    back = al.delta_from_rdp(curve, epsilon=promised, conversion=rule)
    assert back >= al.gaussian_delta(promised, mu=mu) * (1 - 1e-8)
    assert back <= delta * (1 + 1e-6) or promised == 0


def test_zcdp_has_its_closed_form():
    for rho in (1e-6, 0.1, 30.0):
        for delta in (1e-3, 1e-100):
            log = math.log(1 / delta)
            known = rho + 2 * math.sqrt(rho * log)
            found = al.epsilon_from_rdp(
                partial(al.zcdp_rdp, rho=rho),
                delta=delta,
                conversion="classic",
            )
            assert known * (1 - 1e-12) <= found <= known * (1 + 1e-6)


def test_ends_of_the_conversions():
    curve = laplace(scale=0.5)
    assert al.epsilon_from_rdp(curve, delta=0) == 2.0
    assert al.epsilon_from_rdp(curve, delta=1) == 0.0
    assert al.epsilon_from_rdp(gaussian(noise_multiplier=1.0), delta=0) == (
        math.inf
    )
    assert al.epsilon_from_rdp(curve, delta=1e-200) == 2.0
    assert al.delta_from_rdp(curve, epsilon=2.0) == 0.0
    assert 1 - math.exp(-1) < al.delta_from_rdp(curve, epsilon=-1.0) <= 1
    assert 0 < al.delta_from_rdp(curve, epsilon=1.9) < 1


def test_curves_as_lists_and_of_single_numbers():
    orders = [2, 4, 8, 16]
    by_list = al.epsilon_from_rdp([1, 2, 4, 8], delta=1e-5, orders=orders)
    line = gaussian(noise_multiplier=1.0)
    by_curve = al.epsilon_from_rdp(line, delta=1e-5, orders=orders)
    single = al.epsilon_from_rdp(
        lambda a: float(math.fsum([a]) / 2), delta=1e-5, orders=orders
    )
    assert by_list == by_curve == single
    assert al.epsilon_from_rdp(lambda a: 0.5, delta=1e-9) == 0.5
    scalar = al.poisson_rdp(9, rdp=lambda a: math.fsum([a]) / 2, rate=0.1)
    assert scalar == al.poisson_rdp(9, rdp=line, rate=0.1)


def test_the_search_finds_far_and_near_orders():
    for best in (1.001, 3.7, 88.0, 5e4, 9e5):

        def bowl(a, best=best):
            return np.log((a - 1) / (best - 1)) ** 2

        assert smallest_value(bowl) < 1e-5
    assert smallest_value(lambda a: np.abs(a - 17.0)) == 0


# --- the paper's figures ----------------------------------------------------

BASES: dict[str, tuple[Any, str, tuple[float, float]]] = {
    "gaussian": (al.gaussian_rdp, "noise_multiplier", (5, 1)),
    "laplace": (al.laplace_rdp, "scale", (2, 0.5)),
    "randresp": (al.randomized_response_rdp, "truth_probability", (0.6, 0.9)),
}


def base_curve(row):
    function, name, (high, low) = BASES[row["mech"]]
    return partial(
        function, **{name: high if row["regime"] == "high" else low}
    )


def test_figures_3_and_5():
    """Every column but Abadi's, which chapter 7 draws and does not export."""
    rows = json.loads((DATA / "rdp_fig3.json").read_text("utf-8"))["rows"]
    assert len(rows) == 126
    for row in rows:
        curve, order = base_curve(row), row["alpha"]
        sampled = partial(al.poisson_rdp, order, rdp=curve, rate=1e-3)
        few = partial(few_terms.poisson_rdp_terms, order, rdp=curve, rate=1e-3)
        values = {
            "base": curve(order),
            "tight": sampled(bound="tight"),
            "general": sampled(),
            "wor": al.without_replacement_rdp(order, rdp=curve, rate=1e-3),
            "tau50_general": few(terms=50),
        }
        for terms in (2, 10, 50):
            values[f"tau{terms}"] = few(terms=terms, bound="tight")
        for name, value in values.items():
            assert close(value, row[name], 1e-5), (row, name, value)
        if "cap_lemma4" in row:
            assert close(
                al.poisson_rdp(math.inf, rdp=curve, rate=1e-3),
                row["cap_lemma4"],
                1e-9,
            )


def test_figure_4():
    facts = json.loads((DATA / "rdp_fig4.json").read_text("utf-8"))
    for row in facts["rows"]:
        curve, count = base_curve(row), row["k"]
        functions = {
            "tight": partial(al.poisson_rdp, bound="tight"),
            "general": al.poisson_rdp,
            "wor": al.without_replacement_rdp,
        }
        for name, function in functions.items():

            def total(a, function=function, curve=curve, count=count):
                return count * function(a, rdp=curve, rate=1e-3)

            convert = partial(
                al.epsilon_from_rdp, total, delta=1e-8, conversion="classic"
            )
            known = row[f"eps_{name}"]
            assert close(convert(orders=[row[f"alpha_{name}"]]), known, 1e-9)
            searched = convert()
            assert searched <= known * (1 + 1e-9), (row, name)
            if row["k"] > 64:  # below, order inf may be better
                assert close(searched, known, 1e-3), (row, name)


def test_exact_values_of_figure_4():
    facts = json.loads((DATA / "rdp_fig4.json").read_text("utf-8"))
    for name, row in facts["exact_pld"].items():
        kind, noise = name.split()
        value = float(noise.split("=")[1])
        base = al.Gaussian(value) if kind == "gaussian" else al.Laplace(value)
        for count, known in row.items():
            run = al.Release(base, al.Poisson(1e-3), count=int(count))
            bound = al.epsilon(run, delta=1e-8, adjacency="add-or-remove")
            # Upper bounds of another library at a fixed grid. Five to seven
            # digits are printed; one of them is rounded down, by 1.1e-7.
            assert bound.lower <= known * (1 + 1e-6)
            assert bound.upper >= known * (1 - 3e-2)


# --- runs -------------------------------------------------------------------


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
    for _ in range(300):
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
    assert close(remove, al.discrete_rdp(3, p=mixed, q=q))
    assert close(add, al.discrete_rdp(3, p=q, q=mixed))
    assert both == max(remove, add) and remove != add


# --- composition of (epsilon, delta) ----------------------------------------


@given(
    st.integers(2, 30), st.integers(1, 12), st.fractions(0, 1), st.booleans()
)
def test_optimal_composition_in_fractions(ratio, count, slack, shrink):
    """Losses are whole multiples of log(ratio): everything is rational."""
    slack = slack / 1000 if shrink else slack
    truth = Fraction(ratio, ratio + 1)
    masses = [
        math.comb(count, i) * truth ** (count - i) * (1 - truth) ** i
        for i in range(count + 1)
    ]

    def delta(bound):  # at e^epsilon = bound
        return sum(
            mass * max(0, 1 - bound / Fraction(ratio) ** (count - 2 * i))
            for i, mass in enumerate(masses)
        )

    epsilon = al.kairouz_epsilon(
        math.log(ratio), delta=0.0, count=count, slack=float(slack)
    )
    power = Fraction(math.exp(epsilon))
    error = Fraction(1, 10**9)
    assert delta(power * (1 + error)) <= slack + Fraction(1, 10**12)
    if epsilon > 0:
        assert delta(power * (1 - error)) >= slack - Fraction(1, 10**12)


@pytest.mark.parametrize(
    ("epsilon", "count", "slack"),
    [
        (4.907772578813129, 338, 1 - 2.0**-50),
        (2.0, 500, 1 - 1e-12),
        (30.0, 1, 1 - 1e-12),
        (20.0, 1, 0.9999999),
        (11.167414672978158, 125, 0.9982356788915719),
        (24.100370810506234, 83, 1.0),
        (0.01, 3000, 1e-30),
        (0.5, 40, 0.4),
    ],
)
def test_optimal_composition_in_high_precision(epsilon, count, slack):
    """On the safe side, and close, also where the slack is nearly 1."""
    value = al.kairouz_epsilon(epsilon, delta=0.0, count=count, slack=slack)
    with mp.workdps(400):
        e, goal = mpf(epsilon), mpf(slack)
        truth = 1 / (1 + mp.exp(-e))
        above_p = above_q = mpf(0)
        known = mpf(0)
        for i in range(count + 1):
            level = (count - 2 * i) * e
            if above_p - mp.exp(level) * above_q > goal:
                known = max(mpf(0), mp.log((above_p - goal) / above_q))
                break
            chance = mp.binomial(count, i) * truth ** (count - i)
            above_p += chance * (1 - truth) ** i
            other = mp.binomial(count, i) * (1 - truth) ** (count - i)
            above_q += other * truth**i
        assert value >= known
        assert value <= known + mpf(10) ** -2 * (1 + known)


def test_optimal_composition_of_many_runs():
    for count, epsilon, slack in ((100, 0.1, 1e-5), (10**5, 1e-3, 1e-60)):
        best = al.kairouz_epsilon(epsilon, delta=0.0, count=count, slack=slack)
        bound = al.epsilon(
            al.Release(al.PureDP(epsilon), count=count),
            delta=slack,
            adjacency="remove",
        )
        assert bound.lower <= best <= bound.upper * (1 + 1e-9)
        revealed = al.kairouz_epsilon(
            epsilon, delta=0.5, count=count, slack=slack
        )
        assert revealed == best
    assert al.kairouz_epsilon(2.0, delta=0.1, count=3, slack=0.0) == 6.0
    assert al.kairouz_epsilon(0.0, delta=0.1, count=3, slack=0.1) == 0.0
    assert al.kairouz_epsilon(1.0, delta=0.0, count=3, slack=1.0) == 0.0
