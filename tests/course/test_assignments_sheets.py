"""What a sheet tells its reader, and what the feedback does."""

import html
import math
import re

import numpy as np
import pytest

from course import marks as marking
from course import reports, sheets, submissions
from course.marks import mark
from course.tasks import close, numbers_of
from tests import ROOT
from tests.course.test_assignments import (
    COURSE,
    FOLDER,
    WRONG,
    _only,
    cells_of,
    name_of,
    trusted,
)

assert trusted  # a fixture
PAGES = {
    re.findall(r"^# (.+)$", text, re.M)[0]: text
    for path in (ROOT / "notebooks").rglob("*.md")
    if path.parent != FOLDER
    for text in [path.read_text("utf-8")]
}
# Wrong at extreme arguments only: the sheet says so in words.
SILENT = {
    ("ps1-gaussian", "one minus a distribution function"),
    ("ps2-compose", "mass at infinity with lost digits"),
    ("ps3-tilt", "a search that ends too early"),
    ("ps5-exchange", "one minus a distribution function"),
    ("ps8-attack", "one minus a product"),
    ("ps8-cut", "one minus a product"),
}


@pytest.mark.parametrize("assignment", COURSE.assignments, ids=name_of)
def test_the_reading_is_there(assignment):
    """Titles in italics, sections and exercises in quotation marks."""
    text = assignment.source.read_text("utf-8")
    reading = re.findall(
        r"^- \*(.+?)\*:? (.+)$", text.split("What you")[0], re.M
    )
    assert 3 <= len(reading) <= 6
    read = set()
    for title, line in reading:
        assert title in PAGES
        for name in re.findall(r'"(.+?)"', line):
            section = rf"^(#+|```+{{exercise}} ★+) {re.escape(name)}$"
            assert re.search(section, PAGES[title], re.M), (title, name)
        for numbers in re.findall(r"\(tasks? ([^)]+)\)", line):
            first = [int(x) for x in re.findall(r"\d+", numbers)]
            many = range(first[0], first[-1] + 1)
            read |= {*many} if "to" in numbers else {*first}
    assert read == set(range(1, len(assignment.tasks) + 1))


def said_by_examples(assignment, wrong):
    """What the examples of a task print for a wrong answer."""
    numbers = numbers_of(assignment, COURSE.secret, "ada")
    said, current = [], ""
    space = {"math": math, "np": np, "print": lambda *x: said.append(str(x))}
    for cell in sheets.teacher_sheet(COURSE, assignment.name, "ada").cells:
        if cell.cell_type != "code":
            continue
        source = cell.source
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        current = name or current
        if name == wrong.task:
            code = wrong.code
            source = code(numbers) if callable(code) else code
        try:
            if name or current in ("", wrong.task):
                exec(source, space)
        except (ArithmeticError, TypeError, ValueError) as error:
            said.append(f"is not it: {error}")
    return "".join(said)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("assignment", "wrong"),
    [x for x in WRONG if not x[1].task.endswith("claims")],
    ids=name_of,
)
def test_an_example_notices_a_wrong_answer(assignment, wrong):
    noticed = "is not it" in said_by_examples(assignment, wrong)
    assert noticed == ((wrong.task, wrong.trap) not in SILENT)


def test_how_far_an_answer_is_off():
    judge = close(lambda: 0.067, "a case")
    assert judge(0.067 * (1 + 1e-7)) == ""
    assert "above the truth, by less than 1 %" in judge(0.0671)
    assert "below the truth, by more than 1 %" in judge(0.05)
    assert "above the truth, by more than 1 %" in judge(math.inf)
    assert close(lambda: math.inf, "a case")(math.inf) == ""
    assert "below" in close(lambda: math.inf, "a case")(1e300)
    assert "more" in close(lambda: 0.0, "a case")(1e-6)
    assert "0.067 " not in judge(0.0671) + judge(0.05)


def marks_of(name, changed, task):
    """Marks of one task where some of the reference answers are changed."""
    assignment = COURSE.find(name)
    submission = submissions.Submission(cells_of(assignment, "ada") | changed)
    only = next(x for x in assignment.tasks if x.name == task)
    return mark(COURSE, _only(assignment, only), "ada", submission)


REFUSES = """
def gaussian_delta(epsilon, sigma):
    from scipy.special import ndtr
    if epsilon < 0:
        raise ValueError("epsilon is below 0")
    at, half = epsilon * sigma, 1 / (2 * sigma)
    return ndtr(half - at) - math.exp(epsilon) * ndtr(-half - at)
"""


def test_nobody_pays_twice_for_one_error():
    bad = {"ps1-gaussian": REFUSES}
    assert marks_of("ps1", bad, "ps1-gaussian").points == 3
    found = marks_of("ps1", bad, "ps1-sampled")
    assert found.points == 4
    messages = "".join(x.message for x in found.tasks[0].results)
    assert (
        "right with our ps1-gaussian; with yours: your code says" in messages
    )
    # without any answer to the other task, and if the error is here
    empty = {"ps1-gaussian": "raise NotImplementedError()"}
    assert marks_of("ps1", empty, "ps1-sampled").points == 4
    swapped = cells_of(COURSE.find("ps1"), "ada")["ps1-sampled"].replace(
        "return [remove(alpha), ", "return [remove(alpha) / 2, "
    )
    found = marks_of("ps1", bad | {"ps1-sampled": swapped}, "ps1-sampled")
    assert found.points == 2
    assert "(so it is with our ps1-gaussian)" in reports.as_text(found)
    # right answers are marked once
    assert not any(
        x.message for x in marks_of("ps1", {}, "ps1-sampled").tasks[0].results
    )


def test_a_reference_beside_an_answer_is_never_quoted(monkeypatch):
    """It is in the second box, and nothing that is said there gets out."""
    ours = "OURS = 'a secret of ours'\ndef gaussian_delta(*x): return 0.1"
    monkeypatch.setattr(
        marking, "solutions", lambda *x: {"ps1-gaussian": ours}
    )
    for thief in (
        "def sampled_deltas(*x): return [OURS, OURS]",
        "def sampled_deltas(*x): return OURS",
        "def sampled_deltas(*x): raise ValueError(OURS)",
        "if 'OURS' in globals(): raise ValueError(OURS)",
    ):
        found = marks_of(
            "ps1",
            {"ps1-gaussian": "OURS = 'x'", "ps1-sampled": thief},
            "ps1-sampled",
        )
        assert found.points == 0
        told = reports.as_text(found) + reports.as_html(found)
        told += str(reports.gradescope(found))
        assert "a secret" not in html.unescape(told)
