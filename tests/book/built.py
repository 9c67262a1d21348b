"""The pages that `make book` builds, as they stand in build/html."""

import functools
import re

import yaml
from bs4 import BeautifulSoup

from tests import ROOT

HTML = ROOT / "build" / "html"
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
# The pages of the book; the search page and the indexes are the theme's.
PAGES = [f"{TOC['root']}.html"] + [
    f"{entry['file']}.html"
    for part in TOC["parts"]
    for entry in part["chapters"]
]
# Formulas and drawings are most of a page, and hold no links.
INSIDE = re.compile(
    r"(<mjx-container[^>]*>).*?(</mjx-container>)"
    r'|(<svg class="figure"[^>]*>).*?(</svg>)',
    re.S,
)
# So are the colours of code.
COLOURED = re.compile(r'<span class="\w{1,3}">([^<]*)</span>')


@functools.cache
def text_of(page):
    return (HTML / page).read_text("utf-8")


@functools.cache
def soup(page):
    """A page without the colours of code, and what is inside of formulas and
    drawings."""
    text = COLOURED.sub(r"\1", INSIDE.sub(r"\1\2\3\4", text_of(page)))
    return BeautifulSoup(text, "html.parser")
