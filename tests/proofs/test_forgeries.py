"""Forged certificates: refused, or what they claim is true all the same."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.counting.composition import Bound
from accountlib.proofs.certificates import (
    MOST_PLACES,
    Certificate,
    Proof,
    replay,
)
from accountlib.proofs.sums import CircleChoice, Grid
from accountlib.runs.mechanisms import (
    ApproximateDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
)
from accountlib.runs.releases import (
    Adjacency,
    FixedBatch,
    FullBatch,
    Poisson,
    Release,
)
from accountlib.worst_cases.dominating_pairs import DiscretePair

pytest.importorskip("flint")
MARGIN = 1e-9  # a claim is false if it misses the truth by more, relatively
Change = Callable[[Certificate, np.random.Generator], Certificate]


@cache
def real() -> tuple[Certificate, ...]:
    """Certificates as they are made."""
    sampled = Release(Gaussian(1.1), Poisson(0.02), count=100)
    coins = Release(RandomizedResponse(0.6), count=30)
    told = Release(ApproximateDP(0.2, 1e-4), count=5)
    whole = Release(Gaussian(3.0), count=4)
    counts = Release(DiscreteGaussian(4.0), count=3)
    batch = Release(Laplace(4.0), FixedBatch(10, 200), count=20)
    wide: dict[str, Any] = {"relative_width": 1e-2}
    return (
        al.certificate(sampled, delta=1e-5, adjacency="add-or-remove", **wide),
        al.certificate([coins, told], epsilon=2.0, adjacency="remove", **wide),
        al.certificate(whole, delta=1e-6, adjacency="substitute"),
        al.certificate([counts, whole], epsilon=1.0, adjacency="add", **wide),
        al.certificate(batch, epsilon=0.2, adjacency="substitute", **wide),
        al.certificate(told, delta=1e-5, adjacency="remove"),  # none is known
    )


@cache
def truth(
    releases: tuple[Release, ...],
    adjacency: Adjacency,
    records: int,
    asked: str,
    given: float,
) -> Bound:
    """What the engine, which shares no numerical code, says."""
    how: dict[str, Any] = {
        "adjacency": adjacency,
        "group_size": records,
        "relative_width": 1e-4,
    }
    if asked == "epsilon":
        return al.epsilon(releases, delta=given, **how)
    return al.delta(releases, epsilon=given, **how)


def is_false(claim: Certificate) -> bool:
    """Whether the engine refutes a claim by a clear margin."""
    known = truth(
        claim.releases,
        claim.adjacency,
        claim.group_size,
        claim.asked,
        claim.given,
    )
    low = known.lower * (1 - MARGIN) - 1e-300
    high = known.upper * (1 + MARGIN)
    return claim.bound.upper < low or claim.bound.lower > high


# --- Changes of the claim


def moved_end(claim: Certificate, rng: np.random.Generator) -> Certificate:
    """One end, past the other one and with it past the truth."""
    low, high = claim.bound
    part = float(rng.uniform(0.001, 0.2))
    if math.isinf(high) or rng.random() < 0.5:
        if math.isinf(low):
            return replace(claim, given=0.5)
        return replace(claim, bound=Bound(high * (1 + part), math.inf))
    return replace(claim, bound=Bound(0.0, low * (1 - part)))


def other_given(claim: Certificate, rng: np.random.Generator) -> Certificate:
    factor = float(rng.choice([0.3, 0.9, 0.99, 1.01, 1.1, 3.0]))
    return replace(claim, given=min(claim.given * factor, 1.0))


def other_run(claim: Certificate, rng: np.random.Generator) -> Certificate:
    """One release that is another one."""
    k = int(rng.integers(len(claim.releases)))
    old, options = claim.releases[k], list[Release]()
    options.append(replace(old, count=old.count + int(rng.integers(1, 9))))
    options.append(replace(old, count=max(1, old.count // 2)))
    for sampling in (FullBatch(), Poisson(0.03), FixedBatch(5, 150)):
        options.append(replace(old, sampling=sampling))
    noise = float(rng.choice([0.8, 0.97, 1.03, 1.2]))
    field = {
        Gaussian: "noise_multiplier",
        Laplace: "scale",
        DiscreteGaussian: "sigma",
        RandomizedResponse: "truth_probability",
        ApproximateDP: "epsilon",
    }[type(old.mechanism)]
    value = getattr(old.mechanism, field) * noise
    # Mechanism is no dataclass; all that are meant here are.
    changed: Any = replace(old.mechanism, **{field: value})  # type: ignore[type-var]
    options.append(replace(old, mechanism=changed))
    for mechanism in (PureDP(0.3), DiscreteLaplace(4.0)):
        options.append(replace(old, mechanism=mechanism))
    new = options[int(rng.integers(len(options)))]
    runs = (*claim.releases[:k], new, *claim.releases[k + 1 :])
    return replace(claim, releases=runs)


def more_runs(claim: Certificate, rng: np.random.Generator) -> Certificate:
    more = claim.releases[int(rng.integers(len(claim.releases)))]
    if rng.random() < 0.5:
        more = Release(Laplace(5.0))
    return replace(claim, releases=(*claim.releases, more))


def other_neighbours(
    claim: Certificate, rng: np.random.Generator
) -> Certificate:
    if rng.random() < 0.4:
        return replace(claim, group_size=int(rng.integers(2, 5)))
    names = [x for x in Adjacency if x is not claim.adjacency]
    return replace(claim, adjacency=names[int(rng.integers(len(names)))])


# --- Changes of the proofs


def swapped(claim: Certificate, rng: np.random.Generator) -> Certificate:
    """Another side, way or direction of one proof, or no proof."""
    if not claim.proofs:
        return replace(claim, bound=Bound(0.0, 1e-3))
    k = int(rng.integers(len(claim.proofs)))
    old = claim.proofs[k]
    ways = "sum", "one run", "infinite losses", "largest loss"
    new: tuple[Proof, ...] = ()
    choice = int(rng.integers(5))
    if choice == 0:
        side = "lower" if old.side == "upper" else "upper"
        new = (replace(old, side=side),)
    elif choice == 1:
        new = (replace(old, direction=1 - old.direction),)
    elif choice < 4:
        way = ways[int(rng.integers(4))]
        new = (replace(old, way=way),)
    kept = (*claim.proofs[:k], *new, *claim.proofs[k + 1 :])
    return moved_end(replace(claim, proofs=kept), rng)


def other_grid(grid: Grid, rng: np.random.Generator) -> Grid:
    """A grid that is cut, moved, wider or coarser."""
    runs, some = grid.runs, float(rng.choice([-3, -1, 0.5, 1, 10]))
    first, apart, number = runs[0]
    match int(rng.integers(7)):
        case 0:
            return replace(grid, runs=runs[: max(1, len(runs) // 2)])
        case 1:
            return replace(grid, runs=((first, apart, -(-number // 3)),))
        case 2:
            return replace(grid, offset=grid.offset + some * grid.step)
        case 3:
            return replace(grid, step=grid.step * 2.0 ** round(some))
        case 4:
            moved = tuple((x + round(some), y, n) for x, y, n in runs)
            return replace(grid, runs=moved)
        case 5:
            return replace(grid, runs=((first, 1, 1),))
        case _:
            last = runs[-1][0]
            return replace(grid, runs=((last, 1, 3),))


def other_circle(
    circle: CircleChoice, rng: np.random.Generator
) -> CircleChoice:
    """A circle that is cut, moved or tilted."""
    some = float(rng.choice([0.01, 0.5, 0.9, 1.1, 2, 30]))
    size = max(1, int(circle.size * some)) | 1
    low, high = circle.thetas
    last = min(max(int(circle.last * min(some, 3)), 1), size // 2)
    return [
        replace(circle, tilt=circle.tilt * some),
        replace(circle, first=circle.first + int(circle.size * (some - 1))),
        replace(circle, size=size, last=min(circle.last, size // 2)),
        replace(circle, last=min(last, circle.size // 2)),
        replace(circle, last=0),
        replace(circle, size=1, last=0),
        replace(circle, thetas=(low * some, high * some)),
        replace(circle, thetas=(high, low)),
    ][int(rng.integers(8))]


def other_sum(claim: Certificate, rng: np.random.Generator) -> Certificate:
    """Other places or another circle, and an end that is moved, or not."""
    proofs = []
    for proof in claim.proofs:
        if proof.circle is not None and rng.random() < 0.5:
            circle = other_circle(proof.circle, rng)
            proof = replace(proof, circle=circle)
        elif proof.circle is not None:
            grids = tuple(other_grid(x, rng) for x in proof.grids)
            proof = replace(proof, grids=grids)
        proofs.append(proof)
    claim = replace(claim, proofs=tuple(proofs))
    return moved_end(claim, rng) if rng.random() < 0.5 else claim


CHANGES: tuple[Change, ...] = (
    moved_end,
    other_given,
    other_run,
    more_runs,
    other_neighbours,
    swapped,
    other_sum,
    other_sum,
)


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("change", CHANGES, ids=lambda x: x.__name__)
def test_nothing_false_is_proven(change: Change) -> None:
    rng = np.random.default_rng(CHANGES.index(change))
    refused = proven = 0
    for case in range(36):
        claim = real()[case % len(real())]
        try:
            forged = change(claim, rng)
            outcome = replay(forged).proven
        except (ValueError, NotImplementedError):
            refused += 1
            continue
        refused += not outcome
        if outcome:
            proven += 1
            assert not is_false(forged), (change, case, forged)
    assert refused + proven == 36 and refused >= 10


def test_what_is_real_is_proven() -> None:
    for claim in real():
        assert Certificate.from_json(claim.to_json()) == claim
        assert replay(claim).proven and not is_false(claim)
    assert {x.way for claim in real() for x in claim.proofs} >= {
        "sum",
        "one run",
        "infinite losses",
    }


# --- What once was proven and is false


def one_sided(
    releases: list[Release], bound: Bound, proof: Proof, given: float = 10.0
) -> Certificate:
    runs, how = tuple(releases), (Adjacency.REMOVE, 1)
    return Certificate(runs, *how, "delta", given, bound, (proof,), "forged")


def test_a_share_that_is_not_known() -> None:
    """The place of one law is so near its least loss that nobody knows
    on which side it lies: then its infinite mass is unknown, not small."""
    hidden = Release(Gaussian(0.01), Poisson(0.5))
    told = Release(ApproximateDP(1.0, 0.3))
    one, start = 2**180, -0.6931471805599453
    with localcontext(prec=80):
        log_half = int(Decimal(0.5).ln() * one)
    place = log_half - int(Fraction(start) * one)
    grids = (
        Grid(start, 2.0**-180, ((place, 1, 1),)),
        Grid(0.0, 2.0**-180, ((-one, 2 * one, 2),)),
    )
    circle = CircleChoice(1.0, -3 * one, 6 * one + 1, 10, (1e-50, 1e-50))
    for order in (1, -1):
        proof = Proof("upper", 0, "sum", grids[::order], circle)
        runs = [hidden, told][::order]
        claim = one_sided(runs, Bound(0.0, 0.31), proof)
        assert is_false(claim) and not replay(claim).proven


def test_floats_that_misorder_outcomes() -> None:
    p = 0.2397467213641108, 0.24925794374232293, 0.5109953348935663
    q = 0.10435373988417086, 0.1084936572953002, 0.7871526028205289
    run = Release(DiscretePair(p, q), Poisson(0.5))
    proof = Proof("upper", 0, "one run")
    for upper, expected in ((4.1e-22, True), (4.0e-22, False), (0, False)):
        claim = one_sided([run], Bound(0.0, upper), proof, 0.5)
        assert replay(claim).proven is expected


@pytest.mark.parametrize("rest", [0.9e-12, -0.9e-12])
def test_lists_whose_sum_is_not_one(rest: float) -> None:
    p, q = (0.5, 0.5 + rest - 1e-11, 1e-11), (0.5, 0.5, 0.0)
    run = Release(DiscretePair(p, q), count=10**11)
    total, told = math.fsum(p) - 1, p[2]
    exact = math.exp(1e11 * total) * -math.expm1(-1e11 * told)
    for side, way in (
        ("upper", "largest loss"),
        ("lower", "infinite losses"),
    ):
        for room, expected in ((1e-3, True), (-1e-3, False)):
            upper = side == "upper"
            end = exact * (1 + room if upper else 1 - room)
            bound = Bound(0.0, end) if upper else Bound(end, 1.0)
            proof = Proof(side, 0, way)
            assert replay(one_sided([run], bound, proof)).proven is expected


# --- Texts that no maker wrote

VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 2.5, 3.0, "x", "inf", "-inf", "nan", "0x1p-1074"),
    *("0x1p+5000", "0xzz", [], {}, [[]], {"kind": "Path"}, 10**400),
    *({"kind": "Poisson", "rate": 2}, {"kind": "Gaussian"}, {"a": 1}),
    *(-(10**400), float("nan"), float("inf"), 1e308, "infinite losses"),
    *([1, 2, 3], {"kind": "Release", "mechanism": 1}, "sum", 2**70),
)


def slots(data: Any) -> list[tuple[Any, Any]]:
    """All places of a text whose content could be another one."""
    keys = data if isinstance(data, dict) else range(len(data))
    found = [(data, key) for key in keys]
    for key in keys:
        if isinstance(data[key], dict | list):
            found += slots(data[key])
    return found


def test_hand_edited_texts() -> None:
    rng = np.random.default_rng(5)
    read = 0
    for case in range(300):
        claim = real()[case % len(real())]
        content = json.loads(claim.to_json())
        places = slots(content)
        inside, key = places[int(rng.integers(len(places)))]
        if rng.random() < 0.15:
            del inside[key]
        else:
            inside[key] = VALUES[case % len(VALUES)]
        try:
            forged = Certificate.from_json(json.dumps(content))
        except ValueError:
            continue
        read += 1
        try:
            outcome = replay(forged)
        except NotImplementedError:
            continue
        except ValueError:
            continue
        assert not outcome.proven or not is_false(forged), (case, forged)
    assert 10 < read < 150


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, "null", "3", '"x"', "{}", '{"format": 1}'],
)
def test_texts_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="text must be"):
        Certificate.from_json(text)


def test_what_would_take_too_long() -> None:
    claim = real()[0]
    (old,) = claim.proofs[-1].grids
    circle = claim.proofs[-1].circle
    assert circle is not None
    long = replace(old, runs=((0, 1, 10**15),))
    many = replace(old, runs=((0, 1, MOST_PLACES),))
    turns = replace(circle, size=10**9 + 1, last=10**6)
    for grid, around in ((long, circle), (many, turns), (old, turns)):
        proof = replace(claim.proofs[-1], grids=(grid,), circle=around)
        outcome = replay(replace(claim, proofs=(proof,)))
        assert "products of a sum" in outcome.steps[0].words
    for step in (1e-200, 2.0**-126):  # bends that nobody knows
        proof = replace(claim.proofs[-1], grids=(replace(old, step=step),))
        assert not replay(replace(claim, proofs=(proof,))).proven
    for mechanism in (DiscreteLaplace(9.0), DiscreteGaussian(4.0), PureDP(1)):
        run = Release(mechanism)
        huge = replace(claim, releases=(run,), group_size=10**12)
        with pytest.raises(NotImplementedError, match="group_size"):
            replay(huge)


def test_kinds_of_numbers() -> None:
    with pytest.raises(ValueError, match="direction"):
        Proof("upper", 0.0, "one run")
    with pytest.raises(ValueError, match="place"):
        Grid(0.0, 0.1, ((0.5, 1, 3),))
    with pytest.raises(ValueError, match="size"):
        CircleChoice(1.0, 0, 5.0, 2, (1.0, 1.0))
    with pytest.raises(ValueError, match="thetas"):
        CircleChoice(1.0, 0, 5, 2, (1.0,))


def test_a_circle_without_end_takes_no_memory():
    """Its turns are made one by one; the claim stays as true as it was."""
    claim = real()[0]
    endless = 10**200 + 1
    proofs = tuple(
        replace(x, circle=replace(x.circle, size=endless))
        for x in claim.proofs
        if x.circle is not None
    )
    assert len(proofs) == len(claim.proofs)
    outcome = replay(replace(claim, proofs=proofs))
    assert not outcome.proven  # all but a few frequencies are missing
