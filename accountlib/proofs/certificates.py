# Generated from notebooks/proofs/certificates.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""What a stranger can check

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\varepsilon$, $\delta$ | `given`, `bound` | the question, and the interval that answers it; `asked` says which is which |
| $\delta(\varepsilon)$ | `proof_bound` | the curve of the run, or a bound of it |
| $T_j$ | `count` | how often law $j$ occurs |
| $t_j$, $p_j$ | `total`, `mass` | P-mass of one run of law $j$, and what of it is infinite |
| $E_j$ | – | all outcomes of law $j$ above a place |
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from accountlib.counting.composition import Bound
from accountlib.inputs import (
    check_choice,
    check_kind,
    check_number,
    front_door,
)
from accountlib.proofs.balls import (
    Ball,
    Law,
    ReversedLaw,
    TableLaw,
    Undecided,
    ball,
    flint,
    spectrum_work,
)
from accountlib.proofs.epochs import FINE_FROM, SMALL, EpochLaw
from accountlib.proofs.samplers import MOST_WAYS, lower_laws, run_laws
from accountlib.proofs.sums import (
    CircleChoice,
    Grid,
    Table,
    check_place,
    circle_sum,
    infinite_share,
    lower_table,
    tilted,
    upper_table,
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
    Adjacency,
    FixedBatch,
    FullBatch,
    Poisson,
    RandomAllocation,
    Release,
    ShuffledEpochs,
    TruncatedPoisson,
    check_adjacency,
    direction_names,
)
from accountlib.worst_cases.dominating_pairs import DiscretePair

__all__ = [
    "End",
    "Asked",
    "ProofWay",
    "CERTIFICATE_FORMAT",
    "FIRST_BITS",
    "MOST_BITS",
    "MOST_PLACES",
    "MOST_PRODUCTS",
    "MOST_TERMS",
    "TERM_PRODUCTS",
    "MOST_BIT_PRODUCTS",
    "Proof",
    "PROOF_KINDS",
    "as_data",
    "from_data",
    "Certificate",
    "infinite_sums",
    "made_table",
    "height_terms",
    "table_terms",
    "sum_bound",
    "all_at_once",
    "proof_bound",
    "more_bits",
    "first_bits",
    "decided",
    "ProofStep",
    "Replay",
    "proof_step",
    "lacking",
    "replay",
]

# --- What a certificate holds

End = Literal["lower", "upper"]
Asked = Literal["epsilon", "delta"]
ProofWay = Literal[
    "sum", "one run", "infinite losses", "largest loss", "all at once"
]
CERTIFICATE_FORMAT = "accountlib certificate, version 1"
FIRST_BITS = 128  # of the numbers in a first try
MOST_BITS = 4096  # of the last one
MOST_PLACES = 2 * 10**5  # of all tables of one proof; a longer one is refused
MOST_PRODUCTS = 1e8  # products of one sum: some twenty seconds
MOST_TERMS = 4e6  # of all heights of its tables: some minutes
TERM_PRODUCTS = 500  # products that take as long as one of them
MOST_BIT_PRODUCTS = 1e11  # bits times products: no more bits than that
_MOST_PROOFS = 16


@dataclass(frozen=True)
class Proof:
    """What was chosen to prove one end in one direction.

    Fields: `side`, the end; `direction`, the place in `run_laws` (for a
    lower end in `lower_laws`); `way`; for a sum and for all at once
    `grids`, one for each law; for a sum the `circle`.
    """

    side: End
    direction: int
    way: ProofWay
    grids: tuple[Grid, ...] = ()
    circle: CircleChoice | None = None

    def __post_init__(self) -> None:
        check_choice("side", self.side, get_args(End))
        check_choice("way", self.way, get_args(ProofWay))
        check_place("direction", self.direction, 0, MOST_WAYS - 1)
        for grid in self.grids:
            check_kind("grids", grid, Grid)
        if self.circle is not None:
            check_kind("circle", self.circle, CircleChoice)

    @property
    def work(self) -> float:
        """Products that its sum takes, roughly; inf for too many places."""
        if self.circle is None:
            return 0.0
        last, size = self.circle.last + 1, self.circle.size
        places = [sum(n for _, _, n in grid.runs) for grid in self.grids]
        if sum(places) > MOST_PLACES:
            return math.inf
        work = 20.0 * last  # weights, of which few are needed
        for grid, number in zip(self.grids, places, strict=True):
            first, apart, more = grid.runs[-1]
            wide = first + apart * (more - 1) - grid.runs[0][0] + 1
            work += 30.0 * last + spectrum_work(number, wide, size, last)
        return work


PROOF_KINDS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {  # what a file may name
        kind.__name__: kind
        for kind in (
            *(Gaussian, Laplace, DiscreteGaussian, DiscreteLaplace),
            *(RandomizedResponse, PureDP, ApproximateDP),
            *(MixtureOfGaussians, DiscretePair),
            *(FullBatch, Poisson, FixedBatch, TruncatedPoisson),
            *(RandomAllocation, ShuffledEpochs, Release),
            *(Bound, Grid, CircleChoice, Proof),
        )
    }
)


def as_data(value: Any) -> Any:
    """Records as dictionaries, floats as hexadecimal text.

    >>> as_data(Poisson(0.5))
    {'kind': 'Poisson', 'rate': '0x1.0000000000000p-1'}
    """
    name = type(value).__name__
    if type(value) is PROOF_KINDS.get(name):
        content = {x.name: getattr(value, x.name) for x in fields(value)}
        return {"kind": name} | {k: as_data(x) for k, x in content.items()}
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, tuple):
        return [as_data(x) for x in value]
    if value is None or isinstance(value, int | str):
        return value
    raise NotImplementedError(f"no certificate can hold {value!r}")


def from_data(data: Any) -> Any:
    """What `as_data` was made of.

    >>> from_data({"kind": "Poisson", "rate": "0x1p-1"})
    Poisson(rate=0.5)
    """
    if isinstance(data, dict):
        content = {name: from_data(x) for name, x in data.items()}
        return PROOF_KINDS[content.pop("kind")](**content)
    if isinstance(data, list):
        return tuple(from_data(x) for x in data)
    if isinstance(data, str):
        number = data.lstrip("-")
        if number.startswith("0x") or number == "inf":
            return float.fromhex(data)
    return data


@dataclass(frozen=True)
class Certificate:
    r"""An interval for a whole run, and what it takes to prove it.

    Formula: lower <= truth <= upper, shown again by `replay`.

    Fields: `releases`, `adjacency`, `group_size`: the run; `asked`,
    "epsilon" or "delta", and `given`, the other one; `bound`, the claim
    (a Bound); `proofs`, one or more for each end that claims something;
    `version` of the library that made it. `to_json()` is its text,
    `Certificate.from_json(text)` reads one.
    Raises: ValueError for anything else.
    Error: none; floats are kept bit by bit.
    Source: page "What a stranger can check".

    >>> claim = Certificate(
    ...     (Release(Gaussian(1.0)),), Adjacency.REMOVE, 1, "delta", 1.0,
    ...     Bound(0.12, 0.13), (Proof("upper", 0, "one run"),), "by hand"
    ... )
    >>> Certificate.from_json(claim.to_json()) == claim
    True
    """

    releases: tuple[Release, ...]
    adjacency: Adjacency
    group_size: int
    asked: Asked
    given: float
    bound: Bound
    proofs: tuple[Proof, ...]
    version: str

    def __post_init__(self) -> None:
        check_number("number of releases", len(self.releases), 1, 1e4)
        for release in self.releases:
            check_kind("releases", release, Release)
        object.__setattr__(self, "adjacency", check_adjacency(self.adjacency))
        check_place("group_size", self.group_size, 1)
        check_choice("asked", self.asked, get_args(Asked))
        most, ends = (math.inf, "[)") if self.asked == "delta" else (1, "[]")
        check_number("given", self.given, 0, most, ends)
        check_kind("bound", self.bound, Bound)
        check_number("number of proofs", len(self.proofs), 0, _MOST_PROOFS)
        for proof in self.proofs:
            check_kind("proofs", proof, Proof)
        check_kind("version", self.version, str)

    def __str__(self) -> str:
        group = f", group_size={self.group_size}" * (self.group_size > 1)
        other = "delta" if self.asked == "epsilon" else "epsilon"
        return (
            f"{self.asked} in {self.bound:.6g} at {other}={self.given:.6g}, "
            f"adjacency '{self.adjacency}'{group}"
        )

    def to_json(self) -> str:
        """The certificate as text."""
        content = {
            x.name: as_data(getattr(self, x.name)) for x in fields(self)
        }
        content["adjacency"] = str(self.adjacency)
        return json.dumps({"format": CERTIFICATE_FORMAT} | content, indent=1)

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """The certificate that a text holds; ValueError for other texts."""
        try:
            content = json.loads(text)
            check_choice(
                "format", content.pop("format"), (CERTIFICATE_FORMAT,)
            )
            return cls(**{k: from_data(x) for k, x in content.items()})
        except Exception as error:  # whatever a broken text makes of readers
            raise ValueError(
                f"text must be that of a certificate: {error!r}"
            ) from error


# --- What a proof shows


def infinite_sums(laws: Mapping[Law, int], masses: Sequence[Ball]) -> Ball:
    """Mass of infinite sums; `masses` are those of one run of each law."""
    totals = [law.total[0] for law in laws]
    whole, shares = ball(1), []
    for mass, total, count in zip(masses, totals, laws.values(), strict=True):
        whole *= total**count
        shares.append((mass / total, count))
    return whole * infinite_share(shares)


@lru_cache(maxsize=8)
def made_table(law: Law, grid: Grid, sign: int, bits: int) -> Table:
    """The table of a law above (sign 1) or below it, in so many bits.

    The last ones are kept: who makes a proof soon checks it.
    """
    with flint().ctx.workprec(bits):
        return (upper_table if sign > 0 else lower_table)(law, grid)


def height_terms(value: Any) -> int:
    """Numbers of a law, which a height takes; a sorted list counts once."""
    if isinstance(value, Law) and not isinstance(value, TableLaw):
        value = tuple(getattr(value, x.name) for x in fields(cast(Any, value)))
    return sum(map(height_terms, value)) if isinstance(value, tuple) else 1


def table_terms(laws: Mapping[Law, int], proof: Proof) -> int:
    """Numbers that all heights of a proof take together."""
    return sum(
        height_terms(law) * sum(n for *_, n in grid.runs)
        for law, grid in zip(laws, proof.grids, strict=False)
    )


def sum_bound(
    laws: Mapping[Law, int], proof: Proof, epsilon: float, sign: int
) -> Ball:
    """What a proof by a sum shows of delta at one epsilon.

    Parameters: `laws` and their counts; `proof`; `epsilon`; `sign`, 1 for
    an upper bound, -1 for a lower one.
    Raises: ValueError for grids that do not fit.
    """
    grids, circle = proof.grids, proof.circle
    steps = {grid.step for grid in grids}
    if circle is None or len(grids) != len(laws) or len(steps) != 1:
        raise ValueError("a sum takes a circle, and for each law a grid")
    check_number("products of a sum", proof.work, 0, MOST_PRODUCTS)
    terms = table_terms(laws, proof)
    check_number("terms of all heights", terms, 0, MOST_TERMS)
    parts, infinite, offset = [], [], Fraction(0)
    for (law, count), grid in zip(laws.items(), grids, strict=True):
        table = made_table(law, grid, sign, flint().ctx.prec)
        parts.append((tilted(table, grid, circle.tilt), count))
        infinite.append(table[1])
        offset += count * Fraction(grid.offset)
    finite = circle_sum(parts, circle, grids[0].step, offset, epsilon, sign)
    return finite + infinite_sums(laws, infinite)


def all_at_once(laws: Mapping[Law, int], proof: Proof, epsilon: float) -> Ball:
    r"""The line of one event: all losses are above places, in all runs.

    Formula: $\prod_j P_j(E_j)^{T_j} - e^\varepsilon \prod_j
    Q_j(E_j)^{T_j}$, where $E_j$ is above the first place of grid j.
    """
    p, q = ball(1), ball(epsilon).exp()
    for (law, count), grid in zip(laws.items(), proof.grids, strict=True):
        one, other = law.event(grid.loss(grid.runs[0][0]))
        p, q = p * one**count, q * other**count
    return p - q


def proof_bound(laws: Mapping[Law, int], proof: Proof, epsilon: float) -> Ball:
    """What a proof shows of delta at one epsilon, at this precision.

    Parameters: `laws` of the direction and their counts; `proof`;
    `epsilon`, which may be inf for infinite losses.
    Returns: an upper or a lower bound, in a ball.
    Raises: ValueError where the proof is not about such a run.
    """
    sign = 1 if proof.side == "upper" else -1
    infinite = infinite_sums(laws, [x.infinite[0] for x in laws])
    if proof.way == "infinite losses":
        return ball(1) if sign > 0 else infinite
    if math.isinf(epsilon):
        raise ValueError(f"nothing but infinite losses is above {epsilon}")
    if proof.way == "largest loss":
        most = sum((n * x.ends[1] for x, n in laws.items()), ball(0))
        if sign < 0 or not ball(epsilon) >= most:
            return ball((1 + sign) // 2)
        return infinite
    if proof.way == "all at once":
        return ball(1) if sign > 0 else all_at_once(laws, proof, epsilon)
    if proof.way == "one run":
        ((law, count),) = laws.items()
        check_number("count of a proof by one run", count, 1, 1)
        return law.height(ball(epsilon))
    return sum_bound(laws, proof, epsilon, sign)


def more_bits(bits: int, value: Ball, limit: Ball) -> int:
    """Bits that may decide: a small part of the limit as radius, or twice.

    >>> more_bits(128, 2**100 * flint().arb(1, 1), ball(1))
    249
    """
    if not (value.is_finite() and value.rad() > limit > 0):
        return 2 * bits
    missing = (value.rad() / limit).log() / ball(2).log()
    wanted = bits + math.ceil(float(missing.upper())) + 20
    return max(wanted, 3 * bits // 2)


def first_bits(laws: Iterable[Law], delta: float) -> int:
    """Bits with which a proof begins; lists of epochs are fine with more.

    >>> from accountlib.proofs.balls import GaussianLaw
    >>> epoch = EpochLaw(GaussianLaw(Fraction(1)), 2, True)
    >>> first_bits([epoch], 1e-6), first_bits([epoch], 1e-200)
    (128, 320)
    """
    for law in laws:
        plain = law.base if isinstance(law, ReversedLaw) else law
        if isinstance(plain, EpochLaw) and delta < SMALL:
            return FINE_FROM
    return FIRST_BITS


def decided(
    laws: Mapping[Law, int],
    proof: Proof,
    epsilon: float,
    goal: float,
    strict: bool,
) -> tuple[bool, Ball, int]:
    """Whether a proof shows that delta is at most (at least) a number.

    Parameters: as `proof_bound`; `goal`, the number; `strict`: a lower
    bound must exceed it.
    Returns: the answer, the bound, and the bits of its numbers: they grow
    until the comparison is certain. Without certainty the answer is no.
    """
    bits = first_bits(laws, goal)
    work = proof.work + TERM_PRODUCTS * table_terms(laws, proof)
    while True:
        yes = no = False
        value = flint().arb.nan()
        with flint().ctx.workprec(bits):
            limit = ball(goal)
            try:
                value = proof_bound(laws, proof, epsilon)
            except Undecided:
                pass
            if proof.side == "upper":
                yes, no = value <= limit, value > limit
            elif strict:
                yes, no = value > limit, value <= limit
            else:
                yes, no = value >= limit, value < limit
        if yes or no or bits >= MOST_BITS:
            return bool(yes), value, bits
        bits = min(more_bits(bits, value, limit), MOST_BITS)
        if bits * work > MOST_BIT_PRODUCTS:
            return False, value, bits


# --- Replay


@dataclass(frozen=True)
class ProofStep:
    """What came of one proof, or of the lack of one.

    Fields: `proven`; `words`; `bits` of the numbers, at last.
    """

    proven: bool
    words: str
    bits: int = 0


@dataclass(frozen=True)
class Replay:
    """What came of a certificate: its steps, and whether it is proven.

    >>> print(Replay((ProofStep(False, "lower end: no proof"),)))
    NOT PROVEN
      failed: lower end: no proof
    """

    steps: tuple[ProofStep, ...]

    @property
    def proven(self) -> bool:
        """Whether all steps are."""
        return all(step.proven for step in self.steps)

    def __str__(self) -> str:
        lines = ["proven" if self.proven else "NOT PROVEN"]
        for step in self.steps:
            outcome = "proven" if step.proven else "failed"
            lines.append(f"  {outcome}: {step.words}")
        return "\n".join(lines)


def proof_step(
    laws: Mapping[Law, int], proof: Proof, claim: Certificate, name: str
) -> ProofStep:
    """Replay one proof of a certificate; `name` is that of a direction."""
    asked, end = claim.asked, getattr(claim.bound, proof.side)
    epsilon, goal = claim.given, end
    if asked == "epsilon":
        epsilon, goal = end, claim.given
    words = f"{name}, {proof.side} end by {proof.way}"
    try:
        proven, value, bits = decided(
            laws, proof, epsilon, goal, asked == "epsilon"
        )
    except (ValueError, ArithmeticError) as error:
        return ProofStep(False, f"{words}: {error}")
    sign = {"upper": "<=", "lower": ">=" if asked == "delta" else ">"}
    found = value.str(7) if value.is_finite() else "unknown"  # as a ball
    words += f": delta({epsilon:.6g}) {sign[proof.side]} {found}"
    if not proven:
        words += f", and not {sign[proof.side]} {goal:.6g}"
    return ProofStep(proven, words, bits)


def lacking(
    claim: Certificate, names: Sequence[str], shown: set[tuple[End, int]]
) -> list[ProofStep]:
    """What a certificate claims and no proof shows.

    Parameters: `claim`; `names` of the directions; `shown`, the ends and
    directions that are proven. An upper end takes all directions.
    """
    most = math.inf if claim.asked == "epsilon" else 1.0
    steps = []
    if claim.bound.upper < most:
        for k, name in enumerate(names):
            if ("upper", k) not in shown:
                steps.append(ProofStep(False, f"{name}, upper end: no proof"))
    if claim.bound.lower > 0 and not any(x == "lower" for x, _ in shown):
        steps.append(ProofStep(False, "lower end: no proof"))
    return steps


@front_door
def replay(certificate: Certificate) -> Replay:
    r"""Prove the interval of a certificate again, in ball arithmetic.

    Formula: for the upper end $\delta(\varepsilon) \le \delta$ in each
    direction, for the lower end $\delta(\varepsilon) > \delta$ in one.

    Parameters: `certificate`, which may come from anybody.
    Returns: a Replay: `proven` is true only if each end is shown; else
    `print` names the steps that failed.
    Raises: ImportError without python-flint (the extra `verify`);
    NotImplementedError for runs that have no law in balls.
    Error: none: numbers carry their errors, and precision grows until each
    comparison is certain, or is given up as not proven. Trusted are the
    theorems of this book, its laws in balls, and python-flint.
    Source: page "What a stranger can check"; Johansson (2017) for balls.

    >>> from accountlib.runs.mechanisms import Gaussian
    >>> claim = Certificate(
    ...     (Release(Gaussian(1.0)),), Adjacency.REMOVE, 1, "delta", 1.0,
    ...     Bound(0.0, 0.13), (Proof("upper", 0, "one run"),), "by hand"
    ... )
    >>> replay(claim).proven
    True
    """
    check_kind("certificate", certificate, Certificate)
    how = certificate.adjacency, certificate.group_size
    upper = run_laws(certificate.releases, *how)
    lower = lower_laws(certificate.releases, *how)
    names = direction_names(certificate.adjacency)
    if len(names) != len(upper):
        names = (" and ".join(names),)
    steps: list[ProofStep] = []
    shown: set[tuple[End, int]] = set()
    for proof in certificate.proofs:
        ways, k = upper if proof.side == "upper" else lower, proof.direction
        if k >= len(ways):
            steps.append(ProofStep(False, f"there is no direction {k}"))
            continue
        name = names[k] if ways == upper else f"reached {k + 1}"
        steps.append(proof_step(ways[k], proof, certificate, name))
        if steps[-1].proven:
            shown.add((proof.side, k))
    return Replay((*steps, *lacking(certificate, names, shown)))
