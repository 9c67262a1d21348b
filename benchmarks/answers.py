"""The true answers of cases: `truth` of the tests, or our own brackets."""

from __future__ import annotations

import math

from benchmarks.accountants import Accountlib
from benchmarks.cases import SLACK, Case
from tests import truth


def true_answer(case: Case) -> tuple[float, float, str]:
    """Interval that holds the true answer, and how it was found."""
    if all(step.kind == "gaussian" for step in case.steps):
        try:
            return independent_answer(case)
        except ArithmeticError:  # too few releases for a contour
            pass
    return *own_bracket(case), "accountlib, tightest bracket"


def independent_answer(case: Case) -> tuple[float, float, str]:
    """Gaussians only: nothing of this library is used."""
    releases = [(s.noise, s.rate, s.count) for s in case.steps]
    if case.delta is not None and all(s.rate == 1 for s in case.steps):
        weight = math.fsum(s.count / s.noise**2 for s in case.steps)
        mu = truth.gaussian_mu(1.0) * math.sqrt(weight)
        low, high = map(float, truth.gaussian_epsilon(case.delta, mu))
        return low * (1 - 1e-14), high * (1 + 1e-14), "closed form"
    found = []
    for direction in ("remove", "add"):
        try:
            if case.delta is not None:
                ends = truth.contour_epsilon_range(
                    case.delta, releases, direction=direction
                )
            else:
                ends = truth.contour_delta_range(
                    case.epsilon, releases, direction=direction
                )
            low, high = ends
            found.append((low - SLACK * low, high + SLACK * high))
        except ArithmeticError:
            if case.delta is not None or direction == "remove":
                raise
            # add: below the smallest double here, far below remove
    low, high = (max(ends) for ends in zip(*found, strict=True))
    return low, high, "contour integral"


def own_bracket(case: Case) -> tuple[float, float]:
    """The narrowest of this library's brackets: no independent truth."""
    best = (0.0, math.inf)
    for width in (1e-4, 1e-5, 1e-6):
        bound = Accountlib().bound(case, width)
        best = max(best[0], bound.lower), min(best[1], bound.upper)
    return best
