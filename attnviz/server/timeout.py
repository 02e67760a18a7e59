"""Timeout: a connection that finishes no request is closed; uvicorn would wait for ever, with a file for each."""

from asyncio import Transport

from uvicorn.protocols.http.h11_impl import H11Protocol

from attnviz.server import insides

SECONDS = 10.0
"""How often a connection is checked; one that has finished no request between two checks is closed."""


def check(protocol: H11Protocol, last: object) -> None:
    """Close a connection that has finished no request since the `last`; otherwise check again later."""
    if protocol.transport.is_closing() or protocol.transport.get_protocol() is not protocol:
        return  # it is closed, or is a websocket
    cycle = protocol.cycle
    is_answering = cycle is not None and not cycle.more_body and not cycle.response_complete
    if cycle is last and not is_answering:
        protocol.transport.close()
    else:
        protocol.loop.call_later(SECONDS, check, protocol, cycle)


def bound() -> None:
    """Have uvicorn check each connection: it has no option for it, and Streamlit leaves no choice of a protocol."""
    begin = H11Protocol.connection_made

    def connection_made(protocol: H11Protocol, transport: Transport) -> None:
        begin(protocol, transport)
        protocol.loop.call_later(SECONDS, check, protocol, None)

    insides.replace(H11Protocol, "connection_made", connection_made)
