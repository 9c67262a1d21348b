"""What an assignment is: tasks, their checks, and numbers for each student.

A check asks questions and judges the answers. A judge gets a plain value that
came out of the box and says what is wrong with it, by a counterexample and
never by the solution; an empty text says that nothing is.
"""

import hashlib
import hmac
import importlib.util
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from course.values import Malformed, number, shown

Numbers = Mapping[str, Any]
Judge = Callable[[Any], str]


@dataclass(frozen=True)
class Question:
    """What goes into the box, and who judges what comes out."""

    arguments: list[Any]
    judge: Judge


@dataclass(frozen=True)
class Check:
    """Points for one property, on fresh questions.

    A special case counts only if another check of the task is passed, so that
    a constant earns nothing.
    """

    name: str
    points: int
    ask: Callable[[Random, Numbers], list[Question]]
    special: bool = False


@dataclass(frozen=True)
class Task:
    """One task; its cells in the notebook carry `name` as grade_id."""

    name: str
    stars: int
    minutes: int
    entry: str = ""  # the function, or the value, that the answer defines
    checks: tuple[Check, ...] = ()
    rubric: tuple[tuple[int, str], ...] = ()  # of a task marked by hand
    uses: tuple[str, ...] = ()  # tasks whose answers this one may call
    repeats: int = 2  # questions that are asked a second time

    @property
    def points(self) -> int:
        marks = [check.points for check in self.checks]
        return sum(marks) + sum(points for points, _ in self.rubric)


@dataclass(frozen=True)
class Assignment:
    """A notebook with tasks. `numbers` are shown, `keys` only to teachers."""

    name: str
    title: str
    source: Path
    tasks: tuple[Task, ...]
    numbers: Callable[[Random], dict[str, Any]]
    keys: Callable[[Numbers], dict[str, Any]] = lambda numbers: {}
    examples: Callable[[], dict[str, Any]] = dict  # known answers on the sheet

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
    """The numbers on the sheet of one student."""
    return assignment.numbers(
        chance(secret, "numbers", assignment.name, student)
    )


def pick(random: Random, low: float, high: float, digits: int = 2) -> float:
    return round(random.uniform(low, high), digits)


# --- judges -------------------------------------------------------------


def close(
    truth: Callable[[], float],
    case: str,
    *,
    relative: float = 1e-6,
    absolute: float = 1e-12,
) -> Judge:
    """The truth, up to what a right method may be off.

    It says on which side an answer is, and whether by more than 1 %.
    """

    def judge(value: Any) -> str:
        found, right = number(value), truth()
        off = abs(found - right) if found != right else 0.0
        if off <= absolute + relative * abs(right) and off < math.inf:
            return ""
        side = "below" if found < right else "above"
        near = off < 0.01 * abs(right) and off < math.inf
        return (
            f"for {case} your answer {shown(found)} is {side} the truth, "
            f"by {'less' if near else 'more'} than 1 %"
        )

    return judge


def equal(right: Any, message: str) -> Judge:
    """One of a few values, in the same words."""

    def judge(value: Any) -> str:
        return "" if type(value) is type(right) and value == right else message

    return judge


def every(*judges: Judge) -> Judge:
    """The first complaint of several judges."""

    def judge(value: Any) -> str:
        return next((said for each in judges if (said := each(value))), "")

    return judge


def part(place: int, inner: Judge, length: int) -> Judge:
    """Judges one place of a list of this length."""

    def judge(value: Any) -> str:
        if type(value) is not list or len(value) != length:
            raise Malformed(f"{length} values in a list were expected")
        return inner(value[place])

    return judge


def claims(sides: str, count: int, size: int = 2) -> tuple[Check, ...]:
    """One point for every `size` claims whose sides are all right.

    `sides` names the entry of the student's numbers that has the sides: it
    must begin with an underscore, so that no sheet shows it.
    """

    def asking(first: int) -> Callable[[Random, Numbers], list[Question]]:
        def ask(random: Random, numbers: Numbers) -> list[Question]:
            last = min(first + size, count)
            names = "ABCDEFGHIJKL"[first:last]
            right = dict(zip(names, numbers[sides][first:last], strict=True))
            return [Question([], lambda value: _sides(value, right))]

        return ask

    return tuple(
        Check(f"claims {'ABCDEFGHIJKL'[i : i + size]}", 1, asking(i))
        for i in range(0, count, size)
    )


def claims_task(name: str) -> Task:
    """Six claims: which is a bound, and on which side?"""
    checks = claims("_sides", 6)
    return Task(name, stars=2, minutes=10, entry="claims", checks=checks)


def _sides(value: Any, right: dict[str, str]) -> str:
    if type(value) is not dict:
        raise Malformed("a dictionary was expected")
    for name in right:
        if value.get(name) not in SIDES:
            return f"{shown(value.get(name))} is none of {', '.join(SIDES)}"
    if all(value[name] == side for name, side in right.items()):
        return ""
    return f"at least one of {', '.join(right)} is not what you say"


SIDES = ("upper", "lower", "neither")
RANGE = re.compile(r"<(\d+(?:\.(\d+))?) to (\d+(?:\.(\d+))?)>")


def draw_claims(
    random: Random,
    methods: Sequence[tuple[str, str]],
    own: Sequence[tuple[str, str]] = (),
) -> dict[str, Any]:
    """Two claims of each side, in a random order, as numbers of a student.

    Those of `own` are among them, the others are drawn from `methods`. A text
    may ask for a number of the student's own: `<0.05 to 0.2>`, or `<3 to 9>`
    for a whole one.
    """

    def drawn(match: re.Match[str]) -> str:
        digits = max(len(part or "") for part in (match[2], match[4]))
        if digits == 0:
            return str(random.randint(int(match[1]), int(match[3])))
        low, high = float(match[1]), float(match[3])
        return f"{random.uniform(low, high):.{digits}f}"

    pool = list(own)
    for side in SIDES:
        missing = 2 - sum(claim[1] == side for claim in own)
        others = [claim for claim in methods if claim[1] == side]
        pool += random.sample(others, missing)
    random.shuffle(pool)
    listed = [
        f"- **{name}.** {RANGE.sub(drawn, text)}"
        for name, (text, _) in zip("ABCDEFGHIJKL", pool, strict=False)
    ]
    sides = [side for _, side in pool]
    return {"claims": "\n".join(listed), "_sides": sides}


def claims_key(numbers: Numbers) -> dict[str, Any]:
    """The reference answer to a list of claims."""
    sides = zip("ABCDEFGHIJKL", numbers["_sides"], strict=False)
    return {"claims_key": repr(dict(sides))}


# --- the folder of a course ---------------------------------------------


@dataclass(frozen=True)
class Course:
    """The folder that holds everything secret of a course."""

    folder: Path
    secret: bytes
    assignments: tuple[Assignment, ...]

    def find(self, name: str) -> Assignment:
        for assignment in self.assignments:
            if assignment.name == name:
                return assignment
        known = ", ".join(x.name for x in self.assignments)
        raise ValueError(f"assignment must be one of {known}, got {name!r}")


def load(folder: Path) -> Course:
    """Read a course: `secret.txt`, and a `ps*.py` for each assignment."""
    folder = folder.resolve()
    secret = (folder / "secret.txt").read_bytes().strip()
    if len(secret) < 16:
        raise ValueError("secret.txt must hold at least 16 characters")
    found = []
    for path in sorted(folder.glob("ps*.py")):
        if not path.stem.endswith("_wrong"):
            found.append(load_module(path).ASSIGNMENT)
    if not found:
        raise ValueError(f"{folder} holds no assignment (ps*.py)")
    return Course(folder, secret, tuple(found))


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
    """A plausible wrong answer to a task, and the points that it must lose.

    Where they depend on the student's numbers, `code` and `lost` are
    functions of them.
    """

    task: str
    trap: str
    lost: int | Callable[[Numbers], int]
    code: str | Callable[[Numbers], str]


def wrong_claims(task: str, count: int) -> tuple[Wrong, ...]:
    """Three wrong readings of a list of claims."""
    other = {"upper": "lower", "lower": "upper", "neither": "neither"}

    def misread(trap: str, said: Callable[[str], str]) -> Wrong:
        def code(numbers: Numbers) -> str:
            sides = zip("ABCDEFGHIJKL", numbers["_sides"], strict=False)
            return f"claims = { {name: said(x) for name, x in sides} }"

        def lost(numbers: Numbers) -> int:
            bad = [said(side) != side for side in numbers["_sides"]]
            return sum(any(bad[i : i + 2]) for i in range(0, count, 2))

        return Wrong(task, trap, lost, code)

    return (
        misread("the two sides exchanged", lambda side: other[side]),
        misread(
            "everything is a bound",
            lambda side: "upper" if side == "neither" else side,
        ),
        misread("every number is an upper bound", lambda side: "upper"),
    )
