"""Lint the code inside the notebooks, and type-check it with all other code.

python tools/lint.py [FOLDER ...]    pages, and what else mypy is to look at

Writes each notebook's code to build/lint with the prose blanked out, so that
every line keeps its number, runs ruff and mypy there, and lets their messages
name the notebook. mypy reads the libraries once for all: in runs of its own,
each folder would cost as much. pyproject.toml says which module is held to
what; pages are there a package, `page`. What a page exports mypy sees in the
module, more strictly, and the page imports it from there: in build/lint/page.
"""

import ast
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from notebook import ROOT, Cell, code_cells, dotted, notebooks

DEFINED = ast.FunctionDef | ast.ClassDef


def main() -> int:
    view = ROOT / "build" / "lint" / "page"
    shutil.rmtree(view.parent, ignore_errors=True)
    view.mkdir(parents=True)
    (view / "__init__.py").touch()
    pages, modules = {}, {}
    for path in notebooks():
        file = f"{dotted(path).replace('.', '_')}.py"
        whole, short = view.parent / file, view / file
        whole.write_text(on_their_lines(path, code_cells(path)), "utf-8")
        short.write_text(on_their_lines(path, with_imports(path)), "utf-8")
        name = str(path.relative_to(ROOT))
        pages[str(whole.relative_to(ROOT))] = name
        modules[str(short.relative_to(ROOT))] = name
    if not pages:
        print("no notebooks found", file=sys.stderr)
        return 1
    failed = [
        run(["ruff", "check", "--output-format=concise", *pages], pages),
        run(["mypy", *sys.argv[1:], *modules], modules),
    ]
    return 1 if any(failed) else 0


def with_imports(path: Path) -> list[Cell]:
    """The cells; those of functions and classes that the module has import
    them, in their first line."""
    module = ROOT.joinpath("accountlib", *dotted(path).split("."))
    cells = code_cells(path)
    if not module.with_suffix(".py").exists():
        return cells
    found = []
    for cell in cells:
        if "export" in cell.tags:
            nodes = ast.parse(cell.source).body
            names = [x.name for x in nodes if isinstance(x, DEFINED)]
            if len(names) == len(nodes):
                source = f"from accountlib.{dotted(path)} import "
                cell = replace(cell, source=source + ", ".join(names))
        found.append(cell)
    return found


def on_their_lines(path: Path, cells: list[Cell]) -> str:
    """The code of a notebook at the line numbers that it has there."""
    lines = [""] * len(path.read_text(encoding="utf-8").splitlines())
    for cell in cells:
        for number, line in enumerate(cell.source.splitlines(), cell.line):
            lines[number - 1] = line
    return "\n".join(lines).rstrip() + "\n"


def run(command: list[str], names: dict[str, str]) -> bool:
    """Run a checker, print its messages, tell whether it found anything."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    output = done.stdout + done.stderr
    for file, notebook in names.items():
        output = output.replace(file, notebook)
    if done.returncode:
        print(output, end="", file=sys.stderr)
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
