"""Renyi curves of whole runs; optimal composition of guarantees."""

import numpy as np
import pytest
from mpmath import mp, mpf

import accountlib as al
from accountlib.dominating_pairs import ShiftedNoise, Subsampled
from accountlib.noise import NormalNoise
from accountlib.what_renyi_loses import pair_rdp
from tests.settings import ordinary, violation
from tests.test_random import releases
from tests.truth import NoTruth


def test_epsilon_is_never_below_the_truth():
    rng, asked = np.random.default_rng(300), 0
    while asked < 40:
        setting = ordinary(rng)
        who = {"adjacency": setting.adjacency}
        who["group_size"] = setting.group_size
        if setting.question == "delta":
            continue
        try:
            curve = al.rdp_curve(releases(setting), **who)
            promised = al.epsilon_from_rdp(curve, delta=setting.value)
            assert not violation(setting, 0.0, promised), setting
        except (NotImplementedError, NoTruth):
            continue
        asked += 1


def test_lines_of_normal_noise():
    """Substitution, fixed batches and groups move the sum further."""
    ask = {"adjacency": "remove"}
    line = al.rdp_curve(al.Release(al.Gaussian(1.0), count=4), **ask)
    assert line(3.0) == pytest.approx(6.0, rel=1e-14) and line(3.0) >= 6
    for run, more, shift in (
        (al.Release(al.Gaussian(2.0)), {"adjacency": "substitute"}, 1.0),
        (al.Release(al.Gaussian(2.0)), {**ask, "group_size": 6}, 3.0),
        (al.Release(al.DiscreteGaussian(2.0, 4)), ask, 2.0),
    ):
        value = al.rdp_curve(run, **more)(2.5)
        assert value == pytest.approx(1.25 * shift**2, rel=1e-14)
    fixed = al.Release(al.Gaussian(2.0), al.FixedBatch(10, 1000))
    poisson = al.Release(al.Gaussian(1.0), al.Poisson(0.01))
    both = [al.rdp_curve(x, **ask)(7.0) for x in (fixed, poisson)]
    assert both[0] == pytest.approx(both[1], rel=1e-12)


class Louder(ShiftedNoise):
    """A pair that may say more than the class it inherits from."""


@pytest.mark.parametrize(
    "pair",
    [
        Louder(NormalNoise(), (1.0,)),
        Subsampled(Louder(NormalNoise(), (1.0,)), -0.5),
        al.MixtureOfGaussians([1, 3], [0.75, 0.25], 2.0).removed(1),
        Subsampled(Subsampled(ShiftedNoise(NormalNoise(), (1.0,)), -1), -1),
    ],
)
def test_what_has_no_curve_is_refused(pair):
    for way in (pair, pair.reversed()):
        with pytest.raises(NotImplementedError, match="no Renyi DP curve"):
            pair_rdp(way)


# --- optimal composition ----------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "count", "slack"),
    [
        (2.0, 500, 1e-9),
        (11.167414672978158, 125, 0.99),
        (24.100370810506234, 83, 1.0),
        (0.01, 600, 1e-30),
        (29.552194750329672, 73, 0.8065097073436986),
        (0.5, 40, 0.4),
        (0.34779236315293616, 95, 0.48270576236416796),  # needs `off`
        (90.0, 7, 1e-200),
    ],
)
def test_optimal_composition_in_high_precision(epsilon, count, slack):
    value = al.kairouz_epsilon(epsilon, delta=0.0, count=count, slack=slack)
    with mp.workdps(400):
        e, goal = mpf(epsilon), mpf(slack)
        truth = 1 / (1 + mp.exp(-e))
        above_p = above_q = mpf(0)
        known = mpf(0)
        for i in range(count + 1):
            level = (count - 2 * i) * e
            if above_p - mp.exp(level) * above_q > goal:
                known = max(mpf(0), mp.log((above_p - goal) / above_q))
                break
            chance = mp.binomial(count, i) * truth ** (count - i)
            above_p += chance * (1 - truth) ** i
            other = mp.binomial(count, i) * (1 - truth) ** (count - i)
            above_q += other * truth**i
        assert known <= value <= known + mpf(1e-9) * (1 + known)


def test_ends_of_optimal_composition():
    def ask(epsilon, delta, slack):
        return al.kairouz_epsilon(epsilon, delta=delta, count=3, slack=slack)

    assert 6 <= ask(2.0, 0.1, 0) < 6.0001
    assert ask(0.0, 0.1, 0.1) == ask(1.0, 0.0, 1.0) == 0.0
    assert ask(0.1, 0.5, 1e-5) == ask(0.1, 0.0, 1e-5)
