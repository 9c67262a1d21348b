# Generated from notebooks/beyond/budgets.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""May a budget adapt to the answers?

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $y_{<t}$ | – | transcript: all answers before step $t$ |
| $P_t$, $Q_t$ | – | distributions of answer $t$ given $y_{<t}$, on two neighbours |
| $\rho_t$ | – | what step $t$ costs: a Rényi divergence at one order, or a zCDP slope |
| $\mu_t$ | – | what step $t$ costs in Gaussian DP |
| $B$ | – | what a path may cost in all, $\ge 0$ |
| $S_t$ | – | what was spent on a path before or at step $t$ |
| $V_t$ | – | the worst that can still come after step $t$ |
| $c_a$ | `log_weight` | what the conversion at order $a$ saves, at most 1 |
| $a$ | `order` | order of a Rényi divergence, $> 1$; in the case by hand $a$ and $b$ are releases |
"""

import importlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from accountlib.accountant import Releases, epsilon
from accountlib.checks import check_fields
from accountlib.conversion import WHOLE_ORDERS, epsilon_from_rdp, log_weight
from accountlib.dominating_pairs import DominatingPair
from accountlib.mechanisms import Mechanism
from accountlib.noise import Noise
from accountlib.sampling import Adjacency, Release, Sampling
from accountlib.what_renyi_loses import rdp_curve

__all__ = ["FIXED", "BudgetPassed", "rebuilt", "listed", "Budget"]

# --- In the code: a budget that refuses

FIXED = "adaptive=False counts it, in a list that no output changes"


class BudgetPassed(ValueError):
    """A release would cost more than what is left; it must not run."""


def rebuilt(value: Any) -> Any:
    """What JSON stands for: a list that begins with a name is a record.

    >>> rebuilt(["Release", ["Gaussian", 2.0], ["Poisson", 0.5], 3]).count
    3
    """
    if not isinstance(value, list):
        return value
    first, *rest = map(rebuilt, value) if value else [None]
    if not isinstance(first, str):
        return tuple(map(rebuilt, value))

    def heirs(kind: type[Any]) -> Iterator[type[Any]]:
        for child in kind.__subclasses__():
            yield from (*heirs(child), child)

    getattr(importlib.import_module("accountlib"), first, None)  # loads it
    known: dict[str, type[Any]] = {"Release": Release}
    for kind in (Mechanism, Sampling, DominatingPair, Noise):
        known |= {x.__name__: x for x in heirs(kind)}
    if first not in known:
        raise ValueError(f"{first!r} must be a class that was imported")
    return known[first](*rest)


def listed(releases: Releases) -> list[Release]:
    """One release, or several, as a list."""
    return list(releases) if isinstance(releases, Sequence) else [releases]


@dataclass(frozen=True)
class Budget:
    r"""One budget for releases of all kinds, refused before they run.

    Formula: adaptive, $\varepsilon$ of $\sum_t D_a(P_t \Vert Q_t)$ at one
    order a; else `epsilon` of the whole list.

    Parameters: `epsilon` (0 to 1000), `delta` ($\delta$, 0 or in [1e-200,
    1]), `adjacency`; `adaptive`: whether noise, rates, counts, kinds of
    releases or the end may depend on earlier outputs. False: the list would
    be the same whatever they were. `spent`, a list of releases.
    Spend first, run then: `spend` records a release, or a list of them.
    Returns: all that runs after `spend` is (epsilon, delta)-DP, certified if
    `adaptive` says the truth and nothing but outputs chose releases.
    Raises: BudgetPassed (a ValueError) where a release does not fit,
    NotImplementedError for what has no Renyi curve, if adaptive; ValueError
    for other values.
    Error: rounded up; so 0.1 does not fit ten times into 1 at delta 0.
    Source: Feldman and Zrnic (2021), Theorem 3.1; thm-bud-renyi.

    >>> from accountlib.mechanisms import Laplace
    >>> budget = Budget(1.0, 1e-6, "add-or-remove")
    >>> budget.spend(Release(Laplace(10.0), count=3))
    >>> budget.can(Release(Laplace(10.0), count=2)), budget.order
    (True, 22.0)
    >>> budget.can(Release(Laplace(1.0)))
    False
    """

    epsilon: float
    delta: float
    adjacency: str
    adaptive: bool = True
    spent: Sequence[Release] = field(default=(), hash=False)

    def __post_init__(self) -> None:
        check_fields(self, epsilon=(0, 1000), delta=(0, 1))
        if not isinstance(self.adaptive, bool):
            raise ValueError(f"adaptive must be a bool, got {self.adaptive!r}")
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        given = listed(self.spent)
        object.__setattr__(self, "spent", ())
        if given:
            self.spend(given)

    @property
    def order(self) -> float:
        """The order of the costs, a function of epsilon and delta alone."""
        orders = np.array(WHOLE_ORDERS)
        rare = -math.log(self.delta) if self.delta > 0 else math.inf
        paid = (rare + log_weight(orders, "improved")) / (orders - 1)
        room = (self.epsilon - paid) / orders
        return float(orders[room.argmax()]) if room.max() > 0 else math.inf

    def cost(self, releases: Releases = ()) -> float:
        """Where this path stands; if adaptive no promise: claim `epsilon`."""
        run, word = [*self.spent, *listed(releases)], self.adjacency
        if not run:
            return 0.0
        if not self.adaptive:
            return float(epsilon(run, delta=self.delta, adjacency=word).upper)
        at = self.order
        try:
            total = float(rdp_curve(run, adjacency=word)(at))
        except NotImplementedError as error:
            raise NotImplementedError(f"{error}; {FIXED}") from None
        if total == math.inf and at < math.inf:
            raise NotImplementedError(
                f"no finite Renyi divergence at order {at:g} is known of "
                f"{releases!r}; {FIXED}"
            )
        if at == math.inf:
            return total
        return epsilon_from_rdp([total], delta=self.delta, orders=[at])

    def can(self, releases: Releases) -> bool:
        """Whether a release, or a list, fits into what is left."""
        return self.cost(releases) <= self.epsilon

    def spend(self, releases: Releases) -> None:
        """Record what is to run next, or raise BudgetPassed."""
        if (cost := self.cost(releases)) > self.epsilon:
            raise BudgetPassed(
                f"releases must fit into epsilon={self.epsilon!r}, and with "
                f"what is spent they cost {cost!r}, got {releases!r}"
            )
        run = (*self.spent, *listed(releases))
        object.__setattr__(self, "spent", run)

    def to_json(self) -> str:
        """The budget and all that is spent, digit by digit."""

        def record(x: Any) -> list[Any]:
            return [type(x).__name__, *(getattr(x, f.name) for f in fields(x))]

        return json.dumps(vars(self), default=record)

    @classmethod
    def from_json(cls, text: str) -> "Budget":
        """The same again; refused if it has spent more than it has."""
        values = json.loads(text)
        names = [x.name for x in fields(cls)]
        if not isinstance(values, dict) or list(values) != names:
            raise ValueError(f"text must be what to_json wrote, got {text!r}")
        return cls(**{name: rebuilt(x) for name, x in values.items()})
