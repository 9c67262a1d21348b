"""The checker: ends of coarse tables against the truth, mutants, forgeries,
and the engine's own ends, of which the checker is an independent witness.

    python -m tests.beyond.test_verify 5000 1

asks so many coarse random settings with a seed, and prints what came of it.
"""

import ast
import json
import math
import subprocess
import sys
import time
import types
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import ctx

import accountlib as al
from accountlib.beyond import certificates, verify
from tests import ROOT
from tests.settings import ordinary
from tests.test_random import ask as ask_engine
from tests.truth import NoTruth, truth_of

FILE = ROOT / "accountlib" / "beyond" / "verify.py"
SOURCE = FILE.read_text("utf-8")
FULL = ("FullBatch",)
WITNESSED = 40
CLOSE = 1e-11  # the truth is known to more digits


def exact(x):
    """The decimal that a float is written as."""
    if isinstance(x, list | tuple):
        return [exact(y) for y in x]
    return Fraction(repr(x)) if isinstance(x, float) else x


def kind_of(words, sampling, count):
    if words[0].startswith("DiscreteG") or words[0] == "DiscreteLaplace":
        words = (*words, 1)[:3]
    return [exact(words), exact(sampling), count]


def ends(module, setting, choice, epsilons):
    """Both ends of delta at each epsilon."""
    releases, adjacency, size = setting
    step, bits, delta, module.EVERY, module.FINE, module.CUT = choice
    found = {"run": [kind_of(*x) for x in releases], "adjacency": adjacency}
    found |= {"group_size": size, "upper": [1, delta], "lower": [1, 1]}
    found |= {"step": step, "bits": bits}
    module.ENDS[0] = time.process_time() + 20
    with ctx.workprec(2 * bits):
        kinds, tail = module.kinds_of(found)
        ways = [module.signed(kinds, x) for x in module.SIGNS[adjacency]]
        low, high = (
            [module.composed(side, x, step, tail) for x in ways]
            for side in (module.Optimistic, module.Pessimistic)
        )
        for e in epsilons:
            yield (
                max(float(x.delta(exact(e)).lower()) for x in low),
                max(float(x.delta(exact(e)).upper()) for x in high),
            )


def wrong(module, case):
    """Ends on the wrong side of the truth."""
    setting, choice, epsilons, truths = case
    found = ends(module, setting, choice, epsilons)
    return [
        (setting, choice, e, low, truth, high)
        for e, (low, high), truth in zip(epsilons, found, truths, strict=True)
        if low > truth[1] * (1 + CLOSE) or high < truth[0] * (1 - CLOSE)
    ]


def case_of(setting, choice, epsilons):
    truth = truth_of(*setting)
    return setting, choice, epsilons, [truth.delta(e) for e in epsilons]


# --- coarse settings


def coarse(rng):
    """A setting that the checker covers, with bad choices."""
    pick = lambda *x: x[int(rng.integers(len(x)))]  # noqa: E731
    while True:
        s = ordinary(rng)
        if s.adjacency in verify.SIGNS and sum(x[2] for x in s.releases) < 999:
            break
    step = Fraction(f"{10 ** rng.uniform(-2.5, -0.3):.4f}")
    delta = pick(*map(Fraction, ("0", "1e-6", "1e-3", "0.1")))
    choice = step, pick(30, 40, 60, 90, 160), delta
    choice += pick(1, 2, 4, 9), pick(1, 4, 32, 128), pick(1, 4, 20, 40)
    epsilons = [0.0, round(rng.uniform(0, 1), 3), round(rng.uniform(0, 8), 3)]
    return case_of((s.releases, s.adjacency, s.group_size), choice, epsilons)


def ask(count, seed):
    """How many coarse settings were checked, and refused; all hold."""
    rng, checked, refused = np.random.default_rng(seed), 0, {}
    while checked < count:
        try:
            found = wrong(verify, coarse(rng))
        except NoTruth:
            continue
        except verify.NotProven as why:
            refused[str(why)] = refused.get(str(why), 0) + 1
            continue
        assert not found, found
        checked += 1
    return checked, refused


@pytest.mark.parametrize("seed", range(2))
def test_coarse_tables_enclose_the_truth(seed):
    checked, refused = ask(40, seed)
    assert sum(refused.values()) < checked


# --- mutants


def sharp():
    """Cases in which each rounding counts: few bits, losses on the grid."""
    deltas = [Fraction(x) for x in ("0", "0.01", "0.5")]
    e, few = [-30.0, 0.0, 0.03, 0.1], (20, 21, 24)
    for i, (count, bits) in enumerate(product((2, 7, 16, 33), few)):
        loss, way = (0.01, 0.03, 0.05)[i % 3], ("remove", "add")[i % 2]
        step = Fraction(repr(loss)) / (1, 2, 3, 1)[i % 4]
        mechanism = ("PureDP", loss) if i % 2 else ("ApproximateDP", loss, 0.1)
        setting = ((mechanism, FULL, count),), way, 1
        choice = step, bits, deltas[i % 3], (1, 2, 9)[i % 3], 8, (1, 4)[i % 2]
        yield case_of(setting, choice, e)
    mixed = ("MixtureOfGaussians", (1.0, 2.0), (0.5, 0.5), 1.5)
    noisy = (("Gaussian", 0.8), ("Poisson", 0.2)), (("Laplace", 0.7), FULL)
    noisy += (("DiscreteGaussian", 1.3), ("Poisson", 0.5)), (mixed, FULL)
    noisy += ((("Gaussian", 2.5), ("FixedBatch", 5, 12)),)
    noisy += ((("RandomizedResponse", 0.75), ("Poisson", 0.3)),)
    e, steps = [0.0, 0.2, 0.7, 1.5], [Fraction(1, 50), Fraction(1, 7)]
    for x, way, step in product(noisy, ("remove", "add"), steps):
        choice = step, 60, Fraction(0), 4, 16, 20
        yield case_of((((*x, 1),), way, 1), choice, e)
    for x, size in product((noisy[0], noisy[4]), (2, 3)):
        choice = steps[0], 60, Fraction(0), 4, 128, 20
        yield case_of((((*x, 1),), "remove", size), choice, e)
    for x in ((("Gaussian", 2.0), ("Poisson", 0.3)), (("Laplace", 2.0), FULL)):
        choice = steps[0], 60, Fraction(0), 4, 128, 20
        yield case_of((((*x, 1),), "substitute", 1), choice, e)
    lost = ("DiscretePair", (2**-10, 1 - 2**-10), (0.0, 1.0)), FULL, 2
    choice = Fraction(1, 100), 11, Fraction(0), 4, 8, 20
    yield case_of(((lost,), "remove", 1), choice, [1.0])
    two = (("PureDP", 0.02), FULL, 17), (("PureDP", 0.05), FULL, 1)
    for bits, every in product((20, 60), (1, 4)):
        choice = Fraction(1, 100), bits, Fraction(0), every, 8, 20
        yield case_of((two, "remove", 1), choice, [-30.0, 0.0, 0.1, 0.3])


def by_hand(v):
    """Parts of a table that are wrong, in places where no whole run is."""
    h, u = Fraction(1, 10), 2**20
    with ctx.workprec(40):
        low, high = (v.ball(h * Fraction(x)) for x in ("0.991", "1.999"))
        p, q = v.arb(0.7), 0.4 * (-low).exp() + 0.3 * (-high).exp()
        one = v.Pessimistic.of([(p, q, low, high)], h, 0)
        truth = 0.3 * (1 - math.exp(-0.0499))  # two atoms in a cell
        if float(one.delta(h * 3 / 2).upper()) < truth * (1 - 1e-5):
            yield "split"
        for p, e in (("0.3", 0), ("0.375", Fraction(1, 10))):
            cell = v.ball(Fraction(p)), v.arb(0.25), v.arb(0), v.arb(0)
            low = v.Optimistic.of([cell], h, 0).delta(e).lower()
            if float(low) > float(p) - 0.25 * math.exp(e) + 1e-12:
                yield "one label"
        rng = np.random.default_rng(1)
        for mass in map(int, rng.integers(u // 2, u, 300)):
            row = v.fmpz_poly([0, mass])
            left, right = map(int, v.Pessimistic(h, 0, row, 0).wider().p)
            share = mass / (1 + math.exp(h))
            if left < share - 1e-6 or right < mass - share - 1e-6:
                yield "wider"
    with ctx.workprec(120):
        noise = v.Noise("Gaussian", Fraction(1), [(1, Fraction(1))], v.HERE)
        cells = v.cells_of_noise(noise, h, 0.5)  # most of P lies beyond
        one = v.composed(v.Pessimistic, [(cells, 1)], h, 0)
        if one.delta(1) < al.gaussian_delta(1.0, mu=1.0):
            yield "far"


MUTANTS = """
return x.upper().ceil().fmpz() -> return x.lower().floor().fmpz()
return -ceiling(-x * unit()) -> return ceiling(x * unit())
return masses + fmpz_poly([1] * length) -> return masses
hidden -= p -> hidden -= 1.01 * p
if q == 0: -> if not low.is_finite():
at_p.get(label, 0) + down(p) -> at_p.get(label, 0) + up(p)
at_q.get(label, 0) + up(q) -> at_q.get(label, 0) + down(q)
at_q[label] = at_q.get(label, 0) + up(q) -> at_q[label] = up(q)
q = raised(self.q * other.q // unit(), length) -> q = self.q * other.q // unit()
p = self.p * other.p // unit() -> p = raised(self.p * other.p // unit(), length)
hidden = self.hidden * other.hidden -> hidden = self.hidden + other.hidden - 1
self.q * up(ball(epsilon).exp()) -> self.q * down(ball(epsilon).exp())
/ unit() ** 2 + (1 - self.hidden) -> / unit() ** 2 + 2 * (1 - self.hidden)
mass = up(p) -> mass = down(p)
infinite += mass -> infinite += 0
j = int(ceiling(high -> j = -int(ceiling(-high
q * low.min(ball(i * step)).exp() -> q * ball(i * step).exp()
q * low.min(ball(i * step)).exp() -> q * high.exp()
min(mass, up(b)) if -> min(mass, down(b)) if
at[j] = at.get(j, 0) + share -> at[j] = at.get(j, 0) + mass - share
at[i] = at.get(i, 0) + mass - share -> at[i] = at.get(i, 0)
p = raised(self.p * other.p // unit(), length) -> p = self.p * other.p // unit()
(other.p(1) + other.infinite) -> other.infinite
(infinite + self.p(1) * other.infinite) -> infinite
* other.infinite) // unit() + 1 -> * other.infinite) // unit()
part(self.p, a, b) + low -> part(self.p, a, b)
self.infinite + high -> self.infinite
first=self.first + a, p=p, infinite -> first=self.first, p=p, infinite
enumerate((self.step, -self.step)) -> enumerate((-self.step, self.step))
share = odd * up(1 / -> share = odd * down(1 /
p += raised(share, len(odd)) -> p += share
[fmpz(0)] * (first % 2) + masses -> masses
step=2 * self.step, first -> step=self.step, first
math.floor(epsilon / self.step) + 1) -> math.floor(epsilon / self.step) + 2)
math.floor(epsilon / self.step) + 1) -> math.floor(epsilon / self.step) - 3)
return (self.infinite + tail(1) - less) -> return (tail(1) - less)
tail(1) - less) / unit() -> tail(1) - 2 * less) / unit()
if count >> left & 1: -> if False:
while result.step < other.step: -> while False:
(-x * x / 2).exp() -> (-x * x).exp()
density(z + ball(c)) for -> density(z) for
-z - self.whole) -> -z - 1)
modular_theta(acb(0), tau)[2] -> modular_theta(acb(0), tau)[3]
x.exp() / (1 + -> x.exp() / (1.1 +
(r - p, s - q, low, high) -> (r - p, s - q, low, low)
(r - p, s - q, low, high) -> (r - p, s - q, high, high)
(1 - p, 1 - q, low, top) -> (1 - p, 1 - q, low, low)
return [*cells, (1 - p, 1 - q, low, top)] -> return cells
noise.below(z + c) for c, w in noise.back -> noise.below(z) for c, w in noise.back
math.comb(size, j) * x for -> x for
((1 + fixed) * j, w) -> (j, w)
moves if substituted else HERE -> HERE
(member * p + out * q, q) -> (p, q)
[([(q, p, -b, -a) for -> [([(q, p, a, b) for
[([(q, p, -b, -a) for -> [([(q, p, -a, -b) for
""".strip().splitlines()


@pytest.fixture(scope="module")
def cases():
    """Quick ones first; nothing is wrong before something is broken."""
    timed, start = [], time.process_time()
    for case in sharp():
        assert not wrong(verify, case)
        timed.append((time.process_time() - start, len(timed), case))
        start = time.process_time()
    return [case for *_, case in sorted(timed)]


def broken(old, new):
    """The checker with a change."""
    assert old in SOURCE, old
    module = types.ModuleType("broken")
    sys.modules["broken"] = module
    exec(compile(SOURCE.replace(old, new, 1), "broken", "exec"), vars(module))
    return module


def test_nothing_is_wrong_by_hand():
    assert not list(by_hand(verify))


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_caught(cases, mutant):
    module = broken(*mutant.split(" -> "))

    def caught(case):
        try:
            return bool(wrong(module, case))
        except ValueError:  # its sizes do not fit any more
            return True

    assert any(by_hand(module)) or any(map(caught, cases))


# --- the engine's ends


def agree(rng):
    """Is an interval of the engine confirmed to 1 %? Never contradicted."""
    while True:
        s = ordinary(rng)
        count = sum(x[2] for x in s.releases)
        usual = s.adjacency in verify.SIGNS and s.question == "epsilon"
        if usual and count < 1e4 and len(s.releases) < 5:
            break
    bound, delta = ask_engine(s), s.value
    if not 1e-6 < bound.upper < 900:
        return None
    step, bits = certificates.step_and_bits(bound.upper, delta, count)
    choice = Fraction(step), bits, Fraction(delta), 4, 128, 20
    setting = s.releases, s.adjacency, s.group_size
    at = [0.99 * bound.lower, bound.lower, bound.upper, 1.01 * bound.upper]
    try:
        below, lower, upper, above = ends(verify, setting, choice, at)
    except verify.NotProven:
        return None
    assert upper[0] <= delta * (1 + CLOSE), (s, bound)
    assert lower[1] >= delta * (1 - CLOSE), (s, bound)
    return below[0] >= delta * (1 - CLOSE) and above[1] <= delta * (1 + CLOSE)


def test_the_engine_is_confirmed():
    rng = np.random.default_rng(5)
    found = [
        x for x in (agree(rng) for _ in range(WITNESSED)) if x is not None
    ]
    assert sum(found) > 0.9 * len(found) > 0.5 * WITNESSED


# --- certificates, honest and forged

RUNS = [
    al.Release(al.Gaussian(2.0), al.Poisson(0.02), 100),
    al.Release(al.Laplace(3.0), count=20),
    al.Release(al.PureDP(0.1), al.FixedBatch(5, 50), 40),
    al.Release(al.DiscreteGaussian(3.0, 2), al.Poisson(0.1), 7),
    al.Release(al.MixtureOfGaussians([0, 1], [0.9, 0.1], 1.0), count=9),
    [al.Release(al.RandomizedResponse(0.7)), al.Release(al.Gaussian(1.5))],
]
HONEST = [al.certificate(x, delta=1e-5, adjacency="remove") for x in RUNS]
LIES = {  # of each run
    "upper": lambda x: [x[0] * 0.997, x[1]],
    "upper ": lambda x: [x[0], x[1] * 0.9],
    "lower": lambda x: [x[0] * 1.003, x[1]],
    "lower ": lambda x: [x[0], min(x[1] * 1.1, 1)],
    "run": lambda x: [[*y[:2], 2 * y[2]] for y in x],
    "run ": lambda x: [[*y[:2], y[2] + 3] for y in x],
    "run  ": lambda x: [*x, [["PureDP", 0.1], ["FullBatch"], 1]],
    "run   ": lambda x: [[["Gaussian", 9.0], *y[1:]] for y in x],
    "step": lambda x: 50.0,
    "bits": lambda x: 20,
}
NUMBERS = [0, -1, True, None, "1", [1], {}, 1e9, -0.5, "NaN", "Infinity"]
NUMBERS += ["1e99999", "-1e-99999", "9" * 5000, "0." + "1" * 5000]
PLACES = [("step",), ("bits",), ("group_size",), ("upper", 0), ("upper", 1)]
PLACES += [("lower", 0), ("run", 0, 0, 1), ("run", 0, 1, 1), ("run", 0, 2)]
WORDS = {
    ("adjacency",): ["", "both", ["add"], "zero-out", "replace-one", None],
    ("run",): [[], None, "Gaussian", [[]], [[[], [], 1]], {}],
    ("run", 0, 0): [["Gauss", 1.0], ["Gaussian", 1.0, 1.0], "Gaussian", None],
    ("run", 0, 1): [["Poison", 0.1], ["Poisson"], ["FixedBatch", 9, 9], []],
    ("upper",): [[], [1], [1, 0.1, 2], None, 1],
}


def changed(text, path, value):
    """A certificate with another value somewhere, as it is or as JSON."""
    found = json.loads(text)
    *inside, last = path
    at = found
    for key in inside:
        at = at[key]
    at[last] = "?"
    bare = isinstance(value, str) and value[-1:].isdigit() or value == "NaN"
    value = value if bare or value == "Infinity" else json.dumps(value)
    return json.dumps(found).replace('"?"', value)


def forgeries():
    for text, (key, lie) in product(HONEST, LIES.items()):
        key = key.strip()
        yield changed(text, (key,), lie(json.loads(text)[key]))
    for path, value in product(PLACES, NUMBERS):
        if not (value == 0 and path[0] in ("upper", "lower")):
            yield changed(HONEST[0], path, value)
    for path, values in WORDS.items():
        yield from (changed(HONEST[0], path, value) for value in values)
    yield from ("", "{}", "[]", "null", "[" * 99_999, HONEST[0][:-1], "\0")
    yield HONEST[0][:-1] + ', "bits": 96}'
    yield HONEST[0][:-1] + ', "note": "proven"}'


def test_honest_certificates_are_proven():
    for text in HONEST:
        assert verify.verify(text) == "PROVEN"
        assert len(text) < 300


def test_forgeries_are_refused_in_a_sentence():
    forged = list(forgeries())
    assert len(forged) > 200
    for text in forged:
        verdict = verify.verify(text)
        assert not verdict and verdict.startswith("NOT PROVEN: "), text
        assert len(verdict) < 260 and "\n" not in verdict


def test_a_file_alone(tmp_path):
    imports = [x for x in ast.walk(ast.parse(SOURCE)) if hasattr(x, "names")]
    assert not any("accountlib" in ast.unparse(x) for x in imports)
    (tmp_path / "verify.py").write_text(SOURCE)
    (tmp_path / "good").write_text(HONEST[1])
    (tmp_path / "bad").write_bytes(b"\xff" + HONEST[1].encode())
    alone = ["-I", tmp_path / "verify.py"], ["-m", "accountlib", "verify"]
    for way, (name, code) in product(alone, (("good", 0), ("bad", 1))):
        command = [sys.executable, *way, tmp_path / name]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == code and not done.stderr
        assert done.stdout.startswith("PROVEN\n" if not code else "NOT PROV")


@pytest.mark.parametrize(
    "run, asked, error",
    [
        (al.PureDP(1.0), {"delta": 0.0}, ValueError),
        (
            al.PureDP(1.0),
            {"delta": 1e-5, "group_size": 2},
            NotImplementedError,
        ),
        (al.Gaussian(0.01), {"delta": 1e-5}, ValueError),
    ],
)
def test_what_gets_no_certificate(run, asked, error):
    with pytest.raises(error):
        al.certificate(al.Release(run), adjacency="add", **asked)


if __name__ == "__main__":
    print(*ask(*map(int, sys.argv[1:])))
