"""Certificates that the package makes: replayed, kept, and refused."""

import math
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import accountlib as al
from accountlib.practice.saved_tables import with_certificate
from accountlib.proofs import balls, making
from accountlib.proofs.balls import ball, flint
from accountlib.proofs.certificates import as_data
from accountlib.proofs.making import next_share
from accountlib.proofs.sums import runs_of

TRAINING = al.Release(al.Gaussian(0.8), al.Poisson(0.001), count=10_000)
STEPS = al.Release(al.Gaussian(2.0), al.FixedBatch(10, 1000), count=100)
# A name, releases, a question; the engine's ends are proven as they are.
RUNS: dict[str, tuple[Any, dict[str, Any]]] = {
    "training": (TRAINING, {"delta": 1e-6, "adjacency": "add-or-remove"}),
    "one run": (
        al.Release(al.Gaussian(0.05)),
        {"delta": 1e-6, "adjacency": "remove"},
    ),
    "gaussians merge": (
        [al.Release(al.Gaussian(3.0), count=7), al.Release(al.Gaussian(9.0))],
        {"epsilon": 2.0, "adjacency": "substitute"},
    ),
    "a billion": (
        al.Release(al.Gaussian(1.0), al.Poisson(1e-4), count=10**9),
        {"delta": 1e-6, "adjacency": "add"},
    ),
    "laplace": (
        al.Release(al.Laplace(2.0), count=40),
        {"delta": 1e-6, "adjacency": "add"},
    ),
    "laplace exchanged": (
        al.Release(al.Laplace(4.0), al.Poisson(0.1), count=30),
        {"delta": 1e-4, "adjacency": "substitute"},
    ),
    "response": (
        al.Release(al.RandomizedResponse(0.6), count=100),
        {"epsilon": 3.0, "adjacency": "add"},
    ),
    "sampled response": (
        al.Release(al.RandomizedResponse(0.3124), al.Poisson(0.0274), 714),
        {"epsilon": 0.124, "adjacency": "zero-out"},
    ),
    "guarantees": (
        al.Release(al.PureDP(0.1), al.Poisson(0.1), count=1000),
        {"delta": 1e-6, "adjacency": "remove"},
    ),
    "all is told": (
        al.Release(al.ApproximateDP(0.1, 1e-8), count=30),
        {"delta": 1e-6, "adjacency": "add-or-remove"},
    ),
    "integers": (
        al.Release(al.DiscreteGaussian(5.0), count=10),
        {"delta": 1e-8, "adjacency": "remove"},
    ),
    "sampled integers": (
        al.Release(al.DiscreteLaplace(3.0, 2), al.Poisson(0.05), count=20),
        {"epsilon": 0.5, "adjacency": "substitute"},
    ),
    "lists": (
        al.Release(al.DiscretePair([0.5, 0.3, 0.2], [0.2, 0.3, 0.5]), count=9),
        {"epsilon": 1.0, "adjacency": "remove"},
    ),
    "a mixture": (
        al.Release(al.MixtureOfGaussians([0, 1, 2], [0.5, 0.25, 0.25], 3.0)),
        {"delta": 1e-5, "adjacency": "add"},
    ),
    "a group": (
        al.Release(al.Gaussian(1.0), al.Poisson(0.1), count=40),
        {"delta": 1e-5, "adjacency": "remove", "group_size": 2},
    ),
    "batches": (STEPS, {"delta": 1e-6, "adjacency": "substitute"}),
    "three kinds": (
        [
            STEPS,
            al.Release(al.Laplace(20.0), count=4),
            al.Release(al.Gaussian(1.0), al.Poisson(0.01), count=200),
        ],
        {"epsilon": 1.5, "adjacency": "remove"},
    ),
    "nothing": (
        al.Release(al.Gaussian(1.0), al.Poisson(0.0), count=9),
        {"epsilon": 0.5, "adjacency": "remove"},
    ),
}


def engine(releases: Any, how: dict[str, Any]) -> al.Bound:
    """What the engine answers to the same question."""
    call: Any = al.epsilon if "delta" in how else al.delta
    return call(releases, **how)


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("name", RUNS)
def test_the_ends_of_the_engine_are_proven(name):
    releases, how = RUNS[name]
    claim = al.certificate(releases, **how)
    assert claim.bound == engine(releases, how)
    read = al.Certificate.from_json(claim.to_json())
    assert read == claim and len(claim.to_json()) < 20_000
    found = al.replay(read)
    assert found.proven, str(found)
    assert all(step.bits <= 512 for step in found.steps)


@pytest.mark.parametrize(
    "runs",
    [
        [al.Release(al.PureDP(0.1), count=30)],
        [
            al.Release(al.Laplace(2.0), al.Poisson(0.1), count=1000),
            al.Release(al.RandomizedResponse(0.5), count=3),
        ],
    ],
)
def test_delta_zero_is_decided_by_all_losses_at_once(runs):
    claim = al.certificate(runs, delta=0.0, adjacency="remove")
    known = al.epsilon(runs, delta=0.0, adjacency="remove")
    assert claim.bound == known and known.lower > 0
    below = next(x for x in claim.proofs if x.side == "lower")
    assert below.way == "all at once" and al.replay(claim).proven
    high = known.upper * (1 + 1e-12)
    for change in (
        {"bound": al.Bound(high, high)},
        {"proofs": (replace(below, side="upper"),)},
        {"proofs": (replace(below, grids=()),)},
    ):
        assert not al.replay(replace(claim, **change)).proven


def test_a_bound_for_delta_is_claimed_as_it_is_shown(monkeypatch):
    """An end that no proof reaches moves to what the last try shows."""
    run = al.Release(al.DiscretePair([0.6, 0.4], [0.3, 0.7]), count=9)
    known = al.delta(run, epsilon=1.0, adjacency="remove")
    middle = (known.lower + known.upper) / 2
    asked = al.Bound(middle, middle)  # one end of it is false
    monkeypatch.setattr(making, "engine_bound", lambda *_: asked)
    claim = al.certificate(run, epsilon=1.0, adjacency="remove")
    assert claim.bound.lower <= middle <= claim.bound.upper
    assert 0 < claim.bound.width < 1e-3 and al.replay(claim).proven


def test_gaussian_steps_are_one_law_in_lists():
    """The engine is asked about the merged pair, and finds a fine grid."""
    runs = [
        al.Release(al.Laplace(9.0), count=3),
        al.Release(al.Gaussian(6.0), count=8),
    ]
    claim = al.certificate(runs, epsilon=0.2, adjacency="add")
    assert claim.bound == al.delta(runs, epsilon=0.2, adjacency="add")
    assert al.replay(claim).proven


@pytest.mark.parametrize("begin", [-5, 0, 17])
@pytest.mark.parametrize("size, last", [(101, 50), (101, 7), (35, 17)])
def test_the_fast_transform_is_the_transform(begin, size, last):
    masses = [(begin + 3 * i, 1 / ball(i + 1)) for i in range(30)]
    fast = balls.chirp_frequencies(masses, size, last)
    assert len(fast) == last + 1
    for k, value in enumerate(fast):
        turns = [ball(Fraction(2 * k * i, size)) for i, _ in masses]
        exact = flint().acb(0)
        for turn, (_, mass) in zip(turns, masses, strict=True):
            exact += mass * flint().acb(turn).exp_pi_i()
        assert value.overlaps(exact) and value.real.rad() < 1e-10


def test_infinite_ends():
    told = al.Release(al.ApproximateDP(0.1, 1e-6), count=30)
    claim = al.certificate(told, delta=1e-5, adjacency="remove")
    assert claim.bound == al.Bound(math.inf, math.inf)
    assert al.replay(claim).proven
    louder = replace(claim, given=4e-5)
    assert not al.replay(louder).proven


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_ends_that_are_moved_inward_are_refused(side):
    claim = al.certificate(TRAINING, delta=1e-6, adjacency="remove")
    low, high = claim.bound
    room = 2e-3 * high
    moved = (low + room, high + room) if side == "lower" else (0.0, low - room)
    found = al.replay(replace(claim, bound=al.Bound(*moved)))
    assert not found.proven
    assert any(side in step.words for step in found.steps if not step.proven)


# --- what is not covered


@pytest.mark.parametrize(
    ("release", "how"),
    [
        (al.Release(al.PureDP(1.0)), {"group_size": 2}),
        (al.Release(al.DiscreteGaussian(600.0)), {}),
    ],
)
def test_refusals(release, how):
    with pytest.raises(NotImplementedError, match="no curve in balls"):
        al.certificate(release, delta=1e-6, adjacency="remove", **how)


def test_a_subclass_is_no_mechanism_of_this_book():
    class Louder(al.Gaussian):
        """Its pair may be anything."""

    run = al.Release(Louder(1.0))
    with pytest.raises(NotImplementedError, match="no curve in balls"):
        al.certificate(run, delta=1e-6, adjacency="add")
    with pytest.raises(NotImplementedError, match="no certificate can hold"):
        as_data(Louder(1.0))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({}, "exactly one of epsilon and delta"),
        ({"delta": 0.1, "epsilon": 1.0}, "exactly one of epsilon and delta"),
        ({"delta": 2.0}, "delta must lie in"),
        ({"epsilon": math.inf}, "epsilon must"),
        ({"delta": math.nan}, "delta must"),
        ({"delta": 1e-6, "group_size": 0}, "group_size must"),
    ],
)
def test_bad_input(how, words):
    with pytest.raises(ValueError, match=words):
        al.certificate(TRAINING, adjacency="remove", **how)
    with pytest.raises(ValueError, match="certificate must be a Certificate"):
        al.replay("a certificate")


def test_fixed_batches_of_all_records_are_refused_by_a_checker():
    """The smaller neighbour cannot fill them: no engine is asked here."""
    claim = al.certificate(
        al.Release(al.Gaussian(1.0)), delta=1e-5, adjacency="remove"
    )
    full = al.Release(al.Gaussian(1.0), al.FixedBatch(9, 9))
    with pytest.raises(ValueError, match="batch_size must lie in"):
        al.replay(replace(claim, releases=(full,)))


# --- files, reports, parts


def test_from_a_shell(tmp_path):
    claim = al.certificate(
        al.Release(al.Gaussian(1.0)), epsilon=1.0, adjacency="remove"
    )
    right, wrong = tmp_path / "right.json", tmp_path / "wrong.json"
    right.write_text(claim.to_json(), "utf-8")
    forged = replace(claim, bound=al.Bound(0.0, 0.12))
    wrong.write_text(forged.to_json(), "utf-8")
    call = [sys.executable, "-m", "accountlib", "verify"]
    done = subprocess.run([*call, right], capture_output=True, text=True)
    assert done.returncode == 0 and "proven" in done.stdout
    assert "Release(mechanism=Gaussian" in done.stdout
    both = [*call, right, wrong]
    done = subprocess.run(both, capture_output=True, text=True)
    assert done.returncode == 1 and "NOT PROVEN" in done.stdout
    done = subprocess.run([*call, __file__], capture_output=True, text=True)
    assert done.returncode == 2 and "text must be" in done.stderr


def test_a_report_names_its_certificate():
    run = al.Release(al.Gaussian(2.0), count=3)
    report = al.report(run, adjacency="remove", notes="nothing was tuned")
    claim = al.certificate(run, delta=1e-6, adjacency="remove")
    named = with_certificate(report, claim)
    assert named.notes.startswith("nothing was tuned; certificate: epsilon in")
    assert named.notes in str(named)
    other = al.certificate(run, delta=1e-6, adjacency="substitute")
    with pytest.raises(ValueError, match="adjacency of the report"):
        with_certificate(report, other)


def test_without_the_library(monkeypatch):
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(balls, "import_module", missing)
    with pytest.raises(ImportError, match=r"accountlib\[verify\]"):
        al.certificate(TRAINING, delta=1e-6, adjacency="remove")


def test_the_checker_uses_no_engine():
    """What replay computes with comes from definitions, not from tables."""
    used = {"accountlib.proofs.certificates"}
    for _ in range(6):
        for name in list(used):
            module = import_module(name)
            text = Path(module.__file__ or "").read_text("utf-8")
            for line in text.splitlines():
                if line.startswith("from accountlib.proofs"):
                    used.add(line.split()[1])
                assert not line.startswith("from accountlib.engine"), name
                assert "numpy" not in line and "scipy" not in line, name
    assert len(used) == 6  # balls, laws, epochs, samplers, sums, itself


def test_small_parts():
    assert runs_of([5]) == ((5, 1, 1),)
    assert runs_of([0, 3, 6, 7]) == ((0, 3, 3), (7, 1, 1))
    assert next_share([(0.9, 2.0), (0.45, 2.0)], 1.0) == 0.0
    with flint().ctx.workprec(64):
        assert ball(0.1) != ball(1) / 10
