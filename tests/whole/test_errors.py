"""Each error term of the engine is needed: without it a bound fails.

The table "The errors, all of them" lists what the accountant allows for. To
each of its lines belongs a scenario, in which this very term keeps a result
on its side of the exact truth. The scenario holds for the package as it is,
and fails once the term is set to zero or has its sign flipped in the source.
"""

import functools
import inspect
import itertools
import math
import re
import sys
from dataclasses import dataclass
from fractions import Fraction as F
from types import ModuleType, SimpleNamespace
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import accountlib as al
from tests import truth
from tests.whole.error_terms import (
    MODULES,
    SIGNS,
    TERMS,
    entries,
    exact_delta,
    exact_losses,
    gaussian,
    keeps,
    number,
    reads,
    seeds,
    table,
    term,
)

# One scenario for each line of the table.


@term(
    "discretization",
    (
        "share = excess / -np.expm1(-step) * (1 + 8 * UNIT)",
        "share = mass / 2",
    ),
    (
        "np.where(other > TINY, np.clip(share, 0, mass), mass)",
        "mass - np.clip(share, 0, mass)",
    ),
    "(excess - @depth[:-1]) + @depth[1:]",
)
def discretization(m):
    """Dots touch the curve at the grid points, tangents between them: any
    other share of a cell's mass crosses the curve there."""
    for one in m.bound_tables(gaussian(m), 0.1, 1.0, -60.0):
        reads(m, one, None, *0.05 * np.arange(61))


@dataclass(frozen=True)
class Saboteur(al.GaussianPair):
    """A pair whose masses err as much as `mass_error` permits."""

    sign: int = 1

    def mass_error(self, mass):
        return 4 * super().mass_error(mass)

    def interval_masses(self, edges, widths, closed):
        p, q = super().interval_masses(edges, widths, closed)
        wrong_p, wrong_q = self.mass_error(p), self.mass_error(q)
        return p * (1 - self.sign * wrong_p), q * (1 + self.sign * wrong_q)


@term(
    "interval masses",
    "return value, @error.at(np.exp(losses))",
    "excess += value + @wrong",
    "left + rest - @slack",
    "slack_left + @more",
    "1 + @sign * pair.mass_error(masses)",
)
def interval_masses(m):
    """A saboteur errs as much as permitted, which shows where delta is a
    small difference of P and Q, and where Q is negligible."""
    for (side, sign), mu in itertools.product(SIGNS.items(), (0.25, 20.0)):
        part = m.Cells.first(Saboteur(mu, sign=sign), 1, 1e-200)
        part, step = part.finer(0.01, 1e-200), 0.1 if mu < 1 else 10.0
        (one,) = m.bound_tables(part, step, 1e-4, -250.0, (side,))
        losses = exact_losses((one, 1))
        for epsilon in (0.0, 0.05, 1.0):
            exact = truth.gaussian_delta(epsilon, mu)[sign < 0]
            found = one.infinity_mass + exact_delta(losses, epsilon)
            keeps(side, found, exact)


@term(
    "cut tails",
    "float(@below[i] + above[j])",
    "float(below[i] + @above[j])",
    "tail=@tail if sign > 0",
    "math.fsum(@n * table.tail",
    ("math.fsum(n * table.tail", "math.fsum(table.tail"),
    "math.exp(@2 * self.tail)",
)
def cut_tails(m):
    """Tails of a noticeable mass are cut: from one loss, and from four."""
    for log_tail in np.arange(-8, 0) / 2:
        low, high, tail = m.cut_tails(gaussian(m), 1.0, log_tail)
        # The tilted loss is normal, with mean 3/2 and deviation 1.
        outside = mp.ncdf(low - 1.5) + mp.ncdf(1.5 - high)
        keeps("upper", tail, outside - mp.mpf(10) ** -20)
    for count, mu in ((1, 1.0), (4, 0.5)):
        part = gaussian(m, mu, count)
        (one,) = m.bound_tables(part, 0.05, 1.0, -3.0, ("upper",))
        total = m.add_tables([(one, count)], -60.0, (9.0, 9.0))
        reads(m, total, None, *np.arange(60) / 16)
    # The tail is most of delta; the mass that is left has a smaller K.
    pair = al.DiscretePair((0.1, 0.9), (0.05, 0.95))
    part = m.Cells.first(pair, 1, 1e-30)
    (one,) = m.bound_tables(part, 0.1, 1.0, math.log(0.2), ("upper",))
    keeps("upper", m.read_delta(one, 0.0), F(0.1) - F(0.05))


@term("highest losses", "@part.beyond + right", "beyond += @1e-305")
def highest_losses(m):
    """What lies above the last edge is infinite to an upper table, even
    where its probability underflows."""
    part = gaussian(m, budget=1e-2)
    (one,) = m.bound_tables(part, 0.05, 1.0, -60.0, ("upper",))
    reads(m, one, None, *np.arange(60) / 8)
    pair = al.SampledPair(al.GaussianPair(1.0), 0.5)
    part = m.Cells.first(pair, 1, 1e-320).finer(1.0, 1e-320)
    (one,) = m.bound_tables(part, 0.1, 1.0, -800.0, ("upper",))
    assert m.read_delta(one, 50.0) > 0


@term("tilted masses", "1 + @sign * 6 * UNIT * size")
def tilted_masses(m):
    """Every mass that `tilt_masses` gives is rounded to its side."""
    for side, rng in seeds(40):
        losses, mass = rng.normal(0, 5, 30), rng.dirichlet(np.ones(30))
        tilt = float(rng.uniform(0, 20))
        tilted, log_scale = m.tilt_masses(losses, mass, tilt, SIGNS[side])
        for loss, p, one in zip(losses, mass, tilted, strict=True):
            exponent = F(log_scale) - F(tilt) * F(float(loss))
            stands_for = mp.exp(number(exponent)) * float(one)
            keeps(side, stands_for, mp.mpf(float(p)))


class Misplaced(al.DiscretePair):
    """A pair whose atoms are as far from their places as is permitted."""

    atom_error = 1e-6
    shift: float

    def __init__(self, sign):
        super().__init__((0.75, 0.25), (0.25, 0.75))
        object.__setattr__(self, "shift", -0.999e-6 * sign)

    @property
    def atoms(self):
        return tuple(x + self.shift for x in super().atoms)

    @property
    def loss_range(self):
        return self.atoms[0], self.atoms[-1]

    def interval_masses(self, edges, widths, closed):
        return super().interval_masses(edges - self.shift, widths, closed)


@term(
    "rounded losses",
    "rounded = @8 * UNIT",
    "rounded += @pair.atom_error",
    "offset=offset + @sign * outward",
    "@tilt * outward",
)
def rounded_losses(m):
    """The stored losses are beyond the edges that their masses belong to,
    and beyond atoms that were rounded onto a grid point."""
    seen = []

    class Spy(al.GaussianPair):
        def interval_masses(self, edges, widths, closed):
            seen.append(edges)
            return super().interval_masses(edges, widths, closed)

    part = m.Cells.first(Spy(1.0), 1, 1e-30)
    for one in m.bound_tables(part, 0.1, 1.0, -20.0):
        for index, edge in zip(one.index, seen[-1][::2], strict=True):
            loss = F(one.offset) + F(one.step) * int(index)
            keeps(one.bound, loss, F(float(edge)))
    # A shifted loss lowers its mass, unless the scale makes up for it.
    edges = np.linspace(-5, 12, 400)
    part = m.Cells.of(al.GaussianPair(1.0), 1, edges, 1e-40)
    (one,) = m.bound_tables(part, 0.1, 50.0, -5000.0, ("upper",))
    losses = exact_losses((one, 1))
    for epsilon in one.step * np.arange(12):
        exact = truth.gaussian_delta(float(epsilon), 1.0)[0]
        keeps("upper", exact_delta(losses, float(epsilon)), exact)
    for sign in SIGNS.values():
        part = m.Cells.first(Misplaced(sign), 1, 1e-30)
        step = m.aligned_step(0.6, [part.pair])
        for one in m.bound_tables(part, step, 1.0, -60.0):
            losses = exact_losses((one, 1))
            for epsilon in (0.0, 1.0, 1.09861):
                exact = number(F(3, 4)) - mp.exp(epsilon) / 4
                keeps(one.bound, exact_delta(losses, epsilon), exact)
    for k in range(40):
        # The sampled loss is a sum of two logarithms of about 460.
        rate, q = (30 + 10 * k) * 1e-200, (2 + 0.7 * k) * 1e-200
        base = al.DiscretePair((0.75, 0.25), (1 - q, q))
        pair = al.SampledPair(base, rate)
        p = (1 - mp.mpf(rate)) * q + mp.mpf(rate) / 4
        atom = mp.log(p) - mp.log(mp.mpf(q))
        part = m.Cells.first(pair, 1, 1e-300)
        step = m.aligned_step(0.6, [pair])
        for one in m.bound_tables(part, step, 200.0, -60.0):
            losses = exact_losses((one, 1))
            for epsilon in (0.0, float(atom) - one.sign * 1e-16):
                exact = -mp.mpf(p) * mp.expm1(min(epsilon - atom, 0))
                keeps(one.bound, exact_delta(losses, epsilon), exact)


@term("sums of K", "raised = @4 * UNIT")
def sums_of_scales(m):
    """Large logarithms K that nearly cancel are rounded one by one."""
    for side, rng in seeds(20):
        scale, rest = rng.uniform(1e5, 2e5, 2).tolist()
        parts = [
            (table(m, side, [0.5, 0.5], log_scale=x), 3)
            for x in (scale, -scale - rest / 1e5)
        ]
        total = m.add_tables(parts, -60.0, (9.0, 9.0))
        reads(m, total, exact_losses(*parts), 0.5)


@term(
    "sums of offsets",
    "moved = @4 * UNIT * math",
    "offset + @sign * moved",
    "@tilt * moved",
)
def sums_of_offsets(m):
    """Large offsets that nearly cancel are rounded one by one.

    The loss moves outward just below the top; a little further down, the
    scale has to follow, lest the mass moves inward.
    """
    for side, rng in seeds(20):
        offset, rest = rng.uniform(1e5, 2e5, 2).tolist()
        parts = [
            (table(m, side, [0.5, 0.5], offset=x, step=2.0, tilt=5.0), 3)
            for x in (offset, rest / 1e5 - offset)
        ]
        total = m.add_tables(parts, -60.0, (9.0, 9.0))
        losses = exact_losses(*parts)
        top = float(max(losses))
        reads(m, total, losses, top - 1e-6, top - 0.34)


@term(
    "window", "@2.02 * math.exp(log_tail)", "@math.exp(log_peak(total.tilt))"
)
def window(m):
    """What lies outside of a short window wraps around."""
    for side, thetas in itertools.product(SIGNS, ((0.1, 4.0), (4.0, 0.1))):
        coin = table(m, side, [0.5, 0.5], tilt=1e-3), 100
        total = m.add_tables([coin], -2.0, thetas)
        reads(m, total, exact_losses(coin), *range(26))


@term(
    "high frequencies",
    "wrong += @self.rest",
    "@(rest + math.exp(-needed - 20))",
    ("1.01 * growth *", "1.01 *"),
)
def high_frequencies(m):
    """Where the window is whole, the frequencies left out are the largest
    error, also of a table whose mass is not 1."""
    mass = np.array([1, 2, 3, 4, 3, 2, 1]) / 16
    for side, size in itertools.product(SIGNS, (1, 2)):
        one = table(m, side, size * mass, tilt=0.01, log_scale=1 - size), 30
        total = m.add_tables([one], -3.0, (0.01, 0.01))
        assert len(total.frequency) < total.size / 2 and total.tail == 0
        reads(m, total, exact_losses(one), *range(0, 46, 3))


def entry(one, k, center, size):
    """Exact transform of a table at one frequency."""
    angle = 2 * mp.mpf(k) / size
    return mp.fsum(
        p * mp.expjpi(angle * (i - center)) for i, p in entries(one)
    )


@term(
    "transform",
    "wrong = @4 * UNIT",
    "wrong = @UNIT * (8",
    "@wrong / size +",
    "wrong / size + @UNIT * error",
    "@np.expm1(lost) + rounded",
    "np.expm1(lost) + @rounded",
    "wrong=@np.abs(value)",
)
def transform(m):
    """Both transforms, their logarithm and its multiple are as precise as
    they say, each beginning with exact numbers."""
    mass = np.random.default_rng(1).dirichlet(np.ones(40))
    one = table(m, "upper", mass)
    slow = m.slow_transform(one, 5, 500, 250)
    fast = m.fast_transform(one, 5, 500)
    for k, (z, wrong) in itertools.product(range(0, 251, 3), (slow, fast)):
        exact = entry(one, k, 5, 500) - mp.fsum(mass)
        assert abs(complex(z[k]) - exact) <= wrong[k]
    less = table(m, "upper", 0.6 * mass)
    z, _ = m.slow_transform(less, 5, 500, 20)
    logs, wrong = m.log_transform(less, z, np.zeros(21))
    for k in range(21):
        exact = mp.log(mp.fsum(less.mass) + complex(z[k]))
        assert abs(complex(logs[k]) - exact) <= wrong[k]
    # The multiple: with mean 0 the transform's own errors are the largest.
    weights = np.random.default_rng(2).integers(1, 100, 41)
    mean = int(weights @ np.arange(-20, 21))
    weights[19 if mean > 0 else 21] += abs(mean)
    weights[20] += 2**14 - np.sum(weights)
    one, count = table(m, "upper", weights / 2**14), 10**8
    total = m.add_tables([(one, count)], -20.0, (1e-3, 1e-3))
    for j, k in enumerate(total.frequency.tolist()):
        weight = (1 if k == 0 else 2) / mp.mpf(total.size)
        turn = mp.expjpi(-2 * mp.mpf(k * total.first) / total.size)
        exact = weight * turn * entry(one, k, 0, total.size) ** count
        assert abs(complex(total.value[j]) - exact) <= total.wrong[j]


@term(
    "mass at infinity",
    "1 + @sign * Fraction(8 * UNIT)",
    "1 + @sign * 8 * UNIT * len(parts)",
    "infinity * (1 + @sign * 4 * UNIT)",
    "result * (1 + @sign * 8 * UNIT)",
    "infinite * (1 + @parts[0].sign * 8 * len(parts) * UNIT)",
    ("-math.expm1(total) + 0.0", "1 - math.exp(total)"),
)
def mass_at_infinity(m):
    """Probabilities of infinite losses, against exact fractions."""
    for side, rng in seeds(60):
        count, value = int(rng.integers(2, 50)), float(rng.uniform(0, 1))
        lost = (rng.dirichlet(np.ones(4)) * 10 ** rng.uniform(-14, 0)).tolist()
        pair = al.DiscretePair([*lost, 1 - sum(lost)], [0.0] * 4 + [1.0])
        once = sum(map(F, lost))
        found = m.infinite_bound([(pair, count)])
        keeps(side, F(getattr(found, side)), 1 - (1 - once) ** count)
        part = m.Cells.first(pair, 1, 1e-30)
        (one,) = m.bound_tables(part, 0.1, 1.0, -60.0, (side,))
        keeps(side, F(one.infinity_mass), once)
        one = table(m, side, [0.5, 2.0**-54], infinity_mass=value)
        found = m.bare_sum([(one, count)], 0.0).infinity_mass
        keeps(side, F(found), 1 - (1 - F(value)) ** count)
        exact = value + exact_delta(exact_losses((one, 1)), 0.0)
        keeps(side, m.read_delta(one, 0.0), exact)
        if side == "lower":  # at this delta epsilon is the largest loss
            keeps(side, m.read_epsilon(one, value), float(one.losses[-1]))


@term("reading off: shift", "epsilon - @sign * 8 * UNIT * largest")
def shift(m):
    """The loss of a grid point is rounded, and so is its distance from
    an epsilon just below it."""
    for (side, rng), count in itertools.product(seeds(40), (1, 2)):
        offset, step = rng.uniform(0, 1, 2).tolist()
        one = table(m, side, [0.5, 0.5], offset=offset, step=step, tilt=1e-3)
        total = m.add_tables([(one, count)], -60.0, (9.0, 9.0))
        losses = exact_losses((one, count))
        top = float(max(losses))
        reads(m, total, losses, top, math.nextafter(top, 0), top - 1e-15)


@term(
    "reading off: error",
    "log_scale += @sign * UNIT * error",
    "+ @16 * total.tilt * largest",
    "+ @4 * abs(total.log_scale)",
    "error += @4 * np.abs(log_value)",
)
def reading_error(m):
    """Large exponents are rounded before they are exponentiated."""
    for side, rng in seeds(40):
        x, y = rng.uniform(1, 2, 2).tolist()
        for tilt, scale, mass in (
            (200 * y, 200 * x * y - 9, 0.5),
            (1e-3, -300 * x - y, 0.5),
            (1e-3, 0.0, math.exp(-300 * x - y)),
        ):
            fields = {"offset": x, "tilt": tilt, "log_scale": scale}
            one = table(m, side, [mass, mass], **fields)
            reads(m, one, exact_losses((one, 1)), x - 0.01)


@term(
    "underflow",
    "np.where(above > 0, @1e-290",
    "wrong + @1e-290",
    "finite, @5e-324",
)
def underflow(m):
    """Far below the losses of a table every weight underflows."""
    far = {"offset": 126.0, "tilt": 4.7e6, "log_scale": 4.7e6 * 126 - 1}
    for side, count in itertools.product(SIGNS, (1, 2)):
        one = table(m, side, [0.5, 0.5], step=3.0, **far)
        total = m.add_tables([(one, count)], -800.0, (1.0, 1.0))
        reads(m, total, exact_losses((one, count)), 0.0)
    one = table(m, "upper", [0.5], index=np.array([4]), log_scale=-800.0)
    assert m.read_delta(one, 0.0) > 0


# With the term, and without it.


@functools.cache
def compiled(name: str) -> Any:
    """A module as it is; a run replaces a snippet of one module only."""
    return compile(sources()[name], name, "exec")


@functools.cache
def sources() -> dict[str, str]:
    return {name: inspect.getsource(sys.modules[name]) for name in MODULES}


def engine(old: str = "", new: str = "") -> Any:
    """All names of the engine's modules, with one snippet replaced.

    The snippet is in one of the modules; its spaces and line breaks do not
    matter. All of them are made anew, so that each sees the change.
    """
    code = {name: compiled(name) for name in MODULES}
    if old:
        tokens = re.findall(r"[\w.]+|\S", old)
        pattern = r"(?<![\w.])" + r"\s*".join(map(re.escape, tokens))
        texts = sources()
        found = {x: len(re.findall(pattern, y)) for x, y in texts.items()}
        places = [x for x in MODULES if found[x] and ".engine." in x]
        (place,) = places or [x for x in MODULES if found[x]]
        assert found[place] == 1, f"{old!r} occurs {found} times"
        changed = re.sub(pattern, lambda _: new, texts[place])
        code[place] = compile(changed, place, "exec")
    saved = {name: sys.modules[name] for name in MODULES}
    names: dict[str, Any] = {}
    try:
        for name, body in code.items():
            module = sys.modules[name] = ModuleType(name)
            exec(body, vars(module))
            names |= vars(module)
    finally:
        sys.modules.update(saved)
    return SimpleNamespace(**names)


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(50):
        yield


ENGINE = engine()


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("name", TERMS)
def test_the_term_keeps_the_side(name):
    scenario, _ = TERMS[name]
    scenario(ENGINE)


@pytest.mark.in_turn(8)
@pytest.mark.parametrize(
    ("scenario", "old", "new"),
    [
        pytest.param(scenario, old, new, id=f"{name}: {new}")
        for name, (scenario, changes) in TERMS.items()
        for old, new in changes
    ],
)
def test_without_the_term_a_bound_fails(scenario, old, new):
    module = engine(old, new)
    # A ValueError: the module notices that lower exceeds upper.
    with pytest.raises((AssertionError, ArithmeticError, ValueError)):
        scenario(module)
