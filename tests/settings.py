"""Random settings whose truth is known: ordinary ones and hostile ones.

`ordinary(rng)` and `hostile(rng)` draw a `Setting`, inside the declared
domain; `violation(setting, lower, upper)` says what is wrong with an answer.
"""

import math
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise

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


known = lru_cache(maxsize=4)(truth_of)


def violation(setting, lower, upper):
    """What is wrong with an interval, or None. The truth is an interval too:
    only what surely is on the wrong side counts."""
    truth = known(setting.releases, setting.adjacency, setting.group_size)
    at, told = setting.value, f"[{lower!r}, {upper!r}]"
    if not 0 <= lower <= upper:
        return f"no interval: {told}"
    if setting.question == "delta":
        low, high = truth.delta(at)
        wrong = upper < low or lower > high
        return f"{told}, truth [{low!r}, {high!r}]" if wrong else None
    # epsilon is the first place where delta(epsilon) <= at
    mass, top = truth.infinite(), truth.top()
    if lower > top[1] and mass[1] <= at:
        return f"{told}, largest loss {top}"
    if lower == math.inf:
        return f"{told}, infinite mass {mass}" if mass[1] < at else None
    if upper < math.inf and (mass[0] > at or (at == 0 and top[0] > upper)):
        return f"{told}, infinite mass {mass}, largest loss {top}"
    if at > 0 and upper < math.inf and (low := truth.delta(upper)[0]) > at:
        return f"{told}, delta at the upper end {low!r} > {at!r}"
    if at > 0 and lower > 0 and (high := truth.delta(lower)[1]) < at:
        return f"{told}, delta at the lower end {high!r} < {at!r}"
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
        ends = math.log(low), math.log(high)
        return float(min(max(math.exp(self.rng.uniform(*ends)), low), high))

    def whole(self, low, high):
        return min(int(high), int(self.spread(low, high + 1)))

    def noise(self, low=0.4, high=30.0):
        if self.hard and self.chance(0.5):
            return self.spread(max(low / 10, 0.005), min(high * 1e3, 1e6))
        return self.spread(low, high)

    def rate(self):
        if not self.hard:
            return self.pick(self.spread(1e-5, 0.5), 0.01, 0.001)
        rare, usual = self.spread(1e-9, 1e-3), self.spread(1e-3, 1)
        return self.pick(rare, usual, 1e-9, 1 - self.spread(1e-9, 0.5), 1.0)

    def sampling(self, group=1):
        rate = self.rate()
        if rate > 0.9 or self.chance(0.7):
            return ("Poisson", rate)
        records = self.whole(min(max(1 / rate, 4 * group), 1e9), 1e9)
        return ("FixedBatch", max(1, round(rate * records)), records)

    def often(self, sampling, least=0.05):
        """A count that makes a sampled record likely, but not certain."""
        rate = sampling[1] / (sampling[2] if len(sampling) > 2 else 1)
        most = 1e9 if self.hard else 1e6
        least = min(max(1.0, least / rate), most)
        return self.whole(least, min(1e5 * least + 10, most))


def plain_gaussians(d):
    most, runs = 1e9 if d.hard else 1e5, []
    for _ in range(d.pick(1, 1, 2, 5, d.whole(1, 100))):
        mechanism = ("Gaussian", d.noise(0.05, 1e3))
        runs.append((mechanism, FULL, d.whole(1, most)))
    return runs, (*ALL, "zero-out"), d.pick(1, 1, d.whole(1, 1000))


def gaussian(d):
    """One step or many, of a group too."""
    group = d.pick(1, 1, d.whole(2, 64 if d.hard else 12))
    noise = d.pick(d.spread(0.25, 3), d.noise(0.5, 30)) * group**0.5
    sampling = d.sampling(group)
    count = d.pick(1, d.often(sampling), d.often(sampling))
    if d.hard and count == 1:
        noise = d.spread(0.005, 1e6)
    run = (("Gaussian", noise), sampling, count)
    return [run], ALL if sampling[0] == "Poisson" else WAYS, group


def mixture(d):
    size = d.whole(1, 4)
    shifts = d.rng.choice([0.5, 1.0, 2.0, 3.0], size, False).tolist()
    cuts = [0, *sorted(d.rng.integers(0, 65, size - 1).tolist()), 64]
    weights = tuple((b - a) / 64 for a, b in pairwise(cuts))
    mechanism = ("MixtureOfGaussians", tuple(shifts), weights, d.noise())
    sampling = d.pick(FULL, ("Poisson", d.rate()))
    many = d.whole(1, 1e4) if sampling == FULL else d.often(sampling)
    return [(mechanism, sampling, d.pick(1, many))], WAYS, 1


def laplace(d):
    sampling, scale = d.sampling(), d.noise(0.5, 100)
    count, group = d.pick(1, 1, 2), 1
    if d.chance(0.4):
        sampling, count, group = FULL, d.whole(1, 60), d.pick(1, d.whole(2, 9))
    elif d.chance(0.4):
        scale, count = d.spread(1, 50), max(1000, d.often(sampling, 50))
    return [(("Laplace", scale), sampling, count)], ALL, group


def bits(d, count):
    """A mechanism with two finite losses."""
    name = d.pick("RandomizedResponse", "PureDP", "ApproximateDP")
    loss = d.pick(d.spread(1e-3, 100 if d.hard else 8), d.spread(0.1, 2))
    mechanism = (name, loss)
    if name == "RandomizedResponse":
        mechanism = (name, 1 - d.spread(1e-9 if d.hard else 0.01, 0.49))
    if name == "ApproximateDP":
        lost = d.spread(1e-190, 0.1) if d.hard else d.spread(1e-12, 1e-3)
        mechanism = (name, loss, lost)
    return (mechanism, d.pick(FULL, d.sampling()), count)


def many_bits(d):
    mechanism, sampling, _ = bits(d, 1)
    three = mechanism[0] == "ApproximateDP" and sampling != FULL
    count = d.whole(1, 1e4 if three else 1e9 if d.hard else 1e5)
    return [(mechanism, sampling, count)], ALL, 1


def lists(d):
    """Lists of outcomes, of different kinds."""
    runs = [bits(d, d.whole(1, 12)) for _ in range(d.pick(1, 2, 3))]
    if d.chance(0.4):
        p, q = (
            [0, *sorted(d.rng.integers(1, 256, 2).tolist()), 256] for _ in "pq"
        )
        both = (tuple((b - a) / 256 for a, b in pairwise(x)) for x in (p, q))
        sampling = d.pick(FULL, ("Poisson", d.rate()))
        runs[1:] = [(("DiscretePair", *both), sampling, d.whole(1, 6))]
    return runs, WAYS, 1


def lists_and_noise(d):
    """Plain Gaussian steps, or one step of anything, beside a list."""
    other = d.pick(plain_gaussians, gaussian, laplace)(d)[0][:3]
    if other[0][1] != FULL or other[0][0][0] == "Laplace":
        other = [(*other[0][:2], 1)]
    return [bits(d, d.whole(1, 20)), *other], WAYS, 1


def different(d):
    """Sampled Gaussian steps of several kinds."""
    rate, runs = d.spread(1e-3, 0.2), []
    for _ in range(d.pick(2, 3, d.whole(2, 100 if d.hard else 10))):
        sampling = ("Poisson", rate * d.spread(0.3, 1))
        count = d.whole(1 / rate, 30 / rate)
        runs.append((("Gaussian", d.spread(0.6, 4)), sampling, count))
    return runs, WAYS, 1


def integers(d):
    sampling = d.pick(FULL, ("Poisson", d.rate()), d.sampling())
    run = (("DiscreteGaussian", d.spread(0.3, 20)), sampling, 1)
    return [run], WAYS if sampling[0] == "Poisson" else ALL, 1


def rare(d):
    """A rare large loss beside frequent small ones."""
    truth, rate = 1 - d.spread(1e-9, 0.1), d.spread(1e-9, 1e-3)
    big = d.pick(("PureDP", d.spread(2, 100)), ("RandomizedResponse", truth))
    small = d.pick(
        ("Gaussian", d.spread(1, 1e4)),
        ("PureDP", d.spread(1e-4, 0.3)),
        ("RandomizedResponse", 0.5 + d.spread(1e-4, 0.1)),
    )
    count = d.whole(1, min(1e9, 30 / rate))
    runs = [(big, ("Poisson", rate), count), (small, FULL, d.whole(1, 1000))]
    return runs, WAYS, 1


ORDINARY = [plain_gaussians, *[gaussian] * 5, mixture, laplace, lists]
ORDINARY += [many_bits, many_bits, lists_and_noise, different, integers]
HOSTILE = [*ORDINARY, *[rare] * 3, gaussian, many_bits, laplace]


# --- questions --------------------------------------------------------------


def place(truth, delta):
    """An epsilon where delta is roughly this."""
    low, high = 0.0, 1.0
    for _ in range(6):
        if truth.delta(high)[1] > delta:
            low, high = high, 4 * high
        else:
            middle = math.sqrt(low * high) if low else high / 10
            above = truth.delta(middle)[1] > delta
            low, high = (middle, high) if above else (low, middle)
        if low and high < 1.3 * low:
            break
    return high


def asked(d, truth):
    """A question, and at which value."""
    usual = d.spread(1e-12, 0.5)
    if not d.hard and d.chance(0.8):
        return "epsilon", usual
    if not d.hard:
        return "delta", place(truth, usual) * d.rng.uniform(0.7, 1)
    near = 1 + d.pick(-1, -1, 1) * d.spread(1e-9, 1e-3)
    top, lost, kind = truth.top()[1], truth.infinite()[0], d.rng.integers(10)
    tiny = d.pick(d.spread(1e-200, 1e-12), d.spread(1e-30, 1e-3), 1e-200)
    if kind < 3 and 0 < top < math.inf:  # next to the largest loss
        return "delta", top * near
    if kind == 3 and 0 < top < math.inf:
        return "epsilon", truth.delta(top * min(near, 2 - near))[1]
    if kind < 5 and lost > 0:  # next to the infinite mass
        return "epsilon", lost * near
    if kind == 5:  # next to delta(0)
        return "epsilon", truth.delta(0.0)[1] * near
    if kind == 6:
        return d.pick(("epsilon", 0.0), ("delta", 0.0), ("delta", 1e-9 / tiny))
    if kind == 7:
        return "delta", place(truth, tiny)
    return "epsilon", d.pick(tiny, tiny, usual)


def drawn(families, hard, rng):
    while True:
        d = Draw(rng, hard)
        make = d.pick(*families)
        releases, ways, group = make(d)
        words = tuple(releases), d.pick(*ways), group
        try:
            truth = known(*words)
            question, value = asked(d, truth)
        except NoTruth:
            continue
        most = 1000 if question == "delta" else 1 - 1e-16
        if value == 0 or 1e-200 <= value <= most:
            return Setting(make.__name__, *words, question, float(value))


ordinary = partial(drawn, ORDINARY, False)
hostile = partial(drawn, HOSTILE, True)
