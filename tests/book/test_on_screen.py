"""Pages in a browser: wide and narrow, light and dark, for all readers.

The browser reaches nothing but the pages, which it opens as files.
"""

from importlib.resources import files

import pytest

from tests.book.built import PAGES
from tests.book.conftest import address

PHONE = {"width": 360, "height": 740}
# What is on a page: formulas set and shown, no raw TeX, no broken image.
SEEN = r"""
async () => {
  await window.MathJax?.startup.promise;
  for (const image of document.images) image.loading = "eager";
  await Promise.all([...document.images].map(
    (image) => image.decode().catch(() => null)));
  const text = document.querySelector("article").cloneNode(true);
  text.querySelectorAll("pre, code, mjx-container, script").forEach(
    (node) => node.remove());
  return [
    ...[...document.querySelectorAll("article .math")].filter(
      (node) => !node.querySelector("mjx-container")),
    ...document.querySelectorAll("mjx-merror, [data-mjx-error]"),
    ...[...document.images].filter((image) => image.naturalWidth === 0),
  ].map((node) => node.outerHTML.slice(0, 99)).concat(
    text.textContent.match(/\\[([]|\\begin|\$[^\s$][^$\n]*\$/g) || []);
}
"""
OPEN = """
() => document.querySelectorAll("article details").forEach(
  (node) => { node.open = true; })
"""
# What is wider than the screen, or cut off in a box that does not scroll.
WIDE = """
() => {
  const width = document.documentElement.clientWidth;
  const wide = document.documentElement.scrollWidth > width;
  return [...document.querySelectorAll("article *")].filter((node) =>
    (wide && node.getBoundingClientRect().right > width + 1)
    || (node.matches("pre, table, figure, div.math")
      && node.scrollWidth > node.clientWidth + 1
      && getComputedStyle(node).overflowX === "hidden")
  ).map((node) => node.outerHTML.slice(0, 99)).slice(0, 5);
}
"""
LIGHTNESS = """
() => Math.max(...getComputedStyle(document.body)
  .backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number))
"""
# Else a fold that opens is seen while its text fades in.
STILL = "* { transition: none !important; animation: none !important; }"
# The reference repeats itself: a few of its sections are enough.
FEWER = """
() => document.querySelectorAll("article section > section:nth-of-type(n+4)")
  .forEach((node) => node.remove())
"""
SERIOUS = """
async () => {
  const { violations } = await axe.run(document, { preload: false,
    runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"] });
  return violations.filter(
    ({ impact }) => ["serious", "critical"].includes(impact)
  ).flatMap(({ id, nodes }) => nodes.map((node) => [
    id, node.html.slice(0, 99), node.failureSummary]));
}
"""


def dark(tab):
    tab.emulate_media(color_scheme="dark")
    tab.wait_for_function("document.documentElement.dataset.theme == 'dark'")


@pytest.mark.parametrize("page", PAGES)
def test_page_in_browser(tab, page):
    """On a desktop, with all folds open, on a phone, in the dark."""
    tab.goto(address(page))
    assert not tab.evaluate(SEEN)
    assert tab.evaluate(LIGHTNESS) > 200
    tab.evaluate(OPEN)
    assert not tab.evaluate(WIDE)
    tab.set_viewport_size(PHONE)
    assert not tab.evaluate(WIDE)
    dark(tab)
    assert tab.evaluate(LIGHTNESS) < 60


@pytest.mark.parametrize("page", [PAGES[0], PAGES[1], "book/api.html"])
def test_axe_finds_nothing_serious(tab, page):
    tab.goto(address(page))
    assert not tab.evaluate(SEEN)
    tab.add_style_tag(content=STILL)
    tab.evaluate(OPEN)
    if page == "book/api.html":
        tab.evaluate(FEWER)
    package = files("axe_playwright_python")
    tab.evaluate(package.joinpath("axe.min.js").read_text())
    assert not tab.evaluate(SERIOUS)
    dark(tab)
    assert not tab.evaluate(SERIOUS)


def test_the_root_leads_to_the_first_page(tab):
    tab.goto(address("index.html"))
    tab.wait_for_url("**/book/index.html")


def test_a_solution_is_folded_and_exports_are_marked(tab):
    tab.goto(address("notebooks/divergences.html"))
    fold = tab.locator(".solution.dropdown details").first
    assert not fold.locator(":scope > :not(summary)").first.is_visible()
    fold.locator("summary").first.click()
    assert fold.locator(":scope > :not(summary)").first.is_visible()
    marked = tab.locator(".cell.tag_export > *").first
    assert marked.evaluate("x => getComputedStyle(x).borderLeftWidth") == "4px"


def test_the_search_finds_pages(browser):
    tab = browser.new_page()
    tab.goto(address("search.html") + "?q=hockey+stick")
    tab.wait_for_selector("#search-results li a")
    found = tab.locator("#search-results li a").evaluate_all(
        "links => links.map((link) => link.href)"
    )
    assert any("divergences" in link for link in found)
    tab.close()
