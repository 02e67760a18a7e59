"""How many files and connections a process may hold: the usual 1,024 are enough for 231 tabs (see `seats`)."""

import sys

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None


def limits() -> tuple[int, int]:
    """How many this process may hold, and to how many it may raise that itself."""
    return resource.getrlimit(resource.RLIMIT_NOFILE) if resource else (sys.maxsize, sys.maxsize)


def allow_all() -> None:
    """Raise the limit of this process as far as it may itself."""
    if resource:
        _, most = limits()
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
