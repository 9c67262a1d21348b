"""Exchanged records under Gaussian and Laplace noise, by quadrature."""

# Wrong kinds are given, and frozen fields assigned to, on purpose.
from typing import Any

import pytest
from mpmath import mp, mpf

import accountlib as al
from tests.several.exchanges import exchanged_place, pair_of

SUB: dict[str, Any] = {"adjacency": "substitute"}


# --- Gaussian and Laplace noise, by quadrature ------------------------------


class Smooth:
    """One step of added noise under Poisson sampling, in mpmath."""

    def __init__(self, kind, noise, rate):
        self.kind, self.noise = kind, mpf(noise)
        self.rate = mpf(rate)

    def density(self, z):
        if self.kind == "gaussian":
            return mp.npdf(z, 0, self.noise)
        return mp.exp(-abs(z) / self.noise) / (2 * self.noise)

    def above(self, z):
        if self.kind == "gaussian":
            return mp.erfc(z / self.noise / mp.sqrt(2)) / 2
        tail = mp.exp(-abs(z) / self.noise) / 2
        return tail if z > 0 else 1 - tail

    def mix(self, what, z, side):
        return (1 - self.rate) * what(z) + self.rate * what(z - side)

    def loss(self, z):
        up, down = (self.mix(self.density, z, s) for s in (1, -1))
        return mp.log(up / down)

    def place(self, loss):
        """The smallest z with this loss, or more."""
        if self.kind == "laplace":
            top = self.loss(mpf(1))
            if abs(loss) >= top:
                return mp.inf if loss >= top else -mp.inf
            s, g = self.noise, self.rate
            floor = 1 - g + g * mp.exp(-1 / s)
            odds = g * mp.exp(-1 / s) / floor
            z = s / 2 * mp.log(1 + mp.expm1(abs(loss)) / odds)
            return z if loss > 0 else -z
        means = [mpf(0), 1 / self.noise]
        weights = [1 - self.rate, self.rate]
        return self.noise * exchanged_place(loss, means, weights)

    def delta(self, epsilon):
        z = self.place(epsilon)
        if mp.isinf(z):
            return mpf(0) if z > 0 else -mp.expm1(epsilon)
        p, q = (self.mix(self.above, z, s) for s in (1, -1))
        return p - mp.exp(epsilon) * q

    def twice(self, epsilon, other):
        """delta after a step of this and one of `other`."""
        kinks = [mpf(0), mpf(-1), mpf(1)]
        if other.kind == "laplace":
            top = other.loss(mpf(1))
            for sign in (-1, 1):
                z = self.place(epsilon - sign * top)
                if not mp.isinf(z):
                    kinks.append(z)
        reach = 14 * self.noise + 2
        grid = sorted({*kinks, -reach, reach, -reach / 4, reach / 4})
        if self.kind == "laplace":  # beyond -1 and 1 the loss is constant
            grid = [z for z in grid if -1 <= z <= 1]

        def integrand(z):
            return self.mix(self.density, z, 1) * other.delta(
                epsilon - self.loss(z)
            )

        value = mp.quad(integrand, grid)
        if self.kind == "laplace":
            top = self.loss(mpf(1))
            value += self.mix(self.above, mpf(1), 1) * other.delta(
                epsilon - top
            )
            value += self.mix(self.above, mpf(1), -1) * other.delta(
                epsilon + top
            )
        return value


NAMES = {"gaussian": al.Gaussian, "laplace": al.Laplace}


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("rate", [1e-6, 0.01, 0.5, 0.999])
@pytest.mark.parametrize("noise", [0.02, 0.3, 1.0, 10.0])
def test_one_step(kind, rate, noise):
    run = al.Release(NAMES[kind](noise), al.Poisson(rate))
    with mp.workdps(50):
        one = Smooth(kind, noise, rate)
        top = float(one.loss(mpf(1)))
        for epsilon in (0.0, 0.1 * top, 0.9 * top):
            known = one.delta(mpf(epsilon))
            bound = al.delta(run, epsilon=epsilon, **SUB)
            assert bound.lower <= known * (1 + mpf(10) ** -30)
            assert known <= bound.upper * (1 + mpf(10) ** -30)
            if bound.width > 2e-3 and known > 1e-50:  # as remove, at most
                less = al.delta(run, epsilon=epsilon, adjacency="remove")
                assert bound.width <= 3 * less.width
            pair = pair_of(run.mechanism, run.sampling)
            assert pair.delta(epsilon) == pytest.approx(
                float(known), rel=1e-8, abs=4e-15
            )


@pytest.mark.in_turn(3)
@pytest.mark.parametrize(
    ("kinds", "noises", "rates"),
    [
        (("gaussian", "gaussian"), (1.0, 1.0), (0.25, 0.25)),
        (("gaussian", "gaussian"), (0.5, 2.0), (0.01, 0.9)),
        (("laplace", "laplace"), (1.0, 1.0), (0.5, 0.5)),
        (("laplace", "laplace"), (0.25, 3.0), (0.1, 0.99)),
        (("laplace", "gaussian"), (1.0, 1.0), (0.5, 0.5)),
        (("laplace", "laplace"), (0.02, 0.02), (0.25, 0.25)),
    ],
)
def test_two_steps(kinds, noises, rates):
    runs = [
        al.Release(NAMES[k](s), al.Poisson(g))
        for k, s, g in zip(kinds, noises, rates, strict=True)
    ]
    with mp.workdps(20):
        one, two = map(Smooth, kinds, noises, rates)
        for epsilon in (0.0, 0.4, 1.1):
            known = one.twice(mpf(epsilon), two)
            bound = al.delta(runs, epsilon=epsilon, **SUB)
            assert bound.lower <= known * (1 + 1e-9)
            assert known <= bound.upper * (1 + 1e-9)
            if known > 1e-200:
                assert bound.width <= 2e-3


def test_small_laplace_noise_many_times():
    """What is known for remove is a lower bound for an exchange."""
    for scale, rate in ((0.01, 0.5), (0.0169, 0.0107), (0.003, 1e-3)):
        run = al.Release(al.Laplace(scale), al.Poisson(rate), 20)
        less = al.delta(run, epsilon=0.1, adjacency="remove")
        more = al.delta(run, epsilon=0.1, **SUB)
        assert more.upper >= less.lower
        # a union bound: in each step one of the two is seen
        assert more.lower <= 1 - (1 - rate) ** 40


def test_large_laplace_noise_many_times():
    """Rates and noise at which a loss is hardly a float."""
    run = al.Release(al.Laplace(3686.9), al.Poisson(1.57e-9), 100)
    bound = al.delta(run, epsilon=0.0, **SUB)
    assert bound.lower <= 100 * 2 * 1.57e-9 / 3686.9
    assert bound.upper <= 1e-6
