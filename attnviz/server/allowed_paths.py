"""Which of Streamlit's paths may be asked: those that our pages ask for.

Without this, anyone could leave files in the server's memory, read how it is
used, and have programs drive the app.
"""

import streamlit as st
from starlette.datastructures import URL
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from attnviz.server import acts_route, arrays_route, lesson_route

_OWN = "/_stcore/"
_ALLOWED = ("health", "host-config")
_FORBIDDEN = ("/component/", "/auth/", "/oauth2callback")
_FOLDERS = {"static", "media", "viewer", "_stcore"}
_POSTED = (acts_route.PATH, arrays_route.PATH)
_ASKED = (*_POSTED, lesson_route.PATH)
_AT_HOME = ("/walkthrough", "/take_apart", "/what_if")
"""Names of the first page: its own, and those of pages that it has taken the place of, as links to them are out."""
_REFUSED = "There is nothing here: attnviz is used through its pages."


def is_open(path: str) -> bool:
    """Whether our pages ask for that path, wherever the app is mounted."""
    _, own, name = path.partition(_OWN)
    return name in _ALLOWED if own else not any(each in path for each in _FORBIDDEN)


def leads_somewhere(path: str) -> bool:
    """Whether a path, below where the app is mounted, may be that of a page, a file, acts, arrays or a moment.

    Streamlit answers any other with its page too. At `/audit/extra` a browser would
    look for the scripts of that page below `/audit`, and show nothing.
    """
    names = path.strip("/").split("/")
    return len(names) == 1 or path.endswith(_ASKED) or not _FOLDERS.isdisjoint(names)


def methods(path: str) -> tuple[str, ...]:
    """How a path may be asked; what is done in a viewer, and somebody's own arrays, is all that is sent."""
    return ("POST",) if path.endswith(_POSTED) else ("GET", "HEAD")


class AllowedPaths:
    """Refuses what our pages never ask for, and says where they are to who asks for one that isn't there.

    Streamlit has the first page at no name of its own: where it is asked for by one, "Page not found" stands over it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.base = f"/{st.get_option('server.baseUrlPath').strip('/')}".rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self.app
        if scope["type"] == "http" and scope["method"] not in (allowed := methods(scope["path"])):
            answer = PlainTextResponse(_REFUSED, 405, {"Allow": ", ".join(allowed), "Connection": "close"})
        elif scope["type"] == "http" and not is_open(scope["path"]):
            answer = PlainTextResponse(_REFUSED, 404)
        elif scope["type"] == "http" and scope["path"].removeprefix(self._base(scope)).rstrip("/") in _AT_HOME:
            query = URL(scope=scope).query
            answer = RedirectResponse(f"{'..' if scope['path'].endswith('/') else '.'}/{query and f'?{query}'}")
        elif scope["type"] == "http" and not leads_somewhere(scope["path"].removeprefix(base := self._base(scope))):
            first_page = URL(scope=scope).replace(path=f"{base}/", query="")
            answer = PlainTextResponse(f"There is no such page. attnviz opens at {first_page}", 404)
        await answer(scope, receive, send)

    def _base(self, scope: Scope) -> str:
        """Where the app is mounted, by another app or by its own settings."""
        return scope.get("root_path", "") + self.base
