"""Notebooks of a course: from the source to students and teachers."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from course.tasks import Assignment, Course, Numbers, numbers_of

CODE = "# YOUR CODE HERE\nraise NotImplementedError()"
TEXT = "YOUR ANSWER HERE"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
PLACE = re.compile(r"\{\{(\w+)\}\}")
RULES = "rules.md"  # what all sheets say after their first cell
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
Notebook = Any  # nbformat has no types


def read(source: Path) -> Notebook:
    """A source, whose answer cells carry nbgrader's metadata."""
    book = jupytext.read(source, fmt="md:myst")
    book.metadata = {"kernelspec": KERNEL}
    for place, cell in enumerate(book.cells):
        cell.id = f"{source.stem}-{place}"
    return book


# --- an exam and a project, marked by hand ------------------------------


def papers(course: Course) -> list[Path]:
    """The notebooks of a course that are nobody's assignment."""
    known = {assignment.source.name for assignment in course.assignments}
    return [
        path
        for path in sorted(course.folder.glob("*.md"))
        if path.name not in known | {RULES}
    ]


def with_key(source: Path) -> Notebook:
    """A paper and its key; its own cells compute the numbers for {{name}}."""
    book = read(source)
    computed: dict[str, Any] = {}
    for cell in book.cells:
        if cell.cell_type == "code":
            exec(cell.source, computed)
    return filled(book, computed)


def without_key(book: Notebook) -> Notebook:
    """As students get it: no key, and none of the cells that compute it."""
    secret = {x.id for x in answer_cells(book) if x.cell_type == "code"}
    book = without_solutions(book)
    book.cells = [cell for cell in book.cells if cell.id not in secret]
    return book


# --- the sheets of an assignment ----------------------------------------


def teacher_sheet(course: Course, name: str, student: str) -> Notebook:
    """The notebook of a student with solutions: the reference."""
    book, numbers = _sheet(course, name, student)
    return filled(book, numbers)


def student_sheet(course: Course, name: str, student: str) -> Notebook:
    """The notebook that a student gets: no solution, the own numbers."""
    book, numbers = _sheet(course, name, student)
    shown = {k: v for k, v in numbers.items() if not k.startswith("_")}
    return filled(without_solutions(book), shown)


def _sheet(
    course: Course, name: str, student: str
) -> tuple[Notebook, dict[str, Any]]:
    """The source with the rules of the course, and what is to be filled in."""
    assignment = course.find(name)
    book, rules = read(assignment.source), read(course.folder / RULES)
    book.cells[1:1] = rules.cells
    book.metadata["course"] = {"assignment": name, "student": student}
    numbers = numbers_of(assignment, course.secret, student)
    known = {"student": student, "points": assignment.points}
    return book, known | assignment.examples() | numbers


def solutions(course: Course, name: str, student: str) -> dict[str, str]:
    """The reference answers, by the name of their task."""
    return {
        cell.metadata["nbgrader"]["grade_id"]: cell.source
        for cell in answer_cells(teacher_sheet(course, name, student))
    }


def without_solutions(book: Notebook) -> Notebook:
    book = copy.deepcopy(book)
    for cell in answer_cells(book):
        cell.source = _cleared(cell.source, cell.cell_type)
    return book


def _cleared(source: str, kind: str) -> str:
    """What stands between the two marks replaced; without marks, all."""
    if kind == "markdown":
        return TEXT
    kept: list[str] = []
    inside = False
    for line in source.split("\n"):
        if BEGIN in line:
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            kept += [indent + text for text in CODE.split("\n")]
        elif END in line:
            inside = False
        elif not inside:
            kept.append(line)
    return "\n".join(kept)


def filled(book: Notebook, numbers: Numbers) -> Notebook:
    """The student's numbers where the source says {{name}}."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in numbers:
            raise ValueError(f"the source asks for {match[0]}: unknown")
        return str(numbers[match[1]])

    for cell in book.cells:
        cell.source = PLACE.sub(value, cell.source)
    return book


def answer_cells(book: Notebook) -> Iterator[Any]:
    """The cells that students fill in."""
    for cell in book.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            yield cell


def rubric(assignment: Assignment) -> str:
    """How the tasks of an assignment are marked, as a page for teachers."""
    lines = [f"# {assignment.title}", "", f"{assignment.points} points."]
    for task in assignment.tasks:
        how = "by hand" if task.rubric else "by `make grade`"
        lines += ["", f"## {task.name}: {task.points} points, {how}", ""]
        lines += [f"- 1: {text}" for text in task.rubric]
        lines += [f"- {check.points}: {check.name}" for check in task.checks]
    return "\n".join(lines) + "\n"


def write(book: Notebook, path: Path) -> None:
    """Write a notebook, after nbformat's own check."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.validate(book)
    text = json.dumps(book, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", "utf-8")
