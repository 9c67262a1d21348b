"""Built pages that a test has not looked at since they changed.

To look at a page in a browser takes seconds. What has passed is written down
beside the book. Where more is new than a run should take, as in a fresh clone,
the others wait for the next run.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

from tests import ALL, MORE
from tests.book import browser
from tests.book.built import HTML, PAGES

SEEN = HTML.parent / "seen"


@cache
def around(test):
    """What a look at any page depends on: styles, scripts and the test."""
    digest = hashlib.sha256(Path(browser.__file__).read_bytes())
    for path in (Path(test), *sorted((HTML / "_static").rglob("*.[cj]s*"))):
        digest.update(path.read_bytes())
    return digest.digest()


def state(page, test):
    """What a look at one page depends on."""
    text = (HTML / page).read_bytes()
    return hashlib.sha256(around(test) + text).hexdigest()


def looked_at(test):
    """The pages that passed, with their states then."""
    path = SEEN / f"{Path(test).stem}.json"
    return path, json.loads(path.read_text()) if path.exists() else {}


def unseen(test, most):
    """The first page, and at most so many new ones (on the server twice as
    many): or all."""
    if ALL or not HTML.exists():
        return PAGES
    _, known = looked_at(test)
    new = [x for x in PAGES[1:] if known.get(x) != state(x, test)]
    return PAGES[:1] + sorted(new, key=lambda x: state(x, test))[: most * MORE]


def passed(page, test):
    """Write it down."""
    path, known = looked_at(test)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(known | {page: state(page, test)}, indent=0))
