# Generated from notebooks/several/chains.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Chains of neighbours

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\varepsilon$, $\delta$ | `epsilon`, `delta` | the guarantee for one record |
| $k$ | `size`, `group_size` | number of records that differ, steps of the chain |
| $\delta_k$ | – | what the old rule makes of $\delta$ for $k$ records |
| $P_0, \dots, P_k$ | – | the laws of the outputs along a chain |
| $S$ | – | an event |
| $x$ | – | the probability of an event at the start of a chain |
| $g$, $g^{\circ k}$ | `one_step` | what one step can make of a probability, and $k$ of them |
| $x^*$, $b_m$ | `ends` | where two bounds in $g$ meet, and where the pieces of $g^{\circ k}$ begin |
| $\alpha$ | `alpha` | the factor of a hockey stick, $e$ to the $\varepsilon$ that is asked for |
| $a$ | – | the mass of the atom at 0, in the proof |
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from accountlib.inputs import (
    Floats,
    check_choice,
    check_count,
    check_function,
    check_number,
    front_door,
)
from accountlib.several.mixtures import fifty_digits
from accountlib.worst_cases.dominating_pairs import (
    UNIT,
    DiscretePair,
    DominatingPair,
)

__all__ = [
    "ChainPair",
    "rounded_down",
    "chain_ends",
    "chain_masses",
    "chain_pair",
    "group_epsilon_vadhan",
]

# --- The pair


@dataclass(frozen=True)
class ChainPair(DiscretePair):
    r"""The worst pair at the ends of a chain of k neighbours.

    Formula: losses $(2m - k) \varepsilon$, as eq. (grp-step) gives them.

    Parameters: `p`, `q` as `DiscretePair`; `losses` of the outcomes that
    both have, which the ratio of two floats would not show where epsilon
    is tiny.
    Error: rounding only, as `DiscretePair`; losses to 1.2e-16.
    Source: Dong, Roth and Su (2022), Theorem 2.14.

    >>> chain_pair(1.0, 0.0, 2).atoms
    (-2.0, 0.0, 2.0)
    """

    losses: tuple[float, ...] = ()

    def _losses(self) -> Floats:
        return np.array(self.losses)

    def reversed(self) -> "ChainPair":
        return self


@fifty_digits
def rounded_down(value: Decimal) -> tuple[float, ...]:
    """A number from 0 to 1 as a float below it and, if needed, the rest.

    Parameters: `value`.
    Returns: one or two floats, none negative.
    Error: that of the rest: 1.2e-16 of it.

    >>> rounded_down(Decimal("0.5")), rounded_down(Decimal("0.1"))[0] < 0.1
    ((0.5,), True)
    """
    first = float(value)
    if Decimal(first) > value:
        first = math.nextafter(first, 0.0)
    rest = float(value - Decimal(first))
    return (first, rest) if rest > 0 else (first,)


def chain_ends(
    delta: Decimal, growth: Decimal, size: int
) -> tuple[list[Decimal], list[Decimal]]:
    """How much 0, 1, ... steps may tell for sure; where the pieces of
    eq. (grp-step), done over and over, begin: the largest place first.

    >>> told, ends = chain_ends(Decimal("0.25"), Decimal(1), 2)
    >>> [float(x) for x in told], [float(x) for x in ends]
    ([0.0, 0.25, 0.5], [0.375, 0.125])
    """
    told, ends = [Decimal(0)], [(1 - delta) / (1 + growth)]
    while len(told) <= size:
        told.append(delta + growth * told[-1])
        end = (ends[-1] - delta) / growth
        if len(told) > size or end <= 0:
            break
        ends.append(end)
    return told, ends


def chain_masses(
    epsilon: float, delta: float, size: int
) -> tuple[Decimal, int, list[float]]:
    """The masses of the pair, as `chain_pair` says.

    Returns: the mass that tells all; steps up of the first loss that both
    ends have; and their masses at the start, up to the reverse of these.

    >>> chain_masses(0.0, 0.25, 2)
    (Decimal('0.50'), 2, [0.125, 0.25, 0.125])
    """
    growth = Decimal(epsilon).exp()
    told, ends = chain_ends(Decimal(delta), growth, size)
    up = len(ends)  # at most so many steps up leave something open
    down = size - up
    sure, masses = Decimal(1), []
    if up >= down:
        rest = (1 - told[up] - told[down]) / growth**down
        sure = told[size] if down == 0 else 1 - rest
        masses = [float(rest)]
    if up > down:
        slope = (1 - delta) * math.tanh(epsilon / 2) + delta
        middle = [
            slope * math.exp(-step * epsilon)
            for step in range(up - 1, down, -1)
        ]
        last = growth ** (up - down) * ends[-1]
        masses = [float(ends[-1]), *middle, float(last)]
    if masses and masses[0] <= 0:
        return Decimal(1), up, []
    return sure, up, masses


@fifty_digits
def chain_pair(epsilon: float, delta: float, size: int) -> DominatingPair:
    r"""What k steps of an (epsilon, delta)-DP mechanism reach.

    Formula: $P_k([0, x]) = g^{\circ k}(x)$ against $P_0([0, x]) = x$, with
    g of eq. (grp-step).

    Parameters: `epsilon` ($\varepsilon \ge 0$), `delta` ($\delta \in [0,
    1]$), `size` (k, whole, from 1 to 1e5), $k \varepsilon \le 700$.
    Returns: a DominatingPair, equal to its reverse.
    Raises: ValueError for values outside these ranges.
    Error: none; masses are rounded a few times.
    Source: Dong, Roth and Su (2022), Theorem 2.14.

    >>> round(chain_pair(1.0, 0.0, 2).delta(0.0), 6)  # 1 - 1/e
    0.632121
    """
    size = check_count("group_size", size, high=1e5)
    epsilon = check_number("epsilon", epsilon, 0, math.inf)
    delta = check_number("delta", delta, 0, 1)
    if size * epsilon > 700:
        raise ValueError(
            f"group_size * epsilon must lie in [0, 700], got {size} * "
            f"{epsilon!r}"
        )
    sure, up, masses = chain_masses(epsilon, delta, size)
    steps = range(2 * up - size, -size - 1, -2)  # up, less those down
    rows = [
        (p, q, step * epsilon)
        for p, q, step in zip(masses[::-1], masses, steps, strict=False)
        if min(p, q) > 0
    ]
    p, q, losses = zip(*rows, strict=True) if rows else ((), (), ())
    lost = rounded_down(sure)
    none = (0.0,) * len(lost)
    return ChainPair((*lost, *p, *none), (*none, *q, *lost[::-1]), losses)


# --- The old rule for a whole curve


@front_door
def group_epsilon_vadhan(
    group_size: int,
    *,
    log_delta: Callable[[float], float],
    delta: float,
    rule: str = "sum",
) -> float:
    r"""Epsilon for a group from the privacy curve of one record.

    Formula: k times an $\varepsilon$, nearly the smallest, with $\log\delta(
    \varepsilon) + \log f(\varepsilon) \le \log\delta$, where f is
    $\frac{e^{k\varepsilon} - 1}{e^\varepsilon - 1}$ ("sum") or
    $k e^{k\varepsilon}$ ("vadhan").

    Parameters: `group_size` (k, a whole number >= 1); `log_delta`, a
    function that gives an upper bound of the logarithm of the delta of one
    record at an epsilon >= 0; `delta` ($\delta$ in (0, 1)) for the group;
    `rule`, "sum" or "vadhan".
    Returns: an upper bound of epsilon for the group; inf if there is no
    such epsilon up to 1e9.
    Raises: ValueError for values outside these ranges.
    Error: the search ends within 1e-12, relatively, above a solution;
    the sum counts as 8 u of its terms larger than computed.
    Source: Vadhan (2017), Lemma 2.2; eq. (grp-vadhan).

    >>> curve = lambda e: -e * e / 2  # a Gaussian tail
    >>> round(group_epsilon_vadhan(1, log_delta=curve, delta=1e-6), 6)
    5.256522
    """
    size = check_count("group_size", group_size, high=1e15)
    goal = math.log(check_number("delta", delta, 0, 1, "()"))
    check_choice("rule", rule, ("sum", "vadhan"))
    check_function("log_delta", log_delta)

    def excess(epsilon: float) -> float:
        factor = math.log(size) + size * epsilon
        if rule == "sum" and epsilon > 0:
            shrink = math.log(-math.expm1(-size * epsilon))
            shrink -= math.log(-math.expm1(-epsilon))
            factor = (size - 1) * epsilon + shrink
        elif rule == "sum":
            factor = math.log(size)
        found = check_number(
            "log_delta(epsilon)", log_delta(epsilon), -np.inf, 0
        )
        if factor == 0 or found == -math.inf:
            return found - goal
        room = abs(found) + math.log(size) + size * epsilon - goal + 1
        return found + (factor - goal) + 8 * UNIT * room

    low, high = 0.0, 0.0
    if excess(0.0) <= 0:
        return 0.0
    for high in np.geomspace(1e-6, 1e9, 301).tolist():
        if excess(high) <= 0:
            break
        low = high
    else:
        return math.inf
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if excess(middle) <= 0 else (middle, high)
    found, exact = size * high, size * Fraction(high)
    return found if found >= exact else math.nextafter(found, math.inf)
