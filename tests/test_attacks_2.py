"""A second round of attacks on the engine: what was found, each with a truth
that shares nothing with the library (fractions, mpmath, ball arithmetic).

Order: by how wrong the answer is. Every test failed when it was written.
"""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import accountlib as al
from accountlib.counting.any_pair import discretize
from accountlib.engine import single_runs, transforms
from accountlib.engine.saddle import Query
from accountlib.worst_cases import noise


def exact_delta(pairs, epsilon):
    """delta of a product of lists (p, q), every outcome by itself."""
    with mp.workdps(80):
        alpha, total = mp.exp(mp.mpf(epsilon)), mp.mpf(0)
        rows = [list(zip(p, q, strict=True)) for p, q in pairs]
        for chosen in itertools.product(*rows):
            one, other = Fraction(1), Fraction(1)
            for a, b in chosen:
                one, other = one * Fraction(a), other * Fraction(b)
            one, other = (
                mp.mpf(x.numerator) / x.denominator for x in (one, other)
            )
            total += max(one - alpha * other, 0)
        return total


# 1. Lower tables: an atom less than `hair` below a grid point counts as on it


@pytest.mark.parametrize("step", [0.1, 0.5])
@pytest.mark.parametrize("below", [1e-9, 8e-8])
def test_lower_discretization_with_an_atom_below_a_grid_point(step, below):
    loss = 6 * step - below
    likely = math.exp(loss) / (1 + math.exp(loss))
    p, q = (likely, 1 - likely), (1 - likely, likely)
    pair = al.DiscretePair(p, q)
    table = discretize(pair, step=step, bound="lower")
    for at in (pair.atoms[1], pair.atoms[1] - below / 2):
        truth = exact_delta([(p, q)], at)
        assert table.delta(at) <= truth + 1e-14


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


# 2. One large step: the sum over many kinds of steps rounds too


def many_kinds(count):
    """A step with a large loss, and others whose logarithms round up."""
    rare, small = -math.expm1(-0.0625 * (1 + 1e-12)), 1e-30
    unit = math.ulp(-math.log1p(-rare))
    kinds = [((1 - rare, rare), (1 - small, small))]
    for j in range(count):
        a, b = 0.53 * unit * (1 + j * 1e-5), small * (1 + j * 1e-6)
        kinds.append(((1 - a, a), (1 - b, b)))
    missed = math.prod(1 - Fraction(p[1]) for p, _ in kinds)
    # at epsilon 0 the test "some loss is large" is the best one
    return [al.DiscretePair(p, q) for p, q in kinds], 1 - missed


def test_large_steps_of_many_kinds():
    pairs, truth = many_kinds(600)
    p, _ = single_runs.large_steps([(x, 1) for x in pairs], np.array([5.0]))
    assert Fraction(float(p[0])) <= truth


def test_delta_of_many_kinds():
    pairs, truth = many_kinds(600)
    simple = single_runs.simple_bound(
        [(x, 1) for x in pairs], Query(None, 0.0, 1e-3)
    )
    assert Fraction(simple.lower) <= truth


# 3. The mass at infinity of a sampled pair may underflow


def test_infinite_mass_below_all_floats():
    run = al.Release(al.ApproximateDP(0.0, 1e-200), al.Poisson(1e-200))
    # the mass at infinity is 1e-400: no finite epsilon has delta = 0
    bound = al.epsilon(run, delta=0.0, adjacency="remove")
    assert bound.upper == math.inf
    assert al.delta(run, epsilon=1.0, adjacency="remove").upper > 0


# 4. Deltas below 2.2e-308 lose digits, and nobody counts them


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_single_run_below_the_normal_floats(epsilon):
    rare, other = 3e-318, 1e-319
    pair = al.DiscretePair((1.0, rare), (1.0, other))
    bound = al.delta(al.Release(pair), epsilon=epsilon, adjacency="remove")
    with mp.workdps(400):
        truth = mp.mpf(rare) - mp.exp(mp.mpf(epsilon)) * mp.mpf(other)
        assert mp.mpf(bound.lower) <= truth <= mp.mpf(bound.upper)


def test_no_upper_end_of_zero_for_unbounded_losses():
    """The list of atoms ends at 38.6 sigma; delta is 1e-610, not 0."""
    run = al.Release(al.DiscreteGaussian(0.03814070327860571, 2))
    assert al.delta(run, epsilon=4124.5, adjacency="remove").upper > 0


@pytest.mark.parametrize(("a", "b"), [(1.1e-268, 3.0), (1.7e280, 7e-9)])
def test_quotient_of_tiny_and_large_numbers(a, b):
    """Documented: about u^2 for |a| and |a/b| between 1e-270 and 1e290."""
    high, low = noise.quotient(a, b)
    found = Fraction(float(high)) + Fraction(float(low))
    assert abs(found / (Fraction(a) / Fraction(b)) - 1) < 1e-31


# 5. Crashes: rare steps, and all of a table's mass on one side of the split


def test_no_near_mass_in_a_table():
    pair = al.DiscretePair(
        (1.802762674840514e-300, 0.0, 9.135768156460191e-289, 1.0),
        (0.0, 0.2277314379143384, 0.13983961951354446, 0.6324289425721171),
    )
    run = al.Release(pair, count=2)
    at = 0.9163748169019865
    assert al.delta(run, epsilon=at, adjacency="remove").upper < 1e-10


def test_no_near_mass_in_a_sampled_table():
    pair = al.DiscretePair(
        (0.320556640625, 0.6794433593458962, 2.9103830456733704e-11),
        (0.30859375, 0.69140625, 6.462348535570529e-27),
    )
    run = al.Release(pair, al.Poisson(1.6555903742296654e-13), count=3)
    bound = al.delta(run, epsilon=1.9254096915487453e-15, adjacency="remove")
    assert bound.lower <= bound.upper < 1e-10


def test_no_near_mass_for_epsilon():
    pair = al.DiscretePair(
        (
            0.2555693381909725,
            0.09268787557796365,
            0.24452029658477858,
            0.40722248964628527,
        ),
        (
            0.25556933819132954,
            0.0926878755773215,
            0.2445202965841773,
            0.40722248964717167,
        ),
    )
    bound = al.epsilon(
        al.Release(pair), delta=2.8331174324617817e-75, adjacency="add"
    )
    both = zip(pair.p, pair.q, strict=True)
    losses = [math.log1p((b - a) / a) for a, b in both]
    assert bound.lower <= max(losses) <= bound.upper * (1 + 1e-3)


# 6. Work and memory: transforms with millions of frequencies, read 150 times


def test_frequencies_of_a_table_that_is_not_smooth(monkeypatch):
    """A million runs: 0.1 million frequencies and 147 readings; 1e7 runs
    take 54 s and 0.9 GB, 1e9 runs do not end."""
    work = 0
    reading = transforms.Spectrum.weighed

    def counted(self, epsilon):
        nonlocal work
        work += len(self.frequency)
        return reading(self, epsilon)

    monkeypatch.setattr(transforms.Spectrum, "weighed", counted)
    run = al.Release(
        al.ApproximateDP(1e-12, 1e-300), al.Poisson(1e-3), count=10**6
    )
    al.epsilon(run, delta=1e-290, adjacency="remove")
    assert work < 2.5e7


# 7. Asking for more must not give less


def test_a_narrower_wish_is_no_wider_answer():
    run = al.Release(al.Gaussian(1.0), al.Poisson(0.01), count=100)
    bound = al.epsilon(
        run, delta=1e-6, adjacency="remove", relative_width=1e-300
    )
    assert bound.width < 1e-3  # it is 0.99; with 1e-14 it is 2e-6
