"""The checker against the truth, broken ones, forgeries, the engine's ends.

    python -m tests.beyond.test_verify 5000 1

asks so many coarse random settings, with a seed.
"""

import json
import math
import subprocess
import sys
import time
import types
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest
from flint import ctx

import accountlib as al
from accountlib.beyond import verify
from tests import ROOT
from tests.settings import ordinary
from tests.truth import NoTruth, truth_of

SOURCE = (ROOT / "accountlib/beyond/verify.py").read_text("utf-8")
FULL, CLOSE = ("FullBatch",), 1e-11  # the truth is known to more digits


def exact(x):
    """The decimals that floats are written as."""
    if isinstance(x, list | tuple):
        return [exact(y) for y in x]
    return F(repr(x)) if isinstance(x, float) else x


def ends(v, setting, choice, epsilons):
    """Both ends of delta at each epsilon."""
    run, adjacency, size = setting
    step, bits, delta, *free = choice
    usual, (v.EVERY, v.FINE, v.CUT) = (v.EVERY, v.FINE, v.CUT), free
    ones = [(1,) * (x[0][0][:8] == "Discrete" and len(x[0]) < 3) for x in run]
    run = [[[*x[0], *y], *x[1:]] for x, y in zip(run, ones, strict=True)]
    found = {"run": exact(run), "adjacency": adjacency, "group_size": size}
    found |= {"upper": [1, delta], "lower": [1, 1], "step": step, "bits": bits}
    v.DEADLINE.set(time.thread_time() + 20)
    v.BITS.set(bits)
    with ctx.workprec(2 * bits):
        ways, tail = v.directions(found)
        low, high = (
            [v.composed(side, x, step, tail) for x in ways]
            for side in (v.Optimistic, v.Pessimistic)
        )
        v.EVERY, v.FINE, v.CUT = usual
        for e in map(exact, epsilons):
            below = max(float(x.delta(e).lower()) for x in low)
            yield below, max(float(x.delta(e).upper()) for x in high)


def case_of(setting, choice, epsilons):
    truth = truth_of(*setting)
    return setting, choice, epsilons, [truth.delta(e) for e in epsilons]


def wrong(v, case):
    """Ends on the wrong side of the truth."""
    found = ends(v, *case[:3])
    return [
        (case, low, high)
        for (low, high), truth in zip(found, case[3], strict=True)
        if low > truth[1] * (1 + CLOSE) or high < truth[0] * (1 - CLOSE)
    ]


def drawn(rng, most):
    while True:
        s = ordinary(rng)
        few = sum(x[2] for x in s.releases) < most and len(s.releases) < 5
        if few and s.adjacency in verify.SIGNS:
            return s.releases, s.adjacency, s.group_size


def coarse(rng):
    """Is a setting with bad choices covered? Never wrong."""

    def pick(*x):
        return x[int(rng.integers(len(x)))]

    choice = F(f"{10 ** rng.uniform(-2.5, -0.3):.4f}"), pick(30, 40, 60, 160)
    choice += (F(pick("0", "1e-6", "1e-3", "0.1")), pick(1, 2, 4, 9))
    choice += (pick(1, 4, 32, 128), pick(1, 4, 20, 40))
    epsilons = [0.0, round(rng.uniform(0, 1), 3), round(rng.uniform(0, 8), 3)]
    try:
        found = wrong(verify, case_of(drawn(rng, 999), choice, epsilons))
    except (NoTruth, ValueError):
        return False
    assert not found, found
    return True


def test_coarse_tables_enclose_the_truth():
    rng = np.random.default_rng(3)
    assert sum(coarse(rng) for _ in range(30)) > 20


def sharp():
    """Cases in which each rounding counts: few bits, losses on the grid."""
    for i, (count, bits) in enumerate(product((2, 7, 16, 33), (20, 21, 24))):
        loss, way = (0.01, 0.03, 0.05)[i % 3], ("remove", "add")[i % 2]
        mechanism = ("PureDP", loss) if i % 2 else ("ApproximateDP", loss, 0.1)
        choice = (
            exact(loss) / (1, 2, 3, 1)[i % 4],
            bits,
            F("0 .01 .5".split()[i % 3]),
        )
        choice += ((1, 2, 9)[i % 3], 8, (1, 4)[i % 2])
        setting = ((mechanism, FULL, count),), way, 1
        yield case_of(setting, choice, [-30.0, 0.0, 0.03, 0.1])
    lost = ("DiscretePair", (2**-10, 1 - 2**-10), (0.0, 1.0)), FULL, 2
    choice = F(1, 100), 11, F(0), 4, 8, 20
    yield case_of(((lost,), "remove", 1), choice, [1.0])
    two = (("PureDP", 0.02), FULL, 17), (("PureDP", 0.05), FULL, 1)
    for every in (1, 4):
        choice = F(1, 100), 60, F(0), every, 8, 20
        yield case_of((two, "remove", 1), choice, [-30.0, 0.0, 0.1, 0.3])
    noisy = ("Gaussian", 0.8), ("Poisson", 0.2), 1
    whole = ("DiscreteGaussian", 1.3), ("Poisson", 0.5), 1
    for x, way, fine in product((noisy, whole), ("remove", "add"), (32, 1)):
        choice = F(1, 50), 60, F(0), 4, fine, 20
        yield case_of(((x,), way, 1), choice, [0.0, 0.2, 0.7, 1.5])


def by_hand(v):
    """Parts of tables that are wrong where no whole run is."""
    h, u = F(1, 10), 2**20
    v.BITS.set(20)
    with ctx.workprec(40):
        low, high = (v.ball(h * F(x)) for x in ("0.991", "1.999"))
        p, q = v.arb(0.7), 0.4 * (-low).exp() + 0.3 * (-high).exp()
        one = v.Pessimistic.of([(p, q, low, high)], h, 0)
        truth = 0.3 * (1 - math.exp(-0.0499))  # two atoms in a cell
        yield float(one.delta(h * 3 / 2).upper()) < truth * (1 - 1e-5)
        high = v.ball(h * F("0.999"))
        one = v.Pessimistic.of(
            [(v.arb(0.5), v.arb(0.49), 0 * high, high)], h, 0
        )
        yield int(one.p[1]) / u < 0.01 / -math.expm1(-0.1) - 1e-12
        for p, q, e in (
            ("0.3", "1/4", 0),
            ("3/8", "1/4", h),
            ("3/4", "0.3", 0),
        ):
            cell = v.ball(F(p)), v.ball(F(q)), v.arb(0), v.arb(0)
            low = v.Optimistic.of([cell, cell], h, 0).delta(e).lower() / 2
            yield float(low) > float(F(p)) - float(F(q)) * math.exp(e) + 1e-12
        for mass in range(u // 2, u, u // 300):
            row = v.fmpz_poly([0, mass])
            left, right = map(int, v.Pessimistic(h, 0, row, 0).wider().p)
            share = mass / (1 + math.exp(h))
            yield left < share - 1e-6 or right < mass - share - 1e-6
    v.BITS.set(60)
    with ctx.workprec(120):
        noise = v.Noise("Gaussian", F(1), [(1, F(1))], v.HERE)
        cells = v.cells_of_noise(noise, h, 0.5)  # most of P lies beyond
        one = v.composed(v.Pessimistic, [(cells, 1)], h, 0)
        yield one.delta(1) < al.gaussian_delta(1.0, mu=1.0)


MUTANTS = """
.upper().ceil().fmpz()| .lower().floor().fmpz()
if q == 0:| if not low.is_finite():
at_p.get(label, 0) - up(-p)| at_p.get(label, 0) + up(p)
at_q.get(label, 0) + up(q)| at_q.get(label, 0) - up(-q)
at_q[label] = at_q.get(label, 0) + up(q)| at_q[label] = up(q)
other.q // unit() + fmpz_poly([1] * length)| other.q // unit()
p = self.p * other.p // unit()| p = -(-self.p * other.p // unit())
hidden = self.hidden * other.hidden| hidden = self.hidden + other.hidden - 1
self.q * up(ball(epsilon).exp())| self.q * -up(-ball(epsilon).exp())
mass = up(p)| mass = -up(-p)
infinite += mass| infinite += 0
ball(step)).upper().ceil()| ball(step)).lower().floor()
q * low.min(ball(i * step)).exp()| q * ball(i * step).exp()
min(mass, max(up(b), fmpz(0)))| min(mass, -up(-b))
at[j] = at.get(j, 0) + share| at[j] = at.get(j, 0) + mass - share
other.p // unit() + fmpz_poly([1] * length)| other.p // unit()
(other.p(1) + other.infinite)| other.infinite
* other.infinite) // unit() + 1| * other.infinite) // unit()
truncate(b - a) + low| truncate(b - a)
self.infinite + high| self.infinite
enumerate((self.step, -self.step))| enumerate((-self.step, self.step))
odd * up(1 / (1 + ball(h).exp()))| odd * -up(-1 / (1 + ball(h).exp()))
share += fmpz_poly([1] * len(odd))| share += 0
[fmpz(0)] * (first % 2) + masses| masses
math.floor(epsilon / self.step) + 1)| math.floor(epsilon / self.step) + 2)
return (self.infinite + tail(1) - less)| return (tail(1) - less)
if count >> left & 1:| if False:
while result.step < other.step:| while False:
(r - p, s - q, low, high)| (r - p, s - q, low, low)
(r - p, s - q, low, high)| (r - p, s - q, high, high)
(1 - p, 1 - q, low, top)| (1 - p, 1 - q, low, low)
[([(q, p, -b, -a) for| [([(q, p, a, b) for
"""


@pytest.fixture(scope="module")
def cases():
    """Quick ones first; nothing is wrong before something is broken."""
    timed, start = [], time.process_time()
    assert not any(by_hand(verify))
    for case in sharp():
        assert not wrong(verify, case)
        timed.append((time.process_time() - start, len(timed), case))
        start = time.process_time()
    return [case for *_, case in sorted(timed)]


@pytest.mark.parametrize("mutant", MUTANTS.strip().splitlines())
def test_a_mutant_is_caught(cases, mutant):
    old, new = mutant.split("| ")
    assert old in SOURCE
    broken = sys.modules["broken"] = types.ModuleType("broken")
    exec(SOURCE.replace(old, new, 1), vars(broken))
    assert any(by_hand(broken)) or any(wrong(broken, x) for x in cases)


RUNS = [
    al.Release(al.Gaussian(2.0), al.Poisson(0.02), 50),
    al.Release(al.Laplace(3.0), count=20),
    al.Release(al.PureDP(0.1), al.FixedBatch(5, 50), 40),
    al.Release(al.DiscreteGaussian(3.0, 2), al.Poisson(0.1), 7),
    al.Release(al.MixtureOfGaussians([0, 1], [0.9, 0.1], 1.0), count=9),
    [al.Release(al.RandomizedResponse(0.7)), al.Release(al.Gaussian(1.5))],
]
LIES = [(("upper", 0), 0.997), (("upper", 1), 0.9), (("lower", 0), 1.003)]
LIES += [(("lower", 1), 1.1), (("run", 0, 2), 2), (("group_size",), 70)]
PLACES = [["adjacency"], ["bits"], ["group_size"], ["upper"], ["upper", 0]]
PLACES += [["lower", 1], ["run"], ["run", 0, 0], ["run", 0, 0, 1]]
PLACES += [["run", 0, 1], ["run", 0, 1, 1], ["run", 0, 2], ["step"]]
VALUES = """-1 true null "1" [1] {} 1e9 -0.5 NaN Infinity 1e99999 -1e-99999 []
"Gaussian" [[]] ["Gaussian"] ["Poisson",2] ["FixedBatch",9,9]""".split()
VALUES += ["9" * 5000, "0." + "1" * 5000]


def forgeries(honest):
    def changed(text, path, value):
        at = found = json.loads(text)
        for key in path[:-1]:
            at = at[key]
        if not isinstance(value, str):  # a factor
            value = str(value * at[path[-1]])
        at[path[-1]] = "?"
        return json.dumps(found).replace('"?"', value)

    for text, (path, factor) in product(honest, LIES):
        yield changed(text, path, factor)
    for path, value in product(PLACES, VALUES):
        yield changed(honest[0], path, value)
    end = honest[0][:-1]
    yield from ("", "{}", "[]", "null", "[" * 99_999, end, "\0")
    yield from (end + ', "bits": 84}', end + ', "note": "proven"}')


@pytest.fixture(scope="module")
def honest():
    return [al.certificate(x, delta=1e-5, adjacency="remove") for x in RUNS]


def test_honest_files_are_proven_and_forged_ones_refused(honest):
    assert all(verify.verify(x) == "PROVEN" and len(x) < 300 for x in honest)
    forged = list(forgeries(honest))
    assert len(forged) > 200
    for text in forged:
        verdict = verify.verify(text)
        assert not verdict and verdict.startswith("NOT PROVEN: "), text
        assert len(verdict) < 260


def test_another_thread_may_change_the_precision_of_balls():
    verify.BITS.set(70)
    with ctx.workprec(999):
        assert verify.unit() == 2**70


def test_what_follows_a_million_characters_counts(honest):
    assert verify.verify(honest[1] + " " * 10**6 + "no") == (
        "NOT PROVEN: The file is too long."
    )


def test_a_file_alone(tmp_path, honest):
    assert "accountlib" not in SOURCE.split('"""', 2)[2]
    (tmp_path / "verify.py").write_text(SOURCE)
    (tmp_path / "good").write_text(honest[1])
    (tmp_path / "bad").write_bytes(b"\xff" + honest[1].encode())
    ways = ["-I", tmp_path / "verify.py"], ["-m", "accountlib", "verify"]
    for way, (name, code) in product(ways, (("good", 0), ("bad", 1))):
        command = [sys.executable, *way, tmp_path / name]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == code and not done.stderr
        assert done.stdout.startswith("NOT PROV" if code else "PROVEN\n")


def test_what_gets_no_certificate():
    run = al.Release(al.PureDP(1.0))
    with pytest.raises(NotImplementedError, match="No theorem"):
        al.certificate([run], delta=1e-5, adjacency="add", group_size=2)
    with pytest.raises(ValueError, match="nothing to certify"):
        al.certificate(run, delta=0.0, adjacency="add")


if __name__ == "__main__":
    count, seed = map(int, sys.argv[1:])
    rng = np.random.default_rng(seed)
    print(sum(coarse(rng) for _ in range(count)), "checked, none wrong")
