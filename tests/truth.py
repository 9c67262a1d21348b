"""The truth that answers are held against, by methods of their own.

`truth_of(releases, adjacency, group_size)` takes plain words, such as
`[[["Gaussian", 0.8], ["Poisson", 0.001], 10_000]]`. Its `delta(epsilon)` is
`(low, high)` around delta; floats are the binary fractions that they are.

* closed form   one step, or Gaussian steps without sampling, in balls
* sum           lists of outcomes, counted, with Gaussian steps or one more
                step of any kind; in balls
* contour       all else: two lines that must agree, error estimated

P is the output with the record, Q without: "remove" compares P with Q, "add"
Q with P. Where theory has a gap, `low` is what data sets attain and `high` is
proven. What is not known raises `NoTruth`.
"""

import math
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise

import numpy as np
from flint import arb, ctx, fmpq
from scipy import optimize, special

NOTHING = 1e-215  # a smaller delta is not asked for
MOST_COUNTED = 4000  # steps whose outcomes are counted one by one
MOST_WORK = 1e8  # of a contour
LOOSEST = 1e-6  # the largest estimated error that is let through
UNIT = 2.0**-53


class NoTruth(ArithmeticError):
    """This cannot be known here."""


def ball(x):
    """A float or a fraction, exactly or within one unit."""
    return arb(fmpq(*x.as_integer_ratio()) if isinstance(x, Fraction) else x)


def enclose(value):
    """Two floats around a probability; the precision grows."""
    for prec in (128, 256, 512, 1024, 2048, 4096):
        with ctx.workprec(prec):
            x = value()
            if x == 0:
                return 0.0, 0.0
            sharp = x.rel_accuracy_bits() >= 50 or x < NOTHING
            if x.is_finite() and sharp:
                low = math.nextafter(float(x.lower()), -1.0)
                high = math.nextafter(float(x.upper()), 2.0)
                return max(0.0, low), min(1.0, high)
    raise NoTruth("too many digits cancel")


def enclosed(function, epsilon):
    """The same for a function of epsilon."""
    return enclose(lambda: function(epsilon))


# --- one step ---------------------------------------------------------------


class Noise:
    """P = sum of a_j f(z - m_j) against Q = sum of b_j f(z - m_j).

    f is the normal or the Laplace density of scale 1; the loss grows with z,
    so that the best event is z > z* for some z*.
    """

    listed = False

    def __init__(self, shifts, weights, normal):
        self.exact, self.smooth = [shifts, *weights], normal
        self.balls = cache(
            lambda prec: [[ball(x) for x in row] for row in self.exact]
        )
        self.m, *floats = (np.array(row, float) for row in self.exact)
        with ctx.workprec(200):
            rows = self.balls(200)[1:]
            logs = [[float(w.log()) for w in row] for row in rows]
        self.logs = [
            (w, np.where(w > 0, x, -np.inf))
            for w, x in zip(floats, logs, strict=True)
        ]
        one = weights == [[0, 1], [1, 0]]
        self.shift = shifts[1] - shifts[0] if one else None  # no mixture
        self.grids = {}

    def reversed(self):
        """Q against P."""
        shifts, a, b = (row[::-1] for row in self.exact)
        turned = [-m for m in shifts], [b, a], self.smooth
        return self if self.shift else Noise(*turned)

    def end(self, i):
        """The smallest loss (i = 0), the largest one (-1); None: infinite."""
        m, a, b = (row[i] for row in self.balls(ctx.prec))
        if not self.smooth:
            return self.loss(m)
        return (a / b).log() if a > 0 and b > 0 else None

    def loss(self, z):
        p = q = arb(0)
        for m, a, b in zip(*self.balls(ctx.prec), strict=True):
            power = m * z - m * m / 2 if self.smooth else abs(z) - abs(z - m)
            p, q = p + a * power.exp(), q + b * power.exp()
        return (p / q).log()

    def gap(self, z, goal):
        return float(self.at(np.array([z]))[1][0]) - goal

    def place(self, epsilon, low, high):
        """A ball that contains the z with loss epsilon, by secants."""
        goal = (float(epsilon),)
        ends = self.gap(low, *goal), self.gap(high, *goal)
        z = low if ends[0] >= 0 else high
        if ends[0] < 0 < ends[1]:
            z = optimize.brentq(self.gap, low, high, goal, xtol=1e-10)
        z, wanted = arb(z), arb(2) ** (16 - ctx.prec)
        old = z + (1 + abs(z)) * 1e-9
        miss, before = (epsilon - self.loss(x) for x in (z, old))
        for _ in range(30):
            move = (miss * (old - z) / (miss - before)).mid()
            if not abs(move) > wanted * (1 + abs(z)):
                break
            old, before, z = z, miss, (z + move).mid()
            miss = epsilon - self.loss(z)
        radius = (1 + abs(z)) * wanted
        while radius < 1e9:
            below, above = (z - radius).mid(), (z + radius).mid()
            if self.loss(below) < epsilon and self.loss(above) > epsilon:
                return below.union(above)
            radius *= 16
        return arb.nan()

    def curve(self, alpha):
        """sup over E of P(E) - alpha Q(E)."""
        epsilon, least, most = alpha.log(), self.end(0), self.end(-1)
        far = 40 if self.smooth else 0  # beyond, less than 1e-300
        low, high = float(self.m[0] - far), float(self.m[-1] + far)
        if least is not None and epsilon <= least:
            return 1 - alpha
        if most is not None and epsilon >= most:
            return arb(0)
        if self.smooth and self.loss(arb(high)) < epsilon:
            return arb(0).union(arb(1e-300))
        if self.smooth and self.loss(arb(low)) > epsilon:
            return (1 - alpha).union(1 - alpha + arb(1e-300))
        z, total = self.place(epsilon, low, high), arb(0)
        for m, a, b in zip(*self.balls(ctx.prec), strict=True):
            half = (-abs(z - m)).exp() / 2
            tail = (
                half
                if z >= m
                else 1 - half
                if z <= m
                else half.union(1 - half)
            )
            if self.smooth:
                tail = ((z - m) / arb(2).sqrt()).erfc() / 2
            total += (a - alpha * b) * tail
        return total

    def at(self, z):
        """log of P's density and the loss, both with digits near 0."""
        m, both = self.m[:, None], []
        powers = m * z - m * m / 2 if self.smooth else abs(z) - abs(z - m)
        for weights, logs in self.logs:
            terms = logs[:, None] + powers
            top = terms.max(axis=0)
            far = top + np.log(np.exp(terms - top).sum(axis=0))
            near = weights @ np.expm1(np.minimum(powers, 30))
            small = (powers.max(axis=0) < 30) & (abs(near) < 0.5)
            both.append(
                np.where(small, np.log1p(np.where(small, near, 0)), far)
            )
        base = z * z / 2 + math.log(2 * math.pi) / 2
        base = base if self.smooth else abs(z) + math.log(2)
        return both[0] - base, both[0] - both[1]

    def nodes(self, tilt, highest):
        """A rule for E[e^(s loss)], Re s = tilt, Im s <= highest: logs of
        P-masses, and losses."""
        width = float(np.ptp(self.m))
        if not self.smooth:
            count = max(1.0, width * (highest + tilt + 1.5))
            return self.grid(math.ceil(math.log2(count)))[:2]
        # trapezoid rule; the integrand is analytic for |Im z| < pi / width
        narrow = math.sqrt(1 + (tilt + 1) * width**2 / 4)
        band = 9.7 * (1 + min(narrow, 1 + width * (tilt + 1))) + 20 * width
        for _ in range(2):
            level = max(4, math.ceil(math.log2(band / 2 / math.pi)))
            logs, loss, slope = self.grid(level)
            height = logs + tilt * loss
            tall = height > height.max() - 45
            band += highest * np.abs(slope[tall]).max()
        needed = tall | (logs > logs.max() - 45)
        return logs[needed], loss[needed]

    def grid(self, level):
        if level not in self.grids:
            size = np.ptp(self.m) + 72 if self.smooth else 40
            if size * 2.0**level * len(self.m) > 1e6:
                raise NoTruth("the moments need too many points")
            if not self.smooth:
                self.grids[level] = self.panels(self.m, 2**level, 20)
            else:
                z = np.arange(self.m[0] - 36, self.m[-1] + 36, 2.0**-level)
                logs, loss = self.at(z)
                slope = np.gradient(loss, 2.0**-level)
                self.grids[level] = logs - level * math.log(2), loss, slope
        return self.grids[level]

    def panels(self, kinks, count, points):
        """Gauss-Legendre between kinks; atoms beyond the outermost ones."""
        x, w = np.polynomial.legendre.leggauss(points)
        places, logs = [], [[0, 0]]
        for a, b in pairwise(kinks):
            half = (b - a) / count / 2
            edges = np.linspace(a, b, count + 1)[:-1, None]
            places.append((edges + half * (1 + x)).ravel())
            logs.insert(-1, np.log(np.tile(w * half, count)))
        height, loss = self.at(np.concatenate([*places, self.m[[0, -1]]]))
        return height + np.concatenate(logs), loss


class Listed:
    """A list of outcomes, or nearly all of infinitely `many`."""

    shift = smooth = False

    def __init__(self, pairs, many=False):
        self.kept, self.many = cache(lambda prec: pairs()), many
        self.listed = not many
        with ctx.workprec(200):
            total = 1 - self.infinite()
            rows = [((p / total).log(), (p / q).log()) for p, q in self.some()]
        self.rule = np.array([[float(x) for x in row] for row in rows]).T

    def all(self):
        return self.kept(ctx.prec)

    def reversed(self):
        return Listed(lambda: [(q, p) for p, q in self.all()], self.many)

    def some(self):
        """Outcomes of finite loss, the most likely one first."""
        found = [x for x in self.all() if x[0] > 0 and x[1] > 0]
        return sorted(found, key=lambda x: -float(x[0]))

    def infinite(self):
        return sum((p for p, q in self.all() if q == 0), arb(0))

    def curve(self, alpha):
        total = sum(((p - alpha * q).max(0) for p, q in self.all()), arb(0))
        return total + arb(0).union(arb(1e-230)) if self.many else total

    def end(self, i):
        losses = sorted(((p / q).log() for p, q in self.some()), key=float)
        return losses[i] if losses else None

    def nodes(self, tilt, highest):
        return self.rule


# --- sums -------------------------------------------------------------------


def gaussian_curve(mu2, alpha):
    mu, root = ball(mu2).sqrt(), arb(2).sqrt()
    sides = [(alpha.log() / mu + x * mu / 2) / root for x in (-1, 1)]
    return (sides[0].erfc() - alpha * sides[1].erfc()) / 2


def binomial_curve(pairs, count, alpha, kept):
    """Many steps with two losses: tails of binomial distributions."""
    if len(pairs) < 2 or not count:
        a, b = pairs[0] if pairs else (arb(0), arb(1))
        return (a**count - alpha * b**count).max(0)
    (c, d), (a, b) = sorted(pairs, key=lambda x: (x[0] / x[1]).mid())
    low, high = (c / d).log(), (a / b).log()
    need = (alpha.log() - count * low) / (high - low)
    places, best = (float(need.lower()), float(need.upper())), arb(0)
    if not places[1] - places[0] < 1:
        return arb.nan()
    for first in {math.floor(min(max(x, -2), count)) + 1 for x in places}:
        mean = count * float(a / (a + c))
        if first > mean and chernoff(min(first, count), count, mean) > 520:
            best = best.max(arb(0).union(arb(1e-225)))
            continue
        p, q = (
            tail_of(count, first, x, y, kept.setdefault((count, i), []))
            for i, (x, y) in enumerate(((a, c), (b, d)))
        )
        best = best.max(p - alpha * q)
    return best


def tail_of(count, first, x, y, sums):
    """sum over n >= first of C(count, n) x^n y^(count - n)."""
    if not 0 < first <= count:
        return (x + y) ** count if first <= 0 else arb(0)
    if count > MOST_COUNTED:
        rest, first, z = arb(count - first + 1), arb(first), x + y
        if first > count * float(x / z):
            return z**count * (x / z).beta_lower(first, rest, regularized=1)
        return z**count * (1 - (y / z).beta_lower(rest, first, regularized=1))
    if not sums:
        term = x**count
        sums.append(term)
        for n in range(count, 0, -1):
            term *= y / x * n / (count - n + 1)
            sums.append(sums[-1] + term)
    return sums[count - first]


def chernoff(x, count, mean):
    """That many successes, or more, have a probability below e^-this."""
    terms = special.rel_entr([x, count - x], [mean, count - mean])
    return float(terms.sum())


def axes_of(step, count, cut):
    """How often each outcome may occur, the most likely one first: more, or
    fewer, have a probability below e^-cut."""
    total, axes = 1 - step.infinite(), []
    for p, _ in step.some():
        mean, ends = count * float(p / total), []

        def rest(x, mean=mean):
            return chernoff(x, count, mean) - cut

        for end, out in ((0, -2), (count, 2)):
            if rest(end) > 0:
                end = round(optimize.brentq(rest, mean, end, xtol=0.5)) + out
            ends.append(min(max(end, 0), count))
        axes.append(range(ends[0], ends[1] + 1))
    return axes


def rows_of(step, count, cut, skip):
    """How often the outcomes occur, but for the `skip` most likely ones that
    take what is left: masses under P and Q, and what is left."""
    pairs, grid, found = step.some(), [()], []
    for axis in axes_of(step, count, cut)[skip:]:
        if len(axis) * len(grid) > 3000:
            raise NoTruth("too many outcomes")
        grid = [(*g, n) for g in grid for n in axis if sum(g) + n <= count]
    factorial = cache(lambda n: arb(n + 1).lgamma())
    power = cache(lambda i, j, n: pairs[i][j] ** n)
    for row in grid:
        left = count - sum(row)
        ways = factorial(count) - sum(map(factorial, row), factorial(left))
        both = [ways.exp(), ways.exp()]
        counts = [left, *row] if skip == 1 else [0, 0, *row]
        for i, n in enumerate(counts[: len(pairs)]):
            both = [x * power(i, j, n) for j, x in enumerate(both)]
        found.append((*both, left))
    return found


def infinite(lists):
    """The probability of an infinite loss in any step."""
    return -sum(
        (n * (-x.infinite()).log1p() for x, n in lists), arb(0)
    ).expm1()


def sum_of_lists(lists, other, epsilon):
    """Lists of outcomes, and perhaps one more step with a known curve.

    Without such a step, `binomial_curve` has the two most likely outcomes of
    one list.
    """

    def size(x):
        axes = axes_of(*x, 60)[1:]
        return x[1] <= MOST_COUNTED, max(map(len, axes), default=0)

    *lists, (last, most) = sorted(lists, key=size)
    limit = 1500 if other or most <= MOST_COUNTED else 30

    def value():
        total, alpha = infinite([*lists, (last, most)]), arb(epsilon).exp()
        sums, kept = rows_of(last, most, cut, 1 if other else 2), {}
        for one, count in lists:
            rows = rows_of(one, count, cut, 1)
            sums = [(p * a, q * b, n) for p, q, n in sums for a, b, _ in rows]
            if len(sums) > limit:
                raise NoTruth("too many outcomes")
        two = last.some()[:2]
        for p, q, left in sums:
            x = alpha * q / p
            part = other(x) if other else binomial_curve(two, left, x, kept)
            total += p * part
        return total

    for cut in (60.0, 160.0, 520.0):
        low, high = enclose(value)
        kinds = sum(len(x.all()) for x, _ in lists) + len(last.all())
        lost = 2 * kinds * math.exp(-cut)
        if lost <= 1e-12 * low:
            break
    return low, min(1.0, high + lost)


# --- the contour ------------------------------------------------------------

ROW = 32
ORDERS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.97]
ORDERS += [1, 1.03, 1.07, 1.15, 1.3, 1.6, 2.2, 4, 10]


def log_moment(logs, loss, first, second):
    """log E[e^(s loss)], s = first + second, and its error.

    Where the expectation is near 1, its difference to 1 keeps its digits.
    """
    tilt, weight = first[0].real, np.exp(logs)
    t = abs(np.add.outer(first - tilt, second))
    top = float((logs + tilt * loss).max())
    power, turn = (np.multiply.outer(s, loss) for s in (first, second))
    if top < 15 and abs(weight.sum() - 1) < 1e-11:
        far = np.exp(power + logs) - weight
        one = np.where(tilt * loss > 1, far, np.expm1(power) * weight)
        two = np.expm1(turn)
        z = one.sum(axis=1)[:, None] + two @ weight + one @ two.T
        size = np.maximum(z.real * (2 + z.real) + z.imag**2, UNIT - 1)
        value = np.log1p(size) / 2 + 1j * np.arctan2(z.imag, 1 + z.real)
        size = abs(one[0])
        off = size.sum() + t * (abs(loss) @ (weight + size))
        return value, 2 * UNIT * off / np.maximum(abs(1 + z), 1e-300)
    one = np.exp(power + logs - top)
    z = one @ np.exp(turn).T
    z[z == 0] = 1e-300
    off = 4 * abs(one[0]).sum() + (t + tilt) * (abs(loss) @ abs(one[0]))
    return np.log(z) + top, 2 * UNIT * (off / abs(z) + abs(top))


class Contour:
    """delta = 1/(2 pi i) int e^(K(s) - s epsilon) / (s (s+1)) ds, Re s > 0.

    K(s) is the sum of count log E[e^(s loss)].

    A trapezoid sum of step h is the sum over whole m of e^(tilt A m)
    delta(epsilon + A m), A = 2 pi/h: Chernoff's bounds at some orders choose
    A. The sum is not cut but faded out; the difference to a shorter window
    is taken as the error of that.
    """

    def __init__(self, steps):
        self.steps, self.lines, self.tilt, self.work = steps, [], 1.0, 0

    def logs(self, tilt, step=0.0, start=0, rows=1):
        """At tilt + i step n, rows * ROW of them: K, its error, and the log
        of what smooth steps and atoms leave of e^K."""
        row = ROW if step else 1
        first = tilt + 1j * step * (start + row * np.arange(rows))
        second = 1j * step * np.arange(row)
        total, off, fade = np.zeros((3, rows, row))
        for one, count in self.steps:
            logs, loss = one.nodes(tilt, step * (start + row * rows))
            self.work += (len(loss) + 50) * (rows * row + 20 * (rows + row))
            if self.work > MOST_WORK * len(self.steps) ** 0.5:
                raise NoTruth("too much work")
            k, error = log_moment(logs, loss, first, second)
            total, off = total + count * k, off + count * error
            if one.smooth:
                fade = fade + count * (k.real - k.real[0, 0])
            elif isinstance(one, Noise):  # Laplace: two atoms
                atoms = np.exp(logs[-2:] + tilt * loss[-2:]).sum()
                fade = fade + count * (np.log(atoms) - k.real[0, 0])
        return total.ravel(), off.ravel(), fade.ravel()

    def bound(self, s, epsilon=0.0):
        """Chernoff's bound of log delta: (1 - e^-x)_+ <= c e^(s x)."""
        if not s:
            return 0.0
        log_c = -math.log1p(s) - s * math.log1p(1 / s)
        return float(self.logs(s)[0][0].real) + log_c - s * epsilon

    def saddle(self, epsilon):
        """The tilt where the integrand is least on the real line."""

        def height(x):
            s = math.exp(x)
            try:
                value = self.bound(s, epsilon) + s * math.log1p(1 / s) - x
            except NoTruth:
                return 1e300
            return value if math.isfinite(value) else 1e300

        start = math.log(self.tilt)
        found = optimize.minimize_scalar(
            height, bracket=(start, start + 0.5), options={"xtol": 1e-3}
        )
        self.tilt = math.exp(found.x)
        return self.tilt

    def line(self, tilt, sides, epsilon, log):
        """Values of K on Re s = tilt, as far as they are needed."""
        period, line = 0.0, ()
        for _ in range(4):
            wanted = self.period(tilt, sides, epsilon, log)
            if wanted < period:
                return line
            period, before, size = 1.02 * wanted, math.inf, 8 * ROW
            step = 2 * math.pi / period
            values = self.logs(tilt, step, 0, 8)
            while True:
                line = tilt, step, sides, values
                log, error, rounding = self.read(line, epsilon)
                if error < 1e-11 + 2 * rounding or 1e-9 > error > before / 4:
                    break
                more = self.logs(tilt, step, size, size // ROW)
                both = zip(values, more, strict=True)
                values = [np.concatenate(x) for x in both]
                before, size = error, 2 * size
            log -= 0.5
        raise NoTruth("the period does not settle")

    def period(self, tilt, sides, epsilon, log):
        """A such that what is added is less than 1e-13."""
        return max(
            min((b - s * epsilon - log + 32) / abs(s - tilt) for s, b in side)
            for side in sides
        )

    def read(self, line, epsilon):
        """log delta, its error, and how much of that is rounding."""
        tilt, step, sides, (k, off, fade) = line
        n = np.arange(len(k))
        s = tilt + 1j * step * n
        top = float(k[0].real) - tilt * epsilon
        f = np.exp(k - s * epsilon - top) / (s * (s + 1))
        f[0] /= 2
        value, other = (
            float(f.real @ special.erfc(12 * n / (part * len(n)) - 6.5)) / 2
            for part in (1, 0.6)
        )
        if not value > 0:
            return top, math.inf, 0.0
        off = off + UNIT * (8 + abs(s * epsilon) + abs(top))
        rounding = float(abs(f) @ off) / value
        error = abs(value - other) / value + rounding
        log = top + math.log(value * step / math.pi)
        for side in sides:
            shares = (
                b - x * epsilon - log - abs(x - tilt) * 2 * math.pi / step
                for x, b in side
            )
            error += math.exp(min(*shares, 9))
        if not all(one.smooth for one, _ in self.steps):
            error += 10 * math.exp(min(fade[int(0.6 * len(n))], 9))
        return log, error, rounding

    def log_delta(self, epsilon):
        """log delta and its error, from two lines that agree."""
        found = [self.read(line, epsilon) for line in self.lines]
        if not found or max(x[1] for x in found) > LOOSEST / 4:
            orders = [self.saddle(epsilon) * x for x in ORDERS]
            bounds = [(s, self.bound(s)) for s in orders]
            best, ways = min(b - s * epsilon for s, b in bounds), []
            if best < math.log(NOTHING):
                return best, math.inf
            for i, (tilt, b) in enumerate(bounds[2:-2], 2):
                excess = b - tilt * epsilon - best
                way = tilt, (bounds[:i], bounds[i + 1 :]), epsilon, best - 5
                if excess < 10:
                    work = self.period(*way) * (1 + excess / 3)
                    ways.append((work, way))
            ways.sort(key=lambda x: x[0])
            self.lines = [self.line(*way) for _, way in ways[:2]]
            found = [self.read(line, epsilon) for line in self.lines]
        if len(found) < 2:
            raise NoTruth("one line only")
        (one, error, _), (other, more, _) = found
        error += more + 1e-11
        if not abs(one - other) <= 2 * error <= 2 * LOOSEST:
            raise NoTruth(f"lines disagree: {found}")
        return one, error


# --- from words to the truth ------------------------------------------------


class Run:
    """Steps in one direction, each with its count."""

    def __init__(self, steps):
        self.steps, self.contour = steps, Contour(steps)
        self.lists = [(x, n) for x, n in steps if x.listed]
        rest = [(x, n) for x, n in steps if not x.listed]
        plain = [n * x.shift**2 for x, n in rest if x.shift and x.smooth]
        total, curve = sum(n for _, n in rest), None
        if rest and len(plain) == len(rest):
            curve = partial(gaussian_curve, sum(plain))
        elif total == 1:
            curve = rest[0][0].curve
        way = None
        if self.lists and (curve or not rest):
            way = partial(sum_of_lists, self.lists, curve)
        elif curve:
            way = partial(enclosed, lambda x: curve(arb(x).exp()))
        self.ways = [way] * bool(way) + [self.by_contour] * bool(rest)
        with ctx.workprec(200):
            tops = [(x.end(-1), n) for x, n in steps]
            self.top = math.inf, math.inf  # around the largest finite loss
            if not any(x is None for x, _ in tops):
                top = sum((x * n for x, n in tops), arb(0))
                low, high = float(top.lower()), float(top.upper())
                self.top = (
                    math.nextafter(low, -9e99),
                    math.nextafter(high, 9e99),
                )
            if any(getattr(x, "many", False) for x, _ in steps):
                self.top = self.top[0], math.inf  # not all are listed

    def infinite(self):
        return enclose(lambda: infinite(self.lists))

    def delta(self, epsilon):
        if self.top[1] < epsilon:
            return self.infinite()
        failures = []
        for way in self.ways:
            try:
                return way(epsilon)
            except NoTruth as failure:
                failures.append(str(failure))
        raise NoTruth("; ".join(failures))

    def by_contour(self, epsilon):
        if epsilon > 1e8:
            raise NoTruth("floats have too few digits")
        least, most = self.infinite()
        self.contour.work = 0
        with np.errstate(all="ignore"):
            log, error = self.contour.log_delta(epsilon)
        low, high = math.exp(log - error), math.exp(log + min(error, 1))
        low, high = least + (1 - most) * low, most + (1 - least) * high
        return low * (1 - 1e-12), high * (1 + 1e-12)


class Truth:
    """The worst of some directions: what is attained, and what is proven."""

    def __init__(self, attained, proven):
        self.attained, self.proven = attained, proven

    def worst(self, ends):
        low = [ends(run) for run in self.attained]
        gap = self.proven is not self.attained
        high = [ends(run) for run in self.proven] if gap else low
        return max(x for x, _ in low), max(x for _, x in high)

    def delta(self, epsilon):
        return self.worst(lambda run: run.delta(epsilon))

    def infinite(self):
        return self.worst(lambda run: run.infinite())

    def top(self):
        return self.worst(lambda run: run.top)


def integer_pairs(sigma, shift):
    """The discrete Gaussian, moved, against itself."""
    width, s = math.ceil(33 * sigma) + 1, ball(sigma)
    mass = [(-z * z / (2 * s * s)).exp() for z in range(width + 2 * shift + 1)]
    total = 2 * sum(mass, -mass[0] / 2)
    mass = [x / total for x in mass]
    places = range(-width, width + shift + 1)
    return [(mass[abs(z - shift)], mass[abs(z)]) for z in places]


def dp_pairs(epsilon, delta=0.0):
    """The dominating pair of (epsilon, delta)-DP."""
    d, few = ball(delta), (1 - ball(delta)) / (1 + ball(epsilon).exp())
    many = few * ball(epsilon).exp()
    return [(d, arb(0)), (many, few), (few, many), (arb(0), d)]


def pairs_of(name, numbers, moves):
    """Masses of a mechanism with outcomes in a list."""
    if name == "DiscreteGaussian":
        shift = moves * int([*numbers, 1][1])
        return partial(integer_pairs, numbers[0], shift)
    if name in ("PureDP", "ApproximateDP"):
        return partial(dp_pairs, *numbers)
    if name == "RandomizedResponse":
        p = Fraction(numbers[0])
        numbers = [p, 1 - p], [1 - p, p]
    p, q = ([Fraction(x) for x in row] for row in numbers)
    return lambda: list(zip(map(ball, p), map(ball, q), strict=True))


def step_of(mechanism, sampling, exchanged, k):
    """What data sets attain, and what is proven: mostly the same."""
    (name, *numbers), (kind, *sizes) = mechanism, sampling
    rate = Fraction(*sizes) if sizes else Fraction(1)
    rest, faced, comb = 1 - rate, exchanged and rate < 1, math.comb
    normal = name in ("Gaussian", "MixtureOfGaussians")
    if faced and (kind == "FixedBatch" or not (normal or name == "Laplace")):
        low, _ = step_of(mechanism, sampling, False, k)
        return low, step_of(mechanism, ["FullBatch"], True, k)[1]
    moves = 1 if faced or (kind != "FixedBatch" and not exchanged) else 2
    if not (normal or name == "Laplace"):
        pairs = pairs_of(name, numbers, moves * k)

        def mixed():
            return [(ball(rest) * q + ball(rate) * p, q) for p, q in pairs()]

        one = Listed(mixed, name == "DiscreteGaussian")
        return one, one
    if name == "MixtureOfGaussians":
        noise, shares = Fraction(numbers[2]), {Fraction(0): rest}
        for m, w in zip(*numbers[:2], strict=True):
            m = Fraction(m) / noise
            shares[m] = shares.get(m, 0) + rate * Fraction(w)
    else:
        weights = {0: 0, k: 1}
        if kind == "FixedBatch":
            b, n = sizes
            ways = [comb(b, j) * comb(n - b, k - j) for j in range(k + 1)]
            weights = {j: Fraction(w, comb(n, k)) for j, w in enumerate(ways)}
        elif rate < 1:
            ways = [rate**j * rest ** (k - j) for j in range(k + 1)]
            weights = {j: comb(k, j) * w for j, w in enumerate(ways)}
        scale = Fraction(numbers[0]) / moves
        shares = {j / scale: w for j, w in weights.items() if w or not j}
    places = sorted(shares)
    moved, none = [shares[m] for m in places], [0] * (len(places) - 1)
    shifts, rows = places, [moved, [1, *none]]
    if faced:
        shifts = [*(-m for m in places[:0:-1]), *places]
        rows = [none + moved, moved[::-1] + none]
    one = Noise(shifts, rows, normal)
    return one, one


def truth_of(releases, adjacency, group_size=1):
    low, high, seen = [], [], []
    for mechanism, sampling, count in releases:
        words = mechanism, sampling, adjacency == "substitute", group_size
        if words in seen:  # the same again
            i = seen.index(words)
            low[i][1] += count
            high[i][1] += count
            continue
        seen.append(words)
        for steps, one in zip((low, high), step_of(*words), strict=True):
            steps.append([one, count])
    runs = []
    for steps in (low, high):
        back = [(one.reversed(), n) for one, n in steps]
        ways = {"remove": [steps], "add": [back]}.get(adjacency, [steps, back])
        runs.append([Run(way) for way in ways])
    single = sum(n for _, n in low) == 1
    same = all(a is b for (a, _), (b, _) in zip(low, high, strict=True))
    return Truth(runs[0], runs[0] if single or same else runs[1])
