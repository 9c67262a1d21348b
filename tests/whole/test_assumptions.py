"""What the certificate assumes, measured on this machine.

The page "Intervals as narrow as asked" has the list. Every measured error is
at most half of what the proof counts, with NumPy 1.26 at most all of it.
"""

import importlib
import json

import numpy as np
import pytest

from tests import ROOT

BENCHMARKS = ROOT / "benchmarks"
# NumPy 1.26 has other vector loops, which leave less room.
ROOM = 2 if int(np.__version__.split(".")[0]) >= 2 else 1


@pytest.fixture(scope="module")
def script():
    return importlib.import_module("benchmarks.assumptions")


@pytest.fixture(scope="module")
def measured(script):
    """With other arguments than those of the committed file."""
    return script.measure(seed=1304)


def test_doubles_are_rounded_to_nearest_and_not_flushed():
    info = np.finfo(np.float64)
    assert (info.bits, info.nmant, info.smallest_subnormal) == (64, 52, 5e-324)
    one = np.ones(1000)  # long enough for vector instructions
    assert np.all(one + 2.0**-53 == 1)
    assert np.all(one + 2.0**-53 * (1 + 2.0**-52) == 1 + 2.0**-52)
    assert np.all(one + 3 * 2.0**-53 == 1 + 2.0**-51)
    small = one * 2.0**-1060
    assert np.all(small / 2**10 == 2.0**-1070)
    assert np.all(small + small == 2.0**-1059)
    assert np.all(np.sqrt(one * 2) ** 2 != 2)


@pytest.mark.in_turn(5)
@pytest.mark.parametrize(
    "name",
    ["exp", "expm1", "log", "log1p", "sin", "cos", "arctan2", "hypot"]
    + ["math.exp", "math.expm1", "math.log", "math.log1p"],
)
def test_elementary_functions(script, measured, name):
    assert measured["calls"][name] <= script.COUNTED / ROOM


@pytest.mark.parametrize("name", ["exp", "product", "quotient"])
def test_functions_of_complex_numbers(measured, name):
    assert measured["complex"][name] <= 16 / ROOM


def test_sums(measured):
    assert measured["sum"] <= 1 / ROOM


@pytest.mark.parametrize("kind", ["real", "complex"])
def test_products_of_matrices(measured, kind):
    assert measured["products"][kind] <= 1 / ROOM


def test_transforms(measured):
    assert np.finfo(np.longdouble).nmant >= 63  # the truth needs more digits
    assert measured["transforms"] <= 1 / ROOM


def test_the_committed_file_says_the_same(script, measured):
    kept = json.loads(script.RESULTS.read_text("utf-8"))
    assert kept["points"] == script.POINTS == 20_000
    assert kept.keys() - {"numpy", "scipy", "python", "processor", "points"}
    assert kept["calls"].keys() == measured["calls"].keys()
    assert max(kept["calls"].values()) <= script.COUNTED / 2
    assert max(kept["complex"].values()) <= 16 / 2
    parts = [kept["sum"], kept["transforms"], *kept["products"].values()]
    assert max(parts) <= 0.5
