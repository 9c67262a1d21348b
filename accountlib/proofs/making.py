# Generated from notebooks/proofs/making.md by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

r"""Making a certificate

Names used here:

| Symbol | Name in code | Meaning, unit, range |
|---|---|---|
| $\varepsilon$, $\delta$ | `goal.epsilon`, `goal.delta` | what is to be shown: $\delta(\varepsilon)$ is at most (at least) $\delta$ |
| $\lambda$, $\eta$ | `tilt`, `thetas` | tilt, and exponents of the window's ends |
| $s$, $b(s)$ | `share`, `bound` | step as a part of that of the search, and the bound that it gives |
| $b_0$, $c$ | –, `curvature` | limit of the bound for small steps, and how fast it leaves it |
"""

import math
import sys
from argparse import ArgumentParser, Namespace
from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from accountlib.counting.composition import Bound
from accountlib.counting.loss_tables import GridTooFine
from accountlib.counting.rounding import log_peak
from accountlib.engine.grids import aligned_step
from accountlib.engine.one_sided import Losses
from accountlib.engine.rare_steps import bound_direction
from accountlib.engine.saddle import Query
from accountlib.engine.search import (
    Search,
    first_look,
    first_step,
    with_atoms,
    with_tilt,
)
from accountlib.gaussian_dp.report import software_versions
from accountlib.inputs import check_number, front_door
from accountlib.proofs.balls import (
    Ball,
    GaussianLaw,
    Law,
    Undecided,
    flint,
)
from accountlib.proofs.certificates import (
    FIRST_BITS,
    MOST_BITS,
    MOST_PRODUCTS,
    MOST_TERMS,
    Asked,
    Certificate,
    End,
    Proof,
    decided,
    first_bits,
    made_table,
    replay,
    table_terms,
)
from accountlib.proofs.drafts import (
    beyond_places,
    draft_grid,
    gentler,
    has_atoms,
    window_ends,
    with_far_places,
    with_low_places,
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
    highest_needed,
    tilted,
)
from accountlib.runs.one_call import delta, epsilon
from accountlib.runs.releases import (
    Adjacency,
    AdjacencyName,
    Release,
    check_adjacency,
)
from accountlib.runs.rules import dominating_pairs
from accountlib.worst_cases.dominating_pairs import DominatingPair
from accountlib.worst_cases.noise import GaussianPair

__all__ = [
    "Goal",
    "Shown",
    "draft_sum",
    "precise_draft",
    "best_draft",
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
    "verify_parser",
    "run_verify",
]

# --- Goals

# What a draft may cost, and what it leaves out
_SPARED = 1e-9  # part of delta for tails, window and high frequencies
_CORE = 0.7  # of the step: the least distance, if others are coarser
_LITTLE_WORK = 3e6  # products of one sum: nothing shorter is looked for
_TABLE_WORK = 2000.0  # products that take as long as a place of a table
# How fine, as parts of the engine's step, and how often
_FIRST_SHARES = 0.9, 1.0  # a first try, one with atoms
_EASY = 0.5  # part of the goal that the engine's bound does not exceed
_SAFE = 0.9  # of the step that is asked for; an end moves by 1/0.9 as much
_FINEST_SHARE = 0.01  # of the engine's step
_GRIDS = 8  # tries for one end
_LOOSER = 4.0  # times the room by which an end moves
_MOST_ROOM = 1 / 32  # part of an end by which it moves first, at most
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

    def affordable(self, proof: Proof) -> bool:
        """Whether `replay` accepts so much work."""
        terms = table_terms(self.laws, proof)
        return proof.work <= MOST_PRODUCTS and terms <= MOST_TERMS

    def rounded(self, value: Ball) -> float:
        """A number that a bound in a ball surely reaches."""
        if not value.is_finite():  # nothing is known
            return math.inf if self.side == "upper" else 0.0
        if self.side == "upper":
            return math.nextafter(float(value.upper()), math.inf)
        return max(math.nextafter(float(value.lower()), -math.inf), 0.0)

    def closeness(self, shown: "Shown") -> float:
        """How good a bound is: the larger, the better."""
        return -shown.delta if self.side == "upper" else shown.delta


@dataclass(frozen=True)
class Shown:
    """A proof with what it shows.

    Fields: `proof`; `proven`, whether that is the goal; `delta`, the
    bound that it shows, rounded outward.
    """

    proof: Proof
    proven: bool
    delta: float


# --- A draft


def draft_sum(goal: Goal, search: Search, spread: float, most: float) -> Proof:
    """A proof by a sum, at the current precision.

    Parameters: `goal`; `search`, with cells and order of the engine;
    `spread`, roughly the step that its grid would have; `most`, products
    that a core may cost, 0 for none.
    Raises: GridTooFine where it takes more work.
    """
    sign = 1 if goal.side == "upper" else -1
    step = spread
    if not has_atoms(search):
        step *= _CORE
    elif spread != search.step:  # the engine's own meets atoms well
        step = aligned_step(spread, search.pairs, search.heavy)
    search = with_tilt(search, spread, goal.delta)
    tilt, thetas = search.tilt, tuple(x * step for x in search.thetas)
    log_out = math.log(_SPARED * goal.delta) + tilt * goal.epsilon
    log_out -= log_peak(tilt)
    grids = [
        draft_grid(search, kind, step, most > 0, goal.side)
        for kind in range(len(goal.laws))
    ]
    places = sum(number for grid in grids for *_, number in grid.runs)
    if 0 < most < _TABLE_WORK * places:
        raise GridTooFine(step, places)
    parts = []
    for kind, (law, count) in enumerate(goal.laws.items()):
        if sign > 0:
            enough = beyond_places(search, spread, goal.delta)
            far = with_far_places(grids[kind], law, search, enough)
            grids[kind] = with_low_places(far, law, search, kind)
        table = made_table(law, grids[kind], sign, flint().ctx.prec)
        parts.append((tilted(table, grids[kind], tilt), count))
    first, end = window_ends(parts, log_out, thetas)
    size = max(end - first + 1, 3) | 1
    last = highest_needed(parts, size, log_out - math.log(size))
    if last > MOST_FREQUENCIES:
        raise GridTooFine(step, last)
    circle = CircleChoice(tilt, first, size, last, (thetas[0], thetas[1]))
    return Proof(goal.side, goal.direction, "sum", tuple(grids), circle)


def precise_draft(
    goal: Goal, search: Search, spread: float, most: float
) -> Proof:
    """`draft_sum` with as many bits as it takes."""
    bits = first_bits(goal.laws, goal.delta)
    while True:
        try:
            with flint().ctx.workprec(bits):
                return draft_sum(goal, search, spread, most)
        except Undecided:
            bits *= 2
            if bits > MOST_BITS:
                raise


def best_draft(goal: Goal, search: Search, spread: float) -> Proof | None:
    """The draft that takes less work; None where all are too fine."""
    drafts, most = [], 0.0
    for _ in ("few places", "a core"):
        try:
            drafts.append(precise_draft(goal, search, spread, most))
        except GridTooFine:
            pass
        most = drafts[0].work if drafts else math.inf
        if most <= _LITTLE_WORK:
            break
    return min(drafts, key=lambda x: x.work, default=None)


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
    look = replace(with_atoms(look), bound=found.bound)
    if goal.side == "upper" and found.bound.upper < _EASY * goal.delta:
        return gentler(look, goal.epsilon, _EASY * goal.delta)
    steps = [x.step for x in (found, *found.halves) if x.step > 0]
    return replace(look, step=min(steps, default=first_step(look, width)))


def prove_by_sum(goal: Goal, search: Search) -> Shown | None:
    """Grids that become finer until the goal is proven, or hopeless."""
    share = _FIRST_SHARES[has_atoms(search)]
    tried: list[tuple[float, float]] = []
    best = None
    for _ in range(_GRIDS):
        try:
            proof = best_draft(goal, search, share * search.step)
        except Undecided:
            break
        if proof is None or not goal.affordable(proof):
            if tried:
                break
            share *= 2
            continue
        proven, value, _ = goal.decided(proof)
        shown = Shown(proof, proven, goal.rounded(value))
        if proven:
            return shown
        best = max(best or shown, shown, key=goal.closeness)
        bound = float(value.mid())
        tried += [(share, bound)] if math.isfinite(bound) else []
        share = next_share(tried, goal.delta) if tried else share / 2
        if share < _FINEST_SHARE:
            break
    return best


# --- Ends


def simple_proof(goal: Goal) -> Shown | None:
    """A proof without a sum: the first that reaches the goal, or the best."""
    ways: list[Proof] = []
    if sum(goal.laws.values()) == 1 and math.isfinite(goal.epsilon):
        ways = [Proof(goal.side, goal.direction, "one run")]
    if goal.side == "lower":
        ways.append(Proof(goal.side, goal.direction, "infinite losses"))
        with flint().ctx.workprec(FIRST_BITS):
            ends = [float(law.ends[1].lower()) for law in goal.laws]
        if goal.delta == 0 and all(map(math.isfinite, ends)):
            hair = [math.nextafter(x, -math.inf) for x in ends]
            grids = tuple(Grid(x, 1.0, ((0, 1, 1),)) for x in hair)
            at = goal.direction
            ways.append(Proof("lower", at, "all at once", grids))
    elif math.isfinite(goal.epsilon):
        ways.append(Proof(goal.side, goal.direction, "largest loss"))
    best = None
    for way in ways:
        proven, value, _ = goal.decided(way)
        shown = Shown(way, proven, goal.rounded(value))
        if proven:
            return shown
        best = max(best or shown, shown, key=goal.closeness)
    return best


def prove(goal: Goal, losses: Losses, width: float) -> Shown | None:
    """A proof of a goal; else the nearest one, if a sum was found."""
    simple = simple_proof(goal)
    if simple and simple.proven:
        return simple
    if goal.delta == 0 or math.isinf(goal.epsilon):
        return None
    if sum(goal.laws.values()) == 1:  # all that a single run shows
        return simple
    search = engine_search(losses, goal, width)
    low, high = search.bound
    hopeless = low > goal.delta if goal.side == "upper" else high < goal.delta
    found = None if hopeless else prove_by_sum(goal, search)
    both = [shown for shown in (simple, found) if shown]
    return max(both, key=goal.closeness) if found else None


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

    def nothing(self, side: End) -> float:
        """An end that needs no proof."""
        most = math.inf if self.asked == "epsilon" else 1.0
        return most if side == "upper" else 0.0

    def shown(self, side: End, end: float) -> list[Shown]:
        """What is found for one end, in one direction or in all.

        An upper end takes all directions; of a lower end the best is kept.
        """
        found = []
        for direction, losses in enumerate(self.losses[side]):
            goal = self.goal(direction, side, end)
            shown = prove(goal, losses, self.width)
            if shown and shown.proven and side == "lower":
                return [shown]
            if not shown and side == "upper":
                return []
            found += [shown] if shown else []
        if side == "lower" and found:
            return [max(found, key=lambda x: x.delta)]
        return found

    def again(self, shown: Shown, side: End, end: float) -> Shown:
        """The same proof, held against another end."""
        goal = self.goal(shown.proof.direction, side, end)
        proven, value, _ = goal.decided(shown.proof)
        return Shown(shown.proof, proven, goal.rounded(value))

    def nearest(
        self, found: Sequence[Shown], side: End, end: float, room: float
    ) -> float:
        """An end that proofs should reach, by what they show at this one."""
        missed = [x for x in found if not x.proven]
        shown = [x.delta for x in missed]
        worst = max(shown) if side == "upper" else min(shown)
        if self.asked == "delta" or not 0 < worst < math.inf:
            return worst
        sums = [(x.delta, x.proof.circle) for x in missed if x.proof.circle]
        logs = [math.log(x / self.given) / circle.tilt for x, circle in sums]
        away = min(max(map(abs, logs), default=math.inf) / _SAFE, room)
        return end + away if side == "upper" else max(end - away, 0.0)

    def proven_end(self, side: End, bound: Bound) -> tuple[float, list[Proof]]:
        """An end that is proven: the engine's, or a looser one."""
        end = first = getattr(bound, side)
        room = (bound.upper - bound.lower) / 4  # wide with a gap of theory
        room = max(min(room, _MOST_ROOM * first), 1e-9 * first)
        for _ in range(_MOVES if math.isfinite(first) else 1):
            if end == self.nothing(side):
                break
            found = self.shown(side, end)
            for _ in range(_MOVES // 2):  # with the same proof
                if not found or all(x.proven for x in found):
                    break
                end = self.nearest(found, side, end, room)
                if not 0 < end < self.nothing("upper"):
                    break
                found = [self.again(x, side, end) for x in found]
            if found and all(x.proven for x in found):
                return end, [x.proof for x in found]
            end = first + room if side == "upper" else max(first - room, 0.0)
            room *= _LOOSER
        return self.nothing(side), []


def merged_pair(law: Law) -> DominatingPair | None:
    """The pair of a Gaussian law, which may stand for many steps.

    >>> from fractions import Fraction
    >>> merged_pair(GaussianLaw(Fraction(4)))
    GaussianPair(mu=2.0)
    """
    if not isinstance(law, GaussianLaw):
        return None
    return GaussianPair(math.sqrt(law.square))


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
        [(merged_pair(law) or known[law], n) for law, n in way.items()]
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


# --- From a shell


def verify_parser() -> ArgumentParser:
    """What `python -m accountlib verify` asks for."""
    parser = ArgumentParser(
        add_help=False,
        description="prove the intervals of certificates again",
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="certificate", type=Path
    )
    parser.set_defaults(run=run_verify)
    return parser


def run_verify(options: Namespace) -> int:
    """Say of each file what it claims and whether it is proven.

    The exit code is 0 if all are, 1 if one is not, and 2 for an error.
    """
    code = 0
    for path in options.files:
        try:
            claim = Certificate.from_json(path.read_text("utf-8"))
            found = replay(claim)
        except (
            ValueError,
            OSError,
            ImportError,
            NotImplementedError,
        ) as error:
            sys.stderr.write(f"{path}: {error}\n")
            return 2
        runs = "\n".join(f"  {release}" for release in claim.releases)
        sys.stdout.write(f"{path}: {claim}\n{runs}\n{found}\n")
        code = max(code, 0 if found.proven else 1)
    return code
