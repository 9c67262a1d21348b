"""Run the notebooks, one on each core, into the cache that the book reads.

python tools/execute.py [PAGE ...]    all pages, or some

The cache knows a page by its cells. A page's output depends on more: on the
modules that it imports, on the installed versions, on the figure style and on
data. `forget` takes those pages out of the cache for which any of this has
changed, so that they run again, and no others.
"""

import functools
import hashlib
import json
import os
import re
import sys
from multiprocessing.pool import ThreadPool
from pathlib import Path

from notebook import INDEX, ROOT, code_cells, notebooks

READER = {"name": "myst_nb_md", "type": "plugin"}
TIMEOUT = 120  # seconds for one cell
os.environ.setdefault("SOURCE_DATE_EPOCH", "0")  # no dates inside figures


FOLDER = ROOT / "build" / "cache"
DIGESTS = ROOT / "build" / "digests.json"
DONE = ROOT / "build" / "done.json"
IMPORT = re.compile(r"^ *(?:from|import) ([\w.]+)", re.M)


@functools.cache
def surroundings() -> str:
    """What every page depends on."""
    digest = hashlib.sha256(sys.version.encode())
    files = [ROOT / "requirements.txt", ROOT / "book" / "figures.mplstyle"]
    files += sorted((ROOT / "benchmarks").glob("*.json"))  # read by pages
    files += sorted((ROOT / "notebooks" / "data").glob("*.*"))
    for path in files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


@functools.cache
def needs(module: str) -> frozenset[Path]:
    """The files of a module of ours, and of all modules that it imports."""
    base = ROOT.joinpath(*module.split("."))
    file = base.with_suffix(".py")
    file = file if file.exists() else base / "__init__.py"
    if not file.exists():  # a name inside a module
        return frozenset()
    found = {file}
    for name in imported(file.read_text(encoding="utf-8"), module):
        found |= needs(name)
    return frozenset(found)


def imported(code: str, module: str = "") -> set[str]:
    """The modules of ours that some code imports."""
    found = IMPORT.findall(code)
    names = {module + x if x.startswith(".") else x for x in found}
    return {name for name in names if name.split(".")[0] == "accountlib"}


@functools.cache
def digest_of(page: Path) -> str:
    """All that the outputs of a page depend on, but its own cells."""
    digest = hashlib.sha256(surroundings().encode())
    text = page.read_text(encoding="utf-8")
    if page == INDEX:
        for read in ("CITATION.cff", "_config.yml"):
            digest.update((ROOT / read).read_bytes())
    names = re.findall(r"^(?:from|import) (accountlib[\w.]*)", text, re.M)
    files: set[Path] = set().union(*map(needs, names))
    for file in sorted(files):
        name = str(file.relative_to(ROOT)).encode()
        digest.update(name + b"\0" + file.read_bytes())
    return digest.hexdigest()


def executed() -> list[Path]:
    """All pages with cells."""
    return [INDEX, *notebooks()] if code_cells(INDEX) else notebooks()


def changed(known: Path) -> list[str]:
    """Pages whose surroundings are not those that a file knows; it learns."""
    old = json.loads(known.read_text()) if known.exists() else {}
    new = {str(page): digest_of(page) for page in executed()}
    known.parent.mkdir(parents=True, exist_ok=True)
    known.write_text(json.dumps(new))
    return [page for page in new if old.get(page) != new[page]]


def forget() -> None:
    """Take pages out of the cache whose surroundings have changed.

    A page of another folder is unknown here: the tree has moved.
    """
    pages, here = changed(DIGESTS), {str(page) for page in executed()}
    if pages:
        from cache import Cache

        cache = Cache(FOLDER)
        for record in cache.list_cache_records():
            if record.uri in pages or record.uri not in here:
                cache.remove_cache(record.pk)


def main() -> int:
    forget()
    pages = [Path(x).resolve() for x in sys.argv[1:]] or executed()
    done = json.loads(DONE.read_text()) if DONE.exists() else {}
    now = {str(page): state_of(page) for page in pages}
    stale = [
        page
        for page in pages
        if done.get(str(page)) != now[str(page)] or not copy_of(page).exists()
    ]
    if stale and not run(stale):
        return 1
    DONE.parent.mkdir(parents=True, exist_ok=True)
    DONE.write_text(json.dumps(done | now))
    return 0


def state_of(page: Path) -> str:
    """What the outputs of a page depend on, its cells too but not its text."""
    code = "\0".join(cell.source for cell in code_cells(page))
    return digest_of(page) + hashlib.sha256(code.encode()).hexdigest()


def run(pages: list[Path]) -> bool:
    """Execute what the cache does not have, and write copies."""
    # Imported here, because most often no page has to run.
    import nbformat
    from cache import Cache
    from jupyter_cache.executors import load_executor
    from kernels import forked

    cache = Cache(FOLDER)
    uris = [str(path) for path in pages]
    for uri in uris:
        cache.add_nb_to_project(uri, read_data=READER)
    executor = load_executor("local-serial", cache=cache)

    def execute(uri: str) -> bool:
        done = executor.run_and_cache(filter_uris=[uri], timeout=TIMEOUT)
        return not done.excepted and not done.errored

    with forked(), ThreadPool() as threads:
        if not all(threads.map(execute, uris, chunksize=1)):
            return False
    # The copies that the tests hold a second run to. (myst-nb writes some too,
    # but without outputs where the cache has the page.)
    for path in pages:
        text = cache.get_project_notebook(str(path)).nb
        _, executed = cache.merge_match_into_notebook(text)
        target = copy_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(executed, target)
    return True


def copy_of(page: Path) -> Path:
    """Where the executed copy of a page is."""
    folder = ROOT if page == INDEX else ROOT / "notebooks"
    inside = page.relative_to(folder).with_suffix(".ipynb")
    return ROOT / "build" / "executed" / inside


if __name__ == "__main__":
    sys.exit(main())
