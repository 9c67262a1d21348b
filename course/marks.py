"""Mark a submission: ask in the box, judge outside of it."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from course import box
from course.sheets import TEXT, solutions
from course.submissions import Submission
from course.tasks import (
    Assignment,
    Check,
    Course,
    Malformed,
    Numbers,
    Question,
    Task,
    chance,
    numbers_of,
)

FAILURES = (ArithmeticError, LookupError, TypeError, ValueError)
Manual = Mapping[tuple[str, str], tuple[float, str]]


@dataclass(frozen=True)
class Result:
    """A line of feedback: a check, or a part that is marked by hand."""

    name: str
    points: float
    most: int
    message: str = ""
    waiting: bool = False  # for a mark by hand
    claim: bool = False


@dataclass(frozen=True)
class Marked:
    """A task with its results."""

    task: Task
    results: tuple[Result, ...]
    note: str = ""

    @property
    def points(self) -> float:
        return sum(result.points for result in self.results)

    @property
    def waiting(self) -> bool:
        return any(result.waiting for result in self.results)


@dataclass(frozen=True)
class Marks:
    """A submission with its marks."""

    student: str
    assignment: Assignment
    tasks: tuple[Marked, ...]
    notes: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return sum(task.points for task in self.tasks)

    @property
    def waiting(self) -> bool:
        return any(task.waiting for task in self.tasks)


def mark(
    course: Course,
    assignment: Assignment,
    student: str,
    submission: Submission,
    manual: Manual | None = None,
    kind: str | None = None,
) -> Marks:
    """Marks of one submission; tasks run in boxes of their own."""
    numbers = numbers_of(assignment, course.secret, student)
    ours = solutions(course, assignment.name, student)

    def one(task: Task) -> Marked:
        if task.rubric:
            return by_hand(task, student, submission, manual or {})
        # The same file gets the same marks again. A changed answer gets other
        # questions, so feedback cannot be collected until all are known.
        cells = [submission.cells.get(x, "") for x in (*task.uses, task.name)]
        random = chance(course.secret, "ask", task.name, student, *cells)
        seed = random.getrandbits(128).to_bytes(16, "big")
        return mark_task(task, submission.cells, numbers, seed, kind, ours)

    with ThreadPoolExecutor(2) as pool:
        tasks = tuple(pool.map(one, assignment.tasks))
    notes = submission.notes
    if submission.student not in ("", student):
        notes += (f"This is the sheet of {submission.student!r}.",)
    return Marks(student, assignment, tasks, notes)


def by_hand(
    task: Task, student: str, submission: Submission, manual: Manual
) -> Marked:
    """A derivation: its points come from a person."""
    most = task.points
    if submission.texts.get(task.name, "").strip() in ("", TEXT):
        return Marked(task, (Result("answer", 0, most, "empty"),))
    if (student, task.name) not in manual:
        wait = Result("answer", 0, most, "not marked yet", waiting=True)
        return Marked(task, (wait,))
    points, comment = manual[student, task.name]
    if not 0 <= points <= most:
        raise ValueError(
            f"points of {student} for {task.name} must lie in [0, {most}], "
            f"got {points}"
        )
    return Marked(task, (Result("answer", points, most, comment),))


def mark_task(
    task: Task,
    given: Mapping[str, str],
    numbers: Numbers,
    seed: bytes,
    kind: str | None = None,
    ours: Mapping[str, str] | None = None,
) -> Marked:
    """The points of a task that code answers.

    It runs with the student's own answers to the tasks that it uses. Where
    that loses points it runs again with `ours`, and what is right then counts.
    Nothing but points comes out of that second box: the answer could read our
    code there, and quote it.
    """
    if task.name not in given:
        empty = [
            Result(x.name, 0, x.points, "no answer", claim=x.claim)
            for x in task.checks
        ]
        return Marked(task, tuple(empty))
    order = questions_of(task, numbers, seed)
    found = _asked(task, given, order, kind)
    if not task.uses or not ours or found.points == task.points:
        return found
    again = _asked(task, {**ours, task.name: given[task.name]}, order, kind)
    names, results = ", ".join(task.uses), []
    for mine, with_ours in zip(found.results, again.results, strict=True):
        if mine.points < with_ours.points:
            said = f"right with our {names}; with yours: {mine.message}"
            mine = replace(mine, points=mine.most, message=said)
        results.append(mine)
    return Marked(task, tuple(results), found.note)


Asked = list[tuple[Check, Question]]


def questions_of(task: Task, numbers: Numbers, seed: bytes) -> Asked:
    """All questions of a task, shuffled."""
    asked: Asked = []
    for check in task.checks:
        random = chance(seed, task.name, check.name)
        asked += [(check, x) for x in check.ask(random, numbers)]
    chance(seed, task.name, "order").shuffle(asked)
    return asked


def _asked(
    task: Task, given: Mapping[str, str], order: Asked, kind: str | None
) -> Marked:
    """Put the questions to these cells, in one box."""
    cells = [given[x] for x in (*task.uses, task.name) if x in given]
    questions = [question.arguments for _, question in order]
    outcome = box.ask(cells, task.entry, questions, kind=kind)
    results = {check: _result(check, order, outcome) for check in task.checks}
    if not any(x.points for check, x in results.items() if not check.special):
        for check, result in results.items():
            if result.points:  # a constant would have it, too
                said = "counts only beside another part of this task"
                results[check] = replace(result, points=0, message=said)
    return Marked(task, tuple(results.values()), outcome.broken)


def _result(check: Check, order: Asked, outcome: box.Outcome) -> Result:
    """The points of a check: all of them if every answer is right."""
    said = (
        _judged(question, place, outcome)
        for place, (owner, question) in enumerate(order)
        if owner is check
    )
    message = next(filter(None, said), "")
    points = 0 if message else check.points
    return Result(check.name, points, check.points, message, claim=check.claim)


def _judged(question: Question, place: int, outcome: box.Outcome) -> str:
    if place in outcome.errors:
        return f"your code says: {outcome.errors[place]}"
    if place not in outcome.values:
        return "there is no answer (your code stopped, or took too long)"
    value: Any = outcome.values[place]
    try:
        return question.judge(value)
    except Malformed as error:
        return str(error)
    except FAILURES:
        return "the answer does not have the form that the task asks for"
