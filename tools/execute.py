"""Run the notebooks, two at a time, into the cache that the book reads.

The cache knows a page by its cells. A page's output depends on more: on the
package, on the installed versions, on the figure style. These are in the name
of the cache folder, so that a change of any of them runs every page again.
"""

import hashlib
import os
import sys
from pathlib import Path

import nbformat
from jupyter_cache.cache.main import JupyterCacheBase
from jupyter_cache.executors import load_executor
from notebook import ROOT, notebooks

READER = {"name": "myst_nb_md", "type": "plugin"}
TIMEOUT = 120  # seconds for one cell
os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # no dates inside figures


class Cache(JupyterCacheBase):
    """A cache that keeps every page.

    jupyter-cache drops the oldest pages beyond a thousand. It asks which to
    keep, then which others there are, in two transactions: a page that another
    process adds in between is taken for an old one and removed. A folder of
    ours never holds that many.
    """

    def truncate_caches(self) -> None:
        pass


def cache_folder() -> Path:
    digest = hashlib.sha256(sys.version.encode())
    files = [ROOT / "requirements.txt", ROOT / "book" / "figures.mplstyle"]
    files += sorted((ROOT / "benchmarks").glob("*.json"))  # read by pages
    files += sorted((ROOT / "notebooks" / "data").glob("*.*"))
    for path in sorted((ROOT / "accountlib").glob("*.py")) + files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return ROOT / "build" / "cache" / digest.hexdigest()[:16]


def main() -> int:
    cache = Cache(cache_folder())
    uris = [str(path) for path in notebooks()]
    for uri in uris:
        cache.add_nb_to_project(uri, read_data=READER)
    result = load_executor("local-parallel", cache=cache).run_and_cache(
        filter_uris=uris, timeout=TIMEOUT
    )
    if result.excepted or result.errored:
        return 1
    # The copies that the tests hold a second run to. (myst-nb writes some too,
    # but without outputs where the cache has the page.)
    target = ROOT / "build" / "executed"
    target.mkdir(exist_ok=True)
    for path in notebooks():
        text = cache.get_project_notebook(str(path)).nb
        _, executed = cache.merge_match_into_notebook(text)
        nbformat.write(executed, target / path.with_suffix(".ipynb").name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
