"""Moments of the loss of one subsampled Gaussian: for `sampled_gaussians`."""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize

from tests.truth.one_release import UNIT

BELOW = 45.0  # what is e^-45 of the largest is left out
MOST_POINTS = 200_000  # of a moment


class _Hump:
    """Where e^(order L(u)) times a normal density matters, u = x/noise.

    g(u) = order L(u) - u^2/2 has g' = order w(u)/noise - u with a sigmoid w
    from 0 to 1: one maximum if order < 4 noise^2, else one or two.
    """

    def __init__(self, order: float, noise: float, rate: float) -> None:
        self.order, self.noise, self.rate = order, noise, rate
        self.odds = math.inf
        if rate < 1:
            self.odds = math.log(rate) - math.log1p(-rate)
        self.turns = (0.0, 0.0)  # between them, g is convex
        peaks = self.peaks()
        if max(abs(u) for u in peaks) > 1e6:
            raise ArithmeticError("no digits are left at this order")
        self.top = max(self.height(u) for u in peaks)
        self.pieces = self.around(peaks)

    def weight(self, u: float) -> float:
        """w(u): how likely the record was sampled, given u."""
        if self.rate == 1:
            return 1.0
        x = u / self.noise - 1 / (2 * self.noise**2) + self.odds
        return 1 / (1 + math.exp(-x)) if x > -700 else 0.0

    def height(self, u: float) -> float:
        loss = u / self.noise - 1 / (2 * self.noise**2)
        if self.rate < 1 and loss < 30:
            loss = math.log1p(self.rate * math.expm1(loss))
        elif self.rate < 1:
            loss += math.log(self.rate) + math.log1p(
                math.exp(-loss - self.odds)
            )
        return self.order * loss - u * u / 2

    def slope(self, u: float) -> float:
        return self.order * self.weight(u) / self.noise - u

    def peaks(self) -> list[float]:
        """All local maxima of g, from left to right."""
        far = self.order / self.noise
        bent = 1 - 4 * self.noise**2 / self.order if self.order > 0 else 0.0
        if self.rate == 1:
            return [far]
        if bent <= 0:  # g is concave
            ends = (min(far, 0.0) - 1, max(far, 0.0) + 1)
            return [float(optimize.brentq(self.slope, *ends))]
        # w (1 - w) = noise^2/order at both turning points of g'
        other = 2 * self.noise**2 / self.order / (1 + math.sqrt(bent))
        turn = math.log(other) - math.log1p(-other)
        middle = 1 / (2 * self.noise) - self.noise * self.odds
        left, right = middle + self.noise * turn, middle - self.noise * turn
        self.turns = (left, right)
        found = []
        if self.slope(left) < 0:
            found.append(float(optimize.brentq(self.slope, -1.0, left)))
        if self.slope(right) > 0:
            ends = (right, max(far, right) + 1)
            found.append(float(optimize.brentq(self.slope, *ends)))
        return found or [left]

    def around(self, peaks: list[float]) -> list[tuple[float, float]]:
        """Intervals outside of which g is BELOW under its maximum."""
        far = self.order / self.noise

        def above(u: float) -> float:
            return self.height(u) - self.top + BELOW

        def edge(inside: float, outside: float) -> float:
            return float(optimize.brentq(above, inside, outside, xtol=1e-3))

        reach = [math.sqrt(u * u + 2 * BELOW + 9) for u in peaks]
        walls = [min(far - 11, -reach[0]), max(far + 11, reach[-1])]
        if len(peaks) == 2:
            valley = float(optimize.brentq(self.slope, *self.turns))
            if above(valley) < 0:
                walls.insert(1, valley)
                return [
                    (edge(u, walls[i]), edge(u, walls[i + 1]))
                    for i, u in enumerate(peaks)
                    if above(u) > 0
                ]
        return [(edge(peaks[0], walls[0]), edge(peaks[-1], walls[1]))]


def _nodes(
    order: float, highest: float, noise: float, rate: float
) -> tuple[np.ndarray, float, float]:
    """Points u and weight of a trapezoid rule, and the largest exponent.

    For E_Q[e^((order + i t) L)], |t| <= `highest`, Q standard normal. The
    integrand is analytic for |Im u| < pi noise; its frequencies reach up to
    highest/noise, and 9 standard deviations more. A negative order narrows
    it: by 1 + |order| w (1 - w)/noise^2.
    """
    hump = _Hump(order, noise, rate)
    pieces = hump.pieces
    if hump.top < 1:  # E[...] - 1 also needs the bulk of Q
        pieces = _joined([(-9.7, 9.7), *pieces])
    share = min(hump.weight(pieces[-1][1]), 0.5)
    narrow = math.sqrt(1 + 4 * max(-order, 0.0) * share / noise**2)
    spacing = 2 * math.pi / (9.7 * narrow + (20 + highest) / noise)
    if sum(b - a for a, b in pieces) > MOST_POINTS * spacing:
        raise ArithmeticError("the moments need too many points")
    u = np.concatenate(
        [a + spacing * np.arange((b - a) // spacing + 2) for a, b in pieces]
    )
    return u, spacing / math.sqrt(2 * math.pi), hump.top


def _joined(pieces: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The same set as disjoint intervals, from left to right."""
    result: list[tuple[float, float]] = []
    for a, b in sorted(pieces):
        if result and a <= result[-1][1]:
            a, before = result.pop()
            b = max(b, before)
        result.append((a, b))
    return result


def _log1p(z: np.ndarray) -> np.ndarray:
    """log(1 + z) that keeps the digits of a small real part."""
    x, y = z.real, z.imag
    norm = np.maximum(x * (2 + x) + y * y, UNIT - 1)
    return 0.5 * np.log1p(norm) + 1j * np.arctan2(y, 1 + x)


def _log_chernoff(s: float) -> float:
    """log c with (1 - e^-x)_+ <= c e^(s x), so delta <= c e^(K(s) - s eps)."""
    return -math.log1p(s) - s * math.log1p(1 / s)


def _sampled_loss(u: np.ndarray, noise: float, rate: float) -> np.ndarray:
    """log(1 - rate + rate p/q) at x = noise u, for shift 1."""
    loss = u / noise - 1 / (2 * noise**2)
    if rate == 1:
        return loss
    low = np.log1p(rate * np.expm1(np.minimum(loss, 30)))  # keeps small L
    high = np.logaddexp(math.log1p(-rate), math.log(rate) + loss)
    return np.where(loss < 30, low, high)
