"""What a mechanism's neighbours reach stays reached under sampling."""

from dataclasses import dataclass

import pytest

import accountlib as al
from accountlib.samplers.zeroed import BoundingPair
from accountlib.worst_cases.dominating_pairs import Mechanism

LOOSE, TRUE = al.Gaussian(0.8), al.Gaussian(1.0)


@dataclass(frozen=True)
class Bounded(Mechanism):
    """Noise 1, of which its author can prove only that of 0.8."""

    def pair(self, group_size=1):
        return BoundingPair(LOOSE.pair(), (TRUE.pair(),))


@pytest.mark.parametrize(
    "sampling",
    [al.FullBatch(), al.Poisson(0.2), al.RandomAllocation(5)],
)
@pytest.mark.parametrize("adjacency", ["add", "remove", "zero-out"])
def test_ends_are_those_of_both(sampling, adjacency):
    def bound(mechanism):
        runs = [al.Release(mechanism, sampling, count=3)]
        return al.epsilon(runs, delta=1e-5, adjacency=adjacency)

    found, loose, true = map(bound, (Bounded(), LOOSE, TRUE))
    assert found.lower <= true.upper * (1 + 1e-3)
    assert found.lower >= true.lower * (1 - 1e-3)
    assert abs(found.upper - loose.upper) <= 2e-3 * loose.upper
