"""Sphinx settings: _config.yml, and what Jupyter Book 1 would add to it."""

import sys
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import execute  # noqa: E402  # from tools/, put on the path above

settings = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
project = html_title = settings["title"]
author = settings["author"]
package = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
release = package["project"]["version"]
licences = "text CC BY 4.0, code Apache-2.0"
copyright = f"{settings['copyright']}, {author}; {licences}"

extensions = [
    "myst_nb",
    "sphinx_external_toc",
    "sphinxcontrib.bibtex",
    "sphinx_copybutton",
    "sphinx_togglebutton",
    *settings["sphinx"]["extra_extensions"],
    # from tools/
    "reference",
    "lookup",
    "play",
    "places",
    "hover",
    "pages",
    "around",
    "figures",
    "formulas",
    "styles",
    "home",  # after all that change a page
]
globals().update(settings["sphinx"]["config"])

# Signatures: short names, one argument a line where they are long.
add_module_names = False
python_use_unqualified_type_names = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 68
toc_object_entries_show_parents = "hide"

# An index of theorems by their titles is a page of the book.
html_domain_indices = False

copybutton_prompt_text = r">>> |\.\.\. "  # what is copied can run
copybutton_prompt_is_regexp = True
bibtex_tooltips = False  # tools/hover.py has them

external_toc_path = str(ROOT / "_toc.yml")
external_toc_exclude_missing = settings["only_build_toc_files"]
exclude_patterns = [".*", "build", "tests", "tools", "accountlib"]
bibtex_bibfiles = [str(ROOT / path) for path in settings["bibtex_bibfiles"]]

myst_enable_extensions = settings["parse"]["myst_enable_extensions"]
nb_execution_mode = settings["execute"]["execute_notebooks"]
nb_execution_timeout = settings["execute"]["timeout"]
nb_execution_cache_path = str(execute.FOLDER)
nb_execution_show_tb = True

home = settings["repository"]  # its buttons are there once it has an address
html_theme = "sphinx_book_theme"
html_theme_options = {
    "use_repository_button": bool(home["url"]),
    "use_issues_button": bool(home["url"]),
    "use_edit_page_button": bool(home["url"]),
    "repository_url": home["url"],
    "repository_branch": home["branch"],
    "use_download_button": True,
    "use_fullscreen_button": False,
    "navbar_persistent": [],  # one search box is enough
    "show_navbar_depth": 0,  # parts are folded, but the reader's own
    "show_toc_level": 2,
    "footer_content_items": ["edition.html"],
}
html_baseurl = settings["html"]["baseurl"]
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_sourcelink_suffix = ""
html_static_path = ["_static"]
html_css_files = ["icons.css", "book.css"]
templates_path = ["_templates"]

execute.forget()


def outputs_changed(app, env, added, edited, removed):
    """Pages whose text is the same, but not what they import."""
    pages = execute.changed(Path(app.doctreedir) / "digests.json")
    names = {str(Path(x).relative_to(ROOT).with_suffix("")) for x in pages}
    return sorted(names & set(env.found_docs))


def setup(app):
    app.connect("env-get-outdated", outputs_changed)
