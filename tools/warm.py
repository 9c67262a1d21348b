"""Kernels that start with their libraries imported.

A page imports for two seconds, and each page runs twice. So one process
imports what most pages do, and is forked for each kernel: `install()`.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import time
from functools import cache

from jupyter_client.provisioning import local_provisioner


def serve():
    """Fork a kernel for each line of input, and tell its number."""
    del sys.path[0]  # this folder, which no kernel has
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # they end with it
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    # Nothing here is used: a fork finds it imported.
    import matplotlib.backends.backend_svg
    import matplotlib.pyplot  # noqa: F401
    import myst_nb  # noqa: F401
    import scipy.stats  # noqa: F401
    from ipykernel.kernelapp import IPKernelApp

    import accountlib  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    for line in sys.stdin:
        arguments, folder, environment = json.loads(line)
        number = os.fork()
        if number:
            os.setpgid(number, number)
            print(number, flush=True)
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        os.chdir(folder)
        os.environ |= environment
        IPKernelApp.launch_instance(arguments)
        break


@cache
def server(process):
    """The server of a process, which ends with it."""
    started = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def end():
        started.stdin.close()
        started.wait()
        started.stdout.close()

    atexit.register(end)
    return started


class Kernel:
    """A kernel's process, as jupyter_client wants to see it."""

    stdin = stdout = stderr = None

    def __init__(self, command, *, cwd=None, env, **_):
        asked = command[command.index("-f") :], cwd or os.getcwd(), dict(env)
        pipes = server(os.getpid())
        print(json.dumps(asked), file=pipes.stdin, flush=True)
        self.pid = int(pipes.stdout.readline())

    def poll(self):
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0

    def wait(self):
        while self.poll() is None:
            time.sleep(0.01)

    def send_signal(self, number):
        os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)


def install():
    local_provisioner.launch_kernel = Kernel


if __name__ == "__main__":
    serve()
