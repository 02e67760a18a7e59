"""Guards: the routes beside the pages, and the checks that every request passes, for `app.py` and `attnviz`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route

from attnviz.server import acts_route, arrays_route, lesson_route, room_route, scripts, talk_route
from attnviz.server.allowed_paths import AllowedPaths
from attnviz.server.background import background
from attnviz.server.cleanup import sweep_often
from attnviz.server.headers import Headers, configured_policy
from attnviz.server.hosts import Hosts
from attnviz.server.log import quieten
from attnviz.server.process import warm_up
from attnviz.server.responses import BugReports
from attnviz.server.room_store import ROOMS
from attnviz.server.scripts import PageScript
from attnviz.server.websocket import Messages


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
