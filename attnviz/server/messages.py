"""What a browser may tell the server through its websocket: what our pages tell it, and nothing else.

Streamlit takes more: to empty caches for everyone, to write files beside the
app, to have what was sent written into the log.
"""

import re
from typing import Literal

from google.protobuf.message import DecodeError
from starlette.types import Message, Receive, Scope, Send
from streamlit.proto.BackMsg_pb2 import BackMsg

from attnviz.server.websocket import WebsocketGuard, hang_up

LARGEST = 256_000
"""Bytes of one message; our pages send a few thousand."""

_KINDS = {"rerun_script", "stop_script", "app_heartbeat"}
_OPERATIONS = {"deferred_file", "dataframe_chunk"}
_IDENTITY = re.compile(r"[0-9a-f-]{0,64}")  # hashes and UUIDs, which Streamlit logs where it knows no such thing


def judged(data: bytes) -> Literal["heard", "ignored", "refused"]:
    """What becomes of a message: our pages' are heard, their like ignored, and what no page sends is refused."""
    if len(data) > LARGEST:
        return "refused"
    try:
        message = BackMsg.FromString(data)
    except DecodeError:
        return "refused"
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        request = message.backend_operation_request
        operation, identities = request.WhichOneof("payload"), [request.request_id, request.session_id]
        heard = operation in _OPERATIONS
    else:
        identities = [message.rerun_script.page_script_hash, message.rerun_script.fragment_id]
        heard = kind in _KINDS
    return "heard" if heard and all(map(_IDENTITY.fullmatch, identities)) else "ignored"


class Messages(WebsocketGuard):
    """Hands on what our pages send, and hangs up on who sends what none of them could."""

    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def heard() -> Message:
            while (message := await receive())["type"] == "websocket.receive":
                verdict = judged(message.get("bytes") or b"\xff")  # a text is no message of ours
                if verdict == "heard":
                    break
                if verdict == "refused":
                    return await hang_up(send)
            return message

        await self.app(scope, heard, send)
