"""Let pytest run the text notebooks and hold them to the book's outputs.

The book build has run every page. Here one in eight is run a second time, on
the server one in four, and must give the same; the digests of what pages
depend on say which. All are with `ACCOUNTLIB_ALL=1` in the environment, and a
page that is named always.
"""

import functools
import os
from pathlib import Path
from unittest import mock

os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # no dates inside figures
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Long arrays come and go. glibc hands their pages back each time, and getting
# them again takes a tenth of the engine's time or more; workers keep them.
os.environ.setdefault("MALLOC_MMAP_MAX_", "0")
os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(2**30))

ROOT = Path(__file__).parent
EXECUTED = ROOT / "build" / "executed"
ALL = os.environ.get("ACCOUNTLIB_ALL") == "1"
# Of the pages one in so many runs a second time.
PART = 4 if os.environ.get("CI") else 8


def pytest_collect_file(file_path, parent):
    inside = set(file_path.parents)
    if file_path.suffix != ".md" or ROOT / "notebooks/assignments" in inside:
        return None
    if ROOT / "notebooks" in inside and runs_again(file_path, parent.config):
        return text_notebook().from_parent(parent, path=file_path)
    return None


def runs_again(page, config):
    named = [str(x).split("::")[0] for x in config.invocation_params.args]
    if ALL or page in (Path(name).resolve() for name in named):
        return True
    return page in in_turn()


@functools.cache
def in_turn():
    """A part of all pages: those whose digests come first."""
    from execute import state_of
    from notebook import notebooks

    pages = sorted(notebooks(), key=state_of)
    return set(pages[: -(-len(pages) // PART)])


def pytest_report_header():
    """Say what is left out."""
    if not ALL:
        return "a share of pages and random tests: ACCOUNTLIB_ALL=1 runs all"


def text_notebook():
    """The collector of a text notebook.

    nbval runs the cells of the text. What it compares their outputs with is
    the copy that the book build executed: a second run must give the same.
    Where no book was built, the cells only have to run.
    """
    import jupytext
    import kernels
    import nbformat
    import nbval.plugin

    read_copy = nbformat.read

    def read(path, as_version):
        text = jupytext.read(path, fmt="md:myst")
        inside = Path(path).relative_to(ROOT / "notebooks")
        copy = EXECUTED / inside.with_suffix(".ipynb")
        if EXECUTED.exists():
            take_outputs(text, read_copy(copy, as_version), copy)
        return text

    class TextNotebook(nbval.plugin.IPyNbFile):
        def setup(self):
            with kernels.forked():
                super().setup()

        def collect(self):
            with mock.patch.object(nbval.plugin.nbformat, "read", read):
                return list(super().collect())

    return TextNotebook


def take_outputs(text, executed, copy):
    ours = [cell for cell in text.cells if cell.cell_type == "code"]
    theirs = [cell for cell in executed.cells if cell.cell_type == "code"]
    if [c.source for c in ours] != [c.source for c in theirs]:
        raise ValueError(f"{copy} is older than its notebook: `make book`")
    if any(c.source and not c.execution_count for c in theirs):
        raise ValueError(f"{copy} was not executed: nothing to compare with")
    for cell, done in zip(ours, theirs, strict=True):
        cell.outputs = done.outputs
        cell.execution_count = done.execution_count
