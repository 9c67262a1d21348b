"""Random tilted tables, and their sums in exact fractions."""

import numpy as np

import accountlib as al
from accountlib.engine import one_sided


def random_tilted_table(seed, bound="upper", size=40, gaps=False):
    """A table with sum 1, tilted, somewhere on the line."""
    random = np.random.default_rng(seed)
    index = np.arange(size) - int(random.integers(0, size))
    mass = np.exp(-0.5 * ((index - index.mean()) / 6) ** 2)
    mass *= random.uniform(0.5, 1.5, size)
    if gaps:
        mass[random.random(size) < 0.3] = 0
    return one_sided.TiltedTable(
        step=float(random.uniform(0.01, 0.3)),
        offset=float(random.normal()),
        tilt=float(random.uniform(0.2, 3)),
        log_scale=float(random.normal()),
        tail=0.0,
        infinity_mass=float(random.choice([0.0, 1e-3])),
        bound=bound,
        index=index,
        mass=mass / mass.sum(),
    )


FULL, POISSON, BATCH = ("full",), ("poisson", 0.05), ("fixed", 30, 1000)
ANSWERS = [
    (al.Gaussian, "gaussian", (1.1,), POISSON, 3, 200),
    (al.Gaussian, "gaussian", (1.7,), BATCH, 2, 100),
    (al.Gaussian, "gaussian", (2.0,), FULL, 1, 9),
    (al.Laplace, "laplace", (2.0,), FULL, 2, 5),
    (al.Laplace, "laplace", (2.0,), POISSON, 1, 1),
    (al.RandomizedResponse, "response", (0.7,), POISSON, 1, 50),
    (al.ApproximateDP, "approximate", (0.5, 1e-3), FULL, 1, 3),
    (al.ApproximateDP, "approximate", (0.5, 1e-3), BATCH, 1, 2),
    (al.DiscreteGaussian, "integer gaussian", (1.5, 2), FULL, 1, 3),
    (al.DiscreteGaussian, "integer gaussian", (1.5, 1), BATCH, 1, 1),
    (al.DiscreteLaplace, "integer laplace", (2.0, 2), FULL, 2, 4),
    (al.DiscreteLaplace, "integer laplace", (2.0, 2), POISSON, 1, 3),
]
