"""Background: work that goes on beside the server, for as long as a block lasts."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress


@asynccontextmanager
async def background(work: Coroutine) -> AsyncIterator[None]:
    """Have some work go on until the block ends."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
