"""Pages that `make book` ran are run again by nbval, where they belong.

What is compared are the copies in build/executed; a page's cells read files
beside the page, so that its kernel starts there.
"""

import os
from pathlib import Path

import nbval.plugin
import warm

os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # no dates inside figures
os.environ.setdefault("OMP_NUM_THREADS", "1")
EXECUTED = Path(__file__).parent / "build" / "executed"
# Their examples run where tests/test_short.py runs a copy of each, alone.
collect_ignore_glob = ["accountlib/short/*"]


class Kernel(nbval.plugin.RunningKernel):
    def __init__(self, name, cwd=None, **options):
        if cwd and EXECUTED in [Path(cwd), *Path(cwd).parents]:
            inside = Path(cwd).relative_to(EXECUTED)
            cwd = str(EXECUTED.parents[1] / inside)
        super().__init__(name, cwd=cwd, **options)


nbval.plugin.RunningKernel = Kernel
warm.install()
