"""Each built page on a screen, opened once for all that is looked at.

A part in a fresh clone, and all that change (see unseen.py).

The browser reaches nothing but the pages.
"""

import re

import pytest
from playwright.sync_api import expect

from tests.book.browser import OVERFLOW, PHONE
from tests.book.built import HTML, PAGES, TOC, text_of
from tests.book.unseen import passed, unseen

FOLDED = re.compile(r'<div class="[^"]*\bsolution\b[^"]*\bdropdown\b')
# What a page looks like from inside, in one question.
SEEN = r"""
async () => {
  for (const image of document.images) image.loading = "eager";
  await Promise.all([...document.images].map(
    (image) => image.decode().catch(() => null)));
  const article = document.querySelector("article");
  const text = article.cloneNode(true);
  text.querySelectorAll("pre, code, mjx-container, script").forEach(
    (node) => node.remove());
  return {
    sources: article.querySelectorAll(".math").length,
    formulas: article.querySelectorAll("mjx-container").length,
    empty: [...article.querySelectorAll("mjx-container")].filter(
      (node) => node.querySelector("mjx-math")?.childElementCount === 0
    ).length,
    errors: [...article.querySelectorAll("mjx-merror, [data-mjx-error]")].map(
      (node) => node.textContent || node.dataset.mjxError),
    raw: text.textContent.match(/\\[([]|\\begin|\$[^\s$][^$\n]*\$/g) || [],
    broken: [...document.images].filter(
      (image) => image.naturalWidth === 0).map((image) => image.src),
  };
}
"""
LIGHTNESS = """
() => Math.max(...getComputedStyle(document.body)
  .backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number))
"""
# Folds and solutions are opened, and far below all is laid out. Nothing moves,
# and two pictures later nothing else will.
OPEN = r"""
() => {
  document.head.append(Object.assign(document.createElement("style"),
    { textContent: "* { animation: none !important;"
      + " transition: none !important; }"
      + " article section { content-visibility: visible !important; }" }));
  document.querySelectorAll("article details").forEach(
    (node) => { node.open = true; });
  document.querySelectorAll(".toggle-hidden").forEach(
    (node) => node.classList.remove("toggle-hidden"));
}
"""
DRAWN = """
() => document.fonts.ready.then(() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => done()))))
"""
# What is wider than its box; one pixel is for rounding. A formula has no text
# of its own, so what is found is shown as it is written.
CUT = r"""
(boxes) => [...document.querySelectorAll(`article :is(${boxes})`)].filter(
  (node) => node.clientWidth && node.scrollWidth > node.clientWidth + 1
    && getComputedStyle(node).overflowX !== "visible"
).map((node) => node.outerHTML.slice(0, 200))
"""
SCROLLED = "pre, table, mjx-container[display]"  # on a phone, in their box
BOXES = f"{SCROLLED}, div, figure"
# A box that scrolls does not cut, but one that hides does.
HIDES = r"""
(boxes) => [...document.querySelectorAll(`article :is(${boxes})`)].filter(
  (node) => node.scrollWidth > node.clientWidth + 1
    && !["auto", "scroll"].includes(getComputedStyle(node).overflowX)
).map((node) => node.outerHTML.slice(0, 200))
"""
SMALLEST = 9  # pixels; exponents are smaller
# Each word's letters, in pixels of the screen.
LABELS = """
() => [...document.querySelectorAll("article svg.figure")].flatMap(
  (figure) => [...figure.querySelectorAll("text")].map((text) => {
    const scale = text.getScreenCTM();
    const sizes = [text, ...text.querySelectorAll("tspan")].filter(
      (node) => node.style.fontSize || node.style.font
    ).map((node) => parseFloat(getComputedStyle(node).fontSize));
    return [text.textContent.trim(),
            Math.max(...sizes) * Math.hypot(scale.a, scale.b)];
  }))
"""


def look(tab):
    seen = tab.evaluate(SEEN)
    assert seen["formulas"] == seen["sources"], "formulas not rendered"
    assert not seen["empty"]
    assert not seen["errors"]
    assert not seen["raw"]
    assert not seen["broken"]


@pytest.mark.parametrize("page", unseen(__file__, 14))
def test_page_in_browser(tab, browser, server, page):
    """On a desktop, on a phone, in the dark, and with all folds open."""
    tab.goto(f"{server}/{page}")
    look(tab)
    assert tab.evaluate(LIGHTNESS) > 200
    assert not tab.evaluate(OVERFLOW)
    tab.evaluate(OPEN)
    tab.evaluate(DRAWN)
    assert not tab.evaluate(OVERFLOW)
    assert not tab.evaluate(CUT, BOXES)
    tab.set_viewport_size(PHONE)
    tab.evaluate(DRAWN)
    assert not tab.evaluate(OVERFLOW)
    assert not tab.evaluate(CUT, "div, figure")
    assert not tab.evaluate(HIDES, SCROLLED)
    labels = tab.evaluate(LABELS)
    assert bool(labels) == ('<svg class="figure"' in text_of(page)), "no text"
    assert not [(text, size) for text, size in labels if not size >= SMALLEST]
    tab.emulate_media(color_scheme="dark")
    tab.wait_for_function("document.documentElement.dataset.theme == 'dark'")
    assert tab.evaluate(LIGHTNESS) < 60
    assert not browser[1]  # what it complained about
    passed(page, __file__)


def test_what_is_too_wide_would_be_found(tab, server):
    """Even without words, far below and inside a fold."""
    page = next(x for x in PAGES if FOLDED.search(text_of(x)))
    tab.goto(f"{server}/{page}")
    wide = 'style="overflow-x: auto"><p style="width: 2000px"><br></p></div>'
    tab.locator("div.solution.dropdown section").last.evaluate(
        "(node, wide) => node.insertAdjacentHTML('beforeend', wide)",
        f'<div id="wide" {wide}',
    )
    tab.evaluate(OPEN)
    tab.evaluate(DRAWN)
    assert ['id="wide"' in x for x in tab.evaluate(CUT, BOXES)] == [True]


def test_pages_open_as_files(tab):
    """No server is needed to read the book."""
    tab.goto((HTML / "index.html").as_uri())
    tab.wait_for_url("**/book/index.html")
    tab.goto((HTML / PAGES[-1]).as_uri())
    look(tab)


def test_a_solution_is_folded(tab, server):
    """A reader sees an exercise first and opens its solution by a click."""
    page = next(x for x in PAGES if FOLDED.search(text_of(x)))
    tab.goto(f"{server}/{page}")
    body = tab.locator("div.solution.dropdown section").first
    expect(body).to_be_hidden()
    tab.locator("div.solution.dropdown button").first.click()
    expect(body).to_be_visible()


def test_the_readers_part_of_the_contents_is_open(tab):
    """The others are folded, so that a page's neighbours are in sight."""
    tab.goto((HTML / "notebooks" / "accountant.html").as_uri())
    parts = tab.locator(".bd-sidebar-primary li.toctree-l0 > details")
    assert parts.count() == len(TOC["parts"])
    opened = tab.locator(".bd-sidebar-primary li.toctree-l0 > details[open]")
    assert opened.locator("summary p.caption").all_inner_texts() == [
        "Loss distributions (PLD)"
    ]
