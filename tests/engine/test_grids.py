"""Grids: tails that are cut, atoms on points, room for few points."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import math
from fractions import Fraction

import pytest

import accountlib as al
from accountlib.counting.loss_tables import GridTooFine
from accountlib.engine import grids, one_sided, saddle
from accountlib.engine.grids import cut_tails
from accountlib.engine.saddle import Cells, Query
from accountlib.engine.search import first_look
from tests.engine.exact_sums import exact_delta


@pytest.mark.parametrize("rate", [1e-5, 0.01, 1.0])
@pytest.mark.parametrize("tilt", [0.5, 4.0])
def test_cut_tails_are_bounded(rate, tilt):
    """The bound of the tilted mass outside, against quadrature."""
    import mpmath as mp

    base = al.GaussianPair(1.0)
    pair = base if rate == 1 else al.SampledPair(base, rate)
    part = Cells.first(pair, 1, 1e-40).finer(tilt, 1e-40)
    low, high, tail = cut_tails(part, tilt, math.log(1e-6))
    top = float(part.edges[-1])

    def tilted(z):
        ratio = 1 - rate + rate * mp.exp(z - mp.mpf(1) / 2)
        density = mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi)
        inside = low < mp.log(ratio) <= high or mp.log(ratio) > top
        return mp.mpf(0) if inside else density * ratio ** (tilt + 1)

    def whole(z):
        ratio = 1 - rate + rate * mp.exp(z - mp.mpf(1) / 2)
        return mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi) * ratio ** (tilt + 1)

    grid = [mp.mpf(k) / 4 for k in range(-80, 121)]
    outside = sum((tilted(a) + tilted(a + 0.125)) / 8 for a in grid)
    norm = mp.quad(whole, [-20, -5, 0, 5, 10, 30])
    assert outside / norm <= tail * 1.5 + 1e-12  # a rough sum of cells
    assert tail < 1e-4


def test_lists_without_atoms_and_atoms_without_tilted_mass():
    """A pair may have infinite losses only; a tilt may leave one atom."""
    nothing = al.Release(al.DiscretePair((0.0, 1.0), (1.0, 0.0)), count=4)
    other = al.Release(
        al.DiscretePair((0.5, 0.3, 0.2), (0.2, 0.3, 0.5)),
        al.Poisson(0.9999977513306282),
        8,
    )
    bound = al.delta([nothing, other], epsilon=0.0, adjacency="add-or-remove")
    assert bound == al.Bound(1.0, 1.0)
    part = saddle.Cells.first(nothing.mechanism.pair(), 4, 1e-30)
    assert grids.heaviest(part, 1.0, 0.0) == ()
    run = al.Release(al.RandomizedResponse(0.6), al.Poisson(1e-3), 10)
    bound = al.epsilon(run, delta=1e-9, adjacency="remove")
    assert bound.contains(4.98926e-3) and bound.width < 1e-3


def test_few_points_and_little_memory_beside_atoms():
    """Lists of atoms make no grid longer than a table may be."""
    pair = al.SampledPair(al.DiscreteGaussian(5e3).pair(), 1e-3)
    part = saddle.Cells.first(pair, 10, 1e-300)
    low, high = float(part.edges[0]), float(part.edges[-1])
    try:
        points = grids.graded_points(part, 1.0, 1e-9, 0.0, -1e-3, high)
        assert len(points) <= one_sided.MOST_POINTS
    except GridTooFine:
        pass
    assert low < 0
    step = grids.aligned_step(
        1e-4,
        30 * [al.DiscretePair([0.6, 0.3, 0.1], [0.1, 0.3, 0.6])],
        (),
        0.01,
    )
    assert 0 < step <= 1e-4


# --- found by attacks --------------------------------------------------------


@pytest.mark.parametrize(
    ("p", "q", "count", "epsilon"),
    [
        (
            (0.02328957923094488, 0.9767104207685664, 4.887201754399939e-13),
            (0.011644789615474771, 0.48835521038452523, 0.5),
            8,
            5.545177444475716,
        ),
        (
            (0.02049750442689724, 0.979502495573021, 8.171241461241152e-14),
            (0.010248752213446455, 0.48975124778655355, 0.5),
            3,
            2.0794415416796173,
        ),
        (
            (
                0.3837017837149732,
                0.016334434585333568,
                0.49233070692835224,
                0.10763307477134099,
            ),
            (
                0.3837924892513431,
                0.016338295979033468,
                0.49225310523812826,
                0.10761610953149514,
            ),
            1,
            0.0001576334882327714,
        ),
    ],
)
def test_two_atoms_a_hair_apart(p, q, count, epsilon):
    assert sum(map(Fraction, p)) == sum(map(Fraction, q)) == 1
    run = al.Release(al.DiscretePair(p, q), count=count)
    bound = al.delta(run, epsilon=epsilon, adjacency="remove")
    truth = exact_delta([(p, q)] * count, epsilon)
    assert bound.lower <= truth <= bound.upper


# --- found by a referee ------------------------------------------------------


def test_an_answer_where_a_grid_of_two_is_too_fine():
    """Upper ends inf of both parts made a share inf/inf, and a crash."""
    run = [
        al.Release(al.Gaussian(1.4), al.Poisson(1.5e-8)),
        al.Release(al.PureDP(1e-6)),
    ]
    bound = al.delta(run, epsilon=1e-3, adjacency="remove")
    assert 0 <= bound.lower <= bound.upper <= 1


def test_no_more_grid_points_than_allowed():
    """Stretches too short for their width were filled with narrow cells."""
    p = (0.375, 0.0625, 0.0078125, 0.1796875, 0.375)
    q = (0.125, 0.3125, 0.2578125, 0.1796875, 0.125)
    pair = al.SampledPair(al.DiscretePair(p, q), 1e-8)
    look = first_look([(pair, 1)], Query(None, 2e-8, 1e-3), 1.5e-8)
    part = look.cells[0]
    low, high = pair.loss_range
    for step in (1e-12, 1e-13, 1e-14, 1e-15):
        try:
            points = grids.graded_points(part, 1e-5, step, 0.0, low, high)
        except GridTooFine:
            continue
        assert len(points) <= 2 * one_sided.MOST_POINTS
