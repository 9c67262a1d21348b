"""Masses of loss intervals to 40 digits."""

from __future__ import annotations

from collections.abc import Sequence

import mpmath as mp

from tests.truth.arbs import erfc


def masses(
    kind: str,
    noise: float,
    edges: Sequence[float],
    *,
    rate: float = 1.0,
    direction: str = "remove",
) -> tuple[list[mp.mpf], list[mp.mpf]]:
    """P and Q masses of the loss in (-inf, e0], (e0, e1], ..., (en, inf).

    `kind` is "gaussian" (noise = standard deviation) or "laplace" (noise =
    scale), with shift 1; `rate` is that of Poisson sampling. The losses of
    atoms are exact numbers such as 1/scale: keep edges off them, unless they
    are floats. Each mass is computed at growing precision until two
    precisions agree to 42 digits; the better one is returned.
    """
    points = [-mp.inf, *(mp.mpf(float(e)) for e in edges), mp.inf]
    pairs = [
        _agree(lambda a=a, b=b: _mass(kind, noise, a, b, rate, direction))
        for a, b in zip(points, points[1:], strict=False)
    ]
    return [p for p, _ in pairs], [q for _, q in pairs]


def labelled_masses(
    kind: str,
    parts: Sequence[tuple[float, float, float]],
    edges: Sequence[float],
    *,
    direction: str = "remove",
) -> tuple[list[mp.mpf], list[mp.mpf]]:
    """The same for one of several pairs, drawn at random and told.

    `parts` lists the weight, the noise and the rate of each.
    """
    found = [
        (weight, masses(kind, noise, edges, rate=rate, direction=direction))
        for weight, noise, rate in parts
    ]
    with mp.workdps(60):
        p, q = (
            [
                mp.fsum(mp.mpf(weight) * one[side][k] for weight, one in found)
                for k in range(len(edges) + 1)
            ]
            for side in (0, 1)
        )
    return p, q


def _agree(function):
    """Value of a pair-valued function where precision p and 2p agree."""
    dps, before = 60, None
    while True:
        with mp.workdps(dps):
            now = function()
            if before is not None and all(
                abs(u - v) <= abs(v) * mp.mpf(10) ** -42
                for u, v in zip(before, now, strict=True)
            ):
                return now
        before, dps = now, 2 * dps


def _mass(kind, noise, a, b, rate, direction):
    """Masses under (P, Q) of a < loss <= b."""
    if rate == 0:
        inside = mp.mpf(1 if a < 0 <= b else 0)
        return inside, inside
    open_left = direction == "remove"
    if not open_left:
        a, b = -b, -a  # the loss is negated: -b <= loss < -a
    base = _gaussian_mass if kind == "gaussian" else _laplace_mass
    a, b = _unsampled_loss(a, rate), _unsampled_loss(b, rate)
    p, q = base(mp.mpf(noise), a, b, open_left)
    mixed = (1 - mp.mpf(rate)) * q + rate * p
    return (mixed, q) if open_left else (q, mixed)


def _unsampled_loss(loss, rate):
    """The l with log(1 - rate + rate e^l) = loss; -inf below the range."""
    if mp.isinf(loss) or rate == 1:
        return loss
    inner = mp.expm1(loss) + rate
    return mp.log(inner / rate) if inner > 0 else -mp.inf


def _gaussian_mass(sigma, a, b, open_left):
    def between(low, high):  # of a standard normal
        if low > 0:
            low, high = -high, -low
        return (erfc(-high / mp.sqrt(2)) - erfc(-low / mp.sqrt(2))) / 2

    low, high = sigma * a + 1 / (2 * sigma), sigma * b + 1 / (2 * sigma)
    return between(low - 1 / sigma, high - 1 / sigma), between(low, high)


def _laplace_mass(scale, a, b, open_left):
    c = 1 / scale
    p = q = mp.mpf(0)
    for atom in (-c, c):
        if (a < atom <= b) if open_left else (a <= atom < b):
            p += mp.exp((atom - c) / 2) / 2
            q += mp.exp((-atom - c) / 2) / 2
    low, high = max(a, -c), min(b, c)
    if low < high:
        share = -mp.expm1((low - high) / 2) / 2
        p += mp.exp((high - c) / 2) * share
        q += mp.exp((-low - c) / 2) * share
    return p, q
