"""Guesses: how many wrong codes a network may try."""

from ipaddress import IPv4Address, ip_address, ip_network

FREE = 30
"""Wrong codes without a wait: a class that mistypes."""

PER_MINUTE = 10
"""Wrong codes after those."""

MAX_NETWORKS = 10_000


def network_of(address: str) -> str:
    """The network of an address: its /24, or its /64 in IPv6; of what is no address, itself.

    >>> network_of("192.0.2.7"), network_of("2001:db8::7")
    ('192.0.2.0/24', '2001:db8::/64')
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:100]
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return str(ip_network(f"{parsed}/{24 if isinstance(parsed, IPv4Address) else 64}", strict=False))


class Guesses:
    """The wrong codes of each network, forgotten at `PER_MINUTE`."""

    def __init__(self) -> None:
        self._wrong: dict[str, tuple[float, float]] = {}  # how many are remembered, and as of when

    def wait(self, network: str, now: float) -> float:
        """Seconds until a code of that network is read again, right or wrong."""
        return max(0.0, (self._remembered(network, now) - FREE + 1) * 60 / PER_MINUTE)

    def wrong(self, network: str, now: float) -> None:
        """Note a wrong code."""
        if len(self._wrong) >= MAX_NETWORKS and network not in self._wrong:
            self._wrong = {each: kept for each, kept in self._wrong.items() if self._remembered(each, now) > 0}
        self._wrong[network] = self._remembered(network, now) + 1, now

    def _remembered(self, network: str, now: float) -> float:
        count, then = self._wrong.get(network, (0.0, now))
        return max(0.0, count - (now - then) * PER_MINUTE / 60)
