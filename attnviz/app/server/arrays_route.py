"""The route of arrays: a file of somebody's own is sent here and compared, and kept nowhere but in their tab.

A comparison takes seconds of processor in one piece, and has its turn among all long work of the process
(`tabs.LONG_WORK`).
"""

import asyncio
import time
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from attnviz.app.server.log import log_bug
from attnviz.app.state.tabs import LONG_WORK, OPEN, UNKNOWN, Tab
from attnviz.articles.pieces import text
from attnviz.articles.upload import Reply, reply
from attnviz.checks.uploads.request import OwnRequest, read
from attnviz.classroom.responses import json_response, refusal
from attnviz.contract.base import RequestError
from attnviz.core.errors import UnexpectedError, guarded
from attnviz.core.limits import MAX_FILE_BYTES, MAX_FILE_SIZE
from attnviz.core.trace import Trace
from attnviz.scene.document.encoding import to_json
from attnviz.scene.scene import OWN_CODE, OWN_PARAMETERS, Scene, parts_for_source, pinned

PATH = "/arrays"

MAX_LINE_BYTES = 8_192
"""Bytes of the line of JSON before a file."""

_UNDERWAY: set[Tab] = set()
_REFUSED = "What is asked here is a page's own: a line of JSON, and a file. Reload the page."
_BUSY = "One file of a tab is compared at once; this one is sent again in a moment."
_TOO_LARGE = f"A file of arrays may have at most {MAX_FILE_SIZE}; this one has more."


def route() -> Route:
    """The route that files are sent to."""
    return Route(f"/{{base:path}}{PATH[1:]}", _arrays, methods=["POST"])  # wherever the app is mounted


async def _arrays(request: Request) -> Response:
    pieces = request.stream()
    try:
        line, begun = await _line(pieces)
        about = read(line)
        tab = OPEN.get(about.tab)
        if tab is None or tab.session is None:
            return refusal(404, UNKNOWN)
        content = await _content(pieces, begun)
    except RequestError as error:
        return refusal(400, str(error))
    except ClientDisconnect:
        return refusal(400, _REFUSED)
    if content is None:
        return refusal(413, _TOO_LARGE)
    if tab in _UNDERWAY:
        return refusal(429, _BUSY)
    _UNDERWAY.add(tab)
    try:
        return await _compared(tab, about, content)
    finally:
        _UNDERWAY.discard(tab)


async def _compared(tab: Tab, about: OwnRequest, content: bytes) -> Response:
    await asyncio.sleep(tab.cpu_quota.wait(time.monotonic()))
    made = await LONG_WORK.in_one_piece(tab.who, _response, tab, about, content)
    return json_response(made)


def _response(tab: Tab, about: OwnRequest, content: bytes) -> bytes:
    session = tab.session
    with tab.cpu_quota.noted():
        shown = session.resolved()
        response = _replied(about, content, shown.trace)
        session.uploads.pop(OWN_CODE, None)  # that of the file before
        session.keep(*response.uploads)
        if response.uploads:
            own = Scene(**parts_for_source(OWN_PARAMETERS))
            session.compared = pinned(shown.scene) if response.is_beside_shown else own
    return to_json(response.data)


def _replied(about: OwnRequest, content: bytes, shown: Trace | None) -> Reply:
    """The reply to a file; where a bug of ours prevents it, what to send us."""
    try:
        with guarded("read and compare this file", "the file, or the names and shapes of its arrays,"):
            return reply(about, content, shown)
    except UnexpectedError as error:
        log_bug("A file could not be compared", error.__cause__ or error)
        return Reply([text([["", str(error)]])])


async def _line(pieces: AsyncIterator[bytes]) -> tuple[bytes, bytes]:
    """The first line of what is sent, and what has come of the rest; nothing if it is too long, or never comes."""
    begun = b""
    async for piece in pieces:
        begun += piece
        line, separator, rest = begun.partition(b"\n")
        if separator and len(line) <= MAX_LINE_BYTES:
            return line, rest
        if len(line) > MAX_LINE_BYTES:
            break
    return b"", b""


async def _content(pieces: AsyncIterator[bytes], begun: bytes) -> bytes | None:
    """The rest of what is sent; None if that is too much."""
    content = bytearray(begun)
    while len(content) <= MAX_FILE_BYTES:
        piece = await anext(pieces, None)
        if piece is None:
            return bytes(content)
        content += piece
    return None
