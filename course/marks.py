"""Mark a submission: ask in the box, judge outside of it."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from course import box
from course.sheets import TEXT, solutions
from course.submissions import Submission
from course.tasks import (
    Assignment,
    Check,
    Course,
    Numbers,
    Question,
    Task,
    chance,
    numbers_of,
)
from course.values import Malformed

FAILURES = (ArithmeticError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Result:
    """A line of feedback: a check, or a part that is marked by hand."""

    name: str
    points: float
    most: int
    message: str = ""
    waiting: bool = False  # for a mark by hand


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


Manual = Mapping[tuple[str, str], tuple[float, str]]


def mark(
    course: Course,
    assignment: Assignment,
    student: str,
    submission: Submission,
    *,
    manual: Manual | None = None,
    kind: str | None = None,
    workers: int = 2,
) -> Marks:
    """Marks of one submission; tasks run in boxes of their own."""
    numbers = numbers_of(assignment, course.secret, student)
    ours = solutions(course, assignment.name, student)

    def one(task: Task) -> Marked:
        if task.rubric:
            return by_hand(task, student, submission, manual or {})
        seed = seed_of(course.secret, task, student, submission)
        return mark_task(task, submission, numbers, seed, kind, ours)

    with ThreadPoolExecutor(workers) as pool:
        tasks = tuple(pool.map(one, assignment.tasks))
    notes = submission.notes
    if submission.student not in ("", student):
        notes += (f"This is the sheet of {submission.student!r}.",)
    return Marks(student, assignment, tasks, notes)


def seed_of(
    secret: bytes, task: Task, student: str, submission: Submission
) -> bytes:
    """What decides the questions: the student and the answer itself.

    The same file gets the same marks again. A changed answer gets other
    questions, so feedback cannot be collected until all of them are known.
    """
    cells = [submission.cells.get(x, "") for x in (*task.uses, task.name)]
    random = chance(secret, "ask", task.name, student, *cells)
    return random.getrandbits(128).to_bytes(16, "big")


def by_hand(
    task: Task, student: str, submission: Submission, manual: Manual
) -> Marked:
    """A derivation: its points come from a person."""
    if submission.texts.get(task.name, "").strip() in ("", TEXT):
        return Marked(task, (Result("answer", 0, task.points, "empty"),))
    if (student, task.name) not in manual:
        wait = Result("answer", 0, task.points, "not marked yet", True)
        return Marked(task, (wait,))
    points, comment = manual[student, task.name]
    if not 0 <= points <= task.points:
        raise ValueError(
            f"points of {student} for {task.name} must lie in "
            f"[0, {task.points}], got {points}"
        )
    return Marked(task, (Result("answer", points, task.points, comment),))


def mark_task(
    task: Task,
    submission: Submission,
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
    if task.name not in submission.cells:
        empty = [Result(x.name, 0, x.points, "no answer") for x in task.checks]
        return Marked(task, tuple(empty))
    order = questions_of(task, numbers, seed)
    found = _asked(task, submission.cells, order, kind)
    if not task.uses or not ours or found.points == task.points:
        return found
    cells = {**ours, task.name: submission.cells[task.name]}
    again = _asked(task, cells, order, kind)
    pairs = zip(found.results, again.results, strict=True)
    names = ", ".join(task.uses)
    results = tuple(
        _better(mine, with_ours, names) for mine, with_ours in pairs
    )
    return Marked(task, results, found.note)


def _better(mine: Result, with_ours: Result, names: str) -> Result:
    """The points of the better one; the message is always the first one's."""
    if mine.points == mine.most:
        return mine
    if with_ours.points < mine.most:
        message = f"{mine.message} (so it is with our {names})"
        return Result(mine.name, mine.points, mine.most, message)
    message = f"right with our {names}; with yours: {mine.message}"
    return Result(mine.name, mine.most, mine.most, message)


Asked = list[tuple[Check, Question]]


def questions_of(task: Task, numbers: Numbers, seed: bytes) -> Asked:
    """All questions of a task, shuffled, some of them twice."""
    asked: Asked = []
    for check in task.checks:
        random = chance(seed, task.name, check.name)
        asked += [(check, x) for x in check.ask(random, numbers)]
    random = chance(seed, task.name, "sequence")
    order = [*asked, *random.choices(asked, k=task.repeats)]
    random.shuffle(order)
    return order


def _asked(
    task: Task, given: Mapping[str, str], order: Asked, kind: str | None
) -> Marked:
    """Put the questions to these cells, in one box."""
    wanted = [*task.uses, task.name]
    cells = [given[x] for x in wanted if x in given]
    questions = [question.arguments for _, question in order]
    outcome = box.ask(cells, task.entry, questions, kind=kind)
    results = [_result(check, order, outcome) for check in task.checks]
    if sum(result.points > 0 for result in results) == 1:
        results = [
            _alone(check, result)
            for check, result in zip(task.checks, results, strict=True)
        ]
    return Marked(task, tuple(results), outcome.broken)


def _alone(check: Check, result: Result) -> Result:
    """A special case that nothing else goes with earns nothing."""
    if not check.special or not result.points:
        return result
    message = "counts only beside another part of this task"
    return Result(check.name, 0, check.points, message)


def _result(check: Check, order: Asked, outcome: box.Outcome) -> Result:
    """The points of a check: all of them if every answer is right."""
    for place, (owner, question) in enumerate(order):
        if owner is check:
            message = _judged(question, place, outcome)
            if message:
                return Result(check.name, 0, check.points, message)
    return Result(check.name, check.points, check.points)


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
