"""The package as its users get it: a wheel in an environment of their own."""

import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import venv
import zipfile

import addresses
import numpy as np
import pytest
import yaml

import accountlib
from tests import ROOT

BIN = "Scripts" if os.name == "nt" else "bin"


def run(*command, **options):
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        encoding="utf-8",
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--wheel", "--no-isolation", "--outdir", folder)
    run(sys.executable, "-m", "build", *options, ROOT)
    return next(folder.glob("accountlib-*.whl"))


@pytest.fixture(scope="module")
def user(wheel, tmp_path_factory):
    """The Python of an environment with the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("user")
    venv.create(folder, with_pip=False)
    python = folder / BIN / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "-q")
    lock = (ROOT / "requirements.txt").read_text("utf-8")
    pins = re.findall(r"^[\w.-]+==[^\\\n]+", lock, re.M)  # without hashes
    (folder / "pins.txt").write_text("\n".join(pins))
    run(*pip, "-c", folder / "pins.txt", wheel, cwd=folder)
    return python


def test_the_wheel_holds_the_package_only(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    package = {n for n in names if ".dist-info/" not in n}
    sources = (ROOT / "accountlib").rglob("*.py")
    expected = {str(path.relative_to(ROOT)) for path in sources}
    expected |= {"accountlib/py.typed"}
    assert "accountlib/py.typed" in package
    assert package == expected
    rest = {n.partition(".dist-info/")[2] for n in names} - {""}
    assert {"licenses/LICENSE", "extra_metadata/CITATION.cff"} <= rest


def metadata(wheel):
    with zipfile.ZipFile(wheel) as names:
        (path,) = (n for n in names.namelist() if n.endswith("/METADATA"))
        return names.read(path).decode()


def test_addresses_are_in_the_wheel_once_there_are_any(wheel, tmp_path):
    """Built from the source archive, so that all it needs is in there."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    known = addresses.addresses(settings)
    assert metadata(wheel).count("Project-URL:") == len(known)
    for name in ("pyproject.toml", "README.md", "LICENSE", "CITATION.cff"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("tools/addresses.py", "accountlib/__init__.py"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(ROOT / name, tmp_path / name)
    home = "https://example.org/book"
    text = f'html:\n  baseurl: ""\nrepository:\n  url: {home}\n'
    (tmp_path / "_config.yml").write_text(text)
    options = ("--no-isolation", "--outdir", tmp_path / "dist")
    run(sys.executable, "-m", "build", *options, tmp_path)
    (made,) = (tmp_path / "dist").glob("*.whl")
    lines = re.findall("^Project-URL: .*", metadata(made), re.M)
    assert lines == [f"Project-URL: Repository, {home}"]


@pytest.mark.in_turn(5)
def test_it_needs_numpy_and_scipy_only(user):
    pip = (sys.executable, "-m", "pip", "--python", user, "list")
    lines = run(*pip, "--format=freeze", cwd=user.parent).split()
    names = {line.split("==")[0] for line in lines}
    assert names == {"accountlib", "numpy", "scipy"}


def test_the_example_of_the_readme(user, tmp_path):
    text = (ROOT / "README.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks, "README.md shows no Python"
    for block in blocks:
        run(user, "-c", block, cwd=tmp_path)


def test_it_is_imported_from_the_wheel_without_slow_libraries(user, tmp_path):
    names = (
        "import sys, accountlib; print(accountlib.__file__);"
        "print(*{name.split('.')[0] for name in sys.modules},"
        " *(name for name in sys.modules if name == 'scipy.stats'))"
    )
    file, loaded = run(user, "-c", names, cwd=tmp_path).splitlines()
    assert str(user.parent.parent) in file and "numpy" in loaded.split()
    slow = {"scipy.stats", "matplotlib", "pandas", "IPython", "flint"}
    assert not slow & set(loaded.split())


def test_its_types_are_seen(user, tmp_path):
    """mypy knows the package from outside: a wrong use is reported."""
    mypy = (sys.executable, "-m", "mypy", "--strict", "--python-executable")
    options = (*mypy, user, "--cache-dir", tmp_path / "cache", "-c")
    good = "import accountlib\nversion: str = accountlib.__version__\n"
    run(*options, good, cwd=tmp_path)
    with pytest.raises(AssertionError, match="Incompatible types"):
        run(*options, good.replace("str", "int"), cwd=tmp_path)


def arrays_in(value):
    """Arrays that can be reached from a constant, through containers."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, tuple | list | set | frozenset):
        for part in value:
            yield from arrays_in(part)
    elif isinstance(value, dict):
        yield from arrays_in([*value, *value.values()])


@pytest.mark.parametrize(
    "name",
    [
        info.name
        for info in pkgutil.walk_packages(accountlib.__path__, "accountlib.")
    ],
)
def test_no_constant_of_a_module_can_be_written_to(name):
    module = importlib.import_module(name)
    constants = {
        key: value
        for key, value in vars(module).items()
        if not key.startswith("__")
    }
    assert not [
        key
        for key, value in constants.items()
        if isinstance(value, list | set)
        or any(array.flags.writeable for array in arrays_in(value))
    ]


def test_arrays_are_found_in_containers():
    deep = np.zeros(2)
    assert any(x is deep for x in arrays_in({"a": [(1, deep)]}))


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
RandomAllocation ShuffledEpochs TruncatedPoisson best_epsilon fractional_rdp
from_dp_event from_opacus
""".split()


def test_the_names_at_the_top():
    assert sorted(accountlib.__all__) == sorted(CORE)
    assert sorted(accountlib.BEYOND) == sorted(BEYOND)
    assert sorted(dir(accountlib)) == sorted(CORE + BEYOND)
    assert all(hasattr(accountlib, name) for name in CORE + BEYOND)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        accountlib.nothing  # noqa: B018  # it must raise


def test_what_plugs_in_is_loaded_when_it_is_asked_for():
    code = (
        "import sys, accountlib as al\n"
        "seen = lambda: any('beyond' in name for name in sys.modules)\n"
        "assert not seen()\nal.RandomAllocation\nassert seen()"
    )
    run(sys.executable, "-c", code)
