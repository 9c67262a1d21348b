"""Tests: the folders are those of the package, and three more.

published   what papers print, a file for each
book        the pages, the tools, the wheel, the errata
course      the assignments, and what marks them

What answers are held against stands beside the tests: `exact_*.py`,
`fifty_digits.py` and `truth.py`. Long tests of the book run `in_turn`
(conftest.py); with `ACCOUNTLIB_ALL=1` in the environment they run all.
"""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
ALL = os.environ.get("ACCOUNTLIB_ALL") == "1"
MORE = 2 if os.environ.get("CI") else 1  # times as much, on the server
