"""The built pages: links, figures, and what stands in code.

`make book` builds them. What a browser shows of them is in test_on_screen.py.
"""

import functools
import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests import ROOT
from tests.book.built import HTML, PAGES, soup, text_of

LABEL = re.compile(r"^\$\$ \(([\w-]+)\)$|^:label: ([\w-]+)$", re.M)


def test_there_are_pages():
    missing = [page for page in PAGES if not (HTML / page).exists()]
    assert not missing, "run `make book`"
    assert (HTML / "index.html").exists()


@functools.cache
def anchors(page):
    return {"", "top"} | {node["id"] for node in soup(page).find_all(id=True)}


@functools.cache
def is_there(file):
    return file.is_file()


@pytest.mark.parametrize("page", PAGES)
def test_internal_links_are_valid(page):
    kinds = {"a": "href", "img": "src", "link": "href"}
    links = {
        node[kinds[node.name]]
        for node in soup(page).find_all(list(kinds))
        if node.has_attr(kinds[node.name])
    }
    assert links
    folder = (HTML / page).parent
    dead = []
    for text in sorted(links):
        link = urlsplit(text)
        if link.scheme or link.netloc:
            continue
        target = HTML / page
        if link.path:
            target = Path(os.path.normpath(folder / unquote(link.path)))
        if not is_there(target):
            dead.append(text)
        elif link.fragment and target.suffix == ".html":
            there = str(target.relative_to(HTML))
            if unquote(link.fragment) not in anchors(there):
                dead.append(text)
    assert not dead


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_loaded_from_outside(page):
    loads = soup(page).find_all(["script", "img", "iframe", "source", "video"])
    links = [
        node["href"]
        for node in soup(page).find_all("link", href=True)
        if {"stylesheet", "preload", "icon"} & set(node.get("rel", []))
    ]
    sources = [node["src"] for node in loads if node.has_attr("src")] + links
    assert sources
    assert not [url for url in sources if urlsplit(url).netloc]


def test_figures_have_captions_and_alternatives():
    images = [
        (page, image)
        for page in PAGES
        for image in soup(page).article.select("img, svg.figure")
    ]
    assert images, "a book without a figure"
    for page, image in images:
        alt = (image.get("alt") or image.get("aria-label", "")).strip()
        where = f"{page}: {image.get('src') or image['data-file']}"
        # Sphinx puts the name of the file where there is no text.
        assert alt and not alt.endswith((".svg", ".png")), where
        figure = image.find_parent("figure")
        assert figure and figure.get("id"), f"{where} has no name"
        caption = figure.find("figcaption")
        assert caption and len(caption.get_text(strip=True)) > 10, where


def test_code_shows_numbers_of_equations_and_no_labels():
    labels = {
        first or second
        for page in PAGES
        for first, second in LABEL.findall(
            (ROOT / page).with_suffix(".md").read_text("utf-8")
        )
    }
    assert len(labels) > 100
    for page in PAGES:
        for code in re.findall(r"<pre>.*?</pre>", text_of(page), re.S):
            inside = set(re.findall(r"\(([\w-]+-[\w-]+)\)", code))
            assert not inside & labels, page
