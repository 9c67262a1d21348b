"""Laws in balls against the pairs of the engine, and tables around them."""

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from accountlib.proofs.balls import (
    GaussianLaw,
    GuaranteeLaw,
    LaplaceLaw,
    Law,
    ListedLaw,
    ReversedLaw,
    SampledLaw,
    Undecided,
    ball,
    flint,
)
from accountlib.proofs.laws import MixtureLaw
from accountlib.proofs.samplers import run_laws
from accountlib.proofs.sums import (
    Grid,
    Table,
    lower_table,
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
    Release,
    Sampling,
)
from accountlib.runs.rules import dominating_pairs
from accountlib.worst_cases.dominating_pairs import (
    DiscretePair,
    DominatingPair,
    Mechanism,
)

pytest.importorskip("flint")
HAIR = 1e-30  # what 256 bits know of these curves


def mechanisms(rng: np.random.Generator) -> list[Mechanism]:
    """One of each, with random parameters."""
    noise = float(rng.uniform(0.4, 4))
    weights = rng.dirichlet([1, 1, 1])
    listed = rng.dirichlet([0.5] * 6, size=2)
    listed[0, 0] += listed[0, 1]
    listed[0, 1] = 0.0  # never with the record
    return [
        Gaussian(noise),
        Laplace(float(rng.uniform(0.3, 3))),
        DiscreteGaussian(noise, int(rng.integers(1, 4))),
        DiscreteLaplace(noise, int(rng.integers(1, 4))),
        RandomizedResponse(float(rng.uniform(0, 1))),
        PureDP(float(rng.uniform(0, 3))),
        ApproximateDP(float(rng.uniform(0, 3)), float(rng.uniform(0, 0.2))),
        MixtureOfGaussians([0, 1, 2.5], weights.tolist(), noise),
        DiscretePair(listed[0].tolist(), listed[1].tolist()),
    ]


def samplers(rng: np.random.Generator) -> list[Sampling]:
    size = int(rng.integers(20, 400))
    rate = float(rng.choice([1e-4, 0.03, 0.5, 0.9]))
    batch = int(rng.integers(1, size - 10))
    return [FullBatch(), Poisson(rate), FixedBatch(batch, size)]


def known(pair: DominatingPair, x: float) -> float:
    """The curve of a pair, also at negative losses."""
    if x >= 0:
        return float(pair.delta(x))
    mirrored = float(pair.reversed().delta(-x))
    return -math.expm1(x) + math.exp(x) * mirrored


def laws_and_pairs(seed: int) -> list[tuple[Law, DominatingPair]]:
    """All laws of random mechanisms, each with the pair of the engine."""
    rng = np.random.default_rng(seed)
    found: list[tuple[Law, DominatingPair]] = []
    cases = product(mechanisms(rng), samplers(rng), Adjacency, (1, 3))
    for mechanism, sampling, adjacency, records in cases:
        how: dict[str, Any] = {"adjacency": adjacency, "group_size": records}
        one = [Release(mechanism, sampling)]
        try:
            ways = run_laws(one, adjacency, records)
        except NotImplementedError:
            continue
        pairs = dominating_pairs(mechanism, sampling=sampling, **how)
        for k, pair in enumerate(pairs):
            ((law, count),) = ways[min(k, len(ways) - 1)].items()
            assert count == 1
            found.append((law, pair))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_curves_are_those_of_the_engine(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    cases = laws_and_pairs(seed)
    assert len(cases) > 150
    for law, pair in cases:
        for x in (rng.uniform(0, 2), rng.uniform(-2, 0), 0.0):
            found, truth = float(law.height(ball(x)).mid()), known(pair, x)
            assert abs(found - truth) < 1e-9 + 1e-7 * truth, (law, x)


@pytest.mark.parametrize("seed", range(2))
def test_events_complements_and_convexity(seed: int) -> None:
    rng = np.random.default_rng(200 + seed)
    laws = list(dict.fromkeys(law for law, _ in laws_and_pairs(10 + seed)))
    assert len(laws) > 60
    for law in laws:
        at = np.sort(rng.normal(0, 1, 3)).tolist()
        alphas = [ball(x).exp() for x in at]
        heights = [law.height(ball(x)) for x in at]
        for x, alpha, height in zip(at, alphas, heights, strict=True):
            (p, q), (r, s) = (law.event(ball(x), y) for y in (True, False))
            assert (p + r).overlaps(law.total[0]), (law, x)
            assert (q + s).overlaps(law.total[1]), (law, x)
            assert (p - alpha * q).overlaps(height), (law, x)
            # any event is a line below the curve
            for other, value in zip(alphas, heights, strict=True):
                assert not p - other * q > value, (law, x)
        (a, b, c), (f, g, h) = alphas, heights
        assert not (g - f) * (c - b) > (h - g) * (b - a), (law, at)


def table_height(table: Table, grid: Grid, alpha: Any) -> Any:
    """The curve of a table, straight from its masses."""
    finite, total = table
    for place, mass in finite:
        part = 1 - alpha / grid.loss(place).exp()
        total += mass * part.max(ball(0))
    return total


def random_grid(rng: np.random.Generator) -> Grid:
    """A few stretches of places around the loss 0."""
    step = float(rng.choice([0.03, 0.1, 0.4]))
    place, runs = -int(rng.integers(1, 30)), []
    for _ in range(int(rng.integers(1, 4))):
        apart, number = (int(rng.integers(1, n)) for n in (5, 9))
        runs.append((place, apart, number))
        place += apart * number + int(rng.integers(0, 4))
    return Grid(float(rng.normal(0, 0.3)), step, tuple(runs))


@pytest.mark.parametrize("seed", range(4))
def test_tables_lie_above_and_below(seed: int) -> None:
    rng = np.random.default_rng(300 + seed)
    laws = list(dict.fromkeys(law for law, _ in laws_and_pairs(20 + seed)))
    both = 0
    with flint().ctx.workprec(256):
        for law in laws:
            grid = random_grid(rng)
            upper, lower = upper_table(law, grid), None
            try:
                lower = lower_table(law, grid)
                both += 1
            except Undecided:  # all places are above the largest loss
                assert not law.height(grid.loss(grid.places[0])) > (
                    law.infinite[0] + HAIR
                )
            places = [grid.loss(i) for i in grid.places[::3]]
            for x in [*map(ball, rng.normal(0, 1, 4).tolist()), *places]:
                alpha, height = x.exp(), law.height(x)
                above = table_height(upper, grid, alpha)
                assert above - height > -HAIR, (law, grid, x)
                if lower:
                    below = table_height(lower, grid, alpha)
                    assert height - below > -HAIR, (law, grid, x)
            for table in (upper, lower):
                masses = table[0] if table else []
                assert all(not mass < 0 for _, mass in masses)
    assert both > len(laws) // 2


def test_misordered_floats() -> None:
    """Two outcomes with losses on both sides of x, and the same float."""
    # ratios that straddle 2 e^0.5 - 1 by less than 1e-20
    p = 0.2397467213641108, 0.24925794374232293, 0.5109953348935663
    q = 0.10435373988417086, 0.1084936572953002, 0.7871526028205289
    for order in (1, -1):
        listed = ListedLaw(
            tuple(map(Fraction, p[:2][::order] + p[2:])),
            tuple(map(Fraction, q[:2][::order] + q[2:])),
        )
        law = SampledLaw(listed, Fraction(1, 2))
        with flint().ctx.workprec(256):
            height = law.height(ball(0.5))
            mirror = ReversedLaw(ReversedLaw(law)).height(ball(0.5))
        assert 4.0e-22 < height < 4.1e-22
        assert 4.0e-22 < mirror < 4.1e-22


def test_nobody_knows_the_side() -> None:
    """Wide losses give wide events, whichever atoms they touch."""
    one, zero = ball(1), ball(0)
    wide = ball(-3).union(ball(3))
    for law in (
        LaplaceLaw(Fraction(2)),
        MixtureLaw((Fraction(0), Fraction(1)), (Fraction(1, 2),) * 2),
        SampledLaw(GuaranteeLaw(Fraction(1), Fraction(0)), Fraction(1, 2)),
    ):
        for above in (True, False):
            p, q = law.event(wide, above)
            for x in (p, q):
                unknown = not x.is_finite()
                assert unknown or (x.contains(one) and x.contains(zero))


def test_roots_beyond_all_that_was_tried() -> None:
    law = MixtureLaw(
        (Fraction(0), Fraction(1, 10**200)), (Fraction(1, 2),) * 2, True
    )
    assert not law.height(ball(1)).is_finite()


@pytest.mark.parametrize("bits", [10, 16, 24, 40, 128])
def test_few_bits_are_wide_and_not_wrong(bits: int) -> None:
    """Where nearly all comparisons are open, no side may be taken."""
    rng = np.random.default_rng(bits)
    laws = list(dict.fromkeys(law for law, _ in laws_and_pairs(30)))
    for law in laws:
        ends = [float(x.mid()) for x in law.ends if x.is_finite()]
        for x in (*rng.normal(0, 1, 2).tolist(), 0.0, *ends):
            with flint().ctx.workprec(256):
                truth = law.height(ball(x))
            try:
                with flint().ctx.workprec(bits):
                    found = law.height(ball(x))
            except Undecided:
                assert bits < 128
                continue
            assert not (found < truth or found > truth), (law, x)


EVEN = MixtureOfGaussians([0, 1, 2], [0.5, 0.25, 0.25], 3.0)
KINDS = [
    *[(x, y) for x in (Gaussian(1.0), Laplace(0.5)) for y in Adjacency],
    *[(EVEN, y) for y in (Adjacency.ADD, Adjacency.REMOVE)],
]


@pytest.mark.parametrize("mechanism, adjacency", KINDS)
def test_heights_at_atoms_and_at_the_least_loss(
    mechanism: Mechanism, adjacency: Adjacency
) -> None:
    """Nobody knows whether a best event has the outcomes there, and the
    height is known all the same: the curve is convex, and falls by less than
    alpha grows."""
    seen = 0
    for sampling in (FullBatch(), Poisson(0.5), Poisson(0.25)):
        for way in run_laws([Release(mechanism, sampling)], adjacency, 1):
            for law in way:
                with flint().ctx.workprec(128):
                    ends = [x for x in law.ends if x.is_finite()]
                    for x in (*ends, *(ball(k / 8).log() for k in (2, 4, 6))):
                        near, far = ball(2) ** -60, ball(2) ** -59
                        height = law.height(x)
                        below, above = (
                            law.height(x - near),
                            law.height(x + far),
                        )
                        assert height.rad() < 1e-25
                        assert above <= height + 1e-25
                        assert height <= below + 1e-25
                        assert below - above < 4 * far * x.exp() + 1e-25
                        seen += 1
    assert seen >= 9


def test_heights_at_the_ends_in_fractions() -> None:
    """At the least loss all outcomes are in, above the largest one none."""
    half, normal = Fraction(1, 2), GaussianLaw(Fraction(1))
    mixture = MixtureLaw((Fraction(0), Fraction(1)), (half, half))
    laplace = SampledLaw(LaplaceLaw(Fraction(1)), half)
    with flint().ctx.workprec(128):
        for law in (mixture, SampledLaw(normal, half)):
            height = law.height(ball(half).log())
            assert height.contains(ball(half)) and height.rad() < 1e-25
        height = laplace.height(laplace.ends[1])
        assert height.contains(0) and height.rad() < 1e-25
