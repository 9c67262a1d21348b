"""What the pages show of their code: folds, and numbers for labels."""

import re
from types import SimpleNamespace

import pages
import pytest
from execute import copy_of
from notebook import INDEX, code_cells, dotted, notebooks

IMPORTS = """import math

import numpy as np
from matplotlib_inline.backend_inline import set_matplotlib_formats

plt.style.use("figures.mplstyle")
set_matplotlib_formats("svg")
rng = np.random.default_rng(1)
"""


@pytest.mark.parametrize(
    "code, folded",
    [
        (IMPORTS, True),
        ("import math", True),
        (IMPORTS + "run = Release(Gaussian(1.0))", False),
        (IMPORTS + "def f():\n    pass", False),
        ("rng = np.random.default_rng(1)", True),
        ("%matplotlib inline", False),
        ("", False),
    ],
)
def test_a_cell_that_sets_up_holds_nothing_else(code, folded):
    assert pages.only_sets_up(code) == folded


def test_a_folded_cell_says_what_it_holds():
    assert pages.content(IMPORTS, False) == "imports"
    assert pages.content("# why\n\ndef f(x):\n    pass", True) == "def f"
    assert pages.content("rng = np.random.default_rng(1)", False) == (
        "settings"
    )
    assert pages.content("x = 1", False) == "the code"


def test_labels_in_code_become_numbers():
    class Link(dict):
        def astext(self):
            return "(3.1)"

    class Domain:
        equations = {"pld-curve": ("page", 1)}

        def resolve_xref(self, *_):
            return Link(refid="equation-pld-curve")

    env = SimpleNamespace(domains=SimpleNamespace(math_domain=Domain()))
    app = SimpleNamespace(env=env, builder=None)
    context = {"body": "(pld-curve)<pre># eq. (pld-curve), (no-label)</pre>"}
    pages.number_labels(app, "page", "", context, True)
    link = '<a href="#equation-pld-curve">(3.1)</a>'
    assert context["body"] == (
        f"(pld-curve)<pre># eq. {link}, (no-label)</pre>"
    )


def test_long_names_in_tables_may_break_between_their_parts():
    def shown(name):
        cell = f'<span class="pre">{name}</span>'
        context = {"body": f"{cell}<table><td>{cell}</td></table>"}
        pages.break_long_names(None, "page", "", context, True)
        assert context["body"].startswith(cell)
        return context["body"].removeprefix(cell)

    assert "wbr" not in shown("Gaussian(noise)")
    assert "wbr" not in shown("delta=0.00000000001")
    long = "reader.get_noise_multiplier(...)"
    assert long.replace("_", "_<wbr>").replace("(", "<wbr>(").replace(
        ".get", "<wbr>.get"
    ) in shown(long)


NEAREST = re.compile(r"\{[\w.]*\blower:\.\d\w\}, \{[\w.]*\bupper:\.\d\w\}")


@pytest.mark.parametrize("page", notebooks(), ids=dotted)
def test_no_interval_is_printed_with_ends_to_the_nearest(page):
    """A lower end rounded up is no bound: `{bound:.3f}` rounds outward."""
    for cell in code_cells(page):
        assert not NEAREST.search(cell.source), f"{page}, line {cell.line}"


CHANCE = re.compile(
    r"default_rng\(\)|np\.random\.(?!default_rng\(|Generator\b)|\.rvs\("
    r"|^ *(?:import|from) (?:random|time|datetime|uuid|secrets)\b"
    r"|os\.urandom|\bid\(",
    re.M,
)
ADDRESS = re.compile(r" at 0x[0-9a-f]{6}")


@pytest.mark.parametrize("page", [INDEX, *notebooks()], ids=lambda x: x.stem)
def test_no_page_asks_for_chance_or_time(page):
    """Each run shows the same; conftest.py runs some pages a second time."""
    for cell in code_cells(page):
        assert not CHANCE.search(cell.source), f"{page}, line {cell.line}"
    copy = copy_of(page)
    assert not (copy.exists() and ADDRESS.search(copy.read_text("utf-8")))


@pytest.mark.parametrize(
    "code, found",
    [
        ("rng = np.random.default_rng()", True),
        ("np.random.normal()", True),
        ("import random", True),
        ("def f():\n    from time import time", True),
        ("rng = np.random.default_rng(7)", False),
        ("def f(rng: np.random.Generator): rid(1)", False),
    ],
)
def test_chance_is_seen(code, found):
    assert bool(CHANCE.search(code)) == found
