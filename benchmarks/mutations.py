"""Break one token of the package, and see whether a test notices.

    python benchmarks/mutations.py --count 60              a seeded sample
    python benchmarks/mutations.py --only 17               one, with its diff
    python benchmarks/mutations.py --list                  all of them

The mutants are in the functions that a bound rests on, named in TARGETS:
signs, comparisons, minimum and maximum, all and any, constants. Each is
tried on a copy of the package with a short selection of tests. Prints what
survived and writes mutations.json beside this file. EQUIVALENT names the
mutants that change no answer, or only make it safer, with the reason.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cases import ROOT

RESULTS = Path(__file__).resolve().parent / "mutations.json"
FIRST = "tests/test_mutants.py"  # quick, written against survivors

# module: functions or classes
TARGETS: dict[str, list[str]] = {
    "intervals": [
        *("bound_tables", "add_tables", "log_transform", "slow_transform"),
        *("fast_transform", "tail_window", "smooth_parts", "log_decay"),
        *("highest_frequency", "read_delta", "read_epsilon", "Spectrum"),
        *("TiltedTable", "OneSided", "sums", "tilt_masses", "limited"),
        *("known_answer", "infinite_bound", "loss_ceiling", "grid_offset"),
        *("reached_ways", "bounded_answer", "answer"),
    ],
    "privacy_loss": [
        *("upper_share", "lower_share", "convex_hull", "drop_negative"),
        "mass_error",
    ],
    "composition": ["any_infinite", "log_peak", "delta_side"],
    "worst_case_pairs": [
        *("atom_masses", "normal_masses", "GaussianPair", "LaplacePair"),
        *("SampledPair", "DiscretePair", "ReversedPair", "single_pair"),
        *("DiscreteGaussian", "DiscreteLaplace", "ApproximateDP"),
    ],
    "group_privacy": [
        *("MixturePair", "MostlySampledPair", "mixture_pair"),
        *("weights_from_ratios", "hypergeometric_sensitivity"),
        *("binomial_sensitivity", "unsampled_group_pair"),
    ],
    "sampling_pitfalls": [
        *("ExchangedPair", "ExchangedLaplaceHalf", "MirroredPair"),
        *("exchanged_batch_pair", "integer_exchange_pair"),
    ],
    "gaussian_dp": [
        *("polygon_corners", "both_signs", "lower_kinks", "largest_mu"),
        *("largest_rate", "regret_bound", "mu_from_errors"),
    ],
}
# tests of a module, the quickest first
TESTS = {
    "intervals": ["test_intervals"],
    "privacy_loss": ["test_privacy_loss", "test_intervals"],
    "composition": ["test_composition", "test_intervals"],
    "worst_case_pairs": ["test_worst_case_pairs", "test_masses"],
    "group_privacy": ["test_group_privacy", "test_masses"],
    "sampling_pitfalls": ["test_sampling_pitfalls", "test_masses"],
    "gaussian_dp": ["test_gaussian_dp"],
}
ALL_END_WITH = "test_violations"

# (function, line, old, new): why no test can see it
EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    (
        "MixturePair",
        "if np.all(np.abs(move) <= 1e-10 * (1e-3 + np.abs(z))):",
        "1e-3",
        "0",
    ): "one more move near z = 0",
    (
        "bound_tables",
        "coarse = losses[-1] > LARGEST_LOSS or step < 1e-14",
        "<",
        "<=",
    ): "both ways are valid at that step",
    (
        "lower_share",
        "excess = np.where(other > TINY, np.maximum(excess, 0), 0)",
        ">",
        ">=",
    ): "both ways are valid at that mass",
}

OPERATORS: dict[type[ast.AST], tuple[str, list[str]]] = {
    ast.Add: ("+", ["-"]),
    ast.Sub: ("-", ["+"]),
    ast.Mult: ("*", ["/"]),
    ast.Div: ("/", ["*"]),
    ast.Lt: ("<", ["<=", ">"]),
    ast.LtE: ("<=", ["<", ">"]),
    ast.Gt: (">", [">=", "<"]),
    ast.GtE: (">=", [">", "<"]),
    ast.Eq: ("==", ["!="]),
    ast.And: ("and", ["or"]),
    ast.Or: ("or", ["and"]),
}
NAMES = {
    "minimum": "maximum",
    "maximum": "minimum",
    "min": "max",
    "max": "min",
    "all": "any",
    "any": "all",
    "floor": "ceil",
    "ceil": "floor",
    "argmax": "argmin",
}
WORDS = {"left": "right", "right": "left", "upper": "lower", "lower": "upper"}


@dataclass(frozen=True)
class Mutant:
    """`old` at an offset of a module's text becomes `new`."""

    module: str
    function: str
    line: int
    start: int
    old: str
    new: str
    text: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.function, self.text, self.old, self.new


class Finder:
    """All mutants of one module."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.source = (ROOT / "accountlib" / f"{module}.py").read_bytes()
        self.lines = self.source.split(b"\n")
        lengths = np.cumsum([0, *(len(x) + 1 for x in self.lines)])
        self.offsets = [int(x) for x in lengths]

    def place(self, line: int, column: int) -> int:
        return self.offsets[line - 1] + column

    def mutant(self, name: str, start: int, old: str, new: str) -> Mutant:
        line = self.source[:start].count(b"\n")
        text = self.lines[line].decode().strip()
        return Mutant(self.module, name, line + 1, start, old, new, text)

    def between(
        self, name: str, left: ast.expr, right: ast.expr, op: ast.AST
    ) -> Iterator[Mutant]:
        """The operator between two operands."""
        if type(op) not in OPERATORS or left.end_lineno is None:
            return
        old, others = OPERATORS[type(op)]
        start = self.place(left.end_lineno, left.end_col_offset or 0)
        stop = self.place(right.lineno, right.col_offset)
        found = self.source[start:stop].find(old.encode())
        if found >= 0:
            for new in others:
                yield self.mutant(name, start + found, old, new)

    def in_node(self, name: str, node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, ast.BinOp):
            yield from self.between(name, node.left, node.right, node.op)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for a, b, op in zip(sides, sides[1:], node.ops, strict=False):
                yield from self.between(name, a, b, op)
        elif isinstance(node, ast.BoolOp):
            for a, b in zip(node.values, node.values[1:], strict=False):
                yield from self.between(name, a, b, node.op)
        elif isinstance(node, ast.AugAssign):
            yield from self.between(name, node.target, node.value, node.op)
        elif isinstance(node, ast.UnaryOp):
            start = self.place(node.lineno, node.col_offset)
            if isinstance(node.op, ast.USub):
                yield self.mutant(name, start, "-", "+")
            if isinstance(node.op, ast.Not):
                yield self.mutant(name, start, "not", "")
        elif isinstance(node, ast.Constant):
            yield from self.constant(name, node)
        elif isinstance(node, ast.Name | ast.Attribute):
            word = node.id if isinstance(node, ast.Name) else node.attr
            end = self.place(node.end_lineno or 0, node.end_col_offset or 0)
            if word in NAMES:
                new = NAMES[word]
                yield self.mutant(name, end - len(word), word, new)

    def constant(self, name: str, node: ast.Constant) -> Iterator[Mutant]:
        start = self.place(node.lineno, node.col_offset)
        end = self.place(node.end_lineno or 0, node.end_col_offset or 0)
        old = self.source[start:end].decode()
        value = node.value
        if isinstance(value, str):
            if value in WORDS:
                new = old.replace(value, WORDS[value])
                yield self.mutant(name, start, old, new)
        elif isinstance(value, bool):
            yield self.mutant(name, start, old, str(not value))
        elif isinstance(value, int | float):
            yield self.mutant(name, start, old, "0" if value else "1")
            margin = b"UNIT" in self.lines[node.lineno - 1]
            if value not in (0, 1) and not margin:  # these have room
                yield self.mutant(name, start, old, f"({old} / 2)")

    def all(self) -> Iterator[Mutant]:
        for top in ast.parse(self.source).body:
            if not isinstance(top, ast.FunctionDef | ast.ClassDef):
                continue
            if top.name not in TARGETS[self.module]:
                continue
            for node in parts_of(top):
                yield from self.in_node(top.name, node)


def parts_of(node: ast.AST) -> Iterator[ast.AST]:
    """The code of a definition: no decorators, hints, docstrings, errors."""
    hidden: list[Any] = []
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        hidden += node.decorator_list
    if isinstance(node, ast.FunctionDef):
        hidden += [node.args, node.returns]
    if isinstance(node, ast.AnnAssign):
        hidden.append(node.annotation)
    for child in ast.iter_child_nodes(node):
        if child in hidden or isinstance(child, ast.Raise | ast.JoinedStr):
            continue
        yield child
        yield from parts_of(child)


def all_mutants() -> list[Mutant]:
    return [mutant for module in TARGETS for mutant in Finder(module).all()]


# --- trying one -------------------------------------------------------------


def copy_of_package(folder: Path) -> None:
    for name in ("accountlib", "tests", "benchmarks", "search"):
        hide = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=hide)
    for name in ("conftest.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "notebooks").symlink_to(ROOT / "notebooks")


def tests_of(module: str) -> list[str]:
    names = [f"tests/{name}.py" for name in TESTS[module]]
    names.append(f"tests/{ALL_END_WITH}.py")
    names = [FIRST, f"accountlib/{module}.py", *names]
    return [name for name in names if (ROOT / name).exists()]


def quick_tests(module: str) -> list[str]:
    return [FIRST, f"accountlib/{module}.py"]


def run_tests(folder: Path, names: list[str], seconds: float) -> str:
    """killed, survived or slow."""
    command = [sys.executable, "-m", "pytest", "-x", "-q"]
    command += ["-p", "no:cacheprovider", "--tb=line", *names]
    place = os.environ | {
        "PYTHONPATH": str(folder),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    started = subprocess.Popen(
        command,
        cwd=folder,
        env=place,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = started.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)  # this one and its children
        started.wait()
        return "slow"
    return "" if code in (0, 5) else "killed"


def attempt(
    mutant: Mutant, folder: Path, names: list[str], seconds: float
) -> dict[str, Any]:
    """Apply a mutant, run the tests one file after the other."""
    file = folder / "accountlib" / f"{mutant.module}.py"
    source = file.read_bytes()
    stop = mutant.start + len(mutant.old.encode())
    changed = source[: mutant.start] + mutant.new.encode() + source[stop:]
    result: dict[str, Any] = asdict(mutant) | {"verdict": "survived"}
    start = time.perf_counter()
    file.write_bytes(changed)
    try:
        for name in names:
            left = seconds - (time.perf_counter() - start)
            verdict = run_tests(folder, [name], max(left, 1.0))
            if verdict:
                result |= {"verdict": verdict, "by": name}
                break
    finally:
        file.write_bytes(source)
    result["seconds"] = round(time.perf_counter() - start, 1)
    if mutant.key in EQUIVALENT:
        result["equivalent"] = EQUIVALENT[mutant.key]
    return result


def told(result: dict[str, Any]) -> str:
    where = f"{result['module']}.py:{result['line']} {result['function']}"
    change = f"{result['old']!r} to {result['new']!r} in: {result['text']}"
    by = f" by {result['by']}" if "by" in result else ""
    why = f" ({result['equivalent']})" if "equivalent" in result else ""
    return f"{result['verdict']}{by}{why}: {where}: {change}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--count", type=int, default=60)
    add("--seed", type=int, default=1)
    add("--skip", type=int, default=0, help="so many of the sample")
    add("--seconds", type=float, default=300, help="limit of one mutant")
    add("--only", type=int, help="this mutant only")
    add("--module", choices=TARGETS)
    add("--list", action="store_true")
    add("--quick", action="store_true", help="the quickest tests only")
    add("--without", action="append", default=[], help="a test to leave out")
    add("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    mutants = all_mutants()
    if options.list:
        for i, m in enumerate(mutants):
            print(i, m.module, m.line, m.function, m.old, m.new, m.text)
        return
    order = np.random.default_rng(options.seed).permutation(len(mutants))
    chosen = [int(i) for i in order]
    if options.module:
        chosen = [i for i in chosen if mutants[i].module == options.module]
    chosen = chosen[options.skip :][: options.count]
    if options.only is not None:
        chosen = [options.only]
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_of_package(folder)
        passing: dict[str, bool] = {}  # without any mutant
        for i in chosen:
            names = [
                test
                for test in tests_of(mutants[i].module)
                if not any(word in test for word in options.without)
                if test in quick_tests(mutants[i].module) or not options.quick
            ]
            for test in set(names) - set(passing):
                passing[test] = not run_tests(folder, [test], 900)
                if not passing[test]:
                    print(f"left out, fails without mutants: {test}")
            names = [test for test in names if passing[test]]
            result = attempt(mutants[i], folder, names, options.seconds)
            results.append({"index": i} | result)
            print(i, told(result), flush=True)
    counts = Counter(r["verdict"] for r in results)
    same = sum("equivalent" in r for r in results)
    alive = [
        r
        for r in results
        if r["verdict"] == "survived" and "equivalent" not in r
    ]
    print(f"of {len(mutants)} mutants {len(results)} were tried: {counts}")
    print(f"{same} are equivalent, {len(alive)} others survived")
    report = {
        "mutants": len(mutants),
        "seed": options.seed,
        "tried": len(results),
        "verdicts": dict(counts),
        "equivalent": same,
        "left out": [test for test, good in passing.items() if not good],
        "survived": [told(r) for r in alive],
        "results": results,
    }
    options.output.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
