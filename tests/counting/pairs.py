"""The pairs whose tables are held to the truth."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
from typing import get_args

import accountlib as al
from accountlib.counting import any_pair, loss_tables

BOUNDS = get_args(loss_tables.BoundKind)
GAUSS, LAPLACE = al.Gaussian(1.0).pair(), al.Laplace(0.7).pair()
INFINITE = al.DiscretePair([0.5, 0.25, 0.25, 0.0], [0.25, 0.25, 0.0, 0.5])
PAIRS = {
    "gaussian": GAUSS,
    "quiet": al.Gaussian(100.0).pair(),
    "laplace": LAPLACE,
    "sampled": al.SampledPair(GAUSS, 0.01),
    "sampled add": al.SampledPair(GAUSS, 0.01).reversed(),
    "sampled laplace": al.SampledPair(LAPLACE, 0.3),
    "coin": al.RandomizedResponse(0.75).pair(),
    "infinite": INFINITE,
    "infinite add": INFINITE.reversed(),
    "sampled infinite": al.SampledPair(INFINITE, 0.25).reversed(),
    "approximate": al.ApproximateDP(0.5, 1e-5).pair(),
    "equal": al.DiscretePair([0.25, 0.75], [0.25, 0.75]),
    "apart": al.DiscretePair([1.0, 0.0], [0.0, 1.0]),
}


def tables(pair, step, **options):
    return {
        bound: al.discretize(pair, step=step, bound=bound, **options)
        for bound in BOUNDS
    }


def spread(pair):
    """How far the losses reach, to choose steps."""
    low, high = any_pair.loss_quantiles(pair, 1e-12)
    return max(high - low, abs(high), 1e-3)
