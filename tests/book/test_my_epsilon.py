"""The calculator of "What is my epsilon?" against the engine, and by hand."""

import math
import random
import re
import secrets
import statistics

import accountlib as al
from tests.book.conftest import address

FORM = "notebooks/my_epsilon.html"

SAMPLERS = ["poisson"] * 25 + ["fixed"] * 4 + ["allocation", "shuffled"]
NEIGHBOURS = "add-or-remove", "substitute", "zero-out"
HARD = [  # wrong without what cuts lose, splits, roundings, the spliced atom
    ("poisson", "add-or-remove", 1.0, 1.0, 1024, 1e-30),
    ("poisson", "add-or-remove", 1.0, 1.0, 2, 1e-5),
    ("poisson", "add-or-remove", 1000.0, 1e-8, 10**7, 1e-9),
    ("fixed", "substitute", 1.0, 0.01, 100, 1e-5),
]
KEYS = "sampler", "adjacency", "noise", "rate", "steps", "delta"
ASK = """
(all) => all.map((asked) => {
  const [, low, high] = accountant()(asked);
  return [low, high === Infinity ? 1e300 : high];
})
"""


def question(rng):
    """A question for the calculator, and the same for the package."""

    def power(low, high):
        return 10 ** rng.uniform(math.log10(low), math.log10(high))

    sampler, adjacency = rng.choice(SAMPLERS), rng.choice(NEIGHBOURS)
    if sampler == "allocation":
        adjacency = "add-or-remove"
    if sampler == "shuffled":
        adjacency = rng.choice(NEIGHBOURS[1:])
    noise = float(f"{power(0.4, 40):.3g}")
    batch, steps = round(power(1, 5e5)), round(power(1, 30_000))
    if rng.random() < 0.2 and sampler == "poisson":
        batch, steps = 1_000_000, min(steps, 100)
    rate = batch / 1_000_000
    slots, epochs = rng.randint(2, 100), rng.randint(1, 20)
    sampling, count = {
        "poisson": (al.Poisson(rate), steps),
        "fixed": (al.ZeroedBatch(batch, 1_000_000), steps),
        "allocation": (al.RandomAllocation(slots), epochs),
        "shuffled": (al.ShuffledEpochs(slots), epochs),
    }[sampler]
    asked = {
        "sampler": sampler,
        "adjacency": adjacency,
        "noise": noise,
        "rate": rate,
        "steps": steps,
        "epochs": epochs,
        "slots": slots if sampler in SAMPLERS[-2:] else 0,
        "delta": float(f"{power(1e-12, 1e-2):.2g}"),
    }
    return asked, al.Release(al.Gaussian(noise), sampling, count=count)


def test_the_truth_is_inside(tab):
    tab.goto(address(FORM))
    seed = secrets.randbits(32)
    rng = random.Random(seed)
    questions = [question(rng) for _ in range(196)]
    for hard in HARD:
        asked = dict(zip(KEYS, hard, strict=True))
        rate = asked["rate"]
        one = al.Poisson(rate)
        if asked["sampler"] == "fixed":
            one = al.FixedBatch(round(rate * 1e6), 10**6)
        run = al.Release(al.Gaussian(asked["noise"]), one, asked["steps"])
        questions.append((asked, run))
    widths = []
    for some in (questions[i : i + 50] for i in range(0, 200, 50)):
        answers = tab.evaluate(ASK, [asked for asked, _ in some])
        for (asked, run), (low, high) in zip(some, answers, strict=True):
            known = al.epsilon(
                run,
                delta=asked["delta"],
                adjacency=asked["adjacency"],
                relative_width=1e-4,
            )
            told = seed, asked, low, high, known
            assert low <= known.upper and known.lower <= high, told
            if asked["sampler"] in ("poisson", "allocation"):
                widths.append((high - low) / (high + 1e-3))
    assert statistics.median(widths) < 1e-3, seed
    assert statistics.quantiles(widths, n=10)[-1] < 3e-3, seed


def test_the_form_answers_by_keyboard(tab):
    tab.goto(address(FORM))
    said = tab.locator("#my-epsilon .says")
    assert "epsilon is 0.9469 to 0.9475 at delta" in said.inner_text()
    tab.get_by_label("noise multiplier").first.focus()
    tab.keyboard.press("Control+a")
    tab.keyboard.type("2")
    code = tab.locator("#my-call", has_text="Gaussian(2)")
    code.wait_for()
    low, high = map(float, re.findall(r"0\.\d+", said.inner_text()))
    run = al.Release(al.Gaussian(2.0), al.Poisson(0.001), count=10_000)
    found = al.epsilon(run, delta=1e-6, adjacency="add-or-remove")
    assert low <= found.upper and found.lower <= high < 1.002 * low
    printed: list[al.Bound] = []
    exec(code.inner_text(), {"print": printed.append})
    assert printed == [found]
    tab.wait_for_function(
        "document.getElementById('my-end-1').points.length > 5"
    )
    cell = tab.locator('#my-table [data-ask="shuffled zero-out"]')
    tab.wait_for_function(
        r"x => /\d/.test(x.textContent)", arg=cell.element_handle()
    )
    assert float(cell.inner_text().split()[-1]) > high
    tab.locator("#my-sampler").select_option("shuffled")
    tab.locator("#my-epsilon .says", has_text="No finite epsilon").wait_for()
    tab.wait_for_function(
        r"x => /\d/.test(x.textContent)", arg=cell.element_handle()
    )  # what can be claimed is still beside it
    tab.locator("#my-sampler").select_option("poisson")
    for field, value, answer in (
        ("noise", "0,7", "0,7 is no number from 0.2 to 1000"),
        ("batch", "1.5", "1.5 is no whole number from 1 to 100000"),
        ("batch", "200000", "is no whole number from 1 to 100000"),
        ("epochs", "", "epochs: this is no number"),
    ):
        start = tab.locator(f"#my-{field}").input_value()
        tab.locator(f"#my-{field}").fill(value)
        tab.locator("#my-epsilon .says", has_text=answer).wait_for()
        tab.locator(f"#my-{field}").fill(start)


def test_a_question_is_kept_in_the_address(tab):
    asked = "ask=noise&target=1&by=steps&batch=256&records=60000"
    asked += "&steps=14063&delta=1e-5"
    tab.goto(f"{address(FORM)}#{asked}")
    said = tab.locator("#my-epsilon .says", has_text="With noise")
    noise = float(re.findall(r"\d\.\d+", said.inner_text())[0])
    for factor, met in ((1, True), (0.998, False)):
        run = al.Release(
            al.Gaussian(factor * noise), al.Poisson(256 / 60000), 14063
        )
        found = al.epsilon(run, delta=1e-5, adjacency="add-or-remove")
        assert (found.upper <= 1.0005) == met
    tab.locator("#my-opacus").fill("[(1.1, 0.00426, 2340), (1, 0.1, 2)]")
    tab.locator("#my-epsilon .says", has_text="One entry").wait_for()
    tab.locator("#my-opacus").fill("[(1.1, 0.00426, 2340)]")
    tab.locator("#my-call", has_text="Poisson(0.00426), count=2340").wait_for()
    assert "noise=1.1" in tab.url and "adjacency=zero-out" in tab.url
    tab.goto(f"{address(FORM)}#sampler=foo")
    tab.locator("#my-epsilon .says", has_text="a batch is: ").wait_for()
