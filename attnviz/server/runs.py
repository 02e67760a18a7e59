"""One run of the script at a time for each visitor.

Streamlit begins the next run at once and stops the one before where that next
shows something, so that who asks often has many at work at the same time.

With what it asks for, a browser says which answers it still has. It forgets one
that two runs have not used, so what it said before those holds no more; a
reference to what it has forgotten costs it its connection.
"""

import asyncio
import time
from collections import deque
from contextlib import suppress

from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attnviz.server.websocket import WebsocketGuard

PATIENCE = 1.0
"""Seconds that a message waits for the run before; long work is stopped by it after that."""

FRESH = 2.0
"""Seconds that a message is on its way at most: the browser may not have seen the end of a run by then."""

_LARGEST_END = 500  # bytes of the message that says a run has ended


def ends(message: Message) -> bool:
    """Whether a message to a browser says that its run has ended."""
    data = message.get("bytes") or b""
    return len(data) < _LARGEST_END and ForwardMsg.FromString(data).HasField("script_finished")


def without_kept(asked: BackMsg) -> Message:
    """What asks for a run, without the answers that its browser says it still has."""
    asked.rerun_script.ClearField("cached_message_hashes")
    return {"type": "websocket.receive", "bytes": asked.SerializeToString()}


class Runs(WebsocketGuard):
    """Holds what a browser asks for back until its last run has ended."""

    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        idle, ended = asyncio.Event(), deque([-FRESH, -FRESH], maxlen=2)
        idle.set()

        async def received() -> Message:
            message = await receive()
            if message["type"] == "websocket.receive":
                with suppress(TimeoutError):
                    await asyncio.wait_for(idle.wait(), PATIENCE)
                asked = BackMsg.FromString(message["bytes"])
                if asked.HasField("rerun_script"):
                    idle.clear()
                    if time.monotonic() - ended[0] < FRESH:
                        return without_kept(asked)
            return message

        async def sent(message: Message) -> None:
            await send(message)
            if ends(message):
                ended.append(time.monotonic())
                idle.set()

        await self.app(scope, received, sent)
