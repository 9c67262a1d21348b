"""Bad calls: a ValueError that names the argument and what is allowed."""

# Frozen fields are assigned to, and lists stand for arrays, on purpose.
# mypy: disable-error-code="arg-type, call-arg, call-overload, list-item, misc"

import math
from fractions import Fraction

import numpy as np
import pytest

import accountlib as al
from accountlib.renyi import curves, few_terms, subsampling
from accountlib.several import chains, groups
from accountlib.worst_cases import closed_forms

NAN, INF = math.nan, math.inf
RUN = al.Release(al.Gaussian(1.0))
PAIR = al.GaussianPair(1.0)


def line(order):
    return np.asarray(order) / 2


COIN = al.PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
REMOVE = {"adjacency": "remove"}
UNIT_RANGE = r"\[0, 1\]"
POSITIVE = r"\(0, inf\)"
OPEN_UNIT = r"\(0, 1\)"


def numbers(make, name, allowed, *values):
    """The same argument with many bad values, and never a number at all."""
    wrong = (NAN, None, "0.5", True, 1j, *values)
    return [(make, value, name, allowed) for value in wrong]


def counts(make, name, *values):
    wrong = (2.5, 0, -1, NAN, INF, None, "3", True, 2j, [1], *values)
    return [(make, value, name, "whole number >= 1") for value in wrong]


SCALARS = [
    # chapter 1
    *numbers(
        lambda x: al.gaussian_delta(x, mu=1.0),
        "epsilon",
        r"\(-inf, inf\)",
        INF,
        [0.1, NAN],
        ["a"],
        object(),
    ),
    *numbers(
        lambda x: al.gaussian_delta(1.0, mu=x), "mu", r"\[0, inf\)", -1, INF
    ),
    *numbers(
        lambda x: al.gaussian_epsilon(x, mu=1.0), "delta", UNIT_RANGE, -0.1, 2
    ),
    *numbers(
        lambda x: al.gaussian_epsilon(0.1, mu=x), "mu", r"\[0, inf\)", -1
    ),
    *numbers(
        lambda x: al.laplace_delta(0.1, scale=x), "scale", POSITIVE, 0, -1, INF
    ),
    *numbers(
        lambda x: al.laplace_delta(x, scale=1.0), "epsilon", r"\(-inf, inf\)"
    ),
    *numbers(
        lambda x: al.hockey_stick([0.5, 0.5], [1.0, 0.0], x),
        "alpha",
        r"\[0, inf\)",
        -1,
        Fraction(-1, 2),
        INF,
    ),
    *numbers(
        lambda x: closed_forms.monte_carlo_sample_size(
            x, failure_probability=0.1, points=1
        ),
        "error",
        OPEN_UNIT,
        0,
        1,
        -1,
    ),
    *numbers(
        lambda x: closed_forms.monte_carlo_sample_size(
            0.1, failure_probability=x, points=1
        ),
        "failure_probability",
        OPEN_UNIT,
        0,
        1,
    ),
    *counts(
        lambda x: closed_forms.monte_carlo_sample_size(
            0.1, failure_probability=0.1, points=x
        ),
        "points",
    ),
    # chapter 2
    *numbers(al.Gaussian, "noise_multiplier", POSITIVE, 0, -1, INF, -INF),
    *numbers(al.Laplace, "scale", POSITIVE, 0, -1, INF),
    *numbers(
        al.RandomizedResponse, "truth_probability", UNIT_RANGE, -0.1, 1.1
    ),
    *numbers(al.PureDP, "epsilon", r"\[0, 700\]", -1, 701, INF),
    *numbers(
        lambda x: al.ApproximateDP(x, 0.1), "epsilon", r"\[0, 700\]", -1, 701
    ),
    *numbers(lambda x: al.ApproximateDP(1, x), "delta", UNIT_RANGE, -1, 2),
    *numbers(al.GaussianPair, "mu", POSITIVE, 0, -1, INF),
    *numbers(al.LaplacePair, "scale", POSITIVE, 0, -1, INF),
    *numbers(lambda x: al.SampledPair(PAIR, x), "rate", OPEN_UNIT, 0, 1, 2),
    *numbers(al.Poisson, "rate", UNIT_RANGE, -1e-9, 1.0000001, INF),
    *counts(lambda x: al.FixedBatch(x, 10), "batch_size"),
    *counts(lambda x: al.FixedBatch(1, x), "dataset_size"),
    *counts(lambda x: al.Release(al.Gaussian(1), count=x), "count", -1000),
    # chapter 3
    *numbers(
        lambda x: al.discretize(PAIR, step=x), "step", POSITIVE, 0, -1, INF
    ),
    *numbers(
        lambda x: al.discretize(PAIR, step=0.1, tail_mass=x),
        "tail_mass",
        OPEN_UNIT,
        0,
        1,
    ),
    *numbers(
        lambda x: al.PrivacyLossDistribution(x, 0, [1.0], 0.0),
        "step",
        POSITIVE,
        0,
        -1,
    ),
    *numbers(
        lambda x: al.PrivacyLossDistribution(1.0, 0, [1.0], x),
        "infinity_mass",
        UNIT_RANGE,
        -0.1,
        1.1,
    ),
    *numbers(COIN.delta, "epsilon", r"\(-inf, inf\)", INF),
    *numbers(COIN.epsilon, "delta", UNIT_RANGE, -0.1, 1.1),
    *numbers(PAIR.delta, "epsilon", r"\(-inf, inf\)", INF),
    # chapter 4
    *counts(lambda x: al.self_compose(COIN, x), "count"),
    *numbers(
        lambda x: al.self_compose(COIN, 2, tail_mass=x),
        "tail_mass",
        OPEN_UNIT,
        0,
        1,
    ),
    *numbers(
        lambda x: al.compose([COIN], tail_mass=x), "tail_mass", OPEN_UNIT, 0
    ),
    *numbers(
        lambda x: al.epsilon(RUN, delta=x, **REMOVE),
        "delta",
        UNIT_RANGE,
        -1e-9,
        1.1,
        INF,
    ),
    *numbers(
        lambda x: al.delta(RUN, epsilon=x, **REMOVE),
        "epsilon",
        r"\[0, inf\)",
        -1e-9,
        INF,
    ),
    *numbers(
        lambda x: al.epsilon(RUN, delta=0.1, relative_width=x, **REMOVE),
        "relative_width",
        OPEN_UNIT,
        0,
        1,
        -1,
        2,
    ),
    *numbers(
        lambda x: al.delta(RUN, epsilon=0.1, relative_width=x, **REMOVE),
        "relative_width",
        OPEN_UNIT,
        0,
        1,
    ),
    *counts(
        lambda x: al.epsilon(RUN, delta=0.1, group_size=x, **REMOVE),
        "group_size",
    ),
    *counts(
        lambda x: al.delta(RUN, epsilon=0.1, group_size=x, **REMOVE),
        "group_size",
    ),
    *numbers(lambda x: al.Bound(x, 1.0), "lower", r"\[0, inf\]", -1),
    *numbers(lambda x: al.Bound(0.5, x), "upper", r"\[0.5, inf\]", 0.4),
    # chapter 7
    *[
        case
        for curve in (
            lambda x: al.gaussian_rdp(x, noise_multiplier=1.0),
            lambda x: al.laplace_rdp(x, scale=1.0),
            lambda x: al.randomized_response_rdp(x, truth_probability=0.6),
            lambda x: al.pure_dp_rdp(x, epsilon=1.0),
            lambda x: al.zcdp_rdp(x, rho=1.0),
            lambda x: al.discrete_rdp(x, p=[0.5, 0.5], q=[0.4, 0.6]),
            lambda x: curves.discrete_gaussian_rdp(x, sigma=1.0),
            lambda x: curves.discrete_laplace_rdp(x, scale=1.0),
            lambda x: al.poisson_rdp(x, rdp=line, rate=0.1),
            lambda x: al.poisson_rdp(x, rdp=line, rate=0.0),
            lambda x: few_terms.poisson_rdp_terms(
                x, rdp=line, rate=0.1, terms=2
            ),
            lambda x: al.without_replacement_rdp(x, rdp=line, rate=0.1),
            lambda x: al.rdp_curve(RUN, **REMOVE)(x),
        )
        for case in numbers(curve, "order", r"\[1, inf\]", 0.99, -2, [2, NAN])
    ],
    *numbers(
        lambda x: al.gaussian_rdp(2, noise_multiplier=x),
        "noise_multiplier",
        POSITIVE,
        0,
        -1,
        INF,
    ),
    *numbers(lambda x: al.laplace_rdp(2, scale=x), "scale", POSITIVE, 0, INF),
    *numbers(
        lambda x: al.randomized_response_rdp(2, truth_probability=x),
        "truth_probability",
        UNIT_RANGE,
        -0.1,
        1.1,
    ),
    *numbers(
        lambda x: al.pure_dp_rdp(2, epsilon=x),
        "epsilon",
        r"\[0, inf\)",
        -1,
        INF,
    ),
    *numbers(lambda x: al.zcdp_rdp(2, rho=x), "rho", r"\[0, inf\)", -1, INF),
    *numbers(
        lambda x: curves.discrete_gaussian_rdp(2, sigma=x),
        "sigma",
        POSITIVE,
        0,
    ),
    *numbers(
        lambda x: curves.discrete_laplace_rdp(2, scale=x), "scale", POSITIVE, 0
    ),
    *counts(
        lambda x: curves.discrete_gaussian_rdp(2, sigma=1.0, sensitivity=x),
        "sensitivity",
    ),
    *counts(
        lambda x: curves.discrete_laplace_rdp(2, scale=1.0, sensitivity=x),
        "sensitivity",
    ),
    *[
        case
        for function in (al.poisson_rdp, al.without_replacement_rdp)
        for case in numbers(
            lambda x, f=function: f(2, rdp=line, rate=x),
            "rate",
            UNIT_RANGE,
            -0.1,
            1.1,
        )
    ],
    *counts(
        lambda x: few_terms.poisson_rdp_terms(9, rdp=line, rate=0.1, terms=x),
        "terms",
    ),
    *numbers(
        lambda x: al.epsilon_from_rdp(line, delta=x),
        "delta",
        UNIT_RANGE,
        -0.1,
        1.1,
    ),
    *numbers(
        lambda x: al.delta_from_rdp(line, epsilon=x),
        "epsilon",
        r"\(-inf, inf\)",
        INF,
    ),
    *[
        case
        for value in ([], [1.0], [2, NAN], [2, INF], "abc", [None])
        for case in (
            (
                lambda x: al.epsilon_from_rdp(line, delta=0.1, orders=x),
                value,
                "orders",
                "must",
            ),
        )
    ],
    *numbers(
        lambda x: al.kairouz_epsilon(x, delta=0.1, count=2, slack=0.1),
        "epsilon",
        r"\[0, 1e\+06\]",
        -1,
        INF,
    ),
    *numbers(
        lambda x: al.kairouz_epsilon(1.0, delta=x, count=2, slack=0.1),
        "delta",
        UNIT_RANGE,
        -0.1,
    ),
    *numbers(
        lambda x: al.kairouz_epsilon(1.0, delta=0.1, count=2, slack=x),
        "slack",
        UNIT_RANGE,
        1.1,
    ),
    *counts(
        lambda x: al.kairouz_epsilon(1.0, delta=0.1, count=x, slack=0.1),
        "count",
    ),
    # chapter 8
    *counts(lambda x: groups.binomial_sensitivity(x, rate=0.1), "group_size"),
    *numbers(
        lambda x: groups.binomial_sensitivity(2, rate=x),
        "rate",
        UNIT_RANGE,
        -0.1,
    ),
    *counts(
        lambda x: groups.hypergeometric_sensitivity(
            x, batch_size=2, dataset_size=9
        ),
        "group_size",
    ),
    *counts(
        lambda x: groups.hypergeometric_sensitivity(
            2, batch_size=x, dataset_size=9
        ),
        "batch_size",
    ),
    *counts(
        lambda x: groups.hypergeometric_sensitivity(
            2, batch_size=2, dataset_size=x
        ),
        "dataset_size",
    ),
    *numbers(
        lambda x: al.MixtureOfGaussians([0, 1], [0.5, 0.5], x),
        "noise_multiplier",
        POSITIVE,
        0,
        INF,
    ),
    *counts(
        lambda x: chains.group_epsilon_vadhan(x, log_delta=line, delta=0.1),
        "group_size",
    ),
    *numbers(
        lambda x: chains.group_epsilon_vadhan(2, log_delta=line, delta=x),
        "delta",
        OPEN_UNIT,
        0,
        1,
    ),
]

# One number is meant: a list of them is a mistake.
ARRAYS = [
    (al.Gaussian, "noise_multiplier"),
    (al.Laplace, "scale"),
    (al.RandomizedResponse, "truth_probability"),
    (al.PureDP, "epsilon"),
    (lambda x: al.ApproximateDP(x, 0.1), "epsilon"),
    (lambda x: al.ApproximateDP(1.0, x), "delta"),
    (al.GaussianPair, "mu"),
    (al.LaplacePair, "scale"),
    (lambda x: al.SampledPair(PAIR, x), "rate"),
    (al.Poisson, "rate"),
    (lambda x: al.discretize(PAIR, step=x), "step"),
    (lambda x: al.discretize(PAIR, step=0.1, tail_mass=x), "tail_mass"),
    (lambda x: al.PrivacyLossDistribution(x, 0, [1.0], 0.0), "step"),
    (lambda x: al.PrivacyLossDistribution(1.0, 0, [1.0], x), "infinity_mass"),
    (COIN.epsilon, "delta"),
    (lambda x: al.self_compose(COIN, 2, tail_mass=x), "tail_mass"),
    (
        lambda x: al.epsilon(RUN, delta=0.1, relative_width=x, **REMOVE),
        "relative_width",
    ),
    (lambda x: al.Bound(x, 1.0), "lower"),
    (lambda x: al.Bound(0.0, x), "upper"),
    (
        lambda x: closed_forms.monte_carlo_sample_size(
            x, failure_probability=0.1, points=1
        ),
        "error",
    ),
    (
        lambda x: closed_forms.monte_carlo_sample_size(
            0.1, failure_probability=x, points=1
        ),
        "failure_probability",
    ),
]

LISTS = [
    (lambda: al.hockey_stick([], [], 1), "p must be a non-empty list"),
    (lambda: al.hockey_stick([0.5], [1], 1), "p must sum to 1"),
    (lambda: al.hockey_stick([1], [0.9], 1), "q must sum to 1"),
    (lambda: al.hockey_stick([1.5, -0.5], [1, 0], 1), r"p must lie in \[0, 1"),
    (lambda: al.hockey_stick([NAN, 1], [1, 0], 1), r"p must lie in \[0, 1"),
    (lambda: al.hockey_stick([1], [0.5, 0.5], 1), "same length"),
    (lambda: al.hockey_stick([[1.0]], [1.0], 1), "p must be a non-empty list"),
    (lambda: al.hockey_stick(1.0, [1.0], 1), "p must be a non-empty list"),
    (lambda: al.hockey_stick("ab", [1.0], 1), "p must"),
    (lambda: al.hockey_stick(None, [1.0], 1), "p must"),
    (lambda: al.hockey_stick([None], [1.0], 1), "p must"),
    (lambda: al.hockey_stick([True], [1.0], 1), "p must"),
    (lambda: al.hockey_stick([1j], [1.0], 1), "p must"),
    (lambda: al.hockey_stick([[0.5], [0.5, 0]], [1.0], 1), "p must"),
    (
        lambda: al.hockey_stick([Fraction(1, 2)], [Fraction(1)], 1),
        "p must sum to 1",
    ),
    (
        lambda: al.hockey_stick(
            [Fraction(3, 2), Fraction(-1, 2)], [Fraction(1), Fraction(0)], 1
        ),
        r"p must lie in \[0, 1\]",
    ),
    (lambda: al.DiscretePair([0.5, 0.5], [0.5, 0.4]), "q must sum to 1"),
    (lambda: al.DiscretePair([], []), "p must be a non-empty list"),
    (lambda: al.DiscretePair([1.0], [0.5, 0.5]), "same length"),
    (lambda: al.DiscretePair([2, -1], [1, 0]), r"p must lie in \[0, 1\]"),
    (lambda: al.DiscretePair([NAN], [1]), r"p must lie in \[0, 1\]"),
    (lambda: al.DiscretePair([1.0], "x"), "q must"),
    (lambda: al.DiscretePair([1.0], None), "q must"),
    (lambda: PAIR.masses([]), "edges must be a non-empty increasing"),
    (lambda: PAIR.masses([1.0, 0.0]), "edges must be a non-empty increasing"),
    (lambda: PAIR.masses([1.0, 1.0]), "edges must be a non-empty increasing"),
    (lambda: PAIR.masses([0.0, NAN]), r"edges must lie in \(-inf, inf\)"),
    (lambda: PAIR.masses([0.0, INF]), r"edges must lie in \(-inf, inf\)"),
    (lambda: PAIR.masses([-INF]), r"edges must lie in \(-inf, inf\)"),
    (lambda: PAIR.masses(0.5), "edges must be a non-empty increasing"),
    (lambda: PAIR.masses([[0.0, 1.0]]), "edges must be a non-empty"),
    (lambda: PAIR.masses("ab"), "edges must"),
    (lambda: PAIR.masses(None), "edges must"),
    (lambda: PAIR.masses([0.0, 1j]), "edges must"),
    (lambda: PAIR.masses([True]), "edges must"),
    (lambda: al.FixedBatch(11, 10), r"batch_size must lie in \[1, .*10"),
    (lambda: al.Release(0.8), "mechanism must be a Mechanism"),
    (lambda: al.Release(al.Gaussian), "mechanism must be a Mechanism"),
    (lambda: al.Release(None), "mechanism must be a Mechanism"),
    (lambda: al.Release(al.GaussianPair(1.0)), "mechanism must be a Mech"),
    (lambda: al.Release(al.Gaussian(1), 0.1), "sampling must be a FullBatch"),
    (lambda: al.Release(al.Gaussian(1), None), "sampling must be a"),
    (lambda: al.Release(al.Gaussian(1), al.Poisson), "sampling must be a"),
    (lambda: al.SampledPair(al.Gaussian(1.0), 0.1), "base must"),
    (
        lambda: al.dominating_pairs(
            1.0, sampling=al.FullBatch(), adjacency="add"
        ),
        "mechanism must be a Mechanism",
    ),
    (
        lambda: al.dominating_pairs(
            al.Gaussian(1), sampling="poisson", adjacency="add"
        ),
        "sampling must be a",
    ),
    (lambda: al.discretize(PAIR, step=0.1, bound="middle"), "bound must be"),
    (lambda: al.discretize(PAIR, step=0.1, bound=None), "bound must be"),
    (lambda: al.discretize(PAIR, step=0.1, bound=["upper"]), "bound must be"),
    (lambda: al.discretize(PAIR, step=1e-8), "step must be larger"),
    (lambda: al.discretize(PAIR, step=1e-300), "step must be larger"),
    (lambda: al.discretize(al.Gaussian(1), step=0.1), "pair must"),
    (lambda: al.discretize(None, step=0.1), "pair must"),
    (
        lambda: al.PrivacyLossDistribution(1.0, 0, [], 0.0),
        "mass must be a non-empty list",
    ),
    (
        lambda: al.PrivacyLossDistribution(1.0, 0, 1.0, 0.0),
        "mass must be a non-empty list",
    ),
    (
        lambda: al.PrivacyLossDistribution(1.0, 0, [-0.1, 1.1], 0.0),
        r"mass must lie in \[0, inf\)",
    ),
    (
        lambda: al.PrivacyLossDistribution(1.0, 0, [NAN], 0.0),
        r"mass must lie in \[0, inf\)",
    ),
    (
        lambda: al.PrivacyLossDistribution(1.0, 0.5, [1.0], 0.0),
        "first_index must be a whole number",
    ),
    (
        lambda: al.PrivacyLossDistribution(1.0, None, [1.0], 0.0),
        "first_index must be a whole number",
    ),
    (
        lambda: al.PrivacyLossDistribution(1.0, 0, [1.0], 0.0, "middle"),
        "bound must be",
    ),
    (lambda: al.compose([]), "distributions must be a non-empty list"),
    (lambda: al.compose(COIN), "distributions must be a non-empty list"),
    (lambda: al.compose(None), "distributions must be a non-empty list"),
    (lambda: al.compose([COIN, 1.0]), "must be a PrivacyLossDistribution"),
    (lambda: al.self_compose(1.0, 2), "must be a PrivacyLossDistribution"),
    (
        lambda: al.compose(
            [COIN, al.PrivacyLossDistribution(0.5, 0, [1.0], 0.0)]
        ),
        "same step",
    ),
    (
        lambda: al.compose(
            [COIN, al.PrivacyLossDistribution(1.0, 0, [1.0], 0.0, "lower")]
        ),
        "same bound",
    ),
    (lambda: al.epsilon([], delta=0.1, **REMOVE), "releases must be a"),
    (lambda: al.epsilon(None, delta=0.1, **REMOVE), "releases must be a"),
    (lambda: al.epsilon("run", delta=0.1, **REMOVE), "releases must be a"),
    (lambda: al.epsilon([RUN, 1], delta=0.1, **REMOVE), "releases must be a"),
    (
        lambda: al.epsilon(al.Gaussian(1.0), delta=0.1, **REMOVE),
        "releases must be a",
    ),
    (lambda: al.epsilon({RUN}, delta=0.1, **REMOVE), "releases must be a"),
    (lambda: al.delta((), epsilon=0.1, **REMOVE), "releases must be a"),
    (lambda: al.Bound(1.0, 0.5), r"upper must lie in \[1, inf\]"),
]

WRONG_ADJACENCIES = (
    "Remove",
    "add/remove",
    "replace",
    "",
    None,
    1,
    True,
    NAN,
    ["add"],
    al.Adjacency,
)


def rejects(call, *words):
    """ValueError with all the words; a warning would be an error too."""
    with pytest.raises(ValueError) as caught:
        call()
    for pattern in words:
        caught.match(pattern)


def test_the_table_is_long():
    assert len(SCALARS) + len(ARRAYS) + len(LISTS) >= 60


@pytest.mark.parametrize(
    ("make", "value", "name", "allowed"),
    SCALARS,
    ids=[f"{name}={value!r:.12}" for _, value, name, _ in SCALARS],
)
def test_bad_numbers(make, value, name, allowed):
    rejects(lambda: make(value), rf"\b{name} must", allowed, "got ")


@pytest.mark.parametrize(
    ("make", "name"), ARRAYS, ids=[name for _, name in ARRAYS]
)
@pytest.mark.parametrize("value", [[0.5, 0.6], [0.5], np.array([0.5])])
def test_a_list_where_one_number_is_meant(make, name, value):
    rejects(lambda: make(value), rf"\b{name} must")


@pytest.mark.parametrize(("call", "words"), LISTS)
def test_bad_lists_and_kinds(call, words):
    rejects(call, words)


@pytest.mark.parametrize("adjacency", WRONG_ADJACENCIES, ids=repr)
def test_bad_adjacency(adjacency):
    words = ("adjacency must be add, remove, add-or-remove or substitute",)
    for call in (
        lambda: al.epsilon(RUN, delta=0.1, adjacency=adjacency),
        lambda: al.delta(RUN, epsilon=0.1, adjacency=adjacency),
        lambda: al.dominating_pairs(
            al.Gaussian(1), sampling=al.FullBatch(), adjacency=adjacency
        ),
    ):
        rejects(call, *words)


@pytest.mark.parametrize(
    "call",
    [
        lambda: al.epsilon(RUN, delta=0.1),
        lambda: al.delta(RUN, epsilon=0.1),
        lambda: al.dominating_pairs(al.Gaussian(1), sampling=al.FullBatch()),
    ],
)
def test_there_is_no_default_adjacency(call):
    with pytest.raises(TypeError, match="adjacency"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: al.epsilon(RUN, 0.1, "remove"),
        lambda: al.delta(RUN, 0.1, "remove"),
        lambda: al.gaussian_delta(1.0, 1.0),
        lambda: al.gaussian_epsilon(0.1, 1.0),
        lambda: al.laplace_delta(0.1, 1.0),
        lambda: al.dominating_pairs(al.Gaussian(1), al.FullBatch(), "remove"),
        lambda: al.discretize(PAIR, 0.1),
    ],
)
def test_arguments_after_the_first_are_named(call):
    with pytest.raises(TypeError, match="positional|without a name"):
        call()


@pytest.mark.parametrize(
    "value", [1, np.float32(0.5), np.int64(1), np.array(0.5)]
)
def test_numbers_of_other_kinds_are_fine(value):
    """The check rejects what is no number, not what is no float."""
    assert al.Gaussian(value).noise_multiplier == float(value)
    assert isinstance(al.Gaussian(value).noise_multiplier, float)
    assert al.Poisson(value).rate == float(value)
    assert isinstance(
        al.epsilon(RUN, delta=value, adjacency="remove"), al.Bound
    )


def test_whole_numbers_of_other_kinds_are_fine():
    for value in (3, 3.0, np.int32(3), np.float64(3)):
        assert al.Release(al.Gaussian(1), count=value).count == 3
        assert isinstance(al.Release(al.Gaussian(1), count=value).count, int)


@pytest.mark.parametrize(
    "rdp",
    [
        None,
        0.5,
        "abc",
        [1.0, 2.0],
        lambda a: np.full(np.shape(a), NAN),
        lambda a: -np.asarray(a),
        lambda a: np.ones(3),
        lambda a: "abc",
        lambda a: None,
    ],
)
def test_curves_that_are_none(rdp):
    for call in (
        lambda: al.poisson_rdp([2, 5.5], rdp=rdp, rate=0.1),
        lambda: al.poisson_rdp([2, 5.5], rdp=rdp, rate=1),
        lambda: few_terms.poisson_rdp_terms(9, rdp=rdp, rate=0.1, terms=2),
        lambda: al.without_replacement_rdp(9, rdp=rdp, rate=0.1),
        lambda: subsampling.pearson_vajda(3, rdp=rdp),
        lambda: al.epsilon_from_rdp(rdp, delta=0.1),
        lambda: al.delta_from_rdp(rdp, epsilon=0.1),
    ):
        rejects(call, "rdp must")


def test_choices_of_renyi_dp():
    rejects(
        lambda: al.poisson_rdp(3, rdp=line, rate=0.1, bound="exact"), "bound"
    )
    rejects(
        lambda: al.epsilon_from_rdp(line, delta=0.1, conversion="best"),
        "conversion",
    )
    rejects(
        lambda: al.poisson_rdp(2e6, rdp=line, rate=0.1), "order", r"1e\+06"
    )
    rejects(lambda: subsampling.pearson_vajda(2.5, rdp=line), "order", "whole")
    rejects(
        lambda: subsampling.pearson_vajda([2, 1], rdp=line), "order", "whole"
    )
    rejects(
        lambda: al.epsilon_from_rdp([1.0], delta=0.1, orders=[2, 3]), "orders"
    )
    rejects(
        lambda: al.discrete_rdp(2, p=[0.5, 0.5], q=[1.0]), "p and q", "length"
    )
    rejects(lambda: al.discrete_rdp(2, p=[0.5, 0.6], q=[1.0, 0.0]), "p must")
    for wrong in (
        {"delta": 0, "conversion": "best"},
        {"delta": 1, "orders": []},
        {"delta": 0, "orders": [0.5]},
    ):
        rejects(lambda w=wrong: al.epsilon_from_rdp(line, **w), "must")
    rejects(
        lambda: al.delta_from_rdp(lambda a: 0.1, epsilon=3, conversion="x"),
        "conversion",
    )
    for huge in (10**7, 10**400):
        for call in (
            lambda n=huge: curves.discrete_laplace_rdp(
                2, scale=1, sensitivity=n
            ),
            lambda n=huge: few_terms.poisson_rdp_terms(
                9, rdp=line, rate=0.1, terms=n
            ),
            lambda n=huge: subsampling.pearson_vajda(n, rdp=line),
            lambda n=huge * 2: al.kairouz_epsilon(
                1, delta=0, count=n, slack=0.1
            ),
        ):
            rejects(call, "must lie in")
    rejects(lambda: al.poisson_rdp(3, rdp=line_of_bools, rate=0.1), "rdp must")
    assert al.poisson_rdp([], rdp=line, rate=0.1).shape == (0,)


def line_of_bools(order):
    return np.asarray(order) > 0


def test_bad_mixtures():
    rejects(
        lambda: chains.group_epsilon_vadhan(2, log_delta=3, delta=0.1),
        "log_delta must be a function",
    )
    rejects(
        lambda: chains.group_epsilon_vadhan(
            2, log_delta=lambda e: NAN, delta=0.1
        ),
        "log_delta",
    )
    rejects(
        lambda: al.MixtureOfGaussians([1, 2], [0.5, 0.5], 1e308).pair(),
        "noise_multiplier",
    )
    for sensitivities, probabilities, word in (
        ([0, -1], [0.5, 0.5], "sensitivities"),
        ([0, INF], [0.5, 0.5], "sensitivities"),
        ([0, NAN], [0.5, 0.5], "sensitivities"),
        ([], [], "probabilities"),
        ([0, 1], [0.5, 0.6], "probabilities"),
        ([0, 1], [1.5, -0.5], "probabilities"),
        ([0, 1, 2], [0.5, 0.5], "length"),
    ):
        rejects(
            lambda s=sensitivities, p=probabilities: al.MixtureOfGaussians(
                s, p, 1.0
            ),
            word,
        )
    rejects(lambda: al.MixturePair((-1.0, 1.0), (0.5, 0.5)), "means")
    rejects(lambda: al.MixturePair((1.0, 1.0), (0.5, 0.5)), "increase")
    rejects(lambda: al.MixturePair((0.0,), (1.0,)), "positive")
    rejects(lambda: al.MixturePair((1e-9, 1e4), (0.5, 0.5)), "factor")
    rejects(lambda: al.MixturePair((1.0, 1e151), (0.5, 0.5)), "means")
    rejects(lambda: al.MixturePair((1.0, 2.0), (1.0, 0.0)), "weights")
    rejects(lambda: al.MixturePair((1.0, 2.0), (1.0,)), "length")
    rejects(lambda: al.SampledPair(PAIR, 0.9, 0.6), "missed")
    rejects(
        lambda: chains.group_epsilon_vadhan(
            2, log_delta=line, delta=0.1, rule="old"
        ),
        "rule",
    )
    rejects(
        lambda: groups.hypergeometric_sensitivity(
            3, batch_size=8, dataset_size=10
        ),
        "batch_size",
        "7",
    )
    rejects(
        lambda: al.epsilon(
            al.Release(al.PureDP(400.0)), delta=0.1, group_size=2, **REMOVE
        ),
        "epsilon",
    )
