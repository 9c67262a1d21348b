# Generated from notebooks/report.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What must be printed?"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from accountlib.accountant import Releases, epsilon
from accountlib.checks import Bound, check, outward
from accountlib.regret import GDPFit, exact_fit, fit
from accountlib.sampling import Adjacency, Release
from accountlib.tradeoff import both_curves

__all__ = ["plain", "PrivacyReport", "PLACES", "report"]

# --- Code: the report


def plain(value: Any) -> Any:
    """A value made of what JSON knows: inf is the text "inf".

    >>> plain({"mu": math.inf, "ends": (0.5, 1)})
    {'mu': 'inf', 'ends': [0.5, 1]}
    """
    if isinstance(value, dict):
        return {name: plain(x) for name, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(x) for x in value]
    infinite = isinstance(value, float) and math.isinf(value)
    return str(value) if infinite else value


@dataclass(frozen=True)
class PrivacyReport:
    """What a run promises, and to whom; `print` shows all of it.

    Fields: `releases`, `adjacency`, `group_size`: what was asked; `record`,
    `notes`: words for what code cannot know; `epsilons`, pairs of delta and
    a Bound of epsilon; `fit`, a GDPFit; `advantage`, a Bound; `tradeoff`,
    pairs of a false-positive rate and a Bound of the smallest false-negative
    rate. `report` makes it.
    Returns: printed upper ends are rounded up, lower ends down.
    Source: Gomez et al. (2025), Section 4.
    """

    releases: tuple[Release, ...]
    adjacency: Adjacency
    group_size: int
    record: str
    notes: str
    epsilons: tuple[tuple[float, Bound], ...]
    fit: GDPFit
    advantage: Bound
    tradeoff: tuple[tuple[float, Bound], ...]

    def facts(self) -> list[tuple[str, str]]:
        """Names and texts, rounded to the safe side."""
        fit = self.fit
        mu = f"{Bound(fit.mu_lower, fit.mu):.6g}"
        if not fit.exact:
            mu += f", where both error rates are >= {fit.cutoff!r}"
        tier = "II: mu is not enough, use the table"
        if fit.is_good:
            tier = "I: mu describes the whole curve"
        rows = [(f"epsilon at delta {d!r}", x) for d, x in self.epsilons]
        rows += [(f"misses at {p!r}", y) for p, y in self.tradeoff]
        return [
            ("Neighbours", f"{self.adjacency}, {self.group_size} record(s)"),
            ("One record", self.record),
            ("Releases", "; ".join(map(repr, self.releases))),
            ("Observer", "sees every release, knows all other records"),
            ("mu", mu),
            ("Regret", f"at most {outward(fit.regret, '.4g', True)}"),
            ("Verdict", f"Tier {tier}"),
            ("Advantage", f"{self.advantage:.4g}"),
            *((name, f"{bound:.6g}") for name, bound in rows),
            ("Notes", self.notes),
        ]

    def __str__(self) -> str:
        lines = [f"{name + ':':<28} {text}" for name, text in self.facts()]
        return "\n".join(["Privacy report", "", *lines])

    def to_markdown(self) -> str:
        """The report as a table."""
        lines = ["| Privacy report | |", "|---|---|"]
        for name, text in self.facts():
            lines.append(f"| {name} | {' '.join(text.split())} |")
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, ready for JSON: inf is "inf"."""
        found = asdict(self) | {"releases": [repr(x) for x in self.releases]}
        found["gdp"] = found.pop("fit") | {"tier": 2 - self.fit.is_good}
        found["epsilon"] = [
            {"delta": d} | bound for d, bound in found.pop("epsilons")
        ]
        found["tradeoff"] = [
            {"false_positive": p} | bound for p, bound in found["tradeoff"]
        ]
        return {name: plain(value) for name, value in found.items()}


PLACES = (1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1)


def report(
    releases: Releases,
    *,
    adjacency: str,
    group_size: int = 1,
    cutoff: float = 1e-10,
    deltas: Sequence[float] = (1e-5, 1e-6, 1e-8, 1e-10),
    record: str = "not stated",
    notes: str = "none",
) -> PrivacyReport:
    """A statement about a run that a stranger can check.

    Formula: `epsilon` at some deltas, `gdp`, and the trade-off curve at
    1e-10, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1 (those not below the cut-off)
    and where both rates are equal.
    Parameters: `releases`, `adjacency`, `group_size` as for `epsilon`;
    `cutoff` (1e-200 to 0.1) as for `gdp`; `deltas`, at which epsilon is said
    (0, or 1e-200 to 1); `record`, what one record is; `notes`, what else a
    reader must know.
    Returns: a PrivacyReport, whose intervals contain the truth, and whose
    printed numbers are rounded to the safe side.
    Raises: ValueError for other values; NotImplementedError where no theorem
    covers the run.
    Source: Gomez et al. (2025), Section 4; page-report.

    >>> from accountlib.mechanisms import Gaussian
    >>> from accountlib.sampling import Release
    >>> one = report(Release(Gaussian(2.0)), adjacency="remove")
    >>> one.fit.mu_lower <= 0.5 <= one.fit.mu
    True
    >>> print(str(one).splitlines()[2])
    Neighbours:                  remove, 1 record(s)
    """
    ask: dict[str, Any] = {"adjacency": adjacency, "group_size": group_size}
    found = epsilon(releases, delta=deltas, **ask)
    cutoff = check("cutoff", cutoff, 1e-200, 0.1)
    lower, upper = both_curves(releases, cutoff=cutoff, **ask)
    places = [x for x in PLACES if x >= cutoff]
    places.append((1 - lower.advantage) / 2)
    rates = [Bound(*sorted([lower(x), upper(x)])) for x in places]
    exact = exact_fit(releases, adjacency, group_size, cutoff)
    runs = (releases,) if isinstance(releases, Release) else tuple(releases)
    return PrivacyReport(
        runs,
        Adjacency(adjacency),
        group_size,
        record,
        notes,
        tuple(zip(deltas, map(Bound, *found), strict=True)),
        exact or fit(lower, upper, cutoff),
        Bound(*sorted([upper.advantage, lower.advantage])),
        tuple(zip(places, rates, strict=True)),
    )
