"""Hockey-stick divergences against exact fractions."""

from fractions import Fraction
from fractions import Fraction as F

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import accountlib as al
from accountlib.worst_cases import divergences
from accountlib.worst_cases.divergences import product_minus
from tests import truth

# --- discrete -------------------------------------------------------------


def test_randomized_response_in_fractions():
    """Proposition 11 of the pitfalls paper, without tolerance."""
    mixed = (F(3, 4), F(1, 4))
    uniform = (F(1, 2), F(1, 2))
    p = [a * b for a in mixed for b in mixed]
    q = [a * b for a in uniform for b in uniform]
    assert al.hockey_stick(p, q, F(4, 3)) == F(11, 48)
    assert al.hockey_stick(q, p, F(4, 3)) == F(1, 6)
    assert al.hockey_stick(p, q, F(2)) == F(1, 16)
    assert al.hockey_stick(q, p, F(2)) == F(1, 8)
    gap = [
        al.hockey_stick(p, q, a) - al.hockey_stick(q, p, a)
        for a in (F(1), F(4, 3), F(5, 3), F(2))
    ]
    assert gap[0] == gap[2] == 0 and gap[1] > 0 > gap[3]
    # one run: remove (from mixed to uniform) is never below add
    for alpha in [F(k, 12) for k in range(12, 40)]:
        assert al.hockey_stick(uniform, mixed, alpha) >= al.hockey_stick(
            mixed, uniform, alpha
        )


def fractions_of(weights):
    total = sum(weights)
    return [F(w, total) for w in weights]


weights = st.lists(st.integers(0, 20), min_size=4, max_size=4).filter(any)
alphas = st.fractions(F(1, 50), 50, max_denominator=100)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(p=weights, q=weights, alpha=alphas)
def test_discrete_identities_in_fractions(p, q, alpha):
    p, q = fractions_of(p), fractions_of(q)
    here = al.hockey_stick(p, q, alpha)
    there = al.hockey_stick(q, p, 1 / alpha)
    assert isinstance(here, (int, F))
    assert here == 1 - alpha + alpha * there  # swap
    assert max(F(0), 1 - alpha) <= here <= 1
    assert here == truth.ExactPair.of(p, q).delta_at(alpha)
    both = al.hockey_stick(p, q, np.array([alpha, 2 * alpha], dtype=object))
    assert both[0] == here >= both[1]
    approx = al.hockey_stick(
        [float(x) for x in p], [float(x) for x in q], float(alpha)
    )
    assert abs(approx - here) < 1e-13 * (1 + alpha)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    p=weights,
    q=weights,
    alpha=alphas,
    rows=st.lists(
        st.lists(st.integers(0, 9), min_size=3, max_size=3).filter(any),
        min_size=4,
        max_size=4,
    ),
)
def test_data_processing(p, q, alpha, rows):
    """Lemma 14: a channel applied to both sides never helps."""
    p, q = fractions_of(p), fractions_of(q)
    channel = [fractions_of(row) for row in rows]
    p2, q2 = (
        [sum(x[i] * channel[i][j] for i in range(4)) for j in range(3)]
        for x in (p, q)
    )
    assert al.hockey_stick(p2, q2, alpha) <= al.hockey_stick(p, q, alpha)


def test_hockey_stick_of_floats_takes_arrays():
    alpha = np.linspace(0, 3, 7).reshape(7, 1)
    curve = al.hockey_stick([0.5, 0.5, 0.0], [0.25, 0.25, 0.5], alpha)
    assert curve.shape == (7, 1)
    assert curve[0, 0] == 1 and curve[2, 0] == 0.5 and curve[6, 0] == 0


# --- Ball arithmetic over the whole allowed range -------------------------


def test_product_minus_against_fractions():
    rng = np.random.default_rng(1305)
    for _ in range(2000):
        x, y = (float(10.0 ** rng.uniform(-60, 60)) for _ in range(2))
        z = float(x * y * (1 + rng.choice([0, 1e-16, 1e-10, 1.0])))
        exact = F(x) * F(y) - F(z)
        value = divergences.product_minus(
            np.array(x), np.array(y), np.array(z)
        )
        assert abs(F(float(value)) - exact) <= F(1, 2**51) * abs(exact)


# --- to the last bit: small and exact ----------------------------------------


def test_products_are_taken_to_the_last_bit():
    random = np.random.default_rng(5)
    x, y = 10.0 ** random.uniform(-50, 50, (2, 2000))
    rest = product_minus(x, y, x * y)
    for a, b, found in zip(x.tolist(), y.tolist(), rest.tolist(), strict=True):
        assert Fraction(found) == Fraction(a) * Fraction(b) - Fraction(a * b)
