"""A box for code that we do not trust: questions go in, values come out.

A `closed` box is made by Linux (`unshare`, `mount`, `setpriv`): an answer sees
an empty read-only folder, the standard library, NumPy and SciPy, no other
file, no other process and no network. Where that does not work, an `open` box
has limits of time, memory and output only.
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
from shlex import quote
from typing import Any

INSIDE = (Path(__file__).parent / "inside.py").read_text("utf-8")
NOBODY = 65534
UNGUARDED = (
    "only limits of time and memory guard this machine: answers can read your "
    "files, use the network, and end your other processes. Grade inside a "
    "container or a virtual machine that holds nothing else."
)


@dataclass(frozen=True)
class Limits:
    """What a task may use."""

    wall: float = 30.0  # seconds for all questions of a task
    patience: float = 2.0  # seconds of work for one question
    cpu: int = 8  # seconds
    memory: int = 2**31  # bytes of address space
    output: int = 2**23  # bytes of answers


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
    limits, kind = limits or Limits(), kind or best()
    read_end, write_end = os.pipe()
    job = {
        "cells": list(cells),
        "entry": entry,
        "questions": list(questions),
        "pipe": write_end,
        "patience": limits.patience,
        "limits": {
            "RLIMIT_CPU": limits.cpu,
            "RLIMIT_AS": limits.memory,
            "RLIMIT_NOFILE": 64,
            "RLIMIT_NPROC": 0,  # no further process or thread
            "RLIMIT_FSIZE": 0,  # no byte into any file
            "RLIMIT_CORE": 0,
        },
        "user": NOBODY if kind == "open" and os.geteuid() == 0 else None,
    }
    with contextlib.closing(os.fdopen(read_end, "rb")) as pipe:
        with box(kind) as (command, job["packages"], folder):
            lines = _run(command, folder, job, write_end, pipe, limits)
    return sort_out(lines, len(questions))


def _run(
    command: list[str],
    folder: str,
    job: dict[str, Any],
    write_end: int,
    pipe: Any,
    limits: Limits,
) -> bytes:
    """Start the box, feed the job, collect bytes until the end or a limit."""
    with tempfile.TemporaryFile() as stdin:
        stdin.write(json.dumps(job).encode())
        stdin.seek(0)
        try:
            child = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(write_end,),
                cwd=folder,
                env={"PATH": os.defpath, "LANG": "C", "PYTHONHASHSEED": "0"}
                | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                start_new_session=True,
            )
        finally:
            os.close(write_end)
    try:
        return _collect(pipe.fileno(), limits)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _collect(pipe: int, limits: Limits) -> bytes:
    end, found = time.monotonic() + limits.wall, bytearray()
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
    """Read the lines strictly; of several answers to a question, the first.

    Python reads Infinity and NaN, too; `number` refuses the latter.
    """
    found = Outcome()
    for line in text.split(b"\n"):
        try:
            message = json.loads(line)
            place = message["place"]
        except (ValueError, RecursionError, LookupError, TypeError):
            continue
        if place == "broken":
            broken = str(message.get("error", ""))[:400]
            found = Outcome(found.values, found.errors, broken)
        if type(place) is not int or not 0 <= place < count:
            continue
        if place not in found.values and place not in found.errors:
            if "value" in message:
                found.values[place] = message["value"]
            else:
                found.errors[place] = str(message.get("error", ""))[:400]
    return found


# --- the two kinds of boxes ----------------------------------------------


@cache
def best() -> str:
    """The closed box, if a sum can be done in one here."""
    tools = all(shutil.which(name) for name in ("unshare", "setpriv"))
    code = ["def f(x): return np.sum(x)"]
    if tools and ask(code, "f", [[[1, 2]]], kind="closed").values == {0: 3}:
        return "closed"
    return "open"


@contextlib.contextmanager
def box(kind: str) -> Iterator[tuple[list[str], str, str]]:
    """A command that runs INSIDE, the packages it sees, a folder for it."""
    python = [os.path.realpath(sys.executable), "-I", "-S", "-c", INSIDE]
    with tempfile.TemporaryDirectory() as folder:
        if kind == "closed":
            yield [*closed(folder), *python], "/packages", "/"
            return
        empty = Path(folder, "empty")
        empty.mkdir(0o555)
        for name, path in packages().items():
            Path(folder, name).symlink_to(path)
        Path(folder).chmod(0o755)
        yield python, folder, str(empty)


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
def steps() -> tuple[str, ...]:
    """Commands that put a system for one program into the folder `$1`."""

    def bind(source: object, target: str) -> list[str]:
        place = f'"$1"{quote(target)}'
        options = "--rbind -o ro,nosuid,nodev"
        mount = f"mount {options} {quote(str(source))} {place}"
        return [f"mkdir -p {place}", mount]

    found = bind("/usr", "/usr")
    for name in ("/lib", "/lib64", "/bin"):
        if os.path.islink(name):
            found.append(f'ln -s {quote(os.readlink(name))} "$1"{name}')
        elif os.path.isdir(name):
            found += bind(name, name)
    base = os.path.realpath(sys.base_prefix)
    if not base.startswith("/usr"):
        found += bind(base, base)
    for path in installed(base):  # of others: hidden
        found.append(f'mount -t tmpfs -o ro,size=4k hidden "$1"{quote(path)}')
    for name, folder in packages().items():
        found += bind(folder, f"/packages/{name}")
    return tuple(found)


def installed(base: str) -> list[str]:
    """The folders of other people's packages."""
    names = {sysconfig.get_path("purelib", vars={"base": base})}
    for lib in (Path(base, "lib"), Path("/usr/lib"), Path("/usr/local/lib")):
        for kind in ("site-packages", "dist-packages"):
            names |= {str(path) for path in lib.glob(f"python3*/{kind}")}
    return sorted(x for x in names if os.path.isdir(x))


def closed(root: str) -> list[str]:
    """Processes, network and mounts of its own; the old system unmounted."""
    drop, user = "", ["--user", "--map-root-user"]
    if os.geteuid() == 0:
        drop = f"--reuid={NOBODY} --regid={NOBODY} --clear-groups"
        user = []
    lines = [
        "set -e",
        'mount -t tmpfs -o size=1m,mode=755 box "$1"',
        *steps(),
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
        f"setpriv {drop} --inh-caps=-all --bounding-set=-all --no-new-privs "
        '"$@"',
        "exit",
    ]
    unshare = shutil.which("unshare") or "unshare"
    spaces = ["--net", "--ipc", "--uts", "--pid", "--mount", "--fork"]
    command = [unshare, *user, *spaces, "--kill-child"]
    return [*command, "sh", "-c", "\n".join(lines), "sh", root]
