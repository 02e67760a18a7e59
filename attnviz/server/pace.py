"""How fast one visitor is heard, so that nobody can make the others wait.

Who sends faster than a person can is kept waiting, by the network itself: what
isn't taken from a connection stops its sender, and costs no processor. So does
who doesn't read the answers: no new one is computed for them.
"""

import asyncio
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BURST = 40
"""Messages that are heard at once."""

RATE = 8.0
"""Messages a second after those."""


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

    def take(self, now: float) -> None:
        """Count a message."""
        self.full_at = max(self.full_at, now) + 1 / self.rate


class Pace:
    """Takes messages from each websocket at that pace, and while its answers are read."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        bucket, sending = Bucket(BURST, RATE), asyncio.Lock()

        async def paced() -> Message:
            await asyncio.sleep(bucket.wait(time.monotonic()))
            async with sending:
                pass
            message = await receive()
            bucket.take(time.monotonic())
            return message

        async def sent(message: Message) -> None:
            async with sending:
                await send(message)

        await self.app(scope, paced, sent)
