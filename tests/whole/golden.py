"""2,000 seeded questions and their answers, to the last bit.

    python tests/whole/golden.py            draw new questions, answer them
    python tests/whole/golden.py --check    compare, print what differs
    python tests/whole/golden.py --renew    answer the stored questions again

Moves, renames and splits keep every line. A change of an algorithm may move
an end by its last digits; then the file is written again, and the commit says
why. The first line tells on which arithmetic the rest was computed: exp, FFT
and sums of products differ in their last bits from one processor to another.
There only intervals are compared: they have to overlap, and not to grow.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy: threads split sums
import numpy as np
import scipy

import accountlib as al

FILE = Path(__file__).resolve().parents[1] / "data" / "golden.jsonl"
COUNT = 2000
QUICK, SLOW, FEW = 0.4, 3.0, 40  # seconds; so many questions may be slow
Question = dict[str, Any]


class TooSlow(Exception):
    """A question that would make the test wait."""


# --- from words to objects ---------------------------------------------------


def build(words: Any) -> Any:
    """An object from [class name, its arguments]; lists inside lists too."""
    if isinstance(words, list) and words and isinstance(words[0], str):
        return getattr(al, words[0])(*(build(x) for x in words[1:]))
    if isinstance(words, list):
        return [build(x) for x in words]
    return math.inf if words == "inf" else words


def told(value: Any) -> Any:
    """Numbers as hex words, bounds as pairs of them."""
    if isinstance(value, al.Bound):
        return [told(value.lower), told(value.upper)]
    if isinstance(value, np.ndarray | list | tuple):
        return [told(x) for x in value]
    if isinstance(value, float | np.floating):
        return float(value).hex()
    return value


def fingerprint() -> str:
    """A digest of what this machine's arithmetic gives."""
    x = np.linspace(0.1, 9.7, 1009)
    wave = np.exp(1j * np.multiply.outer(x[:64], x))
    parts = [np.exp(x), np.log(x), np.expm1(-x), np.log1p(x), np.sin(x)]
    parts += [scipy.special.erfcx(x), scipy.fft.rfft(x), wave @ x]
    parts += [wave[:, :500] @ wave[:, :500].T, np.arctan2(x, 1 - x)]
    digest = hashlib.sha256(f"{np.__version__} {scipy.__version__}".encode())
    for part in parts:
        digest.update(part.tobytes())
    return digest.hexdigest()[:16]


# --- what is asked -----------------------------------------------------------


def masses(x: Question) -> Any:
    sides = al.dominating_pairs(
        build(x["mechanism"]),
        sampling=build(x["sampling"]),
        adjacency=x["adjacency"],
        group_size=x["group_size"],
    )
    return [
        [pair.masses(x["edges"]), pair.infinite_mass, pair.atoms[:5]]
        + [pair.delta(e) for e in x["edges"] if e >= 0]
        for pair in sides
    ]


def table(x: Question) -> Any:
    (pair, *_) = al.dominating_pairs(
        build(x["mechanism"]),
        sampling=build(x["sampling"]),
        adjacency=x["adjacency"],
    )
    one = al.discretize(pair, step=x["step"], bound=x["bound"])
    whole = al.self_compose(one, x["count"])
    both = al.compose([one, whole])
    return [
        [t.first_index, len(t.mass), t.infinity_mass, t.delta(x["epsilon"])]
        for t in (one, whole, both)
    ]


def curve(x: Question) -> Any:
    found = al.tradeoff_curve(
        build(x["releases"]), bound=x["bound"], **words(x)
    )
    return [found(a) for a in x["at"]]


def fit(x: Question) -> Any:
    found = al.gdp(build(x["releases"]), **words(x))
    return [found.mu_lower, found.mu, found.regret, found.exact]


def renyi(x: Question) -> Any:
    found = al.rdp_curve(build(x["releases"]), **words(x))
    best = al.epsilon_from_rdp(found, delta=x["delta"])
    return [found(np.array(x["orders"])), best]


def words(x: Question) -> dict[str, Any]:
    return {k: x[k] for k in ("adjacency", "group_size")}


def noise(x: Question) -> Any:
    return al.calibrate_noise(
        epsilon=x["epsilon"],
        delta=x["delta"],
        sampling=build(x["sampling"]),
        count=x["count"],
        mechanism=getattr(al, x["mechanism"]),
        **words(x),
    )


ASK: dict[str, Callable[[Question], Any]] = {
    "epsilon": lambda x: al.epsilon(
        build(x["releases"]), delta=x["delta"], **words(x)
    ),
    "delta": lambda x: al.delta(
        build(x["releases"]), epsilon=x["epsilon"], **words(x)
    ),
    "gdp": fit,
    "tradeoff": curve,
    "renyi": renyi,
    "masses": masses,
    "table": table,
    "calibrate": noise,
}


def answer(question: Question) -> Any:
    """What the package says, or the name of its refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return told(ASK[question["ask"]](question))
        except (ValueError, NotImplementedError) as refusal:
            return type(refusal).__name__


# --- drawing questions -------------------------------------------------------


class Draw:
    """Random questions, all of them in numbers that JSON keeps."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def between(self, low: float, high: float) -> float:
        """Log-uniform, with 4 digits."""
        power = self.rng.uniform(math.log10(low), math.log10(high))
        return float(f"{10**power:.4g}")

    def one_of(self, *options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def mechanism(self) -> list[Any]:
        size = int(self.rng.integers(2, 5))
        weights = self.rng.integers(1, 10, size)
        rates = [float(x) for x in weights / weights.sum()]
        return list(
            self.one_of(
                ["Gaussian", self.between(0.3, 30)],
                ["Gaussian", self.between(0.3, 30)],
                ["Laplace", self.between(0.2, 30)],
                ["RandomizedResponse", float(self.rng.uniform(0.4, 0.99))],
                ["DiscretePair", rates, rates[::-1]],
                [
                    "MixtureOfGaussians",
                    [float(k) for k in range(size)],
                    rates,
                    self.between(0.5, 10),
                ],
                ["PureDP", self.between(0.01, 3)],
                ["ApproximateDP", self.between(0.01, 3), 1e-9],
                [
                    "DiscreteGaussian",
                    self.between(0.5, 30),
                    int(self.rng.integers(1, 4)),
                ],
                [
                    "DiscreteLaplace",
                    self.between(0.5, 30),
                    int(self.rng.integers(1, 4)),
                ],
            )
        )

    def sampling(self) -> list[Any]:
        size = int(self.between(10, 10**6))
        batch = max(1, int(size * self.between(1e-4, 0.9)))
        return list(
            self.one_of(
                ["FullBatch"],
                ["Poisson", self.between(1e-5, 0.9)],
                ["Poisson", self.between(1e-3, 0.9)],
                ["FixedBatch", batch, size],
            )
        )

    def release(self) -> list[Any]:
        count = int(self.between(1, self.one_of(20, 20_000)))
        return ["Release", self.mechanism(), self.sampling(), count]

    def releases(self) -> list[Any]:
        if self.rng.random() < 0.75:
            return self.release()
        return [self.release() for _ in range(int(self.rng.integers(1, 4)))]

    def neighbours(self) -> Question:
        directions = ("add", "remove", "add-or-remove", "substitute")
        group = self.one_of(1, 1, 1, 1, 1, 2, 7)
        return {"adjacency": self.one_of(*directions), "group_size": group}

    def question(self, ask: str) -> Question:
        question: Question = {"ask": ask} | self.neighbours()
        if ask in ("epsilon", "delta", "gdp", "tradeoff", "renyi"):
            question["releases"] = self.releases()
        else:
            question["mechanism"] = self.mechanism()
            question["sampling"] = self.sampling()
        rare = self.rng.random() < 0.15
        small = self.between(*((1e-60, 1e-12) if rare else (1e-12, 0.1)))
        large = self.one_of(0.0, self.between(0.01, 20), self.between(0.1, 5))
        if ask in ("epsilon", "renyi", "calibrate"):
            question["delta"] = self.one_of(small, small, small, small, 1.5)
        if ask in ("delta", "table", "calibrate"):
            question["epsilon"] = large
        if ask == "tradeoff":
            question["bound"] = self.one_of("lower", "upper")
            question["at"] = [1e-6, 0.01, 0.3, 0.9]
        if ask == "renyi":
            question["orders"] = [1.0, 1.5, 2.0, 7.25, 32.0, 1000.0]
        if ask == "masses":
            places = np.sort(self.rng.normal(size=6)) * self.between(1e-3, 9)
            question["edges"] = [float(f"{x:.6g}") for x in places]
        if ask == "table":
            bounds = ("upper", "lower", "buckets-upper", "buckets-lower")
            question["bound"] = self.one_of(*bounds)
            question["step"] = self.between(1e-3, 0.1)
            question["count"] = int(self.between(1, 300))
        if ask == "calibrate":
            question["mechanism"] = self.one_of("Gaussian", "Laplace")
            question["count"] = int(self.between(1, 1000))
        return question


SHARES = {
    "epsilon": 700,
    "delta": 600,
    "gdp": 100,
    "tradeoff": 100,
    "renyi": 150,
    "masses": 200,
    "table": 100,
    "calibrate": 50,
}


def too_slow(*_: object) -> None:
    raise TooSlow


def lines() -> Iterator[str]:
    """The file, line by line."""
    yield json.dumps({"arithmetic": fingerprint()})
    signal.signal(signal.SIGALRM, too_slow)
    slow = 0
    for seed, (ask, count) in enumerate(SHARES.items()):
        draw = Draw(seed)
        done = 0
        while done < count:
            question = draw.question(ask)
            signal.setitimer(signal.ITIMER_REAL, SLOW)
            start = time.perf_counter()
            try:
                found = answer(question)
            except TooSlow:
                continue
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if time.perf_counter() - start > QUICK:
                if slow == FEW:
                    continue
                slow += 1
            done += 1
            yield json.dumps(question | {"answer": found})


# --- comparing ---------------------------------------------------------------


def number(word: Any) -> float:
    return float.fromhex(word) if isinstance(word, str) else float(word)


def agree(old: Any, new: Any, exactly: bool) -> bool:
    """The same bits; or on other arithmetic, nearly the same numbers."""
    if exactly or old == new:
        return bool(old == new)
    if isinstance(old, int) and isinstance(new, int):
        return True  # where a grid begins, and its size: free choices
    if isinstance(old, list) and isinstance(new, list):
        pair = len(old) == len(new) == 2
        if pair and all(isinstance(x, str) for x in old + new):
            low, high = map(number, old)
            lower, upper = map(number, new)
            overlap = lower <= high and low <= upper
            grown = upper - lower > 2 * (high - low) + 2e-3 * abs(upper)
            return overlap and not grown
        return len(old) == len(new) and all(map(agree, old, new, [False] * 9))
    try:
        return math.isclose(number(old), number(new), rel_tol=5e-3)
    except ValueError:
        return False


def tables_agree(old: Any, new: Any) -> bool:
    """On other arithmetic: a table's cut tail is a free choice, nearly.

    It changes by a per cent with the length of a transform.
    """
    if len(old) != len(new) or not all(len(x) == 4 for x in old + new):
        return False
    tails = zip(old, new, strict=True)
    near = [
        math.isclose(number(x[2]), number(y[2]), rel_tol=2e-2)
        for x, y in tails
    ]
    rest = [[[*x[:2], x[3]] for x in tables] for tables in (old, new)]
    return all(near) and agree(rest[0], rest[1], exactly=False)


def differing(questions: list[Question], exactly: bool) -> list[str]:
    """Questions that are answered otherwise now, and how."""
    found = []
    for line in questions:
        question = {k: v for k, v in line.items() if k != "answer"}
        now = answer(question)
        same = agree(line["answer"], now, exactly)
        if not (same or exactly) and question["ask"] == "table":
            same = tables_agree(line["answer"], now)
        if not same:
            found.append(f"{question}\n  was {line['answer']}\n  is  {now}")
    return found


def stored() -> tuple[bool, list[Question]]:
    """Whether this is the file's arithmetic, and its questions."""
    first, *rest = map(json.loads, FILE.read_text().splitlines())
    return first["arithmetic"] == fingerprint(), rest


def renew(line: Question) -> str:
    question = {k: v for k, v in line.items() if k != "answer"}
    return json.dumps(question | {"answer": answer(question)})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--renew", action="store_true")
    chosen = parser.parse_args()
    if chosen.renew:
        _, questions = stored()
        renewed = [renew(question) for question in questions]
        first = json.dumps({"arithmetic": fingerprint()})
        FILE.write_text("\n".join([first, *renewed]) + "\n")
        return 0
    if chosen.check:
        exactly, questions = stored()
        print("to the last bit" if exactly else "on other arithmetic")
        found = differing(questions, exactly)
        print("\n".join(found + [f"{len(found)} of {len(questions)} differ"]))
        return 1 if found else 0
    with FILE.open("w") as file:
        for line in lines():
            file.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
