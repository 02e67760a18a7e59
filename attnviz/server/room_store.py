"""The store of rooms that this process uses: its own memory, or what all processes share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from attnviz.server.rooms import Rooms

ROOMS = Rooms()
"""The rooms that this process knows."""


@asynccontextmanager
async def kept() -> AsyncIterator[None]:
    """Keep rooms up to date for as long as the block lasts."""
    task = asyncio.create_task(ROOMS.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
