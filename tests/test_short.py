"""Files that people copy: alone, against the engine, against many digits."""

import importlib
import math
import os
import shutil
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import accountlib as al
from accountlib.beyond.one_run import OneRun
from tests import ROOT
from tests.exact_tradeoffs import gaussian_profile

FOLDER = ROOT / "accountlib" / "short"
NAMES = "accountant audit gaussian gdp groups rdp".split()
BESIDE = {"groups": ["accountant"], "gdp": ["accountant"]}
BOTH = "add-or-remove"


def short(name):
    return importlib.import_module(f"accountlib.short.{name}")


def poisson_run(noise, rate, steps):
    return al.Release(al.Gaussian(noise), al.Poisson(rate), count=steps)


def between(rng, low, high):
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_runs_alone_and_says_what_it_is(name, tmp_path):
    for file in [name, *BESIDE.get(name, [])]:
        shutil.copy(FOLDER / f"{file}.py", tmp_path)
    code = "import runpy, sys; sys.modules['accountlib'] = None; "
    code += f"runpy.run_path('{name}.py', run_name='__main__')"
    command = [sys.executable, "-W", "error", "-c", code]
    env = {x: y for x, y in os.environ.items() if x != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True)
    said = (done.stdout + done.stderr).decode()
    assert "failed=0" in said and "attempted=0" not in said, said
    text = (FOLDER / f"{name}.py").read_text("utf-8")
    head = text.splitlines()
    assert al.__version__ in head[0] and "Apache-2.0" in head[1]
    assert ("accountant.py beside" in head[2]) == (name in BESIDE)
    assert "Not proven" in text and "20" in text  # a paper's year


def test_accountant_and_engine_overlap():
    rng, accountant = np.random.default_rng(), short("accountant")
    for _ in range(3):
        noise, rate = between(rng, 0.3, 30), between(rng, 1e-6, 1)
        steps, d = int(between(rng, 1, 1e5)), between(rng, 1e-20, 0.1)
        run, what = poisson_run(noise, rate, steps), (noise, rate, steps, d)
        low, high = accountant.epsilon(*what)
        engine = al.epsilon(run, delta=d, adjacency=BOTH)
        assert max(low, engine.lower) <= min(high, engine.upper), what
        e = min(float(engine.upper) * rng.uniform(0.3, 1.1), 1000.0)
        low, high = accountant.delta(noise, rate, steps, e)
        engine = al.delta(run, epsilon=e, adjacency=BOTH)
        assert max(low, engine.lower) <= min(high, engine.upper), (*what, e)


def test_accountant_is_narrow_far_out_and_finds_noise():
    accountant = short("accountant")
    # Beyond every loss of the add direction delta must not jump to 1.
    low, high = accountant.delta(0.747, 0.006165, 65, 0.4427)
    assert 0.99 * high < low < high < 1e-3
    noise = accountant.calibrate_noise(1.0, 1, 2.0, 1e-6)
    enough, less = (
        al.gaussian_epsilon(1e-6, mu=1 / x) for x in (noise, 0.997 * noise)
    )
    assert enough <= 2.0 < less
    assert accountant.calibrate_noise(1.0, 10**7, 1e-3, 1e-9) == math.inf


@mp.workdps(420)
def test_gaussian_against_420_digits():
    rng, gaussian = np.random.default_rng(), short("gaussian")
    for _ in range(25):
        c, mu = between(rng, 1e-3, 1e3), between(rng, 1e-5, 90)
        noise, d = c / mu, between(rng, 1e-200, 0.9)
        e = min(max(0.0, mu * (rng.uniform(-5, 30) + mu / 2)), 1000.0)
        truth = gaussian_profile(e, c / mp.mpf(noise))
        if truth > 1e-200:
            found = gaussian.delta(e, noise, c)
            assert truth <= found < truth * (1 + 1e-8 + 1e-9 / mu)
        found = gaussian.epsilon(d, noise, c)
        mu = c / mp.mpf(noise)
        assert found == math.inf or gaussian_profile(found, mu) <= d
        e = between(rng, 1e-3, 1e2)
        found = gaussian.sigma(e, d, c)
        if 0.0101 * c < found < math.inf:
            mu = c / mp.mpf(found)
            less = gaussian_profile(e, mu / 0.999)
            assert gaussian_profile(e, mu) <= d < less


def test_rdp_at_real_orders_and_above_the_truth():
    rng, rdp = np.random.default_rng(), short("rdp")
    for _ in range(10):
        noise, rate = between(rng, 0.2, 50), between(rng, 1e-8, 1)
        real = rdp.compute_rdp(rate, noise, 1, [1.5, 2, 2 + 1e-9, 2.5, 3])
        assert real[0] <= 1.001 * real[1] and real[3] <= 1.001 * real[4]
        assert real[1] * (1 - 1e-8) <= real[2] <= real[1] * (1 + 3e-3)
        steps, d = int(between(rng, 1, 1e5)), between(rng, 1e-12, 0.01)
        run = poisson_run(noise, rate, steps)
        least = al.epsilon(run, delta=d, adjacency=BOTH).lower
        assert rdp.epsilon(rate, noise, steps, d) >= least
    plain = rdp.compute_rdp(1.0, 2.0, 3, [2, 10, 1.5])
    assert np.allclose(plain, [0.75, 3.75, 0.5625], rtol=1e-4)


@mp.workdps(60)
def test_rdp_of_real_orders_against_60_digits():
    rng, rdp = np.random.default_rng(), short("rdp")
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = [*map(mp.mpf, weights / weights.sum())]
    for _ in range(100):
        s, q = between(rng, 1, 1000), between(rng, 1e-6, 1)
        a = 1 + between(rng, 1.0001e-6, 4)
        rise = [
            q * mp.expm1((mp.mpf(z) - 1 / (2 * mp.mpf(s))) / s) for z in nodes
        ]
        terms = [(1 + x) ** mp.mpf(a) - 1 - a * x for x in rise]
        truth = mp.log1p(mp.fdot(weights, terms)) / (a - 1)
        found = rdp.compute_rdp(q, s, 1, [a])[0]
        assert found > truth * (1 - mp.mpf(1e-9))
        assert truth < 1e-12 or found < truth * (1 + mp.mpf(3e-3)), (q, s, a)


def test_audit_is_the_books():
    rng, audit = np.random.default_rng(), short("audit")
    for _ in range(30):
        m = int(between(rng, 1, 1e5))
        r = int(rng.integers(1, m + 1))
        v = int(rng.integers(r // 2, r + 1))
        d, e = rng.choice([0.0, between(rng, 1e-9, 0.01)]), rng.uniform(0, 6)
        run, found = OneRun(m, r, v), audit.p_value(m, r, v, eps=e, delta=d)
        later = e + np.append(0, np.geomspace(0.01, 40, 60))
        book = [run.p_value(x, delta=d) for x in later]
        assert min(book) <= found
        assert found <= book[0] * (1 + 1e-8) or book[0] < 1e-280
        low = audit.epsilon_at_least(m, r, v, delta=d)
        assert -0.002 <= low - run.epsilon(delta=d) <= 1e-9


def test_overwhelming_evidence_has_a_tiny_p_value():
    p_value = short("audit").p_value
    for what in ((2000, 2000, 1990), (10**6, 10**5, 10**5)):
        for d in (0, 1e-9):
            assert 1e-290 < p_value(*what, eps=0, delta=d) < 1e-3, (what, d)
    assert p_value(2000, 2000, 1990, eps=0, delta=0) < 1e-200
    assert p_value(10, 5, 5, eps=1000, delta=0) == 1


KNOWN = dict(math=math, np=np, Fraction=Fraction, Decimal=Decimal)
BAD = """
accountant.epsilon(0.8, 64, 10, 1e-6): rate = 64 is no int or float in [1e-08,
accountant.epsilon(0.8, 0.1, 2.5, 1e-6): steps = 2.5 is no int in
accountant.delta('1', 0.1, 2, 1.0): noise_multiplier = '1' is no int or
accountant.epsilon(1.0, 0.1, 2, math.nan): delta = nan is no int or float
accountant.calibrate_noise(0.1, 2, -1, 0.1): target_epsilon = -1 is no int
accountant.epsilon(np.float32(0.8), 0.1, 2, 0.1): is no int or float in
accountant.epsilon(0.8, np.float16(0.1), 2, 0.1): is no int or float in
accountant.epsilon(0.8, Fraction(1, 9), 2, 0.1): rate = Fraction(1, 9) is no
accountant.epsilon(0.8, 0.1, 2, Decimal('0.1')): delta = Decimal('0.1') is no
gaussian.sigma(1.0, 5): delta = 5 is no int or float in [1e-200, 1]
gaussian.delta(1.0, 1.0, 0): sensitivity = 0 is no int or float in [1e-100,
gaussian.delta(1.0, Fraction(1), 1.0): sigma = Fraction(1, 1) is no int or
gaussian.delta(1.0, np.float32(1), 1.0): is no int or float in
rdp.compute_rdp(0.1, 1.0, 1, [7.5]): orders = [7.5] is no list of numbers
rdp.compute_rdp(0.1, 1.0, 1, [2, 5.1]): from 2 to 10000 or real from 1.000001
rdp.compute_rdp(0.1, 1.0, 1, [math.nan]): orders = [nan] is no list
rdp.compute_rdp(0.1, 1.0, 1, [2, '2']): orders = [2, '2'] is no list
rdp.compute_rdp(0.1, 1.0, 1, 2): orders = 2 is no list
rdp.compute_rdp(0.1, 1.0, 1, [np.float32(2)]): is no list
rdp.compute_rdp(np.float32(0.1), 1.0, 1, [2]): is no int or float in
audit.p_value(9, 10, 1, eps=1.0, delta=0): r = 10 is no int in [1, 9]
audit.p_value(9, 9, 1, eps=np.float16(1), delta=0): is no int or float in
groups.epsilon(65, 9.0, 0.1, 1, 0.1): size = 65 is no int in [1, 64]
groups.epsilon(4, np.float32(9), 0.1, 1, 0.1): is no int or float in
gdp.mu(1.0, 0.1, 10, cutoff=0.2): cutoff = 0.2 is no int or float in [1e-20,
gdp.mu(1.0, np.float32(0.1), 10): is no int or float in [1e-08, 1]
"""


@pytest.mark.parametrize("row", BAD.strip().splitlines())
def test_what_lies_outside_is_refused_by_one_sentence(row):
    call, said = row.split(": ")
    with pytest.raises(ValueError) as found:
        eval(call, KNOWN | {name: short(name) for name in NAMES})
    assert said in str(found.value) and "\n" not in str(found.value)


def test_numbers_of_numpy_with_all_digits_are_served():
    accountant, orders = short("accountant"), np.array([2, 3], np.int64)
    what = np.float64(0.8), np.float64(0.01), np.int64(10), np.float64(1e-6)
    assert accountant.epsilon(*what) == accountant.epsilon(0.8, 0.01, 10, 1e-6)
    found = [
        short("rdp").compute_rdp(0.1, 1, 2, x) for x in (orders, [2.0, 3])
    ]
    assert np.all(found[0] == found[1])
