"""Pages to take home run outside a clone, with accountlib alone.

`make book` writes them. `HOME_PAGES=all` in the environment runs all pages
here, which takes ten minutes; else three run.
"""

import os
import random
import re
import shutil
from types import SimpleNamespace
from typing import Any

import home
import jupytext
import nbclient
import nbformat
import pytest
from markdown import article_of, blocks
from nbformat.v4 import new_code_cell, new_output
from notebook import notebooks

from tests import ROOT
from tests.book.built import HTML

TAKEN = HTML / home.FOLDER
PAGES = [
    home.place_of(str(page.relative_to(ROOT).with_suffix("")))
    for page in notebooks()
]
SOME = ["rounding", *random.Random(16).sample(PAGES, 2)]
MYST = re.compile(r"\{[a-z:]+\}`|^:::|^```\{|^\([\w-]+\)=$|\\[([]", re.M)
CELL = """<div class="cell tag_export"><div class="cell_input"><pre>{code}
</pre></div><div class="cell_output">{output}</div></div>"""


def text_of(html):
    return "\n\n".join(map(str, blocks(article_of(html))))


@pytest.mark.parametrize(
    "html, text",
    [
        ("<h2>1. Two<a class='headerlink'>#</a></h2>", "## 1. Two"),
        ("<p>a * b_c _d $5 &lt; <em>e</em></p>", r"a \* b_c \_d \$5 &lt; *e*"),
        ("<p>2. Not a list</p>", r"2\. Not a list"),
        ("<p># no title</p>", r"\# no title"),
        ("<p><code><span>x|y</span></code></p>", "`x|y`"),
        ("<p><a href='b.html#c'>One call</a></p>", "One call"),
        ("<p><a href='https://a.b/'>A</a></p>", "[A](https://a.b/)"),
        (r"<p><span class='math'>\(a_b &lt; c\)</span></p>", "$a_b < c$"),
        (
            r'<p><span class="math"><mjx-container data-tex="\(a\)"><b>a'
            "</b></mjx-container></span></p>",
            "$a$",
        ),
        (
            "<div class='math'><span class='eqno'>(1.2)<a class='headerlink'>#"
            r"</a></span>\[x = 1\]</div>",
            "$$\nx = 1 \\tag{1.2}\n$$",
        ),
        (
            "<ul><li><p>a</p><pre>b\nc\n</pre></li><li><p>d</p></li></ul>",
            "* a\n\n  ```\n  b\n  c\n  ```\n* d",
        ),
        (
            "<table><tr><th>a</th><th>b</th></tr><tr><td><p><span "
            r"class='math'>\(x|y\)</span> | z</p></td><td>c</td></tr></table>",
            "| a | b |\n| --- | --- |\n| $x\\vert{}y$ \\| z | c |",
        ),
        ("<dl><dt>a</dt><dt>b</dt><dd><p>c</p></dd></dl>", "**a, b**\n\nc"),
        (
            "<dl><dt class='sig'>f(<dl><dd>x: int,</dd> <dd>*,</dd> "
            "<dd>y=1,</dd></dl> ) → int</dt><dd><p>c</p></dd></dl>",
            "`f(x: int, *, y=1) → int`\n\nc",
        ),
        (
            "<div class='proof admonition'><p class='admonition-title'>"
            "Theorem 1</p><section><p>True.</p></section></div>",
            "<blockquote>\n\n**Theorem 1**\n\nTrue.\n\n</blockquote>",
        ),
    ],
)
def test_a_built_page_becomes_markdown(html, text):
    assert text_of(html) == text


def test_a_cell_inside_a_solution_stands_between_its_texts():
    html = (
        "<div class='solution admonition'><p class='admonition-title'>So</p>"
        "<p>a</p><div class='cell'>x</div><p>b</p></div>"
    )
    found = list(blocks(article_of(html)))
    assert [getattr(x, "name", x) for x in found] == [
        "<details><summary>So</summary>\n\na\n\n</details>",
        "div",
        "<details><summary>So</summary>\n\nb\n\n</details>",
    ]


def test_code_at_home_needs_no_file_of_the_repository():
    code = (
        "from myst_nb import glue\nimport math\n"
        'plt.style.use("../../book/figures.mplstyle")\n'
        'x = Path("../../benchmarks/ordinary.json")\n'
        'y = Path("../data") / "directions.csv"'
    )
    assert home.at_home(code) == (
        "import math\nplt.style.use(STYLE)\n"
        f'x = Path("{home.DATA}/ordinary.json")\n'
        f'y = Path("{home.DATA}") / "directions.csv"'
    )
    found = home.data_files(home.at_home(code))
    assert [x.name for x in found] == ["ordinary.json", "directions.csv"]
    assert home.set_up("x = 1") == ""


def test_the_style_is_that_of_the_book():
    import matplotlib
    import matplotlib.pyplot as plt

    names: dict[str, dict[str, str]] = {}
    exec(home.set_up("plt.style.use(STYLE)"), names)
    with plt.style.context(str(home.STYLE)):
        book = dict(matplotlib.rcParams)
    with plt.style.context(names["STYLE"]):
        assert dict(matplotlib.rcParams) == book


def test_data_come_back_to_the_last_byte(tmp_path, monkeypatch):
    file = ROOT / "benchmarks" / "ordinary.json"
    monkeypatch.chdir(tmp_path)
    exec(home.unpacking([file]), {})
    copy = tmp_path / home.DATA / file.name
    assert copy.read_bytes() == file.read_bytes()


def test_a_page_becomes_a_notebook():
    code = "from myst_nb import glue\nimport mpmath\nglue('a', 1)"
    output = new_output("stream", text="7")
    cell = new_code_cell(code, outputs=[output], execution_count=3)
    cell.metadata.tags = ["export", "hide-input"]
    hidden = new_code_cell(
        "b = 1  # (x-y)", metadata={"tags": ["remove-cell"]}
    )
    page = (
        "<h1>T</h1><p>Why <a href='bibliography.html#id1'>[1]</a>?</p>"
        + CELL.format(
            code=code,
            output="<figure><figcaption>Fig. 1</figcaption></figure>",
        )
        + "<h2>More</h2>"
    )
    made = home.files_of(page, [hidden, cell], {"id1": "A. Title. 2000."})
    book = nbformat.reads(made[".ipynb"], 4)
    nbformat.validate(book)
    start, set_up, text, before, run, caption, more, works = book.cells
    assert f"%pip install accountlib=={home.version()} mpmath" in start.source
    assert "CC BY 4.0" in start.source and "Apache-2.0" in start.source
    assert "def glue" in set_up.source
    assert text.source == "# T\n\nWhy [1]?"
    assert before.source == "b = 1  # (x-y)"
    assert before.metadata.jupyter.source_hidden
    assert run.source == "import mpmath\nglue('a', 1)"
    assert run.outputs[0].text == "7" and run.metadata.tags == ["export"]
    assert caption.source == "*Fig. 1*" and more.source == "## More"
    assert works.source == "## Works cited\n\n* A. Title. 2000."
    bare = nbformat.reads(made["-to-run.ipynb"], 4)
    assert not any(x.get("outputs") for x in bare.cells)
    assert jupytext.reads(made[".md"], "md").cells[4].source == run.source


def test_another_cell_in_the_place_is_an_error():
    cell = new_code_cell("a = 1")
    page = CELL.format(code="b = 1", output="")
    with pytest.raises(ValueError, match="another cell"):
        home.files_of(page, [cell], {})
    with pytest.raises(ValueError, match="has no cell 'a = 1'"):
        home.files_of("<p>a</p>", [cell], {})
    with pytest.raises(ValueError, match="more cells than were run"):
        home.files_of(CELL.format(code="a = 1", output="") * 2, [cell], {})


def test_notebook_services_need_a_public_home():
    services = {
        "binderhub_url": "https://mybinder.org",
        "colab_url": "https://colab.research.google.com/",
        "jupyterlite_url": "",
        "branch": "notebooks",
    }
    settings = {"launch_buttons": services, "repository": {"url": ""}}
    assert not home.launch_links(settings, "a/b")
    assert not home.launch_links(home.settings(), "a/b"), "there is one now?"
    settings["repository"] = {"url": "https://github.com/who/what"}
    assert home.launch_links(settings, "a/b") == {
        "Binder": "https://mybinder.org/v2/gh/who/what/notebooks"
        "?urlpath=lab/tree/a/b-to-run.ipynb",
        "Colab": "https://colab.research.google.com/github/who/what/blob/"
        "notebooks/a/b-to-run.ipynb",
    }
    del settings["launch_buttons"]
    assert not home.launch_links(settings, "a/b")


def test_an_edited_page_goes_home_without_outputs(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("# A\n\n```{code-cell} ipython3\nx = 1\n```\n", "utf-8")
    monkeypatch.setattr(home, "copy_of", lambda _: tmp_path / "none.ipynb")
    (cell,) = home.codes_of(page)
    assert cell.source == "x = 1" and not cell.outputs
    page.write_text("# A\n", "utf-8")
    assert home.codes_of(page) == []


def test_the_menu_of_a_page(tmp_path):
    app = SimpleNamespace(
        builder=SimpleNamespace(name="html"),
        outdir=tmp_path,
        env=SimpleNamespace(
            doc2path=lambda _: ROOT / "book" / "glossary.md",
            get_domain=lambda _: SimpleNamespace(citations=[]),
        ),
    )
    printing = {"type": "javascript", "text": ".pdf"}
    group: dict[str, Any] = {"label": "download-buttons"}
    group["buttons"] = [{"type": "link"}, printing]
    context = {
        "body": "<h1>Glossary</h1>",
        "header_buttons": [group],
        "pathto": lambda path, _: f"../{path}",
    }
    home.take_home(app, "book/glossary", "page.html", context, object())
    (link, last) = group["buttons"]
    start, _, name = link["url"].partition('" download="')
    assert start == "../home/book/glossary.md" and name == "glossary.md"
    assert last is printing
    file = tmp_path / "home" / "book" / "glossary.md"
    assert file.read_text("utf-8").endswith("# Glossary\n")
    home.write_needs(app, None)
    assert (tmp_path / "home" / "requirements.txt").read_text() == ""


def built(page, end):
    file = TAKEN / f"{page}{end}"
    if not HTML.exists():
        pytest.skip("no book is built")  # which writes the copies
    return file


@pytest.mark.parametrize("page", PAGES)
def test_a_page_can_be_taken_home(page):
    text = built(page, ".md").read_text("utf-8")
    code = re.compile(r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$", re.S)
    prose = code.sub("", text)
    assert not MYST.search(prose), MYST.search(prose)
    inside = re.search(r"\]\((?!https?:)", prose)
    assert "Text: CC BY 4.0" in text and not inside
    shown = (HTML / "notebooks" / f"{page}.html").read_text("utf-8")
    links = shown.count(f'" download="{page.split("/")[-1]}')
    assert links == 3
    assert f"%pip install accountlib=={home.version()}" in text
    book = nbformat.read(built(page, ".ipynb"), 4)
    nbformat.validate(book)
    codes = [x for x in book.cells if x.cell_type == "code"]
    assert codes and codes[-1].source
    bare = nbformat.read(built(page, "-to-run.ipynb"), 4)
    assert [x.source for x in bare.cells] == [x.source for x in book.cells]
    read = jupytext.reads(text, "md").cells
    assert [x.source for x in read if x.cell_type == "code"] == [
        x.source for x in codes
    ]


@pytest.mark.in_turn(5)
@pytest.mark.parametrize(
    "page", PAGES if os.environ.get("HOME_PAGES") == "all" else SOME
)
def test_a_page_runs_at_home(page, tmp_path, monkeypatch):
    """Outside the clone, where there is no myst_nb and no repository."""
    lib, work = tmp_path / "lib", tmp_path / "work"
    work.mkdir()
    shutil.copytree(ROOT / "accountlib", lib / "accountlib")
    (lib / "myst_nb.py").write_text("raise ImportError('not at home')\n")
    monkeypatch.setenv("PYTHONPATH", str(lib))
    book = nbformat.read(built(page, "-to-run.ipynb"), 4)
    where = {"metadata": {"path": str(work)}}
    check = "import accountlib\naccountlib.__file__"
    book.cells.append(new_code_cell(check))
    nbclient.NotebookClient(
        book, timeout=120, kernel_name="python3", resources=where
    ).execute()
    file = book.cells[-1].outputs[0]["data"]["text/plain"]
    assert str(lib) in file, "another accountlib than that of the reader"
