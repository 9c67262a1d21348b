"""Random settings whose truth is known: ordinary ones and hostile ones.

`ordinary(rng)` and `hostile(rng)` draw a `Setting`, inside the declared
domain; `violation(setting, lower, upper)` says what is wrong with an answer.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tests.truth import NoTruth, truth_of

FULL = ("FullBatch",)
WAYS = ("remove", "add", "add-or-remove")
ALL = (*WAYS, "substitute")


@dataclass(frozen=True)
class Setting:
    """What is run and asked, in plain words: see `truth_of`."""

    family: str
    releases: tuple
    adjacency: str
    group_size: int
    question: str  # "epsilon" at a delta, or "delta" at an epsilon
    value: float

    @property
    def how(self):
        """How the truth is computed."""
        return known(self.releases, self.adjacency, self.group_size).attained[0].how


@lru_cache(maxsize=4)
def known(releases, adjacency, group_size):
    return truth_of(releases, adjacency, group_size)


def violation(setting, lower, upper):
    """What is wrong with an interval, or None. The truth is an interval too:
    only what surely is on the wrong side counts."""
    truth, at = known(setting.releases, setting.adjacency, setting.group_size), setting.value
    if not 0 <= lower <= upper:
        return f"no interval: [{lower}, {upper}]"
    if setting.question == "delta":
        low, high = truth.delta(at)
        if upper < low or lower > high:
            return f"[{lower!r}, {upper!r}] misses delta in [{low}, {high}]"
        return None
    # epsilon: the first place where delta(epsilon) <= at
    if upper < math.inf:
        low = truth.delta(upper)[0]
        if low > at:
            return f"upper end {upper!r}: delta there is {low!r} > {at!r}"
        if at == 0 and truth.top()[0] > upper:
            return f"upper end {upper!r} < largest loss {truth.top()}"
    if lower > 0:
        high, top = truth.infinite()[1], truth.top()[1]
        if high <= at and lower > top:
            return f"lower end {lower!r} > largest loss {top!r}"
        if lower == math.inf:
            return f"lower end inf, infinite mass {high}" * (high < at) or None
        high = truth.delta(lower)[1]
        if high < at:
            return f"lower end {lower!r}: delta there is {high!r} < {at!r}"
    return None


# --- runs -------------------------------------------------------------------


class Draw:
    """Random numbers as users choose them, or (hard) adversaries."""

    def __init__(self, rng, hard):
        self.rng, self.hard = rng, hard

    def chance(self, p):
        return bool(self.rng.random() < p)

    def pick(self, *choices):
        return choices[int(self.rng.integers(len(choices)))]

    def spread(self, low, high):
        """Log-uniform."""
        return float(math.exp(self.rng.uniform(math.log(low), math.log(high))))

    def whole(self, low, high):
        return min(high, int(self.spread(low, high + 1)))

    def noise(self, low=0.4, high=30.0):
        if self.hard and self.chance(0.5):
            return self.spread(max(low / 10, 0.005), min(high * 1e3, 1e6))
        return self.spread(low, high)

    def rate(self):
        if not self.hard:
            return self.pick(self.spread(1e-5, 0.5), 0.01, 0.001)
        return self.pick(
            self.spread(1e-9, 1e-3), self.spread(1e-3, 1), 1e-9,
            1 - self.spread(1e-9, 0.5), 1.0,
        )

    def sampling(self, fixed=True, group=1):
        rate = self.rate()
        if not (fixed and self.chance(0.3)) or rate > 0.9:
            return ("Poisson", rate)
        records = self.whole(max(1 / rate, 4 * group), 4e9)
        return ("FixedBatch", max(1, round(rate * records)), records)

    def often(self, sampling, low=0.05):
        """A count that makes a sampled record likely, but not certain."""
        rate = float(np.divide(*(sampling[1:] if len(sampling) > 2 else (sampling[1], 1))))
        least = max(1.0, low / rate) 
        most = 1e9 if self.hard else 1e6
        return self.whole(min(least, most), min(least * 1e5 + 10, most))


def plain_gaussians(d):
    kinds = [
        (("Gaussian", d.noise(0.05, 1e3)), FULL, d.whole(1, 1e9 if d.hard else 1e5))
        for _ in range(d.pick(1, 1, 2, 5, d.whole(1, 100)))
    ]
    group = d.pick(1, 1, d.whole(1, 1000))
    return kinds, (*ALL, "zero-out"), group


def one_gaussian(d):
    """One step, of a group too."""
    group = d.pick(1, d.whole(2, 64 if d.hard else 20))
    sampling = d.sampling(group=group)
    noise = d.spread(0.005, 1e6) if d.hard else d.noise()
    ways = ALL if sampling[0] == "Poisson" else WAYS
    return [(("Gaussian", noise), sampling, 1)], ways, group


def gaussian(d):
    """Many steps."""
    group = d.pick(1, 1, 1, d.whole(2, 64 if d.hard else 8))
    sampling = d.sampling(group=group)
    noise = d.pick(d.spread(0.25, 3), d.noise(0.5, 30)) * group**0.5
    run = (("Gaussian", noise), sampling, d.often(sampling))
    return [run], ALL, group


def mixture(d):
    size = d.whole(1, 4)
    shifts = tuple(float(x) for x in d.rng.choice([0.5, 1.0, 2.0, 3.0], size, False))
    cuts = [0, *sorted(d.rng.integers(0, 65, size - 1).tolist()), 64]
    weights = tuple((b - a) / 64 for a, b in zip(cuts, cuts[1:]))
    sampling = d.pick(FULL, ("Poisson", d.rate()))
    count = d.pick(1, d.often(sampling) if sampling != FULL else d.whole(1, 1e4))
    mechanism = ("MixtureOfGaussians", shifts, weights, d.noise())
    return [(mechanism, sampling, count)], WAYS, 1


def laplace(d):
    scale = d.noise(0.5, 100)
    if d.chance(0.4):
        return [(("Laplace", scale), FULL, d.pick(1, d.whole(2, 60)))], ALL, d.pick(1, d.whole(2, 9))
    sampling = d.sampling()
    if d.chance(0.6):
        return [(("Laplace", scale), sampling, d.pick(1, 1, 2))], ALL, 1
    scale = d.spread(1, 50)
    return [(("Laplace", scale), sampling, max(1000, d.often(sampling, 50)))], ALL, 1


def bits(d, count, sampling=None):
    """A mechanism with two finite losses."""
    name = d.pick("RandomizedResponse", "PureDP", "ApproximateDP")
    high = 100 if d.hard else 8
    mechanism = (name, d.pick(d.spread(1e-3, high), d.spread(0.1, 2)))
    if name == "RandomizedResponse":
        lie = d.spread(1e-9 if d.hard else 0.01, 0.49)
        mechanism = (name, 1 - lie)
    if name == "ApproximateDP":
        lost = d.spread(1e-12, 1e-3)
        mechanism = (*mechanism, d.spread(1e-190, 0.1) if d.hard else lost)
    sampling = sampling or d.pick(FULL, d.sampling())
    return (mechanism, sampling, count)


def many_bits(d):
    one = bits(d, 1)
    count = d.whole(1, 1e9 if d.hard else 1e5)
    if one[0][0] == "ApproximateDP" and one[1] != FULL:
        count = min(count, 10_000)
    return [(*one[:2], count)], ALL, 1


def lists(d):
    """Lists of outcomes, of different kinds."""
    runs = [bits(d, d.whole(1, 12)) for _ in range(d.pick(1, 2, 3))]
    if d.chance(0.4):
        cuts = [np.sort(d.rng.integers(1, 256, 2)).tolist() for _ in "pq"]
        p, q = (tuple((b - a) / 256 for a, b in zip([0, *c], [*c, 256])) for c in cuts)
        runs = [*runs[:1], (("DiscretePair", p, q), d.pick(FULL, ("Poisson", d.rate())), d.whole(1, 6))]
    return runs, WAYS, 1


def lists_and_noise(d):
    runs = [bits(d, d.whole(1, 20))]
    other = d.pick(plain_gaussians, one_gaussian, laplace)(d)[0][:3]
    if other[0][1] != FULL or other[0][0][0] == "Laplace":
        other = [(*other[0][:2], 1)]
    return [*runs, *other], WAYS, 1


def different(d):
    """Sampled Gaussian steps of several kinds."""
    kinds = d.pick(2, 3, d.whole(2, 100 if d.hard else 10))
    rate = d.spread(1e-3, 0.2)
    runs = [
        (("Gaussian", d.spread(0.6, 4)), ("Poisson", rate * d.spread(0.3, 1)), d.whole(1, 10 / rate))
        for _ in range(kinds)
    ]
    return runs, WAYS, 1


def integers(d):
    sampling = d.pick(FULL, ("Poisson", d.rate()), d.sampling())
    ways = WAYS if sampling[0] == "Poisson" else ALL
    return [(("DiscreteGaussian", d.spread(0.3, 20)), sampling, 1)], ways, 1


def rare(d):
    """A rare large loss beside frequent small ones."""
    rate = d.spread(1e-9, 1e-3)
    count = d.whole(1, min(1e9, 30 / rate))
    big = (d.pick(("PureDP", d.spread(2, 100)), ("RandomizedResponse", 1 - d.spread(1e-9, 0.1))), ("Poisson", rate), count)
    small = d.pick(
        (("Gaussian", d.spread(1, 1e4)), FULL, d.whole(1, 1000)),
        (("PureDP", d.spread(1e-4, 0.3)), FULL, d.whole(1, 1000)),
        (("RandomizedResponse", 0.5 + d.spread(1e-4, 0.1)), FULL, d.whole(1, 1000)),
    )
    return [big, small], WAYS, 1


def billion(d):
    """Up to 1e9 steps at tiny rates."""
    rate = d.pick(1e-9, d.spread(1e-9, 1e-6))
    count = d.pick(10**9, d.whole(0.01 / rate, 10**9))
    noise = d.pick(d.spread(0.3, 3), d.spread(1, 1e3))
    return [(("Gaussian", noise), ("Poisson", rate), count)], ALL, 1


ORDINARY = [plain_gaussians, one_gaussian, gaussian, gaussian, gaussian, mixture, laplace, many_bits, many_bits, lists, lists_and_noise, different, integers]
HOSTILE = [*ORDINARY, rare, rare, rare, billion, many_bits, gaussian, one_gaussian, laplace]


# --- questions --------------------------------------------------------------


def place(truth, delta, steps=12):
    """An epsilon where delta is nearly this."""
    low, high = 0.0, 1.0
    for _ in range(steps):
        if truth.delta(high)[1] > delta:
            low, high = high, 3 * high
        elif low == 0 or high > 1.05 * low:
            middle = math.sqrt(low * high) if low else high / 10
            if truth.delta(middle)[1] > delta:
                low = middle
            else:
                high = middle
    return high


def draw(rng, families, hard):
    while True:
        d = Draw(rng, hard)
        make = d.pick(*families)
        releases, ways, group = make(d)
        releases, adjacency = tuple(releases), d.pick(*ways)
        try:
            question, value = asked(d, known(releases, adjacency, group))
        except NoTruth:
            continue
        good = 0 <= value <= 1000 if question == "delta" else value == 0 or 1e-200 <= value < 1
        if good:
            return Setting(make.__name__, releases, adjacency, group, question, value)


def asked(d, truth):
    """A question and at which value."""
    usual = d.spread(1e-12, 0.5)
    if not d.hard:
        if d.chance(0.65):
            return "epsilon", usual
        return "delta", place(truth, usual) * d.rng.uniform(0.5, 1)
    near = 1 + d.pick(-1, -1, 1) * d.spread(1e-9, 1e-3)
    top, lost, kind = truth.top()[1], truth.infinite()[1], d.rng.integers(10)
    if kind < 4 and 0 < top < math.inf:  # next to the largest loss
        if kind < 2:
            return "delta", top * near
        value = truth.delta(top * min(near, 2 - near))[1]
        return "epsilon", value
    if kind < 5 and lost > 0:  # next to the infinite mass
        return "epsilon", min(lost * near, 1 - 1e-16)
    if kind == 4:  # next to delta(0)
        return "epsilon", truth.delta(0.0)[1] * near
    if kind == 5:
        return "epsilon", 0.0
    if kind == 6:
        return "delta", d.pick(0.0, d.spread(1e-9, 1000))
    tiny = d.pick(d.spread(1e-200, 1e-12), d.spread(1e-30, 1e-3), 1e-200)
    if kind == 7:
        return "delta", place(truth, tiny)
    return "epsilon", d.pick(tiny, tiny, usual)


def ordinary(rng):
    return draw(rng, ORDINARY, False)


def hostile(rng):
    return draw(rng, HOSTILE, True)
