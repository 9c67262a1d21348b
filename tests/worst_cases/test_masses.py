"""The contract of masses: every class of pair against ball arithmetic.

Random intervals, of pairs with random parameters, have to keep to half of
the errors that the pairs state. `python -m benchmarks.masses` runs the same
comparison on as many intervals as you like.
"""

import pytest

from tests.worst_cases.families import FAMILIES, INTERVALS, compare


@pytest.mark.in_turn(5)
@pytest.mark.parametrize("name", FAMILIES)
def test_masses_keep_their_contract(name):
    worst, case = compare(FAMILIES[name], INTERVALS, 1)
    assert worst <= 0.5, case
