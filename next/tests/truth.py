"""The truth that answers are held against, by methods of their own.

`truth_of(releases, adjacency, group_size)` takes plain words, such as
`[[["Gaussian", 0.8], ["Poisson", 0.001], 10_000]]`. Its `delta(epsilon)` is
`(low, high)` around delta; floats are the binary fractions that they are.

* closed form   one step, or Gaussian steps without sampling, in balls
* sum           lists of outcomes, counted, with Gaussian steps or one more
                step of any kind; Laplace steps without sampling; in balls
* quadrature    two steps, one with Laplace noise: error estimated
* contour       all else: two lines that must agree, error estimated

P is the output with the record, Q without: "remove" compares P with Q, "add"
Q with P. Where theory has a gap, `low` is what data sets attain and `high` is
proven. What is not known raises `NoTruth`.
"""

import math
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from itertools import pairwise

import numpy as np
from flint import arb, ctx, fmpq
from scipy import optimize, special

NOTHING = 1e-215  # a smaller delta is not asked for
UNIT = 2.0**-53


class NoTruth(ArithmeticError):
    """This cannot be known here."""


def ball(x):
    """A float or a fraction, exactly or within one unit."""
    if isinstance(x, Fraction):
        return arb(fmpq(x.numerator, x.denominator))
    return arb(x)


def enclose(value):
    """Two floats around a probability; the precision grows."""
    for prec in (128, 256, 512, 1024, 2048, 4096):
        with ctx.workprec(prec):
            found = value()
            if found.is_finite() and (
                found.rel_accuracy_bits() >= 50 or found < NOTHING
            ):
                low = math.nextafter(float(found.lower()), -1.0)
                high = math.nextafter(float(found.upper()), 2.0)
                return max(0.0, low), min(1.0, high)
    raise NoTruth("too many digits cancel")


# --- one step ---------------------------------------------------------------


class Noise:
    """P = sum of a_j f(z - m_j) against Q = sum of b_j f(z - m_j).

    f is the normal or the Laplace density of scale 1; the loss grows with z,
    so that the best event is z > z* for some z*.
    """

    pairs = None

    def __init__(self, shifts, weights, normal):
        self.shifts, self.rows, self.smooth = shifts, weights, normal
        self.m, self.grids = np.array([float(m) for m in shifts]), {}
        self.balls = lru_cache(None)(lambda prec: self.in_balls())
        self.floats = np.array([[float(w) for w in row] for row in weights])
        with ctx.workprec(200):
            logs = [[float(w.log()) for w in x] for x in self.in_balls()[1:]]
        self.logs = np.where(self.floats > 0, logs, -np.inf)
        one = weights == [[0, 1], [1, 0]]
        self.shift = shifts[1] - shifts[0] if one else None  # no mixture

    def in_balls(self):
        return [[ball(x) for x in row] for row in (self.shifts, *self.rows)]

    def reversed(self):
        """Q against P."""
        shifts = [-m for m in self.shifts[::-1]]
        turned = [row[::-1] for row in self.rows[::-1]]
        return self if self.shift else Noise(shifts, turned, self.smooth)

    def end(self, i):
        """The smallest loss (i = 0), the largest one (-1); None: infinite."""
        if not self.smooth:
            return self.loss(ball(self.shifts[i]))
        _, a, b = (row[i] for row in self.balls(ctx.prec))
        return (a / b).log() if a > 0 and b > 0 else None

    def loss(self, z):
        sums = [arb(0), arb(0)]
        for m, *both in zip(*self.balls(ctx.prec)):
            power = m * z - m * m / 2 if self.smooth else abs(z) - abs(z - m)
            sums = [x + w * power.exp() for x, w in zip(sums, both)]
        return (sums[0] / sums[1]).log()

    def place(self, epsilon, low, high):
        """A ball that contains the z with loss epsilon, by secants."""
        ends = self.at(np.array([low, high]))[1] - float(epsilon)
        z = arb(low if ends[0] >= 0 else high)
        if ends[0] < 0 < ends[1]:
            z = arb(
                optimize.brentq(
                    lambda z: self.at(np.array([z]))[1][0] - float(epsilon),
                    low,
                    high,
                    xtol=1e-10,
                )
            )
        old, wanted = z + (1 + abs(z)) * 1e-9, arb(2) ** (16 - ctx.prec)
        miss, before = (epsilon - self.loss(x) for x in (z, old))
        for _ in range(30):
            move = (miss * (old - z) / (miss - before)).mid()
            if not abs(move) > wanted * (1 + abs(z)):
                break
            old, before, z = z, miss, (z + move).mid()
            miss = epsilon - self.loss(z)
        radius = (1 + abs(z)) * wanted
        for _ in range(20):
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
        for m, a, b in zip(*self.balls(ctx.prec)):
            total += (a - alpha * b) * self.tail(z - m)
        return total

    def tail(self, z):
        if self.smooth:
            return (z / arb(2).sqrt()).erfc() / 2
        half = (-abs(z)).exp() / 2
        if z >= 0 or z <= 0:
            return half if z >= 0 else 1 - half
        return half.union(1 - half)

    # in floats

    def at(self, z):
        """log of P's density and the loss, both with digits near 0."""
        m, both = self.m[:, None], []
        powers = m * z - m * m / 2 if self.smooth else abs(z) - abs(z - m)
        for logs, floats in zip(self.logs, self.floats):
            terms = logs[:, None] + powers
            top = terms.max(axis=0)
            far = top + np.log(np.exp(terms - top).sum(axis=0))
            near = np.maximum(floats @ np.expm1(np.minimum(powers, 1)), -0.5)
            small = (powers.max(axis=0) < 1) & (near > -0.5)
            both.append(np.where(small, np.log1p(near), far))
        base = z * z / 2 + math.log(2 * math.pi) / 2
        base = base if self.smooth else abs(z) + math.log(2)
        return both[0] - base, both[0] - both[1]

    def nodes(self, tilt, highest):
        """A rule for E[e^(s loss)], Re s = tilt, Im s <= highest: logs of
        P-masses, and losses."""
        width = float(self.m[-1] - self.m[0])
        if not self.smooth:
            count = max(1.0, width * (highest + tilt + 1.5))
            return self.grid(math.ceil(math.log2(count)))[:2]
        # trapezoid rule; the integrand is analytic for |Im z| < pi / width
        narrow = math.sqrt(1 + (tilt + 1) * width**2 / 4)
        band = 9.7 * (1 + min(narrow, 1 + width * (tilt + 1))) + 20 * width
        for more in (0, highest):
            band += more and more * np.abs(slope[tall]).max()
            level = max(4, math.ceil(math.log2(band / 2 / math.pi)))
            logs, loss, slope = self.grid(level)
            height = logs + tilt * loss
            tall = height > height.max() - 45
        needed = tall | (logs > logs.max() - 45)
        return logs[needed], loss[needed]

    def grid(self, level):
        if level not in self.grids:
            count = np.ptp(self.m) + 72 if self.smooth else 40
            if count * 2.0**level * len(self.m) > 1e6:
                raise NoTruth("the moments need too many points")
            if self.smooth:
                z = np.arange(self.m[0] - 36, self.m[-1] + 36, 2.0**-level)
                logs, loss = self.at(z)
                slope = np.gradient(loss, 2.0**-level)
                found = logs - level * math.log(2), loss, slope
            else:
                found = self.panels(self.m, 2**level, 20)
            self.grids[level] = found
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
        kept = lru_cache(None)(lambda prec: pairs())
        self.all, self.many = lambda: kept(ctx.prec), many
        self.pairs = None if many else self.all
        with ctx.workprec(200):
            total = 1 - self.infinite()
            rows = [((p / total).log(), (p / q).log()) for p, q in self.some()]
        self.rule = np.array([[float(x) for x in row] for row in rows]).T

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
        return None if self.many or not losses else losses[i]

    def nodes(self, tilt, highest):
        return self.rule


# --- sums -------------------------------------------------------------------


def gaussian_curve(mu2, alpha):
    mu, root = ball(mu2).sqrt(), arb(2).sqrt()
    sides = [(alpha.log() / mu + x * mu / 2) / root for x in (-1, 1)]
    return (sides[0].erfc() - alpha * sides[1].erfc()) / 2


def binomial_curve(pairs, count, alpha):
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
        tails = []
        for x, rest in ((a, c), (b, d)):
            share = arb(first <= 0)
            if 0 < first <= count:
                more = arb(count - first + 1)
                share = x / (x + rest)
                share = share.beta_lower(arb(first), more, regularized=1)
            tails.append((x + rest) ** count * share)
        best = best.max(tails[0] - alpha * tails[1])
    return best


def window(count, p, cut):
    """Numbers of successes; more, or fewer, have probability below e^-cut,
    by Chernoff's bound."""
    mean, ends = count * p, []

    def rest(x):
        terms = special.rel_entr([x, count - x], [mean, count - mean])
        return float(terms.sum()) - cut

    for end, out in ((0, -2), (count, 2)):
        if rest(end) > 0:
            end = round(optimize.brentq(rest, mean, end, xtol=0.5)) + out
        ends.append(min(max(end, 0), count))
    return range(ends[0], ends[1] + 1)


def rows_of(step, count, cut, skip):
    """How often the outcomes occur, but for the `skip` most likely ones that
    take what is left: masses under P and Q, and what is left."""
    pairs, grid, found = step.some(), [()], []
    total = sum((p for p, _ in pairs), arb(0))
    for p, _ in pairs[skip:]:
        axis = window(count, float(p / total), cut)
        if len(axis) * len(grid) > 3000:
            raise NoTruth("too many outcomes")
        grid = [(*g, n) for g in grid for n in axis if sum(g) + n <= count]
    fac = lru_cache(None)(lambda n: arb(n + 1).lgamma())
    power = lru_cache(None)(lambda i, j, n: pairs[i][j] ** n)
    for row in grid:
        left = count - sum(row)
        ways = (fac(count) - sum(map(fac, row), fac(left))).exp()
        both = [ways, ways]
        counts = [left, *row] if skip == 1 else [0, 0, *row]
        for i, n in enumerate(counts[: len(pairs)]):
            both = [x * power(i, j, n) for j, x in enumerate(both)]
        found.append((*both, left))
    return found


def infinite(lists):
    """The probability of an infinite loss in any step."""
    finite = [(1 - one.infinite()) ** n for one, n in lists if one.pairs]
    return 1 - math.prod(finite, start=arb(1))


def sum_of_lists(lists, other, epsilon):
    """Lists of outcomes, and perhaps one more step with a known curve.

    Without such a step, `binomial_curve` has the two most likely outcomes of
    the list with the largest count.
    """
    lists = sorted(lists, key=lambda x: x[1])
    last, most = lists[-1]
    limit = 1500 if other or most < 100 else 60

    def value():
        total, alpha = infinite(lists), arb(epsilon).exp()
        sums = rows_of(last, most, cut, 1 if other else 2)
        for one, count in lists[:-1]:
            rows = rows_of(one, count, cut, 1)
            sums = [(p * a, q * b, n) for p, q, n in sums for a, b, _ in rows]
            if len(sums) > limit:
                raise NoTruth("too many outcomes")
        pairs = last.some()[:2]
        for p, q, left in sums:
            x = alpha * q / p
            total += p * (
                other(x) if other else binomial_curve(pairs, left, x)
            )
        return total

    for cut in (60.0, 160.0, 520.0):
        low, high = enclose(value)
        lost = 2 * sum(len(one.all()) for one, _ in lists) * math.exp(-cut)
        if lost <= 1e-12 * low:
            break
    return low, min(1.0, high + lost)


def laplace_sum(c, count, epsilon):
    """Laplace steps without sampling, losses up to c.

    With b = c/2, x = epsilon/c: delta = 2 e^(b(x - T)) 2^-T times the sum of
    C(T, k) kappa(k, j) chi_k(b (T - 2j - x)_+), kappa(k, j) the coefficient
    of v^j in (1 + v)^(T-k) (1 - v)^k, chi_0 = sinh, chi_1 = cosh - 1,
    chi_(k+2) = chi_k - y^(k+1)/(k+1)!. Part k: k of the losses are no atoms.
    """
    b, x = ball(c) / 2, arb(epsilon) / ball(c)
    total, kappa = arb(0), [math.comb(count, j) for j in range(count + 1)]
    gaps = [(b * (count - 2 * j - x)).max(0) for j in range(count + 1)]
    chi = [[y.sinh(), y.cosh() - 1] for y in gaps]
    power = list(gaps)
    for k in range(count + 1):
        part, after = arb(0), [0]
        for j, y in enumerate(gaps):
            part += kappa[j] * chi[j][k % 2]
            chi[j][k % 2] -= power[j]
            power[j] *= y / (k + 2)
        total += math.comb(count, k) * part
        for old, now in pairwise([0, *kappa]):  # times (1 - v) / (1 + v)
            after.append(now - old - after[-1])
        kappa = after[1:]
    return 2 * (b * (x - count)).exp() * arb(2) ** -count * total


def two_steps(one, other, epsilon):
    """Laplace noise, integrated, and the curve of any other step."""
    kinks, values = set(one.m.tolist()), []
    for loss in other.at(other.m)[1] if not other.smooth else ():
        gap = lambda z: one.at(np.array([z]))[1][0] - epsilon + loss  # noqa: E731, B023
        for a, b in pairwise(one.m.tolist()):
            if gap(a) * gap(b) < 0:
                kinks.add(optimize.brentq(gap, a, b, xtol=1e-15))
    for points in (20, 26):
        panels = math.ceil(float(np.ptp(one.m)))
        logs, losses = one.panels(sorted(kinks), panels, points)
        with ctx.workprec(256):
            rest = [other.curve((epsilon - arb(x)).exp()) for x in losses]
        values.append(float(np.exp(logs) @ [float(x) for x in rest]))
    error = abs(values[0] - values[1]) + 1e-12 * values[1]
    if not error <= LOOSEST * values[1]:
        raise NoTruth("quadrature")
    return values[1] - error, values[1] + error


# --- the contour ------------------------------------------------------------

ROW = 32
LOOSEST = 1e-6  # the largest relative error that is let through
MOST_WORK = 2e8
ORDERS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.94, 0.97]
ORDERS += [1, 1.03, 1.07, 1.15, 1.3, 1.6, 2.2, 4, 10]


def log1p(z):
    """Digits of a small real part are kept, unlike in numpy's."""
    size = np.maximum(z.real * (2 + z.real) + z.imag**2, UNIT - 1)
    return np.log1p(size) / 2 + 1j * np.arctan2(z.imag, 1 + z.real)


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
        size = abs(one[0])
        off = size.sum() + t * (abs(loss) @ (weight + size))
        return log1p(z), 2 * UNIT * off / np.maximum(abs(1 + z), 1e-300)
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
            self.work += len(loss) * (rows * row + 20 * (rows + row))
            if self.work > MOST_WORK:
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

        x, gap = math.log(self.tilt), 1.0
        for sign in (1, -1):
            while height(x + sign * gap) < height(x) and abs(x) < 25:
                x, gap = x + sign * gap, 1.5 * gap
        ends = (x - gap, x + gap)
        x = optimize.minimize_scalar(
            height, ends, ends, options={"xatol": 0.02}
        )
        self.tilt = math.exp(x.x)
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
                values = [np.concatenate(x) for x in zip(values, more)]
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
            error += 10 * math.exp(fade[int(0.6 * len(n))])
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
        self.lists = [(x, n) for x, n in steps if x.pairs]
        rest = [(x, n) for x, n in steps if not x.pairs]
        plain = [n * x.shift**2 for x, n in rest if x.shift and x.smooth]
        total, curve = sum(n for _, n in rest), None
        if rest and len(plain) == len(rest):
            curve = partial(gaussian_curve, sum(plain))
        elif total == 1:
            curve = rest[0][0].curve
        self.ways = [self.by_contour]
        if self.lists and (curve or not rest):
            self.how = "sum"
            self.ways.insert(0, partial(sum_of_lists, self.lists, curve))
        elif curve:
            self.how = "closed form"
            self.ways = [lambda x: enclose(lambda: curve(arb(x).exp()))]
        elif len(steps) == 1 and steps[0][0].shift and total <= 80:
            c, self.how = steps[0][0].shift, "sum"
            self.ways = [lambda x: enclose(lambda: laplace_sum(c, total, x))]
        elif (
            not self.lists
            and total == 2
            and not all(x.smooth for x, _ in rest)
        ):
            self.how = "quadrature"
            two = sorted(
                (x for x, n in rest for _ in range(n)), key=lambda x: x.smooth
            )
            self.ways.insert(0, partial(two_steps, *two))
        else:
            self.how = "contour"

    def infinite(self):
        return enclose(lambda: infinite(self.lists))

    @cached_property
    def top(self):
        """Two floats around the largest finite loss."""
        with ctx.workprec(200):
            tops = [(one.end(-1), n) for one, n in self.steps]
            if any(x is None for x, _ in tops):
                return math.inf, math.inf
            top = sum((x * n for x, n in tops), arb(0))
            low, high = float(top.lower()), float(top.upper())
            return math.nextafter(low, -1e308), math.nextafter(high, 1e308)

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
        least, most = self.infinite()
        self.contour.work = 0
        with np.errstate(all="ignore"):
            log, error = self.contour.log_delta(epsilon)
        low, high = math.exp(log - error), math.exp(log + min(error, 1))
        low, high = least + (1 - most) * low, most + (1 - least) * high
        return low * (1 - 1e-12), high * (1 + 1e-12)


class Truth:
    """The largest delta of some directions: what is attained, and proven."""

    def __init__(self, attained, proven):
        self.attained, self.proven = attained, proven

    def delta(self, epsilon):
        return self.worst(lambda run: run.delta(epsilon))

    def infinite(self):
        return self.worst(lambda run: run.infinite())

    def top(self):
        return self.worst(lambda run: run.top)

    def worst(self, ends):
        low = [ends(run) for run in self.attained]
        gap = self.proven is not self.attained
        high = [ends(run) for run in self.proven] if gap else low
        return max(x for x, _ in low), max(x for _, x in high)


def integer_pairs(sigma, shift):
    """The discrete Gaussian, moved, against itself."""
    width, s = math.ceil(33 * sigma) + 1, ball(sigma)
    mass = [(-z * z / (2 * s * s)).exp() for z in range(width + 2 * shift + 1)]
    total = 2 * sum(mass, -mass[0] / 2)
    mass = [x / total for x in mass]
    places = range(-width, width + shift + 1)
    return [(mass[abs(z - shift)], mass[abs(z)]) for z in places]


def list_of(name, numbers, moves):
    """Masses of a mechanism with outcomes in a list."""
    if name == "DiscreteGaussian":
        return lambda: integer_pairs(numbers[0], moves * int([*numbers, 1][1]))
    if name in ("PureDP", "ApproximateDP"):

        def worst():
            e, d = (ball(x) for x in [*numbers, 0.0][:2])
            few = (1 - d) / (1 + e.exp())
            many = few * e.exp()
            return [(d, arb(0)), (many, few), (few, many), (arb(0), d)]

        return worst
    if name == "RandomizedResponse":
        p = Fraction(numbers[0])
        numbers = [p, 1 - p], [1 - p, p]
    exact = [[Fraction(x) for x in pair] for pair in zip(*numbers)]
    return lambda: [(ball(p), ball(q)) for p, q in exact]


def noise_of(shares, faced, normal):
    """Moved by random sizes, against not moved, or against minus those."""
    places = sorted(shares)
    weights = [shares[m] for m in places]
    none = [0] * (len(places) - 1)
    if not faced:
        return Noise(places, [weights, [1, *none]], normal)
    shifts = [*(-m for m in places[:0:-1]), *places]
    return Noise(shifts, [none + weights, weights[::-1] + none], normal)


def step_of(mechanism, sampling, exchanged, k):
    """What data sets attain, and what is proven: mostly the same."""
    (name, *numbers), (kind, *sizes) = mechanism, sampling
    rate = Fraction(*sizes) if sizes else Fraction(1)
    rest, faced = 1 - rate, exchanged and rate < 1
    normal = name in ("Gaussian", "MixtureOfGaussians")
    if faced and (kind == "FixedBatch" or not (normal or name == "Laplace")):
        low, _ = step_of(mechanism, sampling, False, k)
        return low, step_of(mechanism, ["FullBatch"], True, k)[1]
    moves = 1 if faced or (kind != "FixedBatch" and not exchanged) else 2
    if name == "MixtureOfGaussians":
        shares = {Fraction(0): rest}
        for m, w in zip(*numbers[:2]):
            m = Fraction(m) / Fraction(numbers[2])
            shares[m] = shares.get(m, 0) + rate * Fraction(w)
        one = noise_of(shares, faced, True)
    elif normal or name == "Laplace":
        scale, comb = Fraction(numbers[0]) / moves, math.comb
        if rate == 1:
            weights = {0: 0, k: 1}
        elif kind == "Poisson":
            binomial = [rate**j * rest ** (k - j) for j in range(k + 1)]
            weights = {j: comb(k, j) * w for j, w in enumerate(binomial)}
        else:
            b, n = sizes
            ways = {j: comb(b, j) * comb(n - b, k - j) for j in range(k + 1)}
            weights = {
                j: Fraction(w, comb(n, k))
                for j, w in ways.items()
                if w or not j
            }
        shares = {j / scale: w for j, w in weights.items()}
        one = noise_of(shares, faced, normal)
    else:
        pairs = list_of(name, numbers, moves * k)
        mixed = lambda: [
            (ball(rest) * q + ball(rate) * p, q) for p, q in pairs()
        ]  # noqa: E731
        one = Listed(mixed, name == "DiscreteGaussian")
    return one, one


def truth_of(releases, adjacency, group_size=1):
    counts = {}
    for mechanism, sampling, count in releases:
        key = repr((mechanism, sampling))
        counts.setdefault(key, [mechanism, sampling, 0])[2] += count
    low, high, exchanged = [], [], adjacency == "substitute"
    for mechanism, sampling, count in counts.values():
        both = step_of(mechanism, sampling, exchanged, group_size)
        low.append((both[0], count))
        high.append((both[1], count))
    runs = []
    for steps in (low, high):
        back = [(one.reversed(), n) for one, n in steps]
        ways = {"remove": [steps], "add": [back]}.get(adjacency, [steps, back])
        runs.append([Run(way) for way in ways])
    single = sum(n for _, n in low) == 1
    gap = any(a is not b for (a, _), (b, _) in zip(low, high)) and not single
    return Truth(runs[0], runs[gap])
