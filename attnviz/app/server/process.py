"""Process: the start, which imports all that the first visitor needs, and raises the limit of open files."""

import gc
import importlib
import pkgutil

from attnviz.app import sections

try:
    import resource
except ImportError:  # Windows has no limit of files
    resource = None

ENOUGH_FILES = 10_240
"""For all tabs and thousands of unfinished requests; macOS takes no more, though it says its limit is infinite."""


def allow_files() -> None:
    """Raise this process's limit of files and connections, usually 1,024, to `ENOUGH_FILES` or as far as it may."""
    if resource:
        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(now, min(ENOUGH_FILES, most)), most))


def warm_up() -> None:
    """Import all that the pages need, and have no collection look at it again: each would take some 40 ms."""
    for module in pkgutil.iter_modules(sections.__path__, f"{sections.__name__}."):
        importlib.import_module(module.name)
    gc.collect()
    gc.freeze()
