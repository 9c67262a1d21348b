"""How each accountant is called.

Every class has `package` (its name in requirements.txt), `load`, which
imports it and raises ImportError where it is missing, `settings`, and
`bracket(case, setting)`, which gives (lower, upper), None where the
accountant does not claim that side. A rival is called as its own
documentation does, with its own defaults but for the one setting named.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

from benchmarks.cases import Case, Step

Bracket = tuple[float | None, float | None]
Setting = float | str


class Unsupported(Exception):
    """The accountant has no such mechanism or question."""


def need_gaussian(case: Case) -> None:
    if any(step.kind != "gaussian" for step in case.steps):
        raise Unsupported("only Gaussian noise")


class Accountant:
    """Base class: the imports, and settings that fit the case."""

    package = ""
    module = ""
    default: Setting = "default"
    others: tuple[Setting, ...] = ()
    finest: Setting | None = None

    def load(self) -> Any:
        return importlib.import_module(self.module)

    def version(self) -> str:
        from importlib.metadata import version

        return version(self.package)

    def settings(self, case: Case, quick: bool) -> list[Setting]:
        if quick:
            return [self.default]
        if case.scope == "few":
            return [self.default]
        extra = [self.finest] if case.scope == "fine" and self.finest else []
        return [self.default, *self.others, *extra]

    def bracket(self, case: Case, setting: Setting) -> Bracket:
        raise NotImplementedError


class Accountlib(Accountant):
    """This library; the setting is the relative width asked for."""

    package = module = "accountlib"
    default = 1e-3

    def version(self) -> str:
        return self.load().__version__

    def settings(self, case: Case, quick: bool) -> list[Setting]:
        fine = [1e-5] if case.name in ("C3", "C4") and not quick else []
        return [self.default, *fine]

    def bracket(self, case: Case, setting: Setting) -> Bracket:
        bound = self.bound(case, float(setting))
        return bound.lower, bound.upper

    def bound(self, case: Case, width: float) -> Any:
        al = self.load()
        options = {
            "adjacency": "add-or-remove",
            "relative_width": width,
        }
        releases = [self.release(al, step) for step in case.steps]
        if case.delta is None:
            return al.delta(releases, epsilon=case.epsilon, **options)
        return al.epsilon(releases, delta=case.delta, **options)

    def release(self, al: Any, step: Step) -> Any:
        noise = al.Gaussian if step.kind == "gaussian" else al.Laplace
        sampling = al.FullBatch() if step.rate == 1 else al.Poisson(step.rate)
        return al.Release(noise(step.noise), sampling, count=step.count)


class GooglePld(Accountant):
    """Privacy loss distributions; the setting is the grid interval.

    Connect the dots from above. With `two_sided` also from below, by
    privacy buckets: the package has no connect the dots from below.
    """

    package = "dp-accounting"
    module = "dp_accounting.pld.privacy_loss_distribution"
    default = 1e-4
    others: tuple[Setting, ...] = (1e-2, 1e-3, 1e-5)
    finest: Setting | None = 1e-6

    def __init__(self, two_sided: bool = False) -> None:
        self.two_sided = two_sided
        if two_sided:
            self.others = (1e-3, 1e-5)
            self.finest = None

    def answer(
        self, case: Case, interval: float, *, upper: bool, dots: bool
    ) -> float:
        pld = self.load()
        parts = []
        for step in case.steps:
            options = {
                "pessimistic_estimate": upper,
                "value_discretization_interval": interval,
                "sampling_prob": step.rate,
                "use_connect_dots": dots,
            }
            if step.kind == "gaussian":
                one = pld.from_gaussian_mechanism(step.noise, **options)
            else:
                one = pld.from_laplace_mechanism(step.noise, **options)
            parts.append(one.self_compose(step.count))
        total = functools.reduce(pld.PrivacyLossDistribution.compose, parts)
        if case.delta is None:
            return total.get_delta_for_epsilon(case.epsilon)
        return total.get_epsilon_for_delta(case.delta)

    def bracket(self, case: Case, setting: Setting) -> Bracket:
        interval = float(setting)
        upper = self.answer(case, interval, upper=True, dots=True)
        if not self.two_sided:
            return None, upper
        return self.answer(case, interval, upper=False, dots=False), upper


class GoogleRdp(Accountant):
    """Renyi divergences, an upper bound."""

    package = "dp-accounting"
    module = "dp_accounting"

    def load(self) -> Any:
        importlib.import_module("dp_accounting.rdp")
        return super().load()

    def bracket(self, case: Case, setting: Setting) -> Bracket:
        need_gaussian(case)
        dp = self.load()
        accountant = dp.rdp.RdpAccountant()
        for step in case.steps:
            event = dp.GaussianDpEvent(step.noise)
            if step.rate < 1:
                event = dp.PoissonSampledDpEvent(step.rate, event)
            accountant.compose(event, step.count)
        if case.delta is None:
            return None, accountant.get_delta(case.epsilon)
        return None, accountant.get_epsilon(case.delta)


def error_in_epsilon(case: Case, setting: Setting) -> float:
    """The setting of both PRV accountants; "width 1e-3" uses the truth."""
    if setting != "width 1e-3":
        return float(setting)
    return 0.49e-3 * case.answer


class MicrosoftPrv(Accountant):
    """Privacy random variables; the setting is `eps_error`."""

    package = "prv-accountant"
    module = "prv_accountant"
    default = 0.1
    others = (0.01, "width 1e-3")

    def bracket(self, case: Case, setting: Setting) -> Bracket:
        need_gaussian(case)
        prv = self.load()
        steps = [
            prv.GaussianMechanism(step.noise)
            if step.rate == 1
            else prv.PoissonSubsampledGaussianMechanism(
                sampling_probability=step.rate, noise_multiplier=step.noise
            )
            for step in case.steps
        ]
        counts = [step.count for step in case.steps]
        accountant = prv.PRVAccountant(
            prvs=steps,
            max_self_compositions=counts,
            eps_error=error_in_epsilon(case, setting),
            delta_error=(case.delta or 1e-10) / 1000,
        )
        if case.delta is None:
            low, _, high = accountant.compute_delta(case.epsilon, counts)
        else:
            low, _, high = accountant.compute_epsilon(case.delta, counts)
        return low, high


class OpacusPrv(Accountant):
    """The PRV accountant of Opacus, an upper bound; `eps_error`."""

    package = "opacus"
    module = "opacus.accountants"
    default = 0.01
    others = ("width 1e-3",)

    def bracket(self, case: Case, setting: Setting) -> Bracket:
        need_gaussian(case)
        if case.delta is None:
            raise Unsupported("no delta for a given epsilon")
        accountant = self.load().PRVAccountant()
        accountant.history = [(s.noise, s.rate, s.count) for s in case.steps]
        error = error_in_epsilon(case, setting)
        return None, accountant.get_epsilon(case.delta, eps_error=error)


class Opake(Accountant):
    """Privacy loss distributions in Rust; the setting is the interval.

    The public factories for sampled Gaussians live in another package, so
    the functions of the extension module are called.
    """

    package = "opake-accounting"
    module = "opake.api.accounting.core.opake_accounting"
    default = 1e-4
    others = (1e-2, 1e-3, 1e-5)
    finest = 1e-6

    def bracket(self, case: Case, setting: Setting) -> Bracket:
        need_gaussian(case)
        opake = self.load()
        config = opake.DiscretizationConfig(discretization=float(setting))
        parts = []
        for step in case.steps:
            one = opake.gaussian_pld(step.noise, config)
            if step.rate < 1:
                one = opake.poisson_pld(one, step.rate)
            parts.append(one.self_compose(step.count))
        total = functools.reduce(opake.Pld.compose, parts)
        if case.delta is None:
            return None, total.delta_at(case.epsilon)
        return None, total.epsilon_at(case.delta)


class Autodp(Accountant):
    """Renyi divergences, an upper bound.

    The tight sampling formula of Zhu and Wang (2019), which holds for the
    Gaussian and Laplace mechanisms, is switched on.
    """

    package = "autodp"
    module = "autodp.mechanism_zoo"

    def bracket(self, case: Case, setting: Setting) -> Bracket:
        zoo = self.load()
        transform = importlib.import_module("autodp.transformer_zoo")
        sample = transform.AmplificationBySampling(PoissonSampling=True)
        mechanisms = []
        for step in case.steps:
            if step.kind == "gaussian":
                one = zoo.GaussianMechanism(step.noise, approxDP_off=True)
            else:
                one = zoo.LaplaceMechanism(step.noise)
            if step.rate < 1:
                one = sample(one, step.rate, improved_bound_flag=True)
            mechanisms.append(one)
        counts = [step.count for step in case.steps]
        total = transform.Composition()(mechanisms, counts)
        if case.delta is None:
            return None, float(total.get_approx_delta(case.epsilon))
        return None, float(total.get_approxDP(case.delta))


ACCOUNTANTS: dict[str, Accountant] = {
    "accountlib": Accountlib(),
    "dp-accounting PLD": GooglePld(),
    "dp-accounting PLD, both sides": GooglePld(two_sided=True),
    "dp-accounting RDP": GoogleRdp(),
    "prv-accountant": MicrosoftPrv(),
    "opake-accounting": Opake(),
    "autodp RDP": Autodp(),
    "opacus PRV": OpacusPrv(),
}
