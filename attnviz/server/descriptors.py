"""How many files and connections a process may hold: the usual 1,024 are enough for some 180 tabs."""

try:
    import resource
except ImportError:  # Windows has no such limit
    resource = None

FILES_OF_A_TAB = 5
"""Three of its session, its websocket, and a connection for acts."""

ENOUGH = 10_240
"""For all tabs and thousands of unfinished requests; macOS takes no more, though it says its limit is infinite."""


def allow_enough() -> None:
    """Raise the limit of this process to `ENOUGH`, or as far as it may itself."""
    if resource:
        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(now, min(ENOUGH, most)), most))
