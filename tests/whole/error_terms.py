"""The table of error terms, and small exact runs for them."""

import itertools
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

import mpmath as mp
import numpy as np

import accountlib as al
from tests import truth

MODULES = [
    f"accountlib.{name}"
    for name in (
        *("counting.loss_tables", "counting.tangents", "counting.any_pair"),
        *("counting.composition", "counting.rounding"),
        *("engine.one_sided", "engine.saddle"),
        *("engine.grids", "engine.transforms", "engine.one_round"),
        *("engine.single_runs", "engine.search", "engine.rare_steps"),
    )
]
SIGNS = {"upper": 1, "lower": -1}
Scenario = Callable[[Any], None]  # of the engine as it is, or altered
TERMS: dict[str, tuple[Scenario, list[tuple[str, str]]]] = {}


def term(name: str, *snippets: str | tuple[str, str]):
    """Register a scenario with changes of the source that must break it.

    A snippet has an @ before the term, which is set to zero and negated; or
    it is a pair of a snippet and its replacement.
    """
    changes = []
    for one in snippets:
        if isinstance(one, str):
            old = one.replace("@", "")
            changes += [(old, one.replace("@", x)) for x in ("0 * ", "-")]
        else:
            changes.append(one)

    def register(scenario: Scenario) -> Scenario:
        TERMS[name] = scenario, changes
        return scenario

    return register


def keeps(bound: str, found: Any, exact: Any) -> None:
    """The number is on the side of the truth that it claims."""
    right = found >= exact if bound == "upper" else found <= exact
    assert right, f"{bound} bound {found!r} of {exact!r}"


def seeds(number):
    """Both sides with a random generator each, and again."""
    for seed, side in itertools.product(range(number), SIGNS):
        yield side, np.random.default_rng(seed)


def table(m, bound, mass, **fields):
    """A table of the given tilted masses, taken as exact."""
    plain: dict[str, Any] = {"step": 0.25, "offset": 0.0, "tilt": 1.0}
    plain |= {"log_scale": 0.0, "tail": 0.0, "infinity_mass": 0.0}
    plain |= {"index": np.arange(len(mass)), "mass": np.array(mass)}
    return m.TiltedTable(bound=bound, **plain | fields)


def gaussian(m, mu=1.0, count=1, budget=1e-30):
    return m.Cells.first(al.GaussianPair(mu), count, budget).finer(1.0, budget)


def number(x: F) -> mp.mpf:
    return mp.mpf(x.numerator) / x.denominator


def entries(one):
    return list(zip(one.index.tolist(), one.mass.tolist(), strict=True))


def exact_losses(*parts):
    """P-masses of the losses of a sum of tables, by definition."""
    offset = sum(n * F(t.offset) for t, n in parts)
    scale = sum(n * F(t.log_scale) for t, n in parts)
    step, tilt = F(parts[0][0].step), F(parts[0][0].tilt)
    total = {0: mp.mpf(1)}
    for one in itertools.chain(*([t] * n for t, n in parts)):
        new: dict[int, mp.mpf] = defaultdict(mp.mpf)
        for (i, p), (j, q) in itertools.product(total.items(), entries(one)):
            new[i + j] += p * q
        total = new
    losses = {offset + step * i: p for i, p in total.items()}
    weight = {x: mp.exp(number(scale - tilt * x)) for x in losses}
    return {x: p * weight[x] for x, p in losses.items()}


def exact_delta(losses, epsilon):
    """delta of losses with P-masses, in the precision of the context."""
    gaps = [(number(x - F(epsilon)), p) for x, p in losses.items()]
    return mp.fsum(-p * mp.expm1(-gap) for gap, p in gaps if gap > 0)


def reads(m, total, exact, *points):
    """What is read at some points is on the side of the truth there.

    `exact` are losses with their P-masses, or None for N(1, 1) and N(0, 1).
    """
    for epsilon in map(float, points):
        if exact is None:
            true = truth.gaussian_delta(epsilon, 1.0)[total.sign < 0]
        else:
            true = exact_delta(exact, epsilon)
        keeps(total.bound, m.read_delta(total, epsilon), true)
