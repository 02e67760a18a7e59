"""Allowed paths: those of Streamlit's that our pages ask for.

Without this, anyone could leave files in the server's memory, read how it is
used, and have programs drive the app.
"""

import re
from urllib.parse import parse_qsl

import streamlit as st
from starlette.datastructures import URL
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from attnviz.app.server import acts_route, arrays_route, lesson_route, talk_route
from attnviz.classroom import room_route

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
