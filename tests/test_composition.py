"""Sums of losses against fractions; wrap-around and round-off."""

import math
from fractions import Fraction as F

import mpmath as mp
import numpy as np
import pytest
from flint import arb, ctx, fmpz_poly
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.fft import irfft, rfft

from accountlib import composition
from accountlib.composition import (
    compose,
    self_compose,
)
from accountlib.pld import PrivacyLossDistribution

SIDES = "upper", "lower"
BITS = 240  # all masses here are whole multiples of 2^-240


def exact_sum(kinds):
    """First index and masses of the total."""
    first, unit, total = 0, 0, fmpz_poly([1])
    for pld, count in kinds:
        masses = [int(F(m) * 2**BITS) for m in pld.mass.tolist()]
        total *= fmpz_poly(masses) ** count
        first, unit = first + count * pld.first_index, unit - BITS * count
    return first, [arb((mass, unit)) for mass in total]


def exact_delta(kinds, masses, first, epsilon):
    finite, step = arb(1), arb(kinds[0][0].step)
    for pld, count in kinds:
        finite *= (1 - arb(pld.infinity_mass)) ** count
    total = 1 - finite
    for k, m in enumerate(masses):
        gap = (first + k) * step - arb(epsilon)
        if gap > 0:
            total -= m * (-gap).expm1()
    return total


def random_pld(rng, step, bound):
    weights = rng.exponential(size=rng.integers(1, 9)) ** rng.choice(
        [1, 5, 12]
    )
    weights[1:] *= rng.random(len(weights) - 1) < 0.8
    infinite = float(rng.choice([0, 1e-9, 0.01]))
    mass = weights / weights.sum() * (1 - infinite)
    mass = np.round(np.where(mass > 2.0**-140, mass, 0) * 2.0**200) / 2.0**200
    first = int(rng.integers(-6, 4))
    return PrivacyLossDistribution(step, first, mass, infinite, bound)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_sums_of_lists(seed):
    """On their side, from the bulk to 1e-25."""
    for bound in SIDES:
        rng = np.random.default_rng(seed)
        step = float(np.exp(rng.uniform(-4, 1)))
        kinds = [
            (random_pld(rng, step, bound), int(rng.choice([1, 2, 7, 25])))
            for _ in range(rng.integers(1, 3))
        ]
        total = compose([pld for pld, count in kinds for _ in range(count)])
        first, masses = exact_sum(kinds)
        places = rng.uniform(-1, 1, 3) * len(masses) * step
        places = [*places, *map(total.epsilon, (0.1, 1e-6, 1e-12, 1e-25))]
        with ctx.workprec(300):
            for at in places:
                if math.isfinite(at):
                    exact = exact_delta(kinds, masses, first, float(at))
                    found = arb(total.delta(float(at)))
                    assert found == 1 or total.side * (found - exact) >= 0
                    if exact > 1e-9:
                        assert abs(found - exact) < 1e-7 * exact


def test_what_wraps_around_is_counted():
    """A rare huge loss lies beyond the window."""
    rare = [1 - 1e-30, *np.zeros(10**5), 1e-30]
    for bound in SIDES:
        pld = PrivacyLossDistribution(0.01, 0, rare, 0.0, bound)
        total = self_compose(pld, 100)
        exact = 1e-28  # 100 chances of a loss of 1000
        assert total.side * (total.delta(5.0) / exact - 1) >= -1e-12
        assert total.side * (total.delta(500.0) / exact - 1) >= -1e-12
        assert total.delta(5.0) < 1e-7  # all frequencies matter here


def on_circle(losses, log_mass, tilt, size, side, count=1):
    part = np.array(losses), np.array(log_mass), count
    return composition.on_circle([part], tilt, np.arange(size), 1.0, side)


def test_tilted_masses_are_rounded_outward(monkeypatch):
    seen, rng = [], np.random.default_rng(1)
    monkeypatch.setattr(
        composition, "rfft", lambda x: seen.append(x) or rfft(x)
    )
    for tilt in (0.0, 0.1, 3.0):
        losses, logs = np.arange(200.0), -rng.exponential(50, 200)
        k = composition.moments([(losses, logs, 1)], tilt)[0]
        for side in (1, -1):
            on_circle(losses, logs, tilt, 200, side)
            rows = zip(losses, logs, seen[-1], strict=True)
            for x, p, mass in rows:
                true = arb(tilt) * arb(x) + arb(p) - arb(k)
                assert side * (arb(mass) - true.exp()) >= -1e-300


def test_transforms_that_err_as_far_as_assumed(monkeypatch):
    """Both put mass on an empty place; a billion times, mass is lost."""
    size, unit = 2**12, 8 * 12 * 2.0**-53
    at = np.eye(1, size, 7)[0]
    monkeypatch.setattr(composition, "rfft", lambda x: rfft(x + unit * at))
    monkeypatch.setattr(
        composition, "irfft", lambda x, n: irfft(x, n) + unit * at
    )
    assert on_circle([0.0], [0.0], 0.0, size, -1)[7] == 0
    size, unit = 2**20, 8 * 20 * 2.0**-53
    monkeypatch.undo()
    monkeypatch.setattr(composition, "rfft", lambda x: rfft(x) * (1 - unit))
    assert on_circle([0.0], [0.0], 0.0, size, 1, 10**9)[0] >= 1


def test_masses_on_one_place_and_from_outside():
    """Each small mass is lost beside the first; one below comes back."""
    n = 2 * 10**5
    logs = np.append(0.0, np.full(n, -37.5))
    assert on_circle(8.0 * np.arange(n + 1), logs, 0.0, 8, 1)[0] >= (
        1 + n * math.exp(-37.5)
    )
    losses = np.append(-100.0, np.arange(2.0**16))
    logs = np.append(math.log(4e-18), np.full(2**16, -16 * math.log(2)))
    assert on_circle(losses, logs, 0.0, 2**17, -1)[-100] == 0


def test_more_mass_than_one():
    """P-masses 0.6 at 0.01 and 0.4 at -infinity lie below this list."""
    one = PrivacyLossDistribution(0.01, 0, [0.6, 0.6], 0.0)
    assert self_compose(one, 20_000).delta(118.0) > 0.82


def test_infinite_masses():
    for p in (2.0**-60, 1e-9, 0.25, 1.0):
        for count in (1, 10, 12_345):
            for bound in SIDES:
                one = PrivacyLossDistribution(1.0, 0, [1 - p], p, bound)
                found = self_compose(one, count).infinity_mass
                with mp.workdps(60):
                    exact = 1 - (1 - mp.mpf(p)) ** count
                assert one.side * (found - exact) >= -1e-16 * found
                assert abs(found - exact) <= 1e-13 * exact
    masses = [0.3935] + [2.0**-54] * 300  # no sum of logs may lose these
    kinds = [PrivacyLossDistribution(1.0, 0, [1 - p], p) for p in masses]
    with mp.workdps(60):
        exact = 1 - math.prod(1 - mp.mpf(p) for p in masses)
    assert compose(kinds).infinity_mass >= exact
    nothing = PrivacyLossDistribution(1.0, 0, [0.0], 1.0)
    assert self_compose(nothing, 3).delta(5.0) == 1.0


def test_order_and_counts_do_not_matter():
    rng = np.random.default_rng(8)
    plds = [random_pld(rng, 0.25, "upper") for _ in range(3)]
    one, other = compose(plds * 2), compose(plds[::-1] * 2)
    assert one.first_index == other.first_index
    assert np.allclose(one.mass, other.mass, rtol=1e-9, atol=1e-15)
    assert self_compose(plds[0], 1) is plds[0] is compose([plds[0]])
    loose = PrivacyLossDistribution(0.25, 0, [1.0], 0.0, "upper", 1e-9)
    assert self_compose(loose, 1000).loss_error == pytest.approx(1e-6)


def test_what_does_not_fit_together():
    one = PrivacyLossDistribution(1.0, 0, [0.5, 0.5], 0.0)
    finer = PrivacyLossDistribution(0.5, 0, [1.0], 0.0)
    below = PrivacyLossDistribution(1.0, 0, [1.0], 0.0, "lower")
    for other, word in ((finer, "step"), (below, "bound")):
        with pytest.raises(ValueError, match=f"{word} must be the same"):
            compose([one, other])
    wide = PrivacyLossDistribution(1.0, 0, [0.5] + [0.0] * 10**5 + [0.5], 0.0)
    with pytest.raises(ValueError, match="step must be larger"):
        self_compose(wide, 10**6)
