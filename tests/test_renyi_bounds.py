"""Bounds with few terms are above those with all of them."""

import math
from functools import partial

import numpy as np

import accountlib as al
from accountlib import renyi_bounds

gaussian = partial(partial, al.gaussian_rdp)  # gaussian(noise_multiplier=2)
laplace = partial(partial, al.laplace_rdp)
response = partial(partial, al.randomized_response_rdp)


def test_order_of_the_bounds():
    """Few terms >= all terms, general >= tight >= 0, and Remark 7."""
    rng = np.random.default_rng(11)
    for _ in range(100):
        noise = float(np.exp(rng.uniform(np.log(0.2), np.log(50))))
        rate = float(np.exp(rng.uniform(np.log(1e-8), 0)))
        order = np.exp(rng.uniform(np.log(1.1), np.log(2000), 10))
        order = np.where(rng.random(10) < 0.3, order, np.round(order) + 1)
        terms = int(np.exp(rng.uniform(0, np.log(60))))
        curve = (
            gaussian(noise_multiplier=noise),
            laplace(scale=noise),
            response(truth_probability=1 / (1 + math.exp(1 / noise))),
        )[int(rng.integers(3))]
        setting = (noise, rate, order, terms, curve)
        tight, general = (
            al.poisson_rdp(order, rdp=curve, rate=rate, bound=bound)
            for bound in ("tight", "general")
        )
        few, many = (
            renyi_bounds.poisson_rdp_terms(
                order, rdp=curve, rate=rate, terms=terms, bound=bound
            )
            for bound in ("tight", "general")
        )
        assert np.all((0 <= tight) & (tight <= general)), setting
        assert np.all((tight <= few) & (general <= many)), setting
        assert np.all(few <= many), setting
        whole = tight <= curve(order) * (1 + 1e-12)
        assert np.all(whole | (order < 2)), setting
        room = math.log(3) / np.maximum(np.floor(order) - 1, 1)
        near = general <= tight * (1 + 1e-12) + room
        assert np.all(near | (order < 2)), setting


def step_curve(order, place, height):
    """0 up to some order, then constant."""
    return np.where(np.asarray(order) <= place, 0.0, height)


def test_few_terms_are_above_all_terms_at_the_extremes():
    """Middles below 1e-308 times huge factors, and hardly any loss."""
    tau, rate = 1674, 1e-3
    curve = partial(
        step_curve, place=tau, height=math.log(0.251 / rate * (1 - rate))
    )
    settings = [(curve, 2 * tau + 1, rate, tau)]
    bias = 5.12181622e-8
    settings += [
        (response(truth_probability=0.5 + bias), 150, 0.99997718333, 1),
        (laplace(scale=770667.157), 519, 0.9999997552326, 1),
        (gaussian(noise_multiplier=59.544), 129466, 1.1770954e-8, 39813),
        (gaussian(noise_multiplier=1e6), 3000, 1 - 1e-8, 2),
        (gaussian(noise_multiplier=1e4), 3000, 1e-160, 2),
    ]
    for curve, order, rate, terms in settings:
        for bound in ("tight", "general"):
            all_of_them = al.poisson_rdp(
                order, rdp=curve, rate=rate, bound=bound
            )
            few = renyi_bounds.poisson_rdp_terms(
                order, rdp=curve, rate=rate, terms=terms, bound=bound
            )
            assert few >= all_of_them, (order, rate, terms, bound)


def test_no_curve_is_0_where_the_truth_is_not():
    """A chord between whole orders, or the end at infinity, was 0."""
    orders = np.array([1.0, 1.5, 2.0, 2.5, 3.0, 7.3, 1e4 + 0.5, math.inf])
    for value in (5e-324, 1e-310, 1e-200):

        def curve(order, value=value):
            return np.full(np.shape(order), value)

        for rate in (5e-324, 1e-200, 1e-10, 0.5):
            for found in (
                al.without_replacement_rdp(orders, rdp=curve, rate=rate),
                al.poisson_rdp(orders, rdp=curve, rate=rate),
                renyi_bounds.poisson_rdp_terms(
                    orders, rdp=curve, rate=rate, terms=1
                ),
            ):
                assert np.all(found > 0)
