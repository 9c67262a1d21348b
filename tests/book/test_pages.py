"""The built pages: links, figures, code, and the notebooks to take home.

What a browser shows of them is in test_on_screen.py; nbval runs their cells.
"""

import functools
import importlib
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from importlib.metadata import distributions
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from tangle import code_cells, notebooks

import accountlib
from tests import ROOT
from tests.book.built import HTML, PAGES

is_there = functools.cache(Path.is_file)
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href"}


def test_there_are_pages():
    missing = [page for page in PAGES if not (HTML / page).exists()]
    assert not missing, "run `make book`"


@functools.cache
def tags(page):
    """The tags of a page, each with its attributes."""
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda *tag: found.append((tag[0], dict(tag[1])))
    parser.feed((HTML / page).read_text("utf-8"))
    return found


@functools.cache
def anchors(page):
    return {"", "top"} | {x["id"] for _, x in tags(page) if "id" in x}


@pytest.mark.parametrize("page", PAGES)
def test_links_are_whole_and_nothing_is_loaded_from_outside(page):
    dead = []
    for name, given in tags(page):
        if name not in {"a", *LOADED}:
            continue
        text = given.get(LOADED.get(name, "href"), "")
        link = urlsplit(text)
        if link.scheme or link.netloc:
            outside = name in LOADED and link.scheme != "data"
            dead += [text] if outside else []
            continue
        target = HTML / page
        if link.path:
            place = (HTML / page).parent / unquote(link.path)
            target = Path(os.path.normpath(place))
        if not is_there(target):
            dead.append(text)
        elif link.fragment and target.suffix == ".html":
            there = str(target.relative_to(HTML))
            if unquote(link.fragment) not in anchors(there):
                dead.append(text)
    assert not dead


def test_figures_have_names_captions_and_alternatives():
    count = 0
    for page in PAGES:
        text = (HTML / page).read_text("utf-8")
        article = re.search("<article.*</article>", text, re.S)[0]
        figures = re.findall("<figure.*?</figure>", article, re.S)
        inside = "".join(figures).count("<img")
        assert inside == article.count("<img"), f"{page}: one without name"
        count += inside
        for text in figures:
            figure = BeautifulSoup(text, "html.parser").figure
            caption = figure.find("figcaption").get_text(strip=True)
            assert figure.get("id") and len(caption) > 10, f"{page}: {text}"
            for image in figure.select("img"):
                alt = image.get("alt", "").strip()
                # Sphinx puts the name of the file where there is no text.
                assert alt and not alt.endswith((".svg", ".png")), page
                assert image["width"] and image["height"]  # no text jumps
    assert count, "a book without a figure"


def test_all_public_names_are_in_the_reference():
    there = anchors("book/api.html")
    for name in [*accountlib.__all__, *accountlib.BEYOND]:
        home = getattr(accountlib, name).__module__
        assert {f"accountlib.{name}", f"{home}.{name}"} & there, name
    page = (HTML / "book" / "api.html").read_text("utf-8")
    text = BeautifulSoup(page, "html.parser").article.get_text()
    assert not re.search(r"\$|:math:", text), "formulas are not set"


def test_the_root_and_what_is_not_there_lead_to_the_first_page():
    root, first = tags("index.html"), ("a", {"href": PAGES[0]})
    assert first in root and first in tags("404.html")
    sent = [given.get("content") for name, given in root if name == "meta"]
    assert f"0; url={PAGES[0]}" in sent


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_what_it_is_without_tex(page):
    meta = {
        given.get("name", given.get("property")): given["content"]
        for name, given in tags(page)
        if name == "meta" and "content" in given
    }
    assert 20 < len(meta["description"]) <= 200
    assert not re.search(r"[\\{}$]", meta["description"])
    assert meta["og:description"] == meta["description"]


def test_the_door():
    text = (HTML / PAGES[0]).read_text("utf-8")
    first = BeautifulSoup(text, "html.parser").article.p.get_text()
    assert all(x in first for x in ("differential-privacy", "DP-SGD", "eps"))
    scripts = [given.get("src", "") for x, given in tags(PAGES[0])]
    loaded = " ".join(filter(None, scripts))
    assert "searchindex" not in loaded and "mathjax" not in loaded
    size = (HTML / "_static/scripts/fontawesome.js").stat().st_size
    assert size < 150_000, "icons that no page shows"
    assert (HTML / "_static" / "card.png").read_bytes()[:4] == b"\x89PNG"


def test_addresses_stand_where_the_book_has_one(tmp_path, monkeypatch):
    """With `html: baseurl`: sitemap and picture."""
    conf = importlib.import_module("book.conf")
    monkeypatch.setattr(conf, "html_baseurl", "https://book.example/dp")
    app = SimpleNamespace(
        config=SimpleNamespace(root_doc="book/index"),
        builder=SimpleNamespace(get_target_uri="{}.html".format),
        env=SimpleNamespace(found_docs={"book/index"}),
        outdir=shutil.copytree(HTML / "_static", tmp_path / "_static").parent,
    )
    conf.serve(app, None)
    there = (tmp_path / "sitemap.xml").read_text("utf-8")
    assert "<loc>https://book.example/dp/book/index.html</loc>" in there
    paragraph = nodes.paragraph("", "Which?")
    paragraph += nodes.math("", r"\varepsilon \le 1")
    context = {"title": "T", "metatags": ""}
    conf.describe(app, "book/index", "", context, nodes.section("", paragraph))
    assert "Which?ε ≤ 1" in context["metatags"]
    assert "book.example/dp/_static/card.png" in context["metatags"]


# --- The code of the pages

NEAREST = re.compile(r"\{[\w.]*\blower:\.\d\w\}, \{[\w.]*\bupper:\.\d\w\}")
CHANCE = re.compile(
    r"default_rng\(\)|np\.random\.(?!default_rng\(|Generator\b)|\.rvs\("
    r"|^ *(?:import|from) (?:random|time|datetime|uuid|secrets)\b"
    r"|os\.urandom|\bid\(",
    re.M,
)


@pytest.mark.parametrize("page", notebooks(), ids=lambda page: page.stem)
def test_pages_round_outward_and_ask_for_no_chance(page):
    """A lower end rounded up is no bound: `{bound:.3f}` rounds outward."""
    for cell in code_cells(page):
        source = cell.source
        if page.stem == "verify":  # a forged file must not keep us busy
            source = source.replace("import time\n", "")
        assert not NEAREST.search(source), f"{page}, line {cell.line}"
        assert not CHANCE.search(source), f"{page}, line {cell.line}"


# Modules whose distributions have other names.
WRONG = {"flint": "python-flint", "sklearn": "scikit-learn"}


@pytest.mark.parametrize("name", ["accountant"])
def test_a_page_taken_home_runs_outside_a_clone(name, tmp_path):
    file = HTML / "_sources" / "notebooks" / f"{name}.ipynb"
    cells = nbformat.read(file, as_version=4).cells
    code = "\n".join(x.source for x in cells if x.cell_type == "code")
    assert cells[0].source.startswith("# Needed once") and "%pip" in code
    for module in ("myst_nb", "figures.mplstyle", "../"):
        assert module not in code
    (tmp_path / "page.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "page.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "agg"},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr


def test_downloads_name_distributions():
    """What the first cell installs is what the imports come from."""
    installed = {
        re.sub("[-_.]+", "-", dist.name).lower() for dist in distributions()
    }
    for file in HTML.glob("_sources/notebooks/**/*.ipynb"):
        text = nbformat.read(file, as_version=4).cells[0].source
        *names, wheel = re.search("%pip install (.*)", text)[1].split()
        assert set(names) <= installed, file
        assert (HTML / wheel).is_file()
        code = file.read_text("utf-8")
        for module, name in WRONG.items():
            assert name in names or f"import {module}" not in code, file


def test_a_page_uses_what_earlier_pages_export():
    imported = re.compile(
        r"^ *(?:>>> )?from accountlib\.([\w.]+) import", re.M
    )
    known = {"checks", "exercises"}
    for path in notebooks():
        inside = path.relative_to(ROOT / "notebooks").with_suffix("")
        known.add(".".join(inside.parts))
        used = set(imported.findall(path.read_text("utf-8")))
        used = {name for name in used if name.split(".")[0] != "short"}
        assert used <= known, (path, used - known)
