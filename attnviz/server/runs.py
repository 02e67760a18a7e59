"""One run of the script at a time for each visitor.

Streamlit begins the next run at once and stops the one before where that next
shows something, so that who asks often has many at work at the same time.
"""

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

PATIENCE = 1.0
"""Seconds that a message waits for the run before; long work is stopped by it after that."""

_LARGEST_END = 500  # bytes of the message that says a run has ended


def begins(message: Message) -> bool:
    """Whether a message from a browser asks for a run."""
    return BackMsg.FromString(message.get("bytes") or b"").HasField("rerun_script")


def ends(message: Message) -> bool:
    """Whether a message to a browser says that its run has ended."""
    data = message.get("bytes") or b""
    return len(data) < _LARGEST_END and ForwardMsg.FromString(data).HasField("script_finished")


class Runs:
    """Holds what a browser asks for back until its last run has ended."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self.app(scope, receive, send)
            return
        idle = asyncio.Event()
        idle.set()

        async def received() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive":
                with suppress(TimeoutError):
                    await asyncio.wait_for(idle.wait(), PATIENCE)
                if begins(message):
                    idle.clear()
            return message

        async def sent(message: Message) -> None:
            await send(message)
            if ends(message):
                idle.set()

        await self.app(scope, received, sent)
