"""Kernels that start with their libraries imported.

A page imports for two seconds, and each page runs twice. So one process
imports what most pages do, and is forked for each kernel: `install()`.
"""

import os
from multiprocessing import current_process, get_context, parent_process
from threading import Thread

from jupyter_client.provisioning import local_provisioner

forks = get_context("forkserver")
forks.set_forkserver_preload(
    "matplotlib.pyplot matplotlib.backends.backend_svg scipy.stats myst_nb"
    " ipykernel.kernelapp accountlib".split()
)


def may_have_children():
    """Else a daemon, as processes of the executor and kernels are, may not."""
    current_process()._config["daemon"] = False


class Kernel(forks.Process):
    """A kernel's process, as jupyter_client wants to see it."""

    stdin = stdout = stderr = None

    def __init__(self, command, *, cwd=None, env, **_):
        super().__init__(daemon=True)  # it ends with its parent
        may_have_children()
        self.asked = command[command.index("-f") :], cwd or os.getcwd(), env
        ready, self.pipe = forks.Pipe()
        self.start()
        ready.recv()

    def run(self):
        import matplotlib
        from ipykernel.kernelapp import IPKernelApp

        os.setpgid(0, 0)  # jupyter_client sends its signals to the group
        self.pipe.send("ready")
        may_have_children()
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        Thread(target=self.end, daemon=True).start()
        backend = "module://matplotlib_inline.backend_inline"
        matplotlib.rcParams["backend"] = backend
        arguments, folder, environment = self.asked
        os.chdir(folder)
        os.environ |= environment
        IPKernelApp.launch_instance(arguments)

    def end(self):
        parent_process().join()
        os._exit(1)

    def poll(self):
        return self.exitcode

    def wait(self):
        self.join()

    def send_signal(self, number):
        os.kill(self.pid, number)


def install():
    local_provisioner.launch_kernel = Kernel
