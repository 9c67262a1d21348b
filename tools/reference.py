"""The API reference: an extension of Sphinx.

    ```{api} epsilon delta       entries of public names, from docstrings

    ```{overview} epsilon delta  their first lines, as a table

A page `book/names.md` gets a list of all other names. An entry leads to the
section of the page that derives it and to its code; below the code of a public
name a link leads back.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from definitions import Definition, Member, definitions, everything, files
from docutils import nodes
from docutils.statemachine import StringList
from notebook import ROOT, dotted, parts
from pybtex.database import Entry, parse_file
from sphinx import addnodes
from sphinx.domains.python import (
    PyAttribute,
    PyClasslike,
    PyFunction,
    PyMethod,
    PyObject,
    PyProperty,
)
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.util.nodes import make_refnode

KINDS: dict[str, type[PyObject]] = {
    "attribute": PyAttribute,
    "class": PyClasslike,
    "exception": PyClasslike,
    "function": PyFunction,
    "method": PyMethod,
    "property": PyProperty,
}
FIELD = re.compile(
    r"^(Formula|Parameters|Fields|Returns|Raises|Error|Source): ", re.M
)
GIVEN = re.compile(r"^(?:class |def )?(\w+)\b(?=[(:= ])", re.M)
SAFE = re.compile(r"(`[^`]*`|\$[^$]*\$)")  # code and formulas
SIGNATURE = re.compile(r'<dt class="sig.*?</dt>', re.S)
LABEL = re.compile(r"\(([a-z0-9]+(?:-[a-z0-9]+)+)\)")
PAPER = re.compile(
    r"([A-Z][\w-]+)(?:(?:, [A-Z][\w-]+)* and ([A-Z][\w-]+)| et al\.)?"
    r" \(?(\d{4})\)?"
)


class later(nodes.General, nodes.Inline, nodes.Element):
    """What is known only when all pages are read: where a name comes from."""


class Api(SphinxDirective):
    """Entries of public names."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        for file in files():
            self.env.note_dependency(file)
        found = []
        self.env.ref_context["py:module"] = "accountlib"
        for name in self.arguments[0].split():
            found += self.entry(definitions()[name])
        self.env.ref_context.pop("py:module")
        return found

    def entry(self, definition: Definition) -> list[nodes.Node]:
        """The object of a name, with its docstring and its members."""
        home = f"accountlib.{definition.module}.{definition.name}"
        found = self.described(
            definition.kind, definition.call, canonical=home
        )
        content = found[-1][-1]
        content += self.text(definition.doc, bases=definition.bases)
        content.insert(1, later(name=definition.full_name, kind="derived"))
        for member in definition.members:
            self.env.ref_context["py:class"] = definition.name
            content += self.member(member)
        self.env.ref_context.pop("py:class", None)
        return found

    def member(self, member: Member) -> list[nodes.Node]:
        name, _, kind = member.signature.partition(": ")
        if member.kind == "property":
            found = self.described(member.kind, name, type=kind)
        elif member.kind == "attribute":
            return self.described(member.kind, name, value=member.doc)
        else:
            found = self.described(member.kind, member.signature)
        found[-1][-1] += self.text(member.doc)
        return found

    def described(self, kind: str, call: str, **options: str) -> Any:
        """An object of the Python domain without content."""
        if kind in ("attribute", "method", "property"):
            options["no-contents-entry"] = ""
        directive = KINDS[kind](
            f"py:{kind}",
            [call],
            options,
            StringList(),
            self.lineno,
            self.content_offset,
            self.block_text,
            self.state,
            self.state_machine,
        )
        return directive.run()

    def text(self, doc: str, bases: tuple[str, ...] = ()) -> list[nodes.Node]:
        """A docstring: words, labelled fields, an example."""
        doc, prompt, example = doc.partition(">>>")
        found: list[nodes.Node] = []
        fields = nodes.field_list()
        kinds = [x for x in bases if x in definitions()]
        if kinds:
            named = ", ".join(f"`{x}`" for x in kinds)
            fields += self.field("A kind of", named)
        for block in doc.strip().split("\n\n"):
            first, *rest = FIELD.split(block)
            if first.strip():
                found += self.parse(first)
            for label, body in zip(rest[::2], rest[1::2], strict=True):
                fields += self.field(label, body)
        if len(fields):
            found.append(fields)
        if prompt:
            code = nodes.literal_block(prompt + example, prompt + example)
            code["language"] = "pycon"
            found.append(code)
        return found

    def field(self, label: str, body: str) -> nodes.field:
        text = nodes.field_body("", *self.parse(body))
        return nodes.field("", nodes.field_name(text=label), text)

    def parse(self, text: str) -> list[nodes.Node]:
        return self.parse_text_to_nodes(markdown(text))


def markdown(text: str) -> str:
    """The text of a docstring, as a page would have it."""
    pieces = SAFE.split(" ".join(text.split()))
    for i, piece in enumerate(pieces):
        if i % 2 == 0:  # neither code nor formula
            piece = re.sub(r"([\[\]<>\\_]|\*\*)", r"\\\1", piece)
            piece = LABEL.sub(equation, piece)
            pieces[i] = PAPER.sub(paper, piece)
    return "".join(pieces)


def equation(found: re.Match[str]) -> str:
    """A label becomes the number of the equation, where there is one."""
    known = found[1] in equations()
    return f"{{eq}}`{found[1]}`" if known else found[0]


@cache
def equations() -> frozenset[str]:
    label = re.compile(r"^(?:\$\$ *\(|:label: )([\w-]+)", re.M)
    pages = (ROOT / "notebooks").rglob("*.md")
    texts = (page.read_text(encoding="utf-8") for page in pages)
    return frozenset(x for text in texts for x in label.findall(text))


def paper(found: re.Match[str]) -> str:
    """Names and a year become a link into the bibliography."""
    key = key_of(*found.groups())
    return f"{{work}}`{found[0]}<{key}>`" if key else found[0]


def key_of(first: str, second: str | None, year: str) -> str:
    """The work that is meant, if there is only one; keys begin like that."""
    start = plain(first).replace("-", "") + year
    keys = [key for key in works() if key.startswith(start)]
    if second and len(keys) > 1:
        keys = [x for x in keys if plain(second) in authors(works()[x])[1:]]
    return keys[0] if len(keys) == 1 else ""


def authors(entry: Entry) -> list[str]:
    return [plain(" ".join(x.last_names)) for x in entry.persons["author"]]


@cache
def works() -> dict[str, Entry]:
    entries = parse_file(str(ROOT / "book" / "references.bib")).entries
    return dict(entries)


def plain(text: str) -> str:
    """Small letters without accents."""
    apart = unicodedata.normalize("NFD", text)
    return "".join(x for x in apart if not unicodedata.combining(x)).lower()


class Work(SphinxRole):
    """A link to a work in the bibliography: text<key>."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        text, _, key = self.text.rstrip(">").partition("<")
        node = later("", nodes.Text(text), name=key, kind="work")
        return [node], []


class Overview(SphinxDirective):
    """First lines of public names."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        lines = ["| Name | What it is |", "|---|---|"]
        for name in self.arguments[0].split():
            first = markdown(definitions()[name].first_line)
            lines.append(f"| {{py:obj}}`~accountlib.{name}` | {first} |")
        return self.parse_text_to_nodes("\n".join(lines))


class Exported(SphinxRole):
    """A name in the list of all others: its place and its object."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        definition = next(x for x in everything() if x.full_name == self.text)
        code = nodes.literal(text=definition.name)
        anchor = definition.full_name
        target = nodes.inline("", "", code, ids=[anchor])
        if definitions()[definition.name] is definition:  # else ambiguous
            domain = self.env.domains.python_domain
            kind = definition.kind
            domain.note_object(anchor, kind, anchor, location=target)
        call = "()" if definition.kind == "function" else ""
        entry = f"{definition.name}{call} (in {definition.module})"
        index = addnodes.index(
            entries=[("single", entry, anchor, "", None)], inline=True
        )
        link = later("", target, name=definition.full_name, kind="code")
        return [index, link], []


def list_names(app: Any, docname: str, source: list[str]) -> None:
    """The text of the page of all other names, below its introduction."""
    if docname == "book/names":
        for file in files():
            app.env.note_dependency(file)
        source[0] += "\n".join(lines_of_names())


def lines_of_names() -> Iterator[str]:
    for part in parts():
        shown = [page for page in part.pages if other_names(page)]
        if shown:
            yield f"\n## {part.caption}\n"
        for page in shown:
            inside = page.relative_to(ROOT / "notebooks").with_suffix("")
            module = dotted(page)
            yield f"\n### {module}\n"
            yield (
                f"Module `accountlib.{module}`, from the page"
                f" {{doc}}`/notebooks/{inside.as_posix()}`.\n"
            )
            yield "| Name | What it is |\n|---|---|"
            for name in other_names(page):
                first = markdown(name.first_line).replace("|", r"\|")
                yield f"| {{exported}}`{name.full_name}` | {first} |"


def other_names(page: Path) -> list[Definition]:
    """What a page exports, but not to the top of the package."""
    module = dotted(page)
    return [x for x in everything() if x.module == module and not x.public]


def find_places(app: Any, doctree: nodes.document) -> None:
    """Where the code of a name is: it gets an anchor, and is noted."""
    docname = app.env.current_document.docname
    known = app.env.lookup_places = getattr(app.env, "lookup_places", {})
    here = {x.name: x for x in everything() if x.page == docname}
    for cell in list(doctree.findall(nodes.container)):
        if "tag_export" not in cell["classes"]:
            continue
        found = re.findall(
            r"^(?:class|def) (\w+)|^(\w+)\b.*?=", code(cell), re.M
        )
        for name in {a or b for a, b in found} & set(here):
            section = section_of(cell)
            title = section.next_node(nodes.title)
            words = title.astext() if title else ""
            full = here[name].full_name
            known[full] = docname, section["ids"][0], words
            if f"code-{name}" not in doctree.ids:
                cell["ids"].append(f"code-{name}")
            if here[name].public:
                add_way_back(cell, name)


def code(cell: nodes.container) -> str:
    return cell.children[0].astext() if cell.children else ""


def section_of(node: nodes.Node) -> nodes.section:
    while not isinstance(node, nodes.section):
        node = node.parent
    return node


def add_way_back(cell: nodes.container, name: str) -> None:
    """A line below the code that leads to the entry."""
    link = later("", nodes.literal(text=name), name=name, kind="entry")
    words = nodes.Text(" in the reference")
    line = nodes.paragraph("", "", link, words, classes=["way-back"])
    cell.parent.insert(cell.parent.index(cell) + 1, line)


def forget_places(app: Any, env: Any, docname: str) -> None:
    places = getattr(env, "lookup_places", {})
    for name in [x for x in places if places[x][0] == docname]:
        del places[name]


def written_again(app: Any, env: Any) -> list[str]:
    """The lists speak of other pages: they follow where those change."""
    places = getattr(env, "lookup_places", {})
    titles = {name: title.astext() for name, title in env.titles.items()}
    lists = ("book/api", "book/names")
    return stale(env, lists, repr((places, titles)))


def stale(env: Any, lists: tuple[str, ...], state: str) -> list[str]:
    """The pages that were written when what they show was another."""
    known = vars(env).setdefault("lookup_states", {})
    old, known[lists] = known.get(lists), state
    return [x for x in lists if x in env.found_docs and state != old]


def resolve(app: Any, doctree: nodes.document, docname: str) -> None:
    """Links that had to wait until all pages were read."""
    for node in list(doctree.findall(later)):
        name = node["name"]
        if node["kind"] == "work":
            node.replace_self(work_link(app, docname, name, node.children))
        elif node["kind"] == "entry":
            node.replace_self(entry(app, docname, name, node.children))
        elif node["kind"] == "code":
            anchor = f"code-{name.rpartition('.')[2]}"
            node.replace_self(place(app, docname, name, anchor, node.children))
        else:
            node.replace_self(derivation(app, docname, name))


def work_link(
    app: Any, docname: str, key: str, words: list[nodes.Node]
) -> list[nodes.Node]:
    for citation in app.env.get_domain("cite").citations:
        if citation.key == key:
            home = citation.bibliography_key.docname
            target = citation.citation_id
            text = nodes.inline("", "", *words)
            return [make_refnode(app.builder, docname, home, target, text)]
    return words


def entry(
    app: Any, docname: str, name: str, words: list[nodes.Node]
) -> list[nodes.Node]:
    """A link to the entry of a name, where there is a reference."""
    definition = definitions()[name]
    home, anchor = definition.reference, definition.full_name
    if home not in app.env.all_docs:
        return words
    text = nodes.inline("", "", *words)
    link = make_refnode(app.builder, docname, home, anchor, text)
    link["classes"].append("name")
    return [link]


def place(
    app: Any, docname: str, name: str, anchor: str, words: list[nodes.Node]
) -> list[nodes.Node]:
    """A link to a place on the page of a name."""
    if name not in app.env.lookup_places:
        return words
    home = app.env.lookup_places[name][0]
    text = nodes.inline("", "", *words)
    return [make_refnode(app.builder, docname, home, anchor, text)]


def derivation(app: Any, docname: str, name: str) -> list[nodes.Node]:
    """The line that says where a name is derived."""
    if name not in app.env.lookup_places:
        return []
    anchor = f"code-{name.rpartition('.')[2]}"
    home, section, words = app.env.lookup_places[name]
    page = app.env.titles[home].astext()
    where = f"{page}: {words}" if words != page else page
    line = nodes.paragraph(classes=["derived"])
    line += nodes.Text("Derived in ")
    line += place(app, docname, name, section, [nodes.Text(where)])
    line += nodes.Text("; ")
    line += place(app, docname, name, anchor, [nodes.Text("its code")])
    return [line]


def bare_names(
    app: Any, env: Any, node: addnodes.pending_xref, words: nodes.Element
) -> nodes.Element | None:
    """A type in a signature, such as `Floats`, is a name of the package."""
    found = definitions().get(node.get("reftarget", ""))
    if node.get("refdomain") != "py" or not found:
        return None
    return entry(app, node["refdoc"], found.name, [words])[0]


def plain_boxes(
    app: Any, pagename: str, template: str, context: Any, doctree: Any
) -> None:
    """Arguments below one another are no list of definitions: readers who
    listen would miss the terms. Sphinx has no other way to lay them out."""
    if pagename == "book/api":
        context["body"] = SIGNATURE.sub(
            lambda found: re.sub(r"(</?)d[dl]\b", r"\1div", found[0]),
            context["body"],
        )


def setup(app: Any) -> None:
    texts = [Path(__file__), Path(__file__).with_name("definitions.py")]
    text = "".join(x.read_text(encoding="utf-8") for x in texts)
    app.add_config_value("reference_text", text, "env")
    app.add_config_value("reference_names", sorted(definitions()), "env")
    app.add_css_file("lookup.css")
    app.add_node(later)
    app.add_directive("api", Api)
    app.add_directive("overview", Overview)
    app.add_role("exported", Exported())
    app.add_role("work", Work())
    app.connect("source-read", list_names)
    app.connect("doctree-read", find_places)
    app.connect("env-purge-doc", forget_places)
    app.connect("env-updated", written_again)
    app.connect("doctree-resolved", resolve)
    app.connect("missing-reference", bare_names)
    app.connect("html-page-context", plain_boxes)
