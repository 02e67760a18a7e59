"""How fast one visitor is heard, so that nobody can make the others wait.

Who sends faster than a person can is kept waiting, by the network itself: what
isn't taken from a connection stops its sender, and costs no processor. Who goes
on is hung up on; a page connects again by itself, and loses nothing. Who doesn't
read the answers is kept waiting too: no new one is computed for them.
"""

import asyncio
import time

from starlette.types import Message, Receive, Scope, Send

from attnviz.server.websocket import WebsocketGuard, hang_up

BURST = 50
"""Messages that are heard at once, after a rest."""

RATE = 10.0
"""Messages a second after those."""

PATIENCE = 100
"""Messages that may be early before a rest."""


class Bucket:
    """Some messages at once, and some a second from then on.

    Parameters
    ----------
    burst, rate
        How many at once, and how many a second.
    """

    def __init__(self, burst: float, rate: float) -> None:
        self.burst, self.rate = burst, rate
        self.full_at = 0.0  # when all `burst` may come at once again

    def wait(self, now: float) -> float:
        """How long it is until another message may come, in seconds."""
        return max(0.0, self.full_at - now - (self.burst - 1) / self.rate)

    def is_full(self, now: float) -> bool:
        """Whether `burst` may come at once."""
        return self.full_at <= now

    def take(self, now: float) -> None:
        """Count a message."""
        self.full_at = max(self.full_at, now) + 1 / self.rate


class Pace(WebsocketGuard):
    """Takes messages from each websocket at that pace, and while its answers are read."""

    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        bucket, sending, n_early = Bucket(BURST, RATE), asyncio.Lock(), 0

        async def paced() -> Message:
            nonlocal n_early
            wait = bucket.wait(time.monotonic())
            n_early += wait > 0
            if n_early > PATIENCE:
                return await hang_up(send)
            await asyncio.sleep(wait)
            async with sending:
                pass
            message = await receive()
            now = time.monotonic()
            n_early = 0 if bucket.is_full(now) else n_early
            bucket.take(now)
            return message

        async def sent(message: Message) -> None:
            async with sending:
                await send(message)

        await self.app(scope, paced, sent)
