"""Renyi curves of samples: quadrature, fractions, odd moments."""

import math
from functools import partial

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp, mpf

import accountlib as al
from accountlib import renyi_bounds, renyi_sampling
from accountlib.renyi import discrete_curve
from tests.integrals import close

gaussian = partial(partial, al.gaussian_rdp)  # gaussian(noise_multiplier=2)
laplace = partial(partial, al.laplace_rdp)
response = partial(partial, al.randomized_response_rdp)


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
    """The tight bound is the larger direction, which is
    remove; the general bound is above; real orders lie below chords."""
    rng = np.random.default_rng(4)
    for _ in range(120):
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
    for _ in range(600):
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


def in_high_precision(order, log_moment, rate):
    """The sum of the tight bound, term by term, in balls."""
    rate = arb(rate)
    term = (1 - rate) ** order
    total = arb(0)
    for k in range(1, order + 1):
        term *= (order - k + 1) * rate / (k * (1 - rate))
        total += term * log_moment(k)
    known = total.log1p() / (order - 1)
    assert known.rel_accuracy_bits() > 60
    return float(known)


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
    with ctx.workdps(65):  # 1e5 products, and what is left of 1 + 1e-12
        step = (1 / arb(noise) ** 2).exp()
        factor, power = 1 / step, arb(1)  # of k = 0

        def moment(k):
            """e^(k (k - 1)/(2 noise^2)) - 1, from the k before."""
            nonlocal factor, power
            factor *= step
            power *= factor
            return power - 1

        known = in_high_precision(order, moment, rate)
    assert close(value, known, 1e-10)


def test_values_of_the_traps():
    small = al.poisson_rdp(2, rdp=gaussian(noise_multiplier=5.0), rate=1e-3)
    assert close(small, 4.08107733596e-8, 1e-11)
    huge = al.poisson_rdp(
        [10**4, 10**5, 10**6], rdp=gaussian(noise_multiplier=0.5), rate=1e-3
    )
    assert np.all(np.isfinite(huge)) and np.all(np.diff(huge) > 0)


def test_fixed_batches_of_one_record():
    """Batches of one: the output is a mixture over the records, and two
    data sets that differ in one record share the rest of it."""
    rng = np.random.default_rng(21)
    for _ in range(150):
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
    for _ in range(30):
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
    values = renyi_sampling.pearson_vajda([3, 5, 7], rdp=curve)
    assert np.max(np.abs(values / known - 1)) < 1e-5


def poisson_law(order, mean, base):
    """Renyi divergence of Poisson(mean) from Poisson(base)."""
    power = mean**order * base ** (1 - order)
    return (power - (1 - order) * base - order * mean) / (order - 1)


def test_poisson_laws_refuse_the_tight_bound():
    falling = partial(poisson_law, mean=0.3, base=0.6)
    rising = partial(poisson_law, mean=0.6, base=0.3)
    assert close(
        renyi_sampling.pearson_vajda(3, rdp=falling), -0.0305113, 1e-5
    )
    assert close(renyi_sampling.pearson_vajda(5, rdp=falling), -0.02100, 1e-3)
    assert close(renyi_sampling.pearson_vajda(3, rdp=rising), 1.27054, 1e-5)
    with pytest.raises(ValueError, match="odd moment"):
        al.poisson_rdp(3, rdp=falling, rate=0.5, bound="tight")
    with pytest.raises(ValueError, match="odd moment"):
        renyi_bounds.poisson_rdp_terms(
            9, rdp=falling, rate=0.5, terms=1, bound="tight"
        )
    assert al.poisson_rdp(2, rdp=falling, rate=0.5, bound="tight") > 0
    # the larger of both directions, by the sums over outcomes
    assert 0.0730703 <= al.poisson_rdp(3, rdp=rising, rate=0.5)


@pytest.mark.parametrize("rate", [1e-100, 0.01, 0.3])
def test_sampled_renyi_sums_are_rounded_up(rate):
    orders = np.array([2, 3, 5, 9, 20, 45])
    found = al.poisson_rdp(orders, rdp=lambda a: a / 8, rate=rate)
    with mpmath.workdps(60):
        g = mpmath.mpf(rate)
        for n, value in zip(orders.tolist(), found.tolist(), strict=True):
            more = mpmath.mpf(0)
            for k in range(2, n + 1):
                rise = mpmath.exp(mpmath.mpf((k - 1) * k) / 8)
                weight = mpmath.binomial(n, k) * g**k * (1 - g) ** (n - k)
                more += weight * ((3 if k > 2 else 1) * rise - 1)
            exact = mpmath.log1p(more) / (n - 1)
            assert exact <= value <= exact * (1 + 1e-9)


@pytest.mark.parametrize("n", [30_001, 99_991])
def test_sampled_renyi_sums_with_large_binomials_are_rounded_up(n):
    rate, rho = 0.3, 1e-9
    found = al.poisson_rdp(n, rdp=lambda a: a * rho, rate=rate, bound="tight")
    middle, far = round(n * rate), 15 * round(math.sqrt(n * rate))
    with mpmath.workdps(40):
        g, k = mpmath.mpf(rate), middle - far
        weight, more = (
            mpmath.binomial(n, k) * g**k * (1 - g) ** (n - k),
            mpmath.mpf(0),
        )
        while k <= middle + far:
            more += weight * mpmath.expm1(mpmath.mpf(rho) * (k - 1) * k)
            weight *= (n - k) * g / ((k + 1) * (1 - g))
            k += 1
        exact = mpmath.log1p(more) / (n - 1)
    assert exact <= found <= exact * (1 + 1e-9)
