# Generated from notebooks/proofs/samplers.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Both ends, in balls

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\gamma$, $\gamma'$, $\gamma_0$ | `rate`, `kept`, `present` | chance to be in a batch; given that it is full; in a cut-off batch |
| $p$, $1 - p$ | `full`, `room` | chance that there is no room for one more, and that there is |
| $w_j$ | `weights` | chance of a label |
| $\mu$, $\kappa$ | `mu`, `_kappa` | $1/\sigma$; $e^{-\mu^2} (1 - \gamma)/\gamma$ |
| $N_k$ | – | the normal law with mean $k\mu$ and variance 1 |
| $v$ | `low`, `high` | $e^w$ of an output, as in zo-place; $v_1$, $v_2$ are roots |
| $t$, $M$, $c$ | `batches`, –, `places` | batches of an epoch; the largest output, and a value of it |
| $k$ | `first`, `second` | by how many $\mu$ the batch of the record is moved |
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from accountlib.proofs.balls import (
    Ball,
    Event,
    FoldedLaw,
    GaussianLaw,
    Law,
    ReversedLaw,
    SampledLaw,
    TableLaw,
    ball,
    flint,
    tail_ball,
)
from accountlib.proofs.epochs import epoch_law
from accountlib.proofs.laws import (
    no_law,
    release_law,
    sampled_exchange_law,
    whole_law,
)
from accountlib.runs.mechanisms import Gaussian
from accountlib.runs.releases import (
    Adjacency,
    FixedBatch,
    FullBatch,
    Poisson,
    RandomAllocation,
    Release,
    Sampling,
    ShuffledEpochs,
    TruncatedPoisson,
    plain_sampler,
)
from accountlib.worst_cases.dominating_pairs import Mechanism

__all__ = [
    "reversed_law",
    "BothEnds",
    "both_ends",
    "ZeroedLaw",
    "SplicedLaw",
    "zeroed_laws",
    "LabelledLaw",
    "binomial_balls",
    "CutShares",
    "cut_shares",
    "cut_off_laws",
    "allocated_laws",
    "LargestOutputLaw",
    "shuffled_laws",
    "refuse_neighbours",
    "laws_of_release",
    "added_laws",
    "ways_of_run",
    "run_laws",
    "MOST_WAYS",
    "lower_laws",
]

# --- Two ends


def reversed_law(law: Law) -> Law:
    """The pair (Q, P), in its simplest form.

    >>> one = SampledLaw(GaussianLaw(Fraction(1)), Fraction(1, 2))
    >>> reversed_law(reversed_law(one)) == one
    True
    """
    if isinstance(law, ReversedLaw):
        return law.base
    return law if law.symmetric else ReversedLaw(law)


@dataclass(frozen=True)
class BothEnds:
    """Laws of one run: one that dominates, and what neighbours reach.

    Fields: `above`, for upper ends; `below`, one or two laws for lower
    ends.

    >>> one = GaussianLaw(Fraction(1))
    >>> BothEnds(one, (one,)).reversed() == BothEnds(one, (one,))
    True
    """

    above: Law
    below: tuple[Law, ...]

    def reversed(self) -> "BothEnds":
        """The laws of the other direction."""
        below = tuple(map(reversed_law, self.below))
        return BothEnds(reversed_law(self.above), below)


def both_ends(law: Law) -> BothEnds:
    """A law that is reached, or one that is folded from two that are.

    >>> half = SampledLaw(GaussianLaw(Fraction(4)), Fraction(1, 100))
    >>> both_ends(FoldedLaw(half)).below == (half, ReversedLaw(half))
    True
    """
    if isinstance(law, FoldedLaw) and isinstance(law.half, SampledLaw):
        return BothEnds(law, (law.half, ReversedLaw(law.half)))
    return BothEnds(law, (law,))


# --- Zeroed


@dataclass(frozen=True)
class ZeroedLaw(Law):
    r"""A record against nothing in a fixed batch, all others opposite.

    Formula: $P = (1-\gamma) N_0 + \gamma N_2$, $Q = (1-\gamma) N_0 +
    \gamma N_1$, unit normals at 0, $2\mu$ and $\mu$; $E_x$ is beyond the
    roots of eq. (zo-place).

    >>> law = ZeroedLaw(Fraction(1), Fraction(1, 10))
    >>> 0.01636 < law.height(ball(0.5)) < 0.01637
    True
    """

    mu: Fraction
    rate: Fraction

    def _kappa(self) -> Ball:
        rate = ball(self.rate)
        return (-(ball(self.mu) ** 2)).exp() * (1 - rate) / rate

    def _beyond(self, w: Ball, sign: int) -> Event:
        """Masses of outputs above (or below) $z = w/\\mu + 3\\mu/2$."""
        mu, rate = ball(self.mu), ball(self.rate)
        z = w / mu + 3 * mu / 2
        none, one, two = (tail_ball(sign * (z - k * mu)) for k in range(3))
        rest = (1 - rate) * none
        return rest + rate * two, rest + rate * one

    def event(self, x: Ball, above: bool = True) -> Event:
        kappa, alpha = self._kappa(), x.exp()
        gap = x.expm1()
        square = alpha**2 + 4 * kappa * gap
        root = square.nonnegative_part().sqrt()  # 0: all are above
        high, low = (alpha + root) / 2, (alpha - root) / 2
        if square > 0:  # the same, with more digits
            low = -kappa * gap / high
        p, q = self._beyond(high.log(), 1 if above else -1)
        if low <= 0:
            return p, q
        r, s = self._beyond(low.upper().log(), -1)
        if low > 0:
            r, s = self._beyond(low.log(), -1)
        else:  # it may be anywhere below
            r, s = r.union(ball(0)), s.union(ball(0))
        return (p + r, q + s) if above else (p - r, q - s)

    @property
    def ends(self) -> tuple[Ball, Ball]:
        kappa = self._kappa()
        least = 2 * kappa / ((kappa * (kappa + 1)).sqrt() + kappa)
        return least.log(), super().ends[1]


@dataclass(frozen=True)
class SplicedLaw(Law):
    r"""A pair that is given by the positive losses of both directions.

    Formula: $E_x$ of `half` for $x \ge 0$; else the rest of the mirror
    image of that of `other`, a law of the other direction.

    >>> half = ZeroedLaw(Fraction(1), Fraction(1, 10))
    >>> other = SampledLaw(GaussianLaw(Fraction(1)), Fraction(1, 10))
    >>> law = ReversedLaw(SplicedLaw(half, other))
    >>> 0.002032 < law.height(ball(0.5)) < 0.002033
    True
    """

    half: Law
    other: Law

    def event(self, x: Ball, above: bool = True) -> Event:
        if x >= 0:
            return self.half.event(x, above)
        q, p = self.other.event(-x, not above)
        if x < 0:
            return p, q
        here = self.half.event(x, above)
        return p.union(here[0]), q.union(here[1])

    @property
    def infinite(self) -> Event:
        return self.half.infinite[0], self.other.infinite[0]

    @property
    def ends(self) -> tuple[Ball, Ball]:
        return -self.other.ends[1], self.half.ends[1]


def zeroed_laws(mechanism: Mechanism, rate: Fraction) -> BothEnds:
    """The laws of a record against nothing in a fixed batch.

    >>> laws = zeroed_laws(Gaussian(1.0), Fraction(1, 10))
    >>> laws.below[0] == ZeroedLaw(Fraction(1), Fraction(1, 10))
    True
    """
    exchanged = whole_law(mechanism, 1, True)  # refuses what is not known
    whole = whole_law(mechanism, 1, False)
    if rate == 1:
        return BothEnds(whole, (whole,))
    beside = SampledLaw(whole, rate)
    if isinstance(mechanism, Gaussian):
        half = ZeroedLaw(1 / Fraction(mechanism.noise_multiplier), rate)
        above: Law = SplicedLaw(half, beside)
        return BothEnds(above, (half, ReversedLaw(beside)))
    above = FoldedLaw(SampledLaw(exchanged, rate))
    return BothEnds(above, (beside, ReversedLaw(beside)))


# --- Cut off


@dataclass(frozen=True)
class LabelledLaw(Law):
    r"""One of several laws, drawn at random and told.

    Formula: $P = \sum_j w_j\, (j, P_j)$, $Q = \sum_j w_j\, (j, Q_j)$; the
    weights may sum to a little more than 1.

    >>> one, two = GaussianLaw(Fraction(1)), GaussianLaw(Fraction(4))
    >>> law = LabelledLaw((one, two), (Fraction(1, 2),) * 2)
    >>> 0.318399 < law.height(ball(1)) < 0.318400
    True
    """

    laws: tuple[Law, ...]
    weights: tuple[Fraction, ...]

    def _mean(self, events: Iterable[Event]) -> Event:
        p = q = ball(0)
        for weight, (one, other) in zip(self.weights, events, strict=True):
            p, q = p + ball(weight) * one, q + ball(weight) * other
        return p, q

    def event(self, x: Ball, above: bool = True) -> Event:
        return self._mean(law.event(x, above) for law in self.laws)

    def height(self, x: Ball) -> Ball:
        heights = ((law.height(x), ball(0)) for law in self.laws)
        return self._mean(heights)[0]

    @property
    def infinite(self) -> Event:
        return self._mean(law.infinite for law in self.laws)

    @property
    def total(self) -> Event:
        return self._mean(law.total for law in self.laws)

    @property
    def ends(self) -> tuple[Ball, Ball]:
        low, high = self.laws[0].ends
        for law in self.laws[1:]:
            least, most = law.ends
            low, high = low.min(least), high.max(most)
        return low, high

    @property
    def symmetric(self) -> bool:
        return all(law.symmetric for law in self.laws)


def binomial_balls(
    trials: int, rate: Fraction, least: int
) -> tuple[Ball, Ball]:
    r"""$\Pr[K \ge k]$ and $\Pr[K < k]$ for a binomial K.

    Formula: terms from k away from the mean; their ratios fall, so a
    geometric series bounds what is left.

    Parameters: `trials`; `rate`, in (0, 1); `least` (k, 1 to `trials`).

    >>> tail, rest = binomial_balls(3, Fraction(1, 2), 3)
    >>> 0.1249 < tail < 0.1251, 0.8749 < rest < 0.8751
    (True, True)
    """
    above = least >= (trials + 1) * rate
    k = least if above else least - 1
    drawn, stay = ball(rate), ball(1 - rate)
    log = k * drawn.log() + (trials - k) * stay.log()
    for sign, number in ((1, trials), (-1, k), (-1, trials - k)):
        log += sign * ball(number + 1).lgamma()
    term = total = log.exp()
    odds, hair = drawn / stay, ball(2) ** -flint().ctx.prec
    while 0 < k < trials or (k == 0) == above:
        ratio = (trials - k) * odds / (k + 1)
        if not above:
            ratio = k / ((trials - k + 1) * odds)
        beyond = term * ratio / (1 - ratio)
        if ratio < 1 and beyond < hair * total:
            total = total.union(total + beyond)
            break
        term *= ratio
        total += term
        k += 1 if above else -1
    return (total, 1 - total) if above else (1 - total, total)


_CUT_BITS = 256  # of the probabilities of a cut; then they are fractions
_RAREST_LABEL = Fraction(1, 2**1000)  # a rarer one counts as if it had this


@dataclass(frozen=True)
class CutShares:
    """Probabilities of a sampler that is cut off, as fractions.

    Fields: `full` (p), `room` (1 - p) and `kept` (gamma'), rounded up;
    `present` (gamma_0), rounded down.
    """

    full: Fraction
    room: Fraction
    kept: Fraction
    present: Fraction


@lru_cache(64)
def cut_shares(rate: Fraction, largest: int, size: int) -> CutShares:
    r"""The probabilities of a cut-off sampler, on their sides.

    Formula: eq. (cut-kept); $\gamma_0 = \gamma (1 - p) + \gamma' p$.

    Parameters: `rate` ($\gamma$ in (0, 1)); `largest` (B); `size` (n > B).

    >>> shares = cut_shares(Fraction(1, 2), 2, 3)
    >>> [round(float(x), 9) for x in (shares.full, shares.kept)]
    [0.25, 0.333333333]
    """

    def exact(end: Ball) -> Fraction:
        digits, power = end.man_exp()
        return int(digits) * Fraction(2) ** int(power)

    with flint().ctx.workprec(_CUT_BITS):
        full, room = binomial_balls(size - 1, rate, largest)
        more, _ = binomial_balls(size, rate, largest + 1)
        kept = largest * more / (size * full)
        present = ball(rate) * room + kept * full
        least = ball(_RAREST_LABEL)
        return CutShares(
            full=exact(full.upper().max(least)),
            room=exact(room.upper().max(least)),
            kept=exact(kept.upper()),
            present=exact(present.lower()),
        )


def cut_off_laws(
    mechanism: Mechanism, sampling: TruncatedPoisson, adjacency: Adjacency
) -> BothEnds:
    """The laws of one run on a Poisson sample that is cut off.

    Parameters: `mechanism`; `sampling`, of which something is cut;
    `adjacency`; for add they are those of remove.

    >>> cut = TruncatedPoisson(0.5, 2, 3)
    >>> laws = cut_off_laws(Gaussian(1.0), cut, Adjacency.REMOVE)
    >>> 5.19100e-2 < laws.above.height(ball(1)) < 5.19101e-2
    True
    """
    exchanged = whole_law(mechanism, 1, True)  # refuses what is not known
    rate = Fraction(sampling.rate)
    shares = cut_shares(rate, sampling.largest_batch, sampling.dataset_size)
    if adjacency is Adjacency.SUBSTITUTE:
        full: Law = FoldedLaw(SampledLaw(exchanged, shares.kept))
        room, below = (
            sampled_exchange_law(mechanism, x) for x in (rate, shares.present)
        )
    else:
        removed = whole_law(mechanism, 1, False)
        full = SampledLaw(exchanged, shares.kept)
        if adjacency is Adjacency.ZERO_OUT:
            full = zeroed_laws(mechanism, shares.kept).above
        room, below = (SampledLaw(removed, x) for x in (rate, shares.present))
    above = LabelledLaw((full, room), (shares.full, shares.room))
    return BothEnds(above, both_ends(below).below)


# --- Allocated


def allocated_laws(
    mechanism: Mechanism, steps: int, adjacency: Adjacency
) -> BothEnds:
    """The laws of an epoch in which each record is in one step.

    Parameters: `mechanism`; `steps` (t at least 2); `adjacency`; for add
    they are those of remove.
    Raises: NotImplementedError for an exchange, of which no law is known.
    """
    if adjacency is Adjacency.SUBSTITUTE:
        raise no_law(mechanism, "a record exchanged with RandomAllocation")
    one = whole_law(mechanism, 1, False)
    above, below = (epoch_law(one, steps, x) for x in (True, False))
    return BothEnds(above, (below,))


# --- Shuffled

_OUTPUT_CELLS = 1500  # of the largest output of an epoch


@dataclass(frozen=True)
class LargestOutputLaw(TableLaw):
    r"""An attack that is told the cell of the largest output of an epoch.

    Formula: $P(M \le c) = \Phi(c)^{t-1} \Phi(c - k \mu)$, k = `first`; Q
    with k = `second`.

    >>> law = LargestOutputLaw(Fraction(2), 100, 2, 1)
    >>> 0.4738 < law.height(ball(1)) < 0.4739
    True
    """

    mu: Fraction
    batches: int
    first: int
    second: int

    def _below(self, place: Fraction, k: int) -> tuple[Ball, Ball]:
        r"""$P(M \le c)$ and $P(M > c)$, if a batch is moved by $k \mu$."""

        def log_below(z: Fraction) -> Ball:
            tail = tail_ball(abs(ball(z)))
            return (-tail).log1p() if z > 0 else tail.log()

        log = log_below(place - k * self.mu)
        log += (self.batches - 1) * log_below(place)
        return log.exp(), -log.expm1()

    def rows(self) -> tuple[list[Event], Ball]:
        step = (13 + 2 * self.mu) / (_OUTPUT_CELLS - 1)
        places = [i * step - 4 for i in range(_OUTPUT_CELLS)]
        sides = []
        for k in (self.first, self.second):
            ends = [self._below(c, k) for c in places]
            masses = [ends[0][0]]
            for (low, rest), (high, beyond) in pairwise(ends):
                few = high < 0.5  # which difference has the digits
                masses.append(high - low if few else rest - beyond)
            sides.append([*masses, ends[-1][1]])
        return list(zip(*sides, strict=True)), ball(0)


def shuffled_laws(
    mechanism: Mechanism, batches: int, adjacency: Adjacency
) -> tuple[BothEnds, ...]:
    """The laws of a shuffled epoch: a full batch above, attacks below.

    Parameters: `mechanism`; `batches` (t at least 2); `adjacency`.
    Raises: NotImplementedError for other neighbours than those that are
    zeroed out or exchanged.

    >>> one, _ = shuffled_laws(Gaussian(1.0), 10, Adjacency.ZERO_OUT)
    >>> one.above
    GaussianLaw(square=Fraction(1, 1))
    """
    if adjacency not in (Adjacency.ZERO_OUT, Adjacency.SUBSTITUTE):
        raise no_law(mechanism, f"adjacency={str(adjacency)!r} with a shuffle")
    exchanged = adjacency is Adjacency.SUBSTITUTE
    above = whole_law(mechanism, 1, exchanged)
    epoch = attack = epoch_law(above, batches, False)
    if exchanged:
        return (BothEnds(above, (epoch, reversed_law(epoch))),)
    if isinstance(mechanism, Gaussian):
        mu = 1 / Fraction(mechanism.noise_multiplier)
        attack = LargestOutputLaw(mu, batches, 2, 1)
    return (
        BothEnds(above, (attack, epoch)),
        BothEnds(reversed_law(above), (reversed_law(attack), epoch)),
    )


# --- From a release, and a whole run


def refuse_neighbours(
    sampling: Sampling, adjacency: Adjacency, records: int
) -> None:
    """Raise for data sets that are no neighbours, or have no law."""
    zeroed = adjacency is Adjacency.ZERO_OUT
    plain = isinstance(sampling, FullBatch | Poisson)
    plain = plain or isinstance(sampling, FixedBatch) and not zeroed
    if records > 1 and not plain:
        raise NotImplementedError(
            f"no curve in balls for group_size={records} with {sampling!r} "
            f"and adjacency={str(adjacency)!r}"
        )
    alone = (Adjacency.ZERO_OUT, Adjacency.SUBSTITUTE)
    if adjacency in alone or not isinstance(sampling, FixedBatch):
        return
    if sampling.batch_size > sampling.dataset_size - records:
        raise ValueError(
            "batch_size must lie in [1, dataset_size - group_size], got "
            f"{sampling!r} and group_size={records}"
        )


def laws_of_release(
    mechanism: Mechanism,
    sampling: Sampling,
    adjacency: Adjacency,
    records: int,
) -> tuple[BothEnds, ...]:
    """The laws of one run, for each direction: remove first, then add.

    Raises: NotImplementedError for what has no curve in balls; ValueError
    for data sets that are no neighbours.
    Source: as `dominating_pairs`.

    >>> how = Poisson(0.5), Adjacency.REMOVE, 1
    >>> laws_of_release(Gaussian(1.0), *how)[0].below
    (SampledLaw(base=GaussianLaw(square=Fraction(1, 1)), rate=Fraction(1, 2)),)
    """
    sampling = plain_sampler(sampling)
    refuse_neighbours(sampling, adjacency, records)
    exchanged = adjacency is Adjacency.SUBSTITUTE
    zeroed = adjacency is Adjacency.ZERO_OUT
    if isinstance(sampling, ShuffledEpochs):
        return shuffled_laws(mechanism, sampling.batches, adjacency)
    if isinstance(sampling, TruncatedPoisson):
        one = cut_off_laws(mechanism, sampling, adjacency)
    elif isinstance(sampling, FixedBatch) and zeroed:
        one = zeroed_laws(mechanism, sampling.rate)
    elif isinstance(sampling, RandomAllocation):
        one = allocated_laws(mechanism, sampling.steps, adjacency)
    else:
        how = mechanism, sampling, records, exchanged
        one = both_ends(release_law(*how))
    if exchanged or adjacency is Adjacency.REMOVE:
        return (one,)
    other = one.reversed()
    return (other,) if adjacency is Adjacency.ADD else (one, other)


def added_laws(parts: Iterable[tuple[Law, int]]) -> dict[Law, int]:
    """Laws and how often each occurs; those of Gaussian noise are one.

    >>> one = GaussianLaw(Fraction(1))
    >>> added_laws([(one, 2), (GaussianLaw(Fraction(2)), 1)])
    {GaussianLaw(square=Fraction(4, 1)): 1}
    """
    found: dict[Law, int] = {}
    square = Fraction(0)
    for law, count in parts:
        if isinstance(law, GaussianLaw):
            square += count * law.square
        elif count > 0:
            found[law] = found.get(law, 0) + count
    if square > 0:
        found[GaussianLaw(square)] = 1
    return found


def ways_of_run(
    releases: Sequence[Release], adjacency: Adjacency, records: int
) -> list[list[tuple[BothEnds, int]]]:
    """The laws of all releases and their counts, for each direction."""
    found = [
        laws_of_release(one.mechanism, one.sampling, adjacency, records)
        for one in releases
    ]
    return [
        [(laws, one.count) for laws, one in zip(way, releases, strict=True)]
        for way in zip(*found, strict=True)
    ]


def run_laws(
    releases: Sequence[Release], adjacency: Adjacency, records: int
) -> list[dict[Law, int]]:
    r"""The laws of a run for its upper end, for each direction.

    Formula: Gaussian laws are one: squares of their distances add up.

    Returns: one dictionary for remove (or an exchange), one for add; one
    only if both are equal.

    >>> run_laws([Release(Gaussian(2.0), count=4)], Adjacency.ADD, 1)
    [{GaussianLaw(square=Fraction(1, 1)): 1}]
    """
    found: list[dict[Law, int]] = []
    for way in ways_of_run(releases, adjacency, records):
        laws = added_laws((one.above, count) for one, count in way)
        if laws not in found:
            found.append(laws)
    return found


MOST_WAYS = 10  # dictionaries of `lower_laws`


def lower_laws(
    releases: Sequence[Release], adjacency: Adjacency, records: int
) -> list[dict[Law, int]]:
    """The laws of runs that neighbours reach, for its lower end.

    Returns: at most ten dictionaries; those of `run_laws` if these are
    reached. Where one run has two laws, the first takes 0, 1/4, 1/2, 3/4
    or all of the steps.

    >>> step = Release(Gaussian(2.0), FixedBatch(1, 9), count=2)
    >>> [sum(x.values()) for x in lower_laws([step], Adjacency.REMOVE, 1)]
    [2]
    """
    found: list[dict[Law, int]] = []
    for way in ways_of_run(releases, adjacency, records):
        for quarters in range(5):
            parts = []
            for one, count in way:
                first = (count * quarters + 2) // 4
                parts.append((one.below[0], first))
                parts.append((one.below[-1], count - first))
            laws = added_laws(parts)
            if laws not in found:
                found.append(laws)
    return found
