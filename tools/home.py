"""Pages to take home: notebooks that run outside a clone.

An extension of Sphinx. For each page that is written it makes, in
build/html/home,

    PART/idea.ipynb        the page with what its cells print
    PART/idea-to-run.ipynb the same without
    PART/idea.md           the same as Markdown

and puts them under the page's download button. They need accountlib and what
the first cell names, and nothing of this repository: text is that of the built
page (tools/markdown.py), the style of figures and the data are inside, and
`glue` does nothing. Pages that show the book's own sources have no code there.
"""

import ast
import re
import sys
import tomllib
import zlib
from base64 import b85encode
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import yaml
from bs4 import Tag
from execute import copy_of
from markdown import article_of, blocks, inline, plain, text_of
from markupsafe import Markup
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from notebook import ROOT
from pybtex.backends.plaintext import Backend

FOLDER = "home"  # of the built book
DATA = "counting-privacy-data"  # of the reader, beside the notebook
STYLE = ROOT / "book" / "figures.mplstyle"
STYLE_USE = re.compile(r'\("[./a-z]*figures\.mplstyle"\)')
DATA_USE = re.compile(r'"(?:\.\./){1,2}(benchmarks|data)\b')
OUTSIDE = re.compile(r'"\.\.?/')  # what only a clone has
DATA_FILE = re.compile(r'"([\w.-]+\.(?:json|csv))"|/([\w.-]+\.(?:json|csv))"')
GLUE = re.compile(r"^from myst_nb import glue\n?", re.M)
NO_GLUE = '''\
def glue(name, value, display=True):
    """In the book this puts a value into the text; here it does nothing."""'''
# Come with Python, accountlib or the notebook itself.
AT_HAND = {*sys.stdlib_module_names} | {
    *("accountlib", "numpy", "scipy"),
    *("IPython", "matplotlib_inline", "myst_nb"),
}
PARENS = re.compile(r"\([^()]*\)|\s")


def notebook_of(
    article: Tag, codes: list[NotebookNode], ends: list[str]
) -> NotebookNode:
    """A built page and what its cells gave, as a notebook to take home.

    `ends` are its first and last words.
    """
    codes = list(codes)
    cells = [new_markdown_cell(ends[0])]
    run: list[str] = []
    shown = reads_sources(codes)
    for part in blocks(article):
        if isinstance(part, Tag) and shown:
            run += still(part)
            continue
        if run and (isinstance(part, Tag) or re.match("#+ ", part)):
            cells.append(new_markdown_cell("\n\n".join(run)))
            run = []
        if isinstance(part, Tag):
            cells += cells_of(part, codes)
            run = captions(part)
        else:
            run.append(part)
    cells += [new_markdown_cell("\n\n".join(x)) for x in (run, ends[1:]) if x]
    if codes and not shown:
        raise ValueError(f"the page has no cell {codes[0].source[:60]!r}")
    return finished(cells)


def reads_sources(codes: list[NotebookNode]) -> bool:
    """Whether a page shows the repository itself, as the first one does."""
    return any(OUTSIDE.search(at_home(cell.source)) for cell in codes)


def still(cell: Tag) -> list[str]:
    """What a page shows of a cell that cannot run at home."""
    for folded in cell.select("details"):
        folded.decompose()
    return [text_of(part) for part in blocks(cell)]


def cells_of(shown: Tag, codes: list[NotebookNode]) -> Iterator[NotebookNode]:
    """The next cell of code, and before it those that no page shows."""
    while codes:
        cell = codes.pop(0)
        tags = cell.metadata.get("tags", [])
        known = [tag for tag in tags if tag in ("export", "public")]
        if "remove-cell" in tags:
            yield code_cell(cell.source, [], hidden=True, tags=known)
            continue
        words = shown.select_one(".cell_input pre")
        code = words.get_text().strip("\n") if words else cell.source
        if PARENS.sub("", code) != PARENS.sub("", cell.source):
            raise ValueError(f"another cell stands there: {code[:60]!r}")
        hidden = not words or bool(words.find_parent("details"))
        hidden |= bool(words and words.find_parent(class_="solution"))
        outputs = with_alternatives(cell.outputs, shown)
        yield code_cell(
            at_home(code),
            outputs,
            hidden=hidden,
            tags=known,
            count=cell.execution_count,
        )
        return
    raise ValueError("the page has more cells than were run")


def code_cell(
    source: str,
    outputs: list[NotebookNode],
    *,
    hidden: bool,
    tags: list[str],
    count: int | None = None,
) -> NotebookNode:
    """A cell; Jupyter folds the code of a hidden one."""
    metadata: dict[str, Any] = {"tags": tags} if tags else {}
    if hidden:
        metadata["jupyter"] = {"source_hidden": True}
    return new_code_cell(
        source, outputs=outputs, metadata=metadata, execution_count=count
    )


def with_alternatives(
    outputs: list[NotebookNode], shown: Tag
) -> list[NotebookNode]:
    """Outputs whose figures have the text that describes them."""
    figures = shown.select("figure img, figure svg[aria-label]")
    words = [str(x.get("alt") or x.get("aria-label")) for x in figures]
    for output in outputs:
        for kind in output.get("data", {}):
            if kind.startswith("image/") and words:
                output.metadata[kind] = {"alt": words[0]}
                words = words[1:]
    return outputs


def captions(cell: Tag) -> list[str]:
    return [f"*{inline(words)}*" for words in cell.select("figcaption")]


def at_home(code: str) -> str:
    """Code that needs no file of the repository."""
    code = STYLE_USE.sub("(STYLE)", GLUE.sub("", code))
    return DATA_USE.sub(f'"{DATA}', code).strip("\n")


def finished(cells: list[NotebookNode]) -> NotebookNode:
    """The notebook, with a cell for what the page takes from the book."""
    codes = [cell.source for cell in cells if cell.cell_type == "code"]
    start = set_up("\n".join(codes))
    if start:
        cells.insert(1, code_cell(start, [], hidden=True, tags=[]))
    needs = " ".join([f"accountlib=={version()}", *others(codes)])
    cells[0].source = cells[0].source.replace("NEEDS", needs)
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    kernel = {"name": "python3", "language": "python"}
    kernel["display_name"] = "Python 3"
    return new_notebook(
        cells=cells,
        metadata={"kernelspec": kernel, "language_info": {"name": "python"}},
    )


def set_up(code: str) -> str:
    """What the cells of a page take from the book, as far as they do."""
    found = []
    if re.search(r"\bglue\(", code):
        found.append(NO_GLUE)
    if "(STYLE)" in code:
        found.append(f"STYLE = {{\n{style()}\n}}")
    files = data_files(code) if f'"{DATA}' in code else []
    if files:
        found.append(unpacking(files))
    if found:
        found[0] = f"# What this page takes from the book.\n{found[0]}"
    return "\n\n\n".join(found)


@cache
def style() -> str:
    """The style of the figures, as entries of a dictionary."""
    lines = STYLE.read_text("utf-8").splitlines()
    pairs = [x.split(": ", 1) for x in lines if x and not x.startswith("#")]
    return "\n".join(f"    {key!r}: {value!r}," for key, value in pairs)


def data_files(code: str) -> list[Path]:
    """The files of benchmarks/ and notebooks/data/ that some code names."""
    names = {a or b for a, b in DATA_FILE.findall(code)}
    folders = (ROOT / "benchmarks", ROOT / "notebooks" / "data")
    found = [folder / x for folder in folders for x in sorted(names)]
    return [file for file in found if file.exists()]


def unpacking(files: list[Path]) -> str:
    """Code that writes files beside the notebook."""
    lines = [
        "import base64",
        "import pathlib",
        "import zlib",
        "",
        "PACKED = {  # the data that this page reads",
    ]
    for file in files:
        packed = b85encode(zlib.compress(file.read_bytes(), 9)).decode()
        lines.append(f'    "{file.name}": "{packed}",')
    return "\n".join(
        [
            *lines,
            "}",
            f'pathlib.Path("{DATA}").mkdir(exist_ok=True)',
            "for name, packed in PACKED.items():",
            "    unpacked = zlib.decompress(base64.b85decode(packed))",
            f'    pathlib.Path("{DATA}", name).write_bytes(unpacked)',
        ]
    )


def others(codes: list[str]) -> list[str]:
    """What some code imports that does not come with accountlib."""
    names: set[str] = set()
    for node in (x for code in codes for x in ast.walk(ast.parse(code))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return sorted({name.split(".")[0] for name in names} - AT_HAND)


def without_outputs(book: NotebookNode) -> NotebookNode:
    """The same notebook, for readers who run it."""
    bare = nbformat.from_dict(book)
    for cell in bare.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return bare


@cache
def version() -> str:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return str(tomllib.loads(text)["project"]["version"])


@cache
def settings() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(
        (ROOT / "_config.yml").read_text("utf-8")
    )
    return found


def about(runs: bool) -> str:
    """The first words of a page: where it is from, what it needs."""
    book = settings()
    said = [
        f"*A page of the book* **{book['title']}**, "
        f"accountlib {version()}, © {book['copyright']} {book['author']}. "
        "Text: CC BY 4.0. Code: Apache-2.0."
    ]
    address = (book.get("repository") or {}).get("url")
    if address:
        said[0] += f" Source: [{address}]({address})."
    if runs:
        said.append(
            "It runs wherever these are installed. In a notebook:\n\n"
            "```\n%pip install NEEDS\n```"
        )
    said.append(
        "What leads to another page in the book stands here as its name; "
        "theorems, formulas and figures keep their numbers."
    )
    return "\n\n".join(said)


def files_of(
    html: str, codes: list[NotebookNode], works: dict[str, str]
) -> dict[str, str]:
    """The ends of the names of a page's files, and what is in them.

    `codes` are its cells of code as they ran, `works` the bibliography.
    """
    article = article_of(plain(html))
    runs = bool(codes) and not reads_sources(codes)
    book = notebook_of(article, codes, [about(runs), *cited(article, works)])
    if not runs:
        return {".md": "\n\n".join(cell.source for cell in book.cells) + "\n"}
    bare = without_outputs(book)
    return {
        ".ipynb": nbformat.writes(book) + "\n",
        "-to-run.ipynb": nbformat.writes(bare) + "\n",
        ".md": jupytext.writes(bare, fmt="md"),
    }


def cited(article: Tag, works: dict[str, str]) -> list[str]:
    """The works that a page names: it has no bibliography at home."""
    links = article.select('a[href*="bibliography.html#"]')
    marks = {str(link["href"]).rpartition("#")[2] for link in links}
    found = sorted(works[mark] for mark in marks & works.keys())
    lines = "\n".join(f"* {work}" for work in found)
    return [f"## Works cited\n\n{lines}"] if found else []


def setup(app: Any) -> dict[str, bool]:
    # A change of these files changes a setting: all pages are written anew.
    makers = (Path(__file__), Path(__file__).with_name("markdown.py"), STYLE)
    text = "".join(file.read_text("utf-8") for file in makers)
    app.add_config_value("home_text", text, "html")
    app.connect("html-page-context", take_home, priority=900)
    app.connect("build-finished", write_needs)
    return {"parallel_write_safe": True}


def take_home(
    app: Any, pagename: str, template: str, context: Any, doctree: Any
) -> None:
    """Write the files of a page, and show where they are."""
    if not doctree or app.builder.name != "html":
        return
    place = place_of(pagename)
    codes = codes_of(Path(app.env.doc2path(pagename)))
    files = files_of(context["body"], codes, works_of(app))
    for end, text in files.items():
        target = Path(app.outdir, FOLDER, place + end)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    start = context["pathto"](f"{FOLDER}/{place}", 1)
    buttons = context["header_buttons"]
    for group in buttons:
        if group.get("label") == "download-buttons":
            kept = [x for x in group["buttons"] if x["type"] != "link"]
            group["buttons"] = download_buttons(start, files) + kept
    links = launch_links(settings(), place) if ".ipynb" in files else {}
    if links:
        buttons.append(launch_buttons(links))


def codes_of(page: Path) -> list[NotebookNode]:
    """The cells of a page with their outputs.

    While a page is edited (`make live`), the copy that was run may be older:
    then without outputs.
    """
    text = jupytext.read(page, fmt="md:myst")
    ours = [x for x in text.cells if x.cell_type == "code" and x.source]
    if not ours:
        return []
    copy = copy_of(page)
    done = nbformat.read(copy, 4).cells if copy.exists() else []
    run = [x for x in done if x.cell_type == "code" and x.source]
    same = [x.source for x in run] == [x.source for x in ours]
    return run if same else ours


def works_of(app: Any) -> dict[str, str]:
    """The entries of the bibliography by their place on its page."""
    known = app.env.get_domain("cite").citations
    plain_text = Backend()  # `render_as` would look for it each time, slowly
    return {
        x.citation_id: x.formatted_entry.text.render(plain_text) for x in known
    }


def place_of(pagename: str) -> str:
    """Where in the folder the files of a page are."""
    return pagename.removeprefix("notebooks/")


def download_buttons(start: str, ends: Iterable[str]) -> list[dict[str, str]]:
    """The entries of the theme's menu."""
    said = {
        ".ipynb": (".ipynb", "Notebook, with what its cells print"),
        "-to-run.ipynb": (".ipynb, not run", "Notebook, to run it yourself"),
        ".md": (".md", "Plain text, which Jupyter opens too"),
    }
    return [
        {
            "type": "link",
            "url": saved(start + end),
            "text": said[end][0],
            "tooltip": said[end][1],
            "icon": "fas fa-file",
            "label": "download-source-button",
        }
        for end in ends
    ]


def saved(address: str) -> str:
    """An address that is saved, not shown: the theme has no word for that,
    so a second attribute stands behind the first one's end."""
    name = address.rpartition("/")[2]
    return Markup(f'{address}" download="{name}')


def launch_links(settings: dict[str, Any], place: str) -> dict[str, str]:
    """Where hosted services open a page; none without a public home.

    They read a branch of the repository that holds the folder of these files.
    """
    launch = settings.get("launch_buttons") or {}
    source = (settings.get("repository") or {}).get("url") or ""
    found = re.fullmatch(r"https://github\.com/([^/]+/[^/]+?)/?", source)
    branch, file = launch.get("branch", "notebooks"), f"{place}-to-run.ipynb"
    ways = {
        "Binder": ("binderhub_url", "/v2/gh/{}/{}?urlpath=lab/tree/{}"),
        "Colab": ("colab_url", "/github/{}/blob/{}/{}"),
        "JupyterLite": ("jupyterlite_url", "/lab/index.html?path={2}"),
    }
    return {
        name: launch[key].rstrip("/") + way.format(found[1], branch, file)
        for name, (key, way) in ways.items()
        if found and launch.get(key)
    }


def launch_buttons(links: dict[str, str]) -> dict[str, Any]:
    return {
        "type": "group",
        "tooltip": "Open in a notebook service",
        "icon": "fas fa-rocket",
        "label": "launch-buttons",
        "buttons": [
            {"type": "link", "url": url, "text": name, "tooltip": name}
            for name, url in links.items()
        ],
    }


def write_needs(app: Any, error: Exception | None) -> None:
    """What all pages need, for services that install before they start."""
    folder = Path(app.outdir, FOLDER)
    if error or app.builder.name != "html" or not folder.exists():
        return
    needs: set[str] = set()
    for file in folder.rglob("*.md"):
        found = re.search(r"^%pip install (.*)", file.read_text("utf-8"), re.M)
        needs.update(found[1].split() if found else [])
    text = "".join(f"{name}\n" for name in sorted(needs))
    (folder / "requirements.txt").write_text(text, "utf-8")
