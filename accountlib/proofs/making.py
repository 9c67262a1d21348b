# Generated from notebooks/proofs/making.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Making a certificate

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\varepsilon$, $\delta$ | `goal.epsilon`, `goal.delta` | what is to be shown: $\delta(\varepsilon)$ is at most (at least) $\delta$ |
| $\lambda$, $\eta$ | `tilt`, `thetas` | tilt, and exponents of the window's ends |
| $\rho$, $w$ | `rough / length`, `wide` | density of tilted mass; distance of places |
| $s$, $b(s)$ | `share`, `bound` | step as a part of the engine's, and the bound that it gives |
| $b_0$, $c$ | –, `curvature` | limit of the bound for small steps, and how fast it leaves it |
| $T$ | `count` | how often a law occurs |
"""

import hashlib
import math
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from accountlib.counting.composition import Bound
from accountlib.counting.loss_tables import TINY, GridTooFine
from accountlib.counting.rounding import log_peak
from accountlib.engine.grids import (
    aligned_step,
    cut_tails,
    grid_edges,
    landmarks,
)
from accountlib.engine.one_sided import Losses
from accountlib.engine.rare_steps import bound_direction
from accountlib.engine.saddle import Cells, Query
from accountlib.engine.search import (
    Search,
    first_look,
    first_step,
    with_atoms,
    with_tilt,
)
from accountlib.gaussian_dp.report import PrivacyReport, software_versions
from accountlib.inputs import check_number, front_door
from accountlib.proofs.balls import Ball, GaussianLaw, Law, ball, flint
from accountlib.proofs.certificates import (
    FIRST_BITS,
    MOST_BITS,
    Asked,
    Certificate,
    End,
    Proof,
    ProofWay,
    decided,
)
from accountlib.proofs.samplers import (
    laws_of_release,
    lower_laws,
    reversed_law,
    run_laws,
)
from accountlib.proofs.sums import (
    MOST_FREQUENCIES,
    CircleChoice,
    Grid,
    Masses,
    Undecided,
    highest_needed,
    lower_table,
    runs_of,
    tilted,
    upper_table,
)
from accountlib.runs.one_call import delta, epsilon
from accountlib.runs.releases import (
    Adjacency,
    AdjacencyName,
    Release,
    check_adjacency,
)
from accountlib.runs.rules import dominating_pairs
from accountlib.worst_cases.dominating_pairs import UNIT, DominatingPair
from accountlib.worst_cases.noise import GaussianPair

__all__ = [
    "Goal",
    "place_levels",
    "graded_places",
    "draft_grid",
    "with_far_places",
    "window_ends",
    "draft_sum",
    "precise_draft",
    "next_share",
    "engine_search",
    "prove_by_sum",
    "simple_proof",
    "prove",
    "RunToProve",
    "merged_pair",
    "known_pairs",
    "run_losses",
    "engine_bound",
    "certificate",
    "with_certificate",
]

# --- Goals

# What a draft may cost, and what it leaves out
_SPARED = 1e-9  # part of delta for tails, window and high frequencies
_LOG_TAIL = -60.0  # log of the tilted mass beyond the finer places
_LOOSE = 0.05  # part of the tilted mass outside of the core, at most
_DECAY = 60.0  # log by which the core lets high frequencies fall
_WIDEST = 0.25  # tilt times distance of places, at most
_CORE = 0.7  # of the step: the distance in the core, if tails are coarser
_MOST_DRAWN = 40_000  # places for one kind of loss
_MOST_BEYOND = 20_000  # places beyond the others, for a rare large loss
# How often, and how fine
_FIRST_SHARES = 0.9, 8.0  # of the engine's step: first try, and an easy one
_EASY = 0.5  # part of the goal that the engine's bound does not exceed
_SAFE = 0.9  # of the step that two tries seem to ask for
_FINEST_SHARE = 0.01  # of the engine's step
_GRIDS = 8  # tries for one end
_MOST_WORK = 6e7  # products of one sum: some ten seconds
_LOOSER = 4.0  # times the room by which an end moves
_MOVES = 6  # ends that are tried, if the engine's own is not proven


@dataclass(frozen=True)
class Goal:
    """What is to be proven: delta at epsilon is at most (least) a number.

    Fields: `laws` of the direction with counts, `direction`, `side`,
    `epsilon`, `delta`; `strict`, whether a lower bound must exceed it.
    """

    laws: Mapping[Law, int]
    direction: int
    side: End
    epsilon: float
    delta: float
    strict: bool

    def decided(self, proof: Proof) -> tuple[bool, Ball, int]:
        """As `decided`, for this goal."""
        return decided(self.laws, proof, self.epsilon, self.delta, self.strict)


# --- Where places should be


def place_levels(part: Cells, tilt: float, step: float) -> NDArray[np.int64]:
    r"""How often the step may be doubled in each cell of a rough look.

    Formula: 0 in a core; outside $w \propto \rho^{-1/3}$, so that all
    errors outside are as large as those of the core.
    """
    rough, _ = part.tilted_masses(tilt)
    rough = rough / np.sum(rough)
    length = np.diff(part.edges, prepend=part.edges[0] - 1.0)
    length = np.maximum(length, TINY)
    outside = min(_LOOSE, math.exp(-_DECAY / part.count)) / 2
    ends = outside, 1 - outside
    low, high = np.searchsorted(np.cumsum(rough), ends)
    rough[low : high + 1] = 0.0
    with np.errstate(divide="ignore"):
        wide = np.minimum((rough / length) ** (-1 / 3), 1e30)
    most = max(_WIDEST / (1 + tilt) / step, 1.0)
    factors = np.geomspace(1e-9, 1e9, 300)
    widths = np.clip(np.multiply.outer(factors, wide), 1, most)
    fitting = np.count_nonzero((widths**2 - 1) @ rough <= 1)
    chosen = widths[max(int(fitting) - 1, 0)]
    level: NDArray[np.int64] = np.log2(chosen).astype(np.int64)
    level[low : high + 1] = 0
    return level


def graded_places(
    part: Cells, tilt: float, step: float, offset: float, ends: Sequence[float]
) -> list[int]:
    """Places that are farther apart where little of the tilted mass lies."""
    levels = place_levels(part, tilt, step).tolist()
    place, last = (math.floor((x - offset) / step) for x in ends)
    edges = [int(x) for x in np.floor((part.edges - offset) / step)]
    places, cell = [], 0
    while place <= last:
        places.append(place)
        if len(places) > _MOST_DRAWN:
            raise GridTooFine(step, len(places))
        while cell < len(edges) - 1 and edges[cell] <= place:
            cell += 1
        level, beyond = levels[cell], cell
        while beyond < len(edges) - 1 and edges[beyond] < place + 2**level:
            beyond += 1
            level = min(level, levels[beyond])
        place = (place // 2**level + 1) * 2**level
    return [*places, place]


def draft_grid(
    search: Search, kind: int, step: float, log_tail: float, side: End
) -> Grid:
    """Places for one kind of loss, where the engine looks for it.

    Atoms lie a hair below places for an upper bound, else above.
    """
    part, heavy = search.cells[kind], search.heavy[kind]
    pair, (low, high, _) = part.pair, cut_tails(part, search.tilt, log_tail)
    ends = max(low, pair.loss_range[0]), min(high, pair.loss_range[1])
    if pair.discrete:
        offset, found, _ = grid_edges(part, step, search.tilt, ends, heavy)
        places = found.tolist()
    else:
        offset = (heavy or landmarks(pair) or (0.0,))[0]
        places = graded_places(part, search.tilt, step, offset, ends)
    if pair.atom_count > 0:
        atoms = np.floor((np.array(pair.atoms) - offset) / step + 0.5)
        beside = np.add.outer(atoms.astype(np.int64), [-1, 0, 1])
        hair = 4 * UNIT * max(*map(abs, ends), abs(offset))
        hair += pair.atom_error / 2
        if pair.discrete:  # where they are above their atoms already
            offset -= hair
        else:
            places = sorted({*places, *beside.ravel().tolist()})
        offset += hair if side == "upper" else -hair
    return Grid(float(offset), float(step), runs_of(places))


def with_far_places(grid: Grid, law: Law, tilt: float, enough: float) -> Grid:
    """The grid with more places above, until little can be beyond."""
    apart = max(1, int(_WIDEST / ((1 + tilt) * grid.step)))
    last, more = grid.places[-1], 0
    while more < _MOST_BEYOND:
        height = law.height(grid.loss(last + more * apart))
        if height - law.infinite[0] < enough:
            break
        more += 1 + more // 8
    beyond = ((last + apart, apart, more),) if more else ()
    return replace(grid, runs=grid.runs + beyond)


# --- The circle


def window_ends(
    parts: Sequence[tuple[Masses, int]],
    log_out: float,
    thetas: Sequence[float],
) -> tuple[int, int]:
    """First and last place of a window; outside is little tilted mass."""
    ends = []
    for sign, theta in zip((-1, 1), thetas, strict=True):
        reach, growth = 0, 0.0
        for masses, count in parts:
            reach += count * max(sign * i for i, _ in masses)
            eta = sign * ball(theta)
            grown = sum((m * (eta * i).exp() for i, m in masses), ball(0))
            growth += count * float(grown.log().mid())
        if not math.isfinite(growth):
            raise Undecided("masses are not known well enough")
        ends.append(min(reach, math.ceil((growth - log_out) / theta)))
    return -ends[0], ends[1]


def draft_sum(goal: Goal, search: Search, spread: float) -> Proof:
    """A proof by a sum, at the current precision.

    Parameters: `goal`; `search`, with cells and order of the engine;
    `spread`, roughly the step that its grid would have.
    """
    sign = 1 if goal.side == "upper" else -1
    atoms = any(pair.atom_count for pair in search.pairs)
    step = _CORE * spread
    if atoms:
        step = aligned_step(spread, search.pairs, search.heavy)
    search = with_tilt(search, spread, goal.delta)
    tilt, thetas = search.tilt, tuple(x * step for x in search.thetas)
    log_out = math.log(_SPARED * goal.delta) + tilt * goal.epsilon
    log_out -= log_peak(tilt)
    grids, parts = [], []
    make = upper_table if sign > 0 else lower_table
    for kind, (law, count) in enumerate(goal.laws.items()):
        log_tail = _LOG_TAIL - search.excess - math.log(count)
        grid = draft_grid(search, kind, step, log_tail, goal.side)
        if sign > 0:
            enough = _SPARED * goal.delta / search.count
            grid = with_far_places(grid, law, tilt, enough)
        grids.append(grid)
        parts.append((tilted(make(law, grid), grid, tilt), count))
    first, end = window_ends(parts, log_out, thetas)
    size = max(end - first + 1, 3) | 1
    last = highest_needed(parts, size, log_out - math.log(size))
    if last > MOST_FREQUENCIES:
        raise GridTooFine(step, last)
    circle = CircleChoice(tilt, first, size, last, (thetas[0], thetas[1]))
    return Proof(goal.side, goal.direction, "sum", tuple(grids), circle)


def precise_draft(goal: Goal, search: Search, spread: float) -> Proof:
    """`draft_sum` with as many bits as it takes."""
    bits = FIRST_BITS
    while True:
        try:
            with flint().ctx.workprec(bits):
                return draft_sum(goal, search, spread)
        except Undecided:
            bits *= 2
            if bits > MOST_BITS:
                raise


# --- Finer and finer


def next_share(tried: Sequence[tuple[float, float]], goal: float) -> float:
    """The next part of the engine's step, from bounds of the last two.

    Formula: $b(s) = b_0 + c s^2$.

    >>> next_share([(0.9, 1.81)], 1.2), next_share([(2, 5), (1, 2)], 1.25)
    (0.45, 0.45)
    """
    share, bound = tried[-1]
    if len(tried) == 1:
        return share / 2
    before, other = tried[-2]
    curvature = (other - bound) / (before**2 - share**2)
    if curvature == 0:  # the grid is as fine as atoms allow
        return 0.0
    room = (goal - bound) / curvature + share**2
    wanted = math.sqrt(max(room, 0.0))
    return min(_SAFE * wanted or share / 2, share / 1.3)


def engine_search(losses: Losses, goal: Goal, width: float) -> Search:
    """Where the engine looks for the goal, with its finest step."""
    look = first_look(losses, Query(None, goal.epsilon, width))
    found = bound_direction(look)
    look = with_atoms(look)
    steps = [x.step for x in (found, *found.halves) if x.step > 0]
    step = min(steps) if steps else first_step(look, width)
    return replace(look, step=step, bound=found.bound)


def prove_by_sum(goal: Goal, search: Search) -> Proof | None:
    """Grids that become finer until the goal is proven, or hopeless."""
    easy = goal.side == "upper" and (search.bound.upper < _EASY * goal.delta)
    share = _FIRST_SHARES[1 if easy else 0]
    tried: list[tuple[float, float]] = []
    for _ in range(_GRIDS):
        try:
            drawn = share * search.step
            proof: Proof | None = precise_draft(goal, search, drawn)
        except GridTooFine:
            proof = None
        except Undecided:
            break
        if proof is None or proof.work > _MOST_WORK:
            if tried:
                break
            share *= 2
            continue
        proven, value, _ = goal.decided(proof)
        if proven:
            return proof
        tried.append((share, float(value.mid())))
        share = next_share(tried, goal.delta)
        if share < _FINEST_SHARE:
            break
    return None


# --- Ends


def simple_proof(goal: Goal) -> Proof | None:
    """A proof without a sum, if there is one."""
    ways: list[ProofWay] = ["infinite losses"]
    if goal.side == "upper":
        ways = ["largest loss"]
    if sum(goal.laws.values()) == 1:
        ways.append("one run")
    for way in ways:
        proof = Proof(goal.side, goal.direction, way)
        if way == "infinite losses" or math.isfinite(goal.epsilon):
            if goal.decided(proof)[0]:
                return proof
    return None


def prove(goal: Goal, losses: Losses, width: float) -> Proof | None:
    """A proof of a goal, if one is found."""
    proof = simple_proof(goal)
    one = sum(goal.laws.values()) == 1
    if proof or one or goal.delta == 0 or math.isinf(goal.epsilon):
        return proof
    search = engine_search(losses, goal, width)
    low, high = search.bound
    hopeless = low > goal.delta if goal.side == "upper" else high < goal.delta
    return None if hopeless else prove_by_sum(goal, search)


@dataclass(frozen=True)
class RunToProve:
    """A run with a question, in laws and in the engine's pairs.

    Fields: `laws` and `losses`, for each end and direction; `asked`,
    `given`; `width`, the relative width that is wanted.
    """

    laws: Mapping[End, Sequence[Mapping[Law, int]]]
    losses: Mapping[End, Sequence[Losses]]
    asked: Asked
    given: float
    width: float

    def goal(self, direction: int, side: End, end: float) -> Goal:
        """What an end of an interval claims of one direction."""
        at = (
            (end, self.given) if self.asked == "epsilon" else (self.given, end)
        )
        laws, strict = self.laws[side][direction], self.asked == "epsilon"
        return Goal(laws, direction, side, *at, strict)

    def claims_nothing(self, side: End, end: float) -> bool:
        """Whether an end needs no proof."""
        most = math.inf if self.asked == "epsilon" else 1.0
        return end >= most if side == "upper" else end == 0

    def proofs(self, side: End, end: float) -> list[Proof] | None:
        """Proofs of one end, if all that it takes are found.

        An upper end takes one for each direction, a lower end one.
        """
        found = []
        for direction, losses in enumerate(self.losses[side]):
            goal = self.goal(direction, side, end)
            proof = prove(goal, losses, self.width)
            if proof and side == "lower":
                return [proof]
            if not proof and side == "upper":
                return None
            found += [proof] if proof else []
        return found or None

    def proven_end(self, side: End, bound: Bound) -> tuple[float, list[Proof]]:
        """An end that is proven: the engine's, or a looser one."""
        end = first = getattr(bound, side)
        room = max((bound.upper - bound.lower) / 4, 1e-9 * first)
        for _ in range(_MOVES):
            if self.claims_nothing(side, end):
                return end, []
            proofs = self.proofs(side, end)
            if proofs:
                return end, proofs
            end = first + room if side == "upper" else max(first - room, 0.0)
            room *= _LOOSER
        nothing = math.inf if self.asked == "epsilon" else 1.0
        return (nothing if side == "upper" else 0.0), []


def merged_pair(law: Law) -> DominatingPair:
    """The pair of Gaussian laws that are one.

    >>> from fractions import Fraction
    >>> merged_pair(GaussianLaw(Fraction(4)))
    GaussianPair(mu=2.0)
    """
    square = law.square if isinstance(law, GaussianLaw) else math.nan
    return GaussianPair(math.sqrt(square))


def known_pairs(
    release: Release, adjacency: Adjacency, records: int
) -> dict[Law, DominatingPair]:
    """The engine's pair for each law of a release: it knows where to look."""
    mechanism, sampling = release.mechanism, release.sampling
    side = adjacency
    if adjacency is Adjacency.ADD:  # the reverse of remove
        side = Adjacency.REMOVE
    pair = dominating_pairs(
        mechanism, sampling=sampling, adjacency=side, group_size=records
    )[0]
    laws = laws_of_release(mechanism, sampling, side, records)[0]
    known: dict[Law, DominatingPair] = {}
    below = zip(laws.below, pair.reached, strict=False)
    for law, one in (*below, (laws.above, pair)):
        known[reversed_law(law)] = one.reversed()
        known[law] = one
    return known


def run_losses(
    known: Mapping[Law, DominatingPair], ways: Sequence[Mapping[Law, int]]
) -> list[Losses]:
    """The losses of each direction, in the engine's pairs.

    Parameters: `known`, the pair of each law; `ways`, laws and counts.
    """
    return [
        [(known.get(law) or merged_pair(law), n) for law, n in way.items()]
        for way in ways
    ]


def engine_bound(
    releases: Release | Sequence[Release],
    asked: Asked,
    given: float,
    adjacency: Adjacency,
    records: int,
    width: float,
) -> Bound:
    """The interval of the engine for one question."""
    how: dict[str, Any] = {
        "adjacency": adjacency,
        "group_size": records,
        "relative_width": width,
    }
    if asked == "delta":
        return delta(releases, epsilon=given, **how)
    return epsilon(releases, delta=given, **how)


@front_door
def certificate(
    releases: Release | Sequence[Release],
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    adjacency: Adjacency | AdjacencyName,
    group_size: int = 1,
    relative_width: float = 1e-3,
) -> Certificate:
    r"""An interval for a run, with all that a stranger needs to prove it.

    Formula: the interval of `epsilon` or `delta`; `replay` shows it again.

    Parameters: exactly one of `epsilon` ($\varepsilon \ge 0$, finite) and
    `delta` ($\delta$ in [0, 1]), a number; the others as for `epsilon`.
    Returns: a Certificate whose `bound` is around the truth. Its ends are
    those of the engine, where a proof of them was found, else looser ones
    that are proven (0, inf or 1 where nothing is).
    Raises: ValueError for bad values; NotImplementedError for runs that
    have no law in balls (page "Both ends, in balls"); ImportError
    without python-flint (the extra `verify`).
    Error: none; what it claims was proven with balls before it is returned.
    Source: page "What a stranger can check"; Lebeda et al. (2024),
    Theorem 8.

    >>> from accountlib.runs.mechanisms import Gaussian
    >>> from accountlib.runs.releases import Poisson
    >>> run = Release(Gaussian(0.8), Poisson(0.001), count=10_000)
    >>> found = certificate(run, delta=1e-6, adjacency="remove")
    >>> found.bound.contains(0.9472), found.bound.width < 1e-3
    (True, True)
    """
    if (epsilon is None) == (delta is None):
        raise ValueError(
            "exactly one of epsilon and delta must be given, got "
            f"epsilon={epsilon!r} and delta={delta!r}"
        )
    flint()  # without it, an error at once
    name = check_adjacency(adjacency)
    asked: Asked = "delta" if delta is None else "epsilon"
    if epsilon is not None:
        given = check_number("epsilon", epsilon, 0, math.inf, "[)")
    if delta is not None:
        given = check_number("delta", delta, 0, 1)
    how = name, group_size, relative_width
    bound = engine_bound(releases, asked, given, *how)
    runs = (releases,) if isinstance(releases, Release) else tuple(releases)
    ways: dict[End, list[dict[Law, int]]] = {
        "upper": run_laws(runs, name, group_size),
        "lower": lower_laws(runs, name, group_size),
    }
    known = ChainMap(*(known_pairs(x, name, group_size) for x in runs))
    losses = {end: run_losses(known, way) for end, way in ways.items()}
    run = RunToProve(ways, losses, asked, given, relative_width)
    lower, below = run.proven_end("lower", bound)
    upper, above = run.proven_end("upper", bound)
    version = dict(software_versions())["accountlib"]
    claim = Bound(lower, upper), (*below, *above), version
    return Certificate(runs, name, int(group_size), asked, given, *claim)


# --- In a report


def with_certificate(
    report: PrivacyReport, certificate: Certificate
) -> PrivacyReport:
    """The report of a run, whose notes name a certificate of it.

    Parameters: `report`; `certificate` of the same run and neighbours.
    Returns: the report with the claim and the SHA-256 digest of the text
    of the certificate in its notes.
    Raises: ValueError for a certificate of something else.
    """
    for name in ("releases", "adjacency", "group_size"):
        mine, other = getattr(report, name), getattr(certificate, name)
        if mine != other:
            raise ValueError(
                f"certificate must be about the {name} of the report, "
                f"{mine!r}, got {other!r}"
            )
    digest = hashlib.sha256(certificate.to_json().encode()).hexdigest()
    named = f"certificate: {certificate}, SHA-256 {digest}"
    kept = "" if report.notes == "none" else f"{report.notes}; "
    return replace(report, notes=kept + named)
