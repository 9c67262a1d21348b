"""Each entry of the reference as one file to copy: tools/copies.py.

`make book` builds the pages.
"""

import json

import pytest
from playwright.sync_api import expect

import accountlib as al
from accountlib.source import source_file
from tests.book.browser import OVERFLOW, PHONE
from tests.book.built import HTML, soup

API = "book/api.html"
NAME = "hockey_stick"
READ = "navigator.clipboard.readText()"
# A page that was not sent safely has no clipboard; the test may look into it.
NO_CLIPBOARD = """
() => {
  const readText = navigator.clipboard.readText.bind(navigator.clipboard);
  Object.defineProperty(navigator, "clipboard", { value: { readText } });
}
"""


@pytest.fixture
def page(tab, server):
    """The reference, in a tab that may use the clipboard."""
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.goto(f"{server}/{API}")
    tab.evaluate("navigator.clipboard.writeText('nothing')")
    return tab


def button(page, name=NAME):
    return page.get_by_role(
        "button", name=f"Copy as one file: {name}", exact=True
    )


def said(page, name=NAME):
    return page.locator(f'p:has([href$="/{name}.py"]) [role=status]')


@pytest.mark.parametrize("name", al.__all__)
def test_every_entry_has_its_file(name):
    text = source_file(name)
    body = soup(API).find(id=f"accountlib.{name}").find_next_sibling("dd")
    (line,) = body.select(":scope > .one-file")
    assert f"{len(text.splitlines()):,} lines" in line.get_text()
    assert line.a["href"] == f"../copies/{name}.py"
    assert line.a.has_attr("download")
    file = HTML / "copies" / f"{name}.py"
    assert file.read_text("utf-8") == text
    script = file.with_suffix(".js").read_text("utf-8")
    start, sign, value = script.partition(" = ")
    assert start == "document.currentScript.file"
    assert json.loads(value.rstrip().rstrip(";")) == text


def test_only_the_reference_has_buttons():
    others = ("book/names.html", "notebooks/worst_cases/divergences.html")
    assert soup(API).select("script[src*='copy.js']")
    for other in others:
        assert not soup(other).select(".one-file, script[src*='copy.js']")
    taken_home = (HTML / "home" / "book" / "api.md").read_text("utf-8")
    assert "Copy as one file" not in taken_home


def test_a_click_copies_the_file(page):
    expect(said(page)).to_be_empty()
    button(page).click()
    expect(said(page)).to_have_text("Copied", timeout=20_000)
    assert page.evaluate(READ) == source_file(NAME)
    button(page, "Bound").click()
    expect(said(page, "Bound")).to_have_text("Copied", timeout=20_000)
    expect(said(page)).to_be_empty()
    assert page.evaluate(READ) == source_file("Bound")
    page.emulate_media(media="print")
    expect(button(page)).to_be_hidden()
    page.emulate_media(media="screen")


@pytest.mark.in_turn(5)
def test_a_key_copies_it_from_a_page_on_a_disk(page):
    page.goto((HTML / API).as_uri())
    button(page).focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    expect(button(page)).to_be_focused()
    expect(button(page)).to_have_css("outline-style", "solid")
    page.keyboard.press("Enter")
    expect(said(page)).to_have_text("Copied", timeout=20_000)
    assert page.evaluate(READ) == source_file(NAME)


def test_it_is_copied_where_there_is_no_clipboard(page):
    page.evaluate(NO_CLIPBOARD)
    button(page).click()
    expect(said(page)).to_have_text("Copied", timeout=20_000)
    assert page.evaluate(READ) == source_file(NAME)


def test_a_page_says_that_nothing_was_copied(page, browser):
    page.route("**/copies/*.js", lambda route: route.abort())
    button(page).click()
    expect(said(page)).to_have_text("Not copied: please take the file")
    page.unroute("**/copies/*.js")
    assert page.evaluate(READ) == "nothing"
    page.set_viewport_size(PHONE)
    assert not page.evaluate(OVERFLOW)
    assert browser[1] == ["Failed to load resource: net::ERR_FAILED"]
    browser[1].clear()


def test_without_scripts_the_file_is_saved(page):
    context = page.context.browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(page.url)
    expect(plain.locator(".one-file button").first).to_be_hidden()
    with plain.expect_download() as found:
        plain.get_by_role("link", name=f"{NAME}.py", exact=True).click()
    assert found.value.suggested_filename == f"{NAME}.py"
    text = found.value.path().read_text("utf-8")
    assert text == source_file(NAME)
    context.close()
