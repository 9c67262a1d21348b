"""Exercises check themselves, and run without the rest of their page."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from notebook import ROOT, Cell, code_cells, notebooks

EXERCISE = re.compile(
    r"```\{exercise\} (?P<title>.*)\n:label: (?P<label>\S+)\n"
)
SOLUTION = re.compile(r"`{3,4}\{solution(?P<start>-start)?\} (?P<label>\S+)")
CHECK = re.compile(r'check = Check\(\s*"(?P<label>[\w-]+)"')
NEEDED = (  # what we tell readers and writers, word by word
    "an exercise needs the definition cells above it, and no others. "
    "Definition cells are those that only import, define functions or "
    "classes, make random generators or set the style of figures, and those "
    "marked `export`."
)


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
STYLES = (
    "matplotlib_inline.backend_inline.set_matplotlib_formats",
    "matplotlib.pyplot.style.use",
)
CODED = [exercise for exercise in ALL if exercise.checks + exercise.solution]


def is_definition(cell: Cell) -> bool:
    """Whether the sentence `NEEDED` names this cell."""
    body = ast.parse(cell.source).body
    return "export" in cell.tags or all(map(defines, body))


def defines(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return ast.unparse(node.value).startswith("np.random.default_rng(")
    if isinstance(node, ast.Expr):
        styles = ("set_matplotlib_formats(", "plt.style.use(")
        return ast.unparse(node.value).startswith(styles)
    kinds = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef
    return isinstance(node, kinds)


def definitions_above(exercise: Exercise) -> list[Cell]:
    """Without the cells of other exercises."""
    others = [x for x in ALL if x.page == exercise.page]
    taken = {cell.line for x in others for cell in x.checks + x.solution}
    first = min(cell.line for cell in exercise.checks + exercise.solution)
    above = [cell for cell in code_cells(exercise.page) if cell.line < first]
    return [x for x in above if x.line not in taken and is_definition(x)]


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
        assert "check(" in text and '== "right"' in text


@pytest.mark.parametrize("page", ["book/reading.md", "CONTRIBUTING.md"])
def test_readers_are_told_what_an_exercise_needs(page: str):
    assert NEEDED.lower() in (ROOT / page).read_text(encoding="utf-8").lower()


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("exercise", CODED, ids=lambda x: x.label)
def test_exercises_run_after_the_definitions_of_their_page(
    exercise: Exercise, monkeypatch: pytest.MonkeyPatch
):
    """As a reader does it who runs the cells that `NEEDED` names."""
    monkeypatch.chdir(exercise.page.parent)
    for setter in STYLES:  # of the whole process, and no matter here
        monkeypatch.setattr(setter, lambda name: None)
    known: dict[str, object] = {"__name__": exercise.label}
    own = exercise.checks + exercise.solution
    for cell in definitions_above(exercise) + own:
        file = f"{exercise.page.name}, line {cell.line}"
        exec(compile(cell.source, file, "exec"), known)
