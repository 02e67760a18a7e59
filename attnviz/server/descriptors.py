"""How many files and connections a process may hold: an open tab takes four, so the usual 1,024 refuse a 254th."""

import contextlib


def allow_all() -> None:
    """Raise the limit of this process as far as it may itself."""
    with contextlib.suppress(ImportError):  # Windows has no such limit
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
