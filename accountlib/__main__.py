# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0
"""What `python -m accountlib verify FILE` runs: the checker, nothing else."""

import runpy
import sys

if __name__ == "__main__":
    if sys.argv[1:2] != ["verify"]:
        sys.exit("usage: python -m accountlib verify FILE")
    del sys.argv[1]
    runpy.run_module("accountlib.beyond.verify", run_name="__main__")
