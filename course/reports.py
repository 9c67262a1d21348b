"""Marks as files: for a person, for Canvas, Moodle and Gradescope.

Whatever came from a student is text: control characters are taken out, HTML
is escaped, and no cell of a table can begin a formula.
"""

import csv
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.marks import Marked, Marks, Result
from course.submissions import STUDENT

STYLE = (
    "body{font:1rem/1.5 sans-serif;max-width:45rem;margin:2rem auto}"
    "td{padding:.2rem .8rem;vertical-align:top}.missed{color:#a00}"
)
SAFE = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True)
class Person:
    """A row of the roster."""

    student: str
    first: str = ""
    last: str = ""
    email: str = ""
    canvas_id: str = ""
    section: str = ""


def read_roster(path: Path) -> dict[str, Person]:
    """The columns student, first, last, email, canvas_id and section."""
    with path.open(encoding="utf-8", newline="") as file:
        people = [
            Person(**{k: v.strip() for k, v in row.items()})
            for row in csv.DictReader(file)
        ]
    for person in people:
        if not STUDENT.fullmatch(person.student):
            raise ValueError(
                "student must be letters, digits and . _ @ + - only, "
                f"got {person.student!r}"
            )
    return {person.student: person for person in people}


def read_manual(path: Path) -> dict[tuple[str, str], tuple[float, str]]:
    """Marks by hand: the columns student, task, points and comment."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            (row["student"].strip(), row["task"].strip()): (
                float(row["points"]),
                row.get("comment") or "",
            )
            for row in csv.DictReader(file)
        }


# --- for a student ------------------------------------------------------


def clean(text: str) -> str:
    """Without control characters, so that it can do nothing but be read."""
    return "".join(x if x.isprintable() else " " for x in text)


def shown(points: float) -> str:
    return f"{points:g}"


def lines_of(result: Result) -> str:
    line = f"{shown(result.points)}/{result.most}  {result.name}"
    return f"{line}: {clean(result.message)}" if result.message else line


def summary(marks: Marks) -> str:
    left = sum(task.task.points for task in marks.tasks if task.waiting)
    text = f"{shown(marks.points)} of {marks.assignment.points} points"
    return f"{text}; {left} more wait for a mark by hand" if left else text


def as_text(marks: Marks) -> str:
    """Feedback as plain text."""
    lines = [f"{marks.assignment.title}, {marks.student}", summary(marks), ""]
    lines += [f"Note: {clean(note)}" for note in marks.notes]
    for task in marks.tasks:
        lines += ["", _head(task)]
        lines += [f"  {lines_of(x)}" for x in task.results if not x.waiting]
        if task.note:
            lines.append(f"  your cell says: {clean(task.note)}")
    return "\n".join(lines) + "\n"


def _head(task: Marked) -> str:
    if task.waiting:
        return f"{task.task.name}: - of {task.task.points}, not marked yet"
    return f"{task.task.name}: {shown(task.points)} of {task.task.points}"


def as_html(marks: Marks) -> str:
    """The same as a page that loads and runs nothing."""
    title = html.escape(f"{marks.assignment.title}, {marks.student}")
    rows = []
    for task in marks.tasks:
        rows.append(f"<h2>{html.escape(_head(task))}</h2><table>")
        for result in task.results:
            if result.waiting:
                continue
            full = result.points == result.most
            kind = "" if full else ' class="missed"'
            text = html.escape(lines_of(result))
            rows.append(f"<tr{kind}><td>{text}</td></tr>")
        if task.note:
            note = html.escape(clean(task.note))
            rows.append(f"<tr><td>your cell says: {note}</td></tr>")
        rows.append("</table>")
    notes = [f"<p>Note: {html.escape(clean(x))}</p>" for x in marks.notes]
    return "\n".join(
        [
            '<!doctype html><html lang="en"><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{SAFE}">',
            f"<title>{title}</title><style>{STYLE}</style>",
            f"<h1>{title}</h1><p>{html.escape(summary(marks))}</p>",
            *notes,
            *rows,
            "</html>",
            "",
        ]
    )


# --- for other programs -------------------------------------------------


def gradescope(marks: Marks, seconds: float = 0.0) -> dict[str, Any]:
    """The `results.json` of an autograder; what waits there has no score."""

    def score(result: Result) -> dict[str, Any]:
        full = result.points == result.most
        status = "passed" if full else "failed"
        found = {"score": result.points, "status": status}
        return {} if result.waiting else found

    tests = [
        score(result)
        | {
            "name": f"{task.task.name}: {result.name}",
            "max_score": result.most,
            "output": clean(result.message or task.note),
            "output_format": "text",
            "visibility": "visible",
        }
        for task in marks.tasks
        for result in task.results
    ]
    return {
        "score": marks.points,
        "execution_time": round(seconds),
        "output": "\n".join(map(clean, marks.notes)),
        "output_format": "text",
        "stdout_visibility": "hidden",
        "tests": tests,
    }


def final(marks: Marks) -> str:
    """The points for a gradebook: none before all is marked."""
    done = marks.tasks and not marks.waiting
    return shown(marks.points) if done else ""


def canvas(marks: Sequence[Marks], people: Mapping[str, Person]) -> list[Any]:
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


def moodle(marks: Sequence[Marks], people: Mapping[str, Person]) -> list[Any]:
    """The rows that Moodle imports; map the columns by their names."""
    name = marks[0].assignment.name
    head = ["First name", "Last name", "ID number", "Email address", name]
    rows: list[Any] = [[*head, f"{name} (feedback)"]]
    for each in marks:
        x = people.get(each.student, Person(each.student))
        row = [x.first, x.last, x.student, x.email, final(each)]
        rows.append([*row, as_text(each)])
    return rows


def overview(marks: Sequence[Marks]) -> list[Any]:
    """All marks, task by task, for the teacher."""
    tasks = [task.name for task in marks[0].assignment.tasks]
    rows: list[Any] = [["student", "points", "of", *tasks, "notes"]]
    for each in marks:
        found = {
            x.task.name: "?" if x.waiting else shown(x.points)
            for x in each.tasks
        }
        row = [each.student, shown(each.points), each.assignment.points]
        row += [found.get(name, "") for name in tasks]
        rows.append([*row, " ".join(map(clean, each.notes))])
    return rows


def write_rows(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """A CSV file in which no cell is a formula."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for row in rows:
            writer.writerow([harmless(str(cell)) for cell in row])


def harmless(cell: str) -> str:
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t") else cell


def write(
    folder: Path, marks: Sequence[Marks], people: Mapping[str, Person]
) -> None:
    """All files of an assignment."""
    feedback = folder / "feedback"
    feedback.mkdir(parents=True, exist_ok=True)
    for each in marks:
        home = feedback / each.student
        home.mkdir(exist_ok=True)
        (home / "feedback.txt").write_text(as_text(each), "utf-8")
        (home / "feedback.html").write_text(as_html(each), "utf-8")
        text = json.dumps(gradescope(each), indent=1)
        (home / "results.json").write_text(text, "utf-8")
    write_rows(folder / "marks.csv", overview(marks))
    write_rows(folder / "canvas.csv", canvas(marks, people))
    write_rows(folder / "moodle.csv", moodle(marks, people))
