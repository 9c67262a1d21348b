"""The tools: each check must be able to fail, and name the right place.

The tests work on a small book of their own, made of this one's real settings.
"""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests import ROOT

HEAD = """\
---
jupytext:
  text_representation:
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# A toy page
"""
GOOD = """
def double(x: float) -> float:
    \"\"\"Twice x.\"\"\"
    return 2 * x
"""
PLOT = """
import matplotlib.pyplot as plt
import numpy as np
from matplotlib_inline.backend_inline import set_matplotlib_formats

plt.style.use("../../book/figures.mplstyle")
set_matplotlib_formats("svg")
plt.plot({points})
plt.show()
"""


def cell(code, *tags):
    return (
        f"\n```{{code-cell}} ipython3\n:tags: [{', '.join(tags)}]\n{code}```\n"
    )


@pytest.fixture
def toy(tmp_path):
    """A book of one page, with the tools and settings of the real one."""
    for name in ("_config.yml", "pyproject.toml", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    (tmp_path / "book").mkdir()
    for name in ("conf.py", "figures.mplstyle"):
        shutil.copy(ROOT / "book" / name, tmp_path / "book")
    for name in ("_static", "_templates"):
        shutil.copytree(ROOT / "book" / name, tmp_path / "book" / name)
    (tmp_path / "book" / "references.bib").touch()
    (tmp_path / "book" / "index.md").write_text("# A toy book\n")
    write(tmp_path, cell(GOOD, "export", "public"), cell("\ndouble(1)\n"))
    contents(tmp_path, "toy")
    return tmp_path


def contents(toy, *pages):
    files = "".join(f"      - file: notebooks/part/{x}\n" for x in pages)
    head = "format: jb-book\nroot: book/index\nparts:\n  - caption: A part\n"
    (toy / "_toc.yml").write_text(f"{head}    chapters:\n{files}")


def write(toy, *cells, stem="toy"):
    path = toy / "notebooks" / "part" / f"{stem}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + "".join(cells))


def run(toy, *command, code=0):
    """Run Python in the toy book and expect the exit code."""
    done = subprocess.run(
        [sys.executable, *command],
        cwd=toy,
        env=os.environ | {"PYTHONPATH": str(toy), "ACCOUNTLIB_ALL": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    output = done.stdout + done.stderr
    assert (done.returncode != 0) == (code != 0), output
    return output


def tangle(toy, *options, code=0):
    return run(toy, "tools/tangle.py", *options, code=code)


def test_the_package_is_what_the_notebooks_say():
    run(ROOT, "tools/tangle.py", "--check")


def test_tangle_writes_a_module(toy):
    tangle(toy)
    text = (toy / "accountlib" / "part" / "toy.py").read_text()
    assert text.startswith("# Generated from notebooks/part/toy.md")
    assert "Apache-2.0" in text.splitlines()[1]
    assert '__all__ = ["double"]' in text
    assert "# --- A toy page" in text
    assert "double(1)" not in text
    package = (toy / "accountlib" / "__init__.py").read_text()
    assert "from .part.toy import double" in package
    assert "__version__" in package
    assert (toy / "accountlib" / "py.typed").exists()
    assert (toy / "accountlib" / "part" / "__init__.py").exists()
    tangle(toy, "--check")


def test_only_public_names_stand_at_the_top(toy):
    write(
        toy, cell(GOOD, "export"), cell(GOOD.replace("dou", "tre"), "export")
    )
    tangle(toy)
    found = "import accountlib as al; print(al.double(2), al.__all__)"
    assert "has no attribute 'double'" in run(toy, "-c", found, code=1)
    many = [GOOD.replace("double", f"f{k}") for k in range(61)]
    write(toy, *(cell(one, "export", "public") for one in many))
    assert "61 public names" in tangle(toy, "--check", code=1)


def test_names_of_the_page_go_into_the_docstring(toy):
    table = (
        "\n## Names used here\n\n| $x$ | `x` | {term}`a number` |\n|-|-|-|\n"
    )
    write(toy, table, cell(GOOD, "export"))
    tangle(toy)
    text = (toy / "accountlib" / "part" / "toy.py").read_text()
    assert "| $x$ | `x` | a number |" in text


def test_tangle_check_sees_an_edit_and_a_leftover(toy):
    tangle(toy)
    module = toy / "accountlib" / "part" / "toy.py"
    module.write_text(module.read_text() + "\n")
    assert "toy.py: differs" in tangle(toy, "--check", code=1)
    tangle(toy)
    (toy / "accountlib" / "old").mkdir()
    (toy / "accountlib" / "old" / "old.py").touch()
    assert "old.py: no notebook" in tangle(toy, "--check", code=1)
    tangle(toy)
    assert not (toy / "accountlib" / "old").exists()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("\n%matplotlib inline\n", "plain Python only"),
        ("\nprint(1)\n", "defines or imports"),
        ("\nx = 1\n", "defines or imports"),
        ("\nfor i in range(3):\n    pass\n", "defines or imports"),
        ("\nimport matplotlib.pyplot as plt\n", "depend on matplotlib"),
        ("\nfrom accountlib.later import f\n", "no earlier page"),
        ("\nimport accountlib as al\n", "no earlier page"),
        ("\nfrom accountlib.inputs import f as g\n", "keep their name"),
        (
            GOOD.replace("return", "import accountlib.inputs\n    return"),
            "keep their name",
        ),
        (GOOD + "\nLIMIT = 3\n", "a cell of its own"),
        (GOOD + GOOD.replace("double", "triple"), "a cell of its own"),
        (GOOD.replace("return", "print(x)\n    return"), "print()"),
    ],
)
def test_tangle_refuses(toy, code, message):
    inputs = toy / "notebooks" / "inputs.md"
    inputs.write_text(HEAD + cell(GOOD.replace("double", "f"), "export"))
    with open(toy / "_toc.yml", "a") as file:
        file.write("      - file: notebooks/inputs\n")
    write(toy, cell(code, "export"))
    output = tangle(toy, "--check", code=1)
    assert message in output
    line = int(output.split("toy.md:")[1].split(":")[0])
    source = (toy / "notebooks/part/toy.md").read_text().splitlines()
    assert source[line - 1].strip(), "the message names an empty line"


def test_modules_carry_their_licence():
    for file in (ROOT / "accountlib").rglob("*.py"):
        head = file.read_text(encoding="utf-8").splitlines()[:2]
        assert "Copyright 2026 The accountlib authors" in head[1], file
        assert "SPDX-License-Identifier: Apache-2.0" in head[1], file


def test_private_names_stay_out_of_all(toy):
    private = GOOD.replace("double", "_triple")
    write(toy, cell(GOOD, "export"), cell(private, "export"))
    tangle(toy)
    text = (toy / "accountlib" / "part" / "toy.py").read_text()
    assert "def _triple" in text
    assert '__all__ = ["double"]' in text


def test_lint_names_the_line_of_the_notebook(toy):
    wrong = "\nwidth = 1 + 'wide'\nheight = depth\n"
    write(toy, cell(GOOD, "export"), cell(wrong))
    output = run(toy, "tools/lint.py", code=1)
    source = (toy / "notebooks/part/toy.md").read_text().splitlines()
    first = source.index("width = 1 + 'wide'") + 1
    assert f"notebooks/part/toy.md:{first}: error: Unsupported" in output
    assert f"notebooks/part/toy.md:{first + 1}:10: F821" in output


def test_lint_accepts_a_good_notebook(toy):
    run(toy, "tools/lint.py")


def test_sizes_hold_pages_and_tests_to_their_limits(toy):
    sizes = toy / "tools" / "sizes.py"
    run(toy, sizes)
    file = toy / "tests" / "part" / "test_toy.py"
    file.parent.mkdir(parents=True)
    file.write_text("x = 1\n" * 851)
    output = run(toy, sizes, code=1)
    assert output == "lines of tests/part/test_toy.py: 851, at most 850\n"
    write(toy, cell("\nx = [\n" + "    1,\n" * 71 + "]\n"))
    assert "open cell at notebooks/part/toy.md" in run(toy, sizes, code=1)


def sphinx(toy, code=0):
    options = ("-W", "-E", "-b", "dummy", "-c", "book")
    return run(toy, "-m", "sphinx", *options, ".", "build/html", code=code)


@pytest.mark.in_turn(5)
def test_a_warm_cache_hides_no_broken_package(toy):
    """The page's cells stay the same; what they import breaks."""
    use = "\nfrom accountlib.part.toy import double\n\nassert double(2) == 4\n"
    write(toy, cell(use), stem="use")
    contents(toy, "toy", "use")
    tangle(toy)
    run(toy, "tools/execute.py")
    assert "Using cached notebook" in sphinx(toy)
    module = toy / "accountlib" / "part" / "toy.py"
    module.write_text(module.read_text().replace("2 * x", "3 * x"))
    assert "AssertionError" in sphinx(toy, code=2)
    assert "AssertionError" in run(toy, "tools/execute.py", code=1)


def outputs(folder):
    return {
        path.name: [
            cell["outputs"]
            for cell in json.loads(path.read_text())["cells"]
            if cell["cell_type"] == "code"
        ]
        for path in folder.iterdir()
    }


@pytest.mark.in_turn(5)
def test_only_what_depends_on_a_change_runs_again(toy):
    use = (
        "\nimport time\nfrom accountlib.part.toy import double\ntime.time()\n"
    )
    write(toy, cell(use), stem="use")
    write(toy, cell("\nimport time\ntime.time()\n"), stem="other")
    contents(toy, "toy", "use", "other")
    tangle(toy)
    run(toy, "tools/execute.py")
    folder = toy / "build" / "executed" / "part"
    before = outputs(folder)
    write(toy, cell(GOOD.replace("2 * x", "x + x"), "export", "public"))
    tangle(toy)
    run(toy, "tools/execute.py")
    after = outputs(folder)
    assert before["use.ipynb"] != after["use.ipynb"]
    assert before["other.ipynb"] == after["other.ipynb"]


@pytest.mark.in_turn(5)
def test_no_page_is_dropped_while_another_is_cached(toy):
    """jupyter-cache may take a page that was just added for an old one."""
    write(toy, cell("\n2 + 2\n"), stem="use")
    contents(toy, "toy", "use")
    tangle(toy)
    limit = "Cache(FOLDER).change_cache_limit(1)"
    tools = "import sys\nsys.path.append('tools')\n"
    run(
        toy,
        "-c",
        f"{tools}from cache import Cache\nfrom execute import FOLDER\n{limit}",
    )
    run(toy, "tools/execute.py")
    assert len(list((toy / "build" / "executed" / "part").iterdir())) == 2


@pytest.mark.in_turn(5)
def test_a_page_that_changes_from_run_to_run_fails(toy):
    """pytest compares the notebook with the copy that the build executed."""
    shutil.copy(ROOT / "conftest.py", toy)
    steady = cell("\nprint(1)\n")
    unseeded = cell("\nimport random\n\nrandom.random()\n")
    figure = cell(PLOT.format(points="range(9)"))
    unseeded_figure = cell(PLOT.format(points="np.random.random(9)"))
    test = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "notebooks")
    write(toy, steady, unseeded, figure, unseeded_figure)
    run(toy, "tools/execute.py")
    output = run(toy, *test, code=1)
    assert output.count("Cell outputs differ") == 2
    assert "mismatch 'image/svg+xml'" in output
    assert "2 failed, 2 passed" in output
    write(toy, steady, figure)
    assert "older than its notebook" in run(toy, *test, code=1)
    run(toy, "tools/execute.py")
    assert "2 passed" in run(toy, *test)
