"""The store of executed pages, which Jupyter keeps; slow to import."""

from jupyter_cache.cache.main import JupyterCacheBase


class Cache(JupyterCacheBase):
    """A cache that keeps every page.

    jupyter-cache drops the oldest pages beyond a thousand. It asks which to
    keep, then which others there are, in two transactions: a page that another
    process adds in between is taken for an old one and removed. A folder of
    ours never holds that many.
    """

    def truncate_caches(self) -> None:
        pass
