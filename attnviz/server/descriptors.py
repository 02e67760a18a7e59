"""How many files and connections a process may hold: the usual 1,024 are enough for 184 tabs (see `seats`)."""

import sys

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None


ENOUGH = 10_240
"""For all tabs and thousands of unfinished requests; macOS takes no more, though it says its limit is infinite."""


def limits() -> tuple[int, int]:
    """How many this process may hold, and to how many it may raise that itself."""
    return resource.getrlimit(resource.RLIMIT_NOFILE) if resource else (sys.maxsize, sys.maxsize)


def allow_enough() -> None:
    """Raise the limit of this process to `ENOUGH`, or as far as it may itself."""
    if resource:
        now, most = limits()
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(now, min(ENOUGH, most)), most))
