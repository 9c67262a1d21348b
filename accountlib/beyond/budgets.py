# Generated from notebooks/beyond/budgets.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""May a budget adapt to the answers?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $y_{<t}$ | – | transcript: all answers before step $t$ |
| $P_t$, $Q_t$ | – | distributions of answer $t$ given $y_{<t}$, with and without the record |
| $\rho_t$ | `cost` | what step $t$ costs: a Rényi divergence at one order, or a zCDP slope |
| $\mu_t$ | `cost` | what step $t$ costs in Gaussian DP |
| $B$ | `budget` | what a path may cost in all, $\ge 0$ |
| $S_t$ | `spent` | what was spent on a path before or at step $t$ |
| $V_t$ | – | the worst that can still come after step $t$ |
| $a$ | `order` | order of a Rényi divergence, $> 1$; in the case by hand $a$ and $b$ are releases |
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from accountlib.accountant import epsilon
from accountlib.checks import Floats, check, check_fields
from accountlib.conversion import epsilon_from_rdp
from accountlib.mechanisms import Gaussian
from accountlib.sampling import Release

__all__ = [
    "exact_amount",
    "float_above",
    "BudgetPassed",
    "PrivacyFilter",
    "RenyiFilter",
    "ZCDPFilter",
    "GDPFilter",
    "IndividualFilters",
]

# --- In the code: a record that refuses


def exact_amount(name: str, value: float | Fraction) -> Fraction:
    """A finite amount >= 0 as a fraction, without rounding.

    Raises: ValueError naming argument, value and range.

    >>> exact_amount("cost", 0.5)
    Fraction(1, 2)
    """
    if not isinstance(value, Fraction):
        value = Fraction(check(name, value, 0, 1e300))
    if value < 0:
        raise ValueError(f"{name} must lie in [0, inf), got {value}")
    return value


def float_above(value: Fraction) -> float:
    """The smallest float that is not below a fraction; it may be inf.

    >>> float_above(Fraction(1, 3)) > Fraction(1, 3)
    True
    """
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if nearest >= value else math.nextafter(nearest, math.inf)


class BudgetPassed(ValueError):
    """A step would cost more than what is left; it must not run."""


@dataclass(frozen=True)
class PrivacyFilter(ABC):
    r"""A budget, and what is spent of it in exact fractions.

    Formula: a step runs if $S + \rho_t \le B$.

    A subclass says what the budget is, what a cost adds, and which epsilon
    the budget promises. Ask `after` before a step runs, and run it with the
    filter that `after` returns; the steps may be chosen by earlier answers.
    Raises: BudgetPassed (a ValueError) where a step does not fit,
    ValueError for costs that are no numbers in [0, inf].
    Error: none; sums and comparisons are exact.
    """

    spent: Fraction = field(default=Fraction(0), kw_only=True)

    def __post_init__(self) -> None:
        spent = exact_amount("spent", self.spent)  # a float becomes one
        object.__setattr__(self, "spent", spent)
        if self.left < 0:
            raise ValueError(f"spent must be in the budget, got {self.spent}")

    @property
    @abstractmethod
    def limit(self) -> Fraction:
        """What a path may cost in all."""

    def price(self, cost: float | Fraction) -> Fraction:
        """What a cost adds to the sum."""
        return exact_amount("cost", cost)

    @property
    def left(self) -> Fraction:
        """What may still be spent."""
        return self.limit - self.spent

    def allows(self, cost: float | Fraction) -> bool:
        """Whether a step with this cost fits."""
        return self.price(cost) <= self.left

    def after(self, cost: float | Fraction) -> Self:
        """The filter with one more step, or BudgetPassed."""
        if not self.allows(cost):
            raise BudgetPassed(
                "cost must fit into what is left, "
                f"{float_above(self.left):.6g} of "
                f"{float_above(self.limit):.6g}, got {cost}"
            )
        return replace(self, spent=self.spent + self.price(cost))

    @abstractmethod
    def epsilon(self, *, delta: float) -> float:
        """Upper end of epsilon of every path, known before the first step."""


@dataclass(frozen=True)
class RenyiFilter(PrivacyFilter):
    r"""A budget of Renyi divergence at one order, fixed beforehand.

    Formula: $\sum_t \rho_t \le B$ on every path gives $D_a \le B$.

    Parameters: `budget` ($B \ge 0$, nats), a float or a Fraction; `order`
    (a in [1.0001, 1e4]); `spent`, a Fraction. A cost is an upper bound of the
    divergence of a step at this order, for the adjacency that is meant.
    Returns: `epsilon` is an upper end for the adjacency of the costs.
    Source: Feldman and Zrnic (2021), Theorem 3.1; thm-bud-renyi.

    >>> used = RenyiFilter(1.0, order=8).after(0.75)
    >>> used.allows(0.25), used.allows(0.2500001)
    (True, False)
    """

    budget: float | Fraction
    order: float = field(kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self, order=(1.0001, 1e4))
        super().__post_init__()

    @property
    def limit(self) -> Fraction:
        return exact_amount("budget", self.budget)

    def epsilon(self, *, delta: float) -> float:
        most = float_above(self.limit)
        return epsilon_from_rdp([most], delta=delta, orders=[self.order])


@dataclass(frozen=True)
class ZCDPFilter(PrivacyFilter):
    r"""A budget of zCDP, which holds at all orders at once.

    Formula: $\sum_t \rho_t \le \rho$ on every path.

    Parameters: `budget` ($\rho \ge 0$), a float or a Fraction; `spent`, a
    Fraction. A cost is the zCDP parameter of a step.
    Returns: `epsilon` is an upper end for the adjacency of the costs, at
    the best order.
    Source: cor-bud-zcdp; Whitehouse et al. (2023) for pure DP.

    >>> round(ZCDPFilter(0.5).epsilon(delta=1e-6), 3)
    5.222
    """

    budget: float | Fraction

    @property
    def limit(self) -> Fraction:
        return exact_amount("budget", self.budget)

    def epsilon(self, *, delta: float) -> float:
        rho = float_above(self.limit)
        return epsilon_from_rdp(lambda a: rho * a, delta=delta)


@dataclass(frozen=True)
class GDPFilter(PrivacyFilter):
    r"""A budget of Gaussian differential privacy.

    Formula: $\sum_t \mu_t^2 \le \mu^2$ on every path.

    Parameters: `mu` ($\mu$ in [0, 1e6]), a float or a Fraction; `spent`,
    the sum of squares, a Fraction. A cost is $\mu_t$ of a step: 1/sigma
    for Gaussian noise, or an upper bound for other steps.
    Returns: `epsilon` is an upper end for the adjacency of the costs.
    Source: Koskela, Tobaben and Honkela (2023), Smith and Thakurta (2022);
    thm-bud-gdp.

    >>> used = GDPFilter(5.0).after(3.0)
    >>> used.allows(4.0), used.allows(4.0001)
    (True, False)
    """

    mu: float | Fraction

    def __post_init__(self) -> None:
        if exact_amount("mu", self.mu) > 10**6:
            raise ValueError(f"mu must lie in [0, 1e6], got {self.mu}")
        super().__post_init__()

    @property
    def limit(self) -> Fraction:
        return exact_amount("mu", self.mu) ** 2

    def price(self, cost: float | Fraction) -> Fraction:
        return exact_amount("cost", cost) ** 2

    def epsilon(self, *, delta: float) -> float:
        delta = check("delta", delta, 0, 1)
        mu = float_above(exact_amount("mu", self.mu))
        if mu == 0:
            return 0.0
        noise = Gaussian(min(math.nextafter(1 / mu, 0.0), 1e299))
        found = epsilon(Release(noise), delta=delta, adjacency="remove")
        return float(found.upper)


# --- A budget for each person


@dataclass(frozen=True)
class IndividualFilters:
    r"""One budget for every record; who has spent it, takes no more part.

    Formula: record i takes part if $S^i + \rho_t^i \le B$.

    Parameters: `budget` (B in [0, 1e300]); `spent` (each in [0, B]), an
    array with one entry for each record. Costs are arrays alike: each
    depends on the record itself and the transcript alone. What is in here
    is secret: publish neither entries nor how many records take part.
    Returns: `allows` gives the records that take part in a step, `after`
    the filters after it. Only for add-or-remove, add and remove.
    Raises: ValueError for negative or infinite numbers and other shapes.
    Error: sums are rounded up, never down.
    Source: Feldman and Zrnic (2021); thm-bud-individual.

    >>> people = IndividualFilters(1.0, spent=[0.0, 0.75])
    >>> people.allows([0.5, 0.5])
    array([ True, False])
    """

    budget: float
    spent: Floats = field(kw_only=True)

    def __post_init__(self) -> None:
        check_fields(self, budget=(0, 1e300))
        spent = np.array(check("spent", self.spent, 0, self.budget))
        spent.flags.writeable = False
        object.__setattr__(self, "spent", spent)

    def _totals(self, costs: ArrayLike) -> Floats:
        costs = np.asarray(check("costs", costs, 0, 1e300))
        if costs.shape != self.spent.shape:
            raise ValueError(
                f"costs must have the shape {self.spent.shape}, got "
                f"{costs.shape}"
            )
        with np.errstate(over="ignore"):
            more = np.nextafter(self.spent + costs, np.inf)
        return np.where(costs > 0, more, self.spent)

    def allows(self, costs: ArrayLike) -> NDArray[np.bool_]:
        """Which records take part in a step with these costs."""
        return np.asarray(self._totals(costs) <= self.budget)

    def after(self, costs: ArrayLike) -> "IndividualFilters":
        """The filters after a step in which those who may take part did."""
        spent = np.where(self.allows(costs), self._totals(costs), self.spent)
        return IndividualFilters(self.budget, spent=spent)
