"""The exam, the project and the course page: keys, leaks, counts.

The keys of the exam and of the project compute and assert their own numbers;
running their cells is the test of them.
"""

import dataclasses
import html
import json
import re
import time

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
NAMES = [source.stem for source in PAPERS]
QUESTION = re.compile(
    r"^## ([A-I])(\d)\. (.+) \((\d+) points, (\d+) minutes\)$", re.M
)
POINTS = re.compile(r"^- (\d+) points?: ", re.M)
COUNT = 22
WORDS = "zero one two three four five six seven eight nine ten".split()
WORDS += "eleven twelve thirteen fourteen fifteen sixteen".split()
WORDS += "seventeen eighteen nineteen twenty twenty-one".split()
WORDS += "twenty-two twenty-three twenty-four twenty-five twenty-six".split()


@pytest.fixture(scope="module")
def keyed():
    """Both papers with their keys, and how much work that took."""
    start = time.process_time()
    found = {source.stem: sheets.with_key(source) for source in PAPERS}
    return found, time.process_time() - start


def text_of(book, kind="markdown"):
    return "\n\n".join(
        cell.source for cell in book.cells if cell.cell_type == kind
    )


@pytest.fixture(scope="module")
def secret(keyed):
    """Lines of the keys, as written and with their numbers put in."""
    found = set()
    for source in PAPERS:
        found |= sheets.solution_texts(sheets._read(source, source.stem))
        found |= sheets.solution_texts(keyed[0][source.stem])
    return found


def questions(book):
    """The questions of the exam: name, points, minutes, text, key."""
    parts = re.split(r"(?m)^(?=## )", text_of(book))[1:]
    for part in parts:
        [(letter, number, _, points, minutes)] = QUESTION.findall(part)
        asked, key = part.split("**Key.**")
        yield letter + number, int(points), int(minutes), asked, key


def test_the_keys_compute_themselves(keyed):
    found, seconds = keyed
    for book in found.values():
        assert not sheets.PLACE.search(text_of(book))
        assert not re.search(r"\bnan\b|Fraction\(|np\.float", text_of(book))
    assert seconds < 20


def test_questions_are_numbered_in_order(keyed):
    names = [name for name, *_ in questions(keyed[0]["exam"])]
    assert names == sorted(names) and len(set(names)) == COUNT
    for letter in {name[0] for name in names}:
        numbers = "".join(x[1] for x in names if x[0] == letter)
        assert numbers in ("12", "123"), letter


def test_every_question_says_what_earns_its_points(keyed):
    for name, points, minutes, asked, key in questions(keyed[0]["exam"]):
        assert 5 <= minutes <= 15, name
        assert sum(map(int, POINTS.findall(key))) == points, name
        assert "Often wrong: " in key and "Learnt on" in key, name
        learnt = re.findall(r"`([\w/]+)`", key.split("\n\n")[0])
        assert learnt and "?" in asked + "Judge?", name
        for page in learnt:
            assert (ROOT / "notebooks" / f"{page}.md").exists(), page


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("F(47, 288)", "F(46, 288)"),
        ("F(1, 16), F(3, 8)", "F(1, 16), F(1, 4)"),
        ("f2_steps == 14_063", "f2_steps == 14_062"),
        ('f"{fifteen:.2f}" == "1.18"', 'f"{three:.2f}" == "1.18"'),
        ("(e2_right, e2_wrong) == (F(1, 36), 0)", "e2_right == F(1, 35)"),
        ("zeroed_low < zeroed.upper", "zeroed.upper < zeroed_low"),
    ],
)
def test_a_wrong_key_is_noticed(tmp_path, right, wrong):
    hits = 0
    for source in PAPERS:
        text = source.read_text("utf-8")
        if right in text:
            hits += 1
            changed = tmp_path / source.name
            changed.write_text(text.replace(right, wrong), "utf-8")
            with pytest.raises(AssertionError):
                sheets.with_key(changed)
    assert hits == 1


def test_a_paper_has_its_questions_and_no_key(keyed, secret):
    for name, full in keyed[0].items():
        book = sheets.without_key(full)
        text = json.dumps(book, ensure_ascii=False)
        assert not [line for line in secret if line in text]
        assert not re.search(r"SOLUTION|\{\{\w|Often wrong|\*\*Key", text)
        assert not text_of(book, "code")
        asked = re.findall("^## .*", text_of(book), re.M)
        assert asked == re.findall("^## .*", text_of(full), re.M), name
        assert text.count(sheets.TEXT) == len(asked) >= 11


def test_both_are_released_for_teachers_only(tmp_path, monkeypatch, secret):
    nobody = dataclasses.replace(COURSE, assignments=COURSE.assignments[:1])
    monkeypatch.setattr("course.__main__.load", lambda folder: nobody)
    monkeypatch.setattr(sheets, "papers", lambda course: PAPERS)
    main(["release", "--course", str(FOLDER), "--out", str(tmp_path)])
    for name in NAMES:
        teachers = tmp_path / "teachers"
        assert "**Key.**" in (teachers / f"{name}_key.ipynb").read_text()
        bare = (teachers / f"{name}.ipynb").read_text("utf-8")
        assert "**Key" not in bare and sheets.TEXT in bare
        assert not [x for x in secret if json.dumps(x)[1:-1] in bare]
    students = list((tmp_path / "students").rglob("*.ipynb"))
    assert students and {x.stem for x in students} == {"ps1"}
    main(
        ["release", "--course", str(FOLDER), "--only", "ps1"]
        + ["--out", str(tmp_path / "one")]
    )
    assert not list((tmp_path / "one").rglob("exam*"))


def test_no_page_and_no_wheel_shows_a_key(keyed, secret):
    """In sources, built pages, search index, and what a wheel takes."""
    sources = [
        path
        for folder in ("notebooks", "book", "accountlib")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".md", ".py", ".json")
        and FOLDER not in path.parents
    ]
    code = {  # some of it is on pages, and may be
        line.strip()
        for book in keyed[0].values()
        for line in text_of(book, "code").split("\n")
    }
    printed = re.compile(r"[A-Z][\w -]+: {3}|\.\.\.")  # lines of any report
    lines = {x for x in secret - code if not printed.match(x)}
    assert len(lines) > 150 and len(sources) > 100
    for path in sources:
        text = path.read_text("utf-8")
        assert not [line for line in lines if line in text], path
    hatchling = pytest.importorskip("hatchling.builders.wheel")
    builder = hatchling.WheelBuilder(str(ROOT))
    wheel = {str(x.path) for x in builder.recurse_included_files()}
    assert wheel and not [x for x in wheel if "assignments" in x]
    for path in (ROOT / "build" / "html").rglob("*"):
        if path.suffix in (".html", ".js", ".txt", ".md", ".ipynb"):
            text = html.unescape(path.read_text("utf-8", "replace"))
            text = re.sub(r"<[^>]+>", "", text)
            assert not [line for line in lines if line in text], path


def page(name):
    return (ROOT / "book" / f"{name}.md").read_text("utf-8")


def said_in(text, pattern):
    """The words in the brackets of a pattern that must be there."""
    found = re.search(pattern, text, re.M)
    assert found, pattern
    return found.groups()


def test_the_counts_said_to_instructors(keyed):
    text = page("instructors")
    found = list(questions(keyed[0]["exam"]))
    minutes = [one[2] for one in found]
    many, low, high = said_in(
        text, r"has ([\w-]+) questions of (\d+) to (\d+) minutes"
    )
    assert WORDS.index(many) == len(found)
    assert (int(low), int(high)) == (min(minutes), max(minutes))
    points, length = said_in(text, r"up to (\d+) points and (\d+) minutes")
    assert (int(points), int(length)) == (
        sum(one[1] for one in found),
        sum(minutes),
    )
    tasks = [assignment.tasks for assignment in COURSE.assignments]
    few, many, low, high = said_in(
        text, r"of (\w+) or (\w+) tasks and about (\d+) to (\d+)"
    )
    counts = sorted({len(one) for one in tasks})
    assert [WORDS.index(few), WORDS.index(many)] == counts
    lengths = sorted(sum(task.minutes for task in one) for one in tasks)
    assert [int(low), int(high)] == [lengths[0], lengths[-1]]
    functions = {
        sum(not t.rubric and t.entry != "claims" for t in one) for one in tasks
    }
    assert f"{WORDS[min(functions)]} or {WORDS[max(functions)]} func" in text
    assert f"{WORDS[len(tasks)]} assignments" in text
