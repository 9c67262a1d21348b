"""What the built pages show of a notebook: a small extension of Sphinx."""

import ast
import re
from pathlib import Path
from typing import Any

from docutils import nodes

SETTING = re.compile(
    r"plt\.style\.use|set_matplotlib_formats|rng = |F = Fraction"
)
OPEN = 5  # lines of imports that are not folded
CODE = re.compile(r"<pre>.*?</pre>", re.S)
LABEL = re.compile(r"\(([a-z0-9]+(?:-[a-z0-9]+)+)\)")
TABLE = re.compile(r"<table.*?</table>", re.S)
LONG = re.compile(r'<span class="pre">([^<]{17,})</span>')
PARTS = re.compile(r"(?<=\w_)(?=\w)|(?<=\w)(?=\()|(?<=[a-z)])(?=\.[a-z])")


def setup(app: Any) -> None:
    # A change of this file changes a setting, and all pages are read anew.
    text = Path(__file__).read_text(encoding="utf-8")
    app.add_config_value("pages_text", text, "env")
    app.connect("doctree-read", fold_what_sets_up)
    app.connect("doctree-read", name_folded_cells)
    app.connect("doctree-read", keep_marks_of_slides)
    # Before tools/hover.py looks for links.
    app.connect("html-page-context", number_labels, priority=90)
    app.connect("html-page-context", break_long_names)


def fold_what_sets_up(app: Any, doctree: nodes.document) -> None:
    """Cells that only set up are folded: the idea comes first."""
    for cell, code in cells(doctree):
        short = len(code.splitlines()) <= OPEN and "import" in code
        if only_sets_up(code) and not short:
            cell.setdefault("hide_mode", "input")


def name_folded_cells(app: Any, doctree: nodes.document) -> None:
    """A folded cell says what it holds, and how long it is."""
    for cell, code in cells(doctree):
        if cell.get("hide_mode") in ("input", "input+output"):
            what = content(code, "tag_export" in cell["classes"])
            length = len(code.splitlines())
            cell["prompt_show"] = f"Show {what}, {length} lines"
            cell["prompt_hide"] = f"Hide {what}"


def cells(doctree: nodes.document) -> list[tuple[nodes.container, str]]:
    """The code cells of a page, each with its code."""
    return [
        (node, node.children[0].astext())
        for node in doctree.findall(nodes.container)
        if node.get("nb_element") == "cell_code" and node.children
    ]


def content(code: str, export: bool) -> str:
    """What a cell holds: its first definition, imports or settings."""
    if only_sets_up(code):
        if "import" not in code:
            return "settings"
        return "the module's imports" if export else "imports"
    name = re.search(r"^(?:class|def) \w+", code, re.M)
    return name[0] if name else "the code"


def only_sets_up(code: str) -> bool:
    """Whether a cell only imports, and sets figures and seeds."""
    try:
        body = ast.parse(code).body
    except SyntaxError:  # a magic
        return False
    return bool(body) and all(
        isinstance(node, ast.Import | ast.ImportFrom)
        or SETTING.match(ast.unparse(node))
        for node in body
    )


def keep_marks_of_slides(app: Any, doctree: nodes.document) -> None:
    """The comments that tools/slides.py reads; Sphinx drops all others."""
    for node in list(doctree.findall(nodes.comment)):
        if re.match(r"(slide|more)\b", node.astext()):
            mark = f"<!-- {node.astext()} -->\n"
            node.replace_self(nodes.raw("", mark, format="html"))


def number_labels(
    app: Any, pagename: str, template: str, context: Any, doctree: Any
) -> None:
    """In code, an equation's label becomes its number, and leads there."""
    equations = app.env.domains.math_domain

    def number(label: re.Match[str]) -> str:
        if label[1] not in equations.equations:
            return label[0]
        link = equations.resolve_xref(
            app.env, pagename, app.builder, "eq", label[1], None, None
        )
        target = link.get("refuri") or f"#{link['refid']}"
        return f'<a href="{target}">{link.astext()}</a>'

    if doctree:
        context["body"] = CODE.sub(
            lambda code: LABEL.sub(number, code[0]), context["body"]
        )


def break_long_names(
    app: Any, pagename: str, template: str, context: Any, doctree: Any
) -> None:
    """In a table a long name may go on in the next line, where its parts do.

    Else one call makes a table wider than the page.
    """

    def parts(name: re.Match[str]) -> str:
        text = PARTS.sub("<wbr>", name[1])
        return f'<span class="pre long">{text}</span>'

    if doctree:
        context["body"] = TABLE.sub(
            lambda table: LONG.sub(parts, table[0]), context["body"]
        )
