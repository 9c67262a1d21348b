"""What runs inside the box: the only code that meets a student's code.

It is passed to a bare Python as text. A job comes in on standard input; each
answer goes out on a pipe of its own as one line of JSON. Nothing in this
process can be trusted once an answer cell has run, so nothing here decides a
mark: the parent reads values, strictly, and compares them outside.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any

LONGEST = 400  # characters of a message
LARGEST = 2_000_000  # characters of an answer


def main() -> None:
    job = json.load(sys.stdin)
    sys.path.append(job["packages"])
    pipe = os.dup(job["pipe"])
    namespace: dict[str, Any] = {"__name__": "answers"}
    exec("import math\nimport numpy as np", namespace)
    confine(job["limits"], job["user"])
    sys.stdin = open(os.devnull) if os.path.exists(os.devnull) else None
    try:
        within(job["patience"], run_cells, job["cells"], namespace)
    except BaseException as error:
        send(pipe, {"place": "broken", "error": said(error)})
    if job["entry"] in namespace:
        entry = namespace[job["entry"]]
        for place, arguments in enumerate(job["questions"]):
            try:
                value = within(job["patience"], value_of, entry, arguments)
                send(pipe, {"place": place, "value": value})
            except BaseException as error:
                send(pipe, {"place": place, "error": said(error)})


def confine(limits: dict[str, int], user: int | None) -> None:
    """Give up what the answers do not need; none of it can be taken back."""
    for name, value in limits.items():
        which = getattr(resource, name)
        hard = resource.getrlimit(which)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        try:
            resource.setrlimit(which, (value, value))
        except (ValueError, OSError):
            if sys.platform == "linux":  # others lack some limits
                raise
    if user is not None:  # we are root: be nobody from here on
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


def run_cells(cells: list[str], namespace: dict[str, Any]) -> None:
    for cell in cells:
        exec(compile(cell, "<your answer>", "exec"), namespace)


def value_of(entry: Any, arguments: list[Any]) -> Any:
    """A value with at most LARGEST characters of JSON."""
    value = plain(entry(*arguments) if callable(entry) else entry)
    if len(json.dumps(value)) > LARGEST:
        raise ValueError("the answer is too large")
    return value


def within(
    seconds: float, function: Callable[..., Any], *arguments: Any
) -> Any:
    """Call a function, and stop it politely after some seconds."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError(f"no answer after {seconds} seconds of work")

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return function(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def plain(value: Any) -> Any:
    """Numbers, texts, lists and dictionaries, whatever library made them."""
    if hasattr(value, "tolist"):  # numpy
        value = value.tolist()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return float(value)  # floats, fractions, decimals


def said(error: BaseException) -> str:
    text, name = str(error), type(error).__name__
    return (f"{name}: {text}" if text else name)[:LONGEST]


def send(pipe: int, message: dict[str, Any]) -> None:
    line = memoryview(json.dumps(message).encode() + b"\n")
    while line:
        line = line[os.write(pipe, line) :]


if __name__ == "__main__":
    main()
