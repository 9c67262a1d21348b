"""Sphinx settings: _config.yml, and what Jupyter Book 1 would add to it."""

import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import execute  # noqa: E402  # from tools/, put on the path above

settings = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
project = html_title = settings["title"]
author = settings["author"]
licences = "text CC BY 4.0, code Apache-2.0"
copyright = f"{settings['copyright']}, {author}; {licences}"

extensions = [
    "myst_nb",
    "sphinx_external_toc",
    "sphinxcontrib.bibtex",
    "sphinx_copybutton",
    "sphinx_togglebutton",
    "pages",  # from tools/
    *settings["sphinx"]["extra_extensions"],
]
globals().update(settings["sphinx"]["config"])

external_toc_path = str(ROOT / "_toc.yml")
external_toc_exclude_missing = settings["only_build_toc_files"]
exclude_patterns = [".*", "build", "tests", "tools", "accountlib"]
bibtex_bibfiles = [str(ROOT / path) for path in settings["bibtex_bibfiles"]]

myst_enable_extensions = settings["parse"]["myst_enable_extensions"]
nb_execution_mode = settings["execute"]["execute_notebooks"]
nb_execution_timeout = settings["execute"]["timeout"]
nb_execution_cache_path = str(execute.FOLDER)
nb_execution_show_tb = True

html_theme = "sphinx_book_theme"
html_theme_options = {
    **settings["html"],
    "use_download_button": True,
    "use_fullscreen_button": False,
    "navbar_persistent": [],  # one search box is enough
    "show_navbar_depth": 0,  # parts are folded, but the reader's own
    "show_toc_level": 2,
}
html_context = {"default_mode": "auto"}
html_sourcelink_suffix = ""
html_static_path = ["_static"]
html_css_files = ["book.css"]

# Formulas come from the build: the files of MathJax are taken out of an
# installed package, and no page asks a network for anything.
mathjax_path = "mathjax/tex-chtml-full.js"


def copy_mathjax(app, error):
    if error or app.builder.format != "html":
        return
    carrier = distribution("sphinx-mathjax-offline")
    start = carrier.locate_file("sphinx-mathjax-offline/static/mathjax")
    target = Path(app.outdir) / "_static" / "mathjax"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(start) / "tex-chtml-full.js", target)
    fonts = Path("output", "chtml", "fonts", "woff-v2")
    shutil.copytree(Path(start) / fonts, target / fonts, dirs_exist_ok=True)


execute.forget()


def outputs_changed(app, env, added, edited, removed):
    """Pages whose text is the same, but not what they import."""
    pages = execute.changed(Path(app.doctreedir) / "digests.json")
    names = {str(Path(x).relative_to(ROOT).with_suffix("")) for x in pages}
    return sorted(names & set(env.found_docs))


def setup(app):
    app.connect("build-finished", copy_mathjax)
    app.connect("env-get-outdated", outputs_changed)
