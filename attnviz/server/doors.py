"""Which of Streamlit's doors are open: those that our pages go through.

Without this, anyone could leave files in the server's memory, read how it is
used, and have programs drive the app.
"""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from attnviz.server import acts

_OWN = "/_stcore/"
_OPEN = ("health", "host-config")
_SHUT = ("/component/", "/auth/", "/oauth2callback")
_REFUSED = "There is nothing here: attnviz takes no files, and is used through its pages."


def is_open(path: str) -> bool:
    """Whether our pages ask for that path, wherever the app is mounted."""
    _, own, name = path.partition(_OWN)
    return name in _OPEN if own else not any(each in path for each in _SHUT)


def methods(path: str) -> tuple[str, ...]:
    """How a path may be asked; what is done in a viewer is all that is sent."""
    return ("POST",) if path.endswith(acts.PATH) else ("GET", "HEAD")


class Doors:
    """Refuses what our pages never ask for."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self.app
        if scope["type"] == "http" and scope["method"] not in (allowed := methods(scope["path"])):
            answer = PlainTextResponse(_REFUSED, 405, {"Allow": ", ".join(allowed), "Connection": "close"})
        elif scope["type"] == "http" and not is_open(scope["path"]):
            answer = PlainTextResponse(_REFUSED, 404)
        await answer(scope, receive, send)
