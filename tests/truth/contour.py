"""Many runs of any pairs by a contour integral. No accountlib here.

The integral and its reading off are those of `sampled_gaussians`; here
its moments E_P[e^(sL)] are sums over nodes, so that any pair will do:

* `smooth`    mixtures of Gaussians against another mixture, by the
              trapezoid rule
* `broken`    Laplace noise: Gauss-Legendre rule between the kinks, and atoms
* `outcomes`  a table: its outcomes are the nodes

Not a proven bound: the result is an interval with estimated errors. Where
losses have atoms and few of them are added, the integral does not settle
and ArithmeticError is raised.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from tests import truth
from tests.truth import moments, sampled_gaussians

UNIT = truth.UNIT
BELOW = truth.BELOW
# of E_P[e^(s L)]: logarithms of weights (s = 0) and losses, at the nodes
Nodes = tuple[np.ndarray, np.ndarray]
# from the real part of s and the largest imaginary one
Rule = Callable[[float, float], Nodes]
Number = float | int | Fraction


def log_of(x: Number) -> float:
    """The logarithm of a float or a fraction, near 1 too."""
    x = Fraction(x)
    if x <= 0:
        return -math.inf
    if Fraction(1, 2) < x < 2:
        return math.log1p(float(x - 1))
    part = x.numerator.bit_length() - x.denominator.bit_length()
    return math.log(x * Fraction(2) ** -part) + part * math.log(2)


def _log_sum(terms: np.ndarray) -> np.ndarray:
    top = np.max(terms, axis=0)
    return top + np.log(np.sum(np.exp(terms - top), axis=0))


def log_ratio(
    u: np.ndarray, means: np.ndarray, weights: Sequence[Number]
) -> np.ndarray:
    """log of sum w e^(m u - m^2/2), its digits kept near 0."""
    logs = np.array([log_of(w) for w in weights])
    powers = np.multiply.outer(means, u) - (means**2 / 2)[:, None]
    far = _log_sum(logs[:, None] + powers)
    floats = np.array([float(w) for w in weights])
    near = floats @ np.expm1(np.minimum(powers, 1.0))
    small = np.max(powers * (floats > 0)[:, None], axis=0) < 1
    return np.where(small & (near > -0.5), np.log1p(near), far)


def smooth(
    means: Sequence[float],
    weights: Sequence[Number],
    mirrored: bool,
    order: float,
    highest: float,
) -> Nodes:
    """P = sum w N(m, 1) against N(0, 1), or against its mirror image.

    The integrand is phi(u) e^(A(u) + s (A(u) - B(u))), A the logarithm of
    P's density over phi, B of the other one's (0, or A(-u)). It is analytic
    for |Im u| < pi / max m, as in `truth._nodes`.
    """
    m = np.array(means, float)
    most = float(m.max())

    def exponent(u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a = log_ratio(u, m, weights)
        loss = a - log_ratio(-u, m, weights) if mirrored else a
        return a - u * u / 2, loss

    # where it matters: a coarse look, then pieces that hold all of it
    size = max(abs(1 + order), abs(order), 1.0) * most
    reach = (2 if mirrored else 1) * size + 12
    coarse = np.linspace(-reach, reach, 4001)
    base, loss = exponent(coarse)
    height = base + order * loss
    needed = height > height.max() - BELOW - 5
    needed |= base > base.max() - BELOW  # M - 1 needs the bulk of P too
    gap = coarse[1] - coarse[0]
    if gap > 0.5:
        raise ArithmeticError("the moments need too many points")
    wide = np.convolve(needed, np.ones(5), "same") > 0
    edge = np.flatnonzero(np.diff(np.concatenate([[0], wide, [0]])))
    curve = (most * (2 if mirrored else 1)) ** 2 / 4
    narrow = math.sqrt(1 + (abs(order) + 1) * curve)
    band = 9.7 * narrow + (2 if mirrored else 1) * most * (20 + highest)
    spacing = 2 * math.pi / band
    pieces = [
        (coarse[a], coarse[b - 1])
        for a, b in zip(edge[::2], edge[1::2], strict=True)
    ]
    if sum(b - a for a, b in pieces) > truth.MOST_POINTS * spacing:
        raise ArithmeticError("the moments need too many points")
    u = np.concatenate(
        [a + spacing * np.arange((b - a) // spacing + 2) for a, b in pieces]
    )
    base, loss = exponent(u)
    return base + math.log(spacing / math.sqrt(2 * math.pi)), loss


@lru_cache(maxsize=8)
def _legendre(count: int) -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(count)


def broken(
    scale: float,
    rate: Number,
    exchanged: bool,
    order: float,
    highest: float,
) -> Nodes:
    """(1-q) Lap(0) + q Lap(1) against Lap(0), or against the mirror image.

    Outcomes beyond the shifts are atoms. Between the shifts panels of 20
    nodes, each shorter than the scale and than a radian of the integrand.
    """
    s = scale
    yes, no = log_of(rate), log_of(1 - Fraction(rate))

    def law(x: np.ndarray, shift: int) -> np.ndarray:
        """log of s times the mixture's density."""
        away = -np.abs(x) / s
        moved = -np.abs(x - shift) / s
        gain = np.expm1(np.clip(moved - away, -1.0, 1.0)) * float(rate)
        far = np.logaddexp(no + away, yes + moved)
        small = np.abs(moved - away) < 1
        return np.where(small, away + np.log1p(gain), far) - math.log(2)

    def loss_at(x: np.ndarray) -> np.ndarray:
        other = law(x, -1) if exchanged else -np.abs(x) / s - math.log(2)
        away = np.abs(x) - np.abs(x - 1)
        if not exchanged:
            near = np.log1p(float(rate) * np.expm1(np.clip(away / s, -1, 1)))
            return np.where(np.abs(away / s) < 1, near, law(x, 1) - other)
        return law(x, 1) - other

    ends = [-1.0, 0.0, 1.0] if exchanged else [0.0, 1.0]
    pieces = math.ceil((1 + 2 * (highest + abs(order) + 1)) / s / 2) + 1
    if pieces > 4000:
        raise ArithmeticError("the moments need too many points")
    points, weights = _legendre(20)
    places, logs = [], []
    for a, b in zip(ends, ends[1:], strict=False):
        cuts = np.linspace(a, b, pieces + 1)
        half = (b - a) / pieces / 2
        x = (cuts[:-1, None] + half * (1 + points)).ravel()
        places.append(x)
        log_weight = np.log(np.tile(weights * half / s, pieces))
        logs.append(law(x, 1) + log_weight)
    x = np.concatenate(places)
    atoms = np.array([ends[0], ends[-1]])
    # the tail beyond an end has mass s times the density there, over s
    return (
        np.concatenate([*logs, law(atoms, 1)]),
        np.concatenate([loss_at(x), loss_at(atoms)]),
    )


def outcomes(
    logs: np.ndarray, losses: np.ndarray, order: float, highest: float
) -> Nodes:
    """A table: finite losses, and logarithms of their P-masses."""
    value = logs + order * losses
    keep = (value > value.max() - BELOW) | (logs > logs.max() - BELOW)
    return logs[keep], losses[keep]


def flipped(rule: Rule, order: float, highest: float) -> Nodes:
    """The reversed pair: Q's masses are e^-L times those of P."""
    logs, losses = rule(-1 - order, highest)
    return logs - losses, -losses


class Contour(sampled_gaussians._Contour):
    """Rules with counts, and their largest losses (inf if unbounded)."""

    def __init__(
        self,
        parts: Sequence[tuple[Rule, int]],
        largest: float,
    ) -> None:
        self.parts, self.top = parts, largest
        self.releases: list[truth.GaussianRelease] = []
        self.add, self.work = False, 0.0

    def largest_loss(self) -> float:
        return self.top

    def moments(
        self, sigma: float, step: float, start: int, rows: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """As in `truth._Contour`."""
        turn = 1j * step
        first = turn * (start + truth.ROW * np.arange(rows))[:, None]
        second = turn * np.arange(truth.ROW if rows > 1 or start else 1)
        second = second[:, None]
        highest = abs(turn) * (start + rows * len(second))
        shape = (rows, len(second))
        total, error = np.zeros(shape, complex), np.zeros(shape)
        t = np.abs(first + second.T)
        for rule, count in self.parts:
            logs, loss = rule(sigma, highest)
            self.work += len(loss) * rows * len(second)
            if self.work > 2e8:
                raise ArithmeticError("too much work")
            top = float(np.max(logs + sigma * loss))
            size = np.exp(np.minimum(logs, 700))
            small = sigma * np.abs(loss) < 50
            whole = abs(float(np.sum(size)) - 1) < 1e-11
            tall = np.minimum(logs + sigma * loss, 700)
            grown = np.sum(np.where(small, 0, np.exp(tall)))
            if top < 1 and whole and grown < 10:
                # E[e^(sL)] - 1 keeps its digits
                power = (sigma + first) * loss
                one = np.expm1(np.where(small, power, 0)) * size
                far = np.exp(np.where(small, -800, power + logs))
                one = np.where(small, one, far - size)
                two = np.expm1(second * loss)
                excess = one.sum(axis=1)[:, None] + two @ size + one @ two.T
                log = moments._log1p(excess)
                off = np.abs(one[0]).sum() + t * (np.abs(loss) @ size)
                off = off + t * (np.abs(loss) @ np.abs(one[0]))
                off /= np.maximum(np.abs(1 + excess), 1e-300)
            else:
                real = np.exp(logs + sigma * loss - top)
                one = np.exp(first * loss) * real
                moment = one @ np.exp(second * loss).T
                moment[moment == 0] = 1e-300
                log = np.log(moment) + top
                off = 8 + t * (np.abs(loss) @ real) / real.sum()
                off = off + abs(sigma) * (np.abs(loss) @ real) / real.sum()
                off = off * real.sum() / np.abs(moment) + abs(top)
            total += count * log
            error += count * 2 * UNIT * off
        return total.ravel(), error.ravel()


# Losses with atoms: the transform of their sum comes back after it has
# vanished, and a window between both would not show it. So it is looked at
# far beyond, and what is seen there counts as an error.
LOOKS = 3000
MOST_LOOKS = 300_000
FARTHEST = 200.0  # as a multiple of where it should have vanished
LARGEST_RETURN = 1e-7


def returning(contour: Contour, sigma: float) -> float:
    """How much of the transform comes back, relative to its value at 0."""
    atomic = [(r, n) for r, n in contour.parts if kind_of(r) is not smooth]
    if not atomic:
        return 0.0
    variance, log_smooth = 0.0, 0.0
    laws = []
    for rule, n in contour.parts:
        logs, loss = rule(sigma, 0.0)
        tilted = logs + sigma * loss
        mass = np.exp(tilted - tilted.max())
        mass /= mass.sum()
        mean = float(mass @ loss)
        variance += n * float(mass @ (loss - mean) ** 2)
        laws.append((rule, n))
    first = 8 / math.sqrt(max(variance, 1e-300))
    random = np.random.default_rng(1)
    atoms = sum(len(rule(sigma, 0.0)[1]) for rule, _ in atomic)
    looks = int(min(max(1e7 / atoms, LOOKS), MOST_LOOKS))
    far = looks * FARTHEST / LOOKS
    t = first * np.concatenate(
        [random.uniform(1, far, looks), 10 ** random.uniform(0, 5, 500)]
    )
    total = np.zeros(len(t))
    for rule, n in laws:
        if kind_of(rule) is smooth:
            logs, loss = rule(sigma, first)
            places = np.array([first])
        else:
            if kind_of(rule) is broken:
                t_max = 40 * first
            else:
                t_max = 0.0
            logs, loss = rule(sigma, t_max)
            places = np.minimum(t, t_max) if t_max else t
        tilted = logs + sigma * loss
        mass = np.exp(tilted - tilted.max())
        mass /= mass.sum()
        keep = mass > 1e-14
        mass, loss = mass[keep], loss[keep]
        size = np.zeros(len(places))
        for start in range(0, len(places), 200):
            part = places[start : start + 200]
            turns = np.exp(1j * np.multiply.outer(part, loss))
            size[start : start + 200] = np.abs(turns @ mass)
        log_size = n * np.log(np.maximum(size, 1e-300))
        if kind_of(rule) is smooth:
            log_smooth += float(log_size[0])
        else:
            total += log_size
    return math.exp(min(0.0, float(total.max()) + log_smooth))


def kind_of(rule: Rule) -> object:
    """Which of the three kinds of nodes a rule is made of."""
    if not isinstance(rule, partial):
        return rule
    return kind_of(rule.args[0]) if rule.func is flipped else rule.func


def contour_delta(contour: Contour, epsilon: float) -> tuple[float, float]:
    """delta(epsilon) without the infinite losses, epsilon of either sign."""
    if epsilon >= contour.top:
        return 0.0, 0.0
    sigma = contour.saddle(epsilon)
    error = 1e-12 + 10 * returning(contour, sigma)
    if error > 10 * LARGEST_RETURN:
        raise ArithmeticError("the transform comes back")

    low, high = sampled_gaussians.log_delta_range(contour, epsilon, sigma)
    if low < -690:
        raise ArithmeticError(f"delta is below e^{high}")
    return math.exp(low) * (1 - error), math.exp(high) * (1 + error)
