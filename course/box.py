"""A box for code that we do not trust: questions go in, values come out.

Three kinds of boxes, the best one that works here:

* `bubblewrap`  where `bwrap` is installed, for an ordinary user;
* `namespaces`  the same from `unshare`, `mount` and `setpriv` (Linux);
* `limits`      resource limits only. It guards neither the files that this
  user may read, nor the network, nor this user's other processes.

In the first two, the answers see an empty read-only folder, the standard
library, NumPy and SciPy, no other file, no other process and no network.
"""

import contextlib
import importlib.util
import json
import os
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from course.values import Malformed, read_value

INSIDE = (Path(__file__).parent / "inside.py").read_text("utf-8")
NOBODY = 65534
PACKAGES = ("numpy", "scipy", "numpy.libs", "scipy.libs")
PRELUDE = "import math\nimport numpy as np\n"
UNGUARDED = (
    "only resource limits guard this machine: answers can read the files that "
    "you can read, use the network, and end your other processes. Install "
    "bubblewrap, or grade inside a container that holds nothing else."
)


@dataclass(frozen=True)
class Limits:
    """What a task may use."""

    wall: float = 30.0  # seconds for all questions of a task
    patience: float = 2.0  # seconds of work for one question
    cpu: int = 8  # seconds
    memory: int = 2**31  # bytes of address space
    output: int = 2**23  # bytes of answers
    files: int = 64  # open at a time


@dataclass(frozen=True)
class Outcome:
    """Answers by place of the question; a place may be missing."""

    values: dict[int, Any] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    broken: str = ""  # why there are no answers at all


def ask(
    cells: Sequence[str],
    entry: str,
    questions: Sequence[list[Any]],
    *,
    limits: Limits | None = None,
    kind: str | None = None,
) -> Outcome:
    """Run answer cells in a box and put the questions to what they define."""
    limits = limits or Limits()
    kind = kind or best()
    read_end, write_end = os.pipe()
    job = {
        "cells": list(cells),
        "entry": entry,
        "questions": list(questions),
        "prelude": PRELUDE,
        "pipe": write_end,
        "patience": limits.patience,
        "limits": rlimits(limits),
        "user": NOBODY if kind == "limits" and os.geteuid() == 0 else None,
    }
    with closing(read_end), box(kind) as (command, packages, folder):
        job["packages"] = packages
        lines = _run(command, folder, job, (read_end, write_end), limits)
    return sort_out(lines, len(questions))


def rlimits(limits: Limits) -> dict[str, int]:
    """The resource limits by the names that Python's `resource` has."""
    return {
        "RLIMIT_CPU": limits.cpu,
        "RLIMIT_AS": limits.memory,
        "RLIMIT_NOFILE": limits.files,
        "RLIMIT_NPROC": 0,  # no further process or thread
        "RLIMIT_FSIZE": 0,  # no byte into any file
        "RLIMIT_CORE": 0,
    }


def _run(
    command: list[str],
    folder: str,
    job: dict[str, Any],
    pipe: tuple[int, int],
    limits: Limits,
) -> bytes:
    """Start the box, feed the job, collect bytes until the end or a limit."""
    program = shutil.which(command[0]) or command[0]
    with tempfile.TemporaryFile() as stdin, closing(pipe[1]):
        stdin.write(json.dumps(job).encode())
        stdin.seek(0)
        child = subprocess.Popen(
            [program, *command[1:]],
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(pipe[1],),
            cwd=folder,
            env={"PATH": os.defpath, "OMP_NUM_THREADS": "1", "LANG": "C"}
            | {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},
            start_new_session=True,
        )
    try:
        return _collect(pipe[0], limits)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


@contextlib.contextmanager
def closing(end: int) -> Iterator[None]:
    """Close an end of a pipe, whatever happens."""
    try:
        yield
    finally:
        os.close(end)


def _collect(pipe: int, limits: Limits) -> bytes:
    end = time.monotonic() + limits.wall
    found = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while (left := end - time.monotonic()) > 0:
            if not selector.select(left):
                break
            part = os.read(pipe, 1 << 16)
            found += part
            if not part or len(found) > limits.output:
                break
    return bytes(found[: limits.output])


def sort_out(text: bytes, count: int) -> Outcome:
    """Read the lines strictly; of several answers to a question, the first."""
    values: dict[int, Any] = {}
    errors: dict[int, str] = {}
    broken = ""
    for line in text.split(b"\n"):
        try:
            message = read_value(line)
        except Malformed as error:
            message = _spoilt(line, str(error))
        if not isinstance(message, dict):
            continue
        place = message.get("place")
        if type(place) is not int or not 0 <= place < count:
            broken = broken or str(message.get("broken", ""))[:400]
        elif place not in values and place not in errors:
            if "value" in message:
                values[place] = message["value"]
            else:
                errors[place] = str(message.get("error", ""))[:400]
    return Outcome(values, errors, broken)


def _spoilt(line: bytes, why: str) -> Any:
    """The place of an answer that is no value, from the way it begins."""
    head = line[:40].partition(b'"place": ')[2].partition(b",")[0]
    digits = head.decode("ascii", "replace")
    place = int(digits) if digits.isdecimal() else None
    return {"place": place, "error": why}


# --- the kinds of boxes ------------------------------------------------


@cache
def best() -> str:
    """The first kind of box in which a sum can be done here."""
    order = ["bubblewrap", "namespaces"]
    if os.geteuid() == 0:  # a root inside bubblewrap is still root outside
        order.remove("bubblewrap")
    return next((kind for kind in order if works(kind)), "limits")


@cache
def works(kind: str) -> bool:
    tools = ["bwrap"] if kind == "bubblewrap" else ["unshare", "setpriv"]
    if kind != "limits" and not all(shutil.which(x) for x in tools):
        return False
    return ask(["def f(x): return np.sum(x)"], "f", [[[1, 2]]], kind=kind) == (
        Outcome({0: 3})
    )


@contextlib.contextmanager
def box(kind: str) -> Iterator[tuple[list[str], str, str]]:
    """A command that runs INSIDE, the packages it sees, a folder for it."""
    python = [os.path.realpath(sys.executable), "-I", "-S", "-c", INSIDE]
    if kind == "limits":
        with tempfile.TemporaryDirectory() as folder:
            empty = Path(folder, "empty")
            empty.mkdir()
            for name, path in packages().items():
                Path(folder, name).symlink_to(path)
            empty.chmod(0o555)
            Path(folder).chmod(0o555)
            yield python, folder, str(empty)
            Path(folder).chmod(0o755)
        return
    if kind == "bubblewrap":
        yield [*bubblewrap(), *python], "/packages", "/"
        return
    with tempfile.TemporaryDirectory() as folder:
        yield [*namespaces(folder), *python], "/packages", "/"


def packages() -> dict[str, Path]:
    """The folders of NumPy and SciPy, and of the libraries beside them."""
    found = {}
    for name in ("numpy", "scipy"):
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise RuntimeError(f"{name} is not installed here")
        home = Path(spec.origin).parent
        for folder in (home, home.with_name(f"{name}.libs")):
            if folder.is_dir():
                found[folder.name] = folder
    return found


@cache
def layout() -> tuple[tuple[str, str, str], ...]:
    """What the box has: (bind, from, to), (link, to, at), (hide, -, at)."""
    steps = [("bind", "/usr", "/usr")]
    for name in ("/lib", "/lib64", "/bin"):
        if os.path.islink(name):
            steps.append(("link", os.readlink(name), name))
        elif os.path.isdir(name):
            steps.append(("bind", name, name))
    base = os.path.realpath(sys.base_prefix)
    if not base.startswith("/usr"):
        steps.append(("bind", base, base))
    for path in installed(base):
        steps.append(("hide", "", path))
    for name, folder in packages().items():
        steps.append(("bind", str(folder), f"/packages/{name}"))
    return tuple(steps)


def installed(base: str) -> list[str]:
    """The folders of other people's packages, which the box hides."""
    names = {sysconfig.get_path("purelib", vars={"base": base})}
    for lib in (Path(base, "lib"), Path("/usr/lib"), Path("/usr/local/lib")):
        for kind in ("site-packages", "dist-packages"):
            names |= {str(path) for path in lib.glob(f"python3*/{kind}")}
    return sorted(x for x in names if os.path.isdir(x))


def bubblewrap() -> list[str]:
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--cap-drop"]
    words += ["ALL", "--new-session", "--clearenv"]
    words += ["--setenv", "OMP_NUM_THREADS", "1"]
    for step, source, target in layout():
        if step == "bind":
            words += ["--ro-bind", source, target]
        elif step == "link":
            words += ["--symlink", source, target]
        else:
            words += ["--tmpfs", target, "--remount-ro", target]
    return [*words, "--dir", "/empty", "--remount-ro", "/"] + (
        ["--chdir", "/empty"]
    )


def namespaces(root: str) -> list[str]:
    """The same as `bubblewrap`, from the tools of util-linux."""
    lines = ["set -e", 'mount -t tmpfs -o size=1m,mode=755 box "$1"']
    for step, source, target in layout():
        if step == "link":
            lines.append(f'ln -s {_quote(source)} "$1"{_quote(target)}')
            continue
        place = f'"$1"{_quote(target)}'
        lines.append(f"mkdir -p {place}")
        if step == "hide":
            lines.append(f"mount -t tmpfs -o ro,size=4k hidden {place}")
        else:
            options = "--rbind -o ro,nosuid,nodev"
            lines.append(f"mount {options} {_quote(source)} {place}")
    lines += [
        'mkdir "$1/empty" "$1/old"',
        'ln -s old/proc "$1/proc"',  # umount asks it, and it goes with /old
        'cd "$1"',
        "mount -o remount,bind,ro .",
        "PATH=$PATH:/usr/sbin:/sbin",
        "pivot_root . old",
        "umount -l /old",
        "cd /empty",
        "shift",
        # The first process of a box obeys no limit of CPU time: be the second.
        'setpriv $DROP --bounding-set=-all --no-new-privs "$@"',
        "exit",
    ]
    drop, user = "", ["--user", "--map-root-user"]
    if os.geteuid() == 0:
        drop = f"--reuid={NOBODY} --regid={NOBODY} --clear-groups"
        user = []
    script = "\n".join([f"DROP='{drop} --inh-caps=-all'", *lines])
    spaces = ["--net", "--ipc", "--uts", "--pid", "--mount", "--fork"]
    return ["unshare", *user, *spaces, "--kill-child", "sh", "-c", script] + (
        ["sh", root]
    )


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
