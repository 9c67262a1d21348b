"""The first page, what stands around the pages, and what they weigh."""

import contextlib
import gzip
import io
import re
import xml.etree.ElementTree as ElementTree
from urllib.parse import unquote, urlsplit

import pytest
import styles
import yaml
from bs4 import BeautifulSoup
from formulas import needed, typeset
from notebook import INDEX, code_cells

from tests import ROOT
from tests.book.browser import DESKTOP, chromium
from tests.book.built import HTML

SETTINGS = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
LONGEST = max(
    HTML.glob("notebooks/**/*.html"),
    key=lambda page: page.stat().st_size,
    default=HTML / "index.html",
)
FIRST = HTML / "book" / "index.html"


def soup(path):
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def test_the_call_of_the_first_page_prints_what_stands_below_it():
    call = next(x.source for x in code_cells(INDEX) if "print(" in x.source)
    assert len([line for line in call.splitlines() if line]) == 6
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(call, {})
    shown = soup(FIRST).select_one(".cell_output pre").get_text()
    assert shown == printed.getvalue()


def test_the_first_page_shows_answer_doors_and_citation():
    article = soup(FIRST).article
    answers = article.select_one("svg.figure").get_text(" ")
    assert "[0.94, 0.95]" in answers and "at most 68.05" in answers
    doors = article.select(".door > p:first-child a")
    assert [x.get_text() for x in doors] == ["Reader", "Researcher", "Teacher"]
    printed = [pre.get_text() for pre in article.select(".cell_output pre")]
    (entry,) = (text for text in printed if text.startswith("@software"))
    assert CITATION["title"] in entry and CITATION["version"] in entry
    assert ("url = " in entry) == bool(SETTINGS["repository"]["url"])


@pytest.mark.parametrize("page", [FIRST, LONGEST, HTML / "search.html"])
def test_a_page_says_what_it_is_and_which_edition(page):
    seen = soup(page)
    (about,) = seen.select('meta[name="description"]')
    assert 20 < len(about["content"]) <= 162
    named = seen.select_one('meta[property="og:title"]')["content"]
    assert named and "<" not in named
    foot = seen.select_one("footer .edition").get_text()
    assert f"version {CITATION['version']}" in foot
    assert re.search(r"of \d{4}-\d\d-\d\d\.", foot)
    assert seen.select_one('link[rel="icon"]')["href"].endswith("favicon.svg")


def test_nothing_leads_to_an_address_that_is_not_there_yet():
    address = SETTINGS["repository"]["url"], SETTINGS["html"]["baseurl"]
    assert len(soup(FIRST).select('meta[property="og:image"]')) == bool(
        address[1]
    )
    buttons = soup(LONGEST).select('[class*="repository"], [href*="/edit/"]')
    assert bool(buttons) == bool(address[0])


def test_the_page_for_what_is_not_found_needs_no_other_file():
    page = soup(HTML / "404.html")
    assert not page.select("script, link, img")
    for link in page.select("a"):
        assert (HTML / link["href"]).is_file()


def test_pictures_of_the_book():
    card = (HTML / "_static" / "card.png").read_bytes()
    size = [int.from_bytes(card[k : k + 4], "big") for k in (16, 20)]
    assert size == [1200, 630]
    icon = ElementTree.parse(HTML / "_static" / "favicon.svg").getroot()
    assert icon.get("viewBox") == "0 0 32 32"


@pytest.fixture(scope="module")
def tab():
    with chromium("nobody weighs the pages") as browser:
        yield browser.new_page(viewport=DESKTOP)


@pytest.mark.parametrize("page", [FIRST, LONGEST], ids=["first", "longest"])
def test_a_page_weighs_at_most_half_a_megabyte(tab, page):
    """With all it loads, compressed as servers do it."""
    loaded = set()
    tab.on("requestfinished", lambda request: loaded.add(request.url))
    tab.goto(page.as_uri(), wait_until="networkidle")
    files = {unquote(urlsplit(url).path) for url in loaded}
    files = {name for name in files if name.startswith(str(HTML))}
    assert str(page) in files and len(files) > 10
    weights = {}
    for name in files:
        with open(name, "rb") as file:
            content = file.read()
        whole = name.endswith((".woff", ".woff2", ".png"))
        weights[name] = len(content if whole else gzip.compress(content))
    assert sum(weights.values()) < 500_000, weights


def test_a_search_from_a_page_finds_pages(tab):
    wrong: list[object] = []
    tab.on("pageerror", lambda error: wrong.append(error))
    tab.goto(LONGEST.as_uri())
    tab.keyboard.press("Control+k")
    tab.keyboard.type("shuffle")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("ul.search li a")
    # Summaries are fetched from a server, and here is none.
    assert not [x for x in map(str, wrong) if x != "Failed to fetch"]


def test_styles_lose_only_what_is_not_used():
    style = (
        ".a .b, .c{x: y} @media print{.c{x: y} .a:not(.d){x: y}} #e > p{x: y}"
        "@font-face{font-family: Awesome} @font-face{font-family: other}"
    )
    rest = styles.kept(style, {"a", "b"})
    assert re.findall(r"[^{}\s]+(?=\{)", rest.replace(" ", "")) == [
        ".a.b",
        "@mediaprint",
        ".a:not(.d)",
        "#e>p",
        "@font-face",
    ]


def test_a_formula_keeps_its_source_and_is_an_error_if_it_makes_no_sense():
    html = typeset(r"\delta < 1", False)
    assert html.startswith(r'<mjx-container data-tex="\(\delta &lt; 1\)"')
    assert "mjx-c1D6FF" in html
    with pytest.raises(ValueError, match="understand"):
        typeset(r"\frac{1", True)


def test_the_style_of_formulas_has_the_characters_that_are_used():
    used, other = '.mjx-c41::before {content: "}"}', ".mjx-c42::before {x: y}"
    assert needed(f"{used} {other} p {{x: y}}", {"mjx-c41"}) == (
        f"{used} p {{x: y}}"
    )
