"""Laws of the other samplers: against the engine's pairs, and certificates."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import accountlib as al
from accountlib.proofs.balls import GaussianLaw, ReversedLaw, ball, flint
from accountlib.proofs.certificates import Proof
from accountlib.proofs.epochs import COARSE, EpochLaw, epoch_law, upper_sums
from accountlib.proofs.samplers import laws_of_release, lower_laws, run_laws
from accountlib.runs.releases import Adjacency, Sampling
from accountlib.runs.rules import dominating_pairs
from accountlib.worst_cases.dominating_pairs import DominatingPair

pytest.importorskip("flint")
MECHANISMS = (
    al.Gaussian(1.0),
    al.Gaussian(0.6),
    al.Laplace(1.5),
    al.DiscreteGaussian(2.0, 1),
    al.DiscreteLaplace(2.0, 1),
    al.RandomizedResponse(0.7),
    al.PureDP(0.5),
    al.ApproximateDP(0.5, 1e-3),
)
SAMPLERS: tuple[Sampling, ...] = (
    al.TruncatedPoisson(0.1, 15, 100),
    al.TruncatedPoisson(0.004, 512, 100_000),
    al.FixedBatch(10, 100),
    al.ShuffledEpochs(20),
)


def known(pair: DominatingPair, x: float) -> float:
    if x >= 0:
        return float(pair.delta(x))
    mirrored = float(pair.reversed().delta(-x))
    return -math.expm1(x) + math.exp(x) * mirrored


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("sampling", SAMPLERS, ids=str)
def test_laws_are_those_of_the_engine(sampling):
    compared = 0
    for mechanism in MECHANISMS:
        for adjacency in Adjacency:
            try:
                pairs = dominating_pairs(
                    mechanism, sampling=sampling, adjacency=adjacency
                )
            except NotImplementedError:
                with pytest.raises(NotImplementedError):
                    laws_of_release(mechanism, sampling, adjacency, 1)
                continue
            laws = laws_of_release(mechanism, sampling, adjacency, 1)
            rows = [(a.above, b) for a, b in zip(laws, pairs, strict=True)]
            if not isinstance(sampling, al.ShuffledEpochs):
                rows += zip(laws[0].below, pairs[0].reached, strict=True)
            zeroed = adjacency is Adjacency.ZERO_OUT
            for law, pair in rows:
                for x in (-0.4, 0.0, 0.01, 0.3, 1.1, 2.7):
                    if x < 0 and zeroed:  # there the engine merges cells
                        continue
                    found = float(law.height(ball(x)).mid())
                    truth = known(pair, x)
                    assert abs(found - truth) < 1e-9 + 1e-7 * truth
                    compared += 1
    assert compared > 100


def test_a_zeroed_record_at_negative_losses():
    """By densities on a fine grid, where the engine merges outputs."""
    (one, _) = laws_of_release(
        al.Gaussian(1.0), al.FixedBatch(10, 100), Adjacency.ZERO_OUT, 1
    )
    z = np.linspace(-12, 14, 400_001)
    none, half, whole = (np.exp(-((z - k) ** 2) / 2) for k in range(3))
    p, q = 0.9 * none + 0.1 * whole, 0.9 * none + 0.1 * half
    width = (z[1] - z[0]) / math.sqrt(2 * math.pi)
    for x in (-1.0, -0.07, -0.06, -0.03, -0.001, 0.0, 0.5):
        truth = float(np.sum(np.maximum(p - math.exp(x) * q, 0)) * width)
        law = one.below[0]
        assert abs(float(law.height(ball(x)).mid()) - truth) < 1e-8
        assert not law.height(ball(x)) > one.above.height(ball(x)) + 1e-30
        a, b = (law.event(ball(x), side)[0] for side in (True, False))
        assert (a + b).overlaps(ball(1))


EPOCHS = (
    (al.Gaussian(1.0), 2),
    (al.Gaussian(0.5), 3),
    (al.Gaussian(0.8), 100),
    (al.Laplace(2.0), 7),
    (al.RandomizedResponse(0.75), 20),
    (al.ApproximateDP(0.5, 1e-3), 9),
)


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(("mechanism", "steps"), EPOCHS, ids=str)
def test_epochs_are_between(mechanism, steps):
    laws = laws_of_release(
        mechanism, al.RandomAllocation(steps), Adjacency.ADD_OR_REMOVE, 1
    )
    pairs = dominating_pairs(
        mechanism,
        sampling=al.RandomAllocation(steps),
        adjacency="add-or-remove",
    )
    with flint().ctx.workprec(128):
        for one, pair in zip(laws, pairs, strict=True):
            total = one.above.total
            assert not (total[0] < 1 or total[1] < 1)
            assert not one.below[0].total[0] > 1
            for x in (0.0, 0.1, 0.5, 1.0):
                low, high = (
                    law.height(ball(x)) for law in (one.below[0], one.above)
                )
                assert not low > high
                above = float(high.mid()), float(pair.delta(x))
                below = float(low.mid()), float(pair.reached[0].delta(x))
                assert max(below) <= min(above) * (1 + 1e-9) + 1e-12
                assert above[0] - below[0] < 1e-2 * above[0] + 5e-5


def test_coins_in_fractions():
    """Randomized response in an epoch is a binomial sum."""
    law = laws_of_release(
        al.RandomizedResponse(0.75),
        al.RandomAllocation(20),
        Adjacency.REMOVE,
        1,
    )[0]
    for alpha in (Fraction(11, 10), Fraction(3, 2), Fraction(5, 2)):
        truth, back = Fraction(0), Fraction(0)
        for k in range(21):
            chance = math.comb(20, k) * Fraction(3 ** (20 - k), 4**20)
            mean = (3 * k + Fraction(20 - k, 3)) / 20
            truth += chance * max(mean - alpha, Fraction(0))
            back += chance * max(1 - alpha * mean, Fraction(0))
        for turn, value in ((lambda x: x, truth), (ReversedLaw, back)):
            low, high = (
                turn(x).height(ball(alpha).log())
                for x in (law.below[0], law.above)
            )
            assert not low > ball(value) and not high < ball(value)


def test_a_law_that_tells_nothing_stays():
    coin = laws_of_release(
        al.RandomizedResponse(0.5), al.FullBatch(), Adjacency.REMOVE, 1
    )[0].above
    assert epoch_law(coin, 5, True) == coin
    assert isinstance(epoch_law(GaussianLaw(Fraction(1)), 5, True), EpochLaw)


RUNS: dict[str, tuple[al.Release, dict[str, Any]]] = {
    "cut": (
        al.Release(al.Gaussian(1.0), al.TruncatedPoisson(0.1, 15, 100), 10),
        {"delta": 1e-6, "adjacency": "zero-out"},
    ),
    "cut, add": (
        al.Release(al.Gaussian(1.0), al.TruncatedPoisson(0.1, 15, 100), 10),
        {"epsilon": 0.1, "adjacency": "add"},
    ),
    "cut, exchanged": (
        al.Release(al.Laplace(3.0), al.TruncatedPoisson(0.1, 15, 100), 10),
        {"epsilon": 0.2, "adjacency": "substitute"},
    ),
    "zeroed": (
        al.Release(al.Gaussian(1.0), al.FixedBatch(10, 100), 10),
        {"epsilon": 0.5, "adjacency": "zero-out"},
    ),
    "zeroed, Laplace": (
        al.Release(al.Laplace(3.0), al.FixedBatch(10, 100), 10),
        {"epsilon": 0.2, "adjacency": "zero-out"},
    ),
    "exchanged": (
        al.Release(al.Gaussian(1.0), al.FixedBatch(10, 100), 10),
        {"epsilon": 1.0, "adjacency": "substitute"},
    ),
    "shuffle": (
        al.Release(al.Gaussian(0.8), al.ShuffledEpochs(100), 3),
        {"delta": 1e-6, "adjacency": "zero-out"},
    ),
    "allocation": (
        al.Release(al.Gaussian(1.0), al.RandomAllocation(10), 3),
        {"epsilon": 1.0, "adjacency": "add-or-remove"},
    ),
}


@pytest.mark.in_turn(3)
@pytest.mark.parametrize("name", RUNS)
def test_certificates_replay_and_forgeries_do_not(name):
    run, how = RUNS[name]
    claim = al.certificate(run, **how)
    found = al.replay(al.Certificate.from_json(claim.to_json()))
    assert found.proven, str(found)
    call: Any = al.epsilon if "delta" in how else al.delta
    assert claim.bound == call(run, **how)
    low, high = claim.bound
    forged = [replace(claim, bound=al.Bound(0.0, 0.99 * low or high / 9))]
    if low < high:
        # what is true of the law above is not proven from below
        proofs = [
            replace(x, side="lower") for x in claim.proofs if x.side == "upper"
        ]
        for bound in (al.Bound(1.001 * high, math.inf),):
            if claim.asked == "epsilon":
                forged.append(
                    replace(claim, bound=bound, proofs=tuple(proofs))
                )
    more = replace(run, count=3 * run.count)
    if low > 0:
        forged.append(replace(claim, releases=(more,)))
    for other in forged:
        assert not al.replay(other).proven


def test_lower_ends_are_not_proven_with_what_dominates():
    run, how = RUNS["exchanged"]
    claim = al.certificate(run, **how)
    (above,) = (x for x in claim.proofs if x.side == "upper")
    wrong = replace(
        claim,
        bound=al.Bound(0.999 * claim.bound.upper, 1.0),
        proofs=tuple(
            replace(above, side="lower", direction=k) for k in range(10)
        ),
    )
    assert not any(step.proven for step in al.replay(wrong).steps)
    laws = run_laws([run], Adjacency.SUBSTITUTE, 1)
    assert not [
        x for x in lower_laws([run], Adjacency.SUBSTITUTE, 1) if x in laws
    ]


@pytest.mark.parametrize(
    ("sampling", "adjacency", "records"),
    [
        (al.RandomAllocation(9), Adjacency.SUBSTITUTE, 1),
        (al.RandomAllocation(9), Adjacency.REMOVE, 2),
        (al.TruncatedPoisson(0.1, 5, 60), Adjacency.REMOVE, 2),
        (al.FixedBatch(2, 9), Adjacency.ZERO_OUT, 2),
        (al.ShuffledEpochs(9), Adjacency.REMOVE, 1),
    ],
)
def test_refusals(sampling, adjacency, records):
    with pytest.raises(NotImplementedError, match="no curve in balls"):
        laws_of_release(al.Gaussian(1.0), sampling, adjacency, records)


def test_more_ways_than_there_are():
    with pytest.raises(ValueError, match="direction must"):
        Proof("lower", 10, "one run")


@pytest.mark.parametrize("adjacency", ["add", "remove"])
def test_epochs_of_a_mixture_whose_least_ratio_is_a_place(adjacency):
    """Half of the mixture does not move: nothing was known of the mass at the
    ratio 1/2, and a search for a certificate crashed."""
    mixture = al.MixtureOfGaussians([0, 1, 2], [0.5, 0.25, 0.25], 9.0)
    run = al.Release(mixture, al.RandomAllocation(50), 2)
    ask: dict[str, Any] = {"delta": 1e-3, "adjacency": adjacency}
    claim = al.certificate([run], **ask)
    assert claim.bound == al.epsilon(run, **ask)
    assert al.replay(claim).proven


def test_a_single_run_claims_what_it_shows():
    """Lists of an epoch leave out 2^-100 or so: the engine's delta of 1e-284
    is out of reach, and 1e-30 is not."""
    noise = al.DiscreteGaussian(34.0, 1)
    run = al.Release(noise, al.RandomAllocation(50))
    claim = al.certificate([run], epsilon=3.3, adjacency="remove")
    assert al.delta(run, epsilon=3.3, adjacency="remove").upper < 1e-250
    assert 0 < claim.bound.upper < 1e-29 and al.replay(claim).proven


def test_epochs_with_little_noise_leave_out_as_little_as_others():
    """Places once ended at 2^69, and noise 0.2 left out 3e-13."""
    law, loss = GaussianLaw(Fraction(25)), 55.0
    told, _ = upper_sums(law, 2, COARSE).told
    assert 0 < math.log2(told) < COARSE.bits - 99
    low, high = (EpochLaw(law, 2, x).height(ball(loss)) for x in (False, True))
    # The other ratio is nearly 0: a half of one step, at twice the ratio.
    near = law.height(ball(loss) + ball(2).log())
    assert 1e-20 < near < 1e-14
    assert low < high < 1.2 * near and 0.9 * near < high
