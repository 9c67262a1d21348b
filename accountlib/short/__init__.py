# Generated from the notebooks by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0
"""Files to copy, each alone."""
