"""Websockets: what the guards of a visitor's connection have in common."""

from abc import ABC, abstractmethod

from starlette.types import ASGIApp, Message, Receive, Scope, Send


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


async def hang_up(send: Send) -> Message:
    """Close a connection whose visitor breaks a rule; returns what the app is told of it."""
    await send({"type": "websocket.close", "code": 1008})
    return {"type": "websocket.disconnect", "code": 1008}
