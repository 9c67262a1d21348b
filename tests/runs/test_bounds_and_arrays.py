"""Intervals as values, and many questions in one call."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import copy
import math
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.runs import many_questions, one_call
from accountlib.runs.many_questions import BoundArray
from accountlib.worst_cases import closed_forms

RUNS: dict[str, Any] = {
    "training": al.Release(al.Gaussian(0.8), al.Poisson(0.01), count=500),
    "wide": al.Release(al.Gaussian(9.4), al.Poisson(0.33), count=2000),
    "laplace": al.Release(al.Laplace(20.0), count=100),
    "coins": al.Release(al.RandomizedResponse(0.75), count=40),
    "leak": al.Release(al.ApproximateDP(0.5, 1e-4), count=5),
    "single": al.Release(al.Laplace(0.5), al.Poisson(0.3)),
    "batch": al.Release(al.Gaussian(2.0), al.FixedBatch(10, 1000), count=50),
    "mixed": [
        al.Release(al.Gaussian(2.0), al.Poisson(0.01), count=100),
        al.Release(al.Laplace(20.0), count=10),
    ],
}
EPSILONS = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 30.0, 60.0])
DELTAS = np.array([0.0, 1e-30, 1e-12, 1e-8, 1e-6, 1e-4, 4.99e-4, 0.01, 0.3, 1])


# --- one interval ------------------------------------------------------------


def test_a_bound_unpacks_and_contains():
    low, high = bound = al.Bound(0.25, 0.5)
    assert (low, high) == (0.25, 0.5)
    assert 0.3 in bound and 0.25 in bound and 0.6 not in bound


def test_printed_ends_are_rounded_outward():
    rng = np.random.default_rng(0)
    for _ in range(300):
        ends = np.sort(10.0 ** rng.uniform(-12, 6, 2)).tolist()
        bound = al.Bound(*ends)
        for form in (".3f", ".1f", ".4g", ".2e", "12.5f", "<9.2f"):
            low, high = f"{bound:{form}}".strip("[]").split(",")
            assert Decimal(low.strip()) <= Decimal(repr(ends[0]))
            assert Decimal(high.strip()) >= Decimal(repr(ends[1]))
            assert float(low) <= ends[0] and ends[1] <= float(high)


@pytest.mark.parametrize(
    ("ends", "form", "text"),
    [
        ((0.9, 1.0), ".3f", "[0.900, 1.000]"),
        ((0.1, 0.2), ".1f", "[0.1, 0.2]"),
        ((0.94651, 0.94749), ".3f", "[0.946, 0.948]"),
        ((0, math.inf), ".2e", "[0.00e+00, inf]"),
        ((0.1234, 0.1235), ".1%", "[12.3%, 12.4%]"),
        ((1e-320, 1e300), ".0e", "[1e-320, 1e+300]"),
        ((2.375, 0.99e9), ".1e", "[2.3e+00, 9.9e+08]"),
    ],
)
def test_forms(ends, form, text):
    assert f"{al.Bound(*ends):{form}}" == text


def test_rounded_ends_lie_outside():
    assert round(al.Bound(0.94651, 0.94749), 3) == al.Bound(0.946, 0.948)
    assert round(al.Bound(0.5, math.inf), 0) == al.Bound(0, math.inf)
    many = BoundArray([[0.11], [0.5]], [[0.18], [0.5]])
    assert round(many, 1) == BoundArray([[0.1], [0.5]], [[0.2], [0.5]])
    for digits in (-1, 0.5, 401):
        with pytest.raises(ValueError, match="digits must"):
            round(al.Bound(0.1, 0.2), digits)


def test_without_a_form_it_is_the_repr():
    assert f"{al.Bound(0.5, 1)}" == "Bound(lower=0.5, upper=1.0)"


@pytest.mark.parametrize("kind", [float, np.float64, Fraction, np.array])
def test_an_order_is_a_proven_one(kind):
    bound = al.Bound(0.5, 1.0)
    below, inside, above = kind(0.25), kind(0.75), kind(2)
    assert bound < above and bound <= above and above > bound
    assert bound > below and bound >= below and below < bound
    assert not (bound < inside or bound <= inside)
    assert not (bound > inside or bound >= inside)
    assert bound <= kind(1) and not bound < kind(1)
    assert bound >= kind(0.5) and not bound > kind(0.5)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint64, np.array])
def test_whole_numbers_are_not_rounded(kind):
    """2^53 + 1 is no float: NumPy would make 2^53 of it."""
    for bound in (
        al.Bound(2.0**53, 2.0**53),
        BoundArray([2.0**53], [2.0**53]),
    ):
        above, below = kind(2**53 + 1), kind(2**53 - 1)
        assert bound < above and not bound >= above and below < bound
        assert above > bound and not above <= bound
        assert not bound.contains(above)
        assert bound.contains(kind(2**53))
    wide = al.Bound(2**53 + 3, 2**53 + 5)  # no floats: rounded outward
    assert (wide.lower, wide.upper) == (2**53 + 2, 2**53 + 6)
    many = BoundArray([0, 2**53 + 3], [0, 2**53 + 5])
    assert many.contains([0, 2**53 + 3]) and many.contains([0, 2**53 + 5])


@pytest.mark.parametrize("kind", [np.float16, np.float32, Fraction, Decimal])
def test_numbers_of_other_kinds_are_not_rounded(kind):
    """0.1 would become one of 16 bits, and then be equal to it."""
    number = kind("1/10") if kind is Fraction else kind("0.1")
    smaller = Fraction(str(number) if kind is Decimal else float(number))
    smaller = Fraction(1, 10) if kind is Fraction else smaller
    proven = Fraction(0.1) <= smaller
    for bound in (al.Bound(0.1, 0.1), BoundArray([0.1], [0.1])):
        assert (bound <= number) == (not bound > number) == proven
        assert bound.contains(number) == (Fraction(0.1) == smaller)


def test_numbers_that_are_no_floats():
    huge = 10**400
    for bound in (al.Bound(1.0, 2.0), BoundArray([1.0], [2.0])):
        assert bound < huge and not bound > huge and not bound.contains(huge)
        assert not bound.contains(math.nan)
        for wrong in ("1.5", np.array(["1.5"]), None, 1j):
            with pytest.raises(TypeError):
                bound.contains(wrong)
            with pytest.raises(TypeError):
                assert bound < wrong


def test_one_interval_in_an_array_of_no_dimension():
    bound = BoundArray(np.array(0.25), np.array(0.5))
    assert bound.lower.shape == () and f"{bound:.2f}" == "[0.25, 0.50]"
    assert f"{bound}" == str(bound)


def test_no_order_of_what_is_no_number():
    bound = al.Bound(0.5, 1.0)
    assert not bound < math.nan and not bound > math.nan
    for call in (
        lambda: bound < al.Bound(2.0, 3.0),
        lambda: max(bound, al.Bound(2.0, 3.0)),
        lambda: sorted([bound, bound]),
    ):
        with pytest.raises(TypeError, match="two bounds have no order"):
            call()
    with pytest.raises(TypeError):
        bound < "1"  # noqa: B015  # it must raise


def test_bounds_stay_frozen_hashable_and_picklable():
    bound = al.Bound(0.5, 1.0)
    assert len({bound, al.Bound(0.5, 1.0), al.Bound(0.5, 2.0)}) == 2
    assert pickle.loads(pickle.dumps(bound)) == bound == copy.deepcopy(bound)
    assert bound != 0.5 and bound != (0.5, 1.0)
    with pytest.raises(AttributeError):
        bound.upper = 2.0


# --- many intervals ----------------------------------------------------------


def test_a_bound_of_arrays():
    ends = np.array([0.0, 0.5, 2.0]), np.array([0.0, 1.0, math.inf])
    bounds = BoundArray(*ends)
    ends[0][0] = 7
    assert isinstance(bounds, al.Bound) and bounds.lower[0] == 0
    assert bounds.width.tolist() == [0.0, 0.5, 1.0]
    assert bounds.contains([0.0, 0.7, 1e9]) and not bounds.contains(0.7)
    assert f"{bounds:.1f}" == "[0.0, 0.0], [0.5, 1.0], [2.0, inf]"
    assert bounds >= 0 and not bounds > 0 and not bounds < 5
    assert bounds <= np.array([0.0, 1.0, math.inf])
    for same in (pickle.loads(pickle.dumps(bounds)), copy.deepcopy(bounds)):
        assert same == bounds and hash(same) == hash(bounds)
        with pytest.raises(ValueError, match="read-only"):
            same.upper[0] = 1.0
    assert bounds != BoundArray(bounds.lower, np.full(3, math.inf))
    assert bounds != BoundArray(bounds.lower[:2], bounds.upper[:2])
    assert bounds != al.Bound(0.0, 1.0)


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        ([-1.0], [1.0], "lower must lie in"),
        ([0.0], [math.nan], "upper must lie in"),
        ([0.0], [1.0, 2.0], "upper must have the shape of lower"),
        ([0.5, 2.0], [1.0, 1.0], "upper must be at least lower"),
        (["a"], [1.0], "lower must lie in"),
    ],
)
def test_bad_arrays_of_ends(lower, upper, words):
    with pytest.raises(ValueError, match=words):
        BoundArray(np.array(lower), np.array(upper))


# --- many questions ----------------------------------------------------------


def check_against_single(bounds, singles, width):
    """Intervals overlap, and are narrow or as narrow as a call."""
    assert isinstance(bounds, BoundArray)
    assert bounds.lower.shape == bounds.upper.shape == (len(singles),)
    for low, high, share, one in zip(
        *bounds, bounds.width, singles, strict=True
    ):
        assert low <= one.upper and one.lower <= high
        narrow = share <= one.width + 2 * width or high < 1e-290
        assert narrow, (low, high, one)
    assert np.all(bounds.lower[1:] <= bounds.lower[:-1])
    assert np.all(bounds.upper[1:] <= bounds.upper[:-1])


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("adjacency", ["add-or-remove", "substitute"])
@pytest.mark.parametrize("name", RUNS)
def test_many_deltas(name, adjacency):
    run = RUNS[name]
    if (name, adjacency) == ("mixed", "substitute"):
        run = run[:1]
    bounds = al.delta(run, epsilon=EPSILONS, adjacency=adjacency)
    singles = [
        al.delta(run, epsilon=x, adjacency=adjacency)
        for x in EPSILONS.tolist()
    ]
    check_against_single(bounds, singles, 1e-3)


@pytest.mark.parametrize("name", RUNS)
def test_many_epsilons(name):
    run = RUNS[name]
    bounds = al.epsilon(run, delta=DELTAS, adjacency="add-or-remove")
    singles = [
        al.epsilon(run, delta=x, adjacency="add-or-remove")
        for x in DELTAS.tolist()
    ]
    check_against_single(bounds, singles, 1e-3)
    for low, high, one in zip(*bounds, singles, strict=True):
        if one.lower == one.upper and one.lower in (0.0, math.inf):
            assert low == high == one.lower


@pytest.mark.parametrize("width", [1e-2, 1e-5])
def test_many_answers_contain_closed_forms(width):
    pure = al.Release(al.Gaussian(2.0), count=4)  # mu = 1
    at = np.linspace(0.0, 30.0, 61)
    found = al.delta(
        pure, epsilon=at, adjacency="remove", relative_width=width
    )
    assert found.contains(al.gaussian_delta(at, mu=1.0))
    deltas = np.geomspace(1e-100, 0.38, 61)
    found = al.epsilon(
        pure, delta=deltas, adjacency="remove", relative_width=width
    )
    assert found.contains(al.gaussian_epsilon(deltas, mu=1.0))
    assert np.max(found.width) <= 2 * width


def test_many_answers_contain_exact_sums():
    """Forty coins, in exact fractions: tables, not one pair."""
    runs, at = 40, [math.log(x) for x in (1, 3, 9, 81, 3**20)]
    exact = []
    for alpha in (1, 3, 9, 81, 3**20):
        ways = [
            (math.comb(runs, k) * (3**k - alpha * 3 ** (runs - k)))
            for k in range(runs + 1)
        ]
        total = sum(max(way, 0) for way in ways)
        exact.append(float(Fraction(total, 4**runs)))
    found = al.delta(RUNS["coins"], epsilon=at, adjacency="remove")
    assert np.all(found.lower <= np.array(exact) * (1 + 1e-12))
    assert np.all(found.upper >= np.array(exact) * (1 - 1e-12))


def test_one_question_in_an_array_is_answered_like_one():
    run = RUNS["training"]
    single = al.delta(run, epsilon=1.0, adjacency="remove")
    for one in ([1.0], np.array([[1.0]])):
        bounds = al.delta(run, epsilon=one, adjacency="remove")
        assert bounds.lower.shape == np.shape(one)
        assert bounds.lower.item() == single.lower
        assert bounds.upper.item() == single.upper
    for zero_dimensional in (np.array(1.0), np.float64(1.0)):
        assert (
            al.delta(run, epsilon=zero_dimensional, adjacency="remove")
            == single
        )


def test_shapes_order_and_repetition():
    run = RUNS["training"]
    given = np.array([[2.0, 0.5, 2.0], [0.0, 1.0, 0.5]])
    bounds = al.delta(run, epsilon=given, adjacency="add")
    assert bounds.upper.shape == (2, 3)
    assert bounds.upper[0, 0] == bounds.upper[0, 2] < bounds.upper[1, 1]
    assert al.delta(run, epsilon=given.tolist(), adjacency="add") == bounds
    blank: list[Any] = [[], np.zeros((0, 2))]
    for empty in blank:
        none = al.epsilon(run, delta=empty, adjacency="add")
        assert none.lower.shape == np.shape(empty) and none.width.size == 0
        assert f"{none:.3f}" == "" and none <= 0.0


BAD = [
    ([0.5, math.nan], "must lie in"),
    ([0.5, -0.1], "must lie in"),
    ([True, False], "must lie in"),
    (["a", "b"], "must lie in"),
    ([0.5, None], "must lie in"),
    ([0.5 + 0j], "must lie in"),
    ([[0.5], [0.1, 0.2]], "must be a number or an array"),
]


@pytest.mark.parametrize(("value", "words"), BAD)
def test_bad_arrays_are_refused(value, words):
    run = RUNS["single"]
    with pytest.raises(ValueError, match=f"delta {words}"):
        al.epsilon(run, delta=value, adjacency="add")
    with pytest.raises(ValueError, match=f"epsilon {words}"):
        al.delta(run, epsilon=value, adjacency="add")


def test_a_hundred_questions_are_few_searches(monkeypatch):
    real, searches = one_call.search_directions, []

    def counted(ways, query):
        searches.append(query)
        return real(ways, query)

    monkeypatch.setattr(one_call, "search_directions", counted)
    for name in ("training", "wide", "laplace", "mixed"):
        searches.clear()
        al.delta(
            RUNS[name], epsilon=np.linspace(0, 3, 100), adjacency="remove"
        )
        assert len(searches) <= 6, name
        searches.clear()
        given = np.geomspace(1e-10, 1e-3, 100)
        al.epsilon(RUNS[name], delta=given, adjacency="remove")
        assert len(searches) <= 6, name


def test_every_place_that_is_read_is_a_bound():
    """Ends of epsilon hold, wherever the reader looks and stops."""
    deltas = np.geomspace(1e-12, 0.3, 9)
    exact = al.gaussian_epsilon(deltas, mu=1.0)

    def read(epsilons):
        found = closed_forms.gaussian_delta(epsilons, mu=1.0)
        return 0.99 * found, np.minimum(1.01 * found, 1)

    for width in (0.5, 0.03, 1e-6):
        low, high = many_questions.read_epsilons(read, deltas, width)
        assert np.all(low <= exact) and np.all(exact <= high)
    assert np.max(1 - low / high) < 0.08  # 2 % of delta, nearly flat at 0


SNIPPET = """
import accountlib as al
import numpy as np
from numpy.typing import NDArray
run = al.Release(al.Gaussian(1.0))
for name in ("add", "remove"):
    low, high = al.epsilon(run, delta=1e-6, adjacency=name)
    total: float = low + high
one: al.Bound = al.delta(run, epsilon=1.0, adjacency=al.Adjacency.ADD)
shape: tuple[int, ...] = al.delta(
    run, epsilon=np.ones(3), adjacency="substitute"
).lower.shape
width: float = one.width
certain: bool = one <= 1.0
"""


def test_types_are_concrete(tmp_path):
    pytest.importorskip("mypy")

    def errors(code):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "-c", code],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        return done.stdout + done.stderr

    assert "Success" in errors(SNIPPET)
    wrong = SNIPPET.replace('"substitute"', '"substituted"')
    assert "No overload variant" in errors(wrong)
