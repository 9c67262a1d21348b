"""A Renyi curve belongs to a class of pairs, not to those that inherit it."""

import numpy as np
import pytest

import accountlib as al
from accountlib.renyi.whole_runs import pair_rdp, taken_apart
from accountlib.several.mixtures import fifty_digits


class Louder(al.GaussianPair):
    """A pair that says more than the class it inherits from."""

    def interval_masses(self, edges, widths, closed):
        return al.GaussianPair(2 * self.mu).interval_masses(
            edges, widths, closed
        )


@pytest.mark.parametrize("rate", [None, 0.5])
@pytest.mark.parametrize("add", [False, True])
def test_a_subclass_has_no_renyi_curve(rate, add):
    pair = Louder(1.0) if rate is None else al.SampledPair(Louder(1.0), rate)
    with pytest.raises(NotImplementedError, match="Louder"):
        pair_rdp(pair.reversed() if add else pair)


def test_a_pair_is_taken_apart():
    pair = al.SampledPair(al.LaplacePair(2.0), 0.25)
    assert taken_apart(pair) == (al.LaplacePair(2.0), 0.25, 0.75, False)
    assert taken_apart(pair.reversed())[3]


def test_old_names_are_looked_up_in_the_modules():
    with pytest.warns(DeprecationWarning, match="several.mixtures import"):
        assert al.fifty_digits is fifty_digits
    assert not hasattr(al, "nothing") and not hasattr(al, "_nothing")


def test_symmetric_pairs_are_their_own_reverse():
    for pair in (al.GaussianPair(1.0), al.LaplacePair(1.0)):
        assert pair.reversed() is pair
        p, q = pair.masses(np.array([-0.5, 0.5]))
        assert np.allclose(p, q[::-1], 1e-14, 0)
