"""The truth is checked against itself before anything is checked against it.

Each number is found in two ways that share as little as possible.
"""

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
import truth
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy.special import ndtr

DATA = Path(__file__).parent / "data"
TABLE_1 = json.loads((DATA / "pitfalls_table1.json").read_text())["rows"]
LAPLACE = json.loads((DATA / "laplace_compositions.json").read_text())["rows"]


def number(value):
    if isinstance(value, Fraction):
        return mp.mpf(value.numerator) / value.denominator
    return mp.mpf(value)


def close(value, other, digits):
    with mp.workdps(60):
        value, other = number(value), number(other)
        return abs(value - other) <= abs(other) * mp.mpf(10) ** -digits


def overlap(one, other):
    return one[0] <= other[1] and other[0] <= one[1]


def swapped(delta, epsilon):
    """delta of (Q, P) at epsilon from delta of (P, Q) at -epsilon."""
    with mp.workdps(60):
        factor = mp.exp(epsilon)
        return 1 - factor + factor * delta


# --- one release ----------------------------------------------------------


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("epsilon", [-1.0, 0.0, 0.5, 2.0])
def test_gaussian_delta_agrees_with_doubles(epsilon, mu):
    plain = ndtr(mu / 2 - epsilon / mu)
    plain -= math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    low, high = truth.gaussian_delta(epsilon, mu)
    assert low <= high and abs(plain - float(low)) < 1e-14


@pytest.mark.parametrize("mu", [1e-6, 0.01, 1.0, 40.0, 1e5])
@pytest.mark.parametrize("delta", [1e-320, 1e-100, 1e-12, 1e-3])
def test_gaussian_epsilon_inverts_delta(delta, mu):
    low, high = truth.gaussian_epsilon(delta, mu)
    assert close(low, high, 20) or low == high == 0
    assert truth.gaussian_delta(high, mu)[1] <= delta
    if low > 0:
        assert truth.gaussian_delta(low, mu)[0] > delta


def test_gaussian_swap_identity():
    for epsilon, mu in [(0.3, 1e-3), (2.0, 1.0), (20.0, 3.0)]:
        low, _ = truth.gaussian_delta(epsilon, mu)
        other, _ = truth.gaussian_delta(-epsilon, mu)
        with mp.workdps(60):
            assert abs(swapped(other, epsilon) - low) < mp.mpf(10) ** -20


def test_gaussian_mu_of_many_steps():
    assert close(truth.gaussian_mu(0.5, 9), 6, 50)


@pytest.mark.parametrize("scale", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("epsilon", [-20.0, -0.1, 0.0, 0.05, 0.9, 12.0])
def test_laplace_delta_is_the_area_between_the_densities(epsilon, scale):
    def positive_part(x):
        p, q = math.exp(-abs(x - 1) / scale), math.exp(-abs(x) / scale)
        return max(p - math.exp(epsilon) * q, 0.0) / (2 * scale)

    kink = min(max((epsilon * scale + 1) / 2, 0), 1)
    cuts = [-40 * scale, 0, kink, 1, 1 + 40 * scale]
    area = sum(
        integrate.quad(positive_part, a, b, epsabs=1e-13)[0]
        for a, b in itertools.pairwise(cuts)
    )
    assert abs(area - float(truth.laplace_delta(epsilon, scale))) < 1e-10


# --- many Laplace releases ------------------------------------------------


@pytest.mark.parametrize("scale", [0.1, 1.0, 100.0])
def test_one_and_two_laplace_releases(scale):
    for share in (0.0, 0.3, 0.8, 0.999):
        epsilon = share / scale
        low, high = truth.laplace_composition_delta(epsilon, scale, 1)
        assert low <= truth.laplace_delta(epsilon, scale) <= high
        low, high = truth.laplace_composition_delta(2 * epsilon, scale, 2)
        pair = [(scale, 1.0)] * 2
        quadrature = truth.sampled_laplace_delta(2 * epsilon, pair)
        assert abs(low - quadrature) < 1e-22 and high - low < 1e-40


@pytest.mark.parametrize(
    ("epsilon", "scale", "count"),
    [
        (0.05, 100.0, 120),
        (300.0, 0.3, 120),
        (10.0, 1.0, 101),
        (1.5, 20.0, 200),
        (0.0, 8.0, 200),
        (25.0, 3.0, 200),
    ],
)
def test_contour_meets_the_exact_sum(epsilon, scale, count):
    with mp.workdps(60):
        epsilon, scale = mp.mpf(epsilon), mp.mpf(scale)
        exact = truth._laplace_parts(epsilon, scale, count, count + 1)
        for parts in (None, 2, 3, 5):
            other = truth._laplace_contour(epsilon, scale, count, parts)
            assert overlap(exact, other) and close(*other, 9)


@pytest.mark.parametrize(
    ("epsilon", "scale", "count"),
    [(0.05, 100.0, 2000), (3.0, 2.0, 1000), (30.0, 5.0, 50_000)],
)
def test_contour_swap_identity(epsilon, scale, count):
    """At -epsilon the saddle point lies elsewhere: another integral."""
    with mp.workdps(60):
        epsilon, scale = mp.mpf(epsilon), mp.mpf(scale)
        here = truth._laplace_contour(epsilon, scale, count)
        there = truth._laplace_contour(-epsilon, scale, count)
        assert overlap(here, [swapped(value, epsilon) for value in there])


@pytest.mark.parametrize(("scale", "count"), [(30.0, 400), (3.0, 700)])
def test_laplace_monte_carlo(scale, count):
    rng = np.random.default_rng(1)
    size = 20_000
    loss = np.zeros(size)
    for _ in range(count):
        x = 1 + rng.laplace(scale=scale, size=size)
        loss += (np.abs(x) - np.abs(x - 1)) / scale
    for quantile in (0.5, 0.9, 0.99):
        epsilon = float(np.quantile(loss, quantile))
        values = np.maximum(-np.expm1(epsilon - loss), 0)
        error = 5 * values.std() / math.sqrt(size)
        low, high = truth.laplace_composition_delta(epsilon, scale, count)
        assert low - error <= values.mean() <= high + error


def test_laplace_at_the_ends():
    assert truth.laplace_composition_delta(10.0, 1.0, 10) == (0, 0)
    assert truth.laplace_composition_epsilon(0.5, 100.0, 10) == (0, 0)
    low, high = truth.laplace_composition_epsilon(1e-12, 0.5, 20)
    assert low <= 40 <= high + 1e-4  # only the largest loss, 2^-20, exceeds


def test_laplace_table_is_complete_and_narrow():
    assert len(LAPLACE) == 700
    for row in LAPLACE:
        low, high = row["epsilon_low"], row["epsilon_high"]
        assert 0 <= low <= high <= low * (1 + 1e-8) + 2e-10
        assert high <= row["count"] / row["scale"] * (1 + 1e-15)
        assert 0 <= row["delta_low"] <= row["delta_high"] <= 1
        assert row["delta_high"] <= row["delta_low"] * (1 + 1e-8)


@pytest.mark.parametrize("row", LAPLACE[::60], ids=str)
def test_laplace_table_again(row):
    """The stored ends, and the proof that they are ends, once more."""
    scale, count = row["scale"], row["count"]

    def delta(epsilon):
        return truth.laplace_composition_delta(epsilon, scale, count)

    assert delta(row["epsilon_high"])[1] <= row["delta"]
    if row["epsilon_low"] > 0:
        assert delta(row["epsilon_low"])[0] > row["delta"]
    assert overlap(
        delta(row["epsilon"]), (row["delta_low"], row["delta_high"])
    )


# --- discrete pairs -------------------------------------------------------


def brute_force(pairs, alpha):
    total = Fraction(0)
    for outcome in itertools.product(
        *(zip(*pair, strict=True) for pair in pairs)
    ):
        p = math.prod(Fraction(a) for a, _ in outcome)
        q = math.prod(Fraction(b) for _, b in outcome)
        total += max(p - alpha * q, Fraction(0))
    return total


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    size=st.integers(1, 4),
    count=st.integers(0, 3),
    alpha=st.fractions(0, 5, max_denominator=50),
)
def test_exact_pair_against_enumeration(seed, size, count, alpha):
    rng = np.random.default_rng(seed)
    p, q = (truth.dyadic_distribution(rng, size, bits=3) for _ in range(2))
    p2, q2 = (truth.dyadic_distribution(rng, 3, bits=3) for _ in range(2))
    rate = Fraction(int(rng.integers(0, 9)), 8)
    pair, other = truth.ExactPair.of(p, q), truth.ExactPair.of(p2, q2)
    joint = truth.compose_exact(
        [(pair, count), (other.poisson(rate).reversed(), 1)]
    )
    mixed = [
        (1 - rate) * Fraction(b) + rate * Fraction(a)
        for a, b in zip(p2, q2, strict=True)
    ]
    assert joint.delta_at(alpha) == brute_force(
        [(p, q)] * count + [(q2, mixed)], alpha
    )


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 6),
    delta=st.fractions(0, 1, max_denominator=1000),
)
def test_exact_epsilon_inverts_delta(seed, count, delta):
    rng = np.random.default_rng(seed)
    p, q = (truth.dyadic_distribution(rng, 3, bits=4) for _ in range(2))
    pair = truth.ExactPair.of(p, q).power(count)
    low, high = pair.epsilon(delta)
    if math.isinf(high):
        assert pair.delta_at(Fraction(10) ** 40) > delta
        return
    assert low <= high
    with mp.workdps(60):
        assert pair.delta(high + mp.mpf(10) ** -40)[0] <= delta
        if high > 0:
            assert pair.delta(low - mp.mpf(10) ** -40)[1] >= delta


def test_exact_randomized_response():
    """T answers, each true with probability 3/4: a binomial sum."""
    pair = truth.ExactPair.of([0.75, 0.25], [0.25, 0.75]).power(50)
    assert len(pair.weights) == 51 and pair.reversed() == pair
    alpha = Fraction(17, 3)
    direct = sum(
        math.comb(50, k)
        * max(3**k - alpha * 3 ** (50 - k), Fraction(0))
        / Fraction(4) ** 50
        for k in range(51)
    )
    assert pair.delta_at(alpha) == direct
    low, high = pair.delta(math.log(alpha))
    assert close(low, high, 40) and abs(low - direct) < 1e-12


def test_exact_mass_at_infinity():
    pair = truth.ExactPair.of([0.5, 0.5, 0], [0, 0.75, 0.25]).power(3)
    assert pair.weights[(1, 0)] == pair.denominator * Fraction(7, 8)
    assert pair.epsilon(Fraction(7, 8) - Fraction(1, 10**9))[1] == mp.inf
    low, high = pair.epsilon(Fraction(7, 8))
    assert low == high == 0  # the finite losses are all negative
    with pytest.raises(ValueError, match="exactly 1"):
        truth.ExactPair.of([0.1] * 10, [0.1] * 10)


# --- interval masses ------------------------------------------------------

EDGES = [-30.0, -2.0, -0.0100502, -1e-3, -1e-9, 0.0, 1e-9, 0.3, 0.7, 5.0, 30.0]
SETTINGS = [
    (kind, noise, rate, direction)
    for kind, noise in [("gaussian", 0.5), ("gaussian", 9.0), ("laplace", 1.3)]
    for rate in (0.0, 0.01, 0.6, 1.0)
    for direction in ("remove", "add")
]


@pytest.mark.parametrize(("kind", "noise", "rate", "direction"), SETTINGS)
def test_masses_sum_to_one_and_give_delta(kind, noise, rate, direction):
    p, q = truth.masses(kind, noise, EDGES, rate=rate, direction=direction)
    with mp.workdps(50):
        assert abs(mp.fsum(p) - 1) < mp.mpf(10) ** -40
        assert abs(mp.fsum(q) - 1) < mp.mpf(10) ** -40
        for i, epsilon in enumerate(EDGES):
            if kind == "gaussian":
                delta = truth.sampled_gaussian_delta(
                    epsilon, noise, rate, direction=direction
                )
            else:
                delta = truth.sampled_laplace_delta(
                    epsilon, [(noise, rate)], direction=direction
                )
            tail = mp.fsum(p[i + 1 :]) - mp.exp(epsilon) * mp.fsum(q[i + 1 :])
            assert abs(tail - delta) < mp.mpf(10) ** -20


@pytest.mark.parametrize("where", [-500.0, 0.3, 500.0])
def test_narrow_gaussian_masses(where):
    """Density times width, at 30 digits, far out in both tails."""
    sigma, width = 0.5, 2.0**-40
    p, q = truth.masses("gaussian", sigma, [where, where + width])
    with mp.workdps(60):
        middle = mp.mpf(where) + mp.mpf(width) / 2
        x = sigma**2 * middle + mp.mpf(1) / 2
        for mass, mean in ((p[1], 1), (q[1], 0)):
            expected = mp.npdf(x, mean, sigma) * width * sigma**2
            assert close(mass, expected, 15)
        assert close(mp.log(p[1] / q[1]), middle, 20)


def test_laplace_intervals_hold_their_right_end():
    scale = 0.5  # atoms at -2 and 2, exactly
    p, q = truth.masses("laplace", scale, [-2.0, 0.0, 2.0])
    assert close(q[0], 0.5, 40) and close(p[0], mp.exp(-2) / 2, 15)
    assert p[3] == q[3] == 0
    p, q = truth.masses("laplace", scale, [-2.0, 0.0, 2.0], direction="add")
    assert close(p[0], mp.exp(-2) / 2, 15) and p[3] == q[3] == 0


# --- subsampled Gaussians -------------------------------------------------


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("delta", [0.3, 1e-6, 1e-200])
@pytest.mark.parametrize(
    ("noise", "count"), [(0.5, 7), (1.0, 1), (30.0, 100_000)]
)
def test_contour_of_unsampled_gaussians(noise, count, delta, direction):
    low, high = truth.gaussian_epsilon(delta, truth.gaussian_mu(noise, count))
    release = [(noise, 1.0, count)]
    found = truth.contour_epsilon(delta, release, direction=direction)
    assert close(found, low, 10)
    if low > 0:
        back = truth.contour_delta(float(low), release, direction=direction)
        assert close(back, delta, 8)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("row", TABLE_1, ids=lambda row: str(row["delta"]))
def test_contour_table_1(row, direction):
    for column, noise in (("poisson", 0.8), ("wor", 0.4)):
        found = truth.contour_epsilon(
            row["delta"], [(noise, 0.001, 10_000)], direction=direction
        )
        # the stored value is an upper bound from a grid, to 5 digits
        assert -2e-6 < row[f"tight_{column}_{direction}"] - found < 1.5e-5


@pytest.mark.parametrize(
    ("delta", "epsilon"), [(1e-13, 5.2128), (1e-15, 5.8472), (1e-50, 16.536)]
)
def test_contour_known_values(delta, epsilon):
    found = truth.contour_epsilon(delta, [(1.0, 0.01, 2000)])
    assert abs(found - epsilon) < 5e-4


@pytest.mark.parametrize(
    "releases",
    [
        [(5.0, 0.5, 3)],
        [(0.8, 0.01, 100), (2.0, 0.3, 50)],
        [(1.0, 1e-4, 10**6)],
        [(0.6, 256 / 60000, 10**5)],
        [(1.0, 1.0, 1), (2.0, 0.0, 10), (0.9, 0.02, 300)],
    ],
    ids=str,
)
def test_contour_swap_identity_of_directions(releases):
    for epsilon in (0.01, 0.4):
        for one, other in (("remove", "add"), ("add", "remove")):
            here = truth.contour_delta(epsilon, releases, direction=one)
            there = truth.contour_delta(-epsilon, releases, direction=other)
            assert abs(here - float(swapped(there, epsilon))) < 1e-10


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_contour_of_one_sampled_gaussian(direction):
    for epsilon in (0.05, 0.4):
        found = truth.contour_delta(
            epsilon, [(5.0, 0.5, 1)], direction=direction
        )
        exact = truth.sampled_gaussian_delta(
            epsilon, 5.0, 0.5, direction=direction
        )
        assert close(found, exact, 8)


def test_contour_monte_carlo():
    rng = np.random.default_rng(2)
    size, noise, rate, count = 20_000, 1.0, 0.05, 100
    loss = np.zeros(size)
    for _ in range(count):
        x = rng.normal(size=size) * noise + (rng.random(size) < rate)
        loss += np.log1p(rate * np.expm1((2 * x - 1) / (2 * noise**2)))
    values = np.maximum(-np.expm1(0.5 - loss), 0)
    found = truth.contour_delta(0.5, [(noise, rate, count)])
    assert abs(found - values.mean()) < 5 * values.std() / math.sqrt(size)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(
    ("noise", "count", "delta"),
    [(1e6, 1, 1e-8), (1e4, 50, 1e-40), (3e7, 10**6, 1e-6), (1e4, 1, 3e-5)],
)
def test_contour_at_large_orders(noise, count, delta, direction):
    """A tiny epsilon: the saddle point lies beyond order 10,000."""
    low, high = truth.gaussian_epsilon(delta, truth.gaussian_mu(noise, count))
    release = [(noise, 1.0, count)]
    found = truth.contour_epsilon_range(delta, release, direction=direction)
    assert found[0] <= low <= high <= found[1] <= found[0] * (1 + 1e-7)
    back = truth.contour_delta_range(float(low), release, direction=direction)
    assert back[0] <= delta * (1 + 1e-9) and delta * (1 - 1e-9) <= back[1]


def test_contour_of_rare_but_huge_losses():
    """The best line sees only the huge losses; others see epsilon.

    0.43927 is what contours left of the best one agreed on before.
    """
    release = [(0.7, 1e-5, 10**7)]
    low, high = truth.contour_epsilon_range(1e-9, release)
    assert low < high < low * (1 + 1e-6) and abs(low - 0.43927) < 5e-6
    middle = (low + high) / 2
    with pytest.raises(ArithmeticError):  # and no more digits than there are
        truth._middle((middle * (1 - 1e-6), middle * (1 + 1e-6)))
    below, above = truth.contour_delta_range(middle, release)
    assert below <= 1e-9 * (1 + 2e-6) and above >= 1e-9 * (1 - 2e-6)
    assert above < below * (1 + 2e-5)


def test_contour_never_errs_in_silence():
    """One sampled Gaussian, hard for a contour: inside, or an exception."""
    rng = np.random.default_rng(3)
    told = 0
    for _ in range(25):
        noise = math.exp(rng.uniform(math.log(0.3), math.log(100)))
        rate = math.exp(rng.uniform(math.log(1e-6), 0))
        direction = str(rng.choice(["remove", "add"]))
        reach = math.log1p(rate * math.expm1(min(12 / noise, 60)))
        epsilon = float(reach * rng.uniform(0, 1))
        exact = truth.sampled_gaussian_delta(
            epsilon, noise, rate, direction=direction
        )
        try:
            low, high = truth.contour_delta_range(
                epsilon, [(noise, rate, 1)], direction=direction
            )
        except ArithmeticError:
            continue
        told += 1
        assert low <= exact <= high, (noise, rate, epsilon, direction)
    assert told > 8


def test_sampled_gaussian_keeps_the_digits_of_a_tiny_delta():
    """Add, against the integral of (q - alpha p)_+ over its left tail."""
    noise, rate, epsilon = 1.5, 0.25, 0.2876
    found = truth.sampled_gaussian_delta(epsilon, noise, rate, direction="add")
    with mp.workdps(60):
        alpha = mp.exp(mp.mpf(epsilon))
        ratio = (1 / alpha - 1 + rate) / rate
        edge = noise**2 * mp.log(ratio) + mp.mpf(1) / 2
        left = (1 - alpha * (1 - rate)) * mp.ncdf(edge / noise)
        left -= alpha * rate * mp.ncdf((edge - 1) / noise)
        assert found < mp.mpf(10) ** -20 and close(found, left, 20)


def test_contour_far_above_delta_at_zero():
    """Epsilon is 0: by the sum of all delta(0), or by the contour."""
    release = [(5.0, 0.01, 1000)]
    top = truth.contour_delta(0.0, release)
    assert truth.contour_epsilon(1.01 * top, release) == 0
    assert truth.contour_epsilon(0.99, release) == 0
    assert truth.contour_epsilon_range(0.99 * top, release)[0] > 0


def test_contour_ends():
    assert truth.contour_delta(0.1, [(1.0, 0.0, 9)]) == 0
    assert truth.contour_epsilon(1e-5, [(1.0, 0.0, 9)]) == 0
    limit = -3 * math.log1p(-0.5)
    release = [(5.0, 0.5, 3)]
    assert truth.contour_delta(limit, release, direction="add") == 0
    assert truth.contour_epsilon(0.9, release) == 0


# --- subsampled Laplace ---------------------------------------------------


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_two_sampled_laplace_against_a_plain_sum(direction):
    """A midpoint sum over both outputs, which knows nothing of losses."""
    releases = [(1.0, 0.3), (0.5, 0.8)]
    epsilon = 0.2
    joint_p, joint_q = np.ones((1, 1)), np.ones((1, 1))
    for axis, (scale, rate) in enumerate(releases):
        cells = 1200
        x = (np.arange(cells) + 0.5) / cells
        q = np.exp(-x / scale) / (2 * scale * cells)
        p = np.exp((x - 1) / scale) / (2 * scale * cells)
        tail = math.exp(-1 / scale) / 2
        q = np.concatenate([[0.5], q, [tail]])
        p = np.concatenate([[tail], p, [0.5]])
        shape = (-1, 1) if axis == 0 else (1, -1)
        joint_q = joint_q * q.reshape(shape)
        joint_p = joint_p * ((1 - rate) * q + rate * p).reshape(shape)
    if direction == "add":
        joint_p, joint_q = joint_q, joint_p
    plain = np.maximum(joint_p - math.exp(epsilon) * joint_q, 0).sum()
    exact = truth.sampled_laplace_delta(epsilon, releases, direction=direction)
    assert abs(plain - float(exact)) < 1e-6


def test_sampled_laplace_at_the_ends():
    assert truth.sampled_laplace_delta(0.5, [(1.0, 0.0)]) == 0
    one = truth.sampled_laplace_delta(0.3, [(1.0, 0.4)])
    for pair in ([(1.0, 0.4), (2.0, 0.0)], [(2.0, 0.0), (1.0, 0.4)]):
        assert close(truth.sampled_laplace_delta(0.3, pair), one, 20)
