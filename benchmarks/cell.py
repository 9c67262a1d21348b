"""Measure one cell of the table, in a process of its own.

Reads a request in JSON from the command line and prints JSON lines: what
is known after the import, after the first call, after the others. So a
cell that is stopped still tells what it had.
"""

from __future__ import annotations

import json
import math
import platform
import resource
import statistics
import sys
import time
import warnings
from dataclasses import replace
from typing import Any

from benchmarks.accountants import ACCOUNTANTS, Accountlib, Unsupported
from benchmarks.cases import CASES

MOST_WARM_CALLS = 7


def peak_megabytes() -> float:
    """Largest resident memory of this process so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def say(result: dict[str, Any]) -> None:
    print(json.dumps(result), flush=True)


def in_words(error: BaseException) -> str:
    """Kind and first line of an exception, short."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]


def truth(request: dict[str, Any]) -> dict[str, Any]:
    """Of a new case: what tests hold against independent truths."""
    bound = Accountlib().bound(CASES[request["case"]], 1e-6)
    source = "accountlib, tightest bracket"
    return {"low": bound.lower, "high": bound.upper, "source": source}


def load(request: dict[str, Any]) -> dict[str, Any]:
    """Import the accountant; "missing" where it is not installed."""
    accountant = ACCOUNTANTS[request["library"]]
    start = time.perf_counter()
    try:
        accountant.load()
        version = accountant.version()
    except ModuleNotFoundError:
        return {"missing": "not installed"}
    except Exception as error:  # installed, but it does not import
        return {"missing": in_words(error)}
    return {
        "version": version,
        "python": platform.python_version(),
        "import_seconds": time.perf_counter() - start,
        "import_megabytes": peak_megabytes(),
    }


def measure(request: dict[str, Any]) -> None:
    """The first call, then warm calls for as long as there is time.

    Every warm call has the noise changed by 1e-9 of itself: an answer
    kept from the call before would not be a measurement.
    """
    result = load(request)
    say(result)
    accountant = ACCOUNTANTS[request["library"]]
    case = replace(CASES[request["case"]], answer=request["answer"])
    setting = request["setting"]
    start = time.perf_counter()
    try:
        lower, upper = accountant.bracket(case, setting)
    except Unsupported as error:
        say({"unsupported": str(error)})
        return
    except Exception as error:
        result = {"failure": in_words(error)}
    else:
        result = {"lower": number(lower), "upper": number(upper)}
    first = time.perf_counter() - start
    result |= {"first_seconds": first, "peak_megabytes": peak_megabytes()}
    say(result)
    if "failure" in result:
        return
    seconds: list[float] = []
    used = first
    while len(seconds) < MOST_WARM_CALLS:
        if used + first > request["seconds"] / 4:
            break
        again = case.nudged(len(seconds) + 1)
        start = time.perf_counter()
        try:
            accountant.bracket(again, setting)
        except Exception as error:
            say({"failure": "warm call: " + in_words(error)})
            return
        seconds.append(time.perf_counter() - start)
        used += seconds[-1]
    if seconds:
        warm = {"warm_seconds": statistics.median(seconds)}
        warm["warm_calls"] = len(seconds)
        say(warm | {"peak_megabytes": peak_megabytes()})


def number(value: float | None) -> float | str | None:
    """JSON has no infinity and no NaN: write them as words."""
    if value is None or math.isfinite(value):
        return None if value is None else float(value)
    return str(float(value))


def main() -> None:
    warnings.simplefilter("ignore")
    request = json.loads(sys.argv[1])
    if request["task"] == "truth":
        say(truth(request))
    elif request["task"] == "load":
        say(load(request))
    else:
        measure(request)


if __name__ == "__main__":
    main()
