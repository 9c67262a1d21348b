"""Pages that `make book` ran are run again by nbval, where they belong.

What is compared are the copies in build/executed; a page's cells read files
beside the page, so that its kernel starts there.
"""

import os

import nbval.plugin
import warm

os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # no dates inside figures
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Their examples run where tests/test_short.py runs a copy of each, alone.
collect_ignore_glob = ["accountlib/short/*"]


class Kernel(nbval.plugin.RunningKernel):
    def __init__(self, name, cwd, **options):
        folder = cwd.replace("/build/executed", "")
        super().__init__(name, cwd=folder, **options)


nbval.plugin.RunningKernel = Kernel
warm.install()
