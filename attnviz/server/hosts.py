"""Which host names the app answers to, and whose pages may talk to it.

Somebody else can point a name of theirs at this machine (DNS rebinding), and
their page then reads the app as if it were its own. Nobody can do that with an
IP address, so IP addresses and this machine's own names are enough for a
classroom; `server.allowedHosts` names any others.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose
from streamlit import config

LOCAL = ("localhost", "*.localhost", "*.streamlit.app")
"""Names that nobody else can point at this machine: its own, and those that Community Cloud gives out."""

_PROBES = ("/healthz", "/_stcore/health")
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
    """Whether a websocket was opened by a page of ours or of an origin that the operator trusts, or by no page."""
    return origin is None or origin in trusted or origin.partition("://")[2].lower() == host.lower()


def _is_number(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class Hosts:
    """Refuses what was sent to another name than ours, and websockets that another page opens."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.names = [each.lower() for each in config.get_option("server.allowedHosts")]
        self.trusted = config.get_option("server.corsAllowedOrigins")
        self.checks_origin = config.get_option("server.enableCORS")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._accepts(scope):
            answer = self.app
        elif scope["type"] == "http":
            answer = PlainTextResponse(_REFUSED, 421)
        else:
            answer = WebSocketClose(1008)
        await answer(scope, receive, send)

    def _accepts(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if scope["type"] == "http":
            return scope["path"] in _PROBES or answers_to(host, self.names)
        own = not self.checks_origin or same_origin(headers.get("origin"), host, self.trusted)
        return own and answers_to(host, self.names)
