"""The store of rooms that this process uses: its own memory, or Redis, which all processes share."""

import os

from attnviz.classroom.rooms import Rooms


def rooms_at(url: str) -> Rooms:
    """The rooms of an address, as redis://127.0.0.1:6379; without one those of this process alone.

    Raises
    ------
    SystemExit
        If there is no such store, or no package for it: the server doesn't start then.
    """
    if not url:
        return Rooms()
    if not url.startswith(("redis://", "rediss://", "unix://")):
        raise SystemExit(f"ATTNVIZ_ROOMS takes the address of a Redis, as in redis://127.0.0.1:6379; it is {url!r}.")
    try:
        from attnviz.classroom.shared_rooms import SharedRooms
    except ModuleNotFoundError:
        raise SystemExit("ATTNVIZ_ROOMS needs the package redis: pip install 'attnviz[rooms]'.") from None
    return SharedRooms(url)


ROOMS = rooms_at(os.environ.get("ATTNVIZ_ROOMS", ""))
"""The rooms that this process knows."""
