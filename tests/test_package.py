"""The package as its users get it: a wheel in an environment of their own."""

import importlib
import os
import pkgutil
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest

import accountlib

ROOT = Path(__file__).parent.parent
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
    run(*pip, "-c", ROOT / "requirements.txt", wheel, cwd=folder)
    return python


def test_the_wheel_holds_the_package_only(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    package = {n for n in names if ".dist-info/" not in n}
    sources = (ROOT / "accountlib").iterdir()
    expected = {f"accountlib/{p.name}" for p in sources if p.is_file()}
    assert "accountlib/py.typed" in package
    assert package == expected


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


def test_it_is_imported_from_the_wheel_and_quickly(user, tmp_path):
    """Processor time, since the wall clock counts what others do here."""
    timed = (
        "import time; start = time.process_time(); import accountlib;"
        "print(time.process_time() - start, accountlib.__file__)"
    )
    seen = [run(user, "-c", timed, cwd=tmp_path).split() for _ in range(5)]
    assert all(str(user.parent.parent) in file for _, file in seen)
    assert min(float(seconds) for seconds, _ in seen) < 0.5


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
    "name", [info.name for info in pkgutil.iter_modules(accountlib.__path__)]
)
def test_no_constant_of_a_module_can_be_written_to(name):
    module = importlib.import_module(f"accountlib.{name}")
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
