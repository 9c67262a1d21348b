"""Break one token of the package, and see whether a test notices.

    python -m benchmarks.mutations --count 300 --seed 1    a sample
    python -m benchmarks.mutations --only 17               one of them
    python -m benchmarks.mutations --again survived        those once more
    python -m benchmarks.mutations --list                  all of them

The mutants are in every function that a bound rests on: all but LEFT_OUT.
Broken are signs, comparisons, minimum and maximum, all and any, constants.
First all tests run once, to see which test runs which line (`line_map.py`;
kept in build/). Then each mutant is tried on a copy of the package, with the
tests that run its line, the quickest first, as far as --budget goes.

Writes mutations.json beside this file, after each mutant. What survives is
judged by hand in mutation_verdicts.json: "equivalent" (no answer changes),
or still a valid bound: "speed" or "width" (only slower, only wider), "room"
(less room for rounding, but what is left is enough, with the reason).
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
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

from benchmarks.cases import ROOT

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "mutations.json"
VERDICTS = HERE / "mutation_verdicts.json"
MAP = ROOT / "build" / "line_map.json"
COPIED = ("accountlib", "tests", "benchmarks", "search", "book", "tools")

# functions, classes or methods that no bound rests on
LEFT_OUT = {
    *("check_range", "check_number", "check_count", "front_door"),
    *("check_probabilities", "as_given", "check_kind", "check_adjacency"),
    *("check_pair", "Release", "Poisson.__post_init__"),
    *("FixedBatch.__post_init__", "GridTooFine", "check_choice"),
    # where to look, how fine: any choice is valid
    *("Query.log_spare", "Query.width_of_epsilon", "saddle"),
    *("choose_tilt", "predicted_width", "landmarks", "aligned_step"),
    *("total_cumulants", "Cells.rare", "Cells.finer", "OrderLook"),
    *("look_at_orders", "rough_answer", "first_look", "seems_rare"),
    *("Search.hindered", "first_step", "with_tilt", "start_search"),
    *("middle_answer", "next_step", "next_grid", "try_step", "is_done"),
    *("gains_little", "refine", "exclude", "log_rare_share"),
    *("transform_work", "prefers_fft", "explain", "Explanation"),
    *("grid_choice", "GridChoice"),
    # what is drawn, printed or only refused
    *("refute_tight", "listed_curve", "no_end"),
    *("PrivacyReport", "how_to_read", "plain", "named_fields", "report"),
    *("software_versions", "thinned", "spread_epsilons"),
    *("check_directions", "DirectionCheck"),
}
MODULES = [
    ".".join(path.relative_to(ROOT / "accountlib").with_suffix("").parts)
    for path in sorted((ROOT / "accountlib").rglob("*.py"))
    if path.name != "__init__.py"
]
ELSEWHERE = (  # tests of other things
    *("tests/book/", "tests/truth/", "whole/test_directions.py"),
    *("whole/test_assumptions.py", "whole/test_checks.py"),
    *("gaussian_dp/test_report", "published/test_gaussian_dp_fits.py"),
)
VALID = ("speed", "width", "room")  # verdicts by hand: still a bound

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
    def key(self) -> str:
        """What it is, wherever the line stands."""
        return " | ".join((self.function, self.text, self.old, self.new))


def file_of(module: str) -> str:
    return f"accountlib/{module.replace('.', '/')}.py"


class Finder:
    """All mutants of one module."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.source = (ROOT / file_of(module)).read_bytes()
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
        for name, node in functions(ast.parse(self.source)):
            if not {name, name.split(".")[0]} & LEFT_OUT:
                for part in parts_of(node):
                    yield from self.in_node(name, part)


def functions(tree: ast.AST, outer: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Functions and methods with their names; not those inside of others."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions(node, f"{outer}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield outer + node.name, node


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
    return [mutant for module in MODULES for mutant in Finder(module).all()]


# --- the tests --------------------------------------------------------------


def copy_of_package(folder: Path) -> None:
    hide = shutil.ignore_patterns("__pycache__")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=hide)
    for name in ("conftest.py", "pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "notebooks").symlink_to(ROOT / "notebooks")


def run_tests(
    folder: Path, files: list[str], seconds: float, **asked: str
) -> tuple[int, str]:
    """Exit code, and the first test that fails; -1 when the time is over."""
    command = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-rfE"]
    command += ["-p", "no:cacheprovider", "-p", "benchmarks.line_map"]
    command += ["--hypothesis-seed=0", *files]
    place = os.environ | asked
    place |= {
        "PYTHONPATH": str(folder),
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with tempfile.TemporaryFile("w+") as said:
        started = subprocess.Popen(
            command,
            cwd=folder,
            env=place,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = started.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)  # it and its children
            started.wait()
            return -1, ""
        said.seek(0)
        found = re.search(r"^(?:FAILED|ERROR) (\S+)", said.read(), re.M)
    return code, found[1] if found else ""


def test_files() -> list[str]:
    names = [*map(file_of, MODULES)]
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        name = file.relative_to(ROOT).as_posix()
        if not any(word in name for word in ELSEWHERE):
            names.append(name)
    return names


def mirrored(module: str) -> list[str]:
    """The tests of a module's own: they run even where they are new."""
    part, _, idea = module.rpartition(".")
    own = (ROOT / "tests" / part).glob(f"test_{idea}*.py")
    return [file.relative_to(ROOT).as_posix() for file in sorted(own)]


def line_map(folder: Path, skip: list[str]) -> dict[str, Any]:
    """Which tests run which lines, and for how long; kept, file by file."""
    text = b"".join((ROOT / file_of(name)).read_bytes() for name in MODULES)
    of = hashlib.sha256(text).hexdigest()
    old: dict[str, Any] = json.loads(MAP.read_text()) if MAP.exists() else {}
    kept = {file: part for file, part in old.items() if part["of"] == of}
    for file in test_files():
        if file in kept or any(word in file for word in skip):
            continue
        print(f"which lines does {file} run?", flush=True)
        new = folder / "map.json"
        run_tests(folder, [file], 3600, LINE_MAP=str(new))
        kept[file] = json.loads(new.read_text()) | {"of": of}
        MAP.parent.mkdir(exist_ok=True)
        MAP.write_text(json.dumps(kept))
    known: dict[str, Any] = {"seconds": {}, "lines": {}}
    for part in kept.values():
        known["seconds"] |= part["seconds"]
        for module, lines in part["lines"].items():
            ours = known["lines"].setdefault(module, {})
            for line, at in lines.items():
                ours.setdefault(line, []).extend(part["tests"][i] for i in at)
    return known


def tests_of(mutant: Mutant, known: dict[str, Any]) -> list[str]:
    """Those that run the line, or the nearest line above, quickest first."""
    lines = known["lines"].get(mutant.module, {})
    first = next(
        node.lineno
        for name, node in functions(ast.parse(Finder(mutant.module).source))
        if name == mutant.function and isinstance(node, ast.FunctionDef)
        if node.lineno <= mutant.line <= (node.end_lineno or 0)
    )
    for line in range(mutant.line, first, -1):
        if str(line) in lines:
            return sorted(lines[str(line)], key=known["seconds"].get)
    return []


# --- trying one -------------------------------------------------------------


def attempt(
    mutant: Mutant, folder: Path, known: dict[str, Any], budget: float
) -> dict[str, Any]:
    """Apply a mutant and run its tests, as far as the budget goes."""
    tests, spent = [], 0.0
    for test in tests_of(mutant, known):
        spent += known["seconds"][test]
        if spent > budget:
            break
        tests.append(test)
    file = folder / file_of(mutant.module)
    source = file.read_bytes()
    stop = mutant.start + len(mutant.old.encode())
    changed = source[: mutant.start] + mutant.new.encode() + source[stop:]
    plan = folder / "plan.json"
    plan.write_text(json.dumps([tests, list(known["seconds"])]))
    files = dict.fromkeys(
        [*mirrored(mutant.module), *(x.split("::")[0] for x in tests)]
    )
    start = time.perf_counter()
    file.write_bytes(changed)
    try:
        code, by = run_tests(
            folder, list(files), 4 * spent + 90, LINE_PLAN=str(plan)
        )
    finally:
        file.write_bytes(source)
    result: dict[str, Any] = asdict(mutant)
    result["verdict"] = "survived" if code in (0, 5) else "caught"
    result["by"] = "time limit" if code < 0 else by
    result["tests"] = len(tests)
    result["seconds"] = round(time.perf_counter() - start, 1)
    return result


def told(result: dict[str, Any]) -> str:
    where = (
        f"{file_of(result['module'])}:{result['line']} {result['function']}"
    )
    change = f"{result['old']!r} to {result['new']!r} in: {result['text']}"
    by = f" by {result['by']}" if result["by"] else ""
    return f"{result['verdict']}{by}: {where}: {change}"


def sample(mutants: list[Mutant], count: int, seed: int) -> list[int]:
    """Some of every module: the larger half by size, the rest evenly."""
    order = np.random.default_rng(seed).permutation(len(mutants))
    chosen = [int(i) for i in order[: count // 2]]
    each = max(count // 2 // len(MODULES), 1)
    left: Counter[str] = Counter()
    for i in map(int, order[count // 2 :]):
        module = mutants[i].module
        if left[module] < each:
            left[module] += 1
            chosen.append(i)
    return chosen


def judged(results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Counts and shares, with the verdicts by hand on what survived."""
    verdicts = json.loads(VERDICTS.read_text()) if VERDICTS.exists() else {}
    rows = []
    for row in results.values():
        key = Mutant(**{x: row[x] for x in Mutant.__annotations__}).key
        if row["verdict"] != "caught" and key in verdicts:
            kind, reason = verdicts[key]
            row = row | {"verdict": kind, "reason": reason}
        rows.append(row)
    counts = Counter(row["verdict"] for row in rows)
    caught = counts["caught"]
    others = len(rows) - counts["equivalent"]
    unsafe = others - sum(counts[kind] for kind in VALID)
    return {
        "tried": len(rows),
        "seeds": dict(Counter(str(row["seed"]) for row in rows)),
        "verdicts": dict(counts),
        "modules": dict(Counter(row["module"] for row in rows)),
        "caught of all not equivalent": round(caught / max(others, 1), 4),
        "caught of all but valid bounds": round(caught / max(unsafe, 1), 4),
        "results": rows,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--count", type=int, default=300)
    add("--seed", type=int, default=1)
    add("--budget", type=float, default=60, help="seconds of tests of one")
    add("--only", type=int, help="this mutant only")
    add("--module", choices=MODULES)
    add("--list", action="store_true")
    add("--skip", action="append", default=[], help="these test files")
    add("--again", action="append", default=[], help="rows of this verdict")
    add("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    mutants = all_mutants()
    if options.list:
        for i, m in enumerate(mutants):
            print(i, m.module, m.line, m.function, m.old, m.new, m.text)
        return
    results: dict[str, dict[str, Any]] = {}
    if options.output.exists():
        rows = json.loads(options.output.read_text())["results"]
        results = {str(row["index"]): row for row in rows}
    chosen = sample(mutants, options.count, options.seed)
    if options.only is not None:
        chosen = [options.only]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_of_package(folder)
        known = line_map(folder, options.skip)
        own = [file for name in MODULES for file in mirrored(name)]
        code, by = run_tests(folder, sorted(set(own)), 3600)
        if code != 0:
            raise SystemExit(f"fails without mutants: {by}")
        for i in chosen:
            old = results.get(str(i), {}).get("verdict")
            if old is not None and old not in options.again:
                continue
            if options.module not in (None, mutants[i].module):
                continue
            result = attempt(mutants[i], folder, known, options.budget)
            results[str(i)] = {"index": i, "seed": options.seed} | result
            print(i, told(result), flush=True)
            report = {"mutants": len(mutants)} | judged(results)
            options.output.write_text(json.dumps(report, indent=1) + "\n")
    found = judged(results)
    print({key: found[key] for key in found if key != "results"})


if __name__ == "__main__":
    main()
