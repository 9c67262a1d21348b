# Generated from the notebooks by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

"""Privacy accounting with certified bounds."""

import importlib
from typing import Any

from .accountant import delta, epsilon, explain
from .calibration import calibrate, calibrate_noise
from .cells import Cells
from .checks import Bound, hear
from .composition import compose, self_compose
from .conversion import delta_from_rdp, epsilon_from_rdp
from .divergences import hockey_stick
from .dominating_pairs import DominatingPair
from .gaussian import (
    gaussian_delta,
    gaussian_epsilon,
    laplace_delta,
    monte_carlo_sample_size,
)
from .gdp import mu_from_epsilon_delta, mu_from_pure_dp
from .groups import (
    binomial_sensitivity,
    group_epsilon_vadhan,
    hypergeometric_sensitivity,
)
from .mechanisms import (
    ApproximateDP,
    DiscreteGaussian,
    DiscreteLaplace,
    DiscretePair,
    Gaussian,
    Laplace,
    PureDP,
    RandomizedResponse,
)
from .mixtures import MixtureOfGaussians
from .optimistic import discretize
from .pld import PrivacyLossDistribution
from .regret import GDPFit, gdp
from .renyi import gaussian_rdp, laplace_rdp, randomized_response_rdp
from .renyi_bounds import (
    pearson_vajda,
    poisson_rdp_terms,
    without_replacement_rdp,
)
from .renyi_sampling import poisson_rdp
from .report import PrivacyReport, report
from .sampling import (
    Adjacency,
    FixedBatch,
    FullBatch,
    Poisson,
    Release,
    dominating_pairs,
)
from .tradeoff import (
    TradeoffCurve,
    dp_tradeoff,
    gaussian_tradeoff,
    tradeoff_curve,
)
from .what_renyi_loses import kairouz_epsilon, rdp_curve

__all__ = [
    "Bound",
    "hockey_stick",
    "gaussian_delta",
    "gaussian_epsilon",
    "laplace_delta",
    "monte_carlo_sample_size",
    "Cells",
    "DominatingPair",
    "Gaussian",
    "Laplace",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DiscretePair",
    "RandomizedResponse",
    "ApproximateDP",
    "PureDP",
    "Adjacency",
    "FullBatch",
    "Poisson",
    "FixedBatch",
    "Release",
    "dominating_pairs",
    "PrivacyLossDistribution",
    "discretize",
    "self_compose",
    "compose",
    "epsilon",
    "delta",
    "explain",
    "calibrate",
    "calibrate_noise",
    "MixtureOfGaussians",
    "group_epsilon_vadhan",
    "binomial_sensitivity",
    "hypergeometric_sensitivity",
    "gaussian_rdp",
    "laplace_rdp",
    "randomized_response_rdp",
    "epsilon_from_rdp",
    "delta_from_rdp",
    "poisson_rdp",
    "poisson_rdp_terms",
    "pearson_vajda",
    "without_replacement_rdp",
    "rdp_curve",
    "kairouz_epsilon",
    "gaussian_tradeoff",
    "dp_tradeoff",
    "TradeoffCurve",
    "tradeoff_curve",
    "mu_from_pure_dp",
    "mu_from_epsilon_delta",
    "GDPFit",
    "gdp",
    "PrivacyReport",
    "report",
]
__version__ = "0.1.0"

BEYOND = {
    "best_epsilon": "beyond.best_of_several",
    "Choice": "beyond.choosing",
    "Budget": "beyond.budgets",
    "fractional_rdp": "beyond.fractional_orders",
    "RandomAllocation": "beyond.allocation",
    "ZeroedBatch": "beyond.other_samplers",
    "TruncatedPoisson": "beyond.other_samplers",
    "ShuffledEpochs": "beyond.other_samplers",
    "from_dp_event": "beyond.other_libraries",
    "from_opacus": "beyond.other_libraries",
    "verify": "beyond.verify",
    "certificate": "beyond.certificates",
}


def __getattr__(name: str) -> Any:
    """What plugs in is loaded when it is first asked for."""
    if name not in BEYOND:
        raise AttributeError(f"module 'accountlib' has no attribute {name!r}")
    home = importlib.import_module(f"accountlib.{BEYOND[name]}")
    return getattr(home, name)


def __dir__() -> list[str]:
    return [*__all__, *BEYOND]


hear(globals())
