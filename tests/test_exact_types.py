"""A Renyi curve belongs to a class of pairs, not to those that inherit it."""

import pytest

from accountlib.dominating_pairs import ShiftedNoise, Subsampled
from accountlib.noise import NormalNoise
from accountlib.whole_runs import pair_rdp


class Louder(ShiftedNoise):
    """A pair that may say more than the class it inherits from."""


@pytest.mark.parametrize("log_miss", [None, -0.5])
@pytest.mark.parametrize("add", [False, True])
def test_a_subclass_has_no_renyi_curve(log_miss, add):
    pair = Louder(NormalNoise(), (1.0,))
    pair = pair if log_miss is None else Subsampled(pair, log_miss)
    with pytest.raises(NotImplementedError, match="Louder"):
        pair_rdp(pair.reversed() if add else pair)
