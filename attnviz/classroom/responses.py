"""Responses: the body of a request, and what the routes answer: JSON that nobody keeps, or a sentence that refuses."""

import gzip
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

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
