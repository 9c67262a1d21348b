"""Chapter 4: sums of losses, and every error on its safe side."""

# Frozen fields are assigned to, and lists stand for arrays, on purpose.
# mypy: disable-error-code="arg-type, assignment, call-arg, call-overload"
# mypy: disable-error-code="list-item, misc"

import itertools
import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
import truth
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib.counting import composition, rounding
from accountlib.counting.composition import chernoff_edges, log_moment
from accountlib.engine.grids import bound_tables
from accountlib.engine.saddle import Cells

GAUSS = al.Gaussian(1.0).pair()
INFINITE = al.DiscretePair([0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.0, 0.5])
REMOVE = {"adjacency": "remove"}


def table_of(weights, first=0, step=0.25, infinity=F(0), bound="upper"):
    """A distribution on the grid from whole-number weights."""
    total = sum(weights) / (1 - infinity)
    mass = [w / total for w in weights]
    return al.PrivacyLossDistribution(
        step, first, [float(m) for m in mass], float(infinity), bound
    )


def exact_power(table, count):
    """Masses of the sum, the floats of the table taken as they are."""
    one = [F(float(m)) for m in table.mass]
    result = [F(1)]
    for _ in range(count):
        longer = [F(0)] * (len(result) + len(one) - 1)
        for i, a in enumerate(result):
            for j, b in enumerate(one):
                longer[i + j] += a * b
        result = longer
    return result


def exact_curve(step, first, masses, infinity, epsilon):
    with mp.workdps(50):
        total = mp.mpf(infinity.numerator) / infinity.denominator
        for k, m in enumerate(masses):
            gap = (first + k) * mp.mpf(step) - mp.mpf(epsilon)
            if gap > 0:
                total += (mp.mpf(m.numerator) / m.denominator) * -mp.expm1(
                    -gap
                )
        return total


# --- composing tables -----------------------------------------------------


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    weights=st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any),
    first=st.integers(-4, 4),
    count=st.integers(1, 9),
    infinity=st.sampled_from([F(0), F(1, 8), F(1, 2**30)]),
)
def test_self_compose_against_fractions(weights, first, count, infinity):
    for bound in ("upper", "lower"):
        table = table_of(weights, first, infinity=infinity, bound=bound)
        found = al.self_compose(table, count)
        exact = exact_power(table, count)
        offset = found.first_index - count * first
        for k, m in enumerate(found.mass):
            best = exact[offset + k] if offset + k < len(exact) else 0
            assert abs(m - best) < 2e-13
        infinite = 1 - (1 - F(float(table.infinity_mass))) ** count
        for epsilon in (-1.0, 0.0, 0.3, 0.5, 2.1):
            best = exact_curve(0.25, count * first, exact, infinite, epsilon)
            value = found.delta(epsilon)
            if bound == "upper":
                assert best * (1 - mp.mpf(1e-13)) - 1e-17 <= value
                assert value <= best + 1e-11
            else:
                assert best - 1e-11 <= value
                assert value <= best * (1 + mp.mpf(1e-13)) + 1e-17


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    lists=st.lists(
        st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any),
        min_size=1,
        max_size=4,
    ),
    seed=st.integers(0, 1000),
)
def test_compose_several_in_any_order(lists, seed):
    tables = [
        table_of(w, first=k - 2, infinity=F(k, 100))
        for k, w in enumerate(lists)
    ]
    shuffled = [
        tables[i] for i in np.random.default_rng(seed).permutation(len(tables))
    ]
    one, other = al.compose(tables), al.compose(shuffled)
    assert one.first_index == other.first_index
    assert np.allclose(one.mass, other.mass, rtol=0, atol=1e-15)
    assert math.isclose(one.infinity_mass, other.infinity_mass, abs_tol=1e-13)
    exact = [F(1)]
    for table in tables:
        longer = [F(0)] * (len(exact) + len(table.mass) - 1)
        for (i, a), (j, b) in itertools.product(
            enumerate(exact), enumerate(table.mass)
        ):
            longer[i + j] += a * F(float(b))
        exact = longer
    # rows without mass at either end may be left out
    cut = one.first_index - sum(table.first_index for table in tables)
    padded = np.zeros(max(len(exact), cut + len(one.mass)))
    padded[cut : cut + len(one.mass)] = one.mass
    assert np.allclose(
        padded[: len(exact)], [float(m) for m in exact], atol=1e-14
    )


@pytest.mark.parametrize(
    "bound", ["upper", "lower", "buckets-upper", "buckets-lower"]
)
@pytest.mark.parametrize(
    ("step", "count"), [(1e-3, 2000), (0.05, 50), (0.3, 7)]
)
def test_composed_masses_sum_to_one(bound, step, count):
    """Trap 7: second differences of delta would drift by 2e-5 here."""
    pair = al.Gaussian(9.0).pair() if step < 0.01 else GAUSS
    table = al.discretize(pair, step=step, bound=bound, tail_mass=1e-15)
    composed = al.self_compose(table, count)
    total = math.fsum(composed.mass) + composed.infinity_mass
    if bound == "buckets-lower":
        assert total <= 1 + 1e-9
    else:
        assert abs(total - 1) <= 1e-9


@pytest.mark.parametrize("count", [1, 2, 30, 1000])
def test_order_of_composed_bounds(count):
    """optimistic <= truth <= pessimistic <= buckets, after composing."""
    noise = max(1.0, math.sqrt(count))
    pair = al.Gaussian(noise).pair()
    made = {
        bound: al.self_compose(
            al.discretize(pair, step=0.02 / noise, bound=bound), count
        )
        for bound in ("lower", "buckets-lower", "upper", "buckets-upper")
    }
    mu = truth.gaussian_mu(noise, count)
    for epsilon in (-1.0, 0.0, 0.5, 2.0, 4.0):
        low, high = truth.gaussian_delta(epsilon, mu)
        value = {bound: table.delta(epsilon) for bound, table in made.items()}
        assert value["lower"] <= high and value["buckets-lower"] <= high
        assert low <= value["upper"] <= value["buckets-upper"]
        assert value["upper"] - value["lower"] < 1e-2 * value["upper"]
    # buckets are off by half a step each time (first order), dots are not
    if count >= 30:
        buckets = made["buckets-upper"].epsilon(1e-3)
        exact = float(truth.gaussian_epsilon(1e-3, mu)[0])
        lost = count * 0.02 / noise / 2
        assert abs((buckets - exact) / lost - 1) < 0.1


@pytest.mark.parametrize("p", [2.0**-60, 1e-9, 0.25, 1.0])
@pytest.mark.parametrize("count", [1, 10, 12345])
def test_mass_at_infinity_composes_exactly(p, count):
    table = al.PrivacyLossDistribution(1.0, 0, [1.0 - p], p)
    found = al.self_compose(table, count).infinity_mass
    with mp.workdps(60):
        exact = -mp.expm1(count * mp.log1p(-mp.mpf(p))) if p < 1 else mp.mpf(1)
    assert exact * (1 - 1e-15) <= found <= exact + 1e-9
    low = al.PrivacyLossDistribution(1.0, 0, [1.0 - p], p, "lower")
    found = al.self_compose(low, count).infinity_mass
    assert abs(found / exact - 1) < 1e-14


def test_a_cut_window_is_on_the_safe_side():
    """tail_mass 1e-3: what leaves the window goes up, or away."""
    for count in (10, 300):
        truth_table = al.discretize(GAUSS, step=0.05, tail_mass=1e-20)
        narrow = al.self_compose(truth_table, count, tail_mass=1e-3)
        wide = al.self_compose(truth_table, count)
        assert len(narrow.mass) < 0.75 * len(wide.mass)
        low_table = al.discretize(
            GAUSS, step=0.05, bound="lower", tail_mass=1e-20
        )
        low = al.self_compose(low_table, count, tail_mass=1e-3)
        low_wide = al.self_compose(low_table, count)
        centre = count / 2
        spread = math.sqrt(count)
        for epsilon in centre + spread * np.linspace(-6, 8, 29):
            exact = float(truth.gaussian_delta(epsilon, math.sqrt(count))[1])
            assert narrow.delta(epsilon) >= exact * (1 - 1e-12)
            assert low.delta(epsilon) <= exact * (1 + 1e-12)
            assert narrow.delta(epsilon) <= wide.delta(epsilon) + 5e-3
            assert low.delta(epsilon) >= low_wide.delta(epsilon) - 5e-3


def test_the_floor_of_a_plain_transform():
    """Trap 8: at delta = 1e-14 a table widens, and never lies."""
    mu, count = 1.0, 100
    pair = al.Gaussian(10.0).pair()
    exact = float(truth.gaussian_epsilon(1e-14, mu)[0])
    upper, lower = (
        al.self_compose(
            al.discretize(pair, step=0.005, bound=bound, tail_mass=1e-30),
            count,
        )
        for bound in ("upper", "lower")
    )
    assert lower.epsilon(1e-14) <= exact <= upper.epsilon(1e-14)
    assert upper.epsilon(1e-14) == math.inf  # below the floor
    for epsilon in np.linspace(0.5, 14, 28):
        low, high = truth.gaussian_delta(epsilon, mu)
        assert lower.delta(epsilon) <= high and low <= upper.delta(epsilon)
    # the tilted answer has no floor
    run = al.Release(al.Gaussian(10.0), count=count)
    for delta in (1e-14, 1e-100, 1e-290):
        bound = al.epsilon(run, delta=delta, **REMOVE)
        low, high = truth.gaussian_epsilon(delta, mu)
        assert bound.lower <= high and low <= bound.upper
        assert bound.width < 1e-3


# --- the tilted composition and its error budget --------------------------


TABLES = {
    "gaussian": al.discretize(GAUSS, step=0.1, tail_mass=1e-40),
    "sampled": al.discretize(al.SampledPair(GAUSS, 0.05), step=0.1),
    "coin": table_of([1, 0, 3], first=-1, step=1.0),
    "point": table_of([1], first=3),
    "two": table_of([1, 10**6], first=-2),
}


def exact_total(table, count, digits=60):
    """The sum's masses to 60 digits, by repeated multiplication."""
    with mp.workdps(digits):
        scale = 2**220  # whole numbers: fast, and exact products
        one = [int(mp.mpf(float(m)) * scale) for m in table.mass]
        width = 220 * count
        pack = 0
        chunk = width + 64
        for m in reversed(one):
            pack = (pack << chunk) | m
        power = pack**count
        mask = (1 << chunk) - 1
        masses = []
        for _ in range(count * (len(one) - 1) + 1):
            masses.append(mp.mpf(power & mask) / mp.mpf(2) ** width)
            power >>= chunk
        return masses


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10**6),
    tilt=st.floats(0, 30),
    count=st.integers(1, 50),
    log_tail=st.floats(-30, -1),
)
def test_chernoff_edges_hold_the_mass(seed, tilt, count, log_tail):
    rng = np.random.default_rng(seed)
    weights = (rng.exponential(size=4) ** 5 * 2**40).astype(int) + 1
    table = table_of([int(w) for w in weights], first=-2)
    low, high = chernoff_edges([(table, count)], tilt, log_tail)
    exact = exact_total(table, count)
    first = count * table.first_index
    with mp.workdps(40):
        weights = [
            m * mp.exp(mp.mpf(tilt) * 0.25 * (first + k))
            for k, m in enumerate(exact)
        ]
        norm = mp.fsum(weights)
        below = mp.fsum(
            w for k, w in enumerate(weights) if (first + k) * 0.25 < low - 1e-9
        )
        above = mp.fsum(
            w
            for k, w in enumerate(weights)
            if (first + k) * 0.25 > high + 1e-9
        )
        allowed = mp.exp(log_tail) * norm * (1 + mp.mpf(1e-9))
        assert below <= allowed and above <= allowed


def test_any_infinite_keeps_its_digits():
    rng = np.random.default_rng(1341)
    for _ in range(2000):
        kinds = int(rng.integers(1, 30))
        probabilities = 10.0 ** rng.uniform(-320, 0, kinds)
        counts = (10.0 ** rng.uniform(0, 15, kinds)).astype(int)
        masses = list(
            zip(probabilities.tolist(), counts.tolist(), strict=True)
        )
        with mp.workdps(700):
            exact = -mp.expm1(
                mp.fsum(n * mp.log1p(-mp.mpf(p)) for p, n in masses)
            )
            error = abs(composition.any_infinite(masses) - exact)
            assert error <= 8 * 2.0**-53 * exact


def test_composing_ignores_the_error_state():
    with np.errstate(all="raise"):
        one = al.discretize(GAUSS, step=0.1)
        assert al.self_compose(one, 30).delta(1.0) > 0
        assert al.compose([one, one]).delta(1.0) > 0
    with pytest.raises(TypeError, match="tail_mass=..."):
        al.compose([one], 1e-3)


def test_log_moment_is_the_logarithm_of_a_moment():
    table = TABLES["two"]
    for order in (-3.0, 0.0, 2.0, 400.0):
        with mp.workdps(40):
            exact = 5 * mp.log(
                mp.fsum(
                    mp.mpf(float(m)) * mp.exp(mp.mpf(order) * x)
                    for m, x in zip(table.mass, table.losses, strict=True)
                )
            )
        found = log_moment([(table, 5)], order)
        assert abs(found - exact) < 1e-13 * (1 + abs(exact))


@pytest.mark.parametrize("rate", [0.01, 0.3, 1.0])
def test_the_rounding_of_atoms_is_in_the_budget(rate):
    """The shift of the tables covers the rounding of the losses."""
    coin = al.DiscretePair((0.7, 1 - 0.7), (0.3, 1 - 0.3))
    pair = coin if rate == 1 else al.SampledPair(coin, rate)
    look = Cells.first(pair, 1000, 1e-12)
    ends = [t.offset for t in bound_tables(look, 0.1, 1.0, -20.0)]
    moved = (ends[0] - ends[1]) / 2  # of a single step
    worst = mp.mpf(0)
    with mp.workdps(40):
        exact = [
            mp.log1p(mp.mpf(rate) * (mp.mpf(p) / mp.mpf(q) - 1))
            for p, q in zip(coin.p, coin.q, strict=True)
        ]
        for atom, loss in zip(pair.atoms, sorted(exact), strict=True):
            worst = max(worst, abs(loss - atom))
    assert worst <= moved < 1e-12


def test_log_peak():
    for tilt in (1e-6, 0.3, 1.0, 50.0, 1e6):
        x = np.linspace(1e-3, 5, 40_000) * math.log1p(1 / tilt)
        best = np.max(-tilt * x + np.log(-np.expm1(-x)))
        assert best <= rounding.log_peak(tilt) + 1e-12
        assert math.isclose(best, rounding.log_peak(tilt), rel_tol=1e-4)
    assert rounding.log_peak(0.0) == 0


# --- epsilon and delta ----------------------------------------------------


@pytest.mark.parametrize("width", [0.1, 1e-2, 1e-3, 1e-4, 1e-5])
def test_the_wanted_width_is_kept(width):
    runs = [
        al.Release(al.Gaussian(1.0), al.Poisson(0.01), 500),
        al.Release(al.Gaussian(2.0), al.FullBatch(), 10),
        al.Release(al.RandomizedResponse(0.6), al.FullBatch(), 40),
        al.Release(al.Laplace(2.0), al.FullBatch(), 8),
    ]
    for run in runs:
        for adjacency in ("remove", "add"):
            at = {"adjacency": adjacency, "relative_width": width}
            fine = {"adjacency": adjacency, "relative_width": 1e-3}
            for make, query in (
                (al.epsilon, {"delta": 1e-5}),
                (al.delta, {"epsilon": 0.8}),
            ):
                bound = make(run, **query, **at)
                assert bound.width <= width
                other = make(run, **query, **fine)
                assert bound.lower <= other.upper
                assert other.lower <= bound.upper


# The contour of the last add directions takes a quarter of a minute.
SAMPLED = [
    (setting, direction, delta)
    for setting in [
        (1.0, 0.01, 2000),
        (0.6, 256 / 60000, 5000),
        (9.4, 0.32768, 2000),
    ]
    for direction in ("remove", "add")
    for delta in (0.1, 1e-6, 1e-30, 1e-100, 1e-200)
    if delta > 1e-50 or direction == "remove" or setting[0] > 9
]


@pytest.mark.parametrize(("setting", "direction", "delta"), SAMPLED, ids=str)
def test_subsampled_gaussians_against_the_contour(setting, direction, delta):
    """An independent method without grid or transform, good to 1e-9."""
    noise, rate, count = setting
    run = al.Release(al.Gaussian(noise), al.Poisson(rate), count)
    exact = truth.contour_epsilon(delta, [setting], direction=direction)
    bound = al.epsilon(run, delta=delta, adjacency=direction)
    slack = 1e-9 * exact
    assert bound.lower <= exact + slack and exact - slack <= bound.upper
    assert bound.width <= 1e-3 or exact < 1e-3
    if exact > 0:
        curve = al.delta(run, epsilon=exact, adjacency=direction)
        assert curve.lower <= delta * (1 + 1e-8)
        assert delta * (1 - 1e-8) <= curve.upper


def test_known_tails_of_a_subsampled_gaussian():
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.01), 2000)
    for delta, known in ((1e-13, 5.2128), (1e-15, 5.8472), (1e-50, 16.536)):
        bound = al.epsilon(run, delta=delta, **REMOVE)
        assert bound.lower - 5e-4 <= known <= bound.upper + 5e-4


def test_several_kinds_together():
    """Any order, identical releases merged or not: the same interval."""
    parts = [
        al.Release(al.Gaussian(2.0), al.Poisson(0.1), 30),
        al.Release(al.Laplace(5.0), al.FullBatch(), 2),
        al.Release(al.RandomizedResponse(0.6), al.FullBatch(), 3),
        al.Release(al.Gaussian(2.0), al.Poisson(0.1), 20),
    ]
    merged = [al.Release(al.Gaussian(2.0), al.Poisson(0.1), 50), *parts[1:3]]
    for make, query in (
        (al.epsilon, {"delta": 1e-5}),
        (al.delta, {"epsilon": 1.0}),
    ):
        bounds = [
            make(list(order), **query, adjacency="add-or-remove")
            for order in itertools.islice(
                itertools.permutations(parts), 0, 24, 7
            )
        ]
        bounds.append(make(merged, **query, adjacency="add-or-remove"))
        lower = max(b.lower for b in bounds)
        upper = min(b.upper for b in bounds)
        assert lower <= upper
        for bound in bounds:
            assert math.isclose(bound.upper, bounds[0].upper, rel_tol=1e-9)
            assert bound.width < 2e-3
    split = [al.Release(al.Gaussian(3.0), al.FullBatch(), n) for n in (3, 4)]
    whole = al.Release(al.Gaussian(3.0), al.FullBatch(), 7)
    assert al.epsilon(split, delta=1e-5, **REMOVE) == al.epsilon(
        whole, delta=1e-5, **REMOVE
    )


def test_heterogeneous_gaussians():
    """Unsampled Gaussians of different noise: mu adds in squares."""
    noises = [(0.9, 3), (5.0, 40), (30.0, 1000)]
    runs = [al.Release(al.Gaussian(s), count=n) for s, n in noises]
    mu = mp.sqrt(mp.fsum(n / mp.mpf(s) ** 2 for s, n in noises))
    for delta in (0.3, 1e-5, 1e-50):
        low, high = truth.gaussian_epsilon(delta, mu)
        bound = al.epsilon(runs, delta=delta, adjacency="add-or-remove")
        assert bound.lower <= high and low <= bound.upper
        assert bound.width < 1e-3


def test_sampled_laplace_twice():
    """Against quadrature, both directions; and the numbers of Figure 1.

    Trap 2: at epsilon = 0.25 the larger curve is the one of add.
    """
    run = al.Release(al.Laplace(1.0), al.Poisson(0.5), 2)
    known = {"remove": 0.148568, "add": 0.167191}
    for direction, value in known.items():
        for epsilon in (0.0, 0.1, 0.25, 0.9):
            exact = truth.sampled_laplace_delta(
                epsilon, [(1.0, 0.5)] * 2, direction=direction
            )
            bound = al.delta(run, epsilon=epsilon, adjacency=direction)
            assert bound.lower <= exact + mp.mpf(1e-25)
            assert exact - mp.mpf(1e-25) <= bound.upper
            assert bound.width < 2e-3
        bound = al.delta(run, epsilon=0.25, adjacency=direction)
        assert bound.lower - 5e-7 <= value <= bound.upper + 5e-7
    both = al.delta(run, epsilon=0.25, adjacency="add-or-remove")
    assert both.contains(0.167191) or abs(both.upper - 0.167191) < 5e-7


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    noise=st.floats(0.5, 20),
    rate=st.sampled_from([1e-4, 0.01, 0.3, 1.0]),
    count=st.integers(1, 2000),
    log_delta=st.floats(-40, -1),
    direction=st.sampled_from(["add", "remove", "add-or-remove"]),
)
def test_epsilon_and_delta_are_inverse(
    noise, rate, count, log_delta, direction
):
    """delta(epsilon.lower) >= delta >= delta(epsilon.upper), as intervals."""
    run = al.Release(al.Gaussian(noise), al.Poisson(rate), count)
    delta = math.exp(log_delta)
    bound = al.epsilon(run, delta=delta, adjacency=direction)
    at_upper = al.delta(run, epsilon=bound.upper, adjacency=direction)
    assert at_upper.lower <= delta
    if bound.lower > 0:
        at_lower = al.delta(run, epsilon=bound.lower, adjacency=direction)
        assert at_lower.upper >= delta


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    noise=st.floats(0.5, 10),
    rate=st.floats(1e-4, 1),
    count=st.integers(1, 500),
    delta=st.sampled_from([1e-10, 1e-5, 0.1]),
)
def test_more_runs_and_less_noise_are_less_private(noise, rate, count, delta):
    def epsilon(s, q, n):
        run = al.Release(al.Gaussian(s), al.Poisson(q), n)
        return al.epsilon(run, delta=delta, **REMOVE)

    here = epsilon(noise, rate, count)
    for worse in (
        epsilon(noise, rate, 2 * count),
        epsilon(noise / 1.5, rate, count),
        epsilon(noise, min(1.0, 1.5 * rate), count),
    ):
        assert worse.upper >= here.lower
    smaller = al.epsilon(
        al.Release(al.Gaussian(noise), al.Poisson(rate), count),
        delta=delta / 10,
        **REMOVE,
    )
    assert smaller.upper >= here.lower


def test_the_worse_direction_is_the_answer():
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.2), 5)
    for make, query in (
        (al.epsilon, {"delta": 1e-4}),
        (al.delta, {"epsilon": 0.5}),
    ):
        add, remove, both = (
            make(run, **query, adjacency=a)
            for a in ("add", "remove", "add-or-remove")
        )
        assert math.isclose(
            both.lower, max(add.lower, remove.lower), rel_tol=1e-12
        )
        assert math.isclose(
            both.upper, max(add.upper, remove.upper), rel_tol=1e-12
        )


# --- the ends of the ranges -----------------------------------------------


def test_delta_zero_and_one():
    for mechanism, top in (
        (al.Laplace(0.5), 2.0),
        (al.PureDP(0.7), 0.7),
        (al.RandomizedResponse(0.75), math.log(3)),
    ):
        run = al.Release(mechanism, count=5)
        bound = al.epsilon(run, delta=0.0, adjacency="add-or-remove")
        assert bound.lower <= 5 * top <= bound.upper * (1 + 1e-15)
        assert bound.width < 1e-12
        beyond = al.delta(run, epsilon=5.1 * top, **REMOVE)
        assert beyond == al.Bound(0.0, 0.0)
    run = al.Release(al.Gaussian(1.0))
    never = al.epsilon(run, delta=0.0, **REMOVE)
    assert never == al.Bound(math.inf, math.inf)
    assert al.epsilon(run, delta=1.0, **REMOVE) == al.Bound(0.0, 0.0)


def test_mass_at_infinity_decides():
    run = al.Release(INFINITE, count=3)
    infinite = 1 - 0.75**3
    below, above = infinite * (1 - 1e-9), infinite * (1 + 1e-9)
    assert al.epsilon(run, delta=below, **REMOVE) == al.Bound(
        math.inf, math.inf
    )
    bound = al.epsilon(run, delta=above, **REMOVE)
    exact = truth.ExactPair.of(INFINITE.p, INFINITE.q).power(3)
    low, high = exact.epsilon(above)
    assert bound.lower <= high and low <= bound.upper < math.inf


def test_nothing_sampled_is_nothing_leaked():
    run = al.Release(al.Gaussian(0.1), al.Poisson(0.0), 10**5)
    for adjacency in ("add", "remove", "add-or-remove"):
        for delta in (0.0, 1e-12, 0.5):
            assert al.epsilon(
                run, delta=delta, adjacency=adjacency
            ) == al.Bound(0.0, 0.0)
        for epsilon in (0.0, 1e-9, 1.0):
            assert al.delta(
                run, epsilon=epsilon, adjacency=adjacency
            ) == al.Bound(0.0, 0.0)


def test_a_certain_leak():
    run = al.Release(al.RandomizedResponse(1.0), count=2)
    assert al.epsilon(run, delta=0.5, **REMOVE) == al.Bound(math.inf, math.inf)
    assert al.delta(run, epsilon=3.0, **REMOVE) == al.Bound(1.0, 1.0)


def test_an_almost_certain_leak():
    """1 - 2^-93 rounds to 1: the lower end must not."""
    pair = al.DiscretePair([0.125, 0.875], [1.0, 0.0])
    bound = al.delta(al.Release(pair, count=31), epsilon=1.0, **REMOVE)
    assert bound.lower < 1 and bound.upper == 1
    assert bound.width < 1e-12


def test_near_the_largest_loss():
    """The width is no promise here, an answer in reasonable bounds is."""
    run = al.Release(al.Laplace(1.0), count=2)
    for epsilon in (1.9, 1.99, 1.999, 1.9999):
        low, high = truth.laplace_composition_delta(epsilon, 1.0, 2)
        bound = al.delta(run, epsilon=epsilon, **REMOVE)
        assert bound.lower <= high and low <= bound.upper
        assert bound.upper < 1.5 * high and bound.lower > 0.5 * low


def test_bounds():
    bound = al.Bound(-0.0, 2)
    assert bound.lower == 0 and math.copysign(1, bound.lower) == 1
    assert bound.width == 1.0 and bound.contains(0) and bound.contains(2)
    assert not bound.contains(2.1) and not bound.contains(-0.1)
    assert al.Bound(0, 0).width == 0
    assert al.Bound(math.inf, math.inf).width == 0
    assert al.Bound(1, math.inf).width == 1
    with pytest.raises(AttributeError):
        bound.lower = 1
