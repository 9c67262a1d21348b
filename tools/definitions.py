"""What the package defines, read from its files; nothing is imported.

Where two modules define a name, its bare form means the one that `files` has
first.
"""

import ast
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from notebook import ROOT

PACKAGE = ROOT / "accountlib"
Function = ast.FunctionDef | ast.AsyncFunctionDef
LONG = 60  # a value of more letters is not shown


@dataclass(frozen=True)
class Member:
    """A method, property or value of a class."""

    kind: str  # as the Python domain of Sphinx calls it
    signature: str
    doc: str


@dataclass(frozen=True)
class Definition:
    name: str
    module: str  # rdp
    kind: str
    public: bool  # at the top of the package
    call: str
    doc: str
    bases: tuple[str, ...] = ()
    members: tuple[Member, ...] = ()

    @property
    def page(self) -> str:
        """The page that it comes from."""
        return f"notebooks/{self.module.replace('.', '/')}"

    @property
    def full_name(self) -> str:
        """Where it is imported from."""
        home = "accountlib"
        return f"{home}.{'' if self.public else self.module + '.'}{self.name}"

    @property
    def reference(self) -> str:
        """The page of its entry."""
        return "book/api" if self.public else "book/names"

    @property
    def first_line(self) -> str:
        return self.doc.partition("\n")[0]


def files() -> list[Path]:
    """The modules that are made from pages."""
    found = sorted(PACKAGE.rglob("*.py"))
    pages = ROOT / "notebooks"
    return [
        file
        for file in found
        if (pages / file.relative_to(PACKAGE)).with_suffix(".md").exists()
    ]


@functools.cache
def definitions() -> dict[str, Definition]:
    """What a bare name means."""
    return {x.name: x for x in reversed(everything())}


@functools.cache
def everything() -> tuple[Definition, ...]:
    """All that the package exports."""
    top = parse(PACKAGE / "__init__.py")
    public = {x for key in ("__all__", "BEYOND") for x in listed(top, key)}
    found = []
    for file in files():
        inside = file.relative_to(PACKAGE).with_suffix("")
        tree = parse(file)
        names = listed(tree, "__all__")
        for name, node, doc in defined(tree):
            if name not in names:
                continue
            names.remove(name)
            same = [n for x, n, _ in defined(tree) if x == name]
            found.append(
                Definition(
                    name,
                    ".".join(inside.parts),
                    kind(node),
                    name in public,
                    call(name, same),
                    doc or docstring(same[-1]) or value_of(node, file),
                    bases(node),
                    tuple(members(node)),
                )
            )
    return tuple(found)


@functools.cache
def taken() -> frozenset[str]:
    """Words that the package also uses for something else than a definition.

    They are arguments, fields, methods and local names.
    """
    found = set()
    for file in files():
        tree = parse(file)
        for node in ast.walk(tree):
            if isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.ClassDef):
                found |= {x.name for x in node.body if is_function(x)}
            elif isinstance(node, ast.Name) and is_local(node, tree):
                found.add(node.id)
    return frozenset(found)


def is_local(node: ast.Name, tree: ast.Module) -> bool:
    return isinstance(node.ctx, ast.Store) and not any(
        name == node.id for name, _, _ in defined(tree)
    )


@functools.cache
def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def listed(tree: ast.Module, key: str) -> list[str]:
    """The names that a module lists under a name of its own."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and names_of(node) == [key]:
            return list(ast.literal_eval(node.value))
    return []


def defined(tree: ast.Module) -> Iterator[tuple[str, ast.stmt, str]]:
    """What a module defines: the name, the code, and words below a value."""
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if is_function(node) or isinstance(node, ast.ClassDef):
            yield node.name, node, ""
        for name in names_of(node):
            yield name, node, text_of(after)


def text_of(node: ast.stmt | None) -> str:
    """A text that stands alone, as below a value that it describes."""
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return text
    return ""


def names_of(node: ast.stmt) -> list[str]:
    """The names that an assignment gives."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [x.id for x in targets if isinstance(x, ast.Name)]


def is_function(node: ast.stmt) -> TypeGuard[Function]:
    return isinstance(node, Function)


def kind(node: ast.stmt) -> str:
    if isinstance(node, ast.ClassDef):
        wrong = any(base.endswith("Error") for base in bases(node))
        return "exception" if wrong else "class"
    return "function" if is_function(node) else "data"


def bases(node: ast.stmt) -> tuple[str, ...]:
    found = node.bases if isinstance(node, ast.ClassDef) else []
    return tuple(ast.unparse(base) for base in found)


def docstring(node: ast.stmt) -> str:
    if isinstance(node, Function | ast.ClassDef):
        return ast.get_docstring(node) or ""
    return ""


def value_of(node: ast.stmt, file: Path) -> str:
    """A value, and the comment beside it."""
    value = getattr(node, "value", None)
    text = ast.unparse(value) if value else ""
    lines = file.read_text(encoding="utf-8").splitlines()
    beside = lines[(node.end_lineno or 1) - 1][node.end_col_offset or 0 :]
    comment = beside.strip().removeprefix("#").strip()
    shown = f"`{text}`" if 0 < len(text) < LONG else ""
    return ", ".join(x for x in (comment, shown) if x) or "a value"


def decorators(node: ast.stmt) -> set[str]:
    found = getattr(node, "decorator_list", [])
    return {ast.unparse(x).partition("(")[0] for x in found}


def call(name: str, nodes: list[ast.stmt]) -> str:
    """How something is called; overloads differ in what they return."""
    node = nodes[-1]
    if isinstance(node, ast.ClassDef):
        return name + class_signature(node)
    if not isinstance(node, Function):
        return name
    ways = [x for x in nodes[:-1] if isinstance(x, Function) and x.returns]
    results = [ast.unparse(x.returns) for x in ways if x.returns]
    return name + signature(node, results=results)


def signature(
    node: Function, skip: int = 0, results: Sequence[str] = ()
) -> str:
    """Arguments and result as they are written down, without `self`."""
    arguments = ast.unparse(node.args)
    for _ in range(skip):
        arguments = arguments.partition(",")[2].lstrip()
    result = ast.unparse(node.returns) if node.returns else "None"
    result = " | ".join(dict.fromkeys(results)) or result
    return f"({arguments})" + (f" -> {result}" if result != "None" else "")


def class_signature(node: ast.ClassDef) -> str:
    """What makes an instance: the fields, or what `__init__` takes."""
    for inner in node.body:
        if isinstance(inner, Function) and inner.name == "__init__":
            return signature(inner, skip=1)
    if not {"dataclass", "NamedTuple"} & (decorators(node) | set(bases(node))):
        return ""
    fields = [
        ast.unparse(inner)
        for inner in node.body
        if isinstance(inner, ast.AnnAssign)
        and "ClassVar" not in ast.unparse(inner.annotation)
        and not names_of(inner)[0].startswith("_")
        and "init=False" not in ast.unparse(inner)
    ]
    return f"({', '.join(fields)})"


def members(node: ast.stmt) -> Iterator[Member]:
    """The methods and properties that have a docstring, and enum values."""
    if not isinstance(node, ast.ClassDef):
        return
    for inner in node.body:
        if isinstance(inner, Function) and not inner.name.startswith("_"):
            if doc := docstring(inner):
                yield member(inner, doc)
        elif isinstance(inner, ast.Assign) and "Enum" in str(bases(node)):
            for name in names_of(inner):
                value = ast.unparse(inner.value)
                yield Member("attribute", name, value)


def member(node: Function, doc: str) -> Member:
    marks = decorators(node)
    if marks & {"property", "cached_property"}:
        result = ast.unparse(node.returns) if node.returns else ""
        return Member("property", f"{node.name}: {result}", doc)
    static = "staticmethod" in marks
    taken = signature(node, skip=0 if static else 1)
    return Member("method", f"{node.name}{taken}", doc)
