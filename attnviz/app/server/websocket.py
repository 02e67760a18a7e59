"""Websocket: the messages that our pages send, and no others.

Streamlit takes more: to empty caches for everyone, to write files beside the
app, to have what was sent written into the log.
"""

import logging
import re

from google.protobuf.message import DecodeError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app.seams import BackMsg

MAX_MESSAGE_BYTES = 256_000
"""Of one message; our pages send a few thousand."""

_HEARD = {"rerun_script", "stop_script", "app_heartbeat", "deferred_file", "dataframe_chunk"}
_IGNORED = {
    None,  # an empty message
    "clear_cache",
    "set_run_on_save",
    "load_git_info",
    "debug_disconnect_websocket",
    "debug_shutdown_runtime",
    "file_urls_request",
    "install_skills",
    "dismiss_skills_nudge",
}
_IDENTITY = re.compile(r"[0-9a-f-]{0,64}")  # hashes and UUIDs, which Streamlit logs where it knows no such thing
_log = logging.getLogger(__name__)


def judged(data: bytes) -> str:
    """The fate of a message: "heard" where our pages send such, "refused" where no page could, else "ignored"."""
    if len(data) > MAX_MESSAGE_BYTES:
        return "refused"
    try:
        message = BackMsg.FromString(data)
    except DecodeError:
        return "refused"
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        request = message.backend_operation_request
        kind, identities = request.WhichOneof("payload"), [request.request_id, request.session_id]
    else:
        identities = [message.rerun_script.page_script_hash, message.rerun_script.fragment_id]
    if kind not in _HEARD | _IGNORED:
        _log.warning(f"A browser sent a message of a new kind, {kind}, which is not heard: decide in server/websocket.")
    return "heard" if kind in _HEARD and all(map(_IDENTITY.fullmatch, identities)) else "ignored"


class Messages:
    """Hands on what our pages send, and hangs up on who sends what none of them could."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def heard() -> Message:
            while (message := await receive())["type"] == "websocket.receive":
                verdict = judged(message.get("bytes") or b"\xff")  # a text is no message of ours
                if verdict == "heard":
                    break
                if verdict == "refused":
                    await send({"type": "websocket.close", "code": 1008})
                    return {"type": "websocket.disconnect", "code": 1008}
            return message

        await self.app(scope, heard if scope["type"] == "websocket" else receive, send)
