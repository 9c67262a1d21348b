"""The book as a PDF: what is put together, and one page as it is printed."""

import pdf
import pytest
import yaml
from bs4 import BeautifulSoup

from tests import ROOT
from tests.book.browser import need_chromium

PAGE = """<article><section id="page-a"><h1>1. A<a class="headerlink">#</a>
</h1><p><a href="#two">here</a> <a href="../book/b.html#c d">there</a>
<a href="../genindex.html">index</a> <a href="https://a.b/">out</a></p>
<div class="cell tag_export"><details><summary><p class="collapsed">Show def f,
50 lines</p><p class="expanded">Hide def f</p></summary><pre>code</pre>
</details></div><div class="cell"><details><summary>Show settings, 2 lines
</summary><pre>x</pre></details></div>
<div class="solution" id="sol">So.</div><section id="two"><h2>Two</h2>
<img src="../_images/x.png"><svg><g id="g1"/></svg></section>
</section></article>"""
# Two sheets in a tree of two levels, as Chromium writes it.
PDF = b"""%PDF-1.4
1 0 obj
<</Type /Annot
/Subtype /Link
/Dest /b--c>>
endobj
2 0 obj
<</Filter /FlateDecode
/Length 9>> stream
/Dest /no
endstream
endobj
3 0 obj
<</Type /Page
/Parent 5 0 R>>
endobj
4 0 obj
<</Type /Page
/Parent 6 0 R>>
endobj
5 0 obj
<</Type /Pages
/Count 1
/Kids [3 0 R]>>
endobj
6 0 obj
<</Type /Pages
/Count 2
/Kids [5 0 R 4 0 R]>>
endobj
7 0 obj
<</a [3 0 R /XYZ 6 835.9 0]
/b--c [4 0 R /XYZ 6 12 0]>>
endobj
"""


def test_the_pages_are_those_of_the_book():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    pages = pdf.order(toc)
    assert pages[0] == pdf.Page(toc["root"], "")
    assert [x.caption for x in pages if x.caption] == [
        part["caption"] for part in toc["parts"]
    ]
    assert len({pdf.mark(x.name) for x in pages}) == len(pages)


def test_a_page_becomes_a_part_of_a_long_one():
    known = {"part/a", "book/b"}
    page = pdf.chapter(PAGE, "part/a", known)
    assert page["id"] == "part-a" and pdf.title_of(page) == "1. A"
    links = [x["href"] for x in page.select("a")]
    assert links == ["#part-a--two", "#book-b--c_20d", "https://a.b/"]
    notes = [" ".join(x.text.split()) for x in page.select(".left-out")]
    assert notes == [
        "Not printed: def f, 50 lines, in part/a.py",
        "Not printed: settings, 2 lines, in part/a.md",
    ]
    assert not page.select("details, h1")
    names = [x["id"] for x in page.select("[id]")]
    assert names == ["part-a--page-a", "part-a--two", "g1", "part-a--sol"]
    last = page.select("h3")[-1]
    assert last.text == "Solutions"
    assert page.img and str(page.img["src"]).endswith("html/_images/x.png")


def test_contents_lead_to_pages():
    pages = [(pdf.Page("part/a", "One <call>"), "1. A & B")]
    found = BeautifulSoup(pdf.contents(pages), "html.parser")
    assert [x.text for x in found.select(".part")] == ["One <call>"]
    (link,) = found.select("a")
    assert link["href"] == "#part-a" and "1. A & B" in link.text
    assert found.select_one("[data-number=part-a]")
    rule = pdf.running_head("part-a", 'Say "yes" \\')
    assert "page: part-a" in rule and 'content: "Say ”yes” "' in rule


def test_places_in_a_pdf_are_found():
    assert pdf.sheets(PDF) == {3: 1, 4: 2}
    assert pdf.destinations(PDF) == {"a": 1, "b--c": 2}
    assert pdf.links(PDF) == {"b--c"}


@pytest.mark.in_turn(5)
def test_a_page_is_printed(tmp_path, monkeypatch):
    """Whole, with links that lead somewhere; wider than the sheet fails."""
    need_chromium("no page is printed")
    page = pdf.Page("notebooks/what_renyi_loses", "One curve, added up")
    if not (pdf.HTML / f"{page.name}.html").exists():
        pytest.skip("no book is built")  # a printed page is a built one
    monkeypatch.setattr(pdf, "TARGET", tmp_path)
    made = pdf.make([page], tmp_path / "page.pdf")
    places = pdf.destinations(made)
    assert pdf.links(made) <= places.keys()
    assert places[pdf.mark(page.name)] == 3, "after the title and contents"
    assert len(pdf.sheets(made)) > 5
    assert made.count(b"/S /H2") == 1 and b"/Outlines" in made
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "Not printed: " in text and "Solutions" in text
    wide = text.replace("</body>", "<div style='width: 800px'>x</div></body>")
    (tmp_path / "wide.html").write_text(wide, "utf-8")
    with pytest.raises(ValueError, match="wider than the sheet"):
        pdf.printed(tmp_path / "wide.html")
