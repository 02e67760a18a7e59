"""Chunks: how much is read from one connection before all others have their turn.

A websocket's pings and the parts of a message never reach the app, so no guard
paces them; but each is read and answered, and tens of thousands fit into what
asyncio reads at once: everyone else would wait for a second.
"""

from asyncio import selector_events

from attnviz.server import insides

BYTES = 1_024
"""Read at once; what our pages send is hardly longer."""


def bound() -> None:
    """Have asyncio read no more than that at once: it has no public option for it."""
    insides.replace(selector_events._SelectorTransport, "max_size", BYTES)
