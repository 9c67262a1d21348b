"""Tests: the folders are those of the package, and three more.

published   what papers print, a file for each
book        the pages, the tools, the package, the errata
course      the assignments, and what marks them

What answers are held against stands beside the tests: `exact_*.py`,
`fifty_digits.py` and `truth.py`.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
