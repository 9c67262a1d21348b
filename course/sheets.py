"""Notebooks of a course: from the source to students and teachers."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from course.tasks import Assignment, Course, Numbers, Task, numbers_of

# What nbgrader puts in place of a solution, word for word.
CODE = "# YOUR CODE HERE\nraise NotImplementedError()"
TEXT = "YOUR ANSWER HERE"
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
PLACE = re.compile(r"\{\{(\w+)\}\}")
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
Notebook = Any  # nbformat has no types


def read_source(assignment: Assignment) -> Notebook:
    """The source, whose cells carry nbgrader's metadata."""
    return _read(assignment.source, assignment.name)


def _read(source: Path, name: str) -> Notebook:
    book = jupytext.read(source, fmt="md:myst")
    book.metadata = {"kernelspec": KERNEL}
    for place, cell in enumerate(book.cells):
        cell.id = f"{name}-{place}"
    return book


# --- an exam and a project, marked by hand ------------------------------


def papers(course: Course) -> list[Path]:
    """The notebooks of a course that are nobody's assignment."""
    known = {assignment.source for assignment in course.assignments}
    return [x for x in sorted(course.folder.glob("*.md")) if x not in known]


def with_key(source: Path) -> Notebook:
    """A paper and its key; its own cells compute the numbers for {{name}}."""
    book = _read(source, source.stem)
    computed: dict[str, Any] = {}
    for cell in book.cells:
        if cell.cell_type == "code":
            exec(cell.source, computed)
    fill(book, computed)
    return book


def without_key(book: Notebook) -> Notebook:
    """As students get it: no key, and none of the cells that compute it."""
    book = copy.deepcopy(book)
    secret = {x.id for x in answer_cells(book) if x.cell_type == "code"}
    book.cells = [cell for cell in book.cells if cell.id not in secret]
    return without_solutions(book)


# --- the sheets of an assignment ----------------------------------------


def teacher_sheet(course: Course, name: str, student: str) -> Notebook:
    """The notebook of a student with solutions: the reference."""
    assignment = course.find(name)
    numbers = numbers_of(assignment, course.secret, student)
    book = read_source(assignment)
    fill(book, numbers | assignment.keys(numbers) | about(assignment, student))
    book.metadata["course"] = {"assignment": name, "student": student}
    return book


def student_sheet(course: Course, name: str, student: str) -> Notebook:
    """The notebook that a student gets: no solution, the own numbers."""
    assignment = course.find(name)
    book = without_solutions(read_source(assignment))
    numbers = numbers_of(assignment, course.secret, student)
    shown = {k: v for k, v in numbers.items() if not k.startswith("_")}
    fill(book, shown | about(assignment, student))
    book.metadata["course"] = {"assignment": name, "student": student}
    return book


def solutions(course: Course, name: str, student: str) -> dict[str, str]:
    """The reference answers, by the name of their task."""
    return {
        cell.metadata["nbgrader"]["grade_id"]: cell.source
        for cell in answer_cells(teacher_sheet(course, name, student))
    }


def about(assignment: Assignment, student: str) -> dict[str, Any]:
    """What a sheet says of itself, and the answers to its examples."""
    minutes = sum(task.minutes for task in assignment.tasks)
    return assignment.examples() | {
        "student": student,
        "points": assignment.points,
        "minutes": minutes,
        "tasks": len(assignment.tasks),
    }


def without_solutions(book: Notebook) -> Notebook:
    """What `nbgrader generate_assignment` makes of a notebook."""
    book = copy.deepcopy(book)
    for cell in book.cells:
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        if marks.get("solution"):
            stub = CODE if cell.cell_type == "code" else TEXT
            cell.source = _cleared(cell.source, stub)
    return book


def _cleared(source: str, stub: str) -> str:
    """The regions between the two marks replaced; without marks, all."""
    kept: list[str] = []
    inside = found = False
    for line in source.split("\n"):
        if BEGIN in line:
            if inside:
                raise ValueError(f"{BEGIN!r} twice")
            inside = found = True
            indent = line[: len(line) - len(line.lstrip())]
            kept += [indent + text for text in stub.split("\n")]
        elif END in line:
            inside = False
        elif not inside:
            kept.append(line)
    if inside:
        raise ValueError(f"{BEGIN!r} without {END!r}")
    return "\n".join(kept) if found else stub


def fill(book: Notebook, numbers: Numbers) -> None:
    """Put the student's numbers where the source says {{name}}."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in numbers:
            raise ValueError(f"the source asks for {match[0]}: unknown")
        return str(numbers[match[1]])

    for cell in book.cells:
        cell.source = PLACE.sub(value, cell.source)


def answer_cells(book: Notebook) -> Iterator[Any]:
    """The cells that students fill in."""
    for cell in book.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            yield cell


def solution_texts(book: Notebook) -> set[str]:
    """Lines that only the source may have: no student may ever see one."""
    open_lines = set()
    for cell in without_solutions(book).cells:
        open_lines |= {line.strip() for line in cell.source.split("\n")}
    found = set()
    for cell in answer_cells(book):
        lines = {line.strip() for line in cell.source.split("\n")}
        found |= {x for x in lines - open_lines if len(x) > 24}
    return found


def rubric(assignment: Assignment) -> str:
    """How the tasks of an assignment are marked, as a page for teachers."""
    minutes = sum(task.minutes for task in assignment.tasks)
    lines = [f"# {assignment.title}", ""]
    lines += [f"{assignment.points} points, about {minutes} minutes.", ""]
    for task in assignment.tasks:
        lines += ["", *_rubric_of(task)]
    return "\n".join(lines) + "\n"


def _rubric_of(task: Task) -> list[str]:
    how = "marked by hand" if task.rubric else "marked by `make grade`"
    lines = [f"## {task.name} ({'★' * task.stars}, {task.minutes} minutes)"]
    lines += ["", f"{task.points} points, {how}.", ""]
    for points, text in task.rubric:
        lines.append(f"- {points}: {text}")
    lines += [f"- {check.points}: {check.name}" for check in task.checks]
    return lines


def write(book: Notebook, path: Path) -> None:
    """Write a notebook, after nbformat's own check."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.validate(book)
    text = json.dumps(book, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", "utf-8")
