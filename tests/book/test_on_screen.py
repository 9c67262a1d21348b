"""Pages in a browser: wide and narrow, light and dark, for all readers.

The browser reaches nothing but the pages, which it opens as files.
"""

import re
from importlib.resources import files

import pytest

from tests import ROOT
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
FIRST = """
(asked) => {
  const found = document.getElementById("search-results");
  found.replaceChildren();
  Search.performSearch(asked);
  return found.querySelector("li a")?.href || "nothing";
}
"""
# What people ask, shortened, each with the thread that it is from, and where
# the answer stands: labels. The glossary has words, these are sentences.
ASKED = """
how-epsilon; how is the privacy epsilon of a training calculated; SIDP 1
how-epsilon; eps for n=60000, batch_size 250, 15 epochs; tf-privacy 97
how-rdp page-conversion; what is the optimal RDP order; tf-privacy 97
how-rdp page-conversion; a better conversion from RDP to DP?; opacus 157
how-else; why do GDP and RDP give different epsilons; opacus 643
page-which-sampler; constant batch size: does the bound hold?; opacus 80
page-which-sampler; shuffled loader, Poisson accountant; opacus 128
how-accumulate; Poisson sampling not compatible with accumulation; opacus 320
how-accumulate; can I accumulate gradients by ghost clipping; opacus 683
how-accumulate; is virtual_step a step to be counted; opacus 143
how-accumulate; do microbatches change the guarantee; tf-privacy 620
how-delta; is 1e-5 a small enough delta for MNIST; tf-privacy 71
how-delta; how should one set delta?; tf-privacy 60
how-noise; get the noise multiplier from the privacy budget; tf-privacy 143
how-noise; give target_epsilon instead of sigma; opacus 155
how-best page-best-of-several; cost of hyperparameter search; tf-privacy 76
how-best page-best-of-several; epsilon of the winning trial; LeakPro 438
how-federated; q = clients per round / all clients?; google-federated 18
how-federated; epochs for client-level DP, or FL rounds; DP-FL 9
how-federated; adding up epsilon over all clients; flower 605
how-user; protect each user, not each example; fast-dp 27
how-user page-groups; neighbours differ in several data points; autodp 45
how-attacker how-audit; will DP stop membership inference; opacus 94
how-audit page-audits; the leak I measure is above epsilon; opacus 571
how-zcdp; zCDP with rho, as epsilon and delta; opendp 2005
how-classical; Gaussian formula wrong when epsilon>1; smartnoise-sdk 462
how-classical; sqrt(2 ln(1.25/delta)) for every epsilon; programming-dp 45
how-classical; Balle and Wang's Gaussian mechanism; smartnoise-core 252
how-parallel; mechanisms on parts of a partition; google-dp 379
how-budget; refuse a query that the budget cannot pay; diffprivlib 14
how-stop; halt the run as soon as the budget is exhausted; MediSwarm 593
how-stop; an if in the loop to keep epsilon below a value; CTAB-GAN+ 2
how-lora how-public; DP-SGD for GPT-2 with LoRA adapters; opacus 827
how-correlated; privacy of DP-FTRL with a tree; google-federated 30
how-correlated; stddev of banded Toeplitz (BandMF); jax-privacy 387
how-adjacency page-replace-one; bounded or unbounded DP; programming-dp 23
how-at-all; clip at a percentile, no noise: is it DP; MediSwarm 530
how-at-all; divided by the size of the actual batch; opacus 819
how-query; Laplace noise and L1 sensitivity; crypto.stackexchange
how-schedule; a scheduler for noise_multiplier; opacus 213
"""
# What was asked of the search first, and has to be found each time.
SHORT = """
how-epsilon; epsilon for my run
page-my-epsilon; epsilon calculator
how-adjacency page-replace-one; replace-one
how-events; tensorflow privacy
how-audit; membership inference
how-accumulate; gradient accumulation
how-federated; federated
how-stop; stop training when the budget is used
how-noise; noise for epsilon 3
page-which-sampler; is poisson_sampling=False private
how-lora how-public; LoRA
term-Gaussian-DP how-mu; mu
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


def test_the_search_answers_people(tab):
    tab.goto(address("search.html") + "?q=hockey+stick")
    hits = tab.locator("#search-results li a")
    hits.first.wait_for()
    links = hits.evaluate_all("links => links.map((link) => link.href)")
    assert any("divergences" in link for link in links)

    def missed(lines):
        for line in lines.strip().splitlines():
            places, asked = line.split("; ")[:2]
            first = tab.evaluate(FIRST, asked)
            if first.partition("#")[2] not in places.split():
                yield asked, first

    assert len(list(missed(ASKED))) <= 4, list(missed(ASKED))
    assert not list(missed(SHORT))
    rows = (ROOT / "notebooks" / "how_do_i.md").read_text("utf-8")
    places = tab.evaluate("ASKED.map(([, , anchor]) => anchor)")
    rows = re.findall(r"^\((how-.*)\)=\n#", rows, re.M)
    assert {f"#{row}" for row in rows} <= set(places)
