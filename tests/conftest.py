"""Long tests run a part of their cases, and others after each change.

`@pytest.mark.in_turn(4)` leaves one case in four of a test, or one run in
four of a test without cases; the server takes twice as many. What is named on
the command line with `::` runs whole, and so does all with `ACCOUNTLIB_ALL=1`
in the environment.
"""

import hashlib
from collections import Counter
from zlib import crc32

from tests import ALL, MORE, ROOT

CHANGING = ("accountlib", "book", "notebooks", "tests", "tools")


def state_of_all():
    """A number that all source files decide."""
    digest = hashlib.sha256()
    for folder in CHANGING:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".css", ".js", ".md", ".py", ".yml"):
                digest.update(path.read_bytes())
    return int.from_bytes(digest.digest()[:8])


def pytest_collection_modifyitems(config, items):
    named = any("::" in str(x) for x in config.invocation_params.args)
    marked = [x for x in items if x.get_closest_marker("in_turn")]
    if ALL or named or not marked:
        return
    state, kept = state_of_all(), []
    places: Counter[str] = Counter()
    for item in marked:
        (part,) = item.get_closest_marker("in_turn").args
        part = -(-part // MORE)
        name = item.nodeid.partition("[")[0]
        if (crc32(name.encode()) + state + places[name]) % part == 0:
            kept.append(item)
        places[name] += 1
    waiting = set(marked) - set(kept)
    config.hook.pytest_deselected(items=list(waiting))
    items[:] = [x for x in items if x not in waiting]
