"""The box: attacks gain nothing, disturb nobody and leave nothing behind."""

import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from course import box
from course.marks import mark_task
from course.tasks import Check, Task, asks, near

KINDS = ["closed", "open"] if box.best() == "closed" else ["open"]
SHORT = box.Limits(wall=4.0, patience=0.5, cpu=1)
TWICE = asks(near(lambda x: 2 * x), x=(10, 99))
TASK = Task("toy", "f", (Check("twice", 2, TWICE),))

# Each defines f, which should be x -> 2 x, and tries to get marks without.
ATTACKS = {
    "an always-close float": """
class Close(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return Close(0)
    __rsub__ = __abs__ = __round__ = __sub__
    def __le__(self, other): return True
    __lt__ = __ge__ = __gt__ = __le__
    def __hash__(self): return 0
    def __float__(self): return self
def f(x): return Close(1)
""",
    "other builtins": """
import builtins
builtins.abs = lambda x: 0
builtins.float = lambda x=0: 0
builtins.isinstance = lambda *x: True
def f(x): return 1
""",
    "another json, another numpy": """
import json, sys
json.dumps = lambda *x, **y: '{"place": 0, "value": true, "points": 99}'
np.isclose = np.allclose = lambda *x, **y: True
math.isclose = lambda *x, **y: True
main = sys.modules["__main__"]
main.plain = lambda x: {"points": 99}
def f(x): return 1
""",
    "forged lines": """
import os
def f(x):
    for end in range(3, 30):
        for line in (b'{"place": 0, "value": true}', b'{"points": 99}',
                     b'{"place": 0, "value": NaN}', b'[[[', bytes(range(256)),
                     b'{"place": 99999999999999, "value": 1}'):
            try: os.write(end, line + bytes([10]))
            except OSError: pass
    return 1
""",
    "an exit": "import os\nos._exit(0)",
    "three gigabytes": "def f(x):\n    x = bytearray(3 << 30)\n    return 1",
    "not a number": "def f(x): return float('nan')",
    "higher limits": """
import resource
def f(x):
    for name in ('RLIMIT_NPROC', 'RLIMIT_AS', 'RLIMIT_FSIZE'):
        try: resource.setrlimit(getattr(resource, name), (2**40, 2**40))
        except (ValueError, OSError): continue
        return 'raised'
    return 1
""",
    "a look at the frames above": """
import gc, sys
def f(x):
    frame, seen = sys._getframe(), ''
    while frame:
        seen += repr(frame.f_locals) + repr(frame.f_globals)
        frame = frame.f_back
    seen += repr(sys.argv) + repr(sys.modules)
    words = 'jud' + 'ge', 'account' + 'lib', 'sec' + 'ret'
    return 'told' if any(word in seen for word in words) else 1
""",
}
LOOPS = {
    "a loop": "def f(x):\n    while True: pass",
    "sleep": "import time\ndef f(x): time.sleep(1000)",
}
# These must see nothing and reach nobody: only where the box is closed.
OUTSIDE = {
    "the source": "def f(x): return open(FILE).read()",
    "the parent": """
import os, signal
def f(x):
    if os.getppid() > 1: return 'seen'
    for number in (os.getppid(), -1):
        try: os.kill(number, signal.SIGKILL)
        except OSError: pass
    return 1
""",
    "the network": """
import socket
def f(x):
    socket.create_connection(('127.0.0.1', PORT), 1)
    return 'connected'
""",
    "the mounts": """
import ctypes, os
def f(x):
    libc = ctypes.CDLL(None)
    done = libc.umount2(b'/packages', 2) == 0
    done |= libc.mount(b'none', b'/empty', b'tmpfs', 0, None) == 0
    done |= libc.unshare(0x10000000) == 0 and os.getuid() == 0
    return 'mounted' if done else 1
""",
}


def attempt(code, kind):
    """The points for an answer, and what is said of it."""
    found = mark_task(TASK, {"toy": code}, {}, b"seed" * 4, kind)
    return found.points, found.results[0].message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_gains_nothing(attack, kind):
    points, message = attempt(ATTACKS[attack], kind)
    assert points == 0
    for word in ("made", "started", "raised", "told", "written"):
        assert f"'{word}'" not in message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("attack", LOOPS)
def test_a_loop_ends(attack, kind):
    start = time.monotonic()
    found = box.ask([LOOPS[attack]], "f", [[7]], limits=SHORT, kind=kind)
    assert not found.values and time.monotonic() - start < SHORT.wall + 3


@pytest.mark.skipif(KINDS == ["open"], reason="no closed box works here")
@pytest.mark.parametrize("attack", OUTSIDE)
def test_nothing_outside_is_reached(attack):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        code = OUTSIDE[attack].replace("PORT", str(server.getsockname()[1]))
        code = code.replace("FILE", repr(str(Path(__file__).resolve())))
        found = box.ask([code], "f", [[7]], kind="closed")
    assert found.values in ({}, {0: 1}), found


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_answer_is_right_before_and_after(kind):
    """Also several at a time, and the box leaves no file and no process."""
    before = len(os.listdir("/proc/self/fd"))
    right = ["def f(x): return np.float32(2 * x)"] * 3
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(attempt, right, [kind] * 3))
    assert [points for points, _ in found] == [2, 2, 2]
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_comes_out_is_read_strictly():
    lines = [
        b'{"place": 0, "value": 1}',
        b'{"place": 0, "value": 2}',  # the first one counts
        b'{"place": 1, "error": "ouch"}',
        b'{"place": 1, "value": 3}',
        b'{"place": 2, "value": Infinity}',
        b'{"place": 9, "value": 1}',
        b'{"place": true, "value": 1}',
        b"[1, 2]",
        b"[" * 10_000,
        b'{"place": 3, "value": ' + b"1" * 9999 + b"}",
        b"\xff\xfe",
        b'{"place": "broken", "error": "stopped"}',
    ]
    found = box.sort_out(b"\n".join(lines), 4)
    assert found.values == {0: 1, 2: float("inf")}
    assert found.errors == {1: "ouch"} and found.broken == "stopped"
