"""The assignments: right answers, wrong ones, sheets, marks, the whole cycle.

Answers of ours run in this process; `test_assignments_box.py` puts them,
and answers that attack, into boxes.
"""

import csv
import dataclasses
import json
import math
import re
from random import Random

import numpy as np
import pytest

from course import box, inside, reports, sheets, submissions, values
from course.__main__ import main
from course.marks import mark, mark_task
from course.tasks import load, load_module, numbers_of
from tests import ROOT

FOLDER = ROOT / "notebooks" / "assignments"
if not FOLDER.exists():
    pytest.skip("the course is kept elsewhere", allow_module_level=True)
COURSE = load(FOLDER)
STUDENTS = ("ada", "grace", "emmy", "s-1")
WRONG = [
    (assignment, wrong)
    for assignment in COURSE.assignments
    for wrong in load_module(FOLDER / f"{assignment.name}_wrong.py").WRONG
]
TASKS = [(a, task) for a in COURSE.assignments for task in a.tasks]
CODE = [(a, task) for a, task in TASKS if not task.rubric]


def name_of(value):
    return getattr(value, "trap", getattr(value, "name", str(value)))


@pytest.fixture
def trusted(monkeypatch):
    """Answers of this repository need no box."""

    def ask(cells, entry, questions, **options):
        namespace = {"math": math, "np": np}
        found, errors = {}, {}
        for cell in cells:
            exec(cell, namespace)
        for place, arguments in enumerate(questions):
            given = json.loads(json.dumps(arguments))
            try:
                value = namespace[entry]
                value = value(*given) if callable(value) else value
                line = json.dumps(inside.plain(value)).encode()
                found[place] = values.read_value(line)
            except (ArithmeticError, TypeError, ValueError) as error:
                errors[place] = str(error)
        return box.Outcome(found, errors)

    monkeypatch.setattr(box, "ask", ask)


def cells_of(assignment, student):
    """The reference answers, by the name of their task."""
    return sheets.solutions(COURSE, assignment.name, student)


def missed(assignment, task, cells, student):
    numbers = numbers_of(assignment, COURSE.secret, student)
    submission = submissions.Submission(cells)
    found = mark_task(task, submission, numbers, student.encode() * 4)
    return task.points - found.points, found


@pytest.mark.parametrize("student", STUDENTS[:2])
@pytest.mark.parametrize(("assignment", "task"), CODE, ids=name_of)
def test_the_reference_gets_all_points(trusted, assignment, task, student):
    lost, found = missed(
        assignment, task, cells_of(assignment, student), student
    )
    assert lost == 0, found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("assignment", "wrong"), WRONG, ids=name_of)
def test_a_wrong_answer_loses_just_its_points(trusted, assignment, wrong):
    task = next(x for x in assignment.tasks if x.name == wrong.task)
    for student in STUDENTS[:1]:
        numbers = numbers_of(assignment, COURSE.secret, student)
        cells = cells_of(assignment, student)
        code, lost = wrong.code, wrong.lost
        cells[task.name] = code(numbers) if callable(code) else code
        expected = lost(numbers) if callable(lost) else lost
        found, marked = missed(assignment, task, cells, student)
        assert found == expected, (student, marked)


@pytest.mark.parametrize(("assignment", "task"), CODE, ids=name_of)
def test_every_task_has_three_wrong_answers(assignment, task):
    found = {wrong.trap for _, wrong in WRONG if wrong.task == task.name}
    assert len(found) >= 3


@pytest.mark.parametrize(("assignment", "task"), CODE, ids=name_of)
def test_questions_differ_by_student_and_cover_every_check(assignment, task):
    for check in task.checks:
        asked = []
        for student in STUDENTS[:2]:
            numbers = numbers_of(assignment, COURSE.secret, student)
            questions = check.ask(Random(student), numbers)
            assert questions
            asked.append([question.arguments for question in questions])
        assert asked[0] != asked[1] or asked[0] == [[]]


@pytest.mark.parametrize("assignment", COURSE.assignments, ids=name_of)
def test_no_sheet_shows_a_solution(assignment):
    secret = sheets.solution_texts(sheets.read_source(assignment))
    assert len(secret) > 10
    for student in STUDENTS:
        sheet = sheets.student_sheet(COURSE, assignment.name, student)
        text = "\n".join(cell.source for cell in sheet.cells)
        assert not [line for line in secret if line in text]
        assert not re.search(r"BEGIN SOLUTION|END SOLUTION|\{\{", text)
        numbers = numbers_of(assignment, COURSE.secret, student)
        for key in assignment.keys(numbers).values():
            assert key not in json.dumps(sheet)
        assert COURSE.secret.decode() not in json.dumps(sheet)
        assert "accountlib" not in text


@pytest.mark.parametrize("assignment", COURSE.assignments, ids=name_of)
def test_a_sheet_runs_outside_of_a_clone(assignment):
    """In a box with NumPy and SciPy only; with solutions, examples agree."""
    sheet = sheets.teacher_sheet(COURSE, assignment.name, "ada")
    cells = [x.source for x in sheet.cells if x.cell_type == "code"]
    said = "said = []\ndef print(*words): said.append(' '.join(words))"
    found = box.ask([said, *cells], "said", [[]])
    assert found.broken == "" and set(found.values[0]) == {
        "right for this example"
    }
    sheet = sheets.student_sheet(COURSE, assignment.name, "ada")
    cells = [
        x.source
        for x in sheet.cells
        if x.cell_type == "code" and "claims" not in x.source
    ]
    found = box.ask([said, *cells], "said", [[]])
    assert found.broken == "" and set(found.values[0]) == {"not yet"}


def written(path, cells, **metadata):
    path.parent.mkdir(parents=True, exist_ok=True)
    book = {"cells": cells, "metadata": metadata, "nbformat": 4}
    path.write_text(json.dumps(book), "utf-8")
    return path


def cell(name, source, kind="code"):
    marks = {"nbgrader": {"grade_id": name}}
    return {"cell_type": kind, "metadata": marks, "source": source}


def test_only_answer_cells_are_taken(tmp_path):
    path = written(
        tmp_path / "ps1.ipynb",
        [
            cell("a", "first"),
            cell("a", "second"),
            cell("b", ["two\n", "lines"]),
            cell("unknown", "1/0"),
            cell(["a"], "odd"),
            cell("c", {"not": "text"}),
            {"cell_type": "code", "metadata": {}, "source": "1/0"},
            "no cell at all",
            cell("t", "a derivation", "markdown"),
        ],
        course={"student": "grace"},
    )
    found = submissions.read(path, {"a", "b", "c", "d", "t"})
    assert found.cells == {"a": "first", "b": "two\nlines", "c": ""}
    assert found.texts == {"t": "a derivation"}
    assert found.student == "grace"
    assert len(found.notes) == 2  # a twice, d missing


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"cells": 3}', "[" * 100_000, '{"cells": ' + "1" * 9999],
)
def test_what_is_no_notebook_gets_a_note(tmp_path, text):
    path = tmp_path / "ps1.ipynb"
    path.write_text(text, "utf-8")
    found = submissions.read(path, {"a"})
    assert found.cells == {} and "no notebook" in found.notes[0]


def test_files_are_found_and_links_are_not_followed(tmp_path):
    written(tmp_path / "ada" / "ps1.ipynb", [])
    written(tmp_path / "grace" / "ps1" / "ps1.ipynb", [])  # as nbgrader has it
    (tmp_path / "emmy").mkdir()
    (tmp_path / "emmy" / "ps1.ipynb").symlink_to(tmp_path / "ada/ps1.ipynb")
    (tmp_path / "s1").symlink_to(tmp_path / "ada")
    found = [student for student, _ in submissions.find(tmp_path, "ps1")]
    assert found == ["ada", "grace"]
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / "=cmd()").mkdir()
    with pytest.raises(ValueError, match="name of a student"):
        list(submissions.find(tmp_path, "ps1"))


@pytest.mark.parametrize(
    "line",
    [
        b"NaN",
        b"[1, NaN]",
        b"1" * 400,
        b"[" * 10_000,
        b"[[[[[[[[1]]]]]]]]",
        b'"' + b"x" * 3000 + b'"',
        b"[" + b"1," * 250_000 + b"1]",
        b"\xff",
        b"{}{}",
        b"",
    ],
)
def test_values_that_are_refused(line):
    with pytest.raises(values.Malformed):
        values.read_value(line)


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_release_submit_grade_feedback(tmp_path, trusted, capsys):
    out, handed_in = tmp_path / "out", tmp_path / "submitted"
    words = ["release", "--course", str(FOLDER), "--only", "ps1"]
    assert main([*words, "--out", str(out)]) == 0
    solved = out / "teachers" / "solutions"
    for student, path in (
        ("ada", solved / "ada"),
        ("grace", out / "students" / "grace"),
    ):
        (handed_in / student).mkdir(parents=True)
        text = (path / "ps1.ipynb").read_text("utf-8")
        (handed_in / student / "ps1.ipynb").write_text(text, "utf-8")
    manual = tmp_path / "manual.csv"
    command = ["grade", "--course", str(FOLDER), "--out", str(out)]
    command += ["--only", "ps1", str(handed_in)]
    text = (handed_in / "grace" / "ps1.ipynb").read_text("utf-8")
    text = text.replace("raise NotImplementedError()", "pass")
    (handed_in / "grace" / "ps1.ipynb").write_text(text, "utf-8")
    # before the derivation is marked, no gradebook gets a number
    assert main(command) == 0
    folder = out / "marks" / "ps1"
    assert rows(folder / "canvas.csv")[2][-1] == ""
    manual.write_text("student,task,points,comment\nada,ps1-derive,3,=nice\n")
    assert main([*command, "--manual", str(manual)]) == 0
    most = COURSE.find("ps1").points
    canvas = rows(folder / "canvas.csv")
    assert canvas[0] == [
        *("Student", "ID", "SIS User ID", "SIS Login ID", "Section", "ps1")
    ]
    assert canvas[1][0].strip() == "Points Possible"
    assert canvas[1][-1] == str(most)
    assert canvas[2] == ["Example, Ada", "101", "", "ada", "1", str(most - 1)]
    assert canvas[3][-1] == "0"
    moodle = rows(folder / "moodle.csv")
    assert moodle[0][3:] == ["Email address", "ps1", "ps1 (feedback)"]
    assert moodle[1][4] == str(most - 1)
    found = json.loads((folder / "feedback/ada/results.json").read_text())
    assert found["score"] == most - 1
    assert sum(test["max_score"] for test in found["tests"]) == most
    assert "emmy" in capsys.readouterr().out  # handed in nothing


def test_a_constant_earns_nothing(trusted):
    table = '{"first": 0, "mass": [0.0], "infinity": 1.0}'
    constants = ["0", "[0, 0]", "None", table]
    for assignment, task in CODE:
        if task.entry == "claims":
            continue
        for constant in constants:
            cells = {task.name: f"def {task.entry}(*x): return {constant}"}
            lost, found = missed(assignment, task, cells, "ada")
            assert lost == task.points, (constant, found)


def test_a_failure_of_the_grader_is_no_mark(tmp_path, monkeypatch):
    """It stops nobody else, and puts no number into a gradebook."""
    for student in ("ada", "grace"):
        written(tmp_path / "in" / student / "ps1.ipynb", [])
    monkeypatch.setattr("course.__main__.mark", lambda *x, **y: 1 / 0)
    words = ["grade", "--course", str(FOLDER), "--only", "ps1"]
    words += ["--out", str(tmp_path / "out"), str(tmp_path / "in")]
    assert main(words) == 1
    table = rows(tmp_path / "out" / "marks" / "ps1" / "canvas.csv")
    assert [row[-1] for row in table[2:]] == ["", ""]


def _only(assignment, task):
    return dataclasses.replace(assignment, tasks=(task,))


def test_feedback_escapes_and_never_tells(trusted):
    assignment = COURSE.find("ps1")
    cells = dict.fromkeys(cells_of(assignment, "ada"), "x = 1")
    cells["ps1-hockey"] = (
        "def hockey_stick(p, q, alpha):\n"
        "    raise ValueError('<script>alert(1)</script>\\x1b[2J')\n"
    )
    submission = submissions.Submission(cells, student="<b>eve</b>")
    only = _only(assignment, assignment.tasks[0])
    marks = mark(COURSE, only, "ada", submission)
    page, text = reports.as_html(marks), reports.as_text(marks)
    assert "<script" not in page and "&lt;script&gt;" in page
    assert "<b>eve" not in page and "\x1b" not in page + text
    assert marks.points == 0


def test_no_cell_of_a_table_is_a_formula():
    for text in ("=1+1", "+1", "-1", "@x", "\tx"):
        assert reports.harmless(text)[0] == "'"
    assert reports.harmless("ada") == "ada"
