"""The search finds the right place first, in a browser."""

import pytest

from tests.book.built import HTML, text_of

API, TERM = "book/api.html#accountlib.", "book/glossary.html#term-"
RENYI = "notebooks/renyi.html"
COMPOSITION = "notebooks/composition.html"
# What is looked for, and the places that a reader may mean.
WANTED = {
    "DP-SGD": (TERM + "DP-SGD",),
    "shuffle": (
        API + "ShuffledEpochs",
        TERM + "shuffled-epochs",
        "notebooks/beyond/shuffled_epochs.html",
    ),
    "fixed batch": (API + "FixedBatch", TERM + "fixed-batch-sampling"),
    "user-level": (TERM + "user-level-privacy",),
    "calibrate_noise": (API + "calibrate_noise",),
    "Renyi": (TERM + "Renyi-DP", RENYI, RENYI + "#def-ren-rdp"),
    "trade-off curve": (
        TERM + "trade-off-curve",
        API + "TradeoffCurve",
        API + "tradeoff_curve",
    ),
    "hockey stick": (API + "hockey_stick", TERM + "hockey-stick-divergence"),
    "subsampling": (
        TERM + "subsampling",
        TERM + "amplification-by-subsampling",
    ),
    "group privacy": (TERM + "group-privacy",),
    "epsilon": (API + "epsilon",),
    "moments accountant": (TERM + "moments-accountant",),
    "f-DP": (TERM + "f-DP",),
    "zCDP": (TERM + "zCDP",),
    "Poisson": (API + "Poisson", TERM + "Poisson-sampling"),
    "substitute": (TERM + "substitute",),
    "tilt": (TERM + "tilt", COMPOSITION + "#tilting"),
    "GDP": (TERM + "GDP",),
    "composition": (TERM + "composition", COMPOSITION + "#def-composition"),
}


def first_results(tab, address, term):
    tab.goto(f"{address}/search.html?q={term.replace(' ', '+')}")
    tab.wait_for_selector("#search-results li a")
    links = tab.locator("#search-results li > a")
    return [
        x.removeprefix("./")
        for x in links.evaluate_all(
            "all => all.map((link) => link.getAttribute('href'))"
        )
    ]


@pytest.mark.in_turn(8)
@pytest.mark.parametrize("term", WANTED)
def test_the_first_result_is_the_right_place(tab, server, term):
    found = first_results(tab, server, term)
    assert found[0] in WANTED[term], found[:3]
    page, _, anchor = found[0].partition("#")
    assert not anchor or f'id="{anchor}"' in text_of(page)
    about = [i for i, x in enumerate(found) if "errata" in x]
    assert not about or min(about) > 2


def test_the_search_works_without_a_server(tab):
    found = first_results(tab, HTML.as_uri(), "Renyi")
    assert found[0] in WANTED["Renyi"]


@pytest.mark.in_turn(5)
@pytest.mark.parametrize(
    "term, same",
    [("Rényi", "Renyi"), ("tradeoff curve", "trade-off curve")],
)
def test_accents_and_hyphens_do_not_matter(tab, server, term, same):
    found = first_results(tab, server, term)
    assert found[0] in WANTED[same]
    expected = first_results(tab, server, same)
    assert set(found[:6]) & set(expected[:6])


def test_nonsense_finds_nothing(tab, server):
    tab.goto(f"{server}/search.html?q=qwxzk")
    tab.wait_for_selector("#search-results .search-summary")
    tab.wait_for_function(
        "document.querySelector('.search-summary').innerText.includes('0')"
    )
    assert tab.locator("#search-results li").count() == 0
