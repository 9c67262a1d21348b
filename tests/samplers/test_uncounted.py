"""Weights, reused samples, divisors: numbers of the page, by other means.

Nothing here is taken from the page: laws are listed in fractions with noise
on a few integers, or computed in balls or by mpmath.
"""

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

import accountlib as al
from accountlib.runs.one_call import substitute_delta_bound

HALF = F(1, 2)
Law = dict[int, F]
Cells = dict[object, F]
FAR = 12  # outputs beyond are one cell each; a post-processing


def noisy(total: int) -> Law:
    """A whole number plus noise P(z) = 2^-|z|/3, outer cells merged."""
    law: Law = defaultdict(F)
    for z in range(total - 40, total + 41):
        law[max(-FAR, min(FAR, z))] += F(1, 3) * HALF ** abs(z - total)
    return law


NOISY = {total: noisy(total) for total in range(-8, 9)}


def mixed(parts: Iterable[tuple[F, int]]) -> Cells:
    """Mixture of the noise around totals."""
    law: Cells = defaultdict(F)
    for chance, total in parts:
        for z, mass in NOISY[total].items():
            law[z] += chance * mass
    return law


def stick(p: Cells, q: Cells, alpha: F) -> F:
    return sum(
        (max(p.get(z, F(0)) - alpha * q.get(z, F(0)), F(0)) for z in {*p, *q}),
        F(0),
    )


def samples(values: tuple[int, ...], rates: tuple[F, ...]) -> list:
    """All Poisson samples: chance, total, size."""
    found = []
    for joins in itertools.product((0, 1), repeat=len(values)):
        chance = math.prod(
            (r if j else 1 - r for r, j in zip(rates, joins, strict=True)),
            start=F(1),
        )
        total = sum(v * j for v, j in zip(values, joins, strict=True))
        found.append((chance, total, sum(joins)))
    return found


ALPHAS = [F(1, 2), F(9, 10), F(1), F(11, 10), F(3, 2), F(2), F(4)]
OTHERS = list(itertools.product((-1, 0, 1), repeat=3))


@pytest.mark.parametrize("others", OTHERS)
def test_own_rates_below_a_cap(others):
    """Records with rates of their own, against the rate of the cap."""
    cap, rates = F(1, 3), (F(1, 3), F(1, 5), F(1, 9))
    hide, tell = NOISY[0], NOISY[1]
    bound = {z: (1 - cap) * hide[z] + cap * tell[z] for z in hide}
    for own in (F(1, 3), F(1, 4), F(1, 50)):
        p = mixed(x[:2] for x in samples((*others, 1), (*rates, own)))
        q = mixed(x[:2] for x in samples(others, rates))
        for alpha in ALPHAS:
            assert stick(p, q, alpha) <= stick(bound, hide, alpha)
            assert stick(q, p, alpha) <= stick(hide, bound, alpha)


def draws(values: tuple[int, ...], weights: tuple[int, ...]) -> Cells:
    """Two places, filled by weight with replacement."""
    whole = F(sum(weights)) ** 2
    pairs = itertools.product(range(len(values)), repeat=2)
    return mixed(
        (weights[i] * weights[j] / whole, values[i] + values[j])
        for i, j in pairs
    )


@pytest.mark.parametrize("others", OTHERS)
def test_draws_by_weight(others):
    """Against binomial moves by 2 with the share as the chance."""
    weights, own = (1, 2, 4), 3
    share = F(3, 10)
    p, q = draws((*others, 1), (*weights, own)), draws(others, weights)
    chances = [(1 - share) ** 2, 2 * share * (1 - share), share**2]
    bound = mixed((c, 2 * m) for m, c in enumerate(chances))
    for alpha in ALPHAS:
        assert stick(p, q, alpha) <= stick(bound, NOISY[0], alpha)
        assert stick(q, p, alpha) <= stick(NOISY[0], bound, alpha)
    if set(others) == {-1}:  # reached, but for the merged outer cells
        gap = stick(bound, NOISY[0], F(2)) - stick(p, q, F(2))
        assert 0 <= gap < F(1, 1000)


def test_weights_that_count_a_class_break_the_pair():
    """One over the size of a class: add is larger than the formula."""
    found = 0
    for first, others, own in itertools.product((-1, 0, 1), repeat=3):
        q = mixed([(HALF, first), (HALF, others)])
        p = mixed([(F(1, 4), first), (F(1, 4), own), (HALF, others)])
        bound = mixed([(F(3, 4), 0), (F(1, 4), 2)])
        for alpha in ALPHAS:
            found += stick(q, p, alpha) > stick(NOISY[0], bound, alpha)
    assert found > 0


@pytest.mark.parametrize("others", OTHERS)
def test_a_sample_and_its_size(others):
    """Every total with its size, against the sum over sizes."""
    rate, n = F(1, 3), 4

    def sized(values: tuple[int, ...]) -> Cells:
        law: Cells = defaultdict(F)
        for chance, total, size in samples(values, (rate,) * len(values)):
            for z, mass in NOISY[total].items():
                law[size, z] += chance * mass
        return law

    def binomial(m: int, k: int) -> F:
        return math.comb(m, k) * rate**k * (1 - rate) ** (m - k)

    p, q = sized((*others, 1)), sized(others)
    up: Cells = defaultdict(F)
    down: Cells = defaultdict(F)
    for k in range(n + 1):
        for z, mass in NOISY[0].items():
            own = (1 - F(k, n)) * mass + F(k, n) * NOISY[2][z]
            up[k, z] += binomial(n, k) * own
            if k < n:
                down[k, z] += binomial(n - 1, k) * mass
    for alpha in ALPHAS:
        assert stick(p, q, alpha) <= stick(up, down, alpha)
        assert stick(q, p, alpha) <= stick(down, up, alpha)
    if set(others) == {-1}:
        gap = stick(up, down, F(2)) - stick(p, q, F(2))
        assert 0 <= gap < F(1, 500)


@pytest.mark.parametrize("others", OTHERS[::2])
@pytest.mark.parametrize("other", [-1, 0])
def test_an_exchange_with_replacement(others, other):
    """One exchanged (or zeroed) record, against the sum over places."""
    n, b = 4, 2
    first, second = (draws((*others, x), (1,) * n) for x in (1, other))
    rate = 1 - (1 - F(1, n)) ** b
    for alpha in ALPHAS:
        if alpha >= 1:
            inner = 1 + (alpha - 1) / rate
            bound = sum(
                math.comb(b, k)
                * F(1, n) ** k
                * (1 - F(1, n)) ** (b - k)
                * stick(NOISY[k], NOISY[-k], inner)  # 2k apart
                for k in range(1, b + 1)
            )
            room = F(1, 10**3)  # the outer cells are merged
            assert stick(first, second, alpha) <= bound + room
            assert stick(second, first, alpha) <= bound + room


def best_half_line(
    gap: Callable[[mpmath.mpf], mpmath.mpf], near: float
) -> float:
    """The largest value of a smooth function of a threshold."""
    place = mpmath.findroot(lambda c: mpmath.diff(gap, c), near)
    return float(gap(place))


def binomials(n: int, rate: F) -> list[mpmath.mpf]:
    return [
        mpmath.mpf(math.comb(n, k))
        * mpmath.mpf(rate.numerator) ** k
        * mpmath.mpf(rate.denominator - rate.numerator) ** (n - k)
        / mpmath.mpf(rate.denominator) ** n
        for k in range(n + 1)
    ]


def test_a_rate_that_counts_the_data():
    """Both numbers of the direction add, in 30 digits."""
    with_it, without = binomials(99, F(1, 10)), binomials(99, F(10, 99))
    at = mpmath.e ** mpmath.mpf("0.1")

    def gap(cut: mpmath.mpf) -> mpmath.mpf:
        def below(weights: list, move: int) -> mpmath.mpf:
            return sum(
                w * mpmath.ncdf(cut + k - move) for k, w in enumerate(weights)
            )

        p = 9 * below(with_it, 0) / 10 + below(with_it, 1) / 10
        return below(without, 0) - at * p

    seen = best_half_line(gap, -15.6)
    assert abs(seen / 9.2324e-4 - 1) < 1e-4
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.1))
    add = al.delta(run, epsilon=0.1, adjacency="add")
    assert abs(add.upper / 7.53e-6 - 1) < 1e-3 and seen > 100 * add.upper


def test_one_sample_for_two_queries_by_a_double_integral():
    """Two outputs with noise sqrt 2, on one sample and on two."""
    z = np.arange(-12, 14, 0.02)
    move = 1 / math.sqrt(2)
    one = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) * 0.02
    other = np.exp(-((z - move) ** 2) / 2) / math.sqrt(2 * math.pi) * 0.02
    q = np.multiply.outer(one, one)
    p = 0.9 * q + 0.1 * np.multiply.outer(other, other)
    apart = np.multiply.outer(*[0.9 * one + 0.1 * other] * 2)
    same, fresh = (
        np.sum(np.maximum(x - math.exp(0.5) * q, 0)) for x in (p, apart)
    )
    known = al.delta(
        al.Release(al.Gaussian(1.0), al.Poisson(0.1)),
        epsilon=0.5,
        adjacency="remove",
    )
    assert abs(same / known.upper - 1) < 1e-3
    assert abs(same / 2.0325369e-3 - 1) < 1e-3
    assert abs(fresh / 3.464e-4 - 1) < 1e-2


def test_a_mean_by_simulation():
    """The event of the page: the mean above -0.776."""
    rng = np.random.default_rng(176)
    count = 2_000_000
    size = rng.binomial(99, 0.1, count)
    joins = rng.random(count) < 0.1
    noise = rng.normal(size=(2, count))
    without = (noise[0] - size) / np.maximum(1, size)
    total = noise[1] - size + joins
    with_it = total / np.maximum(1, size + joins)
    p, q = (np.mean(x > -0.776) for x in (with_it, without))
    spread = math.sqrt((p + math.e * q) / count)
    assert abs(p - math.exp(0.5) * q - 0.0125056) < 5 * spread < 2.5e-3
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.1))
    claim = al.delta(run, epsilon=0.5, adjacency="remove").upper
    assert p - math.exp(0.5) * q - 5 * spread > 4 * claim


def test_a_run_with_replacement_has_a_chained_bound():
    """Ten steps, others -1, 1 against -1: below what is chained."""
    n, b = 100, 10
    chances = [
        math.comb(b, k) * (1 / n) ** k * (1 - 1 / n) ** (b - k)
        for k in range(b + 1)
    ]
    chances[0] += 1 - math.fsum(chances)
    step = al.MixtureOfGaussians([2.0 * k for k in range(b + 1)], chances, 1.0)
    run = al.Release(step, count=10)
    reached = al.delta(run, epsilon=1.0, adjacency="remove").lower
    chained = substitute_delta_bound(run, epsilon=1.0, splits=3)
    assert reached < chained < 4 * reached


def test_two_kinds_of_noise_on_one_sample():
    """One step of the amplified curve, by a double sum."""
    step = 0.02
    z = np.arange(-20, 22, step) + step / 2
    normal = [
        np.exp(-((z - m) ** 2) / 8) / math.sqrt(8 * math.pi) for m in (0, 1)
    ]
    laplace = [np.exp(-np.abs(z - m) / 2) / 4 for m in (0, 1)]
    q, p = (
        np.multiply.outer(a, b) * step**2
        for a, b in zip(normal, laplace, strict=True)
    )
    mixture = 0.9 * q + 0.1 * p
    found = np.sum(np.maximum(mixture - math.exp(0.2) * q, 0))
    queries = [al.Release(al.Gaussian(2.0)), al.Release(al.Laplace(2.0))]
    inner = math.log1p(math.expm1(0.2) / 0.1)
    known = al.delta(queries, epsilon=inner, adjacency="remove")
    assert abs(found / (0.1 * known.upper) - 1) < 2e-3
