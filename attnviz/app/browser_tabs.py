"""Open tabs, and the routes that change one without a run of its page: actions done in its viewer, and uploaded files.
Audits, comparisons, flips and microgpt's names take up to seconds of processor, so they queue for `LONG_WORK`.
"""

import asyncio
import re
import secrets
import time
from collections.abc import AsyncIterator, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import streamlit as st
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response

from attnviz.app.log import log_bug
from attnviz.articles.pieces import text
from attnviz.articles.upload_reply import Reply, reply
from attnviz.checks.uploads import UploadRequest
from attnviz.checks.uploads import read as read_question
from attnviz.classroom.fair_queue import FairQueue
from attnviz.classroom.http import TooLargeError, json_response, network_of, read_body, refusal
from attnviz.contract.base import RequestError, received
from attnviz.contract.request_reply import ActionsRequest
from attnviz.core.errors import UnexpectedError, guarded
from attnviz.core.limits import MAX_FILE_BYTES, MAX_FILE_SIZE
from attnviz.core.trace import Trace
from attnviz.scene.actions.session import Session, reply_to
from attnviz.scene.document.encoding import to_json
from attnviz.scene.scene import OWN_CODE, OWN_PARAMETERS, Scene, parts_for_source, pinned

FREE_SECONDS = 2.0  # processor seconds that a tab may use without delay; nobody reaches them by hand
SECONDS_PER_SECOND = 0.25  # processor seconds per second that it may use after that
MAX_WAIT_SECONDS = 2.0  # longest wait for one piece of work, in seconds


@dataclass
class CpuQuota:
    """A leaky bucket of the processor time that a tab has used."""

    used: float = 0.0  # processor seconds, less the allowance since
    at: float = field(default_factory=time.monotonic)  # the time of that balance, in seconds

    def wait(self, now: float) -> float:
        """Seconds that work requested now has to wait."""
        self.used = max(self.used - SECONDS_PER_SECOND * (now - self.at), 0.0)
        wait = max(self.used - FREE_SECONDS, 0.0) / SECONDS_PER_SECOND
        self.used, self.at = self.used - SECONDS_PER_SECOND * wait, now + wait
        return wait

    def spend(self, seconds: float) -> None:
        """Record used seconds, capped so that no later wait exceeds the maximum."""
        self.used = min(self.used + seconds, FREE_SECONDS + SECONDS_PER_SECOND * MAX_WAIT_SECONDS)

    @contextmanager
    def metered(self) -> Iterator[None]:
        """Record the processor time of the block's thread."""
        start = time.thread_time()
        try:
            yield
        finally:
            self.spend(time.thread_time() - start)


LONG_WORK = FairQueue("long work")  # long work of all tabs, one piece at a time in the process


@dataclass(eq=False)
class Tab:
    """One open tab. It lives as long as its Streamlit session."""

    token: str = field(default_factory=lambda: secrets.token_hex(16))  # its secret name, known only to its browser
    network: str = ""  # the network that opened it (`http.network_of`)
    session: Session | None = None  # its state between requests; None before the first
    cpu_quota: CpuQuota = field(default_factory=CpuQuota)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)  # held while one of its requests for actions is answered

    @property
    def owner(self) -> tuple[str, str]:
        """Its identity in fair queues."""
        return self.network, self.token


OPEN: WeakValueDictionary[str, Tab] = WeakValueDictionary()  # all open tabs, by token
# the reply to an unknown token
UNKNOWN = "This process knows no such tab; the page gets another one as it connects again."
_TAB = "tab"


def current_tab() -> Tab:
    """The tab of this run."""
    if _TAB not in st.session_state:
        tab = Tab(network=network_of(st.context.ip_address or ""))  # empty for this machine itself
        OPEN[tab.token] = tab
        LONG_WORK.open(tab.owner)
        st.session_state[_TAB] = tab
    return st.session_state[_TAB]


@contextmanager
def within_quota() -> Iterator[None]:
    """Make a run wait for its tab's quota, and record what it uses."""
    quota = current_tab().cpu_quota
    time.sleep(quota.wait(time.monotonic()))
    with quota.metered():
        yield


ACTIONS_PATH = "/actions"
MAX_ACTIONS_BYTES = 128_000  # of a request; a viewer sends a few hundred, or at most a few of the longest sentences
# processor seconds (see `CpuQuota.used`) after which a tab works in the other executor; nobody reaches them by hand
HEAVY_SECONDS = 1.0
LONG = ("flip", "names")  # actions that take up to a second of processor, and therefore queue with all long work
_EXECUTOR, _SLOW_EXECUTOR = ThreadPoolExecutor(4, "actions"), ThreadPoolExecutor(1, "many actions")
_TAB_OF_REQUEST = re.compile(rb'{"tab": ?"(\w*)"')  # without a known tab, the rest of a request is not parsed
_REFUSED_ACTIONS = "What is asked here is a page's own, of its tab and of a bounded size. Reload the page."


async def handle_actions(request: Request) -> Response:
    """The response to a viewer's actions."""
    try:
        body = await read_body(request, MAX_ACTIONS_BYTES)
    except (TooLargeError, ClientDisconnect):
        return refusal(400, _REFUSED_ACTIONS)
    start = _TAB_OF_REQUEST.match(body)
    if start is None:
        return refusal(400, _REFUSED_ACTIONS)
    tab = OPEN.get(start[1].decode())
    if tab is None:
        return PlainTextResponse(UNKNOWN, 404)
    async with tab.turn:
        await asyncio.sleep(tab.cpu_quota.wait(time.monotonic()))
        executor = _EXECUTOR if tab.cpu_quota.used < HEAVY_SECONDS else _SLOW_EXECUTOR
        response = await asyncio.get_running_loop().run_in_executor(executor, actions_response, tab, body, LONG)
        return response or await LONG_WORK.run(tab.owner, actions_response, tab, body)


def actions_response(tab: Tab, body: bytes, postponed: Collection[str] = ()) -> Response | None:
    """The response to a tab's request, at the cost of its quota; None, without effect, if an action is postponed."""
    with tab.cpu_quota.metered():
        try:
            request = received(body, ActionsRequest)
        except RequestError as error:
            return refusal(400, str(error))
        if request.tab != tab.token:  # JSON may contain a key twice
            return refusal(400, _REFUSED_ACTIONS)
        if tab.session is None:
            return PlainTextResponse(UNKNOWN, 404)
        if any(name in postponed for name, _ in request.actions):
            return None
        return json_response(reply_to(tab.session, request))


ARRAYS_PATH = "/arrays"
MAX_LINE_BYTES = 8_192  # size limit of the line of JSON in front of a file
_COMPARING: set[Tab] = set()
_REFUSED_ARRAYS = "What is asked here is a page's own: a line of JSON, and a file. Reload the page."
_BUSY = "One file of a tab is compared at once; this one is sent again in a moment."
_TOO_LARGE = f"A file of arrays may have at most {MAX_FILE_SIZE}; this one has more."


async def handle_arrays(request: Request) -> Response:
    """The response to an uploaded file."""
    pieces = request.stream()
    try:
        line, start = await _first_line(pieces)
        question = read_question(line)
        tab = OPEN.get(question.tab)
        if tab is None or tab.session is None:
            return refusal(404, UNKNOWN)
        content = await _content(pieces, start)
    except RequestError as error:
        return refusal(400, str(error))
    except ClientDisconnect:
        return refusal(400, _REFUSED_ARRAYS)
    if content is None:
        return refusal(413, _TOO_LARGE)
    if tab in _COMPARING:
        return refusal(429, _BUSY)
    _COMPARING.add(tab)
    try:
        await asyncio.sleep(tab.cpu_quota.wait(time.monotonic()))
        return json_response(await LONG_WORK.run(tab.owner, _compare_arrays, tab, question, content))
    finally:
        _COMPARING.discard(tab)


def _compare_arrays(tab: Tab, question: UploadRequest, content: bytes) -> bytes:
    """Compare a file with the tab's pass, keep its arrays in the session, and return the comparison as JSON."""
    session = tab.session
    with tab.cpu_quota.metered():
        shown = session.resolved()
        made = _comparison(question, content, shown.trace)
        session.uploads.pop(OWN_CODE, None)  # the previous file's
        session.keep(*made.uploads)
        if made.uploads:
            uploaded = Scene(**parts_for_source(OWN_PARAMETERS))
            session.compared = pinned(shown.scene) if made.is_beside_shown else uploaded
    return to_json(made.data)


def _comparison(question: UploadRequest, content: bytes, trace: Trace | None) -> Reply:
    try:
        with guarded("read and compare this file", "the file, or the names and shapes of its arrays,"):
            return reply(question, content, trace)
    except UnexpectedError as error:
        log_bug("A file could not be compared", error.__cause__ or error)
        return Reply([text([["", str(error)]])])


async def _first_line(pieces: AsyncIterator[bytes]) -> tuple[bytes, bytes]:
    """The first line, and what has arrived of the rest; empty if the line is too long or never ends."""
    start = b""
    async for piece in pieces:
        start += piece
        line, separator, rest = start.partition(b"\n")
        if len(line) > MAX_LINE_BYTES:
            break
        if separator:
            return line, rest
    return b"", b""


async def _content(pieces: AsyncIterator[bytes], start: bytes) -> bytes | None:
    """The rest of the body; None if it is too large."""
    content = bytearray(start)
    while len(content) <= MAX_FILE_BYTES:
        piece = await anext(pieces, None)
        if piece is None:
            return bytes(content)
        content += piece
    return None
