"""The runs that every accountant is asked about."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Step:
    """`count` Poisson-sampled releases; `rate` 1 means no sampling."""

    noise: float
    rate: float
    count: int
    kind: str = "gaussian"


@dataclass(frozen=True)
class Case:
    """One question: epsilon at `delta`, or delta at `epsilon`.

    `scope`: "full" runs every setting, "fine" adds one finer grid, and
    "few" runs a rival's default only. `answer` is the true answer, once
    known; two accountants need it to aim at a width.
    """

    name: str
    steps: tuple[Step, ...]
    delta: float | None = None
    epsilon: float | None = None
    scope: str = "full"
    answer: float = math.nan

    def nudged(self, turn: int) -> Case:
        """Almost the same case, so that no cache answers a warm call."""
        steps = [
            replace(step, noise=step.noise * (1 + 1e-9 * turn))
            for step in self.steps
        ]
        return replace(self, steps=tuple(steps))


def _mixed() -> tuple[Step, ...]:
    share = [i / 99 for i in range(100)]
    return tuple(
        Step(0.8 + 3.2 * x, 0.001 + 0.049 * x, count=100) for x in share
    )


def _all_cases() -> list[Case]:
    c3 = (Step(1.0, 0.01, 2000),)
    cases = [
        Case("C3", c3, delta=1e-6),
        Case("C4", (Step(9.4, 16384 / 50000, 2000),), delta=1e-5),
        Case("C5", (Step(0.6, 256 / 60000, 10**5),), delta=1e-5),
        Case("C6", (Step(1.0, 1e-4, 10**6),), delta=1e-8, scope="fine"),
        Case("C7", (Step(0.7, 1e-5, 10**7),), delta=1e-9, scope="fine"),
        Case("C8", (Step(1.0, 0.01, 1000, "laplace"),), delta=1e-6),
        Case("C10", _mixed(), delta=1e-6),
    ]
    for epsilon in (5, 10, 15, 20, 30):
        name = f"C11 epsilon={epsilon}"
        cases.append(Case(name, c3, epsilon=epsilon, scope="few"))
    for power in (15, 30, 50, 100, 200):
        name = f"C15 delta=1e-{power}"
        delta = float(f"1e-{power}")
        cases.append(Case(name, c3, delta=delta, scope="few"))
    one = (Step(1.0, 1.0, 1),)
    cases.append(Case("Gaussian delta=1e-200", one, delta=1e-200, scope="few"))
    for power in (5, 9):
        count = 10**power
        noise, rate = math.sqrt(count), 0.01 * math.sqrt(2000 / count)
        cases += [
            Case(f"full batch T=1e{power}", (Step(noise, 1.0, count),), 1e-6),
            Case(f"sampled T=1e{power}", (Step(1.0, rate, count),), 1e-6),
        ]
    return cases


CASES = {case.name: case for case in _all_cases()}
