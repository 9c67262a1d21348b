"""Places that a reader looks for: an extension of Sphinx.

    ```{index-of} definition axiom     definitions by their titles
    ```{index-of} figure               figures, with their captions

Sections, theorems, exercises, figures and terms are noted while the pages are
read. Indexes show them, and `_static/places.js` has them, with all names of
the package, for the search (book/_static/search.js).
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from definitions import Definition, definitions
from docutils import nodes
from reference import authors, later, stale, works
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

# Sections that many pages have: the page is what a reader looks for.
COMMON = 3
# Pages about the book: they come after those that explain.
ABOUT = {"bibliography", "errata", "instructors", "names", "project"}
SENTENCE = re.compile(r"(?<!\bal)\.\s")
LETTERS = {
    "varepsilon": "ε",
    "epsilon": "ε",
    "delta": "δ",
    "alpha": "α",
    "gamma": "γ",
    "kappa": "κ",
    "lambda": "λ",
    "mu": "μ",
    "sigma": "σ",
    "infty": "∞",
    "ell": "ℓ",
    "ge": "≥",
    "le": "≤",
}


@dataclass(frozen=True)
class Mark:
    """A place: what it is, where, and how it is called."""

    kind: str
    docname: str
    anchor: str
    title: str
    words: tuple[nodes.Node, ...] = ()  # of the title, with its formulas
    about: str = ""


@dataclass(frozen=True)
class Place:
    """A result of a search."""

    title: str
    kind: str
    docname: str
    anchor: str
    about: str
    weight: int


class Pending(nodes.General, nodes.Element):
    """An index, until all pages are read."""


class IndexOf(SphinxDirective):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        return [Pending(kinds=self.arguments[0].split())]


class FillIndexes(SphinxPostTransform):
    """Indexes, before the references in their captions are resolved."""

    default_priority = 5

    def run(self, **_: Any) -> None:
        for node in list(self.document.findall(Pending)):
            found = [
                mark
                for marks in vars(self.env)["lookup_marks"].values()
                for mark in marks
                if mark.kind in node["kinds"] and mark.title
            ]
            in_book = "figure" in node["kinds"] or "exercise" in node["kinds"]
            found.sort(key=self.place if in_book else by_title)
            node.replace_self(self.table(found))

    def place(self, mark: Mark) -> tuple[int, ...]:
        number = number_of(self.env, mark)
        return tuple(map(int, number.split("."))) if number else (10**6,)

    def table(self, marks: list[Mark]) -> nodes.table:
        body = nodes.tbody()
        for mark in marks:
            words = [x.deepcopy() for x in mark.words]
            for ref in (x for w in words for x in w.findall()):
                if isinstance(ref, addnodes.pending_xref):
                    ref["refdoc"] = self.env.current_document.docname
            name = nodes.Text(name_of(self.env, mark))
            page = self.env.titles[mark.docname].astext()
            cells = [words, [self.link(mark, name)], [nodes.Text(page)]]
            row = nodes.row()
            for cell in cells:
                row += nodes.entry("", nodes.paragraph("", "", *cell))
            body += row
        columns = [nodes.colspec(colwidth=x) for x in (55, 20, 25)]
        group = nodes.tgroup("", *columns, head("Title", "Where", "Page"))
        group += body
        group["cols"] = 3
        return nodes.table("", group, classes=["lookup"])

    def link(self, mark: Mark, words: nodes.Node) -> nodes.Node:
        here = self.env.current_document.docname
        builder = self.app.builder
        text = nodes.inline("", "", words)
        return make_refnode(builder, here, mark.docname, mark.anchor, text)


def head(*titles: str) -> nodes.thead:
    cells = [nodes.entry("", nodes.paragraph(text=x)) for x in titles]
    return nodes.thead("", nodes.row("", *cells))


def by_title(mark: Mark) -> str:
    return re.sub(r"^(a|an|the) ", "", mark.title.lower())


def name_of(env: Any, mark: Mark) -> str:
    """Theorem 4.2."""
    number = number_of(env, mark)
    return f"{mark.kind.title()}\u00a0{number}".strip()


def number_of(env: Any, mark: Mark) -> str:
    numbers = env.toc_fignumbers.get(mark.docname, {}).get(mark.kind, {})
    return ".".join(map(str, numbers.get(mark.anchor, ())))


def note_marks(app: Any, doctree: nodes.document) -> None:
    docname = app.env.current_document.docname
    marks = app.env.lookup_marks = getattr(app.env, "lookup_marks", {})
    marks[docname] = list(marks_of(docname, doctree))


def marks_of(docname: str, doctree: nodes.document) -> Iterator[Mark]:
    for node in doctree.findall(nodes.Element):
        if not node.get("ids"):
            continue
        anchor = node["ids"][0]
        if isinstance(node, nodes.figure):
            caption = node.next_node(nodes.caption)
            if caption is not None:
                title, words = shown(caption.children)
                yield Mark("figure", docname, anchor, title, words)
        elif isinstance(node, nodes.term):
            about = node.parent.next_node(nodes.definition)
            first = SENTENCE.split(plain_text(about))[0] if about else ""
            title = plain_text(node)
            yield Mark("term", docname, anchor, title, about=first)
        elif kind := kind_of(node):
            title, words = shown(title_of(node))
            yield Mark(kind, docname, anchor, title, words)


def kind_of(node: nodes.Element) -> str:
    """Page, section, theorem, exercise; or nothing."""
    if isinstance(node, nodes.section):
        if isinstance(node.parent, nodes.document):
            return "page"
        return "section" if isinstance(node.parent, nodes.section) else ""
    if node.get("type") == "exercise":
        return "exercise"
    return node.get("realtype", "")


def title_of(node: nodes.Element) -> list[nodes.Node]:
    """The words of a title: those of an exercise, those in parentheses."""
    title = node.next_node(nodes.title)
    if title is None:
        return []
    if node.get("type") == "exercise":
        subtitle = title.next_node(nodes.subtitle)
        return list(subtitle.children) if subtitle else []
    return list(title.children)


def shown(words: list[nodes.Node]) -> tuple[str, tuple[nodes.Node, ...]]:
    """A title as plain text, and as nodes that may stand elsewhere."""
    found = []
    for word in words:
        copy = moved(word)
        for node in copy.findall():
            node.document = None  # or the page would be kept with it
        found.append(copy)
    text = "".join(map(plain_text, found))
    inside = re.fullmatch(r" \((.*)\)", text, re.S)
    if inside and len(found) and isinstance(found[0], nodes.Text):
        found[0] = nodes.Text(found[0].astext().removeprefix(" ("))
        last = found[-1].astext()
        found[-1] = nodes.Text(last.removesuffix(")"))
    return inside[1] if inside else text.strip(), tuple(found)


def moved(word: nodes.Node) -> nodes.Node:
    """A copy for another page: a citation is known by its key."""
    copy = word.deepcopy()
    if isinstance(copy, addnodes.pending_xref):
        copy["ids"] = []
        if is_work(copy):
            key = copy["reftarget"]
            text = nodes.Text(citation(key))
            return later("", text, name=key, kind="work")
    return copy


def is_work(node: addnodes.pending_xref) -> bool:
    """Whether this cites one work, of which the bibliography has the rest."""
    return node["refdomain"] == "cite" and node["reftarget"] in works()


def citation(key: str) -> str:
    """Balle and Wang (2018)."""
    entry = works()[key]
    names = [" ".join(x.last_names) for x in entry.persons["author"]]
    several = f"{names[0]} et al." if len(authors(entry)) > 2 else ""
    return f"{several or ' and '.join(names)} ({entry.fields['year']})"


def plain_text(node: nodes.Node) -> str:
    """Text without markup; of formulas only simple ones can be read."""
    if isinstance(node, nodes.math):
        named = re.sub(
            r"\\([a-z]+) *",
            lambda x: LETTERS.get(x[1], x[0]),
            node.astext(),
        )
        return re.sub(r"[\\{}]", "", named)
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, addnodes.pending_xref) and is_work(node):
        return citation(node["reftarget"])
    if isinstance(node, addnodes.pending_xref) and is_page(node):
        return f"[[{node['reftarget']}]]"  # its title is not yet known
    return "".join(map(plain_text, node.children))


def is_page(node: addnodes.pending_xref) -> bool:
    """Whether this has the title of what it leads to for its text."""
    return node["reftype"] == "ref" and not node.get("refexplicit")


def forget_marks(app: Any, env: Any, docname: str) -> None:
    getattr(env, "lookup_marks", {}).pop(docname, None)


def written_again(app: Any, env: Any) -> list[str]:
    """The indexes speak of other pages: they follow where those change."""
    marks = [
        (mark.kind, mark.anchor, mark.title, name_of(env, mark))
        for found in vars(env)["lookup_marks"].values()
        for mark in found
    ]
    return stale(env, ("book/theorems", "book/figures"), repr(marks))


def write_places(app: Any, error: Exception | None) -> None:
    """The file that the search reads."""
    if error or app.builder.format != "html":
        return
    rows = [
        [
            place.title,
            place.kind,
            app.builder.get_relative_uri("search", place.docname)
            + (f"#{place.anchor}" if place.anchor else ""),
            place.about,
            place.weight,
        ]
        for place in places(app.env)
    ]
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    target = Path(app.outdir) / "_static" / "places.js"
    target.write_text(f"const PLACES = {text};\n", encoding="utf-8")


def places(env: Any) -> Iterator[Place]:
    marks = [x for found in env.lookup_marks.values() for x in found]
    titles = [mark.title for mark in marks if mark.kind == "section"]
    common = {x for x in titles if titles.count(x) >= COMMON}
    for mark in marks:
        if mark.title and mark.title not in common:
            yield place_of(env, mark)
    for definition in definitions().values():
        yield from places_of_name(definition)


WEIGHTS = {"page": 12, "term": 9, "definition": 8, "algorithm": 6}
WEIGHTS |= {"section": 4, "figure": -20, "exercise": -8}


def place_of(env: Any, mark: Mark) -> Place:
    page = env.titles[mark.docname].astext()
    weight = WEIGHTS.get(mark.kind, 5)
    if mark.docname.rsplit("/")[-1] in ABOUT:
        weight -= 60
    anchor = "" if mark.kind == "page" else mark.anchor
    kind = mark.kind
    if kind not in ("page", "section", "term"):
        kind = name_of(env, mark)
    about = mark.about or ("" if mark.kind == "page" else page)
    about = re.sub(r"\[\[(.*?)\]\]", lambda x: title_at(env, x[1]), about)
    return Place(mark.title, kind, mark.docname, anchor, about, weight)


def title_at(env: Any, label: str) -> str:
    """The title that a label stands for."""
    labels = env.domains.standard_domain.labels
    return labels[label][2] if label in labels else label


def places_of_name(definition: Definition) -> Iterator[Place]:
    """The entry of a name, and those of its members."""
    home, anchor = definition.reference, definition.full_name
    about = plain_line(definition.first_line)
    weight = 10 if definition.public else 0
    name, kind = definition.name, definition.kind
    yield Place(name, kind, home, anchor, about, weight)
    for member in definition.members if definition.public else ():
        inner = re.split(r"\W", member.signature)[0]
        title = f"{name}.{inner}"
        about = plain_line(member.doc.partition("\n")[0])
        yield Place(title, member.kind, home, f"{anchor}.{inner}", about, 0)


def plain_line(text: str) -> str:
    return re.sub(r"[`$]", "", text)


def add_places(
    app: Any, pagename: str, template: str, context: Any, doctree: Any
) -> None:
    if pagename == "search":
        app.add_js_file("places.js", loading_method="defer")
        app.add_js_file("search.js", loading_method="defer")


def setup(app: Any) -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    app.add_config_value("places_text", text, "env")
    app.add_node(Pending)
    app.add_directive("index-of", IndexOf)
    app.add_post_transform(FillIndexes)
    app.connect("doctree-read", note_marks)
    app.connect("env-purge-doc", forget_marks)
    app.connect("env-updated", written_again)
    app.connect("html-page-context", add_places)
    app.connect("build-finished", write_places)
