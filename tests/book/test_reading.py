"""The tools read a page as Jupytext and the book do."""

import jupytext
import notebook
import pytest


@pytest.mark.parametrize("page", notebook.notebooks(), ids=lambda p: p.stem)
def test_the_tools_see_the_cells_that_jupytext_sees(page):
    ours = notebook.code_cells(page)
    theirs = [
        cell
        for cell in jupytext.read(page, fmt="md:myst").cells
        if cell.cell_type == "code" and cell.source
    ]
    assert [(cell.source, list(cell.tags)) for cell in ours] == [
        (cell.source, cell.metadata.get("tags", [])) for cell in theirs
    ]
    lines = page.read_text(encoding="utf-8").splitlines()
    for cell in ours:
        first = cell.line - 1
        code = cell.source.splitlines()
        assert lines[first : first + len(code)] == code
