"""What `app.py` and the command `attnviz` put around the pages: routes of our own, and what every request passes."""

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route


def routes() -> list[BaseRoute]:
    """What answers beside the pages, without starting a session."""
    return [Route("/healthz", _healthy)]


def middleware() -> list[Middleware]:
    """What every request passes through before Streamlit sees it."""
    return []


async def _healthy(request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok")
