# Generated from notebooks/source.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""A function to take home."""

import ast
import functools
import json
import re
import symtable
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from doctest import DocTestParser
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from textwrap import fill

__all__ = [
    "looked_up",
    "global_names",
    "quoted_names",
    "Definition",
    "definitions_in",
    "defined_by",
    "text_of",
    "example_code",
    "Package",
    "package",
    "imports_in",
    "is_ours",
    "needed_for",
    "name_of",
    "with_own_imports",
    "without_examples",
    "standing_alone",
    "import_block",
    "import_rank",
    "blocks",
    "sources_of",
    "GAPS",
    "HEAD",
    "TAIL",
    "source_file",
    "source_parser",
    "run_source",
]

# --- Code: what a definition needs


def looked_up(code: str) -> set[str]:
    """The names that code looks up in its module, and does not assign there.

    >>> sorted(looked_up("def chance(epsilon): return SCALE * tail(epsilon)"))
    ['SCALE', 'tail']
    """
    module = symtable.symtable(code, "code", "exec")
    own = {x.get_name() for x in module.get_symbols() if x.is_local()}
    return {*global_names(module), *quoted_names(code)} - own


def global_names(table: symtable.SymbolTable) -> Iterator[str]:
    """Names that code and the functions in it find outside of functions."""
    for symbol in table.get_symbols():
        if symbol.is_global() and not symbol.is_local():
            yield symbol.get_name()
    for inner in table.get_children():
        yield from global_names(inner)


def quoted_names(code: str) -> Iterator[str]:
    """Words in the quoted annotations of some code.

    >>> list(quoted_names('def copy(bound: "Bound") -> "list[Bound]": ...'))
    ['list', 'Bound', 'Bound']
    """
    for node in ast.walk(ast.parse(code)):
        for name in ("annotation", "returns"):
            annotation = getattr(node, name, None)
            for part in ast.walk(annotation) if annotation else ():
                value = getattr(part, "value", None)
                if isinstance(value, str):
                    yield from re.findall(r"[^\W\d]\w*", value)


# --- Code: cutting a module into definitions


@dataclass(frozen=True)
class Definition:
    """A function, class or constant of the package.

    Fields: `name`; `module`, its home; `text`, with the comments above;
    `needs`, what it looks up; `mentions`, what its examples look up.
    """

    name: str
    module: str
    text: str
    needs: frozenset[str]
    mentions: frozenset[str]


def definitions_in(module: str, code: str) -> list[Definition]:
    """The definitions of a module, in their order.

    Parameters: `module`, its name; `code`, its text.

    >>> code = "import math\\n# of a circle\\nTURN = 2 * math.pi\\n"
    >>> (turn,) = definitions_in("angles", code)
    >>> turn.name, turn.text, sorted(turn.needs)
    ('TURN', '# of a circle\\nTURN = 2 * math.pi', ['math'])
    """
    lines, texts = code.splitlines(), dict[str, str]()
    for node in ast.parse(code).body:
        for name in defined_by(node):
            before = f"{texts[name]}\n\n\n" if name in texts else ""
            texts[name] = before + text_of(node, lines)
    return [
        Definition(
            name,
            module,
            text,
            frozenset(looked_up(text)),
            frozenset(looked_up(example_code(text))),
        )
        for name, text in texts.items()
    ]


def defined_by(node: ast.stmt) -> list[str]:
    """The names that a statement defines; `__all__` is none."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    names = [x.id for x in targets if isinstance(x, ast.Name)]
    return [name for name in names if not name.startswith("__")]


def text_of(node: ast.stmt, lines: Sequence[str]) -> str:
    """A statement with its decorators and the comments above it."""
    above = [x.lineno for x in getattr(node, "decorator_list", ())]
    first = min([node.lineno, *above]) - 1
    while first > 0 and lines[first - 1].startswith("#"):
        first -= 1
    return "\n".join(lines[first : node.end_lineno])


def example_code(text: str) -> str:
    """The code of a definition's examples, but imports from this package."""
    found = [x.source for x in DocTestParser().get_examples(text)]
    return "".join(code for code in found if not is_ours(code))


# --- Code: the package and its book


@dataclass(frozen=True)
class Package:
    """All that can be copied, and what is known of it.

    Fields: `version`; `pages`, titles by module, in the book's order;
    `sources`, BibTeX by author and year; `definitions` by name;
    `libraries`, the import statement of each name from elsewhere.
    """

    version: str
    pages: dict[str, str]
    sources: dict[str, str]
    definitions: dict[str, Definition]
    libraries: dict[str, str]


@functools.cache
def package() -> Package:
    """The installed package, read from its own files; this page is not in.

    >>> package().definitions["gaussian_delta"].module
    'worst_cases.closed_forms'
    """
    home = files("accountlib")
    book = json.loads(home.joinpath("book.json").read_text("utf-8"))
    definitions: dict[str, Definition] = {}
    libraries: dict[str, str] = {}
    for module in (name for name in book["pages"] if name != "source"):
        file = home.joinpath(f"{module.replace('.', '/')}.py")
        code = file.read_text("utf-8")
        libraries |= imports_in(code)
        definitions |= {x.name: x for x in definitions_in(module, code)}
    sources = {name: "\n".join(x) for name, x in book["sources"].items()}
    return Package(
        book["version"], book["pages"], sources, definitions, libraries
    )


def imports_in(code: str) -> dict[str, str]:
    """Names that a module has from other libraries, and how it gets them.

    >>> imports_in("import numpy as np\\nfrom math import exp, log")["log"]
    'from math import log'
    """
    found = {}
    for node in ast.parse(code).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            start = ""
            if isinstance(node, ast.ImportFrom):
                start = f"from {node.module} "
            for x in node.names:
                renamed = f" as {x.asname}" if x.asname else ""
                statement = f"{start}import {x.name}{renamed}"
                found[(x.asname or x.name).split(".")[0]] = statement
    return {k: x for k, x in found.items() if not is_ours(x)}


def is_ours(statement: str) -> bool:
    """Whether an import statement names this package.

    >>> is_ours("from accountlib.inputs import check_range"), is_ours("1 + 1")
    (True, False)
    """
    return bool(re.match(r"(from|import) accountlib\b", statement))


# --- Code: what a name brings along


def needed_for(names: Sequence[str]) -> list[Definition]:
    """The definitions that belong to some names, in the book's order.

    Raises: ValueError for an unknown name; it says which ones are near.

    >>> [x.name for x in needed_for(["check_kind"])]
    ['check_kind']
    """
    known = package().definitions
    asked = {name_of(name) for name in names}
    found, new = set[str](), asked
    while new:
        found |= new
        needs = {need for name in new for need in known[name].needs}
        for name in new & asked:
            needs |= known[name].mentions
        new = (needs & known.keys()) - found
    return [x for x in known.values() if x.name in found]


def name_of(written: str) -> str:
    """The name of a definition that is written with or without its module.

    Raises: ValueError for an unknown one; it says which ones are near.

    >>> name_of("accountlib.accountant.epsilon")
    'epsilon'
    >>> name_of("calibrate_nois")
    Traceback (most recent call last):
    ...
    ValueError: name must be one that accountlib defines, got 'calibrate_nois';
    near to it is calibration.calibrate_noise
    """
    known = package().definitions
    name = written.rpartition(".")[2]
    if name in known:
        place = f".{known[name].module}.{name}"
        if place.endswith(f".{written.removeprefix('accountlib.')}"):
            return name
    near = get_close_matches(name, known, cutoff=0.8)
    places = ", ".join(f"{known[x].module}.{x}" for x in near) or "nothing"
    raise ValueError(
        f"name must be one that accountlib defines, got {written!r}; "
        f"near to it is {places}"
    )


# --- Code: a definition that stands alone


def with_own_imports(text: str, imports: Sequence[str]) -> str:
    r"""A definition whose examples import no page, but these lines.

    >>> text = "    >>> from accountlib.inputs import check_kind\n    >>> 1"
    >>> print(with_own_imports(text, ["import math"]).replace(">>>", "-"))
        - import math
        - 1
    """
    lines, examples = text.splitlines(), DocTestParser().get_examples(text)
    for example in reversed(examples):
        if is_ours(example.source):
            end = example.lineno + example.source.count("\n")
            del lines[example.lineno : end]
    if examples:
        start, indent = examples[0].lineno, " " * examples[0].indent
        lines[start:start] = [f"{indent}>>> {line}" for line in imports]
    return "\n".join(lines)


def without_examples(text: str) -> str:
    r"""A definition whose docstrings end before their examples.

    >>> text = "def one():\n    QQQOne.\n\n    >>> one()\n    1\n    QQQ"
    >>> print(without_examples(text.replace("Q", '"')).replace('"', "Q"))
    def one():
        QQQOne.QQQ
    """
    cut = re.sub(r'\n+ *>>> .*?(?=\n *""")', "", text, flags=re.S)
    return re.sub(r'("""[^\n]+)\n *"""', r'\1"""', cut)  # one line is left


def standing_alone(chosen: Sequence[Definition]) -> Iterator[str]:
    """The texts of definitions as they stand in one file.

    Examples stay where the file has all that they mention.
    """
    known, libraries = package().definitions, package().libraries
    present = {x.name for x in chosen}
    imported = {need for x in chosen for need in x.needs}
    for x in chosen:
        if x.mentions & known.keys() <= present:
            missing = sorted((x.mentions & libraries.keys()) - imported)
            imports = [libraries[name] for name in missing]
            yield with_own_imports(x.text, imports)
        else:
            yield without_examples(x.text)


# --- Code: one file


def import_block(statements: set[str]) -> str:
    """Import statements in the usual sequence and layout.

    >>> some = {"import numpy as np", "from math import log", "import re"}
    >>> print(import_block(some | {"from math import exp"}))
    import re
    from math import exp, log
    <BLANKLINE>
    import numpy as np
    """
    names: dict[str, list[str]] = {}
    for statement in statements:
        start, word, name = statement.rpartition("import ")
        alone = not start or " as " in name
        names.setdefault(statement if alone else start + word, []).append(name)
    groups: dict[bool, list[str]] = {True: [], False: []}
    for start in sorted(names, key=lambda x: (x.startswith("from"), x)):
        line = start
        if start.endswith("import "):
            line += ", ".join(sorted(names[start], key=import_rank))
        if len(line) > 79:
            line = line.replace(", ", ",\n    ")
            line = line.replace("import ", "import (\n    ") + ",\n)"
        root = re.split(r"[ .]", start)[1]
        groups[root in sys.stdlib_module_names].append(line)
    return "\n\n".join("\n".join(lines) for lines in groups.values() if lines)


def import_rank(name: str) -> tuple[bool, bool, str]:
    """Constants go before classes, and classes before functions."""
    constant = name.isupper() and len(name) > 1
    return not constant, not name[0].isupper(), name


def blocks(chosen: Sequence[Definition]) -> Iterator[str]:
    """The definitions of each page, below a comment that names it."""
    pairs = zip(chosen, standing_alone(chosen), strict=True)
    for module, group in groupby(pairs, lambda pair: pair[0].module):
        page = f"notebooks/{module.replace('.', '/')}.md"
        block = f"# --- From accountlib.{module}\n"
        block += f'# Page "{package().pages[module]}", {page}'
        above = "page"
        for _, text in group:
            is_code = re.search(r"^(@|def |class )", text, re.M)
            kind = "code" if is_code else "constant"
            block += GAPS.get((above, kind), "\n\n\n") + text
            above = kind
        yield block


def sources_of(chosen: Sequence[Definition]) -> list[str]:
    """BibTeX of the works that definitions name, such as Ganesh (2024)."""
    text = " ".join(word for x in chosen for word in x.text.split())
    plain = text.replace("(", "").replace(")", "")
    return [x for name, x in package().sources.items() if name in plain]


GAPS = {("page", "constant"): "\n\n", ("constant", "constant"): "\n"}
HEAD = '''\
# SPDX-FileCopyrightText: 2026 The accountlib authors
# SPDX-License-Identifier: Apache-2.0

r"""{title}

Written by `python -m accountlib source`, of accountlib {version}.
It needs numpy and scipy. As a script it runs the examples in its docstrings.
A label such as (part-name) is an equation of the page named above it.{sources}
"""'''
TAIL = """\
if __name__ == "__main__":
    import doctest

    failed, tried = doctest.testmod(optionflags=doctest.NORMALIZE_WHITESPACE)
    print(f"{tried} examples, {failed} failed")
    raise SystemExit(failed > 0)
"""


def source_file(*names: str) -> str:
    """One Python file with some names, and all that they need.

    Parameters: `names`, of functions, classes or constants of the package,
    private ones too, with or without their module ("epsilon",
    "accountlib.epsilon", "accountant.epsilon").
    Returns: the text of a file that runs alone, with numpy and scipy.
    Raises: ValueError for an unknown name; it says which ones are near.

    >>> text = source_file("as_given")
    >>> "def as_given(" in text, "accountlib.inputs import" in text
    (True, False)
    """
    chosen, libraries = needed_for(names), package().libraries
    asked = ", ".join(dict.fromkeys(names))
    title = fill(f"{asked}, and all that belongs to it.", 75)
    needs = {need for x in chosen for need in x.needs & libraries.keys()}
    sources = sources_of(chosen)
    if sources:
        sources.insert(0, "\n\nIts sources:")
    head = HEAD.format(
        title=title,
        version=package().version,
        sources="\n\n".join(sources),
    )
    imports = import_block({libraries[need] for need in needs})
    start = f"{head}\n\n{imports}\n\n" if imports else f"{head}\n\n"
    return start + "\n\n\n".join([*blocks(chosen), TAIL])


# --- Code: the command


def source_parser() -> ArgumentParser:
    """What `python -m accountlib source` asks for."""
    parser = ArgumentParser(
        add_help=False,
        description="write one file with some names and all that they need",
    )
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="write to a file", type=Path
    )
    parser.set_defaults(run=run_source)
    return parser


def run_source(options: Namespace) -> int:
    """Write the file that was asked for; the exit code is 2 for an error."""
    try:
        text = source_file(*options.names).encode()
        if options.output:
            options.output.write_bytes(text)
        else:
            sys.stdout.buffer.write(text)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0
