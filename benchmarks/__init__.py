"""Comparisons and searches: see README.md."""
