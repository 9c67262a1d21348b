"""Lint and type-check the code inside the notebooks.

Writes each notebook's code to build/lint with the prose blanked out, so that
every line keeps its number, runs ruff and mypy there, and lets their messages
name the notebook.
"""

import subprocess
import sys
from pathlib import Path

from notebook import ROOT, code_cells, dotted, notebooks


def main() -> int:
    view = ROOT / "build" / "lint"
    view.mkdir(parents=True, exist_ok=True)
    for old in view.glob("*.py"):
        old.unlink()
    names = {}
    for path in notebooks():
        file = view / f"page_{dotted(path).replace('.', '_')}.py"
        file.write_text(code_on_its_lines(path), encoding="utf-8")
        names[str(file.relative_to(ROOT))] = str(path.relative_to(ROOT))
    if not names:
        print("no notebooks found", file=sys.stderr)
        return 1
    options = ["--allow-redefinition", "--no-warn-unused-ignores"]
    failed = [
        run(["ruff", "check", "--output-format=concise", *names], names),
        run(["mypy", *options, *names], names),
    ]
    return 1 if any(failed) else 0


def code_on_its_lines(path: Path) -> str:
    """The code of a notebook at the line numbers that it has there."""
    lines = [""] * len(path.read_text(encoding="utf-8").splitlines())
    for cell in code_cells(path):
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
