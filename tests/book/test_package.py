"""The package as its users meet it: its names, its types, its examples."""

import importlib
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest

import accountlib
from tests import ROOT
from tests.book.built import HTML

CORE = """
epsilon delta explain gdp tradeoff_curve report calibrate_noise calibrate
rdp_curve epsilon_from_rdp delta_from_rdp dominating_pairs Release Adjacency
FullBatch Poisson FixedBatch Gaussian Laplace DiscreteGaussian DiscreteLaplace
RandomizedResponse PureDP ApproximateDP MixtureOfGaussians DiscretePair Bound
GDPFit PrivacyReport TradeoffCurve PrivacyLossDistribution DominatingPair Cells
discretize compose self_compose
hockey_stick gaussian_delta gaussian_epsilon laplace_delta gaussian_tradeoff
dp_tradeoff mu_from_pure_dp mu_from_epsilon_delta kairouz_epsilon gaussian_rdp
laplace_rdp randomized_response_rdp poisson_rdp
poisson_rdp_terms pearson_vajda without_replacement_rdp
monte_carlo_sample_size binomial_sensitivity hypergeometric_sensitivity
group_epsilon_vadhan
""".split()
BEYOND = """
Budget Choice RandomAllocation ShuffledEpochs TruncatedPoisson ZeroedBatch
best_epsilon certificate fractional_rdp from_dp_event from_opacus verify
""".split()


def test_the_names_at_the_top():
    assert sorted(accountlib.__all__) == sorted(CORE)
    assert sorted(accountlib.BEYOND) == sorted(BEYOND)
    assert sorted(dir(accountlib)) == sorted(CORE + BEYOND)
    assert all(hasattr(accountlib, name) for name in CORE + BEYOND)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        accountlib.nothing  # noqa: B018  # it must raise


def test_the_example_of_the_readme():
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks, "README.md shows no Python"
    for block in blocks:
        exec(block, {})


def test_the_wheel_that_the_book_serves(tmp_path):
    """Installed without a network, it answers, and is the whole package."""
    wheel = HTML / f"accountlib-{accountlib.__version__}-py3-none-any.whl"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps"]
    pip += ["--no-index", "--no-compile", "--target", tmp_path, wheel]
    subprocess.run(pip, check=True)
    home = ROOT / "accountlib"
    for file in home.rglob("*.py"):
        there = tmp_path / "accountlib" / file.relative_to(home)
        assert there.read_bytes() == file.read_bytes()
    asked = "import accountlib as al, accountlib.beyond.verify;"
    asked += "print(al.__file__, al.epsilon(al.Release(al.Gaussian(1)),"
    asked += "delta=1e-5, adjacency='add'))"
    command = [sys.executable, "-c", asked]
    said = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert said.startswith(str(tmp_path)) and "4.37" in said


def test_it_is_imported_without_slow_libraries():
    names = "import sys, accountlib; print(*sys.modules)"
    command = [sys.executable, "-c", names]
    loaded = set(subprocess.check_output(command, text=True).split())
    assert "numpy" in loaded
    slow = {"scipy.stats", "matplotlib", "pandas", "IPython", "flint"}
    assert not slow & loaded
    assert not any("beyond" in name for name in loaded)


@pytest.mark.parametrize(
    "name",
    [
        info.name
        for info in pkgutil.walk_packages(accountlib.__path__, "accountlib.")
        if ".short" not in info.name  # copies, with fewer lines
    ],
)
def test_no_constant_of_a_module_can_be_written_to(name):
    module = importlib.import_module(name)
    assert not [
        name
        for name, value in vars(module).items()
        if not name.startswith("__")
        and (
            isinstance(value, list | set)
            or (isinstance(value, np.ndarray) and value.flags.writeable)
        )
    ]
