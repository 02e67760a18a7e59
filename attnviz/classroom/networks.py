"""Networks: which one an address belongs to, and how often each may do something."""

from ipaddress import IPv4Address, ip_address, ip_network

MAX_NETWORKS = 10_000
"""How many a bucket remembers; past them those that have waited longest are forgotten."""


def network_of(address: str) -> str:
    """The network of a visitor: an IPv4 address, which a whole school may share, or the /64 of an IPv6 address.

    The address is the connection's. uvicorn replaces it by `X-Forwarded-For` only if the connection comes from a proxy
    that `FORWARDED_ALLOW_IPS` names (this machine, where it is not set), so nobody else can claim another one.

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
    """A token bucket for each network: `burst` at once, then `per_second`, none waiting longer than `longest_wait`."""

    def __init__(self, burst: int, per_second: float, longest_wait: float = 0.0) -> None:
        self.burst, self.seconds, self.longest_wait = burst, 1 / per_second, longest_wait
        self._full_at: dict[str, float] = {}

    def take(self, network: str, now: float) -> float | None:
        """Take a token: the seconds until it is there, 0 mostly; None, and none taken, if that is too long."""
        full_at = max(self._full_at.pop(network, now), now) + self.seconds
        wait = full_at - now - self.burst * self.seconds
        is_taken = wait <= self.longest_wait + 1e-6
        self._full_at[network] = full_at if is_taken else full_at - self.seconds
        if len(self._full_at) > MAX_NETWORKS:
            self._forget(now)
        return (wait if wait > 1e-6 else 0.0) if is_taken else None

    def give_back(self, network: str) -> None:
        """Return a token that was taken."""
        if network in self._full_at:
            self._full_at[network] -= self.seconds

    def wait(self, network: str, now: float) -> float:
        """The seconds until a token can be taken without a wait."""
        return max(0.0, self._full_at.get(network, now) - now - (self.burst - 1) * self.seconds)

    def _forget(self, now: float) -> None:
        self._full_at = {each: full_at for each, full_at in self._full_at.items() if full_at > now}
        while len(self._full_at) > MAX_NETWORKS:
            del self._full_at[next(iter(self._full_at))]
