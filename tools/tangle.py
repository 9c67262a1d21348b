"""Write accountlib from the cells of the notebooks tagged `export`.

python tools/tangle.py           writes the package
python tools/tangle.py --check   fails if the package differs, or if an export
                                 cell holds what does not belong into a module

The page notebooks/PART/idea.md becomes the module accountlib/PART/idea.py.
A name whose cell is also tagged `public` stands at the top of the package.
"""

import argparse
import ast
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from notebook import ROOT, Cell, Part, code_cells, dotted, parts

PACKAGE = "accountlib"
HEADER = """# Generated from {} by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0"""
MOST_PUBLIC = 60
BEYOND = "beyond."
LIBRARIES = {"numpy", "scipy", PACKAGE} | sys.stdlib_module_names
SIDE_EFFECTS = {"breakpoint", "display", "exec", "eval", "input", "open"}
SIDE_EFFECTS |= {"print"}


class ExportError(Exception):
    """An export cell breaks a rule; the message says where and which."""


@dataclass(frozen=True)
class Module:
    name: str  # with its part: rdp
    text: str
    public: list[str]  # names at the top of the package


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
    leftover = [p for p in folder.rglob("*.py") if p not in files]
    different = [
        path
        for path, text in files.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if only_check:
        for path in leftover:
            print(f"{path}: no notebook exports this", file=sys.stderr)
        for path in different:
            print(f"{path}: differs from its notebook", file=sys.stderr)
        if leftover or different:
            print("`make tangle` writes the package anew", file=sys.stderr)
        return 1 if leftover or different else 0
    for path in leftover:
        path.unlink()
        if not any(path.parent.glob("*.py")):
            shutil.rmtree(path.parent)
    for path in different:
        path.parent.mkdir(exist_ok=True)
        path.write_text(files[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


def package_files() -> dict[Path, str]:
    """The text of every file of the package."""
    folder = ROOT / PACKAGE
    modules: list[Module] = []
    files = {folder / "py.typed": ""}
    # What stands in the back matter is for all other pages.
    pages = [(part, page) for part in parts() for page in part.pages]
    pages.sort(key=lambda x: x[0].caption != "Back matter")
    for part, page in pages:
        module = tangle(page, [m.name for m in modules])
        if module is None:
            continue
        modules.append(module)
        file = folder / f"{module.name.replace('.', '/')}.py"
        files[file] = module.text
        if file.parent != folder:
            files[file.parent / "__init__.py"] = part_package(part)
    return laid_out(files | {folder / "__init__.py": package(modules)})


def part_package(part: Part) -> str:
    return HEADER.format("_toc.yml") + f'\n"""{part.caption}."""\n'


def tangle(path: Path, earlier: list[str]) -> Module | None:
    """The module of one notebook; `earlier` may be imported by it."""
    imports: dict[str, None] = {}  # a dict keeps the order, a set does not
    bodies: list[str] = []
    names: list[str] = []
    public: list[str] = []
    where = str(path.relative_to(ROOT))
    section = ""
    for cell in code_cells(path):
        if "export" not in cell.tags:
            continue
        tree = parse(cell, where)
        check(tree, cell, where, earlier)
        lines = cell.source.splitlines()
        for node in reversed(tree.body):
            if isinstance(node, ast.Import | ast.ImportFrom):
                span = slice(node.lineno - 1, node.end_lineno)
                imports["\n".join(lines[span])] = None
                del lines[span]
        if any(not is_import(node) for node in tree.body):
            if cell.section != section:
                section = cell.section
                bodies.append(f"# --- {plain(section)}")
            bodies.append("\n".join(lines).strip("\n"))
        here = list(dict.fromkeys(defined(tree)))  # an overload is one name
        names += here
        if "public" in cell.tags:
            public += here
    if not bodies:
        return None
    exported = [name for name in names if not name.startswith("_")]
    text = "\n\n".join(
        [
            HEADER.format(where),
            docstring(path),
            "\n".join(sorted(imports)),
            f"__all__ = {exported!r}",
            *bodies,
        ]
    )
    return Module(dotted(path), text + "\n", public)


def package(modules: list[Module]) -> str:
    """The text of __init__.py: public names, and how others are found."""
    core = [m for m in modules if m.public and not m.name.startswith(BEYOND)]
    public = [name for module in core for name in module.public]
    if len(public) > MOST_PUBLIC:
        raise ExportError(f"{len(public)} public names, {MOST_PUBLIC} allowed")
    beyond = {
        name: module.name
        for module in modules
        if module.name.startswith(BEYOND)
        for name in module.public
    }
    lines = [
        HEADER.format("the notebooks"),
        '"""Privacy accounting with certified bounds."""',
        "import importlib\nfrom typing import Any",
        *(f"from .{m.name} import {', '.join(m.public)}" for m in core),
        f'__all__ = {public!r}\n__version__ = "{version()}"',
        f"BEYOND = {beyond!r}",
        ELSEWHERE,
    ]
    return "\n\n".join(lines)


ELSEWHERE = '''
def __getattr__(name: str) -> Any:
    """What plugs in is loaded when it is first asked for."""
    if name not in BEYOND:
        raise AttributeError(f"module 'accountlib' has no attribute {name!r}")
    home = importlib.import_module(f"accountlib.{BEYOND[name]}")
    return getattr(home, name)


def __dir__() -> list[str]:
    return [*__all__, *BEYOND]
'''


def version() -> str:
    with open(ROOT / "pyproject.toml", "rb") as file:
        return str(tomllib.load(file)["project"]["version"])


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
                    fail(inner, f"{module} is no earlier page")
                if module.split(".")[0] == PACKAGE and (
                    inner not in tree.body
                    or any(alias.asname for alias in inner.names)
                ):
                    fail(inner, "names of other pages keep their name")
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


def docstring(path: Path) -> str:
    """The docstring of a module: the page's title and its table of names."""
    text = path.read_text(encoding="utf-8")
    table = re.search(
        r"^## Names used here\n(?:.*\n)*?((?:\|.*\n)+)", text, re.M
    )
    names = f"\n\nNames used here:\n\n{plain(table[1])}" if table else "."
    return f'r"""{title(path)}{names}"""'


def title(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(x[2:] for x in lines if x.startswith("# ")).strip()


def plain(text: str) -> str:
    """Text of a page as it may stand in a module."""
    return re.sub(r"\{\w+\}`([^`<]*?)( ?<[^>]*>)?`", r"\1", text)


def laid_out(files: dict[Path, str]) -> dict[Path, str]:
    """The files with their imports sorted and everything laid out."""
    with tempfile.TemporaryDirectory(dir=ROOT) as name:
        copies = {path: Path(name) / path.relative_to(ROOT) for path in files}
        for path, copy in copies.items():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(files[path], encoding="utf-8")
        for command in (["check", "--select=I", "--fix"], ["format"]):
            subprocess.run(
                [sys.executable, "-m", "ruff", *command, "-q", name],
                check=True,
            )
        return {
            path: copy.read_text(encoding="utf-8")
            for path, copy in copies.items()
        }


if __name__ == "__main__":
    sys.exit(main())
