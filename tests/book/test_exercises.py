"""Exercises check themselves: nbval runs their solutions, which must pass."""

import re

import pytest
from tangle import code_cells, notebooks

EXERCISE = re.compile(
    r"```\{exercise\} (?P<title>.*)\n:label: (?P<label>\S+)\n"
)
SOLUTION = re.compile(r"`{3,4}\{solution(?P<start>-start)?\} (?P<label>\S+)")
CHECK = re.compile(r'\bCheck\(\s*"(?P<label>[\w-]+)"')


def exercises():
    """An exercise, the cells beside its text, and those of its solution."""
    for page in notebooks():
        text = page.read_text(encoding="utf-8")
        cells = list(code_cells(page))
        solutions = {x["label"]: x for x in SOLUTION.finditer(text)}

        def between(first, last, text=text, cells=cells):
            low, high = (text.count("\n", 0, x) + 1 for x in (first, last))
            return [cell.source for cell in cells if low <= cell.line <= high]

        for task in EXERCISE.finditer(text):
            solution = solutions.get(task["label"])
            middle = last = solution.start() if solution else task.end()
            if solution and solution["start"]:
                last = text.index("{solution-end}", middle)
            beside = between(task.end(), middle)
            yield task, beside, between(middle, last)


@pytest.mark.parametrize("task, beside, solution", list(exercises()))
def test_an_exercise_with_a_definite_answer_checks_it(task, beside, solution):
    """A solution that computes something says what it is checked by."""
    checked = [CHECK.search(source) for source in beside]
    labels = [found["label"] for found in checked if found]
    assert labels in ([], [task["label"]])
    if solution and "(open)" not in task["title"]:
        assert labels, f"{task['label']} has no check beside its text"
    if labels and solution:
        assert '== "right"' in "\n".join(solution)
