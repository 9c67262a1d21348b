"""A browser for the tests of pages; it opens them as files."""

import os
import shutil

import pytest
from playwright.sync_api import sync_playwright

from tests.book.built import HTML

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
DESKTOP = {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM:
        if os.environ.get("ACCOUNTLIB_REQUIRE_BROWSER") == "1":
            pytest.fail("NO CHROMIUM FOUND")
        pytest.skip("NO CHROMIUM FOUND: nobody looks at the pages")
    with sync_playwright() as play:
        options = ["--no-sandbox", "--disable-gpu"]
        started = play.chromium.launch(executable_path=CHROMIUM, args=options)
        yield started
        started.close()


@pytest.fixture
def tab(browser):
    """A tab; a test passes only if nothing goes wrong in it."""
    troubles = []
    page = browser.new_page(viewport=DESKTOP, color_scheme="light")

    def only_here(route):
        if route.request.url.startswith(("file:", "data:", "blob:")):
            route.continue_()
        else:
            troubles.append(f"asked for {route.request.url}")
            route.abort()

    def console(message):
        if message.type in ("error", "warning"):
            troubles.append(message.text)

    page.route("**/*", only_here)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", console)
    yield page
    page.close()
    assert not troubles


def address(page):
    return (HTML / page).as_uri()
