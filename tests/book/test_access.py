"""Who reads by keyboard, by ear, on paper or without scripts reads all.

axe looks at a part of the pages in a fresh clone, in light and in dark, and
at all that change (see unseen.py); it comes with a package.
"""

from importlib.resources import files

import pytest

from tests.book.browser import DESKTOP, chromium
from tests.book.built import HTML, PAGES
from tests.book.unseen import passed, unseen

A4 = 794 - 2 * 60  # pixels between the margins
# Folds are opened, formulas are one like the other, a figure is an image, and
# colours do not fade.
PREPARE = """
() => {
  document.head.append(Object.assign(document.createElement("style"),
    { textContent: "* { animation: none !important;"
      + " transition: none !important; }" }));
  document.querySelectorAll("article details").forEach(
    (node) => { node.open = true; });
  document.querySelectorAll(".toggle-hidden").forEach(
    (node) => node.classList.remove("toggle-hidden"));
  [...document.querySelectorAll("mjx-container")].slice(3).forEach(
    (node) => node.replaceWith("x"));
  document.querySelectorAll("svg.figure").forEach(
    (node) => node.replaceChildren());
}
"""
# What colours code says nothing to the rules that do not look at colours, and
# most of their time goes there; afterwards it comes back.
PLAIN_CODE = """
() => document.querySelectorAll("article pre").forEach((pre) => {
  pre.coloured = pre.cloneNode(true);
  pre.querySelectorAll("span").forEach((node) => {
    if (node.getAttributeNames().every((name) => name === "class"))
      node.replaceWith(...node.childNodes);
  });
  pre.normalize();
})
"""
COLOURED_CODE = """
() => document.querySelectorAll("article pre").forEach(
  (pre) => { pre.replaceWith(pre.coloured); })
"""
# Of words with the same style in boxes of the same style two stay in the book,
# not on each page (`kinds` counts them), and what stands beside a page stays
# on the first one: that takes a small part of the time.
THIN_OUT = """
(kinds) => {
  const kind = (node) => node.tagName === "ARTICLE" ? ""
    : `${kind(node.parentElement)} ${node.tagName}.${node.className}`;
  for (const node of [...document.querySelectorAll("article *")].reverse()) {
    if (node.childElementCount || node.closest("svg")) continue;
    const name = kind(node);
    kinds[name] = (kinds[name] || 0) + 1;
    if (kinds[name] > 2) node.remove();
  }
  if (!document.querySelector(".doors"))
    document.querySelectorAll(".bd-sidebar, .bd-header-article").forEach(
      (node) => node.remove());
  return kinds;
}
"""
FINDINGS = """
async (colours) => {
  const rules = { "color-contrast": { enabled: false } };
  const { violations } = await axe.run(document, colours
    ? { runOnly: { type: "rule", values: ["color-contrast"] } }
    : { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], rules });
  return violations.filter(
    ({ impact }) => ["serious", "critical"].includes(impact)
  ).flatMap((found) => found.nodes.map((node) => [
    found.id, node.html.slice(0, 99), node.failureSummary]));
}
"""
HIDDEN = """
() => [...document.querySelectorAll("article pre")].filter((node) => {
  const box = node.getBoundingClientRect();
  return box.height === 0 || node.scrollWidth > node.clientWidth + 1;
}).map((node) => node.innerText.slice(0, 60))
"""


@pytest.fixture(scope="module")
def started():
    with chromium("nobody looks whether pages keep readers out") as browser:
        yield browser


@pytest.fixture(scope="module")
def tab(started):
    return started.new_page(viewport=DESKTOP)


def address(page):
    return (HTML / page).as_uri()


@pytest.fixture(scope="module")
def axe():
    return files("axe_playwright_python").joinpath("axe.min.js").read_text()


@pytest.fixture(scope="module")
def kinds():
    """How many words of each kind were looked at so far."""
    return {}


# The first page is there for what stands beside all pages.
@pytest.mark.parametrize("page", unseen(__file__, 9))
def test_axe_finds_nothing_serious(tab, axe, kinds, page):
    tab.emulate_media(color_scheme="light")
    tab.goto(address(page))
    tab.evaluate(axe)
    tab.evaluate(PREPARE)
    tab.evaluate(PLAIN_CODE)
    assert not tab.evaluate(FINDINGS, False)
    tab.evaluate(COLOURED_CODE)
    kinds.update(tab.evaluate(THIN_OUT, kinds))
    assert not tab.evaluate(FINDINGS, True)
    tab.emulate_media(color_scheme="dark")
    tab.wait_for_function("document.documentElement.dataset.theme == 'dark'")
    assert not tab.evaluate(FINDINGS, True)
    passed(page, __file__)


def test_axe_would_find_something(tab, axe):
    tab.emulate_media(color_scheme="light")
    tab.goto(address(PAGES[0]))
    tab.evaluate(axe)
    tab.evaluate(PREPARE)
    tab.evaluate(THIN_OUT, {})
    tab.evaluate("document.querySelector('article p').style.color = '#ccc'")
    tab.evaluate("document.querySelector('.door a').innerHTML = ''")
    assert "color-contrast" in {x[0] for x in tab.evaluate(FINDINGS, True)}
    assert "link-name" in {x[0] for x in tab.evaluate(FINDINGS, False)}


def test_formulas_need_no_script_and_are_no_tab_stops(started):
    context = started.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address("notebooks/renyi_bounds.html"))
    formulas = tab.locator("article .math > mjx-container")
    assert formulas.count() > 100
    assert tab.locator("article .math").count() == formulas.count()
    assert formulas.first.bounding_box()["width"] > 5
    assert tab.locator("article mjx-container[tabindex]").count() == 0
    assert tab.locator("article mjx-container [tabindex]").count() == 0
    spoken = tab.locator("article mjx-assistive-mml math")
    assert spoken.count() == formulas.count()
    context.close()


@pytest.mark.parametrize(
    "page", ["notebooks/renyi_bounds.html", "notebooks/mechanisms.html"]
)
def test_paper_shows_all_code(started, page):
    tab = started.new_page(viewport={"width": A4, "height": 1000})
    tab.goto(address(page))
    assert tab.evaluate(HIDDEN), "no folds on the screen"
    tab.emulate_media(media="print")
    assert not tab.evaluate(HIDDEN)
    solutions = tab.locator(".solution section")
    assert solutions.count()
    for one in solutions.all():
        assert one.bounding_box()["height"] > 0
    tab.close()


@pytest.mark.parametrize(
    "name", ["odd-moments-and-the-factor-3", "fig-ren-curves"]
)
def test_a_link_into_a_page_leads_there(tab, name):
    """What is not laid out yet has its place all the same."""
    tab.goto(address("notebooks/renyi_bounds.html") + f"#{name}")
    tab.wait_for_function(
        "Math.abs(document.querySelector(location.hash)"
        ".getBoundingClientRect().top - 64) < 20"
    )
