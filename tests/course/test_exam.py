"""The exam, the project and the page for instructors: keys, leaks, counts.

The keys of the exam and of the project compute and assert their own numbers;
running their cells is the test of them.
"""

import dataclasses
import json
import re

import pytest

from course import sheets
from course.__main__ import main
from course.tasks import load
from tests import ROOT

FOLDER = ROOT / "notebooks" / "assignments"
if not FOLDER.exists():  # a course may move it into a repository of its own
    pytest.skip("the course is kept elsewhere", allow_module_level=True)
COURSE = load(FOLDER)
PAPERS = sheets.papers(COURSE)
QUESTION = re.compile(
    r"^## ([A-E]\d)\. .+ \((\d+) points, (\d+) minutes\)$", re.M
)
WORDS = "ten eleven twelve thirteen fourteen fifteen".split()
INSTRUCTORS = (ROOT / "book" / "instructors.md").read_text("utf-8")


@pytest.fixture(scope="module")
def keyed():
    """Both papers with their keys."""
    return {source.stem: sheets.with_key(source) for source in PAPERS}


def text_of(book):
    return "\n\n".join(
        cell.source for cell in book.cells if cell.cell_type == "markdown"
    )


def questions(book):
    """The questions of the exam: name, points, minutes, text, key."""
    for part in re.split(r"(?m)^(?=## )", text_of(book))[1:]:
        [(name, points, minutes)] = QUESTION.findall(part)
        asked, key = part.split("**Key.**")
        yield name, int(points), int(minutes), asked, key


def test_the_keys_compute_themselves(keyed):
    assert sorted(keyed) == ["exam", "project"]
    for book in keyed.values():
        assert not sheets.PLACE.search(text_of(book))
        assert not re.search(r"\bnan\b|Fraction\(|np\.float", text_of(book))


def test_every_question_says_what_earns_its_points(keyed):
    found = list(questions(keyed["exam"]))
    names = [name for name, *_ in found]
    assert names == sorted(set(names))
    for name, points, minutes, _, key in found:
        earned = re.findall(r"^- (\d+) points?: ", key, re.M)
        assert sum(map(int, earned)) == points and 5 <= minutes <= 15, name
        assert "Often wrong: " in key, name
        learnt = re.search(r"Learnt on (.+)\.", key)[1]
        for page in re.findall(r"`(\w+)`", learnt):
            assert f"`{page}`" in INSTRUCTORS, (name, page)


def test_both_are_released_for_teachers_only(tmp_path, monkeypatch, keyed):
    """And what is without the key has all questions, and nothing else."""
    first = dataclasses.replace(COURSE, assignments=COURSE.assignments[:1])
    monkeypatch.setattr("course.__main__.load", lambda folder: first)
    monkeypatch.setattr(sheets, "papers", lambda course: PAPERS)
    monkeypatch.setattr(sheets, "with_key", lambda path: keyed[path.stem])
    main(["release", "--course", str(FOLDER), "--out", str(tmp_path)])
    for name, full in keyed.items():
        teachers = tmp_path / "teachers"
        assert "**Key.**" in (teachers / f"{name}_key.ipynb").read_text()
        bare = json.loads((teachers / f"{name}.ipynb").read_text("utf-8"))
        text = "\n".join("".join(x["source"]) for x in bare["cells"])
        assert not re.search(r"SOLUTION|\{\{\w|Often wrong|\*\*Key", text)
        assert {x["cell_type"] for x in bare["cells"]} == {"markdown"}
        asked = re.findall("^## .*", text, re.M)
        assert asked == re.findall("^## .*", text_of(full), re.M)
        assert text.count(sheets.TEXT) == len(asked) >= 11
        hidden = {x.source for x in sheets.answer_cells(full)}
        assert not [x for x in hidden if x in text]
    students = list((tmp_path / "students").rglob("*.ipynb"))
    assert {x.stem for x in students} == {"ps1"}


def test_the_counts_said_to_instructors(keyed):
    found = list(questions(keyed["exam"]))
    minutes = [one[2] for one in found]
    assert (
        f"has {WORDS[len(found) - 10]} questions of {min(minutes)} to "
        f"{max(minutes)} minutes" in INSTRUCTORS
    )
    points = sum(one[1] for one in found)
    said = f"up to {points} points and {sum(minutes)} minutes"
    assert said in INSTRUCTORS
    for each in COURSE.assignments:
        text = each.source.read_text("utf-8")
        minutes = re.findall(r"^## .* (\d+) minutes\)$", text, re.M)
        title = each.title.partition(": ")[2]
        assert (
            f"| `{each.name}` | {title.capitalize()} | {len(each.tasks)} | "
            f"{each.points} | {sum(map(int, minutes))} |\n" in INSTRUCTORS
        )


def test_a_sheet_needs_only_pages_of_its_lecture_or_before():
    row = r"^\| \d\.\d \| (.+?) \|(.*?) \| [\d.]+ \| `(ps\d)` \|$"
    rows = re.findall(row, INSTRUCTORS, re.M)
    assert [name for *_, name in rows] == [x.name for x in COURSE.assignments]
    known, order = set(), (ROOT / "_toc.yml").read_text("utf-8")
    unread = set()  # required pages that no sheet has asked for
    for (pages, others, _), each in zip(rows, COURSE.assignments, strict=True):
        unread |= set(re.findall(r"`(\w+)`", pages))
        known |= unread | set(re.findall(r"`(\w+)`", others))
        text = each.source.read_text("utf-8")
        points = re.findall(r"^## .* (\d) points,", text, re.M)
        assert [int(x) for x in points] == [x.points for x in each.tasks]
        [reading] = re.findall(r"^Read (.+?)\. ", text, re.M)
        asked = set(re.findall(r"`(\w+)`", reading))
        assert asked <= known
        unread -= asked
        tasks = "".join(re.findall(r"\((.+?)\)", reading))
        numbers = {int(x) for x in re.findall(r"\d", tasks)}
        assert numbers == set(range(1, len(points) + 1))
    assert not unread
    for page in known:
        assert f"notebooks/{page}\n" in order.partition("Beyond")[0], page
