# Generated from the notebooks by tools/tangle.py; do not edit.
# Copyright 2026 The accountlib authors. SPDX-License-Identifier: Apache-2.0

"""Privacy accounting with certified bounds."""

import importlib
import pkgutil
import warnings
from typing import Any

from .counting.any_pair import discretize
from .counting.composition import Bound
from .counting.loss_tables import PrivacyLossDistribution
from .engine.compose import compose, self_compose
from .gaussian_dp.attackers import (
    TradeoffCurve,
    dp_tradeoff,
    gaussian_tradeoff,
)
from .gaussian_dp.certified_curves import tradeoff_curve
from .gaussian_dp.one_number import mu_from_epsilon_delta, mu_from_pure_dp
from .gaussian_dp.regret import GDPFit, gdp
from .gaussian_dp.report import PrivacyReport, report
from .proofs.certificates import Certificate, replay
from .proofs.making import certificate
from .renyi.conversion import delta_from_rdp, epsilon_from_rdp
from .renyi.curves import (
    gaussian_rdp,
    laplace_rdp,
    pure_dp_rdp,
    randomized_response_rdp,
    zcdp_rdp,
)
from .renyi.few_terms import without_replacement_rdp
from .renyi.subsampling import poisson_rdp
from .renyi.whole_runs import kairouz_epsilon, rdp_curve
from .runs.calibration import calibrate, calibrate_noise
from .runs.mechanisms import (
    ApproximateDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    MixtureOfGaussians,
    PureDP,
    RandomizedResponse,
)
from .runs.one_call import delta, epsilon, explain
from .runs.releases import (
    Adjacency,
    FixedBatch,
    FullBatch,
    Poisson,
    RandomAllocation,
    Release,
    ShuffledEpochs,
    TruncatedPoisson,
)
from .runs.rules import dominating_pairs
from .worst_cases.closed_forms import (
    gaussian_delta,
    gaussian_epsilon,
    laplace_delta,
)
from .worst_cases.divergences import hockey_stick
from .worst_cases.dominating_pairs import DiscretePair, DominatingPair
from .worst_cases.noise import GaussianPair, LaplacePair
from .worst_cases.sampling import SampledPair

__all__ = [
    "hockey_stick",
    "gaussian_delta",
    "gaussian_epsilon",
    "laplace_delta",
    "DominatingPair",
    "DiscretePair",
    "GaussianPair",
    "LaplacePair",
    "SampledPair",
    "PrivacyLossDistribution",
    "discretize",
    "Bound",
    "self_compose",
    "compose",
    "Gaussian",
    "Laplace",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "RandomizedResponse",
    "ApproximateDP",
    "PureDP",
    "MixtureOfGaussians",
    "Adjacency",
    "FullBatch",
    "Poisson",
    "FixedBatch",
    "RandomAllocation",
    "TruncatedPoisson",
    "ShuffledEpochs",
    "Release",
    "dominating_pairs",
    "epsilon",
    "delta",
    "explain",
    "calibrate",
    "calibrate_noise",
    "gaussian_rdp",
    "zcdp_rdp",
    "laplace_rdp",
    "pure_dp_rdp",
    "randomized_response_rdp",
    "epsilon_from_rdp",
    "delta_from_rdp",
    "poisson_rdp",
    "without_replacement_rdp",
    "rdp_curve",
    "kairouz_epsilon",
    "gaussian_tradeoff",
    "dp_tradeoff",
    "TradeoffCurve",
    "mu_from_pure_dp",
    "mu_from_epsilon_delta",
    "tradeoff_curve",
    "GDPFit",
    "gdp",
    "PrivacyReport",
    "report",
    "Certificate",
    "replay",
    "certificate",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Names that live in a module only are found, with a warning."""
    modules = pkgutil.walk_packages(__path__, "accountlib.")
    for home in () if name.startswith("_") else [x.name for x in modules]:
        module = importlib.import_module(home)
        if name in getattr(module, "__all__", ()):
            warnings.warn(
                f"accountlib.{name}: from {home} import {name}",
                DeprecationWarning,
                stacklevel=2,
            )
            return getattr(module, name)
    raise AttributeError(f"module 'accountlib' has no attribute {name!r}")
