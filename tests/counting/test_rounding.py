"""Every error of a composition is counted, on its safe side."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import mpmath as mp
import numpy as np
import pytest

import accountlib as al
from accountlib.counting import composition
from accountlib.engine.grids import bound_tables
from accountlib.engine.saddle import Cells

GAUSS = al.Gaussian(1.0).pair()


# --- the tilted composition and its error budget --------------------------


@pytest.mark.in_turn(3)
def test_any_infinite_keeps_its_digits():
    rng = np.random.default_rng(1341)
    for _ in range(2000):
        kinds = int(rng.integers(1, 30))
        probabilities = 10.0 ** rng.uniform(-320, 0, kinds)
        counts = (10.0 ** rng.uniform(0, 15, kinds)).astype(int)
        masses = list(
            zip(probabilities.tolist(), counts.tolist(), strict=True)
        )
        with mp.workdps(700):
            exact = -mp.expm1(
                mp.fsum(n * mp.log1p(-mp.mpf(p)) for p, n in masses)
            )
            error = abs(composition.any_infinite(masses) - exact)
            assert error <= 8 * 2.0**-53 * exact


def test_composing_ignores_the_error_state():
    with np.errstate(all="raise"):
        one = al.discretize(GAUSS, step=0.1)
        assert al.self_compose(one, 30).delta(1.0) > 0
        assert al.compose([one, one]).delta(1.0) > 0
    with pytest.raises(TypeError, match="tail_mass=..."):
        al.compose([one], 1e-3)


@pytest.mark.parametrize("rate", [0.01, 0.3, 1.0])
def test_the_rounding_of_atoms_is_in_the_budget(rate):
    """The shift of the tables covers the rounding of the losses."""
    coin = al.DiscretePair((0.7, 1 - 0.7), (0.3, 1 - 0.3))
    pair = coin if rate == 1 else al.SampledPair(coin, rate)
    look = Cells.first(pair, 1000, 1e-12)
    ends = [t.offset for t in bound_tables(look, 0.1, 1.0, -20.0)]
    moved = (ends[0] - ends[1]) / 2  # of a single step
    worst = mp.mpf(0)
    with mp.workdps(40):
        exact = [
            mp.log1p(mp.mpf(rate) * (mp.mpf(p) / mp.mpf(q) - 1))
            for p, q in zip(coin.p, coin.q, strict=True)
        ]
        for atom, loss in zip(pair.atoms, sorted(exact), strict=True):
            worst = max(worst, abs(loss - atom))
    assert worst <= moved < 1e-12
