"""tools/tangle.py: what it writes, and that it names the line it refuses.

The tests work on a small book of their own.
"""

import re
import shutil
import subprocess
import sys

import pytest
import tangle

from tests import ROOT

HEAD = "---\njupytext:\n  text_representation:\n    format_name: myst\n---\n"
GOOD = (
    '\ndef double(x: float) -> float:\n    """Twice x."""\n    return 2 * x\n'
)


def cell(code, *tags):
    return f"\n```{{code-cell}}\n:tags: [{', '.join(tags)}]\n{code}```\n"


@pytest.fixture
def toy(tmp_path):
    """A book of two pages, with the tool and settings of the real one."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "tangle.py", tmp_path / "tools")
    toc = "parts:\n  - caption: A part\n    chapters:\n"
    for page in ("inputs", "beyond/toy"):
        toc += f"      - file: notebooks/{page}\n"
    (tmp_path / "_toc.yml").write_text(toc)
    (tmp_path / "notebooks" / "beyond").mkdir(parents=True)
    inputs = f"{HEAD}\n# Inputs\n" + cell(GOOD, "export", "public")
    (tmp_path / "notebooks" / "inputs.md").write_text(inputs)
    write(tmp_path, cell(GOOD.replace("double", "triple"), "export", "public"))
    return tmp_path


def write(toy, *cells):
    names = "\n## Names used here\n\n| $x$ | `x` | {term}`a number` |\n|-|-|\n"
    text = f"{HEAD}\n# A toy page\n{names}{''.join(cells)}"
    (toy / "notebooks" / "beyond" / "toy.md").write_text(text)


@pytest.fixture
def tangled(toy, monkeypatch, capsys):
    """Runs the tool there: whether it went well, and what it prints."""
    monkeypatch.setattr(tangle, "ROOT", toy)

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["tangle", *options])
        return tangle.main() == 0, "".join(capsys.readouterr())

    return run


def test_a_page_becomes_a_module(toy, tangled):
    private = GOOD.replace("double", "_hidden")
    write(
        toy,
        cell(GOOD.replace("double", "triple"), "export", "public"),
        cell(private, "export"),
        cell("\ntriple(1)\n"),
    )
    assert tangled()[0]
    text = (toy / "accountlib" / "beyond" / "toy.py").read_text()
    assert text.startswith("# Generated from notebooks/beyond/toy.md")
    assert "Apache-2.0" in text.splitlines()[1]
    assert "| $x$ | `x` | a number |" in text
    assert '__all__ = ["triple"]' in text and "def _hidden" in text
    assert "# --- Names used here" in text and "triple(1)" not in text
    assert tangled("--check") == (True, "")
    # What plugs in is loaded when it is first asked for.
    lazy = (
        "import sys, accountlib as al\nname = 'accountlib.beyond.toy'\n"
        "assert al.double(2) == 4 and name not in sys.modules\n"
        "assert al.triple(2) == 4 and name in sys.modules\n"
        "assert al.__all__ == ['double'] and 'triple' in dir(al)\nal.nothing"
    )
    done = subprocess.run(
        [sys.executable, "-c", lazy], cwd=toy, capture_output=True, text=True
    )
    assert "has no attribute 'nothing'" in done.stderr


def test_cells_become_a_file_to_copy_as_they_stand(toy, tangled):
    first = '\n"""Three times a number."""\n\nimport math\n'
    second = "\ndef triple(x):\n    return   3*x  # not laid out\n"
    write(toy, cell(first, "short:three"), cell(second, "short:three"))
    assert tangled()[0] and tangled("--check") == (True, "")
    file = toy / "accountlib" / "short" / "three.py"
    text = file.read_text()
    assert text.startswith("# accountlib") and "Apache-2.0" in text
    assert f"{first}\n{second}" in text and "doctest.testmod()" in text
    file.write_text(text.replace("3*x", "4*x"))
    assert "three.py: differs" in tangled("--check")[1]


def test_check_sees_an_edit_a_leftover_and_too_many_names(toy, tangled):
    assert tangled()[0]
    module = toy / "accountlib" / "inputs.py"
    module.write_text(module.read_text() + "\n")
    leftover = toy / "accountlib" / "old.py"
    leftover.touch()
    _, said = tangled("--check")
    assert "inputs.py: differs" in said and "old.py: differs" in said
    assert tangled()[0]
    assert tangled("--check") == (True, "")
    assert not leftover.exists()
    many = [GOOD.replace("double", f"f{k}") for k in range(60)]
    path = toy / "notebooks" / "inputs.md"
    many = "".join(cell(one, "export", "public") for one in many)
    path.write_text(path.read_text() + many)
    assert tangled("--check") == (False, "61 public names, 60 allowed\n")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("\n%matplotlib inline\n", "no plain Python"),
        ("\nprint(1)\n", "defines or imports"),
        ("\nx = 1\n", "defines or imports"),
        ("\nfor i in range(3):\n    pass\n", "defines or imports"),
        ("\nimport matplotlib.pyplot as plt\n", "depend on matplotlib"),
        ("\nimport accountlib as al\n", "keep their name"),
        ("\nfrom accountlib.inputs import double as f\n", "keep their name"),
        (
            GOOD.replace("return", "import accountlib.inputs\n    return"),
            "keep their name",
        ),
        (GOOD + "\nLIMIT = 3\n", "a cell of its own"),
        (GOOD + GOOD.replace("double", "triple"), "a cell of its own"),
        (GOOD.replace("return", "print(x)\n    return"), "print()"),
    ],
)
def test_it_refuses(code, message):
    source = code.strip("\n")
    place = tangle.Cell(7, source, ("export",), "")
    with pytest.raises(tangle.ExportError, match=re.escape(message)) as found:
        tangle.checked(place, "toy.md")
    line = int(str(found.value).split(":")[1]) - 7
    assert source.splitlines()[line]
