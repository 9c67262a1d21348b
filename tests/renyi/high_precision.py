"""Renyi curves in high precision."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
# mypy: disable-error-code="arg-type, call-overload"


def close(value, known, tolerance=1e-12):
    return abs(value / known - 1) <= tolerance
