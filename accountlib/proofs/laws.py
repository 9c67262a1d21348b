# Generated from notebooks/proofs/laws.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Every mechanism, in balls

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $x$, $z$ | `x`, `z` | a loss; an output, in standard deviations |
| $\mu_j$, $w_j$ | `means`, `weights` | centres and weights of normal laws with variance 1; $\mu_j = c_j/\sigma$ if the sum moves by $c_j$ |
| $r(z)$, $z_x$ | `_log_ratio`, `crossing` | ratio of the two densities; the $z$ with $\ln r(z) = x$ |
| $h$ | `room` | how far from a guess the place may be |
| $\sigma$, $s$ | `noise`, `scale` | noise multiplier; scale of Laplace noise |
| $\gamma$ | `rate` | chance of a record to take part |
| $f$, $t_x$ | –, `t` | density of Laplace noise; where its best event begins |
| $m(z)$ | `mass` | probability of the noise $z$, a whole number |
| $u$, $d$ | `up`, `down` | by how much whole numbers are moved |
| $k$ | `records` | records that differ |
| $b$ | `bits` | bits of the numbers |
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any

from accountlib.proofs.balls import (
    Ball,
    Event,
    FoldedLaw,
    GaussianLaw,
    GuaranteeLaw,
    LaplaceLaw,
    Law,
    ListedLaw,
    SampledLaw,
    TableLaw,
    ball,
    flint,
    tail_ball,
)
from accountlib.runs.mechanisms import (
    ApproximateDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    MixtureOfGaussians,
    PureDP,
    RandomizedResponse,
)
from accountlib.runs.releases import (
    FixedBatch,
    FullBatch,
    Poisson,
    Sampling,
)
from accountlib.worst_cases.dominating_pairs import DiscretePair, Mechanism

__all__ = [
    "Ratio",
    "crossing",
    "MixtureLaw",
    "LaplaceExchangeHalf",
    "IntegerLaw",
    "NOBODY",
    "no_law",
    "shares",
    "mixture_law",
    "integer_law",
    "MOVED",
    "SAME",
    "whole_law",
    "group_weights",
    "group_law",
    "sampled_exchange_law",
    "release_law",
]

# --- The place of a best event

Ratio = Callable[[Ball], tuple[Ball, Ball]]  # log of a ratio, and its slope
_TURNS = 400  # steps towards the crossing of a rising function, at most


def crossing(ratio: Ratio, goal: Ball) -> Ball:
    """A ball around the place where a rising function reaches a goal.

    Formula: Newton's steps, halved where they leave what is known; then
    the signs at both ends of the ball are proven.

    >>> cube = crossing(lambda z: (z**3 + z, 3 * z**2 + 1), ball(10))
    >>> 1.99999 < cube < 2.00001
    True
    """
    low, high, wide = ball(-1), ball(1), ball(2)
    for _ in range(_TURNS):
        if ratio(low)[0] < goal < ratio(high)[0]:
            break
        low, high, wide = low - wide, high + wide, 2 * wide
    else:  # beyond all that was tried: it may be anywhere
        return flint().arb.pos_inf().union(flint().arb.neg_inf())
    z = (low + high) / 2
    hair = ball(2) ** (8 - flint().ctx.prec)
    for _ in range(_TURNS):
        value, slope = ratio(z)
        if value < goal:
            low = z
        elif value > goal:
            high = z
        else:
            break
        following = (z + (goal - value) / slope).mid()
        if not low < following < high:
            following = ((low + high) / 2).mid()
        z, before = following, z
        if abs(z - before) < hair * (1 + abs(z)):
            break
    room = hair * (1 + abs(z))
    for _ in range(60):
        below, above = (z - room).mid(), (z + room).mid()
        if ratio(below)[0] < goal < ratio(above)[0]:
            return below.union(above)
        room *= 16
    return low.union(high)


# --- Mixtures, and their mirror images


@dataclass(frozen=True)
class MixtureLaw(Law):
    r"""Normal laws with weights against one, or against their mirror image.

    Formula: $\sum_j w_j N(\mu_j, 1)$ against $N(0, 1)$, or (`exchanged`)
    $\sum_j w_j N(-\mu_j, 1)$, with $\mu_j = c_j/\sigma$; $E_x$ is a half
    line from the place where the log of the ratio is x.

    >>> law = MixtureLaw((Fraction(0), Fraction(1)), (Fraction(1, 2),) * 2)
    >>> 0.191462 < law.height(ball(0)) < 0.191463
    True
    """

    means: tuple[Fraction, ...]
    weights: tuple[Fraction, ...]
    exchanged: bool = False

    def _parts(self) -> list[tuple[Ball, Ball]]:
        means, weights = map(ball, self.means), map(ball, self.weights)
        return list(zip(means, weights, strict=True))

    def _log_ratio(
        self, parts: list[tuple[Ball, Ball]], z: Ball
    ) -> tuple[Ball, Ball]:
        total, slope = ball(0), ball(0)
        for sign in (1, -1) if self.exchanged else (1,):
            terms = [w * (m * (sign * z - m / 2)).exp() for m, w in parts]
            mass = sum(terms, ball(0))
            rise = ball(0)
            for (mean, _), term in zip(parts, terms, strict=True):
                rise += mean * term
            total, slope = total + sign * mass.log(), slope + rise / mass
        return total, slope

    def event(self, x: Ball, above: bool = True) -> Event:
        parts, sign = self._parts(), 1 if above else -1
        still = sum((w for m, w in parts if m == 0), ball(0))
        if not self.exchanged and not x.exp() > still:
            some = ball(1 if above else 0)
            if not x.exp() <= still:
                some = some.union(1 - some)
            return some, some
        z = crossing(partial(self._log_ratio, parts), x)
        tails = (w * tail_ball(sign * (z - m)) for m, w in parts)
        p = sum(tails, ball(0))
        if not self.exchanged:
            return p, tail_ball(sign * z)
        tails = (w * tail_ball(sign * (z + m)) for m, w in parts)
        return p, sum(tails, ball(0))

    @property
    def ends(self) -> tuple[Ball, Ball]:
        still = sum((w for m, w in self._parts() if m == 0), ball(0))
        low, high = super().ends
        return (low if self.exchanged else still.log()), high

    @property
    def symmetric(self) -> bool:
        return self.exchanged


@dataclass(frozen=True)
class LaplaceExchangeHalf(Law):
    r"""Sampled Laplace noise, one record exchanged, for $x \ge 0$.

    Formula: $(1-\gamma) f(t) + \gamma f(t \mp 1)$; $E_x = \{t > t_x\}$
    with $e^{2 t_x/s} = 1 + (e^x - 1)(1 + (1-\gamma) e^{1/s}/\gamma)$.

    >>> law = LaplaceExchangeHalf(Fraction(1), Fraction(1, 2))
    >>> 0.316060 < law.height(ball(0)) < 0.316061
    True
    """

    scale: Fraction
    rate: Fraction

    def event(self, x: Ball, above: bool = True) -> Event:
        s, rate = ball(self.scale), ball(self.rate)
        factor = 1 + (1 - rate) * (1 / s).exp() / rate
        t = s / 2 * (x.expm1() * factor).log1p()
        if t >= 1:
            return (ball(0), ball(0)) if above else (ball(1), ball(1))
        beyond, rest = (-t / s).exp() / 2, (-(1 - t) / s).exp() / 2
        ahead, behind = 1 - rest, (-(1 + t) / s).exp() / 2
        p = (1 - rate) * beyond + rate * ahead
        q = (1 - rate) * beyond + rate * behind
        if not above:
            p = (1 - rate) * (1 - beyond) + rate * rest
            q = (1 - rate) * (1 - beyond) + rate * (1 - behind)
        if t < 1:
            return p, q
        other = ball(0 if above else 1)
        return p.union(other), q.union(other)

    @property
    def ends(self) -> tuple[Ball, Ball]:
        s, rate = ball(self.scale), ball(self.rate)
        factor = 1 + (1 - rate) * (1 / s).exp() / rate
        high = ((2 / s).expm1() / factor).log1p()
        return -high, high


# --- Noise on whole numbers


@dataclass(frozen=True)
class IntegerLaw(TableLaw):
    r"""Noise on whole numbers, moved up and down with some chance.

    Formula: $P = (1-\gamma) m(z) + \gamma m(z - u)$, $Q = (1-\gamma) m(z)
    + \gamma m(z + d)$; m is proportional to $e^{-z^2/(2\sigma^2)}$, or
    (`laplace`) to $e^{-|z|/s}$.

    >>> law = IntegerLaw(False, Fraction(1), 1, 0, Fraction(1))
    >>> 0.398942 < law.height(ball(0)) < 0.398943
    True
    """

    laplace: bool
    noise: Fraction
    up: int
    down: int
    rate: Fraction

    def _masses(self, reach: int) -> list[Ball]:
        """m(0), m(1), ..., m(reach)."""
        noise = ball(self.noise)
        if self.laplace:
            falls, bend = (-1 / noise).exp(), ball(1)
        else:
            falls, bend = (-1 / (2 * noise**2)).exp(), (-1 / noise**2).exp()
        weights, total = [ball(1)], ball(1)
        for _ in range(reach):
            weights.append(weights[-1] * falls)
            total += 2 * weights[-1]
            falls *= bend
        if self.laplace:
            total = (1 + weights[1]) / (1 - weights[1])
        else:
            # Beyond, each weight is at most `falls` times the one before.
            beyond = 2 * weights[-1] * falls / (1 - falls)
            total = total.union(total + beyond)
        return [x / total for x in weights]

    def rows(self) -> tuple[list[Event], Ball]:
        bits, most = flint().ctx.prec, self.up + self.down
        width = 0 if self.laplace else math.isqrt(3 * bits) + 1
        width *= math.ceil(self.noise) + 1
        mass = self._masses(width + most + 1)
        rate, missing = ball(self.rate), ball(0)
        grow = 1 / (1 - mass[1] / mass[0])  # a tail over its first mass
        rows = []
        for z in range(-self.down - width, self.up + width + 1):
            here, p, q = (
                mass[abs(x)] for x in (z, z - self.up, z + self.down)
            )
            row = ((1 - rate) * here + rate * x for x in (p, q))
            end = z in (-self.down, self.up) and self.laplace
            one, other = ((x * grow if end else x) for x in row)
            rows.append((one, other))
        if not self.laplace:  # beyond, masses fall faster and faster
            fall = mass[width + 1] / mass[width]
            missing = missing.union(2 * mass[width] * fall / (1 - fall))
        return rows, missing

    @property
    def symmetric(self) -> bool:
        return self.rate == 1 or self.up == self.down


# --- From a mechanism to its law

_WIDEST_NOISE = 500  # sigma of integer noise: a table of 20,000 outcomes
_FARTHEST_MOVE = 20_000  # of integer noise, for all records together
_LARGEST_GROUP = 200  # in samples: as many normal laws in one mixture
_ONLY_REMOVED = (MixtureOfGaussians, DiscretePair)  # no exchange known
NOBODY = ListedLaw((Fraction(1),), (Fraction(1),))  # never in a batch


def no_law(mechanism: Mechanism, why: str) -> NotImplementedError:
    """A refusal that says what has no curve in balls.

    >>> str(no_law(PureDP(1.0), "group_size=2"))
    'no curve in balls for PureDP(epsilon=1.0), group_size=2'
    """
    return NotImplementedError(f"no curve in balls for {mechanism!r}, {why}")


def shares(weights: Sequence[float]) -> tuple[Fraction, ...]:
    """Probabilities as fractions whose sum is 1.

    >>> shares((0.25, 0.75))
    (Fraction(1, 4), Fraction(3, 4))
    """
    exact = [Fraction(x) for x in weights]
    return tuple(x / sum(exact) for x in exact)


def mixture_law(mechanism: MixtureOfGaussians) -> Law:
    """The law of Gaussian noise on a sum that moves by a random amount."""
    noise = Fraction(mechanism.noise_multiplier)
    means = tuple(Fraction(c) / noise for c in mechanism.sensitivities)
    seen = [
        (m, w)
        for m, w in zip(means, shares(mechanism.probabilities), strict=True)
        if w > 0
    ]
    if all(m == 0 for m, _ in seen):
        return NOBODY
    return MixtureLaw(tuple(m for m, _ in seen), tuple(w for _, w in seen))


def integer_law(
    sigma: float, up: int, down: int, rate: float | Fraction
) -> Law:
    """The law of discrete Gaussian noise that is moved with some chance.

    Raises: NotImplementedError for so much noise that its list is long.
    """
    if sigma > _WIDEST_NOISE:
        raise NotImplementedError(
            f"no curve in balls for sigma above {_WIDEST_NOISE}, got {sigma}"
        )
    return IntegerLaw(False, Fraction(sigma), up, down, Fraction(rate))


MOVED: Mapping[type[Mechanism], Callable[[Any, int], Law]] = MappingProxyType(
    {  # the sum moves by so many records
        Gaussian: lambda m, k: GaussianLaw(
            (k / Fraction(m.noise_multiplier)) ** 2
        ),
        Laplace: lambda m, k: LaplaceLaw(Fraction(m.scale) / k),
        DiscreteGaussian: lambda m, k: integer_law(
            m.sigma, k * m.sensitivity, 0, 1
        ),
        DiscreteLaplace: lambda m, k: IntegerLaw(
            True, Fraction(m.scale), k * m.sensitivity, 0, Fraction(1)
        ),
    }
)
SAME: Mapping[type[Mechanism], Callable[[Any], Law]] = MappingProxyType(
    {  # the same for each of the changes that they speak of
        RandomizedResponse: lambda m: ListedLaw(
            *(
                (Fraction(x), 1 - Fraction(x))
                for x in (
                    m.truth_probability,
                    1 - Fraction(m.truth_probability),
                )
            )
        ),
        PureDP: lambda m: GuaranteeLaw(Fraction(m.epsilon), Fraction(0)),
        ApproximateDP: lambda m: GuaranteeLaw(
            Fraction(m.epsilon), Fraction(m.delta)
        ),
        MixtureOfGaussians: mixture_law,
        DiscretePair: lambda m: ListedLaw(
            *(tuple(map(Fraction, x)) for x in (m.p, m.q))
        ),
    }
)


def whole_law(mechanism: Mechanism, records: int, exchanged: bool) -> Law:
    """The law of one run on all records.

    Parameters: `mechanism`; `records` that differ; `exchanged`, whether
    they are exchanged, not removed.
    Raises: NotImplementedError for what is not covered.

    >>> whole_law(Gaussian(2.0), 3, False), whole_law(Laplace(1.0), 1, True)
    (GaussianLaw(square=Fraction(9, 4)), LaplaceLaw(scale=Fraction(1, 2)))
    """
    kind = type(mechanism)
    if records * getattr(mechanism, "sensitivity", 0) > _FARTHEST_MOVE:
        raise no_law(mechanism, f"group_size={records}: too large a move")
    if kind in MOVED:
        return MOVED[kind](mechanism, records * (2 if exchanged else 1))
    if kind not in SAME or (exchanged and kind in _ONLY_REMOVED):
        what = "exchanged" if exchanged else "removed"
        raise no_law(mechanism, f"a record {what}")
    if records > 1 and kind is not RandomizedResponse:
        raise no_law(mechanism, f"group_size={records}")
    return SAME[kind](mechanism)


def group_weights(sampling: Sampling, size: int) -> tuple[Fraction, ...]:
    """Chances that 0, 1, ... members of a group are in a sample.

    Formula: binomial (Poisson sampling), hypergeometric (fixed batch).

    >>> group_weights(FixedBatch(2, 4), 2)
    (Fraction(1, 6), Fraction(2, 3), Fraction(1, 6))
    """
    weights = []
    for j in range(size + 1):
        weight = Fraction(math.comb(size, j))
        if isinstance(sampling, FixedBatch):
            batch, left = sampling.batch_size, sampling.dataset_size
            for i in range(size):  # one member after the other
                room = batch - i if i < j else left - batch - (i - j)
                weight *= Fraction(room, left - i)
        else:
            rate = Fraction(sampling.rate)
            weight *= rate**j * (1 - rate) ** (size - j)
        weights.append(weight)
    while weights[-1] == 0:  # more than a batch has
        weights.pop()
    return tuple(weights)


def group_law(
    mechanism: Mechanism, sampling: Sampling, records: int, exchanged: bool
) -> Law:
    """The law of Gaussian noise, several records differing, in samples.

    >>> group_law(Gaussian(2.0), Poisson(0.5), 2, False).means
    (Fraction(0, 1), Fraction(1, 2), Fraction(1, 1))
    """
    known = not exchanged or isinstance(sampling, Poisson)
    if not isinstance(mechanism, Gaussian) or not known:
        raise no_law(mechanism, f"group_size={records} with {sampling!r}")
    if records > _LARGEST_GROUP:
        raise no_law(mechanism, f"group_size above {_LARGEST_GROUP}")
    weights = group_weights(sampling, records)
    apart = 2 if isinstance(sampling, FixedBatch) else 1  # another leaves
    distance = apart / Fraction(mechanism.noise_multiplier)
    means = tuple(j * distance for j in range(len(weights)))
    return MixtureLaw(means, weights, exchanged)


def sampled_exchange_law(mechanism: Mechanism, rate: Fraction) -> Law:
    """The law of one exchanged record under Poisson sampling.

    >>> sampled_exchange_law(PureDP(1.0), Fraction(1, 2)).half.rate
    Fraction(1, 2)
    """
    whole_law(mechanism, 1, True)  # refuses types that are not known
    if isinstance(mechanism, Gaussian):
        distance = 1 / Fraction(mechanism.noise_multiplier)
        return MixtureLaw((Fraction(0), distance), (1 - rate, rate), True)
    if isinstance(mechanism, Laplace):
        scale = Fraction(mechanism.scale)
        return FoldedLaw(LaplaceExchangeHalf(scale, rate))
    if isinstance(mechanism, DiscreteGaussian):
        shift = mechanism.sensitivity
        return integer_law(mechanism.sigma, shift, shift, rate)
    if isinstance(mechanism, DiscreteLaplace):
        shift, scale = mechanism.sensitivity, Fraction(mechanism.scale)
        return IntegerLaw(True, scale, shift, shift, rate)
    return FoldedLaw(SampledLaw(whole_law(mechanism, 1, True), rate))


# --- From a release to its law


def release_law(
    mechanism: Mechanism, sampling: Sampling, records: int, exchanged: bool
) -> Law:
    """The law of one run, for records that are removed or exchanged.

    Raises: NotImplementedError for what has no curve in balls.
    Source: as `dominating_pairs`.

    >>> release_law(Gaussian(1.0), Poisson(0.5), 1, False)
    SampledLaw(base=GaussianLaw(square=Fraction(1, 1)), rate=Fraction(1, 2))
    """
    if not isinstance(sampling, FullBatch | Poisson | FixedBatch):
        raise no_law(mechanism, f"{sampling!r}")
    rate = Fraction(sampling.rate)
    if rate == 0:
        return NOBODY
    if rate == 1:
        return whole_law(mechanism, records, exchanged)
    if records > 1:
        whole_law(mechanism, 1, exchanged)  # refuses what is not known
        return group_law(mechanism, sampling, records, exchanged)
    if isinstance(sampling, Poisson):
        if exchanged:
            return sampled_exchange_law(mechanism, rate)
        return SampledLaw(whole_law(mechanism, 1, False), rate)
    half = SampledLaw(whole_law(mechanism, 1, True), rate)
    return FoldedLaw(half) if exchanged else half
