# Generated from the notebooks by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0
"""Programs: python -m accountlib NAME ARGUMENTS."""

import importlib
import sys

PROGRAMS = {"verify": "accountlib.beyond.verify"}


def main(name: str, *arguments: str) -> int:
    module = importlib.import_module(PROGRAMS[name])
    return int(module.main(list(arguments)))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
