"""Tests: the folders are those of the package, and four more.

published   what papers print, a file for each
whole       promises of the whole package: certified, random, golden
book        the pages, the tools, the wheel, the errata
truth       what the answers are held against; no accountlib there

A few random tests have thousands of cases, and run a share of them; long
tests run `in_turn` (conftest.py). With `ACCOUNTLIB_ALL=1` in the environment
they run all.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
ALL = os.environ.get("ACCOUNTLIB_ALL") == "1"
MORE = 2 if os.environ.get("CI") else 1  # times as much, on the server
Case = TypeVar("Case")


def share(cases: Iterable[Case], part: int) -> list[Case]:
    """One case in `part`, the same ones each time, or all."""
    return list(cases)[:: 1 if ALL else part]
