"""Pairs by name, and where their losses lie."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
import accountlib as al


def pair_of(kind, noise, rate, direction):
    mechanism = al.Gaussian(noise) if kind == "gaussian" else al.Laplace(noise)
    (pair,) = al.dominating_pairs(
        mechanism, sampling=al.Poisson(rate), adjacency=direction
    )
    return pair
