"""The assignments: right answers, wrong ones, sheets, marks, the whole cycle.

Answers of ours run in this process; `test_assignments_box.py` puts them,
and answers that attack, into boxes.
"""

import csv
import functools
import json
import math
import re
from datetime import datetime

import numpy as np
import pytest

from course import box, inside, reports, sheets, submissions
from course import marks as marking
from course import tasks as kinds
from course.__main__ import main
from course.marks import mark, mark_task
from course.tasks import load, load_module, near, numbers_of
from tests import ROOT

FOLDER = ROOT / "notebooks" / "assignments"
if not FOLDER.exists():
    pytest.skip("the course is kept elsewhere", allow_module_level=True)
COURSE = load(FOLDER)
PS1 = COURSE.find("ps1")
CODE = [(a, t) for a in COURSE.assignments for t in a.tasks if not t.rubric]
SWAP = {"upper": "lower", "lower": "upper", "neither": "neither"}
WRONG = [(a, x) for a in COURSE.assignments for x in load_module(a.file).WRONG]
# Wrong at extreme arguments only: the sheet says so in words.
SILENT = {"1 - cdf", "mass at infinity with lost digits", "lost digits"}
SILENT |= {"a search that ends too early"}


def name_of(value):
    return getattr(value, "trap", getattr(value, "name", str(value)))


@pytest.fixture
def trusted(monkeypatch):
    """Answers of this repository need no box."""

    def ask(cells, entry, questions, **options):
        namespace, found = {"math": math, "np": np}, box.Outcome()
        inside.run_cells(cells, namespace)
        for place, arguments in enumerate(json.loads(json.dumps(questions))):
            try:
                value = inside.value_of(namespace[entry], arguments)
                found.values[place] = value
            except Exception as error:
                found.errors[place] = str(error)
        return found

    monkeypatch.setattr(box, "ask", ask)


@functools.cache
def solutions(name, student):
    return sheets.solutions(COURSE, name, student)


def cells_of(assignment, student="ada"):
    """The reference answers, by the name of their task."""
    return dict(solutions(assignment.name, student))


def marked(assignment, task, cells, student="ada"):
    numbers = numbers_of(assignment, COURSE.secret, student)
    return mark_task(task, cells, numbers, student.encode() * 4)


@pytest.mark.parametrize("student", ["ada", "s-5"])
@pytest.mark.parametrize(("assignment", "task"), CODE, ids=name_of)
def test_the_reference_gets_all_points(trusted, assignment, task, student):
    found = marked(assignment, task, cells_of(assignment, student), student)
    assert found.points == task.points, found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("assignment", "wrong"), WRONG, ids=name_of)
def test_a_wrong_answer_loses_just_its_points(trusted, assignment, wrong):
    task = next(x for x in assignment.tasks if x.name == wrong.task)
    cells = cells_of(assignment)
    cells[task.name] = wrong.code(cells[task.name])
    found = marked(assignment, task, cells)
    assert task.points - found.points == wrong.lost, found


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("assignment", "wrong"), WRONG, ids=name_of)
def test_an_example_notices_a_wrong_answer(assignment, wrong):
    """What the examples of a task print: errors count as noticed."""
    said, current = [], ""
    space = {"math": math, "np": np, "print": lambda *x: said.append(str(x))}
    for cell in sheets.teacher_sheet(COURSE, assignment.name, "ada").cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        current = name or current
        source = cell.source
        if cell.cell_type != "code":
            continue
        if name == wrong.task:
            source = wrong.code(source)
        try:
            if name or current in ("", wrong.task):
                exec(source, space)
        except (ArithmeticError, TypeError, ValueError) as error:
            said.append(f"is not it: {error}")
    noticed = "is not it" in "".join(said)
    assert noticed == (wrong.trap not in SILENT)


def test_a_constant_earns_nothing(trusted):
    table = '{"first": 0, "mass": [0.0], "infinity": 1.0}'
    for assignment, task in CODE:
        for constant in ("0", "[0, 0]", table):
            code = f"def {task.entry}(*x): return {constant}"
            if task.entry == "claims":
                code = f"claims = {constant}"
            found = marked(assignment, task, {task.name: code})
            assert found.points == 0, (constant, found)


@pytest.mark.parametrize("assignment", COURSE.assignments, ids=name_of)
def test_claims(trusted, assignment):
    """Wrong readings lose the pairs that they miss; none is the key."""
    task = assignment.tasks[-1]
    sides = numbers_of(assignment, COURSE.secret, "ada")["_sides"]
    assert sorted(sides) == sorted(["upper", "lower", "neither"] * 2)
    for misread in (SWAP.get, lambda side: "upper", lambda side: side):
        said = [misread(side) for side in sides]
        code = f"claims = {dict(zip('ABCDEF', said, strict=True))}"
        found = marked(assignment, task, {task.name: code})
        pairs = [said[i : i + 2] == sides[i : i + 2] for i in (0, 2, 4)]
        assert found.points == sum(pairs)


@pytest.mark.parametrize("assignment", COURSE.assignments, ids=name_of)
def test_no_sheet_shows_a_solution(assignment):
    texts = []
    for student in ("ada", "grace"):
        sheet = sheets.student_sheet(COURSE, assignment.name, student)
        text = "\n".join(cell.source for cell in sheet.cells)
        shown = {line.strip() for line in text.split("\n")}
        for answer in cells_of(assignment, student).values():
            lines = {line.strip() for line in answer.split("\n")} - shown
            assert len(lines) > 2
            assert not [x for x in lines if len(x) > 24 and x in text]
        assert not re.search(r"SOLUTION|\{\{|accountlib", text)
        assert COURSE.secret.decode() not in json.dumps(sheet)
        assert "## Task" not in sheet.cells[0].source  # the rules come first
        texts.append(text)
    assert texts[0] != texts[1]


@pytest.mark.parametrize("assignment", COURSE.assignments, ids=name_of)
def test_a_sheet_runs_outside_of_a_clone(assignment):
    """In a box with NumPy and SciPy only; with solutions, examples agree."""
    for make, word in (
        (sheets.teacher_sheet, "right for this example"),
        (sheets.student_sheet, "not yet"),
    ):
        sheet = make(COURSE, assignment.name, "ada")
        cells = [x.source for x in sheet.cells if x.cell_type == "code"]
        if word == "not yet":  # claims stop at YOUR CODE HERE
            cells = cells[:-2]
        said = "said = []\ndef print(*words): said.append(' '.join(words))"
        limits = box.Limits(patience=20.0)  # the whole sheet in one question
        found = box.ask([said, *cells], "said", [[]], limits=limits)
        assert found.broken == "" and set(found.values[0]) == {word}


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
            cell("c", 3),
            {"cell_type": "code", "metadata": {}, "source": "1/0"},
            "no cell at all",
            cell("t", "a derivation", "markdown"),
        ],
        course={"student": "grace"},
    )
    found = submissions.read(path, {"a", "b", "c", "t"})
    assert found.cells == {"a": "first", "b": "two\nlines"}
    assert found.texts == {"t": "a derivation"}
    assert found.student == "grace"
    assert len(found.notes) == 2  # a twice, c missing


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"cells": 3}', "[" * 100_000]
)
def test_what_is_no_notebook_gets_a_note(tmp_path, text):
    path = tmp_path / "ps1.ipynb"
    path.write_text(text, "utf-8")
    found = submissions.read(path, {"a"})
    assert found.cells == {} and "no notebook" in found.notes[0]


def test_files_are_found_and_links_are_not_followed(tmp_path):
    written(tmp_path / "ada" / "ps1.ipynb", [])
    written(tmp_path / "grace" / "ps1" / "ps1.ipynb", [])
    (tmp_path / "emmy").mkdir()
    (tmp_path / "emmy" / "ps1.ipynb").symlink_to(tmp_path / "ada/ps1.ipynb")
    (tmp_path / "s1").symlink_to(tmp_path / "ada")
    found = [student for student, _ in submissions.find(tmp_path, "ps1")]
    assert found == ["ada", "grace"]
    (tmp_path / "=cmd()").mkdir()
    with pytest.raises(ValueError, match="name of a student"):
        list(submissions.find(tmp_path, "ps1"))


def test_how_far_an_answer_is_off():
    judge = near(lambda: 0.067)
    assert judge(0.067 * (1 + 1e-7)) == ""
    assert "above the truth, by less than 1 %" in judge(0.0671)
    assert "below the truth, by more than 1 %" in judge(0.05)
    assert "above the truth, by more than 1 %" in judge(math.inf)
    assert near(lambda: math.inf)(math.inf) == ""
    assert "below" in near(lambda: math.inf)(1e300)
    assert "0.067 " not in judge(0.0671) + judge(0.05)
    assert "at place 1" in near(lambda: [1.0, 2.0], place=1)([1, 1])
    for bad in (math.nan, True, "1", None, [1.0]):
        with pytest.raises(kinds.Malformed):
            judge(bad)
    judge = kinds.between(1, 1.05, lambda: 2.0)
    assert judge(2.05) == "" and "small" in judge(1.9) and "large" in judge(3)


REFUSES = """
def gaussian_delta(epsilon, sigma):
    if epsilon < 1:
        raise ValueError("epsilon is below 1")
    from scipy.special import ndtr
    at, half = epsilon * sigma, 1 / (2 * sigma)
    return ndtr(half - at) - math.exp(epsilon) * ndtr(-half - at)
"""


def marked_sheet(cells):
    return mark(COURSE, PS1, "ada", submissions.Submission(cells))


def test_nobody_pays_twice_for_one_error(trusted):
    found = marked_sheet(cells_of(PS1) | {"ps1-gaussian": REFUSES})
    points = {x.task.name: x.points for x in found.tasks}
    assert points["ps1-gaussian"] < 4 and points["ps1-epsilon"] == 3
    assert "right with our ps1-gaussian" in reports.feedback(found, True)


def test_a_reference_beside_an_answer_is_never_quoted(monkeypatch, trusted):
    """It is in the second box, and nothing that is said there gets out."""
    ours = "OURS = 'a secret of ours'\ndef gaussian_delta(*x): return 0.1"
    monkeypatch.setattr(
        marking, "solutions", lambda *x: {"ps1-gaussian": ours}
    )
    for thief in ("return OURS", "raise ValueError(OURS)"):
        cells = {
            "ps1-gaussian": "OURS = 'x'",
            "ps1-epsilon": f"def gaussian_epsilon(*x): {thief}",
        }
        found = marked_sheet(cells)
        assert found.points == 0
        assert "a secret" not in reports.feedback(found, True)
        assert "a secret" not in str(reports.details([found]))


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_release_submit_grade_feedback(tmp_path, trusted, capsys):
    out, handed_in = tmp_path / "out", tmp_path / "submitted"
    words = ["--course", str(FOLDER), "--only", "ps1", "--out", str(out)]
    assert main(["release", *words]) == 0
    assert not list(out.rglob("exam*"))
    for student, home in (
        ("ada", out / "teachers" / "solutions" / "ada"),
        ("grace", out / "students" / "grace"),
    ):
        text = (home / "ps1.ipynb").read_text("utf-8")
        text = text.replace("raise NotImplementedError()", "pass")
        (handed_in / student).mkdir(parents=True)
        (handed_in / student / "ps1.ipynb").write_text(text, "utf-8")
    # before the derivation is marked, no gradebook gets a number
    assert main(["grade", *words, str(handed_in)]) == 0
    folder, most = out / "marks" / "ps1", PS1.points
    assert rows(folder / "canvas.csv")[2][-1] == ""
    by_hand = tmp_path / "by_hand.csv"
    by_hand.write_text("student,task,points,comment\nada,ps1-derive,3,=nice\n")
    again = [*words, "--manual", str(by_hand), str(handed_in)]
    assert main(["grade", *again]) == 0
    assert rows(folder / "canvas.csv")[1:] == [
        ["    Points Possible", "", "", "", "", str(most)],
        ["Example, Ada", "101", "", "ada", "1", str(most - 1)],
        ["Example, Grace", "102", "", "grace", "1", "0"],
    ]
    marks = rows(folder / "marks.csv")
    assert marks[0][:6] == "student first last email ps1 of".split()
    assert marks[1][3:6] == ["ada@example.org", str(most - 1), str(most)]
    assert ["ada", "ps1-derive", "answer", "3.0", "4", "'=nice"] in rows(
        folder / "details.csv"
    )
    assert "3/4  answer: =nice" in (folder / "feedback/ada.txt").read_text()
    assert "emmy" in capsys.readouterr().out  # handed in nothing


def test_claims_are_one_number_until_the_due_date(trusted):
    """Then each that is wrong is named, with its side."""
    sides = numbers_of(PS1, COURSE.secret, "ada")["_sides"]
    said = [SWAP[sides[0]] if sides[0] != "neither" else "upper", *sides[1:]]
    code = f"claims = {dict(zip('ABCDEF', said, strict=True))}"
    found = marked_sheet({"ps1-claims": code})
    before, after = (reports.feedback(found, over) for over in (False, True))
    assert "ps1-claims: 2 of 3\n  which claims" in before
    assert "claims A" not in before and "you say" not in before
    assert f"A is {sides[0]!r}, you say {said[0]!r}" in after
    assert "1/1  claims C and D" in after
    course = load(FOLDER)
    assert not course.is_over(PS1)  # no date, no end
    for date, over in (("2001-01-01", True), ("2999-01-01T12:00", False)):
        course.due[PS1.name] = datetime.fromisoformat(date)
        assert course.is_over(PS1) == over


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


def test_no_text_of_a_student_can_do_anything():
    assert reports.clean("a\x1b[2Jb\n") == "a [2Jb "
    for text in ("=1+1", "+1", "-1", "@x"):
        assert reports.harmless(text)[0] == "'"
    assert reports.harmless("ada") == "ada"
