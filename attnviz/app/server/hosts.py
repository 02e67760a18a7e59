"""Hosts: the names that the app answers to, and the origins that may talk to it.

Somebody else can point a name of theirs at this machine (DNS rebinding), and
their page then reads the app as if it were its own. Nobody can do that with an
IP address, so IP addresses and this machine's own names are enough for a
classroom; `server.allowedHosts` names any others.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from ipaddress import ip_address
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

LOCAL = ("localhost", "*.localhost", "*.streamlit.app")
"""Names that nobody else can point at this machine: its own, and those that Community Cloud gives out."""

_PROBES = ("/healthz", "/_stcore/health")
_ASKS = ("GET", "HEAD")
_FOREIGN = "This app is used through its own pages; that came from a page of another site."
_REFUSED = (
    "This app does not answer to the host name in the address. Open it by its IP address, as in http://192.0.2.7:8501, "
    "or ask its operator to allow the name (attnviz --allow-host NAME, or server.allowedHosts)."
)


def answers_to(host: str, names: Sequence[str]) -> bool:
    """Whether a Host header is one of `names`, as in `*.example.com`; without any, whether it can only be ours."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    name = name.rstrip(".")
    return any(fnmatchcase(name, each) for each in names or LOCAL) or (not names and _is_number(name))


def same_origin(origin: str | None, host: str, trusted: Sequence[str]) -> bool:
    """Whether something comes from a page of ours or of an origin that the operator trusts, or from no page."""
    return origin is None or origin in trusted or origin.partition("://")[2].lower() == host.lower()


def _is_number(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class Hosts:
    """Refuses what was sent to another name than ours, and what another site's page does: websockets, and acts."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.names = [each.lower() for each in st.get_option("server.allowedHosts")]
        self.trusted = st.get_option("server.corsAllowedOrigins")
        self.checks_origin = st.get_option("server.enableCORS")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self.app
        if scope["type"] != "lifespan":
            headers = Headers(scope=scope)
            host = headers.get("host", "")
            if not _is_probe(scope) and not answers_to(host, self.names):
                answer = _refusal(scope, 421, _REFUSED)
            elif not _only_asks(scope) and not self._is_ours(headers.get("origin"), host):
                answer = _refusal(scope, 403, _FOREIGN)
        await answer(scope, receive, send)

    def _is_ours(self, origin: str | None, host: str) -> bool:
        return not self.checks_origin or same_origin(origin, host, self.trusted)


def _is_probe(scope: Scope) -> bool:
    return scope["type"] == "http" and scope["path"] in _PROBES


def _only_asks(scope: Scope) -> bool:
    """Whether nothing is done by it: its answer is kept from another site's page by the browser."""
    return scope["type"] == "http" and scope["method"] in _ASKS


def _refusal(scope: Scope, status: int, rule: str) -> ASGIApp:
    if scope["type"] == "websocket":
        return WebSocketClose(1008)
    return PlainTextResponse(rule, status, {"Connection": "close"})  # what else it sends is not read
