"""Sphinx settings: _config.yml, and what Jupyter Book 1 would add to it."""

import hashlib
import json
import os
import re
import shutil
import sys
import textwrap
import tomllib
from base64 import b64decode
from html import escape
from importlib.metadata import packages_distributions
from pathlib import Path
from posixpath import join, normpath

import jupytext
import nbformat
import yaml
from docutils import nodes
from flit_core.wheel import make_wheel_in
from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]
os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # no dates inside figures

import warm  # noqa: E402  # from the folders put on the path

import accountlib  # noqa: E402

settings = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
project = html_title = settings["title"]
author = settings["author"]
package = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
release = package["project"]["version"]
licences = f"version {release}; text CC BY 4.0, code Apache-2.0"
copyright = f"{settings['copyright']}, {author}; {licences}"

extensions = [
    "myst_nb",
    "sphinx_external_toc",
    "sphinxcontrib.bibtex",
    "sphinx_copybutton",
    "sphinx-mathjax-offline",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    *settings["sphinx"]["extra_extensions"],
]
globals().update(settings["sphinx"]["config"])

external_toc_path = str(ROOT / "_toc.yml")
external_toc_exclude_missing = settings["only_build_toc_files"]
exclude_patterns = [".*", "build", "tests", "tools", "accountlib"]
bibtex_bibfiles = [str(ROOT / path) for path in settings["bibtex_bibfiles"]]
myst_enable_extensions = settings["parse"]["myst_enable_extensions"]
copybutton_prompt_text = r">>> |\.\.\. "  # what is copied can run
copybutton_prompt_is_regexp = True
mathjax3_config = {"options": {"enableMenu": False}}  # no tab stops

# --- Pages run once, until the package or what they read changes.

READ = "requirements.txt CITATION.cff _config.yml book/figures.mplstyle"
read = [ROOT / name for name in READ.split()]
for files in ("accountlib/**/*.py", "benchmarks/*.json", "notebooks/data/*"):
    read += sorted(ROOT.glob(files))
digest = hashlib.sha256(b"".join(path.read_bytes() for path in read))
cache = ROOT / "build" / "cache" / digest.hexdigest()[:12]
COPIES = ROOT / "build" / "executed"  # what tests hold a second run against
if not cache.exists():
    shutil.rmtree(cache.parent, ignore_errors=True)
nb_execution_mode = settings["execute"]["execute_notebooks"]
nb_execution_timeout = settings["execute"]["timeout"]
nb_execution_cache_path = str(cache)
nb_execution_show_tb = True
READER = {"name": "myst_nb_md", "type": "plugin"}
warm.install()


def execute(app):
    """Run pages that are not in the cache, one on each core."""
    store, pages = get_cache(cache), []
    for page in app.project.discover(app.config.exclude_patterns):
        path = Path(app.env.doc2path(page))
        if "{code-cell}" in path.read_text("utf-8"):
            store.add_nb_to_project(str(path), read_data=READER)
            pages.append(str(path))
    executor = load_executor("local-parallel", store)
    executor.run_and_cache(filter_uris=pages, timeout=nb_execution_timeout)
    # An error stops the build when Sphinx comes to the page.


# --- The reference: names at the top of the package, by page.

add_module_names = False
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"  # docstrings say more
autosummary_generate = False
default_role = "code"  # of docstrings
toc_object_entries = False
LABEL = re.compile(  # Returns: ...
    r"^([A-Z]\w+(?: \w+)?): ?(.*(?:\n(?![A-Z][\w ]+:).+)*)", re.M
)
MARKS = re.compile(
    r"(?P<code>^>>>.*?(?=\n\n|\Z)|`+[^`]*`+)|\$(?P<math>[^$]+)\$|[*_|]",
    re.M | re.S,
)


def list_names(app, docname, source):
    """What book/api.md shows: a section for each page with public names."""
    if docname != "book/api":
        return
    pages = {}
    for name in [*accountlib.__all__, *accountlib.BEYOND]:
        page = getattr(accountlib, name).__module__.split(".", 1)[1]
        pages.setdefault(page.replace(".", "/"), []).append(name)
    for page, names in pages.items():
        text = (ROOT / "notebooks" / f"{page}.md").read_text("utf-8")
        title = re.search("^# (.*)", text, re.M)[1]
        lines = [".. autosummary::", ""]
        lines += [f"   accountlib.{name}" for name in names]
        for name in names:
            is_class = isinstance(getattr(accountlib, name), type)
            kind = "autoclass" if is_class else "autofunction"
            lines += ["", f".. {kind}:: accountlib.{name}"]
        rst = "\n".join(lines)
        source[0] += f"\n## {title}\n\nDerived in {{doc}}`/notebooks/{page}`."
        source[0] += f"\n\n```{{eval-rst}}\n{rst}\n```\n"


def fields(app, what, name, obj, options, lines):
    """Docstrings have formulas in dollars and paragraphs with a label."""
    text = MARKS.sub(as_rst, "\n".join(lines))
    text = LABEL.sub(as_field, text)
    lines[:] = text.split("\n")


def as_field(label):
    body = label[2].replace("\n", "\n    ")
    return f"\n:{label[1]}: {body}"


def as_rst(mark):
    if mark["math"]:
        return f":math:`{' '.join(mark['math'].split())}`"
    return mark[0] if mark["code"] else "\\" + mark[0]


# --- What stands on a page

html_theme = "sphinx_book_theme"
home = settings["repository"]  # its buttons are there once it has an address
html_theme_options = {
    "use_repository_button": bool(home["url"]),
    "use_issues_button": bool(home["url"]),
    "use_edit_page_button": bool(home["url"]),
    "repository_url": home["url"],
    "repository_branch": home["branch"],
    "use_fullscreen_button": False,
    "navbar_persistent": [],  # one search box is enough
    "show_navbar_depth": 0,  # parts are folded, but the reader's own
    "show_toc_level": 2,
    "footer_content_items": ["copyright.html"],
}
html_baseurl = settings["html"]["baseurl"]
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_sourcelink_suffix = ""
html_domain_indices = False
html_static_path = ["_static"]
html_scaled_image_link = False
html_additional_pages = {"index": "moved.html", "404": "moved.html"}
html_css_files = ["book.css"]
html_js_files = [("folds.js", {"defer": "defer"})]
templates_path = ["_templates"]
SETUP = re.compile(r"(import|from|plt\.style|set_matplotlib|rng =|[ )#]|$)")
MADE = {nodes.image: "figure", nodes.table: "table", nodes.raw: "form"}


def fold(app, doctree):
    """Cells that only set up are one fold; a fold says what is inside."""
    for cell in list(doctree.findall(nodes.container)):
        if cell.get("nb_element") != "cell_code" or not cell.children:
            continue
        code = cell.children[0].astext()
        name = re.search(r"^(?:class|def) \w+", code, re.M)
        if all(SETUP.match(line) for line in code.splitlines()):
            before = cell.parent[cell.parent.index(cell) - 1]
            if before.get("prompt_hide") == "Setup" and len(cell) == 1:
                before[0] += cell[0].children
                cell.parent.remove(cell)
            cell.setdefault("hide_mode", "input")
            cell["prompt_show"], cell["prompt_hide"] = "Setup", "Setup"
        else:
            made = [kind for kind in MADE if any(cell.findall(kind))]
            what = f"the code of the {MADE[made[0]]}" if made else "the code"
            what = name[0] if name and not made else what
            cell["prompt_show"] = f"Show {what}"
    for image in doctree.findall(nodes.image):
        image["scale"] = 100  # Sphinx then writes its size: no text jumps


# --- The search: what people ask for stands in a table of the glossary.

html_show_search_summary = False  # it would load each page that is found


def asked(app, pagename, template, context, doctree):
    """The search page gets the table, for asked.js."""
    if pagename != "search":
        return
    glossary = app.env.get_and_resolve_doctree(
        "book/glossary", app.builder, tags=app.tags
    )
    table = []
    for row in glossary.findall(nodes.row):
        for link in row[1].findall(nodes.reference):
            uri = link.get("refuri") or f"glossary.html#{link['refid']}"
            page, anchor = normpath(f"book/{uri}").split("#")
            entries = row[0].astext().split(",")
            page = page.removesuffix(".html")
            table.append([page, link.astext(), f"#{anchor}", entries])
    data = json.dumps(table).replace("<", r"\u003c")
    app.add_js_file(None, body=f"const ASKED = {data};")
    app.add_js_file("asked.js", defer="defer")


# --- What others see of the book, and what it serves.

WHEEL = f"accountlib-{release}-py3-none-any.whl"
myst_substitutions = {
    "wheel": f'<a class="download" href="../{WHEEL}">{WHEEL}</a>',
    "pip": f"`pip install ./{WHEEL}`",
}
SIGNS = dict(zip("varepsilon delta mu gamma le".split(), "εδμγ≤", strict=True))
SIGNS |= {"times": "×", "cdot": "·"}
SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"
ICON = re.compile(
    r'"?[\w-]+"?:\[\d+,\d+,\[[^\]]*\],"\w+",(?:"[^"]*"|\[[^\]]*\])\],?'
)


def plain(node):
    """The words of a paragraph, formulas without TeX."""
    if not isinstance(node, nodes.math):
        words = "".join(map(plain, node.children))
        return node.astext() if isinstance(node, nodes.Text) else words
    text = re.sub(r"\\tfrac(\d)", r"\1/", node.astext())
    text = re.sub(r"\\([a-z]+)", lambda x: SIGNS.get(x[1], x[1]), text)
    return re.sub("[{}]", "", text)


def describe(app, pagename, template, context, doctree):
    """For search engines and previews of links."""
    if not doctree:
        return
    words = " ".join(plain(next(doctree.findall(nodes.paragraph))).split())
    whole = re.match(r".{50,199}[.?!](?= |$)", words)
    words = whole[0] if whole else textwrap.shorten(words, 200)
    if pagename == app.config.root_doc:
        context["title"] = "Differential-privacy accounting for DP-SGD"
    tags = {
        'name="description"': words,
        'property="og:title"': re.sub("<[^>]*>", "", context["title"]),
        'property="og:description"': words,
    }
    if html_baseurl:
        tags['name="twitter:card"'] = "summary_large_image"
        tags['property="og:image"'] = join(html_baseurl, "_static/card.png")
    for name, text in tags.items():
        context["metatags"] += f'<meta {name} content="{escape(text)}" />\n'


def serve(app, error):
    """The wheel, the picture of the book, its pages, and no unused icon."""
    if error:
        return
    out = Path(app.outdir)
    make_wheel_in(ROOT / "pyproject.toml", out)
    first = (COPIES / f"{app.config.root_doc}.ipynb").read_text("utf-8")
    card = re.search(r'"image/png": "([^"\\]*)', first)[1]
    (out / "_static" / "card.png").write_bytes(b64decode(card))
    if html_baseurl:
        pages = map(app.builder.get_target_uri, sorted(app.env.found_docs))
        places = (join(html_baseurl, page) for page in pages)
        text = "".join(f"<url><loc>{x}</loc></url>\n" for x in places)
        text = f'<urlset xmlns="{SITEMAP}">\n{text}</urlset>\n'
        (out / "sitemap.xml").write_text(text, "utf-8")

    # The theme loads 2,000 icons and shows a dozen.
    pages = [*out.rglob("*.html"), *out.glob("_static/scripts/[ps]*.js")]
    text = "".join(page.read_text("utf-8") for page in pages)
    used = set(re.findall(r"\bfa-([a-z-]+)", text))
    icons = out / "_static" / "scripts" / "fontawesome.js"
    rest = ICON.sub(
        lambda x: x[0] if used & set(re.findall(r"[\w-]+", x[0])) else "",
        icons.read_text("utf-8"),
    )
    icons.write_text(rest, "utf-8")


# --- Pages to take home: they run without this repository.

STYLE = re.compile(r"^plt\.style\.use\(.*\n", re.M)
GLUE = "from myst_nb import glue"
NO_GLUE = "def glue(name, value, display=True): ...  # a number for the text"
IMPORT = re.compile(r"^ *(?:from|import) (\w+)", re.M)
HERE = {"accountlib", "IPython", "matplotlib_inline"}  # a kernel has the last
FIRST = f"""\
# Needed once, where it is not installed yet. The first page of the book
# has the wheel of accountlib; a clone has `pip install .` for it.
# %pip install {{}} {join(html_baseurl or ".", WHEEL)}"""


def needed(code):
    """The distributions of what a page imports; sklearn: scikit-learn."""
    known = packages_distributions()
    names = set(IMPORT.findall(code)) & known.keys() - HERE
    names |= {"flint"} if "certificate" in code else set()
    return sorted(known[name][0] for name in names)


def take_home(app, pagename, template, context, doctree):
    """The download button offers a notebook, too; tests run what it holds."""
    path = doctree and Path(app.env.doc2path(pagename))
    if not doctree or "{code-cell}" not in path.read_text("utf-8"):
        return
    _, executed = get_cache(cache).merge_match_into_notebook(
        jupytext.read(path, fmt="md:myst")
    )
    copy = COPIES / f"{pagename}.ipynb"
    copy.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(executed, copy)
    if pagename.startswith("notebooks/"):
        text = STYLE.sub("", path.read_text("utf-8")).replace(GLUE, NO_GLUE)
        book = jupytext.reads(text, fmt="md:myst")
        names = " ".join(needed(text))
        book.cells.insert(0, nbformat.v4.new_code_cell(FIRST.format(names)))
        target = Path(app.outdir, "_sources", f"{pagename}.ipynb")
        target.parent.mkdir(parents=True, exist_ok=True)
        jupytext.write(book, target)
        context["ipynb_source"] = f"{pagename}.ipynb"


def setup(app):
    app.connect("builder-inited", execute)
    app.connect("source-read", list_names)
    app.connect("autodoc-process-docstring", fields)
    app.connect("doctree-read", fold)
    app.connect("html-page-context", take_home, priority=400)
    app.connect("html-page-context", asked)
    app.connect("html-page-context", describe)
    app.connect("build-finished", serve)
