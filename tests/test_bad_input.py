"""Bad calls: a ValueError that names the argument and what is allowed."""

import inspect
import math
import pickle
import re
from dataclasses import FrozenInstanceError
from enum import Enum
from functools import partial
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib import accountant, gaussian
from accountlib.beyond import audits, choosing, odometers, one_run, repetitions

RUN = al.Release(al.Gaussian(1.0))
REMOVE: dict[str, Any] = {"adjacency": "remove"}
NO_NUMBERS: tuple[Any, ...] = (math.nan, None, "0.5", True, 1j)
KNOWN: dict[str, Any] = {}  # names in calls
for module in (gaussian, audits, choosing, odometers, one_run, repetitions):
    KNOWN |= vars(module)
KNOWN |= {name: getattr(al, name) for name in dir(al)}
KNOWN |= {"RUN": RUN, "REMOVE": REMOVE, "NAN": math.nan, "INF": math.inf}
KNOWN["PAIR"] = al.Gaussian(1.0).removed(1)
KNOWN["ONE"] = al.PrivacyLossDistribution(1.0, 0, [0.5, 0.5], 0.0)
KNOWN["LINE"] = lambda order: np.asarray(order) / 2
KNOWN["ASK"] = {"epsilon": 1, "delta": 1e-6, "whole": True, **REMOVE}
KNOWN["BUDGET"] = al.Budget(1.0, 1e-6, "remove")

# A call with some x; what is named; bad x beside those that are no numbers.
NUMBERS = """
Gaussian(x); noise_multiplier; 0.004, 1.1e6, INF, [1.0, 2.0]
Laplace(x); scale; 0, -1, INF, 2e6
RandomizedResponse(x); truth_probability; -0.1, 1.1
PureDP(x); epsilon; -1, 101, INF
ApproximateDP(x, 0.1); epsilon; -1, 101
ApproximateDP(1, x); delta; -1, 2
DiscreteGaussian(x); sigma; 0, 0.001, 1e5
DiscreteGaussian(1e3, x); sensitivity; 0, 1.5, 10**400
DiscreteLaplace(x); scale; 0, 0.001, 1e7
DiscreteLaplace(1.0, x); sensitivity; -1, 2e5
MixtureOfGaussians([0, 1], [0.5, 0.5], x); noise_multiplier; 0, INF
Poisson(x); rate; -1e-9, 1.0000001, 1e-300
FixedBatch(x, 10); batch_size; 2.5, -1, 11
FixedBatch(1, x); dataset_size; 2.5, 0
TruncatedPoisson(x, 5, 50); rate; 1e-12, 1.1
TruncatedPoisson(0.1, x, 50); largest_batch; 0, 1.5
ShuffledEpochs(x); batches; 0, 1.5
RandomAllocation(x); steps; 0, -1, 1.5, 10**8
RandomAllocation(10, x); selected; 0, 11, 2.5
Release(Gaussian(1), count=x); count; 0, 2.5, 1e10
epsilon(RUN, delta=x, **REMOVE); delta; -1e-9, 1e-201
delta(RUN, epsilon=x, **REMOVE); epsilon; -1, 1001
epsilon(RUN, delta=0.1, relative_width=x, **REMOVE); relative_width; 0, 1, -1
epsilon(RUN, delta=0.1, group_size=x, **REMOVE); group_size; 0, 2.5, 1001
Bound(x, 1.0); lower; -1
Bound(0.5, x); upper; 0.4
laplace_delta(0.1, scale=x); scale; 0, INF
hockey_stick([0.5, 0.5], [1.0, 0.0], x); alpha; -1, INF
discretize(PAIR, step=x); step; 0, INF, 1e-9
self_compose(ONE, x); count; 0, 1.5, 10**10
PrivacyLossDistribution(x, 0, [1], 0); step; 0
PrivacyLossDistribution(1, x, [1], 0); first_index; 0.5
PrivacyLossDistribution(1, 0, [x], 0); mass; -1e-20
PrivacyLossDistribution(1, 0, [1], x); infinity_mass; 1.5
ONE.delta(x); epsilon; INF
ONE.epsilon(x); delta; -0.1, 1.1
calibrate(lambda n: RUN, low=x, high=9, **ASK); low; 0, 1.5
calibrate(lambda n: RUN, low=1, high=x, **ASK); high; 0.5
calibrate(lambda n: RUN, low=1, high=9, **ASK | {"epsilon": x}); epsilon; -1
gdp(RUN, cutoff=x, **REMOVE); cutoff; 0
mu_from_pure_dp(x); epsilon; -1, INF
mu_from_epsilon_delta(x, delta=0.1); epsilon; -1
mu_from_epsilon_delta(1.0, delta=x); delta; 1.1
gaussian_tradeoff(0.5, mu=x); mu; -1
dp_tradeoff(0.5, epsilon=1, delta=x); delta; 2
tradeoff_curve(RUN, **REMOVE)(x); false_positive; 1.5
tradeoff_curve(RUN, cutoff=x, **REMOVE); cutoff; 0.3
report(RUN, deltas=[x], **REMOVE); delta; 2
gaussian_rdp(x, noise_multiplier=1.0); order; 0.99, -2, [2, NAN]
laplace_rdp(x, scale=1.0); order; 0.99, -2, [2, NAN]
randomized_response_rdp(x, truth_probability=0.6); order; 0.99, -2, [2, NAN]
poisson_rdp(x, rdp=LINE, rate=0.1); order; 0.99, -2, [2, NAN]
without_replacement_rdp(x, rdp=LINE, rate=0.1); order; 0.99, -2, [2, NAN]
rdp_curve(RUN, **REMOVE)(x); order; 0.99, -2, [2, NAN]
poisson_rdp(2, rdp=LINE, rate=x); rate; -0.1, 1.1
poisson_rdp_terms(9, rdp=LINE, rate=0.1, terms=x); terms; 0, 2.5
epsilon_from_rdp(LINE, delta=x); delta; -0.1, 1.1
delta_from_rdp(LINE, epsilon=x); epsilon; INF
kairouz_epsilon(1.0, delta=0, count=x, slack=0.1); count; 0, 2.5, 10**8
binomial_sensitivity(x, rate=0.1); group_size; 0, 2.5
binomial_sensitivity(2, rate=x); rate; -0.1
group_epsilon_vadhan(2, log_delta=LINE, delta=x); delta; 0, 1.1
AttackCounts(x, 0, 10, 0); without; 0
AttackCounts(10, x, 10, 0); false_positives; 11, 1.5
AttackCounts(10, 1, 10, x); false_negatives; -1
AttackCounts(10, 1, 10, 1).epsilon(delta=x); delta; 1.5
AttackCounts(10, 1, 10, 1).mu(significance=x); significance; 0.0
rate_above(x, 3, 0.05); count; 5, -1
rate_above(1, 3, x); significance; 0.0
OneRun(x, 5, 5); canaries; 2.5
OneRun(10, x, 5); guesses; 11
OneRun(10, 5, x); correct; 6
OneRun(10, 5, 5).epsilon(delta=x); delta; -0.1
OneRun(10, 5, 5).epsilon(delta=0.1, significance=x); significance; 1.0
OneRun(10, 5, 5).mu(significance=x); significance; 2.0
OneRun(10, 5, 5).p_value(x, delta=0.0); epsilon; INF
Budget(x, 1e-6, "remove"); epsilon; -1.0, 1001.0
Budget(1.0, x, "remove"); delta; -0.1
ZCDPOdometer(x, first=1.0); delta; 0.0
ZCDPOdometer(1e-6, first=1.0, levels=x); levels; 61
ZCDPOdometer(1e-6, first=1.0).after(x); cost; INF
ChoicePair(x); bounded_range; 0.0
two_candidates(x, bounded_range=1.0); top; 1.0
choices_delta(x, bounded_range=1.0, count=1); epsilon; -1.0
choices_delta(1.0, bounded_range=1.0, count=x); count; 0
choices_epsilon(x, bounded_range=1.0, count=1); delta; 0
choice_rdp(x, bounded_range=1.0); order; 0.5
TruncatedNegativeBinomial(x, 0.1); shape; -1.0, 1e-10
TruncatedNegativeBinomial(1.0, x); stop; 1.0
TruncatedNegativeBinomial(1.0, 0.1).share(x); chance; 2.0
PoissonRepetitions(x); mean; 0.0
"""


@pytest.mark.parametrize("row", NUMBERS.strip().splitlines())
def test_bad_numbers(row: str) -> None:
    call, name, more = row.split("; ")
    for value in (*NO_NUMBERS, *eval(f"({more},)", KNOWN)):
        with pytest.raises(ValueError, match=rf"\b{name}\b.* must.*"):
            eval(call, KNOWN | {"x": value})


BAD = """
hockey_stick([0.5], [1], 1); p must sum to 1
hockey_stick([1], [0.5, 0.5], 1); same length
hockey_stick([NAN, 1], [1, 0], 1); p must lie in \\[0
DiscretePair([0.5, 0.5], [0.5, 0.4]); q must
DiscretePair([0.5, 0.5], [0.5, 0.5 + 1e-11]); q must
DiscretePair([1.5, -0.5], [0.5, 0.5]); p must lie
DiscretePair("ab", [0.5, 0.5]); p must lie
DiscretePair(1.0, 1.0); p must be a list
DiscretePair([], []); p must
DiscretePair([1.0], [0.5, 0.5]); same length
DiscretePair([1.0], None); q must
MixtureOfGaussians([0, -1], [0.5, 0.5], 1.0); sensitivities
MixtureOfGaussians([0, 1], [0.5, 0.6], 1.0); probabilities
MixtureOfGaussians([0, 1], [1.0], 1.0); same length
MixtureOfGaussians([0, 400], [0.5, 0.5], 1); \\[2, 1e6
DiscreteGaussian(1.0, 201); sigma
discretize(RUN, step=0.1); pair must
discretize(PAIR, step=0.1, bound="above"); bound must
self_compose([0.5, 0.5], 2); distribution
compose([ONE, None]); distributions
PrivacyLossDistribution(1, 0, [], 0); mass
PrivacyLossDistribution(1, 0, [1], 0, "x"); bound
tradeoff_curve(RUN, bound="x", **REMOVE); bound must
explain(RUN, **REMOVE); epsilon or delta
Release(0.8); mechanism must be a Mechanism
Release(Gaussian); mechanism must be a Mechanism
Release(Gaussian(1), 0.1); sampling must be a
epsilon([], delta=0.1, **REMOVE); releases must be
epsilon("run", delta=0.1, **REMOVE); releases must be
epsilon({RUN}, delta=0.1, **REMOVE); releases must be
epsilon(Gaussian(1.0), delta=0.1, **REMOVE); releases must be
epsilon_from_rdp(LINE, delta=0.1, conversion="best"); conversion
epsilon_from_rdp(None, delta=0.1); rdp must
poisson_rdp([2, 5], rdp=lambda a: -a, rate=0.1); rdp must
pearson_vajda(2.5, rdp=LINE); whole
hypergeometric_sensitivity(3, batch_size=8, dataset_size=10); batch_size
group_epsilon_vadhan(2, log_delta=LINE, delta=0.1, rule="old"); rule
OneRun(10**7, 10**7, 5); must
Budget(1.0, 1e-300, "remove").can(RUN); must
Budget(1.0, 1e-6, "both"); must
Budget(1.0, 1e-6, "remove", "no"); must
Budget(1.0, 1e-6, "remove", spent=[Release(Laplace(20.0))] * 300); must
BUDGET.can(0.5); must
BUDGET.spend([RUN, Laplace(1.0)]); must
best_law([-1, 2], repetitions=PoissonRepetitions(1.0)); law must lie
TruncatedNegativeBinomial.of_mean(1e6, shape=-0.999); no stop
"""


@pytest.mark.parametrize("row", BAD.strip().splitlines())
def test_bad_lists_and_kinds(row: str) -> None:
    call, words = row.split("; ")
    with pytest.raises(ValueError, match=words):
        eval(call, KNOWN)


@pytest.mark.parametrize(
    "adjacency", ["both", "add/remove", "REPLACE TWO", "", None, 1, ["add"]]
)
def test_bad_adjacency(adjacency: Any) -> None:
    for call in (
        lambda: al.epsilon(RUN, delta=0.1, adjacency=adjacency),
        lambda: al.delta(RUN, epsilon=0.1, adjacency=adjacency),
        lambda: al.rdp_curve(RUN, adjacency=adjacency),
    ):
        with pytest.raises(ValueError, match="adjacency must be"):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: al.epsilon(RUN, delta=0.1),
        lambda: al.epsilon(RUN, 0.1, "remove"),
        lambda: al.rdp_curve(RUN),
        lambda: al.gaussian_rdp(2.0, 1.0),
    ],
)
def test_names_are_needed(call: Any) -> None:
    with pytest.raises(TypeError):
        call()


def test_neighbours_of_other_libraries() -> None:
    for relation, words in {
        "add-or-remove": "add-or-remove ADD_OR_REMOVE_ONE add_remove",
        "substitute": "replace-one REPLACE_ONE replacement REPLACE",
        "zero-out": "REPLACE_SPECIAL zero_out",
    }.items():
        enum: Any = Enum("Relation", words.replace("-", "_"))  # numbers
        for word in (*words.split(), *enum):
            assert al.Adjacency(word) == relation


@pytest.mark.parametrize(
    ("call", "named", "right"),
    [
        (partial(al.Release, al.Gaussian(1.0)), "steps", "count"),
        (al.Gaussian, "sigma", "noise_multiplier"),
        (partial(al.Gaussian, 1.0), "sensitivity", "noise divided by it"),
        (al.Laplace, "noise_multiplier", "scale"),
        (al.Poisson, "sample_rate", "rate"),
        (partial(al.FixedBatch, dataset_size=9), "sample_size", "batch_size"),
        (partial(al.epsilon, RUN, **REMOVE), "target_delta", "delta"),
        (partial(al.delta, RUN, **REMOVE), "target_epsilon", "epsilon"),
        (al.calibrate_noise, "target_epsilon", "epsilon"),
        (partial(al.gdp, RUN), "group", None),
    ],
)
def test_words_of_other_libraries(call: Any, named: str, right: str) -> None:
    with pytest.raises(TypeError, match=f"argument '{named}'") as found:
        call(**{named: 1})
    assert ("did you mean" in str(found.value)) == (right is not None)
    assert right is None or re.search(rf"\b{right}\b", str(found.value))


def test_wrapped_names_are_themselves() -> None:
    assert str(inspect.signature(al.Gaussian)).startswith("(noise_multiplier")
    assert "delta" in inspect.signature(al.epsilon).parameters
    assert accountant.epsilon is al.epsilon and "Formula" in al.epsilon.__doc__
    for one in (RUN, al.epsilon, al.Gaussian, al.Bound(0.0, 1.0)):
        assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(FrozenInstanceError):
        RUN.count = 2  # type: ignore[misc]  # as it must not be


@pytest.mark.parametrize(
    "value", [1, np.float32(0.5), np.int64(1), np.array(0.5)]
)
def test_numbers_of_other_kinds_are_fine(value: Any) -> None:
    """The check rejects what is no number, not what is no float."""
    assert al.Gaussian(value).noise_multiplier == float(value)
    assert al.Poisson(value).rate == float(value)
    assert isinstance(al.epsilon(RUN, delta=value, **REMOVE), al.Bound)
