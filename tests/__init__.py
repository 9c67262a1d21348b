"""Tests: the folders are those of the package, and four more.

published   what papers print, a file for each
whole       promises of the whole package: certified, random, golden
book        the pages, the tools, the wheel, the errata
truth       what the answers are held against; no accountlib there
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
