"""Read MyST notebooks as code cells that know where they stand."""

import re
from dataclasses import dataclass
from pathlib import Path

import yaml
from jupytext.myst import myst_to_notebook

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Cell:
    """A code cell; `line` is the number of its first line of code."""

    line: int
    source: str
    tags: tuple[str, ...]
    section: str  # the last heading above it


@dataclass(frozen=True)
class Part:
    """A part of the book, as `_toc.yml` has it."""

    caption: str
    pages: tuple[Path, ...]  # its notebooks


def parts() -> list[Part]:
    """The parts of the book that have notebooks, in the order of the book."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found = []
    for part in toc["parts"]:
        files = [entry["file"] for entry in part["chapters"]]
        pages = [x for x in files if x.startswith("notebooks/")]
        if pages:
            paths = tuple(ROOT / f"{page}.md" for page in pages)
            found.append(Part(part["caption"], paths))
    return found


def notebooks() -> list[Path]:
    """The notebooks in the order of the book."""
    return [page for part in parts() for page in part.pages]


def dotted(path: Path) -> str:
    """A page as its module: notebooks/counting/dots.md is counting.dots."""
    inside = path.relative_to(ROOT / "notebooks").with_suffix("")
    return ".".join(inside.parts)


def code_cells(path: Path) -> list[Cell]:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    book = myst_to_notebook(text, add_source_map=True)
    starts = book.metadata["source_map"]
    cells, section = [], ""
    for start, cell in zip(starts, book.cells, strict=True):
        if cell.cell_type == "code" and cell.source:
            line = _first_line(lines, start, cell.source.splitlines())
            tags = tuple(cell.metadata.get("tags", ()))
            cells.append(Cell(line, cell.source, tags, section))
        elif cell.cell_type == "markdown":
            section = _last_heading(cell.source) or section
    return cells


def _last_heading(text: str) -> str:
    """The heading that is in force after a text without code cells."""
    found, fence = "", ""
    for line in text.splitlines():
        mark = re.match(r"\s*(`{3,}|:{3,})", line)
        if mark and not fence:
            fence = mark[1]
        elif fence and line.strip() == fence:
            fence = ""
        elif not fence and line.startswith("#"):
            found = line.lstrip("#").strip()
    return found


def _first_line(lines: list[str], start: int, code: list[str]) -> int:
    """Where `code` stands after the options of the cell (counted from 1)."""
    while lines[start : start + len(code)] != code:
        start += 1
    return start + 1
