"""Bad numbers: which call, which argument, which range."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from fractions import Fraction

import numpy as np

import accountlib as al
from accountlib.renyi import curves, few_terms
from accountlib.renyi.curves import discrete_rdp
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
    # divergences
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
    # pairs
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
    # tables
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
    # compositions, answers
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
    # Renyi DP
    *[
        case
        for curve in (
            lambda x: al.gaussian_rdp(x, noise_multiplier=1.0),
            lambda x: al.laplace_rdp(x, scale=1.0),
            lambda x: al.randomized_response_rdp(x, truth_probability=0.6),
            lambda x: al.pure_dp_rdp(x, epsilon=1.0),
            lambda x: al.zcdp_rdp(x, rho=1.0),
            lambda x: discrete_rdp(x, p=[0.5, 0.5], q=[0.4, 0.6]),
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
    # groups
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
