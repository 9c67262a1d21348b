"""One Gaussian or Laplace release, found in two ways."""

import itertools
import math

import mpmath as mp
import pytest
from scipy import integrate
from scipy.special import ndtr

from tests import truth
from tests.truth.compared import close, swapped


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("epsilon", [-1.0, 0.0, 0.5, 2.0])
def test_gaussian_delta_agrees_with_doubles(epsilon, mu):
    plain = ndtr(mu / 2 - epsilon / mu)
    plain -= math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    low, high = truth.gaussian_delta(epsilon, mu)
    assert low <= high and abs(plain - float(low)) < 1e-14


@pytest.mark.parametrize("mu", [1e-6, 0.01, 1.0, 40.0, 1e5])
@pytest.mark.parametrize("delta", [1e-320, 1e-100, 1e-12, 1e-3])
def test_gaussian_epsilon_inverts_delta(delta, mu):
    low, high = truth.gaussian_epsilon(delta, mu)
    assert close(low, high, 20) or low == high == 0
    assert truth.gaussian_delta(high, mu)[1] <= delta
    if low > 0:
        assert truth.gaussian_delta(low, mu)[0] > delta


def test_gaussian_swap_identity():
    for epsilon, mu in [(0.3, 1e-3), (2.0, 1.0), (20.0, 3.0)]:
        low, _ = truth.gaussian_delta(epsilon, mu)
        other, _ = truth.gaussian_delta(-epsilon, mu)
        with mp.workdps(60):
            assert abs(swapped(other, epsilon) - low) < mp.mpf(10) ** -20


def test_gaussian_mu_of_many_steps():
    assert close(truth.gaussian_mu(0.5, 9), 6, 50)


@pytest.mark.parametrize("scale", [0.1, 1.0, 7.0])
@pytest.mark.parametrize("epsilon", [-20.0, -0.1, 0.0, 0.05, 0.9, 12.0])
def test_laplace_delta_is_the_area_between_the_densities(epsilon, scale):
    def positive_part(x):
        p, q = math.exp(-abs(x - 1) / scale), math.exp(-abs(x) / scale)
        return max(p - math.exp(epsilon) * q, 0.0) / (2 * scale)

    kink = min(max((epsilon * scale + 1) / 2, 0), 1)
    cuts = [-40 * scale, 0, kink, 1, 1 + 40 * scale]
    area = sum(
        integrate.quad(positive_part, a, b, epsabs=1e-13)[0]
        for a, b in itertools.pairwise(cuts)
    )
    assert abs(area - float(truth.laplace_delta(epsilon, scale))) < 1e-10
