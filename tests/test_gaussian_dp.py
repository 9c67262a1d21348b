"""Gaussian DP against exact fractions, mpmath, closed forms and the paper.

A trade-off function is known exactly where all probabilities are fractions:
`ExactCurve` holds the corners. One sampled Gaussian step is known in closed
form: `SampledStep`. Everything else is held against `truth` or itself.
"""

# Lists stand for arrays, and wrong kinds for right ones, on purpose.
# mypy: disable-error-code="arg-type"

import json
import math
from decimal import Inexact, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import truth
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri_exp

import accountlib as al
from accountlib.engine import single_runs
from accountlib.gaussian_dp import attackers, one_number, report
from accountlib.gaussian_dp.certified_curves import (
    Profile,
    both_signs,
    lower_kinks,
    missed_at,
    polygon_corners,
    thinned,
)

DATA = Path(__file__).parent / "data"
BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}
SIDES = ("remove", "add", "add-or-remove")
CIFAR = al.Poisson(16384 / 50000)
NAN, INF = math.nan, math.inf


# --- the truth --------------------------------------------------------------


def normal(z):
    """The normal distribution function, in the precision of mpmath."""
    return mp.erfc(-z / mp.sqrt(2)) / 2


def quantile(p):
    """Its inverse, by Newton's method on the logarithm."""
    p = mp.mpf(p)
    if p <= 0 or p >= 1:
        return -mp.inf if p <= 0 else mp.inf
    if p > 0.5:
        return -quantile(1 - p)
    z = mp.mpf(float(ndtri_exp(float(mp.log(p)))))
    for _ in range(50):
        value = normal(z)
        step = mp.log(value / p) * value / mp.npdf(z)
        z -= step
        if abs(step) <= mp.mpf(10) ** (8 - mp.mp.dps) * (1 + abs(z)):
            break
    return z


def mu_of(x, y):
    """The mu whose curve passes through the error rates x and y."""
    return -quantile(x) - quantile(y)


def as_mpf(value: Fraction):
    return mp.mpf(value.numerator) / value.denominator


def gaussian_profile(epsilon, mu):
    low, high = truth.gaussian_delta(epsilon, mu)
    return (low + high) / 2


class ExactCurve:
    """The trade-off function of discrete pairs, in whole numbers.

    The smaller one of several, made convex: its corners, x increasing.
    """

    def __init__(self, *pairs: truth.ExactPair) -> None:
        points = {(Fraction(1), Fraction(0))}
        for pair in pairs:
            classes = sorted(
                (Fraction(i, j), i * w, j * w)
                for (i, j), w in pair.weights.items()
                if i and j
            )
            x = Fraction(sum(q for *_, q in classes), pair.denominator)
            y = Fraction(0)
            points.add((x, y))
            for _, p, q in classes:
                x -= Fraction(q, pair.denominator)
                y += Fraction(p, pair.denominator)
                points.add((x, y))
        hull: list[tuple[Fraction, Fraction]] = []
        for c in sorted(points):
            if hull and hull[-1][0] == c[0]:
                continue  # the lowest one came first
            while len(hull) > 1 and not turns_up(hull[-2], hull[-1], c):
                hull.pop()
            hull.append(c)
        flat = next(k for k, (_, y) in enumerate(hull) if y == 0)
        ends = [(Fraction(1), Fraction(0))] if hull[flat][0] < 1 else []
        self.corners = hull[: flat + 1] + ends

    @classmethod
    def of(cls, pair: truth.ExactPair, adjacency: str) -> "ExactCurve":
        ways = {"remove": [pair], "add": [pair.reversed()]}
        return cls(*ways.get(adjacency, [pair, pair.reversed()]))

    def __call__(self, x: Fraction | float) -> Fraction:
        x = Fraction(x)
        for (a, b), (c, d) in zip(
            self.corners, self.corners[1:], strict=False
        ):
            if a <= x <= c:
                return b + (d - b) * (x - a) / (c - a)
        raise ValueError(f"no rate: {x}")

    def delta_at(self, alpha: Fraction) -> Fraction:
        return max(1 - y - alpha * x for x, y in self.corners)

    def kinks(self) -> list[Fraction]:
        """The alphas where the privacy curve bends: minus the slopes."""
        steps = zip(self.corners, self.corners[1:], strict=False)
        return [(b - d) / (c - a) for (a, b), (c, d) in steps if b > d]

    def mu(self, cutoff: float):
        """By definition: corners and the two crossings."""
        with mp.workdps(40):
            return self._mu(Fraction(cutoff))

    def inverse(self, y: Fraction) -> Fraction:
        """The smallest x with f(x) <= y."""
        for (a, b), (c, d) in zip(
            self.corners, self.corners[1:], strict=False
        ):
            if b <= y:
                return a
            if d <= y:
                return a + (c - a) * (b - y) / (b - d)
        raise ValueError(f"no rate: {y}")

    def _mu(self, c: Fraction):
        if self(c) < c:
            return max(
                mu_of(as_mpf(c), as_mpf(self(c))),
                mu_of(as_mpf(self.inverse(c)), as_mpf(c)),
            )
        points = [(x, y) for x, y in self.corners if x >= c and y >= c]
        points.append((c, self(c)))
        steps = zip(self.corners, self.corners[1:], strict=False)
        for (x, y), (right, low) in steps:
            if y >= c > low:
                points.append((x + (right - x) * (y - c) / (y - low), c))
        return max(mu_of(as_mpf(x), as_mpf(y)) for x, y in points)

    def regret(self, mu: float):
        """By Lemma "Kinks decide": exact but for 25 digits."""
        values = [mp.mpf(0)]
        with mp.workdps(40):
            for a in self.kinks() if mu else []:
                alpha, own = as_mpf(a), as_mpf(self.delta_at(a))
                promised = gaussian_profile(mp.log(alpha), mu)
                values.append((promised - own) / (1 + alpha))
        return max(values)


def exp_fraction(epsilon: float) -> tuple[Fraction, Fraction]:
    """Fractions around e^epsilon, 1e-40 apart."""
    with mp.workdps(50):
        middle = Fraction(str(mp.exp(mp.mpf(epsilon))))
    return middle * (1 - Fraction(1, 10**40)), middle * (
        1 + Fraction(1, 10**40)
    )


def turns_up(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])


class SampledStep:
    """One Poisson-sampled Gaussian step, remove, in closed form.

    The test "accuse above z" has the error rates x = Phi(-z) and
    y = (1 - rate) Phi(z) + rate Phi(z - 1/sigma); no test is better.
    """

    def __init__(self, noise: float, rate: float) -> None:
        self.shift, self.rate = 1 / mp.mpf(noise), mp.mpf(rate)

    def errors(self, z):
        missed = (1 - self.rate) * normal(z)
        return normal(-z), missed + self.rate * normal(z - self.shift)

    def mu_at(self, z):
        """z - quantile(y), with 1 - y where that is small."""
        found = (1 - self.rate) * normal(-z)
        found += self.rate * normal(self.shift - z)
        if found < 0.5:
            return z + quantile(found)
        return z - quantile(self.errors(z)[1])

    def mu(self, cutoff: float):
        """Largest mu between the cut-offs: golden section on a grid."""
        c = mp.mpf(cutoff)
        high = -quantile(c)
        if self.errors(high)[1] < c:
            return self.mu_at(high)
        a, b = -mp.mpf(60), high
        for _ in range(150):  # to where y = c
            middle = (a + b) / 2
            a, b = (a, middle) if self.errors(middle)[1] >= c else (middle, b)
        places = mp.linspace(b, high, 40)
        values = [self.mu_at(z) for z in places]
        k = values.index(max(values))
        a, b = places[max(k - 1, 0)], places[min(k + 1, 39)]
        part = (mp.sqrt(5) - 1) / 2
        for _ in range(16):
            u, v = b - part * (b - a), a + part * (b - a)
            one, two = self.mu_at(u), self.mu_at(v)
            values += [one, two]
            a, b = (a, v) if one > two else (u, b)
        return max(values)


# --- formulas ---------------------------------------------------------------


@given(
    st.one_of(st.floats(1e-300, 1), st.floats(0, 1e-9).map(lambda x: 1 - x)),
    st.floats(0, 60),
)
@settings(max_examples=150, deadline=None)
def test_gaussian_curve_in_high_precision(x, mu):
    value = al.gaussian_tradeoff(x, mu=mu)
    with mp.workdps(60):
        known = normal(-quantile(mp.mpf(x)) - mp.mpf(mu))
        if known > mp.mpf(10) ** -300:
            assert abs(value / known - 1) <= 1e-12
        else:
            assert value <= 1e-299


def test_gaussian_curve_at_the_ends():
    ends = al.gaussian_tradeoff([0.0, 1.0], mu=3.0)
    assert ends.tolist() == [1.0, 0.0]
    assert al.gaussian_tradeoff(0.25, mu=0.0) == pytest.approx(0.75, rel=1e-15)
    assert al.gaussian_tradeoff(0.25, mu=1e300) == 0


@given(
    st.fractions(0, 1), st.floats(0, 40), st.sampled_from([0.0, 2**-20, 0.25])
)
def test_dp_curve_is_that_of_its_worst_pair(x, epsilon, delta):
    x = float(x)
    with mp.workdps(60):
        a, d = mp.exp(mp.mpf(epsilon)), 1 - mp.mpf(delta)
        known = max(mp.mpf(0), d - a * x, (d - x) / a)
        value = al.dp_tradeoff(x, epsilon=epsilon, delta=delta)
        assert abs(value - known) <= 1e-15
    pair = al.ApproximateDP(epsilon, delta).pair()
    assert isinstance(pair, al.DiscretePair)  # best outcomes first
    for k in range(1, 4):
        rate = min(math.fsum(pair.q[:k]), 1.0)
        missed = max(1 - math.fsum(pair.p[:k]), 0.0)
        value = al.dp_tradeoff(rate, epsilon=epsilon, delta=delta)
        assert value == pytest.approx(missed, abs=1e-14)


@pytest.mark.parametrize("epsilon", [700.0, 705.0, 709.0, 720.0, 1e300])
@pytest.mark.parametrize("x", [5e-324, 1e-310, 1e-304])
def test_dp_curve_beyond_the_largest_float(x, epsilon):
    with mp.workdps(40):
        slope = mp.exp(min(mp.mpf(epsilon), 1000))
        assert (
            al.dp_tradeoff(x, epsilon=epsilon) <= max(0, 1 - slope * x) + 1e-12
        )


@given(st.one_of(st.floats(1e-300, 1e-3), st.floats(1e-3, 700)))
@settings(max_examples=150, deadline=None)
def test_pure_dp_in_high_precision(epsilon):
    value = al.mu_from_pure_dp(epsilon)
    with mp.workdps(60):
        if epsilon < 1e-30:
            known = mp.mpf(epsilon) * mp.sqrt(mp.pi / 2)
        elif epsilon < 1:
            known = mp.sqrt(8) * mp.erfinv(mp.tanh(mp.mpf(epsilon) / 2))
        else:
            known = -2 * quantile(1 / (1 + mp.exp(mp.mpf(epsilon))))
        assert known <= value <= known * (1 + mp.mpf(3) / 10**14)


def test_pure_dp_at_extremes():
    assert al.mu_from_pure_dp(0.0) == 0
    assert al.mu_from_pure_dp(1e-308) > 1e-308
    assert al.mu_from_pure_dp(1e308) == pytest.approx(math.sqrt(8) * 1e154)
    assert al.mu_from_pure_dp([[0.0, 1.0]]).shape == (1, 2)


@given(st.one_of(st.just(0.0), st.floats(1e-6, 1e4)), st.floats(-250, -0.1))
@settings(max_examples=100, deadline=None)
def test_budget_of_gaussian_noise(epsilon, log10_delta):
    """On the side where mu-GDP implies the guarantee, and close to it."""
    delta = 10.0**log10_delta
    mu = al.mu_from_epsilon_delta(epsilon, delta=delta)
    assert truth.gaussian_delta(epsilon, mu)[0] <= delta
    assert truth.gaussian_delta(epsilon, mu * (1 + 1e-10))[1] >= delta


@pytest.mark.parametrize("gap", [1e-6, 1e-10, 1e-12, 1e-14])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 50.0])
def test_budget_with_a_delta_near_1(epsilon, gap):
    delta = 1 - gap
    mu = al.mu_from_epsilon_delta(epsilon, delta=delta)
    assert truth.gaussian_delta(epsilon, mu * (1 - 1e-9))[1] <= delta


def test_budget_at_extremes():
    ends = al.mu_from_epsilon_delta(1.0, delta=[0.0, 1.0])
    assert ends.tolist() == [0.0, INF]
    for epsilon in (1e8, 1e20, 1e33, 1e40, 1e154, 1e300, 1e308):
        mu = al.mu_from_epsilon_delta(epsilon, delta=1e-5)
        known = math.sqrt(2) * math.sqrt(epsilon)
        assert mu == pytest.approx(known, rel=1e-3), epsilon
    shape = al.mu_from_epsilon_delta([[1.0], [2.0]], delta=[0.1, 0.2]).shape
    assert shape == (2, 2)


def renyi_by_bisection(x, order, rdp):
    """The smallest y that eq. (gdp-renyi) allows in both directions."""
    x, a = mp.mpf(x), mp.mpf(order)
    room = (a - 1) * mp.mpf(rdp)

    def excess(odds):
        hit, miss = 1 / (1 + mp.exp(odds)), 1 / (1 + mp.exp(-odds))
        one = hit**a * x ** (1 - a) + miss**a * (1 - x) ** (1 - a)
        two = (1 - x) ** a * miss ** (1 - a) + x**a * hit ** (1 - a)
        return mp.log(max(one, two)) - room

    low, high = mp.mpf(-690), mp.log1p(-x) - mp.log(x)
    if excess(low) <= 0:
        return mp.mpf(0)
    for _ in range(120):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return 1 / (1 + mp.exp(-high))


def test_renyi_curves_in_high_precision():
    rng = np.random.default_rng(12)
    for _ in range(60):
        x = float(10 ** rng.uniform(-30, -0.01))
        order = float(1 + 10 ** rng.uniform(-5, 4))
        rdp = float(10 ** rng.uniform(-4, 2))
        value = one_number.renyi_tradeoff(x, order=order, rdp=rdp)
        with mp.workdps(50):
            known = renyi_by_bisection(x, order, rdp)
            setting = (x, order, rdp)
            assert value <= known * (1 + mp.mpf(10) ** -15), setting
            if known > mp.mpf(10) ** -290:
                assert value >= known * (1 - mp.mpf(10) ** -6), setting


@pytest.mark.parametrize(
    ("x", "order", "rdp"),
    [
        (0.17549762274068514, 1.0000025388099858, 9.5e-11),
        (0.4212080753641121, 1.000001129243274, 6.6e-4),
        (0.8032005389249606, 1.000064108953453, 3.7e-13),
        (0.45, 1.0000659, 2.8e-8),
        (0.3, 2.0, 1e-18),
        (0.3, 1e6, 1e-12),
        (0.77, 59.8, 0.0),
    ],
)
@pytest.mark.filterwarnings("error")
def test_renyi_curves_of_tiny_divergences(x, order, rdp):
    value = one_number.renyi_tradeoff(x, order=order, rdp=rdp)
    with mp.workdps(60):
        assert value <= renyi_by_bisection(x, order, rdp)


def test_renyi_curve_is_below_that_of_the_mechanism():
    """A Gaussian is mu-GDP, so all of its Renyi curves are below f_mu."""
    x = np.geomspace(1e-9, 0.999, 60)
    for mu in (0.1, 1.0, 4.0):
        exact = al.gaussian_tradeoff(x, mu=mu)
        best = np.zeros(len(x))
        for order in (1.01, 1.5, 2.0, 4.0, 16.0, 64.0):
            curve = one_number.renyi_tradeoff(
                x, order=order, rdp=order * mu**2 / 2
            )
            assert np.all(curve <= exact)
            best = np.maximum(best, curve)
        assert np.all(best[x > 0.5] > 0.3 * exact[x > 0.5]) or mu > 1


@given(st.floats(-300, -0.001), st.floats(0, 8))
@settings(max_examples=100, deadline=None)
def test_mu_through_a_point(log10_x, mu):
    x = 10.0**log10_x
    with mp.workdps(60):
        found = float(normal(mu + quantile(mp.mpf(x))))
        if 1e-300 < found < 1 - 1e-6:
            value = one_number.mu_from_errors(
                np.array([x]), np.array([found])
            )[0]
            exact = quantile(mp.mpf(found)) - quantile(mp.mpf(x))
            assert abs(value - exact) <= 1e-13 * (1 + abs(quantile(x)))


# --- published numbers ------------------------------------------------------


def test_table_3():
    facts = json.loads((DATA / "gdp_table3.json").read_text("utf-8"))
    deltas = facts["columns_found"]
    assert deltas == [1e-5, 1e-6, 1e-9] and len(facts["rows"]) == 8
    for row in facts["rows"]:
        mu = al.mu_from_epsilon_delta(row["eps"], delta=deltas)
        assert [round(x, 2) for x in mu] == row["seed"]
        assert mu == pytest.approx(row["recomputed"], rel=1e-9)


PURE = [
    # epsilon, mu as printed, regret by the exact formula
    (0.1, 0.125309, 0.00753958),
    (0.5, 0.623893, 0.03524088),
    (1.0, 1.232035, 0.05754640),
    (2.0, 2.357961, 0.05626923),
    (4.0, 4.194478, 0.01459250),
]


@pytest.mark.parametrize(("epsilon", "mu", "regret"), PURE)
def test_proposition_6_1(epsilon, mu, regret):
    assert al.mu_from_pure_dp(epsilon) == pytest.approx(mu, abs=6e-7)
    fit = al.gdp(al.Release(al.PureDP(epsilon)), **BOTH)
    with mp.workdps(40):
        p = 1 / (1 + mp.exp(mp.mpf(epsilon)))
        exact_mu = -2 * quantile(p)
        exact = gaussian_profile(epsilon, exact_mu) * p
        assert exact_mu <= fit.mu <= exact_mu * (1 + mp.mpf(10) ** -9)
        assert exact <= fit.regret <= exact + mp.mpf(10) ** -9
        assert abs(exact - regret) <= 6e-9
    assert fit.regret > 0.005  # at the corners of the curve it is 0


def test_laplace_of_scale_1():
    fit = al.gdp(al.Release(al.Laplace(1.0)), **BOTH)
    assert fit.mu == pytest.approx(1.030064, abs=1e-6)
    assert fit.regret == pytest.approx(0.037016, abs=2e-6)
    assert not fit.is_good


def census(noise):
    facts = json.loads((DATA / "census_topdown.json").read_text("utf-8"))
    sigmas = facts["sigma_by_level"]
    assert len(sigmas) == 8 and facts["queries_per_level"] == 10
    return [al.Release(noise(s), count=10) for s in sigmas]


def test_topdown():
    fit = al.gdp(census(al.Gaussian), **BOTH)
    assert fit.mu == pytest.approx(2.70185, abs=1e-5)
    assert fit.mu == pytest.approx(math.sqrt(2 * 3.65), rel=1e-5)
    assert fit.exact and fit.regret < 1e-8


def test_topdown_with_discrete_noise():
    """Noise on the integers differs in the sixth digit of mu."""
    fit = al.gdp(census(al.DiscreteGaussian), **BOTH)
    assert fit.mu_lower <= 2.70185122 + 1e-5 and fit.mu >= 2.70185122 - 1e-5
    assert fit.mu == pytest.approx(2.70185, abs=1e-4)
    assert fit.regret < 1e-3 and fit.is_good
    finer = al.gdp(census(al.DiscreteGaussian), relative_width=1e-5, **BOTH)
    assert finer.mu == pytest.approx(2.70185, abs=2e-5)


@pytest.mark.parametrize(
    ("noise", "count", "mu"),
    [
        (40, 906, 0.25),
        (24, 1156, 0.47),
        (20, 1656, 0.67),
        (16, 1765, 0.86),
        (12, 2007, 1.23),
        (9.4, 2000, 1.57),
        (21.1, 250, 0.25),
        (15.8, 500, 0.47),
        (12, 1000, 0.87),
    ],
)
def test_tables_4_and_5(noise, count, mu):
    fit = al.gdp(al.Release(al.Gaussian(noise), CIFAR, count), **BOTH)
    assert round(fit.mu, 2) == round(fit.mu_lower, 2) == mu
    assert fit.mu_lower <= fit.mu <= fit.mu_lower * (1 + 2e-4)
    assert 1e-5 < fit.regret < 2e-3 and fit.is_good


@pytest.mark.parametrize(
    ("rate", "scale", "low", "high"),
    [(0.75, 0.5, 1.7408, 1.7411), (0.5, 1.0, 0.67535, 0.67540)],
)
@pytest.mark.parametrize("adjacency", SIDES)
def test_sampled_laplace_twice(rate, scale, low, high, adjacency):
    """Trap 11: the larger one of both curves gives 1.673 and 0.6405."""
    run = al.Release(al.Laplace(scale), al.Poisson(rate), count=2)
    fit = al.gdp(run, adjacency=adjacency)
    assert low < fit.mu_lower <= fit.mu < high


@pytest.mark.parametrize(("rate", "scale"), [(0.75, 0.5), (0.5, 1.0)])
@pytest.mark.parametrize("adjacency", SIDES)
def test_curves_of_sampled_laplace_twice(rate, scale, adjacency):
    """On the right side of the exact privacy curve, at both signs."""
    run = al.Release(al.Laplace(scale), al.Poisson(rate), count=2)
    lower, upper = both_curves(run, adjacency=adjacency)
    ways = {"add-or-remove": ("remove", "add")}.get(adjacency, (adjacency,))
    for epsilon in (-2.0, -0.3, 0.0, 0.25, 0.9, 1.5, 3.0):
        known = max(
            truth.sampled_laplace_delta(
                epsilon, [(scale, rate)] * 2, direction=way
            )
            for way in ways
        )
        assert lower.delta(epsilon) >= known - 1e-15
        assert upper.delta(epsilon) <= known + 1e-15
        assert lower.delta(epsilon) - upper.delta(epsilon) <= 2e-3


def both_curves(run, **options):
    lower, upper = (
        al.tradeoff_curve(run, bound=side, **options)
        for side in ("lower", "upper")
    )
    return lower, upper


# --- one sampled step -------------------------------------------------------


def test_mu_grows_as_the_cutoff_shrinks():
    """Trap 9: 0.083, 0.225, 0.592 on the way to 1, where no x is left."""
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.01))
    before = 0.0
    for cutoff, printed in ((3e-5, 0.083), (1e-9, 0.225), (1e-33, 0.594)):
        fit = al.gdp(run, cutoff=cutoff, **BOTH)
        with mp.workdps(40):
            known = SampledStep(1.0, 0.01).mu(cutoff)
        assert fit.mu_lower <= known <= fit.mu <= known * (1 + 1e-4)
        assert fit.mu == pytest.approx(printed, abs=1e-3)
        assert fit.cutoff == cutoff and fit.mu_lower > before
        before = fit.mu
    assert al.gdp(run, cutoff=1e-250, **BOTH).mu < 1


@pytest.mark.parametrize("cutoff", [0.1, 1e-3, 1e-10, 1e-33, 1e-100, 1e-200])
@pytest.mark.parametrize(
    ("noise", "rate"),
    [(1.0, 0.01), (0.3, 0.2), (5.0, 1e-3), (30.0, 0.9), (2.0, 0.5)],
)
def test_one_sampled_step(noise, rate, cutoff):
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    with mp.workdps(40):
        known = SampledStep(noise, rate).mu(cutoff)
        for adjacency in ("remove", "add"):
            fit = al.gdp(run, adjacency=adjacency, cutoff=cutoff)
            assert fit.mu_lower <= known <= fit.mu, adjacency
            assert fit.mu <= known * (1 + 1e-3), adjacency
            assert fit.mu_lower >= known * (1 - 1e-3), adjacency


@pytest.mark.parametrize(
    ("noise", "rate"), [(1.0, 0.01), (0.1, 0.01), (0.15, 1e-3), (3.0, 0.5)]
)
@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
def test_regret_of_one_sampled_step(noise, rate, width):
    """At least what any single epsilon shows, 0 above all."""
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    fit = al.gdp(run, relative_width=width, **BOTH)
    epsilons = [0.0, *np.geomspace(1e-8, 3, 20)]
    for epsilon in epsilons:
        known = truth.sampled_gaussian_delta(epsilon, noise, rate)
        shown = gaussian_profile(epsilon, fit.mu) - known
        assert fit.regret >= shown / (1 + mp.exp(epsilon)), epsilon


@pytest.mark.parametrize(
    ("noise", "rate"), [(1.0, 0.01), (0.3, 0.5), (8.0, 1e-3)]
)
@pytest.mark.parametrize("adjacency", ["remove", "add"])
def test_curves_of_one_sampled_step(noise, rate, adjacency):
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    lower, upper = both_curves(run, adjacency=adjacency)
    with mp.workdps(50):
        step = SampledStep(noise, rate)
        for z in mp.linspace(-6, 6, 49):
            x, y = step.errors(z)
            if adjacency == "add":
                x, y = y, x
            at = float(x)
            moved = 1e-15 * (1 + abs(y / x))  # x was rounded
            assert lower(at) <= y + moved
            assert upper(at) >= y - moved
            assert upper(at) - lower(at) <= 1e-4


@pytest.mark.parametrize("cutoff", [1e-33, 1e-100, 1e-200])
@pytest.mark.parametrize("adjacency", SIDES)
def test_little_noise_and_a_tiny_cutoff(cutoff, adjacency):
    """Error rates far below 1e-16 on one side, near 1 on the other."""
    run = al.Release(al.Gaussian(0.05), al.Poisson(0.9))
    fit = al.gdp(run, adjacency=adjacency, cutoff=cutoff)
    with mp.workdps(40):
        known = SampledStep(0.05, 0.9).mu(cutoff)
        assert fit.mu_lower <= known <= fit.mu <= known * (1 + 1e-3)


@pytest.mark.parametrize(
    ("noise", "rate", "cutoff"),
    [
        (0.054282919865022025, 0.21732738539585536, 1.957944270521951e-163),
        (0.05377829330668975, 0.47501607534888746, 8.718867123031629e-149),
        (0.05, 0.2619382364607795, 2.5309274099299057e-89),
    ],
)
@pytest.mark.parametrize("adjacency", SIDES)
def test_the_line_at_the_cutoff(noise, rate, cutoff, adjacency):
    """Corners that rounding has put out of order; mu_lower was too large."""
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    fit = al.gdp(run, adjacency=adjacency, cutoff=cutoff)
    with mp.workdps(50):
        # No test of the truth has a larger mu than at the largest z.
        known = SampledStep(noise, rate).mu_at(-quantile(mp.mpf(cutoff)))
        assert known <= fit.mu
        if adjacency == "remove":
            assert fit.mu_lower <= known <= fit.mu * (1 + 1e-4)


def test_thinned_epsilons_stay_apart():
    """Also if two of them lie left and right of a multiple of the gap."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        points = np.abs(rng.normal(size=300)) * 10.0 ** rng.uniform(-14, 2)
        gap = 1e-14 + 1e-9 * points.max()
        whole = gap * rng.integers(0, 1000, 300)
        near = whole * (1 + rng.choice([-1, 0, 1], 300) * 2e-16)
        kept = thinned(np.concatenate([points, points[:9], near]))
        assert np.all(np.diff(np.exp(kept)) > 0)


def test_where_no_test_has_both_error_rates():
    """By definition the larger mu of the two crossings of the cut-off."""
    run = al.Release(al.Gaussian(0.2), al.Poisson(0.9))
    with mp.workdps(50):
        step = SampledStep(0.2, 0.9)
        x, y = step.errors(-quantile(mp.mpf("0.1")))
        assert y < 0.1
        low, high = mp.mpf(-9), mp.mpf(9)
        for _ in range(150):
            z = (low + high) / 2
            low, high = (low, z) if step.errors(z)[1] > 0.1 else (z, high)
        known = max(mu_of(x, y), mu_of(*step.errors(low)))
    for adjacency in ("remove", "add"):
        fit = al.gdp(run, adjacency=adjacency, cutoff=0.1)
        assert fit.mu_lower <= known * (1 + 1e-9)
        assert fit.mu >= known * (1 - 1e-9)


# --- exact fractions --------------------------------------------------------


def coin(p: float, rate: float = 1.0, count: int = 1):
    """Randomized response, exactly and as a release."""
    truthful = Fraction(p)
    pair = truth.ExactPair.of(
        [truthful, 1 - truthful], [1 - truthful, truthful]
    )
    release = al.Release(al.RandomizedResponse(p), al.Poisson(rate), count)
    return pair.poisson(rate).power(count), release


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


@pytest.mark.parametrize(
    ("p", "rate", "count"),
    [
        (0.75, 1.0, 1),
        (0.75, 0.5, 2),
        (0.625, 0.5, 9),
        (0.5625, 1.0, 40),
        (0.875, 0.125, 12),
        (0.25, 0.25, 5),
    ],
)
@pytest.mark.parametrize("adjacency", SIDES)
def test_randomized_response_in_fractions(p, rate, count, adjacency):
    exact, run = coin(p, rate, count)
    hold_against_fractions(exact, run, adjacency, 2e-4)


@pytest.mark.parametrize("cutoff", [0.05, 1e-5, 1e-20, 1e-60])
def test_randomized_response_at_other_cutoffs(cutoff):
    exact, run = coin(0.75, 0.5, 8)
    hold_against_fractions(exact, run, "add-or-remove", 2e-4, cutoff=cutoff)


@pytest.mark.parametrize(
    ("p", "count"),
    [(1023 / 1024, 5), (15 / 16, 20), (63 / 64, 8)],
)
@pytest.mark.parametrize("adjacency", SIDES)
def test_hardly_any_privacy_in_fractions(p, count, adjacency):
    """Error rates near 1e-9 of strong attackers: no chord may hide them."""
    exact, run = coin(p, 1.0, count)
    hold_against_fractions(exact, run, adjacency)


@pytest.mark.parametrize(
    ("epsilon", "delta", "count"), [(8.66, 3e-8, 3), (11.0, 0.0, 3)]
)
@pytest.mark.parametrize("cutoff", [1e-10, 0.1])
def test_advantage_of_strong_attackers(epsilon, delta, count, cutoff):
    run = al.Release(al.ApproximateDP(epsilon, delta), count=count)
    bound = al.delta(run, epsilon=0.0, **BOTH)
    lower, upper = both_curves(run, cutoff=cutoff, **BOTH)
    assert lower.advantage >= bound.lower
    assert upper.advantage <= bound.upper


@pytest.mark.parametrize("seed", range(24))
def test_discrete_pairs_in_fractions(seed):
    """Neyman-Pearson: the curve is that of the best tests."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6))
    p = truth.dyadic_distribution(rng, size)
    q = truth.dyadic_distribution(rng, size)
    rate = float(rng.choice([1.0, 0.5, 0.25]))
    count = int(rng.choice([1, 1, 2, 4]))
    exact = truth.ExactPair.of(p, q).poisson(rate).power(count)
    run = al.Release(al.DiscretePair(p, q), al.Poisson(rate), count)
    for adjacency in SIDES:
        hold_against_fractions(exact, run, adjacency)


@pytest.mark.parametrize(
    ("p", "q", "count"),
    [
        ((0.45703125, 0.54296875), (1.0, 0.0), 3),
        ((1.0, 0.0), (0.25, 0.75), 2),
        ((0.5, 0.5, 0.0), (0.25, 0.0, 0.75), 1),
        ((0.5, 0.25, 0.25), (0.5, 0.25, 0.25), 2),
    ],
)
@pytest.mark.parametrize("adjacency", SIDES)
def test_outcomes_that_only_one_side_has(p, q, count, adjacency):
    exact = truth.ExactPair.of(p, q).power(count)
    run = al.Release(al.DiscretePair(p, q), count=count)
    hold_against_fractions(exact, run, adjacency)


def test_best_tests_by_hand():
    """All events of a small pair: none is below, the thresholds are on it."""
    p, q = (0.5, 0.25, 0.125, 0.125), (0.0625, 0.25, 0.1875, 0.5)
    run = al.Release(al.DiscretePair(p, q))
    lower, upper = both_curves(run, adjacency="remove")
    for event in range(16):
        chosen = [i for i in range(4) if event >> i & 1]
        x, w = sum(q[i] for i in chosen), sum(p[i] for i in chosen)
        assert 1 - w >= lower(x) - 1e-15, chosen
        if chosen == list(range(len(chosen))):  # the largest ratios
            assert lower(x) == pytest.approx(1 - w, abs=1e-8)
            assert upper(x) == pytest.approx(1 - w, abs=1e-8)


def test_two_different_coins():
    one, first = coin(0.75)
    two, second = coin(0.625)
    hold_against_fractions(
        one.times(two), [first, second], "add-or-remove", 1e-3
    )


@pytest.mark.parametrize("seed", range(6))
def test_lists_of_discrete_pairs_in_fractions(seed):
    rng = np.random.default_rng(100 + seed)
    parts, run = [], []
    for _ in range(int(rng.integers(2, 4))):
        size, count = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        p = truth.dyadic_distribution(rng, size)
        q = truth.dyadic_distribution(rng, size)
        parts.append((truth.ExactPair.of(p, q), count))
        run.append(al.Release(al.DiscretePair(p, q), count=count))
    exact = truth.compose_exact(parts)
    for adjacency in SIDES:
        hold_against_fractions(exact, run, adjacency)


def test_regret_is_no_matter_of_corners():
    """Trap 10: all corners of randomized response are on the curve of mu."""
    exact, run = coin(0.75)
    fit = al.gdp(run, **BOTH)
    for x, y in ExactCurve.of(exact, "remove").corners:
        promised = al.gaussian_tradeoff(float(x), mu=fit.mu)
        assert promised == pytest.approx(float(y), abs=1e-12)
    assert fit.regret == pytest.approx(0.0594, abs=1e-3)


def test_table_of_a_composition():
    exact, run = coin(0.75, 1.0, 3)
    pair = al.RandomizedResponse(0.75).pair()
    table = al.discretize(pair, step=math.log(3) / 4)
    curve = attackers.table_tradeoff(al.self_compose(table, 3))
    known = ExactCurve.of(exact, "remove")
    for x in np.linspace(0, 1, 65).tolist():
        assert abs(curve(x) - float(known(x))) <= 1e-9
    smooth = al.self_compose(al.discretize(al.GaussianPair(0.5), step=0.01), 4)
    x = np.geomspace(1e-9, 1, 50)
    gap = al.gaussian_tradeoff(x, mu=1.0) - attackers.table_tradeoff(smooth)(x)
    assert np.all(gap >= -1e-12) and np.all(gap <= 1e-3)


# --- many steps -------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "rate", "count"),
    [(1.0, 0.01, 200), (4.0, 0.3, 50), (0.7, 0.002, 1000)],
)
@pytest.mark.parametrize("adjacency", ["remove", "add"])
def test_delta_of_many_steps_by_contours(noise, rate, count, adjacency):
    """A lower curve is valid exactly if its delta is never too small."""
    run = al.Release(al.Gaussian(noise), al.Poisson(rate), count=count)
    lower, upper = both_curves(run, adjacency=adjacency)
    fit = al.gdp(run, adjacency=adjacency)
    for epsilon in (0.05, 0.5, 1.5):
        low, high = truth.contour_delta_range(
            epsilon, [(noise, rate, count)], direction=adjacency
        )
        assert lower.delta(epsilon) >= low - 1e-15
        assert upper.delta(epsilon) <= high + 1e-15
        assert lower.delta(epsilon) <= high * (1 + 1e-2) + 1e-12
        shown = al.gaussian_delta(epsilon, mu=fit.mu) - high
        assert fit.regret >= shown / (1 + math.exp(epsilon))
        assert fit.delta(epsilon) >= low


def test_gaussians_add_up_exactly():
    run = [
        al.Release(al.Gaussian(2.0), count=3),
        al.Release(al.Gaussian(4.0), al.Poisson(1.0), count=4),
    ]
    for adjacency in SIDES:
        fit = al.gdp(run, adjacency=adjacency)
        assert fit.mu_lower <= 1.0 <= fit.mu <= 1.0 + 1e-14
        assert fit.exact and fit.regret <= 1e-14
        lower, upper = both_curves(run, adjacency=adjacency)
        x = np.geomspace(1e-12, 1, 200)
        exact = al.gaussian_tradeoff(x, mu=1.0)
        assert np.all(lower(x) <= exact * (1 + 1e-12))
        assert np.all(upper(x) >= exact * (1 - 1e-12))


@pytest.mark.parametrize("mu", [0.01, 1.0, 6.0, 1000.0])
def test_where_both_error_rates_are_equal(mu):
    run = al.Release(al.Gaussian(1 / mu))
    lower, upper = both_curves(run, **BOTH)
    known = 0.5 * math.erfc(mu / 2 / math.sqrt(2))
    assert lower.equal_error_rate <= known * (1 + 1e-12)
    assert upper.equal_error_rate >= known * (1 - 1e-12)


def test_groups_and_fixed_batches():
    """Noise sigma/2 for a group of 2, and for an exchanged record."""
    run = al.Release(al.Gaussian(2.0), count=3)
    fit = al.gdp(run, group_size=2, **BOTH)
    assert fit.mu == pytest.approx(math.sqrt(3), rel=1e-12)
    batch = al.Release(al.Gaussian(4.0), al.FixedBatch(5, 20), count=30)
    poisson = al.Release(al.Gaussian(2.0), al.Poisson(0.25), count=30)
    assert al.gdp(batch, **BOTH) == al.gdp(poisson, **BOTH)


@pytest.mark.parametrize("adjacency", SIDES)
def test_regret_of_a_billion_steps(adjacency):
    """Close to the Gaussian limit, whichever direction is asked."""
    run = al.Release(al.Gaussian(1.0), al.Poisson(1e-6), count=10**9)
    fit = al.gdp(run, adjacency=adjacency)
    assert fit.mu_lower >= 0.0414 and fit.mu <= 0.0416
    assert fit.regret <= 1e-4


# --- random runs ------------------------------------------------------------


def random_run(rng):
    """A release, or two of different kinds."""
    run = []
    parts = int(rng.choice([1, 1, 1, 2]))
    for _ in range(parts):
        scale = float(10 ** rng.uniform(-0.2, 1))
        mechanism = [
            al.Gaussian(scale),
            al.Gaussian(scale),
            al.Gaussian(scale),
            al.Laplace(scale),
            al.RandomizedResponse(float(rng.uniform(0.2, 0.9))),
            al.PureDP(1 / scale),
            al.ApproximateDP(1 / scale, float(10 ** rng.uniform(-9, -3))),
            al.DiscreteGaussian(scale, int(rng.integers(1, 3))),
            al.DiscreteLaplace(scale, int(rng.integers(1, 4))),
        ][rng.integers(9)]
        sampling = [
            al.FullBatch(),
            al.Poisson(float(rng.uniform())),
            al.Poisson(float(10 ** rng.uniform(-4, 0))),
            al.FixedBatch(10, int(rng.integers(20, 1000))),
        ][rng.integers(4)]
        alone = parts == 1 and isinstance(mechanism, al.Gaussian)
        most = rng.choice([0.0, 2.0 if alone else 1.0])
        count = int(10 ** rng.uniform(0, most))
        run.append(al.Release(mechanism, sampling, count))
    return run


@pytest.mark.parametrize("seed", range(50))
def test_500_random_runs(seed):
    rng = np.random.default_rng(1000 + seed)
    for _ in range(10):
        run = random_run(rng)
        cutoff = float(rng.choice([1e-10, 1e-10, 1e-6, 1e-3]))
        options: dict[str, Any] = {
            "adjacency": str(rng.choice(SIDES)),
            "cutoff": cutoff,
            "relative_width": 1e-2,
        }
        fit = al.gdp(run, **options)
        lower, upper = both_curves(run, **options)
        x = np.append(np.geomspace(cutoff, 0.3, 50), np.linspace(0.3, 1, 40))
        assert np.all(lower(x) <= upper(x) + 2e-15), run
        assert 0 <= fit.mu_lower <= fit.mu and 0 <= fit.regret <= 1, run
        inside = x[lower(x) >= cutoff]
        if fit.mu < INF:
            promised = al.gaussian_tradeoff(inside, mu=fit.mu)
            room = 1e-13
            if lower.mu is not None:  # rounded down by its stated error
                room = 1.1e-12 * promised
            assert np.all(promised <= lower(inside) + room), run
        epsilon = float(rng.choice([0.0, 0.1, 0.5, 1.0, 3.0]))
        bound = al.delta(run, epsilon=epsilon, adjacency=options["adjacency"])
        assert lower.delta(epsilon) >= bound.lower - 1e-15, run
        assert upper.delta(epsilon) <= bound.upper + 1e-15, run
        assert fit.delta(epsilon) >= bound.lower - 1e-15, run


# --- random runs against independent truths ---------------------------------


def random_coins(rng):
    """Discrete pairs and coins in fractions, also of strong attackers."""
    parts: list[Any] = []
    run: list[Any] = []
    for _ in range(int(rng.choice([1, 1, 1, 2]))):
        rate = float(rng.choice([1.0, 1.0, 0.5, 0.125, 2.0**-10]))
        kind = rng.integers(3)
        mechanism: Any
        if kind == 0:
            size, bits = int(rng.integers(2, 4)), int(rng.choice([2, 4, 8]))
            p, q = (
                truth.dyadic_distribution(rng, size, bits=bits)
                for _ in range(2)
            )
            count, mechanism = (
                int(rng.choice([1, 1, 2])),
                al.DiscretePair(p, q),
            )
        else:
            bits = int(rng.integers(2, 8 if kind == 1 else 25))
            rare = int(rng.integers(1, 4)) / 2.0 ** (bits + 1)
            p, q = [1 - rare, rare], [rare, 1 - rare]
            mechanism = al.RandomizedResponse(1 - rare)
            count = int(rng.choice([1, 5, 20]))
        exact = truth.ExactPair.of(p, q).poisson(rate)
        if parts:
            count = 1
        parts.append((exact, count))
        run.append(al.Release(mechanism, al.Poisson(rate), count))
    return truth.compose_exact(parts), run, 1


def random_integers(rng):
    """Noise on the integers, for one record or two; tails beyond 1e-130."""
    kind = [al.DiscreteGaussian, al.DiscreteLaplace][rng.integers(2)]
    size, shift = float(rng.choice([0.3, 0.5, 0.8])), int(rng.integers(1, 4))
    group = int(rng.choice([1, 1, 2]))
    rate = float(rng.choice([1.0, 0.5])) if group == 1 else 1.0
    scale, laws = 10**150, []
    with mp.workdps(200):  # what is missing from 1 is added to one outcome
        p, q = integer_noise(kind(size, group * shift))
        for law, other in ((p, q), (q, p)):
            whole = [
                Fraction(int(a * scale), scale)
                for a, b in zip(law, other, strict=True)
                if max(a, b) > mp.mpf(10) ** -130
            ]
            whole[len(whole) // 2] += 1 - sum(whole)
            laws.append(whole)
    exact = truth.ExactPair.of(*laws).poisson(rate)
    run = [al.Release(kind(size, shift), al.Poisson(rate))]
    return exact, run, group


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("family", [random_coins, random_integers])
def test_random_runs_in_fractions(family, seed):
    """240 settings: every rate, delta and mu is on its side, exactly."""
    rng = np.random.default_rng([9, seed])
    for _ in range(4 if family is random_coins else 2):
        exact, run, group = family(rng)
        adjacency = str(rng.choice(SIDES))
        if len(exact.weights) > 200:
            continue
        hold_against_fractions(
            exact,
            run,
            adjacency,
            group_size=group,
            cutoff=float(rng.choice([0.1, 0.03, 1e-3, 1e-10, 1e-30])),
            relative_width=float(rng.choice([1e-2, 1e-3])),
        )


@pytest.mark.parametrize("seed", range(24))
def test_random_sampled_gaussian_steps(seed):
    """Poisson or fixed batches, in closed form: the curve at its tests."""
    rng = np.random.default_rng([19, seed])
    noise, rate = 10 ** rng.uniform(-0.4, 0.8), 10 ** rng.uniform(-3, -0.05)
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    with mp.workdps(50):
        step = SampledStep(noise, rate)
        if seed % 2:  # an exchange within the batch: the distance is doubled
            size = int(rng.integers(5, 3000))
            batch = int(rng.integers(1, size - 1))
            sampling = al.FixedBatch(batch, size)
            run = al.Release(al.Gaussian(noise), sampling)
            step = SampledStep(mp.mpf(noise) / 2, mp.mpf(batch) / size)
    side = str(rng.choice(["remove", "add"]))
    options: dict[str, Any] = {
        "adjacency": side,
        "cutoff": float(rng.choice([0.1, 1e-3, 1e-10, 1e-30])),
        "relative_width": float(rng.choice([1e-2, 1e-3, 1e-4])),
    }
    fit = al.gdp(run, **options)
    lower, upper = both_curves(run, **options)
    with mp.workdps(80):
        known = step.mu(options["cutoff"])
        room = mp.mpf(10) ** -9  # of the golden section
        assert fit.mu_lower <= known * (1 + room) + mp.mpf(10) ** -25
        assert known <= fit.mu
        for z in [*rng.normal(size=6).tolist(), *rng.uniform(-8, 12, 4)]:
            near = [step.errors(z + k * mp.mpf(10) ** -14) for k in (1, -1)]
            if side == "add":
                near = [errors[::-1] for errors in near[::-1]]
            (x, y), (more_x, less_y) = near
            place = float((x + more_x) / 2)
            if x <= place <= more_x and 0 < place < 1:
                assert lower(place) <= y, z
                assert upper(place) >= less_y, z


@pytest.mark.parametrize("seed", range(20))
def test_random_sampled_gaussian_runs(seed):
    """Runs and lists of many steps against the contour integral."""
    rng = np.random.default_rng([29, seed])
    parts = [
        (
            float(10 ** rng.uniform(-0.3, 0.9)),
            float(10 ** rng.uniform(-3, 0)),
            int(10 ** rng.uniform(0, 2.5)),
        )
        for _ in range(int(rng.choice([1, 2])))
    ]
    run = [al.Release(al.Gaussian(s), al.Poisson(q), n) for s, q, n in parts]
    side = str(rng.choice(["remove", "add"]))
    options: dict[str, Any] = {"adjacency": side, "relative_width": 1e-2}
    fit = al.gdp(run, **options)
    lower, upper = both_curves(run, **options)
    for epsilon in [0.05, *rng.uniform(0.1, 4, 2).tolist()]:
        try:
            low, high = truth.contour_delta_range(
                epsilon, parts, direction=side
            )
        except ArithmeticError:  # the contour does not settle
            continue
        assert lower.delta(epsilon) >= low
        assert upper.delta(epsilon) <= high
        assert fit.delta(epsilon) >= low
        shown = al.gaussian_delta(epsilon, mu=fit.mu) if fit.mu < INF else 1
        assert fit.regret >= (shown - high) / (1 + math.exp(epsilon))


@pytest.mark.parametrize("seed", range(20))
def test_random_unsampled_noise(seed):
    """Gaussians of any size, groups, exchanges; and Laplace noise."""
    rng = np.random.default_rng([39, seed])
    parts = [
        (float(10 ** rng.uniform(-3, 4)), int(10 ** rng.uniform(0, 12)))
        for _ in range(int(rng.integers(1, 4)))
    ]
    run = [al.Release(al.Gaussian(s), count=n) for s, n in parts]
    group, side = int(rng.integers(1, 5)), rng.choice([*SIDES, "substitute"])
    options: dict[str, Any] = {"adjacency": str(side), "group_size": group}
    fit = al.gdp(run, **options)
    lower, upper = both_curves(run, **options)
    with mp.workdps(50):
        known = mp.sqrt(mp.fsum(n / mp.mpf(s) ** 2 for s, n in parts))
        known *= group * (2 if side == "substitute" else 1)
        assert fit.mu_lower <= known <= fit.mu
        for x in 10 ** rng.uniform(-30, 0, 6):
            y = normal(-quantile(x) - known)
            assert lower(float(x)) <= y <= upper(float(x))
    scale = float(10 ** rng.uniform(-0.3, 1))
    noise = al.Release(al.Laplace(scale))
    lower, upper = both_curves(noise, **BOTH)
    with mp.workdps(50):
        for x in 10 ** rng.uniform(-9, 0, 8):
            factor = mp.exp(1 / mp.mpf(scale))
            y = max(0, 1 - factor * x, (1 - mp.mpf(x)) / factor)
            if 1 / (2 * factor) <= x <= 0.5:
                y = 1 / (4 * factor * x)
            assert lower(float(x)) <= y <= upper(float(x))


# --- rounding, step by step -------------------------------------------------


@pytest.mark.parametrize(
    ("p", "count", "cutoff"),
    [(0.875, 20, 0.05), (1 - 2.0**-7, 20, 1e-10), (0.9375, 31, 1e-10)],
)
def test_no_test_has_both_error_rates(p, count, cutoff):
    """The definition asks for f(c), far below the cut-off."""
    exact, run = coin(p, 1.0, count)
    known = ExactCurve.of(exact, "remove").mu(cutoff)
    fit = al.gdp(run, cutoff=cutoff, **BOTH)
    assert known > mu_of(cutoff, cutoff)
    assert known * (1 - 2e-4) <= fit.mu_lower <= known
    assert known <= fit.mu <= known * (1 + 2e-4)


def test_no_test_has_both_error_rates_and_directions_differ():
    p, q = [1 - 2.0**-9, 2.0**-9], [2.0**-14, 1 - 2.0**-14]
    exact = truth.ExactPair.of(p, q).power(9)
    run = al.Release(al.DiscretePair(p, q), count=9)
    for adjacency in SIDES:
        hold_against_fractions(exact, run, adjacency, cutoff=1e-3)


def random_lines(rng):
    """Lines of a convex curve, some of them nearly or exactly on others."""
    count = int(rng.integers(3, 40))
    alpha = np.unique(
        np.exp(rng.normal(size=count) * 10.0 ** rng.integers(-3, 2))
    )
    alpha = np.append(alpha, alpha[-1] * (1 + rng.uniform(1e-12, 1)))
    mu = 10 ** rng.uniform(-1, 1)
    delta = al.gaussian_delta(np.log(alpha), mu=mu)
    if rng.random() < 0.5:  # straight pieces
        kinks = np.sort(rng.choice(len(alpha), 2, replace=False))
        delta = np.interp(alpha, alpha[kinks], delta[kinks])
    noise = 1 + rng.integers(-3, 4, len(alpha)) * 2.0**-52
    return alpha, np.minimum.accumulate(delta * noise)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("seed", range(20))
def test_polygons_in_fractions(sign, seed):
    """Lemma "A polygon in floating point", with all lines."""
    rng = np.random.default_rng([49, seed])
    for _ in range(5):
        alpha, delta = random_lines(rng)
        delta = np.maximum(delta, 1e-280)  # no denormal numbers
        x, w, index = polygon_corners(alpha, delta, sign)
        assert np.all(np.diff(x) < 0) and len(index) == len(x) + 1
        lines = [
            (Fraction(d), Fraction(a))
            for a, d in zip(alpha.tolist(), delta.tolist(), strict=True)
        ]
        corners = [
            (Fraction(a), Fraction(b))
            for a, b in zip(x.tolist(), w.tolist(), strict=True)
        ]
        # Between its corners the polygon is straight, their minimum concave.
        if sign < 0:
            for a, b in corners:
                assert b <= min(d + slope * a for d, slope in lines)
        for (a, b), (c, e) in zip(corners, corners[1:], strict=False):
            for part in (0, Fraction(1, 3), Fraction(1, 2), 1):
                at, value = a + part * (c - a), b + part * (e - b)
                least = min(d + slope * at for d, slope in lines)
                assert (value - least) * sign >= 0
                assert abs(value - least) <= Fraction(1, 10**12) * least


@pytest.mark.parametrize("sign", [1, -1])
def test_missed_at_in_fractions(sign):
    rng = np.random.default_rng(59)
    for _ in range(300):
        lines, mirror = random_lines(rng), random_lines(rng)
        x = float(10 ** rng.uniform(-12, 0))
        found = missed_at(x, lines, mirror, sign)
        values = [
            (1 - Fraction(d) - Fraction(x) * (Fraction(a) if k == 0 else 1))
            / (1 if k == 0 else Fraction(a))
            for k, (alpha, delta) in enumerate((lines, mirror))
            for a, d in zip(alpha.tolist(), delta.tolist(), strict=True)
            if a >= 1
        ]
        known = max([Fraction(0), *values])
        assert (known - Fraction(found)) * sign >= 0
        assert abs(known - found) <= Fraction(1, 10**14)


def test_kinks_below_exact_curves():
    """With exact values the lower kinks are below the curve, everywhere."""
    rng = np.random.default_rng(69)
    for _ in range(40):
        size = int(rng.integers(2, 6))
        p, q = (truth.dyadic_distribution(rng, size) for _ in range(2))
        pair = truth.ExactPair.of(p, q)
        most = float(10 ** rng.uniform(-1, 1.3))
        at = np.append(0.0, np.sort(rng.uniform(0, most, 30)))
        profiles = []
        for one in (pair, pair.reversed()):
            ends = np.array([one.delta(e) for e in at.tolist()])
            lower = np.nextafter(ends[:, 0].astype(float), 0)
            upper = np.nextafter(ends[:, 1].astype(float), 1)
            profiles.append(Profile(at, lower, upper, 0.0))
        down, low, up, high = both_signs(*profiles)
        for a, b in zip(down.tolist(), low.tolist(), strict=True):
            assert Fraction(b) <= pair.delta_at(Fraction(a))
        for a, b in zip(up.tolist(), high.tolist(), strict=True):
            assert Fraction(b) >= pair.delta_at(Fraction(a))
        kinks = [
            (Fraction(a), Fraction(b))
            for a, b in zip(
                *map(np.ndarray.tolist, lower_kinks(*profiles)), strict=True
            )
        ]
        for (a, b), (c, d) in zip(kinks, kinks[1:], strict=False):
            for part in (0, Fraction(1, 2), Fraction(9, 10), 1):
                known = pair.delta_at(a + part * (c - a))
                assert b + part * (d - b) <= known
        assert kinks[-1][1] <= Fraction(
            pair.weights.get((1, 0), 0), pair.denominator
        )


def test_single_runs_in_many_small_intervals():
    """The error of a sum of masses is that of its parts, atoms included."""
    rng = np.random.default_rng(79)
    at = np.append(0.0, np.sort(rng.uniform(0, 8, 5000)))
    for noise, rate in ((0.5, 0.3), (2.0, 1e-3)):
        pair = al.SampledPair(al.GaussianPair(1 / noise), rate)
        lower, upper = single_runs.run_curve(pair, at)
        for k in range(0, len(at), 499):
            known = truth.sampled_gaussian_delta(float(at[k]), noise, rate)
            assert lower[k] <= known <= upper[k]
    rare = truth.ExactPair.of([0.75, 0.25], [0.25, 0.75]).poisson(2.0**-20)
    atom = math.log1p(2.0**-20 * 2)
    at = np.append(0.0, atom * (1 + np.arange(-9, 10) * 2.0**-52))
    pair = al.SampledPair(al.RandomizedResponse(0.75).pair(), 2.0**-20)
    lower, upper = single_runs.run_curve(pair, at)
    for e, low, high in zip(at.tolist(), lower, upper, strict=True):
        least, most = rare.delta(e)
        assert low <= most and high >= least


def test_pure_dp_of_denormal_and_of_huge_epsilons():
    for epsilon in (5e-324, 1e-320, 3e-310, 1e-300, 1e4, 2.5e5, 1e7):
        with mp.workdps(400 if epsilon < 1 else 40):
            e = mp.mpf(epsilon)
            z = mp.mpf(al.mu_from_pure_dp(epsilon)) / 2
            if epsilon < 1:  # Phi(z) - 1/2 and tanh(e/2)/2, nearly linear
                assert (
                    z / mp.sqrt(2 * mp.pi) * (1 - z * z) >= mp.tanh(e / 2) / 2
                )
            else:
                log_tail = mp.log(mp.erfc(z / mp.sqrt(2)) / 2)
                assert 0 <= -log_tail / e - 1 <= 1e-13


def test_answers_do_not_depend_on_the_surroundings():
    run = al.Release(al.Gaussian(0.9), al.Poisson(0.01), 50)
    options: dict[str, Any] = {"adjacency": "add-or-remove"}
    calls = [
        lambda: al.gdp(run, **options),
        lambda: al.gdp(run, **options).delta(3.0),
        lambda: al.tradeoff_curve(run, **options)(1e-9),
        lambda: al.tradeoff_curve(run, **options).delta(2.0),
        lambda: str(al.report(run, **options)),
        lambda: al.gaussian_tradeoff([0.0, 1e-300, 1.0], mu=50.0).tolist(),
        lambda: al.mu_from_pure_dp([0.0, 1e-320, 900.0]).tolist(),
        lambda: al.mu_from_epsilon_delta(700.0, delta=1e-300),
        lambda: al.dp_tradeoff(0.0, epsilon=900.0),
        lambda: one_number.renyi_tradeoff(0.0, order=2.0, rdp=1.0),
    ]
    plain = [call() for call in calls]
    with np.errstate(all="raise"):
        assert [call() for call in calls] == plain
    with localcontext() as context:
        context.prec = 2
        context.traps[Inexact] = True
        assert report.rounded(1.57031) == "1.571"
    asked: Any = al.gdp
    with pytest.raises(TypeError, match="adjacency="):
        asked(run, "add")


def test_profiles_are_read_only():
    at = np.array([0.0, 1.0])
    one = Profile(at, at, at, 0.0)
    at[0] = 5.0
    assert one.epsilon[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        one.upper[0] = 1.0


# --- extremes ---------------------------------------------------------------


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("width", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize(
    ("noise", "rate"),
    [(76.85, 1e-9), (486341.4, 0.999999), (1e9, 0.01)],
)
def test_hardly_any_loss(noise, rate, width):
    """As a Gaussian of mu = rate/noise, from below up to the next order."""
    run = al.Release(al.Gaussian(noise), al.Poisson(rate))
    for adjacency in SIDES:
        options: dict[str, Any] = {
            "adjacency": adjacency,
            "relative_width": width,
        }
        fit = al.gdp(run, **options)
        lower, upper = both_curves(run, **options)
        assert fit.mu_lower <= rate / noise * (1 + 10 / noise)
        assert fit.mu >= rate / noise * (1 - 1e-12)
        x = np.geomspace(1e-9, 1, 40)
        assert np.all(lower(x) <= upper(x) + 2e-15)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "noise", [1e-200, 1e-160, 1e-100, 1e100, 1e161, 1e200]
)
def test_noise_beyond_all_measure(noise):
    fit = al.gdp(al.Release(al.Gaussian(noise)), **BOTH)
    assert fit.mu_lower <= 1 / noise <= fit.mu <= 1.001 / noise
    assert 0 <= fit.regret <= 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "run",
    [
        al.Release(al.PureDP(50.0)),
        al.Release(al.PureDP(50.0), count=2),
        al.Release(al.PureDP(700.0), al.Poisson(0.5)),
        al.Release(al.RandomizedResponse(1.0), count=3),
        al.Release(al.RandomizedResponse(0.5), count=3),
        al.Release(al.ApproximateDP(0.0, 0.5), count=3),
        al.Release(al.ApproximateDP(1.0, 1.0)),
        al.Release(al.Gaussian(0.025), al.Poisson(0.99), count=2),
        al.Release(al.Gaussian(1.0), al.Poisson(1e-6), count=10**9),
        al.Release(al.Gaussian(1e5), al.Poisson(0.5), count=10**9),
        al.Release(al.Laplace(0.01), count=2),
        al.Release(al.Gaussian(1.0), al.Poisson(0.0)),
        al.Release(al.Gaussian(10.0), al.Poisson(5e-324)),
    ],
)
def test_extreme_runs(run):
    for adjacency in ("remove", "add-or-remove"):
        fit = al.gdp(run, adjacency=adjacency)
        assert 0 <= fit.mu_lower <= fit.mu and 0 <= fit.regret <= 1
        lower, upper = both_curves(run, adjacency=adjacency)
        x = np.append(0.0, np.geomspace(1e-12, 1, 60))
        assert np.all(lower(x) <= upper(x) + 2e-15)
        bound = al.delta(run, epsilon=0.0, adjacency=adjacency)
        assert lower.advantage >= bound.lower - 1e-15
        assert upper.advantage <= bound.upper + 1e-15


@pytest.mark.parametrize("epsilon", [1e-13, 1e-15, 1e-16, 1e-17])
@pytest.mark.parametrize("pure", [True, False])
def test_tiny_losses_a_million_billion_times(epsilon, pure):
    """Together they are not nothing: the truth is sqrt(T) epsilon."""
    one = al.PureDP(epsilon) if pure else al.DiscreteLaplace(1 / epsilon)
    run = al.Release(one, count=10**15)
    bound = al.epsilon(run, delta=0.0, **BOTH)
    assert bound.lower <= 1e15 * epsilon * (1 + 1e-9)
    assert bound.upper >= 1e15 * epsilon * (1 - 1e-9)
    assert al.gdp(run, **BOTH).mu >= 0.99 * math.sqrt(1e15) * epsilon


# --- trade-off curves -------------------------------------------------------


def test_a_curve_and_its_numbers():
    curve = al.TradeoffCurve([0.0, 0.25, 1.0], [1.0, 0.25, 0.0], "lower")
    at_places = curve([0.0, 0.125, 0.25, 1.0])
    assert at_places == pytest.approx([1.0, 0.625, 0.25, 0.0], abs=1e-14)
    assert curve.advantage == pytest.approx(0.5, abs=1e-14)
    assert curve.equal_error_rate == pytest.approx(0.25, abs=1e-14)
    for epsilon in (-2.0, 0.0, 1.0, 2.0):
        known = hockey_stick_of_the_coin(math.exp(epsilon))
        assert curve.delta(epsilon) == pytest.approx(known, abs=1e-14)
    with pytest.raises(ValueError, match="read-only"):
        curve.false_positive[0] = 1.0


def hockey_stick_of_the_coin(alpha):
    return max(0.75 - alpha * 0.25, 0) + max(0.25 - alpha * 0.75, 0)


def test_small_deltas_of_a_lower_curve():
    """delta is on its side also where it is far below 1e-16."""
    run = al.Release(al.Gaussian(2.0), al.Poisson(0.5))
    lower = al.tradeoff_curve(run, **BOTH)
    for epsilon in (3.0, 6.0, 9.0, 12.0):
        bound = al.delta(run, epsilon=epsilon, **BOTH)
        assert lower.delta(epsilon) >= bound.lower


# --- reports ----------------------------------------------------------------

REPORTED: list[tuple[Any, dict[str, Any]]] = [
    (
        al.Release(al.Gaussian(9.4), CIFAR, count=20),
        {"adjacency": "add-or-remove", "record": "one | 'image'\nor \"two\""},
    ),
    (
        [
            al.Release(al.Gaussian(3.0), al.FixedBatch(10, 100), count=5),
            al.Release(al.Laplace(20.0), al.Poisson(0.1)),
        ],
        {"adjacency": al.Adjacency.ADD, "deltas": np.array([1e-5, 0.1])},
    ),
    (
        al.Release(al.DiscreteGaussian(3.0, 2), count=4),
        {"adjacency": "remove", "group_size": 2, "cutoff": 1e-6},
    ),
    (
        al.Release(al.DiscretePair([0.5, 0.5], [0.25, 0.75]), count=3),
        {"adjacency": "remove", "relative_width": 1e-3},
    ),
    (al.Release(al.Gaussian(2.0)), {"adjacency": "add"}),
    (al.Release(al.Gaussian(1e-3)), {"adjacency": "add"}),
    (al.Release(al.ApproximateDP(1.0, 1e-5)), {"adjacency": "add"}),
    (al.Release(al.RandomizedResponse(1.0)), {"adjacency": "add"}),
    (al.Release(al.RandomizedResponse(0.5)), {"adjacency": "add"}),
]


@pytest.mark.parametrize(("run", "options"), REPORTED)
def test_a_report_repeats_itself(run, options):
    """From its call alone, which stands in the text and in the Markdown."""
    one = al.report(run, **options)
    two = eval(one.call, {name: getattr(al, name) for name in al.__all__})
    assert two.to_dict() == one.to_dict()
    assert str(two) == str(one) and two.to_markdown() == one.to_markdown()
    assert str(one).endswith(one.call) and one.call in one.to_markdown()
    text = json.dumps(one.to_dict(), allow_nan=False)
    assert float(json.loads(text)["gdp"]["mu"]) == one.fit.mu
    assert json.loads(text)["call"] == one.call


def rows_of(text):
    """The two-column rows of numbers of a report."""
    rows = [line.split() for line in text.splitlines()]
    return [row for row in rows if len(row) == 2 and row[0][0].isdigit()]


@pytest.mark.parametrize(("run", "options"), REPORTED)
def test_printed_numbers_are_on_the_safe_side(run, options):
    one = al.report(run, **options)
    rows = rows_of(str(one))
    count = len(one.epsilons)
    for (printed, text), (delta, bound) in zip(
        rows[:count], one.epsilons, strict=True
    ):
        assert float(text) >= bound.upper
        assert float(printed) >= delta  # epsilon falls as delta grows
    for (printed, text), (x, bound) in zip(
        rows[count:], one.tradeoff, strict=True
    ):
        assert float(text) <= bound.lower
        assert float(printed) <= x  # y falls as x grows
    printed_mu, printed_regret, printed_advantage = (
        number_after(str(one), name) for name in ("mu", "Regret", "Advantage")
    )
    assert printed_mu >= one.fit.mu
    assert printed_regret >= one.fit.regret
    assert printed_advantage >= one.advantage.upper


def number_after(text, name):
    """The number of "name:  at most 1.234, ..."."""
    line = next(x for x in text.splitlines() if x.startswith(f"{name}:"))
    return float(line.split("at most ")[1].split(",")[0])


def test_labels_of_a_report_are_on_the_safe_side():
    delta, cutoff = 1.2345614e-5, 1.2345614e-10
    run = al.Release(al.Gaussian(2.0), al.Poisson(0.5))
    one = al.report(run, adjacency="add", deltas=[delta], cutoff=cutoff)
    assert float(rows_of(str(one))[0][0]) >= delta
    (line,) = (x for x in str(one).splitlines() if x.startswith("Cut-off"))
    assert float(line.split()[-1]) >= cutoff


@given(
    st.floats(0, 1e300),
    st.integers(2, 12),
    st.booleans(),
)
def test_rounding_to_one_side(value, digits, up):
    text = report.rounded(value, up=up, digits=digits)
    shown = float(text)
    assert shown >= value if up else shown <= value
    assert abs(shown - value) <= 10.0 ** (1 - digits) * value + 1e-320
    assert report.rounded(INF, up=up, digits=digits) == "inf"


def test_the_points_of_a_report():
    """Tier II: f at agreed places and where both errors are equal."""
    run = al.Release(al.Laplace(1.0))
    one = al.report(run, **BOTH)
    places = [x for x, _ in one.tradeoff]
    assert places[:-1] == [1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1]
    x, bound = one.tradeoff[-1]
    equal = math.exp(-0.5) / 2
    assert x == pytest.approx(equal, abs=1e-5)
    assert bound.lower <= equal + 1e-9 and bound.upper >= equal - 1e-5
    advantage = -math.expm1(-0.5)
    assert one.advantage.lower <= advantage <= one.advantage.upper
    assert one.to_dict()["gdp"]["tier"] == 2
    assert [d for d, _ in one.epsilons] == [1e-5, 1e-6, 1e-8, 1e-10]


# --- noise on the integers --------------------------------------------------


def integer_noise(mechanism):
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


INTEGER_NOISE = [
    al.DiscreteGaussian(0.3),
    al.DiscreteGaussian(1.0),
    al.DiscreteGaussian(1.7, 3),
    al.DiscreteGaussian(6.0, 2),
    al.DiscreteLaplace(0.25),
    al.DiscreteLaplace(1.0, 4),
    al.DiscreteLaplace(4.0),
    al.DiscreteLaplace(5.0, 7),
]


@pytest.mark.parametrize("mechanism", INTEGER_NOISE)
def test_integer_noise_against_sums(mechanism):
    pair = mechanism.pair()
    with mp.workdps(40):
        p, q = integer_noise(mechanism)
        for epsilon in (-4.0, -0.5, 0.0, 0.1, 0.7, 2.0, 5.0):
            alpha = mp.exp(mp.mpf(epsilon))
            known = mp.fsum(
                max(a - alpha * b, 0) for a, b in zip(p, q, strict=True)
            )
            assert abs(pair.delta(epsilon) - known) <= 1e-13
            if known > 1e-40:
                assert abs(pair.delta(epsilon) / known - 1) <= 1e-9


@pytest.mark.parametrize("mechanism", INTEGER_NOISE)
def test_integer_noise_is_symmetric(mechanism):
    pair = mechanism.pair()
    assert pair == pair.reversed()
    losses = np.array(pair.atoms)
    assert losses == pytest.approx(-losses[::-1], rel=1e-12, abs=1e-15)
    ways = al.dominating_pairs(
        mechanism, sampling=al.FullBatch(), adjacency="add-or-remove"
    )
    assert ways == (pair, pair)


@pytest.mark.parametrize("kind", [al.DiscreteGaussian, al.DiscreteLaplace])
def test_sensitivity_groups_and_exchanges(kind):
    """A group of g moves the count by g k; an exchange by 2 k."""
    for shift in (1, 3):
        for size in (2, 4):
            (group,) = al.dominating_pairs(
                kind(2.0, shift),
                sampling=al.FullBatch(),
                adjacency="remove",
                group_size=size,
            )
            assert group == kind(2.0, shift * size).pair()
        assert kind(2.0, shift).exchange_pair() == kind(2.0, 2 * shift).pair()


@pytest.mark.parametrize("kind", [al.DiscreteGaussian, al.DiscreteLaplace])
def test_larger_shifts_dominate(kind):
    for shift in range(1, 9):
        one, two = kind(2.0, shift).pair(), kind(2.0, shift + 1).pair()
        for epsilon in (-1.0, 0.0, 1.0):
            assert one.delta(epsilon) <= two.delta(epsilon) + 1e-15
        assert one.delta(0.0) < two.delta(0.0)


def test_discrete_laplace_losses():
    pair = al.DiscreteLaplace(2.0, 3).pair()
    assert pair.atoms == pytest.approx([-1.5, -0.5, 0.5, 1.5], rel=1e-14)


@pytest.mark.parametrize(
    ("mechanism", "count", "deltas"),
    [
        (al.DiscreteGaussian(1.3), 3, (1e-2, 1e-5, 1e-9)),
        (al.DiscreteGaussian(3.0, 2), 2, (1e-2, 1e-5, 1e-9)),
        (al.DiscreteLaplace(4.0, 2), 20, (0.1, 1e-2, 1e-3)),
    ],
)
def test_epsilon_of_integer_noise_by_convolution(mechanism, count, deltas):
    p, q = (np.array([float(v) for v in w]) for w in integer_noise(mechanism))
    seen = (p > 1e-30) & (q > 1e-30)
    loss, mass = np.log(p[seen] / q[seen]), p[seen]
    losses, masses = np.zeros(1), np.ones(1)
    for _ in range(count):  # equal losses are joined
        total = np.add.outer(losses, loss).ravel().round(9)
        product = np.multiply.outer(masses, mass).ravel()
        losses, where = np.unique(total, return_inverse=True)
        masses = np.bincount(where.ravel(), product).astype(float)

    def delta_at(epsilon):
        excess = -np.expm1(np.minimum(epsilon - losses, 0))
        return math.fsum(masses * excess)

    for delta in deltas:
        run = al.Release(mechanism, count=count)
        bound = al.epsilon(run, delta=delta, **BOTH)
        assert delta_at(bound.lower - 1e-7) >= delta
        assert delta_at(bound.upper + 1e-7) <= delta
        assert bound.width <= 2e-3


# --- bad input --------------------------------------------------------------

RUN = al.Release(al.Gaussian(2.0), al.Poisson(0.5))
WRONG = (NAN, None, "0.5", True, 1j, [0.1, 0.2])
UNIT = r"\[0, 1\]"
FROM_0 = r"\[0, inf\)"


def bad(call, name, allowed, *values):
    return [(call, name, allowed, value) for value in (*WRONG, *values)]


def bad_array(call, name, allowed, *values):
    """The same where arrays are welcome."""
    return (
        bad(call, name, allowed, [0.1, NAN], *values)[:5]
        + bad(call, name, allowed, [0.1, NAN], *values)[6:]
    )


BAD: list[tuple[Any, str, str, Any]] = [
    *bad_array(
        lambda v: al.gaussian_tradeoff(v, mu=1.0),
        "false_positive",
        UNIT,
        -0.1,
        1.1,
        INF,
    ),
    *bad(lambda v: al.gaussian_tradeoff(0.1, mu=v), "mu", FROM_0, -1, INF),
    *bad_array(
        lambda v: al.dp_tradeoff(v, epsilon=1.0), "false_positive", UNIT, -1
    ),
    *bad(lambda v: al.dp_tradeoff(0.1, epsilon=v), "epsilon", FROM_0, -1, INF),
    *bad(
        lambda v: al.dp_tradeoff(0.1, epsilon=1.0, delta=v), "delta", UNIT, 2
    ),
    *bad_array(al.mu_from_pure_dp, "epsilon", FROM_0, -1, INF),
    *bad_array(
        lambda v: al.mu_from_epsilon_delta(v, delta=0.1),
        "epsilon",
        FROM_0,
        -1,
        INF,
    ),
    *bad_array(
        lambda v: al.mu_from_epsilon_delta(1.0, delta=v), "delta", UNIT, -1, 2
    ),
    *bad_array(
        lambda v: one_number.renyi_tradeoff(v, order=2.0, rdp=1.0),
        "false_positive",
        UNIT,
        -1,
    ),
    *bad(
        lambda v: one_number.renyi_tradeoff(0.1, order=v, rdp=1.0),
        "order",
        r"\[1, 1e\+06\]",
        1.0,
        0.5,
        INF,
    ),
    *bad(
        lambda v: one_number.renyi_tradeoff(0.1, order=2.0, rdp=v),
        "rdp",
        FROM_0,
        -1,
        INF,
    ),
    *[
        case
        for function in (al.gdp, al.tradeoff_curve, al.report)
        for case in (
            *bad(
                lambda v, f=function: f(RUN, cutoff=v, **BOTH),
                "cutoff",
                r"\[1e-250, 0\.1\]",
                0,
                -1,
                0.2,
                1e-300,
                INF,
            ),
            *bad(
                lambda v, f=function: f(RUN, relative_width=v, **BOTH),
                "relative_width",
                r"\[1e-07, 0\.1\]",
                0,
                -1,
                0.2,
                INF,
            ),
            *[
                (
                    lambda v, f=function: f(RUN, group_size=v, **BOTH),
                    "group_size",
                    "whole number >= 1",
                    value,
                )
                for value in (0, -1, 1.5, NAN, INF, None, "2", True, [1])
            ],
            *[
                (
                    lambda v, f=function: f(RUN, adjacency=v),
                    "adjacency",
                    "add, remove, add-or-remove",
                    value,
                )
                for value in ("both", None, 3, "", NAN)
            ],
            *[
                (lambda v, f=function: f(v, **BOTH), "releases", "", value)
                for value in ([], (), None, 3, "abc", [RUN, 3], [None])
            ],
        )
    ],
    *[
        (
            lambda v: al.tradeoff_curve(RUN, bound=v, **BOTH),
            "bound",
            "lower",
            value,
        )
        for value in ("both", None, 3, True)
    ],
    *[
        (lambda v: al.report(RUN, deltas=v, **BOTH), "deltas", "", value)
        for value in ([], "1e-5", [0.0], [1.0], [NAN], [None], ["a"], [[0.1]])
    ],
    *[
        (lambda v: al.report(RUN, deltas=v, **BOTH), "deltas", "", value)
        for value in (1e-5, None, {0.1: 1}.keys)
    ],
    *[
        (
            lambda v, n=name: al.report(RUN, **{n: v}, **BOTH),
            name,
            "text",
            value,
        )
        for name in ("record", "notes")
        for value in (None, 3, NAN, ["a"])
    ],
    *[
        (attackers.table_tradeoff, "loss", "PrivacyLossDistribution", value)
        for value in (None, 3, [0.1], RUN)
    ],
    *[
        (
            lambda v: al.TradeoffCurve(v, [1.0, 0.0], "lower"),
            "false_positive",
            "",
            value,
        )
        for value in ([0.0, 0.9], [0.1, 1], [0.0], [], 3, [0, NAN], ["a", "b"])
    ],
    *[
        (
            lambda v: al.TradeoffCurve([0.0, 0.5, 1.0], v, "lower"),
            "false_negative",
            "",
            value,
        )
        for value in (
            [1.0, 0.0],
            [0.5, 0.6, 0.0],
            [1.0, 0.9, 0.0],
            [1.0, NAN, 0.0],
            [1.1, 0.5, 0.0],
            None,
        )
    ],
    *[
        (
            lambda v: al.TradeoffCurve([0.0, 1.0], [1.0, 0.0], v),
            "bound",
            "lower",
            value,
        )
        for value in ("both", None, 3)
    ],
    *bad_array(
        al.TradeoffCurve([0.0, 1.0], [1.0, 0.0], "lower"),
        "false_positive",
        UNIT,
        -0.1,
        1.1,
    ),
    *bad(
        al.TradeoffCurve([0.0, 1.0], [1.0, 0.0], "lower").delta,
        "epsilon",
        r"\[-700, 700\]",
        INF,
        701,
    ),
    *bad_array(
        al.GDPFit(1.0, 0.0, 1e-10).delta, "epsilon", r"\[0, 700\]", -1, INF
    ),
    *bad(al.DiscreteGaussian, "sigma", "", 0, -1, 9e-4, 2e4, INF),
    *bad(al.DiscreteLaplace, "scale", "", 0, -1, 1e-3, INF),
    *[
        (lambda v, k=kind: k(1.0, v), "sensitivity", "whole number", value)
        for kind in (al.DiscreteGaussian, al.DiscreteLaplace)
        for value in (0, -1, 1.5, NAN, None, "2", True, [1])
    ],
    *[
        (lambda v: al.DiscreteGaussian(1.0, v), "sensitivity", "", 10**6),
        (lambda v: al.DiscreteLaplace(1.0, v), "scale", "", 601),
        (lambda v: al.DiscreteLaplace(1e9, v), "sensitivity", "", 10**6),
    ],
]


@pytest.mark.parametrize(("call", "name", "allowed", "value"), BAD)
def test_bad_input(call, name, allowed, value):
    """A ValueError that names the argument, its range and the value."""
    with pytest.raises(ValueError, match=rf"{name}\b.*{allowed}"):
        call(value)


def test_questions_without_a_theorem():
    for function in (al.gdp, al.tradeoff_curve, al.report):
        with pytest.raises(NotImplementedError, match="substitut"):
            function(
                al.Release(al.DiscretePair((0.7, 0.3), (0.3, 0.7))),
                adjacency="substitute",
            )
        with pytest.raises(NotImplementedError, match="group"):
            function(
                al.Release(al.Laplace(1.0), al.Poisson(0.5)),
                group_size=2,
                **BOTH,
            )


def test_lower_tables_are_refused():
    pair = al.GaussianPair(1.0)
    table = al.discretize(pair, step=0.1, bound="lower")
    with pytest.raises(ValueError, match="loss must be an upper table"):
        attackers.table_tradeoff(table)


def test_any_sequence_of_releases():
    twice = al.Release(al.Gaussian(2.0), al.Poisson(0.5), count=2)
    assert al.gdp((RUN, RUN), **BOTH) == al.gdp([twice], **BOTH)
