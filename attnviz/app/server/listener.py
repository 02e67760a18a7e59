"""The listener: the socket on which the command serves the app."""

import socket
from collections.abc import Iterable

PORTS = range(8501, 8601)
"""The first of these that is free is taken where none is asked for."""


def listener(address: str, ports: Iterable[int]) -> socket.socket:
    """A socket that listens at an address, on the first of some ports that is free.

    Its connections inherit TCP_NODELAY, so that each part of an answer is sent at once. asyncio sets that option by
    itself, but not on connections of a socket like the one that Streamlit binds; there, a part waits until the one
    before is acknowledged, which whoever asks again and again, as nginx does, puts off for 40 ms.

    Raises
    ------
    SystemExit
        If there is none.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    both = family is socket.AF_INET6 and socket.has_dualstack_ipv6()
    for port in ports:
        try:
            listening = socket.create_server((address, port), family=family, dualstack_ipv6=both)
        except OSError as error:
            reason = error.strerror
        else:
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return listening
    raise SystemExit(
        f"attnviz can't listen at {address}, port {port}: {reason}. Choose others by --address and --port."
    )
