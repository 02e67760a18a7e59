"""Who connects and doesn't finish a request is hung up on; uvicorn would wait for ever, with a file for each."""

from asyncio import Transport

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

SECONDS = 10.0
"""How often a connection is looked at; one that is waited for twice is ended."""


def look(protocol: H11Protocol, last: object) -> None:
    """End a connection that has finished no request since the `last`; otherwise look again later."""
    if protocol.transport.is_closing() or protocol.transport.get_protocol() is not protocol:
        return  # it has ended, or is a websocket
    if protocol.conn.their_state is h11.IDLE and protocol.cycle is last:
        protocol.transport.close()
    else:
        protocol.loop.call_later(SECONDS, look, protocol, protocol.cycle)


def bound() -> None:
    """Have uvicorn look at each connection: it has no option for it, and Streamlit leaves no choice of a protocol."""
    begin = H11Protocol.connection_made

    def connection_made(protocol: H11Protocol, transport: Transport) -> None:
        begin(protocol, transport)
        protocol.loop.call_later(SECONDS, look, protocol, None)

    H11Protocol.connection_made = connection_made
