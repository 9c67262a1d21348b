"""Slides are cut out of built pages, and every one can be read and shown.

`make book` builds the pages; Chromium looks whether slides are cut off.
"""

import re

import pytest
import slides
from bs4 import BeautifulSoup
from notebook import ROOT, notebooks

from tests.book.browser import chromium

MARKED = [
    page for page in notebooks() if slides.MARK.search(page.read_text("utf-8"))
]
RAW = re.compile(r"\{[a-z:]+\}`|```|^:::|^:\w+: |^\$\$|^% ", re.M)
OUTSIDE = re.compile(r"""(?:src|href)=["'](?:\w+:)?//|url\(["']?\w+:""")
PAGE = r"""<article><section id="a-page">
<h1><span class="section-number">3. </span>A page<a
class="headerlink">#</a></h1>
<p>What is the <em>question</em>?</p>
<section id="one"><h2>One</h2>
<!-- slide 2 -->
<p>First of <span class="math">\(x\)</span>. Second <a href="b.html"><span
class="std std-ref">Page</span></a>? Third.</p>
<!-- more -->
<div class="proof theorem admonition"><p class="admonition-title">Theorem</p>
<section><p>True.</p></section></div>
<p>Only a note.</p>
<!-- slide -->
<div class="cell"><div class="cell_input"><pre><span></span><span>for</span> x:
    <span>f</span>(x)
<span>glue</span>("name", x)
</pre></div><div class="cell_output"><pre>7</pre></div></div>
<!-- slide output -->
<div class="cell"><div class="cell_input"><pre>code
</pre></div><div class="cell_output"><pre>8</pre></div></div>
<!-- slide -->
<div class="cell"><details><summary>Show</summary><div class="cell_input">
<pre>import math
</pre></div></details><div class="cell_output"><pre>9</pre></div></div>
<div class="cell"><div class="cell_input"><pre>unmarked
</pre></div></div>
<div class="exercise admonition"><p>Do it.</p></div>
<div class="solution admonition"><p>Done.</p></div>
</section>
<section id="end"><h2>Summary</h2>
<!-- slide 1 -->
<ul><li><p>One. More.</p></li><li><p>Two.</p></li></ul>
</section></section></article>"""


def text_of(nodes):
    return " | ".join(" ".join(node.text.split()) for node in nodes)


def test_a_deck_shows_what_is_marked():
    deck = slides.deck(PAGE)
    assert [slide.title for slide in deck] == ["A page", *4 * ["One"]] + [
        "Summary"
    ]
    assert [text_of(slide.blocks) for slide in deck] == [
        "What is the question?",
        r"First of \(x\). Second Page? | Theorem True.",
        "for x: f(x)7",
        "8",
        "9",
        "One.Two.",
    ]
    assert "\n    <span>f" in str(deck[2].blocks[0]), "indented"
    assert [text_of(slide.notes) for slide in deck] == [
        "",
        r"First of \(x\). Second Page? Third. | Only a note.",
        *3 * [""],
        "One. More.Two.",
    ]


def test_a_slide_shows_a_part_of_a_table():
    rows = [["what", "how", "why"], ["One.", "Two. More", "No"]]
    tags = ["th", "td"]
    table = "".join(
        "<tr>" + "".join(f"<{tag}><p>{x}</p></{tag}>" for x in row) + "</tr>"
        for tag, row in zip(tags, rows, strict=True)
    )
    page = PAGE.replace(
        "<p>Only a note.</p>",
        f"<!-- slide 1 columns 2 --><div><table>{table}</table></div>",
    )
    shown = slides.deck(page)[2]
    found = [[x.text for x in row(tags)] for row in shown.blocks[0]("tr")]
    assert found == [["what", "how"], ["One", "Two"]]
    assert not shown.notes


def test_a_deck_is_one_page():
    text = slides.written(slides.deck(PAGE), "A book")
    found = BeautifulSoup(text, "html.parser")
    assert len(found("section")) == 6, "a nested one would be a slide"
    assert found.h1 and found.h1.text == "A page"
    assert text_of(found.select(".joined")) == r"\(x\). | \(x\)."
    assert not found("a")


@pytest.mark.parametrize(
    "wrong, message",
    [
        ("<!-- slide --><p>" + 81 * "word " + "</p>", "81 words, at most 80"),
        ("<!-- slide --><pre>" + 17 * "x\n" + "</pre>", "17 lines of code"),
        ("<!-- slide --><p><img><img></p>", "2 figures, at most 1"),
        ("<!-- slide --><div class='solution'>So.</div>", "a slide shows So"),
        (
            "<!-- slide --><div class='cell'><details><pre>x\n</pre>"
            "</details></div>",
            "One: an empty slide",
        ),
    ],
)
def test_a_slide_that_nobody_can_read_is_an_error(wrong, message):
    page = PAGE.replace("<p>Only a note.</p>", wrong)
    with pytest.raises(ValueError, match=message):
        slides.deck(page)


def built(page):
    file = slides.HTML / page.relative_to(ROOT).with_suffix(".html")
    if not file.exists():
        pytest.skip("no book is built")  # a deck is cut out of a built page
    return slides.deck(file.read_text("utf-8"))


def test_two_lectures_have_slides():
    assert [x.stem for x in MARKED] == ["which_sampler", "conversion"]


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("page", MARKED, ids=lambda page: page.stem)
def test_a_lecture_has_its_slides(page):
    deck = built(page)
    assert 12 <= len(deck) <= 25
    assert deck[-1].title == "Summary"
    text = slides.written(deck, "A book")
    found = BeautifulSoup(text, "html.parser")
    assert len(found("section")) == len(deck)
    assert not OUTSIDE.search(text)
    assert not found.select(".solution, details")
    for node in found("pre"):
        node.decompose()
    assert not RAW.search(found.text)


# One pixel is for rounding. What MathJax keeps for screen readers is not seen.
CUT = """
async () => {
  await MathJax.startup.promise;
  const cut = [];
  for (let k = 0; k < Reveal.getTotalSlides(); k++) {
    Reveal.slide(k);
    const slide = Reveal.getCurrentSlide();
    for (const node of slide.querySelectorAll("*")) {
      const box = node.getBoundingClientRect();
      if (!node.closest("mjx-assistive-mml, aside") && box.width && (
        box.left < 0 || box.right > 1281 || box.bottom > 700
        || (node.tagName === "PRE" && node.scrollWidth > node.clientWidth + 1)
        || (node.tagName === "IMG" && !node.naturalWidth)))
        cut.push([k + 1, node.tagName, node.textContent.slice(0, 40)]);
    }
  }
  return cut;
}
"""


@pytest.mark.in_turn(5)
def test_no_slide_is_cut_or_asks_a_network(tmp_path, monkeypatch):
    decks = {page.stem: slides.written(built(page), "A") for page in MARKED}
    monkeypatch.setattr(slides, "TARGET", tmp_path)
    slides.copy_files()
    with chromium("nobody looks whether slides are cut") as browser:
        tab = browser.new_page(viewport={"width": 1280, "height": 720})
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        for name, text in decks.items():
            (tmp_path / f"{name}.html").write_text(text, "utf-8")
            tab.goto((tmp_path / f"{name}.html").as_uri())
            assert not tab.evaluate(CUT), name
    assert asked and all(url.startswith(tmp_path.as_uri()) for url in asked)
