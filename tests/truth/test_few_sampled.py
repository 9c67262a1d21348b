"""Two sampled Laplace releases against a plain sum."""

import math

import numpy as np
import pytest

from tests import truth
from tests.truth.compared import close


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_two_sampled_laplace_against_a_plain_sum(direction):
    """A midpoint sum over both outputs, which knows nothing of losses."""
    releases = [(1.0, 0.3), (0.5, 0.8)]
    epsilon = 0.2
    joint_p, joint_q = np.ones((1, 1)), np.ones((1, 1))
    for axis, (scale, rate) in enumerate(releases):
        cells = 1200
        x = (np.arange(cells) + 0.5) / cells
        q = np.exp(-x / scale) / (2 * scale * cells)
        p = np.exp((x - 1) / scale) / (2 * scale * cells)
        tail = math.exp(-1 / scale) / 2
        q = np.concatenate([[0.5], q, [tail]])
        p = np.concatenate([[tail], p, [0.5]])
        shape = (-1, 1) if axis == 0 else (1, -1)
        joint_q = joint_q * q.reshape(shape)
        joint_p = joint_p * ((1 - rate) * q + rate * p).reshape(shape)
    if direction == "add":
        joint_p, joint_q = joint_q, joint_p
    plain = np.maximum(joint_p - math.exp(epsilon) * joint_q, 0).sum()
    exact = truth.sampled_laplace_delta(epsilon, releases, direction=direction)
    assert abs(plain - float(exact)) < 1e-6


def test_sampled_laplace_at_the_ends():
    assert truth.sampled_laplace_delta(0.5, [(1.0, 0.0)]) == 0
    one = truth.sampled_laplace_delta(0.3, [(1.0, 0.4)])
    for pair in ([(1.0, 0.4), (2.0, 0.0)], [(2.0, 0.0), (1.0, 0.4)]):
        assert close(truth.sampled_laplace_delta(0.3, pair), one, 20)
