"""What an assignment is: tasks, their checks, and numbers for each student.

A check asks questions and judges the answers. A judge gets a plain value that
came out of the box, and the arguments of the question. It says what is wrong,
by a counterexample and never by the solution; an empty text says that nothing
is.
"""

import hashlib
import hmac
import importlib.util
import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

Numbers = Mapping[str, Any]
Judge = Callable[..., str]  # of a value and the arguments of its question


class Malformed(ValueError):
    """It is no value that can be judged."""


@dataclass(frozen=True)
class Question:
    """What goes into the box, and who judges what comes out."""

    arguments: list[Any]
    judge: Callable[[Any], str]


Ask = Callable[[Random, Numbers], list[Question]]


@dataclass(frozen=True)
class Check:
    """Points for one property, on fresh questions.

    A special case counts only beside an ordinary check that is passed, so
    that a constant earns nothing. What a claim missed is told after the due
    date.
    """

    name: str
    points: int
    ask: Ask
    special: bool = False
    claim: bool = False


@dataclass(frozen=True)
class Task:
    """One task; its cells in the notebook carry `name` as grade_id."""

    name: str
    entry: str = ""  # the function, or the value, that the answer defines
    checks: tuple[Check, ...] = ()
    rubric: tuple[str, ...] = ()  # one point each, marked by hand
    uses: tuple[str, ...] = ()  # tasks whose answers this one may call

    @property
    def points(self) -> int:
        return sum(check.points for check in self.checks) + len(self.rubric)


@dataclass(frozen=True)
class Assignment:
    """The tasks beside a notebook, and what its sheet says."""

    file: Path  # ps1_topic.py, beside ps1_topic.md
    tasks: tuple[Task, ...]
    methods: Mapping[str, Sequence[str]]  # to draw claims from, by their side
    numbers: Mapping[str, Any]  # to draw numbers from, as in `asks`
    examples: Callable[[], dict[str, Any]] = dict  # known answers, for all

    @property
    def name(self) -> str:
        return self.file.stem.partition("_")[0]

    @property
    def source(self) -> Path:
        return self.file.with_suffix(".md")

    @property
    def title(self) -> str:
        found = re.search(r"^# (.+)$", self.source.read_text("utf-8"), re.M)
        return found[1] if found else self.name

    @property
    def points(self) -> int:
        return sum(task.points for task in self.tasks)


# --- chance that a student can repeat and another cannot guess ----------


def chance(secret: bytes, *words: str) -> Random:
    """A random generator that the secret and these words decide."""
    text = "\0".join(words).encode()
    digest = hmac.new(secret, text, hashlib.sha256).digest()
    return Random(int.from_bytes(digest, "big"))


def numbers_of(
    assignment: Assignment, secret: bytes, student: str
) -> dict[str, Any]:
    """The numbers on the sheet of one student, and the claims."""
    random = chance(secret, "numbers", assignment.name, student)
    drawn = {k: draw(random, v) for k, v in assignment.numbers.items()}
    return drawn | draw_claims(random, assignment.methods)


# --- questions -----------------------------------------------------------


def asks(
    judge: Judge,
    *,
    times: int = 3,
    keep: Callable[..., bool] = lambda *arguments: True,
    **ranges: Any,
) -> Ask:
    """Questions whose arguments are drawn, in this order, from `ranges`.

    (low, high) is a whole number, or one with two digits; [a, b, c] one of
    these; a function of the generator gives a value, or a dictionary of
    several arguments. What `keep` refuses is drawn again.
    """

    def ask(random: Random, numbers: Numbers) -> list[Question]:
        found: list[Question] = []
        while len(found) < times:
            drawn: dict[str, Any] = {}
            for name, choice in ranges.items():
                value = draw(random, choice)
                several = callable(choice) and isinstance(value, dict)
                drawn |= value if several else {name: value}
            if keep(*drawn.values()):
                found.append(question(judge, drawn))
        return found

    return ask


def both(*asked: Ask) -> Ask:
    """The questions of all of them."""
    return lambda random, numbers: [
        question for ask in asked for question in ask(random, numbers)
    ]


def question(judge: Judge, given: Mapping[str, Any]) -> Question:
    """A question whose judge names its arguments in what it says."""
    arguments = list(given.values())

    def judged(value: Any) -> str:
        told = ", ".join(f"{k} = {shown(v, 200)}" for k, v in given.items())
        said = judge(value, *arguments)
        return said and f"for {told} {said}"

    return Question(arguments, judged)


def draw(random: Random, choice: Any) -> Any:
    if callable(choice):
        return choice(random)
    if isinstance(choice, list):
        return random.choice(choice)
    if not isinstance(choice, tuple):
        return choice
    low, high = choice
    if isinstance(low, int) and isinstance(high, int):
        return random.randint(low, high)
    return round(random.uniform(low, high), 2)


def power(low: float, high: float) -> Callable[[Random], float]:
    """Ten to a power between these, with two digits."""
    return lambda random: float(f"{10 ** random.uniform(low, high):.2g}")


def chances(random: Random, size: int) -> list[float]:
    """Probabilities with two digits, none of them 0."""
    cuts = [0, *sorted(random.sample(range(1, 100), size - 1)), 100]
    return [(b - a) / 100 for a, b in zip(cuts, cuts[1:], strict=False)]


# --- judges -------------------------------------------------------------


def near(
    truth: Callable[..., Any],
    *,
    relative: float = 1e-6,
    absolute: float = 1e-12,
    place: int | None = None,
) -> Judge:
    """The truth, up to what a right method may be off; or one place of it.

    It says on which side an answer is, and whether by more than 1 %.
    """

    def judge(value: Any, *arguments: Any) -> str:
        right = truth(*arguments)
        if place is not None:
            if type(value) is not list or len(value) != len(right):
                raise Malformed(f"a list of {len(right)} values was expected")
            value, right = value[place], right[place]
        found, right = number(value), float(right)
        off = abs(found - right) if found != right else 0.0
        if off <= absolute + relative * abs(right) and off < math.inf:
            return ""
        side = "below" if found < right else "above"
        size = "less" if off < 0.01 * abs(right) < math.inf else "more"
        which = "" if place is None else f" at place {place}"
        return (
            f"your answer {shown(found)}{which} is {side} the truth, by "
            f"{size} than 1 %"
        )

    return judge


def between(low: float, high: float, truth: Callable[..., float]) -> Judge:
    """An answer from `low` to `high` times the truth."""

    def judge(value: Any, *arguments: Any) -> str:
        found, right = number(value), truth(*arguments)
        if found < low * right:
            return f"your answer {shown(found)} is too small"
        if found > high * right:
            return f"your answer {shown(found)} is too large"
        return ""

    return judge


def number(value: Any) -> float:
    """A number that is none of JSON's other values; Malformed otherwise."""
    if type(value) not in (int, float) or value != value:
        raise Malformed(f"a number was expected, got {shown(value)}")
    return float(value)


def shown(value: Any, most: int = 80) -> str:
    """A value in a message: short, whatever it is."""
    text = f"{value:.6g}" if type(value) is float else repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."


# --- six claims -----------------------------------------------------------

SIDES = ("upper", "lower", "neither")
LETTERS = "ABCDEF"
RANGE = re.compile(r"<(\d+(?:\.(\d+))?) to (\d+(?:\.(\d+))?)>")


def claims(name: str) -> Task:
    """Which is a bound, on which side? A point for each pair that is right."""

    def asking(pair: str) -> Ask:
        def ask(random: Random, numbers: Numbers) -> list[Question]:
            right = {x: numbers["_sides"][LETTERS.index(x)] for x in pair}
            return [Question([], lambda value: _sides(value, right))]

        return ask

    pairs = [LETTERS[i : i + 2] for i in (0, 2, 4)]
    checks = [
        Check(f"claims {x[0]} and {x[1]}", 1, asking(x), claim=True)
        for x in pairs
    ]
    return Task(name, entry="claims", checks=tuple(checks))


def _sides(value: Any, right: dict[str, str]) -> str:
    if type(value) is not dict:
        raise Malformed("a dictionary was expected")
    return "; ".join(
        f"{name} is {side!r}, you say {shown(value.get(name))}"
        for name, side in right.items()
        if value.get(name) != side
    )


def draw_claims(
    random: Random, methods: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """Two claims of each side, in a random order, as numbers of a student.

    A text may ask for a number of the student's own: `<0.05 to 0.2>`, or
    `<3 to 9>` for a whole one.
    """

    def drawn(match: re.Match[str]) -> str:
        digits = max(len(part or "") for part in (match[2], match[4]))
        if digits == 0:
            return str(random.randint(int(match[1]), int(match[3])))
        value = random.uniform(float(match[1]), float(match[3]))
        return f"{value:.{digits}f}"

    pool = [
        (side, text)
        for side in SIDES
        for text in random.sample(methods[side], 2)
    ]
    random.shuffle(pool)
    listed = [
        f"- **{name}.** {RANGE.sub(drawn, text)}"
        for name, (_, text) in zip(LETTERS, pool, strict=True)
    ]
    sides = [side for side, _ in pool]
    key = dict(zip(LETTERS, sides, strict=True))
    # names that begin with _ are shown to teachers only
    return {
        "claims": "\n".join(listed),
        "_sides": sides,
        "_claims_key": json.dumps(key),
    }


# --- the folder of a course ---------------------------------------------


@dataclass(frozen=True)
class Course:
    """The folder that holds everything secret of a course."""

    folder: Path
    secret: bytes
    assignments: tuple[Assignment, ...]
    due: Mapping[str, datetime]

    def find(self, name: str) -> Assignment:
        for assignment in self.assignments:
            if assignment.name == name:
                return assignment
        known = ", ".join(x.name for x in self.assignments)
        raise ValueError(f"assignment must be one of {known}, got {name!r}")

    def is_over(self, assignment: Assignment) -> bool:
        """Has its due date passed? Without a date it never does."""
        due = self.due.get(assignment.name)
        return due is not None and datetime.now(due.tzinfo) >= due


def load(folder: Path) -> Course:
    """A course: `secret.txt`, `due.txt`, and a `ps*.py` per assignment."""
    folder = folder.resolve()
    secret = (folder / "secret.txt").read_bytes().strip()
    if len(secret) < 16:
        raise ValueError("secret.txt must hold at least 16 characters")
    found = [load_module(x).ASSIGNMENT for x in sorted(folder.glob("ps*.py"))]
    if not found:
        raise ValueError(f"{folder} holds no assignment (ps*.py)")
    dates, due = folder / "due.txt", {}
    if dates.exists():
        for line in dates.read_text("utf-8").splitlines():
            if line.strip():
                name, _, date = line.strip().partition(" ")
                due[name] = datetime.fromisoformat(date.strip())
    return Course(folder, secret, tuple(found), due)


def load_module(path: Path) -> Any:
    """A Python file of the course, wherever its folder stands."""
    name = f"course_folder_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# --- wrong answers, by which the checks themselves are tested -----------


@dataclass(frozen=True)
class Wrong:
    """A tempting wrong answer: the reference, where `old` became `new`."""

    task: str
    lost: int  # the points that it must lose
    trap: str
    old: str
    new: str

    def code(self, reference: str) -> str:
        if self.old not in reference:
            raise ValueError(f"{self.trap}: {self.old!r} is not there")
        return reference.replace(self.old, self.new)


def wrong(task: str, *edits: tuple[int, str, str, str]) -> tuple[Wrong, ...]:
    return tuple(Wrong(task, *edit) for edit in edits)
