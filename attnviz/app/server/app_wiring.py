"""Guards: the routes beside the pages, and the checks that every request passes, for `app.py` and `attnviz`."""

import asyncio
import base64
import ctypes
import gc
import hashlib
import importlib
import logging
import os
import pkgutil
import re
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qsl

import streamlit as st
from google.protobuf.message import DecodeError
from starlette.datastructures import URL, MutableHeaders
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app import sections, streamlit_private
from attnviz.app.server import acts_route, arrays_route, lesson_route, scripts, talk_route
from attnviz.app.server.hosts import Hosts
from attnviz.app.server.log import log_bug, quieten
from attnviz.app.server.scripts import PageScript
from attnviz.app.streamlit_private import BackMsg
from attnviz.classroom import room_route
from attnviz.classroom.responses import NO_STORE
from attnviz.classroom.room_store import ROOMS
from attnviz.core.errors import bug_report

_OWN = "/_stcore/"
_ALLOWED = ("health", "host-config")
_FORBIDDEN = ("/component/", "/auth/", "/oauth2callback")
_FOLDERS = {"static", "media", "viewer", "_stcore"}
_POSTED = (acts_route.PATH, arrays_route.PATH, talk_route.PATH, room_route.PATH)
_ROUTES = (*_POSTED, lesson_route.PATH, room_route.EVENTS_PATH, room_route.MOMENT_PATH)
_WALKTHROUGH = "walkthrough"
_ELSEWHERE = {"/lessons": "", "/take_apart": _WALKTHROUGH, "/what_if": _WALKTHROUGH}
"""Where pages are now: the first has no name of its own, and the walkthrough has taken the place of two others."""
_LESSONS = {"lesson", "moment", "present", "room", "speaker"}
"""The parameters of the first page. It was the walkthrough, to which links with any other lead."""
_TYPED_CODE = re.compile(r"\W*([a-z0-9](?:[ -]?[a-z0-9]){4,6})\W*", re.IGNORECASE | re.ASCII)
"""A code as people type it: with a full stop after it, a space in it, a wrong letter, one too few or too many."""
_NO_CODES = {"audit", "lessons", "healthz", "arrays", "moment", "static", "media", "viewer"}
"""The pages, routes and folders whose names look like a code."""
_REFUSED = "There is nothing here: attnviz is used through its pages."


def is_open(path: str) -> bool:
    """Whether our pages ask for that path, wherever the app is mounted."""
    _, separator, name = path.partition(_OWN)
    return name in _ALLOWED if separator else not any(each in path for each in _FORBIDDEN)


def leads_somewhere(path: str) -> bool:
    """Whether a path, below where the app is mounted, may be that of a page, a file, or what our pages ask for.

    Streamlit answers any other with its page too. At `/audit/extra` a browser would
    look for the scripts of that page below `/audit`, and show nothing.
    """
    names = path.strip("/").split("/")
    return len(names) == 1 or path.endswith(_ROUTES) or not _FOLDERS.isdisjoint(names)


def moved(path: str, query: str) -> str | None:
    """Where an address leads now, its path below where the app is mounted; None where it has not moved.

    A room is opened by its code alone, as people type it. Where there is no such room, its page asks again.
    """
    names = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
    if path == "/" and not names <= _LESSONS:
        return _WALKTHROUGH
    name = path.strip("/")
    typed = None if name in _NO_CODES else _TYPED_CODE.fullmatch(name)
    return f"?room={re.sub('[ -]', '', typed[1]).upper()}" if typed else _ELSEWHERE.get(path.rstrip("/"))


def methods(path: str) -> tuple[str, ...]:
    """The HTTP methods of a path; acts, files and talks are all that is sent."""
    return ("POST",) if path.endswith(_POSTED) else ("GET", "HEAD")


class AllowedPaths:
    """Refuses what our pages never ask for, leads older links on, and says where pages are to who misses one."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.base = f"/{st.get_option('server.baseUrlPath').strip('/')}".rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._refusal(scope) or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        if scope["type"] != "http":
            return None
        if scope["method"] not in (allowed := methods(scope["path"])):
            return PlainTextResponse(_REFUSED, 405, {"Allow": ", ".join(allowed), "Connection": "close"})
        if not is_open(scope["path"]):
            return PlainTextResponse(_REFUSED, 404)
        url, base = URL(scope=scope), scope.get("root_path", "") + self.base  # mounted by another app, or by settings
        path = scope["path"].removeprefix(base)
        page = moved(path, url.query)
        if page is not None:
            up = ".." if path.endswith("/") and path != "/" else "."
            is_whole = "?" in page
            return RedirectResponse(f"{up}/{page}{'' if is_whole else url.query and f'?{url.query}'}")
        if not leads_somewhere(path):
            first_page = url.replace(path=f"{base}/", query="")
            return PlainTextResponse(f"There is no such page. attnviz opens at {first_page}", 404)
        return None


_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def policy(frame_ancestors: str) -> str:
    """The content security policy: what a page may load, and in whose pages it may stand.

    Streamlit hands a component's module to the browser as a blob and writes its
    styles into the page. Its protocol buffers multiply 64-bit integers by a
    WebAssembly module, on every page. Without leave for that they do so more slowly,
    and Firefox calls the refusal an error. The leave starts no script: only one that
    runs already can compile a module, and a module does nothing that its script can't.
    Plotly and the tables need nothing more.

    Parameters
    ----------
    frame_ancestors
        The pages that may embed ours, as in the header: `'self' https://course.example.edu`.
    """
    if not re.fullmatch(r"[^\s;,]+( [^\s;,]+)*", frame_ancestors):
        raise ValueError(
            "ATTNVIZ_FRAME_ANCESTORS takes origins with one space between them, as in "
            f"\"'self' https://course.example.edu\"; it is {frame_ancestors!r}."
        )
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' blob: 'wasm-unsafe-eval' {_inline_scripts()}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            f"frame-ancestors {frame_ancestors}",
        )
    )


def _inline_scripts() -> str:
    """Streamlit's own inline scripts, each by its hash, so that no other one runs."""
    page = (streamlit_private.static_folder() / "index.html").read_text(encoding="utf-8")
    digests = [hashlib.sha256(script.encode()).digest() for script in _INLINE.findall(page)]
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def configured_policy() -> str:
    """The policy with the pages that the operator has set; where they are none, the server doesn't start."""
    try:
        return policy(os.environ.get("ATTNVIZ_FRAME_ANCESTORS", "'self'"))
    except ValueError as error:
        raise SystemExit(str(error)) from None


class Headers:
    """Adds the headers to every answer."""

    def __init__(self, app: ASGIApp, policy: str) -> None:
        self.app = app
        self.headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",  # an address holds what a person typed
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        await self.app(scope, receive, sent)


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


_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
"""Has glibc give free memory back to the system; other systems' libraries have no such function."""


def sweep() -> None:
    """End expired sessions, and free what they held."""
    streamlit_private.end_expired_sessions()
    gc.collect()
    if _trim:
        _trim(0)


async def sweep_often() -> None:
    """Sweep as often as sessions expire."""
    while True:
        await asyncio.sleep(st.get_option("server.disconnectedSessionTTL"))
        with suppress(OSError):  # no file was free for a session: the next sweep may find one
            sweep()


try:
    import resource
except ImportError:  # Windows has no limit of files
    resource = None

ENOUGH_FILES = 10_240
"""For all tabs and thousands of unfinished requests; macOS takes no more, though it says its limit is infinite."""


def allow_files() -> None:
    """Raise this process's limit of files and connections, usually 1,024, to `ENOUGH_FILES` or as far as it may."""
    if resource:
        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(now, min(ENOUGH_FILES, most)), most))


def warm_up() -> None:
    """Import all that the pages need, and have no collection look at it again: each would take some 40 ms."""
    for module in pkgutil.iter_modules(sections.__path__, f"{sections.__name__}."):
        importlib.import_module(module.name)
    gc.collect()
    gc.freeze()


@asynccontextmanager
async def background(work: Coroutine) -> AsyncIterator[None]:
    """Have some work go on until the block ends."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def routes() -> list[BaseRoute]:
    """The routes beside the pages, which start no session."""
    modules = (scripts, acts_route, arrays_route, lesson_route, talk_route)
    of_rooms = room_route.routes()  # first: /room/moment is no lesson's
    return [Route("/healthz", _healthy), *of_rooms, *(each.route() for each in modules)]


def middleware() -> list[Middleware]:
    """The layers that every request passes before Streamlit sees it, from the outermost on."""
    layers = (BugReports, Hosts, AllowedPaths, PageScript, Messages)
    return [Middleware(Headers, configured_policy()), *map(Middleware, layers)]


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """The life of the app: from what it does first to what it does last."""
    warm_up()
    quieten()
    try:
        async with background(sweep_often()), background(ROOMS.run()):
            yield
    finally:
        await ROOMS.close()


async def _healthy(request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok")


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
            report = bug_report("answer this", "what you did", error)
            await PlainTextResponse(report, 500, NO_STORE)(scope, receive, send)
