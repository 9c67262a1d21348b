"""Tests: the folders are those of the package, and four more.

published   what papers print, a file for each
whole       promises of the whole package: certified, random, golden
book        the pages, the tools, the wheel, the errata
truth       what the answers are held against; no accountlib there

A few random tests have thousands of cases, and run a share of them. With
`ACCOUNTLIB_ALL=1` in the environment they run all.
"""

import hashlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
ALL = os.environ.get("ACCOUNTLIB_ALL") == "1"
Case = TypeVar("Case")


def share(cases: Iterable[Case], part: int) -> list[Case]:
    """One case in `part`, the same ones each time, or all."""
    return list(cases)[:: 1 if ALL else part]


def in_turn(cases: Iterable[Case], part: int) -> list[Case]:
    """One case in `part`, others after each change of the package, or all."""
    known = list(cases)
    return known if ALL else known[package_digest() % part :: part]


@cache
def package_digest() -> int:
    """A number that the files of the package decide."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "accountlib").rglob("*.py")):
        digest.update(path.read_bytes())
    return int.from_bytes(digest.digest()[:8])


def chosen(texts: dict[str, str], part: int) -> list[str]:
    """The names of one text in `part`, rounded up, or of all.

    Digests of the texts choose, so what changes may come to its turn.
    """
    names = list(texts)
    digests = {x: hashlib.sha256(texts[x].encode()).digest() for x in names}
    number = len(names) if ALL else -(-len(names) // part)
    first = set(sorted(names, key=digests.__getitem__)[:number])
    return [name for name in names if name in first]
