"""Measure what the certificate assumes of this machine's arithmetic.

    python -m benchmarks.assumptions            # writes assumptions.json

With NumPy 1.26, the oldest one that we allow, it writes
assumptions-numpy-1.26.json. The page "The errors, all of them" lists the
assumptions and reads both files; `tests/whole/test_assumptions.py` measures
again, on the machine at hand. The truth is ball arithmetic (python-flint),
exact fractions and, for transforms, extended precision. All errors are in
units of u = 2^-53.
"""

from __future__ import annotations

import json
import math
import platform
from pathlib import Path

import numpy as np
import scipy
from flint import acb, arb, ctx
from scipy.fft import fft, irfft, next_fast_len, rfft

RESULTS = Path(__file__).with_suffix(".json")
OLDEST = RESULTS.with_name("assumptions-numpy-1.26.json")
UNIT = 2.0**-53
POINTS = 20_000
# What the proof counts for one call, relative to the result.
COUNTED = 4.0


def spread(rng, points, low, high):
    """Numbers of both signs, evenly in size on a logarithmic scale."""
    size = 10.0 ** rng.uniform(np.log10(low), np.log10(high), points)
    return size * rng.choice([-1, 1], points)


def arguments(rng, points):
    """Name, function of arrays, function of balls, arguments."""
    half = points // 2
    angles = np.concatenate(
        [rng.uniform(-7, 7, half), spread(rng, points - half, 1e-12, 1e6)]
    )
    exponents = np.concatenate(
        [rng.uniform(-700, 700, half), spread(rng, points - half, 1e-18, 30)]
    )
    numbers = np.concatenate(
        [
            10.0 ** rng.uniform(-300, 300, half),
            1 + spread(rng, points - half, 1e-15, 0.5),
        ]
    )
    shifts = np.concatenate(
        [
            spread(rng, half, 1e-18, 0.999),
            10.0 ** rng.uniform(-3, 6, points - half),
        ]
    )
    yield "exp", np.exp, lambda x: x.exp(), exponents
    yield "expm1", np.expm1, lambda x: x.expm1(), exponents
    yield "log", np.log, lambda x: x.log(), numbers
    yield "log1p", np.log1p, lambda x: x.log1p(), shifts
    yield "sin", np.sin, lambda x: x.sin(), angles
    yield "cos", np.cos, lambda x: x.cos(), angles


def ball_error(values, truths):
    """Largest relative error in units of u."""
    worst = 0.0
    for value, truth in zip(values, truths, strict=True):
        error = abs(arb(float(value)) / truth - 1)
        worst = max(worst, float(error.mid()))
    return worst / UNIT


def elementary(rng, points):
    found = {}
    for name, function, ball, x in arguments(rng, points):
        truths = [ball(arb(float(v))) for v in x]
        found[name] = ball_error(function(x), truths)
        if name in ("exp", "expm1", "log", "log1p"):
            single = [getattr(math, name)(float(v)) for v in x]
            found[f"math.{name}"] = ball_error(single, truths)
    x, y = spread(rng, points, 1e-12, 1e3), spread(rng, points, 1e-12, 1e3)
    truths = [
        arb.atan2(arb(float(b)), arb(float(a)))
        for a, b in zip(x, y, strict=True)
    ]
    found["arctan2"] = ball_error(np.arctan2(y, x), truths)
    truths = [
        (arb(float(a)) ** 2 + arb(float(b)) ** 2).sqrt()
        for a, b in zip(x, y, strict=True)
    ]
    found["hypot"] = ball_error(np.hypot(x, y), truths)
    return found


def complex_calls(rng, points):
    """Functions of complex numbers, in u of their size; 16 are counted."""
    x, y = (
        spread(rng, points, 1e-12, 1e2) + 1j * spread(rng, points, 1e-12, 1e2)
        for _ in range(2)
    )
    first, second = ([acb(v.real, v.imag) for v in z] for z in (x, y))
    pairs = list(zip(first, second, strict=True))
    found = {
        "exp": (np.exp(x), [a.exp() for a in first]),
        "product": (x * y, [a * b for a, b in pairs]),
        "quotient": (x / y, [a / b for a, b in pairs]),
    }
    for name, (values, truths) in found.items():
        found[name] = max(
            float(abs((acb(v.real, v.imag) - t) / t).mid()) / UNIT
            for v, t in zip(values, truths, strict=True)
        )
    return found


def sums(rng, points):
    """np.sum of positive numbers, relative; counted: 16 + 3 + log2 n/128."""
    worst = 0.0
    for size in (100, 1000, 10 * points, 100 * points):
        for x in (
            rng.random(size),
            np.full(size, 0.1),
            10.0 ** rng.uniform(-20, 0, size),
            np.sort(rng.exponential(size=size) ** 6),
        ):
            counted = 20 + max(0.0, math.log2(size / 128))
            error = abs(float(np.sum(x)) / math.fsum(x) - 1) / UNIT
            worst = max(worst, error / counted)
    return worst


def products(rng, points):
    """Matrix products, as a part of n u times the sum of sizes."""
    worst = {"real": 0.0, "complex": 0.0}
    for inner in (4, 50, 300, 2000):
        rows = max(1, points // (100 * inner)) + 2
        for kind in worst:
            a, b = rng.normal(size=(rows, inner)), rng.normal(size=(inner, 3))
            if kind == "complex":
                a = a + 1j * rng.normal(size=a.shape)
                b = b + 1j * rng.normal(size=b.shape)
            product = a @ b
            for i in range(rows):
                for j in range(3):
                    x, y = a[i], b[:, j]
                    exact = [
                        math.fsum(part)
                        for part in exact_products(x, y, kind == "complex")
                    ]
                    error = math.hypot(
                        product[i, j].real - exact[0],
                        product[i, j].imag - exact[1],
                    )
                    size = float(np.abs(x) @ np.abs(y))
                    # A complex product is off by sqrt(5) u, and is added.
                    counted = (inner + 4) * UNIT * size
                    worst[kind] = max(worst[kind], error / counted)
    return worst


def two_products(x, y):
    """x y as sums of two floats each, without any rounding."""
    parts = []
    for v, w in zip(x.tolist(), y.tolist(), strict=True):
        parts += [v * w, dekker(v, w, v * w)]
    return parts


def dekker(v, w, p):
    """The rounding error of the product p of v and w."""
    a = 134217729.0 * v
    high_v = a - (a - v)
    b = 134217729.0 * w
    high_w = b - (b - w)
    low_v, low_w = v - high_v, w - high_w
    return (
        (high_v * high_w - p) + high_v * low_w + low_v * high_w
    ) + low_v * low_w


def exact_products(x, y, is_complex):
    if not is_complex:
        return two_products(x, y), [0.0]
    return (
        two_products(x.real, y.real) + two_products(-x.imag, y.imag),
        two_products(x.real, y.imag) + two_products(x.imag, y.real),
    )


def transforms(rng, sizes):
    """Transforms against extended precision, parts of 8 u log2 N."""
    worst = 0.0
    for size in sizes:
        for x in (
            rng.random(size),
            rng.exponential(size=size) ** 8,
            rng.normal(size=size),
            np.ones(size),
        ):
            x = x / np.sum(np.abs(x))
            counted = 8 * UNIT * math.log2(size)
            wide = x.astype(np.longdouble)
            pairs = [(rfft(x), rfft(wide))]
            pairs.append((fft(x + 0j), fft(wide + 0j)))
            # The inverse of numbers with absolute sum N.
            there = rfft(x) * size / max(1.0, float(np.abs(fft(x)).sum()))
            pairs.append(
                (irfft(there, size), irfft(there.astype("clongdouble"), size))
            )
            for short, long in pairs:
                gap = float(np.abs(long - short).max())
                worst = max(worst, gap / counted)
    return worst


def lengths(kind):
    """The lengths that are used, and those that are avoided."""
    wanted = (7, 81, 1000, 7777, 20_011, 50_000, 400_000)
    if kind == "smooth":
        return [next_fast_len(n, real=real) for n in wanted for real in (0, 1)]
    return [23_090, 2309, 10_007, 2 * 99_991]


def measure(points=POINTS, seed=4):
    """Every measurement, as plain numbers."""
    rng = np.random.default_rng(seed)
    before, ctx.prec = ctx.prec, 160
    try:
        calls = elementary(rng, points)
        of_complex = complex_calls(rng, points)
    finally:
        ctx.prec = before
    return {
        "calls": calls,
        "complex": of_complex,
        "sum": sums(rng, points),
        "products": products(rng, points),
        "transforms": transforms(rng, lengths("smooth")),
        "transforms, large primes": transforms(rng, lengths("rough")),
    }


def main():
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text("utf-8").splitlines() if cpu.exists() else []
    model = [x.split(":")[1].strip() for x in lines if x[:10] == "model name"]
    result = {
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
        "processor": (model or [platform.machine()])[0],
        "points": POINTS,
        **measure(),
    }
    text = json.dumps(result, indent=1) + "\n"
    path = OLDEST if np.__version__.startswith("1.26") else RESULTS
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
