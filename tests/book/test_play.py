"""Figures with controls, and the form of "What is my epsilon?"

What the browser shows is what the package says, and by keyboard, without
scripts and on a phone nobody is kept out.
"""

import json
import math
import random
import re

import play
import pytest
from home import codes_of
from nbformat.v4 import new_code_cell, new_output
from notebook import notebooks
from playwright.sync_api import sync_playwright

import accountlib as al
from tests import ROOT
from tests.book.browser import CHROMIUM, need_chromium

HTML = ROOT / "build" / "html"
FORM = "notebooks/my_epsilon"
WRONG: list[str] = []  # in the tab that all tests share
LABELS = """
(figure) => [...document.querySelectorAll(`#${figure} .sheet text`)].map(
  (text) => parseFloat(getComputedStyle(text).fontSize)
    * Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b))
"""


def figures():
    """All figures with controls: their page, name and data."""
    for page in notebooks():
        if '"play-fig-' in page.read_text("utf-8"):
            name = str(page.relative_to(ROOT).with_suffix(""))
            for figure, text in play.played(codes_of(page)):
                if figure.startswith("fig-"):
                    yield name, figure, json.loads(text)


FIGURES = list(figures())
NAMES = [figure for _, figure, _ in FIGURES]


@pytest.fixture(scope="module")
def chromium():
    need_chromium("nobody plays with the figures")
    with sync_playwright() as start:
        running = start.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield running
        running.close()


@pytest.fixture(scope="module")
def tab(chromium):
    """A phone in which nothing may go wrong or leave the machine."""
    tab = chromium.new_page(viewport={"width": 360, "height": 740})
    tab.on("pageerror", lambda error: WRONG.append(str(error)))
    tab.on("request", lambda request: WRONG.append(request.url))
    return tab


def went_wrong():
    """Errors of scripts, and what was asked of another machine."""
    return [x for x in WRONG if not x.startswith(("file:", "data:"))]


def number_of(data, position):
    """Which of the frames stands at a position of the controls."""
    number = 0
    for control, at in zip(data["controls"], position, strict=True):
        number = number * len(control["values"]) + at
    return number


def address(page):
    return (HTML / f"{page}.html").as_uri()


def test_data_of_cells_are_found_and_cannot_end_a_script():
    text = json.dumps({"says": ["</script>"], "frames": [0.1]})
    record = {play.RECORD: repr(text), "text/html": "x"}
    about = {"scrapbook": {"name": "play-fig-a"}}
    outputs = [
        new_output("display_data", record, metadata=about),
        new_output("display_data", record),
        new_output("stream", text="7"),
    ]
    cells = [new_code_cell("glue()", outputs=outputs), new_code_cell("x = 1")]
    assert dict(play.played(cells)) == {"fig-a": text}
    inside = play.inside_page(text)
    assert "</" not in inside and json.loads(inside) == json.loads(text)
    assert play.script_of("fig-a") == "play.js"
    assert play.script_of("my-epsilon") == "my-epsilon.js"


@pytest.mark.parametrize("page, figure, data", FIGURES, ids=NAMES)
def test_each_position_of_the_controls_has_its_picture(page, figure, data):
    number = math.prod(len(x["values"]) for x in data["controls"])
    assert len(data["frames"]) == len(data["says"]) == number
    for frame in data["frames"]:
        assert len(frame) == len(data["series"])
        for shown, one in zip(frame, data["series"], strict=True):
            if shown and one["kind"] != "rule":
                assert len({len(x) for x in shown}) == 1
                assert all(math.isfinite(x) for xs in shown for x in xs)
    html = (HTML / f"{page}.html").read_text("utf-8")
    assert f'<figure class="align-default" id="{figure}">' in html


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("page, figure, data", FIGURES, ids=NAMES)
def test_a_figure_is_played_by_keyboard(tab, page, figure, data):
    WRONG.clear()
    tab.goto(address(page))
    place = tab.locator(f"#{figure}")
    assert place.locator("svg.figure").is_hidden()
    position = [x["start"] for x in data["controls"]]
    said = place.locator("[aria-live=polite]")
    shown = place.locator(".sheet")
    for k, control in enumerate(data["controls"]):
        name = control["name"]
        before, old = shown.inner_html(), number_of(data, position)
        place.get_by_label(name, exact=True).focus()
        key = "ArrowLeft" if position[k] else "ArrowRight"
        if control.get("choice"):
            key = key.replace("Left", "Up").replace("Right", "Down")
        tab.keyboard.press(key)
        position[k] += -1 if position[k] else 1
        new = number_of(data, position)
        assert said.inner_text() == data["says"][new], name
        same = data["frames"][new] == data["frames"][old]
        assert (shown.inner_html() == before) == same
    assert min(tab.evaluate(LABELS, figure)) >= 9
    box = place.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 360
    assert not went_wrong()


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("page", sorted({page for page, _, _ in FIGURES}))
def test_without_scripts_the_figure_stands(chromium, page):
    context = chromium.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address(page))
    for here, figure, _ in FIGURES:
        if here == page:
            assert tab.locator(f"#{figure} svg.figure").is_visible()
            assert not tab.locator(f"#{figure} .play").count()
    context.close()


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("page, figure, data", FIGURES, ids=NAMES)
def test_on_paper_the_figure_stands(tab, page, figure, data):
    tab.goto(address(page))
    tab.emulate_media(media="print")
    assert tab.locator(f"#{figure} svg.figure").is_visible()
    assert tab.locator(f"#{figure} .play").is_hidden()
    tab.emulate_media(media="screen")


# --- What is my epsilon?


def question(rng):
    """A question for the form, and the same for the package."""
    noise = round(math.exp(rng.uniform(math.log(0.5), math.log(8))), 2)
    rate = float(f"{10 ** rng.uniform(-4, -0.3):.2g}")
    steps = round(10 ** rng.uniform(0, 4))
    kind = rng.choice(["poisson", "fixed", "full", "allocation"])
    neighbours = ["add-or-remove", "remove", "add"]
    if kind in ("poisson", "full"):
        neighbours += ["substitute", "zero-out"]
    asked = {
        "sampler": kind,
        "adjacency": rng.choice(neighbours),
        "noise": noise,
        "delta": 10.0 ** -rng.randint(2, 11),
        "rate": rate,
        "steps": min(steps, 20) if kind == "full" else steps,
        "batch": max(1, round(1e5 * rate)),
        "records": 100_000,
        "slots": rng.randint(1, 300),
        "epochs": rng.randint(1, 10),
    }
    sampling, count = {
        "poisson": (al.Poisson(rate), asked["steps"]),
        "fixed": (al.FixedBatch(asked["batch"], 100_000), asked["steps"]),
        "full": (al.FullBatch(), asked["steps"]),
        "allocation": (al.RandomAllocation(asked["slots"]), asked["epochs"]),
    }[kind]
    return asked, al.Release(al.Gaussian(noise), sampling, count=count)


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("seed", range(60))
def test_the_form_has_the_truth_inside(tab, seed):
    asked, run = question(random.Random(seed))
    if tab.url != address(FORM):
        tab.goto(address(FORM))
    low, high = tab.evaluate(
        "(asked) => document.getElementById('my-epsilon').interval(asked)"
        ".map((x) => x === Infinity ? 1e300 : x)",
        asked,
    )
    found = al.epsilon(run, delta=asked["delta"], adjacency=asked["adjacency"])
    assert low <= found.upper and found.lower <= high
    # Narrower than the engine it may not be, but for the engine's gaps.
    assert low <= found.lower * (1 + 1e-3) + 1e-9
    assert found.upper <= high * (1 + 1e-3) + 1e-9
    if found.upper < 45:
        assert high - low <= 0.13 * found.upper + 1e-3


def test_the_form_answers_by_keyboard(tab):
    WRONG.clear()
    tab.goto(address(FORM))
    form = tab.locator("#my-epsilon")
    said = form.locator("[aria-live=polite]")
    assert said.inner_text().startswith("Epsilon lies between 0.94")
    tab.get_by_label("noise multiplier").first.focus()
    tab.keyboard.press("Control+a")
    tab.keyboard.type("2")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.id") == "my-rate"
    tab.wait_for_function(
        "document.querySelector('#my-epsilon code').innerText"
        ".includes('Gaussian(2)')"
    )
    low, high = map(float, re.findall(r"\d\.\d+", said.inner_text())[:2])
    run = al.Release(al.Gaussian(2.0), al.Poisson(0.001), count=10_000)
    found = al.epsilon(run, delta=1e-6, adjacency="add-or-remove")
    assert low <= found.lower <= found.upper <= high < 1.05 * low
    printed: list[al.Bound] = []
    exec(form.locator("code").inner_text(), {"print": printed.append})
    assert printed == [found]
    form.get_by_label("sampling", exact=True).focus()
    tab.keyboard.press("ArrowDown")
    tab.wait_for_function(
        "document.querySelector('#my-epsilon code').innerText"
        ".includes('FixedBatch(100, 100000)')"
    )
    assert tab.get_by_label("records in a batch").is_visible()
    assert not tab.get_by_label("sampling rate").is_visible()
    assert not went_wrong()


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    "field, value, said",
    [
        ("noise", "0", "a value from 0.25 to 50 as noise multiplier"),
        ("steps", "1.5", "a whole number from 1 to 1000000 as steps"),
        ("rate", "", "as sampling rate"),
        ("noise", "0.3", "Epsilon lies between"),
    ],
)
def test_the_form_says_what_it_cannot_do(tab, field, value, said):
    tab.goto(address(FORM))
    tab.locator(f"#my-{field}").fill(value)
    tab.locator("#my-epsilon .says", has_text=said).wait_for()


def test_far_out_the_form_gives_a_lower_end_only(tab):
    tab.goto(address(FORM))
    tab.locator("#my-rate").fill("0.9")
    said = tab.locator("#my-epsilon .says", has_text="at least 50")
    said.wait_for()
    assert "Python has one" in said.inner_text()


def test_without_scripts_the_page_says_what_to_ask(chromium):
    context = chromium.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address(FORM))
    assert "al.epsilon(run" in tab.locator("#my-epsilon").inner_text()
    context.close()
