"""What the pages show of their code: folds, and numbers for labels."""

import re
from types import SimpleNamespace

import pages
import pytest
from notebook import code_cells, dotted, notebooks

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


NEAREST = re.compile(r"\{[\w.]*\blower:\.\d\w\}, \{[\w.]*\bupper:\.\d\w\}")


@pytest.mark.parametrize("page", notebooks(), ids=dotted)
def test_no_interval_is_printed_with_ends_to_the_nearest(page):
    """A lower end rounded up is no bound: `{bound:.3f}` rounds outward."""
    for cell in code_cells(page):
        assert not NEAREST.search(cell.source), f"{page}, line {cell.line}"
