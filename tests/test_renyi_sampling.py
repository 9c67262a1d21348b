"""Renyi curves of samples: quadrature, fractions, high precision."""

import math
from functools import partial

import numpy as np
import pytest
from mpmath import mp, mpf

import accountlib as al
from tests.test_renyi import gaussian, laplace, response


def moments(p, q, order):
    """E_q (p/q)^l for l = 0, ..., order."""
    return ((p / q) ** np.arange(order + 1)[:, None]) @ q


def divergence(p, q, order):
    a = np.asarray(order)[..., None]
    return np.log(np.sum(p**a * q ** (1 - a), axis=-1)) / (order - 1)


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
            n = np.minimum(a, len(largest) - 1).astype(int)
            return np.log(np.maximum(largest[n], 1)) / (n - 1)

        mixed = rate * p + (1 - rate) * q
        true = max(divergence(mixed, q, order), divergence(q, mixed, order))
        for bound in ("tight", "general"):
            ask = {"rdp": curve, "rate": rate, "bound": bound}
            assert true <= al.poisson_rdp(order, **ask) + 1e-12


def exact_sum(n, rate, rise, first=2):
    """log(1 + sum of b_l (rise(l) - 1))/(n - 1), term by term."""
    g = mpf(rate)
    weight = mp.binomial(n, first) * g**first * (1 - g) ** (n - first)
    more = mpf(0)
    for k in range(first, n + 1):
        more += weight * rise(k)
        weight *= (n - k) * g / ((k + 1) * (1 - g))
    return mp.log1p(more) / (n - 1)


@pytest.mark.parametrize("bound", ["tight", "general"])
@pytest.mark.parametrize(
    ("order", "noise", "rate"),
    [
        (2, 5.0, 1e-3),
        (2, 1.0, 1e-8),
        (3, 1e6, 1e-9),
        (45, 2.0, 1e-9),
        (64, 0.3, 0.5),
        (345, 5.0, 1e-3),
        (1000, 30.0, 0.999),
        (1672, 410.0, 0.19),  # needs the error of the factorials
        (10_000, 0.005, 0.3),
        (10_000, 60.0, 1e-3),
        (10_000, 300.0, 0.3),
        (10_000, 1e6, 1 - 1e-8),
    ],
)
def test_sums_are_rounded_up(order, noise, rate, bound):
    value = al.poisson_rdp(
        order, rdp=gaussian(noise_multiplier=noise), rate=rate, bound=bound
    )
    with mp.workdps(50):
        slope = 1 / (2 * mpf(noise) ** 2)

        def rise(k):
            more = mp.expm1(slope * k * (k - 1))
            return 3 * more + 2 if bound == "general" and k > 2 else more

        known = exact_sum(order, rate, rise)
    assert known <= value <= known * (1 + mpf(1e-9))


def test_order_of_the_bounds():
    """Few terms >= all terms, general >= tight >= 0, never above R."""
    rng = np.random.default_rng(11)
    for _ in range(100):
        noise = float(np.exp(rng.uniform(np.log(0.2), np.log(50))))
        rate = float(np.exp(rng.uniform(np.log(1e-8), 0)))
        order = np.round(np.exp(rng.uniform(0, np.log(2000), 8))) + 1
        terms = int(np.exp(rng.uniform(0, np.log(60))))
        curve = (
            gaussian(noise_multiplier=noise),
            laplace(scale=noise),
            response(truth_probability=1 / (1 + math.exp(1 / noise))),
        )[int(rng.integers(3))]
        setting = (noise, rate, order, terms, curve)
        (tight, few), (general, many) = (
            (
                al.poisson_rdp(order, rdp=curve, rate=rate, bound=bound),
                al.poisson_rdp_terms(
                    order, rdp=curve, rate=rate, terms=terms, bound=bound
                ),
            )
            for bound in ("tight", "general")
        )
        assert np.all((0 < tight) & (tight <= general)), setting
        assert np.all((tight <= few) & (general <= many)), setting
        assert np.all(tight <= curve(order) * (1 + 1e-9)), setting
        room = math.log(3) / (order - 1)
        assert np.all(general <= tight * (1 + 1e-9) + room), setting
        short = order <= 2 * terms
        assert np.array_equal(tight[short], few[short])


def test_fixed_batches_of_one_record():
    """Batches of one: the output is a mixture over the records, and two
    data sets that differ in one record share the rest of it."""
    rng = np.random.default_rng(21)
    for _ in range(150):
        size, order = int(rng.integers(2, 5)), int(rng.integers(2, 9))
        rows = rng.dirichlet(np.full(size, 10 ** rng.uniform(-0.5, 1)), 3)
        rows = 0.98 * rows + 0.02 / size
        records = int(rng.integers(2, 30))
        pairs = [(x, y) for x in rows for y in rows if x is not y]

        def largest(a, pairs=pairs):
            if np.all(np.isinf(a)):
                return max(np.log(np.max(x / y)) for x, y in pairs)
            return np.max([divergence(x, y, a) for x, y in pairs], axis=0)

        bound = al.without_replacement_rdp(
            order, rdp=largest, rate=1 / records
        )
        new, old, rest = rows
        p = new / records + (1 - 1 / records) * rest
        q = old / records + (1 - 1 / records) * rest
        assert divergence(p, q, order) <= bound * (1 + 1e-12)


def test_the_bound_for_fixed_batches_is_rounded_up():
    rng = np.random.default_rng(5)
    for _ in range(30):
        order = int(10 ** rng.uniform(0.4, 2.5))
        rate = float(10 ** rng.uniform(-6, 0))
        truth = 1 / (1 + math.exp(-float(10 ** rng.uniform(-6, 1))))
        curve = response(truth_probability=truth)
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
        assert known <= value <= known * (1 + mpf(1e-10)), (order, rate)


@pytest.mark.parametrize(("rate", "known"), [(0, 0.0), (1, 2.0)])
def test_never_and_always_drawn(rate, known):
    value = al.poisson_rdp([4, 5], rdp=lambda a: a / a * 2, rate=rate)
    assert value.tolist() == [known, known]


@pytest.mark.parametrize("order", [1.5, 2.5, [2, 3.5], 1, 20_000])
def test_only_whole_orders(order):
    ask = {"rdp": gaussian(noise_multiplier=1.0), "rate": 0.1}
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.1))
    for call in (
        partial(al.poisson_rdp, **ask),
        partial(al.poisson_rdp_terms, terms=3, **ask),
        partial(al.without_replacement_rdp, **ask),
        al.rdp_curve(run, adjacency="remove"),
    ):
        with pytest.raises(ValueError, match="order .*must"):
            call(order)
