"""Pages in a browser: wide and narrow, light and dark, for all readers.

The browser reaches nothing but the pages, which it opens as files.
"""

import math
import os
import random
import re
import shutil
from importlib.resources import files

import pytest
from playwright.sync_api import sync_playwright

import accountlib as al
from tests.book.built import HTML, PAGES

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 900}
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


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM:
        if os.environ.get("ACCOUNTLIB_REQUIRE_BROWSER") == "1":
            pytest.fail("NO CHROMIUM FOUND")
        pytest.skip("NO CHROMIUM FOUND: nobody looks at the pages")
    with sync_playwright() as play:
        options = ["--no-sandbox", "--disable-gpu"]
        started = play.chromium.launch(executable_path=CHROMIUM, args=options)
        yield started
        started.close()


@pytest.fixture
def tab(browser):
    """A tab; a test passes only if nothing goes wrong in it."""
    troubles = []
    page = browser.new_page(viewport=DESKTOP, color_scheme="light")

    def only_here(route):
        if route.request.url.startswith(("file:", "data:")):
            route.continue_()
        else:
            troubles.append(f"asked for {route.request.url}")
            route.abort()

    def console(message):
        if message.type in ("error", "warning"):
            troubles.append(message.text)

    page.route("**/*", only_here)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", console)
    yield page
    page.close()
    assert not troubles


def address(page):
    return (HTML / page).as_uri()


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


# --- What is my epsilon?

FORM = "notebooks/my_epsilon.html"


def question(rng):
    """A question for the form, and the same for the package."""
    noise = round(math.exp(rng.uniform(math.log(0.5), math.log(8))), 2)
    rate = float(f"{10 ** rng.uniform(-4, -0.3):.2g}")
    steps = round(10 ** rng.uniform(0, 4))
    kind = rng.choice(["poisson", "fixed", "full", "allocation"])
    neighbours = ["add-or-remove", "remove", "add"]
    if kind in ("poisson", "full"):
        neighbours += ["substitute", "zero-out"]
    asked = {
        "sampler": kind,
        "adjacency": rng.choice(neighbours),
        "noise": noise,
        "delta": 10.0 ** -rng.randint(2, 11),
        "rate": rate,
        "steps": min(steps, 20) if kind == "full" else steps,
        "batch": max(1, round(1e5 * rate)),
        "records": 100_000,
        "slots": rng.randint(1, 300),
        "epochs": rng.randint(1, 10),
    }
    sampling, count = {
        "poisson": (al.Poisson(rate), asked["steps"]),
        "fixed": (al.FixedBatch(asked["batch"], 100_000), asked["steps"]),
        "full": (al.FullBatch(), asked["steps"]),
        "allocation": (al.RandomAllocation(asked["slots"]), asked["epochs"]),
    }[kind]
    return asked, al.Release(al.Gaussian(noise), sampling, count=count)


def test_the_form_has_the_truth_inside(tab):
    tab.goto(address(FORM))
    tab.wait_for_selector("#my-epsilon .says")
    for seed in range(20):
        asked, run = question(random.Random(seed))
        low, high = tab.evaluate(
            "(asked) => document.getElementById('my-epsilon').interval(asked)"
            ".map((x) => x === Infinity ? 1e300 : x)",
            asked,
        )
        found = al.epsilon(
            run, delta=asked["delta"], adjacency=asked["adjacency"]
        )
        assert low <= found.upper and found.lower <= high, asked
        # Narrower than the engine it may not be, but for the engine's gaps.
        assert low <= found.lower * (1 + 1e-3) + 1e-9, asked
        assert found.upper <= high * (1 + 1e-3) + 1e-9, asked
        if found.upper < 45:
            assert high - low <= 0.13 * found.upper + 1e-3, asked


def test_the_form_answers_by_keyboard(tab):
    tab.goto(address(FORM))
    said = tab.locator("#my-epsilon [aria-live=polite]")
    assert said.inner_text().startswith("Epsilon lies between 0.94")
    tab.get_by_label("noise multiplier").first.focus()
    tab.keyboard.press("Control+a")
    tab.keyboard.type("2")
    code = tab.locator("#my-epsilon code", has_text="Gaussian(2)")
    code.wait_for()
    low, high = map(float, re.findall(r"\d\.\d+", said.inner_text())[:2])
    run = al.Release(al.Gaussian(2.0), al.Poisson(0.001), count=10_000)
    found = al.epsilon(run, delta=1e-6, adjacency="add-or-remove")
    assert low <= found.lower <= found.upper <= high < 1.05 * low
    printed: list[al.Bound] = []
    exec(code.inner_text(), {"print": printed.append})
    assert printed == [found]
    for field, value, answer in (
        ("noise", "0", "a value from 0.25 to 50 as noise multiplier"),
        ("steps", "1.5", "a whole number from 1 to 1000000 as steps"),
    ):
        tab.locator(f"#my-{field}").fill(value)
        tab.locator("#my-epsilon .says", has_text=answer).wait_for()
        tab.locator(f"#my-{field}").fill("2")
