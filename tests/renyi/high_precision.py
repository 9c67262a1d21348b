"""Renyi curves in high precision."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.


def close(value, known, tolerance=1e-12):
    return abs(value / known - 1) <= tolerance
