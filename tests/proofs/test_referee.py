"""What a hostile reader once proved, and is false; files that broke things."""

import math
from fractions import Fraction

import pytest

from accountlib.counting.composition import Bound
from accountlib.proofs import certificates, making, sums
from accountlib.proofs.balls import ListedLaw, ReversedLaw, ball, flint
from accountlib.proofs.certificates import Certificate, Proof, replay
from accountlib.proofs.laws import MixtureLaw
from accountlib.proofs.making import certificate
from accountlib.proofs.samplers import LargestOutputLaw, lower_laws
from accountlib.proofs.sums import CircleChoice, Grid
from accountlib.runs.mechanisms import (
    ApproximateDP,
    DiscreteGaussian,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
)
from accountlib.runs.releases import (
    Adjacency,
    Poisson,
    RandomAllocation,
    Release,
    ShuffledEpochs,
    TruncatedPoisson,
)
from accountlib.worst_cases.dominating_pairs import DiscretePair, Mechanism

pytest.importorskip("flint")


def test_an_unknown_mass_is_not_a_mass_of_zero() -> None:
    """With 128 bits nobody knows some far tails of this noise (Flint's
    erfc gives a ball around 0, and its log is NaN). `sorted_table` takes
    "p > 0 is not certain" for "p is 0", and a Q-mass of 1 counts as
    infinite: epsilon = inf is "proven" at delta = 1/2, where a full batch
    has epsilon < 1.6e10."""
    noise = 8.033956763714502e-06
    run = Release(Gaussian(noise), ShuffledEpochs(10))
    how = (run,), Adjacency.ZERO_OUT, 1
    attack = ReversedLaw(LargestOutputLaw(1 / Fraction(noise), 10, 2, 1))
    ways = [list(laws) for laws in lower_laws(*how)]
    lower = Proof("lower", ways.index([attack]), "infinite losses")
    upper = Proof("upper", 0, "one run")
    outcomes = [
        replay(Certificate(*how, "epsilon", 0.5, bound, (proof,), "-")).proven
        for bound, proof in (
            (Bound(math.inf, math.inf), lower),
            (Bound(0.0, 1.6e10), upper),
        )
    ]
    assert outcomes == [False, True]


def cut_off_rate(rate: Fraction, most: int, size: int) -> Fraction:
    """Chance of a record to be in a cut-off sample, in fractions."""

    def tail(n: int, k: int) -> Fraction:
        return sum(
            (
                math.comb(n, i) * rate**i * (1 - rate) ** (n - i)
                for i in range(k, n + 1)
            ),
            Fraction(0),
        )

    full = tail(size - 1, most)
    return rate * (1 - full) + most * tail(size, most + 1) / size


def test_the_rate_of_what_is_reached_is_not_rounded_up() -> None:
    """`sampled_exchange_law` makes a float of the rate of a cut-off sample,
    which was rounded down with 256 bits: half of the floats are larger."""
    rate, most, size = 0.759, 12, 15
    run = Release(Gaussian(1.0), TruncatedPoisson(rate, most, size))
    exact = cut_off_rate(Fraction(rate), most, size)
    end = 0.25698177700276353
    with flint().ctx.workprec(256):
        means, weights = (Fraction(0), Fraction(1)), (1 - exact, exact)
        reached = MixtureLaw(means, weights, True).height(ball(1.0))
        assert reached < ball(end)
    proof = Proof("lower", 0, "one run")
    how = (run,), Adjacency.SUBSTITUTE, 1
    claim = Certificate(*how, "delta", 1.0, Bound(end, 1.0), (proof,), "-")
    assert not replay(claim).proven


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    ("mechanism", "steps"),
    [
        (RandomizedResponse(1.0), 5),
        (ApproximateDP(1.0, 1.0), 1000),
        (PureDP(700.0), 2),
        (DiscreteGaussian(1e-3), 2),
        (Gaussian(0.02), 2),
        (Laplace(1e-3), 2),
    ],
    ids=repr,
)
def test_epochs_of_little_noise(mechanism: Mechanism, steps: int) -> None:
    """`coarser` pops zeros until the list from below is empty: IndexError,
    which is neither documented nor caught, whatever is claimed."""
    run = Release(mechanism, RandomAllocation(steps))
    how = (run,), Adjacency.REMOVE, 1
    proof = Proof("lower", 0, "one run")
    try:
        replay(Certificate(*how, "delta", 1.0, Bound(0.1, 1.0), (proof,), "-"))
    except (ValueError, NotImplementedError):
        pass


def wide_grid(places: int) -> tuple[Grid, CircleChoice]:
    return (
        Grid(-1.0, 1e-4, ((0, 1, places),)),
        CircleChoice(1.0, 0, 1, 0, (1.0, 1.0)),
    )


def test_work_counts_the_cost_of_a_law() -> None:
    """A file of 1 KB whose replay takes hours: a group of 200 in samples,
    2e5 places. `Proof.work` counts products of the sum, and neither heights
    (0.03 s each at 128 bits, 0.5 s at 4,096) nor the growing bits."""
    grid, circle = wide_grid(199_999)
    proof = Proof("upper", 0, "sum", (grid,), circle)
    run = Release(Gaussian(10 / 3), Poisson(0.3))
    claim = Certificate(
        (run,),
        Adjacency.REMOVE,
        200,
        "delta",
        1.0,
        Bound(0.0, 0.5),
        (proof,),
        "-",
    )
    assert len(claim.to_json()) < 1200
    found = replay(claim)
    assert not found.proven and "terms of all heights" in str(found)


def test_a_law_is_hashed_once() -> None:
    """`sorted_table` is looked up at each height, by a hash of all
    outcomes: 2e4 of them and 2e5 places take hours."""
    hashed = 0

    class Counted(Fraction):
        # For typeshed a complex number, and so a fraction, has no hash.
        def __hash__(self) -> int:  # type: ignore[override]
            nonlocal hashed
            hashed += 1
            return super().__hash__()

    half = Counted(1, 2)
    law = ListedLaw((half, half), (half, half))
    for k in range(50):
        law.height(ball(k))
    assert hashed <= 8


def test_what_a_listed_pair_claims() -> None:
    """No defect: a zero that is exact is an infinite loss."""
    run = Release(DiscretePair([0.5, 0.5], [0.0, 1.0]))
    claim = Certificate(
        (run,),
        Adjacency.REMOVE,
        1,
        "epsilon",
        0.25,
        Bound(math.inf, math.inf),
        (Proof("lower", 0, "infinite losses"),),
        "-",
    )
    assert replay(claim).proven


def test_what_replay_refuses_is_not_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (certificates, making):
        monkeypatch.setattr(module, "MOST_TERMS", 10)
    run = Release(Gaussian(2.0), Poisson(0.1), 20)
    claim = certificate(run, delta=1e-6, adjacency="remove")
    assert claim.bound == Bound(0.0, math.inf) and replay(claim).proven


def test_frequencies_that_are_left_out_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever is called round-off, the bounds stay on their sides, and a
    larger part that is left out makes them wider."""
    masses = [(i, ball(Fraction(1, 9))) for i in range(-4, 5)]
    circle = CircleChoice(0.3, -200, 401, 200, (0.05, 0.05))
    ends = {}
    for bits in (-1000, 5, 40):
        monkeypatch.setattr(
            sums, "round_off", lambda x, n=bits: x * ball(2) ** -abs(n)
        )
        how = [(masses, 30)], circle, 0.1, Fraction(0), 1.0
        ends[bits] = [sums.circle_sum(*how, sign) for sign in (-1, 1)]
    for bits, (low, high) in ends.items():
        for truth in ends[-1000]:
            assert not low > truth and not high < truth, bits
    widths = [ends[x][1] - ends[x][0] for x in (5, 40, -1000)]
    assert widths[0] > 2 * widths[1] and not widths[1] < widths[2]
