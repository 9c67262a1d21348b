"""A plugin of pytest: which test runs which line of the package.

With LINE_MAP in the environment: the file to write. With LINE_PLAN: a file
with a list of tests to run, in this order, and one of all known tests; a
test that is not known runs first.
"""

import json
import os
from pathlib import Path
from typing import Any

import coverage
import pytest

MAP, PLAN = os.environ.get("LINE_MAP"), os.environ.get("LINE_PLAN")
SEEN = coverage.Coverage(data_file=None, source=["accountlib"])
SECONDS: dict[str, float] = {}
FAILED: set[str] = set()


def pytest_sessionstart() -> None:
    if MAP:
        SEEN.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    if MAP:
        SEEN.switch_context(item.nodeid)
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    name = report.nodeid
    SECONDS[name] = SECONDS.get(name, 0.0) + report.duration
    if report.failed:
        FAILED.add(name)


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    if PLAN:
        wanted, known = json.loads(Path(PLAN).read_text())
        rank = {name: i for i, name in enumerate(wanted)}
        rank |= {x.nodeid: -1 for x in items if x.nodeid not in set(known)}
        items[:] = [item for item in items if item.nodeid in rank]
        items.sort(key=lambda item: rank[item.nodeid])
        config.option.maxfail = 1  # one failure is enough to catch a mutant


def module_of(file: str) -> str:
    parts = Path(file).with_suffix("").parts
    return ".".join(parts[parts.index("accountlib") + 1 :])


def pytest_sessionfinish() -> None:
    if not MAP:
        return
    SEEN.stop()
    data = SEEN.get_data()
    tests = sorted(set(SECONDS) - FAILED)
    place = {name: i for i, name in enumerate(tests)}
    lines = {
        module_of(file): {
            line: [place[name] for name in names if name in place]
            for line, names in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
    found = {"tests": tests, "seconds": SECONDS, "lines": lines}
    Path(MAP).write_text(json.dumps(found))
