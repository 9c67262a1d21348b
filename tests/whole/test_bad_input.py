"""Bad calls: a ValueError that names the argument and what is allowed."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
from fractions import Fraction

import numpy as np
import pytest

import accountlib as al
from accountlib.renyi import curves, few_terms, subsampling
from accountlib.renyi.curves import discrete_rdp
from accountlib.several import chains, groups
from accountlib.several.mixtures import MixturePair
from accountlib.worst_cases import closed_forms
from tests.whole.bad_numbers import (
    COIN,
    INF,
    NAN,
    PAIR,
    REMOVE,
    RUN,
    SCALARS,
    line,
)

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
    words = (
        "adjacency must be add, remove, add-or-remove, substitute or zero-out",
    )
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
        lambda: discrete_rdp(2, p=[0.5, 0.5], q=[1.0]), "p and q", "length"
    )
    rejects(lambda: discrete_rdp(2, p=[0.5, 0.6], q=[1.0, 0.0]), "p must")
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
    rejects(lambda: MixturePair((-1.0, 1.0), (0.5, 0.5)), "means")
    rejects(lambda: MixturePair((1.0, 1.0), (0.5, 0.5)), "increase")
    rejects(lambda: MixturePair((0.0,), (1.0,)), "positive")
    rejects(lambda: MixturePair((1e-9, 1e4), (0.5, 0.5)), "factor")
    rejects(lambda: MixturePair((1.0, 1e151), (0.5, 0.5)), "means")
    rejects(lambda: MixturePair((1.0, 2.0), (1.0, 0.0)), "weights")
    rejects(lambda: MixturePair((1.0, 2.0), (1.0,)), "length")
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
