"""Write accountlib from the cells of the notebooks tagged `export`.

python tools/tangle.py           writes the package
python tools/tangle.py --check   fails if the package differs, or if an export
                                 cell holds what does not belong into a module
"""

import argparse
import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from notebook import ROOT, Cell, code_cells, notebooks

PACKAGE = "accountlib"
HEADER = "# Generated from {} by tools/tangle.py; do not edit."
LIBRARIES = {"numpy", "scipy", PACKAGE} | sys.stdlib_module_names
SIDE_EFFECTS = {"breakpoint", "display", "exec", "eval", "input", "open"}
SIDE_EFFECTS |= {"print"}


class ExportError(Exception):
    """An export cell breaks a rule; the message says where and which."""


@dataclass(frozen=True)
class Module:
    name: str
    text: str
    public: list[str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    only_check = parser.parse_args().check
    try:
        files = package_files()
    except ExportError as error:
        print(error, file=sys.stderr)
        return 1
    folder = ROOT / PACKAGE
    leftover = [p for p in folder.glob("*.py") if p.name not in files]
    different = [
        folder / name
        for name, text in files.items()
        if not (folder / name).exists()
        or (folder / name).read_text(encoding="utf-8") != text
    ]
    if only_check:
        for path in leftover:
            print(f"{path}: no notebook exports this", file=sys.stderr)
        for path in different:
            print(f"{path}: differs from its notebook", file=sys.stderr)
        if leftover or different:
            print("`make tangle` writes the package anew", file=sys.stderr)
        return 1 if leftover or different else 0
    folder.mkdir(exist_ok=True)
    for path in leftover:
        path.unlink()
    for path in different:
        path.write_text(files[path.name], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


def package_files() -> dict[str, str]:
    """The text of every file of the package, by its name."""
    modules: list[Module] = []
    for path in notebooks():
        module = tangle(path, [m.name for m in modules])
        if module:
            modules.append(module)
    files = {f"{m.name}.py": m.text for m in modules}
    return files | {"__init__.py": package(modules), "py.typed": ""}


def tangle(path: Path, earlier: list[str]) -> Module | None:
    """The module of one notebook; `earlier` may be imported by it."""
    imports: dict[str, None] = {}  # a dict keeps the order, a set does not
    bodies: list[str] = []
    public: list[str] = []
    for cell in code_cells(path):
        if "export" not in cell.tags:
            continue
        where = f"notebooks/{path.name}"
        tree = parse(cell, where)
        check(tree, cell, where, earlier)
        lines = cell.source.splitlines()
        for node in reversed(tree.body):
            if isinstance(node, ast.Import | ast.ImportFrom):
                span = slice(node.lineno - 1, node.end_lineno)
                imports["\n".join(lines[span])] = None
                del lines[span]
        if any(not is_import(node) for node in tree.body):
            bodies.append("\n".join(lines).strip("\n"))
        public += [n for n in defined(tree) if not n.startswith("_")]
    if not bodies:
        return None
    name = path.stem[3:]
    exported = list(dict.fromkeys(public))
    text = "\n\n".join(
        [
            HEADER.format(f"notebooks/{path.name}"),
            f'"""{title(path)}."""',
            "\n".join(sorted(imports)),
            f"__all__ = {exported!r}",
            *bodies,
        ]
    )
    return Module(name, ruff(text, f"{PACKAGE}/{name}.py"), exported)


def package(modules: list[Module]) -> str:
    """The text of __init__.py: every public name, chapter by chapter."""
    names = [name for module in modules for name in module.public]
    clash = {n for n in names if names.count(n) > 1}
    clash |= set(names) & {module.name for module in modules}
    if clash:
        raise ExportError(f"names defined twice: {', '.join(sorted(clash))}")
    with open(ROOT / "pyproject.toml", "rb") as file:
        version = tomllib.load(file)["project"]["version"]
    lines = [
        HEADER.format("the notebooks"),
        '"""Privacy accounting with certified bounds, chapter by chapter."""',
    ]
    lines += [
        f"from .{module.name} import {', '.join(module.public)}"
        for module in modules
        if module.public
    ]
    lines += [f"__all__ = {names!r}", f'__version__ = "{version}"']
    return ruff("\n\n".join(lines), f"{PACKAGE}/__init__.py")


def parse(cell: Cell, where: str) -> ast.Module:
    try:
        return ast.parse(cell.source)
    except SyntaxError as error:
        line = cell.line + (error.lineno or 1) - 1
        raise ExportError(
            f"{where}:{line}: an export cell holds plain Python only"
            f" ({error.msg})"
        ) from error


def check(
    tree: ast.Module, cell: Cell, where: str, earlier: list[str]
) -> None:
    """Raise unless the cell may stand in a module."""

    def fail(node: ast.stmt | ast.expr, message: str) -> None:
        line = cell.line + node.lineno - 1
        raise ExportError(f"{where}:{line}: {message}")

    for node in tree.body:
        if not is_import(node) and not list(names_of(node)):
            fail(node, "an export cell defines or imports, nothing else")
    definitions = [n for n in tree.body if is_definition(n)]
    if definitions and (
        len(definitions) < len(tree.body) or len(set(defined(tree))) > 1
    ):
        fail(tree.body[-1], "a function or class has a cell of its own")
    for inner in ast.walk(tree):
        if isinstance(inner, ast.Import | ast.ImportFrom):
            for module in imported(inner):
                if module.split(".")[0] not in LIBRARIES:
                    fail(inner, f"accountlib does not depend on {module}")
                if module.split(".")[0] == PACKAGE and (
                    module.removeprefix(f"{PACKAGE}.") not in earlier
                ):
                    fail(inner, f"{module} is no earlier chapter")
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
            if inner.func.id in SIDE_EFFECTS:
                fail(inner, f"{inner.func.id}() in an export cell")


def is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def is_definition(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.ClassDef)


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return ["." * node.level + (node.module or "")]


def defined(tree: ast.Module) -> list[str]:
    return [name for node in tree.body for name in names_of(node)]


def names_of(node: ast.stmt) -> Iterator[str]:
    """The names a definition gives: functions, classes, constants, types."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign | ast.AnnAssign):
        targets = (
            [node.target]
            if isinstance(node, ast.AnnAssign)
            else (node.targets)
        )
        for target in targets:
            if isinstance(target, ast.Name) and is_constant(target.id):
                yield target.id


def is_constant(name: str) -> bool:
    """UPPER_CASE for a value, CapWords for a type."""
    return name.lstrip("_")[:1].isupper()


def title(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(x[2:].strip() for x in lines if x.startswith("# "))


def ruff(text: str, name: str) -> str:
    """The text with its imports sorted and everything laid out."""
    here = f"--stdin-filename={ROOT / name}"
    for command in (["check", "--select=I", "--fix", "-q"], ["format", "-q"]):
        text = subprocess.run(
            [sys.executable, "-m", "ruff", *command, here, "-"],
            input=text,
            capture_output=True,
            check=True,
            encoding="utf-8",
        ).stdout
    return text


if __name__ == "__main__":
    sys.exit(main())
