"""Tables from and to another library, and in files."""

import io
import json
import math
import pickle
import zipfile
from fractions import Fraction
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.counting.loss_tables import GridTooFine
from accountlib.practice.saved_tables import (
    from_pld_pmf,
    load_table,
    save_table,
    table_digest,
    table_head,
    to_pld_pmf,
    without_largest,
)

SIDES = ("upper", "lower", "buckets-upper", "buckets-lower")
SMALL = al.PrivacyLossDistribution(0.25, -2, [0.25, 0.0, 0.5], 0.25, "upper")


def imitation(**arguments: Any) -> SimpleNamespace:
    """What a table of the other library keeps."""
    parts = {
        "discretization": 0.5,
        "lower_loss": -1,
        "probs": np.array([0.25, 0.25, 0.5]),
        "infinity_mass": 0.0,
        "pessimistic_estimate": True,
    } | arguments
    return SimpleNamespace(**{f"_{name}": x for name, x in parts.items()})


def sparse(masses: Any, **arguments: Any) -> SimpleNamespace:
    pmf = imitation(loss_probs=masses, **arguments)
    del pmf._lower_loss, pmf._probs
    return pmf


def exact_delta(table: Any, epsilon: float) -> float:
    """A curve, with fractions for all that is added up."""
    total = Fraction(table.infinity_mass)
    for loss, mass in zip(table.losses, table.mass, strict=True):
        if loss > epsilon:
            total += Fraction(mass) * Fraction(-math.expm1(epsilon - loss))
    return float(total)


@pytest.fixture(name="dp")
def installed_library() -> ModuleType:
    """The library itself, where it is installed."""
    module: ModuleType = pytest.importorskip("dp_accounting")
    return module


# --- From and to


@pytest.mark.parametrize("seed", range(50))
def test_largest_losses_go_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mass = rng.dirichlet(np.ones(int(rng.integers(2, 50))))
    infinity = float(mass[-1]) * int(rng.integers(0, 2))
    amount = float(rng.choice([0.0, 1e-17, 1e-9, 0.3, 0.999, 1.5]))
    left, endless = without_largest(mass[:-1], infinity, amount)
    before = sum(map(Fraction, mass[:-1])) + Fraction(infinity)
    after = sum(map(Fraction, left)) + Fraction(endless)
    assert np.all(left >= 0) and np.all(left <= mass[:-1])
    assert 0 <= endless <= infinity
    assert after <= max(before - Fraction(amount), 0)
    assert before - after <= amount * (1 + 1e-12) + 1e-13
    touched = np.flatnonzero(left < mass[:-1])
    if len(touched):  # all above the lowest that was touched are gone
        assert np.all(left[touched[0] + 1 :] < 1e-12)


@pytest.mark.parametrize("bound", SIDES)
def test_there_and_back(bound: Any) -> None:
    pair = al.SampledPair(al.GaussianPair(1.0), 0.1)
    table = al.discretize(pair, step=0.01, bound=bound)
    arguments = to_pld_pmf(table)
    back = from_pld_pmf(imitation(**arguments))
    assert back.bound == bound.removeprefix("buckets-")
    assert np.array_equal(back.mass, table.mass)
    assert (back.step, back.first_index) == (table.step, table.first_index)
    for at in (0.0, 0.5, 2.0):
        gap = back.delta(at) - table.delta(at)
        assert -1e-16 <= gap <= 1e-12 if "upper" in bound else gap == 0
    arguments["probs"][0] = 0.5  # a copy
    assert table.mass[0] != 0.5


def test_sparse_tables_have_gaps() -> None:
    pmf = sparse({np.int64(3): 0.25, -2: 0.5, 0: 0.25})
    table = from_pld_pmf(pmf)
    assert table.first_index == -2
    assert table.mass.tolist() == [0.5, 0, 0.25, 0, 0, 0.25]
    with pytest.raises(GridTooFine):
        from_pld_pmf(sparse({0: 0.5, 10**12: 0.5}))


def test_missing_and_negative_masses_are_on_the_safe_side() -> None:
    probs = np.array([0.25, -1e-9, 0.75 - 1e-6])
    upper = from_pld_pmf(imitation(probs=probs))
    assert 1e-6 <= upper.infinity_mass <= 1.002e-6
    assert upper.mass.tolist() == [0.25, 0, 0.75 - 1e-6]
    probs = np.array([0.25, -1e-3, 0.75 + 2e-3])
    lower = from_pld_pmf(imitation(probs=probs, pessimistic_estimate=False))
    assert lower.bound == "lower"
    assert math.fsum(lower.mass) <= 1 - 1e-3 + 1e-15
    given = al.PrivacyLossDistribution(0.5, -1, np.maximum(probs, 0), 0.0)
    for at in (0.0, 0.3):
        assert lower.delta(at) <= exact_delta(given, at) - 1e-3 * 0.1


@pytest.mark.parametrize("upper", [True, False])
def test_misplaced_mass(upper: bool) -> None:
    rng = np.random.default_rng(3)
    for _ in range(100):
        mass = rng.dirichlet(np.ones(20))
        wrong = rng.normal(0, 1e-4, 20)
        moved = np.maximum(mass + wrong - wrong.mean(), 0)
        moved /= moved.sum()
        gap = np.maximum((mass - moved) * (1 if upper else -1), 0)
        true = al.PrivacyLossDistribution(0.1, -5, mass, 0.0)
        found = from_pld_pmf(
            imitation(
                discretization=0.1,
                lower_loss=-5,
                probs=moved,
                pessimistic_estimate=upper,
            ),
            misplaced=float(gap.sum()) + 1e-14,
        )
        for at in np.linspace(-0.5, 1.5, 21):
            if upper:
                assert found.delta(at) >= true.delta(at) - 1e-15
            else:
                assert found.delta(at) <= true.delta(at) + 1e-15


@pytest.mark.parametrize(
    "pmf",
    [
        None,
        0.5,
        SimpleNamespace(),
        sparse({}),
        sparse([0.5, 0.5]),
        sparse({0.5: 1.0}),
        sparse({0: "a"}),
        sparse({0: math.nan}),
        imitation(probs=np.array([])),
        imitation(probs=np.ones((2, 2)) / 4),
        imitation(probs=np.array([0.5, math.inf])),
        imitation(probs=np.array([0.5, 0.4])),
        imitation(probs=np.array([0.5, 0.6])),
        imitation(probs=np.array([1.1, -0.1])),
        imitation(lower_loss=0.5),
        imitation(discretization=0.0),
        imitation(discretization=math.nan),
        imitation(infinity_mass=-1e-9),
        imitation(infinity_mass=math.nan),
        imitation(pessimistic_estimate="no"),
        imitation(pessimistic_estimate=None),
    ],
)
def test_bad_tables(pmf: Any) -> None:
    with pytest.raises(ValueError, match="pmf|_disc|_infin|_pess"):
        from_pld_pmf(pmf)


@pytest.mark.parametrize("misplaced", [-1e-9, 1.5, math.nan, "1"])
def test_bad_arguments(misplaced: Any) -> None:
    with pytest.raises(ValueError, match="misplaced"):
        from_pld_pmf(imitation(), misplaced=misplaced)
    with pytest.raises(ValueError, match="table"):
        to_pld_pmf(imitation())


# --- The library itself


@pytest.mark.parametrize("mu", [0.1, 1.0])
def test_tables_of_the_library(dp: ModuleType, mu: float) -> None:
    make = dp.pld.privacy_loss_distribution.from_gaussian_mechanism
    count = 10
    for upper in (True, False):
        single = make(
            1 / mu,
            pessimistic_estimate=upper,
            value_discretization_interval=1e-3,
            use_connect_dots=upper,
        )
        for pld, times in ((single, 1), (single.self_compose(count), count)):
            table = from_pld_pmf(pld._pmf_remove, misplaced=1e-11)
            plain = from_pld_pmf(pld._pmf_remove)
            exact = al.gaussian_epsilon(1e-6, mu=mu * math.sqrt(times))
            ends = [x.epsilon(1e-6) for x in (table, plain)]
            theirs = pld.get_epsilon_for_delta(1e-6)
            assert abs(ends[1] - theirs) < 1e-6
            if upper:
                assert exact <= min(ends) and max(ends) < exact + 1e-3
            else:
                assert exact - 0.02 < min(ends) and max(ends) <= exact


def test_what_the_page_says_of_the_library(dp: ModuleType) -> None:
    make = dp.pld.privacy_loss_distribution.from_gaussian_mechanism
    fresh = make(1.0)
    assert abs(math.fsum(fresh._pmf_remove._probs) - 1 - 1.7e-8) < 1e-9
    assert fresh.self_compose(10)._pmf_remove._probs.min() < 0
    optimistic = make(1.0, pessimistic_estimate=False, use_connect_dots=False)
    assert optimistic._pmf_remove._infinity_mass == 0
    summed = optimistic.self_compose(10)._pmf_remove
    assert summed._infinity_mass == 1e-15
    table = from_pld_pmf(summed, misplaced=1e-12)
    assert table.epsilon(1e-16) < al.gaussian_epsilon(1e-16, mu=10**0.5)


def test_our_tables_in_the_library(dp: ModuleType) -> None:
    pair = al.GaussianPair(1.0)
    exact = al.gaussian_epsilon(1e-6, mu=1.0)
    for bound in ("upper", "lower"):
        table = al.discretize(pair, step=1e-3, bound=bound)
        theirs = dp.pld.pld_pmf.DensePLDPmf(**to_pld_pmf(table))
        found = theirs.get_epsilon_for_delta(1e-6)
        assert abs(found - table.epsilon(1e-6)) < 1e-9
        assert (found >= exact) == (bound == "upper")
        back = from_pld_pmf(theirs)
        assert back.bound == bound and np.array_equal(back.mass, table.mass)


# --- Files


@pytest.mark.parametrize("suffix", [".npz", ".json"])
@pytest.mark.parametrize("bound", SIDES)
def test_files_keep_every_bit(tmp_path: Path, suffix: str, bound: Any) -> None:
    masses = np.array([5e-324, 0.1, 1 / 3, 2.0**-1074, 0.5])
    table = al.PrivacyLossDistribution(
        0.1 + 2e-17, -(10**9), masses, 1e-300, bound
    )
    file = tmp_path / f"table{suffix}"
    save_table(table, file)
    again = load_table(str(file))
    assert again.mass.tobytes() == table.mass.tobytes()
    assert (again.step, again.first_index) == (table.step, table.first_index)
    assert again.infinity_mass == table.infinity_mass
    assert again.bound == bound
    save_table(table, tmp_path / f"other{suffix}")
    assert (tmp_path / f"other{suffix}").read_bytes() == file.read_bytes()


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_no_byte_can_be_wrong(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"table{suffix}"
    save_table(SMALL, file)
    whole = file.read_bytes()
    rng = np.random.default_rng(0)
    for place in range(len(whole)):
        other = (whole[place] + int(rng.integers(1, 256))) % 256
        changed = whole[:place] + bytes([other]) + whole[place + 1 :]
        for data in (whole[:place], changed):
            file.write_bytes(data)
            try:
                found = load_table(file)
            except ValueError:
                continue
            assert data is changed
            assert found.mass.tobytes() == SMALL.mass.tobytes()
            assert to_pld_pmf(found).keys() == to_pld_pmf(SMALL).keys()
            assert table_head(found) == table_head(SMALL)


def forged(**changes: Any) -> dict[str, Any]:
    """A head with changes and a digest that fits, and its masses."""
    mass = np.array(changes.pop("masses", SMALL.mass.tolist()))
    head = table_head(SMALL) | {"cells": len(mass)} | changes
    if "digest" not in changes:
        head["digest"] = table_digest(head, mass)
    return head | {"mass": [float(p).hex() for p in mass]}


FORGED = [
    forged(digest="0" * 64),
    forged(format="another"),
    forged(format_version=2),
    forged(format_version="1"),
    forged(step="-0x1p-2"),
    forged(step="nan"),
    forged(step=0.25),
    forged(first_index=0.5),
    forged(first_index=True),
    forged(first_index=2**60),
    forged(bound="Upper"),
    forged(bound=None),
    forged(infinity_mass="0x1p+1"),
    forged(infinity_mass="nan"),
    forged(cells=2),
    forged(more=1),
    forged(masses=[0.5, 0.9]),
    forged(masses=[-0.25, 0.5]),
    forged(masses=[math.nan]),
    forged(masses=[math.inf]),
    forged(masses=[]),
]


@pytest.mark.parametrize("head", FORGED)
def test_forged_texts(tmp_path: Path, head: dict[str, Any]) -> None:
    file = tmp_path / "table.json"
    file.write_text(json.dumps(head))
    with pytest.raises(ValueError, match="save_table"):
        load_table(file)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "0.5", "{}", '{"mass": 1}', '{"mass": [1]}', "[" * 10**5, "\0"],
)
def test_other_texts(tmp_path: Path, text: str) -> None:
    file = tmp_path / "table.json"
    file.write_text(text)
    with pytest.raises(ValueError, match="save_table"):
        load_table(file)


def archive(**members: Any) -> bytes:
    """An archive of arrays."""
    buffer = io.BytesIO()
    np.savez(buffer, **members)
    return buffer.getvalue()


def test_forged_archives(tmp_path: Path) -> None:
    head = np.array(json.dumps(table_head(SMALL)))
    huge = io.BytesIO()
    with zipfile.ZipFile(huge, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("head.npy", b"0")
        bomb.writestr("mass.npy", b"\0" * (2**28))
    promised = io.BytesIO()
    with zipfile.ZipFile(promised, "w") as lie:
        for name, array in (("head", head), ("mass", SMALL.mass)):
            part = io.BytesIO()
            np.save(part, array)
            text = part.getvalue()
            if name == "mass":
                text = text.replace(b"(3,)", b"(9,)")
            lie.writestr(f"{name}.npy", text)
    file = tmp_path / "table.npz"
    for data in (
        b"",
        b"PK\3\4",
        pickle.dumps(SMALL.mass),
        archive(head=head),
        archive(head=head, mass=SMALL.mass, more=SMALL.mass),
        archive(head=head, mass=SMALL.mass.astype(np.float32)),
        archive(head=head, mass=SMALL.mass.reshape(1, 3)),
        archive(head=head, mass=np.array([None, 0.5], dtype=object)),
        archive(head=np.array([1.0]), mass=SMALL.mass),
        archive(head=np.array("{}"), mass=SMALL.mass),
        archive(head=head, mass=SMALL.mass[:2]),
        archive(head=head, mass=SMALL.mass[::-1]),
        huge.getvalue(),
        promised.getvalue(),
    ):
        file.write_bytes(data)
        with pytest.raises(ValueError, match="save_table"):
            load_table(file)
    good = archive(head=head, mass=SMALL.mass)
    file.write_bytes(good)
    assert load_table(file).delta(0.1) == SMALL.delta(0.1)


def test_names_and_values_that_cannot_be_saved(tmp_path: Path) -> None:
    for name in ("table", "table.txt", "table.pickle", "table.JSON"):
        with pytest.raises(ValueError, match="suffix"):
            save_table(SMALL, tmp_path / name)
        with pytest.raises(ValueError, match="suffix"):
            load_table(tmp_path / name)
    with pytest.raises(ValueError, match="sum"):
        heavy = al.PrivacyLossDistribution(1.0, 0, [0.5, 0.7], 0.0)
        save_table(heavy, tmp_path / "heavy.json")
    assert not (tmp_path / "heavy.json").exists()
    with pytest.raises(OSError):
        load_table(tmp_path / "none.json")
