"""Websockets: what the guards of a visitor's connection have in common."""

from abc import ABC, abstractmethod

from starlette.types import ASGIApp, Receive, Scope, Send


class WebsocketGuard(ABC):
    """Stands before the app on each websocket; everything else passes.

    Parameters
    ----------
    app
        What it stands before.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection."""
        serve = self.guard if scope["type"] == "websocket" else self.app
        await serve(scope, receive, send)

    @abstractmethod
    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a websocket."""
