"""Read a MyST notebook as code cells that know their line numbers."""

from dataclasses import dataclass
from pathlib import Path

from jupytext.myst import myst_to_notebook

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Cell:
    """A code cell; `line` is the number of its first line of code."""

    line: int
    source: str
    tags: tuple[str, ...]


def notebooks() -> list[Path]:
    """The notebooks in the order of their numbers."""
    return sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.md"))


def code_cells(path: Path) -> list[Cell]:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    book = myst_to_notebook(text, add_source_map=True)
    starts = book.metadata["source_map"]
    return [
        Cell(
            _first_line(lines, start, cell.source.splitlines()),
            cell.source,
            tuple(cell.metadata.get("tags", ())),
        )
        for start, cell in zip(starts, book.cells, strict=True)
        if cell.cell_type == "code" and cell.source
    ]


def _first_line(lines: list[str], start: int, code: list[str]) -> int:
    """Where `code` stands after the options of the cell (counted from 1)."""
    while lines[start : start + len(code)] != code:
        start += 1
    return start + 1
