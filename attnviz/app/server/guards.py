"""Guards: the routes beside the pages, and the checks that every request passes, for `app.py` and `attnviz`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attnviz.app.server import acts_route, arrays_route, lesson_route, scripts, talk_route
from attnviz.app.server.allowed_paths import AllowedPaths
from attnviz.app.server.background import background
from attnviz.app.server.cleanup import sweep_often
from attnviz.app.server.headers import Headers, configured_policy
from attnviz.app.server.hosts import Hosts
from attnviz.app.server.log import log_bug, quieten
from attnviz.app.server.process import warm_up
from attnviz.app.server.scripts import PageScript
from attnviz.app.server.websocket import Messages
from attnviz.classroom import room_route
from attnviz.classroom.responses import NO_STORE
from attnviz.classroom.room_store import ROOMS
from attnviz.core.errors import report_of


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
            report = report_of("answer this", "what you did", error)
            await PlainTextResponse(report, 500, NO_STORE)(scope, receive, send)
