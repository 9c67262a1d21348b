"""Take the answer cells out of what a student handed in, and nothing else.

The file is the student's: it may be anything. It is read as JSON, never run
and never rendered.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LARGEST = 5_000_000  # bytes of a notebook
LONGEST = 100_000  # characters of an answer
STUDENT = re.compile(r"[\w][\w.@+-]{0,99}")


@dataclass(frozen=True)
class Submission:
    """Answers by the grade_id of their cell; texts are in `texts`."""

    cells: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    student: str = ""  # whose sheet it was, by its own account


def find(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """Students and their files: FOLDER/STUDENT/.../NAME.ipynb.

    That is also the layout of nbgrader's `submitted` folder. A link is not
    followed, and of several files the newest counts.
    """
    for home in sorted(folder.iterdir()):
        if not home.is_dir() or home.is_symlink() or home.name[0] == ".":
            continue
        if not STUDENT.fullmatch(home.name):
            raise ValueError(f"{home.name!r} cannot be the name of a student")
        files = [
            path
            for path in home.rglob(f"{name}.ipynb")
            if path.is_file() and not path.is_symlink()
        ]
        if files:
            yield home.name, max(files, key=lambda x: x.stat().st_mtime)


def read(path: Path, names: set[str]) -> Submission:
    """The answers in a file to the tasks of these names."""
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"it is larger than {LARGEST} bytes")
        book = json.loads(path.read_text("utf-8"))
        cells = book["cells"] if isinstance(book, dict) else None
        if not isinstance(cells, list):
            raise ValueError("it has no cells")
    except (OSError, ValueError, KeyError, RecursionError) as error:
        return Submission(notes=(f"The file is no notebook: {error}"[:400],))
    return _sort(cells, names, _owner(book))


def _sort(cells: list[Any], names: set[str], student: str) -> Submission:
    code: dict[str, str] = {}
    texts: dict[str, str] = {}
    notes = []
    for cell in cells:
        name, kind, source = _answer(cell)
        if name not in names:
            continue
        if name in code or name in texts:
            notes.append(f"{name} is there twice; the first one counts.")
        elif len(source) > LONGEST:
            notes.append(f"{name} is longer than {LONGEST} characters.")
        elif kind == "code":
            code[name] = source
        else:
            texts[name] = source
    for name in sorted(names - set(code) - set(texts)):
        notes.append(f"The cell of {name} is missing.")
    return Submission(code, texts, tuple(notes), student)


def _answer(cell: Any) -> tuple[str, str, str]:
    """The grade_id of a cell, its kind and its text; no name if it is odd."""
    try:
        name = cell["metadata"]["nbgrader"]["grade_id"]
        # a text is a list of its characters, too
        kind, source = cell["cell_type"], "".join(cell["source"])
    except (KeyError, TypeError):
        return "", "", ""
    return (name, kind, source) if isinstance(name, str) else ("", "", "")


def _owner(book: dict[str, Any]) -> str:
    try:
        return str(book["metadata"]["course"]["student"])
    except (KeyError, TypeError):
        return ""
