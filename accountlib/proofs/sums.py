# Generated from notebooks/proofs/sums.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""A sum that is proven

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\alpha$, $H$ | `alphas`, `heights` | $e^x$ at a loss $x$; the curve of a law as a function of $\alpha$ |
| $o$, $\Delta$, $i$ | `offset`, `step`, `places` | the losses of a grid are $o + i\Delta$; $O$ for those of the sum |
| $l_k$ | `lines` | line $P(E) - \alpha Q(E)$ of an event $E$ that is tested in cell $k$ |
| $y_k$ | `dots` | height of a low dot |
| $\lambda$ | `tilt` | exponent of the tilt, $> 0$ |
| $m_i$, $\hat m$ | `masses`, `spectra` | tilted masses, and their transform |
| $\ell_i$, $g_i$ | –, `gap` | loss of the sum at place $i$; $\ell_i - \varepsilon$, `gap` at the first place above $\varepsilon$ |
| $M_i$, $W_i$, $\hat w$ | –, `weight_transforms` | tilted mass of the sum at a place, its weight in $\delta$; transform of the weights |
| $a$, $N$, $K$ | `first`, `size`, `last` | first place of a window, places of the circle, highest frequency |
| $\hat W$ | `peak` | the largest weight that there can be |
| $B$, $A$, $h$ | `outside_mass`, `high_part` | what lies below and above the window; bound of the other frequencies |
| $\eta$ | `thetas` | exponents in Chernoff's inequality, per place |
| $T_j$, $p_j$ | `count`, – | how often law $j$ occurs; mass at infinity of its table |
| $e$ | `wrong` | bound for all that is left out (in the code); else Euler's number |
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from accountlib.inputs import check_number
from accountlib.proofs.balls import (
    Ball,
    Law,
    Masses,
    Undecided,
    ball,
    circle_turns,
    flint,
    frequencies,
    round_off,
)

__all__ = [
    "Table",
    "MOST_FREQUENCIES",
    "surely_less",
    "check_place",
    "Grid",
    "runs_of",
    "masses_under",
    "upper_table",
    "low_dots",
    "lower_hull",
    "lower_table",
    "CircleChoice",
    "tilted",
    "even_stretches",
    "high_part",
    "highest_needed",
    "farthest",
    "outside_mass",
    "weight_transforms",
    "infinite_share",
    "frequencies_left",
    "beyond_last",
    "circle_sum",
]

# --- Tables above

Table = tuple[Masses, Ball]  # P-masses at places, and at infinity
MOST_FREQUENCIES = 10**6  # of one sum: more would take minutes
_LEVELS = 20  # of masses, each half of the one before
_FARTHEST = 10**300  # place on a grid


def surely_less(one: Ball, other: Ball) -> bool:
    """Whether one number is less than another; never a guess.

    >>> surely_less(ball(1), ball(2)), surely_less(ball(2), ball(1))
    (True, False)
    """
    if one < other or one >= other:
        return bool(one < other)
    raise Undecided("two numbers are too close for this precision")


def check_place(
    name: str,
    value: object,
    low: int = -_FARTHEST,
    high: int = _FARTHEST,
) -> None:
    """Raise ValueError unless `value` is an int within these ends.

    Floats are refused, even 2.0: what is exact stays exact.
    """
    if type(value) is not int or not low <= value <= high:
        raise ValueError(
            f"{name} must be a whole number in [{low:.4g}, {high:.4g}], "
            f"got {value!r}"
        )


@dataclass(frozen=True)
class Grid:
    r"""Losses at which a curve is read: $o + i \Delta$ for some places i.

    Fields: `offset` (o), `step`; `runs`, stretches of evenly spaced
    places: first place, distance, how many.

    >>> Grid(0.5, 0.25, ((0, 1, 3), (4, 2, 2))).places
    [0, 1, 2, 4, 6]
    """

    offset: float
    step: float
    runs: tuple[tuple[int, int, int], ...]

    def __post_init__(self) -> None:
        check_number("offset", self.offset, -1e300, 1e300)
        check_number("step", self.step, 1e-300, 1e300)
        last = None
        for first, apart, number in self.runs:
            for name, value in (("distance", apart), ("number", number)):
                check_place(f"{name} of places", value, 1)
            check_place("first place", first)
            if last is not None and not first > last:
                raise ValueError(f"runs must increase, got {self.runs!r}")
            last = first + apart * (number - 1)
        if last is None:
            raise ValueError("runs must hold at least one place, got ()")

    @property
    def places(self) -> list[int]:
        """The places, in increasing order."""
        return [
            first + apart * k
            for first, apart, number in self.runs
            for k in range(number)
        ]

    def loss(self, place: int | Fraction) -> Ball:
        """The loss at a place, or between places."""
        exact = Fraction(self.offset) + place * Fraction(self.step)
        return ball(exact)


def runs_of(places: Sequence[int]) -> tuple[tuple[int, int, int], ...]:
    """Increasing places as stretches of one distance.

    >>> runs_of([0, 1, 2, 4, 6])
    ((0, 1, 3), (4, 2, 2))
    """
    runs: list[tuple[int, int, int]] = []
    for place in places:
        first, apart, number = runs[-1] if runs else (place, 1, 0)
        if number == 1:
            runs[-1] = first, place - first, 2
        elif runs and place == first + apart * number:
            runs[-1] = first, apart, number + 1
        else:
            runs.append((place, 1, 1))
    return tuple(runs)


def masses_under(
    places: Sequence[int],
    alphas: Sequence[Ball],
    heights: Sequence[Ball],
    whole: Ball,
) -> Table:
    """The loss whose curve is a line of dots, constant after the last.

    Parameters: `whole`, the height at 0: all of the P-mass.
    """
    known = list(zip([ball(0), *alphas], [whole, *heights], strict=True))
    slopes = [(h1 - h0) / (a1 - a0) for (a0, h0), (a1, h1) in pairwise(known)]
    slopes.append(ball(0))
    masses = [
        (place, alpha * (after - before))
        for place, alpha, (before, after) in zip(
            places, alphas, pairwise(slopes), strict=True
        )
    ]
    return masses, heights[-1]


def upper_table(law: Law, grid: Grid) -> Table:
    """Connect the dots: a loss whose curve is nowhere below that of a law."""
    losses = [grid.loss(i) for i in grid.places]
    heights = [law.height(x) for x in losses]
    alphas = [x.exp() for x in losses]
    return masses_under(grid.places, alphas, heights, law.total[0])


# --- Tables below


def low_dots(law: Law, grid: Grid) -> list[tuple[int, Ball]]:
    """Dots whose connecting lines are below the curve of a law.

    Formula: at each place the smaller one of the lines of two events,
    which are tested in the middle of the cells beside it; at the right
    end of a cell whose line would come down too early. The first line is
    that of the event at the first place, the last one that of infinite
    losses.
    """
    places, infinite = grid.places, law.infinite[0].lower()
    alphas = [grid.loss(i).exp() for i in places]
    lines = [law.event(grid.loss(places[0]))]
    for (one, other), alpha in zip(pairwise(places), alphas[1:], strict=True):
        p, q = law.event(grid.loss(Fraction(one + other, 2)))
        if not p - alpha * q >= infinite:
            p, q = law.event(grid.loss(other))
        lines.append((p, q))
    lines.append((infinite, ball(0)))
    dots: list[tuple[int, Ball]] = []
    for k, (place, alpha) in enumerate(zip(places, alphas, strict=True)):
        left, right = ((p - alpha * q).lower() for p, q in lines[k : k + 2])
        if left < infinite:  # then the dot before it is the last one
            break
        dots.append((place, min(left, right)))
        if right <= infinite:
            break
    return [*dots[:-1], (dots[-1][0], infinite)] if dots else []


def lower_hull(points: Sequence[tuple[Ball, Ball]]) -> list[int]:
    """Which points are corners of the largest convex line under them.

    Parameters: `points`, exact heights at increasing places.
    Raises: Undecided where the places are not known well enough.

    >>> corners = (0, 3), (1, 1), (2, 2), (3, 0)
    >>> lower_hull([(ball(x), ball(y)) for x, y in corners])
    [0, 1, 3]
    """
    hull: list[int] = []
    for k, (x, y) in enumerate(points):
        while len(hull) > 1:
            (x0, y0), (x1, y1) = (points[i] for i in hull[-2:])
            if surely_less((y1 - y0) * (x - x1), (y - y1) * (x1 - x0)):
                break
            hull.pop()
        hull.append(k)
    return hull


def lower_table(law: Law, grid: Grid) -> Table:
    """The hull under low dots: a loss whose curve is nowhere higher."""
    dots = low_dots(law, grid)
    if not dots:
        raise Undecided("the first line is too low")
    whole = law.event(grid.loss(dots[0][0]))[0].lower()
    with flint().ctx.workprec(2 * flint().ctx.prec):  # dots are exact now
        points = [(grid.loss(place).exp(), depth) for place, depth in dots]
        hull = lower_hull([(ball(0), whole), *points])[1:]
        places = [dots[k - 1][0] for k in hull]
        alphas, heights = zip(*(points[k - 1] for k in hull), strict=True)
        return masses_under(places, alphas, heights, whole)


# --- The sum, on a circle


@dataclass(frozen=True)
class CircleChoice:
    r"""How losses are added up: a tilt, and a circle of places.

    Fields: `tilt` ($\lambda > 0$); `first`, `size` (a, N, odd): the window of
    places of the sum; `last` (K): the highest frequency; `thetas`
    ($\eta$): exponents, per place, for what lies below and above it.
    """

    tilt: float
    first: int
    size: int
    last: int
    thetas: tuple[float, float]

    def __post_init__(self) -> None:
        check_number("tilt", self.tilt, 0, 1e300, "(]")
        check_place("first", self.first)
        check_place("size", self.size, 1)
        if self.size % 2 == 0:
            raise ValueError(f"size must be odd, got {self.size}")
        most = min(self.size // 2, MOST_FREQUENCIES)
        check_place("last", self.last, 0, most)
        if len(self.thetas) != 2:
            raise ValueError(f"thetas must be two, got {self.thetas!r}")
        for theta in self.thetas:
            check_number("thetas", theta, 0, 1e300, "(]")


def tilted(table: Table, grid: Grid, tilt: float) -> Masses:
    r"""The finite masses of a table, times $e^{\lambda \ell}$."""
    scale = ball(tilt)
    return [(i, p * (scale * grid.loss(i)).exp()) for i, p in table[0]]


def even_stretches(masses: Masses) -> list[tuple[int, Ball]]:
    """Uniform parts of masses: how many places each covers, and its mass.

    Formula: $m \\ge \\sum_l c_l/n_l$ on $n_l$ neighbouring places around
    the largest mass, for the levels $m_{\\max} 2^{-l}$.
    """
    low = {i: m.lower() for i, m in masses}
    top = max(low, key=lambda i: low[i])
    parts, wide = [], [top, top]
    level = low[top]
    if not level > 0:  # not known well enough
        return []
    for _ in range(_LEVELS):
        for side, turn in enumerate((-1, 1)):
            while low.get(wide[side] + turn, ball(-1)) >= level:
                wide[side] += turn
        parts.append((wide[1] - wide[0] + 1, level))
        level = level / 2
    levels = [x for _, x in parts] + [ball(0)]
    return [
        (n, n * (one - other))
        for (n, _), (one, other) in zip(parts, pairwise(levels), strict=True)
    ]


def high_part(
    total: Ball, stretches: Sequence[tuple[int, Ball]], size: int, above: int
) -> Ball:
    r"""A bound of a transform at all frequencies above one.

    Formula: $\sum_i m_i - \sum_l c_l (1 - d_{n_l}(\theta))$, lemma
    "Uniform parts".
    """
    angle = ball(Fraction(above + 1, size)) * flint().arb.pi()  # half of it
    for n, weight in stretches:
        if n < 2:
            continue
        least = 1 / (n * (flint().arb.pi() / n).sin())
        if not n * angle >= flint().arb.pi():
            main = abs((n * angle).sin() / (n * angle.sin()))
            least = least.max(main)
        total -= weight * (1 - least.min(ball(1)))
    return total.upper()


def highest_needed(
    parts: Sequence[tuple[Masses, int]], size: int, needed: float
) -> int:
    """The frequency above which the transform is at most a number.

    Parameters: `parts`, tilted masses and counts; `size` of the circle;
    `needed`, the log of that number.
    """
    known = [
        (sum((x for _, x in m), ball(0)), even_stretches(m), n)
        for m, n in parts
    ]

    def log_above(k: int) -> float:
        found = (high_part(t, s, size, k) ** n for t, s, n in known)
        return sum(float(x.log().mid()) for x in found)

    low, high = 0, size // 2
    if high == 0 or not log_above(high) <= needed:
        return high
    while high > low + 1 and high > 1.02 * low:
        middle = max(math.isqrt(low * high), (low + high) // 8, low + 1)
        low, high = (
            (low, middle) if log_above(middle) <= needed else (middle, high)
        )
    return high


def farthest(parts: Sequence[tuple[Masses, int]], sign: int) -> int:
    """Sign times the last place of the sum, on one side."""
    return sum(n * max(sign * i for i, _ in masses) for masses, n in parts)


def outside_mass(
    parts: Sequence[tuple[Masses, int]], circle: CircleChoice
) -> Ball:
    r"""A bound of the tilted mass of the sum outside of the window.

    Formula: $e^{-\eta (a+N)} \prod_j (\sum_i m_{ji} e^{\eta i})^{T_j}$ above
    (Chernoff), its mirror image below; 0 where no sum is outside.
    """
    outside = ball(0)
    for sign, theta in zip((-1, 1), circle.thetas, strict=True):
        end = circle.first + circle.size if sign > 0 else circle.first - 1
        if farthest(parts, sign) < sign * end:
            continue
        eta = sign * ball(theta)
        bound = (-eta * end).exp()
        for masses, count in parts:
            grown = sum((m * (eta * i).exp() for i, m in masses), ball(0))
            bound *= grown**count
        outside += bound
    return outside


def weight_transforms(
    circle: CircleChoice, step: Ball, gap: Ball, start: int, at: Sequence[int]
) -> Iterator[Any]:
    r"""Transforms of what places weigh in delta, at some frequencies.

    Formula: $\sum_x e^{-\lambda g_x} (1 - e^{-g_x}) e^{-2 \pi \mathrm{i}
    k x/N}$ from the first place above epsilon on: two geometric series.
    """
    number = circle.first + circle.size - start
    turn, series = circle_turns(circle.size), []
    for sign, rate in ((1, ball(circle.tilt)), (-1, ball(circle.tilt) + 1)):
        ratio, scale = (-rate * step).exp(), sign * (-rate * gap).exp()
        series.append((scale, scale * ratio**number, ratio))
    for k in at:
        one, end = turn(-k), turn(-k * number)
        total = sum(
            (scale - rest * end) / (1 - ratio * one)
            for scale, rest, ratio in series
        )
        yield total * turn(-k * start)


def infinite_share(parts: Sequence[tuple[Ball, int]]) -> Ball:
    r"""$1 - \prod_j (1 - p_j)^{T_j}$: the mass of infinite sums.

    Where a $p_j$ is not known to be below 1, neither is the answer.
    """
    if any(not p < 1 for p, _ in parts):
        kept = ball(1)
        for p, count in parts:
            kept *= (1 - p).max(ball(0)) ** count
        return 1 - kept
    log = sum((n * (-p).log1p() for p, n in parts), ball(0))
    return -log.expm1()


def frequencies_left(
    spectra: Sequence[tuple[Sequence[Any], int]],
) -> tuple[list[int], Ball]:
    """Frequencies that a sum needs, and what the others come to at most.

    Parameters: `spectra`, transforms and counts. The others are those
    whose products are below the round-off of the largest.
    """
    chosen, left = [], ball(0)
    for k in range(len(spectra[0][0])):
        size = ball(1)
        for spectrum, count in spectra:
            size *= abs(spectrum[k]) ** count
        if k == 0:
            little = round_off(size).upper()
        if size < little:
            left += size
        else:
            chosen.append(k)
    return chosen, left


def beyond_last(
    parts: Sequence[tuple[Masses, int]], circle: CircleChoice
) -> Ball:
    """What all frequencies above the last one come to, at most."""
    if circle.last >= circle.size // 2:
        return ball(0)
    high = ball(circle.size)
    for masses, count in parts:
        total = sum((m for _, m in masses), ball(0))
        around = even_stretches(masses), circle.size, circle.last
        high *= high_part(total, *around) ** count
    return high


def circle_sum(
    parts: Sequence[tuple[Masses, int]],
    circle: CircleChoice,
    step: float,
    offset: Fraction,
    epsilon: float,
    sign: int,
) -> Ball:
    r"""A bound for delta of a sum of finite losses at one epsilon.

    Formula: $e^{-\lambda\varepsilon} (\frac1N \sum_k \hat m_k \hat w_k \pm
    e)$, with e for all that is left out.

    Parameters: `parts`, tilted masses and counts; `circle`; `step`;
    `offset` of the sum; `epsilon`; `sign`, 1 from above, -1 from below.
    """
    width, at = Fraction(step), Fraction(epsilon)
    start = max(math.floor((at - offset) / width) + 1, circle.first)
    tilt, total, wrong = ball(circle.tilt), ball(0), ball(0)
    if start < circle.first + circle.size:
        gap = ball(offset + start * width - at)
        spectra = [
            (frequencies(m, circle.size, circle.last), n) for m, n in parts
        ]
        chosen, left = frequencies_left(spectra)
        weights = weight_transforms(circle, ball(width), gap, start, chosen)
        for k, entry in zip(chosen, weights, strict=True):
            for spectrum, count in spectra:
                entry *= spectrum[k] ** count
            total += entry.real * (2 if k else 1)
        total /= circle.size
        wrong = 2 * left + beyond_last(parts, circle)
    peak = (tilt * (tilt / (1 + tilt)).log() - tilt.log1p()).exp()
    wrong = peak * (wrong + outside_mass(parts, circle))
    return (total + sign * wrong) * (-tilt * ball(at)).exp()
