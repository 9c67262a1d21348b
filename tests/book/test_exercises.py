"""Exercises check themselves, and run without the rest of their page."""

import ast
import builtins
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from notebook import Cell, code_cells, dotted, notebooks

EXERCISE = re.compile(
    r"```\{exercise\} (?P<title>.*)\n:label: (?P<label>\S+)\n"
)
SOLUTION = re.compile(r"`{3,4}\{solution(?P<start>-start)?\} (?P<label>\S+)")
CHECK = re.compile(r'check = Check\(\s*"(?P<label>[\w-]+)"')
RULE = "assert check("  # how a solution shows that it passes


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


def names(tree: ast.AST, kind: type[ast.expr_context]) -> set[str]:
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    return {node.id for node in nodes if isinstance(node.ctx, kind)}


def bound(tree: ast.AST) -> set[str]:
    """Every name that gets a value somewhere in a cell."""
    found = names(tree, ast.Store)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(x.asname or x.name).split(".")[0] for x in node.names}
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return found


def defines_only(tree: ast.Module) -> bool:
    """Imports, functions, classes and generators of random numbers."""
    return all(
        isinstance(
            node,
            ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef,
        )
        or (
            isinstance(node, ast.Assign)
            and ast.unparse(node.value).startswith("np.random.default_rng(")
        )
        or (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and ast.unparse(node.value).startswith("set_matplotlib_formats")
        )
        for node in tree.body
    )


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


@pytest.mark.parametrize("page", PAGES, ids=dotted)
def test_exercises_need_only_the_definitions_of_their_page(page: Path):
    found = exercises(page)
    own = {cell.line for x in found for cell in x.checks + x.solution}
    known = set(dir(builtins))
    for cell in code_cells(page):
        tree = ast.parse(cell.source)
        if cell.line not in own and (
            "export" in cell.tags or defines_only(tree)
        ):
            known |= {name for node in tree.body for name in bound_here(node)}
    for exercise in found:
        here = known.copy()
        for cell in exercise.checks + exercise.solution:
            tree = ast.parse(cell.source)
            missing = names(tree, ast.Load) - here - bound(tree)
            assert not missing, f"{exercise.label} needs {sorted(missing)}"
            here |= bound(tree)


def bound_here(node: ast.stmt) -> set[str]:
    """What a statement of a page gives a value, not what is inside of it."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return bound(node)
