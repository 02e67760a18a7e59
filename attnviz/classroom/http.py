"""HTTP helpers that every route shares: a visitor's network and its rate limits, request bodies, and responses."""

import gzip
from collections.abc import Mapping
from ipaddress import IPv4Address, ip_address, ip_network

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

MAX_NETWORKS = 10_000  # networks that a set of buckets remembers; beyond that the oldest are forgotten


def network_of(address: str) -> str:
    """The network of a visitor: an IPv4 address, which a whole school may share, or the /64 of an IPv6 address.

    uvicorn takes the address from `X-Forwarded-For` only for a proxy that `FORWARDED_ALLOW_IPS` names (this machine,
    where it is not set), so nobody else can fake one.

    >>> network_of("192.0.2.7"), network_of("::ffff:192.0.2.7"), network_of("2001:db8::7")
    ('192.0.2.7', '192.0.2.7', '2001:db8::/64')
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:100]
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return str(parsed if isinstance(parsed, IPv4Address) else ip_network((parsed, 64), strict=False))


class TokenBuckets:
    """A token bucket per network: `burst` at once, then `per_second`; no wait exceeds `longest_wait` seconds."""

    def __init__(self, burst: int, per_second: float, longest_wait: float = 0.0) -> None:
        self.burst, self.seconds, self.longest_wait = burst, 1 / per_second, longest_wait
        self._full_at: dict[str, float] = {}

    def take(self, network: str, now: float) -> float | None:
        """Take a token and return the seconds to wait for it; None, and nothing taken, if that is too long."""
        full_at = max(self._full_at.pop(network, now), now) + self.seconds
        wait = full_at - now - self.burst * self.seconds
        is_taken = wait <= self.longest_wait + 1e-6
        self._full_at[network] = full_at if is_taken else full_at - self.seconds
        if len(self._full_at) > MAX_NETWORKS:
            self._forget(now)
        return (wait if wait > 1e-6 else 0.0) if is_taken else None

    def give_back(self, network: str) -> None:
        """Return a token."""
        if network in self._full_at:
            self._full_at[network] -= self.seconds

    def wait(self, network: str, now: float) -> float:
        """Seconds until a token is available."""
        return max(0.0, self._full_at.get(network, now) - now - (self.burst - 1) * self.seconds)

    def _forget(self, now: float) -> None:
        self._full_at = {each: full_at for each, full_at in self._full_at.items() if full_at > now}
        while len(self._full_at) > MAX_NETWORKS:
            del self._full_at[next(iter(self._full_at))]


NO_STORE = {"Cache-Control": "no-store"}


class TooLargeError(Exception):
    """A request's body is larger than allowed."""


async def read_body(request: Request, most: int) -> bytes:
    """The body of a request; raises TooLargeError as soon as it exceeds `most` bytes, without reading the rest."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise TooLargeError
    return bytes(body)


def json_response(made: bytes) -> Response:
    """A JSON response that is not cached."""
    return Response(made, media_type="application/json", headers=NO_STORE)


def accepts_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header allows gzip.

    >>> [accepts_gzip(each) for each in ("gzip, br", "br", "gzip;q=0", "*;q=0.5", "*, gzip;q=0")]
    [True, False, False, True, False]
    """
    weights = {}
    for each in header.lower().split(","):
        name, _, weight = each.replace(" ", "").partition(";q=")
        weights[name] = weight.strip("0.") != "" if weight else True
    return weights.get("gzip", weights.get("*", False))


def compressed_response(
    request: Request, compressed: bytes, headers: Mapping[str, str], media_type: str = "application/json"
) -> Response:
    """A response from a gzipped body, unpacked if the client doesn't accept gzip."""
    if accepts_gzip(request.headers.get("accept-encoding", "")):
        return Response(compressed, media_type=media_type, headers={**headers, "Content-Encoding": "gzip"})
    return Response(gzip.decompress(compressed), media_type=media_type, headers=dict(headers))


def refusal(status: int, rule: str) -> PlainTextResponse:
    """A refusal with its reason. It closes the connection, so the rest of the request is not read."""
    return PlainTextResponse(rule, status, {"Connection": "close"})
