"""Every public name goes into one file, which runs where no package is."""

import ast
import builtins
import inspect
import json
import os
import re
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import accountlib
from accountlib import source
from tests import ROOT

RUN = "Release(Gaussian(0.8), Poisson(0.01), count=100)"
COIN = "PrivacyLossDistribution(0.5, -2, [0.2, 0.0, 0.1, 0.3, 0.4], 0.0)"
AT = "[-3.0, -0.25, 0.0, 0.125, 1.5, 30.0]"
STEPS = "np.array([1.5, 2.0, 7.25, 32.0])"
CLAIM = (
    "Certificate((Release(Gaussian(1.0)),), 'add', 1, 'delta', 1.0, "
    "Bound(0.0, 0.13), (Proof('upper', 0, 'one run'),), 'by hand')"
)
# What each name is asked, in the words that its own file has.
CALLS = {
    "hockey_stick": "hockey_stick([0.7, 0.3], [0.2, 0.8], 1.25)",
    "gaussian_delta": f"gaussian_delta({AT}, mu=1.3)",
    "gaussian_epsilon": "gaussian_epsilon([1e-200, 1e-6, 0.3], mu=1.3)",
    "laplace_delta": f"laplace_delta({AT}, scale=0.7)",
    "DominatingPair": "DiscretePair([0.7, 0.3], [0.2, 0.8]).delta(0.5)",
    "DiscretePair": f"DiscretePair([0.7, 0.3], [0.2, 0.8]).masses({AT})",
    "GaussianPair": f"GaussianPair(0.7).masses({AT})",
    "LaplacePair": f"LaplacePair(0.7).reversed().masses({AT})",
    "SampledPair": f"SampledPair(GaussianPair(0.7), 0.01).masses({AT})",
    "PrivacyLossDistribution": f"{COIN}.delta(0.3), {COIN}.epsilon(0.01)",
    "discretize": "discretize(GaussianPair(1.0), step=0.5, bound='lower')",
    "Bound": "round(Bound(0.94651, 0.94749), 3), Bound(1, 3).width",
    "self_compose": f"self_compose({COIN}, 9)",
    "compose": f"compose([{COIN}, {COIN}])",
    "Gaussian": f"Gaussian(0.8).pair().masses({AT})",
    "Laplace": f"Laplace(0.8).pair().masses({AT})",
    "DiscreteGaussian": f"DiscreteGaussian(2.5, 3).pair().masses({AT})",
    "DiscreteLaplace": f"DiscreteLaplace(2.5, 3).pair().masses({AT})",
    "RandomizedResponse": f"RandomizedResponse(0.8).pair().masses({AT})",
    "ApproximateDP": f"ApproximateDP(0.8, 1e-6).pair().masses({AT})",
    "PureDP": f"PureDP(0.8).pair().masses({AT})",
    "MixtureOfGaussians": (
        f"MixtureOfGaussians((0, 2), (0.7, 0.3), 0.8).pair().masses({AT})"
    ),
    "Adjacency": "list(Adjacency), Adjacency('add')",
    "FullBatch": "FullBatch()",
    "RandomAllocation": "RandomAllocation(10)",
    "ShuffledEpochs": "ShuffledEpochs(10)",
    "TruncatedPoisson": "TruncatedPoisson(0.1, 15, 100)",
    "Poisson": "Poisson(0.3), Poisson(0.3).rate",
    "FixedBatch": "FixedBatch(3, 70), FixedBatch(3, 70).rate",
    "Release": "Release(Gaussian(0.8), Poisson(0.01), count=100)",
    "dominating_pairs": (
        "dominating_pairs(Gaussian(0.8), sampling=Poisson(0.01), "
        "adjacency='substitute', group_size=2)"
    ),
    "epsilon": f"epsilon({RUN}, delta=[1e-9, 1e-5], adjacency='add')",
    "delta": f"delta({RUN}, epsilon=1.0, adjacency='add-or-remove')",
    "explain": f"str(explain({RUN}, delta=1e-6, adjacency='remove'))",
    "certificate": f"str(certificate({RUN}, delta=1e-6, adjacency='add'))",
    "replay": f"str(replay({CLAIM}))",
    "Certificate": f"{CLAIM}.to_json()",
    "calibrate": (
        "calibrate(lambda x: Release(Gaussian(x)), low=0.5, high=9, "
        "epsilon=1, delta=1e-6, adjacency='add')"
    ),
    "calibrate_noise": (
        "calibrate_noise(epsilon=3, delta=1e-5, sampling=Poisson(0.1), "
        "count=20, adjacency='remove')"
    ),
    "gaussian_rdp": f"gaussian_rdp({STEPS}, noise_multiplier=0.7)",
    "zcdp_rdp": f"zcdp_rdp({STEPS}, rho=0.7)",
    "laplace_rdp": f"laplace_rdp({STEPS}, scale=0.7)",
    "pure_dp_rdp": f"pure_dp_rdp({STEPS}, epsilon=0.7)",
    "randomized_response_rdp": (
        f"randomized_response_rdp({STEPS}, truth_probability=0.7)"
    ),
    "epsilon_from_rdp": "epsilon_from_rdp(lambda a: a / 3, delta=1e-6)",
    "delta_from_rdp": "delta_from_rdp(lambda a: a / 3, epsilon=2.5)",
    "poisson_rdp": (
        f"poisson_rdp({STEPS}, rate=0.01, bound='general', "
        "rdp=lambda a: gaussian_rdp(a, noise_multiplier=0.7))"
    ),
    "without_replacement_rdp": (
        f"without_replacement_rdp({STEPS}, rate=0.01, "
        "rdp=lambda a: gaussian_rdp(a, noise_multiplier=0.7))"
    ),
    "rdp_curve": f"rdp_curve({RUN}, adjacency='add-or-remove')({STEPS})",
    "kairouz_epsilon": "kairouz_epsilon(0.1, delta=0, count=50, slack=1e-6)",
    "gaussian_tradeoff": "gaussian_tradeoff([0.01, 0.3], mu=1.3)",
    "dp_tradeoff": "dp_tradeoff([0.01, 0.3], epsilon=1.3, delta=1e-3)",
    "TradeoffCurve": (
        "TradeoffCurve([0, 0.3, 1], [1, 0.2, 0], 'lower').delta(0.7)"
    ),
    "mu_from_pure_dp": "mu_from_pure_dp(1.3)",
    "mu_from_epsilon_delta": "mu_from_epsilon_delta(1.3, delta=1e-6)",
    "tradeoff_curve": (
        f"tradeoff_curve({RUN}, adjacency='add')([1e-6, 0.01, 0.3])"
    ),
    "GDPFit": "GDPFit(1.0, 0.005, 1e-10, 0.9999).delta([0.5, 2.0])",
    "gdp": f"gdp({RUN}, adjacency='remove')",
    "PrivacyReport": "how_to_read('add-or-remove', 3)",
    "report": f"str(report({RUN}, adjacency='add'))",
}
ALONE = """
import doctest, importlib, json, sys

class NoPackage:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "accountlib":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoPackage())
sys.path.insert(0, sys.argv[1])
import numpy as np

answers = {}
for name, call in json.loads(sys.argv[2]).items():
    module = importlib.import_module(name)
    flags = doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testmod(module, optionflags=flags)
    found = eval(call, vars(module) | {"np": np})
    answers[name] = failed, tried, exact(found)
assert "accountlib" not in sys.modules
print(json.dumps(answers))
"""


def exact(value):
    """A value in words that differ if a single bit does."""
    if isinstance(value, str):
        return value
    if hasattr(value, "tolist"):
        return repr(value.tolist())
    if isinstance(value, tuple | list):
        return ", ".join(map(exact, value))
    if hasattr(value, "__dict__"):
        return type(value).__name__ + exact(list(vars(value).items()))
    return repr(value)


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """A folder with one file for each public name."""
    folder = tmp_path_factory.mktemp("copies")
    asked = {name: [name] for name in accountlib.__all__}
    asked["whole"] = list(source.package().definitions)
    for name, names in asked.items():
        text = source.source_file(*names)
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def alone(copies):
    """What the files answer in a process that has no accountlib."""
    assert CALLS.keys() == set(accountlib.__all__)
    calls = json.dumps(CALLS | {"whole": "len(__builtins__)"})
    code = inspect.getsource(exact) + ALONE
    command = [sys.executable, "-I", "-c", code, copies, calls]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", cwd=copies
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def everything():
    """All names of the package."""
    homes = [import_module(f"accountlib.{x}") for x in source.package().pages]
    return {name: x for home in homes for name, x in vars(home).items()}


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("name", accountlib.__all__)
def test_the_file_of_a_name_runs_alone_and_answers_the_same(
    name, alone, everything
):
    failed, tried, answer = alone[name]
    assert failed == 0
    own = source.example_code(source.package().definitions[name].text)
    assert tried >= bool(own)
    assert answer == exact(eval(CALLS[name], everything | {"np": np}))
    assert len(answer) > 5


def test_the_whole_package_fits_into_one_file(alone):
    """Private names too: all of their examples run."""
    failed, tried, _ = alone["whole"]
    assert failed == 0
    definitions = source.package().definitions.values()
    examples = [source.example_code(one.text) for one in definitions]
    assert tried > 500 and tried >= sum(map(bool, examples))


def test_no_file_imports_the_package(copies):
    """Neither its code nor an example."""
    ours = re.compile(r"^ *(>>> |\.\.\. )?(from|import) accountlib\b", re.M)
    for file in copies.glob("*.py"):
        assert not ours.search(file.read_text(encoding="utf-8")), file.name


def test_a_file_says_where_it_is_from(copies):
    text = (copies / "mu_from_epsilon_delta.py").read_text(encoding="utf-8")
    first, second = text.splitlines()[:2]
    assert first == "# SPDX-FileCopyrightText: 2026 The accountlib authors"
    assert second == "# SPDX-License-Identifier: Apache-2.0"
    about = ast.get_docstring(ast.parse(text)) or ""
    assert about.startswith("mu_from_epsilon_delta, and all that")
    assert f"of accountlib {accountlib.__version__}." in about
    assert "@inproceedings{balle2018gaussian," in about
    assert "arXiv:1805.06530" in about
    places = re.findall(r"^# --- From (.*)\n# Page (.*)\n", text, re.M)
    assert places[-1] == (
        "accountlib.gaussian_dp.one_number",
        '"One number for a curve", notebooks/gaussian_dp/one_number.md',
    )


def test_a_file_as_a_script_runs_its_examples(copies):
    command = [sys.executable, copies / "Bound.py"]
    output = subprocess.check_output(command, encoding="utf-8", cwd=copies)
    assert re.fullmatch(r"\d+ examples, 0 failed\n", output)
    broken = copies / "broken.py"
    text = (copies / "Bound.py").read_text(encoding="utf-8")
    broken.write_text(text.replace("'[0.946, 0.948]'", "''"))
    done = subprocess.run([sys.executable, broken], capture_output=True)
    assert done.returncode == 1 and b", 1 failed" in done.stdout
    broken.unlink()


def test_all_that_a_definition_looks_up_is_there():
    package = source.package()
    known = {*package.definitions, *package.libraries, *dir(builtins)}
    for one in package.definitions.values():
        assert one.needs | one.mentions <= known, one.name


CITED = re.compile(r"Source:.*? \(((?:19|20)\d\d)\)")
WITHOUT_NUMBER = ("@misc{loader2000", "@inproceedings{zhu2019poisson")


def test_every_source_is_known_and_can_be_found():
    """By DOI, arXiv or ISBN; two works have none of them."""
    cited = set()
    for one in source.package().definitions.values():
        found = source.sources_of([one])
        cited.update(found)
        for year in CITED.findall(" ".join(one.text.split())):
            keys = [entry.splitlines()[0] for entry in found]
            assert any(year in key for key in keys), one.name
    assert len(cited) > 20
    for entry in cited:
        assert re.search(r"^ *title +=", entry, re.M), entry
        if not entry.startswith(WITHOUT_NUMBER):
            assert re.search(r"^ *(doi|isbn) +=|arXiv:", entry, re.M), entry


CODE = '''\
"""A page."""

from dataclasses import dataclass
from typing import overload

__all__ = ["Box", "lid"]

# --- A section


# of paper
# and air
THICK, thin = 1.0, 2.0  # a comment
WIDTH = 2 * THICK


@dataclass
class Box:
    size: float = WIDTH

    def top(self, size: "Side") -> "Box":
        return [lid(x) for x in self.parts(Box)]


@overload
def lid(of: int, size: int) -> int: ...


@overload
def lid(of: str, size: int) -> str: ...


# what closes it
@cached
def lid(of: Any, size: int = SIZE) -> Any:
    def inner(name: str) -> str:
        return name + of + GLUE

    return inner(size)
'''


def test_a_module_is_cut_into_definitions():
    found = {x.name: x for x in source.definitions_in("paper", CODE)}
    assert list(found) == ["WIDTH", "Box", "lid"]
    assert found["WIDTH"].needs == {"THICK"}
    assert found["Box"].text.startswith("@dataclass\nclass Box:")
    assert found["Box"].needs == {"dataclass", "float", "WIDTH", "Side", "lid"}
    text = found["lid"].text
    assert text.count("@overload") == 2 and text.endswith("inner(size)")
    assert "\n\n\n# what closes it\n@cached\ndef lid" in text
    assert found["lid"].needs >= {"overload", "cached", "SIZE", "GLUE", "Any"}
    assert not found["lid"].needs & {"of", "size", "inner", "name", "lid"}


def test_comments_above_a_constant_belong_to_it():
    code = CODE.replace("THICK, thin = 1.0, 2.0", "THICK = 1.0")
    thick = source.definitions_in("paper", code)[0]
    assert thick.text == "# of paper\n# and air\nTHICK = 1.0  # a comment"


@pytest.mark.parametrize(
    "code, names",
    [
        ("def top(self): return self", []),  # symtable once erred at a "top"
        ("def f(x): return [y for y in x if y > LEAST]", ["LEAST"]),
        ("def f(x: 'Literal[1]' = {}): x[KEY] = 1", ["KEY", "Literal"]),
        ("class A(B, c=D):\n    e = F\n    g: H = e", ["B", "D", "F", "H"]),
        ("import math\nmath.exp(ONE)", ["ONE"]),
        ("def f():\n    import re\n    return re.sub(ONE)", ["ONE"]),
        ("def f():\n    global A\n    A += 1", ["A"]),
        ("f = lambda x, y=Y: x(y, z)", ["Y", "z"]),
        ("def f(epsilon):\n    def g(): return epsilon", []),
        ("Name = dict[str, 'Other']", ["dict", "str"]),
    ],
)
def test_names_that_code_looks_up(code, names):
    assert sorted(source.looked_up(code)) == names


def test_imports_are_laid_out():
    long = [f"a_rather_long_name_of_a_function_{n}" for n in range(3)]
    block = source.import_block(
        {f"from math import {name}" for name in long}
        | {"from a.b import a", "from a.b import B", "from a.b import CD"}
        | {"from a.b import c as d", "import zlib", "import numpy as np"}
    )
    assert block == (
        "import zlib\nfrom math import (\n"
        + "".join(f"    {name},\n" for name in long)
        + ")\n\nimport numpy as np\nfrom a.b import CD, B, a\n"
        "from a.b import c as d"
    )


@pytest.mark.parametrize(
    "written",
    [
        "largest",
        "whole_runs.largest",
        "renyi.whole_runs.largest",
        "accountlib.largest",
        "accountlib.renyi.whole_runs.largest",
    ],
)
def test_a_name_with_its_module_or_without(written):
    assert source.name_of(written) == "largest"


def test_private_names_and_several_names():
    text = source.source_file("beyond.choosing._MOST_TOPS", "check_kind", "Bound")
    assert "\n_MOST_TOPS = " in text and "\nclass Bound:" in text
    assert text.count("def check_kind") == 1
    twice = ("beyond.choosing._MOST_TOPS", "check_kind", "Bound", "Bound")
    assert text == source.source_file(*twice)


@pytest.mark.parametrize(
    "wrong, near",
    [
        ("epsilonn", "accountant.epsilon"),
        ("runs.rules.epsilon", "accountant.epsilon"),
        ("uns.largest", "renyi.whole_runs.largest"),
        ("Bound.width", "nothing"),
        ("", "nothing"),
    ],
)
def test_an_unknown_name_is_refused(wrong, near):
    message = f"accountlib defines, got {wrong!r}; near to it is {near}"
    with pytest.raises(ValueError, match=re.escape(message)):
        source.source_file("Bound", wrong)


def command(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "accountlib", *words],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        **options,
    )


@pytest.mark.in_turn(5)
def test_the_command(tmp_path):
    done = command("source", "Bound", "Poisson")
    assert done.stdout == source.source_file("Bound", "Poisson")
    file = tmp_path / "bound.py"
    done = command("source", "Bound", "Poisson", "-o", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert file.read_text("utf-8") == source.source_file("Bound", "Poisson")


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    "words, said",
    [
        ([], "usage: python -m accountlib"),
        (["source"], "usage: python -m accountlib source"),
        (["source", "epsilo"], "near to it is accountant.epsilon\n"),
        (["source", "Bound", "-o", "no/where.py"], "No such file"),
    ],
)
def test_the_command_says_what_is_wrong(words, said, tmp_path):
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == "" and "Traceback" not in done.stderr
    assert said in done.stderr
