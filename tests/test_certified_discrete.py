"""The discrete part of test_certified.py, run beside it."""

import pytest
from test_certified import (
    DISCRETE_BATCHES,
    check_random_discrete_compositions,
)


@pytest.mark.parametrize("batch", range(DISCRETE_BATCHES))
def test_random_discrete_compositions(batch):
    check_random_discrete_compositions(batch)
