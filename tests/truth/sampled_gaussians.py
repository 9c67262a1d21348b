"""Many subsampled Gaussians by a contour integral: estimated errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

import numpy as np
from scipy import special

from tests.truth.moments import _log1p, _log_chernoff, _nodes, _sampled_loss
from tests.truth.one_release import UNIT

# --------------------------------------------------------------------------
# Subsampled Gaussians by a contour integral
#
# With K(s) = sum of count log E_P[e^(sL)], on any line Re s = sigma > 0,
#     delta = 1/(2 pi i) int e^(K(s) - s epsilon) / (s (s+1)) ds.   (contour)
# Every number comes with an error, the sum of what can go wrong; two lines
# must agree within it. Where it is too large: ArithmeticError. This is no
# proven bound: the parts "window" and "rounding" are estimates.
#
# Aliases. By Poisson's formula the trapezoid sum with step h is the sum over
# whole m of e^(sigma A m) delta(epsilon + A m), A = 2 pi/h. For m < 0, delta
# <= 1; for m > 0, Chernoff's bound. A makes both smaller than ALIAS.
#
# Window. The sum is not cut but faded out, by erfc. That replaces g(x) =
# e^(sigma x) delta(x) by a local mean around epsilon, as good as exact where
# g is smooth there, whatever it does elsewhere. The difference to a shorter
# window is taken as the error.
#
# Rounding. Errors of K and of the sum, relative to what is left after
# cancellation.
# --------------------------------------------------------------------------


# a release: noise multiplier, rate, count
GaussianRelease = tuple[float, float, int]
CONTOUR_ERROR = 1e-7  # the largest error that is let through, relative
ALIAS = 1e-13  # relative to delta, on either side
SETTLED = 1e-11  # a smaller error is not worth more work
FADE = 0.6  # the shorter window, as a part of the longer one
ROW = 64  # powers of one step that are multiplied with others
ROWS = 16  # the most rows of them at a time
MOST_WORK = 4e7  # complex products on one line; four times that on all
LOOSEST = 1e-5  # the largest error of log delta that a line is used with
LINES = (1.0, 0.95, 0.88, 0.8, 1.05, 0.65)  # sigma, of the best one
ORDERS = (1e-4, 1e10)  # where the best sigma is looked for
# value and slope on one line, and the error of log delta
Found = tuple[float, float, float]


class _Contour:
    """K(s), the direction, and where to put the line."""

    def __init__(
        self, releases: Iterable[GaussianRelease], direction: str
    ) -> None:
        self.releases = [r for r in releases if r[1] > 0 and r[2] > 0]
        self.add = direction == "add"
        self.work = 0.0

    def moments(
        self, sigma: float, step: float, start: int, rows: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """K and its error at s = sigma + i step n, ROW * rows of them.

        e^(i t L) is a product of one of `rows` and one of ROW powers.
        """
        order = -sigma if self.add else sigma + 1.0  # of e^L under Q
        turn = -1j * step if self.add else 1j * step
        first = turn * (start + ROW * np.arange(rows))[:, None]
        second = turn * np.arange(ROW if rows > 1 or start else 1)[:, None]
        highest = abs(turn) * (start + rows * len(second))
        shape = (rows, len(second))
        total, error = np.zeros(shape, dtype=complex), np.zeros(shape)
        t = np.abs(first + second.T)
        for noise, rate, count in self.releases:
            u, weight, top = _nodes(order, highest, noise, rate)
            self.work += len(u) * rows * len(second)
            loss = _sampled_loss(u, noise, rate)
            if top < 1:  # small losses: E[e^(order L)] - 1 keeps its digits
                w = np.exp(-u * u / 2) * weight
                power = (order + first) * loss
                large = order * loss > 50  # and w may be below e^-745
                one = np.expm1(np.where(large, 0, power)) * w
                exponent = power - u * u / 2 + math.log(weight)
                one = np.where(large, np.exp(exponent), one)
                two = np.expm1(second * loss)
                excess = one.sum(axis=1)[:, None] + two @ w + one @ two.T
                log = _log1p(excess)
                off = np.abs(one[0]).sum()
                off = off + t * (np.abs(loss) @ w)
                off /= np.maximum(np.abs(1 + excess), 1e-300)
            else:
                one = np.exp((order + first) * loss - (u * u / 2 + top))
                moment = weight * (one @ np.exp(second * loss).T)
                moment[moment == 0] = 1e-300
                log = np.log(moment) + top
                real = np.exp(order * loss - (u * u / 2 + top)) * weight
                off = 4 + t * (np.abs(loss) @ real) / real.sum()
                off = off * real.sum() / np.abs(moment) + abs(top)
            total += count * log
            error += count * 2 * UNIT * off
        return total.ravel(), error.ravel()

    def largest_loss(self) -> float:
        """The add direction has losses below -log(1 - rate)."""
        if not self.add or any(rate == 1 for _, rate, _ in self.releases):
            return math.inf
        return -sum(n * math.log1p(-rate) for _, rate, n in self.releases)

    def real(self, sigma: float) -> float:
        return float(self.moments(sigma, 0.0, 0, 1)[0][0].real)

    def best(self, objective: Callable[[float, float], float]) -> float:
        """The sigma where `objective(sigma, K(sigma))` is least.

        It must be convex in sigma, or a convex one divided by sigma: then
        there is one local minimum.
        """

        def value(log_sigma: float) -> float:
            sigma = math.exp(log_sigma)
            try:
                return objective(sigma, self.real(sigma))
            except ArithmeticError:
                return math.inf

        ends = [math.log(end) for end in ORDERS]
        part = (math.sqrt(5) - 1) / 2  # golden section: infinities are legal
        low, high = ends
        left, right = high - part * (high - low), low + part * (high - low)
        at_left, at_right = value(left), value(right)
        while high - low > 0.01:
            if at_left <= at_right:
                high, right, at_right = right, left, at_left
                left = high - part * (high - low)
                at_left = value(left)
            else:
                low, left, at_left = left, right, at_right
                right = low + part * (high - low)
                at_right = value(right)
        if low == ends[0] or high == ends[1]:
            raise ArithmeticError("no saddle point between 1e-4 and 1e10")
        return math.exp((low + high) / 2)

    def saddle(self, epsilon: float) -> float:
        """The sigma where the integrand is least on the real line."""
        return self.best(
            lambda s, k: k - s * epsilon - math.log(s) - math.log1p(s)
        )

    def period(self, sigma: float, epsilon: float, log_delta: float) -> float:
        """A such that all aliases together are below ALIAS delta."""
        goal = math.log(ALIAS) - 1
        down = (-log_delta - goal) / sigma
        up = self.largest_loss() - epsilon
        for part in (1.1, 1.2, 1.5, 2, 3, 5, 10, 30):
            more = part * sigma
            rest = self.real(more) + _log_chernoff(more)
            rest -= more * epsilon + log_delta + goal
            up = min(up, max(rest, 0.0) / (more - sigma))
        return max(down, up)


class _Line:
    """The values of K on one line, as far as they are needed."""

    def __init__(self, contour: _Contour, sigma: float, period: float) -> None:
        self.contour, self.sigma, self.period = contour, sigma, period
        self.rounding = 0.0  # of the last answer
        self.most = min(contour.work + MOST_WORK, 4 * MOST_WORK)
        self.step = 2 * math.pi / period
        self.values, self.errors = contour.moments(sigma, self.step, 0, 4)

    def extend(self) -> None:
        """Twice as many values."""
        length = len(self.values)
        rows = min(length // ROW, ROWS)
        self.contour.work += 200 * length  # for reading off
        if self.contour.work > self.most:
            raise ArithmeticError("the contour integral does not settle")
        parts = [
            self.contour.moments(self.sigma, self.step, start, rows)
            for start in range(length, 2 * length, rows * ROW)
        ]
        self.values = np.concatenate([self.values, *(p[0] for p in parts)])
        self.errors = np.concatenate([self.errors, *(p[1] for p in parts)])

    def log_delta(self, epsilon: float) -> Found:
        """log delta(epsilon), its derivative, and its error."""
        n = np.arange(len(self.values))
        s = self.sigma + 1j * self.step * n
        top = float(self.values[0].real) - self.sigma * epsilon
        f = np.exp(self.values - s * epsilon - top) / (s * (s + 1))
        f[0] /= 2
        windows = [
            special.erfc(12 * n / (part * len(n)) - 6.5) / 2
            for part in (1.0, FADE)
        ]
        value, other = (float(f.real @ window) for window in windows)
        if value <= 0:
            return -math.inf, -self.sigma, math.inf
        slope = -float((s * f).real @ windows[0]) / value
        off = self.errors + UNIT * (8 + np.abs(s * epsilon) + abs(top))
        self.rounding = float(np.abs(f) @ off) / value + SETTLED / 2
        log = top + math.log(value * self.step / math.pi)
        return log, slope, abs(value - other) / value + self.rounding

    def epsilon(self, high: float, goal: float) -> Found:
        """epsilon with log delta = goal, the slope there, and log's error.

        Newton's method, and bisection of [0, high] where it leads astray:
        far right of the root the sum is noise. What is missing to the goal
        counts as an error.
        """
        low, epsilon = 0.0, high
        slope, error = -self.sigma, math.inf
        for _ in range(60):
            value, slope, error = self.log_delta(epsilon)
            low, high = (low, epsilon) if value < goal else (epsilon, high)
            move = (goal - value) / slope if slope else math.inf
            if abs(move) <= max(1e-12 / abs(slope), 8 * UNIT * epsilon):
                break
            epsilon += move
            if not low < epsilon < high:
                epsilon = (low + high) / 2
        return epsilon, slope, error + abs(value - goal)

    def settle(self, read: Callable[[], Found]) -> Found:
        """What `read` gives, once only rounding is left of its error."""
        result, before = read(), math.inf
        while (error := result[2]) > max(SETTLED, 1.5 * self.rounding):
            if 1e-10 > error > before / 4:
                break
            self.extend()
            result, before = read(), error
        return result


def _two_lines(
    sigma: float, find: Callable[[float], Found]
) -> tuple[Found, Found]:
    """The first two lines that give a number."""
    found = []
    reason = ArithmeticError("no line")
    for part in LINES:
        try:
            found.append(find(part * sigma))
        except ArithmeticError as failure:
            reason = failure
            continue
        if found[-1][2] > LOOSEST:
            found.pop()
        if len(found) == 2:
            return found[0], found[1]
    raise ArithmeticError(f"the contour integral does not settle: {reason}")


def _agreed(values: list[float], errors: list[float]) -> tuple[float, float]:
    """An interval around both values, if they agree within their errors."""
    slack = sum(errors)
    if not abs(values[0] - values[1]) <= slack:
        raise ArithmeticError(f"two contours disagree: {values}, {errors}")
    return min(values) - slack, max(values) + slack


def log_delta_range(
    contour: _Contour, epsilon: float, sigma: float
) -> tuple[float, float]:
    """log delta on the line at sigma and on a second one."""

    def find(s: float) -> Found:
        log = contour.real(s) + _log_chernoff(s) - s * epsilon - 8
        for _ in range(5):
            line = _Line(contour, s, contour.period(s, epsilon, log))
            found = line.settle(partial(line.log_delta, epsilon))
            log = found[0]
            if contour.period(s, epsilon, log) <= line.period:
                return found
            log -= 1
        raise ArithmeticError("the step of the contour does not settle")

    found = _two_lines(sigma, find)
    return _agreed([f[0] for f in found], [f[2] for f in found])


def contour_delta_range(
    epsilon: float,
    releases: Iterable[GaussianRelease],
    *,
    direction: str = "remove",
) -> tuple[float, float]:
    """delta(epsilon) of Poisson-sampled Gaussians (noise, rate, count).

    The integral (contour) by the trapezoid rule through the saddle point,
    and on a second line. Usually 1e-10 wide, 1e-4 at most; no proven bound.
    """
    contour = _Contour(releases, direction)
    if not contour.releases:
        return (max(0.0, -math.expm1(epsilon)),) * 2
    if epsilon >= contour.largest_loss():
        return 0.0, 0.0

    low, high = log_delta_range(contour, epsilon, contour.saddle(epsilon))
    if low < -700:
        raise ArithmeticError(f"delta is below e^{high}")
    return math.exp(low) * (1 - 1e-13), math.exp(high) * (1 + 1e-13)


def contour_epsilon_range(
    delta: float,
    releases: Iterable[GaussianRelease],
    *,
    direction: str = "remove",
) -> tuple[float, float]:
    """epsilon(delta) of Poisson-sampled Gaussians, by the same integral.

    Newton's method on log delta along lines near the one where the Chernoff
    bound on epsilon is least.
    """
    releases = list(releases)
    contour = _Contour(releases, direction)
    most = sum(
        count * rate * math.erf(math.sqrt(0.125) / noise)
        for noise, rate, count in contour.releases
    )
    if most <= delta * (1 - 1e-12):  # delta(0), summed over the releases
        return 0.0, 0.0
    try:
        low, high = _contour_epsilon(contour, math.log(delta))
    except ArithmeticError:
        if delta < 1e-4 * most:  # surely not above delta(0)
            raise
        low = high = -math.inf
    if low > 0:
        return low, high
    if contour_delta_range(0.0, releases, direction=direction)[1] <= delta:
        return 0.0, 0.0
    if high < 0:
        raise ArithmeticError("the contour integral does not settle")
    return 0.0, high


def _contour_epsilon(contour: _Contour, goal: float) -> tuple[float, float]:
    def bound(s: float, k: float) -> float:
        return (k + _log_chernoff(s) - goal) / s

    sigma = contour.best(bound)
    start = min(bound(sigma, contour.real(sigma)), contour.largest_loss())

    def find(s: float) -> Found:
        low = start - 8 / s
        for _ in range(5):
            line = _Line(contour, s, contour.period(s, low, goal))
            found = line.settle(partial(line.epsilon, start, goal))
            low = found[0]
            if contour.period(s, low, goal) <= line.period:
                return found
            low -= 1 / s
        raise ArithmeticError("the step of the contour does not settle")

    with suppress(ArithmeticError):  # else, the least bound has to do
        rough, _, error = find(sigma)
        if error < 1:
            sigma = contour.saddle(rough)
    found = _two_lines(sigma, find)
    return _agreed([f[0] for f in found], [f[2] / -f[1] for f in found])


def _middle(ends: tuple[float, float]) -> float:
    """The middle of an interval that is narrow enough to be one number."""
    low, high = ends
    if high - low > 2 * CONTOUR_ERROR * high:
        raise ArithmeticError(f"known too roughly: between {low} and {high}")
    return (low + high) / 2


def contour_delta(
    epsilon: float,
    releases: Iterable[GaussianRelease],
    *,
    direction: str = "remove",
) -> float:
    """`contour_delta_range` as one number, off by CONTOUR_ERROR of itself.

    Usually by 1e-10. ArithmeticError where that is not reached.
    """
    return _middle(contour_delta_range(epsilon, releases, direction=direction))


def contour_epsilon(
    delta: float,
    releases: Iterable[GaussianRelease],
    *,
    direction: str = "remove",
) -> float:
    """`contour_epsilon_range` as one number, off by CONTOUR_ERROR of itself.

    ArithmeticError where that is not reached; so where epsilon is nearly 0.
    """
    return _middle(contour_epsilon_range(delta, releases, direction=direction))
