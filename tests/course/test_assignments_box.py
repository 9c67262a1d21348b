"""The box: attacks gain nothing, disturb nobody and leave nothing behind."""

import os
import socket
import threading
import time
from functools import partial
from operator import mul

import pytest

from course import box, sheets, submissions
from course.marks import mark, mark_task
from course.tasks import Check, Question, Task, close, load
from tests import ROOT

FOLDER = ROOT / "notebooks" / "assignments"
if not FOLDER.exists():
    pytest.skip("the course is kept elsewhere", allow_module_level=True)
KINDS = [
    kind
    for kind in ("bubblewrap", "namespaces", "limits")
    if (kind != "bubblewrap" or os.geteuid()) and box.works(kind)
]
CLOSED = [kind for kind in KINDS if kind != "limits"]
SHORT = box.Limits(wall=4.0, patience=0.5, cpu=1)
TASK = Task(
    "toy",
    stars=1,
    minutes=1,
    entry="f",
    checks=(
        Check(
            "twice",
            2,
            lambda random, numbers: [
                Question([x], close(partial(mul, 2.0, x), f"x = {x}"))
                for x in random.sample(range(10, 99), 3)
            ],
        ),
    ),
)

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
    "the source": "def f(x): return open({folder!r} + '/secret.txt').read()",
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
    socket.create_connection(('127.0.0.1', {port}), 1)
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


def attempt(code, kind, limits=None):
    """The values that came out, and how a marker judges them."""
    if limits is None:
        submission = submissions.Submission({"toy": code})
        found = mark_task(TASK, submission, {}, b"seed" * 4, kind)
        return found.points, found.results[0].message
    outcome = box.ask([code], "f", [[7]], limits=limits, kind=kind)
    return 2.0 if outcome.values.get(0) == 14 else 0, str(outcome)


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
    points, _ = attempt(LOOPS[attack], kind, SHORT)
    assert points == 0 and time.monotonic() - start < SHORT.wall + 3


@pytest.mark.parametrize("kind", CLOSED)
@pytest.mark.parametrize("attack", OUTSIDE)
def test_nothing_outside_is_reached(attack, kind):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        code = OUTSIDE[attack]
        for name, value in {
            "{folder!r}": repr(str(FOLDER)),
            "{root!r}": repr(str(ROOT)),
            "{port}": str(server.getsockname()[1]),
        }.items():
            code = code.replace(name, value)
        outcome = box.ask([code], "f", [[7]], kind=kind)
    assert outcome.values in ({}, {0: 1}), outcome


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_answer_is_right_before_and_after(kind):
    """Also several at a time, and the box leaves no file and no process."""
    before = len(os.listdir("/proc/self/fd"))
    points = []

    def one():
        points.append(attempt("def f(x): return np.float32(2 * x)", kind)[0])

    threads = [threading.Thread(target=one) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert points == [2, 2, 2]
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_answer_of_one_task_cannot_spoil_another():
    """A task sees the cells that it names, or ours, and its own."""
    course = load(FOLDER)
    assignment = course.find("ps1")
    book = sheets.teacher_sheet(course, "ps1", "ada")
    cells = {
        cell.metadata["nbgrader"]["grade_id"]: cell.source
        for cell in sheets.answer_cells(book)
    }
    texts = {"ps1-derive": cells.pop("ps1-derive")}
    right = mark(
        course, assignment, "ada", submissions.Submission(cells, texts)
    )
    hand = sum(x.task.points for x in right.tasks if x.task.rubric)
    assert right.points == assignment.points - hand and right.waiting
    cells["ps1-hockey"] = "import os\nos._exit(1)"
    found = mark(
        course, assignment, "ada", submissions.Submission(cells, texts)
    )
    lost = {x.task.name for x in found.tasks if x.points < x.task.points}
    assert lost == {"ps1-hockey", "ps1-derive"}
    cells["ps1-rounds"] = "import os\nos._exit(1)"
    found = mark(
        course, assignment, "ada", submissions.Submission(cells, texts)
    )
    lost = {x.task.name for x in found.tasks if x.points < x.task.points}
    assert lost == {"ps1-hockey", "ps1-derive", "ps1-rounds"}


def test_what_is_not_guarded_is_said(monkeypatch, capsys, tmp_path):
    from course.__main__ import main

    monkeypatch.setattr(box, "best", lambda: "limits")
    (tmp_path / "in").mkdir()
    words = ["grade", "--course", str(FOLDER), "--out", str(tmp_path / "out")]
    assert main([*words, str(tmp_path / "in")]) == 0
    assert "network" in capsys.readouterr().err
