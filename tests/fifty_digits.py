"""Masses and losses of moved noise to fifty digits, by formulas of their own.

Floats are the binary fractions that they are; `exact(a) / exact(b)` is the
quotient that a float shift stands for.
"""

from mpmath import mp

mp.dps = 50
UNIT = 2.0**-53
SMALL = mp.mpf(10) ** -45


def exact(x):
    return mp.mpf(x)


class Normal:
    whole = False

    def tail(self, z):
        """P(Z > z) for z >= 0."""
        return mp.erfc(z / mp.sqrt(2)) / 2

    def log_density(self, z):
        return -(z**2) / 2


class Laplace:
    whole = False

    def tail(self, z):
        return mp.exp(-z) / 2

    def log_density(self, z):
        return -abs(z)


class WholeLaplace:
    whole = True

    def __init__(self, scale):
        self.scale = exact(scale)

    def tail(self, z):
        power = mp.ceil(z) / self.scale
        return mp.exp(-power) / (1 + mp.exp(-1 / self.scale))

    def log_density(self, z):
        return -abs(z) / self.scale


class WholeNormal:
    whole = True

    def __init__(self, sigma):
        self.sigma, self.sums = exact(sigma), {}

    def log_density(self, z):
        return -((z / self.sigma) ** 2) / 2

    def from_on(self, k):
        """Sum of e^(-z^2/(2 sigma^2)) over z >= k, until terms vanish."""
        if k not in self.sums:
            total, z = mp.mpf(0), k
            first = mp.exp(self.log_density(k))
            while (term := mp.exp(self.log_density(z))) > first * SMALL:
                total, z = total + term, z + 1
            self.sums[k] = total
        return self.sums[k]

    def tail(self, z):
        return self.from_on(int(mp.ceil(z))) / (2 * self.from_on(0) - 1)


def mass(noise, a, b):
    """The noise's mass between a < b; ends may be infinite."""
    far_a, far_b = (
        noise.tail(abs(x)) if mp.isfinite(x) else 0 for x in (a, b)
    )
    if a < 0 < b:
        return 1 - far_a - far_b
    return far_a - far_b if a >= 0 else far_b - far_a


class Mixture:
    """Noise moved by shifts with weights."""

    def __init__(self, noise, shifts, weights):
        self.noise, self.parts = noise, list(zip(shifts, weights, strict=True))

    def mass(self, a, b):
        a, b = exact(a), exact(b)
        return sum(w * mass(self.noise, a - m, b - m) for m, w in self.parts)

    def log_density(self, z):
        """log of the density or probability at z, up to a constant."""
        logs = [
            mp.log(w) + self.noise.log_density(z - m) for m, w in self.parts
        ]
        top = max(logs)
        return top + mp.log(sum(mp.exp(x - top) for x in logs))


def share(off, error):
    return off / error if off > 1e-40 else 0.0


def outside(cells, edges, p, q):
    """The largest error of each kind as a share of its bound; at most 1.

    `p` and `q` are mixtures; the ends are tried at edges, or at the whole
    numbers next to them. Ends must be outside of exact losses.
    """
    worst = {"mass": 0.0, "loss": 0.0}
    for i, (a, b) in enumerate(zip(edges[:-1], edges[1:], strict=True)):
        true = [x.mass(a, b) for x in (p, q)]
        logs = cells.log_p[i], cells.log_q[i]
        for value, t in zip(logs, true, strict=True):
            off = abs(float(exact(value) - mp.log(t)))
            worst["mass"] = max(worst["mass"], share(off, cells.mass_error[i]))
        loss = mp.log(true[0] / true[1])
        off = abs(float(exact(cells.loss[i]) - loss))
        worst["loss"] = max(worst["loss"], share(off, cells.loss_error[i]))
        if p.noise.whole:
            a, b = mp.ceil(exact(a)), mp.floor(exact(b))
        for z, end, sign in ((a, cells.left[i], 1), (b, cells.right[i], -1)):
            if mp.isfinite(z):
                z = exact(z)
                at = p.log_density(z) - q.log_density(z)
                assert sign * (at - exact(end)) >= -SMALL, (i, z, end, at)
            assert sign * (loss - exact(end)) >= -SMALL, (i, z, end)
    return worst
