# Generated from _toc.yml by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0
"""Beyond (tuning, audits)."""
