"""What readers look up: the reference, links to it, indexes, texts beside.

The search is in test_search.py. `make book` builds the pages.
"""

import functools
import json
import re
import zlib
from pathlib import Path

import pytest
from playwright.sync_api import expect

import accountlib as al
from tests.book.browser import DESKTOP, OVERFLOW
from tests.book.built import HTML, PAGES, soup, text_of

API = "book/api.html"


@functools.cache
def article(page):
    """The text of a page, without what the theme puts around it."""
    text = text_of(page)
    return text[text.index("<article") : text.index("</article")]


def entry(name):
    return soup(API).find(id=f"accountlib.{name}")


@pytest.mark.parametrize("name", dir(al))
def test_every_public_name_has_an_entry(name):
    heading = entry(name)
    assert heading, name
    body = heading.find_next_sibling("dd")
    derived = body.find("p", class_="derived")
    section, code = (link["href"] for link in derived.find_all("a"))
    page, _, anchor = code.partition("#")
    assert anchor == f"code-{name}"
    assert section.startswith(page + "#")
    # The page leads back.
    there = str((HTML / "book" / page).resolve().relative_to(HTML))
    back = f'{API}#accountlib.{name}"'
    lines = re.findall(r'class="way-back">(.*?)</p>', article(there), re.S)
    assert any(back in line for line in lines)


def test_entries_lead_to_their_papers():
    """Where a docstring names a work, the bibliography has it."""
    linked = wanted = 0
    for name in dir(al):
        body = entry(name).find_next_sibling("dd")
        for field in body.select(":scope > dl.field-list > dt"):
            text = field.find_next_sibling("dd")
            if field.get_text() == "Source:" and re.search(
                r"\d{4}", text.get_text()
            ):
                linked += bool(text.select("a[href^='bibliography.html#']"))
                wanted += 1
    assert linked >= wanted - 1, "of two works of a year none is meant"
    assert wanted > 20


def test_formulas_and_examples_of_entries_are_shown():
    body = entry("gaussian_delta").find_next_sibling("dd")
    labels = [x.get_text() for x in body.find_all("dt", class_="field-even")]
    labels += [x.get_text() for x in body.find_all("dt", class_="field-odd")]
    wanted = {"Formula", "Parameters", "Returns", "Raises", "Error", "Source"}
    assert {x.strip(":") for x in labels} >= wanted
    assert len(body.select(".math")) > 4
    assert ">>> round(gaussian_delta(1.0, mu=1.0), 12)" in body.pre.get_text()
    text = soup(API).article.get_text()
    assert not re.search(r"\beq\. \([a-z]+-", text), "a label for a number"


def test_signatures_are_short():
    signature = entry("hockey_stick").get_text()
    assert "ArrayLike" in signature or "Probabilities" in signature
    assert "numpy._typing" not in soup(API).get_text()
    assert "→ Bound" in entry("epsilon").get_text()
    assert not soup(API).select("dt dl"), "a list that is none"


def test_other_names_are_listed_and_known_to_other_books():
    from sphinx.util.inventory import InventoryFile

    data = (HTML / "objects.inv").read_bytes()
    known = InventoryFile.loads(data, uri="").data
    functions = known["py:function"]
    assert "accountlib.epsilon" in functions
    assert "accountlib.accountant.epsilon" in functions
    assert "accountlib.inputs.check_count" in functions
    assert "accountlib.divergences.hockey_stick" in functions
    assert "accountlib.Bound.contains" in known["py:method"]
    names = soup("book/names.html")
    for name in ("check_count", "Explanation", "Search"):
        link = names.select_one(f"td a:has([id$='.{name}'])")
        assert link["href"].endswith(f"#code-{name}")


def test_names_in_the_text_lead_to_entries():
    link = re.compile(r'<a class="name [^>]*>(.*?)</a>', re.S)
    inside = re.compile(r"<(h\d|pre)\b(?:(?!</\1>).)*<a class=.name ", re.S)
    found = set()
    for page in PAGES:
        texts = link.findall(article(page))
        found |= {re.sub(r"<[^>]*>", "", text) for text in texts}
        assert not inside.search(article(page)), page
    assert len(found) > 200
    assert {"epsilon", "Release", "gaussian_delta", "al.report(...)"} <= found
    assert "noise_multiplier" not in found


def test_symbols_are_no_functions():
    """In a table of symbols `epsilon` is a number."""
    table = soup("book/notation.html").table
    assert not table.select("a[href$='#accountlib.epsilon']")


def test_an_entry_does_not_lead_to_itself():
    for name in al.__all__:
        body = entry(name).find_next_sibling("dd")
        assert not body.select(f"a.name[href='#accountlib.{name}']"), name


def test_indexes_have_all_theorems_and_figures():
    boxes = re.compile(
        r'<div class="proof \w+ admonition" id="([\w-]+)">\s*'
        r'<p class="admonition-title"><span[^>]*>[^<]*</span> \('
    )
    figures = re.compile(r'<figure class="[^"]*" id="([\w-]+)"')
    for pattern, index in ((boxes, "theorems"), (figures, "figures")):
        shown = article(f"book/{index}.html")
        found = [(p, x) for p in PAGES for x in pattern.findall(article(p))]
        assert len(found) > 40
        for page, anchor in found:
            assert f'{Path(page).name}#{anchor}"' in shown, anchor
    words = soup("book/figures.html").article.get_text()
    assert "After Figure 1 of Lebeda et al. (2025)" in words


def test_texts_beside_links_are_small_and_lead_nowhere():
    script = re.compile(r'id="hover-texts">(.*?)</script>', re.S)
    found = [x for page in PAGES for x in script.findall(article(page))]
    assert len(found) > 40
    for texts in found:
        assert len(zlib.compress(texts.encode())) < 20_000
        for text in json.loads(texts).values():
            assert "<a" not in text and " id=" not in text
            shown = re.sub(r'data-tex="[^"]*"', "", text)
            assert not re.search(r"\\[(\[]", shown), "a formula not typeset"


def test_a_term_an_equation_and_a_work_are_shown(tab, server):
    tab.goto(f"{server}/notebooks/renyi_sampling.html")
    box = tab.locator("#hover-text")
    for kind in ("glossary.html#term", "#equation-", "bibliography.html#"):
        link = tab.locator(f"article a.reference[href*='{kind}']").first
        link.hover()
        expect(box).to_be_visible()
        assert link.get_attribute("aria-describedby") == "hover-text"
        if kind == "#equation-":
            expect(box.locator("mjx-container")).to_be_visible()
        else:
            assert len(box.inner_text()) > 20
        tab.keyboard.press("Escape")
        expect(box).to_be_hidden()
        assert link.get_attribute("aria-describedby") is None


def test_texts_open_by_keyboard_and_from_a_file(tab):
    tab.goto((HTML / "notebooks/divergences.html").as_uri())
    link = tab.locator("article a[href*='glossary.html#term']").first
    link.focus()
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Tab")
    box = tab.locator("#hover-text")
    expect(box).to_be_visible()
    tab.keyboard.press("Escape")
    expect(box).to_be_hidden()


def test_a_text_can_be_pointed_at(tab, server):
    tab.goto(f"{server}/notebooks/divergences.html")
    tab.locator("article a[href*='glossary.html#term']").first.hover()
    box = tab.locator("#hover-text")
    expect(box).to_be_visible()
    box.hover()
    tab.wait_for_timeout(500)
    expect(box).to_be_visible()
    assert not tab.evaluate(OVERFLOW)
    tab.mouse.move(DESKTOP["width"] - 1, DESKTOP["height"] - 1)
    expect(box).to_be_hidden()


@pytest.mark.in_turn(5)
@pytest.mark.parametrize(
    "page, link, words",
    [
        (API, "dd a[href='#accountlib.epsilon_from_rdp']", "Epsilon that a"),
        (API, "dd a[href='names.html#accountlib.checks.Floats']", "Floats"),
        (
            "book/glossary.html",
            "a[href='#term-group-privacy']:not(.headerlink)",
            "Protection of several records",
        ),
    ],
)
def test_what_the_page_has_is_shown_too(tab, server, page, link, words):
    tab.goto(f"{server}/{page}")
    pointed = tab.locator(f"article {link}").first
    pointed.scroll_into_view_if_needed()  # what comes near is laid out now,
    tab.wait_for_timeout(500)  # and does not move away under the pointer
    pointed.hover()
    expect(tab.locator("#hover-text")).to_contain_text(words, timeout=20_000)
