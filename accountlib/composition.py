# Generated from notebooks/04_composition.md by tools/tangle.py; do not edit.

"""Composing thousands of steps."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import minimize_scalar

from accountlib.divergences import Floats, check_count, check_number
from accountlib.privacy_loss import (
    MOST_CELLS,
    TINY,
    UNIT,
    BoundKind,
    GridTooFine,
    PrivacyLossDistribution,
    discretize,
    loss_quantiles,
)
from accountlib.worst_case_pairs import (
    Adjacency,
    DiscretePair,
    DominatingPair,
    Release,
    check_kind,
    dominating_pairs,
)

__all__ = [
    "Bound",
    "any_infinite",
    "SIDES",
    "LOG_TAIL",
    "Part",
    "Losses",
    "log_moment",
    "chernoff_edges",
    "Composition",
    "convolve",
    "log_peak",
    "delta_side",
    "tilted_curve",
    "epsilon_side",
    "as_distribution",
    "self_compose",
    "compose",
    "MergedMoments",
    "best_tilt",
    "aligned_step",
    "Query",
    "refine",
    "tables_of",
    "directions",
    "loss_ceiling",
    "infinite_bound",
    "epsilon_one_way",
    "delta_one_way",
    "epsilon",
    "delta",
]


@dataclass(frozen=True)
class Bound:
    """An interval that contains the truth.

    Formula: lower <= truth <= upper.

    Parameters: `lower`, `upper` with 0 <= lower <= upper (inf allowed).
    Raises: ValueError for NaN, negative ends, or lower > upper.
    Source: chapter 4.

    >>> Bound(0.9, 1.0).contains(0.95), round(Bound(0.9, 1.0).width, 12)
    (True, 0.1)
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        lower = check_number("lower", self.lower, 0, np.inf)
        upper = check_number("upper", self.upper, lower, np.inf)
        object.__setattr__(self, "lower", abs(lower))  # no negative zero
        object.__setattr__(self, "upper", abs(upper))

    @property
    def width(self) -> float:
        """(upper - lower)/upper; 0 where both ends are equal."""
        if self.lower == self.upper:
            return 0.0
        if math.isinf(self.upper):
            return 1.0
        return (self.upper - self.lower) / self.upper

    def contains(self, value: float) -> bool:
        """Whether lower <= value <= upper."""
        return self.lower <= value <= self.upper


def any_infinite(masses: Sequence[tuple[float, int]]) -> float:
    r"""Probability that at least one of many losses is infinite.

    Formula: $1 - \prod_j (1 - p_j)^{T_j}$.

    Parameters: `masses`, pairs of a probability $p_j$ and a count $T_j$.
    Returns: the probability; relative error below 1e-15 per pair.
    Source: chapter 4, "Mass at infinity".

    >>> any_infinite([(0.5, 2)])
    0.75
    """
    if len(masses) == 1 and masses[0][1] == 1:
        return masses[0][0]
    if any(p == 1 for p, _ in masses):
        return 1.0
    return -math.expm1(math.fsum(n * math.log1p(-p) for p, n in masses))


SIDES: tuple[BoundKind, BoundKind] = ("upper", "lower")
LOG_TAIL = -28.0  # logarithm of the tilted mass outside of the window
Part = tuple[PrivacyLossDistribution, int]
Losses = Sequence[tuple[DominatingPair, int]]


def log_moment(parts: Sequence[Part], order: float) -> float:
    r"""Logarithm of the moment generating function of the total loss.

    Formula: $K(\lambda) = \sum_j T_j \ln \sum_i p_{ji} e^{\lambda \ell_i}$
    (finite losses under P).

    Parameters: `parts`, pairs of a distribution and its count $T_j$;
    `order` ($\lambda$, any real number).
    Returns: K, exact up to rounding; on the side of the parts.
    Source: chapter 4, "Tilting".

    >>> coin = PrivacyLossDistribution(1.0, 0, [0.5, 0.5], 0.0)
    >>> round(log_moment([(coin, 2)], 1.0), 6)
    1.240229
    """
    total = 0.0
    for loss, count in parts:
        exponent = order * loss.losses + loss.log_mass
        top = float(np.max(exponent))
        if top == -math.inf:
            return top  # no finite mass at all
        total += count * (top + math.log(np.sum(np.exp(exponent - top))))
    return total


def chernoff_edges(
    parts: Sequence[Part], tilt: float, log_tail: float
) -> tuple[float, float]:
    r"""Two losses outside which the tilted total loss has little mass.

    Formula: $P_\lambda(S \ge x) \le e^{K(\lambda + \theta) - K(\lambda) -
    \theta x}$ for every $\theta > 0$, and the mirror image.

    Parameters: `parts`; `tilt` ($\lambda$); `log_tail`, logarithm of the
    mass allowed on each side, relative to all finite mass.
    Returns: (low, high), inside the range of possible totals.
    Source: Chernoff (1952); chapter 4, "Choosing the window".

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.5, 0.0, 0.5], 0.0)
    >>> low, high = chernoff_edges([(coin, 10_000)], 0.0, -28.0)
    >>> -760 < low < -740 and 740 < high < 760
    True
    """
    bottom = sum(n * d.losses[0] for d, n in parts)
    top = sum(n * d.losses[-1] for d, n in parts)
    center = log_moment(parts, tilt)
    spread = top - bottom
    if spread <= 0:
        return bottom, top  # all tables have one row

    def edge(log_theta: float, sign: int) -> float:
        theta = math.exp(log_theta)
        growth = log_moment(parts, tilt + sign * theta) - center
        return (growth - log_tail) / theta

    ends = []
    for sign in (-1, 1):
        best = minimize_scalar(
            edge,
            bounds=(math.log(1 / spread), math.log(1e9 / spread)),
            args=(sign,),
            method="bounded",
            options={"xatol": 0.05},
        )
        ends.append(sign * float(best.fun))
    return max(ends[0], bottom), min(ends[1], top)


@dataclass(frozen=True, eq=False)
class Composition:
    r"""Total privacy loss of many steps: tilted, and in a window.

    Formula: $P(S = \ell_k) = e^{K - \lambda \ell_k} m_k$ with
    $\ell_k = (f + k) \Delta$, where every $m_k$ is known up to
    `entry_error`, the tilted mass on each side of the window is at most
    `tail`, and K is known up to `scale_error`.

    Fields: `step` ($\Delta$), `first_index` (f), `mass` (m), `tilt`
    ($\lambda$), `log_scale` (K), the three errors, and `infinity_mass`.
    Source: chapter 4, "All errors in one place".
    """

    step: float
    first_index: int
    mass: Floats
    tilt: float
    log_scale: float
    entry_error: float
    tail: float
    scale_error: float
    infinity_mass: float


def convolve(
    parts: Sequence[Part], *, tilt: float = 0.0, log_tail: float = -36.0
) -> Composition:
    r"""Distribution of the sum of independent privacy losses, by FFT.

    Formula: the transform of a sum is the product of the transforms,
    $\hat m = \prod_j \hat m_j^{T_j}$, on a circle as long as the window.

    Parameters: `parts`, pairs of a distribution and its count, all on
    one step; `tilt` ($\lambda$): every mass is first multiplied by
    $e^{\lambda \ell}$ and normalised; `log_tail`, logarithm of the
    tilted mass that may lie outside of the window on each side.
    Returns: the composition, with bounds of all its errors.
    Error: see `Composition`; mass outside of the window is wrapped into it.
    Source: Koskela, Jälkö and Honkela (2020); chapter 4, "On a circle".

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> np.abs(convolve([(coin, 2)]).mass[:5]).round(4)
    array([0.0625, 0.    , 0.375 , 0.    , 0.5625])
    """
    step = parts[0][0].step
    bottom = sum(n * d.first_index for d, n in parts)
    top = sum(n * (d.first_index + d.losses.size - 1) for d, n in parts)
    infinity = any_infinite([(d.infinity_mass, n) for d, n in parts])
    if any(np.max(d.mass) == 0 for d, _ in parts):  # no finite loss at all
        return Composition(
            step, bottom, np.zeros(1), tilt, 0.0, 0.0, 0.0, 0.0, infinity
        )
    low, high = chernoff_edges(parts, tilt, log_tail)
    first = max(math.floor(low / step), bottom)
    last = max(min(math.ceil(high / step), top), first)
    if last - first >= MOST_CELLS:
        raise GridTooFine(step, last - first + 1)
    size = next_fast_len(last - first + 1, real=True)
    whole = size > top - bottom
    first = bottom if whole else first

    stages = 8 * UNIT * max(1.0, math.log2(size))
    half = size // 2 + 1
    log_power, log_most = np.zeros(half), np.zeros(half)
    angle, relative = np.zeros(half), np.zeros(half)
    offset, log_scale, scale_error = 0, 0.0, 0.0
    for loss, count in parts:
        exponent = tilt * loss.losses + loss.log_mass
        largest = float(np.max(exponent))
        mass = np.exp(exponent - largest)
        seen = mass > 0
        # Tilted masses, rounded outward: e^x errs by about |x| u.
        size_of = np.abs(tilt * loss.losses) - loss.log_mass + 8
        size_of = size_of[seen] + np.abs(exponent[seen] - largest)
        outward = 1 if loss.bound in ("upper", "buckets-upper") else -1
        mass[seen] *= 1 + outward * 4 * UNIT * size_of
        total = float(np.sum(mass))
        mass /= total
        log_moment_of_part = largest + math.log(total)
        log_scale += count * log_moment_of_part
        scale_error += count * UNIT * (80 + 4 * abs(log_moment_of_part))
        index = loss.first_index + np.arange(len(mass))
        middle = round(float(np.sum(mass * index)))
        offset += count * middle
        transform = rfft(np.bincount((index - middle) % size, mass, size))
        radius = np.abs(transform)
        phase = np.angle(transform)
        with np.errstate(divide="ignore"):
            log_radius = np.maximum(np.log(radius), -750.0)
        log_power += count * log_radius
        log_most += count * np.log(radius + stages)
        angle += count * phase
        # Error of a factor, times how often it occurs (cmp-power).
        rounding = 8 * UNIT * (1 + np.abs(log_radius) + np.abs(phase))
        relative += count * (stages / (radius + stages) + rounding)
    wrong = np.exp(log_most) * (relative + stages)
    keep = np.flatnonzero(log_power > -90)  # the others sum to below 1e-38
    composed = np.zeros(half, dtype=np.complex128)
    power = np.exp(log_power[keep])
    composed[keep] = power * np.exp(1j * angle[keep])
    mass = np.roll(irfft(composed, size), -((first - offset) % size))
    return Composition(
        step=step,
        first_index=first,
        mass=mass,
        tilt=tilt,
        log_scale=log_scale,
        # `wrong` is one half of a symmetric spectrum.
        entry_error=float(2 * np.sum(wrong) / size) + 1e-38,
        tail=0.0 if whole else math.exp(log_tail) * 1.001,
        scale_error=scale_error,
        infinity_mass=infinity,
    )


def log_peak(tilt: float) -> float:
    r"""Logarithm of the largest $e^{-\lambda x} (1 - e^{-x})$ over x >= 0.

    Formula: $\lambda \ln \lambda - (1 + \lambda) \ln(1 + \lambda)$.

    Parameters: `tilt` ($\lambda \ge 0$).
    Source: chapter 4, "Reading off delta and epsilon".

    >>> round(math.exp(log_peak(1.0)), 12)
    0.25
    """
    if tilt == 0:
        return 0.0
    return -tilt * math.log1p(1 / tilt) - math.log1p(tilt)


def delta_side(total: Composition, epsilon: float, upper: bool) -> float:
    r"""One end of the interval for delta at one epsilon.

    Formula: $p_\infty + e^{K - \lambda \varepsilon} \sum_{\ell_k >
    \varepsilon} m_k e^{-\lambda(\ell_k - \varepsilon)} (1 -
    e^{\varepsilon - \ell_k})$, all errors added or subtracted.

    Parameters: `total`, composed from distributions of the same side;
    `epsilon`; `upper`, which end is wanted.
    Returns: a number in [0, 1] on the wanted side of the truth.
    Source: chapter 4, "Reading off delta and epsilon".

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> round(delta_side(convolve([(coin, 2)]), 1.0, upper=True), 6)
    0.355568
    """
    gap = (
        total.step * (total.first_index + np.arange(total.mass.size)) - epsilon
    )
    above = gap > 0
    gap, mass = gap[above], total.mass[above]
    weight = np.exp(-total.tilt * gap) * -np.expm1(-gap)
    sign = 1 if upper else -1
    value = np.sum(np.maximum(mass + sign * total.entry_error, 0) * weight)
    value += sign * 2 * total.tail * math.exp(log_peak(total.tilt))
    error = total.scale_error + 64 * UNIT * (1 + abs(total.tilt * epsilon))
    error += 4 * UNIT * abs(total.log_scale)
    log_scale = total.log_scale - total.tilt * epsilon + sign * error
    if value <= 0:
        finite = 0.0
    else:
        finite = math.exp(min(log_scale + math.log(value), 0.0))
        finite = max(finite, 5e-324 if upper else 0.0)  # no underflow to 0
    infinite = total.infinity_mass * (1 + sign * 8 * UNIT)
    return min(1.0, finite + infinite)


def tilted_curve(step: float, mass: Floats, tilt: float) -> Floats:
    r"""Weighted sums above each grid point, with positive terms only.

    Formula: $c_k = \sum_{j > k} m_j e^{-\lambda(\ell_j - \ell_k)}
    (1 - e^{\ell_k - \ell_j})$, from two recursions of the form
    $c_k = r c_{k+1} + x_k$, each computed by doubling.

    Parameters: `step`, `mass` ($m_j \ge 0$), `tilt` ($\lambda \ge 0$).
    Returns: one number per grid point.
    Error: relative error below 100 u (1 + log2 n) for n masses, once
    the exponent `tilt` times the window's length is added to the 100.
    Source: chapter 4, "Reading off delta and epsilon".

    >>> tilted_curve(1.0, np.array([0.5, 0.5]), 0.0).round(4)
    array([0.3161, 0.    ])
    """
    above = np.append(math.exp(-tilt * step) * mass[1:], 0.0)
    for rate, scale in ((tilt, -math.expm1(-step)), (tilt + 1, 1.0)):
        shift = 1
        while shift < len(above):
            factor = math.exp(-rate * shift * step)
            if factor == 0:
                break
            above[:-shift] += factor * above[shift:]
            shift *= 2
        above *= scale
    return above


def epsilon_side(total: Composition, delta: float, upper: bool) -> float:
    r"""One end of the interval for epsilon at one delta.

    Formula: `delta_side` at every grid point (eq. cmp-delta), and between two
    grid points linear interpolation in $e^\varepsilon$, which is exact.

    Parameters: `total`, composed from distributions of the same side;
    `delta`; `upper`, which end is wanted.
    Returns: a number (-inf to inf, not cut at 0) on the wanted side.
    Source: chapter 4, "Reading off delta and epsilon".

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> round(epsilon_side(convolve([(coin, 2)]), 0.355568, upper=True), 5)
    1.0
    """
    sign = 1 if upper else -1
    infinite = total.infinity_mass * (1 + sign * 8 * UNIT)
    if delta <= infinite:
        return math.inf
    mass = np.maximum(total.mass + sign * total.entry_error, 0)
    pad = sign * 2 * total.tail * math.exp(log_peak(total.tilt))
    curve = tilted_curve(total.step, mass, total.tilt) + pad
    losses = total.step * (total.first_index + np.arange(len(mass)))
    largest = total.tilt * float(np.max(np.abs(losses)))
    window = total.tilt * float(losses[-1] - losses[0])
    sums = (100 + 2 * window) * (1 + math.log2(len(mass)))
    error = total.scale_error + UNIT * (
        sums + 4 * abs(total.log_scale) + 4 * largest
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        log_curve = total.log_scale - total.tilt * losses + np.log(curve)
    above = np.flatnonzero(
        log_curve + sign * error > math.log(delta - infinite)
    )
    if len(above) == 0:
        return float(losses[0]) if upper else -math.inf
    k = int(above[-1])
    if k == len(mass) - 1:
        return math.inf if upper else float(losses[k])
    level = math.log(delta - infinite) - sign * error
    wanted = math.exp(level - total.log_scale + total.tilt * losses[k])
    after = math.exp(-total.tilt * total.step) * (curve[k + 1] - pad) + pad
    part = min((curve[k] - wanted) / max(curve[k] - after, 1e-300), 1.0)
    root = losses[k] + math.log1p(part * math.expm1(total.step))
    return float(root)


def as_distribution(
    total: Composition, bound: BoundKind
) -> PrivacyLossDistribution:
    r"""Turn an untilted composition into a table on the safe side.

    Formula: upper: all errors are added to the mass at infinity; lower:
    they are taken from the entries, and the tail from the largest losses.

    Parameters: `total`, composed with tilt 0 from tables of one side;
    `bound`, that side.
    Returns: a table whose curve lies on that side of the truth.
    Source: chapter 4, "Untilted tables".

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> as_distribution(convolve([(coin, 2)]), "upper").first_index
    -2
    """
    scale = math.exp(total.log_scale)
    if bound in ("upper", "buckets-upper"):
        error = total.entry_error * total.mass.size + total.tail
        mass = np.maximum(total.mass, 0) * scale * (1 + total.scale_error)
        infinity = min(1.0, total.infinity_mass + scale * error)
    else:
        mass = np.maximum(total.mass - total.entry_error, 0)
        beyond = np.cumsum(mass[::-1])[::-1]
        mass = np.minimum(mass, np.maximum(beyond - total.tail, 0))
        mass *= scale * (1 - total.scale_error)
        infinity = total.infinity_mass
    return PrivacyLossDistribution(
        total.step, total.first_index, mass, infinity, bound
    )


def self_compose(
    distribution: PrivacyLossDistribution,
    count: int,
    *,
    tail_mass: float = 1e-15,
) -> PrivacyLossDistribution:
    r"""Privacy loss distribution of `count` independent equal steps.

    Formula: the `count`-fold convolution with itself.

    Parameters: `distribution`; `count` (T >= 1); `tail_mass` (in (0, 1)),
    what may be cut off at each end of the window, on the safe side.
    Returns: a distribution on the same side of the truth.
    Raises: ValueError for values outside these ranges.
    Error: absolute: round-off of about T * 1e-15, counted on the safe
    side. For relative accuracy at tiny delta use `epsilon` or `delta`.
    Source: Doroshenko et al. (2022), Lemma 2.7; chapter 4.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> self_compose(coin, 2).mass.round(4)
    array([0.0625, 0.    , 0.375 , 0.    , 0.5625])
    """
    count = check_count("count", count)
    return _compose([(distribution, count)], tail_mass)


def compose(
    distributions: Sequence[PrivacyLossDistribution],
    *,
    tail_mass: float = 1e-15,
) -> PrivacyLossDistribution:
    r"""Privacy loss distribution of several independent steps together.

    Formula: the convolution of all of them.

    Parameters: `distributions`, at least one, all with the same step and
    on the same side; `tail_mass` as for `self_compose`.
    Returns: a distribution on that side of the truth.
    Raises: ValueError for an empty list, different steps or sides.
    Error: as for `self_compose`.
    Source: Doroshenko et al. (2022), Lemma 2.7; chapter 4.

    >>> coin = PrivacyLossDistribution(1.0, -1, [0.25, 0.0, 0.75], 0.0)
    >>> compose([coin, coin]).mass.round(4)
    array([0.0625, 0.    , 0.375 , 0.    , 0.5625])
    """
    if not isinstance(distributions, Sequence) or len(distributions) == 0:
        raise ValueError(
            f"distributions must be a non-empty list, got {distributions!r}"
        )
    return _compose([(d, 1) for d in distributions], tail_mass)


def _compose(
    parts: Sequence[Part], tail_mass: float
) -> PrivacyLossDistribution:
    check_number("tail_mass", tail_mass, 0, 1, "()")
    for distribution, _ in parts:
        check_kind("distribution", distribution, PrivacyLossDistribution)
    first = parts[0][0]
    for name in ("step", "bound"):
        values = {getattr(d, name) for d, _ in parts}
        if len(values) > 1:
            raise ValueError(
                f"distributions must have the same {name}, got {values}"
            )
    return as_distribution(
        convolve(parts, log_tail=math.log(tail_mass)), first.bound
    )


@dataclass(frozen=True)
class MergedMoments:
    r"""Renyi moments of a few merged cells: a quick look at the total loss.

    Formula: $K(\lambda) \approx \sum_j T_j \ln \sum_i P_{ji}
    (P_{ji}/Q_{ji})^\lambda$ over cells i of growing width.

    Merging outcomes is post-processing, so this K is never too large. It
    chooses the tilt and the step; no bound depends on it.
    Source: chapter 4, "Choosing tilt and step".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> 8.8 < MergedMoments.of([(GaussianPair(1.0), 3)]).log_moment(2.0) < 9
    True
    """

    cells: tuple[tuple[Floats, Floats, int], ...]

    @classmethod
    def of(cls, losses: "Losses") -> "MergedMoments":
        """Cut the losses of each pair into cells of growing width."""
        powers = np.logspace(-9, 4, 261)
        cells = []
        for pair, count in losses:
            low, high = pair.loss_range
            bulk = [
                np.linspace(*loss_quantiles(pair, tail), 257)
                for tail in (1e-20, 1e-100, 1e-250)
            ]
            edges = np.concatenate([-powers, [0.0], powers, *bulk])
            if math.isfinite(low):
                edges = np.append(edges, low + powers)
            if math.isfinite(high):
                edges = np.append(edges, high - powers)
            edges = np.unique(edges)
            p, q = pair.masses(edges)
            seen = p > TINY
            floor = np.concatenate([edges[:1], edges])[seen]
            p, q = p[seen], q[seen]
            loss = np.log(p) - np.log(np.maximum(q, TINY))
            loss = np.where(q > TINY, loss, np.maximum(loss, floor))
            cells.append((np.log(p), loss, count))
        return cls(tuple(cells))

    def log_moment(self, order: float) -> float:
        """K at one order."""
        total = 0.0
        for log_p, loss, count in self.cells:
            exponent = log_p + order * loss
            top = float(np.max(exponent, initial=-1e300))
            total += count * (top + math.log(np.sum(np.exp(exponent - top))))
        return total


def best_tilt(
    log_moment: Callable[[float], float],
    exponent: Callable[[float, float], float],
) -> tuple[float, float]:
    r"""The tilt with the smallest Chernoff bound, and that bound.

    Formula: the minimum over $\lambda$ of `exponent`$(K(\lambda),
    \lambda)$, searched between $10^{-6}$ and $10^9$.

    Parameters: `log_moment` (K); `exponent`, the quantity to minimise.
    Returns: (tilt, minimum); any tilt is safe, a better one is faster.
    Source: chapter 4, "Choosing tilt and step".

    >>> tilt, least = best_tilt(lambda t: t**2, lambda k, t: k - 4 * t)
    >>> round(tilt, 2), round(least, 3)
    (2.0, -4.0)
    """

    def value(log_tilt: float) -> float:
        tilt = math.exp(log_tilt)
        return exponent(log_moment(tilt), tilt)

    grid = np.linspace(math.log(1e-6), math.log(1e9), 70)
    k = int(np.argmin([value(x) for x in grid]))
    best = minimize_scalar(
        value,
        bounds=(grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]),
        method="bounded",
        options={"xatol": 0.01},
    )
    return math.exp(best.x), float(best.fun)


def aligned_step(step: float, pairs: Sequence[DominatingPair]) -> float:
    r"""A step of nearly the given size whose grid meets the atoms.

    Formula: among $|\ell|/k$, with $\ell$ the atom farthest from 0, the
    step between 0.7 and 1 times `step` that misses the atoms least; where
    there is nothing but atoms, and all on one lattice, its spacing.

    Parameters: `step`; `pairs`, whose atoms are meant.
    Returns: a step; the same one if there are no atoms, more than 100 of
    them, or too many candidates.
    Source: chapter 4, "Choosing tilt and step".

    >>> from accountlib.worst_case_pairs import DiscretePair, LaplacePair
    >>> aligned_step(0.4, [LaplacePair(1.0)])
    0.3333333333333333
    >>> round(aligned_step(0.4, [DiscretePair((0.6, 0.4), (0.4, 0.6))]), 4)
    0.4055
    """
    atoms = [x for pair in pairs for x in pair.atoms]
    largest = max(map(abs, atoms), default=0.0)
    only_atoms = all(pair.discrete for pair in pairs)
    if largest == 0 or len(atoms) > 100 or largest > 2000 * step:
        return step
    if largest < step and not only_atoms:
        return step
    first = math.ceil(largest / step)
    parts = np.arange(1, max(math.ceil(first / 0.7), first + 1) + 1)
    ratio = np.outer(atoms, parts / largest)
    missed = np.max(np.abs(ratio - np.round(ratio)), axis=0)
    exact = np.flatnonzero(missed < 1e-9)
    if only_atoms and len(exact) > 0:
        return largest / int(parts[exact[0]])
    best = np.argmin((missed / parts)[first - 1 :])
    return largest / int(parts[first - 1 + best])


Query = Callable[[Composition, float, BoundKind], float]


def refine(
    losses: Losses,
    query: Query,
    *,
    tilt: float,
    step: float,
    tail_mass: float,
    relative_width: float,
) -> Bound:
    r"""Refine the step until the interval is as narrow as asked.

    Formula: the width falls with the square of the step.

    Parameters: `losses`, pairs of a dominating pair and its count;
    `query`, gives one end of the interval from a composition, from the
    error of the losses themselves (rounding of grid points and atoms) and
    from the side; `tilt`, `step`, `tail_mass` to begin with;
    `relative_width`, the wanted width.
    Returns: the intersection of all intervals on the way. It stays wider
    than asked when finer grids stop helping or outgrow `MOST_CELLS`.
    Source: chapter 4, "Choosing tilt and step"; `epsilon_one_way` calls it.
    """
    pairs = [pair for pair, _ in losses]
    result, finest = Bound(0.0, math.inf), math.inf
    for _ in range(10):
        step = aligned_step(step, pairs)
        if step > 0.9 * finest:
            break
        try:
            tables = [
                tables_of(losses, step, side, tail_mass) for side in SIDES
            ]
            used = min(tilt, 20 / step)  # beyond, one grid point is all
            log_tail = LOG_TAIL - used * step
            ends = []
            for (parts, moved), side in zip(tables, SIDES, strict=True):
                total = convolve(parts, tilt=used, log_tail=log_tail)
                ends.append(query(total, moved, side))
        except GridTooFine as error:
            step *= 1.5 * error.cells / MOST_CELLS
            continue
        before, finest = result.width, step
        upper = min(result.upper, ends[0])
        lower = max(result.lower, ends[1])
        if lower > upper * (1 + 1e-9):
            raise ArithmeticError(f"lower {lower!r} exceeds upper {upper!r}")
        result = Bound(min(lower, upper), max(lower, upper))
        if result.width <= relative_width or result.width > 0.8 * before < 0.8:
            break
        shrink = 0.8 * math.sqrt(relative_width / result.width)
        step *= min(max(shrink, 1 / 16), 0.5)
        tail_mass = max(1e-2 * tail_mass, 1e-300)
    return result


def tables_of(
    losses: Losses, step: float, side: BoundKind, tail_mass: float
) -> tuple[list[Part], float]:
    r"""Tables of all pairs on one side, and how far losses are moved.

    Formula: rounding moves a loss by at most $8 u \max_i |\ell_i|$, and
    an atom by at most $2^{-43}$ more; the sum over all steps.

    Parameters: as for `refine`; `side`, "upper" or "lower".
    Returns: (parts for `convolve`, largest shift of the total loss).
    Source: chapter 4, "The errors, all of them".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> parts, moved = tables_of([(GaussianPair(0.1), 9)], 0.1, "upper", 1e-9)
    >>> parts[0][1], moved < 1e-12
    (9, True)
    """
    parts, moved = [], 0.0
    for pair, count in losses:
        loss = discretize(pair, step=step, bound=side, tail_mass=tail_mass)
        parts.append((loss, count))
        largest = float(np.max(np.abs(loss.losses[[0, -1]])))
        atom = 2.0**-43 if pair.atoms else 0.0
        moved += count * (8 * UNIT * largest + atom)
    return parts, moved


def directions(
    releases: Release | Sequence[Release],
    adjacency: Adjacency | str,
    group_size: int,
) -> list[Losses]:
    """The dominating pairs of all releases with their counts, by direction.

    Parameters: `releases`, one Release or a sequence of them;
    `adjacency` and `group_size` as for `dominating_pairs`.
    Returns: one list for remove, one for add (or the one that was asked
    for); identical pairs are counted together, and a direction that
    equals the other one is left out.
    Raises: ValueError for an empty list or members that are no Release.
    Source: chapter 4, "One call".

    >>> from accountlib.worst_case_pairs import Laplace
    >>> directions([Release(Laplace(1.0))] * 3, "add-or-remove", 1)
    [[(LaplacePair(scale=1.0), 3)]]
    """
    if isinstance(releases, Release):
        releases = [releases]
    if not isinstance(releases, Sequence) or len(releases) == 0:
        raise ValueError(
            "releases must be a Release or a non-empty sequence of them, "
            f"got {releases!r}"
        )
    sides: list[dict[DominatingPair, int]] = []
    for release in releases:
        check_kind("releases", release, Release)
        pairs = dominating_pairs(
            release.mechanism,
            sampling=release.sampling,
            adjacency=adjacency,
            group_size=group_size,
        )
        sides = sides or [{} for _ in pairs]
        for side, pair in zip(sides, pairs, strict=True):
            side[pair] = side.get(pair, 0) + release.count
    distinct = {frozenset(side.items()): list(side.items()) for side in sides}
    return list(distinct.values())


def loss_ceiling(losses: Losses) -> Bound:
    r"""Interval for the largest finite total loss, cut at 0.

    Formula: $\sum_j T_j \sup L_j$, rounded outward: each by $10^{-14}$,
    relative, and by $2^{-43}$.

    Parameters: `losses`, pairs of a dominating pair and its count.
    Returns: a Bound; both ends inf where a pair has no largest loss.
    Source: chapter 4, "One call".

    >>> from accountlib.worst_case_pairs import LaplacePair
    >>> loss_ceiling([(LaplacePair(2.0), 10)]).contains(5.0)
    True
    """
    tops = [(n, pair.loss_range[1]) for pair, n in losses]
    if any(math.isinf(top) for _, top in tops):
        return Bound(math.inf, math.inf)
    total = math.fsum(n * top for n, top in tops)
    error = math.fsum(n * (1e-14 * abs(top) + 2.0**-43) for n, top in tops)
    if all(top == 0 for _, top in tops):
        error = 0.0
    return Bound(max(0.0, total - error), max(0.0, total + error))


def infinite_bound(losses: Losses) -> Bound:
    r"""Interval for the probability of an infinite total loss under P.

    Formula: $1 - \prod_j (1 - p_{j,\infty})^{T_j}$, rounded outward.

    Parameters: `losses`, pairs of a dominating pair and its count.
    Returns: a Bound; of width 0 where the value is exact.
    Source: chapter 4, "Mass at infinity".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> infinite_bound([(GaussianPair(1.0), 10)])
    Bound(lower=0.0, upper=0.0)
    """
    value = any_infinite([(pair.infinite_mass[0], n) for pair, n in losses])
    pair, count = losses[0]
    exact = len(losses) == count == 1
    if not isinstance(pair, DiscretePair) or list(pair.q).count(0.0) > 1:
        exact = False  # a product or a sum that may be rounded
    certain = any(pair.infinite_mass[0] == 1 for pair, _ in losses)
    if value == 0 or certain or exact:
        return Bound(value, value)
    error = 16 * UNIT * len(losses)
    lower = min(value * (1 - error), math.nextafter(1.0, 0.0))
    return Bound(lower, min(1.0, value * (1 + error)))


def epsilon_one_way(
    losses: Losses, delta: float, relative_width: float
) -> Bound:
    """Interval for epsilon in one direction; see `epsilon`.

    Parameters: `losses`, pairs of a dominating pair and its count;
    `delta` (in [0, 1]); `relative_width`, the wanted width.
    Returns: a Bound around the smallest epsilon >= 0 with that delta.
    Error: as for `epsilon`.
    Source: chapter 4, "One call".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> epsilon_one_way([(GaussianPair(0.1), 100)], 1e-6, 1e-3).contains(
    ...     4.886554
    ... )
    True
    """
    infinite, ceiling = infinite_bound(losses), loss_ceiling(losses)
    if delta < infinite.lower:
        return Bound(math.inf, math.inf)
    if delta == infinite.lower == infinite.upper:
        return ceiling
    if ceiling.upper == 0 or delta == 1:
        return Bound(0.0, 0.0)
    moments = MergedMoments.of(losses)
    log_delta = math.log(max(delta - infinite.upper, TINY))

    def exponent(k: float, t: float) -> float:
        return (k + log_peak(t) - log_delta) / t

    tilt, guess = best_tilt(moments.log_moment, exponent)
    if guess <= 0:  # delta is near delta(0): look there

        def exponent(k: float, t: float) -> float:
            return k + log_peak(t)

        tilt, _ = best_tilt(moments.log_moment, exponent)
    count = sum(n for _, n in losses)
    scale = max(guess, 1e-3 / (1 + tilt))
    result = refine(
        losses,
        lambda total, moved, side: max(
            0.0,
            epsilon_side(total, delta, side == "upper")
            + (moved if side == "upper" else -moved),
        ),
        tilt=tilt,
        step=0.9
        * math.sqrt(8 * relative_width * scale / ((1 + tilt) * count)),
        tail_mass=min(
            max(1e-3 * relative_width * delta / count, 1e-300), 1e-3
        ),
        relative_width=relative_width,
    )
    if infinite.upper <= delta:
        upper = min(result.upper, ceiling.upper)
        return Bound(min(result.lower, upper), upper)
    return result


def delta_one_way(
    losses: Losses, epsilon: float, relative_width: float
) -> Bound:
    """Interval for delta in one direction; see `delta`.

    Parameters: `losses`, pairs of a dominating pair and its count;
    `epsilon` (>= 0); `relative_width`, the wanted width.
    Returns: a Bound around delta(epsilon).
    Error: as for `delta`.
    Source: chapter 4, "One call".

    >>> from accountlib.worst_case_pairs import GaussianPair
    >>> delta_one_way([(GaussianPair(0.1), 100)], 1.0, 1e-3).contains(
    ...     0.1269367
    ... )
    True
    """
    infinite = infinite_bound(losses)
    if epsilon >= loss_ceiling(losses).upper:
        return infinite
    moments = MergedMoments.of(losses)

    def exponent(k: float, t: float) -> float:
        return k + log_peak(t) - t * epsilon

    tilt, guess = best_tilt(moments.log_moment, exponent)
    count = sum(n for _, n in losses)
    result = refine(
        losses,
        lambda total, moved, side: delta_side(
            total,
            epsilon + (-moved if side == "upper" else moved),
            side == "upper",
        ),
        tilt=tilt,
        step=0.9 * math.sqrt(8 * relative_width / (tilt * (1 + tilt) * count)),
        tail_mass=min(
            1e-3 * relative_width * math.exp(max(guess, -660)) / count, 1e-3
        ),
        relative_width=relative_width,
    )
    upper = min(result.upper, 1.0)
    return Bound(max(infinite.lower, min(result.lower, upper)), upper)


def epsilon(
    releases: Release | Sequence[Release],
    *,
    delta: float,
    adjacency: Adjacency | str,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Bound:
    r"""Interval proven to contain the epsilon of a whole training run.

    Formula: the smallest $\varepsilon \ge 0$ with
    $\delta(\varepsilon) \le \delta$.

    Parameters: `releases`, one Release or a sequence of them, all on the
    same data; `delta` ($\delta$ in [0, 1]); `adjacency`, "add", "remove"
    or "add-or-remove" (no default); `group_size` (1 for now);
    `relative_width` (in (0, 1)), the wanted (upper - lower)/upper.
    Returns: Bound(lower, upper) around the truth: the supremum over
    neighbouring data sets and adaptively chosen queries, every iterate
    released, of the dominating pairs of chapter 2. inf only where the
    mass at infinity exceeds delta (or losses have no largest value and
    delta = 0); Bound(0, 0) where epsilon is proven to be 0.
    Raises: ValueError for bad values, NotImplementedError for what no
    theorem of the book covers (substitution, groups).
    Error: the interval includes discretization, truncation, wrap-around
    and rounding. It may stay wider than asked (lower down to 0) near
    epsilon = 0, for losses with many atoms, and where an even grid cannot
    hold both the body and the tail of one loss: sampling rates below
    about 1e-4 together with little noise or few runs.
    Source: chapter 4; Lebeda et al. (2024), Theorem 8.

    >>> from accountlib.worst_case_pairs import Gaussian, Poisson
    >>> run = Release(Gaussian(0.8), Poisson(0.001), count=10_000)
    >>> bound = epsilon(run, delta=1e-6, adjacency="add-or-remove")
    >>> bound.contains(0.9472), bound.width < 1e-3
    (True, True)
    """
    delta = check_number("delta", delta, 0, 1)
    width = check_number("relative_width", relative_width, 0, 1, "()")
    bounds = [
        epsilon_one_way(losses, delta, width)
        for losses in directions(releases, adjacency, group_size)
    ]
    return Bound(max(b.lower for b in bounds), max(b.upper for b in bounds))


def delta(
    releases: Release | Sequence[Release],
    *,
    epsilon: float,
    adjacency: Adjacency | str,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Bound:
    r"""Interval proven to contain the delta of a whole training run.

    Formula: the largest $\delta(\varepsilon) = P(S > \varepsilon) -
    e^\varepsilon Q(S > \varepsilon)$ of the directions asked for, S the
    total privacy loss.

    Parameters: `epsilon` ($\varepsilon \ge 0$, finite); the others as for
    `epsilon`.
    Returns: Bound(lower, upper) around the truth (see `epsilon`).
    Raises: ValueError for bad values, NotImplementedError for what no
    theorem of the book covers (substitution, groups).
    Error: the interval includes all errors. It may stay wider than asked
    where epsilon is near the largest possible loss.
    Source: chapter 4; Lebeda et al. (2024), Theorem 8.

    >>> from accountlib.worst_case_pairs import Gaussian, Poisson
    >>> run = Release(Gaussian(0.8), Poisson(0.001), count=10_000)
    >>> bound = delta(run, epsilon=0.9472, adjacency="remove")
    >>> round(bound.upper, 8), bound.width < 1e-3
    (1e-06, True)
    """
    epsilon = check_number("epsilon", epsilon, 0, np.inf, "[)")
    width = check_number("relative_width", relative_width, 0, 1, "()")
    bounds = [
        delta_one_way(losses, epsilon, width)
        for losses in directions(releases, adjacency, group_size)
    ]
    return Bound(max(b.lower for b in bounds), max(b.upper for b in bounds))
