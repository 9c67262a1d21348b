"""Compare this library with every other accountant that is installed.

    python -m benchmarks.run            all cases, all settings
    python -m benchmarks.run --quick    one setting of each accountant

Prints a table and writes results.json beside this file. README.md here
says what the columns mean.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tabulate import tabulate

from benchmarks.accountants import ACCOUNTANTS, Accountant
from benchmarks.cases import CASES, Case

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "RAYON")
}
HEADERS = [
    *("case", "accountant", "setting", "lower", "upper", "width"),
    *("off by", "side", "first s", "warm s", "import MB", "peak MB"),
]


def ask(python: str, request: dict[str, Any], seconds: float) -> dict:
    """One process, one request; the answer of a stopped one is partial."""
    command = [python, "-m", "benchmarks.cell", json.dumps(request)]
    ending: dict[str, Any] = {}
    try:
        done = subprocess.run(
            command,
            cwd=HERE.parent,
            capture_output=True,
            env=os.environ | ONE_THREAD,
            text=True,
            timeout=seconds,
        )
        output = done.stdout
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no message"]
            ending = {"failure": f"exit {done.returncode}: {lines[-1]}"[:200]}
    except subprocess.TimeoutExpired as stopped:
        caught = stopped.stdout or ""
        output = caught if isinstance(caught, str) else caught.decode()
        ending = {"failure": f"timeout ({seconds:g} s)"}
    answer: dict[str, Any] = {}
    for line in output.splitlines():
        if line.startswith("{"):
            answer |= json.loads(line)
    if "upper" in answer:  # stopped in a warm call: the answer stands
        return answer
    return answer | ending


def judge(cell: dict, truth: dict | None) -> dict:
    """Width, distance from the truth, and the side of it."""
    cell = {key: cell[key] for key in cell if key != "distance"}
    if "unsupported" in cell:
        return cell | {"side": "unsupported"}
    if "upper" not in cell:
        return cell | {"side": "failed"}
    low, high = cell["lower"], cell["upper"]
    lower = -math.inf if low is None else float(low)
    upper = math.inf if high is None else float(high)
    if math.isnan(lower) or math.isnan(upper):
        return cell | {"side": "failed", "failure": "nan"}
    if math.isinf(upper):
        cell = cell | {"failure": "inf"}
    if low is not None and math.isfinite(upper) and upper > 0:
        cell = cell | {"width": (upper - lower) / upper}
    if truth is None:
        return cell | {"side": "unknown"}
    middle = (truth["low"] + truth["high"]) / 2
    above = (upper - middle) / middle
    below = (middle - lower) / middle
    if upper < truth["low"] or lower > truth["high"]:
        side, distance = "WRONG", min(above, below)
    elif low is None:
        side, distance = "upper", above
    else:
        side, distance = "contains", max(above, below)
    if math.isfinite(distance):
        cell = cell | {"distance": distance}
    return cell | {"side": side}


def find(
    names: list[str], pythons: list[str], seconds: float
) -> dict[str, tuple[str, dict]]:
    """The first interpreter in which each accountant can be imported."""
    found = {}
    for name in names:
        reasons = []
        for python in pythons:
            info = ask(python, {"task": "load", "library": name}, seconds)
            if "version" in info:
                found[name] = python, info
                break
            reasons.append(info.get("missing") or info.get("failure", "?"))
        else:
            told = [r for r in reasons if r != "not installed"]
            print(f"{name}: {told[0] if told else 'not installed'}")
    return found


def read() -> dict[str, Any]:
    if RESULTS.exists():
        return json.loads(RESULTS.read_text())
    return {"accountants": {}, "truth": {}, "cells": {}}


def write(results: dict[str, Any]) -> None:
    text = json.dumps(results, indent=1, sort_keys=True, allow_nan=False)
    RESULTS.write_text(text + "\n")


def short(value: Any, digits: int = 3) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float) else (value or "")


def row(case: str, name: str, setting: str, cell: dict) -> list[str]:
    side = cell["side"]
    reason = cell.get("unsupported") or cell.get("failure")
    return [
        *(case, name, setting),
        *(short(cell.get(key), 8) for key in ("lower", "upper")),
        *(short(cell.get(key)) for key in ("width", "distance")),
        f"{side}: {reason}"[:60] if reason else side,
        *(short(cell.get(key)) for key in ("first_seconds", "warm_seconds")),
        *(
            f"{cell[key]:.0f}" if key in cell else ""
            for key in ("import_megabytes", "peak_megabytes")
        ),
    ]


def table(results: dict[str, Any]) -> str:
    """All cells, the truth of each case above them."""
    rows = []
    for case in CASES:
        truth = results["truth"].get(case)
        if truth:
            ends = [short(truth[key], 8) for key in ("low", "high")]
            rows.append([case, "truth", truth["source"], *ends])
        for name in ACCOUNTANTS:
            cells = results["cells"].get(name, {}).get(case, {})
            for setting, cell in cells.items():
                rows.append(row(case, name, setting, cell))
    return tabulate(rows, headers=HEADERS, disable_numparse=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add = parser.add_argument
    add("--python", action="append", help="an interpreter; repeatable")
    add("--only", action="append", choices=ACCOUNTANTS, help="repeatable")
    add("--case", action="append", choices=CASES, help="repeatable")
    add("--quick", action="store_true", help="one setting of each")
    add("--seconds", type=float, default=120, help="limit of one cell")
    add("--show", action="store_true", help="print the table and stop")
    return parser.parse_args()


def find_truth(
    results: dict, python: str, case: Case, seconds: float
) -> dict | None:
    """The true answer of a case, computed once and kept."""
    kept = results["truth"]
    if case.name not in kept:
        request = {"task": "truth", "case": case.name}
        answer = ask(python, request, seconds)
        if "source" not in answer:
            print(f"{case.name}: no truth: {answer}")
            return None
        kept[case.name] = answer
        write(results)
    return kept[case.name]


def main() -> None:
    options = arguments()
    results = read()
    if options.show:
        print(table(results))
        return
    pythons = options.python or [sys.executable]
    names = options.only or list(ACCOUNTANTS)
    found = find(names, pythons, options.seconds)
    for name, (_, info) in found.items():
        before = results["accountants"].get(name, {})
        if before.get("version") != info["version"]:
            results["cells"][name] = {}
        info["date"] = datetime.date.today().isoformat()
        results["accountants"][name] = info
    results["machine"] = {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "system": platform.system(),
        "time_limit_seconds": options.seconds,
    }
    start = time.perf_counter()
    for case in CASES.values():
        if options.case and case.name not in options.case:
            continue
        truth = find_truth(results, pythons[0], case, options.seconds)
        answer = (truth["low"] + truth["high"]) / 2 if truth else 1.0
        for name, (python, _) in found.items():
            accountant: Accountant = ACCOUNTANTS[name]
            for setting in accountant.settings(case, options.quick):
                request = {
                    "task": "measure",
                    "library": name,
                    "case": case.name,
                    "setting": setting,
                    "answer": answer,
                    "seconds": options.seconds,
                }
                cell = judge(ask(python, request, options.seconds), truth)
                for key in ("version", "python"):
                    cell.pop(key, None)
                of_name = results["cells"].setdefault(name, {})
                of_name.setdefault(case.name, {})[str(setting)] = cell
                write(results)
                passed = time.perf_counter() - start
                line = row(case.name, name, str(setting), cell)
                print(f"{passed:6.0f} s  " + "  ".join(line), flush=True)
    print(table(results))


if __name__ == "__main__":
    main()
