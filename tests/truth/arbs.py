"""From mpmath to ball arithmetic and back, without an error."""

from __future__ import annotations

from typing import Any

import mpmath as mp
from flint import arb, ctx, fmpz
from mpmath.libmp import from_man_exp


def exact_ball(x: float | mp.mpf) -> Any:
    """A finite float, or number of mpmath, as the ball of radius 0."""
    sign, man, exp, _ = mp.mpmathify(x)._mpf_
    return arb((fmpz(int(-man if sign else man)), fmpz(int(exp))))


def as_mpf(x: Any) -> mp.mpf:
    """The middle of a ball, every bit of it."""
    man, exp = x.mid().man_exp()
    return mp.make_mpf(from_man_exp(int(man), int(exp)))


def ends(x: Any) -> tuple[mp.mpf, mp.mpf]:
    """Both ends of a ball, rounded outward in the precision of flint."""
    return as_mpf(x.lower()), as_mpf(x.upper())


def erfc(x: mp.mpf) -> mp.mpf:
    """That of mpmath, in its precision and a third of its time."""
    if mp.isinf(x):
        return mp.erfc(x)
    with ctx.workprec(mp.mp.prec + 20):
        return as_mpf(exact_ball(x).erfc())
