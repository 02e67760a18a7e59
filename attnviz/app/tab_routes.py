"""The routes that change a tab: actions done in its viewer, and files of arrays. No run of the page is needed.

A comparison takes seconds of processor in one piece, so it queues with the other long work (`tabs.LONG_WORK`).
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Collection
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from attnviz.app.log import log_bug
from attnviz.app.tabs import LONG_WORK, OPEN, UNKNOWN, Tab
from attnviz.articles.pieces import text
from attnviz.articles.upload import Reply, reply
from attnviz.checks.upload_requests import OwnRequest
from attnviz.checks.upload_requests import read as read_question
from attnviz.classroom.http import TooLargeError, json_response, read_body, refusal
from attnviz.contract.answer import read_request as read_acts
from attnviz.contract.base import RequestError
from attnviz.core.errors import UnexpectedError, guarded
from attnviz.core.limits import MAX_FILE_BYTES, MAX_FILE_SIZE
from attnviz.core.trace import Trace
from attnviz.scene.actions.session import answer_to
from attnviz.scene.document.encoding import to_json
from attnviz.scene.scene import OWN_CODE, OWN_PARAMETERS, Scene, parts_for_source, pinned

ACTS_PATH = "/acts"

MAX_ACTS_BYTES = 128_000
"""Size limit of a request; a viewer sends a few hundred bytes, or at most a few of the longest sentences."""

HEAVY_SECONDS = 1.0
"""Processor seconds (see `CpuQuota.used`) after which a tab works in the other lane; nobody reaches them by hand."""

LONG = ("flip", "names")
"""Actions that take up to a second of processor, and therefore queue with all long work."""

_LANE, _OTHER_LANE = ThreadPoolExecutor(4, "acts"), ThreadPoolExecutor(1, "many acts")
_TAB = re.compile(rb'{"tab": ?"(\w*)"')  # the start of a request: without a known tab, the rest is not parsed
_REFUSED_ACTS = "What is asked here is a page's own, of its tab and of a bounded size. Reload the page."


def acts_route() -> Route:
    """The route of a viewer's actions."""
    return Route(f"/{{base:path}}{ACTS_PATH[1:]}", _acts, methods=["POST"])  # wherever the app is mounted


async def _acts(request: Request) -> Response:
    try:
        body = await read_body(request, MAX_ACTS_BYTES)
    except (TooLargeError, ClientDisconnect):
        return refusal(400, _REFUSED_ACTS)
    begun = _TAB.match(body)
    if begun is None:
        return refusal(400, _REFUSED_ACTS)
    tab = OPEN.get(begun[1].decode())
    if tab is None:
        return PlainTextResponse(UNKNOWN, 404)
    async with tab.turn:
        await asyncio.sleep(tab.cpu_quota.wait(time.monotonic()))
        lane = _LANE if tab.cpu_quota.used < HEAVY_SECONDS else _OTHER_LANE
        made = await asyncio.get_running_loop().run_in_executor(lane, _acts_response, tab, body, LONG)
        return made or await LONG_WORK.in_one_piece(tab.who, _acts_response, tab, body)


def _acts_response(tab: Tab, body: bytes, left: Collection[str] = ()) -> Response | None:
    """The response to a tab's request, at the cost of its quota; None, without effect, if an action is in `left`."""
    with tab.cpu_quota.noted():
        try:
            done = read_acts(body)
        except RequestError as error:
            return refusal(400, str(error))
        if done.tab != tab.token:  # JSON may contain a key twice
            return refusal(400, _REFUSED_ACTS)
        if tab.session is None:
            return PlainTextResponse(UNKNOWN, 404)
        if any(name in left for name, _ in done.acts):
            return None
        answer = answer_to(tab.session, done)
    return json_response(answer)


ARRAYS_PATH = "/arrays"

MAX_LINE_BYTES = 8_192
"""Size limit of the line of JSON in front of a file."""

_UNDERWAY: set[Tab] = set()
_REFUSED_ARRAYS = "What is asked here is a page's own: a line of JSON, and a file. Reload the page."
_BUSY = "One file of a tab is compared at once; this one is sent again in a moment."
_TOO_LARGE = f"A file of arrays may have at most {MAX_FILE_SIZE}; this one has more."


def arrays_route() -> Route:
    """The route of uploaded files."""
    return Route(f"/{{base:path}}{ARRAYS_PATH[1:]}", _arrays, methods=["POST"])  # wherever the app is mounted


async def _arrays(request: Request) -> Response:
    pieces = request.stream()
    try:
        line, begun = await _line(pieces)
        about = read_question(line)
        tab = OPEN.get(about.tab)
        if tab is None or tab.session is None:
            return refusal(404, UNKNOWN)
        content = await _content(pieces, begun)
    except RequestError as error:
        return refusal(400, str(error))
    except ClientDisconnect:
        return refusal(400, _REFUSED_ARRAYS)
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
    made = await LONG_WORK.in_one_piece(tab.who, _arrays_response, tab, about, content)
    return json_response(made)


def _arrays_response(tab: Tab, about: OwnRequest, content: bytes) -> bytes:
    session = tab.session
    with tab.cpu_quota.noted():
        shown = session.resolved()
        response = _replied(about, content, shown.trace)
        session.uploads.pop(OWN_CODE, None)  # the previous file's
        session.keep(*response.uploads)
        if response.uploads:
            own = Scene(**parts_for_source(OWN_PARAMETERS))
            session.compared = pinned(shown.scene) if response.is_beside_shown else own
    return to_json(response.data)


def _replied(about: OwnRequest, content: bytes, shown: Trace | None) -> Reply:
    """The reply to a file, or a bug report if we fail."""
    try:
        with guarded("read and compare this file", "the file, or the names and shapes of its arrays,"):
            return reply(about, content, shown)
    except UnexpectedError as error:
        log_bug("A file could not be compared", error.__cause__ or error)
        return Reply([text([["", str(error)]])])


async def _line(pieces: AsyncIterator[bytes]) -> tuple[bytes, bytes]:
    """The first line, and what has arrived of the rest; empty if the line is too long or never ends."""
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
    """The rest of the body; None if it is too large."""
    content = bytearray(begun)
    while len(content) <= MAX_FILE_BYTES:
        piece = await anext(pieces, None)
        if piece is None:
            return bytes(content)
        content += piece
    return None
