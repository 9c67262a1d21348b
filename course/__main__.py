"""python -m course release | grade: see README.md in this folder."""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from course import box, reports, sheets, submissions
from course.marks import Manual, Marks, mark
from course.tasks import Assignment, Course, load

FOLDER = Path("notebooks/assignments")
People = Mapping[str, reports.Person]


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="course", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("release", "grade"):
        command = commands.add_parser(name)
        command.add_argument("--course", type=Path, default=FOLDER)
        command.add_argument("--only", help="an assignment, such as ps1")
        command.add_argument("--out", type=Path, default=Path("build/course"))
    command.add_argument("submissions", type=Path)
    command.add_argument("--manual", type=Path)
    found = parser.parse_args(words)
    course = load(found.course)
    people = reports.read_roster(course.folder / "roster.csv")
    chosen = [course.find(found.only)] if found.only else course.assignments
    if found.command == "release":
        for assignment in chosen:
            release(course, assignment, people, found.out)
        if not found.only:
            release_papers(course, found.out / "teachers")
        return 0
    manual = reports.read_manual(found.manual) if found.manual else {}
    if box.best() == "open":
        print(f"warning: {box.UNGUARDED}", file=sys.stderr)
    failed = [
        grade(course, x, people, found.submissions, manual, found.out)
        for x in chosen
    ]
    return 1 if any(failed) else 0


def release(
    course: Course, assignment: Assignment, people: People, out: Path
) -> None:
    """A sheet for each student; for teachers solutions and rubrics."""
    name, teachers = assignment.name, out / "teachers"
    for student in people:
        for folder, make in (
            (out / "students", sheets.student_sheet),
            (teachers / "solutions", sheets.teacher_sheet),
        ):
            sheet = make(course, name, student)
            sheets.write(sheet, folder / student / f"{name}.ipynb")
    rubric = teachers / f"{name}_rubric.md"
    rubric.write_text(sheets.rubric(assignment), "utf-8")
    print(f"{name}: {len(people)} sheets in {out / 'students'}")


def release_papers(course: Course, teachers: Path) -> None:
    """The exam and the project, without key and with it, for teachers."""
    for source in sheets.papers(course):
        name, keyed = source.stem, sheets.with_key(source)
        sheets.write(keyed, teachers / f"{name}_key.ipynb")
        sheets.write(sheets.without_key(keyed), teachers / f"{name}.ipynb")
        print(f"{name}: without key and with it in {teachers}")


def grade(
    course: Course,
    assignment: Assignment,
    people: People,
    folder: Path,
    manual: Manual,
    out: Path,
) -> bool:
    """Mark all that was handed in; tell whether the grader itself failed."""
    names = {task.name for task in assignment.tasks}
    marks: list[Marks] = []
    failed = False
    for student, path in submissions.find(folder, assignment.name):
        start = time.monotonic()
        submission = submissions.read(path, names)
        try:
            found = mark(course, assignment, student, submission, manual)
        except Exception as error:  # one student's file stops no other
            failed = True
            note = f"The grader failed, tell its authors: {error!r}"
            found = Marks(student, assignment, (), (note,))
        marks.append(found)
        seconds = time.monotonic() - start
        print(f"{student}: {reports.summary(found)} ({seconds:.1f} s)")
    missing = sorted(set(people) - {each.student for each in marks})
    if missing:
        print(f"{assignment.name}: nothing from {', '.join(missing)}")
    if marks:
        home, is_over = (
            out / "marks" / assignment.name,
            course.is_over(assignment),
        )
        reports.write(home, marks, people, is_over)
    return failed


if __name__ == "__main__":
    sys.exit(main())
