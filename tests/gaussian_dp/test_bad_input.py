"""Bad calls of Gaussian DP, and questions without a theorem."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from typing import Any

import pytest

import accountlib as al
from accountlib.gaussian_dp import attackers, one_number

BOTH: dict[str, Any] = {"adjacency": "add-or-remove"}
NAN, INF = math.nan, math.inf


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
