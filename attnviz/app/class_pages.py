"""The pages of classes, `?room=KTQWRM`: they are answered before Streamlit, which a phone would take 3 MB of."""

import gzip
from functools import lru_cache
from urllib.parse import parse_qs

import streamlit as st
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from attnviz.classroom.codes import code_in
from attnviz.viewer.class_page import class_page

_HEADERS = {"Vary": "Accept-Encoding", "Cache-Control": "no-cache"}  # an update changes the scripts that it names


def room_in(query: str) -> str:
    """The room that a query asks for, as people type it ("ktq-wrm."); empty if it asks for none."""
    typed = parse_qs(query).get("room", [""])[-1].upper()
    return "".join(filter(str.isalnum, typed))[:20]


class ClassPages:
    """Answer requests for a room at the first page's address, under any mount path."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.base = f"/{st.get_option('server.baseUrlPath').strip('/')}".rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._page(scope) or self.app)(scope, receive, send)

    def _page(self, scope: Scope) -> Response | None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            return None
        base = scope.get("root_path", "") + self.base
        path = scope["path"].removeprefix(base)
        if path not in ("", "/") or not (code := room_in(query := scope["query_string"].decode("latin-1"))):
            return None
        if not path:  # the page's addresses are relative
            return RedirectResponse(f"{base.rpartition('/')[2]}/?{query}")
        is_compressed = "gzip" in Request(scope).headers.get("accept-encoding", "")
        page = _compressed(code) if is_compressed and code_in(code) else class_page(code).encode()
        headers = _HEADERS | ({"Content-Encoding": "gzip"} if is_compressed and code_in(code) else {})
        return Response(page, media_type="text/html", headers=headers)


@lru_cache(64)
def _compressed(code: str) -> bytes:
    return gzip.compress(class_page(code).encode(), mtime=0)
