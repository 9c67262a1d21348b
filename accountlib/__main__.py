# Generated from the notebooks by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

"""Privacy accounting with certified bounds, from a shell."""

import argparse
import sys

from .source import source_parser

COMMANDS = {"source": source_parser}


def main() -> int:
    """Run the command that the arguments name."""
    parser = argparse.ArgumentParser("python -m accountlib", None, __doc__)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, parser_of in COMMANDS.items():
        own = parser_of()
        about = own.description
        commands.add_parser(name, parents=[own], help=about, description=about)
    options = parser.parse_args()
    return int(options.run(options))


if __name__ == "__main__":
    sys.exit(main())
