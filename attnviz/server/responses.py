"""Responses: the body of a request, and what the routes answer: JSON that nobody keeps, or a sentence that refuses."""

import gzip
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.core.errors import report_of
from attnviz.server.log import log_bug

NO_STORE = {"Cache-Control": "no-store"}


class TooLargeError(Exception):
    """A body of more bytes than may be."""


async def body_of(request: Request, most: int) -> bytes:
    """The body of a request.

    Raises
    ------
    TooLargeError
        Once it has more than `most` bytes; the rest is not read.
    ClientDisconnect
        If it never comes.
    """
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise TooLargeError
    return bytes(body)


def json_response(made: bytes) -> Response:
    """An answer in JSON, which nobody keeps."""
    return Response(made, media_type="application/json", headers=NO_STORE)


def compressed_response(request: Request, compressed: bytes, headers: Mapping[str, str]) -> Response:
    """JSON that was compressed by gzip, as whoever asks can read it."""
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(compressed, media_type="application/json", headers={**headers, "Content-Encoding": "gzip"})
    return Response(gzip.decompress(compressed), media_type="application/json", headers=dict(headers))


def refusal(status: int, rule: str) -> PlainTextResponse:
    """A refusal in words; what else is sent is not read."""
    return PlainTextResponse(rule, status, {"Connection": "close"})


class BugReports:
    """Answers a request that fails with a sentence on what to send us, and logs where it failed."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def sent(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, receive, sent)
        except Exception as error:
            if scope["type"] != "http" or has_begun:
                raise
            log_bug("A request failed", error)
            report = report_of("answer this", "what you did", error)
            await PlainTextResponse(report, 500, NO_STORE)(scope, receive, send)
