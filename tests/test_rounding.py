"""Each error term is needed: its claim fails somewhere without it.

A claim counts how often a bound of rounding.py, or of the tables, is wrong;
truths are balls. It must find nothing, and something as soon as the term is
taken out of the source. Terms that others always cover are not listed; the
page says which they are.
"""

import inspect
import math
import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from flint import acb, arb, ctx

import accountlib.cells
import accountlib.fourier
import accountlib.pld
import accountlib.rounding
from accountlib.cells import Cells, Table
from accountlib.checks import UNIT
from accountlib.fourier import Part
from tests.exact_sums import delta, outcomes, violates

BILLION = 10**9
BITS = 300


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(BITS), np.errstate(all="ignore"):
        yield


def without(old="", new=""):
    """The code of four pages, with one piece of text replaced."""
    pages = [accountlib.cells, accountlib.fourier, accountlib.rounding]
    pages.append(accountlib.pld)
    sources = [inspect.getsource(page) for page in pages]
    if old:
        assert [s.count(old) for s in sources].count(1) == 1, old
        assert sum(s.count(old) for s in sources) == 1, old
    names = {}
    kept = dict(sys.modules)
    try:
        for page, source in zip(pages, sources, strict=True):
            module = types.ModuleType(page.__name__)
            sys.modules[page.__name__] = module
            exec(source.replace(old, new) if old else source, module.__dict__)
            names |= vars(module)
    finally:
        sys.modules.update(kept)
    return types.SimpleNamespace(**names)


def ball(x):
    return arb(float(x))


def ends(code, tables, part, epsilon):
    at = np.array(epsilon)
    return [float(code.spectrum(tables, part, up)(at)) for up in (False, True)]


def part_with(**changed):
    usual = {
        "which": "all",
        "split": 0.0,
        "tilt": 1.0,
        "period": 30.0,
        "variance": 1e-3,
        "last": 40,
        "below": 0.5,
        "above": 1.5,
    }
    return Part(**(usual | changed))


# --- tables ------------------------------------------------------------------


def one_cell(log_p, loss, error, left, right):
    """Cells of one outcome, whose masses are known exactly."""
    row = [log_p, log_p - loss, 0.0, loss, error, left, right]
    return Cells(*(np.array([x]) for x in row))


def chords(code):
    """Both masses of a cell are large enough (Lemma 8)."""
    rng, wrong = np.random.default_rng(1), 0
    kept = np.array([True])
    for turn in range(300):
        log_p, w = -rng.uniform(0, 90), 10 ** rng.uniform(-6, 1)
        if turn % 9 == 0:  # nearly nothing
            log_p = -800.0
        left = rng.normal()
        loss, error = left + w * rng.random(), 0.0
        if turn % 3 == 0:  # the merged loss is known less well than the end
            error = 10 ** rng.uniform(-14, -10)
            left, loss = 1.1 * UNIT * error, -error * (1 - 2 * UNIT)
        right, less = left + w, rng.exponential(0.1) * (turn % 2)
        cells = one_cell(log_p, loss, error, left, right)
        cells = replace(cells, mass_error=np.array([less]))
        made = code.pessimistic_table(cells, 1, kept)
        grid = [x.tolist() for x in code.at_cell_ends(cells, False)]
        p, (a, b) = (ball(log_p) + ball(less)).exp(), (ball(left), ball(right))
        most = ball(loss) + ball(error)
        share = (1 - (a - most).exp()) / (1 - (a - b).exp())
        table = [made.loss, [ball(x).exp() for x in made.log_mass]]
        for at, masses in (table, grid):
            rows = list(zip(at, map(arb, masses), strict=True))
            ends = sum((m for x, m in rows if x >= right), arb(0))
            wrong += bool(sum((m for _, m in rows), arb(0)) < p)
            wrong += bool(ends < p * share)
    return wrong


def merged(code):
    """The one outcome of a cell has no more mass and no larger loss."""
    rng, wrong = np.random.default_rng(2), 0
    for _ in range(200):
        log_p, loss = -rng.exponential(50), 10 ** rng.uniform(-6, 3)
        error = loss * UNIT * rng.exponential()
        cells = one_cell(log_p, loss, error, loss, loss)
        less = 1e-14 * rng.random()
        cells = replace(cells, mass_error=np.array([less]))
        made = code.optimistic_table(cells, 1, np.array([True]))
        wrong += bool(ball(made.loss[0]) > ball(loss) - ball(error))
        wrong += bool(ball(made.log_mass[0]) > ball(log_p) - ball(less))
        # the same mass with an infinite loss
        cells = one_cell(log_p, math.inf, 0.0, 0.0, math.inf)
        made = code.optimistic_table(cells, 1, np.array([True]))
        wrong += bool(ball(made.infinite) > ball(log_p).exp())
        made = code.pessimistic_table(cells, 1, np.array([False]))
        wrong += bool(ball(made.infinite) < ball(log_p).exp())
    return wrong


# --- powers ------------------------------------------------------------------


def some_table(rng, atoms, count):
    loss = np.sort(rng.normal(size=atoms))
    return Table(loss, np.log(rng.dirichlet(np.ones(atoms))), 0.0, count)


def tilts(code):
    """Tilted masses lie on their side of the exact ones."""
    rng, wrong = np.random.default_rng(3), 0
    for turn in range(60):
        table = some_table(rng, 5, 1)
        if turn % 5 == 0:  # nearly nothing
            table.log_mass[0] -= 900
        part = part_with(tilt=10 ** rng.uniform(-1, 2.5))
        for up in (False, True):
            m, c, k = code.tilted(table, part, up)
            for x, p, mass in zip(table.loss, table.log_mass, m, strict=True):
                z = ball(part.tilt) * (ball(x) - ball(c)) + ball(p) - ball(k)
                gap = ball(mass) - z.exp()
                wrong += bool(gap < 0 if up else gap > 0)
    return wrong


def scales(code):
    """The scale, sum T (k + log N), is as good as it says."""
    rng, wrong = np.random.default_rng(4), 0
    for turn in range(60):
        part, kinds = part_with(last=1), 1 + turn % 3
        product, exact = code.Product(part, kinds), arb(0)
        for _ in range(kinds):
            table = some_table(rng, 3, BILLION)
            if turn % 2:  # far from what was tilted
                table = Table(table.loss, table.log_mass - 40, 0.0, 3)
            product.times(table, True)
            m, _, k = code.tilted(table, part, True)
            whole = sum(map(ball, m), arb(0))
            exact += (ball(k) + whole.log()) * table.count
        gap = abs(ball(product.scale) - exact)
        wrong += bool(gap > ball(product.scale_error))
    return wrong


def exact_product(code, tables, part):
    """The product of the powers, for the floats that are the tilted masses."""
    near, both = [acb(1)] * (part.last + 1), [acb(1)] * (part.last + 1)
    h = ball(2 * math.pi / part.period)
    for table in tables:
        m, center, _ = code.tilted(table, part, True)
        low = part.near(table.loss)
        whole = sum(map(ball, m[low]), arb(0))
        for j in range(part.last + 1):
            sums = [acb(0), acb(0)]
            for x, mass, is_near in zip(table.loss, m, low, strict=True):
                turn = h * j * (ball(x) - ball(center))
                term = acb(ball(mass)) * acb(0, turn).exp() / whole
                sums = [sums[0] + term * int(is_near), sums[1] + term]
            powers = [(s.log() * table.count).exp() for s in sums]
            near[j], both[j] = near[j] * powers[0], both[j] * powers[1]
    if part.which == "far":
        return [b - n for b, n in zip(both, near, strict=True)]
    return near


def products(code):
    """The product is as good as it says: powers of up to a billion, sums
    with a rare loss, angles far beyond a turn."""
    rng, wrong = np.random.default_rng(5), 0
    for turn in range(120):
        which = ("all", "near", "far")[turn % 3]
        count = BILLION if turn % 2 else int(rng.integers(1, 40))
        loss = np.sort(rng.normal(size=4))
        log_m = np.log(rng.dirichlet(np.ones(4)))
        if which == "far":  # rare and large, or large and several at once
            loss, log_m = np.array([-1.0, 1.0, 0.0]), np.log([0.5, 0.5, 1.0])
            loss = loss * (10 ** rng.uniform(-6, 0) if turn % 4 < 2 else 0)
            loss[2] = 10 ** rng.uniform(0, 6)
            log_m[2] = -math.log(count) + 4 - rng.exponential(8)
        part = part_with(
            which=which,
            split=float(loss[1]),
            tilt=1e-6,
            period=math.sqrt(count) * 10 ** rng.uniform(-1, 2),
            last=12,
        )
        wrong += misses(code, part, [Table(loss, log_m, 0.0, count)])
    return wrong


def misses(code, part, tables):
    """At how many frequencies the error is too small; a kind with a count
    below 0 is taken one by one."""
    product = code.Product(part, sum(max(-x.count, 1) for x in tables))
    for table in tables:
        one = replace(table, count=max(table.count, 1))
        for _ in range(max(-table.count, 1)):
            product.times(one, True)
    every = [replace(x, count=abs(x.count)) for x in tables]
    truth = exact_product(code, every, part)
    rows = zip(*product.value(), truth, strict=True)
    errors = [
        (e + 32 * UNIT * abs(z), abs(acb(z.real, z.imag) - t))
        for z, e, t in rows
    ]
    return sum(bool(gap > ball(e)) for e, gap in errors)


def pair(loss, log_m, count):
    return Table(np.array(loss), np.array(log_m), 0.0, count)


def kinds(code):
    """Rounding drops thousands of kinds beside the first; or a function errs
    as far as it may."""
    half, names = math.log(0.5), code.Product.times.__globals__
    first = pair([-1.0, 1.0], [half, half], 1100)
    last = pair([0.0, 3.0], [0.0, math.log(2.5e-14)], -1500)
    wrong = misses(
        code, part_with(tilt=1e-9, period=7.0, last=1), [first, last]
    )
    first = pair([0.0, 3.0], [0.0, math.log(2e-8)], BILLION)
    last = pair([0.0, 3.0], [0.0, math.log(1.5e-15)], -1500)
    part = part_with(which="far", tilt=1e-9, period=1e6, last=1)
    wrong += misses(code, part, [first, last])
    log, sums = names["log_one_plus"], names["transform"]
    names["log_one_plus"] = lambda z: log(z * (1 + 30 * UNIT))
    wrong += misses(code, part, [first])
    names["log_one_plus"] = log
    least = 264 * UNIT * math.pi / 2  # error of the next one
    off = least * np.array([0.0, 0.95])
    names["transform"] = lambda *x: sums(*x) - off
    part = part_with(tilt=1e-18, period=2 * math.pi, last=1)
    end = math.pi / 2 - 0.9 * least
    wrong += misses(code, part, [pair([-end, end], [half, half], 1)])
    return wrong


def moments(code):
    """The bound of a moment is one, after a billion steps."""
    rng, wrong = np.random.default_rng(6), 0
    for _ in range(60):
        table, part = some_table(rng, 3, BILLION), part_with()
        order = 10 ** rng.uniform(-2, 3)
        z = zip(map(ball, table.loss), map(ball, table.log_mass), strict=True)
        total = sum(((ball(order) * x + p).exp() for x, p in z), arb(0))
        bound = code.log_moment([table], part, order)
        wrong += bool(ball(bound) < total.log() * BILLION)
    rare = pair([1.0, 2.0], [0.0, -800.0], BILLION)
    part = part_with(which="far", split=1.0)  # about 1e9 e^(1e9 - 799)
    return wrong + bool(code.log_moment([rare], part, 1.0) < BILLION - 779)


# --- reading -----------------------------------------------------------------


def chernoffs(code):
    """Chernoff's bound, of a moment that is a float, lies above; so does the
    total with which frequencies beyond the last are bounded."""
    rng, wrong, totals = np.random.default_rng(10), 0, []
    code.log_moment.__globals__["beyond_last"] = lambda _, total, size: (
        totals.append(total) or 0.0
    )
    for scale in 10 ** rng.uniform(-1, 3, 60):
        part = part_with(period=scale)
        moment, e, order = scale * rng.normal(size=3) ** 2
        s = code.spectrum([SURE], part, True)
        s = replace(s, moments={order: moment})
        x, away = ball(order), abs(order - 1.0) * scale
        true = ball(moment) - x * ball(e) - abs(x - 1) * ball(scale)
        true += x * x.log() - (1 + x) * (1 + x).log()
        wrong += bool(ball(s.chernoff(order, np.array(e), away)) < true)
        part = part_with(which="far", tilt=1e-9, last=1)
        table = pair([0.0, scale], [0.0, -math.log(scale)], 100)
        code.spectrum([table], part, True)
        truth = exact_product(code, [table], part)[0]
        wrong += bool(ball(totals[-1]) < truth.real)
    return wrong


SURE = Table(np.zeros(1), np.zeros(1), 0.0, 1)
THIRDS = pair([0.0] * 3, [-math.log(3)] * 3, BILLION)
MANY = {"variance": 1e-6, "period": 5.0, "tilt": 4.0, "last": 7200}
LONG = {"variance": 15.0, "period": 50.0, "tilt": 0.02, "last": 20}
READINGS = [  # where one source of rounding is larger than all others
    # many terms that cancel; angles of many turns; large exponents; a sum of
    # masses, a billion times
    (16, SURE, MANY, (0, 0)),
    (40, SURE, LONG, (1.5e4, 3e4)),
    (40, SURE, LONG | {"period": 1.0, "tilt": 0.1, "last": 1}, (1e3, 6e3)),
    (8, THIRDS, LONG, (60, 90)),
]


def readings(code):
    """Both ends against the same finite sum."""
    rng, wrong = np.random.default_rng(7), 0
    for number, table, choice, between in READINGS:
        part = part_with(**(choice | {"below": 1e-3, "above": 1e3}))
        for up in [True, False] * (number // 2):
            part = replace(part, tilt=part.tilt * rng.uniform(0.98, 1.02))
            e = float(rng.uniform(*between))
            s = code.spectrum([table], part, up)
            s = replace(s, moments={part.tilt: math.inf} if up else {})
            sign = 1 if up else -1
            y = s.center - e
            y += sign * (s.center_error + s.drift * (abs(y) + abs(e)))
            found = ball(s(np.array(e))), exact_reading(code, s, y, table)
            low, high = found[::-sign]
            wrong += bool(low > high) and bool(low > 0)
    return wrong


def exact_reading(code, s, y, table):
    """The finite sum for losses of 0, whose transform is 1."""
    part, total = s.part, arb(0)
    v, y = ball(part.variance), ball(y)
    h = ball(2 * math.pi / part.period)
    kappa = (v / 8).sqrt().erf() * (2 * arb.pi() * v).sqrt() * (v / 8).exp()
    for k in range(part.last + 1):
        z = acb(ball(part.tilt), h * k)
        weight = 1 / (z * (z + 1)) - (0 if s.up else 1) * kappa
        weight *= (v * z * (z + 1) / 2).exp() * h / arb.pi()
        total += (weight * (acb(0, 1) * h * k * y).exp()).real / (
            1 if k else 2
        )
    m, _, k = code.tilted(table, part, s.up)
    power = (sum(map(ball, m), arb(0)).log() + ball(k)) * table.count
    return total * (power + ball(part.tilt) * y).exp()


def centers(code):
    """Totals of millions that nearly cancel, asked at just below."""
    rng, wrong = np.random.default_rng(8), 0
    part = part_with(period=60.0, variance=1e-2, last=900)
    for _ in range(20):
        loss = rng.uniform(1e6, 1e7, 3)
        loss[2] = rng.normal() - loss[0] - loss[1]
        tables = [Table(np.array([x]), np.zeros(1), 0.0, 1) for x in loss]
        e = float(loss.sum() - rng.uniform(2, 5))
        truth = delta(outcomes(tables, part), e)
        wrong += violates(*ends(code, tables, part, e), truth)
    return wrong


def sums(code):
    """Both ends against sums of few losses: poor periods, few frequencies,
    much variance, nearly nothing."""
    rng, wrong = np.random.default_rng(9), 0
    for turn in range(80):
        table = some_table(rng, 3, int(rng.integers(1, 8)))
        part = part_with(
            tilt=10 ** rng.uniform(-0.5, 0.8),
            period=10 ** rng.uniform(0, 1.7),
            variance=10 ** rng.uniform(-4, 0.5),
            last=int(10 ** rng.uniform(0.3, 3)),
            below=0.1,
            above=20.0,
        )
        if turn % 4 == 0:
            table = Table(table.loss, table.log_mass - 200, 0.0, 4)
        e = float(rng.normal())
        truth = delta(outcomes([table], part), e)
        wrong += violates(*ends(code, [table], part, e), truth)
    return wrong


RAISED = "x * np.where(x > 0, 1 + 8 * UNIT, 1 - 8 * UNIT) + 24 * UNIT"
SHARE = "np.minimum(cells.left - cells.loss, 0.0) - cells.loss_error"
NO_LEAST = "cells.left - cells.loss - cells.loss_error"
NO_ERROR, NAMES = (
    "np.minimum(cells.left - cells.loss, 0.0)",
    ("above", "share"),
)
LARGER = "np.exp(cells.mass_error) + 32 * UNIT"
TERMS = [
    *((chords, f"{x} = {SHARE}", f"{x} = {NO_LEAST}") for x in NAMES),
    *((chords, f"{x} = {SHARE}", f"{x} = {NO_ERROR}") for x in NAMES),
    (chords, LARGER, "np.exp(cells.mass_error)"),
    (chords, LARGER, "1 + 32 * UNIT"),
    (chords, "p + 1e-300 * (cells.log_p > -np.inf)", "p"),
    (chords, RAISED, "x"),
    (merged, RAISED, "x"),
    (
        merged,
        "(cells.loss_error + 4 * UNIT * np.abs(cells.loss))",
        "cells.loss_error",
    ),
    (tilts, "sign * 8 * UNIT * (wide + abs(k))", "0"),
    (scales, "(2 + (self.kinds", "(0 + (self.kinds"),
    (scales, "(self.kinds + 8) * scale", "0"),
    (products, "turn * (rows[0] @ np.abs(x))", "0 * turn"),
    (
        products,
        "off = turn * (rows[1] @ np.abs(x)) + unit * rows[1].sum()",
        "off = 0 * turn",
    ),
    (
        products,
        "np.exp(near), np.exp(log_error) + TINY",
        "np.exp(near), np.exp(log_error)",
    ),
    (products, "self.gain + log_expm1(moved)", "log_expm1(moved)"),
    (products, "log_expm1(self.gain + moved)", "log_expm1(moved)"),
    (products, "+ moved)) + TINY", "+ moved))"),
    (kinds, "self.lost + each * self.turned", "self.lost"),
    (kinds, "self.moved + each * self.twisted", "self.moved"),
    (kinds, " + unit * rows[1].sum()", ""),
    (kinds, "np.where(floor, 2 * wrong, wrong)", "wrong"),
    (moments, "error += t.count * r", "error += 0 * r"),
    (moments, " + 20 * wide.max(initial=0.0)", ""),
    (moments, "max(f - n, -700.0)", "f - n"),
    (readings, "UNIT * steps * size", "0"),
    (readings, " + np.abs(y) * self.turning", ""),
    (readings, " + self.drift * size", ""),
    (readings, "self.scale_error + self.drift", "self.drift"),
    (readings, "self.drift * (np.abs(y) + np.abs(epsilon))", "0"),
    (centers, "self.center_error + self.drift", "self.drift"),
    (chernoffs, " + 8 * UNIT * size", ""),
    (chernoffs, "size[0] + error[0]", "size[0]"),
    (sums, "still += beyond_last", "0 * beyond_last"),
    (sums, "kappa *= ", "kappa *= 0 * "),
    (sums, "np.exp(power) / -np.expm1(-away)", "0"),
    (sums, "delta + 1e-300", "delta"),
    (tilts, "TINY if up else 0.0", "0.0"),
]


CLAIMS = dict.fromkeys(claim for claim, *_ in TERMS)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda f: f.__name__)
def test_every_bound_holds(claim):
    assert claim(without()) == 0


@pytest.mark.parametrize(("claim", "term", "instead"), TERMS)
def test_no_term_can_go(claim, term, instead):
    assert claim(without(term, instead)) > 0
