"""Exercises check themselves."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from notebook import Cell, code_cells, notebooks

EXERCISE = re.compile(
    r"```\{exercise\} (?P<title>.*)\n:label: (?P<label>\S+)\n"
)
SOLUTION = re.compile(r"`{3,4}\{solution(?P<start>-start)?\} (?P<label>\S+)")
CHECK = re.compile(r'\bCheck\(\s*"(?P<label>[\w-]+)"')


@dataclass(frozen=True)
class Exercise:
    """An exercise with the cells from its text to the end of its solution."""

    page: Path
    title: str
    label: str
    checks: list[Cell]  # between the text and the solution
    solution: list[Cell]


def exercises(page: Path) -> list[Exercise]:
    text = page.read_text(encoding="utf-8")
    cells, found = code_cells(page), []
    solutions = {x["label"]: x for x in SOLUTION.finditer(text)}

    def between(first: int, last: int) -> list[Cell]:
        lines = [text.count("\n", 0, x) + 1 for x in (first, last)]
        return [cell for cell in cells if lines[0] <= cell.line <= lines[1]]

    for task in EXERCISE.finditer(text):
        end = solution = solutions.get(task["label"])
        middle = solution.start() if solution else task.end()
        last = middle
        if end and end["start"]:
            last = text.index("{solution-end}", middle)
        found.append(
            Exercise(
                page,
                task["title"],
                task["label"],
                between(task.end(), middle),
                between(middle, last),
            )
        )
    return found


PAGES = [page for page in notebooks() if exercises(page)]
ALL = [exercise for page in PAGES for exercise in exercises(page)]


@pytest.mark.parametrize("exercise", ALL, ids=lambda x: x.label)
def test_an_exercise_with_a_definite_answer_checks_it(exercise: Exercise):
    """A solution that computes something says what it is checked by."""
    checked = [CHECK.search(cell.source) for cell in exercise.checks]
    labels = [found["label"] for found in checked if found]
    assert labels in ([], [exercise.label])
    if exercise.solution and "(open)" not in exercise.title:
        assert labels, f"{exercise.label} has no check beside its text"
    if labels and exercise.solution:
        text = "\n".join(cell.source for cell in exercise.solution)
        assert '== "right"' in text
