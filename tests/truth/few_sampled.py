"""One subsampled Gaussian, one or two subsampled Laplace releases."""

from __future__ import annotations

from collections.abc import Sequence

import mpmath as mp

from tests.truth.one_release import gaussian_delta, gaussian_mu, laplace_delta


def sampled_gaussian_delta(
    epsilon: float, noise: float, rate: float, *, direction: str = "remove"
) -> mp.mpf:
    """delta(epsilon) of one Poisson-sampled Gaussian, about 25 digits.

    max(P - alpha Q, 0) = rate max(p - alpha' q, 0) with P = (1 - rate) q +
    rate p, Q = q and alpha' = (alpha - 1 + rate)/rate. And max(Q - alpha P,
    0) = factor max(q - alpha' p, 0) with factor = 1 - alpha (1 - rate) and
    alpha' = alpha rate/factor.
    """
    with mp.workdps(60):
        epsilon = mp.mpf(epsilon)
        factor = mp.mpf(rate)
        inner = (mp.expm1(epsilon) + factor) / factor if rate else mp.mpf(0)
        if direction == "add":
            factor = rate * mp.exp(epsilon) - mp.expm1(epsilon)
            if factor <= 0:
                return mp.mpf(0)
            inner = rate * mp.exp(epsilon) / factor
        if rate == 0 or inner <= 0:
            return max(mp.mpf(0), -mp.expm1(epsilon))
        low, high = gaussian_delta(mp.log(inner), gaussian_mu(noise))
        return factor * (low + high) / 2


def sampled_laplace_delta(
    epsilon: float,
    releases: Sequence[tuple[float, float]],
    *,
    direction: str = "remove",
) -> mp.mpf:
    """delta(epsilon) of one or two Poisson-sampled Laplace (scale, rate).

    One: closed form as in `sampled_gaussian_delta`. Two: the mean of that
    form over the loss of the first release, the atoms as they are, and the
    density by mpmath's quadrature, cut at every kink. About 25 digits.
    """
    with mp.workdps(40):
        if direction == "add":
            factor = mp.exp(epsilon)
            swapped = sampled_laplace_delta(-mp.mpf(epsilon), releases)
            return 1 - factor + factor * swapped
        (scale, rate), *rest = releases
        if not rest:
            return _one_sampled_laplace(mp.mpf(epsilon), scale, rate)
        ((scale2, rate2),) = rest
        scale, rate = mp.mpf(scale), mp.mpf(rate)
        if rate == 0:
            return _one_sampled_laplace(mp.mpf(epsilon), scale2, rate2)

        def loss(x):
            return mp.log1p(rate * mp.expm1((2 * x - 1) / scale))

        def integrand(x):
            after = _one_sampled_laplace(epsilon - loss(x), scale2, rate2)
            q, p = mp.exp(-x / scale), mp.exp((x - 1) / scale)
            return after * ((1 - rate) * q + rate * p) / (2 * scale)

        tail = mp.exp(-1 / scale) / 2
        half = mp.mpf(1) / 2
        ends = []
        for x, q, p in ((mp.mpf(0), half, tail), (mp.mpf(1), tail, half)):
            after = _one_sampled_laplace(epsilon - loss(x), scale2, rate2)
            ends.append(after * ((1 - rate) * q + rate * p))
        kinks = [mp.mpf(0), mp.mpf(1)]
        for sign in (-1, 1):
            atom = mp.log1p(mp.mpf(rate2) * mp.expm1(sign / mp.mpf(scale2)))
            inner = 1 + mp.expm1(epsilon - atom) / rate
            if inner > 0:
                x = (scale * mp.log(inner) + 1) / 2
                if 0 < x < 1:
                    kinks.append(x)
        return ends[0] + ends[1] + mp.quad(integrand, sorted(kinks))


def _one_sampled_laplace(epsilon, scale, rate):
    inner = mp.expm1(epsilon) + rate
    if rate == 0 or inner <= 0:
        return max(mp.mpf(0), -mp.expm1(epsilon))
    return rate * laplace_delta(mp.log(inner / rate), scale)
