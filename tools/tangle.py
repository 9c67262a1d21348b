"""Write accountlib from the cells of the notebooks tagged `export`.

python tools/tangle.py           writes the package
python tools/tangle.py --check   fails if the package differs, or if an export
                                 cell holds what does not belong into a module

The page notebooks/PART/idea.md becomes the module accountlib/PART/idea.py.
A name whose cell is also tagged `public` stands at the top of the package.
A module with a function `main` is a program.
Cells tagged `short:name` are, as they stand, accountlib/short/name.py, a file
that people may copy alone.
"""

import ast
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jupytext
import yaml

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "accountlib"
HEADER = """# Generated from {} by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0"""
MOST_PUBLIC = 60
BEYOND = "beyond."
LIBRARIES = {"numpy", "scipy", "flint", PACKAGE} | sys.stdlib_module_names
SIDE_EFFECTS = set("breakpoint display exec eval input open print".split())
FENCED = re.compile(r"^\s*(`{3,}|:{3,}).*?^\s*\1\s*$", re.M | re.S)


class ExportError(Exception):
    """An export cell breaks a rule; the message says where and which."""


@dataclass(frozen=True)
class Cell:
    """A code cell; `line` is the number of its first line of code."""

    line: int
    source: str
    tags: tuple[str, ...]
    section: str  # the last heading above it


@dataclass(frozen=True)
class Module:
    name: str  # with its part: beyond.audits
    text: str
    public: list[str]  # names at the top of the package


def parts() -> Iterator[tuple[str, list[Path]]]:
    """The parts of the book with their notebooks, in the book's order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    for part in toc["parts"]:
        files = [ROOT / f"{x['file']}.md" for x in part["chapters"]]
        pages = [x for x in files if ROOT / "notebooks" in x.parents]
        if pages:
            yield part["caption"], pages


def notebooks() -> list[Path]:
    """The notebooks in the order of the book."""
    return [page for _, pages in parts() for page in pages]


def code_cells(path: Path) -> Iterator[Cell]:
    text, end, section = path.read_text(encoding="utf-8"), 0, ""
    for cell in jupytext.reads(text, fmt="md:myst").cells:
        if cell.cell_type == "markdown":
            headings = re.findall(
                r"^#+ (.*)", FENCED.sub("", cell.source), re.M
            )
            section = headings[-1].strip() if headings else section
        elif cell.source:
            start = text.index(cell.source, end)
            end = start + len(cell.source)
            tags = tuple(cell.metadata.get("tags", ()))
            line = text.count("\n", 0, start) + 1
            yield Cell(line, cell.source, tags, section)


def package_files() -> dict[Path, str]:
    """The text of every file of the package."""
    folder = ROOT / PACKAGE
    modules: list[Module] = []
    files: dict[Path, str] = {}
    # What stands in the back matter is for all other pages.
    for caption, pages in sorted(parts(), key=lambda x: x[0] != "Back matter"):
        for page in pages:
            module = tangle(page)
            if module is None:
                continue
            modules.append(module)
            file = folder / f"{module.name.replace('.', '/')}.py"
            files[file] = module.text
            if file.parent != folder:
                head = HEADER.format("_toc.yml")
                text = f'{head}\n"""{caption}."""\n'
                files[file.parent / "__init__.py"] = text
    files[folder / "__init__.py"] = package(modules)
    return laid_out(files) | short_files()


SHORT = """# accountlib {}, from {}
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0
"""
MAIN = """if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""
RUN = """if __name__ == "__main__":
    import doctest

    print(doctest.testmod())
"""


def short_files() -> dict[Path, str]:
    """Files to copy: their cells one after the other, nothing changed."""
    texts: dict[str, list[str]] = {}
    for page in notebooks():
        head = SHORT.format(version(), page.relative_to(ROOT))
        for cell in code_cells(page):
            for tag in cell.tags:
                if tag.startswith("short:"):
                    start = texts.setdefault(tag[6:], [])
                    start.append(cell.source if start else head + cell.source)
    folder = ROOT / PACKAGE / "short"
    files = {
        folder / f"{name}.py": "\n\n\n".join([*cells, RUN])
        for name, cells in texts.items()
    }
    init = HEADER.format("the notebooks")
    init += '\n"""Files to copy, each alone."""\n'
    return files | {folder / "__init__.py": init}


def tangle(path: Path) -> Module | None:
    """The module of one notebook."""
    imports: dict[str, None] = {}  # a dict keeps the order, a set does not
    bodies: list[str] = []
    names: dict[str, None] = {}
    public: dict[str, None] = {}
    where = str(path.relative_to(ROOT))
    section = ""
    for cell in code_cells(path):
        if "export" not in cell.tags:
            continue
        tree = checked(cell, where)
        lines = cell.source.splitlines()
        for node in reversed(tree.body):
            if is_import(node):
                span = slice(node.lineno - 1, node.end_lineno)
                imports["\n".join(lines[span])] = None
                del lines[span]
        if any(not is_import(node) for node in tree.body):
            if cell.section != section:
                section = cell.section
                bodies.append(f"# --- {plain(section)}")
            bodies.append("\n".join(lines).strip("\n"))
        names |= dict.fromkeys(defined(tree))  # an overload is one name
        if "public" in cell.tags:
            public |= dict.fromkeys(defined(tree))
    if not bodies:
        return None
    if "main" in names:
        imports["import sys"] = None
        bodies.append(MAIN)
    exported = [name for name in names if not name.startswith("_")]
    text = [
        HEADER.format(where),
        docstring(path),
        "\n".join(sorted(imports)),
        f"__all__ = {exported!r}",
        *bodies,
    ]
    inside = path.relative_to(ROOT / "notebooks").with_suffix("")
    name = ".".join(inside.parts)
    return Module(name, "\n\n".join(text) + "\n", list(public))


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
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(settings)["project"]["version"])


def package(modules: list[Module]) -> str:
    """The text of __init__.py: public names, and how others are found; what
    wraps them (`hear`) is called where a page has it."""
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
    if hears := [m.name for m in modules if "\ndef hear(" in m.text]:
        lines.insert(3, f"from .{hears[0]} import hear")
        lines.append("hear(globals())")
    return "\n\n".join(lines)


def checked(cell: Cell, where: str) -> ast.Module:
    """The code of a cell that may stand in a module; else an error."""

    def fail(line: int, message: str) -> None:
        raise ExportError(f"{where}:{cell.line + line - 1}: {message}")

    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        fail(error.lineno or 1, f"no plain Python ({error.msg})")
    for node in tree.body:
        if not is_import(node) and not list(names_of(node)):
            fail(node.lineno, "an export cell defines or imports, no more")
    whole = ast.FunctionDef | ast.ClassDef
    if any(isinstance(node, whole) for node in tree.body) and (
        len(set(defined(tree))) > 1
        or not all(isinstance(node, whole) for node in tree.body)
    ):
        line = tree.body[-1].lineno
        fail(line, "a function or class has a cell of its own")
    for inner in ast.walk(tree):
        for module in imported(inner):
            library = module.partition(".")[0]
            if library not in LIBRARIES:
                fail(inner.lineno, f"accountlib does not depend on {module}")
            if library == PACKAGE and (
                module == PACKAGE
                or inner not in tree.body
                or any(x.asname for x in inner.names)
            ):
                fail(inner.lineno, "names of other pages keep their name")
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
            if inner.func.id in SIDE_EFFECTS and defined(tree) != ["main"]:
                fail(inner.lineno, f"{inner.func.id}() in an export cell")
    return tree


def is_import(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return ["." * node.level + (node.module or "")]
    return []


def defined(tree: ast.Module) -> list[str]:
    return [name for node in tree.body for name in names_of(node)]


def names_of(node: ast.stmt) -> Iterator[str]:
    """The names a definition gives: functions, classes, constants, types."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        # UPPER_CASE for a value, CapWords for a type.
        if isinstance(target, ast.Name):
            if target.id.lstrip("_")[:1].isupper():
                yield target.id


def docstring(path: Path) -> str:
    """The docstring of a module: the page's title and its table of names."""
    text = path.read_text(encoding="utf-8")
    title = re.search(r"^# (.*)", text, re.M)
    table = re.search(
        r"^## Names used here\n(?:.*\n)*?((?:\|.*\n)+)", text, re.M
    )
    names = f"\n\nNames used here:\n\n{plain(table[1])}" if table else ""
    return f'r"""{title[1].strip() if title else ""}{names}"""'


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
            ruff = [sys.executable, "-m", "ruff", *command, "-q", name]
            subprocess.run(ruff, check=True)
        return {x: y.read_text(encoding="utf-8") for x, y in copies.items()}


def main() -> int:
    try:
        files = package_files()
    except ExportError as error:
        print(error, file=sys.stderr)
        return 1
    there = {
        path: path.read_text(encoding="utf-8")
        for path in (ROOT / PACKAGE).rglob("*.py")
        if path.name != "__main__.py"
    }
    paths = sorted(files.keys() | there.keys())
    wrong = [path for path in paths if files.get(path) != there.get(path)]
    if "--check" in sys.argv:
        for path in wrong:
            print(f"{path}: differs from its notebook; `make tangle`")
        return 1 if wrong else 0
    for path in wrong:
        if path in files:
            path.parent.mkdir(exist_ok=True)
            path.write_text(files[path], encoding="utf-8")
        else:
            path.unlink()
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
