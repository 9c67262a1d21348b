"""Choices, against fractions, mpmath and grids."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import accountlib as al
from accountlib.beyond import choosing


@pytest.mark.parametrize("most", [1e-6, 0.1, 1.0, 5.0, 60.0])
def test_the_pair_of_the_class(most):
    pair = choosing.ChoicePair(most)
    with mpmath.workdps(40):
        e = mpmath.mpf(most)
        edges = np.array([-1.5, -0.5, -0.1, 0.0, 0.7, 1.2]) * most
        inner = np.clip(edges, -most, most)
        with np.errstate(divide="ignore"):  # cells that are clipped away
            cells = pair.cells(np.concatenate([[-most], inner, [most]]))
        p, q = np.exp(cells.log_p), np.exp(cells.log_q)
        cut = [max(min(mpmath.mpf(v), e), -e) for v in (-2 * most, *edges)]
        cut.append(e)
        for k, (low, high) in enumerate(itertools.pairwise(cut)):
            scale = 2 * mpmath.sinh(e / 2)
            of_p = (mpmath.exp(high / 2) - mpmath.exp(low / 2)) / scale
            of_q = (mpmath.exp(-low / 2) - mpmath.exp(-high / 2)) / scale
            for found, true in ((p[k], of_p), (q[k], of_q)):
                assert found == true or (
                    abs(found - true) <= cells.mass_error[k] * true
                )
    assert abs(p.sum() - 1) < 1e-13 and abs(q.sum() - 1) < 1e-13


@pytest.mark.parametrize("most", [0.01, 1.0, 8.0])
def test_renyi(most):
    """Above all tops, and reached; never above the line of zCDP."""
    tops = np.linspace(0, most, 4001)[1:-1]
    p = np.expm1(tops - most) / math.expm1(-most)
    for order in (1.0, 1.01, 1.5, 2.0, 4.0, 8.0, 64.0, 1e4, np.inf):
        found = choosing.choice_rdp(order, bounded_range=most)
        assert found <= order * most**2 / 8 * (1 + 1e-14)
        if order == np.inf:
            assert found == most
            continue
        if order == 1:
            exact = p * tops + (1 - p) * (tops - most)
        else:
            terms = np.log([p, 1 - p]) + (order - 1) * np.array(
                [tops, tops - most]
            )
            exact = np.logaddexp(*terms) / (order - 1)
        assert np.max(exact) <= found * (1 + 1e-9)
        if 1.5 <= order <= 64 and most >= 1:
            assert np.max(exact) >= found * (1 - 1e-5)


@pytest.mark.parametrize("most", [40.0, 100.0])
def test_long_ranges(most):
    """Masses next to 1 were rounded above it, and the calls stopped."""
    for top in np.linspace(0, most, 401)[1:-1].tolist():
        pair = choosing.two_candidates(top, bounded_range=most)
        t, e = mpmath.mpf(top), mpmath.mpf(most)
        with mpmath.workdps(80):
            p = (1 - mpmath.exp(t - e)) / (1 - mpmath.exp(-e))
            true = [p, 1 - p], [mpmath.exp(-t) * p, 1 - mpmath.exp(-t) * p]
        laws = np.exp(np.array(pair.rows)[::-1, 2:].T)
        for found, exact in zip(laws, true, strict=True):
            assert np.allclose(found, [float(x) for x in exact], 1e-13, 0)
    for k in (1, 3, 300):
        for x in (0.0, min(0.3 * most * k, 1e3), min(0.99 * most * k, 1e3)):
            bound = choosing.choices_delta(x, bounded_range=most, count=k)
            assert 0 <= bound.lower <= bound.upper <= 1
    many = choosing.choices_epsilon(1e-6, bounded_range=most, count=10_000)
    assert 0.5e4 * most * 0.8 < many.lower < many.upper < 1e4 * most


@pytest.mark.parametrize("count", [1, 7])
def test_a_choice_among_others(count):
    """Its interval contains what data attain, beside another release."""
    ask = {"delta": 1e-4, "adjacency": "add-or-remove"}
    choice, rest = choosing.Choice(0.5), al.Release(al.Laplace(4.0))
    run = al.Release(choice, count=count)
    found, both = (al.epsilon(x, **ask) for x in (run, [run, rest]))
    alone = choosing.choices_epsilon(1e-4, bounded_range=0.5, count=count)
    assert found.lower <= alone.upper and alone.lower <= found.upper
    for top in (0.1, 0.3, 0.499):
        pair = choosing.two_candidates(top, bounded_range=0.5)
        lists = np.exp(np.array(pair.rows)[:, 2:].T)
        attained = [al.Release(al.DiscretePair(*lists), count=count), rest]
        assert al.epsilon(attained, **ask).lower <= both.upper
    known = count * choosing.choice_rdp(8.0, bounded_range=0.5)
    known += al.laplace_rdp(8.0, scale=4.0)
    curve = al.rdp_curve([run, rest], adjacency="zero-out")
    assert known <= curve(8.0) <= known * 1.001
    for sampling, size in ((al.Poisson(0.1), 1), (al.FullBatch(), 2)):
        with pytest.raises(NotImplementedError, match="groups or on sam"):
            al.epsilon(al.Release(choice, sampling), group_size=size, **ask)


@pytest.mark.parametrize("count", [3, 5, 10])
def test_delta_next_to_the_largest_loss(count):
    """count times the range was rounded down to x: an upper end of 0."""
    for most in (0.1 + 0.03 * k for k in range(40)):
        gap = count * Fraction(most) - Fraction(count * most)
        if gap > 0:
            break
    each = gap / (2 * count)  # choices with the loss most - each
    least = float(each) ** count * float(gap) / 4
    found = choosing.choices_delta(
        count * most, bounded_range=most, count=count
    )
    assert found.upper > least > 0
