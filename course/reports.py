"""Marks as files: for a student, for a teacher, for Canvas and Moodle.

Whatever came from a student is text: control characters are taken out, and no
cell of a table can begin a formula.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.marks import Manual, Marked, Marks
from course.submissions import STUDENT


@dataclass(frozen=True)
class Person:
    """A row of the roster."""

    student: str
    first: str = ""
    last: str = ""
    email: str = ""
    canvas_id: str = ""
    section: str = ""


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [
            {k: (v or "").strip() for k, v in row.items() if k}
            for row in csv.DictReader(file)
        ]


def read_roster(path: Path) -> dict[str, Person]:
    """The columns student, first, last, email, canvas_id and section."""
    names = Person.__dataclass_fields__
    people = [
        Person(**{k: v for k, v in row.items() if k in names})
        for row in read_rows(path)
    ]
    for person in people:
        if not STUDENT.fullmatch(person.student):
            raise ValueError(
                "student must be letters, digits and . _ @ + - only, "
                f"got {person.student!r}"
            )
    return {person.student: person for person in people}


def read_manual(path: Path) -> Manual:
    """Marks by hand: the columns student, task, points and comment."""
    return {
        (row["student"], row["task"]): (
            float(row["points"]),
            row.get("comment", ""),
        )
        for row in read_rows(path)
    }


def clean(text: str) -> str:
    """Without control characters, so that it can do nothing but be read."""
    return "".join(x if x.isprintable() else " " for x in text)


def summary(marks: Marks) -> str:
    left = sum(task.task.points for task in marks.tasks if task.waiting)
    text = f"{marks.points:g} of {marks.assignment.points} points"
    return f"{text}; {left} more wait for a mark by hand" if left else text


def feedback(marks: Marks, is_over: bool) -> str:
    """For the student. Claims are one number before the due date is over."""
    lines = [f"{marks.assignment.title}, {marks.student}", summary(marks)]
    lines += [f"Note: {clean(note)}" for note in marks.notes]
    for task in marks.tasks:
        got = "-" if task.waiting else f"{task.points:g}"
        lines += ["", f"{task.task.name}: {got} of {task.task.points}"]
        if all(result.claim for result in task.results) and not is_over:
            lines.append("  which claims are right is told after the due date")
            continue
        lines += _lines(task)
    return "\n".join(lines) + "\n"


def _lines(task: Marked) -> list[str]:
    lines = [
        f"  {x.points:g}/{x.most}  {x.name}"
        + (f": {clean(x.message)}" if x.message else "")
        for x in task.results
    ]
    return lines + (
        [f"  your cell says: {clean(task.note)}"] * bool(task.note)
    )


def final(marks: Marks) -> str:
    """The points for a gradebook: none before all is marked."""
    done = marks.tasks and not marks.waiting
    return f"{marks.points:g}" if done else ""


def overview(
    marks: Sequence[Marks], people: Mapping[str, Person]
) -> list[list[Any]]:
    """All marks, task by task. Moodle imports it: map the columns by name."""
    first = marks[0].assignment
    head = ["student", "first", "last", "email", first.name, "of"]
    rows: list[Any] = [[*head, *(task.name for task in first.tasks), "notes"]]
    for each in marks:
        x = people.get(each.student, Person(each.student))
        row = [x.student, x.first, x.last, x.email, final(each), first.points]
        found = {
            x.task.name: "?" if x.waiting else f"{x.points:g}"
            for x in each.tasks
        }
        row += [found.get(task.name, "") for task in first.tasks]
        rows.append([*row, " ".join(each.notes)])
    return rows


def details(marks: Sequence[Marks]) -> list[list[Any]]:
    """Every check of everybody, for the teacher: claims, too."""
    head = ["student", "task", "check", "points", "of", "message"]
    return [head] + [
        [each.student, task.task.name, x.name, x.points, x.most, x.message]
        for each in marks
        for task in each.tasks
        for x in task.results
    ]


def canvas(
    marks: Sequence[Marks], people: Mapping[str, Person]
) -> list[list[Any]]:
    """The rows that Canvas imports, a header and the points possible first."""
    name, most = marks[0].assignment.name, marks[0].assignment.points
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", name]
    rows: list[Any] = [head, ["    Points Possible", "", "", "", "", most]]
    for each in marks:
        x = people.get(each.student, Person(each.student))
        full = f"{x.last}, {x.first}" if x.last else x.student
        row = [full, x.canvas_id, "", x.student, x.section]
        rows.append([*row, final(each)])
    return rows


def write_rows(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """A CSV file in which no cell is a formula."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for row in rows:
            writer.writerow([harmless(clean(str(cell))) for cell in row])


def harmless(cell: str) -> str:
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@") else cell


def write(
    folder: Path,
    marks: Sequence[Marks],
    people: Mapping[str, Person],
    is_over: bool,
) -> None:
    """All files of an assignment."""
    (folder / "feedback").mkdir(parents=True, exist_ok=True)
    for each in marks:
        path = folder / "feedback" / f"{each.student}.txt"
        path.write_text(feedback(each, is_over), "utf-8")
    write_rows(folder / "marks.csv", overview(marks, people))
    write_rows(folder / "details.csv", details(marks))
    write_rows(folder / "canvas.csv", canvas(marks, people))
