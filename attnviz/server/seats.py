"""How many tabs one process serves: each takes memory and files, and one too many must not cost the others theirs."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from attnviz.server.descriptors import limits
from attnviz.server.websocket import WebsocketGuard

MOST = 1_000
"""Tabs at once; a core answers fewer (`deploy/README.md`)."""

FILES_OF_A_TAB = 5  # three of its session, its websocket, and a connection for acts
FILES_OF_THE_SERVER = 100


def seats() -> int:
    """How many tabs this process has files for, at most `MOST`."""
    files, _ = limits()
    return max(1, min(MOST, (files - FILES_OF_THE_SERVER) // FILES_OF_A_TAB))


class Seats(WebsocketGuard):
    """Refuses a tab where there is no seat; the browser asks again by itself."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self.free = seats()

    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.free:
            await PlainTextResponse("All seats are taken; the page tries again by itself.", 503)(scope, receive, send)
            return
        self.free -= 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.free += 1
