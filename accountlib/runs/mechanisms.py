# Generated from notebooks/runs/mechanisms.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What a mechanism must say

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $x_i$, $C$ | – | the part of record $i$ in a sum, and the norm to which it is clipped |
| $\sigma$ | `noise_multiplier`, `sigma` | standard deviation of normal noise: in units of $C$ for sums, absolute for counts |
| $s$ | `scale` | scale of Laplace noise, in the same units |
| $k$ | `sensitivity` | by how much a record can change a count, a whole number |
| $Z$, $z$ | – | noise on the integers, and a value of it |
| $p$ | `truth_probability` | chance of a true answer, in $[0, 1]$ |
| $\varepsilon$, $\delta$ | `epsilon`, `delta` | a guarantee of which nothing else is known |
| $c_j$, $w_j$ | `sensitivities`, `probabilities` | what a record may add to a sum, and how likely |
| $T_j$, $\mu_j$ | – | number of runs of kind $j$, and distance of their Gaussian pair |
| $P$, $Q$ | `pair` | outputs with and without the record |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from accountlib.inputs import (
    check_count,
    check_kind,
    check_number,
    check_probabilities,
    check_range,
)
from accountlib.several.mixtures import gaussian_mixture
from accountlib.worst_cases.divergences import two_product
from accountlib.worst_cases.dominating_pairs import (
    DiscretePair,
    DominatingPair,
    Mechanism,
    RoundedPair,
)
from accountlib.worst_cases.integer_noise import IntegerGaussianPair
from accountlib.worst_cases.noise import GaussianPair, LaplacePair, quotient

__all__ = [
    "Gaussian",
    "Laplace",
    "merge_gaussians",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "RandomizedResponse",
    "ApproximateDP",
    "PureDP",
    "MixtureOfGaussians",
    "check_pair",
    "exchanged_pair",
]

# --- Noise on a sum


@dataclass(frozen=True)
class Gaussian(Mechanism):
    r"""Gaussian mechanism: a sum of clipped records plus normal noise.

    Formula: $\sum_i x_i + N(0, \sigma^2 C^2 I)$ with $\|x_i\|_2 \le C$.

    Parameters: `noise_multiplier` ($\sigma$ in [1e-299, 1e299]), the
    standard deviation of the noise divided by the clipping norm C of one
    record.
    Raises: ValueError for values outside this range.
    Error: none, since worst data sets reach the pair.
    Source: Lebeda et al. (2024), Proposition 9.

    >>> Gaussian(2.0).pair(), Gaussian(2.0).exchange_pair()
    (GaussianPair(mu=0.5), GaussianPair(mu=1.0))
    """

    noise_multiplier: float

    def __post_init__(self) -> None:
        value = check_number(
            "noise_multiplier", self.noise_multiplier, 0, np.inf, "()"
        )
        check_number("noise_multiplier", value, 1e-299, 1e299)
        object.__setattr__(self, "noise_multiplier", value)

    def pair(self) -> DominatingPair:
        mu, rest = map(float, quotient(1.0, self.noise_multiplier))
        return GaussianPair(mu, rest)

    def exchange_pair(self) -> DominatingPair:
        mu, rest = map(float, quotient(2.0, self.noise_multiplier))
        return GaussianPair(mu, rest)


@dataclass(frozen=True)
class Laplace(Mechanism):
    r"""Laplace mechanism: a sum of bounded numbers plus Laplace noise.

    Formula: $\sum_i x_i + \mathrm{Lap}(0, s)$ with $|x_i| \le 1$.

    Parameters: `scale` ($s$ in [1e-149, 1e150]), the scale of the noise
    divided by the largest absolute value of one record.
    Raises: ValueError for values outside this range.
    Error: none, since worst data sets reach the pair.
    Source: Lebeda et al. (2024), Proposition 9.

    >>> Laplace(2.0).exchange_pair()
    LaplacePair(scale=1.0)
    """

    scale: float

    def __post_init__(self) -> None:
        value = check_number("scale", self.scale, 0, np.inf, "()")
        check_number("scale", value, 1e-149, 1e150)
        object.__setattr__(self, "scale", value)

    def pair(self) -> DominatingPair:
        return LaplacePair(self.scale)

    def exchange_pair(self) -> DominatingPair:
        return LaplacePair(self.scale / 2)


# --- Sums that add up


def merge_gaussians(
    losses: dict[DominatingPair, int],
) -> dict[DominatingPair, int]:
    r"""The same total loss, with all Gaussian pairs merged into one.

    Formula: $\mu = \sqrt{\sum_j T_j \mu_j^2}$.

    Parameters: `losses`, pairs and their counts.
    Returns: such a dictionary, with at most one Gaussian pair.
    Error: two floats keep 30 digits of mu. Pairs with the same float mu
    count as the first one of them: an error of u, relative to mu, which
    the room in the masses covers.
    Source: Dong, Roth and Su (2022), Corollary 3.3.

    >>> merge_gaussians({GaussianPair(3.0): 1, GaussianPair(2.0): 4})
    {GaussianPair(mu=5.0): 1}
    """
    normal = [x for x in losses if type(x) is GaussianPair]
    if sum(losses[x] for x in normal) < 2:
        return losses
    with localcontext(Context(prec=60, traps=[])):
        squares = (
            losses[x] * (Decimal(x.mu) + Decimal(x.rest)) ** 2 for x in normal
        )
        root = sum(squares, Decimal(0)).sqrt()
        mu = float(root)
        rest = float(root - Decimal(mu))
    if not 1e-300 <= mu <= 1e300:
        return losses
    others = {x: n for x, n in losses.items() if x not in normal}
    return others | {GaussianPair(mu, rest): 1}


# --- Noise on whole numbers


@dataclass(frozen=True)
class DiscreteGaussian(Mechanism):
    r"""A count plus discrete Gaussian noise, which is a whole number.

    Formula: $\Pr[Z = z] \propto e^{-z^2/(2\sigma^2)}$; P is the noise
    shifted by k, Q the noise.

    Parameters: `sigma` ($\sigma$ in [1e-3, 1e4]), in absolute units;
    `sensitivity` (k, a whole number from 1 to 5e5): by how much one record
    that is added or removed changes the count, at most.
    Raises: ValueError for values outside these ranges.
    Error: none, since worst counts reach the pair; rounding as
    `IntegerGaussianPair`.
    Source: Canonne, Kamath and Steinke (2020), Definition 1.

    >>> round(DiscreteGaussian(1.0).pair().delta(0.0), 6)
    0.398942
    """

    sigma: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        shift = check_count("sensitivity", self.sensitivity)
        check_number("sensitivity", shift, 1, 5e5)
        sigma = check_number("sigma", self.sigma, 1e-3, 1e4)
        object.__setattr__(self, "sensitivity", shift)
        object.__setattr__(self, "sigma", sigma)

    def pair(self) -> DominatingPair:
        return IntegerGaussianPair(self.sigma, self.sensitivity)

    def exchange_pair(self) -> DominatingPair:
        return IntegerGaussianPair(self.sigma, 2 * self.sensitivity)


@dataclass(frozen=True)
class DiscreteLaplace(Mechanism):
    r"""A count plus discrete Laplace (geometric) noise, a whole number.

    Formula: $\Pr[Z = z] \propto e^{-|z|/s}$; losses $(k - 2j)/s$, with
    P-mass $\tanh(\frac{1}{2s}) e^{-j/s}$ for 0 < j < k, and
    $1/(1+e^{-1/s})$, $e^{-k/s}/(1+e^{-1/s})$ at j = 0 and j = k.

    Parameters: `scale` ($s \ge k/600$), in absolute units; `sensitivity`
    (k, a whole number from 1 to 1e5): by how much one record that is added
    or removed changes the count, at most.
    Raises: ValueError for values outside these ranges.
    Error: none, since worst counts reach the pair; rounding as
    `RoundedPair`.
    Source: Ghosh, Roughgarden and Sundararajan (2012), Definition 2.1.

    >>> round(DiscreteLaplace(2.0).pair().loss_range[1], 12)
    0.5
    """

    scale: float
    sensitivity: int = 1

    def __post_init__(self) -> None:
        shift = check_count("sensitivity", self.sensitivity)
        check_number("sensitivity", shift, 1, 1e5)
        scale = check_number("scale", self.scale, shift / 600, np.inf, "[)")
        object.__setattr__(self, "sensitivity", shift)
        object.__setattr__(self, "scale", scale)

    def pair(self) -> DominatingPair:
        places = np.arange(self.sensitivity + 1)
        p = np.exp(-places / self.scale)
        p[1:-1] *= math.tanh(0.5 / self.scale)
        p[[0, -1]] /= 1 + math.exp(-1 / self.scale)
        losses = (self.sensitivity - 2 * places) / self.scale
        top = self.sensitivity / Fraction(self.scale)
        return RoundedPair(p, p[::-1], tuple(losses.tolist()), top)

    def exchange_pair(self) -> DominatingPair:
        return DiscreteLaplace(self.scale, 2 * self.sensitivity).pair()

    def exchanged_table(self, rate: float) -> DominatingPair:
        """The pair of an exchange under Poisson sampling, as a table."""
        # Outcomes beyond -k and k tell no more than these.
        k = self.sensitivity
        x = np.arange(-k, k + 1)
        apart = np.abs(x - np.array([[0.0], [k]]))
        power = apart / self.scale
        cells = np.exp(-power)
        if self.scale < 1e9:  # a rounded large power costs digits
            scale = np.full(1, self.scale)
            whole, missed = two_product(power, scale)
            cells -= cells * (((apart - whole) - missed) / scale)
        p = float(1 - Fraction(rate)) * cells[0] + rate * cells[1]
        # For x > 0: ln(1 + rate (e^(-|x - k|/s) - e^(-(x + k)/s)) / q)
        gone = -np.expm1(-2 * x[k + 1 :] / self.scale)
        up = np.log1p(rate * (cells[1, k + 1 :] / p[:k][::-1] * gone))
        losses = np.concatenate([-up[::-1], [0.0], up])
        p[1:-1] *= math.tanh(0.5 / self.scale)
        p[[0, -1]] /= 1 + math.exp(-1 / self.scale)
        return RoundedPair(p, p[::-1], tuple(losses.tolist()))


# --- One bit, and mere guarantees


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    r"""Randomized response: one true bit, told truthfully with chance p.

    Formula: $P = (p, 1-p)$, $Q = (1-p, p)$.

    Parameters: `truth_probability` ($p$ in [0, 1]). It speaks of any two
    data sets whose true bits differ, so of every adjacency, substitution
    (and with it a fixed batch) included.
    Raises: ValueError for values outside [0, 1].
    Error: none, up to rounding (as `RoundedPair`).
    Source: Warner (1965); Lebeda et al. (2024), proof of Proposition 11.

    >>> RandomizedResponse(0.75).pair()
    DiscretePair(p=(0.75, 0.25), q=(0.25, 0.75))
    """

    truth_probability: float

    def __post_init__(self) -> None:
        value = check_number("truth_probability", self.truth_probability, 0, 1)
        object.__setattr__(self, "truth_probability", value)

    def pair(self) -> DominatingPair:
        truth = self.truth_probability
        p, q = (truth, 1 - truth), (1 - truth, truth)
        if truth == 0 or 1 - (1 - truth) == truth:  # 1 - truth is exact
            return DiscretePair(p, q)
        loss = math.log(truth) - math.log1p(-truth)
        if truth > 0.25:  # then 1 - 2 truth is exact
            loss = -math.log1p((1 - 2 * truth) / truth)
        return RoundedPair(p, q, (loss, -loss))

    def exchange_pair(self) -> DominatingPair:
        return self.pair()


@dataclass(frozen=True)
class ApproximateDP(Mechanism):
    r"""Any mechanism of which only (epsilon, delta)-DP is known.

    Its pair is an upper bound for every mechanism with this guarantee.
    It is the worst of them: with probability delta all is told, else
    randomized response tells one bit.

    Formula: outcomes $(\delta, (1-\delta)\frac{e^\varepsilon}{1 +
    e^\varepsilon}, (1-\delta)\frac{1}{1 + e^\varepsilon}, 0)$ against the
    same list reversed.

    Parameters: `epsilon` ($\varepsilon$ in [0, 700]; beyond, its
    $e^{-\varepsilon}$ has too few digits), `delta` ($\delta$ in [0, 1]).
    They must hold for add and for remove, whichever is asked for; under
    `FixedBatch` for substitution; under `TruncatedPoisson`, and for
    adjacency "substitute", for all three. For "zero-out" they must hold
    for a record replaced by nothing, where add and remove stand here, and
    under `FixedBatch` for that, too.
    Raises: ValueError for values outside these ranges.
    Error: none for the whole class, up to rounding (as `RoundedPair`);
    a mechanism of which more is known may have a much smaller curve.
    Source: Kairouz, Oh and Viswanath (2015), Section 3.

    >>> round(ApproximateDP(1.0, 1e-5).pair().delta(1.0), 12)
    1e-05
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        epsilon = check_number("epsilon", self.epsilon, 0, 700)
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(
            self, "delta", check_number("delta", self.delta, 0, 1)
        )

    def pair(self) -> DominatingPair:
        likely = (1 - self.delta) / (1 + math.exp(-self.epsilon))
        unlikely = math.exp(-self.epsilon) * likely
        p = (self.delta, likely, unlikely, 0.0)
        losses = (self.epsilon, -self.epsilon) if self.delta < 1 else ()
        return RoundedPair(p, p[::-1], losses, Fraction(self.epsilon))

    def exchange_pair(self) -> DominatingPair:
        return self.pair()


@dataclass(frozen=True)
class PureDP(Mechanism):
    r"""Any mechanism of which only epsilon-DP is known.

    Its pair is an upper bound for every mechanism with this guarantee.
    It is the worst of them, and randomized response reaches it.

    Formula: randomized response with
    $p = e^\varepsilon / (1 + e^\varepsilon)$.

    Parameters: `epsilon` ($\varepsilon$ in [0, 700], as for
    `ApproximateDP`), for the same changes of the data.
    Raises: ValueError for values outside [0, 700].
    Error: as for `ApproximateDP`.
    Source: Kairouz, Oh and Viswanath (2015), Section 3.

    >>> round(PureDP(1.0).pair().loss_range[1], 12)
    1.0
    """

    epsilon: float

    def __post_init__(self) -> None:
        epsilon = check_number("epsilon", self.epsilon, 0, 700)
        object.__setattr__(self, "epsilon", epsilon)

    def pair(self) -> DominatingPair:
        return ApproximateDP(self.epsilon, 0.0).pair()

    def exchange_pair(self) -> DominatingPair:
        return self.pair()


# --- A random influence


@dataclass(frozen=True)
class MixtureOfGaussians(Mechanism):
    r"""Gaussian noise on a sum to which a record adds a random amount.

    Formula: $P = \sum_j w_j N(c_j, \sigma^2)$, $Q = N(0, \sigma^2)$.

    Parameters: `sensitivities` ($c_j \ge 0$, in clipping norms),
    `probabilities` ($w_j$, sum 1), two lists of the same length;
    `noise_multiplier` ($\sigma > 0$).
    Raises: ValueError for values outside these ranges.
    Error: none in the pair; rounding as `MixturePair`.
    Source: Ganesh (2024), Definition 2.8.

    >>> MixtureOfGaussians([0, 1], [0.75, 0.25], 2.0).pair()
    SampledPair(base=GaussianPair(mu=0.5), rate=0.25)
    """

    sensitivities: Sequence[float]
    probabilities: Sequence[float]
    noise_multiplier: float

    def __post_init__(self) -> None:
        shifts = check_range("sensitivities", self.sensitivities, 0, np.inf)
        check_range("sensitivities", shifts, 0, np.inf, "[)")
        weights = check_probabilities("probabilities", self.probabilities)
        if shifts.shape != weights.shape:
            raise ValueError(
                "sensitivities and probabilities must have the same length, "
                f"got {shifts.shape} and {weights.shape}"
            )
        noise = check_number(
            "noise_multiplier", self.noise_multiplier, 0, np.inf, "()"
        )
        weights = weights.astype(np.float64)
        object.__setattr__(self, "sensitivities", tuple(shifts.tolist()))
        object.__setattr__(self, "probabilities", tuple(weights.tolist()))
        object.__setattr__(self, "noise_multiplier", noise)

    def pair(self) -> DominatingPair:
        weights = [Decimal(x) for x in self.probabilities]
        return gaussian_mixture(
            self.sensitivities, self.noise_multiplier, weights
        )

    def exchange_pair(self) -> DominatingPair:
        raise NotImplementedError(
            "MixtureOfGaussians: no theorem of the book covers the exchange "
            "of a record, which a fixed batch needs"
        )


# --- A mechanism of your own


def check_pair(name: str, pair: Any) -> None:
    """Raise ValueError unless `pair` is a dominating pair that can be used.

    Parameters: `name`, where the pair comes from; `pair`.
    Raises: ValueError for what is no DominatingPair, cannot be hashed, or
    has masses that are no probabilities (looked at for three intervals).

    >>> check_pair("pair()", 0.8)
    Traceback (most recent call last):
    ...
    ValueError: pair() must be a DominatingPair, got 0.8
    """
    check_kind(name, pair, DominatingPair)
    try:
        hash(pair)
    except TypeError:
        raise ValueError(
            f"{name} must be hashable (a frozen dataclass of numbers and "
            f"tuples, for example), got {pair!r}"
        ) from None
    for masses, infinite in zip(
        pair.masses([-1.0, 1.0]), pair.infinite_mass, strict=True
    ):
        total = float(np.sum(masses)) + infinite
        if not (np.all(masses >= 0) and infinite >= 0 and total < 1 + 1e-6):
            raise ValueError(
                f"{name} must have masses >= 0 with a sum of at most 1, got "
                f"{masses!r} and the infinite mass {infinite!r}"
            )


def exchanged_pair(mechanism: Mechanism) -> DominatingPair:
    """The pair of a mechanism for an exchanged record, if it is its own.

    Parameters: `mechanism`.
    Returns: `mechanism.exchange_pair()`.
    Raises: NotImplementedError where a class has a `pair()` of its own and
    an inherited `exchange_pair()`, which is that of another mechanism.

    >>> exchanged_pair(Gaussian(2.0))
    GaussianPair(mu=1.0)
    """
    for kind in type(mechanism).__mro__:
        if "exchange_pair" in vars(kind):
            break
        if "pair" in vars(kind):
            raise NotImplementedError(
                f"{kind.__name__} has a pair() of its own, which says what "
                "happens when a record is removed, but inherits "
                "exchange_pair(): it must say itself what happens when one "
                "is exchanged (for a fixed batch or substitution)"
            )
    pair = mechanism.exchange_pair()
    check_pair(f"exchange_pair() of {mechanism!r}", pair)
    return pair
