"""The checks that every request passes before Streamlit sees it: host names, origins, paths, headers and messages.

Another site can point a host name of its own at this machine (DNS rebinding), and its page could then read the app as
if it were its own. That can't be done with an IP address, so IP addresses and this machine's own names are enough for
a classroom; `server.allowedHosts` names any others.
"""

import logging
import os
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlsplit

import streamlit as st
from google.protobuf.message import DecodeError
from starlette.datastructures import URL, MutableHeaders
from starlette.datastructures import Headers as RequestHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from attnviz.app import streamlit_private
from attnviz.app.browser_tabs import ACTIONS_PATH, ARRAYS_PATH
from attnviz.app.class_pages import HOME_PATH
from attnviz.app.index_page import FIRST_MOMENT_SCRIPT
from attnviz.app.lesson_routes import MOMENT_PATH, TALK_PATH
from attnviz.app.static_files import base_path
from attnviz.app.streamlit_private import BackMsg
from attnviz.classroom import room_routes
from attnviz.viewer.bundle import hash_source

LOCAL = ("localhost", "*.localhost", "*.streamlit.app")  # names that nobody else can point at this machine
_PROBES = ("/healthz", "/_stcore/health")
_FOREIGN = "This app is used through its own pages; that came from a page of another site."
_REFUSED_HOST = (
    "This app does not answer to the host name in the address. Open it by its IP address, as in http://192.0.2.7:8501, "
    "or ask its operator to allow the name (attnviz --allow-host NAME, or server.allowedHosts)."
)


def is_allowed_host(host: str, names: Sequence[str]) -> bool:
    """Whether a Host header matches one of `names` (`*.example.com`); without names, whether nobody could fake it."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    name = name.rstrip(".")
    return any(fnmatchcase(name, each) for each in names or LOCAL) or (not names and _is_ip_address(name))


def same_origin(origin: str | None, host: str, trusted: Sequence[str]) -> bool:
    """Whether a request comes from our own page, a trusted origin, or no page at all."""
    return origin is None or origin in trusted or origin.partition("://")[2].lower() == host.lower()


def _is_ip_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class Hosts:
    """Refuse unknown host names, and websockets and actions from other sites' pages."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.names = [each.lower() for each in st.get_option("server.allowedHosts")]
        self.trusted = st.get_option("server.corsAllowedOrigins")
        self.checks_origin = st.get_option("server.enableCORS")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._refusal(scope) or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        if scope["type"] == "lifespan":
            return None
        headers, is_http = RequestHeaders(scope=scope), scope["type"] == "http"
        host = headers.get("host", "")
        if not (is_http and scope["path"] in _PROBES) and not is_allowed_host(host, self.names):
            return _refusal(scope, 421, _REFUSED_HOST)
        # the browser itself keeps what is only read from other sites' pages
        only_reads = is_http and scope["method"] in ("GET", "HEAD")
        if self.checks_origin and not only_reads and not same_origin(headers.get("origin"), host, self.trusted):
            return _refusal(scope, 403, _FOREIGN)
        return None


def _refusal(scope: Scope, status: int, rule: str) -> ASGIApp:
    if scope["type"] == "websocket":
        return WebSocketClose(1008)
    return PlainTextResponse(rule, status, {"Connection": "close"})  # the rest of the request is not read


_STREAMLITS = "/_stcore/"
_ALLOWED = ("health", "host-config")
_FORBIDDEN = ("/component/", "/auth/", "/oauth2callback")
_FOLDERS = {"static", "media", "viewer", "_stcore"}
_POSTED = (ACTIONS_PATH, ARRAYS_PATH, TALK_PATH, room_routes.PATH, room_routes.REOPEN_PATH)
_OF_CLASSES = (room_routes.EVENTS_PATH, room_routes.NOW_PATH, room_routes.MOMENT_PATH, HOME_PATH)
_ROUTES = (*_POSTED, MOMENT_PATH, *_OF_CLASSES)
_WALKTHROUGH = "walkthrough"
_MOVED = {"/lessons": "", "/take_apart": _WALKTHROUGH, "/what_if": _WALKTHROUGH}  # redirects of old pages
# The parameters of the first page. It used to be the walkthrough, so links with any others lead there.
_LESSONS = {"lesson", "moment", "present", "room", "speaker"}
# a room code as people type it: with punctuation, a space, a wrong letter, or one too few or too many
_TYPED_CODE = re.compile(r"\W*([a-z0-9](?:[ -]?[a-z0-9]){4,6})\W*", re.IGNORECASE | re.ASCII)
_NO_CODES = {
    "audit",
    "lessons",
    "healthz",
    "actions",
    "arrays",
    "moment",
    "static",
    "media",
    "viewer",
}  # look like a code
_REFUSED_PATH = "There is nothing here: attnviz is used through its pages."


def is_allowed(path: str) -> bool:
    """Whether our pages request this path, under any mount path."""
    _, separator, name = path.partition(_STREAMLITS)
    return name in _ALLOWED if separator else not any(each in path for each in _FORBIDDEN)


def can_exist(path: str) -> bool:
    """Whether a path (below the mount path) can be a page, a file or one of our routes. Streamlit answers all others
    with its page too: at `/audit/extra` a browser would look for its scripts below `/audit`, and show nothing.
    """
    names = path.strip("/").split("/")
    return len(names) == 1 or path.endswith(_ROUTES) or not _FOLDERS.isdisjoint(names)


def redirect_target(path: str, query: str) -> str | None:
    """The redirect target of a path (below the mount path); None if it has not moved. A room opens by its code alone,
    as people type it. If there is no such room, the page asks again.
    """
    names = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
    if path == "/" and not names <= _LESSONS:
        return _WALKTHROUGH
    name = path.strip("/")
    typed = None if name in _NO_CODES else _TYPED_CODE.fullmatch(name)
    return f"?room={re.sub('[ -]', '', typed[1]).upper()}" if typed else _MOVED.get(path.rstrip("/"))


class AllowedPaths:
    """Refuse paths that our pages never request, redirect old links, and point lost visitors to the first page."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._refusal(scope) or self.app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        if scope["type"] != "http":
            return None
        allowed = ("POST",) if scope["path"].endswith(_POSTED) else ("GET", "HEAD")
        if scope["method"] not in allowed:
            return PlainTextResponse(_REFUSED_PATH, 405, {"Allow": ", ".join(allowed), "Connection": "close"})
        if not is_allowed(scope["path"]):
            return PlainTextResponse(_REFUSED_PATH, 404)
        url, base = URL(scope=scope), base_path(scope)
        path = scope["path"].removeprefix(base)
        page = redirect_target(path, url.query)
        if page is not None:
            up = ".." if path.endswith("/") and path != "/" else "."
            has_query = "?" in page
            return RedirectResponse(f"{up}/{page}{'' if has_query else url.query and f'?{url.query}'}")
        if not can_exist(path):
            first_page = url.replace(path=f"{base}/", query="")
            return PlainTextResponse(f"There is no such page. attnviz opens at {first_page}", 404)
        return None


_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def policy() -> str:
    """The content security policy: what a page may load, and which pages may embed it.

    Streamlit passes a component's module to the browser as a blob and writes styles into the page. Its protocol
    buffers use a WebAssembly module; without permission they are slower, and Firefox logs an error. The permission is
    harmless: a module can do nothing that the script which compiles it can't. The operator names the pages that may
    embed ours as in the header: `'self' https://course.example.edu`. The server doesn't start if these are malformed.
    """
    frame_ancestors = os.environ.get("ATTNVIZ_FRAME_ANCESTORS", "'self'")
    if not re.fullmatch(r"[^\s;,]+( [^\s;,]+)*", frame_ancestors):
        raise SystemExit(
            "ATTNVIZ_FRAME_ANCESTORS takes origins with one space between them, as in "
            f"\"'self' https://course.example.edu\"; it is {frame_ancestors!r}."
        )
    page = (streamlit_private.static_folder() / "index.html").read_text(encoding="utf-8")
    inline = " ".join(map(hash_source, (*_INLINE.findall(page), FIRST_MOMENT_SCRIPT)))
    return (
        f"default-src 'self'; script-src 'self' blob: 'wasm-unsafe-eval' {inline}; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; "
        f"base-uri 'none'; form-action 'none'; frame-ancestors {frame_ancestors}"
    )


class Headers:
    """Add the security headers to every response."""

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


MAX_MESSAGE_BYTES = 256_000  # size limit of a websocket message; our pages send a few thousand bytes
_FORWARDED = {"rerun_script", "stop_script", "app_heartbeat", "deferred_file", "dataframe_chunk"}
_IGNORED = {
    *(None, "clear_cache", "set_run_on_save", "load_git_info", "debug_disconnect_websocket"),  # None: an empty message
    *("debug_shutdown_runtime", "file_urls_request", "install_skills", "dismiss_skills_nudge"),
}
_IDENTITY = re.compile(r"[0-9a-f-]{0,64}")  # hashes and UUIDs; Streamlit logs unknown ones
_log = logging.getLogger(__name__)


def classify_message(data: bytes) -> str:
    """Return "forwarded" if our pages send such a message, "refused" if no page could, else "ignored"."""
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
    if kind not in _FORWARDED | _IGNORED:
        _log.warning(f"A browser sent a message of a new kind, {kind}, which is ignored: decide in app/middleware.")
    return "forwarded" if kind in _FORWARDED and all(map(_IDENTITY.fullmatch, identities)) else "ignored"


class Messages:
    """Forward the messages that our pages send; close the connection on those that no page could send."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_forwarded() -> Message:
            while (message := await receive())["type"] == "websocket.receive":
                fate = classify_message(message.get("bytes") or b"\xff")  # our messages are never text
                if fate == "forwarded":
                    break
                if fate == "refused":
                    await send({"type": "websocket.close", "code": 1008})
                    return {"type": "websocket.disconnect", "code": 1008}
            return message

        await self.app(scope, receive_forwarded if scope["type"] == "websocket" else receive, send)
