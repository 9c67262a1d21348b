"""Files that people copy: alone, against the engine, against many digits."""

import importlib
import math
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from mpmath import mp

import accountlib as al
from accountlib.beyond.one_run import OneRun
from tests import ROOT

FOLDER = ROOT / "accountlib" / "short"
NAMES = sorted(x.stem for x in FOLDER.glob("*.py") if x.stem != "__init__")
BESIDE = {"groups": ["accountant"], "gdp": ["accountant"]}


def short(name):
    return importlib.import_module(f"accountlib.short.{name}")


def poisson_run(noise, rate, steps):
    return al.Release(al.Gaussian(noise), al.Poisson(rate), count=steps)


def log_uniform(rng, low, high):
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


def test_all_are_there():
    assert NAMES == "accountant audit gaussian gdp groups rdp".split()


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_runs_alone_and_says_what_it_is(name, tmp_path):
    for file in [name, *BESIDE.get(name, [])]:
        shutil.copy(FOLDER / f"{file}.py", tmp_path)
    code = "import runpy, sys; sys.modules['accountlib'] = None; "
    code += f"runpy.run_path('{name}.py', run_name='__main__')"
    said = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        env={x: y for x, y in os.environ.items() if x != "PYTHONPATH"},
        capture_output=True,
        text=True,
    )
    assert "failed=0" in said.stdout, said.stdout + said.stderr
    assert "attempted=0" not in said.stdout
    text = (FOLDER / f"{name}.py").read_text("utf-8")
    head = text.splitlines()[:2]
    assert al.__version__ in head[0] and "Apache-2.0" in head[1]
    assert ("Not proven" in text) and ("accountant.py beside" in text) == (
        name in BESIDE
    )


def test_accountant_and_engine_overlap():
    rng, accountant = np.random.default_rng(), short("accountant")
    for _ in range(3):
        noise, rate = log_uniform(rng, 0.3, 30), log_uniform(rng, 1e-6, 1)
        steps, d = int(log_uniform(rng, 1, 1e5)), log_uniform(rng, 1e-20, 0.1)
        run = poisson_run(noise, rate, steps)
        low, high = accountant.epsilon(noise, rate, steps, d)
        engine = al.epsilon(run, delta=d, adjacency="add-or-remove")
        what = noise, rate, steps, d
        assert max(low, engine.lower) <= min(high, engine.upper), what
        e = min(float(engine.upper) * rng.uniform(0.3, 1.1), 1000.0)
        low, high = accountant.delta(noise, rate, steps, e)
        engine = al.delta(run, epsilon=e, adjacency="add-or-remove")
        assert max(low, engine.lower) <= min(high, engine.upper), (*what, e)


def test_accountant_is_narrow_in_practice_and_finds_noise():
    accountant = short("accountant")
    for what in ((0.8, 0.001, 10_000, 1e-6), (1.1, 0.01, 2000, 1e-5)):
        low, high = accountant.epsilon(*what)
        assert 0.998 * high < low < high
    # Beyond every loss of the add direction delta must not jump to 1.
    low, high = accountant.delta(0.747, 0.006165, 65, 0.4427)
    assert 0.99 * high < low < high < 1e-3
    noise = accountant.calibrate_noise(0.02, 100, 2.0, 1e-6)
    assert accountant.epsilon(noise, 0.02, 100, 1e-6)[1] <= 2.0
    assert (
        al.epsilon(
            poisson_run(0.997 * noise, 0.02, 100),
            delta=1e-6,
            adjacency="add-or-remove",
        ).lower
        > 2.0
    )


def test_gaussian_against_420_digits():
    rng, gaussian = np.random.default_rng(), short("gaussian")

    def precise(e, sigma, c):
        mu = mp.mpf(c) / mp.mpf(sigma)
        a = mp.mpf(e) / mu - mu / 2
        tails = (mp.erfc(x / mp.sqrt(2)) / 2 for x in (a, a + mu))
        first, second = tails
        return first - mp.exp(mp.mpf(e)) * second

    with mp.workdps(420):
        for _ in range(20):
            c, mu = log_uniform(rng, 1e-3, 1e3), log_uniform(rng, 1e-5, 90)
            sigma, d = c / mu, log_uniform(rng, 1e-200, 0.9)
            e = min(max(0.0, mu * (rng.uniform(-5, 30) + mu / 2)), 1000.0)
            truth = precise(e, sigma, c)
            if truth > 1e-200:
                found = gaussian.delta(e, sigma, c)
                assert truth <= found < truth * (1 + 1e-8 + 1e-9 / mu)
            found = gaussian.epsilon(d, sigma, c)
            if found < math.inf:
                assert precise(found, sigma, c) <= d
            found = gaussian.sigma(e := log_uniform(rng, 1e-3, 1e2), d, c)
            if 0.0101 * c < found < math.inf:
                assert precise(e, found, c) <= d < precise(e, 0.999 * found, c)


def test_rdp_is_the_sum_and_above_the_truth():
    rng, rdp = np.random.default_rng(), short("rdp")
    for _ in range(10):
        noise, rate = log_uniform(rng, 0.2, 50), log_uniform(rng, 1e-8, 1)
        curve = [al.gaussian_rdp(2.0, noise_multiplier=noise)]
        orders = rng.integers(2, 500, 4).tolist()
        exact = al.poisson_rdp(
            orders,
            rdp=lambda a, x=curve: a / 2 * x[0],
            rate=rate,
            bound="tight",
        )
        found = rdp.compute_rdp(rate, noise, 1, orders)
        assert np.all(np.abs(found / exact - 1) < 1e-9)
        # (a - 1) R(a) is convex and R does not fall.
        real = rdp.compute_rdp(rate, noise, 1, [1.5, 2, 2 + 1e-9, 2.5, 3])
        assert real[0] <= real[1] * (1 + 1e-3) and real[3] <= real[4] * 1.001
        assert real[1] * (1 - 1e-9) <= real[2] <= real[1] * (1 + 2e-3)
        steps, d = int(log_uniform(rng, 1, 1e5)), log_uniform(rng, 1e-12, 0.01)
        run = poisson_run(noise, rate, steps)
        truth = al.epsilon(run, delta=d, adjacency="add-or-remove")
        assert rdp.epsilon(rate, noise, steps, d) >= truth.lower
    whole = rdp.compute_rdp(1.0, 2.0, 3, [2, 10, 1.5])
    assert np.allclose(whole, [0.75, 3.75, 0.5625], rtol=1e-4)


def test_audit_is_the_books():
    rng, audit = np.random.default_rng(), short("audit")
    for _ in range(30):
        m = int(log_uniform(rng, 1, 1e5))
        r = int(rng.integers(1, m + 1))
        v = int(rng.integers(r // 2, r + 1))
        d = 0.0 if rng.random() < 0.2 else log_uniform(rng, 1e-9, 0.01)
        run, e = OneRun(m, r, v), float(rng.uniform(0, 6))
        exact = run.p_value(e, delta=d)
        found = audit.p_value(m, r, v, eps=e, delta=d)
        assert exact <= found
        assert found <= exact * (1 + 1e-8) or exact < 1e-280
        low, book = (
            audit.epsilon_at_least(m, r, v, delta=d),
            run.epsilon(delta=d),
        )
        assert book - 0.002 <= low <= book + 1e-9


def test_groups_and_mu_against_the_engine():
    rng, groups, gdp = np.random.default_rng(), short("groups"), short("gdp")
    for _ in range(2):
        size = int(rng.integers(1, 33))
        noise = log_uniform(rng, max(0.3, size / 12), 20)
        rate, d = log_uniform(rng, 1e-5, 1), log_uniform(rng, 1e-12, 0.01)
        steps = int(log_uniform(rng, 1, 1e4))
        low, high = groups.epsilon(size, noise, rate, steps, d)
        engine = al.epsilon(
            poisson_run(noise, rate, steps),
            delta=d,
            adjacency="add-or-remove",
            group_size=size,
        )
        what = size, noise, rate, steps, d
        assert max(low, engine.lower) <= min(high, engine.upper), what
    noise, rate = log_uniform(rng, 0.6, 5), log_uniform(rng, 1e-3, 0.3)
    run = poisson_run(noise, rate, 500)
    engine = al.gdp(run, adjacency="add-or-remove", cutoff=1e-8)
    found = gdp.mu(noise, rate, 500, cutoff=1e-8)
    assert engine.mu_lower <= found < 1.02 * engine.mu


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            "accountant.epsilon(0.8, 64, 10, 1e-6)",
            "rate = 64 is not in [1e-08",
        ),
        ("accountant.epsilon(0.8, 0.1, 2.5, 1e-6)", "steps (whole) = 2.5"),
        ("accountant.delta('1', 0.1, 2, 1.0)", "noise_multiplier = '1'"),
        ("accountant.epsilon(1.0, 0.1, 2, math.nan)", "delta = nan is not in"),
        ("accountant.calibrate_noise(0.1, 2, -1, 0.1)", "target_epsilon = -1"),
        ("gaussian.sigma(1.0, 5)", "delta = 5 is not in [1e-200, 1]"),
        ("gaussian.delta(1.0, 1.0, 0)", "sensitivity = 0 is not in"),
        ("rdp.compute_rdp(0.1, 1.0, 1, [7.5])", "order = 7.5 is not in"),
        ("audit.p_value(9, 10, 1, eps=1.0, delta=0)", "r (whole) = 10"),
        ("groups.epsilon(65, 9.0, 0.1, 1, 0.1)", "size (whole) = 65"),
        ("gdp.mu(1.0, 0.1, 10, cutoff=0.2)", "cutoff = 0.2 is not in"),
    ],
)
def test_what_lies_outside_is_refused_by_one_sentence(call, said):
    with pytest.raises(ValueError, match="is not in") as found:
        eval(call, {"math": math} | {name: short(name) for name in NAMES})
    assert said in str(found.value)
