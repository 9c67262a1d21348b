"""The pages that `make book` builds, as they stand in build/html."""

import yaml

from tests import ROOT

HTML = ROOT / "build" / "html"
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
# The pages of the book; the search page and the index are the theme's.
PAGES = [f"{TOC['root']}.html"] + [
    f"{entry['file']}.html"
    for part in TOC["parts"]
    for entry in part["chapters"]
]
